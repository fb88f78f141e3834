#include "base/timeline.h"

#include "base/order.h"
#include "base/search.h"
#include <assert.h>

struct timeline *timeline_open(const char *title, int64_t start_ns, int64_t dur_ns, size_t bins)
{
    struct timeline *timeline = mem_zalloc(1, sizeof *timeline);
    timeline->title = arena_strndup(&timeline->arena, title, strlen(title));
    timeline->start_ns = start_ns;
    timeline->dur_ns = dur_ns > 0 ? dur_ns : 1;
    timeline->bins = bins;
    timeline->finer = 1;
    timeline->names = names_open();
    timeline->details = names_open();
    names_add(timeline->details, "", 0); /* id 0: no details */
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    if (!timeline)
        return;
    for (size_t i = 0; i < timeline->strips.count; i++)
        free(timeline->strips.at[i].ns);
    for (size_t i = 0; i < timeline->series.count; i++)
        EACH(free, timeline->series.at[i].most, timeline->series.at[i].runs.at);
    EACH(VEC_FREE, &timeline->kinds, &timeline->lanes, &timeline->spans, &timeline->steps, &timeline->files,
         &timeline->strips, &timeline->series, &timeline->uses);
    EACH(names_free, timeline->names, timeline->details);
    arena_release(&timeline->arena);
    free(timeline);
}

uint32_t timeline_add_kind(struct timeline *timeline, const char *title, const char *group,
                           enum chart_color color)
{
    assert(timeline->kinds.count < TIMELINE_MOST_KINDS);
    *VEC_PUSH(&timeline->kinds) = (struct timeline_kind){ title, group, color };
    return (uint32_t)timeline->kinds.count - 1;
}

uint32_t timeline_add_lane(struct timeline *timeline, const char *title, const char *group,
                           enum timeline_place place)
{
    *VEC_PUSH(&timeline->lanes) =
        (struct timeline_lane){ .title = arena_strndup(&timeline->arena, title, strlen(title)),
                                .group = arena_strndup(&timeline->arena, group, strlen(group)),
                                .place = place };
    return (uint32_t)timeline->lanes.count - 1;
}

size_t timeline_add_strip(struct timeline *timeline, const char *title)
{
    *VEC_PUSH(&timeline->strips) =
        (struct timeline_strip){ arena_strndup(&timeline->arena, title, strlen(title)),
                                 mem_zalloc(mem_times(timeline->bins, TIMELINE_MOST_KINDS), sizeof(int64_t)),
                                 { 0 } };
    return timeline->strips.count - 1;
}

size_t timeline_add_series(struct timeline *timeline, const char *title, uint32_t strip)
{
    size_t cells = timeline->bins * timeline->finer;
    int64_t *most = mem_alloc(mem_times(cells, sizeof *most));
    for (size_t i = 0; i < cells; i++)
        most[i] = INT64_MIN;
    *VEC_PUSH(&timeline->series) = (struct timeline_series){
        arena_strndup(&timeline->arena, title, strlen(title)), strip, most, { 0 }, { 0 }
    };
    return timeline->series.count - 1;
}

void timeline_add_span(struct timeline *timeline, const struct timeline_span *span)
{
    int64_t start_ns = span->start_ns, end_ns = span->start_ns + span->dur_ns;
    int64_t last_ns = timeline->start_ns + timeline->dur_ns;
    if (end_ns < timeline->start_ns || start_ns > last_ns)
        return;
    struct timeline_span *kept = VEC_PUSH(&timeline->spans);
    *kept = *span;
    kept->start_ns = start_ns < timeline->start_ns ? timeline->start_ns : start_ns;
    kept->dur_ns = (end_ns > last_ns ? last_ns : end_ns) - kept->start_ns;
}

/* Where I of BINS begins, from the start of the timeline: computed without a product that might overflow. */
static int64_t bin_ns(const struct timeline *timeline, size_t bins, size_t i)
{
    int64_t count = (int64_t)bins, at = (int64_t)i;
    return timeline->dur_ns / count * at + timeline->dur_ns % count * at / count;
}

