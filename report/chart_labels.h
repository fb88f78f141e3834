/*
 * chart_labels.h - the labels of a chart's lying bars, shortened so that different ones never look the same.
 *
 *     struct chart_labels *labels = chart_labels_open(chart, 42);
 *     chart_labels_add(labels, &text, i);        // of category I, safe for a terminal
 *     arena_free(labels);
 */
#ifndef TPA_REPORT_CHART_LABELS_H
#define TPA_REPORT_CHART_LABELS_H

#include "base/buffer.h"
#include "base/chart.h"

struct chart_labels;

/* New: of the categories of CHART, which is borrowed, in at most MAX columns each. Free with arena_free. */
struct chart_labels *chart_labels_open(const struct chart *chart, size_t max);

/* Append the label of category I to OUT, with control characters made visible; returns how many columns it takes. */
size_t chart_labels_add(struct chart_labels *labels, struct buffer *out, size_t i);

#endif
