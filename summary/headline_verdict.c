#include "summary/headline_parts.h"

#include "analyze/step_phases.h"
#include "base/names.h"
#include "base/quantity.h"
#include "derive/callers.h"
#include "derive/compilation.h"
#include "derive/features.h"
#include "derive/launch_calls.h"
#include "summary/figures.h"
#include "summary/finding_pipeline.h"
#include "summary/unexplained.h"
#include "trace/lost_work.h"
#include "trace/span.h"
#include <ctype.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- the verdict ---- */

/* A shorter gap is not a pause of the program. */
#define ONE_GAP_LEAST_NS 1000000

/* "; aten::mm takes 64.0 % of the work"; nothing where the launches of most are not recorded. */
static const char *describe_top_operator(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    if (summary->top_count == 0 || !summary->top[0].named)
        return "";
    return arena_printf(headline->texts, "; %s takes %.1f %% of all recorded work", summary->top[0].name,
                        quantity_percent(summary->top[0].share));
}

/* Where the finding of RULE is; NULL when there is none, or it is unknown. */
static const char *where_of(struct headline *headline, const char *rule)
{
    const struct findings *findings = headline->findings;
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->at[i].rule.at, rule) == 0)
            return headline_copy(headline, findings->at[i].where);
    return NULL;
}

/* ", in one gap of 463.252ms" where that is nearly all of CAUSE: a pause, which is not how steps run. */
static const char *describe_one_gap(struct headline *headline, const struct headline_use *use,
                                    enum gap_cause cause)
{
    const double nearly_all = 0.9;
    if ((double)use->longest_ns[cause] < nearly_all * use->cause_ns[cause] ||
        use->longest_ns[cause] < ONE_GAP_LEAST_NS)
        return "";
    return arena_printf(headline->texts, ", in one gap of %s",
                        headline_time(headline, (double)use->longest_ns[cause]));
}

/* How long the files of TRACE captured graphs. */
static double time_of_captures(const struct trace *trace)
{
    const struct capture_times *captures = capture_times_of(trace);
    double time_ns = 0;
    for (uint32_t f = 0; f < trace->file_count; f++) { /* one may have no begin, or no end */
        struct interval span = trace_file_span(trace, f);
        time_ns += (double)intervals_length_within(&captures->of_file[f], span.start_ns, span.end_ns);
    }
    return time_ns;
}

/* Does the longest of the gaps that are due to the host end with a page of unified memory, which no call launches? */
static bool is_of_pages(const struct gaps *gaps)
{
    const struct gap *longest = gaps ? &gaps->longest[GAP_HOST] : NULL;
    return longest && longest->end_ns > longest->start_ns && longest->call == EVENT_NONE;
}

/* What CAUSE, of which devices idled for CAUSE_NS, stands for, where the host is not a framework's in which there are operators, or
 * mostly captured a graph. */
static const char *describe_cause(const struct headline *headline, enum gap_cause cause, double cause_ns)
{
    const struct summary *summary = headline->summary;
    bool has_operators = summary->features & FEATURE_OPS;
    if (cause == GAP_HOST && 2 * time_of_captures(summary->trace) > cause_ns)
        return headline->findings->is_capture
                   ? "the host captures a graph, which is done once"
                   : "the host captures a graph, which is done once, or launches too late";
    if (cause == GAP_HOST && is_of_pages(summary->gaps))
        return "the host touches unified memory, whose pages move one after the other";
    return cause == GAP_HOST && !has_operators
               ? "the host launches too late, and no operators were recorded to tell why"
               : gap_causes[cause].verdict;
}

/* "The GPU is idle 44.0 % of a step: the host waits for the next batch." WHY: NULL if it is not known. */
static void set_idle_headline(struct headline *headline, double share, const char *why)
{
    bool several = headline_device_count(headline->summary->gpu) > 1;
    headline->largest = arena_printf(headline->texts, "The %s%s idle %.1f %% of %s",
                                     summary_device_word(headline->summary), several ? "s are" : " is",
                                     quantity_percent(share), headline->step ? "a step" : "the time");
    headline->answer->headline =
        arena_printf(headline->texts, "%s%s%s.", headline->largest, why ? ": " : "", why ? why : "");
}

/* "of a step, it idles 27.0 % for data loading", with the figures that the legend of the bar has; "": CAUSE takes all of it. */
static const char *describe_share(struct headline *headline, const struct headline_use *use,
                                  enum gap_cause cause)
{
    const double parts_ns[] = { headline_cause_of(use, cause, true), cause == GAP_HOST ? use->before_ns : 0,
                                cause == GAP_HOST ? use->after_ns : 0 };
    const char *of = cause == GAP_HOST      ? "the host"
                     : cause == GAP_QUEUED  ? "work that is queued"
                     : cause == GAP_UNKNOWN ? "a reason that was not recorded"
                                            : gap_causes[cause].name;
    const char *const parts[] = { arena_printf(headline->texts, "for %s", of), "before the first work",
                                  "after the last work" };
    size_t count = 0, said = 0;
    struct buffer text = { 0 };
    if (quantity_percent(parts_ns[0] / use->idle_ns) > 99.9)
        return "";
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        count += parts_ns[i] >= LEAST_PART * use->span_ns;
    buffer_printf(&text, "of %s, %s", headline->step ? "a step" : "the time",
                  headline_device_count(headline->summary->gpu) > 1 ? "they idle" : "it idles");
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        if (parts_ns[i] >= LEAST_PART * use->span_ns) {
            buffer_printf(&text, "%s%.1f %% %s",
                          !said              ? " "
                          : said + 1 < count ? ", "
                                             : " and ",
                          quantity_percent(parts_ns[i] / use->span_ns), parts[i]);
            said++;
        }
    const char *kept = said ? arena_strndup(headline->texts, text.at, text.count) : "";
    buffer_release(&text);
    return kept;
}

