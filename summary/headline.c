#include "summary/headline.h"

#include "analyze/account_tables.h"
#include "analyze/info.h"
#include "analyze/step_phases.h"
#include "base/names.h"
#include "base/quantity.h"
#include "base/sum.h"
#include "derive/callers.h"
#include "derive/compilation.h"
#include "derive/features.h"
#include "derive/launch_calls.h"
#include "derive/step_list.h"
#include "summary/figures.h"
#include "summary/finding_kit.h"
#include "summary/finding_pipeline.h"
#include "summary/rules.h"
#include "summary/steps_over_time.h"
#include "trace/lost_work.h"
#include "summary/unexplained.h"
#include "trace/span.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct headline {
    const struct summary *summary;
    const struct findings *findings;
    struct answer *answer;
    struct arena *texts;
    const struct account_rank *step; /* the account of a step; NULL: none is known */
    /* What the verdict names as the largest part: "the GPU is idle 44.0 % of a step", its share, and the rules that are about it, a set;
     * "": nothing. */
    const char *largest, *part; /* PART: "the communication"; NULL: what the sentence before says */
    double largest_share;
    unsigned rules;
    double
        alone_ns; /* for so long the host worked alone, which is most of the recording, and no price is about it; else 0 */
};

static const char *copy(struct headline *headline, struct text text)
{
    return text.at ? arena_strndup(headline->texts, text.at, text.len) : NULL;
}

/* NS in the unit of OF_NS. */
static const char *time_of(struct headline *headline, double ns, double of_ns)
{
    struct buffer text = { 0 };
    quantity_append_time_of(&text, ns, of_ns);
    const char *kept = arena_strndup(headline->texts, text.at, text.count);
    buffer_release(&text);
    return kept;
}

static const char *time_text(struct headline *headline, double ns)
{
    return time_of(headline, ns, ns);
}

/* ---- what ran ---- */

static void add_fact(struct headline *headline, const char *label, const char *text)
{
    if (text && *text)
        *VEC_PUSH(&headline->answer->facts) = (struct answer_fact){ label, text };
}

/* How many devices worked. */
static size_t headline_device_count(const struct gpu *gpu)
{
    struct names *devices = names_open();
    for (size_t i = 0; gpu && i < gpu->count; i++) {
        const int64_t device[] = { gpu->at[i].key.rank, gpu->at[i].key.device };
        names_add(devices, (const char *)device, sizeof device);
    }
    size_t count = names_count(devices);
    names_free(devices);
    return count;
}

/* "2 x NVIDIA H100 80GB HBM3": how many devices worked, and the name of the first. */
static const char *gpu_text(struct headline *headline)
{
    const struct gpu *gpu = headline->summary->gpu;
    struct text name = { 0 };
    for (size_t i = 0; gpu && i < gpu->count && !name.len; i++)
        name = gpu->at[i].name;
    size_t count = headline_device_count(gpu);
    if (count == 0)
        return NULL;
    if (!name.len)
        return count == 1 ? "model not recorded"
                          : arena_printf(headline->texts, "%zu, models not recorded", count);
    return count == 1 ? copy(headline, name)
                      : arena_printf(headline->texts, "%zu x %.*s", count, (int)name.len, name.at);
}

static const char *ranks_text(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    const struct trace_file *first = &summary->trace->files[0];
    if (first->world_size > 1)
        return arena_printf(headline->texts, "%zu of %" PRId64 "%s", summary->rank_count, first->world_size,
                            (int64_t)summary->rank_count < first->world_size ? " recorded" : "");
    if (summary->rank_count > 1)
        return arena_printf(headline->texts, "%zu", summary->rank_count);
    bool communicates = false;
    for (size_t i = 0; summary->gpu && i < summary->gpu->count; i++)
        communicates |= summary->gpu->at[i].exposed_communication_ns > 0;
    return communicates ? "1, of how many is not recorded" : NULL;
}

static const char *versions_text(struct headline *headline)
{
    const struct trace_file *file = &headline->summary->trace->files[0];
    const char *runtime =
        info_cuda_version(trace_file_property(file, "cuda_runtime_version"), headline->texts);
    struct buffer text = { 0 };
    if (runtime)
        buffer_printf(&text, "CUDA %s", runtime);
    if (file->nccl_version)
        buffer_printf(&text, "%sNCCL %s", text.count ? ", " : "", file->nccl_version);
    const char *kept = arena_strndup(headline->texts, text.at ? text.at : "", text.count);
    buffer_release(&text);
    return kept;
}

/* Steps of a rank, and what a step takes. */
static const char *steps_text(struct headline *headline)
{
    if (!headline->step)
        return NULL;
    const struct account *account = headline->summary->account;
    bool singular = false; /* is a step left out? */
    for (size_t i = 0; i < account->count; i++)
        singular |= account->at[i].singular != INT64_MIN;
    size_t count = headline->answer->steps.count;
    const struct answer_step *steps = headline->answer->steps.at;
    const char *called =
        count == 0   ? ""
        : count == 1 ? arena_printf(headline->texts, " (number %s)", steps[0].label)
                     : arena_printf(headline->texts, " (%s-%s)", steps[0].label, steps[count - 1].label);
    return arena_printf(
        headline->texts, "%zu%s%s%s%s%s", count, called, headline->step->count > 1 ? ", " : " of ",
        time_text(headline, (double)headline->step->step_ns), headline->step->count > 1 ? " on average" : "",
        singular ? " without the slowest" : "");
}

static void add_facts(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    const struct trace *trace = summary->trace;
    int64_t longest_ns = 0;
    for (size_t i = 0; i < summary->rank_count; i++)
        longest_ns = summary->ranks[i].time_ns > longest_ns ? summary->ranks[i].time_ns : longest_ns;
    const char *begin = info_begin(trace, 0, headline->texts);
    const char *program = summary_program(trace, headline->texts);
    add_fact(headline, "Program", program);
    add_fact(headline, summary_device_word(summary), summary->gpu ? gpu_text(headline) : "no work recorded");
    add_fact(headline, "Ranks", ranks_text(headline));
    add_fact(headline, "Host", trace->files[0].host_name);
    add_fact(headline, "Recorded",
             begin
                 ? arena_printf(headline->texts, "%s, %s UTC", time_text(headline, (double)longest_ns), begin)
                 : time_text(headline, (double)longest_ns));
    add_fact(headline, "Steps", steps_text(headline));
    bool is_known = !text_begins_with(program, PROGRAM_NOT_RECORDED);
    if (is_known || headline->answer->facts.count < 4) /* more do not fit in a line */
        add_fact(headline, "Versions", versions_text(headline));
    add_fact(headline, "Written by", trace_producer_name(trace->files[0].producer));
}

/* ---- where the time went ---- */

enum { USE_COMPUTING, USE_COMMUNICATION, USE_COPIES, USES };

/* What devices did with their time; double, as times may be absurd. */
struct use {
    int64_t rank;
    double span_ns, used_ns[USES], idle_ns, cause_ns[GAP_CAUSES];
    double before_ns, after_ns;     /* of GAP_HOST: before the first work of steps and after the last */
    int64_t longest_ns[GAP_CAUSES]; /* part of one gap */
};

static const struct {
    size_t member; /* of struct gpu_row: an int64_t */
    enum account_part account_part;
    const char *title, *section;
    enum chart_color color;
} uses[USES] = {
    { offsetof(struct gpu_row, computation_ns), ACCOUNT_COMPUTING, "computing", "kernels",
      CHART_COLOR_OF_COMPUTATION },
    { offsetof(struct gpu_row, exposed_communication_ns), ACCOUNT_COMMUNICATION, "exposed communication",
      "communication", CHART_COLOR_OF_COMMUNICATION },
    { offsetof(struct gpu_row, exposed_copies_ns), ACCOUNT_COPIES, "exposed copies", "transfers",
      CHART_COLOR_OF_COPIES },
};

static void headline_add_use(struct use *use, const struct gpu_row *row)
{
    use->span_ns += (double)row->span_ns;
    use->idle_ns += (double)row->idle_ns;
    for (size_t i = 0; i < USES; i++)
        use->used_ns[i] += (double)*(const int64_t *)((const char *)row + uses[i].member);
}

