/* sections.c - see sections.h. */
#include "analyze/contention/contention.h"
#include "analyze/kernels.h"
#include "analyze/launches.h"
#include "cli/report/sections.h"

#include "charts/charts.h"
#include "charts/timeline.h"
#include "analyze/registry.h"
#include "analyze/sequences/sequences.h"
#include "summary/summary.h"
#include "analyze/top/top.h"
#include "derive/features.h"
#include "job/job.h"
#include "job/recording.h"
#include <assert.h>

enum { BARS = 15, COLUMNS = 400, MOST_ROWS = 1000 };

/* Add the charts of TYPE, LEN bytes. Nothing to draw is not an error in a report. */
static void draw(const char *type, size_t len, const struct trace *trace, const struct selection *selection,
                 struct picture *picture)
{
    struct chart_request request = {
        .trace = trace, .selection = selection, .bars = BARS, .columns = COLUMNS
    };
    for (size_t i = 0; chart_types[i]; i++) {
        struct tpa_error ignored = { 0 };
        if (strlen(chart_types[i]->name) == len && memcmp(chart_types[i]->name, type, len) == 0 &&
            (chart_types[i]->needs & ~trace_features(trace)) == 0)
            chart_types[i]->draw(&request, picture, &ignored);
    }
}

/* Add the tables of an analysis with default options, and its charts. */
static bool fill_analysis(const struct analysis *analysis, const struct trace *trace,
                          const struct selection *selection, struct report_content *content,
                          struct tpa_error *err)
{
    struct analysis_query query = {
        .trace = trace, .selection = selection, .by = analysis->by_default, .options = analysis->defaults
    };
    if (!analysis->run(&query, content->result, err))
        return false;
    for (const char *word = analysis->charts; word && *word;) {
        size_t len = strcspn(word, " ");
        draw(word, len, trace, selection, content->picture);
        word += len + strspn(word + len, " ");
    }
    return true;
}

static bool fill_summary(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    if (selection_is_all(
            selection)) /* a section shows it: then the summary need not find its part of that first */
        gpu_analyze(trace, selection, BY(DEVICE));
    return summary_add_tables(trace, selection, SUMMARY_BY_ALL, content->result, err);
}

static bool fill_steps(const struct trace *trace, const struct selection *selection,
                       struct report_content *content, struct tpa_error *err)
{
    SCOPED_OBJECT const struct steps *steps =
        steps_analyze(trace, selection, &(struct steps_options){ 0 }, err);
    if (!steps)
        return false;
    steps_add_result(steps, content->result);
    chart_steps(content->picture, steps);
    return true;
}

static bool fill_operators(const struct trace *trace, const struct selection *selection,
                           struct report_content *content, struct tpa_error *err)
{
    (void)err;
    SCOPED_OBJECT struct top *top = top_analyze(trace, &(struct top_options){ .selection = selection });
    top_sort(top);
    result_add_table(content->result, top_table(top));
    top_add_notices(top, content->result);
    return true;
}

static bool fill_kernels(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct kernels *kernels = kernels_analyze(trace, selection, 0);
    result_add_table(content->result, kernels_table(kernels, 0));
    arena_free(kernels);
    const struct contention *contention = contention_analyze(trace, selection);
    size_t first = content->result->tables.count;
    contention_add_judged(contention, content->result);
    for (size_t i = first; i < content->result->tables.count; i++)
        table_truncate(content->result->tables.at[i], MOST_ROWS);
    arena_free(contention);
    draw("contention", strlen("contention"), trace, selection, content->picture);
    return true;
}

static bool fill_gaps(const struct trace *trace, const struct selection *selection,
                      struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct gaps_options options = gaps_defaults;
    options.most_gaps = MOST_ROWS;
    SCOPED_OBJECT const struct gaps *gaps = gaps_analyze(trace, selection, BY(DEVICE), &options);
    result_add_table(content->result, gaps_causes_table(gaps));
    result_add_table(content->result, gaps_table(gaps));
    chart_gaps(content->picture, gaps);
    return true;
}

static bool fill_launches(const struct trace *trace, const struct selection *selection,
                          struct report_content *content, struct tpa_error *err)
{
    (void)err;
    struct chart_request request = { .trace = trace, .selection = selection };
    SCOPED_OBJECT struct launches *launches = launches_analyze(trace, selection, LAUNCHES_BY_DEFAULT);
    launches_add_result(launches, trace, LAUNCHES_BY_DEFAULT, content->result);
    chart_queues(content->picture, &request, launches);
    return true;
}

