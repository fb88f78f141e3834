/*
 * drawn.h - traces for tests, small enough to draw: events one by one, times in nanoseconds.
 *
 *     static const struct trace_wants *drawn_wants = &gpu_wants;
 *     ...
 *     draw_host("cpu_op", "aten::mm", 1, 0, 30);            // category, name, thread, start, duration
 *     draw_call("cudaLaunchKernel", 1, 5, 5, 100);          // name, thread, start, duration, correlation
 *     draw_work("kernel", "gemm", 0, 7, 20, 40, 100);       // category, name, device, stream, start, duration, correlation
 *     draw_arg(ARG_BYTES, 64);                              // of the event drawn last
 *     draw_kernel("gemm", 5, 5, 20, 40, 100);               // start, duration of the call and of the kernel, correlation
 *     draw_step(1, 0, 50);                                  // ProfilerStep#1: start, duration
 *     gpu_events_of(drawn());                               // the trace, freed after the test
 *
 * The first event begins a drawing, which the first use of the trace ends. What is drawn next is another trace; draw_begin
 * begins one without events, or with other arguments.
 */
#ifndef TPA_TESTS_DRAWN_H
#define TPA_TESTS_DRAWN_H

#include "analyze/analysis.h"
#include "base/result.h"
#include "tests/unit/scratch.h"
#include "trace/builder.h"
#include <stdlib.h>
#include <string.h>

#define DRAW_NO_CALL INT64_C(-1)

/* What the drawings of this program keep of their events; the program may define it, NULL: all arguments. */
static const struct trace_wants *drawn_wants;

static struct trace_builder *draw_builder; /* NULL while nothing is drawn */
static struct trace_chunk *draw_chunk;     /* of the file that is drawn; NULL before the first */
static struct trace *drawn_last;

static void draw_end_file(void)
{
    if (draw_chunk && !trace_builder_append(draw_builder, draw_chunk, NULL))
        abort();
    trace_chunk_free(draw_chunk);
    draw_chunk = NULL;
}

static void draw_open_file(const char *path)
{
    draw_end_file();
    trace_builder_file(draw_builder, path, "Chrome JSON");
    trace_builder_current_file(draw_builder)->producer = PRODUCER_KINETO;
    draw_chunk = trace_chunk_open(draw_builder);
}

/* After a test that fails before its drawing is used. */
static void draw_forget(void *unused)
{
    (void)unused;
    draw_builder = NULL;
    draw_chunk = NULL;
    drawn_last = NULL;
}

static const struct trace_wants all_arguments = { .args = UINT64_MAX >> (64 - ARG_COUNT) };

static void draw_begin_with(const struct trace_wants *wants, const char *path)
{
    assert_null(draw_builder); /* what was begun before is used first */
    draw_builder = trace_builder_open(wants ? wants : &all_arguments);
    arena_defer(&unit_scratch, draw_forget, &draw_builder);
    draw_open_file(path);
}

/* Begin a drawing that keeps WANTS. */
static void draw_begin(const struct trace_wants *wants)
{
    draw_begin_with(wants, "drawn.json");
}

static struct trace_builder *draw_builder_now(void)
{
    if (!draw_builder)
        draw_begin(drawn_wants);
    return draw_builder;
}

/* What the file that is drawn has of events. */
static struct trace_chunk *draw_chunk_now(void)
{
    draw_builder_now();
    return draw_chunk;
}

static inline struct trace_file *drawn_file(void)
{
    return trace_builder_current_file(draw_builder_now());
}

/* The first, or a further, file: device 0 of one file is not device 0 of another. */
static inline void draw_file(const char *path)
{
    if (draw_builder)
        draw_open_file(path);
    else
        draw_begin_with(drawn_wants, path);
}

/* The trace that was drawn last. */
static inline struct trace *drawn(void)
{
    if (draw_builder) {
        draw_end_file();
        drawn_last = scratch_trace(trace_builder_finish(draw_builder));
        draw_builder = NULL;
    }
    return drawn_last;
}

