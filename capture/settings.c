/* Linked into the library and into the program, so it uses nothing but libc. */
#define _GNU_SOURCE /* secure_getenv */
#include "capture/settings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <unistd.h>

bool capture_is_privileged(void)
{
    return getauxval(AT_SECURE) != 0;
}

const char *capture_variable(const char *name)
{
    const char *value = secure_getenv(name);
    return value && *value ? value : NULL;
}

static bool copy_text(const char *name, char *to, size_t size)
{
    const char *value = capture_variable(name);
    if (!value)
        return true;
    size_t len = strlen(value);
    if (len >= size)
        return false;
    memcpy(to, value, len + 1);
    return true;
}

/* A whole number with an optional unit from UNITS (name, factor; ends with { NULL }). */
struct unit {
    const char *name;
    int64_t factor;
};

static bool read_quantity(const char *text, const struct unit *units, int64_t *value)
{
    char *end;
    errno = 0;
    long long number = strtoll(text, &end, 10);
    if (end == text || errno || number < 0)
        return false;
    for (; units->name; units++) {
        if (strcmp(end, units->name) != 0)
            continue;
        if (number > INT64_MAX / units->factor)
            return false;
        *value = number * units->factor;
        return true;
    }
    return false;
}

static const struct unit time_units[] = {
    { "ns", 1 },
    { "us", 1000 },
    { "ms", 1000000 },
    { "s", 1000000000 },
    { "min", INT64_C(60000000000) },
    { "h", INT64_C(3600000000000) },
    { NULL, 0 },
};

static bool read_time(const char *name, int64_t *ns)
{
    const char *value = capture_variable(name);
    return !value || strcmp(value, "0") == 0 || read_quantity(value, time_units, ns);
}

/* A size; smaller ones are raised to LEAST. */
static bool read_size(const char *name, int64_t least, size_t *size)
{
    static const struct unit units[] = {
        { "", 1 }, { "k", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 },
    };
    const char *value = capture_variable(name);
    int64_t bytes;
    if (!value)
        return true;
    if (!read_quantity(value, units, &bytes))
        return false;
    *size = (size_t)(bytes < least ? least : bytes);
    return true;
}

/* Digits with an optional decimal point; *END is set to the text after them. */
static bool read_decimal(const char *text, double *value, const char **end)
{
    const char *at = text;
    double unit = 1;
    int digits = 0;
    *value = 0;
    for (bool point = false; (*at >= '0' && *at <= '9') || (*at == '.' && !point); at++) {
        if (*at == '.') {
            point = true;
            continue;
        }
        *value = *value * 10 + (*at - '0');
        unit *= point ? 10 : 1;
        digits++;
    }
    *value /= unit;
    *end = at;
    return digits > 0 && digits < 16;
}

bool capture_read_sample(const char *text, int64_t *every)
{
    char *end;
    if (strncmp(text, "1/", 2) != 0 || text[2] < '1' || text[2] > '9')
        return false;
    errno = 0;
    long long number = strtoll(text + 2, &end, 10);
    *every = number;
    return errno == 0 && number <= INT32_MAX && (*end == '\0' || strcmp(end, " steps") == 0);
}

bool capture_read_window(const char *text, int64_t *window_ns, int64_t *period_ns)
{
    char first[32];
    const char *slash = strchr(text, '/');
    size_t len = slash ? (size_t)(slash - text) : 0;
    if (!slash || len >= sizeof first)
        return false;
    memcpy(first, text, len);
    first[len] = '\0';
    return read_quantity(first, time_units, window_ns) && read_quantity(slash + 1, time_units, period_ns) &&
           *window_ns > 0 && *window_ns < *period_ns;
}

bool capture_read_budget(const char *text, double *share)
{
    const char *end;
    if (!read_decimal(text, share, &end))
        return false;
    bool percent = *end == '%';
    if (!percent && *share >= 1) /* "1" would be all of the time: 1% was meant */
        return false;
    if (percent) {
        *share /= 100;
        end++;
    }
    return *end == '\0' && *share > 0 && *share <= 1;
}

