/* finding_rules.h - the rules of findings: what each looks for, and the edit that is its price. */
#ifndef TPA_SUMMARY_FINDING_RULES_H
#define TPA_SUMMARY_FINDING_RULES_H

#include "summary/finding_work.h"

/* Let every rule look, and settle what they offer. */
void finding_rules_look(struct pricing *pricing);

#endif
