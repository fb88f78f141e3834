/*
 * unitrace.c - the JSON of Intel's unitrace: calls of Level Zero, OpenCL and Unified Runtime, and what runs on devices.
 *
 * Processes are "HOST<node7>" and "DEVICE<node7>[Intel(R) Data Center GPU Max 1550] 0:18:0:0 #0", perhaps after "RANK 3 ";
 * "#0.1" is a tile. Their numbers, and those of device threads, count down from 2^32 and mean nothing: a thread is a queue,
 * and several may have one name where work overlaps. Names of work hold its shape:
 *
 *     NAME[SIMD32 {98; 1; 1} {512; 1; 1}]               a kernel, with groups and work-items of a group
 *     zeCommandListAppendMemoryCopy(HD)[4096]           a copy: H pageable, M pinned, S shared, D device; bytes
 *     zeCommandListAppendMemoryFill(D)[4096]            a memset
 *     zeCommandListAppendBarrier                        no work
 *
 * args.id of work is the id of the arrow Flow_H2D_ID_RANK from the start of its call. From intel/pti-gpu,
 * tools/unitrace/src/chromelogger.h.
 */
#include "ingest/chrome/draft.h"

#include "ingest/step_guess.h"
#include <ctype.h>
#include <inttypes.h>

enum { KEY_ID = ARG_EVENT_INDEX };

static const struct chrome_key unitrace_keys[] = {
    { "id", (enum trace_arg)KEY_ID },
    { NULL, ARG_COUNT },
};

/* A queue, or a thread of the host. */
struct queue {
    bool is_device, is_named;
    int64_t device, tile; /* tile: -1 */
    int64_t stream;       /* in order of appearance */
};

/* What a name says of work on a device. */
struct meaning {
    bool is_read, is_mark;
    struct recorder_work work; /* without times and places */
};

struct unitrace {
    struct draft *draft;
    struct queue *queues;     /* by track */
    struct meaning *meanings; /* by name */
    int64_t *link;            /* by event: the number that joins a call and its work; RECORDER_NONE */
    uint64_t markers;
};

static const char *host_word(const char *process)
{
    const char *word = strstr(process, "HOST<"), *device = strstr(process, "DEVICE<");
    return word ? word : device;
}

static bool unitrace_is_one(const struct trace *trace)
{
    for (track_id t = 0; t < trace->track_count; t++) {
        const char *process = draft_process(trace, t), *word = host_word(process);
        if (word && (word == process || strncmp(process, "RANK ", 5) == 0))
            return true;
    }
    return false;
}

static bool unitrace_may_be(const char *head, size_t len)
{
    return draft_begins(head, len, "{\"traceEvents\":[") &&
           (draft_head_has(head, len, "\"HOST<") || draft_head_has(head, len, "\"DEVICE<") ||
            draft_head_has(head, len, "\"RANK") || draft_head_has(head, len, "\"gpu_op\"") ||
            (draft_head_has(head, len, "\"cpu_op\"") && draft_head_has(head, len, "\"name\":\"ze")));
}

/* ---- processes ---- */

static char *between(struct trace_builder *builder, const char *text, char open, char close)
{
    const char *start = text ? strchr(text, open) : NULL, *end = start ? strchr(start, close) : NULL;
    return end ? trace_builder_strndup(builder, start + 1, (size_t)(end - start - 1)) : NULL;
}

/* Several tiles of a device are devices of their own, numbered 10 N + tile. */
static void settle_tiles(struct unitrace *unitrace)
{
    const struct trace *trace = unitrace->draft->trace;
    struct queue *queues = unitrace->queues;
    SCOPED bool *several = mem_zalloc(trace->track_count + 1, sizeof *several);
    for (track_id a = 0; a < trace->track_count; a++)
        for (track_id b = 0; b < trace->track_count && queues[a].is_device; b++)
            several[a] |= queues[b].is_device && queues[a].device == queues[b].device &&
                          queues[a].tile >= 0 && queues[b].tile >= 0 && queues[a].tile != queues[b].tile;
    for (track_id t = 0; t < trace->track_count; t++)
        if (several[t])
            queues[t].device = queues[t].device * 10 + queues[t].tile;
}

