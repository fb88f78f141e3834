/*
 * tpafile_decode.c - see tpafile_decode.h and docs/tpa-file.md.
 *
 * Every size is checked where it is read, so that what comes after may trust it. The loops that make numbers of
 * planes know how many planes there are, so that compilers turn them into vector code.
 */
#define XXH_INLINE_ALL
#include "trace/tpafile_decode.h"

#include "base/memory.h"

#include "trace/tpafile_bytes.h"
#include <assert.h>
#include <xxhash.h>
#include <zstd.h>

struct scratch {
    unsigned char *at;
    size_t capacity;
};

struct tpafile_decoder {
    ZSTD_DCtx *zstd;
    struct scratch payload;                     /* unpacked */
    struct scratch planes[TPAFILE_MOST_PLANES]; /* unpacked */
    struct scratch dictionary;
    struct tpafile_column *columns; /* dictionaries too */
    size_t column_count, column_capacity;
    uint32_t rows;
};

bool tpafile_check_header(const unsigned char *header)
{
    return memcmp(header, TPAFILE_MAGIC, 8) == 0 && get_u64(header + 56) == XXH3_64bits(header, 56);
}

bool tpafile_decode_head(const unsigned char *bytes, struct tpafile_head *head)
{
    if (memcmp(bytes, TPAFILE_BLOCK_MAGIC, 4) != 0 || get_u64(bytes + 32) != XXH3_64bits(bytes, 32))
        return false;
    *head = (struct tpafile_head){
        .kind = get_u16(bytes + 4),
        .codec = (enum tpafile_codec)bytes[6],
        .rows = get_u32(bytes + 8),
        .packed = get_u32(bytes + 12),
        .size = get_u32(bytes + 16),
        .number = get_u32(bytes + 20),
        .checksum = get_u64(bytes + 24),
    };
    return head->rows <= TPAFILE_MOST_ROWS && head->packed <= TPAFILE_LARGEST_BLOCK &&
           head->size <= TPAFILE_LARGEST_BLOCK;
}

bool tpafile_check_payload(const struct tpafile_head *head, const unsigned char *payload)
{
    return head->checksum == XXH3_64bits(payload, head->packed);
}

struct tpafile_decoder *tpafile_decoder_open(void)
{
    struct tpafile_decoder *decoder = mem_zalloc(1, sizeof *decoder);
    decoder->zstd = ZSTD_createDCtx();
    if (!decoder->zstd)
        mem_out_of_memory(sizeof *decoder);
    return decoder;
}

void tpafile_decoder_free(struct tpafile_decoder *decoder)
{
    if (!decoder)
        return;
    ZSTD_freeDCtx(decoder->zstd);
    free(decoder->payload.at);
    for (size_t i = 0; i < TPAFILE_MOST_PLANES; i++)
        free(decoder->planes[i].at);
    EACH(free, decoder->dictionary.at, decoder->columns, decoder);
}

static unsigned char *tpafile_decode_reserve(struct scratch *scratch, size_t size)
{
    if (size > scratch->capacity || !scratch->at) {
        size_t capacity = size < 4096 ? 4096 : size;
        free(scratch->at);
        scratch->at = mem_alloc(capacity);
        scratch->capacity = capacity;
    }
    return scratch->at;
}

/* Unpack a zstd frame that must hold exactly SIZE bytes. */
static bool unpack(struct tpafile_decoder *decoder, const unsigned char *from, size_t packed,
                   unsigned char *to, size_t size)
{
    return ZSTD_getFrameContentSize(from, packed) == size &&
           ZSTD_decompressDCtx(decoder->zstd, to, size, from, packed) == size;
}

static struct tpafile_column *add_column(struct tpafile_decoder *decoder)
{
    if (decoder->column_count == decoder->column_capacity) {
        size_t capacity = decoder->column_capacity ? decoder->column_capacity * 2 : 32;
        decoder->columns = mem_realloc(decoder->columns, mem_times(capacity, sizeof *decoder->columns));
        decoder->column_capacity = capacity;
    }
    return &decoder->columns[decoder->column_count++];
}

/* Only a column of bytes is longer than its block has records. */
static bool count_is_fine(const struct tpafile_decoder *decoder, const struct tpafile_column *column)
{
    if (column->count <= decoder->rows)
        return true;
    return column->form == TPAFILE_PLAIN && column->planes == 1 && column->count <= TPAFILE_LARGEST_COLUMN;
}

