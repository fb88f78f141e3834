/*
 * json.c - trace_view.json of torch_npu, and msprof_*.json of the msprof program.
 *
 * A list of events of Chrome's format. A process is told by its name; its number is the process id << 10 | an index << 5 |
 * the device, but for Python's, which is the process id itself:
 *
 *     Python, Python GC           operators, frames, Enqueue and Dequeue, by their categories
 *     CANN (nameless at level 0)  calls, on the threads of Python's process
 *     Ascend Hardware             tasks; thread N is stream N
 *     HCCL, Communication         threads "Group ... Communication": collectives; "Plane N": their pieces
 *     Overlap Analysis            times that are computed of the others; left out
 *     others, labelled NPU        counters
 *
 * Times are texts in microseconds with three decimals, which no double holds; ids of arrows are decimal texts beyond 64
 * bits. Learnt from torch_npu of January 2025 and Ascend/pytorch's _trace_event_manager.py.
 */
#include "ingest/ascend/ascend.h"
#include "base/rows.h"
#include "ingest/chrome/draft.h"

#include "base/search.h"
#include "ingest/json_text.h"
#include "trace/arg_scan.h"
#include <inttypes.h>

/* Keys of tasks and collectives. Their values wait in columns of other arguments, which no event of such a file has. */
enum {
    KEY_TYPE = ARG_SYNC_KIND,
    KEY_OPERATION = ARG_COPY_MEMORY,
    KEY_ALGORITHM = ARG_LONG_NAME,
    KEY_ELEMENT = ARG_DTYPE,
    KEY_COUNT = ARG_IN_ELEMENTS,
    KEY_CONNECTION = ARG_CORRELATION,
    KEY_SIZE = ARG_BYTES,
    KEY_SOURCE = ARG_SEQ_ID,
    KEY_TARGET = ARG_MICROBATCH,
};

static const struct chrome_key keys[] = {
    { "connection_id", (enum trace_arg)KEY_CONNECTION },
    { "Task Type", (enum trace_arg)KEY_TYPE },
    { "operation", (enum trace_arg)KEY_OPERATION },
    { "size(B)", (enum trace_arg)KEY_SIZE },
    { "alg_type", (enum trace_arg)KEY_ALGORITHM },
    { "data_type", (enum trace_arg)KEY_ELEMENT },
    { "count", (enum trace_arg)KEY_COUNT },
    { "src rank", (enum trace_arg)KEY_SOURCE },
    { "dst rank", (enum trace_arg)KEY_TARGET },
    { NULL, ARG_COUNT },
};

/* What a track shows. */
enum lane {
    LANE_HOST,
    LANE_CALLS,
    LANE_STREAM,
    LANE_COLLECTIVES,
    LANE_PIECES,
    LANE_MIXED,
    LANE_DERIVED,
    LANE_COUNTERS
};

struct track_facts {
    enum lane lane;
    int32_t device;
    int64_t pid; /* of the host, its threads' process */
};

struct reading {
    struct draft *draft;
    struct ascend *ascend;
    struct track_facts *tracks;
    struct buffer text;
    uint64_t derived;
    struct arg_scan connections, task_types, elements, operations, sizes, counts, sources, targets;
    /* Ids of converted lists, by text of the draft; NAME_NONE: not met yet. */
    name_id *shapes, *types, *stacks;
};

static bool is_labelled_npu(const struct trace *trace, track_id t)
{
    name_id labels = trace->tracks[t].process_labels;
    return labels != NAME_NONE && text_begins_with(names_text(trace->texts, labels), "NPU");
}

static bool is_communication(const char *process)
{
    return strcmp(process, "HCCL") == 0 || strcmp(process, "Communication") == 0;
}

static bool is_ascend(const struct trace *trace)
{
    for (track_id t = 0; t < trace->track_count; t++) {
        const char *process = draft_process(trace, t);
        if (strcmp(process, "Ascend Hardware") == 0 || strcmp(process, "CANN") == 0 ||
            (strcmp(process, "Overlap Analysis") == 0 && is_labelled_npu(trace, t)))
            return true;
    }
    return false;
}

/* The list, and times in quotes, or events of PyTorch outside of an object: no other writer's file begins so. Others put
 * the list into an object: then only what no other writer has counts, and times in quotes unless an empty event comes
 * first, as in rocprof's. */
