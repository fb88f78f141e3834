/*
 * play.c - an application on a GPU, without the GPU: does what its words say, one after the other.
 *
 *     play expect FILE cuda records 100000 8 exit 3
 *
 *     expect FILE           lines of what is recorded go to FILE and, for thread N, to FILE.N
 *     cuda                  initialise CUDA
 *     environment           a device, a context, a stream
 *     records COUNT THREADS random records
 *     unknown COUNT, lose COUNT    records of a kind that nobody knows; that CUPTI itself lost
 *     nvtx, push NAME, pop  NVTX; the lines have no times
 *     start, stop, step, api-push NAME, api-pop    tpa_capture.h; what they return is printed
 *     kernel NAME           a kernel now; its line is in FILE at once
 *     fork-exit, fork-records, fork-push, fork-kill    a child that ends so; waits for it
 *     threads COUNT         as many threads, each with a range, one after the other
 *     counts                print what the fake CUPTI counted
 *     hardware              print whether kernel times are by hardware, and how often was flushed
 *     setenv NAME VALUE     change the environment
 *     no-ptrace             drop CAP_SYS_PTRACE, and be a process that none may trace
 *     practice              print how the fake CUPTI was told to hand out its records
 *     exit N, _exit N, abort, terminate, kill N
 *     leave                 the main thread ends by pthread_exit
 *
 * Nothing here waits for a time to pass. Words that wait for something to have happened:
 *
 *     flushed               all that happened is in the log
 *     await-on, await-off   kernels are recorded; are not
 *     await-over            the recording has ended for good
 *     await-full            the disk has refused a write
 *     await FILE            FILE exists
 *     until FILE            a kernel every 100 us until FILE exists
 *
 * A disk that the application is master of: it takes FULL_AFTER bytes, if that is set, and
 *
 *     hold, release         no write to the log ends in between
 *     own-table             exit with 77 if this kernel gives no thread a table of files for itself
 *     report-table          print whose table had the file that a trouble was told to
 *     refuse-own-table      have it refused from now on
 *     steal-before FILE, steal-after FILE    close all files that we may not have opened, and write into new ones: in
 *                           the next write to the log, before it writes and after
 *
 * and a clock, with which a second takes no longer than what is done in it:
 *
 *     clock                 CLOCK_MONOTONIC moves only by what follows, up to the end of the process
 *     steady MS             a kernel every ms for MS ms
 *     pass MS               so much time
 *     steps COUNT MS MORE   as many steps (tpa_capture_step), each with a kernel "step" and MS, and MORE when it is recorded
 *     round                 wait until the library has done what this time requests
 */
#include "tests/capture/play.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *expect_path = "/dev/null";
static FILE *expect;

/* ---- the disk: the library's writes come here. Its file has a large number. ---- */

enum { LOG_FD = 200 };
enum theft { NO_THEFT, BEFORE_WRITE, AFTER_WRITE };

static pthread_mutex_t disk_lock = PTHREAD_MUTEX_INITIALIZER; /* of what follows */
static pthread_cond_t disk_changed = PTHREAD_COND_INITIALIZER;
static bool held, refused;
static enum theft theft;
static const char *loot;
static size_t written;

/* What a daemon does, then what an application does with the numbers that it thinks are free. */
static void steal_files(void)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    expect = fopen(expect_path, "a");
    for (int i = 0; i < 300; i++) {
        FILE *file = fopen(loot, "a");
        if (file)
            fputs("mine\n", file), fflush(file);
    }
}

/* Under the lock: let the application steal, if this is the moment that it waits for. */
static void let_steal(enum theft moment)
{
    if (theft != moment)
        return;
    theft = NO_THEFT;
    pthread_cond_broadcast(&disk_changed);
    while (loot)
        pthread_cond_wait(&disk_changed, &disk_lock);
}

static _Atomic(const char *) report_table = "none"; /* whose file the library's last trouble was written to */

