/* A range is an annotation or a Python function. Where devices work, it is a candidate if nothing is launched or waited for in it;
 * without devices, if four fifths of it lie outside of operators. Of nested candidates the innermost with nine tenths of the time
 * of the longest is named, an annotation rather than a function. Ranges that are called after what a loop need not do in each step
 * (evaluation, checkpoints, logs) are candidates whatever they contain. */
#include "summary/finding_host.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include "derive/callers.h"
#include "derive/communication.h"
#include "derive/compilation.h"
#include "derive/features.h"
#include "derive/file_set.h"
#include "derive/gpu_names.h"
#include "derive/page_moves.h"
#include "derive/python_names.h"
#include "derive/step_list.h"
#include "summary/finding_kit.h"
#include "trace/span.h"
#include "whatif/host_work.h"
#include <ctype.h>
#include <inttypes.h>

/* ---- words of names, and what to do about them ---- */

/* clang-format off */
static const struct {
    const char *words[9]; /* NULL at the end */
    bool occasional; /* a loop need not do it in each step: a finding whatever it launches */
    const char *action;
    struct code_change code;
    const char *advice;
} kinds_of_ranges[] = {
    { { "eval", "evaluate", "evaluation", "valid", "validate", "validation" }, true,
      "Evaluate less often", { "evaluate(model)", "if step % 1000 == 0: evaluate(model)" },
      "evaluate less often, on fewer batches, or in another process that loads checkpoints" },
    { { "checkpoint", "save", "save_checkpoint", "state_dict" }, true,
      "Save checkpoints less often", { "torch.save(state, path)", "torch.distributed.checkpoint.async_save(state, ...)" },
      "save less often, or from a copy while training goes on (torch.distributed.checkpoint.async_save)" },
    { { "log", "logging", "print", "metrics", "wandb", "tensorboard" }, true,
      "Log less often", { "log(loss)", "if step % 100 == 0: log(loss)" },
      "log less often, or hand the values to a thread that writes them" },
    { { "collect" }, false, /* the program's own call, which gc.disable() leaves as it is */
      "Collect garbage less often", { "gc.collect()", "if step % 1000 == 0: gc.collect()" },
      "call gc.collect() once in many steps, or not at all: Python collects garbage itself" },
    { { "gc" }, false,
      "Collect garbage less often", { NULL, "gc.disable(); gc.freeze()" },
      "collect garbage less often: gc.disable() before the loop, gc.freeze() after the first steps, gc.collect() once in many steps" },
    { { "tokenize", "tokenizer", "tokenization", "preprocess", "preprocessing", "augment", "decode", "collate" }, false,
      "Prepare data ahead of the loop", { NULL, NULL },
      "do it ahead: in the workers of the loader, or once, and keep the result" },
    { { "compile", "compilation" }, false,
      "Compile before the loop", { NULL, NULL },
      "compile once, ahead of the loop and of the recording (warm-up, ahead-of-time, a cache of compilations); each new shape compiles "
      "again" },
    { { "sleep" }, false,
      "Remove the sleep from the loop", { NULL, NULL }, "remove it from the loop" },
};
/* clang-format on */

/* Is WORD in NAME as a whole word, in any case? A word is letters, digits and _; also one of its parts between _. */
static bool has_word(const char *name, const char *word)
{
    size_t len = strlen(word);
    for (const char *at = name; *at; at++) {
        bool begins = at == name || !isalnum((unsigned char)at[-1]);
        size_t i = 0;
        while (begins && i < len && tolower((unsigned char)at[i]) == word[i])
            i++;
        if (begins && i == len && !isalnum((unsigned char)at[len]))
            return true;
    }
    return false;
}

enum { KINDS_OF_RANGES = sizeof kinds_of_ranges / sizeof *kinds_of_ranges };

/* The kind of the range NAME; KINDS_OF_RANGES: none is known. Of a Python function only the name behind its file counts. */
static size_t kind_of_range(const char *name)
{
    const char *function = strstr(name, "): ");
    name = function ? function + 3 : name;
    if (has_word(name, "load") && has_word(name, "state")) /* load_state_dict: the other way round */
        return KINDS_OF_RANGES;
    for (size_t kind = 0; kind < KINDS_OF_RANGES; kind++)
        for (size_t i = 0; kinds_of_ranges[kind].words[i]; i++)
            if (has_word(name, kinds_of_ranges[kind].words[i]))
                return kind;
    return KINDS_OF_RANGES;
}

/* Does the function wait for another thread or process, so that its time is not its own? */
static bool waits_for_others(const char *name)
{
    static const char *const words[] = { "wait",   "acquire", "select",           "poll",
                                         "recv",   "join",    "synchronize",      "barrier",
                                         "accept", "read",    "block_until_ready" };
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (has_word(name, words[i]))
            return true;
    return false;
}

