/* cmd_whatif.c - `tpa whatif`: the gain of a hypothetical change. */
#include "cli/analysis.h"
#include "cli/kept.h"
#include "cli/convert/convert.h"
#include "cli/output_file.h"
#include "cli/sides.h"
#include "whatif/whatif.h"
#include "whatif/path_tables.h"
#include "trace/packing.h"

struct whatif_args {
    struct load_args load;
    struct opt_list scales, syncs, avoids;
    bool no_data_wait, pinned_copies, cuda_graph, no_alloc, no_first_use, overlap_comm, whole;
    bool fuse_attention, fuse_optimizer, no_recompute, no_compile, no_contention;
    const char *contention, *contention_from;
    int64_t comm_bandwidth; /* below 0: not given */
    int ranks;
    double at_peak; /* below 0: not given */
    bool fuse;
    const char *batch;
    bool tensor_cores;
    const char *sweep, *gate;
    int to;
    struct output_args output;
};

static const struct whatif_args whatif_defaults = {
    .at_peak = -1,
    .comm_bandwidth = -1,
    .load = LOAD_DEFAULTS,
    .output = { .limit = ANALYSIS_LIMIT_DEFAULT },
};

enum ranks_like { RANKS_AS_RECORDED, RANKS_LIKE_MEDIAN, RANKS_GPU_LIKE_MEDIAN };

static const struct opt_choice ranks_words[] = {
    { "as-recorded", "each rank as it was", NULL },
    { "like-median", "hosts and devices of slower ranks as fast as the median rank's", NULL },
    { "gpu-like-median", "only their devices, as when clocks differ", NULL },
    { 0 },
};

enum whatif_to { TO_RESULT, TO_CHROME };

static const struct opt_choice to_words[] = {
    { "result", "the gains", NULL },
    { "chrome", "the predicted timeline as Chrome JSON, for Perfetto", NULL },
    { 0 },
};