static bool may_be_ascend(const char *head, size_t len)
{
    static const char *const signs[] = {
        "\"Ascend",
        "\"CANN\"",
        "\"labels\":\"NPU",
        "\"OverlapAnalysis\"",
        "\"cat\":\"enqueue\"",
        "\"cat\":\"dequeue\"",
        "\"ts\":\"1",
        "\"cat\":\"cpu_op\"",
        "\"cat\":\"python_function\"",
    };
    enum { OWN_SIGNS = 6 };
    bool is_list = draft_begins(head, len, "[{");
    if (!is_list && !draft_begins(head, len, "{"))
        return false;
    size_t counted = is_list                                           ? sizeof signs / sizeof *signs
                     : draft_begins(head, len, "{\"traceEvents\":[{}") ? OWN_SIGNS
                                                                       : OWN_SIGNS + 1;
    return ANY(i, counted, draft_head_has(head, len, signs[i]));
}

/* ---- tracks ---- */

static bool is_python(const struct trace *trace, track_id t)
{
    return text_begins_with(draft_process(trace, t), "Python");
}

/* The pid of the only process of Python; RECORDER_NONE if there are none, or several. */
static int64_t only_python(const struct trace *trace)
{
    int64_t pid = RECORDER_NONE;
    for (track_id t = 0; t < trace->track_count; t++) {
        if (!is_python(trace, t))
            continue;
        if (pid != RECORDER_NONE && pid != trace->tracks[t].pid)
            return RECORDER_NONE;
        pid = trace->tracks[t].pid;
    }
    return pid;
}

static bool has_python(const struct trace *trace, int64_t pid)
{
    return ANY(t, trace->track_count, is_python(trace, t) && trace->tracks[t].pid == pid);
}

/* The host process that a process of CANN's is of. */
static int64_t host_pid(const struct trace *trace, int64_t pid, int64_t python)
{
    int64_t own = pid >> 10;
    if (own > 0 && has_python(trace, own))
        return own;
    if (python != RECORDER_NONE)
        return python;
    return own > 0 ? own : pid;
}

static struct track_facts facts_of(const struct trace *trace, track_id t, int64_t python)
{
    const struct track *track = &trace->tracks[t];
    const char *process = draft_process(trace, t), *thread = draft_thread(trace, t);
    const char *labels =
        track->process_labels == NAME_NONE ? "" : names_text(trace->texts, track->process_labels);
    int64_t device = draft_number(labels, "NPU", track->pid >= 1024 ? track->pid & 31 : 0);
    struct track_facts facts = { LANE_HOST, (int32_t)(device <= INT32_MAX ? device : 0), track->pid };
    if (strcmp(process, "Ascend Hardware") == 0)
        facts.lane = LANE_STREAM;
    else if (is_communication(process))
        facts.lane = text_begins_with(thread, "Group")   ? LANE_COLLECTIVES
                     : text_begins_with(thread, "Plane") ? LANE_PIECES
                                                         : LANE_MIXED;
    else if (strcmp(process, "Overlap Analysis") == 0)
        facts.lane = LANE_DERIVED;
    else if (is_labelled_npu(trace, t))
        facts.lane = LANE_COUNTERS;
    else if (!is_python(trace, t)) {
        facts.lane = strcmp(process, "CANN") == 0 ? LANE_CALLS : LANE_HOST;
        if (*process == '\0' || facts.lane == LANE_CALLS)
            facts.pid = host_pid(trace, track->pid, python);
    }
    return facts;
}

/* ---- events ---- */

static const char *text_arg(const struct reading *reading, struct arg_scan *scan, event_id e)
{
    int64_t text;
    return arg_scan_get(scan, e, &text) ? names_text(reading->draft->trace->texts, (name_id)text) : "";
}

static int64_t number_arg(struct arg_scan *scan, event_id e)
{
    int64_t number;
    return arg_scan_get(scan, e, &number) ? number : RECORDER_NONE;
}

