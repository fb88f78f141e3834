/* attribution.c - see attribution.h. */
#include "derive/attribution.h"

#include "derive/attribution_processes.h"
#include "base/memory.h"
#include "trace/arg_scan.h"
#include "trace/builder.h"
#include "trace/derived.h"
#include <stdlib.h>
#include <string.h>
#include <strings.h>

/* ---- operators by nesting ---- */

/* Which threads' calls are linked by nesting. */
enum nests { NESTS_NOT, NESTS_IN_OPERATORS, NESTS_IN_ALL };

struct nesting {
    const struct trace *trace;
    uint8_t *nests; /* by track: enum nests */
};

static bool takes_part_in_nesting(const void *context, event_id e)
{
    const struct nesting *nesting = context;
    const struct trace *trace = nesting->trace;
    enum event_kind kind = trace->kind[e];
    enum nests nests = (enum nests)nesting->nests[trace->track[e]];
    if (event_is_call(kind) || kind == EVENT_OP)
        return nests != NESTS_NOT;
    return nests == NESTS_IN_ALL && !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT)) &&
           (kind == EVENT_ANNOTATION || kind == EVENT_PYTHON || kind == EVENT_OTHER);
}

static void link_call(struct process_calls *process, struct arg_scan *correlations, event_id call,
                      event_id owner)
{
    int64_t correlation;
    if (!arg_scan_get(correlations, call, &correlation))
        return;
    int64_t at = number_table_find(&process->calls, correlation);
    if (at >= 0 && process->calls.events[at] == call)
        process->operator_of[at] = owner;
}

/*
 * Walk one thread with a stack of open operators. A call belongs to the operator that began last, at the
 * call's own start or before it, and has not ended before that. Of events with equal starts, which are common in files
 * with microseconds, operators come first.
 */
static void link_thread(struct process_calls *process, const struct calltree *tree,
                        const struct calltree_thread *thread)
{
    const struct trace *trace = tree->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    VEC_OF(event_id) open = { 0 };
    node_id end = thread->first + thread->count;
    for (node_id first = thread->first, next; first < end; first = next) {
        int64_t start_ns = trace_start_ns(trace, tree->event[first]);
        for (next = first; next < end && trace_start_ns(trace, tree->event[next]) == start_ns; next++)
            if (!event_is_call(trace->kind[tree->event[next]]))
                *VEC_PUSH(&open) = tree->event[next];
        while (open.count && trace_end_ns(trace, open.at[open.count - 1]) < start_ns)
            open.count--;
        for (node_id n = first; open.count && n < next; n++)
            if (event_is_call(trace->kind[tree->event[n]]))
                link_call(process, &correlations, tree->event[n], open.at[open.count - 1]);
    }
    VEC_FREE(&open);
}

static void link_by_nesting(struct attribution *launches)
{
    const struct trace *trace = launches->trace;
    struct nesting nesting = { trace, mem_zalloc(trace->track_count + 1, 1) };
    bool any = false;
    for (uint32_t i = 0; i < trace->file_count; i++) {
        struct file_launches *file = &launches->files[i];
        for (size_t p = 0; file->links == LINKS_BY_NESTING && p < file->process_count; p++) {
            struct process_calls *process = &launches->processes[file->first_process + p];
            if (process->calls.count == 0)
                continue;
            process->operator_of = mem_alloc(mem_times(process->calls.count, sizeof *process->operator_of));
            memset(process->operator_of, 0xff, process->calls.count * sizeof *process->operator_of);
            any = true;
        }
    }
    for (track_id t = 0; t < trace->track_count; t++)
        if (launches->processes[launches->process_of[t]].operator_of)
            nesting.nests[t] = trace->files[trace->tracks[t].file].producer == PRODUCER_KINETO
                                   ? NESTS_IN_OPERATORS
                                   : NESTS_IN_ALL;
    struct calltree *tree = any ? calltree_open(trace, takes_part_in_nesting, &nesting) : NULL;
    for (size_t t = 0; tree && t < tree->thread_count; t++)
        link_thread(&launches->processes[launches->process_of[tree->threads[t].track]], tree,
                    &tree->threads[t]);
    calltree_free(tree);
    free(nesting.nests);
}

/* ---- opening ---- */

/* Statistics of the ids of calls and GPU work in one file. */
struct id_census {
    bool has_equal, has_different; /* ids to the event's own correlation */
    bool calls_lack_ids;           /* some do */
    bool short_words;              /* categories are spelled as in 2021: "Runtime", not "cuda_runtime" */
    bool has_mtia;                 /* calls are of MTIA's runtime */
    bool operators_have_ids;
    struct number_table calls, operators; /* of all its processes; operators only if linked by ids */
};

