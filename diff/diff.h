/*
 * diff.h - what changed between two sides, and whether it is real.
 *
 *     struct diff *diff = diff_open(before, after, &options, &err);     // struct measures, finished
 *     diff_add_tables(diff, result);
 *     ...
 *     diff_free(diff);
 *
 * Sides are compared run by run (measure_runs.h), by the level of their steps where both have steps, and judged
 * (verdict.h). The head holds the figures of a whole step; the rows of each table, with a last row for the unexplained
 * rest, add up to the change of the head's first figure.
 */
#ifndef TPA_DIFF_DIFF_H
#define TPA_DIFF_DIFF_H

#include "diff/measure.h"
#include "diff/measure_runs.h"
#include "diff/renames.h"
#include "diff/verdict.h"
#include "base/error.h"
#include "base/result.h"

struct diff_options {
    int64_t min_change_ns; /* smaller changes of a time are ignored */
    struct noise noise;    /* of times, between runs */
    bool by_file;          /* samples are files even if there are steps */
    const char *only;      /* key of the only table of rows to make; NULL: all */
};

/* A figure of whole samples. */
struct diff_metric {
    const char *key, *title; /* borrowed from the measures */
    enum table_kind kind;
    struct finding finding;
};

struct diff_row {
    const char *name; /* for renamed rows, of the second side; borrowed from the measures */
    size_t name_length;
    const char *old_name; /* NULL: not renamed */
    size_t old_name_length;
    enum rename_kind renamed;
    double calls[2]; /* per sample */
    struct finding finding;
    double weight; /* among causes, by cause.h */
    int64_t
        waits_for; /* communication that became longer on all ranks but this one, which comes late; -1: it is not so */
};

struct diff_rows {
    const char *key, *title;
    enum table_kind kind;
    VEC_OF(struct diff_row) rows; /* largest change first */
    size_t tested;                /* rows that were tested together */
    const char *unit;             /* unit of their samples, and their number */
    size_t samples[2];
    bool alone;        /* they are not parts of a figure, and do not add up to one */
    const char *whole; /* key of the metric that they are parts of; NULL: none */
};

/* A sample that is far from the others of its side. */
struct diff_outlier {
    int side;
    const struct measure_sample *sample;
    double value, median;
};

struct diff {
    const struct measures *sides[2];
    const struct sampling *samplings[2];
    struct measure_runs *runs[2]; /* of the samplings */
    const char *unit;             /* unit of a sample: "step" */
    double min_change;
    struct noise noise;
    VEC_OF(struct diff_metric) metrics; /* the rows add up to the first */
    VEC_OF(struct diff_rows) tables;
    VEC_OF(struct diff_outlier) outliers; /* of the first metric */
};

/*
 * New; free with diff_free (NULL is allowed). Borrows BEFORE and AFTER for its lifetime. NULL and ERR if they hold
 * nothing comparable.
 */
struct diff *diff_open(const struct measures *before, const struct measures *after,
                       const struct diff_options *options, struct tpa_error *err);
void diff_free(struct diff *diff);

/* The metric called KEY; NULL if a side lacks it. */
const struct diff_metric *diff_metric(const struct diff *diff, const char *key);

/* Are both sides memory snapshots? Their bytes are exact, without random variation. */
bool diff_is_exact(const struct diff *diff);

/* Are all figures and rows equal? */
bool diff_is_same(const struct diff *diff);

/* What the verdict of FINDING compares: two recordings, or configurations. Two recordings: "between these two
 * recordings"; else "". */
const char *diff_between(const struct finding *finding);

/*
 * Add to RESULT: notices on top about differences in how the sides were recorded; the tables "head" and, if memory was
 * recorded, "memory"; one for each kind of rows; "outliers" and "renamed" if there are any.
 */
void diff_add_tables(const struct diff *diff, struct result *result);

/* Add notices on top of RESULT about differences that make the sides hard to compare. Part of diff_add_tables. */
void diff_notice_differences(const struct diff *diff, struct result *result);

/* Add the tables "classes" and "moved": kernels by class on both sides, and operators whose kernels changed class, with a notice of the
 * largest such change. Part of diff_add_tables. */
void diff_add_classes(const struct diff *diff, struct result *result);

/* The columns of its tables of figures and rows. */
enum diff_column {
    DIFF_NAME,
    DIFF_BEFORE,
    DIFF_AFTER,
    DIFF_CHANGE,
    DIFF_CHANGE_SHARE,
    DIFF_VERDICT,
    DIFF_PART,
    DIFF_LOW,
    DIFF_HIGH,
    DIFF_CALLS_BEFORE,
    DIFF_CALLS_AFTER,
    DIFF_CALL_BEFORE,
    DIFF_CALL_AFTER,
    DIFF_MEDIAN_BEFORE,
    DIFF_MEDIAN_AFTER,
    DIFF_SHIFT,
    DIFF_P,
    DIFF_OLD_NAME,
    DIFF_COLUMNS
};

/* The name of the row for the rest that no other row explains. */
#define DIFF_UNEXPLAINED "[in no row]"

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape diff_tables[], diff_class_tables[];

#endif
