/* diff.h - two sides, compared. */
#ifndef TPA_DIFF_DIFF_H
#define TPA_DIFF_DIFF_H

#include "diff/measure_runs.h"
#include "diff/renames.h"
#include "diff/verdict.h"

/*
 * diff.c - what changed between two sides, and whether it is real.
 *
 *     struct diff *diff = diff_open(before, after, &options, &err);     // struct measures, finished
 *     diff_add_tables(diff, result);
 *     ...
 *     arena_free(diff);
 *
 * Sides are compared run by run (measure_runs.h), by the level of their steps where both have steps, and judged
 * (verdict.h). The head holds the figures of a whole step; the rows of each table, with a last row for the unexplained
 * rest, add up to the change of the head's first figure.
 */

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

/* New; free with arena_free (NULL is allowed). Borrows BEFORE and AFTER for its lifetime. NULL and ERR if they hold
 * nothing comparable. */
struct diff *diff_open(const struct measures *before, const struct measures *after,
                       const struct diff_options *options, struct tpa_error *err);

/* The metric called KEY; NULL if a side lacks it. */
const struct diff_metric *diff_metric(const struct diff *diff, const char *key);

/* Are both sides memory snapshots? Their bytes are exact, without random variation. */
bool diff_is_exact(const struct diff *diff);

/* Are all figures and rows equal? */
bool diff_is_same(const struct diff *diff);

/* What the verdict of FINDING compares: two recordings, or configurations. Two recordings: "between these two
 * recordings"; else "". */
const char *diff_between(const struct finding *finding);

/* Add to RESULT: notices on top about differences in how the sides were recorded; the tables "head" and, if memory was
 * recorded, "memory"; one for each kind of rows; "outliers" and "renamed" if there are any. */
void diff_add_tables(const struct diff *diff, struct result *result);

/* Add notices on top of RESULT about differences that make the sides hard to compare. Part of diff_add_tables. */
void diff_notice_differences(const struct diff *diff, struct result *result);

/* Append in what the recordings of the sides are not alike, so that a gate between them must not pass: "not the same GPU: A against B";
 * or whether launches were recorded. Nothing if they are, or if it is not known. */
void diff_append_unlike(const struct diff *diff, struct buffer *out);

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

/*
 * diff_screen.c - what people read of a comparison first: the account of a step on both sides, and what changed.
 *
 *     diff_add_account(diff, result);
 *     diff_add_changes(diff, 15, result);
 */

/* If two ranks of one job are compared, add a notice on top of RESULT that says so. Call before all others. */
void diff_notice_one_job(const struct diff *diff, struct result *result);

/* Add the table "account": the parts of a step on both sides, which add up to it, each with a bar. False if the step or
 * its parts are not known. */
bool diff_add_account(const struct diff *diff, struct result *result);

/* Add the table "changes": rows of all tables of times that changed beyond noise, the largest first, and waits after the
 * work that they wait for (cause.h); at most MOST (0: all). A notice if there are none. False if rows of DIFF cannot be
 * put into one table. */
bool diff_add_changes(const struct diff *diff, size_t most, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape diff_screen_tables[];

/* diff_answer.c - the head of a comparison: the verdict on a step; on HTML pages also bars and the largest changes. */

/* Add the verdict to RESULT as a notice on top: how the first figure changed, and why. Call before other notices are
 * added. */
void diff_add_verdict(const struct diff *diff, struct result *result);

/* Fill the answer of RESULT. Texts are copied. */
void diff_add_answer(const struct diff *diff, struct result *result);

/* slow.c - which ranks, hosts and links of a job are slow on both sides of a comparison, and which on only one. */

/* Add the table "slow" of two fleets; nothing if neither has any. BEFORE and AFTER must live as long as RESULT. */
void slow_add_table(const struct measures *before, const struct measures *after, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape slow_tables[];

/* blocks.c - two memory snapshots of one process: which blocks are in use in both, new or gone. */

/* A line of code. A block is the same on both sides if device, address, size and stack are equal. */
struct block_row {
    struct text line;
    int64_t kept_bytes, kept_count, new_bytes, new_count, gone_bytes, gone_count;
};

struct block_changes {
    VEC_OF(struct block_row) rows; /* most new bytes first */
    struct block_row sum;          /* its line is not set */
    bool one_process;              /* more than a tenth of the blocks of the smaller side are on both */
};

/* Compare the blocks of BEFORE with those of AFTER. Texts of the rows are borrowed from both sides; free the rows with
 * VEC_FREE. */
void blocks_compare(const struct measures *before, const struct measures *after,
                    struct block_changes *changes);

/* If both sides are snapshots of one process, add the table "blocks" and a notice. */
void blocks_add_table(const struct measures *before, const struct measures *after, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape blocks_tables[];

/*
 * cause.c - of the rows that changed, which to name as the cause: work rather than the wait for it.
 *
 *     double weight = change * cause_weight(cause_class_of(name, len));      // the row with the largest is named
 *
 * If a kernel takes longer, so do the calls that wait for it, and often by more than the kernel. If a rank is late, so is
 * each collective on the others; diff.c sees that by the rank for which it takes no longer.
 */

enum cause_class {
    CAUSE_WORK, /* an operator, kernel, copy or function */
    CAUSE_SHARED, /* communication, which waits for other ranks; launches and copies, whose calls wait for room */
    CAUSE_READ, /* an operator that reads a value from a device, and so waits for it: names the wait better than its call */
    CAUSE_WAIT,    /* a synchronisation, a synchronous copy */
    CAUSE_HELD_UP, /* communication that is proven to wait for a rank that comes late */
    CAUSE_STEP,    /* the step itself, or what surrounds it: explains nothing */
};

/* The class of the row NAME, of LEN bytes. */
enum cause_class cause_class_of(const char *name, size_t len);

/* Does the text NAME say that it is communication: a kernel of NCCL, an operator of c10d? */
bool cause_is_communication(const char *name);

/* What a change of a row of CLASS counts in the order of causes: 1 for work. A wait is named before work only if it changed
 * five times as much. */
double cause_weight(enum cause_class class);

#endif
