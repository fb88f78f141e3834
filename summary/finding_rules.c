/*
 * finding_rules.c - see finding_rules.h.
 *
 * A rule looks for its place first, which is cheap, and is replayed only when there is one.
 */
#include "summary/finding_rules.h"

#include "analyze/contention/contention.h"
#include "base/demangle.h"
#include "base/quantity.h"
#include "base/sum.h"
#include "derive/advice.h"
#include "derive/attribution.h"
#include "derive/collective_names.h"
#include "derive/communication.h"
#include "derive/copy_names.h"
#include "derive/device_types.h"
#include "derive/features.h"
#include "derive/gpu_names.h"
#include "derive/launch_calls.h"
#include "derive/page_moves.h"
#include "derive/step_list.h"
#include "derive/workload.h"
#include "summary/finding_host.h"
#include "summary/finding_kit.h"
#include "summary/finding_places.h"
#include "summary/rules.h"
#include "summary/unexplained.h"
#include "trace/arg_scan.h"
#include "trace/call_names.h"
#include "trace/trace.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- which events ---- */

static bool is_data_loading(const struct trace *trace, event_id e)
{
    return !event_on_device((enum event_kind)trace->kind[e]) &&
           annotation_is_data_loading(trace_name(trace, e));
}

static bool is_upload_from(const struct trace *trace, event_id e, enum copy_memory memory)
{
    if (trace->kind[e] != EVENT_MEMCPY)
        return false;
    struct copy_kind kind =
        copy_kind_with(copy_kind_of(trace_name(trace, e)), trace_arg_text(trace, ARG_COPY_MEMORY, e));
    return kind.direction == COPY_HTOD && kind.memory == memory;
}

static bool is_pageable_upload(const struct trace *trace, event_id e)
{
    return is_upload_from(trace, e, MEMORY_PAGEABLE);
}

static bool is_pinned_upload(const struct trace *trace, event_id e)
{
    return is_upload_from(trace, e, MEMORY_PINNED);
}

/* Programs of JAX and TensorFlow do not choose the memory: runtimes of XLA stage what is copied. */
static bool is_upload(const struct trace *trace, event_id e)
{
    return is_pageable_upload(trace, e) || is_pinned_upload(trace, e);
}

static bool is_copy_within(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_MEMCPY && copy_kind_of(trace_name(trace, e)).direction == COPY_DTOD;
}

/* Copies between devices, copies to a device from host memory of a kind that is not recorded, and copies whose direction is not
 * recorded. XLA's asynchronous copies are of the last kind: the core waits for them in copy-done. The event async-copy, which
 * lasts as long as the transfer, is left out, as the core computes meanwhile. */
static bool is_other_copy(const struct trace *trace, event_id e)
{
    if (trace->kind[e] != EVENT_MEMCPY)
        return false;
    const char *name = trace_name(trace, e);
    if (strncmp(name, "async-", strlen("async-")) == 0)
        return false;
    struct copy_kind kind = copy_kind_with(copy_kind_of(name), trace_arg_text(trace, ARG_COPY_MEMORY, e));
    return kind.direction == COPY_UNKNOWN || kind.direction == COPY_PTOP ||
           (kind.direction == COPY_HTOD && kind.memory != MEMORY_PAGEABLE && kind.memory != MEMORY_PINNED);
}

static bool is_known_copy(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_MEMCPY && copy_kind_of(trace_name(trace, e)).direction != COPY_UNKNOWN;
}

static bool is_communication(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_KERNEL ? kernel_is_communication(trace_name(trace, e))
                                          : !event_on_device((enum event_kind)trace->kind[e]) &&
                                                collective_runs_on_host(trace_name(trace, e));
}

static bool is_download(const struct trace *trace, event_id e)
{
    return trace->kind[e] == EVENT_MEMCPY && copy_kind_of(trace_name(trace, e)).direction == COPY_DTOH;
}

static bool is_pinning(const struct trace *trace, event_id e)
{
    return event_is_call((enum event_kind)trace->kind[e]) &&
           call_sort_of(trace_name(trace, e)) == CALL_HOST_ALLOC;
}

static bool is_allocation(const struct trace *trace, event_id e)
{
    return is_pinning(trace, e) || (event_is_call((enum event_kind)trace->kind[e]) &&
                                    call_sort_of(trace_name(trace, e)) == CALL_ALLOC);
}

/* ---- the rules ---- */

/* The waits for a batch: how many, the mean, and whether more than a tenth are longer than it takes to be handed one. */
struct batch_waits {
    double mean_ns;
    bool long_ones;
};

static struct batch_waits batch_waits_of(const struct trace *trace, name_id name)
{
    enum { HANDED_OVER_NS = 4000000 };
    size_t count = 0, longer = 0;
    double all_ns = 0;
    for (event_id e = 0; e < trace->event_count; e++) {
        if (trace->name[e] != name)
            continue;
        count++;
        longer += trace_dur_ns(trace, e) > HANDED_OVER_NS;
        all_ns += (double)trace_dur_ns(trace, e);
    }
    return (struct batch_waits){ count ? all_ns / (double)count : 0, 10 * longer > count };
}

/* A worker's batch takes at least so long to be taken over: from a queue, with its memory to be mapped. */
enum { USUAL_WORKERS = 4, MOST_WORKERS = 1000, TAKE_OVER_NS = 300000 };

/* How many workers load a batch, which takes LOAD_NS, beside what takes REST_NS. */
static double workers_for(double load_ns, double rest_ns)
{
    return rest_ns > 0 ? ceil(load_ns / rest_ns) : MOST_WORKERS;
}

/* What to do where a loop that loads a batch itself, for LOAD_NS, takes REST_NS beside. */
static struct text advise_workers(struct pricing *pricing, double load_ns, double rest_ns)
{
    double workers = workers_for(load_ns, rest_ns);
    if (workers <= USUAL_WORKERS)
        return as_text(
            "num_workers is 0, so the loop loads each batch by itself: DataLoader(..., num_workers=4) "
            "loads beside it");
    struct buffer advice = { 0 };
    buffer_puts(&advice, "num_workers is 0, so the loop loads each batch by itself, which takes ");
    quantity_append_rounded_time(&advice, load_ns);
    buffer_puts(&advice, ", and the rest of a step ");
    quantity_append_rounded_time(&advice, rest_ns);
    if (workers < MOST_WORKERS)
        buffer_printf(
            &advice,
            ": it takes %.0f workers, and a core for each, to keep up (DataLoader(..., num_workers=%.0f))",
            workers, workers);
    buffer_puts(&advice, ": fewer save a part of it, and so does less work for each sample");
    return pricing_keep(pricing, &advice);
}

/* What loads data is one or the other. */
static bool has_operators_or_ranges(const struct pricing *pricing)
{
    return pricing->summary->features & (FEATURE_OPS | FEATURE_ANNOTATIONS);
}

/* Of a loop that loads each batch by itself, for as long as OFFER says. */
static void complete_loading(struct pricing *pricing, struct priced_finding *finding,
                             const struct offer *offer)
{
    if (offer->beside_ns < TAKE_OVER_NS) {
        finding->action = as_text("Load more samples at once");
        finding->advice = as_text(
            "a batch is loaded as fast as a worker would hand it over, so num_workers saves nothing: larger batches, or a "
            "data set that is one tensor, of which a batch is a slice");
        finding->code = as_text("for i in torch.randperm(n).split(batch_size): x, y = X[i], Y[i]");
        return;
    }
    double rest_ns = (double)finding->saves_ns * (1 / finding->saves_share - 1),
           workers = workers_for(offer->beside_ns, rest_ns);
    finding->advice = advise_workers(pricing, offer->beside_ns, rest_ns);
    struct buffer code = { 0 };
    buffer_printf(&code, "DataLoader(..., num_workers=%.0f)",
                  workers < MOST_WORKERS ? fmax(workers, USUAL_WORKERS) : USUAL_WORKERS);
    finding->was = as_text("DataLoader(..., num_workers=0)");
    finding->code = pricing_keep(pricing, &code);
}

