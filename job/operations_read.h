/*
 * operations_read.h - for the readers of operations: where they add what they find.
 *
 * Until all files are read, operations are in the order of their reading, and `serves` is the place in it.
 */
#ifndef TPA_JOB_OPERATIONS_READ_H
#define TPA_JOB_OPERATIONS_READ_H

#include "job/operations.h"

#define STEP_UNKNOWN INT64_MIN

struct reading {
    struct operations *all;
    VEC_OF(int64_t) step_of;       /* by operation: the number of its step */
    VEC_OF(int64_t) talk_step_of;  /* by talk */
    VEC_OF(int64_t) collection_of; /* by collection */
    uint32_t *rank_of;             /* by file: index of its rank */
};

/* Add an operation of the step with the number STEP; its place. Its members are unknown, but for these. */
uint32_t reading_add(struct reading *reading, uint32_t type, uint32_t rank, int64_t step, int64_t start_ns,
                     int64_t end_ns);

/* The type with NAME, added if it is new. */
uint32_t operation_type_add(struct operations *all, const char *name);

/* MOMENT between -52 and 52 days: differences of any two, and their sums, fit. */
int64_t reading_clamp(int64_t moment_ns);

/* ---- the readers ---- */

/* Are the files the ranks of timelines (timeline.c)? */
bool timeline_is(const struct trace *trace);
void timeline_read(struct reading *reading);

/* Recordings of profilers (kineto.c). */
void kineto_read(struct reading *reading);

/* ---- coordinates.c ---- */

/* The dimension that a group with DESCRIPTION (NULL: none) is of; JOB_WORLD for all ranks; JOB_NO_DIMENSION. */
enum job_dimension coordinates_dimension(const char *description);

/* Set the coordinates of all ranks, as groups and labels have them. */
void coordinates_find(struct reading *reading);

/* The same for names of threads "PP rank 0, TP rank 1, dp-comm"; finished: sizes are counted, and ranks compared. */
void coordinates_finish(struct operations *all, bool has_pipeline);

#endif
