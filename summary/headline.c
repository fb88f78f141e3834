#include "summary/headline.h"

#include "analyze/account_tables.h"
#include "analyze/step_phases.h"
#include "base/quantity.h"
#include "derive/features.h"
#include "summary/figures.h"
#include "summary/headline_parts.h"
#include "summary/rules.h"
#include "summary/steps_over_time.h"
#include "summary/unexplained.h"
#include "trace/lost_work.h"
#include <inttypes.h>
#include <string.h>

const char *headline_copy(struct headline *headline, struct text text)
{
    return text.at ? arena_strndup(headline->texts, text.at, text.len) : NULL;
}

const char *headline_time_of(struct headline *headline, double ns, double of_ns)
{
    struct buffer text = { 0 };
    quantity_append_time_of(&text, ns, of_ns);
    const char *kept = arena_strndup(headline->texts, text.at, text.count);
    buffer_release(&text);
    return kept;
}

const char *headline_time(struct headline *headline, double ns)
{
    return headline_time_of(headline, ns, ns);
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
    bool is_of_first_steps = headline_first_lasting(headline->findings) == headline->findings->count;
    const char *price =
        arena_printf(headline->texts, "%s, %.1f %%", headline_time(headline, (double)finding->saves_ns),
                     quantity_percent(finding->saves_share));
    bool unexplained = finding->unexplained;
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .title = headline_copy(headline, finding->title),
        .action = headline_copy(headline, finding->action),
        .saves_ns = finding_is_change(finding) ? finding->saves_ns : 0,
        .saves =
            unexplained ? arena_printf(headline->texts, "gain not known: %s of %s is unexplained", price,
                                       headline_whole_word(headline))
            : finding->once
                ? arena_printf(headline->texts,
                               headline->findings->has_steps
                                   ? "%s of %s, in the first step only: later steps do not have it"
                                   : "%s of %s, once, in the beginning: what comes later does not have it",
                               price, headline_whole_word(headline))
                : arena_printf(headline->texts, "saves %s %s of %s%s%s%s", finding_price_word(finding), price,
                               headline_whole_word(headline), finding->with.len ? ", with " : "",
                               finding->with.len ? arena_printf(headline->texts, "%s, too", finding->with.at)
                                                 : "",
                               is_of_first_steps ? ", which is not like later steps" : ""),
        .gain = unexplained     ? price
                : finding->once ? arena_printf(headline->texts,
                                               headline->findings->has_steps ? "%s, in the first step only"
                                                                             : "%s, once, in the beginning",
                                               price)
                                : arena_printf(headline->texts, "%s %s", finding_price_word(finding), price),
        .was = headline_copy(headline, finding->was),
        .code = headline_copy(headline, finding->code),
        .where = headline_copy(headline, finding->where),
        .advice = headline_copy(headline, finding->advice),
        .command = headline_copy(headline, finding->check),
        .section = finding->section,
        .place = headline_copy(headline, finding->place),
        .unrecorded = unexplained,
        .of_ranks = headline_rule_of(finding) == FINDING_SLOW_RANKS,
    };
    find_place(headline, finding->rule.at,
               &headline->answer->findings.at[headline->answer->findings.count - 1]);
}

/* "39.736ms more than the median, 5.3 % of the time of all steps". */
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

/* Where FINDING is, in few words: "step 9, most of it in CPU", whose number stays where a screen shows the begin and the end alone. NULL: it is
 * not known. */
