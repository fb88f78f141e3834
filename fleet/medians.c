#include "fleet/parts.h"

#include "base/rows.h"
#include <math.h>

int64_t fleet_median(int64_t *values, size_t count)
{
    if (count == 0)
        return FACTS_MISSING;
    SORT_NUMBERS(values, count);
    return values[(count - 1) / 2];
}

double fleet_median_of(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    SORT_NUMBERS(values, count);
    return values[(count - 1) / 2];
}
