/*
 * ranges.c - NVTX ranges, marks and steps of a log as events.
 *
 * PyTorch's emit_nvtx() describes operators in the messages of ranges: "aten::mm, seq = 12, sizes = [[8, 3], [3, 4]]".
 * Such a range becomes an operator with its sequence number and shapes; any other becomes an annotation, with its
 * domain before its name. The meaning of a message is computed once per text; the writer stores its numbers separately.
 */
#include "ingest/tpalog/log.h"
#include "base/rows.h"

#include <inttypes.h>

/* The meaning of the text of a message. */
struct meaning {
    name_id name; /* NAME_NONE: it depends on the record's numbers */
    bool is_operator;
    unsigned sequence; /* the index of the sequence number among the record's numbers: 1, 2, or 0 for none */
    name_id dims;      /* "[[8,3],[3,4]]" in the trace's texts; NAME_NONE: none */
};

/* A range that has begun and not ended. */
struct open_range {
    int64_t id, start_ns, thread;
    int64_t name, domain, number, number_2; /* as in the record, as the next */
    int64_t category, category_name;
    bool is_async; /* of the process, not of the thread's stack */
    uint32_t next; /* in its bucket: 1 + index; 0 ends */
    bool is_open;
};

struct step {
    int64_t time, number, thread;
};

/* A time in which recording was on. */
struct window {
    int64_t start, end;
    bool by_step; /* switched on by a step, and off by the next one */
};

struct log_ranges {
    VEC_OF(struct meaning) meanings; /* tpalog_text.range is 1 + index */
    VEC_OF(struct open_range) open;
    uint32_t free; /* 1 + index of the first unused one, linked by next */
    uint32_t *buckets;
    size_t bucket_count, open_count;
    VEC_OF(struct step) steps;
    VEC_OF(struct window) windows;
    uint64_t lone_ends;
};

static struct log_ranges *ranges_of(struct tpalog_reader *reader)
{
    if (!reader->log->ranges) {
        struct log_ranges *ranges = mem_zalloc(1, sizeof *ranges);
        ranges->bucket_count = 256;
        ranges->buckets = mem_zalloc(ranges->bucket_count, sizeof *ranges->buckets);
        reader->log->ranges = ranges;
    }
    return reader->log->ranges;
}

void tpalog_ranges_release(struct tpalog_log *log)
{
    if (!log->ranges)
        return;
    EACH(VEC_FREE, &log->ranges->meanings, &log->ranges->open, &log->ranges->steps, &log->ranges->windows);
    EACH(free, log->ranges->buckets, log->ranges);
    log->ranges = NULL;
}

/* ---- ranges that are open: a table by their ids ---- */

static uint32_t *bucket_of(const struct log_ranges *ranges, int64_t id)
{
    return &ranges->buckets[(uint64_t)id * UINT64_C(0x9E3779B97F4A7C15) >> 32 & (ranges->bucket_count - 1)];
}

static void grow_buckets(struct log_ranges *ranges)
{
    free(ranges->buckets);
    ranges->bucket_count *= 2;
    ranges->buckets = mem_zalloc(ranges->bucket_count, sizeof *ranges->buckets);
    for (uint32_t i = 0; i < ranges->open.count; i++) {
        struct open_range *range = &ranges->open.at[i];
        if (!range->is_open)
            continue;
        uint32_t *bucket = bucket_of(ranges, range->id);
        range->next = *bucket;
        *bucket = i + 1;
    }
}

static void open_range(struct log_ranges *ranges, const struct open_range *range)
{
    uint32_t place = ranges->free;
    if (place) {
        ranges->free = ranges->open.at[place - 1].next;
    } else {
        VEC_PUSH(&ranges->open);
        place = (uint32_t)ranges->open.count;
    }
    struct open_range *kept = &ranges->open.at[place - 1];
    *kept = *range;
    kept->is_open = true;
    uint32_t *bucket = bucket_of(ranges, range->id);
    kept->next = *bucket;
    *bucket = place;
    if (++ranges->open_count > ranges->bucket_count)
        grow_buckets(ranges);
}

