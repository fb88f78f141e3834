/*
 * summary.h - what is worth looking at first: rules over what the other analyses found.
 *
 *     if (!summary_add_tables(trace, selection, SUMMARY_BY_ALL, result, &err))
 *         ...
 *
 * A rule has a threshold, a piece of advice and the command that shows more; it finds something where its share passes
 * its threshold. docs/commands/summary.md lists them.
 */
#ifndef TPA_SUMMARY_SUMMARY_H
#define TPA_SUMMARY_SUMMARY_H

#include "summary/state.h"

extern const struct trace_wants summary_wants;

/* Add the tables "overview" (a few figures; by rank or device, a row for each), "operators" (those that cost
 * most) and "findings" (what costs most first; not there when nothing was found) to RESULT, and the advice as
 * notices. False and ERR when the selection does not fit the trace. */
bool summary_add_tables(const struct trace *trace, const struct selection *selection, enum summary_by by,
                        struct result *result, struct tpa_error *err);

/* The tables that may come of them, for `tpa help`; each ends in { 0 }. */
extern const struct table_shape findings_tables[], figures_tables[], remarks_tables[];

#endif
