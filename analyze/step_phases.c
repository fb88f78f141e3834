#include "analyze/step_phases.h"

#include "base/search.h"
#include "base/sum.h"
#include "derive/gpu_events.h"
#include "derive/gpu_names.h"
#include "trace/span.h"
#include <ctype.h>
#include <math.h>

const char *const phase_names[PHASES] = {
    [PHASE_FORWARD] = "forward", [PHASE_BACKWARD] = "backward", [PHASE_OPTIMIZER] = "optimizer",
    [PHASE_DATA] = "data",       [PHASE_OTHER] = "other",
};

/* ---- names ---- */

/* What the name of an event says. */
enum evidence { SAYS_NOTHING = PHASE_OTHER, SAYS_OPERATOR, SAYS_AUTOGRAD, SAYS_NOT_YET };

/* The last word of names of ranges, in lower case, with _ for -, and without a number behind it. */
static const struct {
    const char *word;
    enum phase phase;
} words[] = {
    { "forward", PHASE_FORWARD },
    { "fwd", PHASE_FORWARD },
    { "forward_pass", PHASE_FORWARD },
    { "forward_step", PHASE_FORWARD },
    { "forward_compute", PHASE_FORWARD },
    { "training_step", PHASE_FORWARD },
    { "validation_step", PHASE_FORWARD },
    { "test_step", PHASE_FORWARD },
    { "predict_step", PHASE_FORWARD },
    { "compute_loss", PHASE_FORWARD },
    { "model_forward", PHASE_FORWARD },
    { "backward", PHASE_BACKWARD },
    { "bwd", PHASE_BACKWARD },
    { "backward_pass", PHASE_BACKWARD },
    { "backward_step", PHASE_BACKWARD },
    { "backward_compute", PHASE_BACKWARD },
    { "model_backward", PHASE_BACKWARD },
    { "optimizer", PHASE_OPTIMIZER },
    { "optimizer_step", PHASE_OPTIMIZER },
    { "optim_step", PHASE_OPTIMIZER },
    { "opt_step", PHASE_OPTIMIZER },
    { "zero_grad", PHASE_OPTIMIZER },
    { "optimizer_zero_grad", PHASE_OPTIMIZER },
    { "clip_gradients", PHASE_OPTIMIZER },
    { "clip_grad_norm", PHASE_OPTIMIZER },
    { "data", PHASE_DATA },
    { "data_loading", PHASE_DATA },
    { "dataloading", PHASE_DATA },
    { "dataloader", PHASE_DATA },
    { "load_data", PHASE_DATA },
    { "load_batch", PHASE_DATA },
    { "get_batch", PHASE_DATA },
    { "next_batch", PHASE_DATA },
    { "batch_generator", PHASE_DATA },
    { "batch_to_device", PHASE_DATA },
    { "transfer_batch_to_device", PHASE_DATA },
    { "train_dataloader_next", PHASE_DATA },
    { "val_next", PHASE_DATA },
    { "copy_batch", PHASE_DATA },
    { "data_transfer", PHASE_DATA },
};

static bool ends_with(const char *text, const char *ending)
{
    size_t len = strlen(text), ending_len = strlen(ending);
    return len >= ending_len && strcmp(text + len - ending_len, ending) == 0;
}

/* A range of the program, or of a framework: "Optimizer.step#SGD.step", "[pl][profile][Strategy]DDP.backward", "## forward ##". */
static enum evidence region_says(const char *name)
{
    enum { LONGEST = 32 };
    static const char separators[] = " \t.:/]>)#";
    char word[LONGEST];
    if (annotation_is_data_loading(name))
        return (enum evidence)PHASE_DATA;
    if (text_begins_with(name, "Optimizer.step#") || text_begins_with(name, "Optimizer.zero_grad#") ||
        ends_with(name, "optimizer.step") || ends_with(name, "optim.step"))
        return (enum evidence)PHASE_OPTIMIZER;
    size_t end = strlen(name);
    while (end > 0 && (strchr(separators, name[end - 1]) || name[end - 1] == '_' ||
                       isdigit((unsigned char)name[end - 1])))
        end--;
    size_t first = end;
    while (first > 0 && !strchr(separators, name[first - 1]))
        first--;
    if (end - first >= LONGEST || end == first)
        return SAYS_NOTHING;
    for (size_t i = first; i < end; i++)
        word[i - first] = name[i] == '-' ? '_' : (char)tolower((unsigned char)name[i]);
    word[end - first] = '\0';
    for (size_t i = 0; i < sizeof words / sizeof *words; i++)
        if (strcmp(word, words[i].word) == 0)
            return (enum evidence)words[i].phase;
    return SAYS_NOTHING;
}

