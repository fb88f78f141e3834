/* medians.c - see medians.h. */
#include "fleet/medians.h"

#include "figures/facts.h"
#include <math.h>
#include <stdlib.h>

static int medians_compare_integers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return (a > b) - (a < b);
}

static int compare_doubles(const void *left, const void *right)
{
    double a = *(const double *)left, b = *(const double *)right;
    return (a > b) - (a < b);
}

int64_t fleet_median(int64_t *values, size_t count)
{
    if (count == 0)
        return FACTS_MISSING;
    qsort(values, count, sizeof *values, medians_compare_integers);
    return values[(count - 1) / 2];
}

double fleet_median_of(double *values, size_t count)
{
    if (count == 0)
        return NAN;
    qsort(values, count, sizeof *values, compare_doubles);
    return values[(count - 1) / 2];
}
