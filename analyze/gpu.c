/*
 * gpu.c - see gpu.h.
 *
 * The work of each device is distributed to rows. That of a row is visited once, in order of start, and converted to
 * sets of intervals (derive/device_use.h), some thousand operations at a time; everything else is set algebra.
 */
#include "analyze/gpu.h"

#include "analyze/contention/contention.h"
#include "analyze/gpu_efficiency.h"
#include "base/sum.h"
#include "derive/collective_matches.h"
#include "derive/device_types.h"
#include "derive/device_use.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "derive/gpu_names.h"
#include "derive/step_list.h"
#include "trace/derived.h"
#include "trace/lost_work.h"
#include <assert.h>
#include <inttypes.h>
#include <math.h>

const struct trace_wants gpu_wants = { .args = GPU_EVENTS_WANTS | GPU_EFFICIENCY_WANTS | CONTENTION_WANTS |
                                               WANT(BYTES) };

/* Work, by its positions in gpu_events.event. Mostly it is a whole device, and needs no list. */
struct positions {
    VEC_OF(uint32_t); /* AT is NULL: they count up from FIRST */
    size_t first;
};

static size_t position_of(const struct positions *work, size_t i)
{
    return work->at ? work->at[i] : work->first + i;
}

static void positions_add(struct positions *work, size_t at)
{
    work->first = work->count ? work->first : at;
    if (!work->at && at == work->first + work->count) {
        work->count++;
        return;
    }
    if (!work->at) {
        VEC_RESERVE(work, work->count);
        for (size_t i = 0; i < work->count; i++)
            work->at[i] = (uint32_t)(work->first + i);
    }
    *VEC_PUSH(work) = (uint32_t)at;
}

struct gpu_query {
    const struct trace *trace;
    const struct gpu_events *events;
    struct gpu *gpu;
    bool of_whole;            /* rows cover a whole device, not a selection in time or a step */
    bool only_uses;           /* as of gpu_find_uses; the next three are of no use then */
    struct interval *windows; /* by file: see gpu_efficiency_windows */
    uint8_t *tensor;          /* by name: enum tensor_use + 1; 0: not determined yet */
    uint32_t *copies_slot;    /* by name: 1 + index into copies of the current row */
    VEC_OF(struct gpu_row) rows;
    VEC_OF(int64_t) numbers; /* of the streams of the current row */
};

/* ---- a row ---- */

static enum tensor_use tensor_use_of(struct gpu_query *query, name_id id)
{
    uint8_t *use = &query->tensor[id];
    if (*use == 0)
        *use = (uint8_t)(kernel_tensor_use(names_text(query->trace->names, id)) + 1);
    return (enum tensor_use)(*use - 1);
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : NAN;
}

/* Count the events of ROW, and kernels on tensor cores. */
static void count_work(struct gpu_query *query, struct gpu_row *row, const struct positions *work)
{
    const struct trace *trace = query->trace;
    int64_t tensor_ns = 0, unknown_ns = 0;
    for (size_t i = 0; i < work->count; i++) {
        event_id e = query->events->event[position_of(work, i)];
        uint8_t kind = query->events->work[position_of(work, i)];
        row->events++;
        if (!gpu_work_is_kernel(kind))
            continue;
        row->kernels++;
        row->nccl_kernels += kind == GPU_NCCL;
        row->kernel_sum_ns += trace_dur_ns(trace, e);
        enum tensor_use use = tensor_use_of(query, trace->name[e]);
        tensor_ns += use == TENSOR_YES ? trace_dur_ns(trace, e) : 0;
        unknown_ns += use == TENSOR_UNKNOWN ? trace_dur_ns(trace, e) : 0;
    }
    row->tensor_core_share = share_of(tensor_ns, row->kernel_sum_ns);
    row->tensor_core_unknown_share = share_of(unknown_ns, row->kernel_sum_ns);
}

/* The times between operations. An operation of zero length ends a gap and begins another. */
static void gpu_find_gaps(const struct gpu_query *query, struct gpu_row *row, const struct positions *work,
                          struct interval *span)
{
    const struct trace *trace = query->trace;
    *span = (struct interval){ trace_start_ns(trace, query->events->event[position_of(work, 0)]), INT64_MIN };
    for (size_t i = 0; i < work->count; i++) {
        event_id e = query->events->event[position_of(work, i)];
        int64_t gap_ns =
            i && trace_start_ns(trace, e) > span->end_ns ? trace_start_ns(trace, e) - span->end_ns : 0;
        row->gaps += gap_ns > 0;
        row->longest_gap_ns = gap_ns > row->longest_gap_ns ? gap_ns : row->longest_gap_ns;
        row->idle_ns += gap_ns;
        span->end_ns = trace_end_ns(trace, e) > span->end_ns ? trace_end_ns(trace, e) : span->end_ns;
    }
    row->span_ns = span->end_ns - span->start_ns;
}