/* The account of RANK, of all where that is TABLE_INT_MISSING; NULL: there are no steps, or no devices. */
static const struct account_rank *account_for(const struct summary *summary, int64_t rank)
{
    if (!summary->account || !summary->account->has_steps)
        return NULL;
    const struct account_rank *of =
        rank == TABLE_INT_MISSING ? &summary->account->all : account_rank_of(summary->account, rank);
    return of && of->device_count > 0 ? of : NULL;
}

/* What devices did in the steps of OF. */
static void add_account(struct use *use, const struct account_rank *of)
{
    for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
        use->span_ns += (double)of->part_ns[part];
        use->idle_ns += account_part_is_idle(part) ? (double)of->part_ns[part] : 0;
    }
    for (size_t i = 0; i < USES; i++)
        use->used_ns[i] = (double)of->part_ns[uses[i].account_part];
    for (size_t cause = 0; cause < GAP_CAUSES; cause++)
        use->cause_ns[cause] = (double)of->part_ns[ACCOUNT_IDLE + cause];
    use->before_ns = (double)of->part_ns[ACCOUNT_BEFORE_WORK];
    use->after_ns = (double)of->part_ns[ACCOUNT_AFTER_WORK];
    use->cause_ns[GAP_HOST] += use->before_ns + use->after_ns;
}

/* What the devices of RANK did, of all where that is TABLE_INT_MISSING: in its steps; in all that was recorded where none are marked. */
static struct use use_of(const struct summary *summary, int64_t rank)
{
    struct use use = { .rank = rank };
    const struct account_rank *of = account_for(summary, rank);
    if (of)
        add_account(&use, of);
    for (size_t i = 0; !of && summary->gpu && i < summary->gpu->count; i++)
        if (rank == TABLE_INT_MISSING || summary->gpu->at[i].key.rank == rank)
            headline_add_use(&use, &summary->gpu->at[i]);
    for (size_t i = 0; summary->gaps && i < summary->gaps->cause_count; i++) {
        const struct gap_cause_row *row = &summary->gaps->causes[i];
        if (rank != TABLE_INT_MISSING && row->key.rank != rank)
            continue;
        use.cause_ns[row->cause] += of ? 0 : (double)row->time_ns;
        if (row->longest_ns > use.longest_ns[row->cause])
            use.longest_ns[row->cause] = row->longest_ns;
    }
    return use;
}

/* The share of its time in which a rank does nothing but communicate, which mostly is to wait for others. */
static double waiting_share(const struct use *use)
{
    return use->used_ns[USE_COMMUNICATION] / use->span_ns;
}

static void add_part(struct headline *headline, struct answer_bar *bar, struct answer_part part,
                     double whole_ns)
{
    double ns = part.share * whole_ns;
    if (!(part.share > 0))
        return;
    part.figure = time_text(headline, ns);
    *VEC_PUSH(&bar->parts) = part;
}

/* Causes of less than this share of the bar are one part. */
#define LEAST_PART 0.01

/* The idle time of CAUSE; APART: of the host without what comes before and after the work of steps, as in the account. */
static double cause_of(const struct use *use, enum gap_cause cause, bool apart)
{
    return use->cause_ns[cause] - (apart && cause == GAP_HOST ? use->before_ns + use->after_ns : 0);
}

/* APART: see cause_of. */
static void order_causes(const struct use *use, bool apart, enum gap_cause order[GAP_CAUSES])
{
    for (size_t i = 0; i < GAP_CAUSES; i++) { /* a few, and equals stay in order */
        size_t at = i;
        for (; at > 0 && cause_of(use, (enum gap_cause)i, apart) > cause_of(use, order[at - 1], apart); at--)
            order[at] = order[at - 1];
        order[at] = (enum gap_cause)i;
    }
}

static void add_idle_parts(struct headline *headline, const struct use *use, double whole_ns,
                           struct answer_bar *bar)
{
    enum gap_cause order[GAP_CAUSES];
    double rest_ns = use->idle_ns;
    int64_t recorded_ns;
    bool outside = account_is_unrecorded(headline->summary->trace, headline->summary->account, &recorded_ns);
    if (outside || trace_lost_much(headline->summary->trace)) {
        add_part(headline, bar,
                 (struct answer_part){ .title = outside ? "not known: mostly not recorded"
                                                        : "not known: idle, or work that was lost",
                                       .share = rest_ns / use->span_ns,
                                       .color = CHART_COLOR_OF_OTHER,
                                       .section = "gaps" },
                 whole_ns);
        return;
    }
    order_causes(use, true, order);
    const double ends_ns[] = { use->before_ns, use->after_ns };
    for (size_t end = 0; end < 2; end++) {
        if (ends_ns[end] < LEAST_PART * use->span_ns)
            continue;
        rest_ns -= ends_ns[end];
        add_part(
            headline, bar,
            (struct answer_part){ .title = account_part_name(end ? ACCOUNT_AFTER_WORK : ACCOUNT_BEFORE_WORK),
                                  .share = ends_ns[end] / use->span_ns,
                                  .color = gap_causes[GAP_HOST].color,
                                  .section = "gaps" },
            whole_ns);
    }
    for (size_t i = 0; i < GAP_CAUSES && cause_of(use, order[i], true) >= LEAST_PART * use->span_ns; i++) {
        rest_ns -= cause_of(use, order[i], true);
        add_part(headline, bar,
                 (struct answer_part){
                     .title = arena_printf(headline->texts, "idle: %s", gap_causes[order[i]].name),
                     .share = cause_of(use, order[i], true) / use->span_ns,
                     .color = gap_causes[order[i]].color,
                     .section = "gaps" },
                 whole_ns);
    }
    if (rest_ns > LEAST_PART * use->span_ns / 20)
        add_part(headline, bar,
                 (struct answer_part){ .title = "idle: other causes",
                                       .share = rest_ns / use->span_ns,
                                       .color = CHART_COLOR_OF_IDLE,
                                       .section = "gaps" },
                 whole_ns);
}

/* A bar of what devices did, of which the whole is WHOLE_NS. */
static void add_device_bar(struct headline *headline, const struct use *use, const char *title, double length,
                           double whole_ns)
{
    struct answer_bar bar = { .title = title, .length = length };
    for (size_t i = 0; i < USES; i++)
        add_part(headline, &bar,
                 (struct answer_part){ .title = uses[i].title,
                                       .share = use->used_ns[i] / use->span_ns,
                                       .color = uses[i].color,
                                       .section = uses[i].section },
                 whole_ns);
    add_idle_parts(headline, use, whole_ns, &bar);
    *VEC_PUSH(&headline->answer->bars) = bar;
}

/* The step whose work on devices the bars show; NULL: all that was recorded, where none is marked, or those that count launched nothing. */
static const struct account_rank *step_of_bars(const struct headline *headline)
{
    return headline->step && account_for(headline->summary, TABLE_INT_MISSING) ? headline->step : NULL;
}

/* WHOLE_NS is that of the mean device, in a step or in what was recorded. */
static const char *bars_title(struct headline *headline, double whole_ns)
{
    const char *device = summary_device_word(headline->summary), *whole = time_text(headline, whole_ns);
    size_t count = headline_device_count(headline->summary->gpu);
    if (!step_of_bars(headline))
        return count > 1
                   ? arena_printf(headline->texts,
                                  "What a %s did from its first to its last work, %s, on average of %zu",
                                  device, whole, count)
                   : arena_printf(headline->texts, "What the %s did from its first to its last work, %s",
                                  device, whole);
    return arena_printf(headline->texts, "What the %s%s did in a step of %s%s", device, count > 1 ? "s" : "",
                        whole, headline->step->count > 1 ? ", on average" : "");
}

enum { MOST_RANKS = 6 };

