/*
 * pstats.h - read what cProfile, profile, yappi and CPython's sampling profiler dump: `.prof`, `.stats`, `.pstats`.
 *
 *     struct profile *profile = pstats_read(source, &err);
 */
#ifndef TPA_INGEST_PSTATS_H
#define TPA_INGEST_PSTATS_H

#include "base/error.h"
#include "base/source.h"
#include "trace/profile.h"

/* How sure are we that a file that starts with these bytes is a profile? 0 no, 100 certain. */
int pstats_sniff(const char *bytes, size_t len);

/*
 * Read all of SOURCE. New; free with profile_free. NULL and ERR, with the offset, when the bytes are damaged or hold no
 * profile. `files` of the profile has no entry yet: who opened SOURCE knows the path.
 */
struct profile *pstats_read(struct source *source, struct tpa_error *err);

#endif