/* Add the times of USE, a part of those of ROW, each moment once. */
static void add_exposed(struct gpu_row *row, const struct device_use *use)
{
    row->computation_ns += intervals_length(&use->exposed[USE_COMPUTATION]);
    row->exposed_communication_ns += intervals_length(&use->exposed[USE_COMMUNICATION]);
    row->exposed_copies_ns += intervals_length(&use->exposed[USE_COPIES]);
}

/* Add all times of USE, a part of those of ROW, whose kernels ran in KERNELS. */
static void add_use(struct gpu_row *row, const struct device_use *use, const struct intervals *kernels,
                    struct interval window)
{
    SCOPED_BY(intervals_release) struct intervals without_nccl = { 0 };
    device_use_unite(use, 1u << GPU_COMPUTATION | 1u << GPU_MEMSET | 1u << GPU_COMMUNICATION, &without_nccl);
    row->kernel_ns += intervals_length(kernels);
    row->kernel_window_ns += intervals_length_within(kernels, window.start_ns, window.end_ns);
    add_exposed(row, use);
    row->communication_ns += intervals_length(&use->of[USE_COMMUNICATION]);
    row->copies_ns += intervals_length(&use->of[USE_COPIES]);
    row->memsets_ns += intervals_length(&use->of_work[GPU_MEMSET]);
    row->nccl_ns += intervals_length(&use->of_work[GPU_NCCL]);
    row->without_nccl_ns += intervals_length(&without_nccl);
    row->exposed_nccl_ns += intervals_length_outside(&use->of_work[GPU_NCCL], &without_nccl);
}

static struct interval window_of(const struct gpu_query *query, const struct gpu_row *row,
                                 struct interval span)
{
    struct interval window = query->of_whole ? query->windows[row->file] : span;
    return window.start_ns < window.end_ns ? window : span;
}

static void measure_shares(const struct gpu_query *query, struct gpu_row *row, const struct positions *work,
                           struct interval window)
{
    row->busy_share = share_of(row->busy_ns, row->span_ns);
    struct kernel_averages averages =
        gpu_efficiency_average(query->events, work->at, work->first, work->count, window);
    row->window_ns = window.end_ns - window.start_ns;
    row->utilization = share_of(row->kernel_window_ns, row->window_ns);
    row->sm_efficiency = averages.sm_efficiency;
    row->occupancy = averages.occupancy;
}

/* "7, 20": the streams of WORK. */
static struct text list_streams(struct gpu_query *query, const struct positions *work)
{
    const struct trace *trace = query->trace;
    SCOPED struct buffer text = { 0 };
    track_id last = TRACK_NONE;
    query->numbers.count = 0;
    for (size_t i = 0; i < work->count; i++) {
        track_id track = trace->track[query->events->event[position_of(work, i)]];
        if (track != last)
            *VEC_PUSH(&query->numbers) = trace->tracks[track].stream;
        last = track;
    }
    if (query->numbers.count)
        SORT_NUMBERS(query->numbers.at, query->numbers.count);
    for (size_t i = 0; i < query->numbers.count; i++)
        if (i == 0 || query->numbers.at[i] != query->numbers.at[i - 1])
            buffer_printf(&text, "%s%" PRId64, text.count ? ", " : "", query->numbers.at[i]);
    struct text kept = { arena_strndup(arena_of(query->gpu), text.at, text.count), text.count };
    return kept;
}

/* ---- copies ---- */

/* The intervals of copies of a name in the current part, and the end of those in earlier parts. */
struct copies_time {
    struct intervals when;
    int64_t until_ns;
};

struct copies_times {
    VEC_OF(struct copies_time);
};

/* The copies of ROW with the name of E; FIRST: index of the first copies of the row. */
static size_t copies_like(struct gpu_query *query, const struct gpu_row *row, size_t first, event_id e,
                          struct copies_times *times)
{
    const struct trace *trace = query->trace;
    uint32_t *slot = &query->copies_slot[trace->name[e]];
    if (*slot == 0) {
        struct text name = { trace_name(trace, e), names_length(trace->names, trace->name[e]) };
        *VEC_PUSH(&query->gpu->copies) = (struct gpu_copies){ .key = row->key, .name = name };
        *VEC_PUSH(times) = (struct copies_time){ .until_ns = INT64_MIN };
        *slot = (uint32_t)(query->gpu->copies.count - first);
    }
    assert(*slot <= times->count); /* slots are 0 between rows */
    return *slot - 1;
}