/* What each rank did that is shown: of more than MOST_RANKS those that wait least for the others, in order. Their count. */
static size_t choose_ranks(const struct summary *summary, struct use chosen[MOST_RANKS])
{
    size_t count = 0;
    for (size_t r = 0; r < summary->rank_count; r++) {
        struct use one = use_of(summary, summary->ranks[r].rank);
        size_t most = 0; /* which of the chosen waits most (of equals, the last) */
        if (!(one.span_ns > 0))
            continue;
        for (size_t i = 1; i < count; i++)
            most = waiting_share(&chosen[i]) >= waiting_share(&chosen[most]) ? i : most;
        if (count == MOST_RANKS) {
            if (waiting_share(&one) >= waiting_share(&chosen[most]))
                continue;
            memmove(&chosen[most], &chosen[most + 1], (--count - most) * sizeof *chosen);
        }
        chosen[count++] = one;
    }
    return count;
}

/* A bar for all, and, where there are several ranks, for some of them: the chart of devices has the others. */
static void add_device_bars(struct headline *headline)
{
    struct use chosen[MOST_RANKS];
    const struct summary *summary = headline->summary;
    struct use all = use_of(summary, TABLE_INT_MISSING);
    if (!(all.span_ns > 0))
        return;
    const struct account_rank *step = step_of_bars(headline);
    double whole_ns =
        step ? (double)step->step_ns : all.span_ns / (double)headline_device_count(summary->gpu);
    bool several = summary->rank_count > 1;
    headline->answer->bars_title = bars_title(headline, whole_ns);
    headline->answer->bars_ns = (int64_t)whole_ns;
    headline->answer->bars_of = arena_printf(
        headline->texts, "what the %s%s did %s%s", summary_device_word(summary),
        headline_device_count(summary->gpu) > 1 ? "s" : "",
        step ? "in it" : "from the first to the last work", step && step->count > 1 ? ", on average" : "");
    bool each = several && !headline->findings->count; /* else the scale is that of the savings below */
    add_device_bar(headline, &all, each ? "all ranks" : NULL, 1, whole_ns);
    size_t count = each ? choose_ranks(summary, chosen) : 0;
    for (size_t i = 0; i < count; i++)
        add_device_bar(headline, &chosen[i], arena_printf(headline->texts, "rank %" PRId64, chosen[i].rank),
                       1, whole_ns);
}

/* NAME for the label of a bar, which stays on a line: built-in functions are named by their addresses. */
static const char *label_of(struct headline *headline, const char *name)
{
    enum { MOST = 48 };
    size_t len = strlen(name), cut = MOST - 3;
    if (len <= MOST)
        return copy(headline, as_text(name));
    while (cut > 0 && ((unsigned char)name[cut] & 0xc0) == 0x80) /* within a character */
        cut--;
    return arena_printf(headline->texts, "%.*s...", (int)cut, name);
}

/* Without devices: whose own time it was. */
static double part_share(const struct account_rank *rank, enum account_part part)
{
    return rank && rank->step_ns > 0 ? (double)account_part_ns(rank, part) / (double)rank->step_ns : 0;
}

/* Of several ranks, the one that communicates, or waits for others in it, for most of its step; NULL: none does. */
static const struct account_rank *waiting_rank(const struct headline *headline)
{
    const struct account *account = headline->summary->account;
    const struct account_rank *most = NULL;
    double most_share = 0.5;
    for (size_t i = 0; account && account->count > 1 && i < account->count; i++) {
        double share = part_share(&account->at[i], ACCOUNT_HOST_COMMUNICATION);
        if (share > most_share) {
            most = &account->at[i];
            most_share = share;
        }
    }
    return most;
}

/* Where a step without devices goes, if less than half of it is in operators: of the rank that waits, else of all. False: no bar. */
static bool add_host_step_bar(struct headline *headline)
{
    static const enum chart_color colors[] = {
        [ACCOUNT_HOST_OPERATORS] = CHART_COLOR_OF_COMPUTATION,
        [ACCOUNT_HOST_COMMUNICATION] = CHART_COLOR_OF_COMMUNICATION,
        [ACCOUNT_HOST_LOADING] = CHART_COLOR_OF_LOADING,
        [ACCOUNT_HOST_CALLS] = CHART_COLOR_OF_OTHER,
        [ACCOUNT_HOST_OUTSIDE] = CHART_COLOR_OF_HOST,
    };
    const struct account_rank *rank = waiting_rank(headline);
    struct answer_bar bar = { .length = 1 };
    rank = rank ? rank : headline->step;
    if (!rank || part_share(rank, ACCOUNT_HOST_OPERATORS) >= 0.5)
        return false;
    for (size_t part = ACCOUNT_HOST_OPERATORS; part <= ACCOUNT_HOST_OUTSIDE; part++)
        add_part(headline, &bar,
                 (struct answer_part){ .title = account_part_name(part),
                                       .share = part_share(rank, (enum account_part)part),
                                       .color = colors[part],
                                       .section = "steps" },
                 (double)rank->step_ns);
    if (bar.parts.count == 0)
        return false;
    bool of_rank = headline->summary->rank_count > 1 && rank != headline->step;
    const char *length = time_text(headline, (double)rank->step_ns);
    headline->answer->bars_title =
        of_rank ? arena_printf(headline->texts, "Where a step of rank %" PRId64 " goes, which waits most: %s",
                               rank->rank, length)
                : arena_printf(headline->texts, "Where a step of %s goes", length);
    headline->answer->bars_of =
        of_rank ? arena_printf(headline->texts, "where that of rank %" PRId64 " goes", rank->rank)
                : "where it goes";
    headline->answer->rows_word = headline->summary->has_frames ? "Functions" : "Operators";
    *VEC_PUSH(&headline->answer->bars) = bar;
    return true;
}

/* What a sum of times in the recording is of: each stream, or thread, counts. */
static const char *recorded_word(const struct headline *headline)
{
    const struct summary *summary = headline->summary;
    double recorded_ns = 0;
    size_t devices = headline_device_count(summary->gpu);
    for (size_t i = 0; i < summary->rank_count; i++)
        recorded_ns += (double)summary->ranks[i].time_ns;
    if (devices > summary->rank_count)
        recorded_ns *= (double)devices / (double)summary->rank_count;
    return summary->top_ns <= recorded_ns ? "recorded"
           : summary->gpu                 ? "recorded on all streams"
                                          : "recorded on all threads";
}

static void add_host_bar(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    struct answer_bar bar = { .length = 1 };
    const char *op_word = summary_op_word(summary);
    double rest = 1, whole_ns = summary->top_ns / (double)(summary->rank_count ? summary->rank_count : 1);
    for (size_t i = 0; i < summary->top_count; i++) {
        add_part(headline, &bar,
                 (struct answer_part){ .title = summary->top[i].named
                                                    ? label_of(headline, summary->top[i].name)
                                                    : "outside of operators",
                                       .share = summary->top[i].share,
                                       .color = chart_color_at(i),
                                       .section = "operators" },
                 whole_ns);
        rest -= summary->top[i].share;
    }
    if (bar.parts.count == 0)
        return;
    add_part(headline, &bar,
             (struct answer_part){ .title = arena_printf(headline->texts, "other %s", op_word),
                                   .share = rest > 0.0005 ? rest : 0,
                                   .color = CHART_PALE,
                                   .section = "operators" },
             whole_ns);
    headline->answer->bars_title =
        arena_printf(headline->texts, "Own time of %s%s on the host, %s %s", op_word,
                     summary->has_frames ? " and Python functions" : "", time_text(headline, whole_ns),
                     summary->rank_count > 1 ? "a rank, on average" : recorded_word(headline));
    headline->answer->bars_ns = (int64_t)whole_ns;
    headline->answer->bars_of = summary->has_frames
                                    ? "own time of operators and Python functions"
                                    : arena_printf(headline->texts, "own time of %s on the host", op_word);
    *VEC_PUSH(&headline->answer->bars) = bar;
}

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
            return copy(headline, findings->at[i].where);
    return NULL;
}

