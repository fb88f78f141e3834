/*
 * selection.h - the part of a trace that an analysis is about.
 *
 * What the user requested (struct selection_query: names, steps, times, devices, streams, ranks) is computed once
 * against a trace; after that, checking an event takes a few lookups.
 *
 *     struct selection *selection = selection_open(trace, &query, &err);
 *     for (event_id e = 0; e < trace->event_count; e++)
 *         if (selection_holds(selection, e))
 *             ...
 *     arena_free(selection);
 *
 * Definitions:
 * - An event is in a step or time range if it was launched in it: work on a device by the start of its call, work
 *   without a recorded call and all other events by their own start. The end of a range is excluded.
 * - Steps are those of derive/step_list.h. Each file has its own, as ranks run steps at different times.
 * - Times are counted from the origin of each file (trace_file_span).
 * - Devices and streams select events on devices only; events of the host always belong.
 * - The rank of a file without a recorded one is the position of its process among those of the files
 *   (derive/recordings.h).
 */
#ifndef TPA_ANALYZE_SELECTION_H
#define TPA_ANALYZE_SELECTION_H

#include "base/quantity.h"
#include "trace/intervals.h"
#include "trace/trace.h"

/* What was requested. Zero-initialised: everything. The texts are borrowed. */
struct selection_query {
    const char *filter, *exclude; /* regular expressions over names: only these, not these */
    struct ranges steps, devices, streams, ranks;
    const char *range; /* "1.5s..2s", "10ms..", or the name of an annotation or operator */
};

/* The evaluated query. A NULL selection means everything. */
struct selection {
    const struct trace *trace;
    bool *names;                  /* by name_id: is it selected? */
    bool *tracks;                 /* by track_id */
    bool *files;                  /* by file */
    struct intervals *windows;    /* by file: selected times */
    bool by_steps;                /* were steps requested? */
    const char *filter, *exclude; /* as given, for names that are not in the trace; borrowed from the query */
};

/* New; free with arena_free. NULL and ERR if QUERY is invalid, or requests something that the trace does not
 * have. */
struct selection *selection_open(const struct trace *trace, const struct selection_query *query,
                                 struct tpa_error *err);

/* The selection of everything, borrowed from TRACE. */
const struct selection *selection_all(const struct trace *trace);

/* Does it contain everything? */
bool selection_is_all(const struct selection *selection);

/* Is moment NS of FILE in a window? */
bool selection_holds_time(const struct selection *selection, uint32_t file, int64_t ns);

/* Is the event selected by file, track and time of launch, regardless of its name? */
bool selection_holds_place(const struct selection *selection, event_id e);

/* selection_holds for WORK on a device whose launching CALL is known already (EVENT_NONE: not in the file). */
bool selection_holds_work(const struct selection *selection, event_id work, event_id call);

/* The same regardless of the name of WORK, for rows by launching operator or call. */
bool selection_holds_launched(const struct selection *selection, event_id work, event_id call);

/* Do --filter and --exclude select NAME? */
static inline bool selection_holds_name(const struct selection *selection, name_id name)
{
    return selection->names == NULL || selection->names[name];
}

/* Is TRACK selected? */
static inline bool selection_holds_track(const struct selection *selection, track_id track)
{
    return selection->tracks == NULL || selection->tracks[track];
}

/* Is the event selected by name and track, regardless of time? For an analysis that clips events at the boundaries of
 * windows. */
static inline bool selection_holds_whenever(const struct selection *selection, event_id e)
{
    return selection_holds_name(selection, selection->trace->name[e]) &&
           selection_holds_track(selection, selection->trace->track[e]);
}

/* Is E selected by name, file, track and time? */
static inline bool selection_holds(const struct selection *selection, event_id e)
{
    return selection_holds_name(selection, selection->trace->name[e]) && selection_holds_place(selection, e);
}

/* Which of NAMES, mangled or demangled, match FILTER (NULL: all) and do not match EXCLUDE (NULL: none)? New array of
 * names_count(NAMES), free with free(). NULL and ERR if an expression is invalid. */
bool *selection_match_names(const struct names *names, const char *filter, const char *exclude,
                            struct tpa_error *err);

/* The rank of FILE for --rank. */
int64_t selection_rank(const struct trace *trace, uint32_t file);

/* The cycle of FILE among the recordings of its rank, from 1; TABLE_INT_MISSING if no rank has several. */
int64_t selection_cycle(const struct trace *trace, uint32_t file);

#endif