/* Add the copies of ROW in the current part of WALK by name; KERNELS are the intervals of kernels in it. */
static void gpu_add_copies(struct gpu_query *query, const struct gpu_row *row, size_t first,
                           const struct positions *work, const struct device_use_walk *walk,
                           const struct intervals *kernels, struct copies_times *times)
{
    const struct trace *trace = query->trace;
    FOR_EACH(time, times) {
        intervals_clear(&time->when);
        intervals_add(&time->when, walk->start_ns,
                      time->until_ns < walk->end_ns ? time->until_ns : walk->end_ns);
    }
    for (size_t i = walk->first; i < walk->end; i++) {
        event_id e = query->events->event[position_of(work, i)];
        if (query->events->work[position_of(work, i)] != GPU_MEMCPY)
            continue;
        size_t like = copies_like(query, row, first, e, times);
        struct gpu_copies *copies = &query->gpu->copies.at[first + like];
        struct copies_time *time = &times->at[like];
        int64_t end_ns = trace_end_ns(trace, e);
        copies->count++;
        sum_add(&copies->bytes, trace_arg_or(trace, ARG_BYTES, e, 0));
        copies->sum_ns += trace_dur_ns(trace, e);
        intervals_add(&time->when, trace_start_ns(trace, e), end_ns < walk->end_ns ? end_ns : walk->end_ns);
        time->until_ns = end_ns > time->until_ns ? end_ns : time->until_ns;
    }
    for (size_t i = 0; i < times->count; i++) {
        intervals_merge(&times->at[i].when);
        query->gpu->copies.at[first + i].union_ns += intervals_length(&times->at[i].when);
        query->gpu->copies.at[first + i].exposed_ns += intervals_length_outside(&times->at[i].when, kernels);
    }
}

static void forget_copies(struct gpu_query *query, const struct positions *work, struct copies_times *times)
{
    for (size_t i = 0; i < work->count; i++)
        query->copies_slot[query->trace->name[query->events->event[position_of(work, i)]]] = 0;
    for (size_t i = 0; i < times->count; i++)
        intervals_release(&times->at[i].when);
    VEC_FREE(times);
}

/* Add a row for WORK of DEVICE, which is not empty. */
static void gpu_add_row(struct gpu_query *query, const struct gpu_device *device, uint32_t group,
                        const struct positions *work)
{
    struct gpu_row row = { .key = group_key(query->gpu->group, group), .file = device->file };
    const char *name = device->properties ? device->properties->name : NULL;
    if (name)
        row.name = (struct text){ name, strlen(name) };
    struct interval span;
    gpu_find_gaps(query, &row, work, &span);
    const struct interval window = query->only_uses ? span : window_of(query, &row, span);
    const size_t first_copies = query->gpu->copies.count;
    struct copies_times times = { 0 };
    struct device_use use = { 0 };
    struct device_use_walk walk = {
        .gpu = query->events, .at = work->at, .offset = work->first, .count = work->count
    };
    while (device_use_next(&walk, &use)) {
        if (query->only_uses) {
            add_exposed(&row, &use);
            continue;
        }
        SCOPED_BY(intervals_release) struct intervals kernels = { 0 };
        device_use_unite(&use, 1u << GPU_COMPUTATION | 1u << GPU_NCCL | 1u << GPU_COMMUNICATION, &kernels);
        add_use(&row, &use, &kernels, window);
        gpu_add_copies(query, &row, first_copies, work, &walk, &kernels, &times);
    }
    device_use_release(&use);
    row.busy_ns = row.computation_ns + row.exposed_communication_ns + row.exposed_copies_ns;
    assert(row.busy_ns + row.idle_ns == row.span_ns);
    if (!query->only_uses) {
        forget_copies(query, work, &times);
        count_work(query, &row, work);
        measure_shares(query, &row, work, window);
        row.streams = list_streams(query, work);
    }
    *VEC_PUSH(&query->rows) = row;
}

/* ---- all rows ---- */

/* Count the calls that SELECTION holds, and events on devices that are not work. */
static void count_links(const struct gpu_query *query, const struct selection *selection)
{
    const struct trace *trace = query->trace;
    struct gpu *gpu = query->gpu;
    bool all = selection_is_all(selection);
    for (event_id e = 0; e < trace->event_count; e++) {
        gpu->calls += event_is_call(trace->kind[e]) && (all || selection_holds_place(selection, e));
        if (trace->kind[e] != EVENT_GPU_OTHER || !selection_holds(selection, e))
            continue;
        if (gpu->other++ == 0)
            gpu->first_other = trace->name[e];
        gpu->others_differ |= trace->name[e] != gpu->first_other;
    }
}

/* The work of a group, in order of start: filled and emptied device by device. */
typedef VEC_OF(struct positions) dealt;

/* Distribute the work of DEVICE in SELECTION to groups, and add a row for each. A device of several cycles gets several rows of one
 * group, which are joined afterwards. */
static void gpu_add_device(struct gpu_query *query, const struct selection *selection,
                           const struct gpu_device *device, dealt *groups)
{
    const struct gpu_events *events = query->events;
    SCOPED VEC_OF(uint32_t) found = { 0 };
    for (size_t at = device->first; at < device->first + device->count; at++) {
        event_id e = events->event[at], call = events->call[at];
        if (!selection_holds_work(selection, e, call))
            continue;
        query->gpu->work++;
        query->gpu->unlinked += call == EVENT_NONE;
        if (call == EVENT_NONE)
            query->gpu->unlinked_by[unlinked_sort_of(unlinked_work_of(query->trace), e)]++;
        uint32_t group = group_of(query->gpu->group, e, call, events->op[at]);
        while (groups->count <= group)
            *VEC_PUSH(groups) = (struct positions){ 0 };
        if (groups->at[group].count == 0)
            *VEC_PUSH(&found) = group;
        positions_add(&groups->at[group], at);
    }
    for (size_t i = 0; i < found.count; i++) {
        gpu_add_row(query, device, found.at[i], &groups->at[found.at[i]]);
        VEC_FREE(&groups->at[found.at[i]]);
    }
}

