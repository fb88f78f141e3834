/* Many items are sorted by digits, key after key (order.h): no comparison is called. A few, and those
 * with texts among the keys, are merged. */
#include "base/rows.h"

#include "base/order.h"
#include "base/sum.h"
#include <math.h>

const struct key rows_ascending_i64[] = { { ROWS_I64, 0, 0, 0 }, KEY_END };
const struct key rows_ascending_u32[] = { { ROWS_U32, 0, 0, 0 }, KEY_END };
const struct key rows_ascending_f64[] = { { ROWS_F64, 0, 0, 0 }, KEY_END };
const struct key rows_ascending_text[] = { { ROWS_TEXT, 0, 0, 0 }, KEY_END };

#define SIGN (UINT64_C(1) << 63)

enum { FEW = 200 }; /* below this, comparing is faster than counting digits */

static int64_t integer_at(const char *at, enum rows_type type)
{
    switch (type) {
    case ROWS_U8: return *(const unsigned char *)at;
    case ROWS_U16: return *(const uint16_t *)(const void *)at;
    case ROWS_U32: return *(const uint32_t *)(const void *)at;
    case ROWS_I32: return *(const int32_t *)(const void *)at;
    default: return *(const int64_t *)(const void *)at;
    }
}

static const char *member_of(const char *item, const struct key *key)
{
    const char *at = item + key->offset;
    return key->how & ROWS_POINTED ? *(const char *const *)(const void *)at + key->inner : at;
}

/* The number of KEY in ITEM as bits that sort, without a sign, as it does. */
static uint64_t sorted_bits(const char *item, const struct key *key)
{
    const char *at = member_of(item, key);
    bool magnitude = key->how & ROWS_MAGNITUDE;
    if (key->type == ROWS_U64)
        return *(const uint64_t *)(const void *)at;
    if (key->type != ROWS_F64) {
        int64_t value = integer_at(at, key->type);
        return magnitude && value < 0 ? order_key(0) - (uint64_t)value : order_key(value);
    }
    double value = *(const double *)(const void *)at;
    uint64_t bits;
    if (isnan(value))
        return UINT64_MAX;
    value = magnitude ? fabs(value) : value + 0.0; /* -0.0 is 0.0 */
    memcpy(&bits, &value, sizeof bits);
    return bits & SIGN ? ~bits : bits | SIGN;
}

static int compare_members(const char *a, const char *b, const struct key *key)
{
    if (key->type == ROWS_TEXT) {
        const char *left = *(char *const *)(const void *)member_of(a, key),
                   *right = *(char *const *)(const void *)member_of(b, key);
        return left && right ? strcmp(left, right) : (left != NULL) - (right != NULL);
    }
    uint64_t left = sorted_bits(a, key), right = sorted_bits(b, key);
    return (left > right) - (left < right);
}

/* As compare_members, of what most keys are: a number at its place, ascending. */
static int compare_plain(const char *a, const char *b, const struct key *key)
{
    if (key->type == ROWS_U64 || key->type == ROWS_F64 || key->type == ROWS_TEXT || key->how != 0)
        return compare_members(a, b, key);
    int64_t left = integer_at(a + key->offset, key->type), right = integer_at(b + key->offset, key->type);
    return (left > right) - (left < right);
}

int rows_compare(const void *a, const void *b, const struct key *keys)
{
    int order = 0;
    for (; keys->type && order == 0; keys++) {
        order = compare_plain(a, b, keys);
        order = keys->how & ROWS_DESCENDING ? -order : order;
    }
    return order;
}

/* Merge the runs LEFT, of COUNT items, and RIGHT of ORDER, by way of SPARE, which has room for LEFT. */
static void merge_runs(uint32_t *order, size_t left, size_t count, uint32_t *spare, const char *items,
                       size_t size, const struct key *keys)
{
    memcpy(spare, order, left * sizeof *spare);
    size_t l = 0, r = left, out = 0;
    while (l < left && r < count)
        order[out++] = rows_compare(items + order[r] * size, items + spare[l] * size, keys) < 0 ? order[r++]
                                                                                                : spare[l++];
    memcpy(order + out, spare + l, (left - l) * sizeof *spare);
}

static void order_by_comparing(uint32_t *order, size_t count, const char *items, size_t size,
                               const struct key *keys)
{
    SCOPED uint32_t *spare = mem_alloc(mem_times(count, sizeof *spare));
    for (size_t run = 1; run < count; run *= 2)
        for (size_t first = 0; first + run < count; first += 2 * run) {
            size_t left = count - first < 2 * run ? count - first : 2 * run;
            /* runs that follow each other need no merging: sorted items take one pass */
            if (rows_compare(items + order[first + run] * size, items + order[first + run - 1] * size, keys) <
                0)
                merge_runs(order + first, run, left, spare, items, size, keys);
        }
}

