/*
 * growth.h - how bytes grow with the sizes of a job.
 *
 *     struct growth growth = growth_of(bytes, sizes, count, base, varying);
 *     double then = growth_at(&growth, sizes[base], target);
 *
 * A tensor is a product of dimensions: bytes are constant, a monomial of the sizes (powers up to 2), or a constant plus one monomial.
 * Of those that fit all points, within 512 bytes or 0.4 %, the one of lowest degree is taken.
 */
#ifndef TPA_MEMORY_FORECAST_GROWTH_H
#define TPA_MEMORY_FORECAST_GROWTH_H

#include "memory/forecast/recording.h"

enum growth_kind {
    GROWTH_CONSTANT,
    GROWTH_LINEAR,
    GROWTH_QUADRATIC,
    GROWTH_PRODUCT,
    GROWTH_AFFINE,    /* a constant plus a monomial, which more points than unknowns confirm */
    GROWTH_MIXED,     /* the same, with two points only */
    GROWTH_IRREGULAR, /* none of these */
    GROWTH_KINDS
};

/* "constant", "linear" ... */
const char *growth_kind_name(enum growth_kind kind);

struct growth {
    enum growth_kind kind;
    uint8_t power[FORECAST_SIZES]; /* of the monomial, by size */
    double constant, at_base;      /* CONSTANT + AT_BASE is the value at the base */
    double low, high; /* at the target: other monomials of the same degree fit, too, or none does */
    double then;      /* at the target */
};

/* Is it predicted block by block? Sums of others are predicted. */
static inline bool growth_is_regular(const struct growth *growth)
{
    return growth->kind < GROWTH_MIXED;
}

/* The growth of COUNT values at SIZES; BASE is the index of the base; only sizes of the set VARYING (bits) are considered. */
struct growth growth_of(const double *values, const double (*sizes)[FORECAST_SIZES], size_t count,
                        size_t base, unsigned varying, const double target[FORECAST_SIZES]);

#endif
