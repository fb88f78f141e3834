/*
 * marshal.h - read Python's byte stream of simple objects (module `marshal`), item by item.
 *
 * Versions 0 to 5, i.e. Python 2.3 to 3.14. Nothing is built and nothing is executed: the reader returns the next
 * object, and the caller decides whether to descend into it. Bytes are not kept; a text is copied once.
 *
 *     struct marshal in = { .source = source, .total = -1, .texts = &arena };
 *     struct marshal_item item;
 *     if (!marshal_next(&in, &item, err))
 *         return false;
 *     if (item.type == MARSHAL_TUPLE)
 *         for (uint32_t i = 0; i < item.count; i++)
 *             ... marshal_next(&in, &element, err), and marshal_skip(&in, &element, err) to skip it ...
 *     marshal_release(&in);
 *
 * References. From version 3 on an object that occurs several times is written once, with a flag, and referred to by
 * number from then on. A reference to a number or a text is resolved here: it is returned like the original. A
 * container cannot be resolved without reading it again (which could take years for a stream of a kilobyte), so the
 * caller may attach a note to a flagged container after reading it, and gets the note back from every reference:
 *
 *     marshal_note(&in, &item, my_index);          // item came out of marshal_next as a flagged container
 *     ...
 *     item.type == MARSHAL_REFERENCE, item.note == my_index
 *
 * A reference to a container that was skipped, or that is still open (a loop), has no note: MARSHAL_NO_NOTE.
 */
#ifndef TPA_INGEST_MARSHAL_H
#define TPA_INGEST_MARSHAL_H

#include "base/arena.h"
#include "base/memory.h"
#include "base/source.h"

enum marshal_type {
    MARSHAL_END, /* the mark after the last pair of a dict */
    MARSHAL_NONE,
    MARSHAL_BOOL,    /* integer is 0 or 1 */
    MARSHAL_INT,     /* integer */
    MARSHAL_BIG_INT, /* beyond 64 bits: number is an approximation */
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
    MARSHAL_DICT,      /* pairs of key and value, then MARSHAL_END instead of a key */
    MARSHAL_SLICE,     /* 3 elements */
    MARSHAL_CODE,      /* can only be skipped with marshal_skip */
    MARSHAL_REFERENCE, /* to a container that came earlier; nothing follows */
};

#define MARSHAL_NO_NOTE UINT64_MAX
#define MARSHAL_NO_SLOT UINT32_MAX

/* Of the fields below `note`, only those of the type are set. */
struct marshal_item {
    enum marshal_type type;
    uint32_t slot;  /* a flagged container's number, else MARSHAL_NO_SLOT */
    int64_t offset; /* of the type byte */
    uint64_t note;  /* of a reference; MARSHAL_NO_NOTE if there is none */
    int64_t integer;
    double number;
    const char *text; /* in the arena of the texts, NUL-terminated */
    size_t length;
    uint32_t count; /* elements that follow */
};

struct marshal_box;

/*
 * The state of reading. Set either source and total, or bytes and size; and texts; zero the rest.
 *
 * A text is copied to `texts`; references share the copy.
 */
struct marshal {
    struct source *source; /* where bytes come from; NULL: only `bytes`. Borrowed */
    int64_t total;         /* how many bytes the source holds; -1 when unknown */
    const uint8_t *bytes;  /* the buffered bytes: borrowed, or a window of the source */
    size_t size;
    size_t at;           /* index of the next item in the buffered bytes */
    int64_t before;      /* bytes of the source before the buffered ones */
    struct arena *texts; /* borrowed */
    uint64_t *slots;     /* one per flagged object: see marshal.c */
    size_t slot_count, slot_capacity;
    VEC_OF(uint64_t) old_strings; /* Python 2 numbers its interned strings separately */
    struct marshal_box **recent;  /* recent texts, by hash */
    uint8_t *window;
    size_t capacity;
    bool at_end; /* nothing follows the buffered bytes */
};

