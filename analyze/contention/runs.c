#include "analyze/contention/contention.h"

#include "analyze/contention/strata.h"
#include "base/order.h"
#include "base/rows.h"
#include "derive/step_list.h"
#include "trace/arg_scan.h"
#include <assert.h>

/* What makes executions alike. All bytes are compared. */
struct cell_key {
    int64_t registers, shared_memory, grid, block, dims, types;
    uint32_t kernel, nth;
    name_id op, before;
};

/* ---- what is known of each ---- */

/* The resolution of the clock of each file: the greatest common divisor of all starts and durations. */
static void find_ticks(struct contention_runs *all, const struct gpu_events *gpu)
{
    const struct trace *trace = gpu->trace;
    for (uint32_t file = 0; file < trace->file_count; file++) {
        *VEC_PUSH(&all->tick_ns) = 0;
        *VEC_PUSH(&all->has_steps) = false;
    }
    for (size_t d = 0; d < gpu->device_count; d++) {
        assert(all->tick_ns.at); /* as each device has a file */
        int64_t *tick_ns = &all->tick_ns.at[gpu->devices[d].file];
        for (size_t i = 0; i < gpu->devices[d].count && *tick_ns != 1; i++) {
            event_id e = gpu->event[gpu->devices[d].first + i];
            int64_t times_ns[] = { trace_start_ns(trace, e), trace_dur_ns(trace, e) };
            for (int t = 0; t < 2; t++)
                for (int64_t rest = times_ns[t] < 0 ? -times_ns[t] : times_ns[t]; rest;) {
                    int64_t next = *tick_ns % rest;
                    *tick_ns = rest;
                    rest = next;
                }
        }
    }
}

/* The work before each on its stream, by position. */
static name_id *names_before(const struct beside *beside)
{
    name_id *before = mem_alloc(mem_times(beside->gpu->count + 1, sizeof *before));
    for (size_t s = 0; s < beside->streams->count; s++) {
        const uint32_t *position = &beside->streams->position[beside->streams->at[s].first];
        for (size_t i = 0; i < beside->streams->at[s].count; i++)
            before[position[i]] = i ? beside->trace->name[beside->gpu->event[position[i - 1]]] : NAME_NONE;
    }
    return before;
}

/* Work as it is collected: of SELECTION, and not a collective. */
static bool is_run(const struct beside *beside, const struct selection *selection, uint32_t position)
{
    event_id e = beside->gpu->event[position];
    return beside->gpu->work[position] == GPU_COMPUTATION && trace_dur_ns(beside->trace, e) > 0 &&
           (!selection || selection_holds_work(selection, e, beside->gpu->call[position]));
}

/* Add what ran beside RUN, on STREAM. */
static void find_overlaps(struct contention_runs *all, const struct beside *beside, struct run *run,
                          size_t stream)
{
    int64_t end_ns = run->start_ns + run->duration_ns;
    run->any_ns = beside_time(beside, stream, BESIDE_ANY, run->start_ns, end_ns);
    run->first_overlap = (uint32_t)all->overlaps.count;
    for (size_t i = 0; run->any_ns > 0 && i < beside->of_stream[stream].sets.count; i++) {
        uint32_t class = beside->of_stream[stream].sets.at[i].class;
        int64_t ns = class == BESIDE_ANY ? 0 : beside_time(beside, stream, class, run->start_ns, end_ns);
        if (ns > 0)
            *VEC_PUSH(&all->overlaps) = (struct overlap){ class, ns };
    }
    run->overlaps = (uint32_t)all->overlaps.count - run->first_overlap;
}

/* How many runs there are, up to the first that ran beside anything: then all of them. 0: nothing slowed them down. */
static size_t count_runs(const struct beside *beside, const struct selection *selection)
{
    struct contention_runs none = { 0 };
    size_t count = 0;
    for (size_t s = 0; s < beside->streams->count; s++)
        for (size_t i = 0; i < beside->streams->at[s].count; i++) {
            uint32_t position = beside->streams->position[beside->streams->at[s].first + i];
            bool decided = none.overlaps.count > 0;
            if ((!decided && beside->of_stream[s].sets.count == 0) || !is_run(beside, selection, position))
                continue;
            struct run run = { .start_ns = trace_start_ns(beside->trace, beside->gpu->event[position]),
                               .duration_ns = trace_dur_ns(beside->trace, beside->gpu->event[position]) };
            if (!decided)
                find_overlaps(&none, beside, &run, s);
            count++;
        }
    bool any = none.overlaps.count > 0;
    VEC_FREE(&none.overlaps);
    return any ? count : 0;
}

