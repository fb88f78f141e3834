/* parts.h - what the files of the guest share. */
#ifndef TPA_CAPTURE_PARTS_H
#define TPA_CAPTURE_PARTS_H

#include "trace/tpafile_write.h"
#include "capture/host_ring.h"
#include "capture/pace.h"
#include <cupti.h>
#include <pthread.h>

/*
 * cupti.c - CUPTI, found and loaded at run time.
 *
 * Nothing is linked with CUPTI: a program must also start without it, and a program with its own copy (such as PyTorch)
 * must not get a second. Records are read with the layout of CUPTI 11.8; later versions only append fields.
 */

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

/* Load CUPTI: the one at PATH; when that is "", the one that the process has loaded already, else the best one for the
 * driver in the usual paths. False, and a sentence with what to do in WHY, if there is none or its version cannot be
 * used. */
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

/*
 * calls.c - which calls of the CUDA runtime and driver are recorded, by name.
 *
 * CUPTI numbers the calls, and each version of CUDA adds some; CUPTI returns their names at run time. So a library
 * built against one version of CUDA chooses correctly with all versions. By default those calls are recorded that
 * launch, copy, set, allocate, free, wait or handle events and graphs; the many queries (cudaGetDevice,
 * cudaGetLastError, ...) cost time and carry no information.
 */

enum capture_api { CAPTURE_API_RUNTIME, CAPTURE_API_DRIVER, CAPTURE_API_COUNT };

enum { CAPTURE_MOST_CALLS = 4096 }; /* no version of CUPTI has larger numbers */