/* Is the range known by another rule, or the profiler's own? */
static bool is_of_another_rule(const char *name)
{
    int64_t number;
    return step_number(name, &number) || annotation_is_data_loading(name) || name_is_compilation(name) ||
           strncmp(name, "Optimizer.", 10) == 0 ||
           strstr(name, "torch/optim/") || /* is no part that can go */
           operator_is_communication(name) || python_frame_profiles(name) ||
           strncmp(name, "PyTorch Profiler", 16) == 0;
}

/* ---- candidates ---- */

/* The events of a name. */
struct ranges_of_name {
    bool is_known, is_out; /* OUT: no candidate */
    uint8_t kind;          /* kind_of_range */
    int64_t time_ns;       /* of those that lie in no other of the name */
    int64_t until_ns;      /* the end of the last */
    event_id longest;
};

/* Moments of a thread, sorted. */
struct moments {
    VEC_OF(int64_t);
};

struct host_search {
    struct pricing *pricing;
    const struct trace *trace;
    struct ranges_of_name *of; /* by name */
    /* By file: launches, waits, and operators whose work another thread launches; NULL: not asked for yet. */
    struct moments *busy;
    struct intervals *operators; /* by file, without devices: when an operator was open; else NULL */
    struct intervals *idle;      /* by track: event_waits_open */
    struct interval *replayed;   /* by file: find_replayed */
    int64_t
        *starts_ns; /* by file, with devices: what ends before is of the start of the process; else NULL */
};

/* What another thread launches counts as well: a thread that is in the backward pass waits for the one that runs it. */
static void add_busy(struct host_search *search, event_id e)
{
    uint32_t file = search->trace->tracks[search->trace->track[e]].file;
    *VEC_PUSH(&search->busy[file]) = trace_start_ns(search->trace, e);
}

/* The same for E, which may be EVENT_NONE, unless it is *LAST, the one before it: a call launches several, an operator many. */
static void add_busy_once(struct host_search *search, event_id e, event_id *last)
{
    if (e != EVENT_NONE && e != *last)
        add_busy(search, e);
    *last = e;
}

/* Operators that wait for a number of a device, where no call tells. */
static void add_reads(struct host_search *search)
{
    const struct trace *trace = search->trace;
    size_t names = names_count(trace->names), count = 0;
    bool *reads = mem_zalloc(names + 1, sizeof *reads);
    for (name_id id = 0; id < names; id++)
        count += reads[id] = operator_reads_scalar(names_text(trace->names, id));
    for (event_id e = 0; count && e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_OP && reads[trace->name[e]])
            add_busy(search, e);
    free(reads);
}

static void find_busy(struct host_search *search)
{
    const struct trace *trace = search->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    const struct host_waits *waits = host_waits_of(trace);
    search->busy = mem_zalloc(trace->file_count + 1, sizeof *search->busy);
    event_id last_call = EVENT_NONE, last_op = EVENT_NONE;
    for (size_t i = 0; i < gpu->count; i++) {
        add_busy_once(search, gpu->call[i], &last_call);
        add_busy_once(search, gpu->op[i], &last_op);
    }
    for (size_t i = 0; i < waits->count; i++)
        if (waits->at[i].kind != WAIT_PINNING)
            add_busy(search, waits->at[i].call);
    add_reads(search);
    for (uint32_t f = 0; f < trace->file_count; f++)
        SORT_NUMBERS(search->busy[f].at, search->busy[f].count);
}

static void find_operators(struct host_search *search)
{
    const struct trace *trace = search->trace;
    search->operators = mem_zalloc(trace->file_count + 1, sizeof *search->operators);
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->kind[e] == EVENT_OP)
            intervals_add(&search->operators[trace->tracks[trace->track[e]].file], trace_start_ns(trace, e),
                          trace_end_ns(trace, e));
    for (uint32_t f = 0; f < trace->file_count; f++)
        intervals_merge(&search->operators[f]);
}

/* Does the host only compute, or wait for nothing known, in E? Where devices work and no launches were recorded, that is not known of any. */
static bool is_of_host_alone(struct host_search *search, event_id e)
{
    if (!search->operators && !(search->pricing->summary->features & FEATURE_LAUNCHES))
        return false;
    uint32_t file = search->trace->tracks[search->trace->track[e]].file;
    int64_t start_ns = trace_start_ns(search->trace, e), end_ns = trace_end_ns(search->trace, e);
    if (search->operators)
        return 5 * intervals_length_within(&search->operators[file], start_ns, end_ns) <= end_ns - start_ns;
    if (!search->busy) /* few recordings have ranges that ask for it */
        find_busy(search);
    const struct moments *busy = &search->busy[file];
    size_t i;
    SEARCH(i, busy->count, busy->at[i] < start_ns);
    return i == busy->count || busy->at[i] >= end_ns;
}

