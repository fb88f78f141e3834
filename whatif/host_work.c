/* host_work.c - see host_work.h. */
#include "whatif/host_work.h"

#include "derive/communication.h"
#include "derive/gpu_names.h"
#include "derive/host_state.h"
#include "derive/step_list.h"
#include "whatif/editing.h"
#include <string.h>

/* By name, what is known of it: 0 at first. */
struct host_names {
    const struct trace *trace;
    uint8_t *known;
};

enum { LEAST_MEAN_NS = 100000 };

/* An operator of a library, such as aten: no range, no node of the backward pass, nothing that waits for others. */
static bool may_compute(const char *name)
{
    return strstr(name, "::") && strncmp(name, "autograd::", strlen("autograd::")) != 0 &&
           !operator_is_communication(name) && !annotation_is_data_loading(name);
}

struct host_work host_work_find(const struct replay_graph *graph)
{
    const struct trace *trace = graph->trace;
    size_t names = names_count(trace->names);
    struct host_work work = { .computes = mem_zalloc(names + 1, sizeof *work.computes),
                              .own_ns = mem_zalloc(names + 1, sizeof *work.own_ns) };
    if (graph->gpu->count == 0)
        return work;
    bool *launches = mem_zalloc(names + 1, sizeof *launches);
    int64_t *calls = mem_zalloc(names + 1, sizeof *calls);
    for (size_t i = 0; i < graph->gpu->count; i++)
        if (graph->gpu->op[i] != EVENT_NONE)
            launches[trace->name[graph->gpu->op[i]]] = true;
    for (event_id e = 0; e < trace->event_count; e++)
        calls[trace->name[e]] += trace->kind[e] == EVENT_OP;
    for (moment_id m = 1; m < graph->host_count; m++) {
        event_id span = graph->inner[m];
        if (span != EVENT_NONE && trace->kind[span] == EVENT_OP && editing_piece_is_own(graph, m))
            work.own_ns[trace->name[span]] += replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1);
    }
    for (name_id id = 0; id < names; id++)
        work.computes[id] = !launches[id] && work.own_ns[id] >= LEAST_MEAN_NS &&
                            work.own_ns[id] / calls[id] >= LEAST_MEAN_NS &&
                            may_compute(names_text(trace->names, id));
    free(calls);
    free(launches);
    return work;
}

void host_work_release(struct host_work *work)
{
    free(work->computes);
    free(work->own_ns);
}

/* ---- pauses ---- */

/* Frames of torch's profiler, which starts and stops it. */
static bool is_of_profiler(const char *name)
{
    return strstr(name, "torch/profiler/") || strstr(name, "torch/autograd/profiler");
}

static bool has_other_name(const void *context, event_id e)
{
    const struct trace *trace = ((const struct host_names *)context)->trace;
    uint8_t *known = &((const struct host_names *)context)->known[trace->name[e]];
    enum { NO = 1, YES };
    if (*known == 0) {
        const char *name = trace_name(trace, e);
        *known = annotation_is_data_loading(name) || operator_is_communication(name) || is_of_profiler(name)
                     ? YES
                     : NO;
    }
    return *known == YES;
}

/* Does the gap from START to END of FILE lie in a step, where there are steps? */
static bool is_in_step(const struct step_list *steps, uint32_t file, int64_t start_ns, int64_t end_ns)
{
    const struct step *step = step_list_at(steps, file, start_ns);
    return steps->count == 0 || (step && end_ns <= step->end_ns);
}

static bool is_pause(const struct replay_graph *graph, const struct intervals *others, size_t thread, moment_id m)
{
    int64_t start_ns = replay_moment_ns(graph, m - 1), end_ns = replay_moment_ns(graph, m);
    uint32_t file = graph->trace->tracks[graph->threads[thread].track].file;
    int64_t shift_ns = graph->shift_ns[file];
    return graph->inner[m] == EVENT_NONE && end_ns - start_ns >= HOST_PAUSE_NS &&
           editing_piece_is_own(graph, m) &&
           2 * intervals_length_within(&others[thread], start_ns, end_ns) < end_ns - start_ns &&
           2 * intervals_length_within(&host_state_of(graph->trace)->overhead[file], start_ns - shift_ns,
                                       end_ns - shift_ns) <
               end_ns - start_ns &&
           is_in_step(step_list_of(graph->trace), file, start_ns - shift_ns, end_ns - shift_ns);
}

struct host_pauses host_pauses_find(const struct replay_graph *graph)
{
    struct host_pauses pauses = { 0 };
    struct changes *none = changes_open(graph);
    struct edit_effect ignored = { 0, 0 };
    struct host_names names = { graph->trace, mem_zalloc(names_count(graph->trace->names) + 1, 1) };
    const struct editing editing = { NULL, graph, graph->trace, none, &ignored };
    struct intervals *others = editing_ranges(&editing, has_other_name, &names);
    for (size_t t = 0; t < graph->thread_count; t++)
        for (moment_id m = graph->threads[t].first + 1;
             m < graph->threads[t].first + graph->threads[t].count; m++)
            if (is_pause(graph, others, t, m))
                *VEC_PUSH(&pauses) = m;
    editing_free_ranges(&editing, others);
    free(names.known);
    changes_free(none);
    return pauses;
}
