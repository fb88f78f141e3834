/* test_table.c - base/table.h: missing is not zero, sorting is stable, rows move as a whole. */
#include "tests/unit/scratch.h"

#include <math.h>

SCRATCH_OF(table)

/* clang-format off */
static const struct table_column columns[] = {
    { "name",           "Name",   TABLE_NAME,   "what ran",  0, NULL },
    { "count",          "Calls",  TABLE_COUNT,  "how often", 0, "calls  n" },
    { "cuda_time",      "CUDA",   TABLE_NS,     "on the GPU", TABLE_OPTIONAL, "device_time gpu_time" },
    { "start",          "Start",  TABLE_MOMENT, "first",     TABLE_HIDDEN, NULL },
    { "share",          "Share",  TABLE_SHARE,  "of all",    0, NULL },
    { "device_time",    "Device", TABLE_NS,     "a key that is an alias above", 0, NULL },
};
/* clang-format on */
enum { NAME, COUNT, CUDA, START, SHARE, DEVICE, COLUMNS };

static struct table *open_table(void)
{
    return scratch_table(table_open("things", "Things", columns, COLUMNS));
}

/* A row with NAME, and the figure I (missing: TABLE_INT_MISSING) in COLUMN. */
static void add(struct table *table, const char *name, size_t column, int64_t i)
{
    size_t row = table_add_row(table);
    table_set_text(table, row, NAME, name, strlen(name));
    table_set_int(table, row, column, i);
}

static void check_names(const struct table *table, const char *wanted)
{
    char got[256] = "";
    for (size_t row = 0; row < table->row_count; row++) {
        const char *name = table_cell(table, row, NAME)->text.at;
        strcat(got, name ? name : "-");
        strcat(got, " ");
    }
    assert_string_equal(got, wanted);
}

TEST(new_cells_are_missing)
{
    struct table *table = open_table();
    size_t row = table_add_row(table);
    for (size_t column = 0; column < COLUMNS; column++)
        assert_true(table_is_missing(table, row, column));
    table_set_int(table, row, COUNT, 0);
    table_set_number(table, row, SHARE, 0);
    table_set_text(table, row, NAME, "", 0);
    assert_false(table_is_missing(table, row, COUNT));
    assert_false(table_is_missing(table, row, SHARE));
    assert_false(table_is_missing(table, row, NAME));
    table_set_text(table, row, NAME, NULL, 0);
    assert_true(table_is_missing(table, row, NAME));
}

TEST(text_is_copied_with_its_nuls)
{
    struct table *table = open_table();
    char text[] = "a\0b";
    size_t row = table_add_row(table);
    table_set_text(table, row, NAME, text, 3);
    text[0] = 'x';
    assert_int_equal(table_cell(table, row, NAME)->text.len, 3);
    assert_memory_equal(table_cell(table, row, NAME)->text.at, "a\0b", 4);
}

static int find(const struct table *table, const char *key)
{
    return table_find_column(table, key, strlen(key));
}

/* A long text that many rows have costs as much as one. */
TEST(long_texts_are_held_once)
{
    static char text[2000];
    memset(text, 'x', sizeof text);
    struct table *table = open_table();
    for (size_t i = 0; i < 3; i++) {
        table_add_row(table);
        table_set_text(table, i, 0, text, i < 2 ? 1999 : 2000);
    }
    text[0] = 'y';
    assert_ptr_equal(table_cell(table, 0, 0)->text.at, table_cell(table, 1, 0)->text.at);
    assert_ptr_not_equal(table_cell(table, 0, 0)->text.at, table_cell(table, 2, 0)->text.at);
    assert_int_equal(table_cell(table, 1, 0)->text.len, 1999);
    assert_int_equal(strlen(table_cell(table, 1, 0)->text.at), 1999);
    assert_int_equal(table_cell(table, 2, 0)->text.at[0], 'x');
}

TEST(columns_are_found_by_key_json_key_and_alias)
{
    struct table *table = open_table();
    assert_int_equal(find(table, "name"), NAME);
    assert_int_equal(find(table, "cuda_time"), CUDA);
    assert_int_equal(find(table, "cuda_time_ns"), CUDA);
    assert_int_equal(find(table, "gpu_time"), CUDA);
    assert_int_equal(find(table, "n"), COUNT);
    assert_int_equal(find(table, "device_time"), DEVICE); /* keys win over aliases */
    assert_int_equal(find(table, "count_ns"), -1);        /* not a time */
    assert_int_equal(find(table, "cuda_tim"), -1);
    assert_int_equal(find(table, "gpu"), -1);
    assert_int_equal(find(table, ""), -1);
}

