#include "cli/convert/parts.h"

#include "base/escape.h"
#include "base/packer.h"
#include "memory/allocator_history.h"
#include <inttypes.h>

/* ---- folded ---- */

static void snapshot_add_stack(struct buffer *out, const struct snapshot *snapshot, stack_id stack)
{
    const struct snapshot_stack *at = &snapshot->stacks.at[stack];
    SCOPED struct buffer text = { 0 };
    for (uint32_t i = at->count; i-- > 0;) {
        const struct snapshot_frame *frame = &snapshot->frames.at[snapshot->stack_frames.at[at->first + i]];
        buffer_clear(&text);
        buffer_printf(&text, "%s:%" PRId64 ":%s", names_text(snapshot->names, frame->file), frame->line,
                      names_text(snapshot->names, frame->function));
        buffer_putc(out, ';');
        escape_folded(out, text.at, text.count);
    }
}

/* Stacks of one device, with the memory of each in use at the peak. */
static int64_t add_device(struct buffer *out, const struct allocator_history *replay, size_t *stacks)
{
    const struct snapshot *snapshot = replay->snapshot;
    size_t count = snapshot->stacks.count;
    int64_t *bytes = mem_zalloc(count + 2, sizeof *bytes), sum = 0; /* and from before, and without a stack */
    FOR_EACH(life, &replay->lives) {
        if (!life_is_allocated(life, replay->allocated.peak_entry))
            continue;
        bytes[life->stack != STACK_NONE ? life->stack : life->born < 0 ? count : count + 1] += life->size;
        sum += life->size;
    }
    for (size_t s = 0; s < count + 2; s++) {
        if (bytes[s] == 0)
            continue;
        ++*stacks;
        if (replay->device->device == SNAPSHOT_HOST)
            buffer_puts(out, "host memory");
        else
            buffer_printf(out, "device %u", replay->device->device);
        if (s < count)
            snapshot_add_stack(out, snapshot, (stack_id)s);
        else
            buffer_printf(out, ";%s", s == count ? alive_before_recording : alive_no_frames);
        buffer_printf(out, " %" PRId64 "\n", bytes[s]);
    }
    free(bytes);
    return sum;
}

bool convert_snapshot_folded(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                             struct buffer *summary, struct tpa_error *err)
{
    (void)args;
    (void)err;
    struct buffer text = { 0 };
    int64_t bytes = 0;
    size_t stacks = 0;
    for (size_t i = 0; i < snapshots->of.count; i++)
        for (size_t d = 0; d < snapshots->of.at[i]->devices.count; d++) {
            struct allocator_history *replay =
                allocator_history_open(snapshots->of.at[i], &snapshots->of.at[i]->devices.at[d]);
            bytes += add_device(&text, replay, &stacks);
            arena_free(replay);
            if (text.count)
                fwrite(text.at, 1, text.count, out);
            buffer_clear(&text);
        }
    buffer_release(&text);
    buffer_printf(summary,
                  "%zu stacks of memory in use at the peak of each device, %" PRId64 " bytes in all\n",
                  stacks, bytes);
    return true;
}

/* ---- CSV ---- */

struct place {
    const struct snapshot *snapshot;
    struct allocator_history *replay;
    const char **lines; /* by stack */
};

enum { ENTRIES_PER_PART = 32768 };

static void append_text(struct buffer *out, const char *text, size_t len)
{
    escape_csv(out, text, len);
}

static void snapshot_append_name(struct buffer *out, const struct names *names, name_id id)
{
    if (id != NAME_NONE)
        append_text(out, names_text(names, id), names_length(names, id));
}

static void append_entry(struct buffer *out, const struct place *place, const struct walk *walk)
{
    const struct snapshot *snapshot = place->snapshot;
    const struct snapshot_entries *entries = &snapshot->entries;
    uint64_t e = place->replay->device->first + (uint64_t)walk->entry;
    append_text(out, snapshot->path, strlen(snapshot->path));
    if (place->replay->device->device == SNAPSHOT_HOST)
        buffer_puts(out, ",host");
    else
        buffer_printf(out, ",%u", place->replay->device->device);
    buffer_printf(out, ",%" PRId64 ",%s,0x%" PRIx64 ",%" PRId64 ",", walk->entry,
                  entry_action_names[entries->action[e]], entries->addr[e], entries->size[e]);
    if (entries->time_us[e] != SNAPSHOT_NO_TIME)
        buffer_printf(out, "%" PRId64, entries->time_us[e]);
    const struct snapshot_pool *pool = &snapshot->pools.at[column_at(&entries->pool, e)];
    buffer_printf(out, ",%" PRId64 ",\"(%" PRId64 ", %" PRId64 ")\",%" PRId64 ",%" PRId64 ",%" PRId64 ",",
                  snapshot->streams.at[column_at(&entries->stream, e)], pool->a, pool->b, walk->allocated,
                  walk->active, walk->reserved);
    snapshot_append_name(out, snapshot->names, column_at(&entries->category, e));
    buffer_putc(out, ',');
    snapshot_append_name(out, snapshot->names, column_at(&entries->compile_context, e));
    buffer_putc(out, ',');
    snapshot_append_name(out, snapshot->names, column_at(&entries->user_metadata, e));
    buffer_putc(out, ',');
    if (entries->stack[e] != STACK_NONE) {
        const char *line = place->lines[entries->stack[e]];
        append_text(out, line, strlen(line));
    }
    buffer_putc(out, '\n');
}

