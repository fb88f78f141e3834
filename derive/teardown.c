#include "derive/teardown.h"

#include "base/search.h"
#include "derive/step_list.h"
#include "trace/calltree.h"
#include "trace/derived.h"
#include <ctype.h>

bool teardown_releases(const char *name)
{
    static const char *const words[] = { "Delete",  "Destroy", "Free",     "Finalize",
                                         "Release", "Unload",  "Shutdown", "__del__" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        for (const char *at = name; (at = strcasestr(at, words[i])); at++) {
            bool begins = at == name || isupper((unsigned char)*at) || !isalpha((unsigned char)at[-1]),
                 ends = !islower((unsigned char)at[strlen(words[i])]);
            if (begins && ends)
                return true;
        }
    return false;
}

/* When the last event of FILE begins that releases nothing. */
static int64_t last_begin_ns(const struct trace *trace, const struct trace_file *file, const bool *releases)
{
    int64_t last_ns = INT64_MIN;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
        if (!(trace->flags[e] & EVENT_POINT) && !releases[trace->name[e]] &&
            trace_start_ns(trace, e) > last_ns)
            last_ns = trace_start_ns(trace, e);
    return last_ns;
}

/* A calltree_takes: every range of a host thread. */
static bool is_on_host(const void *context, event_id e)
{
    const struct trace *trace = context;
    return !event_on_device((enum event_kind)trace->kind[e]) &&
           !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC));
}

/* Take from each call what it calls itself. */
static void find_own_times(const struct trace *trace, struct teardown *teardown)
{
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, is_on_host, trace);
    calltree_nest(tree);
    SCOPED node_id *nodes = calltree_nodes(tree);
    SCOPED int64_t *called_ns = mem_zalloc(tree->count + 1, sizeof *called_ns);
    for (node_id n = 0; n < tree->count; n++)
        if (tree->parent[n] != NODE_NONE)
            called_ns[tree->parent[n]] += trace_dur_ns(trace, tree->event[n]);
    for (size_t i = 0; i < teardown->count; i++)
        if (nodes[teardown->at[i].call] != NODE_NONE)
            teardown->at[i].own_ns -= called_ns[nodes[teardown->at[i].call]];
}

static void *teardown_derive(const struct trace *trace)
{
    struct teardown *teardown = arena_open(sizeof *teardown);
    ARENA_OWNS(arena_of(teardown), &teardown->at);
    bool *releases = mem_zalloc(names_count(trace->names) + 1, sizeof *releases), any = false;
    for (name_id id = 0; id < names_count(trace->names); id++)
        any |= releases[id] = teardown_releases(names_text(trace->names, id));
    for (uint32_t f = 0; any && f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        int64_t last_ns = last_begin_ns(trace, file, releases);
        for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
            if (releases[trace->name[e]] && is_on_host(trace, e) && trace_start_ns(trace, e) > last_ns &&
                !step_list_at(step_list_of(trace), f, trace_start_ns(trace, e)))
                *VEC_PUSH(teardown) = (struct teardown_call){ e, trace_dur_ns(trace, e) };
    }
    free(releases);
    if (teardown->count)
        find_own_times(trace, teardown);
    return teardown;
}

bool teardown_holds(const struct teardown *teardown, event_id call)
{
    size_t i = PLACE(k, teardown->count, teardown->at[k].call < call);
    return i < teardown->count && teardown->at[i].call == call;
}

DERIVED(teardown, teardown_of, teardown_derive);
