/*
 * marshal.h - read the byte stream in which Python keeps simple objects (module `marshal`), item by item.
 *
 * Versions 0 to 5, i.e. Python 2.3 to 3.14. Nothing is built and nothing is executed: the reader says which object
 * comes next, and who asks decides whether to look inside it:
 *
 *     struct marshal in = { .bytes = bytes, .size = size };
 *     struct marshal_item item;
 *     if (!marshal_next(&in, &item, err))
 *         return false;
 *     if (item.type == MARSHAL_TUPLE)
 *         for (uint32_t i = 0; i < item.count; i++)
 *             ... marshal_next(&in, &element, err), and marshal_skip(&in, &element, err) to pass over it ...
 *     marshal_release(&in);
 *
 * References. From version 3 on an object that occurs several times is written once, with a flag, and referred to by
 * number from then on. A reference to a number or a text is resolved here: it comes out as if it had been written
 * again. A container can not be, without reading it again (and a stream of a kilobyte could then take years), so the
 * caller may leave a note on a flagged container when it has read it, and gets the note back from every reference:
 *
 *     marshal_note(&in, &item, my_index);          // item came out of marshal_next as a flagged container
 *     ...
 *     item.type == MARSHAL_REFERENCE, item.note == my_index
 *
 * A reference to a container that was skipped, or that is still open (a loop), has no note: MARSHAL_NO_NOTE.
 */
#ifndef TPA_INGEST_MARSHAL_H
#define TPA_INGEST_MARSHAL_H

#include "base/error.h"
#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum marshal_type {
    MARSHAL_END, /* the mark behind the last pair of a dict */
    MARSHAL_NONE,
    MARSHAL_BOOL,    /* integer is 0 or 1 */
    MARSHAL_INT,     /* integer */
    MARSHAL_BIG_INT, /* beyond 64 bits: number is near it */
    MARSHAL_FLOAT,   /* number, with the bits the file holds */
    MARSHAL_COMPLEX, /* number is the real part */
    MARSHAL_TEXT, /* text and length: UTF-8, in which lone surrogates are encoded as if they were characters */
    MARSHAL_BYTES, /* text and length: bytes; what Python 2 calls a string */
    MARSHAL_ELLIPSIS,
    MARSHAL_STOP_ITERATION,
    /* Containers: their elements follow. */
    MARSHAL_TUPLE,     /* count elements */
    MARSHAL_LIST,      /* count elements */
    MARSHAL_SET,       /* count elements */
    MARSHAL_FROZENSET, /* count elements */
    MARSHAL_DICT,      /* a key and a value, again and again, then MARSHAL_END in place of a key */
    MARSHAL_SLICE,     /* 3 elements */
    MARSHAL_CODE,      /* only marshal_skip can pass over it */
    MARSHAL_REFERENCE, /* to a container that came earlier; nothing follows */
};

#define MARSHAL_NO_NOTE UINT64_MAX
#define MARSHAL_NO_SLOT UINT32_MAX

/* Of the fields below `note`, only those are set that the type has. */
struct marshal_item {
    enum marshal_type type;
    uint32_t slot; /* a flagged container's number, else MARSHAL_NO_SLOT */
    size_t offset; /* of the byte that says what the item is */
    uint64_t note; /* of a reference; MARSHAL_NO_NOTE when there is none */
    int64_t integer;
    double number;
    const char *text; /* borrowed from the bytes; not NUL-terminated */
    size_t length;
    uint32_t count; /* elements that follow */
};

/* Where reading stands. Set bytes and size, zero the rest. */
struct marshal {
    const uint8_t *bytes; /* borrowed */
    size_t size;
    size_t at;                  /* offset of the next item */
    VEC_OF(uint64_t) slots;     /* one per flagged object: see marshal.c */
    VEC_OF(size_t) old_strings; /* Python 2 numbers its interned strings apart */
};

void marshal_release(struct marshal *in);

/*
 * Read the next item: a scalar whole, of a container only what it is. False and ERR, with the offset, when the bytes
 * end or are none that Python writes; sizes have then been checked against the bytes that are left.
 */
bool marshal_next(struct marshal *in, struct marshal_item *item, struct tpa_error *err);

/* Pass over what follows ITEM, which marshal_next gave last; nothing for a scalar. */
bool marshal_skip(struct marshal *in, const struct marshal_item *item, struct tpa_error *err);

/* Leave NOTE (below 2^62) on a container that was read to its end. Does nothing when ITEM is not flagged. */
void marshal_note(struct marshal *in, const struct marshal_item *item, uint64_t note);

/* What ITEM is, in words: "a tuple of 5", "a text". */
const char *marshal_describe(const struct marshal_item *item, char buffer[static 64]);

#endif
