/* medians.h - lower medians. */
#ifndef TPA_FLEET_MEDIANS_H
#define TPA_FLEET_MEDIANS_H

#include <stddef.h>
#include <stdint.h>

/* Sort VALUES and return their lower median: FACTS_MISSING or NaN if there are none. */
int64_t fleet_median(int64_t *values, size_t count);
double fleet_median_of(double *values, size_t count);

#endif
