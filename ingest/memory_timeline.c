/*
 * memory_timeline.c - the output of PyTorch's prof.export_memory_timeline(path, device). Two forms, learnt from PyTorch
 * 1.13 to 2.9:
 *
 *   .raw.json.gz   [[time, action, bytes, category], ...]
 *       time in nanoseconds since 1970; -1: before recording began
 *       action  1 existed before 2 created   3 became another category, in two records   4 freed
 *       bytes   negative: of the category from now on less
 *   .json, .json.gz   [[time, ...], [[0, bytes of category 0, ... of category 7], ...]]
 *       times in microseconds; the bytes in use from each of them on
 *
 * Neither records addresses, operators, or the device. The second form has only totals per microsecond, so a record is
 * the change of a category, and blocks are unknown. A time of -1 is written there as the first of the other times; only
 * because of that two rows can have the same time.
 *
 * The third form, .html, is a picture without data.
 */
#include "ingest/formats.h"
#include "ingest/json_text.h"

#include "trace/memory_change.h"

enum { ACTION_EXISTING = 1, ACTION_CREATE, ACTION_INCREMENT_VERSION, ACTION_DESTROY };
enum { CATEGORIES = 8, RAW_FIELDS = 4, BYTES_IN_TURN = 65536 };

static const char *const categories[CATEGORIES + 1] = {
    "parameter", "optimizer state", "input",   "temporary", "activation",
    "gradient",  "autograd detail", "unknown", "another",
};

/* ---- tokens ---- */

/* The file's bytes, one at a time. */
struct reader {
    struct source *source;
    char bytes[BYTES_IN_TURN];
    int64_t count, at;
    int64_t offset; /* of bytes[0] in the file */
    bool failed;    /* reading failed; see ERR */
    struct tpa_error *err;
};

enum { END = -1 };

/* The next byte that is not blank, without consuming it; END at the end. */
static int memory_timeline_peek(struct reader *in)
{
    for (;;) {
        while (in->at < in->count && strchr(" \t\r\n", in->bytes[in->at]) && in->bytes[in->at])
            in->at++;
        if (in->at < in->count)
            return (unsigned char)in->bytes[in->at];
        if (in->failed)
            return END;
        in->offset += in->count;
        in->at = 0;
        in->count = source_read(in->source, in->bytes, sizeof in->bytes, in->err);
        if (in->count <= 0) {
            in->failed = in->count < 0;
            in->count = 0;
            return END;
        }
    }
}

/* Consume the byte C if it is next. */
static bool memory_timeline_read(struct reader *in, int c)
{
    if (memory_timeline_peek(in) != c)
        return false;
    in->at++;
    return true;
}

/* Read an integer; a fraction is truncated. Too large values saturate. */
static bool memory_timeline_read_integer(struct reader *in, int64_t *value)
{
    bool negative = memory_timeline_read(in, '-'), any = false, fraction = false;
    int64_t sum = 0;
    for (;;) {
        /* digits may continue in the next bytes; blanks would end the number */
        if (in->at == in->count && any) {
            in->offset += in->count;
            in->at = 0;
            in->count = source_read(in->source, in->bytes, sizeof in->bytes, in->err);
            in->failed = in->count < 0;
            if (in->count <= 0)
                in->count = 0;
        }
        int c = any ? in->at < in->count ? (unsigned char)in->bytes[in->at] : END : memory_timeline_peek(in);
        if (c == '.' && any && !fraction) {
            fraction = true;
        } else if (c < '0' || c > '9') {
            break;
        } else if (!fraction &&
                   (__builtin_mul_overflow(sum, 10, &sum) || __builtin_add_overflow(sum, c - '0', &sum))) {
            sum = INT64_MAX / 10; /* so that it stays too large */
        }
        any = true;
        in->at++;
    }
    *value = negative ? -sum : sum;
    return any;
}

/* ---- records ---- */

struct timeline {
    struct reader in;
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    name_id names[MEMORY_CHANGES];
    name_id category_texts[CATEGORIES + 1];
    track_id track;
    uint16_t instant;
    VEC_OF(int64_t) existing; /* bytes and category of existing blocks, until the first time is known */
    bool begun;               /* some record has a time */
    int64_t strange;          /* records with unknown actions */
};

static void add_record(struct timeline *timeline, int64_t at_ns, enum memory_change change, int64_t bytes,
                       int64_t category)
{
    struct trace_chunk *chunk = timeline->chunk;
    trace_chunk_event(chunk, &(struct chunk_event){ .phase = 'i',
                                                    .start_ns = trace_moment_or_zero(at_ns),
                                                    .dur_ns = -1,
                                                    .name = timeline->names[change],
                                                    .track = timeline->track,
                                                    .category = timeline->instant });
    if (trace_builder_wants(timeline->builder, ARG_BYTES))
        trace_chunk_arg(chunk, ARG_BYTES, bytes);
    if (trace_builder_wants(timeline->builder, ARG_MEMORY_CATEGORY))
        trace_chunk_arg(
            chunk, ARG_MEMORY_CATEGORY,
            timeline->category_texts[category >= 0 && category < CATEGORIES ? category : CATEGORIES]);
}