static void find_data_loading(struct pricing *pricing)
{
    struct place place = place_find(pricing->trace, is_data_loading);
    if (place.longest == EVENT_NONE) {
        if (has_operators_or_ranges(pricing))
            pricing_add_quiet(pricing, "data loading");
        return;
    }
    const char *name = names_text(pricing->trace->names, place.name);
    bool alone = strstr(name, "_SingleProcessDataLoaderIter") != NULL;
    struct batch_waits waits = batch_waits_of(pricing->trace, place.name);
    struct buffer where = { 0 };
    buffer_puts(&where, name);
    place_add_caller(pricing->trace, &place, &where);
    double *shares = shares_of_ranks(pricing->summary, is_data_loading);
    shares_add_ranks(pricing->summary, shares, &where);
    free(shares);
    const char *in_framework = trace_advice(pricing->trace, ADVICE_LOAD_DATA);
    struct priced_finding finding = {
        .title = as_text("the loop waits for the next batch"),
        .where = pricing_keep(pricing, &where),
        .advice = as_text(
            in_framework ? in_framework
            : waits.long_ones
                ? "the workers are too slow: more of them (num_workers), or less work for each "
                  "sample (decode smaller images, cache, preprocess once)"
                : "the workers keep up, and this is what handing over a batch takes: larger batches, or fewer "
                  "and larger tensors in a sample"),
        .edit = { .kind = EDIT_NO_DATA_WAIT },
    };
    if (!alone && !in_framework) /* workers load beside the loop already */
        finding.action = as_text(waits.long_ones ? "Load batches faster" : "Hand over fewer, larger batches");
    finding_set_code(&finding, trace_code(pricing->trace, ADVICE_LOAD_DATA));
    finding_offer(pricing, FINDING_DATA_LOADING,
                  (struct offer){ .finding = finding,
                                  .subject = "data loading",
                                  .complete = alone ? complete_loading : NULL,
                                  .beside_ns = waits.mean_ns });
}

/* When the last launch began; INT64_MIN: there is none. */
static int64_t last_launch_ns(const struct trace *trace, const unsigned char *sorts)
{
    int64_t last_ns = INT64_MIN;
    for (event_id e = 0; e < trace->event_count; e++)
        if (event_is_call((enum event_kind)trace->kind[e]) &&
            (sorts[trace->name[e]] == CALL_LAUNCH || sorts[trace->name[e]] == CALL_GRAPH_LAUNCH) &&
            trace_start_ns(trace, e) > last_ns)
            last_ns = trace_start_ns(trace, e);
    return last_ns;
}

/* The longest wait after which nothing is launched any more: the end of the recording. */
static void find_end_wait(struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    struct findings *findings = pricing->findings;
    unsigned char *sorts = call_sorts_open(trace->names);
    for (name_id id = 0; id < names_count(trace->names); id++)
        if (attribution_is_graph_launch(names_text(trace->names, id)))
            sorts[id] = CALL_GRAPH_LAUNCH;
    int64_t last_ns = last_launch_ns(trace, sorts);
    for (event_id e = 0; e < trace->event_count && last_ns != INT64_MIN; e++) {
        bool waits = event_is_call((enum event_kind)trace->kind[e]) && sorts[trace->name[e]] == CALL_SYNC;
        if (!waits || trace_start_ns(trace, e) < last_ns || trace_dur_ns(trace, e) <= findings->end_wait_ns)
            continue;
        findings->end_wait_ns = trace_dur_ns(trace, e);
        findings->end_wait =
            (struct text){ trace_name(trace, e), names_length(trace->names, trace->name[e]) };
    }
    free(sorts);
}

/* The waits of an operator, which a change of it makes fewer of all together. */
struct op_waits {
    const struct stall_row *most,
        *longest; /* of its rows: saves most, blocked the host longest; NULL: none */
    int64_t blocked_ns, communication_ns, saving_ns;
};

/* Is it the communication, or the slower rank, that the waits are for? Then fewer waits save nothing. */
static bool are_for_communication(const struct op_waits *waits)
{
    return 2 * waits->communication_ns > waits->blocked_ns;
}

/* Is nearly all of the time at an end of the recording, or needed for what it waits for? */
static bool save_too_little(const struct op_waits *waits)
{
    enum { NEARLY_ALL = 10 };
    return waits->saving_ns <= waits->blocked_ns / NEARLY_ALL;
}

/* The row that says what is changed: that which saves most, unless nearly all of the time is that of another. */
static const struct stall_row *telling_row(const struct op_waits *waits)
{
    enum { NEARLY_ALL = 10 };
    return waits->most && waits->longest->blocked_ns / NEARLY_ALL > waits->most->blocked_ns ? waits->longest
                                                                                            : waits->most;
}

/* By the name of an operator; new, free with free(). */
static struct op_waits *waits_of_ops(const struct trace *trace, const struct transfers *transfers)
{
    struct op_waits *all = mem_zalloc(names_count(trace->names) + 1, sizeof *all);
    for (size_t i = 0; i < transfers->stalls.count; i++) {
        const struct stall_row *stall = &transfers->stalls.at[i];
        struct op_waits *of = &all[names_find(trace->names, stall->op.at, stall->op.len)];
        if (!of->most || stall->saving_ns > of->most->saving_ns)
            of->most = stall;
        if (!of->longest || stall->blocked_ns > of->longest->blocked_ns)
            of->longest = stall;
        sum_add(&of->blocked_ns, stall->blocked_ns);
        sum_add(&of->communication_ns, stall->communication_ns);
        sum_add(&of->saving_ns, stall->saving_ns);
    }
    return all;
}

/* Is it priced by a rule of its own: pinning, and copies of pageable memory to a device, which need no wait to go but pinned memory? */
static bool is_another_rule(const struct stall_row *stall)
{
    return stall->kind == WAIT_PINNING ||
           ((stall->kind == WAIT_PAGEABLE_COPY || stall->kind == WAIT_SYNC_COPY) &&
            stall->copy.direction == COPY_HTOD && stall->copy.memory == MEMORY_PAGEABLE);
}

