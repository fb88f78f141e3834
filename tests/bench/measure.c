/*
 * measure.c - run commands in turn, several times, and tell what each cost.
 *
 *     bench_measure RUNS NAME COMMAND [NAME COMMAND]...
 *
 * A COMMAND is one argument, split at blanks, run with its standard output thrown away. The runs
 * are interleaved (first, second, ..., first, second, ...), so that a machine that gets slower
 * meanwhile slows all of them. Prints one line per command, tab-separated, each figure the median:
 *
 *     NAME  wall s  user s  sys s  minor faults  major faults  peak resident KiB
 *
 * Exits with 1 when a command failed.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

enum { MOST_RUNS = 99, MOST_COMMANDS = 64, MOST_WORDS = 128 };
enum { WALL, USER, SYS, MINOR_FAULTS, MAJOR_FAULTS, PEAK_KIB, FIGURES };

extern char **environ;

static double figures[MOST_COMMANDS][FIGURES][MOST_RUNS];

static double seconds(struct timeval t)
{
    return (double)t.tv_sec + (double)t.tv_usec * 1e-6;
}

/* Run COMMAND once. Zero when it could not be run or failed. */
static int run(const char *command, int command_index, int run_index)
{
    char *copy = strdup(command), *words[MOST_WORDS + 1] = { NULL };
    int count = 0;
    for (char *word = strtok(copy, " "); word && count < MOST_WORDS; word = strtok(NULL, " "))
        words[count++] = word;

    posix_spawn_file_actions_t actions;
    posix_spawn_file_actions_init(&actions);
    posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
    struct timespec start, stop;
    struct rusage usage;
    int status = 0;
    pid_t child;
    clock_gettime(CLOCK_MONOTONIC, &start);
    int failed = count ? posix_spawnp(&child, words[0], &actions, NULL, words, environ) : ENOENT;
    if (!failed && wait4(child, &status, 0, &usage) < 0)
        failed = errno;
    clock_gettime(CLOCK_MONOTONIC, &stop);
    posix_spawn_file_actions_destroy(&actions);
    if (failed)
        fprintf(stderr, "bench_measure: %s: %s\n", command, strerror(failed));
    else if (status != 0)
        fprintf(stderr, "bench_measure: %s: %s %d\n", command, WIFEXITED(status) ? "exit" : "signal",
                WIFEXITED(status) ? WEXITSTATUS(status) : WTERMSIG(status));
    free(copy);
    if (failed || status != 0)
        return 0;

    const double values[FIGURES] = {
        [WALL] = (double)(stop.tv_sec - start.tv_sec) + (double)(stop.tv_nsec - start.tv_nsec) * 1e-9,
        [USER] = seconds(usage.ru_utime),
        [SYS] = seconds(usage.ru_stime),
        [MINOR_FAULTS] = (double)usage.ru_minflt,
        [MAJOR_FAULTS] = (double)usage.ru_majflt,
        [PEAK_KIB] = (double)usage.ru_maxrss,
    };
    for (int i = 0; i < FIGURES; i++)
        figures[command_index][i][run_index] = values[i];
    return 1;
}

static int compare(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return (x > y) - (x < y);
}

static double median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, compare);
    return count % 2 ? values[count / 2] : (values[count / 2 - 1] + values[count / 2]) / 2;
}

int main(int argc, char **argv)
{
    int runs = argc > 3 ? atoi(argv[1]) : 0, commands = (argc - 2) / 2;
    if (runs < 1 || runs > MOST_RUNS || commands > MOST_COMMANDS || argc % 2 != 0) {
        fputs("usage: bench_measure RUNS NAME COMMAND [NAME COMMAND]...\n", stderr);
        return 2;
    }
    for (int r = 0; r < runs; r++)
        for (int c = 0; c < commands; c++)
            if (!run(argv[3 + 2 * c], c, r))
                return 1;
    for (int c = 0; c < commands; c++) {
        printf("%s", argv[2 + 2 * c]);
        for (int i = 0; i < FIGURES; i++)
            printf("\t%.*f", i <= SYS ? 4 : 0, median(figures[c][i], runs));
        putchar('\n');
    }
    return 0;
}
