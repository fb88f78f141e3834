/* pricing.c - see pricing.h. */
#include "summary/pricing.h"

#include "base/memory_room.h"
#include "base/parallel.h"
#include "derive/features.h"
#include <stdlib.h>
#include <string.h>

void pricing_init(struct pricing *pricing, struct summary *summary, struct findings *findings)
{
    *pricing = (struct pricing){ .summary = summary,
                                 .trace = summary->trace,
                                 .graph = step_times_graph_of(summary->trace),
                                 .findings = findings };
    pricing->together = changes_open(pricing->graph);
}

static void forget_offers(struct pricing *pricing)
{
    for (size_t i = 0; i < pricing->offers.count; i++)
        arena_free(pricing->offers.at[i].changes);
    VEC_FREE(&pricing->offers);
}

void pricing_release(struct pricing *pricing)
{
    forget_offers(pricing);
    arena_free(pricing->together);
}

struct text pricing_keep(struct pricing *pricing, struct buffer *text)
{
    struct text copy = { NULL, text->count };
    if (text->count)
        copy.at = arena_strndup(arena_of(pricing->findings), text->at, text->count);
    buffer_release(text);
    return copy;
}

void pricing_offer(struct pricing *pricing, struct offer offer)
{
    *VEC_PUSH(&pricing->offers) = offer;
}

void pricing_add_quiet(struct pricing *pricing, const char *subject)
{
    pricing_offer(pricing, (struct offer){ .subject = subject });
}

static void describe_blind(struct pricing *pricing, const char *subject, const char *because)
{
    struct buffer *blind = &pricing->findings->blind;
    buffer_printf(blind, "%s%s (%s)", blind->count ? "; " : "", subject, because);
}

/* There is nothing in OFFER. */
static void describe_none(struct pricing *pricing, const struct offer *offer)
{
    struct findings *findings = pricing->findings;
    if (offer->unpriced)
        findings->unpriced = offer->subject;
    if (offer->because)
        describe_blind(pricing, offer->subject, offer->because);
    else if (offer->subject && !offer->unpriced)
        buffer_printf(&findings->quiet, "%s%s", findings->quiet.count ? ", " : "", offer->subject);
}

void pricing_add_option(const struct pricing *pricing, const struct edit *edit, struct buffer *command)
{
    struct buffer words = { 0 };
    edit_describe(edit, trace_device_type(pricing->trace), &words);
    size_t option = strcspn(words.at, " ");
    buffer_printf(command, " %.*s", (int)option, words.at);
    if (words.at[option]) {
        buffer_puts(command, " '");
        for (const char *c = words.at + option + 1; *c; c++)
            buffer_printf(command, *c == '\'' ? "'\\''" : "%c", *c);
        buffer_putc(command, '\'');
    }
    buffer_release(&words);
}

struct step_gain pricing_gain(const struct pricing *pricing, const struct edit *edit)
{
    struct step_gain gain = { 0 };
    struct tpa_error ignored = { 0 };
    whatif_gain(pricing->graph, edit, 1, &gain, &ignored);
    return gain;
}

struct step_gain pricing_gain_together(struct pricing *pricing)
{
    if (!pricing->is_replayed)
        pricing->gain = step_times_gain(pricing->together);
    pricing->is_replayed = true;
    return pricing->gain;
}

/* Make EDIT beside those of all findings so far; CHANGES: what it changes alone, NULL: that is to be found. */
static void add_edit(struct pricing *pricing, const struct edit *edit, const struct changes *changes)
{
    struct edit_effect effect;
    struct tpa_error ignored = { 0 };
    if (!changes || !changes_lay_over(pricing->together, changes))
        edit_apply(edit, pricing->together, &effect, &ignored);
    pricing->is_replayed = false;
}

struct step_gain pricing_gain_of_later(struct pricing *pricing)
{
    bool all = true;
    for (size_t i = 0; i < pricing->findings->count; i++)
        all &= finding_is_change(&pricing->findings->at[i]);
    if (!all) {
        changes_clear(pricing->together);
        pricing->is_replayed = false;
        for (size_t i = 0; i < pricing->findings->count; i++)
            if (finding_is_change(&pricing->findings->at[i]))
                add_edit(pricing, &pricing->findings->at[i].edit, NULL);
    }
    return pricing_gain_together(pricing);
}

/* The finding of RULE; NULL: there is none. */
static const struct priced_finding *find_rule(const struct findings *findings, const char *rule)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->at[i].rule.at, rule) == 0)
            return &findings->at[i];
    return NULL;
}

/* As many as there are workers, as long as there is memory for what each knows of every moment. */
static unsigned replays_at_once(const struct pricing *pricing)
{
    enum { BYTES_OF_MOMENT = 8 };
    unsigned workers = pricing->trace->workers ? pricing->trace->workers : 1;
    uint64_t each = (uint64_t)pricing->graph->moment_count * BYTES_OF_MOMENT + 1;
    struct memory_room room;
    if (memory_room(&room) && room.bytes / 2 / each < workers)
        workers = room.bytes / 2 < each ? 1 : (unsigned)(room.bytes / 2 / each);
    return workers;
}

/* How much of the ALONE_NS that OFFER saves alone is left once WHOLE is mended, 0 to 1. */
static double share_left(const struct pricing *pricing, const struct offer *offer, int64_t alone_ns,
                         const struct priced_finding *whole)
{
    const struct edit both[] = { whole->edit, offer->finding.edit };
    struct step_gain gain = { 0 };
    struct tpa_error ignored = { 0 };
    if (alone_ns <= 0 || !whatif_gain(pricing->graph, both, 2, &gain, &ignored))
        return 0;
    return (double)(whole->then_ns - gain.then_ns) / (double)alone_ns;
}

