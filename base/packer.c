/* A ring of slots, each for one part. Workers take the next part for which there is a free slot, make its text and pack
 * it; the calling thread writes the slots in order and releases them. The parts of a gzip file are packed one by one
 * and end at a byte, so that they follow one another in one member (RFC 1951: an empty stored block); its checksum is
 * computed over the texts in order, which costs almost nothing. */
#include "base/packer.h"

#include <errno.h>
#include <pthread.h>
#include <unistd.h>
#include <zstd.h>

#if TPA_HAVE_ISAL
#include <isa-l/crc.h>
#include <isa-l/igzip_lib.h>
#else
#include <zlib.h>
#endif

enum { MOST_WORKERS = 64, ZSTD_LEVEL = 3 };

/* ---- deflate: ISA-L where it is packaged, else zlib ---- */

#if TPA_HAVE_ISAL

struct deflater {
    struct isal_zstream stream;
    uint8_t *level_buffer;
};

static void deflater_open(struct deflater *deflater)
{
    deflater->level_buffer = mem_alloc(ISAL_DEF_LVL1_DEFAULT);
}

static void deflater_release(struct deflater *deflater)
{
    free(deflater->level_buffer);
}

static void deflate_part(struct deflater *deflater, const struct buffer *text, struct buffer *out)
{
    struct isal_zstream *stream = &deflater->stream;
    isal_deflate_init(stream);
    stream->level = 1;
    stream->level_buf = deflater->level_buffer;
    stream->level_buf_size = ISAL_DEF_LVL1_DEFAULT;
    stream->gzip_flag = IGZIP_DEFLATE;
    stream->flush = SYNC_FLUSH;
    stream->end_of_stream = 0;
    stream->next_in = (uint8_t *)text->at;
    stream->avail_in = (uint32_t)text->count;
    do {
        VEC_RESERVE(out, text->count / 4 + 4096);
        stream->next_out = (uint8_t *)out->at + out->count;
        size_t room = out->capacity - out->count;
        stream->avail_out = (uint32_t)room;
        isal_deflate(stream); /* can only fail for wrong settings */
        out->count += room - stream->avail_out;
    } while (stream->avail_out == 0);
}

static uint32_t checksum(uint32_t so_far, const struct buffer *text)
{
    return crc32_gzip_refl(so_far, (const unsigned char *)text->at, text->count);
}

static uint32_t adler(const struct buffer *text)
{
    return isal_adler32(1, (const unsigned char *)text->at, text->count);
}

#else

struct deflater {
    z_stream stream;
};

static void deflater_open(struct deflater *deflater)
{
    deflater->stream = (z_stream){ 0 };
    /* Level 1; a negative window size leaves zlib's own header out. */
    if (deflateInit2(&deflater->stream, 1, Z_DEFLATED, -15, 9, Z_DEFAULT_STRATEGY) != Z_OK)
        mem_out_of_memory(1 << 18); /* the only possible failure */
}

static void deflater_release(struct deflater *deflater)
{
    deflateEnd(&deflater->stream);
}

static void deflate_part(struct deflater *deflater, const struct buffer *text, struct buffer *out)
{
    z_stream *stream = &deflater->stream;
    deflateReset(stream);
    stream->next_in = (unsigned char *)text->at;
    stream->avail_in = (unsigned)text->count;
    do {
        VEC_RESERVE(out, text->count / 4 + 4096);
        stream->next_out = (unsigned char *)out->at + out->count;
        size_t room = out->capacity - out->count;
        stream->avail_out = (unsigned)room;
        deflate(stream, Z_SYNC_FLUSH);
        out->count += room - stream->avail_out;
    } while (stream->avail_out == 0);
}

static uint32_t checksum(uint32_t so_far, const struct buffer *text)
{
    return (uint32_t)crc32(so_far, (const unsigned char *)text->at, (unsigned)text->count);
}

static uint32_t adler(const struct buffer *text)
{
    return (uint32_t)adler32(1, (const unsigned char *)text->at, (unsigned)text->count);
}

#endif

/* ---- the ring ---- */

struct slot {
    struct buffer text, packed;
    bool done;
};

struct pipeline {
    const struct packer *packer;
    size_t count; /* parts */
    struct slot *slots;
    size_t slot_count;
    pthread_mutex_t lock;
    pthread_cond_t slot_free, slot_done;
    size_t next;    /* the next part that no worker has taken */
    size_t written; /* parts that were written, whose slots are free */
    bool stop;
};