/* "autograd::engine::evaluate_function: MmBackward0"; "MmBackward" of older versions. */
static bool is_autograd(const char *name)
{
    size_t end = strlen(name);
    while (end > 0 && isdigit((unsigned char)name[end - 1]))
        end--;
    return text_begins_with(name, "autograd::engine::") || text_begins_with(name, "torch::autograd::") ||
           (end >= 8 && memcmp(name + end - 8, "Backward", 8) == 0);
}

static enum evidence operator_says(const char *name)
{
    if (is_autograd(name))
        return SAYS_AUTOGRAD;
    enum evidence says = strstr(name, "::") ? SAYS_NOTHING : region_says(name);
    return says == SAYS_NOTHING ? SAYS_OPERATOR : says;
}

/* A frame of Python: "nn.Module: Linear_0", "torch/_tensor.py(570): backward". */
static enum evidence frame_says(const char *name)
{
    if (text_begins_with(name, "nn.Module: "))
        return (enum evidence)PHASE_FORWARD;
    if (ends_with(name, ": backward") &&
        (strstr(name, "torch/_tensor.py(") || strstr(name, "torch/autograd/__init__.py(")))
        return (enum evidence)PHASE_BACKWARD;
    if (strstr(name, "torch/optim/") &&
        (ends_with(name, ": step") || ends_with(name, ": zero_grad") || ends_with(name, ": wrapper")))
        return (enum evidence)PHASE_OPTIMIZER;
    if (strstr(name, "torch/utils/data/dataloader.py(") && ends_with(name, ": __next__"))
        return (enum evidence)PHASE_DATA;
    return SAYS_NOTHING;
}

bool step_phases_are_optimizer(const char *name)
{
    return region_says(name) == (enum evidence)PHASE_OPTIMIZER ||
           frame_says(name) == (enum evidence)PHASE_OPTIMIZER;
}

bool step_phases_are_named(const struct trace *trace)
{
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        if (is_autograd(name) || region_says(name) < (enum evidence)PHASE_DATA ||
            frame_says(name) < (enum evidence)PHASE_DATA)
            return true;
    }
    return false;
}

/* ---- what the host of a file does ---- */

/* What hosts do, in order of precedence; and what that is. */
enum host_set { HOST_DATA, HOST_BACKWARD, HOST_FORWARD, HOST_OPTIMIZER, HOST_PLAIN_FORWARD, HOST_SETS };
static const enum phase phase_of_set[HOST_SETS] = {
    [HOST_DATA] = PHASE_DATA,           [HOST_BACKWARD] = PHASE_BACKWARD,     [HOST_FORWARD] = PHASE_FORWARD,
    [HOST_OPTIMIZER] = PHASE_OPTIMIZER, [HOST_PLAIN_FORWARD] = PHASE_FORWARD,
};

/* A stretch of time that the host spends in a phase. */
struct stretch {
    int64_t start_ns, end_ns;
    enum phase phase;
};

struct host_phases {
    VEC_OF(struct stretch) stretches; /* disjoint, in order */
};

static enum evidence evidence_of(uint8_t *known, const struct trace *trace, event_id e)
{
    enum event_kind kind = trace->kind[e];
    if (kind != EVENT_OP && kind != EVENT_ANNOTATION && kind != EVENT_OTHER && kind != EVENT_PYTHON)
        return SAYS_NOTHING;
    uint8_t *says = &known[2 * (size_t)trace->name[e] + (kind == EVENT_PYTHON || kind == EVENT_OP)];
    if (kind == EVENT_OTHER || kind == EVENT_ANNOTATION) {
        if (*says == SAYS_NOT_YET)
            *says = (uint8_t)region_says(trace_name(trace, e));
    } else if (*says == SAYS_NOT_YET) { /* no operator is called like a frame */
        *says = (uint8_t)(kind == EVENT_PYTHON ? frame_says(trace_name(trace, e))
                                               : operator_says(trace_name(trace, e)));
    }
    return (enum evidence) * says;
}

