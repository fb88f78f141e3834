/*
 * copy_names.h - the direction of a copy and the memory on its host side, from its name.
 *
 * Kineto: "Memcpy HtoD (Pinned -> Device)"; TensorFlow: "MemcpyH2D"; ROCm: "CopyHostToDevice", "Memcpy HtoD (Host ->
 * Device)". Call once per name. TensorFlow and JAX record the memory as an argument (ARG_COPY_MEMORY).
 */
#ifndef TPA_DERIVE_COPY_NAMES_H
#define TPA_DERIVE_COPY_NAMES_H

enum copy_direction {
    COPY_UNKNOWN,
    COPY_HTOD,
    COPY_DTOH,
    COPY_DTOD,
    COPY_PTOP,
    COPY_HTOH,
    COPY_MANAGED,
    COPY_DIRECTIONS
};

enum copy_memory {
    MEMORY_NONE,
    MEMORY_UNKNOWN,
    MEMORY_PAGEABLE,
    MEMORY_PINNED,
    MEMORY_MANAGED,
    COPY_MEMORIES
};

struct copy_kind {
    enum copy_direction direction;
    enum copy_memory memory; /* of the host side; MEMORY_NONE if neither side is the host */
};

/* The direction and host memory in the name of a copy; unknown parts have the value for unknown. */
struct copy_kind copy_kind_of(const char *name);

/* KIND, with the memory of the host side replaced by the copy's argument MEMORY ("pinned"), which may be NULL. */
struct copy_kind copy_kind_with(struct copy_kind kind, const char *memory);

const char *copy_direction_name(enum copy_direction direction); /* "HtoD" */
const char *copy_memory_name(enum copy_memory memory);          /* "pageable"; NULL for MEMORY_NONE */

#endif