struct worker {
    struct deflater deflater;
    ZSTD_CCtx *zstd;
};

static void worker_open(struct worker *worker, enum source_packing packing)
{
    *worker = (struct worker){ 0 };
    if (packing == SOURCE_GZIP)
        deflater_open(&worker->deflater);
    if (packing == SOURCE_ZSTD && !(worker->zstd = ZSTD_createCCtx()))
        mem_out_of_memory(1 << 20);
}

static void worker_release(struct worker *worker, enum source_packing packing)
{
    if (packing == SOURCE_GZIP)
        deflater_release(&worker->deflater);
    ZSTD_freeCCtx(worker->zstd);
}

static void make_part(struct worker *worker, const struct packer *packer, size_t part, struct slot *slot)
{
    buffer_clear(&slot->text);
    slot->packed.count = 0;
    packer->make(packer->context, part, &slot->text);
    if (slot->text.count == 0)
        return;
    if (packer->packing == SOURCE_GZIP) {
        deflate_part(&worker->deflater, &slot->text, &slot->packed);
    } else if (packer->packing == SOURCE_ZSTD) {
        VEC_RESERVE(&slot->packed, ZSTD_compressBound(slot->text.count));
        size_t size = ZSTD_compressCCtx(worker->zstd, slot->packed.at, slot->packed.capacity, slot->text.at,
                                        slot->text.count, ZSTD_LEVEL);
        if (ZSTD_isError(size)) /* the output buffer is large enough, so memory ran out */
            mem_out_of_memory(slot->text.count);
        slot->packed.count = size;
    }
}

static void *packer_work(void *data)
{
    struct pipeline *pipeline = data;
    const struct packer *packer = pipeline->packer;
    struct worker worker;
    worker_open(&worker, packer->packing);
    pthread_mutex_lock(&pipeline->lock);
    for (;;) {
        while (!pipeline->stop && pipeline->next < pipeline->count &&
               pipeline->next >= pipeline->written + pipeline->slot_count)
            pthread_cond_wait(&pipeline->slot_free, &pipeline->lock);
        if (pipeline->stop || pipeline->next == pipeline->count)
            break;
        size_t part = pipeline->next++;
        struct slot *slot = &pipeline->slots[part % pipeline->slot_count];
        pthread_mutex_unlock(&pipeline->lock);
        make_part(&worker, packer, part, slot);
        pthread_mutex_lock(&pipeline->lock);
        slot->done = true;
        pthread_cond_broadcast(&pipeline->slot_done);
    }
    pthread_mutex_unlock(&pipeline->lock);
    worker_release(&worker, packer->packing);
    return NULL;
}

/* ---- writing ---- */

static bool packer_emit(FILE *out, const void *bytes, size_t count)
{
    errno = 0;
    return count == 0 || fwrite(bytes, 1, count, out) == count;
}

static bool begin_output(const struct packer_output *output)
{
    /* RFC 1952: magic, deflate, no flags, no time, fastest method, written under Unix. */
    static const unsigned char header[10] = { 0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 4, 3 };
    return output->packing != SOURCE_GZIP || packer_emit(output->out, header, sizeof header);
}

static bool append_slot(struct packer_output *output, const struct slot *slot)
{
    if (slot->text.count == 0)
        return true; /* zlib's crc32 of an empty buffer at NULL would restart the checksum */
    if (output->packing == SOURCE_GZIP) {
        output->crc = checksum(output->crc, &slot->text);
        output->size += slot->text.count;
    }
    const struct buffer *bytes = output->packing == SOURCE_PLAIN ? &slot->text : &slot->packed;
    return packer_emit(output->out, bytes->at, bytes->count);
}

static bool end_output(const struct packer_output *output)
{
    if (output->packing != SOURCE_GZIP)
        return true;
    /* The last block, which is empty, then the checksum and the size, little-endian. */
    unsigned char trailer[10] = { 3, 0 };
    for (int i = 0; i < 4; i++) {
        trailer[2 + i] = (unsigned char)(output->crc >> (8 * i));
        trailer[6 + i] = (unsigned char)(output->size >> (8 * i));
    }
    return packer_emit(output->out, trailer, sizeof trailer);
}

