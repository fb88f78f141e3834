#include "analyze/account_parts.h"

#include "base/search.h"
#include "base/sum.h"
#include "derive/collective_names.h"
#include "derive/device_use.h"
#include "derive/gpu_names.h"
#include "derive/host_computing.h"
#include "derive/host_waits.h"
#include "derive/python_names.h"
#include "derive/step_list.h"

/* ---- names ---- */

static const char *const idle_names[GAP_CAUSES] = {
#define IDLE_NAME(id, owner, word, ...) [GAP_##id] = "idle: " word,
    GAP_CAUSE_ROWS(IDLE_NAME)
};

static const char *const part_names[ACCOUNT_IDLE] = {
    [ACCOUNT_BEFORE_WORK] = "idle: host, before the first work",
    [ACCOUNT_COMPUTING] = "computing",
    [ACCOUNT_COMMUNICATION] = "exposed communication",
    [ACCOUNT_COPIES] = "exposed copies",
    [ACCOUNT_AFTER_WORK] = "idle: host, after the last work",
    [ACCOUNT_HOST_OPERATORS] = "operators",
    [ACCOUNT_HOST_COMMUNICATION] = "exposed communication",
    [ACCOUNT_HOST_LOADING] = "data loading",
    [ACCOUNT_HOST_CALLS] = "runtime calls",
    [ACCOUNT_HOST_OUTSIDE] = "outside of operators",
};

const char *account_part_name(size_t part)
{
    return part < ACCOUNT_IDLE ? part_names[part] : idle_names[part - ACCOUNT_IDLE];
}

bool account_part_is_idle(size_t part)
{
    return part == ACCOUNT_BEFORE_WORK || part == ACCOUNT_AFTER_WORK || part >= ACCOUNT_IDLE;
}

/* ---- devices ---- */

/* What is added up of a device. */
struct device_parts {
    const struct gap_finder *finder;
    const struct account_windows *windows;
    const struct trace *trace;
    int64_t *part_ns;
    size_t near_first, near_end, near_in; /* where was searched last */
    bool counts;                          /* the device worked within the windows */
    struct gaps_query *gaps;              /* gets all gaps, too; NULL: nobody does */
};

static int64_t later_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns > b_ns ? a_ns : b_ns;
}

static int64_t earlier_of(int64_t a_ns, int64_t b_ns)
{
    return a_ns < b_ns ? a_ns : b_ns;
}

/* The stretch from START_NS to END_NS of GAP; OF_HOST: the part that the host's own time is. */
static void add_stretch(const struct device_parts *parts, const struct gap *gap, int64_t start_ns,
                        int64_t end_ns, enum account_part of_host)
{
    int64_t part_ns[GAP_CAUSES] = { 0 };
    gap_finder_split(parts->finder, gap, start_ns, end_ns, part_ns);
    for (size_t cause = 0; cause < GAP_CAUSES; cause++)
        sum_add(&parts->part_ns[cause == GAP_HOST ? of_host : ACCOUNT_IDLE + cause], part_ns[cause]);
}

/* A gap in which the work of a step ended and that of the next had not been launched is cut where that step began. */
static void add_within(struct device_parts *parts, const struct gap *gap, int64_t start_ns, int64_t end_ns)
{
    int64_t launched_ns = gap->call == EVENT_NONE ? gap->end_ns : trace_start_ns(parts->trace, gap->call);
    size_t count = parts->windows->begins_ns.count, first, end;
    const int64_t *begins_ns = parts->windows->begins_ns.at;
    SEARCH_NEAR(first, parts->near_first, count, begins_ns[first] < gap->start_ns);
    SEARCH_NEAR(end, parts->near_end, count, begins_ns[end] <= launched_ns);
    parts->near_first = first;
    parts->near_end = end;
    if (first >= end || begins_ns[first] >= gap->end_ns) {
        add_stretch(parts, gap, start_ns, end_ns, (enum account_part)(ACCOUNT_IDLE + GAP_HOST));
        return;
    }
    int64_t after_ns = later_of(earlier_of(begins_ns[first], end_ns), start_ns),
            before_ns = later_of(earlier_of(begins_ns[end - 1], end_ns), after_ns);
    add_stretch(parts, gap, start_ns, after_ns, ACCOUNT_AFTER_WORK);
    add_stretch(parts, gap, after_ns, before_ns, (enum account_part)(ACCOUNT_IDLE + GAP_HOST));
    add_stretch(parts, gap, before_ns, end_ns, ACCOUNT_BEFORE_WORK);
}

