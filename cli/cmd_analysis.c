/*
 * cmd_analysis.c - see cmd_analysis.h.
 *
 * The arguments of such a command are the shared ones followed by the analysis's own: the rows of its options are
 * copied with adjusted offsets.
 */
#include "cli/cmd_analysis.h"

#include "analyze/registry.h"
#include "cli/analysis.h"
#include "cli/output_tables.h"
#include "derive/file_set.h"
#include <assert.h>
#include <stdalign.h>

struct analysis_command;

struct shared_args {
    const struct analysis_command *own; /* the analysis: set by its defaults */
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    unsigned by; /* a bit for each word */
    const char *sort;
    bool reverse;
    bool only_rows; /* see analysis_query */
};

static const struct shared_args shared_defaults = { .load = LOAD_DEFAULTS,
                                                    .output = { .limit = ANALYSIS_LIMIT_DEFAULT } };

enum {
    ROWS_MOST = 64,                   /* rows of options */
    WORDS_MOST = 2 * DIMENSIONS + 16, /* words of --by */
    ANALYSES_MOST = 64,
};

/* Where the analysis's own arguments begin. */
static const size_t own_offset =
    (sizeof(struct shared_args) + alignof(max_align_t) - 1) / alignof(max_align_t) * alignof(max_align_t);

struct analysis_command {
    struct command command;
    const struct analysis *analysis;
    struct opt options[ROWS_MOST];
    struct opt_choice words[WORDS_MOST];
    unsigned bits[WORDS_MOST]; /* by word: its bits in analysis_query.by */
    max_align_t defaults[64];
};

/* ---- the options ---- */

static const struct opt by_row =
    OPT_CHOICES('b', "by", struct shared_args, by, NULL, "WHAT", "what makes a row");
static const struct opt sort_rows[] = {
    OPT_TEXT('s', "sort", struct shared_args, sort, "KEY", "sort by this column, largest first"),
    OPT_FLAG('r', "reverse", struct shared_args, reverse, "smallest first"),
    OPT_END,
};
static const struct opt capture_rows[] = {
    CAPTURE_OPTION(struct shared_args, load),
    OPT_END,
};
static const struct opt shared_rows[] = {
    SELECTION_OPTIONS(struct shared_args, selection),
    OUTPUT_OPTIONS(struct shared_args, output),
    LOAD_OPTIONS(struct shared_args, load),
    OPT_END,
};

static struct opt *add_rows(struct opt *to, const struct opt *rows, size_t offset)
{
    for (; rows && !opt_is_end(rows); rows++) {
        *to = *rows;
        to->offset += rows->name ? offset : 0;
        to++;
    }
    return to;
}

/* Accepted words come first, so that their index is their bit; refused ones last. */
static void fill_words(struct analysis_command *own)
{
    const struct analysis *analysis = own->analysis;
    size_t count = 0;
    for (unsigned d = 0; d < DIMENSIONS; d++)
        if (analysis->dimensions >> d & 1) {
            own->bits[count] = 1u << d;
            own->words[count++] = group_words[d];
        }
    for (int refused = 0; refused < 2; refused++)
        for (unsigned i = 0; analysis->own_words && analysis->own_words[i].name; i++)
            if ((analysis->own_words[i].refusal != NULL) == refused) {
                own->bits[count] = BY_OWN(i);
                own->words[count++] = analysis->own_words[i];
            }
    assert(count < WORDS_MOST);
}

static bool has_by(const struct analysis *analysis)
{
    return analysis->dimensions || analysis->own_words;
}

static void fill_options(struct analysis_command *own)
{
    const struct analysis *analysis = own->analysis;
    struct opt *row = own->options;
    bool headed = analysis->options && !analysis->options[0].name && analysis->options[0].help;
    if (has_by(analysis) || analysis->sorts || (analysis->options && !headed))
        *row++ = (struct opt)OPT_GROUP("Rows");
    if (has_by(analysis)) {
        fill_words(own);
        *row = by_row;
        row->choices = own->words;
        row->help = analysis->by_help ? analysis->by_help : by_row.help;
        row++;
    }
    if (analysis->sorts && !headed)
        row = add_rows(row, sort_rows, 0);
    row = add_rows(row, analysis->options, own_offset);
    if (analysis->sorts && headed)
        row = add_rows(row, sort_rows, 0);
    if (analysis->captures)
        row = add_rows(row, capture_rows, 0);
    row = add_rows(row, shared_rows, 0);
    *row = (struct opt)OPT_END;
    assert(row < own->options + ROWS_MOST);
}

