/*
 * builder.h - how readers make a trace.
 *
 * A reader fills chunks and hands them to the builder in file order. Each worker thread has a
 * chunk of its own and needs no lock until it hands it over:
 *
 *     struct trace_builder *builder = trace_builder_open(&wants);
 *     uint32_t file = trace_builder_file(builder, "rank0.json", "Chrome JSON");
 *     struct trace_chunk *chunk = trace_chunk_open(builder);
 *     trace_chunk_event(chunk, &(struct chunk_event){ .phase = 'X', .start_ns = 10, .dur_ns = 5,
 *                              .name = trace_chunk_name(chunk, "aten::mm", 8),
 *                              .track = trace_chunk_track(chunk, &(struct track_key){ .pid = 1, .tid = 2 }),
 *                              .category = trace_chunk_category(chunk, "cpu_op", 6) });
 *     trace_chunk_arg(chunk, ARG_EXTERNAL_ID, 17);          // of the event just added
 *     trace_builder_append(builder, chunk, &err);           // empties the chunk for reuse; false and ERR when full
 *     trace_chunk_free(chunk);
 *     struct trace *trace = trace_builder_finish(builder);  // frees the builder
 */
#ifndef TPA_TRACE_BUILDER_H
#define TPA_TRACE_BUILDER_H

#include "trace/trace.h"

struct trace_builder;
struct trace_chunk;

/* A track as written in the file: each of pid and tid is a number or a text (length > 0 or text != NULL). A text that is
 * nothing but a number is that number: PyTorch 1.8 and 1.9 write the thread of an operator as "25738" and that of its
 * memory records as 25738. */
struct track_key {
    int64_t pid, tid;
    const char *pid_text, *tid_text; /* NULL: written as a number */
    size_t pid_len, tid_len;
};

/* All moments of a trace are no further from 0 than this, 73 years, so that no two are further apart than 64 bits tell.
 * Readers refuse what is, or call it unknown. */
#define TRACE_LATEST_NS ((INT64_C(1) << 61) - 1)

/* The base of a file, in ns since 1970, is no further from 0 than this: with the end of any event it fits 64 bits. */
#define TRACE_LATEST_WALL_NS ((INT64_C(1) << 62) - 1)

/* NS where it is such a moment, else 0. */
static inline int64_t trace_moment_or_zero(int64_t ns)
{
    return ns >= -TRACE_LATEST_NS && ns <= TRACE_LATEST_NS ? ns : 0;
}

/* Phases are the letters of the Chrome format; of these X, B, E, b, n, e, S, T, p, F, i are events. */
struct chunk_event {
    int64_t start_ns, dur_ns; /* dur_ns < 0: none given */
    name_id name;             /* ids are the chunk's own, see below */
    track_id track;
    uint16_t category;
    char phase;
    uint8_t flags;    /* enum event_flags */
    int64_t async_id; /* for async phases: see trace_async_id */
};

/* Categories are numbered in 16 bits. Those beyond this many share one, "", and are counted in a notice. */
enum { TRACE_MAX_CATEGORIES = 65000 };

/* What a trace holds at most: so many events, ends of events that began elsewhere, distinct names, distinct
 * other texts, tracks. What has more is refused. Ids have 32 bits; this is less by more than one chunk can
 * add. Tests lower it. */
extern size_t trace_ceiling;

/* New; WANTS is copied. Freed by trace_builder_finish or trace_builder_free. */
struct trace_builder *trace_builder_open(const struct trace_wants *wants);
void trace_builder_free(struct trace_builder *builder);

/* Begin the next file: chunks appended from now on belong to it. Its index in trace->files. Strings are copied. */
uint32_t trace_builder_file(struct trace_builder *builder, const char *path, const char *format);

/* The file begun last, to fill in what its metadata says; borrowed until the next trace_builder_file.
 * Strings put into it must come from trace_builder_strndup. */
struct trace_file *trace_builder_current_file(struct trace_builder *builder);
char *trace_builder_strndup(struct trace_builder *builder, const char *s, size_t len);

/* Take back the file that was begun last: it is not part of the trace. False, without an effect, if it has events. */
bool trace_builder_drop_file(struct trace_builder *builder);

/* Add a property to every file that was begun; KEY is a literal, VALUE is copied. */
void trace_builder_add_property(struct trace_builder *builder, const char *key, const char *value);

/* A process of a file into which several were written: how it is written there, and in the file it came from. */
struct part_process {
    uint32_t part;
    int64_t written_pid, own_pid;
    const char *written_text, *own_text; /* NULL: a number */
};

struct trace_parts {
    const char **names; /* by part: "rank 3", which stands before the names of its processes */
    uint32_t count;
    const struct part_process *processes;
    size_t process_count;
};

/* Let the tracks of the current file belong to PARTS: to itself, and to the files that the caller begins next, for each of
 * which FIRST_EVENTS gets the first event. False, and nothing changes, when a track with events is of no process of PARTS, or
 * the events are not part after part: then another program wrote the file anew. */
bool trace_builder_split(struct trace_builder *builder, const struct trace_parts *parts,
                         event_id *first_events);

/* Say how much of the current file was read: READ of SIZE bytes on disk; -1: unknown. With this, a trace that would
 * take more memory than there is fails as soon as that can be predicted. */
void trace_builder_progress(struct trace_builder *builder, int64_t read, int64_t size);

