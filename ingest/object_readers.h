/* object_readers.h - objects, and the forms in which they are read: pickles, marshalled data, JSON. */
#ifndef TPA_INGEST_OBJECT_READERS_H
#define TPA_INGEST_OBJECT_READERS_H

#include "base/source.h"
#include "trace/snapshot.h"

/*
 * pickle.c - read Python's pickles, protocols 0 to 5, without running code.
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

/* Read the next operation; call after pickle_fill. False: it is invalid, described by ERR without an offset; or `failed`
 * is set, with the error in that of pickle_begin. An operation beyond the end of the file sets `cut`. */
bool pickle_next(struct pickle *in, struct pickle_step *step, struct tpa_error *err);

/* Read the rest of the file. Returns its length; *ZEROS: all of its bytes are 0. */
uint64_t pickle_pass_rest(struct pickle *in, bool *zeros);

/*
 * objects.c - the values of a memory snapshot while it is read: a stack machine that converts dicts to records
 * immediately.
 *
 * A snapshot is made of Python's dicts, lists, tuples, texts and numbers. The readers of its forms (pickle.c,
 * snapshot_json.c) issue the steps that build them, as in the pickle machine:
 *
 *     objects_push_dict(o); objects_mark(o);
 *     objects_push_text(o, "action", 6); objects_push_text(o, "alloc", 5);
 *     objects_push_text(o, "size", 4);   objects_push_int(o, 512);
 *     objects_set_items(o, err);               // this was an entry: it is in the snapshot's columns now
 *
 * A dict is known by its keys: an entry, a frame, a segment, a block, an annotation. When it is complete, it becomes a
 * record of the snapshot and is replaced by the record's number, so nothing is stored twice: a list of entries is the
 * number of the first and a count, a list of frames the number of a stack shared by equal lists. Other lists and dicts
 * are dropped after use, except small dicts (settings).
 *
 * Sharing is kept by the memo, as in the pickle. An object may contain itself; a reference to an incomplete object is
 * skipped, because nothing in a snapshot refers to its container.
 *
 * All functions that can fail return false and ERR, without an offset, if the steps are invalid: nothing is on the
 * stack, there is no mark, the memo has no such number.
 */

struct objects;

/* New; fills SNAPSHOT, which is borrowed. Free with objects_free. */
struct objects *objects_open(struct snapshot *snapshot);
void objects_free(struct objects *o);

/* Push a value on the stack. A wide integer is MAGNITUDE with a sign; texts are copied. */
void objects_push_none(struct objects *o);
void objects_push_bool(struct objects *o, bool value);
void objects_push_int(struct objects *o, int64_t value);
void objects_push_wide(struct objects *o, uint64_t magnitude, bool negative);
void objects_push_number(struct objects *o, double value);
void objects_push_text(struct objects *o, const char *text, size_t len);
void objects_push_other(
    struct objects *o); /* values that snapshots do not use: bytes, integers beyond 64 bits */
void objects_push_list(struct objects *o); /* empty */
void objects_push_dict(struct objects *o); /* empty */
void objects_mark(struct objects *o);

bool objects_append(struct objects *o, struct tpa_error *err);        /* list item -> list */
bool objects_append_marked(struct objects *o, struct tpa_error *err); /* list mark item ... -> list */
bool objects_set_item(struct objects *o, struct tpa_error *err);      /* dict key value -> dict */
bool objects_set_items(struct objects *o, struct tpa_error *err);     /* dict mark key value ... -> dict */
bool objects_make_tuple(struct objects *o, size_t count, struct tpa_error *err); /* item ... -> tuple */
bool objects_make_marked(struct objects *o, bool dict,
                         struct tpa_error *err); /* mark item ... -> list or dict */
bool objects_pop(struct objects *o, struct tpa_error *err);
bool objects_pop_marked(struct objects *o, struct tpa_error *err);
bool objects_duplicate(struct objects *o, struct tpa_error *err);

/* The memo. NUMBER is at most OFFSET, its position in the file: a writer needs at least one byte per number. */
bool objects_add(struct objects *o, uint64_t number, int64_t offset, struct tpa_error *err);
bool objects_add_next(struct objects *o, struct tpa_error *err);
bool objects_get(struct objects *o, uint64_t number, struct tpa_error *err);

/* The number of values on the stack. */
size_t objects_depth(const struct objects *o);

