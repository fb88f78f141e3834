/*
 * joins.c - joins begin events (B, b, S) with the ends that files write as events of their own.
 *
 * Begins and ends of one stack (a thread's for B and E; an id's for the async phases) are sorted by
 * time, those of equal time by their place in the file, and matched with a stack. An end that names
 * its event closes the innermost open one of that name even when others were begun after it: those
 * stay open and get their own ends, so events that cross keep their full length.
 */
#include "trace/builder.h"
#include "trace/storage.h"
#include "base/rows.h"

/* How far down a stack we look for the event that a named end closes. Keeps bad input linear. */
enum { DEEPEST_SEARCH = 256 };

struct point {
    uint64_t stack_a, stack_b; /* which stack: (track) or (category and name, async id) */
    int64_t ts_ns;
    uint64_t place; /* in the file: ends that come before event k sort just before it */
    uint32_t index; /* of the mark or the end */
    bool is_end;
};

static const struct key by_points[] = { ASC(struct point, stack_a), ASC(struct point, stack_b),
                                        ASC(struct point, ts_ns),   ASC(struct point, place),
                                        ASC(struct point, index),   KEY_END };

static void choose_stack(struct point *point, char phase, track_id track, uint32_t file, uint16_t category,
                         name_id name, int64_t async_id)
{
    if (phase == 'B' || phase == 'E') {
        point->stack_a = track;
        point->stack_b = 0;
    } else {
        /* Never equal to a thread's: the top bit is set. Files are apart: the same id means nothing there. */
        point->stack_a =
            UINT64_C(1) << 63 | (uint64_t)(file & 0x7fff) << 48 | (uint64_t)category << 32 | name;
        point->stack_b = (uint64_t)async_id;
    }
}

struct joiner {
    struct trace_builder *builder;
    VEC_OF(uint32_t) open; /* marks not yet ended, outermost first */
    uint32_t *end_of;      /* by mark: its end, or UINT32_MAX */
    uint64_t lone_ends;
};

static bool end_fits(const struct joiner *joiner, const struct chunk_end *end, uint32_t mark)
{
    const struct trace_storage *storage = joiner->builder->storage;
    event_id e = joiner->builder->marks.at[mark].event;
    bool names_agree = end->name == NAME_NONE || names_length(storage->names, end->name) == 0 ||
                       storage->name[e] == end->name;
    bool categories_agree = names_length(storage->texts, storage->categories.at[end->category].text) == 0 ||
                            storage->category[e] == end->category;
    return names_agree && categories_agree;
}

static void close_event(struct joiner *joiner, uint32_t end_index)
{
    const struct chunk_end *end = &joiner->builder->ends.at[end_index];
    size_t depth = joiner->open.count;
    for (size_t i = depth; i-- > 0 && depth - i <= DEEPEST_SEARCH;) {
        uint32_t mark = joiner->open.at[i];
        if (!end_fits(joiner, end, mark))
            continue;
        joiner->end_of[mark] = end_index;
        memmove(joiner->open.at + i, joiner->open.at + i + 1, (depth - i - 1) * sizeof *joiner->open.at);
        joiner->open.count--;
        return;
    }
    joiner->lone_ends++;
}

static struct point *collect_points(struct trace_builder *builder, size_t *count)
{
    struct trace_storage *storage = builder->storage;
    size_t marks = builder->marks.count, ends = builder->ends.count;
    struct point *points = mem_alloc(mem_times(marks + ends, sizeof *points));
    size_t n = 0;
    for (uint32_t i = 0; i < marks; i++) {
        event_id e = builder->marks.at[i].event;
        points[n] =
            (struct point){ .ts_ns = storage_start_ns(storage, e), .place = 2 * (uint64_t)e + 1, .index = i };
        choose_stack(&points[n++], builder->marks.at[i].phase, storage->track[e],
                     storage->tracks.at[storage->track[e]].file, storage->category[e], storage->name[e],
                     builder->marks.at[i].async_id);
    }
    for (uint32_t i = 0; i < ends; i++) {
        const struct chunk_end *end = &builder->ends.at[i];
        points[n] = (struct point){
            .ts_ns = end->ts_ns, .place = 2 * (uint64_t)end->after, .index = i, .is_end = true
        };
        choose_stack(&points[n++], end->phase, end->track, storage->tracks.at[end->track].file, end->category,
                     end->name, end->async_id);
    }
    SORT_ARRAY(points, n, by_points);
    *count = n;
    return points;
}

static int64_t last_moment(const struct trace_storage *storage, uint32_t file)
{
    int64_t last = INT64_MIN;
    size_t end = file + 1 < storage->files.count ? storage->files.at[file + 1].first_event : storage->count;
    for (size_t e = storage->files.at[file].first_event; e < end; e++) {
        int64_t stop = storage_end_ns(storage, e);
        if (stop > last)
            last = stop;
    }
    return last;
}

/* Durations of the marks' events, which ascend. */
struct joined {
    const struct trace_builder *builder;
    const int64_t *dur_ns; /* by mark */
    size_t next;           /* mark */
};

static int64_t joined_duration(void *context, size_t e, int64_t dur_ns)
{
    struct joined *joined = context;
    bool is_marked =
        joined->next < joined->builder->marks.count && joined->builder->marks.at[joined->next].event == e;
    return is_marked ? joined->dur_ns[joined->next++] : dur_ns;
}

static void set_durations(struct trace_builder *builder, const int64_t *dur_ns)
{
    struct joined joined = { builder, dur_ns, 0 };
    packing_change(&builder->storage->dur_ns, joined_duration, &joined);
}

