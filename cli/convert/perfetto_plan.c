/* perfetto_plan.c - see perfetto_plan.h. */
#include "cli/convert/perfetto_plan.h"

#include "base/runs.h"
#include <stdlib.h>

/* The number of lanes that are tried for a slice, before it gets a new one. */
enum { MOST_LANES_TRIED = 256 };

struct open_lane {
    uint32_t uuid;
    VEC_OF(event_id) open; /* innermost last */
};

struct lanes {
    VEC_OF(struct open_lane);
};

/* Does A come after B? Of equal starts the longer comes first; equal events stay in order. */
static bool comes_after(const void *context, const void *left, const void *right)
{
    const struct trace *trace = context;
    event_id a = *(const event_id *)left, b = *(const event_id *)right;
    if (trace_start_ns(trace, a) != trace_start_ns(trace, b))
        return trace_start_ns(trace, a) > trace_start_ns(trace, b);
    return trace_dur_ns(trace, a) < trace_dur_ns(trace, b);
}

static void add_mark(struct perfetto_plan *plan, event_id e, uint32_t uuid, enum perfetto_mark_type type)
{
    *VEC_PUSH(&plan->marks) = (struct perfetto_mark){ e, uuid, (uint8_t)type };
}

/* End the slices that are over by START. */
static void end_until(struct perfetto_plan *plan, struct open_lane *lane, int64_t start_ns)
{
    while (lane->open.count && trace_end_ns(plan->trace, lane->open.at[lane->open.count - 1]) <= start_ns) {
        lane->open.count--;
        add_mark(plan, lane->open.at[lane->open.count], lane->uuid, PERFETTO_END);
    }
}

static bool fits(const struct perfetto_plan *plan, const struct open_lane *lane, event_id e)
{
    return lane->open.count == 0 ||
           trace_end_ns(plan->trace, lane->open.at[lane->open.count - 1]) >= trace_end_ns(plan->trace, e);
}

static struct open_lane *choose_lane(struct perfetto_plan *plan, struct lanes *lanes, event_id e,
                                     track_id track, bool is_async)
{
    size_t tried = lanes->count < MOST_LANES_TRIED ? lanes->count : MOST_LANES_TRIED;
    for (size_t i = 0; i < tried; i++) {
        end_until(plan, &lanes->at[i], trace_start_ns(plan->trace, e));
        if (fits(plan, &lanes->at[i], e))
            return &lanes->at[i];
    }
    uint32_t uuid = plan->next_uuid++;
    *VEC_PUSH(&plan->lanes) =
        (struct perfetto_lane){ track, uuid, (uint32_t)lanes->count + is_async, is_async };
    struct open_lane *lane = VEC_PUSH(lanes);
    *lane = (struct open_lane){ .uuid = uuid };
    return lane;
}

/* Plan the COUNT events of ORDER on TRACK, all of them asynchronous or none. */
static void plan_track(struct perfetto_plan *plan, track_id track, event_id *order, size_t count,
                       bool is_async)
{
    const struct trace *trace = plan->trace;
    struct lanes lanes = { 0 };
    if (!is_async)
        *VEC_PUSH(&lanes) = (struct open_lane){ .uuid = plan->uuid_of[track] };
    if (count)
        runs_sort(order, count, sizeof *order, comes_after, trace);
    for (size_t i = 0; i < count; i++) {
        event_id e = order[i];
        struct open_lane *lane = choose_lane(plan, &lanes, e, track, is_async);
        if (trace->flags[e] & EVENT_POINT) {
            add_mark(plan, e, lane->uuid, PERFETTO_INSTANT);
        } else {
            add_mark(plan, e, lane->uuid, PERFETTO_BEGIN);
            *VEC_PUSH(&lane->open) = e;
        }
    }
    for (size_t i = 0; i < lanes.count; i++) {
        end_until(plan, &lanes.at[i], INT64_MAX);
        VEC_FREE(&lanes.at[i].open);
    }
    VEC_FREE(&lanes);
}

void perfetto_plan_init(struct perfetto_plan *plan, const struct trace *trace, uint32_t first_uuid,
                        uint32_t next_uuid)
{
    size_t groups = 2 * trace->track_count; /* each track, and its asynchronous events */
    size_t *first = mem_zalloc(groups + 2, sizeof *first);
    event_id *order = mem_alloc(mem_times(trace->event_count + 1, sizeof *order));
    *plan = (struct perfetto_plan){
        .trace = trace,
        .next_uuid = next_uuid,
        .uuid_of = mem_alloc(mem_times(trace->track_count + 1, sizeof *plan->uuid_of)),
    };
    for (track_id t = 0; t < trace->track_count; t++)
        plan->uuid_of[t] = first_uuid + t;
    for (event_id e = 0; e < trace->event_count; e++)
        first[2 * trace->track[e] + (trace->flags[e] & EVENT_ASYNC ? 1 : 0) + 2]++;
    for (size_t g = 1; g < groups; g++)
        first[g + 1] += first[g];
    for (event_id e = 0; e < trace->event_count; e++)
        order[first[2 * trace->track[e] + (trace->flags[e] & EVENT_ASYNC ? 1 : 0) + 1]++] = e;
    VEC_RESERVE(&plan->marks, 2 * trace->event_count);
    for (size_t g = 0; g < groups; g++)
        plan_track(plan, (track_id)(g / 2), order + first[g], first[g + 1] - first[g], g % 2 == 1);
    free(order);
    free(first);
}

void perfetto_plan_release(struct perfetto_plan *plan)
{
    free(plan->uuid_of);
    VEC_FREE(&plan->marks);
    VEC_FREE(&plan->lanes);
}