static const struct opt whatif_opts[] = {
    OPT_GROUP("Changes"),
    OPT_LIST(
        0, "scale", struct whatif_args, scales, "WHAT:REGEX=F",
        "what matches REGEX takes F of its time: 0.5, 50%, 2x (twice as fast), 0 (gone). WHAT is kernel, op, call, "
        "copy, module, annotation, category or name; may be given several times"),
    OPT_FLAG(0, "no-data-wait", struct whatif_args, no_data_wait, "the next batch is always ready"),
    OPT_FLAG(0, "no-compile", struct whatif_args, no_compile,
             "programs are compiled already (torch.compile, Triton, XLA)"),
    OPT_FLAG(0, "pinned-copies", struct whatif_args, pinned_copies,
             "copies of pageable memory to a device do not block the host"),
    OPT_LIST(
        0, "no-sync", struct whatif_args, syncs, "REGEX",
        "calls that wait for the device, or lie in operators, whose names match REGEX are gone; may be given "
        "several times"),
    OPT_FLAG(0, "cuda-graph", struct whatif_args, cuda_graph, "each step is launched as one graph"),
    OPT_FLAG(0, "graph", struct whatif_args, cuda_graph, "the same, of devices that do not call it CUDA's"),
    OPT_FLAG(0, "no-alloc", struct whatif_args, no_alloc,
             "no calls that allocate or free memory of device or host"),
    OPT_FLAG(0, "no-first-use", struct whatif_args, no_first_use,
             "what was slow the first time takes the usual time"),
    OPT_SHARE(0, "at-peak", struct whatif_args, at_peak, "SHARE",
              "operators below this share of what the device could reach it: 20%"),
    OPT_FLAG(0, "fuse", struct whatif_args, fuse,
             "operations that one kernel could do (tpa sequences) are one"),
    OPT_FLAG(0, "fuse-attention", struct whatif_args, fuse_attention,
             "attention that is computed step by step (products and softmax) is one kernel"),
    OPT_FLAG(0, "no-recompute", struct whatif_args, no_recompute,
             "activations are kept: the backward pass computes nothing of the forward pass again"),
    OPT_FLAG(
        0, "fuse-optimizer", struct whatif_args, fuse_optimizer,
        "optimizers do each operation once for all parameters (foreach=True; without devices fused=True)"),
    OPT_LIST(
        0, "avoid", struct whatif_args, avoids, "WHAT",
        "what another program for the same result does not do is gone. WHAT is copies (contiguous, clone), float64 "
        "(float32 in its place), dense-gradients (of embeddings) or index-gradients (of loops over a tensor); may be "
        "given several times"),
    OPT_FLAG(0, "overlap-comm", struct whatif_args, overlap_comm, "nobody waits for communication"),
    OPT_TEXT(
        0, "contention", struct whatif_args, contention, "FACTOR",
        "with --overlap-comm: computation beside communication takes FACTOR times as long, as 1.2; else as measured"),
    OPT_FILE(0, "contention-from", struct whatif_args, contention_from, "FILE",
             "the same, as measured in another recording, in which communication overlaps"),
    OPT_FLAG(0, "no-contention", struct whatif_args, no_contention,
             "nothing runs slower because of what runs beside it"),
    OPT_SIZE(0, "comm-bandwidth", struct whatif_args, comm_bandwidth, "SIZE",
             "collectives move SIZE a second on the bus: 100GB"),
    OPT_FLAG(0, "tensor-cores", struct whatif_args, tensor_cores,
             "matrix products in float32 run on tensor cores (TF32, float16)"),
    OPT_TEXT(0, "batch", struct whatif_args, batch, "FACTOR",
             "a batch of FACTOR times the samples, as 2x: the step, and samples a second, as a range"),
    OPT_CHOICE(0, "ranks", struct whatif_args, ranks, ranks_words, "HOW", "how fast slower ranks are"),
    OPT_GROUP("Answer"),
    OPT_FLAG(0, "whole", struct whatif_args, whole, "of all that was recorded, rather than of a step"),
    OPT_TEXT(0, "sweep", struct whatif_args, sweep, "WHAT:REGEX=A..B",
             "the step time for eleven factors from A to B, all other changes made"),
    OPT_TEXT(
        0, "gate", struct whatif_args, gate, "LIMIT",
        "exit with 1 unless the predicted step time is LIMIT (100ms) or less, or less by LIMIT (5%) or more"),
    OPT_CHOICE(0, "to", struct whatif_args, to, to_words, "FORM", "what to write"),
    OUTPUT_OPTIONS(struct whatif_args, output),
    LOAD_OPTIONS(struct whatif_args, load),
    OPT_END,
};

static const struct trace_wants whatif_wants = { .args = REPLAY_WANTS | WANT(COPY_MEMORY) | WANT(BYTES) |
                                                         WANT(MODULE_HIERARCHY),
                                                 .work_bytes = REPLAY_WORK_BYTES };
static const struct trace_wants sized_wants = { .args = EDIT_WANTS };
static const struct trace_wants all_wants = CONVERT_WANTS_ALL;

/* ---- arguments ---- */

struct edits {
    VEC_OF(struct edit);
};

static void add_edit(struct edits *edits, bool given, enum edit_kind kind)
{
    if (given)
        *VEC_PUSH(edits) = (struct edit){ .kind = kind };
}

