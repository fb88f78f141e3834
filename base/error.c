/* error.c - errors live in fixed arrays: longer texts are cut, and only printing can fail. */
#include "base/error.h"

#include "base/escape.h"
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>

static void error_begin(struct tpa_error *err, int64_t offset, const char *fmt, va_list args)
{
    err->failed = true;
    err->code = 0;
    err->offset = offset;
    err->file[0] = err->context[0] = err->hint[0] = err->option[0] = '\0';
    err->cannot = NULL;
    vsnprintf(err->message, sizeof err->message, fmt, args);
}

bool tpa_fail(struct tpa_error *err, int64_t offset, const char *fmt, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, fmt);
    error_begin(err, offset, fmt, args);
    va_end(args);
    return false;
}

bool tpa_fail_errno(struct tpa_error *err, const char *fmt, ...)
{
    int code = errno;
    if (!err)
        return false;
    va_list args;
    va_start(args, fmt);
    error_begin(err, TPA_NOWHERE, fmt, args);
    va_end(args);
    size_t used = strlen(err->message);
    snprintf(err->message + used, sizeof err->message - used, ": %s", strerror(code));
    err->code = code;
    return false;
}

bool tpa_unread(struct tpa_error *err, enum tpa_unread unread)
{
    if (err)
        err->unread = unread;
    return false;
}

bool tpa_while(struct tpa_error *err, const char *fmt, ...)
{
    if (!err)
        return false;
    size_t used = strlen(err->context);
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->context + used, sizeof err->context - used, fmt, args);
    va_end(args);
    used = strlen(err->context);
    if (used + 1 < sizeof err->context) {
        err->context[used] = '\n';
        err->context[used + 1] = '\0';
    }
    return false;
}

bool tpa_hint(struct tpa_error *err, const char *fmt, ...)
{
    if (!err)
        return false;
    va_list args;
    va_start(args, fmt);
    vsnprintf(err->hint, sizeof err->hint, fmt, args);
    va_end(args);
    return false;
}

bool tpa_in_file(struct tpa_error *err, const char *path)
{
    if (err && err->file[0] == '\0')
        snprintf(err->file, sizeof err->file, "%s", path[0] ? path : "''");
    return false;
}

bool tpa_in_option(struct tpa_error *err, const char *option)
{
    if (err)
        snprintf(err->option, sizeof err->option, "--%s", option);
    return false;
}

bool tpa_cannot(struct tpa_error *err, const char *reason)
{
    if (err)
        err->cannot = reason;
    return false;
}

/* Texts of an error may quote the input, whose control characters must not reach a terminal. */
static void print_safely(const char *text, FILE *out)
{
    struct buffer visible = { 0 };
    escape_terminal(&visible, text, strlen(text));
    if (visible.count)
        fwrite(visible.at, 1, visible.count, out);
    buffer_release(&visible);
}

void tpa_error_print(const struct tpa_error *err, const char *program, FILE *out)
{
    fprintf(out, "%s: ", program);
    if (err->file[0]) {
        print_safely(err->file, out);
        if (err->offset != TPA_NOWHERE)
            fprintf(out, ":%" PRId64, err->offset);
        fputs(": ", out);
    }
    print_safely(err->message, out);
    putc('\n', out);
    for (const char *line = err->context; *line;) {
        size_t len = strcspn(line, "\n");
        char copy[sizeof err->context];
        memcpy(copy, line, len);
        copy[len] = '\0';
        fputs("     while ", out);
        print_safely(copy, out);
        putc('\n', out);
        line += len + (line[len] == '\n');
    }
    if (err->hint[0]) {
        fputs("     hint: ", out);
        print_safely(err->hint, out);
        putc('\n', out);
    }
}