/* Join neighbours of SET where none of the COUNT sets of BLOCKERS, HOST_SETS at most, and no step, begins in between. */
static void bridge(struct intervals *set, const struct intervals *const *blockers, size_t count,
                   const struct account_windows *steps)
{
    size_t kept = 0, step = 0, near[HOST_SETS] = { 0 }; /* where was searched last */
    for (size_t i = 1; i < set->count; i++) {
        int64_t start_ns = set->at[kept].end_ns, end_ns = set->at[i].start_ns;
        SEARCH_NEAR(step, step, steps->begins_ns.count, steps->begins_ns.at[step] <= start_ns);
        bool apart = step < steps->begins_ns.count && steps->begins_ns.at[step] < end_ns;
        for (size_t b = 0; b < count && !apart; b++)
            apart = intervals_length_near(blockers[b], start_ns, end_ns, &near[b]) > 0;
        if (apart)
            set->at[++kept] = set->at[i];
        else
            set->at[kept].end_ns = set->at[i].end_ns;
    }
    set->count = set->count ? kept + 1 : 0;
}

static void subtract(struct intervals *from, const struct intervals *what)
{
    struct intervals rest = { 0 };
    if (what->count == 0)
        return;
    intervals_subtract(from, what, &rest);
    intervals_release(from);
    *from = rest;
}

/* The first beginning in SET after MOMENT_NS. NEAR: where the one before was found; 0 at first. */
static int64_t next_begin(const struct intervals *set, int64_t moment_ns, size_t *near)
{
    size_t i = PLACE_NEAR(k, *near, set->count, set->at[k].start_ns <= moment_ns);
    *near = i;
    return i < set->count ? set->at[i].start_ns : INT64_MAX;
}

/* The last end in SET of what began before MOMENT_NS. */
static int64_t last_end(const struct intervals *set, int64_t moment_ns)
{
    size_t i = PLACE(k, set->count, set->at[k].start_ns < moment_ns);
    return i > 0 ? set->at[i - 1].end_ns : INT64_MIN;
}

/* Gradients are zeroed before the forward pass, after the update, or between the forward and the backward
 * pass. Add to ENDS what ends a forward pass: those of ZEROED behind which most of the operators lie that run
 * since the last other phase until the backward pass. */
static void add_zeroed(struct intervals *ends, const struct intervals *zeroed,
                       const struct intervals *operators, const struct intervals sets[HOST_SETS])
{
    SCOPED_BY(intervals_release) struct intervals added = { 0 };
    size_t near = 0;
    for (size_t i = 0; i < zeroed->count; i++) {
        int64_t start_ns = zeroed->at[i].start_ns, end_ns = zeroed->at[i].end_ns;
        int64_t from_ns =
            greater_of(greater_of(last_end(ends, start_ns), last_end(&sets[HOST_DATA], start_ns)),
                       last_end(&sets[HOST_BACKWARD], start_ns));
        int64_t backward_ns = next_begin(&sets[HOST_BACKWARD], start_ns, &near);
        if (intervals_length_within(operators, from_ns, start_ns) <=
            intervals_length_within(operators, end_ns, backward_ns))
            intervals_add(&added, start_ns, end_ns);
    }
    for (size_t i = 0; i < added.count; i++)
        intervals_add(ends, added.at[i].start_ns, added.at[i].end_ns);
    intervals_merge(ends);
}

