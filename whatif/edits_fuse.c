/* edits_fuse.c - neighbours on a stream that one kernel could do are one. */
#include "whatif/editing.h"

#include "analyze/sequences/sequences.h"

/* By event: is it a call whose work is now part of another's? A call of several operations still launches the others. */
static bool *find_calls(const struct editing *editing, const struct sequences *sequences)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    uint32_t *operations = mem_zalloc(editing->trace->event_count + 1, sizeof *operations);
    bool *gone = mem_zalloc(editing->trace->event_count + 1, sizeof *gone);
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE)
            operations[gpu->call[i]]++;
    for (size_t i = 0; i < sequences->fused.count; i++) {
        event_id call = sequences->fused.at[i].call;
        if (call != EVENT_NONE)
            gone[call] = operations[call] == 1;
    }
    free(operations);
    return gone;
}

static bool is_gone(const void *context, event_id e)
{
    return ((const bool *)context)[e];
}

void edit_fuse(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    struct selection *all =
        selection_open(editing->trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    struct sequences *sequences =
        sequences_analyze(editing->trace, all, 0, &sequence_defaults, &(struct tpa_error){ 0 });
    int64_t *saved_ns = mem_zalloc(editing->trace->event_count + 1, sizeof *saved_ns);
    for (size_t i = 0; i < sequences->fused.count; i++)
        saved_ns[sequences->fused.at[i].event] = sequences->fused.at[i].saved_ns;
    for (size_t i = 0; i < gpu->count; i++) {
        int64_t work_ns = trace_dur_ns(editing->trace, gpu->event[i]), less_ns = saved_ns[gpu->event[i]];
        if (less_ns > 0 && work_ns > 0)
            editing_scale_work(editing, i, less_ns < work_ns ? 1 - (double)less_ns / (double)work_ns : 0);
    }
    bool *gone = find_calls(editing, sequences);
    struct intervals *ranges = editing_ranges(editing, is_gone, gone);
    editing_scale_ranges(editing, ranges, 0);
    editing_free_ranges(editing, ranges);
    free(gone);
    free(saved_ns);
    sequences_free(sequences);
    selection_free(all);
}
