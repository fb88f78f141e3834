/*
 * program.h - for fuzz targets: a command of the program, run in this process, on files that are only in memory.
 *
 *     char *words[] = { "gpu", "--by", "stream", "trace" };
 *     struct program_files files = { { program_file(0, data, size), program_file(1, data, size / 2) } };
 *     program_run(4, words, &files);
 *
 * Whatever the words say, no other file is read, none is written and no program is started. What is printed is
 * collected, and checked:
 *
 *   - the exit code is 0, 1 or 2; it is 2 exactly when there is an error, which says something
 *   - no escape sequence comes out unless colours were requested, or torch's text or Python's, which are raw
 *   - JSON can be read again (--format json)
 *
 * `capture` is taken apart but not run.
 */
#ifndef TPA_TESTS_FUZZ_PROGRAM_H
#define TPA_TESTS_FUZZ_PROGRAM_H

#include <stddef.h>
#include <stdint.h>

/* The path of a file that holds SIZE bytes of DATA: number SLOT, 0 or 1. It is there until its slot is used again. */
char *program_file(int slot, const uint8_t *data, size_t size);

/* What operands and options that name files stand for, whatever they say, in turn. */
struct program_files {
    char *paths[2];
    char *store; /* what --store stands for; NULL: none. With one, operands stay as they are */
};

/* Run the command words[0] with what follows; WORDS is changed. Aborts when something is wrong. */
void program_run(int count, char **words, const struct program_files *files);

/* The same with the words of COMMAND and --format FORMAT; "": as it is. */
void program_run_line(const char *command, const char *format, const struct program_files *files);

#endif
