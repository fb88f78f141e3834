/* The operations of a stream, or of a host thread without devices, are a list. From each softmax the list is searched in both
 * directions up to the next product. They belong together if the scores, rows by columns of the softmax, are what the
 * product before writes and the product after reads. */
#include "analyze/unfused_attention.h"

#include "derive/device_peaks.h"
#include "derive/gpu_names.h"
#include "derive/op_cost.h"
#include <math.h>

enum role { ROLE_UNKNOWN, ROLE_OTHER, ROLE_PRODUCT, ROLE_ADDED_PRODUCT, ROLE_SOFTMAX, ROLE_SOFTMAX_BACKWARD };

/* An operation in order, and the operator that it is of. */
struct operation {
    event_id event, op;
    uint32_t work;
};

struct operations {
    VEC_OF(struct operation);
};

struct attention_search {
    const struct trace *trace;
    uint8_t *role; /* by name */
    struct device_peaks peaks;
    size_t farthest; /* operations from a softmax to a product */
    struct unfused_attention *found;
};

/* A batch of products [rows, inner] by [inner, columns]. */
struct product {
    int64_t batch, rows, inner, columns;
    const struct tensor_type *type; /* NULL: not recorded */
};

/* ---- operators ---- */

static enum role role_of(struct attention_search *search, event_id op)
{
    if (op == EVENT_NONE)
        return ROLE_OTHER;
    uint8_t *role = &search->role[search->trace->name[op]];
    const char *name = trace_name(search->trace, op);
    if (*role == ROLE_UNKNOWN)
        *role = strcmp(name, "aten::bmm") == 0                      ? ROLE_PRODUCT
                : strcmp(name, "aten::baddbmm") == 0                ? ROLE_ADDED_PRODUCT
                : strcmp(name, "aten::_softmax") == 0               ? ROLE_SOFTMAX
                : strcmp(name, "aten::_softmax_backward_data") == 0 ? ROLE_SOFTMAX_BACKWARD
                                                                    : ROLE_OTHER;
    return (enum role) * role;
}

static bool is_attention_product(struct attention_search *search, const struct operation *operation)
{
    enum role role = role_of(search, operation->op);
    return role == ROLE_PRODUCT || role == ROLE_ADDED_PRODUCT ||
           (operation->op != EVENT_NONE && operator_is_product(trace_name(search->trace, operation->op)));
}

static const char *dims_of(const struct attention_search *search, event_id op)
{
    int64_t dims = op == EVENT_NONE ? -1 : trace_arg_or(search->trace, ARG_INPUT_DIMS, op, -1);
    return dims < 0 ? NULL : names_text(search->trace->texts, (name_id)dims);
}

/* The type of input INDEX of OP; NULL: not recorded. */
static const struct tensor_type *type_of(const struct attention_search *search, event_id op, size_t index)
{
    int64_t types = trace_arg_or(search->trace, ARG_INPUT_TYPES, op, -1);
    const char *type;
    size_t len;
    if (types < 0 || !concrete_input(names_text(search->trace->texts, (name_id)types), index, &type, &len))
        return NULL;
    return tensor_type_named(type, len);
}

/* False: OPERATION is no batch of products of known sizes. */
static bool read_product(struct attention_search *search, const struct operation *operation,
                         struct product *product)
{
    enum role role = role_of(search, operation->op);
    const char *dims = dims_of(search, operation->op);
    size_t first = role == ROLE_ADDED_PRODUCT;
    struct shape a, b;
    if ((role != ROLE_PRODUCT && role != ROLE_ADDED_PRODUCT) || !dims || !shape_of_input(dims, first, &a) ||
        !shape_of_input(dims, first + 1, &b) || a.count != 3 || b.count != 3 || a.size[2] != b.size[1])
        return false;
    *product =
        (struct product){ a.size[0], a.size[1], a.size[2], b.size[2], type_of(search, operation->op, first) };
    return true;
}

/* Elements of the largest input of OP, one of its first few; 0: none is known. */
static int64_t largest_input(const struct attention_search *search, event_id op)
{
    enum { FEW = 4 };
    const char *dims = dims_of(search, op);
    int64_t most = 0;
    for (size_t i = 0; dims && i < FEW; i++) {
        int64_t elements = shape_elements(dims, i);
        most = elements > most ? elements : most;
    }
    return most;
}

