/* fake_driver.c - cuInit of a CUDA driver, as far as it loads a tool; see fake_cupti.h. */
#include <dlfcn.h>
#include <stdlib.h>

#pragma GCC visibility push(default)
int cuInit(unsigned flags);
int cuDriverGetVersion(int *version);
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
    if (tool)
        *(void **)&function = dlsym(tool, "InitializeInjection");
    if (function)
        function();
    return 0;
}

int cuDriverGetVersion(int *version)
{
    *version = 12040;
    return 0;
}
