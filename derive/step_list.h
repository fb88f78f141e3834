/*
 * step_list.h - the steps of a run: ProfilerStep#N of torch.profiler, those defined by step_name.h or ranges, and in files of
 * torch.profiler without either those inferred from what repeats (step_infer.h).
 *
 *     struct step_list *steps = step_list_open(trace);
 *     const struct step *step = step_list_at(steps, file, trace_start_ns(trace, e));   // NULL: in none
 */
#ifndef TPA_DERIVE_STEP_LIST_H
#define TPA_DERIVE_STEP_LIST_H

#include "derive/step.h"
#include "trace/step_name.h"

/* New; free with arena_free (NULL is allowed). */
struct step_list *step_list_open(const struct trace *trace);

/* The same, empty. */
struct step_list *step_list_new(void);

/* Those of TRACE, computed when first requested. Borrowed; live as long as TRACE. */
const struct step_list *step_list_of(const struct trace *trace);

/* Is FILE a timeline, or the part of one that is a rank: slices of operations that carry the number of their step? */
bool file_is_timeline(const struct trace *trace, uint32_t file);

/* The steps of timelines, each from the first begin to the last end of the slices of its number; reads ARG_STEP. They are samples of a
 * run, without what ran between them, so no other list has them: how many steps a time has cannot be told. Borrowed; as step_list_of. */
const struct step_list *step_list_of_timelines(const struct trace *trace);

/* Is a name of TRACE that of a marked step? Without one, steps can only be inferred. */
bool step_list_has_marks(const struct trace *trace);

/* The same if anything asked for them before, else NULL: who only tells of steps need not find any. */
const struct step_list *step_list_used(const struct trace *trace);

/* The step of FILE with MOMENT in [start, end); NULL if there is none. Borrowed. */
const struct step *step_list_at(const struct step_list *steps, uint32_t file, int64_t moment_ns);

/* The same, found sooner for moments that are looked for one after the other. NEAR: where the last one was; 0 at first. */
const struct step *step_list_near(const struct step_list *steps, uint32_t file, int64_t moment_ns,
                                  size_t *near);

/* The step that WORK, an operation on a device, belongs to: that in which it was issued, by its CALL (EVENT_NONE: unknown; attribution_issued); where only
 * devices mark steps, that in which it began itself. NULL if there is none. LAST, the result for other work, is tried
 * first, as most work is of the same step; it may be NULL. Borrowed. */
const struct step *step_list_of_work(const struct step_list *steps, const struct trace *trace, event_id work,
                                     event_id call, const struct step *last);

/* Of overlapping STEPS of a file, keep the first; of equal starts, the longest. Returns the number of dropped
 * ones. An overlap of 1 us or less, and of 1 % or less of both steps, is due to rounding: the first ends
 * where the second begins. */
size_t step_list_drop_overlaps(struct step_list *steps);

/* The end of the step at INDEX in ns, at most the start of the next in its file: no moment belongs to two steps. */
int64_t step_list_end_ns(const struct step_list *steps, size_t index);

/* The name of the first step with this NUMBER; NULL if there is none. Borrowed; lives as long as TRACE. */
const char *step_name_of(const struct trace *trace, int64_t number);

#endif
