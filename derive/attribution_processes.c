/*
 * attribution_processes.c - see attribution_processes.h.
 *
 * Correlations and ids are numbers of one process. A file usually holds one process; if several were merged into one
 * file, their numbers collide, and GPU work, whose tracks are those of devices, has to be assigned to one of them.
 */
#include "derive/attribution_processes.h"

#include "base/memory.h"
#include "base/rows.h"
#include "base/search.h"
#include "trace/arg_scan.h"
#include <stdlib.h>

/* ---- processes ---- */

/* A track, to be sorted by file, then by pid. */
struct pid_track {
    const struct track *track;
    track_id id;
};

static const struct key by_pid[] = { ASC_VIA(struct pid_track, track, struct track, file),
                                     ASC_VIA(struct pid_track, track, struct track, pid),
                                     ASC_VIA(struct pid_track, track, struct track, pid_text), KEY_END };

static const struct key by_pid_and_id[] = { ASC_VIA(struct pid_track, track, struct track, file),
                                            ASC_VIA(struct pid_track, track, struct track, pid),
                                            ASC_VIA(struct pid_track, track, struct track, pid_text),
                                            ASC(struct pid_track, id), KEY_END };

/* New; all tracks, pid by pid. */
static struct pid_track *tracks_by_pid(const struct trace *trace)
{
    struct pid_track *tracks = mem_alloc(mem_times(trace->track_count + 1, sizeof *tracks));
    for (track_id t = 0; t < trace->track_count; t++)
        tracks[t] = (struct pid_track){ &trace->tracks[t], t };
    SORT_ARRAY(tracks, trace->track_count, by_pid_and_id);
    return tracks;
}

/* The end of the tracks of the pid at FIRST; *MARKED is set if MARKS has any of them. */
static size_t end_of_pid(const struct pid_track *tracks, size_t count, size_t first, const bool *marks,
                         bool *marked)
{
    size_t next = first;
    *marked = false;
    for (; next < count && rows_compare(&tracks[first], &tracks[next], by_pid) == 0; next++)
        *marked |= marks[tracks[next].id];
    return next;
}

void launches_describe_processes(struct attribution *launches, const bool *holds_numbers)
{
    const struct trace *trace = launches->trace;
    struct pid_track *tracks = tracks_by_pid(trace);
    size_t next = 0, end;
    launches->process_of = mem_alloc(mem_times(trace->track_count + 1, sizeof *launches->process_of));
    for (uint32_t i = 0; i < trace->file_count; i++) {
        struct file_launches *file = &launches->files[i];
        file->first_process = launches->process_count;
        for (; next < trace->track_count && tracks[next].track->file == i; next = end) {
            bool is_process;
            end = end_of_pid(tracks, trace->track_count, next, holds_numbers, &is_process);
            for (size_t t = next; t < end; t++)
                launches->process_of[tracks[t].id] =
                    file->first_process + (is_process ? file->process_count : 0);
            file->process_count += is_process;
        }
        if (file->process_count == 0)
            file->process_count = 1;
        launches->process_count += file->process_count;
    }
    launches->processes = mem_zalloc(launches->process_count + 1, sizeof *launches->processes);
    free(tracks);
}

static const struct key by_call_number[] = { ASC(struct numbered_event, number), KEY_END };

/* The number of calls whose number is used by several processes. */
static uint64_t count_shared(const struct attribution *launches, const struct file_launches *file)
{
    const struct trace *trace = launches->trace;
    VEC_OF(struct numbered_event) calls = { 0 };
    for (size_t p = file->first_process; p < file->first_process + file->process_count; p++) {
        const struct number_table *table = &launches->processes[p].calls;
        struct arg_scan scan = arg_scan_of(trace, ARG_CORRELATION);
        for (size_t i = 0; i < table->count; i++) {
            struct numbered_event *call = VEC_PUSH(&calls);
            call->event = table->events[i];
            arg_scan_get(&scan, call->event, &call->number);
        }
    }
    SORT(&calls, by_call_number);
    uint64_t shared = 0;
    for (size_t first = 0, next; first < calls.count; first = next) {
        bool several = false;
        size_t process = launches->process_of[trace->track[calls.at[first].event]];
        for (next = first; next < calls.count && calls.at[next].number == calls.at[first].number; next++)
            several |= launches->process_of[trace->track[calls.at[next].event]] != process;
        shared += several ? next - first : 0;
    }
    VEC_FREE(&calls);
    return shared;
}

