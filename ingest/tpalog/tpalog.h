/*
 * tpalog.h - the parts of the reader of .tpa files, for ingest/tpalog*.c only.
 *
 *   tpalog.c           the format's row, and reading a whole source: blocks are decoded by several threads and
 *                      joined in the order of the file
 *   blocks.c    blocks of a source that may be cut or damaged, and losses
 *   texts.c     the texts of a file by their numbers
 *   events.c    a converted trace: events and the tables they refer to
 *   log.h       and the files it names: records of the capture library become events
 */
#ifndef TPA_INGEST_TPALOG_H
#define TPA_INGEST_TPALOG_H

#include "ingest/formats.h"
#include "trace/columns.h"
#include "trace/tpafile_decode.h"

/* ---- blocks of a source: blocks.c ---- */

enum tpalog_item { TPALOG_BLOCK, TPALOG_HEADER, TPALOG_END, TPALOG_FAILED };

struct tpalog_blocks {
    struct source *source; /* borrowed */
    unsigned char *bytes;  /* part of the source: bytes from START on are not processed yet */
    size_t start, count, capacity;
    int64_t offset; /* of bytes[0] in the source */
    bool ended;     /* the source has no more */

    /* The item found last; borrowed until the next. */
    struct tpafile_head head;
    const unsigned char *payload; /* or the header's TPAFILE_HEADER_SIZE bytes */
    int64_t at;                   /* where the item begins */

    /* Losses so far. */
    uint32_t next_number;
    uint64_t blocks, lost_blocks;
    int64_t skipped_bytes, first_skipped; /* first_skipped: TPA_NOWHERE if none were */
    int64_t tail_bytes, tail_at;          /* of the block that the file ends in */
    int64_t wasted;                       /* bytes of blocks whose checksum was wrong */
    bool header_damaged;
};

/* Find the next block with valid checksums, or the next header. TPALOG_FAILED and ERR if reading fails. */
enum tpalog_item tpalog_blocks_next(struct tpalog_blocks *blocks, struct tpa_error *err);

/* ---- decoding a block: on any thread, using only the arguments from other blocks ---- */

/* Memory that is reused for the next block. */
struct tpalog_room {
    void *at;
    size_t size;
};

/* The argument of each argument index in events; ARG_COUNT: unknown, not wanted, or of another type than its key. The
 * type of its values comes from our own table, never from the file. */
struct tpalog_arguments {
    size_t count;
    enum trace_arg at[64];
};

enum { TPALOG_ROOMS = TPAFILE_MOST_FIELDS + 8 + 3 * ARG_COUNT };

struct tpalog_part {
    struct tpafile_head head;
    int64_t at; /* in the file */
    bool is_header;
    bool is_refused; /* with it, the data read takes too much memory */
    int64_t room_bytes,
        kept_bytes;        /* memory needed until it is joined; memory needed for the lifetime of the trace */
    const char *wrong;     /* why it cannot be used; NULL: nothing */
    uint64_t odd_values;   /* numbers outside of what their type may hold, taken as unknown */
    const char *odd_field; /* "DURATION": name of the first such column; for events the argument's key */
    uint64_t unpacked;     /* bytes of its columns: 8 per number, and the texts */
    struct tpalog_room payload;
    struct tpalog_room rooms[TPALOG_ROOMS];
    unsigned rooms_used;

    /* Rows: by field; NULL if missing: TPAFILE_NONE in all rows. */
    int64_t *fields[TPAFILE_MOST_FIELDS];

    /* TPAFILE_STRINGS */
    int64_t first_text;
    size_t text_count;
    int64_t *lengths;
    char *bytes;

    /* TPAFILE_EVENTS: ids are the file's, and become the trace's when the part is joined. */
    size_t file;
    struct trace_columns columns;
    int64_t *name_numbers; /* texts; their ids in the trace are in NAMES */
    name_id *names;
    track_id *tracks;
    uint16_t *categories;
    int64_t *arg_values[ARG_COUNT]; /* of texts, their numbers in the file */
    int32_t *arg_narrow[ARG_COUNT]; /* room for as many */
    bool arg_is_text[ARG_COUNT];
};

/* Allocate SIZE bytes that live until PART is used for another block; not cleared. */
void *tpalog_part_room(struct tpalog_part *part, size_t size);
void tpalog_part_release(struct tpalog_part *part);

/* "its columns do not fit together" */
extern const char tpalog_misfit[];

/* Decode the events of a block whose columns DECODER has found. NULL on success, else the error. */
const char *tpalog_decode_events(struct tpalog_part *part, struct tpafile_decoder *decoder,
                                 const struct tpalog_arguments *arguments);

/* ---- texts by number: texts.c ---- */

