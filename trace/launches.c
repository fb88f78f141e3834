/*
 * launches.c - see launches.h.
 *
 * Correlations and ids are numbers that count up, so a file has a table for each, indexed by number in two
 * steps: pages of numbers, of which those exist that hold any. A file whose numbers are scattered gets sorted
 * pairs instead, so that memory stays bounded by the events.
 */
#include "trace/launches.h"

#include "base/memory.h"
#include "trace/arg_scan.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

struct numbered_event {
    int64_t number;
    event_id event;
};

enum { PAGE_BITS = 10, PAGE_SIZE = 1 << PAGE_BITS };

/* Number -> event. The first event with a number has it. */
struct number_table {
    int64_t least, greatest;
    event_id *events; /* in order of the file */
    size_t count, capacity;
    uint32_t *page_of;             /* by (number - least) / PAGE_SIZE: 1 + its place in `slots`, 0 for none */
    uint32_t *slots;               /* page after page: position in `events` + 1, 0 for none */
    struct numbered_event *sorted; /* instead of pages: numbers and positions in `events` */
};

/* What is known of one file. */
struct file_launches {
    enum launch_links links;
    int generation;
    struct number_table calls;     /* by correlation */
    struct number_table operators; /* by External id */
    event_id *operator_of;         /* LINKS_BY_NESTING: by position in calls.events */
    uint64_t shared_calls;         /* whose number a call of another process had before */
};

struct launches {
    const struct trace *trace;
    struct file_launches *files;
};

static void number_table_add(struct number_table *table, int64_t number, event_id e)
{
    if (table->count == 0 || number < table->least)
        table->least = number;
    if (table->count == 0 || number > table->greatest)
        table->greatest = number;
    if (table->count == table->capacity)
        table->events = vec_grow(table->events, &table->capacity, table->count + 1, sizeof *table->events);
    table->events[table->count++] = e;
}

static int compare_numbers(const void *left, const void *right)
{
    const struct numbered_event *a = left, *b = right;
    if (a->number != b->number)
        return a->number < b->number ? -1 : 1;
    return a->event < b->event ? -1 : a->event > b->event;
}

static size_t page_at(const struct number_table *table, int64_t number)
{
    return (size_t)(((uint64_t)number - (uint64_t)table->least) >> PAGE_BITS);
}

/* Give each page that holds a number its place; false when there would be too many for what they hold. */
static bool make_pages(struct number_table *table, const int64_t *numbers)
{
    uint64_t range = (uint64_t)table->greatest - (uint64_t)table->least;
    uint32_t pages = 0;
    if (range >> PAGE_BITS > table->count + 1024)
        return false;
    table->page_of = mem_zalloc((size_t)(range >> PAGE_BITS) + 1, sizeof *table->page_of);
    for (size_t i = 0; i < table->count; i++) {
        uint32_t *page = &table->page_of[page_at(table, numbers[i])];
        if (*page == 0)
            *page = ++pages;
    }
    if ((uint64_t)pages * PAGE_SIZE > 16 * (uint64_t)table->count + 64 * PAGE_SIZE) {
        free(table->page_of);
        table->page_of = NULL;
        return false;
    }
    table->slots = mem_zalloc((size_t)pages * PAGE_SIZE, sizeof *table->slots);
    return true;
}

static uint32_t *slot_of(const struct number_table *table, int64_t number)
{
    uint32_t page = table->page_of[page_at(table, number)];
    size_t within = (size_t)((uint64_t)number - (uint64_t)table->least) % PAGE_SIZE;
    return page ? &table->slots[(size_t)(page - 1) * PAGE_SIZE + within] : NULL;
}

