/*
 * pricing.h - the price of a finding: the step time now, less that of a replay with its edit.
 */
#ifndef TPA_SUMMARY_PRICING_H
#define TPA_SUMMARY_PRICING_H

#include "replay/make_graph.h"
#include "replay/whatif.h"
#include "summary/findings.h"

struct pricing {
    struct summary *summary;
    const struct trace *trace;
    const struct replay_graph *graph;
    struct findings *findings;
    int64_t last_launch_ns;   /* when it began; INT64_MIN: none */
    struct changes *together; /* the edits of all findings so far, in the order in which they were found */
    struct step_gain gain;    /* of these; replayed when asked for */
    bool is_replayed;
};

/* For the trace of SUMMARY; FINDINGS are filled. Release with pricing_release. */
void pricing_init(struct pricing *pricing, struct summary *summary, struct findings *findings);
void pricing_release(struct pricing *pricing);

/* TEXT, which is released, as a text that lives as long as the findings. */
struct text pricing_keep(struct pricing *pricing, struct buffer *text);

/* Replay with the edit of FINDING, which is added if it saves FINDINGS_LEAST_SHARE of a step: true. Else SUBJECT, if not NULL, is
 * added to the rules that found nothing. */
bool pricing_add(struct pricing *pricing, struct priced_finding finding, const char *subject);

/* " --scale 'kernel:gemm.*=0.5'": the option of EDIT, safe to paste into a shell. */
void pricing_add_option(struct buffer *command, const struct edit *edit);

/* The step with EDIT alone; with the edits of all findings so far. The mean instead of the median if findings use that. */
struct step_gain pricing_gain(const struct pricing *pricing, const struct edit *edit);
struct step_gain pricing_gain_together(struct pricing *pricing);

/* SUBJECT was checked without a finding; or could not be checked because the trace lacks FEATURE (enum trace_feature). */
void pricing_add_quiet(struct pricing *pricing, const char *subject);
void pricing_add_blind(struct pricing *pricing, unsigned feature, const char *subject);

#endif
