#include "summary/unexplained.h"

#include "base/sum.h"
#include "derive/callers.h"
#include "derive/device_types.h"
#include "derive/features.h"
#include "trace/span.h"
#include "summary/figures.h"

/* clang-format off */
static const struct {
    enum gap_cause cause;
    const char *lacks, *action, *recipe;
} kinds[] = {
    { GAP_STREAM_WAIT, "a stream waits for an event of work that is not in the file", "Record what the stream waits for",
      "record from before that work is launched (a longer warmup), and every rank and device that takes part" },
    { GAP_QUEUED, "work is queued, and what its stream waits for is not recorded", "Record what queued work waits for",
      "record what streams wait for: torch.profiler's experimental_config=_ExperimentalConfig(enable_cuda_sync_events=True), or Nsight "
      "Systems" },
    { GAP_UNKNOWN, "the call that launched the next work is not in the file", "Record the calls that launch",
      "begin to record before it is launched (a longer warmup), and record calls of the runtime (ProfilerActivity.CPU)" },
};
/* clang-format on */

/* The wait of a host thread that covers most of GAP; NULL: none does. */
static const struct host_wait *wait_beside(const struct trace *trace, const struct gap *gap)
{
    const struct host_waits *waits = host_waits_of(trace);
    const struct host_wait *most = NULL;
    int64_t most_ns = (gap->end_ns - gap->start_ns) / 2;
    uint32_t file = gpu_events_of(trace)->devices[gap->device].file;
    for (size_t i = 0; i < waits->count; i++) {
        event_id call = waits->at[i].call;
        int64_t from_ns = trace_start_ns(trace, call), to_ns = trace_end_ns(trace, call);
        if (trace->tracks[trace->track[call]].file != file)
            continue;
        from_ns = from_ns > gap->start_ns ? from_ns : gap->start_ns;
        to_ns = to_ns < gap->end_ns ? to_ns : gap->end_ns;
        if (to_ns - from_ns > most_ns) {
            most_ns = to_ns - from_ns;
            most = &waits->at[i];
        }
    }
    return most;
}

/* The shortest operator that covers nearly all of GAP, or else Python function, as calls were not recorded; EVENT_NONE: none does. */
static event_id operator_beside(const struct trace *trace, const struct gap *gap)
{
    const struct trace_file *file = &trace->files[gpu_events_of(trace)->devices[gap->device].file];
    event_id found = EVENT_NONE;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        int64_t from_ns = greater_of(trace_start_ns(trace, e), gap->start_ns),
                to_ns = -greater_of(-trace_end_ns(trace, e), -gap->end_ns);
        bool better =
            found == EVENT_NONE || trace->kind[e] < trace->kind[found] ||
            (trace->kind[e] == trace->kind[found] && trace_dur_ns(trace, e) < trace_dur_ns(trace, found));
        if ((trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_PYTHON) && better &&
            (to_ns - from_ns) / 9 >= (gap->end_ns - gap->start_ns) / 10)
            found = e;
    }
    return found;
}

/* "; meanwhile the host is in hipMemcpyWithStream of aten::to, runner.py(276): populate". */
static void describe_wait(const struct trace *trace, const struct gap *gap, struct buffer *text)
{
    const struct host_wait *wait = wait_beside(trace, gap);
    event_id call = wait ? wait->call : operator_beside(trace, gap);
    if (call == EVENT_NONE)
        return;
    struct callers *callers = callers_open(trace, &call, 1);
    event_id op = callers_operator(callers, call);
    size_t len = 0;
    const char *line = callers_line(callers, call, &len);
    buffer_printf(text, "; meanwhile the host is in %s", trace_name(trace, call));
    if (op != EVENT_NONE && trace->name[op] != trace->name[call])
        buffer_printf(text, " of %s", trace_name(trace, op));
    if (line)
        buffer_printf(text, ", %.*s", (int)len, line);
    arena_free(callers);
}

void unexplained_describe_host(const struct summary *summary, enum gap_cause cause, struct buffer *text)
{
    describe_wait(summary->trace, &summary->gaps->longest[cause], text);
}

