/* cmd_path.c - `tpa path`: the critical path of steps, of a range or of the whole recording. */
#include "cli/analysis.h"
#include "derive/file_set.h"
#include "whatif/path_places.h"
#include "whatif/path_tables.h"

struct path_args {
    struct load_args load;
    struct ranges steps, ranks;
    const char *range;
    bool whole, segments, sensitivity;
    struct output_args output;
};

static const struct path_args path_defaults = {
    .load = LOAD_DEFAULTS,
    .output = { .limit = ANALYSIS_LIMIT_DEFAULT },
};

static const struct opt path_opts[] = {
    OPT_GROUP("Path"),
    OPT_FLAG(0, "whole", struct path_args, whole, "of all that was recorded, rather than of steps"),
    OPT_RANGES(
        0, "steps", struct path_args, steps, "A..B",
        "of each of these steps (ProfilerStep#N): 3..7, 3.., or 1,4; without it of the median and the slowest"),
    OPT_TEXT(
        0, "range", struct path_args, range, "A..B",
        "of this time from the beginning of the trace: 1.5s..2s, 10ms..; or of each annotation or operator of this "
        "name"),
    OPT_RANGES(0, "rank", struct path_args, ranks, "N", "only paths that end in the files of these ranks"),
    OPT_FLAG(0, "segments", struct path_args, segments, "list the pieces of the path in order, too"),
    OPT_FLAG(
        0, "sensitivity", struct path_args, sensitivity,
        "for the first ten names, how much less they may take until they leave the path; some hundred replays"),
    OUTPUT_OPTIONS(struct path_args, output),
    LOAD_OPTIONS(struct path_args, load),
    OPT_END,
};

enum { MOST_PROBED = 10 };

static const struct trace_wants path_wants = { .args = REPLAY_WANTS | PATH_PLACES_WANTS,
                                               .work_bytes = REPLAY_WORK_BYTES };

/* Keep the windows for which KEEP is set. */
static void keep_windows(struct path_windows *windows, const bool *keep)
{
    size_t kept = 0;
    for (size_t i = 0; i < windows->count; i++)
        if (keep[i])
            windows->at[kept++] = windows->at[i];
    windows->count = kept;
}

static int64_t length_of(const struct path_window *window)
{
    return window->end_ns - window->start_ns;
}

/* Of three or more steps, the one with the median length and the longest. */
static void keep_typical(struct path_windows *windows)
{
    if (windows->count < 3)
        return;
    const struct path_window **sorted = mem_alloc(mem_times(windows->count, sizeof *sorted));
    SCOPED bool *keep = mem_zalloc(windows->count, sizeof *keep);
    for (size_t i = 0; i < windows->count; i++)
        sorted[i] = &windows->at[i];
    SORT_BY(sorted, windows->count, i, length_of(sorted[i]));
    keep[sorted[(windows->count - 1) / 2] - windows->at] = true;
    keep[sorted[windows->count - 1] - windows->at] = true;
    keep_windows(windows, keep);
    free(sorted);
}

static void keep_selected(const struct replay_graph *graph, struct path_windows *windows,
                          const struct path_args *args)
{
    SCOPED bool *keep = mem_zalloc(windows->count + 1, sizeof *keep);
    for (size_t i = 0; i < windows->count; i++)
        keep[i] = ranges_hold(&args->ranks, selection_rank(graph->trace, windows->at[i].file)) &&
                  (!windows->at[i].is_step || ranges_hold(&args->steps, windows->at[i].number));
    keep_windows(windows, keep);
}

/* The time range of SELECTION in each file that it includes. */
static struct path_windows *windows_of_time(const struct replay_graph *graph,
                                            const struct selection *selection)
{
    struct path_windows *windows = arena_open(sizeof *windows);
    ARENA_OWNS(arena_of(windows), &windows->at);
    SCOPED_OBJECT struct path_windows *whole = path_windows_whole(graph);
    for (size_t i = 0; i < whole->count; i++) {
        struct path_window window = whole->at[i];
        const struct intervals *selected = &selection->windows[window.file];
        int64_t shift_ns = graph->shift_ns[window.file];
        if (selected->count == 0 || selected->at[0].start_ns + shift_ns >= window.end_ns)
            continue;
        if (selected->at[0].start_ns + shift_ns > window.start_ns)
            window.start_ns = selected->at[0].start_ns + shift_ns;
        if (selected->at[0].end_ns < window.end_ns - shift_ns)
            window.end_ns = selected->at[0].end_ns + shift_ns;
        if (window.start_ns < window.end_ns)
            *VEC_PUSH(windows) = window;
    }
    return windows;
}

