#include "derive/collectives.h"

#include "derive/step_list.h"
#include "trace/span.h"

/* The place of a collective while the total number of devices is unknown. */
struct joined_place {
    uint32_t file;
    int32_t device;
    bool is_host;
};

struct collectives_join {
    VEC_OF(struct collective); /* their place is an index into PLACES */
    VEC_OF(struct joined_place) places;
    struct names *groups; /* texts that identify groups */
    uint64_t without_kernel;
};

struct collectives_join *collectives_join_open(void)
{
    struct collectives_join *join = arena_open(sizeof *join);
    ARENA_OWNS(arena_of(join), &join->at, &join->places);
    join->groups = arena_hold(arena_of(join), names_open());
    return join;
}

/* Keep the events that determine the span of FILE (trace/span.h): what begins first and ends last, of everything and of
 * what takes time. */
static void need_span(const struct trace *trace, const struct trace_file *file, bool *needed)
{
    event_id first[2] = { EVENT_NONE, EVENT_NONE }, last[2] = { EVENT_NONE, EVENT_NONE };
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        bool is_span = trace->kind[e] != EVENT_SPAN && trace->kind[e] != EVENT_INSTANT &&
                       !(trace->flags[e] & EVENT_POINT);
        for (int all = 0; all < 2; all++) {
            if (!is_span && !all)
                continue;
            if (first[all] == EVENT_NONE || trace_start_ns(trace, e) < trace_start_ns(trace, first[all]))
                first[all] = e;
            if (last[all] == EVENT_NONE ||
                trace_recorded_end_ns(trace, e) > trace_recorded_end_ns(trace, last[all]))
                last[all] = e;
        }
    }
    for (int all = 0; all < 2; all++)
        if (first[all] != EVENT_NONE)
            needed[first[all]] = needed[last[all]] = true;
}

bool *collectives_join_needs(const struct collectives *all)
{
    const struct trace *trace = all->trace;
    const struct step_list *steps = step_list_of(trace);
    bool *needed = mem_zalloc(trace->event_count + 1, sizeof *needed);
    for (size_t i = 0; i < all->count; i++) {
        needed[all->at[i].event] = true;
        if (all->at[i].launch != EVENT_NONE)
            needed[all->at[i].launch] = true;
    }
    for (size_t i = 0; i < steps->count; i++)
        needed[steps->at[i].event] = true;
    for (size_t f = 0; f < trace->file_count; f++)
        need_span(trace, &trace->files[f], needed);
    return needed;
}

/* ---- taking ---- */

static name_id collect_group(struct collectives_join *join, const struct trace *trace, name_id text)
{
    return text == NAME_NONE
               ? NAME_NONE
               : names_add(join->groups, names_text(trace->texts, text), names_length(trace->texts, text));
}

/* By event of the trace: its number in the common one, if it is NEEDED. New; free(). */
static event_id *number_events(const struct trace *trace, const bool *needed, event_id first_event)
{
    event_id *number_of = mem_alloc(mem_times(trace->event_count + 1, sizeof *number_of));
    event_id next = first_event;
    for (size_t e = 0; e < trace->event_count; e++)
        number_of[e] = needed[e] ? next++ : EVENT_NONE;
    return number_of;
}

void collectives_join_add(struct collectives_join *join, const struct collectives *all, const bool *needed,
                          event_id first_event, uint32_t first_file)
{
    const struct trace *trace = all->trace;
    SCOPED event_id *number_of = number_events(trace, needed, first_event);
    uint32_t first_place = (uint32_t)join->places.count;
    size_t devices = all->place_count - trace->file_count; /* hosts follow them */
    for (size_t p = 0; p < all->place_count; p++)
        *VEC_PUSH(&join->places) =
            (struct joined_place){ all->places[p].file + first_file, all->places[p].device, p >= devices };
    for (size_t i = 0; i < all->count; i++) {
        struct collective one = all->at[i];
        one.event = number_of[one.event];
        one.launch = one.launch == EVENT_NONE ? EVENT_NONE : number_of[one.launch];
        one.op = EVENT_NONE;
        one.place += first_place;
        one.library = one.type = NULL;
        one.group_name = collect_group(join, trace, one.group_name);
        one.group_description = collect_group(join, trace, one.group_description);
        one.group_ranks = collect_group(join, trace, one.group_ranks);
        *VEC_PUSH(join) = one;
    }
    join->without_kernel += all->without_kernel;
}

/* ---- all together ---- */

/* The devices of all files, then their hosts. By place of JOIN: its index. New; free(). */
static uint32_t *number_places(const struct collectives_join *join, struct collectives *all)
{
    uint32_t *number_of = mem_alloc(mem_times(join->places.count + 1, sizeof *number_of));
    uint32_t devices = SUM(uint32_t, p, join->places.count, !join->places.at[p].is_host);
    all->place_count = devices + all->trace->file_count;
    all->places = collective_places_open(all);
    uint32_t next = 0;
    for (size_t p = 0; p < join->places.count; p++) {
        const struct joined_place *place = &join->places.at[p];
        number_of[p] = place->is_host ? devices + place->file : next++;
        all->places[number_of[p]].file = place->file;
        all->places[number_of[p]].device = place->device;
    }
    return number_of;
}

struct collectives *collectives_join_finish(struct collectives_join *join, const struct trace *trace)
{
    struct collectives *all = arena_open(sizeof *all);
    ARENA_OWNS(arena_of(all), &all->at);
    all->trace = trace;
    all->without_kernel = join->without_kernel;
    SCOPED uint32_t *number_of = number_places(join, all);
    SCOPED size_t *first =
        mem_zalloc(all->place_count + 2, sizeof *first); /* by place: where its collectives begin */
    for (size_t i = 0; i < join->count; i++)
        first[number_of[join->at[i].place] + 1]++;
    for (size_t p = 0; p < all->place_count; p++)
        first[p + 1] += first[p];
    VEC_RESERVE(all, join->count + 1);
    all->count = join->count;
    for (size_t i = 0; i < join->count; i++) {
        struct collective one = join->at[i];
        one.place = number_of[one.place];
        all->at[first[one.place]++] = one;
    }
    arena_free(join);
    return all;
}
