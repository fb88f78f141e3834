/*
 * tpafile_encode.c - see tpafile_encode.h and docs/tpa-file.md.
 *
 * Numbers become planes of bytes: the low bytes of times are noise and are stored as they are, which costs
 * nothing to read; the bytes above them, and whatever repeats from step to step, pack well by themselves. A column is
 * tried in up to three forms (its values, their differences, places in a dictionary) and the smallest is kept. They are compared as
 * zstd packs them at its quickest: to pack each as well as it could be was a quarter of the time of tpa convert.
 */
#define XXH_INLINE_ALL
#include "trace/tpafile_encode.h"

#include "trace/tpafile_bytes.h"
#include "base/memory.h"
#include <xxhash.h>
#include <zstd.h>

enum {
    SMALL_COLUMN = 512,       /* columns of fewer values are not packed by themselves ... */
    SMALL_PAYLOAD = 64 << 10, /* ... but together, when the payload is smaller than this */
    MOST_DISTINCT = 4096,     /* entries of a dictionary */
    SLOTS = 4 * MOST_DISTINCT,
    TRIAL_LEVEL = 2, /* of zstd: to compare forms */
};

struct bytes {
    unsigned char *at;
    size_t count, capacity;
};

struct tpafile_encoder {
    ZSTD_CCtx *zstd;
    int level;
    bool comparing; /* forms of a column, which takes no more than the quickest level */
    bool failed;
    unsigned kind;
    uint32_t rows, number;
    struct bytes block;       /* head and payload */
    struct bytes best, trial; /* a column in two forms */
    struct bytes packed;      /* the payload, packed */
    struct bytes plane;
    int64_t *numbers; /* a column in another form */
    size_t numbers_capacity;
    uint32_t *narrow; /* half of each number, of which planes are taken */
    size_t narrow_capacity;
    /* The distinct values of a column: a table of open addressing, and the values in order. */
    int64_t *slots;
    uint16_t *slot_index; /* by slot: 1 + place in VALUES; 0: empty */
    int64_t *values;
    uint16_t *slot_of; /* by value of the column: its slot */
    size_t slots_capacity;
};

struct tpafile_encoder *tpafile_encoder_open(int level)
{
    struct tpafile_encoder *encoder = calloc(1, sizeof *encoder);
    if (!encoder)
        return NULL;
    encoder->level = level;
    encoder->zstd = ZSTD_createCCtx();
    encoder->slots = malloc(SLOTS * sizeof *encoder->slots);
    encoder->slot_index = calloc(SLOTS, sizeof *encoder->slot_index);
    encoder->values = malloc(MOST_DISTINCT * sizeof *encoder->values);
    if (encoder->zstd && encoder->slots && encoder->slot_index && encoder->values)
        return encoder;
    tpafile_encoder_free(encoder);
    return NULL;
}

void tpafile_encoder_free(struct tpafile_encoder *encoder)
{
    if (!encoder)
        return;
    ZSTD_freeCCtx(encoder->zstd);
    EACH(free, encoder->block.at, encoder->best.at, encoder->trial.at, encoder->packed.at, encoder->plane.at,
         encoder->numbers, encoder->narrow, encoder->slots, encoder->slot_index, encoder->values,
         encoder->slot_of, encoder);
}

/* Room for MORE bytes behind those of BYTES; NULL, and the encoder has failed, when there is no memory. */
static unsigned char *tpafile_encode_reserve(struct tpafile_encoder *encoder, struct bytes *bytes,
                                             size_t more)
{
    if (encoder->failed)
        return NULL;
    if (bytes->count + more > bytes->capacity) {
        size_t capacity = bytes->capacity ? bytes->capacity : 4096;
        while (capacity < bytes->count + more)
            capacity *= 2;
        unsigned char *moved = realloc(bytes->at, capacity);
        if (!moved) {
            encoder->failed = true;
            return NULL;
        }
        bytes->at = moved;
        bytes->capacity = capacity;
    }
    return bytes->at + bytes->count;
}

static void append(struct tpafile_encoder *encoder, struct bytes *bytes, const void *from, size_t count)
{
    unsigned char *to = tpafile_encode_reserve(encoder, bytes, count);
    if (to && count) {
        memcpy(to, from, count);
        bytes->count += count;
    }
}

