/*
 * runs.h - separate runs side by side: the table "runs" of the summary, a row for each, as of a sweep over batch sizes.
 *
 *     if (file_set_of(trace)->jobs > 1)
 *         summary_add_runs(trace, selection, batch, result);
 */
#ifndef TPA_SUMMARY_RUNS_H
#define TPA_SUMMARY_RUNS_H

#include "analyze/selection.h"
#include "base/result.h"

/* A run of a sweep. */
struct summary_run {
    struct text name,
        label; /* its folder or file, borrowed from the trace; its sizes as named, borrowed; missing: none */
    int64_t ranks, steps, step_ns, batch, peak_bytes, recorded_ns;
    double samples, computing, idle; /* samples a second; shares of a step; NAN: not known */
};

/* The sizes behind a file. */
struct run_label {
    const char *path, *text; /* borrowed; TEXT: "batch=64" */
    int64_t batch;           /* 0: the label has none */
};

/* The sizes of runs as named: --batch 32 for all, "bs64/@batch=64" for one. */
struct run_sizes {
    int64_t batch; /* samples in a batch of a rank, of runs without a label that says so; 0: as shapes tell */
    VEC_OF(struct run_label) labels;
};

/* Take the labels off the COUNT OPERANDS, which are cut where they begin. False and ERR if a batch is no whole number. Release with
 * VEC_FREE(&sizes->labels). */
bool run_sizes_take(struct run_sizes *sizes, char **operands, size_t count, struct tpa_error *err);

struct summary_runs {
    VEC_OF(struct summary_run) at;
    bool any_batch, any_device; /* known of a run */
};

/* The runs of TRACE, in the order of its files; RUNS is set, and released by VEC_FREE(&runs->at). The rest as below. */
bool summary_find_runs(const struct trace *trace, const struct selection_query *query,
                       const struct run_sizes *sizes, struct summary_runs *runs, struct tpa_error *err);

/* Add the table to RESULT. Where SIZES name no batch the shapes tell: the first size of the input of the
 * first convolution, linear layer or embedding of a step, if it is the same in all steps. False and ERR if
 * SELECTION does not fit. */
bool summary_add_runs(const struct trace *trace, const struct selection_query *query,
                      const struct run_sizes *sizes, struct result *result, struct tpa_error *err);

extern const struct table_shape runs_tables[]; /* ends in { 0 } */

#endif
