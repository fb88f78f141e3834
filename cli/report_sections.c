/* report_sections.c - see report_sections.h. */
#include "cli/report_sections.h"

#include "charts/charts.h"
#include "analyze/comm.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "analyze/kernels.h"
#include "analyze/launches.h"
#include "analyze/memory/memory.h"
#include "analyze/modules.h"
#include "analyze/registry.h"
#include "analyze/sequences/sequences.h"
#include "analyze/steps.h"
#include "summary/summary.h"
#include "analyze/top/top.h"
#include "analyze/transfers.h"
#include "facts/features.h"
#include <string.h>

enum { BARS = 15, COLUMNS = 400, MOST_ROWS = 1000 };

/* Add the charts of a type. That there is nothing to draw is no error of a report. */
static void draw(const char *type, const struct trace *trace, const struct selection *selection,
                 struct picture *picture)
{
    struct chart_question question = {
        .trace = trace, .selection = selection, .bars = BARS, .columns = COLUMNS
    };
    for (size_t i = 0; chart_types[i]; i++) {
        struct tpa_error ignored = { 0 };
        if (strcmp(chart_types[i]->name, type) == 0 && (chart_types[i]->needs & ~trace_features(trace)) == 0)
            chart_types[i]->draw(&question, picture, &ignored);
    }
}

/* Add the tables of ANALYSIS, asked as without options. */
static bool ask(const struct analysis *analysis, const struct trace *trace, const struct selection *selection,
                struct result *result, struct tpa_error *err)
{
    struct analysis_query query = {
        .trace = trace, .selection = selection, .by = analysis->by_default, .options = analysis->defaults
    };
    return analysis->run(&query, result, err);
}

static bool fill_summary(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    return summary_add_tables(trace, selection, SUMMARY_BY_ALL, content->result, err);
}

static bool fill_steps(const struct trace *trace, const struct selection *selection,
                       struct report_content *content, struct tpa_error *err)
{
    struct steps *steps = steps_analyze(trace, selection, &(struct steps_options){ 0 }, err);
    if (!steps)
        return false;
    steps_add_result(steps, content->result);
    chart_steps(content->picture, steps);
    steps_free(steps);
    return true;
}

static bool fill_operators(const struct trace *trace, const struct selection *selection,
                           struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct top *top = top_analyze(trace, &(struct top_options){ .selection = selection });
    struct table *table = top_table(top);
    if (trace_features(trace) & FEATURE_GPU)
        TABLE_SORT(table, struct top_row, self_device_ns);
    else
        TABLE_SORT(table, struct top_row, self_cpu_ns);
    chart_operators(content->picture, top, BARS);
    result_add_table(content->result, table);
    top_add_notices(top, content->result);
    top_free(top);
    return true;
}

static bool fill_modules(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    return ask(&analysis_modules, trace, selection, content->result, err);
}

static bool fill_kernels(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct kernels *kernels = kernels_analyze(trace, selection, 0);
    result_add_table(content->result, kernels_table(kernels, 0));
    chart_kernels(content->picture, kernels, BARS);
    kernels_free(kernels);
    return true;
}

static bool fill_devices(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct gpu *gpu = gpu_analyze(trace, selection, BY(DEVICE));
    gpu_add_result(gpu, content->result);
    gpu_free(gpu);
    draw("utilization", trace, selection, content->picture);
    return true;
}

static bool fill_gaps(const struct trace *trace, const struct selection *selection,
                      struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct gaps_options options = gaps_defaults;
    options.most_gaps = MOST_ROWS;
    struct gaps *gaps = gaps_analyze(trace, selection, BY(DEVICE), &options);
    result_add_table(content->result, gaps_causes_table(gaps));
    result_add_table(content->result, gaps_table(gaps));
    chart_gaps(content->picture, gaps);
    gaps_free(gaps);
    return true;
}

static bool fill_transfers(const struct trace *trace, const struct selection *selection,
                           struct report_content *content, struct tpa_error *err)
{
    bool good = ask(&analysis_transfers, trace, selection, content->result, err);
    draw("transfers", trace, selection, content->picture);
    return good;
}

static bool fill_launches(const struct trace *trace, const struct selection *selection,
                          struct report_content *content, struct tpa_error *err)
{
    bool good = ask(&analysis_launches, trace, selection, content->result, err);
    draw("queue", trace, selection, content->picture);
    return good;
}

/* The rows that matter most: a large trace has any number of runs and chains. */
static bool fill_sequences(const struct trace *trace, const struct selection *selection,
                           struct report_content *content, struct tpa_error *err)
{
    size_t first = content->result->tables.count;
    if (!ask(&analysis_sequences, trace, selection, content->result, err))
        return false;
    for (size_t i = first; i < content->result->tables.count; i++)
        table_truncate(content->result->tables.at[i], MOST_ROWS);
    return true;
}

