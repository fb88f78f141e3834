/*
 * snapshot_analysis.h - all analyses of memory snapshots, as structs: shown by `tpa memory`, and used by report, charts and
 * diff.
 *
 *     struct snapshot_answers answers;
 *     snapshot_answer(&snapshots, &(struct snapshot_query){ .at = { MOMENT_PEAK }, .by = ALIVE_BY_LINE }, &answers);
 *     ...
 *     snapshot_answers_release(&answers);
 */
#ifndef TPA_MEMORY_SNAPSHOT_ANALYSIS_H
#define TPA_MEMORY_SNAPSHOT_ANALYSIS_H

#include "memory/alive.h"
#include "memory/parts.h"
#include "memory/allocator_state.h"
#include "base/quantity.h"

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
    struct arena arena;
};

/* Answer QUERY about SNAPSHOTS, which are borrowed. Release ANSWERS with snapshot_answers_release. */
void snapshot_answer(const struct snapshots *snapshots, const struct snapshot_query *query,
                     struct snapshot_answers *answers);
void snapshot_answers_release(struct snapshot_answers *answers);

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
void missing_list_release(struct missing_list *list);

#endif
