/*
 * sketch.h - many durations in few bytes, mergeable from the sketches of parts.
 *
 *     struct sketch sketch = { 0 };
 *     sketch_add(&sketch, 1500);
 *     sketch_merge(&sketch, &other);
 *     int64_t median_ns = sketch_quantile(&sketch, 1, 2);
 *     sketch_release(&sketch);
 *
 * A sketch depends only on its values, not on their order or the order of merging. So merging is exactly associative
 * and commutative.
 *
 * Fewer than 1,000 values are stored exactly. More are counted in buckets: values below 64 have buckets of their own,
 * each power of two above has 64 of equal width. A quantile is the middle of its bucket, which is within 0.8 % of the
 * value.
 */
#ifndef TPA_FIGURES_SKETCH_H
#define TPA_FIGURES_SKETCH_H

#include "base/buffer.h"

enum { SKETCH_EXACT_BELOW = 1000 };

/* A value, or from SKETCH_EXACT_BELOW values on the number of a bucket, and its count. */
struct sketch_entry {
    uint64_t value, times;
};

/* Zero-initialise it. */
struct sketch {
    uint64_t count;
    bool in_buckets; /* count is SKETCH_EXACT_BELOW or more, and the entries are buckets */
    bool sorted;     /* entries ascend, each value once */
    struct sketch_entry *at;
    size_t entry_count, capacity;
    uint32_t *tally; /* by bucket: values that are not in an entry yet; NULL: none */
};

/* Add VALUE; negative ones count as 0. */
void sketch_add(struct sketch *sketch, int64_t value);

/* Add all values of OTHER. */
void sketch_merge(struct sketch *sketch, struct sketch *other);

/* The quantile PART / OF: the lower of the middle two. INT64_MIN without values. */
int64_t sketch_quantile(struct sketch *sketch, uint64_t part, uint64_t of);

/*
 * Append the sketch to OUT as a text, which is equal for equal values; read it back, adding to existing values. False
 * if the LEN bytes at TEXT are not a sketch.
 *
 *     first      '=': of values, '~': of buckets
 *     entries    from small to large: twice the distance from the entry before (of the first: from 0), and 1 more
 *                when it was there several times; then how often that was
 *     number     in digits of Base64, each of five bits, the lowest first; 32 is added to all digits but the last
 */
void sketch_encode(struct sketch *sketch, struct buffer *out);
bool sketch_decode(struct sketch *sketch, const char *text, size_t len);

/* Free what SKETCH owns. */
void sketch_release(struct sketch *sketch);

#endif
