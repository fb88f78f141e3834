/*
 * cmd_capture.c - `tpa capture`: run a program and record what it does on the GPU.
 *
 * The recording is done by libtpa_capture.so, inside the program: the CUDA driver and NVTX load it because the
 * environment names it, and its settings are passed in the environment as well (capture/settings.h). This command runs
 * the program, and prints the reports of the library from its processes. All of it goes to stderr: stdout is the
 * program's.
 */
#include "base/shell_word.h"
#include "capture/settings.h"
#include "cli/output_file.h"
#include "cli/terminal.h"
#include "cli/parts.h"
#include "trace/tpafile.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

/* ---- what the library reports ---- */

/* Reports of the capture library from the recorded processes (capture/report.h), printed on stderr. */

/* A log that was begun. */
struct capture_log {
    char *path;
    bool ended;
    int64_t bytes, records, dropped;
};

/* Already printed: every rank reports the same. */
struct capture_sentences {
    VEC_OF(char *) at;
};

/* Zero-initialise all but the first two; release the arena at the end. */
struct capture_listener {
    const char *folder;  /* folder of all logs; NULL: no common folder */
    const char *missing; /* from the log of a process that was killed */
    VEC_OF(struct capture_log) logs;
    struct capture_sentences troubles, notes;
    struct arena arena; /* of logs and sentences */
};

static void collect_sentence(struct capture_sentences *printed, const char *sentence, struct arena *arena)
{
    for (size_t i = 0; i < printed->at.count; i++)
        if (strcmp(printed->at.at[i], sentence) == 0)
            return; /* every rank reports the same */
    *VEC_PUSH(&printed->at) = arena_strndup(arena, sentence, strlen(sentence));
    terminal_print("tpa capture: %s\n", sentence);
}

static void collect_end(struct capture_listener *listener, char *fields)
{
    char *bytes = strchr(fields, '\t');
    if (!bytes)
        return;
    *bytes++ = '\0';
    FOR_EACH(log, &listener->logs) {
        if (strcmp(log->path, fields) == 0 && !log->ended)
            log->ended = sscanf( // NOLINT(cert-err34-c): what our own library wrote
                             bytes, "%" SCNd64 "\t%" SCNd64 "\t%" SCNd64, &log->bytes, &log->records,
                             &log->dropped) == 3;
    }
}

/* Process "begin \t PID \t FIELDS" or another line of report.h, which is changed. CONTEXT is the listener. */
static void capture_collect_line(void *context, char *line)
{
    struct capture_listener *listener = context;
    char *pid = strchr(line, '\t');
    char *fields = pid ? strchr(pid + 1, '\t') : NULL;
    if (!fields)
        return;
    *pid = *fields++ = '\0';
    if (strcmp(line, "begin") == 0)
        *VEC_PUSH(&listener->logs) =
            (struct capture_log){ .path = arena_strndup(&listener->arena, fields, strlen(fields)) };
    else if (strcmp(line, "end") == 0)
        collect_end(listener, fields);
    else if (strcmp(line, "trouble") == 0)
        collect_sentence(&listener->troubles, fields, &listener->arena);
    else if (strcmp(line, "note") == 0)
        collect_sentence(&listener->notes, fields, &listener->arena);
}

/* "3.1 MB" */
static void print_size(int64_t bytes, char *text, size_t size)
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

/* Does a driver seem to exist (checked without loading it)? */
static bool driver_is_there(void)
{
    return access("/proc/driver/nvidia/version", F_OK) == 0 || access("/dev/nvidiactl", F_OK) == 0 ||
           access("/dev/dxg", F_OK) == 0; /* WSL */
}

static void print_nothing(void)
{
    if (driver_is_there())
        fputs("tpa capture: nothing was recorded: no process of the program used CUDA or NVTX\n", stderr);
    else
        fputs(
            "tpa capture: nothing was recorded: there is no NVIDIA driver here, and the program used no NVTX; "
            "run it on a machine with a GPU\n",
            stderr);
}

static void print_log(const struct capture_log *log, const char *missing)
{
    char size[32];
    struct stat status;
    print_size(log->ended                      ? log->bytes
               : stat(log->path, &status) == 0 ? (int64_t)status.st_size
                                               : 0,
               size, sizeof size);
    terminal_print("tpa capture: wrote %s (%s", log->path, size);
    if (!log->ended)
        terminal_print("; the process did not end by itself: %s is missing", missing);
    else
        fprintf(stderr, ", %" PRId64 " records", log->records);
    if (log->dropped > 0)
        fprintf(stderr, "; %" PRId64 " were dropped: more --memory, fewer --kinds or a faster disk helps",
                log->dropped);
    fputs(")\n", stderr);
}

