/* gather_names.h - the times of each name, for facts: one pass over the events of a file. */
#ifndef TPA_FIGURES_GATHER_NAMES_H
#define TPA_FIGURES_GATHER_NAMES_H

#include "derive/gpu_events.h"
#include "figures/facts.h"

/* Names beyond this many of a file count as "(other)", the least time first. */
enum { GATHER_MOST_NAMES = 4000 };

/* Add to FACTS the names of FILE: kernels, copies, operators, calls, modules, and annotations that are not steps. */
void gather_names(struct facts *facts, const struct trace *trace, const struct gpu_events *gpu,
                  uint32_t file);

#endif
