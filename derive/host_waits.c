/* Per file, the work that ended during a synchronisation is sorted by its end; other work was not waited for. The work
 * that a synchronisation waited for is then found by a binary search for the last work that ended before it, and a few
 * steps back over work of other streams or launched later. The number of steps is bounded, so that time is linear in
 * synchronisations and kernels. */
#include "derive/host_waits.h"

#include "trace/call_names.h"
#include "derive/copy_names.h"
#include "base/rows.h"
#include "base/search.h"
#include "trace/derived.h"

enum { MOST_STEPS_BACK = 256 };

/* Work in order of its end; on ties, in order of start. No more, as it may be all work of the trace. */
struct ended {
    int64_t end_ns;
    uint32_t position; /* in gpu_events */
};

struct ended_list {
    VEC_OF(struct ended);
    bool has_work; /* of devices, waited for or not */
};

/* The stream that a synchronisation waits for. */
struct synced {
    event_id call;
    track_id track; /* TRACK_NONE: all of the file */
};

struct search {
    const struct gpu_events *gpu;
    const struct trace *trace;
    const struct attribution *launches;
    struct ended_list *ended;     /* by file, sorted by end */
    VEC_OF(struct synced) synced; /* sorted by call */
    VEC_OF(event_id) sync_calls;
    struct intervals *syncing; /* by file: when any thread was in a synchronisation */
    bool *lacks_records;       /* by file */
    uint8_t *is_pageable;      /* by name of a copy: 0 not determined, 1 no, 2 yes */
};

static const struct key by_synced[] = { ASC(struct synced, call), KEY_END };

static void add_wait(struct host_waits *waits, event_id call, event_id work, enum host_wait_kind kind)
{
    *VEC_PUSH(waits) = (struct host_wait){ .call = call, .work = work, .kind = kind };
}

/* One pass over all events: find the calls that synchronise, those that pin memory, and the streams that
 * synchronisations waited for, from the events that the profiler records of them. */
static void host_waits_find_calls(struct search *search, const unsigned char *sorts, struct host_waits *waits)
{
    const struct trace *trace = search->trace;
    search->syncing = mem_zalloc(trace->file_count + 1, sizeof *search->syncing);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (event_is_call(trace->kind[e])) {
            if (sorts[trace->name[e]] == CALL_HOST_ALLOC) {
                add_wait(waits, e, EVENT_NONE, WAIT_PINNING);
            } else if (sorts[trace->name[e]] == CALL_SYNC) {
                *VEC_PUSH(&search->sync_calls) = e;
                intervals_add(&search->syncing[trace->tracks[trace->track[e]].file], trace_start_ns(trace, e),
                              trace_end_ns(trace, e));
            }
        } else if (trace->kind[e] == EVENT_SYNC) {
            event_id call = attribution_call(search->launches, e);
            bool one_stream = trace->tracks[trace->track[e]].stream >= 0;
            if (call != EVENT_NONE)
                *VEC_PUSH(&search->synced) =
                    (struct synced){ call, one_stream ? trace->track[e] : TRACK_NONE };
        }
    }
    for (uint32_t f = 0; f < trace->file_count; f++)
        intervals_merge(&search->syncing[f]);
    if (search->synced.count)
        SORT(&search->synced, by_synced);
}

/* Is LIST in order of start, on ties of event, as work of one device is? */
static bool starts_ascend(const struct search *search, const struct ended_list *list)
{
    const event_id *event = search->gpu->event;
    event_id before = list->count ? event[list->at[0].position] : EVENT_NONE;
    for (size_t i = 1; i < list->count; i++) {
        event_id e = event[list->at[i].position];
        int64_t before_ns = trace_start_ns(search->trace, before),
                start_ns = trace_start_ns(search->trace, e);
        if (start_ns < before_ns || (start_ns == before_ns && e < before))
            return false;
        before = e;
    }
    return true;
}

static void sort_ends(struct search *search)
{
    const struct trace *trace = search->trace;
    const event_id *event = search->gpu->event;
    search->ended = mem_zalloc(trace->file_count + 1, sizeof *search->ended);
    size_t near = 0; /* of the work before */
    for (size_t i = 0; i < search->gpu->count; i++) {
        event_id e = event[i];
        uint32_t file = trace->tracks[trace->track[e]].file;
        int64_t end_ns = trace_end_ns(trace, e);
        search->ended[file].has_work = true;
        /* A call waits for work that ends after its start and not after its end. */
        if (intervals_length_near(&search->syncing[file], end_ns - 1, end_ns, &near) > 0)
            *VEC_PUSH(&search->ended[file]) = (struct ended){ end_ns, (uint32_t)i };
    }
    FOR_EACH_OF(list, search->ended, trace->file_count) {
        if (!starts_ascend(search, list)) {
            SORT_BY(list->at, list->count, i, event[list->at[i].position]);
            SORT_BY(list->at, list->count, i, trace_start_ns(trace, event[list->at[i].position]));
        }
        SORT_BY(list->at, list->count, i, list->at[i].end_ns);
    }
}

