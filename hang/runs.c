/* runs.c - dumps of other runs among those of a job: see hang.h. */
#include "base/bits.h"
#include "base/rows.h"
#include "base/stats.h"
#include "hang/hang.h"

#include <inttypes.h>

#define APART_NS INT64_C(600000000000)

/* When a rank issued a collective. */
struct issue {
    uint64_t collective; /* hash of group and number */
    int64_t created_ns;
    uint32_t dump; /* of job->dumps */
};

static const struct key by_collective[] = { ASC(struct issue, collective), KEY_END };

static const struct flight_dump *dump_at(const struct hang_job *job, size_t i)
{
    return &job->flight->dumps.at[job->dumps.at[i]];
}

/* When the newest operation of DUMP was issued; 0: not recorded. */
static int64_t newest_ns(const struct flight *flight, const struct flight_dump *dump)
{
    int64_t newest = 0;
    for (size_t e = dump->first; e < dump->first + dump->count; e++)
        if (flight->entries.at[e].created_ns > newest)
            newest = flight->entries.at[e].created_ns;
    return newest;
}

static bool is_apart(int64_t a, int64_t b)
{
    return (a > b ? a - b : b - a) >= APART_NS;
}

/* Clear FAR, by dump, of those that issued a collective at the time of the others: they are of this run, and have done nothing since. */
static void keep_same_run(const struct hang_job *job, bool *far)
{
    const struct flight *flight = job->flight;
    SCOPED bool *same = mem_zalloc(job->dumps.count + 1, sizeof *same);
    SCOPED VEC_OF(struct issue) issues = { 0 };
    SCOPED VEC_OF(int64_t) near = { 0 };
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = dump_at(job, i);
        for (size_t e = dump->first; e < dump->first + dump->count; e++) {
            const struct flight_entry *entry = &flight->entries.at[e];
            const struct flight_group *group = &flight->groups.at[dump->first_group + entry->group];
            if (!entry->p2p && entry->created_ns > 0)
                *VEC_PUSH(&issues) = (struct issue){ bits_mix(bits_mix(bits_mix(0, group->name), group->list),
                                                              (uint64_t)entry->seq),
                                                     entry->created_ns, (uint32_t)i };
        }
    }
    SORT(&issues, by_collective);
    FOR_GROUPS(&issues, by_collective, first, end) {
        near.count = 0;
        for (size_t i = first; i < end; i++)
            if (!far[issues.at[i].dump])
                *VEC_PUSH(&near) = issues.at[i].created_ns;
        int64_t median_ns = near.count ? stats_lower_median(near.at, near.count) : INT64_MAX;
        for (size_t i = first; i < end; i++)
            if (!is_apart(issues.at[i].created_ns, median_ns))
                same[issues.at[i].dump] = true;
    }
    for (size_t i = 0; i < job->dumps.count; i++)
        far[i] = far[i] && !same[i];
}

/* "25 min", "23 h". */
static const char *how_long(struct arena *arena, int64_t ns)
{
    int64_t minutes = (ns < 0 ? -ns : ns) / INT64_C(60000000000);
    return arena_printf(arena, minutes < 120 ? "%" PRId64 " min" : "%" PRId64 " h",
                        minutes < 120 ? minutes : minutes / 60);
}

/* Take the dumps that are FAR out of the job. TIMES: of their newest operations; MIDDLE_NS: of all. */
static void set_apart(struct hang_job *job, const bool *far, const int64_t *times, int64_t middle_ns)
{
    struct flight *flight = job->flight;
    size_t kept = 0;
    for (size_t i = 0; i < job->dumps.count; i++) {
        const struct flight_dump *dump = dump_at(job, i);
        if (!far[i]) {
            job->dumps.at[kept++] = job->dumps.at[i];
            continue;
        }
        *VEC_PUSH(&job->unreadable) = (uint32_t)flight->unreadable.count;
        *VEC_PUSH(&flight->unreadable) = (struct flight_unreadable){
            dump->path, dump->folder, dump->prefix, dump->rank,
            arena_printf(
                &flight->arena,
                "its operations are %s %s than those of the other ranks: it is of another run, or the clock of its "
                "host is wrong",
                how_long(&flight->arena, times[i] - middle_ns), times[i] < middle_ns ? "earlier" : "later")
        };
    }
    job->dumps.count = kept;
}

void hang_set_runs_apart(struct hang_job *job)
{
    size_t count = job->dumps.count, timed = 0, near = 0;
    SCOPED int64_t *times = mem_zalloc(count + 1, sizeof *times),
                   *sorted = mem_alloc(mem_times(count + 1, sizeof *sorted));
    SCOPED bool *far = mem_zalloc(count + 1, sizeof *far);
    for (size_t i = 0; i < count; i++)
        if ((times[i] = newest_ns(job->flight, dump_at(job, i))) > 0)
            sorted[timed++] = times[i];
    int64_t middle_ns = timed ? stats_lower_median(sorted, timed) : 0;
    bool any = false;
    for (size_t i = 0; i < count; i++)
        any = (far[i] = times[i] > 0 && is_apart(times[i], middle_ns)) || any;
    if (any)
        keep_same_run(job, far);
    for (size_t i = 0; i < count; i++)
        near += times[i] > 0 && !far[i];
    if (near < timed && near * 2 > timed)
        set_apart(job, far, times, middle_ns);
    for (size_t i = 0; i < count && near < timed && near * 2 <= timed && !job->runs_apart; i++)
        if (far[i])
            job->runs_apart = how_long(job->arena, times[i] - middle_ns);
}
