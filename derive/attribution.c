#include "derive/attribution.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/number_table.h"
#include "trace/arg_scan.h"
#include "trace/builder.h"
#include "trace/derived.h"

#include <strings.h>

/* ---- files of several processes ---- */

/* Numbers of calls are assigned to processes. */

/* The calls and operators of one process of one file. */
struct process_calls {
    struct number_table calls;     /* by correlation */
    struct number_table operators; /* by External id */
    event_id *operator_of;         /* LINKS_BY_NESTING: by position in calls.events */
};

/* A call in a file of several processes, and its keys. */
struct shared_call {
    int64_t number, id, start_ns; /* correlation; External id, if it has one */
    size_t process;
    event_id event;
    bool has_id;
};

/* The links of one file. */
struct file_launches {
    uint8_t links; /* enum launch_links */
    int generation;
    size_t first_process, process_count; /* in launches->processes; one at least */
    uint64_t shared_calls;               /* calls whose number is shared with a call of another process */
    /* In a file of several processes: calls sorted by number and start; and by number, External id and start. Of equal
     * starts, those of the first process come last. */
    struct shared_call *by_number, *by_id;
    size_t call_count;
};

struct attribution {
    const struct trace *trace;
    struct file_launches *files;
    struct process_calls *processes; /* of the first file, of the second ... */
    size_t process_count;
    size_t *process_of; /* by track */
};

/* ---- processes ---- */

/* A track, to be sorted by file, then by pid. */
struct pid_track {
    const struct track *track;
    track_id id;
};

static const struct key by_pid[] = { ASC_VIA(struct pid_track, track, struct track, file),
                                     ASC_VIA(struct pid_track, track, struct track, pid),
                                     ASC_VIA(struct pid_track, track, struct track, pid_text), KEY_END };

static const struct key by_pid_and_id[] = { ASC_VIA(struct pid_track, track, struct track, file),
                                            ASC_VIA(struct pid_track, track, struct track, pid),
                                            ASC_VIA(struct pid_track, track, struct track, pid_text),
                                            ASC(struct pid_track, id), KEY_END };

/* New; all tracks, pid by pid. */
static struct pid_track *tracks_by_pid(const struct trace *trace)
{
    struct pid_track *tracks = mem_alloc(mem_times(trace->track_count + 1, sizeof *tracks));
    for (track_id t = 0; t < trace->track_count; t++)
        tracks[t] = (struct pid_track){ &trace->tracks[t], t };
    SORT_ARRAY(tracks, trace->track_count, by_pid_and_id);
    return tracks;
}

/* The end of the tracks of the pid at FIRST; *MARKED is set if MARKS has any of them. */
static size_t end_of_pid(const struct pid_track *tracks, size_t count, size_t first, const bool *marks,
                         bool *marked)
{
    size_t next = first;
    *marked = false;
    for (; next < count && rows_compare(&tracks[first], &tracks[next], by_pid) == 0; next++)
        *marked |= marks[tracks[next].id];
    return next;
}

/* Determine the processes of each file: the pids of the tracks that HOLDS_NUMBERS marks, which have calls or operators
 * with ids. Other tracks, devices among them, belong to the first process of their file. Allocates launches->processes,
 * all empty, and launches->process_of. */
static void launches_describe_processes(struct attribution *launches, const bool *holds_numbers)
{
    const struct trace *trace = launches->trace;
    SCOPED struct pid_track *tracks = tracks_by_pid(trace);
    size_t next = 0, end;
    launches->process_of = mem_alloc(mem_times(trace->track_count + 1, sizeof *launches->process_of));
    for (uint32_t i = 0; i < trace->file_count; i++) {
        struct file_launches *file = &launches->files[i];
        file->first_process = launches->process_count;
        for (; next < trace->track_count && tracks[next].track->file == i; next = end) {
            bool is_process;
            end = end_of_pid(tracks, trace->track_count, next, holds_numbers, &is_process);
            for (size_t t = next; t < end; t++)
                launches->process_of[tracks[t].id] =
                    file->first_process + (is_process ? file->process_count : 0);
            file->process_count += is_process;
        }
        if (file->process_count == 0)
            file->process_count = 1;
        launches->process_count += file->process_count;
    }
    launches->processes =
        arena_zalloc(arena_of(launches), launches->process_count + 1, sizeof *launches->processes);
    FOR_EACH_OF(of, launches->processes, launches->process_count) {
        ARENA_OWNS(arena_of(launches), NUMBER_TABLE_MEMORY(&of->calls), NUMBER_TABLE_MEMORY(&of->operators),
                   &of->operator_of);
    }
}

