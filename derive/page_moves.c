#include "derive/page_moves.h"

#include "trace/call_names.h"
#include "trace/derived.h"

static void *page_moves_derive(const struct trace *trace)
{
    struct page_moves *moves = arena_open(sizeof *moves);
    moves->by_host = arena_vectors(arena_of(moves), trace->file_count + 1, sizeof *moves->by_host);
    moves->by_kernels = arena_vectors(arena_of(moves), trace->file_count + 1, sizeof *moves->by_kernels);
    bool *are_pages = mem_zalloc(names_count(trace->names) + 1, sizeof *are_pages), any = false;
    for (name_id id = 0; id < names_count(trace->names); id++)
        any |= are_pages[id] = work_moves_pages(names_text(trace->names, id));
    for (uint32_t f = 0; any && f < trace->file_count; f++) {
        SCOPED_BY(intervals_release) struct intervals pages = { 0 }, kernels = { 0 };
        const struct trace_file *file = &trace->files[f];
        for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
            if (trace->kind[e] == EVENT_KERNEL)
                intervals_add(&kernels, trace_start_ns(trace, e), trace_end_ns(trace, e));
            else if (trace->kind[e] == EVENT_MEMCPY && are_pages[trace->name[e]])
                intervals_add(&pages, trace_start_ns(trace, e), trace_end_ns(trace, e));
        intervals_merge(&pages);
        intervals_merge(&kernels);
        intervals_subtract(&pages, &kernels, &moves->by_host[f]);
        intervals_intersect(&pages, &kernels, &moves->by_kernels[f]);
    }
    free(are_pages);
    return moves;
}

DERIVED(page_moves, page_moves_of, page_moves_derive);