/* Remove the range with this id; false if none is open. */
static bool close_range(struct log_ranges *ranges, int64_t id, struct open_range *range)
{
    for (uint32_t *link = bucket_of(ranges, id); *link; link = &ranges->open.at[*link - 1].next) {
        uint32_t place = *link;
        struct open_range *found = &ranges->open.at[place - 1];
        if (found->id != id)
            continue;
        *range = *found;
        *link = found->next;
        found->is_open = false;
        found->next = ranges->free;
        ranges->free = place;
        ranges->open_count--;
        return true;
    }
    return false;
}

/* ---- messages ---- */

/* Where the parts that emit_nvtx() adds to a name begin; the end of TEXT if there are none. */
static const char *end_of_name(const char *text, const char *end)
{
    static const char *const parts[] = { ", seq = ", ", op_id = ", ", sizes = [" };
    const char *first = end;
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        const char *found = strstr(text, parts[i]);
        if (found && found < first)
            first = found;
    }
    return first;
}

/* The shapes in TEXT without blanks, as PyTorch's profiler writes them; NAME_NONE if there are none. */
static name_id find_dims(struct tpalog_reader *reader, const char *text)
{
    const char *found = strstr(text, ", sizes = [");
    if (!found || !trace_builder_wants(reader->builder, ARG_INPUT_DIMS))
        return NAME_NONE;
    const char *at = found + strlen(", sizes = ");
    SCOPED char *dims = mem_alloc(strlen(at) + 1);
    size_t len = 0;
    int depth = 0;
    do {
        depth += (*at == '[') - (*at == ']');
        if (*at != ' ')
            dims[len++] = *at;
        at++;
    } while (*at && depth > 0);
    return depth == 0 ? trace_builder_text(reader->builder, dims, len) : NAME_NONE;
}

/* Is the number at PLACE in TEXT preceded by WORD? */
static bool follows(const char *text, const char *place, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(place - text) >= len && memcmp(place - len, word, len) == 0;
}

/* 1 if the first number of the message is the sequence number, 2 for the second, 0 for neither. */
static unsigned find_sequence(const char *text)
{
    const char *first = strchr(text, 1), *second = first ? strchr(first + 1, 1) : NULL;
    if (first && follows(text, first, ", seq = "))
        return 1;
    return second && follows(text, second, ", seq = ") ? 2 : 0;
}

static struct meaning find_meaning(struct tpalog_reader *reader, const struct tpalog_text *text)
{
    const char *end = text->at + text->len, *name_end = end_of_name(text->at, end);
    struct meaning meaning = { .sequence = find_sequence(text->at), .dims = find_dims(reader, text->at) };
    meaning.is_operator = name_end < end || strncmp(text->at, "aten::", 6) == 0;
    bool has_numbers = memchr(text->at, 1, (size_t)(name_end - text->at)) != NULL;
    meaning.name = has_numbers ? NAME_NONE
                               : trace_builder_name(reader->builder, text->at, (size_t)(name_end - text->at));
    return meaning;
}

static const struct meaning *meaning_of(struct tpalog_reader *reader, struct tpalog_text *text)
{
    struct log_ranges *ranges = ranges_of(reader);
    if (text->range == 0) {
        struct meaning meaning = find_meaning(reader, text);
        *VEC_PUSH(&ranges->meanings) = meaning;
        text->range = (uint32_t)ranges->meanings.count;
    }
    return &ranges->meanings.at[text->range - 1];
}

/* A name with its domain: "NCCL: ncclAllReduce". */
static name_id name_in_domain(struct tpalog_reader *reader, const struct tpalog_text *domain, name_id name,
                              const struct tpalog_text *text)
{
    if (!domain || domain->len == 0 || name == NAME_NONE)
        return name;
    size_t len = domain->len + 2 + text->len;
    SCOPED char *full = mem_alloc(len + 1);
    snprintf(full, len + 1, "%s: %s", domain->at, text->at);
    name = trace_builder_name(reader->builder, full, len);
    return name;
}

