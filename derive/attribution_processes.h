/*
 * attribution_processes.h - assigns numbers to processes in a file of several processes; for attribution.c only.
 */
#ifndef TPA_DERIVE_ATTRIBUTION_PROCESSES_H
#define TPA_DERIVE_ATTRIBUTION_PROCESSES_H

#include "derive/number_table.h"
#include "trace/trace.h"

/* The calls and operators of one process of one file. */
struct process_calls {
    struct number_table calls;     /* by correlation */
    struct number_table operators; /* by External id */
    event_id *operator_of;         /* LINKS_BY_NESTING: by position in calls.events */
};

/* A call in a file of several processes, and its keys. */
struct shared_call {
    int64_t number, id, start_ns; /* correlation; External id, if it has one */
    size_t process;
    event_id event;
    bool has_id;
};

/* The links of one file. */
struct file_launches {
    uint8_t links; /* enum launch_links */
    int generation;
    size_t first_process, process_count; /* in launches->processes; one at least */
    uint64_t shared_calls;               /* calls whose number is shared with a call of another process */
    /* In a file of several processes: calls sorted by number and start; and by number, External id and start. Of equal
     * starts, those of the first process come last. */
    struct shared_call *by_number, *by_id;
    size_t call_count;
};

struct attribution {
    const struct trace *trace;
    struct file_launches *files;
    struct process_calls *processes; /* of the first file, of the second ... */
    size_t process_count;
    size_t *process_of; /* by track */
};

/*
 * Determine the processes of each file: the pids of the tracks that HOLDS_NUMBERS marks, which have calls or operators
 * with ids. Other tracks, devices among them, belong to the first process of their file. Allocates launches->processes,
 * all empty, and launches->process_of.
 */
void launches_describe_processes(struct attribution *launches, const bool *holds_numbers);

/* In files of several processes, assign each device track to one, and count shared_calls. Call after the tables of
 * calls are built. */
void launches_settle_devices(struct attribution *launches, const bool *holds_numbers);

/*
 * The call that E, GPU work with CORRELATION, comes from, in a file of several processes, and its process in *PROCESS.
 * EVENT_NONE if it is not in the file; *PROCESS is then that of the device.
 */
event_id launches_find_call(const struct attribution *launches, event_id e, int64_t correlation,
                            const int64_t *external_id, size_t *process);

#endif
