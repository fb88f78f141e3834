/*
 * rocprof.c - results.json of rocprof, versions 1 and 2 (rocprofv3's JSON is another: rocprof_json.c).
 *
 * Processes are told by their names: "CPU HIP API", "CPU HSA API": calls, "Markers and Ranges": roctx, "COPY": copies,
 * "GPU0", "GPU1" ...: kernels, a thread a stream, "GPU Barriers0": packets that are no work. The first event may be empty.
 *
 * ts and dur are whole microseconds, cut (a dur of 0 is written 1); args.BeginNs and EndNs have the nanoseconds, on a clock
 * that differs from ts by one constant for the file, where they are not 0. Arrows DataFlow lead from a call to the start of
 * what it launched; their tails are moved to that start where they lay behind it, and then may lie past the call. From
 * ROCm/rocm-systems, projects/rocprofiler/bin.
 */
#include "ingest/chrome/draft.h"
#include "base/id_table.h"

#include "ingest/rocm.h"
#include "ingest/step_guess.h"
#include "trace/arg_scan.h"
#include <ctype.h>

enum {
    KEY_BEGIN = ARG_TOTAL_ALLOCATED,
    KEY_END_NS = ARG_TOTAL_RESERVED,
    KEY_DEVICE = ARG_DEVICE,
    KEY_PID = ARG_PYTHON_ID,
};

static const struct chrome_key rocprof_keys[] = {
    { "BeginNs", (enum trace_arg)KEY_BEGIN },
    { "EndNs", (enum trace_arg)KEY_END_NS },
    { "dev-id", (enum trace_arg)KEY_DEVICE },
    { "pid", (enum trace_arg)KEY_PID },
    { NULL, ARG_COUNT },
};

enum lane { LANE_OTHER, LANE_HIP, LANE_HSA, LANE_MARKERS, LANE_COPIES, LANE_KERNELS, LANE_BARRIERS };

struct rocprof {
    struct draft *draft;
    uint8_t *lanes;    /* by track: enum lane */
    int64_t *links;    /* by event: the number that joins a call and what it launched; RECORDER_NONE */
    int64_t offset_ns; /* BeginNs less ts */
    uint64_t barriers;
    struct arg_scan begins, ends, pids;
    name_id *copies;     /* by name of the draft: of a copy, as it is called here; NAME_NONE: not met yet */
    uint8_t *is_barrier; /* by name of the draft: NOT_MET, or as below */
};

enum { NOT_MET, NO_BARRIER, BARRIER };

static enum lane lane_of(const char *process)
{
    static const struct {
        const char *process;
        enum lane lane;
    } lanes[] = { { "CPU HIP API", LANE_HIP },
                  { "CPU HSA API", LANE_HSA },
                  { "Markers and Ranges", LANE_MARKERS },
                  { "COPY", LANE_COPIES } };
    for (size_t i = 0; i < sizeof lanes / sizeof *lanes; i++)
        if (strcmp(process, lanes[i].process) == 0)
            return lanes[i].lane;
    if (strncmp(process, "GPU Barriers", 12) == 0)
        return LANE_BARRIERS;
    return strncmp(process, "GPU", 3) == 0 && isdigit((unsigned char)process[3]) ? LANE_KERNELS : LANE_OTHER;
}

static bool rocprof_is_one(const struct trace *trace)
{
    return ANY(t, trace->track_count, lane_of(draft_process(trace, t)) != LANE_OTHER);
}

static bool rocprof_may_be(const char *head, size_t len)
{
    static const char *const signs[] = { "\"CPUHIPAPI\"",    "\"CPUHSAAPI\"", "\"MarkersandRanges\"",
                                         "\"COPY\"",         "\"GPUBarriers", "\"BeginNs\":\"",
                                         "\"name\":\"GPU0\"" };
    if (!draft_begins(head, len, "{\"traceEvents\":["))
        return false;
    return ANY(i, sizeof signs / sizeof *signs, draft_head_has(head, len, signs[i]));
}

/* Begin and end of E by the nanoseconds; false: it has none. */
static bool has_ns(struct rocprof *rocprof, event_id e, int64_t *begin_ns, int64_t *end_ns)
{
    return arg_scan_get(&rocprof->begins, e, begin_ns) && arg_scan_get(&rocprof->ends, e, end_ns) &&
           *begin_ns > 0 && *end_ns >= *begin_ns && *end_ns <= TRACE_LATEST_NS;
}

