/*
 * findings.c - see findings.h.
 *
 * A rule looks for its place first, which is cheap, and is replayed only when there is one.
 */
#include "summary/findings.h"

#include "analyze/roofline.h"
#include "base/quantity.h"
#include "base/runs.h"
#include "facts/attribution.h"
#include "facts/call_names.h"
#include "facts/callers.h"
#include "facts/collective_names.h"
#include "facts/communication.h"
#include "facts/copy_names.h"
#include "facts/features.h"
#include "facts/gpu_names.h"
#include "facts/step_list.h"
#include "replay/make_graph.h"
#include "replay/whatif.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct pricing {
    struct summary *summary;
    const struct trace *trace;
    const struct replay_graph *graph;
    struct findings *findings;
    int64_t last_launch_ns; /* when it began; INT64_MIN: none */
};

/* Of host time or device work that a rule is about: sums by name, and by rank as shares of its time. */
struct place {
    event_id longest; /* the event that took most; EVENT_NONE: there is none */
    name_id name;     /* the name that took most */
    int64_t time_ns;  /* of that name */
    int64_t all_ns;
};

static struct text kept(struct findings *findings, struct buffer *text)
{
    struct text copy = { NULL, text->count };
    if (text->count)
        copy.at = arena_strndup(&findings->texts, text->at, text->count);
    buffer_release(text);
    return copy;
}

/* ---- where ---- */

/* Does rule RULE's place include E? */
typedef bool place_holds(const struct trace *trace, event_id e);

static bool is_data_loading(const struct trace *trace, event_id e)
{
    return !event_on_device((enum event_kind)trace->kind[e]) &&
           annotation_is_data_loading(trace_name(trace, e));
}

static bool is_upload_from(const struct trace *trace, event_id e, enum copy_memory memory)
{
    if (trace->kind[e] != EVENT_MEMCPY)
        return false;
    struct copy_kind kind =
        copy_kind_with(copy_kind_of(trace_name(trace, e)), trace_arg_text(trace, ARG_COPY_MEMORY, e));
    return kind.direction == COPY_HTOD && kind.memory == memory;
}

static bool is_pageable_upload(const struct trace *trace, event_id e)
{
    return is_upload_from(trace, e, MEMORY_PAGEABLE);
}

static bool is_pinned_upload(const struct trace *trace, event_id e)
{
    return is_upload_from(trace, e, MEMORY_PINNED);
}

static bool is_copy_within(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_MEMCPY && copy_kind_of(trace_name(trace, e)).direction == COPY_DTOD;
}

static bool is_communication(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_KERNEL ? kernel_is_communication(trace_name(trace, e))
                                          : !event_on_device((enum event_kind)trace->kind[e]) &&
                                                collective_runs_on_host(trace_name(trace, e));
}

/* Whether an event is in the place may depend on its name alone, but names are few: each is asked once. */
static struct place find_place(const struct trace *trace, place_holds *holds)
{
    struct place place = { .longest = EVENT_NONE, .name = NAME_NONE };
    int64_t *sums = mem_zalloc(names_count(trace->names) + 1, sizeof *sums);
    uint8_t *asked = mem_zalloc(names_count(trace->names) + 1, sizeof *asked);
    enum { NOT_ASKED, NO, YES };
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t *answer = &asked[trace->name[e]];
        if (*answer == NOT_ASKED)
            *answer = holds(trace, e) ? YES : NO;
        if (*answer != YES)
            continue;
        sums[trace->name[e]] += trace->dur_ns[e];
        place.all_ns += trace->dur_ns[e];
        if (place.longest == EVENT_NONE || trace->dur_ns[e] > trace->dur_ns[place.longest])
            place.longest = e;
    }
    for (name_id id = 0; id < names_count(trace->names); id++)
        if (sums[id] > place.time_ns) {
            place.time_ns = sums[id];
            place.name = id;
        }
    free(sums);
    free(asked);
    return place;
}

/* "aten::copy_ (train.py(12): step)": the operator around E and its line, as far as they are recorded. */
static void add_caller(const struct pricing *pricing, event_id e, struct buffer *out)
{
    const struct trace *trace = pricing->trace;
    const struct attribution *launches = attribution_of(trace);
    event_id call = event_on_device((enum event_kind)trace->kind[e]) ? attribution_call(launches, e) : e;
    if (call == EVENT_NONE)
        return;
    struct callers *callers = callers_open(trace, &call, 1);
    event_id op = callers_operator(callers, call);
    size_t len = 0;
    const char *line = callers_line(callers, call, &len);
    if (op != EVENT_NONE && op != e)
        buffer_printf(out, "%s%s", out->count ? ", mostly by " : "", trace_name(trace, op));
    if (line)
        buffer_printf(out, "%s%.*s", out->count ? ", " : "", (int)len, line);
    callers_free(callers);
}