/* "of a step, it idles 27.0 % for data loading, in one gap of 57.347ms; meanwhile ...: train.py:42": what the headline leaves out. */
static void set_because(struct headline *headline, const struct headline_use *use, enum gap_cause cause,
                        const char *one_gap, const char *meanwhile, const char *where)
{
    const struct summary *summary = headline->summary;
    const char *share = describe_share(headline, use, cause);
    bool all = !*share;
    const struct summary_top *top =
        summary->top_count && (summary->top[0].named || summary->top_is_work) ? &summary->top[0] : NULL;
    if (!all || *one_gap || where)
        headline->answer->because =
            arena_printf(headline->texts, "%s%s%s%s%s.", share, all && *one_gap ? one_gap + 2 : one_gap,
                         meanwhile, where && (*share || *one_gap) ? ": " : "", where ? where : "");
    else if (top && top->share > 0.5) /* of the rest, what it is */
        headline->answer->because =
            arena_printf(headline->texts, "%s takes %.1f %% of the work that was recorded.", top->name,
                         quantity_percent(top->share));
    else
        headline->answer->because = "";
}

/* The rules that are about idle time with CAUSE, a set. */
static unsigned rules_of_cause(enum gap_cause cause)
{
    switch (cause) {
    case GAP_DATA_LOADING: return 1U << FINDING_DATA_LOADING;
    case GAP_SYNCHRONIZATION: return 1U << FINDING_HOST_WAIT;
    case GAP_ALLOCATION: return 1U << FINDING_ALLOCATION | 1U << FINDING_FIRST_USE;
    case GAP_FIRST_USE: return 1U << FINDING_FIRST_USE;
    case GAP_HOST:
    case GAP_LAUNCH_CALL:
    case GAP_LAUNCH_LATENCY:
        return 1U << FINDING_LAUNCHES | 1U << FINDING_HOST_TIME | 1U << FINDING_HOST_OPERATORS |
               1U << FINDING_PAUSES | 1U << FINDING_OPTIMIZER | 1U << FINDING_COMPILATION;
    default: return 0;
    }
}

enum finding_rule headline_rule_of(const struct priced_finding *finding)
{
    size_t rule = 0;
    while (rule < FINDING_RULES && strcmp(finding->rule.at, finding_rules[rule].name) != 0)
        rule++;
    return (enum finding_rule)rule;
}

/* What the host does instead of launching, if the first finding says so and is about most of CAUSE_SHARE; else SAYS. */
static const char *what_host_does(struct headline *headline, double cause_share, const char *says)
{
    static const unsigned telling = 1U << FINDING_HOST_TIME | 1U << FINDING_HOST_OPERATORS |
                                    1U << FINDING_OPTIMIZER | 1U << FINDING_COMPILATION;
    const struct priced_finding *first = headline->findings->count ? &headline->findings->at[0] : NULL;
    if (!first || !(telling >> headline_rule_of(first) & 1) || first->saves_share < cause_share / 2)
        return says;
    return headline_copy(headline, first->title);
}

/* Is SHARE of a step, in which devices idle for the host, mostly what it pauses for no recorded reason? */
static bool is_of_pauses(const struct headline *headline, double share)
{
    const char *pauses = finding_rules[FINDING_PAUSES].name;
    for (size_t i = 0; i < headline->findings->count; i++)
        if (strcmp(headline->findings->at[i].rule.at, pauses) == 0)
            return 2 * headline->findings->at[i].saves_share > share;
    return false;
}

/* "; meanwhile the host is in hipMemcpyWithStream of aten::to", where ONE_GAP is due to a CAUSE that lies in devices. */
static const char *describe_meanwhile(struct headline *headline, enum gap_cause cause, const char *one_gap)
{
    struct buffer text = { 0 };
    if (*one_gap && headline->summary->gaps &&
        (cause == GAP_STREAM_WAIT || cause == GAP_QUEUED || cause == GAP_UNKNOWN))
        unexplained_describe_host(headline->summary, cause, &text);
    const char *kept = text.count ? arena_strndup(headline->texts, text.at, text.count) : "";
    buffer_release(&text);
    return kept;
}

static const char *describe_idle(struct headline *headline, const struct headline_use *use, const char *whose)
{
    enum gap_cause order[GAP_CAUSES];
    headline_order_causes(use, false, order);
    double cause_ns = use->cause_ns[order[0]], said_ns = cause_ns;
    const char *where = order[0] == GAP_SYNCHRONIZATION ? where_of(headline, "host_wait")
                        : order[0] == GAP_DATA_LOADING  ? where_of(headline, "data_loading")
                        : order[0] == GAP_ALLOCATION && headline->findings->allocates_at_first_use
                            ? "mostly at first use"
                            : NULL;
    const char *share = arena_printf(headline->texts, "%.1f %% of %s time is idle",
                                     quantity_percent(use->idle_ns / use->span_ns), whose);
    if (!(cause_ns > 0)) {
        set_idle_headline(headline, use->idle_ns / use->span_ns, NULL);
        return arena_printf(headline->texts, "%s.", share);
    }
    const char *says = describe_cause(headline, order[0], cause_ns),
               *one_gap = describe_one_gap(headline, use, order[0]);
    if (order[0] == GAP_HOST && 2 * (use->before_ns + use->after_ns) > cause_ns &&
        2 * time_of_captures(headline->summary->trace) <= cause_ns) {
        says = "the host launches nothing between the last work of a step and the first of the next";
        said_ns = use->before_ns + use->after_ns;
    } else if (order[0] == GAP_HOST && is_of_pauses(headline, cause_ns / use->span_ns)) {
        says = "the host launches nothing, and nothing was recorded of what it does";
    }
    if (order[0] == GAP_HOST) {
        const char *does = what_host_does(headline, cause_ns / use->span_ns, says);
        said_ns = does == says ? said_ns : cause_ns;
        says = does;
    }
    headline->rules = rules_of_cause(order[0]);
    headline->largest_share = cause_ns / use->span_ns;
    set_idle_headline(headline, use->idle_ns / use->span_ns, says);
    const char *meanwhile = describe_meanwhile(headline, order[0], one_gap);
    set_because(headline, use, order[0], one_gap, meanwhile, where);
    says = arena_printf(headline->texts, "%s%s", says, meanwhile);
    if (quantity_percent(said_ns / use->idle_ns) > 99.9)
        return arena_printf(headline->texts, "%s%s: %s%s%s.", share, one_gap, says, where ? ": " : "",
                            where ? where : "");
    return arena_printf(headline->texts, "%s; in %s of it (%.1f %%%s) %s%s%s.", share,
                        said_ns > use->idle_ns / 2 ? "most" : "the largest part",
                        quantity_percent(said_ns / use->span_ns), one_gap, says, where ? ": " : "",
                        where ? where : "");
}

