/*
 * xla_details.h - parses the details of a kernel or copy on NVIDIA and AMD devices, which TensorFlow and JAX write as
 * one string.
 *
 *     "kernel_details": "regs:32 static_shared:0 dynamic_shared:1024 grid:8,1,1 block:256,1,1 occ_pct:100"
 *     "memcpy_details": "kind_src:pageable kind_dst:device size:4096 dest:0 async:1"
 *     "memset_details": "kind:device size:4096 async:1"
 *
 * The words are those of XLA's profiler (ToXStat in its cupti_buffer_events.h). occ_pct is the theoretical occupancy of
 * a kernel, not an estimate of the achieved one as in Kineto, and so it is not an ARG_OCCUPANCY.
 */
#ifndef TPA_INGEST_XLA_DETAILS_H
#define TPA_INGEST_XLA_DETAILS_H

#include "trace/builder.h"

/* The arguments in details. */
#define XLA_DETAILS_TELL                                                                                     \
    (WANT(REGISTERS) | WANT(SHARED_MEMORY) | WANT(GRID) | WANT(BLOCK) | WANT(BYTES) | WANT(COPY_MEMORY))

/* The values in the text, one for each argument of XLA_DETAILS_TELL that it has. Texts are ids of the chunk. */
struct xla_details {
    struct {
        enum trace_arg arg;
        int64_t value;
    } at[6];
    size_t count;
};

/* Read the LEN bytes of TEXT; unknown parts are ignored. */
void xla_details_read(struct trace_chunk *chunk, const char *text, size_t len, struct xla_details *details);

/* Set them on the event of CHUNK that was added last. */
void xla_details_set(struct trace_chunk *chunk, const struct xla_details *details);

/* Both at once. */
void xla_details_add(struct trace_chunk *chunk, const char *text, size_t len);

#endif
