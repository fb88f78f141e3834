/* Copies, and the waits for them, are grouped by sorting them by the key of a row: group, direction and kind of host
 * memory. So are stalls, the calls of host_waits.h. */
#include "analyze/transfers.h"

#include "analyze/gap_finder.h"
#include "base/rows.h"
#include "base/sum.h"
#include "derive/communication.h"
#include "derive/callers.h"
#include "derive/features.h"
#include "derive/launch_calls.h"
#include "trace/derived.h"
#include <math.h>

const struct trace_wants transfers_wants = { .args = HOST_WAITS_WANTS | CALLERS_WANTS | WANT(BYTES) };

/* clang-format off */
static const struct table_column transfer_columns[] = {
    GROUP_COLUMNS(struct transfer_row, key),
    COLUMN(struct transfer_row, direction, "direction", "Direction", TABLE_NAME, "HtoD, DtoH, DtoD, PtoP, HtoH, managed"),
    COLUMN(struct transfer_row, memory, "memory", "Host memory", TABLE_TEXT, "pageable, pinned, managed, or unknown"),
    COLUMN(struct transfer_row, count, "count", "Copies", TABLE_TALLY, "how many copies"),
    COLUMN(struct transfer_row, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes copied, as far as recorded"),
    COLUMN(struct transfer_row, time_ns, "time", "Time", TABLE_NS, "their durations added up", .aliases = "total sum"),
    COLUMN(struct transfer_row, exposed_ns, "exposed", "Exposed", TABLE_NS, "time in which one of them ran and no kernel did on the device"),
    COLUMN(struct transfer_row, blocked_ns, "blocked", "Host blocked", TABLE_NS, "time in which a host thread waited for one of them"),
    COLUMN(struct transfer_row, bandwidth, "bandwidth", "GB/s", TABLE_RATE, "bytes over time, in units of 10^9 bytes per second", .aliases = "mean_bandwidth"),
    COLUMN(struct transfer_row, median_bandwidth, "median_bandwidth", "Median GB/s", TABLE_RATE, "median of the copies' bandwidths"),
    COLUMN(struct transfer_row, best_bandwidth, "best_bandwidth", "Best GB/s", TABLE_RATE, "largest of the copies' bandwidths"),
    COLUMN(struct transfer_row, union_ns, "union", "Union", TABLE_NS, "time in which one of them ran", .flags = TABLE_OPTIONAL),
};

static const struct table_column stall_columns[] = {
    COLUMN(struct stall_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_HIDDEN),
    COLUMN(struct stall_row, op, "op", "Operator", TABLE_NAME, "the operator in which the host waited; the call where there is none", .aliases = "operator"),
    COLUMN(struct stall_row, blocked_ns, "blocked", "Host blocked", TABLE_NS, "time that host threads spent in the calls"),
    COLUMN(struct stall_row, saving_ns, "possible_saving", "Possible saving", TABLE_NS, "upper bound: this time minus that of launching as many asynchronous copies, and without the time in which the device waited, too", .aliases = "saving could_be_won won"),
    COLUMN(struct stall_row, count, "count", "Waits", TABLE_TALLY, "how often"),
    COLUMN(struct stall_row, cause, "cause", "Cause", TABLE_TEXT, "why the host had to wait"),
    COLUMN(struct stall_row, transfer, "transfer", "Transfer", TABLE_TEXT, "direction and host memory of the copy"),
    COLUMN(struct stall_row, line, "line", "Line", TABLE_NAME, "Python function and line, where stacks were recorded"),
    COLUMN(struct stall_row, advice, "advice", "Advice", TABLE_TEXT, "what to do", .flags = TABLE_OPTIONAL),
    COLUMN(struct stall_row, call, "call", "Call", TABLE_NAME, "the call that waited", .flags = TABLE_OPTIONAL),
    COLUMN(struct stall_row, longest_ns, "longest", "Longest", TABLE_NS, "the longest of the waits", .flags = TABLE_OPTIONAL),
    COLUMN(struct stall_row, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes of the copies", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

#define BY_KIND BY_OWN(0)

struct transfers_query {
    const struct trace *trace;
    const struct selection *selection;
    const struct gpu_events *gpu;
    const struct host_waits *waits;
    unsigned by;
    struct copy_kind *kinds;  /* by name, computed when first needed */
    bool *known_kinds;        /* by name */
    struct intervals *queued; /* by device: see transfers_find_queued; NULL: not looked at */
    struct callers *callers;  /* NULL if not needed */
    struct transfers *transfers;
};

static struct text transfers_name_text(const struct trace *trace, name_id id)
{
    return (struct text){ names_text(trace->names, id), names_length(trace->names, id) };
}

/* ---- copies ---- */

/* A copy, or a wait for it. */
struct part {
    uint32_t group, device;
    struct copy_kind kind;
    event_id copy;
    bool is_wait; /* then only BLOCKED_NS counts */
    int64_t blocked_ns;
};

static bool is_copy(const struct trace *trace, event_id work)
{
    return work != EVENT_NONE && trace->kind[work] == EVENT_MEMCPY;
}

static struct copy_kind kind_of(const struct transfers_query *query, event_id copy)
{
    name_id name = query->trace->name[copy];
    if (!query->known_kinds[name])
        query->kinds[name] = copy_kind_of(names_text(query->trace->names, name));
    query->known_kinds[name] = true;
    return copy_kind_with(query->kinds[name], trace_arg_text(query->trace, ARG_COPY_MEMORY, copy));
}

static struct part part_of(const struct transfers_query *query, event_id copy)
{
    const struct attribution *launches = attribution_of(query->trace);
    event_id call = attribution_call(launches, copy), op = EVENT_NONE;
    if (query->by & BY(OP)) {
        op = call == EVENT_NONE ? EVENT_NONE : callers_operator(query->callers, call);
        op = op == EVENT_NONE ? attribution_operator(launches, copy) : op;
    }
    return (struct part){ .group = group_of(query->transfers->group, copy, call, op),
                          .device = query->gpu->device_of_track[query->trace->track[copy]],
                          .kind = kind_of(query, copy),
                          .copy = copy };
}

static const struct key by_kind[] = { ASC(struct part, group), ASC(struct part, kind.direction),
                                      ASC(struct part, kind.memory), KEY_END };

static const struct key by_device[] = { ASC(struct part, group), ASC(struct part, kind.direction),
                                        ASC(struct part, kind.memory), ASC(struct part, device), KEY_END };

/* The totals of the copies of a row. */
struct copy_sums {
    int64_t timed_bytes, timed_ns; /* of copies with recorded size and nonzero time */
    VEC_OF(double) bandwidths;
    struct intervals when, exposed; /* on one device */
};

static void add_part(struct transfer_row *row, struct copy_sums *sums, const struct trace *trace,
                     const struct part *part)
{
    if (part->is_wait) {
        row->blocked_ns += part->blocked_ns;
        return;
    }
    int64_t bytes = trace_arg_or(trace, ARG_BYTES, part->copy, 0), time_ns = trace_dur_ns(trace, part->copy);
    row->count++;
    sum_add(&row->bytes, bytes);
    row->time_ns += time_ns;
    intervals_add(&sums->when, trace_start_ns(trace, part->copy), trace_end_ns(trace, part->copy));
    if (bytes > 0 && time_ns > 0) {
        sum_add(&sums->timed_bytes, bytes);
        sums->timed_ns += time_ns;
        *VEC_PUSH(&sums->bandwidths) = (double)bytes / (double)time_ns;
    }
}

static void set_bandwidths(struct transfer_row *row, struct copy_sums *sums)
{
    size_t count = sums->bandwidths.count;
    const double *at = sums->bandwidths.at;
    row->bandwidth = row->median_bandwidth = row->best_bandwidth = NAN;
    if (count == 0)
        return;
    SORT_NUMBERS(sums->bandwidths.at, count);
    row->bandwidth = (double)sums->timed_bytes / (double)sums->timed_ns;
    row->median_bandwidth = (at[(count - 1) / 2] + at[count / 2]) / 2;
    row->best_bandwidth = at[count - 1];
}

/* Add a row for COUNT PARTS, sorted by device; KERNELS by device: those beside the copies. */
static struct transfer_row transfers_make_row(struct transfers_query *query, const struct part *parts,
                                              size_t count, const struct intervals *kernels)
{
    struct transfer_row row = { .key = group_key(query->transfers->group, parts->group),
                                .kind = parts->kind,
                                .direction = as_text(copy_direction_name(parts->kind.direction)),
                                .memory = as_text(copy_memory_name(parts->kind.memory)) };
    struct copy_sums sums = { 0 };
    FOR_RUNS(first, end, count, parts[end].device == parts[first].device) {
        intervals_clear(&sums.when);
        for (size_t i = first; i < end; i++)
            add_part(&row, &sums, query->trace, &parts[i]);
        intervals_merge(&sums.when);
        intervals_subtract(&sums.when, &kernels[parts[first].device], &sums.exposed);
        row.union_ns += intervals_length(&sums.when);
        row.exposed_ns += intervals_length(&sums.exposed);
    }
    set_bandwidths(&row, &sums);
    EACH(intervals_release, &sums.when, &sums.exposed);
    VEC_FREE(&sums.bandwidths);
    return row;
}

/* The intervals of those kernels of DEVICE that ran during COPIES, a set: few of all, as a rule. */
static struct intervals find_kernels(const struct gpu_events *gpu, const struct gpu_device *device,
                                     const struct intervals *copies)
{
    struct intervals kernels = { 0 };
    size_t next = 0; /* of the copies: the first that ends after the start of the kernel */
    for (size_t i = device->first; i < device->first + device->count && next < copies->count; i++) {
        int64_t start_ns = trace_start_ns(gpu->trace, gpu->event[i]),
                end_ns = trace_end_ns(gpu->trace, gpu->event[i]);
        while (next < copies->count && copies->at[next].end_ns <= start_ns)
            next++;
        if (next < copies->count && copies->at[next].start_ns < end_ns && gpu_work_is_kernel(gpu->work[i]))
            intervals_add(&kernels, start_ns, end_ns);
    }
    intervals_merge(&kernels);
    return kernels;
}

/* The same for each device, whose copies are in PARTS. New array; release its intervals and free it. */
static struct intervals *find_kernels_beside(const struct gpu_events *gpu, const struct part *parts,
                                             size_t count)
{
    struct intervals *found = mem_zalloc(gpu->device_count + 1, sizeof *found);
    for (size_t i = 0; i < count; i++)
        intervals_add(&found[parts[i].device], trace_start_ns(gpu->trace, parts[i].copy),
                      trace_end_ns(gpu->trace, parts[i].copy));
    for (size_t d = 0; d < gpu->device_count; d++) {
        SCOPED_BY(intervals_release) struct intervals copies = found[d];
        intervals_merge(&copies);
        found[d] = find_kernels(gpu, &gpu->devices[d], &copies);
    }
    return found;
}

static const struct key by_time[] = { DESC(struct transfer_row, time_ns), KEY_END };

/* Add rows for the selected copies and the waits for them. */
static void transfers_add_copies(struct transfers_query *query)
{
    const struct trace *trace = query->trace;
    const struct gpu_events *gpu = query->gpu;
    struct transfers *transfers = query->transfers;
    SCOPED VEC_OF(struct part) parts = { 0 };
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->work[i] == GPU_MEMCPY && selection_holds(query->selection, gpu->event[i]))
            *VEC_PUSH(&parts) = part_of(query, gpu->event[i]);
    FOR_EACH(wait, query->waits) {
        if (!is_copy(trace, wait->work) || !selection_holds(query->selection, wait->work) ||
            !selection_holds_place(query->selection, wait->call))
            continue;
        struct part part = part_of(query, wait->work);
        part.is_wait = true;
        part.blocked_ns = trace_dur_ns(trace, wait->call);
        *VEC_PUSH(&parts) = part;
    }
    SORT(&parts, by_device);
    SCOPED struct intervals *kernels = find_kernels_beside(gpu, parts.at, parts.count);
    FOR_GROUPS(&parts, by_kind, first, end) {
        *VEC_PUSH(&transfers->rows) = transfers_make_row(query, &parts.at[first], end - first, kernels);
    }
    SORT(&transfers->rows, by_time);
    for (size_t d = 0; d < gpu->device_count; d++)
        intervals_release(&kernels[d]);
}

/* ---- stalls ---- */

/* What to do about a wait: the same for every framework, or in its words. */
static const struct {
    const char *cause, *alike;
    enum advice advice; /* without ALIKE */
} causes[WAIT_KINDS] = {
    [WAIT_SYNC_COPY] = { "synchronous copy", NULL, ADVICE_WAIT_FOR_NO_COPY },
    [WAIT_PAGEABLE_COPY] = { "pageable copy", NULL, ADVICE_WAIT_FOR_NO_PAGEABLE_UPLOAD },
    [WAIT_FOR_COPY] = { "wait for a copy",
                        .alike = "wait less often, and later: after more work has been launched" },
    [WAIT_FOR_KERNEL] = { "wait for kernels",
                          .alike = "wait less often, or for an event instead of a stream or device" },
    [WAIT_FOR_NOTHING] = { "empty wait",
                           .alike = "leave it out where it can be: nothing was left to wait for" },
    [WAIT_FOR_UNKNOWN] = { "wait for unknown work",
                           .alike =
                               "record again: work of devices is missing, and this may have waited for it" },
    [WAIT_PINNING] = { "pinning", NULL, ADVICE_PIN_ONCE },
};

/* A value that the host reads from the device: pinning does not help. */
static const char *const read_advice = "keep the value on the device, or read it once in many steps";

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(name, *names) != 0)
        names++;
    return *names != NULL;
}