/* Let the current file be as it was begun, except its events. */
void trace_builder_reset_file(struct trace_builder *builder);

/* Count COUNT cases of something odd in the current file; KIND and TEXT are literals. */
void trace_builder_notice(struct trace_builder *builder, const char *kind, const char *text, uint64_t count,
                          int64_t offset);

/* The current file lacks something (base/lacks.h): set its state, and count COUNT cases in a notice. TEXT is a literal or
 * lives as long as the trace. */
void trace_builder_lacks(struct trace_builder *builder, enum lack lack, const char *text, uint64_t count,
                         int64_t offset);

/* The files as a whole lack something: unreadable files. TEXT is copied. */
void trace_builder_lacks_files(struct trace_builder *builder, enum lack lack, const char *text,
                               uint64_t count);

/* Tell COUNT cases of something odd that is about none of the files; what says the same is counted together. KIND is a
 * literal or lives as long as the trace; TEXT is copied. */
void trace_builder_tell(struct trace_builder *builder, const char *kind, const char *text, uint64_t count);

/* The notice of this kind about the current file, which may be changed; NULL when there is none. */
struct trace_notice *trace_builder_find_notice(struct trace_builder *builder, const char *kind);

/* Is this argument wanted? */
bool trace_builder_wants(const struct trace_builder *builder, enum trace_arg arg);

/* Add the events of CHUNK after those already there, and empty it. Not thread-safe: the caller
 * brings chunks one at a time, in file order, so that the trace is the same however the file was cut.
 * False and ERR when the trace would pass what an event_id can count, or take more memory than there is. */
bool trace_builder_append(struct trace_builder *builder, struct trace_chunk *chunk, struct tpa_error *err);

/* How many threads finishing may use, and analyses of the trace: trace->workers. 0: 1. */
void trace_builder_set_workers(struct trace_builder *builder, unsigned workers);

/* Join begin and end events, classify tracks, settle what metadata that came late decides, and
 * freeze. Takes and frees BUILDER. The result is new; free with trace_free. */
struct trace *trace_builder_finish(struct trace_builder *builder);

/* New, empty; free with trace_chunk_free. Keeps its names, tracks and categories over appends, so reuse it. */
struct trace_chunk *trace_chunk_open(const struct trace_builder *builder);
void trace_chunk_free(struct trace_chunk *chunk);
void trace_chunk_clear(struct trace_chunk *chunk); /* drop the events, keep the names */

/* Ids within the chunk; the builder maps them to the trace's. */
name_id trace_chunk_name(struct trace_chunk *chunk, const char *s, size_t len); /* an event's name */
/* ID, which trace_chunk_name returned before the chunk was emptied, names an event again. */
void trace_chunk_name_again(struct trace_chunk *chunk, name_id id);
/* The name with this id; borrowed. */
const char *trace_chunk_name_text(const struct trace_chunk *chunk, name_id id);
name_id trace_chunk_text(struct trace_chunk *chunk, const char *s, size_t len); /* any other text */
track_id trace_chunk_track(struct trace_chunk *chunk, const struct track_key *key);
uint16_t trace_chunk_category(struct trace_chunk *chunk, const char *s, size_t len);

/* Append an event. E, e and F only end an event that B, b or S began: they make none of their own. */
void trace_chunk_event(struct trace_chunk *chunk, const struct chunk_event *event);

/* Events (and ends) appended since the chunk was last emptied. */
size_t trace_chunk_count_events(const struct trace_chunk *chunk);

/* Was nothing added since it was last emptied: no event, and nothing that is counted instead? */
bool trace_chunk_is_empty(const struct trace_chunk *chunk);

/* Set an argument of the event appended last. TEXT and JSON: a trace_chunk_text id. DECIMAL: see below. */
void trace_chunk_arg(struct trace_chunk *chunk, enum trace_arg arg, int64_t value);
void trace_chunk_arg_decimal(struct trace_chunk *chunk, enum trace_arg arg, double value);

/* Number for an async id, equal for equal (SCOPE, text): scope is the pid for local ids, else 0. A 64-bit hash. */
int64_t trace_async_id(int64_t scope, const char *s, size_t len);

void trace_chunk_flow(struct trace_chunk *chunk, const struct trace_flow *flow); /* ids are the chunk's */
void trace_chunk_sample(struct trace_chunk *chunk, const struct trace_sample *sample);

/* Metadata of a track ("process_name", "thread_name", "process_labels", *_sort_index). Last one wins. */
enum track_fact {
    FACT_PROCESS_NAME,
    FACT_THREAD_NAME,
    FACT_PROCESS_LABELS,
    FACT_PROCESS_SORT_INDEX,
    FACT_THREAD_SORT_INDEX
};
void trace_chunk_fact(struct trace_chunk *chunk, track_id track, enum track_fact fact, int64_t number,
                      name_id text);

/* As trace_builder_notice, carried over on append. */
void trace_chunk_notice(struct trace_chunk *chunk, const char *kind, const char *text, int64_t offset);

/* As trace_builder_lacks, carried over on append. */
void trace_chunk_lacks(struct trace_chunk *chunk, enum lack lack, const char *text, int64_t offset);

/* Count events that are not kept. */
void trace_chunk_count_skipped(struct trace_chunk *chunk, uint64_t flows, uint64_t samples,
                               uint64_t metadata);

#endif