/* Offset of the next item in the stream. */
static inline int64_t marshal_offset(const struct marshal *in)
{
    return in->before + (int64_t)in->at;
}

/* Free what IN owns; its source is the caller's. */
void marshal_release(struct marshal *in);

/* Read the next item: a scalar completely, of a container only the head. False and ERR, with the offset, if the bytes
 * end or were not written by Python; sizes are checked against the remaining bytes. */
bool marshal_next(struct marshal *in, struct marshal_item *item, struct tpa_error *err);

/* Skip the content of ITEM, the last result of marshal_next; nothing for a scalar. */
bool marshal_skip(struct marshal *in, const struct marshal_item *item, struct tpa_error *err);

/* Attach NOTE (below 2^62) to a container that was read completely. Does nothing if ITEM is not flagged. */
void marshal_note(struct marshal *in, const struct marshal_item *item, uint64_t note);

/* Fast paths for the most common items. True: the next item was one and has been read. False: nothing was read; use
 * marshal_next. */
static inline bool marshal_quick_int(struct marshal *in, int64_t *value);
static inline bool marshal_quick_float(struct marshal *in, double *value);
static inline bool marshal_quick_note(struct marshal *in,
                                      uint64_t *note); /* a reference to an object with a note */

/* The number of bytes from the next item on: reads to the end. False and ERR if reading fails. */
bool marshal_count_rest(struct marshal *in, uint64_t *count, struct tpa_error *err);

/* A description of ITEM: "a tuple of 5", "a text". */
const char *marshal_describe(const struct marshal_item *item, char buffer[static 64]);

/* ---- the fast paths ---- */

/* The lowest bits of a slot give its type; see marshal.c. */
enum { MARSHAL_SLOT_BOX = 0, MARSHAL_SLOT_INT = 1, MARSHAL_SLOT_NOTE = 2, MARSHAL_SLOT_OPEN = 3 };

/* Little-endian numbers at P, of 4 and of 8 bytes: the next two functions. */
static inline uint32_t marshal_load_u32(const uint8_t *p)
{
    return (uint32_t)p[0] | (uint32_t)p[1] << 8 | (uint32_t)p[2] << 16 | (uint32_t)p[3] << 24;
}

static inline double marshal_load_double(const uint8_t *p)
{
    uint64_t bits = (uint64_t)marshal_load_u32(p + 4) << 32 | marshal_load_u32(p);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* The slot of the buffered reference, if it is of KIND. */
static inline bool marshal_quick_slot(struct marshal *in, unsigned kind, uint64_t *slot)
{
    uint32_t number = marshal_load_u32(in->bytes + in->at + 1);
    if (number >= in->slot_count || (in->slots[number] & 3) != kind)
        return false;
    *slot = in->slots[number];
    in->at += 5;
    return true;
}

static inline bool marshal_quick_int(struct marshal *in, int64_t *value)
{
    uint64_t slot;
    if (in->size - in->at < 5)
        return false;
    const uint8_t *p = in->bytes + in->at;
    if (*p == 'i') {
        *value = (int32_t)marshal_load_u32(p + 1);
        in->at += 5;
        return true;
    }
    if (*p != 'r' || !marshal_quick_slot(in, MARSHAL_SLOT_INT, &slot))
        return false;
    *value = (int64_t)slot >> 2;
    return true;
}

static inline bool marshal_quick_float(struct marshal *in, double *value)
{
    if (in->size - in->at < 9 || in->bytes[in->at] != 'g')
        return false;
    *value = marshal_load_double(in->bytes + in->at + 1);
    in->at += 9;
    return true;
}

static inline bool marshal_quick_note(struct marshal *in, uint64_t *note)
{
    uint64_t slot;
    if (in->size - in->at < 5 || in->bytes[in->at] != 'r' ||
        !marshal_quick_slot(in, MARSHAL_SLOT_NOTE, &slot))
        return false;
    *note = slot >> 2;
    return true;
}

#endif
