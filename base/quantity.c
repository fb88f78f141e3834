/* quantity.c - numbers with units, parsed by hand: strtod depends on the locale, skips blanks and accepts "inf" and
 * "0x1p3", and a double would round a time. */
#include "base/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <math.h>

/* A number without sign or exponent, split into its parts. */
struct decimal {
    int64_t whole;
    const char *fraction; /* the digits after the point */
    size_t fraction_len;
    const char *unit; /* what follows the number */
    size_t unit_len;
};

static bool parse_decimal(const char *text, size_t len, struct decimal *number)
{
    size_t at = 0, digits = 0;
    *number = (struct decimal){ 0 };
    for (; at < len && quantity_is_digit(text[at]); at++, digits++)
        if (__builtin_mul_overflow(number->whole, 10, &number->whole) ||
            __builtin_add_overflow(number->whole, text[at] - '0', &number->whole))
            return false;
    if (at < len && text[at] == '.') {
        number->fraction = text + ++at;
        while (at < len && quantity_is_digit(text[at]))
            at++, number->fraction_len++;
    }
    number->unit = text + at;
    number->unit_len = len - at;
    return digits + number->fraction_len > 0;
}

static double fraction_value(const struct decimal *number)
{
    double value = 0;
    for (size_t i = number->fraction_len; i > 0; i--)
        value = (value + (number->fraction[i - 1] - '0')) / 10;
    return value;
}

/* The number divided by 10^PLACES, in one division, which is correctly rounded: 33.3% gives the same double as 0.333.
 * Digits far after the point are ignored. */
static double decimal_value(const struct decimal *number, unsigned places)
{
    double digits = (double)number->whole, power = 1;
    for (size_t i = 0; i < number->fraction_len && i < 12; i++) {
        digits = digits * 10 + (number->fraction[i] - '0');
        power *= 10;
    }
    for (; places > 0; places--)
        power *= 10;
    return digits / power;
}

static bool unit_is(const struct decimal *number, const char *unit)
{
    return number->unit_len == strlen(unit) && memcmp(number->unit, unit, number->unit_len) == 0;
}

/* --- times --------------------------------------------------------------------------------------------------- */

static const struct {
    const char *name;
    int64_t ns;
} time_units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "\xc2\xb5s", 1000 }, /* micro sign */
    { "\xce\xbcs", 1000 }, /* Greek mu */
    { "ms", 1000000 },
    { "s", 1000000000 },
    { "min", INT64_C(60000000000) },
    { "h", INT64_C(3600000000000) },
};

/* 0.FRACTION of UNIT_NS. A unit is a small number followed by zeros: each digit uses up one zero. */
static int64_t fraction_of(const struct decimal *number, int64_t unit_ns)
{
    int64_t sum = 0;
    size_t i = 0;
    for (; i < number->fraction_len && unit_ns % 10 == 0; i++) {
        unit_ns /= 10;
        sum += (number->fraction[i] - '0') * unit_ns;
    }
    if (i < number->fraction_len && unit_ns == 1 && number->fraction[i] >= '5')
        sum++;
    return sum;
}

bool quantity_parse_time(const char *text, size_t len, int64_t *ns)
{
    struct decimal number;
    if (!parse_decimal(text, len, &number))
        return false;
    if (number.unit_len == 0 && number.whole == 0 && fraction_value(&number) == 0) {
        *ns = 0;
        return true;
    }
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++) {
        if (!unit_is(&number, time_units[i].name))
            continue;
        int64_t value;
        if (__builtin_mul_overflow(number.whole, time_units[i].ns, &value) ||
            __builtin_add_overflow(value, fraction_of(&number, time_units[i].ns), &value))
            return false;
        *ns = value;
        return true;
    }
    return false;
}

void quantity_append_time(struct buffer *out, int64_t ns)
{
    size_t best = 0;
    for (size_t i = 0; i < sizeof time_units / sizeof *time_units; i++)
        if (isalpha((unsigned char)time_units[i].name[0]) && ns % time_units[i].ns == 0 &&
            time_units[i].ns <= ns)
            best = i;
    buffer_printf(out, "%" PRId64 "%s", ns / time_units[best].ns, time_units[best].name);
}

/* --- sizes --------------------------------------------------------------------------------------------------- */

static const char size_letters[] = "kmgtp"; /* unit n is step to the power of n + 1 */

