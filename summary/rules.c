/* The rules look at the answers of `tpa steps`, `gpu`, `gaps`, `transfers`, `comm` and `memory`. Each is a row of
 * SUMMARY_RULES and a few lines that find its rows. */
#include "summary/rules.h"

#include "base/rows.h"
#include "derive/collective_matches.h"
#include "derive/communication.h"
#include "trace/span.h"
#include "base/sum.h"
#include <math.h>

const struct summary_rule summary_rules[RULES] = {
    [RULE_SLOW_STEP] = { "slow_step", "one step is slow", "See why one step is slow", 0.05,
                         "more than the median", "of the time of all steps", "steps", "tpa steps",
                         "see in what the slowest step differs; leave warm-up steps out of the trace" },
    [RULE_DATA_PARALLEL] = { "data_parallel", "one process drives several devices",
                             "Use a process for each device", 0.0, "in it", "of the recording", "operators",
                             "tpa top --filter DataParallel",
                             "use DistributedDataParallel, a process per device: DataParallel copies the model in each step" },
    [RULE_BACKEND] = { "backend", "devices communicate by the host",
                       "Communicate by the library of the devices", 0.0, "in it", "of the recording",
                       "communication", "tpa comm",
                       "use the library of the devices: init_process_group(backend=\"nccl\") for CUDA and ROCm, \"xccl\" for XPU, \"hccl\" for NPU and HPU" },
    [RULE_STRAGGLER] = { "straggler", "the others wait for a rank", "See why the others wait for a rank",
                         0.05, "late", "of the recording", "communication", "tpa comm",
                         "see what that rank does meanwhile: its share of the work, its data, its machine" },
    [RULE_TURNS] = { "turns", "ranks wait for one another in turn",
                     "Give all ranks equally long work in each step", 0.05, "waited by a rank",
                     "of the recording", "communication", "tpa fleet",
                     "no rank is slower than the rest, but in each step another is last: batches of one length, the same work on all; tpa fleet names the last of each step" },
    [RULE_MEMORY_FULL] = { "memory_full", "memory is nearly full", "Use less memory", 0.90, "in use",
                           "of the device", "memory", "tpa memory",
                           "recompute activations (checkpointing), use mixed precision or a smaller batch" },
    [RULE_MEMORY_GROWS] = { "memory_grows", "memory grows with every step", "Find what keeps memory", 0.0,
                            "a step", "of the peak", "memory", "tpa memory",
                            "look for tensors that are kept from step to step, such as losses that are summed up" },
};

static bool passes(enum rule rule, double share)
{
    return share > summary_rules[rule].threshold;
}

/* It is a finding when SHARE passes the threshold of its rule. */
static void consider(struct summary *summary, struct finding finding)
{
    if (!passes(finding.rule, finding.share))
        return;
    if (!finding.advice)
        finding.advice = summary_rules[finding.rule].advice;
    finding.order = summary->findings.count;
    *VEC_PUSH(&summary->findings) = finding;
}

static const char *device_text(struct summary *summary, int64_t device)
{
    return arena_printf(&summary->arena, "%lld", (long long)device);
}

/* ---- what each file of a rank has at stake ---- */

/* Of TIME at stake of WHOLE; the files of a rank, of one of its devices, are added up. */
static void add_stake(struct summary *summary, enum rule rule, int64_t rank, int64_t device,
                      const char *detail, double time_ns, double whole_ns)
{
    *VEC_PUSH(&summary->stakes) =
        (struct stake){ rule, rank, device, detail, time_ns, whole_ns, summary->stakes.count };
}

static const struct key by_device[] = { ASC(struct stake, rule), ASC(struct stake, rank),
                                        ASC(struct stake, device), KEY_END };

static const struct key by_order[] = { ASC(struct stake, rule), ASC(struct stake, rank),
                                       ASC(struct stake, device), ASC(struct stake, order), KEY_END };

static void consider_stakes(struct summary *summary)
{
    struct stake *at = summary->stakes.at;
    size_t count = summary->stakes.count;
    SORT_ARRAY(at, count, by_order);
    FOR_RUNS(first, end, count, rows_compare(&at[first], &at[end], by_device) == 0) {
        double time_ns = 0, whole_ns = 0;
        for (size_t i = first; i < end; i++) {
            time_ns += at[i].time_ns;
            whole_ns += at[i].whole_ns;
        }
        bool of_device = at[first].device != TABLE_INT_MISSING;
        consider(summary,
                 (struct finding){ .rule = at[first].rule,
                                   .rank = at[first].rank,
                                   .device = of_device ? device_text(summary, at[first].device) : NULL,
                                   .detail = at[first].detail,
                                   .share = whole_ns > 0 ? time_ns / whole_ns : 0,
                                   .time_ns = (int64_t)fmin(time_ns, 9.2e18),
                                   .bytes = TABLE_INT_MISSING });
    }
    VEC_FREE(&summary->stakes);
}

