/*
 * cmd_chart.c - `tpa chart`: a picture of a trace.
 *
 * The analysis describes the picture (base/chart.h). SVG and text are drawn here (report/svg.h, report/chart_text.h);
 * for PNG and PDF report/gnuplot.h makes a script, and gnuplot draws. The file is opened after the picture is complete,
 * so it appears completely or not at all.
 */
#include "base/escape.h"
#include "charts/charts.h"
#include "cli/terminal.h"
#include "cli/command_line.h"
#include "cli/parts.h"
#include "cli/sides.h"
#include "cli/nightly/nightly.h"
#include "cli/output_file.h"
#include "cli/process.h"
#include "derive/features.h"
#include "hang/hang.h"
#include "ingest/flight.h"
#include "memory/snapshot_analysis.h"
#include "report/chart_text.h"
#include "report/gnuplot.h"
#include "report/svg.h"
#include "summary/runs.h"

#include <unistd.h>

/* ---- running gnuplot ---- */

/* The program is $TPA_GNUPLOT, else `gnuplot` on PATH. It reads no settings of the user's, so a picture is the same everywhere,
 * and writes no file. */

/* Seconds after which gnuplot is stopped: a thinned picture takes it one. */
enum { GNUPLOT_TIMEOUT_S = 60 };

/* The nonempty lines of TEXT, joined by "; ": gnuplot pads its messages with empty ones. */
static void join_lines(struct buffer *out, const struct buffer *text)
{
    for (size_t first = 0, end; first < text->count; first = end + 1) {
        const char *newline = memchr(text->at + first, '\n', text->count - first);
        end = newline ? (size_t)(newline - text->at) : text->count;
        while (first < end && (text->at[first] == ' ' || text->at[first] == '\t'))
            first++;
        if (first < end && strspn(text->at + first, "^ \t") < end - first) {
            buffer_puts(out, out->count ? "; " : "");
            escape_terminal(out, text->at + first, end - first);
        }
    }
}

static bool gnuplot_run(const char *program, const char *script, size_t len, struct process_result *result,
                        struct tpa_error *err)
{
    const char *const argv[] = { program, "--default-settings", "-", NULL };
    if (process_run(argv, script, len, GNUPLOT_TIMEOUT_S, result, err))
        return true;
    if (!result->not_found)
        return false;
    tpa_fail(err, TPA_NOWHERE, "%s, which draws charts, is not installed", program);
    tpa_hint(
        err,
        "apt-get install gnuplot-nox, or name the program in TPA_GNUPLOT; -o FILE.svg and --script work without it");
    return false;
}

static const char *program_name(void)
{
    const char *named = getenv("TPA_GNUPLOT");
    return named && *named ? named : "gnuplot";
}

/* Append the image drawn by the LEN bytes of SCRIPT to IMAGE. Warnings of gnuplot are reported on stderr. False and ERR
 * on failure. */
static bool gnuplot_draw(const char *script, size_t len, struct buffer *image, struct tpa_error *err)
{
    const char *program = program_name();
    struct process_result result;
    SCOPED struct buffer said = { 0 };
    bool good = gnuplot_run(program, script, len, &result, err);
    if (good) {
        join_lines(&said, &result.errors);
        if (result.status > 128) {
            good = tpa_fail(err, TPA_NOWHERE, "%s was ended by signal %d", program, result.status - 128);
        } else if (result.status != 0) {
            good = tpa_fail(err, TPA_NOWHERE, "%s failed with status %d: %.600s", program, result.status,
                            said.count ? said.at : "it gave no reason");
        } else if (result.output.count == 0) {
            good = tpa_fail(err, TPA_NOWHERE, "%s drew nothing: %.600s", program,
                            said.count ? said.at : "it gave no reason");
        } else if (said.count) {
            terminal_print("note: gnuplot: %s\n", said.at);
        }
    }
    if (good)
        buffer_add(image, result.output.at, result.output.count);
    process_release(&result);
    return good;
}

/* ---- arguments ---- */

