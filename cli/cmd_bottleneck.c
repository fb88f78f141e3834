/*
 * cmd_bottleneck.c - `tpa bottleneck`: run a Python program as it is, and show what limits it.
 *
 * The recording is done by our Python code (cli/bottleneck/sitecustomize.py), which every Python process of the program
 * loads through PYTHONPATH: cProfile, and torch.profiler once torch is imported. Each process writes its files into a
 * folder. They are analyzed by running commands of this program, which are shown so that users can continue with them.
 * All of it goes to stderr: stdout is the program's.
 */
#include "analyze/steps.h"

#include "base/rows.h"
#include "base/shell_word.h"

#include "cli/terminal.h"
#include "cli/parts.h"
#include "base/escape.h"
#include "cli/commands.h"
#include "cli/process.h"
#include "derive/features.h"

#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <limits.h>
#include <sys/stat.h>
#include <unistd.h>

extern const char bottleneck_recorder[]; /* sitecustomize.py */

struct bottleneck_args {
    const char *folder, *report;
    int64_t duration_ns;
    uint64_t limit;
};

static const struct bottleneck_args bottleneck_defaults = { .duration_ns = 30000000000, .limit = 10 };

static const struct opt bottleneck_opts[] = {
    OPT_GROUP("Recording"),
    OPT_TIME(0, "duration", struct bottleneck_args, duration_ns, "TIME",
             "how long torch.profiler records, from the import of torch; cProfile records all"),
    OPT_GROUP("Output"),
    OPT_DIRECTORY('o', "output", struct bottleneck_args, folder, "DIRECTORY",
                  "keep the recordings here; without it they are removed"),
    OPT_FILE(0, "report", struct bottleneck_args, report, "FILE", "write the page of tpa report, too"),
    OPT_COUNT('n', "limit", struct bottleneck_args, limit, 1, 1000, "N", "rows of each table"),
    OPT_END,
};

/* ---- the folder ---- */

struct recording {
    char folder[PATH_MAX];
    bool is_ours;                           /* to be removed */
    VEC_OF(char *) profiles, traces, texts; /* paths; first those of the first process */
};

static bool write_recorder(const char *folder, struct tpa_error *err)
{
    char path[PATH_MAX + 32];
    snprintf(path, sizeof path, "%s/sitecustomize.py", folder);
    FILE *file = fopen(path, "wxe");
    if (!file)
        return tpa_fail_errno(err, "cannot write %s", path);
    bool good = fputs(bottleneck_recorder, file) >= 0;
    good = fclose(file) == 0 && good;
    return good || tpa_fail_errno(err, "cannot write %s", path);
}

/* False and ERR if no folder can be created, or --output names one that is not empty. */
static bool bottleneck_make_folder(struct recording *recording, const char *named, struct tpa_error *err)
{
    if (named) {
        if (mkdir(named, 0777) != 0 && errno != EEXIST)
            return tpa_fail_errno(err, "cannot make the directory %s", named);
        if (!realpath(named, recording->folder))
            return tpa_fail_errno(err, "cannot use the directory %s", named);
        if (strchr(recording->folder, ':'))
            return tpa_fail(err, TPA_NOWHERE, "the path %s has a colon, which PYTHONPATH cannot hold",
                            recording->folder);
        if (rmdir(named) != 0 || mkdir(named, 0777) != 0) {
            tpa_fail(err, TPA_NOWHERE, "%s is not empty", named);
            return tpa_hint(err, "name a new directory by --output");
        }
        return write_recorder(recording->folder, err);
    }
    const char *tmp = getenv("TMPDIR");
    bool usable = tmp && *tmp == '/' && !strchr(tmp, ':'); /* PYTHONPATH has no way to write a colon */
    snprintf(recording->folder, sizeof recording->folder, "%.3000s/tpa-bottleneck-XXXXXX",
             usable ? tmp : "/tmp");
    if (!mkdtemp(recording->folder))
        return tpa_fail_errno(err, "cannot make a directory in %s", usable ? tmp : "/tmp");
    recording->is_ours = true;
    return write_recorder(recording->folder, err);
}

