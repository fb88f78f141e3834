/*
 * fleet_pipeline.c - meetings of a pipeline's stages: see fleet.h.
 *
 * A rank of a pipeline waits for messages while nobody is late: that is the schedule. And where ranks of several stages meet, such
 * as all ranks after the last backward pass, the first stage comes last, as its backward pass ends the schedule. Ranks belong to one
 * pipeline if messages join them, directly or through others.
 */
#include "derive/collective_names.h"
#include "fleet/fleet.h"
#include "base/search.h"

static bool is_message(const struct fleet *fleet, const struct fleet_meeting *meeting)
{
    enum collective_kind kind = collective_kind_of(names_text(fleet->job.facts->texts, meeting->kind));
    return kind == COLLECTIVE_SEND || kind == COLLECTIVE_RECV;
}

/* The index of the rank of ARRIVAL. */
static uint32_t rank_at(struct fleet *fleet, size_t arrival)
{
    int64_t rank = fleet->job.members.at[fleet->meetings.arrivals.at[arrival].member].rank;
    return (uint32_t)(fleet_rank(fleet, rank) - fleet->ranks.at);
}

/* Join the ranks of each message; returns the number of messages. */
static size_t join(struct fleet *fleet, uint32_t *joined)
{
    size_t messages = 0;
    for (uint32_t r = 0; r < fleet->ranks.count; r++)
        joined[r] = r;
    FOR_EACH(meeting, &fleet->meetings) {
        if (!is_message(fleet, meeting))
            continue;
        meeting->of_pipeline = true;
        messages++;
        for (size_t i = meeting->first + 1; i < meeting->first + meeting->count; i++) {
            uint32_t a = search_set(joined, rank_at(fleet, meeting->first)),
                     b = search_set(joined, rank_at(fleet, i));
            joined[a > b ? a : b] = a > b ? b : a;
        }
    }
    return messages;
}

void fleet_find_pipeline(struct fleet *fleet)
{
    SCOPED uint32_t *joined = mem_alloc(mem_times(fleet->ranks.count + 1, sizeof *joined));
    SCOPED bool *seen = mem_zalloc(fleet->ranks.count + 1, sizeof *seen);
    fleet->messages = join(fleet, joined);
    for (size_t m = 0; m < fleet->meetings.count && fleet->messages; m++) {
        struct fleet_meeting *meeting = &fleet->meetings.at[m];
        for (size_t i = meeting->first; i < meeting->first + meeting->count; i++) {
            uint32_t rank = search_set(joined, rank_at(fleet, i));
            meeting->of_pipeline |= seen[rank];
            seen[rank] = true;
        }
        for (size_t i = meeting->first; i < meeting->first + meeting->count; i++)
            seen[search_set(joined, rank_at(fleet, i))] = false;
    }
}
