/*
 * edits_avoid.c - work that another program for the same result does not do.
 *
 * Copies: operators that the program calls to copy a tensor within the host's memory in its own type (contiguous, clone); not those of
 * other operators, of optimizers and of the loading of data. float64: operators with tensors of it take half, as half the bytes are
 * moved and twice as many numbers fit into a vector; products on devices as much as the peak of float32 is higher. Dense
 * gradients: what embedding_dense_backward fills, a table of which few rows are used; and what an optimizer does with such a table,
 * where sizes tell, other than the share of the rows that are used. Gradients of indices: each index of a tensor has one as large as
 * the whole tensor, which is filled and added; in a loop of LEAST_INDICES and more in a step these go.
 */
#include "whatif/editing.h"

#include "base/names.h"
#include "derive/device_peaks.h"
#include "derive/gpu_names.h"
#include "derive/op_cost.h"
#include "derive/step_list.h"

enum { LEAST_INDICES = 8 };

/* ns. What takes less is the dispatch of an operator, which does not depend on its type. */
#define LEAST_OF_FLOAT64 10000

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names;
}

static bool copies_tensor(const char *name)
{
    static const char *const names[] = { "aten::contiguous", "aten::clone", NULL };
    return is_one_of(name, names);
}

static bool fills(const char *name)
{
    static const char *const names[] = { "aten::zeros", "aten::new_zeros", "aten::zero_", "aten::fill_",
                                         NULL };
    return is_one_of(name, names);
}

static bool fills_or_adds(const char *name)
{
    static const char *const names[] = { "aten::add", "aten::add_", NULL };
    return fills(name) || is_one_of(name, names);
}

static bool is_dense_gradient(const char *name)
{
    return strcmp(name, "aten::embedding_dense_backward") == 0;
}

static bool is_gradient_of_index(const char *name)
{
    static const char of_node[] = "autograd::engine::evaluate_function: ";
    static const char *const nodes[] = { "SelectBackward", "SliceBackward", "IndexBackward" };
    size_t len = sizeof of_node - 1;
    bool found = false;
    for (size_t i = 0; i < sizeof nodes / sizeof *nodes && strncmp(name, of_node, len) == 0; i++)
        found |= strncmp(name + len, nodes[i], strlen(nodes[i])) == 0;
    return found;
}

/* What an editing_ranges takes: operators of NAMES whose begin lies in WITHIN, and not in WITHOUT. */
struct choice {
    const struct editing *editing;
    struct name_flags names;
    const struct intervals *within, *without; /* by thread; NULL: anywhere; nowhere */
};

static bool is_chosen(const void *context, event_id e)
{
    const struct choice *choice = context;
    return choice->editing->trace->kind[e] == EVENT_OP && name_flags_has(&choice->names, e) &&
           (!choice->within || editing_holds(choice->editing, choice->within, e)) &&
           !(choice->without && editing_holds(choice->editing, choice->without, e));
}

/* In RANGES the host takes FACTOR, and so does the work of devices that was launched there: none is launched where that is 0. */
static void take_factor(const struct editing *editing, const struct intervals *ranges, double factor)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    if (gpu->count == 0 || factor == 0)
        editing_scale_ranges(editing, ranges, factor);
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE && editing_holds(editing, ranges, gpu->call[i]))
            editing_scale_work(editing, i, factor);
}

/* EDITING, whose ranges do not count. */
static struct editing quietly(const struct editing *editing, struct edit_effect *ignored)
{
    struct editing quiet = *editing;
    quiet.effect = ignored;
    return quiet;
}

/* ---- copies ---- */

static bool is_around_copies(const char *name)
{
    return !copies_tensor(name);
}

static bool is_apart(const char *name)
{
    return edit_is_optimizer_step(name) || annotation_is_data_loading(name);
}

struct around {
    const struct trace *trace;
    struct name_flags others, apart;
};

/* An operator other than copies, an optimizer or the loading of data. */
static bool is_around(const void *context, event_id e)
{
    const struct around *around = context;
    return around->trace->kind[e] == EVENT_OP ? name_flags_has(&around->others, e)
                                              : name_flags_has(&around->apart, e);
}

static void avoid_copies(const struct editing *editing)
{
    if (editing->graph->gpu->count)
        return;
    struct edit_effect ignored = { 0, 0 };
    struct editing quiet = quietly(editing, &ignored);
    struct around around = { editing->trace, name_flags_of(editing->trace, is_around_copies),
                             name_flags_of(editing->trace, is_apart) };
    struct intervals *others = editing_ranges(&quiet, is_around, &around);
    struct choice copies = { editing, name_flags_of(editing->trace, copies_tensor), .without = others };
    struct intervals *ranges = editing_ranges(editing, is_chosen, &copies);
    editing_scale_ranges(editing, ranges, 0);
    arena_free(others);
    arena_free(ranges);
    EACH(free, around.others.flags, around.apart.flags, copies.names.flags);
}

/* ---- float64 ---- */

/* Which lists of types have float64, by text. */
struct of_float64 {
    const struct trace *trace;
    bool *has; /* free() */
};

