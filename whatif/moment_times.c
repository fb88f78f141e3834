#include "whatif/replay.h"

static size_t blocks_of(size_t count)
{
    return count / MOMENTS_OF_BLOCK + 1;
}

void moment_times_resize(struct moment_times *times, size_t count)
{
    size_t blocks = times->base_ns ? blocks_of(times->count) : 0, wanted = blocks_of(count);
    times->from_base_ns = column_resize(times->from_base_ns, mem_times(times->count, sizeof(int32_t)),
                                        mem_times(count, sizeof(int32_t)));
    times->base_ns =
        column_resize(times->base_ns, mem_times(blocks, sizeof(int64_t)), mem_times(wanted, sizeof(int64_t)));
    for (size_t b = blocks; b < wanted; b++)
        times->base_ns[b] = INT64_MIN;
    if (times->far)
        times->far = column_resize(times->far, mem_times(blocks, sizeof *times->far),
                                   mem_times(wanted, sizeof *times->far));
    times->count = count;
}

static void set_far(struct moment_times *times, moment_id m, int64_t ns)
{
    if (!times->far)
        times->far = column_resize(NULL, 0, mem_times(blocks_of(times->count), sizeof *times->far));
    struct far_times *far = &times->far[m / MOMENTS_OF_BLOCK];
    if (!far->at_ns)
        far->at_ns = mem_alloc(MOMENTS_OF_BLOCK * sizeof *far->at_ns);
    far->at_ns[m % MOMENTS_OF_BLOCK] = ns;
    times->from_base_ns[m] = MOMENT_IS_FAR;
}

void moment_times_set(struct moment_times *times, moment_id m, int64_t ns)
{
    int64_t *base_ns = &times->base_ns[m / MOMENTS_OF_BLOCK], apart_ns;
    if (*base_ns == INT64_MIN)
        *base_ns = ns == INT64_MIN ? ns + 1 : ns;
    if (__builtin_sub_overflow(ns, *base_ns, &apart_ns) || apart_ns <= INT32_MIN || apart_ns > INT32_MAX)
        set_far(times, m, ns);
    else
        times->from_base_ns[m] = (int32_t)apart_ns;
}

void moment_times_release(struct moment_times *times)
{
    size_t blocks = times->base_ns ? blocks_of(times->count) : 0;
    for (size_t b = 0; times->far && b < blocks; b++)
        free(times->far[b].at_ns);
    column_free(times->from_base_ns, mem_times(times->count, sizeof(int32_t)));
    column_free(times->base_ns, mem_times(blocks, sizeof(int64_t)));
    column_free(times->far, mem_times(blocks, sizeof *times->far));
    *times = (struct moment_times){ 0 };
}
