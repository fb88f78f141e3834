/* writer.c - see writer.h. */
#include "capture/writer.h"

#include "capture/process_facts.h"
#include "capture/report.h"
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
    READY_BUFFERS = 4,
    /* Applications that close "all" their files close small numbers. */
    HIGH_FD = 200,
    MOST_NAMES = 100,
    PATIENCE_S = 10,
};

/* ---- the file ---- */

/* "run.tpa" becomes "run.4711.tpa", and "run.4711-2.tpa" when there is that too. */
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

/*
 * Functions called ..._there run on the thread of writer->files, which keeps its descriptors from the application. Where the
 * kernel does not give it a table of its own, the descriptor is looked at before each use, which is all that can be done.
 */
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
        snprintf(why, why_size, "cannot create %.400s: %s; give a place that can be written to by -o", path,
                 strerror(errno));
        return false;
    }
    int high = fcntl(fd, F_DUPFD_CLOEXEC, HIGH_FD);
    if (high >= 0) {
        close(fd);
        fd = high;
    }
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

/* In a shared table an application may have closed the file, and its next one has the number: never write into that. */
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
            /* Whole blocks only; when even that fails, readers cope with the rest. */
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

/* ---- what the log says beside the records ---- */

static int64_t wall_ns(void)
{
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

static bool add(struct writer *writer, enum tpafile_kind kind, const int64_t *values)
{
    bool added = tpafile_writer_add(writer->translator.log, kind, values);
    writer->translator.failed |= !added;
    return added;
}

static int64_t text(struct writer *writer, const char *string)
{
    return *string ? tpafile_writer_text(writer->translator.log, string, strlen(string)) : 0;
}

static void add_clock(struct writer *writer)
{
    int64_t before = control_now_ns(), wall = wall_ns(), after = control_now_ns();
    int64_t now = before + (after - before) / 2;
    int64_t values[TPAFILE_CLOCK_FIELDS_END] = {
        [TPAFILE_CLOCK_TIME] = now,
        [TPAFILE_CLOCK_WALL] = wall,
        [TPAFILE_CLOCK_MONOTONIC] = now,
    };
    add(writer, TPAFILE_CLOCK, values);
}

static int64_t known(long value)
{
    return value < 0 ? TPAFILE_NONE : value;
}

struct facts {
    char executable[PATH_MAX], command[16384], driver[64];
    int64_t start_wall_ns;
};

static void read_facts(void *argument)
{
    struct facts *facts = argument;
    process_executable(facts->executable, sizeof facts->executable);
    process_command(facts->command, sizeof facts->command);
    process_driver_name(facts->driver, sizeof facts->driver);
    facts->start_wall_ns = process_start_wall_ns();
}

static void add_process(struct writer *writer)
{
    struct facts facts;
    char host[256], kinds[256] = "";
    own_files_run(&writer->files, read_facts, &facts);
    if (gethostname(host, sizeof host) != 0)
        host[0] = '\0';
    host[sizeof host - 1] = '\0';
    for (unsigned i = 0; i < CAPTURE_KIND_COUNT; i++)
        if (writer->settings->kinds & (UINT32_C(1) << i)) {
            size_t used = strlen(kinds);
            snprintf(kinds + used, sizeof kinds - used, "%s%s", used ? "," : "", capture_kinds[i].word);
        }
    struct capture_rank rank = capture_rank_read();
    int64_t values[TPAFILE_PROCESS_FIELDS_END] = {
        [TPAFILE_PROCESS_PID] = getpid(),
        [TPAFILE_PROCESS_PARENT] = getppid(),
        [TPAFILE_PROCESS_HOST] = text(writer, host),
        [TPAFILE_PROCESS_EXECUTABLE] = text(writer, facts.executable),
        [TPAFILE_PROCESS_COMMAND] = text(writer, facts.command),
        [TPAFILE_PROCESS_START_WALL] = facts.start_wall_ns,
        [TPAFILE_PROCESS_RANK] = known(rank.rank),
        [TPAFILE_PROCESS_LOCAL_RANK] = known(rank.local_rank),
        [TPAFILE_PROCESS_WORLD_SIZE] = known(rank.world_size),
        [TPAFILE_PROCESS_WRITER] = text(writer, "tpa capture " TPA_VERSION),
        [TPAFILE_PROCESS_DRIVER_VERSION] = writer->told_cupti && writer->told_cupti->driver_version
                                               ? writer->told_cupti->driver_version
                                               : TPAFILE_NONE,
        [TPAFILE_PROCESS_RUNTIME_VERSION] = TPAFILE_NONE,
        [TPAFILE_PROCESS_CUPTI_VERSION] =
            writer->told_cupti ? (int64_t)writer->told_cupti->version : TPAFILE_NONE,
        [TPAFILE_PROCESS_KINDS] = text(writer, kinds),
        [TPAFILE_PROCESS_DRIVER_NAME] = text(writer, facts.driver),
    };
    add(writer, TPAFILE_PROCESS, values);
}

static void add_windows(struct writer *writer)
{
    struct control_window windows[CONTROL_MOST_WINDOWS];
    size_t count = control_take_windows(writer->control, windows, CONTROL_MOST_WINDOWS);
    for (size_t i = 0; i < count; i++) {
        if (windows[i].end_ns == 0)
            continue;
        int64_t values[TPAFILE_WINDOW_FIELDS_END] = {
            [TPAFILE_WINDOW_START] = windows[i].start_ns,
            [TPAFILE_WINDOW_DURATION] = windows[i].end_ns - windows[i].start_ns,
            [TPAFILE_WINDOW_WHY] = text(writer, windows[i].why),
        };
        add(writer, TPAFILE_WINDOW, values);
    }
}

static void add_drop(struct writer *writer, uint64_t count, enum tpafile_dropped_why why, int64_t kind)
{
    if (count == 0)
        return;
    int64_t values[TPAFILE_DROPPED_FIELDS_END] = {
        [TPAFILE_DROPPED_TIME] = control_now_ns(),
        [TPAFILE_DROPPED_COUNT] = (int64_t)count,
        [TPAFILE_DROPPED_WHY] = why,
        [TPAFILE_DROPPED_KIND] = kind,
    };
    writer->dropped_in_all += (int64_t)count;
    add(writer, TPAFILE_DROPPED, values);
}

static void add_drops(struct writer *writer)
{
    /* CUPTI's callback asks too, but it is not called again when CUPTI gets no buffer any more. */
    size_t dropped = 0;
    if (writer->translator.cupti &&
        writer->translator.cupti->cuptiActivityGetNumDroppedRecords(NULL, 0, &dropped) == CUPTI_SUCCESS)
        atomic_fetch_add(&writer->dropped_by_cupti, dropped);
    pthread_mutex_lock(&writer->pool.lock);
    uint64_t refused = writer->pool.refused;
    pthread_mutex_unlock(&writer->pool.lock);
    /* CUPTI counts what it drops when it gets no buffer, and what it drops for reasons of its own. */
    add_drop(writer, atomic_exchange(&writer->dropped_by_cupti, 0),
             refused > writer->told_refused ? TPAFILE_DROPPED_BEHIND : TPAFILE_DROPPED_BY_CUPTI,
             TPAFILE_NONE);
    writer->told_refused = refused;
    add_drop(writer, atomic_exchange(&writer->dropped_events, 0), TPAFILE_DROPPED_BEHIND, TPAFILE_RANGE);
    add_drop(writer, writer->translator.unknown, TPAFILE_DROPPED_UNKNOWN, TPAFILE_NONE);
    writer->translator.unknown = 0;
}

/* ---- the thread ---- */

static void take_buffers(struct writer *writer)
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
        if (!writer->translator.failed)
            translate_buffer(&writer->translator, pool_bytes(buffer), buffer->valid);
        pool_give(&writer->pool, buffer);
        atomic_fetch_add(&writer->progress, 1);
    }
}

