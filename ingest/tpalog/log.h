/*
 * log.h - converts the records of the capture library to events.
 *
 *   facts.c    the process, devices, threads and functions; tracks; event columns
 *   records.c device work, calls, waits; dropped records ranges.c NVTX ranges and marks, steps memory.c allocations and
 *   frees
 */
#ifndef TPA_INGEST_TPALOG_LOG_H
#define TPA_INGEST_TPALOG_LOG_H

#include "ingest/tpalog/tpalog.h"

enum { TPALOG_DROPPED = TPAFILE_DROPPED_UNKNOWN + 1 };

enum log_category {
    LOG_KERNEL,
    LOG_MEMCPY,
    LOG_MEMSET,
    LOG_SYNC,
    LOG_RUNTIME,
    LOG_DRIVER,
    LOG_OVERHEAD,
    LOG_OPERATOR,
    LOG_ANNOTATION,
    LOG_INSTANT,
    LOG_WINDOW,
    LOG_CATEGORIES
};

struct log_function {
    int64_t api, cbid;
    int64_t name;   /* number of its text */
    bool allocates; /* or frees */
};

struct log_device {
    int64_t number;
    int sm_count, warp_size;
};

struct log_json {
    int64_t x, y, z;
    name_id id; /* NAME_NONE: empty */
};

enum { JSON_TEXTS = 256, MOST_STREAMS = 64 };

/* A track that was used before. */
struct log_number {
    int64_t pid, tid;
    track_id id;
};

struct log_facts {
    VEC_OF(struct log_function) functions;
    size_t last_function;
    VEC_OF(struct log_device) devices;
    VEC_OF(struct log_number) contexts; /* pid: context; tid: its device */
    VEC_OF(struct log_number) threads;  /* pid: number in records; tid: the system's */
    VEC_OF(struct log_number) tracks;
    size_t last_track;
    struct log_json json[JSON_TEXTS];
    uint16_t categories[LOG_CATEGORIES];
    int64_t process_name, process_pid; /* a text; the pid */
    bool has_clock;
    uint64_t failed_calls, without_time, dropped[TPALOG_DROPPED]; /* by enum tpafile_dropped_why */
    int64_t first_failed_name, first_failed_result;
};

struct log_ranges;
struct log_memory;

struct tpalog_log {
    uint64_t blocks; /* of records */
    int64_t end_ns;  /* of the last event */
    struct log_facts *facts;
    struct log_ranges *ranges; /* NULL: none yet */
    struct log_memory *memory; /* NULL: none yet */
};

/* The id of CATEGORY in the trace, added when first requested. */
uint16_t tpalog_category(struct tpalog_reader *reader, enum log_category category);

/* Store facts. False if the part holds none. */
bool tpalog_join_fact(struct tpalog_reader *reader, const struct tpalog_part *part);

/* The track of a thread, by its number in records, and of a stream. */
track_id tpalog_thread_track(struct tpalog_reader *reader, int64_t thread);
track_id tpalog_stream_track(struct tpalog_reader *reader, int64_t device, int64_t stream);

/* The number of the device of a CUDA context; 0 if the log does not name it. */
int64_t tpalog_device_of_context(const struct log_facts *facts, int64_t context);

/* NULL if the log does not name it. */
const struct log_function *tpalog_function(struct log_facts *facts, int64_t api, int64_t cbid);

/* As tpalog_keep_text; also NULL for an empty text. */
const char *tpalog_copy_text(struct tpalog_reader *reader, int64_t number);

/* ---- event columns, as long as the part has records ---- */

struct log_arg {
    int64_t *values;
    uint64_t *present;
    size_t count;
};

struct log_columns {
    size_t count;
    int64_t *start_ns, *dur_ns;
    name_id *name;
    track_id *track;
    uint16_t *category;
    uint8_t *flags;
    struct log_arg args[ARG_COUNT];
};

/* The columns' memory is PART's. An event is filled at [count] and then counted. */
void tpalog_columns_begin(struct tpalog_part *part, struct log_columns *columns);

/* Set the times and flags of the next event. False if it has none; it is then counted as left out. */
bool tpalog_columns_time(struct tpalog_reader *reader, struct log_columns *columns, int64_t start,
                         int64_t duration);

/* Where to store an argument of the next event; NULL if it is not wanted. Call once per event. */
int64_t *tpalog_columns_arg(struct tpalog_reader *reader, struct tpalog_part *part,
                            struct log_columns *columns, enum trace_arg arg);
bool tpalog_columns_end(struct tpalog_reader *reader, const struct log_columns *columns,
                        struct tpa_error *err);

/* ---- ranges.c ---- */

/* Add the records of PART, in order of the file: NVTX ranges, markers, windows of recording, steps. False and ERR as
 * trace_builder_append. */
bool tpalog_join_ranges(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err);
bool tpalog_join_markers(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err);
void tpalog_keep_windows(struct tpalog_reader *reader, const struct tpalog_part *part); /* of recording */
void tpalog_join_steps(struct tpalog_reader *reader, const struct tpalog_part *part);

/* Ranges open at the end of the log end there. */
bool tpalog_ranges_finish(struct tpalog_reader *reader, struct tpa_error *err);
void tpalog_ranges_release(struct tpalog_log *log);

/* ---- memory.c ---- */

/* Keep the records of PART until tpalog_memory_finish, which adds them. False and ERR as trace_builder_append. */
void tpalog_join_memory(struct tpalog_reader *reader, const struct tpalog_part *part);

/* Record a call, because memory records refer to their call, but not to a thread. */
void tpalog_memory_record_call(struct tpalog_reader *reader, int64_t correlation, int64_t thread);
bool tpalog_memory_finish(struct tpalog_reader *reader, struct tpa_error *err);
void tpalog_memory_release(struct tpalog_log *log);

#endif
