/*
 * settle_ends.c - bounds ends that cannot be, and leaves out records that were written twice, when a trace is finished.
 *
 * A kernel whose end is stamped late lasts over the work behind it on its stream. It ends where the next work of its stream
 * begins, or sooner if no other run of its name in its file takes so long.
 */
#include "trace/storage.h"

#include "base/rows.h"
#include "base/search.h"
#include "trace/arg_scan.h"
#include "trace/slice.h"

/* A wait for a device returns so long after the end of the work at most. */
#define RETURN_NS INT64_C(1000000)

/* Work of one stream may overlap so far: a dependent launch begins before its predecessor ends, and clocks jitter. */
#define OVERLAP_NS INT64_C(100000)

/* A stream of which more than one operation in so many covers others runs them side by side. */
enum { COVERING_ONE_IN = 3 };

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
    int64_t *late_ns;                /* by file: durations of these once they are bounded */
    int64_t *dur_ns;                 /* by event: to be set; NULL while none is late */
};

/* Lines of TensorFlow and JAX nest: loops hold their bodies. */
static bool is_sequential(const struct trace *trace, track_id t)
{
    enum trace_producer producer = trace->files[trace->tracks[t].file].producer;
    return trace->tracks[t].kind == TRACK_STREAM && producer != PRODUCER_TENSORFLOW &&
           producer != PRODUCER_JAX;
}

/* Files of whole microseconds have short work that begins and ends at the same moments. */
static bool has_time_of_its_own(int64_t start_ns, int64_t end_ns)
{
    int64_t dur_ns = end_ns - start_ns;
    return dur_ns > 1000 || (dur_ns > 0 && (start_ns % 1000 != 0 || dur_ns % 1000 != 0));
}

/* Mark the streams on which something may end later than what begins after it, by more than OVERLAP_NS, or may have the times of
 * another, with a longer one between them. */
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
        if (!event_is_gpu_work(trace->kind[e]) || late->suspects[t])
            continue;
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        /* What is not recorded in order is only known once it is sorted. */
        bool is_suspect = start_ns < last[t].start_ns || last[t].end_ns > start_ns + OVERLAP_NS ||
                          (start_ns == last[t].start_ns && end_ns <= last[t].end_ns &&
                           has_time_of_its_own(start_ns, end_ns));
        if (is_suspect && is_sequential(trace, t))
            any = late->suspects[t] = true;
        last[t].start_ns = start_ns;
        last[t].end_ns = end_ns > last[t].end_ns ? end_ns : last[t].end_ns;
    }
    free(last);
    return any;
}

static const struct key by_stream_work[] = { ASC(struct stream_work, track),
                                             ASC(struct stream_work, start_ns),
                                             DESC(struct stream_work, end_ns), ASC(struct stream_work, event),
                                             KEY_END };

static void collect_work(struct late_ends *late)
{
    const struct trace *trace = late->trace;
    for (event_id e = 0; e < trace->event_count; e++)
        if (late->suspects[trace->track[e]] && event_is_gpu_work(trace->kind[e]))
            *VEC_PUSH(&late->work) =
                (struct stream_work){ trace->track[e], e, trace_start_ns(trace, e), trace_end_ns(trace, e) };
    SORT(&late->work, by_stream_work);
    late->is_late = mem_zalloc(late->work.count + 1, sizeof *late->is_late);
}

static void late_ends_release(struct late_ends *late)
{
    EACH(free, late->suspects, late->late_count, late->late_ns, late->is_late, late->dur_ns);
    VEC_FREE(&late->work);
}

static void late_ends_init(struct late_ends *late, struct trace *trace)
{
    *late = (struct late_ends){ .trace = trace };
    late->suspects = mem_zalloc(trace->track_count + 1, sizeof *late->suspects);
    late->late_count = mem_zalloc(trace->file_count + 1, sizeof *late->late_count);
    late->late_ns = mem_zalloc(trace->file_count + 1, sizeof *late->late_ns);
    if (find_suspects(late))
        collect_work(late);
}

/* ---- records that were written twice ---- */

/* So many others of a stream may begin and end at the same moments between a record and its double. */
enum { DOUBLES_APART = 64 };

