/*
 * test_printers.c - report/printer.h: hand-made tables through every printer, whole texts compared; and hostile tables
 * in terminals of many widths, where every line must fit.
 */
#include "tests/unit/scratch.h"
#include "report/page.h"
#include "base/unicode.h"
#include "tests/unit/hostile_text.h"

#include <math.h>

/* clang-format off */
static const struct table_column columns[] = {
    { "name",   "Name",   TABLE_NAME,   "what ran" },
    { "time",   "Time",   TABLE_NS,     "how long" },
    { "share",  "Share",  TABLE_SHARE,  "of \"all\"" },
    { "bytes",  "Bytes",  TABLE_BYTES,  "moved" },
    { "count",  "Calls",  TABLE_COUNT,  "how often" },
    { "user",   "User",   TABLE_BOOL,   "by the user" },
    { "shapes", "Shapes", TABLE_TEXT,   "of the inputs", TABLE_OPTIONAL },
    { "secret", "Secret", TABLE_COUNT,  "for other columns", TABLE_HIDDEN },
};
/* clang-format on */
enum { NAME, TIME, SHARE, BYTES, COUNT, USER, SHAPES, SECRET, COLUMNS };

static struct result *small_result(void)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("operators", "Operators", columns, COLUMNS);
    size_t row = table_add_row(table);
    table_set_text(table, row, NAME, "aten::mm", 8);
    table_set_int(table, row, TIME, 362845500);
    table_set_number(table, row, SHARE, 0.75);
    table_set_int(table, row, BYTES, 1536);
    table_set_int(table, row, COUNT, 3);
    table_set_int(table, row, USER, 1);
    table_set_text(table, row, SHAPES, "[[2, 3]]", 8);
    table_set_int(table, row, SECRET, 99);
    row = table_add_row(table);
    table_set_text(table, row, NAME, "a|b", 3);
    table_set_int(table, row, TIME, INT64_MIN + 1);
    table_set_number(table, row, SHARE, NAN);
    table_set_int(table, row, COUNT, 0);
    table_set_int(table, row, USER, 0);
    table_add_row(table);
    table_add_row(table);
    table_truncate(table, 3);
    table_add_footer(table, "total_time", "Total time", TABLE_NS, table_int(483794000));
    table_add_footer(table, "n", "Rows", TABLE_COUNT, table_int(TABLE_INT_MISSING));
    result_add_table(result, table);
    result_add_notice(result, "unlinked", 2, "run.json", 17, "kernels without a launch");
    result_add_notice(result, "odd", 1, NULL, TPA_NOWHERE, "all is well");
    return result;
}

/* What PRINTER makes of RESULT; new. */
static char *printed_by(const struct printer *printer, const struct result *result,
                        const struct print_options *options)
{
    char *text = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&text, &size);
    assert_true(printer->print(result, options, out, NULL));
    assert_int_equal(fclose(out), 0);
    assert_int_equal(strlen(text), size); /* no NUL gets out */
    return text;
}

static char *printed(const char *printer, const struct result *result, const struct print_options *options)
{
    return printed_by(printer_find(printer), result, options);
}

static void check(const char *printer, struct result *result, const struct print_options *options,
                  const char *wanted)
{
    char *text = scratch_heap(printed(printer, result, options));
    assert_string_equal(text, wanted);
}

static const struct print_options plain = { 0 };

