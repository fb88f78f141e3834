/*
 * host_log.h - NVTX ranges, marks and steps out of the rings and into the log. Runs on the writer's thread.
 *
 * A range that begins and ends between two flushes is one RANGE record. What is still open at a flush is written as
 * a half, a MARKER, and its end as another, so that a killed process leaves its open ranges in the log.
 */
#ifndef TPA_CAPTURE_HOST_LOG_H
#define TPA_CAPTURE_HOST_LOG_H

#include "capture/host_ring.h"
#include "capture/translate.h"

struct host_log;

/* New; NULL without memory. TRANSLATOR is borrowed: its log is written to. */
struct host_log *host_log_open(struct translator *translator);
void host_log_free(struct host_log *log);

/* Take the records in RING. False when the log cannot be written. */
bool host_log_drain(struct host_log *log, struct host_ring *ring);

/* Take one EVENT of the thread TID. */
void host_log_take(struct host_log *log, uint32_t tid, const struct host_event *event);

/* Write the halves of ranges that are open. Before every flush of the log. */
bool host_log_flush(struct host_log *log);

/* The thread TID has ended: its ranges end with it. */
void host_log_forget_thread(struct host_log *log, uint32_t tid);

#endif
