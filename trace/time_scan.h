/*
 * time_scan.h - the times of many events, requested mostly in ascending order of event.
 *
 * trace_start_ns() finds its place anew for every event; a scan unpacks the times of PACKED_VALUES events at once, so that a
 * pass over many of them reads each in a few steps. For passes that look at one event in ten or more.
 *
 *     struct time_scan times;
 *     time_scan_begin(&times, trace);
 *     for (event_id e = 0; e < trace->event_count; e++)
 *         if (...)
 *             busy_ns += time_scan_end_ns(&times, e) - time_scan_start_ns(&times, e);
 */
#ifndef TPA_TRACE_TIME_SCAN_H
#define TPA_TRACE_TIME_SCAN_H

#include "trace/trace.h"

struct time_scan {
    const struct trace *trace;
    size_t block; /* the one that was unpacked; SIZE_MAX: none yet */
    int64_t start_ns[PACKED_VALUES], dur_ns[PACKED_VALUES];
};

/* Begin a scan; TRACE must outlive it. Nothing to release. */
static inline void time_scan_begin(struct time_scan *scan, const struct trace *trace)
{
    scan->trace = trace;
    scan->block = SIZE_MAX;
}

/* The place of E in the arrays, which hold its block then. */
static inline size_t time_scan_at(struct time_scan *scan, event_id e)
{
    size_t block = e / PACKED_VALUES;
    if (block != scan->block) {
        size_t left = scan->trace->event_count - block * PACKED_VALUES;
        size_t count = left < PACKED_VALUES ? left : PACKED_VALUES;
        packed_read_block(&scan->trace->start_ns, block, count, scan->start_ns);
        packed_read_block(&scan->trace->dur_ns, block, count, scan->dur_ns);
        scan->block = block;
    }
    return e % PACKED_VALUES;
}

/* The start of E, and its end: these two functions. */
static inline int64_t time_scan_start_ns(struct time_scan *scan, event_id e)
{
    return scan->start_ns[time_scan_at(scan, e)];
}

static inline int64_t time_scan_end_ns(struct time_scan *scan, event_id e)
{
    size_t at = time_scan_at(scan, e);
    return scan->start_ns[at] + scan->dur_ns[at];
}

#endif
