/* test_hlo.c - ingest/xplane/hlo.c: costs, shapes and places of operators, by programs small enough to compute by hand. */

#include "tests/unit/unit.h"
#include "tests/unit/wire_text.h"
#include "cli/convert/parts.h"
#include "ingest/xplane/hlo.h"

enum { S32 = 4, U8 = 6, F32 = 11, TUPLE = 13, BF16 = 16 };

static void put_text(struct buffer *out, uint32_t number, const char *text)
{
    wire_append_text(out, number, text, strlen(text));
}

/* A shape as field NUMBER: DIMS end with 0. */
static void put_shape(struct buffer *out, uint32_t number, int type, const int64_t *dims)
{
    wire_text(out, "%u{2=%d", number, type);
    for (; *dims; dims++)
        wire_text(out, "3=%" PRId64, *dims);
    wire_text(out, "}");
}

#define DIMS(...) ((const int64_t[]){ __VA_ARGS__, 0 })
#define NONE ((const int64_t[]){ 0 })

/* An instruction, which stays open: what the caller adds is of it. OPERANDS end with 0. */
static void open_instruction(struct buffer *out, int64_t id, const char *name, const char *opcode, int type,
                             const int64_t *dims, const int64_t *operands)
{
    wire_text(out, "2{1'%s' 2'%s'", name, opcode);
    put_shape(out, 3, type, dims);
    wire_text(out, "35=%" PRId64, id);
    for (; *operands; operands++)
        wire_text(out, "36=%" PRId64, *operands);
}

static void put_instruction(struct buffer *out, int64_t id, const char *name, const char *opcode, int type,
                            const int64_t *dims, const int64_t *operands)
{
    open_instruction(out, id, name, opcode, type, dims, operands);
    wire_text(out, "}");
}

static void put_parameter(struct buffer *out, int64_t id, int64_t number, int type, const int64_t *dims)
{
    open_instruction(out, id, "p", "parameter", type, dims, NONE);
    wire_text(out, "9=%" PRId64 "}", number);
}

static void open_computation(struct buffer *out, int64_t id, int64_t root)
{
    wire_text(out, "3{5=%" PRId64 " 6=%" PRId64, id, root);
}

/* Program 7, "jit_f". */
static void open_program(struct buffer *out)
{
    wire_text(out, "1{1'jit_f' 5=7");
}

static struct hlo_programs read_program(struct buffer *out)
{
    struct hlo_programs programs = { 0 };
    wire_text(out, "}");
    hlo_programs_add(&programs, "jit_f(7)", strlen("jit_f(7)"), (const uint8_t *)out->at, out->count);
    return programs;
}

static const struct hlo_operator *find(struct hlo_programs *programs, const char *name)
{
    const struct hlo_operator *found = hlo_programs_find(programs, 7, "", 0, name, strlen(name));
    assert_non_null(found);
    return found;
}

TEST(products_and_elements)
{
    SCRATCH_BUFFER(bytes);
    struct buffer *out = &bytes;
    open_program(out);
    open_computation(out, 1, 3);
    put_parameter(out, 1, 0, BF16, DIMS(2, 8, 4)); /* 128 bytes */
    put_parameter(out, 2, 1, BF16, DIMS(2, 4, 16));
    open_instruction(out, 3, "dot.1", "dot", F32, DIMS(2, 8, 16), DIMS(1, 2));
    wire_text(out, "30{1=2 2=1 3=0 4=0}}"); /* sums over dimension 2 of the left one and 1 of the right one */
    put_instruction(out, 4, "add.1", "add", F32, DIMS(2, 8, 16), DIMS(3, 3));
    put_instruction(out, 5, "exp.1", "exponential", F32, DIMS(2, 8, 16), DIMS(3));
    put_instruction(out, 6, "slice.1", "slice", BF16, DIMS(1, 4), DIMS(1));
    put_instruction(out, 8, "loop", "while", F32, DIMS(2), DIMS(3));
    wire_text(out, "}");
    struct hlo_programs programs = read_program(out);
    const struct hlo_operator *product = find(&programs, "dot.1");
    assert_int_equal(product->flops, 2 * 2 * 8 * 16 * 4);
    assert_int_equal(product->bytes, 128 + 256 + 1024);
    assert_string_equal(product->dims, "[[2,8,4],[2,4,16]]");
    assert_string_equal(product->types, "[\"c10::BFloat16\",\"c10::BFloat16\"]");
    assert_int_equal(find(&programs, "add.1")->flops, 256);
    assert_int_equal(find(&programs, "add.1")->bytes, 3 * 1024);
    assert_int_equal(find(&programs, "exp.1")->flops, 0); /* transcendental */
    assert_int_equal(find(&programs, "slice.1")->bytes, 2 * 8);
    assert_null(hlo_programs_find(&programs, 7, "", 0, "loop", 4)); /* its parts run */
    assert_null(hlo_programs_find(&programs, 8, "", 0, "dot.1", 5));
    assert_non_null(hlo_programs_find(&programs, -1, "jit_f", 5, "dot.1", 5));
    hlo_programs_release(&programs);
}