/* Two kernels that differ only inside of what has to go; the second has two rows, and a name that fits is left alone. */
TEST(names_that_look_the_same_when_shortened_say_what_they_differ_in)
{
    static const char *const names[] = { "gemm_kernel<float, 128, 64, 8>(Params<4>)",
                                         "gemm_kernel<float, 256, 64, 8>(Params<4>)", "gemm_kernel",
                                         "gemm_kernel<float, 256, 64, 8>(Params<4>)",
                                         "gemm_kernel<float, 512, 64, 8>(Params<4>)" };
    static const struct table_column two[] = { { "name", "Name", TABLE_NAME, "", 0, NULL },
                                               { "count", "Calls", TABLE_COUNT, "", 0, NULL } };
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("kernels", NULL, two, 2);
    for (int i = 0; i < 5; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, 0, names[i], strlen(names[i]));
        table_set_int(table, row, 1, i);
    }
    result_add_table(result, table);
    check("table", result, &(struct print_options){ .width = 27 },
          "Name                  Calls\n"
          "--------------------  -----\n"
          "gemm_ke...<4>) [128]      0\n"
          "gemm_ke...<4>) [256]      1\n"
          "gemm_kernel               2\n"
          "gemm_ke...<4>) [256]      3\n"
          "gemm_ke...<4>) [512]      4\n");
}

TEST(text_is_aligned_with_footers_and_notices)
{
    check("table", small_result(), &plain,
          "Operators\n"
          "Name                  Time   Share    Bytes  Calls  User\n"
          "--------  ----------------  ------  -------  -----  ----\n"
          "aten::mm         362.846ms  75.0 %  1.50 KB      3   yes\n"
          "a|b       -9223372036.855s       -        -      0    no\n"
          "-                        -       -        -      -     -\n"
          "\n"
          "Total time: 483.794ms\n"
          "Rows:       -\n"
          "3 of 4 rows; --limit 0 shows all\n"
          "\n"
          "note: run.json: kernels without a launch (2, the first at byte 17)\n"
          "note: all is well\n");
}

TEST(json_holds_everything_exactly)
{
    check(
        "json", small_result(), &plain,
        "{\"schema\": \"tpa.test/1\", \"tables\": [\n"
        "{\"key\": \"operators\", \"title\": \"Operators\", \"columns\": [\n"
        "{\"key\": \"name\", \"kind\": \"name\", \"title\": \"Name\", \"help\": \"what ran\"},\n"
        "{\"key\": \"time_ns\", \"kind\": \"ns\", \"title\": \"Time\", \"help\": \"how long\"},\n"
        "{\"key\": \"share\", \"kind\": \"share\", \"title\": \"Share\", \"help\": \"of \\\"all\\\"\"},\n"
        "{\"key\": \"bytes\", \"kind\": \"bytes\", \"title\": \"Bytes\", \"help\": \"moved\"},\n"
        "{\"key\": \"count\", \"kind\": \"count\", \"title\": \"Calls\", \"help\": \"how often\"},\n"
        "{\"key\": \"user\", \"kind\": \"bool\", \"title\": \"User\", \"help\": \"by the user\"},\n"
        "{\"key\": \"shapes\", \"kind\": \"text\", \"title\": \"Shapes\", \"help\": \"of the inputs\"}], \"rows\": [\n"
        "{\"name\": \"aten::mm\", \"time_ns\": 362845500, \"share\": 0.75, \"bytes\": 1536, \"count\": 3, "
        "\"user\": true, \"shapes\": \"[[2, 3]]\"},\n"
        "{\"name\": \"a|b\", \"time_ns\": -9223372036854775807, \"share\": null, \"bytes\": null, \"count\": 0, "
        "\"user\": false, \"shapes\": null},\n"
        "{\"name\": null, \"time_ns\": null, \"share\": null, \"bytes\": null, \"count\": null, "
        "\"user\": null, \"shapes\": null}], \"total_rows\": 4,\n"
        "\"footer\": {\"total_time_ns\": 483794000, \"n\": null}}], \"notices\": [\n"
        "{\"kind\": \"unlinked\", \"count\": 2, \"text\": \"kernels without a launch\", \"file\": \"run.json\", "
        "\"offset\": 17},\n"
        "{\"kind\": \"odd\", \"count\": 1, \"text\": \"all is well\", \"file\": null, \"offset\": null}]}\n");
}

TEST(csv_has_keys_and_exact_figures)
{
    check("csv", small_result(), &plain,
          "name,time_ns,share,bytes,count,user,shapes\n"
          "aten::mm,362845500,0.75,1536,3,true,\"[[2, 3]]\"\n"
          "a|b,-9223372036854775807,,,0,false,\n"
          ",,,,,,\n");
}