/* Leave of OPERATORS those that a backward pass follows, before any of ENDS or loading. */
static void keep_forward(struct intervals *operators, const struct intervals sets[HOST_SETS],
                         const struct intervals *ends)
{
    size_t kept = 0, near_backward = 0, near_end = 0, near_data = 0;
    for (size_t i = 0; i < operators->count; i++) {
        int64_t start_ns = operators->at[i].start_ns,
                backward_ns = next_begin(&sets[HOST_BACKWARD], start_ns, &near_backward);
        if (backward_ns < INT64_MAX && backward_ns < next_begin(ends, start_ns, &near_end) &&
            backward_ns < next_begin(&sets[HOST_DATA], start_ns, &near_data))
            operators->at[kept++] = operators->at[i];
    }
    operators->count = kept;
}

/* An intervals_visit. */
static void add_stretch_of(void *context, size_t set, int64_t start_ns, int64_t end_ns)
{
    struct host_phases *host = context;
    *VEC_PUSH(&host->stretches) = (struct stretch){ start_ns, end_ns, phase_of_set[set] };
}

/* The tracks of FILE that its steps are on; all of its tracks without steps. New, by track. */
static bool *tracks_of_steps(const struct trace *trace, const struct account *account, uint32_t file)
{
    bool *is_of_steps = mem_zalloc(trace->track_count + 1, sizeof *is_of_steps), any = false;
    for (size_t i = 0; i < account->steps.count; i++)
        if (account->steps.at[i].file == file) {
            is_of_steps[trace->track[account->steps.at[i].event]] = true;
            any = true;
        }
    for (size_t t = 0; t < trace->track_count && !any; t++)
        is_of_steps[t] = trace->tracks[t].file == file;
    return is_of_steps;
}

static void find_host_phases(const struct trace *trace, const struct account *account, uint32_t file,
                             const struct account_windows *steps, uint8_t *known, struct host_phases *host)
{
    static const enum host_set set_of[PHASE_OTHER] = {
        [PHASE_FORWARD] = HOST_FORWARD,
        [PHASE_BACKWARD] = HOST_BACKWARD,
        [PHASE_OPTIMIZER] = HOST_OPTIMIZER,
        [PHASE_DATA] = HOST_DATA,
    };
    struct intervals sets[HOST_SETS] = { 0 }, ends = { 0 }, zeroed = { 0 }; /* ENDS: of a forward pass */
    const struct trace_file *of = &trace->files[file];
    bool *is_of_steps = tracks_of_steps(trace, account, file);
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        enum evidence says = trace->flags[e] & EVENT_POINT ? SAYS_NOTHING : evidence_of(known, trace, e);
        if (says == SAYS_NOTHING || (says == SAYS_OPERATOR && !is_of_steps[trace->track[e]]))
            continue;
        enum host_set set = says == SAYS_AUTOGRAD   ? HOST_BACKWARD
                            : says == SAYS_OPERATOR ? HOST_PLAIN_FORWARD
                                                    : set_of[says];
        intervals_add(&sets[set], trace_start_ns(trace, e), trace_end_ns(trace, e));
        if (set == HOST_OPTIMIZER)
            intervals_add(strstr(trace_name(trace, e), "zero_grad") ? &zeroed : &ends,
                          trace_start_ns(trace, e), trace_end_ns(trace, e));
    }
    free(is_of_steps);
    EACH(intervals_merge, &ends, &zeroed);
    for (size_t set = 0; set < HOST_SETS; set++)
        intervals_merge(&sets[set]);
    struct intervals *operators = &sets[HOST_PLAIN_FORWARD];
    subtract(operators, &sets[HOST_BACKWARD]);
    const struct intervals *const not_backward[] = { &sets[HOST_DATA], &sets[HOST_FORWARD],
                                                     &sets[HOST_OPTIMIZER], operators };
    bridge(&sets[HOST_BACKWARD], not_backward, 4, steps);
    for (size_t set = 0; set < HOST_PLAIN_FORWARD; set++)
        subtract(operators, &sets[set]);
    add_zeroed(&ends, &zeroed, operators, sets);
    keep_forward(operators, sets, &ends);
    EACH(intervals_release, &ends, &zeroed);
    const struct intervals *const not_forward[] = { &sets[HOST_DATA], &sets[HOST_BACKWARD],
                                                    &sets[HOST_OPTIMIZER] };
    bridge(operators, not_forward, 3, steps);
    intervals_each(sets, HOST_SETS, add_stretch_of, host);
    for (size_t set = 0; set < HOST_SETS; set++)
        intervals_release(&sets[set]);
}

