/* cmd_top.c - tpa top: which operators and kernels took the time. */
#include "analyze/nsys_reports.h"
#include "analyze/top/top.h"
#include "cli/analysis.h"
#include "cli/kept.h"
#include "cli/output_file.h"
#include "cli/parts.h"
#include "report/torch.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

/* ---- reports of nsys stats ---- */

/* The columns and figures are those of Nsight Systems 2023.4; names are quoted as CSV requires, which it does not do. */

static const struct {
    const char *key, *title, *head;
} reports[NSYS_REPORTS] = {
    [NSYS_API] = { "cuda_api_sum", "CUDA API Summary",
                   "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" },
    [NSYS_KERNELS] = { "cuda_gpu_kern_sum", "CUDA GPU Kernel Summary",
                       "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" },
    [NSYS_MEM_TIME] = { "cuda_gpu_mem_time_sum", "CUDA GPU MemOps Summary (by Time)",
                        "Time (%),Total Time (ns),Count,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Operation" },
    [NSYS_MEM_SIZE] = { "cuda_gpu_mem_size_sum", "CUDA GPU MemOps Summary (by Size)",
                        "Total (MB),Count,Avg (MB),Med (MB),Min (MB),Max (MB),StdDev (MB),Operation" },
    [NSYS_OSRT] = { "osrt_sum", "OS Runtime Summary",
                    "Time (%),Total Time (ns),Num Calls,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Name" },
    [NSYS_NVTX] = { "nvtx_sum", "NVTX Range Summary",
                    "Time (%),Total Time (ns),Instances,Avg (ns),Med (ns),Min (ns),Max (ns),StdDev (ns),Style,Range" },
    [NSYS_KERN_EXEC] = { "cuda_kern_exec_sum", "CUDA Kernel Launch & Exec Time Summary",
                         "PID,TID,DevId,Count,QCount,TAvg (ns),TMed (ns),TMin (ns),TMax (ns),TStdDev (ns),AAvg (ns),"
                         "AMed (ns),AMin (ns),AMax (ns),AStdDev (ns),QAvg (ns),QMed (ns),QMin (ns),QMax (ns),"
                         "QStdDev (ns),KAvg (ns),KMed (ns),KMin (ns),KMax (ns),KStdDev (ns),API Name,Kernel Name" },
    [NSYS_PROJECTED] = { "nvtx_gpu_proj_sum", "NVTX GPU Projection Summary",
                         "Range,Style,Total Proj Time (ns),Total Range Time (ns),Range Instances,Proj Avg (ns),"
                         "Proj Med (ns),Proj Min (ns),Proj Max (ns),Proj StdDev (ns),Total GPU Ops,Avg GPU Ops,"
                         "Avg Range Lvl,Avg Num Child" },
};

/* VALUE with 1 decimal, or 3; ties are rounded away from zero, as SQLite does. */
static void emit_rounded(double value, int decimals, FILE *out)
{
    double scale = decimals == 1 ? 10 : 1000;
    fprintf(out, "%.*f", decimals, fabs(value) < 1e15 ? round(value * scale) / scale : value);
}

/* LEN bytes of TEXT, in quotes where CSV needs them. */
static void emit_text(const char *text, size_t len, FILE *out)
{
    bool quoted = ANY(i, len, strchr(",\"\n\r", text[i]) != NULL && text[i]);
    if (quoted)
        fputc('"', out);
    for (size_t i = 0; i < len; i++) {
        if (text[i] == '"')
            fputc('"', out);
        fputc(text[i], out);
    }
    if (quoted)
        fputc('"', out);
}

/* Average, median, least, greatest, deviation; of nothing a deviation of 0, as nsys has it. */
static void emit_figures(const struct nsys_figures *figures, FILE *out)
{
    if (figures->count == 0)
        fputs(",,,,0.0", out);
    else {
        emit_rounded(figures->mean, 1, out);
        fputc(',', out);
        emit_rounded(figures->median, 1, out);
        fprintf(out, ",%" PRId64 ",%" PRId64 ",", figures->least, figures->greatest);
        emit_rounded(figures->deviation, 1, out);
    }
}

