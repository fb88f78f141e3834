/*
 * chrome.h - the parts of the Chrome trace reader, for ingest/chrome*.c only.
 *
 *   format.c    the format's row: sniffing, and reading a whole source
 *   windows.c   cuts the source into windows that several threads parse at once
 *   document.c  what surrounds events: arrays, top-level keys, damage between events
 *   event.c     one event: its fields and arguments into a chunk
 *   shape.c     the same, faster, for events written like an earlier one
 *   repair.c    makes valid JSON of a damaged event, where that can be done
 *   files.c     several files that were written as one
 *   draft.c     files whose events mean something else than their categories (draft.h)
 *   metadata.c  top-level values (devices, ranks, flags) into struct trace_file
 */
#ifndef TPA_INGEST_CHROME_H
#define TPA_INGEST_CHROME_H

#include "ingest/formats.h"
#include "ingest/json_index.h"

/* Where in a document a window begins or ends. A document may be followed by another. */
enum chrome_where {
    CHROME_START, /* before anything */
    CHROME_TOP,   /* in the outermost object, before a key */
    CHROME_ARRAY, /* among events: before one, or between two */
    CHROME_SKIP,  /* inside a long top-level value that nobody needs */
    CHROME_END,   /* behind the outermost bracket */
};

struct chrome_state {
    enum chrome_where where;
    bool in_object;  /* the array of events is the value of a key, not the document */
    bool lines;      /* events stand one a line without an array (NDJSON) */
    bool in_garbage; /* quotes cannot be trusted until a place is found to go on; it was counted */
    bool in_gap; /* bytes between two values go on that mean nothing; they were counted where they began */
    bool has_events;    /* the events of this document were found */
    uint32_t documents; /* begun so far */
    /* CHROME_SKIP: */
    uint32_t depth;
    bool in_string, escaped;
};

/* A top-level key and its value, as text. */
struct chrome_property {
    char *key, *value; /* NUL-terminated, heap */
    size_t value_len;
};

/* Arguments that are wanted, by key: an open-addressed table made once per file. */
struct chrome_arg_key {
    const char *text;
    uint8_t len, arg, kind; /* arg: enum trace_arg */
};
enum { CHROME_ARG_SLOTS = 256 };
struct chrome_arg_table {
    struct chrome_arg_key slots[CHROME_ARG_SLOTS];
};
enum chrome_arg_kind {
    CHROME_INT,
    CHROME_DECIMAL,
    CHROME_TEXT,
    CHROME_JSON,
    CHROME_BOOL,
    CHROME_XLA_STEP,    /* step_num: makes a step; no arg of its own, as the next three */
    CHROME_XLA_OP,      /* hlo_op: makes an operator; */
    CHROME_XLA_TF_OP,   /* and so does tf_op, where there is none */
    CHROME_XLA_MODULE,  /* hlo_module, of the operator, where nobody wants it as an arg */
    CHROME_XLA_DETAILS, /* several arguments in one string, see xla_details.h; no arg of its own */
};

/* An argument met in the event that is being read. */
struct chrome_found_arg {
    const struct chrome_arg_key *key;
    const char *start, *end; /* a string's without its quotes */
    bool is_string;
};
enum { CHROME_MAX_FOUND = 64 };

/* Tracks met in this window, by how they are written: most events lie on one of a few. */
struct chrome_track {
    char text[40]; /* pid and tid as in the file, one behind the other */
    uint8_t pid_len, tid_len;
    track_id track;
};
enum { CHROME_TRACKS = 16 };

/* Lists met in this window, by how they are written: most shapes of inputs come again and again. */
struct chrome_list {
    const char *text; /* in the window; NULL: none */
    size_t len;
    name_id id; /* of the chunk's texts */
};
enum { CHROME_LISTS = 256 };

/* See shape.h. A shape is a row of steps: bytes that must follow, then a value that may differ. */
enum { SHAPE_MAX_STEPS = 40, SHAPE_MAX_LITERAL = 112, SHAPE_MAX_SHAPES = 64 };

enum shape_value { SHAPE_NOTHING, SHAPE_STRING, SHAPE_WORD, SHAPE_NESTED };

