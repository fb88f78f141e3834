/* hang.c - the jobs among dumps: see hang.h. */
#include "hang/hang.h"

#include "base/rows.h"

/* ---- which dumps are one job ---- */

/* What separates jobs: nothing; the folder; folder and prefix. */
enum split { SPLIT_NONE, SPLIT_FOLDER, SPLIT_PREFIX };

static bool is_together(const struct flight_dump *a, const struct flight_dump *b, enum split split)
{
    return split == SPLIT_NONE || (strcmp(a->folder, b->folder) == 0 &&
                                   (split == SPLIT_FOLDER || strcmp(a->prefix, b->prefix) == 0));
}

/* Does no rank appear twice in dumps FIRST to END? */
static bool has_each_rank_once(const struct flight *flight, size_t first, size_t end)
{
    bool *seen = mem_zalloc(FLIGHT_MOST_RANKS, sizeof *seen), once = true;
    for (size_t d = first; d < end && once; d++) {
        once = !seen[flight->dumps.at[d].rank];
        seen[flight->dumps.at[d].rank] = true;
    }
    free(seen);
    return once;
}

/* Length of the folder that is common to all dumps, its last slash included. */
static size_t common_folder(const struct flight *flight)
{
    const char *first = flight->dumps.at[0].folder;
    size_t common = strlen(first) + 1;
    for (size_t d = 1; d < flight->dumps.count; d++) {
        const char *folder = flight->dumps.at[d].folder;
        size_t same = 0, whole = 0;
        while (same < common && first[same] == folder[same] && first[same]) {
            same++;
            if (first[same - 1] == '/')
                whole = same;
        }
        if (same == strlen(first) && (folder[same] == '/' || !folder[same]))
            whole = same + 1;
        else if (same == strlen(folder) && first[same] == '/')
            whole = same + 1;
        common = whole < common ? whole : common;
    }
    return common;
}

static const char *name_job(struct hang_job *job, const struct flight_dump *dump, enum split split,
                            size_t common)
{
    size_t len = strlen(dump->folder);
    const char *folder = common < len ? dump->folder + common : "";
    if (split == SPLIT_NONE)
        return "";
    if (split == SPLIT_FOLDER)
        return arena_printf(job->arena, "%s", folder);
    return arena_printf(job->arena, "%s%s%s", folder, *folder ? "/" : "", dump->prefix);
}

/* Is the unreadable FILE a dump of the job that DUMP is of? */
static bool is_of_job(const struct flight_unreadable *file, const struct flight_dump *dump, enum split split)
{
    return split == SPLIT_NONE || (strcmp(file->folder, dump->folder) == 0 &&
                                   (split == SPLIT_FOLDER || strcmp(file->prefix, dump->prefix) == 0));
}

static void add_job(struct hang *hang, size_t first, size_t end, enum split split, size_t common)
{
    struct flight *flight = hang->flight;
    struct arena *arena = arena_of(hang);
    struct hang_job *job = *VEC_PUSH(&hang->jobs) = arena_zalloc(arena, 1, sizeof *job);
    ARENA_OWNS(arena, &job->dumps, &job->unreadable, &job->groups, &job->ops, &job->waits, &job->wait_ops,
               &job->mismatches, &job->causes, &job->group_of, &job->refs, &job->first_wait, &job->by_op);
    job->flight = flight;
    job->arena = arena;
    job->name = name_job(job, &flight->dumps.at[first], split, common);
    bool *seen = mem_zalloc(FLIGHT_MOST_RANKS, sizeof *seen);
    for (size_t d = first; d < end; d++) {
        uint32_t rank = flight->dumps.at[d].rank;
        if (!seen[rank])
            *VEC_PUSH(&job->dumps) = (uint32_t)d;
        seen[rank] = true;
    }
    for (size_t u = 0; u < flight->unreadable.count; u++) {
        uint32_t rank = flight->unreadable.at[u].rank;
        if (rank != FLIGHT_NO_RANK && !seen[rank] &&
            is_of_job(&flight->unreadable.at[u], &flight->dumps.at[first], split)) {
            *VEC_PUSH(&job->unreadable) = (uint32_t)u;
            seen[rank] = true;
        }
    }
    free(seen);
    SORT_BY(job->dumps.at, job->dumps.count, i, flight->dumps.at[job->dumps.at[i]].rank);
    hang_set_runs_apart(job);
    hang_job_build(job);
    hang_find_waits(job);
    hang_graph_build(job);
    hang_find_mismatches(job);
    hang_find_causes(job);
    hang_judge(job);
}

/* Dumps FIRST to END are one job if no rank appears twice; else they are split by more. */
static void add_jobs(struct hang *hang, size_t first, size_t end, enum split split, size_t common)
{
    const struct flight *flight = hang->flight;
    if (split == SPLIT_PREFIX || has_each_rank_once(flight, first, end)) {
        add_job(hang, first, end, split, common);
        return;
    }
    for (size_t next; first < end; first = next) {
        for (next = first + 1; next < end; next++)
            if (!is_together(&flight->dumps.at[first], &flight->dumps.at[next], split + 1))
                break;
        add_jobs(hang, first, next, split + 1, common);
    }
}

struct hang *hang_open(struct flight *flight)
{
    struct hang *hang = arena_open(sizeof *hang);
    ARENA_OWNS(arena_of(hang), &hang->jobs);
    hang->flight = flight;
    add_jobs(hang, 0, flight->dumps.count, SPLIT_NONE, common_folder(flight));
    return hang;
}

enum hang_state hang_worst(const struct hang *hang)
{
    enum hang_state worst = HANG_CLEAN;
    for (size_t j = 0; j < hang->jobs.count; j++)
        worst = hang->jobs.at[j]->state > worst ? hang->jobs.at[j]->state : worst;
    return worst;
}
