/* communication.c - lists of words; see communication.h. */
#include "derive/communication.h"

#include <ctype.h>
#include <string.h>

/* C++ names are demangled up to this length, too. */
enum { BYTES_LOOKED_AT = 16 << 10 };

/* Do the first bytes of NAME, in upper or lower case, contain one of WORDS (in lower case)? */
static bool matches(const char *name, const char *const *words)
{
    char lower[BYTES_LOOKED_AT + 1];
    size_t len = 0;
    for (; name[len] && len < BYTES_LOOKED_AT; len++)
        lower[len] = (char)tolower((unsigned char)name[len]);
    lower[len] = '\0';
    while (*words && !strstr(lower, *words))
        words++;
    return *words != NULL;
}

static const char *const nccl_words[] = { "nccl", "rccl", NULL };

static const char *const communication_words[] = {
    "nccl",
    "rccl",
    "hccl",
    "hcom_",
    "oneccl",
    "msccl",
    "nvshmem",
    "rocshmem",
    "symm_mem",
    "symmetric_memory",
    "multimem",
    "cross_device_reduce", /* custom all-reduce of vLLM, SGLang, aiter */
    "custom_ar",
    "quickreduce",
    "userbuffers",
    "deep_ep::",
    "allreduce",
    "all_reduce",
    "allgather",
    "all_gather",
    "reducescatter",
    "reduce_scatter",
    "alltoall",
    "all_to_all",
    "all2all",
    "all-reduce", /* XLA */
    "all-gather",
    "reduce-scatter",
    "all-to-all",
    "collective-permute",
    NULL,
};

bool kernel_is_nccl(const char *name)
{
    return matches(name, nccl_words);
}

static const char *const backend_words[] = { "nccl", "rccl",   "hccl", "xccl", "oneccl",  "cncl", "mccl",
                                             "eccl", "flagcx", "ucc",  "mpi",  "nvshmem", NULL };

bool backend_is_of_devices(const char *name)
{
    return matches(name, backend_words);
}

bool kernel_is_communication(const char *name)
{
    return matches(name, communication_words);
}

/* Libraries of which every operator communicates: by how the name begins. */
static const char *const communication_prefixes[] = {
    "nccl:",
    "rccl:",
    "hccl:",
    "xccl:",
    "gloo:",
    "ucc:",
    "mpi:",
    "record_param_comms",
    "c10d::",
    "_c10d_functional",
    "c10d_functional",
    "symm_mem::",
    "_symm_mem::",
    "_C_custom_ar::",
    "horovod",
    NULL,
};

static const char *const collective_words[] = {
    "all_reduce",    "allreduce",  "all_gather", "allgather", "reduce_scatter",
    "reducescatter", "all_to_all", "alltoall",   "all2all",   NULL,
};

/* An operator that computes and communicates at once; its own kernels may do either. */
static const char *const fused_words[] = { "matmul", "_mm", "gemm", "linear", "norm", NULL };

bool operator_is_collective_of_xla(const char *name)
{
    static const char *const opcodes[] = { "all-reduce",          "all-gather", "reduce-scatter",
                                           "ragged-all-to-all",   "all-to-all", "collective-permute",
                                           "collective-broadcast" };
    for (size_t i = 0; i < sizeof opcodes / sizeof *opcodes; i++) {
        size_t len = strlen(opcodes[i]);
        if (strncmp(name, opcodes[i], len) != 0)
            continue;
        const char *end = name + len;
        end += strncmp(end, "-start", 6) == 0 ? 6 : strncmp(end, "-done", 5) == 0 ? 5 : 0;
        if (*end == '\0' || (*end == '.' && end[1 + strspn(end + 1, "0123456789.")] == '\0'))
            return true;
    }
    return false;
}

bool operator_is_communication(const char *name)
{
    if (operator_is_collective_of_xla(name))
        return true;
    if (matches(name, fused_words))
        return false;
    for (const char *const *prefix = communication_prefixes; *prefix; prefix++)
        if (strncmp(name, *prefix, strlen(*prefix)) == 0)
            return true;
    /* "vllm::all_reduce", "sgl_kernel::all_reduce": only operators have a namespace, Python functions do not. */
    return strstr(name, "::") && strncmp(name, "aten::", 6) != 0 && matches(name, collective_words);
}
