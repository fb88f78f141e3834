/* edits_fuse.c - several operations on a stream are done by one kernel, or several operators of the host by one. */
#include "whatif/editing.h"

#include "analyze/host_chains.h"
#include "analyze/sequences/sequences.h"
#include "analyze/unfused_attention.h"

static bool is_gone(const void *context, event_id e)
{
    return ((const bool *)context)[e];
}

/* The operations marked in GONE, by work, are not launched any more. A call of several operations still launches the others. */
static void drop_launches(const struct editing *editing, const bool *gone)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    if (!ANY(i, gpu->count, gone[i]))
        return;
    bool *gone_calls = mem_zalloc(editing->trace->event_count + 1, sizeof *gone_calls);
    for (size_t i = 0; i < gpu->count; i++)
        if (gone[i] && gpu->call[i] != EVENT_NONE)
            gone_calls[gpu->call[i]] = true;
    for (size_t i = 0; i < gpu->count; i++)
        if (!gone[i] && gpu->call[i] != EVENT_NONE)
            gone_calls[gpu->call[i]] = false;
    struct intervals *ranges = editing_ranges(editing, is_gone, gone_calls);
    editing_scale_ranges(editing, ranges, 0);
    arena_free(ranges);
    free(gone_calls);
}

/* All of operator E takes FACTOR. */
static void scale_operator(const struct editing *editing, event_id e, double factor)
{
    const struct replay_graph *graph = editing->graph;
    uint32_t thread = graph->thread_of_track[editing->trace->track[e]];
    if (thread == UINT32_MAX)
        return;
    changes_scale_range(editing->changes, thread, replay_event_start(graph, e), replay_event_end(graph, e),
                        factor);
    editing->effect->time_ns += trace_dur_ns(editing->trace, e);
    editing->effect->count++;
}

void edit_fuse(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    const struct sequences *sequences = sequences_gains_of(editing->trace);
    bool *gone = mem_zalloc(gpu->count + 1, sizeof *gone);
    for (size_t k = 0; k < sequences->fused.count; k++) {
        size_t i = sequences->fused.at[k].work;
        int64_t work_ns = trace_dur_ns(editing->trace, gpu->event[i]),
                less_ns = sequences->fused.at[k].saved_ns;
        gone[i] = true;
        if (less_ns > 0 && work_ns > 0)
            editing_scale_work(editing, i, less_ns < work_ns ? 1 - (double)less_ns / (double)work_ns : 0);
    }
    drop_launches(editing, gone);
    free(gone);
    struct host_chains chains = host_chains_find(editing->trace);
    for (size_t i = 0; i < chains.count; i++)
        scale_operator(editing, chains.at[i].op, chains.at[i].factor);
    VEC_FREE(&chains);
}

void edit_fuse_attention(const struct editing *editing)
{
    struct unfused_attention found = unfused_attention_find(editing->trace);
    bool *gone = mem_zalloc(editing->graph->gpu->count + 1, sizeof *gone);
    FOR_EACH(part, &found) {
        if (part->work == UINT32_MAX) {
            scale_operator(editing, part->event, part->factor);
            continue;
        }
        editing_scale_work(editing, part->work, part->factor);
        gone[part->work] = part->factor == 0;
    }
    drop_launches(editing, gone);
    free(gone);
    VEC_FREE(&found);
}
