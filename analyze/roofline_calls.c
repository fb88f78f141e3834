/* The cost of a call depends only on its name and arguments, which are ids: it is computed once for each
 * combination. Operators are nested by time, so that device work is attributed to the innermost modelled
 * operator around its launch. */
#include "analyze/roofline_calls.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/communication.h"
#include "derive/copy_names.h"
#include "derive/op_attended.h"
#include "derive/features.h"
#include "trace/arg_scan.h"

/* ---- names and texts, of the trace and of the captures of graphs ---- */

static const char *own_or_captured(const struct trace *trace, const struct names *own, name_id id)
{
    size_t count = names_count(own);
    return id < count ? names_text(own, id)
                      : names_text(graph_links_of(trace)->bodies->texts, (name_id)(id - count));
}

const char *roofline_name(const struct trace *trace, name_id id)
{
    return own_or_captured(trace, trace->names, id);
}

const char *roofline_text(const struct trace *trace, name_id id)
{
    return own_or_captured(trace, trace->texts, id);
}

/* ID of the texts of LINKS as one of OWN, if it has the same text; else after them. */
static name_id id_of_captured(const struct graph_links *links, const struct names *own, name_id id)
{
    if (id == NAME_NONE)
        return NAME_NONE;
    const struct names *texts = links->bodies->texts;
    name_id known = names_find(own, names_text(texts, id), names_length(texts, id));
    return known != NAME_NONE ? known : (name_id)names_count(own) + id;
}

bool roofline_holds_name(const struct roofline_calls *calls, const struct selection *selection,
                         const struct roofline_call *call)
{
    size_t count = names_count(calls->trace->names);
    return call->name < count ? selection_holds_name(selection, call->name)
                              : !calls->wanted_captured || calls->wanted_captured[call->name - count];
}

name_id roofline_name_of_work(const struct trace *trace, const struct graph_links *links, event_id work,
                              event_id call, event_id op)
{
    if (graph_link_is_work(links, work))
        return id_of_captured(links, trace->names, graph_link_name_id(links, work));
    if (trace_framework(trace) == FRAMEWORK_XLA && (op == EVENT_NONE || trace->kind[op] == EVENT_OTHER))
        return trace->name[work]; /* a whole program is launched at once, in functions of XLA */
    return trace->name[op != EVENT_NONE ? op : call != EVENT_NONE ? call : work];
}

/* ---- properties of names ---- */

enum name_state { NAME_NOT_CHECKED, NAME_PLAIN, NAME_MODELLED, NAME_BACKWARD, NAME_RECOMPUTES };

struct namer {
    const struct trace *trace;
    uint8_t *state;          /* by name: enum name_state */
    struct op_model *models; /* by name, if modelled */
    bool recomputes;         /* is there a Python function that recomputes? */
};

static enum name_state state_of_name(const char *name, enum event_kind kind, struct op_model *model)
{
    if (kind == EVENT_PYTHON)
        return strstr(name, "torch/utils/checkpoint.py") && strstr(name, "recompute_fn") ? NAME_RECOMPUTES
                                                                                         : NAME_PLAIN;
    if (strcmp(name, "CheckpointFunctionBackward") == 0)
        return NAME_RECOMPUTES;
    if (strncmp(name, "autograd::engine::evaluate_function", 35) == 0)
        return NAME_BACKWARD;
    return op_model_find(name, model) ? NAME_MODELLED : NAME_PLAIN;
}

static struct namer namer_open(const struct trace *trace, struct arena *arena)
{
    size_t names = names_count(trace->names) + 1;
    struct namer namer = { trace, arena_zalloc(arena, names, sizeof *namer.state),
                           arena_zalloc(arena, names, sizeof *namer.models), false };
    for (event_id e = 0; e < trace->event_count; e++) {
        enum event_kind kind = (enum event_kind)trace->kind[e];
        uint8_t *state = &namer.state[trace->name[e]];
        if (*state != NAME_NOT_CHECKED || (kind != EVENT_OP && kind != EVENT_PYTHON))
            continue;
        *state = (uint8_t)state_of_name(trace_name(trace, e), kind, &namer.models[trace->name[e]]);
        namer.recomputes = namer.recomputes || (kind == EVENT_PYTHON && *state == NAME_RECOMPUTES);
    }
    return namer;
}

/* ---- steps of serving engines ---- */

struct serving_step {
    uint32_t file;
    int64_t start_ns, end_ns;
    struct op_attended attended;
};