/* The row of DEVICE of FILE; NULL if there is none, or several. */
static struct gpu_row *row_of_device(struct gpu_query *query, uint32_t file, int32_t device)
{
    struct gpu_row *found = NULL;
    FOR_EACH(row, &query->rows) {
        if (row->file != file || row->key.device != device)
            continue;
        if (found)
            return NULL;
        found = row;
    }
    return found;
}

/* Take UNKNOWN_NS of exposed communication out of ROW: whom it waited for then was not recorded. */
static void gpu_leave_out_unrecorded(struct gpu_row *row, int64_t unknown_ns)
{
    unknown_ns = unknown_ns < row->exposed_communication_ns ? unknown_ns : row->exposed_communication_ns;
    row->exposed_communication_ns -= unknown_ns;
    row->communication_ns -= unknown_ns;
    row->busy_ns -= unknown_ns;
    row->span_ns -= unknown_ns;
    row->unrecorded_ns += unknown_ns;
    row->busy_share = share_of(row->busy_ns, row->span_ns);
}

/* Communication that waited for a rank whose recording had not begun is neither work nor waste. */
static void leave_out_unrecorded_waits(struct gpu_query *query)
{
    const struct unrecorded_waits *waits = unrecorded_waits_of(query->trace);
    for (size_t i = 0; i < waits->count; i++) {
        struct gpu_row *row = row_of_device(query, waits->at[i].file, waits->at[i].device);
        if (row)
            gpu_leave_out_unrecorded(row, waits->at[i].ns);
    }
}

static const struct key of_place[] = { ASC(struct group_key, rank),   ASC(struct group_key, cycle),
                                       ASC(struct group_key, device), ASC(struct group_key, stream),
                                       ASC(struct group_key, step),   KEY_END };

/* Sort ROWS by their keys; missing values, the least, come last. */
static void gpu_sort_rows(struct gpu_row *rows, size_t count)
{
    static const size_t members[] = { offsetof(struct group_key, step), offsetof(struct group_key, stream),
                                      offsetof(struct group_key, device), offsetof(struct group_key, cycle),
                                      offsetof(struct group_key, rank) };
    for (size_t m = 0; m < sizeof members / sizeof *members; m++)
        SORT_BY(rows, count, i,
                (int64_t)(*(const uint64_t *)(const void *)((const char *)&rows[i].key + members[m]) - 1));
}

/* The mean of two shares by their weights; that of the other if one is not known. */
static double gpu_joined_share(double a, int64_t weight_a, double b, int64_t weight_b)
{
    if (isnan(a) || isnan(b) || weight_a + weight_b <= 0)
        return isnan(a) ? b : a;
    return (a * (double)weight_a + b * (double)weight_b) / (double)(weight_a + weight_b);
}

/* Add MORE, another recording of the same, to ROW: times and counts add up, shares are of the added times. */
static void join_row(struct gpu_row *row, const struct gpu_row *more)
{
    static const size_t sums[] = {
        offsetof(struct gpu_row, span_ns),
        offsetof(struct gpu_row, computation_ns),
        offsetof(struct gpu_row, exposed_communication_ns),
        offsetof(struct gpu_row, exposed_copies_ns),
        offsetof(struct gpu_row, idle_ns),
        offsetof(struct gpu_row, busy_ns),
        offsetof(struct gpu_row, communication_ns),
        offsetof(struct gpu_row, copies_ns),
        offsetof(struct gpu_row, memsets_ns),
        offsetof(struct gpu_row, gaps),
        offsetof(struct gpu_row, events),
        offsetof(struct gpu_row, kernels),
        offsetof(struct gpu_row, kernel_sum_ns),
        offsetof(struct gpu_row, kernel_ns),
        offsetof(struct gpu_row, nccl_kernels),
        offsetof(struct gpu_row, nccl_ns),
        offsetof(struct gpu_row, without_nccl_ns),
        offsetof(struct gpu_row, exposed_nccl_ns),
        offsetof(struct gpu_row, window_ns),
        offsetof(struct gpu_row, kernel_window_ns),
    };
    row->utilization = gpu_joined_share(row->utilization, row->window_ns, more->utilization, more->window_ns);
    row->sm_efficiency =
        gpu_joined_share(row->sm_efficiency, row->window_ns, more->sm_efficiency, more->window_ns);
    row->occupancy =
        gpu_joined_share(row->occupancy, row->kernel_sum_ns, more->occupancy, more->kernel_sum_ns);
    row->tensor_core_share = gpu_joined_share(row->tensor_core_share, row->kernel_sum_ns,
                                              more->tensor_core_share, more->kernel_sum_ns);
    row->tensor_core_unknown_share = gpu_joined_share(row->tensor_core_unknown_share, row->kernel_sum_ns,
                                                      more->tensor_core_unknown_share, more->kernel_sum_ns);
    row->busy_share = gpu_joined_share(row->busy_share, row->span_ns, more->busy_share, more->span_ns);
    for (size_t i = 0; i < sizeof sums / sizeof *sums; i++)
        sum_add((int64_t *)(void *)((char *)row + sums[i]),
                *(const int64_t *)(const void *)((const char *)more + sums[i]));
    if (more->longest_gap_ns > row->longest_gap_ns)
        row->longest_gap_ns = more->longest_gap_ns;
    if (more->streams.len > row->streams.len) /* which are mostly the same */
        row->streams = more->streams;
}