static inline void draw_on_track(struct track_key track, const char *category, const char *name,
                                 int64_t start_ns, int64_t dur_ns)
{
    struct trace_chunk *chunk = draw_chunk_now();
    trace_chunk_event(chunk, &(struct chunk_event){
                                 .phase = 'X',
                                 .start_ns = start_ns,
                                 .dur_ns = dur_ns,
                                 .name = trace_chunk_name(chunk, name, strlen(name)),
                                 .track = trace_chunk_track(chunk, &track),
                                 .category = trace_chunk_category(chunk, category, strlen(category)),
                             });
}

static inline void draw_event(const char *category, const char *name, int64_t pid, int64_t tid,
                              int64_t start_ns, int64_t dur_ns)
{
    draw_on_track((struct track_key){ .pid = pid, .tid = tid }, category, name, start_ns, dur_ns);
}

static inline void draw_arg(enum trace_arg arg, int64_t value)
{
    if (trace_builder_wants(draw_builder, arg))
        trace_chunk_arg(draw_chunk, arg, value);
}

static inline void draw_decimal(enum trace_arg arg, double value)
{
    if (trace_builder_wants(draw_builder, arg))
        trace_chunk_arg_decimal(draw_chunk, arg, value);
}

static inline void draw_text(enum trace_arg arg, const char *text)
{
    draw_arg(arg, trace_chunk_text(draw_chunk, text, strlen(text)));
}

enum { DRAW_PROCESS = 100 }; /* of the host; its thread of the same number is the main thread */

/* A record of memory: a block of BYTES (freed: negative) at ADDRESS; BYTES in use from then on are TOTAL. */
static inline void draw_memory(int64_t at_ns, int64_t type, int64_t device, int64_t address, int64_t bytes,
                               int64_t total)
{
    struct track_key track = { .pid = DRAW_PROCESS, .tid = 1 };
    struct trace_chunk *chunk = draw_chunk_now();
    trace_chunk_event(chunk, &(struct chunk_event){
                                 .phase = 'i',
                                 .start_ns = at_ns,
                                 .dur_ns = -1,
                                 .name = trace_chunk_name(chunk, "[memory]", 8),
                                 .track = trace_chunk_track(chunk, &track),
                                 .category = trace_chunk_category(chunk, "cpu_instant_event", 17),
                             });
    draw_arg(ARG_DEVICE_TYPE, type);
    draw_arg(ARG_DEVICE_ID, device);
    draw_arg(ARG_BYTES, bytes);
    if (address)
        draw_arg(ARG_ADDRESS, address);
    if (total >= 0)
        draw_arg(ARG_TOTAL_ALLOCATED, total);
}

static inline void draw_host(const char *category, const char *name, int64_t thread, int64_t start_ns,
                             int64_t dur_ns)
{
    draw_event(category, name, DRAW_PROCESS, thread, start_ns, dur_ns);
}

static inline void draw_call(const char *name, int64_t thread, int64_t start_ns, int64_t dur_ns,
                             int64_t correlation)
{
    draw_event("cuda_runtime", name, DRAW_PROCESS, thread, start_ns, dur_ns);
    draw_arg(ARG_CORRELATION, correlation);
}

static inline void draw_work(const char *category, const char *name, int64_t device, int64_t stream,
                             int64_t start_ns, int64_t dur_ns, int64_t correlation)
{
    draw_event(category, name, device, stream, start_ns, dur_ns);
    draw_arg(ARG_DEVICE, device);
    draw_arg(ARG_STREAM, stream);
    if (correlation != DRAW_NO_CALL)
        draw_arg(ARG_CORRELATION, correlation);
}

/* Arguments of the operator drawn last: shapes and types of what goes in, as JSON. */
static inline void draw_inputs(const char *dims, const char *types)
{
    draw_text(ARG_INPUT_DIMS, dims);
    draw_text(ARG_INPUT_TYPES, types);
}

/* The work drawn last is the all-reduce NUMBER of group "0", of RANKS. */
static inline void draw_reduces(int64_t ranks, int64_t number)
{
    draw_text(ARG_COLLECTIVE, "allreduce");
    draw_text(ARG_GROUP_NAME, "0");
    draw_arg(ARG_GROUP_SIZE, ranks);
    draw_arg(ARG_SEQ_IN_GROUP, number);
}

