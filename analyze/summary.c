/*
 * summary.c - see summary.h.
 *
 * The rules look at the tables of `tpa steps`, `gpu`, `gaps`, `transfers` and `memory`, so that a figure here is the one
 * that those commands show. Each rule is a row of RULES and a few lines that find its rows.
 */
#include "analyze/summary.h"

#include "analyze/callers.h"
#include "analyze/gaps.h"
#include "analyze/gpu.h"
#include "analyze/gpu_events.h"
#include "analyze/host_waits.h"
#include "analyze/memory.h"
#include "analyze/memory_records.h"
#include "analyze/step_times.h"
#include "analyze/transfers.h"
#include "trace/features.h"
#include "trace/launches.h"
#include "trace/span.h"
#include <assert.h>
#include <stdlib.h>

const struct trace_wants summary_wants = {
    .args = HOST_WAITS_WANTS | CALLERS_WANTS | GPU_EVENTS_WANTS | MEMORY_RECORDS_WANTS | WANT(BYTES) |
            WANT(BLOCKS_PER_SM) | WANT(OCCUPANCY),
};

/* ---- the rules ---- */

enum rule {
    RULE_UTILIZATION,
    RULE_DATA_LOADING,
    RULE_COMMUNICATION,
    RULE_SLOW_STEP,
    RULE_COPIES,
    RULE_IDLE_HOST,
    RULE_IDLE_LATENCY,
    RULE_IDLE_SYNCHRONISATION,
    RULE_IDLE_ALLOCATION,
    RULE_IDLE_COMMUNICATION,
    RULE_IDLE_PROFILER,
    RULE_STALL,
    RULE_TENSOR_CORES,
    RULE_MEMORY_FULL,
    RULE_MEMORY_GROWS,
    RULES
};

static const struct {
    const char *key, *finding;
    double threshold; /* a share above it is a finding */
    const char *command, *advice;
    const char *cause; /* of gaps */
} rules[RULES] = {
    [RULE_UTILIZATION] = { "utilization", "no kernel runs", 0.5, "tpa gpu",
                           "give the device more work at a time (a larger batch), or remove what it waits for",
                           NULL },
    [RULE_DATA_LOADING] = { "data_loading", "steps wait for data", 0.05, "tpa steps",
                            "load data in more workers (DataLoader's num_workers), ahead of time (prefetch_factor)",
                            NULL },
    [RULE_COMMUNICATION] = { "communication", "steps wait for communication", 0.10, "tpa gpu",
                             "overlap it with computation, or communicate less: accumulate or compress gradients",
                             NULL },
    [RULE_SLOW_STEP] = { "slow_step", "one step is slow", 0.05, "tpa steps",
                         "see in what the slowest step differs; leave warm-up steps out of the trace", NULL },
    [RULE_COPIES] = { "copies", "copies run alone", 0.10, "tpa transfers",
                      "copy on a stream of their own, from pinned memory, while kernels run", NULL },
    [RULE_IDLE_HOST] = { "idle_host", "idle: the host is late", 0.10, "tpa gaps",
                         "do less in Python between launches: compile the model, or capture it as a CUDA graph",
                         "host" },
    [RULE_IDLE_LATENCY] = { "idle_launch_latency", "idle: launch latency", 0.10, "tpa launches",
                            "kernels are many and short: fuse them, or capture them as a CUDA graph",
                            "launch latency" },
    [RULE_IDLE_SYNCHRONISATION] = { "idle_synchronisation", "idle: synchronisation", 0.10, "tpa gaps",
                                    "do not wait for the device in each step: no item(), print or copy to the host",
                                    "synchronisation" },
    [RULE_IDLE_ALLOCATION] = { "idle_allocation", "idle: allocation", 0.10, "tpa gaps",
                               "allocate once: keep tensors, warm up the caching allocator", "allocation" },
    [RULE_IDLE_COMMUNICATION] = { "idle_communication", "idle: communication", 0.10, "tpa gaps",
                                  "start collectives earlier and wait for them later", "communication wait" },
    [RULE_IDLE_PROFILER] = { "idle_profiler", "idle: the profiler itself", 0.10, "tpa gaps",
                             "this time would not be there without profiling: record less, skip the first steps",
                             "profiler overhead" },
    [RULE_STALL] = { "stall", "the host waits", 0.05, "tpa transfers", NULL, NULL },
    [RULE_TENSOR_CORES] = { "tensor_cores", "matrix kernels without tensor cores", 0.0, "tpa kernels",
                            "use mixed precision (torch.autocast), or allow TF32", NULL },
    [RULE_MEMORY_FULL] = { "memory_full", "memory is nearly full", 0.90, "tpa memory",
                           "recompute activations (checkpointing), use mixed precision or a smaller batch",
                           NULL },
    [RULE_MEMORY_GROWS] = { "memory_grows", "memory grows with every step", 0.0, "tpa memory",
                            "look for tensors that are kept from step to step, such as losses that are summed up",
                            NULL },
};

