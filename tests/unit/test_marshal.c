/* test_marshal.c - ingest/marshal.h: every type of object, references, damage. Bytes are worked out by hand. */
#include "tests/unit/unit.h"
#include "ingest/marshal.h"

/* A reader over the bytes of a string literal, in which NULs count; the literal's own NUL does not. */
#define READER(literal)                                                                                      \
    {                                                                                                        \
        .bytes = (const uint8_t *)(literal), .size = sizeof(literal) - 1, .texts = &text_arena               \
    }

static struct arena text_arena;

static struct marshal_item next(struct marshal *in)
{
    struct tpa_error err = { 0 };
    struct marshal_item item = { 0 };
    if (!marshal_next(in, &item, &err))
        fail_msg("offset %lld: %s", (long long)err.offset, err.message);
    return item;
}

/* Reading the first item, and passing over it, fails at OFFSET with a message that holds WORDS. */
static void check_failure(const char *bytes, size_t size, int64_t offset, const char *words)
{
    /* A copy of just that size, so that the address sanitizer sees a step too far. */
    uint8_t *copy = scratch_heap(malloc(size ? size : 1));
    memcpy(copy, bytes, size);
    struct marshal in = { .bytes = copy, .size = size, .texts = &text_arena };
    struct tpa_error err = { 0 };
    struct marshal_item item;
    assert_false(marshal_next(&in, &item, &err) && marshal_skip(&in, &item, &err));
    assert_int_equal(err.offset, offset);
    if (!strstr(err.message, words))
        fail_msg("expected '%s' in '%s'", words, err.message);
    marshal_release(&in);
}
#define CHECK_FAILURE(literal, offset, words) check_failure(literal, sizeof(literal) - 1, offset, words)

TEST(singletons_are_never_numbered)
{
    /* None, False, True with the flag, Ellipsis, StopIteration; then a flagged 7, which is number 0. */
    struct marshal in = READER("NF\xd4.S\xe9\7\0\0\0r\0\0\0\0");
    assert_int_equal(next(&in).type, MARSHAL_NONE);
    struct marshal_item item = next(&in);
    assert_int_equal(item.type, MARSHAL_BOOL);
    assert_int_equal(item.integer, 0);
    item = next(&in);
    assert_int_equal(item.type, MARSHAL_BOOL);
    assert_int_equal(item.integer, 1);
    assert_int_equal(next(&in).type, MARSHAL_ELLIPSIS);
    assert_int_equal(next(&in).type, MARSHAL_STOP_ITERATION);
    assert_int_equal(next(&in).integer, 7);
    item = next(&in);
    assert_int_equal(item.type, MARSHAL_INT);
    assert_int_equal(item.integer, 7);
    assert_int_equal(item.offset, 10);
    marshal_release(&in);
}

TEST(whole_numbers)
{
    struct marshal in = READER("i\xff\xff\xff\xff"
                               "I\0\0\0\0\1\0\0\0"
                               /* 2^31 = 2 * 2^30: digits 0, 0, 2 */
                               "l\3\0\0\0\0\0\0\0\2\0"
                               /* -(1 + 2^15) */
                               "l\xfe\xff\xff\xff\1\0\1\0"
                               "l\0\0\0\0"
                               /* 2^63 - 1 = 7 * 2^60 + ones; 2^63 = 8 * 2^60 */
                               "l\5\0\0\0\xff\x7f\xff\x7f\xff\x7f\xff\x7f\7\0"
                               "l\5\0\0\0\0\0\0\0\0\0\0\0\x8\0");
    assert_int_equal(next(&in).integer, -1);
    assert_int_equal(next(&in).integer, INT64_C(1) << 32);
    assert_int_equal(next(&in).integer, INT64_C(1) << 31);
    assert_int_equal(next(&in).integer, -32769);
    assert_int_equal(next(&in).integer, 0);
    assert_int_equal(next(&in).integer, INT64_MAX);
    struct marshal_item item = next(&in);
    assert_int_equal(item.type, MARSHAL_BIG_INT);
    assert_true(item.number == 0x1p63);
    assert_int_equal(in.at, in.size);
    marshal_release(&in);
    CHECK_FAILURE("l\1\0\0\0\0\x80", 1, "digit 0x8000");
    CHECK_FAILURE("l\2\0\0\0\1\0\0\0", 1, "digit 0x0000");
    CHECK_FAILURE("l\0\0\0\x80\1\0", 1, "2147483648 digits");
}

