/* Tables of a million rows have a million shares, and printf with a trial of 15, 16 and 17 digits is ten times slower
 * than all the rest of a row. So doubles of everyday size are done in integers: a double is m / 2^e exactly; scaled by a
 * power of ten to 17 digits it fits 128 bits; and the shortest decimal is found by dropping digits from the end for as
 * long as the rounded rest stays nearer to m / 2^e than half the step to the next double. Where the compiler has no 128
 * bits (32-bit processors), printf and strtod tell the same, slowly. */
#include "report/exact.h"

#include <float.h>
#include <inttypes.h>
#include <math.h>

/* Decimal digits of VALUE at the end of TEXT[20]; returns the first. */
static char *digits_of(char text[20], uint64_t value)
{
    char *at = text + 20;
    do
        *--at = (char)('0' + value % 10);
    while (value /= 10);
    return at;
}

void exact_add_integer(struct buffer *out, int64_t value)
{
    char text[21];
    char *at = digits_of(text + 1, value < 0 ? 0 - (uint64_t)value : (uint64_t)value);
    if (value < 0)
        *--at = '-';
    buffer_add(out, at, (size_t)(text + 21 - at));
}

/* DIGITS times ten to the EXPONENT, without an exponent. */
static void add_decimal(struct buffer *out, uint64_t digits, int exponent)
{
    char text[20];
    char *at = digits_of(text, digits);
    int count = (int)(text + 20 - at), whole = count + exponent; /* digits before the point */
    if (whole <= 0) {
        buffer_puts(out, "0.");
        buffer_pad(out, '0', (size_t)-whole);
        buffer_add(out, at, (size_t)count);
    } else if (exponent < 0) {
        buffer_add(out, at, (size_t)whole);
        buffer_putc(out, '.');
        buffer_add(out, at + whole, (size_t)(count - whole));
    } else {
        buffer_add(out, at, (size_t)count);
        buffer_pad(out, '0', (size_t)exponent);
    }
}

#ifdef __SIZEOF_INT128__
__extension__ typedef unsigned __int128 uint128;

/* A double as m / 2^e, and where decimals with PLACES digits after the point stand to it. */
struct scaled {
    uint128 value; /* m * 10^places, in units of 1 / 2^e */
    uint128 step;  /* 10^places: the step from this double to the next, in the same units */
    int e;
    bool narrow_below; /* m is a power of two: the double below is only half a step away */
};

/* Does DECIMAL / 10^places read back as the double? */
static bool reads_back(const struct scaled *x, uint64_t decimal)
{
    uint128 at = (uint128)decimal << x->e;
    if (at >= x->value)
        return (at - x->value) * 2 < x->step;
    return (x->value - at) * (x->narrow_below ? 4 : 2) < x->step;
}

/* VALUE, for decimals with PLACES digits after the point; in ALL the largest of them that is not above it. */
static struct scaled scale(double value, int places, uint64_t *all)
{
    int exponent;
    uint64_t m = (uint64_t)ldexp(frexp(value, &exponent), DBL_MANT_DIG);
    struct scaled x = { .step = 1,
                        .e = DBL_MANT_DIG - exponent,
                        .narrow_below = m == 1ull << (DBL_MANT_DIG - 1) };
    for (int i = 0; i < places; i++)
        x.step *= 10;
    x.value = x.step * m;
    *all = (uint64_t)(x.value >> x.e);
    return x;
}
#else
struct scaled {
    double value;
    int places;
};

static bool reads_back(const struct scaled *x, uint64_t decimal)
{
    char text[48];
    snprintf(text, sizeof text, "%" PRIu64 "e%d", decimal, -x->places);
    return strtod(text, NULL) == x->value;
}

static struct scaled scale(double value, int places, uint64_t *all)
{
    char text[128]; /* all digits: a double from 1e-5 on has none after the 69th */
    snprintf(text, sizeof text, "%.80f", value);
    const char *point = strchr(text, '.');
    *all = 0;
    for (const char *at = text; at <= point + places; at++)
        if (at != point)
            *all = *all * 10 + (uint64_t)(*at - '0');
    return (struct scaled){ value, places };
}
#endif

/* For 1e-5 <= VALUE < 1e15. Returns false in the rare case that 17 digits scaled by a slightly wrong power do not do. */
static bool add_shortest(struct buffer *out, double value)
{
    int places = 16 - (int)floor(log10(value));
    uint64_t all, shortest = 0, power = 1;
    struct scaled x = scale(value, places, &all);
    int dropped = -1;
    for (int k = 0; k < 18; k++, power *= 10) {
        uint64_t low = all / power, high = low + 1;
        bool nearer_high = (all - low * power) * 2 >= power;
        uint64_t first = nearer_high ? high : low, second = nearer_high ? low : high;
        if (reads_back(&x, first * power))
            shortest = first;
        else if (reads_back(&x, second * power))
            shortest = second;
        else
            break;
        dropped = k;
    }
    if (dropped < 0)
        return false;
    add_decimal(out, shortest, dropped - places);
    return true;
}

void exact_add_double(struct buffer *out, double value)
{
    double size = fabs(value);
    if (size < 9007199254740992.0 && size == floor(size)) { /* 2^53: whole numbers below are exact */
        exact_add_integer(out, (int64_t)value);
        return;
    }
    if (size >= 1e-5 && size < 1e15) {
        size_t before = out->count;
        if (value < 0)
            buffer_putc(out, '-');
        if (add_shortest(out, size))
            return;
        out->count = before;
    }
    char text[32];
    for (int precision = 15; precision <= 17; precision++) {
        snprintf(text, sizeof text, "%.*g", precision, value);
        if (strtod(text, NULL) == value)
            break;
    }
    buffer_puts(out, text);
}

void exact_add_key(struct buffer *out, const char *key, enum table_kind kind)
{
    size_t len = strlen(key);
    buffer_add(out, key, len);
    if (table_is_time(kind) && !(len >= 3 && !strcmp(key + len - 3, "_ns")))
        buffer_puts(out, "_ns");
}