struct wait_advice {
    const char *text;
    struct code_change code;
};

static struct wait_advice wait_advice_of(const struct trace *trace, enum advice advice)
{
    return (struct wait_advice){ trace_advice(trace, advice), trace_code(trace, advice) };
}

/* COPY is what was waited for where that is a copy, else zero. */
static struct wait_advice advice_for(const struct trace *trace, enum host_wait_kind kind,
                                     struct copy_kind copy, const char *owner, const char *call)
{
    static const char *const values[] = { "aten::item", "aten::_local_scalar_dense", NULL };
    static const char *const readers[] = { "aten::item",
                                           "aten::_local_scalar_dense",
                                           "aten::is_nonzero",
                                           "aten::equal",
                                           "aten::nonzero",
                                           "aten::masked_select",
                                           NULL };
    static const char *const copiers[] = { "aten::to", "aten::_to_copy", "aten::copy_", NULL };
    bool copies = kind == WAIT_PAGEABLE_COPY || kind == WAIT_SYNC_COPY ||
                  (kind == WAIT_FOR_COPY && is_one_of(owner, copiers));
    if (kind != WAIT_FOR_NOTHING && kind != WAIT_FOR_UNKNOWN && kind != WAIT_PINNING &&
        is_one_of(owner, readers))
        return (struct wait_advice){ read_advice,
                                     is_one_of(owner, values)
                                         ? (struct code_change){ "x.item()", "values.append(x.detach())" }
                                         : (struct code_change){ 0 } };
    if (copies && copy.direction == COPY_DTOH)
        return wait_advice_of(trace, ADVICE_WAIT_FOR_NO_DOWNLOAD);
    if (copies && copy.direction == COPY_HTOD)
        return wait_advice_of(trace, copy.memory == MEMORY_PAGEABLE ? ADVICE_WAIT_FOR_NO_PAGEABLE_UPLOAD
                                                                    : ADVICE_WAIT_FOR_NO_UPLOAD);
    if (kind == WAIT_FOR_KERNEL && strstr(call, "EventSynchronize"))
        kind = WAIT_FOR_COPY;
    return causes[kind].alike ? (struct wait_advice){ .text = causes[kind].alike }
                              : wait_advice_of(trace, causes[kind].advice);
}

