/*
 * rocprof_csv.c - the CSV of rocprofv3: a table a kind of record, known by the columns of its header, of which versions add
 * some and change the order (ROCm 6.0, 6.2, 7.0; rocpd puts Guid first):
 *
 *     kernel      Kind Agent_Id Queue_Id (Stream_Id) Kernel_Name Correlation_Id Start_ and End_Timestamp (Workgroup_Size_X
 *                 Grid_Size_X ...: in work-items)
 *     copy        Kind Direction Source_Agent_Id Destination_Agent_Id Correlation_Id Start_ and End_Timestamp
 *     api         Domain Function Process_Id Thread_Id Correlation_Id Start_ and End_Timestamp; marker: Domain MARKER_...
 *     allocation  Kind Operation Agent_Id Allocation_Size Address Correlation_Id Start_ and End_Timestamp
 *     counter     Dispatch_Id Agent_Id Kernel_Name Counter_Name Counter_Value ...: rows of one dispatch are one kernel
 *     scratch     Alloc_Flags: the runtime's own; left out
 *     agent       Node_Id Agent_Type Product_Name Cu_Count
 *     stats       Name Calls TotalDurationNs: sums, no trace
 *     samples     Sample_Timestamp Instruction: no trace
 *
 * Times are ns. Agent_Id is "Agent 4" or 4: a node; its number as a device is its rank among the GPUs of agent_info, or,
 * without that, among the agents that kernels and copies name. From ROCm/rocm-systems, generateCSV.cpp of rocprofiler-sdk.
 */
#define _GNU_SOURCE /* asprintf, memmem */

#include "ingest/csv.h"
#include "base/quantity.h"
#include "base/search.h"
#include "base/rows.h"
#include "ingest/formats.h"
#include "ingest/json_text.h"
#include "ingest/rocm.h"
#include "ingest/step_guess.h"

/* ---- reading ---- */

/* clang-format off */
#define COLUMNS_OF_TABLES(X) \
    X(ADDRESS, "Address") X(AGENT_ID, "Agent_Id") X(AGENT_TYPE, "Agent_Type") \
    X(ALLOCATION_SIZE, "Allocation_Size") X(CORRELATION_ID, "Correlation_Id") \
    X(COUNTER_NAME, "Counter_Name") X(COUNTER_VALUE, "Counter_Value") X(CU_COUNT, "Cu_Count") \
    X(DESTINATION_AGENT_ID, "Destination_Agent_Id") X(DIRECTION, "Direction") \
    X(DISPATCH_ID, "Dispatch_Id") X(DOMAIN, "Domain") X(END_TIMESTAMP, "End_Timestamp") \
    X(FUNCTION, "Function") X(GRID_SIZE_X, "Grid_Size_X") X(GRID_SIZE_Y, "Grid_Size_Y") \
    X(GRID_SIZE_Z, "Grid_Size_Z") X(GROUP_SEGMENT_SIZE, "Group_Segment_Size") \
    X(KERNEL_NAME, "Kernel_Name") X(LDS_BLOCK_SIZE, "LDS_Block_Size") X(NAME, "Name") \
    X(NODE_ID, "Node_Id") X(OPERATION, "Operation") X(PROCESS_ID, "Process_Id") \
    X(PRODUCT_NAME, "Product_Name") X(QUEUE_ID, "Queue_Id") X(SOURCE_AGENT_ID, "Source_Agent_Id") \
    X(START_TIMESTAMP, "Start_Timestamp") X(STREAM_ID, "Stream_Id") X(THREAD_ID, "Thread_Id") \
    X(VGPR_COUNT, "VGPR_Count") X(WORKGROUP_SIZE_X, "Workgroup_Size_X") \
    X(WORKGROUP_SIZE_Y, "Workgroup_Size_Y") X(WORKGROUP_SIZE_Z, "Workgroup_Size_Z")
/* clang-format on */

enum column {
#define COLUMN_ROW(id, name) COLUMN_##id,
    COLUMNS_OF_TABLES(COLUMN_ROW)
#undef COLUMN_ROW
        COLUMNS
};

