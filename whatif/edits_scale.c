/* edits_scale.c - what is named takes a part of its time. */
#include "whatif/editing.h"

#include "base/regex.h"
#include "derive/python_names.h"
#include "whatif/host_work.h"
#include "whatif/path.h"

/* Is something of the host called so, on a thread that a replay leaves out? */
static bool is_left_out(const struct editing *editing, struct tpa_error *err)
{
    enum edit_target target = editing->edit->target;
    bool *names = target == TARGET_NAME || target == TARGET_ANNOTATION ? editing_names(editing, err) : NULL;
    bool found = names && ANY(e, editing->trace->event_count,
                              names[editing->trace->name[e]] &&
                                  editing->graph->thread_of_track[editing->trace->track[e]] == UINT32_MAX &&
                                  !event_on_device((enum event_kind)editing->trace->kind[e]));
    free(names);
    return found;
}

static bool nothing_called(const struct editing *editing, struct tpa_error *err)
{
    static const char *const things[TARGETS] = {
        [TARGET_NAME] = "operator, call, device work, annotation or Python function",
        [TARGET_OP] = "operator",
        [TARGET_CALL] = "runtime call",
        [TARGET_KERNEL] = "kernel",
        [TARGET_COPY] = "copy or memset",
        [TARGET_MODULE] = "nn.Module",
        [TARGET_ANNOTATION] = "annotation or Python function",
        [TARGET_CATEGORY] = "category",
    };
    if (is_left_out(editing, err)) {
        tpa_fail(err, TPA_NOWHERE, "what matches '%.*s' is on threads that a replay leaves out",
                 (int)editing->edit->pattern_len, editing->edit->pattern);
        return tpa_hint(
            err, "it knows threads with operators, and with calls that launch work: tpa path --whole shows "
                 "their names");
    }
    tpa_fail(err, TPA_NOWHERE, "no %s matches '%.*s'", things[editing->edit->target],
             (int)editing->edit->pattern_len, editing->edit->pattern);
    return tpa_hint(err, "tpa path --whole and tpa top show the names; tpa modules those of modules");
}

static bool is_call(const struct trace *trace, event_id e)
{
    return event_is_call((enum event_kind)trace->kind[e]);
}

/* Pieces of the host whose span has such a name and is of the kind requested. */
static void scale_pieces(const struct editing *editing, const bool *names)
{
    const struct replay_graph *graph = editing->graph;
    enum edit_target target = editing->edit->target;
    event_id last = EVENT_NONE;
    for (moment_id m = 0; m < graph->host_count; m++) {
        event_id span = graph->inner[m];
        if (span == EVENT_NONE || !names[editing->trace->name[span]] ||
            (target == TARGET_OP && is_call(editing->trace, span)) ||
            (target == TARGET_CALL && !is_call(editing->trace, span)))
            continue;
        editing_scale_piece(editing, m, editing->edit->factor);
        editing->effect->count += span != last;
        last = span;
    }
}

static void scale_operations(const struct editing *editing, const bool *names)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    for (size_t i = 0; i < gpu->count; i++) {
        bool kernel = gpu_work_is_kernel(gpu->work[i]);
        if (names[editing->trace->name[gpu->event[i]]] &&
            !(editing->edit->target == TARGET_KERNEL && !kernel) &&
            !(editing->edit->target == TARGET_COPY && kernel))
            editing_scale_work(editing, i, editing->edit->factor);
    }
}

/* The work that is launched by operators of such names, and is not called so itself. */
static void add_kept_operations(const struct editing *editing, const bool *names)
{
    const struct gpu_events *gpu = editing->graph->gpu;
    const struct trace *trace = editing->trace;
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->op[i] != EVENT_NONE && names[trace->name[gpu->op[i]]] && !names[trace->name[gpu->event[i]]])
            editing->effect->kept_ns += trace_dur_ns(trace, gpu->event[i]);
}

static bool scale_ranges(const struct editing *editing, struct tpa_error *err);

static bool scale_named(const struct editing *editing, struct tpa_error *err)
{
    enum edit_target target = editing->edit->target;
    bool *names = editing_names(editing, err);
    if (!names)
        return false;
    if (target == TARGET_NAME || target == TARGET_OP || target == TARGET_CALL)
        scale_pieces(editing, names);
    if (target == TARGET_NAME || target == TARGET_KERNEL || target == TARGET_COPY)
        scale_operations(editing, names);
    if (target == TARGET_NAME || target == TARGET_OP)
        add_kept_operations(editing, names);
    free(names);
    if (editing->effect->count == 0 && target == TARGET_NAME) /* what has no time of its own for a replay */
        return scale_ranges(editing, err);
    return editing->effect->count > 0 || nothing_called(editing, err);
}

/* ---- modules and annotations: all that goes on within ---- */

/* Which names are requested: of modules by what follows "nn.Module: ". */
struct requested_ranges {
    const struct trace *trace;
    bool *names;
    bool *hierarchies; /* by text: of "Module Hierarchy" */
    bool modules;
};

