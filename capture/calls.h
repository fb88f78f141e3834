/*
 * calls.h - which calls of the CUDA runtime and driver are recorded, by name.
 *
 * CUPTI numbers the calls, and each version of CUDA adds some; CUPTI returns their names at run time. So a library
 * built against one version of CUDA chooses correctly with all versions. By default those calls are recorded that
 * launch, copy, set, allocate, free, wait or handle events and graphs; the many queries (cudaGetDevice,
 * cudaGetLastError, ...) cost time and carry no information.
 */
#ifndef TPA_CAPTURE_CALLS_H
#define TPA_CAPTURE_CALLS_H

#include "capture/cupti.h"

enum capture_api { CAPTURE_API_RUNTIME, CAPTURE_API_DRIVER, CAPTURE_API_COUNT };

enum { CAPTURE_MOST_CALLS = 4096 }; /* no version of CUPTI has larger numbers */

struct capture_calls {
    /* By API and number: the name, "cudaLaunchKernel"; NULL if there is none. */
    char *names[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
    bool wanted[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
};

/* Get all names from CUPTI, and choose the calls; with ALL every call. New, never freed; NULL if out of memory. */
struct capture_calls *capture_calls_open(const struct cupti *cupti, bool all);

/* Is a call of this NAME ("cudaLaunchKernel", "cuMemcpyHtoDAsync_v2") one that does work on a device? */
bool capture_call_is_work(const char *name);

/*
 * Switch CUPTI's recording of the calls of API on or off. If CUPTI cannot select calls (before CUDA 12.9), all are
 * recorded, and translate.c drops the records that are not wanted.
 */
CUptiResult capture_calls_enable(const struct capture_calls *calls, const struct cupti *cupti,
                                 enum capture_api api, bool on);

#endif