/* A gap_taker. */
static void add_account_gap(void *context, const struct gap *gap)
{
    struct device_parts *parts = context;
    const struct intervals *in = &parts->windows->in;
    size_t i;
    if (parts->gaps)
        gaps_add_usual(parts->gaps, gap);
    if (!parts->counts)
        return;
    SEARCH_NEAR(i, parts->near_in, in->count, in->at[i].end_ns <= gap->start_ns);
    parts->near_in = i;
    for (; i < in->count && in->at[i].start_ns < gap->end_ns; i++)
        add_within(parts, gap, later_of(gap->start_ns, in->at[i].start_ns),
                   earlier_of(gap->end_ns, in->at[i].end_ns));
}

/* The use of DEVICE within the windows, and whether it worked there. */
static bool add_uses(const struct device_parts *parts, const struct gpu_device *device)
{
    static const enum account_part part_of[DEVICE_USES] = { ACCOUNT_COMPUTING, ACCOUNT_COMMUNICATION,
                                                            ACCOUNT_COPIES };
    const struct intervals *in = &parts->windows->in;
    struct device_use_walk walk = { .gpu = gpu_events_of(parts->trace),
                                    .offset = device->first,
                                    .count = device->count };
    SCOPED_BY(device_use_release) struct device_use use = { 0 };
    bool any = false;
    while (device_use_next(&walk, &use))
        for (size_t u = 0; u < DEVICE_USES; u++) {
            int64_t length_ns = intervals_length_of_both(&use.exposed[u], in);
            sum_add(&parts->part_ns[part_of[u]], length_ns);
            any |= length_ns > 0;
        }
    return any;
}

/* The time from START_NS to END_NS, before the first work of DEVICE: loading, where the thread that launched it waited for a batch. */
static void add_head(const struct device_parts *parts, const struct gpu_device *device, int64_t start_ns,
                     int64_t end_ns)
{
    event_id call = gpu_events_of(parts->trace)->call[device->first];
    int64_t loading_ns = 0;
    if (start_ns >= end_ns)
        return;
    if (call != EVENT_NONE) {
        const struct host_thread *thread = &host_state_of(parts->trace)->threads[parts->trace->track[call]];
        int64_t until_ns = later_of(earlier_of(trace_start_ns(parts->trace, call), end_ns), start_ns);
        loading_ns = intervals_length_within(&thread->in[HOST_DATA_LOADING], start_ns, until_ns);
    }
    sum_add(&parts->part_ns[ACCOUNT_IDLE + GAP_DATA_LOADING], loading_ns);
    sum_add(&parts->part_ns[ACCOUNT_BEFORE_WORK], end_ns - start_ns - loading_ns);
}

/* Before the first work of DEVICE and after the last: the host had launched none, or had none to launch. */
static void add_ends(const struct device_parts *parts, const struct gpu_device *device)
{
    const struct gpu_events *gpu = gpu_events_of(parts->trace);
    int64_t first_ns = trace_start_ns(parts->trace, gpu->event[device->first]), last_ns = first_ns;
    for (size_t i = device->first; i < device->first + device->count; i++)
        last_ns = later_of(last_ns, trace_end_ns(parts->trace, gpu->event[i]));
    FOR_EACH(in, &parts->windows->in) {
        int64_t after_ns = in->end_ns - later_of(last_ns, in->start_ns);
        add_head(parts, device, in->start_ns, earlier_of(first_ns, in->end_ns));
        sum_add(&parts->part_ns[ACCOUNT_AFTER_WORK], after_ns > 0 ? after_ns : 0);
    }
}

