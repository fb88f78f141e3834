/*
 * unit.h - a program of unit tests: cmocka runs what TEST defines, in the order of the file.
 *
 *     #include "tests/unit/unit.h"
 *
 *     TEST(overlap_counts_shared_time_once)
 *     {
 *         assert_int_equal(overlap_ns(drawing), 30);
 *     }
 *
 * The header defines main, so each program includes it once.
 */
#ifndef TPA_TESTS_UNIT_UNIT_H
#define TPA_TESTS_UNIT_UNIT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"
#include "base/buffer.h"
#include <stdlib.h>

enum { UNIT_MOST = 200 }; /* tests of one program */

static struct CMUnitTest unit_tests[UNIT_MOST];
static CMFixtureFunction unit_before, unit_after;
static struct arena unit_scratch; /* released after each test */

__attribute__((unused)) static int unit_release(void **state)
{
    (void)state;
    arena_release(&unit_scratch);
    return 0;
}

/* AT, of malloc, is freed after the test; NULL is allowed. */
static inline void *scratch_heap(void *at)
{
    arena_defer(&unit_scratch, free, at);
    return at;
}

/*
 * Defines scratch_TYPE, which returns its argument, a struct TYPE * or NULL, and frees it by TYPE_free after the test:
 *
 *     SCRATCH_OF(source)
 *     struct source *source = scratch_source(source_open(path, NULL, &err));
 */
#define SCRATCH_OF(type)                                                                                     \
    static inline void scratch_free_##type(void *of)                                                         \
    {                                                                                                        \
        type##_free(of);                                                                                     \
    }                                                                                                        \
    static inline struct type *scratch_##type(struct type *of)                                               \
    {                                                                                                        \
        arena_defer(&unit_scratch, scratch_free_##type, of);                                                 \
        return of;                                                                                           \
    }

/* A buffer that is released where its scope ends. */
#define SCRATCH_BUFFER(name) __attribute__((cleanup(buffer_release))) struct buffer name = { 0 }

/* PLACE counts up through the file: constructors of one file run in any order. cmocka passes over places without a test. */
__attribute__((unused)) static void unit_add(int place, struct CMUnitTest test)
{
    if (place >= UNIT_MOST)
        abort();
    unit_tests[place] = test;
}

/* A test with functions that run before and after it, NULL for none; STATE is cmocka's. */
#define TEST_WITHIN(name, before, after)                                                                     \
    static void name(void **state);                                                                          \
    __attribute__((constructor)) static void name##_is_a_test(void)                                          \
    {                                                                                                        \
        unit_add(__COUNTER__, (struct CMUnitTest){ #name, name, before, after, NULL });                      \
    }                                                                                                        \
    static void name(__attribute__((unused)) void **state)

#define TEST(name) TEST_WITHIN(name, NULL, unit_release)

/* Functions that run once, before the first test of the program and after its last; NULL for none. */
#define TESTS_WITHIN(before, after)                                                                          \
    __attribute__((constructor)) static void unit_set_frame(void)                                            \
    {                                                                                                        \
        unit_before = before;                                                                                \
        unit_after = after;                                                                                  \
    }

int main(void)
{
    return _cmocka_run_group_tests("tests", unit_tests, UNIT_MOST, unit_before, unit_after);
}

#endif