TEST(csv_of_several_tables_names_each)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *one = table_open("one", "One", columns, 1);
    table_add_row(one);
    result_add_table(result, one);
    result_add_table(result, table_open("none", NULL, columns, 2));
    struct table *figures = table_open("figures", NULL, NULL, 0);
    table_add_footer(figures, "span", "Span", TABLE_NS, table_int(5));
    table_add_text_footer(figures, "by", "By", "=x", 2);
    result_add_table(result, figures);
    check("csv", result, &plain,
          "# one\n"
          "name\n"
          "\"\"\n"
          "\n# none\n"
          "name,time_ns\n"
          "\n# figures\n"
          "key,value\n"
          "span_ns,5\n"
          "by,'=x\n");
}

TEST(markdown_is_a_github_table)
{
    check("md", small_result(), &plain,
          "### Operators\n\n"
          "| Name | Time | Share | Bytes | Calls | User |\n"
          "| :--- | ---: | ---: | ---: | ---: | ---: |\n"
          "| aten::mm | 362.846ms | 75.0 % | 1.50 KB | 3 | yes |\n"
          "| a\\|b | -9223372036.855s | - | - | 0 | no |\n"
          "| - | - | - | - | - | - |\n"
          "\n"
          "- Total time: 483.794ms\n"
          "- Rows: -\n"
          "\n"
          "3 of 4 rows; `--limit 0` shows all.\n"
          "\n"
          "> note: run.json: kernels without a launch (2, the first at byte 17)\n"
          "\n"
          "> note: all is well\n");
}

TEST(narrow_terminals_lose_columns_from_the_right_but_not_the_sorted_one)
{
    struct result *result = small_result();
    table_sort(result->tables.at[0], USER, false);
    check("table", result, &(struct print_options){ .width = 40 },
          "Operators\n"
          "Name                  Time   Share  User\n"
          "--------  ----------------  ------  ----\n"
          "aten::mm         362.846ms  75.0 %   yes\n"
          "a|b       -9223372036.855s       -    no\n"
          "-                        -       -     -\n"
          "\n"
          "Total time: 483.794ms\n"
          "Rows:       -\n"
          "3 of 4 rows; --limit 0 shows all\n"
          "not shown: bytes, count (--wide shows\n"
          "  all, --columns picks)\n"
          "\n"
          "note: run.json: kernels without a launch\n"
          "      (2, the first at byte 17)\n"
          "note: all is well\n");
}

TEST(narrow_terminals_keep_a_verdict)
{
    static const struct table_column changed[] = {
        { "name", "Name", TABLE_NAME, "", 0, NULL },
        { "before", "Before", TABLE_NS, "", 0, NULL },
        { "after", "After", TABLE_NS, "", 0, NULL },
        { "verdict", "Verdict", TABLE_TEXT, "", 0, NULL },
    };
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("t", NULL, changed, 4);
    size_t row = table_add_row(table);
    table_set_text(table, row, 0, "step time", 9);
    table_set_int(table, row, 1, 1000);
    table_set_int(table, row, 2, 2000);
    table_set_text(table, row, 3, "slower", 6);
    row = table_add_row(table);
    table_set_text(table, row, 0, "GPU busy", 8);
    result_add_table(result, table);
    check("table", result, &(struct print_options){ .width = 30 },
          "Name        Before  Verdict\n"
          "---------  -------  -------\n"
          "step time  1.000us  slower\n"
          "GPU busy         -  -\n"
          "\n"
          "not shown: after (--wide shows\n"
          "  all, --columns picks)\n");
}

TEST(colour_is_only_put_in_when_requested)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("t", "T", columns, 2);
    table_add_row(table);
    result_add_table(result, table);
    check("table", result, &(struct print_options){ .color = true },
          "\x1b[1mT\x1b[0m\n"
          "\x1b[1mName\x1b[0m  \x1b[1mTime\x1b[0m\n"
          "\x1b[2m----  ----\x1b[0m\n"
          "-        -\n");
}

