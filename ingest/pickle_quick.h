/*
 * pickle_quick.h - a fast path for the dicts that make up most of a snapshot, which pickle.c reads operation by
 * operation.
 */
#ifndef TPA_INGEST_PICKLE_QUICK_H
#define TPA_INGEST_PICKLE_QUICK_H

#include "ingest/objects.h"

/*
 * AT is after the EMPTY_DICT of a dict: make its record, and those of dicts that follow immediately, and push them.
 * Returns the position of the next operation; NULL, with the objects unchanged, if the fast path does not support the
 * dict, if it does not end before END, or if it is not a record. Up to 16 bytes after END are read; they must be zeros.
 */
const uint8_t *pickle_quick_records(struct objects *o, const uint8_t *at, const uint8_t *end);

#endif
