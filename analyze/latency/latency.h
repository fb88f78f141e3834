/*
 * latency.h - how long each thing that happens again and again takes: annotations, NVTX ranges, steps, requests.
 *
 *     const struct latency *latency = latency_analyze(trace, selection, 0, &latency_defaults, &err);
 *     for (size_t i = 0; i < latency->rows.count; i++)
 *         printf("%s %" PRId64 "\n", latency->rows.at[i].name.at, latency->rows.at[i].p99_ns);
 *     latency_free(latency);
 *
 * A row is a name; names that differ only in numbers are one, which has '*' for each number. docs/definitions.md has the
 * definitions for users.
 */
#ifndef TPA_ANALYZE_LATENCY_LATENCY_H
#define TPA_ANALYZE_LATENCY_LATENCY_H

#include "analyze/analysis.h"
#include "analyze/latency/phases.h"

extern const struct trace_wants latency_wants;

/* One range; of an inferred step, which is none, EVENT is its first event. */
struct latency_range {
    event_id event;
    uint32_t row;
    int64_t start_ns, duration_ns;
};

struct latency_row {
    struct group_key key;
    struct text name; /* with '*' for numbers */
    int64_t count, total_ns, mean_ns, stddev_ns, min_ns, p50_ns, p90_ns, p95_ns, p99_ns, max_ns;
    int64_t busy_ns, idle_ns;       /* of the devices of the file, added up; missing where it has none */
    int64_t operations, work_ns;    /* launched within, on the thread of the range; missing as above */
    int64_t part_ns[LATENCY_PARTS]; /* added up; missing as above */
    int64_t outliers;
    bool inferred; /* of steps that no range marks */
    size_t first;  /* of latency.ranges: those of the row, the shortest first */
};

/* A range that took far longer than others of its row. */
struct latency_outlier {
    int64_t rank, cycle, start_ns, duration_ns; /* cycle: missing if no rank has several */
    struct text thread, name;                   /* name as in the file */
    int64_t median_ns, longer_ns;
    struct text part; /* what is most above its median over the row; missing when nothing is */
    int64_t grew_ns;  /* by how much */
    int64_t operations, median_operations; /* launched within */
};

/* Ranges of a row whose duration lies in [FROM, TO). */
struct latency_bar {
    struct group_key key;
    struct text name;
    int64_t from_ns, to_ns, count;
    double share;
};

struct latency_options {
    const char *
        name; /* ranges that match this regular expression, operators and others among them; NULL: annotations */
    bool exact; /* names that differ in numbers are different */
    bool histogram;
    int64_t least; /* ranges of a row */
};

extern const struct latency_options latency_defaults;

struct latency {
    VEC_OF(struct latency_row) rows;         /* the most time first */
    VEC_OF(struct latency_range) ranges;     /* row after row, by duration */
    VEC_OF(struct latency_outlier) outliers; /* what is furthest above the median first */
    VEC_OF(struct latency_bar) bars;
    struct phases serving;
    int64_t open;   /* ranges left out: open when recording stopped */
    int64_t single; /* ranges of names that come less than LEAST times */
    unsigned by;
    struct latency *own; /* to be freed; NULL: it is kept with the trace */
    struct group *group;
    struct arena texts;
};

/*
 * NULL and ERR when the name is not a regular expression. BY is a set of dimensions. Texts are borrowed from TRACE and the
 * result. Give back with latency_free (NULL is allowed): of all of TRACE, by nothing and with latency_defaults, it is computed
 * once and kept with TRACE.
 */
const struct latency *latency_analyze(const struct trace *trace, const struct selection *selection,
                                      unsigned by, const struct latency_options *options,
                                      struct tpa_error *err);
void latency_free(const struct latency *latency);

/* The name of RANGE, of ROW, as in the file; of an inferred step "inferred [step 3]". Lives as long as TRACE. */
struct text latency_name_of(const struct trace *trace, const struct latency_row *row,
                            const struct latency_range *range);

#endif