/* The name of the range's category, or its number; NAME_NONE if it has none. */
static name_id category_of(struct tpalog_reader *reader, const struct open_range *range)
{
    name_id name = tpalog_text_id(&reader->texts, reader->builder, range->category_name);
    if (name != NAME_NONE || range->category <= 0)
        return name;
    char number[24];
    int len = snprintf(number, sizeof number, "%" PRId64, range->category);
    return trace_builder_text(reader->builder, number, (size_t)len);
}

/* ---- events ---- */

/* The time from FROM until UNTIL, which may be any numbers in a damaged file; -1, unknown, on overflow. */
static int64_t span_ns(int64_t from, int64_t until)
{
    int64_t ns;
    return __builtin_sub_overflow(until, from, &ns) ? -1 : ns;
}

/* Fill the next event; DUR_NS is negative if unknown. */
static void add_range(struct tpalog_reader *reader, struct tpalog_part *part, struct log_columns *columns,
                      const struct open_range *range, int64_t dur_ns, uint8_t flags)
{
    if (!tpalog_columns_time(reader, columns, range->start_ns, dur_ns))
        return;
    struct tpalog_text *text = tpalog_text(&reader->texts, range->name);
    struct meaning meaning = { NAME_NONE, false, 0, NAME_NONE };
    if (text)
        meaning = *meaning_of(reader, text);
    if (meaning.name != NAME_NONE && !meaning.is_operator)
        meaning.name = name_in_domain(reader, tpalog_text(&reader->texts, range->domain), meaning.name, text);
    size_t i = columns->count;
    columns->name[i] = meaning.name != NAME_NONE ? meaning.name : trace_builder_name(reader->builder, "", 0);
    columns->track[i] = tpalog_thread_track(reader, range->thread);
    columns->category[i] = tpalog_category(reader, meaning.is_operator ? LOG_OPERATOR : LOG_ANNOTATION);
    columns->flags[i] |= flags;
    if (flags & EVENT_POINT)
        columns->flags[i] &= (uint8_t)~EVENT_NO_DURATION;
    int64_t number = meaning.sequence == 1   ? range->number
                     : meaning.sequence == 2 ? range->number_2
                                             : TPAFILE_NONE;
    int64_t *sequence =
        number == TPAFILE_NONE ? NULL : tpalog_columns_arg(reader, part, columns, ARG_SEQUENCE);
    if (sequence)
        *sequence = number;
    int64_t *dims =
        meaning.dims == NAME_NONE ? NULL : tpalog_columns_arg(reader, part, columns, ARG_INPUT_DIMS);
    if (dims)
        *dims = meaning.dims;
    name_id category =
        trace_builder_wants(reader->builder, ARG_NVTX_CATEGORY) ? category_of(reader, range) : NAME_NONE;
    if (category != NAME_NONE)
        *tpalog_columns_arg(reader, part, columns, ARG_NVTX_CATEGORY) = category;
    columns->count++;
}

bool tpalog_join_ranges(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    struct log_columns columns;
    tpalog_columns_begin(part, &columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        struct open_range range = {
            .id = tpalog_field(part, TPAFILE_RANGE_ID, i),
            .start_ns = tpalog_field(part, TPAFILE_RANGE_START, i),
            .thread = tpalog_field(part, TPAFILE_RANGE_THREAD, i),
            .name = tpalog_field(part, TPAFILE_RANGE_NAME, i),
            .domain = tpalog_field(part, TPAFILE_RANGE_DOMAIN, i),
            .number = tpalog_field(part, TPAFILE_RANGE_NUMBER, i),
            .number_2 = tpalog_field(part, TPAFILE_RANGE_NUMBER_2, i),
            .category = tpalog_field(part, TPAFILE_RANGE_CATEGORY, i),
            .category_name = tpalog_field(part, TPAFILE_RANGE_CATEGORY_NAME, i),
            .is_async = tpalog_field(part, TPAFILE_RANGE_TYPE, i) == TPAFILE_OPEN,
        };
        int64_t dur_ns = tpalog_field(part, TPAFILE_RANGE_DURATION, i);
        if (dur_ns == TPAFILE_NONE)
            open_range(ranges_of(reader), &range); /* it will end with the log */
        else
            add_range(reader, part, &columns, &range, dur_ns, range.is_async ? EVENT_ASYNC : 0);
    }
    return tpalog_columns_end(reader, &columns, err);
}

