/*
 * Numbers in .tpa files whose checksums are right: each is checked once, when its block is decoded, and what is outside of
 * its bounds is told with its block.
 */
#include "tests/unit/scratch.h"
#include "tests/read_bytes.h"
#include "tests/unit/tpa_bytes.h"

extern const struct format format_tpa;

static struct trace *read_bytes(const struct buffer *bytes)
{
    struct ingest_options options = { .wants = want_everything(), .workers = 1 };
    struct trace *trace = read_bytes_as(&format_tpa, bytes->at, bytes->count, &options, NULL);
    assert_non_null(trace);
    return scratch_trace(trace);
}

/* ---- logs ---- */

static void add_kernel(struct tpafile_writer *writer, int64_t start, int64_t duration, int64_t name,
                       int64_t shared)
{
    int64_t row[TPAFILE_KERNEL_FIELDS_END];
    for (size_t f = 0; f < TPAFILE_KERNEL_FIELDS_END; f++)
        row[f] = TPAFILE_NONE;
    row[TPAFILE_KERNEL_START] = start;
    row[TPAFILE_KERNEL_DURATION] = duration;
    row[TPAFILE_KERNEL_NAME] = name;
    row[TPAFILE_KERNEL_STATIC_SHARED] = shared;
    tpafile_writer_add(writer, TPAFILE_KERNEL, row);
}

TEST(values_at_their_bounds_are_taken)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 64);
    int64_t name = tpafile_writer_text(writer, "k", 1);
    add_kernel(writer, 1, 0, name, 0);
    add_kernel(writer, TPAFILE_LARGEST, 1, name, TPAFILE_LARGEST);
    tpafile_writer_close(writer, 5, 0);
    tpafile_writer_free(writer);
    struct trace *trace = read_bytes(&bytes);
    assert_int_equal(trace->event_count, 2);
    assert_int_equal(trace_start_ns(trace, 1), TPAFILE_LARGEST);
    assert_int_equal(trace_arg_or(trace, ARG_SHARED_MEMORY, 1, -1), TPAFILE_LARGEST);
    assert_null(find_notice(trace, "odd_values"));
}

/* Of five kernels one has no time that can be, one no duration, one no size, one a name whose number is none. */
TEST(values_beyond_their_bounds_are_not_known)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 64);
    int64_t name = tpafile_writer_text(writer, "k", 1);
    add_kernel(writer, 10, 5, name, 1);
    add_kernel(writer, TPAFILE_LARGEST + 1, 5, name, 1);
    add_kernel(writer, 20, INT64_MAX, name, 1);
    add_kernel(writer, 30, 5, name, INT64_MAX);
    add_kernel(writer, 40, 5, INT64_MAX, 1);
    tpafile_writer_close(writer, 5, 0);
    tpafile_writer_free(writer);
    struct trace *trace = read_bytes(&bytes);
    assert_int_equal(trace->event_count, 4);
    assert_int_equal(trace->flags[1], EVENT_NO_DURATION);
    assert_int_equal(trace_arg_or(trace, ARG_SHARED_MEMORY, 2, -1), -1);
    assert_string_equal(trace_name(trace, 3), "");
    const struct trace_notice *odd = find_notice(trace, "odd_values");
    assert_non_null(odd);
    assert_int_equal(odd->count, 4);
    /* Block 0 holds the text, so the kernels are block 1. */
    assert_string_equal(odd->text,
                        "numbers are outside of their range and count as not known; the first is START of "
                        "a record (kernel) in block 1");
    struct tpafile_head head;
    assert_true(tpafile_decode_head((const unsigned char *)bytes.at + odd->offset, &head));
    assert_int_equal(head.kind, TPAFILE_KERNEL);
}

/* ---- converted traces ---- */

/* What is odd about a trace of two events, each with one argument. */
struct odd {
    const char *key;
    int64_t type;
    int64_t start, name, track, value;
    size_t values; /* in the column of the argument; 0: as many as there should be */
    int64_t phase; /* of a flow arrow; 0: there is none */
};

