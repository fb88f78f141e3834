/*
 * source_gzip.c - unpacking gzip: one member after the other, as in `gzip -d` and bgzip.
 *
 * ISA-L does the work where it is packaged, else zlib. Either is wrapped in a `struct inflater` that consumes and
 * produces as much as it can; iteration over members is ours.
 *
 * Between and after members zeros are padding (tapes and block devices leave them); anything else
 * that does not start a member ends the input and is reported.
 */
#include "base/memory.h"
#include "base/source_unpack.h"
#include <inttypes.h>

#if TPA_HAVE_ISAL
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

enum inflated {
    INFLATED_SOME,
    INFLATED_MEMBER,
    INFLATED_BAD_HEADER,
    INFLATED_BAD_DATA,
    INFLATED_BAD_CHECKSUM
};

/* The libraries count in 32 bits. */
#define INFLATE_MOST ((size_t)1 << 30)

static size_t at_most(size_t size, size_t most)
{
    return size < most ? size : most;
}

#if TPA_HAVE_ISAL

struct inflater {
    struct inflate_state isal;
};

static void inflater_open(struct inflater *inflater)
{
    isal_inflate_init(&inflater->isal);
    inflater->isal.crc_flag = ISAL_GZIP;
}

static void inflater_free(struct inflater *inflater)
{
    (void)inflater;
}

static void inflater_next_member(struct inflater *inflater)
{
    isal_inflate_reset(&inflater->isal);
    inflater->isal.crc_flag = ISAL_GZIP;
}

/* How many of the OFFERED bytes at AT were consumed. After damage, ISA-L's (2.30) count of remaining bytes may have
 * wrapped below 0; its position is right. */
static size_t taken_of(const struct inflate_state *isal, const unsigned char *at, size_t offered)
{
    if (isal->avail_in <= offered)
        return offered - isal->avail_in;
    return isal->next_in < at ? 0 : at_most((size_t)(isal->next_in - at), offered);
}

/*
 * Unpack from IN to OUT until IN is empty or OUT is full. *SIZE is the room at OUT on entry and the bytes written on
 * return.
 *
 * ISA-L unpacks the first bytes of each call into its own window, and on damage it leaves the bytes there that did not
 * fit: `tmp_out_buffer[tmp_out_processed .. tmp_out_valid]`. So that every good byte is returned, the window is emptied
 * before damage is reported.
 */
static enum inflated inflater_step(struct inflater *inflater, struct packed *in, unsigned char *out,
                                   size_t *size, enum inflated *pending)
{
    struct inflate_state *isal = &inflater->isal;
    size_t room = at_most(*size, INFLATE_MOST), offered = at_most(in->left, INFLATE_MOST);
    if (*pending == INFLATED_SOME) {
        isal->next_in = (uint8_t *)(uintptr_t)in->at; /* not written */
        isal->avail_in = (uint32_t)offered;
        isal->next_out = out;
        isal->avail_out = (uint32_t)room;
        int status = isal_inflate(isal);
        packed_skip(in, taken_of(isal, in->at, offered));
        *size = room - at_most(isal->avail_out, room);
        if (status >= 0)
            return isal->block_state == ISAL_BLOCK_FINISH ? INFLATED_MEMBER : INFLATED_SOME;
        *pending = status == ISAL_INCORRECT_CHECKSUM ? INFLATED_BAD_CHECKSUM
                   : status == ISAL_INVALID_WRAPPER || status == ISAL_UNSUPPORTED_METHOD ? INFLATED_BAD_HEADER
                                                                                         : INFLATED_BAD_DATA;
    } else {
        *size = 0;
    }
    size_t kept = (size_t)(isal->tmp_out_valid - isal->tmp_out_processed), more = at_most(kept, room - *size);
    memcpy(out + *size, isal->tmp_out_buffer + isal->tmp_out_processed, more);
    isal->tmp_out_processed += (int32_t)more;
    *size += more;
    return more < kept ? INFLATED_SOME : *pending;
}

#else

struct inflater {
    z_stream zlib;
};

static void inflater_open(struct inflater *inflater)
{
    /* 15: the largest window; 16: with a gzip header. Fails only without memory. */
    if (inflateInit2(&inflater->zlib, 15 + 16) != Z_OK)
        mem_out_of_memory(sizeof inflater->zlib);
}

static void inflater_free(struct inflater *inflater)
{
    inflateEnd(&inflater->zlib);
}

static void inflater_next_member(struct inflater *inflater)
{
    inflateReset(&inflater->zlib);
}

/* Only zlib's message identifies the error. */
static enum inflated why_bad(const char *message)
{
    static const char *const checksum[] = { "incorrect data check", "incorrect length check" };
    static const char *const header[] = { "incorrect header check", "unknown compression method",
                                          "unknown header flags set", "header crc mismatch" };
    if (ANY(i, sizeof checksum / sizeof *checksum, strcmp(message, checksum[i]) == 0))
        return INFLATED_BAD_CHECKSUM;
    if (ANY(i, sizeof header / sizeof *header, strcmp(message, header[i]) == 0))
        return INFLATED_BAD_HEADER;
    return INFLATED_BAD_DATA;
}

