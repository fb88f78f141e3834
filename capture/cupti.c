#include "capture/parts.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* CUDA 11.8, 12.0 and 12.1 all return 18. From 13 on the number has the version's digits: see CUPTI_13. */
enum { OLDEST_CUPTI = 18, NEWEST_CUPTI = 139999 };

/* The shared object name of each major version of CUDA, newest first. */
static const struct {
    int major;
    const char *name;
} sonames[] = { { 13, "libcupti.so.13" }, { 12, "libcupti.so.12" }, { 11, "libcupti.so.11.8" } };
enum { SONAME_COUNT = sizeof sonames / sizeof *sonames };

/* Paths in CUDA toolkits, for a library that the loader does not find; %s is the root of a toolkit. */
static const char *const places[] = { "%s/extras/CUPTI/lib64/%s", "%s/lib64/%s", "%s/lib/%s",
                                      "%s/targets/x86_64-linux/lib/%s", "%s/targets/sbsa-linux/lib/%s" };

static void *load_from_toolkits(const char *name)
{
    const char *const roots[] = { capture_variable("CUDA_HOME"), capture_variable("CUDA_PATH"),
                                  "/usr/local/cuda" };
    char path[PATH_MAX];
    for (size_t r = 0; r < sizeof roots / sizeof *roots; r++) {
        for (size_t p = 0; roots[r] && *roots[r] && p < sizeof places / sizeof *places; p++) {
            if (snprintf(path, sizeof path, places[p], roots[r], name) >= (int)sizeof path)
                continue;
            void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
            if (library)
                return library;
        }
    }
    return NULL;
}

/* CUPTI works with drivers of its own major version and later ones, so try the driver's version, then older ones, then
 * newer ones. */
static void *load_best(int driver)
{
    int wanted = driver / 1000;
    for (int pass = 0; pass < 2; pass++) {
        for (int i = 0; i < SONAME_COUNT; i++) {
            bool newer = wanted > 0 && sonames[i].major > wanted;
            if (newer != (pass == 1))
                continue;
            void *library = dlopen(sonames[i].name, RTLD_NOW | RTLD_LOCAL);
            if (!library)
                library = load_from_toolkits(sonames[i].name);
            if (library)
                return library;
        }
    }
    void *library = dlopen("libcupti.so", RTLD_NOW | RTLD_LOCAL);
    return library ? library : load_from_toolkits("libcupti.so");
}

static void *find_loaded(void)
{
    for (int i = 0; i < SONAME_COUNT; i++) {
        void *library = dlopen(sonames[i].name, RTLD_NOW | RTLD_NOLOAD);
        if (library)
            return library;
    }
    return NULL;
}

