/*
 * pair.c - which END closes which BEGIN.
 *
 * Perfetto sorts by time, events of one moment as they stand in the file, and keeps a stack per track: an END closes the
 * innermost open slice; one with a name the innermost of that name, and all above it end with it.
 *
 * torch writes all BEGINs of a group and then their ENDs in the same order, and slices may cross: the k-th END of a run
 * belongs to the k-th BEGIN. Its times are cut to whole nanoseconds, so that a caller may end 1 ns before what it called.
 */
#include "ingest/perfetto/parts.h"

#include "base/runs.h"

static uint64_t pair_in_runs(struct pf_marks *marks)
{
    uint64_t lone = 0;
    size_t next = 0; /* the BEGIN that the next END closes */
    bool in_ends = false;
    for (size_t i = 0; i < marks->count; i++) {
        struct pf_mark *mark = &marks->at[i];
        if (!mark->is_end) {
            next = in_ends ? i : next;
            in_ends = false;
            continue;
        }
        in_ends = true;
        while (next < i && marks->at[next].is_end)
            next++;
        if (next < i)
            marks->at[next++].end = (uint32_t)i;
        else
            lone++;
    }
    return lone;
}

static bool comes_after(const void *context, const void *left, const void *right)
{
    const struct pf_marks *marks = context;
    const struct pf_mark *a = &marks->at[*(const uint32_t *)left], *b = &marks->at[*(const uint32_t *)right];
    return a->ts_ns > b->ts_ns; /* the sort is stable: those of one moment stay in order */
}

/* The marks track by track, and of one track by time; those of track T begin at FIRST[T]. Free it. */
static uint32_t *sort_by_track(const struct pf_marks *marks, size_t track_count, size_t *first)
{
    uint32_t *order = mem_alloc(mem_times(marks->count + 1, sizeof *order));
    for (size_t i = 0; i < marks->count; i++)
        first[marks->at[i].track + 2]++;
    for (size_t t = 2; t < track_count + 2; t++)
        first[t] += first[t - 1];
    for (size_t i = 0; i < marks->count; i++)
        order[first[marks->at[i].track + 1]++] = (uint32_t)i;
    for (size_t t = 0; t < track_count; t++)
        if (first[t + 1] > first[t])
            runs_sort(order + first[t], first[t + 1] - first[t], sizeof *order, comes_after, marks);
    return order;
}

struct open_marks {
    VEC_OF(uint32_t);
};

/* How far down a stack we look for the name that an END gives, or for callers to move. Keeps bad input linear. */
enum { DEEPEST_SEARCH = 512 };

/* How many of the open marks the END at INDEX closes; 0: none. */
static size_t count_closed(const struct pf_marks *marks, const struct open_marks *open, uint32_t index)
{
    struct wire_text name = marks->at[index].name;
    if (open->count == 0)
        return 0;
    if (name.len == 0)
        return 1;
    for (size_t depth = 1; depth <= open->count && depth <= DEEPEST_SEARCH; depth++) {
        struct wire_text other = marks->at[open->at[open->count - depth]].name;
        if (other.len == name.len && memcmp(other.at, name.at, name.len) == 0)
            return depth;
    }
    return 0;
}

static uint64_t pair_by_stack(struct pf_marks *marks, size_t track_count)
{
    SCOPED size_t *first = mem_zalloc(track_count + 2, sizeof *first);
    SCOPED uint32_t *order = sort_by_track(marks, track_count, first);
    SCOPED struct open_marks open = { 0 };
    uint64_t lone = 0;
    for (size_t t = 0; t < track_count; t++) {
        open.count = 0;
        for (size_t i = first[t]; i < first[t + 1]; i++) {
            if (!marks->at[order[i]].is_end) {
                *VEC_PUSH(&open) = order[i];
                continue;
            }
            size_t closed = count_closed(marks, &open, order[i]);
            lone += closed == 0;
            for (; closed > 0; closed--)
                marks->at[open.at[--open.count]].end = order[i];
        }
    }
    return lone;
}

/* ---- callers that end too early ---- */

static bool begins_later(const void *context, const void *left, const void *right)
{
    const struct pf_marks *marks = context;
    const struct pf_mark *a = &marks->at[*(const uint32_t *)left], *b = &marks->at[*(const uint32_t *)right];
    if (a->track != b->track)
        return a->track > b->track;
    return a->ts_ns != b->ts_ns ? a->ts_ns > b->ts_ns : marks->at[a->end].ts_ns < marks->at[b->end].ts_ns;
}

static int64_t end_of(const struct pf_marks *marks, uint32_t begin)
{
    return marks->at[marks->at[begin].end].ts_ns;
}

/* The slice of BEGIN lasts until END_NS. The OPEN ones around it that end 1 ns earlier, and began earlier, are moved by that. */
static void move_callers(struct pf_marks *marks, const struct open_marks *open, uint32_t begin,
                         int64_t end_ns)
{
    for (size_t depth = 1; depth <= open->count && depth <= DEEPEST_SEARCH; depth++) {
        struct pf_mark *around = &marks->at[open->at[open->count - depth]];
        if (marks->at[around->end].ts_ns != end_ns - 1 || around->ts_ns >= marks->at[begin].ts_ns)
            return;
        around->ts_ns++;
        marks->at[around->end].ts_ns++;
    }
}

void pf_nest(struct pf_marks *marks, const struct pf_tracks *tracks)
{
    SCOPED VEC_OF(uint32_t) order = { 0 };
    SCOPED struct open_marks open = { 0 };
    for (size_t i = 0; i < marks->count; i++)
        if (!marks->at[i].is_end && marks->at[i].end != UINT32_MAX &&
            tracks->at.at[marks->at[i].track].has_thread)
            *VEC_PUSH(&order) = (uint32_t)i;
    if (order.count)
        runs_sort(order.at, order.count, sizeof *order.at, begins_later, marks);
    for (size_t i = 0; i < order.count; i++) {
        const struct pf_mark *mark = &marks->at[order.at[i]];
        int64_t end_ns = end_of(marks, order.at[i]);
        if (i > 0 && marks->at[order.at[i - 1]].track != mark->track)
            open.count = 0;
        while (open.count && (end_of(marks, open.at[open.count - 1]) <= mark->ts_ns ||
                              end_of(marks, open.at[open.count - 1]) < end_ns - 1))
            open.count--;
        move_callers(marks, &open, order.at[i], end_ns);
        *VEC_PUSH(&open) = order.at[i];
    }
}

uint64_t pf_pair(struct pf_marks *marks, size_t track_count, bool in_runs)
{
    return in_runs ? pair_in_runs(marks) : pair_by_stack(marks, track_count);
}
