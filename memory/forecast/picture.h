/* picture.h - the predicted peak of memory by size: its parts by growth, and what the allocator reserves. */
#ifndef TPA_MEMORY_FORECAST_PICTURE_H
#define TPA_MEMORY_FORECAST_PICTURE_H

#include "memory/forecast/query.h"

/*
 * Add to PICTURE a chart of each device and each size in which the recordings of QUERY differ: whole sizes from the smallest recorded
 * to the largest of those recorded, the COUNT TARGETS, and what fits in CAPACITY bytes (0: not given). The other sizes are those of the
 * first target, else of the recording with the largest peak. False and ERR as forecast_answer.
 */
bool forecast_draw(struct forecast_query *query, const char *const *targets, size_t count, int64_t capacity,
                   struct picture *picture, struct tpa_error *err);

#endif
