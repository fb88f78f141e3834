/*
 * settle_times.c - leaves out records whose time cannot be, when a trace is finished.
 *
 * Profilers write time 0 for a record that a device did not stamp, and now and then another time that is far from the
 * recording. Such records say that work ran, not when.
 */
#include "trace/builder.h"
#include "trace/storage.h"

#include "base/rows.h"
#include "trace/arg_scan.h"
#include "trace/intervals.h"
#include "trace/slice.h"
#include <inttypes.h>

enum { SECOND_NS = 1000000000 };

/* Work of a device lies no further than this outside of the recording of the host. */
#define FAR_NS (INT64_C(60) * SECOND_NS)

/* So few records of the host, and all work far from them: which of both is wrong is not known, and neither is left out. */
enum { FEW_RECORDS = 10 };

/* Less before the window that the profiler itself records: what began before waited in a queue, and not for so long. */
#define EARLY_NS INT64_C(1000000000)

/* The host's records lie no further than this from most of them: a recording may pause, and clocks may be set. */
#define HOST_FAR_NS (INT64_C(86400) * SECOND_NS)

/* Work begins no sooner before its call than this: clocks of devices are aligned with that of the host, and drift. */
#define BEFORE_CALL_NS INT64_C(1000000)

/* The same of work that nothing but its call contradicts. */
#define ALONE_BEFORE_CALL_NS INT64_C(10000000)

/* ---- times outside of the recording ---- */

/* From when to when the records of a file may be; empty if nothing is known. */
struct bounds {
    int64_t first_ns, last_ns; /* of records of devices */
    struct interval window;    /* of the profiler itself, of all processes; empty if it records none */
    int64_t middle_ns;         /* most records lie near it */
    bool has_middle;
    struct interval work;  /* starts of work, without those at 0; empty if there is none */
    struct interval calls; /* the same of calls */
    bool zero_is_unknown;  /* of any record: the others are far from 0 */
    int64_t
        begin_ns; /* of the recording of the host: work that ends before it at time 0 has none; INT64_MIN: unknown */
};

/* Do all events lie so near one another that no bound can be passed? By the bounds of blocks, without a look at events. */
static bool lie_together(const struct trace *trace)
{
    int64_t least_ns = INT64_MAX, most_ns = INT64_MIN;
    for (size_t b = 0; b < packed_blocks(trace->event_count); b++) {
        int64_t low_ns = packed_least(&trace->start_ns.blocks[b]),
                high_ns = packed_most(&trace->start_ns.blocks[b]);
        least_ns = low_ns < least_ns ? low_ns : least_ns;
        most_ns = high_ns > most_ns ? high_ns : most_ns;
    }
    for (size_t f = 0; f < trace->file_count; f++)
        if (trace->files[f].has_window && least_ns < trace->files[f].window_start_ns - EARLY_NS)
            return false;
    if (least_ns == 0)
        return false;
    return least_ns > most_ns || (least_ns > INT64_MIN / 2 && most_ns - least_ns < FAR_NS);
}

static bool is_of_host(enum event_kind kind)
{
    return kind == EVENT_OP || kind == EVENT_PYTHON || kind == EVENT_ANNOTATION || event_is_call(kind);
}

/* The windows of the profiler in FILE, of all its processes; empty if it records none. */
static struct interval window_of(const struct trace *trace, const struct trace_file *file)
{
    struct interval window = { INT64_MAX, INT64_MIN };
    event_id end = file->first_event + file->event_count;
    for (event_id e = file->first_event; e < end && file->has_window; e++) {
        if (trace->kind[e] != EVENT_SPAN)
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        window.start_ns = start_ns < window.start_ns ? start_ns : window.start_ns;
        window.end_ns = end_ns > window.end_ns ? end_ns : window.end_ns;
    }
    return window;
}

/* Does MOMENT lie in WINDOW, or near it? Anything does if that is empty. */
static bool is_within(const struct interval *window, int64_t moment_ns)
{
    return window->start_ns > window->end_ns ||
           (moment_ns >= window->start_ns - FAR_NS && moment_ns <= window->end_ns + FAR_NS);
}

