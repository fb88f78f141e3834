#include "cli/convert/perfetto.h"

#include "base/runs.h"
#include <assert.h>

/* The number of lanes that are tried for a slice, before it gets a new one. */
enum { MOST_LANES_TRIED = 256 };

struct open_lane {
    uint32_t uuid;
    VEC_OF(event_id) open; /* innermost last */
};

/* The lanes of one track, of its asynchronous events or of the others: indices into planning's lanes. */
struct lane_group {
    VEC_OF(uint32_t) lanes;
};

/* A slice that has begun. ORDER counts begins. */
struct open_slice {
    int64_t end_ns;
    event_id event;
    uint32_t lane, order;
};

struct planning {
    struct perfetto_plan *plan;
    VEC_OF(struct open_lane) lanes;
    VEC_OF(struct open_slice) open; /* a heap: the one that ends next is the first */
    struct lane_group *groups;      /* two by track: asynchronous events have the second */
    uint32_t begun;
};

/* Does A come after B? Of equal starts the longer comes first; equal events stay in order. */
static bool comes_after(const void *context, const void *left, const void *right)
{
    const struct trace *trace = context;
    event_id a = *(const event_id *)left, b = *(const event_id *)right;
    if (trace->file_count > 1 && trace_file_of(trace, a) != trace_file_of(trace, b))
        return trace_file_of(trace, a) > trace_file_of(trace, b);
    int64_t a_ns = trace_start_ns(trace, a), b_ns = trace_start_ns(trace, b);
    return a_ns != b_ns ? a_ns > b_ns : trace_dur_ns(trace, a) < trace_dur_ns(trace, b);
}

static void add_mark(struct perfetto_plan *plan, event_id e, bool is_end)
{
    plan->is_end[plan->mark_count / 64] |= (uint64_t)is_end << plan->mark_count % 64;
    plan->marks[plan->mark_count++] = e;
}

/* ---- the slices that are open ---- */

/* Of one end, the slice begun last ends first. */
static bool ends_before(const struct open_slice *a, const struct open_slice *b)
{
    return a->end_ns != b->end_ns ? a->end_ns < b->end_ns : a->order > b->order;
}

static void open_slice(struct planning *planning, const struct open_slice *slice)
{
    VEC_PUSH(&planning->open);
    struct open_slice *heap = planning->open.at;
    size_t at = planning->open.count - 1;
    for (; at > 0 && ends_before(slice, &heap[(at - 1) / 2]); at = (at - 1) / 2)
        heap[at] = heap[(at - 1) / 2];
    heap[at] = *slice;
}

static void drop_first(struct planning *planning)
{
    struct open_slice *heap = planning->open.at;
    size_t count = --planning->open.count, at = 0;
    const struct open_slice last = heap[count];
    for (;;) {
        size_t child = 2 * at + 1;
        if (child >= count)
            break;
        if (child + 1 < count && ends_before(&heap[child + 1], &heap[child]))
            child++;
        if (!ends_before(&heap[child], &last))
            break;
        heap[at] = heap[child];
        at = child;
    }
    heap[at] = last;
}

/* End the slices that are over by START_NS. */
static void end_until(struct planning *planning, int64_t start_ns)
{
    while (planning->open.count && planning->open.at[0].end_ns <= start_ns) {
        const struct open_slice *slice = &planning->open.at[0];
        struct open_lane *lane = &planning->lanes.at[slice->lane];
        lane->open.count--;
        add_mark(planning->plan, slice->event, true);
        drop_first(planning);
    }
}

/* ---- lanes ---- */

static bool fits(const struct trace *trace, const struct open_lane *lane, event_id e)
{
    return lane->open.count == 0 ||
           trace_end_ns(trace, lane->open.at[lane->open.count - 1]) >= trace_end_ns(trace, e);
}

static uint32_t add_lane(struct planning *planning, struct lane_group *group, uint32_t uuid)
{
    uint32_t lane = (uint32_t)planning->lanes.count;
    *VEC_PUSH(&planning->lanes) = (struct open_lane){ .uuid = uuid };
    *VEC_PUSH(&group->lanes) = lane;
    return lane;
}

