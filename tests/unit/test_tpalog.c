/*
 * Reading .tpa files: a converted trace is the trace; a file that is cut or damaged anywhere gives what is whole and
 * tells what is not.
 */
#define XXH_INLINE_ALL
#include "tests/unit/scratch.h"
#include "base/parallel.h"
#include "tests/unit/tpa_bytes.h"
#include "tests/unit/trace_dump.h"
#include "trace/tpafile_bytes.h"

#include <xxhash.h>

/* Everything a trace can hold, in few lines. */
static const char everything[] =
    "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"NVIDIA A100\",\"totalGlobalMem\":42505273344,"
    "\"computeMajor\":8,\"computeMinor\":0,\"numSms\":108}],\"distributedInfo\":{\"backend\":\"nccl\",\"rank\":3,"
    "\"world_size\":8},\"with_stack\":1,\"baseTimeNanoseconds\":1700000000000000000,\"hostname\":\"box\",\"traceEvents\":["
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":5,\"tid\":5,\"ts\":10.123,\"dur\":20.5,\"args\":{"
    "\"External id\":7,\"Input Dims\":[[8,3],[]],\"Sequence number\":12,\"Fwd thread id\":0}},\n"
    "{\"ph\":\"X\",\"cat\":\"cuda_runtime\",\"name\":\"cudaLaunchKernel\",\"pid\":5,\"tid\":5,\"ts\":12,\"dur\":3,\"args\":"
    "{\"correlation\":9,\"cbid\":211}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":100.001,\"args\":{"
    "\"correlation\":9,\"External id\":7,\"grid\":[1,2,3],\"block\":[128,1,1],\"stream\":7,\"device\":0,"
    "\"est. achieved occupancy %\":37.5,\"blocks per SM\":0.25}},\n"
    "{\"ph\":\"X\",\"cat\":\"gpu_memcpy\",\"name\":\"Memcpy HtoD (Pageable -> Device)\",\"pid\":0,\"tid\":7,\"ts\":150,"
    "\"dur\":2,\"args\":{\"bytes\":4294967296,\"correlation\":11}},\n"
    "{\"ph\":\"i\",\"s\":\"t\",\"cat\":\"cpu_instant_event\",\"name\":\"[memory]\",\"pid\":5,\"tid\":5,\"ts\":15,\"args\":{"
    "\"Bytes\":-512,\"Addr\":140218821771264,\"Device Type\":1,\"Device Id\":0,\"Total Allocated\":1024}},\n"
    "{\"ph\":\"B\",\"name\":\"outer\",\"pid\":\"p\",\"tid\":\"t\",\"ts\":1},\n"
    "{\"ph\":\"E\",\"name\":\"outer\",\"pid\":\"p\",\"tid\":\"t\",\"ts\":9},\n"
    "{\"ph\":\"b\",\"cat\":\"a\",\"id\":1,\"name\":\"async\",\"pid\":5,\"tid\":6,\"ts\":1},\n"
    "{\"ph\":\"X\",\"name\":\"no duration\",\"pid\":5,\"tid\":5,\"ts\":-3},\n"
    "{\"ph\":\"X\",\"name\":\"\",\"pid\":5,\"tid\":9223372036854775807,\"ts\":2,\"dur\":1},\n"
    "{\"ph\":\"s\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":9,\"pid\":5,\"tid\":5,\"ts\":12},\n"
    "{\"ph\":\"f\",\"cat\":\"ac2g\",\"name\":\"ac2g\",\"id\":9,\"pid\":0,\"tid\":7,\"ts\":40,\"bp\":\"e\"},\n"
    "{\"ph\":\"C\",\"name\":\"memory\",\"pid\":5,\"tid\":5,\"ts\":3,\"args\":{\"used\":1.5}},\n"
    "{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":5,\"tid\":0,\"args\":{\"name\":\"python3\"}},\n"
    "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":0,\"tid\":7,\"args\":{\"name\":\"stream 7\"}},\n"
    "{\"ph\":\"M\",\"name\":\"process_sort_index\",\"pid\":5,\"tid\":0,\"args\":{\"sort_index\":17}},\n"
    "{\"ph\":\"X\",\"cat\":\"Trace\",\"name\":\"PyTorch Profiler (0)\",\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\","
    "\"ts\":0,\"dur\":300}],\"traceName\":\"x.json\"}";