struct serving {
    VEC_OF(struct serving_step) steps;
};

static const struct key by_steps[] = { ASC(struct serving_step, file), ASC(struct serving_step, start_ns),
                                       KEY_END };

static struct serving serving_open(const struct trace *trace)
{
    struct serving serving = { { 0 } };
    struct op_attended attended;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_ANNOTATION && op_attended_parse(trace_name(trace, e), &attended))
            *VEC_PUSH(&serving.steps) =
                (struct serving_step){ trace->tracks[trace->track[e]].file, trace_start_ns(trace, e),
                                       trace_end_ns(trace, e), attended };
    if (serving.steps.count)
        SORT(&serving.steps, by_steps);
    return serving;
}

/* The step that contains E; NULL: none. */
static const struct serving_step *serving_step_at(const struct serving *serving, const struct trace *trace,
                                                  event_id e)
{
    uint32_t file = trace->tracks[trace->track[e]].file;
    size_t i = 0;
    SEARCH(i, serving->steps.count,
           serving->steps.at[i].file < file || (serving->steps.at[i].file == file &&
                                                serving->steps.at[i].start_ns <= trace_start_ns(trace, e)));
    if (i == 0)
        return NULL;
    const struct serving_step *step = &serving->steps.at[i - 1];
    return step->file == file && trace_start_ns(trace, e) < step->end_ns ? step : NULL;
}

/* ---- costs ---- */

enum cost_arg { COST_DIMS, COST_TYPES, COST_STRIDES, COST_CONCRETE, COST_ARGS };

struct key_cost {
    bool modelled;
    const struct op_cost *cost; /* in the arena of the calls */
};

struct pricer {
    const struct trace *trace;
    struct arena *arena; /* of the costs */
    struct serving serving;
    struct names *keys; /* name and arguments of calls, as bytes */
    VEC_OF(struct key_cost) costs;
    struct op_call call; /* room for one */
    struct arg_scan scans[COST_ARGS];
    struct names
        *convolutions; /* sizes of input and weight, as bytes; NULL: nothing is known from backward passes */
    VEC_OF(struct shape) outputs; /* of each; count 0: there are several */
};

/* Append the sizes of A and B, as bytes, to KEY. */
static void append_sizes(struct buffer *key, const struct shape *a, const struct shape *b)
{
    const struct shape *shapes[] = { a, b };
    for (size_t i = 0; i < 2; i++) {
        buffer_add(key, (const char *)&shapes[i]->count, sizeof shapes[i]->count);
        buffer_add(key, (const char *)shapes[i]->size, shapes[i]->count * sizeof *shapes[i]->size);
    }
}

/* What the backward pass with sizes DIMS, of which GRADIENT is the place of the gradient, tells of the forward pass. */
static void add_output(struct pricer *pricer, const char *dims, size_t gradient)
{
    struct shape input, output, weight;
    if (!shape_of_input(dims, gradient == 0 ? 1 : 0, &input) || !shape_of_input(dims, gradient, &output) ||
        !shape_of_input(dims, 2, &weight) || input.count < 3)
        return;
    struct buffer key = { 0 };
    append_sizes(&key, &input, &weight);
    name_id id = names_add(pricer->convolutions, key.at, key.count);
    buffer_release(&key);
    if (id == pricer->outputs.count)
        *VEC_PUSH(&pricer->outputs) = output;
    struct shape *known = &pricer->outputs.at[id];
    if (known->count != output.count ||
        memcmp(known->size, output.size, output.count * sizeof *output.size) != 0)
        known->count = 0;
}

/* Before torch 2.0 strides and paddings were not recorded, so that the output of a convolution does not follow from its inputs. Its
 * backward pass has a gradient of the same sizes. */
static void find_outputs(struct pricer *pricer)
{
    static const struct {
        const char *name;
        size_t gradient;
    } operators[] = { { "aten::cudnn_convolution_backward", 1 },
                      { "aten::miopen_convolution_backward", 1 },
                      { "aten::mkldnn_convolution_backward", 1 },
                      { "aten::convolution_backward", 0 } };
    const struct trace *trace = pricer->trace;
    if (trace->args[ARG_CONCRETE_INPUTS].count > 0 || trace->args[ARG_INPUT_DIMS].count == 0)
        return;
    pricer->convolutions = arena_hold(arena_of(pricer), names_open());
    struct arg_scan dims = arg_scan_of(trace, ARG_INPUT_DIMS);
    SCOPED uint8_t *operator_of =
        mem_zalloc(names_count(trace->names) + 1, sizeof *operator_of); /* by name, from 1 */
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++) {
        name_id id = names_find(trace->names, operators[i].name, strlen(operators[i].name));
        if (id != NAME_NONE)
            operator_of[id] = (uint8_t)(1 + i);
    }
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t of = operator_of[trace->name[e]];
        int64_t text;
        if (of && arg_scan_get(&dims, e, &text))
            add_output(pricer, roofline_text(trace, (name_id)text), operators[of - 1].gradient);
    }
}