/* ---- a run ---- */

/* The set requested by --by; false and ERR for several words if only one is accepted. */
static bool requested_dimensions(const struct shared_args *args, unsigned *by, struct tpa_error *err)
{
    const struct analysis *analysis = args->own->analysis;
    if (analysis->one_by && (args->by & (args->by - 1)))
        return tpa_fail(err, TPA_NOWHERE, "--by takes one word here");
    *by = args->by ? 0 : analysis->by_default;
    for (size_t i = 0; i < WORDS_MOST; i++)
        if (i < 32 && args->by >> i & 1)
            *by |= args->own->bits[i];
    return true;
}

/* Rows by name add up ranks: add a notice with their number. */
static void add_rank_notice(const struct analysis *analysis, const struct analysis_query *query,
                            struct result *result)
{
    const struct trace *trace = query->trace;
    size_t files =
        SUM(size_t, file, trace->file_count, !query->selection->files || query->selection->files[file]);
    if (files > 1 && file_set_of(trace)->ranks > 1 && analysis->dimensions & BY(RANK) &&
        !group_is_below_rank(query->by))
        ADD_NOTICE(result, "ranks_added_up", (int64_t)files,
                   "rows add up %zu files; --by with rank keeps them apart", files);
}

static bool analysis_add_tables(const struct trace *trace, const struct selection *selection,
                                const void *context, struct result *result, struct tpa_error *err)
{
    const struct shared_args *args = context;
    const struct analysis *analysis = args->own->analysis;
    struct analysis_query query = {
        .trace = trace,
        .selection = selection,
        .options = (const char *)context + own_offset,
        .filter = args->selection.filter,
        .exclude = args->selection.exclude,
        .most_rows = analysis_most_rows(&args->output),
        .for_people = output_is_for_people(&args->output),
        .by_given = args->by != 0,
        .only_rows = args->only_rows,
    };
    if (!requested_dimensions(args, &query.by, err) || !analysis->run(&query, result, err))
        return false;
    add_rank_notice(analysis, &query, result);
    return true;
}

/* Set up a call from ARGS, which points to WANTS and SELECTION. False and ERR if they are inconsistent. */
static bool call_of(const struct shared_args *args, struct trace_wants *wants,
                    struct selection_query *selection, struct analysis_call *request, struct tpa_error *err)
{
    const struct analysis *analysis = args->own->analysis;
    unsigned by = 0;
    if (!requested_dimensions(args, &by, err))
        return false;
    *wants = *analysis->wants;
    wants->args |= group_wants(by & ((1u << DIMENSIONS) - 1));
    if (analysis->more_args)
        wants->args |= analysis->more_args((const char *)args + own_offset);
    *selection = args->selection;
    if (analysis->filters_rows)
        selection->filter = selection->exclude = NULL;
    *request = (struct analysis_call){
        .schema = analysis->schema,
        .wants = wants,
        .load = &args->load,
        .query = selection,
        .output = &args->output,
        .sorts = analysis->sorts,
        .sort = args->sort,
        .reverse = args->reverse,
        .limited = analysis->limited,
        .add_tables = analysis_add_tables,
    };
    return true;
}

static int analysis_main(const struct invocation *call, struct tpa_error *err)
{
    const struct shared_args *args = call->args;
    struct trace_wants wants;
    struct selection_query selection;
    struct analysis_call request;
    return call_of(args, &wants, &selection, &request, err) ? analysis_run(call, &request, err)
                                                            : EXIT_TROUBLE;
}

/* ---- a result without a command line ---- */

/* Split LINE into words at blanks outside of quotes. LINE is changed; WORDS has room for all. */
static int split_words(char *line, char **words)
{
    int count = 0;
    char *to = line;
    for (;;) {
        while (*line == ' ' || *line == '\t' || *line == '\n')
            line++;
        if (!*line)
            return count;
        words[count++] = to;
        for (char quote = 0; *line && (quote || !strchr(" \t\n", *line)); line++) {
            if (quote ? *line == quote : *line == '\'' || *line == '"')
                quote = quote ? 0 : *line;
            else
                *to++ = *line;
        }
        line += *line != '\0';
        *to++ = '\0';
    }
}

static int json_format(void)
{
    int format = 0;
    while (strcmp(printers[format]->name, "json") != 0)
        format++;
    return format;
}