static struct of_float64 float64_open(const struct trace *trace)
{
    size_t count = names_count(trace->texts);
    struct of_float64 of = { trace, mem_zalloc(count + 1, sizeof *of.has) };
    for (name_id id = 0; id < count; id++)
        of.has[id] = strstr(names_text(trace->texts, id), "\"double\"") != NULL;
    return of;
}

/* Has operator E a tensor of float64 with sizes? A number is one without. */
static bool is_of_float64(const void *context, event_id e)
{
    const struct of_float64 *of = context;
    const struct trace *trace = of->trace;
    int64_t types = trace->kind[e] == EVENT_OP ? trace_arg_or(trace, ARG_INPUT_TYPES, e, -1) : -1;
    const char *dims = types >= 0 && of->has[types] ? trace_arg_text(trace, ARG_INPUT_DIMS, e) : NULL;
    struct op_call call;
    if (!dims || !op_call_read(&call, dims, names_text(trace->texts, (name_id)types), NULL, NULL))
        return false;
    return ANY(i, call.count,
               call.in[i].sized && call.in[i].type && call.in[i].type->sort == ELEMENT_FLOAT &&
                   call.in[i].type->size == 8);
}

static bool is_long_of_float64(const void *context, event_id e)
{
    const struct of_float64 *of = context;
    return trace_dur_ns(of->trace, e) >= LEAST_OF_FLOAT64 && is_of_float64(context, e);
}

/* What work I, of an operator with float64, takes in float32. */
static double factor_of_float32(const struct editing *editing, size_t i)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    const struct trace_device *device =
        gpu->devices[gpu->device_of_track[editing->trace->track[gpu->event[i]]]].properties;
    struct device_peaks peaks;
    struct op_model model;
    const double of_bytes = 0.5;
    if (!op_model_find(trace_name(editing->trace, gpu->op[i]), &model) || model.class != OP_MATRIX ||
        !device_peaks_find(device ? device->name : NULL, &peaks))
        return of_bytes;
    double now = peaks.flops[peaks.flops[PEAK_FP64_MATRIX] > 0 ? PEAK_FP64_MATRIX : PEAK_FP64],
           then = peaks.flops[PEAK_FP32];
    return !(now > 0) || !(then > 0) ? of_bytes : now < then ? now / then : 1;
}

static void avoid_float64(const struct editing *editing)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    struct of_float64 of = float64_open(editing->trace);
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->op[i] != EVENT_NONE && is_of_float64(&of, gpu->op[i]))
            editing_scale_work(editing, i, factor_of_float32(editing, i));
    if (gpu->count == 0) {
        struct intervals *ranges = editing_ranges(editing, is_long_of_float64, &of);
        editing_scale_ranges(editing, ranges, 0.5);
        arena_free(ranges);
    }
    free(of.has);
}

/* ---- gradients ---- */

/* A table of an embedding, and how many of its rows are used at once. */
struct used_table {
    int64_t rows, columns, used;
    size_t gradients; /* how many of such a table were computed */
};

/* The table of E, a dense gradient, into TABLE; false: E records no sizes. */
static bool read_table(const struct trace *trace, event_id e, struct used_table *table)
{
    const char *dims = trace_arg_text(trace, ARG_INPUT_DIMS, e),
               *concrete = trace_arg_text(trace, ARG_CONCRETE_INPUTS, e), *rows = NULL;
    size_t len = 0;
    struct shape gradient;
    if (!dims || !concrete || !shape_of_input(dims, 0, &gradient) || gradient.count == 0 ||
        !concrete_input(concrete, 2, &rows, &len))
        return false;
    *table = (struct used_table){ strtoll(rows, NULL, 10), gradient.size[gradient.count - 1],
                                  shape_elements(dims, 1) };
    return table->rows > 0 && table->columns > 0 && table->used > 0;
}

struct tables {
    VEC_OF(struct used_table);
    bool all_known; /* of every dense gradient */
};

static struct tables find_tables(const struct editing *editing, const struct name_flags *dense)
{
    struct tables tables = { .all_known = true };
    for (event_id e = 0; e < editing->trace->event_count; e++) {
        struct used_table table = { 0 };
        if (editing->trace->kind[e] != EVENT_OP || !name_flags_has(dense, e))
            continue;
        if (!read_table(editing->trace, e, &table)) {
            tables.all_known = false;
            continue;
        }
        size_t i = 0;
        while (i < tables.count && (tables.at[i].rows != table.rows || tables.at[i].columns != table.columns))
            i++;
        if (i == tables.count)
            *VEC_PUSH(&tables) = table;
        else if (table.used > tables.at[i].used)
            tables.at[i].used = table.used;
        tables.at[i].gradients++;
    }
    return tables;
}

/* An operator of an optimizer, whose first tensor is as large as the table. */
struct steps_over {
    const struct editing *editing;
    const struct intervals *optimizers;
    const struct used_table *table;
};