static int64_t written_by(const struct product *product)
{
    return count_times(product->batch, count_times(product->rows, product->columns));
}

static int64_t read_first(const struct product *product)
{
    return count_times(product->batch, count_times(product->rows, product->inner));
}

/* ---- one softmax ---- */

enum { MOST_PRODUCTS = 4 };

/* The products around a softmax, and the operations on scores between them. */
struct block {
    struct product product[MOST_PRODUCTS];
    const struct operation *of[MOST_PRODUCTS];
    size_t count;
    size_t first, end; /* operations between the innermost products */
};

static int64_t duration_of(const struct attention_search *search, const struct operation *operation)
{
    return trace_dur_ns(search->trace, operation->event);
}

/* From the softmax at AT in direction STEP, up to MOST products that SCORES are of: written by the innermost
 * of them in front, read by the innermost behind. Operations between softmax and innermost product extend the
 * block. False: there is none. */
static bool find_products(struct attention_search *search, const struct operations *all, size_t at, int step,
                          int64_t scores, size_t most, struct block *block)
{
    size_t found = 0, i = at;
    for (size_t steps = 0; steps < search->farthest && found < most; steps++) {
        if ((step < 0 && i == 0) || (step > 0 && i + 1 == all->count))
            break;
        i = step < 0 ? i - 1 : i + 1;
        if (!is_attention_product(search, &all->at[i]))
            continue;
        struct product product;
        if (!read_product(search, &all->at[i], &product))
            break;
        bool fits = step < 0 && found == 0 ? written_by(&product) == scores : read_first(&product) == scores;
        if (!fits)
            break;
        if (found++ == 0) {
            block->first = step < 0 ? i + 1 : block->first;
            block->end = step > 0 ? i : block->end;
        }
        block->product[block->count] = product;
        block->of[block->count++] = &all->at[i];
    }
    return found > 0;
}

/* At half the peak rate, or at the bandwidth, for what a fused kernel computes and moves; NAN: not known. */
static double fused_ns(const struct attention_search *search, const struct block *block, int64_t scores,
                       bool backward)
{
    const double reached = 0.5;
    double flops = 0, bytes = 0;
    const struct tensor_type *type = block->product[0].type;
    if (!type || type->matrix == PEAK_NONE || !(search->peaks.flops[type->matrix] > 0) ||
        !(search->peaks.bandwidth > 0))
        return NAN;
    FOR_EACH_OF(product, block->product, block->count) {
        flops += 2.0 * (double)written_by(product) * (double)product->inner;
        bool reads_scores = read_first(product) == scores;
        double others = (double)product->rows * (double)(reads_scores ? product->columns : product->inner) +
                        (double)product->inner * (double)product->columns;
        bytes += (double)product->batch * others * (double)type->size;
    }
    flops *= backward ? 1 + 1.0 / (double)block->count : 1;
    return 1e9 * fmax(flops / (reached * search->peaks.flops[type->matrix]), bytes / search->peaks.bandwidth);
}

static void add_attention_part(struct attention_search *search, const struct operation *operation,
                               double factor)
{
    struct unfused_attention *found = search->found;
    int64_t time_ns = duration_of(search, operation);
    found->time_ns += time_ns;
    found->then_ns += (int64_t)(factor * (double)time_ns);
    *VEC_PUSH(found) = (struct unfused_part){ operation->event, operation->work, factor };
}

static void add_block(struct attention_search *search, const struct operations *all,
                      const struct block *block, int64_t scores, bool backward)
{
    double recorded_ns = 0, more = backward ? 1 + 1.0 / (double)block->count : 1;
    for (size_t i = 0; i < block->count; i++)
        recorded_ns += (double)duration_of(search, block->of[i]);
    double then_ns = fused_ns(search, block, scores, backward), factor = more;
    if (recorded_ns > 0 && then_ns < more * recorded_ns) /* false where it is not known */
        factor = then_ns / recorded_ns;
    for (size_t i = 0; i < block->count; i++)
        add_attention_part(search, block->of[i], factor);
    for (size_t i = block->first; i < block->end; i++)
        if (largest_input(search, all->at[i].op) >= scores)
            add_attention_part(search, &all->at[i], 0);
    search->found->blocks++;
}