/* "16 of 16 ranks, 37.0 to 42.4 %, worst rank 0": SHARES of the time of each rank. Nothing for a single one. */
static void add_ranks(const struct summary *summary, const double *shares, struct buffer *out)
{
    size_t worst = 0, found = 0;
    double least = INFINITY;
    if (summary->rank_count < 2)
        return;
    for (size_t r = 0; r < summary->rank_count; r++) {
        if (!(shares[r] >= FINDINGS_LEAST_SHARE))
            continue;
        found++;
        least = fmin(least, shares[r]);
        worst = shares[r] > shares[worst] ? r : worst;
    }
    if (found == 0)
        return;
    buffer_printf(out, "%s%zu of %zu ranks, %.1f", out->count ? "; " : "", found, summary->rank_count,
                  quantity_percent(least));
    if (shares[worst] > least)
        buffer_printf(out, " to %.1f", quantity_percent(shares[worst]));
    buffer_printf(out, " %%, worst rank %lld", (long long)summary->ranks[worst].rank);
}

/*
 * By rank, the share of its time that the events of HOLDS took; all 0 where there is one rank, of which nothing is
 * said. New; free(). HOLDS requests name and kind alone, so each pair is asked once: for every kernel it was a sixth
 * of `tpa summary`.
 */
static double *rank_shares(const struct summary *summary, place_holds *holds)
{
    const struct trace *trace = summary->trace;
    double *shares = mem_zalloc(summary->rank_count + 1, sizeof *shares);
    if (summary->rank_count < 2)
        return shares;
    enum { NOT_ASKED, NO, YES };
    uint8_t *asked = mem_zalloc(names_count(trace->names) + 1, EVENT_KINDS);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t *answer = &asked[(size_t)trace->name[e] * EVENT_KINDS + trace->kind[e]];
        if (*answer == NOT_ASKED)
            *answer = holds(trace, e) ? YES : NO;
        if (*answer == NO)
            continue;
        const struct summary_rank *rank =
            summary_rank_of(summary, selection_rank(trace, trace->tracks[trace->track[e]].file));
        if (rank && rank->time_ns > 0)
            shares[rank - summary->ranks] += (double)trace->dur_ns[e] / (double)rank->time_ns;
    }
    free(asked);
    return shares;
}

/* By rank, the share of the span of its devices in which they idled for CAUSES. New; free(). */
static double *idle_shares(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    double *shares = mem_zalloc(summary->rank_count + 1, sizeof *shares);
    double *spans = mem_zalloc(summary->rank_count + 1, sizeof *spans);
    for (size_t i = 0; i < summary->gpu->count; i++) {
        const struct summary_rank *rank = summary_rank_of(summary, summary->gpu->at[i].key.rank);
        if (rank)
            spans[rank - summary->ranks] += (double)summary->gpu->at[i].span_ns;
    }
    for (size_t i = 0; i < summary->gaps->cause_count; i++) {
        const struct gap_cause_row *row = &summary->gaps->causes[i];
        const struct summary_rank *rank = summary_rank_of(summary, row->key.rank);
        for (size_t c = 0; rank && c < count; c++)
            if (row->cause == causes[c] && spans[rank - summary->ranks] > 0)
                shares[rank - summary->ranks] += (double)row->time_ns / spans[rank - summary->ranks];
    }
    free(spans);
    return shares;
}

static int64_t idle_for(const struct summary *summary, const enum gap_cause *causes, size_t count)
{
    int64_t sum_ns = 0;
    for (size_t c = 0; summary->gaps && c < count; c++)
        sum_ns += summary->gaps->part_ns[causes[c]];
    return sum_ns;
}

/* ---- a price ---- */

static void add_word(struct buffer *list, const char *word)
{
    buffer_printf(list, "%s%s", list->count ? ", " : "", word);
}