/* The median start of some of the events of FILE, if most of these lie near it. */
static void find_middle(const struct trace *trace, const struct trace_file *file, struct bounds *bounds)
{
    enum { SOME = 1000, LEAST = 10, MOST_OF = 10, MOST = 6 }; /* 6 of 10 */
    int64_t starts_ns[SOME];
    size_t step = file->event_count / SOME + 1, count = 0, near = 0;
    for (size_t i = 0; i < file->event_count && count < SOME; i += step)
        starts_ns[count++] = trace_start_ns(trace, file->first_event + (event_id)i);
    if (count < LEAST)
        return;
    SORT_NUMBERS(starts_ns, count);
    bounds->middle_ns = starts_ns[count / 2];
    for (size_t i = 0; i < count; i++)
        near +=
            starts_ns[i] > bounds->middle_ns - HOST_FAR_NS && starts_ns[i] < bounds->middle_ns + HOST_FAR_NS;
    bounds->has_middle = near * MOST_OF >= count * MOST;
}

static bool is_far(const struct bounds *bounds, int64_t start_ns)
{
    return bounds->has_middle &&
           (start_ns < bounds->middle_ns - HOST_FAR_NS || start_ns > bounds->middle_ns + HOST_FAR_NS);
}

/* Work that was launched in time may wait in its queue for long: what follows work within BOUNDS soon is within them. */
static void extend_by_queues(const struct trace *trace, const struct trace_file *file, struct bounds *bounds)
{
    event_id end = file->first_event + file->event_count;
    for (event_id e = file->first_event; e < end; e++) /* streams are mostly written in order */
        if (event_is_gpu_work(trace->kind[e]) && trace_start_ns(trace, e) <= bounds->last_ns &&
            trace_end_ns(trace, e) > bounds->last_ns - FAR_NS &&
            trace_end_ns(trace, e) < TRACE_LATEST_NS - FAR_NS)
            bounds->last_ns = trace_end_ns(trace, e) + FAR_NS;
}

static void cover(struct interval *interval, int64_t moment_ns)
{
    interval->start_ns = moment_ns < interval->start_ns ? moment_ns : interval->start_ns;
    interval->end_ns = moment_ns > interval->end_ns ? moment_ns : interval->end_ns;
}

static struct bounds bounds_of(const struct trace *trace, const struct trace_file *file)
{
    struct bounds bounds = { .first_ns = INT64_MIN,
                             .last_ns = INT64_MAX,
                             .begin_ns = INT64_MIN,
                             .window = window_of(trace, file),
                             .work = { INT64_MAX, INT64_MIN },
                             .calls = { INT64_MAX, INT64_MIN } };
    find_middle(trace, file, &bounds);
    int64_t nearest_ns = INT64_MAX, first_ns = INT64_MAX, last_ns = INT64_MIN;
    bool any_zero = false, host_has_zero = false;
    size_t work_at_zero = 0, host_count = 0;
    event_id end = file->first_event + file->event_count;
    for (event_id e = file->first_event; e < end; e++) {
        int64_t start_ns = trace_start_ns(trace, e), apart_ns = start_ns < 0 ? -start_ns : start_ns;
        enum event_kind kind = trace->kind[e];
        if (kind == EVENT_SPAN)
            continue;
        any_zero |= start_ns == 0;
        host_has_zero |= start_ns == 0 && is_of_host(kind);
        work_at_zero += start_ns == 0 && event_is_gpu_work(kind);
        if (start_ns == 0)
            continue;
        nearest_ns = apart_ns < nearest_ns ? apart_ns : nearest_ns;
        if (event_is_gpu_work(kind))
            cover(&bounds.work, start_ns);
        else if (event_is_call(kind))
            cover(&bounds.calls, start_ns);
        if (is_of_host(kind) && !is_far(&bounds, start_ns) && is_within(&bounds.window, start_ns)) {
            first_ns = start_ns < first_ns ? start_ns : first_ns;
            last_ns = trace_end_ns(trace, e) > last_ns ? trace_end_ns(trace, e) : last_ns;
            host_count++;
        }
    }
    bounds.zero_is_unknown = any_zero && nearest_ns != INT64_MAX && nearest_ns > FAR_NS;
    if (host_has_zero && !bounds.zero_is_unknown)
        first_ns = first_ns < 0 ? first_ns : 0;
    if (work_at_zero > 1) /* one may be the first record, from which others count */
        bounds.begin_ns = file->has_window        ? file->window_start_ns
                          : first_ns != INT64_MAX ? first_ns
                                                  : INT64_MIN;
    if (file->has_window) {
        bounds.first_ns = file->window_start_ns - EARLY_NS;
        last_ns = file->window_end_ns > last_ns ? file->window_end_ns : last_ns;
    } else if (first_ns != INT64_MAX) {
        bounds.first_ns = first_ns - FAR_NS;
    }
    if (!file->has_window && host_count < FEW_RECORDS && bounds.work.start_ns <= bounds.work.end_ns &&
        (bounds.work.start_ns > last_ns + FAR_NS || bounds.work.end_ns < first_ns - FAR_NS)) {
        bounds.first_ns = INT64_MIN; /* of so few nobody can tell when the recording was */
    } else if (last_ns != INT64_MIN && bounds.first_ns != INT64_MIN) {
        bounds.last_ns = last_ns + FAR_NS;
        extend_by_queues(trace, file, &bounds);
    }
    return bounds;
}

