/*
 * cupti.h - CUPTI, found and loaded at run time.
 *
 * Nothing is linked with CUPTI: a program must also start without it, and a program with its own copy (such as PyTorch)
 * must not get a second. Records are read with the layout of CUPTI 11.8; later versions only append fields.
 */
#ifndef TPA_CAPTURE_CUPTI_H
#define TPA_CAPTURE_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The parameters of cuptiSubscribe_v2 (CUDA 13), declared here because older headers lack them. */
struct cupti_subscriber_params {
    size_t size;
    const char *name;
    char *other_name; /* filled in if there is another subscriber */
    size_t other_name_size;
};
typedef CUptiResult cupti_subscribe_v2_function(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
                                                struct cupti_subscriber_params *);
/* CUDA 12.9 and later. */
typedef CUptiResult cupti_enable_call_function(CUpti_CallbackId cbid, uint8_t enable);
/* CUDA 12.8 and later; hardware.h documents the devices and versions that support it. */
typedef CUptiResult cupti_enable_hardware_function(uint8_t enable);

#define CUPTI_NEEDED(F)                                                                                      \
    F(cuptiGetVersion)                                                                                       \
    F(cuptiGetResultString)                                                                                  \
    F(cuptiSubscribe)                                                                                        \
    F(cuptiUnsubscribe)                                                                                      \
    F(cuptiActivityRegisterCallbacks)                                                                        \
    F(cuptiActivityEnable)                                                                                   \
    F(cuptiActivityDisable)                                                                                  \
    F(cuptiActivityFlushAll)                                                                                 \
    F(cuptiActivityGetNextRecord)                                                                            \
    F(cuptiActivityGetNumDroppedRecords)                                                                     \
    F(cuptiActivitySetAttribute)                                                                             \
    F(cuptiGetTimestamp)                                                                                     \
    F(cuptiGetCallbackName)

#define CUPTI_WELCOME(F)                                                                                     \
    F(cuptiActivityEnableAndDump)                                                                            \
    F(cuptiActivityFlushPeriod)                                                                              \
    F(cuptiEnableCallback)                                                                                   \
    F(cuptiActivityRegisterTimestampCallback)                                                                \
    F(cuptiSetThreadIdType)

struct cupti {
    void *library;
    uint32_t version;   /* cuptiGetVersion: 18 is CUDA 11.8, 130001 is 13.0.1 */
    int driver_version; /* CUDA version of the driver, 12040 for 12.4; 0 when unknown */
#define CUPTI_FIELD(name) __typeof__(&name) name;
    CUPTI_NEEDED(CUPTI_FIELD)
    CUPTI_WELCOME(CUPTI_FIELD) /* NULL in versions of CUPTI without it, as are the four below */
#undef CUPTI_FIELD
    cupti_subscribe_v2_function *subscribe_v2;
    cupti_enable_call_function *enable_runtime_call, *enable_driver_call;
    cupti_enable_hardware_function *enable_hardware;
    const char *subscribed_by; /* name of the function, a literal; NULL before cupti_subscribe */
};

/*
 * Load CUPTI: the one at PATH; when that is "", the one that the process has loaded already, else the best one for the
 * driver in the usual paths. False, and a sentence with what to do in WHY, if there is none or its version cannot be
 * used.
 */
bool cupti_open(struct cupti *cupti, const char *path, char *why, size_t why_size);

/*
 * Become CUPTI's only client, so that another profiler and we do not corrupt each other's records. CALLBACK is called
 * for callbacks enabled later, with CUPTI as its data; CLOCK (ns) gives the times of records.
 *
 * There are two calls for it, and from 13.3 on CUPTI may refuse the activity calls that all versions have
 * (GetTimestamp, GetNumDroppedRecords, RegisterTimestampCallback ...) to clients subscribed by the second (PyTorch
 * #192094). So from 13.3 on the first is tried first; below 13.3 the second, which returns the other client's name.
 * After either, the activity calls are tried, and if they are refused, the other function is used. SUBSCRIBED_BY names
 * the function used.
 *
 * False, and a sentence with what to do in WHY, if both fail.
 */
bool cupti_subscribe(struct cupti *cupti, CUpti_CallbackFunc callback, CUpti_TimestampCallbackFunc clock,
                     CUpti_SubscriberHandle *subscriber, char *why, size_t why_size);

/* CUPTI_13_X is the first version of 13.X. The number of cuptiGetVersion is 10000 times the major, 100 times the
 * minor. */
#define CUPTI_13(minor) (130000 + 100 * (minor))

/* A sentence with the meaning of RESULT, returned by the operation DOING, and what to do. */
void cupti_explain(const struct cupti *cupti, CUptiResult result, const char *doing, char *why,
                   size_t why_size);

#endif
