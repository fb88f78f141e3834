/*
 * runs.h - separate runs side by side: the table "runs" of the summary, a row for each, as of a sweep over batch sizes.
 *
 *     if (file_set_of(trace)->jobs > 1)
 *         summary_add_runs(trace, selection, batch, result);
 */
#ifndef TPA_SUMMARY_RUNS_H
#define TPA_SUMMARY_RUNS_H

#include "analyze/selection.h"
#include "base/result.h"

/*
 * Add the table to RESULT. BATCH: samples in a batch of a rank; 0: as the shapes tell, which is the first size of the input of the
 * first convolution, linear layer or embedding of a step, if it is the same in all steps. False and ERR if SELECTION does not fit.
 */
bool summary_add_runs(const struct trace *trace, const struct selection_query *query, int64_t batch,
                      struct result *result, struct tpa_error *err);

extern const struct table_shape runs_tables[]; /* ends in { 0 } */

#endif
