#include "cli/sides.h"

#include "charts/timeline.h"
#include "cli/fleet_side.h"
#include "memory/snapshot_analysis.h"
#include <assert.h>
#include <sys/stat.h>

bool sides_find(const struct invocation *call, const struct opt_list *base, const struct opt_list *other,
                struct sides_found *found, struct tpa_error *err)
{
    bool by_options = base->count || other->count;
    if (by_options && (call->operand_count || !base->count || !other->count)) {
        tpa_fail(err, TPA_NOWHERE, "--base and --new go together, and without other files");
        return tpa_hint(err, "tpa %s --base a1.json a2.json --new b1.json b2.json", call->command->name);
    }
    if (!by_options && call->operand_count != 2) {
        tpa_fail(err, TPA_NOWHERE, "two sides are needed, and %zu %s given", call->operand_count,
                 call->operand_count == 1 ? "was" : "were");
        return tpa_hint(err, "tpa %s BASE NEW, or several files a side with --base and --new",
                        call->command->name);
    }
    const char *const *operands = (const char *const *)call->operands;
    found->paths[0] = by_options ? base->at : operands;
    found->paths[1] = by_options ? other->at : operands + 1;
    found->counts[0] = by_options ? base->count : 1;
    found->counts[1] = by_options ? other->count : 1;
    return true;
}

struct sides {
    const struct invocation *call;
    struct load_args load;
    const struct sides_options *options;
    struct result *saved; /* the first saved result; owned */
    bool like_saved;      /* also run its command on files */
    struct result *result;
};

static bool measure_part(struct sides *sides, struct measures *side, struct ingested *part,
                         struct result *result, struct tpa_error *err)
{
    const struct measure_options *options = &sides->options->measure;
    if (part->trace && sides->like_saved)
        return measure_trace_like(side, part->trace, sides->saved, err);
    if (part->trace)
        return measure_trace(side, part->trace, options, err);
    if (part->actions)
        return sides->like_saved ? measure_actions_like(side, part->actions, sides->saved, err)
                                 : measure_actions(side, part->actions, err);
    if (part->profile) {
        if (sides->options->strip_dirs)
            part->profile = profile_strip_dirs(part->profile, false);
        return sides->like_saved ? measure_profile_like(side, part->profile, sides->saved, err)
                                 : measure_profile(side, part->profile, options, err);
    }
    if (part->snapshots.of.count && sides->like_saved)
        return tpa_fail(err, TPA_NOWHERE, "a memory snapshot cannot be compared with a saved result");
    if (part->snapshots.of.count) {
        snapshot_add_file_notices(&part->snapshots, result);
        return measure_snapshots(side, &part->snapshots, err);
    }
    bool good = measure_result(side, part->result, err);
    if (!sides->saved) {
        sides->saved = part->result;
        part->result = NULL;
    }
    return good;
}

/* Is this a regular file that is already in SEEN, by file identity? Adds it. */
static bool was_seen(struct names *seen, const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0 || !S_ISREG(about.st_mode))
        return false;
    uint64_t key[] = { about.st_dev, about.st_ino };
    size_t known = names_count(seen);
    names_add(seen, (const char *)key, sizeof key);
    return names_count(seen) == known;
}

/* New; NULL if nothing takes time in it. */
static struct timeline *make_timeline(const struct trace *trace, int of)
{
    struct tpa_error none = { 0 };
    SCOPED_OBJECT struct selection *all = selection_open(trace, &(struct selection_query){ 0 }, &none);
    struct timeline *timeline = all ? chart_timeline(trace, all) : NULL;
    if (timeline)
        timeline->side = of ? "after" : "before";
    return timeline;
}

/* Have the sides a rank in common, and a recording? The first SPLIT files of SET are of the first side. */
static void find_common(const struct file_set *set, size_t split, bool *rank, bool *recording)
{
    *rank = *recording = false;
    for (size_t a = 0; a < split; a++)
        for (size_t b = split; b < set->count; b++) {
            bool same = set->files[a].rank == set->files[b].rank;
            *rank |= same;
            *recording |= same && set->files[a].cycle == set->files[b].cycle;
        }
}

/* The user decides what is compared; if it is not a run before and one after, that is said first. */
static void notice_sides(struct measures *const measured[2], struct result *result)
{
    SCOPED VEC_OF(struct set_record) records = { 0 };
    size_t split = measured[0]->records.count;
    for (int of = 0; of < 2; of++)
        for (size_t i = 0; i < measured[of]->records.count; i++) {
            struct set_record record = measured[of]->records.at[i];
            record.file += of ? (uint32_t)split : 0;
            *VEC_PUSH(&records) = record;
        }
    SCOPED_OBJECT struct file_set *set = file_set_find(records.at, records.count, TRACE_FILES_AS_FOUND);
    bool rank, recording;
    find_common(set, split, &rank, &recording);
    if (file_set_is_sure(set) && !recording) {
        SCOPED struct buffer text = { 0 };
        file_set_describe(set, &text);
        ADD_NOTICE(result, "sides_of_one_job", (int64_t)set->count,
                   "the sides are %s of one run, not two runs: together the files are %s",
                   rank ? "cycles" : "ranks", text.at);
        result->notices.at[result->notices.count - 1].on_top = true;
    }
}