bool capture_read_slow(const char *text, double *times)
{
    const char *end;
    return read_decimal(text, times, &end) && (*end == '\0' || strcmp(end, "x") == 0) && *times > 1;
}

static bool read_sample(struct capture_settings *settings)
{
    const char *value = capture_variable("TPA_CAPTURE_SAMPLE");
    return !value || capture_read_sample(value, &settings->sample);
}

static bool read_window(struct capture_settings *settings)
{
    const char *value = capture_variable("TPA_CAPTURE_WINDOW");
    return !value || capture_read_window(value, &settings->window_ns, &settings->period_ns);
}

static bool read_budget(struct capture_settings *settings)
{
    const char *value = capture_variable("TPA_CAPTURE_BUDGET");
    return !value || capture_read_budget(value, &settings->budget);
}

static bool read_slow(struct capture_settings *settings)
{
    const char *value = capture_variable("TPA_CAPTURE_SLOW");
    return !value || capture_read_slow(value, &settings->slow);
}

bool capture_settings_agree(const struct capture_settings *settings, char *why, size_t why_size)
{
    const char *wrong = NULL;
    if (settings->sample && settings->window_ns)
        wrong = "--sample and --window do not go together: one counts steps, the other time";
    else if (settings->budget > 0 && !settings->sample && !settings->window_ns)
        wrong = "--budget needs --sample 1/N or --window LENGTH/PERIOD, which define what may be left out";
    else if (settings->slow > 0 && !settings->ring_bytes)
        wrong = "--slow needs --ring SIZE, from which a slow step is written";
    else if (settings->slow > 0 && (settings->sample || settings->window_ns))
        wrong =
            "--slow does not go with --sample or --window: a slow step that was left out cannot be written";
    if (wrong)
        snprintf(why, why_size, "%s", wrong);
    return !wrong;
}

static bool read_choice(const char *name, const char *no, const char *yes, bool *choice)
{
    const char *value = capture_variable(name);
    if (!value)
        return true;
    *choice = strcmp(value, yes) == 0;
    return *choice || strcmp(value, no) == 0;
}

static bool read_range(struct capture_settings *settings)
{
    if (!copy_text("TPA_CAPTURE_RANGE", settings->range, sizeof settings->range))
        return false;
    char *at = strrchr(settings->range, '@');
    if (at && at[1] != '\0' && at > settings->range) {
        memcpy(settings->range_domain, at + 1, strlen(at)); /* including the NUL */
        *at = '\0';
    }
    size_t len = strlen(settings->range);
    settings->range_is_prefix = len > 1 && settings->range[len - 1] == '*';
    if (settings->range_is_prefix)
        settings->range[len - 1] = '\0';
    return true;
}

/* "10..20", "10..", "..20" or "7". */
static bool read_steps(struct capture_settings *settings)
{
    const char *value = capture_variable("TPA_CAPTURE_STEPS");
    if (!value)
        return true;
    int64_t first = 0, last = INT64_MAX;
    const char *dots = strstr(value, "..");
    char *end;
    if (!dots || dots > value) {
        if (*value < '0' || *value > '9')
            return false;
        first = strtoll(value, &end, 10);
        if (end != (dots ? dots : value + strlen(value)))
            return false;
        last = dots ? INT64_MAX : first;
    }
    if (dots && dots[2] != '\0') {
        if (dots[2] < '0' || dots[2] > '9')
            return false;
        last = strtoll(dots + 2, &end, 10);
        if (*end != '\0')
            return false;
    }
    settings->first_step = first;
    settings->last_step = last;
    return first <= last && value[0] != '\0' && strcmp(value, "..") != 0;
}

static bool read_signal(struct capture_settings *settings)
{
    const char *value = capture_variable("TPA_CAPTURE_SIGNAL");
    if (!value)
        return true;
    char *end;
    long number = strtol(value, &end, 10);
    if (*end != '\0' || number <= 0 || number >= NSIG)
        return false;
    settings->toggle_signal = (int)number;
    return true;
}

