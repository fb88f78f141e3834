/*
 * python_values.h - plain values of Python as a tree: the content of a small pickle or JSON document.
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
#ifndef TPA_INGEST_PYTHON_VALUES_H
#define TPA_INGEST_PYTHON_VALUES_H

#include "base/arena.h"
#include "base/memory.h"
#include "ingest/pickle.h"
#include <stdbool.h>
#include <stdint.h>

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

/*
 * Read the pickle in SOURCE, which should be WHAT, with IN, whose memory is reused. False and ERR, with the offset, if it
 * is cut, damaged, followed by other bytes, or would run code.
 */
bool python_read_pickle(struct python_tree *tree, struct pickle *in, struct source *source, const char *what,
                        struct python_value *root, struct tpa_error *err);

/* Read the JSON of LEN bytes at TEXT, at most 100 levels deep. False and ERR if it is not valid JSON. */
bool python_read_json(struct python_tree *tree, const char *text, size_t len, struct python_value *root,
                      struct tpa_error *err);

/* The value of the key that is word WORD in DICT, the last if there are several; NULL if there is none or it is no
 * dict. */
const struct python_value *python_get(const struct python_value *dict, uint8_t word);

#endif