/* Unpack from IN to OUT until IN is empty or OUT is full. *SIZE is the room at OUT on entry and the bytes written on
 * return. */
static enum inflated inflater_step(struct inflater *inflater, struct packed *in, unsigned char *out,
                                   size_t *size, enum inflated *pending)
{
    z_stream *zlib = &inflater->zlib;
    size_t room = at_most(*size, INFLATE_MOST), offered = at_most(in->left, INFLATE_MOST);
    zlib->next_in = (Bytef *)(uintptr_t)in->at; /* not written */
    zlib->avail_in = (uInt)offered;
    zlib->next_out = out;
    zlib->avail_out = (uInt)room;
    int status = inflate(zlib, Z_NO_FLUSH);
    packed_skip(in, offered - zlib->avail_in);
    *size = room - zlib->avail_out;
    (void)pending;
    if (status == Z_STREAM_END)
        return INFLATED_MEMBER;
    if (status == Z_OK || status == Z_BUF_ERROR)
        return INFLATED_SOME;
    if (status == Z_MEM_ERROR)
        mem_out_of_memory(1 << 15);
    return why_bad(zlib->msg ? zlib->msg : "");
}

#endif

struct gzip {
    struct inflater inflater;
    int64_t member; /* position in the file where the member began */
    bool in_member; /* else: before the first one, or between two */
    bool ended;     /* at the end or at damage */
    /* damage found but not recorded yet, because bytes before it are still to be returned */
    enum inflated pending;
};

static bool gzip_recognise(const unsigned char *bytes, size_t len)
{
    return len >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b;
}

static void *gzip_open(void)
{
    struct gzip *gzip = mem_zalloc(1, sizeof *gzip);
    inflater_open(&gzip->inflater);
    return gzip;
}

static void gzip_free(void *state)
{
    struct gzip *gzip = state;
    inflater_free(&gzip->inflater);
    free(gzip);
}

/* Go to the next member, skipping padding. Sets gzip->ended if there is none. False and ERR when reading fails. */
static bool begin_member(struct gzip *gzip, struct packed *in, struct tpa_error *err)
{
    do {
        while (in->left && in->at[0] == 0 && packed_offset(in) > 0)
            packed_skip(in, 1), in->idle++;
        if (in->left < 2 && !packed_need(in, 2, err))
            return false;
    } while (in->left && in->at[0] == 0 && packed_offset(in) > 0);
    gzip->member = packed_offset(in);
    gzip->in_member = gzip_recognise(in->at, in->left);
    gzip->ended = !gzip->in_member;
    if (gzip->ended && in->left)
        packed_garbage(in, "gzip");
    if (gzip->in_member && gzip->member > 0)
        inflater_next_member(&gzip->inflater);
    return true;
}

static bool source_gzip_describe_damage(struct packed *in, const struct gzip *gzip, enum inflated what)
{
    int64_t offset = packed_offset(in);
    if (what == INFLATED_BAD_CHECKSUM)
        return packed_damaged(in,
                              "the gzip data that began at byte %" PRId64
                              " of the file does not match its checksum: some of it is wrong",
                              gzip->member);
    if (what == INFLATED_BAD_HEADER)
        return packed_damaged(in, "the gzip header at byte %" PRId64 " of the file is damaged", gzip->member);
    return packed_damaged(in, "the gzip data is damaged near byte %" PRId64 " of the file", offset);
}

static int64_t gzip_read(void *state, struct packed *in, unsigned char *out, size_t size,
                         struct tpa_error *err)
{
    struct gzip *gzip = state;
    size_t count = 0;
    while (count < size && !gzip->ended) {
        if (!gzip->in_member) {
            if (!begin_member(gzip, in, err))
                return -1;
            continue;
        }
        if (!packed_need(in, 1, err))
            return -1;
        size_t got = size - count, before = in->left;
        enum inflated what = inflater_step(&gzip->inflater, in, out + count, &got, &gzip->pending);
        count += got;
        if (what == INFLATED_MEMBER) {
            gzip->in_member = false;
        } else if (what != INFLATED_SOME) {
            source_gzip_describe_damage(in, gzip, what);
            gzip->ended = true;
        } else if (got == 0 && in->left == before && in->at_end) {
            packed_damaged(in, "the gzip data breaks off at byte %" PRId64 ", the end of the file",
                           packed_offset(in));
            gzip->ended = true;
        }
    }
    return (int64_t)count;
}

const struct unpacker gzip_unpacker = { SOURCE_GZIP, gzip_recognise, gzip_open, gzip_free, gzip_read };
