/* page_uses.h - what each line of code had in use at any time, in as many changes as a page has room for. */
#ifndef TPA_REPORT_PAGE_USES_H
#define TPA_REPORT_PAGE_USES_H

#include "base/timeline.h"

/* Changes by time, then name; of one name at one time there is one. What adds up to nothing is left out. */
struct page_uses {
    VEC_OF(struct timeline_use);
    int64_t every_ns; /* times are multiples of it; at each of them the sums are exact */
};

/* The uses of TIMELINE. Where they are more than MOST, times are rounded up to what makes them fewer. Free with
 * VEC_FREE. */
struct page_uses page_uses_of(const struct timeline *timeline, size_t most);

#endif