static bool find_functions(struct cupti *cupti, char *why, size_t why_size)
{
    /* A pointer to data is stored in a function pointer: POSIX allows it, ISO C does not. */
#define CUPTI_FIND(name) *(void **)&cupti->name = dlsym(cupti->library, #name);
    CUPTI_NEEDED(CUPTI_FIND)
    CUPTI_WELCOME(CUPTI_FIND)
#undef CUPTI_FIND
    *(void **)&cupti->subscribe_v2 = dlsym(cupti->library, "cuptiSubscribe_v2");
    *(void **)&cupti->enable_runtime_call = dlsym(cupti->library, "cuptiActivityEnableRuntimeApi");
    *(void **)&cupti->enable_driver_call = dlsym(cupti->library, "cuptiActivityEnableDriverApi");
    *(void **)&cupti->enable_hardware = dlsym(cupti->library, "cuptiActivityEnableHWTrace");
#define CUPTI_CHECK(name)                                                                                    \
    if (!cupti->name) {                                                                                      \
        snprintf(why, why_size,                                                                              \
                 "the CUPTI found has no " #name "; use --cupti to name one of CUDA 11.8 to 13");            \
        return false;                                                                                        \
    }
    CUPTI_NEEDED(CUPTI_CHECK)
#undef CUPTI_CHECK
    return true;
}

bool cupti_open(struct cupti *cupti, const char *path, char *why, size_t why_size)
{
    *cupti = (struct cupti){ .driver_version = driver_version() };
    if (path[0] != '\0') {
        cupti->library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
        if (!cupti->library) {
            const char *error = dlerror();
            snprintf(why, why_size, "cannot load CUPTI: %.400s; check --cupti", error ? error : path);
            return false;
        }
    } else {
        cupti->library = find_loaded();
        if (!cupti->library)
            cupti->library = load_best(cupti->driver_version);
        if (!cupti->library) {
            snprintf(
                why, why_size,
                "found no CUPTI (libcupti.so); install the CUDA toolkit or the Python package nvidia-cuda-cupti, "
                "or say where it is by --cupti");
            return false;
        }
    }
    if (!find_functions(cupti, why, why_size))
        return false;
    if (cupti->cuptiGetVersion(&cupti->version) != CUPTI_SUCCESS || cupti->version < OLDEST_CUPTI ||
        cupti->version > NEWEST_CUPTI) {
        snprintf(
            why, why_size,
            "CUPTI has version %u, and this tpa knows %d (CUDA 11.8) to %d (CUDA 13); give another by --cupti, or "
            "use another tpa",
            cupti->version, OLDEST_CUPTI, NEWEST_CUPTI);
        return false;
    }
    return true;
}

/* Arguments of both subscribe functions. */
struct subscription {
    CUpti_CallbackFunc callback;
    CUpti_TimestampCallbackFunc clock;
    CUpti_SubscriberHandle *subscriber;
    char other[256]; /* another client's name */
};

static CUptiResult subscribe_v1(const struct cupti *cupti, struct subscription *subscription)
{
    return cupti->cuptiSubscribe(subscription->subscriber, subscription->callback, (void *)(uintptr_t)cupti);
}

static CUptiResult subscribe_v2(const struct cupti *cupti, struct subscription *subscription)
{
    struct cupti_subscriber_params params = { sizeof params, "tpa capture", subscription->other,
                                              sizeof subscription->other };
    return cupti->subscribe_v2(subscription->subscriber, subscription->callback, (void *)(uintptr_t)cupti,
                               &params);
}

struct way {
    const char *name;
    CUptiResult (*subscribe)(const struct cupti *cupti, struct subscription *subscription);
};
static const struct way ways[] = { { "cuptiSubscribe", subscribe_v1 },
                                   { "cuptiSubscribe_v2", subscribe_v2 } };

/* Does CUPTI refuse the calls that we use after this way to subscribe? Other errors are reported by the calls
 * themselves, later. */
static bool calls_are_refused(const struct cupti *cupti, const struct subscription *subscription)
{
    uint64_t now;
    size_t dropped = 0;
    if (cupti->cuptiActivityRegisterTimestampCallback &&
        cupti->cuptiActivityRegisterTimestampCallback(subscription->clock) == CUPTI_ERROR_NOT_COMPATIBLE)
        return true;
    return cupti->cuptiGetTimestamp(&now) == CUPTI_ERROR_NOT_COMPATIBLE ||
           cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_ERROR_NOT_COMPATIBLE;
}

static CUptiResult try_way(struct cupti *cupti, const struct way *way, struct subscription *subscription)
{
    CUptiResult result = way->subscribe(cupti, subscription);
    if (result != CUPTI_SUCCESS)
        return result;
    if (!calls_are_refused(cupti, subscription)) {
        cupti->subscribed_by = way->name;
        return CUPTI_SUCCESS;
    }
    cupti->cuptiUnsubscribe(*subscription->subscriber);
    return CUPTI_ERROR_NOT_COMPATIBLE;
}

bool cupti_subscribe(struct cupti *cupti, CUpti_CallbackFunc callback, CUpti_TimestampCallbackFunc clock,
                     CUpti_SubscriberHandle *subscriber, char *why, size_t why_size)
{
    struct subscription subscription = { callback, clock, subscriber, "" };
    bool first_v2 = cupti->subscribe_v2 && cupti->version < CUPTI_13(3);
    CUptiResult result = try_way(cupti, &ways[first_v2], &subscription);
    if (result == CUPTI_SUCCESS)
        return true;
    /* If there is another client, cuptiSubscribe_v2 fails as well, and returns its name. */
    if (first_v2 ? result == CUPTI_ERROR_NOT_COMPATIBLE : cupti->subscribe_v2 != NULL) {
        CUptiResult second = try_way(cupti, &ways[!first_v2], &subscription);
        if (second == CUPTI_SUCCESS)
            return true;
        result = result == CUPTI_ERROR_NOT_COMPATIBLE ? second : result;
    }
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED)
        snprintf(why, why_size,
                 "another profiler holds CUPTI%s%.200s; run without it (torch.profiler, Nsight, a debugger)",
                 subscription.other[0] ? ": " : "", subscription.other);
    else
        cupti_explain(cupti, result, "cuptiSubscribe", why, why_size);
    return false;
}

void cupti_explain(const struct cupti *cupti, CUptiResult result, const char *doing, char *why,
                   size_t why_size)
{
    const char *name = NULL;
    if (cupti->cuptiGetResultString(result, &name) != CUPTI_SUCCESS || !name)
        name = "an error";
    const char *hint;
    switch ((int)result) {
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES:
    case CUPTI_ERROR_VIRTUALIZED_DEVICE_INSUFFICIENT_PRIVILEGES:
        hint =
            "run as root or with CAP_SYS_ADMIN, or set the option NVreg_RestrictProfilingToAdminUsers=0 of the kernel "
            "module nvidia (on a virtual machine: enable_profiling of the vGPU)";
        break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        hint = "another profiler holds CUPTI: run without it";
        break;
    case CUPTI_ERROR_NOT_INITIALIZED:
    case CUPTI_ERROR_UNKNOWN:
        hint = "is there a GPU, and a driver that is no older than this CUPTI? nvidia-smi shows both";
        break;
    case CUPTI_ERROR_OUT_OF_MEMORY: hint = "there is too little memory on the device or the host"; break;
    default: hint = "is the driver older than this CUPTI? --cupti takes another"; break;
    }
    snprintf(why, why_size, "%s gave %s; %s", doing, name, hint);
}
