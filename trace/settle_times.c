/*
 * settle_times.c - finds records whose time cannot be, when a trace is finished.
 *
 * Profilers write time 0 for a record that a device did not stamp, and now and then another time that is far from the
 * recording. A kernel whose end is stamped late lasts over the work behind it on its stream. Such records say that work
 * ran, not when: the first are left out, the others end where the next work of their stream begins, or sooner if
 * no other run of their name takes so long.
 */
#include "trace/storage.h"

#include "base/memory.h"
#include "base/order.h"
#include "trace/intervals.h"
#include "trace/slice.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

enum { SECOND_NS = 1000000000 };

/* Work of a device lies no further than this outside of the recording of the host. */
#define FAR_NS (INT64_C(60) * SECOND_NS)

/* Less before the window that the profiler itself records: what began before waited in a queue, and not for so long. */
#define EARLY_NS INT64_C(1000000000)

/* The host's records lie no further than this from most of them: a recording may pause, and clocks may be set. */
#define HOST_FAR_NS (INT64_C(86400) * SECOND_NS)

/* A wait for a device returns so long after the end of the work at most. */
#define RETURN_NS INT64_C(1000000)

/* Work of one stream may overlap so far: a dependent launch begins before its predecessor ends, and clocks jitter. */
#define OVERLAP_NS INT64_C(100000)

/* A stream of which more than one operation in so many covers others runs them side by side. */
enum { COVERING_ONE_IN = 3 };

static bool is_work(enum event_kind kind)
{
    return event_is_gpu_work(kind);
}

/* ---- times outside of the recording ---- */