TEST(numbers_as_bits_and_as_text)
{
    struct marshal in = READER("g\0\0\0\0\0\0\xf8\x3f" /* 1.5 */
                               "f\4"
                               "0.25"
                               "f\5"
                               "1e-05"
                               "f\3"
                               "inf"
                               "y\0\0\0\0\0\0\0\x40\0\0\0\0\0\0\0\0" /* 2 + 0j */
                               "x\1"
                               "3"
                               "\1"
                               "4");
    assert_true(next(&in).number == 1.5);
    assert_true(next(&in).number == 0.25);
    assert_true(next(&in).number == 1e-05);
    assert_true(next(&in).number > 1e308);
    struct marshal_item item = next(&in);
    assert_int_equal(item.type, MARSHAL_COMPLEX);
    assert_true(item.number == 2);
    assert_true(next(&in).number == 3);
    assert_int_equal(in.at, in.size);
    CHECK_FAILURE("f\0", 1, "''");
    CHECK_FAILURE("f\2 1", 1, "' 1'");
    CHECK_FAILURE("f\4"
                  "0x1p",
                  1, "'0x1p'");
    CHECK_FAILURE("f\4"
                  "1.5",
                  2, "needs 4 bytes but only 3 follow");
}

TEST(texts)
{
    struct marshal in = READER("z\1a"
                               "Z\1b"
                               "a\1\0\0\0c"
                               "A\1\0\0\0d"
                               "u\2\0\0\0\xc3\xa9"
                               "t\1\0\0\0f"
                               "s\1\0\0\0g");
    const char *const expected[] = { "a", "b", "c", "d", "\xc3\xa9", "f", "g" };
    for (size_t i = 0; i < 7; i++) {
        struct marshal_item item = next(&in);
        assert_int_equal(item.type, i == 6 ? MARSHAL_BYTES : MARSHAL_TEXT);
        assert_int_equal(item.length, strlen(expected[i]));
        assert_memory_equal(item.text, expected[i], item.length);
    }
    marshal_release(&in);
    CHECK_FAILURE("u\xff\xff\xff\x7f"
                  "abc",
                  1, "2147483647 items but only 3 bytes follow");
    CHECK_FAILURE("u\xff\xff\xff\xff", 1, "of -1 items");
    CHECK_FAILURE("z\5abc", 2, "needs 5 bytes but only 3 follow");
}

TEST(interned_strings_of_python_2_have_numbers_of_their_own)
{
    struct marshal in = READER("(\3\0\0\0"
                               "t\2\0\0\0hi"
                               "t\1\0\0\0x"
                               "R\1\0\0\0");
    assert_int_equal(next(&in).count, 3);
    next(&in);
    next(&in);
    struct marshal_item item = next(&in);
    assert_int_equal(item.type, MARSHAL_TEXT);
    assert_memory_equal(item.text, "x", 1);
    marshal_release(&in);
    CHECK_FAILURE("R\0\0\0\0", 0, "a reference to object 0 but only 0 came before");
}

/* ( [ 1 2 ] , the same list ): the list is flagged and gets a note. */
TEST(a_reference_gives_back_the_note)
{
    struct marshal in = READER(")\2"
                               "\xdb\2\0\0\0"
                               "i\1\0\0\0"
                               "i\2\0\0\0"
                               "r\0\0\0\0");
    next(&in);
    struct marshal_item list = next(&in);
    assert_int_equal(list.type, MARSHAL_LIST);
    assert_int_equal(list.slot, 0);
    next(&in);
    next(&in);
    marshal_note(&in, &list, 42);
    struct marshal_item again = next(&in);
    assert_int_equal(again.type, MARSHAL_REFERENCE);
    assert_int_equal(again.note, 42);
    marshal_release(&in);
}

/* A list that holds itself: while it is open, there is no note. */
TEST(a_loop_has_no_note)
{
    struct marshal in = READER("\xdb\1\0\0\0r\0\0\0\0");
    struct marshal_item list = next(&in);
    assert_int_equal(list.count, 1);
    struct marshal_item self = next(&in);
    assert_int_equal(self.type, MARSHAL_REFERENCE);
    assert_true(self.note == MARSHAL_NO_NOTE);
    marshal_release(&in);
    CHECK_FAILURE("r\0\0\0\0", 0, "only 0 came before");
}

