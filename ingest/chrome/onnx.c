/*
 * onnx.c - the profile of a session of ONNX Runtime.
 *
 * A list of events of one process and thread, told apart by their categories: Session (model_run and others) and Api
 * are ranges of the host, Node is an operator ("Conv_0_kernel_time"), and Kernel is on the device, although its pid and tid
 * are the host's: args.stream is its stream, grid_x ... block_z its shape, parent_name or op_name the node that launched it.
 * Times are whole microseconds. From microsoft/onnxruntime, profiler_common and gpu_profiler_common.h.
 */
#include "ingest/chrome/draft.h"

#include "base/rows.h"
#include "base/search.h"
#include "ingest/step_guess.h"
#include "trace/arg_scan.h"

/* Values wait in columns of arguments that no event of such a file has. */
enum {
    KEY_NODE = ARG_MODULE,
    KEY_OPERATION = ARG_MEMORY_CATEGORY,
    KEY_PROVIDER = ARG_GROUP_NAME,
    KEY_STREAM = ARG_STREAM
};
static const enum trace_arg grid_keys[3] = { ARG_SEQUENCE, ARG_FWD_THREAD, ARG_PYTHON_PARENT_ID },
                            block_keys[3] = { ARG_PYTHON_MODULE_ID, ARG_GROUP_SIZE, ARG_SEQ_IN_GROUP };

static const struct chrome_key onnx_keys[] = {
    { "parent_name", (enum trace_arg)KEY_NODE },
    { "op_name", (enum trace_arg)KEY_OPERATION },
    { "provider", (enum trace_arg)KEY_PROVIDER },
    { "stream", (enum trace_arg)KEY_STREAM },
    { "grid_x", ARG_SEQUENCE },
    { "grid_y", ARG_FWD_THREAD },
    { "grid_z", ARG_PYTHON_PARENT_ID },
    { "block_x", ARG_PYTHON_MODULE_ID },
    { "block_y", ARG_GROUP_SIZE },
    { "block_z", ARG_SEQ_IN_GROUP },
    { NULL, ARG_COUNT },
};

/* Ids of nodes that launched kernels begin here; kernels have no numbers of their own. */
enum { FIRST_NODE_ID = 1 };

enum onnx_kind { ONNX_SESSION, ONNX_NODE, ONNX_KERNEL, ONNX_API, ONNX_OTHER };

struct onnx {
    const struct trace *trace;
    uint8_t *kinds; /* enum onnx_kind, by category; freed by the caller */
};

static struct onnx onnx_open(const struct trace *trace)
{
    static const char *const words[] = { "Session", "Node", "Kernel", "Api" };
    struct onnx onnx = { trace, mem_alloc(trace->category_count + 1) };
    for (size_t c = 0; c < trace->category_count; c++) {
        const char *text = names_text(trace->texts, trace->categories[c].text);
        for (onnx.kinds[c] = 0; onnx.kinds[c] < ONNX_OTHER && strcmp(text, words[onnx.kinds[c]]) != 0;)
            onnx.kinds[c]++;
    }
    return onnx;
}

static enum onnx_kind onnx_kind(const struct onnx *onnx, event_id e)
{
    return (enum onnx_kind)onnx->kinds[onnx->trace->category[e]];
}

static bool onnx_is_one(const struct trace *trace)
{
    struct onnx onnx = onnx_open(trace);
    bool found = false;
    int64_t unused;
    for (event_id e = 0; e < trace->event_count && !found; e++) {
        const char *name = trace_name(trace, e);
        enum onnx_kind kind = onnx_kind(&onnx, e);
        found = (kind == ONNX_SESSION &&
                 (strcmp(name, "model_run") == 0 || strncmp(name, "model_loading", 13) == 0)) ||
                (kind == ONNX_NODE && trace_arg(trace, (enum trace_arg)KEY_PROVIDER, e, &unused));
    }
    free(onnx.kinds);
    return found;
}

static bool onnx_may_be(const char *head, size_t len)
{
    return draft_begins(head, len, "[{") && (draft_head_has(head, len, "\"cat\":\"Session\"") ||
                                             draft_head_has(head, len, "\"cat\":\"Node\""));
}

/* A node by the number of its name without "_kernel_time", or of its operation. */
struct named_node {
    name_id name;
    int64_t start_ns;
    event_id event;
};
struct named_nodes {
    VEC_OF(struct named_node);
};

static const struct key by_name_and_start[] = { ASC(struct named_node, name),
                                                ASC(struct named_node, start_ns), KEY_END };

