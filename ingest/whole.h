/*
 * whole.h - all bytes of a source in memory, for formats whose names follow their uses.
 *
 *     struct whole whole = { 0 };
 *     bool ok = whole_read(&whole, source, options, err);
 *     ... whole.at[0 .. whole.size) ...
 *     whole_done(&whole, offset);   // bytes before OFFSET are no longer needed
 *     whole_free(&whole);
 *
 * Memory is released during reading, so that text and columns together take little more than the larger of both.
 */
#ifndef TPA_INGEST_WHOLE_H
#define TPA_INGEST_WHOLE_H

#include "base/source.h"
#include "ingest/formats.h"

struct whole {
    uint8_t *at;
    size_t size;
    size_t room, done;
};

/* Read SOURCE to its end, reporting progress as OPTIONS request. False and ERR if reading fails; free it in that case
 * as well. */
bool whole_read(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err);

/* Record in BUILDER's current file its unpacked size, and damage that ended it early. */
void whole_tell(const struct whole *whole, const struct source *source, struct trace_builder *builder);

/* Release the bytes before OFFSET, which are not read again. */
void whole_done(struct whole *whole, size_t offset);

void whole_free(struct whole *whole);

#endif