/* Entries processed at a time, from WALK's position on. */
struct part {
    size_t place;
    struct walk walk;
};

struct parts {
    VEC_OF(struct place) places;
    VEC_OF(struct part) at;
};

static void snapshot_make_part(const void *context, size_t number, struct buffer *out)
{
    const struct parts *parts = context;
    if (number == 0) {
        buffer_puts(out, "file,device,entry,action,addr,size_bytes,time_us,stream,pool,allocated_bytes,"
                         "active_bytes,reserved_bytes,category,compile_context,user_metadata,line\n");
        return;
    }
    const struct part *part = &parts->at.at[number - 1];
    struct walk walk = part->walk;
    for (int i = 0; i < ENTRIES_PER_PART && walk_next(&walk); i++)
        append_entry(out, &parts->places.at[part->place], &walk);
}

static const char **name_lines(const struct snapshot *snapshot, struct arena *arena)
{
    const char **lines = arena_alloc(arena, mem_times(snapshot->stacks.count + 1, sizeof *lines));
    for (size_t s = 0; s < snapshot->stacks.count; s++) {
        frame_id frame = snapshot_user_frame(snapshot, (stack_id)s);
        lines[s] = frame == FRAME_NONE ? "" : snapshot_frame_text(snapshot, frame, arena);
    }
    return lines;
}

/* Bytes of the texts of a row: names that the snapshot holds once, and each row has. */
static uint64_t row_bytes(const struct snapshot *snapshot, uint64_t e)
{
    const struct snapshot_entries *entries = &snapshot->entries;
    const name_id names[] = { column_at(&entries->category, e), column_at(&entries->compile_context, e),
                              column_at(&entries->user_metadata, e) };
    uint64_t bytes = SUM(uint64_t, i, sizeof names / sizeof *names,
                         names[i] == NAME_NONE ? 0 : names_length(snapshot->names, names[i]));
    if (entries->stack[e] == STACK_NONE)
        return bytes;
    frame_id frame = snapshot_user_frame(snapshot, entries->stack[e]);
    const struct snapshot_frame *at = frame == FRAME_NONE ? NULL : &snapshot->frames.at[frame];
    return at ? bytes + names_length(snapshot->names, at->file) + names_length(snapshot->names, at->function)
              : bytes;
}

/* False and ERR if the rows of SNAPSHOT repeat its names to more than 1 GiB and --max-ratio times its size, or to more
 * than 256 MiB in rows that are in memory at once. */
static bool check_csv_size(const struct snapshot *snapshot, const struct convert_args *args,
                           struct tpa_error *err)
{
    const uint64_t fine = UINT64_C(1) << 30, at_once = UINT64_C(256) << 20;
    uint64_t ratio = args->load.max_ratio, bytes = 0, of_part = 0;
    uint64_t most = snapshot->bytes > 0 && ratio > fine / (uint64_t)snapshot->bytes
                        ? ratio * (uint64_t)snapshot->bytes
                        : fine;
    for (uint64_t e = 0; ratio && e < snapshot->entries.count; e++) {
        uint64_t row = row_bytes(snapshot, e);
        bytes += row;
        of_part = e % ENTRIES_PER_PART ? of_part + row : row;
        if (bytes <= most && of_part <= at_once)
            continue;
        tpa_fail(
            err, TPA_NOWHERE,
            "names, which the snapshot holds once, are more than %.1f GB where each of %zu rows has its own",
            (double)bytes / 1e9, snapshot->entries.count);
        tpa_hint(err,
                 "is the file from an untrusted source? --max-ratio 0 writes it nevertheless; --to tpa keeps "
                 "each name once");
        return tpa_in_file(err, snapshot->path);
    }
    return true;
}

bool convert_snapshot_csv(const struct snapshots *snapshots, const struct convert_args *args, FILE *out,
                          struct buffer *summary, struct tpa_error *err)
{
    struct parts parts = { 0 };
    struct arena arena = { 0 };
    int64_t entries = 0;
    if (ANY(i, snapshots->of.count, !check_csv_size(snapshots->of.at[i], args, err)))
        return false;
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot *snapshot = snapshots->of.at[i];
        const char **lines = name_lines(snapshot, &arena);
        for (size_t d = 0; d < snapshot->devices.count; d++) {
            struct allocator_history *replay = allocator_history_open(snapshot, &snapshot->devices.at[d]);
            *VEC_PUSH(&parts.places) = (struct place){ snapshot, replay, lines };
            struct walk walk = walk_begin(replay);
            for (; walk.entry + 1 < replay->entry_count; walk_to(&walk, walk.entry + ENTRIES_PER_PART))
                *VEC_PUSH(&parts.at) = (struct part){ parts.places.count - 1, walk };
            entries += replay->entry_count;
        }
    }
    struct packer packer = { convert_packing(args), (unsigned)args->load.jobs, snapshot_make_part, &parts };
    bool fine = packer_write(&packer, 1 + parts.at.count, out, err);
    buffer_printf(summary, "%" PRId64 " entries\n", entries);
    for (size_t p = 0; p < parts.places.count; p++)
        arena_free(parts.places.at[p].replay);
    EACH(VEC_FREE, &parts.places, &parts.at);
    arena_release(&arena);
    return fine;
}