static const char *const column_names[COLUMNS] = {
#define COLUMN_ROW(id, name) [COLUMN_##id] = name,
    COLUMNS_OF_TABLES(COLUMN_ROW)
#undef COLUMN_ROW
};

struct agent {
    int64_t node;
    char *name; /* of the builder; NULL */
    int64_t units;
};

struct agents {
    VEC_OF(struct agent);
};

struct csv_table {
    enum csv_kind kind;
    struct buffer text;
    uint64_t
        odd; /* rows with more or fewer fields than columns; the profiler gives each a field for every column */
};

/* The rows of a table, and where its columns are. */
struct table_rows {
    struct csv csv;
    size_t columns[COLUMNS];
};

struct recording {
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct recorder *recorder;
    struct step_guess *guess;
    VEC_OF(struct csv_table) tables;
    struct agents agents; /* by node */
    int64_t pid;
    bool has_kernels; /* a table of kernels: those of counters are the same */
    struct names *dispatches;
    struct buffer domain; /* the last one that alone tells the kind of a call, */
    enum recorder_kind domain_kind;
    struct tpa_error *err;
    bool full;
};

static int64_t field(const struct table_rows *rows, enum column column)
{
    return csv_integer(&rows->csv, rows->columns[column], RECORDER_NONE);
}

static const char *text_field(const struct table_rows *rows, enum column column)
{
    return csv_field(&rows->csv, rows->columns[column]);
}

/* "Agent 4" or "4": 4. */
static int64_t agent_of(const struct table_rows *rows, enum column column)
{
    const char *text = text_field(rows, column);
    while (*text && !quantity_is_digit(*text))
        text++;
    int64_t number = 0;
    size_t digits = 0;
    for (; quantity_is_digit(text[digits]) && digits < 10; digits++)
        number = number * 10 + (text[digits] - '0');
    return digits > 0 && digits <= 9 ? number : -1;
}

static const struct key by_node[] = { ASC(struct agent, node), KEY_END };

static struct agent *find_agent(const struct agents *agents, int64_t node)
{
    size_t i = PLACE(k, agents->count, agents->at[k].node < node);
    return i < agents->count && agents->at[i].node == node ? &agents->at[i] : NULL;
}

static void add_agent(struct agents *agents, int64_t node, char *name, int64_t units)
{
    if (node < 0 || find_agent(agents, node) || agents->count >= 1024)
        return;
    *VEC_PUSH(agents) = (struct agent){ node, name, units };
    SORT(agents, by_node);
}

/* The number of the device; -1: it is the host's, or unknown. */
static int64_t csv_device_of(const struct recording *recording, int64_t node)
{
    struct agent *agent = find_agent(&recording->agents, node);
    return agent ? agent - recording->agents.at : -1;
}

static struct table_rows open_rows(const struct csv_table *table)
{
    struct table_rows rows = { .csv = csv_open(table->text.at, table->text.count) };
    csv_header(&rows.csv);
    for (int i = 0; i < COLUMNS; i++)
        rows.columns[i] = csv_column(&rows.csv, column_names[i]);
    return rows;
}

/* Call DO_ROW, which may be NULL, for each row of the tables of KIND. */
static void each_row(struct recording *recording, enum csv_kind kind,
                     void (*do_row)(struct recording *recording, const struct table_rows *rows))
{
    for (size_t i = 0; i < recording->tables.count && !recording->full; i++) {
        struct csv_table *table = &recording->tables.at[i];
        if (table->kind != kind)
            continue;
        struct table_rows rows = open_rows(table);
        table->odd = 0;
        while (!recording->full && csv_next(&rows.csv)) {
            table->odd += rows.csv.fields.count != rows.csv.columns.count;
            if (do_row)
                do_row(recording, &rows);
            if (recording->recorder)
                recording->full = !recorder_flush(recording->recorder, recording->err);
        }
        csv_release(&rows.csv);
    }
}

/* ---- agents ---- */

