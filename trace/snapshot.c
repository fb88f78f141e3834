#include "trace/snapshot.h"
#include "base/search.h"

#include <inttypes.h>

const char *const entry_action_names[ENTRY_ACTIONS] = {
    [ENTRY_ALLOC] = "alloc",
    [ENTRY_FREE_REQUESTED] = "free_requested",
    [ENTRY_FREE_COMPLETED] = "free_completed",
    [ENTRY_SEGMENT_ALLOC] = "segment_alloc",
    [ENTRY_SEGMENT_FREE] = "segment_free",
    [ENTRY_SEGMENT_MAP] = "segment_map",
    [ENTRY_SEGMENT_UNMAP] = "segment_unmap",
    [ENTRY_OOM] = "oom",
    [ENTRY_SNAPSHOT] = "snapshot",
    [ENTRY_ANNOTATE] = "annotate",
    [ENTRY_UNKNOWN] = "unknown",
};

/* The columns of entries: those with a value for each, and those that are a struct snapshot_column. */
#define FULL_COLUMNS(column) column(action) column(addr) column(size) column(time_us) column(stack)
#define SAME_COLUMNS(column)                                                                                 \
    column(stream) column(compile_context) column(user_metadata) column(pool) column(category) column(forward)

struct snapshot *snapshot_open(const char *path)
{
    struct snapshot *snapshot = mem_zalloc(1, sizeof *snapshot);
    snapshot->path = arena_strndup(&snapshot->arena, path, strlen(path));
    snapshot->names = names_open();
    snapshot->max_entries = -1;
    return snapshot;
}

void snapshot_free(struct snapshot *snapshot)
{
    if (!snapshot)
        return;
    struct snapshot_entries *entries = &snapshot->entries;
#define FREE_FULL(name) column_free(entries->name, entries->capacity * sizeof *entries->name);
#define FREE_SAME(name) column_free(entries->name.at, entries->capacity * sizeof *entries->name.at);
    FULL_COLUMNS(FREE_FULL)
    SAME_COLUMNS(FREE_SAME)
    VEC_FREE(&snapshot->devices);
    EACH(VEC_FREE, &snapshot->segments, &snapshot->blocks, &snapshot->annotations, &snapshot->frames,
         &snapshot->stack_frames, &snapshot->stacks, &snapshot->streams, &snapshot->pools,
         &snapshot->settings, &snapshot->keys, &snapshot->unknown_actions, &snapshot->notices);
    names_free(snapshot->names);
    arena_release(&snapshot->arena);
    free(snapshot);
}

static void grow_entries(struct snapshot_entries *entries)
{
    size_t more = entries->capacity < 1024 ? 1024 : entries->capacity + entries->capacity / 2;
#define GROW(at)                                                                                             \
    (at) = column_resize((at), mem_times(entries->capacity, sizeof *(at)), mem_times(more, sizeof *(at)));
#define GROW_FULL(name) GROW(entries->name)
#define GROW_SAME(name)                                                                                      \
    if (entries->name.at)                                                                                    \
    GROW(entries->name.at)
    FULL_COLUMNS(GROW_FULL)
    SAME_COLUMNS(GROW_SAME)
    entries->capacity = more;
}

size_t snapshot_add_entry(struct snapshot *snapshot)
{
    struct snapshot_entries *entries = &snapshot->entries;
    if (entries->count == entries->capacity)
        grow_entries(entries);
    return entries->count++;
}

void snapshot_repeat_entry(struct snapshot *snapshot, size_t e)
{
    size_t to = snapshot_add_entry(snapshot);
    struct snapshot_entries *entries = &snapshot->entries;
#define COPY_FULL(name) entries->name[to] = entries->name[e];
#define COPY_SAME(name) snapshot_set(entries, &entries->name, to, column_at(&entries->name, e));
    FULL_COLUMNS(COPY_FULL)
    SAME_COLUMNS(COPY_SAME)
}

void snapshot_spread(const struct snapshot_entries *entries, struct snapshot_column *column)
{
    column->at = column_resize(NULL, 0, mem_times(entries->capacity, sizeof *column->at));
    for (size_t i = 0; i < entries->count; i++)
        column->at[i] = column->same;
}

void snapshot_notice(struct snapshot *snapshot, const char *kind, const char *text, uint64_t count,
                     int64_t offset)
{
    snapshot->lacks |= lacks_of_word(kind);
    for (size_t i = 0; i < snapshot->notices.count; i++)
        if (strcmp(snapshot->notices.at[i].kind, kind) == 0) {
            snapshot->notices.at[i].count += count;
            return;
        }
    *VEC_PUSH(&snapshot->notices) = (struct snapshot_notice){ kind, text, count, offset };
}

void snapshot_lacks(struct snapshot *snapshot, enum lack lack, const char *text, uint64_t count,
                    int64_t offset)
{
    snapshot_notice(snapshot, lack_word(lack), text, count, offset);
}

size_t snapshot_first_segment(const struct snapshot *snapshot, uint32_t device)
{
    return PLACE(i, snapshot->segments.count, snapshot->segments.at[i].device < device);
}

/* ---- stacks ---- */

/* What stands in FUNCTION between BEFORE and the next "::"; NULL: BEFORE is not in it. */
static const char *word_behind(const char *function, const char *before, size_t *len)
{
    const char *at = strstr(function, before);
    if (!at)
        return NULL;
    at += strlen(before);
    const char *end = strstr(at, "::");
    *len = end ? (size_t)(end - at) : 0;
    return *len ? at : NULL;
}

const char *snapshot_node_of(const char *function, size_t *len)
{
    const char *node = word_behind(function, "torch::autograd::generated::", len);
    if (!node)
        node = word_behind(function, "torch::autograd::", len);
    return node && strncmp(node + *len, "::apply(", 8) == 0 ? node : NULL;
}

const char *snapshot_operator_of(const char *function, size_t *len)
{
    return strncmp(function, "at::_ops::", 10) == 0 ? word_behind(function, "at::_ops::", len) : NULL;
}

const char *snapshot_frame_text(const struct snapshot *snapshot, frame_id frame, struct arena *arena)
{
    const struct snapshot_frame *at = &snapshot->frames.at[frame];
    const char *function = names_text(snapshot->names, at->function);
    size_t len;
    const char *node = snapshot_node_of(function, &len);
    if (node)
        return arena_strndup(arena, node, len);
    const char *op = snapshot_operator_of(function, &len);
    if (op)
        return arena_printf(arena, "aten::%.*s", (int)len, op);
    return arena_printf(arena, "%s:%" PRId64 ":%s", names_text(snapshot->names, at->file), at->line,
                        names_text(snapshot->names, at->function));
}

frame_id snapshot_user_frame(const struct snapshot *snapshot, stack_id stack)
{
    return stack == STACK_NONE ? FRAME_NONE : snapshot->stacks.at[stack].user_frame;
}
