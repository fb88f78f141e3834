/*
 * Blocks of .tpa files: what is put in comes out, for every form of a column and every kind of record; and what no
 * writer would write is refused.
 */
#define XXH_INLINE_ALL
#include "tests/unit/unit.h"
#include "tests/unit/tpa_bytes.h"
#include "trace/tpafile_bytes.h"

#include <xxhash.h>

static uint64_t random_state = 88172645463325252;

static uint64_t next_random(void)
{
    random_state ^= random_state << 13;
    random_state ^= random_state >> 7;
    random_state ^= random_state << 17;
    return random_state;
}

/* ---- columns ---- */

/* Encode VALUES as the only column of a block, decode it, compare. What form it took. */
static struct tpafile_column check_column(const int64_t *values, size_t count)
{
    struct tpafile_encoder *encoder = tpafile_encoder_open(3);
    tpafile_encode_begin(encoder, 99, (uint32_t)count);
    tpafile_encode_column(encoder, 7, values, count);
    size_t size;
    const unsigned char *block = tpafile_encode_end(encoder, &size);
    assert_non_null(block);

    struct tpafile_head head;
    assert_true(tpafile_decode_head(block, &head));
    assert_int_equal(head.kind, 99);
    assert_int_equal(head.rows, count);
    assert_int_equal(head.packed + TPAFILE_BLOCK_HEAD, size);
    assert_true(tpafile_check_payload(&head, block + TPAFILE_BLOCK_HEAD));
    struct tpafile_decoder *decoder = tpafile_decoder_open();
    assert_null(tpafile_decode_block(decoder, &head, block + TPAFILE_BLOCK_HEAD));
    const struct tpafile_column *column = tpafile_find_column(decoder, 7);
    assert_non_null(column);
    assert_int_equal(column->count, count);
    int64_t *got = scratch_heap(calloc(count, sizeof *got));
    assert_true(tpafile_decode_column(decoder, column, got));
    assert_memory_equal(got, values, count * sizeof *got);
    struct tpafile_column form = *column;
    tpafile_decoder_free(decoder);
    tpafile_encoder_free(encoder);
    return form;
}

TEST(values_that_are_all_the_same_take_no_bytes)
{
    static const int64_t cases[] = { 0, -1, INT64_MIN, INT64_MAX, 1234567890123 };
    int64_t values[1000];
    for (size_t c = 0; c < sizeof cases / sizeof *cases; c++) {
        for (size_t i = 0; i < 1000; i++)
            values[i] = cases[c];
        assert_int_equal(check_column(values, 1000).planes, 0);
        check_column(values, 1);
    }
}

TEST(times_that_grow_become_differences)
{
    int64_t values[5000];
    int64_t now = 1700000000000000000;
    for (size_t i = 0; i < 5000; i++)
        values[i] = now += 1000 + (int64_t)(next_random() % 200);
    struct tpafile_column column = check_column(values, 5000);
    assert_int_equal(column.form, TPAFILE_DELTA);
    assert_int_equal(column.planes, 1);
}

TEST(few_distinct_values_become_a_dictionary)
{
    static const int64_t sizes[] = { 41943040, 7, -3, 1099511627776, 65536 };
    int64_t values[5000];
    for (size_t i = 0; i < 5000; i++)
        values[i] = sizes[next_random() % 5];
    struct tpafile_column column = check_column(values, 5000);
    assert_int_equal(column.form, TPAFILE_INDEX);
    assert_int_equal(column.planes, 1);
}

/* Widths of 1 to 8 bytes, lengths around the sizes at which loops and packing change, steps up and down, extremes. */
TEST(any_values_come_back)
{
    static const size_t lengths[] = { 1, 2, 3, 15, 63, 64, 65, 511, 512, 513, 5000, 40000 };
    int64_t *values = scratch_heap(calloc(40000, sizeof *values));
    for (size_t l = 0; l < sizeof lengths / sizeof *lengths; l++) {
        for (unsigned bits = 1; bits <= 64; bits += 7) {
            for (size_t i = 0; i < lengths[l]; i++)
                values[i] = (int64_t)(next_random() >> (64 - bits)) - (bits < 60 ? 100 : 0);
            check_column(values, lengths[l]);
            for (size_t i = 1; i < lengths[l]; i++)
                values[i] = (int64_t)((uint64_t)values[i - 1] + (next_random() >> (64 - bits)) -
                                      (UINT64_C(1) << (bits - 1)));
            check_column(values, lengths[l]);
        }
        for (size_t i = 0; i < lengths[l]; i++)
            values[i] = i % 3 == 0 ? INT64_MIN : i % 3 == 1 ? INT64_MAX : 0;
        check_column(values, lengths[l]);
    }
}