/* Join rows and copies of one group, which are sorted by key. */
static void join_cycles(struct gpu_query *query)
{
    struct gpu *gpu = query->gpu;
    size_t kept = 0;
    for (size_t i = 0; i < query->rows.count; i++)
        if (kept && rows_compare(&query->rows.at[kept - 1].key, &query->rows.at[i].key, of_place) == 0)
            join_row(&query->rows.at[kept - 1], &query->rows.at[i]);
        else
            query->rows.at[kept++] = query->rows.at[i];
    query->rows.count = kept;
    kept = 0;
    FOR_EACH(more, &gpu->copies) {
        struct gpu_copies *same =
            FIND_OF(one, gpu->copies.at, kept,
                    rows_compare(&one->key, &more->key, of_place) == 0 && one->name.at == more->name.at);
        if (!same) {
            gpu->copies.at[kept++] = *more;
            continue;
        }
        sum_add(&same->count, more->count);
        sum_add(&same->bytes, more->bytes);
        sum_add(&same->sum_ns, more->sum_ns);
        sum_add(&same->union_ns, more->union_ns);
        sum_add(&same->exposed_ns, more->exposed_ns);
    }
    gpu->copies.count = kept;
}

static const struct key by_sum[] = { DESC(struct gpu_copies, sum_ns), KEY_END };

/* ONLY_USES: of the rows no more than of gpu_find_uses. */
static struct gpu *gpu_own_analyze(const struct trace *trace, const struct selection *selection, unsigned by,
                                   bool only_uses)
{
    struct gpu *gpu = arena_open(sizeof *gpu);
    ARENA_OWNS(arena_of(gpu), &gpu->at, &gpu->copies);
    gpu->trace = trace;
    gpu->group = arena_hold(arena_of(gpu), group_open(trace, by | BY(DEVICE)));
    struct gpu_query query = {
        .trace = trace,
        .events = gpu_events_of(trace),
        .gpu = gpu,
        .of_whole = !selection->windows && !(by & BY(STEP)),
        .windows = only_uses ? NULL : gpu_efficiency_windows(gpu_events_of(trace)),
        .only_uses = only_uses,
        .tensor = mem_zalloc(names_count(trace->names) + 1, sizeof *query.tensor),
        .copies_slot = mem_zalloc(names_count(trace->names) + 1, sizeof *query.copies_slot),
    };
    SCOPED dealt groups = { 0 };
    for (size_t d = 0; d < query.events->device_count; d++)
        if (!selection->files || selection->files[query.events->devices[d].file])
            gpu_add_device(&query, selection, &query.events->devices[d], &groups);
    if (!only_uses)
        count_links(&query, selection);
    if (query.of_whole && selection_is_all(selection) && by == BY(DEVICE))
        leave_out_unrecorded_waits(&query);
    gpu_sort_rows(query.rows.at, query.rows.count);
    if (file_set_has_cycles(file_set_of(trace)))
        join_cycles(&query);
    SORT(&gpu->copies, by_sum);
    gpu->at = query.rows.at;
    gpu->count = query.rows.count;
    VEC_FREE(&query.numbers);
    free(query.windows);
    free(query.tensor);
    free(query.copies_slot);
    return gpu;
}

/* The result that the summary and the table of devices share. */
static struct gpu *gpu_find_usual(const struct trace *trace)
{
    return gpu_own_analyze(trace, selection_all(trace), BY(DEVICE), false);
}

static const struct gpu *gpu_usual(const struct trace *trace);
DERIVED(gpu, gpu_usual, gpu_find_usual);

const struct gpu *gpu_analyze(const struct trace *trace, const struct selection *selection, unsigned by)
{
    return by == BY(DEVICE) && selection_is_all(selection) ? gpu_usual(trace)
                                                           : gpu_own_analyze(trace, selection, by, false);
}

const struct gpu *gpu_find_uses(const struct trace *trace, const struct selection *selection)
{
    const struct gpu *usual =
        selection_is_all(selection) ? trace_derived(trace, &gpu_usual_derivation) : NULL;
    return usual ? usual : gpu_own_analyze(trace, selection, BY(DEVICE), true);
}

/* ---- tables ---- */

