/*
 * gap_colors.h - one colour for each cause of idle time, the same in every picture of a trace.
 *
 *     enum chart_color colors[GAP_CAUSES];
 *     gap_colors(gaps, false, colors);
 */
#ifndef TPA_ANALYZE_GAP_COLORS_H
#define TPA_ANALYZE_GAP_COLORS_H

#include "analyze/gaps.h"

/* The colour of each cause of GAPS. There are more causes than colours: those with the most time have distinct ones.
 * The smallest of more than six are CHART_COLOR_OF_IDLE or, if causes are ALONE in their picture, have the colours of
 * device activities. */
void gap_colors(const struct gaps *gaps, bool alone, enum chart_color colors[GAP_CAUSES]);

#endif
