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

/* The number that the function NAME of the driver stores; 0 if it fails. */
static int number_of_driver(const char *name)
{
    int (*get)(int *) = NULL;
    *(void **)&get = function_of_driver(name);
    int number = 0;
    return get && get(&number) == 0 ? number : 0;
}

int driver_version(void)
{
    return number_of_driver("cuDriverGetVersion");
}

int driver_device_count(void)
{
    return number_of_driver("cuDeviceGetCount");
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