/* Does an event loop wait for most of E? */
static bool is_idle(const struct host_search *search, event_id e)
{
    const struct trace *trace = search->trace;
    int64_t idle_ns = intervals_length_within(&search->idle[trace->track[e]], trace_start_ns(trace, e),
                                              trace_end_ns(trace, e));
    return idle_ns > trace_dur_ns(trace, e) / 2;
}

/* New, by file, free with free(): what a finding may save, on the clock of the file. With steps all that was recorded; without, from the
 * first moment of a thread to the last: Python functions around these have none. */
static struct interval *find_replayed(const struct pricing *pricing)
{
    const struct replay_graph *graph = pricing->graph;
    const struct trace *trace = graph->trace;
    bool has_steps = pricing->findings->has_steps;
    struct interval *replayed = mem_alloc(mem_times(trace->file_count + 1, sizeof *replayed));
    for (uint32_t f = 0; f < trace->file_count; f++)
        replayed[f] = has_steps ? trace_file_span(trace, f) : (struct interval){ INT64_MAX, INT64_MIN };
    for (size_t t = 0; t < graph->thread_count && !has_steps; t++) {
        const struct replay_thread *thread = &graph->threads[t];
        uint32_t file = trace->tracks[thread->track].file;
        int64_t shift_ns = graph->shift_ns[file],
                start_ns = replay_moment_ns(graph, thread->first) - shift_ns,
                end_ns = replay_moment_ns(graph, thread->first + thread->count - 1) - shift_ns;
        struct interval *of = &replayed[file];
        of->start_ns = start_ns < of->start_ns ? start_ns : of->start_ns;
        of->end_ns = greater_of(of->end_ns, end_ns);
    }
    return replayed;
}

/* Does E hold nine tenths of what is replayed? Then it is the program, which cannot be done less often. */
static bool is_all(const struct host_search *search, event_id e)
{
    const struct trace *trace = search->trace;
    struct interval of = search->replayed[trace->tracks[trace->track[e]].file];
    int64_t start_ns = greater_of(trace_start_ns(trace, e), of.start_ns),
            end_ns = trace_end_ns(trace, e) < of.end_ns ? trace_end_ns(trace, e) : of.end_ns;
    return start_ns < end_ns && (end_ns - start_ns) / 9 >= (of.end_ns - of.start_ns) / 10;
}

bool finding_is_of_program(const struct pricing *pricing, const char *name)
{
    const struct trace *trace = pricing->trace;
    struct host_search search = { .trace = trace,
                                  .idle = event_waits_open(trace),
                                  .replayed = find_replayed(pricing) };
    name_id id = names_find(trace->names, name, strlen(name));
    bool found = false;
    for (event_id e = 0; e < trace->event_count && !found; e++)
        found = trace->kind[e] == EVENT_PYTHON && trace->name[e] == id &&
                (is_all(&search, e) || is_idle(&search, e));
    event_waits_free(trace, search.idle);
    free(search.replayed);
    return found;
}

enum { LEAST_RANGE_NS = 100000 };

static void add_range(struct host_search *search, event_id e)
{
    const struct trace *trace = search->trace;
    struct ranges_of_name *of = &search->of[trace->name[e]];
    uint32_t thread = search->pricing->graph->thread_of_track[trace->track[e]];
    if (of->is_out || thread == UINT32_MAX || trace_dur_ns(trace, e) < LEAST_RANGE_NS ||
        (search->starts_ns &&
         trace_end_ns(trace, e) <= search->starts_ns[trace->tracks[trace->track[e]].file]) ||
        (trace->kind[e] != EVENT_ANNOTATION && trace->kind[e] != EVENT_PYTHON) ||
        trace->flags[e] & (EVENT_ASYNC | EVENT_POINT))
        return;
    const char *name = trace_name(trace, e);
    if (!of->is_known) {
        of->is_known = true;
        of->kind = (uint8_t)kind_of_range(name);
        of->until_ns = INT64_MIN;
        of->longest = e;
        of->is_out = is_of_another_rule(name) || waits_for_others(name);
    }
    bool occasional = of->kind < KINDS_OF_RANGES && kinds_of_ranges[of->kind].occasional;
    if (!of->is_out && !occasional)
        of->is_out = !is_of_host_alone(search, e) ||
                     (of->kind == KINDS_OF_RANGES && (is_all(search, e) || is_idle(search, e)));
    if (of->is_out || trace_start_ns(trace, e) < of->until_ns)
        return;
    of->until_ns = trace_end_ns(trace, e);
    of->time_ns += trace_dur_ns(trace, e);
    if (trace_dur_ns(trace, e) > trace_dur_ns(trace, of->longest))
        of->longest = e;
}

static bool lies_in(const struct trace *trace, event_id e, event_id outer)
{
    return trace->track[e] == trace->track[outer] &&
           trace_start_ns(trace, e) >= trace_start_ns(trace, outer) &&
           trace_end_ns(trace, e) <= trace_end_ns(trace, outer);
}