struct capture_calls {
    /* By API and number: the name, "cudaLaunchKernel"; NULL if there is none. */
    char *names[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
    bool wanted[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
};

/* Get all names from CUPTI, and choose the calls; with ALL every call. New, never freed; NULL if out of memory. */
struct capture_calls *capture_calls_open(const struct cupti *cupti, bool all);

/* Is a call of this NAME ("cudaLaunchKernel", "cuMemcpyHtoDAsync_v2") one that does work on a device? */
bool capture_call_is_work(const char *name);

/* Switch CUPTI's recording of the calls of API on or off. If CUPTI cannot select calls (before CUDA 12.9), all are
 * recorded, and translate.c drops the records that are not wanted. */
CUptiResult capture_calls_enable(const struct capture_calls *calls, const struct cupti *cupti,
                                 enum capture_api api, bool on);

/* clock.c - the clocks of a recording. */

/* CLOCK_MONOTONIC in ns: the clock of everything that is recorded. */
int64_t clock_now_ns(void);

/* CLOCK_REALTIME in ns. */
int64_t clock_wall_ns(void);

/* driver.c - properties of devices from the CUDA driver. The driver is never loaded here: if it is not loaded and
 * initialised, everything is unknown. */

/* Numbers of CUdevice_attribute; older headers lack the last. */
enum driver_attribute {
    DRIVER_CAPABILITY_MAJOR = 75,
    DRIVER_CAPABILITY_MINOR = 76,
    DRIVER_MPS_ENABLED = 133,
};

/* The CUDA version of the driver, 12040 for 12.4; 0 when unknown. */
int driver_version(void);

/* Devices that this process sees; 0 when unknown. */
int driver_device_count(void);

/* ATTRIBUTE of the device NUMBER; -1 when unknown. */
int driver_attribute(int number, enum driver_attribute attribute);

/*
 * hardware.c - kernel times by the device's own event system (HES) instead of code that CUPTI adds around each kernel.
 *
 * It must be switched on once, after the driver is initialised and before a context exists, and cannot be switched off.
 * It is used from CUPTI 13.4 on (earlier versions could corrupt the heap) and on devices of compute capability 10 and
 * later, and refused under MPS, MIG, WSL and confidential computing. While it is on, cuptiActivityFlushAll may
 * overwrite the program's memory while other threads work (PyTorch's cupti monitor therefore flushes in quiet moments
 * only), so nothing is flushed before the end of the process.
 */

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

/*
 * notes.c - facts about a recording that users should know although nothing failed: what is left out on purpose, what
 * this device cannot measure.
 *
 * A note is reported once, by report.h, and logged as a NOTE record. Any thread may add one.
 */

struct note {
    const char *word; /* for scripts; a literal */
    int64_t time_ns;  /* CLOCK_MONOTONIC */
    char text[480];
};

/* Add one sentence. If 32 notes wait for the writer, it is reported but not logged. */
__attribute__((format(printf, 2, 3))) void notes_add(const char *word, const char *fmt, ...);

/* The same, for the log only. */
__attribute__((format(printf, 2, 3))) void notes_log(const char *word, const char *fmt, ...);

/* Remove up to COUNT of the oldest notes that wait for the log. Returns how many. */
size_t notes_collect(struct note *notes, size_t count);

/* In a forked child: drop the parent's notes. */
void notes_forget(void);

/*
 * nvtx.c - NVTX ranges, marks and domains, by attaching as NVTX's tool.
 *
 * CUPTI can record NVTX too, but then it would have to be the tool that NVTX loads: ranges would depend on a GPU and on
 * CUPTI being free, --range would need CUPTI's callbacks, and a push and a pop would take two records of 56 bytes and a
 * lock. So the library attaches to NVTX itself. An event costs one clock read and one copy, without a lock
 * (host_ring.h).
 *
 * The interface between NVTX 2 and 3 and tools is declared here, because its headers are not shipped with CUPTI's.
 */

typedef const void *nvtx_get_export_table(uint32_t table);

/* Set our functions in NVTX. NVTX calls this once for every library of the process that has NVTX compiled into it. */
bool nvtx_attach(nvtx_get_export_table *get_export_table);

/* Push or pop a range of the default domain on this thread. Returns its depth, or TPA_CAPTURE_INVALID for a pop without
 * a push. */
int nvtx_push(const char *name);
int nvtx_pop(void);

/* A step begins on this thread. Returns its number. */
int nvtx_step(void);

/*
 * own_files.c - files that the application cannot close.
 *
 * A process has one table of open files for all its threads, and file descriptors are reused. An application that
 * closes a number twice, or closes numbers that are not its own, closes our file; its next one gets the number, and our
 * next write goes to that file. Checking the descriptor first does not help: it may change between the check and the
 * write. So the writer accesses files on a thread with a file table of its own:
 *
 *     own_files_start(&files);
 *     own_files_run(&files, write_block, &job);        // calls write_block(&job) there and waits for it
 *     own_files_stop(&files);
 *
 * File descriptors that such a function opens mean nothing elsewhere, and forked children do not inherit them. Where
 * the kernel refuses a table (before Linux 5.9 in a container), the thread shares the table of the process.
 */

/* The fields are private. */
struct own_files {
    pthread_t thread;
    pthread_mutex_t lock; /* protects the fields below */
    pthread_cond_t changed;
    void (*work)(void *argument); /* function to call; NULL after the call */
    void *argument;
    bool ends;
};

/* Start the thread, on which all signals are blocked. False, with errno set, if that fails. */
bool own_files_start(struct own_files *files);

/* Call WORK with ARGUMENT on the thread, and wait for it. From one thread at a time. */
void own_files_run(struct own_files *files, void (*work)(void *argument), void *argument);

/* End the thread, which closes all files in its table. */
void own_files_stop(struct own_files *files);

/*
 * pool.c - the buffers that CUPTI fills: handed out zeroed, given back dirty, limited in total size.
 *
 * CUPTI requests a buffer in the middle of an application's launch. So buffers are made and zeroed beforehand, by the
 * writer's thread; only if that thread falls behind is one mapped on demand, and at the limit CUPTI gets none, drops
 * records and counts them.
 *
 * Every function may be called from any thread.
 */

enum { POOL_BUFFER_SIZE = 4 << 20 };

/* Header in the page before the bytes. */
struct pool_buffer {
    struct pool_buffer *next;
    size_t valid;    /* bytes that CUPTI filled */
    int64_t came_ns; /* when CUPTI returned it */
};

struct pool {
    pthread_mutex_t lock;
    struct pool_buffer *ready; /* zeroed */
    size_t ready_count, count, most;
    uint64_t refused; /* requests that failed because of the limit */
};

/* Set up a pool of LIMIT bytes in total, at least two buffers. */
void pool_init(struct pool *pool, size_t limit);

/* The POOL_BUFFER_SIZE bytes of a buffer, all zero; NULL at the limit. */
uint8_t *pool_collect(struct pool *pool);

/* The buffer that BYTES belong to. */
struct pool_buffer *pool_buffer_of(uint8_t *bytes);
uint8_t *pool_bytes(struct pool_buffer *buffer);

/* Zero the filled bytes, and make the buffer ready again. */
void pool_assign(struct pool *pool, struct pool_buffer *buffer);

/* Prepare buffers until COUNT are ready, with their pages touched, if the limit allows. */
void pool_prepare(struct pool *pool, size_t count);

/* Unmap ready buffers. Buffers in use may still be given back later. */
void pool_release(struct pool *pool);

/* process_facts.c - facts of the recorded process from /proc. Unknown texts are "". */

/* The path of the executable. PATH, as the texts below, has SIZE bytes and is NUL-terminated. */
void process_executable(char *path, size_t size);

/* The words of the command line, separated by spaces. */
void process_command(char *command, size_t size);

/* The version of NVIDIA's kernel module, "550.54.14". */
void process_driver_name(char *name, size_t size);

/* The name of a thread of this process. */
void process_thread_name(int64_t tid, char *name, size_t size);

/* When the process began, CLOCK_REALTIME in ns; TPAFILE_NONE if unknown. */
int64_t process_start_wall_ns(void);

/* translate.c - translates CUPTI's activity records to records of the log. Runs on the writer's thread. */

struct translator {
    struct tpafile_writer *log; /* borrowed, as the next three */
    struct own_files *files;
    const struct cupti *cupti; /* NULL while only NVTX is recorded */
    const struct capture_calls *calls;
    /* Ids that the log defines already. */
    bool named[CAPTURE_API_COUNT][CAPTURE_MOST_CALLS];
    int64_t *threads; /* sorted */
    size_t thread_count, thread_capacity;
    bool failed;         /* the log cannot be written */
    uint64_t unknown;    /* records of unknown kinds */
    int64_t overhead_ns; /* time that CUPTI reported as its own */
};

/* Add the records in the SIZE bytes of a buffer that CUPTI filled. False if the log cannot be written. Records of
 * unwanted calls are left out; those of unknown kinds are counted. */
bool translate_buffer(struct translator *translator, uint8_t *bytes, size_t size);

/* The same, but only records of devices, contexts and streams. */
bool translate_environment(struct translator *translator, uint8_t *bytes, size_t size);

/* Log the name of the thread, the first time. */
void translate_thread(struct translator *translator, int64_t tid);

/* Log the name that the program gave the thread. */
void translate_thread_name(struct translator *translator, int64_t tid, const char *name, size_t len);

/*
 * host_log.c - moves NVTX ranges, marks and steps from the rings to the log. Runs on the writer's thread.
 *
 * A range that begins and ends between two flushes is one RANGE record. A range still open at a flush is written as a
 * MARKER for its beginning, and later one for its end, so that the log of a killed process holds its open ranges.
 */

struct host_log;

/* New; NULL if out of memory. TRANSLATOR is borrowed; records go to its log. */
struct host_log *host_log_open(struct translator *translator);
void host_log_free(struct host_log *log);

/* Consume the records in RING. False if the log cannot be written. */
bool host_log_drain(struct host_log *log, struct host_ring *ring);

/* Log one EVENT of the thread TID. */
void host_log_collect(struct host_log *log, uint32_t tid, const struct host_event *event);

/* Write a MARKER for the beginning of each open range. Call before every flush of the log. */
bool host_log_flush(struct host_log *log);

/* The thread TID has ended: its ranges end with it. */
void host_log_forget_thread(struct host_log *log, uint32_t tid);

/*
 * recent.c - the ring of --ring: the most recent data of CUPTI and NVTX, untranslated, in bounded memory.
 *
 * Kept data costs a copy and is translated only when the ring is written. Old data is dropped, except what later
 * records refer to: devices, contexts and streams, and open ranges. For the writer's thread.
 */

struct recent;

/* New, of MOST bytes; NULL if out of memory. TRANSLATOR and HOST_LOG are borrowed; they receive the data. */
struct recent *recent_open(size_t most, struct translator *translator, struct host_log *host_log);
void recent_free(struct recent *recent);

/* Keep SIZE bytes of records, from a buffer that CUPTI returned at CAME_NS. */
void recent_add_records(struct recent *recent, uint8_t *bytes, size_t size, int64_t came_ns);

/* Keep the records in RING. */
void recent_drain(struct recent *recent, struct host_ring *ring);

/* Translate and remove all kept data. Returns the time since which it is complete, in ns of CLOCK_MONOTONIC. */
int64_t recent_write(struct recent *recent);

/*
 * report.c - the few lines by which the library reports its state.
 *
 * They go to a fifo read by `tpa capture`, which prints what users should see and aggregates the reports of several
 * processes. Without a fifo, troubles and notes go to stderr; other lines are omitted.
 *
 *     begin \t PID \t PATH
 *     end \t PID \t PATH \t BYTES \t RECORDS \t DROPPED
 *     trouble \t PID \t SENTENCE
 *     note \t PID \t SENTENCE
 */

/* Where reports go: the path of a fifo, or "" for stderr. The text is copied. Call once, before all others. */
void report_to(const char *fifo);

/* A log was begun at PATH; it was ended, with its size in BYTES and the numbers of written and dropped records. */
void report_begin(const char *path);
void report_end(const char *path, int64_t bytes, int64_t records, int64_t dropped);

/* What went wrong and what to do. Only the first of a process is reported: the others follow from it. */
__attribute__((format(printf, 1, 2))) void report_trouble(const char *fmt, ...);

/* A note, one sentence: not a failure, but users should know it. All are reported. See notes.h. */
void report_note(const char *sentence);

/*
 * control.c - when to record.
 *
 * Recording is on while all requested conditions hold: the start time has come and the duration is not over, it is not
 * paused, we are inside the named range or step, and pace.h does not leave it out. A change of a condition is reported
 * by a function below, on any thread; CUPTI is switched before the function returns, so the change applies to the next
 * launch.
 */

/* A window of time in which recording was on. */
struct control_window {
    int64_t start_ns, end_ns; /* CLOCK_MONOTONIC; end 0: still on */
    const char *why;          /* what switched it on; a literal */
};

/* The last windows are kept until the writer takes them; with --ring that is when the ring is written, perhaps after
 * hours. */
enum { CONTROL_MOST_WINDOWS = 16384 };

/* Why the ring of --ring is to be written. Work that just ended is in the ring only when the device has finished it. */
enum { CONTROL_WRITE_AFTER_NS = 500000000 };
struct control_write {
    int64_t due_ns; /* 0: not requested */
    char why[160];
};

struct control {
    const struct capture_settings *settings; /* borrowed */
    void (*turn)(bool on);                   /* switch CUPTI; called under the lock */
    pthread_mutex_t lock;
    atomic_bool recording; /* checked by NVTX functions */
    atomic_uint toggles;   /* signals that the writer has not handled yet */
    bool armed, over, paused;
    bool ended; /* control_end was called */
    int64_t begun_ns, first_on_ns;
    int64_t ranges_entered;   /* entries of the range of --range */
    unsigned selected_inside; /* threads inside a range that --steps selects */
    int64_t inside_since_ns;  /* when the first of them entered; 0: none is inside */
    int64_t step;             /* of tpa_capture_step; -1: none yet */
    int64_t step_ns;          /* when it began */
    bool step_wanted;         /* selected by --steps and --sample */
    struct pace pace;
    struct control_write write;
    struct control_window
        /* not taken yet; window N is at N % CONTROL_MOST_WINDOWS; the last may be open */
        windows[CONTROL_MOST_WINDOWS];
    size_t window_first, window_end; /* numbers of the oldest kept and one past the last */
    int64_t window_lost_ns; /* end of the latest window for which there was no room; 0: none was lost */
};

/* Begin as SETTINGS say, which are borrowed. TURN switches recording on or off; it is called under the lock. */
void control_init(struct control *control, const struct capture_settings *settings, void (*turn)(bool on));

/* CUPTI can be switched from now on: sets *RUNNING, and switches CUPTI on if recording is on. */
void control_join(struct control *control, atomic_bool *running);

/* Called regularly: handles --start-after, --duration, --window and signals. OWN_NS is the time in ns that our threads
 * and CUPTI used so far. True when all that was requested has been recorded. */
bool control_tick(struct control *control, int64_t now_ns, int64_t own_ns);

/* Latest time of the next control_tick, in ns; INT64_MAX if there is nothing to wait for. */
int64_t control_next_ns(struct control *control);

/* Must the ring be written at NOW? Then WHY holds the reason as text, and the request is cleared. */
bool control_collect_write(struct control *control, int64_t now_ns, char *why, size_t why_size);

/* At the beginning: add a note on what will be left out, for readers of the log of a killed process. */
void control_describe_begin(const struct control *control);

/* At the end: add notes on what was left out, and on requested ranges and steps that never occurred. */
void control_describe_end(struct control *control);

/* tpa_capture_start and tpa_capture_stop. */
void control_pause(struct control *control, bool pause);

/* Is NAME of DOMAIN the range that --range names? Cheap without --range. */
bool control_is_range(const struct control *control, const char *name, size_t len, const char *domain);

/* Such a range began on this thread. True if it counts; control_range_left must then follow. */
bool control_range_entered(struct control *control);
void control_range_left(struct control *control);

/* A step begins. Returns its number. */
int64_t control_step(struct control *control);

/* Switch off for good, and end the last window. */
void control_end(struct control *control);

/* Copy the windows since the last call, oldest first, up to COUNT; call again until fewer are returned. The open window
 * is returned again after it has ended. */
size_t control_collect_windows(struct control *control, struct control_window *windows, size_t count);

/* Were windows that ended after SINCE lost for lack of room? Returns true once. */
bool control_lost_windows(struct control *control, int64_t since_ns);

/*
 * guest.c - the recording of this process: none, under way, or over.
 *
 * It begins when the CUDA driver loads the library (CUDA_INJECTION64_PATH), when NVTX does (NVTX_INJECTION64_PATH) or
 * with a call of tpa_capture.h, whichever is first; CUPTI joins it when CUDA is initialised. It ends with the process,
 * with --duration or the last of --steps, or with the first failure; it begins again only in a forked child.
 */

/* Is a recording requested, by TPA_CAPTURE_OUTPUT or by preloading the library? */
bool guest_is_wanted(void);

/* Begin the recording without CUPTI, unless it has begun. Returns whether it is under way. */
bool guest_start(void);

/* Start CUPTI as well, now that CUDA is initialised. */
void guest_join_cupti(void);

/* Is a recording in progress? */
bool guest_is_running(void);

/* Settings of the current or last recording; borrowed. */
struct control *guest_control(void);

/* A new ring for the calling thread; NULL if there are too many threads. */
struct host_ring *guest_open_ring(void);

/* Count an event that was lost for lack of a ring. */
void guest_count_drop(void);

/* Wake the writer: a ring is half full. */
void guest_hurry(void);

#endif
