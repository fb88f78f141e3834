/* Entries are collected in any order, and sorted on demand. */
#include "figures/sketch.h"

#include "base/rows.h"
#include "base/wide.h"

/* ---- buckets ---- */

enum { SPLIT_BITS = 6, SPLIT = 1 << SPLIT_BITS };

static uint64_t bucket_of(uint64_t value)
{
    if (value < SPLIT)
        return value;
    unsigned shift = 63u - (unsigned)__builtin_clzll(value) - SPLIT_BITS;
    return (uint64_t)(shift + 1) * SPLIT + ((value >> shift) - SPLIT);
}

static uint64_t middle_of(uint64_t bucket)
{
    if (bucket < SPLIT)
        return bucket;
    unsigned shift = (unsigned)(bucket / SPLIT) - 1;
    uint64_t low = (SPLIT + bucket % SPLIT) << shift;
    return low + (((uint64_t)1 << shift) - 1) / 2;
}

enum { BUCKETS = (64 - SPLIT_BITS + 1) * SPLIT };

/* ---- entries ---- */

static void push(struct sketch *sketch, uint64_t value, uint64_t times);

static const struct key by_value[] = { ASC(struct sketch_entry, value), KEY_END };

/* Convert the tally to entries. */
static void collect_tally(struct sketch *sketch)
{
    uint32_t *tally = sketch->tally;
    sketch->tally = NULL;
    for (uint64_t bucket = 0; tally && bucket < BUCKETS; bucket++)
        if (tally[bucket])
            push(sketch, bucket, tally[bucket]);
    free(tally);
}

static void sort_entries(struct sketch *sketch)
{
    collect_tally(sketch);
    if (sketch->sorted)
        return;
    SORT_ARRAY(sketch->at, sketch->entry_count, by_value);
    size_t kept = 0;
    for (size_t i = 0; i < sketch->entry_count; i++) {
        if (kept && sketch->at[kept - 1].value == sketch->at[i].value)
            sketch->at[kept - 1].times += sketch->at[i].times;
        else
            sketch->at[kept++] = sketch->at[i];
    }
    sketch->entry_count = kept;
    sketch->sorted = true;
}

static void push(struct sketch *sketch, uint64_t value, uint64_t times)
{
    size_t last = sketch->entry_count;
    if (last && sketch->at[last - 1].value == value) {
        sketch->at[last - 1].times += times;
        return;
    }
    if (last == sketch->capacity) {
        if (sketch->in_buckets) { /* repeated values take no more room */
            sort_entries(sketch);
            last = sketch->entry_count;
        }
        if (2 * last >= sketch->capacity)
            sketch->at = vec_grow(sketch->at, &sketch->capacity, last + 1, sizeof *sketch->at);
    }
    sketch->sorted = last == 0 || (sketch->sorted && sketch->at[last - 1].value < value);
    sketch->at[sketch->entry_count++] = (struct sketch_entry){ value, times };
}

/* From this many values on each counts for its bucket. */
static void use_buckets(struct sketch *sketch)
{
    if (sketch->in_buckets || sketch->count < SKETCH_EXACT_BELOW)
        return;
    for (size_t i = 0; i < sketch->entry_count; i++)
        sketch->at[i].value = bucket_of(sketch->at[i].value);
    sketch->in_buckets = true;
    sketch->sorted = false;
    sort_entries(sketch);
}

static void add_to_bucket(struct sketch *sketch, uint64_t bucket)
{
    if (sketch->tally && sketch->tally[bucket] == UINT32_MAX)
        collect_tally(sketch);
    if (!sketch->tally)
        sketch->tally = mem_zalloc(BUCKETS, sizeof *sketch->tally);
    sketch->tally[bucket]++;
}

void sketch_add(struct sketch *sketch, int64_t value)
{
    uint64_t natural = value < 0 ? 0 : (uint64_t)value;
    sketch->count++;
    if (sketch->in_buckets) {
        add_to_bucket(sketch, bucket_of(natural));
        return;
    }
    push(sketch, natural, 1);
    use_buckets(sketch);
}

