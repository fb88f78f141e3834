#include "capture/parts.h"

#include <dlfcn.h>

/* The driver's function NAME, or NULL. The driver is never unloaded. */
static void *function_of_driver(const char *name)
{
    void *driver = dlopen("libcuda.so.1", RTLD_NOW | RTLD_NOLOAD);
    void *function = dlsym(driver ? driver : RTLD_DEFAULT, name);
    if (driver)
        dlclose(driver);
    return function;
}

int driver_version(void)
{
    int (*get_version)(int *) = NULL;
    *(void **)&get_version = function_of_driver("cuDriverGetVersion");
    int version = 0;
    return get_version && get_version(&version) == 0 ? version : 0;
}

int driver_device_count(void)
{
    int (*get_count)(int *) = NULL;
    *(void **)&get_count = function_of_driver("cuDeviceGetCount");
    int count = 0;
    return get_count && get_count(&count) == 0 ? count : 0;
}

int driver_attribute(int number, enum driver_attribute attribute)
{
    int (*get_device)(int *, int) = NULL;
    int (*get_attribute)(int *, int, int) = NULL;
    *(void **)&get_device = function_of_driver("cuDeviceGet");
    *(void **)&get_attribute = function_of_driver("cuDeviceGetAttribute");
    int device = 0, value = -1;
    if (!get_device || !get_attribute || get_device(&device, number) != 0 ||
        get_attribute(&value, (int)attribute, device) != 0)
        return -1;
    return value;
}
