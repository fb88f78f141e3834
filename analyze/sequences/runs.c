/*
 * runs.c - short operations in a row, and the time in between in which the device had nothing to do.
 *
 * The operations of a run may overlap. What lies between them is from the latest end so far to the next start, without
 * the work of other streams; so these add up to the time from the first start to the last end in which the device was
 * idle.
 */
#include "analyze/sequences/parts.h"

#include "base/rows.h"
#include "base/runs.h"
#include "base/sum.h"
#include "trace/span.h"
#include <assert.h>

/* The short rows by group while they are made. */
struct short_rows {
    struct sequences *sequences;
    struct busy_time *busy;
    bool only_gains;    /* no rows are made */
    uint64_t *last_run; /* by group: the run that it was counted in last; runs count up from 1 */
    size_t capacity;
    uint64_t run;
};

static struct short_row *row_of_group(struct short_rows *rows, uint32_t id)
{
    struct sequences *sequences = rows->sequences;
    while (sequences->shorts.count <= id)
        *VEC_PUSH(&sequences->shorts) = (struct short_row){ 0 };
    if (rows->capacity < sequences->shorts.capacity) {
        rows->last_run =
            mem_realloc(rows->last_run, mem_times(sequences->shorts.capacity, sizeof *rows->last_run));
        memset(rows->last_run + rows->capacity, 0,
               (sequences->shorts.capacity - rows->capacity) * sizeof *rows->last_run);
        rows->capacity = sequences->shorts.capacity;
    }
    return &sequences->shorts.at[id];
}

static void add_to_row(struct short_row *row, int64_t work_ns, int64_t idle_ns, uint8_t because)
{
    row->operations++;
    row->work_ns += work_ns;
    sum_add(&row->idle_ns, idle_ns);
    sum_add(because == LATE_HOST     ? &row->host_ns
            : because == LATE_DEVICE ? &row->device_ns
                                     : &row->late_ns,
            idle_ns);
}

static struct text name_text(const struct trace *trace, event_id e)
{
    return (struct text){ trace_name(trace, e), names_length(trace->names, trace->name[e]) };
}

/* What WORK is called where there is little room: by its operator. */
static struct text short_name(const struct stream_operations *operations, const struct stream_work *work)
{
    event_id op = work_op(operations, work);
    return name_text(operations->trace, op != EVENT_NONE ? op : work_event(operations, work));
}

/* The gain of a graph: the idle time except what a graph leaves before each operation. */
static void judge(struct sequences *sequences, struct run_row *row)
{
    int64_t left_ns = row->operations * GRAPH_WORK_NS;
    row->gain_ns = TABLE_INT_MISSING;
    if (2 * row->not_queued < row->operations)
        return;
    row->gain_ns = row->idle_ns > left_ns ? row->idle_ns - left_ns : 0;
    sequences->graphs++;
    sum_add(&sequences->graph_gain_ns, row->gain_ns);
}

/* What one graph for the run of COUNT operations from FIRST on, of STREAM, would gain. */
static void add_gain(struct short_rows *rows, const struct stream_operations *operations,
                     const struct operations_of_stream *stream, const struct stream_work *first, size_t count)
{
    struct run_row row = { .operations = (int64_t)count };
    int64_t end_ns = work_start_ns(operations, first);
    for (const struct stream_work *work = first; work < first + count; work++) {
        int64_t start_ns = work_start_ns(operations, work),
                own_end_ns = start_ns + work_dur_ns(operations, work);
        sum_add(&row.idle_ns, busy_times_idle_ns(rows->busy, stream->device, end_ns, start_ns));
        row.not_queued += work->because == LATE_HOST;
        end_ns = own_end_ns > end_ns ? own_end_ns : end_ns;
    }
    judge(rows->sequences, &row);
}

/* The run of COUNT operations from FIRST on, of STREAM. */
static void add_run(struct short_rows *rows, const struct stream_operations *operations,
                    const struct operations_of_stream *stream, const struct stream_work *first, size_t count)
{
    struct sequences *sequences = rows->sequences;
    const struct trace *trace = operations->trace;
    struct run_row row = { .first = short_name(operations, first),
                           .last = short_name(operations, &first[count - 1]) };
    int64_t end_ns = work_start_ns(operations, first);
    struct short_row whole = { 0 };
    stream_operations_place(operations, stream, &row.rank, &row.device, &row.stream);
    row.cycle = selection_cycle(trace, trace->tracks[stream->track].file);
    row.start_ns = end_ns - trace_file_span(trace, trace->tracks[stream->track].file).start_ns;
    rows->run++;
    for (const struct stream_work *work = first; work < first + count; work++) {
        int64_t start_ns = work_start_ns(operations, work), work_ns = work_dur_ns(operations, work);
        int64_t idle_ns = busy_times_idle_ns(rows->busy, stream->device, end_ns, start_ns);
        uint32_t group = group_of(sequences->group, work_event(operations, work), work_call(operations, work),
                                  work_op(operations, work));
        struct short_row *of_group = row_of_group(rows, group);
        assert(rows->last_run);
        of_group->runs += rows->last_run[group] != rows->run;
        rows->last_run[group] = rows->run;
        add_to_row(of_group, work_ns, idle_ns, work->because);
        add_to_row(&whole, work_ns, idle_ns, work->because);
        add_to_row(&sequences->total, work_ns, idle_ns, work->because);
        row.not_queued += work->because == LATE_HOST;
        end_ns = start_ns + work_ns > end_ns ? start_ns + work_ns : end_ns;
    }
    sequences->total.runs++;
    row.operations = whole.operations;
    row.work_ns = whole.work_ns;
    row.idle_ns = whole.idle_ns;
    row.host_ns = whole.host_ns;
    row.device_ns = whole.device_ns;
    row.late_ns = whole.late_ns;
    judge(sequences, &row);
    *VEC_PUSH(&sequences->runs) = row;
}

static void add_runs_of(struct short_rows *rows, const struct stream_operations *operations,
                        const struct operations_of_stream *stream, const struct sequence_options *options)
{
    const struct stream_work *at = &operations->at[stream->first];
    for (size_t first = 0, end; first < stream->count; first = end) {
        for (end = first; end < stream->count && work_dur_ns(operations, &at[end]) < options->short_ns &&
                          (end == first || !at[end].alone);)
            end++;
        if (end - first >= (size_t)options->least)
            (rows->only_gains ? add_gain : add_run)(rows, operations, stream, &at[first], end - first);
        end += end == first;
    }
}

static const struct key by_gain_idle[] = { DESC(struct run_row, gain_ns), DESC(struct run_row, idle_ns),
                                           KEY_END };

static const struct key by_idle[] = { DESC(struct short_row, idle_ns), KEY_END };

void sequences_add_runs(struct sequences *sequences, const struct stream_operations *operations,
                        const struct sequence_options *options, bool only_gains)
{
    struct short_rows rows = { .sequences = sequences,
                               .busy = busy_times_open(operations),
                               .only_gains = only_gains };
    for (size_t s = 0; s < operations->streams.count; s++)
        add_runs_of(&rows, operations, &operations->streams.at[s], options);
    free(rows.last_run);
    arena_free(rows.busy);
    for (uint32_t id = 0; id < sequences->shorts.count; id++)
        sequences->shorts.at[id].key = group_key(sequences->group, id);
    SORT(&sequences->shorts, by_idle);
    SORT(&sequences->runs, by_gain_idle);
}
