/*
 * apart.h - the names of a column, shortened so that different ones never look the same.
 *
 *     struct apart *names = apart_open(40);
 *     apart_add(names, name, len);                    // every name of the column
 *     apart_fill_names(names, &full, &shown, name, len);    // each again
 *     arena_free(names);
 *
 * A name is shortened as shorten.h does. Where several different names would look the same, what they differ in follows in
 * brackets, and only that:
 *
 *     void at::native::elementwise_kernel<128, 4, gpu_kernel_impl<BinaryFunctor<bf16, bf16, bf16, AddFunctor<float>>>>(int)
 *     void at::native::elementwise_kernel<128, 4, gpu_kernel_impl<BinaryFunctor<bf16, bf16, bf16, MulFunctor<float>>>>(int)
 *
 *     elementwise_kernel [AddFunctor]
 *     elementwise_kernel [MulFunctor]
 *
 * If even that is too long or does not help, they are numbered: "gemm... #2".
 */
#ifndef TPA_REPORT_APART_H
#define TPA_REPORT_APART_H

#include "report/readable.h"

struct apart;

/* New: names are to take no more than MAX columns. Free with arena_free (NULL is allowed). */
struct apart *apart_open(size_t max);

/* Add a name of LEN bytes, as it is in the trace; again is allowed. All are to be added before the first is shown. */
void apart_add(struct apart *apart, const char *name, size_t len);

/* How much of TEXT is the longest name that was added with which it begins, before a comma, colon or semicolon or its end; 0: none. */
size_t apart_find_begin(const struct apart *apart, const char *text);

/* FULL gets the name demangled, as shorten_readable; where it takes more than MAX columns, SHOWN gets it shortened, with
 * control characters made visible, and the answer is true. The name was added. Both are NUL-terminated and borrowed; they
 * live as long as APART. */
bool apart_fill_names(struct apart *apart, struct text *full, struct text *shown, const char *name,
                      size_t len);

#endif
