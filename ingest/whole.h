/*
 * whole.h - the bytes of a source by position, for formats whose names follow their uses.
 *
 *     struct whole whole = { 0 };
 *     bool ok = whole_read(&whole, source, options, err);
 *     ... whole.at[0 .. whole.size) ...
 *     whole_done(&whole, offset);   // bytes before OFFSET are no longer needed
 *     whole_free(&whole);
 *
 * whole_open() instead leaves a file on disk: each byte has an address at once, but is valid only after whole_need()
 * for it, until the next such call. So memory does not grow with the file. whole_keep() keeps bytes for longer:
 *
 *     whole_need(&whole, at, len);  ... at[0 .. len), until the next whole_need() ...
 *     whole_keep(&whole, at, len);  ... until whole_let_go(&whole) ...
 *     ok = whole_close(&whole, builder, err);   // reports errors of reading
 *
 * A source that is packed, a pipe, or in memory is read completely by both.
 */
#ifndef TPA_INGEST_WHOLE_H
#define TPA_INGEST_WHOLE_H

#include "ingest/formats.h"
#include "ingest/wire.h"

struct whole_file;

struct whole {
    const uint8_t *at;
    size_t size;
    uint8_t *own; /* AT, where it is ours */
    size_t room, done;
    const uint8_t *ready, *ready_end; /* these bytes are there */
    struct whole_file *file;          /* NULL: all bytes are */
};

/* Read SOURCE to its end, reporting progress as OPTIONS request. False and ERR if reading fails; free it in that case
 * as well. */
bool whole_read(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err);

/* As whole_read, but SOURCE, which must outlive WHOLE, is read on demand. */
bool whole_open(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err);

/* Record in BUILDER's current file its unpacked size, and damage that ended it early. */
void whole_notice(const struct whole *whole, const struct source *source, struct trace_builder *builder);

/* Read the LEN bytes at AT from the file; use whole_need(). */
void whole_load(struct whole *whole, const uint8_t *at, size_t len);

/* Make the LEN bytes at AT valid. If the file cannot be read, or got shorter, they are 0. */
static inline void whole_need(struct whole *whole, const uint8_t *at, size_t len)
{
    bool is_out =
        (size_t)(at - whole->ready) > (size_t)(whole->ready_end - whole->ready); /* on either side */
    if (is_out || len > (size_t)(whole->ready_end - at))
        whole_load(whole, at, len);
}

/* Keep them valid until whole_let_go(). */
void whole_keep(struct whole *whole, const uint8_t *at, size_t len);
void whole_let_go(struct whole *whole);

/* Bytes of a field that whole_next() makes valid: nearly always all of an event or name. */
enum { WHOLE_NEAR = 1 << 13 };

/* As wire_next and, at the end, wire_cut, for a message in WHOLE. Of a field of bytes, the first WHOLE_NEAR are
 * valid. */
static inline bool whole_next(struct whole *whole, struct wire *in, struct wire_field *field)
{
    enum { TAG_AND_LENGTH = 20 };
    size_t left = (size_t)(in->end - in->at);
    whole_need(whole, in->at, left < TAG_AND_LENGTH ? left : TAG_AND_LENGTH);
    if (!wire_next(in, field))
        return false;
    if (field->type == WIRE_BYTES)
        whole_need(whole, field->bytes, field->value < WHOLE_NEAR ? (size_t)field->value : WHOLE_NEAR);
    return true;
}

/* As wire_skip_group, for a message in WHOLE: makes the rest valid. */
bool whole_skip_group(struct whole *whole, struct wire *in, uint32_t number);

/* Release the bytes before OFFSET, which are not read again. */
void whole_done(struct whole *whole, size_t offset);

/* Was all read that was needed? False and ERR if not. A file that is not as long as it was gets a notice of BUILDER. */
bool whole_close(struct whole *whole, struct trace_builder *builder, struct tpa_error *err);

/* Free WHOLE and its view of the file. */
void whole_free(struct whole *whole);

#endif
