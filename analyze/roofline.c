/*
 * roofline.c - see roofline.h.
 *
 * A kernel belongs to the nearest operator around its launch whose operations are known: aten::conv2d launches nothing
 * itself. Calls are brought together by sorting them by name, shapes and types, which are numbers already.
 */
#include "analyze/roofline.h"

#include "base/runs.h"
#include "base/sum.h"
#include "facts/flops.h"
#include "facts/gpu_events.h"
#include "facts/shapes.h"
#include "trace/calltree.h"
#include <stdlib.h>
#include <string.h>

const struct trace_wants roofline_wants = {
    .args = GPU_EVENTS_WANTS | WANT(INPUT_DIMS) | WANT(INPUT_TYPES) | WANT(CONCRETE_INPUTS),
};

/* clang-format off */
/*
 * Data sheets of the makers; dense figures. A name is looked for in the device's, the first that fits counts. An MI250X
 * is two devices.
 */
static const struct {
    const char *name;
    double matrix_gflops, vector_gflops, bandwidth_gbs;
} devices[] = {
    { "B200", 2250e3, 75e3, 7700 },
    { "H200", 989.4e3, 66.9e3, 4800 },
    { "H100 NVL", 835.5e3, 60e3, 3900 },
    { "H100 PCIe", 756e3, 51.2e3, 2000 },
    { "H100", 989.4e3, 66.9e3, 3350 },
    { "A100-SXM4-80GB", 312e3, 19.5e3, 2039 },
    { "A100 80GB PCIe", 312e3, 19.5e3, 1935 },
    { "A100", 312e3, 19.5e3, 1555 },
    { "V100-PCIE", 112e3, 14e3, 900 },
    { "V100", 125e3, 15.7e3, 900 },
    { "Tesla T4", 65e3, 8.1e3, 320 },
    { "NVIDIA L40S", 362e3, 91.6e3, 864 },
    { "NVIDIA L4", 121e3, 30.3e3, 300 },
    { "MI300X", 1307.4e3, 163.4e3, 5300 },
    { "MI250X", 191.5e3, 23.95e3, 1638 },
    { "MI210", 181e3, 22.6e3, 1638 },
};
/* clang-format on */

struct roof roof_of_device(const char *name)
{
    for (size_t i = 0; i < sizeof devices / sizeof *devices; i++)
        if (strstr(name, devices[i].name))
            return (struct roof){ name, devices[i].matrix_gflops, devices[i].vector_gflops,
                                  devices[i].bandwidth_gbs };
    return (struct roof){ .device = name };
}

struct roof roof_of(const struct trace *trace)
{
    for (size_t f = 0; f < trace->file_count; f++)
        for (size_t d = 0; d < trace->files[f].devices.count; d++) {
            const char *name = trace->files[f].devices.at[d].name;
            struct roof roof = name ? roof_of_device(name) : (struct roof){ 0 };
            if (roof.bandwidth_gbs > 0)
                return roof;
        }
    return (struct roof){ 0 };
}

/* ---- bytes ---- */

/* Bytes of an element of the type called NAME, as C++ names it in `Input type`; 0: no tensor, or not known. */
static int64_t element_size(const char *name, size_t len)
{
    static const struct {
        const char *name;
        int64_t size;
    } types[] = {
        { "float", 4 },
        { "double", 8 },
        { "c10::Half", 2 },
        { "c10::BFloat16", 2 },
        { "int", 4 },
        { "long int", 8 },
        { "short int", 2 },
        { "signed char", 1 },
        { "unsigned char", 1 },
        { "bool", 1 },
        { "c10::Float8_e4m3fn", 1 },
        { "c10::Float8_e5m2", 1 },
        { "long", 8 },
        { "c10::complex<float>", 8 },
        { "c10::complex<double>", 16 },
    };
    for (size_t i = 0; i < sizeof types / sizeof *types; i++)
        if (strlen(types[i].name) == len && memcmp(types[i].name, name, len) == 0)
            return types[i].size;
    return 0;
}