struct shape_step {
    char literal[SHAPE_MAX_LITERAL + 16]; /* zeros behind it, so that it can be compared in blocks */
    uint8_t len;
    uint8_t value;                    /* enum shape_value: what follows the literal */
    int8_t field;                     /* enum chrome_field, or -1 */
    const struct chrome_arg_key *arg; /* a wanted argument, or NULL */
};

struct shape {
    struct shape_step steps[SHAPE_MAX_STEPS];
    uint8_t step_count;
    uint8_t next; /* which shape followed this one last time */
    char phase;
    char category[64]; /* part of the literals, as phase is */
    uint8_t category_len;
    bool has_category;
    bool is_counter;                               /* its arguments are series, all wanted: */
    struct chrome_arg_key series[SHAPE_MAX_STEPS]; /* by step; the texts are in the literals */
    uint16_t category_id;
    uint32_t category_window; /* category_id is known in this window */
};

struct chrome_shapes {
    struct shape *at;     /* SHAPE_MAX_SHAPES of them; NULL until the first is learnt */
    uint8_t count, last;  /* known; the one that fitted last */
    uint8_t replace;      /* the next to be given up when there is no room */
    uint8_t counters;     /* shapes of counters that were learnt */
    uint32_t tries, hits; /* lately; halved now and then */
    uint32_t passed;      /* events that were not tried, where few fit */
    bool was_tried;       /* the last one */
    uint32_t window;      /* counts windows */
};

/* Counters met in this window, by name and series. */
struct chrome_counter {
    const char *name; /* in the window; NULL: none */
    size_t len;
    const struct chrome_arg_key *series; /* of a shape */
    name_id id;                          /* of the chunk's texts */
};
enum { CHROME_COUNTERS = 64 };

/* What one thread needs to parse a window. */
struct chrome_reader {
    const struct chrome_arg_table *arg_table;
    bool want_flows, want_counters;
    bool careful; /* use no shapes */
    struct trace_chunk *chunk;
    struct json_index index;
    const char *text; /* the window, followed by JSON_PADDING zero bytes */
    size_t len;
    int64_t offset; /* of the window in the decoded file */
    bool final;     /* nothing follows the window, or it is read as if */
    bool gives_up;  /* as if: an event in it is too long to wait for its end */
    struct chrome_found_arg found[CHROME_MAX_FOUND];
    size_t found_count;
    struct chrome_track tracks[CHROME_TRACKS];
    struct chrome_list lists[CHROME_LISTS];
    struct chrome_list arrow_texts[2]; /* category and name of the last arrow */
    struct chrome_counter counters[CHROME_COUNTERS];
    struct chrome_shapes shapes;
    char last_phase;              /* of the event read last */
    struct buffer text_a, text_b; /* decoded strings, valid until the next event */
    VEC_OF(struct chrome_property) properties;
};

/* READER keeps TABLE, which is borrowed, and a chunk of BUILDER; release with chrome_reader_release. A table is
 * initialised for the arguments in WANTS and owns nothing. */
void chrome_reader_init(struct chrome_reader *reader, const struct chrome_arg_table *table,
                        const struct trace_builder *builder, const struct ingest_options *options);
void chrome_reader_release(struct chrome_reader *reader);
void chrome_arg_table_init(struct chrome_arg_table *table, const struct trace_wants *wants);

/* Parse the LEN bytes at TEXT, which begin in *STATE at byte OFFSET of the file, into reader->chunk
 * and reader->properties, and leave in *STATE how they end. Returns how many bytes were consumed;
 * the rest is the beginning of something that goes on behind the window (never when FINAL). */
size_t chrome_parse(struct chrome_reader *reader, struct chrome_state *state, const char *text, size_t len,
                    int64_t offset, bool final);

/* The fields of an event, as in the text. */
enum chrome_field {
    FIELD_PHASE,
    FIELD_CATEGORY,
    FIELD_NAME,
    FIELD_TS,
    FIELD_DUR,
    FIELD_PID,
    FIELD_TID,
    FIELD_ID,
    FIELD_ID2,
    FIELD_BIND,
    FIELD_ARGS,
    FIELD_COUNT
};