struct chart_args {
    struct load_args load;
    struct selection_query selection;
    struct opt_list base, other;
    int type, format;
    bool script;
    const char *store, *label, *gpu, *metric;
    struct opt_list forecasts;
    int64_t capacity;
    const char *path;
    uint64_t limit, width, height, peak_flops, peak_bandwidth, batch;
    enum output_color color;
};

static const struct chart_args chart_defaults = { .load = LOAD_DEFAULTS, .limit = 15 };

/* ---- words of options ---- */

static const struct opt_choice diff_word = { "diff",
                                             "from the first side to the second: what made the difference",
                                             "compare" };

static const struct opt_choice trend_word = {
    "trend", "the runs of `tpa nightly`'s store: levels, and the band expected", "nightly"
};

static size_t count_types(void)
{
    size_t count = 0;
    while (chart_types[count])
        count++;
    return count;
}

static const struct opt_choice hang_word = { "hang",
                                             "who waits for whom in a stuck job, of dumps of its ranks",
                                             "deadlock" };

static const struct opt_choice forecast_word = {
    "forecast",
    "the peak of memory by size, of recordings at two sizes or more: its parts by growth, what fits", NULL
};

/* The types of a trace, then those of two sides, a store, dumps and recordings at several sizes. */
static bool type_at(size_t index, struct opt_choice *choice)
{
    size_t count = count_types();
    if (index < count)
        *choice = (struct opt_choice){ chart_types[index]->name, chart_types[index]->help, NULL };
    else if (index == count)
        *choice = diff_word;
    else if (index == count + 1)
        *choice = trend_word;
    else if (index == count + 2)
        *choice = hang_word;
    else if (index == count + 3)
        *choice = forecast_word;
    return index <= count + 3;
}

enum chart_format { FORMAT_AUTO, FORMAT_TEXT, FORMAT_SVG, FORMAT_PNG, FORMAT_PDF, FORMATS };

static const struct opt_choice chart_formats[] = {
    [FORMAT_AUTO] = { "auto", "what the name of the output ends in; text for a terminal", NULL },
    [FORMAT_TEXT] = { "text", "characters, for terminals", "dumb ascii txt" },
    [FORMAT_SVG] = { "svg", NULL, NULL },
    [FORMAT_PNG] = { "png", NULL, NULL },
    [FORMAT_PDF] = { "pdf", NULL, NULL },
    { 0 },
};

static const struct opt chart_opts[] = {
    OPT_GROUP("Chart"),
    OPT_CHOICE_OF('t', "type", struct chart_args, type, type_at, "TYPE", "what to draw"),
    OPT_COUNT('n', "limit", struct chart_args, limit, 0, 1000, "N",
              "bars of operators, kernels and changes; 0 draws all"),
    OPT_COUNT(
        0, "peak-flops", struct chart_args, peak_flops, 1, 1000000000, "N",
        "roofline: what the device can do, in GFLOP/s; without it by its data sheet, for those that are known"),
    OPT_COUNT(0, "peak-bandwidth", struct chart_args, peak_bandwidth, 1, 1000000, "N",
              "roofline: bandwidth of its memory, in GB/s"),
    OPT_COUNT(
        0, "batch", struct chart_args, batch, 1, INT32_MAX, "N",
        "runs: samples in a batch of a rank, of one run behind its file: bs32/@batch=32; else as recorded shapes tell"),
    OPT_FILES(0, "base", struct chart_args, base, "FILE",
              "diff: files of the first side, up to the next option"),
    OPT_FILES(0, "new", struct chart_args, other, "FILE", "diff: files of the second side"),
    OPT_FILE(0, "store", struct chart_args, store, "FILE", "trend: the store of `tpa nightly`"),
    OPT_TEXT(0, "label", struct chart_args, label, "NAME", "trend: what ran"),
    OPT_TEXT(0, "gpu", struct chart_args, gpu, "NAME",
             "trend: on which GPU; without it that of the newest run"),
    OPT_TEXT(0, "metric", struct chart_args, metric, "NAME",
             "trend: this figure or row; without it the step time and the other figures of a step"),
    OPT_LIST(0, "forecast", struct chart_args, forecasts, "SIZE",
             "forecast: up to this size, e.g. batch=48; of several sizes the others are those of the first"),
    OPT_SIZE(0, "capacity", struct chart_args, capacity, "BYTES",
             "forecast: what must fit in: 80GiB; the largest size that does is marked"),
    SELECTION_OPTIONS(struct chart_args, selection),
    OPT_GROUP("Output"),
    OPT_FILE('o', "output", struct chart_args, path, "FILE",
             "write to FILE, which appears whole or not at all; without it, text on the terminal"),
    OPT_CHOICE('f', "format", struct chart_args, format, chart_formats, "FORMAT", "how to draw"),
    OPT_FLAG(0, "script", struct chart_args, script,
             "write the script for gnuplot with its data, instead of the picture"),
    OPT_COUNT(0, "width", struct chart_args, width, 40, 10000, "N", "pixels across; of text, columns"),
    OPT_COUNT(0, "height", struct chart_args, height, 8, 10000, "N",
              "pixels down; of text, lines of each chart"),
    OPT_CHOICE(0, "color", struct chart_args, color, output_colors, "WHEN", "use colours in text"),
    LOAD_OPTIONS(struct chart_args, load),
    OPT_END,
};