/* What is at stake in memory comes after what is at stake in time. */
static bool is_of_memory(enum rule rule)
{
    return rule == RULE_MEMORY_FULL || rule == RULE_MEMORY_GROWS;
}

struct finding {
    enum rule rule;
    int64_t rank;
    const char *device; /* "0"; for memory "cuda:0"; NULL: none */
    const char *detail; /* NULL: none */
    const char *advice;
    double share;
    int64_t time_ns, bytes; /* TABLE_INT_MISSING: not about that */
    size_t order;
};

struct question {
    const struct trace *trace;
    const struct selection *selection;
    struct result *parts; /* the tables of the analyses */
    VEC_OF(struct finding) findings;
    struct arena arena; /* texts of findings */
};

/* ---- reading tables ---- */

/* The table called KEY; NULL when there is none. */
static const struct table *table_of(const struct question *question, const char *key)
{
    for (size_t i = 0; i < question->parts->tables.count; i++)
        if (strcmp(question->parts->tables.at[i]->key, key) == 0)
            return question->parts->tables.at[i];
    return NULL;
}

static const union table_cell *cell(const struct table *table, size_t row, const char *key)
{
    int column = table_find_column(table, key, strlen(key));
    assert(column >= 0);
    return table_cell(table, row, (size_t)column);
}

/* The cell of a column that is a figure of time, bytes or count; 0 when it is missing. */
static int64_t figure(const struct table *table, size_t row, const char *key)
{
    int64_t value = cell(table, row, key)->i;
    return value == TABLE_INT_MISSING ? 0 : value;
}

/* The row of TABLE whose column KEY is TEXT; row_count when there is none. */
static size_t row_with(const struct table *table, const char *key, const char *text)
{
    size_t row = 0;
    while (row < table->row_count && strcmp(cell(table, row, key)->text.at, text) != 0)
        row++;
    return row;
}

/* Are the two texts, either of which may be missing, the same? */
static bool is_same(const char *a, const char *b)
{
    return a && b ? strcmp(a, b) == 0 : a == b;
}

static double share_of(int64_t part, int64_t whole)
{
    return whole > 0 ? (double)part / (double)whole : 0;
}

/* It is a finding when SHARE passes the threshold of its rule. */
static void consider(struct question *question, struct finding finding)
{
    if (!(finding.share > rules[finding.rule].threshold))
        return;
    if (!finding.advice)
        finding.advice = rules[finding.rule].advice;
    finding.order = question->findings.count;
    *VEC_PUSH(&question->findings) = finding;
}

static const char *device_text(struct question *question, int64_t device)
{
    return arena_printf(&question->arena, "%lld", (long long)device);
}

/* ---- steps ---- */

