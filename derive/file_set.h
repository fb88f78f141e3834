/*
 * file_set.h - the meaning of several files: job -> rank -> process -> recording.
 *
 *     const struct file_set *set = file_set_of(trace);
 *     for (uint32_t f = 0; f < trace->file_count; f++)
 *         printf("rank %" PRId64 ", cycle %" PRIu32 "\n", set->files[f].number, set->files[f].cycle + 1);
 *
 * A profiler that records in cycles (schedule with repeat) writes one file per process and cycle; a job has one process per
 * rank. Decided by evidence, never by the number or the order of files:
 *
 * - The rank of a file is that of its distributedInfo, or of its label if it is a part of a merged file; else the number in
 *   "rank7" or "_dump_7" in its path.
 * - Two files are recordings of one process if rank, process number and host (as far as recorded) are equal, one ended before the
 *   other began, and its steps go on: the numbers of its steps are higher. Without marked steps, their rank must be known, or
 *   TensorBoard's worker name (HOST_PID.TIME.pt.trace.json) must be that of the other, in one directory. So runs that one
 *   process profiled one after the other, as in a sweep, are not cycles.
 * - Processes are ranks of one job if their world sizes and backends do not differ and their ranks do. Processes of unknown rank must
 *   have run at the same time. Everything else is a job of its own.
 *
 * The user may overrule this (trace->files_are).
 */
#ifndef TPA_DERIVE_FILE_SET_H
#define TPA_DERIVE_FILE_SET_H

#include "derive/rank_steps.h"
#include "trace/intervals.h"
#include "trace/trace.h"

/* The evidence for the ranks, or for the cycles if there is one rank. */
enum set_evidence {
    SET_BY_ONE_FILE,
    SET_BY_DISTRIBUTED_INFO,
    SET_BY_LABELS,    /* of the processes of a merged file */
    SET_BY_PROCESSES, /* several processes of a file mark steps */
    SET_BY_FILE_NAMES,
    SET_BY_TIME,       /* they ran at the same time */
    SET_BY_STEPS,      /* one process, whose steps go on */
    SET_BY_WORKER,     /* one process, by its name in the names of the files */
    SET_BY_DIFFERENCE, /* nothing connects the files */
    SET_BY_USER,
};

/* What a file shows of where it comes from. Texts are borrowed from the trace; NULL: not recorded. */
struct set_record {
    uint32_t file;            /* index among the files */
    int64_t rank, world_size; /* -1, 0: unknown */
    enum set_evidence rank_by;
    const char *host, *path, *pid_text, *backend;
    int64_t pid;
    bool has_process;
    struct interval span; /* from the origin of time, if the file records its base */
    uint64_t events;
    bool has_steps;
    int64_t first_step, last_step; /* marked ones */
};

struct set_file {
    uint32_t job;     /* index among the jobs, as the next ones: in order of their first files */
    uint32_t rank;    /* index among the ranks of all jobs */
    uint32_t process; /* index among the processes */
    uint32_t cycle;   /* place in time among the recordings of its process, from 0 */
    uint32_t
        round; /* recordings of a job that ran at the same time have one; the cycle, if clocks do not tell */
    int64_t
        number; /* of its rank: as recorded, else RANK; RANK for all if two jobs have a rank of one number */
};

struct file_set {
    struct set_file *files; /* by file */
    uint32_t *first;        /* by rank: its first file in time */
    size_t count;           /* of files */
    uint32_t jobs, ranks, processes;
    uint32_t fewest_cycles, most_cycles; /* of a process */
    enum set_evidence by;
};

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct file_set *file_set_of(const struct trace *trace);

/* The records of the files of TRACE, in their order; new, free with free(). And the set of COUNT records of files that need not be
 * of one trace, as FILES_ARE says; free with arena_free (NULL is allowed). RECORDS are sorted by time. */
struct set_record *file_set_records(const struct trace *trace);
struct file_set *file_set_find(struct set_record *records, size_t count, enum trace_files_are files_are);

/* The kind of the notice about files that are copies of others. */
#define FILE_SET_COPIES "copies"

/* Settle what the files of TRACE are as a set, after reading and before anything else: files that hold the same events at the
 * same times as another one are dropped, where their rank and host do not contradict, unless the user says that files are separate
 * runs; ranks that lack steps of the others lack them as records (rank_steps.h). Both are said in notices. */
void file_set_settle(struct trace *trace);

/* The same for files that are not of one trace: append the marked steps of the files of TRACE to STEPS, the source of file F being
 * FIRST + F; then find the ranks of SET, whose files are these sources, that lack steps; none if it has several jobs. Sorts STEPS.
 * Free with VEC_FREE. */
void file_set_add_steps(const struct trace *trace, size_t first, struct rank_step_list *steps);
struct rank_steps file_set_find_lacking(const struct file_set *set, struct rank_step_list *steps);

/* A number for the events of FILE and their times: equal for files that hold the same recording, however they are packed. */
uint64_t file_set_fingerprint(const struct trace *trace, uint32_t file);

/* The rank of FILE as recorded, else as in its path; -1: neither. */
int64_t file_set_rank_of(const struct trace_file *file);

/* A track of the process of FILE that has the most events on its threads; NULL if there are none. Borrowed. */
const struct track *file_set_process(const struct trace *trace, uint32_t file);

/* Does a rank have several recordings? */
bool file_set_has_cycles(const struct file_set *set);

/* Are two files the same recording, of one rank and cycle? */
bool file_set_has_copies(const struct file_set *set);

/* Are the files one job by what they record or are called, rather than by the time at which they ran? */
bool file_set_is_sure(const struct file_set *set);

/* For answers about one job: false and ERR, which names the ways out, if the files of TRACE are separate runs by evidence. */
bool file_set_check_job(const struct trace *trace, struct tpa_error *err);

/* Append "one job of 2 ranks, 2 cycles each; by distributedInfo". */
void file_set_describe(const struct file_set *set, struct buffer *out);

#endif
