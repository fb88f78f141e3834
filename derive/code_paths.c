/* A caller comes before its callees in the tree, so one pass gives each node its own path or that of its caller; a second
 * pass moves the nodes of the backward pass. The tree, where the backward pass begins and the forward operators are the same
 * for modules and lines, and are found once. */
#include "derive/code_paths.h"

#include "base/rows.h"
#include "derive/python_names.h"
#include "derive/step_list.h"
#include "base/search.h"
#include "trace/arg_scan.h"
#include "trace/derived.h"

#define PATH_NOT_KNOWN UINT32_MAX

/* How a file records the place of operators. */
enum file_source { SOURCE_NONE, SOURCE_FRAMES, SOURCE_STACKS, SOURCE_HIERARCHY };

/* torch's number of a thread, and the thread that probably has it. */
struct thread_number {
    uint32_t file;
    int64_t number;
    track_id track;
    uint32_t votes;
};

/* A forward operator. */
struct forward {
    uint32_t file;
    int64_t sequence;
    track_id track;
    int64_t start_ns;
    node_id node;
};

/* Records of memory that hold their own stack, by event. */
struct code_record {
    event_id event;
    uint32_t path;
};

struct code_records {
    VEC_OF(struct code_record);
};

/* The calls of a trace, whatever frames they are in. */
struct code_calls {
    struct calltree *tree;
    node_id *node;  /* by event */
    node_id *skips; /* by node: see calltree_around */
    uint8_t *pass;  /* by node: bits of enum code_pass */
    /* By node with PASS_BEGINS, in order: its forward operator; NODE_NONE: not found. */
    VEC_OF(node_id) forward;
};

enum code_pass {
    PASS_BACKWARD = 1, /* is within the backward pass */
    PASS_BEGINS = 2,   /* a node of the graph: the backward pass begins here, or begins here again */
};

/* How the forward operators are found. */
struct linking {
    const struct trace *trace;
    struct code_calls *calls;
    VEC_OF(struct forward) forwards;
    VEC_OF(struct thread_number) threads;
};

struct maker {
    struct code_paths *paths;
    const struct code_calls *calls; /* NULL for annotations */
    enum code_frames frames;
    uint8_t *source; /* by file: enum file_source */
    struct arg_scan stacks, hierarchies;
    uint32_t *label_of;     /* by name: label + 1 of a frame; 0: is none; PATH_NOT_KNOWN */
    uint32_t *path_of_text; /* by text: path of a stack; PATH_NOT_KNOWN */
};

/* ---- paths ---- */

/* The path of a frame called LABEL within PARENT. */
static uint32_t path_within(struct code_paths *paths, uint32_t parent, uint32_t label)
{
    uint32_t key[2] = { parent, label };
    uint32_t id = names_add(paths->keys, (const char *)key, sizeof key);
    if (id + 1 == paths->count) /* ids count up from 0, paths from 1 */
        *VEC_PUSH(paths) = (struct code_path){ parent, label };
    return id + 1;
}

/* TEXT without the folder that packages are installed in. */
static const char *without_installation(const char *text)
{
    static const char *const folders[] = { "/site-packages/", "/dist-packages/" };
    for (size_t i = 0; i < sizeof folders / sizeof *folders; i++) {
        const char *at = strstr(text, folders[i]);
        if (at)
            return at + strlen(folders[i]);
    }
    return text;
}

/* The label of a frame of this name, inside NAME; NULL if it has none. */
static const char *label_of_frame(enum code_frames frames, const char *name)
{
    int64_t number;
    if (frames == CODE_ANNOTATIONS)
        return step_number(name, &number) ? NULL : name;
    if (frames == CODE_MODULES)
        return python_module_of(name);
    return python_frame_of(name) == FRAME_OF_USER ? without_installation(name) : NULL;
}

static uint32_t label_of_name(struct maker *maker, name_id name)
{
    uint32_t *known = &maker->label_of[name];
    if (*known == PATH_NOT_KNOWN) {
        const char *label = label_of_frame(maker->frames, names_text(maker->paths->trace->names, name));
        *known = label ? names_add(maker->paths->labels, label, strlen(label)) + 1 : 0;
    }
    return *known;
}