bool capture_settings_read(struct capture_settings *settings, char *why, size_t why_size)
{
    *settings = (struct capture_settings){
        .output = CAPTURE_DEFAULT_OUTPUT,
        .kinds = CAPTURE_ALL_KINDS,
        .first_step = 1,
        .memory_bytes = CAPTURE_DEFAULT_MEMORY,
        .rank = capture_rank_read(),
    };
    const char *bad = NULL;
    size_t bad_len = 0;
    const char *kinds = capture_variable("TPA_CAPTURE_KINDS");
    const struct {
        const char *name;
        bool good;
    } reads[] = {
        { "TPA_CAPTURE_REPORT", copy_text("TPA_CAPTURE_REPORT", settings->report, sizeof settings->report) },
        { "TPA_CAPTURE_OUTPUT", copy_text("TPA_CAPTURE_OUTPUT", settings->output, sizeof settings->output) },
        { "TPA_CAPTURE_CUPTI", copy_text("TPA_CAPTURE_CUPTI", settings->cupti, sizeof settings->cupti) },
        { "TPA_CAPTURE_KINDS", !kinds || capture_kinds_parse(kinds, &settings->kinds, &bad, &bad_len) },
        { "TPA_CAPTURE_GRAPHS", read_choice("TPA_CAPTURE_GRAPHS", "graph", "node", &settings->graph_nodes) },
        { "TPA_CAPTURE_CALLS", read_choice("TPA_CAPTURE_CALLS", "work", "all", &settings->all_calls) },
        { "TPA_CAPTURE_PUBLIC", read_choice("TPA_CAPTURE_PUBLIC", "0", "1", &settings->is_public) },
        { "TPA_CAPTURE_PAUSED", read_choice("TPA_CAPTURE_PAUSED", "0", "1", &settings->paused) },
        { "TPA_CAPTURE_START_AFTER", read_time("TPA_CAPTURE_START_AFTER", &settings->start_after_ns) },
        { "TPA_CAPTURE_DURATION", read_time("TPA_CAPTURE_DURATION", &settings->duration_ns) },
        { "TPA_CAPTURE_MEMORY",
          read_size("TPA_CAPTURE_MEMORY", CAPTURE_LEAST_MEMORY, &settings->memory_bytes) },
        { "TPA_CAPTURE_RING", read_size("TPA_CAPTURE_RING", CAPTURE_LEAST_RING, &settings->ring_bytes) },
        { "TPA_CAPTURE_HARDWARE_TIMES",
          read_choice("TPA_CAPTURE_HARDWARE_TIMES", "0", "1", &settings->hardware_times) },
        { "TPA_CAPTURE_SAMPLE", read_sample(settings) },
        { "TPA_CAPTURE_WINDOW", read_window(settings) },
        { "TPA_CAPTURE_BUDGET", read_budget(settings) },
        { "TPA_CAPTURE_SLOW", read_slow(settings) },
        { "TPA_CAPTURE_RANGE", read_range(settings) },
        { "TPA_CAPTURE_STEPS", read_steps(settings) },
        { "TPA_CAPTURE_SIGNAL", read_signal(settings) },
    };
    for (size_t i = 0; i < sizeof reads / sizeof *reads; i++) {
        if (reads[i].good)
            continue;
        snprintf(why, why_size, "cannot read %s=%.200s", reads[i].name, capture_variable(reads[i].name));
        return false;
    }
    return capture_settings_agree(settings, why, why_size);
}

/* Open MPI, MPICH and Slurm, beside torchrun, whose variables all others imitate. */
static long first_number(const char *const *names)
{
    for (; *names; names++) {
        const char *value = capture_variable(*names);
        char *end;
        if (!value)
            continue;
        long number = strtol(value, &end, 10);
        if (*end == '\0' && number >= 0)
            return number;
    }
    return -1;
}

/* A batch script has SLURM_PROCID=0 and the SLURM_NTASKS of the job without being one of its tasks: only steps have
 * ranks. The shell of an interactive job has one of the last step numbers but is not a step. */
static bool is_in_slurm_step(void)
{
    static const char *const step[] = { "SLURM_STEP_ID", NULL };
    enum { FIRST_SPECIAL_STEP = 0x7ffffff0 };
    long number = first_number(step);
    return number >= 0 && number < FIRST_SPECIAL_STEP;
}