static const char *brief_place(struct headline *headline, const struct finding *finding)
{
    static const char marked[] = "ProfilerStep#";
    if (!finding->detail || !text_begins_with(finding->detail, marked))
        return finding->detail ? headline_copy(headline, as_text(finding->detail)) : NULL;
    return arena_printf(headline->texts, "step %s", finding->detail + strlen(marked));
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
            .where = brief_place(headline, finding),
            .advice = finding->advice ? headline_copy(headline, as_text(finding->advice)) : NULL,
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
    const char *now = headline_time(headline, (double)findings->step_ns);
    const char *whole = findings->has_steps ? arena_printf(headline->texts, "A step takes %s", now)
                        : headline_is_replayed_less(headline, 0.9)
                            ? arena_printf(headline->texts, "%s of the recording", now)
                            : arena_printf(headline->texts, "The recording takes %s", now);
    size_t first = headline_first_lasting(findings);
    if (first < findings->count && findings->at[first].unexplained)
        headline->answer->now_and_then =
            arena_printf(headline->texts, "%s, %s of it unexplained", whole,
                         headline_time(headline, (double)findings->at[first].saves_ns));
    else if (first < findings->count)
        headline->answer->now_and_then = arena_printf(headline->texts, "%s -> %s at best", whole,
                                                      headline_time(headline, (double)findings->together_ns));
    else if (findings->count)
        headline->answer->now_and_then =
            arena_printf(headline->texts, "%s, of which later steps do not have %s", whole,
                         headline_time(headline, (double)findings->at[0].saves_ns));
    else if (headline->step)
        headline->answer->now_and_then = arena_printf(
            headline->texts, "A step takes %s", headline_time(headline, (double)headline->step->step_ns));
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
    size_t first = headline_first_lasting(findings), count = 0;
    while (first < findings->count && !finding_is_change(&findings->at[first]))
        first++;
    if (!findings->priced || first == findings->count ||
        LEAST_OF_ALL * headline->alone_ns > (double)findings->at[first].saves_ns)
        return;
    /* Findings without a price stand before these. */
    size_t before = (size_t)(headline->alone_ns > 0) + (size_t)findings_longest_first(findings);
    answer->from_ns = findings->step_ns;
    answer->to_ns = findings->at[first].then_ns;
    answer->together_ns = findings->together_ns;
    for (size_t i = 0; i < findings->count; i++)
        if (finding_is_change(&findings->at[i])) {
            answer->alone_ns += findings->at[i].saves_ns;
            answer->last_change = before + i + 1;
            count++;
        }
    const char *then = headline_time_of(headline, (double)answer->to_ns, (double)answer->from_ns),
               *together = headline_time_of(headline, (double)findings->together_ns, (double)answer->from_ns),
               *rest = count == 1 ? ""
                       : strcmp(then, together) == 0
                           ? "; the others add nothing to it"
                           : arena_printf(headline->texts, "; with %s: %s",
                                          name_changes(headline, count, before), together);
    answer->change_note =
        arena_printf(headline->texts, "%s, at best, with change %zu (%s)%s; predicted by replay",
                     headline_is_replayed_less(headline, 0.9995) ? "the replayed part of the recording"
                                                                 : headline_whole_word(headline),
                     before + first + 1, headline_change_of(headline, &findings->at[first]), rest);
}

/* What takes longest on devices; without them on the host. */
static void add_rows(struct headline *headline)
{
    const struct summary *summary = headline->summary;
    for (size_t i = 0; i < summary->top_count; i++)
        *VEC_PUSH(&headline->answer->rows) =
            (struct answer_row){ .name = summary->gpu || summary->top[i].named
                                             ? headline_copy(headline, as_text(summary->top[i].name))
                                             : "(outside of operators)",
                                 .ns = summary->top[i].time_ns,
                                 .share = summary->top[i].share };
    if (summary->gpu) /* else the bar shows them */
        headline->answer->rows_word = summary->top_is_work ? "Kernels" : "Operators";
    headline->answer->rows_section = "operators";
    headline->answer->rows_title =
        arena_printf(headline->texts, "Operators by time on the %s, of %s %s",
                     summary->gpu ? summary_device_word(summary) : "host",
                     headline_time(headline, summary->top_ns), headline_recorded_word(headline));
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
    struct headline_use use = headline_use_of(summary, TABLE_INT_MISSING);
    struct buffer events = { 0 };
    quantity_append_tally(&events, (int64_t)summary->trace->event_count);
    add_figure(headline, "timeline",
               arena_printf(headline->texts, "%.*s events", (int)events.count, events.at));
    buffer_release(&events);
    add_figure(headline, "summary",
               arena_printf(headline->texts, "%zu",
                            headline->answer->findings.count + headline->answer->more_findings));
    if (headline->step)
        add_figure(headline, "steps", headline_time(headline, (double)headline->step->step_ns));
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
        .where = headline_copy(headline, unexplained->longest),
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
        arena_printf(headline->texts, "%s, %.1f %%", headline_time(headline, (double)findings->half_saves_ns),
                     quantity_percent(findings->half_saves_share));
    /* No line above has what it is a share of, and the bar of devices may be of less: from the first to the last work. */
    const char *gain = findings->has_steps || !headline->summary->gpu
                           ? half
                           : arena_printf(headline->texts, "%s of %s replayed",
                                          headline_time(headline, (double)findings->half_saves_ns),
                                          headline_time(headline, (double)findings->step_ns));
    bool is_short = findings->longest_name.len <= 32; /* it has room in a line */
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = is_short ? arena_printf(headline->texts, "Make %s faster", findings->longest_name.at)
                           : arena_printf(headline->texts, "Make the longest %s faster", findings->longest),
        .title = "it takes longest",
        .where = is_short ? NULL : headline_copy(headline, findings->longest_name),
        .place = headline_copy(headline, findings->longest_name),
        .advice =
            findings->longest_advice.len
                ? headline_copy(headline, findings->longest_advice)
                : "no change is known that does that: do less in it, use smaller types or a faster implementation",
        .saves = arena_printf(headline->texts, "if it took half its time: %s of %s", half,
                              headline_whole_word(headline)),
        .gain = arena_printf(headline->texts, "if it took half its time: %s", gain),
        .command = headline_copy(headline, findings->half),
        .section = headline->summary->gpu ? "kernels" : "operators",
    };
}

