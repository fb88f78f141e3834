/* modules.h - time per nn.Module, or per line of source: on the host and on devices, forward and backward. */
#ifndef TPA_ANALYZE_MODULES_H
#define TPA_ANALYZE_MODULES_H

#include "analyze/analysis.h"

extern const struct trace_wants modules_wants;

enum modules_by {
    MODULES_BY_TREE,     /* a row per module below the module that called it */
    MODULES_BY_INSTANCE, /* a row per module, over all callers */
    MODULES_BY_CLASS,    /* Linear_0 and Linear_1 are Linear */
    MODULES_BY_LINE,     /* a row per function outside PyTorch */
};

struct modules_options {
    enum modules_by by;
    bool by_rank;     /* separate rows for each rank */
    int64_t depth;    /* of the tree; deeper modules count as own time of their callers. 0: all */
    bool indent;      /* names of the tree begin with two blanks per level */
    const char *sort; /* column to sort by, siblings in the tree; NULL: by time */
    bool reverse;
    const char *filter, *exclude; /* regular expressions over the rows' names; NULL: none */
};

/* Times are in nanoseconds; those of devices, and operations, are missing if the trace has no work of a device. */
struct modules_row {
    int64_t rank;            /* missing unless ranks make rows */
    struct text name, shown; /* "Linear_0"; as shown, possibly indented */
    struct text class_name, path;
    int64_t calls, depth; /* missing outside of modules; the depth also without the tree */
    int64_t cpu_ns, self_cpu_ns, cpu_forward_ns, cpu_backward_ns;
    int64_t device_ns, self_device_ns, device_forward_ns, device_backward_ns;
    double cpu_share, device_share; /* of the totals; NaN if these are 0 */
    int64_t operations;             /* kernels, copies and memsets */
    int64_t order;                  /* of the tree's rows */
};

struct modules {
    VEC_OF(struct modules_row) rows; /* the tree in order: a module before those it called */
    int64_t cpu_ns, device_ns;       /* of all rows; without counting anything twice */
    bool has_device;
    const char *device_name; /* of the type of the devices; borrowed, a literal */
    bool any;                /* was any module, or line, found? */
    int64_t unlinked;        /* operators of the backward pass whose forward operator was not recorded */
    struct arena texts;
};

/* Add the table "modules" and notices to RESULT. */
bool modules_add_table(const struct trace *trace, const struct selection *selection,
                       const struct modules_options *options, struct result *result, struct tpa_error *err);

#endif
