/*
 * play.c - an application on a GPU, without the GPU: does what its words say, one after the other.
 *
 *     play expect FILE cuda records 100000 8 exit 3
 *
 *     expect FILE           lines of what is recorded go to FILE and, for thread N, to FILE.N
 *     cuda                  initialise CUDA
 *     environment           a device, a context, a stream
 *     records COUNT THREADS random records
 *     steady MS             a record every 100 us for MS ms, with its true time; its line is in FILE at once
 *     unknown COUNT, lose COUNT    records of a kind that nobody knows; that CUPTI itself lost
 *     nvtx, push NAME, pop  NVTX; the lines have no times
 *     start, stop, step, api-push NAME, api-pop    tpa_capture.h; what they return is printed
 *     kernel NAME           a kernel now
 *     sleep MS
 *     fork-exit, fork-records, fork-push, fork-kill    a child that ends so; waits for it
 *     steal-files FILE      close all files that we may not have opened, and write into new ones
 *     threads COUNT         as many threads, each with a range, one after the other
 *     counts                print what the fake CUPTI counted
 *     exit N, _exit N, abort, terminate, kill N
 *
 * SLOW_WRITE_US makes each write to a log last so long, FULL_AFTER lets the disk be full after so many bytes.
 */
#include "tests/capture/play.h"

#include <cupti.h>
#include <dlfcn.h>
#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

static const char *expect_path = "/dev/null";
static FILE *expect;

/* The library's writes come here: its file has a large number. */
__attribute__((visibility("default"))) ssize_t write(int fd, const void *bytes, size_t size)
{
    static size_t written;
    const char *slow = getenv("SLOW_WRITE_US"), *full = getenv("FULL_AFTER");
    if (fd >= 200 && slow)
        nanosleep(&(struct timespec){ atol(slow) / 1000000, atol(slow) % 1000000 * 1000 }, NULL);
    if (fd >= 200 && full && written + size > (size_t)atol(full)) {
        size = (size_t)atol(full) > written ? (size_t)atol(full) - written : 0;
        if (size == 0) {
            errno = ENOSPC;
            return -1;
        }
    }
    ssize_t result = syscall(SYS_write, fd, bytes, size);
    if (fd >= 200 && result > 0)
        written += (size_t)result;
    return result;
}

static uint64_t now_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static void sleep_ms(long ms)
{
    nanosleep(&(struct timespec){ ms / 1000, ms % 1000 * 1000000 }, NULL);
}

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
    uint64_t state = 88172645463325252u + (uint64_t)player->number, start = 1000000000;
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
    uint64_t end = now_ns() + (uint64_t)ms * 1000000;
    while (now_ns() < end) {
        kernel("steady");
        nanosleep(&(struct timespec){ .tv_nsec = 100000 }, NULL);
    }
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

/* What a daemon does, then what an application does with the numbers that it thinks are free. */
static void steal_files(const char *path)
{
    for (int fd = 3; fd < 1024; fd++)
        close(fd);
    expect = fopen("/dev/null", "w");
    for (int i = 0; i < 300; i++) {
        FILE *file = fopen(path, "a");
        if (file)
            fputs("mine\n", file), fflush(file);
    }
}

/* Take the function NAME of tpa_capture.h, as a program does that runs with and without it. */
static int call(const char *name, const char *argument)
{
    int (*function)(const char *) = NULL;
    void *library = dlopen(getenv("TPA_CAPTURE_LIBRARY"), RTLD_NOW);
    *(void **)&function = library ? dlsym(library, name) : NULL;
    int result = function ? function(argument) : -100;
    printf("%s %d\n", name, result);
    fflush(stdout);
    return result;
}

static void in_child(const char *how)
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        if (strcmp(how, "fork-push") == 0) {
            play_push("child");
            sleep_ms(50);
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
    if (strcmp(word, "steady") == 0)
        return steady(number), 2;
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
    if (strcmp(word, "sleep") == 0)
        return sleep_ms(number), 2;
    if (strncmp(word, "fork-", 5) == 0)
        return in_child(word), 1;
    if (strcmp(word, "steal-files") == 0)
        return steal_files(first), 2;
    if (strcmp(word, "threads") == 0) {
        for (long i = 0; i < number; i++) {
            pthread_t thread;
            pthread_create(&thread, NULL, one_range, NULL);
            pthread_join(thread, NULL);
        }
        return 2;
    }
    if (strcmp(word, "counts") == 0)
        return printf("dropped %zu dirty %zu\n", fake_cupti_dropped(), fake_cupti_dirty()), fflush(stdout), 1;
    if (strcmp(word, "exit") == 0)
        exit((int)number);
    if (strcmp(word, "_exit") == 0)
        _exit((int)number);
    if (strcmp(word, "abort") == 0)
        abort();
    if (strcmp(word, "terminate") == 0)
        terminate_as_cxx_does();
    if (strcmp(word, "kill") == 0)
        return raise((int)number), 2;
    fprintf(stderr, "play: what is %s?\n", word);
    exit(99);
}

int main(int argc, char **argv)
{
    expect = fopen(expect_path, "w");
    for (int i = 1; i < argc;)
        i += play(argv + i);
    return 0;
}
