/* links.c - see links.h. Operators with a number are written down once per thread and number, and sorted. */
#include "whatif/links.h"

#include "base/memory.h"
#include "base/rows.h"
#include "base/runs.h"
#include <stdlib.h>
#include <string.h>

struct numbered {
    uint32_t process, thread;
    int64_t number; /* twice the Sequence number, plus 1 for a backward operator */
};

struct numbered_list {
    VEC_OF(struct numbered);
};

/* New, by name: does it begin as autograd names what it evaluates? */
static bool *find_evaluations(const struct names *names)
{
    static const char prefix[] = "autograd::engine::evaluate_function";
    bool *is_evaluation = mem_zalloc(names_count(names) + 1, sizeof *is_evaluation);
    for (name_id id = 0; id < names_count(names); id++)
        is_evaluation[id] = strncmp(names_text(names, id), prefix, sizeof prefix - 1) == 0;
    return is_evaluation;
}

static void collect(const struct replay_graph *graph, struct numbered_list *list)
{
    const struct trace *trace = graph->trace;
    bool *is_evaluation = find_evaluations(trace->names);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t thread = graph->thread_of_track[trace->track[e]];
        int64_t number, forward;
        if (trace->kind[e] != EVENT_OP || thread == UINT32_MAX ||
            !trace_arg(trace, ARG_SEQUENCE, e, &number) || number < 0 || number > INT64_MAX / 4)
            continue;
        bool backward =
            is_evaluation[trace->name[e]] || (trace_arg(trace, ARG_FWD_THREAD, e, &forward) && forward != 0);
        struct numbered one = { graph->threads[thread].process, thread, 2 * number + backward };
        const struct numbered *last = list->count ? &list->at[list->count - 1] : NULL;
        if (!last || last->thread != thread || last->number != one.number)
            *VEC_PUSH(list) = one;
    }
    free(is_evaluation);
}

static bool numbered_is_after(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct numbered *a = left, *b = right;
    if (a->process != b->process)
        return a->process > b->process;
    if (a->number != b->number)
        return a->number > b->number;
    return a->thread > b->thread;
}

static const struct key by_thread_other[] = { ASC(struct thread_link, thread), ASC(struct thread_link, other),
                                              KEY_END };

static void add_links(struct thread_links *links, uint32_t a, uint32_t b)
{
    if (a == b || (links->count > 0 && links->at[links->count - 1].thread == b &&
                   links->at[links->count - 1].other == a))
        return;
    *VEC_PUSH(links) = (struct thread_link){ a, b };
    *VEC_PUSH(links) = (struct thread_link){ b, a };
}

/* The threads of one number: forwards in [first, middle), backwards in [middle, end). */
static void link_number(struct thread_links *links, const struct numbered *at, size_t first, size_t middle,
                        size_t end)
{
    size_t most_forward = middle - first > MOST_LINKS_OF_A_THREAD ? MOST_LINKS_OF_A_THREAD : middle - first;
    size_t most_backward = end - middle > MOST_LINKS_OF_A_THREAD ? MOST_LINKS_OF_A_THREAD : end - middle;
    for (size_t i = 0; i < most_forward; i++)
        for (size_t k = 0; k < most_backward; k++)
            add_links(links, at[first + i].thread, at[middle + k].thread);
}

/* Each pair once, and of each thread no more than the most. */
static void drop_repeats(struct thread_links *links)
{
    SORT(links, by_thread_other);
    size_t kept = 0, of_thread = 0;
    for (size_t i = 0; i < links->count; i++) {
        struct thread_link link = links->at[i];
        if (kept && links->at[kept - 1].thread == link.thread && links->at[kept - 1].other == link.other)
            continue;
        of_thread = kept && links->at[kept - 1].thread == link.thread ? of_thread + 1 : 0;
        if (of_thread < MOST_LINKS_OF_A_THREAD)
            links->at[kept++] = link;
    }
    links->count = kept;
}

/* Sort what was numbered, each thread once for a number. */
static void sort_numbered(struct numbered_list *list)
{
    runs_sort(list->at, list->count, sizeof *list->at, numbered_is_after, NULL);
    size_t kept = 0;
    for (size_t i = 0; i < list->count; i++)
        if (kept == 0 || numbered_is_after(NULL, &list->at[i], &list->at[kept - 1]))
            list->at[kept++] = list->at[i];
    list->count = kept;
}

static bool same_sequence(const struct numbered *a, const struct numbered *b)
{
    return a->process == b->process && a->number / 2 == b->number / 2;
}

struct thread_links *thread_links_open(const struct replay_graph *graph)
{
    struct thread_links *links = mem_zalloc(1, sizeof *links);
    struct numbered_list list = { 0 };
    collect(graph, &list);
    sort_numbered(&list);
    for (size_t first = 0, middle, end; first < list.count; first = end) {
        for (middle = first; middle < list.count && same_sequence(&list.at[first], &list.at[middle]) &&
                             list.at[middle].number % 2 == 0;)
            middle++;
        for (end = middle; end < list.count && same_sequence(&list.at[first], &list.at[end]);)
            end++;
        link_number(links, list.at, first, middle, end);
    }
    VEC_FREE(&list);
    drop_repeats(links);
    return links;
}

void thread_links_free(struct thread_links *links)
{
    if (links)
        VEC_FREE(links);
    free(links);
}