/* ", in one gap of 463.252ms" where that is nearly all of CAUSE: a pause, which is not how steps run. */
static const char *describe_one_gap(struct headline *headline, const struct use *use, enum gap_cause cause)
{
    const double nearly_all = 0.9;
    if ((double)use->longest_ns[cause] < nearly_all * use->cause_ns[cause] ||
        use->longest_ns[cause] < ONE_GAP_LEAST_NS)
        return "";
    return arena_printf(headline->texts, ", in one gap of %s",
                        time_text(headline, (double)use->longest_ns[cause]));
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

/* "of the 44.0 %, 27.0 % is data loading", with the figures that the legend of the bar has; "": CAUSE takes all of it. */
static const char *describe_share(struct headline *headline, const struct use *use, enum gap_cause cause)
{
    const double parts_ns[] = { cause_of(use, cause, true), cause == GAP_HOST ? use->before_ns : 0,
                                cause == GAP_HOST ? use->after_ns : 0 };
    const char *const names[] = { gap_causes[cause].name, "before the first work", "after the last work" };
    struct buffer text = { 0 };
    if (quantity_percent(parts_ns[0] / use->idle_ns) > 99.9)
        return "";
    buffer_printf(&text, "of the %.1f %%", quantity_percent(use->idle_ns / use->span_ns));
    for (size_t i = 0, said = 0; i < sizeof names / sizeof *names; i++)
        if (parts_ns[i] >= LEAST_PART * use->span_ns)
            buffer_printf(&text, ", %.1f %%%s %s", quantity_percent(parts_ns[i] / use->span_ns),
                          said++ ? "" : " is", names[i]);
    const char *kept = arena_strndup(headline->texts, text.at, text.count);
    buffer_release(&text);
    return kept;
}

/* "of the 44.0 %, 27.0 % is data loading, in one gap of 57.347ms; meanwhile ...: train.py:42": what the headline leaves out. */
static void set_because(struct headline *headline, const struct use *use, enum gap_cause cause,
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

/* Which rule FINDING is of; FINDING_RULES: another module's. */
static enum finding_rule rule_of(const struct priced_finding *finding)
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
    if (!first || !(telling >> rule_of(first) & 1) || first->saves_share < cause_share / 2)
        return says;
    return copy(headline, first->title);
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

static const char *describe_idle(struct headline *headline, const struct use *use, const char *whose)
{
    enum gap_cause order[GAP_CAUSES];
    order_causes(use, false, order);
    double cause_ns = use->cause_ns[order[0]];
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
        2 * time_of_captures(headline->summary->trace) <= cause_ns)
        says = "the host launches nothing between the last work of a step and the first of the next";
    else if (order[0] == GAP_HOST && is_of_pauses(headline, cause_ns / use->span_ns))
        says = "the host launches nothing, and nothing was recorded of what it does";
    if (order[0] == GAP_HOST)
        says = what_host_does(headline, cause_ns / use->span_ns, says);
    headline->rules = rules_of_cause(order[0]);
    headline->largest_share = cause_ns / use->span_ns;
    set_idle_headline(headline, use->idle_ns / use->span_ns, says);
    const char *meanwhile = describe_meanwhile(headline, order[0], one_gap);
    set_because(headline, use, order[0], one_gap, meanwhile, where);
    says = arena_printf(headline->texts, "%s%s", says, meanwhile);
    if (quantity_percent(cause_ns / use->idle_ns) > 99.9)
        return arena_printf(headline->texts, "%s%s: %s%s%s.", share, one_gap, says, where ? ": " : "",
                            where ? where : "");
    return arena_printf(headline->texts, "%s; in %s of it (%.1f %%%s) %s%s%s.", share,
                        cause_ns > use->idle_ns / 2 ? "most" : "the largest part",
                        quantity_percent(cause_ns / use->span_ns), one_gap, says, where ? ": " : "",
                        where ? where : "");
}

/* Is most communication a wait for ranks that were not recorded? */
static bool waits_outside(const struct summary *summary)
{
    return summary->comm && summary->comm->outside_ns > summary->comm->union_ns / 2;
}

/* "exposed communication; the others wait 18.001ms for rank 9", where a rank holds the others up; of several ranks, the one for which
 * they wait most. */
static const char *describe_communication(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    const struct comm *comm = summary->comm;
    if (waits_outside(summary))
        return "exposed communication; most of it waits for ranks that were not recorded";
    for (size_t i = 0; i < summary->findings.count; i++) {
        const struct finding *finding = &summary->findings.at[i];
        if (finding->rule == RULE_TURNS)
            return "exposed communication; ranks take turns, none is slower than the rest";
        if (finding->rule == RULE_STRAGGLER && finding->rank == comm->blame.at[0].rank)
            return arena_printf(headline->texts,
                                "exposed communication; the others wait %s for rank %" PRId64,
                                time_text(headline, (double)finding->time_ns), finding->rank);
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
static const char *describe_unused(struct headline *headline, const struct use *use)
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
        named_device(headline, least), time_text(headline, (double)least->busy_ns),
        named_device(headline, busiest), time_text(headline, (double)busiest->busy_ns),
        time_text(headline, (double)busiest->span_ns), quantity_percent(use->idle_ns / use->span_ns),
        headline->step ? "a step" : "their time");
}

/* Do the others wait for a rank so that evening out the ranks saves about what the first change does? */
static bool is_held_up(const struct headline *headline)
{
    const double much_of_first = 0.75;
    const struct findings *findings = headline->findings;
    for (size_t i = 0; i < findings->count; i++)
        if (rule_of(&findings->at[i]) == FINDING_SLOW_RANKS)
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
static const char *what_is_computed(struct headline *headline, const struct use *use, double wasted_ns)
{
    const struct priced_finding *first = headline->findings->count ? &headline->findings->at[0] : NULL;
    if (!first || use->used_ns[USE_COMPUTING] < use->span_ns / 2 ||
        first->saves_share < wasted_ns / use->span_ns)
        return NULL;
    for (size_t i = 0; i < sizeof of_computing / sizeof *of_computing; i++)
        if (rule_of(first) == of_computing[i].rule)
            return of_computing[i].says;
    return NULL;
}

/* "73.8 % of the GPU's time is computing, partly products without tensor cores; 12.9 % is copies that no computation hides." */
static const char *describe_computing(struct headline *headline, const struct use *use, const char *whose,
                                      const char *says)
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
static const char *describe_uses(struct headline *headline, const struct use *use, const char *whose)
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
    return arena_printf(headline->texts, "%s%s%s.%s", headline->largest, what + strcspn(what, ";"), idle,
                        communicates && waits_outside(headline->summary)
                            ? " The recordings of all ranks would tell which."
                            : "");
}

/* How long was recorded, in ns, for each device that worked, added up. */
static double recorded_of_devices(const struct summary *summary)
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

/* Is what was replayed shorter than this share of the recording? It begins and ends with what launches work. */
static bool is_replayed_less(const struct headline *headline, double share)
{
    const struct summary *summary = headline->summary;
    int64_t recorded_ns = 0;
    for (size_t i = 0; i < summary->rank_count; i++)
        recorded_ns = summary->ranks[i].time_ns > recorded_ns ? summary->ranks[i].time_ns : recorded_ns;
    return !headline->findings->has_steps &&
           (double)headline->findings->step_ns < share * (double)recorded_ns;
}

/* What shares of savings are of: "a step", "19.842ms of the recording". */
static const char *whole_word(struct headline *headline)
{
    if (headline->findings->has_steps)
        return "a step";
    return is_replayed_less(headline, 0.9)
               ? arena_printf(headline->texts, "%s of the recording",
                              time_text(headline, (double)headline->findings->step_ns))
               : "the recording";
}

/* "Host memory is pinned (cudaHostAlloc), which takes up to 855.544ms, 77.7 % of 1.101s of the recording", where that is most of it, and not
 * about the devices, which worked for a small part. NULL: it is not. */
static const char *describe_first_change(struct headline *headline)
{
    const struct findings *findings = headline->findings;
    const struct priced_finding *first = findings->count ? &findings->at[0] : NULL;
    if (!first || !finding_is_change(first) || first->saves_share < 0.5 ||
        headline->rules >> rule_of(first) & 1 || !first->title.len)
        return NULL;
    const char *title = copy(headline, first->title), *where = copy(headline, first->where);
    return arena_printf(headline->texts, "%c%s%s%.*s%s, which takes up to %s, %.1f %% of %s",
                        *title >= 'a' && *title <= 'z' ? *title - 'a' + 'A' : *title, title + 1,
                        where ? " (" : "", where ? (int)strcspn(where, ",;") : 0, where ? where : "",
                        where ? ")" : "", time_text(headline, (double)first->saves_ns),
                        quantity_percent(first->saves_share), whole_word(headline));
}

/* Shares of the time of devices are of their spans: where these are a small part of what was recorded, that is said first. */
static const char *describe_devices(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    struct use use = use_of(summary, TABLE_INT_MISSING);
    const char *word = summary_device_word(summary), *plural = summary->gpu->count > 1 ? "s" : "";
    const char *whose = arena_printf(headline->texts, *plural ? "the %ss'" : "the %s's", word);
    double recorded_ns = recorded_of_devices(summary);
    if (!(use.span_ns > 0))
        return NULL;
    const char *said = describe_uses(headline, &use, whose), *first = said;
    int64_t before_ns = 0, queued_ns = unexplained_start_ns(summary, &before_ns);
    if (2 * queued_ns > before_ns && (double)before_ns * (double)summary->gpu->count > 0.1 * recorded_ns)
        said = arena_printf(
            headline->texts,
            "%s In the %s before its first work, which waited %s in its queue, the %s was busy with work that was "
            "launched before the recording began.",
            said, time_text(headline, (double)before_ns), time_text(headline, (double)queued_ns), word);
    if (said != first && !headline->answer->headline) { /* which says less of what is wrong */
        size_t len = strcspn(first, ";");
        headline->answer->headline =
            arena_printf(headline->texts, "%.*s%s", (int)len, first, first[len] ? "." : "");
        headline->answer->because = said + len + (first[len] ? 2 : 1);
    }
    if (headline->step || !(use.span_ns < SMALL_PART * recorded_ns))
        return said;
    headline->answer->headline = NULL;
    const char *within = arena_printf(
        headline->texts, "All work of the %s%s lies within %s of the %s recorded%s", word, plural,
        time_text(headline, use.span_ns), time_text(headline, recorded_ns), *plural ? ", all added up" : "");
    const char *change = describe_first_change(headline);
    if (change) {
        headline->largest = NULL; /* what is to do is said */
        headline->answer->headline = arena_printf(headline->texts, "%s.", change);
        headline->answer->because = arena_printf(headline->texts, "%s; in these %s", within, said);
        return arena_printf(headline->texts, "%s %s", headline->answer->headline, headline->answer->because);
    }
    if (is_replayed_less(headline, SMALL_PART)) {
        headline->alone_ns = recorded_ns - use.span_ns;
        headline->largest = NULL; /* that is the largest part */
    }
    return arena_printf(headline->texts, "%s; the rest is the host's alone. In these %s %s", within,
                        time_text(headline, use.span_ns), said);
}

static const char *describe_waiting_rank(struct headline *headline)
{
    const struct account_rank *most = waiting_rank(headline);
    return !most
               ? NULL
               : arena_printf(headline->texts,
                              "Rank %" PRId64 " communicates, or waits for other ranks in it, for %.1f %% of "
                              "a step; no GPU was recorded.",
                              most->rank, quantity_percent(part_share(most, ACCOUNT_HOST_COMMUNICATION)));
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
        double share = part_share(step, parts[i].part);
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
    if (headline->step || summary->has_frames || !(summary->features & FEATURE_OPS))
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
        "%.1f %% of the time from the first operator to the last is outside of any, and what the host does "
        "there was not recorded; no GPU was recorded.",
        quantity_percent(outside_ns / all_ns));
}