/* Which of BINS the moment AT_NS from the start is in, which is within the timeline. */
static size_t bin_at(const struct timeline *timeline, size_t bins, int64_t at_ns)
{
    size_t bin = (size_t)((double)at_ns / (double)timeline->dur_ns * (double)bins);
    bin = bin < bins ? bin : bins - 1;
    while (bin > 0 && bin_ns(timeline, bins, bin) > at_ns)
        bin--;
    while (bin + 1 < bins && bin_ns(timeline, bins, bin + 1) <= at_ns)
        bin++;
    return bin;
}

/* Make NEAR the one of BINS that the moment AT_NS is in, as above. */
static void find_bin(const struct timeline *timeline, size_t bins, int64_t at_ns, struct timeline_bin *near)
{
    if (near->from_ns <= at_ns && at_ns < near->to_ns)
        return;
    near->at = bin_at(timeline, bins, at_ns);
    near->from_ns = bin_ns(timeline, bins, near->at);
    near->to_ns = bin_ns(timeline, bins, near->at + 1);
}

void timeline_fill_strip(struct timeline *timeline, size_t strip, uint32_t kind, int64_t start_ns,
                         int64_t end_ns, int64_t time_ns)
{
    double share = end_ns > start_ns ? (double)time_ns / (double)(end_ns - start_ns) : 0;
    int64_t *ns = timeline->strips.at[strip].ns;
    start_ns -= timeline->start_ns;
    end_ns -= timeline->start_ns;
    start_ns = start_ns < 0 ? 0 : start_ns;
    end_ns = end_ns > timeline->dur_ns ? timeline->dur_ns : end_ns;
    if (start_ns >= end_ns)
        return;
    struct timeline_bin *near = &timeline->strips.at[strip].near;
    find_bin(timeline, timeline->bins, start_ns, near);
    int64_t bin_end_ns = near->to_ns;
    for (size_t bin = near->at; start_ns < end_ns && bin < timeline->bins; bin++) {
        if (bin > near->at)
            bin_end_ns = bin_ns(timeline, timeline->bins, bin + 1);
        int64_t to_ns = bin_end_ns < end_ns ? bin_end_ns : end_ns;
        ns[bin * TIMELINE_MOST_KINDS + kind] += (int64_t)((double)(to_ns - start_ns) * share);
        start_ns = to_ns;
    }
}

void timeline_set_series(struct timeline *timeline, size_t series, int64_t start_ns, int64_t end_ns,
                         int64_t value)
{
    int64_t *most = timeline->series.at[series].most;
    start_ns = start_ns < timeline->start_ns ? 0 : start_ns - timeline->start_ns;
    end_ns = end_ns - timeline->start_ns < timeline->dur_ns ? end_ns - timeline->start_ns : timeline->dur_ns;
    if (start_ns > end_ns || start_ns > timeline->dur_ns)
        return;
    struct timeline_bin *near = &timeline->series.at[series].near;
    size_t cells = timeline->bins * timeline->finer;
    find_bin(timeline, cells, start_ns, near);
    size_t cell = near->at;
    int64_t cell_end_ns = near->to_ns;
    for (;; cell_end_ns = bin_ns(timeline, cells, cell + 1)) {
        most[cell] = value > most[cell] ? value : most[cell];
        if (++cell == cells || cell_end_ns >= end_ns)
            break;
    }
}

void timeline_end_series(struct timeline *timeline, size_t series)
{
    struct timeline_series *of = &timeline->series.at[series];
    size_t cells = timeline->bins * timeline->finer, changes = 1;
    for (size_t cell = 1; cell < cells; cell++)
        changes += of->most[cell] != of->most[cell - 1];
    if (changes * sizeof *of->runs.at >= cells * sizeof *of->most)
        return;
    VEC_RESERVE(&of->runs, changes);
    for (size_t cell = 0; cell < cells; cell++)
        if (cell == 0 || of->most[cell] != of->most[cell - 1])
            *VEC_PUSH(&of->runs) = (struct timeline_run){ cell, of->most[cell] };
    free(of->most);
    of->most = NULL;
}

