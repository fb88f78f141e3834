/*
 * stacks.c - from edges to stacks.
 *
 * A walk from the outermost functions along the calls. At each function on the path the part of it (0..1) that happened
 * on this stack is known; the same part applies to calls from it. The walk stops at a function that is already on the
 * stack: its time during that inner call is reported, but its calls are those of the outer one.
 *
 * The walk is done twice: first to determine how much of each function it places, then to report stacks, scaling down
 * functions of which too much was placed.
 */

#include "profile/view.h"

#include <math.h>

enum {
    MOST_FRAMES = 1000,    /* CPython stops recursion there, by default */
    MOST_CALLS = 20000000, /* limit of visited calls; the rest is reported as unplaced */
};

struct level {
    uint32_t next, end; /* calls in callees.at still to be walked */
    double part;        /* of the function, that is on this stack */
    bool exact;         /* part is 1, and that is not an estimate */
    bool outermost;     /* the function is not on the stack further out */
};

struct walk {
    const struct profile *profile;
    struct profile_callees callees;
    double min_s;
    size_t calls_left;

    function_id frames[MOST_FRAMES];
    struct level levels[MOST_FRAMES];
    size_t depth, exact_depth;
    bool *on_stack;

    double *placed_s;           /* by function: placed in the first walk */
    double *carry_ns;           /* by function: remainder of rounding to ns */
    int64_t *given_ns;          /* by function */
    profile_stack_visit *visit; /* NULL in the first walk */
    void *context;
    struct profile_stack_sums sums;
};

static const struct profile_function *function_at(const struct walk *walk, function_id id)
{
    return &walk->profile->functions[id];
}

/* The cost of the calls of EDGE. `profile` only counts them; then their part of the function's costs is estimated. */
static struct profile_cost cost_of(const struct profile_function *callee, const struct profile_edge *edge)
{
    struct profile_cost cost = edge->cost;
    if (edge->count_only) {
        double part = callee->cost.calls > 0 ? (double)cost.calls / (double)callee->cost.calls : 0;
        cost.total_s = part * callee->cost.total_s;
        cost.cumulative_s = part * callee->cost.cumulative_s;
    }
    return cost;
}

/* Does function ID have a single caller, apart from recursion? */
static bool has_one_caller(const struct walk *walk, function_id id)
{
    const struct profile_function *f = function_at(walk, id);
    uint32_t callers = 0;
    for (uint32_t e = f->first_edge; e < f->first_edge + f->edge_count && callers <= 1; e++)
        callers += walk->profile->edges[e].caller != id;
    return callers <= 1;
}

/* Did the first walk place more time of function ID than it has? */
static bool placed_too_much(const struct walk *walk, function_id id)
{
    return walk->visit && walk->placed_s[id] > function_at(walk, id)->cost.total_s * (1 + 1e-9) + 1e-9;
}

/* Add a time to a sum; infinite times saturate. */
static void add_ns(int64_t *sum_ns, int64_t ns)
{
    if (__builtin_add_overflow(*sum_ns, ns, sum_ns))
        *sum_ns = INT64_MAX;
}

/* Report SECONDS in function ID itself, on the current stack. */
static void stacks_distribute(struct walk *walk, function_id id, double seconds)
{
    if (!walk->visit) {
        walk->placed_s[id] += seconds;
        return;
    }
    if (placed_too_much(walk, id))
        seconds *= function_at(walk, id)->cost.total_s / walk->placed_s[id];
    walk->carry_ns[id] += seconds * 1e9;
    double whole = floor(walk->carry_ns[id] + 1e-3);
    if (!(whole >= 1) || whole > 9e18)
        return;
    walk->carry_ns[id] -= whole;
    enum stack_kind kind = walk->exact_depth == walk->depth ? STACK_EXACT : STACK_APPORTIONED;
    struct profile_stack stack = { walk->frames, walk->depth, walk->exact_depth, (int64_t)whole, kind };
    add_ns(&walk->given_ns[id], stack.time_ns);
    walk->sums.stacks[kind]++;
    add_ns(&walk->sums.time_ns[kind], stack.time_ns);
    walk->visit(walk->context, &stack);
}

/* Enter ID: PART of it happened on the stack, now one deeper; SECONDS of that in itself. EXACT: these are not
 * estimated. EXACT_PART: the part of its callees is not estimated either. */
static void enter(struct walk *walk, function_id id, double part, double seconds, bool exact, bool exact_part)
{
    bool all_exact = exact && walk->exact_depth == walk->depth && !placed_too_much(walk, id);
    walk->frames[walk->depth++] = id;
    if (all_exact)
        walk->exact_depth = walk->depth;
    stacks_distribute(walk, id, seconds);
    struct level *level = &walk->levels[walk->depth - 1];
    *level =
        (struct level){ .part = part > 1 ? 1 : part, .exact = exact_part, .outermost = !walk->on_stack[id] };
    if (level->outermost && walk->depth < MOST_FRAMES) {
        level->next = walk->callees.first[id];
        level->end = walk->callees.first[id + 1];
    }
    walk->on_stack[id] = true;
}