/* BLOCK, of *CAPACITY values of SIZE bytes, with room for COUNT. NULL, with the encoder failed, if there is no memory: then
 * BLOCK stays as it is. */
static void *reserve_values(struct tpafile_encoder *encoder, void *block, size_t *capacity, size_t count,
                            size_t size)
{
    if (count <= *capacity)
        return block;
    void *moved = realloc(block, count * size);
    if (moved)
        *capacity = count;
    else
        encoder->failed = true;
    return moved;
}

static int64_t *reserve_numbers(struct tpafile_encoder *encoder, size_t count)
{
    int64_t *numbers =
        reserve_values(encoder, encoder->numbers, &encoder->numbers_capacity, count, sizeof *numbers);
    encoder->numbers = numbers ? numbers : encoder->numbers;
    return numbers;
}

/* ---- planes ---- */

static bool all_zero(const unsigned char *bytes, size_t count)
{
    unsigned char any = 0;
    for (size_t i = 0; i < count; i++)
        any |= bytes[i];
    return any == 0;
}

/* How small a plane must become to be packed. Unpacking is half of what reading costs: 0.3 ns a byte where a tenth is
 * left, and 1.5 where a third is; stored, a byte costs nothing. Who requests a high level has little, and wants it
 * small. */
static size_t worth_packing(const struct tpafile_encoder *encoder, size_t count)
{
    if (encoder->comparing)
        return count / 8 * 3; /* what packs so well at the quickest level is below a quarter at others */
    return encoder->level >= TPAFILE_SMALL_RATHER_THAN_FAST ? count - count / 16 : count / 4;
}

/* Pack COUNT bytes FROM behind those of OUT, which does not count them yet. How many that are; 0, and the encoder has
 * failed: no memory. With that much room nothing else can go wrong. */
static size_t pack(struct tpafile_encoder *encoder, struct bytes *out, const void *from, size_t count)
{
    size_t room = ZSTD_compressBound(count);
    unsigned char *to = tpafile_encode_reserve(encoder, out, room);
    if (!to)
        return 0;
    size_t packed = ZSTD_compressCCtx(encoder->zstd, to, room, from, count,
                                      encoder->comparing ? TRIAL_LEVEL : encoder->level);
    if (ZSTD_isError(packed)) {
        encoder->failed = true;
        return 0;
    }
    return packed;
}

/* Append a plane to OUT in whichever way is shortest, and write its size at SIZE_AT of OUT. */
static void append_plane(struct tpafile_encoder *encoder, struct bytes *out, size_t size_at,
                         const unsigned char *plane, size_t count)
{
    size_t size = count;
    if (all_zero(plane, count)) {
        size = 0;
    } else if (count >= SMALL_COLUMN) {
        size_t packed = pack(encoder, out, plane, count);
        if (packed && packed < worth_packing(encoder, count)) {
            size = packed;
            out->count += packed;
        }
    }
    if (size == count)
        append(encoder, out, plane, count);
    if (!encoder->failed)
        store_u32(out->at + size_at, (uint32_t)size);
}

static void append_column_head(unsigned char *head, unsigned field, unsigned form, unsigned planes,
                               size_t count, int64_t base, int64_t first)
{
    store_u16(head, (uint16_t)field);
    head[2] = (unsigned char)form;
    head[3] = (unsigned char)planes;
    store_u32(head + 4, (uint32_t)count);
    store_u64(head + 8, (uint64_t)base);
    store_u64(head + 16, (uint64_t)first);
}

static unsigned count_planes(uint64_t span)
{
    unsigned planes = 0;
    for (; span; span >>= 8)
        planes++;
    return planes;
}

/* The smallest and the largest of COUNT values, at least one. */
static void find_range(const int64_t *values, size_t count, int64_t *least, int64_t *most)
{
    int64_t low = values[0], high = values[0];
    for (size_t i = 1; i < count; i++) {
        low = values[i] < low ? values[i] : low;
        high = values[i] > high ? values[i] : high;
    }
    *least = low;
    *most = high;
}

