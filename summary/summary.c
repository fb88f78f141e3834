/*
 * summary.c - see summary.h.
 *
 * It asks the questions that other commands ask; what the rules find in the answers is summary_rules.h's business, the
 * figures that are shown of them summary_figures.c's.
 */
#include "summary/summary.h"

#include "facts/callers.h"
#include "facts/collectives.h"
#include "analyze/comm.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "facts/host_waits.h"
#include "analyze/memory/memory.h"
#include "facts/memory_records.h"
#include "analyze/steps.h"
#include "summary/findings.h"
#include "summary/rules.h"
#include "analyze/transfers.h"
#include "facts/features.h"
#include <stdlib.h>
#include <string.h>

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

static void add_remarks(struct summary *summary, struct result *result)
{
    size_t count = summary->findings.count;
    if (count == 0)
        return;
    qsort(summary->findings.at, count, sizeof *summary->findings.at, compare_findings);
    struct table *table = table_open("remarks", "Also seen, without a price", columns, COLUMNS);
    if (summary->trace->file_count > 1 || summary->by == SUMMARY_BY_RANK)
        table->columns[COLUMN_RANK].flags = 0;
    for (size_t i = 0; i < count; i++)
        add_finding(summary, table, &summary->findings.at[i]);
    result_add_table(result, table);
    add_advice(summary, result);
}

/* ---- the whole ---- */

/*
 * Of collectives, who waited for whom; sizes that only shapes tell would cost more than all else. By their ids Python frames
 * are known, which are no operators.
 */
#define EDIT_WANTS_OF_SUMMARY (EDIT_WANTS & ~(WANT(INPUT_DIMS) | WANT(INPUT_TYPES)))
const struct trace_wants summary_wants = {
    .args = EDIT_WANTS_OF_SUMMARY | HOST_WAITS_WANTS | CALLERS_WANTS | GPU_EVENTS_WANTS |
            MEMORY_RECORDS_WANTS | (COLLECTIVES_WANTS & ~(WANT(INPUT_DIMS) | WANT(INPUT_TYPES))) |
            WANT(BYTES) | WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY) | WANT(PYTHON_ID),
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
static bool ask(struct summary *summary, struct result *result, struct tpa_error *err)
{
    const struct trace *trace = summary->trace;
    const struct selection *selection = summary->selection;
    unsigned features = summary->features;
    bool by_rank = summary->by != SUMMARY_BY_ALL;
    if (features & FEATURE_MEMORY)
        ask_for_memory(summary, result);
    if (features & FEATURE_STEPS) {
        summary->steps = steps_analyze(trace, selection, &(struct steps_options){ .by_rank = by_rank }, err);
        if (!summary->steps)
            return false;
    }
    if (!(features & FEATURE_GPU))
        return true;
    summary->gpu = gpu_analyze(trace, selection, BY(DEVICE));
    struct gaps_options gaps = gaps_defaults;
    gaps.only_causes = true;
    summary->gaps = gaps_analyze(trace, selection, BY(DEVICE), &gaps);
    summary->transfers = transfers_analyze(trace, selection, by_rank ? BY(RANK) : 0);
    if (trace->file_count == 1 || selection->names) /* who waits for whom is not asked of names */
        return true;
    summary->comm = comm_analyze(trace, selection, &(struct comm_options){ 0 }, err);
    return summary->comm != NULL;
}

bool summary_add_tables(const struct trace *trace, const struct selection *selection, enum summary_by by,
                        struct result *result, struct tpa_error *err)
{
    struct summary summary = { .trace = trace,
                               .selection = selection,
                               .by = by,
                               .features = trace_features(trace),
                               .parts = result_open("parts") };
    summary_find_ranks(&summary);
    bool good = ask(&summary, result, err);
    if (good) {
        summary_look(&summary);
        summary_add_overview(&summary, result);
        summary_add_operators(&summary, result);
        struct findings *findings = findings_analyze(&summary);
        findings_add_result(findings, result);
        findings_free(findings);
        add_remarks(&summary, result);
    }
    transfers_free(summary.transfers);
    comm_free(summary.comm);
    steps_free(summary.steps);
    gpu_free(summary.gpu);
    gaps_free(summary.gaps);
    result_free(summary.parts);
    VEC_FREE(&summary.findings);
    free(summary.ranks);
    arena_release(&summary.arena);
    return good;
}
