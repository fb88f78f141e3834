/*
 * page_curve.h - memory in use over time, drawn small: what held the peak, in the colours of the bar of the first screen.
 *
 *     page_add_curve(&text, timeline, 1, answer);    // nothing where TIMELINE is not that of the answer
 *
 * The picture links to the peak in the timeline, where a click lists all that was in use.
 */
#ifndef TPA_REPORT_PAGE_CURVE_H
#define TPA_REPORT_PAGE_CURVE_H

#include "base/answer.h"
#include "base/buffer.h"
#include "base/timeline.h"

/* Append the uses of TIMELINE, the page's NUMBERth from 1, stacked by the parts of the first bar of ANSWER, as a figure. */
void page_add_curve(struct buffer *out, const struct timeline *timeline, size_t number,
                    const struct answer *answer);

#endif
