/* json_text.c - parses numbers as integers: `1661203462598738.123` us does not fit a double, so times are never
 * converted to one. */
#define _GNU_SOURCE
#include "ingest/json_text.h"
#include "base/quantity.h"

#include <errno.h>
#include <locale.h>

/* Bytes that cannot belong to a number or a word. */
static const bool ends_word[256] = {
    ['\0'] = true, [' '] = true, ['\n'] = true, ['\r'] = true, ['\t'] = true, [','] = true,
    ['}'] = true,  [']'] = true, ['"'] = true,  ['{'] = true,  ['['] = true,  [':'] = true,
};

const char *json_word_end(const char *at)
{
    while (!ends_word[(unsigned char)*at])
        at++;
    return at;
}

/* A decomposed number: DIGITS * 10^EXPONENT. */
struct decimal {
    bool negative;
    uint64_t digits; /* the first 19 significant ones */
    int exponent;
    bool exact;          /* no nonzero digit was dropped */
    unsigned next_digit; /* the first dropped digit, for rounding */
};

/* Saturation limit: larger exponents give zero or overflow anyway. */
enum { EXPONENT_LIMIT = 100000 };

static bool json_text_split(const char *at, const char *end, struct decimal *number)
{
    *number = (struct decimal){ .exact = true };
    if (at < end && (*at == '-' || *at == '+'))
        number->negative = *at++ == '-';
    const char *first = at;
    bool after_point = false, any = false, full = false;
    int significant = 0;
    for (; at < end; at++) {
        if (*at == '.' && !after_point) {
            after_point = true;
            continue;
        }
        if (!quantity_is_digit(*at))
            break;
        any = true;
        unsigned digit = (unsigned)(*at - '0');
        if (significant < 19) {
            number->digits = number->digits * 10 + digit;
            significant += number->digits != 0;
            number->exponent -= after_point;
        } else {
            if (!full)
                number->next_digit = digit;
            full = true;
            number->exact &= digit == 0;
            if (!after_point && number->exponent < EXPONENT_LIMIT)
                number->exponent++;
        }
        if (number->exponent < -EXPONENT_LIMIT)
            number->exponent = -EXPONENT_LIMIT;
    }
    if (!any || at == first)
        return false;
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        bool negative = false;
        if (at < end && (*at == '-' || *at == '+'))
            negative = *at++ == '-';
        if (at == end || !quantity_is_digit(*at))
            return false;
        int exponent = 0;
        for (; at < end && quantity_is_digit(*at); at++)
            if (exponent < EXPONENT_LIMIT)
                exponent = exponent * 10 + (*at - '0');
        number->exponent += negative ? -exponent : exponent;
    }
    return at == end;
}

/* Multiply by 10^SHIFT and round (half away from zero) or truncate; false if it exceeds LIMIT. */
static bool scale(const struct decimal *number, int shift, bool round, uint64_t limit, uint64_t *result)
{
    uint64_t value = number->digits;
    int exponent = number->exponent + shift;
    if (value == 0 || exponent < -25) {
        *result = 0;
        return true;
    }
    if (exponent > 25)
        return false;
    unsigned dropped = number->next_digit;
    for (; exponent > 0; exponent--) {
        if (value > limit / 10)
            return false;
        value *= 10;
    }
    for (; exponent < 0; exponent++) {
        dropped = (unsigned)(value % 10);
        value /= 10;
    }
    if (round && dropped >= 5 && (number->exponent + shift < 0 || !number->exact))
        value++;
    *result = value;
    return value <= limit;
}

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
#define IS_LITTLE_ENDIAN 1
#else
#define IS_LITTLE_ENDIAN 0
#endif

#if IS_LITTLE_ENDIAN
/* Eight digits at once, the first in the lowest byte of WORD: three multiplications instead of eight. */
static inline bool word_of_digits(uint64_t word, uint64_t *value)
{
    uint64_t below = word - UINT64_C(0x3030303030303030);
    uint64_t above = word + UINT64_C(0x4646464646464646);
    if ((below | above) & UINT64_C(0x8080808080808080))
        return false;
    word = below * 10 + (below >> 8);
    word = ((word & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x000F424000000064) +
            ((word >> 16) & UINT64_C(0x000000FF000000FF)) * UINT64_C(0x0000271000000001)) >>
           32;
    *value = word;
    return true;
}
#endif

