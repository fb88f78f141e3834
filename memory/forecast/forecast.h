/*
 * forecast.h - the peak of memory at a size that was not run.
 *
 *     struct forecast forecast = forecast_at(recordings, count, target);
 *     printf("%" PRId64 " bytes\n", forecast.peak_bytes);
 *     forecast_release(&forecast);
 *
 * The peak is a maximum over moments, and the moment moves with the size. So the blocks of a recording, the base, are matched with those of
 * the others by sequence, the growth of each is found (growth.h), and the order of allocations and frees is replayed with the
 * sizes predicted. docs/definitions.md has the rule.
 */
#ifndef TPA_MEMORY_FORECAST_FORECAST_H
#define TPA_MEMORY_FORECAST_FORECAST_H

#include "base/table.h"
#include "memory/forecast/growth.h"

struct forecast_grown {
    uint32_t name;               /* of forecast_texts */
    int64_t bytes, growth_bytes; /* at the predicted peak; against the same blocks in the base */
    double share;                /* of all growth */
    enum growth_kind kind;       /* of most of its bytes */
    int64_t by_kind[GROWTH_KINDS];
};

struct forecast {
    size_t base; /* of the recordings */
    int64_t peak_bytes, low_bytes, high_bytes;
    int64_t reserved_bytes, reserved_low_bytes,
        reserved_high_bytes; /* TABLE_INT_MISSING without a caching allocator */
    bool sure;
    const char *why;                     /* why not; a literal */
    VEC_OF(struct forecast_grown) grown; /* most growth first */
};

/* The forecast of COUNT recordings, two or more, at TARGET. Release with forecast_release. */
struct forecast forecast_at(const struct forecast_recording *recordings, size_t count,
                            const double target[FORECAST_SIZES]);
void forecast_release(struct forecast *forecast);

#endif