/* Refuse options of ARGS about reading files and printing: the files are read, and nothing is printed. */
static bool check_meaning(const struct shared_args *args, struct tpa_error *err)
{
    const struct load_args *load = &args->load, read = LOAD_DEFAULTS;
    const struct output_args *output = &args->output, *shown = &shared_defaults.output;
    const struct {
        const char *option;
        bool given;
    } options[] = {
        { "--output", output->path },
        { "--format", output->format != json_format() },
        { "--wide", output->wide != shown->wide },
        { "--notes", output->all_notes != shown->all_notes },
        { "--color", output->color != shown->color },
        { "--capture", load->captures.count > 0 },
        { "--step-range", load->step_range },
        { "--jobs", load->jobs != read.jobs },
        { "--max-ratio", load->max_ratio != read.max_ratio },
        { "--strict", load->strict != read.strict },
        { "--no-progress", load->progress != read.progress },
    };
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        if (!options[i].given)
            continue;
        tpa_fail(err, TPA_NOWHERE, "%s has no meaning for a function of SQL", options[i].option);
        return tpa_hint(err, "give it to tpa sql itself, or leave it out");
    }
    return true;
}

/* The result of ARGS for TRACE, with the requested tables, columns and rows. */
static struct result *answer_to(const struct shared_args *args, const struct trace *trace,
                                struct tpa_error *err)
{
    struct trace_wants wants;
    struct selection_query selection;
    struct analysis_call request;
    if (!check_meaning(args, err) || !call_of(args, &wants, &selection, &request, err))
        return NULL;
    struct result *result = result_open(request.schema);
    const struct output_args *output = &args->output;
    bool good = analysis_answer(trace, args->own->command.needs, &request, args, result, err) &&
                analysis_order(&request, result, err) &&
                (!output->tables || output_select_tables(result, output->tables, err)) &&
                (!output->columns || output_select_columns(result, output->columns, err));
    if (good) {
        struct limit limit = analysis_limit(output);
        output_limit_rows(result, &limit);
        return result;
    }
    result_free(result);
    return NULL;
}

struct result *cmd_analysis_answer(const char *name, const char *options, const struct trace *trace,
                                   struct tpa_error *err)
{
    size_t index = 0;
    while (strcmp(analyses[index]->name, name) != 0)
        index++;
    const struct command *command = cmd_analysis_at(index);
    char *line = mem_strdup(options), **words = mem_alloc((strlen(options) / 2 + 2) * sizeof *words);
    SCOPED struct shared_args *args = mem_alloc(command->args_size);
    memcpy(args, command->defaults, command->args_size);
    args->output.format = json_format(); /* for programs: every row */
    args->only_rows = true;
    struct operands operands;
    struct result *result = NULL;
    if (options_parse(command->options, args, split_words(line, words), words, &operands, err)) {
        if (operands.count || operands.help_wanted)
            tpa_fail(err, TPA_NOWHERE, "'%s' is not an option of tpa %s",
                     operands.count ? operands.at[0] : "--help", name);
        else
            result = answer_to(args, trace, err);
    }
    options_release(command->options, args);
    EACH(free, words, line);
    return result;
}

static const char *name_at(size_t index)
{
    return analyses[index] ? analyses[index]->name : NULL;
}

const struct trace_sql_functions cmd_analysis_functions = { name_at, cmd_analysis_answer };

/* ---- the commands ---- */

static struct analysis_command
    *made[ANALYSES_MOST]; /* each when first requested; to the end of the process */

static void make_command(struct analysis_command *own, const struct analysis *analysis)
{
    own->analysis = analysis;
    fill_options(own);
    assert(own_offset + analysis->options_size <= sizeof own->defaults);
    struct shared_args shared = shared_defaults;
    shared.own = own;
    memcpy(own->defaults, &shared, sizeof shared);
    if (analysis->options_size)
        memcpy((char *)own->defaults + own_offset, analysis->defaults, analysis->options_size);
    own->command = (struct command){
        .name = analysis->name,
        .summary = analysis->summary,
        .operands = "TRACE...",
        .description = analysis->description,
        .options = own->options,
        .defaults = own->defaults,
        .args_size = own_offset + analysis->options_size,
        .main = analysis_main,
        .section = SECTION_ANALYZE,
        .needs = analysis->needs,
        .reads_traces = true,
    };
    memcpy(own->command.tables, analysis->tables, sizeof analysis->tables);
    memcpy(own->command.examples, analysis->examples, sizeof own->command.examples);
}

const struct command *cmd_analysis_at(size_t index)
{
    assert(index < ANALYSES_MOST);
    if (!made[index] && analyses[index]) {
        made[index] = mem_zalloc(1, sizeof *made[index]);
        make_command(made[index], analyses[index]);
    }
    return made[index] ? &made[index]->command : NULL;
}
