/*
 * gaps.h - why a device was idle: every gap, split into parts with one cause each.
 *
 *     struct gaps *gaps = gaps_analyze(trace, selection, BY(DEVICE), &gaps_defaults);
 *     printf("%" PRId64 "\n", gaps->part_ns[GAP_HOST]);
 *     arena_free(gaps);
 *
 * A gap is the time between two operations of a device (of a stream, with BY(STREAM)). The call that launched the work
 * after it cuts it into three phases, each of which may be empty:
 *
 *              gap
 *     work ][  before the call  [ in the call ]  after the call  [ work
 *              the host was late               the work was queued
 *
 * docs/definitions.md has the rule of each cause. The parts of a gap add up to its length.
 */
#ifndef TPA_ANALYZE_GAPS_H
#define TPA_ANALYZE_GAPS_H

#include "analyze/analysis.h"
#include "analyze/gap_finder.h"

extern const struct trace_wants gaps_wants;

/* The total of a cause in a group. */
struct gap_cause_row {
    struct group_key key;
    enum gap_cause cause;
    struct text name, meaning; /* of the cause */
    int64_t time_ns;           /* its parts added up */
    double share;              /* of the idle time of the group */
    int64_t count;             /* gaps with such a part */
    int64_t longest_ns;        /* the longest part */
};

enum { GAP_LENGTHS = 40 };

struct gaps {
    const struct trace *trace;
    struct gap *at;                 /* gaps of at least gaps_options.min_ns, longest first */
    size_t count;                   /* at most gaps_options.most_gaps */
    size_t listed;                  /* number of gaps of that length */
    size_t short_count;             /* gaps shorter than that */
    int64_t short_ns;               /* their lengths added up */
    int64_t idle_ns;                /* lengths of all gaps added up */
    int64_t part_ns[GAP_CAUSES];    /* their parts: they add up to idle_ns */
    struct gap longest[GAP_CAUSES]; /* those with the longest part of each; all 0 without any */
    /* devices and streams in order, their largest cause first; others by time */
    struct gap_cause_row *causes;
    size_t cause_count;
    int64_t length_ns[GAP_LENGTHS][GAP_CAUSES]; /* parts by length of the gap: see gaps_length_from_ns */
    unsigned by;
    struct group *group;
};

struct gaps_options {
    int64_t min_ns; /* shorter gaps are counted but not listed */
    /* queued work that starts within this after the call returned had launch latency */
    int64_t latency_below_ns;
    size_t most_gaps; /* list at most this many, the longest; 0: all */
    bool only_causes; /* nobody looks at what is listed, which may be anything */
};

extern const struct gaps_options gaps_defaults;

/* The gaps between the work of SELECTION, and their causes for each group of BY, a set of dimensions. With
 * BY(STREAM) each stream is examined separately, else each device. Release with arena_free (NULL is allowed):
 * the causes of all of TRACE, by device and with the times of gaps_defaults, are computed once and kept with
 * TRACE, which must outlive it. Memory is that of the gaps that are listed: set gaps_options.most_gaps, or
 * use gap_finder.h, where there may be many. */
const struct gaps *gaps_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                const struct gaps_options *options);

/* For one who visits all gaps of TRACE for another purpose, by gap_finder_open(trace, NULL, 0, GAP_LATENCY_BELOW_NS), device after device: what
 * gaps_analyze keeps comes along. New, NULL where it is known; pass it to gaps_close_usual, which frees it. */
struct gaps_query *gaps_open_usual(const struct trace *trace);
gap_taker gaps_add_usual;
void gaps_close_usual(struct gaps_query *query);

/* The tables "causes" and "gaps". New; free with table_free. */
struct table *gaps_causes_table(const struct gaps *gaps);
struct table *gaps_table(const struct gaps *gaps);

/* The least length in ns of gaps in gaps.length_ns[RANGE]: 0, 1us, 2us, 5us, 10us ... */
int64_t gaps_length_from_ns(size_t range);

#endif
