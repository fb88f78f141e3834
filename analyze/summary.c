/*
 * summary.c - see summary.h.
 *
 * It asks the questions that other commands ask, and shows a few of their figures; what the rules find in them is
 * summary_rules.h's business.
 */
#include "analyze/summary.h"

#include "analyze/callers.h"
#include "analyze/collectives.h"
#include "analyze/comm.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "analyze/gpu_events.h"
#include "analyze/host_waits.h"
#include "analyze/memory.h"
#include "analyze/memory_records.h"
#include "analyze/step_times.h"
#include "analyze/summary_rules.h"
#include "analyze/top.h"
#include "analyze/transfers.h"
#include "trace/features.h"
#include <stdlib.h>
#include <string.h>

/* ---- in short ---- */

static void add_overview(const struct summary *summary, struct result *result)
{
    const struct table *parts = summary_table(summary, "summary"),
                       *devices = summary_table(summary, "devices");
    const struct table *stalls = summary_table(summary, "stalls"), *memory = summary_table(summary, "memory");
    struct table *table = table_open("overview", "In short", NULL, 0);
    table_add_footer(table, "host_time", "Recorded", TABLE_NS, table_int(summary_host_time(summary)));
    if (parts && parts->row_count) {
        size_t row = summary_row(parts, "part", "Step");
        table_add_footer(table, "steps", "Complete steps", TABLE_COUNT, parts->footers.at[0].value);
        if (row < parts->row_count)
            table_add_footer(table, "step_average", "A step takes", TABLE_NS,
                             table_int(summary_figure(parts, row, "average")));
    }
    if (devices) {
        static const struct {
            const char *column, *key, *title;
        } shares[] = {
            { "computation", "computing", "Devices compute" },
            { "exposed_communication", "communicating", "communicate, and nothing else" },
            { "exposed_memcpy", "copying", "copy, and nothing else" },
            { "idle", "idle", "are idle" },
        };
        int64_t span_ns = 0, sums_ns[4] = { 0 };
        for (size_t row = 0; row < devices->row_count; row++) {
            span_ns += summary_figure(devices, row, "span");
            for (size_t i = 0; i < 4; i++)
                sums_ns[i] += summary_figure(devices, row, shares[i].column);
        }
        table_add_footer(table, "devices", "Devices", TABLE_COUNT, table_int((int64_t)devices->row_count));
        for (size_t i = 0; i < 4 && span_ns > 0; i++)
            table_add_footer(table, shares[i].key, shares[i].title, TABLE_SHARE,
                             table_number((double)sums_ns[i] / (double)span_ns));
    }
    if (stalls && stalls->footers.count)
        table_add_footer(table, "host_blocked", "Host threads blocked", TABLE_NS,
                         stalls->footers.at[0].value);
    int64_t peak = INT64_MIN;
    for (size_t row = 0; memory && row < memory->row_count; row++)
        peak = summary_figure(memory, row, "peak_allocated") > peak
                   ? summary_figure(memory, row, "peak_allocated")
                   : peak;
    if (peak != INT64_MIN)
        table_add_footer(table, "peak_memory", "Most memory on a device", TABLE_BYTES, table_int(peak));
    result_add_table(result, table);
}

/* ---- the most expensive operators ---- */

enum operator_column { OPERATOR_NAME, OPERATOR_TIME, OPERATOR_SHARE, OPERATOR_COUNT, OPERATOR_COLUMNS };

/* clang-format off */
static const struct table_column operator_columns[OPERATOR_COLUMNS] = {
    { "name", "Operator", TABLE_NAME, "the operator; the call where none made it", 0, NULL },
    { "time", "Time", TABLE_NS, "durations of the work that it launched, added up; without devices its own CPU time", 0, NULL },
    { "share_of_all", "Share", TABLE_SHARE, "of this time of all operators", 0, NULL },
    { "count", "Count", TABLE_COUNT, "how much work it launched; without devices how often it was called", 0, NULL },
};
/* clang-format on */

/* What a name, or anything else by number, comes to. */
struct cost {
    const char *name;
    size_t name_length;
    int64_t time_ns, count;
};

struct costs {
    struct cost *at;
    size_t count, capacity;
    int64_t total_ns;
    struct arena *arena; /* for names that live no longer than their row */
};

static int compare_costs(const void *left, const void *right)
{
    const struct cost *a = left, *b = right;
    if (a->time_ns != b->time_ns)
        return a->time_ns > b->time_ns ? -1 : 1;
    return strcmp(a->name, b->name);
}

