/*
 * collective_names.h - the kind of a collective, its library and its element type, from names.
 *
 * Call once per name. Producers spell the same thing in many ways: "allreduce", "nccl:all_reduce", "c10d::allreduce_",
 * "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" are all COLLECTIVE_ALL_REDUCE.
 */
#ifndef TPA_DERIVE_COLLECTIVE_NAMES_H
#define TPA_DERIVE_COLLECTIVE_NAMES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum collective_kind {
    COLLECTIVE_UNKNOWN,
    COLLECTIVE_ALL_REDUCE,
    COLLECTIVE_ALL_GATHER,
    COLLECTIVE_REDUCE_SCATTER,
    COLLECTIVE_ALL_TO_ALL,
    COLLECTIVE_BROADCAST,
    COLLECTIVE_REDUCE,
    COLLECTIVE_GATHER,
    COLLECTIVE_SCATTER,
    COLLECTIVE_BARRIER,
    COLLECTIVE_SEND,
    COLLECTIVE_RECV,
    COLLECTIVE_SEND_RECV, /* NCCL's kernel for sends and receives; all-to-all is made of it too */
    COLLECTIVE_KINDS
};

/* The kind of collective in NAME, of a kernel, an operator, an annotation or an argument. */
enum collective_kind collective_kind_of(const char *name);

/* "all_reduce"; "unknown". */
const char *collective_kind_name(enum collective_kind kind);

/* Does every rank have to arrive before any can leave? False for collectives with one source or target. */
bool collective_joins_all(enum collective_kind kind);

/* The factor between bus bandwidth and algorithmic bandwidth on RANKS ranks, as defined by NCCL's tests. RANKS is -1 if
 * unknown; then NAN, unless the factor is 1 for any number. */
double collective_bus_factor(enum collective_kind kind, int64_t ranks);

/* The size of a collective in elements or bytes as NCCL's tests count it, on which the algorithmic bandwidth is based:
 * the part of the data that one rank holds before or after. IN and OUT are the input and output of one rank, RANKS the
 * number of ranks; -1 if unknown. Returns -1 if unknown. */
int64_t collective_size(enum collective_kind kind, int64_t in, int64_t out, int64_t ranks);

/* The library of a kernel, operator or annotation of this name: "NCCL", "gloo" ...; NULL if unknown. */
const char *collective_library_of(const char *name);

/* Is it a region of a library that communicates on the host: "gloo:all_reduce", "mpi:..."? */
bool collective_runs_on_host(const char *name);

/* An element type by any of its names. */
struct element_type {
    const char *name; /* torch's: "bfloat16" */
    int size_bytes;
};

/* NULL if the text is unknown. TEXT is spelled as in arguments: "BFloat16", "c10::BFloat16", "long int". */
const struct element_type *element_type_of(const char *text, size_t len);

/* The type in the name of an NCCL kernel that reduces ("..._Sum_f32_...", "..._Sum_float(...)"); NULL if there is none.
 * Kernels that only move data are named after bytes, regardless of the type. */
const struct element_type *element_type_of_kernel(const char *kernel);

#endif
