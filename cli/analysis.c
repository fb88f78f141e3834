/* analysis.c - see analysis.h. */
#include "cli/analysis.h"

#include "cli/command_line.h"
#include "cli/kept.h"
#include "derive/features.h"
#include "memory/program_memory.h"
#include "trace/span.h"

/* Add a notice on the features in NEEDS that the trace lacks; false if there are any. */
static bool analysis_check_needs(const struct trace *trace, unsigned needs, struct result *result)
{
    unsigned has = program_memory_features(trace), lacks = needs & ~has;
    if (!load_cannot_if_empty(trace, result) && lacks) {
        enum trace_feature first = (enum trace_feature)(lacks & -lacks);
        SCOPED struct buffer text = { 0 };
        buffer_printf(&text, "the trace holds no %s", trace_feature_name(first));
        command_line_cannot(result, trace_feature_reason(first), text.at, trace_feature_recipe(trace, first),
                            has & FEATURE_OPS   ? "top"
                            : has & FEATURE_GPU ? "kernels"
                                                : "info");
    }
    for (unsigned bit = 1; bit && bit <= lacks; bit <<= 1)
        if (lacks & bit) {
            ADD_NOTICE(result, "missing", 0,
                       "the trace holds no %s, so there is nothing to show; to record it, %s",
                       trace_feature_name((enum trace_feature)bit),
                       trace_feature_recipe(trace, (enum trace_feature)bit));
            result_make_clause(result);
        }
    return lacks == 0;
}

bool analysis_sort(struct table *table, const char *key, bool reverse, struct tpa_error *err)
{
    if (!key && table->sort_column == TABLE_NO_COLUMN) { /* rows have their own order */
        if (reverse)
            table_reverse(table);
        return true;
    }
    int column = key ? table_sort_column(table, key, err) : (int)table->sort_column;
    if (column < 0)
        return false;
    if (key || reverse)
        table_sort(table, (size_t)column, reverse);
    return true;
}

struct limit analysis_limit(const struct output_args *output)
{
    return output_limit_or(output, ANALYSIS_LIMIT_FOR_PEOPLE);
}

size_t analysis_most_rows(const struct output_args *output)
{
    struct limit limit = analysis_limit(output);
    return limit.is_share || kept_is_on() ? 0 : limit.count;
}

/* Apply the limit to the table KEY now, and to no other later. */
static void limit_table(struct result *result, const char *key, struct limit *limit)
{
    for (size_t i = 0; i < result->tables.count; i++)
        if (strcmp(result->tables.at[i]->key, key) == 0)
            table_truncate(result->tables.at[i], limit_rows(limit, result->tables.at[i]->row_count));
    *limit = (struct limit){ 0 };
}

void analysis_notice_empty_selection(const struct trace *trace, const struct selection *selection,
                                     const struct selection_query *query, struct result *result)
{
    enum { MOST_NAMES = 3 };
    event_id e = 0;
    if (selection_is_all(selection))
        return;
    for (size_t i = 0; i < result->tables.count; i++) /* of names that are no events' */
        if (result->tables.at[i]->row_count > 0)
            return;
    while (e < trace->event_count && !selection_holds(selection, e))
        e++;
    if (e < trace->event_count || trace->event_count == 0)
        return;
    SCOPED struct buffer text = { 0 };
    int64_t longest_ns = 0;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct interval span = trace_file_span(trace, f);
        longest_ns = span.end_ns - span.start_ns > longest_ns ? span.end_ns - span.start_ns : longest_ns;
    }
    if (query->filter || query->exclude) {
        size_t names = names_count(trace->names);
        buffer_printf(&text, "; %zu names are there, such as", names);
        for (name_id id = 0; id < names && id < MOST_NAMES; id++)
            buffer_printf(&text, "%s %s", id ? "," : "", names_text(trace->names, id));
    }
    buffer_printf(&text, "; the recording lasts %s", TIME_TEXT(longest_ns));
    ADD_NOTICE(result, "nothing_matches", 0, "nothing matches what was selected%.*s", (int)text.count,
               text.at);
    result_make_clause(result);
}

bool analysis_answer(const struct trace *trace, unsigned needs, const struct analysis_call *analysis,
                     const void *args, struct result *result, struct tpa_error *err)
{
    struct selection *selection = NULL;
    bool good = true;
    if (analysis_check_needs(trace, needs, result)) {
        selection = selection_open(trace, analysis->query, err);
        good = selection && analysis->add_tables(trace, selection, args, result, err);
    }
    if (good && selection)
        analysis_notice_empty_selection(trace, selection, analysis->query, result);
    if (good)
        load_add_notices(trace, result);
    arena_free(selection);
    return good;
}

bool analysis_order(const struct analysis_call *analysis, struct result *result, struct tpa_error *err)
{
    return !analysis->sorts || result->tables.count == 0 ||
           analysis_sort(result->tables.at[0], analysis->sort, analysis->reverse, err);
}

/* Sort, cut and print RESULT. */
static bool print_answer(const struct analysis_call *analysis, struct result *result, struct tpa_error *err)
{
    struct output_args output = *analysis->output;
    output.limit = analysis_limit(analysis->output);
    output.answer = !output_limit_given(analysis->output);
    if (!analysis_order(analysis, result, err))
        return false;
    if (analysis->limited)
        limit_table(result, analysis->limited, &output.limit);
    return output_result(result, &output, err);
}

static struct kept_query query_of(const struct invocation *call, const struct analysis_call *analysis)
{
    return (struct kept_query){ call, analysis->sorts ? "sort reverse" : NULL, 0 };
}

int analysis_run(const struct invocation *call, const struct analysis_call *analysis, struct tpa_error *err)
{
    struct kept_query query = query_of(call, analysis);
    struct result *known = kept_find(&query);
    if (known)
        return print_answer(analysis, known, err) ? EXIT_FINE : EXIT_TROUBLE;
    struct trace *trace = load_traces(call, analysis->load, analysis->wants, err);
    return trace ? analysis_run_on(call, analysis, trace, err) : EXIT_TROUBLE;
}

int analysis_run_on(const struct invocation *call, const struct analysis_call *analysis, struct trace *trace,
                    struct tpa_error *err)
{
    struct kept_query query = query_of(call, analysis);
    struct result *known = kept_find(&query), *result = known ? known : result_open(analysis->schema);
    bool good = known || analysis_answer(trace, call->command->needs, analysis, call->args, result, err);
    bool kept = known || (good && kept_put(&query, result));
    if (good && kept_branch())
        good = print_answer(analysis, result, err);
    if (!kept)
        result_free(result);
    trace_free(trace);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}