/* ---- steps ---- */

/* "ProfilerStep#9, most of it in Kernel", of STEPS, whose parts are known. */
static const char *slowest_text(struct summary *summary, const struct steps_summary *steps)
{
    struct buffer text = { 0 };
    buffer_printf(&text, "%.*s", (int)steps->slowest.len, steps->slowest.at);
    if (summary->steps->several_ranks)
        buffer_printf(&text, " of rank %lld", (long long)steps->slowest_rank);
    if (steps->because != STEP_PARTS)
        buffer_printf(&text, ", most of it in %s", step_part_title(steps->because));
    const char *kept = arena_strndup(&summary->arena, text.at ? text.at : "", text.count);
    buffer_release(&text);
    return kept;
}

/* How long the slowest step waited for a rank whose recording had not begun, in ns: for that it is not to blame. */
static int64_t slowest_unrecorded(const struct summary *summary, const struct steps_summary *steps)
{
    const struct unrecorded_waits *waits = unrecorded_waits_of(summary->trace);
    int64_t most_ns = 0;
    for (size_t i = 0; waits->count && i < summary->steps->each.count; i++) {
        const struct step_row *row = &summary->steps->each.at[i];
        int64_t from_ns = row->start_ns + trace_file_span(summary->trace, row->file).start_ns;
        if (row->duration_ns != steps->step.max_ns || row->rank != steps->slowest_rank)
            continue;
        int64_t ns = unrecorded_waits_between(waits, row->file, from_ns, from_ns + row->duration_ns);
        most_ns = ns > most_ns ? ns : most_ns;
    }
    return most_ns;
}

/* Is the slowest step as slow as its place in the plan of the steps has it? Then nothing is to be looked for. */
static bool is_of_plan(const struct summary *summary, const struct steps_summary *steps)
{
    const double far = 1.5;
    const struct account_rank *of =
        summary->account ? account_rank_of(summary->account, steps->slowest_rank) : NULL;
    return of && of->period > 1 && (double)steps->step.max_ns < far * (double)of->unusual_ns;
}

/* Is the slowest step the first one, in which programs are compiled? That does not count, and is said beside what a step takes. */
static bool is_compiling(const struct summary *summary, const struct steps_summary *steps)
{
    const struct account_rank *of =
        summary->account ? account_rank_of(summary->account, steps->slowest_rank) : NULL;
    char *name = mem_strndup(steps->slowest.at ? steps->slowest.at : "", steps->slowest.len);
    int64_t number;
    bool compiling = of && of->singular_compiles && step_number(name, &number) && number == of->singular;
    free(name);
    return compiling;
}

/* What the steps are made of is found where one of them is a finding. */
static void find_steps(struct summary *summary)
{
    const struct steps *whole = NULL;
    for (size_t i = 0; summary->steps && i < summary->steps->summaries.count; i++) {
        const struct steps_summary *steps = &summary->steps->summaries.at[i];
        int64_t over_ns = steps->step.max_ns - slowest_unrecorded(summary, steps) - steps->step.median_ns;
        double share = sum_share(over_ns, steps->total_ns);
        if (steps->complete < RULES_LEAST_STEPS || is_of_plan(summary, steps) ||
            is_compiling(summary, steps) || !passes(RULE_SLOW_STEP, share))
            continue;
        if (!whole)
            whole = summary_steps(summary, false, &(struct tpa_error){ 0 });
        consider(summary, (struct finding){ .rule = RULE_SLOW_STEP,
                                            .rank = steps->rank,
                                            .detail = slowest_text(summary, &whole->summaries.at[i]),
                                            .share = share,
                                            .time_ns = over_ns,
                                            .bytes = TABLE_INT_MISSING });
    }
    arena_free(whole);
}

/* ---- several devices and ranks ---- */

/* Moments of FILE at which an operator or annotation was open whose name has PREFIX; NULL: that communicates. */
static int64_t time_in(const struct summary *summary, uint32_t file, const char *prefix)
{
    const struct trace *trace = summary->trace;
    const struct trace_file *of = &trace->files[file];
    enum { NOT_CHECKED, NO, YES };
    uint8_t *answers = mem_zalloc(names_count(trace->names) + 1, sizeof *answers);
    struct intervals open = { 0 };
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        if (trace->kind[e] != EVENT_OP && trace->kind[e] != EVENT_ANNOTATION)
            continue;
        uint8_t *answer = &answers[trace->name[e]];
        const char *name = trace_name(trace, e);
        if (*answer == NOT_CHECKED)
            *answer = (prefix ? strncmp(name, prefix, strlen(prefix)) == 0 : operator_is_communication(name))
                          ? YES
                          : NO;
        if (*answer == YES && selection_holds_place(summary->selection, e))
            intervals_add(&open, trace_start_ns(trace, e), trace_recorded_end_ns(trace, e));
    }
    intervals_merge(&open);
    int64_t length_ns = intervals_length(&open);
    intervals_release(&open);
    free(answers);
    return length_ns;
}

