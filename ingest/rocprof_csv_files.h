/*
 * rocprof_csv_files.h - which table of rocprofv3 a CSV is, and which tables are one recording.
 *
 * Tables of one folder whose names differ by their kinds only ("12_kernel_trace.csv", "12_hip_api_trace.csv") are one.
 */
#ifndef TPA_INGEST_ROCPROF_CSV_FILES_H
#define TPA_INGEST_ROCPROF_CSV_FILES_H

#include "base/memory.h"
#include <stdbool.h>
#include <stddef.h>

enum csv_kind {
    KIND_NONE,
    KIND_COUNTER,
    KIND_KERNEL,
    KIND_COPY,
    KIND_ALLOCATION,
    KIND_SCRATCH,
    KIND_API,
    KIND_AGENT,
    KIND_STATS,
    KIND_SAMPLES,
    KINDS
};

/* The kind of a table that begins with the LEN bytes at BYTES, by its header. */
enum csv_kind rocprof_csv_kind(const char *bytes, size_t len);

/* Does a table of KIND hold events? */
bool rocprof_csv_is_trace(enum csv_kind kind);

struct rocprof_csv_files {
    VEC_OF(char *); /* paths, sorted */
};

/* The tables of the recording that the one at PATH is of; release with rocprof_csv_files_free. */
struct rocprof_csv_files rocprof_csv_files_of(const char *path);
void rocprof_csv_files_free(struct rocprof_csv_files *files);

/* Is the table at PATH read with another one of its recording, which comes first? */
bool rocprof_csv_is_further(const char *path);

#endif