/* The output of the convolution that was read, if it is one. */
static void complete_call(struct pricer *pricer)
{
    struct op_call *call = &pricer->call;
    if (!pricer->convolutions || !op_call_sized(call, 0) || !op_call_sized(call, 1))
        return;
    struct buffer key = { 0 };
    append_sizes(&key, &call->in[0].sizes, &call->in[1].sizes);
    name_id id = names_find(pricer->convolutions, key.at, key.count);
    buffer_release(&key);
    if (id != NAME_NONE)
        call->output = pricer->outputs.at[id];
}

static const struct op_cost *keep_cost(struct arena *arena, const struct op_cost *cost)
{
    struct op_cost *kept = arena_alloc(arena, sizeof *kept);
    *kept = *cost;
    return kept;
}

static const char *text_or_null(const struct trace *trace, name_id text)
{
    return text == NAME_NONE ? NULL : roofline_text(trace, text);
}

static bool read_call(struct pricer *pricer, const name_id *args)
{
    const struct trace *trace = pricer->trace;
    return args[COST_DIMS] != NAME_NONE &&
           op_call_read(&pricer->call, roofline_text(trace, args[COST_DIMS]),
                        text_or_null(trace, args[COST_TYPES]), text_or_null(trace, args[COST_STRIDES]),
                        text_or_null(trace, args[COST_CONCRETE]));
}

/* The operations of attention that do not follow from its inputs, from the step around E, the operator or its
 * launch. */
static void price_by_step(struct pricer *pricer, event_id e, const name_id *args, struct key_cost *cost)
{
    const struct serving_step *step = serving_step_at(&pricer->serving, pricer->trace, e);
    if (!step || !read_call(pricer, args))
        return;
    struct op_cost known = *cost->cost;
    known.flops = op_attended_flops(&pricer->call, &step->attended);
    known.type = pricer->call.in[0].type;
    cost->cost = keep_cost(pricer->arena, &known);
    cost->modelled = cost->modelled || known.flops != OP_UNKNOWN;
}

/* The cost of an operator of MODEL called NAME with ARGS; E: see price_by_step. */
static struct key_cost price_of(struct pricer *pricer, event_id e, name_id name, const struct op_model *model,
                                const name_id args[COST_ARGS])
{
    name_id parts[1 + COST_ARGS] = { name };
    memcpy(parts + 1, args, COST_ARGS * sizeof *args);
    name_id key = names_add(pricer->keys, (const char *)parts, sizeof parts);
    if (key == pricer->costs.count) {
        struct op_cost new = { OP_UNKNOWN, OP_UNKNOWN, 0, NULL };
        bool read = read_call(pricer, args);
        if (read)
            complete_call(pricer);
        bool modelled = read && op_cost_of(model, &pricer->call, &new);
        *VEC_PUSH(&pricer->costs) = (struct key_cost){ modelled, keep_cost(pricer->arena, &new) };
    }
    struct key_cost cost = pricer->costs.at[key];
    if (cost.cost->flops == OP_UNKNOWN && pricer->serving.steps.count && op_model_is_attention(model))
        price_by_step(pricer, e, args, &cost);
    return cost;
}

static struct pricer *pricer_open(const struct trace *trace, struct arena *arena)
{
    static const enum trace_arg args[COST_ARGS] = {
        [COST_DIMS] = ARG_INPUT_DIMS,
        [COST_TYPES] = ARG_INPUT_TYPES,
        [COST_STRIDES] = ARG_INPUT_STRIDES,
        [COST_CONCRETE] = ARG_CONCRETE_INPUTS,
    };
    struct pricer *pricer = arena_open(sizeof *pricer);
    ARENA_OWNS(arena_of(pricer), &pricer->outputs, &pricer->costs, &pricer->serving.steps);
    pricer->trace = trace;
    pricer->arena = arena;
    pricer->serving = serving_open(trace);
    pricer->keys = arena_hold(arena_of(pricer), names_open());
    for (size_t a = 0; a < COST_ARGS; a++)
        pricer->scans[a] = arg_scan_of(trace, args[a]);
    find_outputs(pricer);
    return pricer;
}

