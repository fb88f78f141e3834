#include "summary/headline_parts.h"

#include "analyze/info.h"
#include "base/names.h"
#include "derive/features.h"
#include "summary/figures.h"
#include "summary/headline.h"
#include "trace/lost_work.h"
#include <inttypes.h>
#include <string.h>

/* ---- what ran ---- */

static void add_fact(struct headline *headline, const char *label, const char *text)
{
    if (text && *text)
        *VEC_PUSH(&headline->answer->facts) = (struct answer_fact){ label, text };
}

size_t headline_device_count(const struct gpu *gpu)
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
    return count == 1 ? headline_copy(headline, name)
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
        headline_time(headline, (double)headline->step->step_ns),
        headline->step->count > 1 ? " on average" : "", singular ? " without the slowest" : "");
}

void headline_add_facts(struct headline *headline)
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
             begin ? arena_printf(headline->texts, "%s, %s UTC", headline_time(headline, (double)longest_ns),
                                  begin)
                   : headline_time(headline, (double)longest_ns));
    add_fact(headline, "Steps", steps_text(headline));
    bool is_known = !text_begins_with(program, PROGRAM_NOT_RECORDED);
    if (is_known || headline->answer->facts.count < 4) /* more do not fit in a line */
        add_fact(headline, "Versions", versions_text(headline));
    add_fact(headline, "Written by", trace_producer_name(trace->files[0].producer));
}

/* ---- where the time went ---- */

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

static void headline_add_use(struct headline_use *use, const struct gpu_row *row)
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
static void add_account(struct headline_use *use, const struct account_rank *of)
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

struct headline_use headline_use_of(const struct summary *summary, int64_t rank)
{
    struct headline_use use = { .rank = rank };
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
static double waiting_share(const struct headline_use *use)
{
    return use->used_ns[USE_COMMUNICATION] / use->span_ns;
}

static void add_part(struct headline *headline, struct answer_bar *bar, struct answer_part part,
                     double whole_ns)
{
    double ns = part.share * whole_ns;
    if (!(part.share > 0))
        return;
    part.figure = headline_time(headline, ns);
    *VEC_PUSH(&bar->parts) = part;
}

double headline_cause_of(const struct headline_use *use, enum gap_cause cause, bool apart)
{
    return use->cause_ns[cause] - (apart && cause == GAP_HOST ? use->before_ns + use->after_ns : 0);
}

void headline_order_causes(const struct headline_use *use, bool apart, enum gap_cause order[GAP_CAUSES])
{
    for (size_t i = 0; i < GAP_CAUSES; i++) { /* a few, and equals stay in order */
        size_t at = i;
        for (; at > 0 && headline_cause_of(use, (enum gap_cause)i, apart) >
                             headline_cause_of(use, order[at - 1], apart);
             at--)
            order[at] = order[at - 1];
        order[at] = (enum gap_cause)i;
    }
}

static void add_idle_parts(struct headline *headline, const struct headline_use *use, double whole_ns,
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
    headline_order_causes(use, true, order);
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
    for (size_t i = 0; i < GAP_CAUSES && headline_cause_of(use, order[i], true) >= LEAST_PART * use->span_ns;
         i++) {
        rest_ns -= headline_cause_of(use, order[i], true);
        add_part(headline, bar,
                 (struct answer_part){
                     .title = arena_printf(headline->texts, "idle: %s", gap_causes[order[i]].name),
                     .share = headline_cause_of(use, order[i], true) / use->span_ns,
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
static void add_device_bar(struct headline *headline, const struct headline_use *use, const char *title,
                           double length, double whole_ns)
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
    const char *device = summary_device_word(headline->summary), *whole = headline_time(headline, whole_ns);
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
static size_t choose_ranks(const struct summary *summary, struct headline_use chosen[MOST_RANKS])
{
    size_t count = 0;
    for (size_t r = 0; r < summary->rank_count; r++) {
        struct headline_use one = headline_use_of(summary, summary->ranks[r].rank);
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
    struct headline_use chosen[MOST_RANKS];
    const struct summary *summary = headline->summary;
    struct headline_use all = headline_use_of(summary, TABLE_INT_MISSING);
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
        return headline_copy(headline, as_text(name));
    while (cut > 0 && ((unsigned char)name[cut] & 0xc0) == 0x80) /* within a character */
        cut--;
    return arena_printf(headline->texts, "%.*s...", (int)cut, name);
}

double headline_part_share(const struct account_rank *rank, enum account_part part)
{
    return rank && rank->step_ns > 0 ? (double)account_part_ns(rank, part) / (double)rank->step_ns : 0;
}

const struct account_rank *headline_waiting_rank(const struct headline *headline)
{
    const struct account *account = headline->summary->account;
    const struct account_rank *most = NULL;
    double most_share = 0.5;
    for (size_t i = 0; account && account->count > 1 && i < account->count; i++) {
        double share = headline_part_share(&account->at[i], ACCOUNT_HOST_COMMUNICATION);
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
    const struct account_rank *rank = headline_waiting_rank(headline);
    struct answer_bar bar = { .length = 1 };
    rank = rank ? rank : headline->step;
    if (!rank || headline_part_share(rank, ACCOUNT_HOST_OPERATORS) >= 0.5)
        return false;
    for (size_t part = ACCOUNT_HOST_OPERATORS; part <= ACCOUNT_HOST_OUTSIDE; part++)
        add_part(headline, &bar,
                 (struct answer_part){ .title = account_part_name(part),
                                       .share = headline_part_share(rank, (enum account_part)part),
                                       .color = colors[part],
                                       .section = "steps" },
                 (double)rank->step_ns);
    if (bar.parts.count == 0)
        return false;
    bool of_rank = headline->summary->rank_count > 1 && rank != headline->step;
    const char *length = headline_time(headline, (double)rank->step_ns);
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

const char *headline_recorded_word(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    double recorded_ns = 0;
    size_t devices = headline_device_count(summary->gpu);
    for (size_t i = 0; i < summary->rank_count; i++)
        recorded_ns += (double)summary->ranks[i].time_ns;
    if (devices > summary->rank_count)
        recorded_ns *= (double)devices / (double)summary->rank_count;
    if (!summary->gpu && 2 * summary->top_ns < recorded_ns)
        return arena_printf(headline->texts, "of %s recorded", headline_time(headline, recorded_ns));
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
                     summary->has_frames ? " and Python functions" : "", headline_time(headline, whole_ns),
                     summary->rank_count > 1 ? "a rank, on average" : headline_recorded_word(headline));
    headline->answer->bars_ns = (int64_t)whole_ns;
    headline->answer->bars_of = summary->has_frames
                                    ? "own time of operators and Python functions"
                                    : arena_printf(headline->texts, "own time of %s on the host", op_word);
    *VEC_PUSH(&headline->answer->bars) = bar;
}

void headline_add_bars(struct headline *headline)
{
    if (headline->summary->gpu)
        add_device_bars(headline);
    else if (!add_host_step_bar(headline))
        add_host_bar(headline);
}