static void take_gpu(struct recording *recording, const struct table_rows *rows)
{
    if (strcasecmp(text_field(rows, COLUMN_AGENT_TYPE), "GPU") != 0)
        return;
    const char *name = text_field(rows, COLUMN_PRODUCT_NAME);
    if (!*name)
        name = text_field(rows, COLUMN_NAME);
    add_agent(&recording->agents, field(rows, COLUMN_NODE_ID),
              *name ? trace_builder_strndup(recording->builder, name, strlen(name)) : NULL,
              field(rows, COLUMN_CU_COUNT));
}

/* The agent of a kernel. */
static void take_agent(struct recording *recording, const struct table_rows *rows)
{
    add_agent(&recording->agents, agent_of(rows, COLUMN_AGENT_ID), NULL, RECORDER_NONE);
}

/* The agents of a copy that are devices, by its direction. */
static void take_agents(struct recording *recording, const struct table_rows *rows)
{
    const char *direction = text_field(rows, COLUMN_DIRECTION);
    if (strstr(direction, "DEVICE_TO"))
        add_agent(&recording->agents, agent_of(rows, COLUMN_SOURCE_AGENT_ID), NULL, RECORDER_NONE);
    if (strstr(direction, "TO_DEVICE"))
        add_agent(&recording->agents, agent_of(rows, COLUMN_DESTINATION_AGENT_ID), NULL, RECORDER_NONE);
}

static void find_agents(struct recording *recording)
{
    struct trace_file *file = trace_builder_current_file(recording->builder);
    each_row(recording, KIND_AGENT, take_gpu);
    if (recording->agents.count == 0) {
        each_row(recording, KIND_KERNEL, take_agent);
        each_row(recording, KIND_COUNTER, take_agent);
        each_row(recording, KIND_COPY, take_agents);
    }
    for (size_t i = 0; i < recording->agents.count; i++) {
        const struct agent *agent = &recording->agents.at[i];
        char *name = NULL;
        if (asprintf(&name, agent->name ? "%s (agent %lld)" : "%sagent %lld", agent->name ? agent->name : "",
                     (long long)agent->node) < 0)
            mem_out_of_memory(64);
        *VEC_PUSH(&file->devices) = (struct trace_device){
            .id = (int32_t)i,
            .name = trace_builder_strndup(recording->builder, name, strlen(name)),
            .sm_count = agent->units > 0 && agent->units < INT32_MAX ? (int)agent->units : 0,
        };
        free(name);
    }
}

/* ---- records ---- */

static void write_kernel(struct recording *recording, const struct table_rows *rows)
{
    static const enum column blocks[] = { COLUMN_WORKGROUP_SIZE_X, COLUMN_WORKGROUP_SIZE_Y,
                                          COLUMN_WORKGROUP_SIZE_Z },
                             grids[] = { COLUMN_GRID_SIZE_X, COLUMN_GRID_SIZE_Y, COLUMN_GRID_SIZE_Z };
    struct recorder_work work = RECORDER_WORK_NONE;
    size_t len;
    const char *name = csv_text(&rows->csv, rows->columns[COLUMN_KERNEL_NAME], &len);
    int64_t device = csv_device_of(recording, agent_of(rows, COLUMN_AGENT_ID));
    work.kind = RECORDER_KERNEL;
    work.name = recorder_name(recording->recorder, name, len);
    work.start_ns = field(rows, COLUMN_START_TIMESTAMP);
    work.end_ns = field(rows, COLUMN_END_TIMESTAMP);
    work.device = device < 0 ? 0 : device;
    work.stream = field(rows, COLUMN_STREAM_ID);
    if (work.stream == RECORDER_NONE)
        work.stream = field(rows, COLUMN_QUEUE_ID);
    work.correlation = field(rows, COLUMN_CORRELATION_ID);
    if (recorder_wants(recording->recorder, ARG_REGISTERS))
        work.registers = field(rows, COLUMN_VGPR_COUNT);
    if (recorder_wants(recording->recorder, ARG_SHARED_MEMORY))
        work.static_shared = field(rows, COLUMN_LDS_BLOCK_SIZE);
    if (work.static_shared == RECORDER_NONE)
        work.static_shared = field(rows, COLUMN_GROUP_SEGMENT_SIZE);
    bool has_shape =
        recorder_wants(recording->recorder, ARG_GRID) || recorder_wants(recording->recorder, ARG_BLOCK);
    for (int i = 0; i < 3 && has_shape; i++) {
        work.block[i] = field(rows, blocks[i]);
        work.grid[i] = rocm_blocks(field(rows, grids[i]), work.block[i]);
        has_shape = has_shape && work.grid[i] != RECORDER_NONE;
    }
    if (!has_shape)
        work.grid[0] = work.block[0] = RECORDER_NONE;
    recorder_work(recording->recorder, &work);
}