/* Are A and B, at the same time on one stream, of one name and one call? */
static bool are_one(const struct trace *trace, const struct stream_work *a, const struct stream_work *b)
{
    int64_t one = -1, other = -1;
    return a->track == b->track && a->start_ns == b->start_ns && a->end_ns == b->end_ns &&
           trace->name[a->event] == trace->name[b->event] && has_time_of_its_own(a->start_ns, a->end_ns) &&
           (trace_arg(trace, ARG_CORRELATION, a->event, &one),
            trace_arg(trace, ARG_CORRELATION, b->event, &other), one == other);
}

/* KEEP, by event, is made where one of the sorted WORK repeats another; they are counted by file. NULL: none does. */
static bool *find_doubles(const struct late_ends *late, uint64_t *doubles)
{
    const struct trace *trace = late->trace;
    bool *keep = NULL;
    for (size_t first = 0, i = 1; i < late->work.count; i++) {
        const struct stream_work *at = late->work.at;
        if (at[i].track != at[first].track || at[i].start_ns != at[first].start_ns)
            first = i;
        for (size_t k = i; k-- > first && i - k <= DOUBLES_APART;) {
            if (!are_one(trace, &at[k], &at[i]))
                continue;
            if (!keep) {
                keep = mem_alloc(trace->event_count + 1);
                memset(keep, true, trace->event_count + 1);
            }
            keep[at[i].event] = false;
            doubles[trace->tracks[at[i].track].file]++;
            break;
        }
    }
    return keep;
}

/* Drop all but the first of equal records. Were there any? */
static bool drop_doubles(struct trace_builder *builder, const struct late_ends *late)
{
    SCOPED uint64_t *doubles = mem_zalloc(builder->trace->file_count + 1, sizeof *doubles);
    SCOPED bool *keep = find_doubles(late, doubles);
    for (uint32_t f = 0; f < builder->trace->file_count; f++)
        if (doubles[f])
            builder_add_last_notice(
                builder, f, "doubled_work",
                builder_counted(
                    builder, doubles[f],
                    "operation of a device is in the file twice: the same call, stream, name and times; it counts once",
                    "operations of devices are in the file twice: the same call, stream, name and times; they count once"),
                doubles[f]);
    if (keep)
        trace_keep(builder->trace, &(struct trace_part){ .events = keep });
    return keep != NULL;
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

/* Mark the work from FIRST to END, of one stream, that lasts over the whole of a follower. False if the stream does not
 * run one after another: too many do, or others overlap as well. Where an end is too late, the work may have ended as
 * soon as it began: so what is bounded here leaves nothing to bound when it is read again. */
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

/* Set the ends of the late work from FIRST to END, of one stream. */
static void bound_stream(struct late_ends *late, size_t first, size_t end)
{
    for (size_t i = first; i < end; i++) {
        const struct stream_work *work = &late->work.at[i];
        if (!late->is_late[i])
            continue;
        late->late_count[late->trace->tracks[work->track].file] += late->dur_ns[work->event] < 0;
        late->dur_ns[work->event] = late->work.at[follower_of(late, i, end)].start_ns - work->start_ns;
    }
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
    late_ends_open(late);
    for (size_t first = 0, end; first < late->work.count; first = end) {
        for (end = first; end < late->work.count && late->work.at[end].track == late->work.at[first].track;)
            end++;
        bound_stream(late, first, end);
    }
}

/* A name of late work in a file, and its longest other run there; -1: there is none. */
struct late_name {
    uint32_t file;
    name_id name;
    int64_t longest_ns;
};

static const struct key by_file_name[] = { ASC(struct late_name, file), ASC(struct late_name, name),
                                           KEY_END };

/* The entry of the name of E, which is late somewhere, in the file of E; NULL: it is not late there. */
static struct late_name *late_name_of(const struct trace *trace, struct late_name *names, size_t count,
                                      event_id e)
{
    struct late_name key = { .file = trace->tracks[trace->track[e]].file, .name = trace->name[e] };
    size_t i = PLACE(k, count, rows_compare(&names[k], &key, by_file_name) < 0);
    return i < count && rows_compare(&names[i], &key, by_file_name) == 0 ? &names[i] : NULL;
}

/* Let no late work take longer than the longest other run of its name in its file; where there is none, in all files: ranks
 * may differ in speed. */
static void shorten_to_usual(struct late_ends *late)
{
    const struct trace *trace = late->trace;
    SCOPED VEC_OF(struct late_name) names = { 0 };
    SCOPED int64_t *longest_ns = mem_alloc(mem_times(names_count(trace->names) + 1, sizeof *longest_ns));
    SCOPED bool *is_late = mem_zalloc(names_count(trace->names) + 1, sizeof *is_late);
    for (name_id id = 0; id < names_count(trace->names); id++)
        longest_ns[id] = -1;
    for (event_id e = 0; e < trace->event_count; e++)
        if (late->dur_ns[e] >= 0) {
            is_late[trace->name[e]] = true;
            *VEC_PUSH(&names) = (struct late_name){ trace->tracks[trace->track[e]].file, trace->name[e], -1 };
        }
    SORT(&names, by_file_name);
    names.count = rows_unique(names.at, names.count, sizeof *names.at, by_file_name);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!is_late[trace->name[e]] || !event_is_gpu_work(trace->kind[e]) || late->dur_ns[e] >= 0)
            continue;
        int64_t dur_ns = trace_dur_ns(trace, e);
        struct late_name *own = late_name_of(trace, names.at, names.count, e);
        if (own && dur_ns > own->longest_ns)
            own->longest_ns = dur_ns;
        if (dur_ns > longest_ns[trace->name[e]])
            longest_ns[trace->name[e]] = dur_ns;
    }
    for (event_id e = 0; e < trace->event_count; e++) {
        if (late->dur_ns[e] < 0)
            continue;
        const struct late_name *own = late_name_of(trace, names.at, names.count, e);
        int64_t usual_ns = own && own->longest_ns >= 0 ? own->longest_ns : longest_ns[trace->name[e]];
        if (usual_ns >= 0 && usual_ns < late->dur_ns[e])
            late->dur_ns[e] = usual_ns;
        late->late_ns[trace->tracks[trace->track[e]].file] += late->dur_ns[e];
    }
}

