/* Stacks are a tree: each node a frame below its caller. At the end one pass over the tree adds the time below each
 * node to its function and call, unless that is already further out on the same stack. */
#include "ingest/stack_sums.h"

#include "base/rows.h"
#include "base/sum.h"
#include "ingest/json_text.h"
#include <assert.h>
#include <math.h>

void stack_sums_open(struct stack_sums *sums)
{
    *sums = (struct stack_sums){ .profile = profile_open(), .frames = names_open(), .keys = names_open() };
    names_add(sums->keys, "", 0); /* the id of the root */
    *VEC_PUSH(&sums->nodes) = (struct stack_node){ .function = FUNCTION_NONE };
}

void stack_sums_release(struct stack_sums *sums)
{
    profile_free(sums->profile);
    EACH(names_free, sums->frames, sums->keys);
    EACH(VEC_FREE, &sums->function_of, &sums->nodes);
    buffer_release(&sums->key);
    *sums = (struct stack_sums){ 0 };
}

function_id stack_sums_function(struct stack_sums *sums, const char *name, size_t name_len, const char *file,
                                size_t file_len, int64_t line)
{
    buffer_clear(&sums->key);
    buffer_add(&sums->key, name, name_len);
    buffer_putc(&sums->key, '\0');
    buffer_add(&sums->key, file_len ? file : "", file_len);
    buffer_add(&sums->key, (const char *)&line, sizeof line);
    name_id id = names_add(sums->frames, sums->key.at, sums->key.count);
    if (id < sums->function_of.count)
        return sums->function_of.at[id];
    struct arena *arena = &sums->profile->arena;
    const char *kept = arena_strndup(arena, name, name_len);
    const char *of = file_len ? arena_strndup(arena, file, file_len) : "~";
    function_id function = profile_function(sums->profile, of, file_len ? file_len : 1,
                                            file_len ? line : PROFILE_NAME_LINE, kept, name_len);
    *VEC_PUSH(&sums->function_of) = function;
    return function;
}

stack_id stack_sums_below(struct stack_sums *sums, stack_id parent, function_id function)
{
    const uint32_t key[2] = { parent, function };
    stack_id id = names_add(sums->keys, (const char *)key, sizeof key);
    if (id == sums->nodes.count)
        *VEC_PUSH(&sums->nodes) = (struct stack_node){ .parent = parent, .function = function };
    return id;
}

bool stack_sums_add(struct stack_sums *sums, stack_id stack, double weight, int64_t samples)
{
    if (!isfinite(weight) || weight < 0 || samples < 0)
        return false;
    sums->nodes.at[stack].own_s += weight;
    sum_add(&sums->nodes.at[stack].own, samples);
    return true;
}

void stack_sums_open_call(struct stack_sums *sums, stack_id stack)
{
    sums->counts_calls = true;
    sums->nodes.at[stack].opened++;
}

void stack_sums_odd(struct stack_sums *sums, int64_t offset)
{
    if (sums->profile->odd_entries++ == 0)
        sums->profile->odd_offset = offset;
}

/* ---- the pass over the tree ---- */

/* A caller and the function it calls. */
struct call {
    function_id caller, callee;
    struct profile_cost cost;
    uint32_t open; /* how many times it is on the stack */
};

struct walk {
    const struct stack_sums *sums;
    double *below_s;            /* by node: including all below */
    int64_t *below;             /* the same for samples, or for calls that began there */
    stack_id *child, *sibling;  /* by node: the first below, the next beside; STACK_ROOT: none */
    struct profile_cost *costs; /* by function */
    uint32_t *open;             /* by function: how many times it is on the stack */
    struct names *keys;         /* struct call's ids as bytes -> index in calls */
    VEC_OF(struct call) calls;
    uint32_t *call_of; /* by node */
};