/* ---- hosts without devices ---- */

enum host_part {
    HOST_PART_COMMUNICATION,
    HOST_PART_LOADING,
    HOST_PART_CALLS,
    HOST_PART_OPERATORS,
    HOST_PART_RUNTIME, /* of XLA: what its own code does, around operators */
    HOST_PARTS
};

/* The part that events called NAME of KIND are of, in a file of XLA or not; HOST_PARTS: none. */
static enum host_part host_part_of(enum event_kind kind, const char *name, bool of_xla)
{
    int64_t number;
    if (event_is_call(kind))
        return HOST_PART_CALLS;
    if (of_xla && kind == EVENT_OTHER && !python_function_of_xla(name) && !host_blocks_until_ready(name))
        return HOST_PART_RUNTIME;
    if (kind != EVENT_OP && kind != EVENT_ANNOTATION)
        return HOST_PARTS;
    return annotation_is_data_loading(name) ? HOST_PART_LOADING
           : collective_runs_on_host(name)  ? HOST_PART_COMMUNICATION
           : step_number(name, &number)     ? HOST_PARTS
                                            : HOST_PART_OPERATORS;
}

struct host_sum {
    const struct intervals *in;
    int64_t part_ns[HOST_PARTS];
    size_t near;
};

/* An intervals_visit. */
static void add_host_time(void *context, size_t part, int64_t start_ns, int64_t end_ns)
{
    struct host_sum *sum = context;
    sum_add(&sum->part_ns[part], intervals_length_near(sum->in, start_ns, end_ns, &sum->near));
}

/* New, by name, free with free(): are marked steps called so? */
static bool *account_step_names(const struct trace *trace)
{
    bool *is_step = mem_zalloc(names_count(trace->names) + 1, sizeof *is_step);
    const struct step_list *steps = step_list_of(trace);
    for (size_t i = 0; i < steps->count; i++)
        is_step[trace->name[steps->at[i].event]] |= steps->at[i].evidence == STEP_IS_MARKED;
    return is_step;
}

/* Take from the set COMMUNICATION of FILE when any thread computed. */
static void expose_communication(const struct trace *trace, uint32_t file, struct intervals *communication)
{
    const struct host_computing *computing = host_computing_of(trace);
    for (track_id t = 0; t < computing->thread_count && communication->count; t++) {
        if (trace->tracks[t].file != file || computing->threads[t].count == 0)
            continue;
        struct intervals rest = { 0 };
        intervals_subtract(communication, &computing->threads[t], &rest);
        intervals_release(communication);
        *communication = rest;
    }
}