/* Each operator that made the host wait is a finding of its own: the costliest few. */
static void find_waits(struct pricing *pricing)
{
    enum { MOST = 5 };
    struct findings *findings = pricing->findings;
    const struct transfers *transfers = pricing->summary->transfers;
    struct op_waits *waits = transfers ? waits_of_ops(pricing->trace, transfers) : NULL;
    size_t looked_at = 0;
    for (size_t i = 0; transfers && i < transfers->stalls.count && looked_at < MOST; i++) {
        const struct stall_row *first = &transfers->stalls.at[i];
        struct op_waits *of = &waits[names_find(pricing->trace->names, first->op.at, first->op.len)];
        const struct stall_row *stall = telling_row(of);
        of->most = NULL; /* once */
        if (!stall || save_too_little(of) || is_another_rule(stall) || are_for_communication(of))
            continue;
        looked_at++;
        struct buffer title = { 0 }, where = { 0 }, action = { 0 };
        buffer_printf(&title, "%s waits for the device", stall->op.at);
        buffer_printf(&action, "Wait less often in %s", stall->op.at);
        buffer_printf(&where, "%s, %s", stall->op.at, stall->cause.at);
        if (stall->transfer.at)
            buffer_printf(&where, " (%s)", stall->transfer.at);
        if (stall->line.at)
            buffer_printf(&where, ", %.*s", (int)stall->line.len, stall->line.at);
        const char *pattern = finding_pattern(pricing, stall->op);
        struct priced_finding finding = {
            .title = pricing_keep(pricing, &title),
            .where = pricing_keep(pricing, &where),
            .action = pricing_keep(pricing, &action),
            .advice =
                (struct text){ arena_strndup(arena_of(findings), stall->advice.at ? stall->advice.at : "",
                                             stall->advice.len),
                               stall->advice.len },
            .edit = { .kind = EDIT_NO_SYNC, .pattern = pattern, .pattern_len = strlen(pattern) }
        };
        finding_set_code(&finding, stall->code);
        finding_add(pricing, FINDING_HOST_WAIT, finding, NULL);
    }
    free(waits);
    pricing_offer(pricing, (struct offer){ .subject = "waits of the host",
                                           .unless = finding_rules[FINDING_HOST_WAIT].name });
}

/* Do the copies of FINDING take a device longer than all that is left without them? Then nothing hides them. */
static bool nothing_hides(const struct pricing *pricing, const struct priced_finding *finding)
{
    const struct account *account = pricing->summary->account;
    double now_ns = (double)(finding->then_ns + finding->saves_ns),
           devices = (double)gpu_events_of(pricing->trace)->device_count;
    double steps = account && account->has_steps ? fmax(1, (double)account->all.recorded_ns / now_ns) : 1;
    return (double)finding->time_ns / devices / steps > (double)finding->then_ns;
}

/* Callers are not cheap to find, and mostly nothing is. */
static void complete_copies(struct pricing *pricing, struct priced_finding *finding,
                            const struct offer *offer)
{
    if (finding->code.at && strcmp(finding->action.at, finding_rules[FINDING_PINNED_COPIES].action) == 0 &&
        nothing_hides(pricing, finding)) {
        finding->action = as_text("Copy less to the device");
        finding->advice =
            as_text("they take longer than all else, so nothing hides them: keep on the device what is used "
                    "again, copy smaller types, make on the device what can be made there");
        finding_set_code(finding, (struct code_change){ 0 });
    }
    struct buffer where = { 0 };
    buffer_puts(&where, names_text(pricing->trace->names, offer->place.name));
    place_add_caller(pricing->trace, &offer->place, &where);
    finding->where = pricing_keep(pricing, &where);
}

/* Copies that HOLDS says, called SUBJECT where they are not worth a change. Without an edit of its own FINDING is priced as if
 * those of the name that takes most time took none. */
static void find_copies_of(struct pricing *pricing, enum finding_rule rule, place_holds *holds,
                           struct priced_finding finding, struct code_change code, const char *subject)
{
    const struct place place = place_find(pricing->trace, holds);
    if (place.longest == EVENT_NONE) {
        pricing_add_quiet(pricing, subject);
        return;
    }
    finding_set_code(&finding, code);
    const char *name = names_text(pricing->trace->names, place.name);
    if (finding.edit.kind == EDIT_SCALE && !finding.edit.pattern) {
        const char *pattern = finding_pattern(pricing, as_text(name));
        finding.edit.pattern = pattern;
        finding.edit.pattern_len = strlen(pattern);
    }
    finding_offer(pricing, rule,
                  (struct offer){
                      .finding = finding, .subject = subject, .complete = complete_copies, .place = place });
}

/* A trace without such copies does not list the rule as one that found nothing: few traces have them. */
static void find_other_copies(struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    const struct place place = place_find(trace, is_other_copy);
    if (place.longest == EVENT_NONE)
        return;
    struct priced_finding finding = { .title = as_text("copies to the device"),
                                      .advice = as_text(trace_advice(trace, ADVICE_COPY_AHEAD)),
                                      .edit = { .kind = EDIT_SCALE, .target = TARGET_COPY } };
    struct code_change code = trace_code(trace, ADVICE_COPY_AHEAD);
    enum copy_direction direction = copy_kind_of(names_text(trace->names, place.name)).direction;
    if (direction == COPY_PTOP) {
        finding.title = as_text("copies between devices");
        finding.action = as_text("Copy less between devices");
        code = (struct code_change){ 0 };
    }
    if (direction == COPY_UNKNOWN) {
        code = trace_code(trace, ADVICE_COPY_EARLIER);
        finding.title = as_text("copies whose direction is not recorded");
        finding.advice = as_text(trace_advice(trace, ADVICE_COPY_EARLIER));
        /* What waits for a copy has a name of its own, so all go, unless others are among them. */
        if (place_find(trace, is_known_copy).longest == EVENT_NONE) {
            finding.edit.pattern = ".";
            finding.edit.pattern_len = 1;
        }
    }
    find_copies_of(pricing, FINDING_OTHER_COPIES, is_other_copy, finding, code, "other copies");
}

static void find_copies(struct pricing *pricing)
{
    const struct edit without = { .kind = EDIT_SCALE, .target = TARGET_COPY };
    bool of_xla = trace_framework(pricing->trace) == FRAMEWORK_XLA;
    if (pricing->summary->features & FEATURE_LAUNCHES && !of_xla)
        find_copies_of(
            pricing, FINDING_PAGEABLE_COPIES, is_pageable_upload,
            (struct priced_finding){ .title = as_text("copies from pageable memory block the host"),
                                     .advice = as_text(trace_advice(pricing->trace, ADVICE_PIN_BATCHES)),
                                     .edit = { .kind = EDIT_PINNED_COPIES } },
            trace_code(pricing->trace, ADVICE_PIN_BATCHES), "copies from pageable memory");
    find_copies_of(
        pricing, FINDING_PINNED_COPIES, of_xla ? is_upload : is_pinned_upload,
        (struct priced_finding){ .title = as_text(of_xla ? "copies to the device that are not made ahead"
                                                         : "copies from pinned memory to the device"),
                                 .advice = as_text(trace_advice(pricing->trace, ADVICE_COPY_AHEAD)),
                                 .edit = without },
        trace_code(pricing->trace, ADVICE_COPY_AHEAD),
        of_xla ? "copies to the device" : "copies from pinned memory");
    find_copies_of(
        pricing, FINDING_COPIES_TO_HOST, is_download,
        (struct priced_finding){
            .title = as_text("copies from the device to the host"),
            .advice = as_text("copy less: reduce on the device what the host reads, and read it less "
                              "often; or copy to pinned memory on a stream of its own, while the "
                              "device computes"),
            .edit = without },
        trace_code(pricing->trace, ADVICE_WAIT_FOR_NO_DOWNLOAD), "copies to the host");
    find_copies_of(pricing, FINDING_DEVICE_COPIES, is_copy_within,
                   (struct priced_finding){ .title = as_text("copies within the device"),
                                            .advice = as_text(trace_advice(pricing->trace, ADVICE_COPY_LESS)),
                                            .edit = without },
                   trace_code(pricing->trace, ADVICE_COPY_LESS), "copies within devices");
    find_other_copies(pricing);
}

