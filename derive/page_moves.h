/*
 * page_moves.h - pages of unified memory that move as they are touched: no call launches them.
 *
 *     const struct page_moves *moves = page_moves_of(trace);
 *     if (intervals_length_within(&moves->by_host[file], start_ns, end_ns) > 0)
 *         ...                                        // the host reads or writes unified memory meanwhile
 *
 * While a kernel runs, the kernel touches the pages, and waits for them; while none runs, the host touches them, or asks for them.
 */
#ifndef TPA_DERIVE_PAGE_MOVES_H
#define TPA_DERIVE_PAGE_MOVES_H

#include "trace/intervals.h"
#include "trace/trace.h"

/* When pages moved: by file, on its clock. */
struct page_moves {
    struct intervals *by_host,
        *by_kernels; /* while no kernel ran on the devices of the file; while one did */
};

/* Those of TRACE, derived when first requested. Borrowed; live as long as TRACE. */
const struct page_moves *page_moves_of(const struct trace *trace);

#endif
