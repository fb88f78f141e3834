#include "capture/writer.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    READY_BUFFERS = 4,
    /* Applications that close "all" their files close only small descriptors. */
    HIGH_FD = 200,
    MOST_NAMES = 100,
    PATIENCE_S = 10,
};

/* ---- the file ---- */

/* "run.tpa" becomes "run.4711.tpa", and "run.4711-2.tpa" if that exists as well. */
static bool make_name(const char *path, int attempt, char *name, size_t size)
{
    const char *slash = strrchr(path, '/');
    const char *dot = strrchr(slash ? slash : path, '.');
    int stem = dot && dot > (slash ? slash + 1 : path) ? (int)(dot - path) : (int)strlen(path);
    int len = attempt == 0 ? snprintf(name, size, "%s", path)
              : attempt == 1
                  ? snprintf(name, size, "%.*s.%ld%s", stem, path, (long)getpid(), path + stem)
                  : snprintf(name, size, "%.*s.%ld-%d%s", stem, path, (long)getpid(), attempt, path + stem);
    return len > 0 && (size_t)len < size;
}

/* Functions called ..._there run on the thread of writer->files, which keeps its descriptors from the application. If
 * the kernel refuses it a table of its own, the descriptor is checked before each use, which is the best that can be
 * done. */
struct opening {
    struct writer *writer;
    char *why;
    size_t why_size;
    bool opened;
};

static bool open_file(struct writer *writer, char *why, size_t why_size)
{
    char path[PATH_MAX];
    if (!capture_settings_expand(writer->settings->output, getpid(), path, sizeof path)) {
        snprintf(why, why_size, "the name %.200s is too long or has another %% than %%p, %%h, %%r and %%%%",
                 writer->settings->output);
        return false;
    }
    int fd = -1;
    for (int attempt = 0; attempt < MOST_NAMES && fd < 0; attempt++) {
        if (!make_name(path, attempt, writer->path, sizeof writer->path))
            break;
        fd = open(writer->path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOCTTY,
                  writer->settings->is_public ? 0666 : 0600);
        if (fd < 0 && errno != EEXIST)
            break;
    }
    if (fd < 0) {
        snprintf(why, why_size, "cannot create %.400s: %s; name a writable place with -o", path,
                 strerror(errno));
        return false;
    }
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
    flock(fd, LOCK_EX | LOCK_NB); /* shows another tpa capture that the log is in use */
    struct stat status;
    if (fstat(fd, &status) == 0) {
        writer->device = status.st_dev;
        writer->inode = status.st_ino;
    }
    writer->fd = fd;
    return true;
}

static void open_file_there(void *argument)
{
    struct opening *opening = argument;
    opening->opened = open_file(opening->writer, opening->why, opening->why_size);
}

/* In a shared table the application may have closed the file, and another file may have the descriptor: never write to
 * that. */