/* ---- output ---- */

static bool chart_ends_in(const char *path, const char *ending)
{
    size_t len = strlen(path), end = strlen(ending);
    return len > end && path[len - end - 1] == '.' && strcmp(path + len - end, ending) == 0;
}

/* How to draw, FORMAT_TEXT to FORMAT_PDF; FORMAT_AUTO and ERR if the name of the output does not determine it. */
static enum chart_format chart_find_format(const struct chart_args *args, struct tpa_error *err)
{
    int format = args->format;
    bool to_file = args->path && strcmp(args->path, "-") != 0;
    for (int f = FORMAT_SVG; f < FORMATS && format == FORMAT_AUTO && to_file; f++)
        if (chart_ends_in(args->path, chart_formats[f].name))
            format = f;
    if (format == FORMAT_AUTO && args->script)
        format = FORMAT_SVG;
    if (format == FORMAT_AUTO && (!to_file || chart_ends_in(args->path, "txt")))
        format = FORMAT_TEXT;
    if (format == FORMAT_TEXT && args->script) {
        tpa_fail(err, TPA_NOWHERE, "a script draws SVG, PNG or PDF; text is drawn without one");
        return FORMAT_AUTO;
    }
    if (format == FORMAT_AUTO) {
        tpa_fail(err, TPA_NOWHERE, "the name '%s' does not say what to write", args->path);
        tpa_hint(err, "name an output that ends in .svg, .png, .pdf or .txt, or say --format");
    }
    return (enum chart_format)format;
}

static struct chart_text_options text_options(const struct chart_args *args)
{
    enum { LEAST_LINES = 12, MOST_LINES = 40 };
    struct chart_text_options options = { .width = args->width, .height = args->height };
    if (options.width == 0)
        options.width = terminal_width(STDOUT_FILENO);
    size_t lines = args->path == NULL ? terminal_height(STDOUT_FILENO) : 0;
    if (options.height == 0 && lines > LEAST_LINES) /* and a line for the prompt */
        options.height = lines - 1 < MOST_LINES ? lines - 1 : MOST_LINES;
    bool to_terminal = args->path == NULL && terminal_takes_color(STDOUT_FILENO);
    options.color = args->color == COLOR_ALWAYS || (args->color == COLOR_AUTO && to_terminal);
    options.unicode = terminal_takes_unicode();
    return options;
}

static bool write_out(const struct buffer *content, const char *path, struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open(&file, path, err))
        return false;
    fwrite(content->at, 1, content->count, file.stream);
    return output_file_commit(&file, err);
}

