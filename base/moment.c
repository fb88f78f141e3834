#include "base/moment.h"

#include "base/quantity.h"
#include <inttypes.h>
#include <time.h>

enum { NS_PER_S = 1000000000 };

/* False, with nothing stored, on overflow of 64 bits. */
static bool in_ns(int64_t seconds, int64_t *time_ns)
{
    int64_t product;
    if (__builtin_mul_overflow(seconds, (int64_t)NS_PER_S, &product))
        return false;
    *time_ns = product;
    return true;
}

bool moment_parse(const char *text, int64_t *time_ns)
{
    int64_t seconds;
    if (*text == '@')
        return quantity_parse_integer(text + 1, strlen(text + 1), &seconds) && in_ns(seconds, time_ns);
    static const char *const forms[] = { "%Y-%m-%d",        "%Y-%m-%d %H:%M",     "%Y-%m-%d %H:%M:%S",
                                         "%Y-%m-%dT%H:%MZ", "%Y-%m-%dT%H:%M:%SZ", "%Y-%m-%dT%H:%M:%S" };
    for (size_t i = 0; i < sizeof forms / sizeof *forms; i++) {
        struct tm parts = { 0 };
        const char *end = strptime(text, forms[i], &parts);
        if (!end || *end)
            continue;
        struct tm normal = parts;
        seconds = timegm(&normal);
        /* Normalisation would turn the 30th of February into the 2nd of March. */
        return normal.tm_mday == parts.tm_mday && normal.tm_mon == parts.tm_mon && in_ns(seconds, time_ns);
    }
    return false;
}

void moment_append(struct buffer *out, int64_t time_ns)
{
    time_t seconds = (time_t)(time_ns / NS_PER_S - (time_ns % NS_PER_S < 0));
    struct tm parts;
    char text[64];
    if (gmtime_r(&seconds, &parts) && strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &parts) > 0)
        buffer_puts(out, text);
    else
        buffer_printf(out, "@%" PRId64, (int64_t)seconds);
}

static int64_t time_of(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (int64_t)now.tv_sec * NS_PER_S + now.tv_nsec;
}

int64_t moment_now(void)
{
    return time_of(CLOCK_REALTIME);
}

int64_t moment_steady(void)
{
    return time_of(CLOCK_MONOTONIC);
}