/* ---- ends behind the last wait, or behind the recording ---- */

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

/* When the profiler stopped, in FILE; INT64_MAX: not recorded. */
static int64_t last_window_end(const struct trace *trace, const struct trace_file *file)
{
    int64_t end_ns = INT64_MIN;
    for (event_id e = file->first_event; e < file->first_event + file->event_count && file->has_window; e++)
        if (trace->kind[e] == EVENT_SPAN && trace_end_ns(trace, e) > end_ns)
            end_ns = trace_end_ns(trace, e);
    return file->has_window && end_ns != INT64_MIN ? end_ns : INT64_MAX;
}

/* Work that ends behind the last wait for its device, or behind the recording. */
struct ending {
    int64_t number; /* of its call; 0: not known */
    event_id event;
    bool had_begun; /* when the wait began: it, or its call */
};

struct endings {
    VEC_OF(struct ending); /* by number */
};

static const struct key by_number[] = { ASC(struct ending, number), KEY_END };

/* Mark those whose call began before the last wait did. */
static void look_for_calls(const struct trace *trace, const struct last_wait *waits, struct endings *endings)
{
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    SORT(endings, by_number);
    for (event_id e = 0; e < trace->event_count; e++) {
        struct ending wanted = { 0 };
        uint32_t f = trace->tracks[trace->track[e]].file;
        if (!event_is_call(trace->kind[e]) || trace_start_ns(trace, e) >= waits[f].start_ns ||
            !arg_scan_get(&correlations, e, &wanted.number) || wanted.number <= 0)
            continue;
        struct ending *found = rows_find(endings->at, endings->count, sizeof wanted, by_number, &wanted);
        for (; found && found < endings->at + endings->count && found->number == wanted.number; found++)
            found->had_begun |= trace->tracks[trace->track[found->event]].file == f;
    }
}