/* The picture as gnuplot draws it, or the script for it. */
static bool add_by_gnuplot(struct buffer *out, const struct picture *picture, const struct chart_args *args,
                           enum chart_format format, struct tpa_error *err)
{
    static const enum gnuplot_terminal terminals[FORMATS] = { /* others: not by gnuplot */
                                                              [FORMAT_SVG] = GNUPLOT_SVG,
                                                              [FORMAT_PNG] = GNUPLOT_PNG,
                                                              [FORMAT_PDF] = GNUPLOT_PDF
    };
    struct gnuplot_options options = { terminals[format], args->width, args->height };
    SCOPED struct buffer script = { 0 };
    gnuplot_script(picture, &options, &script);
    bool good = true;
    if (args->script)
        buffer_add(out, script.at, script.count);
    else
        good = gnuplot_draw(script.at, script.count, out, err);
    return good;
}

static bool print_picture(const struct picture *picture, const struct chart_args *args, struct tpa_error *err)
{
    enum chart_format format = chart_find_format(args, err);
    SCOPED struct buffer image = { 0 };
    bool good = format != FORMAT_AUTO;
    if (format == FORMAT_TEXT) {
        struct chart_text_options options = text_options(args);
        chart_text_add(&image, picture, &options);
    } else if (format == FORMAT_SVG && !args->script) {
        svg_add_picture(&image, picture, args->width, args->height);
    } else if (good) {
        good = add_by_gnuplot(&image, picture, args, format, err);
    }
    good = good && write_out(&image, args->path, err);
    return good;
}

/* ---- the picture ---- */

/* False and ERR if the trace lacks what TYPE needs. */
static bool chart_check_needs(const struct trace *trace, const struct chart_type *type, struct tpa_error *err)
{
    unsigned lacks = type->needs & ~trace_features(trace);
    enum trace_feature first = (enum trace_feature)(lacks & (~lacks + 1));
    if (lacks == 0)
        return true;
    tpa_fail(err, TPA_NOWHERE, "the trace holds no %s, so there is nothing to draw",
             trace_feature_name(first));
    return tpa_hint(err, "to record it, %s", trace_feature_recipe(trace, first));
}

/* New; NULL and ERR when there is nothing to draw. Snapshots of the allocator only have charts of memory. */
static struct picture *picture_of_snapshots(const struct invocation *call, const struct chart_type *type,
                                            const struct snapshots *snapshots, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    if (strcmp(type->name, "memory") != 0) {
        tpa_fail(err, TPA_NOWHERE, "a memory snapshot has no %s to draw", type->name);
        tpa_hint(err, "tpa chart --type memory %s", call->operands[0]);
        return NULL;
    }
    struct picture *picture = picture_open(type->name, type->title);
    VEC_OF(struct allocator_history *) replays = { 0 };
    for (size_t i = 0; i < snapshots->of.count; i++)
        FOR_EACH(device, &snapshots->of.at[i]->devices)
            if (device->device == SNAPSHOT_HOST || ranges_hold(&args->selection.devices, device->device))
                *VEC_PUSH(&replays) = allocator_history_open(snapshots->of.at[i], device);
    picture->source =
        command_line_name_files(&picture->arena, (const char *const *)call->operands, call->operand_count);
    size_t found = snapshot_draw(replays.at, replays.count, CHART_MOST_PANELS, picture);
    for (size_t i = 0; i < replays.count; i++)
        arena_free(replays.at[i]);
    VEC_FREE(&replays);
    struct result *notices = result_open("");
    snapshot_add_file_notices(snapshots, notices);
    if (found > CHART_MOST_PANELS)
        ADD_NOTICE(notices, "panels", (int64_t)found, "%zu devices have a history; the first %d are drawn",
                   found, CHART_MOST_PANELS);
    output_print_notices(notices);
    result_free(notices);
    if (found)
        return picture;
    picture_free(picture);
    tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: no history was recorded");
    tpa_hint(
        err,
        "call torch.cuda.memory._record_memory_history() before; tpa memory shows the moment of the snapshot");
    return NULL;
}

