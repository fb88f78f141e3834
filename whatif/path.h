/*
 * path.h - the critical path: what the end of a window of time waited for, piece by piece, back to its begin.
 *
 *     struct path_windows *windows = path_windows_open(graph, &query, err);
 *     struct path *path = path_open(graph, &windows->at[0]);
 *     for (size_t i = 0; i < path->count; i++)
 *         sums[path->at[i].part] += path->at[i].end_ns - path->at[i].start_ns;   // together: the length of the window
 *     arena_free(path);
 *
 * The path is walked backwards from what ended last. On a host thread it follows the thread; where a call waited for
 * device work, it goes on there; and device work goes on at what was ready last of its launch, the work before it on
 * its stream and the work of other streams that it waited for. docs/definitions.md has the rules. The pieces follow one
 * another without a gap, so that they add up to the window to the nanosecond.
 */
#ifndef TPA_WHATIF_PATH_H
#define TPA_WHATIF_PATH_H

#include "whatif/replay.h"

enum path_part {
    PART_OPERATOR, /* an operator's own time on its thread */
    PART_CALL,     /* a call's of the runtime or driver */
    PART_KERNEL,   /* a kernel ran */
    PART_COPY,     /* a copy */
    PART_MEMSET,
    PART_COMMUNICATION, /* a kernel of NCCL or RCCL */
    PART_LAUNCH, /* between the end of the launching call and the start of its work: less than GAP_LATENCY_BELOW_NS */
    PART_QUEUED,  /* that, and no less: behind a wait for an event, or behind work that is not in the file */
    PART_STREAM,  /* between the end of the work before on the stream and the start of the next */
    PART_EVENT,   /* between the end of work on another stream and the start of work that waited for it */
    PART_SYNC,    /* between the end of the work that a call waited for and the end of the call */
    PART_GAP,     /* a thread ran nothing that was recorded: Python, or a wait for another thread */
    PART_UNKNOWN, /* before work whose wait has no recorded cause */
    PATH_PARTS
};

/* "operator"; as scripts read it. */
const char *path_part_name(enum path_part part);
/* "operators on the host", for a sentence; and one line of what it means. */
const char *path_part_title(enum path_part part);
const char *path_part_help(enum path_part part);

/* The part that work I of graph->gpu is of while it runs. */
enum path_part path_part_of_work(const struct replay_graph *graph, size_t i);

struct path_segment {
    enum path_part part;
    uint32_t file;
    int64_t start_ns, end_ns; /* on the clock of the graph */
    event_id event;  /* the operator, call or work; EVENT_NONE: a gap or unknown, or a wait of a thread */
    event_id named;  /* what it is named after: EVENT, or the collective for which the thread waited */
    moment_id until; /* the moment that the piece led to */
};

struct path {
    VEC_OF(struct path_segment); /* in order of time */
};

/* From when to when, and where the walk begins. */
struct path_window {
    int64_t start_ns, end_ns; /* on the clock of the graph */
    uint32_t file;
    uint32_t thread; /* of the graph; UINT32_MAX: begin at what ended last */
    event_id event;  /* the step, annotation or operator; EVENT_NONE: a stretch of time */
    int64_t number;  /* of the step; else which one of its name, from 0 */
    bool is_step;
};

struct path_windows {
    VEC_OF(struct path_window);
};

/* New; free with arena_free (NULL is allowed). */
struct path *path_open(const struct replay_graph *graph, const struct path_window *window);

/* The same, but of more than MOST pieces only those that take LEAST_NS or more: no more memory than these take. */
struct path *path_open_long(const struct replay_graph *graph, const struct path_window *window, size_t most,
                            int64_t least_ns);

/* All from moment M of a thread, which is at the end of the window; MOMENT_NONE: as path_open. */
struct path *path_open_at(const struct replay_graph *graph, const struct path_window *window, moment_id m);

/* Where the walk of WINDOW begins: the last moment of its thread, or what ended last. MOMENT_NONE: nothing did. */
moment_id path_last_moment(const struct replay_graph *graph, const struct path_window *window);

/* The time of each part on PATH, into SUMS, which has PATH_PARTS. */
void path_add_up(const struct path *path, int64_t *sums_ns);

/* All that the files of a group have recorded, for each group: from the first begin to the last end of spans and
 * operations. New, as the following; free with arena_free (NULL is allowed). */
struct path_windows *path_windows_whole(const struct replay_graph *graph);

/* The steps, by number and file; of files with matched collectives each step once, as the rank has it that ends it last. */
struct path_windows *path_windows_steps(const struct replay_graph *graph);

/* Each host event called NAME that is an annotation or an operator, in order of the file. */
struct path_windows *path_windows_named(const struct replay_graph *graph, const char *name);

/* Time on the path of what has one name and is of one part. */
struct path_item {
    enum path_part part;
    name_id name;    /* NAME_NONE: has none */
    int64_t time_ns; /* on the path */
    size_t count;    /* events on the path */
};

struct path_items {
    VEC_OF(struct path_item); /* most time first */
};

/* New; free with arena_free (NULL is allowed). What took the time of PATH, by part and name. */
struct path_items *path_items_open(const struct replay_graph *graph, const struct path *path);

#endif
