/*
 * edits_contention.c - what company costs: computation that gets communication beside it takes longer, and without contention what
 * ran beside other work takes less.
 *
 * Of each step: E, communication without computation beside it, of several ranks the transfers only, would take E s_c beside computation
 * (s_c: the factor of collectives). Computation that has no company yet, R in total, has room for it: each kernel takes s times as long
 * beside it. Kernels are stretched by what fits; what does not fit stays exposed, so that they are stretched by that as well.
 */
#include "whatif/editing.h"

#include "derive/step_list.h"
#include "whatif/edits.h"
#include <math.h>

/* What a kernel, judged, costs beside a class. */
struct judged {
    uint32_t device; /* of gpu_events.devices; ANY_DEVICE: measured in another recording */
    name_id name;
    int64_t kind, overlapped_ns; /* enum beside_kind */
    uint32_t class;
    double factor; /* 1 or more */
};

#define ANY_DEVICE UINT32_MAX

static const struct key by_kernel[] = { ASC(struct judged, device), ASC(struct judged, name),
                                        ASC(struct judged, kind), DESC(struct judged, overlapped_ns),
                                        KEY_END };
static const struct key of_kernel[] = { ASC(struct judged, device), ASC(struct judged, name), KEY_END };

/* The judged pairs of a recording, by kernel. */
struct judged_pairs {
    VEC_OF(struct judged);
};

const struct contention *edit_contention(const struct edit *edit, const struct trace *trace)
{
    return edit->measured ? edit->measured : contention_of(trace);
}

static double clip_factor(double factor)
{
    return isnan(factor) ? 1 : fmax(1, factor);
}

static struct judged_pairs judged_of(const struct contention *contention, const struct trace *trace)
{
    struct judged_pairs all = { 0 };
    FOR_EACH(pair, &contention->pairs) {
        const struct names *names = contention->trace->names;
        bool own = contention->trace == trace;
        name_id name = own ? pair->name_id
                           : names_find(trace->names, names_text(names, pair->name_id),
                                        names_length(names, pair->name_id));
        if (pair->judged && name != NAME_NONE)
            *VEC_PUSH(&all) = (struct judged){ own ? pair->device_index : ANY_DEVICE,
                                               name,
                                               contention_pair_kind(contention, pair),
                                               pair->overlapped_ns,
                                               pair->class,
                                               clip_factor(pair->factor) };
    }
    SORT(&all, by_kernel);
    return all;
}

/* The first of the kernel NAME of DEVICE, that beside communication before others; NULL: none is judged. */
static const struct judged *judged_find(const struct judged_pairs *all, uint32_t device, name_id name)
{
    struct judged wanted = { .device = device, .name = name };
    return rows_find(all->at, all->count, sizeof wanted, of_kernel, &wanted);
}

/* What communication costs computation, and computation communication. */
struct contention_factors {
    struct judged_pairs judged;
    bool any_device;
    double all, collectives; /* of kernels that are not judged; of collectives */
    double given;            /* by the user; 0: measured */
    double stretch;          /* of factor - 1, for a bound */
};

/* The factor of collectives beside computation: of those that are judged, by their number; 1 if none is. */
static double factor_of_collectives(const struct contention *contention)
{
    double sum = 0, count = 0;
    if (contention->trace->file_count < 2 && contention->beside->gpu->device_count < 2)
        return 1;
    struct contended_collectives *all = contended_collectives_open(contention, NULL);
    for (size_t i = 0; i < all->rows.count; i++)
        if (all->rows.at[i].judged) {
            sum += clip_factor(all->rows.at[i].factor) * (double)all->rows.at[i].count;
            count += (double)all->rows.at[i].count;
        }
    arena_free(all);
    return count > 0 ? sum / count : 1;
}

/* The factor of SUM, or the end of its interval that BOUND names; 1 or more. */
static double factor_at_bound(const struct contention_sum *sum, int bound)
{
    return clip_factor(bound < 0 ? sum->factor_low : bound > 0 ? sum->factor_high : sum->factor);
}

