/*
 * device_use.h - what a device did with its time: sets of moments in which it computed, communicated and copied.
 *
 *     struct device_use use = { 0 };
 *     for (...)
 *         device_use_add(&use, gpu->work[at], trace_start_ns(trace, e), trace_end_ns(trace, e));
 *     device_use_finish(&use);
 *     int64_t exposed_ns = intervals_length(&use.exposed[USE_COMMUNICATION]);
 *     device_use_release(&use);
 *
 * Each moment counts once: it computes (kernels that do not communicate, and memsets); else it communicates, which is
 * then exposed; else it copies. docs/definitions.md has these for users.
 */
#ifndef TPA_FACTS_DEVICE_USE_H
#define TPA_FACTS_DEVICE_USE_H

#include "facts/gpu_events.h"
#include "trace/intervals.h"

enum { USE_COMPUTATION, USE_COMMUNICATION, USE_COPIES, DEVICE_USES };

/* Zero-initialise it. */
struct device_use {
    struct intervals of_work[GPU_WORKS]; /* when work of each kind ran */
    struct intervals of[DEVICE_USES];    /* they may overlap */
    struct intervals
        exposed[DEVICE_USES]; /* disjoint: each without those before it. Together, when it was busy */
};

/* Work of a kind (enum gpu_work) ran in [START, END). Adding in order of start is cheapest. */
static inline void device_use_add(struct device_use *use, uint8_t work, int64_t start_ns, int64_t end_ns)
{
    intervals_add(&use->of_work[work], start_ns, end_ns);
}

/* Make sets of what was added. */
void device_use_finish(struct device_use *use);

/* Add to OUT, a set, when work ran of any of the kinds in WORKS, a set of 1 << enum gpu_work. USE is finished. */
void device_use_unite(const struct device_use *use, unsigned works, struct intervals *out);

void device_use_release(struct device_use *use);

/*
 * Work in order of its start, part by part of the time: who adds up lengths needs no memory for the moments of all of it.
 *
 *     struct device_use_walk walk = { .gpu = gpu, .at = positions, .count = count };
 *     while (device_use_next(&walk, &use))
 *         exposed_ns += intervals_length(&use.exposed[USE_COMMUNICATION]);
 *     device_use_release(&use);
 */
struct device_use_walk {
    const struct gpu_events *gpu;
    const uint32_t *at; /* positions in gpu->event, by start */
    size_t count;
    /* Of the part at hand: the work that begins in it, and its bounds. What is still running then goes on in the next. */
    size_t first, end;
    int64_t start_ns, end_ns;
    int64_t until_ns[GPU_WORKS]; /* the last end of the work up to here */
};

/* Let USE, which is finished, be of the next part of WALK. False: there is none. */
bool device_use_next(struct device_use_walk *walk, struct device_use *use);

#endif
