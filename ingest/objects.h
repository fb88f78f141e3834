/*
 * objects.h - the values of a memory snapshot while it is read: a stack machine that converts dicts to records
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
#ifndef TPA_INGEST_OBJECTS_H
#define TPA_INGEST_OBJECTS_H

#include "base/error.h"
#include "trace/snapshot.h"

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

/*
 * Complete unfinished objects as far as possible after the file ended early. Incomplete records are dropped; lists keep
 * the records before them.
 */
void objects_close_cut(struct objects *o);

/*
 * The top of the stack is the top-level object: store its devices, segments, annotations and settings. False and ERR if
 * it is not a snapshot.
 */
bool objects_finish(struct objects *o, struct tpa_error *err);

#endif
