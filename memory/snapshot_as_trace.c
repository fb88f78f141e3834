#include "memory/snapshot_analysis.h"

#include "trace/builder.h"

enum { DEVICE_CUDA = 1, DEVICE_CPU = 0, ENOUGH = 32768 };

struct making {
    const struct allocator_history *replay;
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    name_id memory, counters[3];
    name_id *stack_texts; /* by stack; NAME_NONE: not made yet */
    track_id track;
    uint16_t instant, annotation;
    int64_t totals[3]; /* the last recorded ones */
};

static int64_t moment_ns(const struct allocator_history *replay, int64_t entry)
{
    int64_t time_us = allocator_history_time(replay, entry);
    return trace_moment_or_zero((replay->has_times && time_us != SNAPSHOT_NO_TIME ? time_us : entry) * 1000);
}

static void set_arg(struct making *making, enum trace_arg arg, int64_t value)
{
    if (trace_builder_wants(making->builder, arg))
        trace_chunk_arg(making->chunk, arg, value);
}

static name_id stack_text(struct making *making, stack_id stack, struct buffer *text)
{
    if (making->stack_texts[stack] == NAME_NONE) {
        buffer_clear(text);
        snapshot_stack_text(making->replay->snapshot, stack, text);
        making->stack_texts[stack] = trace_chunk_text(making->chunk, text->at, text->count);
    }
    return making->stack_texts[stack];
}

static void add_samples(struct making *making, const struct walk *walk, int64_t at_ns)
{
    const int64_t totals[3] = { walk->allocated, walk->active, walk->reserved };
    for (int i = 0; i < 3; i++) {
        if (totals[i] == making->totals[i])
            continue;
        making->totals[i] = totals[i];
        trace_chunk_sample(making->chunk, &(struct trace_sample){ .ts_ns = at_ns,
                                                                  .value = (double)totals[i],
                                                                  .counter = making->counters[i],
                                                                  .track = making->track });
    }
}

/* Add the record of WALK's current entry, if it changes allocated memory. */
static void add_change(struct making *making, const struct walk *walk, int64_t before, struct buffer *text)
{
    const struct allocator_history *replay = making->replay;
    int64_t at_ns = moment_ns(replay, walk->entry), change = walk->allocated - before;
    if (change != 0 && replay->life_of[walk->entry] != LIFE_NONE) {
        const struct life *life = &replay->lives.at[replay->life_of[walk->entry]];
        bool host = replay->device->device == SNAPSHOT_HOST;
        trace_chunk_event(making->chunk, &(struct chunk_event){ .phase = 'i',
                                                                .start_ns = at_ns,
                                                                .dur_ns = -1,
                                                                .name = making->memory,
                                                                .track = making->track,
                                                                .category = making->instant });
        set_arg(making, ARG_BYTES, change);
        set_arg(making, ARG_ADDRESS,
                (int64_t)allocator_history_address(replay, replay->life_of[walk->entry]));
        set_arg(making, ARG_DEVICE_TYPE, host ? DEVICE_CPU : DEVICE_CUDA);
        set_arg(making, ARG_DEVICE_ID, host ? -1 : (int64_t)replay->device->device);
        set_arg(making, ARG_TOTAL_ALLOCATED, walk->allocated);
        set_arg(making, ARG_TOTAL_RESERVED, walk->reserved);
        if (change > 0 && life->stack != STACK_NONE && trace_builder_wants(making->builder, ARG_CALL_STACK))
            trace_chunk_arg(making->chunk, ARG_CALL_STACK, stack_text(making, life->stack, text));
    }
    add_samples(making, walk, at_ns);
}

static void add_annotations(struct making *making)
{
    const struct snapshot *snapshot = making->replay->snapshot;
    int64_t last_ns = moment_ns(making->replay, making->replay->entry_count - 1);
    FOR_EACH(at, &snapshot->annotations) {
        if (at->device != making->replay->device->device || at->start_us == SNAPSHOT_NO_TIME)
            continue;
        int64_t start_ns = trace_moment_or_zero(at->start_us * 1000);
        int64_t end_ns = at->end_us == SNAPSHOT_NO_TIME ? last_ns : trace_moment_or_zero(at->end_us * 1000);
        name_id name = trace_chunk_name(making->chunk, names_text(snapshot->names, at->name),
                                        names_length(snapshot->names, at->name));
        trace_chunk_event(making->chunk,
                          &(struct chunk_event){ .phase = 'X',
                                                 .start_ns = start_ns,
                                                 .dur_ns = end_ns > start_ns ? end_ns - start_ns : 0,
                                                 .name = name,
                                                 .track = making->track,
                                                 .category = making->annotation });
    }
}