static void look_at_steps(struct question *question)
{
    const struct table *steps = table_of(question, "steps"), *summary = table_of(question, "summary");
    if (!steps || !summary || summary->row_count == 0)
        return;
    int64_t total_ns = 0;
    size_t complete = 0;
    for (size_t row = 0; row < steps->row_count; row++)
        if (cell(steps, row, "complete")->i == 1) {
            total_ns += figure(steps, row, "duration");
            complete++;
        }
    static const struct {
        const char *part;
        enum rule rule;
    } parts[] = { { "Data loading", RULE_DATA_LOADING }, { "Comm.", RULE_COMMUNICATION } };
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++) {
        size_t row = row_with(summary, "part", parts[i].part);
        if (row == summary->row_count)
            continue;
        consider(question, (struct finding){ .rule = parts[i].rule,
                                             .rank = TABLE_INT_MISSING,
                                             .share = cell(summary, row, "share")->f,
                                             .time_ns = figure(summary, row, "average") * (int64_t)complete,
                                             .bytes = TABLE_INT_MISSING });
    }
    size_t whole = row_with(summary, "part", "Step");
    if (whole == summary->row_count || complete < 3)
        return;
    int64_t over_ns = figure(summary, whole, "max") - figure(summary, whole, "median");
    consider(question, (struct finding){ .rule = RULE_SLOW_STEP,
                                         .rank = TABLE_INT_MISSING,
                                         .share = share_of(over_ns, total_ns),
                                         .time_ns = over_ns,
                                         .bytes = TABLE_INT_MISSING });
}

/* ---- devices ---- */

/* Span of the device that a row of another table is about. */
static int64_t span_of(const struct table *devices, int64_t rank, int64_t device)
{
    for (size_t row = 0; row < devices->row_count; row++)
        if (figure(devices, row, "rank") == rank && figure(devices, row, "device") == device)
            return figure(devices, row, "span");
    return 0;
}

static void look_at_idleness(struct question *question)
{
    const struct table *devices = table_of(question, "devices"), *causes = table_of(question, "causes");
    for (size_t row = 0; row < causes->row_count; row++) {
        int64_t rank = figure(causes, row, "rank"), device = figure(causes, row, "device");
        int64_t time_ns = figure(causes, row, "time");
        const char *cause = cell(causes, row, "cause")->text.at;
        for (enum rule rule = RULE_IDLE_HOST; rule <= RULE_IDLE_PROFILER; rule++)
            if (strcmp(rules[rule].cause, cause) == 0)
                consider(question,
                         (struct finding){ .rule = rule,
                                           .rank = rank,
                                           .device = device_text(question, device),
                                           .share = share_of(time_ns, span_of(devices, rank, device)),
                                           .time_ns = time_ns,
                                           .bytes = TABLE_INT_MISSING });
    }
}

/* The file of RANK. */
static const struct trace_file *file_of(const struct trace *trace, int64_t rank)
{
    for (uint32_t f = 0; f < trace->file_count; f++)
        if (selection_rank(trace, f) == rank)
            return &trace->files[f];
    return NULL;
}

/* What the file says of the device; NULL when nothing. */
static const struct trace_device *properties_of(const struct trace_file *file, int64_t device)
{
    for (size_t i = 0; file && i < file->devices.count; i++)
        if (file->devices.at[i].id == device)
            return &file->devices.at[i];
    return NULL;
}

/* Operators whose kernels could use tensor cores. */
static bool multiplies_matrices(const char *name)
{
    static const char *const operators[] = {
        "aten::mm",
        "aten::addmm",
        "aten::bmm",
        "aten::baddbmm",
        "aten::addbmm",
        "aten::linear",
        "aten::matmul",
        "aten::cudnn_convolution",
        "aten::convolution_backward",
        "aten::cudnn_convolution_backward",
        "aten::cudnn_convolution_backward_input",
        "aten::cudnn_convolution_backward_weight",
        "aten::_convolution",
        "aten::convolution",
        "aten::conv2d",
        "aten::_scaled_dot_product_attention_math",
    };
    for (size_t i = 0; i < sizeof operators / sizeof *operators; i++)
        if (strcmp(name, operators[i]) == 0)
            return true;
    return false;
}