TEST(figures_sort_from_large_to_small_and_stably)
{
    struct table *table = open_table();
    add(table, "a", COUNT, 1);
    add(table, "b", COUNT, TABLE_INT_MISSING);
    add(table, "c", COUNT, 7);
    add(table, "d", COUNT, 1);
    add(table, "e", COUNT, INT64_MIN + 1);
    add(table, "f", COUNT, INT64_MAX);
    add(table, "g", COUNT, -1);
    add(table, "h", COUNT, 7);
    assert_int_equal(table->sort_column, TABLE_NO_COLUMN);
    table_sort(table, COUNT, false);
    check_names(table, "f c h a d g e b ");
    assert_int_equal(table->sort_column, COUNT);
    table_sort(table, COUNT, true);
    check_names(table, "e g a d c h f b ");
}

TEST(moments_sort_from_early_to_late)
{
    struct table *table = open_table();
    add(table, "late", START, 9);
    add(table, "never", START, TABLE_INT_MISSING);
    add(table, "early", START, -9);
    table_sort(table, START, false);
    check_names(table, "early late never ");
    table_sort(table, START, true);
    check_names(table, "late early never ");
}

TEST(doubles_sort_with_both_zeros_equal_and_nan_last)
{
    static const double values[] = { 0.0, NAN, -0.0, 0.5, -INFINITY, -1e-300, INFINITY, 0.0 };
    struct table *table = open_table();
    for (size_t i = 0; i < 8; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, NAME, (char[]){ (char)('a' + i) }, 1);
        table_set_number(table, row, SHARE, values[i]);
    }
    table_sort(table, SHARE, false);
    check_names(table, "g d a c h f e b ");
    table_sort(table, SHARE, true);
    check_names(table, "e f a c h d g b ");
}

TEST(texts_sort_bytewise_beyond_their_first_eight_bytes)
{
    struct table *table = open_table();
    static const char *const names[] = {
        "aten::mm_out", "aten::mm", "", "aten::mm_", "\xff\xff\xff\xff\xff\xff\xff\xff", "Aten"
    };
    for (size_t i = 0; i < 6; i++)
        add(table, names[i], COUNT, (int64_t)i);
    table_add_row(table);
    table_sort(table, NAME, false);
    check_names(table, " Aten aten::mm aten::mm_ aten::mm_out \xff\xff\xff\xff\xff\xff\xff\xff - ");
    table_sort(table, NAME, true);
    check_names(table, "\xff\xff\xff\xff\xff\xff\xff\xff aten::mm_out aten::mm_ aten::mm Aten  - ");
}

/* Against the definition: each row's figure is at least the next one's, and equal ones keep their order. */
TEST(sorting_many_rows_keeps_every_row_whole)
{
    enum { ROWS = 10007 };
    struct table *table = open_table();
    uint32_t random = 1;
    for (int64_t i = 0; i < ROWS; i++) {
        random = random * 1664525 + 1013904223;
        size_t row = table_add_row(table);
        table_set_int(table, row, COUNT, random >> 24);
        table_set_int(table, row, CUDA, i);
        table_set_int(table, row, DEVICE, i * 3 + (random >> 24));
    }
    table_sort(table, COUNT, false);
    for (size_t row = 0; row < ROWS; row++) {
        int64_t count = table_cell(table, row, COUNT)->i, i = table_cell(table, row, CUDA)->i;
        assert_int_equal(table_cell(table, row, DEVICE)->i, i * 3 + count);
        if (row + 1 < ROWS) {
            int64_t next_count = table_cell(table, row + 1, COUNT)->i;
            int64_t next_i = table_cell(table, row + 1, CUDA)->i;
            assert_true(count > next_count || (count == next_count && i < next_i));
        }
    }
    table_sort(table, CUDA, true); /* back to where they were */
    for (size_t row = 0; row < ROWS; row++)
        assert_int_equal(table_cell(table, row, CUDA)->i, row);
}

TEST(truncating_remembers_how_many_rows_there_were_and_filtering_does_not)
{
    struct table *table = open_table();
    for (int i = 0; i < 5; i++)
        add(table, (char[]){ (char)('a' + i), 0 }, COUNT, i);
    table_filter(table, (bool[]){ true, false, true, true, false });
    check_names(table, "a c d ");
    assert_int_equal(table->total_rows, 3);
    table_truncate(table, 9);
    assert_int_equal(table->row_count, 3);
    table_truncate(table, 1);
    check_names(table, "a ");
    assert_int_equal(table->total_rows, 3);
}

TEST(selecting_columns_moves_cells_and_makes_them_plain)
{
    struct table *table = open_table();
    for (int i = 0; i < 20; i++) {
        add(table, "x", COUNT, i);
        table_set_int(table, (size_t)i, CUDA, 100 + i);
    }
    table_sort(table, COUNT, true);
    table_select(table, (size_t[]){ CUDA, COUNT, CUDA, NAME }, 4);
    assert_int_equal(table->column_count, 3);
    assert_string_equal(table->columns[0].key, "cuda_time");
    assert_int_equal(table->columns[0].flags, 0);
    assert_int_equal(table->sort_column, 1);
    for (size_t row = 0; row < 20; row++) {
        assert_int_equal(table_cell(table, row, 0)->i, 100 + row);
        assert_int_equal(table_cell(table, row, 1)->i, row);
        assert_string_equal(table_cell(table, row, 2)->text.at, "x");
    }
    for (int i = 0; i < 50; i++)
        table_set_int(table, table_add_row(table), 1, i);
    table_select(table, (size_t[]){ 2 }, 1);
    assert_int_equal(table->sort_column, TABLE_NO_COLUMN);
    assert_true(table_is_missing(table, 69, 0));
}