static bool snapshot_as_trace_add_device(struct making *making, struct tpa_error *err)
{
    const struct allocator_history *replay = making->replay;
    SCOPED struct buffer text = { 0 };
    bool good = true;
    for (size_t s = 0; s < replay->snapshot->stacks.count; s++)
        making->stack_texts[s] = NAME_NONE;
    add_annotations(making);
    struct walk walk = walk_begin(replay);
    for (int64_t before = walk.allocated; good && walk_next(&walk); before = walk.allocated) {
        add_change(making, &walk, before, &text);
        if (trace_chunk_count_events(making->chunk) >= ENOUGH)
            good = trace_builder_append(making->builder, making->chunk, err);
    }
    return good;
}

static void name_track(struct making *making, uint32_t device)
{
    char title[64];
    struct trace_chunk *chunk = making->chunk;
    static const char *const counters[] = { "allocated bytes", "active bytes", "reserved bytes" };
    bool host = device == SNAPSHOT_HOST;
    making->track =
        trace_chunk_track(chunk, &(struct track_key){ .pid = host ? -1 : (int64_t)device, .tid = 0 });
    int len = host ? snprintf(title, sizeof title, "pinned host memory")
                   : snprintf(title, sizeof title, "allocator of device %u", device);
    trace_chunk_fact(chunk, making->track, FACT_PROCESS_NAME, 0, trace_chunk_text(chunk, title, (size_t)len));
    for (int i = 0; i < 3; i++) {
        making->totals[i] = -1;
        making->counters[i] = trace_chunk_text(chunk, counters[i], strlen(counters[i]));
    }
    making->memory = trace_chunk_name(chunk, "[memory]", strlen("[memory]"));
    making->instant = trace_chunk_category(chunk, "cpu_instant_event", strlen("cpu_instant_event"));
    making->annotation = trace_chunk_category(chunk, "user_annotation", strlen("user_annotation"));
}

/* What the snapshot lacks, the trace lacks. */
static void add_lacks(struct trace_builder *builder, const struct snapshot *snapshot)
{
    FOR_EACH(notice, &snapshot->notices) {
        if (lacks_of_word(notice->kind))
            trace_builder_notice(builder, trace_builder_strndup(builder, notice->kind, strlen(notice->kind)),
                                 trace_builder_strndup(builder, notice->text, strlen(notice->text)),
                                 notice->count, notice->offset);
    }
}

static bool add_snapshot(struct trace_builder *builder, const struct snapshot *snapshot,
                         struct tpa_error *err)
{
    trace_builder_file(builder, snapshot->path, "memory snapshot");
    trace_builder_current_file(builder)->profile_memory = 1;
    add_lacks(builder, snapshot);
    bool good = true;
    for (size_t d = 0; d < snapshot->devices.count && good; d++) {
        struct making making = { .builder = builder, .chunk = trace_chunk_open(builder) };
        SCOPED_OBJECT struct allocator_history *replay =
            allocator_history_open(snapshot, &snapshot->devices.at[d]);
        making.replay = replay;
        making.stack_texts = mem_alloc(mem_times(snapshot->stacks.count + 1, sizeof *making.stack_texts));
        name_track(&making, snapshot->devices.at[d].device);
        good = snapshot_as_trace_add_device(&making, err) && trace_builder_append(builder, making.chunk, err);
        free(making.stack_texts);
        trace_chunk_free(making.chunk);
    }
    return good;
}

struct trace *snapshot_as_trace(const struct snapshots *snapshots, const struct trace_wants *wants,
                                struct tpa_error *err)
{
    struct trace_builder *builder = trace_builder_open(wants);
    for (size_t i = 0; i < snapshots->of.count; i++)
        if (!add_snapshot(builder, snapshots->of.at[i], err)) {
            trace_builder_free(builder);
            return NULL;
        }
    return trace_builder_finish(builder);
}