/* Release its JUDGED. */
static struct contention_factors factors_of(const struct editing *editing)
{
    const struct contention *contention = edit_contention(editing->edit, editing->trace);
    struct contention_factors factors = { .any_device = contention->trace != editing->trace,
                                          .given = editing->edit->factor,
                                          .all = 1,
                                          .collectives = factor_of_collectives(contention),
                                          .stretch = 1 };
    const struct contention_sum *sum = contention_communication(contention);
    if (factors.given > 0 || !sum || sum->judged_pairs == 0)
        return factors;
    factors.judged = judged_of(contention, editing->trace);
    factors.all = clip_factor(sum->factor);
    double bound = factor_at_bound(sum, editing->edit->bound);
    if (factors.all > 1)
        factors.stretch = (bound - 1) / (factors.all - 1);
    else
        factors.all = bound;
    return factors;
}

/* How many times longer the kernel NAME of device DEVICE takes beside communication. */
static double factor_of(const struct contention_factors *factors, uint32_t device, name_id name)
{
    if (factors->given > 0)
        return fmax(1, factors->given);
    const struct judged *found =
        judged_find(&factors->judged, factors->any_device ? ANY_DEVICE : device, name);
    double factor = found && found->kind == BESIDE_COMMUNICATION ? found->factor : factors->all;
    return 1 + (factor - 1) * factors->stretch;
}

/* What a step has, in ns. */
struct step_need {
    double exposed, alone; /* communication; computation without company */
    double room;           /* for company: each kernel's time alone x its factor */
    double fits, rest;     /* share of the room that is taken; what stays exposed, per time alone */
};

struct device_sets {
    struct intervals computing, communicating;
};

static struct device_sets sets_of(const struct gpu_events *gpu, const struct gpu_device *device)
{
    struct device_sets sets = { 0 };
    for (size_t i = device->first; i < device->first + device->count; i++) {
        struct intervals *set = gpu_work_communicates(gpu->work[i]) ? &sets.communicating
                                : gpu->work[i] == GPU_MEMCPY        ? NULL
                                                                    : &sets.computing;
        if (set)
            intervals_add(set, trace_start_ns(gpu->trace, gpu->event[i]),
                          trace_end_ns(gpu->trace, gpu->event[i]));
    }
    intervals_merge(&sets.computing);
    intervals_merge(&sets.communicating);
    return sets;
}

/* When the transfer of WORK begins: with it, or when the last rank is there. */
static int64_t transfer_start(const struct replay_graph *graph, size_t work, int64_t start_ns, int64_t end_ns)
{
    moment_id end = replay_work_end(graph, work);
    struct edge_range range = replay_edges_of(graph, end);
    for (uint32_t k = range.first; k < range.end; k++)
        if (replay_edge_at(graph, k).relation == RELATION_COLLECTIVE) {
            int64_t from_ns = end_ns - (replay_moment_ns(graph, end) -
                                        replay_moment_ns(graph, replay_edge_at(graph, k).from));
            return from_ns > start_ns ? from_ns < end_ns ? from_ns : end_ns : start_ns;
        }
    return start_ns;
}

static size_t step_of(const struct editing *editing, const struct step_list *steps, size_t work,
                      const struct step **last)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    *last = step_list_of_work(steps, editing->trace, gpu->event[work], gpu->call[work], *last);
    return *last ? (size_t)(*last - steps->at) + 1 : 0;
}

/* Add up what each step of DEVICE needs and has; moments with several operations count for the first. */
static void find_needs(const struct editing *editing, const struct contention_factors *factors, size_t device,
                       const struct device_sets *sets, struct step_need *needs)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    const struct step_list *steps = step_list_of(editing->trace);
    const struct step *last = NULL;
    const struct gpu_device *of = &gpu->devices[device];
    int64_t computed_ns = INT64_MIN, communicated_ns = INT64_MIN;
    size_t near[2] = { 0 };
    for (size_t i = of->first; i < of->first + of->count; i++) {
        event_id e = gpu->event[i];
        bool communicates = gpu_work_communicates(gpu->work[i]);
        int64_t start_ns = trace_start_ns(editing->trace, e), end_ns = trace_end_ns(editing->trace, e);
        int64_t *until_ns = communicates ? &communicated_ns : &computed_ns;
        if (gpu->work[i] == GPU_MEMCPY)
            continue;
        if (communicates)
            start_ns = transfer_start(editing->graph, i, start_ns, end_ns);
        start_ns = start_ns > *until_ns ? start_ns : *until_ns;
        *until_ns = end_ns > *until_ns ? end_ns : *until_ns;
        if (start_ns >= end_ns)
            continue;
        const struct intervals *others = communicates ? &sets->computing : &sets->communicating;
        double free_ns = (double)(end_ns - start_ns -
                                  intervals_length_near(others, start_ns, end_ns, &near[communicates]));
        struct step_need *need = &needs[step_of(editing, steps, i, &last)];
        if (communicates) {
            need->exposed += free_ns;
            continue;
        }
        need->alone += free_ns;
        need->room += free_ns * factor_of(factors, (uint32_t)device, editing->trace->name[e]);
    }
}

