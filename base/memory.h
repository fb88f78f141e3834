/*
 * memory.h - allocation that does not fail, and arrays that grow.
 *
 * The program can do nothing useful without memory, so running out of it ends the program, in one
 * place, with the size that was requested. A size that comes from a file must be checked against
 * the bytes that remain before it gets here.
 *
 *     VEC_OF(uint32_t) ids = { 0 };
 *     *VEC_PUSH(&ids) = 7;
 *     VEC_FREE(&ids);
 *
 *     SCOPED uint32_t *order = mem_alloc(mem_times(count, sizeof *order)); // freed when the block is left
 */
#ifndef TPA_BASE_MEMORY_H
#define TPA_BASE_MEMORY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

/* Properties that the compiler and static analysis may rely on. */
#define NEVER_NULL __attribute__((returns_nonnull))

/* COUNT times SIZE bytes; a product beyond size_t, which 32-bit systems reach easily, counts as out of memory. */
size_t mem_times(size_t count, size_t size);

/* As malloc, calloc, realloc and strdup; never NULL. Free with free(). */
NEVER_NULL void *mem_alloc(size_t size);
NEVER_NULL void *mem_zalloc(size_t count, size_t size);
NEVER_NULL void *mem_realloc(void *block, size_t size);
NEVER_NULL char *mem_strdup(const char *text);
NEVER_NULL char *mem_strndup(const char *text, size_t len);

/* Call when the program starts: blocks of 1 MiB and more go back to the system as soon as they are freed. Without it
 * glibc keeps ever larger ones for reuse, up to 32 MiB each, so that memory that one analysis freed still counts in the
 * peak of the next. */
void mem_return_large_blocks(void);

/* Return what is free in all smaller blocks, after many were freed, such as those of reading a trace. No effect after
 * mem_keep_blocks, nor where the C library cannot do it. */
void mem_return_free_memory(void);

/* Less strict, for one that computes much from a trace: blocks below 4 MiB, up to 16 MiB of them, are kept for reuse. */
void mem_keep_small_blocks(void);

/* The opposite, for a process that reads one trace after another: up to 64 MiB of freed memory is kept for the next
 * trace. */
void mem_keep_blocks(void);

/* Memory for columns: grows without copying, because touching fresh memory is the most expensive operation of a reader.
 * OLD and NEW are sizes in bytes; the block must always be passed with the size it was last given. New bytes are zero.
 * Free with column_free. */
void *column_resize(void *block, size_t old_size, size_t new_size);
void column_free(void *block, size_t size);

/* Of a variable that is initialised where it is declared, a pointer, a vector or a buffer: what it holds when its block is left,
 * by whatever way, is freed then; NULL is allowed. What is returned must not be scoped. */
#define SCOPED __attribute__((cleanup(mem_free_at)))
static inline void mem_free_at(void *holder)
{
    void *block; /* copied: the holder is a pointer of any type */
    memcpy(&block, holder, sizeof block);
    free(block);
}

/* The same by a call of RELEASE with the address of the variable: SCOPED_BY(intervals_release) struct intervals busy = { 0 };
 * of a pointer by X_free_at, which FREE_AT(X) defines: SCOPED_BY(result_free_at) struct result *result = result_open(""); */
#define SCOPED_BY(release) __attribute__((cleanup(release)))
#define FREE_AT(type)                                                                                        \
    static inline void type##_free_at(struct type **at)                                                      \
    {                                                                                                        \
        type##_free(*at);                                                                                    \
    }

/* The handler for out of memory. The default prints the size and exits with 2. */
extern void (*mem_out_of_memory)(size_t size);

/* A vector of TYPE, also as a field of a struct; zero-initialise it. */
#define VEC_OF(type)                                                                                         \
    struct {                                                                                                 \
        type *at;                                                                                            \
        size_t count, capacity;                                                                              \
    }

/* These take any struct with the fields `at`, `count` and `capacity`. */
#define VEC_RESERVE(vec, more)                                                                               \
    ((vec)->count + (more) <= (vec)->capacity                                                                \
         ? (void)0                                                                                           \
         : (void)((vec)->at =                                                                                \
                      vec_grow((vec)->at, &(vec)->capacity, (vec)->count + (more), sizeof *(vec)->at)))
#define VEC_PUSH(vec) (VEC_RESERVE(vec, 1), (vec)->at + (vec)->count++)
#define VEC_FREE(vec) (free((vec)->at), (vec)->at = NULL, (vec)->count = (vec)->capacity = 0)

