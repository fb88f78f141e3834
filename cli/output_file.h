/*
 * output_file.h - where a command writes: standard output, or a file that appears whole or not at all.
 *
 *     struct output_file file;
 *     if (!output_file_open(&file, path, err))                       // NULL or "-": standard output
 *         return false;
 *     if (!write_all(file.stream, err)) {
 *         output_file_discard(&file);
 *         return false;
 *     }
 *     return output_file_commit(&file, err);
 *
 * A file is written under another name in the same folder, brought to disk and renamed, so that whoever looks sees the
 * old content or the new; a killed program, an error and a signal leave no half file behind. What is not a regular file
 * (a terminal, /dev/null, a fifo), and what names a descriptor that we were given (/dev/stdout, /dev/fd/3, >(...)), is
 * written directly.
 */
#ifndef TPA_CLI_OUTPUT_FILE_H
#define TPA_CLI_OUTPUT_FILE_H

#include "base/error.h"
#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

struct output_file {
    FILE *stream;
    char *path;      /* what it will be called; NULL for standard output */
    char *temporary; /* what it is called now; NULL when it is written directly */
    bool collects;   /* STREAM collects for a terminal, in the two below once it is closed */
    char *raw;
    size_t raw_len;
};

bool output_file_open(struct output_file *file, const char *path, struct tpa_error *err);

/*
 * The same for a text that holds names from a trace as they are, such as torch's. On a terminal, and only there, what
 * could act on it is made visible (base/escape.h); a pipe and a file get every byte.
 */
bool output_file_open_raw(struct output_file *file, const char *path, struct tpa_error *err);

/*
 * All is written: give the file its name. For standard output: flush it. That the reader of our output went away is
 * no error (output_reader_is_gone). FILE is released either way.
 */
bool output_file_commit(struct output_file *file, struct tpa_error *err);

/* Give up: remove what was written. */
void output_file_discard(struct output_file *file);

/*
 * A file for a command's own use, whose name ends in XXXXXX as mkstemp() has it, open for reading and writing; -1 and errno
 * when there can be none. It is removed by the second, or where the program ends before that. PATH is borrowed until it is
 * removed: false when that failed, and is tried once more when the program ends.
 */
int output_file_make_temporary(char *path);
bool output_file_remove_temporary(const char *path);

/*
 * PATH is a file, or a folder that is empty by then, to be removed where the program ends before output_file_remove_temporary
 * does. It is borrowed until then, and may be filled in later: an empty text is nothing yet. What was remembered first goes first.
 */
void output_file_remember(char *path);

/*
 * PATH (NULL: none) is where the output will go. No input may be that file: when all is read, the result would take its
 * place. Is FILE, or what lies at a path, that file? Then false and ERR.
 */
void output_file_announce(const char *path);
bool output_file_spares(dev_t device, ino_t inode, struct tpa_error *err);
bool output_file_spares_path(const char *path, struct tpa_error *err);

/* To be called once, first: a closed pipe becomes a failed write, and an interrupted program removes its half files. */
void output_set_up(void);

/* Did a write fail because nobody reads the pipe any more, as in `tpa top x.json | head`? */
bool output_reader_is_gone(void);

#endif
