#define _GNU_SOURCE /* strcasestr */
#include "ingest/rocm.h"

#include <strings.h>

enum recorder_kind rocm_domain_kind(const char *domain)
{
    static const struct {
        const char *word;
        enum recorder_kind kind;
    } domains[] = {
        { "marker", RECORDER_ANNOTATION }, { "roctx", RECORDER_ANNOTATION }, { "user", RECORDER_ANNOTATION },
        { "hip", RECORDER_HIP },           { "hsa", RECORDER_HSA },          { "rccl", RECORDER_LIBRARY },
        { "pthread", RECORDER_SYSTEM },
    };
    const size_t count = sizeof domains / sizeof *domains;
    size_t found = count; /* the first of the list that is anywhere in DOMAIN */
    for (const char *at = domain; at && *at && found > 0; at++)
        for (size_t i = 0; i < found; i++)
            if ((*at | 0x20) == *domains[i].word &&
                strncasecmp(at, domains[i].word, strlen(domains[i].word)) == 0)
                found = i;
    return found < count ? domains[found].kind : RECORDER_KINDS;
}

enum recorder_kind rocm_host_kind(const char *domain, const char *name)
{
    enum recorder_kind kind = rocm_domain_kind(domain);
    return kind != RECORDER_KINDS           ? kind
           : strncmp(name, "hip", 3) == 0   ? RECORDER_HIP
           : strncmp(name, "hsa_", 4) == 0  ? RECORDER_HSA
           : strncmp(name, "roctx", 5) == 0 ? RECORDER_ANNOTATION
                                            : RECORDER_LIBRARY;
}

name_id rocm_copy_name(struct recorder *recorder, const char *name)
{
    static const char *const words[][3] = {
        { "HOST_TO_DEVICE", "HostToDevice", "Memcpy HtoD" },
        { "DEVICE_TO_HOST", "DeviceToHost", "Memcpy DtoH" },
        { "DEVICE_TO_DEVICE", "DeviceToDevice", "Memcpy DtoD" },
        { "HOST_TO_HOST", "HostToHost", "Memcpy HtoH" },
    };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcasestr(name, words[i][0]) || strcasestr(name, words[i][1]))
            return recorder_name(recorder, words[i][2], strlen(words[i][2]));
    return recorder_name(recorder, name, strlen(name));
}

int64_t rocm_blocks(int64_t work_items, int64_t block)
{
    return work_items < 0 || block <= 0 ? RECORDER_NONE : work_items / block + (work_items % block != 0);
}

bool rocm_is_memory(const char *level)
{
    return !level || !strcasestr(level, "VIRTUAL");
}