/* Kernel time of the device that such operators launched. */
static int64_t matrix_time(const struct question *question, const struct launches *launches,
                           const bool *multiplies, const struct trace_file *file, int64_t device)
{
    const struct trace *trace = question->trace;
    int64_t sum_ns = 0;
    for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
        if (trace->kind[e] != EVENT_KERNEL || trace->tracks[trace->track[e]].device != device ||
            !selection_holds(question->selection, e))
            continue;
        event_id op = launches_operator(launches, e);
        sum_ns += op != EVENT_NONE && multiplies[trace->name[op]] ? trace->dur_ns[e] : 0;
    }
    return sum_ns;
}

static void look_at_tensor_cores(struct question *question)
{
    const struct trace *trace = question->trace;
    const struct table *devices = table_of(question, "devices"),
                       *efficiency = table_of(question, "efficiency");
    struct launches *launches = NULL;
    bool *multiplies = mem_zalloc(names_count(trace->names) + 1, sizeof *multiplies);
    for (name_id id = 0; id < names_count(trace->names); id++)
        multiplies[id] = multiplies_matrices(names_text(trace->names, id));
    for (size_t row = 0; row < efficiency->row_count; row++) {
        int64_t rank = figure(efficiency, row, "rank"), device = figure(efficiency, row, "device");
        const struct trace_file *file = file_of(trace, rank);
        const struct trace_device *properties = properties_of(file, device);
        bool none = cell(efficiency, row, "tensor_core_share")->f == 0 &&
                    cell(efficiency, row, "tensor_core_unknown_share")->f == 0;
        if (!none || !properties || properties->compute_major < 7)
            continue;
        launches = launches ? launches : launches_open(trace);
        int64_t matrix_ns = matrix_time(question, launches, multiplies, file, device);
        consider(question, (struct finding){ .rule = RULE_TENSOR_CORES,
                                             .rank = rank,
                                             .device = device_text(question, device),
                                             .share = share_of(matrix_ns, span_of(devices, rank, device)),
                                             .time_ns = matrix_ns,
                                             .bytes = TABLE_INT_MISSING });
    }
    launches_free(launches);
    free(multiplies);
}

static void look_at_devices(struct question *question)
{
    const struct table *devices = table_of(question, "devices"),
                       *efficiency = table_of(question, "efficiency");
    for (size_t row = 0; row < devices->row_count; row++) {
        int64_t time_ns = figure(devices, row, "exposed_memcpy");
        consider(question, (struct finding){ .rule = RULE_COPIES,
                                             .rank = figure(devices, row, "rank"),
                                             .device = device_text(question, figure(devices, row, "device")),
                                             .share = share_of(time_ns, figure(devices, row, "span")),
                                             .time_ns = time_ns,
                                             .bytes = TABLE_INT_MISSING });
    }
    for (size_t row = 0; row < efficiency->row_count; row++) {
        if (table_cell_is_missing(cell(efficiency, row, "utilization"), TABLE_SHARE))
            continue;
        double unused = 1.0 - cell(efficiency, row, "utilization")->f;
        consider(question,
                 (struct finding){ .rule = RULE_UTILIZATION,
                                   .rank = figure(efficiency, row, "rank"),
                                   .device = device_text(question, figure(efficiency, row, "device")),
                                   .share = unused,
                                   .time_ns = (int64_t)(unused * (double)figure(efficiency, row, "window")),
                                   .bytes = TABLE_INT_MISSING });
    }
}

/* ---- stalls ---- */