/* The lane for E, whose earlier slices have ended. */
static uint32_t choose_lane(struct planning *planning, event_id e)
{
    struct perfetto_plan *plan = planning->plan;
    track_id track = plan->trace->track[e];
    bool is_async = plan->trace->flags[e] & EVENT_ASYNC;
    struct lane_group *group = &planning->groups[2 * track + is_async];
    if (group->lanes.count == 0 && !is_async)
        return add_lane(planning, group, plan->uuid_of[track]);
    size_t tried = group->lanes.count < MOST_LANES_TRIED ? group->lanes.count : MOST_LANES_TRIED;
    assert(tried == 0 || planning->lanes.at); /* groups name lanes that are there */
    for (size_t i = 0; i < tried; i++)
        if (fits(plan->trace, &planning->lanes.at[group->lanes.at[i]], e))
            return group->lanes.at[i];
    uint32_t uuid = plan->next_uuid++;
    *VEC_PUSH(&plan->lanes) =
        (struct perfetto_lane){ track, uuid, (uint32_t)group->lanes.count + is_async, is_async };
    return add_lane(planning, group, uuid);
}

static void plan_event(struct planning *planning, event_id e)
{
    const struct trace *trace = planning->plan->trace;
    uint32_t place = choose_lane(planning, e);
    struct open_lane *lane = &planning->lanes.at[place];
    if (lane->uuid != planning->plan->uuid_of[trace->track[e]])
        planning->plan->lane_of[e] = lane->uuid;
    add_mark(planning->plan, e, false);
    if (trace->flags[e] & EVENT_POINT)
        return;
    *VEC_PUSH(&lane->open) = e;
    open_slice(planning, &(struct open_slice){ trace_end_ns(trace, e), e, place, planning->begun++ });
}

/* Events in the order of files and times, in the second half of PLAN's marks: the first has been used when marks get there. */
static const event_id *sort_events(struct perfetto_plan *plan)
{
    const struct trace *trace = plan->trace;
    event_id *order = plan->marks + trace->event_count;
    for (event_id e = 0; e < trace->event_count; e++)
        order[e] = e;
    if (trace->event_count)
        runs_sort(order, trace->event_count, sizeof *order, comes_after, trace);
    return order;
}

void perfetto_plan_init(struct perfetto_plan *plan, const struct trace *trace, uint32_t first_uuid,
                        uint32_t next_uuid)
{
    *plan = (struct perfetto_plan){
        .trace = trace,
        .next_uuid = next_uuid,
        .uuid_of = mem_alloc(mem_times(trace->track_count + 1, sizeof *plan->uuid_of)),
        .lane_of = mem_zalloc(trace->event_count + 1, sizeof *plan->lane_of),
        .marks = mem_alloc(mem_times(2 * trace->event_count + 1, sizeof *plan->marks)),
        .is_end = mem_zalloc(2 * trace->event_count / 64 + 1, sizeof *plan->is_end),
    };
    for (track_id t = 0; t < trace->track_count; t++)
        plan->uuid_of[t] = first_uuid + t;
    size_t groups = 2 * trace->track_count;
    SCOPED_OBJECT struct planning *planning = arena_open(sizeof *planning);
    struct arena *arena = arena_of(planning);
    ARENA_OWNS(arena, &planning->lanes, &planning->open);
    planning->plan = plan;
    planning->groups = arena_zalloc(arena, groups + 1, sizeof *planning->groups);
    ARENA_OWNS_EACH(arena, planning->groups, groups, lanes);
    const event_id *order = sort_events(plan);
    event_id last = EVENT_NONE;
    for (size_t i = 0; i < trace->event_count; i++) {
        event_id e = order[i]; /* then overwritten */
        bool ends_file = last != EVENT_NONE && trace_file_of(trace, e) != trace_file_of(trace, last);
        end_until(planning, ends_file ? INT64_MAX : trace_start_ns(trace, e));
        plan_event(planning, e);
        last = e;
    }
    end_until(planning, INT64_MAX);
    ARENA_OWNS_EACH(arena, planning->lanes.at, planning->lanes.count, open);
}

void perfetto_plan_release(struct perfetto_plan *plan)
{
    EACH(free, plan->uuid_of, plan->lane_of, plan->marks, plan->is_end);
    VEC_FREE(&plan->lanes);
}
