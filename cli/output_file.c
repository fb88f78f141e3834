#include "cli/output_file.h"

#include "base/escape.h"
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files being written, and their folders, for the signal handler, which may only read these and remove files. */
static char *volatile half_files[8];

static volatile sig_atomic_t is_dying; /* the handler ran, on any thread */
static volatile sig_atomic_t reader_is_gone;

static void record_closed_pipe(int signal_number)
{
    (void)signal_number;
    reader_is_gone = 1;
}

static void record_size_limit(int signal_number)
{
    (void)signal_number;
}

static void remove_half_files(void)
{
    for (size_t i = 0; i < sizeof half_files / sizeof *half_files; i++)
        if (half_files[i] && unlink(half_files[i]) != 0)
            rmdir(half_files[i]);
}

static void die_clean(int signal_number)
{
    is_dying = 1;
    remove_half_files();
    raise(signal_number); /* the handler was reset: this ends the program as the signal does by default */
}

void output_set_up(void)
{
    /* A handler, not SIG_IGN, which the programs that we start would inherit. */
    struct sigaction pipe_action = { .sa_handler = record_closed_pipe, .sa_flags = SA_RESTART };
    sigemptyset(&pipe_action.sa_mask);
    sigaction(SIGPIPE, &pipe_action, NULL);

    /* Exceeding the file size limit becomes a failed write as well. */
    struct sigaction size_action = { .sa_handler = record_size_limit, .sa_flags = SA_RESTART };
    sigemptyset(&size_action.sa_mask);
    sigaction(SIGXFSZ, &size_action, NULL);

    atexit(remove_half_files); /* running out of memory calls exit */
    const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction old, action = { .sa_handler = die_clean, .sa_flags = (int)SA_RESETHAND };
        sigemptyset(&action.sa_mask);
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup */
            sigaction(deadly[i], &action, NULL);
    }
}

/* The signal does not tell which pipe: that of stderr may have been it, or a fifo that -o names. */
bool output_reader_is_gone(void)
{
    struct pollfd out = { .fd = STDOUT_FILENO, .events = POLLOUT };
    return reader_is_gone && poll(&out, 1, 0) == 1 && out.revents & (POLLERR | POLLHUP);
}

/* The destination of the output, or NULL; and the regular file that it will replace, if any. */
static struct {
    const char *path; /* borrowed from argv */
    bool exists;
    dev_t device;
    ino_t inode;
} announced;

void output_file_announce(const char *path)
{
    struct stat status;
    announced.path = path;
    announced.exists = path && stat(path, &status) == 0 && S_ISREG(status.st_mode);
    if (announced.exists) {
        announced.device = status.st_dev;
        announced.inode = status.st_ino;
    }
}

static bool spares(bool is_same, struct tpa_error *err)
{
    if (!is_same)
        return true;
    tpa_fail(err, TPA_NOWHERE, "this file is an input, and the output would overwrite it");
    return tpa_hint(err, "nothing was changed; give the output another name");
}

bool output_file_spares(dev_t device, ino_t inode, struct tpa_error *err)
{
    return spares(announced.exists && announced.device == device && announced.inode == inode, err);
}

bool output_file_spares_path(const char *path, struct tpa_error *err)
{
    struct stat status;
    bool good = stat(path, &status) == 0 ? output_file_spares(status.st_dev, status.st_ino, err)
                                         : spares(announced.path && strcmp(announced.path, path) == 0, err);
    return good || tpa_in_file(err, path);
}

void output_file_remember(char *path)
{
    for (size_t i = 0; i < sizeof half_files / sizeof *half_files; i++)
        if (half_files[i] == NULL) {
            half_files[i] = path;
            return;
        }
}

static void forget(const char *path)
{
    for (size_t i = 0; i < sizeof half_files / sizeof *half_files; i++)
        if (half_files[i] == path)
            half_files[i] = NULL;
}

int output_file_make_temporary(char *path)
{
    /* Recorded before the file exists, so that a signal at any moment finds its name. */
    output_file_remember(path);
    int fd = mkstemp(path);
    if (fd == -1)
        forget(path);
    else if (is_dying)
        unlink(path);
    return fd;
}

bool output_file_remove_temporary(const char *path)
{
    if (unlink(path) != 0 && rmdir(path) != 0)
        return false;
    forget(path);
    return true;
}

static void release(struct output_file *file)
{
    forget(file->temporary);
    EACH(free, file->path, file->temporary);
    *file = (struct output_file){ 0 };
}

/* Hint at the first folder of PATH that is not there. Returns false. */
static bool hint_folder(struct tpa_error *err, const char *path)
{
    for (const char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        char *folder = mem_strndup(path, (size_t)(slash - path));
        bool is_there = access(folder, F_OK) == 0;
        if (!is_there)
            tpa_hint(err, "make its folder first: mkdir -p %.*s", (int)(strrchr(path, '/') - path), path);
        free(folder);
        if (!is_there)
            break;
    }
    return false;
}