/* Print the list of logs, or why there is none, and what to run next. */
static void capture_print(const struct capture_listener *listener, const struct program_end *end)
{
    enum { MOST_LOGS = 8 };
    size_t count = listener->logs.count;
    if (count == 0) {
        if (listener->troubles.at.count == 0 && end->exit_code != 127 && end->exit_code != 126)
            print_nothing();
        return;
    }
    for (size_t i = 0; i < count && i < MOST_LOGS; i++)
        print_log(&listener->logs.at[i], listener->missing);
    if (count > MOST_LOGS)
        fprintf(stderr, "tpa capture: and %zu more logs\n", count - MOST_LOGS);
    bool in_folder = listener->folder && count > 1;
    const char *path = in_folder ? listener->folder : listener->logs.at[0].path;
    SCOPED struct buffer word = { 0 };
    shell_word_append(&word, path, strlen(path));
    terminal_print("next: tpa top %s%s\n", word.at, count > 1 && !in_folder ? " ..." : "");
}

/* Print SENTENCE, as if reported by the library. */
static void capture_print_trouble(struct capture_listener *listener, const char *sentence)
{
    collect_sentence(&listener->troubles, sentence, &listener->arena);
}

#define LIBRARY "libtpa_capture.so"

struct capture_args {
    const char *output, *range, *kinds, *signal, *cupti, *library, *sample, *window, *budget, *slow;
    struct ranges steps;
    int64_t start_after_ns, duration_ns, memory_bytes, ring_bytes;
    bool paused, graph_nodes, all_calls, is_public, hardware_times;
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
    OPT_FILE(
        'o', "output", struct capture_args, output, "FILE",
        "the log, or the folder of logs; in its name %p is the process, %h the host, %r the rank, %l that on the host"),
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
             "switch off and on again at SIGNAL, e.g. USR2; with --ring, write what it holds"),
    OPT_GROUP("In production"),
    OPT_TEXT(0, "sample", struct capture_args, sample, "1/N",
             "only one in N of these steps, or occurrences of --range"),
    OPT_TEXT(0, "window", struct capture_args, window, "LENGTH/PERIOD",
             "only for LENGTH in every PERIOD, e.g. 2s/60s"),
    OPT_TEXT(
        0, "budget", struct capture_args, budget, "SHARE",
        "with either: measure what recording costs, and leave out more until it is at most SHARE, e.g. 1%"),
    OPT_SIZE(0, "ring", struct capture_args, ring_bytes, "SIZE",
             "keep the last in SIZE of memory only; write it at the signal and the end, or at slow steps"),
    OPT_TEXT(
        0, "slow", struct capture_args, slow, "TIMES",
        "with --ring: write it when a step takes TIMES the median of those before, e.g. 1.5x, and not at the end"),
    OPT_GROUP("What to record"),
    OPT_WORD(
        0, "kinds", struct capture_args, kinds, kind_at, "LIST",
        "only these, separated by commas: kernel, memcpy, memset, runtime, driver, sync, memory, nvtx, external, "
        "overhead, device; with no- before each, all but these"),
    OPT_FLAG(0, "graph-nodes", struct capture_args, graph_nodes,
             "each kernel of a CUDA graph instead of each launch of it, which costs more"),
    OPT_FLAG(0, "all-calls", struct capture_args, all_calls,
             "every CUDA call, also those that only ask, which costs more"),
    OPT_FLAG(0, "hardware-times", struct capture_args, hardware_times,
             "kernel times by the device's own event system: CUPTI 13.4, compute capability 10"),
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
    tpa_fail(err, TPA_NOWHERE, "--signal %s: this signal cannot be used", name);
    return tpa_hint(err, "USR1, USR2 or a real-time signal by number, e.g. %d", SIGRTMIN + 1);
}