bool headline_waits_outside(const struct summary *summary)
{
    return summary->comm && summary->comm->outside_ns > summary->comm->union_ns / 2;
}

/* "exposed communication; the others wait 18.001ms for rank 9", where a rank holds the others up; of several ranks, the one for which
 * they wait most. */
static const char *describe_communication(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    const struct comm *comm = summary->comm;
    if (headline_waits_outside(summary)) {
        SCOPED struct buffer whom = { 0 };
        comm_append_outside(comm, &whom);
        return arena_printf(headline->texts, "exposed communication; most of it waits for %s", whom.at);
    }
    for (size_t i = 0; i < summary->findings.count; i++) {
        const struct finding *finding = &summary->findings.at[i];
        if (finding->rule == RULE_TURNS)
            return "exposed communication; ranks take turns, none is slower than the rest";
        if (finding->rule == RULE_STRAGGLER && finding->rank == comm->blame.at[0].rank)
            return arena_printf(headline->texts,
                                "exposed communication; the others wait %s for rank %" PRId64,
                                headline_time(headline, (double)finding->time_ns), finding->rank);
    }
    return "communication that no computation hides";
}

/* "GPU 1", "GPU 1 of rank 3". */
static const char *named_device(struct headline *headline, const struct gpu_row *row)
{
    const struct summary *summary = headline->summary;
    const char *name =
        arena_printf(headline->texts, "%s %" PRId64, summary_device_word(summary), row->key.device);
    return summary->rank_count > 1 ? arena_printf(headline->texts, "%s of rank %" PRId64, name, row->key.rank)
                                   : name;
}

/* Devices that work for less than this part of the time that the busiest does hardly work. */
#define HARDLY 0.05

/* "1 of 2 GPUs hardly works; GPU 1 for 476.361us, GPU 0 for 83.801ms of 84.832ms. 50.4 % of their time is idle.", where most of it is theirs; NULL: it
 * is not. What the host does meanwhile is not why: it works for the others. */
static const char *describe_unused(struct headline *headline, const struct headline_use *use)
{
    const struct gpu *gpu = headline->summary->gpu;
    const struct gpu_row *busiest = NULL, *least = NULL;
    size_t unused = 0;
    for (size_t i = 0; gpu && i < gpu->count; i++) {
        busiest = !busiest || gpu->at[i].busy_ns > busiest->busy_ns ? &gpu->at[i] : busiest;
        least = !least || gpu->at[i].busy_ns < least->busy_ns ? &gpu->at[i] : least;
    }
    for (size_t i = 0; busiest && i < gpu->count; i++)
        unused += (double)gpu->at[i].busy_ns < HARDLY * (double)busiest->busy_ns;
    if (!unused || 2 * (double)unused * use->span_ns < use->idle_ns * (double)gpu->count)
        return NULL;
    headline->largest = arena_printf(headline->texts, "%zu of %zu %ss hardly work%s", unused, gpu->count,
                                     summary_device_word(headline->summary), unused == 1 ? "s" : "");
    return arena_printf(
        headline->texts, "%s; %s for %s, %s for %s of %s. %.1f %% of %s is idle.", headline->largest,
        named_device(headline, least), headline_time(headline, (double)least->busy_ns),
        named_device(headline, busiest), headline_time(headline, (double)busiest->busy_ns),
        headline_time(headline, (double)busiest->span_ns), quantity_percent(use->idle_ns / use->span_ns),
        headline->step ? "a step" : "their time");
}

/* Do the others wait for a rank so that evening out the ranks saves about what the first change does? */
static bool is_held_up(const struct headline *headline)
{
    const double much_of_first = 0.75;
    const struct findings *findings = headline->findings;
    for (size_t i = 0; i < findings->count; i++)
        if (headline_rule_of(&findings->at[i]) == FINDING_SLOW_RANKS)
            return findings->at[i].saves_share >= much_of_first * findings->at[0].saves_share;
    return false;
}

/* The rules about how devices compute, and what they say is wrong with it. */
static const struct {
    enum finding_rule rule;
    const char *says;
} of_computing[] = {
    { FINDING_TENSOR_CORES, "products without tensor cores" },
    { FINDING_ATTENTION, "attention, step by step" },
    { FINDING_BELOW_PEAK, "operators far below the peak" },
    { FINDING_FUSION, "operations that could be one kernel" },
};

/* What is wrong with computing, where that is most of USE and the first finding is about it and saves more than all that is WASTED would;
 * NULL: it is not. */
static const char *what_is_computed(struct headline *headline, const struct headline_use *use,
                                    double wasted_ns)
{
    const struct priced_finding *first = headline->findings->count ? &headline->findings->at[0] : NULL;
    if (!first || use->used_ns[USE_COMPUTING] < use->span_ns / 2 ||
        first->saves_share < wasted_ns / use->span_ns)
        return NULL;
    for (size_t i = 0; i < sizeof of_computing / sizeof *of_computing; i++)
        if (headline_rule_of(first) == of_computing[i].rule)
            return of_computing[i].says;
    return NULL;
}

/* "73.8 % of the GPU's time is computing, partly products without tensor cores; 12.9 % is copies that no computation hides." */
static const char *describe_computing(struct headline *headline, const struct headline_use *use,
                                      const char *whose, const char *says)
{
    const struct {
        double ns;
        const char *word;
    } wastes[] = { { use->idle_ns, "idle" },
                   { use->used_ns[USE_COMMUNICATION], "exposed communication" },
                   { use->used_ns[USE_COPIES], "copies that no computation hides" } };
    size_t most = 0;
    for (size_t i = 1; i < sizeof wastes / sizeof *wastes; i++)
        most = wastes[i].ns > wastes[most].ns ? i : most;
    for (size_t i = 0; i < sizeof of_computing / sizeof *of_computing; i++)
        headline->rules |= 1U << of_computing[i].rule;
    headline->largest_share =
        headline->findings->at[0].saves_share; /* a part of computing, which never goes */
    headline->largest =
        arena_printf(headline->texts, "%.1f %% of %s time is computing, partly %s",
                     quantity_percent(use->used_ns[USE_COMPUTING] / use->span_ns), whose, says);
    return arena_printf(headline->texts, "%s; %.1f %% is %s.", headline->largest,
                        quantity_percent(wastes[most].ns / use->span_ns), wastes[most].word);
}