/* ---- assigning GPU work ---- */

/*
 * A call explains work that has its number, began after it, and was not made for another operator; among those of
 * several processes, the one that began last explains it. The device tracks of one pid belong to the process whose
 * calls explain most of their work. Work that its device's process does not explain at all is explained by another.
 */

enum { WORK_SAMPLED = 512 }; /* operations examined per device pid, which is enough to decide */

/* The call of PROCESS that explains E, as above; EVENT_NONE if none does. */
static event_id explaining_call(const struct attribution *launches, size_t process, event_id e,
                                int64_t correlation, const int64_t *external_id)
{
    const struct trace *trace = launches->trace;
    const struct number_table *calls = &launches->processes[process].calls;
    int64_t at = number_table_find(calls, correlation), id;
    if (at < 0 || trace_start_ns(trace, calls->events[at]) > trace_start_ns(trace, e))
        return EVENT_NONE;
    bool of_other =
        external_id && trace_arg(trace, ARG_EXTERNAL_ID, calls->events[at], &id) && id != *external_id;
    return of_other ? EVENT_NONE : calls->events[at];
}

static const struct key by_begin[] = { ASC(struct shared_call, start_ns), DESC(struct shared_call, process),
                                       KEY_END };

static const struct key by_number_and_start[] = { ASC(struct shared_call, number),
                                                  ASC(struct shared_call, start_ns),
                                                  DESC(struct shared_call, process), KEY_END };

static const struct key by_call_id[] = { ASC(struct shared_call, number),   ASC(struct shared_call, has_id),
                                         ASC(struct shared_call, id),       ASC(struct shared_call, start_ns),
                                         DESC(struct shared_call, process), KEY_END };

/* Index the calls of all processes of FILE: for each process, the first call of each number. */
static void index_calls(const struct attribution *launches, struct file_launches *file)
{
    const struct trace *trace = launches->trace;
    VEC_OF(struct shared_call) calls = { 0 };
    for (size_t p = file->first_process; p < file->first_process + file->process_count; p++) {
        const struct number_table *table = &launches->processes[p].calls;
        struct arg_scan scan = arg_scan_of(trace, ARG_CORRELATION);
        for (size_t i = 0; i < table->count; i++) {
            event_id e = table->events[i];
            struct shared_call call = { .start_ns = trace_start_ns(trace, e), .process = p, .event = e };
            arg_scan_get(&scan, e, &call.number);
            if (number_table_find(table, call.number) != (int64_t)i)
                continue;
            call.has_id = trace_arg(trace, ARG_EXTERNAL_ID, e, &call.id);
            *VEC_PUSH(&calls) = call;
        }
    }
    file->call_count = calls.count;
    file->by_number = calls.at;
    file->by_id = mem_alloc(mem_times(calls.count + 1, sizeof *file->by_id));
    for (size_t i = 0; i < calls.count; i++)
        file->by_id[i] = calls.at[i];
    if (calls.count > 1) {
        SORT_ARRAY(file->by_number, calls.count, by_number_and_start);
        SORT_ARRAY(file->by_id, calls.count, by_call_id);
    }
}

/* The last of COUNT sorted CALLS that does not come after WANTED by KEYS; NULL if there is none. */
static const struct shared_call *last_up_to(const struct shared_call *calls, size_t count,
                                            const struct shared_call *wanted, const struct key *keys)
{
    size_t i;
    SEARCH(i, count, rows_compare(&calls[i], wanted, keys) <= 0);
    return i ? &calls[i - 1] : NULL;
}

/* The call of any process of FILE that explains E, and its process in *PROCESS; EVENT_NONE if none does. */
static event_id best_explanation(const struct attribution *launches, const struct file_launches *file,
                                 event_id e, int64_t correlation, const int64_t *external_id, size_t *process)
{
    const struct shared_call *best = NULL;
    struct shared_call key = { .number = correlation,
                               .start_ns = trace_start_ns(launches->trace, e) }; /* of process 0 */
    for (int has_id = 0; has_id < (external_id ? 2 : 1); has_id++) {
        key.has_id = has_id;
        key.id = has_id ? *external_id : 0;
        const struct shared_call *found =
            external_id ? last_up_to(file->by_id, file->call_count, &key, by_call_id)
                        : last_up_to(file->by_number, file->call_count, &key, by_number_and_start);
        bool fits = found && found->number == correlation &&
                    (!external_id || (found->has_id == key.has_id && (!has_id || found->id == key.id)));
        if (fits && (!best || rows_compare(found, best, by_begin) > 0))
            best = found;
    }
    if (best)
        *process = best->process;
    return best ? best->event : EVENT_NONE;
}