static struct path_windows *choose_windows(const struct replay_graph *graph, const struct path_args *args,
                                           const struct selection *selection, struct result *result)
{
    if (args->range) {
        struct path_windows *named = path_windows_named(graph, args->range);
        if (named->count)
            return named;
        arena_free(named);
        return windows_of_time(graph, selection);
    }
    struct path_windows *steps = args->whole ? NULL : path_windows_steps(graph);
    if (steps && steps->count)
        return steps;
    arena_free(steps);
    if (!args->whole)
        ADD_NOTICE(result, "no_steps", 0,
                   "the trace marks no steps: this is the path of all that was recorded; --range "
                   "NAME asks for an annotation or operator");
    return path_windows_whole(graph);
}

static bool path_own_add_tables(const struct trace *trace, const struct selection *selection,
                                const void *context, struct result *result, struct tpa_error *err)
{
    const struct path_args *args = context;
    if (args->whole && (args->range || args->steps.count))
        return tpa_fail(err, TPA_NOWHERE,
                        "--whole asks for all that was recorded, --steps and --range for parts of it") ||
               tpa_hint(err, "give one of them");
    if (!file_set_check_job(trace, err))
        return false;
    const struct replay_graph *graph = replay_graph_of(trace);
    if (graph->too_large)
        return tpa_fail(err, TPA_NOWHERE, "the trace has too many events to follow what waited for what: %zu",
                        trace->event_count);
    SCOPED_OBJECT struct path_windows *windows = choose_windows(graph, args, selection, result);
    size_t all = windows->count;
    keep_selected(graph, windows, args);
    if (!args->range && !args->whole && args->steps.count == 0)
        keep_typical(windows);
    if (windows->count == 0 && all)
        ADD_NOTICE(result, "elsewhere", 0,
                   "no path ends in a file of the selected ranks: over several ranks it ends in the one that "
                   "came last; for the path of one rank, name only its file");
    else if (windows->count == 0) {
        ADD_NOTICE(result, "missing", 0,
                   "nothing with a duration was recorded on a thread or device, so there is no path");
        result_cannot_answer(result, "no_events", "nothing with a duration was recorded", NULL);
    } else
        path_add_tables(graph, windows, args->segments, args->sensitivity ? MOST_PROBED : 0, result);
    if (result->tables.count)
        result->tables.at[0]->uncut = true; /* "parts" */
    path_add_notices(graph, result);
    return true;
}

static int path_main(const struct invocation *call, struct tpa_error *err)
{
    const struct path_args *args = call->args;
    struct selection_query query = { .steps = args->steps, .range = args->range, .ranks = args->ranks };
    struct analysis_call analysis = {
        .schema = "tpa.path/1",
        .wants = &path_wants,
        .load = &args->load,
        .query = &query,
        .output = &args->output,
        .add_tables = path_own_add_tables,
    };
    return analysis_run(call, &analysis, err);
}

const struct command cmd_path = {
    .name = "path",
    .summary = "the critical path: what the end of a step waited for, piece by piece",
    .operands = "TRACE...",
    .description =
        "Walks back from the end of a step (or of a range, or of the recording) along the host thread. From a call that "
        "waited it goes to the work it waited for. From work it goes to the latest of its launch, the work before it on "
        "its stream and the work of other streams that it waited for. In a collective it goes to the rank that came "
        "last. The parts add up to the length exactly.\n\n"
        "What is on the path makes the step longer by as much as it takes longer. What is not on it does not, however "
        "much time it takes: tpa whatif says what a change would gain.",
    .tables = { path_tables },
    .options = path_opts,
    COMMAND_ARGS(path_defaults),
    .main = path_main,
    .examples = {
        "tpa path trace.json",
        "tpa path --steps 3..7 trace.json",
        "tpa path --whole --format json trace.json",
        "tpa path --range forward --segments trace.json  # every piece, in order",
        "tpa path ranks/  # over all ranks, through their collectives",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