/* Take RING out of the list; only this thread does, and only at the front do others add. */
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
        bool orphan = atomic_load(&ring->orphan); /* before the last look: nothing comes after it */
        host_log_drain(writer->host_log, ring);
        atomic_fetch_add(&writer->dropped_events, atomic_exchange(&ring->dropped, 0));
        if (orphan) {
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
    if (cupti)
        cupti->cuptiActivityFlushAll(forced ? CUPTI_ACTIVITY_FLAG_FLUSH_FORCED : 0);
}

static void flush_log(struct writer *writer)
{
    if (!writer->told_process || writer->told_cupti != writer->translator.cupti) {
        writer->told_process = true;
        writer->told_cupti = writer->translator.cupti;
        add_process(writer);
    }
    add_clock(writer);
    add_windows(writer);
    add_drops(writer);
    host_log_flush(writer->host_log);
    writer->translator.failed |= !tpafile_writer_flush(writer->translator.log);
}

static void end_log(struct writer *writer, const char *why)
{
    if (!writer->translator.failed) {
        flush_log(writer);
        writer->translator.failed |=
            !tpafile_writer_close(writer->translator.log, control_now_ns(), text(writer, why));
    }
    own_files_run(&writer->files, close_file_there, writer);
    own_files_stop(&writer->files);
}

