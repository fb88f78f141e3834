/* step_list.c - see step_list.h. */
#include "facts/step_list.h"

#include "base/memory.h"
#include "base/quantity.h"
#include "trace/derived.h"
#include <stdlib.h>
#include <string.h>

int64_t step_list_end_ns(const struct step_list *steps, size_t index)
{
    const struct step *step = &steps->at[index], *next = step + 1;
    bool overlap = index + 1 < steps->count && next->file == step->file && next->start_ns < step->end_ns;
    return overlap ? next->start_ns : step->end_ns;
}

bool step_number(const char *name, int64_t *number)
{
    static const char prefix[] = "ProfilerStep#";
    if (strncmp(name, prefix, sizeof prefix - 1) != 0)
        return false;
    const char *digits = name + sizeof prefix - 1;
    return *digits != '-' && quantity_parse_integer(digits, strlen(digits), number);
}

static int compare_steps(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

struct step_list *step_list_open(const struct trace *trace)
{
    struct step_list *steps = mem_zalloc(1, sizeof *steps);
    size_t name_count = names_count(trace->names);
    int64_t *numbers = mem_alloc((name_count + 1) * sizeof *numbers);
    for (name_id id = 0; id < name_count; id++)
        if (!step_number(names_text(trace->names, id), &numbers[id]))
            numbers[id] = INT64_MIN;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (numbers[trace->name[e]] == INT64_MIN || event_on_device(trace->kind[e]))
            continue;
        *VEC_PUSH(steps) = (struct step){ trace->tracks[trace->track[e]].file, numbers[trace->name[e]],
                                          trace->start_ns[e], trace_end_ns(trace, e), e };
    }
    free(numbers);
    if (steps->count)
        qsort(steps->at, steps->count, sizeof *steps->at, compare_steps);
    return steps;
}

static int compare_longest_first(const void *left, const void *right)
{
    const struct step *a = left, *b = right;
    if (a->file != b->file)
        return a->file < b->file ? -1 : 1;
    if (a->start_ns != b->start_ns)
        return a->start_ns < b->start_ns ? -1 : 1;
    if (a->end_ns != b->end_ns)
        return a->end_ns > b->end_ns ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

size_t step_list_drop_overlaps(struct step_list *steps)
{
    if (steps->count)
        qsort(steps->at, steps->count, sizeof *steps->at, compare_longest_first);
    size_t kept = 0;
    for (size_t i = 0; i < steps->count; i++)
        if (kept == 0 || steps->at[kept - 1].file != steps->at[i].file ||
            steps->at[kept - 1].end_ns <= steps->at[i].start_ns)
            steps->at[kept++] = steps->at[i];
    size_t dropped = steps->count - kept;
    steps->count = kept;
    return dropped;
}

void step_list_free(struct step_list *steps)
{
    if (steps)
        VEC_FREE(steps);
    free(steps);
}

static void *derive(const struct trace *trace)
{
    return step_list_open(trace);
}

static void release(void *steps)
{
    step_list_free(steps);
}

const struct step_list *step_list_of(const struct trace *trace)
{
    static const struct derivation derivation = { derive, release };
    return trace_derive(trace, &derivation);
}

const struct step *step_list_at(const struct step_list *steps, uint32_t file, int64_t moment_ns)
{
    size_t low = 0, high = steps->count; /* the last that starts at or before the moment */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        const struct step *step = &steps->at[middle];
        if (step->file < file || (step->file == file && step->start_ns <= moment_ns))
            low = middle + 1;
        else
            high = middle;
    }
    if (low == 0)
        return NULL;
    const struct step *step = &steps->at[low - 1];
    return step->file == file && moment_ns < step->end_ns ? step : NULL;
}
