/*
 * rocprof_csv.h - the CSV of rocprofv3; for formats.c.
 */
#ifndef TPA_INGEST_ROCPROF_CSV_H
#define TPA_INGEST_ROCPROF_CSV_H

#include <stdbool.h>

/*
 * Several tables are one recording: those of one folder whose names differ by their kinds only ("12_kernel_trace.csv",
 * "12_hip_api_trace.csv"). Is the table at PATH read with another one of them, which comes first?
 */
bool rocprof_csv_is_further(const char *path);

#endif
