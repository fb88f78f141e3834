/*
 * pickle.h - read Python's pickles, protocols 0 to 5, without running code.
 *
 * A pickle is a program for a small stack machine. Most of its operations build data; each is returned as a step for a
 * machine of the caller. The others import modules and call functions: a file with one of those is refused completely,
 * regardless of the function. There is no code to execute them.
 *
 *     struct pickle in = { 0 };
 *     pickle_begin(&in, source, "a memory snapshot", err);
 *     while (!in.stopped && !in.failed && !in.cut && pickle_fill(&in))
 *         if (pickle_next(&in, &step, &odd)) ...                   // step.kind
 *     pickle_release(&in);
 */
#ifndef TPA_INGEST_PICKLE_H
#define TPA_INGEST_PICKLE_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/source.h"

/* Could these first bytes be a pickle's? 0 no, 100 certain. */
int pickle_sniff(const char *bytes, size_t len);

enum pickle_kind {
    PICKLE_NOTHING, /* the step changes no value */
    /* push: */
    PICKLE_NONE,
    PICKLE_BOOL,   /* flag */
    PICKLE_INT,    /* integer */
    PICKLE_WIDE,   /* magnitude; flag: it is negative */
    PICKLE_NUMBER, /* number */
    PICKLE_TEXT,   /* text, len; borrowed until the next step */
    PICKLE_OTHER,  /* bytes, integers beyond 64 bits */
    PICKLE_EMPTY_LIST,
    PICKLE_EMPTY_DICT,
    PICKLE_MARK,
    PICKLE_GET, /* number `magnitude` of the memo */
    /* change the stack: */
    PICKLE_APPEND,        /* list item -> list */
    PICKLE_APPEND_MARKED, /* list mark item ... -> list */
    PICKLE_SET_ITEM,      /* dict key value -> dict */
    PICKLE_SET_ITEMS,     /* dict mark key value ... -> dict */
    PICKLE_TUPLE,         /* `magnitude` items -> tuple */
    PICKLE_MARKED_LIST,   /* mark item ... -> list */
    PICKLE_MARKED_DICT,   /* mark key value ... -> dict */
    PICKLE_POP,
    PICKLE_POP_MARK,
    PICKLE_DUPLICATE,
    PICKLE_PUT, /* the top gets number `magnitude` of the memo */
    PICKLE_PUT_NEXT,
};

struct pickle_step {
    enum pickle_kind kind;
    bool flag;
    int64_t integer;
    uint64_t magnitude;
    double number;
    const char *text;
    size_t len;
};

/* Bytes after the buffered ones that may be read; more than any operation of fixed length has. */
enum { PICKLE_SLACK = 16 };

struct pickle {
    struct source *source;
    const char *what; /* the file should be this: "a memory snapshot" */
    uint8_t *window;
    size_t capacity; /* without the slack */
    size_t at, end;  /* of the buffered bytes */
    int64_t before;  /* bytes of the file before the window */
    bool at_end;     /* no more bytes follow */
    bool cut;        /* an operation extended beyond the end */
    bool stopped;    /* the pickle is complete */
    bool failed;     /* reading failed, or the file is refused: see ERR */
    int protocol;
    struct buffer text;
    struct tpa_error *err;
};

/* Begin to read SOURCE; all are borrowed. A zeroed IN, or one that was used before, whose memory is reused. */
void pickle_begin(struct pickle *in, struct source *source, const char *what, struct tpa_error *err);
void pickle_release(struct pickle *in);

/* The offset in the file of the next operation. */
static inline int64_t pickle_offset(const struct pickle *in)
{
    return in->before + (int64_t)in->at;
}

/* Buffer PICKLE_SLACK bytes, or all that follow. False: none follow. */
bool pickle_fill(struct pickle *in);

/*
 * Read the next operation; call after pickle_fill. False: it is invalid, described by ERR without an offset; or `failed`
 * is set, with the error in that of pickle_begin. An operation beyond the end of the file sets `cut`.
 */
bool pickle_next(struct pickle *in, struct pickle_step *step, struct tpa_error *err);

/* Read the rest of the file. Returns its length; *ZEROS: all of its bytes are 0. */
uint64_t pickle_pass_rest(struct pickle *in, bool *zeros);

#endif
