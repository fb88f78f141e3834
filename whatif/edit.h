/*
 * edit.h - a change that people ask about: "this kernel twice as fast", "no waits for data", "copies from pinned memory".
 *
 *     struct edit edit;
 *     if (!edit_parse_scale("kernel:flash.*=0.5", &edit, err)) ...
 *
 * edits.h applies it.
 */
#ifndef TPA_WHATIF_EDIT_H
#define TPA_WHATIF_EDIT_H

#include "base/table.h"
#include "derive/device_types.h"

struct contention;

enum edit_kind {
    EDIT_SCALE,         /* what TARGET and PATTERN say takes FACTOR of its time */
    EDIT_NO_DATA_WAIT,  /* the next batch is always there */
    EDIT_NO_COMPILE,    /* programs are compiled already */
    EDIT_PINNED_COPIES, /* copies of pageable memory to a device do not block the host */
    EDIT_NO_SYNC,       /* calls that wait, or operators around them, whose names match PATTERN do not wait */
    EDIT_CUDA_GRAPH,    /* the host launches a step at once */
    EDIT_NO_ALLOC,      /* no cudaMalloc, cudaFree, cudaHostAlloc and the like */
    EDIT_NO_FIRST_USE,  /* what is slow the first time is not */
    EDIT_AT_PEAK,       /* operators that run below FACTOR of what the device could reach it */
    EDIT_FUSE,          /* neighbours on a stream that one kernel could do are one */
    EDIT_FUSE_ATTENTION, /* attention computed step by step is one kernel */
    EDIT_NO_RECOMPUTE,   /* the backward pass computes nothing of the forward pass again */
    EDIT_FUSE_OPTIMIZER, /* the optimizer does each operation once for all parameters */
    EDIT_OVERLAP_COMM, /* nobody waits for communication; FACTOR: what it costs computation; 0: as measured */
    EDIT_NO_CONTENTION,     /* nothing runs slower because of what runs beside it */
    EDIT_COMM_BANDWIDTH,    /* collectives transfer at FACTOR bytes per second of bus bandwidth */
    EDIT_RANKS_LIKE_MEDIAN, /* ranks that are slower than the median rank are as fast */
    EDIT_GPUS_LIKE_MEDIAN,  /* their devices are */
    EDIT_TENSOR_CORES,      /* matrix products in float32 run on tensor cores */
    EDIT_BATCH,             /* a batch of FACTOR times the samples */
    EDIT_AVOID, /* what PATTERN, one of edit_avoid_words, says is not done: another program has the same result without it */
    EDIT_KINDS
};

/* Of what EDIT_SCALE takes the time. */
enum edit_target {
    TARGET_NAME,       /* operators, calls and device work of such a name */
    TARGET_OP,         /* operators: their own time on the host */
    TARGET_CALL,       /* calls of the runtime or driver */
    TARGET_KERNEL,     /* kernels */
    TARGET_COPY,       /* copies and memsets */
    TARGET_MODULE,     /* nn.Modules: all host time within, and the device work launched there */
    TARGET_ANNOTATION, /* annotations, NVTX ranges, Python functions: the same */
    TARGET_CATEGORY,   /* a part of the path by its word: kernel, communication, operator, gap ... */
    TARGETS
};

/* What EDIT_AVOID leaves out. */
enum avoidable {
    AVOID_COPIES,          /* copies of tensors on the host, in their own type */
    AVOID_FLOAT64,         /* float64: it is float32 */
    AVOID_DENSE_GRADIENTS, /* gradients as large as the table of an embedding */
    AVOID_INDEX_GRADIENTS, /* gradients as large as a tensor, for each index of it in a loop */
    AVOIDABLES
};
extern const char *const edit_avoid_words[AVOIDABLES];

/* What WORD says; AVOIDABLES: nothing. */
enum avoidable edit_avoidable(const char *word, size_t len);

struct edit {
    enum edit_kind kind;
    enum edit_target target;
    const char
        *pattern; /* regular expression, or the word of a category or of EDIT_AVOID; owned by the caller */
    size_t pattern_len;
    double factor;
    const struct contention
        *measured;             /* of EDIT_OVERLAP_COMM: of another recording, borrowed; NULL: of this */
    const char *measured_path; /* its name, as typed */
    int bound; /* of contention and EDIT_BATCH: -1, 1 the least and the most that it costs; 0: the estimate */
};

/* What an edit touched, as recorded. */
struct edit_effect {
    size_t count;    /* events, or ranges */
    int64_t time_ns; /* of these, on the host and on devices, added up */
    int64_t kept_ns; /* of device work that scaled operators launched, and that keeps its time */
};

/* TEXT is TARGET:REGEX=FACTOR, where FACTOR is 0.5, 50%, 2x (twice as fast) or 0 (gone). A target that is left out is "name". The
 * pattern is borrowed from TEXT. False and ERR if TEXT is not an edit. */
bool edit_parse_scale(const char *text, struct edit *edit, struct tpa_error *err);

/* The factor alone: "0.5", "50%", "2x". False if it is not a factor. */
bool edit_parse_factor(const char *text, size_t len, double *factor);

/* As it is typed, about a trace of devices of TYPE: "--scale kernel:flash.*=0.5". */
void edit_describe(const struct edit *edit, enum device_type type, struct buffer *text);

/* "Optimizer.step#Adam.step", as torch marks the step of an optimizer. */
bool edit_is_optimizer_step(const char *name);

/* "Adam" of such a STEP; borrowed. */
struct text edit_optimizer_class(const char *step);

/* Has the optimizer of STEP the argument `fused`, on CPUs as well? */
bool edit_optimizer_has_fused(const char *step);

/* One sentence of what the prediction takes for granted; NULL: nothing beyond the replay itself. */
const char *edit_assumption(const struct edit *edit);

#endif