static struct roofline_call new_call(name_id name, const name_id args[COST_ARGS], const struct key_cost *cost,
                                     enum op_class class)
{
    return (struct roofline_call){ .op = EVENT_NONE,
                                   .name = name,
                                   .work = EVENT_NONE,
                                   .call = EVENT_NONE,
                                   .dims = args[COST_DIMS],
                                   .types = args[COST_TYPES],
                                   .cost = cost->cost,
                                   .class = (uint8_t) class,
                                   .rate = PEAK_NONE,
                                   .compute_ns = NAN,
                                   .memory_ns = NAN };
}

/* ---- costs recorded with operators ---- */

/* The type of the first operand in TYPES, a list in JSON; NULL: unknown. */
static const struct tensor_type *first_type(const struct trace *trace, name_id types)
{
    const char *begin = types == NAME_NONE ? NULL : strchr(roofline_text(trace, types), '"');
    const char *end = begin ? strchr(begin + 1, '"') : NULL;
    return end ? tensor_type_named(begin + 1, (size_t)(end - begin - 1)) : NULL;
}

/* Add a call of operator E, with ARGS, by its recorded cost, as XLA's programs tell it. False: none is recorded. */
static bool add_recorded(struct roofline_calls *calls, struct arg_scan *flops, struct arg_scan *bytes,
                         event_id e, const name_id args[COST_ARGS])
{
    enum { MATRIX_FLOPS_PER_BYTE = 8 }; /* what computes element by element has fewer */
    const struct trace *trace = calls->trace;
    struct op_cost known = { OP_UNKNOWN, OP_UNKNOWN, 0, NULL };
    int64_t number;
    if (arg_scan_get(flops, e, &number) && number >= 0)
        known.flops = number;
    if (arg_scan_get(bytes, e, &number) && number >= 0)
        known.bytes = number;
    if (known.flops == OP_UNKNOWN && known.bytes == OP_UNKNOWN)
        return false;
    known.type = first_type(trace, args[COST_TYPES]);
    enum op_class class = known.flops <= 0                                     ? OP_MOVE
                          : known.flops / MATRIX_FLOPS_PER_BYTE >= known.bytes ? OP_MATRIX
                                                                               : OP_VECTOR;
    struct key_cost cost = { true, keep_cost(calls->arena, &known) };
    struct roofline_call *call = VEC_PUSH(calls);
    *call = new_call(trace->name[e], args, &cost, class);
    call->op = e;
    call->recorded = true;
    return true;
}

/* The name of the first work of each call; NAME_NONE: none. New; free(). */
static name_id *first_works(const struct roofline_calls *calls, const uint32_t *index)
{
    const struct gpu_events *gpu = gpu_events_of(calls->trace);
    name_id *first = mem_alloc(mem_times(calls->count + 1, sizeof *first));
    for (size_t c = 0; c < calls->count; c++)
        first[c] = NAME_NONE;
    for (size_t i = 0; i < gpu->count; i++) {
        uint32_t place = gpu->op[i] == EVENT_NONE ? 0 : index[gpu->op[i]];
        if (place && first[place - 1] == NAME_NONE)
            first[place - 1] = calls->trace->name[gpu->event[i]];
    }
    return first;
}

/* A library launches several kernels for one operator, and each launch has a span with the operator's cost.
 * Calls of one operator that follow each other on a thread are one until the kernel of the first comes again:
 * INDEX gets the first of them. */
static void join_launches(struct roofline_calls *calls, uint32_t *index)
{
    const struct trace *trace = calls->trace;
    SCOPED name_id *first = first_works(calls, index);
    SCOPED uint32_t *leaders =
        mem_zalloc(trace->track_count + 1, sizeof *leaders); /* by track; 1 + its place */
    for (size_t c = 0; c < calls->count; c++) {
        struct roofline_call *call = &calls->at[c];
        if (!call->recorded)
            continue;
        uint32_t *leader = &leaders[trace->track[call->op]];
        const struct roofline_call *before = *leader ? &calls->at[*leader - 1] : NULL;
        if (before && before->name == call->name && before->dims == call->dims && first[c] != NAME_NONE &&
            first[c] != first[*leader - 1]) {
            index[call->op] = *leader;
            call->joined = true;
        } else {
            *leader = (uint32_t)c + 1;
        }
    }
}