/* Between their first and their last work: what takes most of the devices' time besides computing, where that is worth a word. */
static const char *describe_uses(struct headline *headline, const struct headline_use *use, const char *whose)
{
    const double worth_a_word = 0.1;
    double least_ns = worth_a_word * use->span_ns, communication_ns = use->used_ns[1],
           copies_ns = use->used_ns[2];
    double wasted_ns = fmax(use->idle_ns, fmax(communication_ns, copies_ns));
    const char *computed = wasted_ns >= least_ns ? what_is_computed(headline, use, wasted_ns) : NULL;
    if (computed)
        return describe_computing(headline, use, whose, computed);
    bool held_up = communication_ns >= least_ns && is_held_up(headline),
         idles = use->idle_ns >= least_ns && use->idle_ns >= communication_ns && use->idle_ns >= copies_ns;
    const char *unused = idles ? describe_unused(headline, use) : NULL;
    if (unused)
        return unused;
    if (idles && !held_up)
        return describe_idle(headline, use, whose);
    bool communicates = held_up || (communication_ns >= least_ns && communication_ns >= copies_ns),
         copies = !communicates && copies_ns >= least_ns;
    const char *what = communicates ? describe_communication(headline)
                       : copies     ? "copies that no computation hides"
                                    : "computing";
    headline->rules = communicates ? 1U << FINDING_COMMUNICATION | 1U << FINDING_SLOW_RANKS
                      : copies     ? 1U << FINDING_PAGEABLE_COPIES | 1U << FINDING_PINNED_COPIES |
                                     1U << FINDING_COPIES_TO_HOST | 1U << FINDING_DEVICE_COPIES |
                                     1U << FINDING_OTHER_COPIES
                               : 0;
    headline->part = communicates ? "the communication" : copies ? "the copies" : NULL;
    headline->largest_share = use->used_ns[communicates ? USE_COMMUNICATION
                                           : copies     ? USE_COPIES
                                                        : USE_COMPUTING] /
                              use->span_ns;
    headline->largest =
        arena_printf(headline->texts, "%.1f %% of %s time is %.*s", quantity_percent(headline->largest_share),
                     whose, (int)strcspn(what, ";"), what);
    if (!communicates && !copies)
        return arena_printf(headline->texts, "%s%s.", headline->largest, describe_top_operator(headline));
    double idle_share = use->idle_ns / use->span_ns;
    const char *idle = idle_share < LEAST_PART
                           ? ""
                           : arena_printf(headline->texts, "; %.1f %% is idle", quantity_percent(idle_share));
    const char *more = !communicates ? "" : pipeline_schedule(headline->summary, headline->texts);
    if (communicates && headline_waits_outside(headline->summary) &&
        headline->summary->comm->outside_rank < 0)
        more = " The recordings of all ranks would tell which.";
    return arena_printf(headline->texts, "%s%s%s.%s", headline->largest, what + strcspn(what, ";"), idle,
                        more ? more : "");
}

double headline_recorded_of_devices(const struct summary *summary)
{
    double recorded_ns = 0;
    for (size_t i = 0; i < summary->gpu->count; i++) {
        const struct summary_rank *rank = summary_rank_of(summary, summary->gpu->at[i].key.rank);
        recorded_ns += rank ? (double)rank->time_ns - (double)summary->gpu->at[i].unrecorded_ns : 0;
    }
    return recorded_ns;
}

/* Devices that worked for less of what was recorded. */
#define SMALL_PART 0.5

bool headline_is_replayed_less(const struct headline *headline, double share)
{
    const struct summary *summary = headline->summary;
    int64_t recorded_ns = 0;
    for (size_t i = 0; i < summary->rank_count; i++)
        recorded_ns = summary->ranks[i].time_ns > recorded_ns ? summary->ranks[i].time_ns : recorded_ns;
    return !headline->findings->has_steps &&
           (double)headline->findings->step_ns < share * (double)recorded_ns;
}

const char *headline_whole_word(struct headline *headline)
{
    if (headline->findings->has_steps)
        return "a step";
    return headline_is_replayed_less(headline, 0.9)
               ? arena_printf(headline->texts, "%s of the recording",
                              headline_time(headline, (double)headline->findings->step_ns))
               : "the recording";
}

/* "Host memory is pinned (cudaHostAlloc), which takes up to 855.544ms, 77.7 % of 1.101s of the recording", where that is most of it, and not
 * about the devices, which worked for a small part. NULL: it is not. */
static const char *describe_first_change(struct headline *headline)
{
    const struct findings *findings = headline->findings;
    const struct priced_finding *first = findings->count ? &findings->at[0] : NULL;
    if (!first || !finding_is_change(first) || first->saves_share < 0.5 ||
        headline->rules >> headline_rule_of(first) & 1 || !first->title.len)
        return NULL;
    const char *title = headline_copy(headline, first->title), *where = headline_copy(headline, first->where);
    return arena_printf(headline->texts, "%c%s%s%.*s%s, which takes up to %s, %.1f %% of %s",
                        *title >= 'a' && *title <= 'z' ? *title - 'a' + 'A' : *title, title + 1,
                        where ? " (" : "", where ? (int)strcspn(where, ",;") : 0, where ? where : "",
                        where ? ")" : "", headline_time(headline, (double)first->saves_ns),
                        quantity_percent(first->saves_share), headline_whole_word(headline));
}

