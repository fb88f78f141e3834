/*
 * collective_names.h - which collective a name means, which library runs it, and how large its elements are.
 *
 * To be called once per name. Producers spell one thing in many ways: "allreduce", "nccl:all_reduce",
 * "c10d::allreduce_", "ncclDevKernel_AllReduce_Sum_f32_RING_LL(...)" are all COLLECTIVE_ALL_REDUCE.
 */
#ifndef TPA_FACTS_COLLECTIVE_NAMES_H
#define TPA_FACTS_COLLECTIVE_NAMES_H

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

/* The kind that NAME, of a kernel, an operator, an annotation or an argument, tells. */
enum collective_kind collective_kind_of(const char *name);

/* "all_reduce"; "unknown". */
const char *collective_kind_name(enum collective_kind kind);

/* Does every rank have to arrive before any can leave? Not so where one rank gives or takes for all. */
bool collective_joins_all(enum collective_kind kind);

/*
 * What the bus carries per byte of the collective on RANKS ranks, as NCCL's tests define it: bus bandwidth =
 * algorithmic bandwidth times this. RANKS is -1 when unknown; then NAN, except where it is 1 for any number.
 */
double collective_bus_factor(enum collective_kind kind, int64_t ranks);

/*
 * The size of a collective in elements or bytes as NCCL's tests count it, which the algorithmic bandwidth is of: what
 * one rank holds of the whole before or after. IN and OUT are what one rank gives and gets, RANKS how many there are;
 * -1 when unknown. -1 when they do not tell.
 */
int64_t collective_size(enum collective_kind kind, int64_t in, int64_t out, int64_t ranks);

/* The library that a kernel, operator or annotation of this name is of: "NCCL", "gloo" ...; NULL when not recorded. */
const char *collective_library_of(const char *name);

/* Is it a region of a library that communicates on the host: "gloo:all_reduce", "mpi:..."? */
bool collective_runs_on_host(const char *name);

/* An element type by any of its names. */
struct element_type {
    const char *name; /* torch's: "bfloat16" */
    int size_bytes;
};

/* NULL when the text is unknown. TEXT is as arguments have it: "BFloat16", "c10::BFloat16", "long int". */
const struct element_type *element_type_of(const char *text, size_t len);

/*
 * The type in the name of an NCCL kernel that reduces ("..._Sum_f32_...", "..._Sum_float(...)"); NULL when it tells
 * none. Kernels that only move data are named after bytes, whatever they move.
 */
const struct element_type *element_type_of_kernel(const char *kernel);

#endif
