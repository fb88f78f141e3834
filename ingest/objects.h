/*
 * objects.h - the values of a memory snapshot while it is read: a stack machine that turns dicts into records at once.
 *
 * A snapshot is made of Python's dicts, lists, tuples, texts and numbers. Whoever reads one of its forms (pickle.c, and
 * snapshot_json.c) gives the steps by which they are put together, in the way of the pickle machine:
 *
 *     objects_push_dict(o); objects_mark(o);
 *     objects_push_text(o, "action", 6); objects_push_text(o, "alloc", 5);
 *     objects_push_text(o, "size", 4);   objects_push_int(o, 512);
 *     objects_set_items(o, err);               // this was an entry: it lies in the snapshot's columns now
 *
 * A dict is known by its keys: an entry, a frame, a segment, a block, an annotation. It becomes a record of the snapshot
 * when it is complete, and what stands for it from then on is the record's number, so nothing of the file is kept twice:
 * a list of entries is the number of the first and how many there are, a list of frames the number of a stack that every
 * equal list shares. Lists and dicts of anything else are looked at once and forgotten, except small dicts (settings).
 *
 * Sharing is kept by the memo, as in the pickle. An object that holds itself can be written; the reference to what is
 * not complete is skipped, because nothing in a snapshot refers to what it lies in.
 *
 * All functions that can fail return false and ERR, without an offset, when the steps make no sense: nothing is on the
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

void objects_push_none(struct objects *o);
void objects_push_bool(struct objects *o, bool value);
void objects_push_int(struct objects *o, int64_t value);
void objects_push_wide(struct objects *o, uint64_t magnitude, bool negative);
void objects_push_number(struct objects *o, double value);
void objects_push_text(struct objects *o, const char *text, size_t len);
void objects_push_other(
    struct objects *o); /* what no snapshot has a use for: bytes, integers beyond 64 bits */
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

/* The memo. NUMBER is at most OFFSET, where the file says it: a writer has written a byte for each number at least. */
bool objects_put(struct objects *o, uint64_t number, int64_t offset, struct tpa_error *err);
bool objects_put_next(struct objects *o, struct tpa_error *err);
bool objects_get(struct objects *o, uint64_t number, struct tpa_error *err);

/* How many things are on the stack. */
size_t objects_depth(const struct objects *o);

/*
 * Complete what is not complete, as far as that goes: the file ended within it. Records that were begun are left out; the
 * lists that hold them keep those before.
 */
void objects_close_cut(struct objects *o);

/*
 * What is on top of the stack is the whole file: put devices, segments, annotations and settings in their places. False
 * and ERR when it is not a snapshot.
 */
bool objects_finish(struct objects *o, struct tpa_error *err);

#endif
