/*
 * edits.h - apply the changes of edit.h.
 *
 *     struct changes *changes = changes_open(graph);
 *     struct edit_effect effect;
 *     if (!edit_apply(&edit, changes, &effect, err)) ...        // effect.count: how many events it touched
 *
 * Edits combine: applying several to the same changes multiplies what they do to one piece of time. What each assumes stands
 * in edit_assumption(), and in docs/commands/whatif.md.
 */
#ifndef TPA_WHATIF_EDITS_H
#define TPA_WHATIF_EDITS_H

#include "analyze/contention/contention.h"
#include "derive/op_cost.h"
#include "whatif/edit.h"
#include "whatif/replay.h"

/* Change CHANGES as EDIT says. False and ERR when its pattern is not a regular expression, or nothing is called so. */
bool edit_apply(const struct edit *edit, struct changes *changes, struct edit_effect *effect,
                struct tpa_error *err);

/* What EDIT_OVERLAP_COMM takes its factors from: its own, or that of TRACE. Borrowed. */
const struct contention *edit_contention(const struct edit *edit, const struct trace *trace);

/* What edits look at of arguments, beyond REPLAY_WANTS. */
#define EDIT_WANTS                                                                                           \
    (REPLAY_WANTS | CONTENTION_WANTS | WANT(COPY_MEMORY) | WANT(BYTES) | WANT(MODULE_HIERARCHY) |            \
     OP_COST_WANTS | WANT(BLOCKS_PER_SM) | WANT(BLOCK))

#endif