/* ts is cut to microseconds: the difference is the offset, and up to 999 ns more. */
static void find_offset(struct rocprof *rocprof)
{
    const struct trace *trace = rocprof->draft->trace;
    int64_t begin_ns, end_ns;
    bool any = false;
    for (event_id e = 0; e < trace->event_count; e++)
        if (has_ns(rocprof, e, &begin_ns, &end_ns)) {
            int64_t offset_ns = begin_ns - trace_start_ns(trace, e);
            rocprof->offset_ns = !any || offset_ns < rocprof->offset_ns ? offset_ns : rocprof->offset_ns;
            any = true;
        }
}

static void find_times(struct rocprof *rocprof, event_id e, int64_t *start_ns, int64_t *end_ns)
{
    const struct trace *trace = rocprof->draft->trace;
    int64_t begin, end;
    bool has = has_ns(rocprof, e, &begin, &end);
    *start_ns = has ? begin - rocprof->offset_ns : trace_start_ns(trace, e);
    *end_ns = has ? end - rocprof->offset_ns : trace_end_ns(trace, e);
}

/* ---- links ---- */

static bool is_work_lane(uint8_t lane)
{
    return lane == LANE_KERNELS || lane == LANE_COPIES;
}

static void find_arrows(struct rocprof *rocprof)
{
    const struct trace *trace = rocprof->draft->trace;
    SCOPED bool *calls = mem_zalloc(trace->event_count + 1, sizeof *calls),
                *work = mem_zalloc(trace->event_count + 1, 1);
    rocprof->links = mem_alloc(mem_times(trace->event_count + 1, sizeof *rocprof->links));
    for (event_id e = 0; e < trace->event_count; e++) {
        uint8_t lane = rocprof->lanes[trace->track[e]];
        calls[e] = lane == LANE_HIP || lane == LANE_HSA;
        work[e] = is_work_lane(lane);
        rocprof->links[e] = RECORDER_NONE;
    }
    struct draft_spans *call_spans = draft_spans_open(trace, calls),
                       *work_spans = draft_spans_open(trace, work);
    SCOPED_BY(id_table_release)
    struct id_table tails = { 0 }; /* calls, by the ids of the arrows that leave them */
    struct flow_scan scan = { 0 };
    for (int pass = 0; pass < 2; pass++) {
        for (size_t i = 0; i < trace->flow_count; i++) {
            const struct trace_flow *flow = flow_scan_get(&scan, trace, i);
            if ((flow->phase == 's') != (pass == 0))
                continue;
            event_id call = id_table_find(&tails, (uint64_t)flow->id); /* EVENT_NONE: there is none */
            if (pass == 0 && call == ID_TABLE_NONE) {
                call = draft_spans_before(call_spans, flow->track, flow->ts_ns);
                id_table_set(&tails, (uint64_t)flow->id, call == EVENT_NONE ? trace->event_count : call);
            }
            if (pass == 0 || call >= trace->event_count)
                continue;
            event_id e = draft_spans_before(work_spans, flow->track, flow->ts_ns);
            if (e != EVENT_NONE && trace_start_ns(trace, e) == flow->ts_ns)
                rocprof->links[e] = rocprof->links[call] = (int64_t)call + 1;
        }
    }
    EACH(draft_spans_free, call_spans, work_spans);
}

/* ---- events ---- */

static void rocprof_write_work(struct rocprof *rocprof, event_id e, enum lane lane)
{
    const struct trace *trace = rocprof->draft->trace;
    struct recorder *recorder = rocprof->draft->recorder;
    const struct track *track = &trace->tracks[trace->track[e]];
    const char *name = trace_name(trace, e);
    struct recorder_work work = RECORDER_WORK_NONE;
    find_times(rocprof, e, &work.start_ns, &work.end_ns);
    work.device = lane == LANE_KERNELS ? draft_number(draft_process(trace, trace->track[e]), "GPU", 0)
                                       : trace_arg_or(trace, (enum trace_arg)KEY_DEVICE, e, 0);
    work.stream = track->tid;
    work.correlation = rocprof->links[e];
    bool is_fill = lane == LANE_COPIES && strstr(name, "Fill") != NULL;
    work.kind = lane == LANE_KERNELS ? RECORDER_KERNEL : is_fill ? RECORDER_MEMSET : RECORDER_MEMCPY;
    name_id *copy = &rocprof->copies[trace->name[e]];
    if (lane == LANE_COPIES && !is_fill && *copy == NAME_NONE)
        *copy = rocm_copy_name(recorder, name);
    work.name = lane == LANE_COPIES && !is_fill ? *copy : draft_name(rocprof->draft, e);
    recorder_work(recorder, &work);
}

