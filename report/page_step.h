/*
 * page_step.h - one step of a recording, drawn small: the threads of the host, the streams of devices, and where findings are.
 *
 *     page_add_step(&text, timeline, answer);    // nothing where there is no step, or no work in it
 *
 * It is a picture that links to the timeline, which shows the same stretch with all of its events.
 */
#ifndef TPA_REPORT_PAGE_STEP_H
#define TPA_REPORT_PAGE_STEP_H

#include "base/answer.h"
#include "base/buffer.h"
#include "base/timeline.h"

/* Append the median step of the first rank of TIMELINE, as a figure, with the numbers of the findings of ANSWER. */
void page_add_step(struct buffer *out, const struct timeline *timeline, const struct answer *answer);

#endif