/* Bits SHIFT to SHIFT + 31 of how much more than LEAST each value is. */
static void narrow_values(uint32_t *restrict narrow, const int64_t *restrict values, size_t count,
                          int64_t least, unsigned shift)
{
    for (size_t i = 0; i < count; i++)
        narrow[i] = (uint32_t)(((uint64_t)values[i] - (uint64_t)least) >> shift);
}

static void read_plane(unsigned char *restrict plane, const uint32_t *restrict narrow, size_t count,
                       unsigned shift)
{
    for (size_t i = 0; i < count; i++)
        plane[i] = (unsigned char)(narrow[i] >> shift);
}

/* The smallest of some numbers, and how many bytes the others take beyond it. */
struct range {
    int64_t least;
    unsigned planes;
};

static struct range range_of(const int64_t *values, size_t count)
{
    int64_t least, most;
    find_range(values, count, &least, &most);
    return (struct range){ least, count_planes((uint64_t)most - (uint64_t)least) };
}

/* Append to OUT a column whose planes hold VALUES less the smallest of them; RANGE is theirs. */
static void append_numbers(struct tpafile_encoder *encoder, struct bytes *out, unsigned field, unsigned form,
                           const int64_t *values, size_t count, struct range range, int64_t first)
{
    int64_t least = range.least;
    unsigned planes = range.planes;
    size_t head = out->count;
    if (!tpafile_encode_reserve(encoder, out, TPAFILE_COLUMN_HEAD + 4 * planes))
        return;
    append_column_head(out->at + head, field, form, planes, count, least, first);
    out->count += TPAFILE_COLUMN_HEAD + 4 * planes;
    encoder->plane.count = 0;
    unsigned char *plane = tpafile_encode_reserve(encoder, &encoder->plane, count);
    uint32_t *narrow =
        reserve_values(encoder, encoder->narrow, &encoder->narrow_capacity, count, sizeof *narrow);
    encoder->narrow = narrow ? narrow : encoder->narrow;
    for (unsigned p = 0; p < planes && plane && narrow; p++) {
        if (p % 4 == 0)
            narrow_values(narrow, values, count, least, 8 * p);
        read_plane(plane, narrow, count, 8 * (p % 4));
        append_plane(encoder, out, head + TPAFILE_COLUMN_HEAD + (size_t)4 * p, plane, count);
    }
}

/* ---- forms ---- */

/* The range of the differences of neighbours. */
static struct range delta_range(const int64_t *values, size_t count)
{
    int64_t low = INT64_MAX, high = INT64_MIN;
    for (size_t i = 1; i < count; i++) {
        int64_t delta = (int64_t)((uint64_t)values[i] - (uint64_t)values[i - 1]);
        low = delta < low ? delta : low;
        high = delta > high ? delta : high;
    }
    return count > 1 ? (struct range){ low, count_planes((uint64_t)high - (uint64_t)low) }
                     : (struct range){ 0, 0 };
}

/* DICTIONARY: 0, or TPAFILE_DICTIONARY. RANGE: of the differences. */
static void append_delta(struct tpafile_encoder *encoder, struct bytes *out, unsigned field,
                         unsigned dictionary, const int64_t *values, size_t count, struct range range)
{
    int64_t *numbers = reserve_numbers(encoder, count);
    if (!numbers)
        return;
    for (size_t i = 1; i < count; i++)
        numbers[i] = (int64_t)((uint64_t)values[i] - (uint64_t)values[i - 1]);
    numbers[0] = count > 1 ? numbers[1] : 0; /* not used: what does not widen the others */
    append_numbers(encoder, out, field, TPAFILE_DELTA | dictionary, numbers, count, range, values[0]);
}

static size_t tpafile_encode_find_slot(const struct tpafile_encoder *encoder, int64_t value)
{
    size_t slot = (size_t)((uint64_t)value * UINT64_C(0x9E3779B97F4A7C15) >> 40) % SLOTS;
    while (encoder->slot_index[slot] && encoder->slots[slot] != value)
        slot = (slot + 1) % SLOTS;
    return slot;
}

