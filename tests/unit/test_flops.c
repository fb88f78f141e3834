/* test_flops.c - derive/flops.h and the shapes it counts from (derive/shapes.h). */
#include "tests/unit/unit.h"
#include "derive/flops.h"
#include "derive/shapes.h"

TEST(matrix_products_count_two_per_multiply_and_add)
{
    /* (3 x 4) (4 x 5): 15 sums of 4 products */
    assert_int_equal(flops_count(FLOPS_MM, "[[3,4],[4,5]]", NULL), 2 * 3 * 4 * 5);
    /* the first input of addmm is what is added */
    assert_int_equal(flops_count(FLOPS_ADDMM, "[[5],[3,4],[4,5],[],[]]", NULL), 2 * 3 * 4 * 5);
    /* two of them */
    assert_int_equal(flops_count(FLOPS_BMM, "[[2,3,4],[2,4,5]]", NULL), 2 * 2 * 3 * 4 * 5);
    assert_int_equal(flops_count(FLOPS_BADDBMM, "[[2,3,5],[2,3,4],[2,4,5],[],[]]", NULL), 2 * 2 * 3 * 4 * 5);
}

TEST(elementwise_operators_count_elements_of_the_first_input)
{
    assert_int_equal(flops_count(FLOPS_MUL, "[[7,3],[3]]", NULL), 21);
    assert_int_equal(flops_count(FLOPS_ADD, "[[],[3]]", NULL), 1); /* a scalar tensor has one element */
    assert_int_equal(flops_count(FLOPS_ADD, "[[0,8],[8],[]]", NULL), 0);
    assert_int_equal(flops_count(FLOPS_ADD, "[]", NULL), 0);
    assert_int_equal(flops_count(FLOPS_ADD, NULL, NULL), 0);
}

static const char image[] = "[[4,6,10,12],[8,3,3,5],[8],[],[],[],[]]";

TEST(convolutions_count_per_output_and_group)
{
    /*
     * stride 2 x 1, padding 1 x 2, dilation 1 x 1: height (10 + 2 - 2 - 1) / 2 + 1 = 5,
     * width (12 + 4 - 4 - 1) / 1 + 1 = 12
     */
    int64_t all = INT64_C(2) * 4 * (5 * 12) * (3 * 5) * 6 * 8;
    assert_int_equal(
        flops_count(FLOPS_CONV2D, image, "[\"\",\"\",\"\",\"[2, 1]\",\"[1, 2]\",\"[1, 1]\",\"1\"]"), all);
    assert_int_equal(
        flops_count(FLOPS_CONV2D, image, "[\"\",\"\",\"\",\"[2, 1]\",\"[1, 2]\",\"[1, 1]\",\"2\"]"), all / 2);
    /* dilation 2 makes the kernel reach 5 rows: height (10 - 4 - 1) + 1 = 6, width (12 - 4 - 1) + 1 = 8 */
    assert_int_equal(
        flops_count(FLOPS_CONV2D, image, "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[2, 1]\",\"1\"]"),
        INT64_C(2) * 4 * (6 * 8) * (3 * 5) * 6 * 8);
}

TEST(what_torch_cannot_use_counts_nothing)
{
    const char *same = "[\"\",\"\",\"\",\"[1, 1]\",\"same\",\"[1, 1]\",\"1\"]";
    const char *plain = "[\"\",\"\",\"\",\"[1, 1]\",\"[0, 0]\",\"[1, 1]\",\"1\"]";
    assert_int_equal(flops_count(FLOPS_CONV2D, image, same), 0);
    assert_int_equal(flops_count(FLOPS_CONV2D, image, NULL), 0);
    assert_int_equal(flops_count(FLOPS_CONV2D, "[[6,10,12],[8,3,3,5],[8]]", plain), 0);
    assert_int_equal(flops_count(FLOPS_MM, "[[3,0],[0,5]]", NULL), 0);
    assert_int_equal(flops_count(FLOPS_MM, "[[3,4]]", NULL), 0);
    assert_int_equal(flops_count(FLOPS_MM, "[[[3,4],[3,4]],[4,5]]", NULL), 0);
    assert_int_equal(flops_count(FLOPS_NONE, "[[3,4],[4,5]]", NULL), 0);
}

TEST(only_seven_operators_count)
{
    assert_int_equal(flops_operator_of("aten::mm"), FLOPS_MM);
    assert_int_equal(flops_operator_of("aten::conv2d"), FLOPS_CONV2D);
    assert_int_equal(flops_operator_of("aten::mm_"), FLOPS_NONE);
    assert_int_equal(flops_operator_of("aten::convolution"), FLOPS_NONE);
    assert_int_equal(flops_operator_of(""), FLOPS_NONE);
}

static void check_shapes(const char *dims, const char *wanted)
{
    SCRATCH_BUFFER(out);
    shapes_append(&out, dims);
    assert_string_equal(out.at, wanted);
}

TEST(shapes_read_as_python_prints_them)
{
    check_shapes("[[4,3,16,16],[8],[],[]]", "[[4, 3, 16, 16], [8], [], []]");
    check_shapes("[]", "[]");
    check_shapes("[[[2,2],[3]],[5]]",
                 "[[], [5]]"); /* a list of tensors is distinguished from a tensor, and left out */
    check_shapes("[[[]],[-1]]", "[[], [-1]]");
}

/* Arguments come from files: whatever is in them, something comes back. */
TEST(broken_arguments_do_no_harm)
{
    static const char *const texts[] = { "",      "[",       "[[",     "[[1",         "[[1,",   "[[1,]",
                                         "[[1]",  "]",       "{}",     "null",        "[null]", "[\"a",
                                         "[[1a]", "[[--1]]", "[[1],,", "[[1],[2]]]]", "[\"\\" };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SCRATCH_BUFFER(out);
        shapes_append(&out, texts[i]);
        for (int op = FLOPS_NONE; op <= FLOPS_ADD; op++)
            flops_count((enum flops_operator)op, texts[i], texts[i]);
    }
    struct shape shape;
    assert_false(shape_parse("[99999999999999999999]", &shape));
    assert_false(shape_parse("[1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1]", &shape));
    assert_true(shape_parse(" [3, 4] ", &shape));
    assert_int_equal(shape.count, 2);
}
