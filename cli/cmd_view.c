/* cmd_view.c - `tpa view`: a server on this machine that shows every event of a recording; see view/server.h. */
#include "charts/timeline.h"
#include "cli/cmd_analysis.h"
#include "cli/commands.h"
#include "cli/parts.h"
#include "cli/timeline.h"
#include "derive/features.h"
#include "base/shell_word.h"
#include "report/json_parts.h"
#include "report/page.h"
#include "summary/summary.h"
#include "view/answers.h"
#include "view/server.h"
#include "view/sides.h"

#include <inttypes.h>
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

struct view_args {
    struct load_args load;
    uint64_t port;
    int64_t idle_ns;
    struct ranges align;
    bool browser;
};

static const struct view_args view_defaults = { .load = LOAD_DEFAULTS,
                                                .idle_ns = INT64_C(1800000000000),
                                                .browser = true };

/* clang-format off */
static const struct opt view_opts[] = {
    OPT_GROUP("Server"),
    OPT_COUNT(0, "port", struct view_args, port, 0, 65535, "N", "listen on port N of 127.0.0.1 and ::1; 0, as without it, takes one that is free"),
    OPT_TIME(0, "idle", struct view_args, idle_ns, "TIME", "end after so long without a request; 0 never does"),
    OPT_FLAG(0, "browser", struct view_args, browser, "print the address, and open no browser"),
    OPT_GROUP("Separate runs"),
    OPT_RANGES(0, "align", struct view_args, align, "N", "step N of each begins at one moment; without it, the first that all have"),
    LOAD_OPTIONS(struct view_args, load),
    OPT_END,
};
/* clang-format on */

/* ---- answers ---- */

struct viewing {
    const struct invocation *call;
    const char *title, *subtitle;
    struct arena arena;
    struct result *notes; /* what is odd about the traces */
    int64_t *shift_ns;    /* by file, for SQL */
    struct view_sides sides;
    const struct trace *trace;
    const struct timeline *timeline; /* of all of it */
    struct buffer findings;          /* once requested */
    atomic_int stop;                 /* the query that runs */
};

/* ---- sides ---- */

/* Where the clock of FILE begins on the axis. */
static int64_t origin_of(const struct viewing *viewing, size_t file)
{
    return viewing->timeline->files.at[file].origin_ns - viewing->timeline->start_ns;
}

static size_t first_file_of(const struct viewing *viewing, size_t side)
{
    size_t file = 0;
    while (viewing->sides.side && viewing->sides.side[file] != side)
        file++;
    return file;
}

/* The moment AT_NS of the axis as --range counts it for SIDE; below 0: it is before all of it. One job has one axis. */
static int64_t moment_of_side(const struct viewing *viewing, size_t side, int64_t at_ns)
{
    return viewing->sides.side ? at_ns - origin_of(viewing, first_file_of(viewing, side)) : at_ns;
}

/* Is PATH that of a file of OPERAND: itself, or in its folder? */
static bool is_below(const char *path, const char *operand)
{
    size_t len = strlen(operand);
    while (len > 1 && operand[len - 1] == '/')
        len--;
    return strncmp(path, operand, len) == 0 && (path[len] == '\0' || path[len] == '/' || path[len] == '@');
}

/* Of how many files of SIDE, or of the other sides, OPERAND is. */
static size_t files_below(const struct viewing *viewing, const struct trace *trace, const char *operand,
                          size_t side, bool of_others)
{
    return SUM(size_t, f, trace->file_count,
               (viewing->sides.side[f] != side) == of_others && is_below(trace->files[f].path, operand));
}

static void view_add_word(struct buffer *out, const char *word)
{
    buffer_putc(out, ' ');
    shell_word_append(out, word, strlen(word));
}

/* The files of SIDE as words of a command line: the operands that are of it alone, else each file. */
static void view_name_side(const struct viewing *viewing, const struct trace *trace, size_t side,
                           struct buffer *out)
{
    const struct invocation *call = viewing->call;
    SCOPED bool *named = mem_zalloc(trace->file_count + 1, sizeof *named);
    for (size_t i = 0; i < call->operand_count; i++) {
        const char *operand = call->operands[i];
        if (viewing->sides.side && (files_below(viewing, trace, operand, side, true) ||
                                    !files_below(viewing, trace, operand, side, false)))
            continue;
        view_add_word(out, operand);
        for (size_t f = 0; f < trace->file_count; f++)
            named[f] = named[f] || is_below(trace->files[f].path, operand);
    }
    for (size_t f = 0; viewing->sides.side && f < trace->file_count; f++)
        if (viewing->sides.side[f] == side && !named[f])
            view_add_word(out, trace->files[f].path);
}