/* Add the calls with known costs, in order of the file; INDEX, by event, gets their indices, counted from 1. */
static void price_calls(struct roofline_calls *calls, struct pricer *pricer, const struct namer *namer,
                        uint32_t *index)
{
    const struct trace *trace = calls->trace;
    bool any_recorded = trace->args[ARG_FLOPS].count || trace->args[ARG_BYTES_ACCESSED].count;
    struct arg_scan flops = arg_scan_of(trace, ARG_FLOPS), bytes = arg_scan_of(trace, ARG_BYTES_ACCESSED);
    for (event_id e = 0; e < trace->event_count; e++) {
        bool is_modelled = namer->state[trace->name[e]] == NAME_MODELLED;
        if ((!is_modelled && !any_recorded) || trace->kind[e] != EVENT_OP ||
            (trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)))
            continue;
        const struct op_model *model = &namer->models[trace->name[e]];
        name_id own[COST_ARGS];
        for (size_t a = 0; a < COST_ARGS; a++) {
            int64_t value;
            own[a] = arg_scan_get(&pricer->scans[a], e, &value) ? (name_id)value : NAME_NONE;
        }
        if (!is_modelled) {
            index[e] = add_recorded(calls, &flops, &bytes, e, own) ? (uint32_t)calls->count : 0;
            continue;
        }
        struct key_cost cost = price_of(pricer, e, trace->name[e], model, own);
        if (!cost.modelled)
            continue;
        struct roofline_call *call = VEC_PUSH(calls);
        *call = new_call(trace->name[e], own, &cost, model->class);
        call->own_alone = model->own_alone;
        call->op = e;
        index[e] = (uint32_t)calls->count;
    }
    if (any_recorded)
        join_launches(calls, index);
}

/* ---- work ---- */

struct taking {
    const struct trace *trace;
    const struct namer *namer;
};

static bool is_nested(const void *context, event_id e)
{
    const struct taking *taking = context;
    const struct trace *trace = taking->trace;
    return (trace->kind[e] == EVENT_OP || (taking->namer->recomputes && trace->kind[e] == EVENT_PYTHON &&
                                           taking->namer->state[trace->name[e]] == NAME_RECOMPUTES)) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
}

/* Facts of work by its name. Each is computed once: searching words in the names of 15,000 copies was half of this
 * file's time. */
enum work_words { WORDS_CHECKED = 1, WORDS_TF32 = 2, WORDS_NOT_WITHIN = 4 };

/* Is the kernel one of products in TF32 (XF32 to AMD), by its name? "tensorop" is CUTLASS's word for those on tensor
 * cores. */
static bool says_tf32(const char *name)
{
    return strstr(name, "tf32") || strstr(name, "TF32") || strstr(name, "xf32") || strstr(name, "XF32") ||
           strstr(name, "tensorop");
}

static uint8_t words_of(const char *name)
{
    bool within = copy_kind_of(name).direction == COPY_DTOD;
    return (uint8_t)(WORDS_CHECKED | (says_tf32(name) ? WORDS_TF32 : 0) | (within ? 0 : WORDS_NOT_WITHIN));
}

/* ---- costs recorded with work ---- */

/* Operations and bytes recorded with work, as on TPUs. Work that contains other work (a loop) records the sum of it,
 * copies go from or to other memory, and a collective is bound by links: none of these counts. Operations are compared
 * with the peak of matrix units in bfloat16, for which a TPU is built. */
struct recorded_operations {
    const struct trace *trace;
    struct arg_scan flops, bytes;
    bool *holds_others; /* by work of gpu_events; NULL: no work records costs */
};

static struct recorded_operations recorded_operations_open(const struct trace *trace,
                                                           const struct gpu_events *gpu)
{
    struct recorded_operations recorded = { trace, arg_scan_of(trace, ARG_FLOPS),
                                            arg_scan_of(trace, ARG_BYTES_ACCESSED), NULL };
    if (trace->args[ARG_FLOPS].count == 0 && trace->args[ARG_BYTES_ACCESSED].count == 0)
        return recorded;
    recorded.holds_others = mem_zalloc(gpu->count + 1, sizeof *recorded.holds_others);
    SCOPED uint32_t *last =
        mem_zalloc(trace->track_count + 1, sizeof *last); /* 1 + the work before, by track */
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        uint32_t *before = &last[trace->track[e]];
        if (*before && trace_end_ns(trace, gpu->event[*before - 1]) > trace_start_ns(trace, e))
            recorded.holds_others[*before - 1] = true;
        *before = (uint32_t)i + 1;
    }
    return recorded;
}