static void json_add_task(struct reading *reading, event_id e, const struct track_facts *facts,
                          enum ascend_role role)
{
    const struct trace *trace = reading->draft->trace;
    const struct track *track = &trace->tracks[trace->track[e]];
    bool is_whole = role == ASCEND_COLLECTIVE;
    const char *element = is_whole ? text_arg(reading, &reading->elements, e) : "";
    ascend_add_task(reading->ascend,
                    &(struct ascend_task){
                        .start_ns = trace_start_ns(trace, e),
                        .end_ns = trace_end_ns(trace, e),
                        .stream = facts->lane == LANE_STREAM ? track->tid : RECORDER_NONE,
                        .link = number_arg(&reading->connections, e),
                        .bytes = is_whole ? RECORDER_NONE : number_arg(&reading->sizes, e),
                        .elements = is_whole ? number_arg(&reading->counts, e) : RECORDER_NONE,
                        .rank_count = RECORDER_NONE,
                        .source = role == ASCEND_PIECE ? number_arg(&reading->sources, e) : RECORDER_NONE,
                        .target = role == ASCEND_PIECE ? number_arg(&reading->targets, e) : RECORDER_NONE,
                        .name = trace_name(trace, e),
                        .type = text_arg(reading, &reading->task_types, e),
                        .element = *element ? element : NULL,
                        .device = facts->device,
                        .role = (uint8_t)role,
                        .copy = (uint8_t)ascend_copy_of(text_arg(reading, &reading->operations, e)),
                    });
}

static enum ascend_host_kind host_kind_of(const struct trace *trace, event_id e, enum lane lane)
{
    static const struct {
        const char *category;
        enum ascend_host_kind kind;
    } kinds[] = {
        { "cpu_op", ASCEND_OPERATOR }, { "python_function", ASCEND_PYTHON },
        { "enqueue", ASCEND_ENQUEUE }, { "dequeue", ASCEND_DEQUEUE },
        { "GC", ASCEND_OTHER },
    };
    if (lane == LANE_CALLS)
        return ASCEND_CALL;
    const char *category = draft_category(trace, e);
    for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
        if (strcmp(category, kinds[i].category) == 0)
            return kinds[i].kind;
    return ASCEND_ANNOTATION;
}

static void add_event(struct reading *reading, event_id e)
{
    const struct trace *trace = reading->draft->trace;
    const struct track_facts *facts = &reading->tracks[trace->track[e]];
    switch (facts->lane) {
    case LANE_HOST:
    case LANE_CALLS:
        ascend_add_host(reading->ascend, &(struct ascend_host){
                                             .start_ns = trace_start_ns(trace, e),
                                             .end_ns = trace_end_ns(trace, e),
                                             .pid = facts->pid,
                                             .tid = trace->tracks[trace->track[e]].tid,
                                             .link = number_arg(&reading->connections, e),
                                             .name = draft_name(reading->draft, e),
                                             .row = e,
                                             .kind = (uint8_t)host_kind_of(trace, e, facts->lane),
                                         });
        break;
    case LANE_STREAM: json_add_task(reading, e, facts, ASCEND_BY_TYPE); break;
    case LANE_COLLECTIVES: json_add_task(reading, e, facts, ASCEND_COLLECTIVE); break;
    case LANE_PIECES: json_add_task(reading, e, facts, ASCEND_PIECE); break;
    case LANE_MIXED: {
        int64_t unused;
        bool is_whole = trace_arg(trace, (enum trace_arg)KEY_ALGORITHM, e, &unused) ||
                        text_begins_with(trace_name(trace, e), "hcom_");
        json_add_task(reading, e, facts, is_whole ? ASCEND_COLLECTIVE : ASCEND_PIECE);
        break;
    }
    case LANE_DERIVED:
    case LANE_COUNTERS: reading->derived++; break;
    }
}

/* ---- arguments of the host ---- */

/* The id of TEXT of the draft as CONVERT writes it; KNOWN keeps it. */
static name_id converted(struct reading *reading, name_id *known, name_id text,
                         void (*convert)(const char *text, struct buffer *out), bool is_json)
{
    if (known[text] != NAME_NONE)
        return known[text];
    const char *written = names_text(reading->draft->trace->texts, text);
    size_t len = names_length(reading->draft->trace->texts, text);
    struct buffer plain = { 0 };
    if (is_json && len >= 2 && *written == '"')
        json_unescape(written + 1, written + len - 1, &plain);
    else
        buffer_add(&plain, written, len);
    buffer_putc(&plain, '\0');
    if (is_json && *written == '[')
        buffer_add((buffer_clear(&reading->text), &reading->text), written, len); /* a list already */
    else
        convert(plain.at, &reading->text);
    buffer_release(&plain);
    known[text] = trace_chunk_text(recorder_chunk(ascend_recorder(reading->ascend)), reading->text.at,
                                   reading->text.count);
    return known[text];
}