/* " --rank 0,2" where SIDE is one of several. */
static void add_ranks(const struct viewing *viewing, const struct trace *trace, size_t side,
                      struct buffer *out)
{
    const char *before = " --rank ";
    for (uint32_t f = 0; viewing->sides.side && f < trace->file_count; f++)
        if (viewing->sides.side[f] == side) {
            buffer_printf(out, "%s%" PRId64, before, selection_rank(trace, f));
            before = ",";
        }
}

/* ---- sums ---- */

/* Append the rows of the first table of the analysis NAME with OPTIONS, *BEFORE first; nothing if it has none. */
static bool view_add_rows(const char *name, const char *options, const struct trace *trace,
                          const char **before, struct buffer *out, struct tpa_error *err)
{
    SCOPED_BY(result_free_at) struct result *result = cmd_analysis_answer(name, options, trace, err);
    if (!result)
        return false;
    SCOPED struct buffer rows = { 0 };
    struct json_writer json = { .text = &rows, .compact = true };
    bool good = result->tables.count == 0 || json_add_rows(&json, result->tables.at[0], NULL, err);
    if (good && rows.count > 2) { /* within its brackets */
        buffer_puts(out, *before);
        buffer_add(out, rows.at + 1, rows.count - 2);
        *before = ",";
    }
    return good;
}

/* For view_commands. Of several sides each with its own clock. */
static bool view_sum(void *context, const struct trace *trace, int64_t from_ns, int64_t to_ns,
                     struct buffer *out, struct tpa_error *err)
{
    static const char *const questions[][3] = {
        { "\"devices\":[", "gpu", "--table devices" },
        { "],\"idle\":[", "gaps", "--table causes --by device --min 1000000s" }
    }; /* so that no gap is listed */
    const struct viewing *viewing = context;
    SCOPED struct buffer options = { 0 };
    bool good = true;
    for (size_t q = 0; q < 2 && good; q++) {
        const char *before = "";
        buffer_puts(out, questions[q][0]);
        for (size_t side = 0; side < viewing->sides.count && good; side++) {
            int64_t own_ns = moment_of_side(viewing, side, from_ns),
                    end_ns = moment_of_side(viewing, side, to_ns);
            if (end_ns <= 0)
                continue;
            buffer_clear(&options);
            buffer_printf(&options, "%s --range %" PRId64 "ns..%" PRId64 "ns", questions[q][2],
                          own_ns < 0 ? 0 : own_ns, end_ns);
            add_ranks(viewing, trace, side, &options);
            good = view_add_rows(questions[q][1], options.at, trace, &before, out, err);
        }
    }
    buffer_putc(out, ']');
    return good;
}

/* ---- SQL ---- */

/* Print RESULT as JSON into OUT. */
static bool add_result(const struct result *result, struct buffer *out, struct tpa_error *err)
{
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return tpa_fail_errno(err, "cannot print the rows");
    bool good = printer_find("json")->print(result, &(struct print_options){ 0 }, memory, err);
    good = (fclose(memory) == 0 || tpa_fail_errno(err, "cannot print the rows")) && good;
    if (good)
        buffer_add(out, text, size);
    free(text);
    return good;
}

static bool run_query(struct viewing *viewing, struct trace_sql *sql, const struct trace *trace,
                      const char *query, size_t most, struct buffer *out, struct tpa_error *err)
{
    enum { MOST_BYTES = 16 << 20 };
    static const int64_t limit_ns = INT64_C(30000000000);
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.sql/1");
    struct table *table = NULL;
    viewing->stop = 0;
    trace_sql_use(sql, trace, viewing->shift_ns);
    trace_sql_limit(sql, limit_ns, &viewing->stop, NULL);
    trace_sql_limit_rows(sql, MOST_BYTES);
    bool good;
    while ((good = trace_sql_next(sql, &query, most, &table, err)) && table)
        result_add_table(result, table);
    if (good && result->tables.count == 0)
        good = tpa_fail(err, TPA_NOWHERE, "the query holds no statement");
    if (good) {
        trace_sql_add_notices(sql, result);
        good = add_result(result, out, err);
    }
    return good;
}

