/*
 * gaps.h - why a device had nothing to do: every idle gap, with one cause.
 *
 *     struct gaps_options options = gaps_defaults;
 *     gaps_add_tables(trace, selection, &options, result);
 *
 * A gap is the time between two works of a device (of a stream, with by_stream). The causes, of which a gap has the
 * first that fits:
 *
 *   profiler overhead   the profiler's own records cover at least half of it
 *   unknown             the call that launched the work after it is not in the file
 *   launch latency      that call had begun before the device ran dry, and the gap is short: the work was queued
 *   unknown             ... and the gap is long: the work was queued, but waited for something that is not recorded
 *   allocation          else the host was late: of the time from the begin of the gap to that of the call, the calling
 *                       thread spent at least half in cudaMalloc, cudaFree, cudaHostAlloc and the like
 *   data loading        ... in waiting for the next batch
 *   communication wait  ... in an operator or annotation of communication that ended before the call
 *   synchronisation     the thread was in a synchronisation or a blocking copy as the device ran dry
 *   host                else
 *
 * So the sums over the causes add up to the idle time.
 */
#ifndef TPA_ANALYZE_GAPS_H
#define TPA_ANALYZE_GAPS_H

#include "analyze/row_keys.h"
#include "analyze/selection.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants gaps_wants;

struct gaps_options {
    enum rows_by by; /* by stream: gaps of each stream; else of devices, with causes summed up by this */
    int64_t min_ns;  /* shorter gaps are counted but not listed */
    int64_t latency_below_ns; /* a gap of queued work is launch latency below this */
    size_t most_rows;         /* list no more than the longest of these; 0: all */
    bool only_causes;         /* list none: leave out the table "gaps" */
};

extern const struct gaps_options gaps_defaults;

/* Add the tables "causes" and "gaps" (the longest first) to RESULT. */
void gaps_add_tables(const struct trace *trace, const struct selection *selection,
                     const struct gaps_options *options, struct result *result);

/*
 * How long the gaps are: a row for each range of lengths (to 1us, 2us, 5us, 10us ...) between the shortest and the
 * longest gap, with the range in column "length" and the idle time in gaps of that length in a column per cause, keyed
 * "cause_0" and on, in the order of the enum. New; free with table_free. No rows when there are no gaps.
 */
struct table *gaps_lengths(const struct trace *trace, const struct selection *selection);

#endif