/* Is FD, which this thread has, the same file in the application's table? */
static bool application_has(int fd)
{
    char path[64];
    struct stat mine, theirs;
    snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)getpid(), fd);
    return fstat(fd, &mine) == 0 && stat(path, &theirs) == 0 && mine.st_dev == theirs.st_dev &&
           mine.st_ino == theirs.st_ino;
}

__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
    if (size > 8 && memcmp(bytes, "trouble\t", 8) == 0)
        atomic_store(&report_table, application_has(fd) ? "the application's" : "its own");
    if (fd < LOG_FD)
        return syscall(SYS_write, fd, bytes, size);
    const char *full = getenv("FULL_AFTER");
    pthread_mutex_lock(&disk_lock);
    while (held)
        pthread_cond_wait(&disk_changed, &disk_lock);
    let_steal(BEFORE_WRITE);
    size_t room = !full ? size : (size_t)atol(full) > written ? (size_t)atol(full) - written : 0;
    errno = ENOSPC;
    ssize_t result = room ? syscall(SYS_write, fd, bytes, room < size ? room : size) : -1;
    int saved = errno;
    if (result > 0)
        written += (size_t)result;
    else
        refused = true;
    pthread_cond_broadcast(&disk_changed);
    let_steal(AFTER_WRITE);
    pthread_mutex_unlock(&disk_lock);
    errno = saved;
    return result;
}

static void hold(bool yes)
{
    pthread_mutex_lock(&disk_lock);
    held = yes;
    pthread_cond_broadcast(&disk_changed);
    pthread_mutex_unlock(&disk_lock);
}

static void await_full(void)
{
    pthread_mutex_lock(&disk_lock);
    while (!refused)
        pthread_cond_wait(&disk_changed, &disk_lock);
    pthread_mutex_unlock(&disk_lock);
}

static void steal(enum theft moment, const char *path)
{
    pthread_mutex_lock(&disk_lock);
    loot = path;
    theft = moment;
    while (theft != NO_THEFT)
        pthread_cond_wait(&disk_changed, &disk_lock);
    steal_files();
    loot = NULL;
    pthread_cond_broadcast(&disk_changed);
    pthread_mutex_unlock(&disk_lock);
}

/* ---- tables of files ---- */

enum { UNSHARE_TABLE = 2 }; /* of close_range */
#ifndef SYS_close_range
#define SYS_close_range 436
#endif

static void *take_own_table(void *argument)
{
    *(bool *)argument = syscall(SYS_close_range, ~0u, ~0u, UNSHARE_TABLE) == 0 || unshare(CLONE_FILES) == 0;
    return NULL;
}

static void need_own_table(void)
{
    pthread_t thread;
    bool taken = false;
    pthread_create(&thread, NULL, take_own_table, &taken);
    pthread_join(thread, NULL);
    if (!taken)
        exit(77);
}

static void refuse_own_table(void)
{
    struct sock_filter filter[] = {
        BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_close_range, 1, 0),
        BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_unshare, 0, 1),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
        BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
    };
    struct sock_fprog program = { sizeof filter / sizeof *filter, filter };
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
        prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0)
        exit(77);
}

/* ---- the clock ---- */

static _Atomic int64_t simulated_ns; /* 0: the clock is the real one */
static atomic_uint looks;            /* of other threads at it */
static __thread bool is_application;

