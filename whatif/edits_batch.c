/*
 * edits_batch.c - a larger batch: what grows with its samples, and what does not.
 *
 * Launches and other calls stay, as do collectives of parameters, the optimizer and the accumulation of gradients. Kernels, copies
 * and operators that compute on the host grow: at most as much as the batch. At least, a kernel whose operations are known takes
 * what the device needs at its peak; another one grows once its threads fill the device. An operator on the host grows half as much
 * at least, as caches and threads are used better, beyond what every call takes.
 */
#include "whatif/editing.h"

#include "analyze/roofline.h"
#include "analyze/step_phases.h"
#include "derive/copy_names.h"
#include "derive/gpu_names.h"
#include "trace/arg_scan.h"
#include "whatif/host_work.h"
#include <ctype.h>

enum {
    THREADS_OF_SM = 2048, /* that an SM holds at once: NVIDIA's and AMD's of data centers */
    OPERATOR_NS = 10000,  /* of an operator on the host: what it takes whatever the size */
};

/* By name; and by the event's kind. */
struct batch_names {
    const struct trace *trace;
    bool *keeps;   /* the optimizer's, and what accumulates gradients */
    bool *loading; /* waits for the next batch */
    bool alone;    /* the loop loads each batch itself */
    bool *moves;   /* kernels that send activations to other ranks */
};

static struct batch_names batch_names_of(const struct trace *trace)
{
    size_t count = names_count(trace->names) + 1;
    struct batch_names names = { trace, mem_zalloc(count, sizeof *names.keeps),
                                 mem_zalloc(count, sizeof *names.loading), false,
                                 mem_zalloc(count, sizeof *names.moves) };
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        names.keeps[id] = step_phases_are_optimizer(name) || strstr(name, "AccumulateGrad") ||
                          strstr(name, "multi_tensor_apply") || strstr(name, "multi_tensor_adam");
        names.loading[id] = annotation_is_data_loading(name);
        names.alone |= names.loading[id] && strstr(name, "_SingleProcess");
        names.moves[id] = strstr(name, "SendRecv") || strstr(name, "AllToAll") || strstr(name, "alltoall");
    }
    return names;
}

static void batch_names_forget(struct batch_names *names)
{
    free(names->keeps);
    free(names->loading);
    free(names->moves);
}

static bool keeps_its_time(const void *context, event_id e)
{
    const struct batch_names *names = context;
    return names->keeps[names->trace->name[e]];
}

static bool loads(const void *context, event_id e)
{
    const struct batch_names *names = context;
    return names->loading[names->trace->name[e]];
}

/* The product of the numbers in TEXT, "[128, 1, 1]"; 0: there are none. */
static double product_of(const char *text)
{
    double product = 0;
    while (text && *text) {
        char *end;
        if (isdigit((unsigned char)*text)) {
            product = (product == 0 ? 1 : product) * strtod(text, &end);
            text = end;
        } else {
            text++;
        }
    }
    return product;
}

/* The least and the most that work grows to, as a factor. */
struct growth {
    double least, most;
};

/* Of BOUND -1 the least, of 1 the most, of 0 their mean. */
static double growth_at(struct growth growth, int bound)
{
    return bound < 0 ? growth.least : bound > 0 ? growth.most : (growth.least + growth.most) / 2;
}

struct batch_work {
    const struct editing *editing;
    const struct batch_names *names;
    const struct intervals *kept; /* by thread: the optimizer's */
    const struct roofline *roofline;
    struct arg_scan blocks;
};

/* What share of the time that kernel I takes grows with the batch at least. */
static double growing_share(struct batch_work *work, size_t i)
{
    const struct trace *trace = work->editing->trace;
    event_id e = work->editing->graph->gpu->event[i];
    uint32_t number = work->roofline->calls.of_work[i];
    const struct roofline_call *call = number ? &work->roofline->calls.at[number - 1] : NULL;
    double at_peak_ns = call && call->time_ns > 0 ? roofline_at_peak_ns(call) : NAN;
    if (call && !isnan(at_peak_ns) && at_peak_ns > 0)
        return at_peak_ns < (double)call->time_ns ? at_peak_ns / (double)call->time_ns : 1;
    double threads = arg_scan_decimal(&work->blocks, e) * product_of(trace_arg_text(trace, ARG_BLOCK, e));
    return isnan(threads) || threads <= 0 ? 0 : threads < THREADS_OF_SM ? threads / THREADS_OF_SM : 1;
}

