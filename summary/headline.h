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

#define PROGRAM_NOT_RECORDED "not recorded"

/* The program, at most 48 characters, shortened in the middle: the command line of the first file that records one; else the
 * script of the Python frame that lasts longest; else that of most stacks of operators; else the name of a process that is not just Python; else the XLA module
 * whose work took devices longest. PROGRAM_NOT_RECORDED where nothing tells, with what it
 * does, if the operators of PyTorch tell that: "not recorded (training)". New in TEXTS. Needs WANT(MODULE) and WANT(CALL_STACK). */
const char *summary_program(const struct trace *trace, struct arena *texts);

#endif
