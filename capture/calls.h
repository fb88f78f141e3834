/*
 * calls.h - which calls of the CUDA runtime and driver are recorded, by name.
 *
 * CUPTI numbers the calls, and each CUDA adds some; their names it tells at run time. So one library built against one
 * CUDA chooses right with any. By default those are recorded that launch, copy, set, allocate, free, wait or deal in
 * events and graphs; the many queries (cudaGetDevice, cudaGetLastError, ...) cost time and carry no information.
 */
#ifndef TPA_CAPTURE_CALLS_H
#define TPA_CAPTURE_CALLS_H

#include "capture/cupti.h"

enum capture_api { CAPTURE_API_RUNTIME, CAPTURE_API_DRIVER, CAPTURE_API_COUNT };

enum { CAPTURE_MOST_CALLS = 4096 }; /* numbers above are unknown to any CUPTI */

struct capture_calls {
    /* By API and number: the name, "cudaLaunchKernel"; NULL where there is none. */
    char *names[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
    bool wanted[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
};

/* Ask CUPTI for all names, and choose; with ALL every call. New; NULL without memory. Lives as long as the library. */
struct capture_calls *capture_calls_open(const struct cupti *cupti, bool all);

/* Is a call of this NAME ("cudaLaunchKernel", "cuMemcpyHtoDAsync_v2") one that does work? */
bool capture_call_is_work(const char *name);

/*
 * Have CUPTI record the calls of API, or no more. Where CUPTI cannot choose between calls (before CUDA 12.9), all are
 * recorded, and whoever reads the records leaves out those that are not wanted.
 */
CUptiResult capture_calls_enable(const struct capture_calls *calls, const struct cupti *cupti,
                                 enum capture_api api, bool on);

#endif