/* Does NAME end as those of nodes? *LEN is its length without that. */
static bool onnx_cut_ending(const char *name, size_t *len)
{
    static const char ending[] = "_kernel_time";
    size_t end = sizeof ending - 1;
    *len = strlen(name);
    bool has_ending = *len >= end && strcmp(name + *len - end, ending) == 0;
    *len -= has_ending ? end : 0;
    return has_ending;
}

/* The last of NODES that has the name ID and began before NS; EVENT_NONE. */
static event_id last_node(const struct named_nodes *nodes, name_id id, int64_t ns)
{
    size_t i = PLACE(k, nodes->count,
                     nodes->at[k].name < id || (nodes->at[k].name == id && nodes->at[k].start_ns <= ns));
    return i && nodes->at[i - 1].name == id ? nodes->at[i - 1].event : EVENT_NONE;
}

/* Names of nodes without their ending, by number; and these numbers of names and texts of the draft. */
struct node_names {
    struct names *names;
    name_id *of_name, *of_text; /* NAME_NONE: not met yet, or no name of a node */
    bool *is_met;               /* of names */
};

static name_id *none_of(size_t count)
{
    name_id *ids = mem_alloc(mem_times(count + 1, sizeof *ids));
    memset(ids, 0xff, (count + 1) * sizeof *ids); /* NAME_NONE */
    return ids;
}

/* The number of the node's name NAME of the draft; NAME_NONE: without the ending it is a fence beside the node, which
 * launches nothing. */
static name_id number_of_node(struct node_names *known, const struct trace *trace, name_id name)
{
    size_t len;
    const char *text = names_text(trace->names, name);
    if (!known->is_met[name] && onnx_cut_ending(text, &len))
        known->of_name[name] = names_add(known->names, text, len);
    known->is_met[name] = true;
    return known->of_name[name];
}

/* The same of TEXT of the draft, which a kernel has. */
static name_id number_of_parent(struct node_names *known, const struct trace *trace, name_id text)
{
    size_t len;
    const char *parent = names_text(trace->texts, text);
    if (known->of_text[text] == NAME_NONE) {
        if (onnx_cut_ending(parent, &len) && len == 0)
            len = strlen(parent);
        known->of_text[text] = names_find(known->names, parent, len);
    }
    return known->of_text[text];
}

/* Ids of nodes, and of the kernels that they launched; 0: none. A kernel is of the last node that it names and that began
 * before it. */
static int64_t *link_kernels(const struct onnx *onnx)
{
    const struct trace *trace = onnx->trace;
    int64_t *ids = mem_zalloc(trace->event_count + 1, sizeof *ids), text;
    struct node_names known = { names_open(), none_of(names_count(trace->names)),
                                none_of(names_count(trace->texts)),
                                mem_zalloc(names_count(trace->names) + 1, sizeof *known.is_met) };
    SCOPED struct named_nodes by_name = { 0 }, by_operation = { 0 };
    struct arg_scan operations = arg_scan_of(trace, (enum trace_arg)KEY_OPERATION),
                    parents = arg_scan_of(trace, (enum trace_arg)KEY_NODE);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (onnx_kind(onnx, e) != ONNX_NODE)
            continue;
        name_id name = number_of_node(&known, trace, trace->name[e]);
        if (name == NAME_NONE)
            continue;
        *VEC_PUSH(&by_name) = (struct named_node){ name, trace_start_ns(trace, e), e };
        if (arg_scan_get(&operations, e, &text) && names_length(trace->texts, (name_id)text))
            *VEC_PUSH(&by_operation) = (struct named_node){ (name_id)text, trace_start_ns(trace, e), e };
    }
    SORT(&by_name, by_name_and_start);
    SORT(&by_operation, by_name_and_start);
    for (event_id k = 0; k < trace->event_count; k++) {
        if (onnx_kind(onnx, k) != ONNX_KERNEL)
            continue;
        event_id node = EVENT_NONE;
        if (arg_scan_get(&parents, k, &text) && names_length(trace->texts, (name_id)text))
            node =
                last_node(&by_name, number_of_parent(&known, trace, (name_id)text), trace_start_ns(trace, k));
        else if (arg_scan_get(&operations, k, &text))
            node = last_node(&by_operation, (name_id)text, trace_start_ns(trace, k));
        if (node != EVENT_NONE)
            ids[k] = ids[node] = (int64_t)node + FIRST_NODE_ID;
    }
    names_free(known.names);
    EACH(free, known.of_name, known.of_text, known.is_met);
    return ids;
}

