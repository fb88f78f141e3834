/*
 * headline.h - the summary in one screen: what ran, the verdict, where the time of a step went, what to do first.
 *
 *     summary_add_headline(&summary, findings, result);       // result->answer, and the verdict as a notice on top
 *
 * The verdict names what the GPUs spend most of their time on besides computing, and its largest cause; without GPUs the
 * operator that takes longest. docs/definitions.md has the rule of each figure.
 */
#ifndef TPA_SUMMARY_HEADLINE_H
#define TPA_SUMMARY_HEADLINE_H

#include "summary/findings.h"

/* Fill the answer of RESULT from SUMMARY, whose analyses are answered and whose operators are added. Texts are copied. */
void summary_add_headline(const struct summary *summary, const struct findings *findings,
                          struct result *result);

#endif