/* How long the files are, as far as they were asked for. */
static int64_t host_time(const struct question *question)
{
    int64_t sum_ns = 0;
    for (uint32_t f = 0; f < question->trace->file_count; f++) {
        struct interval span = trace_file_span(question->trace, f);
        const struct selection *selection = question->selection;
        if (selection->files && !selection->files[f])
            continue;
        sum_ns += selection->windows
                      ? intervals_length_within(&selection->windows[f], span.start_ns, span.end_ns)
                      : span.end_ns - span.start_ns;
    }
    return sum_ns;
}

static void look_at_stalls(struct question *question)
{
    const struct table *stalls = table_of(question, "stalls");
    int64_t whole_ns = host_time(question);
    for (size_t row = 0; row < stalls->row_count; row++) {
        int64_t time_ns = figure(stalls, row, "could_be_won");
        const char *owner = cell(stalls, row, "operator")->text.at,
                   *cause = cell(stalls, row, "cause")->text.at;
        const char *detail = strcmp(owner, cell(stalls, row, "call")->text.at) == 0
                                 ? owner
                                 : arena_printf(&question->arena, "%s, %s", owner, cause);
        consider(question, (struct finding){ .rule = RULE_STALL,
                                             .rank = TABLE_INT_MISSING,
                                             .detail = detail,
                                             .advice = cell(stalls, row, "advice")->text.at,
                                             .share = share_of(time_ns, whole_ns),
                                             .time_ns = time_ns,
                                             .bytes = TABLE_INT_MISSING });
    }
}

/* ---- memory ---- */

static void look_at_peaks(struct question *question)
{
    const struct table *memory = table_of(question, "memory");
    for (size_t row = 0; memory && row < memory->row_count; row++) {
        const char *device = cell(memory, row, "device")->text.at,
                   *number = device ? strchr(device, ':') : NULL;
        const struct trace_file *file = file_of(question->trace, figure(memory, row, "rank"));
        const struct trace_device *properties =
            number ? properties_of(file, strtoll(number + 1, NULL, 10)) : NULL;
        int64_t peak = figure(memory, row, "peak_allocated");
        if (properties)
            consider(question, (struct finding){ .rule = RULE_MEMORY_FULL,
                                                 .rank = figure(memory, row, "rank"),
                                                 .device = device,
                                                 .share = share_of(peak, properties->total_memory),
                                                 .time_ns = TABLE_INT_MISSING,
                                                 .bytes = peak });
    }
}

/* The rows of a device follow one another, step by step. The first step may well grow: optimizers make their state. */
static void look_at_growth(struct question *question)
{
    const struct table *steps = table_of(question, "memory_steps");
    for (size_t first = 0, end; steps && first < steps->row_count; first = end) {
        int64_t rank = figure(steps, first, "rank"), least = INT64_MAX;
        const char *device = cell(steps, first, "device")->text.at;
        for (end = first; end < steps->row_count && figure(steps, end, "rank") == rank &&
                          is_same(cell(steps, end, "device")->text.at, device);
             end++) {
            int64_t growth = figure(steps, end, "growth");
            if (end > first && growth < least)
                least = growth;
        }
        if (end - first < 4)
            continue;
        consider(question, (struct finding){ .rule = RULE_MEMORY_GROWS,
                                             .rank = rank,
                                             .device = device,
                                             .share = share_of(least, figure(steps, end - 1, "peak")),
                                             .time_ns = TABLE_INT_MISSING,
                                             .bytes = least });
    }
}

/* ---- the tables ---- */