static void tell_failure(struct writer *writer)
{
    if (writer->write_errno)
        report_trouble("cannot write %s: %s; the log ends there, the program runs on", writer->path,
                       strerror(writer->write_errno));
    else
        report_trouble("too little memory to record on; the log %s ends there, the program runs on",
                       writer->path);
}

/* Sleep until there is something to do. What to end with, or NULL: go on. */
static const char *wait_for_work(struct writer *writer)
{
    struct timespec until;
    clock_gettime(CLOCK_MONOTONIC, &until);
    until.tv_nsec += WRITER_NAP_NS;
    if (until.tv_nsec >= 1000000000) {
        until.tv_sec++;
        until.tv_nsec -= 1000000000;
    }
    pthread_mutex_lock(&writer->lock);
    int result = 0;
    while (!writer->first && !writer->hurry && !writer->stop && result == 0)
        result = pthread_cond_timedwait(&writer->woken, &writer->lock, &until);
    writer->hurry = false;
    const char *why = writer->stop ? writer->why : NULL;
    pthread_mutex_unlock(&writer->lock);
    return why;
}

/* The recording is over while the program runs on: wait a little for what the devices still have to do. */
static void collect_the_rest(struct writer *writer)
{
    for (int i = 0; i < 5; i++) {
        flush_cupti(writer, i == 4);
        take_buffers(writer);
        drain_rings(writer);
        if (i < 4)
            nanosleep(&(struct timespec){ .tv_nsec = WRITER_NAP_NS }, NULL);
    }
}

static void *writer_main(void *argument)
{
    struct writer *writer = argument;
    pthread_setname_np(pthread_self(), "tpa-capture");
    const char *why = NULL;
    int64_t flushed_ns =
        control_now_ns() - WRITER_FLUSH_NS + WRITER_NAP_NS; /* soon, what is known of the process */
    pool_prepare(&writer->pool, READY_BUFFERS);
    while (!why) {
        why = wait_for_work(writer);
        take_buffers(writer);
        drain_rings(writer);
        pool_prepare(&writer->pool, READY_BUFFERS);
        int64_t now = control_now_ns();
        if (control_tick(writer->control, now) && !why) {
            why = "asked for no more";
            collect_the_rest(writer);
        }
        if (!why && now - flushed_ns >= WRITER_FLUSH_NS) {
            flush_cupti(writer, false);
            take_buffers(writer);
            drain_rings(writer);
            flush_log(writer);
            flushed_ns = now;
        }
        atomic_fetch_add(&writer->progress, 1);
        if (writer->translator.failed)
            break;
    }
    if (writer->translator.failed)
        control_end(writer->control);
    take_buffers(writer);
    drain_rings(writer);
    end_log(writer, why ? why : "");
    if (writer->translator.failed)
        tell_failure(writer);
    writer->translator.failed = true; /* what still comes is not for the log */
    writer->on_end();

    pthread_mutex_lock(&writer->lock);
    writer->done = true;
    pthread_cond_broadcast(&writer->ended);
    pthread_mutex_unlock(&writer->lock);
    take_buffers(writer); /* what came in between */
    pool_release(&writer->pool);
    tpafile_writer_free(writer->translator.log);
    host_log_free(writer->host_log);
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

    /* No signal of the application is handled on our thread; and SIGXFSZ and SIGPIPE, which a full disk could raise,
     * become errors of write. */
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
        .wall_ns = wall_ns(),
        .monotonic_ns = control_now_ns(),
        .pid = getpid(),
    });
    writer->host_log = host_log_open(&writer->translator);
    errno = ENOMEM;
    if (writer->translator.log && writer->host_log) {
        own_files_run(&writer->files, report_begin_there, writer);
        if (start_thread(writer))
            return true;
    }
    snprintf(why, why_size, "cannot begin %.400s: %s; the program runs on", writer->path,
             strerror(writer->write_errno ? writer->write_errno : errno));
    tpafile_writer_free(writer->translator.log);
    host_log_free(writer->host_log);
    own_files_stop(&writer->files); /* which closes the file, where it has a table of its own */
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

void writer_take_buffer(struct writer *writer, uint8_t *bytes, size_t valid)
{
    struct pool_buffer *buffer = pool_buffer_of(bytes);
    buffer->valid = valid;
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
        pool_give(&writer->pool, buffer);
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
