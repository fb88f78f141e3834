/*
 * junit.c - JUnit XML, which CI systems show: one test case for each check (report/cases.h).
 *
 *     <testsuites><testsuite name="tpa diff" tests="2" failures="1" errors="0" skipped="1" time="0">
 *       <testcase classname="tpa.diff" name="5%" time="0"><failure type="gate" message="...">one line per row</failure>
 *       </testcase>
 *       <testcase classname="tpa.diff" name="op=10%:^aten::" time="0"><skipped message="..."/></testcase>
 *     </testsuite></testsuites>
 *
 * There is no standard but what Ant's task writes and Jenkins, GitLab and GitHub's actions read; these elements and
 * attributes are in all of them. What is not within its limit, and does not fail the build (nobody can tell,
 * or it was so before), is skipped.
 */
#include "report/printer.h"

#include "report/cases.h"
#include "base/escape.h"
#include "report/output.h"

/* What the checks of a table came to. */
struct tally {
    size_t tests, failures, skipped;
};

/* What the rows FIRST..END of one check came to. */
struct check {
    size_t fails, spared; /* spared: not within its limit, but let through */
    size_t worst;         /* the row to tell about: the first that fails, else the first that is spared */
};

static struct check look(const struct table *table, const struct case_columns *at, size_t first, size_t end)
{
    struct check check = { .worst = first };
    for (size_t row = first; row < end; row++) {
        bool fails = table_cell(table, row, at->fails)->i == 1;
        bool spared = !fails && strcmp(table_cell(table, row, at->outcome)->text.at, CASE_WITHIN) != 0;
        if ((fails && check.fails == 0) || (spared && check.fails + check.spared == 0))
            check.worst = row;
        check.fails += fails;
        check.spared += spared;
    }
    return check;
}

static struct tally count(const struct table *table, const struct case_columns *at)
{
    struct tally tally = { 0, 0, 0 };
    for (size_t first = 0, end; first < table->row_count; first = end) {
        end = cases_end(table, at, first);
        struct check check = look(table, at, first, end);
        tally.tests++;
        tally.failures += check.fails > 0;
        tally.skipped += check.fails == 0 && check.spared > 0;
    }
    return tally;
}

static void junit_add_cell(struct buffer *out, const struct table *table, size_t row, size_t column)
{
    const union table_cell *cell = table_cell(table, row, column);
    if (cell->text.at)
        escape_xml(out, cell->text.at, cell->text.len);
}

/* One line for each row of the check. */
static void junit_add_lines(struct buffer *out, const struct table *table, const struct case_columns *at,
                            size_t first, size_t end)
{
    for (size_t row = first; row < end; row++) {
        const char *outcome = table_cell(table, row, at->outcome)->text.at;
        buffer_printf(out, "%s: ", outcome);
        junit_add_cell(out, table, row, at->message);
        buffer_putc(out, '\n');
    }
}

static void add_case(struct buffer *out, const char *suite, const struct table *table,
                     const struct case_columns *at, size_t first, size_t end)
{
    struct check check = look(table, at, first, end);
    buffer_puts(out, "    <testcase classname=\"");
    escape_xml(out, suite, strlen(suite));
    buffer_puts(out, "\" name=\"");
    junit_add_cell(out, table, first, at->gate);
    buffer_puts(out, "\" time=\"0\">\n");
    if (check.fails) {
        buffer_puts(out, "      <failure type=\"gate\" message=\"");
        junit_add_cell(out, table, check.worst, at->message);
        buffer_puts(out, "\">");
        junit_add_lines(out, table, at, first, end);
        buffer_puts(out, "</failure>\n");
    } else {
        if (check.spared) {
            buffer_puts(out, "      <skipped message=\"");
            junit_add_cell(out, table, check.worst, at->message);
            buffer_puts(out, "\"/>\n");
        }
        buffer_puts(out, "      <system-out>");
        junit_add_lines(out, table, at, first, end);
        buffer_puts(out, "</system-out>\n");
    }
    buffer_puts(out, "    </testcase>\n");
}

/* What the recordings lack. */
static void junit_add_lacks(struct buffer *out, const struct result *result)
{
    if (!result_lacks(result))
        return;
    buffer_puts(out, "    <system-err>");
    for (size_t i = 0; i < result->notices.count; i++) {
        if (!result->notices.at[i].lacks)
            continue;
        struct buffer line = { 0 };
        figure_add_notice(&line, &result->notices.at[i]);
        escape_xml(out, line.at, line.count);
        buffer_putc(out, '\n');
        buffer_release(&line);
    }
    buffer_puts(out, "</system-err>\n");
}

static bool add_suite(struct buffer *out, const char *suite, const struct result *result,
                      const struct table *table, const struct case_columns *at, FILE *to,
                      struct tpa_error *err)
{
    struct tally tally = count(table, at);
    buffer_puts(out, "  <testsuite name=\"");
    escape_xml(out, suite, strlen(suite));
    buffer_printf(out, "\" tests=\"%zu\" failures=\"%zu\" errors=\"0\" skipped=\"%zu\" time=\"0\">\n",
                  tally.tests, tally.failures, tally.skipped);
    bool ok = true;
    for (size_t first = 0, end; first < table->row_count && ok; first = end) {
        end = cases_end(table, at, first);
        add_case(out, suite, table, at, first, end);
        ok = output_drain(out, to, err);
    }
    junit_add_lacks(out, result);
    buffer_puts(out, "  </testsuite>\n");
    return ok;
}

/* "tpa.diff" of the schema "tpa.diff/1". */
static void suite_name(const struct result *result, char *name, size_t size)
{
    snprintf(name, size, "%.*s", (int)strcspn(result->schema, "/"), result->schema);
}

static bool print_junit(const struct result *result, const struct print_options *options, FILE *out,
                        struct tpa_error *err)
{
    (void)options;
    struct buffer text = { 0 };
    char suite[64];
    suite_name(result, suite, sizeof suite);
    buffer_puts(&text, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites>\n");
    bool ok = true, any = false;
    for (size_t i = 0; i < result->tables.count && ok; i++) {
        struct case_columns at;
        if (!cases_find(result->tables.at[i], &at))
            continue;
        any = true;
        ok = add_suite(&text, suite, result, result->tables.at[i], &at, out, err);
    }
    if (!any) {
        buffer_puts(&text, "  <testsuite name=\"");
        escape_xml(&text, suite, strlen(suite));
        buffer_puts(&text, "\" tests=\"0\" failures=\"0\" errors=\"0\" skipped=\"0\" time=\"0\"");
        buffer_puts(&text, result_lacks(result) ? ">\n" : "/>\n");
        junit_add_lacks(&text, result);
        buffer_puts(&text, result_lacks(result) ? "  </testsuite>\n" : "");
    }
    buffer_puts(&text, "</testsuites>\n");
    return output_finish(ok, &text, out, err);
}

const struct printer printer_junit = { "junit", "JUnit XML: one test case for each gate", print_junit,
                                       .rows_only = true };
