/*
 * cmd_capture.c - `tpa capture`: run a program and record what it does on the GPU.
 *
 * The recording is done by libtpa_capture.so, inside the program: the CUDA driver and NVTX load it because the
 * environment names it, and what it should do is told there too (capture/settings.h). Here the program is run, and what
 * the library reports from its processes is put into words. All of it goes to stderr: stdout is the program's.
 */
#include "base/buffer.h"
#include "base/memory.h"
#include "capture/settings.h"
#include "cli/command.h"
#include "cli/run_program.h"
#include "trace/tpafile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define LIBRARY "libtpa_capture.so"

struct capture_args {
    const char *output, *range, *kinds, *signal, *cupti, *library;
    struct ranges steps;
    int64_t start_after_ns, duration_ns, memory_bytes;
    bool paused, graph_nodes, all_calls, is_public;
};

static const struct capture_args capture_defaults = {
    .output = CAPTURE_DEFAULT_OUTPUT,
    .memory_bytes = CAPTURE_DEFAULT_MEMORY,
};

static bool kind_at(size_t index, struct opt_choice *choice)
{
    if (index >= CAPTURE_KIND_COUNT)
        return false;
    *choice = (struct opt_choice){ capture_kinds[index].word, capture_kinds[index].what, NULL };
    return true;
}

static const struct opt capture_opts[] = {
    OPT_GROUP("Output"),
    OPT_FILE('o', "output", struct capture_args, output, "FILE",
             "the log; in its name %p is the process, %h the host, %r the rank"),
    OPT_FLAG(0, "public", struct capture_args, is_public,
             "let others read the log, as far as umask does; without it only you can"),
    OPT_GROUP("When to record"),
    OPT_TIME(0, "start-after", struct capture_args, start_after_ns, "TIME",
             "begin TIME after the program first used CUDA or NVTX"),
    OPT_TIME(0, "duration", struct capture_args, duration_ns, "TIME", "end TIME after recording began"),
    OPT_TEXT(0, "range", struct capture_args, range, "NAME",
             "only inside NVTX ranges called NAME; NAME@DOMAIN: of that domain; NAME*: whose names begin so"),
    OPT_RANGES(0, "steps", struct capture_args, steps, "A..B",
               "only these steps (tpa_capture_step) or, with --range, these occurrences of it, from 0"),
    OPT_FLAG(0, "paused", struct capture_args, paused, "wait for the signal or for tpa_capture_start"),
    OPT_TEXT(0, "signal", struct capture_args, signal, "SIGNAL",
             "switch off and on again at SIGNAL, e.g. USR2"),
    OPT_GROUP("What to record"),
    OPT_WORD(
        0, "kinds", struct capture_args, kinds, kind_at, "LIST",
        "only these, separated by commas: kernel, memcpy, memset, runtime, driver, sync, memory, nvtx, external, "
        "overhead, device; with no- before each, all but these"),
    OPT_FLAG(0, "graph-nodes", struct capture_args, graph_nodes,
             "each kernel of a CUDA graph instead of each launch of it, which costs more"),
    OPT_FLAG(0, "all-calls", struct capture_args, all_calls,
             "every CUDA call, also those that only ask, which costs more"),
    OPT_GROUP("Where things are"),
    OPT_SIZE(0, "memory", struct capture_args, memory_bytes, "SIZE",
             "memory for what is not yet written; what does not fit is dropped and counted"),
    OPT_FILE(0, "cupti", struct capture_args, cupti, "FILE",
             "NVIDIA's libcupti.so; without it the one of the program or of the toolkit"),
    OPT_FILE(0, "library", struct capture_args, library, "FILE", LIBRARY ", when it is not beside tpa"),
    OPT_END,
};

/* ---- the options ---- */

static const struct {
    const char *name;
    int number;
} signals[] = { { "USR1", SIGUSR1 },   { "USR2", SIGUSR2 }, { "HUP", SIGHUP },   { "URG", SIGURG },
                { "WINCH", SIGWINCH }, { "IO", SIGIO },     { "PROF", SIGPROF }, { "VTALRM", SIGVTALRM } };

