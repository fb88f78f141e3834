#include "profile/view.h"

#include "analyze/info.h"

/* --- profiles ------------------------------------------------------------------------------------------------ */

struct file_row {
    struct text path;
};

static const struct table_column file_columns[] = {
    COLUMN(struct file_row, path, "file", "File", TABLE_NAME, "the file"),
};

struct profile_row {
    struct text kind;
    int64_t functions, calls, primitive_calls, time_ns, edges, sources;
};

/* clang-format off */
static const struct table_column profile_columns[] = {
    COLUMN(struct profile_row, kind, "kind", "Kind", TABLE_TEXT, "how it was measured: every call, or samples"),
    COLUMN(struct profile_row, functions, "functions", "Functions", TABLE_TALLY, "functions with figures of their own"),
    COLUMN(struct profile_row, calls, "calls", "Calls", TABLE_TALLY, "function calls; of a sampling profiler, samples on the stack"),
    COLUMN(struct profile_row, primitive_calls, "primitive_calls", "Primitive", TABLE_TALLY, "calls that were not made from within the function itself"),
    COLUMN(struct profile_row, time_ns, "total_time", "Time", TABLE_NS, "time in all functions"),
    COLUMN(struct profile_row, edges, "callers", "Callers", TABLE_TALLY, "pairs of caller and called function"),
    COLUMN(struct profile_row, sources, "source_files", "Source files", TABLE_COUNT, "distinct files that functions are in"),
};
/* clang-format on */

/* Distinct files of the listed functions; "~" means built-in and is not a file. */
static int64_t count_sources(const struct profile *profile)
{
    SCOPED_OBJECT struct names *sources = names_open();
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        if (function->file_length != 1 || function->file[0] != '~')
            names_add(sources, function->file, function->file_length);
    }
    return (int64_t)names_count(sources);
}

void info_add_profile_tables(const struct profile *profile, struct result *result)
{
    struct table *files = TABLE_OF_ROWS("files", "Files", file_columns, (struct file_row *)NULL, 0);
    for (size_t i = 0; i < profile->files.count; i++) {
        struct file_row row = { as_text(profile->files.at[i].path) };
        table_add_rows(files, &row, 1, sizeof row);
    }
    result_add_table(result, files);
    struct profile_row row = { .kind = as_text(profile->sampled ? "samples" : "every call"),
                               .functions = (int64_t)profile->listed_count,
                               .calls = profile->total.calls,
                               .primitive_calls = profile->total.primitive_calls,
                               .time_ns = profile_is_timed(profile) ? profile_ns(profile->total.total_s)
                                                                    : TABLE_INT_MISSING,
                               .edges = profile_has_callers(profile)
                                            ? SUM(int64_t, i, profile->listed_count,
                                                  profile->functions[profile->listed[i]].edge_count)
                                            : TABLE_INT_MISSING, /* of a listed function and a caller of it */
                               .sources = count_sources(profile) };
    result_add_table(result, TABLE_OF_ROWS("profile", "Profile", profile_columns, &row, 1));

    if (profile->odd_entries > 0)
        result_add_notice(result, "odd_entries", (int64_t)profile->odd_entries, NULL, profile->odd_offset,
                          "entries of the file are not functions and were skipped");
    if (profile->trailing_bytes > 0)
        ADD_NOTICE(result, "trailing_bytes", (int64_t)profile->trailing_bytes,
                   "bytes behind the end of the profile were not looked at");
    sums_add_notices(result, &profile->origin);
}

struct action_row {
    struct text stage;
    int64_t actions, calls, time_ns;
};

/* clang-format off */
static const struct table_column action_columns[] = {
    COLUMN(struct action_row, stage, "stage", "Stage", TABLE_TEXT, "what the report is about: FIT, TEST ..."),
    COLUMN(struct action_row, actions, "actions", "Actions", TABLE_TALLY, "actions in the report"),
    COLUMN(struct action_row, calls, "calls", "Calls", TABLE_TALLY, "calls of all actions, as the report says"),
    COLUMN(struct action_row, time_ns, "total_time", "Time", TABLE_NS, "time since the profiler was made, as the report says"),
};
/* clang-format on */

void info_add_action_tables(const struct action_report *report, struct result *result)
{
    struct action_row row = { .stage = as_text(report->stage),
                              .actions = (int64_t)report->actions.count,
                              .calls = report->total_calls >= 0 ? report->total_calls : TABLE_INT_MISSING,
                              .time_ns = report->total_ns >= 0 ? report->total_ns : TABLE_INT_MISSING };
    result_add_table(result, TABLE_OF_ROWS("actions", "Actions", action_columns, &row, 1));
    if (report->odd_lines > 0)
        result_add_notice(result, "odd_lines", (int64_t)report->odd_lines, NULL, report->odd_offset,
                          "lines of the report are not rows and were skipped");
    sums_add_notices(result, &report->origin);
}

const struct table_shape profile_info_tables[] = {
    TABLE_SHAPE("files", file_columns, .of = "profiles"),
    TABLE_SHAPE("profile", profile_columns, .of = "profiles"),
    TABLE_SHAPE("actions", action_columns, .of = "actions"),
    { 0 },
};
