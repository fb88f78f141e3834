/*
 * source.h - the bytes of an input, decompressed, from front to back.
 *
 * A source hides where bytes come from: a plain file, gzip (several members too), zstd, standard
 * input ("-"), or memory (tests, fuzzers). Compression is recognised by its magic bytes, never by
 * the name. It hands out bytes in order and never holds more than one block of them.
 */
#ifndef TPA_BASE_SOURCE_H
#define TPA_BASE_SOURCE_H

#include "base/error.h"
#include "base/source_packing.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct source;

struct source_limits {
    /* Decoded bytes allowed per compressed byte once past 64 MiB; 0 lifts the limit. */
    uint64_t max_ratio;
};
/* Real traces pack 10 to 60 times, each event having a time of its own; gzip ends at 1030 times. */
#define SOURCE_DEFAULT_MAX_RATIO 500

/* Open PATH ("-" is standard input). New; free with source_free. NULL and ERR on failure. */
struct source *source_open(const char *path, const struct source_limits *limits, struct tpa_error *err);

/* A source over SIZE bytes at DATA, which must outlive it. Packing is recognised here too. */
struct source *source_open_memory(const void *data, size_t size, const char *name, struct tpa_error *err);

void source_free(struct source *source);

/*
 * Read up to SIZE decoded bytes into BUFFER. Returns how many; less than SIZE only at the end, 0
 * from then on; -1 and ERR when reading fails. Damage in compressed data (a cut gzip, a bad
 * checksum) is not a failure: the bytes before it are handed out, then the input ends and
 * source_damage() says what happened.
 */
int64_t source_read(struct source *source, void *buffer, size_t size, struct tpa_error *err);

/* Look at the first bytes without consuming them: up to 4096, fewer when the input is shorter. */
size_t source_peek(struct source *source, const char **bytes, struct tpa_error *err);

/*
 * For readers that go back and forth: the SIZE bytes of a plain input in memory, or NULL; borrowed from who opened SOURCE.
 */
const void *source_memory(const struct source *source, size_t *size);

/* Can source_read_at read this input: a plain file by its name, of a known size? */
bool source_has_places(const struct source *source);

/*
 * Read SIZE bytes from OFFSET on into BUFFER, whatever source_read is at. Returns how many, fewer only at the end; -1 and
 * ERR when reading fails. That the file is not as long as when it was opened is told by source_damage once its end was read.
 */
int64_t source_read_at(struct source *source, void *buffer, size_t size, int64_t offset,
                       struct tpa_error *err);

/* NULL, or one sentence about why the input ended early; borrowed. */
const char *source_damage(const struct source *source);

/* The identity of the file, independent of its name. False if it is not a regular file: a pipe, a device, memory. */
struct source_id {
    dev_t device;
    ino_t inode;
};
bool source_id(const struct source *source, struct source_id *id);

const char *source_name(const struct source *source); /* the path, or "standard input" */
enum source_packing source_packing(const struct source *source);
int64_t source_packed_size(const struct source *source); /* bytes on disk, or -1 when unknown */
int64_t source_packed_read(const struct source *source); /* bytes taken in so far; from any thread */

#endif
