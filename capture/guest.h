/*
 * guest.h - the recording of this process: none, under way, or over.
 *
 * It begins when the CUDA driver loads the library (CUDA_INJECTION64_PATH), when NVTX does (NVTX_INJECTION64_PATH) or
 * with a call of tpa_capture.h, whichever is first; CUPTI joins it when CUDA is initialised. It ends with the process,
 * with --duration or the last of --steps, or with the first trouble; it never begins again, but in a forked child.
 */
#ifndef TPA_CAPTURE_GUEST_H
#define TPA_CAPTURE_GUEST_H

#include "capture/control.h"
#include "capture/host_ring.h"
#include <stdbool.h>

/* Did somebody request a recording: is there a TPA_CAPTURE_OUTPUT, or was the library preloaded? */
bool guest_is_wanted(void);

/* Begin the recording without CUPTI, unless it has begun. Is it under way? */
bool guest_start(void);

/* Have CUPTI record, too, now that CUDA is initialized. */
void guest_join_cupti(void);

bool guest_is_running(void);

/* Of the recording that is under way, or was. */
struct control *guest_control(void);

/* A ring for the calling thread; NULL when there are too many threads. */
struct host_ring *guest_open_ring(void);

/* Count an event that was lost for lack of a ring. */
void guest_count_drop(void);

/* A ring is half full. */
void guest_hurry(void);

#endif
