/*
 * source.h - the bytes of an input, decompressed, in order.
 *
 * A source hides where bytes come from: a plain file, gzip (several members too), zstd, standard
 * input ("-"), or memory (tests, fuzzers). Compression is recognised by its magic bytes, never by
 * the name. It returns bytes in order and holds at most one block of them.
 */
#ifndef TPA_BASE_SOURCE_H
#define TPA_BASE_SOURCE_H

#include "base/error.h"
#include "base/memory.h"
#include "base/source_packing.h"
#include <stddef.h>
#include <sys/types.h>

struct source;

struct source_limits {
    /* Decoded bytes allowed per compressed byte after the first 64 MiB; 0: no limit. */
    uint64_t max_ratio;
};
/* Real traces compress 10 to 60 times, because each event has its own time; gzip reaches at most 1030 times. */
#define SOURCE_DEFAULT_MAX_RATIO 500

/* Open PATH ("-" is standard input). New; free with source_free. NULL and ERR on failure. */
struct source *source_open(const char *path, const struct source_limits *limits, struct tpa_error *err);

/* From now on MAY_OPEN decides whether source_open may open a path; NULL: it may open any. For servers that read for others. */
void source_set_guard(bool (*may_open)(const char *path));

/* A source over SIZE bytes at DATA, which must outlive it. Packing is recognised here too. */
struct source *source_open_memory(const void *data, size_t size, const char *name, struct tpa_error *err);

/* Close the file and free SOURCE; NULL is allowed. */
void source_free(struct source *source);
FREE_AT(source)

/* Read up to SIZE decoded bytes into BUFFER. Returns how many; less than SIZE only at the end, 0 from then
 * on; -1 and ERR when reading fails. Damage in compressed data (a cut gzip, a bad checksum) is not a failure:
 * the bytes before it are returned, then the input ends and source_damage() describes the damage. */
int64_t source_read(struct source *source, void *buffer, size_t size, struct tpa_error *err);

/* Look at the first bytes without consuming them: up to 4096, fewer when the input is shorter. */
size_t source_peek(struct source *source, const char **bytes, struct tpa_error *err);

/* For readers that go back and forth: the SIZE bytes of a plain input in memory, or NULL; borrowed from the one who opened
 * SOURCE. */
const void *source_memory(const struct source *source, size_t *size);

/* Can source_read_at read this input: a plain file with a name and a known size? */
bool source_has_places(const struct source *source);

/* Read SIZE bytes from OFFSET on into BUFFER, independent of the position of source_read. Returns how many,
 * fewer only at the end; -1 and ERR if reading fails. source_damage says whether the length changed since
 * opening, once the end was read. */
int64_t source_read_at(struct source *source, void *buffer, size_t size, int64_t offset,
                       struct tpa_error *err);

/* One sentence about why the input ended early, or NULL; borrowed. */
const char *source_damage(const struct source *source);

/* The identity of the file, independent of its name. False if it is not a regular file: a pipe, a device, memory. */
struct source_id {
    dev_t device;
    ino_t inode;
};
bool source_id(const struct source *source, struct source_id *id);

/* Bytes on disk, or read, of all inputs that were closed so far: to bound what is written by what was read. */
uint64_t source_bytes_closed(void);

const char *source_name(const struct source *source); /* the path, or "standard input" */
enum source_packing source_packing(const struct source *source);
int64_t source_packed_size(const struct source *source); /* bytes on disk, or -1 when unknown */
int64_t source_packed_read(const struct source *source); /* bytes read so far; callable from any thread */

#endif
