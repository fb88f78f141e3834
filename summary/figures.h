/* figures.h - the tables "overview" and "operators" of the summary: of all, or for each rank or device. */
#ifndef TPA_SUMMARY_FIGURES_H
#define TPA_SUMMARY_FIGURES_H

#include "summary/state.h"

/* What the devices are called: "GPU", or "TPU". A literal. */
const char *summary_device_word(const struct summary *summary);

/* "operators"; "ranges" of a program that is no framework's, as the tracers of Chrome and Perfetto record them. */
const char *summary_op_word(const struct summary *summary);

/* Add the table to RESULT; the latter also fills summary->top. */
void summary_add_overview(const struct summary *summary, struct result *result);
void summary_add_operators(struct summary *summary, struct result *result);

#endif