/* Arguments of kernels, in a pass over them. */
struct kernel_args {
    struct arg_scan stream, grid[3], block[3];
};

static struct kernel_args kernel_args_of(const struct trace *trace)
{
    struct kernel_args args = { .stream = arg_scan_of(trace, (enum trace_arg)KEY_STREAM) };
    for (int i = 0; i < 3; i++) {
        args.grid[i] = arg_scan_of(trace, grid_keys[i]);
        args.block[i] = arg_scan_of(trace, block_keys[i]);
    }
    return args;
}

static void write_kernel(struct draft *draft, event_id e, int64_t id, struct kernel_args *args)
{
    const struct trace *trace = draft->trace;
    struct recorder_work work = RECORDER_WORK_NONE;
    const char *name = trace_name(trace, e);
    work.kind = strncmp(name, "Memcpy", 6) == 0   ? RECORDER_MEMCPY
                : strncmp(name, "Memset", 6) == 0 ? RECORDER_MEMSET
                                                  : RECORDER_KERNEL;
    work.name = draft_name(draft, e);
    work.start_ns = trace_start_ns(trace, e);
    work.end_ns = trace_end_ns(trace, e);
    work.device = 0;
    if (!arg_scan_get(&args->stream, e, &work.stream))
        work.stream = 0;
    bool has_shape = true;
    for (int i = 0; i < 3; i++)
        has_shape = arg_scan_get(&args->grid[i], e, &work.grid[i]) &&
                    arg_scan_get(&args->block[i], e, &work.block[i]) && has_shape;
    if (!has_shape)
        work.grid[0] = work.block[0] = RECORDER_NONE;
    if (recorder_work(draft->recorder, &work) && id)
        recorder_arg(draft->recorder, ARG_EXTERNAL_ID, id);
}

/* Keep the execution provider of the first node that is not computed by the host: it tells whose the device is. */
static void keep_provider(const struct onnx *onnx, struct trace_builder *builder)
{
    const struct trace *trace = onnx->trace;
    for (event_id e = 0; e < trace->event_count; e++) {
        const char *provider =
            onnx_kind(onnx, e) == ONNX_NODE ? trace_arg_text(trace, (enum trace_arg)KEY_PROVIDER, e) : NULL;
        if (!provider || !*provider || strncmp(provider, "CPU", 3) == 0)
            continue;
        struct trace_property property = { "provider",
                                           trace_builder_strndup(builder, provider, strlen(provider)), true };
        *VEC_PUSH(&trace_builder_current_file(builder)->properties) = property;
        return;
    }
}

static bool onnx_write(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    trace_builder_current_file(draft->builder)->producer = PRODUCER_ONNX;
    draft_record(draft, trace->event_count ? trace->tracks[trace->track[0]].pid : 0, NULL);
    struct onnx onnx = onnx_open(trace);
    SCOPED int64_t *ids = link_kernels(&onnx);
    keep_provider(&onnx, draft->builder);
    struct kernel_args args = kernel_args_of(trace);
    SCOPED_BY(step_guess_free_at) struct step_guess *guess = step_guess_open();
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        const struct track *track = &trace->tracks[trace->track[e]];
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        enum onnx_kind kind = onnx_kind(&onnx, e);
        if (kind == ONNX_KERNEL) {
            write_kernel(draft, e, ids[e], &args);
        } else {
            if (recorder_event(draft->recorder,
                               kind == ONNX_NODE  ? RECORDER_OPERATOR
                               : kind == ONNX_API ? RECORDER_RUNTIME
                                                  : RECORDER_ANNOTATION,
                               recorder_thread_of(draft->recorder, track->pid, track->tid),
                               draft_name(draft, e), start_ns, end_ns, trace->flags[e]) &&
                kind == ONNX_NODE && ids[e])
                recorder_arg(draft->recorder, ARG_EXTERNAL_ID, ids[e]);
            if (kind == ONNX_SESSION || kind == ONNX_OTHER)
                step_guess_record(guess, trace_name(trace, e), strlen(trace_name(trace, e)),
                                  step_guess_thread(track->pid, track->tid), start_ns, end_ns);
        }
        ok = recorder_flush(draft->recorder, err);
    }
    ok = ok && recorder_append(draft->recorder, err);
    recorder_describe(draft->recorder);
    if (ok)
        step_guess_notice(guess, draft->builder);
    free(onnx.kinds);
    return ok;
}

const struct dialect dialect_onnx = {
    .may_be = onnx_may_be,
    .is_one = onnx_is_one,
    .keys = onnx_keys,
    .write = onnx_write,
};
