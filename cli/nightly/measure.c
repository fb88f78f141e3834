/* measure.c - the files of one run, measured; see nightly.h. */
#include "cli/fleet_side.h"
#include "cli/sides.h"
#include "cli/nightly/nightly.h"

#include "memory/snapshot_analysis.h"
#include <assert.h>

enum { NS_PER_S = 1000000000 };

/* When the trace began, as a date: tpa info's rule. 0: not recorded. */
static int64_t begin_of(const struct trace *trace, const struct trace_file *file)
{
    if (file->event_count == 0)
        return 0;
    int64_t first_ns = INT64_MAX;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        bool counts = trace->kind[e] != EVENT_SPAN && !(trace->flags[e] & EVENT_POINT);
        first_ns = counts && trace_start_ns(trace, e) < first_ns ? trace_start_ns(trace, e) : first_ns;
    }
    if (first_ns == INT64_MAX ||
        (file->has_base && __builtin_add_overflow(file->base_ns, first_ns, &first_ns)))
        return 0;
    return first_ns >= (int64_t)NS_PER_S * NS_PER_S ? first_ns : 0;
}

static void inspect_files(const struct trace *trace, struct nightly_measured *measured)
{
    for (size_t f = 0; f < trace->file_count; f++) {
        int64_t begin_ns = begin_of(trace, &trace->files[f]);
        if (begin_ns > 0 && (measured->time_ns == 0 || begin_ns < measured->time_ns))
            measured->time_ns = begin_ns;
        if (trace->files[f].host_name && !measured->host)
            measured->host = mem_strdup(trace->files[f].host_name);
    }
}

static bool measure_part(struct measures *measures, struct ingested *part,
                         const struct measure_options *options, struct nightly_measured *measured,
                         struct result *result, struct tpa_error *err)
{
    if (part->profile) {
        night_hash_profile(&measured->hash, part->profile);
        return measure_profile(measures, part->profile, options, err);
    }
    if (part->actions) {
        night_hash_actions(&measured->hash, part->actions);
        return measure_actions(measures, part->actions, err);
    }
    if (part->snapshots.of.count) {
        night_hash_snapshots(&measured->hash, &part->snapshots);
        snapshot_add_file_notices(&part->snapshots, result);
        return measure_snapshots(measures, &part->snapshots, err);
    }
    assert(part->trace);
    night_hash_trace(&measured->hash, part->trace);
    inspect_files(part->trace, measured);
    if (!measure_trace(measures, part->trace, options, err))
        return false;
    load_add_notices(part->trace, result);
    return true;
}

/* Facts record the same as the trace: the start of the first event, and the host. */
static void inspect_facts(const struct facts *facts, struct nightly_measured *measured)
{
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++) {
        int64_t begin_ns = recordings[i].start_ns;
        if (begin_ns >= (int64_t)NS_PER_S * NS_PER_S &&
            (measured->time_ns == 0 || begin_ns < measured->time_ns))
            measured->time_ns = begin_ns;
        if (recordings[i].host != NAME_NONE && !measured->host)
            measured->host = mem_strdup(names_text(facts->texts, recordings[i].host));
    }
}

static bool measure_fleet_run(const struct invocation *call, struct measures *measures,
                              const struct measure_options *options, struct nightly_measured *measured,
                              struct result *result, struct tpa_error *err)
{
    const struct nightly_args *args = call->args;
    struct fleet_map map;
    bool good = fleet_side_measure(measures, call->operands, call->operand_count, &args->load, options,
                                   result, &map, err);
    if (good) {
        night_hash_facts(&measured->hash, map.facts);
        inspect_facts(map.facts, measured);
    }
    fleet_map_release(&map);
    return good;
}

/* An empty recording would be the fastest night of all. */
static bool check_figures(const struct night *night, struct tpa_error *err)
{
    if (ANY(i, night->figures.count, strcmp(night->figures.at[i].table, NIGHT_HEAD) != 0))
        return true;
    tpa_fail(err, TPA_NOWHERE, "the files hold nothing that could be compared from run to run");
    return tpa_hint(err, "tpa info FILE shows what is in them");
}

/* A recording that is not complete cannot be judged. */
static void nightly_mark_damage(struct night *night, unsigned lacks)
{
    if (lacks == 0)
        return;
    SCOPED struct buffer why = { 0 };
    buffer_puts(&why, "its recording is not complete (");
    lacks_append_meaning(&why, lacks);
    buffer_putc(&why, ')');
    night_mark(night, why.at);
}

bool nightly_measure(const struct invocation *call, struct nightly_measured *measured, struct result *result,
                     struct tpa_error *err)
{
    const struct nightly_args *args = call->args;
    struct measure_options options = { .by = MEASURE_BY_OPERATOR };
    struct trace_wants wants = measure_wants(&options);
    struct measures *measures = measures_open();
    *measured = (struct nightly_measured){ 0 };
    bool fleet = fleet_side_is(call->operands, call->operand_count);
    bool good = !fleet || measure_fleet_run(call, measures, &options, measured, result, err);
    for (size_t i = 0; i < call->operand_count && good && !fleet; i++) {
        struct invocation of_part = *call;
        struct ingested part;
        of_part.operands = &call->operands[i];
        of_part.operand_count = 1;
        good = load_any(&of_part, &args->load, &wants, &part, err);
        if (!good)
            break;
        if (part.trace && call->operand_count > 1 && measures_hold(measures, part.trace)) {
            result_add_notice(result, "given_twice", 1, call->operands[i], TPA_NOWHERE,
                              "this recording was given more than once and counts once");
            ingested_free(&part);
            continue;
        }
        load_add_lacks(&part, result);
        measures->lacks |= ingested_lacks(&part);
        good = measure_part(measures, &part, &options, measured, result, err);
        if (!good)
            tpa_in_file(err, call->operands[i]);
        ingested_free(&part);
    }
    if (good) {
        measures_finish(measures);
        measures_add_lacks(measures, result);
        const char *ranks = measures_fact(measures, "ranks");
        measured->ranks = ranks ? mem_strdup(ranks) : NULL;
        measured->night = night_of(measures);
        /* A recording that lacks something is another than the whole one, whose events it may have. */
        measured->hash.low += measures->lacks * UINT64_C(0x9e3779b97f4a7c15);
        nightly_mark_damage(measured->night, measures->lacks & ~(args->missing_ranks ? LACKS_FILES : 0));
        good = check_figures(measured->night, err) &&
               (args->missing_ranks || gate_check_ranks(measures, "this run", err));
    }
    arena_free(measures);
    if (!good)
        nightly_measured_release(measured);
    return good;
}

void nightly_measured_release(struct nightly_measured *measured)
{
    arena_free(measured->night);
    EACH(free, measured->host, measured->ranks);
    *measured = (struct nightly_measured){ 0 };
}
