/*
 * nvtx.h - NVTX ranges, marks and domains, by attaching as NVTX's tool.
 *
 * CUPTI can record NVTX too, but then it would have to be the tool that NVTX loads: ranges would depend on a GPU and on
 * CUPTI being free, --range would need CUPTI's callbacks, and a push and a pop would take two records of 56 bytes and a
 * lock. So the library attaches to NVTX itself. An event costs one clock read and one copy, without a lock
 * (host_ring.h).
 *
 * The interface between NVTX 2 and 3 and tools is declared here, because its headers are not shipped with CUPTI's.
 */
#ifndef TPA_CAPTURE_NVTX_H
#define TPA_CAPTURE_NVTX_H

#include <stdbool.h>
#include <stdint.h>

typedef const void *nvtx_get_export_table(uint32_t table);

/* Set our functions in NVTX. NVTX calls this once for every library of the process that has NVTX compiled into it. */
bool nvtx_attach(nvtx_get_export_table *get_export_table);

/* Push or pop a range of the default domain on this thread. Returns its depth, or TPA_CAPTURE_INVALID for a pop without
 * a push. */
int nvtx_push(const char *name);
int nvtx_pop(void);

/* A step begins on this thread. Returns its number. */
int nvtx_step(void);

#endif
