#include "analyze/top/top.h"

static bool takes_call(const void *context, event_id e)
{
    enum top_role role = top_role(context, e);
    return role == ROLE_CALL || role == ROLE_OUT_OF_MEMORY;
}

/* torch counts a recursion once; elsewhere each recursive call counts. */
static bool same_key(const void *context, event_id a, event_id b)
{
    return top_is_torch(context, a) && top_key_of(context, a) == top_key_of(context, b);
}

void top_calls_open(struct top_calls *calls, const struct top_events *events)
{
    *calls = (struct top_calls){ .tree = calltree_open(events->trace, takes_call, events) };
}

void top_calls_nest(struct top_calls *calls, const struct top_events *events, const struct top_links *links)
{
    calltree_move(calls->tree, links->moves.at, links->moves.count);
    calltree_nest(calls->tree);
    calls->state = calltree_fold(calls->tree, same_key, events);
}

void top_calls_make_rows(struct top_calls *calls)
{
    calls->row_of_node = mem_alloc(mem_times(calls->tree->count + 1, sizeof *calls->row_of_node));
}

void top_calls_widen_rows(struct top_calls *calls, node_id count)
{
    calls->wide_row_of_node = mem_alloc(mem_times(calls->tree->count + 1, sizeof *calls->wide_row_of_node));
    for (node_id n = 0; n < count; n++)
        calls->wide_row_of_node[n] =
            calls->row_of_node[n] == ROW_NONE_NARROW ? ROW_NONE : calls->row_of_node[n];
    free(calls->row_of_node);
    calls->row_of_node = NULL;
}
