/* ascend.h - the parts of the reader of Ascend. */
#ifndef TPA_INGEST_ASCEND_ASCEND_H
#define TPA_INGEST_ASCEND_ASCEND_H

#include "ingest/recorder.h"

/* the rows of a recording of an Ascend NPU, which both of its forms have: see ascend.h. */

enum ascend_host_kind {
    ASCEND_OPERATOR,
    ASCEND_PYTHON,
    ASCEND_ANNOTATION,
    ASCEND_ENQUEUE,
    ASCEND_DEQUEUE,
    ASCEND_CALL,  /* of CANN */
    ASCEND_OTHER, /* the garbage collector's pauses */
};

/* An event of the host. */
struct ascend_host {
    int64_t start_ns, end_ns, pid, tid;
    int64_t
        link; /* of a call its connection; of Enqueue and Dequeue their correlation. RECORDER_NONE: none */
    name_id name; /* of the recorder */
    uint32_t row; /* the caller's number for it */
    uint8_t kind; /* enum ascend_host_kind */
};

enum ascend_role {
    ASCEND_BY_TYPE,    /* to be decided by type, name and connection */
    ASCEND_KERNEL,     /* known to compute */
    ASCEND_PIECE,      /* a part of a collective */
    ASCEND_COPY,       /* moves memory */
    ASCEND_CONTAINER,  /* repeats the parts of a task */
    ASCEND_SHADOW,     /* a range of the program, as the stream passed it */
    ASCEND_COLLECTIVE, /* one whole; its stream is that of its pieces */
};

enum ascend_copy {
    ASCEND_COPY_UNKNOWN,
    ASCEND_COPY_HTOH,
    ASCEND_COPY_HTOD,
    ASCEND_COPY_DTOH,
    ASCEND_COPY_DTOD,
    ASCEND_COPY_MANAGED,
};

/* A task of a stream, or a collective. */
struct ascend_task {
    int64_t start_ns, end_ns, stream, link, bytes;
    int64_t elements;       /* of collectives: as the caller of HCCL passed them; RECORDER_NONE */
    int64_t rank_count;     /* of collectives: the size of the group; RECORDER_NONE */
    int64_t source, target; /* of pieces between ranks: who it is of, and the other one; RECORDER_NONE */
    const char *name;       /* borrowed until ascend_write returned, as the following */
    const char *type;       /* "AI_CORE", "SDMA_SQE" ...; "" if not recorded */
    const char *element;    /* of collectives: "FP32"; NULL */
    const char *group;      /* of collectives: a short name of the group; NULL: that in NAME */
    int32_t device;
    uint8_t role;  /* enum ascend_role */
    uint8_t copy;  /* enum ascend_copy */
    bool contains; /* by type: another row is a part of it */
};

/* An operation of PyTorch's allocator. A missing time is RECORDER_NONE. */
struct ascend_block {
    int64_t allocated_ns, released_ns, bytes, device;
    int64_t allocated_total, allocated_reserved, released_total, released_reserved;
    name_id name; /* the operator's, of the recorder */
};

/* Totals of PyTorch's allocator from TIME_NS on. */
struct ascend_level {
    int64_t time_ns, device, allocated, reserved;
};

/*
 * ascend.c - a recording of an Ascend NPU, put together from the rows of either of its forms (json.c, database.c).
 *
 *     struct ascend *ascend = ascend_open(builder, pid, PRODUCER_TORCH_NPU);
 *     ascend_add_host(ascend, &(struct ascend_host){ .kind = ASCEND_OPERATOR, .name = recorder_name(...), ... });
 *     ascend_add_task(ascend, &(struct ascend_task){ ... });
 *     bool ok = ascend_write(ascend, set_args, context, err);
 *     ascend_free(ascend);
 *
 * Rows may come in any order. What a task is depends on others: the pieces of a collective have its connection. Work is
 * linked to the operator that issued it through four events on up to three threads:
 *
 *     operator  |----- aten::copy_ --------|                thread of Python, or of its backward pass
 *     Enqueue        |-|                                    by time in the operator
 *     Dequeue               |-----------|                   thread of the task queue; by correlation
 *     call                    |-------|                     by time in the Dequeue
 *     task                                 |------|         by connection
 *
 * Without a task queue the operator is the innermost one around the call. Sources: Ascend/pytorch (torch_npu), Ascend/
 * msprof-analyze, and recordings of torch_npu of January 2025 with the tables of the vendor's own tools.
 */

struct ascend;