static bool fill_memory(const struct trace *trace, const struct selection *selection,
                        struct report_content *content, struct tpa_error *err)
{
    (void)err;
    memory_add_tables(trace, selection, &(struct memory_options){ 0 }, content->result);
    draw("memory", trace, selection, content->picture);
    return true;
}

static bool fill_communication(const struct trace *trace, const struct selection *selection,
                               struct report_content *content, struct tpa_error *err)
{
    if (!ask(&analysis_comm, trace, selection, content->result, err))
        return false;
    draw("overlap", trace, selection, content->picture);
    return true;
}

static bool fill_views(const struct trace *trace, const struct selection *selection,
                       struct report_content *content, struct tpa_error *err)
{
    (void)err;
    content->views = views_open(trace, selection);
    return true;
}

static const struct trace_wants no_wants;

/* Those of top are a function, and of its pictures: they are added in report_wants. */
const struct report_section report_sections[] = {
    { "summary", "Summary", "The figures that matter first, and what the rules found, the costliest first.",
      "tpa summary", FEATURE_EVENTS, &summary_wants, fill_summary },
    { "steps", "Steps",
      "Where the time of each step went. Each moment counts once, for the first of kernel, memcpy, memset, communication, "
      "runtime, data loading, CPU that was going on.",
      "tpa steps", FEATURE_STEPS, &steps_wants, fill_steps },
    { "operators", "Operators",
      "What torch's key_averages() answers: a row per operator, call and kernel, with its own time and that with what it "
      "called.",
      "tpa top", FEATURE_EVENTS, &no_wants, fill_operators },
    { "modules", "Modules", "Time per nn.Module, forward and backward, on the host and on the devices.",
      "tpa modules", FEATURE_STACKS, &modules_wants, fill_modules },
    { "kernels", "Kernels", "A row per kernel: how often, how long, how launched, and by which operators.",
      "tpa kernels", FEATURE_GPU, &kernels_wants, fill_kernels },
    { "devices", "Devices",
      "What each device did with its time: it computes; else it communicates; else it copies; else it is idle.",
      "tpa gpu", FEATURE_GPU, &gpu_wants, fill_devices },
    { "gaps", "Idle gaps", "Every time a device had nothing to do, with one cause each.", "tpa gaps",
      FEATURE_GPU, &gaps_wants, fill_gaps },
    { "transfers", "Transfers", "Copies by direction and kind of host memory, and who had to wait for them.",
      "tpa transfers", FEATURE_GPU, &transfers_wants, fill_transfers },
    { "launches", "Launches", "What it cost to launch work: time in the call, in the queue, on the device.",
      "tpa launches", FEATURE_GPU | FEATURE_LAUNCHES, &launches_wants, fill_launches },
    { "sequences", "Sequences",
      "Short works in a row, which a CUDA graph or fusion could save the time between, and chains of works that repeat.",
      "tpa sequences", FEATURE_GPU, &sequences_wants, fill_sequences },
    { "memory", "Memory", "Where memory peaked, what was alive then, and which operators allocate.",
      "tpa memory", FEATURE_MEMORY, &memory_wants, fill_memory },
    { "communication", "Communication",
      "Collectives: size, bandwidth, what they expose, and who waited for whom.", "tpa comm",
      FEATURE_COLLECTIVES, &comm_wants, fill_communication },
    { "timeline", "Timeline and call tree",
      "When what ran, and what called what. Click, or focus a picture and use the keys: arrows move and zoom, 0 shows "
      "all, n and p choose the next and the previous, Enter zooms to what is chosen.",
      NULL, FEATURE_EVENTS, &views_wants, fill_views },
    { 0 },
};

static void join_wants(struct trace_wants *all, const struct trace_wants *more)
{
    all->args |= more->args;
    all->flows |= more->flows;
    all->counters |= more->counters;
}

struct trace_wants report_wants(uint64_t chosen)
{
    struct trace_wants all = { .args = FEATURE_WANTS };
    for (size_t i = 0; report_sections[i].key; i++) {
        if (!(chosen >> i & 1))
            continue;
        join_wants(&all, report_sections[i].wants);
        if (report_sections[i].fill == fill_operators) {
            struct trace_wants top = top_wants(&(struct top_options){ 0 });
            join_wants(&all, &top);
        }
    }
    for (size_t i = 0; chart_types[i]; i++) {
        struct trace_wants chart = chart_types[i]->wants();
        if (strcmp(chart_types[i]->name, "roofline") != 0)
            join_wants(&all, &chart);
    }
    return all;
}