static bool file_is_ours(struct writer *writer)
{
    struct stat status;
    if (fstat(writer->fd, &status) == 0 && status.st_dev == writer->device && status.st_ino == writer->inode)
        return true;
    writer->fd = open(writer->path, O_WRONLY | O_APPEND | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (writer->fd >= 0 && fstat(writer->fd, &status) == 0 && status.st_dev == writer->device &&
        status.st_ino == writer->inode)
        return true;
    if (writer->fd >= 0)
        close(writer->fd);
    writer->fd = -1;
    errno = ENOENT;
    return false;
}

struct writing {
    struct writer *writer;
    const char *at;
    size_t left;
};

static void write_there(void *argument)
{
    struct writing *writing = argument;
    struct writer *writer = writing->writer;
    if (!file_is_ours(writer)) {
        writer->write_errno = errno;
        return;
    }
    while (writing->left > 0) {
        ssize_t written = write(writer->fd, writing->at, writing->left);
        if (written < 0 && (errno == EINTR || (errno == EBADF && file_is_ours(writer))))
            continue;
        if (written <= 0) {
            writer->write_errno = written < 0 ? errno : ENOSPC;
            /* Whole blocks only; when even that fails, readers handle an incomplete block. */
            if (ftruncate(writer->fd, writer->size) != 0)
                return;
            return;
        }
        writing->at += written;
        writing->left -= (size_t)written;
        atomic_fetch_add(&writer->progress, 1);
    }
}

static bool write_blocks(void *context, const void *bytes, size_t size)
{
    struct writer *writer = context;
    struct writing writing = { writer, bytes, size };
    own_files_run(&writer->files, write_there, &writing);
    if (writing.left > 0)
        return false;
    writer->size += (int64_t)size;
    return true;
}

static void close_file_there(void *argument)
{
    struct writer *writer = argument;
    const struct tpafile_written *written = tpafile_writer_written(writer->translator.log);
    report_end(writer->path, writer->size, (int64_t)written->records, writer->dropped_in_all);
    if (writer->fd >= 0 && file_is_ours(writer))
        close(writer->fd);
    writer->fd = -1;
}

static void report_begin_there(void *argument)
{
    report_begin(((const struct writer *)argument)->path);
}

/* ---- the thread ---- */

static void collect_buffers(struct writer *writer)
{
    for (;;) {
        pthread_mutex_lock(&writer->lock);
        struct pool_buffer *buffer = writer->first;
        if (buffer) {
            writer->first = buffer->next;
            if (!writer->first)
                writer->last = &writer->first;
        }
        writer->translator.cupti = writer->cupti;
        writer->translator.calls = writer->calls;
        pthread_mutex_unlock(&writer->lock);
        if (!buffer)
            return;
        if (!writer->translator.failed && writer->recent)
            recent_add_records(writer->recent, pool_bytes(buffer), buffer->valid, buffer->came_ns);
        else if (!writer->translator.failed)
            translate_buffer(&writer->translator, pool_bytes(buffer), buffer->valid);
        pool_assign(&writer->pool, buffer);
        atomic_fetch_add(&writer->progress, 1);
    }
}

/* Remove RING from the list; only this thread removes, and others add only at the front. */
static void unlink_ring(struct writer *writer, struct host_ring *ring)
{
    struct host_ring *front = ring;
    if (atomic_compare_exchange_strong(&writer->rings, &front, ring->next))
        return;
    struct host_ring *before = front;
    while (before->next != ring)
        before = before->next;
    before->next = ring->next;
}

static void drain_rings(struct writer *writer)
{
    struct host_ring *next;
    for (struct host_ring *ring = atomic_load(&writer->rings); ring; ring = next) {
        next = ring->next;
        /* read before the ring is emptied: no event follows later */
        bool orphan = atomic_load(&ring->orphan);
        if (writer->recent)
            recent_drain(writer->recent, ring);
        else
            host_log_drain(writer->host_log, ring);
        atomic_fetch_add(&writer->dropped_events, atomic_exchange(&ring->dropped, 0));
        if (orphan) {
            if (!writer->recent) /* its kept events still refer to it */
                host_log_forget_thread(writer->host_log, ring->tid);
            unlink_ring(writer, ring);
            host_ring_free(ring);
            atomic_fetch_sub(&writer->ring_count, 1);
        }
    }
}

static void flush_cupti(struct writer *writer, bool forced)
{
    pthread_mutex_lock(&writer->lock);
    const struct cupti *cupti = writer->cupti;
    pthread_mutex_unlock(&writer->lock);
    if (cupti && !hardware_forbids_flush())
        cupti->cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

static void collect(struct writer *writer)
{
    collect_buffers(writer);
    drain_rings(writer);
}

static void flush_log(struct writer *writer)
{
    if (!writer->recorded_process)
        control_describe_begin(writer->control);
    if (!writer->recorded_process ||
        (writer->recorded_cupti != writer->translator.cupti && hardware_is_decided())) {
        writer->recorded_process = true;
        writer->recorded_cupti = writer->translator.cupti;
        writer_add_process(writer);
    }
    writer_add_clock(writer);
    if (!writer->recent)
        writer_add_windows(writer, 0, NULL);
    writer_add_drops(writer);
    writer_add_notes(writer);
    host_log_flush(writer->host_log);
    writer->translator.failed |= !tpafile_writer_flush(writer->translator.log);
}

/* Write the contents of the ring, and report WHY. */
static void write_ring(struct writer *writer, const char *why)
{
    flush_cupti(writer, false);
    collect(writer);
    int64_t since_ns = recent_write(writer->recent);
    writer_add_windows(writer, since_ns, why);
    writer->ring_writes++;
    notes_add("ring_written", "the last %.1f s are written: %s", (double)(clock_now_ns() - since_ns) / 1e9,
              why);
    flush_log(writer);
}

/* At the end the ring is written, unless it is written at slow steps only. */
static void end_ring(struct writer *writer)
{
    char why[160];
    if (control_collect_write(writer->control, INT64_MAX, why, sizeof why))
        write_ring(writer, why);
    else if (writer->settings->slow == 0)
        write_ring(writer, "the end");
    else if (writer->ring_writes == 0)
        notes_add("ring_unused", "no step was slow, so nothing was written");
}

static void end_log(struct writer *writer, const char *why)
{
    if (!writer->translator.failed) {
        hardware_describe_end();
        control_describe_end(writer->control);
        if (writer->recent)
            end_ring(writer);
        flush_log(writer);
        int64_t reason = *why ? tpafile_writer_text(writer->translator.log, why, strlen(why)) : 0;
        writer->translator.failed |= !tpafile_writer_close(writer->translator.log, clock_now_ns(), reason);
    }
    own_files_run(&writer->files, close_file_there, writer);
    own_files_stop(&writer->files);
}

static void emit_failure(struct writer *writer)
{
    if (writer->write_errno)
        report_trouble("cannot write %s: %s; the log ends there, the program runs on", writer->path,
                       strerror(writer->write_errno));
    else
        report_trouble("too little memory to go on recording; the log %s ends there, the program runs on",
                       writer->path);
}

/* Sleep until there is something to do. Returns the reason to end, or NULL to continue. */
static const char *wait_for_work(struct writer *writer)
{
    int64_t until_ns = clock_now_ns() + WRITER_NAP_NS, next_ns = control_next_ns(writer->control);
    until_ns = next_ns < until_ns ? next_ns : until_ns;
    struct timespec until = { until_ns / 1000000000, until_ns % 1000000000 };
    pthread_mutex_lock(&writer->lock);
    int result = 0;
    while (!writer->first && !writer->hurry && !writer->stop && result == 0)
        result = pthread_cond_timedwait(&writer->woken, &writer->lock, &until);
    writer->hurry = false;
    const char *why = writer->stop ? writer->why : NULL;
    pthread_mutex_unlock(&writer->lock);
    return why;
}

/* The recording is over while the program runs on: wait briefly for work still running on devices. */
static void collect_the_rest(struct writer *writer)
{
    for (int i = 0; i < 5; i++) {
        flush_cupti(writer, i == 4);
        collect(writer);
        if (i < 4)
            nanosleep(&(struct timespec){ .tv_nsec = WRITER_NAP_NS }, NULL);
    }
}

/* CPU time of our two threads plus the time that CUPTI reports as its own, in ns. */
static int64_t own_ns(struct writer *writer)
{
    struct timespec here = { 0 }, files = { 0 };
    clockid_t clock;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &here);
    if (pthread_getcpuclockid(writer->files.thread, &clock) == 0)
        clock_gettime(clock, &files);
    return (int64_t)(here.tv_sec + files.tv_sec) * 1000000000 + here.tv_nsec + files.tv_nsec +
           writer->translator.overhead_ns;
}

/* The first bytes of /proc/self/task/ID/NAME in TEXT; "" if it cannot be read. */
static void read_task(const char *id, const char *name, char *text, size_t size)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/self/task/%.200s/%s", id, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t len = fd >= 0 ? read(fd, text, size - 1) : -1;
    if (fd >= 0)
        close(fd);
    text[len > 0 ? len : 0] = '\0';
}

