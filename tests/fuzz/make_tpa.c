/* make_tpa.c - see make_tpa.h. */
#include "tests/fuzz/make_tpa.h"

#include "figures/facts_file.h"
#include "figures/sketch.h"
#include "trace/tpafile_write.h"

#define LENGTH(array) (sizeof(array) / sizeof *(array))

static const int64_t limits[] = {
    0,
    1,
    -1,
    2,
    -2,
    '"',
    '\\',
    0x1b,
    127,
    128,
    255,
    256,
    INT16_MAX,
    UINT16_MAX,
    UINT16_MAX + 1,
    1 << 20,
    INT32_MAX,
    INT32_MIN,
    INT64_C(1) << 31,
    UINT32_MAX,
    INT64_C(1) << 32,
    INT64_C(1) << 53,
    INT64_C(1000000000000000000), /* a wall clock in ns has this size */
    -INT64_C(1000000000000000000),
    (INT64_C(1) << 60),
    (INT64_C(1) << 61) - 1,
    INT64_C(1) << 61,
    (INT64_C(1) << 61) + 1,
    -(INT64_C(1) << 61),
    1 - (INT64_C(1) << 61),
    -1 - (INT64_C(1) << 61),
    INT64_C(1) << 62,
    -(INT64_C(1) << 62),
    INT64_MAX,
    INT64_MAX - 1,
    INT64_MIN,
    INT64_MIN + 1,
    INT64_C(0x3ff0000000000000),  /* 1.0 */
    INT64_C(0x3fe0000000000000),  /* 0.5 */
    INT64_C(0x7fefffffffffffff),  /* the largest double */
    INT64_C(0x7ff0000000000000),  /* infinite */
    INT64_C(0x7ff8000000000000),  /* not a number */
    -INT64_C(0x0010000000000000), /* -infinite */
    INT64_C(0x43e0000000000000),  /* 2^63 */
    INT64_C(0x0000000000000001),  /* the smallest double */
};

#define TEXT(literal)                                                                                        \
    {                                                                                                        \
        literal, sizeof(literal) - 1                                                                         \
    }
static const struct {
    const char *at;
    size_t len;
} texts[] = {
    TEXT(""),
    TEXT("ProfilerStep#1"),
    TEXT("ProfilerStep#2"),
    TEXT("ProfilerStep#9223372036854775807"),
    TEXT("aten::mm"),
    TEXT("aten::copy_"),
    TEXT("aten::convolution_backward"),
    TEXT("autograd::engine::evaluate_function: MmBackward0"),
    TEXT("cudaLaunchKernel"),
    TEXT("cudaMemcpyAsync"),
    TEXT("cudaStreamSynchronize"),
    TEXT("cudaGraphLaunch"),
    TEXT("cudaMalloc"),
    TEXT("Memcpy HtoD (Pageable -> Device)"),
    TEXT("Memset (Device)"),
    TEXT("[memory]"),
    TEXT("void at::native::vectorized_elementwise_kernel<4, float>(int)"),
    TEXT("_ZN2at6native6kernelIfEEvPT_"),
    TEXT("ampere_sgemm_128x64_nn"),
    TEXT("ncclDevKernel_AllReduce_Sum_f32_RING_LL(ncclDevKernelArgsStorage<4096ul>)"),
    TEXT("record_param_comms"),
    TEXT("nccl:all_reduce"),
    TEXT("allreduce"),
    TEXT("nn.Module: Linear_0"),
    TEXT("train.py(12): step"),
    TEXT("<built-in method run of type object at 0x7f>"),
    TEXT("train.py(12): step\n<string>(1): <module>;"),
    TEXT("[[8,3],[3,4]]"),
    TEXT("[[9223372036854775807,9223372036854775807],[]]"),
    TEXT("[[[[[[[["),
    TEXT("[\"float\",\"float\"]"),
    TEXT("[128,1,1]"),
    TEXT("[0, 1, 2, 3]"),
    TEXT(
        "{\"rank\":0,\"world_size\":9223372036854775807,\"pg_config\":[{\"pg_name\":\"0\",\"ranks\":[0,1]}]}"),
    TEXT("distributedInfo"),
    TEXT("GPU 0"),
    TEXT("stream 7"),
    TEXT("Spans"),
    TEXT("PyTorch Profiler (0)"),
    TEXT("float"),
    TEXT("PARAMETER"),
    TEXT("train.py"),
    TEXT("/home/u/train.py"),
    TEXT("~"),
    TEXT("dropped_by_cupti"),
    TEXT("aten::mm, seq = \1, op_id = \1, sizes = [[8, 3], [3, 4]]"),
    TEXT("aten::mm, sizes = [[[[[["),
    TEXT("\"}],\"x\":[{\""),
    TEXT("\\"),
    TEXT("\x1b[31mred\x1b]0;title\x07"),
    TEXT("\x9b"
         "31m"),
    TEXT("</script><script>alert(1)</script>"),
    TEXT("=cmd|' /C calc'!A1"),
    TEXT("| a | b |\r\n\r\n# heading"),
    TEXT("set output '/tmp/x'; `id` @macro {/Symbol a}"),
    TEXT("zero\0byte"),
    TEXT("\xff\xfe\xc0\x80"),
    TEXT("\xe2\x80\xae"
         "desrever"),
    TEXT("\t\v\f"),
    TEXT(";;;"),
    TEXT("9223372036854775808"),
    TEXT("nan"),
};

