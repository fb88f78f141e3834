/*
 * fleet_links.c - process groups whose equal collectives take longer than those of others: slow links; see fleet.h.
 *
 * Collectives of one kind and size in groups of equally many ranks are equal. The time of a link is the transfer: the
 * duration of the last rank to arrive, which does not wait.
 */
#include "base/rows.h"
#include "fleet/fleet.h"

#include "derive/collective_names.h"
#include <math.h>

enum { LEAST_GROUPS = 4, LEAST_COLLECTIVES = 3 };
static const double least_slower_link = 1.25, outlier = 5, least_deviation = 0.02;

/* A meeting, with its class of equal meetings and its link. */
struct transfer {
    struct text kind;
    name_id name, ranks;
    int64_t bytes, members, source, target;
    int64_t transfer_ns;
    size_t meeting;
};

static const struct key by_class[] = { ASC(struct transfer, kind.at), ASC(struct transfer, bytes),
                                       ASC(struct transfer, members), KEY_END };

static const struct key by_link[] = { ASC(struct transfer, kind.at), ASC(struct transfer, bytes),
                                      ASC(struct transfer, members), ASC(struct transfer, name),
                                      ASC(struct transfer, ranks),   ASC(struct transfer, source),
                                      ASC(struct transfer, target),  KEY_END };

static const struct key by_time[] = {
    ASC(struct transfer, kind.at), ASC(struct transfer, bytes),       ASC(struct transfer, members),
    ASC(struct transfer, name),    ASC(struct transfer, ranks),       ASC(struct transfer, source),
    ASC(struct transfer, target),  ASC(struct transfer, transfer_ns), KEY_END
};

static struct transfer transfer_of(const struct fleet *fleet, size_t m)
{
    const struct fleet_meeting *meeting = &fleet->meetings.at[m];
    return (struct transfer){ .kind = fleet_text(fleet->job.facts, meeting->kind),
                              .name = meeting->group ? meeting->group->name : NAME_NONE,
                              .ranks = meeting->group ? meeting->group->ranks : NAME_NONE,
                              .bytes = meeting->bytes,
                              .members = (int64_t)meeting->count,
                              .source = meeting->source,
                              .target = meeting->target,
                              .transfer_ns = meeting->transfer_ns,
                              .meeting = m };
}

/* ---- the hosts of a link ---- */

static const struct key by_at[] = { ASC(struct text, at), KEY_END };

/* "node1, node2 and 3 more"; missing if no host is recorded. */
static struct text fleet_links_hosts_of(struct fleet *fleet, const struct fleet_meeting *meeting)
{
    enum { MOST_SHOWN = 4 };
    SCOPED struct text *hosts = mem_alloc(mem_times(meeting->count, sizeof *hosts));
    size_t count = 0, different = 0;
    for (size_t i = 0; i < meeting->count; i++) {
        const struct fleet_arrival *arrival = &fleet->meetings.arrivals.at[meeting->first + i];
        hosts[count] = fleet_text(fleet->job.facts, fleet->job.members.at[arrival->member].recording->host);
        count += hosts[count].at != NULL;
    }
    SORT_ARRAY(hosts, count, by_at);
    SCOPED struct buffer out = { 0 };
    for (size_t i = 0; i < count; i++) {
        if (i && strcmp(hosts[i].at, hosts[i - 1].at) == 0)
            continue;
        if (different++ < MOST_SHOWN)
            buffer_printf(&out, "%s%s", different > 1 ? ", " : "", hosts[i].at);
    }
    if (different > MOST_SHOWN)
        buffer_printf(&out, " and %zu more", different - MOST_SHOWN);
    struct text text = { 0 };
    if (out.count)
        text = (struct text){ arena_strndup(arena_of(fleet), out.at, out.count), out.count };
    return text;
}

