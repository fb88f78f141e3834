/* cmd_facts.c - `tpa facts`: the data of a rank for tpa fleet, as a small mergeable file. */
#include "cli/commands.h"
#include "cli/fleet_map.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "figures/facts_file.h"
#include "fleet/rounds.h"
#include <sys/stat.h>
#include <unistd.h>

struct facts_args {
    const char *path, *apart, *job;
    int round;
    uint64_t slices;
    struct load_args load;
};

static const struct facts_args facts_defaults = { .slices = 64, .load = LOAD_DEFAULTS };

enum round { ROUND_NONE, ROUND_JOB, ROUND_ENDS, ROUND_CLOCKS, ROUND_JUDGE };

static const struct opt_choice rounds[] = {
    { "none", "facts", NULL, NULL },
    { "job", "the facts that the next rounds need, of all ranks", NULL, NULL },
    { "ends", "of these, and a file apart: when its collectives ended", NULL, NULL },
    { "clocks", "of these, and the ends of all files: clocks of all ranks", NULL, NULL },
    { "judge", "of these, the clocks, and a file apart: who was last in its collectives, and who waited",
      NULL, NULL },
    { 0 },
};

static const struct opt facts_opts[] = {
    OPT_GROUP("Facts"),
    OPT_FILE('o', "output", struct facts_args, path, "FILE",
             "write to FILE, which appears whole or not at all"),
    OPT_TEXT(0, "job", struct facts_args, job, "NAME", "name of the job: facts of other jobs are kept apart"),
    OPT_FILE(
        0, "apart", struct facts_args, apart, "FOLDER",
        "write collectives to files in FOLDER, which is new: all ranks of one go to files of equal name"),
    OPT_COUNT(0, "slices", struct facts_args, slices, 1, 100000, "N", "so many files at most"),
    OPT_CHOICE(0, "round", struct facts_args, round, rounds, "ROUND",
               "for engines that have collectives in files apart on many machines: write what a round makes"),
    LOAD_OPTIONS_APART(struct facts_args, load),
    OPT_END,
};

static bool save_facts(const struct facts *facts, FILE *out, struct tpa_error *err)
{
    return facts_save(facts, out) || tpa_fail_errno(err, "cannot write the facts");
}

/* Keep only the groups of the members of JOB, whose collectives are processed. */
static void keep_groups(struct facts *facts, const struct fleet_job *job)
{
    struct facts_rows *rows = &facts->tables[FACTS_GROUPS];
    struct facts_group *groups = rows->at;
    size_t kept = 0;
    for (size_t i = 0; i < rows->count; i++)
        if (fleet_job_find(job, groups[i].recording) != FLEET_NO_MEMBER)
            groups[kept++] = groups[i];
    rows->count = kept;
}

/* Reduce the facts of all ranks to what the other rounds need: recordings, steps, and the groups of the job. */
static bool save_job(struct facts *facts, const struct fleet_job *job, FILE *out, struct tpa_error *err)
{
    static const enum facts_table unneeded[] = { FACTS_DEVICES, FACTS_NAMES, FACTS_COLLECTIVES, FACTS_NOTICES,
                                                 FACTS_OPERATIONS };
    for (size_t i = 0; i < sizeof unneeded / sizeof *unneeded; i++)
        facts->tables[unneeded[i]].count = 0;
    if (!rounds_possible(job, err))
        return false;
    keep_groups(facts, job);
    return save_facts(facts, out, err);
}

static bool save_round(enum round round, struct fleet_map *map, FILE *out, struct tpa_error *err)
{
    if (round == ROUND_NONE)
        return save_facts(map->facts, out, err);
    const struct fleet_files *files = fleet_map_apart(map);
    struct fleet_job job;
    SCOPED_ARENA struct arena scratch = { 0 };
    fleet_job_init(&job, map->facts, &scratch);
    bool good;
    if (round == ROUND_JOB)
        good = save_job(map->facts, &job, out, err);
    else if (!files)
        good = tpa_fail(err, TPA_NOWHERE, "there are no collectives in files apart");
    else
        good = (round == ROUND_ENDS     ? rounds_save_ends
                : round == ROUND_CLOCKS ? rounds_save_clocks
                                        : rounds_save_judged)(&job, files, out, err);
    return good;
}