/* The streams that the profiler recorded for CALL, usually one: *COUNT of them. */
static const struct synced *synced_by(const struct search *search, event_id call, size_t *count)
{
    const struct synced *at = search->synced.at;
    size_t i = PLACE(k, search->synced.count, at[k].call < call);
    for (*count = 0; i + *count < search->synced.count && at[i + *count].call == call; ++*count)
        if (at[i + *count].track == TRACK_NONE) {
            *count = 0; /* it waited for all streams */
            break;
        }
    return *count ? at + i : NULL;
}

/* Is WORK on one of the COUNT streams at SYNCED? None means any. */
static bool is_synced(const struct trace *trace, const struct synced *synced, size_t count, event_id work)
{
    return ANY(i, count, trace->track[work] == synced[i].track) || count == 0;
}

/* The work that CALL, a synchronisation, waited for. */
static event_id waited_for(const struct search *search, event_id call)
{
    const struct trace *trace = search->trace;
    int64_t start_ns = trace_start_ns(trace, call), end_ns = trace_end_ns(trace, call);
    size_t synced_count;
    const struct synced *synced = synced_by(search, call, &synced_count);
    const struct ended_list *list = &search->ended[trace->tracks[trace->track[call]].file];
    size_t i; /* the first work that ends after the call */
    SEARCH(i, list->count, list->at[i].end_ns <= end_ns);
    for (size_t steps = 0; i-- > 0 && list->at[i].end_ns > start_ns && steps < MOST_STEPS_BACK; steps++) {
        event_id work = search->gpu->event[list->at[i].position],
                 launch = search->gpu->call[list->at[i].position]; /* none: before recording began */
        if ((launch == EVENT_NONE || trace_start_ns(trace, launch) < start_ns) &&
            is_synced(trace, synced, synced_count, work))
            return work;
    }
    return EVENT_NONE;
}

static bool is_pageable(const struct search *search, event_id copy)
{
    const struct trace *trace = search->trace;
    const char *memory = trace_arg_text(trace, ARG_COPY_MEMORY, copy);
    if (memory)
        return copy_kind_with((struct copy_kind){ COPY_UNKNOWN, MEMORY_NONE }, memory).memory ==
               MEMORY_PAGEABLE;
    uint8_t *known = &search->is_pageable[trace->name[copy]];
    if (*known == 0)
        *known = copy_kind_of(trace_name(trace, copy)).memory == MEMORY_PAGEABLE ? 2 : 1;
    return *known == 2;
}

/* Copies that block the call that made them. */
static void find_blocking_copies(const struct search *search, const unsigned char *sorts,
                                 struct host_waits *waits)
{
    const struct trace *trace = search->trace;
    for (size_t i = 0; i < search->gpu->count; i++) {
        if (search->gpu->work[i] != GPU_MEMCPY)
            continue;
        event_id copy = search->gpu->event[i], call = search->gpu->call[i];
        if (call == EVENT_NONE)
            continue;
        if (sorts[trace->name[call]] == CALL_COPY_SYNC)
            add_wait(waits, call, copy, WAIT_SYNC_COPY);
        else if (sorts[trace->name[call]] == CALL_COPY && is_pageable(search, copy))
            add_wait(waits, call, copy, WAIT_PAGEABLE_COPY);
    }
}

/* Is work missing from the file of CALL, so that it may have waited for that? Not where only marks of steps are missing. */
static bool lacks_work(const struct search *search, event_id call)
{
    uint32_t file = search->trace->tracks[search->trace->track[call]].file;
    return search->lacks_records[file] || !search->ended[file].has_work;
}

/* New, by file, free(): did the profiler lose records that may be work of devices? */
static bool *find_lost_records(const struct trace *trace)
{
    bool *lacks = mem_zalloc(trace->file_count + 1, sizeof *lacks);
    FOR_EACH_OF(notice, trace->notices, trace->notice_count) {
        bool of_work = lacks_of_word(notice->kind) & (LACKS_END | LACKS_RECORDS) &&
                       strcmp(notice->kind, lack_word(LACK_MISSING_STEPS)) != 0;
        if (!notice->of_all)
            lacks[notice->file] |= of_work;
    }
    return lacks;
}

static void resolve_syncs(const struct search *search, struct host_waits *waits)
{
    const struct trace *trace = search->trace;
    for (size_t i = 0; i < search->sync_calls.count; i++) {
        event_id call = search->sync_calls.at[i], work = waited_for(search, call);
        add_wait(waits, call, work,
                 work == EVENT_NONE ? (lacks_work(search, call) ? WAIT_FOR_UNKNOWN : WAIT_FOR_NOTHING)
                 : trace->kind[work] == EVENT_MEMCPY ? WAIT_FOR_COPY
                                                     : WAIT_FOR_KERNEL);
    }
}

static const struct key by_waits[] = { ASC(struct host_wait, call), ASC(struct host_wait, work), KEY_END };

/* A call counts once, however many copies it made: for the first to begin. */
static void drop_repeats(const struct trace *trace, struct host_waits *waits)
{
    if (waits->count)
        SORT(waits, by_waits);
    size_t kept = 0;
    FOR_EACH(wait, waits) {
        if (kept == 0 || waits->at[kept - 1].call != wait->call)
            waits->at[kept++] = *wait;
        else if (trace_start_ns(trace, wait->work) < trace_start_ns(trace, waits->at[kept - 1].work))
            waits->at[kept - 1].work = wait->work;
    }
    waits->count = kept;
}

