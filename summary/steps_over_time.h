/*
 * steps_over_time.h - the steps of one rank on the first screen.
 *
 *     summary_add_steps(result->answer, trace, account, 9, &result->arena);
 */
#ifndef TPA_SUMMARY_STEPS_OVER_TIME_H
#define TPA_SUMMARY_STEPS_OVER_TIME_H

#include "analyze/account.h"
#include "base/answer.h"

/* Let ANSWER have the steps of RANK in order of time, in place of others: those of the host, or of devices that fall behind. ACCOUNT
 * has steps; TEXTS live as long as ANSWER. */
void summary_add_steps(struct answer *answer, const struct trace *trace, const struct account *account,
                       int64_t rank, struct arena *texts);

#endif
