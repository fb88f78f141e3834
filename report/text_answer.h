/*
 * text_answer.h - the answer of a result on one screen of a terminal: base/answer.h as text.
 *
 *     67.4 % of the GPUs' time is idle; in most of it (34.0 %) ...          the verdict
 *     A step takes 487.338us -> 258.605us at best; what the GPUs did in it, on average:
 *     ██████████████████▓▓░░░░░░░░░░░░░░░░░░░░░░░░                          one bar, and what its parts are
 *     █ computing 30.4 %  ▓ exposed copies 2.2 %  ░ idle: host 34.0 %
 *
 *     1. Wait less often in aten::item   up to 73.632us, 15.1 %  aten::item, wait for a copy
 *        x.item() -> values.append(x.detach())
 *
 *     Operators   25.2 %  329.636us  aten::mm
 *     Together    at best: 487.338us -> 258.605us, then the devices are the limit
 *     Not seen    memory: profile_memory=True
 *     More        --all: 1 more finding, all tables; --notes: 6 notes
 *
 * What the recordings lack stands first. It takes at most TEXT_ANSWER_LINES at 100 columns and more, or what the terminal has: where
 * it would take more, the last of what takes longest go first, then the last of the findings, and MORE tells how many did.
 */
#ifndef TPA_REPORT_TEXT_ANSWER_H
#define TPA_REPORT_TEXT_ANSWER_H

#include "report/printer.h"

enum { TEXT_ANSWER_LINES = 25 };

/* Append the answer and the notices of RESULT, which has one. */
void text_answer_add(struct buffer *out, const struct result *result, const struct print_options *options);

#endif
