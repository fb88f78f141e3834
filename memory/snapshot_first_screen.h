/* snapshot_first_screen.h - the head of a page about memory snapshots: the peak or the OOM, its main contents, what to do. */
#ifndef TPA_MEMORY_SNAPSHOT_FIRST_SCREEN_H
#define TPA_MEMORY_SNAPSHOT_FIRST_SCREEN_H

#include "base/result.h"
#include "memory/snapshot_analysis.h"

/*
 * Fill the answer of RESULT from ANSWERS, which are about the peak by line of code and must outlive it. It is about one
 * device: the first that ran out of memory, else the one with the highest peak.
 */
void snapshot_fill_first_screen(const struct snapshot_answers *answers, struct result *result);

#endif