static const struct key by_call_number[] = { ASC(struct numbered_event, number), KEY_END };

/* The number of calls whose number is used by several processes. */
static uint64_t count_shared(const struct attribution *launches, const struct file_launches *file)
{
    const struct trace *trace = launches->trace;
    SCOPED VEC_OF(struct numbered_event) calls = { 0 };
    for (size_t p = file->first_process; p < file->first_process + file->process_count; p++) {
        const struct number_table *table = &launches->processes[p].calls;
        struct arg_scan scan = arg_scan_of(trace, ARG_CORRELATION);
        for (size_t i = 0; i < table->count; i++) {
            struct numbered_event *call = VEC_PUSH(&calls);
            call->event = table->events[i];
            arg_scan_get(&scan, call->event, &call->number);
        }
    }
    SORT(&calls, by_call_number);
    uint64_t shared = 0;
    FOR_RUNS(first, next, calls.count, calls.at[next].number == calls.at[first].number) {
        bool several = false;
        size_t process = launches->process_of[trace->track[calls.at[first].event]];
        for (size_t i = first; i < next; i++)
            several |= launches->process_of[trace->track[calls.at[i].event]] != process;
        shared += several ? next - first : 0;
    }
    return shared;
}

/* ---- assigning GPU work ---- */

/* A call explains work that has its number, began after it, and was not made for another operator; among
 * those of several processes, the one that began last explains it. The device tracks of one pid belong to the
 * process whose calls explain most of their work. Work that its device's process does not explain at all is
 * explained by another. */

enum { WORK_SAMPLED = 512 }; /* operations examined per device pid, which is enough to decide */

/* The call of PROCESS that explains E, as above; EVENT_NONE if none does. */
static event_id explaining_call(const struct attribution *launches, size_t process, event_id e,
                                int64_t correlation, const int64_t *external_id)
{
    const struct trace *trace = launches->trace;
    const struct number_table *calls = &launches->processes[process].calls;
    int64_t at = number_table_find(calls, correlation), id;
    if (at < 0 || trace_start_ns(trace, calls->events[at]) > trace_start_ns(trace, e))
        return EVENT_NONE;
    bool of_other =
        external_id && trace_arg(trace, ARG_EXTERNAL_ID, calls->events[at], &id) && id != *external_id;
    return of_other ? EVENT_NONE : calls->events[at];
}

static const struct key by_begin[] = { ASC(struct shared_call, start_ns), DESC(struct shared_call, process),
                                       KEY_END };

static const struct key by_number_and_start[] = { ASC(struct shared_call, number),
                                                  ASC(struct shared_call, start_ns),
                                                  DESC(struct shared_call, process), KEY_END };

static const struct key by_call_id[] = { ASC(struct shared_call, number),   ASC(struct shared_call, has_id),
                                         ASC(struct shared_call, id),       ASC(struct shared_call, start_ns),
                                         DESC(struct shared_call, process), KEY_END };

/* Index the calls of all processes of FILE: for each process, the first call of each number. */
static void index_calls(const struct attribution *launches, struct file_launches *file)
{
    const struct trace *trace = launches->trace;
    VEC_OF(struct shared_call) calls = { 0 };
    for (size_t p = file->first_process; p < file->first_process + file->process_count; p++) {
        const struct number_table *table = &launches->processes[p].calls;
        struct arg_scan scan = arg_scan_of(trace, ARG_CORRELATION);
        for (size_t i = 0; i < table->count; i++) {
            event_id e = table->events[i];
            struct shared_call call = { .start_ns = trace_start_ns(trace, e), .process = p, .event = e };
            arg_scan_get(&scan, e, &call.number);
            if (number_table_find(table, call.number) != (int64_t)i)
                continue;
            call.has_id = trace_arg(trace, ARG_EXTERNAL_ID, e, &call.id);
            *VEC_PUSH(&calls) = call;
        }
    }
    file->call_count = calls.count;
    file->by_number = calls.at;
    file->by_id = mem_alloc(mem_times(calls.count + 1, sizeof *file->by_id));
    for (size_t i = 0; i < calls.count; i++)
        file->by_id[i] = calls.at[i];
    if (calls.count > 1) {
        SORT_ARRAY(file->by_number, calls.count, by_number_and_start);
        SORT_ARRAY(file->by_id, calls.count, by_call_id);
    }
}

