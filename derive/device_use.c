#include "derive/device_use.h"

void device_use_unite(const struct device_use *use, unsigned kinds, struct intervals *out)
{
    for (int work = 0; work < GPU_WORK_KINDS; work++) {
        if (!(kinds >> work & 1) || use->of_work[work].count == 0)
            continue;
        struct intervals both = { 0 };
        intervals_union(out, &use->of_work[work], &both);
        intervals_release(out);
        *out = both;
    }
}

void device_use_finish(struct device_use *use)
{
    static const unsigned kinds[DEVICE_USES] = {
        [USE_COMPUTATION] = 1u << GPU_COMPUTATION | 1u << GPU_MEMSET,
        [USE_COMMUNICATION] = 1u << GPU_NCCL | 1u << GPU_COMMUNICATION,
        [USE_COPIES] = 1u << GPU_MEMCPY,
    };
    static const struct intervals none = { 0 };
    const struct intervals *before = &none; /* the union of the uses so far */
    struct intervals both = { 0 };          /* of several */
    for (int work = 0; work < GPU_WORK_KINDS; work++)
        intervals_merge(&use->of_work[work]);
    for (int i = 0; i < DEVICE_USES; i++) {
        device_use_unite(use, kinds[i], &use->of[i]);
        if (before->count == 0) {
            intervals_union(&use->of[i], &none, &use->exposed[i]); /* which copies it */
            before = &use->of[i];
            continue;
        }
        intervals_subtract(&use->of[i], before, &use->exposed[i]);
        if (use->of[i].count == 0 || i + 1 == DEVICE_USES)
            continue;
        struct intervals all = { 0 };
        intervals_union(before, &use->of[i], &all);
        intervals_release(&both);
        both = all;
        before = &both;
    }
    intervals_release(&both);
}

void device_use_release(struct device_use *use)
{
    for (int work = 0; work < GPU_WORK_KINDS; work++)
        intervals_release(&use->of_work[work]);
    for (int i = 0; i < DEVICE_USES; i++)
        EACH(intervals_release, &use->of[i], &use->exposed[i]);
}

static void clear(struct device_use *use)
{
    for (int work = 0; work < GPU_WORK_KINDS; work++)
        intervals_clear(&use->of_work[work]);
    for (int i = 0; i < DEVICE_USES; i++) {
        intervals_clear(&use->of[i]);
        intervals_clear(&use->exposed[i]);
    }
}

static size_t position(const struct device_use_walk *walk, size_t i)
{
    return walk->at ? walk->at[i] : walk->offset + i;
}

/* A part ends where the next operation begins. Its sets fit into the cache. */
bool device_use_next(struct device_use_walk *walk, struct device_use *use)
{
    enum { PART = 4096 };
    const struct trace *trace = walk->gpu->trace;
    if (walk->end == walk->count)
        return false;
    clear(use);
    walk->first = walk->end;
    walk->end = walk->count - walk->first > PART ? walk->first + PART : walk->count;
    walk->start_ns = trace_start_ns(trace, walk->gpu->event[position(walk, walk->first)]);
    walk->end_ns = walk->end < walk->count
                       ? trace_start_ns(trace, walk->gpu->event[position(walk, walk->end)])
                       : INT64_MAX;
    for (int work = 0; walk->first && work < GPU_WORK_KINDS; work++)
        device_use_add(use, (uint8_t)work, walk->start_ns,
                       walk->until_ns[work] < walk->end_ns ? walk->until_ns[work] : walk->end_ns);
    for (size_t i = walk->first; i < walk->end; i++) {
        uint8_t work = walk->gpu->work[position(walk, i)];
        event_id e = walk->gpu->event[position(walk, i)];
        int64_t end_ns = trace_end_ns(trace, e);
        device_use_add(use, work, trace_start_ns(trace, e), end_ns < walk->end_ns ? end_ns : walk->end_ns);
        if (i == 0) /* nothing ran before */
            for (int any = 0; any < GPU_WORK_KINDS; any++)
                walk->until_ns[any] = walk->start_ns;
        if (end_ns > walk->until_ns[work])
            walk->until_ns[work] = end_ns;
    }
    device_use_finish(use);
    return true;
}
