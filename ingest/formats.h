/*
 * formats.h - which file formats tpa reads, and reading any of them.
 *
 *     struct trace *trace = ingest_read(paths, count, &(struct ingest_options){ .wants = wants }, &err);
 *
 * A format is one file beside this one and one row in formats.c.
 */
#ifndef TPA_INGEST_FORMATS_H
#define TPA_INGEST_FORMATS_H

#include "base/error.h"
#include "base/source.h"
#include "base/result.h"
#include "trace/actions.h"
#include "trace/builder.h"
#include "trace/profile.h"
#include "trace/snapshot.h"
#include "trace/trace.h"

/* Told now and then how far reading is; DONE and TOTAL are bytes on disk, TOTAL is -1 when unknown. */
typedef void ingest_progress(void *context, const char *path, int64_t done, int64_t total);

/* Asked before a regular file is read. False and ERR: not this one. */
typedef bool ingest_may_read(const struct source_id *file, struct tpa_error *err);

/*
 * Given the trace of a file as soon as that was read, before the next one is. It may be changed, and is freed afterwards. False
 * and ERR: read no more.
 */
typedef bool ingest_visit(void *context, struct trace *trace, struct tpa_error *err);

struct ingest_options {
    struct trace_wants wants;
    unsigned workers;          /* threads that parse; 0: one per CPU */
    const char *step_range;    /* which ranges are steps, see TRACE_STEP_RANGE; NULL: as the files tell */
    bool results;              /* take what tpa saved with --format json, too */
    bool careful;              /* read each event the careful way (see chrome/shape.h). For tests */
    size_t window_size;        /* bytes of text a worker takes at a time; 0: the default. For tests */
    uint64_t max_ratio;        /* see struct source_limits; 0: the default, UINT64_MAX: no limit */
    ingest_may_read *may_read; /* may be NULL */
    ingest_progress *progress; /* may be NULL */
    void *progress_context;
    ingest_visit *visit; /* may be NULL; else the trace that is read in the end holds no file */
    void *visit_context;
};

/* What files turned out to be: one of these is not NULL, or there are snapshots. */
struct ingested {
    struct trace *trace;
    struct profile *profile;       /* several add up as pstats.Stats(FILE, FILE ...) has them */
    struct action_report *actions; /* of one file */
    struct snapshots snapshots;    /* of the memory allocators, one per file; none: `of.count` is 0 */
    struct result *result;         /* saved by tpa itself, of one file; only where options request it */
};

struct format {
    const char *name;        /* "Chrome JSON" */
    const char *description; /* who writes it, for `tpa info --formats` */
    /* How sure are we that a file that starts with these bytes is ours? 0 no, 100 certain. */
    int (*sniff)(const char *bytes, size_t len);
    /* One of these is set. Read all of SOURCE into BUILDER, where the file has been begun. */
    bool (*read)(struct source *source, struct trace_builder *builder, const struct ingest_options *options,
                 struct tpa_error *err);
    /* What holds sums and no events is not a trace, but something of its own; new. */
    struct profile *(*read_profile)(struct source *source, struct tpa_error *err);
    struct action_report *(*read_actions)(struct source *source, struct tpa_error *err);
    struct snapshot *(*read_snapshot)(struct source *source, struct tpa_error *err);
    /* A result of our own. */
    struct result *(*read_result)(struct source *source, struct tpa_error *err);
    /*
     * Set beside `read` where a file may hold a trace or sums, which shows only as it is read: sums go to *OTHER, and
     * BUILDER has no event then. Where there is this, `read` fails on sums.
     */
    bool (*read_any)(struct source *source, struct trace_builder *builder,
                     const struct ingest_options *options, struct ingested *other, struct tpa_error *err);
};

extern const struct format *const formats[]; /* ends in NULL */

/*
 * Read PATHS (files, "-", directories of traces) into one trace. New; free with trace_free. NULL
 * and ERR when nothing could be read; damage inside a file is a notice of the trace.
 */
struct trace *ingest_read(const char *const *paths, size_t count, const struct ingest_options *options,
                          struct tpa_error *err);

/* As ingest_read, for commands that take profiles and reports too. Files of different kinds cannot be mixed. */
bool ingest_read_any(const char *const *paths, size_t count, const struct ingest_options *options,
                     struct ingested *ingested, struct tpa_error *err);
/* May the file called NAME, without its folder, be a trace? So it is looked at where it lies in a directory. */
bool ingest_may_be_trace(const char *name);

void ingested_free(struct ingested *ingested);

/* The trace, which is all that is wanted; the caller's now. NULL and ERR, about PATH, when it is something else. */
struct trace *ingested_trace(struct ingested *ingested, const char *path, struct tpa_error *err);

#endif