static bool read_signal(const char *name, int *number, struct tpa_error *err)
{
    const char *bare = strncmp(name, "SIG", 3) == 0 ? name + 3 : name;
    int64_t value;
    for (size_t i = 0; i < sizeof signals / sizeof *signals; i++) {
        if (strcmp(bare, signals[i].name) == 0) {
            *number = signals[i].number;
            return true;
        }
    }
    if (quantity_parse_integer(name, strlen(name), &value) && value >= SIGRTMIN && value <= SIGRTMAX) {
        *number = (int)value;
        return true;
    }
    tpa_fail(err, TPA_NOWHERE, "--signal %s: no signal that can be used", name);
    return tpa_hint(err, "USR1, USR2 or a real-time signal by number, e.g. %d", SIGRTMIN + 1);
}

/* Name ARGS as the library reads it. False and ERR when something in it cannot be. */
static bool check_args(const struct capture_args *args, int *signal_number, struct tpa_error *err)
{
    char path[PATH_MAX];
    uint32_t kinds;
    const char *bad;
    size_t bad_len;
    if (!capture_settings_expand(args->output, getpid(), path, sizeof path)) {
        tpa_fail(err, TPA_NOWHERE, "--output %s is no name for a file", args->output);
        return tpa_hint(err, "%%p, %%h and %%r stand for process, host and rank, %%%% for a percent sign");
    }
    if (args->kinds && !capture_kinds_parse(args->kinds, &kinds, &bad, &bad_len)) {
        tpa_fail(err, TPA_NOWHERE, "--kinds: '%.*s' is none", (int)bad_len, bad);
        return tpa_hint(err, "tpa capture --help lists them");
    }
    if (args->steps.count > 1) {
        tpa_fail(err, TPA_NOWHERE, "--steps takes one range of steps here");
        return tpa_hint(err, "record more, and choose afterwards: tpa top --steps 3,7 FILE");
    }
    if (args->memory_bytes < CAPTURE_LEAST_MEMORY) {
        tpa_fail(err, TPA_NOWHERE, "--memory is too small");
        return tpa_hint(err, "16M is the least");
    }
    return !args->signal || read_signal(args->signal, signal_number, err);
}

/* ---- the files there are ---- */

/* The library in FOLDER and, below it, in WHERE; NULL when it is not there. Free with free(). */
static char *library_in(const char *folder, const char *where)
{
    char path[PATH_MAX];
    int length = snprintf(path, sizeof path, "%s/%s/" LIBRARY, folder, where);
    return length < (int)sizeof path ? realpath(path, NULL) : NULL;
}

/* The library in any folder of FOLDER's: lib/x86_64-linux-gnu, for one. (glob() frees twice where memory ends.) */
static char *library_below(const char *folder)
{
    char *found = NULL;
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && !found && (entry = readdir(entries));)
        if (entry->d_name[0] != '.')
            found = library_in(folder, entry->d_name);
    if (entries)
        closedir(entries);
    return found;
}

/* Where the library lies: beside the program as built, or as installed. */
static char *find_library(const struct capture_args *args)
{
    if (args->library)
        return access(args->library, R_OK) == 0 ? realpath(args->library, NULL) : NULL;
    static const char *const places[] = { ".", "../lib", "../lib64" };
    char self[PATH_MAX], lib[PATH_MAX + 8];
    ssize_t len = readlink("/proc/self/exe", self, sizeof self - 1);
    if (len <= 0)
        return NULL;
    self[len] = '\0';
    *strrchr(self, '/') = '\0';
    char *found = NULL;
    for (size_t i = 0; i < sizeof places / sizeof *places && !found; i++)
        found = library_in(self, places[i]);
    if (!found) {
        snprintf(lib, sizeof lib, "%s/../lib", self);
        found = library_below(lib);
    }
    return found;
}

/* A log of an earlier run is replaced; anything else is not ours to remove. */
static bool make_way(const char *pattern, struct tpa_error *err)
{
    char path[PATH_MAX], magic[8];
    struct stat status;
    for (const char *p = pattern; *p; p++)
        if (*p == '%' && *++p != '%')
            return true; /* a name that differs from run to run: the library takes another when it exists */
    if (!capture_settings_expand(pattern, getpid(), path, sizeof path) || lstat(path, &status) != 0)
        return true;
    bool ours = S_ISREG(status.st_mode) && status.st_size == 0;
    int fd = S_ISREG(status.st_mode) ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (fd >= 0) {
        ours |=
            read(fd, magic, sizeof magic) == sizeof magic && memcmp(magic, TPAFILE_MAGIC, sizeof magic) == 0;
        close(fd);
    }
    if (ours) {
        unlink(path); /* when that fails, so will the library, and say so */
        return true;
    }
    tpa_fail(err, TPA_NOWHERE, "is there already and is no .tpa file: not overwritten");
    tpa_hint(err, "give another name by -o");
    return tpa_in_file(err, path);
}