/* Check the options that leave things out with the library's parser. */
static bool check_pace(const struct capture_args *args, struct tpa_error *err)
{
    struct capture_settings read = { .ring_bytes = (size_t)args->ring_bytes };
    char why[160];
    if (args->sample && !capture_read_sample(args->sample, &read.sample)) {
        tpa_fail(err, TPA_NOWHERE, "--sample %s is not a share of the steps", args->sample);
        return tpa_hint(err, "--sample 1/50 records one step in 50");
    }
    if (args->window && !capture_read_window(args->window, &read.window_ns, &read.period_ns)) {
        tpa_fail(err, TPA_NOWHERE, "--window %s is not a length with a longer period", args->window);
        return tpa_hint(
            err, "--window 2s/60s records two seconds in every minute; whole numbers with ms, s, min or h");
    }
    if (args->budget && !capture_read_budget(args->budget, &read.budget)) {
        tpa_fail(err, TPA_NOWHERE, "--budget %s is not a share of the time", args->budget);
        return tpa_hint(err, "--budget 1%% is a hundredth of the time");
    }
    if (args->slow && !capture_read_slow(args->slow, &read.slow)) {
        tpa_fail(err, TPA_NOWHERE, "--slow %s is not a number above 1", args->slow);
        return tpa_hint(err, "--slow 1.5x: half as long again as the median");
    }
    if (args->ring_bytes > 0 && args->ring_bytes < CAPTURE_LEAST_RING) {
        tpa_fail(err, TPA_NOWHERE, "--ring is too small");
        return tpa_hint(err, "16M is the least; 256M hold some seconds of a busy program");
    }
    return capture_settings_agree(&read, why, sizeof why) || tpa_fail(err, TPA_NOWHERE, "%s", why);
}