/* A wait, and the key of its row. */
struct stall {
    struct host_wait wait;
    int64_t rank;          /* missing unless rows are by rank */
    name_id owner;         /* name of the operator, else of the call */
    name_id line;          /* of the lines of all stalls; NAME_NONE: none */
    struct copy_kind copy; /* if the work is a copy; else zero */
    bool waits_for_communication;
};

static const struct key by_stall[] = { ASC(struct stall, rank),        ASC(struct stall, owner),
                                       ASC(struct stall, wait.kind),   ASC(struct stall, copy.direction),
                                       ASC(struct stall, copy.memory), KEY_END };

static struct stall stall_of(const struct transfers_query *query, const struct host_wait *wait,
                             struct names *lines)
{
    const struct trace *trace = query->trace;
    event_id owner = callers_operator(query->callers, wait->call);
    struct stall stall = { .wait = *wait,
                           .rank = TABLE_INT_MISSING,
                           .owner = trace->name[owner == EVENT_NONE ? wait->call : owner] };
    size_t length;
    const char *line = callers_line(query->callers, wait->call, &length);
    stall.line = line ? names_add(lines, line, length) : NAME_NONE;
    if (query->by & BY(RANK))
        stall.rank = selection_rank(trace, trace->tracks[trace->track[wait->call]].file);
    if (is_copy(trace, wait->work))
        stall.copy = kind_of(query, wait->work);
    stall.waits_for_communication = wait->work != EVENT_NONE && trace->kind[wait->work] == EVENT_KERNEL &&
                                    kernel_is_communication(trace_name(trace, wait->work));
    return stall;
}

