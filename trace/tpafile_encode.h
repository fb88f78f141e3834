/*
 * tpafile_encode.h - columns of numbers into a block of a .tpa file.
 *
 *     struct tpafile_encoder *encoder = tpafile_encoder_open(3);
 *     tpafile_encode_begin(encoder, TPAFILE_API, 2);
 *     tpafile_encode_column(encoder, TPAFILE_API_START, (const int64_t[]){ 1000, 2000 }, 2);
 *     tpafile_encode_column(encoder, TPAFILE_API_CBID, (const int64_t[]){ 211, 211 }, 2);
 *     size_t size;
 *     const void *bytes = tpafile_encode_end(encoder, &size);   // the whole block, to be written as it is
 *     tpafile_encoder_free(encoder);
 *
 * Of the forms that a column can have, the one that packs best is taken. Nothing here ends the program: running
 * out of memory is remembered, and tpafile_encode_end returns NULL.
 */
#ifndef TPA_TRACE_TPAFILE_ENCODE_H
#define TPA_TRACE_TPAFILE_ENCODE_H

#include "trace/tpafile.h"
#include <stdbool.h>

struct tpafile_encoder;

/* From this level on, what shrinks little is packed, too, which makes files smaller and slower to read. */
enum { TPAFILE_SMALL_RATHER_THAN_FAST = 10 };

/* New; NULL when there is no memory. LEVEL is zstd's: higher is smaller and slower to write. */
struct tpafile_encoder *tpafile_encoder_open(int level);
void tpafile_encoder_free(struct tpafile_encoder *encoder);

/* Begin a block of ROWS records. What was not ended is forgotten. */
void tpafile_encode_begin(struct tpafile_encoder *encoder, unsigned kind, uint32_t rows);

/* What the block is numbered; without this, one more than the one before it of this encoder. */
void tpafile_encode_number(struct tpafile_encoder *encoder, uint32_t number);

/* Add a column of COUNT values. */
void tpafile_encode_column(struct tpafile_encoder *encoder, unsigned field, const int64_t *values,
                           size_t count);

/* Add a column of COUNT bytes. */
void tpafile_encode_bytes(struct tpafile_encoder *encoder, unsigned field, const void *bytes, size_t count);

/* The whole block, head and payload, and in *SIZE how long it is; borrowed until the next begin. NULL when memory ran
 * out or the block passes the limits of the format. */
const void *tpafile_encode_end(struct tpafile_encoder *encoder, size_t *size);

/* The header of a file that begins at these moments (ns; 0: unknown), written by process PID. */
void tpafile_encode_header(unsigned char header[TPAFILE_HEADER_SIZE], int64_t wall_ns, int64_t monotonic_ns,
                           int64_t pid);

#endif
