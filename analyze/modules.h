/*
 * modules.h - time per nn.Module, or per line of source: on the host and on devices, forward and backward.
 *
 *     struct modules_options options = { .by = MODULES_BY_TREE, .indent = true };
 *     if (!modules_add_table(trace, selection, &options, result, &err))
 *         ...                                   // a regular expression is wrong, or there is no such column to sort by
 */
#ifndef TPA_ANALYZE_MODULES_H
#define TPA_ANALYZE_MODULES_H

#include "analyze/selection.h"
#include "base/error.h"
#include "base/result.h"
#include "trace/trace.h"

extern const struct trace_wants modules_wants;

enum modules_by {
    MODULES_BY_TREE,     /* a row per module within the modules that called it */
    MODULES_BY_INSTANCE, /* a row per module, whoever called it */
    MODULES_BY_CLASS,    /* Linear_0 and Linear_1 are Linear */
    MODULES_BY_LINE,     /* a row per function outside PyTorch */
};

struct modules_options {
    enum modules_by by;
    bool by_rank;     /* the rows of each rank apart */
    int64_t depth;    /* of the tree; deeper modules count as their callers' own. 0: all */
    bool indent;      /* names of the tree begin with two blanks per level */
    const char *sort; /* column to sort by, modules of one caller among themselves; NULL: by time */
    bool reverse;
    const char *filter, *exclude; /* regular expressions over the rows' names; NULL: none */
};

/* Add the table "modules" to RESULT. SELECTION must select no names. */
bool modules_add_table(const struct trace *trace, const struct selection *selection,
                       const struct modules_options *options, struct result *result, struct tpa_error *err);

#endif