/* A window of SIZE, STRIDE, PADDING on both sides and BASE_DILATION in one dimension. */
static void put_window(struct buffer *out, int64_t size, int64_t stride, int64_t padding,
                       int64_t base_dilation)
{
    wire_text(out, "15{1{1=%" PRId64 " 2=%" PRId64 " 3=%" PRId64 " 4=%" PRId64 " 5=1 6=%" PRId64 "}}", size,
              stride, padding, padding, base_dilation);
    wire_text(out, "16{3=1 8=1 10=1 11=2 6=2 12=2}"); /* N C W, O I W */
}

/*
 * 3 features of 6 elements, 5 output features, window 3, padding 1, stride 2: places 0, 2, 4 of the result see elements -1 0 1,
 * 1 2 3, 3 4 5, which are 2 + 3 + 3 = 8 products for each pair of features. Backward they are as many.
 */
TEST(convolutions_count_no_padding)
{
    static const char *const targets[] = { "__cudnn$convForward", "__cudnn$convBackwardInput",
                                           "__cudnn$convBackwardFilter" };
    const int64_t *shapes[] = { DIMS(4, 3, 6), DIMS(5, 3, 3), DIMS(4, 5, 3) };
    static const int64_t operands[][3] = { { 1, 2, 0 }, { 3, 2, 0 }, { 1, 3, 0 } };
    static const int results[] = { 2, 0, 1 };
    SCRATCH_BUFFER(bytes);
    struct buffer *out = &bytes;
    open_program(out);
    open_computation(out, 1, 10);
    for (int i = 0; i < 3; i++)
        put_parameter(out, i + 1, i, BF16, shapes[i]);
    open_instruction(out, 4, "conv", "convolution", BF16, shapes[2], DIMS(1, 2));
    put_window(out, 3, 2, 1, 1);
    wire_text(out, "}");
    open_instruction(out, 5, "dilated", "convolution", BF16, DIMS(4, 5, 11), DIMS(1, 2));
    put_window(out, 3, 1, 1,
               2); /* between two elements lies one that is none: 16 of 31 products are with elements */
    wire_text(out, "}");
    for (int i = 0; i < 3; i++) {
        open_instruction(out, 10 + i, targets[i], "custom-call", BF16, shapes[results[i]], operands[i]);
        put_text(out, 28, targets[i]);
        put_window(out, 3, 2, 1, 1);
        wire_text(out, "}");
    }
    wire_text(out, "}");
    struct hlo_programs programs = read_program(out);
    assert_int_equal(find(&programs, "conv")->flops, 2 * 4 * 3 * 5 * 8);
    for (int i = 0; i < 3; i++)
        assert_int_equal(find(&programs, targets[i])->flops, 2 * 4 * 3 * 5 * 8);
    assert_int_equal(find(&programs, "dilated")->flops, 2 * 4 * 3 * 5 * 16);
    hlo_programs_release(&programs);
}

/* A fusion that takes a row of a table, adds it to a row of another and puts it back in place. */
TEST(fusions_count_what_they_touch)
{
    SCRATCH_BUFFER(bytes);
    struct buffer *out = &bytes;
    open_program(out);
    open_computation(out, 1, 16);
    put_parameter(out, 11, 0, F32, DIMS(1000, 8));
    put_parameter(out, 12, 1, F32, DIMS(1000, 8));
    put_parameter(out, 13, 2, S32, NONE);
    put_instruction(out, 14, "row", "dynamic-slice", F32, DIMS(1, 8), DIMS(11, 13));
    put_instruction(out, 15, "sum", "multiply", F32, DIMS(1, 8), DIMS(14, 14));
    put_instruction(out, 16, "put", "dynamic-update-slice", F32, DIMS(1000, 8), DIMS(12, 15, 13));
    wire_text(out, "}");
    open_computation(out, 2, 24);
    put_parameter(out, 21, 0, F32, DIMS(1000, 8));
    put_parameter(out, 22, 1, F32, DIMS(1000, 8));
    put_parameter(out, 23, 2, S32, NONE);
    open_instruction(out, 24, "fusion.1", "fusion", F32, DIMS(1000, 8), DIMS(21, 22, 23));
    wire_text(out, "38=1}}");
    struct hlo_programs programs = read_program(out);
    assert_int_equal(find(&programs, "fusion.1")->flops, 8);
    assert_int_equal(find(&programs, "fusion.1")->bytes, 32 + 0 + 4 + 32);
    hlo_programs_release(&programs);
}