__attribute__((visibility("default"))) int clock_gettime(clockid_t id, struct timespec *time)
{
    int64_t now = atomic_load(&simulated_ns);
    if (id != CLOCK_MONOTONIC || now == 0)
        return (int)syscall(SYS_clock_gettime, id, time);
    *time = (struct timespec){ now / 1000000000, now % 1000000000 };
    atomic_fetch_add(&looks, !is_application);
    return 0;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void nap(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
}

/*
 * Wait until the library's writer has gone its round at the present time. It looks at the clock when it begins to wait,
 * when it has waited, and some ten times while it flushes and works out what it costs.
 */
static void await_round(void)
{
    unsigned before = atomic_load(&looks);
    while (atomic_load(&looks) - before < 64)
        nap();
}

/* ---- records ---- */

struct player {
    pthread_t thread;
    int number;
    long count;
};

static void *play_records(void *argument)
{
    const struct player *player = argument;
    char path[4096];
    snprintf(path, sizeof path, "%s.%d", expect_path, player->number);
    FILE *lines = fopen(strcmp(expect_path, "/dev/null") == 0 ? expect_path : path, "w");
    uint64_t state = 88172645463325252u + (uint64_t)player->number, start = now_ns();
    uint32_t tid = (uint32_t)syscall(SYS_gettid);
    for (long i = 0; i < player->count; i++) {
        start += 1 + (state >> 52);
        play_record(&state, start, tid, lines);
    }
    fclose(lines);
    return NULL;
}

static void records(long count, int threads)
{
    struct player players[64];
    for (int i = 0; i < threads; i++) {
        players[i] = (struct player){ .number = i, .count = count / threads };
        pthread_create(&players[i].thread, NULL, play_records, &players[i]);
    }
    for (int i = 0; i < threads; i++)
        pthread_join(players[i].thread, NULL);
}

static void kernel(const char *name)
{
    uint64_t now = now_ns();
    static uint32_t correlation;
    fake_kernel record = { .kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL,
                           .start = now,
                           .end = now + 10,
                           .name = name,
                           .correlationId = ++correlation };
    if (fake_cupti_emit(&record)) {
        fprintf(expect, "KERNEL %" PRIu64 " %s\n", now, name);
        fflush(expect);
    }
}

static void steady(long ms)
{
    for (; ms > 0; ms--) {
        atomic_fetch_add(&simulated_ns, 1000000);
        kernel("steady");
        if (ms % 100 == 0)
            await_round();
    }
}

static bool exists(const char *path)
{
    return access(path, F_OK) == 0;
}

static void until(const char *path)
{
    while (!exists(path)) {
        kernel("steady");
        nap();
    }
}

/* The writer has CUPTI flush, and writes: when it does the second time, it has written what there was at the first. */
static void flushed(void)
{
    size_t before = fake_cupti_flushes();
    while (fake_cupti_flushes() - before < 2)
        nap();
}

static void unknown(long count)
{
    CUpti_ActivityName record = { .kind = CUPTI_ACTIVITY_KIND_NAME };
    for (long i = 0; i < count; i++)
        fake_cupti_emit(&record);
}

static void *one_range(void *argument)
{
    (void)argument;
    play_push("of a thread");
    play_pop();
    return NULL;
}

/* Call the function NAME of tpa_capture.h, as a program does that runs with and without it. */
static int call_quietly(const char *name, const char *argument)
{
    int (*function)(const char *) = NULL;
    void *library = dlopen(getenv("TPA_CAPTURE_LIBRARY"), RTLD_NOW);
    *(void **)&function = library ? dlsym(library, name) : NULL;
    return function ? function(argument) : -100;
}

static void call(const char *name, const char *argument)
{
    printf("%s %d\n", name, call_quietly(name, argument));
    fflush(stdout);
}

/* A pop without a push says whether there is a recording at all. */
static void await_over(void)
{
    while (call_quietly("tpa_capture_range_pop", NULL) != -1)
        nap();
}

static void steps(long count, long ms, long more_ms)
{
    for (; count > 0; count--) {
        call_quietly("tpa_capture_step", NULL);
        bool recorded = fake_cupti_is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL);
        kernel("step");
        atomic_fetch_add(&simulated_ns, (ms + (recorded ? more_ms : 0)) * 1000000);
    }
}

