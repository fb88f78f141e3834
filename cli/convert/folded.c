/*
 * folded.c - folded stacks, for flame graphs (flamegraph.pl, inferno, speedscope): a line per stack, its frames
 * from the outside in, separated by semicolons, a blank, and its own time in nanoseconds.
 *
 * In a trace, stacks are nested events of each thread (trace/calltree.h); those of GPU time continue from the call that
 * launched a kernel (derive/attribution.h). Stacks of the same frames add up: each gets a number by its parent's and its
 * frame, so that a trace of millions of events needs only one number per distinct stack.
 *
 * A Python profile holds edges, not stacks (profile/stacks.h), and the lines mark estimates: frames whose time was
 * divided among callers end in " ~"; time without a stack is under "[callers not known]".
 */
#include "profile/view.h"
#include "base/escape.h"
#include "base/packer.h"
#include "base/sum.h"
#include "cli/convert/parts.h"
#include "cli/timeline.h"
#include "derive/step_list.h"

#include <assert.h>
#include <inttypes.h>

static const char unplaced[] = "[callers not known]";
static const char apportioned[] = " ~";

struct folded {
    const struct profile *profile;
    FILE *out;
    struct buffer line, name;
};

static void add_frame(struct folded *folded, function_id id)
{
    buffer_clear(&folded->name);
    profile_function_text(&folded->profile->functions[id], &folded->name);
    escape_folded(&folded->line, folded->name.at, folded->name.count);
}

static void write_stack(void *context, const struct profile_stack *stack)
{
    struct folded *folded = context;
    buffer_clear(&folded->line);
    if (stack->kind == STACK_UNPLACED)
        buffer_printf(&folded->line, "%s;", unplaced);
    for (size_t i = 0; i < stack->depth; i++) {
        if (i > 0)
            buffer_putc(&folded->line, ';');
        add_frame(folded, stack->frames[i]);
        if (stack->kind == STACK_APPORTIONED && i >= stack->exact_depth)
            buffer_puts(&folded->line, apportioned);
    }
    buffer_printf(&folded->line, " %" PRId64 "\n", stack->time_ns);
    if (folded->line.count)
        fwrite(folded->line.at, 1, folded->line.count, folded->out);
}

static bool write_folded(const struct profile *profile, const struct convert_args *args, FILE *out,
                         struct buffer *summary, struct tpa_error *err)
{
    (void)err;
    struct folded folded = { .profile = profile, .out = out };
    struct profile_stack_sums sums = profile_stacks(profile, args->stack_share, write_stack, &folded);
    EACH(buffer_release, &folded.line, &folded.name);

    double whole_ns = SUM(double, kind, STACK_KINDS, (double)sums.time_ns[kind]);
    double share[STACK_KINDS];
    for (int kind = 0; kind < STACK_KINDS; kind++)
        share[kind] = whole_ns > 0 ? quantity_percent((double)sums.time_ns[kind] / whole_ns) : 0;
    buffer_printf(summary, "%zu stacks; a profile holds calls from function to function, not stacks, so:\n",
                  sums.stacks[STACK_EXACT] + sums.stacks[STACK_APPORTIONED] + sums.stacks[STACK_UNPLACED]);
    buffer_printf(summary, "  %5.1f %% of the time is exact: on the way there each function has one caller\n",
                  share[STACK_EXACT]);
    buffer_printf(summary,
                  "  %5.1f %% is apportioned among the callers of a function: frames that end in \"%s\"\n",
                  share[STACK_APPORTIONED], apportioned);
    buffer_printf(summary, "  %5.1f %% could not be placed: under \"%s\"\n", share[STACK_UNPLACED], unplaced);
    return true;
}

/* ---- traces ---- */

/* The outermost frame of a stack is a track, or a placeholder for calls that are not in the trace. */
typedef uint32_t stack_id;
#define STACK_NONE UINT32_MAX
enum { BYTES_PER_PART = 1 << 20 };

/* Each line names all callers, so with deep nesting a few hundred bytes of trace can give any amount of text. */
#define MOST_FOLDED_BYTES (INT64_C(1) << 30)

struct stack_key {
    stack_id parent; /* STACK_NONE: the outermost */
    uint32_t frame;  /* the outermost: a track, or track_count; else a name_id */
};

struct trace_stacks {
    const struct trace *trace;
    struct names *keys; /* struct stack_key as bytes -> stack_id */
    VEC_OF(int64_t) own_ns;
    VEC_OF(stack_id) parts; /* the first stack of each part of the output, and the end of the last */
    name_id *frame_of;      /* by name: the steps are one frame, whatever their number */
};

static stack_id find_stack(struct trace_stacks *stacks, stack_id parent, uint32_t frame)
{
    struct stack_key key = { parent, frame };
    stack_id id = names_add(stacks->keys, (const char *)&key, sizeof key);
    if (id == stacks->own_ns.count)
        *VEC_PUSH(&stacks->own_ns) = 0;
    return id;
}