static void add_device(struct unitrace *unitrace, int64_t device, const char *process)
{
    struct trace_file *file = trace_builder_current_file(unitrace->draft->builder);
    char *name = between(unitrace->draft->builder, process, '[', ']');
    if (name && device <= INT32_MAX && !trace_file_device(file, device))
        *VEC_PUSH(&file->devices) = (struct trace_device){ .id = (int32_t)device, .name = name };
}

static void unitrace_read_processes(struct unitrace *unitrace)
{
    const struct trace *trace = unitrace->draft->trace;
    struct trace_file *file = trace_builder_current_file(unitrace->draft->builder);
    for (track_id t = 0; t < trace->track_count; t++) {
        const char *process = draft_process(trace, t), *word = host_word(process);
        struct queue *queue = &unitrace->queues[t];
        *queue = (struct queue){ .tile = -1 };
        if (!word)
            continue;
        file->rank =
            strncmp(process, "RANK ", 5) == 0 ? draft_number(process, "RANK", file->rank) : file->rank;
        if (!file->host_name)
            file->host_name = between(unitrace->draft->builder, word, '<', '>');
        queue->is_device = *word == 'D';
        if (!queue->is_device)
            continue;
        const char *number = strrchr(word, '#'), *tile = number ? strchr(number, '.') : NULL;
        queue->device = draft_number(number ? number : "", "#", 0);
        queue->tile = tile ? draft_number(tile, ".", -1) : -1;
    }
    settle_tiles(unitrace);
    for (track_id t = 0; t < trace->track_count; t++) {
        struct queue *queue = &unitrace->queues[t];
        for (track_id other = 0; other < t && queue->is_device; other++)
            queue->stream += unitrace->queues[other].is_device &&
                             unitrace->queues[other].device == queue->device &&
                             trace->tracks[other].event_count > 0;
        if (queue->is_device)
            add_device(unitrace, queue->device, draft_process(trace, t));
    }
}

/* ---- links ---- */

static bool unitrace_is_call(const char *name)
{
    static const char *const prefixes[] = { "ze", "ur", "cl" };
    return ANY(i, sizeof prefixes / sizeof *prefixes,
               strncmp(name, prefixes[i], 2) == 0 && (isupper((unsigned char)name[2]) || name[2] == 's'));
}

/* Arrows lead from the start of a call to its work; where they are missing (implicit scaling), ids are the same. */
static void find_links(struct unitrace *unitrace)
{
    const struct trace *trace = unitrace->draft->trace;
    SCOPED bool *calls = mem_zalloc(trace->event_count + 1, sizeof *calls);
    unitrace->link = mem_alloc(mem_times(trace->event_count + 1, sizeof *unitrace->link));
    for (event_id e = 0; e < trace->event_count; e++) {
        bool is_device = unitrace->queues[trace->track[e]].is_device;
        calls[e] = !is_device && !(trace->flags[e] & EVENT_POINT) && unitrace_is_call(trace_name(trace, e));
        unitrace->link[e] = is_device || calls[e]
                                ? trace_arg_or(trace, (enum trace_arg)KEY_ID, e, RECORDER_NONE)
                                : RECORDER_NONE;
    }
    struct draft_spans *spans = draft_spans_open(trace, calls);
    name_id category = NAME_NONE;
    bool leads_to_device = false;
    struct flow_scan scan = { 0 };
    for (size_t i = 0; i < trace->flow_count; i++) {
        const struct trace_flow *flow = flow_scan_get(&scan, trace, i);
        if (flow->category != category)
            leads_to_device = strstr(names_text(trace->texts, flow->category), "Flow_H2D") != NULL;
        category = flow->category;
        if (flow->phase != 's' || !leads_to_device)
            continue;
        event_id call = draft_spans_before(spans, flow->track, flow->ts_ns);
        if (call != EVENT_NONE && trace_start_ns(trace, call) == flow->ts_ns)
            unitrace->link[call] = flow->id;
    }
    draft_spans_free(spans);
}

/* ---- work ---- */