static void emit_megabytes(const struct nsys_row *row, FILE *out)
{
    const double bytes[] = { (double)row->of.total,    row->of.mean,
                             row->of.median,           (double)row->of.least,
                             (double)row->of.greatest, row->of.deviation };
    for (size_t i = 0; i < sizeof bytes / sizeof *bytes; i++) {
        emit_rounded(bytes[i] / 1e6, 3, out);
        fputc(',', out);
        if (i == 0)
            fprintf(out, "%zu,", row->of.count);
    }
}

static const char *style_of(const struct nsys_row *row)
{
    return row->start_end ? "StartEnd" : "PushPop";
}

static void emit_kern_exec(const struct nsys_row *row, FILE *out)
{
    const struct nsys_figures *const parts[] = { &row->of, &row->call, &row->queue, &row->kernel };
    fprintf(out, "%" PRId64 ",%" PRId64 ",%" PRId64 ",%zu,%zu,", row->pid, row->tid, row->device,
            row->of.count, row->queue.count);
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        emit_figures(parts[i], out);
        fputc(',', out);
    }
    emit_text(row->second, row->second_len, out);
    fputc(',', out);
    emit_text(row->name, row->name_len, out);
}

static void emit_projected(const struct nsys_row *row, FILE *out)
{
    emit_text(row->name, row->name_len, out);
    fprintf(out, ",%s,%" PRId64 ",%" PRId64 ",%zu,", style_of(row), row->of.total, row->range_total,
            row->of.count);
    emit_figures(&row->of, out);
    const double means[] = { (double)row->operations / (double)row->of.count, row->mean_level,
                             row->mean_children };
    fprintf(out, ",%" PRId64, row->operations);
    for (size_t i = 0; i < sizeof means / sizeof *means; i++) {
        fputc(',', out);
        emit_rounded(means[i], 1, out);
    }
}

static void emit_row(enum nsys_report report, const struct nsys_row *row, int64_t total, FILE *out)
{
    if (report == NSYS_KERN_EXEC) {
        emit_kern_exec(row, out);
    } else if (report == NSYS_PROJECTED) {
        emit_projected(row, out);
    } else {
        if (report == NSYS_MEM_SIZE) {
            emit_megabytes(row, out);
        } else {
            emit_rounded(total ? 100.0 * (double)row->of.total / (double)total : 0.0, 1, out);
            fprintf(out, ",%" PRId64 ",%zu,", row->of.total, row->of.count);
            emit_figures(&row->of, out);
            fputc(',', out);
        }
        if (report == NSYS_NVTX)
            fprintf(out, "%s,", style_of(row));
        if (row->domain)
            fprintf(out, "%s%.*s]", row->domain, (int)row->name_len, row->name);
        else
            emit_text(row->name, row->shown_len, out);
    }
    fputc('\n', out);
}

/* Write every report that TRACE, read with nsys_reports_wants, has rows for. Errors are left in OUT for ferror(). */
static void nsys_text_print(const struct trace *trace, FILE *out)
{
    for (int report = 0; report < NSYS_REPORTS; report++) {
        struct nsys_rows rows;
        nsys_report_open(trace, (enum nsys_report)report, &rows);
        if (rows.count)
            fprintf(out, " ** %s (%s):\n\n%s\n", reports[report].title, reports[report].key,
                    reports[report].head);
        for (size_t i = 0; i < rows.count; i++)
            emit_row((enum nsys_report)report, &rows.at[i], rows.total, out);
        if (rows.count)
            fputc('\n', out);
        VEC_FREE(&rows);
    }
}

/* ---- the command ---- */

struct top_args {
    struct load_args load;
    struct selection_query selection;
    struct output_args output;
    unsigned by; /* enum top_dimension, or-ed */
    const char *sort;
    int64_t stack_depth;
    int torch_version; /* enum torch_version */
    bool reverse, top_level, python, strip_dirs;
};

/* Default of --limit: for people, in torch's text (its own default), for programs. */
enum { LIMIT_FOR_PEOPLE = 25, LIMIT_OF_TORCH = 100 };

static const struct printer torch_text = { "torch",
                                           "the text of torch's key_averages().table(), byte for byte",
                                           NULL };
static const struct printer nsys_text = { "nsys", "the reports of nsys stats, as CSV", NULL,
                                          .rows_only = true };
static const struct printer *const own_formats[] = { &torch_text, &nsys_text, &profile_pstats_text, NULL };

static const struct top_args top_defaults = {
    .load = LOAD_DEFAULTS,
    .stack_depth = 5,
    .output = { .own = own_formats, .limit = { .share = LIMIT_NOT_GIVEN } },
};

