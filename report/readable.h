/*
 * readable.h - names demangled and shortened as shorten_readable does, each computed once.
 *
 *     struct readable *names = readable_open(40);
 *     const struct readable_name *name = readable_of(names, text, len);
 *     // name->shorter ? name->shown : name->full
 *     arena_free(names);
 *
 * The tables of a page name the same kernels again and again, and a C++ name takes long to shorten.
 */
#ifndef TPA_REPORT_READABLE_H
#define TPA_REPORT_READABLE_H

#include "base/table.h"

struct readable_name {
    struct text full, shown; /* NUL-terminated; shown is empty where full is not wider than allowed */
    bool shorter;
};

struct readable;

/* New: names are to take no more than MAX columns. Free with arena_free (NULL is allowed). */
struct readable *readable_open(size_t max);

/* How many columns a name may take. */
size_t readable_max(const struct readable *readable);

/* The name of LEN bytes, as it is in the trace. Borrowed, lives as long as READABLE. */
const struct readable_name *readable_of(struct readable *readable, const char *name, size_t len);

#endif
