/*
 * source.c - opening an input, and handing out its bytes unpacked.
 *
 * The first bytes say how the input is packed. From then on a plain file is read straight into the
 * caller's buffer, and a packed one is read block by block into a buffer of ours and unpacked
 * straight into the caller's.
 */
#define _GNU_SOURCE
#include "base/source.h"

#include "base/memory.h"
#include "base/source_unpack.h"
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum {
    PEEK_SIZE = 4096,
    UNPACK_STEP = 8 << 20, /* the ratio is checked after every so many bytes */
};

/* Up to here any ratio is fine: short inputs may be one long run of blanks. */
#define RATIO_FREE_BYTES (INT64_C(64) << 20)

static const struct unpacker *const unpackers[] = { &gzip_unpacker, &zstd_unpacker };

struct source {
    char *name;
    bool is_regular;
    struct source_id id; /* when it is regular */
    uint64_t max_ratio;
    const struct unpacker *unpacker; /* NULL: plain */
    void *unpacker_state;
    int64_t unpacked; /* bytes that came out of the unpacker */
    bool unpacked_all;
    struct packed in;
    const void *memory;               /* all of it, when it was opened there */
    atomic_int_least64_t packed_read; /* where IN is, for threads that tell of progress while another reads */

    /* What source_peek looked at and source_read has yet to hand out. */
    char *peeked;
    size_t peeked_at, peeked_count;
};

/* ---- unpacking ------------------------------------------------------------------------------- */

/* A plain file was read to its end: was it as long as when it was opened? */
static void check_length(struct source *source, int64_t taken)
{
    int64_t size = source->in.size;
    if (source->is_regular && taken < size)
        packed_damaged(&source->in,
                       "the file shrank while it was read: %" PRId64 " bytes when it was opened, %" PRId64
                       " at the end",
                       size, taken);
    /* Files that the kernel makes up, as in /proc, have no size. */
    else if (source->is_regular && size > 0 && taken > size)
        packed_damaged(&source->in,
                       "the file grew while it was read: %" PRId64 " bytes when it was opened, %" PRId64
                       " at the end; is it still being written?",
                       size, taken);
}

static int64_t read_plain(struct source *source, unsigned char *buffer, size_t size, struct tpa_error *err)
{
    int64_t got = packed_read(&source->in, buffer, size, err);
    if (source->in.at_end)
        check_length(source, source->in.taken);
    return got;
}

static bool ratio_is_sane(const struct source *source, struct tpa_error *err)
{
    int64_t packed = packed_offset(&source->in) - source->in.idle;
    if (source->max_ratio == 0 || source->unpacked <= RATIO_FREE_BYTES || packed <= 0 ||
        (uint64_t)source->unpacked / source->max_ratio <= (uint64_t)packed)
        return true;
    tpa_fail(err, TPA_NOWHERE,
             "unpacks to more than %" PRIu64 " times its size (%" PRId64 " bytes of the file gave %" PRId64
             " bytes): it looks like a decompression bomb",
             source->max_ratio, packed, source->unpacked);
    return tpa_hint(
        err, "if it is a real trace, raise the limit with --max-ratio N, or lift it with --max-ratio 0");
}

static int64_t read_unpacked(struct source *source, unsigned char *buffer, size_t size, struct tpa_error *err)
{
    size_t count = 0;
    while (count < size && !source->unpacked_all) {
        size_t step = size - count < UNPACK_STEP ? size - count : UNPACK_STEP;
        int64_t got = source->unpacker->read(source->unpacker_state, &source->in, buffer + count, step, err);
        if (got < 0)
            return -1;
        source->unpacked_all = (size_t)got < step;
        source->unpacked += got;
        count += (size_t)got;
        if (!ratio_is_sane(source, err))
            return -1;
    }
    return (int64_t)count;
}

static int64_t read_any(struct source *source, void *buffer, size_t size, struct tpa_error *err)
{
    int64_t got =
        source->unpacker ? read_unpacked(source, buffer, size, err) : read_plain(source, buffer, size, err);
    if (got < 0)
        tpa_in_file(err, source->name);
    atomic_store_explicit(&source->packed_read, packed_offset(&source->in), memory_order_relaxed);
    return got;
}

