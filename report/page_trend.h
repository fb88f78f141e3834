/*
 * page_trend.h - a figure over the runs of a store, drawn small: its level, and the band in which it is expected.
 *
 *     page_add_trend(&text, &answer->trends.at[0]);
 */
#ifndef TPA_REPORT_PAGE_TREND_H
#define TPA_REPORT_PAGE_TREND_H

#include "base/answer.h"
#include "base/buffer.h"

/* Append TREND as a figure; nothing where it has less than two runs. */
void page_add_trend(struct buffer *out, const struct answer_trend *trend);

#endif