/* The devices of FILE that worked. */
static size_t rules_device_count(const struct summary *summary, uint32_t file)
{
    const struct gpu_events *gpu = gpu_events_of(summary->trace);
    size_t count = 0;
    for (size_t d = 0; d < gpu->device_count; d++)
        count += gpu->devices[d].file == file;
    return count;
}

/* Of the time of FILE. */
static void add_file_stake(struct summary *summary, enum rule rule, uint32_t file, int64_t time_ns,
                           const char *detail)
{
    add_stake(summary, rule, selection_rank(summary->trace, file), TABLE_INT_MISSING, detail, (double)time_ns,
              (double)summary_file_time(summary, file));
}

/* As nn.DataParallel marks its calls. */
static void find_data_parallel(struct summary *summary)
{
    for (uint32_t f = 0; f < summary->trace->file_count; f++)
        if (rules_device_count(summary, f) > 1)
            add_file_stake(summary, RULE_DATA_PARALLEL, f, time_in(summary, f, "DataParallel.forward"), NULL);
}

/* A job of several ranks whose devices work, but whose backend is no library of devices. */
static void find_backends(struct summary *summary)
{
    const struct trace *trace = summary->trace;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        const char *backend = trace->files[f].backend;
        if (backend && !backend_is_of_devices(backend) && rules_device_count(summary, f) > 0)
            add_file_stake(summary, RULE_BACKEND, f, time_in(summary, f, NULL), backend);
    }
}

/* What each other rank waited for a rank on average, of all that was recorded of it; if ranks take turns, what each waited. */
static void find_ranks(struct summary *summary)
{
    const struct comm *comm = summary->comm;
    for (size_t i = 0; comm && i < comm->blame.count && !summary_is_pipeline(summary); i++) {
        const struct comm_blame *rank = &comm->blame.at[i];
        const struct summary_rank *of = summary_rank_of(summary, rank->rank);
        double ranks = (double)comm->blame.count;
        if (of && comm->in_turn)
            add_stake(summary, RULE_TURNS, TABLE_INT_MISSING, TABLE_INT_MISSING, NULL,
                      (double)rank->waited_ns / ranks, (double)of->time_ns / ranks);
        else if (of)
            add_stake(summary, RULE_STRAGGLER, rank->rank, TABLE_INT_MISSING,
                      arena_printf(&summary->arena, "rank %lld", (long long)rank->rank),
                      (double)rank->caused_ns / (ranks - 1), (double)of->time_ns);
    }
}

/* ---- memory ---- */

static void rules_find_peaks(struct summary *summary)
{
    const struct memory *memory = summary->memory;
    for (size_t i = 0; memory && i < memory->peaks.count; i++) {
        const struct memory_peak *peak = &memory->peaks.at[i];
        const struct trace_file *file = summary_file_of(summary, peak->place.rank);
        const struct trace_device *properties = file && peak->place.number != TABLE_INT_MISSING
                                                    ? trace_file_device(file, peak->place.number)
                                                    : NULL;
        if (properties)
            consider(summary, (struct finding){ .rule = RULE_MEMORY_FULL,
                                                .rank = peak->place.rank,
                                                .device = peak->place.device.at,
                                                .share = sum_share(peak->bytes, properties->total_memory),
                                                .time_ns = TABLE_INT_MISSING,
                                                .bytes = peak->bytes });
    }
}

/* Texts of devices lie in one place each. */
static bool is_same_memory(const struct memory_place *a, const struct memory_place *b)
{
    return a->rank == b->rank && a->device.at == b->device.at;
}

/* The steps of a device follow one another. The first step may well grow: optimizers make their state. */
static void find_growth(struct summary *summary)
{
    const struct memory_step *steps = summary->memory ? summary->memory->steps.at : NULL;
    size_t count = summary->memory ? summary->memory->steps.count : 0;
    FOR_RUNS(first, end, count, is_same_memory(&steps[end].place, &steps[first].place)) {
        int64_t least = INT64_MAX, most = 0;
        for (size_t i = first; i < end; i++) {
            most = steps[i].peak_bytes > most ? steps[i].peak_bytes : most;
            if (i > first && steps[i].growth_bytes < least)
                least = steps[i].growth_bytes;
        }
        if (end - first < 4)
            continue;
        consider(summary, (struct finding){ .rule = RULE_MEMORY_GROWS,
                                            .rank = steps[first].place.rank,
                                            .device = steps[first].place.device.at,
                                            .share = sum_share(least, most),
                                            .time_ns = TABLE_INT_MISSING,
                                            .bytes = least });
    }
}

/* ---- the whole ---- */

void summary_look(struct summary *summary)
{
    rules_find_peaks(summary);
    find_growth(summary);
    find_steps(summary);
    find_ranks(summary);
    if (summary->gpu) {
        find_data_parallel(summary);
        find_backends(summary);
    }
    consider_stakes(summary);
}
