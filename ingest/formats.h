/*
 * formats.h - the file formats that tpa reads, and a reader for all of them.
 *
 *     struct trace *trace = ingest_read(paths, count, &(struct ingest_options){ .wants = wants }, &err);
 *
 * A format is one file in this folder and one row in formats.c.
 */
#ifndef TPA_INGEST_FORMATS_H
#define TPA_INGEST_FORMATS_H

#include "base/source.h"
#include "base/result.h"
#include "trace/actions.h"
#include "trace/builder.h"
#include "trace/profile.h"
#include "trace/snapshot.h"

/* Called regularly with the progress of reading; DONE and TOTAL are bytes on disk, TOTAL is -1 if unknown. */
typedef void ingest_progress(void *context, const char *path, int64_t done, int64_t total);

/* Called before a regular file is read. False and ERR: do not read it. */
typedef bool ingest_may_read(const struct source_id *file, struct tpa_error *err);

/* Called with the trace of each file after it was read, before the next one. It may be changed, and is freed
 * afterwards. False and ERR: stop reading. */
typedef bool ingest_visit(void *context, struct trace *trace, struct tpa_error *err);

struct ingest_options {
    struct trace_wants wants;
    unsigned workers; /* threads that parse; 0: one per CPU */
    /* regular expression for ranges that are steps, see TRACE_STEP_RANGE; NULL: as recorded */
    const char *step_range;
    enum trace_files_are files_are;
    bool no_inferred_steps;
    bool results;              /* also accept results saved by tpa with --format json */
    bool in_directory;         /* the file was found in a directory: what lies beside it belongs to it */
    bool careful;              /* read each event with the slow parser (see chrome/shape.h). For tests */
    size_t window_size;        /* bytes of text a worker takes at a time; 0: the default. For tests */
    uint64_t max_ratio;        /* see struct source_limits; 0: the default, UINT64_MAX: no limit */
    ingest_may_read *may_read; /* may be NULL */
    ingest_progress *progress; /* may be NULL */
    void *progress_context;
    ingest_visit *visit; /* may be NULL; otherwise the returned trace is empty */
    void *visit_context;
};

/* The content of the files: one of these is not NULL, or there are snapshots. */
struct ingested {
    struct trace *trace;
    struct profile *profile;       /* several are added as in pstats.Stats(FILE, FILE ...) */
    struct action_report *actions; /* of one file */
    struct snapshots snapshots;    /* of the memory allocators, one per file; none: `of.count` is 0 */
    struct result *result;         /* saved by tpa itself, of one file; only if options.results is set */
};

struct format {
    const char *name;        /* "Chrome JSON" */
    const char *description; /* programs that write it, for `tpa info --formats` */
    /* The certainty that a file that starts with these bytes has this format: 0 no, 100 certain. */
    int (*sniff)(const char *bytes, size_t len);
    /* One of these is set. Read all of SOURCE into BUILDER, in which the file has been begun. */
    bool (*read)(struct source *source, struct trace_builder *builder, const struct ingest_options *options,
                 struct tpa_error *err);
    /* For files with aggregates instead of events; returns a new object. */
    struct profile *(*read_profile)(struct source *source, struct tpa_error *err);
    struct action_report *(*read_actions)(struct source *source, struct tpa_error *err);
    struct snapshot *(*read_snapshot)(struct source *source, struct tpa_error *err);
    /* For results saved by tpa. */
    struct result *(*read_result)(struct source *source, struct tpa_error *err);
};

extern const struct format *const formats[]; /* ends in NULL */

/* Read PATHS (files, "-", directories of traces) into one trace. New; free with trace_free. NULL and ERR if nothing
 * could be read; damage inside a file is a notice of the trace. */
struct trace *ingest_read(const char *const *paths, size_t count, const struct ingest_options *options,
                          struct tpa_error *err);

/* As ingest_read, for commands that also accept profiles and reports. False and ERR if nothing could be read. Files of
 * different kinds cannot be mixed. */
bool ingest_read_any(const char *const *paths, size_t count, const struct ingest_options *options,
                     struct ingested *ingested, struct tpa_error *err);

/* What was read lacks: a set of enum lacks (base/lacks.h); 0: nothing is known to lack. */
unsigned ingested_lacks(const struct ingested *ingested);

/* May the file NAME, without its folder, be a trace? Only such files in directories are read. */
bool ingest_may_be_trace(const char *name);

/* Free what was read and not taken; INGESTED is empty then. */
void ingested_free(struct ingested *ingested);

/* The trace in it, for callers that accept only traces; owned by the caller. NULL and ERR, about PATH, if it is
 * something else. */
struct trace *ingested_trace(struct ingested *ingested, const char *path, struct tpa_error *err);

#endif