void sketch_merge(struct sketch *sketch, struct sketch *other)
{
    if (other->in_buckets && !sketch->in_buckets) { /* both together exceed the limit for exact values */
        for (size_t i = 0; i < sketch->entry_count; i++)
            sketch->at[i].value = bucket_of(sketch->at[i].value);
        sketch->in_buckets = true;
        sketch->sorted = false;
    }
    collect_tally(sketch);
    collect_tally(other);
    bool to_bucket = sketch->in_buckets && !other->in_buckets;
    for (size_t i = 0; i < other->entry_count; i++)
        push(sketch, to_bucket ? bucket_of(other->at[i].value) : other->at[i].value, other->at[i].times);
    sketch->count += other->count;
    use_buckets(sketch);
}

int64_t sketch_quantile(struct sketch *sketch, uint64_t part, uint64_t of)
{
    if (sketch->count == 0)
        return INT64_MIN;
    sort_entries(sketch);
    uint64_t place = wide_quotient(wide_product(sketch->count - 1, part), of), before = 0;
    size_t i = 0;
    while (i + 1 < sketch->entry_count && before + sketch->at[i].times <= place)
        before += sketch->at[i++].times;
    uint64_t value = sketch->in_buckets ? middle_of(sketch->at[i].value) : sketch->at[i].value;
    return value > INT64_MAX ? INT64_MAX : (int64_t)value;
}

/* ---- text ---- */

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

/* Five bits per digit, the lowest first; 32 is added if more follow. */
static void append_number(struct buffer *out, uint64_t value)
{
    for (; value >= 32; value >>= 5)
        buffer_putc(out, digits[32 + value % 32]);
    buffer_putc(out, digits[value]);
}

static bool collect_number(const char **at, const char *end, uint64_t *value)
{
    *value = 0;
    for (unsigned shift = 0; shift < 65 && *at < end; shift += 5) {
        /* NOLINTNEXTLINE(bugprone-not-null-terminated-result): its end is no digit */
        const char *digit = memchr(digits, *(*at)++, 64);
        if (!digit)
            return false;
        uint64_t bits = (uint64_t)(digit - digits);
        if (shift > 59 && bits % 32 >> (64 - shift))
            return false;
        *value |= bits % 32 << shift;
        if (bits < 32)
            return true;
    }
    return false;
}

void sketch_encode(struct sketch *sketch, struct buffer *out)
{
    sort_entries(sketch);
    buffer_putc(out, sketch->in_buckets ? '~' : '=');
    uint64_t before = 0;
    FOR_EACH_OF(entry, sketch->at, sketch->entry_count) {
        uint64_t distance = entry->value - before;
        append_number(out, 2 * distance + (entry->times > 1));
        if (entry->times > 1)
            append_number(out, entry->times);
        before = entry->value;
    }
}

bool sketch_decode(struct sketch *sketch, const char *text, size_t len)
{
    if (len == 0 || (text[0] != '~' && text[0] != '='))
        return false;
    SCOPED_BY(sketch_release) struct sketch read = { .in_buckets = text[0] == '~', .sorted = true };
    const char *at = text + 1, *end = text + len;
    uint64_t value = 0, step, times;
    bool good = true;
    while (good && at < end) {
        times = 1;
        good = collect_number(&at, end, &step) && (step % 2 == 0 || collect_number(&at, end, &times)) &&
               times > 0 && (step > 1 || read.entry_count == 0) &&
               !__builtin_add_overflow(value, step / 2, &value) && value <= INT64_MAX &&
               !__builtin_add_overflow(read.count, times, &read.count) &&
               (!read.in_buckets || value < BUCKETS);
        if (good)
            push(&read, value, times);
    }
    good = good && read.in_buckets == (read.count >= SKETCH_EXACT_BELOW);
    if (good)
        sketch_merge(sketch, &read);
    return good;
}

void sketch_release(struct sketch *sketch)
{
    EACH(free, sketch->tally, sketch->at);
    *sketch = (struct sketch){ 0 };
}
