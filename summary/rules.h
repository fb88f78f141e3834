/*
 * rules.h - findings without a price (findings.h has those with a price).
 *
 *     summary_look(&summary);       // summary.findings
 *
 * A figure of a finding is one that another command shows.
 */
#ifndef TPA_SUMMARY_RULES_H
#define TPA_SUMMARY_RULES_H

#include "summary/state.h"

/* Fewer have no slow one among them. */
#define RULES_LEAST_STEPS 3

struct summary_rule {
    const char *key, *finding, *action;
    double threshold;          /* a share above it is a finding */
    const char *stake, *whole; /* what is at stake, and of what: 3.010ms "late", 8.0 % "of the recording" */
    const char *section;       /* of the report, which shows more */
    const char *command, *advice;
};

extern const struct summary_rule summary_rules[RULES];

/* Add what the rules find. */
void summary_look(struct summary *summary);

#endif
