/*
 * error.h - what went wrong, where, and what the user can do about it.
 *
 * A function that can fail returns bool (or a pointer) and takes a `struct tpa_error *` last.
 * It fails in one line, because tpa_fail() returns false:
 *
 *     if (!column_fits(count, left))
 *         return tpa_fail(err, at, "section holds %u events but only %zu bytes follow", count, left);
 *
 * Callers add what they know on the way up, and only cli/ prints:
 *
 *     tpa: run3.json:18234567: expected ',' or '}' but found 'q'
 *          while reading traceEvents
 *          hint: the file looks cut short; was the program killed before it exited?
 */
#ifndef TPA_BASE_ERROR_H
#define TPA_BASE_ERROR_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#if defined(__GNUC__)
#define TPA_PRINTF(fmt_index, first_arg) __attribute__((format(printf, fmt_index, first_arg)))
#else
#define TPA_PRINTF(fmt_index, first_arg)
#endif

/* Instead of a byte offset: the error is about the file as a whole, or about no file. */
#define TPA_NOWHERE ((int64_t)-1)

/* For a file that is not read: how it is handled if it was found in a directory rather than named by the user. */
enum tpa_unread {
    TPA_READABLE,
    TPA_PASSED_OVER, /* not a trace, and not meant for us */
    TPA_LEFT_OUT,    /* may have been a trace, or was to become one: an empty file, the start of a trace */
};

/* Fixed size and no heap, so that reporting an error cannot itself fail. Zero-initialise it. */
struct tpa_error {
    bool failed;
    int code;          /* errno of the failed system call; 0: none failed */
    int unread;        /* enum tpa_unread */
    int64_t offset;    /* byte offset in the (decoded) file, or TPA_NOWHERE */
    char file[512];    /* "" for no file */
    char message[768]; /* found against expected */
    char context[512]; /* "while ..." lines, innermost first, each ended by '\n' */
    char hint[512];    /* what to do; "" for no hint */
    char option[64];   /* the option that is wrong, as typed: "--limit"; "" for none */
    const char
        *cannot; /* why the input cannot answer, a word of base/result.h; NULL: the input is not the reason */
};

/* Each of these returns false, and does nothing when ERR is NULL. */

/* Start an error at byte OFFSET (or TPA_NOWHERE). Replaces the contents of ERR. */
bool tpa_fail(struct tpa_error *err, int64_t offset, const char *fmt, ...) TPA_PRINTF(3, 4);

/* As tpa_fail, with ": " and the text of errno appended, which is kept as the code. */
bool tpa_fail_errno(struct tpa_error *err, const char *fmt, ...) TPA_PRINTF(2, 3);

/* Add a context line, what was being done: "reading traceEvents". */
bool tpa_while(struct tpa_error *err, const char *fmt, ...) TPA_PRINTF(2, 3);

/* Classify the error as one about an unread file, see above. */
bool tpa_unread(struct tpa_error *err, enum tpa_unread unread);

/* Set the hint, what the user can do. Only when it is likely right. */
bool tpa_hint(struct tpa_error *err, const char *fmt, ...) TPA_PRINTF(2, 3);

/* Name the file the error is about, unless one is named already. */
bool tpa_in_file(struct tpa_error *err, const char *path);

/* Name the OPTION (without its dashes) that the error is about. */
bool tpa_in_option(struct tpa_error *err, const char *option);

/* Say that no answer is possible because of REASON, a literal of the list in base/result.h. */
bool tpa_cannot(struct tpa_error *err, const char *reason);

/* Print ERR in the form shown above, where PROGRAM is "tpa". Control characters in it are made visible. */
void tpa_error_print(const struct tpa_error *err, const char *program, FILE *out);

#endif