/* Drop a call inside another that waits, such as a driver call in a runtime call: it does not count twice. */
static void drop_nested(const struct trace *trace, struct host_waits *waits)
{
    SORT_BY(waits->at, waits->count, i, waits->at[i].call); /* enclosing calls before enclosed ones */
    SORT_BY(waits->at, waits->count, i, ~trace_dur_ns(trace, waits->at[i].call));
    SORT_BY(waits->at, waits->count, i, trace_start_ns(trace, waits->at[i].call));
    SORT_BY(waits->at, waits->count, i, trace->track[waits->at[i].call]);
    size_t kept = 0;
    int64_t until_ns = INT64_MIN; /* the latest end on the thread */
    for (size_t i = 0; i < waits->count; i++) {
        event_id call = waits->at[i].call;
        if (kept == 0 || trace->track[waits->at[kept - 1].call] != trace->track[call])
            until_ns = INT64_MIN;
        if (trace_end_ns(trace, call) <= until_ns)
            continue;
        until_ns = trace_end_ns(trace, call);
        waits->at[kept++] = waits->at[i];
    }
    waits->count = kept;
}

/* When the first work of a file was launched, and the last kernel. */
struct launched {
    int64_t first_ns, last_kernel_ns;
};

/* New, by file; free(). */
static struct launched *find_launched(const struct gpu_events *gpu)
{
    const struct trace *trace = gpu->trace;
    struct launched *launched = mem_alloc(mem_times(trace->file_count + 1, sizeof *launched));
    for (uint32_t f = 0; f < trace->file_count; f++)
        launched[f] = (struct launched){ INT64_MAX, INT64_MIN };
    for (size_t i = 0; i < gpu->count; i++) {
        if (gpu->call[i] == EVENT_NONE)
            continue;
        struct launched *of = &launched[trace->tracks[trace->track[gpu->call[i]]].file];
        int64_t start_ns = trace_start_ns(trace, gpu->call[i]);
        of->first_ns = start_ns < of->first_ns ? start_ns : of->first_ns;
        if (gpu_work_is_kernel(gpu->work[i]) && start_ns > of->last_kernel_ns)
            of->last_kernel_ns = start_ns;
    }
    return launched;
}

static void mark_ends(struct host_waits *waits, const struct gpu_events *gpu)
{
    const struct trace *trace = gpu->trace;
    SCOPED struct launched *launched = find_launched(gpu);
    FOR_EACH(wait, waits) {
        const struct launched *of = &launched[trace->tracks[trace->track[wait->call]].file];
        int64_t start_ns = trace_start_ns(trace, wait->call);
        bool is_sync =
            wait->kind == WAIT_FOR_COPY || wait->kind == WAIT_FOR_KERNEL || wait->kind == WAIT_FOR_NOTHING;
        bool of_earlier =
            wait->work != EVENT_NONE && attribution_call(attribution_of(trace), wait->work) == EVENT_NONE;
        if (!is_sync || of->first_ns == INT64_MAX) /* no launches were recorded */
            continue;
        wait->at_begin = start_ns < of->first_ns || of_earlier;
        wait->at_end = start_ns > of->last_kernel_ns;
    }
}

static struct host_waits *find_waits(const struct gpu_events *gpu)
{
    struct search search = { .gpu = gpu, .trace = gpu->trace, .launches = attribution_of(gpu->trace) };
    struct host_waits *waits = arena_open(sizeof *waits);
    ARENA_OWNS(arena_of(waits), &waits->at);
    SCOPED unsigned char *sorts = call_sorts_open(gpu->trace->names);
    search.is_pageable = mem_zalloc(names_count(gpu->trace->names) + 1, 1);
    search.lacks_records = find_lost_records(gpu->trace);
    host_waits_find_calls(&search, sorts, waits);
    sort_ends(&search);
    find_blocking_copies(&search, sorts, waits);
    resolve_syncs(&search, waits);
    drop_repeats(gpu->trace, waits);
    drop_nested(gpu->trace, waits);
    if (waits->count)
        SORT(waits, by_waits);
    mark_ends(waits, gpu);
    for (uint32_t f = 0; f < gpu->trace->file_count; f++) {
        VEC_FREE(&search.ended[f]);
        intervals_release(&search.syncing[f]);
    }
    EACH(free, search.ended, search.syncing, search.lacks_records, search.is_pageable);
    EACH(VEC_FREE, &search.sync_calls, &search.synced);
    return waits;
}

static void *host_waits_derive(const struct trace *trace)
{
    return find_waits(gpu_events_of(trace));
}

DERIVED(host_waits, host_waits_of, host_waits_derive);

bool operator_reads_scalar(const char *name)
{
    static const char *const names[] = { "aten::_local_scalar_dense", "aten::item", "aten::is_nonzero" };
    return ANY(i, sizeof names / sizeof *names, strcmp(name, names[i]) == 0);
}