static bool eight_digits(const char *at, uint64_t *value)
{
#if IS_LITTLE_ENDIAN
    uint64_t word;
    memcpy(&word, at, sizeof word);
    return word_of_digits(word, value);
#else
    uint64_t sum = 0;
    for (int i = 0; i < 8; i++) {
        if (!quantity_is_digit(at[i]))
            return false;
        sum = sum * 10 + (uint64_t)(at[i] - '0');
    }
    *value = sum;
    return true;
#endif
}

/* 9 to 15 digits: the last eight bytes are read as well, with zeros for the digits among them that are the first eight's. */
static inline bool many_digits(const char *start, size_t len, uint64_t *value)
{
#if IS_LITTLE_ENDIAN
    static const uint32_t powers[] = { 1, 10, 100, 1000, 10000, 100000, 1000000, 10000000 };
    const uint64_t known = (UINT64_C(1) << 8 * (16 - len)) - 1;
    uint64_t word, first, last;
    memcpy(&word, start + len - sizeof word, sizeof word);
    word = (word & ~known) | (UINT64_C(0x3030303030303030) & known);
    if (!eight_digits(start, &first) || !word_of_digits(word, &last))
        return false;
    *value = first * powers[len - 8] + last;
    return true;
#else
    (void)start, (void)len, (void)value;
    return false;
#endif
}

#define TIME_LIMIT ((UINT64_C(1) << 61) - 1)

bool json_microseconds(const char *start, const char *end, int64_t *ns)
{
    /* The form of nearly every time: up to 16 digits, perhaps a point and one to three decimals. */
    const char *at = start;
    uint64_t whole = 0, eight;
    while (end - at >= 8 && at - start < 16 && eight_digits(at, &eight)) {
        whole = whole * 100000000 + eight;
        at += 8;
    }
    while (at < end && at - start < 16 && quantity_is_digit(*at))
        whole = whole * 10 + (uint64_t)(*at++ - '0');
    if (at > start && whole <= TIME_LIMIT / 1000 - 1) {
        ptrdiff_t left = end - at;
        if (left == 0) {
            *ns = (int64_t)(whole * 1000);
            return true;
        }
        if (*at == '.' && left > 1 && left <= 4) {
            static const unsigned units[] = { 0, 0, 100, 10, 1 };
            unsigned decimals = 0;
            while (++at < end && quantity_is_digit(*at))
                decimals = decimals * 10 + (unsigned)(*at - '0');
            *ns = (int64_t)(whole * 1000 + (uint64_t)decimals * units[left]);
            if (at == end)
                return true;
        }
    }
    struct decimal number;
    uint64_t result;
    if (!json_text_split(start, end, &number) || !scale(&number, 3, true, TIME_LIMIT, &result))
        return false;
    *ns = number.negative ? -(int64_t)result : (int64_t)result;
    return true;
}

bool json_integer(const char *start, const char *end, int64_t *value)
{
    const char *at = start;
    uint64_t small = 0, eight;
    if (end - start > 8 && end - start < 16 && many_digits(start, (size_t)(end - start), &small)) {
        *value = (int64_t)small;
        return true;
    }
    while (end - at >= 8 && at - start < 16 && eight_digits(at, &eight)) {
        small = small * 100000000 + eight;
        at += 8;
    }
    while (at < end && at - start < 18 && quantity_is_digit(*at))
        small = small * 10 + (uint64_t)(*at++ - '0');
    if (at == end && at > start) {
        *value = (int64_t)small;
        return true;
    }
    /* 19 or 20 digits: 2^64-1 has 20, one more than struct decimal keeps. */
    if (end - start == 20 && *start >= '1' && *start <= '9') {
        uint64_t large = 0;
        for (at = start; at < end && quantity_is_digit(*at); at++) {
            uint64_t digit = (uint64_t)(*at - '0');
            if (large > (UINT64_MAX - digit) / 10)
                return false;
            large = large * 10 + digit;
        }
        if (at == end) {
            memcpy(value, &large, sizeof *value);
            return true;
        }
    }
    struct decimal number;
    uint64_t result;
    if (!json_text_split(start, end, &number) ||
        !scale(&number, 0, false, number.negative ? UINT64_C(1) << 63 : UINT64_MAX, &result))
        return false;
    uint64_t bits = number.negative ? 0 - result : result;
    memcpy(value, &bits, sizeof *value);
    return true;
}

