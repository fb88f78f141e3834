/*
 * identity.c - nothing changed, nothing moved: of each trace given, every moment of the replay is where it was recorded. And
 * no change promises what it cannot give: edits that shorten let no moment come later, nor sooner by more than all that they take away.
 * A replay that forgets moments has the same steps, and changes that are laid over others are those of edits one after the other.
 *
 *     replay_identity [--together] FILE...
 *
 * Also: every moment comes after those it depends on, and the pieces of the critical paths of the recording and of its steps tile
 * their windows. With --together the files are read as one trace. What is no trace is left out. Prints what is wrong; the exit
 * code is 1 then.
 */
#include "ingest/formats.h"
#include "whatif/whatif.h"
#include <inttypes.h>
#include <math.h>

static const struct trace_wants wants = { .args = EDIT_WANTS };

static size_t wrong;

static void complain(const char *path, const char *what, size_t count)
{
    if (count == 0)
        return;
    printf("%s: %s: %zu\n", path, what, count);
    wrong++;
}

static void check_replay(const struct replay_graph *graph, const char *path)
{
    struct replay *replay = replay_open(graph, NULL);
    size_t moved = 0;
    for (moment_id m = 0; m < graph->moment_count; m++)
        moved += replay_time_of(replay, m) != replay_moment_ns(graph, m);
    complain(path, "moments that moved though nothing was changed", moved);
    replay_free(replay);
    SCOPED_OBJECT struct changes *changes = changes_open(graph);
    replay = replay_open(graph, changes);
    for (moment_id m = 0; m < graph->moment_count; m++)
        moved += replay_time_of(replay, m) != replay_moment_ns(graph, m);
    complain(path, "moments that moved under changes that change nothing", moved);
    replay_free(replay);
}

static void check_order(const struct replay_graph *graph, const char *path)
{
    size_t *place = malloc((graph->moment_count + 1) * sizeof *place), early = 0, times = 0;
    for (size_t i = 0; i < graph->moment_count; i++)
        place[i] = SIZE_MAX;
    size_t next = 0;
    for (size_t r = 0; r < graph->order.count; r++)
        for (moment_id m = graph->order.first[r]; m < graph->order.first[r] + graph->order.length[r]; m++)
            place[m] = next++;
    for (moment_id m = 0; m < graph->moment_count; m++) {
        if (place[m] == SIZE_MAX)
            times++;
        struct edge_range range = replay_edges_of(graph, m);
        for (uint32_t k = range.first; k < range.end; k++)
            early += replay_edge_at(graph, k).from != m && place[replay_edge_at(graph, k).from] >= place[m];
        if (replay_moment_kind(graph, m) == MOMENT_WORK_END)
            early += place[m - 1] >= place[m];
    }
    complain(path, "moments that have no place", times);
    complain(path, "moments that come before what they depend on", early);
    free(place);
}

static void check_paths(const struct replay_graph *graph, struct path_windows *windows, const char *path)
{
    for (size_t w = 0; w < windows->count; w++) {
        const struct path_window *window = &windows->at[w];
        SCOPED_OBJECT struct path *found = path_open(graph, window);
        int64_t at_ns = window->start_ns;
        size_t holes = 0;
        for (size_t i = 0; i < found->count; i++) {
            holes += found->at[i].start_ns != at_ns || found->at[i].end_ns <= at_ns;
            at_ns = found->at[i].end_ns;
        }
        complain(path, "holes or overlaps in a critical path", holes + (at_ns != window->end_ns));
    }
    arena_free(windows);
}

static double work_ns(const struct replay_graph *graph, size_t i)
{
    return (double)(replay_moment_ns(graph, replay_work_end(graph, i)) -
                    replay_moment_ns(graph, replay_work_start(graph, i)));
}

/* All that CHANGES take off pieces of the host and off work. A wait that is dropped lies in a piece, or in work, that is taken off. */
static double taken_off(const struct replay_graph *graph, const struct changes *changes)
{
    double ns = 0;
    for (moment_id m = 1; m < graph->host_count; m++)
        if (factors_get(&changes->piece, m) < 1)
            ns += (1 - (double)factors_get(&changes->piece, m)) *
                  ((double)replay_moment_ns(graph, m) - (double)replay_moment_ns(graph, m - 1));
    for (size_t i = 0; i < graph->gpu->count; i++)
        ns += fmax(0, 1 - (double)factors_get(&changes->work, i)) * work_ns(graph, i);
    return ns;
}

/* All that CHANGES add to work on devices. */
static double put_on(const struct replay_graph *graph, const struct changes *changes)
{
    double ns = 0;
    for (size_t i = 0; i < graph->gpu->count; i++)
        ns += fmax(0, (double)factors_get(&changes->work, i) - 1) * work_ns(graph, i);
    return ns;
}

/* A replay that forgets its moments has the steps of REPLAY, which knows them all. */
static void check_steps(const struct replay *replay, const struct changes *changes, const char *path)
{
    SCOPED_OBJECT struct step_times *all = step_times_open(replay, changes, false),
                                    *passed = step_times_with(changes);
    size_t differ = all->count != passed->count || all->then_ns != passed->then_ns ||
                    all->median_then_ns != passed->median_then_ns ||
                    all->median_now_ns != passed->median_now_ns;
    for (size_t i = 0; i < all->count && i < passed->count; i++)
        differ += all->at[i].then_ns != passed->at[i].then_ns ||
                  all->at[i].device_then_ns != passed->at[i].device_then_ns ||
                  all->at[i].now_ns != passed->at[i].now_ns;
    complain(path, "steps that differ where moments are forgotten", differ);
}

