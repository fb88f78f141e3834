#include "memory/snapshot_analysis.h"

#include "base/rows.h"
#include "base/runs.h"
#include "base/sum.h"
#include <inttypes.h>

enum { BLOCKS_SHOWN = 2000, ROWS_SHOWN = 60 };

static const struct key by_size[] = { DESC_OF(struct life, size), KEY_END };

static const struct key by_birth[] = { ASC_OF(struct life, born), KEY_END };

static void snapshot_views_add_block(struct timeline *timeline, const struct life *life, uint32_t row,
                                     int64_t start_ns, int64_t end_ns, const char *line, struct buffer *text)
{
    buffer_clear(text);
    buffer_printf(text, "%s %s", SIZE_TEXT(life->size), line);
    name_id name = names_add(timeline->names, text->at, text->count);
    buffer_clear(text);
    buffer_printf(text, "Bytes: %" PRId64, life->size);
    timeline_add_span(timeline, &(struct timeline_span){
                                    .depth = (uint16_t)row,
                                    .name = name,
                                    .detail = names_add(timeline->details, text->at, text->count),
                                    .event = TIMELINE_NO_EVENT,
                                    .call = TIMELINE_NO_EVENT,
                                    .start_ns = start_ns,
                                    .dur_ns = end_ns - start_ns,
                                    .weight = life->size,
                                });
}

/* The start and end of LIFE on TIMELINE. False if its tensor had died before the first entry. */
static bool find_times(const struct allocator_history *replay, const struct timeline *timeline,
                       const struct life *life, int64_t *start_ns, int64_t *end_ns)
{
    int64_t first_us = allocator_history_time(replay, 0);
    *start_ns = life->born < 0 ? 0 : (allocator_history_time(replay, life->born) - first_us) * 1000;
    *end_ns = life->freed < 0               ? 0
              : life->freed == LIFE_GOES_ON ? timeline->dur_ns
                                            : (allocator_history_time(replay, life->freed) - first_us) * 1000;
    return life->freed != HISTORY_BEFORE_FIRST;
}

/* Memory of each line of code over time, from all lives. */
static void add_uses(const struct allocator_history *replay, struct timeline *timeline,
                     const struct life_names *names)
{
    int64_t start_ns, end_ns;
    for (size_t i = 0; i < replay->lives.count; i++) {
        const struct life *life = &replay->lives.at[i];
        if (!find_times(replay, timeline, life, &start_ns, &end_ns))
            continue;
        uint32_t line = life_name(names, i);
        name_id name =
            names_add(timeline->names, names_text(names->names, line), names_length(names->names, line));
        *VEC_PUSH(&timeline->uses) = (struct timeline_use){ start_ns, life->size, name, 1 };
        if (life->freed != LIFE_GOES_ON)
            *VEC_PUSH(&timeline->uses) = (struct timeline_use){ end_ns, -life->size, name, -1 };
    }
}

/* Give each of the COUNT LIVES, in the order of their births, a row that is free at that time. */
static void place_blocks(const struct allocator_history *replay, struct timeline *timeline,
                         const struct life *const *lives, size_t count, const struct life_names *names)
{
    int64_t free_from[ROWS_SHOWN], start_ns, end_ns;
    SCOPED struct buffer text = { 0 };
    for (int row = 0; row < ROWS_SHOWN; row++)
        free_from[row] = INT64_MIN;
    for (size_t i = 0; i < count; i++) {
        const struct life *life = lives[i];
        if (!find_times(replay, timeline, life, &start_ns, &end_ns))
            continue;
        uint32_t row = 0;
        while (row < ROWS_SHOWN && free_from[row] > start_ns)
            row++;
        if (row == ROWS_SHOWN || end_ns < start_ns) {
            timeline->left_out++;
            continue;
        }
        free_from[row] = end_ns;
        snapshot_views_add_block(
            timeline, life, row, start_ns, end_ns,
            names_text(names->names, life_name(names, (size_t)(life - replay->lives.at))), &text);
    }
}

const char *snapshot_view_of(const struct allocator_history *replay, struct arena *arena)
{
    return replay->device->device == SNAPSHOT_HOST
               ? "pinned host memory"
               : arena_printf(arena, "device %" PRIu32, replay->device->device);
}

struct timeline *snapshot_blocks_timeline(const struct allocator_history *replay)
{
    int64_t last_us = allocator_history_time(replay, replay->entry_count - 1),
            first_us = allocator_history_time(replay, 0);
    if (!replay->has_times || replay->time_goes_back || replay->lives.count == 0 ||
        first_us == SNAPSHOT_NO_TIME || last_us == SNAPSHOT_NO_TIME)
        return NULL;
    for (int64_t e = 0; e < replay->entry_count; e++)
        if (allocator_history_time(replay, e) == SNAPSHOT_NO_TIME)
            return NULL;
    const struct life **lives = mem_alloc(mem_times(replay->lives.count, sizeof *lives));
    for (size_t i = 0; i < replay->lives.count; i++)
        lives[i] = &replay->lives.at[i];
    SORT_ARRAY(lives, replay->lives.count, by_size);
    size_t count = replay->lives.count < BLOCKS_SHOWN ? replay->lives.count : BLOCKS_SHOWN;
    SORT_ARRAY(lives, count, by_birth);
    char title[64] = "Pinned host memory";
    if (replay->device->device != SNAPSHOT_HOST)
        snprintf(title, sizeof title, "The largest blocks of device %" PRIu32, replay->device->device);
    struct timeline *timeline = timeline_open(title, 0, (last_us - first_us) * 1000, 1);
    timeline->alive = true;
    timeline->of = snapshot_view_of(replay, &timeline->arena);
    timeline->left_out = replay->lives.count - count;
    timeline_add_lane(timeline, "blocks in use", "", TIMELINE_HOST);
    struct life_names *names = life_names_open(replay, ALIVE_BY_LINE);
    place_blocks(replay, timeline, lives, count, names);
    add_uses(replay, timeline, names);
    arena_free(names);
    free(lives);
    timeline_rank(timeline);
    return timeline;
}