/* Make the table answer, once all events are added; ARG is what they are numbered by. */
static void number_table_build(struct number_table *table, const struct trace *trace, enum trace_arg arg)
{
    if (table->count == 0)
        return;
    int64_t *numbers = mem_zalloc(table->count, sizeof *numbers);
    struct arg_scan scan = arg_scan_of(trace, arg);
    for (size_t i = 0; i < table->count; i++)
        arg_scan_get(&scan, table->events[i], &numbers[i]);
    if (make_pages(table, numbers)) {
        for (size_t i = 0; i < table->count; i++) {
            uint32_t *slot = slot_of(table, numbers[i]);
            if (*slot == 0)
                *slot = (uint32_t)(i + 1);
        }
    } else {
        table->sorted = mem_alloc(table->count * sizeof *table->sorted);
        for (size_t i = 0; i < table->count; i++)
            table->sorted[i] = (struct numbered_event){ numbers[i], (event_id)i };
        qsort(table->sorted, table->count, sizeof *table->sorted, compare_numbers);
    }
    free(numbers);
}

/* Position in table->events, or -1. */
static int64_t number_table_find(const struct number_table *table, int64_t number)
{
    if (table->count == 0 || number < table->least || number > table->greatest)
        return -1;
    if (table->page_of) {
        const uint32_t *slot = slot_of(table, number);
        return slot ? (int64_t)*slot - 1 : -1;
    }
    size_t low = 0, high = table->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (table->sorted[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    return low < table->count && table->sorted[low].number == number ? (int64_t)table->sorted[low].event : -1;
}

static void number_table_release(struct number_table *table)
{
    free(table->page_of);
    free(table->slots);
    free(table->sorted);
    free(table->events);
    *table = (struct number_table){ 0 };
}

/* Calls that are not found by their number, because one of another process has it. */
static uint64_t count_shared(const struct number_table *table, const struct trace *trace)
{
    struct arg_scan scan = arg_scan_of(trace, ARG_CORRELATION);
    uint64_t shared = 0;
    for (size_t i = 0; i < table->count; i++) {
        int64_t number = 0;
        arg_scan_get(&scan, table->events[i], &number);
        int64_t first = number_table_find(table, number);
        if (first < 0 || (size_t)first == i)
            continue;
        const struct track *own = &trace->tracks[trace->track[table->events[i]]];
        const struct track *other = &trace->tracks[trace->track[table->events[first]]];
        shared += own->pid != other->pid || own->pid_text != other->pid_text;
    }
    return shared;
}

/* Do calls of more than one process stand in the file? Numbers are one process's own. */
static bool has_several_processes(const struct trace *trace, const struct number_table *calls)
{
    for (size_t i = 1; i < calls->count; i++) {
        track_id track = trace->track[calls->events[i]], before = trace->track[calls->events[i - 1]];
        if (track != before && (trace->tracks[track].pid != trace->tracks[before].pid ||
                                trace->tracks[track].pid_text != trace->tracks[before].pid_text))
            return true;
    }
    return false;
}

/* ---- operators by nesting ---- */

struct nesting {
    const struct launches *launches;
    bool *operators_only; /* by file: only EVENT_OP can own a call */
};

static bool can_own(const struct nesting *nesting, uint32_t file, event_id e)
{
    const struct trace *trace = nesting->launches->trace;
    enum event_kind kind = trace->kind[e];
    if (kind == EVENT_OP)
        return true;
    if (nesting->operators_only[file] || trace->flags[e] & (EVENT_ASYNC | EVENT_POINT))
        return false;
    return kind == EVENT_ANNOTATION || kind == EVENT_PYTHON || kind == EVENT_OTHER;
}

static bool takes_part_in_nesting(const void *context, event_id e)
{
    const struct nesting *nesting = context;
    const struct trace *trace = nesting->launches->trace;
    uint32_t file = trace->tracks[trace->track[e]].file;
    if (!nesting->launches->files[file].operator_of)
        return false;
    return event_is_call(trace->kind[e]) || can_own(nesting, file, e);
}

static void link_call(struct file_launches *file, const struct trace *trace, event_id call, event_id owner)
{
    int64_t correlation;
    if (!trace_arg(trace, ARG_CORRELATION, call, &correlation))
        return;
    int64_t at = number_table_find(&file->calls, correlation);
    if (at >= 0 && file->calls.events[at] == call)
        file->operator_of[at] = owner;
}

/*
 * Walk one thread with a stack of open operators. A call belongs to the operator that began last, at the
 * call's own start or before it, and has not ended before that. Of events that begin at one moment the
 * operators come first: in files of microseconds many do.
 */
static void link_thread(struct file_launches *file, const struct calltree *tree,
                        const struct calltree_thread *thread)
{
    const struct trace *trace = tree->trace;
    VEC_OF(event_id) open = { 0 };
    node_id end = thread->first + thread->count;
    for (node_id first = thread->first, next; first < end; first = next) {
        int64_t start_ns = trace->start_ns[tree->event[first]];
        for (next = first; next < end && trace->start_ns[tree->event[next]] == start_ns; next++)
            if (!event_is_call(trace->kind[tree->event[next]]))
                *VEC_PUSH(&open) = tree->event[next];
        while (open.count && trace_end_ns(trace, open.at[open.count - 1]) < start_ns)
            open.count--;
        for (node_id n = first; open.count && n < next; n++)
            if (event_is_call(trace->kind[tree->event[n]]))
                link_call(file, trace, tree->event[n], open.at[open.count - 1]);
    }
    VEC_FREE(&open);
}

static void link_by_nesting(struct launches *launches)
{
    const struct trace *trace = launches->trace;
    struct nesting nesting = { launches, mem_zalloc(trace->file_count + 1, sizeof(bool)) };
    bool any = false;
    for (uint32_t i = 0; i < trace->file_count; i++) {
        struct file_launches *file = &launches->files[i];
        nesting.operators_only[i] = trace->files[i].producer == PRODUCER_KINETO;
        if (file->links != LINKS_BY_NESTING || file->calls.count == 0)
            continue;
        file->operator_of = mem_alloc(file->calls.count * sizeof *file->operator_of);
        memset(file->operator_of, 0xff, file->calls.count * sizeof *file->operator_of);
        any = true;
    }
    struct calltree *tree = any ? calltree_open(trace, takes_part_in_nesting, &nesting) : NULL;
    for (size_t t = 0; tree && t < tree->thread_count; t++)
        link_thread(&launches->files[trace->tracks[tree->threads[t].track].file], tree, &tree->threads[t]);
    calltree_free(tree);
    free(nesting.operators_only);
}

/* ---- opening ---- */

/* What the ids of calls and GPU work look like in one file. */
struct id_census {
    uint64_t equal, different, absent; /* to the event's own correlation; no External id */
    bool short_words;                  /* categories are spelled as in 2021: "Runtime", not "cuda_runtime" */
};

static void settle_generation(struct file_launches *file, const struct id_census *census)
{
    if (census->different) {
        file->links = LINKS_BY_ID;
        file->generation = census->short_words ? 1 : census->absent ? 4 : 3;
    } else {
        file->links = LINKS_BY_NESTING;
        file->generation = census->equal ? 2 : 0;
    }
}

struct launches *launches_open(const struct trace *trace)
{
    struct launches *launches = mem_zalloc(1, sizeof *launches);
    launches->trace = trace;
    launches->files = mem_zalloc(trace->file_count + 1, sizeof *launches->files);
    struct id_census *census = mem_zalloc(trace->file_count + 1, sizeof *census);
    bool *short_words = mem_zalloc(trace->category_count + 1, sizeof *short_words);
    for (size_t i = 0; i < trace->category_count; i++)
        short_words[i] = strcasecmp(names_text(trace->texts, trace->categories[i].text), "runtime") == 0;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    for (event_id e = 0; e < trace->event_count; e++) {
        enum event_kind kind = trace->kind[e];
        uint32_t index = trace->tracks[trace->track[e]].file;
        struct file_launches *file = &launches->files[index];
        int64_t id = 0, correlation = 0;
        if (event_is_call(kind) || event_is_launched(kind)) {
            bool has_id = arg_scan_get(&ids, e, &id);
            bool has_correlation = arg_scan_get(&correlations, e, &correlation);
            census[index].short_words |= short_words[trace->category[e]];
            if (!has_id)
                census[index].absent++;
            else if (has_correlation && id == correlation)
                census[index].equal++;
            else
                census[index].different++;
            if (has_correlation && event_is_call(kind))
                number_table_add(&file->calls, correlation, e);
        } else if ((kind == EVENT_OP || kind == EVENT_ANNOTATION) && arg_scan_get(&ids, e, &id)) {
            number_table_add(&file->operators, id, e);
        }
    }
    for (uint32_t i = 0; i < trace->file_count; i++) {
        number_table_build(&launches->files[i].calls, trace, ARG_CORRELATION);
        settle_generation(&launches->files[i], &census[i]);
        if (has_several_processes(trace, &launches->files[i].calls))
            launches->files[i].shared_calls = count_shared(&launches->files[i].calls, trace);
        if (launches->files[i].links == LINKS_BY_ID)
            number_table_build(&launches->files[i].operators, trace, ARG_EXTERNAL_ID);
        else
            number_table_release(&launches->files[i].operators);
    }
    free(census);
    free(short_words);
    link_by_nesting(launches);
    return launches;
}

void launches_free(struct launches *launches)
{
    if (!launches)
        return;
    for (uint32_t i = 0; i < launches->trace->file_count; i++) {
        number_table_release(&launches->files[i].calls);
        number_table_release(&launches->files[i].operators);
        free(launches->files[i].operator_of);
    }
    free(launches->files);
    free(launches);
}

/* ---- answering ---- */

enum launch_links launches_links(const struct launches *launches, uint32_t file)
{
    return launches->files[file].links;
}

int launches_generation(const struct launches *launches, uint32_t file)
{
    return launches->files[file].generation;
}

uint64_t launches_shared_calls(const struct launches *launches, uint32_t file)
{
    return launches->files[file].shared_calls;
}

static const struct file_launches *file_of(const struct launches *launches, event_id e)
{
    const struct trace *trace = launches->trace;
    return &launches->files[trace->file_count == 1 ? 0 : trace->tracks[trace->track[e]].file];
}

event_id launches_call(const struct launches *launches, event_id e)
{
    const struct file_launches *file = file_of(launches, e);
    int64_t correlation;
    if (!trace_arg(launches->trace, ARG_CORRELATION, e, &correlation))
        return EVENT_NONE;
    int64_t at = number_table_find(&file->calls, correlation);
    return at < 0 ? EVENT_NONE : file->calls.events[at];
}

struct launch_link launches_link(const struct launches *launches, event_id e, const int64_t *external_id,
                                 const int64_t *correlation)
{
    const struct file_launches *file = file_of(launches, e);
    struct launch_link link = { false, EVENT_NONE, 0 };
    if (file->links == LINKS_BY_ID) {
        bool own_number = correlation && external_id && *external_id == *correlation;
        if (!external_id || *external_id == 0 || (own_number && file->generation != 1))
            return link;
        int64_t at = number_table_find(&file->operators, *external_id);
        link.linked = true;
        link.id = *external_id;
        link.operator= at<0 ? EVENT_NONE : file->operators.events[at];
    } else if (correlation && file->operator_of) {
        int64_t at = number_table_find(&file->calls, *correlation);
        link.operator= at<0 ? EVENT_NONE : file->operator_of[at];
        link.linked = link.operator!= EVENT_NONE;
        if (link.linked)
            link.id = trace_arg_or(launches->trace, ARG_EXTERNAL_ID, link.operator, 0);
    }
    return link;
}

event_id launches_operator(const struct launches *launches, event_id e)
{
    int64_t id, correlation;
    bool has_id = trace_arg(launches->trace, ARG_EXTERNAL_ID, e, &id);
    bool has_correlation = trace_arg(launches->trace, ARG_CORRELATION, e, &correlation);
    return launches_link(launches, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL).operator;
}

bool launches_is_graph_launch(const char *call_name)
{
    return strstr(call_name, "GraphLaunch") != NULL;
}
