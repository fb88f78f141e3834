/* test_arena.c - what an arena frees at its end, and objects with an arena of their own. */
#include "tests/unit/unit.h"

struct result {
    VEC_OF(int) rows;
    char *text;
    struct {
        VEC_OF(int) of;
        char *name;
    } * parts;
};

static int calls[4], call_count;

static void record(void *of)
{
    calls[call_count++] = *(int *)of;
}

/* Under AddressSanitizer, leaks and double frees end the test. */
static struct result *make(void)
{
    struct result *result = arena_open(sizeof *result);
    struct arena *arena = arena_of(result);
    ARENA_OWNS(arena, &result->rows, &result->text);
    result->parts = arena_zalloc(arena, 3, sizeof *result->parts);
    ARENA_OWNS_EACH(arena, result->parts, 3, of);
    ARENA_OWNS_EACH(arena, result->parts, 3, name);
    for (int i = 0; i < 1000; i++) {
        *VEC_PUSH(&result->rows) = i;
        *VEC_PUSH(&result->parts[i % 3].of) = i;
    }
    result->text = mem_strdup("text");
    result->parts[1].name = mem_strdup("name");
    return result;
}

TEST(an_object_is_zero_and_aligned_and_frees_what_it_owns)
{
    struct result *empty = arena_open(sizeof *empty);
    assert_null(empty->rows.at);
    assert_int_equal((uintptr_t)empty % _Alignof(max_align_t), 0);
    arena_free(empty);
    struct result *result = make();
    assert_int_equal(result->rows.at[999], 999);
    assert_int_equal(result->parts[0].of.count, 334);
    arena_free(result);
    arena_free(NULL);
}

TEST(what_was_added_last_is_released_first)
{
    int numbers[] = { 1, 2, 3 };
    struct arena arena = { 0 }, other = { 0 };
    call_count = 0;
    arena_defer(&other, record, &numbers[0]);
    arena_defer(&arena, record, &numbers[1]);
    arena_defer(&arena, record, &numbers[2]);
    arena_clear(&arena);
    assert_int_equal(call_count, 2);
    assert_int_equal(calls[0], 3);
    assert_int_equal(calls[1], 2);
    arena_defer(&arena, record, &numbers[1]);
    arena_adopt(&arena, &other);
    arena_release(&other);
    assert_int_equal(call_count, 2); /* it moved with the memory */
    arena_release(&arena);
    assert_int_equal(call_count, 4);
}

TEST(a_kept_object_stays_until_its_owner_frees_it)
{
    int number = 7;
    call_count = 0;
    struct result *outer = make(), *inner = arena_hold(arena_of(outer), make());
    arena_defer(arena_of(inner), record, &number);
    arena_keep(inner, true);
    arena_free(inner);
    arena_free(outer); /* which holds it, but another keeps it */
    assert_int_equal(call_count, 0);
    arena_keep(inner, false);
    arena_free(inner);
    assert_int_equal(call_count, 1);
}

TEST(a_large_allocation_is_zero_and_leaves_the_block_to_the_small_ones)
{
    struct arena arena = { 0 };
    char *before = arena_strndup(&arena, "a", 1);
    size_t size = (size_t)8 << 20;
    char *large = arena_zalloc(&arena, size, 1), *after = arena_strndup(&arena, "b", 1);
    assert_true(after > before && after < before + 256);
    assert_int_equal(large[0] | large[size / 2] | large[size - 1], 0);
    memset(large, 1, size);
    assert_string_equal(before, "a");
    assert_string_equal(after, "b");
    assert_true(arena_bytes(&arena) > size);
    arena_release(&arena);
}