/* Check the pattern in ARGS with the library's parser. False and ERR if it is invalid. */
static bool capture_check_args(const struct capture_args *args, int *signal_number, struct tpa_error *err)
{
    char path[PATH_MAX];
    uint32_t kinds;
    const char *bad;
    size_t bad_len;
    if (!capture_settings_expand(args->output, getpid(), path, sizeof path)) {
        tpa_fail(err, TPA_NOWHERE, "--output %s is not a name for a file", args->output);
        return tpa_hint(
            err, "%%p, %%h, %%r and %%l stand for process, host, rank and rank on the host, %%%% for a "
                 "percent sign");
    }
    if (args->kinds && !capture_kinds_parse(args->kinds, &kinds, &bad, &bad_len)) {
        tpa_fail(err, TPA_NOWHERE, "--kinds does not know '%.*s'", (int)bad_len, bad);
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
    return check_pace(args, err) && (!args->signal || read_signal(args->signal, signal_number, err));
}

/* ---- existing files ---- */

/* The library in FOLDER and, below it, in WHERE; NULL if it does not exist. Free with free(). */
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

/* The path of the library: beside the program as built, or as installed. */
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

static bool is_folder(const char *path)
{
    struct stat status;
    return stat(path, &status) == 0 && S_ISDIR(status.st_mode);
}

static bool is_log(const char *path)
{
    char magic[8];
    struct stat status;
    if (lstat(path, &status) != 0 || !S_ISREG(status.st_mode))
        return false;
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool log = status.st_size == 0 || (fd >= 0 && read(fd, magic, sizeof magic) == sizeof magic &&
                                       memcmp(magic, TPAFILE_MAGIC, sizeof magic) == 0);
    if (fd >= 0)
        close(fd);
    return log;
}

/* Is NAME of the form STEMrankN.tpa or STEMrankN.PID.tpa, ENDING being the ".tpa"? */
static bool is_of_rank(const char *name, const char *stem, const char *ending)
{
    size_t len = strlen(stem);
    if (strncmp(name, stem, len) != 0 || strncmp(name + len, "rank", 4) != 0)
        return false;
    const char *at = name + len + 4, *digits = at;
    at += strspn(at, "0123456789");
    if (at == digits)
        return false;
    if (*at == '.' && at[1] >= '0' && at[1] <= '9')
        at += 1 + strspn(at + 1, "0123456789-");
    return strcmp(at, ending) == 0;
}

/* Was PATH written to just now? A log grows twice a second, so one of a rank on another machine is not taken for an old
 * one. */
static bool is_fresh(const char *path)
{
    enum { FRESH_S = 2 };
    struct stat status;
    struct timespec now;
    clock_gettime(CLOCK_REALTIME, &now);
    return stat(path, &status) == 0 && now.tv_sec - status.st_mtim.tv_sec <= FRESH_S;
}

/* Is PATH a log that is being written on this machine? Its writer holds a lock on it. */
static bool is_in_use(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    bool in_use = fd >= 0 && flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    if (fd >= 0)
        close(fd);
    return in_use;
}

/* Remove logs of an earlier job's ranks, which would otherwise be read together with those of this one. PATH: the log
 * without a rank. */
static void remove_ranks(const char *path, bool in_folder)
{
    const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
    char folder[PATH_MAX], stem[NAME_MAX + 2] = "", old[PATH_MAX];
    const char *ending = in_folder ? ".tpa" : dot && dot > name ? dot : "";
    snprintf(folder, sizeof folder, "%.*s", slash ? (int)(slash - path) + 1 : 2, slash ? path : "./");
    if (!in_folder)
        snprintf(stem, sizeof stem, "%.*s.", (int)(strlen(name) - strlen(ending)), name);
    DIR *entries = opendir(folder);
    for (struct dirent *entry; entries && (entry = readdir(entries));) {
        if (is_of_rank(entry->d_name, stem, ending) &&
            snprintf(old, sizeof old, "%s%s", folder, entry->d_name) < (int)sizeof old && is_log(old) &&
            !is_fresh(old) && !is_in_use(old))
            unlink(old);
    }
    if (entries)
        closedir(entries);
}

/* Logs of an earlier run are replaced; other files are not removed. If each rank of a job runs this command, each
 * replaces its own log. The folder for logs is created. */
static bool make_way(const char *pattern, struct tpa_error *err)
{
    char path[PATH_MAX];
    struct stat status;
    if (capture_settings_differ(pattern))
        return true; /* the name differs between runs: the library takes another when it exists */
    if (pattern[strlen(pattern) - 1] == '/' && mkdir(pattern, 0777) != 0 && errno != EEXIST) {
        tpa_fail_errno(err, "cannot be created");
        return tpa_in_file(err, pattern);
    }
    bool in_folder = is_folder(pattern);
    if (!capture_settings_expand(pattern, getpid(), path, sizeof path))
        return true;
    struct capture_rank rank = capture_rank_read();
    if (rank.rank < 0 && rank.local_rank < 0)
        remove_ranks(path, in_folder);
    if (lstat(path, &status) != 0)
        return true;
    if (is_log(path)) {
        if (!is_in_use(path)) /* else the library takes another name */
            unlink(path);     /* if that fails, the library will fail as well, and report it */
        return true;
    }
    tpa_fail(err, TPA_NOWHERE, "exists and is not a .tpa file: not overwritten");
    tpa_hint(err, "give another name by -o");
    return tpa_in_file(err, path);
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
    SCOPED struct buffer text = { 0 };
    SCOPED char *folder = pattern[0] == '/' ? NULL : getcwd(NULL, 0);
    for (const char *p = folder; p && *p; p++)
        buffer_puts(&text, *p == '%' ? "%%" : (char[]){ *p, '\0' });
    if (folder)
        buffer_putc(&text, '/');
    buffer_puts(&text, pattern);
    setenv("TPA_CAPTURE_OUTPUT", text.at, 1);
}

static void capture_set_environment(const struct capture_args *args, int signal_number, const char *library,
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
    set_text("TPA_CAPTURE_SAMPLE", args->sample);
    set_text("TPA_CAPTURE_WINDOW", args->window);
    set_text("TPA_CAPTURE_BUDGET", args->budget);
    set_text("TPA_CAPTURE_SLOW", args->slow);
    set_text("TPA_CAPTURE_HARDWARE_TIMES", args->hardware_times ? "1" : NULL);
    unsetenv("TPA_CAPTURE_RING");
    if (args->ring_bytes > 0)
        set_number("TPA_CAPTURE_RING", args->ring_bytes, "");
    unsetenv("TPA_CAPTURE_STEPS");
    unsetenv("TPA_CAPTURE_SIGNAL");
    if (signal_number)
        set_number("TPA_CAPTURE_SIGNAL", signal_number, "");
    if (args->steps.count == 1) {
        SCOPED struct buffer text = { 0 };
        quantity_append_ranges(&text, &args->steps);
        setenv("TPA_CAPTURE_STEPS", text.at, 1);
    }
    setenv("TPA_CAPTURE_LIBRARY", library, 1);
    setenv("CUDA_INJECTION64_PATH", library, 1);
    setenv("NVTX_INJECTION64_PATH", library, 1);
}

static bool make_fifo_in(const char *where, char *folder, size_t folder_size, char *fifo, size_t fifo_size)
{
    snprintf(folder, folder_size, "%.3000s/tpa-capture-XXXXXX", where);
    if (!mkdtemp(folder)) { /* which only this user may enter */
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

/* Create our own folder with a fifo in it: in TMPDIR or, if that fails, in /tmp. False, with a message on stderr, if
 * both fail: then failures go straight to stderr, and the written logs are unknown. */
static bool make_fifo(char *folder, size_t folder_size, char *fifo, size_t fifo_size)
{
    const char *tmp = getenv("TMPDIR");
    if (tmp && *tmp == '/' && make_fifo_in(tmp, folder, folder_size, fifo, fifo_size))
        return true;
    if (make_fifo_in("/tmp", folder, folder_size, fifo, fifo_size))
        return true;
    terminal_print(
        "tpa capture: %s cannot be written to (%s): the program is recorded, but the names of its logs are "
        "not known; set TMPDIR to a folder that can\n",
        tmp && *tmp == '/' ? "neither TMPDIR nor /tmp" : "/tmp", strerror(errno));
    return false;
}

/* Set up the environment, or print one line on why nothing will be recorded. */
static void capture_prepare(const struct capture_args *args, int signal_number, const char *fifo,
                            struct capture_listener *listener)
{
    SCOPED char *library = find_library(args);
    const char *other = getenv("CUDA_INJECTION64_PATH");
    SCOPED char *other_path = other && *other ? realpath(other, NULL) : NULL;
    if (!library && args->library)
        capture_print_trouble(listener, "nothing is recorded: the file that --library names cannot be read");
    else if (!library)
        capture_print_trouble(listener, "nothing is recorded: " LIBRARY
                                        " is not beside tpa; build tpa where CUPTI's headers are "
                                        "(CUDA toolkit, libcupti-dev), or give it by --library");
    else if (other && *other && (!other_path || strcmp(other_path, library) != 0))
        capture_print_trouble(
            listener,
            "nothing is recorded: CUDA_INJECTION64_PATH names another tool; run without it, or unset it");
    else
        capture_set_environment(args, signal_number, library, fifo);
}

static int capture_main(const struct invocation *call, struct tpa_error *err)
{
    const struct capture_args *args = call->args;
    int signal_number = 0;
    if (!capture_check_args(args, &signal_number, err) || !make_way(args->output, err))
        return EXIT_TROUBLE;

    struct capture_listener listener = {
        .folder = is_folder(args->output) ? args->output : NULL,
        .missing = args->ring_bytes > 0   ? "what the ring held"
                   : args->hardware_times ? "what CUPTI had not handed over"
                                          : "at most its last second",
    };
    ARENA_OWNS(&listener.arena, &listener.logs, &listener.troubles.at, &listener.notes.at);
    static char folder[PATH_MAX], fifo[PATH_MAX + 16]; /* which the end of the program may still remove */
    output_file_remember(fifo);
    output_file_remember(folder);
    bool listens = make_fifo(folder, sizeof folder, fifo, sizeof fifo);
    if (program_is_found(call->operands[0])) /* else that is all there is to say */
        capture_prepare(args, signal_number, listens ? fifo : NULL, &listener);

    VEC_OF(char *) words = { 0 };
    for (size_t i = 0; i < call->operand_count; i++)
        *VEC_PUSH(&words) = call->operands[i];
    *VEC_PUSH(&words) = NULL;
    struct program_end end;
    bool ran = run_program(words.at, listens ? fifo : NULL, capture_collect_line, &listener, &end, err);
    VEC_FREE(&words);
    if (listens) {
        output_file_remove_temporary(fifo);
        output_file_remove_temporary(folder);
    }
    if (ran && listens)
        capture_print(&listener, &end);
    arena_release(&listener.arena);
    return ran ? program_exit(&end) : EXIT_TROUBLE;
}

const struct command cmd_capture = {
    .name = "capture",
    .summary = "run a program and record its GPU work",
    .operands = "PROGRAM [ARG...]",
    .description =
        "Runs PROGRAM and records what it does with CUDA: kernels, copies, memsets, calls, waits, memory, CUDA graphs, "
        "and its NVTX ranges. Child processes are recorded too, each in a file of its own. The log is written as the "
        "program runs and can be read at any time; a program that is killed loses at most a second of it. Each rank of a "
        "job that a launcher starts has a log of its own.\n\n"
        "Where nothing can be recorded (no GPU, no CUPTI, another profiler), one line on stderr says why and what to do, "
        "and the program runs as it would without. The exit status is the program's.",
    .options = capture_opts,
    COMMAND_ARGS(capture_defaults),
    .main = capture_main,
    .examples = { "tpa capture -o run.tpa -- python train.py",
                  "tpa capture -o logs/ -- torchrun train.py  # a log a rank; then: tpa top logs/",
                  "tpa capture --sample 1/50 --budget 1% -- python train.py",
                  "tpa capture --ring 256MB --slow 1.5x -- python serve.py",
                  "tpa capture --start-after 60s --duration 10s -- python train.py",
                  "tpa capture --range step --steps 10..20 -- ./solver  # an NVTX range" },
    .section = SECTION_RECORD,
    .runs_program = true,
};