static bool has_time(const struct trace *trace, const struct bounds *bounds, event_id e)
{
    int64_t start_ns = trace_start_ns(trace, e);
    enum event_kind kind = trace->kind[e];
    if (kind == EVENT_SPAN)
        return true;
    if ((start_ns == 0 && bounds->zero_is_unknown) || is_far(bounds, start_ns))
        return false;
    if (start_ns == 0 && event_is_gpu_work(kind) && trace_end_ns(trace, e) < bounds->begin_ns)
        return false;
    if (is_of_host(kind) && !is_within(&bounds->window, start_ns) &&
        !is_within(&bounds->window, trace_end_ns(trace, e)))
        return false;
    return !event_on_device(kind) ||
           (trace_end_ns(trace, e) >= bounds->first_ns && start_ns <= bounds->last_ns);
}

void builder_add_last_notice(struct trace_builder *builder, uint32_t file, const char *kind, const char *text,
                             uint64_t count)
{
    *VEC_PUSH(&builder->storage->notices) = (struct trace_notice){
        .kind = kind, .text = text, .file = file, .count = count, .offset = TPA_NOWHERE
    };
    builder->storage->files.at[file].lacks |= lacks_of_word(kind);
}

const char *builder_counted(struct trace_builder *builder, uint64_t count, const char *one, const char *many)
{
    return arena_printf(&builder->trace->arena, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

/* What goes. KEEP, by event, is made when the first does. */
struct dropping {
    const struct trace *trace;
    bool *keep;
    uint64_t device, host; /* records of the file that go */
    int64_t device_ns;     /* duration of those of devices */
};

static bool is_dropped(const struct dropping *dropping, event_id e)
{
    return dropping->keep && !dropping->keep[e];
}

static void drop_event(struct dropping *dropping, event_id e)
{
    const struct trace *trace = dropping->trace;
    if (!dropping->keep) {
        dropping->keep = mem_alloc(trace->event_count + 1);
        memset(dropping->keep, true, trace->event_count + 1);
    }
    dropping->keep[e] = false;
    dropping->host += !event_on_device(trace->kind[e]);
    dropping->device += event_on_device(trace->kind[e]);
    dropping->device_ns += event_is_gpu_work(trace->kind[e]) ? trace_dur_ns(trace, e) : 0;
}

/* ---- times that the other end of a link contradicts ---- */

/* A call or its work. */
struct linked {
    int64_t number, start_ns;
    event_id event;
};

struct linked_list {
    VEC_OF(struct linked);
};

static const struct key by_number[] = { ASC(struct linked, number), KEY_END };

/* The calls of FILE, or its work, that are kept so far and have a number; sorted by it. */
static struct linked_list collect_linked(const struct dropping *dropping, const struct trace_file *file,
                                         bool calls)
{
    const struct trace *trace = dropping->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    struct linked_list list = { 0 };
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        int64_t number;
        if ((calls ? event_is_call(trace->kind[e]) : event_is_gpu_work(trace->kind[e])) &&
            !is_dropped(dropping, e) && arg_scan_get(&correlations, e, &number))
            *VEC_PUSH(&list) = (struct linked){ number, trace_start_ns(trace, e), e };
    }
    SORT(&list, by_number);
    return list;
}

static const struct linked *find_linked(const struct linked_list *list, int64_t number)
{
    struct linked wanted = { .number = number };
    return rows_find(list->at, list->count, sizeof wanted, by_number, &wanted);
}

/* Does a call lie at START_NS that is far before all work, or far behind the start of all? */
static bool is_stray(const struct bounds *bounds, int64_t start_ns)
{
    return bounds->work.start_ns <= bounds->work.end_ns &&
           (start_ns < bounds->work.start_ns - FAR_NS || start_ns > bounds->work.end_ns + FAR_NS);
}

/* When the host's records begin, without stray calls. */
static int64_t first_of_host(const struct dropping *dropping, const struct trace_file *file,
                             const struct bounds *bounds)
{
    const struct trace *trace = dropping->trace;
    int64_t first_ns = INT64_MAX;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        int64_t start_ns = trace_start_ns(trace, e);
        if (!is_of_host(trace->kind[e]) || is_dropped(dropping, e))
            continue;
        if (start_ns < first_ns && !(event_is_call(trace->kind[e]) && is_stray(bounds, start_ns)))
            first_ns = start_ns;
    }
    return first_ns;
}

