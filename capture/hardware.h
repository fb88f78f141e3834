/*
 * hardware.h - kernel times by the device's own event system (HES) instead of code that CUPTI adds around each kernel.
 *
 * It must be switched on once, after the driver is initialised and before a context exists, and cannot be switched off.
 * It is used from CUPTI 13.4 on (earlier versions could corrupt the heap) and on devices of compute capability 10 and
 * later, and refused under MPS, MIG, WSL and confidential computing. While it is on, cuptiActivityFlushAll may
 * overwrite the program's memory while other threads work (PyTorch's cupti monitor therefore flushes in quiet moments
 * only), so nothing is flushed before the end of the process.
 */
#ifndef TPA_CAPTURE_HARDWARE_H
#define TPA_CAPTURE_HARDWARE_H

#include "capture/cupti.h"

/* The callback for cupti_subscribe; DATA is the struct cupti. */
void CUPTIAPI hardware_callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void *info);

/* Switch it on as soon as the driver is initialised. If that is impossible, a note gives the reason. */
void hardware_request(const struct cupti *cupti, CUpti_SubscriberHandle subscriber);

/* Is it on or pending, so that nothing may be flushed while the program works? */
bool hardware_forbids_flush(void);

/* Are the times of kernels the device's own? Undecided until the driver is initialised. */
bool hardware_is_on(void);
bool hardware_is_decided(void);

/* At the end: adds a note if the driver never reported its initialisation. */
void hardware_describe_end(void);

/* Reset in a forked child, which has neither CUPTI nor a driver. */
void hardware_forget(void);

#endif