/* Pass over one object and find the 9 behind it. */
static void check_skip(const char *bytes, size_t size)
{
    struct marshal in = { .bytes = (const uint8_t *)bytes, .size = size, .texts = &text_arena };
    struct tpa_error err = { 0 };
    struct marshal_item item = next(&in);
    if (!marshal_skip(&in, &item, &err))
        fail_msg("offset %lld: %s", (long long)err.offset, err.message);
    assert_int_equal(next(&in).integer, 9);
    assert_int_equal(in.at, in.size);
    marshal_release(&in);
}
#define CHECK_SKIP(literal) check_skip(literal "i\x9\0\0\0", sizeof(literal "i\x9\0\0\0") - 1)

TEST(skipping_passes_over_all_that_is_inside)
{
    CHECK_SKIP("N");
    CHECK_SKIP(")\0");
    CHECK_SKIP("(\2\0\0\0)\1N[\1\0\0\0)\0");
    CHECK_SKIP("{0");
    CHECK_SKIP("{z\1k{z\1k"
               "N0"
               "z\1l)\2NN0");
    CHECK_SKIP("<\2\0\0\0NN");
    CHECK_SKIP(">\0\0\0\0");
    CHECK_SKIP(":N)\1NN");
    /* Python 2: 4 numbers, 8 objects, first line, line table. */
    CHECK_SKIP("c"
               "\0\0\0\0\0\0\0\0\1\0\0\0\x40\0\0\0"
               "s\1\0\0\0S"
               ")\1N"
               ")\0)\0)\0)\0"
               "z\1fz\1n"
               "\1\0\0\0"
               "s\0\0\0\0");
    /* 3.7: 5 numbers. */
    CHECK_SKIP("\xe3"
               "\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\x40\0\0\0"
               "s\1\0\0\0S"
               ")\1N"
               ")\0)\0)\0)\0"
               "z\1fz\1n"
               "\1\0\0\0"
               "s\0\0\0\0");
    /* 3.8: 6 numbers. */
    CHECK_SKIP("c"
               "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\x40\0\0\0"
               "s\1\0\0\0S"
               ")\1N"
               ")\0)\0)\0)\0"
               "z\1fz\1n"
               "\1\0\0\0"
               "s\0\0\0\0");
    /* 3.11: 5 numbers; names and kinds of locals; file, name, full name; first line; line and exception tables. */
    CHECK_SKIP("c"
               "\0\0\0\0\0\0\0\0\0\0\0\0\1\0\0\0\x3\0\0\0"
               "s\1\0\0\0S"
               ")\1N"
               ")\0)\0"
               "s\0\0\0\0"
               "z\1fz\1nz\1q"
               "\1\0\0\0"
               "s\0\0\0\0s\0\0\0\0");
}

TEST(damage_is_reported_with_its_place)
{
    CHECK_FAILURE("", 0, "an object needs 1 bytes but only 0 follow");
    CHECK_FAILURE("Q", 0, "0x51");
    CHECK_FAILURE("?", 0, "could not write");
    CHECK_FAILURE("(\xff\xff\xff\x7f"
                  "NN",
                  1, "2147483647 items but only 2 bytes follow");
    CHECK_FAILURE(")\3NN", 0, "3 items but only 2 bytes follow");
    CHECK_FAILURE("[\1\0\0\0"
                  "0",
                  5, "end of a dict");
    CHECK_FAILURE("{N0", 2, "end of a dict");
    CHECK_FAILURE("{NN", 3, "needs 1 bytes");
    CHECK_FAILURE("i\1\0", 1, "needs 4 bytes but only 2 follow");
    CHECK_FAILURE("c\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 0, "code object");
}

TEST(depth_is_limited)
{
    enum { DEPTH = 100000 };
    char *bytes = scratch_heap(malloc(2 * DEPTH));
    for (int i = 0; i < DEPTH; i++)
        memcpy(bytes + 2 * i, ")\1", 2);
    /* The first tuple is open at depth 1, so the 2001st, at offset 4000, is too much. */
    check_failure(bytes, 2 * DEPTH, 4000, "deeper than 2000");
}
