/* fake_driver.c - what is used of a CUDA driver: cuInit, which loads a tool, and one device; see fake_cupti.h. */
#define _GNU_SOURCE /* RTLD_DEFAULT */
#include <dlfcn.h>
#include <stdlib.h>

#pragma GCC visibility push(default)
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
int cuDeviceGetCount(int *count);
int cuDeviceGet(int *device, int number);
int cuDeviceGetAttribute(int *value, int attribute, int device);
#pragma GCC visibility pop

int cuInit(unsigned flags)
{
    static int done;
    typedef int initialize(void);
    (void)flags;
    const char *path = getenv("CUDA_INJECTION64_PATH");
    if (done++ || !path || !*path)
        return 0;
    void *tool = dlopen(path, RTLD_NOW);
    initialize *function = NULL;
    void (*ready)(void) = NULL;
    if (tool)
        *(void **)&function = dlsym(tool, "InitializeInjection");
    if (function)
        function();
    *(void **)&ready = dlsym(RTLD_DEFAULT, "fake_cupti_driver_ready");
    if (ready && !getenv("FAKE_CUDA_SILENT"))
        ready();
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return 0;
}

int cuDeviceGetCount(int *count)
{
    *count = 1;
    return 0;
}

int cuDeviceGet(int *device, int number)
{
    *device = number;
    return number < 4 ? 0 : 101;
}

int cuDeviceGetAttribute(int *value, int attribute, int device)
{
    enum { MAJOR = 75, MINOR = 76, MPS = 133 };
    const char *capability = getenv("FAKE_CUDA_CAPABILITY"), *mps = getenv("FAKE_CUDA_MPS");
    int number = capability ? atoi(capability) : 90;
    (void)device;
    switch (attribute) {
    case MAJOR: *value = number / 10; return 0;
    case MINOR: *value = number % 10; return 0;
    case MPS: *value = mps ? atoi(mps) : 0; return 0;
    default: return 1;
    }
}