/* 1 for "" and "B"; 0 for an unknown UNIT. */
static int64_t size_unit(const char *unit, size_t len)
{
    if (len == 0 || (len == 1 && unit[0] == 'B'))
        return 1;
    const char *letter = strchr(size_letters, tolower((unsigned char)unit[0]));
    if (letter == NULL || *letter == '\0')
        return 0;
    int64_t step;
    if (len == 1 || (len == 3 && unit[1] == 'i' && unit[2] == 'B'))
        step = 1024;
    else if (len == 2 && unit[1] == 'B')
        step = 1000;
    else
        return 0;
    int64_t value = step;
    for (const char *c = size_letters; c < letter; c++)
        value *= step;
    return value;
}

bool quantity_parse_size(const char *text, size_t len, int64_t *bytes)
{
    struct decimal number;
    if (!parse_decimal(text, len, &number))
        return false;
    int64_t unit = size_unit(number.unit, number.unit_len), value;
    if (unit == 0 || __builtin_mul_overflow(number.whole, unit, &value) ||
        __builtin_add_overflow(value, (int64_t)llround(fraction_value(&number) * (double)unit), &value))
        return false;
    *bytes = value;
    return true;
}

void quantity_append_size(struct buffer *out, int64_t bytes)
{
    size_t letter = 0;
    for (; letter < sizeof size_letters - 1 && bytes != 0 && bytes % 1024 == 0; letter++)
        bytes /= 1024;
    buffer_printf(out, "%" PRId64, bytes);
    if (letter > 0)
        buffer_putc(out, size_letters[letter - 1]);
}

/* --- shares, limits ------------------------------------------------------------------------------------------ */

bool quantity_parse_share(const char *text, size_t len, double *share)
{
    struct decimal number;
    if (!parse_decimal(text, len, &number))
        return false;
    bool percent = unit_is(&number, "%");
    double value = decimal_value(&number, percent ? 2 : 0);
    if (!percent && (number.unit_len > 0 || value > 1))
        return false;
    *share = value;
    return true;
}

void quantity_append_share(struct buffer *out, double share)
{
    buffer_printf(out, "%.10g%%", share * 100);
}

bool quantity_parse_limit(const char *text, size_t len, struct limit *limit)
{
    struct decimal number;
    if (!parse_decimal(text, len, &number))
        return false;
    if (unit_is(&number, "%")) {
        double share = decimal_value(&number, 2);
        if (share > 1)
            return false;
        *limit = (struct limit){ .is_share = true, .share = share };
        return true;
    }
    if (number.unit_len > 0 || number.fraction)
        return false;
    *limit = (struct limit){ .count = (uint64_t)number.whole };
    return true;
}

void quantity_append_limit(struct buffer *out, const struct limit *limit)
{
    if (limit->is_share)
        quantity_append_share(out, limit->share);
    else
        buffer_printf(out, "%" PRIu64, limit->count);
}

size_t limit_rows(const struct limit *limit, size_t total)
{
    if (limit->is_share)
        return (size_t)((double)total * limit->share + 0.5);
    return limit->count == 0 || limit->count > total ? total : (size_t)limit->count;
}

/* --- ranges -------------------------------------------------------------------------------------------------- */

bool quantity_parse_integer(const char *text, size_t len, int64_t *value)
{
    bool negative = len > 0 && text[0] == '-';
    int64_t sum = 0;
    if (len == negative)
        return false;
    for (size_t i = negative; i < len; i++)
        if (!quantity_is_digit(text[i]) || __builtin_mul_overflow(sum, 10, &sum) ||
            __builtin_add_overflow(sum, text[i] - '0', &sum))
            return false;
    *value = negative ? -sum : sum;
    return true;
}

static bool parse_range(const char *text, size_t len, struct range *range)
{
    const char *dots = memmem(text, len, "..", 2);
    if (dots == NULL) {
        bool good = quantity_parse_integer(text, len, &range->first);
        range->last = range->first;
        return good;
    }
    size_t before = (size_t)(dots - text), after = len - before - 2;
    *range = (struct range){ INT64_MIN, INT64_MAX };
    return before + after > 0 && (before == 0 || quantity_parse_integer(text, before, &range->first)) &&
           (after == 0 || quantity_parse_integer(dots + 2, after, &range->last)) &&
           range->first <= range->last;
}

