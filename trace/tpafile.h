/*
 * tpafile.h - the layout of our own file, .tpa: what its bytes mean.
 *
 * One container for what the capture library logs and for any trace that is converted once and read
 * often. docs/tpa-file.md describes it byte by byte; this header gives its numbers names.
 *
 *     file     header (64 bytes), then blocks, each behind the other
 *     block    head (40 bytes), then a payload of columns
 *     column   head (24 bytes + 4 a plane), then its planes
 *
 * A block holds records of one kind, a column per field. It is complete in itself except texts, which
 * it names by numbers that blocks of kind TPAFILE_STRINGS give, always before they are used. Nothing is ever
 * rewritten: a file grows by whole blocks, and what a reader does not know (a kind, a field) it skips.
 *
 *   tpafile.h          this: what the bytes mean
 *   tpafile_records.h  the kinds of records and their fields
 *   tpafile_encode.h   columns into a block
 *   tpafile_decode.h   columns out of a block that may be damaged
 *   tpafile_write.h    records into a file, for the capture library and for `tpa convert`
 *
 * The capture library links these with zstd, xxhash and libc and nothing else, so they allocate with
 * malloc, report failure, and include nothing of base/.
 *
 * All numbers are little-endian.
 */
#ifndef TPA_TRACE_TPAFILE_H
#define TPA_TRACE_TPAFILE_H

#include "trace/tpafile_records.h"
#include <stddef.h>

/* ---- the file's header ----
 *
 *   0  8  magic
 *   8  2  major version: a reader refuses a larger one
 *  10  2  minor version: kinds and fields were added
 *  12  4  size of this header; blocks begin there
 *  16  8  CLOCK_REALTIME in ns when the file was begun; 0 when unknown
 *  24  8  CLOCK_MONOTONIC in ns at the same moment; 0 when unknown
 *  32  8  process id of the writer; 0 when the file was converted
 *  40 16  zero
 *  56  8  XXH3-64 of the 56 bytes before
 */
#define TPAFILE_MAGIC "\x89TPA\r\n\x1a\n"
enum {
    TPAFILE_MAJOR = 1,
    TPAFILE_MINOR = 1,
    TPAFILE_HEADER_SIZE = 64,
};

/* ---- a block's head ----
 *
 *   0  4  magic
 *   4  2  kind: enum tpafile_kind
 *   6  1  codec of the payload: 0 stored, 1 one zstd frame
 *   7  1  zero
 *   8  4  number of records
 *  12  4  bytes of payload that follow in the file
 *  16  4  bytes of payload when unpacked; the same as before when stored
 *  20  4  number of the block: 0, 1, 2 ... in the order of the file
 *  24  8  XXH3-64 of the payload as it is in the file
 *  32  8  XXH3-64 of the 32 bytes before
 */
#define TPAFILE_BLOCK_MAGIC "\xb7TPB"
enum {
    TPAFILE_BLOCK_HEAD = 40,
    TPAFILE_MOST_ROWS = 1 << 20,       /* records in a block */
    TPAFILE_LARGEST_BLOCK = 32 << 20,  /* bytes of payload, packed or not */
    TPAFILE_LARGEST_COLUMN = 16 << 20, /* values in a column; more than rows only where texts are kept */
    TPAFILE_LONGEST_TEXT = 8 << 20,    /* bytes; longer ones are cut */
};

enum tpafile_codec { TPAFILE_STORED, TPAFILE_ZSTD };

/* ---- a column ----
 *
 *   0  2  field: what it means is the kind's
 *   2  1  form: enum tpafile_form
 *   3  1  planes: 0 to 8
 *   4  4  number of values
 *   8  8  base
 *  16  8  first
 *  24  4  for each plane its bytes in the file: 0 when it is all zero, the number of values when it is stored,
 *         less when it is one zstd frame
 *   .  .  the planes
 *
 * Plane p holds byte p of every value r[i], the lowest first: r[i] = sum of plane[p][i] << 8p.
 * All sums are modulo 2^64. A dictionary is the column before the one that uses it.
 */
enum { TPAFILE_COLUMN_HEAD = 24, TPAFILE_MOST_PLANES = 8, TPAFILE_MOST_COLUMNS = 1024 };

enum tpafile_form {
    TPAFILE_PLAIN,            /* v[i] = base + r[i] */
    TPAFILE_DELTA,            /* v[0] = first; v[i] = v[i - 1] + base + r[i] */
    TPAFILE_INDEX,            /* v[i] = d[r[i]], d the dictionary */
    TPAFILE_DICTIONARY = 128, /* or-ed to PLAIN or DELTA: a dictionary for the next column */
};

/* ---- texts ----
 *
 * A text has a number, from 1; 0 is not a text. A number is given once; a text may have several.
 */
enum tpafile_strings_field {
    TPAFILE_STRINGS_FIRST,  /* one value: the number of the first text of the block; the others follow */
    TPAFILE_STRINGS_LENGTH, /* bytes, by text */
    TPAFILE_STRINGS_BYTES,  /* all of them, one behind the other: a value is a byte */
};

/* ---- events of a converted trace ----
 *
 * The shape of an event is what it has in common with many: its category, its flags and which arguments
 * it has. The columns of the shapes have a value a shape; those of arguments a value for each event that
 * has the argument.
 */
enum tpafile_events_field {
    TPAFILE_EVENTS_START,          /* ns */
    TPAFILE_EVENTS_DURATION,       /* ns */
    TPAFILE_EVENTS_NAME,           /* number of a text */
    TPAFILE_EVENTS_TRACK,          /* place of a TRACK record */
    TPAFILE_EVENTS_SHAPE,          /* number of a shape of this block, from 0 */
    TPAFILE_EVENTS_SHAPE_CATEGORY, /* by shape: place of a CATEGORY record */
    TPAFILE_EVENTS_SHAPE_FLAGS,    /* by shape: 1 asynchronous, 2 unfinished, 4 point, 8 no duration */
    TPAFILE_EVENTS_SHAPE_ARGS,     /* by shape: bit a: events of it have the ARGUMENT record at place a */
    TPAFILE_EVENTS_FILE,      /* one value: place of the FILE record that all events of the block are of */
    TPAFILE_EVENTS_ARG = 256, /* + a: argument a */
};

#endif