/* Add " --scale 'kernel:gemm.*=0.5'": safe to paste into a shell. */
static void add_option(struct buffer *command, const struct edit *edit)
{
    struct buffer words = { 0 };
    edit_describe(edit, &words);
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

/* The step with the edits of all findings so far, and with EDIT too if it is not NULL. */
static struct step_gain gain_with(const struct pricing *pricing, const struct edit *edit)
{
    const struct findings *findings = pricing->findings;
    struct edit *edits = mem_alloc(mem_times(findings->count + 1, sizeof *edits));
    struct step_gain gain = { 0 };
    struct tpa_error ignored = { 0 };
    for (size_t i = 0; i < findings->count; i++)
        edits[i] = findings->at[i].edit;
    if (edit)
        edits[findings->count] = *edit;
    whatif_gain(pricing->graph, edits, findings->count + (edit != NULL), &gain, &ignored);
    free(edits);
    return gain;
}

static bool find_rule(const struct findings *findings, const char *rule)
{
    for (size_t i = 0; i < findings->count; i++)
        if (strcmp(findings->at[i].rule.at, rule) == 0)
            return true;
    return false;
}

/*
 * What EDIT saves of a step at best once the findings so far are mended. A change of everything hides what they name,
 * too: launched as a graph, a step loads its data while the device computes. That is theirs, being easier to have.
 */
static int64_t saves_on_top(const struct pricing *pricing, const struct edit *edit)
{
    struct step_gain with = gain_with(pricing, edit);
    return with.now_ns > 0 ? gain_with(pricing, NULL).then_ns - with.then_ns : 0;
}

/* Replay with the edit of FINDING, which becomes one if that saves enough. SUBJECT names the rule where it does not. */
static bool price(struct pricing *pricing, struct priced_finding finding, const char *subject)
{
    struct findings *findings = pricing->findings;
    struct changes *changes = changes_open(pricing->graph);
    struct edit_effect effect = { 0, 0 };
    struct tpa_error ignored = { 0 };
    bool fine = edit_apply(&finding.edit, changes, &effect, &ignored) && effect.count > 0;
    struct step_gain gain = fine ? whatif_gain_of(changes) : (struct step_gain){ 0 };
    changes_free(changes);
    finding.saves_ns = gain.now_ns - gain.then_ns;
    struct buffer check = { 0 };
    buffer_puts(&check, "tpa whatif");
    if (fine && (finding.edit.kind == EDIT_CUDA_GRAPH ||
                 (finding.edit.kind == EDIT_NO_ALLOC && find_rule(findings, "first_use")))) {
        int64_t on_top_ns = saves_on_top(pricing, &finding.edit), alone_ns = finding.saves_ns;
        finding.saves_ns = on_top_ns < finding.saves_ns ? on_top_ns : finding.saves_ns;
        if (finding.edit.kind == EDIT_NO_ALLOC)
            findings->allocates_at_first_use = finding.saves_ns < alone_ns / 2;
        for (size_t i = 0; i < findings->count; i++)
            add_option(&check, &findings->at[i].edit);
    }
    int64_t most_ns = (int64_t)(finding.most_share * (double)gain.now_ns);
    if (finding.most_share > 0 && finding.saves_ns > most_ns) {
        finding.saves_ns = most_ns;
        findings->bounded = true;
    }
    add_option(&check, &finding.edit);
    finding.check = kept(findings, &check);
    finding.saves_share = gain.now_ns > 0 ? (double)finding.saves_ns / (double)gain.now_ns : 0;
    finding.time_ns = effect.time_ns;
    finding.count = (int64_t)effect.count;
    if (!fine || finding.saves_share < FINDINGS_LEAST_SHARE) {
        if (subject)
            add_word(&findings->quiet, subject);
        return false;
    }
    *VEC_PUSH(findings) = finding;
    return true;
}

static void add_blind(struct pricing *pricing, unsigned feature, const char *subject)
{
    struct findings *findings = pricing->findings;
    if (!(pricing->summary->features & feature))
        buffer_printf(&findings->blind, "%s%s (%s)", findings->blind.count ? "; " : "", subject,
                      trace_feature_recipe(pricing->trace, (enum trace_feature)feature));
}

/* ---- the rules ---- */

static void look_at_data_loading(struct pricing *pricing)
{
    struct place place = find_place(pricing->trace, is_data_loading);
    if (place.longest == EVENT_NONE) {
        add_word(&pricing->findings->quiet, "data loading");
        return;
    }
    const char *name = names_text(pricing->trace->names, place.name);
    bool alone = strstr(name, "_SingleProcessDataLoaderIter") != NULL;
    struct buffer where = { 0 };
    buffer_puts(&where, name);
    add_caller(pricing, place.longest, &where);
    double *shares = rank_shares(pricing->summary, is_data_loading);
    add_ranks(pricing->summary, shares, &where);
    free(shares);
    price(pricing,
          (struct priced_finding){
              .rule = as_text("data_loading"),
              .title = as_text("the loop waits for the next batch"),
              .where = kept(pricing->findings, &where),
              .advice = as_text(
                  alone ? "num_workers is 0, so the loop loads each batch by itself: DataLoader(..., "
                          "num_workers=4) loads beside it"
                        : "the workers are too slow: more of them (num_workers), or less work for each "
                          "sample (decode smaller images, cache, preprocess once)"),
              .edit = { .kind = EDIT_NO_DATA_WAIT } },
          "data loading");
}

/* A regular expression that matches NAME alone. */
static const char *pattern_of(struct findings *findings, struct text name)
{
    struct buffer pattern = { 0 };
    buffer_putc(&pattern, '^');
    for (size_t i = 0; i < name.len; i++) {
        if (strchr("\\^$.|?*+()[]{}", name.at[i]))
            buffer_putc(&pattern, '\\');
        buffer_putc(&pattern, name.at[i]);
    }
    buffer_putc(&pattern, '$');
    return kept(findings, &pattern).at;
}

/* When the last launch began; INT64_MIN: there is none. */
static int64_t last_launch_ns(const struct trace *trace, const unsigned char *sorts)
{
    int64_t last_ns = INT64_MIN;
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_call((enum event_kind)trace->kind[e]) && trace->start_ns[e] > last_ns &&
            (sorts[trace->name[e]] == CALL_LAUNCH || attribution_is_graph_launch(trace_name(trace, e))))
            last_ns = trace->start_ns[e];
    return last_ns;
}