/* The last of COUNT sorted CALLS that does not come after WANTED by KEYS; NULL if there is none. */
static const struct shared_call *last_up_to(const struct shared_call *calls, size_t count,
                                            const struct shared_call *wanted, const struct key *keys)
{
    size_t i = PLACE(k, count, rows_compare(&calls[k], wanted, keys) <= 0);
    return i ? &calls[i - 1] : NULL;
}

/* The call of any process of FILE that explains E, and its process in *PROCESS; EVENT_NONE if none does. */
static event_id best_explanation(const struct attribution *launches, const struct file_launches *file,
                                 event_id e, int64_t correlation, const int64_t *external_id, size_t *process)
{
    const struct shared_call *best = NULL;
    struct shared_call key = { .number = correlation,
                               .start_ns = trace_start_ns(launches->trace, e) }; /* of process 0 */
    for (int has_id = 0; has_id < (external_id ? 2 : 1); has_id++) {
        key.has_id = has_id;
        key.id = has_id ? *external_id : 0;
        const struct shared_call *found =
            external_id ? last_up_to(file->by_id, file->call_count, &key, by_call_id)
                        : last_up_to(file->by_number, file->call_count, &key, by_number_and_start);
        bool fits = found && found->number == correlation &&
                    (!external_id || (found->has_id == key.has_id && (!has_id || found->id == key.id)));
        if (fits && (!best || rows_compare(found, best, by_begin) > 0))
            best = found;
    }
    if (best)
        *process = best->process;
    return best ? best->event : EVENT_NONE;
}

/* The process of FILE that explains most of WORK, COUNT operations of one device; on ties the first. */
static size_t process_of_work(const struct attribution *launches, const struct file_launches *file,
                              const event_id *work, size_t count)
{
    size_t *explained = mem_zalloc(file->process_count, sizeof *explained), best = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t correlation, id;
        size_t process;
        if (!trace_arg(launches->trace, ARG_CORRELATION, work[i], &correlation))
            continue;
        bool has_id = trace_arg(launches->trace, ARG_EXTERNAL_ID, work[i], &id);
        if (best_explanation(launches, file, work[i], correlation, has_id ? &id : NULL, &process) !=
            EVENT_NONE)
            explained[process - file->first_process]++;
    }
    for (size_t p = 1; p < file->process_count; p++)
        if (explained[p] > explained[best])
            best = p;
    free(explained);
    return file->first_process + best;
}

/* Operations of one device. */
struct work {
    VEC_OF(event_id) sample;
};

/* New; the first operations of each track that is a device in a file of several processes. */
static struct work *work_of_devices(const struct attribution *launches)
{
    const struct trace *trace = launches->trace;
    struct work *work = mem_zalloc(trace->track_count + 1, sizeof *work);
    for (event_id e = 0; e < trace->event_count; e++) {
        track_id track = trace->track[e];
        if (event_is_launched(trace->kind[e]) && work[track].sample.count < WORK_SAMPLED &&
            launches->files[trace->tracks[track].file].process_count > 1)
            *VEC_PUSH(&work[track].sample) = e;
    }
    return work;
}

/* Assign the devices of a file of several processes. */
static void settle_devices(struct attribution *launches, const bool *holds_numbers)
{
    const struct trace *trace = launches->trace;
    SCOPED struct pid_track *tracks = tracks_by_pid(trace);
    SCOPED struct work *work = work_of_devices(launches);
    for (size_t first = 0, next; first < trace->track_count; first = next) {
        const struct file_launches *file = &launches->files[tracks[first].track->file];
        bool is_process;
        next = end_of_pid(tracks, trace->track_count, first, holds_numbers, &is_process);
        if (is_process || file->process_count == 1)
            continue;
        struct work all = { 0 };
        for (size_t t = first; t < next; t++)
            for (size_t i = 0; i < work[tracks[t].id].sample.count && all.sample.count < WORK_SAMPLED; i++)
                *VEC_PUSH(&all.sample) = work[tracks[t].id].sample.at[i];
        size_t owner = process_of_work(launches, file, all.sample.at, all.sample.count);
        for (size_t t = first; t < next; t++)
            launches->process_of[tracks[t].id] = owner;
        VEC_FREE(&all.sample);
    }
    for (track_id t = 0; t < trace->track_count; t++)
        VEC_FREE(&work[t].sample);
}

/* In files of several processes, assign each device track to one, and count shared_calls. Call after the tables of
 * calls are built. */