/* Does TRACE have all of WANTS? */
static bool has_all(const struct trace *trace, const struct trace_wants *wants)
{
    return !(wants->args & ~trace->wants.args) && (!wants->flows || trace->wants.flows) &&
           (!wants->counters || trace->wants.counters);
}

/* TRACE, if it has all of WANTS, else the same files read again into *MORE; NULL and ERR if that fails. */
static const struct trace *with_all(struct viewing *viewing, const struct trace *trace,
                                    const struct trace_wants *wants, struct trace **more,
                                    struct tpa_error *err)
{
    struct load_args load = ((const struct view_args *)viewing->call->args)->load;
    load.progress = false;
    *more = has_all(trace, wants) ? NULL : load_traces(viewing->call, &load, wants, err);
    return has_all(trace, wants) ? trace : *more;
}

/* For view_commands. What the query reads and pictures do not is read from the files again, for it alone. */
static bool view_sql(void *context, const struct trace *trace, const char *query, size_t most,
                     struct buffer *out, struct tpa_error *err)
{
    struct viewing *viewing = context;
    struct trace_wants wants = { 0 };
    struct trace_sql *sql = trace_sql_open(&cmd_analysis_functions, err);
    struct trace *more = NULL;
    if (!sql)
        return false;
    trace_sql_wants(sql, query, &wants);
    const struct trace *all = with_all(viewing, trace, &wants, &more, err);
    bool good = all && run_query(viewing, sql, all, query, most, out, err);
    trace_sql_free(sql);
    trace_free(more);
    return good;
}

static void view_stop(void *context)
{
    ((struct viewing *)context)->stop = 1;
}

/* For view_commands. Those of all are made once. Separate runs have none together. */
static bool view_findings(void *context, const struct view_spans *spans, int64_t from_ns, int64_t to_ns,
                          struct buffer *out, struct tpa_error *err)
{
    struct viewing *viewing = context;
    SCOPED struct buffer range = { 0 };
    bool good = true;
    if (viewing->sides.count > 1) {
        buffer_puts(out, "[]");
    } else if (from_ns != VIEW_NOT_GIVEN) {
        buffer_printf(&range, "%" PRId64 "ns..%" PRId64 "ns", from_ns, to_ns);
        good = view_add_findings(spans, range.at, out, err);
    } else {
        if (!viewing->findings.count)
            good = view_add_findings(spans, NULL, &viewing->findings, err);
        if (!good)
            buffer_clear(&viewing->findings);
        buffer_add(out, viewing->findings.at, viewing->findings.count);
    }
    return good;
}

/* ---- what the page is told ---- */

static bool has_range(const struct command *command)
{
    const struct opt *row = command->options;
    while (row && !opt_is_end(row) && !(row->name && strcmp(row->name, "range") == 0))
        row++;
    return row && !opt_is_end(row);
}

static bool is_function(const char *name)
{
    size_t i = 0;
    while (cmd_analysis_functions.name_at(i) && strcmp(cmd_analysis_functions.name_at(i), name) != 0)
        i++;
    return cmd_analysis_functions.name_at(i) != NULL;
}

/* For view_commands: the sides, and the commands that take a stretch of traces. */
static void view_describe(void *context, struct buffer *out)
{
    const struct viewing *viewing = context;
    const struct trace *trace = viewing->trace;
    struct json_writer json = { .text = out, .compact = true };
    struct buffer words = { 0 };
    buffer_puts(out, "\"sides\":");
    json_begin_array(&json);
    for (size_t side = 0; side < viewing->sides.count; side++) {
        json_begin_object(&json);
        json_key(&json, "label");
        json_emit_text(&json, viewing->sides.label ? viewing->sides.label[side] : "");
        json_key(&json, "origin_ns");
        json_emit_integer(&json, -moment_of_side(viewing, side, 0));
        buffer_clear(&words);
        view_name_side(viewing, trace, side, &words);
        json_key(&json, "files");
        json_emit_string(&json, words.at + 1, words.count - 1);
        buffer_clear(&words);
        add_ranks(viewing, trace, side, &words);
        json_key(&json, "options");
        json_emit_string(&json, words.count ? words.at + 1 : "", words.count ? words.count - 1 : 0);
        json_end_object(&json);
    }
    json_end_array(&json);
    buffer_release(&words);
    buffer_puts(out, ",\"step\":");
    if (viewing->sides.has_step)
        buffer_printf(out, "%" PRId64, viewing->sides.number);
    else
        buffer_puts(out, "null");
    buffer_puts(out, ",\"commands\":");
    json = (struct json_writer){ .text = out, .compact = true };
    json_begin_array(&json);
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        if (!command->reads_traces || !has_range(command) || command->section == SECTION_HIDDEN)
            continue;
        json_begin_object(&json);
        json_key(&json, "command");
        json_emit_text(&json, command->name);
        json_key(&json, "help");
        json_emit_text(&json, command->summary);
        json_key(&json, "function");
        json_emit_bool(&json, is_function(command->name));
        json_end_object(&json);
    }
    json_end_array(&json);
}