static const char *const categories[] = {
    "kernel",
    "gpu_memcpy",
    "gpu_memset",
    "cuda_runtime",
    "cuda_driver",
    "cpu_op",
    "operator",
    "user_annotation",
    "python_function",
    "Trace",
    "cuda_sync",
    "cpu_instant_event",
    "ac2g",
    "fwdbwd",
    "overhead",
    "gpu_user_annotation",
    "collective",
    "no such thing",
    "",
};

static const char *const argument_keys[] = { "no such key",
#define ARGUMENT_KEY(id, kind, keys) keys,
                                             TRACE_ARGS(ARGUMENT_KEY)
#undef ARGUMENT_KEY
};

enum { ARGUMENTS = LENGTH(argument_keys) < 64 ? LENGTH(argument_keys) : 64 }; /* a bit of a mask each */

/* enum tpafile_argument_type of each of them. */
enum { OF_INT, OF_DECIMAL, OF_TEXT, OF_JSON = OF_TEXT, OF_BOOL = OF_INT };
static const int64_t argument_types[] = {
#define ARGUMENT_TYPE(id, kind, keys) OF_##kind,
    TRACE_ARGS(ARGUMENT_TYPE)
#undef ARGUMENT_TYPE
        OF_INT,
};

struct making {
    const uint8_t *choices;
    size_t left;
    uint64_t state;
    struct tpafile_writer *writer;
    size_t odd_of;        /* one field in so many holds a limit; 0: none */
    unsigned kind, field; /* this one always does */
};

/* ---- choosing ---- */

static uint64_t next_random(struct making *making)
{
    making->state ^= making->state << 13;
    making->state ^= making->state >> 7;
    making->state ^= making->state << 17;
    return making->state;
}

/* A number below BELOW. */
static size_t choose(struct making *making, size_t below)
{
    if (making->left == 0)
        return (size_t)(next_random(making) >> 11) % below;
    making->left--;
    return *making->choices++ % below;
}

static int64_t choose_limit(struct making *making)
{
    int64_t limit = limits[choose(making, LENGTH(limits))];
    return choose(making, 4) ? limit : (int64_t)((uint64_t)limit + choose(making, 5) - 2);
}

static bool is_odd(struct making *making, unsigned kind, unsigned field)
{
    if (kind == making->kind && field == making->field)
        return choose(making, 4) > 0;
    return making->odd_of && choose(making, making->odd_of) == 0;
}

/* A number for a field of TYPE that is not told what it means. */
static int64_t choose_usual(struct making *making, enum tpafile_field_type type)
{
    switch (type) {
    case TPAFILE_TEXT: return (int64_t)choose(making, LENGTH(texts) + 1);
    case TPAFILE_TIME: return 1000 + 100 * (int64_t)choose(making, 250);
    case TPAFILE_NS: return 10 * (int64_t)choose(making, 250);
    default: return (int64_t)choose(making, 9) - (choose(making, 16) == 0);
    }
}

/* ---- rows ---- */

/* What some fields must be for the rows to be of use. TPAFILE_NONE: any number. */
static int64_t usual_of(struct making *making, unsigned kind, unsigned field, size_t row)
{
    if (kind == TPAFILE_FLOW && field == TPAFILE_FLOW_PHASE)
        return "stf"[choose(making, 3)];
    if (kind == TPAFILE_FILE && field == TPAFILE_FILE_NAMES)
        return (int64_t)choose(making, LENGTH(texts));
    if (kind == TPAFILE_ARGUMENT)
        return field == TPAFILE_ARGUMENT_TYPE ? argument_types[row] : TPAFILE_NONE;
    if (kind == TPAFILE_MEMORY && field == TPAFILE_MEMORY_OPERATION)
        return 1 + (int64_t)choose(making, 2);
    return TPAFILE_NONE;
}