static void runs_collect(struct contention_runs *all, const struct beside *beside,
                         const struct selection *selection)
{
    const struct trace *trace = beside->trace;
    const struct gpu_events *gpu = beside->gpu;
    const struct step_list *steps = step_list_of(trace);
    const struct step *step = NULL;
    SCOPED name_id *before = names_before(beside);
    for (size_t i = 0; i < steps->count; i++) {
        assert(all->has_steps.at); /* as each step has a file */
        all->has_steps.at[steps->at[i].file] = true;
    }
    for (size_t s = 0; s < beside->streams->count; s++)
        for (size_t i = 0; i < beside->streams->at[s].count; i++) {
            uint32_t position = beside->streams->position[beside->streams->at[s].first + i];
            event_id e = gpu->event[position], call = gpu->call[position], op = gpu->op[position];
            if (!is_run(beside, selection, position))
                continue;
            step = step_list_of_work(steps, trace, e, call, step);
            struct run run = {
                .position = position,
                .device = beside->streams->at[s].device,
                .owner = op == EVENT_NONE ? call : op,
                .name = trace->name[e],
                .before = before[position],
                .start_ns = trace_start_ns(trace, e),
                .duration_ns = trace_dur_ns(trace, e),
                .step = step ? (int32_t)(step - steps->at) : -1,
                .level = 1,
            };
            find_overlaps(all, beside, &run, s);
            *VEC_PUSH(&all->runs) = run;
        }
}

/* ---- cells ---- */

/* In the order of the starts, which those that are equal keep. */
static const struct key by_owner[] = { ASC(struct run, owner), ASC(struct run, name), KEY_END };
static const struct key by_kernel[] = { ASC(struct run, device), ASC(struct run, name), KEY_END };
static const struct key by_position[] = { ASC(struct run, position), KEY_END };
static const struct key by_step[] = { ASC(struct run, kernel), ASC(struct run, cell), ASC(struct run, step),
                                      KEY_END };
static const struct key by_cell[] = { ASC(struct run, kernel), ASC(struct run, cell), KEY_END };
static const struct key by_start[] = { ASC(struct run, start_ns), ASC(struct run, position), KEY_END };

/* Runs are large: they are numbered in several orders, and moved once. */
struct run_orders {
    uint32_t *by_start, *order; /* ORDER: by the last keys, and the start */
};

static void order_runs(const struct contention_runs *all, struct run_orders *orders, const struct key *keys)
{
    memcpy(orders->order, orders->by_start, all->runs.count * sizeof *orders->order);
    rows_order(orders->order, all->runs.at, all->runs.count, sizeof *all->runs.at, keys);
}

static void number_in_owners(struct contention_runs *all, struct run_orders *orders)
{
    order_runs(all, orders, by_owner);
    for (size_t i = 1; i < all->runs.count; i++) {
        struct run *run = &all->runs.at[orders->order[i]], *before = &all->runs.at[orders->order[i - 1]];
        bool same = run->owner != EVENT_NONE && run->owner == before->owner && run->name == before->name;
        run->nth = same ? before->nth + 1 : 0;
    }
}

static void number_kernels(struct contention_runs *all, struct run_orders *orders)
{
    uint32_t kernel = 0;
    order_runs(all, orders, by_kernel);
    for (size_t i = 0; i < all->runs.count; i++) {
        struct run *run = &all->runs.at[orders->order[i]];
        kernel += i && rows_compare(run, &all->runs.at[orders->order[i - 1]], by_kernel) != 0;
        run->kernel = kernel;
    }
}

static void number_cells(struct contention_runs *all, const struct beside *beside, struct run_orders *orders)
{
    enum { REGISTERS, SHARED_MEMORY, GRID, BLOCK, RUN_ARGS };
    static const enum trace_arg args[RUN_ARGS] = { ARG_REGISTERS, ARG_SHARED_MEMORY, ARG_GRID, ARG_BLOCK };
    const struct trace *trace = beside->trace;
    SCOPED_OBJECT struct names *cells = names_open();
    struct arg_scan scans[RUN_ARGS];
    for (int a = 0; a < RUN_ARGS; a++)
        scans[a] = arg_scan_of(trace, args[a]);
    order_runs(all, orders, by_position); /* scans are fast forwards */
    for (size_t i = 0; i < all->runs.count; i++) {
        struct run *run = &all->runs.at[orders->order[i]];
        event_id e = beside->gpu->event[run->position], op = beside->gpu->op[run->position];
        int64_t value[RUN_ARGS];
        for (int a = 0; a < RUN_ARGS; a++)
            if (!arg_scan_get(&scans[a], e, &value[a]))
                value[a] = -1;
        struct cell_key key = {
            .registers = value[REGISTERS],
            .shared_memory = value[SHARED_MEMORY],
            .grid = value[GRID],
            .block = value[BLOCK],
            .dims = op == EVENT_NONE ? -1 : trace_arg_or(trace, ARG_INPUT_DIMS, op, -1),
            .types = op == EVENT_NONE ? -1 : trace_arg_or(trace, ARG_INPUT_TYPES, op, -1),
            .kernel = run->kernel,
            .nth = run->nth,
            .op = op == EVENT_NONE ? NAME_NONE : trace->name[op],
            .before = run->before,
        };
        run->has_launch = key.grid >= 0 && key.block >= 0;
        run->has_shapes = key.dims >= 0;
        run->cell = names_add(cells, (const char *)&key, sizeof key);
    }
}

