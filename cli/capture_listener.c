/* cli/capture_listener.c - see cli/capture_listener.h. */
#include "cli/capture_listener.h"

#include "base/shell_word.h"

#include "cli/terminal.h"

#include "base/memory.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static void collect_sentence(struct capture_sentences *printed, const char *sentence)
{
    for (size_t i = 0; i < printed->at.count; i++)
        if (strcmp(printed->at.at[i], sentence) == 0)
            return; /* every rank reports the same */
    *VEC_PUSH(&printed->at) = mem_strdup(sentence);
    terminal_print("tpa capture: %s\n", sentence);
}

static void collect_end(struct capture_listener *listener, char *fields)
{
    char *bytes = strchr(fields, '\t');
    if (!bytes)
        return;
    *bytes++ = '\0';
    for (size_t i = 0; i < listener->logs.count; i++) {
        struct capture_log *log = &listener->logs.at[i];
        if (strcmp(log->path, fields) == 0 && !log->ended)
            log->ended = sscanf( // NOLINT(cert-err34-c): what our own library wrote
                             bytes, "%" SCNd64 "\t%" SCNd64 "\t%" SCNd64, &log->bytes, &log->records,
                             &log->dropped) == 3;
    }
}

void capture_collect_line(void *context, char *line)
{
    struct capture_listener *listener = context;
    char *pid = strchr(line, '\t');
    char *fields = pid ? strchr(pid + 1, '\t') : NULL;
    if (!fields)
        return;
    *pid = *fields++ = '\0';
    if (strcmp(line, "begin") == 0)
        *VEC_PUSH(&listener->logs) = (struct capture_log){ .path = mem_strdup(fields) };
    else if (strcmp(line, "end") == 0)
        collect_end(listener, fields);
    else if (strcmp(line, "trouble") == 0)
        collect_sentence(&listener->troubles, fields);
    else if (strcmp(line, "note") == 0)
        collect_sentence(&listener->notes, fields);
}

static void release_sentences(struct capture_sentences *printed)
{
    for (size_t i = 0; i < printed->at.count; i++)
        free(printed->at.at[i]);
    VEC_FREE(&printed->at);
}

void capture_listener_release(struct capture_listener *listener)
{
    for (size_t i = 0; i < listener->logs.count; i++)
        free(listener->logs.at[i].path);
    VEC_FREE(&listener->logs);
    release_sentences(&listener->troubles);
    release_sentences(&listener->notes);
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

void capture_print(const struct capture_listener *listener, const struct program_end *end)
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
    struct buffer word = { 0 };
    shell_word_append(&word, path, strlen(path));
    terminal_print("next: tpa top %s%s\n", word.at, count > 1 && !in_folder ? " ..." : "");
    buffer_release(&word);
}

void capture_print_trouble(struct capture_listener *listener, const char *sentence)
{
    collect_sentence(&listener->troubles, sentence);
}