/* A rule whose place is idle time of devices for some causes. */
struct idle_rule {
    enum finding_rule rule;
    const char *subject, *title;
    enum advice advice;
    enum edit_kind edit;
    enum gap_cause causes[4];
    size_t cause_count;
};

static const struct idle_rule launch_rule = { FINDING_LAUNCHES,
                                              "launches",
                                              "the host launches work too slowly",
                                              ADVICE_LAUNCH_LESS,
                                              EDIT_CUDA_GRAPH,
                                              { GAP_HOST, GAP_LAUNCH_LATENCY, GAP_LAUNCH_CALL },
                                              3 };

static const struct idle_rule first_use_rule = { FINDING_FIRST_USE,
                                                 "first use",
                                                 "first use: modules are loaded, kernels are chosen",
                                                 ADVICE_USE_ONCE,
                                                 EDIT_NO_FIRST_USE,
                                                 { GAP_FIRST_USE },
                                                 1 };

/* What to do about slow launches in a PyTorch program, by what it does. */
static const char *const launch_advice[WORKLOADS] = {
    /* others: as the rule says, or that of ranks */
    [WORKLOAD_UNKNOWN] =
        "capture what is repeated as CUDA graphs (torch.compile with mode=\"reduce-overhead\"); larger batches save a "
        "part of it",
    [WORKLOAD_VLLM] =
        "let vLLM replay the CUDA graphs that it captures: run without enforce_eager (--enforce-eager); capture the batch "
        "sizes that are served (cudagraph_capture_sizes); larger batches save a part of it",
    [WORKLOAD_SGLANG] =
        "let SGLang replay the CUDA graphs that it captures: run without --disable-cuda-graph; set a --cuda-graph-max-bs "
        "that covers the batches that are served; larger batches save a part of it",
    [WORKLOAD_INFERENCE] =
        "capture the forward pass as CUDA graphs (torch.compile with mode=\"reduce-overhead\"); larger batches save a "
        "part of it",
};

/* Collectives are captured under conditions only, so the price leaves them between the graphs. */
static const char *const launch_advice_of_ranks =
    "capture what lies between the collectives as CUDA graphs (torch.compile with mode=\"reduce-overhead\"); "
    "fused optimizers (fused=True) and larger batches save a part of it";

/* Is it a program that XLA compiled already? */
static bool is_jitted(const struct trace *trace)
{
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        if (strncmp(name, "PjitFunction", 12) == 0 || strncmp(name, "jit_", 4) == 0 ||
            strncmp(name, "jit(", 4) == 0)
            return true;
    }
    return false;
}

static const char *const launch_advice_of_jitted =
    "the program is jitted: let one program do several steps (jax.lax.scan); do not wait for each (block_until_ready, float(), "
    "printing); larger batches save a part of it";

static bool is_jitted_by_jax(const struct trace *trace)
{
    return trace_framework(trace) == FRAMEWORK_XLA && trace->files[0].producer != PRODUCER_TENSORFLOW &&
           is_jitted(trace);
}

/* The line of code that goes with advise_launches. */
static struct code_change code_of_launches(const struct pricing *pricing, const struct idle_rule *rule)
{
    enum workload job = workload_of(pricing->trace);
    if (rule->edit == EDIT_CUDA_GRAPH && is_jitted_by_jax(pricing->trace))
        return (struct code_change){ NULL, "jax.lax.scan(step, state, batches)" };
    if (rule->edit == EDIT_CUDA_GRAPH && job == WORKLOAD_VLLM)
        return (struct code_change){ "LLM(..., enforce_eager=True)", "LLM(..., enforce_eager=False)" };
    if (rule->edit == EDIT_CUDA_GRAPH && job == WORKLOAD_SGLANG)
        return (struct code_change){ "--disable-cuda-graph", "--cuda-graph-max-bs N" };
    return trace_code(pricing->trace, rule->advice);
}

static struct text advise_launches(const struct pricing *pricing, const struct idle_rule *rule)
{
    enum workload job = workload_of(pricing->trace);
    if (rule->edit == EDIT_CUDA_GRAPH && is_jitted_by_jax(pricing->trace))
        return as_text(launch_advice_of_jitted);
    bool has_cuda = device_type_has_cuda(trace_device_type(pricing->trace));
    if (rule->edit != EDIT_CUDA_GRAPH || !has_cuda || trace_framework(pricing->trace) != FRAMEWORK_TORCH)
        return as_text(trace_advice(pricing->trace, rule->advice));
    if (launch_advice[job])
        return as_text(launch_advice[job]);
    bool among_ranks = place_find(pricing->trace, is_communication).longest != EVENT_NONE;
    return as_text(among_ranks ? launch_advice_of_ranks : trace_advice(pricing->trace, rule->advice));
}

/* Is what was recorded so short that what is done at first use is of its first steps? */
static bool is_of_first_steps(const struct trace *trace)
{
    enum { FIRST_STEPS = 2 };
    return step_list_of(trace)->count <= FIRST_STEPS * (size_t)trace->file_count;
}

/* WHERE is used up, and the ranks are added to it. */
static void find_idle_time(struct pricing *pricing, const struct idle_rule *rule, struct buffer where,
                           const char *place)
{
    double *shares = shares_of_idle_time(pricing->summary, rule->causes, rule->cause_count);
    struct buffer ranks = { 0 };
    shares_add_ranks(pricing->summary, shares, &ranks);
    if (ranks.count)
        buffer_printf(&where, "%sdevices idle for it %.*s", where.count ? "; " : "", (int)ranks.count,
                      ranks.at);
    buffer_release(&ranks);
    free(shares);
    if (rule->edit == EDIT_CUDA_GRAPH && idle_time_for(pricing->summary, rule->causes, rule->cause_count) ==
                                             0) { /* no device idled for a launch */
        buffer_release(&where);
        pricing_add_quiet(pricing, rule->subject);
        return;
    }
    struct priced_finding finding = { .title = as_text(rule->title),
                                      .where = pricing_keep(pricing, &where),
                                      .place = as_text(place),
                                      .advice = advise_launches(pricing, rule),
                                      .edit = { .kind = rule->edit } };
    finding_set_code(&finding, code_of_launches(pricing, rule));
    finding.once = rule->edit == EDIT_NO_FIRST_USE && is_of_first_steps(pricing->trace);
    if (finding.once)
        finding.action = as_text("Record later steps, which load nothing");
    finding_offer(pricing, rule->rule,
                  (struct offer){ .finding = finding,
                                  .subject = rule->subject,
                                  /* launches that load code are long, and fewer of them load no less */
                                  .part_of = rule->rule == FINDING_LAUNCHES
                                                 ? finding_rules[FINDING_FIRST_USE].name
                                                 : NULL });
}

static void find_first_use(struct pricing *pricing)
{
    if (idle_time_for(pricing->summary, first_use_rule.causes, first_use_rule.cause_count) == 0) {
        pricing_add_quiet(pricing, first_use_rule.subject);
        return;
    }
    event_id longest = place_first_use(pricing->trace);
    struct buffer where = { 0 };
    if (longest != EVENT_NONE) {
        buffer_printf(&where, "longest: %s, ", trace_name(pricing->trace, longest));
        quantity_append_rounded_time(&where, (double)trace_dur_ns(pricing->trace, longest));
        place_add_caller_of(pricing->trace, longest, &where);
    }
    find_idle_time(pricing, &first_use_rule, where,
                   longest == EVENT_NONE ? NULL : trace_name(pricing->trace, longest));
}

