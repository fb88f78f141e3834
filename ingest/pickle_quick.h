/*
 * pickle_quick.h - the dicts that most of a snapshot is, each in one piece: what pickle.c does operation by operation.
 */
#ifndef TPA_INGEST_PICKLE_QUICK_H
#define TPA_INGEST_PICKLE_QUICK_H

#include "ingest/objects.h"

/*
 * AT stands behind the EMPTY_DICT of a dict: make the record that it is, and those of the dicts right behind it, and push
 * them. Returns where the next operation is; NULL, and the objects are as before, when this way does not know what comes,
 * when it does not lie before END as a whole, or when it is not a record. Up to 16 bytes behind END are looked at; they are zeros.
 */
const uint8_t *pickle_quick_records(struct objects *o, const uint8_t *at, const uint8_t *end);

#endif
