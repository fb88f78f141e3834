#include "capture/parts.h"

#include <stdlib.h>
#include <string.h>

/* What follows "cuda" or "cu" in the names of calls that do work on a device. */
/* clang-format off */
static const char *const work[] = {
    "Launch", "Memcpy", "Memset", "Malloc", "Free", "HostAlloc", "HostRegister", "HostUnregister",
    "MemAlloc", "MemFree", "MemHostAlloc", "MemHostRegister", "MemHostUnregister", "MemPrefetch",
    "MemAdvise", "MemCreate", "MemRelease", "MemMap", "MemUnmap", "MemDiscard",
    "MemPoolCreate", "MemPoolDestroy", "MemPoolTrim",
    "ArrayCreate", "Array3DCreate", "ArrayDestroy", "MipmappedArray",
    "GraphLaunch", "GraphInstantiate", "GraphExecUpdate", "GraphUpload", "GraphDestroy", "GraphExecDestroy",
    "StreamBeginCapture", "StreamEndCapture", "StreamSynchronize", "StreamWait", "StreamWrite",
    "StreamBatchMemOp", "StreamCreate", "StreamDestroy", "StreamAttach",
    "EventRecord", "EventSynchronize", "DeviceSynchronize", "CtxSynchronize", "ThreadSynchronize",
    "CtxCreate", "CtxDestroy", "DeviceReset", "DevicePrimaryCtx",
    "ModuleLoad", "ModuleUnload", "LibraryLoad", "LibraryUnload", "LinkComplete",
    "Signal", "WaitExternal", "ImportExternal", "DestroyExternal",
};

/* Calls with such a prefix that only query. */
static const char *const no_work[] = { "DevicePrimaryCtxGet", "MipmappedArrayGet", "GraphDestroyNode" };
/* clang-format on */

static bool begins_with_one_of(const char *name, const char *const *words, size_t count)
{
    for (size_t i = 0; i < count; i++)
        if (strncmp(name, words[i], strlen(words[i])) == 0)
            return true;
    return false;
}

bool capture_call_is_work(const char *name)
{
    if (strncmp(name, "cuda", 4) == 0)
        name += 4;
    else if (strncmp(name, "cu", 2) == 0)
        name += 2;
    return begins_with_one_of(name, work, sizeof work / sizeof *work) &&
           !begins_with_one_of(name, no_work, sizeof no_work / sizeof *no_work);
}

static size_t cut(const char *name, size_t len, const char *ending)
{
    size_t ending_len = strlen(ending);
    return len > ending_len && memcmp(name + len - ending_len, ending, ending_len) == 0 ? len - ending_len
                                                                                        : len;
}

/* "cudaLaunchKernel_ptsz_v7000" is cudaLaunchKernel: CUPTI appends the version, and "_ptsz" and "_ptds" only mark
 * programs compiled for a default stream per thread. The "_v2" of "cuMemcpyHtoD_v2" is part of its name. */
static size_t length_of_name(const char *name)
{
    size_t len = strlen(name), digits = 0;
    while (digits < len && name[len - 1 - digits] >= '0' && name[len - 1 - digits] <= '9')
        digits++;
    if (digits >= 4 && len > digits + 2 && memcmp(name + len - digits - 2, "_v", 2) == 0)
        len -= digits + 2;
    return cut(name, cut(name, len, "_ptsz"), "_ptds");
}

struct capture_calls *capture_calls_open(const struct cupti *cupti, bool all)
{
    static const CUpti_CallbackDomain domains[] = { CUPTI_CB_DOMAIN_RUNTIME_API, CUPTI_CB_DOMAIN_DRIVER_API };
    struct capture_calls *calls = calloc(1, sizeof *calls);
    if (!calls)
        return NULL;
    for (int api = 0; api < CAPTURE_API_COUNT; api++) {
        for (uint32_t cbid = 1; cbid < CAPTURE_MOST_CALLS; cbid++) {
            const char *name = NULL;
            if (cupti->cuptiGetCallbackName(domains[api], cbid, &name) != CUPTI_SUCCESS || !name)
                continue;
            calls->names[api][cbid] = strndup(name, length_of_name(name));
            calls->wanted[api][cbid] = all || capture_call_is_work(name);
        }
    }
    return calls;
}

CUptiResult capture_calls_enable(const struct capture_calls *calls, const struct cupti *cupti,
                                 enum capture_api api, bool on)
{
    static const CUpti_ActivityKind kinds[] = { CUPTI_ACTIVITY_KIND_RUNTIME, CUPTI_ACTIVITY_KIND_DRIVER };
    cupti_enable_call_function *enable =
        api == CAPTURE_API_RUNTIME ? cupti->enable_runtime_call : cupti->enable_driver_call;
    CUptiResult result = CUPTI_SUCCESS;
    if (!enable)
        return on ? cupti->cuptiActivityEnable(kinds[api]) : cupti->cuptiActivityDisable(kinds[api]);
    for (uint32_t cbid = 1; cbid < CAPTURE_MOST_CALLS && result == CUPTI_SUCCESS; cbid++)
        if (calls->wanted[api][cbid])
            result = enable(cbid, on);
    return result;
}