/* Is an event called NAME in RANGE? Then the range may be there for such events. */
static bool contains_call_of(const struct trace *trace, event_id range, name_id name)
{
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->name[e] == name && lies_in(trace, e, range))
            return true;
    return false;
}

/* The name to be given to the ranges that took most: of those in them with nine tenths of their time the shortest, annotations first.
 * NAME_NONE: there is none. */
static name_id choose_range(const struct host_search *search)
{
    const struct trace *trace = search->trace;
    name_id most = NAME_NONE, best = NAME_NONE;
    for (name_id id = 0; id < names_count(trace->names); id++)
        if (search->of[id].is_known && !search->of[id].is_out &&
            (most == NAME_NONE || search->of[id].time_ns > search->of[most].time_ns))
            most = id;
    for (name_id id = 0; most != NAME_NONE && id < names_count(trace->names); id++) {
        const struct ranges_of_name *of = &search->of[id];
        if (!of->is_known || of->is_out || of->time_ns * 10 < search->of[most].time_ns * 9 ||
            !lies_in(trace, of->longest, search->of[most].longest))
            continue;
        bool is_marked = trace->kind[of->longest] == EVENT_ANNOTATION,
             best_is_marked = best != NAME_NONE && trace->kind[search->of[best].longest] == EVENT_ANNOTATION;
        if (best == NAME_NONE || (is_marked && !best_is_marked) ||
            (is_marked == best_is_marked && of->time_ns < search->of[best].time_ns))
            best = id;
    }
    return best;
}

/* ", mostly train.py(12): step", the innermost line of the user's around E. */
static void add_line(const struct trace *trace, event_id e, struct buffer *where)
{
    struct callers *callers = callers_open(trace, &e, 1);
    size_t len = 0;
    const char *line = callers_line(callers, e, &len);
    if (line && !(len == strlen(trace_name(trace, e)) && strncmp(line, trace_name(trace, e), len) == 0))
        buffer_printf(where, ", %.*s", (int)len, line);
    arena_free(callers);
}

static const char *advise_range(const struct host_search *search, const struct ranges_of_name *of)
{
    if (of->kind < KINDS_OF_RANGES)
        return kinds_of_ranges[of->kind].advice;
    return search->pricing->summary->gpu
               ? "do it less often, ahead of the loop, or in another thread or process while the devices compute"
               : "do less in it, do it less often or ahead, or in another thread or process";
}

static void offer_range(struct host_search *search, name_id id)
{
    struct pricing *pricing = search->pricing;
    const struct trace *trace = search->trace;
    const struct ranges_of_name *of = &search->of[id];
    const char *name = names_text(trace->names, id), *pattern = finding_pattern(pricing, as_text(name));
    bool occasional = of->kind < KINDS_OF_RANGES && kinds_of_ranges[of->kind].occasional;
    struct buffer title = { 0 }, where = { 0 }, action = { 0 };
    if (of->kind < KINDS_OF_RANGES) {
        buffer_puts(&action, kinds_of_ranges[of->kind].action);
    } else {
        buffer_puts(&action, pricing->findings->has_steps ? "Move " : "Do ");
        finding_append_name(&action, name);
        buffer_puts(&action, pricing->findings->has_steps ? " out of the loop" : " less often, or ahead");
    }
    buffer_printf(&title,
                  occasional          ? "the loop stops for %s"
                  : search->operators ? "the host is in %s, outside of operators"
                                      : "the host is in %s, and launches nothing",
                  name);
    buffer_puts(&where, "longest: ");
    quantity_append_rounded_time(&where, (double)trace_dur_ns(trace, of->longest));
    buffer_puts(&where, " at ");
    quantity_append_rounded_time(
        &where, (double)(trace_start_ns(trace, of->longest) -
                         trace_file_span(trace, trace->tracks[trace->track[of->longest]].file).start_ns));
    add_line(trace, of->longest, &where);
    struct priced_finding finding = { .title = pricing_keep(pricing, &title),
                                      .where = pricing_keep(pricing, &where),
                                      .place = as_text(name),
                                      .action = pricing_keep(pricing, &action),
                                      .advice = as_text(advise_range(search, of)),
                                      .edit = { .kind = EDIT_SCALE,
                                                .target = TARGET_ANNOTATION,
                                                .pattern = pattern,
                                                .pattern_len = strlen(pattern) } };
    if (of->kind < KINDS_OF_RANGES && trace_framework(trace) == FRAMEWORK_TORCH)
        finding_set_code(&finding, kinds_of_ranges[of->kind].code);
    finding_add(pricing, FINDING_HOST_TIME, finding, NULL);
}

/* ---- operators that compute on the host ---- */

