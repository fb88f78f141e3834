/*
 * rows.h - sort, group and fold arrays of structs by lists of their members: ORDER BY, GROUP BY and the sums.
 *
 *     struct call { name_id name; int64_t dur_ns, waited_ns; };          // waited_ns: ROWS_MISSING: it did not wait
 *     struct call_row { name_id name; int64_t count, total_ns, wait_average_ns; };
 *
 *     static const struct key by_name[] = { ASC(struct call, name), KEY_END };
 *     static const struct fold sums[] = {
 *         FIRST_OF(struct call_row, name, struct call, name),
 *         COUNT_OF(struct call_row, count, struct call, dur_ns),
 *         SUM_OF(struct call_row, total_ns, struct call, dur_ns),
 *         MEAN_OF(struct call_row, wait_average_ns, struct call, waited_ns),
 *         FOLD_END,
 *     };
 *     SORT(&calls, by_name);
 *     FOR_GROUPS(&calls, by_name, first, end)
 *         rows_fold(VEC_PUSH(&rows), sums, &calls.at[first], end - first, sizeof *calls.at);
 *
 *     SORT_BY(events, count, i, trace_start_ns(trace, events[i]));        // by what is no member
 *     FOR_RUNS(first, end, count, trace->track[events[end]] == trace->track[events[first]])
 *         add_track(&events[first], end - first);
 *
 * Members are integers, enums, bool, double or texts (char *, compared as bytes; NULL is the least). A missing value is
 * ROWS_MISSING or NaN. It sorts as the least integer and after every double, and it is in no sum, count, mean, least or
 * most; where all values are missing, so is the result, except of COUNT_OF. Sums saturate; means are rounded, halves up.
 */
#ifndef TPA_BASE_ROWS_H
#define TPA_BASE_ROWS_H

#include "base/memory.h"
#include <stdint.h>

#define ROWS_MISSING INT64_MIN

enum rows_type { ROWS_I64 = 1, ROWS_U64, ROWS_I32, ROWS_U32, ROWS_U16, ROWS_U8, ROWS_F64, ROWS_TEXT };

enum { ROWS_DESCENDING = 1, ROWS_MAGNITUDE = 2, ROWS_POINTED = 4 };

struct key {
    enum rows_type type; /* 0 ends a list */
    size_t offset;
    unsigned
        how; /* set of the above: the least last; without the sign; of what the member at OFFSET points to */
    size_t inner; /* ROWS_POINTED: offset there */
};

enum fold_op { FOLD_FIRST = 1, FOLD_COUNT, FOLD_SUM, FOLD_MEAN, FOLD_LEAST, FOLD_MOST };

struct fold {
    enum fold_op op;     /* 0 ends a list */
    enum rows_type type; /* of FROM; TO has the same for FOLD_FIRST, else it is an int64_t */
    size_t to, from;
};

/* clang-format off */
#define ROWS_TYPE_OF(value) _Generic((value), int64_t : ROWS_I64, uint64_t : ROWS_U64, int32_t : ROWS_I32, \
    uint32_t : ROWS_U32, uint16_t : ROWS_U16, uint8_t : ROWS_U8, bool : ROWS_U8, double : ROWS_F64, \
    char * : ROWS_TEXT, const char * : ROWS_TEXT)
#define ROWS_TYPE(item, member) ROWS_TYPE_OF(((item *)0)->member)
#define ASC(item, member) { ROWS_TYPE(item, member), offsetof(item, member), 0, 0 }
#define DESC(item, member) { ROWS_TYPE(item, member), offsetof(item, member), ROWS_DESCENDING, 0 }
#define DESC_MAGNITUDE(item, member) { ROWS_TYPE(item, member), offsetof(item, member), ROWS_DESCENDING | ROWS_MAGNITUDE, 0 }
/* Of items that are pointers to structs; of a struct that the member POINTER points to. */
#define ASC_OF(of, member) { ROWS_TYPE(of, member), 0, ROWS_POINTED, offsetof(of, member) }
#define DESC_OF(of, member) { ROWS_TYPE(of, member), 0, ROWS_DESCENDING | ROWS_POINTED, offsetof(of, member) }
#define ASC_VIA(item, pointer, of, member) { ROWS_TYPE(of, member), offsetof(item, pointer), ROWS_POINTED, offsetof(of, member) }
#define DESC_VIA(item, pointer, of, member) { ROWS_TYPE(of, member), offsetof(item, pointer), ROWS_DESCENDING | ROWS_POINTED, offsetof(of, member) }
#define KEY_END { (enum rows_type)0, 0, 0, 0 }
#define FOLD(op, row, to, item, from) { op, ROWS_TYPE(item, from), offsetof(row, to), offsetof(item, from) }
#define FIRST_OF(row, to, item, from) FOLD(FOLD_FIRST, row, to, item, from)
#define COUNT_OF(row, to, item, from) FOLD(FOLD_COUNT, row, to, item, from)
#define SUM_OF(row, to, item, from) FOLD(FOLD_SUM, row, to, item, from)
#define MEAN_OF(row, to, item, from) FOLD(FOLD_MEAN, row, to, item, from)
#define LEAST_OF(row, to, item, from) FOLD(FOLD_LEAST, row, to, item, from)
#define MOST_OF(row, to, item, from) FOLD(FOLD_MOST, row, to, item, from)
#define FOLD_END { (enum fold_op)0, (enum rows_type)0, 0, 0 }
/* clang-format on */