/* "{98; 1; 1}" at AT as numbers; the end, or NULL. */
static const char *read_shape(const char *at, int64_t numbers[3])
{
    char *end;
    while (*at == ' ')
        at++;
    if (*at++ != '{')
        return NULL;
    for (int i = 0; i < 3; i++) {
        numbers[i] = strtoll(at, &end, 10);
        at = end + strspn(end, "; ");
    }
    return *at == '}' ? at + 1 : NULL;
}

/* The length of NAME without its shape, which is read into WORK. */
static size_t cut_shape(const char *name, struct recorder_work *work)
{
    const char *bracket = NULL, *shape = NULL;
    for (const char *at = name; (at = strstr(at, "[SIMD")); at++)
        bracket = at;
    if (bracket) {
        shape = bracket + strcspn(bracket, " {");
    } else {
        for (const char *at = name; (at = strstr(at, " {")); at++) {
            int64_t ignored[3];
            const char *second = read_shape(at, ignored);
            if (second && read_shape(second, ignored))
                bracket = shape = at;
        }
    }
    if (!bracket)
        return strlen(name);
    const char *second = read_shape(shape, work->grid);
    if (!second || !read_shape(second, work->block))
        work->grid[0] = work->block[0] = RECORDER_NONE;
    return (size_t)(bracket - name);
}

/* "(HD)" in the name of a copy: both sides. Shared memory counts as the host's where the other side is a device. */
static const char *copy_name_of(const char *name)
{
    static const char *const names[2][2] = { { "Memcpy HtoH", "Memcpy HtoD" },
                                             { "Memcpy DtoH", "Memcpy DtoD" } };
    for (const char *at = name; (at = strchr(at, '(')); at++) {
        char from = at[1], to = at[1] ? (at[2] == '2' ? at[3] : at[2]) : '\0';
        if (from && to && strchr("HDMS", from) && strchr("HDMS", to))
            return names[from == 'D'][to == 'D'];
    }
    static const struct {
        const char *word, *name;
    } calls[] = { { "ReadBuffer", "Memcpy DtoH" },
                  { "WriteBuffer", "Memcpy HtoD" },
                  { "CopyBuffer", "Memcpy DtoD" } };
    for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
        if (strstr(name, calls[i].word))
            return calls[i].name;
    return name;
}

static int64_t bytes_of_name(const char *name)
{
    const char *bracket = strrchr(name, '[');
    return bracket && isdigit((unsigned char)bracket[1]) ? strtoll(bracket + 1, NULL, 10) : RECORDER_NONE;
}

static bool contains_one_of(const char *name, const char *const *words)
{
    while (*words && !strstr(name, *words))
        words++;
    return *words != NULL;
}

static bool is_library_name(const char *name)
{
    return strncmp(name, "zeCommandList", 13) == 0 || strncmp(name, "clEnqueue", 9) == 0;
}

static void read_meaning(struct recorder *recorder, const char *name, struct meaning *meaning)
{
    static const char *const copies[] = { "MemoryCopy",  "ImageCopy",  "ReadBuffer",
                                          "WriteBuffer", "CopyBuffer", NULL };
    static const char *const fills[] = { "MemoryFill", "FillBuffer", NULL };
    static const char *const marks[] = { "Barrier",      "EventReset", "SignalEvent",
                                         "WaitOnEvents", "Marker",     NULL };
    const char *tile = strncmp(name, "Tile #", 6) == 0 ? strchr(name, ':') : NULL;
    if (tile)
        name = tile + 1 + strspn(tile + 1, " ");
    struct recorder_work *work = &meaning->work;
    *meaning =
        (struct meaning){ true, is_library_name(name) && contains_one_of(name, marks), RECORDER_WORK_NONE };
    size_t len = 0;
    work->kind = RECORDER_KERNEL;
    if (meaning->is_mark) {
        work->kind = RECORDER_GPU_OTHER;
    } else if (is_library_name(name) && contains_one_of(name, copies)) {
        work->kind = RECORDER_MEMCPY;
        work->bytes = bytes_of_name(name);
        name = copy_name_of(name);
    } else if (is_library_name(name) && contains_one_of(name, fills)) {
        work->kind = RECORDER_MEMSET;
        work->bytes = bytes_of_name(name);
        name = "Memset (Device)";
    } else {
        len = cut_shape(name, work);
    }
    work->name = recorder_name(recorder, name, len ? len : strlen(name));
}

