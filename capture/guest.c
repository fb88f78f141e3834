/*
 * guest.c - see parts.h, and the entry points of the library.
 *
 * We are a guest: every failure is reported in one line, and the program goes on as without us. The functions that
 * CUPTI calls on the application's threads only take or return a buffer.
 */

#include "capture/tpa_capture.h"
#include "capture/writer.h"
#include <dlfcn.h>
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum guest_state { GUEST_IDLE, GUEST_RUNNING, GUEST_OVER };

static struct {
    pthread_mutex_t lock; /* for beginning and ending */
    _Atomic enum guest_state state;
    atomic_bool cupti_running; /* kinds are switched on and off */
    atomic_bool cupti_serves;  /* its callbacks may touch the pool and the writer; never in a forked child */
    bool cupti_tried;          /* once per process, forked children included */
    bool handlers_set;         /* atexit and pthread_atfork, which children inherit */
    struct capture_settings settings;
    struct cupti cupti;
    struct capture_calls *calls;
    CUpti_SubscriberHandle subscriber;
    struct control control;
    struct writer writer;
} guest = { .lock = PTHREAD_MUTEX_INITIALIZER };

/* ---- what CUPTI calls ---- */

static void CUPTIAPI buffer_requested(uint8_t **buffer, size_t *size, size_t *most_records)
{
    *buffer = atomic_load(&guest.cupti_serves) ? pool_collect(&guest.writer.pool) : NULL;
    *size = *buffer ? POOL_BUFFER_SIZE : 0;
    *most_records = 0;
}

static void CUPTIAPI buffer_completed(CUcontext context, uint32_t stream, uint8_t *buffer, size_t size,
                                      size_t valid)
{
    (void)size;
    size_t dropped = 0;
    if (!atomic_load(&guest.cupti_serves))
        return;
    if (guest.cupti.cuptiActivityGetNumDroppedRecords(context, stream, &dropped) == CUPTI_SUCCESS &&
        dropped > 0)
        atomic_fetch_add(&guest.writer.dropped_by_cupti, dropped);
    if (buffer)
        writer_collect_buffer(&guest.writer, buffer, valid);
}

/* One clock for everything, which is never set back. */
static uint64_t CUPTIAPI timestamp(void)
{
    return (uint64_t)clock_now_ns();
}

/* ---- switching CUPTI ---- */

static const struct {
    enum capture_kind kind;
    CUpti_ActivityKind activity;
} activities[] = {
    { CAPTURE_KERNEL, CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL },
    { CAPTURE_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY },
    { CAPTURE_MEMCPY, CUPTI_ACTIVITY_KIND_MEMCPY2 },
    { CAPTURE_MEMSET, CUPTI_ACTIVITY_KIND_MEMSET },
    { CAPTURE_SYNC, CUPTI_ACTIVITY_KIND_SYNCHRONIZATION },
    { CAPTURE_MEMORY, CUPTI_ACTIVITY_KIND_MEMORY2 },
    { CAPTURE_EXTERNAL, CUPTI_ACTIVITY_KIND_EXTERNAL_CORRELATION },
    { CAPTURE_OVERHEAD, CUPTI_ACTIVITY_KIND_OVERHEAD },
    { CAPTURE_KERNEL, CUPTI_ACTIVITY_KIND_GRAPH_TRACE }, /* one record per launch instead of one per kernel */
};

static void describe_refusal(CUptiResult result, const char *what)
{
    char doing[64], why[512];
    snprintf(doing, sizeof doing, "CUPTI's request for %s", what);
    cupti_explain(&guest.cupti, result, doing, why, sizeof why);
    report_trouble("%s; everything else is recorded", why);
}