/* Laid over TO, the changes of EDIT alone are what applying it gives, to the last bit. */
static void check_laid_over(struct changes *to, const struct edit *edit, const struct changes *alone,
                            const char *path)
{
    struct changes *laid = changes_open(to->graph);
    struct edit_effect effect;
    struct tpa_error ignored = { 0 };
    bool fits = changes_lay_over(laid, to) && changes_lay_over(laid, alone);
    edit_apply(edit, to, &effect, &ignored);
    size_t differ = 0;
    for (size_t m = 0; fits && m < to->graph->host_count; m++)
        differ += factors_get(&to->piece, m) != factors_get(&laid->piece, m);
    for (size_t i = 0; fits && i < to->graph->gpu->count; i++)
        differ += factors_get(&to->work, i) != factors_get(&laid->work, i);
    for (size_t k = 0; fits && k < to->graph->edges.count; k++)
        differ += changes_dropped(to, k) != changes_dropped(laid, k);
    differ +=
        fits && (to->keeps_queued != laid->keeps_queued || to->shortens_launches != laid->shortens_launches ||
                 to->least_pause_ns != laid->least_pause_ns);
    complain(path, "changes that differ where they are laid over others", differ);
    arena_free(laid);
}

static void check_edits(const struct replay_graph *graph, const char *path)
{
    static const struct edit edits[] = {
        { .kind = EDIT_NO_DATA_WAIT },
        { .kind = EDIT_PINNED_COPIES },
        { .kind = EDIT_NO_SYNC, .pattern = ".", .pattern_len = 1 },
        { .kind = EDIT_CUDA_GRAPH },
        { .kind = EDIT_NO_ALLOC },
        { .kind = EDIT_NO_FIRST_USE },
        { .kind = EDIT_AT_PEAK, .factor = 0.2 },
        { .kind = EDIT_OVERLAP_COMM },
        { .kind = EDIT_OVERLAP_COMM, .factor = 1.3 },
        { .kind = EDIT_NO_CONTENTION },
        { .kind = EDIT_NO_RECOMPUTE },
        { .kind = EDIT_RANKS_LIKE_MEDIAN },
        { .kind = EDIT_SCALE, .target = TARGET_NAME, .pattern = ".", .pattern_len = 1, .factor = 0.5 },
    };
    SCOPED_OBJECT struct changes *changes = changes_open(graph), *together = changes_open(graph);
    for (size_t i = 0; i < sizeof edits / sizeof *edits; i++) {
        struct edit_effect effect;
        struct tpa_error ignored = { 0 };
        changes_clear(changes);
        if (!edit_apply(&edits[i], changes, &effect, &ignored))
            continue;
        struct replay *replay = replay_open(graph, changes);
        double most_ns =
            taken_off(graph, changes) + 1000 + (double)graph->host_count / 2; /* a piece is rounded down */
        double latest_ns = put_on(graph, changes); /* hidden communication stretches computation */
        latest_ns += latest_ns > 0 ? 1000 : 0;
        size_t later = 0, sooner = 0;
        for (moment_id m = 0; m < graph->moment_count; m++) {
            later += (double)replay_time_of(replay, m) - (double)replay_moment_ns(graph, m) > latest_ns;
            sooner += (double)replay_moment_ns(graph, m) - (double)replay_time_of(replay, m) > most_ns;
        }
        char what[100];
        snprintf(what, sizeof what, "moments that come later with edit %d", (int)edits[i].kind);
        complain(path, what, later);
        snprintf(what, sizeof what, "moments that come sooner by more than edit %d takes off",
                 (int)edits[i].kind);
        complain(path, what, sooner);
        check_steps(replay, changes, path);
        check_laid_over(together, &edits[i], changes, path);
        replay_free(replay);
    }
}

static size_t check(const char *const *paths, size_t count)
{
    struct tpa_error err = { 0 };
    struct ingested ingested;
    if (!ingest_read_any(paths, count, &(struct ingest_options){ .wants = wants }, &ingested, &err))
        return 0;
    size_t moments = 0;
    if (ingested.trace) {
        const struct replay_graph *graph = replay_graph_of(ingested.trace);
        moments = graph->moment_count;
        check_order(graph, paths[0]);
        check_replay(graph, paths[0]);
        check_edits(graph, paths[0]);
        check_paths(graph, path_windows_whole(graph), paths[0]);
        check_paths(graph, path_windows_steps(graph), paths[0]);
    }
    ingested_free(&ingested);
    return moments;
}

int main(int argc, char **argv)
{
    bool together = argc > 1 && strcmp(argv[1], "--together") == 0;
    const char *const *paths = (const char *const *)argv + 1 + together;
    size_t count = (size_t)argc - 1 - together, moments = 0;
    if (together)
        moments = check(paths, count);
    for (size_t i = 0; i < count && !together; i++)
        moments += check(&paths[i], 1);
    printf("%zu moments of %zu files\n", moments, count);
    return wrong || moments == 0;
}