/* Add existing blocks at the first known moment. */
static void begin_at(struct timeline *timeline, int64_t at_ns)
{
    for (size_t i = 0; i + 1 < timeline->existing.count; i += 2)
        add_record(timeline, at_ns, MEMORY_EXISTING, timeline->existing.at[i], timeline->existing.at[i + 1]);
    timeline->existing.count = 0;
    timeline->begun = true;
}

static bool memory_timeline_hand_over(struct timeline *timeline)
{
    enum { ENOUGH = 32768 };
    return trace_chunk_count_events(timeline->chunk) < ENOUGH ||
           trace_builder_append(timeline->builder, timeline->chunk, timeline->in.err);
}

/* Report that the text ends, or is damaged, within a record. Earlier records are kept. */
static void cut_off(struct timeline *timeline)
{
    struct reader *in = &timeline->in;
    bool ended = memory_timeline_peek(in) == END;
    if (!in->failed)
        trace_builder_lacks(timeline->builder, ended ? LACK_CUT_SHORT : LACK_BAD_RECORD,
                            ended ? "the memory timeline ends in the middle; what comes before is shown"
                                  : "something else than a record stands in the memory timeline; what comes "
                                    "before is shown",
                            1, in->offset + in->at);
}

/* ---- the raw form ---- */

static void add_raw(struct timeline *timeline, const int64_t fields[RAW_FIELDS])
{
    int64_t at_ns = fields[0], action = fields[1], bytes = fields[2], category = fields[3];
    if (action < ACTION_EXISTING || action > ACTION_DESTROY) {
        timeline->strange++;
        return;
    }
    enum memory_change change = action == ACTION_EXISTING            ? MEMORY_EXISTING
                                : action == ACTION_INCREMENT_VERSION ? MEMORY_CATEGORY
                                                                     : MEMORY_BLOCK;
    if (at_ns < 0 && !timeline->begun) {
        *VEC_PUSH(&timeline->existing) = bytes;
        *VEC_PUSH(&timeline->existing) = category;
        return;
    }
    if (!timeline->begun)
        begin_at(timeline, at_ns);
    add_record(timeline, at_ns, change, bytes, category);
}

/* Read a record after its '['. */
static bool memory_timeline_read_record(struct reader *in, int64_t fields[RAW_FIELDS])
{
    return !ANY(i, RAW_FIELDS,
                (i > 0 && !memory_timeline_read(in, ',')) || !memory_timeline_read_integer(in, &fields[i])) &&
           memory_timeline_read(in, ']');
}

/* Read the records after the first, and the end; the '[' of the second was consumed. */
static bool read_raw(struct timeline *timeline)
{
    struct reader *in = &timeline->in;
    do {
        int64_t fields[RAW_FIELDS];
        if (!memory_timeline_read_record(in, fields)) {
            cut_off(timeline);
            return !in->failed;
        }
        add_raw(timeline, fields);
        if (!memory_timeline_hand_over(timeline))
            return false;
    } while (memory_timeline_read(in, ',') && memory_timeline_read(in, '['));
    if (!memory_timeline_read(in, ']'))
        cut_off(timeline);
    return !in->failed;
}

/* ---- the aggregated form ---- */

/* Add the changes between two rows: decreases first, so that no total in between exceeds both. */
static void add_changes(struct timeline *timeline, int64_t at_ns, bool existing,
                        const int64_t before[CATEGORIES], const int64_t after[CATEGORIES])
{
    for (int less = 1; less >= 0; less--)
        for (int category = 0; category < CATEGORIES; category++) {
            int64_t change;
            if (__builtin_sub_overflow(after[category], before[category], &change) || change == 0 ||
                (change < 0) != less)
                continue;
            add_record(timeline, at_ns, existing ? MEMORY_EXISTING : MEMORY_CATEGORY, change, category);
        }
}

static int64_t nanoseconds(int64_t us)
{
    int64_t ns;
    return __builtin_mul_overflow(us, 1000, &ns) ? 0 : ns;
}

