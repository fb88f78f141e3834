/*
 * charts.h - pictures of a trace: one row per type, as in `tpa chart --type`.
 *
 *     const struct chart_type *type = chart_type_find("steps");
 *     struct trace *trace = ingest_read(..., .wants = chart_type_wants(type), ...);
 *     struct picture *picture = picture_open(type->name, type->title);
 *     struct chart_request request = { .trace = trace, .selection = selection, .bars = 20, .columns = 400 };
 *     if (!type->draw(&request, picture, &err))
 *         ...                                             // the trace holds nothing to draw, or the selection is wrong
 *
 * The figures are those of the commands: where a table of an analysis holds them, the chart is made of that table, and
 * who has the table already calls the function that takes it. docs/definitions.md says what is computed here only.
 */
#ifndef TPA_CHARTS_CHARTS_H
#define TPA_CHARTS_CHARTS_H

#include "analyze/gaps.h"
#include "analyze/kernels.h"
#include "analyze/launches.h"
#include "analyze/steps.h"

struct diff;
struct top;
struct nightly;

struct chart_request {
    const struct trace *trace;
    const struct selection *selection;
    const struct selection_query *query; /* what SELECTION was made of */
    const struct run_sizes *sizes;       /* runs: samples in a batch of a rank */
    struct ranges devices;               /* memory of these only, and of the host; zero-initialised: all */
    struct ranges steps, ranks;          /* of types with jobs_steps */
    size_t bars;                         /* most bars of a chart whose rows are sorted; 0: all */
    size_t columns; /* into how many parts time is cut, where a chart needs that; above 0 */
    double peak_flops,
        peak_bandwidth; /* of the device, per second, for the roofline; 0: what its name tells */
};

struct chart_type {
    const char *name, *title;
    const char *help;                   /* one line */
    const struct trace_wants *wants[2]; /* what the reader must decode; the second may be NULL */
    unsigned needs;                     /* enum trace_feature: what a trace must hold */
    bool jobs_steps; /* steps are those of a job (job/operations.h), which a selection does not know */
    /* Adds charts to PICTURE. False and ERR when there is nothing to draw. */
    bool (*draw)(const struct chart_request *request, struct picture *picture, struct tpa_error *err);
};

/* The types there are, in the order of help: a row here for each. */
/* clang-format off */
#define CHART_TYPES(ROW) \
    ROW(operators) \
    ROW(kernels) \
    ROW(steps) \
    ROW(path) \
    ROW(utilization) \
    ROW(overlap) \
    ROW(contention) \
    ROW(gaps) \
    ROW(transfers) \
    ROW(memory) \
    ROW(queue) \
    ROW(latency) \
    ROW(roofline) \
    ROW(ranks) \
    ROW(runs) \
    ROW(sequences) \
    ROW(pipeline) \
    ROW(heat) \
    ROW(flame)
/* clang-format on */

#define DECLARE_TYPE(name) extern const struct chart_type chart_type_##name;
CHART_TYPES(DECLARE_TYPE)
#undef DECLARE_TYPE

/* All types; ends in NULL. */
extern const struct chart_type *const chart_types[];

/* All that the reader must decode for TYPE. */
struct trace_wants chart_type_wants(const struct chart_type *type);

/* A picture has a chart for each device or file, but no more than these. */
enum { CHART_MOST_PANELS = 16 };

/* From tables that are there: of `top` ("operators"), `kernels`, `gaps`, `steps`, `launches`. Each adds charts
 * to PICTURE; none when the table has nothing to draw. BARS as above. */
void chart_operators(struct picture *picture, const struct top *top, size_t bars);
void chart_kernels(struct picture *picture, const struct kernels *kernels, size_t bars);
void chart_steps(struct picture *picture, const struct steps *steps);
void chart_gaps(struct picture *picture, const struct gaps *gaps);
void chart_queues(struct picture *picture, const struct chart_request *request,
                  const struct launches *launches);

struct profile;

/* What a Python profile spent its time in, caller above callee. */
void chart_flame_profile(struct picture *picture, const struct profile *profile);

/* A chart for each of the COUNT SERIES of NIGHTLY, which was judged, over its last MOST_RUNS runs (0: all) up to the
 * judged one, with the band that is expected; no more than CHART_MOST_PANELS. What was 0 in all of them has no chart. The last
 * chart's note tells what is left out. */
void chart_trends(struct picture *picture, const struct nightly *nightly, const size_t *series, size_t count,
                  size_t most_runs, size_t most_charts);

/* The same of the figures of whole samples; with FIGURE only those and rows of that name. False and ERR when there is
 * nothing to draw. */
bool chart_trend(struct picture *picture, const struct nightly *nightly, const char *figure,
                 struct tpa_error *err);

/* The waterfalls from before to after. */
void chart_diff(struct picture *picture, const struct diff *diff, size_t bars);

#endif