/* The phase in which the host is at MOMENT_NS. NEAR: where the last one was found. */
static enum phase phase_at(const struct host_phases *host, int64_t moment_ns, size_t *near)
{
    size_t i = PLACE_NEAR(k, *near, host->stretches.count, host->stretches.at[k].end_ns <= moment_ns);
    *near = i;
    return i < host->stretches.count && host->stretches.at[i].start_ns <= moment_ns
               ? host->stretches.at[i].phase
               : PHASE_OTHER;
}

/* ---- the steps of a file ---- */

/* A step, while its phases are added up. */
struct window {
    struct interval in;
    bool counts;
    int64_t phase_ns[PHASES]; /* of all devices */
};

struct windows {
    VEC_OF(struct window); /* in order, disjoint */
    size_t near;           /* the first that has not ended yet */
};

/* The sets of a device and of the host: owners of intervals_each. */
enum { LANE_SETS = 2 * PHASES };

/* An intervals_visit. */
static void add_moments(void *context, size_t owner, int64_t start_ns, int64_t end_ns)
{
    struct windows *windows = context;
    while (windows->near < windows->count && windows->at[windows->near].in.end_ns <= start_ns)
        windows->near++;
    for (size_t i = windows->near; i < windows->count && windows->at[i].in.start_ns < end_ns; i++) {
        struct window *window = &windows->at[i];
        int64_t from_ns = start_ns > window->in.start_ns ? start_ns : window->in.start_ns;
        int64_t to_ns = end_ns < window->in.end_ns ? end_ns : window->in.end_ns;
        sum_add(&window->phase_ns[owner % PHASES], to_ns - from_ns);
    }
}

/* Does DEVICE work in a step that counts? Its work is added to SETS. */
static bool add_device_work(const struct trace *trace, const struct gpu_device *device,
                            const struct host_phases *host, const struct windows *windows,
                            struct intervals sets[LANE_SETS])
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    bool any = false;
    size_t step = 0, near = 0;
    for (size_t i = device->first; i < device->first + device->count; i++) {
        int64_t start_ns = trace_start_ns(trace, gpu->event[i]), end_ns = trace_end_ns(trace, gpu->event[i]);
        enum phase phase = gpu->call[i] == EVENT_NONE
                               ? PHASE_OTHER
                               : phase_at(host, trace_start_ns(trace, gpu->call[i]), &near);
        intervals_add(&sets[phase], start_ns, end_ns);
        if (any)
            continue;
        SEARCH_NEAR(step, step, windows->count, windows->at[step].in.end_ns <= start_ns);
        any |= step < windows->count && windows->at[step].counts && windows->at[step].in.start_ns < end_ns;
    }
    return any;
}

/* Add the phases of FILE to WINDOWS; returns of how many devices, 1 where none worked. */
static size_t add_phases(const struct trace *trace, uint32_t file, const struct host_phases *host,
                         struct windows *windows)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct intervals sets[LANE_SETS] = { 0 };
    size_t devices = 0;
    for (size_t i = 0; i < host->stretches.count; i++)
        intervals_add(&sets[PHASES + host->stretches.at[i].phase], host->stretches.at[i].start_ns,
                      host->stretches.at[i].end_ns);
    for (size_t set = PHASES; set < LANE_SETS; set++)
        intervals_merge(&sets[set]);
    size_t end = gpu_first_device(gpu, file);
    while (end < gpu->device_count && gpu->devices[end].file == file)
        end++;
    for (size_t d = gpu_first_device(gpu, file); d < end; d++) {
        for (size_t set = 0; set < PHASES; set++)
            intervals_clear(&sets[set]);
        if (!add_device_work(trace, &gpu->devices[d], host, windows, sets))
            continue;
        for (size_t set = 0; set < PHASES; set++)
            intervals_merge(&sets[set]);
        windows->near = 0;
        intervals_each(sets, LANE_SETS, add_moments, windows);
        devices++;
    }
    if (devices == 0) {
        windows->near = 0;
        for (size_t set = 0; set < PHASES; set++)
            intervals_clear(&sets[set]);
        intervals_each(sets, LANE_SETS, add_moments, windows);
        devices = 1;
    }
    FOR_EACH(window, windows) {
        int64_t rest_ns = (window->in.end_ns - window->in.start_ns) * (int64_t)devices;
        for (size_t p = 0; p < PHASE_OTHER; p++)
            rest_ns -= window->phase_ns[p];
        window->phase_ns[PHASE_OTHER] = rest_ns;
    }
    for (size_t set = 0; set < LANE_SETS; set++)
        intervals_release(&sets[set]);
    return devices;
}