/* "HtoD pageable" */
static struct text transfer_text(struct transfers *transfers, struct copy_kind kind)
{
    const char *memory = copy_memory_name(kind.memory);
    return as_text(arena_printf(arena_of(transfers), "%s%s%s", copy_direction_name(kind.direction),
                                memory ? " " : "", memory ? memory : ""));
}

/* Shorter parts of gaps do not count. */
#define LEAST_QUEUED_NS 1000000

/* What to do where the device waited, too. */
static const char *const queued_advice =
    "the device waited, too, behind an event or work that is not in the file: without this wait it would still. Record from "
    "before that work is launched (tpa gaps)";

static void add_queued(void *queued, const struct gap *gap)
{
    int64_t length_ns = gap->part_ns[GAP_STREAM_WAIT] + gap->part_ns[GAP_QUEUED];
    if (length_ns >= LEAST_QUEUED_NS)
        intervals_add(queued, gap->end_ns - length_ns, gap->end_ns);
}

/* When each device was idle although work was queued, for reasons that tpa gaps calls stream wait and queued. */
static void transfers_find_queued(struct transfers_query *query)
{
    SCOPED_OBJECT struct gap_finder *finder =
        gap_finder_open(query->trace, NULL, LEAST_QUEUED_NS, GAP_LATENCY_BELOW_NS);
    query->queued = mem_zalloc(query->gpu->device_count + 1, sizeof *query->queued);
    for (uint32_t d = 0; d < query->gpu->device_count; d++) {
        gap_finder_visit(finder, d, add_queued, &query->queued[d]);
        intervals_merge(&query->queued[d]);
    }
}