/* Add a call for work I alone. Returns its index, counted from 1; 0: no recorded costs. */
static uint32_t call_of_recorded(struct recorded_operations *recorded, struct roofline_calls *calls, size_t i,
                                 event_id e)
{
    static const name_id no_args[COST_ARGS] = {
        [COST_DIMS] = NAME_NONE,
        [COST_TYPES] = NAME_NONE,
        [COST_STRIDES] = NAME_NONE,
        [COST_CONCRETE] = NAME_NONE,
    };
    if (!recorded->holds_others || recorded->holds_others[i] || recorded->trace->kind[e] != EVENT_KERNEL)
        return 0;
    struct op_cost known = { OP_UNKNOWN, OP_UNKNOWN, 0, tensor_type_named("c10::BFloat16", 13) };
    int64_t number;
    if (arg_scan_get(&recorded->flops, e, &number) && number >= 0)
        known.flops = number;
    if (arg_scan_get(&recorded->bytes, e, &number) && number >= 0)
        known.bytes = number;
    if ((known.flops == OP_UNKNOWN && known.bytes == OP_UNKNOWN) ||
        kernel_is_communication(trace_name(recorded->trace, e)))
        return 0;
    enum op_class class = known.flops > 0 ? OP_MATRIX : OP_MOVE;
    struct key_cost cost = { true, keep_cost(calls->arena, &known) };
    *VEC_PUSH(calls) = new_call(recorded->trace->name[e], no_args, &cost, class);
    return (uint32_t)calls->count;
}

/* A captured operator, by its index among those of the captures. */
struct captured {
    enum name_state state; /* NAME_NOT_CHECKED, NAME_PLAIN or NAME_MODELLED */
    struct op_model model;
    name_id name, args[COST_ARGS];
};

struct graph_operations {
    struct roofline_calls *calls;
    struct pricer *pricer;
    const struct graph_links *links; /* NULL: no capture was given */
    struct captured *captured;
    struct names *keys;          /* launch of the graph, and call of the operator in the capture */
    VEC_OF(uint32_t) call_index; /* by key: 1 + its call; 0: not modelled */
};

static struct graph_operations graph_operations_open(struct roofline_calls *calls, struct pricer *pricer,
                                                     struct arena *arena)
{
    struct graph_operations operations = { .calls = calls,
                                           .pricer = pricer,
                                           .links = graph_links_of(calls->trace) };
    if (operations.links) {
        operations.captured =
            arena_zalloc(arena, operations.links->bodies->ops.count + 1, sizeof *operations.captured);
        operations.keys = arena_hold(arena, names_open());
    }
    return operations;
}

static const struct captured *captured_of(struct graph_operations *operations, uint32_t op)
{
    struct captured *captured = &operations->captured[op];
    if (captured->state != NAME_NOT_CHECKED)
        return captured;
    const struct trace *trace = operations->calls->trace;
    const struct captured_op *from = &operations->links->bodies->ops.at[op];
    const name_id args[COST_ARGS] = {
        [COST_DIMS] = from->dims,
        [COST_TYPES] = from->types,
        [COST_STRIDES] = from->strides,
        [COST_CONCRETE] = from->concrete,
    };
    captured->name = id_of_captured(operations->links, trace->names, from->name);
    for (size_t a = 0; a < COST_ARGS; a++)
        captured->args[a] = id_of_captured(operations->links, trace->texts, args[a]);
    captured->state = op_model_find(graph_link_text(operations->links, from->name), &captured->model)
                          ? NAME_MODELLED
                          : NAME_PLAIN;
    return captured;
}

/* 1 + the call of E, work of a graph launched by CALL; 0: none that is modelled. */
static uint32_t call_of_graph_work(struct graph_operations *operations, event_id e, event_id call)
{
    const struct body_launch *launch = graph_link_launch(operations->links, e);
    if (!launch || call == EVENT_NONE)
        return 0;
    const uint32_t key[2] = { call, launch->call };
    name_id id = names_add(operations->keys, (const char *)key, sizeof key);
    if (id < operations->call_index.count)
        return operations->call_index.at[id];
    const struct captured *captured = captured_of(operations, launch->op);
    uint32_t index = 0;
    if (captured->state == NAME_MODELLED) {
        struct key_cost cost =
            price_of(operations->pricer, call, captured->name, &captured->model, captured->args);
        if (cost.modelled) {
            *VEC_PUSH(operations->calls) =
                new_call(captured->name, captured->args, &cost, captured->model.class);
            index = (uint32_t)operations->calls->count;
        }
    }
    *VEC_PUSH(&operations->call_index) = index;
    return index;
}