/* clang-format off */
static const struct table_column device_columns[] = {
    GROUP_COLUMNS(struct gpu_row, key),
    COLUMN(struct gpu_row, name, "name", "Name", TABLE_NAME, "model, as recorded", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, span_ns, "span", "Span", TABLE_NS, "from the start of the first work to the end of the last"),
    COLUMN(struct gpu_row, busy_ns, "busy", "Busy", TABLE_NS, "time in which any stream worked"),
    COLUMN(struct gpu_row, computation_ns, "computation", "Computation", TABLE_NS, "time in which a kernel that does not communicate ran, or a memset"),
    COLUMN(struct gpu_row, exposed_communication_ns, "exposed_communication", "Exposed comm.", TABLE_NS, "communication while nothing computed"),
    COLUMN(struct gpu_row, exposed_copies_ns, "exposed_memcpy", "Exposed copies", TABLE_NS, "copies while nothing computed or communicated"),
    COLUMN(struct gpu_row, idle_ns, "idle", "Idle", TABLE_NS, "span without busy"),
    COLUMN(struct gpu_row, communication_ns, "communication", "Communication", TABLE_NS, "time in which a kernel communicated", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, copies_ns, "memcpy_union", "Copies", TABLE_NS, "time in which something was copied", .flags = TABLE_OPTIONAL, .aliases = "memcpy"),
    COLUMN(struct gpu_row, memsets_ns, "memset_union", "Memsets", TABLE_NS, "time in which memory was set", .flags = TABLE_OPTIONAL, .aliases = "memset"),
    COLUMN(struct gpu_row, gaps, "gaps", "Gaps", TABLE_TALLY, "how often the device was idle between two operations"),
    COLUMN(struct gpu_row, longest_gap_ns, "longest_gap", "Longest gap", TABLE_NS, "the longest of them"),
    COLUMN(struct gpu_row, events, "events", "Events", TABLE_TALLY, "kernels, copies and memsets", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, streams, "streams", "Streams", TABLE_TEXT, "numbers of the streams that worked", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, kernels, "kernels", "Kernels", TABLE_TALLY, "kernels run", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, kernel_sum_ns, "kernel_sum", "Kernel sum", TABLE_NS, "durations of the kernels added up, overlaps counted twice", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, kernel_ns, "kernel_union", "Kernel time", TABLE_NS, "time in which any kernel ran", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, nccl_kernels, "nccl_kernels", "NCCL kernels", TABLE_TALLY, "kernels called nccl or rccl", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, nccl_ns, "nccl_union", "NCCL", TABLE_NS, "time in which one of them ran", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, without_nccl_ns, "compute_and_memset_union", "Without NCCL", TABLE_NS, "time in which another kernel ran, or a memset", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_row, exposed_nccl_ns, "exposed_nccl", "Exposed NCCL", TABLE_NS, "NCCL while no other kernel ran, nor a memset", .flags = TABLE_OPTIONAL),
};

static const struct table_column efficiency_columns[] = {
    GROUP_COLUMNS(struct gpu_row, key),
    COLUMN(struct gpu_row, window_ns, "window", "Window", TABLE_NS, "the analyzed time: the steps, else the operators and what they launched, else the span"),
    COLUMN(struct gpu_row, utilization, "utilization", "Utilization", TABLE_SHARE, "share of the window in which a kernel ran", .aliases = "gpu_utilization"),
    COLUMN(struct gpu_row, sm_efficiency, "sm_efficiency", "SM efficiency", TABLE_SHARE, "estimate: blocks per SM of all running kernels, at most 1, over the window"),
    COLUMN(struct gpu_row, occupancy, "occupancy", "Occupancy", TABLE_SHARE, "estimated achieved occupancy of the kernels, weighted by their time"),
    COLUMN(struct gpu_row, tensor_core_share, "tensor_core_share", "Tensor cores", TABLE_SHARE, "share of kernel time in kernels known to use tensor cores"),
    COLUMN(struct gpu_row, tensor_core_unknown_share, "tensor_core_unknown_share", "TC unknown", TABLE_SHARE, "share of kernel time in kernels whose names do not show it"),
    COLUMN(struct gpu_row, busy_share, "busy_share", "Busy", TABLE_SHARE, "busy time as a share of the device's span"),
};

static const struct table_column copies_columns[] = {
    GROUP_COLUMNS(struct gpu_copies, key),
    COLUMN(struct gpu_copies, name, "name", "Copies", TABLE_NAME, "direction and kinds of memory"),
    COLUMN(struct gpu_copies, count, "count", "Events", TABLE_TALLY, "how many"),
    COLUMN(struct gpu_copies, bytes, "bytes", "Bytes", TABLE_BYTES, "bytes copied; 0 when not recorded"),
    COLUMN(struct gpu_copies, sum_ns, "sum", "Sum", TABLE_NS, "their durations added up"),
    COLUMN(struct gpu_copies, union_ns, "union", "Time", TABLE_NS, "time in which one of them ran", .flags = TABLE_OPTIONAL),
    COLUMN(struct gpu_copies, exposed_ns, "not_under_a_kernel", "Exposed", TABLE_NS, "time in which one of them ran and no kernel did", .aliases = "exposed"),
};
/* clang-format on */