/* Read the rows, one for each of TIMES, and the end; the '[' around them was consumed. */
static bool read_sums(struct timeline *timeline, const int64_t *times, size_t count)
{
    struct reader *in = &timeline->in;
    int64_t before[CATEGORIES] = { 0 };
    bool good = true;
    for (size_t row = 0; good && row < count; row++) {
        int64_t after[CATEGORIES] = { 0 }, value;
        good = (row == 0 || memory_timeline_read(in, ',')) && memory_timeline_read(in, '[');
        for (int i = -1; good && !memory_timeline_read(in, ']');
             i++) { /* the first is 0, for stacked plots */
            good = (i < 0 || memory_timeline_read(in, ',')) && memory_timeline_read_integer(in, &value);
            if (good && i >= 0 && i < CATEGORIES)
                after[i] = value;
        }
        if (!good)
            break;
        bool existing = row == 0 && (times[0] < 0 || (count > 1 && times[1] == times[0]));
        int64_t at_us = times[row] < 0 && count > 1 ? times[1] : times[row];
        add_changes(timeline, nanoseconds(at_us), existing, before, after);
        memcpy(before, after, sizeof before);
        if (!memory_timeline_hand_over(timeline))
            return false;
    }
    if (!good || !memory_timeline_read(in, ']') || !memory_timeline_read(in, ']'))
        cut_off(timeline);
    return !in->failed;
}

/* ---- both forms ---- */

/* The first inner list is a record or all times, depending on what follows. */
static bool memory_timeline_read_document(struct timeline *timeline)
{
    struct reader *in = &timeline->in;
    SCOPED VEC_OF(int64_t) first = { 0 };
    bool good = memory_timeline_read(in, '[') && memory_timeline_read(in, '['), ok = true;
    while (good && memory_timeline_peek(in) != ']') {
        int64_t value;
        good =
            (first.count == 0 || memory_timeline_read(in, ',')) && memory_timeline_read_integer(in, &value);
        if (good)
            *VEC_PUSH(&first) = value;
    }
    good = good && memory_timeline_read(in, ']');
    bool more = good && memory_timeline_read(in, ',') && memory_timeline_read(in, '[');
    bool sums = good && (first.count == 0 || (more && memory_timeline_peek(in) == '['));
    if (good && !sums && first.count == RAW_FIELDS)
        add_raw(timeline, first.at);
    if (sums && more)
        ok = read_sums(timeline, first.at, first.count);
    else if (more && first.count == RAW_FIELDS)
        ok = read_raw(timeline);
    else if (more || !memory_timeline_read(in, ']'))
        cut_off(timeline);
    return ok && !in->failed;
}

static bool memory_timeline_read_timeline(struct source *source, struct trace_builder *builder,
                                          const struct ingest_options *options, struct tpa_error *err)
{
    (void)options;
    struct trace_file *file = trace_builder_current_file(builder);
    file->producer = PRODUCER_KINETO;
    file->profile_memory = 1;
    SCOPED struct timeline *timeline = mem_zalloc(1, sizeof *timeline);
    timeline->in.source = source;
    timeline->in.err = err;
    timeline->builder = builder;
    struct trace_chunk *chunk = timeline->chunk = trace_chunk_open(builder);
    for (int change = 0; change < MEMORY_CHANGES; change++)
        timeline->names[change] =
            trace_chunk_name(chunk, memory_change_names[change], strlen(memory_change_names[change]));
    for (int category = 0; category <= CATEGORIES; category++)
        timeline->category_texts[category] =
            trace_chunk_text(chunk, categories[category], strlen(categories[category]));
    timeline->track = trace_chunk_track(chunk, &(struct track_key){ 0 });
    timeline->instant = trace_chunk_category(chunk, "cpu_instant_event", strlen("cpu_instant_event"));

    bool ok = memory_timeline_read_document(timeline);
    if (ok && !timeline->begun)
        begin_at(timeline, 0);
    if (timeline->strange)
        trace_builder_notice(builder, "unknown_action",
                             "records of the memory timeline have actions that are not known",
                             (uint64_t)timeline->strange, TPA_NOWHERE);
    ok = ok && trace_builder_append(builder, chunk, err);
    trace_chunk_free(chunk);
    VEC_FREE(&timeline->existing);
    return ok;
}

/* "[[" and a number, or no times at all. The certainty is too low for a file in a directory of traces. */
static int sniff_timeline(const char *bytes, size_t len)
{
    size_t at = 0;
    for (int brackets = 0; brackets < 2; brackets++) {
        at = json_behind_blanks(bytes, len, at);
        if (at == len || bytes[at++] != '[')
            return 0;
    }
    at = json_behind_blanks(bytes, len, at);
    return at < len && bytes[at] && strchr("-0123456789]", bytes[at]) ? 40 : 0;
}

const struct format format_memory_timeline = {
    .name = "memory timeline",
    .description = "PyTorch's prof.export_memory_timeline(), its .json and .raw.json forms",
    .sniff = sniff_timeline,
    .read = memory_timeline_read_timeline,
};