static void add_row(struct making *making, enum tpafile_kind kind, size_t row, const int64_t *given)
{
    int64_t values[TPAFILE_MOST_FIELDS];
    const struct tpafile_kind_info *info = &tpafile_kinds[kind];
    for (unsigned f = 0; f < info->field_count; f++) {
        values[f] = given && given[f] != TPAFILE_NONE ? given[f] : usual_of(making, kind, f, row);
        if (is_odd(making, kind, f))
            values[f] = choose_limit(making);
        else if (values[f] == TPAFILE_NONE && choose(making, 8) > 0)
            values[f] = choose_usual(making, info->fields[f].type);
    }
    tpafile_writer_add(making->writer, kind, values);
}

static void add_rows(struct making *making, enum tpafile_kind kind, size_t most)
{
    size_t count = choose(making, most + 1);
    for (size_t i = 0; i < count; i++)
        add_row(making, kind, i, NULL);
}

/* A row of which only FIELD is given. */
static void add_row_with(struct making *making, enum tpafile_kind kind, size_t row, unsigned field,
                         int64_t value)
{
    int64_t given[TPAFILE_MOST_FIELDS];
    for (unsigned f = 0; f < TPAFILE_MOST_FIELDS; f++)
        given[f] = f == field ? value : TPAFILE_NONE;
    add_row(making, kind, row, given);
}

static int64_t text_of(struct making *making, const char *text)
{
    return tpafile_writer_text(making->writer, text, strlen(text));
}

/* ---- traces ---- */

enum { MOST_EVENTS = 48, MOST_SHAPES = 6, FILES = 2 };

/* Which arguments a shape has: all, none, or half of them. */
static uint64_t choose_arguments(struct making *making)
{
    uint64_t all = UINT64_MAX >> (64 - ARGUMENTS);
    switch (choose(making, 4)) {
    case 0: return all;
    case 1: return 0;
    default: return next_random(making) & all;
    }
}

static void add_argument(struct making *making, struct tpafile_encoder *encoder, unsigned place,
                         const int64_t *masks, const int64_t *shapes, size_t events)
{
    int64_t values[MOST_EVENTS];
    size_t count = 0;
    static const int64_t decimals[] = { 0x3ff0000000000000, 0x4059000000000000, 0x3fb999999999999a };
    for (size_t e = 0; e < events; e++) {
        if (!((uint64_t)masks[shapes[e]] >> place & 1))
            continue;
        int64_t value = argument_types[place] == OF_TEXT      ? 1 + (int64_t)choose(making, LENGTH(texts))
                        : argument_types[place] == OF_DECIMAL ? decimals[choose(making, LENGTH(decimals))]
                                                              : (int64_t)choose(making, 6);
        values[count++] =
            is_odd(making, TPAFILE_EVENTS, TPAFILE_EVENTS_ARG + place) ? choose_limit(making) : value;
    }
    if (count)
        tpafile_encode_column(encoder, TPAFILE_EVENTS_ARG + place, values, count);
}

static void fill(struct making *making, int64_t *values, size_t count, unsigned field, size_t below,
                 int64_t factor)
{
    for (size_t i = 0; i < count; i++)
        values[i] = is_odd(making, TPAFILE_EVENTS, field) ? choose_limit(making)
                                                          : factor * (int64_t)choose(making, below);
}

static void add_events(struct making *making, int64_t file)
{
    int64_t values[MOST_EVENTS], shapes[MOST_EVENTS], masks[MOST_SHAPES];
    size_t events = 1 + choose(making, MOST_EVENTS), shape_count = 1 + choose(making, MOST_SHAPES);
    tpafile_writer_flush(making->writer);
    struct tpafile_encoder *encoder = tpafile_writer_encoder(making->writer);
    tpafile_encode_begin(encoder, TPAFILE_EVENTS, (uint32_t)events);
    fill(making, values, events, TPAFILE_EVENTS_START, 200, 50);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_START, values, events);
    fill(making, values, events, TPAFILE_EVENTS_DURATION, 100, 25);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_DURATION, values, events);
    fill(making, values, events, TPAFILE_EVENTS_NAME, LENGTH(texts) + 1, 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_NAME, values, events);
    fill(making, values, events, TPAFILE_EVENTS_TRACK, 8, 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_TRACK, values, events);
    for (size_t e = 0; e < events; e++)
        shapes[e] = (int64_t)choose(making, shape_count);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE, shapes, events);
    shape_count = shape_count > events ? events : shape_count;
    for (size_t e = 0; e < events; e++)
        shapes[e] %= (int64_t)shape_count;
    fill(making, values, shape_count, TPAFILE_EVENTS_SHAPE_CATEGORY, LENGTH(categories), 1);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_CATEGORY, values, shape_count);
    for (size_t s = 0; s < shape_count; s++)
        values[s] = choose(making, 4) ? 0 : (int64_t)choose(making, 256);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_FLAGS, values, shape_count);
    for (size_t s = 0; s < shape_count; s++)
        masks[s] = (int64_t)choose_arguments(making);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_SHAPE_ARGS, masks, shape_count);
    tpafile_encode_column(encoder, TPAFILE_EVENTS_FILE, &file, 1);
    for (unsigned place = 0; place < ARGUMENTS; place++)
        add_argument(making, encoder, place, masks, shapes, events);
    tpafile_writer_emit(making->writer, events);
}

