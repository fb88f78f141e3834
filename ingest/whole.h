/*
 * whole.h - all bytes of a source at once, for formats whose names come after what they name.
 *
 *     struct whole whole = { 0 };
 *     bool ok = whole_read(&whole, source, options, err);
 *     ... whole.at[0 .. whole.size) ...
 *     whole_done(&whole, offset);   // what lies before OFFSET is needed no more
 *     whole_free(&whole);
 *
 * Memory is given back while it is read, so that text and columns together take little more than the larger of both.
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

/* Read SOURCE to its end, telling the progress that OPTIONS request. False and ERR when reading fails; free it then, too. */
bool whole_read(struct whole *whole, struct source *source, const struct ingest_options *options,
                struct tpa_error *err);

/* Tell of the file that BUILDER is at how large it is unpacked, and what damage ended it early. */
void whole_tell(const struct whole *whole, const struct source *source, struct trace_builder *builder);

/* The bytes before OFFSET are not looked at again. */
void whole_done(struct whole *whole, size_t offset);

void whole_free(struct whole *whole);

#endif
