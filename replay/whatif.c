/* whatif.c - see whatif.h. */
#include "replay/whatif.h"

#include "base/memory.h"
#include "replay/path.h"
#include <stdlib.h>

static struct step_times *times_with(const struct changes *changes, bool whole, struct replay **kept)
{
    struct replay *replay = replay_open(changes->graph, changes);
    struct step_times *times = step_times_open(replay, whole);
    if (kept)
        *kept = replay;
    else
        replay_free(replay);
    return times;
}

/* The step that takes the median, as a window; the whole recording where there are no steps. */
static bool typical_window(const struct replay_graph *graph, const struct step_times *times, struct path_window *window)
{
    bool found = false;
    for (size_t i = 0; i < times->count; i++) {
        const struct step_time *one = &times->at[i];
        int64_t off_ns = llabs(one->now_ns - times->now_ns);
        if (found && off_ns >= llabs(window->end_ns - window->start_ns - times->now_ns))
            continue;
        *window = (struct path_window){ .start_ns = one->start_ns,
                                        .end_ns = one->start_ns + one->now_ns,
                                        .file = one->file,
                                        .thread = UINT32_MAX,
                                        .event = EVENT_NONE };
        found = true;
    }
    return found && graph->moment_count > 0;
}

static double unexplained_share(const struct replay_graph *graph, const struct step_times *times)
{
    struct path_window window;
    if (!typical_window(graph, times, &window) || window.end_ns <= window.start_ns)
        return 0;
    struct path *path = path_open(graph, &window);
    int64_t unexplained_ns = 0;
    for (size_t i = 0; i < path->count; i++) {
        enum path_part part = path->at[i].part;
        if (part == PART_GAP || part == PART_STREAM || part == PART_EVENT || part == PART_UNKNOWN)
            unexplained_ns += path->at[i].end_ns - path->at[i].start_ns;
    }
    path_free(path);
    return (double)unexplained_ns / (double)(window.end_ns - window.start_ns);
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

struct whatif *whatif_open(const struct replay_graph *graph, const struct edit *edits, size_t count, bool whole,
                           struct tpa_error *err)
{
    struct whatif *whatif = mem_zalloc(1, sizeof *whatif);
    whatif->graph = graph;
    whatif->edit_count = count;
    whatif->gains = mem_zalloc(count + 1, sizeof *whatif->gains);
    struct changes *changes = changes_open(graph);
    bool fine = make_edits(whatif, edits, changes, whole, err);
    if (fine) {
        whatif->steps = times_with(changes, whole, &whatif->replay);
        whatif->unexplained_share = unexplained_share(graph, whatif->steps);
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
    struct step_times *times = times_with(changes, false, NULL);
    struct step_gain gain = { .now_ns = times->now_ns, .then_ns = times->then_ns };
    step_times_free(times);
    return gain;
}

bool whatif_gain(const struct replay_graph *graph, const struct edit *edits, size_t count, struct step_gain *gain,
                 struct tpa_error *err)
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