/* What a caching allocator requests in its first steps, it keeps. */
static const char *const allocation_advice_at_first =
    "leave the first steps, which allocate what later ones reuse, out of the recording (schedule(wait=..., warmup=...)); "
    "if it goes on, keep shapes constant, and do not call empty_cache() in the loop";

/* Is all pinning before the first call that launched work of a device, or after the last? Then it is done once. */
static bool pins_around_work_alone(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    for (size_t i = 0; i < gpu->count; i++) {
        if (gpu->call[i] == EVENT_NONE)
            continue;
        int64_t launched_ns = trace_start_ns(trace, gpu->call[i]);
        first_ns = launched_ns < first_ns ? launched_ns : first_ns;
        last_ns = launched_ns > last_ns ? launched_ns : last_ns;
    }
    for (event_id e = 0; e < trace->event_count; e++)
        if (is_pinning(trace, e) && trace_start_ns(trace, e) > first_ns && trace_start_ns(trace, e) < last_ns)
            return false;
    return true;
}

static void advise_allocation(const struct pricing *pricing, bool pins, struct priced_finding *finding)
{
    const struct trace *trace = pricing->trace;
    enum advice advice = pins ? ADVICE_PIN_ONCE : ADVICE_ALLOCATE_LESS;
    finding->advice = as_text(trace_advice(trace, advice));
    finding_set_code(finding, trace_code(trace, advice));
    if (pins)
        finding->action = as_text("Pin memory once");
    if (pins && trace->file_count == 1 && pins_around_work_alone(trace)) {
        finding->action = as_text("Pin less memory");
        finding->advice = as_text(
            "pin smaller buffers that are used again, or copy from pageable memory; it is pinned once, and takes longer "
            "than what it saves in few copies");
        finding_set_code(finding, (struct code_change){ NULL, NULL });
    }
    if (pins || trace_framework(trace) != FRAMEWORK_TORCH || !is_of_first_steps(trace))
        return;
    finding->action = as_text("Record later steps, which allocate less");
    finding->advice = as_text(allocation_advice_at_first);
    finding_set_code(finding, trace_code(trace, ADVICE_USE_ONCE));
}

/* After first use: much of it may be just that. Devices need not idle for memory that is pinned, but the host is kept. */
static void find_allocation(struct pricing *pricing)
{
    static const enum gap_cause cause = GAP_ALLOCATION;
    const struct summary *summary = pricing->summary;
    struct place all = place_find(pricing->trace, is_allocation),
                 pinned = place_find(pricing->trace, is_pinning);
    if (all.longest == EVENT_NONE || (idle_time_for(summary, &cause, 1) == 0 && pinned.time_ns == 0)) {
        pricing_add_quiet(pricing, "allocation");
        return;
    }
    bool pins = pinned.all_ns > all.all_ns - pinned.all_ns;
    struct buffer title = { 0 }, where = { 0 };
    bool pins_alone = pinned.all_ns == all.all_ns;
    buffer_printf(&title, "%s%s",
                  !pins        ? "memory is allocated by the driver"
                  : pins_alone ? "host memory is pinned"
                               : "host memory is pinned, and memory of devices allocated",
                  pricing->findings->has_steps ? " in the steps" : "");
    buffer_printf(&where, "%s%s", pins && !pins_alone && 2 * all.time_ns > all.all_ns ? "mostly " : "",
                  names_text(pricing->trace->names, all.name));
    place_add_caller(pricing->trace, &all, &where);
    double *shares = shares_of_idle_time(summary, &cause, 1);
    shares_add_ranks(summary, shares, &where);
    free(shares);
    struct priced_finding finding = { .title = pricing_keep(pricing, &title),
                                      .where = pricing_keep(pricing, &where),
                                      .edit = { .kind = EDIT_NO_ALLOC } };
    advise_allocation(pricing, pins, &finding);
    finding_offer(pricing, FINDING_ALLOCATION,
                  (struct offer){ .finding = finding,
                                  .subject = "allocation",
                                  .part_of = finding_rules[FINDING_FIRST_USE].name });
}

static size_t steps_of_rank(const struct trace *trace, int64_t rank)
{
    const struct step_list *steps = step_list_of(trace);
    size_t count = 0;
    for (size_t i = 0; i < steps->count; i++)
        count += selection_rank(trace, steps->at[i].file) == rank;
    return count;
}

/* What to do about communication, in the words of what the program was written with, and for what it does. */
static struct text advise_overlap(const struct pricing *pricing)
{
    static const char *const of_one_rank =
        "start it earlier and wait later (DDP buckets, FSDP prefetch), or send less: accumulate or compress gradients. Part of "
        "it may be waiting for slower ranks, which the traces of all would show";
    static const char *const of_inference =
        "split over fewer devices, use a custom or NVLS all-reduce, or overlap two half batches";
    const char *advice = trace_advice(pricing->trace, ADVICE_OVERLAP);
    if (trace_framework(pricing->trace) != FRAMEWORK_TORCH)
        return as_text(advice);
    if (workload_of(pricing->trace) > WORKLOAD_TRAINING)
        return as_text(of_inference);
    return as_text(pricing->summary->rank_count < 2 ? of_one_rank : advice);
}

/* What to do about a rank that does something longer: what comes before and after its number, and how. */
static const struct {
    const char *before, *after, *advice;
} of_slow_rank[] = {
    [LONGER_UNKNOWN] = { "See what rank ", " does longer",
                         "the recording does not show it: record operators and Python's calls of all ranks "
                         "(with_stack=True); tpa comm shows how late it is at each collective" },
    [LONGER_DEVICE] = { "Check the device of rank ", "",
                        "all kernels take longer on that rank: look at the clocks, temperature, power limit and "
                        "other processes of its device, or use another" },
    [LONGER_KERNELS] = { "Give rank ", " as much work as the others",
                         "that rank computes more often: batches of one size and length, layers and experts "
                         "split evenly" },
    [LONGER_KERNEL] = { "Even out the work of rank ", "",
                        "a kernel takes longer on that rank: larger inputs (record_shapes=True shows them), or a "
                        "slower device: clocks, temperature, other processes" },
    [LONGER_LOADING] = { "Load the batches of rank ", " faster",
                         "the others have theirs in time: look at the storage and host of that rank, its "
                         "num_workers, and how long its samples are" },
    [LONGER_EVENT] = { "See why the host of rank ", " is slow",
                       "look at what takes longer on that rank: larger inputs (record_shapes=True shows them), other "
                       "processes on its host, affinity, garbage collection" },
};

/* Add what DIFFERENCE is, of a rank with so many STEPS: ": gemm takes 27.9ms of a step longer than on the others". */
static void add_difference(const struct trace *trace, const struct rank_difference *difference, size_t steps,
                           struct buffer *out)
{
    const char *name = difference->name == NAME_NONE ? "" : names_text(trace->names, difference->name);
    double each = steps ? (double)steps : 1;
    if (difference->longer == LONGER_UNKNOWN)
        return;
    if (difference->longer == LONGER_DEVICE) {
        buffer_printf(out, ": its kernels take %.3g %% longer than the same on the others",
                      100 * (difference->pace - 1));
        return;
    }
    if (difference->longer == LONGER_KERNELS)
        buffer_printf(out, ": it runs %.3g kernels more%s, mostly ", difference->more / each,
                      steps ? " in a step" : "");
    else
        buffer_puts(out, ": ");
    if (!demangle_name(out, name))
        buffer_puts(out, name);
    if (difference->longer == LONGER_KERNELS)
        return;
    buffer_puts(out, "; it takes ");
    quantity_append_rounded_time(out, (double)difference->time_ns / each);
    buffer_printf(out, "%s longer than on the others", steps ? " of a step" : "");
}