static bool form_is_fine(unsigned form)
{
    unsigned plain = form & ~(unsigned)TPAFILE_DICTIONARY;
    return form == TPAFILE_INDEX || plain == TPAFILE_PLAIN || plain == TPAFILE_DELTA;
}

/* Take the column that begins at AT, of LEFT bytes; how long it is, 0 when it is damaged. */
static size_t parse_column(struct tpafile_decoder *decoder, const unsigned char *at, size_t left)
{
    if (left < TPAFILE_COLUMN_HEAD)
        return 0;
    struct tpafile_column column = {
        .field = get_u16(at),
        .form = (enum tpafile_form)at[2],
        .planes = at[3],
        .count = get_u32(at + 4),
        .base = (int64_t)get_u64(at + 8),
        .first = (int64_t)get_u64(at + 16),
    };
    if (column.planes > TPAFILE_MOST_PLANES || !form_is_fine(column.form) ||
        !count_is_fine(decoder, &column) || left - TPAFILE_COLUMN_HEAD < (size_t)4 * column.planes)
        return 0;
    size_t used = TPAFILE_COLUMN_HEAD + (size_t)4 * column.planes;
    for (unsigned p = 0; p < column.planes; p++) {
        uint32_t size = get_u32(at + TPAFILE_COLUMN_HEAD + (size_t)4 * p);
        if (size > column.count || size > left - used)
            return 0;
        column.plane[p] = at + used;
        column.size[p] = size;
        used += size;
    }
    *add_column(decoder) = column;
    return used;
}

/* Columns use the dictionary before them. */
static bool join_dictionaries(struct tpafile_decoder *decoder)
{
    for (size_t i = 0; i < decoder->column_count; i++) {
        struct tpafile_column *column = &decoder->columns[i];
        if (column->form != TPAFILE_INDEX)
            continue;
        if (i == 0 || !(decoder->columns[i - 1].form & TPAFILE_DICTIONARY) ||
            decoder->columns[i - 1].count == 0)
            return false;
        column->dictionary = &decoder->columns[i - 1];
    }
    return true;
}

const char *tpafile_decode_block(struct tpafile_decoder *decoder, const struct tpafile_head *head,
                                 const unsigned char *payload)
{
    decoder->column_count = 0;
    decoder->rows = head->rows;
    if (head->codec == TPAFILE_ZSTD) {
        unsigned char *unpacked = tpafile_decode_reserve(&decoder->payload, head->size);
        if (!unpack(decoder, payload, head->packed, unpacked, head->size))
            return "it cannot be unpacked";
        payload = unpacked;
    } else if (head->codec != TPAFILE_STORED) {
        return "it is packed in a way that is not known";
    } else if (head->size != head->packed) {
        return "its sizes contradict each other";
    }
    for (size_t at = 0; at < head->size;) {
        size_t used = parse_column(decoder, payload + at, head->size - at);
        if (used == 0 || decoder->column_count > TPAFILE_MOST_COLUMNS) {
            decoder->column_count = 0;
            return "a column of it makes no sense";
        }
        at += used;
    }
    if (join_dictionaries(decoder))
        return NULL;
    decoder->column_count = 0;
    return "a dictionary is missing";
}

size_t tpafile_column_count(const struct tpafile_decoder *decoder)
{
    return decoder->column_count;
}

const struct tpafile_column *tpafile_column_at(const struct tpafile_decoder *decoder, size_t index)
{
    return &decoder->columns[index];
}

const struct tpafile_column *tpafile_find_column(const struct tpafile_decoder *decoder, unsigned field)
{
    return FIND_OF(column, decoder->columns, decoder->column_count,
                   column->field == field && !(column->form & TPAFILE_DICTIONARY));
}

/* ---- values ---- */

/* The bytes of plane P, column->count of them; NULL when it is damaged. */
static const unsigned char *open_plane(struct tpafile_decoder *decoder, const struct tpafile_column *column,
                                       unsigned p)
{
    uint32_t size = column->size[p];
    if (size == column->count)
        return column->plane[p];
    unsigned char *plane = tpafile_decode_reserve(&decoder->planes[p], column->count);
    if (size == 0)
        memset(plane, 0, column->count);
    else if (!unpack(decoder, column->plane[p], size, plane, column->count))
        return NULL;
    return plane;
}

