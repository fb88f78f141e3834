/* source_zstd.c - unpacking zstd: frame after frame, skippable ones skipped. */
#include "base/memory.h"
#include "base/source_unpack.h"
#include <inttypes.h>
#include <zstd.h>
#include <zstd_errors.h>

struct zstd {
    ZSTD_DStream *stream;
    bool in_frame;  /* else: before the first frame, or between two */
    bool skips;     /* the frame holds nothing */
    bool ended;     /* at the end or at damage */
    int64_t silent; /* bytes consumed since the last output */
};

static bool zstd_recognise(const unsigned char *bytes, size_t len)
{
    if (len < 4)
        return false;
    uint32_t magic = (uint32_t)bytes[3] << 24 | (uint32_t)bytes[2] << 16 | (uint32_t)bytes[1] << 8 | bytes[0];
    return magic == ZSTD_MAGICNUMBER || (magic & ZSTD_MAGIC_SKIPPABLE_MASK) == ZSTD_MAGIC_SKIPPABLE_START;
}

static void *zstd_open(void)
{
    struct zstd *zstd = mem_zalloc(1, sizeof *zstd);
    zstd->stream = ZSTD_createDStream();
    if (!zstd->stream)
        mem_out_of_memory(sizeof *zstd);
    return zstd;
}

static void zstd_free(void *state)
{
    struct zstd *zstd = state;
    ZSTD_freeDStream(zstd->stream);
    free(zstd);
}

/* Record why unpacking stopped with CODE. False and ERR if the cause is not damage but an unsupported feature. */
static bool source_zstd_describe_damage(struct packed *in, size_t code, struct tpa_error *err)
{
    int64_t offset = packed_offset(in);
    switch (ZSTD_getErrorCode(code)) {
    case ZSTD_error_frameParameter_windowTooLarge:
        tpa_fail(err, TPA_NOWHERE, "was packed by zstd with a window of more than 128 MiB");
        return tpa_hint(err, "unpack it first: zstd -d --long=31");
    case ZSTD_error_dictionary_wrong:
        tpa_fail(err, TPA_NOWHERE, "was packed by zstd with a dictionary");
        return tpa_hint(err, "unpack it first: zstd -d -D DICTIONARY");
    case ZSTD_error_checksum_wrong:
        packed_damaged(in,
                       "the checksum near byte %" PRId64
                       " of the file does not match the zstd data before it: some of it is wrong",
                       offset);
        return true;
    case ZSTD_error_memory_allocation: mem_out_of_memory(0); return false;
    default:
        packed_damaged(in, "the zstd data is damaged near byte %" PRId64 " of the file (%s)", offset,
                       ZSTD_getErrorName(code));
        return true;
    }
}

/* Account for TAKEN bytes, which may have produced output (CAME). Input without output is idle: skipped frames, and
 * empty frames and blocks, beyond the size of a block whose output is still pending. */
static void count_idle(struct zstd *zstd, struct packed *in, int64_t taken, bool came)
{
    if (zstd->skips) {
        in->idle += taken;
        return;
    }
    zstd->silent += taken;
    if (came || zstd->silent > ZSTD_BLOCKSIZE_MAX) {
        in->idle += zstd->silent > ZSTD_BLOCKSIZE_MAX ? zstd->silent - ZSTD_BLOCKSIZE_MAX : 0;
        zstd->silent = came ? 0 : ZSTD_BLOCKSIZE_MAX;
    }
}

static int64_t zstd_read(void *state, struct packed *in, unsigned char *out, size_t size,
                         struct tpa_error *err)
{
    struct zstd *zstd = state;
    ZSTD_outBuffer to = { out, size, 0 };
    while (to.pos < size && !zstd->ended) {
        if (!packed_need(in, zstd->in_frame ? 1 : 4, err))
            return -1;
        if (!zstd->in_frame) {
            zstd->in_frame = zstd_recognise(in->at, in->left);
            zstd->skips = zstd->in_frame && in->at[0] != (ZSTD_MAGICNUMBER & 0xff);
            zstd->ended = !zstd->in_frame;
            if (zstd->ended && in->left)
                packed_garbage(in, "zstd");
            continue;
        }
        ZSTD_inBuffer from = { in->at, in->left, 0 };
        size_t before = to.pos, left = ZSTD_decompressStream(zstd->stream, &to, &from);
        packed_skip(in, from.pos);
        count_idle(zstd, in, (int64_t)from.pos, to.pos > before);
        if (ZSTD_isError(left)) {
            if (!source_zstd_describe_damage(in, left, err))
                return -1;
            zstd->ended = true;
        } else if (left == 0) {
            zstd->in_frame = false;
        } else if (to.pos == before && from.pos == 0 && in->left == 0 && in->at_end) {
            packed_damaged(in, "the zstd data breaks off at byte %" PRId64 ", the end of the file",
                           packed_offset(in));
            zstd->ended = true;
        }
    }
    return (int64_t)to.pos;
}

const struct unpacker zstd_unpacker = { SOURCE_ZSTD, zstd_recognise, zstd_open, zstd_free, zstd_read };
