/*
 * fake_cupti.h - a CUPTI and a CUDA driver for tests, on machines without a GPU.
 *
 * libcupti.so.12 exports what the capture library uses of CUPTI, by CUPTI's own headers; libcuda.so.1 exports cuInit,
 * which loads CUDA_INJECTION64_PATH as the driver does. A test program calls fake_cupti_emit where a GPU would have
 * done something. As the real one, it requests buffers on the threads that need them, hands them back on another thread
 * and in any order, and counts what it has no room for.
 *
 * From the environment: FAKE_CUPTI_VERSION; FAKE_CUPTI_SUBSCRIBE and FAKE_CUPTI_ENABLE, results (numbers of
 * CUptiResult) that these calls give; FAKE_CUPTI_OTHER, the name of another subscriber; FAKE_CUPTI_OLD=1, only what
 * CUDA 11.8 has; FAKE_CUPTI_REFUSES, to whom activity calls are NOT_COMPATIBLE: 1 who subscribed by cuptiSubscribe, 2
 * by cuptiSubscribe_v2, 3 both; FAKE_CUPTI_HARDWARE, result of cuptiActivityEnableHWTrace. Of the driver:
 * FAKE_CUDA_CAPABILITY=100 and FAKE_CUDA_MPS=1, attributes of its one device; FAKE_CUDA_MIG=1, which is a slice;
 * FAKE_CUDA_SILENT=1, it does not say that it is ready.
 */
#ifndef TPA_TESTS_CAPTURE_FAKE_CUPTI_H
#define TPA_TESTS_CAPTURE_FAKE_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The records of the headers at hand, which are those that a CUPTI of that version writes. */
#if CUPTI_API_VERSION >= 130000
typedef CUpti_ActivityKernel10 fake_kernel;
typedef CUpti_ActivityMemcpy6 fake_memcpy;
typedef CUpti_ActivityMemory4 fake_memory;
typedef CUpti_ActivityOverhead3 fake_overhead;
typedef CUpti_ActivitySynchronization2 fake_sync;
typedef CUpti_ActivityGraphTrace2 fake_graph;
typedef CUpti_ActivityDevice5 fake_device;
typedef CUpti_ActivityContext3 fake_context;
#else
typedef CUpti_ActivityKernel8 fake_kernel;
typedef CUpti_ActivityMemcpy5 fake_memcpy;
typedef CUpti_ActivityMemory3 fake_memory;
typedef CUpti_ActivityOverhead fake_overhead;
typedef CUpti_ActivitySynchronization fake_sync;
typedef CUpti_ActivityGraphTrace fake_graph;
typedef CUpti_ActivityDevice4 fake_device;
typedef CUpti_ActivityContext fake_context;
#endif

/* A record happened on this thread. False: nobody wanted it. */
bool fake_cupti_emit(const void *record);

/* A record happened, and CUPTI itself lost it. */
void fake_cupti_lose(size_t count);

/* Is the kind, or the call, being recorded? */
bool fake_cupti_is_enabled(CUpti_ActivityKind kind);
bool fake_cupti_call_is_enabled(bool driver, uint32_t cbid);

/* Records that were not kept because there was no buffer. */
size_t fake_cupti_dropped(void);

/* How often it was asked to hand back what it has. */
size_t fake_cupti_flushes(void);

/* Are kernel times by hardware? */
bool fake_cupti_hardware(void);

/* By the driver: it is initialised, which clients that want to know are reported. */
void fake_cupti_driver_ready(void);

/* How many bytes that were not zero the buffers had when they came. */
size_t fake_cupti_dirty(void);

/* What the client requested, so that its records cost the application little. */
struct fake_cupti_practice {
    bool zeroed_buffers, thread_buffers;
    uint32_t flush_period_ms;
};
struct fake_cupti_practice fake_cupti_practice(void);

#endif