TEST(a_table_without_rows_is_a_sentence)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *own = table_open("gaps", "Idle gaps", columns, 2);
    own->none = "the device was never idle";
    result_add_table(result, table_open("t", "Transfers", columns, 2));
    result_add_table(result, own);
    check("table", result, &plain, "Transfers: none\n\nthe device was never idle\n");
}

/* Of seven notes five are shown; what is minor is the first to go. */
TEST(notes_that_explain_are_counted_unless_requested)
{
    for (int all = 0; all < 2; all++) {
        struct result *result = scratch_result(result_open("tpa.test/1"));
        for (int i = 0; i < 7; i++) {
            result_add_notice(result, "odd", 1, NULL, TPA_NOWHERE, "number %d", i);
            if (i < 3)
                result_make_minor(result);
        }
        check(
            "table", result, &(struct print_options){ .all_notes = all },
            all ? "note: number 0\nnote: number 1\nnote: number 2\nnote: number 3\nnote: number 4\n"
                  "note: number 5\nnote: number 6\n"
                : "note: number 3\nnote: number 4\nnote: number 5\nnote: number 6\n3 more notes: --notes\n");
    }
}

TEST(figures_have_units_that_fit)
{
    static const struct {
        enum table_kind kind;
        double value;
        const char *wanted;
    } figures[] = {
        { TABLE_COUNT, 1428, "1428" },           { TABLE_TALLY, 1428, "1,428" },
        { TABLE_TALLY, -1234567, "-1,234,567" }, { TABLE_TALLY, -123, "-123" },
        { TABLE_SHARE, 2361.233, "x 2362" },     { TABLE_SHARE, 9.994, "999.4 %" },
        { TABLE_SHARE, -1, "-100.0 %" },         { TABLE_RATE, 25.3, "25.300" },
        { TABLE_RATE, 4.223e-4, "422 KB/s" },    { TABLE_RATE, 0.0422, "42.2 MB/s" },
    };
    for (size_t i = 0; i < sizeof figures / sizeof *figures; i++) {
        SCRATCH_BUFFER(text);
        figure_add_value(&text, figures[i].kind, figures[i].value);
        assert_string_equal(text.at, figures[i].wanted);
    }
}

TEST(a_single_row_that_is_too_wide_becomes_a_list)
{
    struct result *result = small_result();
    struct table *table = result->tables.at[0];
    table_filter(table, (bool[]){ true, false, false });
    table->footers.count = 0;
    result->notices.count = 0;
    check("table", result, &(struct print_options){ .width = 30 },
          "Operators\n"
          "Name:  aten::mm\n"
          "Time:  362.846ms\n"
          "Share: 75.0 %\n"
          "Bytes: 1.50 KB\n"
          "Calls: 3\n"
          "User:  yes\n");
}

TEST(a_table_of_footers_is_a_list)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("about", NULL, NULL, 0);
    table_add_text_footer(table, "producer", "Producer", "Kineto\n", 7);
    table_add_footer(table, "span", "Span", TABLE_NS, table_int(1500));
    result_add_table(result, table);
    check("table", result, &plain,
          "Producer: Kineto\\n\n"
          "Span:     1.500us\n");
}

TEST(an_empty_result_is_empty)
{
    check("table", scratch_result(result_open("tpa.test/1")), &plain, "");
    check("csv", scratch_result(result_open("tpa.test/1")), &plain, "");
    check("md", scratch_result(result_open("tpa.test/1")), &plain, "");
    check("json", scratch_result(result_open("tpa.test/1")), &plain,
          "{\"schema\": \"tpa.test/1\", \"tables\": [], \"notices\": []}\n");
}

TEST(only_csv_leaves_notices_to_others)
{
    for (size_t i = 0; printers[i]; i++)
        assert_int_equal(printers[i]->rows_only, strcmp(printers[i]->name, "csv") == 0);
    assert_null(printer_find("CSV"));
    assert_ptr_equal(printers[0], printer_find("table"));
}

