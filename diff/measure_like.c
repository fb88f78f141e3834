/* measure_like.c - a trace or profile compared with a saved result: the command of the result is run again, and its
 * result is measured like a saved one; see measure.h. */
#include "diff/measure.h"

#include "analyze/registry.h"
#include "memory/memory.h"
#include "profile/view.h"
#include "analyze/top/top.h"

static int find_column(const struct table *table, const char *key)
{
    return table_find_column(table, key, strlen(key));
}

/* The analysis of SCHEMA whose saved tables can be compared; NULL if there is none. */
static const struct analysis *find_analysis(const char *schema)
{
    for (size_t i = 0; analyses[i]; i++)
        if (analyses[i]->compares && strcmp(analyses[i]->schema, schema) == 0)
            return analyses[i];
    return NULL;
}

/* The result of a command for a trace with default options, as it would have been saved. */
struct trace_wants measure_wants_like(const char *schema)
{
    if (strcmp(schema, "tpa.top/1") == 0) {
        struct top_options top = { .by = TOP_OPERATOR | TOP_SHAPE | TOP_STACK | TOP_OVERLOAD };
        return top_wants(&top);
    }
    if (strcmp(schema, "tpa.memory/1") == 0)
        return memory_wants;
    const struct analysis *analysis = find_analysis(schema);
    return analysis ? *analysis->wants : (struct trace_wants){ 0 };
}

/* The --by of tpa top that gives the columns of TABLE. */
static unsigned measure_like_dimensions_of(const struct table *table)
{
    static const struct {
        const char *column;
        unsigned dimension;
    } dimensions[] = {
        { "input_shapes", TOP_SHAPE },
        { "source_location", TOP_STACK },
        { "overload_name", TOP_OVERLOAD },
        { "step", TOP_STEP },
        { "rank", TOP_RANK },
    };
    unsigned by = TOP_OPERATOR;
    for (size_t i = 0; i < sizeof dimensions / sizeof *dimensions; i++)
        if (find_column(table, dimensions[i].column) >= 0)
            by |= dimensions[i].dimension;
    return by;
}

/* Rows of the trace must be named like those of the saved result. */
static bool is_alike(const struct result *made, const struct result *saved)
{
    if (made->tables.count == 0 || saved->tables.count == 0)
        return false;
    for (size_t t = 0; t < saved->tables.count && t < made->tables.count; t++) {
        const struct table *a = made->tables.at[t], *b = saved->tables.at[t];
        if (strcmp(a->key, b->key) != 0)
            return false;
        for (size_t c = 0; c < b->column_count; c++)
            if (table_is_text(b->columns[c].kind) && find_column(a, b->columns[c].key) < 0)
                return false;
    }
    return true;
}

static bool not_alike(const char *what, const struct result *saved, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "%s cannot be compared with a result of %s as this one was saved", what,
             saved->schema);
    return tpa_hint(err, "save the same of it with --format json, or compare the files themselves");
}

/* Measure MADE, the result of the command of SAVED for WHAT, and free it. */
static bool collect_made(struct measures *measures, struct result *made, const struct result *saved,
                         const char *what, struct tpa_error *err)
{
    bool good = is_alike(made, saved) ? measure_result(measures, made, err) : not_alike(what, saved, err);
    result_free(made);
    return good;
}

/* Add to MADE the tables of ANALYSIS for TRACE with default options. */
static bool run_analysis(const struct analysis *analysis, const struct trace *trace,
                         const struct selection *all, struct result *made, struct tpa_error *err)
{
    struct analysis_query query = { trace, all, analysis->by_default, analysis->defaults, 0, false };
    if (!analysis->run(&query, made, err))
        return false;
    for (size_t t = 0; t < made->tables.count; t++)
        table_drop_hidden(made->tables.at[t]);
    return true;
}

/* Add to MADE the result of the command of SAVED for TRACE; nothing if it cannot be repeated. */
static bool ask_trace(const struct result *saved, const struct trace *trace, struct result **made,
                      struct tpa_error *err)
{
    const char *schema = saved->schema;
    SCOPED_OBJECT struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, err);
    bool good = all != NULL;
    *made = NULL;
    if (good && strcmp(schema, "tpa.top/1") == 0 && saved->tables.count) {
        *made =
            top_result(trace, &(struct top_options){ .by = measure_like_dimensions_of(saved->tables.at[0]) });
    } else if (good) {
        *made = result_open(schema);
        const struct analysis *analysis = find_analysis(schema);
        if (analysis)
            good = run_analysis(analysis, trace, all, *made, err);
        else if (strcmp(schema, "tpa.memory/1") == 0)
            memory_add_tables(trace, all, &(struct memory_options){ 0 }, *made);
    }
    return good;
}

bool measure_trace_like(struct measures *measures, const struct trace *trace, const struct result *saved,
                        struct tpa_error *err)
{
    struct result *made;
    if (ask_trace(saved, trace, &made, err))
        return collect_made(measures, made, saved, "a trace", err);
    result_free(made);
    return false;
}

bool measure_profile_like(struct measures *measures, const struct profile *profile,
                          const struct result *saved, struct tpa_error *err)
{
    SCOPED_BY(profile_view_release) struct profile_view all = { 0 };
    struct profile_sort sort = { 0 };
    struct result *made = result_open("tpa.top/1");
    bool good = profile_sort_parse(&sort, "none", err) &&
                profile_view_make(&all, profile, &sort, &(struct profile_restriction){ 0 }, err);
    if (good && strcmp(saved->schema, made->schema) == 0)
        profile_add_functions(made, profile, &all);
    if (good)
        good = collect_made(measures, made, saved, "a Python profile", err);
    else
        result_free(made);
    buffer_release(&sort.description);
    return good;
}

bool measure_actions_like(struct measures *measures, const struct action_report *report,
                          const struct result *saved, struct tpa_error *err)
{
    struct result *made = result_open("tpa.top/1");
    if (strcmp(saved->schema, made->schema) == 0)
        actions_add_table(made, report);
    return collect_made(measures, made, saved, "a report of actions", err);
}