/* As fill_analysis, with only the most important rows of each table: a large trace may have very many. */
static bool fill_most(const struct analysis *analysis, const struct trace *trace,
                      const struct selection *selection, struct report_content *content,
                      struct tpa_error *err)
{
    size_t first = content->result->tables.count;
    if (!fill_analysis(analysis, trace, selection, content, err))
        return false;
    for (size_t i = first; i < content->result->tables.count; i++)
        table_truncate(content->result->tables.at[i], MOST_ROWS);
    return true;
}

static bool fill_sequences(const struct trace *trace, const struct selection *selection,
                           struct report_content *content, struct tpa_error *err)
{
    return fill_most(&analysis_sequences, trace, selection, content, err);
}

static bool fill_latency(const struct trace *trace, const struct selection *selection,
                         struct report_content *content, struct tpa_error *err)
{
    return fill_most(&analysis_latency, trace, selection, content, err);
}

static bool fill_memory(const struct trace *trace, const struct selection *selection,
                        struct report_content *content, struct tpa_error *err)
{
    (void)err;
    memory_add_tables(trace, selection, &(struct memory_options){ 0 }, content->result);
    draw("memory", strlen("memory"), trace, selection, content->picture);
    return true;
}

/* The analysis of the job of several files. It would be different for a part of them. */
static bool fill_fleet(const struct trace *trace, const struct selection *selection,
                       struct report_content *content, struct tpa_error *err)
{
    (void)err;
    if (trace->file_count < 2 || !selection_is_all(selection))
        return true;
    content->facts = facts_open();
    facts_gather(content->facts, trace, &(struct gather_options){ 0 });
    facts_finish(content->facts);
    content->fleet = fleet_open(content->facts);
    fleet_add_result(content->fleet, content->result);
    for (size_t i = 0; i < content->result->tables.count; i++)
        table_truncate(content->result->tables.at[i], MOST_ROWS);
    struct picture *picture = fleet_picture(content->fleet);
    if (picture) {
        picture_free(content->picture);
        content->picture = picture;
    }
    return true;
}

/* A job with a pipeline: a step as people draw it, and what tpa job says. */
static bool fill_pipeline(const struct trace *trace, const struct selection *selection,
                          struct report_content *content, struct tpa_error *err)
{
    (void)err;
    if ((trace->file_count < 2 && !file_is_timeline(trace, 0)) || !selection_is_all(selection))
        return true;
    content->job = job_of_trace(trace, &(struct ranges){ 0 });
    struct picture *picture = job_picture(content->job);
    if (!picture)
        return true;
    job_add_result(content->job, content->result);
    for (size_t i = 0; i < content->result->tables.count; i++)
        table_truncate(content->result->tables.at[i], MOST_ROWS);
    picture_free(content->picture);
    content->picture = picture;
    return true;
}

static bool fill_timeline(const struct trace *trace, const struct selection *selection,
                          struct report_content *content, struct tpa_error *err)
{
    (void)err;
    if (trace_features(trace) &
        FEATURE_MEMORY) /* what the section of memory needs is more than the timeline does */
        memory_records_of(trace, MEMORY_OWNERS);
    content->timeline = chart_timeline(trace, selection);
    content->views = views_open(trace, selection);
    return true;
}

static const struct trace_wants no_wants;
static const struct trace_wants pipeline_wants = { .args = OPERATIONS_WANTS };

/* Sections that are not analyses. What top and pictures want is computed by functions: report_wants adds that. */
static const struct report_section own_sections[] = {
    { "summary", "Findings", "What to change, what saves most first, and what the rules looked at.",
      "tpa summary", FEATURE_EVENTS, &summary_wants, fill_summary },
    { "operators", "Operators",
      "What torch's key_averages() answers: a row per operator, call and kernel, with its own time and that with what it "
      "called.",
      "tpa top", FEATURE_EVENTS, &no_wants, fill_operators },
    { "memory", "Memory", "Where memory peaked, what was alive then, and which operators allocate.",
      "tpa memory", FEATURE_MEMORY, &memory_wants, fill_memory },
    { "fleet", "Ranks of the job",
      "Who holds the job up and why, slow GPUs, hosts and links, with clocks corrected by the ends of collectives.",
      "tpa fleet", FEATURE_EVENTS, &gather_wants, fill_fleet },
    { "pipeline", "Pipeline",
      "A step as people draw it: ranks and time, microbatches numbered, bubbles hatched; which rank or stage holds the job up, "
      "and what is gained without its cause.",
      "tpa job", FEATURE_EVENTS, &pipeline_wants, fill_pipeline },
    { "timeline", "Timeline",
      "When what ran. Click on anything for its details; drag to move, Ctrl and the wheel to zoom, Shift and drag to add up a "
      "stretch of time. Keys: w, a, s and d zoom and move, f fills the window, ? lists all.",
      NULL, FEATURE_EVENTS, &views_wants, fill_timeline },
};