/* Collect the distinct values of a column, and the slot of each. How many; 0 when there are more than AT_MOST. */
static size_t collect_distinct(struct tpafile_encoder *encoder, const int64_t *values, size_t count,
                               size_t at_most)
{
    size_t distinct = 0, slot = 0;
    uint16_t *slot_of =
        reserve_values(encoder, encoder->slot_of, &encoder->slots_capacity, count, sizeof *slot_of);
    encoder->slot_of = slot_of ? slot_of : encoder->slot_of;
    for (size_t i = 0; i < count && slot_of; i++) {
        if (i == 0 || values[i] != values[i - 1])
            slot = tpafile_encode_find_slot(encoder, values[i]);
        slot_of[i] = (uint16_t)slot;
        if (encoder->slot_index[slot])
            continue;
        if (distinct == at_most)
            return 0;
        encoder->slots[slot] = values[i];
        encoder->values[distinct++] = values[i];
        encoder->slot_index[slot] = (uint16_t)distinct;
    }
    return distinct;
}

static void forget_distinct(struct tpafile_encoder *encoder)
{
    memset(encoder->slot_index, 0, SLOTS * sizeof *encoder->slot_index);
}

/* Not by base/rows.h: the library in the user's process has no part of it, and no allocation here may end that process. */
static int tpafile_encode_compare_numbers(const void *left, const void *right)
{
    int64_t a = *(const int64_t *)left, b = *(const int64_t *)right;
    return a < b ? -1 : a > b;
}

/* The column as places in the dictionary of its DISTINCT values, which were just collected. */
static void append_index(struct tpafile_encoder *encoder, struct bytes *out, unsigned field, size_t count,
                         size_t distinct)
{
    qsort(encoder->values, distinct, sizeof *encoder->values, tpafile_encode_compare_numbers);
    append_delta(encoder, out, field, TPAFILE_DICTIONARY, encoder->values, distinct,
                 delta_range(encoder->values, distinct));
    for (size_t i = 0; i < distinct; i++)
        encoder->slot_index[tpafile_encode_find_slot(encoder, encoder->values[i])] = (uint16_t)(i + 1);
    int64_t *numbers = reserve_numbers(encoder, count);
    if (!numbers)
        return;
    for (size_t i = 0; i < count; i++)
        numbers[i] = encoder->slot_index[encoder->slot_of[i]] - 1;
    /* Places begin at 0: r[i] is the place itself, not a distance from a base. */
    append_numbers(encoder, out, field, TPAFILE_INDEX, numbers, count,
                   (struct range){ 0, count_planes(distinct - 1) }, 0);
}

enum form { AS_VALUES, AS_DELTAS, AS_PLACES, FORMS };

/* COUNT values, at least one. */
struct column {
    unsigned field;
    const int64_t *values;
    size_t count;
    struct range range, deltas;
    size_t distinct; /* 0: they are more than a dictionary takes */
};

/* Append COLUMN to OUT in FORM. */
static void append_form(struct tpafile_encoder *encoder, struct bytes *out, enum form form,
                        const struct column *column)
{
    if (form == AS_PLACES)
        append_index(encoder, out, column->field, column->count, column->distinct);
    else if (form == AS_DELTAS)
        append_delta(encoder, out, column->field, 0, column->values, column->count, column->deltas);
    else
        append_numbers(encoder, out, column->field, TPAFILE_PLAIN, column->values, column->count,
                       column->range, 0);
}

/* In which of the forms that fit is the column smallest? In that form it is encoder->best then. */
static enum form smallest_form(struct tpafile_encoder *encoder, const bool fits[FORMS],
                               const struct column *column)
{
    enum form best = AS_VALUES;
    encoder->best.count = 0;
    for (enum form form = AS_VALUES; form < FORMS; form++) {
        if (!fits[form])
            continue;
        encoder->trial.count = 0;
        append_form(encoder, &encoder->trial, form, column);
        if (encoder->failed || (form != AS_VALUES && encoder->trial.count >= encoder->best.count))
            continue;
        struct bytes swap = encoder->best;
        encoder->best = encoder->trial;
        encoder->trial = swap;
        best = form;
    }
    return best;
}