/* New; NULL and ERR if a file cannot be read. */
static struct measures *measure_side(struct sides *sides, const struct sides_found *found, int of,
                                     struct result *result, struct tpa_error *err)
{
    assert(sides->saved || !sides->like_saved);
    struct measures *side = measures_open();
    struct trace_wants wants = sides->like_saved ? measure_wants_like(sides->saved->schema)
                                                 : measure_wants(&sides->options->measure);
    struct work_tree *tree = sides->options->trees && !sides->like_saved ? sides->options->trees[of] : NULL;
    if (tree)
        wants.args |= work_tree_wants.args;
    struct timeline **timeline =
        sides->options->timelines && !sides->like_saved ? &sides->options->timelines[of] : NULL;
    if (timeline) {
        struct trace_wants more = chart_timeline_wants();
        trace_wants_join(&wants, &more);
    }
    struct names *seen = names_open();
    bool good = true;
    for (size_t i = 0; i < found->counts[of] && good; i++) {
        struct invocation of_part = *sides->call;
        struct ingested part = { 0 };
        of_part.operands = (char **)(uintptr_t)&found->paths[of][i];
        of_part.operand_count = 1;
        good = load_any(&of_part, &sides->load, &wants, &part, err);
        if (!good)
            break;
        if (part.trace && found->counts[of] > 1 && measures_hold(side, part.trace)) {
            result_add_notice(result, "given_twice", 1, found->paths[of][i], TPA_NOWHERE,
                              "this recording was given more than once on one side and counts once");
            ingested_free(&part);
            continue;
        }
        load_add_lacks(&part, result); /* before a saved result is taken */
        side->lacks |= ingested_lacks(&part);
        good =
            measure_part(sides, side, &part, result, err) &&
            (!tree || !part.trace || work_tree_add(tree, part.trace, &(struct work_tree_options){ 0 }, err));
        if (good && part.trace && timeline && i == 0)
            *timeline = make_timeline(part.trace, of);
        if (!good)
            tpa_in_file(err, found->paths[of][i]);
        else if (part.trace && !sides->like_saved) /* already reported */
            load_add_notices(part.trace, result);
        if (good && !part.trace && was_seen(seen, found->paths[of][i]))
            result_add_notice(
                result, "given_twice", 1, found->paths[of][i], TPA_NOWHERE,
                "this file was given more than once on one side, and all that is in it counts as "
                "often");
        ingested_free(&part);
    }
    names_free(seen);
    if (good) {
        measures_finish(side);
        measures_add_lacks(side, result);
        return side;
    }
    arena_free(side);
    return NULL;
}

/* Rows of saved results cannot be changed. */
static bool sides_check_rows(const struct sides *sides, const struct measures *side, struct tpa_error *err)
{
    enum measure_by by = sides->options->measure.by;
    if (side->source != MEASURE_RESULTS || by == MEASURE_BY_OPERATOR || by == MEASURE_BY_KERNEL)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "a saved result has the rows that it was saved with, and --by cannot change them");
    return tpa_hint(err, "give --by to the command whose result you save");
}

static char *const *paths_of(const struct sides_found *found, int of)
{
    return (char *const *)(uintptr_t)found->paths[of];
}

/* Measure both sides as jobs of many ranks, because one of them has facts. */
static bool measure_fleets(const struct sides *sides, const struct sides_found *found,
                           struct measures *measured[2], struct result *result, struct tpa_error *err)
{
    bool good = true;
    for (int i = 0; i < 2 && good; i++) {
        SCOPED_BY(fleet_map_release) struct fleet_map map = { 0 };
        measured[i] = measures_open();
        good = fleet_side_measure(measured[i], paths_of(found, i), found->counts[i], &sides->load,
                                  &sides->options->measure, result, &map, err);
        measures_finish(measured[i]);
    }
    return good;
}

bool sides_measure(const struct invocation *call, const struct load_args *load,
                   const struct sides_found *found, const struct sides_options *options,
                   struct measures *measured[2], struct result *result, struct tpa_error *err)
{
    struct sides sides = { .call = call, .load = *load, .options = options, .result = result };
    sides.load.results = true;
    if (sides.load.files_are == TRACE_FILES_ARE_SIDES)
        sides.load.files_are = TRACE_FILES_AS_FOUND;
    measured[0] = measured[1] = NULL;
    bool fleets = fleet_side_is(paths_of(found, 0), found->counts[0]) ||
                  fleet_side_is(paths_of(found, 1), found->counts[1]);
    bool good = !fleets || measure_fleets(&sides, found, measured, result, err);
    for (int i = 0; i < 2 && good && !fleets; i++)
        good = (measured[i] = measure_side(&sides, found, i, result, err)) &&
               sides_check_rows(&sides, measured[i], err);
    for (int i = 0; i < 2 && good; i++) {
        if (measured[i]->source == MEASURE_RESULTS || measured[1 - i]->source != MEASURE_RESULTS)
            continue;
        sides.like_saved = true;
        arena_free(measured[i]);
        good = (measured[i] = measure_side(&sides, found, i, result, err)) != NULL;
    }
    result_free(sides.saved);
    if (good) {
        notice_sides(measured, result);
        return true;
    }
    for (int i = 0; i < 2; i++) {
        arena_free(measured[i]);
        measured[i] = NULL;
    }
    return false;
}
