/*
 * finding_work.h - rules of findings about how kernels do what they do: without tensor cores, far below what the device could.
 */
#ifndef TPA_SUMMARY_FINDING_WORK_H
#define TPA_SUMMARY_FINDING_WORK_H

#include "base/buffer.h"
#include "summary/pricing.h"

/* Operators far below what the device could. */
struct slow_operators {
    bool looked;                /* else the trace does not have what it takes */
    bool rated;                 /* else what the devices can do at most is unknown */
    struct buffer title, where; /* empty: they take less than 5 % of the device time */
};

/* To be called before there is a replay graph: of large traces, the rows of tpa roofline take as much memory as that. Release it. */
struct slow_operators slow_operators_find(const struct summary *summary);
void slow_operators_release(struct slow_operators *slow);

/* The rules. The texts of SLOW are used up. */
void finding_look_at_tensor_cores(struct pricing *pricing);
void finding_look_at_slow_operators(struct pricing *pricing, struct slow_operators *slow);

#endif
