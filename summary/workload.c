/* workload.c - see job.h. Worked out per name: there are some hundred, and millions of events. */
#include "summary/workload.h"

#include <string.h>

static bool begins_with(const char *name, const char *start)
{
    return strncmp(name, start, strlen(start)) == 0;
}

enum workload workload_of(const struct trace *trace)
{
    size_t operators = 0, vllm = 0, sglang = 0;
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        if (strstr(name, "ackward") || begins_with(name, "Optimizer.step#"))
            return WORKLOAD_TRAINING;
        operators += begins_with(name, "aten::");
        vllm +=
            begins_with(name, "vllm::") || begins_with(name, "vllm/") || begins_with(name, "_C_cache_ops::");
        sglang += begins_with(name, "sgl_kernel::") || begins_with(name, "sglang::") ||
                  begins_with(name, "sglang/");
    }
    if (vllm || sglang)
        return vllm >= sglang ? WORKLOAD_VLLM : WORKLOAD_SGLANG;
    return operators ? WORKLOAD_INFERENCE : WORKLOAD_UNKNOWN;
}
