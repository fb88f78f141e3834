/*
 * files.h - several files into one timeline, with one of them in memory at a time.
 *
 * They are read twice. The first pass collects what depends on all of them: processes that share a number, clock
 * offsets. In the second pass each is written as soon as it is read.
 *
 *     struct convert_files *files = convert_files_open(call, &args->load, &form->wants, args->merge);
 *     convert_files_read(files, &ingested, &summary, &err);     // files->all is complete
 *     convert_files_each(files, write_file, context, &err);     // each file, by the clock that is written
 *     convert_files_free(files);
 */
#ifndef TPA_CLI_CONVERT_FILES_H
#define TPA_CLI_CONVERT_FILES_H

#include "cli/load.h"
#include "cli/timeline.h"

struct collectives;
struct collectives_join;
struct convert_way;

/* The results of the first reading of a file, and its position in ALL. */
struct convert_read {
    uint32_t first_file;
    track_id first_track;
    event_id first_event, kept; /* of those that are kept, and how many */
    uint64_t events;            /* all of the file */
};

struct convert_files {
    /* all files and tracks, with the few events from which clocks are computed; its flows are arrows between ranks */
    struct trace *all;
    struct timeline_numbers numbers;
    int64_t *last_ns;    /* by file of ALL: see timeline_last_moments; on the clock that is written */
    bool *has_samples;   /* by track of ALL: there are samples of counters on it */
    event_id *own_event; /* by event of ALL: its number in the trace of its file */
    struct collectives *collectives; /* of ALL */
    uint64_t events, flows;          /* of the files; without arrows between ranks */

    /* private */
    bool merge;
    const struct invocation *call;
    const struct load_args *load;
    struct trace_wants wants;
    struct collectives_join *join;
    struct convert_way *ways; /* by file of ALL; NULL: all times are as recorded */
    VEC_OF(struct convert_read) reads;
};

/* New: the operands of CALL, to be read for WANTS when they are written. MERGE: correct their clocks. CALL and LOAD are
 * borrowed. Free with convert_files_free (NULL is allowed). */
struct convert_files *convert_files_open(const struct invocation *call, const struct load_args *load,
                                         const struct trace_wants *wants, bool merge);
void convert_files_free(struct convert_files *files);

/* Can the operands of CALL be read twice? All must be files or directories. */
bool convert_files_can(const struct invocation *call);

/* The first pass. If the input is not a trace, it is in INGESTED, and FILES is unusable; else INGESTED is empty.
 * SUMMARY describes the clocks. False and ERR if reading fails. */
bool convert_files_read(struct convert_files *files, struct ingested *ingested, struct buffer *summary,
                        struct tpa_error *err);

/* Called with TRACE, whose position in ALL is READ, and whose times are by the clock that is written. */
typedef bool convert_files_visit(void *context, const struct trace *trace, const struct convert_read *read,
                                 struct tpa_error *err);

/* The second pass: pass each to VISIT. False and ERR if that fails, or a file has changed. */
bool convert_files_each(struct convert_files *files, convert_files_visit *visit, void *context,
                        struct tpa_error *err);

#endif
