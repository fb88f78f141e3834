/*
 * quantity.h - times, sizes, shares, limits and ranges as people type them.
 *
 *     10us   1.5ms   2s   1min   0.5h        quantity_parse_time, integer nanoseconds
 *     4k   1.5GiB   10MB   4096              quantity_parse_size, integer bytes
 *     20%   0.2                              quantity_parse_share, 0.2
 *     10   20%                               quantity_parse_limit, rows
 *     3..7   3..   ..7   5   1,4,6..8        quantity_parse_ranges, whole numbers
 *
 * Each takes the whole text and returns false, with nothing stored, if it has another form or is too large.
 */
#ifndef TPA_BASE_QUANTITY_H
#define TPA_BASE_QUANTITY_H

#include "base/buffer.h"

/* Not negative. The unit is required, except for 0. Rounded to the nearest nanosecond; no double is involved. */
bool quantity_parse_time(const char *text, size_t len, int64_t *ns);

/* Not negative. A bare letter and the form with "iB" count in steps of 1024 (4k and 4KiB are 4096), the form with "B"
 * in steps of 1000 (4kB is 4000). */
bool quantity_parse_size(const char *text, size_t len, int64_t *bytes);

/* A percentage, or a number from 0 to 1. More than 100% is allowed: a change may be that large. */
bool quantity_parse_share(const char *text, size_t len, double *share);

/* A whole number, which may be negative. */
bool quantity_parse_integer(const char *text, size_t len, int64_t *value);

/* The number of one to nine digits at *AT, which is advanced behind them; -1: there is none. */
int64_t quantity_read_number(const char **at);

/* How many rows to show. Zero-initialised: all rows. */
struct limit {
    uint64_t count; /* 0: all */
    bool is_share;  /* show SHARE of the rows instead */
    double share;
};
bool quantity_parse_limit(const char *text, size_t len, struct limit *limit);

/* Number of rows that LIMIT leaves of TOTAL; a share is rounded to the nearest row. */
size_t limit_rows(const struct limit *limit, size_t total);

/* From FIRST to LAST, inclusive. */
struct range {
    int64_t first, last;
};

/* A few ranges. Zero-initialised: not given, which includes every number. */
struct ranges {
    struct range at[16];
    size_t count;
};
bool quantity_parse_ranges(const char *text, size_t len, struct ranges *ranges);

/* Is VALUE in one of the ranges, or were none given? */
bool ranges_hold(const struct ranges *ranges, int64_t value);

/* Append the shortest exact form, which parses to the same value: "1500us", "2s", "4k", "20%", "3..7". */
void quantity_append_time(struct buffer *out, int64_t ns);
void quantity_append_size(struct buffer *out, int64_t bytes);
void quantity_append_share(struct buffer *out, double share);
void quantity_append_limit(struct buffer *out, const struct limit *limit);
void quantity_append_ranges(struct buffer *out, const struct ranges *ranges);

/* A share in percent for a sentence, rounded to a tenth, halves away from zero as in every table; print it with
 * "%.1f". */
double quantity_percent(double share);

/* NS nanoseconds in milliseconds for a sentence, rounded to the microsecond, halves away from zero; print it with
 * "%.3f". */
double quantity_ms(int64_t ns);

/* Append NS nanoseconds for a sentence: "1.203ms", in a suitable unit, with three decimals. */
void quantity_append_rounded_time(struct buffer *out, double ns);

/* The same in the unit that OF_NS has: times that are compared are in one. */
void quantity_append_time_of(struct buffer *out, double ns, double of_ns);

/* Append COUNT for people, in groups of three digits: "1,428". */
void quantity_append_tally(struct buffer *out, int64_t count);

/* Append BYTES for people: "1.95 GB", in a suitable unit of powers of 1024, with two decimals; "512 B". */
void quantity_append_rounded_size(struct buffer *out, int64_t bytes);

/* These as texts: "%s", TIME_TEXT(busy_ns). They last as long as the block in which they are made. */
enum { QUANTITY_ROOM = 48 };
#define TIME_TEXT(ns) quantity_time_text((char[QUANTITY_ROOM]){ 0 }, (double)(ns))
#define SIZE_TEXT(bytes) quantity_size_text((char[QUANTITY_ROOM]){ 0 }, bytes)
#define TALLY_TEXT(count) quantity_tally_text((char[QUANTITY_ROOM]){ 0 }, count)
const char *quantity_time_text(char room[QUANTITY_ROOM], double ns);
const char *quantity_size_text(char room[QUANTITY_ROOM], int64_t bytes);
const char *quantity_tally_text(char room[QUANTITY_ROOM], int64_t count);

static inline bool quantity_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

#endif