static const struct opt_choice time_units[] = {
    [TIME_FITTING] = { "auto", "each figure in the unit that suits it" },
    [TIME_S] = { "s" },
    [TIME_MS] = { "ms" },
    [TIME_US] = { "us" },
    [TIME_NS] = { "ns" },
    { 0 },
};

static const struct opt_choice torch_versions[] = {
    [TORCH_UNKNOWN] = { "auto", "as recorded in the file, else 2.14" },
    [TORCH_2_14] = { "2.14",
                     "and before: kernels go to every runtime call with the number of their operator, too" },
    [TORCH_2_15] = { "2.15", "kernels go to operators only" },
    { 0 },
};

/* In the order of the bits of enum top_dimension. */
static const struct opt_choice rows_by[] = {
    { "op", "a name, on the host or on the device: torch's key", "operator" },
    { "shape", "the same, and the shapes of the inputs", NULL },
    { "stack", "the same, and the innermost frames of the Python stack", NULL },
    { "overload", "the same, and the overload of the operator", NULL },
    { "kernel", "the name of a kernel, copy or memset", NULL },
    { "category", "all that the file puts into one category", NULL },
    { "thread", "all that happens on a host thread", NULL },
    { "stream", "all that happens on a stream", NULL },
    { "device", "all that happens on a device", NULL },
    { "step", "all that happens in a step", NULL },
    { "rank", "a name in one of several files", NULL },
    { "module", "all that the innermost nn.Module called and launched itself", NULL },
    { "line", "all that the innermost function outside PyTorch did", NULL },
    { "cycle", "a name in one of several recordings of a rank", NULL },
    { 0 },
};

OUTPUT_FORMATS(top_format_at, own_formats);

static bool wants_torch_text(const struct top_args *args)
{
    return output_printer(&args->output) == &torch_text;
}

/* clang-format off */
static const struct opt top_opts[] = {
    OPT_GROUP("Rows"),
    OPT_TEXT('s', "sort", struct top_args, sort, "KEY",
             "sort by this column, largest first; \"none\" keeps torch's order, that of first appearance. Without it "
             "by self_cuda_time_total, or self_cpu_time_total when nothing ran on a device, operators that communicate behind all work, ranges on devices last; steps by time"),
    OPT_FLAG('r', "reverse", struct top_args, reverse, "smallest first"),
    OPT_CHOICES('b', "by", struct top_args, by, rows_by, "WHAT",
                "what makes a row; or several, as in op,rank. One or more of"),
    OPT_FLAG('t', "top-level", struct top_args, top_level, "only what nothing else called"),
    OPT_FLAG(0, "python", struct top_args, python, "rows for Python functions too"),
    OPT_FLAG(0, "strip-dirs", struct top_args, strip_dirs,
             "Python profiles: drop directories from file names; functions that become identical are merged"),
    OPT_CHOICE(0, "torch-version", struct top_args, torch_version, torch_versions, "VERSION",
               "whose rules count where versions of torch differ"),
    OPT_INT(0, "stack-depth", struct top_args, stack_depth, 1, 1000, "N", "frames that --by stack looks at"),
    CAPTURE_OPTION(struct top_args, load),
    SELECTION_OPTIONS(struct top_args, selection),
    LOAD_OPTIONS(struct top_args, load),
    OUTPUT_OPTIONS_WITH(struct top_args, output, top_format_at),
    OPT_CHOICE(0, "time-unit", struct top_args, output.time_unit, time_units, "UNIT", "one unit for all times"),
    OPT_END
};
/* clang-format on */

/* The column that torch sorts by for COLUMN: its figures break ties between rows that are equal here. */
static size_t torch_column(const struct table *table, size_t column)
{
    char key[80];
    snprintf(key, sizeof key, "torch_%s", table->columns[column].key);
    int own = table_find_column(table, key, strlen(key));
    return own < 0 ? column : (size_t)own;
}

static bool unknown_key(const struct table *table, const char *key, struct tpa_error *err)
{
    struct suggest near = suggest_for(key, strlen(key));
    table_suggest_column(table, &near);
    suggest_consider(&near, "none");
    tpa_fail(err, TPA_NOWHERE, "cannot sort by '%s'%s%s%s", key, near.best ? "; did you mean " : "",
             near.best ? near.best : "", near.best ? "?" : "");
    return tpa_hint(err, "sort by a column, such as self_cpu_time_total, cuda_time_total, count, or by none");
}

