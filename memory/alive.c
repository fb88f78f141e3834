#include "memory/allocator_history.h"

#include "base/rows.h"
#include <inttypes.h>

const char alive_before_recording[] = "[before recording]", alive_no_frames[] = "[no frames]";

void snapshot_stack_text(const struct snapshot *snapshot, stack_id stack, struct buffer *out)
{
    const struct snapshot_stack *at = &snapshot->stacks.at[stack];
    for (uint32_t i = 0; i < at->count; i++) {
        const struct snapshot_frame *frame = &snapshot->frames.at[snapshot->stack_frames.at[at->first + i]];
        buffer_printf(out, "%s%s:%" PRId64 ":%s", i ? " <- " : "", names_text(snapshot->names, frame->file),
                      frame->line, names_text(snapshot->names, frame->function));
    }
}

/* ---- names of lives ---- */

static uint32_t add_text(struct life_names *names, const char *text)
{
    return names_add(names->names, text, strlen(text));
}

bool *allocator_history_stacks(const struct allocator_history *replay)
{
    bool *has = mem_zalloc(replay->snapshot->stacks.count + 1, sizeof *has);
    const stack_id *stacks = replay->snapshot->entries.stack;
    for (uint64_t e = replay->device->first; e < replay->device->end; e++)
        if (stacks[e] != STACK_NONE)
            has[stacks[e]] = true;
    for (size_t i = 0; i < replay->lives.count; i++) /* those of blocks that existed before */
        if (replay->lives.at[i].stack != STACK_NONE)
            has[replay->lives.at[i].stack] = true;
    return has;
}

static void name_stacks(struct life_names *names)
{
    const struct snapshot *snapshot = names->replay->snapshot;
    names->of_stack = mem_alloc(mem_times(snapshot->stacks.count + 1, sizeof *names->of_stack));
    SCOPED bool *has = allocator_history_stacks(names->replay);
    SCOPED_ARENA struct arena arena = { 0 };
    SCOPED struct buffer text = { 0 };
    for (size_t s = 0; s < snapshot->stacks.count; s++) {
        if (!has[s])
            continue;
        buffer_clear(&text);
        if (names->by == ALIVE_BY_STACK) {
            snapshot_stack_text(snapshot, (stack_id)s, &text);
            names->of_stack[s] = names_add(names->names, text.at, text.count);
        } else {
            frame_id frame = snapshot_user_frame(snapshot, (stack_id)s);
            names->of_stack[s] = frame == FRAME_NONE
                                     ? names->none
                                     : add_text(names, snapshot_frame_text(snapshot, frame, &arena));
            arena_clear(&arena);
        }
    }
}

/* Annotations of one device, by start; and the scopes open at the current time. */
struct scopes {
    VEC_OF(struct snapshot_annotation) by_start;
    VEC_OF(struct snapshot_annotation) open;
    size_t next;
};

static const struct key by_start_us_end_us[] = { ASC(struct snapshot_annotation, start_us),
                                                 DESC(struct snapshot_annotation, end_us), KEY_END };

/* The innermost scope at TIME_US, which must not decrease; NAME_NONE: none. */
static name_id scope_at(struct scopes *scopes, int64_t time_us)
{
    while (scopes->next < scopes->by_start.count && scopes->by_start.at[scopes->next].start_us <= time_us)
        *VEC_PUSH(&scopes->open) = scopes->by_start.at[scopes->next++];
    while (scopes->open.count && scopes->open.at[scopes->open.count - 1].end_us < time_us)
        scopes->open.count--;
    return scopes->open.count ? scopes->open.at[scopes->open.count - 1].name : NAME_NONE;
}

static void name_by_annotation(struct life_names *names)
{
    const struct allocator_history *replay = names->replay;
    const struct snapshot *snapshot = replay->snapshot;
    struct scopes scopes = { 0 };
    for (size_t i = 0; i < snapshot->annotations.count; i++) {
        struct snapshot_annotation annotation = snapshot->annotations.at[i];
        if (annotation.end_us == SNAPSHOT_NO_TIME)
            annotation.end_us = INT64_MAX;
        if (annotation.device == replay->device->device && annotation.start_us != SNAPSHOT_NO_TIME)
            *VEC_PUSH(&scopes.by_start) = annotation;
    }
    SORT(&scopes.by_start, by_start_us_end_us);
    uint32_t outside = add_text(names, "[outside of annotations]");
    for (size_t i = 0; i < replay->lives.count; i++) {
        int64_t time_us = allocator_history_time(replay, replay->lives.at[i].born);
        name_id scope = time_us == SNAPSHOT_NO_TIME ? NAME_NONE : scope_at(&scopes, time_us);
        names->of_life[i] = replay->lives.at[i].born < 0 ? names->before
                            : scope == NAME_NONE         ? outside
                                                 : names_add(names->names, names_text(snapshot->names, scope),
                                                             names_length(snapshot->names, scope));
    }
    EACH(VEC_FREE, &scopes.by_start, &scopes.open);
}

