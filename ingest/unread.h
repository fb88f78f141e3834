/*
 * unread.h - files that tpa does not read: what they are, and which way leads from them to something that it reads.
 *
 * What people hand to a tool that reads traces is mostly something near: another profiler's file, an archive of traces,
 * a notebook. Each is known by what is in it; a name only decides between files whose bytes are ambiguous.
 */
#ifndef TPA_INGEST_UNREAD_H
#define TPA_INGEST_UNREAD_H

#include "base/error.h"
#include <stdbool.h>
#include <stddef.h>

/*
 * Fail, because the file NAME that begins with these LEN bytes (4096 will do) is in no format that is read. DAMAGE is
 * why its input ended there, or NULL. Returns false; ERR tells (tpa_unread) whether it may have been a trace once.
 */
bool unread_fail(const char *name, const char *bytes, size_t len, const char *damage, struct tpa_error *err);

/* The same for JSON that was read and holds no trace events. */
bool unread_fail_json(const char *bytes, size_t len, struct tpa_error *err);

#endif