/* The column in the form that is smallest, or nearly: forms are compared at the level that is quickest. */
static void append_smallest(struct tpafile_encoder *encoder, const bool fits[FORMS],
                            const struct column *column)
{
    int level = encoder->level;
    bool one_by_one =
        level <= TRIAL_LEVEL || level >= TPAFILE_SMALL_RATHER_THAN_FAST || column->count < SMALL_COLUMN;
    enum form form = AS_VALUES;
    if (one_by_one || fits[AS_DELTAS] || fits[AS_PLACES]) {
        encoder->comparing = !one_by_one;
        form = smallest_form(encoder, fits, column);
        encoder->comparing = false;
    }
    if (one_by_one)
        return;
    encoder->best.count = 0;
    append_form(encoder, &encoder->best, form, column);
}

/* ---- blocks ---- */

void tpafile_encode_begin(struct tpafile_encoder *encoder, unsigned kind, uint32_t rows)
{
    encoder->kind = kind;
    encoder->rows = rows;
    encoder->failed = rows > TPAFILE_MOST_ROWS;
    encoder->block.count = 0;
    if (tpafile_encode_reserve(encoder, &encoder->block, TPAFILE_BLOCK_HEAD))
        encoder->block.count = TPAFILE_BLOCK_HEAD;
}

void tpafile_encode_number(struct tpafile_encoder *encoder, uint32_t number)
{
    encoder->number = number;
}

void tpafile_encode_column(struct tpafile_encoder *encoder, unsigned field, const int64_t *values,
                           size_t count)
{
    if (count > TPAFILE_LARGEST_COLUMN)
        encoder->failed = true;
    if (encoder->failed || count == 0)
        return;
    struct column column = { field, values, count, .range = range_of(values, count) };
    size_t at_most = count / 4 < MOST_DISTINCT ? count / 4 : MOST_DISTINCT;
    bool may_repeat = column.range.planes > 1 && count >= 64;
    if (column.range.planes > 0)
        column.deltas = delta_range(values, count);
    if (may_repeat)
        column.distinct = collect_distinct(encoder, values, count, at_most);
    const bool fits[FORMS] = {
        [AS_VALUES] = true,
        [AS_DELTAS] = column.range.planes > 0 && column.deltas.planes <= column.range.planes,
        [AS_PLACES] = column.distinct > 0,
    };
    append_smallest(encoder, fits, &column);
    if (may_repeat)
        forget_distinct(encoder);
    append(encoder, &encoder->block, encoder->best.at, encoder->best.count);
}

void tpafile_encode_bytes(struct tpafile_encoder *encoder, unsigned field, const void *bytes, size_t count)
{
    if (count > TPAFILE_LARGEST_COLUMN)
        encoder->failed = true;
    struct bytes *out = &encoder->block;
    size_t head = out->count;
    if (encoder->failed || count == 0 || !tpafile_encode_reserve(encoder, out, TPAFILE_COLUMN_HEAD + 4))
        return;
    append_column_head(out->at + head, field, TPAFILE_PLAIN, 1, count, 0, 0);
    out->count += TPAFILE_COLUMN_HEAD + 4;
    append_plane(encoder, out, head + TPAFILE_COLUMN_HEAD, bytes, count);
}

/* Pack the SIZE bytes at PAYLOAD as a whole into encoder->packed. How long that is; 0: no memory. */
static size_t pack_whole(struct tpafile_encoder *encoder, const unsigned char *payload, size_t size)
{
    encoder->packed.count = 0;
    return pack(encoder, &encoder->packed, payload, size);
}

