/*
 * rows.h - the rows of a recording of an Ascend NPU, which both of its forms have: see ascend.h.
 */
#ifndef TPA_INGEST_ASCEND_ROWS_H
#define TPA_INGEST_ASCEND_ROWS_H

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
    int64_t elements;    /* of collectives: as the caller of HCCL passed them; RECORDER_NONE */
    int64_t rank_count;  /* of collectives: the size of the group; RECORDER_NONE */
    const char *name;    /* borrowed until ascend_write returned, as the following */
    const char *type;    /* "AI_CORE", "SDMA_SQE" ...; "" if not recorded */
    const char *element; /* of collectives: "FP32"; NULL */
    const char *group;   /* of collectives: a short name of the group; NULL: that in NAME */
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

#endif