static void write_device(struct unitrace *unitrace, event_id e)
{
    const struct trace *trace = unitrace->draft->trace;
    struct recorder *recorder = unitrace->draft->recorder;
    struct queue *queue = &unitrace->queues[trace->track[e]];
    struct meaning *meaning = &unitrace->meanings[trace->name[e]];
    if (!meaning->is_read)
        read_meaning(recorder, trace_name(trace, e), meaning);
    struct recorder_work *work = &meaning->work;
    work->start_ns = trace_start_ns(trace, e);
    work->end_ns = trace_end_ns(trace, e);
    work->device = queue->device;
    work->stream = queue->stream;
    work->correlation = unitrace->link[e];
    if (meaning->is_mark) {
        recorder_event(recorder, work->kind, recorder_stream(recorder, work->device, work->stream),
                       work->name, work->start_ns, work->end_ns, 0);
    } else if (recorder_work(recorder, work) && !queue->is_named) {
        const char *thread = draft_thread(trace, trace->track[e]);
        queue->is_named = true;
        if (*thread)
            recorder_name_thread(recorder, recorder_stream(recorder, work->device, work->stream), thread);
    }
}

static void write_host(struct unitrace *unitrace, struct step_guess *guess, event_id e)
{
    const struct trace *trace = unitrace->draft->trace;
    struct recorder *recorder = unitrace->draft->recorder;
    const struct track *track = &trace->tracks[trace->track[e]];
    const char *name = trace_name(trace, e);
    bool is_point = trace->flags[e] & EVENT_POINT, is_call = !is_point && unitrace_is_call(name);
    int64_t start_ns = trace_start_ns(trace, e), end_ns = trace_end_ns(trace, e);
    if (!recorder_event(recorder,
                        is_point  ? RECORDER_INSTANT
                        : is_call ? RECORDER_LEVEL_ZERO
                                  : RECORDER_ANNOTATION,
                        recorder_thread_of(recorder, track->pid, track->tid), draft_name(unitrace->draft, e),
                        start_ns, end_ns, trace->flags[e]))
        return;
    if (is_call)
        recorder_arg(recorder, ARG_CORRELATION, unitrace->link[e]);
    else if (!is_point)
        step_guess_record(guess, name, strlen(name), step_guess_thread(track->pid, track->tid), start_ns,
                          end_ns);
}

static bool unitrace_write(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    struct unitrace unitrace = { .draft = draft,
                                 .queues = mem_zalloc(trace->track_count + 1, sizeof *unitrace.queues),
                                 .meanings =
                                     mem_zalloc(names_count(trace->names) + 1, sizeof *unitrace.meanings) };
    trace_builder_current_file(draft->builder)->producer = PRODUCER_UNITRACE;
    unitrace_read_processes(&unitrace);
    int64_t pid = 0;
    for (track_id t = trace->track_count; t-- > 0;)
        if (!unitrace.queues[t].is_device && trace->tracks[t].event_count)
            pid = trace->tracks[t].pid;
    draft_record(draft, pid, NULL);
    find_links(&unitrace);
    SCOPED_BY(step_guess_free_at) struct step_guess *guess = step_guess_open();
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        if (unitrace.queues[trace->track[e]].is_device)
            write_device(&unitrace, e);
        else
            write_host(&unitrace, guess, e);
        ok = recorder_flush(draft->recorder, err);
    }
    ok = ok && recorder_append(draft->recorder, err);
    recorder_describe(draft->recorder);
    if (ok)
        step_guess_notice(guess, draft->builder);
    EACH(free, unitrace.queues, unitrace.meanings, unitrace.link);
    return ok;
}

const struct dialect dialect_unitrace = {
    .may_be = unitrace_may_be,
    .is_one = unitrace_is_one,
    .keys = unitrace_keys,
    .write = unitrace_write,
};
