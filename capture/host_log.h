/*
 * host_log.h - moves NVTX ranges, marks and steps from the rings to the log. Runs on the writer's thread.
 *
 * A range that begins and ends between two flushes is one RANGE record. A range still open at a flush is written as a
 * MARKER for its beginning, and later one for its end, so that the log of a killed process holds its open ranges.
 */
#ifndef TPA_CAPTURE_HOST_LOG_H
#define TPA_CAPTURE_HOST_LOG_H

#include "capture/host_ring.h"
#include "capture/translate.h"

struct host_log;

/* New; NULL if out of memory. TRANSLATOR is borrowed; records go to its log. */
struct host_log *host_log_open(struct translator *translator);
void host_log_free(struct host_log *log);

/* Consume the records in RING. False if the log cannot be written. */
bool host_log_drain(struct host_log *log, struct host_ring *ring);

/* Log one EVENT of the thread TID. */
void host_log_collect(struct host_log *log, uint32_t tid, const struct host_event *event);

/* Write a MARKER for the beginning of each open range. Call before every flush of the log. */
bool host_log_flush(struct host_log *log);

/* The thread TID has ended: its ranges end with it. */
void host_log_forget_thread(struct host_log *log, uint32_t tid);

#endif