/*
 * If only some calls of a PyTorch file lack an id, the key is omitted for calls without an operator. If all calls lack
 * it but operators have ids, only nesting links them (the CUPTI backend of 2.15 writes such files); calls of MTIA,
 * which Kineto never links, belong to no operator.
 */
static void settle_generation(struct file_launches *file, const struct id_census *census, bool is_torch)
{
    bool links_none = is_torch && census->has_mtia && census->calls_lack_ids && census->operators_have_ids &&
                      !census->has_equal;
    if (census->has_different || links_none) {
        file->links = LINKS_BY_ID;
        file->generation = census->short_words ? 1 : census->calls_lack_ids ? 4 : 3;
    } else {
        file->links = LINKS_BY_NESTING;
        file->generation = census->has_equal ? 2 : 0;
    }
}

static inline bool can_have_id(enum event_kind kind)
{
    return kind == EVENT_OP || kind == EVENT_ANNOTATION;
}

/* What categories say, by category. */
enum { CATEGORY_IS_SHORT_WORD = 1, CATEGORY_IS_MTIA = 2 };

struct counting {
    const struct trace *trace;
    uint8_t *categories; /* NULL: none says anything */
    struct arg_scan correlations, ids;
    bool *holds_numbers; /* by track */
};

/* New; NULL: no category says anything. */
static uint8_t *inspect_categories(const struct trace *trace)
{
    uint8_t *categories = mem_zalloc(trace->category_count + 1, sizeof *categories);
    bool any = false;
    for (size_t i = 0; i < trace->category_count; i++) {
        const char *category = names_text(trace->texts, trace->categories[i].text);
        categories[i] = (uint8_t)((strcasecmp(category, "runtime") == 0 ? CATEGORY_IS_SHORT_WORD : 0) |
                                  (strncasecmp(category, "mtia_", 5) == 0 ? CATEGORY_IS_MTIA : 0));
        any |= categories[i] != 0;
    }
    if (any)
        return categories;
    free(categories);
    return NULL;
}

/* E is a call or what one launched. Once an id differs, those of what was launched say nothing more. */
static void count_ids(struct counting *counting, struct id_census *file, event_id e, bool is_call)
{
    const struct trace *trace = counting->trace;
    int64_t id = 0, correlation = 0;
    unsigned category = counting->categories ? counting->categories[trace->category[e]] : 0;
    file->short_words |= category & CATEGORY_IS_SHORT_WORD;
    file->has_mtia |= (category & CATEGORY_IS_MTIA) != 0;
    if (!is_call && file->has_different)
        return;
    bool has_correlation = arg_scan_get(&counting->correlations, e, &correlation);
    if (!file->has_different || !file->calls_lack_ids) {
        bool has_id = arg_scan_get(&counting->ids, e, &id);
        bool is_equal = has_correlation && id == correlation;
        file->calls_lack_ids |= !has_id && is_call;
        file->has_equal |= has_id && is_equal;
        file->has_different |= has_id && !is_equal;
    }
    if (has_correlation && is_call) {
        counting->holds_numbers[trace->track[e]] = true;
        number_table_add(&file->calls, correlation, e);
    }
}

/* One pass over all events: gather the statistics of FILES, and which tracks have calls or operators with numbers. */
static void collect_census(const struct trace *trace, struct id_census *files, bool *holds_numbers)
{
    struct counting counting = { trace, inspect_categories(trace), arg_scan_of(trace, ARG_CORRELATION),
                                 arg_scan_of(trace, ARG_EXTERNAL_ID), holds_numbers };
    for (uint32_t f = 0; f < trace->file_count; f++) {
        struct id_census *file = &files[f];
        event_id first = trace->files[f].first_event, end = first + trace->files[f].event_count;
        for (event_id e = first; e < end; e++) {
            enum event_kind kind = trace->kind[e];
            int64_t id;
            if (event_is_call(kind) || event_is_launched(kind)) {
                count_ids(&counting, file, e, event_is_call(kind));
            } else if (can_have_id(kind) && !(holds_numbers[trace->track[e]] && file->operators_have_ids)) {
                bool has_id = arg_scan_get(&counting.ids, e, &id);
                file->operators_have_ids |= has_id;
                holds_numbers[trace->track[e]] |= has_id;
            }
        }
    }
    free(counting.categories);
}

/* The operators and annotations that have ids, in files linked by ids. */
static void collect_operators(const struct attribution *launches, struct id_census *files)
{
    const struct trace *trace = launches->trace;
    struct arg_scan ids = arg_scan_of(trace, ARG_EXTERNAL_ID);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        int64_t id;
        if (launches->files[f].links != LINKS_BY_ID)
            continue;
        for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
            if (can_have_id(trace->kind[e]) && arg_scan_get(&ids, e, &id))
                number_table_add(&files[f].operators, id, e);
    }
}