static void dump_text(struct buffer *out, const struct trace *trace, name_id id)
{
    if (id == NAME_NONE)
        buffer_puts(out, "-");
    else
        dump_name(out, trace->texts, id);
}

static void dump_args(struct buffer *out, const struct trace *trace, event_id e)
{
    static const bool is_text[ARG_COUNT] = {
#define IS_INT false
#define IS_BOOL false
#define IS_DECIMAL false
#define IS_TEXT true
#define IS_JSON true
#define IS_ROW(id, kind, keys) IS_##kind,
        TRACE_ARGS(IS_ROW)
    };
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        int64_t value;
        if (!trace_arg(trace, (enum trace_arg)arg, e, &value))
            continue;
        buffer_printf(out, " %d=", arg);
        if (is_text[arg])
            dump_text(out, trace, (name_id)value);
        else
            buffer_printf(out, "%" PRId64, value);
    }
}

/* As dump_everything, but with texts in place of their numbers, in which a converted trace may differ. */
static char *dump_meaning(const struct trace *trace)
{
    struct buffer out = { 0 };
    for (event_id e = 0; e < trace->event_count; e++) {
        dump_event(&out, trace, e);
        buffer_printf(&out, " name %u %s kind %d flags %d track %u", trace->name[e],
                      names_text(trace->texts, trace->categories[trace->category[e]].text), trace->kind[e],
                      trace->flags[e], trace->track[e]);
        dump_args(&out, trace, e);
        buffer_putc(&out, '\n');
    }
    for (size_t i = 0; i < trace->category_count; i++)
        buffer_printf(&out, "category %s %" PRIu64 "\n", names_text(trace->texts, trace->categories[i].text),
                      trace->categories[i].event_count);
    for (size_t i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        dump_track(&out, trace, (track_id)i);
        buffer_printf(&out,
                      " file %u kind %d events %u device %d stream %" PRId64 " sort %" PRId64 " %" PRId64 " ",
                      track->file, track->kind, track->event_count, track->device, track->stream,
                      track->process_sort_index, track->thread_sort_index);
        dump_text(&out, trace, track->process_name);
        dump_text(&out, trace, track->process_labels);
        dump_text(&out, trace, track->thread_name);
        buffer_putc(&out, '\n');
    }
    for (size_t i = 0; i < trace->flow_count; i++) {
        const struct trace_flow flow = trace_flow(trace, i);
        buffer_printf(&out, "flow %c %" PRId64 " @%" PRId64 " %u %d ", flow.phase, flow.id, flow.ts_ns,
                      flow.track, flow.bind_enclosing);
        dump_text(&out, trace, flow.category);
        dump_text(&out, trace, flow.name);
        buffer_putc(&out, '\n');
    }
    for (size_t i = 0; i < trace->sample_count; i++) {
        const struct trace_sample *sample = &trace->samples[i];
        buffer_printf(&out, "sample %.17g @%" PRId64 " %u ", sample->value, sample->ts_ns, sample->track);
        dump_text(&out, trace, sample->counter);
        buffer_putc(&out, '\n');
    }
    for (size_t i = 0; i < trace->notice_count; i++)
        buffer_printf(&out, "notice %s %s %u %" PRIu64 " @%" PRId64 "\n", trace->notices[i].kind,
                      trace->notices[i].text, trace->notices[i].file, trace->notices[i].count,
                      trace->notices[i].offset);
    for (size_t i = 0; i < trace->file_count; i++) {
        const struct trace_file *file = &trace->files[i];
        buffer_printf(&out,
                      "file %s %s %d %" PRId64 " %" PRId64 " producer %d base %d %" PRId64
                      " window %d %" PRId64 " %" PRId64 " rank %" PRId64 "/%" PRId64
                      " host %s name %s id %s %s %s flags %d%d%d%d%d\n",
                      file->path, file->format, file->packing, file->packed_size, file->size, file->producer,
                      file->has_base, file->base_ns, file->has_window, file->window_start_ns,
                      file->window_end_ns, file->rank, file->world_size,
                      file->host_name ? file->host_name : "-", file->trace_name ? file->trace_name : "-",
                      file->trace_id ? file->trace_id : "-", file->backend ? file->backend : "-",
                      file->nccl_version ? file->nccl_version : "-", file->record_shapes,
                      file->profile_memory, file->with_stack, file->with_flops, file->with_modules);
        for (size_t k = 0; k < file->devices.count; k++)
            buffer_printf(&out, "device %d %s %" PRId64 " %d.%d %d\n", file->devices.at[k].id,
                          file->devices.at[k].name, file->devices.at[k].total_memory,
                          file->devices.at[k].compute_major, file->devices.at[k].compute_minor,
                          file->devices.at[k].sm_count);
        for (size_t k = 0; k < file->properties.count; k++)
            buffer_printf(&out, "property %s %s\n", file->properties.at[k].key, file->properties.at[k].value);
    }
    buffer_printf(&out, "seen %" PRIu64 " %" PRIu64 " %" PRIu64 "\n", trace->flows_seen, trace->samples_seen,
                  trace->metadata_seen);
    return out.at;
}

