/* torch's C++ half replays the starts of a thread with a stack (torch/csrc/profiler/collection.cpp, build_tree): an
 * event that ended before the next one starts is popped, with all above it. A region without an end stays on it until
 * the event around it is popped, and gets that event's end. */
#include "derive/async_regions.h"

#include "base/rows.h"
#include "trace/calltree.h"
#include "trace/derived.h"
#include "trace/span.h"

bool is_async_by_name(const char *name)
{
    static const char *const prefixes[] = { "nccl:", "gloo:", "ucc:", "mpi:", "xccl:", "hccl:", "rccl:" };
    return ANY(i, sizeof prefixes / sizeof *prefixes, strncmp(name, prefixes[i], strlen(prefixes[i])) == 0);
}

static const struct trace_file *async_regions_file_of(const struct trace *trace, event_id e)
{
    return &trace->files[trace->tracks[trace->track[e]].file];
}

bool region_was_open(const struct trace *trace, event_id e)
{
    const struct trace_file *file = async_regions_file_of(trace, e);
    return trace->flags[e] & EVENT_UNFINISHED ||
           (file->has_window && trace_start_ns(trace, e) <= file->window_end_ns &&
            trace_end_ns(trace, e) > file->window_end_ns);
}

static bool async_regions_is_region(const struct trace *trace, event_id e)
{
    return (trace->kind[e] == EVENT_OP || trace->kind[e] == EVENT_ANNOTATION) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) &&
           async_regions_file_of(trace, e)->producer == PRODUCER_KINETO;
}

/* The entries of torch's stacks. */
static bool async_regions_takes_part(const void *context, event_id e)
{
    const struct trace *trace = context;
    bool is_frame = trace->kind[e] == EVENT_PYTHON && !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
    return async_regions_is_region(trace, e) || is_frame;
}

/* Without an enclosing event: at the end of the window, if recorded. */
static int64_t end_of_window(const struct trace *trace, event_id e)
{
    const struct trace_file *file = async_regions_file_of(trace, e);
    int64_t end_ns = trace_end_ns(trace, e);
    if (!file->has_window || end_ns <= file->window_end_ns)
        return end_ns;
    return file->window_end_ns > trace_start_ns(trace, e) ? file->window_end_ns : trace_start_ns(trace, e);
}

/* An event that is on the stack. */
struct frame {
    int64_t end_ns;
    int64_t least_ns; /* minimum of its own end and those below it */
};

/* The regions of a thread that were open at the end. */
static void end_regions(struct open_regions *regions, const struct calltree *tree,
                        const struct calltree_thread *thread)
{
    const struct trace *trace = tree->trace;
    SCOPED VEC_OF(struct frame) stack = { 0 };
    for (node_id n = thread->first; n < thread->first + thread->count; n++) {
        event_id e = tree->event[n];
        while (stack.count && stack.at[stack.count - 1].least_ns < trace_start_ns(trace, e))
            stack.count--;
        const struct frame *around = stack.count ? &stack.at[stack.count - 1] : NULL;
        if (async_regions_is_region(trace, e) && region_was_open(trace, e)) {
            int64_t end_ns = around ? around->end_ns : end_of_window(trace, e);
            *VEC_PUSH(regions) = (struct open_region){ e, end_ns };
        } else if (trace_dur_ns(trace, e) > 0) {
            int64_t end_ns = trace_end_ns(trace, e);
            int64_t least_ns = around && around->least_ns < end_ns ? around->least_ns : end_ns;
            *VEC_PUSH(&stack) = (struct frame){ end_ns, least_ns };
        }
    }
}

static const struct key by_regions[] = { ASC(struct open_region, event), KEY_END };

/* From the first end of a window to the last: what was open then was open when recording stopped. */
static struct interval ends_of_windows(const struct trace *trace)
{
    struct interval ends = { INT64_MAX, INT64_MIN };
    for (size_t f = 0; f < trace->file_count; f++) {
        int64_t end_ns = trace->files[f].window_end_ns;
        if (!trace->files[f].has_window)
            continue;
        ends.start_ns = end_ns < ends.start_ns ? end_ns : ends.start_ns;
        ends.end_ns = end_ns > ends.end_ns ? end_ns : ends.end_ns;
    }
    return ends;
}

/* May any of the events of BLOCK (trace/span.h), from FIRST up to END, have been open when recording stopped? */
static bool may_hold_open(const struct trace *trace, size_t block, event_id first, event_id end,
                          const struct interval *window_ends)
{
    struct interval span = trace_block_span(trace, block);
    unsigned flags = 0;
    for (event_id e = first; e < end; e++)
        flags |= trace->flags[e];
    return flags & EVENT_UNFINISHED ||
           (span.start_ns <= window_ends->end_ns && span.end_ns > window_ends->start_ns);
}

/* Was any region open when recording stopped? */
static bool any_was_open(const struct trace *trace)
{
    struct interval window_ends = ends_of_windows(trace);
    for (size_t first = 0; first < trace->event_count; first += TRACE_BLOCK) {
        size_t end = trace->event_count - first < TRACE_BLOCK ? trace->event_count : first + TRACE_BLOCK;
        if (!may_hold_open(trace, first / TRACE_BLOCK, (event_id)first, (event_id)end, &window_ends))
            continue;
        if (ANY_FROM(e, (event_id)first, end, async_regions_is_region(trace, e) && region_was_open(trace, e)))
            return true;
    }
    return false;
}

static void *async_regions_derive(const struct trace *trace)
{
    struct open_regions *regions = arena_open(sizeof *regions);
    ARENA_OWNS(arena_of(regions), &regions->at);
    struct calltree *tree =
        any_was_open(trace) ? calltree_open(trace, async_regions_takes_part, trace) : NULL;
    for (size_t t = 0; tree && t < tree->thread_count; t++)
        end_regions(regions, tree, &tree->threads[t]);
    arena_free(tree);
    if (regions->count)
        SORT(regions, by_regions);
    return regions;
}

DERIVED(open_regions, open_regions_of, async_regions_derive);

int64_t region_end_ns(const struct trace *trace, const struct open_regions *regions, event_id e)
{
    const struct open_region key = { e, 0 };
    const struct open_region *found =
        regions->count ? rows_find(regions->at, regions->count, sizeof key, by_regions, &key) : NULL;
    return found ? found->end_ns : trace_end_ns(trace, e);
}