/* Convert "file.py:12:step", as in memory snapshots, to "file.py(12): step". */
static void spell_frame(struct buffer *frame, const char *text, size_t len)
{
    size_t name = len, line;
    while (name > 0 && text[name - 1] != ':')
        name--;
    for (line = name ? name - 1 : 0; line > 0 && text[line - 1] >= '0' && text[line - 1] <= '9';)
        line--;
    buffer_clear(frame);
    if (name > 0 && line > 1 && line + 1 < name && text[line - 1] == ':')
        buffer_printf(frame, "%.*s(%.*s): %.*s", (int)(line - 1), text, (int)(name - 1 - line), text + line,
                      (int)(len - name), text + name);
    else
        buffer_printf(frame, "%.*s", (int)len, text);
}

/* The path of a stack "inner;outer;outermost", or of a record of memory "inner <- outer <- outermost". */
static uint32_t path_of_stack(struct maker *maker, const char *stack)
{
    SCOPED VEC_OF(uint32_t) labels = { 0 };
    struct buffer frame = { 0 };
    const char *arrow = strstr(stack, " <- "), *between = arrow ? " <- " : ";";
    for (const char *at = stack, *end; at; at = end ? end + strlen(between) : NULL) {
        end = strstr(at, between);
        spell_frame(&frame, at, end ? (size_t)(end - at) : strlen(at));
        const char *label = label_of_frame(maker->frames, frame.at);
        if (label)
            *VEC_PUSH(&labels) = names_add(maker->paths->labels, label, strlen(label));
    }
    buffer_release(&frame);
    uint32_t path = CODE_OUTSIDE;
    for (size_t i = labels.count; i-- > 0;)
        path = path_within(maker->paths, path, labels.at[i]);
    return path;
}

/* The path of "TOP(Net)::forward.conv1(Conv2d)::forward.SELF(Conv2d)::_conv_forward.": "SELF" is a call within the same
 * module. */
static uint32_t path_of_hierarchy(struct maker *maker, const char *hierarchy)
{
    uint32_t path = CODE_OUTSIDE;
    if (maker->frames != CODE_MODULES)
        return path;
    for (const char *at = hierarchy; *at;) {
        size_t name = strcspn(at, "(."), len = name;
        if (at[name] == '(')
            len += strcspn(at + name, ")");
        len += at[len] == ')';
        if (at[name] == '(' && strncmp(at, "SELF(", 5) != 0)
            path = path_within(maker->paths, path, names_add(maker->paths->labels, at, len));
        at += len + strcspn(at + len, ".");
        at += *at == '.';
    }
    return path;
}

/* The path that the operator itself records; false if none. */
static bool recorded_path(struct maker *maker, uint8_t source, event_id e, uint32_t *path)
{
    int64_t text;
    struct arg_scan *scan = source == SOURCE_STACKS ? &maker->stacks : &maker->hierarchies;
    const struct trace *trace = maker->paths->trace;
    if ((trace->kind[e] != EVENT_OP && trace->kind[e] != EVENT_INSTANT) || !arg_scan_get(scan, e, &text) ||
        names_length(trace->texts, (name_id)text) == 0)
        return false;
    uint32_t *known = &maker->path_of_text[text];
    if (*known == PATH_NOT_KNOWN) {
        const char *recorded = names_text(trace->texts, (name_id)text);
        *known =
            source == SOURCE_STACKS ? path_of_stack(maker, recorded) : path_of_hierarchy(maker, recorded);
    }
    *path = *known;
    return true;
}

/* ---- forward and backward ---- */

static uint32_t code_paths_file_of(const struct trace *trace, event_id e)
{
    return trace->file_count == 1 ? 0 : trace->tracks[trace->track[e]].file;
}