static bool collect_edits(const struct whatif_args *args, struct edits *edits, struct tpa_error *err)
{
    if (ANY(i, args->scales.count, !edit_parse_scale(args->scales.at[i], VEC_PUSH(edits), err)))
        return false;
    for (size_t i = 0; i < args->syncs.count; i++)
        *VEC_PUSH(edits) = (struct edit){ .kind = EDIT_NO_SYNC,
                                          .pattern = args->syncs.at[i],
                                          .pattern_len = strlen(args->syncs.at[i]) };
    for (size_t i = 0; i < args->avoids.count; i++)
        *VEC_PUSH(edits) = (struct edit){ .kind = EDIT_AVOID,
                                          .pattern = args->avoids.at[i],
                                          .pattern_len = strlen(args->avoids.at[i]) };
    if (args->at_peak == 0)
        return tpa_fail(err, TPA_NOWHERE, "--at-peak takes a share above 0, such as 20%%");
    if (args->at_peak > 1)
        return tpa_fail(err, TPA_NOWHERE,
                        "--at-peak takes a share of at most 100%%: nothing runs above the peak");
    if (args->comm_bandwidth == 0)
        return tpa_fail(err, TPA_NOWHERE, "--comm-bandwidth takes at least 1 byte a second, such as 100GB");
    add_edit(edits, args->no_data_wait, EDIT_NO_DATA_WAIT);
    add_edit(edits, args->no_compile, EDIT_NO_COMPILE);
    add_edit(edits, args->pinned_copies, EDIT_PINNED_COPIES);
    add_edit(edits, args->cuda_graph, EDIT_CUDA_GRAPH);
    add_edit(edits, args->no_alloc, EDIT_NO_ALLOC);
    add_edit(edits, args->no_first_use, EDIT_NO_FIRST_USE);
    add_edit(edits, args->fuse, EDIT_FUSE);
    add_edit(edits, args->fuse_attention, EDIT_FUSE_ATTENTION);
    add_edit(edits, args->no_recompute, EDIT_NO_RECOMPUTE);
    add_edit(edits, args->fuse_optimizer, EDIT_FUSE_OPTIMIZER);
    char *end = NULL;
    double contention = args->contention ? strtod(args->contention, &end) : 0;
    if (args->contention && (*end || !(contention >= 1) || contention > 100)) {
        tpa_fail(err, TPA_NOWHERE, "--contention: '%s' is not a factor of 1 or more", args->contention);
        return tpa_hint(err, "write 1.2 for computation that takes 1.2 times as long beside communication");
    }
    const char *option = args->contention        ? "--contention"
                         : args->contention_from ? "--contention-from"
                                                 : NULL;
    if (option && !args->overlap_comm)
        return tpa_fail(err, TPA_NOWHERE, "%s is for --overlap-comm", option);
    if (args->contention && args->contention_from)
        return tpa_fail(err, TPA_NOWHERE, "--contention and --contention-from exclude each other");
    if (args->overlap_comm)
        *VEC_PUSH(edits) = (struct edit){ .kind = EDIT_OVERLAP_COMM, .factor = contention };
    add_edit(edits, args->no_contention, EDIT_NO_CONTENTION);
    if (args->at_peak > 0)
        *VEC_PUSH(edits) = (struct edit){ .kind = EDIT_AT_PEAK, .factor = args->at_peak };
    if (args->comm_bandwidth > 0)
        *VEC_PUSH(edits) =
            (struct edit){ .kind = EDIT_COMM_BANDWIDTH, .factor = (double)args->comm_bandwidth };
    add_edit(edits, args->ranks == RANKS_LIKE_MEDIAN, EDIT_RANKS_LIKE_MEDIAN);
    add_edit(edits, args->ranks == RANKS_GPU_LIKE_MEDIAN, EDIT_GPUS_LIKE_MEDIAN);
    add_edit(edits, args->tensor_cores, EDIT_TENSOR_CORES);
    double batch = args->batch ? strtod(args->batch, &end) : 2;
    if (args->batch && (!(batch > 1 && batch <= 1024) || strcmp(end, "x") != 0)) {
        tpa_fail(err, TPA_NOWHERE, "--batch: '%s' is not a factor above 1 and at most 1024", args->batch);
        return tpa_hint(err, "write 2x for a batch of twice as many samples");
    }
    if (args->batch)
        *VEC_PUSH(edits) = (struct edit){ .kind = EDIT_BATCH, .factor = batch };
    if (edits->count > 0 || args->sweep)
        return true;
    tpa_fail(err, TPA_NOWHERE, "no change is given");
    return tpa_hint(
        err,
        "say what, as in --scale 'kernel:gemm=0.5', --no-data-wait or --cuda-graph; tpa help whatif lists all");
}

/* A limit on the step time: a time, or a share of it that is to be gained. */
struct whatif_gate {
    int64_t time_ns;
    double share;
    bool is_share;
};