static bool is_stepped_over(const void *context, event_id e)
{
    const struct steps_over *over = context;
    const struct trace *trace = over->editing->trace;
    const char *dims = trace->kind[e] == EVENT_OP ? trace_arg_text(trace, ARG_INPUT_DIMS, e) : NULL;
    struct shape shape;
    return dims && shape_of_input(dims, 0, &shape) && shape.count == 2 &&
           shape.size[0] == over->table->rows && shape.size[1] == over->table->columns &&
           editing_holds(over->editing, over->optimizers, e);
}

/* How much of the work over tensors as large as TABLE is left: other parameters may be as large, as that of a last layer, of which each operation of
 * the optimizer is one more. */
static double share_of_rows(const struct steps_over *over)
{
    const struct trace *trace = over->editing->trace;
    SCOPED size_t *calls = mem_zalloc(names_count(trace->names) + 1, sizeof *calls);
    size_t fewest = SIZE_MAX;
    for (event_id e = 0; e < trace->event_count; e++)
        if (is_stepped_over(over, e))
            calls[trace->name[e]]++;
    for (name_id id = 0; id < names_count(trace->names); id++)
        fewest = calls[id] && calls[id] < fewest ? calls[id] : fewest;
    double of_table = over->table->gradients < fewest ? (double)over->table->gradients / (double)fewest : 1;
    return 1 - of_table * (1 - (double)over->table->used / (double)over->table->rows);
}

/* Is most of what the gradients take that their table is filled, or do sizes tell that at most half of its rows are used? */
static bool are_few_rows(const struct tables *tables, int64_t gradients_ns, int64_t fills_ns)
{
    if (!tables->all_known)
        return 2 * fills_ns > gradients_ns;
    return !ANY(i, tables->count, tables->at[i].used > tables->at[i].rows / 2);
}

static void avoid_dense_gradients(const struct editing *editing)
{
    struct edit_effect of_gradients = { 0, 0 }, of_fills = { 0, 0 }, ignored = { 0, 0 };
    struct editing quiet = quietly(editing, &of_gradients);
    struct name_flags names = name_flags_of(editing->trace, is_dense_gradient),
                      steps = name_flags_of(editing->trace, edit_is_optimizer_step);
    struct intervals *gradients = editing_ranges(&quiet, name_flags_has, &names);
    struct choice choice = { editing, name_flags_of(editing->trace, fills), .within = gradients };
    quiet.effect = &of_fills;
    struct intervals *ranges = editing_ranges(&quiet, is_chosen, &choice);
    struct tables tables = find_tables(editing, &names);
    bool fit = of_fills.count > 0 && are_few_rows(&tables, of_gradients.time_ns, of_fills.time_ns);
    quiet.effect = &ignored;
    struct intervals *optimizers = editing_ranges(&quiet, name_flags_has, &steps);
    if (fit) {
        editing->effect->count += of_fills.count;
        editing->effect->time_ns += of_fills.time_ns;
        take_factor(editing, ranges, 0);
    }
    for (size_t i = 0; fit && i < tables.count; i++) {
        struct steps_over over = { editing, optimizers, &tables.at[i] };
        struct intervals *stepped = editing_ranges(editing, is_stepped_over, &over);
        take_factor(editing, stepped, share_of_rows(&over));
        arena_free(stepped);
    }
    arena_free(gradients);
    arena_free(ranges);
    arena_free(optimizers);
    EACH(free, names.flags, steps.flags, choice.names.flags);
    VEC_FREE(&tables);
}

static void avoid_index_gradients(const struct editing *editing)
{
    struct edit_effect found = { 0, 0 };
    struct editing quiet = quietly(editing, &found);
    struct name_flags names = name_flags_of(editing->trace, is_gradient_of_index);
    struct intervals *gradients = editing_ranges(&quiet, name_flags_has, &names);
    size_t steps = step_list_of(editing->trace)->count;
    if (found.count >= LEAST_INDICES * (steps ? steps : 1)) {
        struct choice choice = { editing, name_flags_of(editing->trace, fills_or_adds), .within = gradients };
        struct intervals *ranges = editing_ranges(editing, is_chosen, &choice);
        take_factor(editing, ranges, 0);
        arena_free(ranges);
        free(choice.names.flags);
    }
    arena_free(gradients);
    free(names.flags);
}

bool edit_avoid(const struct editing *editing, struct tpa_error *err)
{
    static void (*const avoid[AVOIDABLES])(const struct editing *editing) = {
        [AVOID_COPIES] = avoid_copies,
        [AVOID_FLOAT64] = avoid_float64,
        [AVOID_DENSE_GRADIENTS] = avoid_dense_gradients,
        [AVOID_INDEX_GRADIENTS] = avoid_index_gradients,
    };
    enum avoidable what = edit_avoidable(editing->edit->pattern, editing->edit->pattern_len);
    if (what == AVOIDABLES) {
        tpa_fail(err, TPA_NOWHERE, "'%.*s' cannot be avoided", (int)editing->edit->pattern_len,
                 editing->edit->pattern);
        return tpa_hint(err, "write copies, float64, dense-gradients or index-gradients");
    }
    avoid[what](editing);
    return true;
}