/* Shares of the time of devices are of their spans: where these are a small part of what was recorded, that is said first. */
static const char *describe_devices(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    struct headline_use use = headline_use_of(summary, TABLE_INT_MISSING);
    const char *word = summary_device_word(summary), *plural = summary->gpu->count > 1 ? "s" : "";
    const char *whose = arena_printf(headline->texts, *plural ? "the %ss'" : "the %s's", word);
    double recorded_ns = headline_recorded_of_devices(summary);
    if (!(use.span_ns > 0))
        return NULL;
    const char *said = describe_uses(headline, &use, whose), *first = said;
    int64_t before_ns = 0, queued_ns = unexplained_start_ns(summary, &before_ns);
    if (2 * queued_ns > before_ns && (double)before_ns * (double)summary->gpu->count > 0.1 * recorded_ns)
        said = arena_printf(
            headline->texts,
            "%s In the %s before its first work, which waited %s in its queue, the %s was busy with work that was "
            "launched before the recording began.",
            said, headline_time(headline, (double)before_ns), headline_time(headline, (double)queued_ns),
            word);
    if (said != first && !headline->answer->headline) { /* which says less of what is wrong */
        size_t len = strcspn(first, ";");
        headline->answer->headline =
            arena_printf(headline->texts, "%.*s%s", (int)len, first, first[len] ? "." : "");
        headline->answer->because = said + len + (first[len] ? 2 : 1);
    }
    if (headline->step || !(use.span_ns < SMALL_PART * recorded_ns))
        return said;
    headline->answer->headline = NULL;
    const char *within =
        arena_printf(headline->texts, "All work of the %s%s lies within %s of the %s recorded%s", word,
                     plural, headline_time(headline, use.span_ns), headline_time(headline, recorded_ns),
                     *plural ? ", all added up" : "");
    const char *change = describe_first_change(headline);
    if (change) {
        headline->largest = NULL; /* what is to do is said */
        headline->answer->headline = arena_printf(headline->texts, "%s.", change);
        headline->answer->because = arena_printf(headline->texts, "%s; in these %s", within, said);
        return arena_printf(headline->texts, "%s %s", headline->answer->headline, headline->answer->because);
    }
    if (headline_is_replayed_less(headline, SMALL_PART)) {
        headline->alone_ns = recorded_ns - use.span_ns;
        headline->largest = NULL; /* that is the largest part */
    }
    return arena_printf(headline->texts, "%s; the rest is the host's alone. In these %s %s", within,
                        headline_time(headline, use.span_ns), said);
}

static const char *describe_waiting_rank(struct headline *headline)
{
    const struct account_rank *most = headline_waiting_rank(headline);
    return !most
               ? NULL
               : arena_printf(headline->texts,
                              "Rank %" PRId64 " communicates, or waits for other ranks in it, for %.1f %% of "
                              "a step; no GPU was recorded.",
                              most->rank,
                              quantity_percent(headline_part_share(most, ACCOUNT_HOST_COMMUNICATION)));
}

/* Without devices: a part of the steps that is not computation, where it is the largest. NULL: none is. */
static const char *describe_steps(struct headline *headline)
{
    static const struct {
        enum account_part part;
        const char *says;
    } parts[] = {
        { ACCOUNT_HOST_COMMUNICATION, "communication" },
        { ACCOUNT_HOST_LOADING, "loading of data" },
        { ACCOUNT_HOST_CALLS, "calls of the runtime" }, /* where no operator can be named */
        { ACCOUNT_HOST_OUTSIDE, "outside of any operator, and what the host does there was not recorded" },
    };
    size_t count = sizeof parts / sizeof *parts - (headline->summary->has_frames ? 1 : 0);
    const struct account_rank *step = headline->step;
    for (size_t i = 0; i < count; i++) {
        double share = headline_part_share(step, parts[i].part);
        if (parts[i].part == ACCOUNT_HOST_CALLS && headline->summary->top_count > 0)
            continue;
        if (share > 0.5)
            return arena_printf(headline->texts, "%.1f %% of a step is %s; no GPU was recorded.",
                                quantity_percent(share), parts[i].says);
    }
    return describe_waiting_rank(headline);
}

/* ", most of it in train.py(12): step": the line of source from which the operator or Python function NAME took longest. "": is not
 * known, or NAME itself. */
static const char *describe_caller(struct headline *headline, const char *name)
{
    const struct trace *trace = headline->summary->trace;
    name_id id = names_find(trace->names, name, strlen(name));
    VEC_OF(event_id) events = { 0 };
    for (event_id e = 0; e < trace->event_count && id != NAME_NONE; e++)
        if (trace->name[e] == id)
            *VEC_PUSH(&events) = e;
    struct callers *callers = callers_open(trace, events.at, events.count);
    struct names *lines = names_open();
    double *sums = mem_zalloc(events.count + 1, sizeof *sums), all = 0;
    name_id most = 0;
    for (size_t i = 0; i < events.count; i++) {
        size_t len = 0;
        const char *line = callers_line(callers, events.at[i], &len);
        name_id at = names_add(lines, line ? line : "", len);
        sums[at] += (double)trace_dur_ns(trace, events.at[i]);
        all += (double)trace_dur_ns(trace, events.at[i]);
        most = sums[at] > sums[most] ? at : most;
    }
    const char *line = names_count(lines) ? names_text(lines, most) : "";
    const char *said = *line && strcmp(line, name) != 0
                           ? arena_printf(headline->texts, ", %s of it in %s",
                                          2 * sums[most] > all ? "most" : "the largest part", line)
                           : "";
    names_free(lines);
    arena_free(callers);
    free(sums);
    VEC_FREE(&events);
    return said;
}

/* "62.1 % of the recording is compilation": where that is most of it. NULL: it is not. */
static const char *describe_compilation(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    double compiling_ns = 0, all_ns = 0;
    for (uint32_t f = 0; f < summary->trace->file_count; f++) {
        struct intervals compiling = compilation_find(summary->trace, f);
        compiling_ns += (double)intervals_length(&compiling);
        all_ns += (double)summary_file_time(summary, f);
        intervals_release(&compiling);
    }
    if (2 * compiling_ns <= all_ns)
        return NULL;
    return arena_printf(headline->texts, "%.1f %% of the recording is compilation; no GPU was recorded.",
                        quantity_percent(compiling_ns / all_ns));
}

/* "99.9 % of the time from the first operator to the last is outside of any", without steps: where that is most of it. NULL: it is
 * not, or Python functions tell what was done there. */
static const char *describe_outside(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    const struct trace *trace = summary->trace;
    double outside_ns = 0, all_ns = 0;
    bool of_ranges = strcmp(summary_op_word(summary), "ranges") == 0;
    if (headline->step || summary->has_frames || !(summary->features & FEATURE_OPS || of_ranges))
        return NULL;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct intervals busy = { 0 };
        const struct trace_file *file = &trace->files[f];
        for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
            if ((trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_OTHER ||
                 event_is_call((enum event_kind)trace->kind[e])) &&
                !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)))
                intervals_add(&busy, trace_start_ns(trace, e), trace_end_ns(trace, e));
        intervals_merge(&busy);
        double span_ns = busy.count ? (double)(busy.at[busy.count - 1].end_ns - busy.at[0].start_ns) : 0;
        all_ns += span_ns;
        outside_ns += span_ns - (double)intervals_length(&busy);
        intervals_release(&busy);
    }
    if (2 * outside_ns <= all_ns)
        return NULL;
    return arena_printf(
        headline->texts,
        "%.1f %% of the time from the first %s to the last is outside of any, and what the host does "
        "there was not recorded; no GPU was recorded.",
        quantity_percent(outside_ns / all_ns), of_ranges ? "range" : "operator");
}

