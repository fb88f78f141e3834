/* test_csv.c - rows of comma-separated values. */

#include "tests/unit/unit.h"
#include "ingest/csv.h"

static struct csv csv_of(const char *text)
{
    return csv_open(text, strlen(text));
}

TEST(quotes_hold_commas_breaks_and_doubled_quotes)
{
    struct csv csv = csv_of("\"a\",b\n\"x, \"\"y\"\"\r\nz\",2\n\n,\n");
    assert_true(csv_header(&csv));
    assert_true(csv_next(&csv));
    assert_string_equal(csv_field(&csv, 0), "x, \"y\"\r\nz");
    assert_int_equal(csv_integer(&csv, 1, -1), 2);
    assert_true(csv_next(&csv)); /* blank lines are no rows; a comma alone is two empty fields */
    assert_int_equal(csv.fields.count, 2);
    assert_string_equal(csv_field(&csv, 1), "");
    assert_false(csv_next(&csv));
    csv_release(&csv);
}

TEST(columns_are_found_by_name_in_any_case)
{
    static const char start[] = "start_timestamp";
    struct csv csv = csv_of("Name, Start_Timestamp \nx,17\t\n");
    assert_true(csv_header(&csv) && csv_next(&csv));
    assert_int_equal(csv_column(&csv, start), 1);
    assert_true(csv_column(&csv, "End") == CSV_NO_COLUMN);
    assert_int_equal(csv_integer(&csv, csv_column(&csv, start), -1), 17); /* the tab is cut */
    assert_string_equal(csv_field(&csv, csv_column(&csv, "End")), "");
    assert_int_equal(csv_integer(&csv, CSV_NO_COLUMN, -1), -1);
    csv_release(&csv);
}

TEST(a_quote_that_is_not_closed_ends_with_the_text)
{
    struct csv csv = csv_of("a,b\n1,\"rest");
    assert_true(csv_header(&csv) && csv_next(&csv));
    assert_string_equal(csv_field(&csv, 1), "rest");
    assert_false(csv_next(&csv));
    csv_release(&csv);
}

/* Fields shorter and longer than 16 bytes, which are looked at at once; blanks alone; a NUL byte; text behind a quote. */
TEST(fields_of_every_length_are_read)
{
    static const char row[] = "0123456789abcdef0123456789,\"x,y\"z,  ,a\0b,\"0123456789abcdef,\"\"\"\n,1";
    struct csv csv = csv_open(row, sizeof row - 1);
    static const char *const fields[] = { "0123456789abcdef0123456789", "x,yz", "", "ab",
                                          "0123456789abcdef,\"" };
    assert_true(csv_next(&csv));
    assert_int_equal(csv.fields.count, 5);
    for (size_t i = 0; i < 5; i++)
        assert_string_equal(csv_field(&csv, i), fields[i]);
    assert_int_equal(csv_integer(&csv, 2, -1), -1);
    assert_true(csv_next(&csv));
    assert_int_equal(csv_integer(&csv, 1, -1), 1);
    csv_release(&csv);
}

/* Rows of every length, so that each byte of a block is once a quote, a comma, a line end. */
TEST(rows_are_read_across_blocks)
{
    SCRATCH_BUFFER(text);
    enum { ROWS = 200 };
    for (int i = 0; i < ROWS; i++) {
        buffer_printf(&text, "\"%0*d\",\"a\"\"%*s\"\"\"\"b\",%d,\"\",x\"y%s", i + 1, i, i % 5, "", i,
                      i % 3 ? "\r\n" : "\n");
        if (i % 50 == 49)
            buffer_puts(&text, "\"q\"z,2,3,4,5\n");
    }
    struct csv csv = csv_open(text.at, text.count);
    for (int i = 0; i < ROWS; i++) {
        SCRATCH_BUFFER(wanted);
        char name[32];
        buffer_printf(&wanted, "%0*d", i + 1, i);
        snprintf(name, sizeof name, "a\"%*s\"\"b", i % 5, "");
        assert_true(csv_next(&csv));
        assert_int_equal(csv.fields.count, 5);
        assert_string_equal(csv_field(&csv, 0), wanted.at);
        assert_string_equal(csv_field(&csv, 1), name);
        assert_int_equal(csv_integer(&csv, 2, -1), i);
        assert_string_equal(csv_field(&csv, 3), "");
        assert_string_equal(csv_field(&csv, 4), "x\"y");
        if (i % 50 == 49) {
            assert_true(csv_next(&csv)); /* text behind a quote is kept */
            assert_string_equal(csv_field(&csv, 0), "qz");
            assert_int_equal(csv_integer(&csv, 4, -1), 5);
        }
    }
    assert_false(csv_next(&csv));
    csv_release(&csv);
}
