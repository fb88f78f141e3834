/* edits_peak.c - operators that reach at least a share of what the device could. */
#include "replay/editing.h"

#include "analyze/roofline.h"

/* The shortest kernel that took any time, on any device: shorter none gets. */
static int64_t shortest_kernel_ns(const struct trace *trace, const struct gpu_events *gpu)
{
    int64_t least_ns = INT64_MAX;
    for (size_t i = 0; i < gpu->count; i++) {
        int64_t time_ns = trace_dur_ns(trace, gpu->event[i]);
        if (trace->kind[gpu->event[i]] == EVENT_KERNEL && time_ns > 0 && time_ns < least_ns)
            least_ns = time_ns;
    }
    return least_ns;
}

void edit_at_peak(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    struct selection *all =
        selection_open(editing->trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    const struct roofline *roofline = roofline_analyze(editing->trace, all, ROOFLINE_BY_DEFAULT, NULL);
    int64_t floor_ns = shortest_kernel_ns(editing->trace, gpu);
    for (size_t i = 0; i < gpu->count; i++) {
        uint32_t place = roofline->calls.of_work[i];
        const struct roofline_call *call = place ? &roofline->calls.at[place - 1] : NULL;
        double work_ns = (double)trace_dur_ns(editing->trace, gpu->event[i]);
        if (!call || !roofline_is_below(call, editing->edit->factor) || work_ns <= (double)floor_ns)
            continue;
        double factor = roofline_at_peak_ns(call) / editing->edit->factor / (double)call->time_ns;
        editing_scale_work(editing, i,
                           factor > (double)floor_ns / work_ns ? factor : (double)floor_ns / work_ns);
    }
    roofline_free(roofline);
    selection_free(all);
}
