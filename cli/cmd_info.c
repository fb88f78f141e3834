/* cmd_info.c - `tpa info`: the contents of a file, and the analyses that apply to it. */
#include "analyze/info.h"
#include "profile/view.h"
#include "cli/commands.h"
#include "cli/kept.h"
#include "cli/load.h"
#include "derive/features.h"
#include "memory/snapshot_analysis.h"

enum { ROWS_FOR_PEOPLE = 15 }; /* of each table, so that it fits a screen */

struct info_args {
    bool formats;
    struct load_args load;
    struct output_args output;
};

static const struct info_args info_defaults = { .load = LOAD_DEFAULTS,
                                                .output = { .limit = { .share = LIMIT_NOT_GIVEN } } };

static const struct opt info_opts[] = {
    OPT_GROUP("Question"),
    OPT_FLAG(0, "formats", struct info_args, formats, "list the formats that can be read; takes no file"),
    OPT_ALL(struct info_args, output),
    OUTPUT_OPTIONS(struct info_args, output),
    LOAD_OPTIONS(struct info_args, load),
    OPT_END,
};

static const struct table_column format_columns[] = {
    { "format", "Format", TABLE_NAME, "name of the format" },
    { "description", "Who writes it", TABLE_TEXT, "who writes it" },
};

static void add_formats(struct result *result)
{
    struct table *table = table_open("formats", "Formats", format_columns, 2);
    for (size_t i = 0; formats[i]; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, 0, formats[i]->name, strlen(formats[i]->name));
        table_set_text(table, row, 1, formats[i]->description, strlen(formats[i]->description));
    }
    result_add_table(result, table);
}

/* --- commands ------------------------------------------------------------------------------------------------ */

/* "GPU work and steps": the features in BITS. */
static void list_features(unsigned bits, struct buffer *out)
{
    for (unsigned i = 0; i < FEATURE_COUNT; i++) {
        if (!(bits >> i & 1))
            continue;
        bits &= ~(1u << i);
        buffer_printf(out, "%s%s",
                      out->count == 0 ? ""
                      : bits == 0     ? " and "
                                      : ", ",
                      trace_feature_name(1u << i));
    }
}

static const struct table_column command_columns[] = {
    { "command", "Command", TABLE_NAME, "the command" },
    { "summary", "Answers", TABLE_TEXT, "what it answers" },
    { "ready", "Ready", TABLE_BOOL, "does the file hold what it needs?", TABLE_OPTIONAL },
    { "missing", "Lacks", TABLE_TEXT, "what the file does not hold" },
    { "recipe", "To have it", TABLE_TEXT, "how to record what is missing", TABLE_OPTIONAL },
};

/* What COMMAND answers, where modules have the name that they have in INPUT. */
static void set_summary(struct table *table, size_t row, const struct command *command,
                        const struct ingested *input)
{
    static const char ours[] = "nn.Module";
    SCOPED struct buffer text = { 0 };
    const char *found = input->trace ? strstr(command->summary, ours) : NULL;
    buffer_add(&text, command->summary,
               found ? (size_t)(found - command->summary) : strlen(command->summary));
    if (found)
        buffer_printf(&text, "%s%s", trace_module_word(input->trace), found + strlen(ours));
    table_set_text(table, row, 1, text.at, text.count);
}

/* Add the commands that apply to INPUT, and what the others lack. */
static void add_commands(const struct ingested *input, struct result *result)
{
    struct table *table = table_open("commands", "Commands for this file", command_columns,
                                     sizeof command_columns / sizeof *command_columns);
    unsigned has = input->trace ? trace_features(input->trace) : 0;
    SCOPED struct buffer missing = { 0 };
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        bool reads = input->trace                ? command->reads_traces
                     : input->profile            ? command->reads_profiles
                     : input->snapshots.of.count ? command->reads_snapshots
                                                 : command->reads_actions;
        bool blind = command->needs_callers && input->profile && !profile_has_callers(input->profile);
        if (!reads || blind || command->section == SECTION_HIDDEN)
            continue;
        size_t row = table_add_row(table);
        unsigned lacks = input->trace ? command->needs & ~has : 0;
        table_set_text(table, row, 0, command->name, strlen(command->name));
        set_summary(table, row, command, input);
        table_set_int(table, row, 2, lacks == 0);
        if (lacks == 0)
            continue;
        buffer_clear(&missing);
        list_features(lacks, &missing);
        table_set_text(table, row, 3, missing.at, missing.count);
        const char *recipe = trace_feature_recipe(input->trace, lacks & -lacks);
        table_set_text(table, row, 4, recipe, strlen(recipe));
    }
    table->uncut = true;
    result_add_table(result, table);
}

static const struct table_column lack_columns[] = {
    { "feature", "Lacks", TABLE_NAME, "what the file does not hold" },
    { "how", "To have it", TABLE_TEXT, "how to record it" },
    { "commands", "Then answers", TABLE_TEXT, "the commands that need it", TABLE_OPTIONAL },
};