/* Was something recorded, but no call of a runtime or driver? */
static bool has_no_call(const struct trace *trace)
{
    event_id e = 0;
    while (e < trace->event_count && !event_is_call((enum event_kind)trace->kind[e]))
        e++;
    return e > 0 && e == trace->event_count;
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
        headline->largest = arena_printf(
            headline->texts, "%s takes %.1f %% of the %s own time", top->name, quantity_percent(top->share),
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

/* The first finding from which later steps gain; the count of findings when there is none, or when most of what was recorded is what
 * they do not have. */
static size_t first_lasting(const struct findings *findings)
{
    size_t i = 0;
    if (findings->count && findings->at[0].once && findings->at[0].saves_share >= 0.5)
        return findings->count;
    while (i < findings->count && findings->at[i].once)
        i++;
    return i;
}

/* "launch work in fewer calls" */
static const char *change_of(struct headline *headline, const struct priced_finding *finding)
{
    struct text change = finding->action.at ? finding->action : finding->title;
    char begin = change.len && change.at[0] >= 'A' && change.at[0] <= 'Z' ? (char)(change.at[0] - 'A' + 'a')
                                                                          : *change.at;
    return arena_printf(headline->texts, "%c%.*s", begin, change.len ? (int)change.len - 1 : 0,
                        change.at + 1);
}

/* Does CHANGE name what takes the host longest? */
static bool names_largest(struct headline *headline, const struct priced_finding *change)
{
    const char *title = copy(headline, change->title), *where = copy(headline, change->where);
    const char *name = NULL;
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
    while (i < headline->findings->count && !(headline->rules >> rule_of(&headline->findings->at[i]) & 1))
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

/* Why the first change, which is not about the largest part, or saves little of it, comes first: a sentence; "": it needs none. */
static const char *describe_order(struct headline *headline, size_t first)
{
    const struct findings *findings = headline->findings;
    const struct priced_finding *change = &findings->at[first];
    const char *part = headline->part ? headline->part : "that";
    size_t about = next_about_largest(headline, first);
    if (headline->rules >> rule_of(change) & 1) {
        if (change->saves_share >= headline->largest_share / 2)
            return "";
        return arena_printf(
            headline->texts, " Of %s, change %zu saves %s %.1f %% of %s%s.", part, first + 1,
            finding_price_word(change), quantity_percent(change->saves_share), whole_word(headline),
            rule_of(change) == FINDING_COMMUNICATION ? ", as there is no more computation to hide it behind"
            : findings->bound.kind == BOUND_HOST     ? ", as then the host is the limit"
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
                            rule_of(change) == FINDING_LAUNCHES && !headline->part
                                ? " Change %zu removes %s, but saves less than change %zu."
                                : " Change %zu is about %s, but saves less than change %zu.",
                            about + 1, part, first + 1);
    if (headline->rules && change->saves_share >= AS_GOOD_AS * headline->largest_share)
        return arena_printf(headline->texts, " Change %zu saves about as much.", first + 1);
    if (headline->part && strstr(headline->part, "communication") && lacks_ranks(headline) &&
        !waits_outside(headline->summary)) /* which says so already */
        return " The recordings of all ranks would tell whether it waits for a slower one.";
    if (headline->rules)
        return arena_printf(headline->texts, " No change was found that is about %s.",
                            headline->part ? headline->part : "this idle time");
    return headline->summary->gpu || rule_of(change) == FINDING_PAUSES || names_largest(headline, change)
               ? ""
               : arena_printf(
                     headline->texts,
                     " No change was found that makes this faster; change %zu, elsewhere, saves %.1f %% of %s.",
                     first + 1, quantity_percent(change->saves_share), whole_word(headline));
}

/* What connects the headline with the first change, which is not about the largest part: "change 1, fewer launches, saves
 * more". */
static const char *connect_change(struct headline *headline, size_t first)
{
    const struct priced_finding *change = &headline->findings->at[first];
    const char *says = change_of(headline, change);
    size_t about = next_about_largest(headline, first);
    if (change->unexplained) /* which saves nothing yet */
        return arena_printf(headline->texts, "the host pauses for %.1f %% of %s, and why was not recorded",
                            quantity_percent(change->saves_share), whole_word(headline));
    if (is_as_good(headline, about, first))
        return arena_printf(headline->texts, "change %zu is about that, change %zu, elsewhere, saves as much",
                            about + 1, first + 1);
    if (about < headline->findings->count && rule_of(change) == FINDING_LAUNCHES)
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
    struct use use = use_of(summary, TABLE_INT_MISSING);
    if (!summary->gpu)
        return "no GPU was recorded.";
    const char *longest = first->where.len
                              ? arena_printf(headline->texts, "%.*s.", (int)first->where.len, first->where.at)
                              : "";
    if (headline->step || !(use.span_ns > 0) || !(use.span_ns < SMALL_PART * recorded_of_devices(summary)))
        return longest;
    return arena_printf(
        headline->texts, "%s%sThe bar is of the %s from the first work of the %s to its last%s.", longest,
        *longest ? " " : "", time_text(headline, use.span_ns), summary_device_word(summary),
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
                   { FINDING_ALLOCATION, "allocation" } };
    const struct findings *findings = headline->findings;
    struct answer *answer = headline->answer;
    size_t first = first_lasting(findings);
    if (findings->count && findings->half.at && findings_are_pauses(findings)) /* that comes before them */
        return verdict;
    for (size_t i = 0; first == findings->count && findings->count && i < sizeof firsts / sizeof *firsts; i++)
        if (rule_of(&findings->at[0]) == firsts[i].rule && findings->at[0].saves_share >= 0.5) {
            answer->headline = arena_printf(headline->texts, "%.1f %% of %s is %s; record later steps.",
                                            quantity_percent(findings->at[0].saves_share),
                                            whole_word(headline), firsts[i].word);
            answer->because = describe_first(headline, &findings->at[0]);
            return arena_printf(headline->texts, "%s %s", answer->headline,
                                headline->summary->gpu ? verdict : "No GPU was recorded.");
        }
    if (first == findings->count || !headline->largest)
        return verdict;
    const char *order = describe_order(headline, first), *rest;
    if (!(headline->rules >> rule_of(&findings->at[first]) & 1)) {
        enum { TWO_LINES = 130 }; /* columns of large letters, roughly */
        const char *more = strstr(verdict, "; "), *said = answer->headline,
                   *change = connect_change(headline, first);
        if (said && strlen(said) + strlen(change) > TWO_LINES) /* then the cause is said below */
            said = NULL;
        rest = more ? more : strchr(verdict, ':');
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
        time_text(headline, (double)headline->step->step_ns), time_text(headline, (double)recorded_ns));
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

static void add_verdict(struct headline *headline, struct result *result)
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

/* ---- what to do ---- */

/* Where FINDING is, of RULE, as the timeline calls it: an event, or the causes of idle time, the one that costs most first. Nothing for
 * others, whose place begins WHERE. */
static void find_place(struct headline *headline, const char *rule, struct answer_finding *finding)
{
    static const struct {
        const char *rule;
        enum gap_cause causes[3];
    } rules[] = {
        { "launches", { GAP_HOST, GAP_LAUNCH_LATENCY, GAP_LAUNCH_CALL } },
        { "allocation", { GAP_ALLOCATION, GAP_ALLOCATION, GAP_ALLOCATION } },
        { "first_use", { GAP_FIRST_USE, GAP_FIRST_USE, GAP_FIRST_USE } },
        { "data_loading", { GAP_DATA_LOADING, GAP_DATA_LOADING, GAP_DATA_LOADING } },
    };
    const struct gaps *gaps = headline->summary->gaps;
    for (size_t i = 0; gaps && i < sizeof rules / sizeof *rules; i++) {
        if (strcmp(rule, rules[i].rule) != 0)
            continue;
        enum gap_cause most = rules[i].causes[0];
        size_t others = 0;
        for (size_t k = 1; k < 3; k++)
            most = gaps->part_ns[rules[i].causes[k]] > gaps->part_ns[most] ? rules[i].causes[k] : most;
        if (gaps->part_ns[most] == 0)
            return; /* memory may be pinned while devices work */
        const char *idle = arena_printf(headline->texts, "idle: %s", gap_causes[most].name);
        if (finding->place)
            finding->also[others++] = idle;
        else
            finding->place = idle;
        for (size_t k = 0; k < 3; k++)
            if (rules[i].causes[k] != most && others < 2)
                finding->also[others++] =
                    arena_printf(headline->texts, "idle: %s", gap_causes[rules[i].causes[k]].name);
    }
}

static void add_priced(struct headline *headline, const struct priced_finding *finding)
{
    bool is_of_first_steps = first_lasting(headline->findings) == headline->findings->count;
    const char *price =
        arena_printf(headline->texts, "%s, %.1f %%", time_text(headline, (double)finding->saves_ns),
                     quantity_percent(finding->saves_share));
    bool unexplained = finding->unexplained;
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .title = copy(headline, finding->title),
        .action = copy(headline, finding->action),
        .saves_ns = finding_is_change(finding) ? finding->saves_ns : 0,
        .saves =
            unexplained ? arena_printf(headline->texts, "gain not known: %s of %s is unexplained", price,
                                       whole_word(headline))
            : finding->once
                ? arena_printf(headline->texts,
                               headline->findings->has_steps
                                   ? "%s of %s, in the first step only: later steps do not have it"
                                   : "%s of %s, once, in the beginning: what comes later does not have it",
                               price, whole_word(headline))
                : arena_printf(headline->texts, "saves %s %s of %s%s", finding_price_word(finding), price,
                               whole_word(headline),
                               is_of_first_steps ? ", which is not like later steps" : ""),
        .gain = unexplained     ? price
                : finding->once ? arena_printf(headline->texts,
                                               headline->findings->has_steps ? "%s, in the first step only"
                                                                             : "%s, once, in the beginning",
                                               price)
                                : arena_printf(headline->texts, "%s %s", finding_price_word(finding), price),
        .was = copy(headline, finding->was),
        .code = copy(headline, finding->code),
        .where = copy(headline, finding->where),
        .advice = copy(headline, finding->advice),
        .command = copy(headline, finding->check),
        .section = finding->section,
        .place = copy(headline, finding->place),
        .unrecorded = unexplained,
        .of_ranks = rule_of(finding) == FINDING_SLOW_RANKS,
    };
    find_place(headline, finding->rule.at,
               &headline->answer->findings.at[headline->answer->findings.count - 1]);
}

/* "39.736ms more than the median, 5.3 % of all steps". */
static const char *stake_text(struct headline *headline, const struct finding *finding)
{
    const struct summary_rule *rule = &summary_rules[finding->rule];
    struct buffer text = { 0 };
    if (finding->time_ns != TABLE_INT_MISSING)
        quantity_append_rounded_time(&text, (double)finding->time_ns);
    else
        quantity_append_rounded_size(&text, finding->bytes);
    buffer_printf(&text, " %s, %.1f %% %s", rule->stake, quantity_percent(finding->share), rule->whole);
    const char *kept = arena_strndup(headline->texts, text.at, text.count);
    buffer_release(&text);
    return kept;
}

/* Is there a price of what RULE says? Then its finding says it, of the same waits. */
static bool is_priced(const struct headline *headline, enum rule rule)
{
    const char *priced = finding_rules[FINDING_SLOW_RANKS].name;
    for (size_t i = 0; (rule == RULE_STRAGGLER || rule == RULE_TURNS) && i < headline->findings->count; i++)
        if (strcmp(headline->findings->at[i].rule.at, priced) == 0)
            return true;
    return false;
}

/* Of what has no price the first of each rule. */
static void add_unpriced(struct headline *headline, size_t most)
{
    const struct summary *summary = headline->summary;
    bool said[RULES] = { false };
    for (size_t i = 0; i < summary->findings.count; i++) {
        const struct finding *finding = &summary->findings.at[i];
        const struct summary_rule *rule = &summary_rules[finding->rule];
        if (said[finding->rule] || is_priced(headline, finding->rule))
            continue;
        said[finding->rule] = true;
        if (headline->answer->findings.count == most) {
            headline->answer->more_findings++;
            continue;
        }
        *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
            .title = rule->finding,
            .action = rule->action,
            .saves = stake_text(headline, finding),
            .where = finding->detail ? copy(headline, as_text(finding->detail)) : NULL,
            .advice = finding->advice ? copy(headline, as_text(finding->advice)) : NULL,
            .command = rule->command,
            .section = rule->section,
        };
    }
}

/* ", without step 0, which compiles": the first steps that do not count, as programs are compiled in them, where the pattern does not
 * say so; else "". */
static const char *without_compiling(const struct headline *headline)
{
    const struct account *account = headline->summary->account;
    size_t ranks = 0;
    int64_t number = 0;
    for (size_t i = 0; account && !account->all.singular_compiles && i < account->count; i++)
        if (account->at[i].singular_compiles) {
            ranks++;
            number = account->at[i].singular;
        }
    return ranks == 0   ? ""
           : ranks == 1 ? arena_printf(headline->texts, ", without step %" PRId64 ", which compiles", number)
                        : ", without first steps, which compile";
}

/* What a step takes, and what it would take with all that the findings save. */
static void add_now_and_then(struct headline *headline)
{
    const struct findings *findings = headline->findings;
    const char *now = time_text(headline, (double)findings->step_ns);
    const char *whole = findings->has_steps ? arena_printf(headline->texts, "A step takes %s", now)
                        : is_replayed_less(headline, 0.9)
                            ? arena_printf(headline->texts, "%s of the recording", now)
                            : arena_printf(headline->texts, "The recording takes %s", now);
    size_t first = first_lasting(findings);
    if (first < findings->count && findings->at[first].unexplained)
        headline->answer->now_and_then =
            arena_printf(headline->texts, "%s, %s of it unexplained", whole,
                         time_text(headline, (double)findings->at[first].saves_ns));
    else if (first < findings->count)
        headline->answer->now_and_then = arena_printf(headline->texts, "%s -> %s at best", whole,
                                                      time_text(headline, (double)findings->together_ns));
    else if (findings->count)
        headline->answer->now_and_then =
            arena_printf(headline->texts, "%s, of which later steps do not have %s", whole,
                         time_text(headline, (double)findings->at[0].saves_ns));
    else if (headline->step)
        headline->answer->now_and_then = arena_printf(headline->texts, "A step takes %s",
                                                      time_text(headline, (double)headline->step->step_ns));
    const char *without = without_compiling(headline);
    if (headline->answer->now_and_then && *without)
        headline->answer->now_and_then =
            arena_printf(headline->texts, "%s%s", headline->answer->now_and_then, without);
}

/* The COUNT changes, behind BEFORE findings that have no price: "1 and 3" where a first screen shows them, else "all 6 changes". */
static const char *name_changes(struct headline *headline, size_t count, size_t before)
{
    struct buffer text = { 0 };
    size_t named = 0, last = headline->answer->last_change;
    for (size_t i = 0; last <= ANSWER_FIRST_FINDINGS && before + i < last; i++)
        if (finding_is_change(&headline->findings->at[i])) {
            buffer_printf(&text, "%s%zu",
                          named == 0          ? ""
                          : named + 1 < count ? ", "
                                              : " and ",
                          before + i + 1);
            named++;
        }
    if (!named)
        buffer_printf(&text, "all %zu changes", count);
    const char *kept = arena_strndup(headline->texts, text.at, text.count);
    buffer_release(&text);
    return kept;
}

/* A change that saves less than this part of what the host does alone changes nothing that one sees. */
#define LEAST_OF_ALL 0.01

/* From what a step takes to what it takes with the first finding that is a change, not a pause to be explained. */
static void add_change(struct headline *headline)
{
    const struct findings *findings = headline->findings;
    struct answer *answer = headline->answer;
    size_t first = first_lasting(findings), count = 0;
    while (first < findings->count && !finding_is_change(&findings->at[first]))
        first++;
    if (!findings->priced || first == findings->count ||
        LEAST_OF_ALL * headline->alone_ns > (double)findings->at[first].saves_ns)
        return;
    size_t before = headline->alone_ns > 0; /* findings without a price stand before these */
    answer->from_ns = findings->step_ns;
    answer->to_ns = findings->at[first].then_ns;
    answer->together_ns = findings->together_ns;
    for (size_t i = 0; i < findings->count; i++)
        if (finding_is_change(&findings->at[i])) {
            answer->alone_ns += findings->at[i].saves_ns;
            answer->last_change = before + i + 1;
            count++;
        }
    const char *then = time_of(headline, (double)answer->to_ns, (double)answer->from_ns),
               *together = time_of(headline, (double)findings->together_ns, (double)answer->from_ns),
               *rest = count == 1 ? ""
                       : strcmp(then, together) == 0
                           ? "; the others add nothing to it"
                           : arena_printf(headline->texts, "; with %s: %s",
                                          name_changes(headline, count, before), together);
    answer->change_note = arena_printf(
        headline->texts, "%s, at best, with change %zu (%s)%s; predicted by replay",
        is_replayed_less(headline, 0.9995) ? "the replayed part of the recording" : whole_word(headline),
        before + first + 1, change_of(headline, &findings->at[first]), rest);
}

/* What takes longest on devices; without them on the host. */
static void add_rows(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    for (size_t i = 0; i < summary->top_count; i++)
        *VEC_PUSH(&headline->answer->rows) =
            (struct answer_row){ .name = summary->gpu || summary->top[i].named
                                             ? copy(headline, as_text(summary->top[i].name))
                                             : "(outside of operators)",
                                 .ns = summary->top[i].time_ns,
                                 .share = summary->top[i].share };
    if (summary->gpu) /* else the bar shows them */
        headline->answer->rows_word = summary->top_is_work ? "Kernels" : "Operators";
    headline->answer->rows_section = "operators";
    headline->answer->rows_title =
        arena_printf(headline->texts, "Operators by time on the %s, of %s %s",
                     summary->gpu ? summary_device_word(summary) : "host",
                     time_text(headline, summary->top_ns), recorded_word(headline));
}

/* ---- figures of sections ---- */

static void add_figure(struct headline *headline, const char *section, const char *text)
{
    *VEC_PUSH(&headline->answer->figures) = (struct answer_figure){ section, text };
}

static const char *share_text(struct headline *headline, double part, double whole)
{
    return arena_printf(headline->texts, "%.1f %%", quantity_percent(part / whole));
}

static void add_figures(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    struct use use = use_of(summary, TABLE_INT_MISSING);
    struct buffer events = { 0 };
    quantity_append_tally(&events, (int64_t)summary->trace->event_count);
    add_figure(headline, "timeline",
               arena_printf(headline->texts, "%.*s events", (int)events.count, events.at));
    buffer_release(&events);
    add_figure(headline, "summary",
               arena_printf(headline->texts, "%zu",
                            headline->answer->findings.count + headline->answer->more_findings));
    if (headline->step)
        add_figure(headline, "steps", time_text(headline, (double)headline->step->step_ns));
    if (!summary->gpu || !(use.span_ns > 0) || trace_lost_much(summary->trace))
        return;
    add_figure(headline, "devices", share_text(headline, use.used_ns[0], use.span_ns));
    add_figure(headline, "gaps", share_text(headline, use.idle_ns, use.span_ns));
    add_figure(headline, "transfers", share_text(headline, use.used_ns[2], use.span_ns));
    add_figure(headline, "communication", share_text(headline, use.used_ns[USE_COMMUNICATION], use.span_ns));
}

/* A phase that takes more of a step is the step. */
#define NEARLY_ALL 0.9

/* The phases of a step in a line, largest first, if they explain half of it, and there are several. */
static void add_phases(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    if (!headline->step || headline->step->step_ns <= 0 || summary->by != SUMMARY_BY_ALL ||
        !step_phases_are_named(summary->trace))
        return;
    struct step_phases *phases = step_phases_open(summary->trace, summary->account);
    struct buffer text = { 0 };
    bool shown[PHASES] = { false };
    double largest = 0;
    for (size_t n = 0; n < PHASES; n++) {
        size_t most = PHASES;
        for (size_t p = 0; p < PHASES; p++)
            if (!shown[p] && (most == PHASES || phases->all.phase_ns[p] > phases->all.phase_ns[most]))
                most = p;
        double share = (double)phases->all.phase_ns[most] / (double)phases->all.step_ns;
        shown[most] = true;
        largest = share > largest ? share : largest;
        if (share >= 0.0005)
            buffer_printf(&text, "%s%s %.1f %%", n ? ", " : "By phase: ", phase_names[most],
                          quantity_percent(share));
    }
    if (phases->told && phases->all.phase_ns[PHASE_OTHER] <= phases->all.step_ns / 2 && largest < NEARLY_ALL)
        headline->answer->phases = arena_strndup(headline->texts, text.at, text.count);
    buffer_release(&text);
    arena_free(phases);
}

/* What has to be recorded to explain idle time. */
static void add_to_record(struct headline *headline)
{
    const struct unexplained *unexplained = &headline->findings->of_unexplained;
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = unexplained->action,
        .place = arena_printf(headline->texts, "idle: %s", gap_causes[unexplained->cause].name),
        .title = "idle for a reason that the file does not have",
        .where = copy(headline, unexplained->longest),
        .advice = unexplained->recipe,
        .saves =
            arena_printf(headline->texts, "gain not known: %.1f %% of the time of the %s%s is not explained",
                         quantity_percent(unexplained->share), summary_device_word(headline->summary),
                         headline->summary->gpu->count > 1 ? "s" : ""),
        .command = "tpa gaps",
        .section = "gaps",
    };
}

/* What takes longest would have to be faster: where no finding saves enough, or only pauses that take less were found. */
static void add_longest(struct headline *headline)
{
    const struct findings *findings = headline->findings;
    const char *half =
        arena_printf(headline->texts, "%s, %.1f %%", time_text(headline, (double)findings->half_saves_ns),
                     quantity_percent(findings->half_saves_share));
    /* No line above has what it is a share of, and the bar of devices may be of less: from the first to the last work. */
    const char *gain = findings->has_steps || !headline->summary->gpu
                           ? half
                           : arena_printf(headline->texts, "%s of %s replayed",
                                          time_text(headline, (double)findings->half_saves_ns),
                                          time_text(headline, (double)findings->step_ns));
    bool is_short = findings->longest_name.len <= 32; /* it has room in a line */
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = is_short ? arena_printf(headline->texts, "Make %s faster", findings->longest_name.at)
                           : arena_printf(headline->texts, "Make the longest %s faster", findings->longest),
        .title = "it takes longest",
        .where = is_short ? NULL : copy(headline, findings->longest_name),
        .place = copy(headline, findings->longest_name),
        .advice =
            findings->longest_advice.len
                ? copy(headline, findings->longest_advice)
                : "no change is known that does that: do less in it, use smaller types or a faster implementation",
        .saves =
            arena_printf(headline->texts, "if it took half its time: %s of %s", half, whole_word(headline)),
        .gain = arena_printf(headline->texts, "if it took half its time: %s", gain),
        .command = copy(headline, findings->half),
        .section = headline->summary->gpu ? "kernels" : "operators",
    };
}

/* What the host does longest is on no path that is replayed. */
static void add_unpriced_longest(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    bool blind = !(summary->features & FEATURE_STACKS) && summary->trace->files[0].producer != PRODUCER_ONNX;
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = blind ? "Record again, with what calls it" : "Call it less often, or do less in it",
        .title = "it takes longest; why is not recorded",
        .where = copy(headline, as_text(summary->top[0].name)),
        .advice = blind ? trace_feature_recipe(summary->trace, FEATURE_STACKS) : NULL,
        .saves = arena_printf(headline->texts, "gain not known: it takes %.1f %% of the time of operators",
                              quantity_percent(summary->top[0].share)),
        .command = "tpa top",
        .section = "operators",
    };
    if (headline->largest && !headline->answer->because) {
        headline->answer->headline = arena_printf(headline->texts, "%s.", headline->largest);
        headline->answer->because =
            "no GPU was recorded, nor why this takes so long: no single fault was found.";
    }
}