/* The total of the lives of one stack. */
struct stack_use {
    int64_t bytes, count;
};

static void add_use(struct flame *flame, frame_id frame, const struct stack_use *use)
{
    sum_add(&flame->frames.at[frame].host_ns, use->bytes);
    flame->frames.at[frame].count += use->count;
}

/* Is NAME a name of C? Those of C++ have namespaces or arguments; ".localalias" and the like are from the linker. */
static bool is_c_name(const char *name)
{
    size_t len = strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_");
    return len > 0 && (name[len] == '\0' || name[len] == '.');
}

/* Is FRAME code that only leads to the code that allocated: the interpreter, the C runtime, or the recorder of stacks? */
static bool only_leads(const struct snapshot *snapshot, const struct snapshot_frame *frame)
{
    static const char *const recorder[] = { "torch::unwind::", "torch::CapturedTraceback::gather" };
    static const char *const libraries[] = { "cu", "nccl", "rccl", "hip", "miopen", "roc" };
    const char *file = names_text(snapshot->names, frame->file),
               *name = names_text(snapshot->names, frame->function), *dot = strrchr(file, '.');
    if (ANY(i, sizeof recorder / sizeof *recorder, strncmp(name, recorder[i], strlen(recorder[i])) == 0))
        return true;
    if (strstr(name, "::gather_with_cpp("))
        return true;
    bool c_file = !*file || strcmp(file, "??") == 0 ||
                  (dot && (strcmp(dot, ".c") == 0 || strcmp(dot, ".h") == 0 || strcmp(dot, ".S") == 0));
    for (size_t i = 0; i < sizeof libraries / sizeof *libraries && c_file; i++)
        c_file = strncmp(name, libraries[i], strlen(libraries[i])) != 0;
    return c_file && is_c_name(name);
}

/* Without frames that only lead to others, unless there are no others. */
static void add_stack(struct flame *flame, const struct snapshot *snapshot, stack_id id, const bool *leads,
                      const struct stack_use *use)
{
    SCOPED struct buffer text = { 0 };
    const struct snapshot_stack *stack = &snapshot->stacks.at[id];
    const uint32_t *frames = &snapshot->stack_frames.at[stack->first];
    frame_id parent = FRAME_NONE;
    bool others = ANY(i, stack->count, !leads[frames[i]]);
    for (uint32_t i = stack->count; i-- > 0;) {
        const struct snapshot_frame *frame = &snapshot->frames.at[frames[i]];
        if (others && leads[frames[i]])
            continue;
        const char *file = names_text(snapshot->names, frame->file);
        buffer_clear(&text);
        if (*file && strcmp(file, "??") != 0)
            buffer_printf(&text, "%s:%" PRId64 ":", file, frame->line);
        buffer_puts(&text, names_text(snapshot->names, frame->function));
        parent = flame_frame(flame, parent, text.at, text.count);
        add_use(flame, parent, use);
    }
}

/* Add each stack once: a stack may be long, and shared by many lives. */
static void add_stacks(struct flame *flame, const struct allocator_history *replay)
{
    const struct snapshot *snapshot = replay->snapshot;
    int64_t peak = replay->allocated.peak_entry;
    SCOPED struct stack_use *uses = mem_zalloc(snapshot->stacks.count + 1, sizeof *uses);
    SCOPED bool *leads = mem_alloc(snapshot->frames.count + 1);
    for (size_t i = 0; i < snapshot->frames.count; i++)
        leads[i] = only_leads(snapshot, &snapshot->frames.at[i]);
    FOR_EACH(life, &replay->lives) {
        if (life->stack == STACK_NONE || !life_is_allocated(life, peak))
            continue;
        sum_add(&uses[life->stack].bytes, life->size);
        uses[life->stack].count++;
    }
    FOR_EACH(life, &replay->lives) {
        if (!life_is_allocated(life, peak))
            continue;
        if (life->stack == STACK_NONE) {
            const char *name = life->born < 0 ? alive_before_recording : alive_no_frames;
            add_use(flame, flame_frame(flame, FRAME_NONE, name, strlen(name)),
                    &(struct stack_use){ life->size, 1 });
        } else if (uses[life->stack].count) {
            add_stack(flame, snapshot, life->stack, leads, &uses[life->stack]);
            uses[life->stack] = (struct stack_use){ 0 };
        }
    }
}

struct flame *snapshot_flame(const struct allocator_history *replay)
{
    char title[64] = "Pinned host memory at its peak";
    if (replay->device->device != SNAPSHOT_HOST)
        snprintf(title, sizeof title, "Device %" PRIu32 " at its peak, by bytes", replay->device->device);
    struct flame *flame = flame_open("peak", title);
    flame->bytes = true;
    add_stacks(flame, replay);
    if (flame->frames.count == 0) {
        flame_free(flame);
        return NULL;
    }
    flame_finish(flame, 0.0002);
    return flame;
}
