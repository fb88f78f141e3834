/* test_arg_storage.c - trace/storage.h: arguments come back as they were set, however narrow they are packed. */

#include "tests/unit/unit.h"
#include "trace/storage.h"

enum { EVENTS = 5000 };

/* Of every third event a value: of each block another width, up to what 64 bits hold; the last block is not full. */
static int64_t value_of(event_id e, bool wide)
{
    uint64_t random = (e + UINT64_C(1)) * UINT64_C(0x9e3779b97f4a7c15);
    static const uint64_t masks[] = { 0, UINT8_MAX, UINT16_MAX, INT32_MAX };
    unsigned block = e / 3 / PACKED_VALUES;
    if (wide && block == 2)
        return e / 3 % 100 == 0 ? INT64_MIN : e / 3 % 100 == 1 ? INT64_MAX : (int64_t)random;
    return (int64_t)(random & masks[block % 4]) - (block % 2 ? 100 : 0);
}

static void check_values(bool wide)
{
    struct arg_storage storage = { 0 };
    for (event_id e = 0; e < EVENTS; e += 3)
        arg_storage_add(&storage, e, value_of(e, wide));
    for (size_t i = 0; i < storage.values.count; i++) /* most are packed by now, and the newest are not */
        assert_true(packing_value(&storage.values, i) == value_of((event_id)(3 * i), wide));
    struct trace trace = { .event_count = EVENTS };
    trace.args[ARG_BYTES] = arg_storage_freeze(&storage, EVENTS);
    assert_true(storage.values.bytes < storage.values.count * (wide ? 8 : 4));
    for (event_id e = 0; e < EVENTS; e++) {
        int64_t value;
        assert_int_equal(trace_arg(&trace, ARG_BYTES, e, &value), e % 3 == 0);
        if (e % 3 == 0)
            assert_true(value == value_of(e, wide));
    }
    for (unsigned block = 0; block < 4; block++)
        assert_int_equal(storage.values.blocks.at[block].width, wide && block == 2 ? 8
                                                                : block == 3       ? 4
                                                                                   : block);
    arg_storage_release(&storage);
}

TEST(narrow_values_come_back)
{
    check_values(false);
}

TEST(wide_values_come_back)
{
    check_values(true);
}

/* A block is read as a whole as its values are one by one, and its bounds hold them: the greater one not twice too far. */
TEST(blocks_are_read_and_bounded)
{
    struct arg_storage storage = { 0 };
    for (event_id e = 0; e < EVENTS; e += 3)
        arg_storage_add(&storage, e, value_of(e, true));
    struct trace_arg_column column = arg_storage_freeze(&storage, EVENTS);
    for (size_t block = 0; block < packed_blocks(column.count); block++) {
        int64_t values[PACKED_VALUES];
        size_t first = block * PACKED_VALUES, left = column.count - first;
        size_t count = left < PACKED_VALUES ? left : PACKED_VALUES;
        const struct packed_block *of = &column.values.blocks[block];
        int64_t most = INT64_MIN;
        packed_read_block(&column.values, block, count, values);
        for (size_t i = 0; i < count; i++) {
            assert_true(values[i] == packed_value(&column.values, first + i));
            assert_true(values[i] >= packed_least(of) && values[i] <= packed_most(of));
            most = values[i] > most ? values[i] : most;
        }
        assert_true(of->width == 8 || packed_most(of) - packed_least(of) <= 2 * (most - packed_least(of)));
    }
    arg_storage_release(&storage);
}

/* 1, 2 ... values: what is packed is whole words, and there must be room for them. */
TEST(few_values_come_back)
{
    for (size_t count = 1; count < 20; count++) {
        struct arg_storage storage = { 0 };
        for (event_id e = 0; e < count; e++)
            arg_storage_add(&storage, e, e ? (int64_t)e * 1000 : -7);
        struct trace_arg_column column = arg_storage_freeze(&storage, count);
        for (event_id e = 0; e < count; e++)
            assert_int_equal(trace_arg_value(&column, e), e ? (int64_t)e * 1000 : -7);
        arg_storage_release(&storage);
    }
}

/* The bits of eleven doubles: far apart, so that each takes 8 bytes, or one where they are few. */
TEST(doubles_that_are_few_take_a_byte)
{
    enum {
        COUNT = 2 * PACKED_VALUES + 40
    }; /* of the last block each has its 8 bytes: choices would take more */
    struct arg_storage storage = { 0 };
    for (event_id e = 0; e < COUNT; e++) {
        double value = 12.5 * (e % 11) - 1;
        int64_t bits;
        memcpy(&bits, &value, sizeof bits);
        arg_storage_add(&storage, e, bits);
    }
    struct trace trace = { .event_count = COUNT };
    trace.args[ARG_OCCUPANCY] = arg_storage_freeze(&storage, COUNT);
    assert_int_equal(storage.values.word_count, 2 * (PACKED_CHOICE_WORDS + 11) + 40);
    for (event_id e = 0; e < COUNT; e++)
        assert_true(trace_arg_decimal(&trace, ARG_OCCUPANCY, e) == 12.5 * (e % 11) - 1);
    arg_storage_release(&storage);
}