static struct trace *read_odd(const struct odd *odd)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 64);
    int64_t name = tpafile_writer_text(writer, "k", 1), category = tpafile_writer_text(writer, "kernel", 6);
    int64_t file[TPAFILE_FILE_FIELDS_END] = { 0 }, track[TPAFILE_TRACK_FIELDS_END] = { 0 };
    tpafile_writer_add(writer, TPAFILE_FILE, file);
    tpafile_writer_add(writer, TPAFILE_CATEGORY, &category);
    tpafile_writer_add(writer, TPAFILE_TRACK, track);
    tpafile_writer_add(writer, TPAFILE_ARGUMENT,
                       (int64_t[]){ tpafile_writer_text(writer, odd->key, strlen(odd->key)), odd->type });
    tpafile_writer_flush(writer);
    struct tpafile_encoder *encoder = tpafile_writer_encoder(writer);
    tpafile_encode_begin(encoder, TPAFILE_EVENTS, 2);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_START, (int64_t[]){ 10, odd->start }, 2);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_DURATION, (int64_t[]){ 5, 5 }, 2);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_NAME, (int64_t[]){ name, odd->name }, 2);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_TRACK, (int64_t[]){ 0, odd->track }, 2);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE, (int64_t[]){ 0, 0 }, 2);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_CATEGORY, (int64_t[]){ 0 }, 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_FLAGS, (int64_t[]){ 0 }, 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_ARGS, (int64_t[]){ 1 }, 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_FILE, (int64_t[]){ 0 }, 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_ARG, (int64_t[]){ odd->value, odd->value },
                          odd->values ? odd->values : 2);
    tpafile_writer_emit(writer, 2);
    if (odd->phase) {
        int64_t flow[TPAFILE_FLOW_FIELDS_END] = { [TPAFILE_FLOW_PHASE] = odd->phase };
        int64_t sample[TPAFILE_SAMPLE_FIELDS_END] = { 0 };
        tpafile_writer_add(writer, TPAFILE_FLOW, flow);
        tpafile_writer_add(writer, TPAFILE_SAMPLE, sample);
    }
    tpafile_writer_close(writer, 5, 0);
    tpafile_writer_free(writer);
    struct trace *trace = read_bytes(&bytes);
    return trace;
}

/* Every argument, said to be of each type that it is not: its values must not be taken for places of texts. */
TEST(an_argument_of_another_type_than_its_key_is_left_out)
{
    static const struct {
        const char *keys;
        int64_t type;
    } arguments[] = {
#define IS_INT TPAFILE_ARGUMENT_INT
#define IS_BOOL TPAFILE_ARGUMENT_INT
#define IS_DECIMAL TPAFILE_ARGUMENT_DECIMAL
#define IS_TEXT TPAFILE_ARGUMENT_TEXT
#define IS_JSON TPAFILE_ARGUMENT_TEXT
#define ROW(id, kind, keys) { keys, IS_##kind },
        TRACE_ARGS(ROW)
    };
    for (size_t a = 0; a < ARG_COUNT; a++)
        for (int64_t type = 0; type < 4; type++) {
            char key[64];
            snprintf(key, sizeof key, "%.*s", (int)strcspn(arguments[a].keys, "|"), arguments[a].keys);
            struct odd odd = { key, type, 20, 1, 0, INT32_MAX, 0, 0 };
            struct trace *trace = read_odd(&odd);
            assert_int_equal(trace->event_count, 2);
            int64_t value;
            assert_int_equal(trace_arg(trace, (enum trace_arg)a, 0, &value), type == arguments[a].type);
            assert_int_equal(find_notice(trace, "odd_arguments") != NULL, type != arguments[a].type);
            if (arguments[a].type == TPAFILE_ARGUMENT_TEXT) /* asserts that it is one of the texts */
                trace_arg_text(trace, (enum trace_arg)a, 0);
        }
}

TEST(a_damaged_argument_costs_the_argument_and_no_event)
{
    struct trace *trace = read_odd(&(struct odd){ "grid", TPAFILE_ARGUMENT_TEXT, 20, 1, 0, 1, 1, 0 });
    assert_int_equal(trace->event_count, 2);
    assert_null(trace_arg_text(trace, ARG_GRID, 0));
    const struct trace_notice *odd = find_notice(trace, "odd_values");
    assert_non_null(odd);
    assert_int_equal(odd->count, 2);
    assert_non_null(strstr(odd->text, "grid"));
}