static void add_host_parts(const struct trace *trace, uint32_t file, const struct account_windows *windows,
                           int64_t part_ns[ACCOUNT_PARTS])
{
    static const enum account_part part_of[HOST_PARTS] = {
        [HOST_PART_COMMUNICATION] = ACCOUNT_HOST_COMMUNICATION,
        [HOST_PART_LOADING] = ACCOUNT_HOST_LOADING,
        [HOST_PART_CALLS] = ACCOUNT_HOST_CALLS,
        [HOST_PART_OPERATORS] = ACCOUNT_HOST_OPERATORS,
        [HOST_PART_RUNTIME] = ACCOUNT_HOST_CALLS,
    };
    bool of_xla =
        trace->files[file].producer == PRODUCER_JAX || trace->files[file].producer == PRODUCER_TENSORFLOW;
    const struct trace_file *of = &trace->files[file];
    struct intervals sets[HOST_PARTS] = { 0 };
    SCOPED uint8_t *known = mem_zalloc(names_count(trace->names) + 1, EVENT_KINDS); /* 1 + enum host_part */
    SCOPED bool *is_step = account_step_names(trace);
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        if (event_on_device(trace->kind[e]) || trace->flags[e] & EVENT_POINT || is_step[trace->name[e]])
            continue;
        uint8_t *part = &known[(size_t)trace->name[e] * EVENT_KINDS + trace->kind[e]];
        if (*part == 0)
            *part = 1 + host_part_of(trace->kind[e], trace_name(trace, e), of_xla);
        if (*part <= HOST_PARTS)
            intervals_add(&sets[*part - 1], trace_start_ns(trace, e), trace_end_ns(trace, e));
    }
    struct host_sum sum = { .in = &windows->in };
    for (size_t part = 0; part < HOST_PARTS; part++)
        intervals_merge(&sets[part]);
    expose_communication(trace, file, &sets[HOST_PART_COMMUNICATION]);
    intervals_each(sets, HOST_PARTS, add_host_time, &sum);
    int64_t rest_ns = intervals_length(&windows->in);
    for (size_t part = 0; part < HOST_PARTS; part++) {
        sum_add(&part_ns[part_of[part]], sum.part_ns[part]);
        rest_ns -= sum.part_ns[part];
        intervals_release(&sets[part]);
    }
    sum_add(&part_ns[ACCOUNT_HOST_OUTSIDE], rest_ns);
}

size_t account_add_parts(const struct trace *trace, uint32_t file, const struct account_windows *windows,
                         int64_t part_ns[ACCOUNT_PARTS], struct gaps_query *gaps)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t devices = 0;
    if (windows->in.count == 0 && !gaps)
        return 0;
    struct gap_finder *finder = gap_finder_open(trace, NULL, 0, GAP_LATENCY_BELOW_NS);
    struct device_parts parts = {
        .finder = finder, .windows = windows, .trace = trace, .part_ns = part_ns, .gaps = gaps
    };
    for (size_t d = gpu_first_device(gpu, file); d < gpu->device_count && gpu->devices[d].file == file; d++) {
        parts.counts = windows->in.count > 0 && add_uses(&parts, &gpu->devices[d]);
        if (parts.counts)
            add_ends(&parts, &gpu->devices[d]);
        if (parts.counts || gaps)
            gap_finder_visit(finder, (uint32_t)d, add_account_gap, &parts);
        devices += parts.counts;
    }
    arena_free(finder);
    if (devices == 0 && windows->in.count > 0)
        add_host_parts(trace, file, windows, part_ns);
    return devices;
}

/* ---- why some steps take longer ---- */

/* What steps of one kind do, on average. */
struct doing {
    double steps, time_ns, loading_ns, waiting_ns, waits, work;
    double *name_ns; /* of annotations, by name */
};

enum { KINDS = 2, MOST_OF_A_KIND = 4 }; /* steps of the sample: enough for means */

/* A step of the sample, and to what it adds. */
struct sampled_step {
    const struct account_stretch *step;
    struct doing *doing;
};

struct step_sample {
    const struct trace *trace;
    struct sampled_step at[KINDS * MOST_OF_A_KIND];
    size_t count;
    int64_t first_ns, end_ns; /* from the first begin to the last end of these */
};

/* Let STEP be one of SAMPLE, for DOING. */
static void step_sample_add(struct step_sample *sample, const struct account_stretch *step,
                            struct doing *doing)
{
    const struct host_thread *thread =
        &host_state_of(sample->trace)->threads[sample->trace->track[step->event]];
    int64_t start_ns = step->start_ns, end_ns = step->end_ns;
    doing->steps++;
    doing->time_ns += (double)(end_ns - start_ns);
    doing->work += (double)step->work;
    doing->loading_ns += (double)intervals_length_within(&thread->in[HOST_DATA_LOADING], start_ns, end_ns);
    doing->waiting_ns += (double)intervals_length_within(&thread->in[HOST_WAITING], start_ns, end_ns);
    sample->first_ns = sample->count ? earlier_of(sample->first_ns, start_ns) : start_ns;
    sample->end_ns = sample->count ? later_of(sample->end_ns, end_ns) : end_ns;
    sample->at[sample->count++] = (struct sampled_step){ step, doing };
}