/* Attributes that are equal in all of torch's rows unless rows are grouped by them, so that sorting has no effect. */
static bool is_attribute_of_other_rows(const char *key)
{
    static const char *const keys[] = { "input_shapes", "overload_name", "is_legacy", "is_remote" };
    return ANY(i, sizeof keys / sizeof *keys, strcmp(key, keys[i]) == 0);
}

/* Are rows sorted by default? Steps stay in order of time. */
static bool is_in_first_order(const struct top_args *args)
{
    return !args->sort && !args->reverse && !wants_torch_text(args) && args->by != TOP_STEP;
}

static bool has_footer(const struct table *table, const char *key)
{
    return ANY(i, table->footers.count, strcmp(table->footers.at[i].key, key) == 0);
}

static bool sort_rows(struct table *table, const struct top_args *args, struct tpa_error *err)
{
    const char *key = args->sort;
    bool torch = wants_torch_text(args);
    if (!key && (torch || args->by == TOP_STEP)) /* steps stay in order of time */
        return true;
    if (is_in_first_order(args)) /* sorted by top_sort */
        return true;
    if (!key)
        key = has_footer(table, "self_device_time_total") ? "self_device_time_total" : "self_cpu_time_total";
    if (strcmp(key, "none") == 0) {
        if (args->reverse)
            table_reverse(table);
        return true;
    }
    int column = table_find_column(table, key, strlen(key));
    if (column < 0 && is_attribute_of_other_rows(key))
        return true;
    if (column < 0)
        return unknown_key(table, key, err);
    size_t by = torch ? torch_column(table, (size_t)column) : (size_t)column;
    bool backwards = torch && table_is_text(table->columns[by].kind); /* torch sorts texts from Z to A */
    table_sort(table, by, backwards != args->reverse);
    return true;
}

static void keep_top_level(struct table *table)
{
    int column = table_find_column(table, "is_top_level", strlen("is_top_level"));
    SCOPED bool *keep = mem_zalloc(table->row_count + 1, sizeof *keep);
    for (size_t row = 0; row < table->row_count; row++)
        keep[row] = table_cell(table, row, (size_t)column)->i == 1;
    table_filter(table, keep);
}

/* Was the profiler configured to record this, according to the files? -1: unknown. */
static int any_file(const struct trace *trace, size_t offset)
{
    int known = -1;
    for (size_t i = 0; i < trace->file_count; i++) {
        int value;
        memcpy(&value, (const char *)&trace->files[i] + offset, sizeof value);
        known = value > known ? value : known;
    }
    return known;
}

/* The name of the devices in torch's headings. */
static char *heading_of(const char *device_name)
{
    char *heading = mem_strdup(device_name);
    for (char *c = heading; *c; c++)
        *c = (char)toupper((unsigned char)*c);
    return heading;
}

static bool write_torch_text(const struct table *table, const struct torch_options *options, const char *path,
                             struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open_raw(&file, path, err))
        return false;
    if (torch_print(table, options, file.stream, err))
        return output_file_commit(&file, err);
    bool gone = file.path == NULL && output_reader_is_gone();
    output_file_discard(&file);
    if (gone)
        *err = (struct tpa_error){ 0 };
    return gone;
}

static bool print_torch_text(const struct top *top, const struct table *table, const struct top_args *args,
                             struct tpa_error *err)
{
    static const char *const units[] = {
        [TIME_FITTING] = NULL, [TIME_S] = "s", [TIME_MS] = "ms", [TIME_US] = "us", [TIME_NS] = NULL,
    };
    if (args->output.time_unit == TIME_NS)
        return tpa_fail(err, TPA_NOWHERE, "torch's text knows the units s, ms and us, but not ns");
    SCOPED char *heading = heading_of(top->device_name);
    bool has_memory = top->has_memory && top->has_host;
    struct torch_options options = {
        .time_unit = units[args->output.time_unit],
        .row_limit = output_limit_given(&args->output)
                         ? (int64_t)limit_rows(&args->output.limit, table->row_count)
                         : LIMIT_OF_TORCH,
        .top_level_only = args->top_level,
        .profile_memory =
            has_memory || any_file(top->trace, offsetof(struct trace_file, profile_memory)) == 1,
        .with_flops = any_file(top->trace, offsetof(struct trace_file, with_flops)) == 1,
        .device_name = heading,
    };
    for (size_t i = 0; i < top->count; i++)
        options.uses_device |= top->at[i].on_device;
    return write_torch_text(table, &options, args->output.path, err);
}