/* ---- what the library says ---- */

struct log_told {
    char *path;
    bool ended;
    int64_t bytes, records, dropped;
};

struct listener {
    VEC_OF(struct log_told) logs;
    VEC_OF(char *) troubles;
};

static void take_trouble(struct listener *listener, const char *sentence)
{
    for (size_t i = 0; i < listener->troubles.count; i++)
        if (strcmp(listener->troubles.at[i], sentence) == 0)
            return; /* every rank has the same */
    *VEC_PUSH(&listener->troubles) = mem_strdup(sentence);
    fprintf(stderr, "tpa capture: %s\n", sentence);
}

static void take_end(struct listener *listener, char *fields)
{
    char *bytes = strchr(fields, '\t');
    if (!bytes)
        return;
    *bytes++ = '\0';
    for (size_t i = 0; i < listener->logs.count; i++) {
        struct log_told *log = &listener->logs.at[i];
        if (strcmp(log->path, fields) == 0 && !log->ended)
            log->ended = sscanf( // NOLINT(cert-err34-c): what our own library wrote
                             bytes, "%" SCNd64 "\t%" SCNd64 "\t%" SCNd64, &log->bytes, &log->records,
                             &log->dropped) == 3;
    }
}

/* "begin \t PID \t FIELDS": see capture/report.h. */
static void take_line(void *context, char *line)
{
    struct listener *listener = context;
    char *pid = strchr(line, '\t');
    char *fields = pid ? strchr(pid + 1, '\t') : NULL;
    if (!fields)
        return;
    *pid = *fields++ = '\0';
    if (strcmp(line, "begin") == 0)
        *VEC_PUSH(&listener->logs) = (struct log_told){ .path = mem_strdup(fields) };
    else if (strcmp(line, "end") == 0)
        take_end(listener, fields);
    else if (strcmp(line, "trouble") == 0)
        take_trouble(listener, fields);
}

static void release_listener(struct listener *listener)
{
    for (size_t i = 0; i < listener->logs.count; i++)
        free(listener->logs.at[i].path);
    for (size_t i = 0; i < listener->troubles.count; i++)
        free(listener->troubles.at[i]);
    VEC_FREE(&listener->logs);
    VEC_FREE(&listener->troubles);
}

/* "3.1 MB" */
static void show_size(int64_t bytes, char *text, size_t size)
{
    if (bytes < 1000)
        snprintf(text, size, "%" PRId64 " bytes", bytes);
    else if (bytes < 1000000)
        snprintf(text, size, "%.1f kB", (double)bytes / 1e3);
    else if (bytes < 1000000000)
        snprintf(text, size, "%.1f MB", (double)bytes / 1e6);
    else
        snprintf(text, size, "%.2f GB", (double)bytes / 1e9);
}

/* Is there a driver, as far as can be seen without loading it? */
static bool driver_is_there(void)
{
    return access("/proc/driver/nvidia/version", F_OK) == 0 || access("/dev/nvidiactl", F_OK) == 0 ||
           access("/dev/dxg", F_OK) == 0; /* WSL */
}

static void tell_nothing(void)
{
    if (driver_is_there())
        fputs("tpa capture: nothing was recorded: no process of the program used CUDA or NVTX\n", stderr);
    else
        fputs(
            "tpa capture: nothing was recorded: there is no NVIDIA driver here, and the program used no NVTX; "
            "run it on a machine with a GPU\n",
            stderr);
}