/* Write the parts in order as they are done. */
static bool write_parts(struct pipeline *pipeline, struct packer_output *output)
{
    for (size_t part = 0; part < pipeline->count; part++) {
        struct slot *slot = &pipeline->slots[part % pipeline->slot_count];
        pthread_mutex_lock(&pipeline->lock);
        while (!slot->done)
            pthread_cond_wait(&pipeline->slot_done, &pipeline->lock);
        pthread_mutex_unlock(&pipeline->lock);
        bool fine = append_slot(output, slot);
        pthread_mutex_lock(&pipeline->lock);
        slot->done = false;
        pipeline->written = part + 1;
        pipeline->stop = !fine;
        pthread_cond_broadcast(&pipeline->slot_free);
        pthread_mutex_unlock(&pipeline->lock);
        if (!fine)
            return false;
    }
    return true;
}

/* Without threads: one part after the other. */
static bool write_alone(const struct packer *packer, size_t count, struct slot *slot,
                        struct packer_output *output)
{
    struct worker worker;
    worker_open(&worker, packer->packing);
    bool fine = true;
    for (size_t part = 0; part < count && fine; part++) {
        make_part(&worker, packer, part, slot);
        fine = append_slot(output, slot);
    }
    worker_release(&worker, packer->packing);
    return fine;
}

static unsigned count_workers(const struct packer *packer, size_t parts)
{
    long workers = packer->workers ? (long)packer->workers : sysconf(_SC_NPROCESSORS_ONLN);
    workers = workers < 1 ? 1 : workers > MOST_WORKERS ? MOST_WORKERS : workers;
    return parts < (size_t)workers ? (unsigned)parts : (unsigned)workers;
}

static bool packer_describe(bool fine, struct tpa_error *err)
{
    return fine || tpa_fail_errno(err, "cannot write the output");
}

bool packer_begin(struct packer_output *output, enum source_packing packing, FILE *out, struct tpa_error *err)
{
    *output = (struct packer_output){ .out = out, .packing = packing };
    return packer_describe(begin_output(output), err);
}

bool packer_add(struct packer_output *output, const struct packer *packer, size_t count,
                struct tpa_error *err)
{
    unsigned workers = count_workers(packer, count), started = 0;
    struct pipeline pipeline = {
        .packer = packer,
        .count = count,
        .slot_count = workers > 1 ? workers + 2 : 1,
        .lock = PTHREAD_MUTEX_INITIALIZER,
        .slot_free = PTHREAD_COND_INITIALIZER,
        .slot_done = PTHREAD_COND_INITIALIZER,
    };
    pipeline.slots = mem_zalloc(pipeline.slot_count, sizeof *pipeline.slots);
    pthread_t threads[MOST_WORKERS];
    while (workers > 1 && started < workers &&
           pthread_create(&threads[started], NULL, packer_work, &pipeline) == 0)
        started++;
    bool fine =
        started > 0 ? write_parts(&pipeline, output) : write_alone(packer, count, &pipeline.slots[0], output);
    int code = errno;
    for (unsigned i = 0; i < started; i++)
        pthread_join(threads[i], NULL);
    for (size_t i = 0; i < pipeline.slot_count; i++)
        EACH(buffer_release, &pipeline.slots[i].text, &pipeline.slots[i].packed);
    free(pipeline.slots);
    errno = code;
    return packer_describe(fine, err);
}

bool packer_end(struct packer_output *output, struct tpa_error *err)
{
    return packer_describe(end_output(output), err);
}

bool packer_write(const struct packer *packer, size_t count, FILE *out, struct tpa_error *err)
{
    struct packer_output output;
    return packer_begin(&output, packer->packing, out, err) && packer_add(&output, packer, count, err) &&
           packer_end(&output, err);
}

void packer_deflate(const struct buffer *text, struct buffer *out)
{
    struct deflater deflater;
    uint32_t sum = adler(text);
    deflater_open(&deflater);
    buffer_add(out, "\x78\x01", 2); /* deflate with a window of 32 KB, quickly */
    deflate_part(&deflater, text, out);
    buffer_add(out, "\x03\x00", 2); /* an empty last block */
    for (int shift = 24; shift >= 0; shift -= 8)
        buffer_putc(out, (char)(sum >> shift));
    deflater_release(&deflater);
}
