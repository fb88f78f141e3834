/* timeline_rest.c - what belongs neither to a stream nor to the stack of a thread: waits of devices, and what the host did
 * asynchronously. A lane of each for every file that has any, in which what overlaps is in rows. */
#include "charts/timeline_parts.h"

enum { ROWS = 4 };

static bool waits_on_device(enum event_kind kind)
{
    return kind == EVENT_SYNC || kind == EVENT_GPU_OTHER;
}

static bool is_async(const struct trace *trace, event_id e)
{
    enum event_kind kind = trace->kind[e];
    return trace->flags[e] & EVENT_ASYNC && !(trace->flags[e] & EVENT_POINT) && kind != EVENT_SPAN &&
           kind != EVENT_INSTANT && !event_on_device(kind);
}

/* Events of a file that are in no other lane. */
struct rest {
    VEC_OF(event_id);
};

static void add_lane(struct timeline_making *making, uint32_t file, const char *title, uint32_t kind,
                     struct rest *rest)
{
    const struct trace *trace = making->trace;
    if (rest->count == 0)
        return;
    uint32_t lane =
        timeline_add_lane(making->timeline, title, timeline_name_file(making, file), TIMELINE_HOST);
    int64_t end_ns[ROWS] = { INT64_MIN, INT64_MIN, INT64_MIN, INT64_MIN };
    SORT_BY(rest->at, rest->count, i, trace_start_ns(trace, rest->at[i]));
    for (size_t i = 0; i < rest->count; i++) {
        event_id e = rest->at[i];
        uint16_t row = 0;
        while (row < ROWS - 1 && end_ns[row] > trace_start_ns(trace, e))
            row++;
        end_ns[row] = trace_end_ns(trace, e);
        timeline_collect(
            making, file,
            (struct timeline_span){ .lane = lane,
                                    .kind = kind == SPAN_KINDS ? timeline_kind_of(making, e) : kind,
                                    .depth = row,
                                    .event = e,
                                    .call = TIMELINE_NO_EVENT,
                                    .operation = EVENT_NONE,
                                    .start_ns = trace_start_ns(trace, e),
                                    .dur_ns = trace_dur_ns(trace, e),
                                    .weight = trace_dur_ns(trace, e) });
    }
    rest->count = 0;
}

void timeline_add_rest(struct timeline_making *making)
{
    const struct trace *trace = making->trace;
    SCOPED struct rest *waits = mem_zalloc(trace->file_count + 1, sizeof *waits),
                       *async = mem_zalloc(trace->file_count + 1, sizeof *async);
    for (event_id e = 0; e < trace->event_count; e++) {
        struct rest *of = waits_on_device(trace->kind[e]) ? waits : is_async(trace, e) ? async : NULL;
        if (of && (!making->selection || selection_holds_place(making->selection, e)))
            *VEC_PUSH(&of[trace->tracks[trace->track[e]].file]) = e;
    }
    for (uint32_t file = 0; file < trace->file_count; file++) {
        add_lane(making, file, "asynchronous", SPAN_KINDS, &async[file]);
        add_lane(making, file, "waits of devices", SPAN_WAIT, &waits[file]);
        EACH(VEC_FREE, &async[file], &waits[file]);
    }
}
