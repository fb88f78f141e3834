/* It asks the questions that other commands ask; state.h lists the parts that look at the answers. */
#include "summary/summary.h"

#include "analyze/roofline.h"
#include "base/parallel.h"
#include "derive/callers.h"
#include "derive/step_list.h"
#include "job/job.h"
#include "job/recording.h"
#include "memory/memory_records.h"
#include "whatif/whatif.h"
#include "summary/figures.h"
#include "summary/finding_pipeline.h"
#include "summary/headline.h"
#include "summary/rules.h"
#include "derive/features.h"
#include <inttypes.h>

/* ---- findings ---- */

struct remark {
    struct text finding, device, see, advice, rule;
    double share, threshold;
    int64_t time_ns, bytes, rank;
};

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct remark, finding, "finding", "Finding", TABLE_NAME, "what was found, and where"),
    COLUMN(struct remark, share, "share", "Share", TABLE_SHARE, "share of the time, or of the memory, that is at stake"),
    COLUMN(struct remark, threshold, "threshold", "Limit", TABLE_SHARE, "shares above this are findings"),
    COLUMN(struct remark, time_ns, "time", "Time", TABLE_NS, "time at stake"),
    COLUMN(struct remark, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes at stake", .flags = TABLE_OPTIONAL),
    COLUMN(struct remark, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_OPTIONAL),
    COLUMN(struct remark, device, "device", "Device", TABLE_TEXT, "the device", .flags = TABLE_OPTIONAL),
    COLUMN(struct remark, see, "see", "See", TABLE_TEXT, "the command that shows more"),
    COLUMN(struct remark, advice, "advice", "Advice", TABLE_TEXT, "what to do", .flags = TABLE_LINE),
    COLUMN(struct remark, rule, "rule", "Rule", TABLE_TEXT, "the rule's name, for scripts", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

/* What is at stake in memory comes after what is at stake in time. */
static bool is_of_memory(enum rule rule)
{
    return rule == RULE_MEMORY_FULL || rule == RULE_MEMORY_GROWS;
}

static const struct key by_share[] = { DESC(struct finding, share), ASC(struct finding, order), KEY_END };

static struct remark remark_of(struct summary *summary, const struct finding *finding)
{
    const struct summary_rule *rule = &summary_rules[finding->rule];
    return (struct remark){
        .finding =
            as_text(finding->detail ? arena_printf(&summary->arena, "%s: %s", rule->finding, finding->detail)
                                    : rule->finding),
        .share = finding->share,
        .threshold = rule->threshold,
        .time_ns = finding->time_ns,
        .bytes = finding->bytes,
        .rank = finding->rank,
        .device = as_text(finding->device),
        .see = as_text(rule->command),
        .advice = as_text(finding->advice),
        .rule = as_text(rule->key),
    };
}

static void sort_findings(struct summary *summary)
{
    SORT_ARRAY(summary->findings.at, summary->findings.count, by_share);
    SORT_BY(summary->findings.at, summary->findings.count, i, is_of_memory(summary->findings.at[i].rule));
}

/* "rank 9, also 13, 5, 1 and 3 more": where FOUND was found, and then the COUNT that follow it in OTHERS. */
static const char *fold_details(struct summary *summary, const struct finding *found,
                                const struct finding *others, size_t count)
{
    enum { MOST = 8 };
    struct buffer text = { 0 };
    if (found->detail)
        buffer_puts(&text, found->detail);
    else
        buffer_printf(&text, "rank %" PRId64, found->rank);
    for (size_t i = 0; i < count && i < MOST; i++)
        buffer_printf(&text, "%s%" PRId64, i ? ", " : ", also ", others[i].rank);
    if (count > MOST)
        buffer_printf(&text, " and %zu more", count - MOST);
    const char *kept = arena_strndup(&summary->arena, text.at, text.count);
    buffer_release(&text);
    return kept;
}

/* Of the sorted findings: one for each rule, the worst, which names the ranks of the others of its rule and device. */
static void fold_ranks(struct summary *summary)
{
    struct finding *all = summary->findings.at,
                   *same = mem_alloc(mem_times(summary->findings.count + 1, sizeof *same));
    size_t kept = 0;
    for (size_t i = 0; i < summary->findings.count; i++) {
        size_t others = 0, left = i + 1;
        for (size_t k = i + 1; k < summary->findings.count; k++) {
            if (all[k].rule == all[i].rule && all[k].rank != all[i].rank)
                same[others++] = all[k];
            else
                all[left++] = all[k];
        }
        summary->findings.count = left;
        all[kept] = all[i];
        if (others)
            all[kept].detail = fold_details(summary, &all[i], same, others);
        kept++;
    }
    free(same);
}

static void add_remarks(struct summary *summary, struct result *result)
{
    size_t count = summary->findings.count;
    if (count == 0)
        return;
    struct remark *remarks = mem_alloc(mem_times(count, sizeof *remarks));
    for (size_t i = 0; i < count; i++)
        remarks[i] = remark_of(summary, &summary->findings.at[i]);
    struct table *table = TABLE_OF_ROWS("remarks", "Also seen, without a price", columns, remarks, count);
    if (summary->trace->file_count > 1 || summary->by == SUMMARY_BY_RANK)
        TABLE_FLAG(table, struct remark, rank, 0);
    for (size_t i = 0; i < count; i++) {
        if (remarks[i].bytes != TABLE_INT_MISSING)
            TABLE_FLAG(table, struct remark, bytes, 0);
        if (remarks[i].device.at)
            TABLE_FLAG(table, struct remark, device, 0);
    }
    free(remarks);
    result_add_table(result, table);
}

/* ---- the whole ---- */

/* By their ids Python frames are known. */
const struct trace_wants summary_wants = {
    .args = EDIT_WANTS | HOST_WAITS_WANTS | CALLERS_WANTS | GPU_EVENTS_WANTS | MEMORY_RECORDS_WANTS |
            OPERATIONS_WANTS | WANT(BYTES) | WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY) | WANT(PYTHON_ID) |
            WANT(FLOPS) | WANT(BYTES_ACCESSED) | WANT(MODULE),
    .work_bytes = 30,
};

/* What the rules look at; independent of each other. The order is that in which two threads end at about the same time:
 * the graph takes as long as all that follows it. Records of memory and the roofline take most memory for a while: both come before the
 * graph, which stays, and not at the same time. */
enum input {
    INPUT_MEMORY,
    INPUT_STEPS,
    INPUT_ROOFLINE,
    INPUT_GRAPH, /* of the replay, for the prices */
    INPUT_TRANSFERS,
    INPUT_GAPS,
    INPUT_GPU,
    INPUT_COMM,
    INPUTS
};

struct gathering {
    struct summary *summary;
    struct tpa_error errs[INPUTS]; /* a selection that does not fit */
};

/* A parallel_task. */
static void gather_one(void *context, size_t input)
{
    struct gathering *gathering = context;
    struct summary *summary = gathering->summary;
    const struct trace *trace = summary->trace;
    const struct selection *selection = summary->selection;
    struct tpa_error *err = &gathering->errs[input];
    unsigned features = summary->features;
    bool by_rank = summary->by != SUMMARY_BY_ALL, has_gpu = features & FEATURE_GPU;
    struct gaps_options gaps = gaps_defaults;
    gaps.only_causes = true;
    switch ((enum input)input) {
    case INPUT_MEMORY:
        if (features & FEATURE_MEMORY)
            summary->memory = memory_analyze(trace, selection, &(struct memory_options){ .brief = true });
        break;
    case INPUT_ROOFLINE:
        if (has_gpu && features & FEATURE_SHAPES)
            roofline_of(trace);
        break;
    case INPUT_GRAPH: step_times_graph_of(trace); break;
    case INPUT_STEPS:
        if (features & FEATURE_STEPS)
            summary->steps = summary_steps(summary, true, err);
        if (step_list_of(trace)->count > 0 && !selection->names && !selection->tracks)
            summary->account = account_open(trace, selection);
        break;
    case INPUT_GAPS:
        summary->gaps = has_gpu ? gaps_analyze(trace, selection, BY(DEVICE), &gaps) : NULL;
        break;
    case INPUT_TRANSFERS:
        summary->transfers =
            has_gpu ? transfers_analyze(trace, selection, by_rank ? BY(RANK) : TRANSFERS_BY_DEFAULT) : NULL;
        break;
    case INPUT_GPU: summary->gpu = has_gpu ? gpu_find_uses(trace, selection) : NULL; break;
    case INPUT_COMM:
        if (trace->file_count > 1 && !selection->names) /* who waits for whom does not depend on names */
            summary->comm = comm_analyze(trace, selection, &(struct comm_options){ 0 }, err);
        if (selection_is_all(selection) && (summary_is_pipeline(summary) || file_is_timeline(trace, 0)))
            pipeline_find(summary);
        break;
    case INPUTS: break;
    }
}

/* Gather them all; false and ERR if the selection does not fit. Two at a time: each takes some bytes per event while it
 * is computed, and together they would take more than anything that comes later. */
static bool gather(struct summary *summary, struct result *result, struct tpa_error *err)
{
    enum { AT_ONCE = 2 };
    unsigned workers = summary->trace->workers < AT_ONCE ? summary->trace->workers : AT_ONCE;
    struct gathering gathering = { .summary = summary };
    parallel_run(workers, INPUTS, gather_one, &gathering);
    if (summary->memory) /* what failed for want of memory is reported */
        memory_add_failures(summary->memory, result);
    for (size_t q = 0; q < INPUTS; q++)
        if (gathering.errs[q].failed) {
            *err = gathering.errs[q];
            return false;
        }
    return true;
}

bool summary_add_tables(const struct trace *trace, const struct selection *selection, enum summary_by by,
                        struct result *result, struct tpa_error *err)
{
    struct summary summary = {
        .trace = trace, .selection = selection, .by = by, .features = trace_features(trace)
    };
    for (event_id e = 0; e < trace->event_count && !summary.has_frames; e++)
        summary.has_frames = trace->kind[e] == EVENT_PYTHON;
    summary_find_ranks(&summary);
    bool good = gather(&summary, result, err);
    if (good) {
        summary_look(&summary);
        summary_add_overview(&summary, result);
        summary_add_operators(&summary, result);
        struct findings *findings = findings_analyze(&summary);
        pipeline_add_finding(&summary, findings);
        sort_findings(&summary);
        if (by == SUMMARY_BY_ALL)
            fold_ranks(&summary);
        summary_add_headline(&summary, findings, result);
        findings_add_result(findings, result);
        arena_free(findings);
        add_remarks(&summary, result);
    }
    arena_free(summary.transfers);
    arena_free(summary.comm);
    arena_free(summary.job);
    arena_free(summary.steps);
    arena_free(summary.account);
    arena_free(summary.gpu);
    arena_free(summary.gaps);
    arena_free(summary.memory);
    VEC_FREE(&summary.findings);
    free(summary.ranks);
    arena_release(&summary.arena);
    return good;
}

const struct table_shape remarks_tables[] = {
    TABLE_SHAPE("remarks", columns),
    { 0 },
};