TEST(an_arena_takes_over_what_another_handed_out)
{
    struct arena into = { 0 }, from = { 0 };
    const char *first = arena_strndup(&into, "first", 5), *second = arena_strndup(&from, "second", 6);
    char *large = arena_alloc(&from, 5 << 20); /* a block of its own */
    large[0] = 'x';
    arena_adopt(&into, &from);
    assert_null(from.blocks);
    const char *third = arena_strndup(&into, "third", 5);
    assert_string_equal(first, "first");
    assert_string_equal(second, "second");
    assert_string_equal(third, "third");
    arena_adopt(&from, &into);
    assert_string_equal(second, "second");
    arena_clear(&from);
    assert_string_equal(arena_strndup(&from, "again", 5), "again");
    arena_release(&from);
    arena_clear(&from); /* nothing to do */
}

TEST(a_result_owns_tables_and_notices)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    result_add_table(result, table_open("things", "Things", columns, COLUMNS));
    char file[] = "run.json";
    result_add_notice(result, "cut", 3, file, 123, "%d events %s", 3, "went missing");
    result_add_notice(result, "other", 1, NULL, TPA_NOWHERE, "%s", "");
    file[0] = 'x';
    assert_int_equal(result->tables.count, 1);
    assert_int_equal(result->notices.count, 2);
    assert_string_equal(result->notices.at[0].text, "3 events went missing");
    assert_string_equal(result->notices.at[0].file, "run.json");
    assert_null(result->notices.at[1].file);
}

TEST(text_footers_are_copied)
{
    struct table *table = scratch_table(table_open("about", NULL, NULL, 0));
    char text[] = "Kineto";
    table_add_text_footer(table, "producer", "Producer", text, 6);
    table_add_footer(table, "events", "Events", TABLE_COUNT, table_int(5));
    text[0] = 'x';
    assert_string_equal(table->footers.at[0].value.text.at, "Kineto");
    assert_int_equal(table->footers.at[1].value.i, 5);
}

TEST(hidden_columns_are_taken_away_and_others_stay_as_they_are)
{
    static const struct table_column three[] = {
        { "a", "A", TABLE_COUNT, "first", TABLE_HIDDEN, NULL },
        { "b", "B", TABLE_COUNT, "second", TABLE_OPTIONAL, NULL },
        { "c", "C", TABLE_COUNT, "third", 0, NULL },
    };
    struct table *table = scratch_table(table_open("t", NULL, three, 3));
    for (int64_t value = 0; value < 2; value++) {
        size_t row = table_add_row(table);
        table_set_int(table, row, 0, 10 + value);
        table_set_int(table, row, 1, 20 + value);
        table_set_int(table, row, 2, 30 + value);
    }
    table_sort(table, 2, false);
    table_drop_hidden(table);
    assert_int_equal(table->column_count, 2);
    assert_string_equal(table->columns[0].key, "b");
    assert_int_equal(table->columns[0].flags, TABLE_OPTIONAL);
    assert_int_equal(table->columns[1].flags, 0);
    assert_int_equal(table_cell(table, 0, 0)->i, 21);
    assert_int_equal(table_cell(table, 0, 1)->i, 31);
    assert_int_equal(table->sort_column, 1);
}

TEST(figures_that_were_computed_are_rounded_and_what_is_none_is_missing)
{
    struct table *table = open_table();
    size_t row = table_add_row(table);
    table_set_figure(table, row, COUNT, 2.5);
    table_set_figure(table, row, CUDA, -1e18 - 0.4);
    table_set_figure(table, row, SHARE, 0.25);
    assert_int_equal(table_cell(table, row, COUNT)->i, 3);
    assert_true(table_cell(table, row, CUDA)->i == -INT64_C(1000000000000000000));
    assert_true(table_cell(table, row, SHARE)->f == 0.25);
    static const double none[] = { NAN, INFINITY, -INFINITY };
    for (size_t i = 0; i < 3; i++) {
        table_set_figure(table, row, COUNT, none[i]);
        table_set_figure(table, row, SHARE, none[i]);
        assert_true(table_is_missing(table, row, COUNT) && table_is_missing(table, row, SHARE));
    }
    table_set_figure(table, row, CUDA, 1e300); /* no integer of 64 bits */
    assert_true(table_is_missing(table, row, CUDA));
}
