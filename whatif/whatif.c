#include "whatif/whatif.h"

#include "base/sum.h"

static struct step_times *times_with(const struct changes *changes, bool whole)
{
    if (!whole)
        return step_times_with(changes);
    struct replay *replay = replay_open(changes->graph, changes);
    struct step_times *times = step_times_open(replay, changes, whole);
    replay_free(replay);
    return times;
}

/* The step nearest to the median, a period if there are any; NULL: there are no steps at all. */
static const struct step_time *typical_step(const struct step_times *times)
{
    const struct step_time *best = NULL;
    FOR_EACH(one, times) {
        if (!best || one->is_period > best->is_period ||
            (one->is_period == best->is_period &&
             llabs(one->now_ns - times->median_now_ns) < llabs(best->now_ns - times->median_now_ns)))
            best = one;
    }
    return best;
}

/* What the path of STEP is made of in GRAPH, a recording or a view of a replay. Without moments of its own, from what ended last. */
static void find_parts(const struct replay_graph *graph, const struct step_time *step, int64_t start_ns,
                       int64_t length_ns, int64_t *parts_ns)
{
    struct path_window window = { .file = step->file, .thread = UINT32_MAX, .event = EVENT_NONE };
    window.start_ns = step->start == MOMENT_NONE ? start_ns : replay_moment_ns(graph, step->start);
    window.end_ns =
        step->end == MOMENT_NONE ? window.start_ns + length_ns : replay_moment_ns(graph, step->end);
    struct path *path = path_open_at(graph, &window, step->end);
    path_add_up(path, parts_ns);
    arena_free(path);
}

/* Are all edits of what somebody named, or that is known, so that the gaps they take away are explained? */
static bool name_their_gaps(const struct edit *edits, size_t count)
{
    return !ANY(i, count,
                edits[i].kind != EDIT_NO_DATA_WAIT &&
                    !(edits[i].kind == EDIT_SCALE &&
                      (edits[i].target == TARGET_ANNOTATION || edits[i].target == TARGET_MODULE ||
                       edits[i].target == TARGET_NAME)));
}

/* The blocks that a path of STEP may ask about: those recorded near it. */
struct near_step {
    int64_t from_ns, to_ns;
};

/* A replay_visit: a block is near when one end of it is, or where its moments are of several threads and in no order. */
static bool is_near(void *context, const struct replay *replay, size_t block)
{
    const struct near_step *near = context;
    const struct replay_graph *graph = replay->graph;
    size_t end = (block + 1) * SHIFTS_OF_BLOCK;
    int64_t first_ns = replay_recorded_ns(graph, (moment_id)(block * SHIFTS_OF_BLOCK)),
            last_ns = replay_recorded_ns(
                graph, (moment_id)((end < graph->moment_count ? end : graph->moment_count) - 1));
    return last_ns < first_ns || (last_ns >= near->from_ns && first_ns <= near->to_ns);
}

static void find_parts_then(struct whatif *whatif, const struct step_time *step, const struct replay *replay,
                            const struct changes *changes, bool *lacks)
{
    struct replay_graph *view = view_open(replay, changes, lacks);
    find_parts(view, step, step->begin_then_ns, step->then_ns, whatif->then_parts_ns);
    free(view);
}

/* The parts of the path of STEP in the replay with CHANGES. A second pass that keeps what was recorded from
 * two steps before STEP to its end mostly has all that the path asks about: of 1 GB that takes 0.1 s, and 13
 * MB less than a replay that forgets nothing. */
static void replay_step(struct whatif *whatif, const struct step_time *step, const struct changes *changes)
{
    bool lacks = step->number == INT64_MIN; /* it is all that was recorded */
    if (!lacks) {
        int64_t two_ns = sum_plus(step->now_ns, step->now_ns); /* of any length */
        struct near_step near = { sum_plus(step->start_ns, -two_ns), sum_plus(step->start_ns, two_ns) };
        struct replay *replay = replay_pass_by(whatif->graph, changes, is_near, &near);
        find_parts_then(whatif, step, replay, changes, &lacks);
        replay_free(replay);
    }
    if (!lacks)
        return;
    struct replay *replay = replay_open(whatif->graph, changes);
    find_parts_then(whatif, step, replay, changes, NULL);
    replay_free(replay);
}

static void compare_paths(struct whatif *whatif, const struct edit *edits, const struct changes *changes)
{
    const struct step_time *step = typical_step(whatif->steps);
    if (!step)
        return;
    find_parts(whatif->graph, step, step->start_ns, step->now_ns, whatif->now_parts_ns);
    replay_step(whatif, step, changes);
    int64_t length_ns = SUM(int64_t, part, PATH_PARTS, whatif->now_parts_ns[part]);
    static const enum path_part unexplained[] = { PART_GAP, PART_STREAM, PART_EVENT, PART_QUEUED,
                                                  PART_UNKNOWN };
    int64_t unexplained_ns =
        SUM(int64_t, i, sizeof unexplained / sizeof *unexplained, whatif->now_parts_ns[unexplained[i]]);
    int64_t named_ns = whatif->now_parts_ns[PART_GAP] - whatif->then_parts_ns[PART_GAP];
    if (named_ns > 0 && name_their_gaps(edits, whatif->edit_count))
        unexplained_ns -= named_ns;
    whatif->unexplained_share = length_ns > 0 ? (double)unexplained_ns / (double)length_ns : 0;
}