/* Drop calls that begin a minute after the work that they launched; or before it and all other records. */
static void drop_stray_calls(struct dropping *dropping, const struct trace_file *file,
                             const struct bounds *bounds)
{
    if (bounds->calls.start_ns > bounds->calls.end_ns ||
        (!is_stray(bounds, bounds->calls.start_ns) && !is_stray(bounds, bounds->calls.end_ns)))
        return;
    int64_t first_ns = first_of_host(dropping, file, bounds);
    SCOPED struct linked_list calls = collect_linked(dropping, file, true),
                              work = collect_linked(dropping, file, false);
    for (size_t i = 0; i < calls.count; i++) {
        int64_t start_ns = calls.at[i].start_ns;
        if (is_stray(bounds, start_ns) &&
            (start_ns > bounds->work.end_ns || (first_ns != INT64_MAX && start_ns < first_ns - FAR_NS)) &&
            find_linked(&work, calls.at[i].number))
            drop_event(dropping, calls.at[i].event);
    }
}

/* Drop work at time 0 that ends before its call, where at most one in ten others begins before its own. */
static void drop_work_at_zero(struct dropping *dropping, const struct trace_file *file)
{
    enum { ONE_IN = 10 };
    const struct trace *trace = dropping->trace;
    SCOPED struct linked_list calls = collect_linked(dropping, file, true),
                              work = collect_linked(dropping, file, false);
    size_t others = 0, early = 0;
    for (size_t i = 0; i < work.count; i++) {
        const struct linked *call = work.at[i].start_ns != 0 ? find_linked(&calls, work.at[i].number) : NULL;
        others += call != NULL;
        early += call && work.at[i].start_ns < call->start_ns;
    }
    for (size_t i = 0; i < work.count && others > 0 && early * ONE_IN <= others; i++) {
        const struct linked *call = work.at[i].start_ns == 0 ? find_linked(&calls, work.at[i].number) : NULL;
        if (call && trace_end_ns(trace, work.at[i].event) < call->start_ns)
            drop_event(dropping, work.at[i].event);
    }
}

/* ---- work before its own launch ---- */

/* Work and the call that launched it. */
struct launched {
    track_id track;
    event_id event;
    int64_t call_ns, start_ns;
};

struct launched_list {
    VEC_OF(struct launched);
};