/* Is CONDITION, an expression of I, true for one of the numbers from FIRST up to END; for all of them? It is not evaluated
 * for what comes behind the first number that decides.
 *
 *     return ANY(i, sizeof words / sizeof *words, strcmp(text, words[i]) == 0);
 */
#define ANY_FROM(i, first, end, condition)                                                                   \
    ({                                                                                                       \
        bool any_##i = false;                                                                                \
        for (__typeof__(+(end)) i = (first); i < (end) && !any_##i; i++)                                     \
            any_##i = (condition);                                                                           \
        any_##i;                                                                                             \
    })
#define ALL_FROM(i, first, end, condition) (!ANY_FROM(i, first, end, !(condition)))
#define ANY(i, end, condition) ANY_FROM(i, 0, end, condition)
#define ALL(i, end, condition) ALL_FROM(i, 0, end, condition)

/* The first item of VEC, or of ITEM_COUNT items, for which CONDITION, an expression of the pointer ITEM, is true; NULL if
 * there is none: FIND(row, &rows, row->id == id). */
#define FIND(item, vec, condition) FIND_OF(item, (vec)->at, (vec)->count, condition)
#define FIND_OF(item, items, item_count, condition)                                                          \
    ({                                                                                                       \
        __typeof__((items) + 0) item = NULL, found_##item = NULL;                                            \
        for (size_t i_ = 0; i_ < (item_count) && !found_##item; i_++) {                                      \
            item = &(items)[i_];                                                                             \
            found_##item = (condition) ? item : NULL;                                                        \
        }                                                                                                    \
        found_##item;                                                                                        \
    })

/* A loop over the items of VEC, or over ITEM_COUNT items; ITEM is a pointer to each. VEC must not grow meanwhile. */
#define FOR_EACH(item, vec) FOR_EACH_OF(item, (vec)->at, (vec)->count)
#define FOR_EACH_OF(item, items, item_count)                                                                 \
    for (__typeof__((items) + 0) item = (items), end_##item = item ? item + (item_count) : item;             \
         item < end_##item; item++)

/* The sum, of TYPE, of a TERM for each number I below END. */
#define SUM(type, i, end, term)                                                                              \
    ({                                                                                                       \
        type sum_##i = 0;                                                                                    \
        for (__typeof__(+(end)) i = 0; i < (end); i++)                                                       \
            sum_##i += (term);                                                                               \
        sum_##i;                                                                                             \
    })

/* clang-format off */
/* Call DO, a function or macro of one argument, with each of 1 to 12 others in turn: EACH(free, row->name, row->at, row). */
#define EACH(do, ...) (EACH_NAME(__VA_ARGS__, EACH_12, EACH_11, EACH_10, EACH_9, EACH_8, EACH_7, EACH_6, EACH_5, EACH_4, EACH_3, EACH_2, EACH_1, 0)(do, __VA_ARGS__))
#define EACH_NAME(a, b, c, d, e, f, g, h, i, j, k, l, name, ...) name
#define EACH_1(do, a) do(a)
#define EACH_2(do, a, ...) do(a), EACH_1(do, __VA_ARGS__)
#define EACH_3(do, a, ...) do(a), EACH_2(do, __VA_ARGS__)
#define EACH_4(do, a, ...) do(a), EACH_3(do, __VA_ARGS__)
#define EACH_5(do, a, ...) do(a), EACH_4(do, __VA_ARGS__)
#define EACH_6(do, a, ...) do(a), EACH_5(do, __VA_ARGS__)
#define EACH_7(do, a, ...) do(a), EACH_6(do, __VA_ARGS__)
#define EACH_8(do, a, ...) do(a), EACH_7(do, __VA_ARGS__)
#define EACH_9(do, a, ...) do(a), EACH_8(do, __VA_ARGS__)
#define EACH_10(do, a, ...) do(a), EACH_9(do, __VA_ARGS__)
#define EACH_11(do, a, ...) do(a), EACH_10(do, __VA_ARGS__)
#define EACH_12(do, a, ...) do(a), EACH_11(do, __VA_ARGS__)
/* clang-format on */

/* Make room for WANTED elements of SIZE bytes, doubling; updates *CAPACITY. Used by VEC_RESERVE. */
NEVER_NULL void *vec_grow(void *at, size_t *capacity, size_t wanted, size_t size);

#endif