static void json_set_args(void *context, struct recorder *recorder, const struct ascend_host *host)
{
    static const uint64_t copied = WANT(SEQUENCE) | WANT(FWD_THREAD) | WANT(PYTHON_ID) |
                                   WANT(PYTHON_PARENT_ID) | WANT(PYTHON_MODULE_ID) | WANT(MODULE_HIERARCHY) |
                                   WANT(FLOPS);
    struct reading *reading = context;
    const struct trace *trace = reading->draft->trace;
    const struct {
        enum trace_arg arg;
        name_id *known;
        void (*convert)(const char *text, struct buffer *out);
        bool is_json;
    } lists[] = {
        { ARG_INPUT_DIMS, reading->shapes, ascend_shapes, true },
        { ARG_INPUT_TYPES, reading->types, ascend_types, true },
        { ARG_CALL_STACK, reading->stacks, ascend_stack, false },
    };
    if (host->kind == ASCEND_CALL)
        return;
    draft_copy_args(reading->draft, host->row, copied);
    for (size_t i = 0; i < sizeof lists / sizeof *lists; i++) {
        int64_t text;
        if (recorder_wants(recorder, lists[i].arg) && trace_arg(trace, lists[i].arg, host->row, &text))
            recorder_arg(
                recorder, lists[i].arg,
                converted(reading, lists[i].known, (name_id)text, lists[i].convert, lists[i].is_json));
    }
}

/* ---- arrows and counters ---- */

struct tail {
    int64_t id, ts_ns;
    track_id track;
};
struct tails {
    VEC_OF(struct tail);
};

static const struct key by_tails[] = { ASC(struct tail, id), KEY_END };

/* Arrows of the category HostToDevice from a call to its tasks. */
static void add_arrows(struct reading *reading)
{
    const struct trace *trace = reading->draft->trace;
    SCOPED struct tails tails = { 0 };
    struct flow_scan scan = { 0 };
    const name_id category = names_find(trace->texts, "HostToDevice", 12);
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < trace->flow_count; i++) {
            const struct trace_flow *flow = flow_scan_get(&scan, trace, i);
            if (flow->category != category)
                continue;
            if (pass == 0 && flow->phase == 's')
                *VEC_PUSH(&tails) = (struct tail){ flow->id, flow->ts_ns, flow->track };
            if (pass == 0 || flow->phase == 's')
                continue;
            const struct track_facts *to = &reading->tracks[flow->track];
            size_t at = PLACE(k, tails.count, tails.at[k].id < flow->id);
            if (at == tails.count || tails.at[at].id != flow->id)
                continue;
            ascend_add_arrow(reading->ascend, to->device,
                             to->lane == LANE_STREAM ? trace->tracks[flow->track].tid : RECORDER_NONE,
                             flow->ts_ns, reading->tracks[tails.at[at].track].pid,
                             trace->tracks[tails.at[at].track].tid, tails.at[at].ts_ns);
        }
        if (pass == 0 && tails.count)
            SORT(&tails, by_tails);
    }
}

/* Arrows from operators to those of their backward pass are kept as they are. */
static void copy_flows(struct reading *reading)
{
    const struct trace *trace = reading->draft->trace;
    struct recorder *recorder = ascend_recorder(reading->ascend);
    for (size_t i = 0; i < trace->flow_count && reading->draft->options->wants.flows; i++) {
        struct trace_flow flow = trace_flow(trace, i);
        if (strcmp(names_text(trace->texts, flow.category), "fwdbwd") != 0)
            continue;
        flow.category = draft_text(reading->draft, flow.category);
        flow.name = draft_text(reading->draft, flow.name);
        flow.track =
            recorder_thread_of(recorder, reading->tracks[flow.track].pid, trace->tracks[flow.track].tid);
        trace_chunk_flow(recorder_chunk(recorder), &flow);
    }
}

