/* snapshot_analysis.h - what memory snapshots show. */
#ifndef TPA_MEMORY_SNAPSHOT_ANALYSIS_H
#define TPA_MEMORY_SNAPSHOT_ANALYSIS_H

#include "memory/parts.h"
#include "base/quantity.h"
#include "base/result.h"
#include "base/timeline.h"
#include "trace/trace.h"

/*
 * snapshot_analysis.c - all analyses of memory snapshots, as structs: shown by `tpa memory`, and used by report, charts and
 * diff.
 *
 *     struct snapshot_answers *answers = snapshot_answer(&snapshots, &query);
 *     ...
 *     arena_free(answers);
 */

/* --at: a moment of the history of a device. */
enum moment_kind { MOMENT_PEAK, MOMENT_END, MOMENT_OOM, MOMENT_ENTRY, MOMENT_TIME };
struct snapshot_moment {
    enum moment_kind kind;
    int64_t entry, time_ns; /* MOMENT_ENTRY; MOMENT_TIME: from the first entry of the device */
};

/* "peak", "end", "oom", "1200", "1.5s". False and ERR for any other TEXT. */
bool snapshot_moment_parse(const char *text, struct snapshot_moment *moment, struct tpa_error *err);

struct snapshot_query {
    struct snapshot_moment at;
    enum alive_by by;
    struct ranges devices; /* only these; none given: all. The host is always included */
};

/* A row of memory in use at the moment. */
struct in_use_row {
    struct text file, name;
    int64_t device;
    int64_t bytes, count, average_bytes;
    double share; /* of all memory in use on the device */
    struct text stack;
};

struct pool_row {
    struct text file, pool, kind; /* "(0, 0)", "small" or "large" */
    int64_t device;
    bool expandable;
    struct segment_sums sums;
    int64_t returned; /* returned by empty_cache(): whole segments, and pages of expandable ones */
};

struct segment_row {
    struct text file, pool, kind, address;
    int64_t device;
    bool expandable;
    int64_t bytes, active, free, largest_free, blocks;
    double used;      /* active / bytes */
    struct text line; /* of the largest block */
};

struct snapshot_answers {
    VEC_OF(struct allocator_history *) replays; /* of every selected device */
    VEC_OF(const char *) files;                 /* of every replay: the snapshot's path */
    struct device_rows devices;
    VEC_OF(struct in_use_row) in_use;
    VEC_OF(struct pool_row) pools;
    VEC_OF(struct segment_row) segments; /* at the moment */
    struct ooms ooms;
    struct scope_rows scopes;
    struct leaks leaks;
    struct churn churn;
    enum moment_kind moment; /* the selected one */
    enum alive_by by;
    int64_t moments_missing; /* devices whose history has no such moment */
};

/* Answer QUERY about SNAPSHOTS, which are borrowed. New; free with arena_free. */
struct snapshot_answers *snapshot_answer(const struct snapshots *snapshots,
                                         const struct snapshot_query *query);

/* A notice on why something is missing in the files. */
struct missing_data {
    const char *kind;
    struct text text; /* one sentence */
    const char *file;
    int64_t count;
    int64_t offset;
};
struct missing_list {
    VEC_OF(struct missing_data) rows;
    struct arena arena;
};
void snapshot_missing(const struct snapshots *snapshots, const struct snapshot_answers *answers,
                      struct missing_list *list);

/* snapshot_tables.c - the analyses of memory snapshots as tables, with their first sentence. */

struct snapshot_tables_options {
    const char *at;   /* as typed; NULL: the peak */
    enum alive_by by; /* as in the question */
    bool segments;    /* also the map of segments at the moment */
};

/* Add the tables devices, alive_at_peak (or alive, at another moment), ooms, steps, leaks, fragmentation, churn, and
 * segments if requested. Empty tables are added as well, so that programs find them; they are hidden from people if
 * EMPTY is false. */
void snapshot_add_tables(const struct snapshot_answers *answers,
                         const struct snapshot_tables_options *options, bool empty, struct result *result);

/* Add notices on missing data. */
void snapshot_add_notices(const struct snapshots *snapshots, const struct snapshot_answers *answers,
                          struct result *result);

/* The tables snapshots, actions and settings: the contents of the files, for `tpa info`. */
void snapshot_add_info(const struct snapshots *snapshots, struct result *result);

/* Add notices about the files only. */
void snapshot_add_file_notices(const struct snapshots *snapshots, struct result *result);

/* The tables that may be added, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape snapshot_tables[], snapshot_info_tables[];

/* snapshot_first_screen.c - the head of a page about memory snapshots: the peak or the OOM, its main contents, what to do. */

/* Fill the answer of RESULT from ANSWERS, which are about the peak by line of code and must outlive it. It is about one
 * device: the first that ran out of memory, else the one with the highest peak. */
void snapshot_fill_first_screen(const struct snapshot_answers *answers, struct result *result);

/* snapshot_sentences.c - the most important facts about memory snapshots, in a sentence or two per device. */

/* Notices that stand on top of the result: every out-of-memory error with its cause, then the peak of each device. For
 * devices without a history: their state. LINES, which may be NULL, is the moment of ANSWERS; its notice names the
 * lines of code with the most memory at that moment, followed by the largest leak. */
void snapshot_say(const struct snapshot_answers *answers, const struct snapshot_moment *lines,
                  struct result *result);

/* snapshot_views.c - zoomable views of a device: its blocks over time, and the stacks in use at the peak. */

/* The largest blocks, each from its allocation to its free, named by size and line of code: blocks above each other
 * were in use at the same time. New; free with timeline_free. NULL if the history has no times or no blocks. Blocks
 * beyond the largest ones, and those without a free row, are counted in left_out. */
struct timeline *snapshot_blocks_timeline(const struct allocator_history *replay);

/* "device 0": what its timeline is of. Constant, or of ARENA. */
const char *snapshot_view_of(const struct allocator_history *replay, struct arena *arena);

/* Bytes in use at the peak by stack, outermost frame first, without frames of the interpreter, the C runtime and the
 * recorder of stacks. New; free with flame_free. NULL if nothing was in use. */
struct flame *snapshot_flame(const struct allocator_history *replay);

/* snapshot_pictures.c - the bytes of a device over its history: a chart for each, and the stacks in use at the peak as a
 * flame. */

/* A figure of the history at one entry. Of many entries, those with the lowest and highest allocated or reserved bytes
 * in each part of the history are kept, so that no peak is lost. */
struct timeline_point {
    int64_t entry;
    int64_t moment_ns; /* from the first entry; without times, the number of the entry */
    int64_t allocated, active, reserved;
};
struct timeline_points {
    VEC_OF(struct timeline_point) at;
};

/* Charts of the COUNT REPLAYS that have a history, at most MOST; returns how many there would be without the limit. The
 * peak and out-of-memory errors are labelled. */
size_t snapshot_draw(struct allocator_history *const *replays, size_t count, size_t most,
                     struct picture *picture);

/*
 * snapshot_as_trace.c - memory snapshots as a trace, for formats with events.
 *
 * Every allocation, and every free (at free_requested), is an instant "[memory]" with its bytes, address, device and
 * the totals after it, as a framework's profiler records it; allocations carry their stack. Every annotation is a user
 * annotation on a track of its device. Allocated, active and reserved bytes are counters. Without times, an entry takes
 * a microsecond.
 */

/* New; free with trace_free. Borrows nothing. NULL and ERR if it would hold more events than a trace can. */
struct trace *snapshot_as_trace(const struct snapshots *snapshots, const struct trace_wants *wants,
                                struct tpa_error *err);

#endif
