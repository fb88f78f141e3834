/* contention.c - how many times longer kernels take beside other work, with the interval of each. */
#include "analyze/contention/contention.h"
#include "charts/parts.h"
#include "derive/features.h"
#include <math.h>

struct point {
    struct text name; /* the kernel, and what runs beside it */
    double low[BESIDE_KINDS], high[BESIDE_KINDS];
    double factor_begin, factor_end; /* around the factor: a mark */
};

/* clang-format off */
#define KIND_COLUMNS(kind, key, title) \
    COLUMN(struct point, low[kind], key "_low", title ", low", TABLE_NUMBER, "lower end of the factor beside " key), \
    COLUMN(struct point, high[kind], key, title, TABLE_NUMBER, "upper end of the factor beside " key)
static const struct table_column columns[] = {
    COLUMN(struct point, name, "name", "Kernel", TABLE_NAME, "the kernel, and what runs beside it"),
    KIND_COLUMNS(BESIDE_COMMUNICATION, "communication", "Communication"),
    KIND_COLUMNS(BESIDE_KERNEL, "kernel", "Kernels"),
    KIND_COLUMNS(BESIDE_COPY, "copy", "Copies"),
    KIND_COLUMNS(BESIDE_MEMSET, "memset", "Memsets"),
    COLUMN(struct point, factor_begin, "factor_begin", "Factor", TABLE_NUMBER, "begin of the mark of the factor"),
    COLUMN(struct point, factor_end, "factor", "Factor", TABLE_NUMBER, "end of the mark of the factor"),
};
/* clang-format on */

static struct point point_of(const struct contention *contention, const struct contention_pair *pair,
                             struct chart *chart)
{
    const double half_mark = 0.004;
    const struct text *beside = pair->beside.at ? &pair->beside : &pair->beside_kind;
    struct point point = { .name = as_text(arena_printf(&chart->arena, "%.*s (%.*s)", (int)pair->name.len,
                                                        pair->name.at, (int)beside->len, beside->at)),
                           .factor_begin = pair->factor - half_mark,
                           .factor_end = pair->factor + half_mark };
    for (int kind = 0; kind < BESIDE_KINDS; kind++) {
        bool is_own = kind == (int)contention_pair_kind(contention, pair);
        point.low[kind] = is_own ? pair->factor_low : NAN;
        point.high[kind] = is_own ? pair->factor_high : NAN;
    }
    return point;
}

static bool contention_draw(const struct chart_request *request, struct picture *picture,
                            struct tpa_error *err)
{
    static const enum chart_color colors[BESIDE_KINDS] = {
        [BESIDE_COMMUNICATION] = CHART_COLOR_OF_COMMUNICATION,
        [BESIDE_KERNEL] = CHART_COLOR_OF_COMPUTATION,
        [BESIDE_COPY] = CHART_COLOR_OF_COPIES,
        [BESIDE_MEMSET] = CHART_COLOR_OF_OTHER,
    };
    static const char *const titles[BESIDE_KINDS] = {
        [BESIDE_COMMUNICATION] = "beside communication",
        [BESIDE_KERNEL] = "beside kernels",
        [BESIDE_COPY] = "beside copies",
        [BESIDE_MEMSET] = "beside memsets",
    };
    SCOPED_OBJECT const struct contention *contention =
        contention_analyze(request->trace, request->selection);
    size_t judged = 0, shown = 0, used[BESIDE_KINDS] = { 0 };
    for (size_t i = 0; i < contention->pairs.count; i++)
        judged += contention->pairs.at[i].judged;
    if (judged) {
        struct chart *chart = picture_add_chart(picture, "contention", "Slower beside other work");
        struct table *table =
            chart_add_table(chart, TABLE_OF_ROWS("contention", NULL, columns, (struct point *)NULL, 0));
        chart->horizontal = true;
        chart->x = (struct chart_axis){ .kind = TABLE_NAME };
        chart->y = (struct chart_axis){ .title = "Factor, with the interval of 95 %", .kind = TABLE_NUMBER };
        for (size_t i = 0; i < contention->pairs.count && (request->bars == 0 || shown < request->bars);
             i++) {
            const struct contention_pair *pair = &contention->pairs.at[i];
            if (!pair->judged)
                continue;
            struct point point = point_of(contention, pair, chart);
            table_add_rows(table, &point, 1, sizeof point);
            used[contention_pair_kind(contention, pair)]++;
            shown++;
        }
        for (size_t kind = 0; kind < BESIDE_KINDS; kind++)
            if (used[kind])
                chart_add_series(chart, (struct chart_series){ .title = titles[kind],
                                                               .mark = CHART_SPAN,
                                                               .color = colors[kind],
                                                               .table = table,
                                                               .y = 2 * kind + 2,
                                                               .low = 2 * kind + 1 });
        chart_add_series(chart, (struct chart_series){ .title = "factor",
                                                       .mark = CHART_SPAN,
                                                       .color = CHART_ORANGE,
                                                       .table = table,
                                                       .y = 2 * BESIDE_KINDS + 2,
                                                       .low = 2 * BESIDE_KINDS + 1 });
        chart->note = arena_printf(
            &chart->arena, "%zu of %zu kernels; %zu could be judged; numbers: widths of the intervals", shown,
            contention->pairs.count, judged);
    }
    return chart_is_drawn(picture, err, "no kernel that ran beside other work could be judged");
}

static const struct trace_wants contention_wants = { .args = CONTENTION_WANTS };

const struct chart_type chart_type_contention = {
    .name = "contention",
    .title = "Contention",
    .help = "how many times longer kernels take beside communication, copies and other kernels",
    .wants = { &contention_wants },
    .needs = FEATURE_GPU,
    .draw = contention_draw,
};