/* The operators of WORK that took most, and those that took a tenth of that or more: at most four. False: there are none. */
static bool name_computing(struct pricing *pricing, const struct host_work *work, struct buffer *pattern,
                           name_id *largest, int64_t *time_ns)
{
    enum { MOST = 4 };
    const struct trace *trace = pricing->trace;
    bool *taken = mem_zalloc(names_count(trace->names) + 1, sizeof *taken);
    *largest = NAME_NONE;
    for (size_t n = 0; n < MOST; n++) {
        name_id most = NAME_NONE;
        for (name_id id = 0; id < names_count(trace->names); id++)
            if (work->computes[id] && !taken[id] &&
                (most == NAME_NONE || work->own_ns[id] > work->own_ns[most]))
                most = id;
        if (most == NAME_NONE || (*largest != NAME_NONE && work->own_ns[most] * 10 < work->own_ns[*largest]))
            break;
        taken[most] = true;
        *time_ns += work->own_ns[most];
        *largest = *largest == NAME_NONE ? most : *largest;
        buffer_printf(pattern, "%s%s", pattern->count ? "|" : "",
                      finding_pattern(pricing, as_text(names_text(trace->names, most))));
    }
    free(taken);
    return *largest != NAME_NONE;
}

static event_id longest_of(const struct trace *trace, name_id name)
{
    event_id longest = EVENT_NONE;
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->name[e] == name &&
            (longest == EVENT_NONE || trace_dur_ns(trace, e) > trace_dur_ns(trace, longest)))
            longest = e;
    return longest;
}

/* LINE, which makes a tensor by torch.zeros, of the function that calls operator NAME; missing where none is known to. */
static struct text line_that_makes(struct pricing *pricing, const char *line, const char *name)
{
    static const char *const makers[][2] = { { "aten::normal_", "randn" },     { "aten::uniform_", "rand" },
                                             { "aten::random_", "randint" },   { "aten::zero_", "zeros" },
                                             { "aten::fill_", "full" },        { "aten::zeros", "zeros" },
                                             { "aten::randperm", "randperm" }, { "aten::arange", "arange" } };
    const char *zeros = line ? strstr(line, "torch.zeros") : NULL;
    struct buffer made = { 0 };
    if (!zeros)
        return as_text(line);
    for (size_t i = 0; i < sizeof makers / sizeof *makers; i++)
        if (strcmp(name, makers[i][0]) == 0) {
            buffer_printf(&made, "%.*storch.%s%s", (int)(zeros - line), line, makers[i][1],
                          zeros + strlen("torch.zeros"));
            return pricing_keep(pricing, &made);
        }
    return (struct text){ 0 };
}

/* Returns the call that took longest of those that took most; EVENT_NONE: none computes on the host. TIME_NS: of all that do. */
static event_id find_host_operators(struct pricing *pricing, int64_t *time_ns)
{
    const struct trace *trace = pricing->trace;
    const struct host_work *work = host_work_of(pricing->graph);
    struct buffer pattern = { 0 }, where = { 0 };
    name_id largest;
    *time_ns = 0;
    if (!name_computing(pricing, work, &pattern, &largest, time_ns)) {
        pricing_add_quiet(pricing, "operators on the host");
        return EVENT_NONE;
    }
    event_id longest = longest_of(trace, largest);
    buffer_printf(&where, "%s, ", names_text(trace->names, largest));
    quantity_append_rounded_time(&where, (double)work->own_ns[largest]);
    buffer_puts(&where, " in all");
    add_line(trace, longest, &where);
    struct text names = pricing_keep(pricing, &pattern);
    struct code_change code = trace_code(trace, ADVICE_COMPUTE_ON_DEVICE);
    finding_add(pricing, FINDING_HOST_OPERATORS,
                (struct priced_finding){
                    .title = as_text("operators compute on the host while the device waits"),
                    .where = pricing_keep(pricing, &where),
                    .advice = as_text(trace_advice(trace, ADVICE_COMPUTE_ON_DEVICE)),
                    .was = line_that_makes(pricing, code.was, names_text(trace->names, largest)),
                    .code = line_that_makes(pricing, code.now, names_text(trace->names, largest)),
                    .edit = { .kind = EDIT_SCALE,
                              .target = TARGET_OP,
                              .pattern = names.at,
                              .pattern_len = names.len } },
                "operators on the host");
    return longest;
}

/* ---- pauses ---- */

/* The operator or call of THREAD that is open at, or ended last before, the moment before M; that which begins at M or is open behind. */
static event_id span_before(const struct replay_graph *graph, size_t thread, moment_id m)
{
    for (moment_id i = m - 1; i > graph->threads[thread].first; i--)
        if (graph->inner[i] != EVENT_NONE)
            return graph->inner[i];
    return EVENT_NONE;
}

