/*
 * fusion.c - neighbours on a stream that one kernel could do instead.
 *
 * Two neighbours could be one when neither is a matrix product, convolution, attention, collective, copy between
 * memories or pass of a sort or scan, and they belong together: one operator or module launched both, or the second reads a tensor of the size
 * and type that the first wrote. What that would gain is estimated: the gap between them, and the time to write
 * and read the tensor at the bandwidth of the memory. It is more where kernels run below that, or read other tensors twice.
 */
#include "analyze/sequences/parts.h"

#include "base/rows.h"
#include "base/sum.h"
#include "derive/code_paths.h"
#include "derive/device_peaks.h"
#include "derive/copy_names.h"
#include "derive/features.h"
#include "derive/gpu_names.h"
#include "derive/shapes.h"
#include "trace/arg_scan.h"
#include <assert.h>

enum { NOT_CHECKED, FUSABLE, NOT_FUSABLE, MOST_INPUTS = 8 };

/* The tensor between two operators, by their arguments. */
struct between {
    int64_t bytes;
    bool sized;
};

struct fusion_query {
    const struct stream_operations *operations;
    struct names *pairs;         /* of arguments, as bytes: they are few */
    VEC_OF(struct between) pair; /* by what PAIRS has */
    struct outer_operators outer;
    const struct code_paths *modules; /* NULL where no module was recorded */
    bool has_shapes;                  /* of some operators */
    struct arg_scan dims, types;
    uint8_t *of_work, *of_op; /* by name_id: may operations of this name, may those of operators of it? */
};

/* What a join of two neighbours is known to save. */
struct join {
    bool together;
    bool sized;    /* sizes of both were recorded */
    int64_t bytes; /* of the tensor between them; 0 where there is none */
};

/* ---- may it be fused? ---- */

/* Is the kernel a pass of an algorithm that needs several, such as a sort? */
static bool is_pass(const char *name)
{
    static const char *const parts[] = { "DeviceRadixSort",   "DeviceScan",      "DeviceSelect",
                                         "DeviceReduceByKey", "DeviceCompact",   "DeviceRunLengthEncode",
                                         "DeviceMergeSort",   "DevicePartition", "DeviceHistogram",
                                         "bitonicSort",       "radixSort",       "radixFind" };
    return ANY(i, sizeof parts / sizeof *parts, strstr(name, parts[i]));
}

static bool is_fusable(struct fusion_query *query, const struct stream_work *work)
{
    const struct trace *trace = query->operations->trace;
    name_id name = trace->name[work_event(query->operations, work)];
    enum gpu_work kind = (enum gpu_work)query->operations->gpu->work[work->position];
    event_id op = work_op(query->operations, work);
    if (gpu_work_communicates(kind))
        return false;
    if (query->of_work[name] == NOT_CHECKED) {
        const char *text = names_text(trace->names, name);
        bool good = kind == GPU_MEMCPY   ? copy_kind_of(text).direction == COPY_DTOD
                    : kind == GPU_MEMSET ? true
                                         : !kernel_is_product(text) && !is_pass(text);
        query->of_work[name] = good ? FUSABLE : NOT_FUSABLE;
    }
    if (query->of_work[name] == NOT_FUSABLE || op == EVENT_NONE)
        return query->of_work[name] == FUSABLE;
    uint8_t *of_op = &query->of_op[trace->name[op]];
    if (*of_op == NOT_CHECKED)
        *of_op = operator_is_product(trace_name(trace, op)) ? NOT_FUSABLE : FUSABLE;
    return *of_op == FUSABLE;
}

/* ---- does one read what the other wrote? ---- */

/* A tensor as arguments tell it. */
struct tensor {
    struct shape shape;
    const char *type;
    size_t type_len;
};

/* Sizes and types of the inputs of an operator. */
struct inputs {
    name_id dims, types; /* NAME_NONE: not recorded */
};

static struct inputs inputs_of(struct fusion_query *query, event_id op)
{
    int64_t dims = NAME_NONE, types = NAME_NONE;
    arg_scan_get(&query->dims, op, &dims);
    arg_scan_get(&query->types, op, &types);
    return (struct inputs){ (name_id)dims, (name_id)types };
}