/* ROW's phases: SUM_NS in proportion, rounded so that they add up to its step. */
static void set_phases(struct phase_row *row, const int64_t sum_ns[PHASES])
{
    double whole = 0, before = 0;
    for (size_t p = 0; p < PHASES; p++)
        whole += (double)sum_ns[p];
    for (size_t p = 0; p < PHASES && whole > 0; p++) {
        double with = before + (double)sum_ns[p];
        row->phase_ns[p] =
            llround(with / whole * (double)row->step_ns) - llround(before / whole * (double)row->step_ns);
        before = with;
    }
}

/* The steps of FILE from ACCOUNT, all of the file where it has none. STEPS: the beginnings of all. */
static void step_phases_open_windows(const struct trace *trace, const struct account *account, uint32_t file,
                                     struct windows *windows, struct account_windows *steps,
                                     struct step_phases *phases)
{
    FOR_EACH(step, &account->steps) {
        struct window window = { .counts = step->role == STEP_COUNTS };
        if (step->file != file)
            continue;
        *VEC_PUSH(&steps->begins_ns) = step->start_ns;
        if (!account_step_window(account, step, &window.in))
            continue;
        *VEC_PUSH(windows) = window;
        *VEC_PUSH(&phases->steps) = (struct phase_row){ .rank = step->rank,
                                                        .number = step->number,
                                                        .counts = window.counts,
                                                        .step_ns = window.in.end_ns - window.in.start_ns };
    }
    struct interval span = trace_file_span(trace, file);
    if (steps->begins_ns.count == 0 && span.start_ns < span.end_ns)
        *VEC_PUSH(windows) = (struct window){ .in = span, .counts = true };
}

struct step_phases *step_phases_open(const struct trace *trace, const struct account *account)
{
    struct step_phases *phases = arena_open(sizeof *phases);
    ARENA_OWNS(arena_of(phases), &phases->steps, &phases->ranks);
    phases->all = (struct phase_row){ .rank = TABLE_INT_MISSING, .step_ns = account->all.step_ns };
    uint8_t *known = mem_alloc(mem_times(names_count(trace->names) + 1, 2));
    memset(known, SAYS_NOT_YET, 2 * (names_count(trace->names) + 1));
    int64_t all_ns[PHASES] = { 0 };
    for (size_t r = 0; r < account->count; r++) {
        int64_t sum_ns[PHASES] = { 0 };
        for (uint32_t file = 0; file < trace->file_count; file++) {
            struct windows windows = { 0 };
            struct account_windows steps = { 0 };
            struct host_phases host = { 0 };
            size_t first = phases->steps.count;
            if (selection_rank(trace, file) != account->at[r].rank)
                continue;
            step_phases_open_windows(trace, account, file, &windows, &steps, phases);
            if (account->at[r].has_steps && steps.begins_ns.count == 0)
                windows.count = 0; /* another file of the rank has the steps */
            find_host_phases(trace, account, file, &steps, known, &host);
            if (windows.count)
                add_phases(trace, file, &host, &windows);
            for (size_t i = 0; i < windows.count; i++) {
                if (first + i < phases->steps.count)
                    set_phases(&phases->steps.at[first + i], windows.at[i].phase_ns);
                for (size_t p = 0; p < PHASES && windows.at[i].counts; p++)
                    sum_add(&sum_ns[p], windows.at[i].phase_ns[p]);
            }
            VEC_FREE(&windows);
            VEC_FREE(&steps.begins_ns);
            VEC_FREE(&host.stretches);
        }
        struct phase_row *rank = VEC_PUSH(&phases->ranks);
        *rank = (struct phase_row){ .rank = account->at[r].rank, .step_ns = account->at[r].step_ns };
        set_phases(rank, sum_ns);
        for (size_t p = 0; p < PHASES; p++)
            sum_add(&all_ns[p], sum_ns[p]);
    }
    free(known);
    set_phases(&phases->all, all_ns);
    phases->told = all_ns[PHASE_FORWARD] + all_ns[PHASE_BACKWARD] + all_ns[PHASE_OPTIMIZER] > 0;
    return phases;
}