static event_id span_behind(const struct replay_graph *graph, size_t thread, moment_id m)
{
    moment_id end = graph->threads[thread].first + graph->threads[thread].count;
    for (moment_id i = m + 1; i < end; i++)
        if (graph->inner[i] != EVENT_NONE)
            return graph->inner[i];
    return EVENT_NONE;
}

static int64_t pause_ns(const struct replay_graph *graph, moment_id m)
{
    return replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1);
}

static uint32_t file_of_pause(const struct replay_graph *graph, moment_id m)
{
    return graph->trace->tracks[graph->threads[replay_thread_of(graph, m)].track].file;
}

/* How many of PAUSES are in FILE, and how long they are together. */
static size_t count_pauses(const struct replay_graph *graph, const struct host_pauses *pauses, uint32_t file,
                           int64_t *all_ns)
{
    size_t count = 0;
    for (size_t i = 0; i < pauses->count; i++)
        if (file_of_pause(graph, pauses->at[i]) == file) {
            count++;
            sum_add(all_ns, pause_ns(graph, pauses->at[i]));
        }
    return count;
}

/* "longest: 18.6ms at 0.964ms, after aten::mm, before cudaLaunchKernel": of PAUSES, without which SAVES_NS of a step is saved, and BOUND is
 * its limit. Where the longest takes more than that: "2 in 4 steps, the longest begins at 0.964ms, after aten::mm, before cudaLaunchKernel; it takes
 * 18.6ms, all of them 10.1ms a step", or, where they take more than what is saved, "but without them the devices are the limit". */
static void describe_pauses(const struct pricing *pricing, const struct host_pauses *pauses, int64_t saves_ns,
                            enum step_bound_kind bound, struct buffer *where)
{
    static const char *const limits[] = { [BOUND_UNKNOWN] = "other work takes as long",
                                          [BOUND_HOST] = "the host is the limit",
                                          [BOUND_DEVICE] = "the devices are the limit",
                                          [BOUND_WORK] = "the devices' work is the limit" };
    const double more = 1.05; /* steps that do not count may have pauses, too */
    const struct replay_graph *graph = pricing->graph;
    const struct step_list *steps = step_list_of(graph->trace);
    moment_id m = pauses->at[0];
    for (size_t i = 1; i < pauses->count; i++)
        if (pause_ns(graph, pauses->at[i]) > pause_ns(graph, m))
            m = pauses->at[i];
    size_t thread = replay_thread_of(graph, m), of_file = 0;
    uint32_t file = file_of_pause(graph, m);
    event_id before = span_before(graph, thread, m), behind = span_behind(graph, thread, m);
    bool takes_more = pause_ns(graph, m) > saves_ns;
    int64_t all_ns = 0;
    size_t count = count_pauses(graph, pauses, file, &all_ns);
    for (size_t i = 0; i < steps->count; i++)
        of_file += steps->at[i].file == file;
    if (takes_more && of_file)
        buffer_printf(where, "%zu in %zu step%s,%s", count, of_file, of_file == 1 ? "" : "s",
                      count > 1 ? " the longest begins" : "");
    else
        buffer_puts(where, takes_more ? "longest begins" : "longest: ");
    if (!takes_more)
        quantity_append_rounded_time(where, (double)pause_ns(graph, m));
    if (file_set_of(graph->trace)->ranks > 1)
        buffer_printf(where, " on rank %" PRId64, selection_rank(graph->trace, file));
    buffer_puts(where, " at ");
    quantity_append_rounded_time(where, (double)(replay_moment_ns(graph, m - 1) - graph->shift_ns[file] -
                                                 trace_file_span(graph->trace, file).start_ns));
    if (before != EVENT_NONE)
        buffer_printf(where, ", after %s", trace_name(graph->trace, before));
    if (behind != EVENT_NONE)
        buffer_printf(where, ", before %s", trace_name(graph->trace, behind));
    if (!takes_more)
        return;
    buffer_puts(where, "; it takes ");
    quantity_append_rounded_time(where, (double)pause_ns(graph, m));
    double each_ns = (double)all_ns / (double)(of_file ? of_file : 1);
    if (each_ns > more * (double)saves_ns) {
        buffer_printf(where, ", but without %s %s", pauses->count > 1 ? "them" : "it", limits[bound]);
    } else if (of_file) {
        buffer_puts(where, count > 1 ? ", all of them " : ", ");
        quantity_append_rounded_time(where, each_ns);
        buffer_puts(where, " a step");
    }
}

