/* test_saved.c - ingest/saved.h: what is printed as JSON is read back exactly, and nothing else is taken for it. */

#include "tests/unit/scratch.h"
#include "ingest/saved.h"
#include "report/printer.h"

SCRATCH_OF(source)

static struct result *read_text(const char *text, struct tpa_error *err)
{
    struct source *source = scratch_source(source_open_memory(text, strlen(text), "test", err));
    struct result *result = scratch_result(saved_read(source, err));
    return result;
}

static char *print(const struct result *result)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(printer_find("json")->print(result, &(struct print_options){ 0 }, out, NULL));
    fclose(out);
    return text;
}

/* clang-format off */
static const struct table_column columns[] = {
    { "name", "Name", TABLE_NAME, "help", 0, NULL },
    { "text", "Text", TABLE_TEXT, "", TABLE_OPTIONAL, NULL },
    { "time", "Time", TABLE_NS, "", 0, NULL },
    { "begin", "Begin", TABLE_MOMENT, "", 0, NULL },
    { "size", "Size", TABLE_BYTES, "", 0, NULL },
    { "count", "Count", TABLE_COUNT, "", 0, NULL },
    { "flops", "FLOPs", TABLE_FLOPS, "", 0, NULL },
    { "share", "Share", TABLE_SHARE, "", 0, NULL },
    { "number", "Number", TABLE_NUMBER, "", 0, NULL },
    { "flag", "Flag", TABLE_BOOL, "", 0, NULL },
};
/* clang-format on */

/* Every kind, the ends of their ranges, what is missing, and names that need escaping. */
static struct result *every_kind(void)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("everything", "All \"kinds\"", columns, 10);
    static const char *const names[] = { "plain", "", "q\"\\\n\t\x01\x1b[31m",
                                         "\xc3\xa4\xf0\x9f\x98\x80\xe2\x80\xae" };
    static const int64_t integers[] = { 0, INT64_MAX, INT64_MIN + 1, -1 };
    static const double doubles[] = { 0, 0.1, 1e-300, 123456789.12345678 };
    for (size_t i = 0; i < 4; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, 0, names[i], strlen(names[i]));
        table_set_text(table, row, 1, names[3 - i], strlen(names[3 - i]));
        for (size_t c = 2; c <= 6; c++)
            table_set_int(table, row, c, integers[(i + c) % 4]);
        table_set_number(table, row, 7, doubles[i]);
        table_set_number(table, row, 8, -doubles[3 - i]);
        table_set_int(table, row, 9, (int64_t)i % 2);
    }
    table_add_row(table); /* all of it missing */
    table_add_footer(table, "total", "Total", TABLE_NS, table_int(INT64_MAX));
    table_add_footer(table, "ratio", "Ratio", TABLE_SHARE, table_number(0.25));
    table_add_text_footer(table, "why", "Why", names[2], strlen(names[2]));
    table_truncate(table, 5);
    table->total_rows = 12;
    result_add_table(result, table);
    result_add_table(result, table_open("none", NULL, columns, 2));
    struct table *list = table_open("list", "Figures", NULL, 0);
    table_add_footer(list, "steps", "Steps", TABLE_COUNT, table_int(4));
    result_add_table(result, list);
    result_add_notice(result, "odd", 3, "a \"file\"", 17, "a sentence");
    result_add_notice(result, "other", 0, NULL, TPA_NOWHERE, "another");
    return result;
}

TEST(what_was_printed_is_read_exactly)
{
    struct tpa_error err = { 0 };
    struct result *result = every_kind();
    char *text = scratch_heap(print(result));
    struct result *again = read_text(text, &err);
    if (!again)
        fail_msg("%s at %lld", err.message, (long long)err.offset);
    char *printed = scratch_heap(print(again));
    assert_string_equal(printed, text);
    assert_string_equal(again->schema, "tpa.test/1");
    const struct table *table = again->tables.at[0];
    assert_int_equal(table->total_rows, 12);
    assert_string_equal(table->columns[2].key, "time");
    assert_int_equal(table_cell(table, 2, 2)->i, 0);
    assert_int_equal(table_cell(table, 0, 3)->i, -1);
    assert_int_equal(table_cell(table, 0, 5)->i, INT64_MAX);
    assert_true(table_cell(table, 1, 7)->f == 0.1);
    assert_true(table_is_missing(table, 4, 0) && table_is_missing(table, 4, 7) &&
                table_is_missing(table, 4, 9));
    assert_int_equal(saved_sniff(text, strlen(text)), 100);
}

