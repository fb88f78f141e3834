/*
 * flame.c - the call tree of a profile; see view.h.
 *
 * Where the file has stacks, the tree is theirs. Else a callee in the frame of its caller gets the edge's share of the
 * caller's total time. Frames below a share of the total are left out, which bounds the tree, as does its depth.
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

/* The frame of function ID below PARENT, FRAME_NONE for none, with SECONDS and CALLS more; FRAME_NONE: it is too short. */
static frame_id flame_add_call(struct tree *tree, frame_id parent, function_id id, double seconds,
                               double calls)
{
    if (!(seconds >= tree->least_s) || !isfinite(seconds) || tree->flame->frames.count >= MOST_FRAMES)
        return FRAME_NONE;
    buffer_clear(&tree->name);
    profile_function_text(&tree->profile->functions[id], &tree->name);
    frame_id frame = flame_frame(tree->flame, parent, tree->name.at ? tree->name.at : "", tree->name.count);
    tree->flame->frames.at[frame].host_ns += profile_ns(seconds);
    tree->flame->frames.at[frame].count += (uint64_t)fmax(calls + 0.5, 1);
    return frame;
}

/* Add the stacks of the file; without them, nothing. SCRATCH keeps what is needed meanwhile. */
static void add_stacks(struct tree *tree, struct arena *scratch)
{
    size_t count = tree->profile->stacks.count;
    const struct profile_frame *frames = tree->profile->stacks.at;
    frame_id *frame_of = arena_zalloc(scratch, count + 1, sizeof *frame_of);
    uint32_t *depth = arena_zalloc(scratch, count + 1, sizeof *depth);
    for (size_t i = 0; i < count; i++) {
        bool below = frames[i].caller != UINT32_MAX;
        depth[i] = below ? depth[frames[i].caller] + 1 : 0;
        frame_id caller = below ? frame_of[frames[i].caller] : FRAME_NONE;
        frame_of[i] = (below && caller == FRAME_NONE) || depth[i] >= DEEPEST
                          ? FRAME_NONE
                          : flame_add_call(tree, caller, frames[i].function, frames[i].cumulative_s,
                                           (double)frames[i].calls);
    }
}

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
    if (tree->on_path[id] || tree->depth == DEEPEST)
        return;
    frame_id frame = flame_add_call(tree, parent, id, seconds, calls);
    if (frame == FRAME_NONE)
        return;
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
    bool stacks = profile->stacks.count > 0;
    SCOPED_ARENA struct arena scratch = { 0 };
    struct tree tree = { .profile = profile,
                         .flame =
                             flame_open("calls", stacks ? "the stacks of the file"
                                                        : "estimated from the totals by caller and callee"),
                         .on_path =
                             arena_zalloc(&scratch, profile->function_count + 1, sizeof *tree.on_path) };
    double most_s = 0;
    for (size_t i = 0; i < profile->listed_count; i++)
        most_s = fmax(most_s, profile->functions[profile->listed[i]].cost.cumulative_s);
    tree.least_s = fmax(most_s * LEAST_SHARE, 1e-9);
    add_stacks(&tree, &scratch);
    profile_callees_make(&tree.callees, profile, &scratch);
    for (size_t i = 0; i < profile->listed_count && !stacks; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        if (function->edge_count == 0)
            add_frame(&tree, FRAME_NONE, profile->listed[i], function->cost.cumulative_s,
                      (double)function->cost.calls);
    }
    for (size_t i = 0; i < profile->function_count && !stacks; i++)
        if (!profile->functions[i].listed)
            add_unseen(&tree, (function_id)i);
    buffer_release(&tree.name);
    return tree.flame;
}