/* By name, that of the started process first. */
static void sort_paths(char **paths, size_t count)
{
    SORT_TEXTS(paths, count);
    SORT_BY(paths, count, i, !strstr(paths[i], "/main."));
}

/* If ranks were recorded, the started process is their launcher, and only they are analyzed. */
static void leave_out_launcher(char **paths, size_t *count)
{
    if (*count < 2 || !strstr(paths[0], "/main.") || !strstr(paths[*count - 1], "/rank"))
        return;
    free(paths[0]);
    (*count)--;
    memmove(paths, paths + 1, *count * sizeof *paths);
}

static void find_files(struct recording *recording)
{
    DIR *folder = opendir(recording->folder);
    for (struct dirent *entry; folder && (entry = readdir(folder));) {
        struct buffer path = { 0 };
        buffer_printf(&path, "%s/%s", recording->folder, entry->d_name);
        if (text_ends_with(entry->d_name, ".prof"))
            *VEC_PUSH(&recording->profiles) = path.at;
        else if (text_ends_with(entry->d_name, ".json"))
            *VEC_PUSH(&recording->traces) = path.at;
        else if (text_ends_with(entry->d_name, ".txt"))
            *VEC_PUSH(&recording->texts) = path.at;
        else
            buffer_release(&path);
    }
    if (folder)
        closedir(folder);
    sort_paths(recording->profiles.at, recording->profiles.count);
    sort_paths(recording->traces.at, recording->traces.count);
    sort_paths(recording->texts.at, recording->texts.count);
    leave_out_launcher(recording->profiles.at, &recording->profiles.count);
    leave_out_launcher(recording->traces.at, &recording->traces.count);
}

/* Remove the recorder, and everything else if the folder is ours. Python may have left compiled files in it. */
static void clean_up(struct recording *recording)
{
    static const char *const sub[] = { "", "/__pycache__" };
    for (size_t i = sizeof sub / sizeof *sub; i-- > 0;) {
        SCOPED struct buffer path = { 0 };
        buffer_printf(&path, "%s%s", recording->folder, sub[i]);
        size_t length = path.count;
        DIR *folder = opendir(path.at);
        for (struct dirent *entry; folder && (entry = readdir(folder));) {
            if (i == 0 && !recording->is_ours && strcmp(entry->d_name, "sitecustomize.py") != 0)
                continue;
            buffer_printf(&path, "/%s", entry->d_name);
            unlink(path.at);
            path.count = length;
            path.at[length] = '\0';
        }
        if (folder)
            closedir(folder);
        if (i > 0 || recording->is_ours)
            rmdir(path.at);
    }
    for (size_t i = 0; i < recording->profiles.count; i++)
        free(recording->profiles.at[i]);
    for (size_t i = 0; i < recording->traces.count; i++)
        free(recording->traces.at[i]);
    for (size_t i = 0; i < recording->texts.count; i++)
        free(recording->texts.at[i]);
    EACH(VEC_FREE, &recording->profiles, &recording->traces, &recording->texts);
}

static void bottleneck_set_environment(const struct bottleneck_args *args, const struct recording *recording)
{
    const char *before = getenv("PYTHONPATH");
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%s%s%s", recording->folder, before && *before ? ":" : "", before ? before : "");
    setenv("PYTHONPATH", text.at, 1);
    setenv("TPA_BOTTLENECK", recording->folder, 1);
    buffer_clear(&text);
    buffer_printf(&text, "%" PRId64 ".%09" PRId64, args->duration_ns / 1000000000,
                  args->duration_ns % 1000000000);
    setenv("TPA_BOTTLENECK_SECONDS", text.at, 1);
    buffer_clear(&text);
    buffer_printf(&text, "%ld", (long)getpid());
    setenv("TPA_BOTTLENECK_PID", text.at, 1);
}