/* cudaLaunchKernel on thread 1, and the kernel that it launches on stream 7 of device 0. */
static inline void draw_kernel(const char *name, int64_t call_ns, int64_t call_dur_ns, int64_t start_ns,
                               int64_t dur_ns, int64_t correlation)
{
    draw_call("cudaLaunchKernel", 1, call_ns, call_dur_ns, correlation);
    draw_work("kernel", name, 0, 7, start_ns, dur_ns, correlation);
}

static inline void draw_step(int64_t number, int64_t start_ns, int64_t dur_ns)
{
    char name[32];
    snprintf(name, sizeof name, "ProfilerStep#%d", (int)number);
    draw_host("user_annotation", name, 1, start_ns, dur_ns);
}

/* What is drawn from here on is of RANK; each but the first has a file of its own. */
static inline void draw_rank(int64_t rank)
{
    char path[32];
    snprintf(path, sizeof path, "rank%d.json", (int)rank);
    if (rank > 0)
        draw_file(path);
    drawn_file()->rank = rank;
}

/* The cell of the column with this key; aborts when there is none. */
static inline const union table_cell *cell_called(const struct table *table, size_t row, const char *key)
{
    int column = table_find_column(table, key, strlen(key));
    if (column < 0 || row >= table->row_count)
        abort();
    return table_cell(table, row, (size_t)column);
}

static inline int64_t int_called(const struct table *table, size_t row, const char *key)
{
    return cell_called(table, row, key)->i;
}

static inline double number_called(const struct table *table, size_t row, const char *key)
{
    return cell_called(table, row, key)->f;
}

static inline const char *text_called(const struct table *table, size_t row, const char *key)
{
    return cell_called(table, row, key)->text.at;
}

/* ROW has the cells WANTED, "device=0, name=gemm, share=0.5, stream=-": keys, and values as they are in JSON; -: missing. */
static inline void assert_row(const struct table *table, size_t row, const char *wanted)
{
    SCOPED struct buffer text = { 0 };
    for (const char *at = wanted, *next; *at; at = next) {
        size_t len = strcspn(at, "=");
        const char *end = strstr(at, ", ");
        next = end ? end + 2 : at + strlen(at);
        int column = table_find_column(table, at, len);
        if (column < 0 || row >= table->row_count)
            fail_msg("no row %zu with %.*s", row, (int)len, at);
        const union table_cell *cell = table_cell(table, row, (size_t)column);
        enum table_kind kind = table->columns[column].kind;
        buffer_printf(&text, "%.*s=", (int)len, at);
        if (table_is_missing(table, row, (size_t)column))
            buffer_putc(&text, '-');
        else if (table_is_text(kind))
            buffer_add(&text, cell->text.at, cell->text.len);
        else if (table_is_number(kind))
            buffer_printf(&text, "%.15g", cell->f);
        else
            buffer_printf(&text, "%lld", (long long)cell->i);
        buffer_printf(&text, "%s", end ? ", " : "");
    }
    assert_string_equal(text.at, wanted);
}

/* The table with this key; aborts when there is none. */
static inline struct table *table_called(const struct result *result, const char *key)
{
    for (size_t i = 0; i < result->tables.count; i++)
        if (strcmp(result->tables.at[i]->key, key) == 0)
            return result->tables.at[i];
    abort();
}

/* How many events the notice of KIND is about; 0 when there is none. */
static inline int64_t notice_called(const struct result *result, const char *kind)
{
    for (size_t i = 0; i < result->notices.count; i++)
        if (strcmp(result->notices.at[i].kind, kind) == 0)
            return result->notices.at[i].count;
    return 0;
}

/* Add to RESULT what ANALYSIS answers, with its own options as they are when not given. */
__attribute__((unused)) static void ask_analysis(const struct analysis *analysis, const struct trace *trace,
                                                 const struct selection *selection, unsigned by,
                                                 struct result *result)
{
    struct analysis_query query = {
        .trace = trace, .selection = selection, .by = by, .options = analysis->defaults, .by_given = by != 0
    };
    if (!analysis->run(&query, result, NULL))
        abort();
}

#endif