static struct text link_text(struct fleet *fleet, const struct transfer *transfer)
{
    const struct facts *facts = fleet->job.facts;
    const char *name = names_text(facts->texts, transfer->name),
               *ranks = names_text(facts->texts, transfer->ranks);
    char *text = arena_printf(arena_of(fleet), "%s%s%s", name, *name && *ranks ? " " : "", ranks);
    if (transfer->source != FACTS_MISSING && transfer->target != FACTS_MISSING)
        text = arena_printf(arena_of(fleet), "%s%s%lld to %lld", text, *text ? ": " : "",
                            (long long)transfer->source, (long long)transfer->target);
    return *text ? (struct text){ text, strlen(text) } : (struct text){ 0 };
}

static double bandwidth_of(const struct transfer *transfer, int64_t transfer_ns)
{
    double factor = collective_bus_factor(collective_kind_of(transfer->kind.at ? transfer->kind.at : ""),
                                          transfer->members);
    return transfer->bytes == FACTS_MISSING || transfer_ns <= 0
               ? NAN
               : (double)transfer->bytes * factor / (double)transfer_ns;
}

/* ---- links ---- */

static void add_link(struct fleet *fleet, const struct transfer *transfers, size_t count)
{
    int64_t median_ns = transfers[(count - 1) / 2].transfer_ns; /* sorted ascending */
    *VEC_PUSH(&fleet->links) = (struct fleet_link_row){
        .hosts = fleet_links_hosts_of(fleet, &fleet->meetings.at[transfers->meeting]),
        .group = link_text(fleet, transfers),
        .kind = transfers->kind,
        .ranks = transfers->members,
        .bytes = transfers->bytes,
        .count = (int64_t)count,
        .transfer_ns = median_ns,
        .bandwidth = bandwidth_of(transfers, median_ns),
        .against = NAN,
        .score = NAN,
    };
}

/* Compare the COUNT links of one class, which are the last rows. */
static void compare_class(struct fleet *fleet, size_t count)
{
    struct fleet_link_row *rows = fleet->links.at + fleet->links.count - count;
    SCOPED double *values = mem_alloc(mem_times(count + 1, sizeof *values));
    for (size_t i = 0; i < count; i++)
        values[i] = (double)rows[i].transfer_ns;
    double usual = fleet_median_of(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] = fabs((double)rows[i].transfer_ns - usual) / usual;
    double deviation = fleet_median_of(values, count) * 1.4826;
    deviation = deviation < least_deviation ? least_deviation : deviation;
    for (size_t i = 0; i < count && usual > 0 && count > 1; i++) {
        rows[i].against = (double)rows[i].transfer_ns / usual;
        if (count >= LEAST_GROUPS)
            rows[i].score = (rows[i].against - 1) / deviation;
        rows[i].slow = count >= LEAST_GROUPS && rows[i].count >= LEAST_COLLECTIVES &&
                       rows[i].against >= least_slower_link && rows[i].score >= outlier;
    }
}

void fleet_find_links(struct fleet *fleet)
{
    SCOPED struct transfer *transfers = mem_alloc(mem_times(fleet->meetings.count + 1, sizeof *transfers));
    size_t count = fleet->meetings.count;
    for (size_t m = 0; m < count; m++)
        transfers[m] = transfer_of(fleet, m);
    SORT_ARRAY(transfers, count, by_time);
    size_t of_class = 0;
    FOR_GROUPS_OF(transfers, count, by_link, first, end) {
        add_link(fleet, transfers + first, end - first);
        of_class++;
        if (end == count || rows_compare(&transfers[end], &transfers[first], by_class) != 0) {
            compare_class(fleet, of_class);
            of_class = 0;
        }
    }
    struct fleet_link_row *at = fleet->links.at;
    SORT_BY_VALUE(double, rows_ascending_f64, at, fleet->links.count, i,
                  isnan(at[i].against) ? 0 : -at[i].against);
    SORT_BY(at, fleet->links.count, i, !at[i].slow);
}