/* Are only our threads left: has the main thread ended by pthread_exit, and have all others, too? A thread that CUPTI makes
 * in a call of ours inherits our name. On the thread with its own files. */
static void look_for_others(void *argument)
{
    bool *alone = argument;
    char text[512], leader[32];
    snprintf(leader, sizeof leader, "%ld", (long)getpid());
    read_task(leader, "stat", text, sizeof text);
    const char *state = strrchr(text, ')'); /* "4711 (name) Z ..." */
    DIR *tasks = state && strncmp(state, ") Z", 3) == 0 ? opendir("/proc/self/task") : NULL;
    *alone = tasks != NULL;
    for (const struct dirent *entry; tasks && *alone && (entry = readdir(tasks)) != NULL;) {
        if (entry->d_name[0] == '.' || strcmp(entry->d_name, leader) == 0)
            continue;
        read_task(entry->d_name, "comm", text, sizeof text);
        *alone = !*text || strncmp(text, "tpa-capture", strlen("tpa-capture")) == 0; /* "": it has ended */
    }
    if (tasks)
        closedir(tasks);
}

/* One round of the writer. Returns the reason to end, or NULL to continue. */
static const char *go_round(struct writer *writer, int64_t *flushed_ns)
{
    char write_why[160];
    const char *why = wait_for_work(writer);
    collect(writer);
    pool_prepare(&writer->pool, READY_BUFFERS);
    int64_t now = clock_now_ns();
    if (control_tick(writer->control, now, own_ns(writer)) && !why && !hardware_forbids_flush()) {
        why = "everything requested was recorded";
        collect_the_rest(writer);
    }
    if (!why && now - *flushed_ns >= WRITER_FLUSH_NS) {
        flush_cupti(writer, false);
        collect(writer);
        if (!writer->recent || !writer->recorded_process)
            flush_log(writer);
        *flushed_ns = now;
        own_files_run(&writer->files, look_for_others, &writer->alone);
        if (writer->alone)
            why = "all threads of the program have ended";
    }
    if (writer->recent && control_collect_write(writer->control, now, write_why, sizeof write_why))
        write_ring(writer, write_why);
    atomic_fetch_add(&writer->progress, 1);
    return why;
}