/* The longest wait after which nothing is launched any more: the end of the recording. */
static void find_end_wait(struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    struct findings *findings = pricing->findings;
    unsigned char *sorts = call_sorts_open(trace->names);
    pricing->last_launch_ns = last_launch_ns(trace, sorts);
    for (event_id e = 0; e < trace->event_count && pricing->last_launch_ns != INT64_MIN; e++) {
        bool waits = event_is_call((enum event_kind)trace->kind[e]) && sorts[trace->name[e]] == CALL_SYNC;
        if (!waits || trace->start_ns[e] < pricing->last_launch_ns ||
            trace->dur_ns[e] <= findings->end_wait_ns)
            continue;
        findings->end_wait_ns = trace->dur_ns[e];
        findings->end_wait =
            (struct text){ trace_name(trace, e), names_length(trace->names, trace->name[e]) };
    }
    free(sorts);
}

/* Is anything launched after a call called NAME began? */
static bool is_followed(const struct pricing *pricing, struct text name)
{
    const struct trace *trace = pricing->trace;
    name_id id = names_find(trace->names, name.at, name.len);
    for (event_id e = 0; e < trace->event_count && id != NAME_NONE; e++)
        if (trace->name[e] == id && trace->start_ns[e] < pricing->last_launch_ns)
            return true;
    return false;
}

/* Each operator that made the host wait is a finding of its own: the costliest few. */
static void look_at_waits(struct pricing *pricing)
{
    enum { MOST = 5 };
    struct findings *findings = pricing->findings;
    const struct transfers *transfers = pricing->summary->transfers;
    size_t asked = 0, found = 0;
    for (size_t i = 0; transfers && i < transfers->stalls.count && asked < MOST; i++) {
        const struct stall_row *stall = &transfers->stalls.at[i];
        bool repeated = stall->saving_ns <= 0;
        for (size_t k = 0; k < i && !repeated; k++)
            repeated = transfers->stalls.at[k].op.len == stall->op.len &&
                       memcmp(transfers->stalls.at[k].op.at, stall->op.at, stall->op.len) == 0;
        if (repeated || !is_followed(pricing, stall->call))
            continue;
        asked++;
        struct buffer title = { 0 }, where = { 0 };
        buffer_printf(&title, "%s waits for the device", stall->op.at);
        buffer_printf(&where, "%s, %s", stall->op.at, stall->cause.at);
        if (stall->line.at)
            buffer_printf(&where, ", %.*s", (int)stall->line.len, stall->line.at);
        const char *pattern = pattern_of(findings, stall->op);
        found +=
            price(pricing,
                  (struct priced_finding){
                      .rule = as_text("host_wait"),
                      .title = kept(findings, &title),
                      .where = kept(findings, &where),
                      .advice = (struct text){ arena_strndup(&findings->texts,
                                                             stall->advice.at ? stall->advice.at : "",
                                                             stall->advice.len),
                                               stall->advice.len },
                      .edit = { .kind = EDIT_NO_SYNC, .pattern = pattern, .pattern_len = strlen(pattern) } },
                  NULL);
    }
    if (found == 0)
        add_word(&findings->quiet, "waits of the host");
}

/* Copies that HOLDS says, called SUBJECT where they are not worth a change. Without an edit of its own FINDING is priced as if
 * those of the name that takes most time took none. */
static void look_at_copies_of(struct pricing *pricing, bool (*holds)(const struct trace *trace, event_id e),
                              struct priced_finding finding, const char *subject)
{
    struct findings *findings = pricing->findings;
    const struct place place = find_place(pricing->trace, holds);
    if (place.longest == EVENT_NONE) {
        add_word(&findings->quiet, subject);
        return;
    }
    struct buffer where = { 0 };
    const char *name = names_text(pricing->trace->names, place.name);
    buffer_puts(&where, name);
    add_caller(pricing, place.longest, &where);
    finding.where = kept(findings, &where);
    if (finding.edit.kind == EDIT_SCALE) {
        const char *pattern = pattern_of(findings, as_text(name));
        finding.edit.pattern = pattern;
        finding.edit.pattern_len = strlen(pattern);
    }
    price(pricing, finding, subject);
}

