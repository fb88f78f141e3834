/* test_packing.c - trace/packing.h: values come back as they were added, before and after they are finished or changed. */

#include "tests/unit/unit.h"
#include "trace/packing.h"

enum { COUNT = 3 * PACKED_VALUES + 100 };

static int64_t value_of(size_t i)
{
    return (int64_t)(i * i) - (i % 3 ? 0 : INT64_C(5000000000));
}

static void check(const struct packing *packing, size_t count, int64_t more)
{
    assert_int_equal(packing->count, count);
    for (size_t i = 0; i < count; i++)
        assert_true(packing_value(packing, i) == value_of(i) + more);
}

/* Finished after each of many counts, and added to behind it: one by one, and some at a time. */
TEST(one_that_is_finished_takes_more)
{
    static const size_t steps[] = {
        1, PACKED_VALUES - 2, 1, 1, PACKED_VALUES + 3, 2 * PACKED_VALUES - 4, 100
    };
    struct packing packing = { 0 };
    int64_t some[2 * PACKED_VALUES];
    packing_finish(&packing);
    for (size_t step = 0; step < sizeof steps / sizeof *steps; step++) {
        for (size_t i = 0; i < steps[step]; i++)
            some[i] = value_of(packing.count + i);
        if (steps[step] == 1)
            packing_add(&packing, some[0]);
        else
            packing_add_all(&packing, some, steps[step]);
        check(&packing, packing.count, 0);
        struct packed packed = packing_finish(&packing);
        assert_int_equal(packing.bytes, packing_used(&packing));
        for (size_t i = 0; i < packing.count; i++)
            assert_true(packed_value(&packed, i) == value_of(i));
    }
    assert_int_equal(packing.count, 4 * PACKED_VALUES + 100);
    packing_release(&packing);
}

static int64_t one_more(void *context, size_t i, int64_t value)
{
    size_t *next = context;
    assert_int_equal(i, (*next)++);
    return value + 1;
}

TEST(values_change_in_order)
{
    struct packing packing = { 0 };
    for (size_t i = 0; i < COUNT; i++)
        packing_add(&packing, value_of(i));
    for (int64_t times = 1; times <= 2; times++) {
        size_t next = 0;
        packing_change(&packing, one_more, &next);
        check(&packing, COUNT, times);
        packing_finish(&packing);
        check(&packing, COUNT, times);
    }
    packing_release(&packing);
}