/* The elements of input 0 of a softmax, which are its scores; 0: not recorded. */
static int64_t scores_of(const struct attention_search *search, event_id op)
{
    const char *dims = dims_of(search, op);
    int64_t elements = dims ? shape_elements(dims, 0) : 0;
    return elements > 0 ? elements : 0;
}

static void look_at_softmax(struct attention_search *search, const struct operations *all, size_t at)
{
    enum role role = role_of(search, all->at[at].op);
    if (role != ROLE_SOFTMAX && role != ROLE_SOFTMAX_BACKWARD)
        return;
    bool backward = role == ROLE_SOFTMAX_BACKWARD;
    struct block block = { .first = at, .end = at + 1 };
    int64_t scores = scores_of(search, all->at[at].op);
    size_t most = backward ? 2 : 1;
    if (scores == 0 || !find_products(search, all, at, -1, scores, most, &block) ||
        !find_products(search, all, at, 1, scores, most, &block))
        return;
    struct unfused_attention *found = search->found;
    if (found->largest == EVENT_NONE ||
        trace_dur_ns(search->trace, all->at[at].op) > trace_dur_ns(search->trace, found->largest))
        found->largest = all->at[at].op;
    add_block(search, all, &block, scores, backward);
}

/* ---- lists of operations ---- */

static void search_streams(struct attention_search *search)
{
    enum { FARTHEST = 12 };
    const struct gpu_events *gpu = gpu_events_of(search->trace);
    const struct gpu_streams *streams = gpu_streams_of(gpu->trace);
    search->farthest = FARTHEST;
    FOR_EACH(stream, streams) {
        const struct trace_device *device = gpu->devices[stream->device].properties;
        device_peaks_find(device ? device->name : NULL, &search->peaks);
        SCOPED struct operations all = { 0 };
        for (size_t i = stream->first; i < stream->first + stream->count; i++) {
            uint32_t work = streams->position[i];
            *VEC_PUSH(&all) = (struct operation){ gpu->event[work], gpu->op[work], work };
        }
        for (size_t i = 0; i < all.count; i++)
            look_at_softmax(search, &all, i);
    }
}

static bool is_attention_operator(const void *context, event_id e)
{
    return ((const struct trace *)context)->kind[e] == EVENT_OP;
}

/* Operators, thread after thread: products and softmaxes, and the outermost ones that call none of these. What they call is a part of
 * them. */
static void search_threads(struct attention_search *search)
{
    enum { FARTHEST = 40 };
    SCOPED_OBJECT struct calltree *tree = calltree_open(search->trace, is_attention_operator, search->trace);
    calltree_nest(tree);
    SCOPED bool *calls_one = mem_zalloc(tree->count + 1, sizeof *calls_one),
                *is_part = mem_zalloc(tree->count + 1, sizeof *is_part);
    for (node_id n = (node_id)tree->count; n-- > 0;)
        if (tree->parent[n] != NODE_NONE)
            calls_one[tree->parent[n]] |= calls_one[n] || role_of(search, tree->event[n]) != ROLE_OTHER;
    search->farthest = FARTHEST;
    for (size_t t = 0; t < tree->thread_count; t++) {
        SCOPED struct operations all = { 0 };
        for (node_id n = tree->threads[t].first; n < tree->threads[t].first + tree->threads[t].count; n++) {
            node_id parent = tree->parent[n];
            bool is_operation = role_of(search, tree->event[n]) != ROLE_OTHER || !calls_one[n];
            is_part[n] = parent != NODE_NONE && is_part[parent];
            if (is_operation && !is_part[n])
                *VEC_PUSH(&all) = (struct operation){ tree->event[n], tree->event[n], UINT32_MAX };
            is_part[n] |= is_operation;
        }
        for (size_t i = 0; i < all.count; i++)
            look_at_softmax(search, &all, i);
    }
}

struct unfused_attention unfused_attention_find(const struct trace *trace)
{
    struct unfused_attention found = { .largest = EVENT_NONE };
    struct attention_search search = { .trace = trace,
                                       .role = mem_zalloc(names_count(trace->names) + 1, 1),
                                       .found = &found };
    if (names_find(trace->names, "aten::_softmax", strlen("aten::_softmax")) != NAME_NONE) {
        if (gpu_events_of(trace)->count)
            search_streams(&search);
        else
            search_threads(&search);
    }
    free(search.role);
    return found;
}