/* Move the events of ALL to the tables of their processes, the member at OFFSET; ALL is empty afterwards. */
static void share_out(struct attribution *launches, const struct file_launches *file,
                      struct number_table *all, enum trace_arg arg, size_t offset)
{
    const struct trace *trace = launches->trace;
    struct process_calls *first = &launches->processes[file->first_process];
    if (file->process_count == 1) {
        *(struct number_table *)((char *)first + offset) = *all;
        *all = (struct number_table){ 0 };
        return;
    }
    struct arg_scan scan = arg_scan_of(trace, arg);
    for (size_t i = 0; i < all->count; i++) {
        struct process_calls *process =
            &launches->processes[launches->process_of[trace->track[all->events[i]]]];
        int64_t number = 0;
        arg_scan_get(&scan, all->events[i], &number);
        number_table_add((struct number_table *)((char *)process + offset), number, all->events[i]);
    }
    number_table_release(all);
}

struct attribution *attribution_open(const struct trace *trace)
{
    struct attribution *launches = mem_zalloc(1, sizeof *launches);
    launches->trace = trace;
    launches->files = mem_zalloc(trace->file_count + 1, sizeof *launches->files);
    struct id_census *census = mem_zalloc(trace->file_count + 1, sizeof *census);
    bool *holds_numbers = mem_zalloc(trace->track_count + 1, sizeof *holds_numbers);
    collect_census(trace, census, holds_numbers);
    for (uint32_t i = 0; i < trace->file_count; i++)
        settle_generation(&launches->files[i], &census[i], trace->files[i].producer == PRODUCER_KINETO);
    collect_operators(launches, census);
    launches_describe_processes(launches, holds_numbers);
    for (uint32_t i = 0; i < trace->file_count; i++) {
        struct file_launches *file = &launches->files[i];
        share_out(launches, file, &census[i].calls, ARG_CORRELATION, offsetof(struct process_calls, calls));
        share_out(launches, file, &census[i].operators, ARG_EXTERNAL_ID,
                  offsetof(struct process_calls, operators));
    }
    for (size_t p = 0; p < launches->process_count; p++) {
        number_table_build(&launches->processes[p].calls, trace, ARG_CORRELATION);
        number_table_build(&launches->processes[p].operators, trace, ARG_EXTERNAL_ID);
    }
    launches_settle_devices(launches, holds_numbers);
    free(census);
    free(holds_numbers);
    link_by_nesting(launches);
    return launches;
}

void attribution_free(struct attribution *launches)
{
    if (!launches)
        return;
    for (size_t p = 0; p < launches->process_count; p++) {
        number_table_release(&launches->processes[p].calls);
        number_table_release(&launches->processes[p].operators);
        free(launches->processes[p].operator_of);
    }
    for (uint32_t i = 0; i < launches->trace->file_count; i++) {
        free(launches->files[i].by_number);
        free(launches->files[i].by_id);
    }
    free(launches->processes);
    free(launches->process_of);
    free(launches->files);
    free(launches);
}

/* ---- queries ---- */

enum launch_links attribution_links(const struct attribution *launches, uint32_t file)
{
    return launches->files[file].links;
}

int attribution_generation(const struct attribution *launches, uint32_t file)
{
    return launches->files[file].generation;
}

uint64_t attribution_shared_calls(const struct attribution *launches, uint32_t file)
{
    return launches->files[file].shared_calls;
}

static void *attribution_derive(const struct trace *trace)
{
    return attribution_open(trace);
}

static void attribution_release(void *launches)
{
    attribution_free(launches);
}

const struct attribution *attribution_of(const struct trace *trace)
{
    static const struct derivation derivation = { attribution_derive, attribution_release };
    return trace_derive(trace, &derivation);
}

static const struct file_launches *attribution_file_of(const struct attribution *launches, event_id e)
{
    const struct trace *trace = launches->trace;
    return &launches->files[trace->file_count == 1 ? 0 : trace->tracks[trace->track[e]].file];
}

/* The process whose tables hold E's numbers; *CALL is the position of its call there, -1 if it has none. */
static const struct process_calls *find_call(const struct attribution *launches,
                                             const struct file_launches *file, event_id e,
                                             const int64_t *external_id, const int64_t *correlation,
                                             int64_t *call)
{
    size_t process = file->first_process;
    *call = -1;
    if (file->process_count > 1) {
        process = launches->process_of[launches->trace->track[e]];
        if (correlation && !event_is_call(launches->trace->kind[e]))
            launches_find_call(launches, e, *correlation, external_id, &process);
    }
    if (correlation)
        *call = number_table_find(&launches->processes[process].calls, *correlation);
    return &launches->processes[process];
}

