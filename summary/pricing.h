/*
 * pricing.h - the price of a finding: the step time now, less that of a replay with its edit.
 *
 *     struct pricing pricing;
 *     pricing_init(&pricing, summary, findings);
 *     pricing_offer(&pricing, (struct offer){ .finding = { .rule = as_text("copies"), .edit = edit }, .subject = "copies" });
 *     pricing_settle(&pricing);                 // replays all that were offered, as many at a time as there are workers
 *     pricing_release(&pricing);
 *
 * Rules offer what they see, in their order; which offers are findings is settled when all are there.
 */
#ifndef TPA_SUMMARY_PRICING_H
#define TPA_SUMMARY_PRICING_H

#include "whatif/replay.h"
#include "summary/finding_places.h"
#include "summary/findings.h"

struct pricing;

/* What a rule saw. */
struct offer {
    struct priced_finding finding; /* with an edit; without a rule there is none, and SUBJECT alone counts */
    const char
        *subject; /* added to the rules that found nothing if it saves too little; NULL: is not added */
    const char *
        unless; /* where there is no finding: SUBJECT is added unless there is one of this rule; NULL: always */
    const char *
        part_of; /* a rule: where it found something, and that mended leaves less than half of this, this is no finding; NULL */
    const char *because; /* where there is no finding: then SUBJECT could not be checked, and this is why */
    bool of_host;        /* the host is late, and nothing else */
    bool unpriced;       /* if it saves too little, SUBJECT is reported as not priced */
    /* To complete what is a finding, once that is known; NULL: it is complete. */
    void (*complete)(struct pricing *pricing, struct priced_finding *finding, const struct offer *offer);
    double beside_ns; /* for COMPLETE, as is the next */
    struct place place;

    /* Filled in by pricing_settle. */
    bool fits;               /* its edit touches something */
    struct changes *changes; /* those of its edit alone; NULL where it saves too little */
    struct edit_effect effect;
    struct step_gain gain;
};

struct pricing {
    struct summary *summary;
    const struct trace *trace;
    const struct replay_graph *graph;
    struct findings *findings;
    VEC_OF(struct offer) offers;
    struct changes *together; /* the edits of all findings so far, in the order in which they were found */
    struct step_gain gain;    /* of these; replayed when first needed */
    bool is_replayed;
};

/* For the trace of SUMMARY; FINDINGS are filled. Release with pricing_release. */
void pricing_init(struct pricing *pricing, struct summary *summary, struct findings *findings);
void pricing_release(struct pricing *pricing);

/* TEXT, which is released, as a text that lives as long as the findings. */
struct text pricing_keep(struct pricing *pricing, struct buffer *text);

/* Keep OFFER until it is settled. Its texts are borrowed. */
void pricing_offer(struct pricing *pricing, struct offer offer);

/* Offer nothing: SUBJECT was checked without a finding. */
void pricing_add_quiet(struct pricing *pricing, const char *subject);

/* Replay with the edit of each offer. One that saves FINDINGS_LEAST_SHARE of a step is added to the findings, in the order in which
 * they were offered. The offers are gone then. */
void pricing_settle(struct pricing *pricing);

/* " --scale 'kernel:gemm.*=0.5'": the option of EDIT, safe to paste into a shell. */
void pricing_add_option(const struct pricing *pricing, const struct edit *edit, struct buffer *command);

/* The step with EDIT alone; with the edits of all findings so far. */
struct step_gain pricing_gain(const struct pricing *pricing, const struct edit *edit);
struct step_gain pricing_gain_together(struct pricing *pricing);

/* With the edits of the findings from which later steps gain. All are settled. */
struct step_gain pricing_gain_of_later(struct pricing *pricing);

/* SUBJECT could not be checked because the trace lacks FEATURE (enum trace_feature). */
void pricing_add_blind(struct pricing *pricing, unsigned feature, const char *subject);

#endif
