/*
 * renames.h - names of kernels and functions that differ only in parts changed by a compiler or an edit.
 *
 *     struct buffer masked = { 0 };
 *     rename_mask(&masked, "triton_poi_fused_add_3", 22, RENAME_NUMBERS);      // triton_poi_fused_add_#
 *     renames_pair(gone, gone_count, come, come_count, pairs, ...);
 *
 * Kinds of pairs, the most certain first:
 *   RENAME_VENDOR    a call of the runtime or driver has the prefix of another vendor: cudaLaunchKernel and hipLaunchKernel
 *   RENAME_NUMBERS   hashes, addresses, line numbers and running numbers differ: fused_add_3 and fused_add_5
 *   RENAME_TYPES     so do numbers and scalar types among template arguments and parameters: gemm<float, 128>(float*)
 *                    and gemm<half, 64>(half*)
 *   RENAME_TEMPLATE  so does anything among these; only where there is one name on each side
 *   RENAME_ALONE     the only name that is left on each side, of a row that was called as often (by the caller, not by
 *                    renames_pair)
 */
#ifndef TPA_DIFF_RENAMES_H
#define TPA_DIFF_RENAMES_H

#include "base/buffer.h"
#include "base/names.h"

enum rename_kind {
    RENAME_VENDOR,
    RENAME_NUMBERS,
    RENAME_TYPES,
    RENAME_TEMPLATE,
    RENAME_KINDS,
    RENAME_ALONE = RENAME_KINDS
};

/* "the prefix of the vendor", "hashes and numbers", "types and numbers in template arguments", "template arguments". */
const char *rename_kind_text(enum rename_kind kind);

/* Append NAME (LEN bytes) with # in place of the parts that may differ in KIND. */
void rename_mask(struct buffer *out, const char *name, size_t len, enum rename_kind kind);

struct rename {
    size_t gone, come; /* indices into the given lists */
    enum rename_kind kind;
};

/* A name of one side. */
struct rename_name {
    const char *text;
    size_t len;
};

/* Pair names that only one side has with names that only the other has, each at most once. PAIRS has room for the
 * length of the shorter list; returns the number of pairs. Several names with equal masks are paired in the order of
 * the numbers in them. */
size_t renames_pair(const struct rename_name *gone, size_t gone_count, const struct rename_name *come,
                    size_t come_count, struct rename *pairs);

#endif
