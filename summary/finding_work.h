/* finding_work.h - rules of findings about how kernels do what they do: without tensor cores, far below what
 * the device could. */
#ifndef TPA_SUMMARY_FINDING_WORK_H
#define TPA_SUMMARY_FINDING_WORK_H

#include "summary/pricing.h"

/* Add findings to PRICING, or say that nothing was found, or why the rule could not look: these functions. */
void finding_add_fusion(struct pricing *pricing);
void finding_add_host_fusion(struct pricing *pricing);
void finding_add_attention(struct pricing *pricing);
void finding_add_optimizer(struct pricing *pricing);
void finding_add_recomputation(struct pricing *pricing);
void finding_add_slow_calls(struct pricing *pricing);
void finding_add_tensor_cores(struct pricing *pricing);
void finding_add_slow_operators(struct pricing *pricing);

/* Work that another program for the same result does not do. finding_avoid.c */
void finding_add_avoidable(struct pricing *pricing);

#endif
