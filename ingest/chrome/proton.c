/*
 * proton.c - the Chrome trace of Proton, Triton's profiler.
 *
 * {"displayTimeUnit":"us","traceEvents":[...]}, in one process, whose threads say what they are:
 *
 *     CPU Thread T       scopes and metrics of the program
 *     GPU Stream S       kernels
 *     Graph: Stream S    scopes again, around the kernels of a graph: annotations of the stream
 *     others             the insides of kernels, by block and warp: annotations, no work
 *
 * Arrows launch->kernel lead from the scope that began at the tail to the kernel at the head; one id may have many heads, and
 * of a graph only the first kernel has one. args.call_stack has the scopes, from ROOT to the kernel; args.metrics FLOPs by
 * width and bytes. Older files hold one such object a line and stream, the thread number being the stream. From
 * triton-lang/triton, third_party/proton.
 */
#include "ingest/chrome/draft.h"

#include "base/search.h"
#include "ingest/json_text.h"
#include "ingest/step_guess.h"
#include <assert.h>

enum { KEY_STACK = ARG_INPUT_STRIDES, KEY_METRICS = ARG_CONCRETE_INPUTS };

static const struct chrome_key proton_keys[] = {
    { "call_stack", (enum trace_arg)KEY_STACK },
    { "metrics", (enum trace_arg)KEY_METRICS },
    { NULL, ARG_COUNT },
};

enum lane { LANE_HOST, LANE_STREAM, LANE_GRAPH, LANE_INSIDE };

struct lane_facts {
    enum lane lane;
    int64_t number; /* of the thread, or the stream */
};

/* The head of an arrow, and the scope at its tail. */
struct head {
    track_id track;
    int64_t ns;
    event_id scope;
};

struct proton {
    struct draft *draft;
    struct lane_facts *lanes; /* by track */
    int64_t *ids;             /* by event: of scopes that launched, and the kernels; 0: none */
    uint64_t own;             /* kernels of the profiler */
};

static bool proton_is_category(const struct trace *trace, event_id e, const char *category)
{
    return strcmp(draft_category(trace, e), category) == 0;
}

static struct lane_facts proton_lane_of(const struct trace *trace, track_id t)
{
    const char *thread = draft_thread(trace, t);
    if (strncmp(thread, "GPU Stream", 10) == 0)
        return (struct lane_facts){ LANE_STREAM, draft_number(thread, "Stream", trace->tracks[t].tid) };
    if (strncmp(thread, "Graph:", 6) == 0)
        return (struct lane_facts){ LANE_GRAPH, draft_number(thread, "Stream", trace->tracks[t].tid) };
    if (strncmp(thread, "CPU Thread", 10) == 0)
        return (struct lane_facts){ LANE_HOST, draft_number(thread, "Thread", trace->tracks[t].tid) };
    return (struct lane_facts){ LANE_INSIDE, trace->tracks[t].tid };
}

static bool proton_is_one(const struct trace *trace)
{
    bool any = false, named = false;
    for (track_id t = 0; t < trace->track_count; t++) {
        named = named || *draft_thread(trace, t) || *draft_process(trace, t);
        if (proton_lane_of(trace, t).lane != LANE_INSIDE)
            return true;
    }
    /* An older file: nothing but kernels, of threads without names. */
    for (event_id e = 0; e < trace->event_count; e++) {
        if (!proton_is_category(trace, e, "kernel") && !proton_is_category(trace, e, "scope") &&
            !proton_is_category(trace, e, "metric"))
            return false;
        any = any || proton_is_category(trace, e, "kernel");
    }
    return any && !named;
}

static bool proton_may_be(const char *head, size_t len)
{
    return draft_head_has(head, len, "\"traceEvents\"") &&
           (draft_head_has(head, len < 256 ? len : 256, "\"displayTimeUnit\":\"us\"") ||
            draft_head_has(head, len, "\"GPUStream") || draft_head_has(head, len, "\"Graph:Stream"));
}

/* ---- links ---- */

static int compare_heads(const void *left, const void *right)
{
    const struct head *a = left, *b = right;
    if (a->track != b->track)
        return a->track < b->track ? -1 : 1;
    return (a->ns > b->ns) - (a->ns < b->ns);
}

struct heads {
    VEC_OF(struct head);
};