/* Elements that the operator writes; 0: not known. FLOPS are those of the call. */
static int64_t output_elements(enum flops_operator op, const char *dims, int64_t flops)
{
    struct shape a, b;
    switch (op) {
    case FLOPS_MM:
    case FLOPS_BMM:
    case FLOPS_ADDMM:
    case FLOPS_BADDBMM: { /* 2 times the inner size operations for each */
        size_t first = op == FLOPS_ADDMM || op == FLOPS_BADDBMM;
        return shape_of_input(dims, first, &a) && a.count > 0 && a.size[a.count - 1] > 0
                   ? flops / (2 * a.size[a.count - 1])
                   : 0;
    }
    case FLOPS_CONV2D: /* weights: outputs, inputs of a group, height, width */
        if (!shape_of_input(dims, 1, &b) || b.count != 4 || b.size[1] <= 0 || b.size[2] <= 0 ||
            b.size[3] <= 0)
            return 0;
        return flops / (2 * b.size[1] * b.size[2] * b.size[3]);
    case FLOPS_MUL:
    case FLOPS_ADD: { /* as large as the larger input, size by size from the last */
        int64_t product = 1;
        if (!shape_of_input(dims, 0, &a))
            return 0;
        if (!shape_of_input(dims, 1, &b))
            b.count = 0;
        for (size_t i = 0; i < a.count || i < b.count; i++) {
            int64_t left = i < a.count ? a.size[a.count - 1 - i] : 1;
            int64_t right = i < b.count ? b.size[b.count - 1 - i] : 1;
            if (__builtin_mul_overflow(product, left > right ? left : right, &product))
                return 0;
        }
        return product;
    }
    default: return 0;
    }
}

/* What the call must at least move; 0 when it does not tell. */
static int64_t bytes_of(enum flops_operator op, const char *dims, const char *types, int64_t flops)
{
    int64_t bytes = 0, first_size = 0;
    const char *type;
    size_t len;
    for (size_t i = 0; types && concrete_input(types, i, &type, &len); i++) {
        int64_t size = element_size(type, len), elements = shape_elements(dims, i);
        int64_t read;
        if (size == 0 || elements <= 0)
            continue;
        if (__builtin_mul_overflow(size, elements, &read) || __builtin_add_overflow(bytes, read, &bytes))
            return 0; /* no memory is that large */
        first_size = first_size ? first_size : size;
    }
    int64_t output = output_elements(op, dims, flops);
    if (first_size == 0 || output <= 0 || __builtin_mul_overflow(output, first_size, &output) ||
        __builtin_add_overflow(bytes, output, &bytes))
        return 0;
    return bytes;
}

/* ---- calls ---- */

struct call {
    name_id name, dims, types;
    event_id event;
    int64_t flops, bytes, time_ns;
};

static int compare_calls(const void *left, const void *right)
{
    const struct call *a = left, *b = right;
    if (a->name != b->name)
        return a->name < b->name ? -1 : 1;
    if (a->dims != b->dims)
        return a->dims < b->dims ? -1 : 1;
    if (a->types != b->types)
        return a->types < b->types ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static bool is_operator(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_OP && !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
}

/* The device time of each call that INDEX (by event; 0: none, else the call + 1) tells. */
static void add_device_times(const struct trace *trace, const uint32_t *index, struct call *calls)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct calltree *tree = calltree_open(trace, is_operator, trace);
    calltree_nest(tree);
    node_id *nodes = calltree_nodes(tree);
    uint32_t *innermost = mem_alloc((tree->count + 1) *
                                    sizeof *innermost); /* by node, as in INDEX: its own, else its caller's */
    for (node_id n = 0; n < tree->count; n++) {
        uint32_t own = index[tree->event[n]];
        innermost[n] = own || tree->parent[n] == NODE_NONE ? own : innermost[tree->parent[n]];
    }
    for (size_t i = 0; i < gpu->count; i++) {
        node_id n = gpu->op[i] == EVENT_NONE ? NODE_NONE : nodes[gpu->op[i]];
        if (n != NODE_NONE && innermost[n])
            calls[innermost[n] - 1].time_ns += trace->dur_ns[gpu->event[i]];
    }
    free(innermost);
    free(nodes);
    calltree_free(tree);
}

