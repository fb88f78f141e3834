/* test_torch_text.c - report/torch.h: torch's text, to the last blank. */
#include "tests/unit/unit.h"
#include "report/torch.h"

SCRATCH_OF(table)

/* The columns torch's text is made of, as `tpa top` has them. */
static const struct table_column columns[] = {
    { "name", "Name", TABLE_NAME, "" },
    { "device_type", "", TABLE_TEXT, "" },
    { "is_user_annotation", "", TABLE_BOOL, "" },
    { "is_async", "", TABLE_BOOL, "" },
    { "is_top_level", "", TABLE_BOOL, "" },
    { "count", "", TABLE_COUNT, "" },
    { "flops", "", TABLE_FLOPS, "" },
    { "cpu_memory_usage", "", TABLE_BYTES, "" },
    { "self_cpu_memory_usage", "", TABLE_BYTES, "" },
    { "device_memory_usage", "", TABLE_BYTES, "" },
    { "self_device_memory_usage", "", TABLE_BYTES, "" },
    { "torch_cpu_time_total", "", TABLE_NUMBER, "" },
    { "torch_self_cpu_time_total", "", TABLE_NUMBER, "" },
    { "torch_device_time_total", "", TABLE_NUMBER, "" },
    { "torch_self_device_time_total", "", TABLE_NUMBER, "" },
    { "torch_cpu_time", "", TABLE_NUMBER, "" },
    { "torch_device_time", "", TABLE_NUMBER, "" },
    { "input_shapes", "", TABLE_TEXT, "" },
    { "source_location", "", TABLE_TEXT, "" },
};
enum { COLUMNS = sizeof columns / sizeof *columns };

struct row {
    const char *name, *device, *shapes, *stack;
    bool annotation, async, called;
    int64_t count, flops, bytes;
    double cpu_us, self_cpu_us, device_us, self_device_us;
};

static struct table *table_of(const struct row *rows, size_t count)
{
    struct table *table = scratch_table(table_open("operators", "Operators", columns, COLUMNS));
    for (size_t i = 0; i < count; i++) {
        const struct row *row = &rows[i];
        const char *device = row->device ? row->device : "CPU";
        size_t at = table_add_row(table);
        table_set_text(table, at, 0, row->name, strlen(row->name));
        table_set_text(table, at, 1, device, strlen(device));
        table_set_int(table, at, 2, row->annotation);
        table_set_int(table, at, 3, row->async);
        table_set_int(table, at, 4, !row->called);
        table_set_int(table, at, 5, row->count);
        table_set_int(table, at, 6, row->flops);
        for (size_t column = 7; column < 11; column++)
            table_set_int(table, at, column, row->bytes);
        table_set_number(table, at, 11, row->cpu_us);
        table_set_number(table, at, 12, row->self_cpu_us);
        table_set_number(table, at, 13, row->device_us);
        table_set_number(table, at, 14, row->self_device_us);
        table_set_number(table, at, 15, row->cpu_us / (double)row->count);
        table_set_number(table, at, 16, row->device_us / (double)row->count);
        if (row->shapes)
            table_set_text(table, at, 17, row->shapes, strlen(row->shapes));
        if (row->stack)
            table_set_text(table, at, 18, row->stack, strlen(row->stack));
    }
    return table;
}

static void check(const struct row *rows, size_t count, struct torch_options options, const char *wanted)
{
    struct table *table = table_of(rows, count);
    SCOPED char *text = NULL;
    size_t len = 0;
    FILE *out = open_memstream(&text, &len);
    options.device_name = "CUDA";
    assert_true(torch_print(table, &options, out, NULL));
    fclose(out);
    assert_string_equal(text, wanted);
}

static const struct row two[] = {
    { .name = "aten::mm", .count = 3, .cpu_us = 1234.5678, .self_cpu_us = 1000 },
    { .name = "aten::t", .count = 1, .cpu_us = 234.5678, .self_cpu_us = 234.5678, .called = true },
};