size_t attribution_process(const struct attribution *launches, event_id e)
{
    return launches->process_of[launches->trace->track[e]];
}

size_t attribution_process_of_track(const struct attribution *launches, track_id track)
{
    return launches->process_of[track];
}

size_t attribution_process_count(const struct attribution *launches)
{
    return launches->process_count;
}

event_id attribution_call_by(const struct attribution *launches, event_id e, const int64_t *external_id,
                             const int64_t *correlation)
{
    int64_t at;
    const struct process_calls *process =
        find_call(launches, attribution_file_of(launches, e), e, external_id, correlation, &at);
    return at < 0 ? EVENT_NONE : process->calls.events[at];
}

event_id attribution_call(const struct attribution *launches, event_id e)
{
    int64_t id, correlation;
    if (!trace_arg(launches->trace, ARG_CORRELATION, e, &correlation))
        return EVENT_NONE;
    bool has_id = attribution_file_of(launches, e)->process_count > 1 &&
                  trace_arg(launches->trace, ARG_EXTERNAL_ID, e, &id);
    return attribution_call_by(launches, e, has_id ? &id : NULL, &correlation);
}

/* As attribution_link, but id is 0 for an operator found by nesting. */
static struct launch_link find_link(const struct attribution *launches, event_id e,
                                    const int64_t *external_id, const int64_t *correlation)
{
    const struct file_launches *file = attribution_file_of(launches, e);
    struct launch_link link = { false, EVENT_NONE, 0 };
    int64_t call;
    if (file->links == LINKS_BY_ID) {
        bool own_number = correlation && external_id && *external_id == *correlation;
        if (!external_id || *external_id == 0 || (own_number && file->generation == 3))
            return link;
        const struct process_calls *process =
            file->process_count == 1 ? &launches->processes[file->first_process]
                                     : find_call(launches, file, e, external_id, correlation, &call);
        int64_t at = number_table_find(&process->operators, *external_id);
        link.linked = true;
        link.id = *external_id;
        link.op = at < 0 ? EVENT_NONE : process->operators.events[at];
    } else if (correlation) {
        const struct process_calls *process = find_call(launches, file, e, external_id, correlation, &call);
        link.op = call < 0 || !process->operator_of ? EVENT_NONE : process->operator_of[call];
        link.linked = link.op != EVENT_NONE;
    }
    return link;
}

struct launch_link attribution_link(const struct attribution *launches, event_id e,
                                    const int64_t *external_id, const int64_t *correlation)
{
    struct launch_link link = find_link(launches, e, external_id, correlation);
    if (link.op != EVENT_NONE && link.id == 0)
        link.id = trace_arg_or(launches->trace, ARG_EXTERNAL_ID, link.op, 0);
    return link;
}

void attribution_find(const struct attribution *launches, event_id e, const int64_t *external_id,
                      const int64_t *correlation, event_id *call, event_id *op)
{
    const struct file_launches *file = attribution_file_of(launches, e);
    int64_t at;
    const struct process_calls *process = find_call(launches, file, e, external_id, correlation, &at);
    *call = at < 0 ? EVENT_NONE : process->calls.events[at];
    *op = file->links == LINKS_BY_ID        ? find_link(launches, e, external_id, correlation).op
          : at < 0 || !process->operator_of ? EVENT_NONE
                                            : process->operator_of[at];
}

event_id attribution_operator(const struct attribution *launches, event_id e)
{
    int64_t id, correlation;
    bool has_id = trace_arg(launches->trace, ARG_EXTERNAL_ID, e, &id);
    bool has_correlation = trace_arg(launches->trace, ARG_CORRELATION, e, &correlation);
    return find_link(launches, e, has_id ? &id : NULL, has_correlation ? &correlation : NULL).op;
}

bool attribution_issued(const struct trace *trace, event_id work, event_id call, int64_t *ns)
{
    int64_t ahead_ns;
    *ns = trace_start_ns(trace, work);
    bool recorded = trace->args[ARG_ISSUED_AHEAD].count &&
                    trace_arg(trace, ARG_ISSUED_AHEAD, work, &ahead_ns) && ahead_ns >= 0 &&
                    ahead_ns <= TRACE_LATEST_NS;
    if (recorded)
        *ns -= ahead_ns;
    else if (call != EVENT_NONE)
        *ns = trace_start_ns(trace, call);
    return recorded || call != EVENT_NONE;
}

bool attribution_is_graph_launch(const char *call_name)
{
    return strstr(call_name, "GraphLaunch") != NULL;
}