/* Into encoder->trial the payload of the block with all its planes stored. */
static void store_planes(struct tpafile_encoder *encoder)
{
    struct bytes *out = &encoder->trial;
    const unsigned char *at = encoder->block.at + TPAFILE_BLOCK_HEAD,
                        *end = encoder->block.at + encoder->block.count;
    out->count = 0;
    while (at < end && !encoder->failed) {
        unsigned planes = at[3];
        size_t count = get_u32(at + 4), head = out->count;
        const unsigned char *sizes = at + TPAFILE_COLUMN_HEAD;
        append(encoder, out, at, TPAFILE_COLUMN_HEAD + 4 * (size_t)planes);
        at = sizes + 4 * (size_t)planes;
        for (unsigned p = 0; p < planes && !encoder->failed; p++) {
            size_t size = get_u32(sizes + 4 * (size_t)p);
            if (size == 0 || size == count) {
                append(encoder, out, at, size);
            } else if (tpafile_encode_reserve(encoder, out, count)) {
                encoder->failed |= ZSTD_isError(ZSTD_decompress(out->at + out->count, count, at, size));
                out->count += count;
                store_u32(out->at + head + TPAFILE_COLUMN_HEAD + (size_t)4 * p, (uint32_t)count);
            }
            at += size;
        }
    }
}

/* Pack a small payload as a whole, and take *UNPACKED for how long it is when unpacked. Who requests a high
 * level gets the smaller of two ways: planes packed one by one, or all together, where one may repeat what is
 * in another. */
static enum tpafile_codec pack_payload(struct tpafile_encoder *encoder, size_t *unpacked)
{
    struct bytes *block = &encoder->block;
    size_t size = block->count - TPAFILE_BLOCK_HEAD, best = size;
    *unpacked = size;
    if (size > SMALL_PAYLOAD)
        return TPAFILE_STORED;
    size_t whole = pack_whole(encoder, block->at + TPAFILE_BLOCK_HEAD, size);
    if (whole && whole < size - size / 8)
        best = whole;
    if (encoder->level >= TPAFILE_SMALL_RATHER_THAN_FAST) {
        store_planes(encoder);
        size_t together = encoder->failed ? 0 : pack_whole(encoder, encoder->trial.at, encoder->trial.count);
        if (together && together < best) {
            best = together;
            *unpacked = encoder->trial.count;
        } else if (best < size) {
            pack_whole(encoder, block->at + TPAFILE_BLOCK_HEAD, size);
        }
    }
    if (best == size || encoder->failed)
        return TPAFILE_STORED;
    memcpy(block->at + TPAFILE_BLOCK_HEAD, encoder->packed.at, best);
    block->count = TPAFILE_BLOCK_HEAD + best;
    return TPAFILE_ZSTD;
}

const void *tpafile_encode_end(struct tpafile_encoder *encoder, size_t *size)
{
    struct bytes *block = &encoder->block;
    if (encoder->failed || block->count - TPAFILE_BLOCK_HEAD > TPAFILE_LARGEST_BLOCK)
        return NULL;
    size_t unpacked;
    enum tpafile_codec codec = pack_payload(encoder, &unpacked);
    if (encoder->failed)
        return NULL;
    size_t count = block->count - TPAFILE_BLOCK_HEAD;
    unsigned char *head = block->at;
    memcpy(head, TPAFILE_BLOCK_MAGIC, 4);
    store_u16(head + 4, (uint16_t)encoder->kind);
    head[6] = (unsigned char)codec;
    head[7] = 0;
    store_u32(head + 8, encoder->rows);
    store_u32(head + 12, (uint32_t)count);
    store_u32(head + 16, (uint32_t)unpacked);
    store_u32(head + 20, encoder->number++);
    store_u64(head + 24, XXH3_64bits(head + TPAFILE_BLOCK_HEAD, count));
    store_u64(head + 32, XXH3_64bits(head, 32));
    *size = block->count;
    return head;
}

void tpafile_encode_header(unsigned char header[TPAFILE_HEADER_SIZE], int64_t wall_ns, int64_t monotonic_ns,
                           int64_t pid)
{
    memset(header, 0, TPAFILE_HEADER_SIZE);
    memcpy(header, TPAFILE_MAGIC, 8); /* NOLINT(bugprone-not-null-terminated-result): eight bytes, no text */
    store_u16(header + 8, TPAFILE_MAJOR);
    store_u16(header + 10, TPAFILE_MINOR);
    store_u32(header + 12, TPAFILE_HEADER_SIZE);
    store_u64(header + 16, (uint64_t)wall_ns);
    store_u64(header + 24, (uint64_t)monotonic_ns);
    store_u64(header + 32, (uint64_t)pid);
    store_u64(header + 56, XXH3_64bits(header, 56));
}