/* New; NULL and ERR when there is nothing to draw. A profile, or a report of actions, has no times of events, so most
 * charts are impossible. */
static struct picture *picture_of_sums(const struct invocation *call, const struct chart_type *type,
                                       const struct ingested *sums, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    bool by_function = strcmp(type->name, "operators") == 0;
    bool has_stacks = sums->profile && profile_has_callers(sums->profile);
    if (!by_function && (!has_stacks || strcmp(type->name, "flame") != 0)) {
        tpa_fail(err, TPA_NOWHERE, "a %s has no %s to draw: it holds sums, not %s",
                 sums->actions ? "report of actions" : "profile", type->name,
                 strcmp(type->name, "flame") == 0 ? "who called whom" : "events");
        tpa_hint(err,
                 has_stacks ? "tpa chart --type flame %s; --type operators draws its functions"
                            : "tpa chart --type operators %s",
                 call->operands[0]);
        return NULL;
    }
    struct picture *picture = picture_open(type->name, type->title);
    picture->source =
        command_line_name_files(&picture->arena, (const char *const *)call->operands, call->operand_count);
    if (sums->actions)
        actions_draw(picture, sums->actions, args->limit);
    else if (by_function)
        profile_draw(picture, sums->profile, args->limit);
    else
        chart_flame_profile(picture, sums->profile);
    if (picture->charts.count)
        return picture;
    picture_free(picture);
    tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: no function took any time");
    return NULL;
}

/* New; NULL and ERR when there is nothing to draw. */
static struct picture *draw_trace(const struct invocation *call, const struct chart_type *type,
                                  const struct run_sizes *sizes, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    struct trace_wants wants = chart_type_wants(type);
    wants.args |= FEATURE_WANTS;
    struct ingested ingested;
    if (!load_any(call, &args->load, &wants, &ingested, err))
        return NULL;
    if (ingested.snapshots.of.count || ingested.profile || ingested.actions) {
        struct picture *drawn = !ingested.snapshots.of.count
                                    ? picture_of_sums(call, type, &ingested, err)
                                    : picture_of_snapshots(call, type, &ingested.snapshots, err);
        ingested_free(&ingested);
        return drawn;
    }
    struct trace *trace = ingested_trace(&ingested, call->operands[0], err);
    if (!trace)
        return NULL;
    struct picture *picture = picture_open(type->name, type->title);
    struct selection *selection = NULL;
    bool good = chart_check_needs(trace, type, err);
    if (good) {
        struct selection_query query = args->selection;
        if (type->jobs_steps)
            query.steps = query.ranks = (struct ranges){ 0 };
        selection = selection_open(trace, &query, err);
        struct chart_request request = { .trace = trace,
                                         .selection = selection,
                                         .query = &query,
                                         .sizes = sizes,
                                         .devices = args->selection.devices,
                                         .steps = args->selection.steps,
                                         .ranks = args->selection.ranks,
                                         .bars = args->limit,
                                         .columns = 400,
                                         .peak_flops = (double)args->peak_flops * 1e9,
                                         .peak_bandwidth = (double)args->peak_bandwidth * 1e9 };
        picture->source = command_line_name_files(&picture->arena, (const char *const *)call->operands,
                                                  call->operand_count);
        good = selection && type->draw(&request, picture, err);
    }
    if (!good)
        tpa_in_file(err, call->operand_count == 1 ? call->operands[0] : trace->files[0].path);
    arena_free(selection);
    if (good) {
        SCOPED_BY(result_free_at) struct result *notices = result_open("");
        load_add_notices(trace, notices);
        output_print_notices(notices);
    }
    trace_free(trace);
    if (good)
        return picture;
    picture_free(picture);
    return NULL;
}

