/* container.h - what is to be reported of the .tpa files that something was read from: of what blocks they are, and
 * what was lost. */
#ifndef TPA_TRACE_CONTAINER_H
#define TPA_TRACE_CONTAINER_H

#include "base/lacks.h"

/* Blocks of one kind in a .tpa file. */
struct trace_container_kind {
    const char *word; /* "kernel" */
    uint64_t blocks, records;
    uint64_t packed, unpacked; /* bytes */
};

/* The .tpa file that events came from. */
struct trace_container {
    const char *path;
    int64_t size;    /* bytes */
    uint64_t events; /* what its records became */
    bool is_log;     /* written by the capture library, not converted */
    bool closed;     /* it has an end */
    uint64_t lost_blocks;
    int64_t lost_bytes, tail_bytes; /* TAIL: of a block that the file ends in */
    VEC_OF(struct trace_container_kind) kinds;
};

/* NULL is allowed. */
void trace_container_free(struct trace_container *container);

/* Something odd about what sums were read from: as struct trace_notice. Texts live as long as the sums. */
struct sums_notice {
    const char *kind, *text, *path;
    uint64_t count;
    int64_t offset; /* or TPA_NOWHERE */
};

/* What sums (a profile, a report) have instead of struct trace_file. */
struct sums_origin {
    VEC_OF(struct sums_notice) notices;
    unsigned lacks; /* set of enum lacks (base/lacks.h); 0: nothing is known to lack */
};

/* Add NOTICE, and set the state if its kind is the word of a lack. */
void sums_origin_add(struct sums_origin *origin, const struct sums_notice *notice);

/* What was read lacks something: set the state, and add a notice about PATH (NULL: all files). TEXT and PATH are
 * borrowed, as long as the sums live. */
void sums_origin_lacks(struct sums_origin *origin, enum lack lack, const char *text, const char *path,
                       uint64_t count, int64_t offset);

/* Free what ORIGIN owns. */
void sums_origin_release(struct sums_origin *origin);

/* Move what FROM has behind what TO has. */
void sums_origin_adopt(struct sums_origin *to, struct sums_origin *from);

#endif
