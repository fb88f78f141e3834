/*
 * arg_scan.h - one argument of many events, requested mostly in ascending order of event.
 *
 * trace_arg() finds its place anew for every event; a scan goes on from where it is, so that a
 * pass over all events costs about a bit test each. Going back costs as much as trace_arg().
 *
 *     struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
 *     for (event_id e = 0; e < trace->event_count; e++)
 *         if (arg_scan_get(&ids, e, &id))
 *             ...
 */
#ifndef TPA_TRACE_ARG_SCAN_H
#define TPA_TRACE_ARG_SCAN_H

#include "base/bits.h"
#include "trace/trace.h"
#include <math.h>

struct arg_scan {
    const struct trace_arg_column *column; /* NULL when no event has the argument */
    size_t word;                           /* of column->present */
    size_t rank;                           /* values before that word */
};

/* A scan for ARG; TRACE must outlive it. Nothing to release. */
static inline struct arg_scan arg_scan_of(const struct trace *trace, enum trace_arg arg)
{
    return (struct arg_scan){ trace->args[arg].count ? &trace->args[arg] : NULL, 0, 0 };
}

/* Has event E the argument, and which value? */
static inline bool arg_scan_get(struct arg_scan *scan, event_id e, int64_t *value)
{
    const struct trace_arg_column *column = scan->column;
    if (!column)
        return false;
    size_t word = e / 64;
    uint64_t bit = UINT64_C(1) << (e % 64), bits = column->present[word];
    if (!(bits & bit))
        return false;
    if (word != scan->word) {
        if (word - scan->word >
            8) { /* back, or a long jump: column->rank knows the count at every 8th word */
            scan->word = word & ~(size_t)7;
            scan->rank = column->rank[e / 512];
        }
        while (scan->word < word)
            scan->rank += bits_count(column->present[scan->word++]);
    }
    size_t at = scan->rank + bits_count(bits & (bit - 1));
    *value = trace_arg_value(column, at);
    return true;
}

/* A DECIMAL argument, or NAN. */
static inline double arg_scan_decimal(struct arg_scan *scan, event_id e)
{
    int64_t bits;
    double value = NAN;
    if (arg_scan_get(scan, e, &bits))
        memcpy(&value, &bits, sizeof value);
    return value;
}

#endif
