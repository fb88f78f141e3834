/* operations_read.h - parts of operations_open: see operations.h. */
#ifndef TPA_JOB_OPERATIONS_READ_H
#define TPA_JOB_OPERATIONS_READ_H

#include "job/operations.h"

/* ---- timeline.c ---- */

/* Set the stages of operations, and what messages serve. */
void timeline_find_served(struct operations *all);

/* ---- coordinates.c ---- */

/* The coordinates of all ranks are known: count sizes, and compare ranks. */
void coordinates_finish(struct operations *all, bool has_pipeline);

#endif
