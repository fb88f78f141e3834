#include "analyze/gpu_efficiency.h"

#include "derive/device_steps.h"
#include "trace/arg_scan.h"
#include "trace/span.h"

/* ---- windows ---- */

/* From the first start to the last end of the operators of FILE. */
static struct interval find_operators_span(const struct trace *trace, uint32_t file)
{
    struct interval span = { INT64_MAX, INT64_MIN };
    const struct trace_file *of = &trace->files[file];
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        if (trace->kind[e] != EVENT_OP)
            continue;
        if (trace_start_ns(trace, e) < span.start_ns)
            span.start_ns = trace_start_ns(trace, e);
        int64_t end_ns = trace_recorded_end_ns(trace, e);
        if (end_ns > span.end_ns)
            span.end_ns = end_ns;
    }
    return span;
}

/* From the first to the last complete step of FILE; empty if there is none. */
static struct interval span_of_steps(const struct trace *trace, const struct device_steps *steps,
                                     uint32_t file)
{
    size_t first, end = device_steps_of_file(steps, file, &first);
    while (end > first && !steps->at[end - 1].complete)
        end--;
    if (end == first)
        return (struct interval){ 0, 0 };
    struct interval window = { steps->at[first].start_ns, steps->at[end - 1].end_ns };
    struct interval recorded = trace_file_span(trace, file);
    if (window.start_ns < recorded.start_ns)
        window.start_ns = recorded.start_ns;
    if (window.end_ns > recorded.end_ns)
        window.end_ns = recorded.end_ns;
    return window;
}

static void set_windows(struct interval *windows, const struct trace *trace, const struct device_steps *steps)
{
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (windows[f].start_ns >= windows[f].end_ns)
            windows[f] = span_of_steps(trace, steps, f);
}

struct interval *gpu_efficiency_windows(const struct gpu_events *gpu)
{
    const struct trace *trace = gpu->trace;
    struct interval *windows = mem_zalloc(trace->file_count + 1, sizeof *windows);
    SCOPED struct step_list ranges = { 0 };
    set_windows(windows, trace, device_steps_of(trace));
    for (uint32_t f = 0; f < trace->file_count; f++) {
        if (windows[f].start_ns < windows[f].end_ns)
            continue;
        struct interval span = find_operators_span(trace, f);
        if (span.start_ns < span.end_ns)
            *VEC_PUSH(&ranges) = (struct step){ f, 0, span.start_ns, span.end_ns, EVENT_NONE };
    }
    SCOPED_OBJECT struct device_steps *steps = ranges.count ? device_steps_open(&ranges, gpu) : NULL;
    if (steps)
        set_windows(windows, trace, steps);
    return windows;
}

/* ---- averages ---- */

/* Kernels running at the current moment: a heap, the first to end on top. */
struct running {
    struct running_kernel {
        int64_t end_ns;
        double blocks_per_sm;
    } * at;
    size_t count, capacity;
    double blocks_per_sm; /* of all of them */
};

static void running_push(struct running *running, int64_t end_ns, double blocks_per_sm)
{
    running->blocks_per_sm += blocks_per_sm;
    VEC_RESERVE(running, 1);
    size_t i = running->count++;
    for (; i > 0 && running->at[(i - 1) / 2].end_ns > end_ns; i = (i - 1) / 2)
        running->at[i] = running->at[(i - 1) / 2];
    running->at[i] = (struct running_kernel){ end_ns, blocks_per_sm };
}

static void running_pop(struct running *running)
{
    running->blocks_per_sm -= running->at[0].blocks_per_sm;
    struct running_kernel last = running->at[--running->count];
    if (running->count == 0)
        running->blocks_per_sm = 0; /* avoid accumulating rounding errors */
    size_t i = 0;
    for (size_t child; (child = 2 * i + 1) < running->count; i = child) {
        if (child + 1 < running->count && running->at[child + 1].end_ns < running->at[child].end_ns)
            child++;
        if (running->at[child].end_ns >= last.end_ns)
            break;
        running->at[i] = running->at[child];
    }
    running->at[i] = last;
}

/* Add the blocks per SM of RUNNING, at most 1, from NOW to END; sets NOW to END. */
static void pass(const struct running *running, struct interval window, int64_t *now_ns, int64_t end_ns,
                 double *sm_ns)
{
    int64_t from_ns = *now_ns > window.start_ns ? *now_ns : window.start_ns;
    int64_t to_ns = end_ns < window.end_ns ? end_ns : window.end_ns;
    if (to_ns > from_ns)
        *sm_ns += fmin(running->blocks_per_sm, 1) * (double)(to_ns - from_ns);
    *now_ns = end_ns;
}

/* Remove the kernels that end until MOMENT_NS. */
static void end_kernels(struct running *running, struct interval window, int64_t *now_ns, int64_t moment_ns,
                        double *sm_ns)
{
    while (running->count && running->at[0].end_ns <= moment_ns) {
        pass(running, window, now_ns, running->at[0].end_ns, sm_ns);
        running_pop(running);
    }
}

/* Visit the kernels by start; between two moments at which one starts or ends, the blocks per SM are constant. */
struct kernel_averages gpu_efficiency_average(const struct gpu_events *gpu, const uint32_t *positions,
                                              size_t first, size_t count, struct interval window)
{
    const struct trace *trace = gpu->trace;
    struct running running = { 0 };
    double sm_ns = 0, occupied_ns = 0, kernel_ns = 0, window_ns = (double)(window.end_ns - window.start_ns);
    bool any_blocks = false;
    int64_t now_ns = INT64_MIN;
    struct arg_scan blocks = arg_scan_of(trace, ARG_BLOCKS_PER_SM),
                    occupancies = arg_scan_of(trace, ARG_OCCUPANCY);
    for (size_t i = 0; i < count; i++) {
        size_t at = positions ? positions[i] : first + i;
        event_id e = gpu->event[at];
        if (!gpu_work_is_kernel(gpu->work[at]))
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        int64_t from_ns = start_ns > window.start_ns ? start_ns : window.start_ns;
        int64_t to_ns = end_ns < window.end_ns ? end_ns : window.end_ns;
        double within_ns = to_ns > from_ns ? (double)(to_ns - from_ns) : 0;
        double blocks_per_sm = arg_scan_decimal(&blocks, e), occupancy = arg_scan_decimal(&occupancies, e);
        if (!isnan(occupancy)) {
            occupied_ns += occupancy / 100 * within_ns;
            kernel_ns += within_ns;
        }
        if (!(blocks_per_sm > 0))
            continue;
        any_blocks = any_blocks || within_ns > 0;
        end_kernels(&running, window, &now_ns, start_ns, &sm_ns);
        if (running.count)
            pass(&running, window, &now_ns, start_ns, &sm_ns);
        now_ns = start_ns;
        running_push(&running, end_ns, blocks_per_sm);
    }
    end_kernels(&running, window, &now_ns, INT64_MAX, &sm_ns);
    VEC_FREE(&running);
    return (struct kernel_averages){ any_blocks && window_ns > 0 ? sm_ns / window_ns : NAN,
                                     kernel_ns > 0 ? occupied_ns / kernel_ns : NAN };
}
