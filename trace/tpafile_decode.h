/*
 * tpafile_decode.h - columns of numbers from a block of a .tpa file, safe for any bytes.
 *
 *     struct tpafile_head head;
 *     if (tpafile_decode_head(bytes, &head))              // 40 bytes
 *         ... head.packed bytes of payload follow ...
 *     if (tpafile_check_payload(&head, payload)) ...
 *     struct tpafile_decoder *decoder = tpafile_decoder_open();
 *     const char *wrong = tpafile_decode_block(decoder, &head, payload);   // NULL: nothing
 *     const struct tpafile_column *column = tpafile_find_column(decoder, TPAFILE_API_START);
 *     if (column && tpafile_decode_column(decoder, column, values))        // column->count values
 *         ...
 *     tpafile_decoder_free(decoder);
 *
 * Nothing is allocated from a size that was not checked: a block unpacks to at most TPAFILE_LARGEST_BLOCK bytes, a
 * column has at most as many values as its block has records unless it holds bytes. Each thread has a decoder
 * of its own.
 */
#ifndef TPA_TRACE_TPAFILE_DECODE_H
#define TPA_TRACE_TPAFILE_DECODE_H

#include "trace/tpafile.h"
#include <stdbool.h>

struct tpafile_head {
    unsigned kind; /* enum tpafile_kind, or one that we do not know */
    enum tpafile_codec codec;
    uint32_t rows, packed, size, number;
    uint64_t checksum;
};

struct tpafile_column {
    unsigned field;
    enum tpafile_form form;
    unsigned planes;
    uint32_t count;
    int64_t base, first;
    const unsigned char *plane[TPAFILE_MOST_PLANES]; /* borrowed from the payload */
    uint32_t size[TPAFILE_MOST_PLANES];
    const struct tpafile_column *dictionary; /* of TPAFILE_INDEX */
};

/* Do the TPAFILE_HEADER_SIZE bytes at HEADER begin a .tpa file whose checksum is right? */
bool tpafile_check_header(const unsigned char *header);

/* Take a head from its 40 bytes. False: not a head, damaged, or beyond the limits of the format. */
bool tpafile_decode_head(const unsigned char *bytes, struct tpafile_head *head);

/* Do the head->packed bytes of PAYLOAD have the checksum that HEAD tells? */
bool tpafile_check_payload(const struct tpafile_head *head, const unsigned char *payload);

struct tpafile_decoder;

/* New; free with tpafile_decoder_free. */
struct tpafile_decoder *tpafile_decoder_open(void);
void tpafile_decoder_free(struct tpafile_decoder *decoder);

/* Unpack the payload of HEAD (head->packed bytes, borrowed until the next block) and find its columns. NULL, or what is
 * wrong with it: "it cannot be unpacked". */
const char *tpafile_decode_block(struct tpafile_decoder *decoder, const struct tpafile_head *head,
                                 const unsigned char *payload);

/* The columns of the block, dictionaries not among them; borrowed until the next block. */
size_t tpafile_column_count(const struct tpafile_decoder *decoder);
const struct tpafile_column *tpafile_column_at(const struct tpafile_decoder *decoder, size_t index);

/* The first column of FIELD; NULL when there is none. */
const struct tpafile_column *tpafile_find_column(const struct tpafile_decoder *decoder, unsigned field);

/* The values of COLUMN into VALUES: column->count of them, never more than the block has records. False: it is damaged
 * or a column of bytes. */
bool tpafile_decode_column(struct tpafile_decoder *decoder, const struct tpafile_column *column,
                           int64_t *values);

/* The same for a column of bytes, which may be longer than the block has records. */
bool tpafile_decode_bytes(struct tpafile_decoder *decoder, const struct tpafile_column *column, char *bytes);

#endif