/* What the command line requests. */
struct request {
    const struct invocation *call;
    const struct whatif_args *args;
    struct edits edits;
    struct whatif_gate gate;
};

static bool parse_gate(const char *text, struct whatif_gate *gate, struct tpa_error *err)
{
    size_t len = strlen(text);
    *gate = (struct whatif_gate){ .is_share = len > 0 && text[len - 1] == '%' };
    if (gate->is_share ? quantity_parse_share(text, len, &gate->share)
                       : quantity_parse_time(text, len, &gate->time_ns))
        return true;
    tpa_fail(err, TPA_NOWHERE, "--gate: '%s' is neither a time nor a share", text);
    return tpa_hint(err, "write 100ms, the most that a step may take, or 5%%, the least that it must gain");
}

/* Of a larger batch a share is one of the time that a sample takes, in the worst case. */
static bool reaches(const struct whatif_gate *gate, const struct whatif *whatif)
{
    int64_t now_ns = whatif->steps->now_ns, then_ns = whatif->steps->then_ns;
    if (whatif->batch != 1 && gate->is_share && whatif->then_high_ns > 0)
        then_ns = (int64_t)((double)whatif->then_high_ns / whatif->batch);
    return gate->is_share
               ? !gate_exceeds(gate->share, (double)(now_ns - then_ns) / (double)(now_ns > 0 ? now_ns : 1))
               : then_ns <= gate->time_ns;
}

/* What is not recorded takes no time in the prediction either: a gate of a recording that is not complete fails. */
static bool passes(const struct request *request, const struct whatif *whatif, const struct trace *trace)
{
    return !trace_lacks(trace) && reaches(&request->gate, whatif);
}

static void notice_gate(const struct request *request, const struct whatif *whatif, const struct trace *trace,
                        struct result *result)
{
    struct buffer lacks = { 0 };
    lacks_append_meaning(&lacks, trace_lacks(trace));
    if (lacks.count)
        ADD_NOTICE(result, "gate", 1, "--gate %s: cannot tell, as the recording is not complete (%s)",
                   request->args->gate, lacks.at);
    buffer_release(&lacks);
    if (trace_lacks(trace))
        return;
    int64_t then_ns = whatif->steps->then_ns;
    bool reached = reaches(&request->gate, whatif);
    ADD_NOTICE(result, "gate", 1, "--gate %s would %sbe reached: %.3f ms", request->args->gate,
               reached ? "" : "not ", quantity_ms(then_ns));
}

/* ---- sweep ---- */

enum { SWEEP_POINTS = 11 };

/* "kernel:REGEX=0.1..1": the edit, and its range. */
static bool parse_sweep(const char *text, struct edit *edit, double *first, double *last,
                        struct tpa_error *err)
{
    const char *dots = strstr(text, "..");
    const char *equals = NULL;
    for (; dots && !equals; dots = equals ? dots : strstr(dots + 1, ".."))
        for (const char *c = dots; c > text && !equals; c--)
            if (c[-1] == '=')
                equals = edit_parse_factor(c, (size_t)(dots - c), first) &&
                                 edit_parse_factor(dots + 2, strlen(dots + 2), last)
                             ? c - 1
                             : NULL;
    if (!equals) {
        tpa_fail(err, TPA_NOWHERE, "--sweep: '%s' does not say from where to where", text);
        return tpa_hint(err, "write kernel:REGEX=0.1..1");
    }
    SCOPED char *one = mem_strndup(text, (size_t)(equals - text) + 2);
    one[equals - text + 1] = '1'; /* any factor: it is set for each point */
    bool fine = edit_parse_scale(one, edit, err);
    edit->pattern = text + (edit->pattern - one);
    return fine;
}

