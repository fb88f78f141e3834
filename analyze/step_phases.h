/*
 * step_phases.h - the step as people think of it: forward, backward, optimizer, data, other.
 *
 *     struct step_phases *phases = step_phases_open(trace, account);
 *     if (phases->told)
 *         ... phases->all.phase_ns[PHASE_FORWARD] of phases->all.step_ns ...     // the phases add up to the step
 *     arena_free(phases);
 *
 * The steps, and how long a step is, are those of the account (account.h). A moment of a step counts for the phase whose code
 * launched the work that the device does in it; if the device does nothing, or there is none, for the phase that the host is in:
 *
 * - data: DataLoader's __next__, tf.data's iterators, and ranges named like loading or moving a batch;
 * - backward: nodes of autograd, with the time between those of one pass; frames of Tensor.backward; ranges named backward;
 * - forward: calls of an nn.Module (with stacks); ranges named forward, training_step ...; and operators of the steps' thread that
 *   are followed by a backward pass before any optimizer or loading, with the time between them;
 * - optimizer: torch's own Optimizer.step and zero_grad, frames of torch.optim, and ranges named so;
 * - other: the rest.
 *
 * In what is nested the first of data, backward, forward (but for plain operators), optimizer counts: an optimizer's closure holds
 * the other two.
 */
#ifndef TPA_ANALYZE_STEP_PHASES_H
#define TPA_ANALYZE_STEP_PHASES_H

#include "analyze/account.h"

enum phase { PHASE_FORWARD, PHASE_BACKWARD, PHASE_OPTIMIZER, PHASE_DATA, PHASE_OTHER, PHASES };

/* A step, or the step of a rank. */
struct phase_row {
    int64_t rank;   /* TABLE_INT_MISSING: all ranks */
    int64_t number; /* of the step */
    bool counts;    /* in the account */
    int64_t step_ns;
    int64_t phase_ns[PHASES]; /* of a mean device; they add up to step_ns */
};

struct step_phases {
    VEC_OF(struct phase_row) steps; /* each with a known time, in the order of the account */
    VEC_OF(struct phase_row) ranks; /* in the order of the account */
    struct phase_row all;
    bool told; /* some of the time of the steps is known to be forward, backward or optimizer */
};

/* The phases of the steps of ACCOUNT, which is of TRACE. New; free with arena_free. */
struct step_phases *step_phases_open(const struct trace *trace, const struct account *account);

/* Is NAME that of a range, or frame of Python, of the optimizer? */
bool step_phases_are_optimizer(const char *name);

/* False where no name in TRACE tells of a forward or backward pass or an optimizer, so that phases are not told. By names alone. */
bool step_phases_are_named(const struct trace *trace);

/* "forward" ... */
extern const char *const phase_names[PHASES];

/* Add the tables "phases", of a step, and "step_phases", of each. */
void step_phases_add_tables(const struct step_phases *phases, struct result *result);

enum { PHASE_COLUMNS = 4, STEP_PHASE_COLUMNS = 9 };
extern const struct table_column phase_columns[PHASE_COLUMNS], step_phase_columns[STEP_PHASE_COLUMNS];

#endif