/* Less of it, for tests that read it very often. */
static const char little[] =
    "[{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":5,\"tid\":5,\"ts\":10,\"dur\":20,\"args\":{"
    "\"External id\":7,\"Input Dims\":[[8,3],[]]}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"gemm\",\"pid\":0,\"tid\":7,\"ts\":40,\"dur\":100,\"args\":{"
    "\"External id\":7,\"grid\":[1,2,3]}},\n"
    "{\"ph\":\"X\",\"cat\":\"kernel\",\"name\":\"relu\",\"pid\":0,\"tid\":7,\"ts\":140,\"dur\":5}]";

static struct trace *read_json(const char *json)
{
    struct trace *trace = trace_from_bytes(json, strlen(json), 1, 0, NULL);
    assert_non_null(trace);
    return trace;
}

TEST(a_converted_trace_is_the_trace)
{
    struct trace *trace = scratch_trace(read_json(everything));
    char *expected = scratch_heap(dump_meaning(trace));
    static const size_t sizes[] = { 0, 1, 3, 5 };
    for (size_t i = 0; i < 4; i++) {
        SCOPED struct buffer bytes = tpa_of_trace(trace, sizes[i]);
        for (unsigned workers = 1; workers <= 4; workers += 3) {
            struct trace *again = trace_from_bytes(bytes.at, bytes.count, workers, 0, NULL);
            assert_non_null(again);
            char *dump = dump_meaning(again);
            assert_string_equal(dump, expected);
            free(dump);
            /* Converting what was converted changes nothing. */
            SCOPED struct buffer twice = tpa_of_trace(again, sizes[i]);
            struct trace *third = trace_from_bytes(twice.at, twice.count, workers, 0, NULL);
            dump = dump_meaning(third);
            assert_string_equal(dump, expected);
            free(dump);
            trace_free(third);
            trace_free(again);
        }
    }
}

/* Blocks are packed by several threads and written in order, so that the file is the same for any number of them. */
TEST(threads_pack_the_same_file)
{
    struct trace *trace = scratch_trace(read_json(everything));
    size_t worth = parallel_worth;
    parallel_worth = 1;
    for (size_t block_events = 1; block_events <= 5; block_events++) {
        trace->workers = 1;
        SCOPED struct buffer expected = tpa_of_trace(trace, block_events);
        assert_true(expected.count > 0);
        for (trace->workers = 2; trace->workers <= 4; trace->workers++) {
            SCOPED struct buffer bytes = tpa_of_trace(trace, block_events);
            assert_int_equal(bytes.count, expected.count);
            assert_memory_equal(bytes.at, expected.at, expected.count);
        }
    }
    parallel_worth = worth;
}