/* How much of WAIT its device was idle although work was queued. */
static int64_t queued_ns(struct transfers_query *query, const struct host_wait *wait)
{
    const struct trace *trace = query->trace;
    if (wait->work == EVENT_NONE)
        return 0;
    if (!query->queued)
        transfers_find_queued(query);
    uint32_t device = query->gpu->device_of_track[trace->track[wait->work]];
    return device == UINT32_MAX
               ? 0
               : intervals_length_within(&query->queued[device], trace_start_ns(trace, wait->call),
                                         trace_end_ns(trace, wait->call));
}

/* Add a row for COUNT STALLS that belong together, whose line is LINE. */
static struct stall_row make_stall(struct transfers_query *query, const struct stall *stalls, size_t count,
                                   struct text line)
{
    const struct trace *trace = query->trace;
    struct stall_row row = { .rank = stalls->rank,
                             .op = transfers_name_text(trace, stalls->owner),
                             .line = line,
                             .call = transfers_name_text(trace, trace->name[stalls->wait.call]),
                             .kind = stalls->wait.kind,
                             .copy = stalls->copy,
                             .cause = as_text(causes[stalls->wait.kind].cause),
                             .count = (int64_t)count,
                             .bytes = TABLE_INT_MISSING };
    struct wait_advice advice = advice_for(trace, row.kind, stalls->copy, row.op.at, row.call.at);
    row.advice = as_text(advice.text);
    row.code = advice.code;
    if (is_copy(trace, stalls->wait.work)) {
        row.transfer = transfer_text(query->transfers, stalls->copy);
        row.bytes = 0;
    }
    /* If some do, the last wait is one of those, else it is the end of the recording. */
    bool repeats = ANY(i, count, !stalls[i].wait.at_begin && !stalls[i].wait.at_end);
    for (size_t i = 0; i < count; i++) {
        int64_t dur_ns = trace_dur_ns(trace, stalls[i].wait.call), launch_ns = query->transfers->launch_ns;
        row.blocked_ns += dur_ns;
        bool counts = !stalls[i].wait.at_begin && (repeats || !stalls[i].wait.at_end);
        int64_t idle_ns = queued_ns(query, &stalls[i].wait);
        row.queued_ns += idle_ns;
        row.saving_ns += dur_ns - idle_ns > launch_ns && counts ? dur_ns - idle_ns - launch_ns : 0;
        row.communication_ns += stalls[i].waits_for_communication ? dur_ns : 0;
        row.longest_ns = dur_ns > row.longest_ns ? dur_ns : row.longest_ns;
        if (is_copy(trace, stalls[i].wait.work))
            sum_add(&row.bytes, trace_arg_or(trace, ARG_BYTES, stalls[i].wait.work, 0));
    }
    if (row.queued_ns > row.blocked_ns / 2) {
        row.advice = as_text(queued_advice);
        row.code = (struct code_change){ 0 };
    }
    uint32_t file = trace->tracks[trace->track[stalls->wait.call]].file;
    if (row.kind == WAIT_FOR_UNKNOWN || trace->files[file].lost.much)
        row.saving_ns = TABLE_INT_MISSING; /* nobody knows what it waited for */
    return row;
}

