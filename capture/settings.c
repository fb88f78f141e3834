/* settings.c - see settings.h. Linked into the library and into the program, so it uses nothing but libc. */
#define _GNU_SOURCE /* secure_getenv */
#include "capture/settings.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
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

/* A whole number that UNITS (name, factor; a { NULL } ends them) may follow. */
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

static bool read_time(const char *name, int64_t *ns)
{
    static const struct unit units[] = {
        { "ns", 1 },
        { "us", 1000 },
        { "ms", 1000000 },
        { "s", 1000000000 },
        { "min", INT64_C(60000000000) },
        { "h", INT64_C(3600000000000) },
        { NULL, 0 },
    };
    const char *value = capture_variable(name);
    return !value || strcmp(value, "0") == 0 || read_quantity(value, units, ns);
}

static bool read_memory(struct capture_settings *settings)
{
    static const struct unit units[] = {
        { "", 1 }, { "k", 1 << 10 }, { "M", 1 << 20 }, { "G", 1 << 30 }, { NULL, 0 },
    };
    const char *value = capture_variable("TPA_CAPTURE_MEMORY");
    int64_t bytes;
    if (!value)
        return true;
    if (!read_quantity(value, units, &bytes))
        return false;
    settings->memory_bytes = bytes < CAPTURE_LEAST_MEMORY ? CAPTURE_LEAST_MEMORY : (size_t)bytes;
    return true;
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
        memcpy(settings->range_domain, at + 1, strlen(at)); /* with its end */
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
        { "TPA_CAPTURE_MEMORY", read_memory(settings) },
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
    return true;
}

/* Open MPI, MPICH and Slurm, beside torchrun, which all others imitate. */
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

struct capture_rank capture_rank_read(void)
{
    static const char *const ranks[] = { "RANK",      "OMPI_COMM_WORLD_RANK", "PMI_RANK",
                                         "PMIX_RANK", "SLURM_PROCID",         NULL };
    static const char *const locals[] = { "LOCAL_RANK", "OMPI_COMM_WORLD_LOCAL_RANK", "MPI_LOCALRANKID",
                                          "SLURM_LOCALID", NULL };
    static const char *const sizes[] = { "WORLD_SIZE", "OMPI_COMM_WORLD_SIZE", "PMI_SIZE", "SLURM_NTASKS",
                                         NULL };
    return (struct capture_rank){ first_number(ranks), first_number(locals), first_number(sizes) };
}

/* A host may be called anything; in a path it is one name, and none that begins with a dot. */
static void make_path_safe(char *host)
{
    for (char *c = host; *c; c++) {
        bool is_word = (*c >= '0' && *c <= '9') || (*c >= 'A' && *c <= 'Z') || (*c >= 'a' && *c <= 'z');
        if (!is_word && *c != '-' && *c != '_' && (*c != '.' || c == host))
            *c = '_';
    }
}

bool capture_settings_expand(const char *pattern, long pid, char *path, size_t size)
{
    size_t used = 0;
    for (const char *p = pattern; *p; p++) {
        char piece[256] = { *p, '\0' };
        if (*p == '%') {
            p++;
            if (*p == 'p') {
                snprintf(piece, sizeof piece, "%ld", pid);
            } else if (*p == 'h') {
                if (gethostname(piece, sizeof piece) != 0)
                    strcpy(piece, "localhost");
                piece[sizeof piece - 1] = '\0';
                make_path_safe(piece);
            } else if (*p == 'r') {
                long rank = capture_rank_read().rank;
                snprintf(piece, sizeof piece, "%ld", rank < 0 ? 0 : rank);
            } else if (*p != '%') {
                return false;
            }
        }
        size_t len = strlen(piece);
        if (used + len >= size)
            return false;
        memcpy(path + used, piece, len + 1);
        used += len;
    }
    return used > 0;
}
