/*
 * memory.h - peaks of memory, blocks in use at them, and allocations by operator.
 *
 *     struct memory *memory = memory_analyze(trace, selection, &(struct memory_options){ 0 });
 *     for (size_t i = 0; i < memory->peaks.count; i++)
 *         printf("%s %" PRId64 "\n", memory->peaks.at[i].place.device.at, memory->peaks.at[i].bytes);
 *     memory_free(memory);
 */
#ifndef TPA_MEMORY_MEMORY_H
#define TPA_MEMORY_MEMORY_H

#include "memory/memory_rows.h"
#include "analyze/selection.h"
#include "base/result.h"

/* The parts of a trace that its reader must decode; more for rows by module and line. */
extern const struct trace_wants memory_wants, memory_code_wants;

/* New; free with memory_free (NULL is allowed). Lives no longer than TRACE. */
struct memory *memory_analyze(const struct trace *trace, const struct selection *selection,
                              const struct memory_options *options);
void memory_free(struct memory *memory);

/* The notice that a device ran out of memory, if any did. */
void memory_add_failures(const struct memory *memory, struct result *result);

/*
 * Add the tables "memory" (per device and for the host), "categories", "alive" (at the peak, by operator), "operators"
 * (what each allocates and frees; by anything else "allocations"), "steps" (growth; if there are steps) and "unfreed"
 * (blocks that were not freed), those of program_memory.h, and notices to RESULT. A table without rows is left out.
 */
void memory_add_tables(const struct trace *trace, const struct selection *selection,
                       const struct memory_options *options, struct result *result);

/* The tables that may be added, for `tpa help`; ends in { 0 }. */
extern const struct table_shape memory_tables[];

#endif
