/* device_use.c - see device_use.h. */
#include "facts/device_use.h"

void device_use_unite(const struct device_use *use, unsigned works, struct intervals *out)
{
    for (int work = 0; work < GPU_WORKS; work++) {
        if (!(works >> work & 1) || use->of_work[work].count == 0)
            continue;
        struct intervals both = { 0 };
        intervals_union(out, &use->of_work[work], &both);
        intervals_release(out);
        *out = both;
    }
}

void device_use_finish(struct device_use *use)
{
    static const unsigned works[DEVICE_USES] = {
        [USE_COMPUTATION] = 1u << GPU_COMPUTATION | 1u << GPU_MEMSET,
        [USE_COMMUNICATION] = 1u << GPU_NCCL | 1u << GPU_COMMUNICATION,
        [USE_COPIES] = 1u << GPU_MEMCPY,
    };
    struct intervals before = { 0 };
    for (int work = 0; work < GPU_WORKS; work++)
        intervals_merge(&use->of_work[work]);
    for (int i = 0; i < DEVICE_USES; i++) {
        struct intervals all = { 0 };
        device_use_unite(use, works[i], &use->of[i]);
        intervals_subtract(&use->of[i], &before, &use->exposed[i]);
        intervals_union(&before, &use->of[i], &all);
        intervals_release(&before);
        before = all;
    }
    intervals_release(&before);
}

void device_use_release(struct device_use *use)
{
    for (int work = 0; work < GPU_WORKS; work++)
        intervals_release(&use->of_work[work]);
    for (int i = 0; i < DEVICE_USES; i++) {
        intervals_release(&use->of[i]);
        intervals_release(&use->exposed[i]);
    }
}