static void add_operations(struct roofline_calls *calls, struct pricer *pricer,
                           const struct selection *selection, const uint32_t *index)
{
    const struct trace *trace = calls->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct graph_operations graphs; /* before the arena that owns a part of it */
    SCOPED_ARENA struct arena scratch = { 0 };
    uint8_t *words = arena_zalloc(&scratch, names_count(trace->names) + 1, sizeof *words);
    graphs = graph_operations_open(calls, pricer, &scratch);
    ARENA_OWNS(&scratch, &graphs.call_index);
    struct recorded_operations recorded = recorded_operations_open(trace, gpu);
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i], op = gpu->op[i];
        bool in_graph = graph_link_is_work(graphs.links, e);
        if (!selection_holds_launched(selection, e, gpu->call[i]))
            continue;
        uint32_t place = in_graph           ? call_of_graph_work(&graphs, e, gpu->call[i])
                         : op != EVENT_NONE ? index[op]
                                            : 0;
        if (!place)
            place = call_of_recorded(&recorded, calls, i, e);
        if (!place)
            continue;
        struct roofline_call *call = &calls->at[place - 1];
        uint8_t *says = &words[trace->name[e]];
        if (*says == 0)
            *says = words_of(trace_name(trace, e));
        if (call->operations++ == 0 || trace_start_ns(trace, e) < trace_start_ns(trace, call->work)) {
            call->work = e;
            call->call = gpu->call[i];
        }
        int64_t time_ns = trace_dur_ns(trace, e);
        call->time_ns += time_ns;
        call->tf32_ns += *says & WORDS_TF32 ? time_ns : 0;
        /* Is E a copy from or to another memory? The memory's bandwidth does not bound it, and that of the link is
         * unknown. */
        call->crosses = call->crosses || (trace->kind[e] == EVENT_MEMCPY && *says & WORDS_NOT_WITHIN);
        calls->of_work[i] = place;
    }
    free(recorded.holds_others);
}

/* Without devices: each call's own time on the host, without that of the modelled calls in it. */
static void add_host_times(struct roofline_calls *calls, const struct calltree *tree, const uint32_t *index)
{
    const struct trace *trace = calls->trace;
    for (size_t c = 0; c < calls->count; c++)
        calls->at[c].time_ns = trace_dur_ns(trace, calls->at[c].op);
    for (node_id n = 0; n < tree->count; n++) {
        uint32_t own = index[tree->event[n]];
        uint32_t around = tree->parent[n] == NODE_NONE ? 0 : index[tree->event[tree->parent[n]]];
        if (own && around && own != around)
            calls->at[around - 1].time_ns -= trace_dur_ns(trace, tree->event[n]);
    }
}

/* Nesting: INDEX gets, for operators that are not modelled, the innermost modelled one around them. */
static void nest_calls(struct roofline_calls *calls, const struct namer *namer, const struct calltree *tree,
                       uint32_t *index)
{
    const struct trace *trace = calls->trace;
    SCOPED bool *recomputes = mem_zalloc(tree->count + 1, sizeof *recomputes);
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        node_id parent = tree->parent[n];
        uint8_t state = namer->state[trace->name[e]];
        recomputes[n] =
            state == NAME_RECOMPUTES || (parent != NODE_NONE && recomputes[parent] && state != NAME_BACKWARD);
        if (index[e])
            calls->at[index[e] - 1].recomputed = recomputes[n];
        else if (parent != NODE_NONE)
            index[e] = index[tree->event[parent]];
    }
}

/* Mark calls of matrix operators that contain others with work: the operations are those of the inner ones. */
static void find_covers(struct roofline_calls *calls, const struct calltree *tree, const uint32_t *index)
{
    SCOPED bool *inside = mem_zalloc(tree->count + 1, sizeof *inside);
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        uint32_t own = index[tree->event[n]];
        struct roofline_call *call = own ? &calls->at[own - 1] : NULL;
        if (call && call->op == tree->event[n] && call->class == OP_MATRIX &&
            (call->operations || !calls->on_device)) {
            call->covers = inside[n] && !call->own_alone;
            inside[n] = inside[n] || call->cost->flops != OP_UNKNOWN;
        }
        if (tree->parent[n] != NODE_NONE && inside[n])
            inside[tree->parent[n]] = true;
    }
}

