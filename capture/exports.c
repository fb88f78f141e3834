/* exports.c - the entry points of the library: what the CUDA driver, NVTX and the program (tpa_capture.h) call. errno
 * is left as it was. */
#include "capture/parts.h"
#include "capture/tpa_capture.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define EXPORT __attribute__((visibility("default")))

/* The CUDA driver calls this in cuInit, when CUDA_INJECTION64_PATH names the library. A result of 0 would unload it. */
EXPORT int InitializeInjection(void);
EXPORT int InitializeInjection(void)
{
    int saved = errno;
    guest_join_cupti();
    errno = saved;
    return 1;
}

/* NVTX calls one of these when NVTX_INJECTION64_PATH names the library: version 3, and version 2 (libnvToolsExt). */
EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table *get_export_table);
EXPORT int InitializeInjectionNvtx2(nvtx_get_export_table *get_export_table)
{
    int saved = errno;
    bool attached = guest_is_wanted() && nvtx_attach(get_export_table);
    errno = saved;
    return attached;
}

EXPORT int InitializeInjectionNvtx(nvtx_get_export_table *get_export_table);
EXPORT int InitializeInjectionNvtx(nvtx_get_export_table *get_export_table)
{
    return InitializeInjectionNvtx2(get_export_table);
}

/* Preloaded (LD_PRELOAD): the driver and NVTX of this process and its children are set up to call us; a process that
 * uses neither is not affected. */
__attribute__((constructor)) static void loaded(void)
{
    Dl_info self;
    const char *preloaded = capture_variable("LD_PRELOAD");
    if (!preloaded || !strstr(preloaded, "libtpa_capture") || !dladdr((void *)(uintptr_t)loaded, &self))
        return;
    setenv("CUDA_INJECTION64_PATH", self.dli_fname, 0);
    setenv("NVTX_INJECTION64_PATH", self.dli_fname, 0);
}

EXPORT int tpa_capture_start(void)
{
    int saved = errno;
    int result = TPA_CAPTURE_OFF;
    if (guest_start()) {
        control_pause(guest_control(), false);
        result = TPA_CAPTURE_OK;
    }
    errno = saved;
    return result;
}

EXPORT int tpa_capture_stop(void)
{
    int saved = errno;
    int result = TPA_CAPTURE_OFF;
    if (guest_start()) {
        control_pause(guest_control(), true);
        result = TPA_CAPTURE_OK;
    }
    errno = saved;
    return result;
}

EXPORT int tpa_capture_step(void)
{
    int saved = errno;
    int result = guest_start() ? nvtx_step() : TPA_CAPTURE_OFF;
    errno = saved;
    return result;
}

EXPORT int tpa_capture_range_push(const char *name)
{
    int saved = errno;
    int result = !name ? TPA_CAPTURE_INVALID : guest_start() ? nvtx_push(name) : TPA_CAPTURE_OFF;
    errno = saved;
    return result;
}

EXPORT int tpa_capture_range_pop(void)
{
    int saved = errno;
    int result = guest_start() ? nvtx_pop() : TPA_CAPTURE_OFF;
    errno = saved;
    return result;
}
