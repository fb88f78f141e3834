/*
 * cupti.h - CUPTI, found and loaded at run time.
 *
 * Nothing is linked with CUPTI: a program must also start where there is none, and one that has its own (PyTorch does)
 * must not get a second. The records are read as CUPTI 11.8 laid them out; later versions only added fields behind.
 */
#ifndef TPA_CAPTURE_CUPTI_H
#define TPA_CAPTURE_CUPTI_H

#include <cupti.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What cuptiSubscribe_v2 (CUDA 13) is given, declared here because older headers lack it. */
struct cupti_subscriber_params {
    size_t size;
    const char *name;
    char *other_name; /* filled in when another subscriber is in the way */
    size_t other_name_size;
};
typedef CUptiResult cupti_subscribe_v2_function(CUpti_SubscriberHandle *, CUpti_CallbackFunc, void *,
                                                struct cupti_subscriber_params *);
/* CUDA 12.9 and later. */
typedef CUptiResult cupti_enable_call_function(CUpti_CallbackId cbid, uint8_t enable);
/* CUDA 12.8 and later; on which devices and from which version on it is of use: hardware.h. */
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
    CUPTI_WELCOME(CUPTI_FIELD) /* NULL in a CUPTI that does not have it; as the four below */
#undef CUPTI_FIELD
    cupti_subscribe_v2_function *subscribe_v2;
    cupti_enable_call_function *enable_runtime_call, *enable_driver_call;
    cupti_enable_hardware_function *enable_hardware;
    const char *subscribed_by; /* the function, a constant; NULL before cupti_subscribe */
};

/*
 * Load CUPTI: the one at PATH; when that is "", the one that the process has loaded already, else the best one for the
 * driver where such libraries lie. False, and a sentence with what to do in WHY, when there is none or it is of a
 * version that cannot be used.
 */
bool cupti_open(struct cupti *cupti, const char *path, char *why, size_t why_size);

/*
 * Be CUPTI's only client, which keeps others (a second profiler) and us from spoiling each other's records. CALLBACK is
 * called for what is enabled later, with CUPTI as its data; CLOCK (ns) for the times of records.
 *
 * There are two calls for it, and from 13.3 on CUPTI may refuse the activity calls that all versions have
 * (GetTimestamp, GetNumDroppedRecords, RegisterTimestampCallback ...) to who subscribed by the second (PyTorch
 * #192094). So the first is tried first from 13.3 on, the second below, which knows the other client's name; after
 * either these calls are tried, and when they are refused the other way is taken. SUBSCRIBED_BY names the one that it
 * was.
 *
 * False, and a sentence with what to do in WHY, when neither is taken.
 */
bool cupti_subscribe(struct cupti *cupti, CUpti_CallbackFunc callback, CUpti_TimestampCallbackFunc clock,
                     CUpti_SubscriberHandle *subscriber, char *why, size_t why_size);

/* Of CUPTI_13_X: the first version of it. cuptiGetVersion's number is 10000 times the major, 100 times the minor. */
#define CUPTI_13(minor) (130000 + 100 * (minor))

/* What RESULT of DOING means and what to do, as a sentence. */
void cupti_explain(const struct cupti *cupti, CUptiResult result, const char *doing, char *why,
                   size_t why_size);

#endif