/* From when to when the records of a file may be; empty if nothing is known. */
struct bounds {
    int64_t first_ns, last_ns; /* of records of devices */
    struct interval window;    /* of the profiler itself, of all processes; empty if it records none */
    int64_t middle_ns;         /* most records lie near it */
    bool has_middle;
    bool zero_is_unknown; /* of any record: the others are far from 0 */
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

static int compare_moments(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
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
    qsort(starts_ns, count, sizeof *starts_ns, compare_moments);
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

static struct bounds bounds_of(const struct trace *trace, const struct trace_file *file)
{
    struct bounds bounds = {
        .first_ns = INT64_MIN, .last_ns = INT64_MAX, .begin_ns = INT64_MIN, .window = window_of(trace, file)
    };
    find_middle(trace, file, &bounds);
    int64_t nearest_ns = INT64_MAX, first_ns = INT64_MAX, last_ns = INT64_MIN;
    bool any_zero = false, host_has_zero = false;
    size_t work_at_zero = 0;
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
        if (is_of_host(kind) && !is_far(&bounds, start_ns) && is_within(&bounds.window, start_ns)) {
            first_ns = start_ns < first_ns ? start_ns : first_ns;
            last_ns = trace_end_ns(trace, e) > last_ns ? trace_end_ns(trace, e) : last_ns;
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
    if (last_ns != INT64_MIN && bounds.first_ns != INT64_MIN) {
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

/* "3 records ...": the count and ONE or MANY; lives as long as the trace. */
static const char *counted(struct trace_builder *builder, uint64_t count, const char *one, const char *many)
{
    return arena_printf(&builder->trace->arena, "%" PRIu64 " %s", count, count == 1 ? one : many);
}

/* Count what FILE loses; KEEP, by event, is made when the first goes. */
static void drop_untimed(struct trace_builder *builder, uint32_t file, bool **keep)
{
    const struct trace *trace = builder->trace;
    const struct trace_file *of = &trace->files[file];
    struct bounds bounds = bounds_of(trace, of);
    uint64_t device = 0, host = 0;
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        if (has_time(trace, &bounds, e))
            continue;
        if (!*keep) {
            *keep = mem_alloc(trace->event_count + 1);
            memset(*keep, true, trace->event_count + 1);
        }
        (*keep)[e] = false;
        *(event_on_device(trace->kind[e]) ? &device : &host) += 1;
    }
    builder->storage->files.at[file].lost.untimed = device;
    if (device)
        builder_add_last_notice(
            builder, file, lack_word(LACK_UNTIMED_WORK),
            counted(
                builder, device,
                "record of a device has a time that cannot be (0, or far outside of the recording of the host) and was left out",
                "records of devices have times that cannot be (0, or far outside of the recording of the host) and were left out"),
            device);
    if (host)
        builder_add_last_notice(
            builder, file, "untimed",
            counted(
                builder, host,
                "record of the host has a time that cannot be (0, or far outside of the recording) and was left out",
                "records of the host have times that cannot be (0, or far outside of the recording) and were left out"),
            host);
}

static void drop_all_untimed(struct trace_builder *builder)
{
    bool *keep = NULL;
    if (lie_together(builder->trace))
        return;
    for (uint32_t f = 0; f < builder->trace->file_count; f++)
        drop_untimed(builder, f, &keep);
    if (keep)
        trace_keep(builder->trace, &(struct trace_part){ .events = keep });
    free(keep);
}

/* ---- ends that are too late ---- */

struct stream_work {
    track_id track;
    event_id event;
    int64_t start_ns, end_ns;
};

struct late_ends {
    struct trace *trace;
    bool *suspects;                  /* by track */
    VEC_OF(struct stream_work) work; /* of these, by track, by start, the longest first */
    bool *is_late;                   /* beside WORK */
    uint64_t *late_count;            /* by file */
    int64_t *dur_ns;                 /* by event: to be set; NULL while none is late */
};

/* Lines of TensorFlow and JAX nest: loops hold their bodies. */
static bool is_sequential(const struct trace *trace, track_id t)
{
    enum trace_producer producer = trace->files[trace->tracks[t].file].producer;
    return trace->tracks[t].kind == TRACK_STREAM && producer != PRODUCER_TENSORFLOW &&
           producer != PRODUCER_JAX;
}

/* Mark the streams on which something may end later than what begins after it, by more than OVERLAP_NS. */
static bool find_suspects(struct late_ends *late)
{
    const struct trace *trace = late->trace;
    struct interval_of_track {
        int64_t start_ns, end_ns;
    } *last = mem_zalloc(trace->track_count + 1, sizeof *last);
    bool any = false;
    for (track_id t = 0; t < trace->track_count; t++)
        last[t].start_ns = last[t].end_ns = INT64_MIN;
    for (event_id e = 0; e < trace->event_count; e++) {
        track_id t = trace->track[e];
        if (!is_work(trace->kind[e]) || late->suspects[t])
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        /* What is not recorded in order is only known once it is sorted. */
        bool is_suspect = start_ns < last[t].start_ns || last[t].end_ns > start_ns + OVERLAP_NS;
        if (is_suspect && is_sequential(trace, t))
            any = late->suspects[t] = true;
        last[t].start_ns = start_ns;
        last[t].end_ns = end_ns > last[t].end_ns ? end_ns : last[t].end_ns;
    }
    free(last);
    return any;
}

static int compare_stream_work(const void *left, const void *right)
{
    const struct stream_work *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static void collect_work(struct late_ends *late)
{
    const struct trace *trace = late->trace;
    for (event_id e = 0; e < trace->event_count; e++)
        if (late->suspects[trace->track[e]] && is_work(trace->kind[e]))
            *VEC_PUSH(&late->work) =
                (struct stream_work){ trace->track[e], e, trace_start_ns(trace, e), trace_end_ns(trace, e) };
    qsort(late->work.at, late->work.count, sizeof *late->work.at, compare_stream_work);
    late->is_late = mem_zalloc(late->work.count + 1, sizeof *late->is_late);
}

/* Nodes of a graph run side by side, and have its number. */
static bool are_of_one_launch(const struct trace *trace, event_id a, event_id b)
{
    int64_t one, other;
    return trace_arg(trace, ARG_CORRELATION, a, &one) && trace_arg(trace, ARG_CORRELATION, b, &other) &&
           one == other && one != 0;
}

/* The first work from I on that begins after the one at I, and is of another launch; END: none. */
static size_t follower_of(const struct late_ends *late, size_t i, size_t end)
{
    const struct stream_work *at = late->work.at;
    size_t next = i + 1;
    while (next < end && (at[next].start_ns == at[i].start_ns ||
                          are_of_one_launch(late->trace, at[i].event, at[next].event)))
        next++;
    return next;
}

/*
 * Mark the work from FIRST to END, of one stream, that lasts over the whole of a follower. False if the stream does not
 * run one after another: too many do, or others overlap as well. Where an end is too late, the work may have ended as
 * soon as it began: so what is bounded here leaves nothing to bound when it is read again.
 */
static bool mark_late(struct late_ends *late, size_t first, size_t end)
{
    const struct stream_work *at = late->work.at;
    size_t count = 0;
    int64_t last_ns = INT64_MIN,
            *first_end_ns =
                mem_alloc(mem_times(end - first + 1, sizeof *first_end_ns)); /* of I and what follows */
    first_end_ns[end - first] = INT64_MAX;
    for (size_t i = end; i-- > first;) {
        size_t next = follower_of(late, i, end);
        late->is_late[i] = next < end && at[i].end_ns > first_end_ns[next - first] &&
                           at[i].end_ns > at[next].start_ns + OVERLAP_NS;
        count += late->is_late[i];
        int64_t end_ns = late->is_late[i] ? at[i].start_ns : at[i].end_ns,
                after_ns = first_end_ns[i + 1 - first];
        first_end_ns[i - first] = end_ns < after_ns ? end_ns : after_ns;
    }
    free(first_end_ns);
    for (size_t i = first, before = end; i < end; i++) {
        if (late->is_late[i])
            continue;
        if (before < end && last_ns > at[i].start_ns + OVERLAP_NS &&
            !are_of_one_launch(late->trace, at[before].event, at[i].event))
            return false;
        if (at[i].end_ns > last_ns) {
            last_ns = at[i].end_ns;
            before = i;
        }
    }
    return count > 0 && count * COVERING_ONE_IN <= end - first;
}

/* Set the ends of the late work from FIRST to END, of one stream. LONGEST_NS, by name: of its other runs. */
static void bound_stream(struct late_ends *late, size_t first, size_t end, const int64_t *longest_ns)
{
    const struct trace *trace = late->trace;
    for (size_t i = first; i < end; i++) {
        const struct stream_work *work = &late->work.at[i];
        if (!late->is_late[i])
            continue;
        int64_t until_ns = late->work.at[follower_of(late, i, end)].start_ns - work->start_ns,
                usual_ns = longest_ns[trace->name[work->event]];
        late->dur_ns[work->event] = usual_ns >= 0 && usual_ns < until_ns ? usual_ns : until_ns;
        late->late_count[trace->tracks[work->track].file]++;
    }
}

/* By name: the longest run of work that is not late; -1: there is none. New; free with free(). */
static int64_t *longest_runs(const struct late_ends *late)
{
    const struct trace *trace = late->trace;
    bool *is_late = mem_zalloc(trace->event_count + 1, sizeof *is_late);
    int64_t *longest_ns = mem_alloc(mem_times(names_count(trace->names) + 1, sizeof *longest_ns));
    for (size_t i = 0; i < late->work.count; i++)
        is_late[late->work.at[i].event] = late->is_late[i];
    for (name_id id = 0; id < names_count(trace->names); id++)
        longest_ns[id] = -1;
    for (event_id e = 0; e < trace->event_count; e++)
        if (is_work(trace->kind[e]) && !is_late[e] && trace_dur_ns(trace, e) > longest_ns[trace->name[e]])
            longest_ns[trace->name[e]] = trace_dur_ns(trace, e);
    free(is_late);
    return longest_ns;
}

/* Mark the late work of all suspected streams. Is there any? */
static bool mark_streams(struct late_ends *late)
{
    bool any = false;
    for (size_t first = 0, end; first < late->work.count; first = end) {
        for (end = first; end < late->work.count && late->work.at[end].track == late->work.at[first].track;)
            end++;
        if (mark_late(late, first, end))
            any = true;
        else
            memset(late->is_late + first, false, end - first);
    }
    return any;
}

/* Have room for new durations. */
static void late_ends_open(struct late_ends *late)
{
    if (late->dur_ns)
        return;
    late->dur_ns = mem_alloc(mem_times(late->trace->event_count + 1, sizeof *late->dur_ns));
    for (event_id e = 0; e < late->trace->event_count; e++)
        late->dur_ns[e] = -1;
}

static void bound_streams(struct late_ends *late)
{
    int64_t *longest_ns = longest_runs(late);
    late_ends_open(late);
    for (size_t first = 0, end; first < late->work.count; first = end) {
        for (end = first; end < late->work.count && late->work.at[end].track == late->work.at[first].track;)
            end++;
        bound_stream(late, first, end, longest_ns);
    }
    free(longest_ns);
}

/* ---- ends behind the last wait ---- */

/* The last call of a file that waits for its device. */
struct last_wait {
    int64_t start_ns, end_ns;
    int32_t device; /* the only one; -1: none, or several */
    bool several;
};

static struct last_wait *find_last_waits(const struct trace *trace)
{
    struct last_wait *waits = mem_alloc(mem_times(trace->file_count + 1, sizeof *waits));
    for (size_t f = 0; f < trace->file_count; f++)
        waits[f] = (struct last_wait){ INT64_MIN, INT64_MAX, -1, false };
    for (track_id t = 0; t < trace->track_count; t++) {
        struct last_wait *wait = &waits[trace->tracks[t].file];
        int32_t device = trace->tracks[t].device;
        if (trace->tracks[t].kind != TRACK_STREAM || device < 0)
            continue;
        wait->several |= wait->device >= 0 && wait->device != device;
        wait->device = device;
    }
    bool *waits_for_device = mem_zalloc(names_count(trace->names) + 1, sizeof *waits_for_device), any = false;
    for (name_id id = 0; id < names_count(trace->names); id++)
        any |= waits_for_device[id] = strstr(names_text(trace->names, id), "DeviceSynchronize") != NULL;
    for (event_id e = 0; any && e < trace->event_count; e++) {
        struct last_wait *wait = &waits[trace->tracks[trace->track[e]].file];
        if (waits_for_device[trace->name[e]] && event_is_call(trace->kind[e]) &&
            trace_start_ns(trace, e) > wait->start_ns)
            *wait = (struct last_wait){ trace_start_ns(trace, e), trace_end_ns(trace, e), wait->device,
                                        wait->several };
    }
    free(waits_for_device);
    return waits;
}

/* Bound what ran when the host began its last wait for the device, and still runs after that returned. */
static void bound_behind_waits(struct late_ends *late)
{
    const struct trace *trace = late->trace;
    struct last_wait *waits = find_last_waits(trace);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t f = trace->tracks[trace->track[e]].file;
        const struct last_wait *wait = &waits[f];
        if (!is_work(trace->kind[e]) || wait->several || wait->start_ns == INT64_MIN ||
            trace_start_ns(trace, e) >= wait->start_ns ||
            trace_end_ns(trace, e) <= wait->end_ns + RETURN_NS || (late->dur_ns && late->dur_ns[e] >= 0))
            continue;
        late_ends_open(late);
        late->dur_ns[e] = wait->end_ns - trace_start_ns(trace, e);
        late->late_count[f]++;
    }
    free(waits);
}

static int64_t bounded_end(void *context, size_t e, int64_t dur_ns)
{
    const int64_t *bounded_ns = context;
    return bounded_ns[e] >= 0 ? bounded_ns[e] : dur_ns;
}

static void bound_late_ends(struct trace_builder *builder)
{
    struct trace *trace = builder->trace;
    struct late_ends late = { .trace = trace };
    late.suspects = mem_zalloc(trace->track_count + 1, sizeof *late.suspects);
    late.late_count = mem_zalloc(trace->file_count + 1, sizeof *late.late_count);
    if (find_suspects(&late)) {
        collect_work(&late);
        if (mark_streams(&late))
            bound_streams(&late);
    }
    bound_behind_waits(&late);
    if (late.dur_ns)
        packing_change(&builder->storage->dur_ns, bounded_end, late.dur_ns);
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (late.late_count[f])
            builder_add_last_notice(
                builder, f, lack_word(LACK_LATE_END),
                counted(
                    builder, late.late_count[f],
                    "operation reaches over its followers on the stream, or over a wait for the device, which cannot be; it is taken to end there, or sooner, and how long it took is not known",
                    "operations reach over their followers on the stream, or over a wait for the device, which cannot be; they are taken to end there, or sooner, and how long they took is not known"),
                late.late_count[f]);
    free(late.suspects);
    free(late.late_count);
    free(late.is_late);
    free(late.dur_ns);
    VEC_FREE(&late.work);
}

void builder_settle_times(struct trace_builder *builder)
{
    storage_lend(builder->trace);
    drop_all_untimed(builder);
    bound_late_ends(builder);
}
