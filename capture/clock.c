#include "capture/parts.h"

#include <time.h>

static int64_t read_ns(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int64_t clock_now_ns(void)
{
    return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
    return read_ns(CLOCK_REALTIME);
}