static void add_trace(struct making *making)
{
    for (size_t i = 0; i < FILES; i++)
        add_row(making, TPAFILE_FILE, i, NULL);
    for (size_t i = 0; i < LENGTH(categories); i++)
        add_row_with(making, TPAFILE_CATEGORY, i, TPAFILE_CATEGORY_NAME, text_of(making, categories[i]));
    for (size_t i = 0; i < 8; i++)
        add_row_with(making, TPAFILE_TRACK, i, TPAFILE_TRACK_FILE, (int64_t)i / 4);
    for (size_t i = 0; i < ARGUMENTS; i++) {
        size_t len = strcspn(argument_keys[i], "|");
        add_row_with(making, TPAFILE_ARGUMENT, i, TPAFILE_ARGUMENT_KEY,
                     tpafile_writer_text(making->writer, argument_keys[i], len));
    }
    add_rows(making, TPAFILE_FILE_DEVICE, 3);
    add_rows(making, TPAFILE_PROPERTY, 3);
    add_rows(making, TPAFILE_NOTICE, 3);
    for (size_t blocks = 1 + choose(making, 3), b = 0; b < blocks; b++)
        add_events(making, (int64_t)(b * FILES / blocks));
    add_rows(making, TPAFILE_FLOW, 6);
    add_rows(making, TPAFILE_SAMPLE, 6);
}

/* ---- logs and sums ---- */

static void add_log(struct making *making)
{
    static const enum tpafile_kind facts[] = { TPAFILE_PROCESS, TPAFILE_CLOCK,  TPAFILE_DEVICE,
                                               TPAFILE_CONTEXT, TPAFILE_STREAM, TPAFILE_THREAD,
                                               TPAFILE_FUNCTION };
    for (size_t i = 0; i < LENGTH(facts); i++)
        add_rows(making, facts[i], 4);
    for (unsigned kind = TPAFILE_KERNEL; kind < TPAFILE_END; kind++)
        if (tpafile_kinds[kind].id)
            add_rows(making, (enum tpafile_kind)kind, 12);
}

static bool take(void *context, const void *bytes, size_t size)
{
    buffer_add(context, bytes, size);
    return true;
}

static struct making begin(const uint8_t *choices, size_t count)
{
    struct making making = { .choices = choices, .left = count, .state = UINT64_C(0x9E3779B97F4A7C15) };
    for (size_t i = 0; i < count; i++)
        making.state = (making.state ^ choices[i]) * UINT64_C(1099511628211) + 1;
    return making;
}

static const size_t odds[] = { 0, 64, 16, 4, 1 };

void make_tpa(const uint8_t *choices, size_t count, struct buffer *bytes)
{
    struct making making = begin(choices, count);
    making.writer = tpafile_writer_open(
        &(struct tpafile_writer_options){ .sink = take, .context = bytes, .rows = 8 + choose(&making, 64) });
    if (!making.writer)
        mem_out_of_memory(0);
    size_t what = choose(&making, 8);
    making.odd_of = odds[choose(&making, LENGTH(odds))];
    making.kind = choose(&making, TPAFILE_EVENTS + 1);
    making.field = making.kind == TPAFILE_EVENTS && choose(&making, 2)
                       ? TPAFILE_EVENTS_ARG + (unsigned)choose(&making, ARGUMENTS)
                       : (unsigned)choose(&making, TPAFILE_MOST_FIELDS);
    for (size_t i = 0; i < LENGTH(texts); i++)
        tpafile_writer_new_text(making.writer, texts[i].at, texts[i].len);
    if (what < 4)
        add_trace(&making);
    else
        add_log(&making);
    int64_t end = choose_usual(&making, TPAFILE_TIME);
    tpafile_writer_close(making.writer, end, (int64_t)choose(&making, LENGTH(texts)));
    tpafile_writer_free(making.writer);
}

/* ---- facts ---- */