static void look_at_copies(struct pricing *pricing)
{
    const struct edit without = { .kind = EDIT_SCALE, .target = TARGET_COPY };
    look_at_copies_of(
        pricing, is_pageable_upload,
        (struct priced_finding){
            .rule = as_text("pageable_copies"),
            .title = as_text("copies from pageable memory block the host"),
            .advice =
                as_text("pin the batches, DataLoader(..., pin_memory=True), and copy with non_blocking=True"),
            .edit = { .kind = EDIT_PINNED_COPIES } },
        "copies from pageable memory");
    look_at_copies_of(
        pricing, is_pinned_upload,
        (struct priced_finding){
            .rule = as_text("pinned_copies"),
            .title = as_text("copies from pinned memory to the device"),
            .advice = as_text("copy ahead, on a stream of its own, while the device computes "
                              "(prefetch the next batch); keep on the device what is used again"),
            .edit = without },
        "copies from pinned memory");
    look_at_copies_of(
        pricing, is_copy_within,
        (struct priced_finding){
            .rule = as_text("device_copies"),
            .title = as_text("copies within the device"),
            .advice =
                as_text("remove copies that only move data: contiguous(), cat, clone and layout changes "
                        "between operators; write results into place"),
            .edit = without },
        "copies within devices");
}

/* A rule whose place is idle time of devices for some causes. */
struct idle_rule {
    const char *rule, *subject, *title, *advice;
    enum edit_kind edit;
    enum gap_cause causes[4];
    size_t cause_count;
};

static const struct idle_rule launch_rule = {
    "launches",
    "launches",
    "the host launches work too slowly",
    "capture the whole step as a CUDA graph, as torch.compile(model, mode=\"reduce-overhead\") does where it "
    "can; fused optimizers (fused=True) and larger batches save a part of it",
    EDIT_CUDA_GRAPH,
    { GAP_HOST, GAP_LAUNCH_LATENCY, GAP_LAUNCH_CALL },
    3
};

/* First use before allocation, much of which may be just that. */
static const struct idle_rule idle_rules[] = {
    { "first_use",
      "first use",
      "first use: modules are loaded, kernels are chosen",
      "leave the first steps out of the recording (schedule(wait=..., warmup=...)); before serving, run once",
      EDIT_NO_FIRST_USE,
      { GAP_FIRST_USE },
      1 },
    { "allocation",
      "allocation",
      "memory is allocated by the driver in the steps",
      "keep shapes constant, so that the caching allocator can reuse its memory, or set "
      "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True; do not call empty_cache() in the loop",
      EDIT_NO_ALLOC,
      { GAP_ALLOCATION },
      1 },
};

/* Collectives are captured under conditions only, so the price leaves them between the graphs. */
static const char *const launch_advice_of_ranks =
    "capture what lies between the collectives as CUDA graphs (torch.compile with mode=\"reduce-overhead\"); "
    "fused optimizers (fused=True) and larger batches save a part of it";

static void look_at_idle_time(struct pricing *pricing, const struct idle_rule *rule)
{
    bool among_ranks =
        rule->edit == EDIT_CUDA_GRAPH && find_place(pricing->trace, is_communication).longest != EVENT_NONE;
    struct buffer where = { 0 };
    double *shares = idle_shares(pricing->summary, rule->causes, rule->cause_count);
    add_ranks(pricing->summary, shares, &where);
    /* Launched at once, the devices cannot win more than they idle for launches: on one rank, or on one after the other. */
    double most_share = 0;
    for (size_t i = 0; rule->edit == EDIT_CUDA_GRAPH && i < pricing->summary->rank_count; i++)
        most_share += shares[i] > 0 ? shares[i] : 0;
    free(shares);
    price(pricing,
          (struct priced_finding){ .rule = as_text(rule->rule),
                                   .title = as_text(rule->title),
                                   .where = kept(pricing->findings, &where),
                                   .advice = as_text(among_ranks ? launch_advice_of_ranks : rule->advice),
                                   .most_share = most_share,
                                   .edit = { .kind = rule->edit } },
          rule->subject);
}

static void look_at_idleness(struct pricing *pricing)
{
    for (size_t i = 0; i < sizeof idle_rules / sizeof *idle_rules; i++) {
        const struct idle_rule *rule = &idle_rules[i];
        if (idle_for(pricing->summary, rule->causes, rule->cause_count) == 0)
            add_word(&pricing->findings->quiet, rule->subject);
        else
            look_at_idle_time(pricing, rule);
    }
}

/* ", where gemm took 27.9 ms longer": what made RANK late when it was latest. */
static void add_reason(const struct comm *comm, int64_t rank, struct buffer *out)
{
    const struct comm_late *latest = NULL;
    for (size_t i = 0; i < comm->lateness.count; i++) {
        const struct comm_late *late = &comm->lateness.at[i];
        if (late->last == rank && late->grew.at && late->late_ns > (latest ? latest->late_ns : 0))
            latest = late;
    }
    if (!latest)
        return;
    buffer_puts(out, ", when latest by ");
    quantity_show_rounded_time(out, (double)latest->grew_ns);
    buffer_puts(out, " more of ");
    buffer_add(out, latest->grew.at, latest->grew.len);
}

