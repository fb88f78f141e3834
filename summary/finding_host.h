/* finding_host.h - rules of findings about what the host does besides launching: ranges and functions that launch nothing, operators that
 * compute on the host, pauses of which nothing was recorded. */
#ifndef TPA_SUMMARY_FINDING_HOST_H
#define TPA_SUMMARY_FINDING_HOST_H

#include "summary/pricing.h"

/* Add findings to PRICING, or say that nothing was found. */
void finding_add_host_time(struct pricing *pricing);

/* Is a call of the Python function NAME nearly all that is replayed, or a wait of an event loop? To make it faster is no advice. */
bool finding_is_of_program(const struct pricing *pricing, const char *name);

/* The same of programs that are compiled; nothing is said where none are. */
void finding_add_compilation(struct pricing *pricing);

#endif