enum { MOST_RECORDINGS = 4, MOST_FACTS = 12 };

/* A number that makes rows of several recordings belong together. */
static int64_t usual_fact(struct making *making, const char *key, int64_t recording, size_t row)
{
    size_t len = strlen(key);
    if (strcmp(key, "recording") == 0 || strcmp(key, "world_size") == 0)
        return recording;
    if (strcmp(key, "rank") == 0)
        return recording - 1;
    if (strcmp(key, "start_ns") == 0)
        return INT64_C(1700000000000000000) + 1000 * (int64_t)row + (int64_t)choose(making, 400);
    if (len > 3 && strcmp(key + len - 3, "_ns") == 0)
        return 10 * (int64_t)choose(making, 250);
    if (strcmp(key, "device") == 0 || strcmp(key, "group") == 0)
        return (int64_t)choose(making, 8) / 7;
    if (strcmp(key, "sequence") == 0 || strcmp(key, "number") == 0)
        return (int64_t)row;
    return strcmp(key, "complete") == 0 || strcmp(key, "has_clock") == 0 ? 1 : (int64_t)choose(making, 9);
}

static const char *usual_text(struct making *making, enum facts_table table, const char *key)
{
    static const char *const names[] = { "kernel", "copy", "operator", "call", "annotation" };
    static const char *const collectives[] = { "all_reduce", "all_gather", "broadcast", "send", "receive" };
    if (strcmp(key, "kind") == 0 && table == FACTS_NAMES)
        return names[choose(making, LENGTH(names))];
    if (strcmp(key, "kind") == 0 && table == FACTS_COLLECTIVES)
        return collectives[choose(making, LENGTH(collectives))];
    return strcmp(key, "job") == 0 || strcmp(key, "ranks") == 0 ? NULL : texts[choose(making, 20)].at;
}

static struct facts_bytes choose_sketch(struct making *making, struct facts *facts, bool odd)
{
    struct sketch sketch = { 0 };
    SCOPED struct buffer text = { 0 };
    size_t place = choose(making, LENGTH(texts));
    for (size_t i = choose(making, 4) ? choose(making, 30) : 1000; i > 0; i--)
        sketch_add(&sketch, choose(making, 8) ? 10 * (int64_t)choose(making, 250) : choose_limit(making));
    if (odd)
        buffer_add(&text, texts[place].at, texts[place].len);
    else
        sketch_encode(&sketch, &text);
    struct facts_bytes bytes = { arena_strndup(&facts->arena, text.at ? text.at : "", text.count),
                                 text.count };
    sketch_release(&sketch);
    return bytes;
}

static void add_fact(struct making *making, struct facts *facts, enum facts_table table, int64_t recording,
                     size_t place)
{
    char row[512] = { 0 };
    const struct facts_schema *schema = &facts_tables[table];
    for (unsigned c = 0; c < schema->column_count; c++) {
        const struct facts_column *column = &schema->columns[c];
        bool odd = c > 0 && is_odd(making, (unsigned)table, c);
        if (column->type == FACTS_INT64) {
            int64_t number = odd ? choose_limit(making) : usual_fact(making, column->key, recording, place);
            memcpy(row + column->offset, &number, sizeof number);
        } else if (column->type == FACTS_TEXT) {
            size_t text = choose(making, LENGTH(texts));
            name_id id = odd ? names_add(facts->texts, texts[text].at, texts[text].len)
                             : facts_text(facts, usual_text(making, table, column->key));
            memcpy(row + column->offset, &id, sizeof id);
        } else {
            struct facts_bytes sketch = choose_sketch(making, facts, odd);
            memcpy(row + column->offset, &sketch, sizeof sketch);
        }
    }
    facts_add(facts, table, row);
}

void make_facts(const uint8_t *choices, size_t count, struct buffer *bytes)
{
    struct making making = begin(choices, count);
    SCOPED_OBJECT struct facts *facts = facts_open();
    making.odd_of = odds[choose(&making, LENGTH(odds))];
    making.kind = (unsigned)choose(&making, FACTS_TABLES);
    making.field = (unsigned)choose(&making, facts_tables[making.kind].column_count);
    int64_t recordings = 1 + (int64_t)choose(&making, MOST_RECORDINGS);
    for (int64_t recording = 1; recording <= recordings; recording++)
        for (int table = 0; table < FACTS_TABLES; table++) {
            size_t rows = table == FACTS_RECORDINGS ? 1 : choose(&making, MOST_FACTS);
            for (size_t row = 0; row < rows; row++)
                add_fact(&making, facts, (enum facts_table)table, recording, row);
        }
    facts_finish(facts);
    facts_write(facts, bytes);
}
