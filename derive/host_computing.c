#include "derive/host_computing.h"

#include "derive/communication.h"
#include "trace/calltree.h"
#include "trace/derived.h"

enum name_sort {
    NAME_OPERATOR,
    NAME_AROUND, /* code around operators, which may wait: DistributedDataParallel.forward, autograd's evaluate_function */
    NAME_COMMUNICATES
};

/* New, by name; free with free(). */
static uint8_t *sorts_of_names(const struct trace *trace)
{
    uint8_t *sorts = mem_zalloc(names_count(trace->names) + 1, sizeof *sorts);
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        sorts[id] = operator_is_communication(name) ? NAME_COMMUNICATES
                    : strpbrk(name, ".# ")          ? NAME_AROUND
                                                    : NAME_OPERATOR;
    }
    return sorts;
}

static void *host_computing_derive(const struct trace *trace)
{
    struct host_computing *computing = arena_open(sizeof *computing);
    computing->thread_count = trace->track_count;
    computing->threads =
        arena_vectors(arena_of(computing), trace->track_count + 1, sizeof *computing->threads);
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, calltree_takes_operators, trace);
    calltree_nest(tree);
    SCOPED uint8_t *sorts = sorts_of_names(trace);
    bool *calls = mem_zalloc(tree->count + 1, sizeof *calls), /* by node; COMMUNICATES: it, or one within */
        *communicates = mem_zalloc(tree->count + 1, sizeof *communicates);
    for (node_id n = (node_id)tree->count; n-- > 0;) {
        communicates[n] |= sorts[trace->name[tree->event[n]]] == NAME_COMMUNICATES;
        if (tree->parent[n] == NODE_NONE)
            continue;
        calls[tree->parent[n]] = true;
        communicates[tree->parent[n]] |= communicates[n];
    }
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        if (!communicates[n] && !(calls[n] && sorts[trace->name[e]] == NAME_AROUND))
            intervals_add(&computing->threads[trace->track[e]], trace_start_ns(trace, e),
                          trace_end_ns(trace, e));
    }
    for (track_id t = 0; t < computing->thread_count; t++)
        intervals_merge(&computing->threads[t]);
    EACH(free, calls, communicates);
    return computing;
}

DERIVED(host_computing, host_computing_of, host_computing_derive);