/* By the operators, else the calls, that launched the work of the devices. */
static void add_device_costs(const struct summary *summary, struct costs *costs)
{
    const struct trace *trace = summary->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t name_count = names_count(trace->names);
    struct cost *by_name = mem_zalloc(name_count + 1, sizeof *by_name); /* the last: of unknown launchers */
    for (size_t i = 0; i < gpu->count; i++) {
        if (!selection_holds(summary->selection, gpu->event[i]))
            continue;
        event_id launcher = gpu->op[i] == EVENT_NONE ? gpu->call[i] : gpu->op[i];
        struct cost *cost = &by_name[launcher == EVENT_NONE ? name_count : trace->name[launcher]];
        cost->time_ns += trace->dur_ns[gpu->event[i]];
        cost->count++;
    }
    for (size_t id = 0; id <= name_count; id++) {
        if (by_name[id].count == 0)
            continue;
        struct cost *cost = VEC_PUSH(costs);
        *cost = by_name[id];
        cost->name = id < name_count ? names_text(trace->names, (name_id)id) : "(launch not recorded)";
        cost->name_length = strlen(cost->name);
        costs->total_ns += cost->time_ns;
    }
    free(by_name);
}

static void take_host_cost(void *context, const struct top_figures *figures)
{
    struct costs *costs = context;
    if (figures->on_device || figures->self_cpu_ns <= 0)
        return;
    *VEC_PUSH(costs) = (struct cost){ arena_strndup(costs->arena, figures->name, figures->name_length),
                                      figures->name_length, figures->self_cpu_ns, figures->count };
    costs->total_ns += figures->self_cpu_ns;
}

/* A few rows; `tpa top` has all, by torch's rules, which count waits of a stream as time on the device, too. */
static void add_operators(struct summary *summary, unsigned features, struct result *result)
{
    enum { MOST = 5 };
    struct costs costs = { .arena = &summary->arena };
    bool devices = features & FEATURE_GPU;
    if (devices)
        add_device_costs(summary, &costs);
    else if (features & FEATURE_OPS)
        top_each_row(summary->trace, &(struct top_options){ .selection = summary->selection }, take_host_cost,
                     &costs);
    if (costs.count == 0)
        return;
    qsort(costs.at, costs.count, sizeof *costs.at, compare_costs);
    struct table *table = table_open(
        "operators",
        devices ? "Operators whose work takes devices longest (more: tpa top --sort self_cuda_time_total)"
                : "Operators that take longest themselves (more: tpa top --sort self_cpu_time_total)",
        operator_columns, OPERATOR_COLUMNS);
    for (size_t i = 0; i < costs.count && i < MOST; i++) {
        size_t row = table_add_row(table);
        table_set_text(table, row, OPERATOR_NAME, costs.at[i].name, costs.at[i].name_length);
        table_set_int(table, row, OPERATOR_TIME, costs.at[i].time_ns);
        if (costs.total_ns > 0)
            table_set_number(table, row, OPERATOR_SHARE,
                             (double)costs.at[i].time_ns / (double)costs.total_ns);
        table_set_int(table, row, OPERATOR_COUNT, costs.at[i].count);
    }
    result_add_table(result, table);
    VEC_FREE(&costs);
}

/* ---- findings ---- */