static const struct key by_blocked[] = { DESC(struct stall_row, blocked_ns), KEY_END };

static void add_stalls(struct transfers_query *query)
{
    struct transfers *transfers = query->transfers;
    SCOPED_OBJECT struct names *lines = names_open();
    SCOPED VEC_OF(struct stall) stalls = { 0 };
    for (size_t i = 0; i < query->waits->count; i++)
        if (selection_holds_place(query->selection, query->waits->at[i].call))
            *VEC_PUSH(&stalls) = stall_of(query, &query->waits->at[i], lines);
    SORT_BY(stalls.at, stalls.count, i, stalls.at[i].wait.call);
    SORT_BY_TEXT(stalls.at, stalls.count, i,
                 stalls.at[i].line == NAME_NONE ? NULL : names_text(lines, stalls.at[i].line));
    SORT(&stalls, by_stall);
    FOR_RUNS(first, end, stalls.count,
             rows_compare(&stalls.at[first], &stalls.at[end], by_stall) == 0 &&
                 stalls.at[first].line == stalls.at[end].line) {
        struct text line = { 0 };
        if (stalls.at[first].line != NAME_NONE)
            line = (struct text){ arena_strndup(arena_of(transfers), names_text(lines, stalls.at[first].line),
                                                names_length(lines, stalls.at[first].line)),
                                  names_length(lines, stalls.at[first].line) };
        struct stall_row row = make_stall(query, &stalls.at[first], end - first, line);
        transfers->blocked_ns += row.blocked_ns;
        *VEC_PUSH(&transfers->stalls) = row;
    }
    SORT(&transfers->stalls, by_blocked);
}

