/* One pass over the events; each name is classified once. */
#include "derive/host_state.h"

#include "trace/call_names.h"
#include "derive/communication.h"
#include "derive/gpu_names.h"
#include "derive/host_waits.h"
#include "trace/derived.h"

bool host_blocks_until_ready(const char *name)
{
    static const char *const parts[] = { "block_until_ready", "BlockHostUntil", "::Await" };
    static const char *const names[] = {
        "Acquire semaphore",       /* TPU: room for one more program in flight */
        "ComputeSemaphoreAcquire", /* GPU: the same */
        "Wait for usage holds",    /* of a buffer, before it is given away or freed */
        "Wait for donation holds",
        "np.asarray(jax.Array)", /* the array is computed, then copied to the host */
    };
    return ANY(i, sizeof parts / sizeof *parts, strstr(name, parts[i])) ||
           ANY(i, sizeof names / sizeof *names, strcmp(name, names[i]) == 0);
}

/* The activity of a name, by name id; HOST_ACTIVITIES: none. */
static uint8_t *classify_names(const struct names *names, bool of_calls)
{
    size_t count = names_count(names);
    uint8_t *activity = mem_alloc(count + 1);
    for (name_id id = 0; id < count; id++) {
        const char *name = names_text(names, id);
        enum call_sort sort = of_calls ? call_sort_of(name) : CALL_OTHER;
        activity[id] = sort == CALL_ALLOC || sort == CALL_HOST_ALLOC   ? HOST_ALLOCATION
                       : !of_calls && host_blocks_until_ready(name)    ? HOST_WAITING
                       : !of_calls && annotation_is_data_loading(name) ? HOST_DATA_LOADING
                       : !of_calls && operator_is_communication(name)  ? HOST_COMMUNICATION
                                                                       : HOST_ACTIVITIES;
    }
    return activity;
}

/* Let tracks that hold calls and operators only (not OWN, by track) wait during READY, by file. */
static void add_ready(struct host_state *host, const struct trace *trace, const struct intervals *ready,
                      const bool *own)
{
    for (track_id t = 0; t < host->thread_count; t++) {
        const struct intervals *set = &ready[trace->tracks[t].file];
        for (size_t i = 0; i < set->count && !own[t]; i++)
            intervals_add(&host->threads[t].in[HOST_WAITING], set->at[i].start_ns, set->at[i].end_ns);
    }
}

static void add_events(struct host_state *host, const struct trace *trace)
{
    SCOPED struct intervals *ready = mem_zalloc(trace->file_count + 1, sizeof *ready);
    SCOPED bool *own = mem_zalloc(trace->track_count + 1, sizeof *own);
    SCOPED uint8_t *of_call = classify_names(trace->names, true),
                   *of_region = classify_names(trace->names, false);
    for (event_id e = 0; e < trace->event_count; e++) {
        enum event_kind kind = trace->kind[e];
        uint8_t activity = event_is_call(kind) ? of_call[trace->name[e]]
                           : kind == EVENT_OP || kind == EVENT_ANNOTATION ||
                                   ((kind == EVENT_PYTHON || kind == EVENT_OTHER) &&
                                    of_region[trace->name[e]] == HOST_WAITING)
                               ? of_region[trace->name[e]]
                               : HOST_ACTIVITIES;
        struct intervals *set = activity < HOST_ACTIVITIES ? &host->threads[trace->track[e]].in[activity]
                                : kind == EVENT_OVERHEAD && !overhead_is_full_queue(trace_name(trace, e))
                                    ? &host->overhead[trace->tracks[trace->track[e]].file]
                                    : NULL;
        if (set)
            intervals_add(set, trace_start_ns(trace, e), trace_end_ns(trace, e));
        own[trace->track[e]] |= kind == EVENT_PYTHON || kind == EVENT_OTHER || kind == EVENT_ANNOTATION;
        if (set && activity == HOST_WAITING)
            intervals_add(&ready[trace->tracks[trace->track[e]].file], trace_start_ns(trace, e),
                          trace_end_ns(trace, e));
    }
    for (size_t f = 0; f < host->file_count; f++)
        intervals_merge(&ready[f]);
    add_ready(host, trace, ready, own);
    for (size_t f = 0; f < host->file_count; f++)
        intervals_release(&ready[f]);
}

static void add_waits(struct host_state *host, const struct trace *trace)
{
    const struct host_waits *waits = host_waits_of(trace);
    for (size_t i = 0; i < waits->count; i++)
        if (waits->at[i].kind != WAIT_PINNING)
            intervals_add(&host->threads[trace->track[waits->at[i].call]].in[HOST_WAITING],
                          trace_start_ns(trace, waits->at[i].call), trace_end_ns(trace, waits->at[i].call));
}

/* Make the sets of THREAD disjoint: each without the overhead and the earlier ones. */
static void separate(struct host_thread *thread, const struct intervals *overhead)
{
    struct intervals taken = { 0 };
    intervals_merge(&thread->in[HOST_WAITING]);
    intervals_union(&thread->in[HOST_WAITING], &taken, &thread->waiting);
    for (size_t a = 0; a < HOST_ACTIVITIES; a++) {
        struct intervals *set = &thread->in[a], rest = { 0 }, all = { 0 };
        if (set->count == 0)
            continue;
        intervals_merge(set);
        intervals_subtract(set, overhead, &rest);
        intervals_subtract(&rest, &taken, set);
        intervals_union(&taken, set, &all);
        EACH(intervals_release, &taken, &rest);
        taken = all;
    }
    intervals_release(&taken);
}

static void *host_state_derive(const struct trace *trace)
{
    struct host_state *host = arena_open(sizeof *host);
    host->thread_count = trace->track_count;
    host->file_count = trace->file_count;
    host->threads = arena_zalloc(arena_of(host), trace->track_count + 1, sizeof *host->threads);
    ARENA_OWNS_EACH(arena_of(host), host->threads, host->thread_count, waiting);
    for (size_t a = 0; a < HOST_ACTIVITIES; a++)
        ARENA_OWNS_EACH(arena_of(host), host->threads, host->thread_count, in[a]);
    host->overhead = arena_vectors(arena_of(host), trace->file_count + 1, sizeof *host->overhead);
    add_events(host, trace);
    add_waits(host, trace);
    for (size_t f = 0; f < host->file_count; f++)
        intervals_merge(&host->overhead[f]);
    for (track_id t = 0; t < host->thread_count; t++)
        separate(&host->threads[t], &host->overhead[trace->tracks[t].file]);
    return host;
}

DERIVED(host_state, host_state_of, host_state_derive);
