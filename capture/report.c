/* A line is one write of less than PIPE_BUF bytes, so lines of several processes do not mix;
 * on a fifo without a reader, or a full one, the line is lost without waiting. */
#include "capture/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

static char report_fifo[PATH_MAX];
static atomic_int trouble_pid; /* process that reported a failure; a forked child may report its own */

void report_to(const char *fifo)
{
    snprintf(report_fifo, sizeof report_fifo, "%s", fifo);
}

/* Write without raising SIGPIPE in the application. */
static bool write_line(int fd, const char *line, size_t len)
{
    sigset_t pipe_signal, before, pending;
    sigemptyset(&pipe_signal);
    sigaddset(&pipe_signal, SIGPIPE);
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, &pipe_signal, &before);
    bool written = write(fd, line, len) == (ssize_t)len;
    if (!written && errno == EPIPE && !sigismember(&pending, SIGPIPE))
        sigtimedwait(&pipe_signal, NULL, &(struct timespec){ 0 });
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    return written;
}

/* For threads with a file table of their own: see parts.h. */
static bool send_line(const char *line, size_t len)
{
    if (report_fifo[0] == '\0')
        return false;
    int fd = open(report_fifo, O_WRONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY | O_NOFOLLOW);
    if (fd < 0)
        return false;
    /* If this process outlives `tpa capture`, the path of its fifo may be any file by now. */
    struct stat status;
    bool ours = fstat(fd, &status) == 0 && S_ISFIFO(status.st_mode) && status.st_uid == geteuid();
    bool sent = ours && write_line(fd, line, len);
    close(fd);
    return sent;
}

/* Make one line: tabs and newlines inside fields are replaced. */
static void clean(char *text)
{
    for (; *text; text++)
        if ((unsigned char)*text < ' ' || *text == 0x7f)
            *text = ' ';
}

static void report(const char *word, const char *fields)
{
    char line[PIPE_BUF];
    int len = snprintf(line, sizeof line, "%s\t%ld\t%s\n", word, (long)getpid(), fields);
    if (len > 0 && (size_t)len < sizeof line)
        send_line(line, (size_t)len);
}

void report_begin(const char *path)
{
    char fields[PIPE_BUF - 64];
    snprintf(fields, sizeof fields, "%s", path);
    clean(fields);
    report("begin", fields);
}

void report_end(const char *path, int64_t bytes, int64_t records, int64_t dropped)
{
    char name[PIPE_BUF - 256], fields[PIPE_BUF - 64];
    snprintf(name, sizeof name, "%s", path);
    clean(name);
    snprintf(fields, sizeof fields, "%s\t%" PRId64 "\t%" PRId64 "\t%" PRId64, name, bytes, records, dropped);
    report("end", fields);
}

struct sending {
    const char *line;
    size_t len;
    bool sent;
};

static void send_there(void *argument)
{
    struct sending *sending = argument;
    sending->sent = send_line(sending->line, sending->len);
}

/* As send_line, on the application's own thread: the file is opened in a file table of its own, if possible. */
static bool send_from_anywhere(const char *line, size_t len)
{
    struct sending sending = { line, len, false };
    struct own_files files;
    if (report_fifo[0] == '\0')
        return false;
    if (own_files_start(&files)) {
        own_files_run(&files, send_there, &sending);
        own_files_stop(&files);
    } else {
        send_there(&sending);
    }
    return sending.sent;
}

/* Write SENTENCE to the fifo as a line of kind WORD; without a fifo, to stderr. */
static void report_describe(const char *word, char *sentence)
{
    char line[PIPE_BUF];
    clean(sentence);
    int len = snprintf(line, sizeof line, "%s\t%d\t%s\n", word, (int)getpid(), sentence);
    if (send_from_anywhere(line, (size_t)len))
        return;
    len = snprintf(line, sizeof line, "tpa capture: %s\n", sentence);
    write_line(STDERR_FILENO, line, (size_t)len);
}

void report_trouble(const char *fmt, ...)
{
    int saved = errno;
    int pid = (int)getpid();
    if (atomic_exchange(&trouble_pid, pid) == pid)
        return;
    char sentence[PIPE_BUF - 128];
    va_list args;
    va_start(args, fmt);
    vsnprintf(sentence, sizeof sentence, fmt, args);
    va_end(args);
    report_describe("trouble", sentence);
    errno = saved;
}

void report_note(const char *sentence)
{
    int saved = errno;
    char text[PIPE_BUF - 128];
    snprintf(text, sizeof text, "%s", sentence);
    report_describe("note", text);
    errno = saved;
}