/* "rank 1": the one that the others waited for longest. */
static void add_latest_rank(const struct comm *comm, struct buffer *out)
{
    const struct comm_rank *latest = NULL;
    for (size_t i = 0; comm && i < comm->ranks.count; i++)
        if (comm->ranks.at[i].late_ns > (latest ? latest->late_ns : 0))
            latest = &comm->ranks.at[i];
    if (!latest)
        return;
    buffer_printf(out, "mostly rank %lld", (long long)latest->rank);
    add_reason(comm, latest->rank, out);
}

static void look_at_communication(struct pricing *pricing)
{
    struct place place = find_place(pricing->trace, is_communication);
    if (place.longest == EVENT_NONE)
        return;
    struct buffer where = { 0 };
    buffer_puts(&where, names_text(pricing->trace->names, place.name));
    double *shares = rank_shares(pricing->summary, is_communication);
    add_ranks(pricing->summary, shares, &where);
    free(shares);
    bool alone = pricing->summary->rank_count < 2 &&
                 !event_on_device((enum event_kind)pricing->trace->kind[place.longest]);
    bool found = price(
        pricing,
        (struct priced_finding){
            .rule = as_text("communication"),
            .title = as_text("communication is not hidden behind computation"),
            .where = kept(pricing->findings, &where),
            .advice = as_text(
                "start it earlier and wait later (DDP buckets, FSDP prefetch), or send less: accumulate "
                "or compress gradients"),
            .edit = { .kind = EDIT_OVERLAP_COMM } },
        alone ? NULL : "communication");
    if (alone && !found) /* which gap of the loop waited for it is known of matched ranks alone */
        add_blind(pricing, FEATURE_RANKS, "communication on the host");
    if (pricing->summary->rank_count < 2)
        return;
    struct buffer latest = { 0 };
    add_latest_rank(pricing->summary->comm, &latest);
    price(
        pricing,
        (struct priced_finding){
            .rule = as_text("slow_ranks"),
            .title = as_text("ranks wait for slower ones"),
            .where = kept(pricing->findings, &latest),
            .advice = as_text("look at what the slower ranks do: their share of the work, their data, their "
                              "machine (tpa comm)"),
            .edit = { .kind = EDIT_RANKS_LIKE_MEDIAN } },
        "slow ranks");
}

/* Kernels of matrix products that run without tensor cores, where the device has some: as if they took half. */
static void look_at_tensor_cores(struct pricing *pricing)
{
    enum { MOST = 8 };
    const struct summary *summary = pricing->summary;
    const struct trace *trace = pricing->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    int64_t *sums = mem_zalloc(names_count(trace->names) + 1, sizeof *sums), all_ns = 0, matrix_ns = 0;
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        if (trace->kind[e] != EVENT_KERNEL)
            continue;
        all_ns += trace->dur_ns[e];
        if (gpu->op[i] != EVENT_NONE && summary_multiplies_matrices(trace_name(trace, gpu->op[i])) &&
            summary_has_tensor_cores(summary, selection_rank(trace, trace->tracks[trace->track[e]].file),
                                     trace->tracks[trace->track[e]].device) &&
            kernel_tensor_use(trace_name(trace, e)) == TENSOR_NO) {
            sums[trace->name[e]] += trace->dur_ns[e];
            matrix_ns += trace->dur_ns[e];
        }
    }
    struct buffer pattern = { 0 }, where = { 0 };
    for (size_t n = 0; n < MOST && matrix_ns * 20 > all_ns; n++) { /* less than 5 % is not looked at */
        name_id most = 0;
        for (name_id id = 1; id < names_count(trace->names); id++)
            most = sums[id] > sums[most] ? id : most;
        if (sums[most] == 0)
            break;
        const char *name = pattern_of(pricing->findings, as_text(names_text(trace->names, most)));
        buffer_printf(&pattern, "%s%s", pattern.count ? "|" : "", name);
        if (where.count == 0)
            buffer_puts(&where, names_text(trace->names, most));
        sums[most] = 0;
    }
    free(sums);
    struct text names = kept(pricing->findings, &pattern);
    if (!names.at) {
        add_word(&pricing->findings->quiet, "tensor cores");
        buffer_release(&where);
        return;
    }
    price(
        pricing,
        (struct priced_finding){
            .rule = as_text("tensor_cores"),
            .title = as_text("matrix products run without tensor cores (as if they took half)"),
            .where = kept(pricing->findings, &where),
            .advice = as_text(
                "mixed precision (torch.autocast), or torch.set_float32_matmul_precision(\"high\") for TF32 (tpa kernels shows which)"),
            .edit = { .kind = EDIT_SCALE,
                      .target = TARGET_KERNEL,
                      .pattern = names.at,
                      .pattern_len = names.len,
                      .factor = 0.5 } },
        "tensor cores");
}