TEST(products_of_libraries_have_no_workspace)
{
    SCRATCH_BUFFER(bytes);
    struct buffer *out = &bytes;
    open_program(out);
    open_computation(out, 1, 3);
    put_parameter(out, 1, 0, BF16, DIMS(64, 32));
    put_parameter(out, 2, 1, BF16, DIMS(32, 16));
    wire_text(out, "2{1'gemm' 2'custom-call' 28'__cublas$lt$matmul'");
    put_text(
        out, 43,
        "{\"gemm_backend_config\":{\"dot_dimension_numbers\":{\"lhs_contracting_dimensions\":[\"1\"]}}}");
    wire_text(out, "3{2=%d", TUPLE);
    put_shape(out, 4, BF16, DIMS(64, 16));
    put_shape(out, 4, U8, DIMS(1 << 20));
    wire_text(out, "} 35=3 36=1 36=2}");
    open_instruction(out, 4, "other", "custom-call", F32, DIMS(4), DIMS(1));
    wire_text(out, "28'somebodys_kernel'}}");
    struct hlo_programs programs = read_program(out);
    assert_int_equal(find(&programs, "gemm")->flops, 2 * 64 * 16 * 32);
    assert_int_equal(find(&programs, "gemm")->bytes, 2 * (64 * 32 + 32 * 16 + 64 * 16));
    assert_int_equal(find(&programs, "other")->flops, HLO_UNKNOWN);
    hlo_programs_release(&programs);
}

/* Any cut of a program is read as far as it goes; a computation that calls itself ends. */
TEST(damage_and_circles_end)
{
    SCRATCH_BUFFER(bytes);
    struct buffer *out = &bytes;
    open_program(out);
    open_computation(out, 1, 2);
    put_parameter(out, 1, 0, F32, DIMS(INT64_MAX / 2, 4));
    open_instruction(out, 2, "self", "fusion", F32, DIMS(INT64_MAX, INT64_MAX), DIMS(1, 2, 9));
    wire_text(out, "38=1 38=5}");
    put_instruction(out, 3, "wide", "add", F32, DIMS(INT64_MAX, -1), DIMS(2));
    wire_text(out, "}}");
    for (size_t len = 0; len <= out->count; len++) {
        struct hlo_programs programs = { 0 };
        uint8_t *copy = len ? memcpy(test_malloc(len), out->at, len) : NULL;
        hlo_programs_add(&programs, "jit_f(7)", strlen("jit_f(7)"), copy, len);
        test_free(copy);
        if (len == out->count)
            assert_int_equal(find(&programs, "self")->flops, 0);
        hlo_programs_release(&programs);
    }
}

/* ---- memory ---- */

/* A logical buffer: part PART of what INSTRUCTION makes; PART -1: all of it. */
static void put_buffer(struct buffer *out, int64_t id, int64_t size, int64_t instruction, int64_t part)
{
    wire_text(out, "1{1=%" PRId64 " 2=%" PRId64 " 3{4=%" PRId64, id, size, instruction);
    if (part >= 0)
        wire_append_number(out, 3, part);
    wire_text(out, "}}");
}

enum { IS_THREAD_LOCAL = 3, IS_PARAMETER = 5, IS_LIVE_OUT = 7, IS_CONSTANT = 12 };

/* FLAGS, as these words, and BUFFERS end with 0. */
static void put_allocation(struct buffer *out, int64_t size, int64_t space, const int64_t *flags,
                           const int64_t *buffers)
{
    wire_text(out, "3{2=%" PRId64 " 8=%" PRId64, size, space);
    for (; *flags; flags++)
        wire_append_number(out, (uint32_t)*flags, 1);
    for (; *buffers; buffers++) {
        wire_text(out, "9{1=%" PRId64 "}", *buffers);
    }
    wire_text(out, "}");
}