/* Is event E, at NS, of the thread of the step at K, and in it? */
static bool step_sample_holds(const struct step_sample *sample, size_t k, event_id e, int64_t ns)
{
    const struct account_stretch *step = sample->at[k].step;
    return ns >= step->start_ns && ns < step->end_ns &&
           sample->trace->track[e] == sample->trace->track[step->event];
}

/* The annotations in the steps of SAMPLE, but for marked steps, and the waits. */
static void step_sample_find(const struct step_sample *sample)
{
    const struct trace *trace = sample->trace;
    bool *is_step = account_step_names(trace);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->kind[e] != EVENT_ANNOTATION || is_step[trace->name[e]])
            continue;
        int64_t ns = trace_start_ns(trace, e);
        for (size_t k = 0; ns >= sample->first_ns && ns < sample->end_ns && k < sample->count; k++)
            if (step_sample_holds(sample, k, e, ns))
                sample->at[k].doing->name_ns[trace->name[e]] += (double)trace_dur_ns(trace, e);
    }
    free(is_step);
    const struct host_waits *waits = host_waits_of(trace);
    for (size_t i = 0; i < waits->count; i++) {
        int64_t ns = trace_start_ns(trace, waits->at[i].call);
        for (size_t k = 0; ns >= sample->first_ns && ns < sample->end_ns && k < sample->count; k++)
            sample->at[k].doing->waits += step_sample_holds(sample, k, waits->at[i].call, ns);
    }
}

static void doing_average(struct doing *doing, size_t name_count)
{
    double steps = doing->steps > 0 ? doing->steps : 1;
    doing->time_ns /= steps;
    doing->loading_ns /= steps;
    doing->waiting_ns /= steps;
    doing->waits /= steps;
    doing->work /= steps;
    for (name_id id = 0; id < name_count; id++)
        doing->name_ns[id] /= steps;
}

struct text account_reason(struct arena *texts, const struct trace *trace,
                           const struct account_stretch *steps, size_t count)
{
    const double much = 0.5, more_work = 1.1;
    size_t name_count = names_count(trace->names);
    struct doing kinds[KINDS] = { 0 };
    struct step_sample sample = { .trace = trace };
    for (size_t kind = 0; kind < KINDS; kind++)
        kinds[kind].name_ns = mem_zalloc(name_count + 1, sizeof(double));
    for (size_t i = 0; i < count; i++)
        if (kinds[steps[i].unusual].steps < MOST_OF_A_KIND)
            step_sample_add(&sample, &steps[i], &kinds[steps[i].unusual]);
    step_sample_find(&sample);
    doing_average(&kinds[0], name_count);
    doing_average(&kinds[1], name_count);
    double excess_ns = kinds[1].time_ns - kinds[0].time_ns;
    struct text reason = as_text("");
    name_id longest = 0;
    for (name_id id = 0; id < name_count; id++)
        if (kinds[0].name_ns[id] == 0 && kinds[1].name_ns[id] > kinds[1].name_ns[longest])
            longest = id;
    if (name_count && kinds[0].name_ns[longest] == 0 && excess_ns > 0 &&
        kinds[1].name_ns[longest] >= much * excess_ns)
        reason = as_text(arena_printf(texts, "runs %s", names_text(trace->names, longest)));
    else if (excess_ns > 0 && kinds[1].loading_ns - kinds[0].loading_ns >= much * excess_ns)
        reason = as_text("waits longer for its batch");
    else if (kinds[1].waits > kinds[0].waits &&
             (excess_ns <= 0 || kinds[1].waiting_ns - kinds[0].waiting_ns >= much * excess_ns))
        reason = as_text("waits for the device");
    else if (kinds[1].work > more_work * kinds[0].work)
        reason = as_text("launches more work");
    EACH(free, kinds[0].name_ns, kinds[1].name_ns);
    return reason;
}