bool json_decimal(const char *start, const char *end, double *value)
{
    struct decimal number;
    if (!json_text_split(start, end, &number))
        return false;
    static const double powers[] = { 1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                     1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22 };
    /* Both factors are exact in a double, so their product or quotient is correctly rounded. */
    if (number.exact && number.digits <= UINT64_C(1) << 53 && number.exponent >= -22 &&
        number.exponent <= 22) {
        double digits = (double)number.digits;
        double result =
            number.exponent < 0 ? digits / powers[-number.exponent] : digits * powers[number.exponent];
        *value = number.negative ? -result : result;
        return true;
    }
    char copy[512];
    size_t len = (size_t)(end - start);
    if (len >= sizeof copy)
        return false;
    memcpy(copy, start, len);
    copy[len] = '\0';
    *value = strtod(copy, NULL); /* the program never sets LC_NUMERIC */
    return true;
}

static int hex_value(char c)
{
    if (c >= '0' && c <= '9')
        return c - '0';
    if (c >= 'a' && c <= 'f')
        return c - 'a' + 10;
    return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* The four hex digits at AT, or -1. */
static int32_t four_hex(const char *at, const char *end)
{
    if (end - at < 4)
        return -1;
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        int digit = hex_value(at[i]);
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static void json_text_add_utf8(struct buffer *out, uint32_t c)
{
    char bytes[4];
    size_t len = 0;
    if (c < 0x80) {
        bytes[len++] = (char)c;
    } else if (c < 0x800) {
        bytes[len++] = (char)(0xc0 | c >> 6);
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    } else if (c < 0x10000) {
        bytes[len++] = (char)(0xe0 | c >> 12);
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    } else {
        bytes[len++] = (char)(0xf0 | c >> 18);
        bytes[len++] = (char)(0x80 | (c >> 12 & 0x3f));
        bytes[len++] = (char)(0x80 | (c >> 6 & 0x3f));
        bytes[len++] = (char)(0x80 | (c & 0x3f));
    }
    buffer_add(out, bytes, len);
}

/* The \uXXXX at AT (after the 'u'), with the low surrogate that may follow. Returns the bytes consumed; 0 if
 * invalid. */
static size_t add_unicode(const char *at, const char *end, struct buffer *out)
{
    const uint32_t replacement = 0xFFFD;
    int32_t high = four_hex(at, end);
    if (high < 0)
        return 0;
    if (high >= 0xD800 && high <= 0xDBFF && end - at >= 10 && at[4] == '\\' && at[5] == 'u') {
        int32_t low = four_hex(at + 6, end);
        if (low >= 0xDC00 && low <= 0xDFFF) {
            json_text_add_utf8(out, 0x10000 + (((uint32_t)high & 0x3ff) << 10 | ((uint32_t)low & 0x3ff)));
            return 10;
        }
    }
    bool lone = high >= 0xD800 && high <= 0xDFFF;
    json_text_add_utf8(out, lone || high == 0 ? replacement : (uint32_t)high);
    return 4;
}

bool json_unescape(const char *start, const char *end, struct buffer *out)
{
    bool good = true;
    buffer_clear(out);
    for (const char *at = start; at < end;) {
        const char *backslash = memchr(at, '\\', (size_t)(end - at));
        if (!backslash || backslash + 1 == end) {
            buffer_add(out, at, (size_t)(end - at));
            good &= !backslash;
            break;
        }
        buffer_add(out, at, (size_t)(backslash - at));
        at = backslash + 2;
        switch (backslash[1]) {
        case '"': buffer_putc(out, '"'); break;
        case '\\': buffer_putc(out, '\\'); break;
        case '/': buffer_putc(out, '/'); break;
        case 'b': buffer_putc(out, '\b'); break;
        case 'f': buffer_putc(out, '\f'); break;
        case 'n': buffer_putc(out, '\n'); break;
        case 'r': buffer_putc(out, '\r'); break;
        case 't': buffer_putc(out, '\t'); break;
        case 'u': {
            size_t taken = add_unicode(at, end, out);
            at += taken;
            if (taken)
                break;
        } /* fall through */
        default: buffer_add(out, backslash, 2); good = false;
        }
    }
    return good;
}

void json_compact(const char *start, const char *end, struct buffer *out)
{
    buffer_clear(out);
    VEC_RESERVE(out, (size_t)(end - start) + 1); /* lists of sizes contain many blanks */
    char *to = out->at;
    bool in_string = false;
    for (const char *at = start; at < end; at++) {
        if (in_string) {
            *to++ = *at;
            if (*at == '\\' && at + 1 < end)
                *to++ = *++at;
            else if (*at == '"')
                in_string = false;
        } else if (!json_is_blank(*at)) {
            *to++ = *at;
            in_string = *at == '"';
        }
    }
    *to = '\0';
    out->count = (size_t)(to - out->at);
}