/* Complete unfinished objects as far as possible after the file ended early. Incomplete records are dropped; lists keep
 * the records before them. */
void objects_close_cut(struct objects *o);

/* The top of the stack is the top-level object: store its devices, segments, annotations and settings. False and ERR if
 * it is not a snapshot. */
bool objects_finish(struct objects *o, struct tpa_error *err);

/* pickle_quick.c - a fast path for the dicts that make up most of a snapshot, which pickle.c reads operation by
 * operation. */

/* AT is after the EMPTY_DICT of a dict: make its record, and those of dicts that follow immediately, and push
 * them. Returns the position of the next operation; NULL, with the objects unchanged, if the fast path does
 * not support the dict, if it does not end before END, or if it is not a record. Up to 16 bytes after END are
 * read; they must be zeros. */
const uint8_t *pickle_quick_records(struct objects *o, const uint8_t *at, const uint8_t *end);

/*
 * python_values.c - plain values of Python as a tree: the content of a small pickle or JSON document.
 *
 *     static const char *const words[] = { "entries", "state" };          // keys that are looked for
 *     struct python_tree tree = { .words = words, .word_count = 2 };
 *     if (python_read_pickle(&tree, &in, source, "a dump", &root, err))
 *         ... python_get(&root, 0) ...                                    // the value of the key "entries"
 *     python_tree_release(&tree);
 *
 * Everything lives until the next document is read. A list may contain itself, or be shared by many: code
 * that follows values must bound its depth and work.
 */

enum python_kind {
    PYTHON_NONE,
    PYTHON_BOOL,
    PYTHON_INT,
    PYTHON_NUMBER,
    PYTHON_TEXT,
    PYTHON_LIST, /* and tuple, set */
    PYTHON_DICT,
    PYTHON_OTHER,
};

#define PYTHON_NO_WORD UINT8_MAX

struct python_list;

struct python_value {
    uint8_t kind; /* enum python_kind */
    uint8_t word; /* of a text: number of the word that it is; PYTHON_NO_WORD: none */
    uint32_t len; /* of a text */
    union {
        int64_t integer; /* and bool */
        double number;
        const char *text; /* NUL-terminated */
        struct python_list *list;
    };
};

struct python_list {
    struct python_value *items; /* of a dict: keys and values in turn */
    size_t count, capacity;
};

struct python_tree {
    const char *const *words;
    size_t word_count;
    struct arena arena;
    VEC_OF(struct python_value) stack;
    VEC_OF(size_t) marks;
    VEC_OF(struct python_value) memo;
};

/* Free the memory; TREE can be used again. */
void python_tree_release(struct python_tree *tree);

/* Read the pickle in SOURCE, which should be WHAT, with IN, whose memory is reused. False and ERR, with the offset, if it
 * is cut, damaged, followed by other bytes, or would run code. */
bool python_read_pickle(struct python_tree *tree, struct pickle *in, struct source *source, const char *what,
                        struct python_value *root, struct tpa_error *err);

/* Read the JSON of LEN bytes at TEXT, at most 100 levels deep. False and ERR if it is not valid JSON. */
bool python_read_json(struct python_tree *tree, const char *text, size_t len, struct python_value *root,
                      struct tpa_error *err);

/* The value of the key that is word WORD in DICT, the last if there are several; NULL if there is none or it is no
 * dict. */
const struct python_value *python_get(const struct python_value *dict, uint8_t word);

/* snapshot_json.c - a memory snapshot written as JSON: the same dict, whose tuples are lists. */

/* As pickle_read, for JSON. */
bool snapshot_json_read(struct source *source, struct objects *o, struct snapshot *snapshot,
                        struct tpa_error *err);

/* snapshot_pickle.c - a memory snapshot as pickle. */

/* Read SOURCE into O, whose snapshot gets `form` and `bytes`, and notices about damage: data before the damage is kept.
 * False and ERR, with the offset, if the pickle would run code, or if reading the source fails. */
bool snapshot_pickle_read(struct source *source, struct objects *o, struct snapshot *snapshot,
                          struct tpa_error *err);

/* The number of COUNT bytes, at most 8, the lowest first. */
static inline uint64_t little_endian(const uint8_t *bytes, size_t count)
{
    uint64_t number = 0;
    for (size_t i = count; i-- > 0;)
        number = number << 8 | bytes[i];
    return number;
}

#endif
