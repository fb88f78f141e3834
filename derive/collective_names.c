/* collective_names.c - lists of words, learnt from PyTorch 1.8 to 2.9 (the collective names of c10d), NCCL
 * 2.8 to 2.27, RCCL, vLLM, SGLang, DeepEP and NVSHMEM. The lists are ordered: the first list that matches a
 * name decides. */
#include "derive/collective_names.h"

#include "base/memory.h"
#include "derive/communication.h"
#include <ctype.h>
#include <math.h>

struct word {
    const char *text;
    int meaning;
};

/* NAME in lower case, without '_' and '-', so that "all_reduce", "all-reduce" and "AllReduce" are one word; new. */
static char *fold(const char *name)
{
    char *folded = mem_strdup(name), *to = folded;
    for (const char *c = name; *c; c++)
        if (*c != '_' && *c != '-')
            *to++ = (char)tolower((unsigned char)*c);
    *to = '\0';
    return folded;
}

/* The meaning of the first of WORDS that NAME contains, or MISSING. */
static int find_word(const char *name, const struct word *words, int missing)
{
    SCOPED char *folded = fold(name);
    for (; words->text && !strstr(folded, words->text); words++)
        ;
    return words->text ? words->meaning : missing;
}

/* ---- kinds ---- */

/* Longer words come before shorter ones that they contain. */
static const struct word kind_words[] = {
    { "barrier", COLLECTIVE_BARRIER }, /* torch's is an all-reduce of one byte: "nccl:all_reduce_barrier" */
    { "reducescatter", COLLECTIVE_REDUCE_SCATTER },
    { "allreduce", COLLECTIVE_ALL_REDUCE },
    { "crossdevicereduce", COLLECTIVE_ALL_REDUCE },
    { "quickreduce", COLLECTIVE_ALL_REDUCE },
    { "customar", COLLECTIVE_ALL_REDUCE },
    { "allgather", COLLECTIVE_ALL_GATHER },
    { "alltoall", COLLECTIVE_ALL_TO_ALL },
    { "all2all", COLLECTIVE_ALL_TO_ALL },
    { "deepep::", COLLECTIVE_ALL_TO_ALL }, /* dispatch and combine of experts */
    { "broadcast", COLLECTIVE_BROADCAST },
    { "sendrecv", COLLECTIVE_SEND_RECV },
    { "collectivepermute", COLLECTIVE_SEND_RECV },
    { "gather", COLLECTIVE_GATHER },
    { "scatter", COLLECTIVE_SCATTER },
    { "reduce", COLLECTIVE_REDUCE },
    { "send", COLLECTIVE_SEND },
    { "recv", COLLECTIVE_RECV },
    { "receive", COLLECTIVE_RECV }, /* HCCL */
    { NULL, 0 },
};

enum collective_kind collective_kind_of(const char *name)
{
    return (enum collective_kind)find_word(name, kind_words, COLLECTIVE_UNKNOWN);
}

const char *collective_kind_name(enum collective_kind kind)
{
    static const char *const names[COLLECTIVE_KINDS] = {
        [COLLECTIVE_UNKNOWN] = "unknown",
        [COLLECTIVE_ALL_REDUCE] = "all_reduce",
        [COLLECTIVE_ALL_GATHER] = "all_gather",
        [COLLECTIVE_REDUCE_SCATTER] = "reduce_scatter",
        [COLLECTIVE_ALL_TO_ALL] = "all_to_all",
        [COLLECTIVE_BROADCAST] = "broadcast",
        [COLLECTIVE_REDUCE] = "reduce",
        [COLLECTIVE_GATHER] = "gather",
        [COLLECTIVE_SCATTER] = "scatter",
        [COLLECTIVE_BARRIER] = "barrier",
        [COLLECTIVE_SEND] = "send",
        [COLLECTIVE_RECV] = "recv",
        [COLLECTIVE_SEND_RECV] = "send_recv",
    };
    return names[kind];
}

bool collective_joins_all(enum collective_kind kind)
{
    return kind == COLLECTIVE_ALL_REDUCE || kind == COLLECTIVE_ALL_GATHER ||
           kind == COLLECTIVE_REDUCE_SCATTER || kind == COLLECTIVE_ALL_TO_ALL || kind == COLLECTIVE_BARRIER;
}

/* ---- bandwidth: NCCL's tests, "Performance reported by NCCL tests" ---- */

double collective_bus_factor(enum collective_kind kind, int64_t ranks)
{
    double n = ranks > 0 ? (double)ranks : NAN;
    switch (kind) {
    case COLLECTIVE_ALL_REDUCE: return 2 * (n - 1) / n;
    case COLLECTIVE_ALL_GATHER:
    case COLLECTIVE_REDUCE_SCATTER:
    case COLLECTIVE_ALL_TO_ALL:
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER: return (n - 1) / n;
    case COLLECTIVE_BROADCAST:
    case COLLECTIVE_REDUCE:
    case COLLECTIVE_SEND:
    case COLLECTIVE_RECV: return 1;
    default: return NAN; /* a barrier moves nothing; SendRecv may be an all-to-all */
    }
}