/* ---- opening --------------------------------------------------------------------------------- */

/* PATH is not there: is it there in another packing? */
static void hint_neighbour(struct tpa_error *err, const char *path)
{
    static const char *const endings[] = { ".gz", ".zst" };
    size_t length = strlen(path);
    for (size_t i = 0; i < sizeof endings / sizeof *endings; i++) {
        size_t ending = strlen(endings[i]);
        char *other = mem_alloc(length + ending + 1);
        memcpy(other, path, length + 1);
        if (length > ending && strcmp(path + length - ending, endings[i]) == 0)
            other[length - ending] = '\0';
        else
            memcpy(other + length, endings[i], ending + 1);
        bool is_there = access(other, F_OK) == 0;
        if (is_there)
            tpa_hint(err, "%s is there", other);
        free(other);
        if (is_there)
            return;
    }
}

static bool open_failed(struct tpa_error *err, const char *path)
{
    int reason = errno;
    struct stat st;
    tpa_fail_errno(err, "cannot open");
    tpa_in_file(err, path);
    if (reason == ENOENT)
        hint_neighbour(err, path);
    else if (reason == EACCES && stat(path, &st) == 0)
        tpa_hint(err, "the file belongs to user %u and its mode is %04o", (unsigned)st.st_uid,
                 (unsigned)st.st_mode & 07777);
    else if (reason == ENXIO)
        tpa_hint(err, "it is a socket or a device without a driver, not a trace");
    return false;
}

static struct source *source_new(const char *name, uint64_t max_ratio)
{
    struct source *source = mem_zalloc(1, sizeof *source);
    source->name = mem_strdup(name);
    source->max_ratio = max_ratio;
    source->in.fd = -1;
    source->in.size = -1;
    return source;
}

/* Look at the first bytes and make ready to unpack. Takes SOURCE. */
static struct source *begin(struct source *source, struct tpa_error *err)
{
    struct packed *in = &source->in;
    if (!packed_need(in, 4, err)) {
        tpa_in_file(err, source->name);
        source_free(source);
        return NULL;
    }
    for (size_t i = 0; i < sizeof unpackers / sizeof *unpackers; i++) {
        if (unpackers[i]->recognise(in->at, in->left)) {
            source->unpacker = unpackers[i];
            source->unpacker_state = unpackers[i]->open();
            break;
        }
    }
    return source;
}

struct source *source_open(const char *path, const struct source_limits *limits, struct tpa_error *err)
{
    bool is_stdin = strcmp(path, "-") == 0;
    struct source *source =
        source_new(is_stdin ? "standard input" : path, limits ? limits->max_ratio : SOURCE_DEFAULT_MAX_RATIO);
    struct packed *in = &source->in;
    struct stat st;
    if (is_stdin) {
        in->fd = STDIN_FILENO;
    } else {
        do
            in->fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
        while (in->fd < 0 && errno == EINTR);
    }
    if (in->fd < 0 || fstat(in->fd, &st) != 0) {
        open_failed(err, source->name);
        goto failed;
    }
    if (S_ISDIR(st.st_mode)) {
        tpa_fail(err, TPA_NOWHERE, "is a directory, not a file");
        tpa_in_file(err, source->name);
        goto failed;
    }
    if (isatty(in->fd)) {
        tpa_fail(err, TPA_NOWHERE, "is a terminal; expected a trace in a file or a pipe");
        tpa_hint(err, "name a trace file, or send one: `tpa top - < trace.json`");
        tpa_in_file(err, source->name);
        goto failed;
    }
    source->is_regular = S_ISREG(st.st_mode);
    source->id = (struct source_id){ st.st_dev, st.st_ino };
    if (source->is_regular) {
        /* Standard input may have been read from already, by the shell for one. */
        off_t start = is_stdin ? lseek(in->fd, 0, SEEK_CUR) : 0;
        in->size = start > 0 && start <= st.st_size ? st.st_size - start : st.st_size;
        (void)posix_fadvise(in->fd, 0, 0, POSIX_FADV_SEQUENTIAL);
    }
#ifdef F_SETPIPE_SZ
    if (S_ISFIFO(st.st_mode))
        (void)fcntl(in->fd, F_SETPIPE_SZ, 1 << 20); /* fewer turns between the writer and us */
#endif
    packed_allocate(in);
    return begin(source, err);

failed:
    source_free(source);
    return NULL;
}

