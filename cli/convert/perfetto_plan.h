/*
 * perfetto_plan.h - the contents of a Perfetto file in order: file by file, beginnings and ends of all tracks by time.
 *
 * Slices of one track must nest there, because an END closes the slice begun last. Crossing slices go to a separate
 * track below the first, a lane. At one moment, ENDs come before BEGINs, and the longer slice is begun first; those of
 * equal length are begun in the order of the trace, whose analyses nest in the same order.
 */
#ifndef TPA_CLI_PERFETTO_PLAN_H
#define TPA_CLI_PERFETTO_PLAN_H

#include "base/buffer.h"
#include "base/memory.h"
#include "trace/trace.h"

/* Sequences of packets: interned texts and defaults hold for the first. */
enum perfetto_sequence { PERFETTO_EVENTS_SEQUENCE = 1, PERFETTO_PLAIN_SEQUENCE = 2 };

enum perfetto_mark_type {
    PERFETTO_BEGIN = 1,
    PERFETTO_END = 2,
    PERFETTO_INSTANT = 3
}; /* as in TrackEvent.type */

struct perfetto_mark {
    event_id event;
    uint32_t uuid; /* of the track */
    uint8_t type;  /* enum perfetto_mark_type */
};

/* A track for crossing or asynchronous slices of TRACK. */
struct perfetto_lane {
    track_id track;
    uint32_t uuid, number; /* number: from 1 */
    bool is_async;
};

/* There are two marks for most events, so they are stored in few bytes; use perfetto_plan_mark. */
struct perfetto_plan {
    const struct trace *trace;
    uint32_t next_uuid;
    uint32_t *uuid_of; /* by track: its own; processes have numbers before these */
    uint32_t *lane_of; /* by event: the uuid of its lane; 0: its track is none */
    event_id *marks;   /* the event of each */
    uint64_t *is_end;  /* a bit for each mark */
    size_t mark_count;
    VEC_OF(struct perfetto_lane) lanes;
};

/* Plan TRACE, whose tracks get uuids from FIRST_UUID on, and others from NEXT_UUID on. Free with
 * perfetto_plan_release. */
void perfetto_plan_init(struct perfetto_plan *plan, const struct trace *trace, uint32_t first_uuid,
                        uint32_t next_uuid);
void perfetto_plan_release(struct perfetto_plan *plan);

/* The mark at INDEX, below mark_count. */
static inline struct perfetto_mark perfetto_plan_mark(const struct perfetto_plan *plan, size_t index)
{
    event_id e = plan->marks[index];
    bool is_end = plan->is_end[index / 64] >> index % 64 & 1;
    enum perfetto_mark_type begin = plan->trace->flags[e] & EVENT_POINT ? PERFETTO_INSTANT : PERFETTO_BEGIN;
    return (struct perfetto_mark){
        .event = e,
        .uuid = plan->lane_of[e] ? plan->lane_of[e] : plan->uuid_of[plan->trace->track[e]],
        .type = (uint8_t)(is_end ? PERFETTO_END : begin),
    };
}

#endif
