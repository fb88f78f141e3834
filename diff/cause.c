#include "diff/diff.h"

#include "derive/host_waits.h"
#include "trace/call_names.h"
#include "trace/step_name.h"

bool cause_is_communication(const char *name)
{
    static const char *const words[] = { "nccl",           "rccl",      "gloo:",      "c10d::",
                                         "all_reduce",     "allreduce", "all_gather", "allgather",
                                         "reduce_scatter", "all_to_all" };
    return ANY(i, sizeof words / sizeof *words, strcasestr(name, words[i]));
}

enum cause_class cause_class_of(const char *name, size_t len)
{
    if (step_name_is_mark(name, len))
        return CAUSE_STEP;
    char *copy = mem_alloc(len + 1);
    memcpy(copy, name, len);
    copy[len] = '\0';
    enum cause_class class = CAUSE_WORK;
    switch (call_sort_of(copy)) {
    case CALL_SYNC:
    case CALL_COPY_SYNC: class = CAUSE_WAIT; break;
    case CALL_LAUNCH:
    case CALL_GRAPH_LAUNCH:
    case CALL_COPY:
    case CALL_ALLOC: class = CAUSE_SHARED; break;
    default:
        if (operator_reads_scalar(copy))
            class = CAUSE_READ;
        else if (cause_is_communication(copy))
            class = CAUSE_SHARED;
    }
    free(copy);
    return class;
}

double cause_weight(enum cause_class class)
{
    static const double weights[] = {
        [CAUSE_WORK] = 1,   [CAUSE_SHARED] = 0.3,   [CAUSE_READ] = 0.25,
        [CAUSE_WAIT] = 0.2, [CAUSE_HELD_UP] = 0.05, [CAUSE_STEP] = 0,
    };
    return weights[class];
}
