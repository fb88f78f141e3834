/* options.h - the options of top: what makes a row, and which events count. */
#ifndef TPA_ANALYZE_TOP_OPTIONS_H
#define TPA_ANALYZE_TOP_OPTIONS_H

#include "analyze/selection.h"
#include "derive/step_list.h"

/*
 * What makes a row. Operators, shapes, stacks and kernels name it; the others tell rows of one name apart or, alone,
 * make one row of all that happens in one place.
 */
enum top_dimension {
    TOP_OPERATOR = 1, /* name, device type, annotation or not: torch's key */
    TOP_SHAPE = 2,    /* ... and the shapes of the inputs */
    TOP_STACK = 4,    /* ... and the innermost frames of the Python stack */
    TOP_OVERLOAD = 8, /* ... and the overload: add.Tensor, add.out */
    TOP_KERNEL = 16,  /* kernels, copies and memsets only */
    TOP_CATEGORY = 32,
    TOP_THREAD = 64,
    TOP_STREAM = 128,
    TOP_DEVICE = 256,
    TOP_STEP = 512,
    TOP_RANK = 1024,   /* which file; alone, it tells operators apart */
    TOP_MODULE = 2048, /* the innermost nn.Module; of the backward pass, that of its forward operator */
    TOP_LINE = 4096,   /* the innermost function outside PyTorch, likewise */
    TOP_CYCLE = 8192,  /* which recording of its rank; alone, it tells operators apart */
};

/* Alone, these make rows that hold both what ran on the host and what it launched. */
#define TOP_BOTH_SIDES (TOP_STEP | TOP_MODULE | TOP_LINE)

/* Where they differ and the file does not record its version. */
enum torch_version {
    TORCH_UNKNOWN, /* as 2.14 */
    TORCH_2_14,
    TORCH_2_15, /* a runtime call without an operator has no kernels, whatever its number */
};

struct top_options {
    unsigned by;          /* set of enum top_dimension; 0 is TOP_OPERATOR */
    unsigned stack_depth; /* frames TOP_STACK looks at; 0 is 5 */
    /* By TOP_STEP, the steps there are: what happens in none of them is in no step. NULL: all of the trace. Borrowed. */
    const struct step_list *steps;
    bool python;         /* rows for Python frames too (include_python_functions=True) */
    bool without_memory; /* no figures of memory: who requests times need not wait for them */
    bool float_times;    /* also the figures torch's own text is made of, in its arithmetic */
    enum torch_version torch;
    /* Only what it holds; NULL: everything. GPU work is held when the call that launched it is (its own
     * start decides when that is not in the file). Names are not its business but those of: */
    const struct selection *selection;
    const char *filter,
        *exclude; /* regular expressions, known to be right, over the names of rows; NULL: none */
};

#endif
