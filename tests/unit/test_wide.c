
#include "tests/unit/unit.h"
#include "base/wide.h"

TEST(products_keep_all_bits)
{
    struct wide p = wide_product(UINT64_MAX, UINT64_MAX); /* 2^128 - 2^65 + 1 */
    assert_true(p.high == UINT64_MAX - 1 && p.low == 1);
    p = wide_product(UINT64_C(0x100000001), UINT64_C(0xffffffff)); /* 2^64 - 1 */
    assert_true(p.high == 0 && p.low == UINT64_MAX);
    p = wide_product(UINT64_C(1) << 40, UINT64_C(3) << 30);
    assert_true(p.high == 3 << 6 && p.low == 0);
}

TEST(sums_carry)
{
    struct wide sum = { .high = 1, .low = UINT64_MAX };
    wide_add(&sum, (struct wide){ .low = 1 });
    assert_true(sum.high == 2 && sum.low == 0);
}

TEST(quotients_are_exact)
{
    const uint64_t values[] = { 1, 2, 3, 999999937, UINT64_C(0x8000000000000001), UINT64_MAX };
    for (size_t i = 0; i < sizeof values / sizeof *values; i++)
        for (size_t j = 0; j < sizeof values / sizeof *values; j++) {
            struct wide p = wide_product(values[i], values[j]);
            assert_true(wide_quotient(p, values[j]) == values[i]);
            wide_add(&p, (struct wide){ .low = values[j] - 1 });
            assert_true(wide_quotient(p, values[j]) == values[i]);
        }
    assert_true(wide_quotient((struct wide){ .high = 5 }, 5) == UINT64_MAX);
    assert_true(wide_quotient((struct wide){ .low = 5 }, 0) == UINT64_MAX);
}

TEST(scaling_rounds_to_zero_and_saturates)
{
    assert_true(wide_scaled(7, 3, 2) == 10);
    assert_true(wide_scaled(-7, 3, 2) == -10);
    assert_true(wide_scaled(INT64_MAX, INT64_MAX, INT64_MAX) == INT64_MAX);
    assert_true(wide_scaled(INT64_MIN, 1, 2) == INT64_MIN / 2);
    assert_true(wide_scaled(INT64_MAX, -2, 1) == -INT64_MAX);
    assert_true(wide_scaled(INT64_C(3600000000000), INT64_C(123456789012), INT64_C(1000000000000)) ==
                INT64_C(444444440443));
}
