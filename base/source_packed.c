/*
 * source_packed.c - read the bytes of a file with read(2).
 *
 * Files are not mapped: faulting pages in costs more than copying them into memory that is cached already, and a mapped
 * file that shrinks kills the process.
 */
#define _GNU_SOURCE
#include "base/memory.h"
#include "base/source_unpack.h"
#include <assert.h>
#include <errno.h>
#include <inttypes.h>
#include <poll.h>
#include <stdarg.h>
#include <unistd.h>

enum {
    PAGE = 4096,
    PACKED_BUFFER = 512 * 1024, /* small enough to stay in a core's cache */
    DETOUR_STEP = 64 * 1024,
};

void packed_allocate(struct packed *in)
{
    in->at = in->buffer = aligned_alloc(PAGE, PACKED_BUFFER);
    if (!in->buffer)
        mem_out_of_memory(PACKED_BUFFER);
}

/* As read(2), but retries after interruptions and waits while a nonblocking input has no data. -1 and errno on
 * failure. */
static ssize_t read_some(int fd, void *buffer, size_t size)
{
    for (;;) {
        ssize_t got = read(fd, buffer, size);
        if (got >= 0)
            return got;
        if (errno == EAGAIN || errno == EWOULDBLOCK)
            (void)poll(&(struct pollfd){ .fd = fd, .events = POLLIN }, 1, -1);
        else if (errno != EINTR)
            return -1;
    }
}

/* The kernel copies from pages, and AMD's Zen 3 copies at a sixth of its speed when the target's offset in its page is
 * 1 to 31 bytes above that of the source, as for large blocks of malloc. */
static bool copies_slowly(const unsigned char *to, int64_t offset)
{
    uint64_t further = ((uintptr_t)to - (uint64_t)offset) % PAGE;
    return further > 0 && further < 32;
}

/* Read up to SIZE bytes to BUFFER: as read_some, but through our buffer where a direct read is slow. */
static ssize_t read_well(struct packed *in, unsigned char *buffer, size_t size)
{
    if (size < PAGE || !copies_slowly(buffer, in->taken))
        return read_some(in->fd, buffer, size);
    unsigned char *detour =
        in->buffer + (uint64_t)(in->taken + PAGE - 64) % PAGE; /* far from the slow offsets on either side */
    ssize_t got = read_some(in->fd, detour, size < DETOUR_STEP ? size : DETOUR_STEP);
    if (got > 0)
        memcpy(buffer, detour, (size_t)got);
    return got;
}

bool packed_need(struct packed *in, size_t wanted, struct tpa_error *err)
{
    assert(wanted <= PACKED_MOST_NEEDED);
    if (in->left >= wanted || in->at_end)
        return true;
    if (in->at != in->buffer) {
        memmove(in->buffer, in->at, in->left);
        in->at = in->buffer;
    }
    while (in->left < wanted) {
        ssize_t got = read_some(in->fd, in->buffer + in->left, PACKED_BUFFER - in->left);
        if (got < 0)
            return tpa_fail_errno(err, "cannot read");
        if (got == 0) {
            in->at_end = true;
            break;
        }
        in->left += (size_t)got;
        in->taken += got;
    }
    return true;
}

int64_t packed_read(struct packed *in, unsigned char *buffer, size_t size, struct tpa_error *err)
{
    size_t count = in->left < size ? in->left : size;
    if (count) {
        memcpy(buffer, in->at, count);
        packed_skip(in, count);
    }
    while (count < size && !in->at_end) {
        ssize_t got = read_well(in, buffer + count, size - count);
        if (got < 0) {
            tpa_fail_errno(err, "cannot read on after byte %" PRId64, in->taken);
            return -1;
        }
        in->at_end = got == 0;
        in->taken += got;
        count += (size_t)got;
    }
    return (int64_t)count;
}

bool packed_damaged(struct packed *in, const char *fmt, ...)
{
    if (in->damage[0] != '\0')
        return false;
    va_list args;
    va_start(args, fmt);
    vsnprintf(in->damage, sizeof in->damage, fmt, args);
    va_end(args);
    return false;
}

bool packed_garbage(struct packed *in, const char *kind)
{
    int64_t offset = packed_offset(in);
    if (in->size < offset)
        return packed_damaged(
            in, "what follows the %s data, from byte %" PRId64 " of the file on, is not %s and was not read",
            kind, offset, kind);
    return packed_damaged(
        in, "the last %" PRId64 " bytes, from byte %" PRId64 " of the file on, are not %s and were not read",
        in->size - offset, offset, kind);
}