/* Analyses whose charts use the same result as the tables. */
static const struct {
    const struct analysis *analysis;
    bool (*fill)(const struct trace *trace, const struct selection *selection, struct report_content *content,
                 struct tpa_error *err);
} own_fills[] = {
    { &analysis_steps, fill_steps },     { &analysis_kernels, fill_kernels },
    { &analysis_gaps, fill_gaps },       { &analysis_sequences, fill_sequences },
    { &analysis_latency, fill_latency }, { &analysis_launches, fill_launches },
};

static struct report_section section_of(const struct analysis *analysis, char *more, size_t size)
{
    struct report_section section = {
        .key = analysis->section_key ? analysis->section_key : analysis->name,
        .title = analysis->section,
        .intro = analysis->section_intro ? analysis->section_intro : analysis->summary,
        .more = more,
        .needs = analysis->needs | analysis->section_needs,
        .wants = analysis->wants,
        .analysis = analysis,
    };
    snprintf(more, size, "tpa %s", analysis->name);
    for (size_t i = 0; i < sizeof own_fills / sizeof *own_fills; i++)
        if (own_fills[i].analysis == analysis)
            section.fill = own_fills[i].fill;
    return section;
}

/* Analyses that are not named follow those that are. */
static int place_of(const char *key)
{
    static const char *const order[] = { "timeline",  "summary", "steps",    "operators", "modules",
                                         "kernels",   "devices", "gaps",     "transfers", "launches",
                                         "sequences", "latency", "roofline", "memory",    "communication",
                                         "pipeline",  "fleet" };
    int place = 0, count = sizeof order / sizeof *order;
    while (place < count && strcmp(order[place], key) != 0)
        place++;
    return place;
}

const struct report_section *report_sections(void)
{
    static struct report_section sections[REPORT_MOST_SECTIONS + 1];
    static char more[REPORT_MOST_SECTIONS][32];
    size_t count = 0;
    if (sections[0].key)
        return sections;
    for (size_t i = 0; i < sizeof own_sections / sizeof *own_sections; i++)
        sections[count++] = own_sections[i];
    for (size_t i = 0; analyses[i]; i++) {
        assert(count < REPORT_MOST_SECTIONS);
        if (analyses[i]->section) {
            sections[count] = section_of(analyses[i], more[count], sizeof more[count]);
            count++;
        }
    }
    for (size_t i = 1; i < count; i++) /* a few, and equals stay in order */
        for (size_t k = i; k > 0 && place_of(sections[k].key) < place_of(sections[k - 1].key); k--) {
            struct report_section moved = sections[k];
            sections[k] = sections[k - 1];
            sections[k - 1] = moved;
        }
    return sections;
}

bool report_fill(const struct report_section *section, const struct trace *trace,
                 const struct selection *selection, struct report_content *content, struct tpa_error *err)
{
    return section->fill ? section->fill(trace, selection, content, err)
                         : fill_analysis(section->analysis, trace, selection, content, err);
}

struct trace_wants report_wants(uint64_t chosen)
{
    struct trace_wants all = { .args = FEATURE_WANTS, .work_bytes = 60 };
    for (size_t i = 0; report_sections()[i].key; i++) {
        const struct report_section *section = &report_sections()[i];
        if (!(chosen >> i & 1))
            continue;
        trace_wants_join(&all, section->wants);
        if (section->fill == fill_timeline) {
            struct trace_wants timeline = chart_timeline_wants();
            trace_wants_join(&all, &timeline);
        }
        if (section->fill == fill_operators) {
            struct trace_wants top = top_wants(&(struct top_options){ 0 });
            trace_wants_join(&all, &top);
        }
    }
    for (size_t i = 0; chart_types[i]; i++) {
        struct trace_wants chart = chart_type_wants(chart_types[i]);
        if (strcmp(chart_types[i]->name, "roofline") != 0)
            trace_wants_join(&all, &chart);
    }
    return all;
}