static void add_to_record_again(struct headline *headline)
{
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = "Record again",
        .title = "what a change saves is not known",
        .advice = copy(headline, as_text(headline->findings->withheld)),
        .saves = "gain not known",
        .command = "tpa info",
        .section = "summary",
    };
}

/* What the host does most of the recording, in which devices have no work, would have to be known. */
static void add_alone(struct headline *headline)
{
    const char *word = summary_device_word(headline->summary);
    double share = headline->alone_ns / recorded_of_devices(headline->summary);
    const char *price = arena_printf(headline->texts, "%s, %.1f %%", time_text(headline, headline->alone_ns),
                                     quantity_percent(share));
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = arena_printf(headline->texts, "See what the host does without the %s", word),
        .title =
            arena_printf(headline->texts, "the %s has no work before its first and after its last", word),
        .advice =
            "mark it with ranges (NVTX, roctx, record_function), or sample the host (perf, py-spy); if it is set-up, record without it",
        .saves =
            arena_printf(headline->texts, "gain not known: %s of the recording, is the host's alone", price),
        .gain = price,
        .command = "tpa top",
        .section = "operators",
    };
}

/* Where no finding saves enough: what the largest part would have to do, or what to record. */
static void add_instead(struct headline *headline)
{
    const struct findings *findings = headline->findings;
    if (findings->withheld) {
        add_to_record_again(headline);
        headline->answer->nothing = "No change is priced.";
    }
    if (!findings->priced)
        return;
    if (findings->of_unexplained.action)
        add_to_record(headline);
    if (findings->half.at)
        add_longest(headline);
    else if (!headline->summary->gpu && headline->summary->top_count && headline->summary->top[0].named)
        add_unpriced_longest(headline);
    headline->answer->nothing = arena_printf(headline->texts, "No single change would save %.1f %% of %s.",
                                             100 * FINDINGS_LEAST_SHARE, whole_word(headline));
}