/* How much of PAUSES, which add up to *ALL_NS, lies outside of the ranges called NAME. */
static int64_t pauses_outside(const struct pricing *pricing, const struct host_pauses *pauses, name_id name,
                              int64_t *all_ns)
{
    const struct replay_graph *graph = pricing->graph;
    const struct trace *trace = pricing->trace;
    struct intervals *named = mem_zalloc(graph->thread_count + 1, sizeof *named);
    int64_t outside_ns = 0;
    for (event_id e = 0; e < trace->event_count && name != NAME_NONE; e++)
        if (trace->name[e] == name && graph->thread_of_track[trace->track[e]] != UINT32_MAX)
            intervals_add(&named[graph->thread_of_track[trace->track[e]]], replay_event_start(graph, e),
                          replay_event_end(graph, e));
    for (size_t t = 0; t < graph->thread_count; t++)
        intervals_merge(&named[t]);
    for (size_t i = 0; i < pauses->count; i++) {
        moment_id m = pauses->at[i];
        *all_ns += pause_ns(graph, m);
        outside_ns += pause_ns(graph, m) - intervals_length_within(&named[replay_thread_of(graph, m)],
                                                                   replay_moment_ns(graph, m - 1),
                                                                   replay_moment_ns(graph, m));
    }
    for (size_t t = 0; t < graph->thread_count; t++)
        intervals_release(&named[t]);
    free(named);
    return outside_ns;
}

static const char *advise_pauses(const struct pricing *pricing)
{
    enum trace_framework framework = trace_framework(pricing->trace);
    if (framework == FRAMEWORK_XLA)
        return "mark what the program does there (jax.profiler.TraceAnnotation) and record it again; then do it less often, "
               "ahead, or in another thread or process";
    if (framework == FRAMEWORK_NONE)
        return device_type_has_cuda(trace_device_type(pricing->trace))
                   ? "mark what the program does there (NVTX or roctx ranges) and record it again; then do it less often, "
                     "ahead, or in another thread or process"
                   : "mark what the program does there, as ranges of the profiler, and record it again; then do it less often, "
                     "ahead, or in another thread or process";
    if (pricing->summary->has_frames)
        return "mark what the program does there (record_function, NVTX ranges); then do it less often, ahead, or in another thread or "
               "process";
    return "record it: with_stack=True names lines of Python, and record_function() or NVTX ranges mark parts; often it is garbage "
           "collection or logging: do it less often, or in another thread";
}

/* What to record, as code; NULL: it is not known. */
static const char *code_of_pauses(const struct pricing *pricing)
{
    if (trace_framework(pricing->trace) == FRAMEWORK_TORCH)
        return pricing->summary->has_frames ? "with record_function(\"part\"): ..."
                                            : "profile(..., with_stack=True)";
    return trace_framework(pricing->trace) == FRAMEWORK_XLA
               ? "with jax.profiler.TraceAnnotation(\"part\"): ..."
               : NULL;
}

/* Do pages of unified memory move to the host, or from it, in a hundredth or more of PAUSES? It touches them one after the other, and
 * waits for each. */
static bool touch_pages(const struct replay_graph *graph, const struct host_pauses *pauses)
{
    const struct page_moves *moves = page_moves_of(graph->trace);
    int64_t all_ns = 0, moving_ns = 0;
    for (size_t i = 0; i < pauses->count; i++) {
        moment_id m = pauses->at[i];
        uint32_t file = file_of_pause(graph, m);
        sum_add(&all_ns, pause_ns(graph, m));
        sum_add(&moving_ns, intervals_length_within(&moves->by_host[file],
                                                    replay_moment_ns(graph, m - 1) - graph->shift_ns[file],
                                                    replay_moment_ns(graph, m) - graph->shift_ns[file]));
    }
    return moving_ns > 0 && moving_ns >= all_ns / 100;
}

static void complete_pauses(struct pricing *pricing, struct priced_finding *finding,
                            const struct offer *offer)
{
    struct host_pauses pauses = host_pauses_find(pricing->graph);
    struct buffer where = { 0 };
    if (touch_pages(pricing->graph, &pauses)) {
        finding->action = as_text("Move pages to the host before it uses them");
        finding->title = as_text("the host touches unified memory, whose pages move meanwhile");
        finding->advice = as_text(
            "the host waits for each page that it touches: move all before (cudaMemPrefetchAsync to the host), or let both sides "
            "read them in place (cudaMemAdvise); what it computes with them stays");
        finding->code = as_text("cudaMemPrefetchAsync(data, bytes, cudaCpuDeviceId, stream)");
    }
    describe_pauses(pricing, &pauses, finding->saves_ns, offer->gain.bound.kind, &where);
    finding->where = pricing_keep(pricing, &where);
    VEC_FREE(&pauses);
}

