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

#include "base/id_table.h"
#include "base/rows.h"
#include "base/search.h"
#include "ingest/json_text.h"
#include "ingest/step_guess.h"
#include "trace/arg_scan.h"

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
    uint8_t *categories;      /* by category: enum category */
    uint8_t *is_own;          /* by name: NOT_MET, or as below */
    struct costs *costs;      /* by text of metrics */
};

enum category { CATEGORY_KERNEL, CATEGORY_SCOPE, CATEGORY_METRIC, CATEGORY_OTHER };
enum { NOT_MET, NOT_OWN, OWN };

struct costs {
    bool is_read;
    int64_t flops, bytes; /* 0: not recorded */
};

/* By category of TRACE; freed by the caller. */
static uint8_t *read_categories(const struct trace *trace)
{
    static const char *const words[CATEGORY_OTHER] = {
        [CATEGORY_KERNEL] = "kernel", [CATEGORY_SCOPE] = "scope", [CATEGORY_METRIC] = "metric"
    };
    uint8_t *categories = mem_zalloc(trace->category_count + 1, 1);
    for (size_t c = 0; c < trace->category_count; c++) {
        const char *text = names_text(trace->texts, trace->categories[c].text);
        while (categories[c] < CATEGORY_OTHER && strcmp(text, words[categories[c]]) != 0)
            categories[c]++;
    }
    return categories;
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
    SCOPED uint8_t *categories = read_categories(trace);
    bool others = false;
    for (event_id e = 0; e < trace->event_count; e++) {
        others = others || categories[trace->category[e]] == CATEGORY_OTHER;
        any = any || categories[trace->category[e]] == CATEGORY_KERNEL;
    }
    return any && !named && !others;
}

static bool proton_may_be(const char *head, size_t len)
{
    return draft_head_has(head, len, "\"traceEvents\"") &&
           (draft_head_has(head, len < 256 ? len : 256, "\"displayTimeUnit\":\"us\"") ||
            draft_head_has(head, len, "\"GPUStream") || draft_head_has(head, len, "\"Graph:Stream"));
}

/* ---- links ---- */

static const struct key by_track_and_time[] = { ASC(struct head, track), ASC(struct head, ns), KEY_END };

struct heads {
    VEC_OF(struct head);
};

static bool is_before(const struct head *head, track_id track, int64_t ns)
{
    return head->track < track || (head->track == track && head->ns <= ns);
}

static void find_heads(const struct trace *trace, struct draft_spans *scopes, struct heads *heads)
{
    struct id_table tails = { 0 }; /* scopes, by the ids of the arrows that leave them */
    struct flow_scan scan = { 0 };
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < trace->flow_count; i++) {
            const struct trace_flow *flow = flow_scan_get(&scan, trace, i);
            if ((flow->phase == 's') != (pass == 0))
                continue;
            event_id scope = pass == 0 ? draft_spans_around(scopes, flow->track, flow->ts_ns)
                                       : id_table_find(&tails, (uint64_t)flow->id);
            if (pass == 0)
                id_table_set(&tails, (uint64_t)flow->id, scope == EVENT_NONE ? trace->event_count : scope);
            else if (scope < trace->event_count)
                *VEC_PUSH(heads) = (struct head){ flow->track, flow->ts_ns, scope };
        }
    id_table_release(&tails);
    SORT(heads, by_track_and_time);
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
    SCOPED bool *scopes = mem_zalloc(trace->event_count + 1, sizeof *scopes);
    for (event_id e = 0; e < trace->event_count; e++)
        scopes[e] = proton->lanes[trace->track[e]].lane == LANE_HOST &&
                    proton->categories[trace->category[e]] == CATEGORY_SCOPE;
    struct draft_spans *spans = draft_spans_open(trace, scopes);
    SCOPED struct heads heads = { 0 };
    find_heads(trace, spans, &heads);
    enum { MOST_BY_STACK = 4096 }; /* each takes a look at all scopes */
    size_t by_stack = 0, i = 0;    /* behind the last head before the kernel: often it is the next */
    for (event_id e = 0; e < trace->event_count; e++) {
        track_id track = trace->track[e];
        int64_t ns = trace_start_ns(trace, e);
        if (proton->lanes[track].lane != LANE_STREAM ||
            proton->categories[trace->category[e]] != CATEGORY_KERNEL)
            continue;
        if (i < heads.count && is_before(&heads.at[i], track, ns))
            i++;
        if ((i && !is_before(&heads.at[i - 1], track, ns)) ||
            (i < heads.count && is_before(&heads.at[i], track, ns)))
            SEARCH(i, heads.count, is_before(&heads.at[i], track, ns));
        event_id scope = i && heads.at[i - 1].track == track ? heads.at[i - 1].scope : EVENT_NONE;
        if (scope == EVENT_NONE && by_stack++ < MOST_BY_STACK)
            scope = scope_by_stack(trace, e, scopes);
        if (scope != EVENT_NONE)
            proton->ids[e] = proton->ids[scope] = (int64_t)scope + 1;
    }
    draft_spans_free(spans);
}