/* Is SHARE of a step that the host alone costs, of one recorded step, no more than its begin and its end leave open? Whether the host
 * of the next step begins while the device still works, as after a wait that is not recorded, is not known then. */
static bool is_of_ends(const struct pricing *pricing, double share)
{
    const double ends = 0.02; /* of a step: as far as steps of the host and of devices may differ */
    const struct account *account = pricing->summary->account;
    return account && account->has_steps && account->steps.count == 1 && account->all.device_count > 0 &&
           share < ends;
}

/* Without devices: does FINDING replace the operator that takes longest, or are most pieces of it, by time, shorter with CHANGES? */
static bool is_of_longest(const struct pricing *pricing, const struct priced_finding *finding,
                          const struct changes *changes)
{
    const struct summary *summary = pricing->summary;
    const struct replay_graph *graph = pricing->graph;
    const char *name = NULL;
    for (size_t i = 0; i < summary->top_count && !name; i++)
        name = summary->top[i].named ? summary->top[i].name : NULL;
    name_id longest = name ? names_find(pricing->trace->names, name, strlen(name)) : NAME_NONE;
    int64_t all_ns = 0, shorter_ns = 0;
    for (const char *const *replaced = finding->replaces; replaced && *replaced && name; replaced++)
        if (strcmp(*replaced, name) == 0)
            return true;
    for (moment_id m = 1; m < graph->host_count && !summary->gpu && longest != NAME_NONE; m++) {
        event_id inner = graph->inner[m];
        if (inner == EVENT_NONE || pricing->trace->name[inner] != longest)
            continue;
        int64_t piece_ns = replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1);
        all_ns += piece_ns;
        shorter_ns += factors_get(&changes->piece, m) < 1 ? piece_ns : 0;
    }
    return 2 * shorter_ns > all_ns;
}

/* Does what OFFER changes save enough? Then it is added to the findings. */
static bool settle(struct pricing *pricing, const struct offer *offer)
{
    struct findings *findings = pricing->findings;
    struct priced_finding finding = offer->finding;
    struct step_gain gain = offer->gain;
    finding.saves_ns = gain.now_ns - gain.then_ns;
    finding.saves_low_ns = finding.saves_high_ns = TABLE_INT_MISSING;
    finding.then_ns = gain.then_ns;
    finding.saves_share = gain.now_ns > 0 ? (double)finding.saves_ns / (double)gain.now_ns : 0;
    finding.time_ns = offer->effect.time_ns;
    finding.count = (int64_t)offer->effect.count;
    if (!offer->fits || finding.saves_share < FINDINGS_LEAST_SHARE ||
        (offer->of_host && is_of_ends(pricing, finding.saves_share)))
        return false;
    const double mostly = 0.5;
    const struct priced_finding *whole = offer->part_of ? find_rule(findings, offer->part_of) : NULL;
    if (whole &&
        share_left(pricing, offer, finding.saves_ns, whole) < mostly) { /* one change, which has a finding */
        findings->allocates_at_first_use |= finding.edit.kind == EDIT_NO_ALLOC;
        return false;
    }
    finding.of_longest = is_of_longest(pricing, &finding, offer->changes);
    add_edit(pricing, &finding.edit, offer->changes);
    struct buffer check = { 0 };
    buffer_puts(&check, "tpa whatif");
    pricing_add_option(pricing, &finding.edit, &check);
    finding.check = pricing_keep(pricing, &check);
    if (offer->complete)
        offer->complete(pricing, &finding, offer);
    *VEC_PUSH(findings) = finding;
    return true;
}

/* May GAIN be a finding? */
static bool may_pay(const struct step_gain *gain)
{
    return (double)(gain->now_ns - gain->then_ns) >= FINDINGS_LEAST_SHARE * (double)gain->now_ns;
}

/* A parallel_task: replay with the edit of an offer alone. The last changes most, and takes longest: it begins first. */
static void replay_offer(void *context, size_t turn)
{
    const struct pricing *pricing = context;
    struct offer *offer = &pricing->offers.at[pricing->offers.count - 1 - turn];
    struct tpa_error ignored = { 0 };
    if (!offer->finding.rule.at)
        return;
    struct changes *changes = changes_open(pricing->graph);
    offer->fits =
        edit_apply(&offer->finding.edit, changes, &offer->effect, &ignored) && offer->effect.count > 0;
    if (offer->fits)
        offer->gain = step_times_gain(changes);
    if (offer->fits && may_pay(&offer->gain))
        offer->changes = changes;
    else
        arena_free(changes);
}

void pricing_settle(struct pricing *pricing)
{
    parallel_run(replays_at_once(pricing), pricing->offers.count, replay_offer, pricing);
    for (size_t i = 0; i < pricing->offers.count; i++) {
        struct offer *offer = &pricing->offers.at[i];
        bool found = offer->finding.rule.at ? settle(pricing, offer)
                                            : offer->unless && find_rule(pricing->findings, offer->unless);
        arena_free(offer->changes);
        offer->changes = NULL;
        if (!found)
            describe_none(pricing, offer);
    }
    forget_offers(pricing);
}

void pricing_add_blind(struct pricing *pricing, unsigned feature, const char *subject)
{
    if (!(pricing->summary->features & feature))
        describe_blind(pricing, subject, trace_feature_recipe(pricing->trace, (enum trace_feature)feature));
}