/* By name: is it that of a node of the backward pass? New, free with free(). */
static bool *find_backward_names(const struct trace *trace)
{
    static const char begin[] = "autograd::engine::evaluate_function: ";
    bool *is_backward = mem_zalloc(names_count(trace->names) + 1, sizeof *is_backward);
    for (name_id name = 0; name < names_count(trace->names); name++)
        is_backward[name] = strncmp(names_text(trace->names, name), begin, sizeof begin - 1) == 0;
    return is_backward;
}

/* The last, by node: callers before callees. */
static const struct key by_file_sequence_track[] = {
    ASC(struct forward, file),     ASC(struct forward, sequence), ASC(struct forward, track),
    ASC(struct forward, start_ns), ASC(struct forward, node),     KEY_END
};

/* The range [*FIRST, END) of forward operators with a number; returns END. */
static size_t forwards_of(const struct linking *linking, uint32_t file, int64_t sequence, size_t *first)
{
    const struct forward *at = linking->forwards.at;
    size_t low, count;
    SEARCH(low, linking->forwards.count,
           at[low].file < file || (at[low].file == file && at[low].sequence < sequence));
    *first = low;
    at += low;
    SEARCH(count, linking->forwards.count - *first, at[count].file == file && at[count].sequence == sequence);
    return *first + count;
}

static const struct key by_file_number_track[] = { ASC(struct thread_number, file),
                                                   ASC(struct thread_number, number),
                                                   ASC(struct thread_number, track), KEY_END };

/* Determine the thread of each of torch's numbers, by sequence numbers that only one thread has. */
static void find_threads(struct linking *linking)
{
    const struct calltree *tree = linking->calls->tree;
    const struct trace *trace = linking->trace;
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        int64_t sequence;
        size_t first, end;
        if (!(linking->calls->pass[n] & PASS_BEGINS) || !trace_arg(trace, ARG_SEQUENCE, e, &sequence) ||
            (end = forwards_of(linking, code_paths_file_of(trace, e), sequence, &first)) == first ||
            linking->forwards.at[first].track != linking->forwards.at[end - 1].track)
            continue;
        *VEC_PUSH(&linking->threads) =
            (struct thread_number){ code_paths_file_of(trace, e), trace_arg_or(trace, ARG_FWD_THREAD, e, 0),
                                    linking->forwards.at[first].track, 1 };
    }
    if (linking->threads.count == 0)
        return;
    SORT(&linking->threads, by_file_number_track);
    size_t kept = 0; /* one for each number: the thread with the most votes */
    FOR_GROUPS(&linking->threads, by_file_number_track, first, end) {
        struct thread_number thread = linking->threads.at[first];
        thread.votes = (uint32_t)(end - first);
        struct thread_number *before = kept ? &linking->threads.at[kept - 1] : NULL;
        if (!before || before->file != thread.file || before->number != thread.number)
            linking->threads.at[kept++] = thread;
        else if (thread.votes > before->votes)
            *before = thread;
    }
    linking->threads.count = kept;
}

static track_id thread_of_number(const struct linking *linking, uint32_t file, int64_t number)
{
    const struct thread_number *at = linking->threads.at;
    size_t low =
        PLACE(i, linking->threads.count, at[i].file < file || (at[i].file == file && at[i].number < number));
    bool found = low < linking->threads.count && linking->threads.at[low].file == file &&
                 linking->threads.at[low].number == number;
    return found ? linking->threads.at[low].track : TRACK_NONE;
}

/* The forward operator that backward operator E belongs to; NODE_NONE if there is none. */
static node_id forward_of(const struct linking *linking, event_id e)
{
    const struct trace *trace = linking->trace;
    const struct forward *at = linking->forwards.at;
    uint32_t file = code_paths_file_of(trace, e);
    int64_t sequence, start_ns = trace_start_ns(trace, e);
    size_t first, end, i;
    if (!trace_arg(trace, ARG_SEQUENCE, e, &sequence) ||
        (end = forwards_of(linking, file, sequence, &first)) == first)
        return NODE_NONE;
    track_id track = thread_of_number(linking, file, trace_arg_or(trace, ARG_FWD_THREAD, e, 0));
    if (track == TRACK_NONE)
        track = at[first].track;
    at += first;
    SEARCH(i, end - first, at[i].track < track || (at[i].track == track && at[i].start_ns <= start_ns));
    return i == 0 || at[i - 1].track != track ? NODE_NONE : at[i - 1].node;
}

