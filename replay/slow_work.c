/* slow_work.c - see slow_work.h. */
#include "replay/slow_work.h"

#include "analyze/roofline.h"
#include "base/buffer.h"
#include "facts/gpu_events.h"
#include "trace/derived.h"
#include <stdlib.h>

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

/* Is work I of a call in ROOFLINE that does not reach SHARE, and longer than the shortest kernel, of FLOOR_NS? */
static const struct roofline_call *slow_call(const struct roofline *roofline, const struct gpu_events *gpu,
                                             size_t i, double share, int64_t floor_ns)
{
    uint32_t place = roofline->calls.of_work[i];
    const struct roofline_call *call = place ? &roofline->calls.at[place - 1] : NULL;
    bool is_slow =
        call && roofline_is_below(call, share) && trace_dur_ns(gpu->trace, gpu->event[i]) > floor_ns;
    return is_slow ? call : NULL;
}

static void find_work(struct slow_work *slow, const struct roofline *roofline, double share)
{
    const struct gpu_events *gpu = gpu_events_of(roofline->trace);
    int64_t floor_ns = shortest_kernel_ns(roofline->trace, gpu);
    size_t count = 0;
    for (size_t i = 0; i < gpu->count; i++)
        count += slow_call(roofline, gpu, i, share, floor_ns) != NULL;
    slow->work = mem_alloc(mem_times(count + 1, sizeof *slow->work));
    slow->factor = mem_alloc(mem_times(count + 1, sizeof *slow->factor));
    for (size_t i = 0; i < gpu->count; i++) {
        const struct roofline_call *call = slow_call(roofline, gpu, i, share, floor_ns);
        if (!call)
            continue;
        double least = (double)floor_ns / (double)trace_dur_ns(roofline->trace, gpu->event[i]),
               factor = roofline_at_peak_ns(call) / share / (double)call->time_ns;
        slow->work[slow->count] = (uint32_t)i;
        slow->factor[slow->count++] = factor > least ? factor : least;
    }
}

/* Kept: what the slowest operator, by the time it could win, is called. */
static char *name_slowest(const struct roofline *roofline)
{
    const struct roofline_row *most = NULL;
    for (size_t i = 0; i < roofline->rows.count; i++) {
        const struct roofline_row *row = &roofline->rows.at[i];
        if (row->share < ROOFLINE_SLOW && (!most || row->won_ns > most->won_ns))
            most = row;
    }
    struct buffer name = { 0 };
    if (most)
        buffer_printf(&name, "%s %s, mostly bound by %s", most->name.at,
                      most->shapes.at ? most->shapes.at : "", most->bound.at ? most->bound.at : "nothing");
    char *kept = mem_strndup(name.at ? name.at : "", name.count);
    buffer_release(&name);
    return kept;
}

struct slow_work *slow_work_open(const struct trace *trace, double share)
{
    struct slow_work *slow = mem_zalloc(1, sizeof *slow);
    struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    const struct roofline *roofline = roofline_open(trace, all, ROOFLINE_BY_DEFAULT, NULL);
    int64_t modelled_ns = 0, rated_ns = 0;
    for (size_t d = 0; d < roofline->devices.count; d++) {
        slow->slow_ns += roofline->devices.at[d].rated_ns > 0 ? roofline->devices.at[d].slow_ns : 0;
        modelled_ns += roofline->devices.at[d].modelled_ns;
        rated_ns += roofline->devices.at[d].rated_ns;
    }
    slow->rated = modelled_ns == 0 || rated_ns > 0;
    slow->time_ns = roofline->time_ns;
    slow->slowest = name_slowest(roofline);
    find_work(slow, roofline, share);
    roofline_free(roofline);
    selection_free(all);
    return slow;
}

void slow_work_free(struct slow_work *slow)
{
    if (!slow)
        return;
    free(slow->work);
    free(slow->factor);
    free(slow->slowest);
    free(slow);
}

static void *derive(const struct trace *trace)
{
    return slow_work_open(trace, ROOFLINE_SLOW);
}

static void release(void *slow)
{
    slow_work_free(slow);
}

const struct slow_work *slow_work_of(const struct trace *trace)
{
    static const struct derivation derivation = { derive, release };
    return trace_derive(trace, &derivation);
}