static void add_overview(const struct question *question, struct result *result)
{
    const struct table *summary = table_of(question, "summary"), *devices = table_of(question, "devices");
    const struct table *stalls = table_of(question, "stalls"), *memory = table_of(question, "memory");
    struct table *table = table_open("overview", "In short", NULL, 0);
    table_add_footer(table, "host_time", "Recorded", TABLE_NS, table_int(host_time(question)));
    if (summary && summary->row_count) {
        size_t row = row_with(summary, "part", "Step");
        table_add_footer(table, "steps", "Complete steps", TABLE_COUNT, summary->footers.at[0].value);
        if (row < summary->row_count)
            table_add_footer(table, "step_average", "A step takes", TABLE_NS,
                             table_int(figure(summary, row, "average")));
    }
    if (devices) {
        static const struct {
            const char *column, *key, *title;
        } parts[] = {
            { "computation", "computing", "Devices compute" },
            { "exposed_communication", "communicating", "communicate, and nothing else" },
            { "exposed_memcpy", "copying", "copy, and nothing else" },
            { "idle", "idle", "are idle" },
        };
        int64_t span_ns = 0, sums_ns[4] = { 0 };
        for (size_t row = 0; row < devices->row_count; row++) {
            span_ns += figure(devices, row, "span");
            for (size_t i = 0; i < 4; i++)
                sums_ns[i] += figure(devices, row, parts[i].column);
        }
        table_add_footer(table, "devices", "Devices", TABLE_COUNT, table_int((int64_t)devices->row_count));
        for (size_t i = 0; i < 4 && span_ns > 0; i++)
            table_add_footer(table, parts[i].key, parts[i].title, TABLE_SHARE,
                             table_number(share_of(sums_ns[i], span_ns)));
    }
    if (stalls && stalls->footers.count)
        table_add_footer(table, "host_blocked", "Host threads blocked", TABLE_NS,
                         stalls->footers.at[0].value);
    int64_t peak = INT64_MIN;
    for (size_t row = 0; memory && row < memory->row_count; row++)
        peak = figure(memory, row, "peak_allocated") > peak ? figure(memory, row, "peak_allocated") : peak;
    if (peak != INT64_MIN)
        table_add_footer(table, "peak_memory", "Most memory on a device", TABLE_BYTES, table_int(peak));
    result_add_table(result, table);
}

enum column {
    COLUMN_FINDING,
    COLUMN_SHARE,
    COLUMN_THRESHOLD,
    COLUMN_TIME,
    COLUMN_BYTES,
    COLUMN_RANK,
    COLUMN_DEVICE,
    COLUMN_SEE,
    COLUMN_ADVICE,
    COLUMN_RULE,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    { "finding", "Finding", TABLE_NAME, "what was found, and where", 0, NULL },
    { "share", "Share", TABLE_SHARE, "share of the time, or of the memory, that is at stake", 0, NULL },
    { "threshold", "Limit", TABLE_SHARE, "shares above this are findings", 0, NULL },
    { "time", "Time", TABLE_NS, "time at stake", 0, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "bytes at stake", TABLE_OPTIONAL, NULL },
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_OPTIONAL, NULL },
    { "device", "Device", TABLE_TEXT, "the device", 0, NULL },
    { "see", "See", TABLE_TEXT, "the command that shows more", 0, NULL },
    { "advice", "Advice", TABLE_TEXT, "what to do", TABLE_OPTIONAL, NULL },
    { "rule", "Rule", TABLE_TEXT, "the rule's name, for scripts", TABLE_OPTIONAL, NULL },
};
/* clang-format on */

static int compare_findings(const void *left, const void *right)
{
    const struct finding *a = left, *b = right;
    if (is_of_memory(a->rule) != is_of_memory(b->rule))
        return is_of_memory(a->rule) ? 1 : -1;
    if (a->share != b->share)
        return a->share > b->share ? -1 : 1;
    return a->order < b->order ? -1 : a->order > b->order;
}

static void set_text(struct table *table, size_t row, size_t column, const char *text)
{
    if (text)
        table_set_text(table, row, column, text, strlen(text));
}

