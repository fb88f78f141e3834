#include "cli/parts.h"

#include "base/regex.h"
#include "cli/kept.h"
#include "cli/output_file.h"

/* Default number of functions and actions; the text of pstats shows all, like pstats. */
enum { LIMIT_FOR_PEOPLE = 25 };

const struct printer profile_pstats_text = {
    "pstats", "for Python profiles: the text of Python's pstats, byte for byte", NULL
};

bool profile_wants_pstats(const struct output_args *output)
{
    return output_printer(output) == &profile_pstats_text;
}

/* Write the text of pstats to the destination in OUTPUT. */
static bool write_pstats(enum pstats_report report, const struct profile *profile,
                         const struct profile_view *view, const struct profile_sort *sort,
                         const struct output_args *output, struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open_raw(&file, output->path, err))
        return false;
    if (pstats_text_print(report, profile, view, sort, file.stream, err))
        return output_file_commit(&file, err);
    output_file_discard(&file);
    if (file.path || !output_reader_is_gone())
        return false;
    *err = (struct tpa_error){ 0 };
    return true;
}

static bool write_tables(const struct invocation *call, enum pstats_report report,
                         const struct ingested *ingested, const struct profile_view *view,
                         const struct output_args *output, struct tpa_error *err)
{
    static const char *const schemas[] = {
        [PSTATS_STATS] = "tpa.top/1",
        [PSTATS_CALLERS] = "tpa.callers/1",
        [PSTATS_CALLEES] = "tpa.callees/1",
    };
    const struct profile *profile = ingested->profile;
    struct result *result = result_open(schemas[report]);
    if (report == PSTATS_STATS)
        profile_add_functions(result, profile, view);
    else
        profile_add_calls(result, profile, view, report == PSTATS_CALLEES);
    profile_add_notices(result, profile, view, report == PSTATS_STATS);
    if (ingested->trace)
        load_add_notices(ingested->trace, result);
    /* The view is cut already; a function may have many rows. */
    struct output_args rows = *output;
    rows.limit = (struct limit){ 0 };
    return kept_output(&(struct kept_query){ call, .is_cut = true }, result, &rows, err);
}

int profile_report(const struct invocation *call, enum pstats_report report, struct ingested *ingested,
                   const struct profile_query *query, const struct output_args *output, struct tpa_error *err)
{
    bool as_pstats = profile_wants_pstats(output);
    struct profile_sort sort = { .reverse = query->reverse };
    SCOPED_BY(profile_view_release) struct profile_view view = { .by_device = query->by_device };
    struct profile_restriction restriction = { query->filter, query->exclude, { 0 } };
    if (!as_pstats || output_limit_given(output))
        restriction.limit = output_limit_or(output, LIMIT_FOR_PEOPLE);
    const char *words = query->sort ? query->sort : as_pstats ? "none" : "tottime";
    if (query->strip_dirs)
        ingested->profile = profile_strip_dirs(ingested->profile, as_pstats);
    bool fine = profile_sort_parse(&sort, words, err) &&
                profile_view_make(&view, ingested->profile, &sort, &restriction, err) &&
                (as_pstats ? write_pstats(report, ingested->profile, &view, &sort, output, err)
                           : write_tables(call, report, ingested, &view, output, err));
    buffer_release(&sort.description);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}

static bool filter_actions(struct table *table, const char *pattern, bool exclude, struct tpa_error *err)
{
    struct regex *regex = pattern ? regex_open(pattern, err) : NULL;
    if (!regex)
        return !pattern;
    bool *keep = mem_zalloc(table->row_count + 1, sizeof *keep), fine = true;
    for (size_t row = 0; row < table->row_count && fine; row++) {
        const union table_cell *name = table_cell(table, row, 0);
        bool matched = false;
        fine = regex_match(regex, name->text.at, name->text.len, &matched, err);
        keep[row] = matched != exclude;
    }
    if (fine)
        table_filter(table, keep);
    free(keep);
    regex_free(regex);
    return fine;
}

static bool sort_actions(struct table *table, const char *sort, bool reverse, struct tpa_error *err)
{
    if (sort == NULL || strcmp(sort, "none") == 0)
        return true; /* the report's order: by share */
    int column = table_find_column(table, sort, strlen(sort));
    if (column < 0) {
        tpa_fail(err, TPA_NOWHERE, "a report on actions cannot be sorted by '%s'", sort);
        return tpa_hint(err, "its columns are name, mean, count, total and share");
    }
    table_sort(table, (size_t)column, reverse);
    return true;
}

int actions_report(const struct ingested *ingested, const struct profile_query *query,
                   const struct output_args *output, struct tpa_error *err)
{
    if (profile_wants_pstats(output)) {
        tpa_fail(err, TPA_NOWHERE, "--format pstats shows Python profiles; this is a report on actions");
        return EXIT_TROUBLE;
    }
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.top/1");
    actions_add_table(result, ingested->actions);
    struct table *table = result->tables.at[0];
    struct output_args rows = *output;
    rows.limit = output_limit_or(output, LIMIT_FOR_PEOPLE);
    bool fine = filter_actions(table, query->filter, false, err) &&
                filter_actions(table, query->exclude, true, err) &&
                sort_actions(table, query->sort, query->reverse, err) && output_result(result, &rows, err);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}
