/*
 * kinds.h - the kinds of records, by the words of `tpa capture --kinds`.
 *
 *     kernel,memcpy        only these
 *     no-memory,no-sync    all but these
 *     all                  everything, which is the default
 */
#ifndef TPA_CAPTURE_KINDS_H
#define TPA_CAPTURE_KINDS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* constant, word, description */
#define CAPTURE_KINDS(KIND)                                                                                  \
    KIND(KERNEL, "kernel", "kernels")                                                                        \
    KIND(MEMCPY, "memcpy", "copies")                                                                         \
    KIND(MEMSET, "memset", "memsets")                                                                        \
    KIND(RUNTIME, "runtime", "calls of the CUDA runtime")                                                    \
    KIND(DRIVER, "driver", "calls of the CUDA driver")                                                       \
    KIND(SYNC, "sync", "waits for streams, events and devices")                                              \
    KIND(MEMORY, "memory", "allocations and frees")                                                          \
    KIND(NVTX, "nvtx", "NVTX ranges and marks")                                                              \
    KIND(EXTERNAL, "external", "external correlation ids")                                                   \
    KIND(OVERHEAD, "overhead", "time that CUPTI itself uses")                                                \
    KIND(ENVIRONMENT, "device", "devices, contexts and streams")

enum capture_kind_index {
#define CAPTURE_KIND_INDEX(id, word, what) CAPTURE_##id##_INDEX,
    CAPTURE_KINDS(CAPTURE_KIND_INDEX)
#undef CAPTURE_KIND_INDEX
        CAPTURE_KIND_COUNT
};

enum capture_kind {
#define CAPTURE_KIND_BIT(id, word, what) CAPTURE_##id = 1 << CAPTURE_##id##_INDEX,
    CAPTURE_KINDS(CAPTURE_KIND_BIT)
#undef CAPTURE_KIND_BIT
};

struct capture_kind_row {
    const char *word;
    const char *what;
};

extern const struct capture_kind_row capture_kinds[CAPTURE_KIND_COUNT];

#define CAPTURE_ALL_KINDS ((UINT32_C(1) << CAPTURE_KIND_COUNT) - 1)

/* Read a list of words separated by commas into *KINDS. False for an unknown word, which *BAD and *BAD_LEN then locate
 * (borrowed). */
bool capture_kinds_parse(const char *text, uint32_t *kinds, const char **bad, size_t *bad_len);

#endif