/* Cut at every byte: all events of whole blocks, and a word about the rest unless all of it is there. */
TEST(a_file_cut_anywhere_gives_every_whole_block)
{
    struct trace *trace = scratch_trace(read_json(everything));
    SCOPED struct buffer bytes = tpa_of_trace(trace, 2);
    for (size_t len = TPAFILE_HEADER_SIZE; len < bytes.count; len++) {
        struct tpa_error err = { 0 };
        struct trace *cut = trace_from_bytes(bytes.at, len, 1, 0, &err);
        assert_non_null(cut);
        assert_int_equal(cut->event_count, tpa_count_records(bytes.at, len, TPAFILE_EVENTS));
        assert_non_null(find_notice(cut, "unfinished_file"));
        assert_null(find_notice(cut, "damaged_file"));
        assert_null(find_notice(cut, "bad_block"));
        trace_free(cut);
    }
}

/*
 * Every bit flipped, one at a time: each block but the one that was hit is read, and the damage is reported. A flip in
 * the header costs nothing else.
 */
TEST(a_flipped_bit_costs_one_block)
{
    struct trace *trace = scratch_trace(read_json(little));
    SCOPED struct buffer bytes = tpa_of_trace(trace, 2);
    size_t events = trace->event_count;
    for (size_t bit = 0; bit < bytes.count * 8; bit++) {
        bytes.at[bit / 8] ^= (char)(1 << bit % 8);
        struct trace *damaged = trace_from_bytes(bytes.at, bytes.count, 1, 0, NULL);
        assert_non_null(damaged);
        assert_true(damaged->event_count + 2 >= events && damaged->event_count <= events);
        assert_true(find_notice(damaged, bit / 8 < TPAFILE_HEADER_SIZE ? "damaged_header" : "damaged_file") ||
                    find_notice(damaged, "unfinished_file"));
        trace_free(damaged);
        bytes.at[bit / 8] ^= (char)(1 << bit % 8);
    }
}

/* Bytes that are missing in the middle: what follows is found again. */
TEST(missing_bytes_cost_the_blocks_they_were_of)
{
    struct trace *trace = scratch_trace(read_json(everything));
    SCOPED struct buffer bytes = tpa_of_trace(trace, 2);
    size_t events = trace->event_count;
    for (size_t at = TPAFILE_HEADER_SIZE; at + 10 < bytes.count; at += 3) {
        char *copy = scratch_heap(mem_alloc(bytes.count));
        memcpy(copy, bytes.at, at);
        memcpy(copy + at, bytes.at + at + 10, bytes.count - at - 10);
        struct trace *damaged = trace_from_bytes(copy, bytes.count - 10, 1, 0, NULL);
        assert_non_null(damaged);
        assert_true(damaged->event_count + 4 >= events && damaged->event_count <= events);
        assert_true(find_notice(damaged, "damaged_file") || find_notice(damaged, "unfinished_file"));
        trace_free(damaged);
    }
}

TEST(kinds_and_fields_of_later_versions_are_skipped)
{
    struct trace *trace = scratch_trace(read_json(everything));
    SCOPED struct buffer bytes = tpa_of_trace(trace, 0);
    char *expected = scratch_heap(dump_meaning(trace));
    struct tpafile_encoder *encoder = tpafile_encoder_open(1);
    tpafile_encode_begin(encoder, 5000, 3);
    tpafile_encode_column(encoder, 900, (const int64_t[]){ 1, 2, 3 }, 3);
    size_t size;
    const char *block = tpafile_encode_end(encoder, &size);
    /* Between the header and the first block; its number is that of the next, which does no harm. */
    SCRATCH_BUFFER(longer);
    buffer_add(&longer, bytes.at, TPAFILE_HEADER_SIZE);
    buffer_add(&longer, block, size);
    buffer_add(&longer, bytes.at + TPAFILE_HEADER_SIZE, bytes.count - TPAFILE_HEADER_SIZE);
    struct trace *again = scratch_trace(trace_from_bytes(longer.at, longer.count, 1, 0, NULL));
    assert_non_null(again);
    assert_non_null(find_notice(again, "unknown_blocks"));
    char *dump = scratch_heap(dump_meaning(again));
    assert_int_equal(strncmp(dump, expected, (size_t)(strstr(expected, "\nfile") - expected)), 0);
    tpafile_encoder_free(encoder);
}