/* Each edit alone into GAINS, when there are several; then all of them into CHANGES. */
static bool make_edits(struct whatif *whatif, const struct edit *edits, struct changes *changes, bool whole,
                       struct tpa_error *err)
{
    for (size_t i = 0; i < whatif->edit_count && whatif->edit_count > 1; i++) {
        struct edit_gain *gain = &whatif->gains[i];
        changes_clear(changes);
        if (!edit_apply(&edits[i], changes, &gain->effect, err))
            return false;
        if (!whole) {
            gain->then_ns = step_times_gain(changes).then_ns;
            continue;
        }
        struct step_times *times = times_with(changes, whole);
        gain->then_ns = times->then_ns;
        arena_free(times);
    }
    changes_clear(changes);
    return ALL(i, whatif->edit_count, edit_apply(&edits[i], changes, &whatif->gains[i].effect, err));
}

/* The step time with the edits at the other BOUND of what contention costs. */
static int64_t then_at_bound(const struct replay_graph *graph, const struct edit *edits, size_t count,
                             int bound)
{
    struct edit *at_bound = mem_alloc(mem_times(count, sizeof *at_bound));
    struct step_gain gain;
    struct tpa_error ignored = { 0 };
    for (size_t i = 0; i < count; i++) {
        at_bound[i] = edits[i];
        at_bound[i].bound = bound;
    }
    bool fine = whatif_gain(graph, at_bound, count, &gain, &ignored);
    free(at_bound);
    return fine ? gain.then_ns : INT64_MIN;
}

/* The batch is larger; or communication is hidden, and what that costs was measured. */
static bool has_bounds(const struct trace *trace, const struct edit *edits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edits[i].kind == EDIT_BATCH)
            return true;
        else if (edits[i].kind == EDIT_OVERLAP_COMM && edits[i].factor == 0) {
            const struct contention_sum *sum = contention_communication(edit_contention(&edits[i], trace));
            return sum && sum->judged_pairs;
        }
    return false;
}

struct whatif *whatif_open(const struct replay_graph *graph, const struct edit *edits, size_t count,
                           bool whole, struct tpa_error *err)
{
    struct whatif *whatif = arena_open(sizeof *whatif);
    whatif->graph = graph;
    whatif->edit_count = count;
    whatif->batch = 1;
    for (size_t i = 0; i < count; i++)
        if (edits[i].kind == EDIT_BATCH)
            whatif->batch *= edits[i].factor;
    whatif->gains = arena_zalloc(arena_of(whatif), count + 1, sizeof *whatif->gains);
    struct changes *changes = changes_open(graph);
    bool fine = make_edits(whatif, edits, changes, whole, err);
    if (fine) {
        whatif->steps = arena_hold(arena_of(whatif), times_with(changes, whole));
        compare_paths(whatif, edits, changes);
        if (count == 1)
            whatif->gains[0].then_ns = whatif->steps->then_ns;
        whatif->then_low_ns = whatif->then_high_ns = INT64_MIN;
        if (!whole && has_bounds(graph->trace, edits, count)) {
            whatif->then_low_ns = then_at_bound(graph, edits, count, -1);
            whatif->then_high_ns = then_at_bound(graph, edits, count, 1);
        }
    }
    arena_free(changes);
    if (fine)
        return whatif;
    arena_free(whatif);
    return NULL;
}

struct replay *whatif_replay(const struct replay_graph *graph, const struct edit *edits, size_t count,
                             struct tpa_error *err)
{
    struct changes *changes = changes_open(graph);
    struct edit_effect ignored;
    bool fine = ALL(i, count, edit_apply(&edits[i], changes, &ignored, err));
    struct replay *replay = fine ? replay_open(graph, changes) : NULL;
    arena_free(changes);
    return replay;
}

bool whatif_gain(const struct replay_graph *graph, const struct edit *edits, size_t count,
                 struct step_gain *gain, struct tpa_error *err)
{
    struct changes *changes = changes_open(graph);
    size_t touched = 0;
    bool fine = true;
    for (size_t i = 0; i < count && fine; i++) {
        struct edit_effect effect;
        fine = edit_apply(&edits[i], changes, &effect, err);
        touched += effect.count;
    }
    if (fine) {
        *gain = step_times_gain(changes);
        gain->count = touched;
    }
    arena_free(changes);
    return fine;
}