/* The same. */
static struct picture *picture_of_trace(const struct invocation *call, const struct chart_type *type,
                                        struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    struct run_sizes sizes = { .batch = (int64_t)args->batch };
    bool good = type != &chart_type_runs || run_sizes_take(&sizes, call->operands, call->operand_count, err);
    struct picture *picture = good ? draw_trace(call, type, &sizes, err) : NULL;
    VEC_FREE(&sizes.labels);
    return picture;
}

/* New; NULL and ERR when the sides are not given or cannot be compared. */
static struct picture *picture_of_diff(const struct invocation *call, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    struct sides_found found;
    if (!sides_find(call, &args->base, &args->other, &found, err)) {
        tpa_hint(err, "tpa chart --type diff BASE NEW, or several files a side with --base and --new");
        return NULL;
    }
    struct sides_options options = { .measure = { .by = MEASURE_BY_OPERATOR } };
    struct measures *sides[2] = { NULL, NULL };
    SCOPED_BY(result_free_at) struct result *notices = result_open("");
    struct picture *picture = NULL;
    struct diff *diff = NULL;
    if (sides_measure(call, &args->load, &found, &options, sides, notices, err))
        diff = diff_open(sides[0], sides[1], &(struct diff_options){ 0 }, err);
    if (diff) {
        picture = picture_open(diff_word.name, "Comparison");
        picture->source =
            arena_printf(&picture->arena, "%s against %s",
                         command_line_name_files(&picture->arena, found.paths[1], found.counts[1]),
                         command_line_name_files(&picture->arena, found.paths[0], found.counts[0]));
        chart_diff(picture, diff, args->limit);
        diff_notice_differences(diff, notices);
        output_print_notices(notices);
        if (picture->charts.count == 0) {
            tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: no time changed");
            picture_free(picture);
            picture = NULL;
        }
    }
    arena_free(diff);
    EACH(arena_free, sides[0], sides[1]);
    return picture;
}

/* New; NULL and ERR when there is nothing to draw. */
static struct picture *picture_of_store(const struct invocation *call, struct tpa_error *err)
{
    enum { WAIT_MS = 60000 };
    const struct chart_args *args = call->args;
    if (!args->store || call->operand_count) {
        tpa_fail(err, TPA_NOWHERE, "a trend is drawn from a store alone");
        tpa_hint(err, "tpa chart --type trend --store perf.db");
        return NULL;
    }
    struct store *store =
        output_file_spares_path(args->store, err) ? store_open(args->store, STORE_READ, WAIT_MS, err) : NULL;
    SCOPED_BY(nightly_release) struct nightly nightly = { 0 };
    struct picture *picture = NULL;
    const char *label, *gpu;
    SCOPED_ARENA struct arena arena = { 0 };
    if (store && nightly_newest(store, args->label, args->gpu, &arena, &label, &gpu, err) &&
        store_load(store, label, gpu, &nightly, err)) {
        struct history_options options = HISTORY_DEFAULTS;
        nightly_judge(&nightly, nightly.runs.count - 1, &options);
        picture = picture_open(trend_word.name, "Trend");
        picture->source = arena_printf(&picture->arena, "%s on %s", label, gpu);
        if (!chart_trend(picture, &nightly, args->metric, err)) {
            picture_free(picture);
            picture = NULL;
        }
    }
    if (err->failed)
        tpa_in_file(err, args->store);
    store_close(store);
    return picture;
}

/* New; NULL and ERR when there is nothing to draw. */
static struct picture *picture_of_dumps(const struct invocation *call, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    if (call->operand_count == 0) {
        tpa_fail(err, TPA_NOWHERE, "dumps are needed: tpa chart --type hang DUMPS...");
        return NULL;
    }
    struct flight *flight = flight_read(call->operands, call->operand_count, args->load.max_ratio, err);
    if (!flight)
        return NULL;
    SCOPED_OBJECT struct hang *hang = hang_open(flight);
    bool good = !args->load.strict || flight_check_complete(flight, err);
    struct picture *picture = good ? hang_picture(hang) : NULL;
    if (picture)
        picture->source = command_line_name_files(&picture->arena, (const char *const *)call->operands,
                                                  call->operand_count);
    else if (good)
        tpa_fail(err, TPA_NOWHERE, "there is nothing to draw: no rank waits");
    flight_free(flight);
    return picture;
}

