/*
 * answers.h - what the server answers of a trace: the questions of request.h as JSON, docs/commands/view.md defines them.
 *
 *     struct view_answers *answers = view_answers_open(trace, sides, &commands);
 *     unsigned status = view_answer(answers, &request, &out);          // 200; else OUT has why
 *     view_answers_end(answers);
 *
 * Pictures may be drawn by any number of threads, one after the other; all other questions are for one thread.
 */
#ifndef TPA_VIEW_ANSWERS_H
#define TPA_VIEW_ANSWERS_H

#include "view/request.h"
#include "view/spans.h"
#include <pthread.h>

/* What commands answer. */
struct view_commands {
    void *context;
    /* Append to OUT, as JSON, the members "devices" and "idle" of the stretch from FROM_NS to TO_NS: see VIEW_SUM. */
    bool (*sum)(void *context, const struct trace *trace, int64_t from_ns, int64_t to_ns, struct buffer *out,
                struct tpa_error *err);
    /* Append the result of QUERY, at most MOST rows of each statement, as `tpa sql --format json` prints it. */
    bool (*sql)(void *context, const struct trace *trace, const char *query, size_t most, struct buffer *out,
                struct tpa_error *err);
    /* Append, as JSON, the members "sides" and "commands" of an answer to VIEW_INFO. */
    void (*describe)(void *context, struct buffer *out);
    /* Append the findings of tpa summary for the stretch from FROM_NS to TO_NS with their places: an array. VIEW_NOT_GIVEN
     * for both: of all. */
    bool (*findings)(void *context, const struct view_spans *spans, int64_t from_ns, int64_t to_ns,
                     struct buffer *out, struct tpa_error *err);
    /* End the query that runs, in whichever thread; NULL is not allowed. */
    void (*stop)(void *context);
    /* Append the page, whose script begins with FIRST, an object of JSON. */
    bool (*page)(void *context, const struct view_spans *spans, const struct buffer *first,
                 struct buffer *out, struct tpa_error *err);
};

struct view_answers;

/*
 * New, for TRACE; all is borrowed. A thread puts the spans of TRACE in order, and until it has, pictures are of an outline. NULL: nothing in
 * TRACE takes time. view_answers_end (NULL is allowed) waits for the thread and frees all.
 */
struct view_answers *view_answers_open(const struct trace *trace, const struct view_sides *sides,
                                       const struct view_commands *commands);
void view_answers_end(struct view_answers *answers);

/* Wait until the spans are in order, at most MS milliseconds. False: they are not yet. */
bool view_answers_wait(struct view_answers *answers, int64_t ms);

/* The files, and where their clocks begin, of what there is now; borrowed, for as long as ANSWERS. */
const struct timeline *view_answers_timeline(struct view_answers *answers);

/* Append the answer to REQUEST, and return its status: 200, or 400 with the reason as JSON. */
unsigned view_answer(struct view_answers *answers, const struct view_request *request, struct buffer *out);

/* Does an answer to QUESTION take longer than a picture, so that it is not for the thread that pictures are drawn in? */
bool view_is_slow(enum view_question question);

/* Append WHY as an error of the server. */
void view_add_error(struct buffer *out, const char *why, const char *hint);

#endif
