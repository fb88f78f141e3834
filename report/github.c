/*
 * github.c - annotations of GitHub's workflows: lines on standard output that the runner shows beside the job.
 *
 *     ::error title=tpa.diff%3A 5%25::step time%3A ...
 *
 * An error for each row of a check (report/cases.h) that fails the build, a warning for what nobody can tell or what
 * was exceeded before, and one notice for the checks that are within their limits. The runner cuts a step's annotations
 * after ten of a sort, so the worst come first by themselves: rows are in order of their checks, and each check has one
 * line unless it fails for several rows.
 */
#include "report/printer.h"

#include "report/cases.h"
#include "base/escape.h"
#include "report/output.h"

/* The runner shows no more of one kind for a step. */
enum { MOST_OF_A_SORT = 10 };

static void github_begin(struct buffer *out, const char *sort, const char *suite, const char *what,
                         size_t len)
{
    struct buffer title = { 0 };
    buffer_printf(&title, "%s", suite);
    if (len) {
        buffer_puts(&title, ": ");
        buffer_add(&title, what, len);
    }
    buffer_printf(out, "::%s title=", sort);
    escape_github_property(out, title.at, title.count);
    buffer_puts(out, "::");
    buffer_release(&title);
}

/* The rows of one kind; how many there were. */
static size_t add_rows(struct buffer *out, const char *suite, const struct table *table,
                       const struct case_columns *at, bool errors)
{
    size_t count = 0;
    for (size_t row = 0; row < table->row_count; row++) {
        bool fails = table_cell(table, row, at->fails)->i == 1;
        bool within = strcmp(table_cell(table, row, at->outcome)->text.at, CASE_WITHIN) == 0;
        if (errors ? !fails : fails || within)
            continue;
        if (count++ >= MOST_OF_A_SORT - 1)
            continue;
        const union table_cell *gate = table_cell(table, row, at->gate);
        const union table_cell *message = table_cell(table, row, at->message);
        github_begin(out, errors ? "error" : "warning", suite, gate->text.at, gate->text.len);
        escape_github(out, message->text.at, message->text.len);
        buffer_putc(out, '\n');
    }
    if (count >= MOST_OF_A_SORT) {
        github_begin(out, errors ? "error" : "warning", suite, "", 0);
        buffer_printf(out, "and %zu more\n", count - (MOST_OF_A_SORT - 1));
    }
    return count;
}

static bool print_github(const struct result *result, const struct print_options *options, FILE *out,
                         struct tpa_error *err)
{
    (void)options;
    struct buffer text = { 0 };
    char suite[64];
    snprintf(suite, sizeof suite, "%.*s", (int)strcspn(result->schema, "/"), result->schema);
    bool any = false;
    for (size_t i = 0; i < result->tables.count; i++) {
        const struct table *table = result->tables.at[i];
        struct case_columns at;
        if (!cases_find(table, &at))
            continue;
        any = true;
        size_t shown = add_rows(&text, suite, table, &at, true) + add_rows(&text, suite, table, &at, false);
        if (shown < table->row_count) {
            github_begin(&text, "notice", suite, "", 0);
            buffer_printf(&text, "%zu of %zu checks are within their limits\n", table->row_count - shown,
                          table->row_count);
        }
    }
    if (!any) {
        github_begin(&text, "notice", suite, "", 0);
        buffer_puts(&text, "nothing was checked: no gate was given\n");
    }
    for (size_t i = 0; i < result->notices.count; i++) {
        enum notice_place place = notice_place(&result->notices.at[i]);
        if (place == NOTICE_BELOW)
            continue;
        github_begin(&text, place == NOTICE_LACKS ? "warning" : "notice", suite, "", 0);
        escape_github(&text, result->notices.at[i].text, strlen(result->notices.at[i].text));
        buffer_putc(&text, '\n');
    }
    return output_finish(true, &text, out, err);
}

const struct printer printer_github = { "github",
                                        "annotations for GitHub's workflows: one for each gate that failed",
                                        print_github, .rows_only = true };