/* TOP is for torch's text; NULL for a result that was kept, which is printed as rows. */
static bool print_result(const struct top *top, struct result *result, const struct top_args *args,
                         struct tpa_error *err)
{
    struct table *table = result->tables.at[0];
    if (!sort_rows(table, args, err))
        return false;
    if (top && wants_torch_text(args)) {
        if (!print_torch_text(top, table, args, err))
            return false;
        output_print_notices(result);
        return true;
    }
    if (args->top_level)
        keep_top_level(table);
    struct output_args output = args->output;
    output.limit = output_limit_or(&output, LIMIT_FOR_PEOPLE);
    return output_result(result, &output, err);
}

/* The reports of nsys stats; with their own omissions. Frees TRACE. */
static int print_nsys_text(struct trace *trace, const struct top_args *args, struct tpa_error *err)
{
    struct output_file file;
    bool done = false;
    if (args->by || args->top_level || args->selection.steps.count || args->selection.range ||
        args->selection.filter)
        tpa_fail(err, TPA_NOWHERE, "--format nsys prints whole reports: no rows can be chosen");
    else if (output_file_open_raw(&file, args->output.path, err)) {
        nsys_text_print(trace, file.stream);
        done = output_file_commit(&file, err);
        SCOPED_BY(result_free_at) struct result *notices = result_open("tpa.top/1");
        load_add_notices(trace, notices);
        output_print_notices(notices);
    }
    trace_free(trace);
    return done ? EXIT_FINE : EXIT_TROUBLE;
}

/* Options that only apply to traces. */
static bool check_options_of_sums(const struct top_args *args, const struct ingested *ingested,
                                  struct tpa_error *err)
{
    const struct selection_query *query = &args->selection;
    bool has_devices = ingested->profile && ingested->profile->figures == PROFILE_DEVICE_TIME;
    const char *option = args->by && !(has_devices && args->by == TOP_DEVICE) ? "--by"
                         : args->top_level                                    ? "--top-level"
                         : query->steps.count                                 ? "--steps"
                         : query->range                                       ? "--range"
                         : query->ranks.count                                 ? "--rank"
                         : query->devices.count                               ? "--device"
                         : query->streams.count                               ? "--stream"
                         : wants_torch_text(args)                             ? "--format torch"
                         : output_printer(&args->output) == &nsys_text        ? "--format nsys"
                                                                              : NULL;
    return !option ||
           tpa_fail(err, TPA_NOWHERE, "%s is for traces; this file holds sums and no events", option);
}

/* The file is a Python profile or a report on actions. Frees INGESTED. */
static int top_of_sums(const struct invocation *call, struct ingested *ingested, struct tpa_error *err)
{
    const struct top_args *args = call->args;
    struct profile_query query = {
        .sort = args->sort,
        .reverse = args->reverse,
        .filter = args->selection.filter,
        .exclude = args->selection.exclude,
        .strip_dirs = args->strip_dirs,
        .by_device = args->by != 0, /* no other is allowed */
    };
    int exit_code = EXIT_TROUBLE;
    if (check_options_of_sums(args, ingested, err))
        exit_code = ingested->profile
                        ? profile_report(call, PSTATS_STATS, ingested, &query, &args->output, err)
                        : actions_report(ingested, &query, &args->output, err);
    ingested_free(ingested);
    return exit_code;
}

/* The result of ARGS before it is cut, and sorted by --sort. */
static struct result *make_top_result(const struct top *top, const struct selection *selection,
                                      const struct top_args *args)
{
    struct result *result = result_open("tpa.top/1");
    result_add_table(result, top_table(top));
    analysis_notice_empty_selection(top->trace, selection, &args->selection, result);
    top_add_notices(top, result);
    load_cannot_if_empty(top->trace, result);
    load_add_notices(top->trace, result);
    return result;
}

/* Of each call there are two results to keep: in the order that people read first, and for --sort. */
static struct kept_query top_query_of(const struct invocation *call, bool first_order)
{
    return (struct kept_query){ call, "sort reverse", first_order };
}