/* Was something recorded, but no call of a runtime or driver? */
static bool has_no_call(const struct trace *trace)
{
    event_id e = 0;
    while (e < trace->event_count && !event_is_call((enum event_kind)trace->kind[e]))
        e++;
    return e > 0 && e == trace->event_count;
}

/* "The optimizer updates parameters one by one, which costs up to 47.3 % of a step", where that is more than TOP takes itself; else NULL. */
static const char *describe_costly(struct headline *headline, const struct summary_top *top)
{
    const struct findings *findings = headline->findings;
    size_t first = headline_first_lasting(findings);
    const struct priced_finding *change = first < findings->count ? &findings->at[first] : NULL;
    if (!change || change->unexplained || findings_longest_first(findings) ||
        change->saves_share <= top->share)
        return NULL;
    char *says = arena_printf(headline->texts, "%.*s, which costs %s %.1f %% of %s; no GPU was recorded.",
                              (int)change->title.len, change->title.at, finding_price_word(change),
                              quantity_percent(change->saves_share), headline_whole_word(headline));
    says[0] = (char)toupper((unsigned char)says[0]);
    return says;
}

/* The operator, or Python function, that takes longest itself; a step's own time is that of none. */
static const char *describe_host(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    const char *compilation = describe_compilation(headline);
    const char *outside = compilation ? compilation : describe_outside(headline);
    const char *steps = outside ? outside : describe_steps(headline);
    for (size_t i = 0; !steps && i < summary->top_count; i++) {
        const struct summary_top *top = &summary->top[i];
        if (!top->named)
            continue;
        const char *costly = describe_costly(headline, top);
        if (costly)
            return costly;
        SCOPED struct buffer name = { 0 };
        finding_append_name(&name, top->name);
        headline->largest = arena_printf(
            headline->texts, "%s takes %.1f %% of the %s own time", name.at, quantity_percent(top->share),
            summary->has_frames ? "host's" : arena_printf(headline->texts, "%s'", summary_op_word(summary)));
        headline->largest_share = top->share;
        return arena_printf(headline->texts, "%s%s; no GPU was recorded.", headline->largest,
                            summary->has_frames ? describe_caller(headline, top->name) : "");
    }
    if (!steps && summary->trace->files[0].producer == PRODUCER_NSYS && has_no_call(summary->trace) &&
        !(summary->features & (FEATURE_GPU | FEATURE_OPS | FEATURE_ANNOTATIONS | FEATURE_MEMORY)))
        return "Neither device work nor ranges were recorded: the file has what the operating system did, not what the program does.";
    return steps;
}

/* ---- from the verdict to the first change ---- */

size_t headline_first_lasting(const struct findings *findings)
{
    size_t i = 0;
    if (findings->count && findings->at[0].once && findings->at[0].saves_share >= 0.5)
        return findings->count;
    while (i < findings->count && findings->at[i].once)
        i++;
    return i;
}

const char *headline_change_of(struct headline *headline, const struct priced_finding *finding)
{
    struct text change = finding->action.at ? finding->action : finding->title;
    char begin = change.len && change.at[0] >= 'A' && change.at[0] <= 'Z' ? (char)(change.at[0] - 'A' + 'a')
                                                                          : *change.at;
    return arena_printf(headline->texts, "%c%.*s", begin, change.len ? (int)change.len - 1 : 0,
                        change.at + 1);
}

/* Is CHANGE about what takes the host longest, or does it name it? */
static bool names_largest(struct headline *headline, const struct priced_finding *change)
{
    const char *title = headline_copy(headline, change->title),
               *where = headline_copy(headline, change->where);
    const char *name = NULL;
    if (change->of_longest)
        return true;
    for (size_t i = 0; !name && i < headline->summary->top_count; i++)
        name = headline->summary->top[i].named ? headline->summary->top[i].name : NULL;
    return name && ((title && strstr(title, name)) || (where && strstr(where, name)));
}

/* A change that saves this part of what another saves is as good: predictions are no better. */
#define AS_GOOD_AS 0.95

/* The first finding behind FIRST that is about the largest part; the count of findings when there is none. */
static size_t next_about_largest(const struct headline *headline, size_t first)
{
    size_t i = first + 1;
    while (i < headline->findings->count &&
           !(headline->rules >> headline_rule_of(&headline->findings->at[i]) & 1))
        i++;
    return i;
}

/* Does ABOUT, a finding or none, save about as much as FIRST? */
static bool is_as_good(const struct headline *headline, size_t about, size_t first)
{
    const struct findings *findings = headline->findings;
    return about < findings->count &&
           findings->at[about].saves_share >= AS_GOOD_AS * findings->at[first].saves_share;
}

/* Were fewer ranks recorded than the job has, or than one of its groups? True, too, if neither is known, as of a single rank. */
static bool lacks_ranks(const struct headline *headline)
{
    const struct summary *summary = headline->summary;
    int64_t most = summary->rank_count > 1 ? 0 : INT64_MAX, count = (int64_t)summary->rank_count;
    for (uint32_t f = 0; f < summary->trace->file_count; f++) {
        const struct trace_file *file = &summary->trace->files[f];
        most = file->world_size > most ? file->world_size : most;
        for (size_t i = 0; i < file->groups.count; i++)
            most = file->groups.at[i].size > most ? file->groups.at[i].size : most;
    }
    for (size_t i = 0; summary->comm && i < summary->comm->rows.count; i++)
        if (summary->comm->rows.at[i].group_size > most)
            most = summary->comm->rows.at[i].group_size;
    return most <= 0 || most > count;
}