/* Keys of arrays of numbers or texts: their own value. */
extern const struct key rows_ascending_i64[], rows_ascending_u32[], rows_ascending_f64[],
    rows_ascending_text[];

/* Sort COUNT items of SIZE bytes by KEYS, the most important first. Stable. Linear in COUNT for many items without texts
 * among the keys. */
void rows_sort(void *items, size_t count, size_t size, const struct key *keys);
#define SORT(vec, keys) rows_sort((vec)->at, (vec)->count, sizeof *(vec)->at, keys)

/* ORDER, the indices of all COUNT items, by KEYS; items that are equal stay as ORDER has them. No item is moved. */
void rows_order(uint32_t *order, const void *items, size_t count, size_t size, const struct key *keys);

/* Move each item to its place in ORDER, which is undone: the item that was at ORDER[0] comes first. */
void rows_permute(void *items, size_t count, size_t size, uint32_t *order);

/* The same as rows_sort for COUNT elements of ARRAY; numbers ascending, and texts by their bytes. */
#define SORT_ARRAY(array, count, keys) rows_sort(array, count, sizeof *(array), keys)
#define SORT_NUMBERS(array, count)                                                                           \
    SORT_ARRAY(array, count,                                                                                 \
               _Generic((array), int64_t * : rows_ascending_i64, uint32_t * : rows_ascending_u32,            \
                                 double * : rows_ascending_f64))
#define SORT_TEXTS(array, count) SORT_ARRAY(array, count, rows_ascending_text)

/* Sort COUNT elements of ARRAY by NUMBER, an expression of the index I, ascending; ~NUMBER: descending. Stable, so that
 * the most important of several numbers is sorted by last. */
#define SORT_BY(array, count, i, number) SORT_BY_VALUE(int64_t, rows_ascending_i64, array, count, i, number)
/* The same by TEXT, by its bytes. */
#define SORT_BY_TEXT(array, count, i, text)                                                                  \
    SORT_BY_VALUE(const char *, rows_ascending_text, array, count, i, text)
#define SORT_BY_VALUE(type, keys, array, count, i, value)                                                    \
    do {                                                                                                     \
        type *values_ = mem_alloc(mem_times((count) + 1, sizeof *values_));                                  \
        for (size_t i = 0; i < (count); i++)                                                                 \
            values_[i] = (value);                                                                            \
        rows_sort_by(array, count, sizeof *(array), values_, keys);                                          \
    } while (0)
/* VALUES, of which there are COUNT, 8 bytes or a text each, is freed. */
void rows_sort_by(void *items, size_t count, size_t size, void *values, const struct key *keys);

/* The order of two items by KEYS: negative, 0 or positive. */
int rows_compare(const void *a, const void *b, const struct key *keys);

/* The end of the group that begins at FIRST, of items sorted by KEYS. */
size_t rows_group_end(const void *items, size_t count, size_t size, const struct key *keys, size_t first);
#define FOR_GROUPS(vec, keys, first, end) FOR_GROUPS_OF((vec)->at, (vec)->count, keys, first, end)
#define FOR_GROUPS_OF(array, count, keys, first, end)                                                        \
    for (size_t first = 0, end;                                                                              \
         first < (count) && ((end) = rows_group_end(array, count, sizeof *(array), keys, first), true);      \
         (first) = (end))

/* The groups of COUNT items whose neighbours belong together when SAME, an expression of FIRST and END, holds: END is the
 * item after those that are known to be in the group of FIRST. */
#define FOR_RUNS(first, end, count, same)                                                                    \
    for (size_t first = 0, end = 1, more_##first;                                                            \
         first < (count) && ((more_##first = (end) < (count) && (same)), true);                              \
         (first) = more_##first ? (first) : (end), (end)++)                                                  \
        if (more_##first) {                                                                                  \
        } else

/* The number of groups in COUNT items sorted by KEYS. */
size_t rows_count_groups(const void *items, size_t count, size_t size, const struct key *keys);

/* Keep one item, the first, of each group of COUNT items sorted by KEYS. Returns how many are left. */
size_t rows_unique(void *items, size_t count, size_t size, const struct key *keys);

/* The first of COUNT items, sorted by KEYS, that equals WANTED in them; NULL if none does. */
void *rows_find(const void *items, size_t count, size_t size, const struct key *keys, const void *wanted);

/* Set the members of ROW that FOLDS name, from COUNT items of SIZE bytes. */
void rows_fold(void *row, const struct fold *folds, const void *items, size_t count, size_t size);

#endif
