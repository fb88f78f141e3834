#include "memory/forecast/forecast.h"

#include <math.h>

enum { DEGREES = 2 * FORECAST_SIZES };

const char *growth_kind_name(enum growth_kind kind)
{
    static const char *const names[GROWTH_KINDS] = {
        [GROWTH_CONSTANT] = "constant",   [GROWTH_LINEAR] = "linear", [GROWTH_QUADRATIC] = "quadratic",
        [GROWTH_PRODUCT] = "product",     [GROWTH_AFFINE] = "affine", [GROWTH_MIXED] = "mixed",
        [GROWTH_IRREGULAR] = "irregular",
    };
    return names[kind];
}

static bool are_equal(double a, double b)
{
    return fabs(a - b) <= fmax(512, 0.004 * fmax(fabs(a), fabs(b)));
}

/* The monomial at SIZES against its value at BASE. */
static double monomial(const uint8_t power[FORECAST_SIZES], const double *sizes, const double *base)
{
    double product = 1;
    for (int i = 0; i < FORECAST_SIZES; i++)
        for (int p = 0; p < power[i]; p++)
            product *= sizes[i] / base[i];
    return product;
}

static enum growth_kind kind_of(const uint8_t power[FORECAST_SIZES])
{
    int degree = 0, factors = 0;
    for (int i = 0; i < FORECAST_SIZES; i++) {
        degree += power[i];
        factors += power[i] > 0;
    }
    return factors > 1 ? GROWTH_PRODUCT : degree == 2 ? GROWTH_QUADRATIC : GROWTH_LINEAR;
}

/* The next powers of the sizes in VARYING with the sum DEGREE; false after the last. All zero at first. */
static bool next_powers(uint8_t power[FORECAST_SIZES], unsigned varying, int degree)
{
    for (;;) {
        int i = 0, sum = 0;
        for (; i < FORECAST_SIZES; i++) {
            if (!(varying >> i & 1))
                continue;
            if (power[i] < 2) {
                power[i]++;
                break;
            }
            power[i] = 0;
        }
        if (i == FORECAST_SIZES)
            return false;
        for (i = 0; i < FORECAST_SIZES; i++)
            sum += power[i];
        if (sum == degree)
            return true;
    }
}

struct points {
    const double *values;
    const double (*sizes)[FORECAST_SIZES];
    size_t count, base;
    const double *target;
};

/* Do the points lie on CONSTANT plus a monomial that is AT_BASE at the base? */
static bool fits(const struct points *points, const uint8_t power[FORECAST_SIZES], double constant,
                 double at_base)
{
    return !ANY(i, points->count,
                !are_equal(points->values[i], constant + at_base * monomial(power, points->sizes[i],
                                                                            points->sizes[points->base])));
}

/* Solve constant + at_base * monomial through the base and the point whose monomial differs most. */
static bool solve(const struct points *points, const uint8_t power[FORECAST_SIZES], double *constant,
                  double *at_base)
{
    double most = 0, value = points->values[points->base];
    for (size_t i = 0; i < points->count; i++) {
        double change = monomial(power, points->sizes[i], points->sizes[points->base]) - 1;
        if (fabs(change) <= fabs(most))
            continue;
        most = change;
        *at_base = (points->values[i] - value) / change;
    }
    *constant = value - *at_base;
    return most != 0;
}

/* Look for the lowest monomial that fits, with a constant or without; those of the same degree set the bounds. */
static bool find(struct growth *growth, const struct points *points, unsigned varying, bool with_constant)
{
    for (int degree = 1; degree <= DEGREES; degree++) {
        uint8_t power[FORECAST_SIZES] = { 0 };
        bool found = false;
        while (next_powers(power, varying, degree)) {
            double constant = 0, at_base = points->values[points->base];
            if ((with_constant && !solve(points, power, &constant, &at_base)) ||
                !fits(points, power, constant, at_base))
                continue;
            double then = constant + at_base * monomial(power, points->target, points->sizes[points->base]);
            growth->low = found ? fmin(growth->low, then) : then;
            growth->high = found ? fmax(growth->high, then) : then;
            if (found)
                continue;
            found = true;
            memcpy(growth->power, power, sizeof power);
            growth->constant = constant;
            growth->at_base = at_base;
            growth->then = then;
            growth->kind = !with_constant ? kind_of(power) : points->count > 2 ? GROWTH_AFFINE : GROWTH_MIXED;
        }
        if (found)
            return true;
    }
    return false;
}

struct growth growth_of(const double *values, const double (*sizes)[FORECAST_SIZES], size_t count,
                        size_t base, unsigned varying, const double target[FORECAST_SIZES])
{
    struct points points = { values, sizes, count, base, target };
    struct growth growth = {
        .constant = values[base], .then = values[base], .low = values[base], .high = values[base]
    };
    static const uint8_t none[FORECAST_SIZES];
    if (fits(&points, none, values[base], 0) || find(&growth, &points, varying, false))
        return growth;
    if (find(&growth, &points, varying, true)) {
        if (growth.kind == GROWTH_MIXED) {
            /* two points do not tell by which power it grows: linear at least, quadratic at most */
            for (int i = 0; i < FORECAST_SIZES; i++) {
                uint8_t power[FORECAST_SIZES] = { 0 };
                double constant, at_base;
                power[i] = 2;
                if (!(varying >> i & 1) || !solve(&points, power, &constant, &at_base))
                    continue;
                double then = constant + at_base * monomial(power, target, sizes[base]);
                growth.low = fmin(growth.low, then);
                growth.high = fmax(growth.high, then);
            }
        }
        growth.low = fmax(growth.low, 0);
        growth.then = fmax(growth.then, 0);
        return growth;
    }
    double ratio = 1;
    growth.kind = GROWTH_IRREGULAR;
    for (int i = 0; i < FORECAST_SIZES; i++)
        ratio *= varying >> i & 1 ? target[i] / sizes[base][i] : 1;
    growth.then = values[base] * ratio;
    growth.low = fmin(values[base], growth.then);
    growth.high = fmax(values[base], growth.then);
    for (size_t k = 0; k < count; k++) {
        growth.low = fmin(growth.low, values[k]);
        growth.high = fmax(growth.high, values[k]);
    }
    return growth;
}
