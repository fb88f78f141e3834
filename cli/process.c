/* Input goes through a socket, because a write to it can avoid SIGPIPE when the program ends without reading all of it.
 * A failed start is reported through a pipe that a successful exec closes. */
#include "cli/process.h"
#include "base/moment.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#ifdef __linux__
#include <sys/prctl.h>
#endif

enum { MOST_ERRORS = 65536 };

/* Our ends; -1: closed. */
struct ends {
    int input, output, errors, failure;
};

static void close_end(int *end)
{
    if (*end >= 0)
        close(*end);
    *end = -1;
}

static void close_ends(struct ends *ends)
{
    close_end(&ends->input);
    close_end(&ends->output);
    close_end(&ends->errors);
    close_end(&ends->failure);
}

/* Create a pair OURS and THEIRS; both are closed on exec. */
static bool open_ends(struct ends *ours, struct ends *theirs)
{
    int sockets[2], output[2], errors[2], failure[2];
    *ours = *theirs = (struct ends){ -1, -1, -1, -1 };
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) == 0) {
        ours->input = sockets[0];
        theirs->input = sockets[1];
    }
    if (pipe2(output, O_CLOEXEC) == 0) {
        ours->output = output[0];
        theirs->output = output[1];
    }
    if (pipe2(errors, O_CLOEXEC) == 0) {
        ours->errors = errors[0];
        theirs->errors = errors[1];
    }
    if (pipe2(failure, O_CLOEXEC) == 0) {
        ours->failure = failure[0];
        theirs->failure = failure[1];
    }
    return ours->input >= 0 && ours->output >= 0 && ours->errors >= 0 && ours->failure >= 0;
}

/* In the child: execute the program, or report the error. */
static void process_become(const char *const argv[], const struct ends *ends)
{
#ifdef __linux__
    prctl(PR_SET_PDEATHSIG, SIGTERM); /* ends the program if we are killed */
#endif
    if (dup2(ends->input, 0) >= 0 && dup2(ends->output, 1) >= 0 && dup2(ends->errors, 2) >= 0)
        execvp(argv[0], (char *const *)(uintptr_t)argv);
    int code = errno;
    ssize_t written = write(ends->failure, &code, sizeof code);
    _exit(written > 0 ? 127 : 126);
}

/* Read available data, and close *END at its end. False and errno if reading fails, so that the data is incomplete. */
static bool process_collect(int *end, struct buffer *into, size_t most)
{
    char bytes[16384];
    ssize_t count = read(*end, bytes, sizeof bytes);
    if (count < 0)
        return errno == EINTR || errno == EAGAIN;
    if (into->count < most)
        buffer_add(into, bytes, (size_t)count < most - into->count ? (size_t)count : most - into->count);
    if (count == 0)
        close_end(end);
    return true;
}

/* Write the input and read the output until both are done; false and errno if reading fails, ETIMEDOUT on timeout. */
static bool talk(struct ends *ends, const char *input, size_t len, int64_t until_ms,
                 struct process_result *result)
{
    size_t sent = 0;
    if (len == 0)
        close_end(&ends->input);
    while (ends->output >= 0 || ends->errors >= 0) {
        struct pollfd polled[3] = { { ends->input, POLLOUT, 0 },
                                    { ends->output, POLLIN, 0 },
                                    { ends->errors, POLLIN, 0 } };
        int64_t left_ms = until_ms - moment_steady() / 1000000;
        if (left_ms <= 0) {
            errno = ETIMEDOUT;
            return false;
        }
        if (poll(polled, 3, (int)(left_ms < 1000 ? left_ms : 1000)) <= 0)
            continue; /* interrupted, or time to check the clock */
        if (polled[0].revents) {
            ssize_t count = send(ends->input, input + sent, len - sent, MSG_NOSIGNAL | MSG_DONTWAIT);
            sent += count > 0 ? (size_t)count : 0;
            if (sent == len || (count < 0 && errno != EAGAIN && errno != EINTR))
                close_end(&ends->input); /* the program need not read all input */
        }
        if ((polled[1].revents && !process_collect(&ends->output, &result->output, SIZE_MAX)) ||
            (polled[2].revents && !process_collect(&ends->errors, &result->errors, MOST_ERRORS)))
            return false;
    }
    return true;
}

/* Wait until CHILD has ended; false and ETIMEDOUT on timeout. */
static bool wait_for(pid_t child, int64_t until_ms, int *status)
{
    pid_t ended;
    while ((ended = waitpid(child, status, WNOHANG)) == 0 || (ended < 0 && errno == EINTR)) {
        if (moment_steady() / 1000000 >= until_ms) {
            errno = ETIMEDOUT;
            return false;
        }
        nanosleep(&(struct timespec){ .tv_nsec = 2000000 }, NULL);
    }
    return true;
}

bool process_run(const char *const argv[], const char *input, size_t len, int timeout_s,
                 struct process_result *result, struct tpa_error *err)
{
    *result = (struct process_result){ 0 };
    struct ends ours, theirs;
    pid_t child = -1;
    if (open_ends(&ours, &theirs))
        child = fork();
    if (child < 0) {
        tpa_fail_errno(err, "cannot start %s", argv[0]);
        close_ends(&ours);
        close_ends(&theirs);
        return false;
    }
    if (child == 0)
        process_become(argv, &theirs);
    close_ends(&theirs);
    int code = 0, status = 0;
    if (read(ours.failure, &code, sizeof code) == (ssize_t)sizeof code) {
        waitpid(child, &status, 0);
        close_ends(&ours);
        result->not_found = code == ENOENT;
        errno = code;
        return tpa_fail_errno(err, "cannot start %s", argv[0]);
    }
    int64_t until_ms = moment_steady() / 1000000 + (int64_t)timeout_s * 1000;
    bool done = talk(&ours, input, len, until_ms, result) && wait_for(child, until_ms, &status);
    code = errno;
    close_ends(&ours);
    if (!done) {
        kill(child, SIGKILL);
        waitpid(child, &status, 0);
        errno = code;
        if (code != ETIMEDOUT)
            return tpa_fail_errno(err, "cannot read what %s writes", argv[0]);
        return tpa_fail(err, TPA_NOWHERE, "%s was not done after %d s and was stopped", argv[0], timeout_s);
    }
    result->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    return true;
}

void process_release(struct process_result *result)
{
    EACH(buffer_release, &result->output, &result->errors);
}
