/* whatif.c - see whatif.h. */
#include "replay/whatif.h"

#include "base/memory.h"
#include "replay/view.h"
#include <stdlib.h>

static struct step_times *times_with(const struct changes *changes, bool whole, struct replay **kept)
{
    if (!whole && !kept)
        return step_times_with(changes);
    struct replay *replay = replay_open(changes->graph, changes);
    struct step_times *times = step_times_open(replay, whole);
    if (kept)
        *kept = replay;
    else
        replay_free(replay);
    return times;
}

/* The step nearest to the median, a period if there are any; NULL: there are no steps at all. */
static const struct step_time *typical_step(const struct step_times *times)
{
    const struct step_time *best = NULL;
    for (size_t i = 0; i < times->count; i++) {
        const struct step_time *one = &times->at[i];
        if (!best || one->is_period > best->is_period ||
            (one->is_period == best->is_period &&
             llabs(one->now_ns - times->now_ns) < llabs(best->now_ns - times->now_ns)))
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
    path_free(path);
}

/* Are all edits of what somebody named, or that is known, so that the gaps they take away are explained? */
static bool name_their_gaps(const struct edit *edits, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (edits[i].kind != EDIT_NO_DATA_WAIT &&
            !(edits[i].kind == EDIT_SCALE &&
              (edits[i].target == TARGET_ANNOTATION || edits[i].target == TARGET_MODULE ||
               edits[i].target == TARGET_NAME)))
            return false;
    return true;
}

static void compare_paths(struct whatif *whatif, const struct edit *edits, const struct changes *changes)
{
    const struct step_time *step = typical_step(whatif->steps);
    if (!step)
        return;
    find_parts(whatif->graph, step, step->start_ns, step->now_ns, whatif->now_parts_ns);
    struct replay_graph *view = view_open(whatif->replay, changes);
    find_parts(view, step, step->begin_then_ns, step->then_ns, whatif->then_parts_ns);
    view_free(view);
    int64_t length_ns = 0;
    for (int part = 0; part < PATH_PARTS; part++)
        length_ns += whatif->now_parts_ns[part];
    int64_t unexplained_ns = whatif->now_parts_ns[PART_GAP] + whatif->now_parts_ns[PART_STREAM] +
                             whatif->now_parts_ns[PART_EVENT] + whatif->now_parts_ns[PART_UNKNOWN];
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
        struct step_times *times = times_with(changes, whole, NULL);
        gain->then_ns = times->then_ns;
        step_times_free(times);
    }
    changes_clear(changes);
    for (size_t i = 0; i < whatif->edit_count; i++)
        if (!edit_apply(&edits[i], changes, &whatif->gains[i].effect, err))
            return false;
    return true;
}

struct whatif *whatif_open(const struct replay_graph *graph, const struct edit *edits, size_t count,
                           bool whole, struct tpa_error *err)
{
    struct whatif *whatif = mem_zalloc(1, sizeof *whatif);
    whatif->graph = graph;
    whatif->edit_count = count;
    whatif->gains = mem_zalloc(count + 1, sizeof *whatif->gains);
    struct changes *changes = changes_open(graph);
    bool fine = make_edits(whatif, edits, changes, whole, err);
    if (fine) {
        whatif->steps = times_with(changes, whole, &whatif->replay);
        compare_paths(whatif, edits, changes);
        if (count == 1)
            whatif->gains[0].then_ns = whatif->steps->then_ns;
    }
    changes_free(changes);
    if (fine)
        return whatif;
    whatif_free(whatif);
    return NULL;
}

void whatif_free(struct whatif *whatif)
{
    if (!whatif)
        return;
    replay_free(whatif->replay);
    step_times_free(whatif->steps);
    free(whatif->gains);
    free(whatif);
}

struct step_gain whatif_gain_of(const struct changes *changes)
{
    struct step_times *times = step_times_with(changes);
    struct step_gain gain = { .now_ns = times->now_ns,
                              .then_ns = times->then_ns,
                              .mean_now_ns = times->mean_now_ns,
                              .mean_then_ns = times->mean_then_ns };
    step_times_free(times);
    return gain;
}

bool step_gain_is_by_turns(const struct step_gain *gain)
{
    const double much_more = 0.05;
    if (gain->now_ns <= 0 || gain->mean_now_ns <= 0)
        return false;
    double share = (double)(gain->now_ns - gain->then_ns) / (double)gain->now_ns,
           mean_share = (double)(gain->mean_now_ns - gain->mean_then_ns) / (double)gain->mean_now_ns;
    return mean_share > share + much_more;
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
        *gain = whatif_gain_of(changes);
        gain->count = touched;
    }
    changes_free(changes);
    return fine;
}