static const struct key by_stream_and_call[] = { ASC(struct launched, track), ASC(struct launched, call_ns),
                                                 ASC(struct launched, start_ns), KEY_END };
static const struct key by_stream[] = { ASC(struct launched, track), KEY_END };

/* When the calls of a file began, by number; of calls that share a number the first. */
struct call_starts {
    int64_t least, *start_ns;
    size_t count;
};

/* Empty where numbers do not tell calls: there are none, they lie far apart, or several processes count their own. */
static struct call_starts find_call_starts(const struct dropping *dropping, const struct trace_file *file)
{
    enum { NUMBERS_A_CALL = 16 };
    const struct trace *trace = dropping->trace;
    event_id end = file->first_event + file->event_count;
    int64_t number, most = INT64_MIN;
    struct call_starts starts = { .least = INT64_MAX };
    const struct track *process = NULL;
    size_t calls = 0;
    for (int pass = 0; pass < 2; pass++) {
        struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
        for (event_id e = file->first_event; e < end; e++) {
            if (!event_is_call(trace->kind[e]) || is_dropped(dropping, e) ||
                !arg_scan_get(&correlations, e, &number) || number <= 0)
                continue;
            if (pass == 1) {
                int64_t *start_ns = &starts.start_ns[number - starts.least];
                *start_ns = trace_start_ns(trace, e) < *start_ns ? trace_start_ns(trace, e) : *start_ns;
                continue;
            }
            const struct track *track = &trace->tracks[trace->track[e]];
            if (process && (process->pid != track->pid || process->pid_text != track->pid_text))
                return (struct call_starts){ 0 };
            process = track;
            starts.least = number < starts.least ? number : starts.least;
            most = number > most ? number : most;
            calls++;
        }
        if (pass == 1 || calls == 0 || (uint64_t)(most - starts.least) / NUMBERS_A_CALL > calls)
            break;
        starts.count = (size_t)(most - starts.least) + 1;
        starts.start_ns = mem_alloc(mem_times(starts.count, sizeof *starts.start_ns));
        for (size_t i = 0; i < starts.count; i++)
            starts.start_ns[i] = INT64_MAX;
    }
    return starts;
}

/* The work of FILE whose call is known. SUSPECTS gets how much of it begins more than BEFORE_CALL_NS before that. */
static struct launched_list collect_launched(const struct dropping *dropping, const struct trace_file *file,
                                             const struct call_starts *starts, bool only_count, size_t *count,
                                             size_t *suspects)
{
    const struct trace *trace = dropping->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    struct launched_list list = { 0 };
    *count = *suspects = 0;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        int64_t number;
        if (!event_is_gpu_work(trace->kind[e]) || is_dropped(dropping, e) ||
            !arg_scan_get(&correlations, e, &number) || number < starts->least ||
            (uint64_t)(number - starts->least) >= starts->count ||
            starts->start_ns[number - starts->least] == INT64_MAX)
            continue;
        struct launched work = { trace->track[e], e, starts->start_ns[number - starts->least],
                                 trace_start_ns(trace, e) };
        ++*count;
        *suspects += work.start_ns < work.call_ns - BEFORE_CALL_NS;
        if (!only_count)
            *VEC_PUSH(&list) = work;
    }
    return list;
}

/* Drop the WORK that begins before its own call, where the clock of the device is right otherwise: it begins before work of its
 * stream that was launched before it, or is alone in being so early. */
static void drop_early(struct dropping *dropping, struct launched_list *work)
{
    int64_t earliest_ns = 0, second_ns = 0;
    SORT(work, by_stream_and_call);
    for (size_t i = 0; i < work->count; i++) {
        int64_t early_ns = work->at[i].call_ns - work->at[i].start_ns;
        second_ns = early_ns > earliest_ns ? earliest_ns : early_ns > second_ns ? early_ns : second_ns;
        earliest_ns = early_ns > earliest_ns ? early_ns : earliest_ns;
    }
    FOR_GROUPS(work, by_stream, first, end) {
        int64_t behind_ns = INT64_MIN,
                before_ns = INT64_MIN; /* starts of what was launched before the call; call of these */
        for (size_t i = first; i < end; i++) {
            const struct launched *at = &work->at[i];
            int64_t early_ns = at->call_ns - at->start_ns;
            bool is_alone =
                early_ns == earliest_ns && early_ns / 2 > second_ns && early_ns > ALONE_BEFORE_CALL_NS;
            if (early_ns > BEFORE_CALL_NS &&
                (is_alone || (before_ns < at->call_ns && behind_ns > at->start_ns + BEFORE_CALL_NS))) {
                drop_event(dropping, at->event);
            } else if (at->start_ns > behind_ns) {
                behind_ns = at->start_ns;
                before_ns = at->call_ns;
            }
        }
    }
}