static bool keep_result(const struct invocation *call, bool first_order, struct result *result)
{
    struct kept_query query = top_query_of(call, first_order);
    return kept_put(&query, result);
}

/* Print TOP, which is freed. */
static bool print_top(const struct invocation *call, struct top *top, const struct selection *selection,
                      struct tpa_error *err)
{
    const struct top_args *args = call->args;
    bool first_order = is_in_first_order(args), good = true;
    if (first_order && kept_is_on()) { /* for the next question */
        struct result *aside = make_top_result(top, selection, args);
        if (!keep_result(call, false, aside))
            result_free(aside);
    }
    if (first_order)
        top_sort(top);
    struct result *result = make_top_result(top, selection, args);
    bool kept = keep_result(call, first_order, result);
    if (kept_branch())
        good = print_result(top, result, args, err);
    if (!kept)
        result_free(result);
    arena_free(top);
    return good;
}

static int top_main(const struct invocation *call, struct tpa_error *err)
{
    const struct top_args *args = call->args;
    struct top_options options = {
        .by = args->by,
        .stack_depth = (unsigned)args->stack_depth,
        .python = args->python,
        .float_times = wants_torch_text(args),
        .torch = (enum torch_version)args->torch_version,
        .filter = args->selection.filter,
        .exclude = args->selection.exclude,
    };
    struct kept_query query = top_query_of(call, is_in_first_order(args));
    struct result *known = wants_torch_text(args) ? NULL : kept_find(&query);
    if (known)
        return print_result(NULL, known, args, err) ? EXIT_FINE : EXIT_TROUBLE;
    bool nsys = output_printer(&args->output) == &nsys_text;
    struct trace_wants wants = nsys ? nsys_reports_wants : top_wants(&options);
    struct ingested ingested;
    if (!load_any(call, &args->load, &wants, &ingested, err))
        return EXIT_TROUBLE;
    if (ingested.snapshots.of.count) {
        ingested_trace(&ingested, call->operands[0], err); /* which sets ERR */
        return EXIT_TROUBLE;
    }
    if (!ingested.trace)
        return top_of_sums(call, &ingested, err);
    if (profile_wants_pstats(&args->output)) {
        tpa_fail(err, TPA_NOWHERE, "--format pstats shows Python profiles; this is a trace");
        ingested_free(&ingested);
        return EXIT_TROUBLE;
    }
    struct trace *trace = ingested.trace;
    if (nsys)
        return print_nsys_text(trace, args, err);
    SCOPED_OBJECT struct selection *selection = selection_open(trace, &args->selection, err);
    bool done = false;
    if (selection) {
        options.selection = selection;
        done = print_top(call, top_analyze(trace, &options), selection, err);
    }
    trace_free(trace);
    return done ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_top = {
    .name = "top",
    .summary = "which operators, calls and kernels took the time",
    .operands = "TRACE...",
    .description =
        "Answers what torch's prof.key_averages().table() answers, from the file alone and by torch's rules. It is one row "
        "per operator, annotation, runtime call and kernel: its calls, its time on the host and on the device, its "
        "own and with what it called, and its memory.\n\n"
        "Other traces (TensorFlow, JAX, VizTracer, Chrome, plain CUDA) get the same table from how their events nest. "
        "Several files, or a directory of them, make one table; --by rank separates them.\n\n"
        "A Python profile (cProfile, profile, yappi: .prof, .stats) gets a row per function, with the words of "
        "Python's pstats for --sort; several add up. The report of PyTorch Lightning's SimpleProfiler gets a row per "
        "action.\n\n"
        "Without --limit the table shows 25 rows, torch's text 100 as torch does; CSV and JSON hold all.",
    .tables = { top_tables, profile_top_tables },
    .options = top_opts,
    COMMAND_ARGS(top_defaults),
    .main = top_main,
    .examples = {
        "tpa top trace.json",
        "tpa top --sort cuda_time_total --limit 10 trace.json.gz",
        "tpa top --by kernel --filter gemm trace.json  # kernels whose name holds \"gemm\"",
        "tpa top --by step trace.json  # one row per step",
        "tpa top --by op,rank runs/today/  # operators of each rank",
        "tpa top --sort cumulative,name prof.stats  # a Python profile",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
    .reads_profiles = true,
    .reads_actions = true,
};