/* The callers of calls that waited and, for rows by operator, of calls that copied. NULL if there are none. */
static struct callers *open_callers(const struct transfers_query *query)
{
    SCOPED VEC_OF(event_id) calls = { 0 };
    for (size_t i = 0; i < query->waits->count; i++)
        *VEC_PUSH(&calls) = query->waits->at[i].call;
    for (size_t i = 0; query->by & BY(OP) && i < query->gpu->count; i++)
        if (query->gpu->work[i] == GPU_MEMCPY && query->gpu->call[i] != EVENT_NONE)
            *VEC_PUSH(&calls) = query->gpu->call[i];
    return calls.count ? callers_open(query->trace, calls.at, calls.count) : NULL;
}

static struct transfers *transfers_own_analyze(const struct trace *trace, const struct selection *selection,
                                               unsigned by)
{
    size_t name_count = names_count(trace->names);
    struct transfers *transfers = arena_open(sizeof *transfers);
    ARENA_OWNS(arena_of(transfers), &transfers->rows, &transfers->stalls);
    struct transfers_query query = {
        .trace = trace,
        .selection = selection,
        .gpu = gpu_events_of(trace),
        .waits = host_waits_of(trace),
        .by = by,
        .kinds = mem_zalloc(name_count + 1, sizeof *query.kinds),
        .known_kinds = mem_zalloc(name_count + 1, sizeof *query.known_kinds),
        .transfers = transfers,
    };
    query.callers = open_callers(&query);
    transfers->group = arena_hold(arena_of(transfers), group_open(trace, by & ~BY_KIND));
    transfers->launch_ns = launch_calls_median_ns(launch_calls_of(trace), trace);
    transfers_add_copies(&query);
    add_stalls(&query);
    arena_free(query.callers);
    for (size_t d = 0; query.queued && d < query.gpu->device_count; d++)
        intervals_release(&query.queued[d]);
    free(query.queued);
    EACH(free, query.kinds, query.known_kinds);
    return transfers;
}

/* The result that a table and its chart share. */
static struct transfers *transfers_find_usual(const struct trace *trace)
{
    return transfers_own_analyze(trace, selection_all(trace), TRANSFERS_BY_DEFAULT);
}

static const struct transfers *transfers_usual(const struct trace *trace);
DERIVED(transfers, transfers_usual, transfers_find_usual);

const struct transfers *transfers_analyze(const struct trace *trace, const struct selection *selection,
                                          unsigned by)
{
    bool usual = by == TRANSFERS_BY_DEFAULT && selection_is_all(selection);
    return usual ? transfers_usual(trace) : transfers_own_analyze(trace, selection, by);
}

/* ---- the command ---- */

static struct table *transfers_table(const struct transfers *transfers)
{
    struct table *table = TABLE_OF_ROWS("transfers", "Copies by direction and host memory", transfer_columns,
                                        transfers->rows.at, transfers->rows.count);
    table->none = "Nothing was copied here.";
    group_fill_texts(transfers->group, table, offsetof(struct transfer_row, key));
    table->sort_column = table_column_at(table, offsetof(struct transfer_row, time_ns));
    table_drop_hidden(table);
    return table;
}