static void *writer_main(void *argument)
{
    struct writer *writer = argument;
    pthread_setname_np(pthread_self(), "tpa-capture");
    const char *why = NULL;
    int64_t flushed_ns =
        clock_now_ns() - WRITER_FLUSH_NS + WRITER_NAP_NS; /* write the facts of the process soon */
    pool_prepare(&writer->pool, READY_BUFFERS);
    while (!why && !writer->translator.failed)
        why = go_round(writer, &flushed_ns);
    if (writer->translator.failed)
        control_end(writer->control);
    collect(writer);
    end_log(writer, why ? why : "");
    if (writer->translator.failed)
        emit_failure(writer);
    writer->translator.failed = true; /* later records are not logged */
    writer->on_end();

    pthread_mutex_lock(&writer->lock);
    writer->done = true;
    pthread_cond_broadcast(&writer->ended);
    pthread_mutex_unlock(&writer->lock);
    collect_buffers(writer); /* those that arrived in between */
    pool_release(&writer->pool);
    recent_free(writer->recent);
    tpafile_writer_free(writer->translator.log);
    host_log_free(writer->host_log);
    if (writer->alone)
        exit(EXIT_SUCCESS); /* as the C library does when the last thread ends, which CUPTI's may not */
    return NULL;
}

/* ---- for the other threads ---- */

static bool start_thread(struct writer *writer)
{
    pthread_condattr_t monotonic;
    pthread_condattr_init(&monotonic);
    pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
    pthread_cond_init(&writer->woken, &monotonic);
    pthread_cond_init(&writer->ended, &monotonic);
    pthread_condattr_destroy(&monotonic);

    /* Block all signals, so that no signal of the application is handled on our thread, and SIGXFSZ and SIGPIPE, which
     * a full disk could raise, become errors of write. */
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    pthread_t thread;
    int result = pthread_create(&thread, NULL, writer_main, writer);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (result == 0)
        pthread_detach(thread);
    errno = result;
    return result == 0;
}

