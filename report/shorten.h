/*
 * shorten.h - long names in few columns, still telling what they name.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)
 *     at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(int)
 *     vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>(int)
 *     vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<...>>(int)
 *     vectorized_elementwise_kernel<4, CUDAFunctor_add<...>, array<...>>(int)
 *     vectorized_elementwise_kernel<...>(int)
 *     vectorized_elementwise_kernel
 *     vectorized_...e_kernel
 *
 * As little goes as is needed, in this order: the return type and anonymous namespaces; parameters; all namespaces;
 * template arguments from the innermost and rightmost outwards; what is left of both; and at last the middle of what is left.
 */
#ifndef TPA_REPORT_SHORTEN_H
#define TPA_REPORT_SHORTEN_H

#include "base/buffer.h"

/* Append the LEN bytes at NAME in at most MAX columns; returns how many it took. NAME is what escape_terminal gave,
 * and stays as it is when it fits. */
size_t shorten_name(struct buffer *out, const char *name, size_t len, size_t max);

/* The same for texts that are not names: the middle goes, for "...". A path loses its directories, from the
 * left, and keeps its file and line: ".../modules/module.py(276): forward", "module.py(276): forw...",
 * "...ule.py:276:forward". */
size_t shorten_middle(struct buffer *out, const char *s, size_t len, size_t max);

/* Append the LEN bytes at S in at most MAX columns, so that those in [BEGIN, END), whole characters, are seen: from the front where they have
 * room there, else from BEGIN on; with "..." for what is missing. */
size_t shorten_from(struct buffer *out, const char *s, size_t len, size_t begin, size_t end, size_t max);

/* The same for names between ", ": the last go, for "..."; the first is shortened as a name when it is too long alone. */
size_t shorten_list(struct buffer *out, const char *s, size_t len, size_t max);

/* A name from a trace as people read it: FULL gets it demangled. When that takes more than MAX columns, SHOWN gets it in
 * MAX, with control characters made visible, and the answer is true. */
bool shorten_readable(struct buffer *full, struct buffer *shown, const char *name, size_t len, size_t max);

#endif