/* Find where the backward pass begins and what is in it, and the forward operators. */
static void find_passes(struct linking *linking)
{
    const struct trace *trace = linking->trace;
    const struct calltree *tree = linking->calls->tree;
    uint8_t *pass = linking->calls->pass;
    bool *is_backward = find_backward_names(trace);
    struct arg_scan threads = arg_scan_of(trace, ARG_FWD_THREAD),
                    sequences = arg_scan_of(trace, ARG_SEQUENCE);
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        node_id parent = tree->parent[n];
        int64_t sequence, thread = 0;
        pass[n] = parent == NODE_NONE ? 0 : pass[parent] & PASS_BACKWARD;
        if (trace->kind[e] != EVENT_OP)
            continue;
        if (is_backward[trace->name[e]] || (arg_scan_get(&threads, e, &thread) && thread != 0))
            pass[n] = PASS_BACKWARD | PASS_BEGINS;
        else if (!pass[n] && arg_scan_get(&sequences, e, &sequence) && sequence >= 0)
            *VEC_PUSH(&linking->forwards) = (struct forward){ code_paths_file_of(trace, e), sequence,
                                                              trace->track[e], trace_start_ns(trace, e), n };
    }
    free(is_backward);
    SORT(&linking->forwards, by_file_sequence_track);
}

static bool code_paths_takes_part(const void *context, event_id e)
{
    const struct trace *trace = context;
    enum event_kind kind = trace->kind[e];
    return (kind == EVENT_OP || kind == EVENT_PYTHON || event_is_call(kind)) &&
           !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
}

static struct code_calls *code_calls_open(const struct trace *trace)
{
    struct code_calls *calls = arena_open(sizeof *calls);
    ARENA_OWNS(arena_of(calls), &calls->node, &calls->skips, &calls->pass, &calls->forward);
    calls->tree = arena_hold(arena_of(calls), calltree_open(trace, code_paths_takes_part, trace));
    calltree_nest(calls->tree);
    calls->node = calltree_nodes(calls->tree);
    calls->skips = calltree_skips(calls->tree);
    calls->pass = mem_alloc(calls->tree->count + 1);
    struct linking linking = { .trace = trace, .calls = calls };
    find_passes(&linking);
    find_threads(&linking);
    for (node_id n = 0; n < calls->tree->count; n++)
        if (calls->pass[n] & PASS_BEGINS)
            *VEC_PUSH(&calls->forward) = forward_of(&linking, calls->tree->event[n]);
    EACH(VEC_FREE, &linking.forwards, &linking.threads);
    return calls;
}

static const struct code_calls *code_calls_of(const struct trace *trace);
DERIVED(code_calls, code_calls_of, code_calls_open);

/* ---- the passes ---- */

static enum event_kind kind_of_frames(enum code_frames frames)
{
    return frames == CODE_ANNOTATIONS ? EVENT_ANNOTATION : EVENT_PYTHON;
}

/* Give each node the path of its caller, or its own. */
static void walk_forward(struct maker *maker)
{
    struct code_paths *paths = maker->paths;
    const struct trace *trace = paths->trace;
    const struct calltree *tree = paths->tree;
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        node_id parent = tree->parent[n];
        uint8_t source = maker->source[code_paths_file_of(trace, e)];
        uint32_t path = parent == NODE_NONE ? CODE_OUTSIDE : paths->path[parent], label, own;
        if (source == SOURCE_FRAMES && trace->kind[e] == kind_of_frames(maker->frames) &&
            (label = label_of_name(maker, trace->name[e])) != 0) {
            path = path_within(paths, path, label - 1);
            paths->flags[n] |= CODE_FRAME;
        } else if ((source == SOURCE_STACKS || source == SOURCE_HIERARCHY) &&
                   recorded_path(maker, source, e, &own)) {
            path = own;
        }
        paths->path[n] = path;
    }
}