static struct stack_key key_of(const struct trace_stacks *stacks, stack_id id)
{
    struct stack_key key;
    memcpy(&key, names_text(stacks->keys, id), sizeof key);
    return key;
}

/* ProfilerStep#7 and #8 would be separate towers of a flame graph: the first name is used for all. */
static void join_steps(struct trace_stacks *stacks)
{
    const struct names *names = stacks->trace->names;
    size_t count = names_count(names);
    name_id step = NAME_NONE;
    stacks->frame_of = mem_alloc(mem_times(count + 1, sizeof *stacks->frame_of));
    for (name_id id = 0; id < count; id++) {
        int64_t number;
        bool is_step = step_number(names_text(names, id), &number);
        if (is_step && step == NAME_NONE)
            step = id;
        stacks->frame_of[id] = is_step ? step : id;
    }
}

static bool takes_call(const void *context, event_id e)
{
    const struct trace *trace = context;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    return !event_on_device(kind) && kind != EVENT_SPAN && !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC));
}

/* New, free(): the stack of each node. */
static stack_id *stack_nodes(struct trace_stacks *stacks, const struct calltree *tree)
{
    stack_id *stack = mem_alloc(mem_times(tree->count + 1, sizeof *stack));
    for (node_id n = 0; n < tree->count; n++) {
        event_id e = tree->event[n];
        stack_id parent = tree->parent[n] == NODE_NONE
                              ? find_stack(stacks, STACK_NONE, stacks->trace->track[e])
                              : stack[tree->parent[n]];
        stack[n] = find_stack(stacks, parent, stacks->frame_of[stacks->trace->name[e]]);
    }
    return stack;
}

static void add_own_time(struct trace_stacks *stacks, stack_id id, int64_t ns)
{
    assert(stacks->own_ns.at && id < stacks->own_ns.count);
    stacks->own_ns.at[id] += ns;
}

static void add_cpu_time(struct trace_stacks *stacks, const struct calltree *tree, const stack_id *stack)
{
    const struct trace *trace = stacks->trace;
    for (node_id n = 0; n < tree->count; n++) {
        int64_t dur_ns = trace_dur_ns(trace, tree->event[n]);
        add_own_time(stacks, stack[n], dur_ns);
        if (tree->parent[n] != NODE_NONE)
            add_own_time(stacks, stack[tree->parent[n]], -dur_ns);
    }
}

/* The time of GPU work, under the call that launched it, or the operator when the call is not in the trace. */
static void add_gpu_time(struct trace_stacks *stacks, const struct calltree *tree, const stack_id *stack)
{
    const struct trace *trace = stacks->trace;
    SCOPED_OBJECT struct attribution *launches = attribution_open(trace);
    SCOPED node_id *node = calltree_nodes(tree);
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!event_is_gpu_work((enum event_kind)trace->kind[e]))
            continue;
        event_id by = attribution_call(launches, e);
        if (by == EVENT_NONE || node[by] == NODE_NONE)
            by = attribution_operator(launches, e);
        stack_id parent = by != EVENT_NONE && node[by] != NODE_NONE
                              ? stack[node[by]]
                              : find_stack(stacks, STACK_NONE, (uint32_t)trace->track_count);
        stack_id id = find_stack(stacks, parent, stacks->frame_of[trace->name[e]]);
        add_own_time(stacks, id, trace_dur_ns(trace, e));
    }
}

static void add_stack_frame(const struct trace_stacks *stacks, struct buffer *line,
                            const struct stack_key *key)
{
    const struct trace *trace = stacks->trace;
    if (key->parent != STACK_NONE) {
        const char *name = names_text(trace->names, key->frame);
        SCOPED struct buffer steps = { 0 };
        if (step_name_add_all(&steps, name))
            escape_folded(line, steps.at, steps.count);
        else
            escape_folded(line, name, names_length(trace->names, key->frame));
        return;
    }
    SCOPED struct buffer text = { 0 };
    if (key->frame == trace->track_count)
        buffer_puts(&text, "[launch not in the trace]");
    else
        timeline_add_track(&text, trace, key->frame);
    escape_folded(line, text.at, text.count);
}

/* A frame of the current stack, and the end of its text. */
struct open_frame {
    stack_id id;
    size_t end;
};