static void describe_longest(const struct summary *summary, enum gap_cause cause, struct buffer *text)
{
    const struct trace *trace = summary->trace;
    const struct gap *gap = &summary->gaps->longest[cause];
    const struct gpu_device *device = &gpu_events_of(trace)->devices[gap->device];
    buffer_puts(text, "the longest gap takes ");
    quantity_append_rounded_time(text, (double)(gap->end_ns - gap->start_ns));
    buffer_puts(text, " at ");
    quantity_append_rounded_time(text,
                                 (double)(gap->start_ns - trace_file_span(trace, device->file).start_ns));
    buffer_printf(text, " on device %d", (int)device->id);
    describe_wait(trace, gap, text);
}

/* How long devices idled for CAUSE, and *SPAN_NS in all: in steps where there are some, as in the bar; else in all that was recorded. */
static double idle_for(const struct summary *summary, enum gap_cause cause, double *span_ns)
{
    const struct account *account = summary->account;
    *span_ns = 0;
    if (account && account->has_steps && account->all.device_count > 0) {
        for (size_t part = 0; part < ACCOUNT_PARTS; part++)
            *span_ns += (double)account->all.part_ns[part];
        return (double)account->all.part_ns[ACCOUNT_IDLE + cause];
    }
    for (size_t i = 0; i < summary->gpu->count; i++)
        *span_ns += (double)summary->gpu->at[i].span_ns;
    return (double)summary->gaps->part_ns[cause];
}

bool unexplained_describe(const struct summary *summary, struct buffer *text, struct unexplained *unexplained)
{
    const double worth_a_word = 0.05;
    double share = 0, span_ns;
    size_t most = SIZE_MAX;
    if (!summary->gaps || !summary->gpu)
        return false;
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++) {
        double ns = idle_for(summary, kinds[i].cause, &span_ns);
        if (span_ns > 0 && ns / span_ns >= worth_a_word && ns / span_ns > share) {
            share = ns / span_ns;
            most = i;
        }
    }
    if (most == SIZE_MAX || summary->gaps->longest[kinds[most].cause].end_ns <=
                                summary->gaps->longest[kinds[most].cause].start_ns)
        return false;
    buffer_printf(text,
                  "%.1f %% of the time of the %s%s is idle for a reason that the file does not have: %s; ",
                  quantity_percent(share), summary_device_word(summary), summary->gpu->count > 1 ? "s" : "",
                  kinds[most].lacks);
    size_t longest = text->count;
    describe_longest(summary, kinds[most].cause, text);
    *unexplained = (struct unexplained){
        .share = share,
        .cause = kinds[most].cause,
        .action = kinds[most].action,
        .longest = { text->at + longest, text->count - longest },
        .recipe = kinds[most].recipe,
    };
    bool is_torch_on_cuda = trace_framework(summary->trace) == FRAMEWORK_TORCH &&
                            summary->trace->files[0].producer != PRODUCER_ONNX &&
                            device_type_has_cuda(trace_device_type(summary->trace));
    bool is_known = kinds[most].cause != GAP_QUEUED || is_torch_on_cuda;
    if (!is_known)
        unexplained->recipe = "record what streams wait for, with the profiler of the maker of the device";
    bool has_calls = summary->features & FEATURE_LAUNCHES; /* else a longer recording has none either */
    bool launches = kinds[most].cause == GAP_UNKNOWN && !(is_torch_on_cuda && has_calls);
    if (launches)
        unexplained->recipe = trace_feature_recipe(summary->trace, FEATURE_LAUNCHES);
    buffer_printf(text, ". To see why, %s%s", launches ? "record launches: " : "", unexplained->recipe);
    unexplained->longest.at = text->at + longest; /* which may have moved */
    return true;
}

int64_t unexplained_start_ns(const struct summary *summary, int64_t *recorded_ns)
{
    enum { LEAST_NS = 1000000 };
    const struct trace *trace = summary->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    int64_t longest_ns = 0;
    for (size_t d = 0; d < gpu->device_count; d++) {
        size_t first = gpu->devices[d].first;
        event_id work = gpu->event[first], call = gpu->call[first];
        if (gpu->devices[d].count == 0 || call == EVENT_NONE)
            continue;
        int64_t queued_ns = trace_start_ns(trace, work) - trace_end_ns(trace, call);
        if (queued_ns < LEAST_NS || queued_ns <= longest_ns)
            continue;
        longest_ns = queued_ns;
        *recorded_ns = trace_start_ns(trace, work) - trace_file_span(trace, gpu->devices[d].file).start_ns;
    }
    return longest_ns;
}