/* Move the nodes of the backward pass to the paths of their forward operators. */
static void walk_backward(struct maker *maker)
{
    struct code_paths *paths = maker->paths;
    const struct calltree *tree = paths->tree;
    const uint8_t *pass = maker->calls->pass;
    const node_id *forward = maker->calls->forward.at;
    for (node_id n = 0; n < tree->count; n++) {
        if (!pass[n])
            continue;
        paths->flags[n] |= CODE_BACKWARD;
        node_id parent = tree->parent[n];
        if (!(pass[n] & PASS_BEGINS)) { /* the path of its caller, or a frame in it: recomputed code */
            if (paths->flags[n] & CODE_FRAME)
                paths->path[n] = path_within(paths, paths->path[parent], paths->at[paths->path[n]].label);
            else
                paths->path[n] = paths->path[parent];
            continue;
        }
        node_id of = *forward++;
        if (of != NODE_NONE)
            paths->path[n] = paths->path[of];
        else if (parent != NODE_NONE && pass[parent])
            paths->path[n] = paths->path[parent]; /* a node of the graph, inside its caller */
        else
            paths->unlinked += trace_arg_or(paths->trace, ARG_FWD_THREAD, tree->event[n], 0) != 0;
    }
}

/* For CODE_ANNOTATIONS only annotations, which are few, are in the tree: other events are looked up by time. */
static bool annotates(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_ANNOTATION && !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
}

/* Does any stack of TRACE, or another text, name a module? Most are of lines alone. */
static bool texts_name_modules(const struct trace *trace)
{
    return ANY(text, names_count(trace->texts), strstr(names_text(trace->texts, text), "nn.Module: "));
}

static void find_sources(struct maker *maker)
{
    const struct trace *trace = maker->paths->trace;
    if (maker->frames == CODE_ANNOTATIONS) {
        for (size_t file = 0; file < trace->file_count; file++)
            maker->source[file] = SOURCE_FRAMES;
        return;
    }
    bool hierarchies = trace->args[ARG_MODULE_HIERARCHY].count > 0;
    bool stacks = trace->args[ARG_CALL_STACK].count > 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t *source = &maker->source[code_paths_file_of(trace, e)];
        int64_t text;
        if (trace->kind[e] == EVENT_PYTHON)
            *source = SOURCE_FRAMES;
        else if (stacks && (*source == SOURCE_NONE || *source == SOURCE_HIERARCHY) &&
                 trace_arg(trace, ARG_CALL_STACK, e, &text) && names_length(trace->texts, (name_id)text) > 0)
            *source = SOURCE_STACKS;
        else if (hierarchies && *source == SOURCE_NONE && trace_arg(trace, ARG_MODULE_HIERARCHY, e, &text) &&
                 names_length(trace->texts, (name_id)text) > 0)
            *source = SOURCE_HIERARCHY;
    }
    if (!stacks || maker->frames != CODE_MODULES || texts_name_modules(trace))
        return;
    for (size_t file = 0; file < trace->file_count; file++)
        if (maker->source[file] ==
            SOURCE_STACKS) /* all of it is outside of modules, as if nothing was recorded */
            maker->source[file] = SOURCE_NONE;
}

static uint32_t *unknown_ids(size_t count)
{
    uint32_t *array = mem_alloc(mem_times(count + 1, sizeof *array));
    memset(array, 0xff, (count + 1) * sizeof *array);
    return array;
}

