#include "report/chart_labels.h"

#include "base/escape.h"
#include "base/unicode.h"
#include "report/apart.h"

struct chart_labels {
    const struct chart *chart;
    struct apart *names;
};

static struct text label_of(const struct chart *chart, size_t i)
{
    const struct chart_series *series = &chart->series.at[0];
    struct text text = table_cell(series->table, i, series->x)->text;
    return text.at ? text : as_text("");
}

struct chart_labels *chart_labels_open(const struct chart *chart, size_t max)
{
    struct chart_labels *labels = arena_open(sizeof *labels);
    labels->chart = chart;
    labels->names = arena_hold(arena_of(labels), apart_open(max));
    for (size_t i = 0; i < chart_category_count(chart); i++) {
        struct text text = label_of(chart, i);
        apart_add(labels->names, text.at, text.len);
    }
    return labels;
}

size_t chart_labels_add(struct chart_labels *labels, struct buffer *out, size_t i)
{
    struct text text = label_of(labels->chart, i), full, shown;
    size_t begin = out->count;
    if (apart_fill_names(labels->names, &full, &shown, text.at, text.len))
        buffer_add(out, shown.at, shown.len);
    else
        escape_terminal(out, full.at, full.len);
    return unicode_text_width(out->at ? out->at + begin : "", out->count - begin);
}