struct source *source_open_memory(const void *data, size_t size, const char *name, struct tpa_error *err)
{
    struct source *source = source_new(name, SOURCE_DEFAULT_MAX_RATIO);
    struct packed *in = &source->in;
    source->memory = in->at = data;
    in->left = size;
    in->taken = in->size = (int64_t)size;
    in->at_end = true;
    return begin(source, err);
}

void source_free(struct source *source)
{
    if (!source)
        return;
    if (source->unpacker)
        source->unpacker->free(source->unpacker_state);
    if (source->in.fd > STDIN_FILENO)
        close(source->in.fd);
    free(source->in.buffer);
    free(source->peeked);
    free(source->name);
    free(source);
}

/* ---- reading --------------------------------------------------------------------------------- */

int64_t source_read(struct source *source, void *buffer, size_t size, struct tpa_error *err)
{
    size_t count = source->peeked_count < size ? source->peeked_count : size;
    if (count) {
        memcpy(buffer, source->peeked + source->peeked_at, count);
        source->peeked_at += count;
        source->peeked_count -= count;
    }
    if (count == size)
        return (int64_t)count;
    int64_t got = read_any(source, (char *)buffer + count, size - count, err);
    return got < 0 ? -1 : (int64_t)count + got;
}

const void *source_memory(const struct source *source, size_t *size)
{
    *size = (size_t)source->in.size;
    return source->in.fd < 0 && !source->unpacker ? source->memory : NULL;
}

bool source_has_places(const struct source *source)
{
    return source->is_regular && !source->unpacker && source->in.fd > STDIN_FILENO && source->in.size > 0;
}

int64_t source_read_at(struct source *source, void *buffer, size_t size, int64_t offset,
                       struct tpa_error *err)
{
    size_t count = 0;
    while (count < size) {
        ssize_t got = pread(source->in.fd, (char *)buffer + count, size - count, offset + (int64_t)count);
        if (got < 0 && errno == EINTR)
            continue;
        if (got < 0) {
            tpa_fail_errno(err, "cannot read on after byte %" PRId64, offset + (int64_t)count);
            tpa_in_file(err, source->name);
            return -1;
        }
        if (got == 0) {
            check_length(source, offset + (int64_t)count);
            break;
        }
        count += (size_t)got;
    }
    if (offset + (int64_t)count > source_packed_read(source))
        atomic_store_explicit(&source->packed_read, offset + (int64_t)count, memory_order_relaxed);
    return (int64_t)count;
}

size_t source_peek(struct source *source, const char **bytes, struct tpa_error *err)
{
    if (!source->peeked) {
        source->peeked = mem_alloc(PEEK_SIZE);
        int64_t got = read_any(source, source->peeked, PEEK_SIZE, err);
        source->peeked_count = got < 0 ? 0 : (size_t)got;
    }
    *bytes = source->peeked + source->peeked_at;
    return source->peeked_count;
}

const char *source_damage(const struct source *source)
{
    return source->in.damage[0] != '\0' ? source->in.damage : NULL;
}

bool source_id(const struct source *source, struct source_id *id)
{
    *id = source->id;
    return source->is_regular;
}

const char *source_name(const struct source *source)
{
    return source->name;
}

enum source_packing source_packing(const struct source *source)
{
    return source->unpacker ? source->unpacker->packing : SOURCE_PLAIN;
}

int64_t source_packed_size(const struct source *source)
{
    return source->in.size;
}

int64_t source_packed_read(const struct source *source)
{
    return atomic_load_explicit(&source->packed_read, memory_order_relaxed);
}