static void drop_ptrace(void)
{
    struct __user_cap_header_struct header = { _LINUX_CAPABILITY_VERSION_3, 0 };
    struct __user_cap_data_struct sets[2];
    prctl(PR_CAPBSET_DROP, CAP_SYS_PTRACE, 0, 0, 0); /* which fails where it is dropped already */
    if (syscall(SYS_capget, &header, sets) != 0)
        exit(77);
    uint32_t others = ~(UINT32_C(1) << CAP_SYS_PTRACE);
    sets[0].effective &= others, sets[0].permitted &= others, sets[0].inheritable &= others;
    if (syscall(SYS_capset, &header, sets) != 0 || prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
        exit(77);
}

static void await_kernels(bool on)
{
    while (fake_cupti_is_enabled(CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL) != on)
        nap();
}

#if defined __SANITIZE_ADDRESS__ || defined __clang__ /* which does not tell so simply */
/* Does the thread of /proc/self/task/TASK sleep, or is there none? */
static bool sleeps(const char *task)
{
    char path[64], text[512] = "";
    snprintf(path, sizeof path, "/proc/self/task/%.20s/stat", task);
    FILE *file = fopen(path, "r");
    if (!file)
        return true;
    size_t len = fread(text, 1, sizeof text - 1, file);
    fclose(file);
    text[len] = '\0';
    const char *state = strrchr(text, ')'); /* "7 (name) S ..." */
    return !state || state[1] == '\0' || state[2] != 'R';
}

/*
 * AddressSanitizer of gcc 12 does not hold the locks of its allocator over a fork, as the C library does: a child would
 * wait for ever for one that another thread held. So wait until no other thread is at work.
 */
static void await_quiet_threads(void)
{
    char own[24];
    snprintf(own, sizeof own, "%d", (int)gettid());
    for (bool quiet = false; !quiet;) {
        nap();
        DIR *tasks = opendir("/proc/self/task");
        quiet = tasks != NULL;
        for (struct dirent *task; tasks && (task = readdir(tasks));)
            quiet &= task->d_name[0] == '.' || strcmp(task->d_name, own) == 0 || sleeps(task->d_name);
        if (tasks)
            closedir(tasks);
    }
}
#else
static void await_quiet_threads(void) {}
#endif

static void in_child(const char *how)
{
    fflush(NULL);
    await_quiet_threads();
    pid_t pid = fork();
    if (pid == 0) {
        if (strcmp(how, "fork-push") == 0) {
            play_push("child");
            play_pop();
        } else if (strcmp(how, "fork-records") == 0) {
            expect_path = "/dev/null";
            unknown(100);
        } else if (strcmp(how, "fork-kill") == 0) {
            raise(SIGKILL);
        }
        exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    printf("child %d %s %d\n", (int)pid, WIFSIGNALED(status) ? "signal" : "exit",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    fflush(stdout);
}

static void terminate_as_cxx_does(void)
{
    void (*terminate)(void) = NULL;
    *(void **)&terminate = dlsym(dlopen("libstdc++.so.6", RTLD_NOW), "_ZSt9terminatev");
    if (terminate)
        terminate();
    abort();
}

/* Do what WORDS begins with; how many of them that took. */
static int play(char **words)
{
    const char *word = words[0], *first = words[1] ? words[1] : "";
    long number = atol(first);
    if (strcmp(word, "expect") == 0) {
        expect_path = first;
        expect = fopen(first, "w");
        return 2;
    }
    if (strcmp(word, "cuda") == 0)
        return cuInit(0), 1;
    if (strcmp(word, "environment") == 0)
        return play_environment(expect), 1;
    if (strcmp(word, "records") == 0)
        return records(number, atoi(words[2])), 3;
    if (strcmp(word, "clock") == 0)
        return atomic_store(&simulated_ns, 1000000000), 1;
    if (strcmp(word, "steady") == 0)
        return steady(number), 2;
    if (strcmp(word, "steps") == 0)
        return steps(number, atol(words[2]), atol(words[3])), 4;
    if (strcmp(word, "pass") == 0)
        return atomic_fetch_add(&simulated_ns, number * 1000000), 2;
    if (strcmp(word, "round") == 0)
        return await_round(), 1;
    if (strcmp(word, "until") == 0)
        return until(first), 2;
    if (strcmp(word, "flushed") == 0)
        return flushed(), 1;
    if (strcmp(word, "hold") == 0 || strcmp(word, "release") == 0)
        return hold(strcmp(word, "hold") == 0), 1;
    if (strcmp(word, "await-full") == 0)
        return await_full(), 1;
    if (strcmp(word, "await-on") == 0 || strcmp(word, "await-off") == 0)
        return await_kernels(strcmp(word, "await-on") == 0), 1;
    if (strcmp(word, "await-over") == 0)
        return await_over(), 1;
    if (strcmp(word, "await") == 0) {
        while (!exists(first))
            nap();
        return 2;
    }
    if (strcmp(word, "unknown") == 0)
        return unknown(number), 2;
    if (strcmp(word, "lose") == 0)
        return fake_cupti_lose((size_t)number), 2;
    if (strcmp(word, "nvtx") == 0)
        return play_nvtx(expect), 1;
    if (strcmp(word, "push") == 0)
        return play_push(first), 2;
    if (strcmp(word, "pop") == 0)
        return play_pop(), 1;
    if (strcmp(word, "start") == 0)
        return call("tpa_capture_start", NULL), 1;
    if (strcmp(word, "stop") == 0)
        return call("tpa_capture_stop", NULL), 1;
    if (strcmp(word, "step") == 0)
        return call("tpa_capture_step", NULL), 1;
    if (strcmp(word, "api-push") == 0)
        return call("tpa_capture_range_push", strcmp(first, "NULL") == 0 ? NULL : first), 2;
    if (strcmp(word, "api-pop") == 0)
        return call("tpa_capture_range_pop", NULL), 1;
    if (strcmp(word, "kernel") == 0)
        return kernel(first), 2;
    if (strncmp(word, "fork-", 5) == 0)
        return in_child(word), 1;
    if (strcmp(word, "own-table") == 0)
        return need_own_table(), 1;
    if (strcmp(word, "report-table") == 0)
        return printf("%s\n", atomic_load(&report_table)), 1;
    if (strcmp(word, "refuse-own-table") == 0)
        return refuse_own_table(), 1;
    if (strcmp(word, "steal-before") == 0 || strcmp(word, "steal-after") == 0)
        return steal(strcmp(word, "steal-before") == 0 ? BEFORE_WRITE : AFTER_WRITE, first), 2;
    if (strcmp(word, "threads") == 0) {
        for (long i = 0; i < number; i++) {
            pthread_t thread;
            pthread_create(&thread, NULL, one_range, NULL);
            pthread_join(thread, NULL);
        }
        return 2;
    }
    if (strcmp(word, "setenv") == 0)
        return setenv(first, words[2], 1), 3;
    if (strcmp(word, "no-ptrace") == 0)
        return drop_ptrace(), 1;
    if (strcmp(word, "hardware") == 0)
        return printf("hardware %d flushes %zu\n", fake_cupti_hardware(), fake_cupti_flushes()),
               fflush(stdout), 1;
    if (strcmp(word, "practice") == 0) {
        struct fake_cupti_practice practice = fake_cupti_practice();
        printf("zeroed %d per thread %d every %" PRIu32 " ms\n", practice.zeroed_buffers,
               practice.thread_buffers, practice.flush_period_ms);
        return fflush(stdout), 1;
    }
    if (strcmp(word, "counts") == 0)
        return printf("dropped %zu dirty %zu\n", fake_cupti_dropped(), fake_cupti_dirty()), fflush(stdout), 1;
    if (strcmp(word, "exit") == 0) {
        atomic_store(&simulated_ns, 0); /* who waits for us at the end does so by the real clock */
        exit((int)number);
    }
    if (strcmp(word, "_exit") == 0)
        _exit((int)number);
    if (strcmp(word, "abort") == 0)
        abort();
    if (strcmp(word, "terminate") == 0)
        terminate_as_cxx_does();
    if (strcmp(word, "leave") == 0)
        pthread_exit(NULL);
    if (strcmp(word, "kill") == 0)
        return raise((int)number), 2;
    fprintf(stderr, "play: what is %s?\n", word);
    exit(99);
}

int main(int argc, char **argv)
{
    is_application = true;
    expect = fopen(expect_path, "w");
    for (int i = 1; i < argc;)
        i += play(argv + i);
    return 0;
}