/* Without the work that was lost, what a device did not do is not known. */
static struct gpu_row known_part(const struct trace *trace, struct gpu_row row)
{
    if (trace->files[row.file].lost.much) {
        row.idle_ns = row.gaps = row.longest_gap_ns = TABLE_INT_MISSING;
        row.utilization = row.sm_efficiency = row.busy_share = NAN;
    }
    return row;
}

/* The rows of GPU as far as they are known; new, free with free(). */
static struct gpu_row *known_rows(const struct gpu *gpu)
{
    struct gpu_row *rows = mem_alloc(mem_times(gpu->count + 1, sizeof *rows));
    for (size_t i = 0; i < gpu->count; i++)
        rows[i] = known_part(gpu->trace, gpu->at[i]);
    return rows;
}

/* What computation lost by running beside other work, of the kernels of SELECTION for which it can be judged. */
static void add_contention(const struct trace *trace, const struct selection *selection,
                           struct table *devices)
{
    const struct contention *contention = contention_analyze(trace, selection);
    struct contention_sum all = contention_total(contention);
    arena_free(contention);
    if (all.judged_ns == 0)
        return;
    table_add_footer(devices, "contention_judged", "Beside other work (judged kernels)", TABLE_NS,
                     table_int(all.judged_ns));
    if (all.lost_low_ns > 0) {
        table_add_footer(devices, "contention_lost", "of this, lost by contention", TABLE_NS,
                         table_int(all.lost_ns));
        table_add_footer(devices, "contention_lost_low", "at least", TABLE_NS, table_int(all.lost_low_ns));
        table_add_footer(devices, "contention_lost_high", "at most", TABLE_NS, table_int(all.lost_high_ns));
    } else {
        table_add_footer(devices, "contention_lost_high", "no loss by contention is proven; at most",
                         TABLE_NS, table_int(all.lost_high_ns));
    }
}

/* The table "devices"; its footers show that the parts add up. */
static struct table *devices_table(const struct gpu *gpu, const struct gpu_row *rows)
{
    struct table *table =
        TABLE_OF_ROWS("devices", "Span = computation + exposed communication + exposed copies + idle",
                      device_columns, rows, gpu->count);
    int64_t parts_ns = 0, span_ns = 0;
    FOR_EACH(row, gpu) {
        sum_add(&span_ns, row->span_ns);
        sum_add(&parts_ns, row->computation_ns);
        sum_add(&parts_ns, row->exposed_communication_ns);
        sum_add(&parts_ns, row->exposed_copies_ns);
        sum_add(&parts_ns, row->idle_ns);
    }
    group_fill_texts(gpu->group, table, offsetof(struct gpu_row, key));
    if (trace_lost_much(gpu->trace))
        parts_ns = TABLE_INT_MISSING;
    table_add_footer(table, "parts_total", "Sum of the parts", TABLE_NS, table_int(parts_ns));
    table_add_footer(table, "span_total", "Sum of the spans", TABLE_NS, table_int(span_ns));
    table_add_footer(table, "gpu_events",
                     arena_printf(&table->arena, "%s events", trace_device_word(gpu->trace)), TABLE_TALLY,
                     table_int(gpu->work));
    table_add_footer(table, "gpu_events_with_no_call_in_file", "of these, calls not in the file", TABLE_COUNT,
                     table_int(gpu->unlinked));
    table_add_footer(table, "calls", "Runtime and driver calls", TABLE_TALLY, table_int(gpu->calls));
    return table;
}

