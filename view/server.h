/*
 * server.h - answers over HTTP on this machine alone, until it is told to end.
 *
 *     view_serve(&(struct view_server_options){ .port = 0, .answers = &answers, .tell = tell, .stop = stop }, &stopped, &err);
 *
 * It listens on 127.0.0.1 and, where there is one, ::1. Hostile requests cost little: a request may be 32 KiB long, connections
 * are at most VIEW_CONNECTIONS, one that has made no request for VIEW_PATIENCE_S seconds is closed however it trickles, and
 * questions that take long wait in line, of which there are few.
 */
#ifndef TPA_VIEW_SERVER_H
#define TPA_VIEW_SERVER_H

#include "view/answers.h"
#include <stdatomic.h>

enum { VIEW_CONNECTIONS = 256, VIEW_PATIENCE_S = 15, VIEW_TOKEN_LENGTH = 32 };

struct view_server_options {
    unsigned port;                /* 0: any that is free */
    int64_t idle_ns;              /* it ends without a request for so long; 0: never */
    struct view_answers *answers; /* borrowed */
    void *context;                /* of the functions */
    /* It answers at ADDRESS, which holds the token. */
    void (*tell)(void *context, const char *address);
    /* End what takes long, of answers. */
    void (*stop)(void *context);
    /* End the process, as an answer does not end: nobody is to wait for it. Does not return. */
    void (*leave)(void *context);
};

/* Answer until *STOPPED or nobody asks. False and ERR if that cannot begin. */
bool view_serve(const struct view_server_options *options, const atomic_int *stopped, struct tpa_error *err);

#endif