/* Let FINDING name the rank that the others waited for longest, what it does longer, and what to do about that; nothing where it is
 * not known. */
static void name_latest_rank(struct pricing *pricing, struct priced_finding *finding)
{
    const struct summary *summary = pricing->summary;
    const struct comm *comm = summary->comm;
    const struct comm_blame *latest = comm && comm->blame.count > 1 ? comm->blame.at : NULL;
    struct buffer where = { 0 }, action = { 0 }, advice = { 0 }, with = { 0 };
    if (!latest || latest->caused_ns == 0 ||
        summary->trace->file_count >
            summary->rank_count) /* of cycles, meetings are known of the first alone */
        return;
    if (comm->in_turn) {
        finding->where = as_text("in turn: no rank is slower than the rest");
        finding->action = as_text(summary_rules[RULE_TURNS].action);
        finding->advice = as_text(summary_rules[RULE_TURNS].advice);
        return;
    }
    int64_t late_ns = latest->caused_ns / ((int64_t)comm->blame.count - 1);
    struct rank_difference difference = rank_difference_of(summary, latest->rank, late_ns);
    buffer_printf(&where, "mostly rank %lld", (long long)latest->rank);
    add_difference(summary->trace, &difference, steps_of_rank(summary->trace, latest->rank), &where);
    buffer_puts(&advice, of_slow_rank[difference.longer].advice);
    if (comm->blame.at[1].caused_ns > latest->caused_ns / 10) { /* what the replay evens out, too */
        buffer_printf(&with, "rank %lld in time", (long long)comm->blame.at[1].rank);
        buffer_printf(&advice, "; the price is with %s, too", with.at);
        finding->with = pricing_keep(pricing, &with);
    }
    buffer_printf(&action, "%s%lld%s", of_slow_rank[difference.longer].before, (long long)latest->rank,
                  of_slow_rank[difference.longer].after);
    finding->where = pricing_keep(pricing, &where);
    finding->action = pricing_keep(pricing, &action);
    finding->advice = pricing_keep(pricing, &advice);
    if (difference.name != NAME_NONE)
        finding->place = as_text(names_text(summary->trace->names, difference.name));
}

/* What FINDING saves at the ends of the interval of what contention costs, where that was measured. */
static void complete_contention(struct pricing *pricing, struct priced_finding *finding,
                                const struct offer *offer)
{
    const struct contention_sum *sum = contention_communication(contention_of(pricing->trace));
    struct buffer advice = { 0 };
    if (finding->edit.kind == EDIT_OVERLAP_COMM && (!sum || !sum->judged_pairs))
        return;
    for (int bound = -1; bound <= 1; bound += 2) {
        struct edit edit = finding->edit;
        edit.bound = bound;
        struct step_gain gain = pricing_gain(pricing, &edit);
        int64_t saves_ns = gain.now_ns - gain.then_ns;
        if (finding->saves_low_ns == TABLE_INT_MISSING || saves_ns < finding->saves_low_ns)
            finding->saves_low_ns = saves_ns;
        if (finding->saves_high_ns == TABLE_INT_MISSING || saves_ns > finding->saves_high_ns)
            finding->saves_high_ns = saves_ns;
    }
    if ((double)(finding->saves_high_ns - finding->saves_low_ns) <
        FINDINGS_LEAST_SHARE * (double)offer->gain.now_ns)
        return;
    buffer_add(&advice, offer->finding.advice.at, offer->finding.advice.len);
    buffer_puts(&advice, ". By what overlap costs, it saves ");
    quantity_append_rounded_time(&advice, (double)finding->saves_low_ns);
    buffer_puts(&advice, " to ");
    quantity_append_rounded_time(&advice, (double)finding->saves_high_ns);
    finding->advice = pricing_keep(pricing, &advice);
}

/* Do devices do nothing but communicate, so that there is nothing to hide it behind? */
static bool only_communicates(const struct gpu *gpu)
{
    return gpu && !ANY(i, gpu->count, gpu->at[i].computation_ns > 0);
}

static void find_communication(struct pricing *pricing)
{
    struct place place = place_find(pricing->trace, is_communication);
    if (place.longest == EVENT_NONE || only_communicates(pricing->summary->gpu))
        return;
    if (pricing->summary->pipeline_ns > 0)
        return; /* the waits are among its stages */
    if (summary_is_pipeline(pricing->summary)) {
        pricing->findings->unpriced = "waits of a pipeline's stages (tpa job)";
        finding_add_blind(pricing, "waits of a pipeline's stages", "tpa job tells which holds the others up");
        return;
    }
    struct buffer where = { 0 };
    buffer_puts(&where, names_text(pricing->trace->names, place.name));
    double *shares = shares_of_ranks(pricing->summary, is_communication);
    shares_add_ranks(pricing->summary, shares, &where);
    free(shares);
    bool alone = pricing->summary->rank_count < 2 &&
                 !event_on_device((enum event_kind)pricing->trace->kind[place.longest]);
    struct priced_finding finding = { .title = as_text("communication is not hidden behind computation"),
                                      .where = pricing_keep(pricing, &where),
                                      .advice = advise_overlap(pricing),
                                      .edit = { .kind = EDIT_OVERLAP_COMM } };
    finding_set_code(&finding, trace_code(pricing->trace, ADVICE_OVERLAP));
    /* Alone: which gap of the loop waited for it is known of matched ranks alone. */
    const char *ranks = pricing->summary->features & FEATURE_RANKS
                            ? NULL
                            : trace_feature_recipe(pricing->trace, FEATURE_RANKS);
    finding_offer(pricing, FINDING_COMMUNICATION,
                  (struct offer){ .finding = finding,
                                  .subject = alone ? "communication on the host" : "communication",
                                  .because = alone ? ranks : NULL,
                                  .complete = complete_contention,
                                  .unpriced = alone });
    if (pricing->summary->rank_count < 2)
        return;
    struct priced_finding slow = { .title = as_text("ranks wait for slower ones"),
                                   .advice = as_text("look at what the slower ranks do: their share of the "
                                                     "work, their data, their machine (tpa comm)"),
                                   .edit = { .kind = EDIT_RANKS_LIKE_MEDIAN } };
    name_latest_rank(pricing, &slow);
    finding_add(pricing, FINDING_SLOW_RANKS, slow, "slow ranks");
}