/* COUNT times RANKS; -1 if either is unknown, or on overflow. */
static int64_t times(int64_t count, int64_t ranks)
{
    int64_t product;
    return count < 0 || ranks < 0 || __builtin_mul_overflow(count, ranks, &product) ? -1 : product;
}

int64_t collective_size(enum collective_kind kind, int64_t in, int64_t out, int64_t ranks)
{
    switch (kind) {
    case COLLECTIVE_ALL_GATHER: return out >= 0 ? out : times(in, ranks);
    case COLLECTIVE_REDUCE_SCATTER: return in >= 0 ? in : times(out, ranks);
    case COLLECTIVE_GATHER:
    case COLLECTIVE_SCATTER: /* only the root has the whole */
        if (in >= 0 && out >= 0 && in != out)
            return in > out ? in : out;
        return times(in >= 0 ? in : out, ranks);
    case COLLECTIVE_BARRIER: return -1;
    default: return in >= 0 ? in : out;
    }
}

/* ---- libraries ---- */

enum library {
    LIBRARY_UNKNOWN,
    LIBRARY_NCCL,
    LIBRARY_RCCL,
    LIBRARY_ONECCL,
    LIBRARY_HCCL,
    LIBRARY_MSCCL,
    LIBRARY_NVSHMEM,
    LIBRARY_ROCSHMEM,
    LIBRARY_DEEPEP,
    LIBRARY_SYMMETRIC,
    LIBRARY_CUSTOM,
    LIBRARY_USERBUFFERS,
    LIBRARY_GLOO,
    LIBRARY_MPI,
    LIBRARY_UCC,
};

static const struct word library_words[] = {
    { "rccl", LIBRARY_RCCL },
    { "msccl", LIBRARY_MSCCL },
    { "oneccl", LIBRARY_ONECCL },
    { "xccl:", LIBRARY_ONECCL },
    { "hccl", LIBRARY_HCCL },
    { "hcom", LIBRARY_HCCL }, /* "hcom_allReduce" */
    { "nccl", LIBRARY_NCCL },
    { "rocshmem", LIBRARY_ROCSHMEM },
    { "deepep::", LIBRARY_DEEPEP }, /* which runs on NVSHMEM */
    { "nvshmem", LIBRARY_NVSHMEM },
    { "symmmem", LIBRARY_SYMMETRIC },
    { "symmetricmemory", LIBRARY_SYMMETRIC },
    { "multimem", LIBRARY_SYMMETRIC },
    { "crossdevicereduce", LIBRARY_CUSTOM },
    { "customar", LIBRARY_CUSTOM },
    { "quickreduce", LIBRARY_CUSTOM },
    { "oneshot", LIBRARY_CUSTOM },
    { "twoshot", LIBRARY_CUSTOM },
    { "userbuffers", LIBRARY_USERBUFFERS },
    { "gloo:", LIBRARY_GLOO },
    { "mpi:", LIBRARY_MPI },
    { "ucc:", LIBRARY_UCC },
    { NULL, 0 },
};

const char *collective_library_of(const char *name)
{
    static const char *const names[] = {
        [LIBRARY_UNKNOWN] = NULL,      [LIBRARY_NCCL] = "NCCL",
        [LIBRARY_RCCL] = "RCCL",       [LIBRARY_ONECCL] = "oneCCL",
        [LIBRARY_HCCL] = "HCCL",       [LIBRARY_MSCCL] = "MSCCL",
        [LIBRARY_NVSHMEM] = "NVSHMEM", [LIBRARY_ROCSHMEM] = "rocSHMEM",
        [LIBRARY_DEEPEP] = "DeepEP",   [LIBRARY_SYMMETRIC] = "symmetric memory",
        [LIBRARY_CUSTOM] = "custom",   [LIBRARY_USERBUFFERS] = "userbuffers",
        [LIBRARY_GLOO] = "gloo",       [LIBRARY_MPI] = "MPI",
        [LIBRARY_UCC] = "UCC",
    };
    return names[find_word(name, library_words, LIBRARY_UNKNOWN)];
}

bool collective_runs_on_host(const char *name)
{
    if (operator_is_collective_of_xla(name))
        return true;
    static const char *const prefixes[] = { "gloo:", "mpi:", "ucc:" };
    return ANY(i, sizeof prefixes / sizeof *prefixes, strncmp(name, prefixes[i], strlen(prefixes[i])) == 0);
}

/* ---- element types ---- */