/* Add what TRACE lacks for some command, and how to record it. People know whether they have several ranks to record. */
static void add_lacks(const struct trace *trace, bool for_people, struct result *result)
{
    struct table *table =
        table_open("lacks", "What the file lacks", lack_columns, sizeof lack_columns / sizeof *lack_columns);
    unsigned has = trace_features(trace);
    struct buffer waiting = { 0 };
    for (unsigned f = 0; f < FEATURE_COUNT; f++) {
        unsigned feature = 1u << f;
        buffer_clear(&waiting);
        for (size_t i = 0; command_at(i) && !(has & feature); i++)
            if (command_at(i)->needs & feature && command_at(i)->section != SECTION_HIDDEN)
                buffer_printf(&waiting, "%s%s", waiting.count ? ", " : "", command_at(i)->name);
        if (waiting.count == 0 || (for_people && feature == FEATURE_COLLECTIVES))
            continue;
        const char *name = trace_feature_name(feature), *recipe = trace_feature_recipe(trace, feature);
        size_t row = table_add_row(table);
        table_set_text(table, row, 0, name, strlen(name));
        table_set_text(table, row, 1, recipe, strlen(recipe));
        table_set_text(table, row, 2, waiting.at, waiting.count);
    }
    buffer_release(&waiting);
    table->uncut = true;
    if (table->row_count)
        result_add_table(result, table);
    else
        table_free(table);
}

static void info_own_add_tables(const struct ingested *input, struct result *result)
{
    if (input->trace)
        info_add_tables(input->trace, result);
    else if (input->snapshots.of.count)
        snapshot_add_info(&input->snapshots, result);
    else if (input->profile)
        info_add_profile_tables(input->profile, result);
    else
        info_add_action_tables(input->actions, result);
}

/* Does the table KEY, behind the first, answer the question for a file? The others are details. */
static bool stands_first(const char *key)
{
    return strcmp(key, "devices") == 0 || strcmp(key, "lacks") == 0 || strcmp(key, "profile") == 0;
}

/* Leave out the columns of TABLE that a person is not shown, or in which no row has a value. */
static void select_columns_with_values(struct table *table)
{
    size_t *kept = mem_alloc(mem_times(table->column_count + 1, sizeof *kept)), count = 0;
    for (size_t c = 0; c < table->column_count; c++) {
        size_t row = 0;
        while (row < table->row_count && table_is_missing(table, row, c))
            row++;
        if (row < table->row_count && !(table->columns[c].flags & (TABLE_OPTIONAL | TABLE_HIDDEN)))
            kept[count++] = c;
    }
    table_select(table, kept, count);
    free(kept);
}

/* One screen: what says something, and of notes what is damaged or missing; --all, --notes, --wide and --columns show the rest. */
static void info_fit_screen(const struct output_args *output, struct result *result)
{
    for (size_t i = 0; i < result->tables.count; i++) {
        struct table *table = result->tables.at[i];
        table->detail = i > 0 && !stands_first(table->key);
        table->single = SINGLE_IF_ALL_FIT;
        if (!table->detail && !output->wide && !output->all && !output->columns)
            select_columns_with_values(table);
    }
    for (size_t i = 0; i < result->notices.count; i++)
        result->notices.at[i].minor |= !result->notices.at[i].lacks;
}

/* Cut RESULT, and print it. */
static bool print_info(const struct info_args *args, struct result *result, struct tpa_error *err)
{
    struct output_args output = args->output;
    output.limit = args->formats ? (struct limit){ 0 } : output_limit_or(&args->output, ROWS_FOR_PEOPLE);
    if (!args->formats && output_is_for_people(&args->output)) {
        output_limit_rows(result, &output.limit);
        info_fit_screen(&args->output, result);
    }
    return output_result(result, &output, err);
}

static int info_main(const struct invocation *call, struct tpa_error *err)
{
    const struct info_args *args = call->args;
    if (!args->formats && call->operand_count == 0) {
        tpa_fail(err, TPA_NOWHERE, "operand missing: tpa info [OPTIONS] TRACE...");
        return EXIT_TROUBLE;
    }
    struct kept_query query = { call, NULL, 0 };
    struct result *known = kept_find(&query);
    if (known)
        return print_info(args, known, err) ? EXIT_FINE : EXIT_TROUBLE;
    struct ingested input = { 0 };
    struct result *result = result_open("tpa.info/1");
    bool good = args->formats ||
                load_any(call, &args->load,
                         &(struct trace_wants){
                             .args = FEATURE_WANTS | WANT(CORRELATION), .flows = true, .counters = true },
                         &input, err);
    if (good && args->formats) {
        add_formats(result);
    } else if (good) {
        info_own_add_tables(&input, result);
        if (input.trace)
            add_lacks(input.trace, output_is_for_people(&args->output), result);
        add_commands(&input, result);
        if (input.trace)
            load_add_notices(input.trace, result);
    }
    bool kept = good && kept_put(&query, result);
    if (good && kept_branch())
        good = print_info(args, result, err);
    if (!kept)
        result_free(result);
    ingested_free(&input);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

static const struct table_shape command_tables[] = {
    TABLE_SHAPE("lacks", lack_columns),
    TABLE_SHAPE("commands", command_columns),
    TABLE_SHAPE("formats", format_columns),
    { 0 },
};

const struct command cmd_info = {
    .name = "info",
    .summary = "what a file holds, and which commands apply to it",
    .operands = "[TRACE...]",
    .description =
        "Shows the files with their producer, rank, span and steps; the devices; "
        "what they lack, and how to record it. --all adds what they say of themselves, the events by category, the tracks, and "
        "which commands have an answer for them. What was damaged or odd is listed at the end.",
    .tables = { info_tables, info_container_tables, command_tables, profile_info_tables,
                snapshot_info_tables },
    .options = info_opts,
    COMMAND_ARGS(info_defaults),
    .main = info_main,
    .examples = { "tpa info trace.json", "tpa info --limit 0 --wide logs/",
                  "tpa info --format json trace.json.gz", "tpa info --formats" },
    .section = SECTION_ANALYZE,
    .reads_snapshots = true,
    .reads_traces = true,
    .reads_profiles = true,
    .reads_actions = true,
};