static void begin_walk(struct walk *walk, const struct stack_sums *sums)
{
    size_t nodes = sums->nodes.count, functions = sums->profile->function_count;
    *walk = (struct walk){ .sums = sums,
                           .below_s = mem_zalloc(nodes, sizeof(double)),
                           .below = mem_zalloc(nodes, sizeof(int64_t)),
                           .child = mem_zalloc(nodes, sizeof(stack_id)),
                           .sibling = mem_zalloc(nodes, sizeof(stack_id)),
                           .costs = mem_zalloc(functions + 1, sizeof(struct profile_cost)),
                           .open = mem_zalloc(functions + 1, sizeof(uint32_t)),
                           .keys = names_open(),
                           .call_of = mem_zalloc(nodes, sizeof(uint32_t)) };
    for (size_t i = nodes; i-- > 1;) { /* children come before parents */
        const struct stack_node *node = &sums->nodes.at[i];
        walk->below_s[i] += node->own_s;
        sum_add(&walk->below[i], node->own);
        walk->below_s[node->parent] += walk->below_s[i];
        sum_add(&walk->below[node->parent], walk->below[i]);
        walk->sibling[i] = walk->child[node->parent];
        walk->child[node->parent] = (stack_id)i;
    }
}

static void end_walk(struct walk *walk)
{
    EACH(free, walk->below_s, walk->below, walk->child, walk->sibling, walk->costs, walk->open,
         walk->call_of);
    names_free(walk->keys);
    VEC_FREE(&walk->calls);
}

/* Add the times of node N to a function or a call that was already on the stack OPEN times. */
static void add_cost(const struct walk *walk, struct profile_cost *cost, stack_id n, uint32_t open)
{
    const struct stack_node *node = &walk->sums->nodes.at[n];
    bool sampled = !walk->sums->counts_calls;
    cost->total_s += node->own_s;
    cost->cumulative_s += open ? 0 : walk->below_s[n];
    if (sampled) {
        sum_add(&cost->calls, open ? 0 : walk->below[n]);
        sum_add(&cost->primitive_calls, node->own);
    } else {
        sum_add(&cost->calls, node->opened);
        sum_add(&cost->primitive_calls, open ? 0 : node->opened);
    }
}

static void enter_node(struct walk *walk, stack_id n)
{
    const struct stack_node *node = &walk->sums->nodes.at[n];
    add_cost(walk, &walk->costs[node->function], n, walk->open[node->function]++);
    if (node->parent == STACK_ROOT)
        return;
    const function_id key[2] = { walk->sums->nodes.at[node->parent].function, node->function };
    uint32_t id = names_add(walk->keys, (const char *)key, sizeof key);
    if (id == walk->calls.count)
        *VEC_PUSH(&walk->calls) = (struct call){ .caller = key[0], .callee = key[1] };
    walk->call_of[n] = id;
    assert(walk->calls.at);
    add_cost(walk, &walk->calls.at[id].cost, n, walk->calls.at[id].open++);
}

static void leave_node(struct walk *walk, stack_id n)
{
    const struct stack_node *node = &walk->sums->nodes.at[n];
    walk->open[node->function]--;
    if (node->parent != STACK_ROOT)
        walk->calls.at[walk->call_of[n]].open--;
}

/* Visit the nodes in depth-first order. */
static void walk_all(struct walk *walk)
{
    stack_id n = walk->child[STACK_ROOT];
    while (n != STACK_ROOT) {
        enter_node(walk, n);
        if (walk->child[n] != STACK_ROOT) {
            n = walk->child[n];
            continue;
        }
        while (n != STACK_ROOT) {
            leave_node(walk, n);
            if (walk->sibling[n] != STACK_ROOT)
                break;
            n = walk->sums->nodes.at[n].parent;
        }
        if (n != STACK_ROOT)
            n = walk->sibling[n];
    }
}

static const struct key by_callee[] = { ASC(struct call, callee), ASC(struct call, caller), KEY_END };