/* ---- the results ---- */

static void cmd_bottleneck_print(const char *text, size_t len)
{
    SCOPED struct buffer safe = { 0 };
    escape_terminal(&safe, text, len);
    if (safe.count)
        fwrite(safe.at, 1, safe.count, stderr);
}

static void print_environment(const struct recording *recording)
{
    fputs("\n== Environment\n", stderr);
    FILE *file = recording->texts.count ? fopen(recording->texts.at[0], "re") : NULL;
    char *line = NULL;
    size_t size = 0;
    for (ssize_t len; file && (len = getline(&line, &size, file)) > 0;) {
        cmd_bottleneck_print(line, (size_t)(line[len - 1] == '\n' ? len - 1 : len));
        putc('\n', stderr);
    }
    free(line);
    if (file)
        fclose(file);
    fprintf(stderr, "CPUs: %ld\n", sysconf(_SC_NPROCESSORS_ONLN));
    if (recording->texts.count > 1)
        fprintf(stderr, "Processes recorded: %zu\n", recording->texts.count);
}

static void print_word(const char *word)
{
    SCOPED struct buffer quoted = { 0 };
    shell_word_append(&quoted, word, strlen(word));
    terminal_print(" %s", quoted.at);
}

/* Print the output of `tpa WORDS... PATHS...`, with the command as a heading; its first paragraph alone if IS_SENTENCE. */
static void print_part(const char *title, const char *const *words, char *const *paths, size_t count,
                       bool is_sentence)
{
    SCOPED VEC_OF(const char *) argv = { 0 };
    *VEC_PUSH(&argv) = "/proc/self/exe";
    terminal_print("\n== %s: tpa", title);
    for (size_t i = 0; words[i]; i++) {
        *VEC_PUSH(&argv) = words[i];
        print_word(words[i]);
    }
    *VEC_PUSH(&argv) = "--";
    for (size_t i = 0; i < count; i++) {
        *VEC_PUSH(&argv) = paths[i];
        if (i == 0)
            print_word(strrchr(paths[i], '/') + 1);
    }
    fputs(count > 1 ? " ...\n" : "\n", stderr);
    *VEC_PUSH(&argv) = NULL;
    struct process_result result;
    struct tpa_error err = { 0 };
    enum { LONGEST_S = 600 };
    if (process_run(argv.at, "", 0, LONGEST_S, &result, &err)) {
        const char *text = result.output.at ? result.output.at : "";
        const char *end = is_sentence ? memmem(text, result.output.count, "\n\n", 2) : NULL;
        fwrite(text, 1, end ? (size_t)(end + 1 - text) : result.output.count, stderr);
        fwrite(result.errors.at ? result.errors.at : "", 1, result.errors.count, stderr);
    } else {
        tpa_error_print(&err, "tpa bottleneck", stderr);
    }
    process_release(&result);
}

static void bottleneck_print(const char *title, const char *const *words, char *const *paths, size_t count)
{
    print_part(title, words, paths, count, false);
}

/* ---- the verdict ---- */

/* The class of each part of a step (analyze/steps.h). */
enum bound { BOUND_GPU, BOUND_COMMUNICATION, BOUND_DATA, BOUND_HOST, BOUNDS };

static enum bound bound_of(enum step_part part)
{
    switch (part) {
    case STEP_KERNEL:
    case STEP_MEMCPY:
    case STEP_MEMSET: return BOUND_GPU;
    case STEP_COMMUNICATION: return BOUND_COMMUNICATION;
    case STEP_DATA_LOADING: return BOUND_DATA;
    default: return BOUND_HOST;
    }
}

static void print_shares(const int64_t *part_ns, int64_t total_ns)
{
    for (int part = 0; part < STEP_PARTS; part++)
        if (part_ns[part] > 0)
            terminal_print("  %-14s %5.1f %%  %s\n", step_part_title((enum step_part)part),
                           100.0 * (double)part_ns[part] / (double)total_ns, TIME_TEXT(part_ns[part]));
}

