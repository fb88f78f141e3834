/* clock.h - the clocks of a recording. */
#ifndef TPA_CAPTURE_CLOCK_H
#define TPA_CAPTURE_CLOCK_H

#include <stdint.h>

/* CLOCK_MONOTONIC in ns: the clock of everything that is recorded. */
int64_t clock_now_ns(void);

/* CLOCK_REALTIME in ns. */
int64_t clock_wall_ns(void);

#endif