TEST(a_larger_major_version_is_refused)
{
    unsigned char header[TPAFILE_HEADER_SIZE];
    tpafile_encode_header(header, 0, 0, 0);
    struct tpa_error err = { 0 };
    struct trace *empty = scratch_trace(trace_from_bytes((const char *)header, sizeof header, 1, 0, &err));
    assert_non_null(empty);
    assert_int_equal(empty->event_count, 0);
    header[8] = 2;
    store_u64(header + 56, XXH3_64bits(header, 56));
    assert_null(trace_from_bytes((const char *)header, sizeof header, 1, 0, &err));
    assert_non_null(strstr(err.message, "version 2"));
    assert_int_equal(err.offset, 8);
}

/* A block of few bytes that claims a million events, again and again, is refused before memory is. */
TEST(a_small_file_does_not_become_an_endless_trace)
{
    enum { EVENTS = TPAFILE_MOST_ROWS };
    int64_t *zeros = scratch_heap(mem_zalloc(EVENTS, sizeof *zeros));
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 16);
    struct tpafile_encoder *encoder = tpafile_writer_encoder(writer);
    for (int i = 0; i < 40; i++) {
        tpafile_encode_begin(encoder, TPAFILE_EVENTS, EVENTS);
        tpafile_encode_column(encoder, TPAFILE_EVENTS_FILE, zeros, 1);
        for (unsigned field = TPAFILE_EVENTS_START; field <= TPAFILE_EVENTS_SHAPE; field++)
            tpafile_encode_column(encoder, field, zeros, EVENTS);
        for (unsigned field = TPAFILE_EVENTS_SHAPE_CATEGORY; field <= TPAFILE_EVENTS_SHAPE_ARGS; field++)
            tpafile_encode_column(encoder, field, zeros, 1);
        assert_true(tpafile_writer_emit(writer, EVENTS));
    }
    tpafile_writer_free(writer);
    struct tpa_error err = { 0 };
    assert_null(trace_from_bytes(bytes.at, bytes.count, 1, 0, &err));
    assert_non_null(strstr(err.message, "times the size of the file"));
}

/*
 * A file of BLOCKS blocks with COUNT texts each, all of LEN bytes, and TAIL bytes that do not pack behind them is read,
 * or refused for what the texts take.
 */
static bool texts_are_read(int blocks, size_t count, size_t len, size_t tail)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 16);
    struct tpafile_encoder *encoder = tpafile_writer_encoder(writer);
    int64_t *lengths = scratch_heap(mem_alloc(count * sizeof *lengths));
    for (size_t i = 0; i < count; i++)
        lengths[i] = (int64_t)len;
    char *texts = scratch_heap(mem_zalloc(count * len + 1, 1));
    for (int64_t i = 0; i < blocks; i++) {
        tpafile_encode_begin(encoder, TPAFILE_STRINGS, (uint32_t)count);
        tpafile_encode_column(encoder, TPAFILE_STRINGS_FIRST, (const int64_t[]){ 1 + i * (int64_t)count }, 1);
        tpafile_encode_column(encoder, TPAFILE_STRINGS_LENGTH, lengths, count);
        if (len)
            tpafile_encode_bytes(encoder, TPAFILE_STRINGS_BYTES, texts, count * len);
        assert_true(tpafile_writer_emit(writer, count));
    }
    char *noise = scratch_heap(mem_alloc(tail + 1));
    uint64_t state = 1;
    for (size_t i = 0; i < tail; i++) {
        state = state * UINT64_C(6364136223846793005) + 1442695040888963407;
        noise[i] = (char)(state >> 56);
    }
    tpafile_encode_begin(encoder, TPAFILE_STRINGS, 1);
    tpafile_encode_column(encoder, TPAFILE_STRINGS_FIRST, (const int64_t[]){ 1 + blocks * (int64_t)count },
                          1);
    tpafile_encode_column(encoder, TPAFILE_STRINGS_LENGTH, (const int64_t[]){ (int64_t)tail }, 1);
    tpafile_encode_bytes(encoder, TPAFILE_STRINGS_BYTES, noise, tail);
    assert_true(tpafile_writer_emit(writer, 1));
    assert_true(tpafile_writer_close(writer, TPAFILE_NONE, 0));
    tpafile_writer_free(writer);
    struct tpa_error err = { 0 };
    struct trace *trace = scratch_trace(trace_from_bytes(bytes.at, bytes.count, 1, 0, &err));
    bool is_read = trace != NULL;
    if (!is_read)
        assert_non_null(strstr(err.message, "times the size of the file"));
    return is_read;
}