/* Of ranks that are not here, which one the communication waits for, if the recorder says so: for most of it. */
static const char *describe_waited_rank(struct headline *headline)
{
    const struct trace *trace = headline->summary->trace;
    struct collectives *all = trace->args[ARG_WAITED_RANK].count ? collectives_open(trace) : NULL;
    SCOPED VEC_OF(struct rank_wait) waits = { 0 };
    int64_t all_ns = 0;
    for (size_t i = 0; all && i < all->count; i++) {
        const struct collective *one = &all->at[i];
        all_ns += one->timed ? trace_dur_ns(trace, one->event) : 0;
        if (one->timed && one->waited_rank >= 0)
            *VEC_PUSH(&waits) = (struct rank_wait){ one->waited_rank, one->group_size, one->waited_ns };
    }
    struct rank_wait most = rank_wait_longest(waits.at, waits.count);
    arena_free(all);
    if (most.ns <= all_ns / 2)
        return " The recordings of all ranks would tell whether it waits for a slower one.";
    return most.size > 0
               ? arena_printf(headline->texts,
                              " Most of it waits for rank %" PRId64 " of %" PRId64
                              ", whose recording would tell why.",
                              most.rank, most.size)
               : arena_printf(headline->texts,
                              " Most of it waits for rank %" PRId64 ", whose recording would tell why.",
                              most.rank);
}

/* Why the first change, which is not about the largest part, or saves little of it, comes first: a sentence; "": it needs none. */
static const char *describe_order(struct headline *headline, size_t first)
{
    const struct findings *findings = headline->findings;
    const struct priced_finding *change = &findings->at[first];
    const char *part = headline->part ? headline->part : "that";
    size_t about = next_about_largest(headline, first);
    if (headline->rules >> headline_rule_of(change) & 1) {
        if (change->saves_share >= headline->largest_share / 2)
            return "";
        return arena_printf(
            headline->texts, " Of %s, change %zu saves %s %.1f %% of %s%s.", part, first + 1,
            finding_price_word(change), quantity_percent(change->saves_share), headline_whole_word(headline),
            headline_rule_of(change) == FINDING_COMMUNICATION
                ? ", as there is no more computation to hide it behind"
            : findings->bound.kind == BOUND_HOST ? ", as then the host is the limit"
            : findings->bound.kind == BOUND_DEVICE || findings->bound.kind == BOUND_WORK
                ? ", as then the devices are the limit"
            : findings_leave_rest(findings, headline->largest_share) ? "; for the rest no change was found"
                                                                     : "");
    }
    if (is_as_good(headline, about, first))
        return arena_printf(headline->texts,
                            " Change %zu is about %s, and saves about as much as change %zu.", about + 1,
                            part, first + 1);
    if (about < findings->count)
        return arena_printf(headline->texts,
                            headline_rule_of(change) == FINDING_LAUNCHES && !headline->part
                                ? " Change %zu removes %s, but saves less than change %zu%s."
                                : " Change %zu is about %s, but saves less than change %zu%s.",
                            about + 1, part, first + 1,
                            headline_rule_of(change) == FINDING_LAUNCHES &&
                                    headline_rule_of(&findings->at[about]) == FINDING_DATA_LOADING
                                ? ", with which the host loads while devices compute"
                                : "");
    if (headline->rules && change->saves_share >= AS_GOOD_AS * headline->largest_share)
        return arena_printf(headline->texts, " Change %zu saves about as much.", first + 1);
    if (headline->part && strstr(headline->part, "communication") && lacks_ranks(headline) &&
        !headline_waits_outside(headline->summary)) /* which says so already */
        return describe_waited_rank(headline);
    if (headline->part && strstr(headline->part, "communication") &&
        pipeline_schedule(headline->summary, headline->texts)) /* which is said already */
        return "";
    if (headline->rules)
        return arena_printf(headline->texts, " No change was found that is about %s.",
                            headline->part ? headline->part : "this idle time");
    return headline->summary->gpu || headline_rule_of(change) == FINDING_PAUSES ||
                   names_largest(headline, change)
               ? ""
               : arena_printf(
                     headline->texts,
                     " No change was found that makes this faster; change %zu, elsewhere, saves %.1f %% of %s.",
                     first + 1, quantity_percent(change->saves_share), headline_whole_word(headline));
}

/* What connects the headline with the first change, which is not about the largest part: "change 1, fewer launches, saves
 * more". */
static const char *connect_change(struct headline *headline, size_t first)
{
    const struct priced_finding *change = &headline->findings->at[first];
    const char *says = headline_change_of(headline, change);
    size_t about = next_about_largest(headline, first);
    if (change->unexplained) /* which saves nothing yet */
        return arena_printf(headline->texts, "the host pauses for %.1f %% of %s, and why was not recorded",
                            quantity_percent(change->saves_share), headline_whole_word(headline));
    if (is_as_good(headline, about, first))
        return arena_printf(headline->texts, "change %zu is about that, change %zu, elsewhere, saves as much",
                            about + 1, first + 1);
    if (about < headline->findings->count && headline_rule_of(change) == FINDING_LAUNCHES)
        return arena_printf(headline->texts, "change %zu, fewer launches, saves more", first + 1);
    if (headline->rules && change->saves_share >= AS_GOOD_AS * headline->largest_share)
        return arena_printf(headline->texts, "change %zu saves about as much: %s", first + 1, says);
    if (headline->rules || (!headline->summary->gpu && !names_largest(headline, change)))
        return arena_printf(headline->texts, "what saves most is elsewhere: %s", says);
    return arena_printf(headline->texts, "what saves most is to %s", says);
}

/* Below the headline about FIRST, what only the first step has: what of it takes longest, and what the bar shows where devices worked
 * for a part of the recording only. */
static const char *describe_first(struct headline *headline, const struct priced_finding *first)
{
    const struct summary *summary = headline->summary;
    struct headline_use use = headline_use_of(summary, TABLE_INT_MISSING);
    if (!summary->gpu)
        return "no GPU was recorded.";
    const char *longest = first->where.len
                              ? arena_printf(headline->texts, "%.*s.", (int)first->where.len, first->where.at)
                              : "";
    if (headline->step || !(use.span_ns > 0) ||
        !(use.span_ns < SMALL_PART * headline_recorded_of_devices(summary)))
        return longest;
    return arena_printf(
        headline->texts, "%s%sThe bar is of the %s from the first work of the %s to its last%s.", longest,
        *longest ? " " : "", headline_time(headline, use.span_ns), summary_device_word(summary),
        headline->findings->allocates_at_first_use ? "; its allocation is of first use, too" : "");
}

