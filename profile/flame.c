/*
 * flame.c - the call tree of a profile; see view.h.
 *
 * A callee in the frame of its caller gets the edge's share of the caller's total time. Frames below a share of the
 * total are left out, which bounds the tree, as does its depth.
 */
#include "profile/view.h"

#include <math.h>

#define LEAST_SHARE 0.001
enum { DEEPEST = 120, MOST_FRAMES = 20000 };

struct tree {
    const struct profile *profile;
    struct profile_callees callees;
    struct flame *flame;
    struct buffer name;
    bool *on_path; /* by function */
    double least_s;
    size_t depth;
};

static void add_frame(struct tree *tree, frame_id parent, function_id id, double seconds, double calls);

/* Add the callees of FUNCTION, in a frame with SECONDS of its time. */
static void add_callees(struct tree *tree, frame_id frame, function_id id, double seconds)
{
    const struct profile *profile = tree->profile;
    double whole_s = profile->functions[id].cost.cumulative_s;
    double part = whole_s > 0 ? seconds / whole_s : 0;
    for (uint32_t i = tree->callees.first[id]; i < tree->callees.first[id + 1]; i++) {
        const struct profile_call *call = &tree->callees.at[i];
        const struct profile_edge *edge = &profile->edges[call->edge];
        if (!edge->count_only)
            add_frame(tree, frame, call->callee, edge->cost.cumulative_s * fmin(part, 1),
                      (double)edge->cost.calls * fmin(part, 1));
    }
}

static void add_frame(struct tree *tree, frame_id parent, function_id id, double seconds, double calls)
{
    if (!(seconds >= tree->least_s) || !isfinite(seconds) || tree->on_path[id] || tree->depth == DEEPEST ||
        tree->flame->frames.count >= MOST_FRAMES)
        return;
    buffer_clear(&tree->name);
    profile_function_text(&tree->profile->functions[id], &tree->name);
    frame_id frame = flame_frame(tree->flame, parent, tree->name.at ? tree->name.at : "", tree->name.count);
    tree->flame->frames.at[frame].host_ns += profile_ns(seconds);
    tree->flame->frames.at[frame].count += (uint64_t)fmax(calls + 0.5, 1);
    tree->on_path[id] = true;
    tree->depth++;
    add_callees(tree, frame, id, seconds);
    tree->depth--;
    tree->on_path[id] = false;
}

/* Add the callees of ID, which was running when the profiler was started and has no figures of its own. */
static void add_unseen(struct tree *tree, function_id id)
{
    for (uint32_t i = tree->callees.first[id]; i < tree->callees.first[id + 1]; i++) {
        const struct profile_call *call = &tree->callees.at[i];
        const struct profile_edge *edge = &tree->profile->edges[call->edge];
        if (!edge->count_only)
            add_frame(tree, FRAME_NONE, call->callee, edge->cost.cumulative_s, (double)edge->cost.calls);
    }
}

struct flame *profile_flame(const struct profile *profile)
{
    struct arena scratch = { 0 };
    struct tree tree = { .profile = profile,
                         .flame = flame_open("calls", "estimated from the totals by caller and callee"),
                         .on_path =
                             arena_zalloc(&scratch, profile->function_count + 1, sizeof *tree.on_path) };
    double most_s = 0;
    for (size_t i = 0; i < profile->listed_count; i++)
        most_s = fmax(most_s, profile->functions[profile->listed[i]].cost.cumulative_s);
    tree.least_s = fmax(most_s * LEAST_SHARE, 1e-9);
    profile_callees_make(&tree.callees, profile, &scratch);
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        if (function->edge_count == 0)
            add_frame(&tree, FRAME_NONE, profile->listed[i], function->cost.cumulative_s,
                      (double)function->cost.calls);
    }
    for (size_t i = 0; i < profile->function_count; i++)
        if (!profile->functions[i].listed)
            add_unseen(&tree, (function_id)i);
    buffer_release(&tree.name);
    arena_release(&scratch);
    return tree.flame;
}