static struct growth growth_of_work(struct batch_work *work, size_t i)
{
    static const struct growth none = { 1, 1 };
    const struct gpu_events *gpu = work->editing->graph->gpu;
    double factor = work->editing->edit->factor;
    event_id e = gpu->event[i], call = gpu->call[i];
    name_id name = work->editing->trace->name[e];
    if (gpu_work_communicates(gpu->work[i]))
        return work->names->moves[name] ? (struct growth){ factor, factor } : none;
    if (work->names->keeps[name] || (call != EVENT_NONE && editing_holds(work->editing, work->kept, call)))
        return none;
    if (gpu->work[i] == GPU_MEMSET)
        return (struct growth){ 1, factor };
    if (gpu->work[i] == GPU_MEMCPY)
        return copy_kind_of(names_text(work->editing->trace->names, name)).direction == COPY_HTOD
                   ? (struct growth){ factor, factor }
                   : (struct growth){ 1, factor };
    double least = factor * growing_share(work, i);
    return (struct growth){ least > 1 ? least : 1, factor };
}

static void grow_work(const struct editing *editing, const struct batch_names *names,
                      const struct intervals *kept)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    struct selection *all =
        selection_open(editing->trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    struct batch_work work = { editing, names, kept,
                               roofline_open(editing->trace, all, ROOFLINE_BY_DEFAULT, NULL),
                               arg_scan_of(editing->trace, ARG_BLOCKS_PER_SM) };
    for (size_t i = 0; i < gpu->count; i++) {
        double factor = growth_at(growth_of_work(&work, i), editing->edit->bound);
        if (factor != 1)
            editing_scale_work(editing, i, factor);
    }
    arena_free(work.roofline);
    arena_free(all);
}

/* Operators that compute on the host: all of a program without devices. */
static void grow_host(const struct editing *editing, const struct intervals *kept,
                      const struct intervals *loading)
{
    const struct replay_graph *graph = editing->graph;
    const struct trace *trace = editing->trace;
    const struct host_work *computing = host_work_of(graph);
    double factor = editing->edit->factor;
    for (moment_id m = 1; m < graph->host_count; m++) {
        event_id op = graph->inner[m];
        if (op == EVENT_NONE || trace->kind[op] != EVENT_OP || !editing_piece_is_own(graph, m) ||
            (graph->gpu->count && !host_work_holds(computing, graph, m)) ||
            editing_holds(editing, kept, op) || editing_holds(editing, loading, op))
            continue;
        double length_ns = (double)(replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1));
        if (length_ns <= 0)
            continue;
        double overhead = length_ns < OPERATOR_NS ? 1 : OPERATOR_NS / length_ns;
        struct growth growth = { overhead + (1 + (factor - 1) / 2) * (1 - overhead), factor };
        editing_scale_piece(editing, m, growth_at(growth, editing->edit->bound));
        editing->effect->count++;
    }
}

void edit_batch(const struct editing *editing)
{
    double factor = editing->edit->factor;
    struct edit_effect ignored = { 0 };
    struct editing around = *editing;
    around.effect = &ignored;
    struct batch_names names = batch_names_of(editing->trace);
    struct intervals *kept = editing_ranges(&around, keeps_its_time, &names);
    struct intervals *loading = editing_ranges(&around, loads, &names);
    if (editing->graph->gpu->count)
        grow_work(editing, &names, kept);
    grow_host(editing, kept, loading);
    /* Workers that load ahead may keep up. */
    editing_scale_ranges(
        editing, loading,
        growth_at((struct growth){ names.alone ? factor : 1, factor }, editing->edit->bound));
    arena_free(kept);
    arena_free(loading);
    batch_names_forget(&names);
}
