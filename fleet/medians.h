/* medians.h - the middle of values, the lower of two. */
#ifndef TPA_FLEET_MEDIANS_H
#define TPA_FLEET_MEDIANS_H

#include <stddef.h>
#include <stdint.h>

/* Sort VALUES; their median: FACTS_MISSING, NaN of none. */
int64_t fleet_median(int64_t *values, size_t count);
double fleet_median_of(double *values, size_t count);

#endif