/* ---- recordings at several sizes ---- */

/* New; NULL and ERR when there is nothing to draw. */
static struct picture *picture_of_forecast(const struct invocation *call, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    SCOPED_BY(forecast_query_release) struct forecast_query query = { .texts = forecast_texts_open() };
    struct picture *picture = picture_open(forecast_word.name, "Forecast");
    if (forecast_files_read(call, &args->load, &query, err) &&
        forecast_draw(&query, args->forecasts.at, args->forecasts.count, args->capacity, picture, err)) {
        picture->source = command_line_name_files(&picture->arena, (const char *const *)call->operands,
                                                  call->operand_count);
    } else {
        picture_free(picture);
        picture = NULL;
    }
    return picture;
}

static int chart_main(const struct invocation *call, struct tpa_error *err)
{
    const struct chart_args *args = call->args;
    size_t which = (size_t)args->type,
           types = count_types();                    /* after the types: diff, trend, hang, forecast */
    if (chart_find_format(args, err) == FORMAT_AUTO) /* before the work, not after it */
        return EXIT_TROUBLE;
    if (which < types && call->operand_count == 0) {
        tpa_fail(err, TPA_NOWHERE, "a trace is needed: tpa chart --type %s TRACE", chart_types[which]->name);
        return EXIT_TROUBLE;
    }
    if (which != types + 3 && (args->forecasts.count || args->capacity)) {
        tpa_fail(err, TPA_NOWHERE, "--%s is for --type forecast", args->capacity ? "capacity" : "forecast");
        return EXIT_TROUBLE;
    }
    struct picture *picture = which < types        ? picture_of_trace(call, chart_types[which], err)
                              : which == types     ? picture_of_diff(call, err)
                              : which == types + 1 ? picture_of_store(call, err)
                              : which == types + 2 ? picture_of_dumps(call, err)
                                                   : picture_of_forecast(call, err);
    bool good = picture && print_picture(picture, args, err);
    picture_free(picture);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_chart = {
    .name = "chart",
    .summary = "a picture of a trace: SVG, PNG, PDF, or text in the terminal",
    .operands = "[TRACE...]",
    .description =
        "Draws one picture. Without -o it is drawn in characters, as wide as the terminal; with -o the name gives the "
        "form. A picture has a chart for each device or rank where that makes sense.\n\n"
        "Text has block characters where the locale is UTF-8 (LC_ALL, LC_CTYPE, LANG), and colours on a terminal.\n\n"
        "gnuplot draws PNG and PDF: `gnuplot` on PATH, or the program that TPA_GNUPLOT names. --script writes a script for "
        "it, the data in it, to be changed and drawn by hand: gnuplot steps.gp > steps.svg.\n\n"
        "Times, memory and queues with more points than the picture has pixels are thinned so that every peak stays.",
    .options = chart_opts,
    COMMAND_ARGS(chart_defaults),
    .main = chart_main,
    .examples = {
        "tpa chart --type steps trace.json",
        "tpa chart --type steps -o steps.svg trace.json",
        "tpa chart --type memory --device 0 -o memory.png trace.json",
        "tpa chart --type diff -o diff.svg baseline.json optimized.json",
        "tpa chart --type trend --store perf.db --label resnet50 -o trend.svg",
        "tpa chart --type runs -o runs.svg bs32/ bs64/ bs128/",
        "tpa chart --type hang -o hang.svg dumps/",
        "tpa chart --type forecast --capacity 80GiB -o fits.svg a.pickle@batch=16 b.pickle@batch=32",
        "tpa chart --type kernels --script -o kernels.gp trace.json  # restyle it, then: gnuplot kernels.gp > kernels.svg",
    },
    .section = SECTION_SHOW,
    .reads_profiles = true,
    .reads_actions = true,
    .reads_snapshots = true,
    .reads_traces = true,
};