TEST(more_distinct_values_than_a_dictionary_holds_come_back)
{
    int64_t *values = scratch_heap(calloc(60000, sizeof *values));
    for (size_t distinct = 250; distinct <= 5000; distinct += 950) {
        for (size_t i = 0; i < 60000; i++)
            values[i] = (int64_t)((next_random() % distinct) * 1000003);
        check_column(values, 60000);
    }
}

/* ---- records ---- */

/* Write ROWS rows of KIND with random values, some not known, and compare what the blocks say. */
static void check_kind(enum tpafile_kind kind, size_t rows, uint32_t block_rows)
{
    unsigned fields = tpafile_kinds[kind].field_count;
    int64_t *sent = scratch_heap(calloc(rows * fields, sizeof *sent));
    SCRATCH_BUFFER(bytes);
    struct tpafile_writer *writer = tpa_writer(&bytes, block_rows);
    for (size_t i = 0; i < rows; i++) {
        for (unsigned f = 0; f < fields; f++) {
            unsigned shift = (unsigned)(f * 7 % 64);
            bool unknown = f % 5 == 4 || next_random() % 9 == 0;
            sent[i * fields + f] = unknown ? TPAFILE_NONE : (int64_t)(next_random() >> shift);
        }
        assert_true(tpafile_writer_add(writer, kind, sent + i * fields));
    }
    assert_true(tpafile_writer_flush(writer));
    tpafile_writer_free(writer);

    struct tpafile_decoder *decoder = tpafile_decoder_open();
    size_t row = 0;
    for (size_t at = TPAFILE_HEADER_SIZE; at < bytes.count;) {
        const unsigned char *block = (const unsigned char *)bytes.at + at;
        struct tpafile_head head;
        assert_true(tpafile_decode_head(block, &head));
        assert_int_equal(head.kind, kind);
        assert_null(tpafile_decode_block(decoder, &head, block + TPAFILE_BLOCK_HEAD));
        int64_t *column = scratch_heap(calloc(head.rows, sizeof *column));
        for (unsigned f = 0; f < fields; f++) {
            const struct tpafile_column *found = tpafile_find_column(decoder, f);
            assert_true(!found || tpafile_decode_column(decoder, found, column));
            for (size_t i = 0; i < head.rows; i++)
                assert_int_equal(found ? column[i] : TPAFILE_NONE, sent[(row + i) * fields + f]);
        }
        row += head.rows;
        at += TPAFILE_BLOCK_HEAD + (size_t)head.packed;
    }
    assert_int_equal(row, rows);
    tpafile_decoder_free(decoder);
}

TEST(every_kind_of_record_comes_back)
{
    unsigned kinds = 0;
    for (unsigned kind = 0; kind < TPAFILE_KIND_COUNT; kind++) {
        if (!tpafile_kinds[kind].id)
            continue;
        check_kind((enum tpafile_kind)kind, 1, 16);
        check_kind((enum tpafile_kind)kind, 100, 16);
        check_kind((enum tpafile_kind)kind, 3000, 2048);
        kinds++;
    }
    assert_true(kinds >= 30);
}

/* ---- what no writer writes ---- */

/* A block made by hand: PAYLOAD with a right head. */
static const char *try_block(const unsigned char *payload, uint32_t packed, uint32_t unpacked, unsigned codec,
                             uint32_t rows, struct tpafile_decoder *decoder)
{
    unsigned char bytes[TPAFILE_BLOCK_HEAD] = { 0 };
    memcpy(bytes, TPAFILE_BLOCK_MAGIC, 4);
    store_u16(bytes + 4, TPAFILE_API);
    bytes[6] = (unsigned char)codec;
    store_u32(bytes + 8, rows);
    store_u32(bytes + 12, packed);
    store_u32(bytes + 16, unpacked);
    store_u64(bytes + 24, XXH3_64bits(payload, packed));
    store_u64(bytes + 32, XXH3_64bits(bytes, 32));
    struct tpafile_head head;
    if (!tpafile_decode_head(bytes, &head))
        return "no head";
    assert_true(tpafile_check_payload(&head, payload));
    return tpafile_decode_block(decoder, &head, payload);
}

static void column_head(unsigned char *at, unsigned form, unsigned planes, uint32_t count)
{
    memset(at, 0, TPAFILE_COLUMN_HEAD);
    at[2] = (unsigned char)form;
    at[3] = (unsigned char)planes;
    store_u32(at + 4, count);
}

