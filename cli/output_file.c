/* output_file.c - see output_file.h. */
#include "cli/output_file.h"

#include "base/buffer.h"
#include "base/memory.h"
#include "report/escape.h"
#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

/* Files that are being written, for the signal handler, which may only read these and unlink. */
static char *volatile half_files[8];

static volatile sig_atomic_t is_dying; /* the handler ran, on whatever thread */
static volatile sig_atomic_t reader_is_gone;

static void note_closed_pipe(int signal_number)
{
    (void)signal_number;
    reader_is_gone = 1;
}

static void remove_half_files(void)
{
    for (size_t i = 0; i < sizeof half_files / sizeof *half_files; i++)
        if (half_files[i])
            unlink(half_files[i]);
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
    struct sigaction pipe_action = { .sa_handler = note_closed_pipe, .sa_flags = SA_RESTART };
    sigemptyset(&pipe_action.sa_mask);
    sigaction(SIGPIPE, &pipe_action, NULL);

    atexit(remove_half_files); /* who runs out of memory exits at once */
    const int deadly[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT };
    for (size_t i = 0; i < sizeof deadly / sizeof *deadly; i++) {
        struct sigaction old, action = { .sa_handler = die_clean, .sa_flags = (int)SA_RESETHAND };
        sigemptyset(&action.sa_mask);
        if (sigaction(deadly[i], NULL, &old) == 0 && old.sa_handler != SIG_IGN) /* nohup */
            sigaction(deadly[i], &action, NULL);
    }
}

bool output_reader_is_gone(void)
{
    return reader_is_gone;
}

static void remember(char *path)
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

static void release(struct output_file *file)
{
    forget(file->temporary);
    free(file->path);
    free(file->temporary);
    *file = (struct output_file){ 0 };
}

static bool open_failed(struct output_file *file, struct tpa_error *err)
{
    tpa_fail_errno(err, "can not write this file");
    tpa_in_file(err, file->path);
    release(file);
    return false;
}

/* Open a new file beside file->path. */
static bool open_temporary(struct output_file *file, mode_t mode)
{
    size_t len = strlen(file->path);
    file->temporary = mem_alloc(len + sizeof ".XXXXXX");
    memcpy(file->temporary, file->path, len);
    memcpy(file->temporary + len, ".XXXXXX", sizeof ".XXXXXX");
    /* Remembered before it is there, so that a signal at any moment finds the name of a file that was made. */
    remember(file->temporary);
    int fd = mkstemp(file->temporary);
    if (fd == -1)
        return false;
    if (is_dying)
        unlink(file->temporary);
    if (fchmod(fd, mode) == 0 && (file->stream = fdopen(fd, "w")))
        return true;
    int code = errno;
    close(fd);
    unlink(file->temporary);
    errno = code;
    return false;
}

bool output_file_open(struct output_file *file, const char *path, struct tpa_error *err)
{
    *file = (struct output_file){ 0 };
    if (path == NULL || strcmp(path, "-") == 0) {
        file->stream = stdout;
        return true;
    }
    /* Behind a symbolic link it is the file that is replaced, not the link. */
    file->path = realpath(path, NULL);
    if (file->path == NULL)
        file->path = mem_strdup(path);

    struct stat status;
    bool exists = stat(file->path, &status) == 0;
    if (exists && !S_ISREG(status.st_mode)) {
        file->stream = fopen(file->path, "w");
        return file->stream ? true : open_failed(file, err);
    }
    mode_t mask = umask(0);
    umask(mask);
    mode_t mode = exists ? status.st_mode & 0777 : 0666 & ~mask;
    /* Renaming would go round the protection of a file that may not be written. */
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
    tpa_fail_errno(err, "can not hold the text");
    output_file_discard(file);
    return false;
}

/* Put the collected text on its terminal, line by line. */
static bool show_raw(struct output_file *file, struct tpa_error *err)
{
    struct buffer line = { 0 };
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
    buffer_release(&line);
    free(file->raw);
    file->raw = NULL;
    return (good && file->stream) || tpa_fail_errno(err, "can not write to the terminal");
}

static bool commit_stdout(struct output_file *file, struct tpa_error *err)
{
    release(file);
    errno = 0;
    if ((fflush(stdout) == 0 && !ferror(stdout)) || reader_is_gone)
        return true;
    return tpa_fail_errno(err, "can not write to standard output");
}

bool output_file_commit(struct output_file *file, struct tpa_error *err)
{
    if (file->collects && !show_raw(file, err)) {
        output_file_discard(file);
        return false;
    }
    if (file->path == NULL)
        return commit_stdout(file, err);

    errno = 0;
    bool good = fflush(file->stream) == 0 && !ferror(file->stream);
    /* Some file systems can not; then there is nothing to wait for. */
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
        tpa_fail_errno(err, "can not write this file");
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