/* Spellings of c10::ScalarType, of C++ types as torch's `Input type` has them, and of NCCL's kernels. */
static const struct spelling {
    const char *text;
    struct element_type type;
} spellings[] = {
    { "float", { "float32", 4 } },
    { "double", { "float64", 8 } },
    { "half", { "float16", 2 } },
    { "c10::half", { "float16", 2 } },
    { "bfloat16", { "bfloat16", 2 } },
    { "c10::bfloat16", { "bfloat16", 2 } },
    { "nvbfloat16", { "bfloat16", 2 } },
    { "hipbfloat16", { "bfloat16", 2 } },
    { "rcclbfloat16", { "bfloat16", 2 } },
    { "byte", { "uint8", 1 } },
    { "unsigned char", { "uint8", 1 } },
    { "char", { "int8", 1 } },
    { "signed char", { "int8", 1 } },
    { "short", { "int16", 2 } },
    { "short int", { "int16", 2 } },
    { "int", { "int32", 4 } },
    { "long", { "int64", 8 } },
    { "long int", { "int64", 8 } },
    { "long long", { "int64", 8 } },
    { "unsigned short", { "uint16", 2 } },
    { "unsigned int", { "uint32", 4 } },
    { "unsigned long", { "uint64", 8 } },
    { "bool", { "bool", 1 } },
    { "complexhalf", { "complex32", 4 } },
    { "complexfloat", { "complex64", 8 } },
    { "complexdouble", { "complex128", 16 } },
    { "c10::complex<c10::half>", { "complex32", 4 } },
    { "c10::complex<float>", { "complex64", 8 } },
    { "c10::complex<double>", { "complex128", 16 } },
    { "float8e4m3fn", { "float8_e4m3fn", 1 } },
    { "c10::float8e4m3fn", { "float8_e4m3fn", 1 } },
    { "float8e4m3fnuz", { "float8_e4m3fnuz", 1 } },
    { "c10::float8e4m3fnuz", { "float8_e4m3fnuz", 1 } },
    { "float8e5m2", { "float8_e5m2", 1 } },
    { "c10::float8e5m2", { "float8_e5m2", 1 } },
    { "float8e5m2fnuz", { "float8_e5m2fnuz", 1 } },
    { "c10::float8e5m2fnuz", { "float8_e5m2fnuz", 1 } },
    { "float8e8m0fnu", { "float8_e8m0fnu", 1 } },
    { "c10::float8e8m0fnu", { "float8_e8m0fnu", 1 } },
    { "f64", { "float64", 8 } },
    { "f32", { "float32", 4 } },
    { "f16", { "float16", 2 } },
    { "bf16", { "bfloat16", 2 } },
    { "f8e4m3", { "float8_e4m3fn", 1 } },
    { "f8e5m2", { "float8_e5m2", 1 } },
    { "i8", { "int8", 1 } },
    { "u8", { "uint8", 1 } },
    { "i32", { "int32", 4 } },
    { "u32", { "uint32", 4 } },
    { "i64", { "int64", 8 } },
    { "u64", { "uint64", 8 } },
    { "int8t", { "int8", 1 } },
    { "uint8t", { "uint8", 1 } },
    { "int8", { "int8", 1 } },
    { "uint8", { "uint8", 1 } },
    { "int16", { "int16", 2 } },
    { "uint16", { "uint16", 2 } },
    { "int32t", { "int32", 4 } },
    { "uint32t", { "uint32", 4 } },
    { "int32", { "int32", 4 } },
    { "uint32", { "uint32", 4 } },
    { "int64t", { "int64", 8 } },
    { "uint64t", { "uint64", 8 } },
    { "int64", { "int64", 8 } },
    { "uint64", { "uint64", 8 } },
    { "fp16", { "float16", 2 } }, /* from here on: HCCL */
    { "fp32", { "float32", 4 } },
    { "fp64", { "float64", 8 } },
    { "bfp16", { "bfloat16", 2 } },
    { "int128", { "int128", 16 } },
    { "fp8e4m3", { "float8_e4m3fn", 1 } },
    { "fp8e5m2", { "float8_e5m2", 1 } },
    { "fp8e8m0", { "float8_e8m0fnu", 1 } },
};

const struct element_type *element_type_of(const char *text, size_t len)
{
    SCOPED char *exact = mem_strndup(text, len), *folded = fold(exact);
    const struct element_type *found = NULL;
    for (size_t i = 0; i < sizeof spellings / sizeof *spellings && !found; i++)
        if (strcmp(folded, spellings[i].text) == 0)
            found = &spellings[i].type;
    return found;
}

const struct element_type *element_type_of_kernel(const char *kernel)
{
    static const char *const operations[] = { "_Sum_",    "_Prod_",      "_Min_",       "_Max_",
                                              "_MinMax_", "_PreMulSum_", "_SumPostDiv_" };
    enum collective_kind kind = collective_kind_of(kernel);
    if (kind != COLLECTIVE_ALL_REDUCE && kind != COLLECTIVE_REDUCE_SCATTER && kind != COLLECTIVE_REDUCE)
        return NULL;
    for (size_t i = 0; i < sizeof operations / sizeof *operations; i++) {
        const char *at = strstr(kernel, operations[i]);
        if (!at)
            continue;
        at += strlen(operations[i]);
        /* "Sum_f32_RING_LL", "Sum_float(ncclWorkElem)", "Sum___nv_bfloat16(...)", "Sum_int8_t(...)" */
        for (size_t len = strcspn(at, "(<"); len > 0; len--) {
            const struct element_type *type =
                at[len] == '_' || at[len] == '(' || at[len] == '<' || at[len] == '\0'
                    ? element_type_of(at, len)
                    : NULL;
            if (type)
                return type;
        }
    }
    return NULL;
}