/* The process of FILE that explains most of WORK, COUNT operations of one device; on ties the first. */
static size_t process_of_work(const struct attribution *launches, const struct file_launches *file,
                              const event_id *work, size_t count)
{
    size_t *explained = mem_zalloc(file->process_count, sizeof *explained), best = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t correlation, id;
        size_t process;
        if (!trace_arg(launches->trace, ARG_CORRELATION, work[i], &correlation))
            continue;
        bool has_id = trace_arg(launches->trace, ARG_EXTERNAL_ID, work[i], &id);
        if (best_explanation(launches, file, work[i], correlation, has_id ? &id : NULL, &process) !=
            EVENT_NONE)
            explained[process - file->first_process]++;
    }
    for (size_t p = 1; p < file->process_count; p++)
        if (explained[p] > explained[best])
            best = p;
    free(explained);
    return file->first_process + best;
}

/* Operations of one device. */
struct work {
    VEC_OF(event_id) sample;
};

/* New; the first operations of each track that is a device in a file of several processes. */
static struct work *work_of_devices(const struct attribution *launches)
{
    const struct trace *trace = launches->trace;
    struct work *work = mem_zalloc(trace->track_count + 1, sizeof *work);
    for (event_id e = 0; e < trace->event_count; e++) {
        track_id track = trace->track[e];
        if (event_is_launched(trace->kind[e]) && work[track].sample.count < WORK_SAMPLED &&
            launches->files[trace->tracks[track].file].process_count > 1)
            *VEC_PUSH(&work[track].sample) = e;
    }
    return work;
}

/* Assign the devices of a file of several processes. */
static void settle_devices(struct attribution *launches, const bool *holds_numbers)
{
    const struct trace *trace = launches->trace;
    struct pid_track *tracks = tracks_by_pid(trace);
    struct work *work = work_of_devices(launches);
    for (size_t first = 0, next; first < trace->track_count; first = next) {
        const struct file_launches *file = &launches->files[tracks[first].track->file];
        bool is_process;
        next = end_of_pid(tracks, trace->track_count, first, holds_numbers, &is_process);
        if (is_process || file->process_count == 1)
            continue;
        struct work all = { 0 };
        for (size_t t = first; t < next; t++)
            for (size_t i = 0; i < work[tracks[t].id].sample.count && all.sample.count < WORK_SAMPLED; i++)
                *VEC_PUSH(&all.sample) = work[tracks[t].id].sample.at[i];
        size_t owner = process_of_work(launches, file, all.sample.at, all.sample.count);
        for (size_t t = first; t < next; t++)
            launches->process_of[tracks[t].id] = owner;
        VEC_FREE(&all.sample);
    }
    for (track_id t = 0; t < trace->track_count; t++)
        VEC_FREE(&work[t].sample);
    free(work);
    free(tracks);
}

void launches_settle_devices(struct attribution *launches, const bool *holds_numbers)
{
    bool any = false;
    for (uint32_t i = 0; i < launches->trace->file_count; i++) {
        struct file_launches *file = &launches->files[i];
        if (file->process_count == 1)
            continue;
        any = true;
        file->shared_calls = count_shared(launches, file);
        index_calls(launches, file);
    }
    if (any)
        settle_devices(launches, holds_numbers);
}

event_id launches_find_call(const struct attribution *launches, event_id e, int64_t correlation,
                            const int64_t *external_id, size_t *process)
{
    const struct trace *trace = launches->trace;
    const struct track *track = &trace->tracks[trace->track[e]];
    const struct file_launches *file = &launches->files[track->file];
    *process = launches->process_of[trace->track[e]];
    event_id call = explaining_call(launches, *process, e, correlation, external_id);
    if (call != EVENT_NONE)
        return call;
    size_t own = *process;
    call = best_explanation(launches, file, e, correlation, external_id, process);
    if (call != EVENT_NONE)
        return call;
    /* Clocks of host and device may differ: the call may begin after its work. */
    int64_t at = number_table_find(&launches->processes[own].calls, correlation);
    return at < 0 ? EVENT_NONE : launches->processes[own].calls.events[at];
}
