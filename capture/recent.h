/*
 * recent.h - the ring of --ring: the most recent data of CUPTI and NVTX, untranslated, in bounded memory.
 *
 * Kept data costs a copy and is translated only when the ring is written. Old data is dropped, except what later
 * records refer to: devices, contexts and streams, and open ranges. For the writer's thread.
 */
#ifndef TPA_CAPTURE_RECENT_H
#define TPA_CAPTURE_RECENT_H

#include "capture/host_log.h"
#include "capture/translate.h"

struct recent;

/* New, of MOST bytes; NULL if out of memory. TRANSLATOR and HOST_LOG are borrowed; they receive the data. */
struct recent *recent_open(size_t most, struct translator *translator, struct host_log *host_log);
void recent_free(struct recent *recent);

/* Keep SIZE bytes of records, from a buffer that CUPTI returned at CAME_NS. */
void recent_add_records(struct recent *recent, uint8_t *bytes, size_t size, int64_t came_ns);

/* Keep the records in RING. */
void recent_drain(struct recent *recent, struct host_ring *ring);

/* Translate and remove all kept data. Returns the time since which it is complete, in ns of CLOCK_MONOTONIC. */
int64_t recent_write(struct recent *recent);

#endif