/* An event that nobody ended was still running when the recording stopped. DUR_NS, by mark: what is set. */
static void leave_open(struct trace_builder *builder, const uint32_t *end_of, int64_t *dur_ns)
{
    struct trace_storage *storage = builder->storage;
    uint32_t known_file = UINT32_MAX;
    int64_t last = 0;
    for (size_t i = 0; i < builder->marks.count; i++) {
        if (end_of[i] != UINT32_MAX)
            continue;
        event_id e = builder->marks.at[i].event;
        uint32_t file = storage->tracks.at[storage->track[e]].file;
        if (file != known_file) {
            last = last_moment(storage, file);
            for (size_t k = 0; k < builder->ends.count; k++)
                if (storage->tracks.at[builder->ends.at[k].track].file == file &&
                    builder->ends.at[k].ts_ns > last)
                    last = builder->ends.at[k].ts_ns;
            known_file = file;
        }
        dur_ns[i] = last - storage_start_ns(storage, e);
        storage->flags[e] |= EVENT_UNFINISHED;
        builder_notice(
            builder, file, "begin_without_end",
            "events were begun and never ended; they are taken to last until the last event of the file", 1,
            TPA_NOWHERE);
    }
    if (known_file != UINT32_MAX)
        set_durations(builder, dur_ns);
}

static void settle_durations(struct trace_builder *builder, const uint32_t *end_of)
{
    const struct trace_storage *storage = builder->storage;
    SCOPED int64_t *dur_ns = mem_alloc(mem_times(builder->marks.count, sizeof *dur_ns));
    for (size_t i = 0; i < builder->marks.count; i++) {
        event_id e = builder->marks.at[i].event;
        dur_ns[i] = end_of[i] == UINT32_MAX
                        ? packing_value(&storage->dur_ns, e)
                        : builder->ends.at[end_of[i]].ts_ns - storage_start_ns(storage, e);
    }
    set_durations(builder, dur_ns);
    leave_open(builder, end_of, dur_ns);
}

struct late_arg {
    event_id event;
    int64_t value;
};

static const struct key by_late_args[] = { ASC(struct late_arg, event), KEY_END };

/* Rebuild the column of ARG with the COUNT values of LATE, sorted by event, put in their places. */
static void merge_args(struct arg_storage *arg, const struct late_arg *late, size_t count)
{
    struct arg_storage merged = { 0 };
    size_t next = 0, taken = 0;
    for (size_t word = 0; word < arg->present_bytes / sizeof(uint64_t); word++) {
        for (uint64_t bits = arg->present[word]; bits; bits &= bits - 1) {
            event_id e = (event_id)(word * 64 + (size_t)__builtin_ctzll(bits));
            for (; next < count && late[next].event < e; next++)
                arg_storage_add(&merged, late[next].event, late[next].value);
            arg_storage_add(&merged, e, packing_value(&arg->values, taken++));
        }
    }
    for (; next < count; next++)
        arg_storage_add(&merged, late[next].event, late[next].value);
    arg_storage_release(arg);
    *arg = merged;
}

/* Arguments written with an end belong to the event, unless it has one of the same name. */
static void hand_over_args(struct trace_builder *builder, const uint32_t *end_of)
{
    SCOPED uint32_t *event_of = mem_alloc(mem_times(builder->ends.count, sizeof *event_of));
    for (size_t i = 0; i < builder->ends.count; i++)
        event_of[i] = EVENT_NONE;
    for (size_t i = 0; i < builder->marks.count; i++)
        if (end_of[i] != UINT32_MAX)
            event_of[end_of[i]] = builder->marks.at[i].event;
    SCOPED VEC_OF(struct late_arg) late = { 0 };
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        struct arg_storage *column = &builder->storage->args[arg];
        late.count = 0;
        FOR_EACH(given, &builder->end_args) {
            event_id e = event_of[given->end];
            if ((int)given->arg == arg && e != EVENT_NONE && !arg_storage_has(column, e))
                *VEC_PUSH(&late) = (struct late_arg){ e, given->value };
        }
        if (late.count == 0)
            continue;
        SORT(&late, by_late_args);
        merge_args(column, late.at, late.count);
    }
}

void builder_join_ends(struct trace_builder *builder)
{
    if (builder->marks.count == 0 && builder->ends.count == 0)
        return;
    size_t count;
    SCOPED struct point *points = collect_points(builder, &count);
    struct joiner joiner = { .builder = builder };
    joiner.end_of = mem_alloc(mem_times(builder->marks.count + 1, sizeof *joiner.end_of));
    for (size_t i = 0; i < builder->marks.count; i++)
        joiner.end_of[i] = UINT32_MAX;
    for (size_t i = 0; i < count; i++) {
        if (i > 0 &&
            (points[i].stack_a != points[i - 1].stack_a || points[i].stack_b != points[i - 1].stack_b))
            joiner.open.count = 0; /* those left open have no end */
        if (points[i].is_end)
            close_event(&joiner, points[i].index);
        else
            *VEC_PUSH(&joiner.open) = points[i].index;
    }
    if (builder->marks.count)
        settle_durations(builder, joiner.end_of);
    if (builder->end_args.count)
        hand_over_args(builder, joiner.end_of);
    if (joiner.lone_ends)
        trace_builder_notice(builder, "end_without_begin",
                             "end events have no begin event that they could end and were left out",
                             joiner.lone_ends, TPA_NOWHERE);
    VEC_FREE(&joiner.open);
    free(joiner.end_of);
}