static bool add_sweep(const struct replay_graph *graph, const struct whatif_args *args,
                      const struct edits *edits, struct result *result, struct tpa_error *err)
{
    SCOPED struct edits all = { 0 };
    double first = 0, last = 1;
    struct sweep_point points[SWEEP_POINTS];
    struct edit swept;
    bool fine = parse_sweep(args->sweep, &swept, &first, &last, err);
    for (size_t i = 0; i < edits->count; i++)
        *VEC_PUSH(&all) = edits->at[i];
    *VEC_PUSH(&all) = swept;
    for (int i = 0; i < SWEEP_POINTS && fine; i++) {
        double factor = first + (last - first) * i / (SWEEP_POINTS - 1);
        all.at[all.count - 1].factor = factor;
        SCOPED_OBJECT struct whatif *whatif = whatif_open(graph, all.at, all.count, args->whole, err);
        fine = whatif != NULL;
        if (fine)
            points[i] = (struct sweep_point){ factor, whatif->steps->now_ns, whatif->steps->then_ns };
    }
    if (fine)
        whatif_add_sweep(points, SWEEP_POINTS, args->sweep, result);
    return fine;
}

static bool write_timeline(const struct replay *replay, const struct whatif_args *args, struct tpa_error *err)
{
    const struct replay_graph *graph = replay->graph;
    struct trace moved = *graph->trace; /* other times, and arrows made anew from calls to work */
    SCOPED_BY(packing_release) struct packing start = { 0 }, dur = { 0 };
    struct moved *times = moved_open(replay);
    for (event_id e = 0; e < moved.event_count; e++) {
        struct moved_times one = moved_times_of(times, e);
        packing_add(&start, one.start_ns);
        packing_add(&dur, one.end_ns - one.start_ns);
    }
    arena_free(times);
    moved.start_ns = packing_finish(&start);
    moved.dur_ns = packing_finish(&dur);
    moved.flow_count = 0;

    struct convert_args convert = { .path = args->output.path, .load = args->load };
    struct output_file file;
    SCOPED struct buffer summary = { 0 };
    bool fine = output_file_open(&file, args->output.path, err);
    if (fine && !convert_chrome.write_trace(&moved, &convert, file.stream, &summary, err)) {
        output_file_discard(&file);
        fine = false;
    } else if (fine) {
        fine = output_file_commit(&file, err);
    }
    return fine;
}

/* ---- the command ---- */

/* Read the recording of --contention-from into *OTHER, to be freed by the caller, and let the edits take their factors from it. */
static bool measure_elsewhere(const struct invocation *call, struct edits *edits, struct trace **other,
                              struct tpa_error *err)
{
    const struct whatif_args *args = call->args;
    if (!args->contention_from)
        return true;
    char *only[] = { (char *)(uintptr_t)args->contention_from };
    struct invocation one = *call;
    one.operands = only;
    one.operand_count = 1;
    *other = load_traces(&one, &args->load, &sized_wants, err);
    if (!*other)
        return false;
    const struct contention *contention = contention_of(*other);
    const struct contention_sum *sum = contention_communication(contention);
    if (!sum || !sum->judged_pairs) {
        tpa_fail(err, TPA_NOWHERE, "no kernel that ran beside communication can be judged");
        tpa_hint(err, "tpa kernels --contention has the reasons");
        return tpa_in_file(err, args->contention_from);
    }
    for (size_t i = 0; i < edits->count; i++)
        if (edits->at[i].kind == EDIT_OVERLAP_COMM) {
            edits->at[i].measured = contention;
            edits->at[i].measured_path = args->contention_from;
        }
    return true;
}

static struct output_args whatif_output(const struct whatif_args *args)
{
    struct output_args output = args->output;
    output.limit = analysis_limit(&args->output);
    return output;
}

static bool whatif_answer(const struct trace *trace, const struct request *request, int *status,
                          struct tpa_error *err)
{
    const struct whatif_args *args = request->args;
    const struct output_args output = whatif_output(args);
    const struct replay_graph *graph = replay_graph_of(trace);
    SCOPED_OBJECT struct whatif *whatif =
        whatif_open(graph, request->edits.at, request->edits.count, args->whole, err);
    if (!whatif)
        return false;
    if (args->gate && !passes(request, whatif, trace))
        *status = EXIT_LIMIT_PASSED;
    bool fine = true;
    if (args->to == TO_CHROME) {
        struct replay *replay = whatif_replay(graph, request->edits.at, request->edits.count, err);
        fine = replay && write_timeline(replay, args, err);
        replay_free(replay);
    } else {
        struct result *result = result_open("tpa.whatif/2");
        if (request->edits.count)
            whatif_add_tables(whatif, request->edits.at, result);
        fine = !args->sweep || add_sweep(graph, args, &request->edits, result, err);
        if (args->gate)
            notice_gate(request, whatif, trace, result);
        path_add_notices(graph, result);
        load_add_notices(trace, result);
        if (fine)
            fine = kept_output(&(struct kept_query){ request->call }, result, &output, err);
        else
            result_free(result);
    }
    return fine;
}