TEST(a_full_disk_is_an_error)
{
    for (size_t i = 0; printers[i]; i++) {
        FILE *full = fopen("/dev/full", "w");
        if (!full)
            skip();
        setvbuf(full, NULL, _IONBF, 0);
        struct result *result = small_result();
        struct tpa_error err = { 0 };
        assert_false(printers[i]->print(result, &plain, full, &err));
        assert_true(err.failed);
        assert_non_null(strstr(err.message, "No space left"));
        fclose(full);
    }
}

/* Every hostile text as title, name, text, footer and notice, beside long names. */
static struct result *hostile_result(void)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("hostile", hostile_texts[5].text, columns, COLUMNS);
    for (size_t i = 0; i < HOSTILE_TEXTS; i++) {
        const struct hostile_text *hostile = &hostile_texts[i];
        size_t row = table_add_row(table);
        table_set_text(table, row, NAME, hostile->text, hostile->len);
        table_set_text(table, row, SHAPES, hostile->text, hostile->len);
        table_set_int(table, row, TIME, (int64_t)i * 1234567);
        table_add_text_footer(table, "key", i % 2 ? "A title" : hostile->text, hostile->text, hostile->len);
        result_add_notice(result, "kind", 1, i % 2 ? NULL : hostile->text, 1, "%s %s", hostile->text,
                          hostile->text);
    }
    enum { WIDE = 600 };
    static char wide[WIDE + 1]; /* a title, too, and those are borrowed */
    for (size_t i = 0; i < WIDE; i += 3)
        memcpy(wide + i, "\xe6\xbc\xa2", 3);
    table_set_text(table, table_add_row(table), NAME, wide, WIDE);
    memset(wide, 'w', WIDE);
    table_set_text(table, table_add_row(table), NAME, wide, WIDE);
    memcpy(wide, "void a::b<c<d>, e>(f)", 21);
    table_set_text(table, table_add_row(table), NAME, wide, WIDE);
    table->columns[SHAPES].flags = 0;
    result_add_table(result, table);
    result_add_table(result, table_open("empty", NULL, columns, COLUMNS));
    struct table *one = table_open("one", wide, columns, COLUMNS);
    table_set_text(one, table_add_row(one), NAME, wide, WIDE);
    result_add_table(result, one);
    result_add_notice(result, "kind", 1, NULL, TPA_NOWHERE, "%s", wide);
    return result;
}

TEST(every_line_fits_the_terminal)
{
    static const size_t widths[] = { 40, 60, 80, 100, 200 };
    for (size_t i = 0; i < sizeof widths / sizeof *widths; i++) {
        struct result *result = hostile_result();
        char *text = scratch_heap(printed("table", result, &(struct print_options){ .width = widths[i] }));
        for (char *line = text, *end; (end = strchr(line, '\n')); line = end + 1) {
            size_t width = unicode_text_width(line, (size_t)(end - line));
            if (width > widths[i])
                fail_msg("%zu columns in a terminal of %zu: %.*s", width, widths[i], (int)(end - line), line);
            assert_true(end == line || end[-1] != ' '); /* no blanks at the end */
        }
    }
}

TEST(without_a_limit_nothing_is_cut)
{
    static const struct print_options unlimited[] = { { 0 }, { .width = 40, .wide = true } };
    for (size_t i = 0; i < 2; i++) {
        struct result *result = hostile_result();
        char *text = scratch_heap(printed("table", result, &unlimited[i]));
        assert_null(strstr(text, "..."));
        assert_null(strstr(text, "not shown"));
        assert_non_null(strstr(text, "void a::b<c<d>, e>(f)www"));
    }
}