static void print_bound(const struct steps *steps, bool has_device)
{
    static const char *const words[BOUNDS] = {
        [BOUND_GPU] =
            "GPU-bound: the device's own work takes the largest part; look at its operators and kernels",
        [BOUND_COMMUNICATION] =
            "communication-bound: collectives take the largest part; tpa comm says which and why",
        [BOUND_DATA] =
            "data-bound: waiting for data takes the largest part; more workers, or less work for a sample",
        [BOUND_HOST] = "host-bound: Python and the framework take the largest part, while the device waits",
    };
    int64_t part_ns[STEP_PARTS] = { 0 }, bound_ns[BOUNDS] = { 0 }, total_ns = 0;
    for (size_t i = 0; i < steps->each.count; i++)
        for (int part = 0; part < STEP_PARTS; part++) {
            part_ns[part] += steps->each.at[i].part_ns[part];
            bound_ns[bound_of((enum step_part)part)] += steps->each.at[i].part_ns[part];
            total_ns += steps->each.at[i].part_ns[part];
        }
    if (total_ns <= 0)
        return;
    int most = 0;
    for (int bound = 1; bound < BOUNDS; bound++)
        if (bound_ns[bound] > bound_ns[most])
            most = bound;
    const char *verdict = !has_device && most == BOUND_HOST
                              ? "it runs on the CPU: nothing ran on a GPU while it was recorded"
                              : words[most];
    terminal_print("\n== Verdict: %s\n%s %zu, of %.3f s together; each moment counts once:\n", verdict,
                   steps->no_steps ? "Recordings looked at:" : "Steps looked at:", steps->each.count,
                   (double)total_ns / 1e9);
    print_shares(part_ns, total_ns);
}

/* Find which of host, data, device and communication takes most of the recorded steps. Returns whether a device was
 * used. */
static bool bottleneck_print_verdict(const struct invocation *call, const struct recording *recording)
{
    struct trace_wants wants = steps_wants;
    wants.args |= FEATURE_WANTS;
    static const struct load_args load = LOAD_DEFAULTS;
    struct invocation read = { call->command, call->args, recording->traces.at, recording->traces.count };
    struct tpa_error err = { 0 };
    SCOPED_BY(trace_free_at) struct trace *trace = load_traces(&read, &load, &wants, &err);
    SCOPED_OBJECT struct selection *selection =
        trace ? selection_open(trace, &(struct selection_query){ 0 }, &err) : NULL;
    SCOPED_OBJECT const struct steps *steps =
        selection ? steps_analyze(trace, selection, &(struct steps_options){ 0 }, &err) : NULL;
    bool has_device = trace && (trace_features(trace) & FEATURE_GPU) != 0;
    if (steps)
        print_bound(steps, has_device);
    else
        tpa_error_print(&err, "tpa bottleneck", stderr);
    return has_device;
}

static void print_profile(const struct recording *recording, const char *limit)
{
    bottleneck_print("Python functions, by their own time",
                     (const char *const[]){ "top", "--sort", "tottime", "--limit", limit, NULL },
                     recording->profiles.at, 1);
}