TEST(sizes_are_checked_before_they_are_used)
{
    struct tpafile_decoder *decoder = tpafile_decoder_open();
    unsigned char payload[256] = { 0 };
    int64_t values[100];
    /* Limits of the head. */
    assert_string_equal(try_block(payload, 0, 0, 0, TPAFILE_MOST_ROWS + 1, decoder), "no head");
    assert_string_equal(try_block(payload, 0, TPAFILE_LARGEST_BLOCK + 1, 1, 1, decoder), "no head");
    assert_non_null(try_block(payload, 10, 11, 0, 1, decoder));  /* stored, but of two sizes */
    assert_non_null(try_block(payload, 10, 10, 2, 1, decoder));  /* no such codec */
    assert_non_null(try_block(payload, 10, 100, 1, 1, decoder)); /* no zstd frame */
    assert_non_null(try_block(payload, 23, 23, 0, 1, decoder));  /* shorter than a column's head */
    assert_null(try_block(payload, 0, 0, 0, 5, decoder));        /* no columns: nothing is known */

    /* More values than the block has records. */
    column_head(payload, TPAFILE_PLAIN, 0, 101);
    assert_non_null(try_block(payload, 24, 24, 0, 100, decoder));
    column_head(payload, TPAFILE_PLAIN, 0, UINT32_MAX);
    assert_non_null(try_block(payload, 24, 24, 0, 100, decoder));
    /* Bytes may be more, but not as numbers, and not without end. */
    column_head(payload, TPAFILE_PLAIN, 1, 200);
    store_u32(payload + 24, 0);
    assert_null(try_block(payload, 28, 28, 0, 100, decoder));
    assert_false(tpafile_decode_column(decoder, tpafile_column_at(decoder, 0), values));
    column_head(payload, TPAFILE_PLAIN, 1, TPAFILE_LARGEST_COLUMN + 1);
    assert_non_null(try_block(payload, 28, 28, 0, 100, decoder));
    /* Planes: too many; without their sizes; larger than the payload; larger than the column. */
    column_head(payload, TPAFILE_PLAIN, 9, 10);
    assert_non_null(try_block(payload, 200, 200, 0, 100, decoder));
    column_head(payload, TPAFILE_PLAIN, 2, 10);
    assert_non_null(try_block(payload, 28, 28, 0, 100, decoder));
    column_head(payload, TPAFILE_PLAIN, 1, 10);
    store_u32(payload + 24, 10);
    assert_non_null(try_block(payload, 37, 37, 0, 100, decoder));
    assert_null(try_block(payload, 38, 38, 0, 100, decoder));
    store_u32(payload + 24, 11);
    assert_non_null(try_block(payload, 39, 39, 0, 100, decoder));
    /* A plane that is no zstd frame of its length. */
    store_u32(payload + 24, 5);
    assert_null(try_block(payload, 33, 33, 0, 100, decoder));
    assert_false(tpafile_decode_column(decoder, tpafile_column_at(decoder, 0), values));
    /* Forms: none such; places without a dictionary, or in an empty one, or outside of it. */
    column_head(payload, 3, 0, 10);
    assert_non_null(try_block(payload, 24, 24, 0, 100, decoder));
    column_head(payload, TPAFILE_INDEX, 0, 10);
    assert_non_null(try_block(payload, 24, 24, 0, 100, decoder));
    column_head(payload, TPAFILE_DICTIONARY, 0, 0);
    column_head(payload + 24, TPAFILE_INDEX, 0, 10);
    assert_non_null(try_block(payload, 48, 48, 0, 100, decoder));
    column_head(payload, TPAFILE_DICTIONARY, 0, 2);
    column_head(payload + 24, TPAFILE_INDEX, 1, 1);
    store_u32(payload + 48, 1);
    payload[52] = 2;
    assert_null(try_block(payload, 53, 53, 0, 100, decoder));
    assert_false(tpafile_decode_column(decoder, tpafile_find_column(decoder, 0), values));
    payload[52] = 1;
    assert_null(try_block(payload, 53, 53, 0, 100, decoder));
    assert_true(tpafile_decode_column(decoder, tpafile_find_column(decoder, 0), values));
    /* A dictionary of a dictionary. */
    column_head(payload, TPAFILE_INDEX | TPAFILE_DICTIONARY, 0, 2);
    assert_non_null(try_block(payload, 53, 53, 0, 100, decoder));
    tpafile_decoder_free(decoder);
}
