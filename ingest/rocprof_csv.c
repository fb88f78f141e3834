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
#include "base/search.h"
#include "base/rows.h"
#include "ingest/formats.h"
#include "ingest/json_text.h"
#include "ingest/rocm.h"
#include "ingest/step_guess.h"

/* ---- reading ---- */

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
};

struct recording {
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct recorder *recorder;
    struct step_guess *guess;
    VEC_OF(struct csv_table) tables;
    struct agents agents; /* by node */
    struct agents used;   /* by kernels and copies */
    int64_t pid;
    bool has_kernels; /* a table of kernels: those of counters are the same */
    struct names *dispatches;
    struct tpa_error *err;
    bool full;
};

/* "Agent 4" or "4": 4. */
static int64_t agent_of(const struct csv *csv, size_t column)
{
    const char *text = csv_field(csv, column);
    text += strcspn(text, "0123456789");
    size_t digits = strspn(text, "0123456789");
    return digits > 0 && digits <= 9 ? strtoll(text, NULL, 10) : -1;
}

static const struct key by_node[] = { ASC(struct agent, node), KEY_END };

static struct agent *find_agent(const struct agents *agents, int64_t node)
{
    size_t i;
    SEARCH(i, agents->count, agents->at[i].node < node);
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

/* Call DO_ROW for each row of the tables of KIND. */
static void each_row(struct recording *recording, enum csv_kind kind,
                     void (*do_row)(struct recording *recording, struct csv *csv))
{
    enum { FLUSH_EVENTS = 32768 };
    for (size_t i = 0; i < recording->tables.count && !recording->full; i++) {
        const struct csv_table *table = &recording->tables.at[i];
        if (table->kind != kind)
            continue;
        struct csv csv = csv_open(table->text.at, table->text.count);
        csv_header(&csv);
        while (!recording->full && csv_next(&csv)) {
            do_row(recording, &csv);
            if (recording->recorder && recorder_waiting(recording->recorder) >= FLUSH_EVENTS)
                recording->full = !recorder_append(recording->recorder, recording->err);
        }
        csv_release(&csv);
    }
}

/* COLUMN is a literal, here as below. */
static int64_t field(struct csv *csv, const char *column)
{
    return csv_integer(csv, csv_known_column(csv, column), RECORDER_NONE);
}

static const char *text_field(struct csv *csv, const char *column)
{
    return csv_field(csv, csv_known_column(csv, column));
}

/* ---- agents ---- */

static void take_gpu(struct recording *recording, struct csv *csv)
{
    if (strcasecmp(text_field(csv, "Agent_Type"), "GPU") != 0)
        return;
    const char *name = text_field(csv, "Product_Name");
    if (!*name)
        name = text_field(csv, "Name");
    add_agent(&recording->agents, field(csv, "Node_Id"),
              *name ? trace_builder_strndup(recording->builder, name, strlen(name)) : NULL,
              field(csv, "Cu_Count"));
}

/* The agents that the row of a table of KIND names: of a copy the side that is a device, by its direction. */
static void take_used(struct recording *recording, enum csv_kind kind, struct csv *csv)
{
    const char *direction = kind == KIND_COPY ? text_field(csv, "Direction") : "";
    if (kind == KIND_KERNEL || kind == KIND_COUNTER)
        add_agent(&recording->used, agent_of(csv, csv_known_column(csv, "Agent_Id")), NULL, RECORDER_NONE);
    if (strstr(direction, "DEVICE_TO"))
        add_agent(&recording->used, agent_of(csv, csv_known_column(csv, "Source_Agent_Id")), NULL,
                  RECORDER_NONE);
    if (strstr(direction, "TO_DEVICE"))
        add_agent(&recording->used, agent_of(csv, csv_known_column(csv, "Destination_Agent_Id")), NULL,
                  RECORDER_NONE);
}

static void find_agents(struct recording *recording)
{
    struct trace_file *file = trace_builder_current_file(recording->builder);
    each_row(recording, KIND_AGENT, take_gpu);
    if (recording->agents.count == 0) {
        struct agents none = recording->agents;
        recording->agents = recording->used;
        recording->used = none;
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

static void write_kernel(struct recording *recording, struct csv *csv)
{
    static const char *const blocks[] = { "Workgroup_Size_X", "Workgroup_Size_Y", "Workgroup_Size_Z" },
                             *const grids[] = { "Grid_Size_X", "Grid_Size_Y", "Grid_Size_Z" };
    struct recorder_work work = RECORDER_WORK_NONE;
    const char *name = text_field(csv, "Kernel_Name");
    int64_t device = csv_device_of(recording, agent_of(csv, csv_known_column(csv, "Agent_Id")));
    work.kind = RECORDER_KERNEL;
    work.name = recorder_name(recording->recorder, name, strlen(name));
    work.start_ns = field(csv, "Start_Timestamp");
    work.end_ns = field(csv, "End_Timestamp");
    work.device = device < 0 ? 0 : device;
    work.stream = field(csv, "Stream_Id");
    if (work.stream == RECORDER_NONE)
        work.stream = field(csv, "Queue_Id");
    work.correlation = field(csv, "Correlation_Id");
    work.registers = field(csv, "VGPR_Count");
    work.static_shared = field(csv, "LDS_Block_Size");
    if (work.static_shared == RECORDER_NONE)
        work.static_shared = field(csv, "Group_Segment_Size");
    bool has_shape = true;
    for (int i = 0; i < 3; i++) {
        work.block[i] = field(csv, blocks[i]);
        work.grid[i] = rocm_blocks(field(csv, grids[i]), work.block[i]);
        has_shape = has_shape && work.grid[i] != RECORDER_NONE;
    }
    if (!has_shape)
        work.grid[0] = work.block[0] = RECORDER_NONE;
    recorder_work(recording->recorder, &work);
}

/* Values of counters; several rows have one dispatch, which is a kernel only where no table has the kernels. */
static void write_counter(struct recording *recording, struct csv *csv)
{
    int64_t dispatch[3] = { field(csv, "Dispatch_Id"), agent_of(csv, csv_known_column(csv, "Agent_Id")),
                            field(csv, "Process_Id") }; /* processes number their dispatches alike */
    int64_t device = csv_device_of(recording, dispatch[1]);
    size_t known = names_count(recording->dispatches);
    bool is_new = names_add(recording->dispatches, (const char *)dispatch, sizeof dispatch) == known;
    if (is_new && !recording->has_kernels)
        write_kernel(recording, csv);
    const char *text = text_field(csv, "Counter_Value");
    double value;
    if (recording->options->wants.counters && json_decimal(text, text + strlen(text), &value))
        recorder_sample(recording->recorder, recorder_counters(recording->recorder, device < 0 ? 0 : device),
                        text_field(csv, "Counter_Name"), field(csv, "Start_Timestamp"), value);
}

static void write_copy(struct recording *recording, struct csv *csv)
{
    struct recorder_work work = RECORDER_WORK_NONE;
    int64_t to = csv_device_of(recording, agent_of(csv, csv_known_column(csv, "Destination_Agent_Id"))),
            from = csv_device_of(recording, agent_of(csv, csv_known_column(csv, "Source_Agent_Id")));
    work.kind = RECORDER_MEMCPY;
    work.name = rocm_copy_name(recording->recorder, text_field(csv, "Direction"));
    work.start_ns = field(csv, "Start_Timestamp");
    work.end_ns = field(csv, "End_Timestamp");
    work.device = to >= 0 ? to : from >= 0 ? from : 0;
    work.stream = field(csv, "Stream_Id");
    work.correlation = field(csv, "Correlation_Id");
    recorder_work(recording->recorder, &work);
}

static void write_call(struct recording *recording, struct csv *csv)
{
    const char *name = text_field(csv, "Function");
    enum recorder_kind kind = rocm_host_kind(text_field(csv, "Domain"), name);
    int64_t pid = csv_integer(csv, csv_known_column(csv, "Process_Id"), recording->pid),
            tid = field(csv, "Thread_Id");
    int64_t start_ns = field(csv, "Start_Timestamp"), end_ns = field(csv, "End_Timestamp");
    bool is_mark = kind == RECORDER_ANNOTATION && start_ns == end_ns;
    tid = tid == RECORDER_NONE ? pid : tid;
    if (!recorder_event(recording->recorder, kind, recorder_thread_of(recording->recorder, pid, tid),
                        recorder_name(recording->recorder, name, strlen(name)), start_ns, end_ns,
                        is_mark ? EVENT_POINT : 0))
        return;
    if (kind != RECORDER_ANNOTATION)
        recorder_arg(recording->recorder, ARG_CORRELATION, field(csv, "Correlation_Id"));
    else if (!is_mark)
        step_guess_record(recording->guess, name, strlen(name), step_guess_thread(pid, tid), start_ns,
                          end_ns);
}

static void write_allocation(struct recording *recording, struct csv *csv)
{
    const char *operation = text_field(csv, "Operation"), *address = text_field(csv, "Address");
    if (!rocm_is_memory(operation) || strstr(operation, "VMEM"))
        return;
    bool release = strstr(operation, "FREE") != NULL;
    int64_t device = csv_device_of(recording, agent_of(csv, csv_known_column(csv, "Agent_Id")));
    recorder_memory(recording->recorder, &(struct recorder_memory){
                                             .time_ns = field(csv, "End_Timestamp"),
                                             .address = (int64_t)strtoull(address, NULL, 0),
                                             .bytes = field(csv, "Allocation_Size"),
                                             .device = release && device < 0 ? RECORDER_NONE : device,
                                             .pid = recording->pid,
                                             .tid = field(csv, "Thread_Id"),
                                             .correlation = field(csv, "Correlation_Id"),
                                             .release = release,
                                         });
}

/* ---- all ---- */

/* The profiler ends each row by a line end, and gives each a field for every column. The first
 * call has the process. */
static void check_rows(struct recording *recording, enum csv_kind kind, const struct buffer *text)
{
    struct csv csv = csv_open(text->at, text->count);
    uint64_t odd = 0;
    if (csv_header(&csv))
        while (csv_next(&csv)) {
            odd += csv.fields.count != csv.columns.count;
            take_used(recording, kind, &csv);
            if (recording->pid == 0 && kind == KIND_API)
                recording->pid = csv_integer(&csv, csv_known_column(&csv, "Process_Id"), 0);
        }
    csv_release(&csv);
    if (text->count && text->at[text->count - 1] != '\n')
        trace_builder_lacks(recording->builder, LACK_CUT_SHORT,
                            "the last row has no end: it, and rows behind it, may be missing in part", 1,
                            (int64_t)text->count);
    if (odd)
        trace_builder_lacks(recording->builder, LACK_BAD_RECORD,
                            "rows have more or fewer fields than the table has columns", odd, TPA_NOWHERE);
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
    check_rows(recording, table.kind, &table.text);
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
        struct source *source = source_open(files.at[i], &limits, err);
        ok = source && add_table(recording, source, err);
        if (!ok)
            tpa_in_file(err, files.at[i]);
        source_free(source);
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
        recording.recorder = recorder_open(builder, recording.pid, NULL);
        recording.guess = step_guess_open();
        recording.dispatches = names_open();
        write_all(&recording);
        recorder_finish(recording.recorder);
        ok = !recording.full && recorder_append(recording.recorder, err);
        recorder_describe(recording.recorder);
        if (ok)
            step_guess_notice(recording.guess, builder);
    }
    for (size_t i = 0; i < recording.tables.count; i++)
        buffer_release(&recording.tables.at[i].text);
    EACH(VEC_FREE, &recording.tables, &recording.agents, &recording.used);
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