static bool tensor_of_input(const struct trace *trace, const struct inputs *inputs, size_t index,
                            struct tensor *tensor)
{
    return shape_of_input(names_text(trace->texts, inputs->dims), index, &tensor->shape) &&
           tensor->shape.count > 0 &&
           concrete_input(names_text(trace->texts, inputs->types), index, &tensor->type, &tensor->type_len);
}

/* Widen SHAPE to what it and MORE come to together; false when they do not fit. */
static bool widen(struct shape *shape, const struct shape *more)
{
    struct shape wide = shape->count >= more->count ? *shape : *more;
    const struct shape *other = shape->count >= more->count ? more : shape;
    size_t shift = wide.count - other->count;
    for (size_t i = 0; i < other->count; i++) {
        int64_t *size = &wide.size[shift + i];
        if (*size != other->size[i] && *size != 1 && other->size[i] != 1)
            return false;
        *size = *size == 1 ? other->size[i] : *size;
    }
    *shape = wide;
    return true;
}

/* What an operator writes: as large as its INPUTS together, else as the first; of the type of the first. */
static bool tensor_written(const struct trace *trace, const struct inputs *inputs, struct tensor *tensor)
{
    bool any = false;
    struct shape first = { 0 };
    for (size_t i = 0; i < MOST_INPUTS; i++) {
        struct tensor input;
        if (!tensor_of_input(trace, inputs, i, &input))
            continue;
        if (!any) {
            *tensor = input;
            first = input.shape;
        } else if (!widen(&tensor->shape, &input.shape)) {
            tensor->shape = first;
            return true;
        }
        any = true;
    }
    return any;
}

/* Bytes of TENSOR; 0 when its type is unknown or it is impossibly large. */
static int64_t tensor_bytes(const struct tensor *tensor)
{
    const struct tensor_type *type = tensor_type_named(tensor->type, tensor->type_len);
    int64_t bytes = type ? type->size : 0;
    for (size_t i = 0; i < tensor->shape.count; i++)
        if (tensor->shape.size[i] < 0 || __builtin_mul_overflow(bytes, tensor->shape.size[i], &bytes))
            return 0;
    return bytes;
}

static bool same_tensor(const struct tensor *a, const struct tensor *b)
{
    return a->shape.count == b->shape.count && a->type_len == b->type_len &&
           memcmp(a->type, b->type, a->type_len) == 0 &&
           memcmp(a->shape.size, b->shape.size, a->shape.count * sizeof *a->shape.size) == 0;
}

/* Bytes of what an operator of inputs A wrote, if one of inputs B reads as much of the type; and whether both have sizes. */
static struct between compare_inputs(const struct trace *trace, const struct inputs *a,
                                     const struct inputs *b)
{
    struct tensor written, input;
    struct between between = { 0, false };
    if (!tensor_written(trace, a, &written))
        return between;
    for (size_t i = 0; i < MOST_INPUTS; i++) {
        if (!tensor_of_input(trace, b, i, &input))
            continue;
        between.sized = true;
        if (same_tensor(&written, &input)) {
            between.bytes = tensor_bytes(&written);
            break;
        }
    }
    return between;
}

/* The same of the operators of two operations. */
static struct between bytes_between(struct fusion_query *query, const struct stream_work *a,
                                    const struct stream_work *b)
{
    const struct trace *trace = query->operations->trace;
    event_id op_a = work_op(query->operations, a), op_b = work_op(query->operations, b);
    if (op_a == EVENT_NONE || op_b == EVENT_NONE || op_a == op_b)
        return (struct between){ 0, false };
    const struct inputs of[] = { inputs_of(query, op_a), inputs_of(query, op_b) };
    if (ANY(i, 2, of[i].dims == NAME_NONE || of[i].types == NAME_NONE))
        return (struct between){ 0, false };
    name_id id = names_add(query->pairs, (const char *)of, sizeof of);
    if (id == query->pair.count)
        *VEC_PUSH(&query->pair) = compare_inputs(trace, &of[0], &of[1]);
    assert(query->pair.at); /* it has a row for each of the names */
    return query->pair.at[id];
}

/* ---- joins ---- */

static uint32_t module_of(const struct fusion_query *query, event_id call)
{
    return query->modules && call != EVENT_NONE ? code_place_of(query->modules, call).path : CODE_OUTSIDE;
}

