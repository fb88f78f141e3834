/*
 * top.h - which operators, calls and kernels took the time: what torch's key_averages() answers, from the file.
 *
 *     struct top_options options = { .by = TOP_OPERATOR };
 *     struct trace *trace = ingest_read(..., .wants = top_wants(&options), ...);
 *     struct result *result = top_analyze(trace, &options);      // table "operators", notices
 *
 * Every figure follows torch 2.14; docs/definitions.md says what each counts. Files are answered apart (call
 * trees, links and memory never cross from one to another) and added up in the rows.
 */
#ifndef TPA_ANALYZE_TOP_TOP_H
#define TPA_ANALYZE_TOP_TOP_H

#include "analyze/selection.h"
#include "base/result.h"
#include "trace/trace.h"

/*
 * What makes a row. Operators, shapes, stacks and kernels name it; the others tell rows of one name apart or, alone,
 * make one row of all that happens in one place.
 */
enum top_dimension {
    TOP_OPERATOR = 1, /* name, host or device, annotation or not: torch's key */
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
};

struct top_options {
    unsigned by;                  /* enum top_dimension, or-ed; 0 is TOP_OPERATOR */
    unsigned stack_depth;         /* frames TOP_STACK looks at; 0 is 5 */
    struct attribution *launches; /* those of the trace, where somebody has them already; NULL: found here */
    /* By TOP_STEP, the steps there are: what happens in none of them is in no step. NULL: all of the trace. Borrowed. */
    const struct step_list *steps;
    bool python;         /* rows for Python frames too (include_python_functions=True) */
    bool without_memory; /* no figures of memory: who asks for times need not wait for them */
    bool float_times;    /* also fill the columns torch's own text is made of, in its arithmetic */
    /* Only what it holds; NULL: everything. GPU work is held when the call that launched it is (its own
     * start decides when that is not in the file). Names are not its business but those of: */
    const struct selection *selection;
    const char *filter,
        *exclude; /* regular expressions, known to be right, over the names of rows; NULL: none */
};

/* What the reader must decode. */
struct trace_wants top_wants(const struct top_options *options);

/* New; free with result_free. One table, "operators", in torch's order, complete. */
struct result *top_analyze(const struct trace *trace, const struct top_options *options);

/* The figures of one row, for those who add rows up themselves, step by step and file by file. */
struct top_figures {
    const char *name; /* of the operator, call or kernel; the place, where rows are places */
    size_t name_length;
    const char *detail; /* what else tells rows apart, by TOP_SHAPE and the like; "" when nothing does */
    bool on_device, is_annotation;
    bool is_gpu_work; /* a kernel, copy or memset: neither a wait nor an annotation */
    uint32_t file;    /* by TOP_RANK, else 0 */
    bool in_step;     /* by TOP_STEP: it began, or was launched, in a step */
    int64_t step;     /* its number */
    int64_t count, cpu_ns, self_cpu_ns, device_ns, self_device_ns;
};

/* Told of each row that counts something. FIGURES and its texts are borrowed until it returns. */
typedef void top_take(void *context, const struct top_figures *figures);

/* As top_analyze, but the rows go to TAKE, in no particular order, and there is no table. */
void top_each_row(const struct trace *trace, const struct top_options *options, top_take *take,
                  void *context);

#endif