/* TEXT, which follows a sentence about idle time, where another has come between them. */
static const char *of_idle_time(struct headline *headline, const char *text)
{
    static const char most[] = "in most of it ";
    return text_begins_with(text, most)
               ? arena_printf(headline->texts, "in most of the idle time %s", text + strlen(most))
               : text;
}

/* Let VERDICT lead to the first change: say what of the recording later steps do not have, and what saves most if that is not about the
 * largest part. */
static const char *lead_to_change(struct headline *headline, const char *verdict)
{
    static const struct {
        enum finding_rule rule;
        const char *word;
    } firsts[] = { { FINDING_FIRST_USE, "first use: modules are loaded, memory is allocated" },
                   { FINDING_COMPILATION, "compilation" },
                   { FINDING_FIRST_CALLS,
                     "first calls of operators, which take far longer than their size explains" },
                   { FINDING_ALLOCATION, "allocation" } };
    const struct findings *findings = headline->findings;
    struct answer *answer = headline->answer;
    size_t first = headline_first_lasting(findings);
    if (findings_longest_first(findings)) /* that comes before them */
        return verdict;
    for (size_t i = 0; first == findings->count && findings->count && i < sizeof firsts / sizeof *firsts; i++)
        if (headline_rule_of(&findings->at[0]) == firsts[i].rule && findings->at[0].saves_share >= 0.5) {
            answer->headline = arena_printf(headline->texts, "%.1f %% of %s is %s; record later steps.",
                                            quantity_percent(findings->at[0].saves_share),
                                            headline_whole_word(headline), firsts[i].word);
            answer->because = describe_first(headline, &findings->at[0]);
            return arena_printf(headline->texts, "%s %s", answer->headline,
                                headline->summary->gpu ? verdict : "No GPU was recorded.");
        }
    if (first == findings->count || !headline->largest)
        return verdict;
    const char *order = describe_order(headline, first), *rest;
    if (!(headline->rules >> headline_rule_of(&findings->at[first]) & 1)) {
        enum { TWO_LINES = 130 }; /* columns of large letters, roughly */
        const char *more = strstr(verdict, "; "), *said = answer->headline,
                   *change = connect_change(headline, first);
        bool neither = said && !headline->rules && findings->at[first].unexplained;
        if (neither) /* of two causes that were not recorded that of the change is said */
            said = NULL;
        if (said && strlen(said) + strlen(change) > TWO_LINES) /* then the cause is said below */
            said = NULL;
        rest = neither ? NULL : more ? more : strchr(verdict, ':');
        answer->because = said ? answer->because : rest ? of_idle_time(headline, rest + 2) : "";
        answer->headline = arena_printf(headline->texts, "%.*s; %s.",
                                        said ? (int)strlen(said) - 1 : (int)strlen(headline->largest),
                                        said ? said : headline->largest, change);
    } else if (!answer->headline && *order) {
        const char *more = strstr(verdict, "; ");
        answer->headline = arena_printf(headline->texts, "%.*s.",
                                        (int)(more ? more - verdict : (ptrdiff_t)strlen(verdict)), verdict);
        answer->because = more ? more + 2 : "";
    }
    if (*order && answer->headline)
        answer->because = arena_printf(headline->texts, "%s%s", answer->because ? answer->because : "",
                                       answer->because && *answer->because ? order : order + 1);
    return arena_printf(headline->texts, "%s%s", verdict, order);
}

/* "5 of 6 graph replays have no work in the file ...": absence is not idleness. NULL: little or nothing was lost. */
static const char *describe_loss(struct headline *headline)
{
    const struct trace *trace = headline->summary->trace;
    struct buffer lost = { 0 };
    if (!trace_lost_much(trace))
        return NULL;
    trace_describe_lost(trace, &lost);
    const char *said = arena_printf(
        headline->texts,
        "%.*s. How long devices idled, what waits were for, and what a change would save is not known.",
        (int)lost.count, lost.at);
    buffer_release(&lost);
    return said;
}

/* "A step takes 13.3 s, of which 1.7 ms was recorded ...". NULL: most of it was. */
static const char *describe_unrecorded(struct headline *headline)
{
    int64_t recorded_ns;
    if (!headline->step ||
        !account_is_unrecorded(headline->summary->trace, headline->summary->account, &recorded_ns))
        return NULL;
    return arena_printf(
        headline->texts,
        "A step takes %s, of which %s was recorded; the file does not have what took the rest.",
        headline_time(headline, (double)headline->step->step_ns),
        headline_time(headline, (double)recorded_ns));
}

/* SAID, of what is left where records of devices were left out for their time. */
static const char *describe_rest(struct headline *headline, const char *said)
{
    const struct trace *trace = headline->summary->trace;
    struct buffer left_out = { 0 };
    if (!said || !trace_left_out_much(trace))
        return said;
    trace_describe_left_out(trace, &left_out);
    headline->answer->headline = NULL;
    said = arena_printf(headline->texts, "%.*s. Of the rest: %s", (int)left_out.count, left_out.at, said);
    buffer_release(&left_out);
    return said;
}

void headline_add_verdict(struct headline *headline, struct result *result)
{
    const char *verdict = describe_loss(headline);
    if (!verdict)
        verdict = describe_unrecorded(headline);
    if (!verdict) {
        verdict = pipeline_verdict(headline->summary, headline->findings, headline->texts);
        headline->answer->has_rank = verdict && pipeline_rank(headline->summary, &headline->answer->rank);
        if (headline->answer->has_rank && strncmp(verdict, "Stage ", 6) == 0) {
            headline->answer->headline = verdict;
            headline->answer->because = arena_printf(
                headline->texts, "rank %" PRId64 " is of this stage: a step of it is drawn below.",
                headline->answer->rank);
        }
    }
    if (!verdict) {
        verdict = headline->summary->gpu ? describe_rest(headline, describe_devices(headline))
                                         : describe_host(headline);
        verdict = verdict ? lead_to_change(headline, verdict) : NULL;
    }
    if (!verdict)
        return;
    headline->answer->verdict = verdict;
    result_add_notice(result, "verdict", 1, NULL, TPA_NOWHERE, "%s", verdict);
    result_make_verdict(result);
    result_make_answered(result);
}
