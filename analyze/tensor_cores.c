/* tensor_cores.c - see tensor_cores.h. */
#include "analyze/tensor_cores.h"

#include "derive/kernel_class.h"
#include <math.h>

enum { NOT_YET, LEAVES, COULD_USE }; /* what a name says */

enum {
    COMPUTE_WITH_CORES = 7, /* the first capability with tensor cores, which know no TF32 */
    COMPUTE_WITH_TF32 = 8,
};

enum { FLOOR_NS = 2000 }; /* what a kernel takes, whatever it does */

static uint8_t could_use(const char *name)
{
    struct kernel_class class = kernel_class_of(name);
    bool is_product = class.family == FAMILY_PRODUCT || class.family == FAMILY_CONVOLUTION;
    bool is_single = class.precision == PRECISION_FP32 || class.precision == PRECISION_UNKNOWN;
    return is_product && is_single && class.tensor_use == TENSOR_NO && !strstr(name, "gemv") ? COULD_USE
                                                                                             : LEAVES;
}

/* Of DEVICE: the rate that tensor cores have for float32, and the two peaks; PEAK_NONE: it has no such cores, or none is recorded. */
static enum peak_rate rates_of(const struct gpu_device *device, double *now, double *then)
{
    struct device_peaks peaks;
    *now = *then = 0;
    if (!device->properties || device->properties->compute_major < COMPUTE_WITH_CORES)
        return PEAK_NONE;
    enum peak_rate rate = device->properties->compute_major >= COMPUTE_WITH_TF32 ? PEAK_TF32 : PEAK_FP16;
    if (device->properties->name && device_peaks_find(device->properties->name, &peaks) &&
        peaks.flops[PEAK_FP32] > 0 && peaks.flops[rate] > peaks.flops[PEAK_FP32]) {
        *now = peaks.flops[PEAK_FP32];
        *then = peaks.flops[rate];
    }
    return rate;
}

/* The work, without factors. */
static void tensor_core_work_find(struct tensor_cores *found, const struct trace *trace,
                                  const struct gpu_events *gpu)
{
    SCOPED uint8_t *says = mem_zalloc(names_count(trace->names) + 1, 1);
    SCOPED int64_t *sums = mem_zalloc(names_count(trace->names) + 1, sizeof *sums);
    FOR_EACH_OF(device, gpu->devices, gpu->device_count) {
        double now, then;
        enum peak_rate rate = rates_of(device, &now, &then);
        found->knows_device |= device->properties && device->properties->compute_major > 0;
        for (size_t i = device->first; i < device->first + device->count; i++) {
            event_id e = gpu->event[i];
            uint8_t *says_name = &says[trace->name[e]];
            if (trace->kind[e] != EVENT_KERNEL)
                continue;
            found->kernels_ns += trace_dur_ns(trace, e);
            if (rate == PEAK_NONE)
                continue;
            if (*says_name == NOT_YET)
                *says_name = could_use(trace_name(trace, e));
            if (*says_name != COULD_USE)
                continue;
            if (found->work.count == 0) {
                found->rate = rate;
                found->now = now;
                found->then = then;
            }
            *VEC_PUSH(&found->work) = (struct tensor_core_work){ .place = (uint32_t)i };
            found->time_ns += trace_dur_ns(trace, e);
            sums[trace->name[e]] += trace_dur_ns(trace, e);
            if (found->longest == NAME_NONE || sums[trace->name[e]] > sums[found->longest])
                found->longest = trace->name[e];
        }
    }
}

/* The least that work I takes of its time, by RATIO of the peaks. */
static double factor_of(const struct roofline_calls *calls, const struct gpu_events *gpu, size_t i,
                        double ratio, bool halves_bytes, int64_t floor_ns)
{
    double time_ns = (double)trace_dur_ns(gpu->trace, gpu->event[i]), factor = ratio;
    uint32_t number = calls->of_work[i];
    const struct roofline_call *call = number ? &calls->at[number - 1] : NULL;
    if (time_ns <= 0)
        return 1;
    if (call && call->time_ns > 0 && !isnan(call->memory_ns))
        factor = fmax(factor, (halves_bytes ? 0.5 : 1) * call->memory_ns / (double)call->time_ns);
    return fmin(1, fmax(factor, (double)floor_ns / time_ns));
}

struct tensor_cores tensor_cores_find(const struct roofline_calls *calls)
{
    static const double unknown_ratio = 0.5;
    const struct trace *trace = calls->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct tensor_cores found = { .longest = NAME_NONE, .rate = PEAK_NONE };
    tensor_core_work_find(&found, trace, gpu);
    if (found.work.count == 0)
        return found;
    int64_t shortest_ns = roofline_shortest_kernel_ns(trace, gpu);
    int64_t floor_ns = shortest_ns < FLOOR_NS ? shortest_ns : FLOOR_NS;
    double then_ns = 0, now = 0, then = 0;
    enum peak_rate rate = PEAK_NONE;
    const struct gpu_device *last = NULL; /* that of these */
    for (size_t k = 0; k < found.work.count; k++) {
        size_t i = found.work.at[k].place;
        const struct gpu_device *device = &gpu->devices[gpu->device_of_track[trace->track[gpu->event[i]]]];
        rate = device == last ? rate : rates_of(device, &now, &then);
        last = device;
        double ratio = then > 0 ? now / then : unknown_ratio;
        found.work.at[k].factor = factor_of(calls, gpu, i, ratio, rate == PEAK_FP16, floor_ns);
        then_ns += found.work.at[k].factor * (double)trace_dur_ns(trace, gpu->event[i]);
    }
    found.then_ns = llround(then_ns);
    return found;
}
