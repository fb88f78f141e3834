/* test_wire.c - ingest/wire.h reads what cli/convert/wire_put.h writes, and stops at damage. */

#include "tests/unit/unit.h"
#include "cli/convert/parts.h"
#include "ingest/wire.h"

TEST(fields_come_back_as_they_were_put)
{
    static const int64_t numbers[] = { 0, 1, 127, 128, 300, -1, INT64_MAX, INT64_MIN };
    SCRATCH_BUFFER(text);
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++)
        wire_append_number(&text, (uint32_t)i + 1, numbers[i]);
    wire_append_fixed64(&text, 1000, UINT64_C(0x0102030405060708));
    wire_append_double(&text, 5, -2.5);
    size_t message = wire_open(&text, 6);
    wire_append_text(&text, 2, "name", 4);
    wire_close(&text, message);
    struct wire in = wire_over(text.at, text.count);
    struct wire_field field;
    for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
        assert_true(wire_next(&in, &field) && wire_is(&field, (uint32_t)i + 1, WIRE_VARINT));
        assert_int_equal((int64_t)field.value, numbers[i]);
    }
    assert_true(wire_next(&in, &field) && wire_is(&field, 1000, WIRE_FIXED64));
    assert_int_equal(field.value, UINT64_C(0x0102030405060708));
    assert_true(wire_next(&in, &field) && wire_is(&field, 5, WIRE_FIXED64));
    assert_true(wire_double(field.value) == -2.5);
    assert_true(wire_next(&in, &field) && wire_is(&field, 6, WIRE_BYTES));
    struct wire inner = wire_in(&field);
    assert_true(wire_next(&inner, &field) && wire_is(&field, 2, WIRE_BYTES) && field.value == 4);
    assert_memory_equal(field.bytes, "name", 4);
    assert_false(wire_next(&in, &field));
    assert_false(in.damaged);
}

/* A message of 200 bytes needs two bytes for its length, where one was kept. */
TEST(long_messages_get_room_for_their_length)
{
    char bytes[200] = { 0 };
    SCRATCH_BUFFER(text);
    size_t outer = wire_open(&text, 1), inner = wire_open(&text, 2);
    wire_append_text(&text, 3, bytes, sizeof bytes);
    wire_close(&text, inner);
    wire_close(&text, outer);
    struct wire in = wire_over(text.at, text.count);
    struct wire_field field;
    for (uint32_t number = 1; number <= 3; number++) {
        assert_true(wire_next(&in, &field) && field.number == number);
        in = wire_in(&field);
    }
    assert_int_equal(field.value, 200);
}

static void expect_damage(const char *bytes, size_t len)
{
    struct wire in = wire_over(bytes, len);
    struct wire_field field;
    assert_false(wire_next(&in, &field));
    assert_true(in.damaged);
    assert_ptr_equal(in.at, bytes);
}

TEST(damage_ends_reading_where_it_is)
{
    expect_damage("\x08", 1);                                              /* a tag, and no value */
    expect_damage("\x08\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", 12); /* a varint of 11 bytes */
    expect_damage("\x0a\x05"
                  "abc",
                  5);                                              /* 5 bytes, of which there are 3 */
    expect_damage("\x0a\xff\xff\xff\xff\xff\xff\xff\xff\x7f", 10); /* 2^63 bytes */
    expect_damage("\x00\x00", 2);                                  /* field number 0 */
    expect_damage("\x0c", 1);                                      /* the end of a group that was not begun */
    expect_damage("\x0e\x00", 2);                                  /* a type that does not exist */
    expect_damage("\x09"
                  "1234567",
                  8); /* 8 bytes, of which there are 7 */
}

/* SDKs pad lengths to four bytes: 0x98 0x80 0x80 0x00 is 24. */
TEST(padded_varints_are_read)
{
    struct wire in = wire_over("\x08\x98\x80\x80\x00", 5);
    struct wire_field field;
    assert_true(wire_next(&in, &field) && field.value == 24);
}

TEST(groups_are_stepped_over_however_deep)
{
    enum { DEPTH = 100000 };
    SCRATCH_BUFFER(text);
    for (int i = 0; i < DEPTH; i++)
        buffer_putc(&text, '\x0b');
    for (int i = 0; i < DEPTH; i++)
        buffer_putc(&text, '\x0c');
    wire_append_number(&text, 2, 7);
    struct wire in = wire_over(text.at, text.count);
    struct wire_field field;
    assert_true(wire_next(&in, &field) && field.type == WIRE_GROUP);
    assert_true(wire_skip_group(&in, field.number));
    assert_true(wire_next(&in, &field) && field.value == 7);
    struct wire open = wire_over(text.at, DEPTH);
    assert_true(wire_next(&open, &field));
    assert_false(wire_skip_group(&open, field.number));
}