enum column {
    COLUMN_FINDING,
    COLUMN_SHARE,
    COLUMN_THRESHOLD,
    COLUMN_TIME,
    COLUMN_BYTES,
    COLUMN_RANK,
    COLUMN_DEVICE,
    COLUMN_SEE,
    COLUMN_ADVICE,
    COLUMN_RULE,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    { "finding", "Finding", TABLE_NAME, "what was found, and where", 0, NULL },
    { "share", "Share", TABLE_SHARE, "share of the time, or of the memory, that is at stake", 0, NULL },
    { "threshold", "Limit", TABLE_SHARE, "shares above this are findings", 0, NULL },
    { "time", "Time", TABLE_NS, "time at stake", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes at stake", TABLE_OPTIONAL, NULL },
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_TEXT, "the device", 0, NULL },
    { "see", "See", TABLE_TEXT, "the command that shows more", 0, NULL },
    { "advice", "Advice", TABLE_TEXT, "what to do", TABLE_OPTIONAL, NULL },
    { "rule", "Rule", TABLE_TEXT, "the rule's name, for scripts", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

/* What is at stake in memory comes after what is at stake in time. */
static bool is_of_memory(enum rule rule)
{
    return rule == RULE_MEMORY_FULL || rule == RULE_MEMORY_GROWS;
}

static int compare_findings(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (is_of_memory(a->rule) != is_of_memory(b->rule))
        return is_of_memory(a->rule) ? 1 : -1;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void set_text(struct table *table, size_t row, size_t column, const char *text)
{
    if (text)
        table_set_text(table, row, column, text, strlen(text));
}

static void add_finding(struct summary *summary, struct table *table, const struct finding *finding)
{
    const char *title = summary_rules[finding->rule].finding;
    size_t row = table_add_row(table);
    set_text(table, row, COLUMN_FINDING,
             finding->detail ? arena_printf(&summary->arena, "%s: %s", title, finding->detail) : title);
    table_set_number(table, row, COLUMN_SHARE, finding->share);
    table_set_number(table, row, COLUMN_THRESHOLD, summary_rules[finding->rule].threshold);
    table_set_int(table, row, COLUMN_TIME, finding->time_ns);
    table_set_int(table, row, COLUMN_BYTES, finding->bytes);
    table_set_int(table, row, COLUMN_RANK, finding->rank);
    set_text(table, row, COLUMN_DEVICE, finding->device);
    set_text(table, row, COLUMN_SEE, summary_rules[finding->rule].command);
    set_text(table, row, COLUMN_ADVICE, finding->advice);
    set_text(table, row, COLUMN_RULE, summary_rules[finding->rule].key);
    if (finding->bytes != TABLE_INT_MISSING)
        table->columns[COLUMN_BYTES].flags = 0;
}

/* Each piece of advice once, that for what costs most first; a screen holds no more than a few. */
static void add_advice(const struct summary *summary, struct result *result)
{
    enum { MOST = 5 };
    size_t said = 0;
    for (size_t i = 0; i < summary->findings.count && said < MOST; i++) {
        const struct finding *finding = &summary->findings.at[i];
        bool repeated = !finding->advice;
        for (size_t before = 0; before < i && !repeated; before++)
            repeated = summary->findings.at[before].advice &&
                       strcmp(summary->findings.at[before].advice, finding->advice) == 0;
        if (repeated)
            continue;
        result_add_notice(result, "advice", 0, NULL, TPA_NOWHERE, "%s%s%s: %s",
                          summary_rules[finding->rule].finding, finding->detail ? ": " : "",
                          finding->detail ? finding->detail : "", finding->advice);
        said++;
    }
}

static void add_findings(struct summary *summary, struct result *result)
{
    size_t count = summary->findings.count;
    if (count == 0)
        return;
    qsort(summary->findings.at, count, sizeof *summary->findings.at, compare_findings);
    struct table *table = table_open("findings", "What to look at, first what costs most", columns, COLUMNS);
    if (summary->trace->file_count > 1)
        table->columns[COLUMN_RANK].flags = 0;
    for (size_t i = 0; i < count; i++)
        add_finding(summary, table, &summary->findings.at[i]);
    result_add_table(result, table);
    add_advice(summary, result);
}

/* ---- the whole ---- */

/* Of collectives, who waited for whom; sizes that only shapes tell would cost more than all else. */
const struct trace_wants summary_wants = {
    .args = HOST_WAITS_WANTS | CALLERS_WANTS | GPU_EVENTS_WANTS | MEMORY_RECORDS_WANTS |
            (COLLECTIVES_WANTS & ~(WANT(INPUT_DIMS) | WANT(INPUT_TYPES))) | WANT(BYTES) |
            WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY),
};

/* The tables of memory; their steps are not those of `tpa steps`. What failed for want of memory is told. */
static void ask_for_memory(struct summary *summary, struct result *result)
{
    struct result *parts = summary->parts;
    memory_add_tables(summary->trace, summary->selection, &(struct memory_options){ .brief = true }, parts);
    for (size_t i = 0; i < parts->tables.count; i++)
        if (strcmp(parts->tables.at[i]->key, "steps") == 0)
            parts->tables.at[i]->key = "memory_steps";
    for (size_t i = 0; i < parts->notices.count; i++)
        if (strcmp(parts->notices.at[i].kind, "out_of_memory") == 0)
            result_add_notice(result, "out_of_memory", parts->notices.at[i].count, NULL, TPA_NOWHERE, "%s",
                              parts->notices.at[i].text);
}

/* Ask what the rules look at; false and ERR when the selection does not fit. */
static bool ask(struct summary *summary, unsigned features, struct result *result, struct tpa_error *err)
{
    const struct trace *trace = summary->trace;
    const struct selection *selection = summary->selection;
    if (features & FEATURE_MEMORY)
        ask_for_memory(summary, result);
    if (features & FEATURE_STEPS &&
        !step_times_add_tables(trace, selection, &(struct step_times_options){ 0 }, summary->parts, err))
        return false;
    if (!(features & FEATURE_GPU))
        return true;
    gpu_add_tables(trace, selection, GPU_ROWS_DEVICE, summary->parts);
    struct gaps_options gaps = gaps_defaults;
    gaps.only_causes = true;
    gaps_add_tables(trace, selection, &gaps, summary->parts);
    transfers_add_tables(trace, selection, TRANSFERS_BY_KIND, summary->parts);
    return trace->file_count == 1 || selection->names || /* who waits for whom is not asked of names */
           comm_add_tables(trace, selection, &(struct comm_options){ .by = COMM_BY_DEFAULT }, summary->parts,
                           err);
}

bool summary_add_tables(const struct trace *trace, const struct selection *selection, struct result *result,
                        struct tpa_error *err)
{
    struct summary summary = { .trace = trace, .selection = selection, .parts = result_open("parts") };
    unsigned features = trace_features(trace);
    bool good = ask(&summary, features, result, err);
    if (good) {
        summary_look(&summary);
        add_overview(&summary, result);
        add_operators(&summary, features, result);
        add_findings(&summary, result);
    }
    result_free(summary.parts);
    VEC_FREE(&summary.findings);
    arena_release(&summary.arena);
    return good;
}