/* ---- tables ---- */

struct phase_line {
    int64_t rank, time_ns;
    struct text phase;
    double share;
};

/* clang-format off */
const struct table_column phase_columns[PHASE_COLUMNS] = {
    COLUMN(struct phase_line, rank, "phase_of_rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files; missing: all ranks", .flags = TABLE_IF_ANY),
    COLUMN(struct phase_line, phase, "phase", "Phase of a step", TABLE_NAME, "forward, backward, optimizer, data or other"),
    COLUMN(struct phase_line, time_ns, "phase_time", "Time", TABLE_NS, "in a step; the phases add up to the step"),
    COLUMN(struct phase_line, share, "phase_share", "Share", TABLE_SHARE, "of the step"),
};

const struct table_column step_phase_columns[STEP_PHASE_COLUMNS] = {
    COLUMN(struct phase_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_IF_ANY),
    COLUMN(struct phase_row, number, "step_number", "Step", TABLE_COUNT, "number of the step"),
    COLUMN(struct phase_row, counts, "counts", "Counts", TABLE_BOOL, "does the step count in the account?"),
    COLUMN(struct phase_row, step_ns, "step_time", "Step time", TABLE_NS, "from its begin to the begin of the next, or by the ends of their work where devices fall behind"),
    COLUMN(struct phase_row, phase_ns[PHASE_FORWARD], "forward", "Forward", TABLE_NS, "the forward pass"),
    COLUMN(struct phase_row, phase_ns[PHASE_BACKWARD], "backward", "Backward", TABLE_NS, "the backward pass"),
    COLUMN(struct phase_row, phase_ns[PHASE_OPTIMIZER], "optimizer", "Optimizer", TABLE_NS, "the optimizer"),
    COLUMN(struct phase_row, phase_ns[PHASE_DATA], "data", "Data", TABLE_NS, "loading and moving batches"),
    COLUMN(struct phase_row, phase_ns[PHASE_OTHER], "phase_other", "Other", TABLE_NS, "the rest"),
};
/* clang-format on */

static void add_lines(const struct phase_row *row, struct table *table)
{
    for (size_t p = 0; p < PHASES; p++) {
        struct phase_line line = { row->rank, row->phase_ns[p], as_text(phase_names[p]),
                                   row->step_ns ? (double)row->phase_ns[p] / (double)row->step_ns : NAN };
        table_add_rows(table, &line, 1, sizeof line);
    }
}

void step_phases_add_tables(const struct step_phases *phases, struct result *result)
{
    struct table *table = table_open("phases", "Where the time of a step goes", phase_columns, PHASE_COLUMNS);
    add_lines(&phases->all, table);
    for (size_t i = 0; i < phases->ranks.count && phases->ranks.count > 1; i++)
        add_lines(&phases->ranks.at[i], table);
    table_add_footer(table, "step", "A step", TABLE_NS, table_int(phases->all.step_ns));
    table->uncut = true;
    result_add_table(result, table);
    struct table *steps =
        table_open("step_phases", "Phases of each step", step_phase_columns, STEP_PHASE_COLUMNS);
    table_add_rows(steps, phases->steps.at, phases->steps.count, sizeof *phases->steps.at);
    result_add_table(result, steps);
    if (!phases->told)
        ADD_NOTICE(
            result, "no_phases", 1,
            "nothing in the recording says what is forward, backward or optimizer: record_function(\"forward\"), "
            "or with_modules=True and with_stack=True, would");
}