TEST(long_names_do_not_fill_a_comment)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("t", NULL, columns, 1);
    SCRATCH_BUFFER(name);
    buffer_puts(&name, "void at::kernel<");
    for (int i = 0; i < 400; i++)
        buffer_puts(&name, "at::Tensor, ");
    buffer_puts(&name, "int>(int)");
    table_set_text(table, table_add_row(table), 0, name.at, name.count);
    result_add_table(result, table);
    check("md", result, &plain,
          "| Name |\n| :--- |\n"
          "| kernel&lt;Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, Tensor, ...&gt;(int) |\n");

    result = scratch_result(result_open("tpa.test/1"));
    table = table_open("t", NULL, columns, 1);
    table_set_text(table, table_add_row(table), 0, name.at, name.count);
    result_add_table(result, table);
    char *text = scratch_heap(printed("md", result, &(struct print_options){ .wide = true }));
    assert_true(strlen(text) > name.count);
}

/* A page has a section for each table, links to those that have a title, the notices, and the picture. */
TEST(a_page_has_tables_notices_and_the_picture)
{
    static const struct table_column dots[] = {
        { "run", "Run", TABLE_COUNT, "", 0, NULL },
        { "level", "Level", TABLE_NS, "", 0, NULL },
        { "label", "Label", TABLE_TEXT, "", 0, NULL },
    };
    struct result *result = small_result();
    struct table *found = table_open("verdicts", "Verdicts", columns, COLUMNS);
    found->columns[SHAPES] = (struct table_column){ "verdict", "Verdict", TABLE_TEXT, "", 0, NULL };
    table_set_text(found, table_add_row(found), SHAPES, "slower", 6);
    table_set_text(found, table_add_row(found), SHAPES, "<b>", 3);
    result_add_table(result, found);
    result->picture = picture_open("trend", "Over the runs");
    struct chart *chart = picture_add_chart(result->picture, "trend_1", "step time");
    chart->x.kind = TABLE_COUNT;
    chart->y.kind = TABLE_NS;
    struct table *table = chart_add_table(chart, table_open("trend", NULL, dots, 3));
    size_t row = table_add_row(table);
    table_set_int(table, row, 0, 11);
    table_set_int(table, row, 1, 1464000);
    table_set_text(table, row, 2, "run 11, <NEW>", 13);
    chart_add_series(chart,
                     (struct chart_series){ "Run", CHART_POINT, CHART_BLUE, table, 0, 1, TABLE_NO_COLUMN });
    char *text = scratch_heap(printed_by(&printer_html, result, &plain));
    static const char *const parts[] = {
        "<title>tpa test - tpa test</title>",
        "<li><a href=\"#operators\"><span>Operators</span> ",
        "<section id=\"operators\">\n<details class=\"fold\" open=\"open\"><summary><h2>Operators</h2> ",
        "</summary>\n<div class=\"table\"",
        "kernels without a launch (first at byte 17)",
        "<td class=\"text worse\">slower</td>",
        "<td class=\"text\">&lt;b&gt;</td>",
        "<summary><h2>Over the runs</h2> ",
        "<title>run 11, &lt;NEW&gt;: 1.464ms</title></circle>",
        "Made by tpa test.",
    };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (!strstr(text, parts[i]))
            fail_msg("the page lacks: %s", parts[i]);
    assert_null(strstr(text, "<h3>Operators")); /* once is enough */
}

/* 300,000 rows: a second or two is allowed even with sanitizers; anything quadratic would take hours. */
TEST(many_rows_are_no_trouble)
{
    struct result *result = scratch_result(result_open("tpa.test/1"));
    struct table *table = table_open("many", NULL, columns, COLUMNS);
    for (int64_t i = 0; i < 300000; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, NAME, "aten::mm", 8);
        table_set_int(table, row, TIME, i);
        table_set_number(table, row, SHARE, (double)i / 300007);
    }
    result_add_table(result, table);
    for (size_t i = 0; printers[i]; i++) {
        if (printers[i]->binary)
            continue; /* tests/arrow */
        char *text = scratch_heap(printed(printers[i]->name, result, &plain));
        size_t lines = 0;
        for (const char *at = text; (at = strchr(at, '\n')); at++)
            lines++;
        assert_true(lines >= 300001);
    }
}
