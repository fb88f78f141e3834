/*
 * timeline.h - several files on one axis: what a converted trace needs when it is written as one.
 */
#ifndef TPA_CLI_TIMELINE_H
#define TPA_CLI_TIMELINE_H

#include "base/buffer.h"
#include "trace/trace.h"
#include <stdbool.h>

/*
 * New, free(): by file, what is to be added to its times so that all count from the same moment: the earliest origin. A
 * file without an origin counts from 1970. One that is further from it than TRACE_LATEST_NS is not moved.
 */
int64_t *timeline_shifts(const struct trace *trace);

/* Say in SUMMARY which files were not moved for that reason, if any. */
void timeline_tell_apart(struct buffer *summary, const struct trace *trace);

/* Add what FILE is called among the others: "rank 3", or "file 2" when ranks do not distinguish them. */
void timeline_add_file(struct buffer *out, const struct trace *trace, uint32_t file);

/* Add what TRACK is called: "python: thread 5200 (main)", with the file in front when there are several. */
void timeline_add_track(struct buffer *out, const struct trace *trace, track_id track);

/* New, free(): by track: does another file have a process of the same number? */
bool *timeline_shared_processes(const struct trace *trace);

/* New, free(): by track: is it the first one of its process? */
bool *timeline_first_tracks(const struct trace *trace);

/* Add the pid of TRACK; where SHARED, with the file in front: "rank 3: 5200". Is it a text rather than a number? */
bool timeline_add_pid(struct buffer *out, const struct trace *trace, const struct track *track, bool shared);

/* Numbers that mean something within their file only. */
#define TIMELINE_ARGS_OF_FILE                                                                                \
    (WANT(CORRELATION) | WANT(EXTERNAL_ID) | WANT(WAIT_ON_CORRELATION) | WANT(SEQUENCE) | WANT(PYTHON_ID) |  \
     WANT(FWD_THREAD) | WANT(PYTHON_PARENT_ID) | WANT(PYTHON_MODULE_ID) | WANT(EVENT_INDEX))

/* The numbers that were met: by digits, the least; 0: none. Zero-initialise it. */
struct timeline_numbers {
    int64_t least[20];
};

/* Note the numbers of TRACE that mean something within their file only. */
void timeline_note_numbers(struct timeline_numbers *numbers, const struct trace *trace);

/* Between the numbers of one of FILES files and of the next: a power of ten above all of them. 0: there is one file. */
int64_t timeline_stride(const struct timeline_numbers *numbers, size_t files);

/* New, free(): by track, are there samples of counters on it? */
bool *timeline_sampled_tracks(const struct trace *trace);

/*
 * New, free(): by file, the last moment (of the file) of an event: its end, or its start where it was open when recording stopped,
 * which only the file's last moment told. INT64_MIN: it has none.
 */
int64_t *timeline_last_moments(const struct trace *trace);

/* VALUE of FILE, apart from those of other files. 0 and negative numbers stand for "none". */
int64_t timeline_set_apart(int64_t stride, uint32_t file, int64_t value);

/*
 * VALUE of the argument ARG in FILE: apart from those of other files if ARG is one of TIMELINE_ARGS_OF_FILE, else as it
 * is. STRIDE 0 changes nothing. PyTorch counts sequence numbers from 0, which is a number like others there.
 */
int64_t timeline_arg_apart(int64_t stride, uint32_t file, enum trace_arg arg, int64_t value);

#endif
