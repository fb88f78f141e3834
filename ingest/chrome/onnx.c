/*
 * onnx.c - the profile of a session of ONNX Runtime.
 *
 * A list of events of one process and thread, told apart by their categories: Session (model_run and others) and Api
 * are ranges of the host, Node is an operator ("Conv_0_kernel_time"), and Kernel is on the device, although its pid and tid
 * are the host's: args.stream is its stream, grid_x ... block_z its shape, parent_name or op_name the node that launched it.
 * Times are whole microseconds. From microsoft/onnxruntime, profiler_common and gpu_profiler_common.h.
 */
#include "ingest/chrome/draft.h"

#include "ingest/step_guess.h"

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

static bool onnx_is_category(const struct trace *trace, event_id e, const char *category)
{
    return strcmp(draft_category(trace, e), category) == 0;
}

static bool onnx_is_one(const struct trace *trace)
{
    int64_t unused;
    for (event_id e = 0; e < trace->event_count; e++) {
        const char *name = trace_name(trace, e);
        if (onnx_is_category(trace, e, "Session") &&
            (strcmp(name, "model_run") == 0 || strncmp(name, "model_loading", 13) == 0))
            return true;
        if (onnx_is_category(trace, e, "Node") && trace_arg(trace, (enum trace_arg)KEY_PROVIDER, e, &unused))
            return true;
    }
    return false;
}

static bool onnx_may_be(const char *head, size_t len)
{
    return draft_begins(head, len, "[{") && (draft_head_has(head, len, "\"cat\":\"Session\"") ||
                                             draft_head_has(head, len, "\"cat\":\"Node\""));
}

/* Is E the node that the kernel K names? */
static bool is_node_of(const struct trace *trace, event_id e, event_id k)
{
    const char *parent = trace_arg_text(trace, (enum trace_arg)KEY_NODE, k),
               *operation = trace_arg_text(trace, (enum trace_arg)KEY_OPERATION, k);
    if (parent && *parent)
        return strncmp(trace_name(trace, e), parent, strlen(parent)) == 0;
    const char *own = trace_arg_text(trace, (enum trace_arg)KEY_OPERATION, e);
    return operation && *operation && own && strcmp(operation, own) == 0;
}

/* Ids of nodes, and of the kernels that they launched; 0: none. A kernel is of the last node that it names and that began
 * before it; nodes and kernels are looked at in order of time. */
static int64_t *link_kernels(const struct trace *trace)
{
    int64_t *ids = mem_zalloc(trace->event_count + 1, sizeof *ids);
    bool *nodes = mem_zalloc(trace->event_count + 1, sizeof *nodes);
    for (event_id e = 0; e < trace->event_count; e++)
        nodes[e] = onnx_is_category(trace, e, "Node");
    enum { LOOK_BACK = 64 }; /* kernels run soon after the node that launched them */
    for (event_id k = 0; k < trace->event_count; k++) {
        if (!onnx_is_category(trace, k, "Kernel"))
            continue;
        event_id found = EVENT_NONE;
        int seen = 0;
        for (event_id e = k; e-- > 0 && seen < LOOK_BACK && found == EVENT_NONE;) {
            seen += nodes[e];
            if (nodes[e] && trace_start_ns(trace, e) <= trace_start_ns(trace, k) && is_node_of(trace, e, k))
                found = e;
        }
        if (found != EVENT_NONE)
            ids[k] = ids[found] = (int64_t)found + FIRST_NODE_ID;
    }
    free(nodes);
    return ids;
}

static void write_kernel(struct draft *draft, event_id e, int64_t id)
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
    work.stream = trace_arg_or(trace, (enum trace_arg)KEY_STREAM, e, 0);
    bool has_shape = true;
    for (int i = 0; i < 3; i++)
        has_shape = trace_arg(trace, grid_keys[i], e, &work.grid[i]) &&
                    trace_arg(trace, block_keys[i], e, &work.block[i]) && has_shape;
    if (!has_shape)
        work.grid[0] = work.block[0] = RECORDER_NONE;
    if (recorder_work(draft->recorder, &work) && id)
        recorder_arg(draft->recorder, ARG_EXTERNAL_ID, id);
}

static bool onnx_write(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    trace_builder_current_file(draft->builder)->producer = PRODUCER_ONNX;
    draft_record(draft, trace->event_count ? trace->tracks[trace->track[0]].pid : 0, NULL);
    int64_t *ids = link_kernels(trace);
    struct step_guess *guess = step_guess_open();
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        const struct track *track = &trace->tracks[trace->track[e]];
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        if (onnx_is_category(trace, e, "Kernel")) {
            write_kernel(draft, e, ids[e]);
        } else {
            bool is_node = onnx_is_category(trace, e, "Node");
            enum recorder_kind kind = is_node                             ? RECORDER_OPERATOR
                                      : onnx_is_category(trace, e, "Api") ? RECORDER_RUNTIME
                                                                          : RECORDER_ANNOTATION;
            if (recorder_event(draft->recorder, kind,
                               recorder_thread_of(draft->recorder, track->pid, track->tid),
                               draft_name(draft, e), start_ns, end_ns, trace->flags[e]) &&
                is_node && ids[e])
                recorder_arg(draft->recorder, ARG_EXTERNAL_ID, ids[e]);
            if (kind == RECORDER_ANNOTATION)
                step_guess_record(guess, trace_name(trace, e), strlen(trace_name(trace, e)),
                                  step_guess_thread(track->pid, track->tid), start_ns, end_ns);
        }
        ok = draft_flush(draft, err);
    }
    ok = ok && recorder_append(draft->recorder, err);
    recorder_describe(draft->recorder);
    if (ok)
        step_guess_notice(guess, draft->builder);
    step_guess_free(guess);
    free(ids);
    return ok;
}

const struct dialect dialect_onnx = {
    .may_be = onnx_may_be,
    .is_one = onnx_is_one,
    .keys = onnx_keys,
    .write = onnx_write,
};