static void tell_log(const struct log_told *log)
{
    char size[32];
    struct stat status;
    show_size(log->ended                      ? log->bytes
              : stat(log->path, &status) == 0 ? (int64_t)status.st_size
                                              : 0,
              size, sizeof size);
    fprintf(stderr, "tpa capture: wrote %s (%s", log->path, size);
    if (!log->ended)
        fputs("; the process did not end by itself: at most its last second is missing", stderr);
    else
        fprintf(stderr, ", %" PRId64 " records", log->records);
    if (log->dropped > 0)
        fprintf(stderr, "; %" PRId64 " were dropped: more --memory, fewer --kinds or a faster disk helps",
                log->dropped);
    fputs(")\n", stderr);
}

static void tell(const struct listener *listener, const struct program_end *end)
{
    enum { MOST_LOGS = 8 };
    size_t count = listener->logs.count;
    if (count == 0) {
        if (listener->troubles.count == 0 && end->exit_code != 127 && end->exit_code != 126)
            tell_nothing();
        return;
    }
    for (size_t i = 0; i < count && i < MOST_LOGS; i++)
        tell_log(&listener->logs.at[i]);
    if (count > MOST_LOGS)
        fprintf(stderr, "tpa capture: and %zu more logs\n", count - MOST_LOGS);
    const char *path = listener->logs.at[0].path;
    fprintf(stderr, "next: tpa top %s%s\n", path, count > 1 ? " ..." : "");
}

/* ---- running it ---- */

static void set_number(const char *name, int64_t value, const char *unit)
{
    char text[32];
    snprintf(text, sizeof text, "%" PRId64 "%s", value, unit);
    setenv(name, text, 1);
}

static void set_text(const char *name, const char *value)
{
    if (value && *value)
        setenv(name, value, 1);
    else
        unsetenv(name);
}

/* The pattern from the root: the program may change its folder. Percent signs of the folder's own name are doubled. */
static void set_output(const char *pattern)
{
    struct buffer text = { 0 };
    char *folder = pattern[0] == '/' ? NULL : getcwd(NULL, 0);
    for (const char *p = folder; p && *p; p++)
        buffer_puts(&text, *p == '%' ? "%%" : (char[]){ *p, '\0' });
    if (folder)
        buffer_putc(&text, '/');
    buffer_puts(&text, pattern);
    setenv("TPA_CAPTURE_OUTPUT", text.at, 1);
    buffer_release(&text);
    free(folder);
}

static void set_environment(const struct capture_args *args, int signal_number, const char *library,
                            const char *fifo)
{
    set_output(args->output);
    set_text("TPA_CAPTURE_KINDS", args->kinds);
    set_text("TPA_CAPTURE_GRAPHS", args->graph_nodes ? "node" : NULL);
    set_text("TPA_CAPTURE_CALLS", args->all_calls ? "all" : NULL);
    set_text("TPA_CAPTURE_PUBLIC", args->is_public ? "1" : NULL);
    set_text("TPA_CAPTURE_PAUSED", args->paused ? "1" : NULL);
    set_text("TPA_CAPTURE_RANGE", args->range);
    set_text("TPA_CAPTURE_CUPTI", args->cupti);
    set_text("TPA_CAPTURE_REPORT", fifo);
    set_number("TPA_CAPTURE_START_AFTER", args->start_after_ns, "ns");
    set_number("TPA_CAPTURE_DURATION", args->duration_ns, "ns");
    set_number("TPA_CAPTURE_MEMORY", args->memory_bytes, "");
    unsetenv("TPA_CAPTURE_STEPS");
    unsetenv("TPA_CAPTURE_SIGNAL");
    if (signal_number)
        set_number("TPA_CAPTURE_SIGNAL", signal_number, "");
    if (args->steps.count == 1) {
        struct buffer text = { 0 };
        quantity_show_ranges(&text, &args->steps);
        setenv("TPA_CAPTURE_STEPS", text.at, 1);
        buffer_release(&text);
    }
    setenv("TPA_CAPTURE_LIBRARY", library, 1);
    setenv("CUDA_INJECTION64_PATH", library, 1);
    setenv("NVTX_INJECTION64_PATH", library, 1);
}

static bool make_fifo_in(const char *where, char *folder, size_t folder_size, char *fifo, size_t fifo_size)
{
    snprintf(folder, folder_size, "%.3000s/tpa-capture-XXXXXX", where);
    if (!mkdtemp(folder)) { /* which only we may enter */
        folder[0] = '\0';
        return false;
    }
    snprintf(fifo, fifo_size, "%s/report", folder);
    if (mkfifo(fifo, 0600) == 0)
        return true;
    rmdir(folder);
    folder[0] = '\0';
    return false;
}

