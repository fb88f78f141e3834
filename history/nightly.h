/*
 * nightly.h - the runs of one label on one GPU, and the verdict on each figure: loaded from a store (history/store.h) and
 * printed by `tpa nightly`.
 *
 *     struct nightly nightly = { 0 };
 *     store_load(store, "resnet50", "NVIDIA H100", &nightly, &err);
 *     nightly_judge(&nightly, nightly.runs.count - 1, &options);
 *     nightly_add_tables(&nightly, result);
 *     nightly_release(&nightly);
 */
#ifndef TPA_HISTORY_NIGHTLY_H
#define TPA_HISTORY_NIGHTLY_H

#include "history/history.h"
#include "base/result.h"

/* The table of figures of whole samples, as in store.h. */
#define NIGHTLY_HEAD "head"

struct nightly_run {
    int64_t id;                              /* counts up as runs are added */
    const char *label, *gpu, *commit, *host; /* commit and host NULL: unknown */
    const char *unit;                        /* unit of its samples: "step" */
    const char *no_baseline;                 /* why it cannot be judged and is no baseline; NULL: it can */
    int64_t time_ns;                         /* when it ran, since 1970 */
    int64_t sample_count;
};

struct nightly_series {
    const char *table, *name; /* as in store.h */
    size_t length;
    const char *title; /* of a metric; NULL for a row */
    enum table_kind kind;
    double *calls; /* per run and sample; NAN: not recorded */
};

/* A new level is accepted from a run on. */
struct nightly_acceptance {
    int64_t run;              /* id */
    const char *table, *name; /* NULL: all figures */
    size_t length;
    const char *reason;
    int64_t time_ns;
};

struct nightly {
    VEC_OF(struct nightly_run) runs; /* oldest first */
    VEC_OF(struct nightly_series) series;
    VEC_OF(struct nightly_acceptance) acceptances;
    struct history history; /* its series have the same indices */
    size_t judged;          /* the run that nightly_judge judged */
    struct arena arena;     /* owns all texts and figures */
};

/* Free what NIGHTLY owns. */
void nightly_release(struct nightly *nightly);

/* Add a series with all values missing. Returns its index. The texts are borrowed. */
size_t nightly_add_series(struct nightly *nightly, const struct nightly_series *series);

/* Judge every run up to RUN (an index); the findings are those of RUN. A figure that is NEW with a commit is NEW in all
 * runs of that commit. */
void nightly_judge(struct nightly *nightly, size_t run, const struct history_options *options);

/* The series of TABLE called NAME; HISTORY_NO_RUN if there is none. */
size_t nightly_find(const struct nightly *nightly, const char *table, const char *name, size_t length);

/* Is SERIES the first of a table of rows (other than the head)? */
bool nightly_begins_rows(const struct nightly *nightly, size_t series);

/* Number of runs before the judged one with which it can be compared. */
size_t nightly_earlier(const struct nightly *nightly);

/* Number of series with VERDICT in RUN. */
size_t nightly_count(const struct nightly *nightly, size_t run, enum history_verdict verdict);

/* Add to RESULT a description of the judged run and the verdicts: "run" (footers), "head", "memory", "shares", and one
 * table for each kind of rows. In those, changed rows come first, the largest change in front; without ALL, unchanged
 * rows are left out. */
void nightly_add_tables(const struct nightly *nightly, bool all, struct result *result);

/* Store the indices of the series that matter in SERIES (room for all): the head, and a limited number of changed rows,
 * most important first. Returns how many. */
size_t nightly_choose(const struct nightly *nightly, size_t *series);

/* Add to RESULT the values of each series that matters in the last MOST_RUNS runs (0: all): one table for each kind of
 * figure, rows grouped by name, oldest first. */
void nightly_add_trends(const struct nightly *nightly, size_t most_runs, struct result *result);

/* "step time", "aten::mm": name of the series for people, of *LENGTH bytes. And its verdict as text. */
const char *nightly_name(const struct nightly *nightly, size_t series, size_t *length);
const char *nightly_verdict(const struct nightly *nightly, size_t series);

/* "2026-11-20 03:00:00", UTC. New in ARENA. */
const char *nightly_time_text(struct arena *arena, int64_t time_ns);

/* "run 11, 2026-11-11 03:00:00, commit c11, NEW"; "2026-11-11 c11": the day, and the commit where it is known. New in ARENA. */
const char *nightly_describe_run(struct arena *arena, const struct nightly *nightly, size_t run,
                                 enum history_verdict verdict);
const char *nightly_run_tick(struct arena *arena, const struct nightly_run *run);

/* The band in which RUN of SERIES is expected, of 19 in 20 without any change. False: none is known. */
bool nightly_band(const struct nightly *nightly, size_t series, size_t run, double *low, double *high);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape nightly_tables[];

#endif