static void rocprof_write_host(struct rocprof *rocprof, struct step_guess *guess, event_id e, enum lane lane)
{
    const struct trace *trace = rocprof->draft->trace;
    struct recorder *recorder = rocprof->draft->recorder;
    const struct track *track = &trace->tracks[trace->track[e]];
    int64_t start_ns, end_ns, pid;
    if (!arg_scan_get(&rocprof->pids, e, &pid))
        pid = recorder_pid(recorder);
    find_times(rocprof, e, &start_ns, &end_ns);
    bool is_call = lane == LANE_HIP || lane == LANE_HSA, is_point = trace->flags[e] & EVENT_POINT;
    enum recorder_kind kind = lane == LANE_HIP   ? RECORDER_HIP
                              : lane == LANE_HSA ? RECORDER_HSA
                              : is_point         ? RECORDER_INSTANT
                                                 : RECORDER_ANNOTATION;
    if (!recorder_event(recorder, kind, recorder_thread_of(recorder, pid, track->tid),
                        draft_name(rocprof->draft, e), start_ns, end_ns, trace->flags[e]))
        return;
    if (is_call)
        recorder_arg(recorder, ARG_CORRELATION, rocprof->links[e]);
    else
        step_guess_record(guess, trace_name(trace, e), strlen(trace_name(trace, e)),
                          step_guess_thread(pid, track->tid), start_ns, end_ns);
}

static bool is_barrier(const struct rocprof *rocprof, event_id e)
{
    const struct trace *trace = rocprof->draft->trace;
    uint8_t *known = &rocprof->is_barrier[trace->name[e]];
    if (*known == NOT_MET)
        *known = strstr(trace_name(trace, e), "<barrier packet>") ? BARRIER : NO_BARRIER;
    return *known == BARRIER;
}

static bool rocprof_write(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    size_t names = names_count(trace->names) + 1;
    struct rocprof rocprof = { .draft = draft,
                               .lanes = mem_zalloc(trace->track_count + 1, 1),
                               .begins = arg_scan_of(trace, (enum trace_arg)KEY_BEGIN),
                               .ends = arg_scan_of(trace, (enum trace_arg)KEY_END_NS),
                               .pids = arg_scan_of(trace, (enum trace_arg)KEY_PID),
                               .copies = mem_alloc(mem_times(names, sizeof *rocprof.copies)),
                               .is_barrier = mem_zalloc(names, 1) };
    memset(rocprof.copies, 0xff, names * sizeof *rocprof.copies); /* NAME_NONE */
    trace_builder_current_file(draft->builder)->producer = PRODUCER_ROCPROF;
    for (track_id t = 0; t < trace->track_count; t++)
        rocprof.lanes[t] = (uint8_t)lane_of(draft_process(trace, t));
    int64_t pid = 0, own;
    for (event_id e = 0; e < trace->event_count && pid == 0; e++)
        pid = trace_arg(trace, (enum trace_arg)KEY_PID, e, &own) ? own : 0;
    draft_record(draft, pid, NULL);
    find_offset(&rocprof);
    find_arrows(&rocprof);
    SCOPED_BY(step_guess_free_at) struct step_guess *guess = step_guess_open();
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        enum lane lane = (enum lane)rocprof.lanes[trace->track[e]];
        if (lane == LANE_BARRIERS || (lane == LANE_KERNELS && is_barrier(&rocprof, e)))
            rocprof.barriers++;
        else if (is_work_lane((uint8_t)lane))
            rocprof_write_work(&rocprof, e, lane);
        else
            rocprof_write_host(&rocprof, guess, e, lane);
        ok = recorder_flush(draft->recorder, err);
    }
    ok = ok && recorder_append(draft->recorder, err);
    recorder_describe(draft->recorder);
    if (rocprof.barriers)
        trace_builder_notice(draft->builder, "barriers",
                             "barrier packets of queues are no work, and were left out", rocprof.barriers,
                             TPA_NOWHERE);
    if (ok)
        step_guess_notice(guess, draft->builder);
    EACH(free, rocprof.lanes, rocprof.links, rocprof.copies, rocprof.is_barrier);
    return ok;
}

const struct dialect dialect_rocprof = {
    .may_be = rocprof_may_be,
    .is_one = rocprof_is_one,
    .keys = rocprof_keys,
    .write = rocprof_write,
};
