/*
 * step_infer.h - steps of a file that marks none, from what repeats once an iteration on its main thread.
 *
 *     struct step_list steps = { 0 };
 *     step_infer(trace, file, &steps);      // adds those of FILE, or none
 *
 * The main thread is the one that runs optimizers, else the one that is longest within outermost operators, annotations and calls.
 * These are its sequence; digits in names do not count; what contains several optimizers or batches (an epoch) is left out of it.
 *
 * - By Optimizer.step, of one name, 3 times or more: an iteration ends with it, and with what follows it each time (loss.item(),
 *   zero_grad) before the beginning of the recording is repeated: three names, the first or up to three events later. If the
 *   recording does not begin with an iteration: it begins with the batch from the DataLoader or, without one, after the optimizer. Not if a DataLoader gives
 *   several batches for an optimizer step or none, or if what lies between two optimizer steps is itself a repetition (gradient
 *   accumulation: an iteration may be either), except of the stages of a pipeline.
 * - By the DataLoader, 3 batches or more: an iteration begins with each, and goes on alike.
 * - By a sequence of at least 3 names that repeats to the end, three times or more, from the beginning or after names that it lacks.
 *
 * Otherwise there are none: a wrong guess is worse.
 */
#ifndef TPA_DERIVE_STEP_INFER_H
#define TPA_DERIVE_STEP_INFER_H

#include "derive/step.h"

/* Add the steps of FILE, which marks none, to STEPS; nothing if there is no clear evidence. */
void step_infer(const struct trace *trace, uint32_t file, struct step_list *steps);

/* "Optimizer.step": the evidence of an inferred step. A literal. */
const char *step_evidence_name(enum step_evidence evidence);

#endif