static struct roofline_row row_of(const struct trace *trace, struct arena *texts, const struct call *calls,
                                  size_t count)
{
    struct roofline_row row = { .calls = (int64_t)count };
    struct buffer shapes = { 0 };
    for (size_t i = 0; i < count; i++) {
        sum_add(&row.flops, calls[i].flops);
        sum_add(&row.bytes, calls[i].bytes);
        row.time_ns += calls[i].time_ns;
    }
    shapes_show(&shapes, names_text(trace->texts, calls->dims));
    row.name =
        (struct text){ names_text(trace->names, calls->name), names_length(trace->names, calls->name) };
    row.shapes = (struct text){ arena_strndup(texts, shapes.at, shapes.count), shapes.count };
    row.intensity = (double)row.flops / (double)row.bytes;
    row.gflops = (double)row.flops / (double)row.time_ns;
    buffer_release(&shapes);
    return row;
}

struct calls {
    struct call *at;
    size_t count, capacity;
};

/* The calls of SELECTION whose operations and bytes are known, by event; INDEX gets their places, counted from 1. */
static struct calls find_calls(const struct trace *trace, const struct selection *selection, bool on_device,
                               uint32_t *index)
{
    struct calls calls = { 0 };
    uint8_t *ops = mem_alloc(names_count(trace->names) + 1);
    for (name_id id = 0; id < names_count(trace->names); id++)
        ops[id] = (uint8_t)flops_operator_of(names_text(trace->names, id));
    for (event_id e = 0; e < trace->event_count; e++) {
        enum flops_operator op = (enum flops_operator)ops[trace->name[e]];
        const char *dims = op && trace->kind[e] == EVENT_OP ? trace_arg_text(trace, ARG_INPUT_DIMS, e) : NULL;
        if (!dims || !selection_holds(selection, e))
            continue;
        int64_t flops = flops_count(op, dims, trace_arg_text(trace, ARG_CONCRETE_INPUTS, e));
        int64_t bytes = bytes_of(op, dims, trace_arg_text(trace, ARG_INPUT_TYPES, e), flops);
        if (flops <= 0 || bytes <= 0)
            continue;
        *VEC_PUSH(&calls) = (struct call){ .name = trace->name[e],
                                           .dims = (name_id)trace_arg_or(trace, ARG_INPUT_DIMS, e, 0),
                                           .types = (name_id)trace_arg_or(trace, ARG_INPUT_TYPES, e, 0),
                                           .event = e,
                                           .flops = flops,
                                           .bytes = bytes,
                                           .time_ns = on_device ? 0 : trace->dur_ns[e] };
        index[e] = (uint32_t)calls.count;
    }
    free(ops);
    return calls;
}

static bool took_less(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct roofline_row *)a)->time_ns < ((const struct roofline_row *)b)->time_ns;
}

struct roofline roofline_analyze(const struct trace *trace, const struct selection *selection)
{
    struct roofline roofline = { 0 };
    bool on_device = gpu_events_of(trace)->count > 0;
    uint32_t *index = mem_zalloc(trace->event_count + 1, sizeof *index);
    struct calls calls = find_calls(trace, selection, on_device, index);
    if (on_device)
        add_device_times(trace, index, calls.at);
    if (calls.count)
        qsort(calls.at, calls.count, sizeof *calls.at, compare_calls);
    for (size_t first = 0, end; first < calls.count; first = end) {
        for (end = first + 1; end < calls.count && calls.at[end].name == calls.at[first].name &&
                              calls.at[end].dims == calls.at[first].dims &&
                              calls.at[end].types == calls.at[first].types;)
            end++;
        struct roofline_row row = row_of(trace, &roofline.texts, &calls.at[first], end - first);
        if (row.time_ns > 0)
            *VEC_PUSH(&roofline.rows) = row;
    }
    runs_sort(roofline.rows.at, roofline.rows.count, sizeof *roofline.rows.at, took_less, NULL);
    VEC_FREE(&calls);
    free(index);
    return roofline;
}

void roofline_release(struct roofline *roofline)
{
    VEC_FREE(&roofline->rows);
    arena_release(&roofline->texts);
}
