/* One loop waits for lines and for the end of the program; signals are let through
 * only while it waits, so none is missed. */
#include "cli/terminal.h"
#include "cli/parts.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

/* The process that signals are forwarded to; 0 before and after. */
static volatile sig_atomic_t program_pid;

static void pass_on(int number)
{
    if (program_pid > 0)
        kill((pid_t)program_pid, number);
}

static void wake_up(int number)
{
    (void)number;
}

static const int passed_on[] = { SIGTERM, SIGHUP, SIGUSR1, SIGUSR2, SIGCONT, SIGWINCH };
/* The terminal sends these to the program itself. */
static const int left_to_it[] = { SIGINT, SIGQUIT };
enum {
    PASSED_ON = sizeof passed_on / sizeof *passed_on,
    LEFT_TO_IT = sizeof left_to_it / sizeof *left_to_it,
};

struct former_actions {
    struct sigaction passed_on[PASSED_ON], left_to_it[LEFT_TO_IT], child;
    sigset_t mask;
};

static void collect_signals(struct former_actions *former)
{
    sigset_t handled;
    sigemptyset(&handled);
    sigaddset(&handled, SIGCHLD);
    for (int i = 0; i < PASSED_ON; i++)
        sigaddset(&handled, passed_on[i]);
    sigprocmask(SIG_BLOCK, &handled, &former->mask);
    sigaction(SIGCHLD, &(struct sigaction){ .sa_handler = wake_up }, &former->child);
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &(struct sigaction){ .sa_handler = pass_on, .sa_flags = SA_RESTART },
                  &former->passed_on[i]);
    for (int i = 0; i < LEFT_TO_IT; i++)
        sigaction(left_to_it[i], &(struct sigaction){ .sa_handler = SIG_IGN }, &former->left_to_it[i]);
}

static void restore_signals(const struct former_actions *former)
{
    for (int i = 0; i < PASSED_ON; i++)
        sigaction(passed_on[i], &former->passed_on[i], NULL);
    for (int i = 0; i < LEFT_TO_IT; i++)
        sigaction(left_to_it[i], &former->left_to_it[i], NULL);
    sigaction(SIGCHLD, &former->child, NULL);
    sigprocmask(SIG_SETMASK, &former->mask, NULL);
}

/* In the child. The program inherits our original signal settings. */
static void run_program_become(char *const *argv, const struct former_actions *former)
{
    restore_signals(former);
    execvp(argv[0], argv);
    int error = errno;
    terminal_print(error == ENOENT ? "tpa: %s: %s; a program is found on PATH, or by its path: ./PROGRAM\n"
                                   : "tpa: %s: %s\n",
                   argv[0], strerror(error));
    _exit(error == ENOENT ? 127 : 126);
}

/* Text of the fifo that is not yet a line. */
struct line_reader {
    int fd;
    size_t used;
    char text[8192];
};

static void read_lines(struct line_reader *reader, take_line_function *take_line, void *context)
{
    ssize_t got;
    while ((got = read(reader->fd, reader->text + reader->used, sizeof reader->text - reader->used)) > 0) {
        reader->used += (size_t)got;
        char *line = reader->text, *end;
        while ((end = memchr(line, '\n', reader->used - (size_t)(line - reader->text))) != NULL) {
            *end = '\0';
            take_line(context, line);
            line = end + 1;
        }
        reader->used -= (size_t)(line - reader->text);
        memmove(reader->text, line, reader->used);
        if (reader->used == sizeof reader->text)
            reader->used = 0; /* no writer writes such long lines */
    }
}

bool program_is_found(const char *name)
{
    const char *path = getenv("PATH");
    if (strchr(name, '/') || !path)
        return access(name, X_OK) == 0 || !path;
    bool found = false;
    SCOPED struct buffer file = { 0 };
    for (size_t len; !found; path += len + 1) {
        len = strcspn(path, ":");
        buffer_clear(&file);
        buffer_printf(&file, "%.*s/%s", len ? (int)len : 1, len ? path : ".", name);
        found = access(file.at, X_OK) == 0;
        if (!path[len])
            break;
    }
    return found;
}

bool run_program(char *const *argv, const char *fifo, take_line_function *take_line, void *context,
                 struct program_end *end, struct tpa_error *err)
{
    /* Also opened for writing, so that there is no end of file while no process has it open. */
    struct line_reader reader = { .fd = fifo ? open(fifo, O_RDWR | O_NONBLOCK | O_CLOEXEC) : -1 };
    struct former_actions former;
    fflush(stdout);
    collect_signals(&former);
    pid_t pid = fork();
    if (pid == 0)
        run_program_become(argv, &former);
    bool forked = pid > 0;
    int status = 0;
    if (forked) {
        program_pid = pid;
        struct pollfd waited = { .fd = reader.fd, .events = POLLIN };
        while (waitpid(pid, &status, WNOHANG) == 0) {
            ppoll(&waited, reader.fd >= 0, NULL, &former.mask);
            if (reader.fd >= 0)
                read_lines(&reader, take_line, context);
        }
        program_pid = 0;
        if (reader.fd >= 0)
            read_lines(&reader, take_line, context);
    } else {
        tpa_fail_errno(err, "cannot make a process for %s", argv[0]);
    }
    restore_signals(&former);
    if (reader.fd >= 0)
        close(reader.fd);
    *end = (struct program_end){ .exit_code = WIFEXITED(status) ? WEXITSTATUS(status) : 0,
                                 .signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0 };
    return forked;
}

int program_exit(const struct program_end *end)
{
    if (end->signal == 0)
        return end->exit_code;
    fflush(stdout);
    setrlimit(RLIMIT_CORE, &(struct rlimit){ 0 });
    signal(end->signal, SIG_DFL);
    sigset_t mask;
    sigemptyset(&mask);
    sigaddset(&mask, end->signal);
    sigprocmask(SIG_UNBLOCK, &mask, NULL);
    raise(end->signal);
    return 128 + end->signal; /* a signal that does not kill */
}
