/* cmd_view.c - `tpa view`: a server on this machine that shows every event of a recording; see view/server.h. */
#include "analyze/gpu.h"
#include "charts/timeline.h"
#include "cli/cmd_analysis.h"
#include "cli/command.h"
#include "cli/load.h"
#include "cli/output.h"
#include "cli/timeline.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "base/shell_word.h"
#include "report/json_parts.h"
#include "report/page.h"
#include "sql/trace_sql.h"
#include "view/answers.h"
#include "view/server.h"
#include "view/spans.h"

#include <inttypes.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

struct view_args {
    struct load_args load;
    uint64_t port;
    int64_t idle_ns;
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
    atomic_int stop;      /* the query that runs */
};

/* The key and the rows of the table KEY of the analysis NAME with OPTIONS; nothing if it has no such table. */
static bool view_add_rows(const char *key, const char *name, const char *options, const struct trace *trace,
                          struct buffer *out, struct tpa_error *err)
{
    struct result *result = cmd_analysis_answer(name, options, trace, err);
    struct json_writer json = { .text = out, .compact = true };
    if (!result)
        return false;
    buffer_printf(out, "\"%s\":", key);
    bool good = true;
    if (result->tables.count)
        good = json_add_rows(&json, result->tables.at[0], NULL, err);
    else
        buffer_puts(out, "[]");
    result_free(result);
    return good;
}

/* For view_commands. */
static bool view_sum(void *context, const struct trace *trace, int64_t from_ns, int64_t to_ns,
                     struct buffer *out, struct tpa_error *err)
{
    char options[160];
    (void)context;
    snprintf(options, sizeof options, "--table devices --range %" PRId64 "ns..%" PRId64 "ns", from_ns, to_ns);
    if (!view_add_rows("devices", "gpu", options, trace, out, err))
        return false;
    buffer_putc(out, ',');
    snprintf(options, sizeof options, "--table causes --by device --range %" PRId64 "ns..%" PRId64 "ns",
             from_ns, to_ns);
    return view_add_rows("idle", "gaps", options, trace, out, err);
}

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
    struct result *result = result_open("tpa.sql/1");
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
    result_free(result);
    return good;
}

/* Does TRACE have all of WANTS? */
static bool has_all(const struct trace *trace, const struct trace_wants *wants)
{
    return !(wants->args & ~trace->wants.args) && (!wants->flows || trace->wants.flows) &&
           (!wants->counters || trace->wants.counters);
}

/* For view_commands. What the query reads and pictures do not is read from the files again, for it alone. */
static bool view_sql(void *context, const struct trace *trace, const char *query, size_t most,
                     struct buffer *out, struct tpa_error *err)
{
    struct viewing *viewing = context;
    const struct view_args *args = viewing->call->args;
    struct trace_wants wants = { 0 };
    struct trace_sql *sql = trace_sql_open(&cmd_analysis_functions, err);
    struct trace *more = NULL;
    if (!sql)
        return false;
    trace_sql_wants(sql, query, &wants);
    if (!has_all(trace, &wants)) {
        struct load_args load = args->load;
        load.progress = false;
        more = load_traces(viewing->call, &load, &wants, err);
    }
    bool good = (has_all(trace, &wants) || more) &&
                run_query(viewing, sql, more ? more : trace, query, most, out, err);
    trace_sql_free(sql);
    trace_free(more);
    return good;
}

static void view_stop(void *context)
{
    ((struct viewing *)context)->stop = 1;
}

/* The files of CALL as words of a command line. */
static const char *name_files(struct viewing *viewing, const char *before, const char *behind)
{
    struct buffer text = { 0 };
    buffer_puts(&text, before);
    for (size_t i = 0; i < viewing->call->operand_count; i++) {
        buffer_putc(&text, ' ');
        shell_word_append(&text, viewing->call->operands[i], strlen(viewing->call->operands[i]));
    }
    buffer_puts(&text, behind);
    const char *kept = arena_strndup(&viewing->arena, text.at, text.count);
    buffer_release(&text);
    return kept;
}