/* Values of counters; several rows have one dispatch, which is a kernel only where no table has the kernels. */
static void write_counter(struct recording *recording, const struct table_rows *rows)
{
    int64_t dispatch[3] = { field(rows, COLUMN_DISPATCH_ID), agent_of(rows, COLUMN_AGENT_ID),
                            field(rows, COLUMN_PROCESS_ID) }; /* processes number their dispatches alike */
    int64_t device = csv_device_of(recording, dispatch[1]);
    size_t known = names_count(recording->dispatches);
    bool is_new = names_add(recording->dispatches, (const char *)dispatch, sizeof dispatch) == known;
    if (is_new && !recording->has_kernels)
        write_kernel(recording, rows);
    const char *text = text_field(rows, COLUMN_COUNTER_VALUE);
    double value;
    if (recording->options->wants.counters && json_decimal(text, text + strlen(text), &value))
        recorder_sample(recording->recorder, recorder_counters(recording->recorder, device < 0 ? 0 : device),
                        text_field(rows, COLUMN_COUNTER_NAME), field(rows, COLUMN_START_TIMESTAMP), value);
}

static void write_copy(struct recording *recording, const struct table_rows *rows)
{
    struct recorder_work work = RECORDER_WORK_NONE;
    int64_t to = csv_device_of(recording, agent_of(rows, COLUMN_DESTINATION_AGENT_ID)),
            from = csv_device_of(recording, agent_of(rows, COLUMN_SOURCE_AGENT_ID));
    work.kind = RECORDER_MEMCPY;
    work.name = rocm_copy_name(recording->recorder, text_field(rows, COLUMN_DIRECTION));
    work.start_ns = field(rows, COLUMN_START_TIMESTAMP);
    work.end_ns = field(rows, COLUMN_END_TIMESTAMP);
    work.device = to >= 0 ? to : from >= 0 ? from : 0;
    work.stream = field(rows, COLUMN_STREAM_ID);
    work.correlation = field(rows, COLUMN_CORRELATION_ID);
    recorder_work(recording->recorder, &work);
}

/* Of a call, which most have of the call before: its domain's if that tells it, else by its name. */
static enum recorder_kind call_kind(struct recording *recording, const struct table_rows *rows,
                                    const char *name)
{
    size_t len;
    const char *domain = csv_text(&rows->csv, rows->columns[COLUMN_DOMAIN], &len);
    struct buffer *known = &recording->domain;
    if (len == 0 || known->count != len || memcmp(known->at, domain, len) != 0) {
        recording->domain_kind = rocm_domain_kind(domain);
        buffer_clear(known);
        buffer_add(known, domain, len);
    }
    return recording->domain_kind == RECORDER_KINDS ? rocm_host_kind(domain, name) : recording->domain_kind;
}