bool writer_start(struct writer *writer, const struct capture_settings *settings, struct control *control,
                  void (*on_end)(void), char *why, size_t why_size)
{
    memset(writer, 0, sizeof *writer);
    writer->settings = settings;
    writer->control = control;
    writer->on_end = on_end;
    writer->last = &writer->first;
    writer->fd = -1;
    pthread_mutex_init(&writer->lock, NULL);
    pool_init(&writer->pool, settings->memory_bytes / 4 * 3);
    if (!own_files_start(&writer->files)) {
        snprintf(why, why_size, "cannot start a thread: %s; the program runs on", strerror(errno));
        return false;
    }
    struct opening opening = { writer, why, why_size, false };
    own_files_run(&writer->files, open_file_there, &opening);
    if (!opening.opened) {
        own_files_stop(&writer->files);
        return false;
    }
    writer->translator.files = &writer->files;
    writer->translator.log = tpafile_writer_open(&(struct tpafile_writer_options){
        .sink = write_blocks,
        .context = writer,
        .wall_ns = clock_wall_ns(),
        .monotonic_ns = clock_now_ns(),
        .pid = getpid(),
    });
    writer->host_log = host_log_open(&writer->translator);
    if (settings->ring_bytes > 0)
        writer->recent = recent_open(settings->ring_bytes, &writer->translator, writer->host_log);
    errno = ENOMEM;
    if (writer->translator.log && writer->host_log && (writer->recent || settings->ring_bytes == 0)) {
        own_files_run(&writer->files, report_begin_there, writer);
        if (start_thread(writer))
            return true;
    }
    snprintf(why, why_size, "cannot begin %.400s: %s; the program runs on", writer->path,
             strerror(writer->write_errno ? writer->write_errno : errno));
    recent_free(writer->recent);
    tpafile_writer_free(writer->translator.log);
    host_log_free(writer->host_log);
    own_files_stop(&writer->files); /* also closes the file, if it has a table of its own */
    writer_forget(writer);
    unlink(writer->path);
    return false;
}

void writer_use_cupti(struct writer *writer, const struct cupti *cupti, const struct capture_calls *calls)
{
    pthread_mutex_lock(&writer->lock);
    writer->cupti = cupti;
    writer->calls = calls;
    pthread_mutex_unlock(&writer->lock);
}

void writer_collect_buffer(struct writer *writer, uint8_t *bytes, size_t valid)
{
    struct pool_buffer *buffer = pool_buffer_of(bytes);
    buffer->valid = valid;
    buffer->came_ns = clock_now_ns();
    buffer->next = NULL;
    pthread_mutex_lock(&writer->lock);
    bool taken = !writer->done;
    if (taken) {
        *writer->last = buffer;
        writer->last = &buffer->next;
        pthread_cond_signal(&writer->woken);
    }
    pthread_mutex_unlock(&writer->lock);
    if (!taken)
        pool_assign(&writer->pool, buffer);
}

struct host_ring *writer_open_ring(struct writer *writer)
{
    uint32_t most = (uint32_t)(writer->settings->memory_bytes / 4 / sizeof(struct host_ring));
    if (atomic_fetch_add(&writer->ring_count, 1) >= most) {
        atomic_fetch_sub(&writer->ring_count, 1);
        return NULL;
    }
    struct host_ring *ring = host_ring_open();
    if (!ring) {
        atomic_fetch_sub(&writer->ring_count, 1);
        return NULL;
    }
    ring->next = atomic_load(&writer->rings);
    while (!atomic_compare_exchange_weak(&writer->rings, &ring->next, ring))
        ;
    return ring;
}

void writer_hurry(struct writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->hurry = true;
    pthread_cond_signal(&writer->woken);
    pthread_mutex_unlock(&writer->lock);
}

bool writer_stop(struct writer *writer, const char *why)
{
    pthread_mutex_lock(&writer->lock);
    writer->stop = true;
    writer->why = why;
    pthread_cond_signal(&writer->woken);
    uint64_t progress = atomic_load(&writer->progress);
    int idle_s = 0;
    while (!writer->done && idle_s < PATIENCE_S) {
        struct timespec until;
        clock_gettime(CLOCK_MONOTONIC, &until);
        until.tv_sec++;
        int result = pthread_cond_timedwait(&writer->ended, &writer->lock, &until);
        uint64_t now = atomic_load(&writer->progress);
        idle_s = result == 0 || now != progress ? 0 : idle_s + 1;
        progress = now;
    }
    bool done = writer->done;
    pthread_mutex_unlock(&writer->lock);
    return done;
}

void writer_forget(struct writer *writer)
{
    struct stat status;
    if (writer->settings && writer->fd >= 0 && fstat(writer->fd, &status) == 0 &&
        status.st_dev == writer->device && status.st_ino == writer->inode)
        close(writer->fd);
}