/* What costs computation most by running beside it, if that is proven. */
static void find_contention(struct pricing *pricing)
{
    static const char *const advice[BESIDE_KINDS] = {
        [BESIDE_COMMUNICATION] =
            ("fewer channels (NCCL_MAX_CTAS, NCCL_MAX_NCHANNELS), collectives of copy engines or NVLS, larger "
             "or later buckets"),
        [BESIDE_KERNEL] = "run these kernels one after the other, or with fewer blocks",
        [BESIDE_COPY] = "copy less, or while the device waits",
        [BESIDE_MEMSET] = "clear less memory, or while the device waits",
    };
    bool has_cuda = device_type_has_cuda(trace_device_type(pricing->trace));
    const struct contention *contention = contention_of(pricing->trace);
    const struct contention_sum *most = NULL;
    const struct contention_pair *kernel = NULL;
    for (size_t i = 0; i < contention->sums.count; i++) {
        const struct contention_sum *sum = &contention->sums.at[i];
        if (sum->judged_pairs && sum->lost_low_ns > 0 && sum->beside_kind.at &&
            (!most || sum->lost_ns > most->lost_ns))
            most = sum;
    }
    if (!most)
        return;
    for (size_t i = 0; i < contention->pairs.count; i++) {
        const struct contention_pair *pair = &contention->pairs.at[i];
        if (pair->slower && contention_pair_kind(contention, pair) == most->kind &&
            (!kernel || pair->lost_ns > kernel->lost_ns))
            kernel = pair;
    }
    struct buffer title = { 0 }, where = { 0 };
    buffer_printf(&title, "computation runs %.2f times slower beside %.*s", most->factor,
                  (int)(most->beside.at ? most->beside.len : most->beside_kind.len),
                  most->beside.at ? most->beside.at : most->beside_kind.at);
    if (kernel)
        buffer_add(&where, kernel->name.at, kernel->name.len);
    struct priced_finding finding = { .title = pricing_keep(pricing, &title),
                                      .advice = as_text(most->kind == BESIDE_COMMUNICATION && !has_cuda
                                                            ? "larger or later buckets"
                                                            : advice[most->kind]),
                                      .edit = { .kind = EDIT_NO_CONTENTION } };
    if (where.count)
        finding.where = pricing_keep(pricing, &where);
    buffer_release(&where);
    finding_offer(
        pricing, FINDING_CONTENTION,
        (struct offer){ .finding = finding, .subject = "contention", .complete = complete_contention });
}

/* Is NAME an annotation? Half of it is half of what runs in it, too. */
static bool is_annotation(const struct trace *trace, const char *name)
{
    name_id id = names_find(trace->names, name, strlen(name));
    for (event_id e = 0; e < trace->event_count; e++)
        if (trace->name[e] == id)
            return trace->kind[e] == EVENT_ANNOTATION;
    return false;
}

/* The work of devices, without communication, or else what the host does itself, that takes longest; without a pattern: nothing. */
static struct edit edit_of_longest(struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    const struct summary *summary = pricing->summary;
    const struct gpu_events *gpu = gpu_events_of(trace);
    struct edit edit = { .kind = EDIT_SCALE, .factor = 0.5 };
    int64_t *sums = mem_zalloc(names_count(trace->names) + 1, sizeof *sums);
    event_id longest = EVENT_NONE;
    for (size_t i = 0; i < gpu->count; i++) {
        event_id e = gpu->event[i];
        if (gpu_work_communicates(gpu->work[i]))
            continue;
        sums[trace->name[e]] += trace_dur_ns(trace, e);
        if (longest == EVENT_NONE || sums[trace->name[e]] > sums[trace->name[longest]])
            longest = e;
    }
    free(sums);
    const char *name = longest == EVENT_NONE ? NULL : trace_name(trace, longest);
    edit.target = name ? trace->kind[longest] == EVENT_KERNEL ? TARGET_KERNEL : TARGET_COPY : TARGET_NAME;
    for (size_t i = 0; !summary->gpu && !name && i < summary->top_count; i++)
        if (summary->top[i].named && !finding_is_of_program(pricing, summary->top[i].name) &&
            !is_annotation(trace, summary->top[i].name))
            name = summary->top[i].name;
    if (name) {
        edit.pattern = finding_pattern(pricing, as_text(name));
        edit.pattern_len = strlen(edit.pattern);
        pricing->findings->longest_name = as_text(name);
    }
    return edit;
}

/* The longest run of the kernel NAME, as a place in GPU; SIZE_MAX: none. */
static size_t longest_run_of(const struct trace *trace, const struct gpu_events *gpu, name_id name)
{
    size_t longest = SIZE_MAX;
    for (size_t i = 0; i < gpu->count; i++)
        if (trace->name[gpu->event[i]] == name && gpu_work_is_kernel(gpu->work[i]) &&
            (longest == SIZE_MAX ||
             trace_dur_ns(trace, gpu->event[i]) > trace_dur_ns(trace, gpu->event[longest])))
            longest = i;
    return longest;
}

/* The threads of BLOCK, "[32, 4, 1]": 128; 0: it says something else. NULL is allowed. */
static long threads_of(const char *block)
{
    enum { MOST_THREADS = 1024 };
    long threads = 1;
    for (int dimension = 0; dimension < 3; dimension++) {
        char *end = NULL;
        long size = block && (*block == '[' || *block == ',') ? strtol(block + 1, &end, 10) : 0;
        threads = size > 0 && size <= MOST_THREADS / threads ? threads * size : 0;
        if (!threads)
            return 0;
        block = end;
    }
    return strcmp(block, "]") == 0 ? threads : 0;
}

/* "its 1 block of 1 thread leaves most of the 108 multiprocessors idle: compute in more blocks", if that is so of kernel E on DEVICE. */
static void advise_more_blocks(const struct trace *trace, const struct gpu_device *device, event_id e,
                               struct buffer *advice)
{
    struct arg_scan spread = arg_scan_of(trace, ARG_BLOCKS_PER_SM);
    int units = device->properties ? device->properties->sm_count : 0;
    double share = units > 0 ? arg_scan_decimal(&spread, e) : NAN;
    long threads = threads_of(trace_arg_text(trace, ARG_BLOCK, e));
    if (!(share > 0) || share > 0.5)
        return;
    long blocks = lround(fmax(share * units, 1));
    buffer_printf(advice, "its %ld block%s", blocks, blocks == 1 ? "" : "s");
    if (threads)
        buffer_printf(advice, " of %ld thread%s", threads, threads == 1 ? "" : "s");
    buffer_printf(advice, " leave%s most of the %d multiprocessors idle: compute in more blocks",
                  blocks == 1 ? "s" : "", units);
}

/* What to do about the kernel NAME, which takes longest, if the recording tells. Missing where it does not. */
static struct text advise_longest(struct pricing *pricing, name_id name)
{
    const double worth_a_word = 0.001;
    const struct trace *trace = pricing->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    size_t longest = longest_run_of(trace, gpu, name);
    struct buffer advice = { 0 };
    if (longest == SIZE_MAX)
        return (struct text){ 0 };
    event_id e = gpu->event[longest];
    const struct gpu_device *device = &gpu->devices[gpu->device_of_track[trace->track[e]]];
    int64_t moving_ns = intervals_length_within(&page_moves_of(trace)->by_kernels[device->file],
                                                trace_start_ns(trace, e), trace_end_ns(trace, e));
    advise_more_blocks(trace, device, e, &advice);
    if ((double)moving_ns > worth_a_word * (double)trace_dur_ns(trace, e)) {
        buffer_printf(&advice, "%spages of unified memory move for ", advice.count ? "; " : "");
        quantity_append_rounded_time(&advice, (double)moving_ns);
        buffer_puts(
            &advice,
            " while it runs, and it waits for each: move them before (cudaMemPrefetchAsync, cudaMemAdvise)");
    }
    return pricing_keep(pricing, &advice);
}

/* What takes longest is priced if halving it saves more than this: without changes than the longest pause to be explained, which saves
 * nothing yet; with changes than all findings alone. INT64_MAX: where devices worked, changes are the answer. */