/* New; free with ascend_free (NULL is allowed). Sets the producer of the builder's current file. */
struct ascend *ascend_open(struct trace_builder *builder, int64_t pid, enum trace_producer producer);
void ascend_free(struct ascend *ascend);

/* It writes the events; for names. Borrowed. */
struct recorder *ascend_recorder(struct ascend *ascend);

void ascend_add_host(struct ascend *ascend, const struct ascend_host *host);
void ascend_add_task(struct ascend *ascend, const struct ascend_task *task);
void ascend_add_block(struct ascend *ascend, const struct ascend_block *block);
void ascend_add_level(struct ascend *ascend, const struct ascend_level *level);

/* An arrow says that the task of device DEVICE and STREAM (RECORDER_NONE: a collective) that starts at START_NS was
 * launched at CALL_NS on thread TID of process PID. Needed where calls are not recorded. */
void ascend_add_arrow(struct ascend *ascend, int32_t device, int64_t stream, int64_t start_ns, int64_t pid,
                      int64_t tid, int64_t call_ns);

/* A copy's direction by the words of the profiler ("host to device"), or by a name ("acl_memcpy_host_to_device"). */
enum ascend_copy ascend_copy_of(const char *words);

/* Called after the event of a host row was added, to give it its other arguments. */
typedef void ascend_set_args(void *context, struct recorder *recorder, const struct ascend_host *host);

/* Write all to the builder's current file, with notices of what was left out. Once. False and ERR if there is no room. */
bool ascend_write(struct ascend *ascend, ascend_set_args *set_args, void *context, struct tpa_error *err);

/* The lists of torch_npu in JSON: its shapes "32,3;64" as "[[32,3],[64]]", its types "Scalar;None" as
 * ["Scalar","None"], and its stacks, which have line breaks between frames, as PyTorch writes them. OUT is
 * replaced. */
void ascend_shapes(const char *text, struct buffer *out);
void ascend_types(const char *text, struct buffer *out);
void ascend_stack(const char *text, struct buffer *out);

/* folder.c - what lies beside a recording of Ascend: PROFILE_ascend_pt/ with profiler_info_N.json, and in it
 * ASCEND_PROFILER_OUTPUT/ with the recording in one or both forms, and tables of results. */

/* The rank that profiler_info[_N].json in the folder of PATH, or in the one above, records; -1: none. */
int64_t ascend_folder_rank(const char *path);

/* Add the memory that operator_memory.csv and memory_record.csv beside PATH record, if the user gave the folder
 * (GIVEN); else a notice of BUILDER's current file says that they are there. */
void ascend_folder_memory(struct ascend *ascend, struct trace_builder *builder, const char *path, bool given);

enum ascend_file {
    ASCEND_FILE_NONE,   /* not of Ascend's profilers, or to be read */
    ASCEND_FILE_RESULT, /* results that are computed of a recording beside it, or its settings */
    ASCEND_FILE_TWIN,   /* the same recording is beside it as a database */
};

/* What the file at PATH, found in a directory, is. */
enum ascend_file ascend_folder_file(const char *path);

/*
 * links.c - the operator that issued each connection, and when. See ascend.h for the way from task to operator.
 *
 *     struct ascend_links *links = ascend_links_open(hosts, count);
 *     struct ascend_link link = ascend_links_find(links, pid, tid, call_start_ns);
 *     ascend_links_free(links);
 */

#define ASCEND_NO_HOST UINT32_MAX

struct ascend_link {
    uint32_t op;       /* index of the operator among the hosts; ASCEND_NO_HOST */
    uint32_t dequeue;  /* index of the Dequeue around the call; ASCEND_NO_HOST */
    bool is_issued;    /* is ISSUED_NS known? */
    int64_t issued_ns; /* the start of the Enqueue, else of the call */
};

struct ascend_links;

/* New; free with ascend_links_free. The COUNT hosts are borrowed. */
struct ascend_links *ascend_links_open(const struct ascend_host *hosts, size_t count);
void ascend_links_free(struct ascend_links *links);

/* The link of what was launched on thread TID of process PID at NS. */
struct ascend_link ascend_links_find(const struct ascend_links *links, int64_t pid, int64_t tid, int64_t ns);

/* Set *PID and *TID to those of the thread on which an operator called NAME ran at NS; unchanged if there is none. */
void ascend_links_thread(const struct ascend_links *links, name_id name, int64_t ns, int64_t *pid,
                         int64_t *tid);

#endif