int64_t timeline_series_most(const struct timeline *timeline, size_t series, size_t first, size_t end)
{
    const struct timeline_series *of = &timeline->series.at[series];
    int64_t most = INT64_MIN;
    size_t i;
    if (of->most) {
        for (i = first; i < end && i < timeline->bins * timeline->finer; i++)
            most = of->most[i] > most ? of->most[i] : most;
        return most;
    }
    SEARCH(i, of->runs.count, of->runs.at[i].cell <= first);
    for (i--; i < of->runs.count && of->runs.at[i].cell < end; i++)
        most = of->runs.at[i].value > most ? of->runs.at[i].value : most;
    return most;
}

void timeline_read_series(const struct timeline *timeline, size_t series, int64_t start_ns, int64_t end_ns,
                          size_t most, struct timeline_changes *changes)
{
    size_t cells = timeline->bins * timeline->finer;
    size_t first = bin_at(timeline, cells, start_ns - timeline->start_ns),
           last = bin_at(timeline, cells, end_ns - timeline->start_ns), step = (last - first) / most + 1;
    int64_t value = 0;
    for (size_t cell = first / step * step; cell <= last; cell += step) {
        int64_t now = timeline_series_most(timeline, series, cell, cell + step);
        if (now == INT64_MIN || now == value)
            continue;
        *VEC_PUSH(changes) =
            (struct timeline_change){ timeline->start_ns + bin_ns(timeline, cells, cell), now };
        value = now;
    }
}