/* ---- events ---- */

static struct costs read_costs(const char *text)
{
    struct json_pull in = { text, text + strlen(text) };
    struct json_text key, value;
    struct costs costs = { true, 0, 0 };
    double number, flops = 0, bytes = 0;
    if (!json_enter(&in, '{'))
        return costs;
    while (json_next_key(&in, &key) && json_read(&in, &value)) {
        if (!json_decimal(value.at, value.at + value.len, &number) || !(number > 0 && number < 0x1p62))
            continue;
        if (key.len >= 5 && memcmp(key.at, "flops", 5) == 0)
            flops += number;
        else if (json_text_is(&key, "bytes"))
            bytes = bytes + number < 0x1p62 ? bytes + number : bytes;
    }
    costs.flops = flops < 0x1p62 ? (int64_t)flops : 0;
    costs.bytes = (int64_t)bytes;
    return costs;
}

static void set_metrics(struct proton *proton, event_id e, struct arg_scan *metrics)
{
    int64_t text;
    if (!arg_scan_get(metrics, e, &text))
        return;
    struct costs *costs = &proton->costs[text];
    if (!costs->is_read)
        *costs = read_costs(names_text(proton->draft->trace->texts, (name_id)text));
    recorder_arg(proton->draft->recorder, ARG_FLOPS, costs->flops ? costs->flops : RECORDER_NONE);
    recorder_arg(proton->draft->recorder, ARG_BYTES_ACCESSED, costs->bytes ? costs->bytes : RECORDER_NONE);
}

static bool is_own_kernel(struct proton *proton, event_id e)
{
    const struct trace *trace = proton->draft->trace;
    uint8_t *known = &proton->is_own[trace->name[e]];
    const char *name = trace_name(trace, e);
    if (*known == NOT_MET)
        *known = strstr(name, "__proton_launch_metadata") || strcmp(name, "<metric>") == 0 ? OWN : NOT_OWN;
    return *known == OWN;
}

static void proton_write_kernel(struct proton *proton, event_id e, struct arg_scan *metrics)
{
    struct draft *draft = proton->draft;
    const struct trace *trace = draft->trace;
    struct recorder_work work = RECORDER_WORK_NONE;
    if (is_own_kernel(proton, e)) {
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
    set_metrics(proton, e, metrics);
}

static bool proton_write(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    struct proton proton = { .draft = draft,
                             .lanes = mem_zalloc(trace->track_count + 1, sizeof *proton.lanes),
                             .ids = mem_zalloc(trace->event_count + 1, sizeof *proton.ids),
                             .categories = read_categories(trace),
                             .is_own = mem_zalloc(names_count(trace->names) + 1, 1),
                             .costs = mem_zalloc(names_count(trace->texts) + 1, sizeof *proton.costs) };
    struct arg_scan metrics = arg_scan_of(trace, (enum trace_arg)KEY_METRICS);
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
    SCOPED_BY(step_guess_free_at) struct step_guess *guess = step_guess_open();
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        struct lane_facts lane = proton.lanes[trace->track[e]];
        int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
        if (lane.lane == LANE_STREAM && proton.categories[trace->category[e]] == CATEGORY_KERNEL) {
            proton_write_kernel(&proton, e, &metrics);
        } else if (lane.lane == LANE_STREAM && is_own_kernel(&proton, e)) {
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
        ok = recorder_flush(draft->recorder, err);
    }
    ok = ok && recorder_append(draft->recorder, err);
    recorder_describe(draft->recorder);
    if (proton.own)
        trace_builder_notice(draft->builder, "own_kernels",
                             "kernels are the profiler's own (launch metadata, metrics), and were left out",
                             proton.own, TPA_NOWHERE);
    if (ok)
        step_guess_notice(guess, draft->builder);
    EACH(free, proton.lanes, proton.ids, proton.categories, proton.is_own, proton.costs);
    return ok;
}

const struct dialect dialect_proton = {
    .may_be = proton_may_be,
    .is_one = proton_is_one,
    .keys = proton_keys,
    .write = proton_write,
    .is_several = true,
};
