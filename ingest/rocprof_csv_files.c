#define _GNU_SOURCE /* asprintf */

#include "ingest/csv.h"
#include "base/rows.h"
#include <dirent.h>

/* Columns that tell a kind; the first that fits decides. */
static const struct {
    enum csv_kind kind;
    const char *columns[3];
} kind_columns[] = {
    { KIND_COUNTER, { "Counter_Name", "Counter_Value", "Dispatch_Id" } },
    { KIND_ALLOCATION, { "Operation", "Allocation_Size", "Address" } },
    { KIND_SCRATCH, { "Alloc_Flags", "Start_Timestamp", "End_Timestamp" } },
    { KIND_COPY, { "Direction", "Start_Timestamp", "End_Timestamp" } },
    { KIND_KERNEL, { "Kernel_Name", "Start_Timestamp", "End_Timestamp" } },
    { KIND_API, { "Domain", "Function", "Start_Timestamp" } },
    { KIND_AGENT, { "Node_Id", "Agent_Type", "Node_Id" } },
    { KIND_STATS, { "Name", "Calls", "TotalDurationNs" } },
    { KIND_SAMPLES, { "Sample_Timestamp", "Instruction", "Sample_Timestamp" } },
};

static enum csv_kind kind_of_columns(const struct csv *csv)
{
    for (size_t i = 0; i < sizeof kind_columns / sizeof *kind_columns; i++) {
        bool all = ALL(c, 3, csv_column(csv, kind_columns[i].columns[c]) != CSV_NO_COLUMN);
        if (all)
            return kind_columns[i].kind;
    }
    return KIND_NONE;
}

bool rocprof_csv_is_trace(enum csv_kind kind)
{
    return kind >= KIND_COUNTER && kind <= KIND_API;
}

/* The kind of a table that begins with the LEN bytes at BYTES. */
enum csv_kind rocprof_csv_kind(const char *bytes, size_t len)
{
    const char *end = memchr(bytes, '\n', len);
    SCOPED char *line = mem_strndup(bytes, end ? (size_t)(end - bytes) : len);
    struct csv csv = csv_open(line, strlen(line));
    enum csv_kind kind = csv_header(&csv) ? kind_of_columns(&csv) : KIND_NONE;
    csv_release(&csv);
    return kind;
}

/* ---- the tables of a recording ---- */

/* Ends of names, without ".csv"; what stands before is the recording's. */
static const char *const kind_ends[] = {
    "kernel_trace",
    "memory_copy_trace",
    "memcpy_trace",
    "hip_api_trace",
    "hip_runtime_api_trace",
    "hsa_api_trace",
    "marker_api_trace",
    "marker_trace",
    "rccl_api_trace",
    "rocdecode_api_trace",
    "rocjpeg_api_trace",
    "memory_allocation_trace",
    "scratch_memory_trace",
    "counter_collection",
    "agent_info",
    "kernel_stats",
    "hip_api_stats",
    "hip_stats",
    "hsa_api_stats",
    "hsa_stats",
    "memory_copy_stats",
    "marker_api_stats",
    "domain_stats",
    "rccl_api_stats",
    "api_trace",
};

/* Length of the part of NAME before its kind; all of it without ".csv" if it names none. */
static size_t prefix_of(const char *name)
{
    size_t len = strlen(name), ending = 4;
    len -= len >= ending && strcmp(name + len - ending, ".csv") == 0 ? ending : 0;
    size_t shortest = len;
    for (size_t i = 0; i < sizeof kind_ends / sizeof *kind_ends; i++) {
        size_t end = strlen(kind_ends[i]);
        if (len >= end && memcmp(name + len - end, kind_ends[i], end) == 0 && len - end < shortest)
            shortest = len - end;
    }
    return shortest;
}

/* The tables of the recording of PATH. */
struct rocprof_csv_files rocprof_csv_files_of(const char *path)
{
    struct rocprof_csv_files files = { 0 };
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
    char *folder = slash ? mem_strndup(path, (size_t)(slash - path) + 1) : mem_strdup("");
    size_t prefix = prefix_of(name);
    DIR *directory = opendir(*folder ? folder : ".");
    for (struct dirent *entry; directory && (entry = readdir(directory));) {
        size_t len = strlen(entry->d_name);
        char *full = NULL;
        if (len < 4 || strcmp(entry->d_name + len - 4, ".csv") != 0 || prefix_of(entry->d_name) != prefix ||
            strncmp(entry->d_name, name, prefix) != 0)
            continue;
        if (asprintf(&full, "%s%s", folder, entry->d_name) < 0)
            mem_out_of_memory(len);
        *VEC_PUSH(&files) = full;
    }
    if (directory)
        closedir(directory);
    free(folder);
    SORT_TEXTS(files.at, files.count);
    return files;
}

void rocprof_csv_files_free(struct rocprof_csv_files *files)
{
    for (size_t i = 0; i < files->count; i++)
        free(files->at[i]);
    VEC_FREE(files);
}

static enum csv_kind kind_of_file(const char *path)
{
    struct source_limits limits = { .max_ratio = SOURCE_DEFAULT_MAX_RATIO };
    struct tpa_error err = { 0 };
    SCOPED_BY(source_free_at) struct source *source = source_open(path, &limits, &err);
    const char *bytes = NULL;
    size_t len = source ? source_peek(source, &bytes, &err) : 0;
    enum csv_kind kind = len ? rocprof_csv_kind(bytes, len) : KIND_NONE;
    return kind;
}

bool rocprof_csv_is_first(const char *path)
{
    size_t len = strlen(path);
    return len >= 4 && strcmp(path + len - 4, ".csv") == 0 && rocprof_csv_is_trace(kind_of_file(path)) &&
           !rocprof_csv_is_further(path);
}

bool rocprof_csv_is_further(const char *path)
{
    size_t len = strlen(path);
    if (len < 4 || strcmp(path + len - 4, ".csv") != 0 || kind_of_file(path) == KIND_NONE)
        return false;
    struct rocprof_csv_files files = rocprof_csv_files_of(path);
    const char *first = NULL;
    for (size_t i = 0; i < files.count && !first; i++)
        first = rocprof_csv_is_trace(kind_of_file(files.at[i])) ? files.at[i] : NULL;
    bool further = first && strcmp(first, path) != 0;
    rocprof_csv_files_free(&files);
    return further;
}