/* What ends more than RETURN_NS behind the last wait for the device or the recording. */
static struct endings find_endings(const struct late_ends *late, const struct last_wait *waits,
                                   const int64_t *stops_ns)
{
    const struct trace *trace = late->trace;
    struct endings endings = { 0 };
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_gpu_work(trace->kind[e]))
            continue;
        uint32_t f = trace->tracks[trace->track[e]].file;
        const struct last_wait *wait = &waits[f];
        bool has_wait = !wait->several && wait->start_ns != INT64_MIN;
        if (!has_wait && stops_ns[f] == INT64_MAX)
            continue;
        int64_t start_ns = trace_start_ns(trace, e), until_ns = stops_ns[f];
        bool may_wait = has_wait && start_ns < wait->end_ns;
        if (may_wait && wait->end_ns < until_ns)
            until_ns = wait->end_ns;
        if (until_ns == INT64_MAX || trace_end_ns(trace, e) <= until_ns + RETURN_NS ||
            (late->dur_ns && late->dur_ns[e] >= 0))
            continue;
        *VEC_PUSH(&endings) = (struct ending){ trace_arg_or(trace, ARG_CORRELATION, e, 0), e,
                                               may_wait && start_ns < wait->start_ns };
    }
    return endings;
}

/* Bound what was launched when the host began its last wait for the device and still runs after that returned, or runs after the
 * profiler stopped. */
static void bound_behind_waits(struct late_ends *late)
{
    const struct trace *trace = late->trace;
    SCOPED struct last_wait *waits = find_last_waits(trace);
    SCOPED int64_t *stops_ns = mem_alloc(mem_times(trace->file_count + 1, sizeof *stops_ns));
    for (size_t f = 0; f < trace->file_count; f++)
        stops_ns[f] = last_window_end(trace, &trace->files[f]);
    SCOPED struct endings endings = find_endings(late, waits, stops_ns);
    if (endings.count)
        look_for_calls(trace, waits, &endings);
    for (size_t i = 0; i < endings.count; i++) {
        event_id e = endings.at[i].event;
        uint32_t f = trace->tracks[trace->track[e]].file;
        int64_t until_ns = endings.at[i].had_begun && !waits[f].several && waits[f].end_ns < stops_ns[f]
                               ? waits[f].end_ns
                               : stops_ns[f];
        if (until_ns == INT64_MAX || trace_end_ns(trace, e) <= until_ns + RETURN_NS ||
            trace_start_ns(trace, e) > until_ns)
            continue;
        late_ends_open(late);
        late->dur_ns[e] = until_ns - trace_start_ns(trace, e);
        late->late_count[f]++;
    }
}

/* Let the work of streams end where it is bounded so far: what is read again then finds nothing more to bound. */
static void shorten_work(struct late_ends *late)
{
    for (size_t i = 0; late->dur_ns && i < late->work.count; i++) {
        struct stream_work *work = &late->work.at[i];
        if (late->dur_ns[work->event] >= 0)
            work->end_ns = work->start_ns + late->dur_ns[work->event];
    }
    if (late->dur_ns)
        SORT(&late->work, by_stream_work);
}

static int64_t bounded_end(void *context, size_t e, int64_t dur_ns)
{
    const int64_t *bounded_ns = context;
    return bounded_ns[e] >= 0 ? bounded_ns[e] : dur_ns;
}

void builder_settle_ends(struct trace_builder *builder)
{
    struct trace *trace = builder->trace;
    struct late_ends late;
    late_ends_init(&late, trace);
    if (late.work.count && drop_doubles(builder, &late)) { /* events have other numbers now */
        late_ends_release(&late);
        late_ends_init(&late, trace);
    }
    bound_behind_waits(&late);
    shorten_work(&late);
    if (late.work.count && mark_streams(&late))
        bound_streams(&late);
    if (late.dur_ns)
        shorten_to_usual(&late);
    for (uint32_t f = 0; f < trace->file_count; f++)
        builder->storage->files.at[f].lost.late_ns = late.late_ns[f];
    if (late.dur_ns)
        packing_change(&builder->storage->dur_ns, bounded_end, late.dur_ns);
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (late.late_count[f])
            builder_add_last_notice(
                builder, f, lack_word(LACK_LATE_END),
                builder_counted(
                    builder, late.late_count[f],
                    "operation reaches over its followers on the stream, over a wait for the device, or over the end of the recording, which cannot be; it is taken to end there, or sooner, and how long it took is not known",
                    "operations reach over their followers on the stream, over a wait for the device, or over the end of the recording, which cannot be; they are taken to end there, or sooner, and how long they took is not known"),
                late.late_count[f]);
    late_ends_release(&late);
}