static bool write_facts(const struct facts_args *args, struct fleet_map *map, struct tpa_error *err)
{
    struct output_file file;
    if (!args->path && isatty(STDOUT_FILENO)) {
        tpa_fail(err, TPA_NOWHERE, "facts are binary, and this is a terminal");
        return tpa_hint(err, "-o rank0.facts writes them to a file");
    }
    if (!output_file_open(&file, args->path, err))
        return false;
    if (save_round((enum round)args->round, map, file.stream, err))
        return output_file_commit(&file, err);
    output_file_discard(&file);
    return false;
}

static bool write_slice(const struct slicing *slicing, size_t number, const char *path, struct tpa_error *err)
{
    struct output_file file;
    if (!output_file_open(&file, path, err))
        return false;
    if (slicing_save(slicing, number, file.stream))
        return output_file_commit(&file, err);
    tpa_fail_errno(err, "cannot write the collectives");
    output_file_discard(&file);
    return false;
}

/* Write the collectives of FACTS to separate files, and remove them. */
static bool cmd_facts_separate(const struct facts_args *args, struct facts *facts, struct tpa_error *err)
{
    if (mkdir(args->apart, 0777) != 0) {
        tpa_fail_errno(err, "cannot make the folder");
        return tpa_in_file(err, args->apart);
    }
    SCOPED_OBJECT struct slicing *slicing = slicing_open(facts, (size_t)args->slices);
    bool good = true;
    for (size_t i = 0; i < args->slices && good; i++) {
        char *path = NULL;
        if (!slicing_has(slicing, i))
            continue;
        if (asprintf(&path, "%s/slice%05zu.facts", args->apart, i) < 0)
            mem_out_of_memory(strlen(args->apart));
        good = write_slice(slicing, i, path, err);
        free(path);
    }
    facts->tables[FACTS_COLLECTIVES].count = 0;
    return good;
}

/* Warn of recordings that are not complete: FACTS carry it, but nobody reads them by eye. */
static void warn_of_lacks(const struct facts *facts)
{
    SCOPED struct buffer lacks = { 0 };
    lacks_append_meaning(&lacks, facts_lacks(facts));
    if (lacks.count)
        terminal_print(
            "warning: a recording is not complete (%s); the facts say so, and tpa fleet says of which\n",
            lacks.at);
}

static int facts_main(const struct invocation *call, struct tpa_error *err)
{
    const struct facts_args *args = call->args;
    SCOPED_BY(fleet_map_release)
    struct fleet_map map = { .load = args->load, .job = args->job, .apart = args->round != ROUND_NONE };
    bool good = fleet_map(call->operands, call->operand_count, &map, err);
    if (good && map.failures.count) { /* merging relies on complete facts */
        good = tpa_fail(err, TPA_NOWHERE, "%s", map.failures.at[0].reason);
        tpa_in_file(err, map.failures.at[0].path);
        tpa_hint(
            err,
            "%zu of %zu files cannot be read: no facts were written; give the others alone, or each its own "
            "facts",
            map.failures.count, map.files);
    }
    good = good && (!args->apart || cmd_facts_separate(args, map.facts, err));
    good = good && write_facts(args, &map, err);
    if (good && args->round == ROUND_NONE)
        warn_of_lacks(map.facts);
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_facts = {
    .name = "facts",
    .summary = "what tpa fleet and tpa job need of a rank, as a small file that merges with others",
    .operands = "TRACE...",
    .description =
        "Reads each trace once and keeps what answers about a whole job need: where the time of each step went, "
        "how long each name ran, every collective, memory peaks, and what was left out. The file is about 1 % of a "
        "trace of some megabytes and more. Files of facts may be given, too: they are merged, in any order to the "
        "same bytes.\n\n"
        "The format is Apache Arrow's, one IPC stream for each table; docs/fleet.md has the tables and how to read "
        "them with pyarrow, pandas and Spark.",
    .options = facts_opts,
    COMMAND_ARGS(facts_defaults),
    .main = facts_main,
    .examples = {
        "tpa facts rank7.json.gz -o rank7.facts",
        "tpa facts --job pretrain-41 traces/ -o all.facts  # every trace in a directory",
        "tpa facts rank0.facts rank1.facts -o both.facts  # merge",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