/* Add the paths of captured operators; parents come first. */
static void add_captured(struct code_paths *paths, enum code_frames frames)
{
    paths->frames = frames;
    paths->links = graph_links_of(paths->trace);
    if (!paths->links)
        return;
    const struct captured_paths *captured = &paths->links->bodies->paths[frames];
    paths->captured = mem_alloc(mem_times(captured->count, sizeof *paths->captured));
    paths->captured[CODE_OUTSIDE] = CODE_OUTSIDE;
    for (size_t i = 1; i < captured->count; i++) {
        const char *label = names_text(paths->links->bodies->texts, captured->at[i].label);
        paths->captured[i] = path_within(paths, paths->captured[captured->at[i].parent],
                                         names_add(paths->labels, label, strlen(label)));
    }
}

static void add_records(struct maker *maker)
{
    const struct trace *trace = maker->paths->trace;
    if (trace->args[ARG_CALL_STACK].count == 0)
        return;
    struct code_records *records = arena_zalloc(arena_of(maker->paths), 1, sizeof *records);
    ARENA_OWNS(arena_of(maker->paths), &records->at);
    for (event_id e = 0; e < trace->event_count; e++) {
        uint32_t path;
        if (trace->kind[e] == EVENT_INSTANT && recorded_path(maker, SOURCE_STACKS, e, &path))
            *VEC_PUSH(records) = (struct code_record){ e, path };
    }
    maker->paths->records = records;
}

/* The tree of annotations alone, of which PATHS owns all parts. */
static void open_annotations(struct code_paths *paths)
{
    ARENA_OWNS(arena_of(paths), &paths->skips);
    paths->tree = arena_hold(arena_of(paths), calltree_open(paths->trace, annotates, paths->trace));
    calltree_nest(paths->tree);
    paths->skips = calltree_skips(paths->tree);
}

static void borrow_calls(struct code_paths *paths, const struct code_calls *calls)
{
    paths->tree = calls->tree;
    paths->node = calls->node;
    paths->skips = calls->skips;
}

static struct code_paths *code_paths_open(const struct trace *trace, enum code_frames frames)
{
    struct code_paths *paths = arena_open(sizeof *paths);
    ARENA_OWNS(arena_of(paths), &paths->at, &paths->path, &paths->flags, &paths->captured);
    struct maker maker = { .paths = paths, .frames = frames };
    paths->trace = trace;
    paths->frames = frames;
    paths->labels = arena_hold(arena_of(paths), names_open());
    paths->keys = arena_hold(arena_of(paths), names_open());
    if (frames == CODE_ANNOTATIONS)
        open_annotations(paths);
    else
        borrow_calls(paths, maker.calls = code_calls_of(trace));
    paths->path = mem_zalloc(paths->tree->count + 1, sizeof *paths->path);
    paths->flags = mem_zalloc(paths->tree->count + 1, 1);
    *VEC_PUSH(paths) = (struct code_path){ CODE_OUTSIDE, NAME_NONE };

    maker.source = mem_zalloc(trace->file_count + 1, 1);
    maker.stacks = arg_scan_of(trace, ARG_CALL_STACK);
    maker.hierarchies = arg_scan_of(trace, ARG_MODULE_HIERARCHY);
    maker.label_of = unknown_ids(names_count(trace->names));
    maker.path_of_text = unknown_ids(names_count(trace->texts));
    find_sources(&maker);
    walk_forward(&maker);
    if (frames != CODE_ANNOTATIONS) {
        walk_backward(&maker);
        add_captured(paths, frames);
        if (frames == CODE_LINES) /* a stack holds no modules, so those of the thread are used */
            add_records(&maker);
    }
    EACH(free, maker.source, maker.label_of, maker.path_of_text);
    return paths;
}

static void *derive_modules(const struct trace *trace)
{
    return code_paths_open(trace, CODE_MODULES);
}

static void *derive_lines(const struct trace *trace)
{
    return code_paths_open(trace, CODE_LINES);
}

static void *derive_annotations(const struct trace *trace)
{
    return code_paths_open(trace, CODE_ANNOTATIONS);
}

const struct code_paths *code_paths_of(const struct trace *trace, enum code_frames frames)
{
    static const struct derivation derivations[CODE_FRAMES] = {
        [CODE_MODULES] = { derive_modules },
        [CODE_LINES] = { derive_lines },
        [CODE_ANNOTATIONS] = { derive_annotations },
    };
    return trace_derive(trace, &derivations[frames]);
}