/* Add the tables "devices", "efficiency" and "copies", and notices. */
static void gpu_add_result(const struct gpu *gpu, struct result *result)
{
    struct gpu_row *rows = known_rows(gpu);
    struct table *efficiency =
        TABLE_OF_ROWS("efficiency", "How well it was used", efficiency_columns, rows, gpu->count);
    struct table *devices = devices_table(gpu, rows);
    if (!device_type_has_cuda(trace_device_type(gpu->trace))) { /* no multiprocessors, tensor cores, NCCL */
        TABLE_FLAG(efficiency, struct gpu_row, sm_efficiency, TABLE_FOREIGN);
        TABLE_FLAG(efficiency, struct gpu_row, occupancy, TABLE_FOREIGN);
        TABLE_FLAG(efficiency, struct gpu_row, tensor_core_share, TABLE_FOREIGN);
        TABLE_FLAG(efficiency, struct gpu_row, tensor_core_unknown_share, TABLE_FOREIGN);
        TABLE_FLAG(devices, struct gpu_row, nccl_kernels, TABLE_FOREIGN);
        TABLE_FLAG(devices, struct gpu_row, nccl_ns, TABLE_FOREIGN);
        TABLE_FLAG(devices, struct gpu_row, without_nccl_ns, TABLE_FOREIGN);
        TABLE_FLAG(devices, struct gpu_row, exposed_nccl_ns, TABLE_FOREIGN);
    }
    struct table *copies =
        TABLE_OF_ROWS("copies", "Copies", copies_columns, gpu->copies.at, gpu->copies.count);
    copies->none = "Nothing was copied here.";
    group_fill_texts(gpu->group, efficiency, offsetof(struct gpu_row, key));
    group_fill_texts(gpu->group, copies, offsetof(struct gpu_copies, key));
    copies->sort_column = table_column_at(copies, offsetof(struct gpu_copies, sum_ns));
    result_add_table(result, devices);
    free(rows);
    result_add_table(result, efficiency);
    result_add_table(result, copies);
    static const struct {
        const char *kind, *text;
    } unlinked[UNLINKED_SORTS] = {
        [UNLINKED_EARLY] = { "unlinked_gpu_work",
                             "kernels, copies and memsets were launched by calls that are not in the file, most "
                             "often before recording began; they count like all others" },
        [UNLINKED_NO_NUMBER] = { "unnumbered_gpu_work",
                                 "kernels, copies and memsets do not record which call launched them; they count "
                                 "like all others" },
        [UNLINKED_LOST] = { "gpu_work_of_lost_calls",
                            "kernels, copies and memsets were launched while the recording ran, by calls that are not "
                            "in the file: these were lost, or calls of their kind are not recorded; they count like all others" },
    };
    for (int sort = 0; sort < UNLINKED_SORTS; sort++)
        if (gpu->unlinked_by[sort])
            ADD_NOTICE(result, unlinked[sort].kind, gpu->unlinked_by[sort], "%s", unlinked[sort].text);
    int64_t unrecorded_ns = 0;
    for (size_t i = 0; i < gpu->count; i++)
        sum_add(&unrecorded_ns, gpu->at[i].unrecorded_ns);
    if (unrecorded_ns)
        ADD_NOTICE(
            result, "before_recording", unrecorded_ns,
            "%.3f ms of communication waited for a rank whose recording had not begun: that time is left out of the spans",
            (double)unrecorded_ns / 1e6);
    if (gpu->other)
        ADD_NOTICE(result, "other_device_events", gpu->other,
                   "events on devices, %s%s, are neither kernels, copies, memsets nor waits of streams: "
                   "they count nowhere",
                   names_text(gpu->trace->names, gpu->first_other), gpu->others_differ ? " and others" : "");
}

static bool run_gpu(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    (void)err;
    const struct gpu *gpu = gpu_analyze(query->trace, query->selection, query->by);
    gpu_add_result(gpu, result);
    arena_free(gpu);
    if (!query->only_rows)
        add_contention(query->trace, query->selection, result->tables.at[0]);
    if (query->by & BY(STEP) && step_list_of(query->trace)->count == 0)
        ADD_NOTICE(result, "no_steps", 0,
                   "the trace marks no steps, so all work is in none; to record them, %s",
                   trace_feature_recipe(query->trace, FEATURE_STEPS));
    return true;
}

static const struct opt_choice own_words[] = {
    { .name = "op",
      .aliases = "operator kernel",
      .refusal =
          "idle time has no operator; tpa kernels --by op and tpa gaps --by op have rows per operator" },
    { .name = "thread",
      .refusal = "a device works for all threads at once; tpa launches --by thread has rows per thread" },
    { 0 },
};

static const struct table_shape tables[] = {
    TABLE_SHAPE("devices", device_columns),
    TABLE_SHAPE("efficiency", efficiency_columns),
    TABLE_SHAPE("copies", copies_columns),
    { 0 },
};

const struct analysis analysis_gpu = {
    .name = "gpu",
    .summary = "what each GPU did with its time: computed, communicated, copied, idled",
    .description =
        "One row per device, over all its streams. Each moment counts once: the device computes; else it "
        "communicates (exposed communication); else it copies (exposed copies); else it is idle. The four add up to "
        "the span, to the nanosecond.\n\n"
        "Then how well it was used: utilization, estimated SM efficiency and achieved occupancy as TensorBoard's "
        "PyTorch plugin defined them, and the share of kernel time on tensor cores. Then the copies.\n\n"
        "With --steps, --range or --by step, a row is about the work that was launched then, whenever it ran.",
    .schema = "tpa.gpu/1",
    .examples = {
        "tpa gpu trace.json",
        "tpa gpu --steps 3..7 trace.json  # the work that these steps launched",
        "tpa gpu --format json runs/today/  # every rank, for scripts",
        "tpa gpu --columns span,busy,idle,gaps,longest_gap trace.json",
    },
    .wants = &gpu_wants,
    .compares = true,
    .needs = FEATURE_GPU,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(STEP),
    .by_default = BY(DEVICE),
    .own_words = own_words,
    .by_help = "what makes a row besides the device: its streams, the steps that launched the work",
    .tables = { tables },
    .run = run_gpu,
    .section = "Devices",
    .section_key = "devices",
    .section_intro =
        "What each device did with its time: it computes; else it communicates; else it copies; else it is idle.",
    .charts = "utilization",
};
