/* error.c - errors live in fixed arrays: longer texts are cut, and only printing can fail. */
#include "base/error.h"

#include <errno.h>
#include <stdarg.h>
#include <string.h>

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