struct tpalog_text {
    const char *at; /* NUL-terminated */
    size_t len;
    name_id name, text; /* in the trace; NAME_NONE until requested */
    const char *kept;   /* copy that lives as long as the trace; NULL until requested */
    uint32_t range;     /* 1 + index of its meaning in ranges.c; 0: not determined */
};

/* Texts of one block. */
struct tpalog_texts_run {
    int64_t first;
    size_t count;
    struct tpalog_text *at;
    char *bytes;
};

struct tpalog_texts {
    VEC_OF(struct tpalog_texts_run) runs; /* by number */
    size_t there;                         /* number of texts in them */
    size_t last;                          /* the run used last */
    struct tpalog_text lost;              /* replacement for texts whose block is lost */
    /* Ids of those that were requested, by number: NAME_NONE for the others; read by the functions below. */
    name_id *name_ids, *text_ids;
    size_t id_count, id_capacity;
    uint64_t lost_count;
};

/* No texts yet. Release with tpalog_texts_release. */
void tpalog_texts_init(struct tpalog_texts *texts);
void tpalog_texts_release(struct tpalog_texts *texts);

/* Add the texts of PART. False if their numbers are invalid. */
bool tpalog_texts_add(struct tpalog_texts *texts, const struct tpalog_part *part);

/* The text of NUMBER; NULL for no text (0 or less). */
struct tpalog_text *tpalog_text(struct tpalog_texts *texts, int64_t number);

/* Its id among the trace's names or texts; NAME_NONE for no text. */
name_id tpalog_text_id(struct tpalog_texts *texts, struct trace_builder *builder, int64_t number);
name_id tpalog_name_id(struct tpalog_texts *texts, struct trace_builder *builder, int64_t number);

/* A copy that lives as long as the trace; NULL for no text or a lost one. Each text is copied once. */
const char *tpalog_keep_text(struct tpalog_texts *texts, struct trace_builder *builder, int64_t number);

/* ---- reading a file: results of joined parts ---- */

struct tpalog_reader {
    struct source *source;
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct tpalog_texts texts;
    struct tpalog_arguments arguments;
    struct trace_container *container; /* contents of `tpa info` for the file */
    struct tpalog_trace *trace;        /* events.c's */
    struct tpalog_log *log;            /* log.h's */
    struct names *notices;             /* in the file, keyed by the numbers of their texts */
    uint64_t more_notices;             /* cases of notices beyond the limit */
    uint64_t more_lacks;               /* the same of lacks (base/lacks.h) */
    bool ended;                        /* an END record was read */
    uint64_t unknown_blocks;
    uint64_t bad_blocks; /* valid checksum, invalid contents */
    int64_t first_bad;
    uint32_t bad_number; /* of the first */
    const char *bad_reason;
    uint64_t odd_values; /* numbers taken as unknown */
    int64_t first_odd;
    uint32_t odd_number; /* of the first block with such */
    const char *odd_word, *odd_field;
    uint64_t odd_arguments; /* that are of another type than their key */
    int64_t first_odd_argument;
    int64_t kept_bytes; /* memory of texts and records, for the limit of the ratio */
};

/* Limits on the notices in a file: different ones, and bytes of words and texts. */
enum { TPALOG_MOST_NOTICES = 1000, TPALOG_LONGEST_WORD = 256, TPALOG_LONGEST_NOTICE = 64 << 10 };

/* Is the notice with these texts, by their numbers, of COUNT cases within the limit? Otherwise its cases are counted.
 * Accepted ones get an index from 0 in order of occurrence in *NUMBER. */
bool tpalog_takes_notice(struct tpalog_reader *reader, int64_t word, int64_t text, uint64_t count,
                         size_t *number);

/* events.c: tables and events of a converted trace. */
struct tpalog_trace *tpalog_trace_open(void);
void tpalog_trace_free(struct tpalog_trace *trace);
bool tpalog_join_events(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err);
void tpalog_join_table(struct tpalog_reader *reader, const struct tpalog_part *part);
void tpalog_trace_finish(struct tpalog_reader *reader);

/* Was a trace converted to this file, rather than recorded into it? */
bool tpalog_has_trace(const struct tpalog_reader *reader);

/* log.h: records of the capture library. */
struct tpalog_log *tpalog_log_open(void);
void tpalog_log_free(struct tpalog_log *log);
bool tpalog_join_record(struct tpalog_reader *reader, struct tpalog_part *part, struct tpa_error *err);
bool tpalog_log_finish(struct tpalog_reader *reader, struct tpa_error *err);

/* A field of a row; TPAFILE_NONE if unknown. */
static inline int64_t tpalog_field(const struct tpalog_part *part, unsigned field, size_t row)
{
    return part->fields[field] ? part->fields[field][row] : TPAFILE_NONE;
}

#endif
