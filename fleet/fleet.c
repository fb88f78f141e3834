#include "fleet/fleet.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include "fleet/rounds.h"
#include <math.h>

struct fleet_rank_row *fleet_rank(struct fleet *fleet, int64_t rank)
{
    size_t i = PLACE(k, fleet->ranks.count, fleet->ranks.at[k].rank < rank);
    return &fleet->ranks.at[i];
}

/* ---- ranks ---- */

static void set_lacks(struct fleet *fleet, const struct fleet_member *member, struct fleet_rank_row *row)
{
    SCOPED struct buffer sorts = { 0 };
    row->lacks_set |= fleet_member_lacks(&fleet->job, member);
    lacks_append(&sorts, row->lacks_set);
    if (row->lacks_set)
        row->lacks = (struct text){ arena_strndup(arena_of(fleet), sorts.at, sorts.count), sorts.count };
}

static void set_peak(const struct fleet *fleet, const struct fleet_member *member, struct fleet_rank_row *row)
{
    const struct facts_device *devices = facts_rows(fleet->job.facts, FACTS_DEVICES);
    for (size_t d = 0; d < member->count[FACTS_DEVICES]; d++) {
        int64_t peak = devices[member->first[FACTS_DEVICES] + d].peak_allocated;
        row->peak_bytes = peak > row->peak_bytes ? peak : row->peak_bytes;
    }
}

static void open_ranks(struct fleet *fleet)
{
    for (size_t m = 0; m < fleet->job.members.count; m++) {
        const struct fleet_member *member = &fleet->job.members.at[m];
        const struct rank_clock *clock = &fleet->meetings.clocks[m];
        size_t count = fleet->ranks.count;
        if (count && fleet->ranks.at[count - 1].rank == member->rank) {
            fleet->ranks.at[count - 1].recordings++;
            set_peak(fleet, member, &fleet->ranks.at[count - 1]);
            set_lacks(fleet, member, &fleet->ranks.at[count - 1]);
            continue;
        }
        struct fleet_rank_row row = {
            .rank = member->rank,
            .host = fleet_text(fleet->job.facts, member->recording->host),
            .device = fleet_text(fleet->job.facts, member->recording->device),
            .file = fleet_text(fleet->job.facts, member->recording->file),
            .recordings = 1,
            .step_ns = FACTS_MISSING,
            .caused_share = NAN,
            .gpu = NAN,
            .gpu_score = NAN,
            .gpu_early = NAN,
            .gpu_late = NAN,
            .host_pace = NAN,
            .host_score = NAN,
            .clock_ns = clock->ahead_ns,
            .clock_error_ns = clock->error_ns,
            .anchors = clock->anchors,
            .drift = clock->ahead_ns == FACTS_MISSING ? NAN : (double)clock->drift / 1e6,
            .clock_sure = clock->sure,
            .peak_bytes = FACTS_MISSING,
            .differing = FACTS_MISSING,
        };
        set_peak(fleet, member, &row);
        set_lacks(fleet, member, &row);
        *VEC_PUSH(&fleet->ranks) = row;
    }
}

static const struct key by_caused[] = { DESC(struct fleet_rank_row, caused_ns), KEY_END };

/* ---- hosts ---- */

static const struct key by_host[] = { ASC_OF(struct fleet_rank_row, host.at),
                                      ASC_OF(struct fleet_rank_row, rank), KEY_END };

static double median_pace(struct fleet_rank_row *const *ranks, size_t count, bool of_host)
{
    SCOPED double *values = mem_alloc(mem_times(count, sizeof *values));
    size_t known = 0;
    for (size_t i = 0; i < count; i++) {
        double value = of_host ? ranks[i]->host_pace : ranks[i]->gpu;
        if (!isnan(value))
            values[known++] = value;
    }
    return fleet_median_of(values, known);
}

static const struct key by_caused_[] = { DESC(struct fleet_host_row, caused_ns), KEY_END };