static void list_functions(struct walk *walk, struct profile *profile)
{
    if (walk->calls.count > 1)
        SORT(&walk->calls, by_callee);
    size_t next = 0;
    for (function_id f = 0; f < profile->function_count; f++) {
        uint32_t first = (uint32_t)profile->edge_count;
        for (; next < walk->calls.count && walk->calls.at[next].callee == f; next++) {
            struct profile_edge edge = { .cost = walk->calls.at[next].cost,
                                         .caller = walk->calls.at[next].caller };
            profile_add_edge(profile, first, &edge);
        }
        profile_list(profile, f, &walk->costs[f], first, (uint32_t)profile->edge_count - first);
    }
}

/* Keep the stacks, in which a parent has a lower number, as in the tree. */
static void keep_stacks(const struct walk *walk, struct profile *profile)
{
    for (size_t i = 1; i < walk->sums->nodes.count; i++) {
        const struct stack_node *node = &walk->sums->nodes.at[i];
        *VEC_PUSH(&profile->stacks) = (struct profile_frame){
            .caller = node->parent == STACK_ROOT ? UINT32_MAX : node->parent - 1,
            .function = node->function,
            .cumulative_s = walk->below_s[i],
            .calls = walk->sums->counts_calls ? node->opened : walk->below[i],
        };
    }
}

struct profile *stack_sums_finish(struct stack_sums *sums, enum profile_figures figures,
                                  struct tpa_error *err)
{
    struct walk walk;
    begin_walk(&walk, sums);
    bool any = walk.below_s[STACK_ROOT] > 0 || walk.below[STACK_ROOT] > 0;
    struct profile *profile = NULL;
    if (any) {
        walk_all(&walk);
        list_functions(&walk, sums->profile);
        keep_stacks(&walk, sums->profile);
        profile = sums->profile;
        profile->sampled = !sums->counts_calls;
        profile->figures = figures;
        profile_finish(profile);
        sums->profile = NULL;
    } else {
        tpa_fail(err, TPA_NOWHERE, "the profile holds no sample of any weight");
    }
    end_walk(&walk);
    stack_sums_release(sums);
    return profile;
}

/* ---- reading ---- */

bool stack_sums_read(struct source *source, struct buffer *text, struct tpa_error *err)
{
    char piece[1 << 16];
    int64_t count;
    buffer_puts(text, ""); /* ensure a text for an empty file as well */
    while ((count = source_read(source, piece, sizeof piece, err)) > 0)
        buffer_add(text, piece, (size_t)count);
    if (count == 0 && source_damage(source))
        return tpa_fail(err, (int64_t)text->count, "%s", source_damage(source));
    return count == 0;
}

bool stack_sums_read_json(struct source *source, struct buffer *text, struct tpa_error *err)
{
    if (!stack_sums_read(source, text, err))
        return false;
    if (json_is_value(text->at, text->count))
        return true;
    tpa_fail(err, (int64_t)text->count,
             "the profile is cut short or damaged: it is not a whole JSON document");
    return tpa_hint(err, "was the program stopped before it had written its profile?");
}

double stack_sums_unit(const char *unit, size_t len, enum profile_figures *figures)
{
    static const struct {
        const char *name;
        double seconds;
    } times[] = { { "nanoseconds", 1e-9 },  { "ns", 1e-9 }, { "microseconds", 1e-6 }, { "us", 1e-6 },
                  { "milliseconds", 1e-3 }, { "ms", 1e-3 }, { "seconds", 1 },         { "s", 1 } };
    for (size_t i = 0; i < sizeof times / sizeof *times; i++)
        if (strlen(times[i].name) == len && memcmp(times[i].name, unit, len) == 0) {
            *figures = PROFILE_TIME;
            return times[i].seconds;
        }
    *figures = len == 5 && memcmp(unit, "bytes", 5) == 0 ? PROFILE_BYTES : PROFILE_COUNT;
    return 1e-9;
}
