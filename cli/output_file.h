/*
 * output_file.h - the output of a command: standard output, or a file that appears completely or not at all.
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
 * A file is written under another name in the same folder, synced to disk and renamed, so that readers see either the
 * old or the new content; a killed program, an error or a signal leaves no partial file. Other files than regular ones
 * (a terminal, /dev/null, a fifo), and names of inherited descriptors (/dev/stdout, /dev/fd/3, >(...)), are written
 * directly.
 */
#ifndef TPA_CLI_OUTPUT_FILE_H
#define TPA_CLI_OUTPUT_FILE_H

#include "base/error.h"
#include <sys/types.h>

struct output_file {
    FILE *stream;
    char *path;      /* its final name; NULL for standard output */
    char *temporary; /* its temporary name; NULL if it is written directly */
    bool collects;   /* STREAM collects for a terminal, in the two below once it is closed */
    char *raw;
    size_t raw_len;
};

/* Open the output at PATH (NULL or "-": standard output). False and ERR on failure. End with commit or discard. */
bool output_file_open(struct output_file *file, const char *path, struct tpa_error *err);

/* The same for a text with unescaped names from a trace, such as torch's. Only on a terminal, control characters are
 * made visible (base/escape.h); a pipe and a file get the exact bytes. */
bool output_file_open_raw(struct output_file *file, const char *path, struct tpa_error *err);

/* Finish: give the file its final name. For standard output: flush it. A reader that closed the pipe is no error
 * (output_reader_is_gone). FILE is released either way. */
bool output_file_commit(struct output_file *file, struct tpa_error *err);

/* Discard the file. */
void output_file_discard(struct output_file *file);

/* Create a temporary file, whose name ends in XXXXXX as for mkstemp(), open for reading and writing; -1 and errno on
 * failure. It is removed by the second function, or when the program ends. PATH is borrowed until then. The second
 * function returns false if removing failed; it is retried when the program ends. */
int output_file_make_temporary(char *path);
bool output_file_remove_temporary(const char *path);

/* PATH is a file, or a folder that is empty by then, to be removed if the program ends before
 * output_file_remove_temporary is called. It is borrowed until then, and may be set later: an empty text means none.
 * Files are removed in the order of registration. */
void output_file_remember(char *path);

/* Register PATH (NULL: none) as the destination of the output. No input may be that file, because the result would
 * replace it: false and ERR if FILE, or the file at a path, is that file. */
void output_file_announce(const char *path);
bool output_file_spares(dev_t device, ino_t inode, struct tpa_error *err);
bool output_file_spares_path(const char *path, struct tpa_error *err);

/* Call once, first: makes a closed pipe a failed write, and removes partial files if the program is interrupted. */
void output_set_up(void);

/* Did a write fail because the reader closed the pipe, as in `tpa top x.json | head`? */
bool output_reader_is_gone(void);

#endif