static void leave(struct walk *walk)
{
    walk->depth--;
    if (walk->levels[walk->depth].outermost)
        walk->on_stack[walk->frames[walk->depth]] = false;
    if (walk->exact_depth > walk->depth)
        walk->exact_depth = walk->depth;
}

/* Walk all stacks that begin with ID. */
static void walk_from(struct walk *walk, function_id id, double part, double seconds, bool exact,
                      bool exact_part)
{
    walk->depth = walk->exact_depth = 0;
    enter(walk, id, part, seconds, exact, exact_part);
    while (walk->depth > 0) {
        struct level *level = &walk->levels[walk->depth - 1];
        if (level->next == level->end || walk->calls_left == 0) {
            leave(walk);
            continue;
        }
        const struct profile_call *call = &walk->callees.at[level->next++];
        const struct profile_edge *edge = &walk->profile->edges[call->edge];
        const struct profile_function *callee = function_at(walk, call->callee);
        struct profile_cost cost = cost_of(callee, edge);
        double cumulative_s = level->part * cost.cumulative_s;
        walk->calls_left--;
        if (!(cumulative_s >= walk->min_s))
            continue;
        bool known = !edge->count_only || callee->edge_count == 1;
        bool exact_call = level->exact && known;
        double callee_part = callee->cost.cumulative_s > 0 ? cumulative_s / callee->cost.cumulative_s : 0;
        enter(walk, call->callee, callee_part, level->part * cost.total_s, exact_call,
              exact_call && has_one_caller(walk, call->callee));
    }
}

/* Walk from every function with time that has no caller. */
static void walk_all(struct walk *walk)
{
    const struct profile *profile = walk->profile;
    walk->calls_left = MOST_CALLS;
    for (function_id id = 0; id < profile->function_count; id++) {
        const struct profile_function *f = &profile->functions[id];
        if (!f->listed) {
            walk_from(walk, id, 1, 0, true, true); /* a caller only: no figures, no callers */
            continue;
        }
        double total_s = f->cost.total_s, cumulative_s = f->cost.cumulative_s;
        bool called = false, counted = false;
        for (uint32_t e = f->first_edge; e < f->first_edge + f->edge_count; e++) {
            const struct profile_edge *edge = &profile->edges[e];
            struct profile_cost cost = cost_of(f, edge);
            total_s -= cost.total_s;
            counted |= edge->count_only;
            if (edge->caller == id)
                continue;
            cumulative_s -= cost.cumulative_s;
            called = true;
        }
        if (!called)
            walk_from(walk, id, 1, total_s, !counted, true);
        else if (cumulative_s > 1e-9 + 1e-9 * f->cost.cumulative_s)
            walk_from(walk, id, cumulative_s / f->cost.cumulative_s, total_s > 0 ? total_s : 0, !counted,
                      false);
    }
}

/* Report the times that were not placed on a stack. */
static void distribute_rest(struct walk *walk)
{
    const struct profile *profile = walk->profile;
    for (size_t i = 0; i < profile->listed_count; i++) {
        function_id id = profile->listed[i];
        int64_t rest_ns = profile_ns(profile->functions[id].cost.total_s) - walk->given_ns[id];
        if (rest_ns <= 0)
            continue;
        struct profile_stack stack = { &id, 1, 0, rest_ns, STACK_UNPLACED };
        walk->sums.stacks[STACK_UNPLACED]++;
        add_ns(&walk->sums.time_ns[STACK_UNPLACED], rest_ns);
        walk->visit(walk->context, &stack);
    }
}

struct profile_stack_sums profile_stacks(const struct profile *profile, double min_share,
                                         profile_stack_visit *visit, void *context)
{
    SCOPED_OBJECT struct walk *walk = arena_open(sizeof *walk);
    struct arena *arena = arena_of(walk);
    walk->profile = profile;
    walk->min_s = min_share * profile->total.total_s;
    walk->context = context;
    walk->on_stack = arena_zalloc(arena, profile->function_count + 1, sizeof *walk->on_stack);
    walk->placed_s = arena_zalloc(arena, profile->function_count + 1, sizeof *walk->placed_s);
    walk->carry_ns = arena_zalloc(arena, profile->function_count + 1, sizeof *walk->carry_ns);
    walk->given_ns = arena_zalloc(arena, profile->function_count + 1, sizeof *walk->given_ns);
    profile_callees_make(&walk->callees, profile, arena);
    walk_all(walk);
    walk->visit = visit;
    walk_all(walk);
    distribute_rest(walk);
    return walk->sums;
}