static struct table *stalls_table(const struct transfers *transfers, unsigned by)
{
    struct table *table = TABLE_OF_ROWS("stalls", "Where the host had to wait", stall_columns,
                                        transfers->stalls.at, transfers->stalls.count);
    table->none = "The host did not wait for a device here.";
    bool any_line = ANY(i, transfers->stalls.count, transfers->stalls.at[i].line.at != NULL);
    if (!any_line)
        TABLE_FLAG(table, struct stall_row, line, TABLE_OPTIONAL);
    if (by & BY(RANK))
        TABLE_FLAG(table, struct stall_row, rank, 0);
    table->sort_column = table_column_at(table, offsetof(struct stall_row, blocked_ns));
    table_drop_hidden(table);
    table_add_footer(table, "blocked_total", "Host threads blocked", TABLE_NS,
                     table_int(transfers->blocked_ns));
    table_add_footer(table, "launch_cost", "A launch takes (median)", TABLE_NS,
                     table_int(transfers->launch_ns));
    return table;
}

/* Add the advice for the longest stalls below the tables. */
static void add_advice(const struct transfers *transfers, struct result *result)
{
    enum { MOST = 3 };
    const struct stall_row *stalls = transfers->stalls.at;
    size_t said = 0;
    for (size_t i = 0; i < transfers->stalls.count && said < MOST; i++) {
        bool repeated = stalls[i].saving_ns == 0 && stalls[i].advice.at != queued_advice;
        for (size_t before = 0; before < i && !repeated; before++)
            repeated = strcmp(stalls[before].advice.at, stalls[i].advice.at) == 0;
        if (repeated)
            continue;
        ADD_NOTICE(result, "advice", stalls[i].count, "%s, %s: %s", stalls[i].op.at, stalls[i].cause.at,
                   stalls[i].advice.at);
        said++;
    }
}

static bool run_transfers(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    (void)err;
    SCOPED_OBJECT const struct transfers *transfers =
        transfers_analyze(query->trace, query->selection, query->by);
    result_add_table(result, transfers_table(transfers));
    result_add_table(result, stalls_table(transfers, query->by));
    add_advice(transfers, result);
    return true;
}

static const struct opt_choice own_words[] = {
    { "kind", "direction and host memory alone", "direction" },
    { 0 },
};

static const struct table_shape tables[] = {
    TABLE_SHAPE("transfers", transfer_columns),
    TABLE_SHAPE("stalls", stall_columns),
    { 0 },
};

const struct analysis analysis_transfers = {
    .name = "transfers",
    .summary = "copies between host and devices: how fast, what they stall, and what to do",
    .description =
        "Per direction and host memory: how many copies, their bytes, time and bandwidth, for how long no kernel ran "
        "beside them, and for how long a host thread waited for one of them.\n\n"
        "Then the stalls, longest first: the operator (and the line of Python, where stacks were recorded) in which "
        "the host waited, in a synchronous or pageable copy, in a synchronization, or while memory was pinned; with "
        "what to do about it and what that could save at most.",
    .schema = "tpa.transfers/1",
    .examples = {
        "tpa transfers trace.json",
        "tpa transfers --wide --columns op,line,blocked,possible_saving,advice trace.json",
        "tpa transfers --by op,step trace.json  # which copies each step makes",
        "tpa transfers --steps 3..7 --format json trace.json",
    },
    .wants = &transfers_wants,
    .needs = FEATURE_GPU,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(THREAD) | BY(STEP) | BY(OP) | BY(CALL) | BY(MODULE),
    .by_default = TRANSFERS_BY_DEFAULT,
    .own_words = own_words,
    .by_help = "what makes a row of the copies, besides direction and host memory; device when not given. "
               "rank separates the stalls of ranks as well",
    .limited = "stalls",
    .tables = { tables },
    .run = run_transfers,
    .section = "Transfers",
    .section_intro =
        "Copies by direction and kind of host memory, and who had to wait for them.",
    .charts = "transfers",
};
