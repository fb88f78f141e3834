/*
 * finding_rules.h - the rules of findings: what each looks for, and the edit that is its price.
 */
#ifndef TPA_SUMMARY_FINDING_RULES_H
#define TPA_SUMMARY_FINDING_RULES_H

#include "base/buffer.h"
#include "summary/pricing.h"

/* Operators far below what the device could. */
struct slow_operators {
    bool looked;                /* else the trace does not have what it takes */
    struct buffer title, where; /* empty: they take less than 5 % of the device time */
};

/* To be called before there is a replay graph: of large traces, the rows of tpa roofline take as much memory as that. Release it. */
struct slow_operators slow_operators_find(const struct summary *summary);
void slow_operators_release(struct slow_operators *slow);

/* Let every rule look, and add what it finds to PRICING. The texts of SLOW are used up. */
void finding_rules_look(struct pricing *pricing, struct slow_operators *slow);

#endif