static void find_hosts(struct fleet *fleet)
{
    struct fleet_rank_row **ranks = mem_alloc(mem_times(fleet->ranks.count + 1, sizeof *ranks));
    size_t count = 0;
    for (size_t i = 0; i < fleet->ranks.count; i++)
        if (fleet->ranks.at[i].host.at)
            ranks[count++] = &fleet->ranks.at[i];
    SORT_ARRAY(ranks, count, by_host);
    FOR_RUNS(first, end, count, strcmp(ranks[end]->host.at, ranks[first]->host.at) == 0) {
        struct fleet_host_row row = { .host = ranks[first]->host, .caused_share = NAN, .score = NAN };
        size_t slow = 0;
        for (size_t i = first; i < end; i++) {
            if (fleet->meetings.count) {
                sum_add(&row.caused_ns, ranks[i]->caused_ns);
                sum_add(&row.waited_ns, ranks[i]->waited_ns);
            }
            slow += ranks[i]->slow_host;
            if (isnan(row.score) || ranks[i]->host_score < row.score)
                row.score = ranks[i]->host_score;
        }
        row.ranks = (int64_t)(end - first);
        if (fleet->meetings.count == 0)
            row.caused_ns = row.waited_ns = FACTS_MISSING;
        row.gpu = median_pace(ranks + first, end - first, false);
        row.host_pace = median_pace(ranks + first, end - first, true);
        row.slow = 2 * slow > end - first;
        if (fleet->blamed_ns > 0)
            row.caused_share = (double)row.caused_ns / (double)fleet->blamed_ns;
        *VEC_PUSH(&fleet->hosts) = row;
    }
    SORT(&fleet->hosts, by_caused_);
    free(ranks);
}

static const char *const left_out_reasons[] = {
    [LEFT_OUT_OTHER_JOB] =
        "another job: its name or its number of ranks differ from those of most recordings",
    [LEFT_OUT_DUPLICATE] = "another recording of this rank covers the same time or the same steps",
    [LEFT_OUT_NO_RANK] = "it records no rank, though others do",
};

static void find_left_out(struct fleet *fleet)
{
    FOR_EACH(other, &fleet->job.others) {
        const char *reason = left_out_reasons[other->why];
        *VEC_PUSH(&fleet->left_out) =
            (struct fleet_left_out_row){ other->recording->rank,
                                         fleet_text(fleet->job.facts, other->recording->file),
                                         { reason, strlen(reason) } };
    }
}

static bool fleet_find_meetings(struct fleet *fleet, const struct fleet_files *files, struct tpa_error *err)
{
    bool judged = files && files->of[FILE_JUDGED].count;
    return (judged ? rounds_load_judged(&fleet->meetings, &fleet->job, files, err)
                   : fleet_meetings_judge(&fleet->meetings, &fleet->job, files, NULL, err)) &&
           fleet_meetings_finish(&fleet->meetings, files, err);
}

struct fleet *fleet_open(const struct facts *facts)
{
    return fleet_open_apart(facts, NULL, &(struct tpa_error){ 0 });
}

struct fleet *fleet_open_apart(const struct facts *facts, const struct fleet_files *files,
                               struct tpa_error *err)
{
    struct fleet *fleet = arena_open(sizeof *fleet);
    ARENA_OWNS(arena_of(fleet), &fleet->ranks, &fleet->steps, &fleet->collectives, &fleet->groups,
               &fleet->hosts, &fleet->links, &fleet->waste, &fleet->heat, &fleet->left_out,
               &fleet->heat_more);
    ARENA_OWNS(arena_of(fleet), FLEET_MEETINGS_MEMORY(&fleet->meetings));
    fleet_job_init(&fleet->job, facts, arena_of(fleet));
    if (!fleet_find_meetings(fleet, files, err)) {
        arena_free(fleet);
        return NULL;
    }
    open_ranks(fleet);
    fleet_find_pipeline(fleet);
    fleet_find_blame(fleet);
    fleet_find_steps(fleet);
    fleet_find_pace(fleet);
    fleet_find_links(fleet);
    find_hosts(fleet);
    find_left_out(fleet);
    SORT(&fleet->ranks, by_caused);
    return fleet;
}