static void launches_settle_devices(struct attribution *launches, const bool *holds_numbers)
{
    bool any = false;
    FOR_EACH_OF(file, launches->files, launches->trace->file_count) {
        if (file->process_count == 1)
            continue;
        any = true;
        file->shared_calls = count_shared(launches, file);
        index_calls(launches, file);
    }
    if (any)
        settle_devices(launches, holds_numbers);
}

/* The call that E, GPU work with CORRELATION, comes from, in a file of several processes, and its process in *PROCESS.
 * EVENT_NONE if it is not in the file; *PROCESS is then that of the device. */
static event_id launches_find_call(const struct attribution *launches, event_id e, int64_t correlation,
                                   const int64_t *external_id, size_t *process)
{
    const struct trace *trace = launches->trace;
    const struct track *track = &trace->tracks[trace->track[e]];
    const struct file_launches *file = &launches->files[track->file];
    *process = launches->process_of[trace->track[e]];
    event_id call = explaining_call(launches, *process, e, correlation, external_id);
    if (call != EVENT_NONE)
        return call;
    size_t own = *process;
    call = best_explanation(launches, file, e, correlation, external_id, process);
    if (call != EVENT_NONE)
        return call;
    /* Clocks of host and device may differ: the call may begin after its work. */
    int64_t at = number_table_find(&launches->processes[own].calls, correlation);
    return at < 0 ? EVENT_NONE : launches->processes[own].calls.events[at];
}

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

/* Walk one thread with a stack of open operators. A call belongs to the operator that began last, at the
 * call's own start or before it, and has not ended before that. Of events with equal starts, which are common in files
 * with microseconds, operators come first. */
static void link_thread(struct process_calls *process, const struct calltree *tree,
                        const struct calltree_thread *thread)
{
    const struct trace *trace = tree->trace;
    struct arg_scan correlations = arg_scan_of(trace, ARG_CORRELATION);
    SCOPED VEC_OF(event_id) open = { 0 };
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
}

static void link_by_nesting(struct attribution *launches)
{
    const struct trace *trace = launches->trace;
    struct nesting nesting = { trace, mem_zalloc(trace->track_count + 1, 1) };
    bool any = false;
    FOR_EACH_OF(file, launches->files, trace->file_count) {
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
    SCOPED_OBJECT struct calltree *tree = any ? calltree_open(trace, takes_part_in_nesting, &nesting) : NULL;
    for (size_t t = 0; tree && t < tree->thread_count; t++)
        link_thread(&launches->processes[launches->process_of[tree->threads[t].track]], tree,
                    &tree->threads[t]);
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

/* If only some calls of a PyTorch file lack an id, the key is omitted for calls without an operator. If all calls lack
 * it but operators have ids, only nesting links them (the CUPTI backend of 2.15 writes such files); calls of MTIA,
 * which Kineto never links, belong to no operator. */
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
    free(all->events);
}

struct attribution *attribution_open(const struct trace *trace)
{
    struct attribution *launches = arena_open(sizeof *launches);
    ARENA_OWNS(arena_of(launches), &launches->process_of);
    launches->trace = trace;
    launches->files = arena_zalloc(arena_of(launches), trace->file_count + 1, sizeof *launches->files);
    ARENA_OWNS_EACH(arena_of(launches), launches->files, trace->file_count, by_number);
    ARENA_OWNS_EACH(arena_of(launches), launches->files, trace->file_count, by_id);
    struct arena scratch = { 0 };
    struct id_census *census = arena_zalloc(&scratch, trace->file_count + 1, sizeof *census);
    bool *holds_numbers = arena_zalloc(&scratch, trace->track_count + 1, sizeof *holds_numbers);
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
    arena_release(&scratch);
    link_by_nesting(launches);
    return launches;
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

DERIVED(attribution, attribution_of, attribution_open);

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
    int64_t ahead_ns = 0;
    bool recorded = trace->args[ARG_ISSUED_AHEAD].count &&
                    trace_arg(trace, ARG_ISSUED_AHEAD, work, &ahead_ns) && ahead_ns >= 0 &&
                    ahead_ns <= TRACE_LATEST_NS;
    *ns = trace_start_ns(trace, recorded || call == EVENT_NONE ? work : call) - (recorded ? ahead_ns : 0);
    return recorded || call != EVENT_NONE;
}

bool attribution_is_graph_launch(const char *call_name)
{
    return strstr(call_name, "GraphLaunch") != NULL;
}