static bool is_requested(const void *context, event_id e)
{
    const struct requested_ranges *requested = context;
    const struct trace *trace = requested->trace;
    int64_t hierarchy;
    if (requested->modules && trace_arg(trace, ARG_MODULE_HIERARCHY, e, &hierarchy) &&
        requested->hierarchies[hierarchy])
        return true;
    enum event_kind kind = trace->kind[e];
    bool right_kind = requested->modules
                          ? kind == EVENT_PYTHON || kind == EVENT_ANNOTATION
                          : kind == EVENT_PYTHON || kind == EVENT_ANNOTATION || kind == EVENT_OTHER;
    return right_kind && requested->names[trace->name[e]];
}

static bool match_all(const struct regex *regex, const struct names *names, bool modules, bool *matches,
                      struct tpa_error *err)
{
    for (name_id id = 0; id < names_count(names); id++) {
        const char *text = names_text(names, id);
        const char *module = modules ? python_module_of(text) : NULL;
        text = module ? module : text;
        if (!regex_match(regex, text, strlen(text), &matches[id], err))
            return false;
    }
    return true;
}

static bool scale_ranges(const struct editing *editing, struct tpa_error *err)
{
    const struct trace *trace = editing->trace;
    struct requested_ranges requested = { .trace = trace, .modules = editing->edit->target == TARGET_MODULE };
    char *pattern = mem_strndup(editing->edit->pattern, editing->edit->pattern_len);
    struct regex *regex = regex_open(pattern, err);
    free(pattern);
    if (!regex)
        return false;
    requested.names = mem_zalloc(names_count(trace->names) + 1, sizeof *requested.names);
    requested.hierarchies = mem_zalloc(names_count(trace->texts) + 1, sizeof *requested.hierarchies);
    bool fine = match_all(regex, trace->names, requested.modules, requested.names, err) &&
                (!requested.modules || match_all(regex, trace->texts, false, requested.hierarchies, err));
    if (fine) {
        struct intervals *ranges = editing_ranges(editing, is_requested, &requested);
        fine = editing->effect->count > 0 || nothing_called(editing, err);
        editing_scale_ranges(editing, ranges, editing->edit->factor);
        const struct gpu_events *gpu = editing->graph->gpu;
        for (size_t i = 0; i < gpu->count && fine; i++)
            if (gpu->call[i] != EVENT_NONE && editing_holds(editing, ranges, gpu->call[i]))
                editing_scale_work(editing, i, editing->edit->factor);
        arena_free(ranges);
    }
    EACH(free, requested.names, requested.hierarchies);
    regex_free(regex);
    return fine;
}

/* ---- categories ---- */

static bool unknown_category(const struct editing *editing, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "there is no category '%.*s'", (int)editing->edit->pattern_len,
             editing->edit->pattern);
    return tpa_hint(err,
                    "the categories are operator, call, gap, pause, kernel, copy, memset and communication");
}

static bool scale_pauses(const struct editing *editing)
{
    struct host_pauses pauses = host_pauses_find(editing->graph);
    for (size_t i = 0; i < pauses.count; i++) {
        moment_id m = pauses.at[i];
        editing_scale_piece(editing, m, editing->edit->factor);
        editing->effect->time_ns +=
            replay_moment_ns(editing->graph, m) - replay_moment_ns(editing->graph, m - 1);
        editing->effect->count++;
    }
    VEC_FREE(&pauses);
    return true;
}

static bool scale_category(const struct editing *editing, struct tpa_error *err)
{
    const struct replay_graph *graph = editing->graph;
    enum path_part part = 0;
    const char *word = editing->edit->pattern;
    size_t len = editing->edit->pattern_len;
    if (len == strlen("pause") && strncmp(word, "pause", len) == 0)
        return scale_pauses(editing);
    while (part < PATH_PARTS &&
           (strlen(path_part_name(part)) != len || strncmp(path_part_name(part), word, len) != 0))
        part++;
    if (part == PART_OPERATOR || part == PART_CALL || part == PART_GAP) {
        for (moment_id m = 0; m < graph->host_count; m++) {
            event_id span = graph->inner[m];
            enum path_part own = span == EVENT_NONE            ? PART_GAP
                                 : is_call(graph->trace, span) ? PART_CALL
                                                               : PART_OPERATOR;
            if (own != part)
                continue;
            editing_scale_piece(editing, m, editing->edit->factor);
            editing->effect->count++;
        }
    } else if (part == PART_KERNEL || part == PART_COPY || part == PART_MEMSET ||
               part == PART_COMMUNICATION) {
        for (size_t i = 0; i < graph->gpu->count; i++)
            if (path_part_of_work(graph, i) == part)
                editing_scale_work(editing, i, editing->edit->factor);
    } else {
        return unknown_category(editing, err);
    }
    return true;
}

bool edit_scale(const struct editing *editing, struct tpa_error *err)
{
    switch (editing->edit->target) {
    case TARGET_MODULE:
    case TARGET_ANNOTATION: return scale_ranges(editing, err);
    case TARGET_CATEGORY: return scale_category(editing, err);
    default: return scale_named(editing, err);
    }
}