static void find_heads(const struct trace *trace, struct draft_spans *scopes, struct heads *heads)
{
    struct heads tails = { 0 }; /* by their places: ids are few times used, and come before their heads */
    struct names *ids = names_open();
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < trace->flow_count; i++) {
            struct trace_flow flow = trace_flow(trace, i);
            if ((flow.phase == 's') != (pass == 0))
                continue;
            if (pass == 0) {
                name_id id = names_add(ids, (const char *)&flow.id, sizeof flow.id);
                if (id == tails.count)
                    *VEC_PUSH(&tails) = (struct head){ flow.track, flow.ts_ns, EVENT_NONE };
                assert(tails.at); /* as each id has a place */
                tails.at[id].scope = draft_spans_around(scopes, flow.track, flow.ts_ns);
                continue;
            }
            name_id id = names_find(ids, (const char *)&flow.id, sizeof flow.id);
            assert(id == NAME_NONE || tails.at);
            if (id != NAME_NONE && tails.at[id].scope != EVENT_NONE)
                *VEC_PUSH(heads) = (struct head){ flow.track, flow.ts_ns, tails.at[id].scope };
        }
    names_free(ids);
    VEC_FREE(&tails);
    if (heads->count)
        qsort(heads->at, heads->count, sizeof *heads->at, compare_heads);
}

/* The scope of the kernel E by its call stack: the last of the name before the kernel's own to have begun. */
static event_id scope_by_stack(const struct trace *trace, event_id e, const bool *scopes)
{
    const char *stack = trace_arg_text(trace, (enum trace_arg)KEY_STACK, e);
    struct json_pull in = { stack, stack ? stack + strlen(stack) : NULL };
    struct json_text frame, last[2] = { 0 };
    if (!stack || !json_enter(&in, '['))
        return EVENT_NONE;
    while (json_next_element(&in) && json_read(&in, &frame)) {
        last[0] = last[1];
        last[1] = frame;
    }
    event_id found = EVENT_NONE;
    for (event_id s = 0; s < trace->event_count && last[0].at; s++)
        if (scopes[s] && trace_start_ns(trace, s) <= trace_start_ns(trace, e) &&
            json_text_is(&last[0], trace_name(trace, s)) &&
            (found == EVENT_NONE || trace_start_ns(trace, s) >= trace_start_ns(trace, found)))
            found = s;
    return found;
}

/* A kernel without an arrow is of the graph whose first kernel has the last arrow before it on the stream. */
static void link_scopes(struct proton *proton)
{
    const struct trace *trace = proton->draft->trace;
    bool *scopes = mem_zalloc(trace->event_count + 1, sizeof *scopes);
    for (event_id e = 0; e < trace->event_count; e++)
        scopes[e] = proton->lanes[trace->track[e]].lane == LANE_HOST && proton_is_category(trace, e, "scope");
    struct draft_spans *spans = draft_spans_open(trace, scopes);
    struct heads heads = { 0 };
    find_heads(trace, spans, &heads);
    enum { MOST_BY_STACK = 4096 }; /* each takes a look at all scopes */
    size_t by_stack = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (proton->lanes[trace->track[e]].lane != LANE_STREAM || !proton_is_category(trace, e, "kernel"))
            continue;
        size_t i;
        struct head key = { trace->track[e], trace_start_ns(trace, e), EVENT_NONE };
        SEARCH(i, heads.count, compare_heads(&heads.at[i], &key) <= 0);
        event_id scope = i && heads.at[i - 1].track == key.track ? heads.at[i - 1].scope : EVENT_NONE;
        if (scope == EVENT_NONE && by_stack++ < MOST_BY_STACK)
            scope = scope_by_stack(trace, e, scopes);
        if (scope != EVENT_NONE)
            proton->ids[e] = proton->ids[scope] = (int64_t)scope + 1;
    }
    VEC_FREE(&heads);
    draft_spans_free(spans);
    free(scopes);
}

/* ---- events ---- */

