/* timeline.c - see timeline.h. */
#include "base/timeline.h"

#include <stdlib.h>
#include <string.h>

struct timeline *timeline_open(const char *key, const char *title, int64_t start_ns, int64_t dur_ns)
{
    struct timeline *timeline = mem_zalloc(1, sizeof *timeline);
    timeline->key = key;
    timeline->title = arena_strndup(&timeline->arena, title, strlen(title));
    timeline->start_ns = start_ns;
    timeline->dur_ns = dur_ns;
    timeline->names = names_open();
    return timeline;
}

void timeline_free(struct timeline *timeline)
{
    if (!timeline)
        return;
    VEC_FREE(&timeline->lanes);
    VEC_FREE(&timeline->spans);
    names_free(timeline->names);
    arena_release(&timeline->arena);
    free(timeline);
}

size_t timeline_add_lane(struct timeline *timeline, const char *title, bool on_device)
{
    *VEC_PUSH(&timeline->lanes) =
        (struct timeline_lane){ arena_strndup(&timeline->arena, title, strlen(title)), on_device, 0 };
    return timeline->lanes.count - 1;
}

void timeline_add_span(struct timeline *timeline, size_t lane, uint32_t depth, const char *name, size_t len,
                       int64_t start_ns, int64_t dur_ns)
{
    *VEC_PUSH(&timeline->spans) = (struct timeline_span){
        (uint32_t)lane, depth, names_add(timeline->names, name, len), start_ns, dur_ns,
    };
    if (depth >= timeline->lanes.at[lane].rows)
        timeline->lanes.at[lane].rows = depth + 1;
}

static int compare_lengths(const void *left, const void *right)
{
    const struct timeline_span *a = left, *b = right;
    if (a->dur_ns != b->dur_ns)
        return a->dur_ns > b->dur_ns ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    return a->depth < b->depth ? -1 : a->depth > b->depth;
}

static int compare_starts(const void *left, const void *right)
{
    const struct timeline_span *a = left, *b = right;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->lane != b->lane)
        return a->lane < b->lane ? -1 : 1;
    if (a->depth != b->depth)
        return a->depth < b->depth ? -1 : 1;
    return a->dur_ns > b->dur_ns ? -1 : a->dur_ns < b->dur_ns;
}

void timeline_thin(struct timeline *timeline, size_t most)
{
    if (timeline->spans.count > most) {
        qsort(timeline->spans.at, timeline->spans.count, sizeof *timeline->spans.at, compare_lengths);
        timeline->left_out += timeline->spans.count - most;
        timeline->below_ns = timeline->spans.at[most].dur_ns;
        timeline->spans.count = most;
    }
    if (timeline->spans.count)
        qsort(timeline->spans.at, timeline->spans.count, sizeof *timeline->spans.at, compare_starts);
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
    names_free(flame->names);
    names_free(flame->paths);
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
    for (size_t i = flame->frames.count; i-- > 0;) { /* callees stand behind their callers */
        const struct flame_frame *frame = &flame->frames.at[i];
        if (frame->parent != FRAME_NONE) {
            flame->frames.at[frame->parent].device_ns += frame->device_ns;
            continue;
        }
        host_ns += frame->host_ns;
        device_ns += frame->device_ns;
    }
    frame_id *moved = mem_alloc(mem_times(flame->frames.count + 1, sizeof *moved));
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
    free(moved);
}
