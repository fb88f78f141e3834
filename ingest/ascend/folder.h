/*
 * folder.h - what lies beside a recording of Ascend: PROFILE_ascend_pt/ with profiler_info_N.json, and in it
 * ASCEND_PROFILER_OUTPUT/ with the recording in one or both forms, and tables of results.
 */
#ifndef TPA_INGEST_ASCEND_FOLDER_H
#define TPA_INGEST_ASCEND_FOLDER_H

#include "ingest/ascend/ascend.h"

/* The rank that profiler_info[_N].json in the folder of PATH, or in the one above, records; -1: none. */
int64_t ascend_folder_rank(const char *path);

/*
 * Add the memory that operator_memory.csv and memory_record.csv beside PATH record, if the user gave the folder
 * (GIVEN); else a notice of BUILDER's current file says that they are there.
 */
void ascend_folder_memory(struct ascend *ascend, struct trace_builder *builder, const char *path, bool given);

enum ascend_file {
    ASCEND_FILE_NONE,   /* not of Ascend's profilers, or to be read */
    ASCEND_FILE_RESULT, /* results that are computed of a recording beside it, or its settings */
    ASCEND_FILE_TWIN,   /* the same recording is beside it as a database */
};

/* What the file at PATH, found in a directory, is. */
enum ascend_file ascend_folder_file(const char *path);

#endif