/* r[i] + BASE, of PLANES planes. Always inlined with a constant, so that the inner loop is unrolled. */
static inline __attribute__((always_inline)) void sum_planes(const unsigned char *const *plane,
                                                             unsigned planes, size_t count, uint64_t base,
                                                             int64_t *values)
{
    for (size_t i = 0; i < count; i++) {
        uint64_t value = 0;
        for (unsigned p = 0; p < planes; p++)
            value |= (uint64_t)plane[p][i] << 8 * p;
        values[i] = (int64_t)(base + value);
    }
}

static bool read_planes(struct tpafile_decoder *decoder, const struct tpafile_column *column, uint64_t base,
                        int64_t *values)
{
    const unsigned char *plane[TPAFILE_MOST_PLANES];
    for (unsigned p = 0; p < column->planes; p++) {
        plane[p] = open_plane(decoder, column, p);
        if (!plane[p])
            return false;
    }
    switch (column->planes) {
    case 0: sum_planes(plane, 0, column->count, base, values); break;
    case 1: sum_planes(plane, 1, column->count, base, values); break;
    case 2: sum_planes(plane, 2, column->count, base, values); break;
    case 3: sum_planes(plane, 3, column->count, base, values); break;
    case 4: sum_planes(plane, 4, column->count, base, values); break;
    case 5: sum_planes(plane, 5, column->count, base, values); break;
    case 6: sum_planes(plane, 6, column->count, base, values); break;
    case 7: sum_planes(plane, 7, column->count, base, values); break;
    default: sum_planes(plane, 8, column->count, base, values); break;
    }
    return true;
}

static void add_up(const struct tpafile_column *column, int64_t *values)
{
    uint64_t value = (uint64_t)column->first;
    if (column->count)
        values[0] = (int64_t)value;
    for (size_t i = 1; i < column->count; i++) {
        value += (uint64_t)values[i];
        values[i] = (int64_t)value;
    }
}

/* Places of one byte, as nearly all are: without making numbers of them first. */
static bool look_up_bytes(struct tpafile_decoder *decoder, const struct tpafile_column *column,
                          const int64_t *entries, int64_t *values)
{
    const unsigned char *place = open_plane(decoder, column, 0);
    if (!place)
        return false;
    unsigned char most = 0;
    for (size_t i = 0; i < column->count; i++)
        most = place[i] > most ? place[i] : most;
    if (most >= column->dictionary->count)
        return false;
    for (size_t i = 0; i < column->count; i++)
        values[i] = entries[place[i]];
    return true;
}

static bool look_up(struct tpafile_decoder *decoder, const struct tpafile_column *column, int64_t *values)
{
    const struct tpafile_column *dictionary = column->dictionary;
    assert(dictionary->form != TPAFILE_INDEX); /* or it would look up in the memory that is reserved here */
    int64_t *entries =
        (int64_t *)(void *)tpafile_decode_reserve(&decoder->dictionary, dictionary->count * sizeof *entries);
    if (!tpafile_decode_column(decoder, dictionary, entries))
        return false;
    if (column->planes == 1)
        return look_up_bytes(decoder, column, entries, values);
    if (!read_planes(decoder, column, 0, values))
        return false;
    uint64_t most = 0;
    for (size_t i = 0; i < column->count; i++)
        most = (uint64_t)values[i] > most ? (uint64_t)values[i] : most;
    if (most >= dictionary->count)
        return false;
    for (size_t i = 0; i < column->count; i++)
        values[i] = entries[values[i]];
    return true;
}

bool tpafile_decode_column(struct tpafile_decoder *decoder, const struct tpafile_column *column,
                           int64_t *values)
{
    if (column->count > decoder->rows)
        return false;
    if (column->form == TPAFILE_INDEX)
        return look_up(decoder, column, values);
    if (!read_planes(decoder, column, (uint64_t)column->base, values))
        return false;
    if ((column->form & ~(unsigned)TPAFILE_DICTIONARY) == TPAFILE_DELTA)
        add_up(column, values);
    return true;
}

bool tpafile_decode_bytes(struct tpafile_decoder *decoder, const struct tpafile_column *column, char *bytes)
{
    if (column->form != TPAFILE_PLAIN || column->planes != 1 || column->base != 0)
        return false;
    const unsigned char *plane = open_plane(decoder, column, 0);
    if (plane)
        memcpy(bytes, plane, column->count);
    return plane != NULL;
}
