/*
 * json_index.h - positions of quotes and brackets in a JSON text.
 *
 * Most bytes of a trace are never processed one by one. The index finds, 64 bytes at a time, the quotes that open and
 * close strings and the brackets { } [ ] that lie outside of strings; a reader then steps from one to the next. Commas,
 * colons and numbers are found from their neighbours.
 *
 *     json_index_start(&index, text, len, 0);       // TEXT must be followed by JSON_PADDING zero bytes
 *     while (json_index_more(&index))               // one part at a time
 *         ...index.at[0 .. index.count-1]...
 *
 * The last position is followed by a few sentinels with the position `indexed`, which stop a reader at the end. A text
 * of more than 4 GiB cannot be indexed at once.
 */
#ifndef TPA_INGEST_JSON_INDEX_H
#define TPA_INGEST_JSON_INDEX_H

#include "base/memory.h"
#include <stdint.h>

enum {
    JSON_PADDING = 64,  /* zero bytes that must follow the text */
    JSON_SENTINELS = 4, /* positions that may be read past the last */
    JSON_FIRST_STRETCH = 1024,
    JSON_STRETCH = 65536, /* bytes indexed by one json_index_more, after the first */
};

struct json_index {
    const char *text;
    size_t len;
    VEC_OF(uint32_t);   /* positions, ascending; owned */
    size_t indexed;     /* bytes of text seen so far */
    size_t stretch;     /* bytes that the next json_index_more will index */
    uint64_t in_string; /* all ones if the next byte is inside a string */
    uint64_t escaped;   /* 1 if the next byte is escaped by a backslash */
    bool has_backslash; /* a backslash was found since json_index_start */
};

/* Begin at byte FROM of TEXT, which must be outside of any string. Reuses the memory of an earlier text. */
void json_index_start(struct json_index *index, const char *text, size_t len, size_t from);

/* Index the next part. False if the whole text was already indexed. */
bool json_index_more(struct json_index *index);

/* Drop the first COUNT positions, which the reader is done with. */
void json_index_drop(struct json_index *index, size_t count);

/* Free what INDEX owns. */
void json_index_release(struct json_index *index);

/* The instruction set in use: "AVX2", "SSE2", "NEON"; "none": plain C. */
const char *json_index_instructions(void);

#endif