/* The track of the counters of the device of TRACK, in the result. */
static track_id add_counters(struct reading *reading, track_id track)
{
    char process[80];
    int len = snprintf(process, sizeof process, "NPU %" PRId32 " %.40s", reading->tracks[track].device,
                       draft_process(reading->draft->trace, track));
    return trace_chunk_track(
        recorder_chunk(ascend_recorder(reading->ascend)),
        &(struct track_key){
            .pid_text = process, .pid_len = (size_t)len, .tid_text = "counters", .tid_len = 8 });
}

static void copy_samples(struct reading *reading)
{
    const struct trace *trace = reading->draft->trace;
    struct trace_chunk *chunk = recorder_chunk(ascend_recorder(reading->ascend));
    track_id *counters = mem_alloc(mem_times(trace->track_count + 1, sizeof *counters));
    memset(counters, 0xff, (trace->track_count + 1) * sizeof *counters); /* TRACK_NONE */
    for (size_t i = 0; i < trace->sample_count; i++) {
        struct trace_sample sample = trace->samples[i];
        track_id *track = &counters[sample.track];
        if (*track == TRACK_NONE)
            *track = add_counters(reading, sample.track);
        sample.counter = draft_text(reading->draft, sample.counter);
        sample.track = *track;
        trace_chunk_sample(chunk, &sample);
    }
    free(counters);
    trace_chunk_count_skipped(chunk, trace->flows_seen, trace->samples_seen, trace->metadata_seen);
}

static name_id *open_known(size_t texts)
{
    name_id *known = mem_alloc(mem_times(texts + 1, sizeof *known));
    memset(known, 0xff, (texts + 1) * sizeof *known); /* NAME_NONE */
    return known;
}

static bool write_ascend(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    struct trace_file *file = trace_builder_current_file(draft->builder);
    size_t texts = names_count(trace->texts);
    struct reading reading = { .draft = draft,
                               .tracks = mem_alloc(mem_times(trace->track_count + 1, sizeof *reading.tracks)),
                               .connections = arg_scan_of(trace, (enum trace_arg)KEY_CONNECTION),
                               .task_types = arg_scan_of(trace, (enum trace_arg)KEY_TYPE),
                               .elements = arg_scan_of(trace, (enum trace_arg)KEY_ELEMENT),
                               .operations = arg_scan_of(trace, (enum trace_arg)KEY_OPERATION),
                               .sizes = arg_scan_of(trace, (enum trace_arg)KEY_SIZE),
                               .counts = arg_scan_of(trace, (enum trace_arg)KEY_COUNT),
                               .sources = arg_scan_of(trace, (enum trace_arg)KEY_SOURCE),
                               .targets = arg_scan_of(trace, (enum trace_arg)KEY_TARGET),
                               .shapes = open_known(texts),
                               .types = open_known(texts),
                               .stacks = open_known(texts) };
    int64_t python = only_python(trace), pid = python;
    bool has_framework = false;
    for (track_id t = 0; t < trace->track_count; t++) {
        reading.tracks[t] = facts_of(trace, t, python);
        has_framework |= is_python(trace, t);
        if (pid == RECORDER_NONE && reading.tracks[t].lane <= LANE_CALLS)
            pid = reading.tracks[t].pid;
    }
    reading.ascend = ascend_open(draft->builder, pid == RECORDER_NONE ? 0 : pid,
                                 has_framework ? PRODUCER_TORCH_NPU : PRODUCER_MSPROF);
    draft_record_by(draft, ascend_recorder(reading.ascend));
    file->rank = ascend_folder_rank(file->path);
    for (event_id e = 0; e < trace->event_count; e++)
        add_event(&reading, e);
    add_arrows(&reading);
    ascend_folder_memory(reading.ascend, draft->builder, file->path, draft->options->in_directory);
    copy_flows(&reading);
    copy_samples(&reading);
    bool ok = ascend_write(reading.ascend, json_set_args, &reading, err);
    if (ok && reading.derived)
        trace_builder_notice(draft->builder, "derived",
                             "events of lanes that are computed of others (Overlap Analysis) were left out",
                             reading.derived, TPA_NOWHERE);
    ascend_free(reading.ascend);
    EACH(free, reading.tracks, reading.shapes, reading.types, reading.stacks);
    buffer_release(&reading.text);
    return ok;
}

const struct dialect dialect_ascend = {
    .may_be = may_be_ascend,
    .is_one = is_ascend,
    .keys = keys,
    .write = write_ascend,
};