static bool open_failed(struct output_file *file, struct tpa_error *err)
{
    int reason = errno;
    tpa_fail_errno(err, "cannot write this file");
    tpa_in_file(err, file->path);
    if (reason == ENOENT)
        hint_folder(err, file->path);
    release(file);
    return false;
}

/* Open a new file beside file->path. */
static bool open_temporary(struct output_file *file, mode_t mode)
{
    static const char ending[] = ".XXXXXX";
    const char *slash = strrchr(file->path, '/');
    size_t folder = slash ? (size_t)(slash + 1 - file->path) : 0, len = strlen(file->path);
    if (len - folder > NAME_MAX) { /* truncated, it would be a valid name */
        errno = ENAMETOOLONG;
        return false;
    }
    if (len - folder > NAME_MAX - strlen(ending))
        len = folder + NAME_MAX - strlen(ending);
    file->temporary = mem_alloc(len + sizeof ending);
    memcpy(file->temporary, file->path, len);
    memcpy(file->temporary + len, ending, sizeof ending);
    int fd = output_file_make_temporary(file->temporary);
    if (fd == -1)
        return false;
    if (fchmod(fd, mode) == 0 && (file->stream = fdopen(fd, "w")))
        return true;
    int code = errno;
    close(fd);
    unlink(file->temporary);
    errno = code;
    return false;
}

/* The target of the symbolic link AT, relative to AT; NULL if it is not a link. New. */
static char *follow_link(const char *at)
{
    char target[PATH_MAX];
    ssize_t len = readlink(at, target, sizeof target);
    if (len <= 0 || (size_t)len == sizeof target)
        return NULL;
    const char *slash = strrchr(at, '/');
    size_t folder = slash && target[0] != '/' ? (size_t)(slash + 1 - at) : 0;
    char *next = mem_alloc(folder + (size_t)len + 1);
    memcpy(next, at, folder);
    memcpy(next + folder, target, (size_t)len);
    next[folder + (size_t)len] = '\0';
    return next;
}

enum { MOST_LINKS = 40 }; /* as the kernel has it */

/* The final target of PATH, which may not exist: the end of a chain of links, or PATH itself. New; NULL and errno if
 * the chain has no end. */
static char *follow_links(const char *path)
{
    char *at = mem_strdup(path);
    for (int i = 0; i < MOST_LINKS; i++) {
        char *next = follow_link(at);
        if (!next)
            return at;
        free(at);
        at = next;
    }
    free(at);
    errno = ELOOP;
    return NULL;
}

/* Is AT, whose last part is a number, in the folder where this process's descriptors are listed? */
static bool is_in_descriptors(const char *at)
{
    const char *slash = strrchr(at, '/');
    struct stat given, ours;
    if (!slash || slash == at || slash[1] == '\0' || slash[1 + strspn(slash + 1, "0123456789")] != '\0')
        return false;
    SCOPED char *folder = mem_strdup(at);
    folder[slash - at] = '\0';
    return stat(folder, &given) == 0 && stat("/proc/self/fd", &ours) == 0 && given.st_dev == ours.st_dev &&
           given.st_ino == ours.st_ino;
}

/* The descriptor of ours that PATH names: /dev/stdout, /dev/fd/3, what the shell makes of >(...); -1 if none.
 * Its file may have no name (a pipe, an unlinked file) or be opened for appending, so it is written directly
 * and not replaced. */
static int own_descriptor(const char *path)
{
    char *at = mem_strdup(path);
    int fd = -1;
    for (int i = 0; i < MOST_LINKS && at && fd < 0; i++) {
        long number = is_in_descriptors(at) ? strtol(strrchr(at, '/') + 1, NULL, 10) : -1;
        fd = number >= 0 && number <= INT_MAX ? (int)number : -1;
        char *next = fd < 0 ? follow_link(at) : NULL;
        free(at);
        at = next;
    }
    free(at);
    return fd;
}

static bool open_descriptor(struct output_file *file, int fd, const char *path, struct tpa_error *err)
{
    if (fd == STDOUT_FILENO) {
        file->stream = stdout;
        return true;
    }
    int flags = fcntl(fd, F_GETFL);
    if (flags != -1 && (flags & O_ACCMODE) == O_RDONLY) {
        tpa_fail(err, TPA_NOWHERE, "cannot write this file: it is open for reading only");
        return tpa_in_file(err, path);
    }
    int copy = flags == -1 ? -1 : fcntl(fd, F_DUPFD_CLOEXEC, 3);
    file->stream = copy == -1 ? NULL : fdopen(copy, flags & O_APPEND ? "a" : "w");
    if (file->stream) {
        file->path = mem_strdup(path);
        return true;
    }
    tpa_fail_errno(err, "cannot write this file");
    if (copy != -1)
        close(copy);
    return tpa_in_file(err, path);
}

