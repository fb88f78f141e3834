/* finding_kit.h - what the rules of findings share: their list, and how to add a finding, to say that a rule could not look, and to name
 * what an edit is about. */
#ifndef TPA_SUMMARY_FINDING_KIT_H
#define TPA_SUMMARY_FINDING_KIT_H

#include "summary/pricing.h"

/* In the order in which they look. A test holds for each a trace in which it finds something, with its price by hand, and nearly the
 * same in which it does not. */
enum finding_rule {
    FINDING_DATA_LOADING,
    FINDING_COMPILATION,
    FINDING_HOST_TIME,
    FINDING_HOST_OPERATORS,
    FINDING_PAUSES,
    FINDING_HOST_WAIT,
    FINDING_PAGEABLE_COPIES,
    FINDING_PINNED_COPIES,
    FINDING_COPIES_TO_HOST,
    FINDING_DEVICE_COPIES,
    FINDING_OTHER_COPIES,
    FINDING_FIRST_USE,
    FINDING_ALLOCATION,
    FINDING_TENSOR_CORES,
    FINDING_FUSION,
    FINDING_ATTENTION,
    FINDING_RECOMPUTATION,
    FINDING_OPTIMIZER,
    FINDING_FIRST_CALLS,
    FINDING_THREADS,
    FINDING_HOST_COPIES,
    FINDING_FLOAT64,
    FINDING_DENSE_GRADIENT,
    FINDING_INDEX_GRADIENT,
    FINDING_BELOW_PEAK,
    FINDING_COMMUNICATION,
    FINDING_SLOW_RANKS,
    FINDING_CONTENTION,
    FINDING_LAUNCHES,
    FINDING_RULES
};

struct finding_rule_info {
    const char *name;    /* "data_loading": stable, for scripts */
    const char *section; /* of the report */
    const char *action;  /* what to do about it, unless the finding has a better one */
    bool is_called;      /* its place is a call, which may have a line of source */
};

extern const struct finding_rule_info finding_rules[FINDING_RULES];

/* Offer what OFFER says, of RULE. */
void finding_offer(struct pricing *pricing, enum finding_rule rule, struct offer offer);

/* The same of FINDING alone; SUBJECT as of an offer. */
void finding_add(struct pricing *pricing, enum finding_rule rule, struct priced_finding finding,
                 const char *subject);

/* SUBJECT could not be checked: why, or how to record what it needs. Call in the order of the offers. */
void finding_add_blind(struct pricing *pricing, const char *subject, const char *because);

/* FINDING is mended by CODE, of literals. */
void finding_set_code(struct priced_finding *finding, struct code_change code);

/* A regular expression that matches NAME alone; lives as long as the findings. */
const char *finding_pattern(struct pricing *pricing, struct text name);

/* Append NAME without the address of an object: "<built-in method tolist of numpy.ndarray object>". */
void finding_append_name(struct buffer *text, const char *name);

#endif