static void order_by_digits(uint32_t *order, size_t count, const char *items, size_t size,
                            const struct key *keys, size_t key_count)
{
    SCOPED uint64_t *bits = mem_alloc(mem_times(count, sizeof *bits));
    for (size_t k = key_count; k-- > 0;) {
        uint64_t flip = keys[k].how & ROWS_DESCENDING ? UINT64_MAX : 0;
        for (size_t i = 0; i < count; i++)
            bits[i] = sorted_bits(items + i * size, &keys[k]) ^ flip;
        order_by(order, count, bits);
    }
}

static bool are_sorted(const char *items, size_t count, size_t size, const struct key *keys)
{
    if (keys == rows_ascending_i64) {
        const int64_t *numbers = (const int64_t *)(const void *)items;
        return !ANY_FROM(i, 1, count, numbers[i] < numbers[i - 1]);
    }
    return !ANY_FROM(i, 1, count, rows_compare(items + i * size, items + (i - 1) * size, keys) < 0);
}

/* Along the cycles of ORDER: no copy of all items is needed. Inlined for each common size, which makes a copy a few moves. */
static inline __attribute__((always_inline)) void permute(void *all, size_t count, size_t size,
                                                          uint32_t *order)
{
    char *items = all, *carried = mem_alloc(size);
    for (uint32_t first = 0; first < count; first++) {
        if (order[first] == first)
            continue;
        memcpy(carried, items + first * size, size);
        uint32_t to = first;
        for (uint32_t from; (from = order[to]) != first; to = from) {
            __builtin_prefetch(items + order[from] * size);
            memcpy(items + to * size, items + from * size, size);
            order[to] = to;
        }
        memcpy(items + to * size, carried, size);
        order[to] = to;
    }
    free(carried);
}

/* The same all at once, which takes a copy: cycles jump, and wait for memory at each item, where what is sorted are a few sorted runs. */
static inline __attribute__((always_inline)) void gather(void *all, size_t count, size_t size,
                                                         const uint32_t *order)
{
    char *items = all, *from = mem_alloc(mem_times(count, size));
    memcpy(from, items, count * size);
    for (size_t i = 0; i < count; i++)
        memcpy(items + i * size, from + order[i] * size, size);
    free(from);
}

/* A larger copy would be more memory than the sort itself takes. */
enum { MOST_GATHERED_BYTES = 16 << 20 };

void rows_permute(void *all, size_t count, size_t size, uint32_t *order)
{
    if (count && size <= 24 && count <= MOST_GATHERED_BYTES / 24) {
        switch (size) {
        case 4: gather(all, count, 4, order); return;
        case 8: gather(all, count, 8, order); return;
        case 16: gather(all, count, 16, order); return;
        case 24: gather(all, count, 24, order); return;
        default: break;
        }
    }
    switch (size) {
    case 8: permute(all, count, 8, order); break;
    case 16: permute(all, count, 16, order); break;
    case 24: permute(all, count, 24, order); break;
    case 32: permute(all, count, 32, order); break;
    default: permute(all, count, size, order);
    }
}

static void sort_integers(int64_t *numbers, size_t count)
{
    uint64_t *values = (uint64_t *)numbers; /* the same numbers, in an order without a sign */
    for (size_t i = 0; i < count; i++)
        values[i] = order_key(numbers[i]);
    order_values(values, count);
    for (size_t i = 0; i < count; i++)
        values[i] ^= order_key(0);
}

void rows_order(uint32_t *order, const void *items, size_t count, size_t size, const struct key *keys)
{
    size_t key_count = 0;
    bool has_texts = false;
    if (count < 2)
        return;
    for (; keys[key_count].type; key_count++)
        has_texts = has_texts || keys[key_count].type == ROWS_TEXT;
    if (has_texts || count < FEW)
        order_by_comparing(order, count, items, size, keys);
    else
        order_by_digits(order, count, items, size, keys, key_count);
}

void rows_sort(void *items, size_t count, size_t size, const struct key *keys)
{
    if (are_sorted(items, count, size, keys))
        return;
    if (keys == rows_ascending_i64 && count >= FEW) {
        sort_integers(items, count);
        return;
    }
    SCOPED uint32_t *order = order_open(count);
    rows_order(order, items, count, size, keys);
    rows_permute(items, count, size, order);
}

