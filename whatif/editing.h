/* editing.h - what the edits share, and the edits, each a function that changes CHANGES. */
#ifndef TPA_WHATIF_EDITING_H
#define TPA_WHATIF_EDITING_H

#include "whatif/edit.h"
#include "whatif/replay.h"

struct editing {
    const struct edit *edit;
    const struct replay_graph *graph;
    const struct trace *trace;
    struct changes *changes;
    struct edit_effect *effect;
};

/* ---- what they share ---- */

/* New, by name, free with free(): does it match the edit's pattern? NULL and ERR: it is not a regular expression. */
bool *editing_names(const struct editing *editing, struct tpa_error *err);

/* Which names are something, for editing_ranges: name_flags_has of a struct name_flags. */
struct name_flags {
    const struct trace *trace;
    bool *flags; /* by name; free with free() */
};
struct name_flags name_flags_of(const struct trace *trace, bool (*are)(const char *name));
bool name_flags_has(const void *names, event_id e);

/* Is M a piece that ended on its own, rather than because of work, of another thread, or of room in a queue? */
bool editing_piece_is_own(const struct replay_graph *graph, moment_id m);

/* Multiply the time of the host piece that leads to M, or of work I, by FACTOR. The recorded time is added to the
 * effect; the piece is not counted in it, the work is. These two functions. */
void editing_scale_piece(const struct editing *editing, moment_id m, double factor);
void editing_scale_work(const struct editing *editing, size_t i, double factor);

/* Is all that takes longer now, added up, no longer than times may be (TRACE_LATEST_NS)? False and ERR: it is. */
bool editing_fits(const struct editing *editing, struct tpa_error *err);

/* Does CALL's event lie in the ranges of its thread? RANGES is by thread of the graph. */
bool editing_holds(const struct editing *editing, const struct intervals *ranges, event_id call);

/* New, by thread of the graph, each merged: when host events are open that TAKES says. Free with arena_free. */
struct intervals *editing_ranges(const struct editing *editing,
                                 bool (*takes)(const void *context, event_id e), const void *context);

/* Take FACTOR of all host time in RANGES. */
void editing_scale_ranges(const struct editing *editing, const struct intervals *ranges, double factor);

/* ---- the edits ---- */

/* Apply the edit to editing->changes, and add what it changed to editing->effect: all functions below. False and ERR if
 * the pattern is not a regular expression, or a word of edit_avoid, or edit_scale finds nothing that matches. */
bool edit_scale(const struct editing *editing, struct tpa_error *err);
bool edit_avoid(const struct editing *editing, struct tpa_error *err);
bool edit_no_sync(const struct editing *editing, struct tpa_error *err);
void edit_no_data_wait(const struct editing *editing);
void edit_no_compile(const struct editing *editing);
void edit_pinned_copies(const struct editing *editing);
void edit_cuda_graph(const struct editing *editing);
void edit_no_alloc(const struct editing *editing);
void edit_no_first_use(const struct editing *editing);
void edit_overlap_comm(const struct editing *editing);
void edit_take_contention(
    const struct editing *editing); /* what overlap costs; a part of edit_overlap_comm */
void edit_no_contention(const struct editing *editing);
void edit_comm_bandwidth(const struct editing *editing);
void edit_at_peak(const struct editing *editing);
void edit_tensor_cores(const struct editing *editing);
void edit_batch(const struct editing *editing);
void edit_fuse(const struct editing *editing);
void edit_fuse_attention(const struct editing *editing);
void edit_fuse_optimizer(const struct editing *editing);
void edit_no_recompute(const struct editing *editing);
void edit_ranks_like_median(const struct editing *editing, bool devices_only);

#endif
