/*
 * guest.h - the recording of this process: none, under way, or over.
 *
 * It begins when the CUDA driver loads the library (CUDA_INJECTION64_PATH), when NVTX does (NVTX_INJECTION64_PATH) or
 * with a call of tpa_capture.h, whichever is first; CUPTI joins it when CUDA is initialised. It ends with the process,
 * with --duration or the last of --steps, or with the first failure; it begins again only in a forked child.
 */
#ifndef TPA_CAPTURE_GUEST_H
#define TPA_CAPTURE_GUEST_H

#include "capture/control.h"
#include "capture/host_ring.h"
#include <stdbool.h>

/* Is a recording requested, by TPA_CAPTURE_OUTPUT or by preloading the library? */
bool guest_is_wanted(void);

/* Begin the recording without CUPTI, unless it has begun. Returns whether it is under way. */
bool guest_start(void);

/* Start CUPTI as well, now that CUDA is initialised. */
void guest_join_cupti(void);

/* Is a recording in progress? */
bool guest_is_running(void);

/* Settings of the current or last recording; borrowed. */
struct control *guest_control(void);

/* A new ring for the calling thread; NULL if there are too many threads. */
struct host_ring *guest_open_ring(void);

/* Count an event that was lost for lack of a ring. */
void guest_count_drop(void);

/* Wake the writer: a ring is half full. */
void guest_hurry(void);

#endif
