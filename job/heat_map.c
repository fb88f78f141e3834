/* heat_map.c - slowdowns of ranks in steps as a picture: see job.h. Neighbours share a field, which shows the largest. */
#include "job/job.h"
#include <math.h>

/* Classes of slowdowns, up to LESS. */
static const struct {
    double less;
    const char *sign, *title;
    enum chart_color color;
} shades[] = {
    { 1.02, "\u00b7", "less than 1.02", CHART_PALE }, { 1.05, "\u2591", "to 1.05", CHART_SKY },
    { 1.10, "\u2592", "to 1.10", CHART_BLUE },        { 1.25, "\u2593", "to 1.25", CHART_ORANGE },
    { INFINITY, "\u2588", "more", CHART_VERMILION },
};
enum { SHADES = sizeof shades / sizeof *shades };

/* Index of its class; SHADES: it is not known. */
static size_t shade_of(double slowdown)
{
    size_t s = 0;
    while (s < SHADES && !(slowdown < shades[s].less))
        s++;
    return s;
}

/* All ranks in all steps as fields, by row and column. */
struct fields {
    size_t ranks, steps, rows, columns;
    double *most; /* the largest slowdown in a field; NaN: none is known */
};

/* The first of COUNT things that are in field FIELD of FIELDS. */
static size_t first_in(size_t field, size_t count, size_t fields)
{
    return (field * count + fields - 1) / fields;
}

/* Release with free(most). */
static struct fields find_fields(const struct job *job, size_t most_rows, size_t most_columns)
{
    size_t ranks = job->all->ranks.count, steps = job->all->steps.count;
    struct fields fields = { ranks, steps, ranks < most_rows ? ranks : most_rows,
                             steps < most_columns ? steps : most_columns, NULL };
    fields.most = mem_alloc(mem_times(fields.rows * fields.columns + 1, sizeof *fields.most));
    for (size_t i = 0; i < fields.rows * fields.columns; i++)
        fields.most[i] = NAN;
    for (size_t i = 0; i < job->heat.count; i++) {
        size_t row = i % ranks * fields.rows / ranks, column = i / ranks * fields.columns / steps;
        double *most = &fields.most[row * fields.columns + column];
        *most = isnan(*most) || job->heat.at[i].slowdown > *most ? job->heat.at[i].slowdown : *most;
    }
    return fields;
}

/* "3", "3..5": the ranks in ROW. */
static const char *name_row(const struct job *job, const struct fields *fields, size_t row,
                            struct arena *texts)
{
    long long low = job->all->ranks.at[first_in(row, fields->ranks, fields->rows)].number;
    long long high = job->all->ranks.at[first_in(row + 1, fields->ranks, fields->rows) - 1].number;
    return low == high ? arena_printf(texts, "%lld", low) : arena_printf(texts, "%lld..%lld", low, high);
}

void job_draw_heat(struct job *job)
{
    enum { ROWS = 32, COLUMNS = 60 };
    struct fields fields = find_fields(job, ROWS, COLUMNS);
    SCOPED struct buffer out = { 0 };
    for (size_t row = 0; row < fields.rows; row++) {
        const double *most = fields.most + row * fields.columns;
        double largest = NAN;
        buffer_clear(&out);
        for (size_t c = 0; c < fields.columns; c++) {
            size_t shade = shade_of(most[c]);
            buffer_puts(&out, shade < SHADES ? shades[shade].sign : " ");
            largest = isnan(largest) || most[c] > largest ? most[c] : largest;
        }
        *VEC_PUSH(&job->heat_map) =
            (struct job_map_row){ as_text(name_row(job, &fields, row, arena_of(job))),
                                  { arena_strndup(arena_of(job), out.at, out.count), out.count },
                                  largest };
    }
    free(fields.most);
}

/* ---- the chart ---- */

struct field_row {
    struct text label, tip;
    int64_t line;
    double from, to;
};

static const struct table_column field_columns[] = {
    COLUMN(struct field_row, label, "label", "Label", TABLE_NAME, "nothing"),
    COLUMN(struct field_row, tip, "ranks", "Ranks", TABLE_NAME, "the ranks, their step and their slowdown"),
    COLUMN(struct field_row, line, "line", "Line", TABLE_COUNT, "from the top"),
    COLUMN(struct field_row, from, "from", "From", TABLE_NUMBER, "half before its first step"),
    COLUMN(struct field_row, to, "to", "To", TABLE_NUMBER, "half behind its last step"),
};

/* Steps are numbered from FIRST. */
static struct table *table_of_shade(const struct job *job, const struct fields *fields, size_t shade,
                                    int64_t first, struct chart *chart)
{
    SCOPED VEC_OF(struct field_row) rows = { 0 };
    for (size_t i = 0; i < fields->rows * fields->columns; i++) {
        size_t row = i / fields->columns, column = i % fields->columns;
        if (shade_of(fields->most[i]) != shade)
            continue;
        size_t from = first_in(column, fields->steps, fields->columns);
        size_t end = first_in(column + 1, fields->steps, fields->columns);
        const char *tip =
            arena_printf(&chart->arena, "rank %s, step %lld: slowdown %.3f", chart->lanes.at[row],
                         (long long)job->all->steps.at[from], fields->most[i]);
        *VEC_PUSH(&rows) =
            (struct field_row){ as_text(""), as_text(tip), (int64_t)row,
                                (double)((int64_t)from + first) - 0.5, (double)((int64_t)end + first) - 0.5 };
    }
    return TABLE_OF_ROWS("heat", NULL, field_columns, rows.at, rows.count);
}

void job_add_heat_chart(const struct job *job, struct picture *picture)
{
    enum { ROWS = 64, COLUMNS = 200 };
    if (!job->heat.count)
        return;
    const struct operations *all = job->all;
    struct fields fields = find_fields(job, ROWS, COLUMNS);
    struct chart *chart = picture_add_chart(picture, "heat", "Slowdown of ranks in steps");
    int64_t first = all->steps.at[0], last = all->steps.at[all->steps.count - 1];
    bool in_a_row = last - first == (int64_t)all->steps.count - 1;
    chart->note =
        "of a step in which only the stage, or only the replica of the rank is as slow as recorded, whichever "
        "is less; neighbours share a field";
    if (fields.rows == fields.ranks && fields.columns == fields.steps)
        chart->note =
            "of a step in which only the stage, or only the replica of the rank is as slow as recorded, "
            "whichever is less";
    chart->x = (struct chart_axis){ .title = in_a_row ? "Step" : "Step, by its place",
                                    .kind = TABLE_COUNT,
                                    .has_least = true,
                                    .has_most = true,
                                    .least = (double)(in_a_row ? first : 0) - 0.5 };
    chart->ramp = true;
    chart->x.most = chart->x.least + (double)all->steps.count;
    chart->y = (struct chart_axis){ .title = "Rank", .kind = TABLE_COUNT };
    for (size_t row = 0; row < fields.rows; row++)
        *VEC_PUSH(&chart->lanes) = name_row(job, &fields, row, &chart->arena);
    for (size_t s = 0; s < SHADES; s++) {
        struct table *table =
            chart_add_table(chart, table_of_shade(job, &fields, s, in_a_row ? first : 0, chart));
        chart_add_series(chart, (struct chart_series){ .title = shades[s].title,
                                                       .mark = CHART_BOX,
                                                       .color = shades[s].color,
                                                       .table = table,
                                                       .x = 4,
                                                       .y = 2,
                                                       .low = 3,
                                                       .tip = 1 });
    }
    free(fields.most);
}