/* Totals are of all rows, also of those not printed; so are widths. */
TEST(columns_are_twelve_wide_and_two_apart)
{
    check(
        two, 2, (struct torch_options){ .row_limit = -1 },
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "    aten::mm        81.00%       1.000ms       100.00%       1.235ms     411.523us             3  \n"
        "     aten::t        19.00%     234.568us        19.00%     234.568us     234.568us             1  \n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "Self CPU time total: 1.235ms\n");
    check(
        two, 2, (struct torch_options){ .row_limit = 1, .time_unit = "us" },
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "    aten::mm        81.00%    1000.000us       100.00%    1234.568us     411.523us             3  \n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "Self CPU time total: 1234.568us\n");
}

TEST(top_level_leaves_out_what_was_called)
{
    check(
        two, 2, (struct torch_options){ .row_limit = -1, .top_level_only = true },
        "================================================================================================\n"
        "This report only display top-level ops statistics\n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "        Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  \n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "    aten::mm        81.00%       1.000ms       100.00%       1.235ms     411.523us             3  \n"
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "Self CPU time total: 1.235ms\n");
}

/* The whole of the device's shares leaves annotations out; an asynchronous row has no share of its total. */
TEST(device_and_memory_columns_come_when_there_is_something_in_them)
{
    const struct row rows[] = {
        { .name = "nccl:op", .count = 1, .cpu_us = 2e6, .async = true, .bytes = -2048 },
        { .name = "gemm", .device = "CUDA", .count = 2, .device_us = 30, .self_device_us = 30, .bytes = 1 },
        { .name = "step",
          .device = "CUDA",
          .count = 1,
          .device_us = 60,
          .self_device_us = 60,
          .annotation = true },
    };
    check(
        rows, 3, (struct torch_options){ .row_limit = -1, .profile_memory = true, .uses_device = true },
        "-----------  ------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  \n"
        "       Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg     Self CUDA  "
        " Self CUDA %    CUDA total  CUDA time avg       CPU Mem  Self CPU Mem      CUDA Mem  Self CUDA Mem  "
        "  # of Calls  \n"
        "-----------  ------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  \n"
        "    nccl:op           NaN       0.000us             0        2.000s        2.000s       0.000us  "
        "       0.00%       0.000us       0.000us      -2.00 KB      -2.00 KB      -2.00 KB      -2.00 KB  "
        "           1  \n"
        "       gemm           NaN       0.000us           NaN       0.000us       0.000us      30.000us  "
        "     100.00%      30.000us      15.000us           1 B           1 B           1 B           1 B  "
        "           2  \n"
        "       step           NaN       0.000us           NaN       0.000us       0.000us      60.000us  "
        "     200.00%      60.000us      60.000us           0 B           0 B           0 B           0 B  "
        "           1  \n"
        "-----------  ------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  ------------  ------------  ------------  ------------  "
        "------------  \n"
        "Self CPU time total: 0.000us\n"
        "Self CUDA time total: 30.000us\n");
}

/* Names of 52 characters (not bytes) and more are cut; a column is at most 55 wide. */
TEST(long_names_are_cut_in_characters)
{
    struct row row = { .count = 1, .cpu_us = 1, .self_cpu_us = 1 };
    row.name = "\xc3\xa9"
               "234567890123456789012345678901234567890123456789012345";
    check(
        &row, 1, (struct torch_options){ .row_limit = -1 },
        "-------------------------------------------------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  \n"
        "                                                   Name    Self CPU %      Self CPU   CPU total %  "
        "   CPU total  CPU time avg    # of Calls  \n"
        "-------------------------------------------------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  \n"
        "\xc3\xa9"
        "234567890123456789012345678901234567890123456789012...       100.00%       1.000us       100.00%  "
        "     1.000us       1.000us             1  \n"
        "-------------------------------------------------------  ------------  ------------  ------------  "
        "------------  ------------  ------------  \n"
        "Self CPU time total: 1.000us\n");
}

/*
 * The unit of FLOPs is that of the smallest. With stacks as well torch puts each of the two cells under the
 * heading of the other; further frames and an empty line follow every row.
 */
TEST(stacks_and_flops_change_places)
{
    const struct row rows[] = {
        { .name = "mm",
          .count = 1,
          .cpu_us = 1,
          .self_cpu_us = 1,
          .flops = 2500000,
          .stack = "a.py(1): f;b.py(2): g" },
        { .name = "t", .count = 1, .cpu_us = 1, .self_cpu_us = 1 },
    };
    check(rows, 2, (struct torch_options){ .row_limit = -1, .with_flops = true },
          "------  ------------  ------------  ------------  ------------  ------------  ------------  "
          "--------------  ------------  \n"
          "  Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  "
          "Source Location  Total MFLOPs  \n"
          "------  ------------  ------------  ------------  ------------  ------------  ------------  "
          "--------------  ------------  \n"
          "    mm        50.00%       1.000us        50.00%       1.000us       1.000us             1  "
          "   2.500          a.py(1): f  \n"
          "                                                                                            "
          "                  b.py(2): g  \n"
          "                                                                                            "
          "                              \n"
          "     t        50.00%       1.000us        50.00%       1.000us       1.000us             1  "
          "--                            \n"
          "                                                                                            "
          "                              \n"
          "------  ------------  ------------  ------------  ------------  ------------  ------------  "
          "--------------  ------------  \n"
          "Self CPU time total: 2.000us\n");
}

TEST(shapes_are_cut_at_eighty)
{
    struct row row = { .name = "mm", .count = 1, .cpu_us = 1, .self_cpu_us = 1, .shapes = "[[2, 3]]" };
    check(
        &row, 1, (struct torch_options){ .row_limit = -1 },
        "------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "  Name    Self CPU %      Self CPU   CPU total %     CPU total  CPU time avg    # of Calls  Input Shapes  \n"
        "------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "    mm       100.00%       1.000us       100.00%       1.000us       1.000us             1      [[2, 3]]  \n"
        "------  ------------  ------------  ------------  ------------  ------------  ------------  ------------  \n"
        "Self CPU time total: 1.000us\n");
}

TEST(no_rows_no_text)
{
    check(NULL, 0, (struct torch_options){ .row_limit = -1 }, "");
}

/* Another table has not what it takes: an error, not a crash. */
TEST(other_tables_are_refused)
{
    struct table *table = scratch_table(table_open("other", NULL, columns, 1));
    struct tpa_error err = { 0 };
    table_add_row(table);
    assert_false(torch_print(table, &(struct torch_options){ .device_name = "CUDA" }, stdout, &err));
    assert_non_null(strstr(err.message, "device_type"));
}