static void stretch_device(const struct editing *editing, const struct contention_factors *factors,
                           size_t device)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    const struct step_list *steps = step_list_of(editing->trace);
    const struct step *last = NULL;
    const struct gpu_device *of = &gpu->devices[device];
    struct device_sets sets = sets_of(gpu, of);
    struct step_need *needs = mem_zalloc(steps->count + 1, sizeof *needs);
    size_t near = 0;
    find_needs(editing, factors, device, &sets, needs);
    for (size_t s = 0; s <= steps->count; s++) {
        double wanted = needs[s].exposed * factors->collectives;
        needs[s].fits = needs[s].room > 0 ? fmin(1, wanted / needs[s].room) : 0;
        needs[s].rest = needs[s].alone > 0 ? fmax(0, wanted - needs[s].room) / needs[s].alone : 0;
    }
    for (size_t i = of->first; i < of->first + of->count && sets.communicating.count; i++) {
        event_id e = gpu->event[i];
        int64_t start_ns = trace_start_ns(editing->trace, e), end_ns = trace_end_ns(editing->trace, e);
        const struct step_need *need = &needs[step_of(editing, steps, i, &last)];
        if (gpu_work_communicates(gpu->work[i]) || gpu->work[i] == GPU_MEMCPY || start_ns >= end_ns ||
            need->exposed <= 0)
            continue;
        double beside = (double)intervals_length_near(&sets.communicating, start_ns, end_ns, &near) /
                        (double)(end_ns - start_ns),
               slower = factor_of(factors, (uint32_t)device, editing->trace->name[e]) - 1;
        factors_scale(&editing->changes->work, i, 1 + (1 - beside) * (need->fits * slower + need->rest));
    }
    free(needs);
    intervals_release(&sets.computing);
    intervals_release(&sets.communicating);
}

void edit_take_contention(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    bool communicates = ANY(i, gpu->count, gpu_work_communicates(gpu->work[i]));
    if (!communicates)
        return;
    struct contention_factors factors = factors_of(editing);
    for (size_t d = 0; d < gpu->device_count; d++)
        stretch_device(editing, &factors, d);
    VEC_FREE(&factors.judged);
}

/* Work takes d (1 - b f): what ran beside other work and is judged. */
void edit_no_contention(const struct editing *editing)
{
    const struct contention *contention = contention_of(editing->trace);
    const struct beside *beside = contention->beside;
    const struct gpu_events *gpu = beside->gpu;
    struct judged_pairs judged = judged_of(contention, editing->trace);
    double *stretch = mem_zalloc(beside->classes.count + 1, sizeof *stretch); /* by class: for a bound */
    FOR_EACH(sum, &contention->sums) {
        double factor = factor_at_bound(sum, 0);
        if (sum->class != BESIDE_ANY)
            stretch[sum->class] =
                factor > 1 ? (factor_at_bound(sum, editing->edit->bound) - 1) / (factor - 1) : 1;
    }
    for (size_t s = 0; s < beside->streams->count; s++)
        for (size_t i = 0; i < beside->streams->at[s].count; i++) {
            uint32_t work = beside->streams->position[beside->streams->at[s].first + i];
            event_id e = gpu->event[work];
            int64_t start_ns = trace_start_ns(editing->trace, e), end_ns = trace_end_ns(editing->trace, e);
            double kept = 1;
            if (gpu->work[work] != GPU_COMPUTATION || start_ns >= end_ns)
                continue;
            uint32_t device = beside->streams->at[s].device;
            const struct judged *at = judged_find(&judged, device, editing->trace->name[e]);
            for (; at && at < judged.at + judged.count && at->device == device &&
                   at->name == editing->trace->name[e];
                 at++)
                kept -= contention_lost_share(1 + (at->factor - 1) * stretch[at->class]) *
                        (double)beside_time(beside, s, at->class, start_ns, end_ns) /
                        (double)(end_ns - start_ns);
            if (kept < 1)
                editing_scale_work(editing, work, fmax(kept, 0));
        }
    free(stretch);
    VEC_FREE(&judged);
}