static void set_metrics(struct draft *draft, event_id e)
{
    const char *text = trace_arg_text(draft->trace, (enum trace_arg)KEY_METRICS, e);
    struct json_pull in = { text, text ? text + strlen(text) : NULL };
    struct json_text key, value;
    double number, flops = 0, bytes = 0;
    if (!text || !json_enter(&in, '{'))
        return;
    while (json_next_key(&in, &key) && json_read(&in, &value)) {
        if (!json_decimal(value.at, value.at + value.len, &number) || !(number > 0 && number < 0x1p62))
            continue;
        if (key.len >= 5 && memcmp(key.at, "flops", 5) == 0)
            flops += number;
        else if (json_text_is(&key, "bytes"))
            bytes += number;
    }
    if (flops > 0 && flops < 0x1p62)
        recorder_arg(draft->recorder, ARG_FLOPS, (int64_t)flops);
    if (bytes > 0)
        recorder_arg(draft->recorder, ARG_BYTES_ACCESSED, (int64_t)bytes);
}

static bool is_own_kernel(const char *name)
{
    return strstr(name, "__proton_launch_metadata") || strcmp(name, "<metric>") == 0;
}

static void proton_write_kernel(struct proton *proton, event_id e)
{
    struct draft *draft = proton->draft;
    const struct trace *trace = draft->trace;
    struct recorder_work work = RECORDER_WORK_NONE;
    if (is_own_kernel(trace_name(trace, e))) {
        proton->own++;
        return;
    }
    work.kind = RECORDER_KERNEL;
    work.name = draft_name(draft, e);
    work.start_ns = trace_start_ns(trace, e);
    work.end_ns = trace_end_ns(trace, e);
    work.device = 0;
    work.stream = proton->lanes[trace->track[e]].number;
    if (!recorder_work(draft->recorder, &work))
        return;
    if (proton->ids[e])
        recorder_arg(draft->recorder, ARG_EXTERNAL_ID, proton->ids[e]);
    set_metrics(draft, e);
}

static bool proton_write(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    struct proton proton = { .draft = draft,
                             .lanes = mem_zalloc(trace->track_count + 1, sizeof *proton.lanes),
                             .ids = mem_zalloc(trace->event_count + 1, sizeof *proton.ids) };
    trace_builder_current_file(draft->builder)->producer = PRODUCER_PROTON;
    bool has_lanes = false;
    for (track_id t = 0; t < trace->track_count; t++) {
        proton.lanes[t] = proton_lane_of(trace, t);
        has_lanes = has_lanes || *draft_thread(trace, t);
    }
    for (track_id t = 0; t < trace->track_count && !has_lanes; t++)
        proton.lanes[t].lane = LANE_STREAM;
    draft_record(draft, 0, NULL);
    link_scopes(&proton);
    struct step_guess *guess = step_guess_open();
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        struct lane_facts lane = proton.lanes[trace->track[e]];
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        if (lane.lane == LANE_STREAM && proton_is_category(trace, e, "kernel")) {
            proton_write_kernel(&proton, e);
        } else if (lane.lane == LANE_STREAM && is_own_kernel(trace_name(trace, e))) {
            proton.own++;
        } else if (lane.lane == LANE_STREAM || lane.lane == LANE_GRAPH) {
            recorder_event(draft->recorder, RECORDER_GPU_ANNOTATION,
                           recorder_stream(draft->recorder, 0, lane.number), draft_name(draft, e), start_ns,
                           end_ns, trace->flags[e]);
        } else {
            track_id thread = recorder_thread_of(draft->recorder, 0, lane.number);
            if (recorder_event(draft->recorder, RECORDER_ANNOTATION, thread, draft_name(draft, e), start_ns,
                               end_ns, trace->flags[e]) &&
                proton.ids[e])
                recorder_arg(draft->recorder, ARG_EXTERNAL_ID, proton.ids[e]);
            step_guess_record(guess, trace_name(trace, e), strlen(trace_name(trace, e)),
                              step_guess_thread(0, lane.number), start_ns, end_ns);
        }
        ok = draft_flush(draft, err);
    }
    ok = ok && recorder_append(draft->recorder, err);
    recorder_describe(draft->recorder);
    if (proton.own)
        trace_builder_notice(draft->builder, "own_kernels",
                             "kernels are the profiler's own (launch metadata, metrics), and were left out",
                             proton.own, TPA_NOWHERE);
    if (ok)
        step_guess_notice(guess, draft->builder);
    step_guess_free(guess);
    EACH(free, proton.lanes, proton.ids);
    return ok;
}

const struct dialect dialect_proton = {
    .may_be = proton_may_be,
    .is_one = proton_is_one,
    .keys = proton_keys,
    .write = proton_write,
    .is_several = true,
};
