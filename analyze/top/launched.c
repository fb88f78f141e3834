#include "analyze/top/top.h"

#include "base/parallel.h"
#include "trace/arg_scan.h"

struct top_launched_part {
    size_t first; /* place of its first work among all */
    VEC_OF(struct top_alike_work) alike;
};

/* Events of PART: from the one up to the other. */
static event_id first_event(const struct top_launched *launched, size_t part)
{
    return (event_id)parallel_first(launched->events->trace->event_count, launched->part_count, part);
}

void top_launched_open(struct top_launched *launched, const struct top_links *links,
                       const struct top_events *events)
{
    enum { PARTS_OF_WORKER = 4 }; /* the thread that counts host time takes what is left of them */
    const struct trace *trace = events->trace;
    unsigned workers = parallel_parts(trace->workers, trace->event_count);
    *launched = (struct top_launched){ .links = links,
                                       .events = events,
                                       .part_count = workers == 1 ? 1 : PARTS_OF_WORKER * workers };
    launched->parts = mem_zalloc(launched->part_count, sizeof *launched->parts);
    for (size_t part = 0; part < launched->part_count; part++) {
        size_t count = 0;
        for (event_id e = first_event(launched, part); e < first_event(launched, part + 1); e++)
            count += top_is_launched(events, e);
        launched->parts[part].first = launched->count;
        launched->count += count;
    }
    launched->at = mem_alloc(mem_times(launched->count, sizeof *launched->at));
}

/* Of work of FILE with EXTERNAL_ID. Where ids do not link, the operator's counts. */
static bool may_have_lookalike(const struct top_links *links, uint32_t file, const int64_t *external_id)
{
    if (links->lookalikes.count == 0)
        return false;
    return attribution_links(links->launches, file) != LINKS_BY_ID ||
           (external_id && top_may_have_lookalike(links, *external_id));
}

void top_launched_find(struct top_launched *launched, size_t index)
{
    const struct top_events *events = launched->events;
    const struct top_links *links = launched->links;
    struct top_launched_part *part = &launched->parts[index];
    struct arg_scan ids = arg_scan_of(events->trace, ARG_EXTERNAL_ID);
    struct arg_scan correlations = arg_scan_of(events->trace, ARG_CORRELATION);
    event_id end = first_event(launched, index + 1);
    size_t at = part->first;
    for (event_id e = first_event(launched, index); e < end; e++) {
        if (!top_is_launched(events, e))
            continue;
        int64_t id_value, correlation_value;
        const int64_t *id = arg_scan_get(&ids, e, &id_value) ? &id_value : NULL;
        const int64_t *correlation =
            arg_scan_get(&correlations, e, &correlation_value) ? &correlation_value : NULL;
        struct top_launched_work *work = &launched->at[at];
        attribution_find(links->launches, e, id, correlation, &work->call, &work->op);
        if (may_have_lookalike(links, top_file_of(events, e), id)) {
            struct top_alike_work alike = { .at = at };
            top_link(links, e, id, correlation, &alike.lookalike);
            if (alike.lookalike < links->lookalikes.count)
                *VEC_PUSH(&part->alike) = alike;
        }
        at++;
    }
}

void top_launched_join(struct top_launched *launched)
{
    FOR_EACH_OF(found, launched->parts, launched->part_count) {
        for (size_t i = 0; i < found->alike.count; i++)
            *VEC_PUSH(&launched->alike) = found->alike.at[i];
        VEC_FREE(&found->alike);
    }
}