/* ---- at the peak ---- */

static enum peak_rate rate_of(const struct roofline_call *call, const struct device_peaks *peaks)
{
    const struct tensor_type *type = call->cost->type;
    if (!type || call->cost->flops == 0 || call->class == OP_MOVE)
        return PEAK_NONE;
    bool is_double = type->sort == ELEMENT_FLOAT && type->size == 8;
    if (call->class != OP_MATRIX)
        return is_double ? PEAK_FP64 : PEAK_FP32;
    if (type->sort == ELEMENT_FLOAT && type->size == 4)
        return 2 * call->tf32_ns > call->time_ns ? PEAK_TF32 : PEAK_FP32;
    return is_double && peaks && peaks->flops[PEAK_FP64_MATRIX] == 0 ? PEAK_FP64 : type->matrix;
}

uint32_t roofline_device(const struct gpu_events *gpu, const struct roofline_call *call)
{
    return call->work == EVENT_NONE ? UINT32_MAX : gpu->device_of_track[gpu->trace->track[call->work]];
}

static void rate_calls(struct roofline_calls *calls)
{
    const struct gpu_events *gpu = gpu_events_of(calls->trace);
    FOR_EACH(call, calls) {
        uint32_t device = roofline_device(gpu, call);
        const struct device_peaks *peaks = device == UINT32_MAX ? NULL : &calls->peaks[device];
        call->rate = (uint8_t)rate_of(call, peaks);
        double peak = peaks && call->rate != PEAK_NONE ? peaks->flops[call->rate] : 0;
        bool computes = call->cost->flops != OP_UNKNOWN && call->cost->flops > 0;
        if (!peaks || call->crosses)
            continue;
        call->compute_ns = !computes ? 0 : peak > 0 ? (double)call->cost->flops / peak * 1e9 : NAN;
        call->memory_ns = call->cost->bytes == OP_UNKNOWN ? 0
                          : peaks->bandwidth > 0          ? (double)call->cost->bytes / peaks->bandwidth * 1e9
                                                          : NAN;
    }
}

double roofline_at_peak_ns(const struct roofline_call *call)
{
    return isnan(call->compute_ns) || isnan(call->memory_ns) ? NAN : fmax(call->compute_ns, call->memory_ns);
}

bool roofline_is_below(const struct roofline_call *call, double share)
{
    return roofline_at_peak_ns(call) < share * (double)call->time_ns;
}

int64_t roofline_shortest_kernel_ns(const struct trace *trace, const struct gpu_events *gpu)
{
    int64_t least_ns = INT64_MAX;
    for (size_t i = 0; i < gpu->count; i++) {
        int64_t time_ns = trace_dur_ns(trace, gpu->event[i]);
        if (trace->kind[gpu->event[i]] == EVENT_KERNEL && time_ns > 0 && time_ns < least_ns)
            least_ns = time_ns;
    }
    return least_ns;
}

void roofline_calls_find(struct roofline_calls *calls, const struct selection *selection)
{
    const struct trace *trace = calls->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    SCOPED_ARENA struct arena scratch = { 0 };
    uint32_t *index = arena_zalloc(&scratch, trace->event_count + 1, sizeof *index);
    struct namer namer = namer_open(trace, &scratch);
    struct taking taking = { trace, &namer };
    calls->on_device = gpu->count > 0;
    calls->of_work = mem_zalloc(gpu->count + 1, sizeof *calls->of_work);
    SCOPED_OBJECT struct pricer *pricer = pricer_open(trace, calls->arena);
    price_calls(calls, pricer, &namer, index);
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, is_nested, &taking);
    calltree_nest(tree);
    nest_calls(calls, &namer, tree, index);
    if (calls->on_device)
        add_operations(calls, pricer, selection, index);
    else
        add_host_times(calls, tree, index);
    find_covers(calls, tree, index);
    rate_calls(calls);
    const struct graph_links *links = graph_links_of(trace);
    if (links && selection->names)
        calls->wanted_captured =
            selection_match_names(links->bodies->texts, selection->filter, selection->exclude, NULL);
}

void roofline_calls_forget(struct roofline_calls *calls)
{
    VEC_FREE(calls);
    free(calls->of_work);
    calls->of_work = NULL;
}