static void bottleneck_print_all(const struct invocation *call, struct recording *recording)
{
    const struct bottleneck_args *args = call->args;
    char limit[32];
    snprintf(limit, sizeof limit, "%" PRIu64, args->limit);
    if (recording->texts.count == 0 && recording->profiles.count == 0) {
        fputs(
            "tpa bottleneck: nothing was recorded: no process of the program was a Python that takes PYTHONPATH "
            "(python -I, -E and -S do not), or it was killed\n",
            stderr);
        return;
    }
    print_environment(recording);
    if (recording->traces.count) {
        char *const *traces = recording->traces.at;
        size_t count = recording->traces.count;
        bool has_device = bottleneck_print_verdict(call, recording);
        bottleneck_print(
            "Operators by time on the CPU",
            (const char *const[]){ "top", "--sort", "self_cpu_time_total", "--limit", limit, NULL }, traces,
            count);
        if (has_device)
            bottleneck_print(
                "Operators by time on the GPU",
                (const char *const[]){ "top", "--sort", "self_cuda_time_total", "--limit", limit, NULL },
                traces, count);
        if (recording->profiles.count)
            print_profile(recording, limit);
        bottleneck_print("Summary", (const char *const[]){ "summary", NULL }, traces,
                         count); /* last: it stays in sight */
    } else {
        fputs("\ntorch was not used, or could not be recorded: there is a Python profile only\n", stderr);
    }
    if (recording->profiles.count && !recording->traces.count) {
        print_profile(recording, limit);
        print_part("In short", (const char *const[]){ "summary", NULL }, recording->profiles.at, 1, true);
    }
    if (args->report && recording->traces.count) {
        char *folder[] = { recording->folder }; /* two traces would be compared */
        bottleneck_print("Report", (const char *const[]){ "report", "--output", args->report, NULL },
                         recording->traces.count == 1 ? recording->traces.at : folder, 1);
    }
    if (args->report && !recording->traces.count)
        fputs("tpa bottleneck: no page was written: there is no trace to report on\n", stderr);
    if (!recording->is_ours)
        terminal_print("\nThe recordings are in %s\n", args->folder);
}

static int bottleneck_main(const struct invocation *call, struct tpa_error *err)
{
    const struct bottleneck_args *args = call->args;
    struct recording recording = { 0 };
    if (!bottleneck_make_folder(&recording, args->folder, err)) {
        clean_up(&recording);
        return EXIT_TROUBLE;
    }
    bottleneck_set_environment(args, &recording);
    VEC_OF(char *) words = { 0 };
    char python[] = "python3";
    const char *program = call->operands[0];
    if (text_ends_with(program, ".py") && access(program, F_OK) == 0 && access(program, X_OK) != 0)
        *VEC_PUSH(&words) = python;
    for (size_t i = 0; i < call->operand_count; i++)
        *VEC_PUSH(&words) = call->operands[i];
    *VEC_PUSH(&words) = NULL;
    struct program_end end;
    bool ran = run_program(words.at, NULL, NULL, NULL, &end, err);
    VEC_FREE(&words);
    if (ran) {
        unsetenv("TPA_BOTTLENECK");
        find_files(&recording);
        if (end.signal || end.exit_code < 126 ||
            recording.texts.count) /* else a failure to run was reported already */
            bottleneck_print_all(call, &recording);
    }
    clean_up(&recording);
    return ran ? program_exit(&end) : EXIT_TROUBLE;
}

const struct command cmd_bottleneck = {
    .name = "bottleneck",
    .summary = "run a Python program as it is, and show what holds it up",
    .operands = "PROGRAM [ARG...]",
    .description =
        "Runs PROGRAM, any command that leads to Python, and records it without a change. cProfile records all of "
        "it, and torch.profiler the first seconds after torch is imported, on the GPU too where there is one. Steps are those of its "
        "optimizer. When it ends, stderr shows the environment; whether it is host-bound, data-bound, GPU-bound or "
        "communication-bound, and by how much; what to do about it (tpa summary); the operators; and the Python functions.\n\n"
        "Without torch there is the Python profile alone. Other Python processes of the program (workers of a DataLoader, ranks "
        "of torchrun) are recorded each by itself. The output of the program is its own, and so is the exit status. Recording "
        "costs time: the profile mostly of code with many short calls; docs/commands/bottleneck.md has figures.",
    .options = bottleneck_opts,
    COMMAND_ARGS(bottleneck_defaults),
    .main = bottleneck_main,
    .examples = { "tpa bottleneck -- python train.py --epochs 1",
                  "tpa bottleneck -o recording -- python -m my.training",
                  "tpa bottleneck --report page.html -- torchrun --nproc-per-node 4 train.py" },
    .section = SECTION_RECORD,
    .runs_program = true,
};
