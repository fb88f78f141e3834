/* fake_cupti.c - see fake_cupti.h. */
#include "tests/capture/fake_cupti.h"

#include <errno.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#pragma GCC visibility push(default)

/* A buffer that is being filled by a thread, or is full. */
struct filled {
    uint8_t *bytes;
    size_t size, used;
};

struct thread_buffer {
    struct thread_buffer *next;
    pthread_mutex_t lock;
    struct filled current;
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t work = PTHREAD_COND_INITIALIZER, idle = PTHREAD_COND_INITIALIZER;
static struct thread_buffer *threads;
static struct filled full[4096]; /* waiting to be handed back */
static size_t full_count, handing;
static bool worker_runs;
static unsigned shuffle_seed = 1;

static CUpti_BuffersCallbackRequestFunc request;
static CUpti_BuffersCallbackCompleteFunc complete;
static CUpti_TimestampCallbackFunc clock_of_client;
static atomic_bool enabled[CUPTI_ACTIVITY_KIND_COUNT];
static atomic_bool call_enabled[2][4096];
static atomic_size_t dropped, dropped_in_all, dirty, flushes;
static bool subscribed, zeroed_buffers, thread_buffers;
static int subscribed_by; /* 1 cuptiSubscribe, 2 cuptiSubscribe_v2 */
static CUpti_CallbackFunc callback_of_client;
static void *data_of_client;
static bool ready_wanted, hardware;
static uint32_t flush_period_ms;

static int number(const char *name, int otherwise)
{
    const char *value = getenv(name);
    return value && *value ? atoi(value) : otherwise;
}

static bool is_old(void)
{
    return number("FAKE_CUPTI_OLD", 0);
}

/* Are the activity calls refused to who subscribed as the client did? */
static bool is_refused(void)
{
    return subscribed && number("FAKE_CUPTI_REFUSES", 0) & subscribed_by;
}

/* ---- handing buffers back ---- */

static void *hand_back(void *argument)
{
    (void)argument;
    pthread_mutex_lock(&lock);
    for (;;) {
        while (full_count == 0) {
            pthread_cond_broadcast(&idle);
            pthread_cond_wait(&work, &lock);
        }
        size_t chosen = (size_t)rand_r(&shuffle_seed) % full_count; /* in any order */
        struct filled buffer = full[chosen];
        full[chosen] = full[--full_count];
        handing++;
        pthread_mutex_unlock(&lock);
        complete(NULL, 0, buffer.bytes, buffer.size, buffer.used);
        pthread_mutex_lock(&lock);
        handing--;
    }
    return NULL;
}

/* Under the lock. */
static void queue_full(struct filled buffer)
{
    if (!worker_runs) {
        pthread_t worker;
        worker_runs = pthread_create(&worker, NULL, hand_back, NULL) == 0;
        pthread_detach(worker);
    }
    while (full_count == sizeof full / sizeof *full)
        pthread_cond_wait(&idle, &lock);
    full[full_count++] = buffer;
    pthread_cond_signal(&work);
}

/* As the real one may when a process ends, also in a child that has no thread of ours: hand back what there is. */
__attribute__((destructor)) static void hand_back_at_end(void)
{
    for (struct thread_buffer *thread = threads; thread && complete; thread = thread->next)
        if (thread->current.bytes && thread->current.used > 0)
            complete(NULL, 0, thread->current.bytes, thread->current.size, thread->current.used);
}

/* ---- records ---- */

static size_t record_size(CUpti_ActivityKind kind)
{
    size_t size;
    switch ((int)kind) {
    case CUPTI_ACTIVITY_KIND_KERNEL:
    case CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL: size = sizeof(fake_kernel); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY: size = sizeof(fake_memcpy); break;
    case CUPTI_ACTIVITY_KIND_MEMCPY2: size = sizeof(CUpti_ActivityMemcpyPtoP4); break;
    case CUPTI_ACTIVITY_KIND_MEMSET: size = sizeof(CUpti_ActivityMemset4); break;
    case CUPTI_ACTIVITY_KIND_RUNTIME:
    case CUPTI_ACTIVITY_KIND_DRIVER: size = sizeof(CUpti_ActivityAPI); break;
    case CUPTI_ACTIVITY_KIND_SYNCHRONIZATION: size = sizeof(fake_sync); break;
    case CUPTI_ACTIVITY_KIND_MEMORY2: size = sizeof(fake_memory); break;
    case CUPTI_ACTIVITY_KIND_GRAPH_TRACE: size = sizeof(fake_graph); break;
    case CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION: size = sizeof(CUpti_ActivityExternalCorrelation); break;
    case CUPTI_ACTIVITY_KIND_OVERHEAD: size = sizeof(fake_overhead); break;
    case CUPTI_ACTIVITY_KIND_DEVICE: size = sizeof(fake_device); break;
    case CUPTI_ACTIVITY_KIND_CONTEXT: size = sizeof(fake_context); break;
    case CUPTI_ACTIVITY_KIND_STREAM: size = sizeof(CUpti_ActivityStream); break;
    case CUPTI_ACTIVITY_KIND_NAME:
        size = sizeof(CUpti_ActivityName);
        break; /* stands for one that nobody expects */
    default: abort();
    }
    return (size + 7) & ~(size_t)7;
}

static __thread struct thread_buffer *own;

static struct thread_buffer *thread_buffer(void)
{
    if (own)
        return own;
    own = calloc(1, sizeof *own);
    pthread_mutex_init(&own->lock, NULL);
    pthread_mutex_lock(&lock);
    own->next = threads;
    threads = own;
    pthread_mutex_unlock(&lock);
    return own;
}

bool fake_cupti_is_enabled(CUpti_ActivityKind kind)
{
    return atomic_load(&enabled[kind]);
}

bool fake_cupti_call_is_enabled(bool driver, uint32_t cbid)
{
    return fake_cupti_is_enabled(driver ? CUPTI_ACTIVITY_KIND_DRIVER : CUPTI_ACTIVITY_KIND_RUNTIME) ||
           atomic_load(&call_enabled[driver][cbid]);
}

static bool is_wanted(const CUpti_Activity *record)
{
    if (record->kind == CUPTI_ACTIVITY_KIND_RUNTIME || record->kind == CUPTI_ACTIVITY_KIND_DRIVER)
        return fake_cupti_call_is_enabled(record->kind == CUPTI_ACTIVITY_KIND_DRIVER,
                                          ((const CUpti_ActivityAPI *)(const void *)record)->cbid);
    return record->kind == CUPTI_ACTIVITY_KIND_NAME || fake_cupti_is_enabled(record->kind);
}

/* Ask for a buffer, and look whether it is as clean as was promised. */
static void begin_buffer(struct filled *buffer)
{
    size_t most = 0;
    *buffer = (struct filled){ 0 };
    request(&buffer->bytes, &buffer->size, &most);
    if (!buffer->bytes)
        buffer->size = 0;
    for (size_t i = 0; zeroed_buffers && i < buffer->size; i += 8)
        atomic_fetch_add(&dirty, *(uint64_t *)(void *)(buffer->bytes + i) != 0);
}

bool fake_cupti_emit(const void *record)
{
    const CUpti_Activity *activity = record;
    if (!request || !is_wanted(activity))
        return false;
    size_t size = record_size(activity->kind);
    struct thread_buffer *mine = thread_buffer();
    pthread_mutex_lock(&mine->lock);
    struct filled done = { 0 };
    if (mine->current.used + size > mine->current.size) {
        done = mine->current;
        begin_buffer(&mine->current);
    }
    bool kept = mine->current.bytes != NULL;
    if (kept) {
        memcpy(mine->current.bytes + mine->current.used, record, size & ~(size_t)7);
        mine->current.used += size;
    }
    pthread_mutex_unlock(&mine->lock);
    if (!kept)
        fake_cupti_lose(1);
    if (done.bytes) {
        pthread_mutex_lock(&lock);
        queue_full(done);
        pthread_mutex_unlock(&lock);
    }
    return true;
}

void fake_cupti_lose(size_t count)
{
    atomic_fetch_add(&dropped, count);
    atomic_fetch_add(&dropped_in_all, count);
}

size_t fake_cupti_dropped(void)
{
    return atomic_load(&dropped_in_all);
}

bool fake_cupti_hardware(void)
{
    return hardware;
}

size_t fake_cupti_flushes(void)
{
    return atomic_load(&flushes);
}

size_t fake_cupti_dirty(void)
{
    return atomic_load(&dirty);
}

struct fake_cupti_practice fake_cupti_practice(void)
{
    return (struct fake_cupti_practice){ zeroed_buffers, thread_buffers, flush_period_ms };
}

/* ---- CUPTI ---- */

CUptiResult CUPTIAPI cuptiGetVersion(uint32_t *version)
{
    *version = (uint32_t)number("FAKE_CUPTI_VERSION", is_old() ? 18 : CUPTI_API_VERSION);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetResultString(CUptiResult result, const char **text)
{
    switch ((int)result) {
    case CUPTI_SUCCESS: *text = "CUPTI_SUCCESS"; break;
    case CUPTI_ERROR_NOT_COMPATIBLE: *text = "CUPTI_ERROR_NOT_COMPATIBLE"; break;
    case CUPTI_ERROR_NOT_SUPPORTED: *text = "CUPTI_ERROR_NOT_SUPPORTED"; break;
    case CUPTI_ERROR_NOT_INITIALIZED: *text = "CUPTI_ERROR_NOT_INITIALIZED"; break;
    case CUPTI_ERROR_INSUFFICIENT_PRIVILEGES: *text = "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES"; break;
    case CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED:
        *text = "CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED";
        break;
    default: *text = "CUPTI_ERROR_UNKNOWN"; break;
    }
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSubscribe(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                    void *data)
{
    if (subscribed)
        return CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED;
    CUptiResult result = (CUptiResult)number("FAKE_CUPTI_SUBSCRIBE", CUPTI_SUCCESS);
    subscribed = result == CUPTI_SUCCESS;
    subscribed_by = 1;
    callback_of_client = callback;
    data_of_client = data;
    *subscriber = (CUpti_SubscriberHandle)&subscribed;
    return result;
}

#if CUPTI_API_VERSION >= 130000
CUptiResult CUPTIAPI cuptiSubscribe_v2(CUpti_SubscriberHandle *subscriber, CUpti_CallbackFunc callback,
                                       void *data, CUpti_SubscriberParams *params)
{
    CUptiResult result = cuptiSubscribe(subscriber, callback, data);
    subscribed_by = 2;
    const char *other = getenv("FAKE_CUPTI_OTHER");
    if (result == CUPTI_ERROR_MULTIPLE_SUBSCRIBERS_NOT_SUPPORTED && other && params->oldSubscriberName) {
        size_t len =
            strlen(other) < params->oldSubscriberSize ? strlen(other) : params->oldSubscriberSize - 1;
        memcpy(params->oldSubscriberName, other, len);
        params->oldSubscriberName[len] = '\0';
    }
    return result;
}
#endif

CUptiResult CUPTIAPI cuptiEnableCallback(uint32_t enable, CUpti_SubscriberHandle subscriber,
                                         CUpti_CallbackDomain domain, CUpti_CallbackId id)
{
    (void)subscriber;
    if (domain == CUPTI_CB_DOMAIN_RESOURCE && id == CUPTI_CBID_RESOURCE_CU_INIT_FINISHED)
        ready_wanted = enable;
    return CUPTI_SUCCESS;
}

void fake_cupti_driver_ready(void)
{
    static bool ready;
    if (ready_wanted && !ready && callback_of_client)
        callback_of_client(data_of_client, CUPTI_CB_DOMAIN_RESOURCE, CUPTI_CBID_RESOURCE_CU_INIT_FINISHED,
                           NULL);
    ready = true;
}

#if CUPTI_API_VERSION >= 130000
CUptiResult CUPTIAPI cuptiActivityEnableHWTrace(uint8_t enable)
{
    CUptiResult result = (CUptiResult)number("FAKE_CUPTI_HARDWARE", CUPTI_SUCCESS);
    hardware = enable && result == CUPTI_SUCCESS;
    return result;
}
#endif

CUptiResult CUPTIAPI cuptiUnsubscribe(CUpti_SubscriberHandle subscriber)
{
    (void)subscriber;
    subscribed = false;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityRegisterCallbacks(CUpti_BuffersCallbackRequestFunc requested,
                                                    CUpti_BuffersCallbackCompleteFunc completed)
{
    request = requested;
    complete = completed;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnable(CUpti_ActivityKind kind)
{
    CUptiResult result =
        is_refused() ? CUPTI_ERROR_NOT_COMPATIBLE : (CUptiResult)number("FAKE_CUPTI_ENABLE", CUPTI_SUCCESS);
    atomic_store(&enabled[kind], result == CUPTI_SUCCESS);
    return result;
}

CUptiResult CUPTIAPI cuptiActivityEnableAndDump(CUpti_ActivityKind kind)
{
    return is_old() ? CUPTI_ERROR_NOT_INITIALIZED : cuptiActivityEnable(kind);
}

CUptiResult CUPTIAPI cuptiActivityDisable(CUpti_ActivityKind kind)
{
    atomic_store(&enabled[kind], false);
    return CUPTI_SUCCESS;
}

#if CUPTI_API_VERSION >= 28
CUptiResult CUPTIAPI cuptiActivityEnableRuntimeApi(CUpti_CallbackId cbid, uint8_t enable)
{
    atomic_store(&call_enabled[0][cbid], enable);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityEnableDriverApi(CUpti_CallbackId cbid, uint8_t enable)
{
    atomic_store(&call_enabled[1][cbid], enable);
    return CUPTI_SUCCESS;
}
#endif

CUptiResult CUPTIAPI cuptiActivitySetAttribute(CUpti_ActivityAttribute attribute, size_t *size, void *value)
{
    if (attribute == CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER && *size == 1)
        zeroed_buffers = *(uint8_t *)value;
    enum { PER_THREAD_ACTIVITY_BUFFER = 9 }; /* not in older headers */
    if ((int)attribute == PER_THREAD_ACTIVITY_BUFFER && *size == 1)
        thread_buffers = *(uint8_t *)value;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiSetThreadIdType(CUpti_ActivityThreadIdType type)
{
    return type == CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

CUptiResult CUPTIAPI cuptiActivityRegisterTimestampCallback(CUpti_TimestampCallbackFunc function)
{
    if (is_refused())
        return CUPTI_ERROR_NOT_COMPATIBLE;
    clock_of_client = function;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetTimestamp(uint64_t *timestamp)
{
    struct timespec now;
    if (is_refused())
        return CUPTI_ERROR_NOT_COMPATIBLE;
    clock_gettime(CLOCK_REALTIME, &now);
    *timestamp =
        clock_of_client ? clock_of_client() : (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushPeriod(uint32_t time)
{
    flush_period_ms = time; /* only full buffers would be handed back, and they are at once */
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityFlushAll(uint32_t flag)
{
    (void)flag;
    atomic_fetch_add(&flushes, 1);
    pthread_mutex_lock(&lock);
    struct thread_buffer *first = threads;
    pthread_mutex_unlock(&lock);
    for (struct thread_buffer *thread = first; thread; thread = thread->next) {
        pthread_mutex_lock(&thread->lock);
        struct filled done = thread->current;
        if (done.used > 0)
            thread->current = (struct filled){ 0 };
        pthread_mutex_unlock(&thread->lock);
        if (done.used == 0)
            continue;
        pthread_mutex_lock(&lock);
        queue_full(done);
        pthread_mutex_unlock(&lock);
    }
    pthread_mutex_lock(&lock);
    while (full_count > 0 || handing > 0) {
        struct timespec until;
        clock_gettime(CLOCK_REALTIME, &until);
        until.tv_nsec += 1000000;
        if (until.tv_nsec >= 1000000000)
            until.tv_sec++, until.tv_nsec -= 1000000000;
        pthread_cond_timedwait(&idle, &lock, &until);
    }
    pthread_mutex_unlock(&lock);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNextRecord(uint8_t *buffer, size_t valid, CUpti_Activity **record)
{
    uint8_t *next = *record ? (uint8_t *)*record + record_size((*record)->kind) : buffer;
    if (next >= buffer + valid)
        return CUPTI_ERROR_MAX_LIMIT_REACHED;
    *record = (CUpti_Activity *)(void *)next;
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiActivityGetNumDroppedRecords(CUcontext context, uint32_t stream, size_t *count)
{
    (void)context, (void)stream;
    if (is_refused())
        return CUPTI_ERROR_NOT_COMPATIBLE;
    *count = atomic_exchange(&dropped, 0);
    return CUPTI_SUCCESS;
}

CUptiResult CUPTIAPI cuptiGetCallbackName(CUpti_CallbackDomain domain, uint32_t cbid, const char **name)
{
    static const char *const runtime[] = { [13] = "cudaLaunch_v3020",
                                           [17] = "cudaGetDevice_v3020",
                                           [20] = "cudaMalloc_v3020",
                                           [41] = "cudaMemcpyAsync_v3020",
                                           [165] = "cudaDeviceSynchronize_v3020",
                                           [211] = "cudaLaunchKernel_v7000",
                                           [214] = "cudaLaunchKernel_ptsz_v7000" };
    static const char *const driver[] = {
        [1] = "cuInit", [307] = "cuLaunchKernel", [277] = "cuMemcpyHtoDAsync_v2"
    };
    bool is_runtime = domain == CUPTI_CB_DOMAIN_RUNTIME_API;
    size_t count = is_runtime ? sizeof runtime / sizeof *runtime : sizeof driver / sizeof *driver;
    *name = cbid < count ? (is_runtime ? runtime : driver)[cbid] : NULL;
    return *name ? CUPTI_SUCCESS : CUPTI_ERROR_INVALID_PARAMETER;
}

#pragma GCC visibility pop