enum { ALLOC, FREE, SHARE };

/* EVENTS: kind, buffer and, of SHARE, whose memory; COUNT of them. */
static void put_heap_trace(struct buffer *out, const int64_t (*events)[3], size_t count)
{
    wire_text(out, "4{");
    for (size_t i = 0; i < count; i++) {
        wire_text(out, "1{1=%" PRId64 " 2=%" PRId64 " 5=%" PRId64 "}", events[i][0], events[i][1],
                  events[i][2]);
    }
    wire_text(out, "}");
}

/* Buffer 3 takes the memory of 2 twice: while 2 is in use, and after it. Then it is there with 5, which is the peak. */
TEST(buffers_add_up_to_the_peak)
{
    static const int64_t events[][3] = {
        { ALLOC, 2, 0 }, { SHARE, 3, 2 }, { FREE, 2, 0 },  { FREE, 3, 0 },   { FREE, 3, 0 },  { ALLOC, 5, 0 },
        { SHARE, 3, 2 }, { FREE, 3, 0 },  { ALLOC, 1, 0 }, { ALLOC, 99, 0 }, { SHARE, 5, 5 },
    };
    static const char expected[] =
        "space\t0\t1124\t16\t0\t8\t4\t1264\t16\t1284\n"
        "space\t5\t32\t32\t0\t0\t0\t0\t0\t32\n"
        "buffer\t0\ttemporary\t1024\t100\t1\tpair\tcustom-call\tu8[100]\t\t\n"
        "buffer\t0\ttemporary\t64\t-1\t1\t\t\t\t\t\n"
        "buffer\t5\tparameter\t32\t-1\t1\t\t\t\t\t\n"
        "buffer\t0\tparameter\t16\t16\t1\tp\tparameter\tf32[4]\t\t\n"
        "buffer\t0\ttemporary\t16\t16\t1\tpair\tcustom-call\t(f32[2], u8[100])\t\t\n"
        "buffer\t0\tconstant\t4\t-1\t1\t\t\t\t\t\n";
    SCRATCH_BUFFER(bytes);
    struct buffer *out = &bytes;
    open_program(out);
    open_computation(out, 1, 4);
    put_parameter(out, 1, 0, F32, DIMS(4));
    put_instruction(out, 2, "t", "add", F32, DIMS(256), DIMS(1, 1));
    wire_text(out, "2{1'pair' 2'custom-call' 3{2=%d", TUPLE);
    put_shape(out, 4, F32, DIMS(2));
    put_shape(out, 4, U8, DIMS(100));
    wire_text(out, "} 35=3}");
    put_instruction(out, 4, "out", "add", F32, DIMS(4), DIMS(1, 1));
    wire_text(out, "}} 3{");
    put_heap_trace(out, events, sizeof events / sizeof *events); /* the order of fields does not matter */
    put_allocation(out, 16, 0, DIMS(IS_PARAMETER, IS_LIVE_OUT), DIMS(1, 4));
    put_allocation(out, 8, 0, DIMS(IS_THREAD_LOCAL), NONE);
    put_allocation(out, 4, 0, DIMS(IS_CONSTANT), NONE);
    put_allocation(out, 1200, 0, NONE, DIMS(2, 3, 5));
    put_allocation(out, 64, 0, NONE, NONE);
    put_allocation(out, 32, 5, DIMS(IS_PARAMETER), NONE);
    put_buffer(out, 1, 16, 1, -1);
    put_buffer(out, 2, 1024, 2, -1);
    put_buffer(out, 3, 128, 3, 1);
    put_buffer(out, 4, 16, 4, -1);
    put_buffer(out, 5, 16, 3, -1);
    wire_text(out, "}");
    for (size_t len = 0; len <= out->count; len++) { /* cut anywhere, as far as it goes */
        struct hlo_programs programs = { .wants_memory = true };
        uint8_t *copy = len ? memcpy(test_malloc(len), out->at, len) : NULL;
        hlo_programs_add(&programs, "jit_f(7)", strlen("jit_f(7)"), copy, len);
        test_free(copy);
        if (len == out->count) {
            assert_int_equal(programs.memory.count, 1);
            assert_string_equal(programs.memory.at[0].key, TRACE_PROGRAM_MEMORY "jit_f(7)");
            assert_string_equal(programs.memory.at[0].value, expected);
        }
        hlo_programs_release(&programs);
    }
}
