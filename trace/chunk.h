/* chunk.h - what a chunk is inside; for chunk.c, chunk_append.c and columns.c only. Readers use builder.h. */
#ifndef TPA_TRACE_CHUNK_H
#define TPA_TRACE_CHUNK_H

#include "trace/builder.h"
#include "trace/storage.h"

struct chunk_arg {
    VEC_OF(uint32_t) events;
    VEC_OF(int64_t) values;
};

struct chunk_fact {
    track_id track;
    enum track_fact fact;
    int64_t number;
    name_id text;
};

struct chunk_notice {
    const char *kind, *text; /* literals */
    uint64_t count;
    int64_t offset;
};

/* Strings that the chunk numbered for itself, and what the builder made of each number. Which of them
 * came up since the chunk was last emptied, and in which order, is kept apart: the builder numbers new
 * ones in that order, which is the file's, whatever else the chunk has seen before. */
struct chunk_ids {
    struct names *names;
    VEC_OF(uint32_t) met;     /* by id: serial when it came up last */
    VEC_OF(name_id) in_order; /* ids that came up since then */
    VEC_OF(name_id) map;      /* by id: the trace's, or NAME_NONE */
};

struct trace_chunk {
    uint64_t wanted_args;
    size_t count, capacity; /* of the columns */
    int64_t *start_ns, *dur_ns;
    name_id *name;
    track_id *track;
    uint16_t *category;
    uint8_t *flags;
    VEC_OF(struct chunk_mark) marks;
    VEC_OF(struct chunk_end) ends;
    VEC_OF(struct chunk_end_arg) end_args;
    struct chunk_arg args[ARG_COUNT];
    uint64_t args_used; /* which of args hold something */
    bool last_is_end;
    VEC_OF(struct trace_flow) flows;
    VEC_OF(struct trace_sample) samples;
    VEC_OF(struct chunk_fact) facts;
    VEC_OF(struct chunk_notice) notices;
    uint64_t flows_seen, samples_seen, metadata_seen;

    /* Kept over appends: the chunk's own ids. */
    struct chunk_ids names, texts, tracks, categories;
    VEC_OF(struct track_key) track_keys; /* by local track */
    uint32_t mapped_file;                /* tracks.map is valid for this file */
    uint32_t serial;                     /* counts how often the chunk was emptied, from 1 */

    /* The track requested last: most events lie on the same one as the event before. */
    int64_t last_pid, last_tid;
    track_id last_track; /* TRACK_NONE: none yet */
};

/* A key as bytes, the same for the same track; and how many bytes that may take. */
size_t track_key_bytes(const struct track_key *key, char *bytes);
size_t track_key_room(const struct track_key *key);

/* WRITTEN with each text that is nothing but a number as that number. */
struct track_key track_key_plain(const struct track_key *written);

#endif
