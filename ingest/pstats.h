/*
 * pstats.h - read the dumps of cProfile, profile, yappi and CPython's sampling profiler: `.prof`, `.stats`, `.pstats`.
 *
 *     struct profile *profile = pstats_read(source, &err);
 */
#ifndef TPA_INGEST_PSTATS_H
#define TPA_INGEST_PSTATS_H

#include "base/source.h"
#include "trace/profile.h"

/* The certainty that a file that starts with these bytes is a profile: 0 no, 100 certain. */
int pstats_sniff(const char *bytes, size_t len);

/* Read all of SOURCE. New; free with profile_free. NULL and ERR, with the offset, if the bytes are damaged or hold no
 * profile. `files` of the profile is empty: the caller knows the path. */
struct profile *pstats_read(struct source *source, struct tpa_error *err);

#endif
