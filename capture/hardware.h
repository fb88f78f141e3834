/*
 * hardware.h - kernel times by the device's own event system (HES) instead of code that CUPTI adds around each kernel.
 *
 * CUPTI wants it switched on once, after the driver is initialised and before there is a context, and cannot switch
 * it off. It is of use from CUPTI 13.4 on (before, it could spoil the heap) and on devices of compute capability 10
 * and later, and refused under MPS, MIG, WSL and confidential computing. While it is on, cuptiActivityFlushAll may
 * write over the program's memory as long as other threads work (PyTorch's cupti monitor, which flushes in quiet
 * moments only), so nothing is flushed before the end of the process.
 */
#ifndef TPA_CAPTURE_HARDWARE_H
#define TPA_CAPTURE_HARDWARE_H

#include "capture/cupti.h"

/* What CUPTI calls, with the struct cupti as DATA: give it to cupti_subscribe. */
void CUPTIAPI hardware_callback(void *data, CUpti_CallbackDomain domain, CUpti_CallbackId id,
                                const void *info);

/* Switch it on as soon as the driver is initialised. When that cannot be, a note says why. */
void hardware_request(const struct cupti *cupti, CUpti_SubscriberHandle subscriber);

/* Is it on, or about to be: must nothing be flushed while the program works? */
bool hardware_forbids_flush(void);

/* Are the times of kernels the device's own? It is open until the driver is initialised. */
bool hardware_is_on(void);
bool hardware_is_decided(void);

/* At the end: a note when the driver never said that it was initialised. */
void hardware_tell_end(void);

/* In a forked child, which has neither CUPTI nor a driver. */
void hardware_forget(void);

#endif
