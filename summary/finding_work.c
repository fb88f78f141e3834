/* finding_work.c - see finding_work.h. */
#include "summary/finding_work.h"

#include "analyze/roofline.h"
#include "derive/advice.h"
#include "derive/features.h"
#include "derive/gpu_names.h"
#include "summary/finding_kit.h"
#include <stdlib.h>
#include <string.h>

/* Does the kernel E certainly do without tensor cores? KNOWN has the answer by name, and more than all of them while it is
 * unknown. */
static bool does_without_tensor_cores(const struct trace *trace, event_id e, uint8_t *known)
{
    uint8_t *use = &known[trace->name[e]];
    if (*use > TENSOR_YES)
        *use = (uint8_t)kernel_tensor_use(trace_name(trace, e));
    return *use == TENSOR_NO;
}

/* The time of kernels; of those of operators; of matrix products of these, on devices that have tensor cores, without them. */
struct matrix_times {
    int64_t all_ns, of_operators_ns, without_ns;
    int64_t *sums; /* the last by name; new */
};

static struct matrix_times matrix_times_of(const struct summary *summary)
{
    const struct trace *trace = summary->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct matrix_times times = { .sums = mem_zalloc(names_count(trace->names) + 1, sizeof *times.sums) };
    uint8_t *known = mem_alloc(names_count(trace->names) + 1);
    memset(known, 0xff, names_count(trace->names) + 1);
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        if (trace->kind[e] != EVENT_KERNEL)
            continue;
        times.all_ns += trace_dur_ns(trace, e);
        if (gpu->op[i] == EVENT_NONE)
            continue;
        times.of_operators_ns += trace_dur_ns(trace, e);
        if (summary_multiplies_matrices(trace_name(trace, gpu->op[i])) &&
            summary_has_tensor_cores(summary, selection_rank(trace, trace->tracks[trace->track[e]].file),
                                     trace->tracks[trace->track[e]].device) &&
            does_without_tensor_cores(trace, e, known)) {
            times.sums[trace->name[e]] += trace_dur_ns(trace, e);
            times.without_ns += trace_dur_ns(trace, e);
        }
    }
    free(known);
    return times;
}

/* Does no file name the compute capability of a device? */
static bool no_device_is_known(const struct trace *trace)
{
    for (size_t f = 0; f < trace->file_count; f++)
        for (size_t d = 0; d < trace->files[f].devices.count; d++)
            if (trace->files[f].devices.at[d].compute_major > 0)
                return false;
    return true;
}

/* Kernels of matrix products that run without tensor cores, where the device has some: as if they took half. */
void finding_add_tensor_cores(struct pricing *pricing)
{
    enum { MOST = 8 };
    const struct trace *trace = pricing->trace;
    struct matrix_times times = matrix_times_of(pricing->summary);
    struct buffer pattern = { 0 }, where = { 0 };
    for (size_t n = 0; n < MOST && times.without_ns * 20 > times.all_ns;
         n++) { /* 5 % or less is not looked at */
        name_id most = 0;
        for (name_id id = 1; id < names_count(trace->names); id++)
            most = times.sums[id] > times.sums[most] ? id : most;
        if (times.sums[most] == 0)
            break;
        const char *name = finding_pattern(pricing, as_text(names_text(trace->names, most)));
        buffer_printf(&pattern, "%s%s", pattern.count ? "|" : "", name);
        if (where.count == 0)
            buffer_puts(&where, names_text(trace->names, most));
        times.sums[most] = 0;
    }
    free(times.sums);
    struct text names = pricing_keep(pricing, &pattern);
    bool has_operators =
        pricing->summary->features & FEATURE_OPS; /* else that is said of all that lacks them */
    if (names.at)
        finding_add(pricing, FINDING_TENSOR_CORES,
                    (struct priced_finding){
                        .title = as_text("matrix products run without tensor cores (as if they took half)"),
                        .where = pricing_keep(pricing, &where),
                        .advice = as_text(trace_advice(trace, ADVICE_MATRIX_PRECISION)),
                        .edit = { .kind = EDIT_SCALE,
                                  .target = TARGET_KERNEL,
                                  .pattern = names.at,
                                  .pattern_len = names.len,
                                  .factor = 0.5 } },
                    "tensor cores");
    else if (has_operators && times.of_operators_ns == 0)
        finding_add_blind(pricing, "tensor cores", "no kernel has a known operator: record launches, too");
    else if (has_operators && no_device_is_known(trace))
        finding_add_blind(pricing, "tensor cores", "the trace does not record which device it was");
    else if (has_operators)
        pricing_add_quiet(pricing, "tensor cores");
}

/* What the slowest operator of ROOFLINE, by the time it could win, is called. */
static void name_slowest(const struct roofline *roofline, struct buffer *name)
{
    const struct roofline_row *most = NULL;
    for (size_t i = 0; i < roofline->rows.count; i++) {
        const struct roofline_row *row = &roofline->rows.at[i];
        if (row->share < ROOFLINE_SLOW && (!most || row->won_ns > most->won_ns))
            most = row;
    }
    if (most)
        buffer_printf(name, "%s %s, mostly bound by %s", most->name.at,
                      most->shapes.at ? most->shapes.at : "", most->bound.at ? most->bound.at : "nothing");
}

/* As if they reached ROOFLINE_SLOW of it. */
void finding_add_slow_operators(struct pricing *pricing)
{
    if (!(pricing->summary->features & FEATURE_SHAPES))
        return;
    const struct roofline *roofline = roofline_of(pricing->trace);
    int64_t slow_ns = 0, modelled_ns = 0, rated_ns = 0;
    for (size_t d = 0; d < roofline->devices.count; d++) {
        const struct roofline_device *device = &roofline->devices.at[d];
        slow_ns += device->rated_ns > 0 ? device->slow_ns : 0;
        modelled_ns += device->modelled_ns;
        rated_ns += device->rated_ns;
    }
    if (slow_ns * 20 <= roofline->time_ns) { /* 5 % or less is not looked at */
        if (modelled_ns == 0 || rated_ns > 0)
            pricing_add_quiet(pricing, "operators below the peak");
        else
            finding_add_blind(pricing, "operators below the peak",
                              "what the device can do at most is unknown: tpa roofline --peak");
        return;
    }
    struct buffer title = { 0 }, where = { 0 };
    buffer_printf(&title, "%.1f %% of the device time runs below %.0f %% of the peak (as if it reached that)",
                  100 * (double)slow_ns / (double)roofline->time_ns, 100 * ROOFLINE_SLOW);
    name_slowest(roofline, &where);
    finding_add(
        pricing, FINDING_BELOW_PEAK,
        (struct priced_finding){ .title = pricing_keep(pricing, &title),
                                 .where = pricing_keep(pricing, &where),
                                 .advice = as_text(trace_advice(pricing->trace, ADVICE_NEARER_TO_PEAK)),
                                 .edit = { .kind = EDIT_AT_PEAK, .factor = ROOFLINE_SLOW } },
        "operators below the peak");
}