/* Sort ORDER, of COUNT of SPANS, by start, then lane and depth, equal ones by index: the order of equal weights. */
static void order_equals(uint32_t *order, size_t count, const struct timeline_span *spans, uint64_t *keys)
{
    for (size_t i = 0; i < count; i++)
        keys[i] = (uint64_t)spans[i].lane << 16 | spans[i].depth;
    order_by(order, count, keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = order_key(spans[i].start_ns);
    order_by(order, count, keys);
}

/* The key with *AT larger ones among the *ALL KEYS, which are used up: the digits of the key are found from the highest on. *ALL
 * becomes the number of equal ones, and *AT how many of them come before it. */
static uint64_t key_at(uint64_t *keys, size_t *all, size_t *at)
{
    enum { DIGIT_BITS = 11, DIGITS = 1 << DIGIT_BITS };
    uint64_t differ = 0;
    size_t count = *all, place = *at;
    for (size_t i = 1; i < count; i++)
        differ |= keys[i] ^ keys[0];
    for (int shift = 55; shift >= 0; shift -= DIGIT_BITS) {
        size_t has[DIGITS] = { 0 }, digit = DIGITS - 1, kept = 0;
        if ((differ >> shift & (DIGITS - 1)) == 0)
            continue;
        for (size_t i = 0; i < count; i++)
            has[keys[i] >> shift & (DIGITS - 1)]++;
        for (; place >= has[digit]; digit--)
            place -= has[digit];
        for (size_t i = 0; i < count; i++)
            if ((keys[i] >> shift & (DIGITS - 1)) == digit)
                keys[kept++] = keys[i];
        count = kept;
    }
    *all = count;
    *at = place;
    return keys[0];
}

/* Which of the COUNT spans of weight LEAST_WEIGHT are the first ROOM of them: a byte for each, in their order; new, free(). */
static uint8_t *first_of_equals(const struct timeline *timeline, int64_t least_weight, size_t count,
                                size_t room)
{
    SCOPED struct timeline_span *equals = mem_alloc(mem_times(count + 1, sizeof *equals));
    SCOPED uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    SCOPED uint32_t *order = order_open(count);
    uint8_t *stays = mem_zalloc(count + 1, sizeof *stays);
    for (size_t i = 0, k = 0; i < timeline->spans.count; i++)
        if (timeline->spans.at[i].weight == least_weight)
            equals[k++] = timeline->spans.at[i];
    order_equals(order, count, equals, keys);
    for (size_t i = 0; i < room; i++)
        stays[order[i]] = true;
    return stays;
}

int64_t timeline_cut(struct timeline *timeline, size_t most)
{
    size_t count = timeline->spans.count, equals = count, place = most - 1, kept = 0, equal = 0;
    struct timeline_span *spans = timeline->spans.at;
    if (count <= most)
        return INT64_MIN;
    assert(most > 0);
    uint64_t *keys = mem_alloc(mem_times(count, sizeof *keys));
    for (size_t i = 0; i < count; i++)
        keys[i] = order_key(spans[i].weight);
    uint64_t least_key = key_at(keys, &equals, &place);
    int64_t least_weight = (int64_t)(least_key ^ order_key(0));
    free(keys);
    SCOPED uint8_t *stays = first_of_equals(timeline, least_weight, equals, place + 1);
    for (size_t i = 0; i < count; i++)
        if (spans[i].weight > least_weight || (spans[i].weight == least_weight && stays[equal++]))
            spans[kept++] = spans[i];
    timeline->spans.count = kept;
    return least_weight;
}

void timeline_rank(struct timeline *timeline)
{
    size_t count = timeline->spans.count;
    struct timeline_span *spans = timeline->spans.at;
    SCOPED uint32_t *order = order_open(count);
    uint64_t *keys = mem_alloc(mem_times(count + 1, sizeof *keys));
    order_equals(order, count, spans, keys);
    for (size_t i = 0; i < count; i++)
        keys[i] = ~order_key(spans[i].weight);
    order_by(order, count, keys);
    free(keys);
    for (size_t i = 0; i < count; i++)
        spans[order[i]].rank = (uint32_t)i;
}

struct flame *flame_open(const char *key, const char *title)
{
    struct flame *flame = mem_zalloc(1, sizeof *flame);
    flame->key = key;
    flame->title = arena_strndup(&flame->arena, title, strlen(title));
    flame->names = names_open();
    flame->paths = names_open();
    return flame;
}

void flame_free(struct flame *flame)
{
    if (!flame)
        return;
    VEC_FREE(&flame->frames);
    EACH(names_free, flame->names, flame->paths);
    arena_release(&flame->arena);
    free(flame);
}

frame_id flame_frame(struct flame *flame, frame_id parent, const char *name, size_t len)
{
    uint32_t path[2] = { parent, names_add(flame->names, name, len) };
    frame_id frame = names_add(flame->paths, (const char *)path, sizeof path);
    if (frame == flame->frames.count)
        *VEC_PUSH(&flame->frames) = (struct flame_frame){ .parent = parent, .name = path[1] };
    return frame;
}

void flame_finish(struct flame *flame, double share)
{
    int64_t host_ns = 0, device_ns = 0;
    for (size_t i = flame->frames.count; i-- > 0;) { /* callees are behind their callers */
        const struct flame_frame *frame = &flame->frames.at[i];
        if (frame->parent != FRAME_NONE) {
            flame->frames.at[frame->parent].device_ns += frame->device_ns;
            continue;
        }
        host_ns += frame->host_ns;
        device_ns += frame->device_ns;
    }
    SCOPED frame_id *moved = mem_alloc(mem_times(flame->frames.count + 1, sizeof *moved));
    frame_id kept = 0;
    for (size_t i = 0; i < flame->frames.count; i++) {
        struct flame_frame frame = flame->frames.at[i];
        bool small = (double)frame.host_ns <= share * (double)host_ns &&
                     (double)frame.device_ns <= share * (double)device_ns;
        bool orphan = frame.parent != FRAME_NONE && moved[frame.parent] == FRAME_NONE;
        moved[i] = FRAME_NONE;
        if (small || orphan)
            continue;
        if (frame.parent != FRAME_NONE)
            frame.parent = moved[frame.parent];
        moved[i] = kept;
        flame->frames.at[kept++] = frame;
    }
    flame->frames.count = kept;
}
