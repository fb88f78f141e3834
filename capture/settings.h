/*
 * settings.h - settings of a recording, from the environment.
 *
 * `tpa capture` sets these variables; set them by hand if the library is loaded by other means. Times are whole numbers
 * with a unit (500ms, 10s, 2min), sizes whole numbers with or without k, M or G.
 *
 *     TPA_CAPTURE_OUTPUT       name of the log; %p process id, %h host, %r rank, %l rank on the host, %% percent sign
 *     TPA_CAPTURE_KINDS        words of kinds.h
 *     TPA_CAPTURE_GRAPHS       graph: a CUDA graph is one record a launch (default); node: every kernel in it is
 *     TPA_CAPTURE_CALLS        work: calls that launch, copy, allocate, wait ... (default); all: every call
 *     TPA_CAPTURE_START_AFTER  begin this long after the library was started
 *     TPA_CAPTURE_DURATION     end this long after recording began
 *     TPA_CAPTURE_RANGE        record inside NVTX ranges of this name only; NAME, NAME@DOMAIN, a * at the end of NAME
 *     TPA_CAPTURE_STEPS        FIRST..LAST, FIRST.. or N: of that range's occurrences, or of tpa_capture_step()
 *     TPA_CAPTURE_SAMPLE       1/N: one in N of these steps or occurrences
 *     TPA_CAPTURE_WINDOW       LENGTH/PERIOD, 2s/60s: for LENGTH, again every PERIOD
 *     TPA_CAPTURE_BUDGET       1%: sample less, or less often, so that recording costs at most so much of the time
 *     TPA_CAPTURE_RING         size: keep the last of this in memory, and write it at the signal, slow steps or the end
 *     TPA_CAPTURE_SLOW         1.5x: a step that takes so many times the usual has the ring written
 *     TPA_CAPTURE_SIGNAL       number of a signal that switches recording off and on, or has the ring written
 *     TPA_CAPTURE_PAUSED       1: wait for that signal or for tpa_capture_start()
 *     TPA_CAPTURE_MEMORY       limit on memory for unwritten records
 *     TPA_CAPTURE_CUPTI        path of libcupti.so
 *     TPA_CAPTURE_HARDWARE_TIMES   1: kernel times by the device's own event system
 *     TPA_CAPTURE_REPORT       a fifo for report.h
 */
#ifndef TPA_CAPTURE_SETTINGS_H
#define TPA_CAPTURE_SETTINGS_H

#include "capture/kinds.h"
#include <limits.h>

/* The rank of this process in its job, its rank on its machine, and the size of the job, from variables set by
 * launchers; -1: unknown. */
struct capture_rank {
    long rank, local_rank, world_size;
};
struct capture_rank capture_rank_read(void);

struct capture_settings {
    char output[PATH_MAX];
    uint32_t kinds; /* bits of enum capture_kind */
    bool graph_nodes, all_calls, paused, hardware_times;
    bool is_public; /* umask decides who may read the log; else only the user who runs the program */
    int64_t start_after_ns, duration_ns; /* 0: at once; no limit */
    char range[256], range_domain[256];  /* "": no range requested; "": any domain */
    bool range_is_prefix;
    int64_t first_step, last_step; /* first > last: no steps requested */
    int64_t sample;                /* one step in this many; 0: all */
    int64_t window_ns, period_ns;  /* 0: all the time */
    double budget;                 /* limit on the share of the time that recording may cost; 0: none */
    double slow;                   /* slow steps take this many times the usual duration; 0: not checked */
    size_t ring_bytes;             /* 0: no ring, records are written at once */
    int toggle_signal;             /* 0: none */
    size_t memory_bytes;
    char cupti[PATH_MAX];  /* "": search for it */
    char report[PATH_MAX]; /* "": to stderr */
    /* read at the beginning: the program may change its environment, on any thread */
    struct capture_rank rank;
};

enum { CAPTURE_DEFAULT_MEMORY = 256 << 20, CAPTURE_LEAST_MEMORY = 16 << 20, CAPTURE_LEAST_RING = 16 << 20 };
#define CAPTURE_DEFAULT_OUTPUT "capture.tpa"

/* Does the process run with more privileges than the user who started it (setuid, setgid, capabilities)? Then the
 * user's environment must not control which files are loaded and written: nothing is recorded. */
bool capture_is_privileged(void);

/* The variable of the environment; borrowed; NULL if it is empty or not set, or the process is privileged. */
const char *capture_variable(const char *name);

/* Fill *SETTINGS. False, and a sentence in WHY, if a variable is invalid; the others are still filled in. */
bool capture_settings_read(struct capture_settings *settings, char *why, size_t why_size);

/* "1/50" or "1/50 steps": 50. False for anything else. */
bool capture_read_sample(const char *text, int64_t *every);

/* "2s/60s": whole numbers with a unit, the first above 0 and below the second. */
bool capture_read_window(const char *text, int64_t *window_ns, int64_t *period_ns);

/* "1%" or "0.01": a share above 0 and at most 1; without "%" below 1, because "1" probably means one percent. Does not
 * use strtod, which depends on the program's locale; nor does the next. */
bool capture_read_budget(const char *text, double *share);

/* "1.5x" or "1.5": above 1. */
bool capture_read_slow(const char *text, double *times);

/* Are the options compatible? If not, false and a sentence in WHY. */
bool capture_settings_agree(const struct capture_settings *settings, char *why, size_t why_size);

/* Write PATTERN with %p, %h, %r and %l replaced to PATH. False if it does not fit or contains another %. In a
 * job of several ranks each rank has its own log: without % in PATTERN, the rank is inserted before the
 * extension, run.rank3.tpa. If PATTERN ends in a slash or names a folder, rank3.tpa, or capture.tpa without
 * ranks, is appended. */
bool capture_settings_differ(const char *pattern); /* does it contain a % other than %%? */
bool capture_settings_expand(const char *pattern, long pid, char *path, size_t size);

#endif
