/*
<<<<<<< HEAD
 * whole.h - all bytes of a source in memory, for formats whose names follow their uses.
=======
 * whole.h - the bytes of a source by their place, for formats whose names come after what they name.
>>>>>>> main
 *
 *     struct whole whole = { 0 };
 *     bool ok = whole_read(&whole, source, options, err);
 *     ... whole.at[0 .. whole.size) ...
 *     whole_done(&whole, offset);   // bytes before OFFSET are no longer needed
 *     whole_free(&whole);
 *
<<<<<<< HEAD
 * Memory is released during reading, so that text and columns together take little more than the larger of both.
=======
 * whole_open() instead leaves a file on disk: each byte has its address at once, but is there only after whole_need()
 * asked for it, until others are asked for. So memory does not grow with the file. What has to stay is kept with whole_keep():
 *
 *     whole_need(&whole, at, len);  ... at[0 .. len), until the next whole_need() ...
 *     whole_keep(&whole, at, len);  ... until whole_let_go(&whole) ...
 *     ok = whole_close(&whole, builder, err);   // tells what went wrong meanwhile
 *
 * A source that is packed, a pipe, or in memory is there as a whole with either.
>>>>>>> main
 */
#ifndef TPA_INGEST_WHOLE_H
#define TPA_INGEST_WHOLE_H

#include "base/source.h"
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

<<<<<<< HEAD
/* Record in BUILDER's current file its unpacked size, and damage that ended it early. */
void whole_tell(const struct whole *whole, const struct source *source, struct trace_builder *builder);

/* Release the bytes before OFFSET, which are not read again. */
=======
/* Begin with SOURCE, which must outlive WHOLE and is read when it is needed. The same otherwise. */
bool whole_open(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err);

/* Tell of the file that BUILDER is at how large it is unpacked, and what damage ended it early. */
void whole_tell(const struct whole *whole, const struct source *source, struct trace_builder *builder);

void whole_load(struct whole *whole, const uint8_t *at, size_t len);

/* Have the LEN bytes at AT. Where the file cannot be read, or got shorter, they are 0. */
static inline void whole_need(struct whole *whole, const uint8_t *at, size_t len)
{
    bool is_out =
        (size_t)(at - whole->ready) > (size_t)(whole->ready_end - whole->ready); /* on either side */
    if (is_out || len > (size_t)(whole->ready_end - at))
        whole_load(whole, at, len);
}

/* Have them until whole_let_go(). */
void whole_keep(struct whole *whole, const uint8_t *at, size_t len);
void whole_let_go(struct whole *whole);

/* Most of a field that whole_next() has there; of events and names that is mostly all. */
enum { WHOLE_NEAR = 1 << 13 };

/* As wire_next and, at the end, wire_cut, of a message in WHOLE. Of a field of bytes, the first WHOLE_NEAR are there. */
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

/* wire_skip_group, of a message in WHOLE: all of the rest is needed. */
bool whole_skip_group(struct whole *whole, struct wire *in, uint32_t number);

/* The bytes before OFFSET are not looked at again. */
>>>>>>> main
void whole_done(struct whole *whole, size_t offset);

/* Was all read that was needed? False and ERR if not. A file that is not as long as it was gets a notice of BUILDER. */
bool whole_close(struct whole *whole, struct trace_builder *builder, struct tpa_error *err);

void whole_free(struct whole *whole);

#endif