/* Where more of the work of FILE begins before its calls, the clock of the device is not that of the host. */
static void drop_work_before_calls(struct dropping *dropping, const struct trace_file *file)
{
    enum { FEWEST = 4, ONE_IN = 10 };
    if (dropping->trace->args[ARG_CORRELATION].count == 0)
        return;
    struct call_starts starts = find_call_starts(dropping, file);
    size_t count = 0, suspects = 0;
    if (starts.count)
        collect_launched(dropping, file, &starts, true, &count, &suspects);
    if (suspects > 0 && count >= FEWEST && (suspects == 1 || suspects * ONE_IN <= count)) {
        SCOPED struct launched_list work =
            collect_launched(dropping, file, &starts, false, &count, &suspects);
        drop_early(dropping, &work);
    }
    free(starts.start_ns);
}

/* Drop what is far from the recording of FILE. */
static void drop_far(struct dropping *dropping, const struct trace_file *of)
{
    const struct trace *trace = dropping->trace;
    struct bounds bounds = bounds_of(trace, of);
    bool any_at_zero = false;
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        if (!has_time(trace, &bounds, e))
            drop_event(dropping, e);
        else
            any_at_zero |= event_is_gpu_work(trace->kind[e]) && trace_start_ns(trace, e) == 0;
    }
    drop_stray_calls(dropping, of, &bounds);
    if (any_at_zero)
        drop_work_at_zero(dropping, of);
}

/* Find what FILE loses, and tell. TOGETHER: all lies together. */
static void drop_untimed(struct trace_builder *builder, uint32_t file, bool together,
                         struct dropping *dropping)
{
    const struct trace_file *of = &builder->trace->files[file];
    dropping->device = dropping->host = 0;
    dropping->device_ns = 0;
    if (!together)
        drop_far(dropping, of);
    drop_work_before_calls(dropping, of);
    uint64_t device = dropping->device, host = dropping->host;
    builder->storage->files.at[file].lost.untimed = device;
    builder->storage->files.at[file].lost.untimed_ns = dropping->device_ns;
    if (device)
        builder_add_last_notice(
            builder, file, lack_word(LACK_UNTIMED_WORK),
            builder_counted(
                builder, device,
                "record of a device has a time that cannot be (0, far outside of the recording of the host, or before its own launch) and was left out",
                "records of devices have times that cannot be (0, far outside of the recording of the host, or before their own launch) and were left out"),
            device);
    if (host)
        builder_add_last_notice(
            builder, file, "untimed",
            builder_counted(
                builder, host,
                "record of the host has a time that cannot be (0, or far outside of the recording) and was left out",
                "records of the host have times that cannot be (0, or far outside of the recording) and were left out"),
            host);
}

static void drop_all_untimed(struct trace_builder *builder)
{
    struct dropping dropping = { .trace = builder->trace };
    bool together = lie_together(builder->trace);
    for (uint32_t f = 0; f < builder->trace->file_count; f++)
        drop_untimed(builder, f, together, &dropping);
    if (dropping.keep)
        trace_keep(builder->trace, &(struct trace_part){ .events = dropping.keep });
    free(dropping.keep);
}

void builder_settle_times(struct trace_builder *builder)
{
    storage_lend(builder->trace);
    drop_all_untimed(builder);
    builder_settle_ends(builder);
    storage_lend(builder->trace); /* its durations may have moved */
    builder_settle_steps(builder);
}