/* What the slowest operator, by the time it could win, is called: "aten::mm [[8, 8], [8, 8]]". */
static void add_slowest(const struct roofline *roofline, struct buffer *out)
{
    const struct roofline_row *most = NULL;
    for (size_t i = 0; i < roofline->rows.count; i++) {
        const struct roofline_row *row = &roofline->rows.at[i];
        if (row->share < ROOFLINE_SLOW && (!most || row->won_ns > most->won_ns))
            most = row;
    }
    if (most)
        buffer_printf(out, "%s %s, mostly bound by %s", most->name.at, most->shapes.at ? most->shapes.at : "",
                      most->bound.at ? most->bound.at : "nothing");
}

/* Operators far below what the device could. */
struct slow_operators {
    bool looked;                /* else the trace does not have what it takes */
    struct buffer title, where; /* empty: they take less than 5 % of the device time */
};

/* Before there is a graph: of large traces, the rows of tpa roofline take as much memory as that. */
static struct slow_operators find_slow_operators(const struct summary *summary)
{
    struct slow_operators slow = { .looked = summary->gpu && summary->features & FEATURE_SHAPES };
    if (!slow.looked)
        return slow;
    struct selection *all =
        selection_open(summary->trace, &(struct selection_query){ 0 }, &(struct tpa_error){ 0 });
    struct roofline *roofline = roofline_analyze(summary->trace, all, BY(OP) | BY(SHAPE), NULL);
    int64_t slow_ns = 0;
    for (size_t d = 0; d < roofline->devices.count; d++)
        slow_ns += roofline->devices.at[d].rated_ns > 0 ? roofline->devices.at[d].slow_ns : 0;
    if (slow_ns * 20 > roofline->time_ns) {
        add_slowest(roofline, &slow.where);
        buffer_printf(&slow.title,
                      "%.1f %% of the device time runs below %.0f %% of the peak (as if it reached that)",
                      100 * (double)slow_ns / (double)roofline->time_ns, 100 * ROOFLINE_SLOW);
    }
    roofline_free(roofline);
    selection_free(all);
    return slow;
}

/* As if they reached ROOFLINE_SLOW of it. */
static void look_at_slow_operators(struct pricing *pricing, struct slow_operators *slow)
{
    struct findings *findings = pricing->findings;
    if (slow->looked && slow->title.count)
        price(
            pricing,
            (struct priced_finding){
                .rule = as_text("below_peak"),
                .title = kept(findings, &slow->title),
                .where = kept(findings, &slow->where),
                .advice = as_text(
                    "larger batches or fewer, fused operators (torch.compile) where they are small; a lower precision "
                    "where they are bound by compute (tpa roofline shows which)"),
                .edit = { .kind = EDIT_AT_PEAK, .factor = ROOFLINE_SLOW } },
            "operators below the peak");
    else if (slow->looked)
        add_word(&findings->quiet, "operators below the peak");
}

/* ---- the whole ---- */

static bool saves_less(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct priced_finding *)a)->saves_ns < ((const struct priced_finding *)b)->saves_ns;
}

static void price_together(struct pricing *pricing)
{
    struct step_gain gain = gain_with(pricing, NULL);
    pricing->findings->step_ns = gain.now_ns;
    pricing->findings->together_ns = gain.then_ns;
    int64_t rest_ns = gain.now_ns;
    for (size_t i = 0; i < pricing->findings->count; i++)
        rest_ns -= pricing->findings->at[i].saves_ns;
    if (pricing->findings->bounded && pricing->findings->together_ns < rest_ns)
        pricing->findings->together_ns = rest_ns;
}

struct findings *findings_analyze(struct summary *summary)
{
    struct findings *findings = mem_zalloc(1, sizeof *findings);
    struct slow_operators slow = find_slow_operators(summary);
    struct pricing pricing = { .summary = summary,
                               .trace = summary->trace,
                               .graph = replay_graph_of(summary->trace),
                               .findings = findings };
    findings->has_steps = step_list_of(summary->trace)->count > 0;
    findings->priced = pricing.graph->moment_count > 0;
    if (!findings->priced) {
        buffer_release(&slow.title);
        buffer_release(&slow.where);
        return findings;
    }
    look_at_data_loading(&pricing);
    if (summary->gpu) {
        find_end_wait(&pricing);
        look_at_waits(&pricing);
        look_at_copies(&pricing);
        look_at_idleness(&pricing);
        look_at_tensor_cores(&pricing);
        look_at_slow_operators(&pricing, &slow);
    }
    look_at_communication(&pricing);
    if (summary->gpu && summary->features & FEATURE_LAUNCHES)
        look_at_idle_time(&pricing, &launch_rule); /* last: see saves_on_top */
    add_blind(&pricing, FEATURE_GPU, "what concerns devices");
    add_blind(&pricing, FEATURE_STEPS, "prices of a step");
    add_blind(&pricing, FEATURE_RANKS, "slow ranks");
    if (summary->gpu) {
        add_blind(&pricing, FEATURE_LAUNCHES, "launches and waits");
        add_blind(&pricing, FEATURE_SHAPES, "shares of the peak");
    }
    runs_sort(findings->at, findings->count, sizeof *findings->at, saves_less, NULL);
    price_together(&pricing);
    return findings;
}