static bool is_empty(const struct trace *trace, struct tpa_error *err)
{
    const struct replay_graph *graph = replay_graph_of(trace);
    if (graph->moment_count > 0)
        return false;
    if (graph->too_large) {
        tpa_fail(err, TPA_NOWHERE, "the trace has too many events to replay: %zu", trace->event_count);
        return true;
    }
    tpa_fail(err, TPA_NOWHERE,
             "nothing with a duration was recorded on a thread or device: there is nothing to replay");
    return true;
}

static int whatif_main(const struct invocation *call, struct tpa_error *err)
{
    const struct whatif_args *args = call->args;
    struct request request = { .call = call, .args = args };
    int status = EXIT_FINE;
    bool fine = collect_edits(args, &request.edits, err) &&
                (!args->gate || parse_gate(args->gate, &request.gate, err));
    struct result *known = fine ? kept_find(&(struct kept_query){ call }) : NULL;
    if (known) {
        const struct output_args output = whatif_output(args);
        VEC_FREE(&request.edits);
        return output_result(known, &output, err) ? EXIT_FINE : EXIT_TROUBLE;
    }
    const struct trace_wants *wants =
        args->to == TO_CHROME ? &all_wants
        : args->overlap_comm || args->no_contention || args->comm_bandwidth > 0 || args->at_peak > 0 ||
                args->fuse || args->fuse_attention || args->batch || args->tensor_cores || args->avoids.count
            ? &sized_wants
            : &whatif_wants;
    struct trace *other = NULL;
    fine = fine && measure_elsewhere(call, &request.edits, &other, err);
    SCOPED_BY(trace_free_at) struct trace *trace = fine ? load_traces(call, &args->load, wants, err) : NULL;
    fine = trace && !is_empty(trace, err) && file_set_check_job(trace, err) &&
           whatif_answer(trace, &request, &status, err);
    trace_free(other);
    VEC_FREE(&request.edits);
    return fine ? status : EXIT_TROUBLE;
}

const struct command cmd_whatif = {
    .name = "whatif",
    .summary = "what a change would gain: the step time, replayed with it",
    .operands = "TRACE...",
    .description =
        "Replays the recording with a change, such as a shorter kernel or a wait that is gone, and shows the step time "
        "that comes of it: the throughput of the steps, as in tpa steps. Everything waits for "
        "what it waited for in the recording; what did not hold anything up gains nothing. Without a change the replay is the "
        "recording, to the nanosecond.\n\n"
        "Changes combine. The table of edits has what each gains alone: these gains do not add up. A prediction is as good "
        "as what it assumes, which is listed below it; pauses that the recording does not explain stay as they were.",
    .tables = { whatif_tables },
    .options = whatif_opts,
    COMMAND_ARGS(whatif_defaults),
    .main = whatif_main,
    .examples = {
        "tpa whatif --no-data-wait trace.json",
        "tpa whatif --scale 'kernel:flash.*=0.5' --scale 'module:Linear=0.9' trace.json",
        "tpa whatif --pinned-copies --no-sync 'aten::item' --cuda-graph trace.json",
        "tpa whatif --overlap-comm --ranks like-median ranks/",
        "tpa whatif --sweep 'kernel:gemm=0.1..1' trace.json",
        "tpa whatif --no-alloc --gate 100ms trace.json  # would this reach 100 ms?",
    },
    .section = SECTION_ANALYZE,
    .reads_traces = true,
};