/* NULL: nothing of TRACK nests. */
static const struct calltree_thread *thread_of(const struct code_paths *paths, track_id track)
{
    const struct calltree *tree = paths->tree;
    size_t i = PLACE(k, tree->thread_count, tree->threads[k].track < track);
    return i < tree->thread_count && tree->threads[i].track == track ? &tree->threads[i] : NULL;
}

/* The innermost node that was open on TRACK at MOMENT; NODE_NONE if none was. */
static node_id node_at(const struct code_paths *paths, track_id track, int64_t moment_ns)
{
    const struct calltree_thread *thread = thread_of(paths, track);
    return thread ? calltree_open_at(paths->tree, paths->skips, thread, moment_ns) : NODE_NONE;
}

static struct code_place place_of_node(const struct code_paths *paths, node_id n)
{
    if (n == NODE_NONE)
        return (struct code_place){ CODE_OUTSIDE, false };
    return (struct code_place){ paths->path[n], (paths->flags[n] & CODE_BACKWARD) != 0 };
}

struct code_place code_place_at(const struct code_paths *paths, track_id track, int64_t ns)
{
    return place_of_node(paths, node_at(paths, track, ns));
}

int64_t code_place_until(const struct code_paths *paths, track_id track, int64_t ns)
{
    const struct calltree *tree = paths->tree;
    const struct calltree_thread *thread = thread_of(paths, track);
    int64_t until_ns = INT64_MAX;
    if (!thread)
        return until_ns;
    const event_id *events = tree->event + thread->first;
    size_t i = PLACE(k, thread->count, trace_start_ns(paths->trace, events[k]) <= ns);
    if (i < thread->count)
        until_ns = trace_start_ns(paths->trace, events[i]);
    node_id node = calltree_open_at(tree, paths->skips, thread, ns);
    int64_t end_ns = node == NODE_NONE ? until_ns : trace_end_ns(paths->trace, tree->event[node]);
    return end_ns < until_ns ? end_ns : until_ns;
}

/* The record E among those that hold their own stack; NULL if it is not among them. */
static const struct code_record *record_of(const struct code_paths *paths, event_id e)
{
    const struct code_records *records = paths->records;
    size_t i = 0;
    if (records)
        SEARCH(i, records->count, records->at[i].event < e);
    return records && i < records->count && records->at[i].event == e ? &records->at[i] : NULL;
}

struct code_place code_place_of(const struct code_paths *paths, event_id e)
{
    if (paths->node && paths->node[e] != NODE_NONE)
        return place_of_node(paths, paths->node[e]);
    const struct code_record *record = record_of(paths, e);
    if (record)
        return (struct code_place){ record->path, false };
    return code_place_at(paths, paths->trace->track[e], trace_start_ns(paths->trace, e));
}

static struct code_place place_of_captured(const struct code_paths *paths, event_id e)
{
    const struct captured_op *op = graph_link_op(paths->links, e);
    uint32_t path = !op ? CODE_OUTSIDE : paths->frames == CODE_MODULES ? op->modules : op->lines;
    return (struct code_place){ paths->captured[path], false };
}

struct code_place code_place_of_work(const struct code_paths *paths, const struct attribution *launches,
                                     event_id e)
{
    if (graph_link_is_work(paths->links, e))
        return place_of_captured(paths, e);
    event_id call = attribution_call(launches, e);
    if (call != EVENT_NONE && (!paths->node || paths->node[call] != NODE_NONE))
        return code_place_of(paths, call);
    event_id op = attribution_operator(launches, e);
    return op == EVENT_NONE ? (struct code_place){ CODE_OUTSIDE, false } : code_place_of(paths, op);
}

const char *code_path_name(const struct code_paths *paths, uint32_t path)
{
    return path == CODE_OUTSIDE ? "" : names_text(paths->labels, paths->at[path].label);
}
