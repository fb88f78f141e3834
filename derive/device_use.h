/*
 * device_use.h - how a device spent its time: sets of intervals in which it computed, communicated and copied.
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
#ifndef TPA_DERIVE_DEVICE_USE_H
#define TPA_DERIVE_DEVICE_USE_H

#include "derive/gpu_events.h"

enum { USE_COMPUTATION, USE_COMMUNICATION, USE_COPIES, DEVICE_USES };

/* Zero-initialise it. */
struct device_use {
    struct intervals of_work[GPU_WORK_KINDS]; /* when work of each kind ran */
    struct intervals of[DEVICE_USES];         /* they may overlap */
    /* disjoint: each without the earlier ones; their union is the busy time */
    struct intervals exposed[DEVICE_USES];
};

/* Add work of a kind (enum gpu_work) in [START, END), in ns. Adding in order of start is cheapest. */
static inline void device_use_add(struct device_use *use, uint8_t work, int64_t start_ns, int64_t end_ns)
{
    intervals_add(&use->of_work[work], start_ns, end_ns);
}

/* Compute the sets. Call once, after all work was added. */
void device_use_finish(struct device_use *use);

/* Add to OUT, a set, the intervals in which work of any of the kinds in KINDS ran, bits 1 << enum gpu_work. USE is
 * finished. */
void device_use_unite(const struct device_use *use, unsigned kinds, struct intervals *out);

/* Free what USE owns. */
void device_use_release(struct device_use *use);

/*
 * Iterate over the work in order of start in parts: adding up lengths needs no memory for the intervals of all work.
 *
 *     struct device_use_walk walk = { .gpu = gpu, .at = positions, .count = count };
 *     while (device_use_next(&walk, &use))
 *         exposed_ns += intervals_length(&use.exposed[USE_COMMUNICATION]);
 *     device_use_release(&use);
 */
struct device_use_walk {
    const struct gpu_events *gpu;
    const uint32_t *at; /* positions in gpu->event, by start; NULL: those from OFFSET on, as of a device */
    size_t offset, count;
    /* The current part: the work that begins in it, and its bounds. Work still running at its end continues in the
     * next. */
    size_t first, end;
    int64_t start_ns, end_ns;
    int64_t until_ns[GPU_WORK_KINDS]; /* the last end of the work up to here */
};

/* Set USE, finished, to the next part of WALK. False if there is none. */
bool device_use_next(struct device_use_walk *walk, struct device_use *use);

#endif
