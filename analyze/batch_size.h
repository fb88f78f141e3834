/* batch_size.h - how many samples a step of a rank has, by recorded shapes. */
#ifndef TPA_ANALYZE_BATCH_SIZE_H
#define TPA_ANALYZE_BATCH_SIZE_H

#include "analyze/selection.h"

/* Samples in a batch in the files of SELECTION: the first size of the input of the first convolution, linear layer or embedding of
 * a step; TABLE_INT_MISSING: not recorded, or not the same in all steps. */
int64_t batch_size_of(const struct trace *trace, const struct selection *selection);

#endif