void findings_free(struct findings *findings)
{
    if (!findings)
        return;
    buffer_release(&findings->quiet);
    buffer_release(&findings->blind);
    arena_release(&findings->texts);
    free(findings->at);
    free(findings);
}

/* ---- tables ---- */

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct priced_finding, title, "finding", "Finding", TABLE_NAME, "what costs time"),
    COLUMN(struct priced_finding, saves_ns, "saves", "Saves", TABLE_NS, "of a step at best, by replaying the trace without it"),
    COLUMN(struct priced_finding, saves_share, "saves_share", "Of a step", TABLE_SHARE, "the same as a share of the step time"),
    COLUMN(struct priced_finding, where, "where", "Where", TABLE_TEXT, "operator, line of source, ranks", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, advice, "advice", "What to do", TABLE_TEXT, "the change", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, check, "check", "Prediction", TABLE_TEXT, "a command that shows it; then tpa diff before and after", .flags = TABLE_LINE),
    COLUMN(struct priced_finding, count, "events", "Events", TABLE_TALLY, "what the change touches in the recording", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, time_ns, "time", "Time", TABLE_NS, "time of these, added up", .flags = TABLE_OPTIONAL),
    COLUMN(struct priced_finding, rule, "rule", "Rule", TABLE_TEXT, "its name, for scripts", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

static void on_top(struct result *result)
{
    result->notices.at[result->notices.count - 1].on_top = true;
}

/* The first sentence is the answer. */
static void tell_answer(const struct findings *findings, struct result *result)
{
    const char *of = findings->has_steps ? "a step" : "the recording";
    if (findings->count == 0) {
        result_add_notice(result, "answer", 0, NULL, TPA_NOWHERE,
                          "no change that tpa knows of would save %.1f %% of %s", 100 * FINDINGS_LEAST_SHARE,
                          of);
        on_top(result);
        return;
    }
    const struct priced_finding *first = &findings->at[0];
    struct buffer saves = { 0 }, step = { 0 };
    quantity_show_rounded_time(&saves, (double)first->saves_ns);
    quantity_show_rounded_time(&step, (double)findings->step_ns);
    result_add_notice(result, "answer", 1, NULL, TPA_NOWHERE,
                      "what pays most: %s; without that, %s of %s would take %.1f %% less (%s at best): %s",
                      first->title.at, step.at, of, quantity_percent(first->saves_share), saves.at,
                      first->advice.at);
    on_top(result);
    buffer_release(&saves);
    buffer_release(&step);
}

static void tell_rest(const struct findings *findings, struct result *result)
{
    if (findings->count > 0) {
        result_add_notice(result, "check", 0, NULL, TPA_NOWHERE,
                          "after a change, to see what it saved: tpa diff BEFORE AFTER");
        result_make_minor(result);
    }
    if (findings->end_wait_ns > 0) {
        struct buffer time = { 0 };
        quantity_show_rounded_time(&time, (double)findings->end_wait_ns);
        result_add_notice(
            result, "end_of_recording", 1, NULL, TPA_NOWHERE,
            "the last wait (%s, %s) is the end of the recording: nothing is launched after it, so it saves nothing",
            findings->end_wait.at, time.at);
        result_make_minor(result);
        buffer_release(&time);
    }
    if (findings->quiet.count) {
        result_add_notice(result, "nothing_found", 0, NULL, TPA_NOWHERE,
                          "looked at, and not worth a change: %s", findings->quiet.at);
        result_make_minor(result);
    }
    if (findings->blind.count) {
        result_add_notice(result, "not_looked_at", 0, NULL, TPA_NOWHERE, "not looked at: %s",
                          findings->blind.at);
        result_make_minor(result);
    }
}

void findings_add_result(const struct findings *findings, struct result *result)
{
    if (!findings->priced)
        return;
    tell_answer(findings, result);
    if (findings->count > 0) {
        struct table *table = TABLE_OF_ROWS("findings", "What to change, what saves most first", columns,
                                            findings->at, findings->count);
        table->sort_column = table_column_at(table, offsetof(struct priced_finding, saves_ns));
        table_add_footer(table, "step", findings->has_steps ? "A step takes, median" : "The recording takes",
                         TABLE_NS, table_int(findings->step_ns));
        table_add_footer(table, "together", "With all of these", TABLE_NS, table_int(findings->together_ns));
        result_add_table(result, table);
    }
    tell_rest(findings, result);
}

const struct table_shape findings_tables[] = {
    TABLE_SHAPE("findings", columns),
    { 0 },
};