static struct join join_of(struct fusion_query *query, const struct stream_work *a,
                           const struct stream_work *b)
{
    const struct trace *trace = query->operations->trace;
    struct between between = bytes_between(query, a, b);
    struct join join = { .sized = between.sized, .bytes = between.bytes };
    event_id call_a = work_call(query->operations, a), call_b = work_call(query->operations, b);
    size_t outer = outer_operator_of(&query->outer, trace, call_a);
    uint32_t module = module_of(query, call_a);
    join.together = join.bytes > 0 ||
                    (outer != SIZE_MAX && outer == outer_operator_of(&query->outer, trace, call_b)) ||
                    (module != CODE_OUTSIDE && module == module_of(query, call_b));
    return join;
}

/* ---- chains ---- */

/* What chains of the same operator and operations come to. */
struct fusion {
    name_id op; /* NAME_NONE: unknown */
    size_t first, length;
    bool sized;
    int64_t count, work_ns, gaps_ns, host_ns, bytes, gain_ns;
};

struct fusions {
    VEC_OF(struct fusion) at;
    VEC_OF(name_id) names; /* of the operations of the first of each, its operator in front */
    struct names *keys;
};

/* A chain while it grows. */
struct grown {
    int64_t work_ns, longest_ns, gaps_ns, host_ns, bytes, saved_ns;
    bool sized;
};

static void add_work(struct grown *grown, int64_t work_ns)
{
    grown->work_ns += work_ns;
    grown->longest_ns = work_ns > grown->longest_ns ? work_ns : grown->longest_ns;
}

/* The most that two operations, the shorter of MOST_NS, save by not writing and reading what lies between: BANDWIDTH in bytes
 * per nanosecond, 0: unknown. Where shapes were recorded, two kernels of one operator, between whose parts nothing is known to lie, save
 * nothing. */
static int64_t saved_ns(const struct join *join, int64_t most_ns, double bandwidth, bool has_shapes)
{
    if (!join->sized && has_shapes)
        return 0;
    if (!join->sized || bandwidth <= 0)
        return most_ns;
    double ns = 2 * (double)join->bytes / bandwidth;
    return ns < (double)most_ns ? (int64_t)ns : most_ns;
}

/* Of B with the work before it. */
static int64_t add_join(struct grown *grown, const struct join *join,
                        const struct stream_operations *operations, const struct stream_work *b,
                        double bandwidth, bool has_shapes)
{
    int64_t of_a = work_dur_ns(operations, b - 1), of_b = work_dur_ns(operations, b),
            gap_ns = work_gap_ns(operations, b);
    int64_t own_ns = saved_ns(join, of_a < of_b ? of_a : of_b, bandwidth, has_shapes);
    grown->gaps_ns += gap_ns;
    grown->host_ns += b->because == LATE_HOST ? gap_ns : 0;
    grown->sized = grown->sized || join->sized;
    sum_add(&grown->bytes, join->bytes);
    grown->saved_ns += own_ns;
    return own_ns;
}

static void keep_chain(struct fusions *fusions, struct fusion_query *query, const struct stream_work *first,
                       size_t count, const struct grown *grown)
{
    const struct stream_operations *operations = query->operations;
    const struct trace *trace = operations->trace;
    size_t outer = outer_operator_of(&query->outer, trace, work_call(operations, first));
    size_t begin = fusions->names.count;
    name_id op = outer == SIZE_MAX ? NAME_NONE : trace->name[query->outer.at[outer]];
    *VEC_PUSH(&fusions->names) = op;
    for (size_t i = 0; i < count; i++)
        *VEC_PUSH(&fusions->names) = trace->name[work_event(operations, &first[i])];
    uint32_t id = names_add(fusions->keys, (const char *)&fusions->names.at[begin],
                            (count + 1) * sizeof *fusions->names.at);
    if (id == fusions->at.count)
        *VEC_PUSH(&fusions->at) = (struct fusion){ .op = op, .first = begin + 1, .length = count };
    else
        fusions->names.count = begin;
    struct fusion *fusion = &fusions->at.at[id];
    int64_t most_ns = grown->work_ns + grown->gaps_ns - grown->longest_ns;
    int64_t gain_ns = grown->gaps_ns + grown->saved_ns;
    fusion->count++;
    fusion->sized = fusion->sized || grown->sized;
    fusion->work_ns += grown->work_ns;
    sum_add(&fusion->gaps_ns, grown->gaps_ns);
    sum_add(&fusion->host_ns, grown->host_ns);
    sum_add(&fusion->bytes, grown->bytes);
    sum_add(&fusion->gain_ns, gain_ns < most_ns ? gain_ns : most_ns);
}

