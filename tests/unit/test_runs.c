/* test_runs.c - base/runs.h: runs become one, and equal items keep their order. */

#include "tests/unit/unit.h"
#include "base/runs.h"

struct item {
    int key, place;
};

static bool comes_after(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct item *)a)->key > ((const struct item *)b)->key;
}

TEST(any_runs_are_sorted_stably)
{
    enum { MOST = 1000 };
    static struct item items[MOST];
    unsigned random = 1;
    for (int count = 0; count < MOST; count += 1 + count / 10)
        for (int period = 1; period < 300; period = period * 3 + 1) {
            for (int i = 0; i < count; i++) {
                random = random * 1103515245 + 12345;
                items[i] = (struct item){ i % period + (int)(random >> 16) % (period % 5 + 1), i };
            }
            runs_sort(items, (size_t)count, sizeof *items, comes_after, NULL);
            for (int i = 1; i < count; i++) {
                assert_true(items[i - 1].key <= items[i].key);
                assert_true(items[i - 1].key < items[i].key || items[i - 1].place < items[i].place);
            }
        }
}
