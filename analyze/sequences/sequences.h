/*
 * sequences.h - chains of operations in a row: which repeat, which are too short to keep a device busy, which could be
 * fused.
 *
 *     struct sequences *sequences = sequences_analyze(trace, selection, BY(DEVICE), &sequence_defaults);
 *     printf("%" PRId64 " operations in %" PRId64 " runs\n", sequences->total.operations, sequences->total.runs);
 *     arena_free(sequences);
 *
 * An operation is a kernel, copy or memset. Operations in a row are neighbours on one stream, by start and then by
 * their place in the file. An operation that was not selected parts its neighbours. docs/definitions.md has the
 * definitions for users.
 */
#ifndef TPA_ANALYZE_SEQUENCES_SEQUENCES_H
#define TPA_ANALYZE_SEQUENCES_SEQUENCES_H

#include "analyze/analysis.h"
#include "analyze/sequences/rows.h"

extern const struct trace_wants sequences_wants;

extern const struct sequence_options sequence_defaults;

/* New; free with arena_free (NULL is allowed). NULL and ERR when no operator is called as requested. BY is a set of
 * dimensions. MOST_ROWS as in analysis_query: rows below it get no texts. Others are borrowed from TRACE. */
struct sequences *sequences_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                    const struct sequence_options *options, struct tpa_error *err);

/* The fusions and the runs of all of TRACE, within steps, with the usual options: without chains that repeat. Derived when first
 * requested; borrowed; lives as long as TRACE. */
const struct sequences *sequences_gains_of(const struct trace *trace);

#endif
