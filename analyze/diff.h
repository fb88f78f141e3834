/*
 * diff.h - what changed between two sides, and whether it is real.
 *
 *     struct trace_wants wants = diff_wants(&options);
 *     struct result *result = diff_analyze(before, after, &options, &err);
 *
 * A side is a trace of one or more files. Its samples are its steps (ProfilerStep#N, of all its files), or its files
 * when it has no steps. A figure is compared by its values in the samples of both sides (base/shift.h): the change is
 * that of the mean per sample, so sides with different numbers of steps can be compared.
 *
 * Verdicts: `slower` and `faster` (p < 0.05 after Holm's correction over the rows, and no smaller than the least
 * change that counts), `same` (no such change), `new` and `gone` (in the samples of one side only), `unsure` (the
 * samples are too few to tell).
 */
#ifndef TPA_ANALYZE_DIFF_H
#define TPA_ANALYZE_DIFF_H

#include "base/error.h"
#include "base/table.h"
#include "trace/profile.h"
#include "trace/trace.h"

struct diff_options {
    unsigned
        by; /* enum top_dimension: what makes a row; 0: operators, and kernels when both sides have them */
    int64_t min_change_ns; /* a smaller change of the mean per sample is no change */
};

enum diff_verdict { DIFF_SAME, DIFF_SLOWER, DIFF_FASTER, DIFF_NEW, DIFF_GONE, DIFF_UNSURE };

const char *diff_verdict_name(enum diff_verdict verdict);

/* What the reader must decode. */
struct trace_wants diff_wants(const struct diff_options *options);

/*
 * New; free with result_free. The table "head": step time and its parts, time on the host, idle time; then "operators"
 * and "kernels", or "rows": sorted by the size of the change. NULL and ERR when a side holds nothing to compare.
 */
struct result *diff_analyze(const struct trace *before, const struct trace *after,
                            const struct diff_options *options, struct tpa_error *err);

/*
 * The same for Python profiles: one sample a side, which has no spread, so a change is `unsure`. Several profiles of a
 * side were added up; figures are per profile. The tables "head" and "functions", by time without callees. New.
 */
struct result *diff_profiles(const struct profile *before, const struct profile *after,
                             const struct diff_options *options);

/* Columns of all of its tables, for those who read verdicts from them. */
enum diff_column {
    DIFF_NAME,
    DIFF_BEFORE,
    DIFF_AFTER,
    DIFF_CHANGE,
    DIFF_CHANGE_SHARE,
    DIFF_VERDICT,
    DIFF_PART,
    DIFF_CALLS_BEFORE,
    DIFF_CALLS_AFTER,
    DIFF_CALL_BEFORE,
    DIFF_CALL_AFTER,
    DIFF_LOW,
    DIFF_HIGH,
    DIFF_P,
    DIFF_COLUMNS
};

#endif