/* For view_commands. */
static bool view_page(void *context, const struct view_spans *spans, const struct buffer *first,
                      struct buffer *out, struct tpa_error *err)
{
    struct viewing *viewing = context;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return tpa_fail_errno(err, "cannot put the page together");
    struct page page = {
        .maker = "tpa view", .title = viewing->title, .subtitle = viewing->subtitle, .live = first
    };
    struct page_section *section = page_add_section(&page, "timeline", NULL, NULL);
    *VEC_PUSH(&section->timelines) = spans->timeline;
    for (size_t i = 0; i < viewing->notes->notices.count; i++)
        *VEC_PUSH(&section->notices) = viewing->notes->notices.at[i];
    bool good = page_write(&page, memory, err);
    page_release(&page);
    good = (fclose(memory) == 0 || tpa_fail_errno(err, "cannot put the page together")) && good;
    if (good)
        buffer_add(out, text, size);
    free(text);
    return good;
}

/* Open ADDRESS in the browser of the user. The browser goes on when tpa ends. */
static void open_browser(const char *address)
{
    const char *chosen = getenv("BROWSER");
    pid_t child = fork();
    if (child != 0) {
        if (child > 0)
            waitpid(child, NULL, 0);
        return;
    }
    if (fork() != 0) /* so that nobody has to wait for the browser */
        _exit(0);
    if (!freopen("/dev/null", "w", stdout) || !freopen("/dev/null", "w", stderr))
        _exit(0);
    setsid();
    if (chosen && *chosen)
        execlp(chosen, chosen, address, (char *)NULL);
    execlp("xdg-open", "xdg-open", address, (char *)NULL);
    _exit(0);
}

/* ---- the command ---- */

static atomic_int stopped;

static void record_end(int signal_number)
{
    (void)signal_number;
    stopped = 1;
}

/* A sum that runs is left to itself: it writes nothing. */
static void leave(void *context)
{
    (void)context;
    _exit(EXIT_FINE);
}

static void tell_address(void *context, const char *address)
{
    const struct viewing *viewing = context;
    const struct view_args *args = viewing->call->args;
    printf("%s\n", address);
    fflush(stdout);
    if (args->browser)
        open_browser(address);
}

/* Serve until the user, or that nobody asks, ends it. */
static bool serve(struct view_answers *answers, struct viewing *viewing, struct tpa_error *err)
{
    const struct view_args *args = viewing->call->args;
    struct sigaction old[2], action = { .sa_handler = record_end, .sa_flags = (int)SA_RESETHAND };
    sigemptyset(&action.sa_mask);
    sigaction(SIGINT, &action, &old[0]);
    sigaction(SIGTERM, &action, &old[1]);
    bool good = view_serve(&(struct view_server_options){ .port = (unsigned)args->port,
                                                          .idle_ns = args->idle_ns,
                                                          .answers = answers,
                                                          .context = viewing,
                                                          .tell = tell_address,
                                                          .stop = view_stop,
                                                          .leave = leave },
                           &stopped, err);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    return good;
}

/* "623 events of 1 file"; of separate runs which are compared, and what begins at one moment. */
static const char *subtitle_of(struct viewing *viewing, const struct trace *trace)
{
    const struct view_sides *sides = &viewing->sides;
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%zu event%s of %zu file%s", trace->event_count, trace->event_count == 1 ? "" : "s",
                  trace->file_count, trace->file_count == 1 ? "" : "s");
    for (size_t side = 0; side < sides->count && sides->side; side++) {
        buffer_printf(&text, "; %s:", sides->label[side]);
        view_name_side(viewing, trace, side, &text);
    }
    if (sides->has_step)
        buffer_printf(&text, "; step %" PRId64 " of each begins at one moment", sides->number);
    return arena_strndup(&viewing->arena, text.at, text.count);
}

