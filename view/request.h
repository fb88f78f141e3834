/*
 * request.h - what a request to the server is for, and whether it may have it. Independent of the library that speaks HTTP.
 *
 *     struct view_request request;
 *     struct view_refusal refusal = view_request_read(&request, &arrived, token);
 *     if (refusal.status) ...                                        // 400, 403, 404, 405, 413: nothing more is looked at
 *
 * A request is answered only if its method is GET, it has one Host, which names this machine (a page of another
 * name that leads here is turned away), no other site sent it, and it has the token. Keys that a question does not have, a key
 * twice, and numbers that are not digits are refused.
 */
#ifndef TPA_VIEW_REQUEST_H
#define TPA_VIEW_REQUEST_H

#include "base/buffer.h"

enum view_question {
    VIEW_PAGE, /* / */
    VIEW_INFO, /* /api/1/info ... */
    VIEW_TILE,
    VIEW_SUM,
    VIEW_FIND,
    VIEW_EVENT,
    VIEW_SQL,
    VIEW_FINDINGS,
    VIEW_STOP,
    VIEW_QUESTIONS
};

struct view_argument {
    const char *key, *value; /* decoded; VALUE NULL: there is no '=' */
};

/* What arrived. All is borrowed. */
struct view_arrived {
    const char *method, *path;
    const char *host;       /* NULL: none */
    const char *fetch_site; /* Sec-Fetch-Site; NULL: none */
    size_t hosts;           /* how many there are */
    bool has_body;
    const struct view_argument *arguments;
    size_t argument_count;
};

/* Numbers are VIEW_NOT_GIVEN and texts NULL where they are not given. */
struct view_request {
    enum view_question question;
    int64_t from_ns, to_ns, pixels;
    int64_t event;
    int64_t after_ns, before_ns, most;
    const char *lanes, *pattern, *query; /* borrowed from what arrived */
};

enum { VIEW_NOT_GIVEN = -1 };

struct view_refusal {
    unsigned status;     /* 0: the request is answered */
    const char *message; /* constant */
};

/* Read ARRIVED into REQUEST. */
struct view_refusal view_request_read(struct view_request *request, const struct view_arrived *arrived,
                                      const char *token);

/* Does HOST, of a header, name this machine: 127.0.0.1, localhost or [::1], with a port or none? */
bool view_host_is_here(const char *host);

/* The lanes of LIST, "0,2,7", as bits of a new array for COUNT lanes, free(). NULL: LIST is not of that form. */
uint64_t *view_read_lanes(const char *list, size_t count);

#endif