bool output_file_open(struct output_file *file, const char *path, struct tpa_error *err)
{
    *file = (struct output_file){ 0 };
    if (path == NULL || strcmp(path, "-") == 0) {
        file->stream = stdout;
        return true;
    }
    int fd = own_descriptor(path);
    if (fd >= 0)
        return open_descriptor(file, fd, path, err);
    /* With a symbolic link, the target is replaced or created, not the link. */
    file->path = realpath(path, NULL);
    if (file->path == NULL && (file->path = follow_links(path)) == NULL) {
        tpa_fail_errno(err, "cannot write this file");
        return tpa_in_file(err, path) || hint_folder(err, path);
    }

    struct stat status, named;
    bool exists = stat(path, &status) == 0;
    /* A descriptor of another process may refer to a file without a name. */
    bool has_name = exists && stat(file->path, &named) == 0 && named.st_ino == status.st_ino &&
                    named.st_dev == status.st_dev;
    if (exists && (!S_ISREG(status.st_mode) || !has_name)) {
        file->stream = fopen(path, "w");
        return file->stream ? true : open_failed(file, err);
    }
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = exists ? status.st_mode & 0777 : 0666 & ~mask;
    /* Renaming would bypass the write protection of a file. */
    if (exists && access(file->path, W_OK) != 0)
        return open_failed(file, err);
    return open_temporary(file, mode) ? true : open_failed(file, err);
}

bool output_file_open_raw(struct output_file *file, const char *path, struct tpa_error *err)
{
    if (!output_file_open(file, path, err))
        return false;
    if (!isatty(fileno(file->stream)))
        return true;
    FILE *terminal = file->stream;
    file->stream = open_memstream(&file->raw, &file->raw_len);
    file->collects = file->stream != NULL;
    if (file->collects) {
        if (terminal != stdout)
            fclose(terminal);
        return true;
    }
    file->stream = terminal;
    tpa_fail_errno(err, "cannot hold the text");
    output_file_discard(file);
    return false;
}

/* Put the collected text on its terminal, line by line. */
static bool print_raw(struct output_file *file, struct tpa_error *err)
{
    SCOPED struct buffer line = { 0 };
    bool good = fclose(file->stream) == 0;
    file->collects = false;
    file->stream = file->path ? fopen(file->path, "w") : stdout;
    const char *at = file->raw, *end = at ? at + file->raw_len : NULL;
    while (good && file->stream && at < end) {
        const char *next = memchr(at, '\n', (size_t)(end - at));
        size_t len = (size_t)((next ? next : end) - at);
        buffer_clear(&line);
        escape_terminal(&line, at, len);
        if (next)
            buffer_putc(&line, '\n');
        fwrite(line.at, 1, line.count, file->stream);
        at += len + (next != NULL);
    }
    free(file->raw);
    file->raw = NULL;
    return (good && file->stream) || tpa_fail_errno(err, "cannot write to the terminal");
}

/* The reason of a write that failed earlier, when nobody looked, is not known any more: errno is 0. */
static bool fail_to_write(struct tpa_error *err, const char *what)
{
    return errno ? tpa_fail_errno(err, "%s", what)
                 : tpa_fail(err, TPA_NOWHERE, "%s: an earlier write failed", what);
}

static bool commit_stdout(struct output_file *file, struct tpa_error *err)
{
    release(file);
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || output_reader_is_gone())
        return true;
    return fail_to_write(err, "cannot write to standard output");
}

bool output_file_commit(struct output_file *file, struct tpa_error *err)
{
    if (file->collects && !print_raw(file, err)) {
        output_file_discard(file);
        return false;
    }
    if (file->path == NULL)
        return commit_stdout(file, err);

    errno = 0;
    bool good = fflush(file->stream) == 0 && !ferror(file->stream);
    /* Some file systems do not support it; then there is nothing to wait for. */
    if (good && file->temporary && fsync(fileno(file->stream)) != 0 && errno != EINVAL && errno != ENOTSUP)
        good = false;
    int code = errno;
    if (fclose(file->stream) != 0 && good) {
        good = false;
        code = errno;
    }
    if (good && file->temporary && rename(file->temporary, file->path) != 0) {
        good = false;
        code = errno;
    }
    if (!good) {
        errno = code;
        fail_to_write(err, "cannot write this file");
        tpa_in_file(err, file->path);
        if (file->temporary)
            unlink(file->temporary);
    }
    release(file);
    return good;
}

void output_file_discard(struct output_file *file)
{
    if (file->stream && (file->path || file->collects))
        fclose(file->stream);
    free(file->raw);
    if (file->temporary)
        unlink(file->temporary);
    release(file);
}