static void add_finding(struct question *question, struct table *table, const struct finding *finding)
{
    const char *title = rules[finding->rule].finding;
    size_t row = table_add_row(table);
    set_text(table, row, COLUMN_FINDING,
             finding->detail ? arena_printf(&question->arena, "%s: %s", title, finding->detail) : title);
    table_set_number(table, row, COLUMN_SHARE, finding->share);
    table_set_number(table, row, COLUMN_THRESHOLD, rules[finding->rule].threshold);
    table_set_int(table, row, COLUMN_TIME, finding->time_ns);
    table_set_int(table, row, COLUMN_BYTES, finding->bytes);
    table_set_int(table, row, COLUMN_RANK, finding->rank);
    set_text(table, row, COLUMN_DEVICE, finding->device);
    set_text(table, row, COLUMN_SEE, rules[finding->rule].command);
    set_text(table, row, COLUMN_ADVICE, finding->advice);
    set_text(table, row, COLUMN_RULE, rules[finding->rule].key);
    if (finding->bytes != TABLE_INT_MISSING)
        table->columns[COLUMN_BYTES].flags = 0;
}

/* Each piece of advice once, that for what costs most first; a screen holds no more than a few. */
static void add_advice(const struct question *question, struct result *result)
{
    enum { MOST = 5 };
    size_t said = 0;
    for (size_t i = 0; i < question->findings.count && said < MOST; i++) {
        const struct finding *finding = &question->findings.at[i];
        bool repeated = !finding->advice;
        for (size_t before = 0; before < i && !repeated; before++)
            repeated = question->findings.at[before].advice &&
                       strcmp(question->findings.at[before].advice, finding->advice) == 0;
        if (repeated)
            continue;
        result_add_notice(result, "advice", 0, NULL, TPA_NOWHERE, "%s%s%s: %s", rules[finding->rule].finding,
                          finding->detail ? ": " : "", finding->detail ? finding->detail : "",
                          finding->advice);
        said++;
    }
}

static void add_findings(struct question *question, struct result *result)
{
    size_t count = question->findings.count;
    if (count == 0)
        return;
    qsort(question->findings.at, count, sizeof *question->findings.at, compare_findings);
    struct table *table = table_open("findings", "What to look at, first what costs most", columns, COLUMNS);
    if (question->trace->file_count > 1)
        table->columns[COLUMN_RANK].flags = 0;
    for (size_t i = 0; i < count; i++)
        add_finding(question, table, &question->findings.at[i]);
    result_add_table(result, table);
    add_advice(question, result);
}

/* ---- the whole ---- */

bool summary_add_tables(const struct trace *trace, const struct selection *selection, struct result *result,
                        struct tpa_error *err)
{
    struct question question = { .trace = trace, .selection = selection, .parts = result_open("parts") };
    unsigned features = trace_features(trace);
    bool good = true;
    if (features & FEATURE_MEMORY) { /* first: its table of steps is not that of `tpa steps` */
        memory_add_tables(trace, selection, &(struct memory_options){ 0 }, question.parts);
        for (size_t i = 0; i < question.parts->tables.count; i++)
            if (strcmp(question.parts->tables.at[i]->key, "steps") == 0)
                question.parts->tables.at[i]->key = "memory_steps";
        look_at_peaks(&question);
        look_at_growth(&question);
    }
    if (features & FEATURE_STEPS)
        good =
            step_times_add_tables(trace, selection, &(struct step_times_options){ 0 }, question.parts, err);
    if (good)
        look_at_steps(&question);
    if (good && (features & FEATURE_GPU)) {
        gpu_add_tables(trace, selection, false, question.parts);
        gaps_add_tables(trace, selection, &gaps_defaults, question.parts);
        transfers_add_tables(trace, selection, TRANSFERS_BY_KIND, question.parts);
        look_at_devices(&question);
        look_at_idleness(&question);
        look_at_stalls(&question);
        look_at_tensor_cores(&question);
    }
    if (good) {
        add_overview(&question, result);
        add_findings(&question, result);
    }
    result_free(question.parts);
    VEC_FREE(&question.findings);
    arena_release(&question.arena);
    return good;
}
