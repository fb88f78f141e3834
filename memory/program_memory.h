/*
 * program_memory.h - what compilers assigned programs in memory, from the properties TRACE_PROGRAM_MEMORY of a trace.
 *
 * As XLA defines it: the memory of a run of a program, on each of its devices, before it runs. A memory space is numbered as XLA
 * does: 0 is the device's own, 5 the host's. Parameters, outputs and constants are there all the time. The peak is
 * theirs and the most that the temporary allocations hold at once in the order of the schedule; a temporary allocation of
 * which that is not told counts in full. Total less peak is what packing lost. Thread-local memory, of computations that
 * are called for each element, is on stacks of the host and in neither.
 */
#ifndef TPA_MEMORY_PROGRAM_MEMORY_H
#define TPA_MEMORY_PROGRAM_MEMORY_H

#include "base/result.h"
#include "analyze/selection.h"

/* A program in one memory space. Sizes are bytes. */
struct program_memory {
    int64_t rank, space;
    struct text program;
    int64_t peak, parameters, output, thread_local_bytes, constants, temporary;
    int64_t aliased; /* of the parameters: also output */
    int64_t total;   /* of all allocations; without ALIASED twice */
};

/* A buffer in use at the peak of its program in its space. Texts without AT are unknown. */
struct program_buffer {
    int64_t rank, space;
    struct text program, kind, instruction, opcode, shape, op, line;
    int64_t bytes;
    double share;     /* of the peak */
    int64_t unpadded; /* TABLE_INT_MISSING: unknown */
    int64_t count;    /* more than 1: small ones added up, without texts */
};

/* The features of TRACE; what programs hold stands in for FEATURE_MEMORY. */
unsigned program_memory_features(const struct trace *trace);

/* Add the tables "programs" and "program_buffers", of the ranks of SELECTION; none without rows. RANKS: show the ranks. */
void program_memory_add_tables(const struct trace *trace, const struct selection *selection, bool ranks,
                               struct result *result);

extern const struct table_shape program_memory_tables[];

#endif
