/*
 * recent.h - the ring of --ring: the last that CUPTI and NVTX handed over, as they handed it over, in bounded memory.
 *
 * What is kept costs a copy and is not translated before somebody wants it. What falls out is gone, except what the
 * log must know of later records: devices, contexts and streams, and which ranges were open. For the writer's thread.
 */
#ifndef TPA_CAPTURE_RECENT_H
#define TPA_CAPTURE_RECENT_H

#include "capture/host_log.h"
#include "capture/translate.h"

struct recent;

/* New, of MOST bytes; NULL without memory. TRANSLATOR and HOST_LOG are borrowed: it all ends up there. */
struct recent *recent_open(size_t most, struct translator *translator, struct host_log *host_log);
void recent_free(struct recent *recent);

/* Keep SIZE bytes of records, from a buffer that CUPTI handed over at CAME_NS. */
void recent_add_records(struct recent *recent, uint8_t *bytes, size_t size, int64_t came_ns);

/* Keep the records in RING. */
void recent_drain(struct recent *recent, struct host_ring *ring);

/* Translate all that is kept, and keep it no more. Since when there is all of it, in ns of CLOCK_MONOTONIC. */
int64_t recent_write(struct recent *recent);

#endif