bool quantity_parse_ranges(const char *text, size_t len, struct ranges *ranges)
{
    struct ranges found = { 0 };
    for (;;) {
        const char *comma = memchr(text, ',', len);
        size_t part = comma ? (size_t)(comma - text) : len;
        struct range range = { 0 };
        if (found.count == sizeof found.at / sizeof *found.at || !parse_range(text, part, &range))
            return false;
        found.at[found.count++] = range;
        if (comma == NULL)
            break;
        text = comma + 1;
        len -= part + 1;
    }
    *ranges = found;
    return true;
}

bool ranges_hold(const struct ranges *ranges, int64_t value)
{
    return ANY(i, ranges->count, ranges->at[i].first <= value && value <= ranges->at[i].last) ||
           ranges->count == 0;
}

void quantity_append_ranges(struct buffer *out, const struct ranges *ranges)
{
    for (size_t i = 0; i < ranges->count; i++) {
        const struct range *range = &ranges->at[i];
        if (i > 0)
            buffer_putc(out, ',');
        if (range->first != INT64_MIN)
            buffer_printf(out, "%" PRId64, range->first);
        if (range->first == range->last)
            continue;
        buffer_puts(out, "..");
        if (range->last != INT64_MAX)
            buffer_printf(out, "%" PRId64, range->last);
    }
}

double quantity_ms(int64_t ns)
{
    return round((double)ns / 1e3) / 1e3;
}

double quantity_percent(double share)
{
    return round(share * 1000) / 10;
}

void quantity_append_rounded_time(struct buffer *out, double ns)
{
    quantity_append_time_of(out, ns, ns);
}

void quantity_append_time_of(struct buffer *out, double ns, double of_ns)
{
    static const struct {
        double ns;
        const char *unit;
    } units[] = { { 1e9, "s" }, { 1e6, "ms" }, { 1e3, "us" } };
    for (size_t i = 0; i < sizeof units / sizeof *units; i++)
        if (fabs(of_ns) >= units[i].ns) {
            /* half a thousandth is rounded up, as in tables */
            buffer_printf(out, "%.3f%s", round(ns / (units[i].ns / 1000)) / 1000, units[i].unit);
            return;
        }
    buffer_printf(out, "%.0fns", ns);
}

void quantity_append_tally(struct buffer *out, int64_t count)
{
    char digits[24];
    int len = snprintf(digits, sizeof digits, "%" PRId64, count);
    for (int i = 0; i < len; i++) {
        if (i > 0 && digits[i - 1] != '-' && (len - i) % 3 == 0)
            buffer_putc(out, ',');
        buffer_putc(out, digits[i]);
    }
}

void quantity_append_rounded_size(struct buffer *out, int64_t bytes)
{
    static const char *const units[] = { " B", " KB", " MB", " GB", " TB", " PB" };
    uint64_t size = bytes < 0 ? 0 - (uint64_t)bytes : (uint64_t)bytes;
    int i = 0;
    while (i < 5 && size >> (10 * (i + 1)))
        i++;
    uint64_t unit = 1ull << (10 * i), whole = size / unit;
    unsigned hundredths = (unsigned)((size % unit * 100 + unit / 2) / unit);
    if (hundredths == 100) {
        hundredths = 0;
        whole++;
        if (whole == 1024 && i < 5) {
            whole = 1;
            i++;
        }
    }
    buffer_printf(out, "%s%" PRIu64, bytes < 0 ? "-" : "", whole);
    if (i)
        buffer_printf(out, ".%02u", hundredths);
    buffer_puts(out, units[i]);
}

int64_t quantity_read_number(const char **at)
{
    enum { MOST_DIGITS = 9 };
    int64_t number = 0;
    const char *c = *at;
    while (*c >= '0' && *c <= '9' && c - *at < MOST_DIGITS)
        number = 10 * number + (*c++ - '0');
    if (c == *at)
        return -1;
    *at = c;
    return number;
}

#define TEXT_OF(name, type, append)                                                                          \
    const char *name(char room[QUANTITY_ROOM], type value)                                                   \
    {                                                                                                        \
        SCOPED struct buffer text = { 0 };                                                                   \
        append(&text, value);                                                                                \
        snprintf(room, QUANTITY_ROOM, "%s", text.at);                                                        \
        return room;                                                                                         \
    }
TEXT_OF(quantity_time_text, double, quantity_append_rounded_time)
TEXT_OF(quantity_size_text, int64_t, quantity_append_rounded_size)
TEXT_OF(quantity_tally_text, int64_t, quantity_append_tally)