/* Called by control.c, under its lock. */
static void turn(bool on)
{
    if (!atomic_load(&guest.cupti_running))
        return;
    struct cupti *cupti = &guest.cupti;
    uint32_t kinds = guest.settings.kinds;
    for (size_t i = 0; i < sizeof activities / sizeof *activities; i++) {
        bool graph = activities[i].activity == CUPTI_ACTIVITY_KIND_GRAPH_TRACE;
        if (!(kinds & activities[i].kind) || (graph && guest.settings.graph_nodes))
            continue;
        CUptiResult result = on ? cupti->cuptiActivityEnable(activities[i].activity)
                                : cupti->cuptiActivityDisable(activities[i].activity);
        /* In some versions peer copies are included in the others, and recording graphs by node is better than not at
         * all. */
        bool optional = graph || activities[i].activity == CUPTI_ACTIVITY_KIND_MEMCPY2;
        if (on && result != CUPTI_SUCCESS && !optional)
            describe_refusal(result, capture_kinds[__builtin_ctz(activities[i].kind)].what);
    }
    static const enum capture_kind calls[] = {
        [CAPTURE_API_RUNTIME] = CAPTURE_RUNTIME, [CAPTURE_API_DRIVER] = CAPTURE_DRIVER
    };
    for (int api = 0; api < CAPTURE_API_COUNT; api++) {
        if (!(kinds & calls[api]))
            continue;
        CUptiResult result = capture_calls_enable(guest.calls, cupti, (enum capture_api)api, on);
        if (on && result != CUPTI_SUCCESS)
            describe_refusal(result, capture_kinds[__builtin_ctz(calls[api])].what);
    }
}

/* Devices, contexts and streams are few, and are always recorded, even while recording is off; existing ones as
 * well. */
static void enable_environment(struct cupti *cupti)
{
    static const CUpti_ActivityKind kinds[] = { CUPTI_ACTIVITY_KIND_DEVICE, CUPTI_ACTIVITY_KIND_CONTEXT,
                                                CUPTI_ACTIVITY_KIND_STREAM };
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (!cupti->cuptiActivityEnableAndDump ||
            cupti->cuptiActivityEnableAndDump(kinds[i]) != CUPTI_SUCCESS)
            cupti->cuptiActivityEnable(kinds[i]);
}

static void set_up_cupti(struct cupti *cupti)
{
    uint8_t yes = 1;
    size_t size = sizeof yes;
    /* Our buffers are zeroed. Before CUDA 12 there are no buffers per thread, and the attribute is refused. */
    cupti->cuptiActivitySetAttribute(CUPTI_ACTIVITY_ATTR_ZEROED_OUT_ACTIVITY_BUFFER, &size, &yes);
    enum { PER_THREAD_ACTIVITY_BUFFER = 9 }; /* not in older headers */
    cupti->cuptiActivitySetAttribute((CUpti_ActivityAttribute)PER_THREAD_ACTIVITY_BUFFER, &size, &yes);
    if (cupti->cuptiSetThreadIdType)
        cupti->cuptiSetThreadIdType(CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM);
    if (guest.settings.hardware_times)
        hardware_request(cupti, guest.subscriber);
}

static bool start_cupti(char *why, size_t why_size)
{
    struct cupti *cupti = &guest.cupti;
    if (!cupti_open(cupti, guest.settings.cupti, why, why_size) ||
        !cupti_subscribe(cupti, hardware_callback, timestamp, &guest.subscriber, why, why_size))
        return false;
    guest.calls = capture_calls_open(cupti, guest.settings.all_calls);
    if (!guest.calls) {
        snprintf(why, why_size, "too little memory to begin");
        return false;
    }
    set_up_cupti(cupti);
    return true;
}

/* ---- beginning and ending ---- */

bool guest_is_wanted(void)
{
    if (capture_is_privileged())
        return false;
    const char *preloaded = capture_variable("LD_PRELOAD");
    return capture_variable("TPA_CAPTURE_OUTPUT") || (preloaded && strstr(preloaded, "libtpa_capture"));
}

bool guest_is_running(void)
{
    return atomic_load_explicit(&guest.state, memory_order_acquire) == GUEST_RUNNING;
}

struct control *guest_control(void)
{
    return &guest.control;
}

static void on_signal(int number)
{
    (void)number;
    atomic_fetch_add(&guest.control.toggles, 1);
}

static void listen_to_signal(int number)
{
    struct sigaction current, ours = { .sa_handler = on_signal, .sa_flags = SA_RESTART };
    if (number == 0)
        return;
    sigemptyset(&ours.sa_mask);
    if (sigaction(number, NULL, &current) != 0 ||
        (current.sa_handler != SIG_DFL && current.sa_handler != on_signal) ||
        sigaction(number, &ours, NULL) != 0)
        report_trouble(
            "signal %d is the program's own and will not switch recording; choose another by --signal",
            number);
}

static void at_exit(void);
static void in_forked_child(void);

static bool read_settings(void)
{
    char why[512];
    bool good = capture_settings_read(&guest.settings, why, sizeof why);
    report_to(guest.settings.report);
    if (!good)
        report_trouble("%s; nothing is recorded", why);
    return good;
}

static void writer_ended(void)
{
    atomic_store(&guest.state, GUEST_OVER);
}