/* Pauses that are mostly not those of the ranges called NAMED. */
static void find_pauses(struct pricing *pricing, name_id named)
{
    struct host_pauses pauses = host_pauses_find(pricing->graph);
    int64_t all_ns = 0, outside_ns = pauses_outside(pricing, &pauses, named, &all_ns);
    if (pauses.count == 0 || 2 * outside_ns < all_ns) {
        if (pauses.count == 0)
            pricing_add_quiet(pricing, "pauses of the host");
        VEC_FREE(&pauses);
        return;
    }
    finding_offer(
        pricing, FINDING_PAUSES,
        (struct offer){ .finding = { .title = as_text("the host pauses, and nothing was recorded of why"),
                                     .advice = as_text(advise_pauses(pricing)),
                                     .code = as_text(code_of_pauses(pricing)),
                                     .unexplained = true,
                                     .edit = { .kind = EDIT_SCALE,
                                               .target = TARGET_CATEGORY,
                                               .pattern = "pause",
                                               .pattern_len = strlen("pause") } },
                        .subject = "pauses of the host",
                        .complete = complete_pauses });
    VEC_FREE(&pauses);
}

void finding_add_host_time(struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    struct host_search search = { .pricing = pricing,
                                  .trace = trace,
                                  .of = mem_zalloc(names_count(trace->names) + 1, sizeof *search.of),
                                  .idle = event_waits_open(trace),
                                  .replayed = find_replayed(pricing),
                                  .starts_ns = pricing->summary->gpu ? host_starts_open(trace) : NULL };
    bool has_devices = pricing->summary->gpu != NULL;
    if (!has_devices)
        find_operators(&search);
    for (event_id e = 0; e < trace->event_count; e++)
        add_range(&search, e);
    name_id chosen = choose_range(&search);
    int64_t operators_ns = 0;
    event_id operator= has_devices ? find_host_operators(pricing, &operators_ns) : EVENT_NONE;
    bool is_operator = chosen != NAME_NONE && operator != EVENT_NONE &&
                       2 * operators_ns > search.of[chosen].time_ns &&
                       contains_call_of(trace, search.of[chosen].longest, trace->name[operator]);
    if (chosen != NAME_NONE && !is_operator)
        offer_range(&search, chosen);
    find_pauses(pricing, chosen);
    for (uint32_t f = 0; f < trace->file_count; f++) {
        if (search.busy)
            VEC_FREE(&search.busy[f]);
        if (search.operators)
            intervals_release(&search.operators[f]);
    }
    event_waits_free(trace, search.idle);
    EACH(free, search.busy, search.operators, search.replayed, search.of, search.starts_ns);
}

/* ---- compilation ---- */

static bool compiles(const struct trace *trace, event_id e)
{
    return !event_on_device((enum event_kind)trace->kind[e]) && name_is_compilation(trace_name(trace, e));
}

/* In how many steps that count the program compiles. */
static size_t steps_that_compile(const struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    const struct account *account = pricing->summary->account;
    size_t count = 0;
    for (uint32_t f = 0; account && f < trace->file_count; f++) {
        struct intervals compiling = compilation_find(trace, f);
        for (size_t i = 0; i < account->steps.count; i++) {
            const struct account_step *step = &account->steps.at[i];
            count += step->file == f && step->role == STEP_COUNTS &&
                     intervals_length_within(&compiling, step->start_ns, step->start_ns + step->host_ns) > 0;
        }
        intervals_release(&compiling);
    }
    return count;
}

void finding_add_compilation(struct pricing *pricing)
{
    static const char *const once =
        "each program is compiled once for each shape: call it before the recording begins (warm-up), and keep what is compiled "
        "in a cache (jax_compilation_cache_dir, TORCHINDUCTOR_CACHE_DIR)";
    static const char *const again =
        "new shapes or values compile again: pad or bucket inputs, let shapes be dynamic (torch.compile(dynamic=True)), pass what "
        "changes as tensors; TORCH_LOGS=recompiles and JAX_EXPLAIN_CACHE_MISSES name the reason";
    const struct trace *trace = pricing->trace;
    const struct place place = place_find(trace, compiles);
    if (place.longest == EVENT_NONE)
        return;
    size_t steps = steps_that_compile(pricing);
    struct buffer title = { 0 }, where = { 0 };
    if (steps > 1)
        buffer_printf(&title, "programs are compiled again, in %zu steps", steps);
    else
        buffer_puts(&title, "programs are compiled in what was recorded");
    buffer_printf(&where, "%s, longest: ", names_text(trace->names, place.name));
    quantity_append_rounded_time(&where, (double)trace_dur_ns(trace, place.longest));
    add_line(trace, place.longest, &where);
    struct priced_finding finding = { .title = pricing_keep(pricing, &title),
                                      .where = pricing_keep(pricing, &where),
                                      .advice = as_text(steps > 1 ? again : once),
                                      .once = steps <= 1,
                                      .edit = { .kind = EDIT_NO_COMPILE } };
    finding.action =
        as_text(steps > 1 ? "Compile once, not in each step" : "Record later steps, which compile nothing");
    if (steps > 1 && trace_framework(trace) == FRAMEWORK_TORCH)
        finding_set_code(
            &finding, (struct code_change){ "torch.compile(model)", "torch.compile(model, dynamic=True)" });
    finding_add(pricing, FINDING_COMPILATION, finding, "compilation");
}