TEST(a_small_file_does_not_become_endless_texts)
{
    assert_false(texts_are_read(2, TPAFILE_MOST_ROWS, 0, 1));
    assert_false(texts_are_read(9, 1, 8 << 20, 1));
    assert_true(texts_are_read(1, 100000, 0, 1)); /* what takes little is no matter */
    /* 72 MiB, which count three times, of which the first blocks tell less than the 500th part, and the file tells more. */
    assert_false(texts_are_read(1, TPAFILE_MOST_ROWS, 0, 300000));
    assert_true(texts_are_read(1, TPAFILE_MOST_ROWS, 0, 600000));
}

/* Rows may name one large text many times: it is kept once. */
TEST(a_text_named_often_is_kept_once)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 16);
    char *large = scratch_heap(mem_zalloc(5 << 20, 1));
    memset(large, 'x', (5 << 20) - 1);
    int64_t word = tpafile_writer_text(writer, "odd", 3);
    int64_t text = tpafile_writer_text(writer, large, (5 << 20) - 1);
    int64_t file[TPAFILE_FILE_FIELDS_END] = { 0 };
    assert_true(tpafile_writer_add(writer, TPAFILE_FILE, file));
    for (int i = 0; i < 3; i++) {
        int64_t property[TPAFILE_PROPERTY_FIELDS_END] = {
            [TPAFILE_PROPERTY_KEY] = word,
            [TPAFILE_PROPERTY_VALUE] = text,
        };
        int64_t notice[TPAFILE_NOTICE_FIELDS_END] = {
            [TPAFILE_NOTICE_WORD] = word,
            [TPAFILE_NOTICE_TEXT] = word,
            [TPAFILE_NOTICE_COUNT] = 1,
        };
        assert_true(tpafile_writer_add(writer, TPAFILE_PROPERTY, property));
        assert_true(tpafile_writer_add(writer, TPAFILE_NOTICE, notice));
    }
    assert_true(tpafile_writer_close(writer, TPAFILE_NONE, 0));
    tpafile_writer_free(writer);
    struct trace *trace = scratch_trace(trace_from_bytes(bytes.at, bytes.count, 1, 0, NULL));
    assert_non_null(trace);
    const struct trace_file *read = &trace->files[0];
    assert_int_equal(read->properties.count, 3);
    assert_string_equal(read->properties.at[0].value, large);
    assert_ptr_equal(read->properties.at[1].value, read->properties.at[0].value);
    assert_ptr_equal(read->properties.at[2].key, read->properties.at[0].key);
    assert_int_equal(trace->notice_count, 1);
    assert_int_equal(trace->notices[0].count, 3);
    assert_ptr_equal(trace->notices[0].text, read->properties.at[0].key);
}

static void add_left_out(struct tpafile_writer *writer, int64_t file, const char *text, int64_t count)
{
    int64_t notice[TPAFILE_NOTICE_FIELDS_END] = {
        [TPAFILE_NOTICE_FILE] = file,
        [TPAFILE_NOTICE_WORD] = tpafile_writer_text(writer, "left_out", 8),
        [TPAFILE_NOTICE_TEXT] = tpafile_writer_text(writer, text, strlen(text)),
        [TPAFILE_NOTICE_COUNT] = count,
        [TPAFILE_NOTICE_OFFSET] = TPA_NOWHERE,
    };
    assert_true(tpafile_writer_add(writer, TPAFILE_NOTICE, notice));
}