/* Under the lock. */
static bool start_host(void)
{
    enum guest_state state = atomic_load(&guest.state);
    if (state != GUEST_IDLE)
        return state == GUEST_RUNNING;
    char why[1024];
    bool good = read_settings();
    if (good) {
        control_init(&guest.control, &guest.settings, turn);
        good = writer_start(&guest.writer, &guest.settings, &guest.control, writer_ended, why, sizeof why);
        if (!good)
            report_trouble("%s", why);
    }
    if (good)
        listen_to_signal(guest.settings.toggle_signal);
    if (good && !guest.handlers_set) {
        atexit(at_exit);
        pthread_atfork(NULL, NULL, in_forked_child);
        guest.handlers_set = true;
    }
    enum guest_state idle = GUEST_IDLE; /* the writer thread may have ended it already */
    atomic_compare_exchange_strong(&guest.state, &idle, good ? GUEST_RUNNING : GUEST_OVER);
    return guest_is_running();
}

bool guest_start(void)
{
    if (atomic_load(&guest.state) == GUEST_IDLE && guest_is_wanted()) {
        pthread_mutex_lock(&guest.lock);
        start_host();
        pthread_mutex_unlock(&guest.lock);
    }
    return guest_is_running();
}

/* Under the lock: CUDA is being initialised. */
static void join_cupti(void)
{
    char why[1024];
    if (guest.cupti_tried || atomic_load(&guest.state) == GUEST_OVER)
        return;
    guest.cupti_tried = true;
    if (atomic_load(&guest.state) == GUEST_IDLE && !read_settings())
        return;
    if (!start_cupti(why, sizeof why)) {
        report_trouble("%s; the program runs on without being recorded", why);
        return;
    }
    if (!start_host())
        return;
    writer_use_cupti(&guest.writer, &guest.cupti, guest.calls);
    struct cupti *cupti = &guest.cupti;
    atomic_store(&guest.cupti_serves, true);
    CUptiResult result = cupti->cuptiActivityRegisterCallbacks(buffer_requested, buffer_completed);
    if (result != CUPTI_SUCCESS) {
        cupti_explain(cupti, result, "cuptiActivityRegisterCallbacks", why, sizeof why);
        report_trouble("%s; the program runs on without being recorded", why);
        return;
    }
    if (cupti->cuptiActivityFlushPeriod && !hardware_forbids_flush())
        cupti->cuptiActivityFlushPeriod(WRITER_FLUSH_NS / 1000000);
    if (guest.settings.kinds & CAPTURE_ENVIRONMENT)
        enable_environment(cupti);
    control_join(&guest.control, &guest.cupti_running);
}

static void stop(const char *why)
{
    pthread_mutex_lock(&guest.lock);
    bool running = atomic_exchange(&guest.state, GUEST_OVER) == GUEST_RUNNING;
    pthread_mutex_unlock(&guest.lock);
    if (!running)
        return;
    control_end(&guest.control);
    if (atomic_load(&guest.cupti_running)) {
        guest.cupti.cuptiActivityFlushAll(0);
        guest.cupti.cuptiActivityFlushAll(CUPTI_ACTIVITY_FLAG_FLUSH_FORCED);
    }
    if (!writer_stop(&guest.writer, why))
        report_trouble("gave up waiting for %s, which cannot be written; its end is missing",
                       guest.writer.path);
}

static void at_exit(void)
{
    stop("exit");
}

/* The child has the parent's memory, but not its thread, and must not use its file and its CUPTI: reset, to begin again
 * when there is something to record. Only this thread exists, so nothing needs a lock. */
static void in_forked_child(void)
{
    if (atomic_load(&guest.state) == GUEST_RUNNING)
        writer_forget(&guest.writer);
    pthread_mutex_init(&guest.lock, NULL);
    atomic_store(&guest.cupti_running, false);
    atomic_store(&guest.cupti_serves, false);
    notes_forget();
    hardware_forget();
    atomic_store(&guest.state, GUEST_IDLE);
}

/* ---- for entry points and NVTX ---- */

void guest_join_cupti(void)
{
    pthread_mutex_lock(&guest.lock);
    join_cupti();
    pthread_mutex_unlock(&guest.lock);
}

struct host_ring *guest_open_ring(void)
{
    return writer_open_ring(&guest.writer);
}

void guest_count_drop(void)
{
    atomic_fetch_add(&guest.writer.dropped_events, 1);
}

void guest_hurry(void)
{
    writer_hurry(&guest.writer);
}
