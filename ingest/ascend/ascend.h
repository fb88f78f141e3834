/*
 * ascend.h - a recording of an Ascend NPU, put together from the rows of either of its forms (json.c, database.c).
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
#ifndef TPA_INGEST_ASCEND_ASCEND_H
#define TPA_INGEST_ASCEND_ASCEND_H

#include "base/buffer.h"
#include "ingest/recorder.h"

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
    int64_t link; /* of a call its connection; of Enqueue and Dequeue their correlation. RECORDER_NONE: none */
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
    int64_t elements;    /* of collectives: as the caller of HCCL passed them; RECORDER_NONE */
    int64_t rank_count;  /* of collectives: the size of the group; RECORDER_NONE */
    const char *name;    /* borrowed until ascend_write returned, as the following */
    const char *type;    /* "AI_CORE", "SDMA_SQE" ...; "" if not recorded */
    const char *element; /* of collectives: "FP32"; NULL */
    const char *group;   /* of collectives: a short name of the group; NULL: that in NAME */
    int32_t device;
    uint8_t role; /* enum ascend_role */
    uint8_t copy; /* enum ascend_copy */
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

/*
 * The lists of torch_npu in JSON: its shapes "32,3;64" as "[[32,3],[64]]", its types "Scalar;None" as
 * ["Scalar","None"], and its stacks, which have line breaks between frames, as PyTorch writes them. OUT is replaced.
 */
void ascend_shapes(const char *text, struct buffer *out);
void ascend_types(const char *text, struct buffer *out);
void ascend_stack(const char *text, struct buffer *out);

#endif