struct capture_rank capture_rank_read(void)
{
    static const char *const ranks[] = { "RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", NULL };
    static const char *const locals[] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          NULL };
    static const char *const sizes[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", NULL };
    static const char *const slurm_rank[] = { "SLURM_PROCID", NULL };
    static const char *const slurm_local[] = { "SLURM_LOCALID", NULL };
    static const char *const slurm_size[] = { "SLURM_STEP_NUM_TASKS", "SLURM_NTASKS", NULL };
    struct capture_rank found = { first_number(ranks), first_number(locals), first_number(sizes) };
    if (!is_in_slurm_step())
        return found;
    found.rank = found.rank < 0 ? first_number(slurm_rank) : found.rank;
    found.local_rank = found.local_rank < 0 ? first_number(slurm_local) : found.local_rank;
    found.world_size = found.world_size < 0 ? first_number(slurm_size) : found.world_size;
    return found;
}

/* A host name may contain any character; in a path it must be one component that does not begin with a dot. */
static void make_path_safe(char *host)
{
    for (char *c = host; *c; c++) {
        bool is_word = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        if (!is_word && *c != '-' && *c != '_' && (*c != '.' || c == host))
            *c = '_';
    }
}

/* Store the replacement of %LETTER in PIECE. False for an unknown letter. */
static bool expand_letter(char letter, long pid, char *piece, size_t size)
{
    struct capture_rank rank = capture_rank_read();
    switch (letter) {
    case 'p': snprintf(piece, size, "%ld", pid); return true;
    case 'r': snprintf(piece, size, "%ld", rank.rank < 0 ? 0 : rank.rank); return true;
    case 'l': snprintf(piece, size, "%ld", rank.local_rank < 0 ? 0 : rank.local_rank); return true;
    case '%': snprintf(piece, size, "%%"); return true;
    case 'h':
        if (gethostname(piece, size) != 0)
            snprintf(piece, size, "localhost");
        piece[size - 1] = '\0';
        make_path_safe(piece);
        return true;
    default: return false;
    }
}

static bool expand(const char *pattern, long pid, char *path, size_t size)
{
    size_t used = 0;
    for (const char *p = pattern; *p; p++) {
        char piece[256] = { *p, '\0' };
        if (*p == '%' && !expand_letter(*++p, pid, piece, sizeof piece))
            return false;
        size_t len = strlen(piece);
        if (used + len >= size)
            return false;
        memcpy(path + used, piece, len + 1);
        used += len;
    }
    return used > 0;
}

static bool is_folder(const char *path)
{
    struct stat status;
    return path[strlen(path) - 1] == '/' || (stat(path, &status) == 0 && S_ISDIR(status.st_mode));
}

bool capture_settings_differ(const char *pattern)
{
    for (const char *p = strchr(pattern, '%'); p && p[1]; p = strchr(p + 2, '%'))
        if (p[1] != '%')
            return true;
    return false;
}

bool capture_settings_expand(const char *pattern, long pid, char *path, size_t size)
{
    struct capture_rank rank = capture_rank_read();
    long number = rank.rank >= 0 ? rank.rank : rank.local_rank;
    bool several = number >= 0 && rank.world_size != 1;
    char addition[64] = "";
    if (!expand(pattern, pid, path, size))
        return false;
    size_t len = strlen(path), at = len;
    if (is_folder(path)) {
        const char *slash = path[len - 1] == '/' ? "" : "/";
        if (several)
            snprintf(addition, sizeof addition, "%srank%ld.tpa", slash, number);
        else
            snprintf(addition, sizeof addition, "%s" CAPTURE_DEFAULT_OUTPUT, slash);
    } else if (several && !capture_settings_differ(pattern)) {
        const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path, *dot = strrchr(name, '.');
        at = dot && dot > name ? (size_t)(dot - path) : len;
        snprintf(addition, sizeof addition, ".rank%ld", number);
    }
    size_t more = strlen(addition);
    if (len + more >= size)
        return false;
    memmove(path + at + more, path + at, len - at + 1);
    for (size_t i = 0; i < more; i++)
        path[at + i] = addition[i];
    return true;
}