static void fusion_find_chains(struct sequences *sequences, struct fusion_query *query,
                               struct fusions *fusions, const struct operations_of_stream *stream)
{
    const struct stream_operations *operations = query->operations;
    const struct trace_device *device = operations->gpu->devices[stream->device].properties;
    struct device_peaks peaks;
    double bandwidth = device && device_peaks_find(device->name, &peaks) ? peaks.bandwidth / 1e9 : 0;
    const struct stream_work *at = &operations->at[stream->first];
    for (size_t first = 0, end; first < stream->count; first = end) {
        struct grown grown = { 0 };
        end = first + 1;
        if (!is_fusable(query, &at[first]))
            continue;
        add_work(&grown, work_dur_ns(operations, &at[first]));
        for (; end < stream->count && !at[end].paused && is_fusable(query, &at[end]); end++) {
            struct join join = join_of(query, &at[end - 1], &at[end]);
            if (!join.together)
                break;
            int64_t own_ns = add_join(&grown, &join, operations, &at[end], bandwidth, query->has_shapes);
            *VEC_PUSH(&sequences->fused) = (struct fused_work){ at[end].position, own_ns };
            add_work(&grown, work_dur_ns(operations, &at[end]));
        }
        if (end - first > 1)
            keep_chain(fusions, query, &at[first], end - first, &grown);
    }
}

/* ---- rows ---- */

static const struct key by_gain_count[] = { DESC(struct fusion, gain_ns), DESC(struct fusion, count),
                                            KEY_END };

static void fusion_add_rows(struct sequences *sequences, const struct trace *trace, struct work_words *words,
                            struct fusions *fusions)
{
    SORT(&fusions->at, by_gain_count);
    FOR_EACH(fusion, &fusions->at) {
        const name_id *names = &fusions->names.at[fusion->first];
        struct fusion_row row = { .count = fusion->count,
                                  .length = (int64_t)fusion->length,
                                  .work_ns = fusion->work_ns,
                                  .gaps_ns = fusion->gaps_ns,
                                  .host_ns = fusion->host_ns,
                                  .device_ns = fusion->gaps_ns - fusion->host_ns,
                                  .bytes = fusion->sized ? fusion->bytes : TABLE_INT_MISSING,
                                  .gain_ns = fusion->gain_ns };
        if (fusion->op != NAME_NONE)
            row.op =
                (struct text){ names_text(trace->names, fusion->op), names_length(trace->names, fusion->op) };
        row.operations = operations_in_few_words(words, names, fusion->length);
        row.names = operations_in_full(words, names, fusion->length);
        sum_add(&sequences->fusion_gain_ns, row.gain_ns);
        *VEC_PUSH(&sequences->fusions) = row;
    }
}

static bool has_modules(const struct trace *trace)
{
    return ANY(id, names_count(trace->names), strncmp(names_text(trace->names, id), "nn.Module: ", 11) == 0);
}

void sequences_add_fusions(struct sequences *sequences, const struct stream_operations *operations,
                           struct work_words *words)
{
    const struct trace *trace = operations->trace;
    size_t names = names_count(trace->names);
    SCOPED_ARENA struct arena scratch = { 0 };
    struct fusion_query query = { .operations = operations,
                                  .pairs = names_open(),
                                  .outer = outer_operators_open(trace, NULL, &scratch),
                                  .modules = has_modules(trace) ? code_paths_of(trace, CODE_MODULES) : NULL,
                                  .has_shapes = trace_features(trace) & FEATURE_SHAPES,
                                  .dims = arg_scan_of(trace, ARG_INPUT_DIMS),
                                  .types = arg_scan_of(trace, ARG_INPUT_TYPES),
                                  .of_work = arena_zalloc(&scratch, names + 1, 1),
                                  .of_op = arena_zalloc(&scratch, names + 1, 1) };
    struct fusions fusions = { .keys = names_open() };
    for (size_t s = 0; s < operations->streams.count; s++)
        fusion_find_chains(sequences, &query, &fusions, &operations->streams.at[s]);
    fusion_add_rows(sequences, trace, words, &fusions);
    EACH(names_free, fusions.keys, query.pairs);
    EACH(VEC_FREE, &fusions.at, &fusions.names, &query.pair);
}