bool tpalog_join_markers(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err)
{
    struct log_ranges *ranges = ranges_of(reader);
    struct log_columns columns;
    tpalog_columns_begin(part, &columns);
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t type = tpalog_field(part, TPAFILE_MARKER_TYPE, i),
                time = tpalog_field(part, TPAFILE_MARKER_TIME, i);
        struct open_range range = {
            .id = tpalog_field(part, TPAFILE_MARKER_ID, i),
            .start_ns = time,
            .thread = tpalog_field(part, TPAFILE_MARKER_THREAD, i),
            .name = tpalog_field(part, TPAFILE_MARKER_NAME, i),
            .domain = tpalog_field(part, TPAFILE_MARKER_DOMAIN, i),
            .number = tpalog_field(part, TPAFILE_MARKER_NUMBER, i),
            .number_2 = tpalog_field(part, TPAFILE_MARKER_NUMBER_2, i),
            .category = tpalog_field(part, TPAFILE_MARKER_CATEGORY, i),
            .category_name = tpalog_field(part, TPAFILE_MARKER_CATEGORY_NAME, i),
            .is_async = type == TPAFILE_OPEN,
        };
        if (type == TPAFILE_PUSH || type == TPAFILE_OPEN) {
            open_range(ranges, &range);
        } else if (type == TPAFILE_POP || type == TPAFILE_CLOSE) {
            struct open_range begun;
            if (close_range(ranges, range.id, &begun))
                add_range(reader, part, &columns, &begun, span_ns(begun.start_ns, time),
                          begun.is_async ? EVENT_ASYNC : 0);
            else
                ranges->lone_ends++;
        } else {
            add_range(reader, part, &columns, &range, 0, EVENT_POINT);
        }
    }
    return tpalog_columns_end(reader, &columns, err);
}

/* ---- steps ---- */

void tpalog_join_steps(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct log_ranges *ranges = ranges_of(reader);
    for (size_t i = 0; i < part->head.rows; i++)
        *VEC_PUSH(&ranges->steps) = (struct step){ tpalog_field(part, TPAFILE_STEP_TIME, i),
                                                   tpalog_field(part, TPAFILE_STEP_NUMBER, i),
                                                   tpalog_field(part, TPAFILE_STEP_THREAD, i) };
}

void tpalog_keep_windows(struct tpalog_reader *reader, const struct tpalog_part *part)
{
    struct log_ranges *ranges = ranges_of(reader);
    for (size_t i = 0; i < part->head.rows; i++) {
        int64_t start = tpalog_field(part, TPAFILE_WINDOW_START, i);
        int64_t duration = tpalog_field(part, TPAFILE_WINDOW_DURATION, i);
        const struct tpalog_text *why =
            tpalog_text(&reader->texts, tpalog_field(part, TPAFILE_WINDOW_WHY, i));
        if (start != TPAFILE_NONE && duration != TPAFILE_NONE)
            *VEC_PUSH(&ranges->windows) =
                (struct window){ start, start + duration,
                                 why && why->len == 5 && memcmp(why->at, "steps", 5) == 0 };
    }
}

static const struct key by_windows[] = { ASC(struct window, start), KEY_END };

/* The window that contains TIME and ends before END; NULL if there is none. Windows are sorted and do not overlap. */
static const struct window *window_of(const struct log_ranges *ranges, int64_t time, int64_t end)
{
    size_t low = 0, high = ranges->windows.count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (ranges->windows.at[middle].start <= time)
            low = middle + 1;
        else
            high = middle;
    }
    const struct window *window = low > 0 ? &ranges->windows.at[low - 1] : NULL;
    return window && time < window->end && window->end < end ? window : NULL;
}

