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

struct perfetto_plan {
    const struct trace *trace;
    uint32_t next_uuid;
    uint32_t *uuid_of; /* by track: its own; processes have numbers before these */
    VEC_OF(struct perfetto_mark) marks;
    VEC_OF(struct perfetto_lane) lanes;
};

/* Plan TRACE, whose tracks get uuids from FIRST_UUID on, and others from NEXT_UUID on. Free with
 * perfetto_plan_release. */
void perfetto_plan_init(struct perfetto_plan *plan, const struct trace *trace, uint32_t first_uuid,
                        uint32_t next_uuid);
void perfetto_plan_release(struct perfetto_plan *plan);

#endif
