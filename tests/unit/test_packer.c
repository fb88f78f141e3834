/* test_packer.c - base/packer.h: parts come out in order, whole, however packed and by however many threads. */
#include "tests/unit/unit.h"
#include "base/packer.h"

/* Part P is "P:" and then P % 7 * 3000 times the letter 'a' + P % 26; every fifth part is empty. */
static void make(const void *context, size_t part, struct buffer *text)
{
    (void)context;
    if (part % 5 == 4)
        return;
    buffer_printf(text, "%zu:", part);
    buffer_pad(text, (char)('a' + part % 26), part % 7 * 3000);
}

/* The text of COUNT parts, made here one after the other. */
static struct buffer expected(size_t count)
{
    struct buffer text = { 0 };
    for (size_t part = 0; part < count; part++)
        make(NULL, part, &text);
    return text;
}

static void check(enum source_packing packing, unsigned workers, size_t count)
{
    struct tpa_error err = { 0 };
    char *file = NULL;
    size_t size = 0;
    FILE *out = open_memstream(&file, &size);
    struct packer packer = { .packing = packing, .workers = workers, .make = make };
    assert_true(packer_write(&packer, count, out, &err));
    assert_int_equal(fclose(out), 0);

    SCOPED struct buffer want = expected(count);
    struct source *source = source_open_memory(file, size, "test", &err);
    assert_non_null(source);
    assert_int_equal(source_packing(source), packing);
    char *got = scratch_heap(malloc(want.count + 100));
    int64_t got_count = source_read(source, got, want.count + 100, &err);
    assert_null(source_damage(source)); /* checksum and size are right, nothing follows */
    assert_int_equal(got_count, (int64_t)want.count);
    assert_memory_equal(got, want.at, want.count);
    source_free(source);
    free(file);
}

TEST(parts_come_in_order_from_any_number_of_threads)
{
    static const enum source_packing packings[] = { SOURCE_PLAIN, SOURCE_GZIP, SOURCE_ZSTD };
    static const size_t counts[] = { 1, 2, 3, 5, 100 };
    for (size_t p = 0; p < 3; p++)
        for (unsigned workers = 1; workers <= 4; workers++)
            for (size_t c = 0; c < sizeof counts / sizeof *counts; c++)
                check(packings[p], workers, counts[c]);
    check(SOURCE_GZIP, 0, 1000); /* a thread per CPU */
}

TEST(no_parts_are_an_empty_text)
{
    check(SOURCE_GZIP, 2, 0);
}

/* A device that is always full: the error says so, and the threads end. */
TEST(a_full_disk_is_an_error)
{
    FILE *full = fopen("/dev/full", "w");
    if (!full)
        skip();
    for (unsigned workers = 1; workers <= 3; workers++) {
        struct tpa_error err = { 0 };
        struct packer packer = { .packing = SOURCE_PLAIN, .workers = workers, .make = make };
        assert_false(packer_write(&packer, 1000, full, &err));
        assert_non_null(strstr(err.message, "No space left"));
    }
    fclose(full);
}