static const struct key by_steps[] = { ASC(struct step, time), KEY_END };

/* A step lasts until the next one begins, and the last one until the log ends. If the next is not in the log, recording
 * was switched off in between: by that next step, with --steps and --sample, or at another time, which truncates the
 * step. */
static void add_step(struct tpalog_reader *reader, struct log_columns *columns, const struct step *step,
                     const struct step *next)
{
    const struct log_ranges *ranges = reader->log->ranges;
    int64_t end = next ? next->time : reader->log->end_ns;
    bool follows = next && step->number < INT64_MAX && next->number == step->number + 1;
    const struct window *window = follows ? NULL : window_of(ranges, step->time, end);
    if (window)
        end = window->end;
    if (!tpalog_columns_time(reader, columns, step->time, end > step->time ? span_ns(step->time, end) : 0))
        return;
    char name[48];
    int len = snprintf(name, sizeof name, "ProfilerStep#%" PRId64, step->number);
    size_t i = columns->count++;
    columns->name[i] = trace_builder_name(reader->builder, name, (size_t)len);
    columns->track[i] = tpalog_thread_track(reader, step->thread);
    columns->category[i] = tpalog_category(reader, LOG_ANNOTATION);
    if (!next || (window && !window->by_step))
        columns->flags[i] |= EVENT_UNFINISHED;
}

/* ---- the end of the log ---- */

static bool finish_open(struct tpalog_reader *reader, struct log_ranges *ranges, struct tpa_error *err)
{
    struct tpalog_part part = { .head.rows =
                                    ranges->open_count <= UINT32_MAX ? (uint32_t)ranges->open_count : 0 };
    struct log_columns columns;
    tpalog_columns_begin(&part, &columns);
    FOR_EACH(range, &ranges->open) {
        if (!range->is_open)
            continue;
        int64_t end = reader->log->end_ns > range->start_ns ? reader->log->end_ns : range->start_ns;
        add_range(reader, &part, &columns, range, span_ns(range->start_ns, end),
                  (uint8_t)(EVENT_UNFINISHED | (range->is_async ? EVENT_ASYNC : 0)));
    }
    bool ok = tpalog_columns_end(reader, &columns, err);
    tpalog_part_release(&part);
    return ok;
}

static bool finish_steps(struct tpalog_reader *reader, struct log_ranges *ranges, struct tpa_error *err)
{
    size_t count = ranges->steps.count;
    if (count == 0)
        return true;
    SORT_ARRAY(ranges->steps.at, count, by_steps);
    if (ranges->windows.count > 0)
        SORT(&ranges->windows, by_windows);
    struct tpalog_part part = { .head.rows = (uint32_t)count };
    struct log_columns columns;
    tpalog_columns_begin(&part, &columns);
    for (size_t i = 0; i < count; i++)
        add_step(reader, &columns, &ranges->steps.at[i], i + 1 < count ? &ranges->steps.at[i + 1] : NULL);
    bool ok = tpalog_columns_end(reader, &columns, err);
    tpalog_part_release(&part);
    return ok;
}

bool tpalog_ranges_finish(struct tpalog_reader *reader, struct tpa_error *err)
{
    struct log_ranges *ranges = reader->log->ranges;
    if (!ranges)
        return true;
    if (ranges->lone_ends) {
        char text[96];
        int len = snprintf(text, sizeof text, "%" PRIu64 " ranges ended whose beginning is not in the log",
                           ranges->lone_ends);
        trace_builder_notice(reader->builder, "lone_ends",
                             trace_builder_strndup(reader->builder, text, (size_t)len), ranges->lone_ends,
                             TPA_NOWHERE);
    }
    return finish_open(reader, ranges, err) && finish_steps(reader, ranges, err);
}