/* Show TRACE, until that ends. A recording whose spans are in order soon is shown with all of them from the beginning. */
static bool view_trace(const struct trace *trace, struct viewing *viewing, struct tpa_error *err)
{
    enum { SOON_MS = 200, FAREWELL_MS = 500 };
    const struct view_commands commands = {
        .context = viewing,
        .sum = view_sum,
        .sql = view_sql,
        .stop = view_stop,
        .describe = view_describe,
        .findings = view_findings,
        .page = view_page,
    };
    const struct view_args *args = viewing->call->args;
    viewing->trace = trace;
    viewing->sides = view_sides_of(trace, &args->align);
    if (args->align.count && !viewing->sides.has_step) {
        arena_release(&viewing->sides.arena);
        return tpa_fail(err, TPA_NOWHERE, "--align: %s",
                        viewing->sides.count == 1 ? "the files are one job, which lies on one clock already"
                                                  : "the runs have no such step in common");
    }
    struct view_answers *answers = view_answers_open(trace, &viewing->sides, &commands);
    bool good = answers || tpa_fail(err, TPA_NOWHERE,
                                    "the trace holds nothing that takes time, so there is nothing to see");
    if (good) {
        viewing->timeline = view_answers_timeline(answers);
        viewing->subtitle = subtitle_of(viewing, trace);
        view_answers_wait(answers, SOON_MS);
        good = serve(answers, viewing, err);
        if (good && !view_answers_wait(answers, FAREWELL_MS))
            leave(viewing);
    }
    view_answers_end(answers);
    arena_release(&viewing->sides.arena);
    return good;
}

static int view_main(const struct invocation *call, struct tpa_error *err)
{
    const struct view_args *args = call->args;
    struct trace_wants wants = chart_timeline_wants();
    trace_wants_join(&wants, &gpu_wants);
    wants.args |= FEATURE_WANTS | summary_wants.args;
    SCOPED_BY(trace_free_at) struct trace *trace = load_traces(call, &args->load, &wants, err);
    if (!trace)
        return EXIT_TROUBLE;
    struct viewing viewing = { .call = call,
                               .shift_ns = timeline_shifts(trace),
                               .notes = result_open("tpa.view/1") };
    const char *slash = strrchr(call->operands[0], '/');
    viewing.title = slash && slash[1] ? slash + 1 : call->operands[0];
    load_add_notices(trace, viewing.notes);
    bool good = !args->load.strict || !result_lacks(viewing.notes) || load_fail_strict(viewing.notes, err);
    good = good && view_trace(trace, &viewing, err);
    result_free(viewing.notes);
    buffer_release(&viewing.findings);
    arena_release(&viewing.arena);
    free(viewing.shift_ns);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_view = {
    .name = "view",
    .summary = "every event of a trace in the browser, however many there are, from a server on this machine",
    .operands = "TRACE...",
    .description =
        "Reads the traces, prints an address, and opens it in the browser: the timeline of tpa report, but with all events. The page gets "
        "what its pixels can show, so that recordings may have many gigabytes. Ctrl-C ends it, as does half an hour without a "
        "request.\n\n"
        "It listens on 127.0.0.1 and ::1 alone, and answers only those who have the token in the address. Nothing is written, and no file "
        "is read but the traces. The page also finds names, runs SQL, adds up what is selected, and shows where the findings of tpa summary are; programs "
        "can do so with /api/1/info, tile, sum, find, event, findings and sql, which docs/commands/view.md describes.\n\n"
        "Files that are not one job lie below each other on one axis, on which the first step of all begins at one moment: before and "
        "after a change.\n\n"
        "tpa report writes a page that can be forwarded and needs no server; it holds the longest events of a large trace.",
    .options = view_opts,
    COMMAND_ARGS(view_defaults),
    .main = view_main,
    .examples = { "tpa view trace.json.gz", "tpa view before.json after.json  # side by side",
                  "tpa view --port 8080 --no-browser ranks/  # and ssh -L 8080:127.0.0.1:8080 from the desk",
                  "tpa view --idle 8h job.tpa" },
    .section = SECTION_SHOW,
    .reads_traces = true,
};