/* The order of COUNT NUMBERS, whose place is used; new, free with free(). */
static uint32_t *order_of_integers(int64_t *numbers, size_t count)
{
    uint32_t *order = order_open(count);
    uint64_t *keys = (uint64_t *)numbers;
    for (size_t i = 0; i < count; i++)
        keys[i] = order_key(numbers[i]);
    order_by(order, count, keys);
    return order;
}

void rows_sort_by(void *items, size_t count, size_t size, void *values, const struct key *keys)
{
    size_t wide = keys == rows_ascending_text ? sizeof(char *) : sizeof(int64_t);
    if (are_sorted(values, count, wide, keys)) {
        free(values);
        return;
    }
    uint32_t *order;
    if (keys == rows_ascending_i64 && count >= FEW) {
        order = order_of_integers(values, count);
    } else {
        order = order_open(count);
        rows_order(order, values, count, wide, keys);
    }
    free(values);
    if (size == sizeof *order)
        gather(items, count, sizeof *order, order);
    else
        rows_permute(items, count, size, order);
    free(order);
}

size_t rows_group_end(const void *items, size_t count, size_t size, const struct key *keys, size_t first)
{
    const char *of = (const char *)items + first * size;
    size_t end = first + 1;
    while (end < count && rows_compare(of, (const char *)items + end * size, keys) == 0)
        end++;
    return end;
}

size_t rows_count_groups(const void *items, size_t count, size_t size, const struct key *keys)
{
    size_t groups = 0;
    for (size_t first = 0; first < count; groups++)
        first = rows_group_end(items, count, size, keys, first);
    return groups;
}

size_t rows_unique(void *items, size_t count, size_t size, const struct key *keys)
{
    char *at = items;
    size_t kept = 0;
    for (size_t first = 0, end; first < count; first = end, kept++) {
        end = rows_group_end(items, count, size, keys, first);
        memmove(at + kept * size, at + first * size, size);
    }
    return kept;
}

void *rows_find(const void *items, size_t count, size_t size, const struct key *keys, const void *wanted)
{
    size_t low = 0, high = count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (rows_compare((const char *)items + middle * size, wanted, keys) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    if (low == count)
        return NULL;
    char *found = (char *)(uintptr_t)items + low * size;
    return rows_compare(found, wanted, keys) == 0 ? found : NULL;
}

/* The number at AT; ROWS_MISSING if it is missing. */
static int64_t number_at(const char *at, enum rows_type type)
{
    if (type != ROWS_F64)
        return integer_at(at, type);
    double value = *(const double *)(const void *)at;
    return isnan(value)       ? ROWS_MISSING
           : value >= 0x1p63  ? INT64_MAX
           : value <= -0x1p63 ? -INT64_MAX
                              : llround(value);
}

static int64_t fold_one(const struct fold *fold, const char *at, size_t count, size_t size)
{
    int64_t sum = 0, known = 0, least = INT64_MAX, most = INT64_MIN;
    for (size_t i = 0; i < count; i++, at += size) {
        int64_t value = number_at(at, fold->type);
        if (value == ROWS_MISSING)
            continue;
        known++;
        sum_add(&sum, value);
        least = value < least ? value : least;
        most = value > most ? value : most;
    }
    if (fold->op == FOLD_COUNT)
        return known;
    if (known == 0)
        return ROWS_MISSING;
    if (fold->op == FOLD_MEAN) {
        int64_t whole = sum / known, rest = sum % known;
        if (rest < 0) {
            whole--;
            rest += known;
        }
        return whole + (rest >= known - rest);
    }
    return fold->op == FOLD_SUM ? sum : fold->op == FOLD_MOST ? most : least;
}

void rows_fold(void *row, const struct fold *folds, const void *items, size_t count, size_t size)
{
    static const size_t sizes[] = {
        [ROWS_I64] = 8, [ROWS_U64] = 8, [ROWS_I32] = 4, [ROWS_U32] = 4,
        [ROWS_U16] = 2, [ROWS_U8] = 1,  [ROWS_F64] = 8, [ROWS_TEXT] = sizeof(char *)
    };
    for (; folds->op; folds++) {
        const char *from = (const char *)items + folds->from;
        char *to = (char *)row + folds->to;
        if (folds->op == FOLD_FIRST)
            memcpy(to, from, sizes[folds->type]);
        else
            memcpy(to, &(int64_t){ fold_one(folds, from, count, size) }, sizeof(int64_t));
    }
}
