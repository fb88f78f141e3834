/*
 * timeline.h - how a device spent any interval of its time, by binary search.
 *
 *     struct fleet_timeline line;
 *     timeline_init(&line, gpu, device, gaps);
 *     int64_t part_ns[FACTS_PARTS];
 *     timeline_split(&line, start_ns, end_ns, part_ns);      // they add up to end_ns - start_ns
 *     timeline_release(&line);
 *
 * Idle time is split by cause as tpa gaps does. If a gap extends beyond the interval, the part within counts for the
 * cause of the gap's largest part.
 */
#ifndef TPA_FLEET_TIMELINE_H
#define TPA_FLEET_TIMELINE_H

#include "facts/device_use.h"
#include "fleet/facts.h"

/* A set of intervals, with prefix sums of their lengths. */
struct measured {
    struct intervals set;
    int64_t *before_ns; /* set.count + 1 of them */
};

/* Take the intervals of SET, which is finished and left empty. Release with measured_release. */
void measured_take(struct measured *measured, struct intervals *set);
int64_t measured_within(const struct measured *measured, int64_t start_ns, int64_t end_ns);
void measured_release(struct measured *measured);

struct fleet_timeline {
    struct measured exposed[DEVICE_USES];
    struct measured communication; /* overlapped communication included */
    int64_t busy_ns;
    struct interval span;   /* from the first start to the last end of work */
    const struct gap *gaps; /* borrowed: those of the device, by start */
    size_t gap_count;
    int64_t (*cause_before_ns)[GAP_CAUSES]; /* gap_count + 1 of them: totals of the gaps before */
};

/* Initialise the timeline of the device of index DEVICE. GAPS, listed in order, must outlive it. */
void timeline_init(struct fleet_timeline *line, const struct gpu_events *gpu, uint32_t device,
                   const struct gaps *gaps);
void timeline_release(struct fleet_timeline *line);

/* How [START, END) was spent; the parts add up to its length. */
void timeline_split(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                    int64_t part_ns[FACTS_PARTS]);

#endif
