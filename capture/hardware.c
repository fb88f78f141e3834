#include "capture/parts.h"

#include <stdio.h>

enum { LEAST_CAPABILITY = 10 };
enum hardware_state { HARDWARE_OFF, HARDWARE_WAITS, HARDWARE_ON };

static _Atomic enum hardware_state state;

static void refuse(const char *why)
{
    atomic_store(&state, HARDWARE_OFF);
    notes_add("no_hardware_times",
              "--hardware-times is refused: %s; kernels have the times of CUPTI's own code", why);
}

/* True if the devices may support it, as far as known; else false and the reason in WHY. CUPTI itself makes the final
 * decision. */
static bool devices_do_it(char *why, size_t why_size)
{
    int count = driver_device_count();
    for (int device = 0; device < count; device++) {
        int major = driver_attribute(device, DRIVER_CAPABILITY_MAJOR);
        int minor = driver_attribute(device, DRIVER_CAPABILITY_MINOR);
        if (major >= 0 && major < LEAST_CAPABILITY) {
            snprintf(why, why_size,
                     "device %d has compute capability %d.%d, but %d.0 (Blackwell) is required", device,
                     major, minor < 0 ? 0 : minor, LEAST_CAPABILITY);
            return false;
        }
        if (driver_attribute(device, DRIVER_MPS_ENABLED) == 1) {
            snprintf(why, why_size, "device %d is shared by MPS", device);
            return false;
        }
    }
    return true;
}

static void switch_on(const struct cupti *cupti)
{
    char why[160];
    if (!devices_do_it(why, sizeof why)) {
        refuse(why);
        return;
    }
    CUptiResult result = cupti->enable_hardware(1);
    if (result == CUPTI_SUCCESS) {
        atomic_store(&state, HARDWARE_ON);
        return;
    }
    const char *name = NULL;
    if (cupti->cuptiGetResultString(result, &name) != CUPTI_SUCCESS || !name)
        name = "an error";
    snprintf(why, sizeof why, "cuptiActivityEnableHWTrace gave %.80s", name);
    refuse(why);
}

void CUPTIAPI hardware_callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void *info)
{
    (void)info;
    enum hardware_state waits = HARDWARE_WAITS;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED &&
        atomic_load(&state) == waits)
        switch_on(data);
}

void hardware_request(const struct cupti *cupti, CUpti_SubscriberHandle subscriber)
{
    char why[160];
    if (cupti->version < CUPTI_13(4) || !cupti->enable_hardware || !cupti->cuptiEnableCallback) {
        snprintf(why, sizeof why, "CUPTI has version %u, but %d (CUDA 13.4) is required", cupti->version,
                 CUPTI_13(4));
        refuse(why);
        return;
    }
    atomic_store(&state, HARDWARE_WAITS);
    if (cupti->cuptiEnableCallback(1, subscriber, CUPTI_CB_DOMAIN_RESOURCE,
                                   CUPTI_CBID_RESOURCE_CU_INIT_FINISHED) != CUPTI_SUCCESS)
        refuse("CUPTI does not report when the driver is initialised");
}

bool hardware_forbids_flush(void)
{
    return atomic_load(&state) != HARDWARE_OFF;
}

bool hardware_is_on(void)
{
    return atomic_load(&state) == HARDWARE_ON;
}

bool hardware_is_decided(void)
{
    return atomic_load(&state) != HARDWARE_WAITS;
}

void hardware_describe_end(void)
{
    if (atomic_load(&state) == HARDWARE_WAITS)
        refuse("CUPTI never reported that the driver was initialised");
}

void hardware_forget(void)
{
    atomic_store(&state, HARDWARE_OFF);
}