static void number_places(struct contention_runs *all, struct run_orders *orders)
{
    order_runs(all, orders, by_step);
    for (size_t i = 1; i < all->runs.count; i++) {
        struct run *run = &all->runs.at[orders->order[i]], *before = &all->runs.at[orders->order[i - 1]];
        run->place = run->cell == before->cell && run->step == before->step ? before->place + 1 : 0;
    }
}

/* ---- levels of steps ---- */

/* An execution alone, against the others of its cell and place. */
struct residual {
    uint32_t device, cell, place;
    int64_t step;
    double value; /* logarithm of the duration */
};

struct level {
    uint32_t device;
    int64_t step;
    double level;
};

static const struct key by_place[] = { ASC(struct residual, cell), ASC(struct residual, place), KEY_END };
static const struct key by_device_step[] = { ASC(struct residual, device), ASC(struct residual, step),
                                             KEY_END };
static const struct key of_step[] = { ASC(struct level, device), ASC(struct level, step), KEY_END };

static double residual_median(const struct residual *at, size_t count, double *values)
{
    for (size_t i = 0; i < count; i++)
        values[i] = at[i].value;
    return median_of(values, count);
}

/* How fast each step ran: the median of its executions alone against those of the same cell and place. */
static void find_levels(struct contention_runs *all)
{
    enum { LEAST = 10 };
    SCOPED VEC_OF(struct residual) residuals = { 0 };
    SCOPED VEC_OF(struct level) levels = { 0 };
    FOR_EACH(run, &all->runs) {
        if (run_is_alone(run) && run->step >= 0)
            *VEC_PUSH(&residuals) = (struct residual){ run->device, run->cell, run->place, run->step,
                                                       log((double)run->duration_ns) };
    }
    SCOPED double *values = mem_alloc(mem_times(residuals.count + 1, sizeof *values));
    SORT(&residuals, by_place);
    FOR_GROUPS(&residuals, by_place, first, end) {
        double middle = residual_median(&residuals.at[first], end - first, values);
        for (size_t i = first; i < end; i++)
            residuals.at[i].value -= middle;
    }
    SORT(&residuals, by_device_step);
    FOR_GROUPS(&residuals, by_device_step, first, end) {
        if (end - first < LEAST)
            continue;
        const struct residual *of = &residuals.at[first];
        *VEC_PUSH(&levels) =
            (struct level){ of->device, of->step, exp(residual_median(of, end - first, values)) };
    }
    for (size_t i = 0; i < all->runs.count; i++) {
        struct level wanted = { all->runs.at[i].device, all->runs.at[i].step, 1 };
        const struct level *found = rows_find(levels.at, levels.count, sizeof wanted, of_step, &wanted);
        all->runs.at[i].level = found ? found->level : 1;
    }
}

static void number_runs(struct contention_runs *all, const struct beside *beside)
{
    struct run_orders orders = { order_open(all->runs.count), order_open(all->runs.count) };
    rows_order(orders.by_start, all->runs.at, all->runs.count, sizeof *all->runs.at, by_start);
    number_in_owners(all, &orders);
    number_kernels(all, &orders);
    number_cells(all, beside, &orders);
    number_places(all, &orders);
    find_levels(all);
    order_runs(all, &orders, by_cell);
    rows_permute(all->runs.at, all->runs.count, sizeof *all->runs.at, orders.order);
    EACH(free, orders.by_start, orders.order);
}

struct contention_runs contention_runs_collect(const struct beside *beside, const struct selection *selection)
{
    struct contention_runs all = { 0 };
    find_ticks(&all, beside->gpu);
    size_t count = count_runs(beside, selection);
    if (count) {
        VEC_RESERVE(&all.runs, count);
        runs_collect(&all, beside, selection);
        number_runs(&all, beside);
    }
    return all;
}
