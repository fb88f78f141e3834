/*
 * shorten.h - long names in few columns, still telling what they name.
 *
 *     void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul> >(int)
 *     at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<...>>(int)
 *     at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<...>, std::array<...>>(...)
 *     at::native::vectorized_elementwise_kernel<...>(...)
 *     at::native::vectorized_e...el<...>(...)
 *
 * As little goes as is needed, in that order: the return type, anonymous namespaces, parameters, template arguments
 * from the innermost and rightmost outwards, and at last the middle of whatever is left.
 */
#ifndef TPA_REPORT_SHORTEN_H
#define TPA_REPORT_SHORTEN_H

#include "base/buffer.h"
#include <stddef.h>

/*
 * Append the LEN bytes at NAME in at most MAX columns; returns how many it took. NAME is what escape_terminal gave,
 * and stays as it is when it fits.
 */
size_t shorten_name(struct buffer *out, const char *name, size_t len, size_t max);

/* The same for texts that are no names: only the middle goes, for "...". */
size_t shorten_middle(struct buffer *out, const char *s, size_t len, size_t max);

#endif
