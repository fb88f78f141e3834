/* timeline.h - several files on one axis: for a converted trace of several files. */
#ifndef TPA_CLI_TIMELINE_H
#define TPA_CLI_TIMELINE_H

#include "trace/trace.h"

/* New, free with free(): by file, the offset in ns of its times so that all count from the earliest origin. A file
 * without an origin counts from 1970. One that is further from it than TRACE_LATEST_NS is not moved. */
int64_t *timeline_shifts(const struct trace *trace);

/* Report in SUMMARY the files that were not moved for that reason, if any. */
void timeline_distinguish(struct buffer *summary, const struct trace *trace);

/* Append the name of FILE among the others: "rank 3", or "file 2" if ranks do not distinguish them. */
void timeline_add_file(struct buffer *out, const struct trace *trace, uint32_t file);

/* Append the name of TRACK: "python: thread 5200 (main)", prefixed by the file if there are several. */
void timeline_add_track(struct buffer *out, const struct trace *trace, track_id track);

/* New, free with free(): by track: does another file have a process of the same number? */
bool *timeline_shared_processes(const struct trace *trace);

/* New, free with free(): by track: is it the first one of its process? */
bool *timeline_first_tracks(const struct trace *trace);

/* Append the pid of TRACK; if SHARED, prefixed by the file: "rank 3: 5200". Returns whether it is a text rather than a
 * number. */
bool timeline_add_pid(struct buffer *out, const struct trace *trace, const struct track *track, bool shared);

/* Arguments whose numbers are local to a file. */
#define TIMELINE_ARGS_OF_FILE                                                                                \
    (WANT(CORRELATION) | WANT(EXTERNAL_ID) | WANT(WAIT_ON_CORRELATION) | WANT(SEQUENCE) | WANT(PYTHON_ID) |  \
     WANT(FWD_THREAD) | WANT(PYTHON_PARENT_ID) | WANT(PYTHON_MODULE_ID) | WANT(EVENT_INDEX))

/* The numbers in use: by digits, the least; 0: none. Zero-initialise it. */
struct timeline_numbers {
    int64_t least[20];
};

/* Record the numbers of TRACE that are local to a file. */
void timeline_notice_numbers(struct timeline_numbers *numbers, const struct trace *trace);

/* The stride between the numbers of consecutive files of FILES: a power of ten above all of them. 0 for one file. */
int64_t timeline_stride(const struct timeline_numbers *numbers, size_t files);

/* New, free with free(): by track, are there samples of counters on it? */
bool *timeline_sampled_tracks(const struct trace *trace);

/* New, free with free(): by file, its last moment of an event: its end, or its start if its end was only the end of the
 * recording. INT64_MIN: no events. */
int64_t *timeline_last_moments(const struct trace *trace);

/* VALUE of FILE, made distinct from those of other files. 0 and negative numbers mean "none" and are unchanged. */
int64_t timeline_set_apart(int64_t stride, uint32_t file, int64_t value);

/* VALUE of the argument ARG in FILE: made distinct from those of other files if ARG is one of TIMELINE_ARGS_OF_FILE,
 * else unchanged. STRIDE 0 changes nothing. PyTorch counts sequence numbers from 0, so 0 is an ordinary number for
 * them. */
int64_t timeline_arg_apart(int64_t stride, uint32_t file, enum trace_arg arg, int64_t value);

#endif