TEST(a_block_of_events_with_a_number_that_none_can_have_is_reported)
{
    static const struct {
        struct odd odd;
        const char *reason;
    } cases[] = {
        { { "stream", 0, TPAFILE_LARGEST + 1, 1, 0, 7, 0, 0 }, "an event begins more than 73 years from 0" },
        { { "stream", 0, INT64_MAX, 1, 0, 7, 0, 0 }, "an event begins more than 73 years from 0" },
        { { "stream", 0, INT64_MIN, 1, 0, 7, 0, 0 }, "an event begins more than 73 years from 0" },
        { { "stream", 0, 20, -1, 0, 7, 0, 0 }, "the name of an event is not the number of a text" },
        { { "stream", 0, 20, 1, INT64_C(1) << 32, 7, 0, 0 },
          "a file, track, category or flag has a number that none can have" },
        { { "stream", 0, 20, 1, -1, 7, 0, 0 },
          "a file, track, category or flag has a number that none can have" },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace *trace = read_odd(&cases[i].odd);
        assert_int_equal(trace->event_count, 0);
        const struct trace_notice *bad = find_notice(trace, "bad_block");
        assert_non_null(bad);
        assert_true(bad->offset > 0);
        assert_non_null(strstr(bad->text, cases[i].reason));
        assert_non_null(strstr(bad->text, "number "));
    }
    /* The largest number is one. A kernel at such a time is left out as it cannot be of this recording. */
    struct trace *trace = read_odd(&(struct odd){ "stream", 0, TPAFILE_LARGEST, 1, 0, 7, 0, 0 });
    assert_null(find_notice(trace, "bad_block"));
    assert_non_null(find_notice(trace, "untimed_work"));
    assert_int_equal(trace->event_count, 1);
}

TEST(a_flow_arrow_is_begin_step_or_end)
{
    for (int64_t phase = -300; phase < 600; phase++) {
        if (phase == 0)
            continue;
        struct trace *trace = read_odd(&(struct odd){ "stream", 0, 20, 1, 0, 7, 0, phase });
        bool known = phase == 's' || phase == 't' || phase == 'f';
        assert_int_equal(trace->flow_count, known);
        assert_int_equal(find_notice(trace, "odd_flows") != NULL, !known);
    }
    struct trace *trace = read_odd(&(struct odd){ "stream", 0, 20, 1, 0, 7, 0, 's' });
    assert_int_equal(trace->flow_count, 1);
}

/* ---- what a small file may cost ---- */

/* ROWS records of KIND whose COLUMNS are constants: some hundred bytes. */
static struct buffer constants(unsigned kind, uint32_t rows, unsigned columns, unsigned blocks)
{
    struct buffer bytes = { 0 };
    struct tpafile_writer *writer = tpa_writer(&bytes, 64);
    int64_t *zeros = scratch_heap(mem_zalloc(rows, sizeof *zeros));
    for (unsigned block = 0; block < blocks; block++) {
        struct tpafile_encoder *encoder = tpafile_writer_encoder(writer);
        tpafile_encode_begin(encoder, kind, rows);
        for (unsigned field = 0; field < columns; field++)
            tpafile_encode_column(encoder, field, zeros, rows);
        tpafile_writer_emit(writer, rows);
    }
    tpafile_writer_close(writer, 5, 0);
    tpafile_writer_free(writer);
    return bytes;
}

/* Side tables are looked up by these. */
TEST(flows_and_samples_without_a_name_have_an_empty_one)
{
    struct trace *trace = read_odd(&(struct odd){ "stream", 0, 20, 1, 0, 7, 0, 's' });
    assert_int_equal(trace->flow_count, 1);
    assert_int_equal(trace->sample_count, 1);
    name_id ids[] = { trace_flow(trace, 0).category, trace_flow(trace, 0).name, trace->samples[0].counter };
    for (size_t i = 0; i < sizeof ids / sizeof *ids; i++) {
        assert_int_not_equal(ids[i], NAME_NONE);
        assert_string_equal(names_text(trace->texts, ids[i]), "");
    }
}

/* 2^20 files of 26 fields take 200 MiB: the limit of 64 MiB is checked before they are decoded, by one thread or four. */
TEST(a_small_file_is_refused_before_it_is_decoded)
{
    static const unsigned kinds[] = { TPAFILE_FILE, TPAFILE_KERNEL, TPAFILE_TRACK };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (unsigned workers = 1; workers <= 4; workers += 3) {
            SCOPED struct buffer bytes =
                constants(kinds[k], TPAFILE_MOST_ROWS, tpafile_kinds[kinds[k]].field_count, 2);
            struct tpa_error err = { 0 };
            struct ingest_options options = { .workers = workers };
            assert_null(read_bytes_as(&format_tpa, bytes.at, bytes.count, &options, &err));
            assert_non_null(strstr(err.message, "more than 500 times the size"));
        }
}

TEST(a_block_of_more_numbers_than_one_may_hold_is_left_out)
{
    SCOPED struct buffer bytes = constants(TPAFILE_KERNEL, TPAFILE_MOST_ROWS, 33, 1);
    struct trace *trace = read_bytes(&bytes);
    assert_int_equal(trace->event_count, 0);
    assert_non_null(strstr(find_notice(trace, "bad_block")->text, "it holds more numbers than a block may"));
}
