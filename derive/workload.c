/* workload.c - a look at every name: see workload.h. */
#include "derive/workload.h"

enum workload workload_of(const struct trace *trace)
{
    size_t operators = 0, vllm = 0, sglang = 0;
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        if (strstr(name, "ackward") || text_begins_with(name, "Optimizer.step#"))
            return WORKLOAD_TRAINING;
        operators += text_begins_with(name, "aten::");
        vllm += text_begins_with(name, "vllm::") || text_begins_with(name, "vllm/") ||
                text_begins_with(name, "_C_cache_ops::");
        sglang += text_begins_with(name, "sgl_kernel::") || text_begins_with(name, "sglang::") ||
                  text_begins_with(name, "sglang/");
    }
    if (vllm || sglang)
        return vllm >= sglang ? WORKLOAD_VLLM : WORKLOAD_SGLANG;
    return operators ? WORKLOAD_INFERENCE : WORKLOAD_UNKNOWN;
}
