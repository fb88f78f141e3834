/*
 * json_index.h - where the quotes and brackets of a JSON text are.
 *
 * Most bytes of a trace are never looked at one by one. 64 at a time, the index finds the quotes
 * that open and close strings and the brackets { } [ ] that lie outside of strings; a reader then
 * steps from one to the next. Commas, colons and numbers are found from their neighbours.
 *
 *     json_index_start(&index, text, len, 0);       // TEXT must be followed by JSON_PADDING zero bytes
 *     while (json_index_more(&index))               // a stretch at a time
 *         ...index.at[0 .. index.count-1]...
 *
 * After the last position stand a few sentinels whose position is `indexed`, where a reader that
 * runs off the end stops. A text of more than 4 GiB cannot be indexed in one piece.
 */
#ifndef TPA_INGEST_JSON_INDEX_H
#define TPA_INGEST_JSON_INDEX_H

#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    JSON_PADDING = 64,  /* zero bytes that must follow the text */
    JSON_SENTINELS = 4, /* positions that may be read past the last */
    JSON_FIRST_STRETCH = 1024,
    JSON_STRETCH = 65536, /* bytes indexed by one json_index_more, once it is under way */
};

struct json_index {
    const char *text;
    size_t len;
    VEC_OF(uint32_t);   /* positions, ascending; owned */
    size_t indexed;     /* bytes of text seen so far */
    size_t stretch;     /* how many the next json_index_more sees */
    uint64_t in_string; /* all ones when the next byte is inside a string */
    uint64_t escaped;   /* 1 when the next byte is escaped by a backslash */
    bool has_backslash; /* one was met since json_index_start */
};

/* Begin at byte FROM of TEXT, which must be outside of any string. Keeps the memory of a former text. */
void json_index_start(struct json_index *index, const char *text, size_t len, size_t from);

/* Index the next stretch. False when all of the text was indexed already. */
bool json_index_more(struct json_index *index);

/* Drop the first COUNT positions, which the reader is done with. */
void json_index_drop(struct json_index *index, size_t count);

void json_index_release(struct json_index *index);

/* By which instructions of the processor: "AVX2", "SSE2", "NEON"; "none": plain C. */
const char *json_index_instructions(void);

#endif