/* Stacks follow their parents, and usually share a prefix with the previous one, which is reused. */
static void make_stacks(const void *context, size_t part, struct buffer *out)
{
    const struct trace_stacks *stacks = context;
    SCOPED VEC_OF(stack_id) chain = { 0 };
    SCOPED VEC_OF(struct open_frame) open = { 0 };
    SCOPED struct buffer line = { 0 };
    for (stack_id id = stacks->parts.at[part]; id < stacks->parts.at[part + 1]; id++) {
        if (stacks->own_ns.at[id] <= 0)
            continue;
        chain.count = 0;
        for (stack_id at = id; at != STACK_NONE; at = key_of(stacks, at).parent)
            *VEC_PUSH(&chain) = at;
        size_t depth = chain.count, shared = 0;
        while (shared < open.count && shared < depth && open.at[shared].id == chain.at[depth - 1 - shared])
            shared++;
        open.count = shared;
        line.count = shared ? open.at[shared - 1].end : 0;
        for (size_t i = shared; i < depth; i++) {
            struct stack_key key = key_of(stacks, chain.at[depth - 1 - i]);
            buffer_puts(&line, i > 0 ? ";" : "");
            add_stack_frame(stacks, &line, &key);
            *VEC_PUSH(&open) = (struct open_frame){ chain.at[depth - 1 - i], line.count };
        }
        buffer_add(out, line.at, line.count);
        buffer_printf(out, " %" PRId64 "\n", stacks->own_ns.at[id]);
    }
}

/* Cut the output into parts of about BYTES_PER_PART, so that memory does not depend on how deep stacks are, and compute
 * the total size: a line is that of its parent plus one frame. */
static int64_t cut_into_parts(struct trace_stacks *stacks)
{
    SCOPED struct buffer frame = { 0 };
    int64_t *length = mem_alloc(mem_times(stacks->own_ns.count + 1, sizeof *length)), whole = 0, part = 0;
    *VEC_PUSH(&stacks->parts) = 0;
    for (stack_id id = 0; id < stacks->own_ns.count; id++) {
        struct stack_key key = key_of(stacks, id);
        buffer_clear(&frame);
        add_stack_frame(stacks, &frame, &key);
        length[id] = (int64_t)frame.count + 1 + (key.parent == STACK_NONE ? 0 : length[key.parent]);
        if (stacks->own_ns.at[id] <= 0)
            continue;
        sum_add(&whole, length[id]);
        part += length[id];
        if (part >= BYTES_PER_PART && id + 1 < stacks->own_ns.count) {
            *VEC_PUSH(&stacks->parts) = id + 1;
            part = 0;
        }
    }
    *VEC_PUSH(&stacks->parts) = (stack_id)stacks->own_ns.count;
    free(length);
    return whole;
}

static bool refuse_length(int64_t bytes, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE,
             "calls nest so deeply that their stacks take %" PRId64
             " MiB of text, as each line names all callers",
             bytes >> 20);
    return tpa_hint(err, "--to speedscope shows them in little room; --max-ratio 0 writes them all the same");
}

static void summarize(const struct trace_stacks *stacks, const struct calltree *tree, bool gpu,
                      struct buffer *summary)
{
    size_t count = 0;
    int64_t whole_ns = 0;
    for (stack_id id = 0; id < stacks->own_ns.count; id++) {
        count += stacks->own_ns.at[id] > 0;
        whole_ns += stacks->own_ns.at[id] > 0 ? stacks->own_ns.at[id] : 0;
    }
    buffer_printf(summary, "%zu stacks of %s time, %.3f s in all\n", count, gpu ? "GPU" : "CPU",
                  (double)whole_ns / 1e9);
    if (tree->overlaps)
        buffer_printf(summary, "%zu events begin within a call and end after it; they are not part of it\n",
                      tree->overlaps);
}

static bool write_trace_folded(const struct trace *trace, const struct convert_args *args, FILE *out,
                               struct buffer *summary, struct tpa_error *err)
{
    struct trace_stacks stacks = { .trace = trace, .keys = names_open() };
    join_steps(&stacks);
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, takes_call, trace);
    calltree_nest(tree);
    SCOPED stack_id *stack = stack_nodes(&stacks, tree);
    bool gpu = args->time == CONVERT_GPU_TIME;
    if (gpu)
        add_gpu_time(&stacks, tree, stack);
    else
        add_cpu_time(&stacks, tree, stack);
    struct packer packer = { SOURCE_PLAIN, (unsigned)args->load.jobs, make_stacks, &stacks };
    int64_t bytes = cut_into_parts(&stacks);
    bool fine = bytes > MOST_FOLDED_BYTES && args->load.max_ratio
                    ? refuse_length(bytes, err)
                    : packer_write(&packer, stacks.parts.count - 1, out, err);
    summarize(&stacks, tree, gpu, summary);
    free(stacks.frame_of);
    EACH(VEC_FREE, &stacks.own_ns, &stacks.parts);
    names_free(stacks.keys);
    return fine;
}

const struct convert_form convert_folded = {
    .name = "folded",
    .help = "stacks, for flame graphs (flamegraph.pl, speedscope)",
    .ending = ".folded",
    .write_trace = write_trace_folded,
    .wants = { .args = ATTRIBUTION_WANTS },
    .write_profile = write_folded,
    .write_snapshots = convert_snapshot_folded,
    .next = "flamegraph.pl --countname ns %s > flame.svg",
    .next_of_snapshot = "flamegraph.pl --countname bytes %s > flame.svg",
};
