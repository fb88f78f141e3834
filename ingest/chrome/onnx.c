/*
 * onnx.c - the profile of a session of ONNX Runtime.
 *
 * A list of events of one process and thread, told apart by their categories: Session (model_run and others) and Api
 * are ranges of the host, Node is an operator ("Conv_0_kernel_time"), and Kernel is on the device, although its pid and tid
 * are the host's: args.stream is its stream, grid_x ... block_z its shape, parent_name or op_name the node that launched it.
 * Times are whole microseconds. From microsoft/onnxruntime, profiler_common and gpu_profiler_common.h.
 */
#include "ingest/chrome/draft.h"

#include "base/arena.h"
#include "base/search.h"
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

/* A node by its name without "_kernel_time", or by its operation. */
struct named_node {
    const char *name;
    int64_t start_ns;
    event_id event;
};
struct named_nodes {
    VEC_OF(struct named_node);
};

static int compare_nodes(const void *left, const void *right)
{
    const struct named_node *a = left, *b = right;
    int order = strcmp(a->name, b->name);
    return order ? order : (a->start_ns > b->start_ns) - (a->start_ns < b->start_ns);
}

/* The last of NODES that is called NAME and began before NS; EVENT_NONE. */
static event_id last_node(const struct named_nodes *nodes, const char *name, int64_t ns)
{
    struct named_node key = { .name = name, .start_ns = ns };
    size_t i;
    SEARCH(i, nodes->count, compare_nodes(&nodes->at[i], &key) <= 0);
    return i && strcmp(nodes->at[i - 1].name, name) == 0 ? nodes->at[i - 1].event : EVENT_NONE;
}

/* Ids of nodes, and of the kernels that they launched; 0: none. A kernel is of the last node that it names and that began
 * before it. */
static int64_t *link_kernels(const struct trace *trace)
{
    static const char ending[] = "_kernel_time";
    int64_t *ids = mem_zalloc(trace->event_count + 1, sizeof *ids);
    struct named_nodes by_name = { 0 }, by_operation = { 0 };
    struct arena arena = { 0 };
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!onnx_is_category(trace, e, "Node"))
            continue;
        const char *name = trace_name(trace, e),
                   *operation = trace_arg_text(trace, (enum trace_arg)KEY_OPERATION, e);
        size_t len = strlen(name), end = sizeof ending - 1;
        if (len < end || strcmp(name + len - end, ending) != 0)
            continue; /* a fence beside the node, which launches nothing */
        int64_t start_ns = trace_start_ns(trace, e);
        *VEC_PUSH(&by_name) = (struct named_node){ arena_strndup(&arena, name, len - end), start_ns, e };
        if (operation && *operation)
            *VEC_PUSH(&by_operation) = (struct named_node){ operation, start_ns, e };
    }
    if (by_name.count)
        qsort(by_name.at, by_name.count, sizeof *by_name.at, compare_nodes);
    if (by_operation.count)
        qsort(by_operation.at, by_operation.count, sizeof *by_operation.at, compare_nodes);
    for (event_id k = 0; k < trace->event_count; k++) {
        if (!onnx_is_category(trace, k, "Kernel"))
            continue;
        const char *parent = trace_arg_text(trace, (enum trace_arg)KEY_NODE, k),
                   *operation = trace_arg_text(trace, (enum trace_arg)KEY_OPERATION, k);
        size_t len = parent ? strlen(parent) : 0, end = sizeof ending - 1;
        event_id node = EVENT_NONE;
        if (len) {
            len -= len > end && strcmp(parent + len - end, ending) == 0 ? end : 0;
            node = last_node(&by_name, arena_strndup(&arena, parent, len), trace_start_ns(trace, k));
        } else if (operation) {
            node = last_node(&by_operation, operation, trace_start_ns(trace, k));
        }
        if (node != EVENT_NONE)
            ids[k] = ids[node] = (int64_t)node + FIRST_NODE_ID;
    }
    EACH(VEC_FREE, &by_name, &by_operation);
    arena_release(&arena);
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
