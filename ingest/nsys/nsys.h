/*
 * nsys.h - the parts of the reader of Nsight Systems' SQLite exports; for ingest/nsys*.c and sqlite.c only.
 *
 * NVIDIA does not guarantee a stable schema. So every table and nearly every column is optional, and all are found by
 * name. Tables in exports of 2020 to 2026:
 *
 *     CUPTI_ACTIVITY_KIND_KERNEL, _MEMCPY, _MEMSET, _GRAPH_TRACE, _SYNCHRONIZATION    work.c
 *     CUPTI_ACTIVITY_KIND_RUNTIME (runtime and driver), _OVERHEAD, OSRT_API, MPI_* ...  calls.c
 *     CUDA_GPU_MEMORY_USAGE_EVENTS                                                     calls.c
 *     NVTX_EVENTS                                                                      ranges.c
 *     StringIds, PROCESSES, ThreadNames, TARGET_INFO_*, META_DATA_*, DIAGNOSTIC_EVENT  facts.c
 *
 * Integers `globalTid` are hardware << 56 | VM << 48 | pid << 24 | tid, `globalPid` the same with tid 0. Correlation
 * ids and device ordinals are per process: every process that uses CUDA becomes a file of the trace, and rows are
 * distributed by process. Other processes (shells, data loaders) are in the first file.
 */
#ifndef TPA_INGEST_NSYS_H
#define TPA_INGEST_NSYS_H

#include "ingest/recorder.h"
#include "ingest/sqlite_open.h"

/* A row of StringIds. */
struct nsys_string {
    int64_t id;
    const char *text;
    uint32_t len;
    bool about_memory; /* the name of a call that allocates or frees */
};

/* A CUDA context of a process, and the number of the device that its work ran on. */
struct nsys_context {
    int64_t context, ordinal;
};

/* A process with recorded CUDA activity. */
struct nsys_process {
    int64_t global; /* globalPid */
    struct recorder *recorder;
    VEC_OF(name_id) names; /* of strings, by index; NAME_NONE: not requested yet */
    /* Names of copies by kind and both sides' memory, of sets by memory; NAME_NONE: not requested yet. */
    name_id copies[16][9][9], sets[9];
    VEC_OF(struct nsys_context) contexts;
    VEC_OF(name_id) calls; /* the same without the version of a call's name: cudaLaunchKernel_v7000 */
};

/* The number of a device in a process. */
struct nsys_device {
    int64_t pid, ordinal, gpu; /* pid -1: for every process */
};

struct nsys_thread {
    int64_t global; /* globalTid */
    size_t process; /* of nsys.processes */
    track_id track;
};

/* The meaning of a range's message: see nvtx_message.h. */
struct nsys_message {
    name_id name, dims, whole; /* ids of its process; dims and whole: NAME_NONE if missing */
    bool is_operator;
    int64_t sequence; /* RECORDER_NONE */
};

struct nsys {
    struct database *db;
    struct trace_builder *builder;
    struct trace_file head; /* common properties of all files */
    struct arena arena;
    VEC_OF(struct nsys_string) strings;
    /* by id: 1 + index in strings; NULL: ids are scattered, and strings are sorted by id */
    uint32_t *string_at;
    int64_t string_ids; /* length of string_at */
    VEC_OF(struct nsys_process) processes;
    VEC_OF(struct nsys_device) devices;
    VEC_OF(struct nsys_thread) threads; /* a table with linear probing, by global; track TRACK_NONE: empty */
    size_t thread_count;
    size_t last_process, last_thread;
    uint64_t unknown_devices; /* work whose device is known only by the process's number */
    uint64_t dangling, failed_calls, graph_traces;
    const char *first_failed;
    int64_t first_failed_result;
};

/* ---- nsys.c ---- */

/* The process of GLOBAL, a globalPid or globalTid; created if CREATE, else the first process if it is unknown. */
struct nsys_process *nsys_process_of(struct nsys *nsys, int64_t global, bool create);

/* The track of a thread, of any process. *PROCESS is set to the process with its recorder. */
track_id nsys_thread_of(struct nsys *nsys, int64_t global, bool create, struct nsys_process **process);

/* The same if it has events already; else NULL. Borrowed until the next thread. */
const struct nsys_thread *nsys_find_thread(struct nsys *nsys, int64_t global);

/* The physical GPU with the number ORDINAL in PROCESS. */
int64_t nsys_gpu_of(struct nsys *nsys, const struct nsys_process *process, int64_t ordinal);

/* The string of this id; NULL if there is none. */
const struct nsys_string *nsys_string(const struct nsys *nsys, int64_t id);

/* A name by the id of its string; a placeholder if the string is missing. CALL: it is the name of a call. */
name_id nsys_name(struct nsys *nsys, struct nsys_process *process, int64_t id, bool call);

/* Pass on waiting events if there are many, which is possible for the first process. */
bool nsys_flush(struct nsys *nsys, struct tpa_error *err);

/* The process and the thread in a global id: the next two functions. */
static inline int64_t nsys_pid(int64_t global)
{
    return global >> 24 & 0xFFFFFF;
}

static inline int64_t nsys_tid(int64_t global)
{
    return global & 0xFFFFFF;
}

/* ---- the parts: each reads its tables once ---- */

void nsys_read_facts(struct nsys *nsys); /* before all others */
bool nsys_read_work(struct nsys *nsys, struct tpa_error *err);
bool nsys_read_calls(struct nsys *nsys, struct tpa_error *err);
bool nsys_read_ranges(struct nsys *nsys, struct tpa_error *err);
void nsys_read_counters(struct nsys *nsys);
void nsys_name_threads(struct nsys *nsys);   /* after all events were read */
void nsys_describe_facts(struct nsys *nsys); /* of the first file */

/* Is DB such an export? */
bool nsys_is_one(const struct database *db);

/* Read DB, the export in SOURCE, into BUILDER's current file and further ones. False and ERR on failure. */
bool nsys_read(struct database *db, struct source *source, struct trace_builder *builder,
               const struct ingest_options *options, struct tpa_error *err);

#endif