/* What is about none of the files stays so, also when it is written again; what says the same is one. */
TEST(a_notice_of_no_file_names_none)
{
    struct buffer bytes = { 0 };
    struct tpafile_writer *writer = tpa_writer(&bytes, 0);
    int64_t file[TPAFILE_FILE_FIELDS_END] = { 0 };
    assert_true(tpafile_writer_add(writer, TPAFILE_FILE, file));
    add_left_out(writer, TPAFILE_NO_FILE, "a", 2);
    add_left_out(writer, TPAFILE_NO_FILE, "b", 3);
    add_left_out(writer, TPAFILE_NO_FILE, "a", 5);
    add_left_out(writer, 0, "c", 7);
    assert_true(tpafile_writer_close(writer, TPAFILE_NONE, 0));
    tpafile_writer_free(writer);
    for (int times_written = 1; times_written <= 2; times_written++) {
        struct trace *trace = trace_from_bytes(bytes.at, bytes.count, 1, 0, NULL);
        assert_non_null(trace);
        assert_int_equal(trace->notice_count, 3);
        for (size_t i = 0; i < 3; i++) {
            assert_string_equal(trace->notices[i].kind, "left_out");
            assert_int_equal(trace->notices[i].of_all, i < 2);
        }
        assert_string_equal(trace->notices[0].text, "a");
        assert_int_equal(trace->notices[0].count, 7);
        assert_string_equal(trace->notices[1].text, "b");
        assert_int_equal(trace->notices[1].count, 3);
        assert_string_equal(trace->notices[2].text, "c");
        assert_int_equal(trace->notices[2].count, 7);
        struct buffer again = tpa_of_trace(trace, 0);
        trace_free(trace);
        buffer_release(&bytes);
        bytes = again;
    }
    buffer_release(&bytes);
}

/* So many different notices are taken; the others, and those that nobody can read, are counted together. */
TEST(endless_notices_are_counted)
{
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, 0);
    int64_t file[TPAFILE_FILE_FIELDS_END] = { 0 };
    assert_true(tpafile_writer_add(writer, TPAFILE_FILE, file));
    char *large = scratch_heap(mem_zalloc(64 << 10 | 2, 1));
    memset(large, 'x', 64 << 10 | 1);
    int64_t long_text = tpafile_writer_text(writer, large, 64 << 10 | 1);
    for (int round = 0; round < 2; round++)
        for (int i = 0; i < 3001; i++) {
            char word[16];
            int len = snprintf(word, sizeof word, "kind%d", i);
            int64_t number = tpafile_writer_text(writer, word, (size_t)len);
            int64_t notice[TPAFILE_NOTICE_FIELDS_END] = {
                [TPAFILE_NOTICE_WORD] = number,
                [TPAFILE_NOTICE_TEXT] = i == 7 ? long_text : number,
                [TPAFILE_NOTICE_COUNT] = 2,
            };
            assert_true(tpafile_writer_add(writer, TPAFILE_NOTICE, notice));
        }
    assert_true(tpafile_writer_close(writer, TPAFILE_NONE, 0));
    tpafile_writer_free(writer);
    struct trace *trace = scratch_trace(trace_from_bytes(bytes.at, bytes.count, 1, 0, NULL));
    assert_non_null(trace);
    assert_int_equal(trace->notice_count, 1001);
    for (size_t i = 0; i < 1000; i++) {
        char word[16];
        snprintf(word, sizeof word, "kind%zu", i + (i >= 7));
        assert_string_equal(trace->notices[i].kind, word);
        assert_int_equal(trace->notices[i].count, 4);
    }
    assert_string_equal(trace->notices[1000].kind, "more_notices");
    assert_int_equal(trace->notices[1000].count, 4 * 2001);
}