static void name_by_entry(struct life_names *names)
{
    const struct allocator_history *replay = names->replay;
    const struct snapshot *snapshot = replay->snapshot;
    const struct snapshot_entries *entries = &snapshot->entries;
    uint32_t unknown = add_text(names, "[not recorded]");
    char text[64];
    for (size_t i = 0; i < replay->lives.count; i++) {
        uint32_t *name = &names->of_life[i];
        *name = names->before;
        if (replay->lives.at[i].born < 0)
            continue;
        uint64_t e = replay->device->first + (uint64_t)replay->lives.at[i].born;
        name_id recorded = names->by == ALIVE_BY_CATEGORY   ? column_at(&entries->category, e)
                           : names->by == ALIVE_BY_CONTEXT  ? column_at(&entries->compile_context, e)
                           : names->by == ALIVE_BY_METADATA ? column_at(&entries->user_metadata, e)
                                                            : NAME_NONE;
        if (names->by == ALIVE_BY_POOL) {
            const struct snapshot_pool *pool = &snapshot->pools.at[column_at(&entries->pool, e)];
            snprintf(text, sizeof text, "(%" PRId64 ", %" PRId64 ")", pool->a, pool->b);
            *name = add_text(names, text);
        } else if (names->by == ALIVE_BY_STREAM) {
            snprintf(text, sizeof text, "%" PRId64, snapshot->streams.at[column_at(&entries->stream, e)]);
            *name = add_text(names, text);
        } else {
            *name = recorded == NAME_NONE || names_length(snapshot->names, recorded) == 0
                        ? unknown
                        : names_add(names->names, names_text(snapshot->names, recorded),
                                    names_length(snapshot->names, recorded));
        }
    }
}

struct life_names *life_names_open(const struct allocator_history *replay, enum alive_by by)
{
    struct life_names *names = arena_open(sizeof *names);
    ARENA_OWNS(arena_of(names), &names->of_stack, &names->of_life);
    *names =
        (struct life_names){ .replay = replay, .by = by, .names = arena_hold(arena_of(names), names_open()) };
    names->before = add_text(names, alive_before_recording);
    names->none = add_text(names, alive_no_frames);
    if (by == ALIVE_BY_LINE || by == ALIVE_BY_STACK) {
        name_stacks(names);
        return names;
    }
    names->of_life = mem_alloc(mem_times(replay->lives.count + 1, sizeof *names->of_life));
    if (by == ALIVE_BY_ANNOTATION)
        name_by_annotation(names);
    else
        name_by_entry(names);
    return names;
}

uint32_t life_name(const struct life_names *names, size_t i)
{
    if (names->of_life)
        return names->of_life[i];
    const struct life *life = &names->replay->lives.at[i];
    if (life->stack != STACK_NONE)
        return names->of_stack[life->stack];
    return life->born < 0 ? names->before : names->none;
}

static const struct key by_bytes_name[] = { DESC(struct alive_row, bytes), ASC(struct alive_row, name),
                                            KEY_END };

struct alive *alive_find(const struct allocator_history *replay, int64_t entry, enum alive_by by)
{
    struct alive *alive = arena_open(sizeof *alive);
    ARENA_OWNS(arena_of(alive), &alive->rows);
    if (replay->lives.count == 0)
        return alive;
    SCOPED_OBJECT struct life_names *names = life_names_open(replay, by);
    size_t count = names_count(names->names);
    SCOPED struct alive_row *sums = mem_zalloc(count, sizeof *sums);
    SCOPED int64_t *largest = mem_zalloc(count, sizeof *largest);
    for (size_t i = 0; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        if (!life_is_allocated(life, entry))
            continue;
        struct alive_row *row = &sums[life_name(names, i)];
        if (row->count == 0 || life->size > largest[row - sums]) {
            largest[row - sums] = life->size;
            row->stack = life->stack;
        }
        row->bytes += life->size;
        row->count++;
        alive->bytes += life->size;
        alive->count++;
        alive->before_bytes += life->born < 0 ? life->size : 0;
        alive->before_count += life->born < 0;
    }
    for (size_t n = 0; n < count; n++)
        if (sums[n].count) {
            sums[n].length = names_length(names->names, (name_id)n);
            sums[n].name =
                arena_strndup(arena_of(alive), names_text(names->names, (name_id)n), sums[n].length);
            *VEC_PUSH(&alive->rows) = sums[n];
        }
    SORT(&alive->rows, by_bytes_name);
    return alive;
}