static int64_t saved_by_others(const struct pricing *pricing)
{
    const struct findings *findings = pricing->findings;
    int64_t most_ns = 0, all_ns = 0;
    for (size_t i = 0; i < findings->count; i++) {
        most_ns = findings->at[i].saves_ns > most_ns ? findings->at[i].saves_ns : most_ns;
        sum_add(&all_ns, findings->at[i].saves_ns);
    }
    return findings_are_pauses(findings) ? most_ns : pricing->summary->gpu ? INT64_MAX : all_ns;
}

/* Where no rule finds a change, or only small ones elsewhere, what would pay is to make that faster which takes longest. */
static void find_longest(struct pricing *pricing)
{
    int64_t others_ns = saved_by_others(pricing);
    if (others_ns == INT64_MAX)
        return;
    struct edit edit = edit_of_longest(pricing);
    struct step_gain gain = edit.pattern ? pricing_gain(pricing, &edit) : (struct step_gain){ 0 };
    double share = gain.now_ns > 0 ? (double)(gain.now_ns - gain.then_ns) / (double)gain.now_ns : 0;
    if (share < FINDINGS_LEAST_SHARE || gain.now_ns - gain.then_ns <= others_ns)
        return;
    enum { MOST_COLUMNS = 120 };
    struct buffer command = { 0 };
    buffer_puts(&command, "tpa whatif");
    pricing_add_option(pricing, &edit, &command);
    if (command.count > MOST_COLUMNS) { /* a name that only its end tells from others */
        buffer_release(&command);
        buffer_puts(&command, "tpa kernels --limit 1");
    }
    if (edit.target == TARGET_KERNEL)
        pricing->findings->longest_advice =
            advise_longest(pricing, names_find(pricing->trace->names, pricing->findings->longest_name.at,
                                               pricing->findings->longest_name.len));
    pricing->findings->half = pricing_keep(pricing, &command);
    pricing->findings->half_saves_share = share;
    pricing->findings->half_saves_ns = gain.now_ns - gain.then_ns;
    pricing->findings->longest = edit.target == TARGET_KERNEL ? "kernel"
                                 : edit.target == TARGET_COPY ? "copy"
                                                              : "operation";
}

static void find_launches(struct pricing *pricing)
{
    if (pricing->findings->is_capture)
        finding_add_blind(pricing, "launches",
                          "most of the recording is the capture of a graph: record its launches");
    else
        find_idle_time(pricing, &launch_rule, (struct buffer){ 0 }, NULL);
}

static void finding_rules_find_devices(struct pricing *pricing)
{
    bool has_calls = pricing->summary->features & FEATURE_LAUNCHES;
    if (has_calls) {
        find_end_wait(pricing);
        find_waits(pricing);
    }
    find_copies(pricing);
    if (has_calls) {
        find_first_use(pricing);
        find_allocation(pricing);
    }
    finding_add_tensor_cores(pricing);
    finding_add_fusion(pricing);
    finding_add_slow_operators(pricing);
}

/* Did a rule without a price (rules.h), FIRST or SECOND, find something? */
static bool is_remarked(const struct summary *summary, enum rule first, enum rule second)
{
    for (size_t i = 0; i < summary->findings.count; i++)
        if (summary->findings.at[i].rule == first || summary->findings.at[i].rule == second)
            return true;
    return false;
}

/* Those that looked and found nothing. */
static void add_quiet_remarks(struct pricing *pricing)
{
    const struct summary *summary = pricing->summary;
    bool has_steps = false;
    for (size_t i = 0; summary->steps && i < summary->steps->summaries.count; i++)
        has_steps |= summary->steps->summaries.at[i].complete >= RULES_LEAST_STEPS;
    if (has_steps && !is_remarked(summary, RULE_SLOW_STEP, RULE_SLOW_STEP))
        pricing_add_quiet(pricing, "uneven steps");
    if (summary->memory && !is_remarked(summary, RULE_MEMORY_FULL, RULE_MEMORY_GROWS))
        pricing_add_quiet(pricing, "memory");
}

static bool has_found_calls(const struct findings *findings)
{
    for (size_t i = 0; i < findings->count; i++)
        for (size_t rule = 0; rule < FINDING_RULES; rule++)
            if (finding_rules[rule].is_called &&
                strcmp(findings->at[i].rule.at, finding_rules[rule].name) == 0)
                return true;
    return false;
}

static void add_missing_features(struct pricing *pricing)
{
    bool has_devices = pricing->summary->gpu != NULL;
    pricing_add_blind(pricing, FEATURE_GPU, "GPU work");
    bool has_tensor_cores = has_devices && device_type_has_cuda(trace_device_type(pricing->trace));
    if (!has_operators_or_ranges(pricing))
        pricing_add_blind(pricing, FEATURE_OPS,
                          has_tensor_cores ? "data loading, tensor cores" : "data loading");
    else if (has_tensor_cores)
        pricing_add_blind(pricing, FEATURE_OPS, "tensor cores");
    pricing_add_blind(pricing, FEATURE_STEPS, "prices of a step");
    pricing_add_blind(pricing, FEATURE_RANKS, "slow ranks");
    if (has_devices) {
        pricing_add_blind(pricing, FEATURE_LAUNCHES,
                          "launches, waits, pageable copies, allocation, first use");
        pricing_add_blind(pricing, FEATURE_SHAPES, "fusion, operators below the peak");
    }
    pricing_add_blind(pricing, FEATURE_MEMORY, "memory");
    if (has_found_calls(pricing->findings) && trace_framework(pricing->trace) == FRAMEWORK_TORCH)
        pricing_add_blind(pricing, FEATURE_STACKS, "lines of source");
}

/* Where most of a recording is the capture of a graph, the host launches nothing, once. */
static bool is_of_a_capture(const struct pricing *pricing)
{
    const struct capture_times *captures = capture_times_of(pricing->trace);
    int64_t capture_ns = 0, all_ns = 0;
    for (uint32_t f = 0; f < pricing->trace->file_count; f++) {
        sum_add(&capture_ns, intervals_length(&captures->of_file[f]));
        sum_add(&all_ns, summary_file_time(pricing->summary, f));
    }
    return capture_ns > all_ns / 2;
}

/* Is the host what a step waits for, as far as the recording tells? Not while it captures a graph, which is done once; nor where the
 * first work of a recording without steps waited for work of before. */
static bool may_price_host_time(const struct pricing *pricing)
{
    const struct summary *summary = pricing->summary;
    int64_t ignored_ns = 0;
    return (summary->features & FEATURE_OPS || summary->gpu) && !pricing->findings->is_capture &&
           (pricing->findings->has_steps || !summary->gpu || unexplained_start_ns(summary, &ignored_ns) == 0);
}

void finding_rules_look(struct pricing *pricing)
{
    const struct summary *summary = pricing->summary;
    pricing->findings->is_capture = is_of_a_capture(pricing);
    find_data_loading(pricing);
    finding_add_compilation(pricing);
    if (may_price_host_time(pricing))
        finding_add_host_time(pricing);
    finding_add_attention(pricing);
    finding_add_recomputation(pricing);
    finding_add_optimizer(pricing);
    finding_add_avoidable(pricing);
    if (summary->gpu)
        finding_rules_find_devices(pricing);
    else {
        finding_add_host_fusion(pricing);
        finding_add_slow_calls(pricing);
    }
    find_communication(pricing);
    if (summary->gpu)
        find_contention(pricing);
    if (summary->gpu && summary->features & FEATURE_LAUNCHES)
        find_launches(pricing);
    add_quiet_remarks(pricing);
    pricing_settle(pricing);
    find_longest(pricing);
    add_missing_features(pricing);
}