enum value_kind { VALUE_MISSING, VALUE_STRING, VALUE_WORD, VALUE_NESTED };

struct value {
    enum value_kind kind;
    const char *start, *end; /* a string's without its quotes */
    size_t cursor;           /* VALUE_NESTED: position of its bracket in the index */
};

struct fields {
    struct value at[FIELD_COUNT];
    struct shape *shape; /* the one it fits, which remembers its category; or NULL */
    int64_t offset;      /* of the event in the file */
};

enum chrome_outcome {
    CHROME_READ,       /* an event, which was added to the chunk, or counted as skipped */
    CHROME_BAD,        /* not an event, or damaged */
    CHROME_INCOMPLETE, /* goes on behind the indexed text */
    CHROME_NOT_EVENT,  /* an object that has the key traceEvents */
};

/* Read the event whose '{' is at position *CURSOR of reader->index; *CURSOR moves behind its '}' when it was read. */
enum chrome_outcome chrome_read_event(struct chrome_reader *reader, size_t *cursor);

/* Add the event that FIELDS and reader->found describe. READ, or BAD when it has no phase. */
enum chrome_outcome chrome_add_event(struct chrome_reader *reader, const struct fields *fields);

/* Which field the event's key is; -1: none that has a meaning here. */
int chrome_field_of(const char *key, size_t len);

/* The wanted argument called KEY, or NULL. */
const struct chrome_arg_key *chrome_find_arg(const struct chrome_arg_table *table, const char *key,
                                             size_t len);

/* Step over the object or array whose bracket is at position *CURSOR. READ, BAD or INCOMPLETE. */
enum chrome_outcome chrome_skip_nested(const struct json_index *index, size_t *cursor);

/* The next place from AT on where one event ends and another begins: its '{', or NULL when there is none
 * before END. Decided from the bytes around it alone, so it is the same whatever window they are seen in. */
const char *chrome_next_event(const char *at, const char *end, const char **event_end);

/* The last such place between START and END, or NULL. */
const char *chrome_last_event(const char *start, const char *end);

/* The first '{' from AT on that begins an event as an element of an array, though none ended before it: where
 * to go on when an event's own end is missing. *EVENT_END is the comma before it. NULL when there is none. */
const char *chrome_inner_event(const char *at, const char *end, const char **event_end);

/* The first '{' from AT on that begins an event and is not the value of a key: where to go on when what
 * stands at AT is unknown. NULL when there is none; then the bytes from *UNDECIDED on have to be seen again
 * with more. */
const char *chrome_resume(const char *at, const char *end, const char **undecided);

/* The key of the array of events from AT on, wherever it stands; NULL and *UNDECIDED as above. */
const char *chrome_find_events(const char *at, const char *end, const char **undecided);

/* The ']' of the array of events, when the text AT..END, the last of the file, ends by ']' or "]}". Else NULL. */
const char *chrome_document_end(const char *at, const char *end);

/* Write the damaged event START..END to OUT as valid JSON. False when no sense can be made of it. */
bool chrome_repair_event(const char *start, const char *end, struct buffer *out);

/* Write what stands before "args" in the damaged event START..END, or all of it, to OUT as an object. */
void chrome_cut_args(const char *start, const char *end, struct buffer *out);

/* Put top-level values, as text or as they were kept, into the builder's current file. */
void chrome_apply_property(struct trace_builder *builder, const char *key, const char *value, size_t len);
void chrome_apply_kept(struct trace_builder *builder, const struct trace_property *property);

/* Make the files again that the current file was written of; nothing when it is one. */
void chrome_split_files(struct trace_builder *builder);

/* A key of arguments that a writer has of its own, and where its values go. A list of them ends in NULL. */
struct chrome_key {
    const char *text;
    enum trace_arg arg; /* decides how the value is read */
};
void chrome_arg_table_add(struct chrome_arg_table *table, const struct chrome_key *keys);

/* Read all of SOURCE with options->workers threads. KEYS, which may be NULL, are read as well. */
bool chrome_read_windows(struct source *source, struct trace_builder *builder,
                         const struct ingest_options *options, const struct chrome_key *keys,
                         struct tpa_error *err);

#endif