/* On a page; a notice says the same in text. */
static void add_nothing(struct headline *headline)
{
    headline->answer->headline = "Nothing that takes time was recorded.";
    headline->answer->because = "";
    if (headline->answer->findings.count == 0)
        headline->answer->nothing =
            headline->findings->only_memory
                ? "Only memory was: tpa memory tells what held it."
                : arena_printf(headline->texts, "Record again: %s.", headline->findings->recipe);
}

void summary_add_headline(const struct summary *summary, const struct findings *findings,
                          struct result *result)
{
    enum { MOST = 5 };
    struct headline headline = {
        .summary = summary,
        .findings = findings,
        .answer = result_answer(result),
        .texts = &result->arena,
        .step = summary->account && summary->account->has_steps ? &summary->account->all : NULL,
    };
    if (headline.step)
        summary_add_steps(headline.answer, summary->trace, summary->account, summary->ranks[0].rank,
                          headline.texts);
    add_facts(&headline);
    add_verdict(&headline, result);
    add_change(&headline);
    add_rows(&headline);
    if (summary->gpu)
        add_device_bars(&headline);
    else if (!add_host_step_bar(&headline))
        add_host_bar(&headline);
    add_phases(&headline);
    if (headline.step && summary->by == SUMMARY_BY_ALL)
        headline.answer->pattern = account_pattern_sentence(summary->account, headline.texts);
    if (headline.alone_ns > 0)
        add_alone(&headline);
    bool longest_first = findings->count && findings->half.at && findings_are_pauses(findings);
    if (longest_first)
        add_longest(&headline);
    size_t room = MOST - headline.answer->findings.count;
    for (size_t i = 0; i < findings->count && i < room; i++)
        add_priced(&headline, &findings->at[i]);
    headline.answer->more_findings = findings->count > room ? findings->count - room : 0;
    if (findings->count && findings->half.at && !longest_first && headline.answer->findings.count < MOST)
        add_longest(&headline);
    add_now_and_then(&headline);
    headline.answer->in_text = summary->by == SUMMARY_BY_ALL;
    add_unpriced(&headline, MOST);
    if (headline.answer->findings.count == 0)
        add_instead(&headline);
    if (!findings->priced && !findings->withheld && !headline.answer->verdict)
        add_nothing(&headline);
    add_figures(&headline);
}
