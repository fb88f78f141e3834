/*
 * finding_rules.h - the rules of findings: what each looks for, and the edit that is its price.
 */
#ifndef TPA_SUMMARY_FINDING_RULES_H
#define TPA_SUMMARY_FINDING_RULES_H

#include "summary/finding_work.h"

/* Let every rule look, and add what it finds to PRICING. The texts of SLOW are used up. */
void finding_rules_look(struct pricing *pricing, struct slow_operators *slow);

#endif