static void write_call(struct recording *recording, const struct table_rows *rows)
{
    size_t len;
    const char *name = csv_text(&rows->csv, rows->columns[COLUMN_FUNCTION], &len);
    enum recorder_kind kind = call_kind(recording, rows, name);
    int64_t pid = field(rows, COLUMN_PROCESS_ID), tid = field(rows, COLUMN_THREAD_ID);
    int64_t start_ns = field(rows, COLUMN_START_TIMESTAMP), end_ns = field(rows, COLUMN_END_TIMESTAMP);
    bool is_mark = kind == RECORDER_ANNOTATION && start_ns == end_ns;
    pid = pid == RECORDER_NONE ? recording->pid : pid;
    tid = tid == RECORDER_NONE ? pid : tid;
    if (!recorder_event(recording->recorder, kind, recorder_thread_of(recording->recorder, pid, tid),
                        recorder_name(recording->recorder, name, len), start_ns, end_ns,
                        is_mark ? EVENT_POINT : 0))
        return;
    if (kind != RECORDER_ANNOTATION)
        recorder_arg(recording->recorder, ARG_CORRELATION, field(rows, COLUMN_CORRELATION_ID));
    else if (!is_mark)
        step_guess_record(recording->guess, name, len, step_guess_thread(pid, tid), start_ns, end_ns);
}

static void write_allocation(struct recording *recording, const struct table_rows *rows)
{
    const char *operation = text_field(rows, COLUMN_OPERATION), *address = text_field(rows, COLUMN_ADDRESS);
    if (!rocm_is_memory(operation) || strstr(operation, "VMEM"))
        return;
    bool release = strstr(operation, "FREE") != NULL;
    int64_t device = csv_device_of(recording, agent_of(rows, COLUMN_AGENT_ID));
    recorder_memory(recording->recorder, &(struct recorder_memory){
                                             .time_ns = field(rows, COLUMN_END_TIMESTAMP),
                                             .address = (int64_t)strtoull(address, NULL, 0),
                                             .bytes = field(rows, COLUMN_ALLOCATION_SIZE),
                                             .device = release && device < 0 ? RECORDER_NONE : device,
                                             .pid = recording->pid,
                                             .tid = field(rows, COLUMN_THREAD_ID),
                                             .correlation = field(rows, COLUMN_CORRELATION_ID),
                                             .release = release,
                                         });
}

/* The process is that of the first call that has one. */
static void find_pid(struct recording *recording)
{
    for (size_t i = 0; i < recording->tables.count; i++) {
        if (recording->tables.at[i].kind != KIND_API)
            continue;
        struct table_rows rows = open_rows(&recording->tables.at[i]);
        size_t column = rows.columns[COLUMN_PROCESS_ID];
        while (recording->pid == 0 && column != CSV_NO_COLUMN && csv_next(&rows.csv))
            recording->pid = csv_integer(&rows.csv, column, 0);
        csv_release(&rows.csv);
    }
}

/* What the tables lack, once all were read: the profiler ends each row by a line end. */
static void tell_lacks(struct recording *recording)
{
    FOR_EACH(table, &recording->tables) {
        if (table->text.count && table->text.at[table->text.count - 1] != '\n')
            trace_builder_lacks(recording->builder, LACK_CUT_SHORT,
                                "the last row has no end: it, and rows behind it, may be missing in part", 1,
                                (int64_t)table->text.count);
        if (table->odd)
            trace_builder_lacks(recording->builder, LACK_BAD_RECORD,
                                "rows have more or fewer fields than the table has columns", table->odd,
                                TPA_NOWHERE);
    }
}

/* Take the text of SOURCE as a table of the recording. */
static bool add_table(struct recording *recording, struct source *source, struct tpa_error *err)
{
    struct csv_table table = { 0 };
    if (!csv_read_all(source, &table.text, err)) {
        buffer_release(&table.text);
        return false;
    }
    if (source_damage(source))
        trace_builder_lacks(
            recording->builder, LACK_DAMAGED,
            trace_builder_strndup(recording->builder, source_damage(source), strlen(source_damage(source))),
            1, TPA_NOWHERE);
    table.kind = rocprof_csv_kind(table.text.at, table.text.count);
    recording->has_kernels = recording->has_kernels || table.kind == KIND_KERNEL;
    trace_builder_current_file(recording->builder)->size += (int64_t)table.text.count;
    *VEC_PUSH(&recording->tables) = table;
    return true;
}

