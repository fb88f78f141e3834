/* compilation.h - does the program compile in an operator, range or Python function, by its name? Call once per name. */
#ifndef TPA_DERIVE_COMPILATION_H
#define TPA_DERIVE_COMPILATION_H

#include "trace/intervals.h"
#include "trace/trace.h"

/* torch.compile (Dynamo, AOTAutograd, Inductor), Triton, JAX and XLA. */
bool name_is_compilation(const char *name);

/* When a thread of FILE compiles; merged. Release with intervals_release. */
struct intervals compilation_find(const struct trace *trace, uint32_t file);

#endif
