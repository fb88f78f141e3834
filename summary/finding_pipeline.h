/* finding_pipeline.h - what holds the pipeline of a job up, as a finding: its price is that of job/, which replays who waits for whom
 * among ranks; the replay of one rank knows no such waits. */
#ifndef TPA_SUMMARY_FINDING_PIPELINE_H
#define TPA_SUMMARY_FINDING_PIPELINE_H

#include "summary/findings.h"

/* Find the job of SUMMARY, whose ranks send each other messages, and what a step takes less without what holds it up. */
void pipeline_find(struct summary *summary);

/* Then add it to FINDINGS, in its place, instead of those that are about the same. */
void pipeline_add_finding(const struct summary *summary, struct findings *findings);

/* The first sentence of the verdict on the job, in TEXTS; NULL where something else saves more. */
const char *pipeline_verdict(const struct summary *summary, const struct findings *findings,
                             struct arena *texts);

/* Where nothing holds the pipeline up, and most of its bubbles are of its schedule: a sentence about that, in TEXTS; else NULL. */
const char *pipeline_schedule(const struct summary *summary, struct arena *texts);

/* Set RANK to the one that holds the job of SUMMARY up, of a stage to its first. False: none is known. */
bool pipeline_rank(const struct summary *summary, int64_t *rank);

#endif