/* The other tables of the recording, of a directory. */
static bool add_others(struct recording *recording, const char *path, struct tpa_error *err)
{
    struct rocprof_csv_files files = rocprof_csv_files_of(path);
    struct source_limits limits = { .max_ratio = SOURCE_DEFAULT_MAX_RATIO };
    bool ok = true;
    for (size_t i = 0; i < files.count && ok; i++) {
        if (strcmp(files.at[i], path) == 0)
            continue;
        SCOPED_BY(source_free_at) struct source *source = source_open(files.at[i], &limits, err);
        ok = source && add_table(recording, source, err);
        if (!ok)
            tpa_in_file(err, files.at[i]);
    }
    rocprof_csv_files_free(&files);
    return ok;
}

static bool csv_fail_as(enum csv_kind kind, struct tpa_error *err)
{
    static const char *const whats[KINDS] = {
        [KIND_NONE] = "this is a table (CSV) that no version of rocprofv3 writes",
        [KIND_COUNTER] = NULL,
        [KIND_KERNEL] = NULL,
        [KIND_COPY] = NULL,
        [KIND_ALLOCATION] = NULL,
        [KIND_SCRATCH] = NULL,
        [KIND_API] = NULL,
        [KIND_AGENT] = "this is a list of devices, of rocprofv3",
        [KIND_STATS] = "these are statistics of rocprofv3",
        [KIND_SAMPLES] = "these are samples of instructions, of rocprofv3",
    };
    tpa_fail(err, 0, "not a trace: %s, and a trace was expected", whats[kind]);
    tpa_hint(err, "give its kernel_trace.csv, or the folder");
    return tpa_unread(err, TPA_PASSED_OVER);
}

static void write_all(struct recording *recording)
{
    each_row(recording, KIND_API, write_call);
    each_row(recording, KIND_KERNEL, write_kernel);
    each_row(recording, KIND_COUNTER, write_counter);
    each_row(recording, KIND_COPY, write_copy);
    each_row(recording, KIND_ALLOCATION, write_allocation);
    static const enum csv_kind others[] = { KIND_NONE, KIND_SCRATCH, KIND_STATS, KIND_SAMPLES };
    for (size_t i = 0; i < sizeof others / sizeof *others; i++)
        each_row(recording, others[i], NULL);
}

static bool read_rocprof_csv(struct source *source, struct trace_builder *builder,
                             const struct ingest_options *options, struct tpa_error *err)
{
    struct recording recording = { .builder = builder, .options = options, .err = err };
    struct trace_file *file = trace_builder_current_file(builder);
    file->producer = PRODUCER_ROCPROF;
    file->packing = source_packing(source);
    file->packed_size = source_packed_size(source);
    bool ok = add_table(&recording, source, err);
    if (ok && !rocprof_csv_is_trace(recording.tables.at[0].kind))
        ok = csv_fail_as(recording.tables.at[0].kind, err);
    ok = ok && (!options->in_directory || add_others(&recording, source_name(source), err));
    if (ok) {
        find_agents(&recording);
        find_pid(&recording);
        recording.recorder = recorder_open(builder, recording.pid, NULL);
        recording.guess = step_guess_open();
        recording.dispatches = names_open();
        write_all(&recording);
        tell_lacks(&recording);
        recorder_finish(recording.recorder);
        ok = !recording.full && recorder_append(recording.recorder, err);
        recorder_describe(recording.recorder);
        if (ok)
            step_guess_notice(recording.guess, builder);
    }
    for (size_t i = 0; i < recording.tables.count; i++)
        buffer_release(&recording.tables.at[i].text);
    EACH(VEC_FREE, &recording.tables, &recording.agents, &recording.domain);
    if (recording.dispatches)
        names_free(recording.dispatches);
    step_guess_free(recording.guess);
    recorder_free(recording.recorder);
    return ok;
}

static int sniff_rocprof_csv(const char *bytes, size_t len)
{
    return rocprof_csv_kind(bytes, len) == KIND_NONE ? 0 : 80;
}

const struct format format_rocprof_csv = {
    .name = "rocprofv3 CSV",
    .description = "AMD rocprofv3: --output-format csv, the tables of a folder together",
    .sniff = sniff_rocprof_csv,
    .read = read_rocprof_csv,
};
