/*
 * advice.h - what to do about something, in the words of the framework that a trace is of.
 *
 *     const char *text = trace_advice(trace, ADVICE_PIN_MEMORY);   // "pin memory once and use it again; let DataLoader..."
 *
 *     struct code_change code = trace_code(trace, ADVICE_PIN_BATCHES);   // code.now: "DataLoader(..., pin_memory=True)"
 *
 * All advice that names functions, options or flags of a framework stands in one table, advice.c, so that a program of JAX
 * does not get PyTorch's. Advice that is the same for all, or depends on more than the framework, is where it is given.
 */
#ifndef TPA_DERIVE_ADVICE_H
#define TPA_DERIVE_ADVICE_H

#include "trace/trace.h"

enum advice {
    ADVICE_LOAD_DATA,          /* the loop waits for batches */
    ADVICE_PIN_BATCHES,        /* they are copied from pageable memory */
    ADVICE_COPY_AHEAD,         /* they are copied from pinned memory */
    ADVICE_COPY_EARLIER,       /* their direction is not recorded */
    ADVICE_COPY_LESS,          /* copies within a device */
    ADVICE_LAUNCH_LESS,        /* the host launches too slowly */
    ADVICE_USE_ONCE,           /* modules are loaded, kernels chosen */
    ADVICE_ALLOCATE_LESS,      /* the driver allocates in the steps */
    ADVICE_PIN_ONCE,           /* memory is pinned in the steps */
    ADVICE_OVERLAP,            /* communication is exposed */
    ADVICE_MATRIX_PRECISION,   /* matrix products without tensor cores */
    ADVICE_MATRIX_HALF,        /* and the device knows no TF32: Volta, Turing */
    ADVICE_FUSE,               /* operations that one kernel could do */
    ADVICE_NEARER_TO_PEAK,     /* operators below the peak */
    ADVICE_WAIT_FOR_NO_COPY,   /* copies in calls that wait: of any kind, */
    ADVICE_WAIT_FOR_NO_UPLOAD, /* to the device, */
    ADVICE_WAIT_FOR_NO_PAGEABLE_UPLOAD,
    ADVICE_WAIT_FOR_NO_DOWNLOAD, /* and to the host */
    ADVICE_RECORD_DEVICE,        /* collectives of which the device's part is missing */
    ADVICE_RECORD_SIZES,         /* collectives without a size; NULL: nothing helps */
    ADVICE_RECORD_GROUPS,        /* collectives without a group; NULL: nothing helps */
    ADVICE_COMPUTE_ON_DEVICE,    /* operators compute on the host while the device waits */
    ADVICE_GRAPH,                /* what launches many operations at once: "CUDA graph" */
    ADVICES
};

/* A line of the user's code before and after a change: literals. WAS NULL: it is new; both NULL: no line is known. */
struct code_change {
    const char *was, *now;
};

struct code_change trace_code(const struct trace *trace, enum advice advice);

/* A literal. ADVICE_LOAD_DATA is NULL for PyTorch, where it depends on how long the waits are. */
const char *trace_advice(const struct trace *trace, enum advice advice);

#endif
