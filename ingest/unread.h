/*
 * unread.h - files that tpa does not read: their formats, and how to convert them to a format that it reads.
 *
 * Users often pass related files to a trace tool: another profiler's file, an archive of traces, a notebook. Each is
 * recognised by its content; the name only decides if the bytes are ambiguous.
 */
#ifndef TPA_INGEST_UNREAD_H
#define TPA_INGEST_UNREAD_H

#include "base/error.h"
#include <stddef.h>

/* The hint for a file of which nothing better is known. */
#define UNREAD_ANY_HINT "'tpa info --formats' lists what can be read"

/* Fail, because the file NAME that begins with these LEN bytes (4096 will do) has no supported format. DAMAGE is why
 * its input ended early, or NULL. Returns false; tpa_unread of ERR says whether it may have been a trace. */
bool unread_fail(const char *name, const char *bytes, size_t len, const char *damage, struct tpa_error *err);

/* The same for valid JSON without trace events. */
bool unread_fail_json(const char *bytes, size_t len, struct tpa_error *err);

#endif
