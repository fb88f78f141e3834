/*
 * recordings.h - groups files by process: a profiler that records in cycles writes one file per cycle.
 *
 *     const struct recordings *recordings = recordings_of(trace);
 *     rank = recordings->place[file];      // for a file without a rank
 *
 * Files without a rank are recordings of one process if most events of their hosts have one process number, their
 * host names, where both are reported, are equal, and none began before another ended. Files of processes that ran at
 * the same time are different ranks, regardless of process numbers (each container has its own).
 */
#ifndef TPA_DERIVE_RECORDINGS_H
#define TPA_DERIVE_RECORDINGS_H

#include "trace/trace.h"

struct recordings {
    uint32_t *first;  /* by file: the first file of its process; itself if the file records its rank */
    uint32_t *place;  /* by file: the place of its process among those of all files */
    uint32_t repeats; /* files that are not the first of their process */
};

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct recordings *recordings_of(const struct trace *trace);

#endif