/*
 * A folder of our own with a fifo in it: in TMPDIR or, where there can be none, in /tmp. False, and a word on stderr, when
 * there can be none at all: then troubles go straight to stderr, and which logs were written is not known.
 */
static bool make_fifo(char *folder, size_t folder_size, char *fifo, size_t fifo_size)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp && *tmp == '/' && make_fifo_in(tmp, folder, folder_size, fifo, fifo_size))
        return true;
    if (make_fifo_in("/tmp", folder, folder_size, fifo, fifo_size))
        return true;
    fprintf(
        stderr,
        "tpa capture: %s cannot be written to (%s): the program is recorded, but which logs it writes can "
        "not be told; set TMPDIR to a folder that can\n",
        tmp && *tmp == '/' ? "neither TMPDIR nor /tmp" : "/tmp", strerror(errno));
    return false;
}

/* Set the environment up, or say in one line why nothing will be recorded. */
static void prepare(const struct capture_args *args, int signal_number, const char *fifo,
                    struct listener *listener)
{
    char *library = find_library(args);
    const char *other = getenv("CUDA_INJECTION64_PATH");
    char *other_path = other && *other ? realpath(other, NULL) : NULL;
    if (!library && args->library)
        take_trouble(listener, "nothing is recorded: the file that --library names cannot be read");
    else if (!library)
        take_trouble(listener, "nothing is recorded: " LIBRARY
                               " is not beside tpa; build tpa where CUPTI's headers are "
                               "(CUDA toolkit, libcupti-dev), or give it by --library");
    else if (other && *other && (!other_path || strcmp(other_path, library) != 0))
        take_trouble(
            listener,
            "nothing is recorded: CUDA_INJECTION64_PATH names another tool; run without it, or unset it");
    else
        set_environment(args, signal_number, library, fifo);
    free(other_path);
    free(library);
}

static int capture_main(const struct invocation *call, struct tpa_error *err)
{
    const struct capture_args *args = call->args;
    int signal_number = 0;
    if (!check_args(args, &signal_number, err) || !make_way(args->output, err))
        return EXIT_TROUBLE;

    struct listener listener = { 0 };
    char folder[PATH_MAX], fifo[PATH_MAX + 16];
    bool listens = make_fifo(folder, sizeof folder, fifo, sizeof fifo);
    prepare(args, signal_number, listens ? fifo : NULL, &listener);

    VEC_OF(char *) words = { 0 };
    for (size_t i = 0; i < call->operand_count; i++)
        *VEC_PUSH(&words) = call->operands[i];
    *VEC_PUSH(&words) = NULL;
    struct program_end end;
    bool ran = run_program(words.at, listens ? fifo : NULL, take_line, &listener, &end, err);
    VEC_FREE(&words);
    if (listens) {
        unlink(fifo);
        rmdir(folder);
    }
    if (ran && listens)
        tell(&listener, &end);
    release_listener(&listener);
    return ran ? program_exit(&end) : EXIT_TROUBLE;
}

const struct command cmd_capture = {
    .name = "capture",
    .summary = "run a program and record its GPU work",
    .operands = "PROGRAM [ARG...]",
    .description =
        "Runs PROGRAM and records what it does with CUDA: kernels, copies, memsets, calls, waits, memory, CUDA graphs, "
        "and its NVTX ranges. Child processes are recorded too, each in a file of its own. The log is written as the "
        "program runs and can be read at any time; a program that is killed loses at most a second of it.\n\n"
        "Where nothing can be recorded (no GPU, no CUPTI, another profiler), one line on stderr says why and what to do, "
        "and the program runs as it would without. The exit status is the program's.",
    .options = capture_opts,
    COMMAND_ARGS(capture_defaults),
    .main = capture_main,
    .examples = { "tpa capture -o run.tpa -- python train.py",
                  "tpa capture -o rank%r.tpa -- torchrun train.py",
                  "tpa capture --start-after 60s --duration 10s -- python train.py",
                  "tpa capture --range step --steps 10..20 -- ./solver  # an NVTX range" },
    .section = SECTION_RECORD,
    .runs_program = true,
};