#define HEAD "{\"schema\": \"tpa.x/1\", \"tables\": [{\"key\": \"t\", \"title\": null, \"columns\": ["
#define NAME "{\"key\": \"name\", \"kind\": \"name\", \"title\": \"N\", \"help\": \"\"}"
#define TIME "{\"key\": \"t_ns\", \"kind\": \"ns\", \"title\": \"T\", \"help\": \"\"}"
#define TAIL "], \"total_rows\": 1, \"footer\": {}}], \"notices\": []}"

static const struct {
    const char *text, *message;
} broken[] = {
    { "", "the file is empty" },
    { "[]", "'[' where a saved result was expected" },
    { "{\"schema\": \"tpa.x/1\", \"tables\": [", "the saved result ends where a value or ']' was expected" },
    { "{\"schema\": \"other/1\"}", "this is not a result that tpa saved" },
    { "{\"schema\": \"tpa.x/2\"}", "the result was saved as tpa.x/2, and this tpa knows version 1 of it" },
    { "{\"schema\": 7}", "'7' where the name of a schema was expected" },
    { "{\"schema\": \"tpa.x/1\", \"tables\": [{\"rows\": []}]}",
      "'[' where the columns before the rows was expected" },
    { "{\"schema\": \"tpa.x/1\", \"tables\": [{}]}",
      "']' where a table with columns before this was expected" },
    { HEAD "{\"key\": \"n\", \"kind\": \"wrong\"}], \"rows\": [" TAIL,
      "'\"' where the kind of a column, such as \"ns\" was expected" },
    { HEAD "{\"key\": \"n\"}], \"rows\": [" TAIL,
      "']' where a column with key and kind before this was expected" },
    { HEAD "{\"key\": \"t\", \"kind\": \"ns\"}], \"rows\": [" TAIL,
      "']' where a key that ends in _ns, for a column of times, before this was expected" },
    { HEAD NAME "], \"rows\": [{\"other\": \"x\"}" TAIL, "this row has no \"name\" where it was expected" },
    { HEAD NAME "], \"rows\": [{}" TAIL, "this row has no \"name\" where it was expected" },
    { HEAD NAME "], \"rows\": [{\"name\": \"x\", \"more\": 1}" TAIL, "this row has more than its columns" },
    { HEAD NAME "], \"rows\": [{\"name\": 5}" TAIL, "'5' where a string was expected" },
    { HEAD TIME "], \"rows\": [{\"t_ns\": 1.5}" TAIL, "'1' where an integer was expected" },
    { HEAD TIME "], \"rows\": [{\"t_ns\": 9223372036854775808}" TAIL, "'9' where an integer was expected" },
    { HEAD TIME "], \"rows\": [{\"t_ns\": -9223372036854775808}" TAIL, "'-' where an integer was expected" },
    { HEAD TIME "], \"rows\": [{\"t_ns\": 18446744073709551615}" TAIL, "'1' where an integer was expected" },
    { HEAD TIME "], \"rows\": [{\"t_ns\": \"1\"}" TAIL, "'\"' where an integer was expected" },
    { HEAD TIME "], \"rows\": [{\"t_ns\": 1", "the saved result ends where a key or '}' was expected" },
};

TEST(what_is_damaged_is_refused)
{
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        struct tpa_error err = { 0 };
        struct result *result = read_text(broken[i].text, &err);
        if (result)
            fail_msg("%s was read", broken[i].text);
        if (strcmp(err.message, broken[i].message) != 0)
            fail_msg("%s: %s, not %s", broken[i].text, err.message, broken[i].message);
    }
}

/* However it is cut, the answer is an error and never half a result. */
TEST(what_is_cut_anywhere_is_refused)
{
    struct result *result = every_kind();
    char *text = scratch_heap(print(result));
    size_t len = strlen(text);
    while (text[len - 1] == '\n')
        len--;
    for (size_t cut = 0; cut < len; cut++) {
        struct tpa_error err = { 0 };
        struct source *source = scratch_source(source_open_memory(text, cut, "test", &err));
        assert_null(saved_read(source, &err));
        assert_true(err.failed);
    }
}

TEST(traces_are_not_taken_for_results)
{
    static const char *const others[] = {
        "{\"schemaVersion\": 1, \"traceEvents\": []}", "[]", "", "{", "{\"schema\": \"tp", "{\"schema\": 1}"
    };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        assert_int_equal(saved_sniff(others[i], strlen(others[i])), 0);
    assert_int_equal(saved_sniff("\n{ \"schema\" : \"tpa.", 19), 100);
}
