/* info.c - see info.h. */
#include "profile/info.h"

#include "analyze/info.h"
#include "profile/tables.h"

#include <stdlib.h>
#include <string.h>

#define OPEN(key, title, columns) table_open(key, title, columns, sizeof(columns) / sizeof *(columns))

/* --- profiles ------------------------------------------------------------------------------------------------ */

static const struct table_column file_columns[] = {
    { "file", "File", TABLE_NAME, "the file" },
};

enum profile_column {
    PROFILE_KIND,
    PROFILE_FUNCTIONS,
    PROFILE_CALLS,
    PROFILE_PRIMITIVE,
    PROFILE_TIME,
    PROFILE_EDGES,
    PROFILE_SOURCES,
};

/* clang-format off */
static const struct table_column profile_columns[] = {
    [PROFILE_KIND] = { "kind", "Kind", TABLE_TEXT, "how it was measured: every call, or samples" },
    [PROFILE_FUNCTIONS] = { "functions", "Functions", TABLE_COUNT, "functions with figures of their own" },
    [PROFILE_CALLS] = { "calls", "Calls", TABLE_COUNT, "function calls; of a sampling profiler, samples on the stack" },
    [PROFILE_PRIMITIVE] = { "primitive_calls", "Primitive", TABLE_COUNT, "calls that were not made from within the function itself" },
    [PROFILE_TIME] = { "total_time", "Time", TABLE_NS, "time in all functions" },
    [PROFILE_EDGES] = { "callers", "Callers", TABLE_COUNT, "pairs of caller and called function" },
    [PROFILE_SOURCES] = { "source_files", "Source files", TABLE_COUNT, "distinct files that functions are in" },
};
/* clang-format on */

struct source_file {
    const char *text;
    uint32_t len;
};

static int compare_sources(const void *a, const void *b)
{
    const struct source_file *left = a, *right = b;
    uint32_t shorter = left->len < right->len ? left->len : right->len;
    int order = memcmp(left->text, right->text, shorter);
    return order ? order : (left->len > right->len) - (left->len < right->len);
}

/* Distinct files of the listed functions; "~" is Python's word for built-in, which is no file. */
static int64_t count_sources(const struct profile *profile)
{
    struct source_file *sources = mem_alloc((profile->listed_count + 1) * sizeof *sources);
    size_t count = 0;
    int64_t distinct = 0;
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        if (function->file_length != 1 || function->file[0] != '~')
            sources[count++] = (struct source_file){ function->file, function->file_length };
    }
    if (count > 0)
        qsort(sources, count, sizeof *sources, compare_sources);
    for (size_t i = 0; i < count; i++)
        distinct += i == 0 || compare_sources(&sources[i - 1], &sources[i]) != 0;
    free(sources);
    return distinct;
}

void info_add_profile_tables(const struct profile *profile, struct result *result)
{
    struct table *files = OPEN("files", "Files", file_columns);
    for (size_t i = 0; i < profile->files.count; i++) {
        const char *path = profile->files.at[i].path;
        table_set_text(files, table_add_row(files), 0, path, strlen(path));
    }
    result_add_table(result, files);

    struct table *table = OPEN("profile", "Profile", profile_columns);
    size_t row = table_add_row(table);
    const char *kind = profile->sampled ? "samples" : "every call";
    table_set_text(table, row, PROFILE_KIND, kind, strlen(kind));
    table_set_int(table, row, PROFILE_FUNCTIONS, (int64_t)profile->listed_count);
    table_set_int(table, row, PROFILE_CALLS, profile->total.calls);
    table_set_int(table, row, PROFILE_PRIMITIVE, profile->total.primitive_calls);
    table_set_int(table, row, PROFILE_TIME, profile_ns(profile->total.total_s));
    table_set_int(table, row, PROFILE_EDGES, (int64_t)profile_count_callers(profile));
    table_set_int(table, row, PROFILE_SOURCES, count_sources(profile));
    result_add_table(result, table);
    info_add_containers_of_sums(&profile->origin, result);

    if (profile->odd_entries > 0)
        result_add_notice(result, "odd_entries", (int64_t)profile->odd_entries, NULL, profile->odd_offset,
                          "entries of the file are no functions and were passed over");
    if (profile->trailing_bytes > 0)
        result_add_notice(result, "trailing_bytes", (int64_t)profile->trailing_bytes, NULL, TPA_NOWHERE,
                          "bytes behind the end of the profile were not looked at");
    sums_add_notices(result, &profile->origin);
}

/* --- actions ------------------------------------------------------------------------------------------------- */

static const struct table_column action_columns[] = {
    { "stage", "Stage", TABLE_TEXT, "what the report is about: FIT, TEST ..." },
    { "actions", "Actions", TABLE_COUNT, "actions in the report" },
    { "calls", "Calls", TABLE_COUNT, "calls of all actions, as the report says" },
    { "total_time", "Time", TABLE_NS, "time since the profiler was made, as the report says" },
};

void info_add_action_tables(const struct action_report *report, struct result *result)
{
    struct table *table = OPEN("actions", "Actions", action_columns);
    size_t row = table_add_row(table);
    table_set_text(table, row, 0, report->stage, strlen(report->stage));
    table_set_int(table, row, 1, (int64_t)report->actions.count);
    if (report->total_calls >= 0)
        table_set_int(table, row, 2, report->total_calls);
    if (report->total_ns >= 0)
        table_set_int(table, row, 3, report->total_ns);
    result_add_table(result, table);
    info_add_containers_of_sums(&report->origin, result);
    if (report->odd_lines > 0)
        result_add_notice(result, "odd_lines", (int64_t)report->odd_lines, NULL, report->odd_offset,
                          "lines of the report are no rows and were passed over");
    sums_add_notices(result, &report->origin);
}