/* Does the host mostly start programs that JAX compiled, one after the other? Such calls are on no path that is replayed. */
static bool starts_programs(const struct summary *summary)
{
    static const char *const starts[] = { "PjitFunction", "CommonPjRtLoadedExecutable::Execute",
                                          "PjRtCpuExecutable::Execute", "TfrtCpuExecutable::Execute" };
    bool found = false;
    for (size_t i = 0; i < sizeof starts / sizeof *starts && summary->top_count && !summary->gpu; i++)
        found |= summary->top[0].named && text_begins_with(summary->top[0].name, starts[i]);
    return found;
}

static void add_starts(struct headline *headline)
{
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = "Do several steps in one program",
        .title = "to start programs takes the host longest",
        .code = "jax.lax.scan(step, state, batches)",
        .advice =
            "let one jitted function do several steps (jax.lax.scan, jax.lax.fori_loop), or larger ones: larger "
            "batches; to start a program takes the same time however little it computes",
        .where = headline_copy(headline, as_text(headline->summary->top[0].name)),
        .saves = arena_printf(headline->texts, "gain not known: it takes %.1f %% of the time of operators",
                              quantity_percent(headline->summary->top[0].share)),
        .command = "tpa top",
        .section = "operators",
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
        .where = headline_copy(headline, as_text(summary->top[0].name)),
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
        .advice = headline_copy(headline, as_text(headline->findings->withheld)),
        .saves = "gain not known",
        .command = "tpa info",
        .section = "summary",
    };
}

/* What the host does most of the recording, in which devices have no work, would have to be known. */
static void add_alone(struct headline *headline)
{
    const char *word = summary_device_word(headline->summary);
    double share = headline->alone_ns / headline_recorded_of_devices(headline->summary);
    const char *price = arena_printf(headline->texts, "%s, %.1f %%",
                                     headline_time(headline, headline->alone_ns), quantity_percent(share));
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

/* What others wait for lies in ranks that were not recorded. */
static void add_ranks_to_record(struct headline *headline)
{
    int64_t rank = headline->summary->comm->outside_rank;
    *VEC_PUSH(&headline->answer->findings) = (struct answer_finding){
        .action = rank < 0 ? "Record all ranks"
                           : arena_printf(headline->texts, "Record rank %" PRId64 ", too", rank),
        .title = "ranks wait for others that were not recorded",
        .advice = "give the recordings of all ranks, or their directory: they tell what these do meanwhile",
        .saves = "gain not known: what is waited for was not recorded",
        .command = "tpa fleet DIRECTORY",
        .section = "communication",
        .of_ranks = true,
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
    if (headline_waits_outside(headline->summary))
        add_ranks_to_record(headline);
    if (findings->of_unexplained.action)
        add_to_record(headline);
    if (findings->half.at)
        add_longest(headline);
    else if (!headline->summary->gpu && headline->summary->top_count && headline->summary->top[0].named)
        add_unpriced_longest(headline);
    headline->answer->nothing =
        arena_printf(headline->texts, "No single change would save even %.1f %% of %s.",
                     100 * FINDINGS_LEAST_SHARE, headline_whole_word(headline));
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
    headline_add_facts(&headline);
    headline_add_verdict(&headline, result);
    add_change(&headline);
    add_rows(&headline);
    headline_add_bars(&headline);
    add_phases(&headline);
    if (headline.step && summary->by == SUMMARY_BY_ALL)
        headline.answer->pattern = account_pattern_sentence(summary->account, headline.texts);
    if (headline.alone_ns > 0)
        add_alone(&headline);
    bool longest_first = findings_longest_first(findings);
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
    if (findings->count == 0 && starts_programs(summary))
        add_starts(&headline);
    add_unpriced(&headline, MOST);
    if (headline.answer->findings.count == 0)
        add_instead(&headline);
    if (!findings->priced && !findings->withheld && !headline.answer->verdict)
        add_nothing(&headline);
    add_figures(&headline);
}
