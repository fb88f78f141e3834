/* version.h - version information written by cmake/version.cmake with every build. */
#ifndef TPA_CLI_VERSION_H
#define TPA_CLI_VERSION_H

extern const char version_commit[];   /* "commit 0123456789", with "-dirty" where files were changed since */
extern const char version_features[]; /* "zstd, PCRE2, SQLite 3.40.1, ISA-L, capture" */

#endif