/* For view_commands. */
static bool view_page(void *context, const struct view_spans *spans, struct buffer *out,
                      struct tpa_error *err)
{
    struct viewing *viewing = context;
    char *text = NULL;
    size_t size = 0;
    FILE *memory = open_memstream(&text, &size);
    if (!memory)
        return tpa_fail_errno(err, "cannot put the page together");
    struct page page = {
        .maker = "tpa view", .title = viewing->title, .subtitle = viewing->subtitle, .live = true
    };
    struct page_section *section = page_add_section(&page, "timeline", NULL, NULL);
    *VEC_PUSH(&section->timelines) = spans->timeline;
    for (size_t i = 0; i < viewing->notes->notices.count; i++)
        *VEC_PUSH(&section->notices) = viewing->notes->notices.at[i];
    if (!spans->timeline->command)
        spans->timeline->command = name_files(viewing, "tpa convert", " --range");
    bool good = page_write(&page, memory, err);
    page_release(&page);
    good = (fclose(memory) == 0 || tpa_fail_errno(err, "cannot put the page together")) && good;
    if (good)
        buffer_add(out, text, size);
    free(text);
    return good;
}

/* ---- the browser ---- */

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
                                                          .stop = view_stop },
                           &stopped, err);
    sigaction(SIGINT, &old[0], NULL);
    sigaction(SIGTERM, &old[1], NULL);
    return good;
}

/* Show TRACE, until that ends. */
static bool view_trace(const struct trace *trace, struct viewing *viewing, struct tpa_error *err)
{
    const struct view_commands commands = {
        .context = viewing, .sum = view_sum, .sql = view_sql, .stop = view_stop, .page = view_page
    };
    struct view_answers answers = { .trace = trace,
                                    .commands = &commands,
                                    .spans = view_spans_open(trace),
                                    .drawing = PTHREAD_MUTEX_INITIALIZER };
    bool good = answers.spans
                    ? serve(&answers, viewing, err)
                    : tpa_fail(err, TPA_NOWHERE,
                               "the trace holds nothing that takes time, so there is nothing to see");
    view_spans_free(answers.spans);
    return good;
}

static int view_main(const struct invocation *call, struct tpa_error *err)
{
    const struct view_args *args = call->args;
    struct trace_wants wants = chart_timeline_wants();
    trace_wants_join(&wants, &gpu_wants);
    wants.args |= FEATURE_WANTS;
    struct trace *trace = load_traces(call, &args->load, &wants, err);
    if (!trace)
        return EXIT_TROUBLE;
    struct viewing viewing = { .call = call,
                               .shift_ns = timeline_shifts(trace),
                               .notes = result_open("tpa.view/1") };
    const char *slash = strrchr(call->operands[0], '/');
    viewing.title = slash && slash[1] ? slash + 1 : call->operands[0];
    viewing.subtitle = arena_printf(&viewing.arena, "%zu event%s of %zu file%s", trace->event_count,
                                    trace->event_count == 1 ? "" : "s", trace->file_count,
                                    trace->file_count == 1 ? "" : "s");
    load_add_notices(trace, viewing.notes);
    bool good = !args->load.strict || !result_lacks(viewing.notes) || load_fail_strict(viewing.notes, err);
    good = good && file_set_check_job(trace, err) && view_trace(trace, &viewing, err);
    result_free(viewing.notes);
    arena_release(&viewing.arena);
    free(viewing.shift_ns);
    trace_free(trace);
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
        "is read but the traces. The page also finds names, runs SQL and adds up what is selected; programs can do so with "
        "/api/1/info, tile, sum, find, event and sql, which docs/commands/view.md describes.\n\n"
        "tpa report writes a page that can be forwarded and needs no server; it holds the longest events of a large trace.",
    .options = view_opts,
    COMMAND_ARGS(view_defaults),
    .main = view_main,
    .examples = { "tpa view trace.json.gz",
                  "tpa view --port 8080 --no-browser ranks/  # and ssh -L 8080:127.0.0.1:8080 from the desk",
                  "tpa view --idle 8h job.tpa" },
    .section = SECTION_SHOW,
    .reads_traces = true,
};
