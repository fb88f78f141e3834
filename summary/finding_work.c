#include "summary/finding_work.h"
#include "analyze/host_chains.h"

#include "analyze/roofline.h"
#include "analyze/sequences/sequences.h"
#include "analyze/unfused_attention.h"
#include "base/quantity.h"
#include "derive/advice.h"
#include "derive/callers.h"
#include "derive/device_types.h"
#include "derive/features.h"
#include "derive/gpu_names.h"
#include "summary/finding_kit.h"
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* "products without tensor cores, priced as in TF32: 156 TFLOP/s for 19.5" */
static struct text tensor_title(struct pricing *pricing, const struct tensor_cores *found)
{
    struct buffer title = { 0 };
    const char *rate = found->rate == PEAK_TF32 ? "TF32" : "float16";
    buffer_printf(&title, "products without tensor cores, priced as in %s: ", rate);
    if (found->then > 0)
        buffer_printf(&title, "%.4g TFLOP/s for %.4g", found->then / 1e12, found->now / 1e12);
    else
        buffer_puts(&title, "half the time, as peaks are unknown");
    return pricing_keep(pricing, &title);
}

/* Kernels of matrix products that run without tensor cores, where the device has some: at the peak of these. */
void finding_add_tensor_cores(struct pricing *pricing)
{
    const struct trace *trace = pricing->trace;
    const struct tensor_cores *found = &roofline_of(trace)->tensor_cores;
    enum advice advice = found->rate == PEAK_FP16 ? ADVICE_MATRIX_HALF : ADVICE_MATRIX_PRECISION;
    bool has_operators =
        pricing->summary->features & FEATURE_OPS; /* else that is said of all that lacks them */
    if (found->time_ns * 20 > found->kernels_ns)  /* 5 % or less is not looked at */
        finding_add(pricing, FINDING_TENSOR_CORES,
                    (struct priced_finding){ .code = as_text(trace_code(trace, advice).now),
                                             .title = tensor_title(pricing, found),
                                             .where = as_text(names_text(trace->names, found->longest)),
                                             .advice = as_text(trace_advice(trace, advice)),
                                             .edit = { .kind = EDIT_TENSOR_CORES } },
                    "tensor cores");
    else if (!device_type_has_cuda(trace_device_type(trace)))
        return; /* others call them otherwise, and nothing tells which kernels run on them */
    else if (has_operators && !found->knows_device)
        finding_add_blind(pricing, "tensor cores", "the trace does not record which device it was");
    else if (has_operators)
        pricing_add_quiet(pricing, "tensor cores");
}

/* What the slowest operator of ROOFLINE, by the time it could win, is called. */
static void name_slowest(const struct roofline *roofline, struct buffer *name)
{
    const struct roofline_row *most = NULL;
    for (size_t i = 0; i < roofline->rows.count; i++) {
        const struct roofline_row *row = &roofline->rows.at[i];
        if (row->share < ROOFLINE_SLOW && (!most || row->won_ns > most->won_ns))
            most = row;
    }
    if (most)
        buffer_printf(name, "%s %s, mostly bound by %s", most->name.at,
                      most->shapes.at ? most->shapes.at : "", most->bound.at ? most->bound.at : "nothing");
}

/* As if they reached ROOFLINE_SLOW of it. */
void finding_add_slow_operators(struct pricing *pricing)
{
    if (!(pricing->summary->features & FEATURE_SHAPES))
        return;
    const struct roofline *roofline = roofline_of(pricing->trace);
    int64_t slow_ns = 0, modelled_ns = 0, rated_ns = 0;
    for (size_t d = 0; d < roofline->devices.count; d++) {
        const struct roofline_device *device = &roofline->devices.at[d];
        slow_ns += device->rated_ns > 0 ? device->slow_ns : 0;
        modelled_ns += device->modelled_ns;
        rated_ns += device->rated_ns;
    }
    if (slow_ns * 20 <= roofline->time_ns) { /* 5 % or less is not looked at */
        if (modelled_ns == 0 || rated_ns > 0)
            pricing_add_quiet(pricing, "operators below the peak");
        else
            finding_add_blind(pricing, "operators below the peak",
                              "what the device can do at most is unknown: tpa roofline --peak");
        return;
    }
    struct buffer title = { 0 }, where = { 0 };
    buffer_printf(&title, "operators below %.0f %% of the peak: %.1f %% of the device time",
                  100 * ROOFLINE_SLOW, 100 * (double)slow_ns / (double)roofline->time_ns);
    name_slowest(roofline, &where);
    finding_add(
        pricing, FINDING_BELOW_PEAK,
        (struct priced_finding){ .title = pricing_keep(pricing, &title),
                                 .where = pricing_keep(pricing, &where),
                                 .advice = as_text(trace_advice(pricing->trace, ADVICE_NEARER_TO_PEAK)),
                                 .edit = { .kind = EDIT_AT_PEAK, .factor = ROOFLINE_SLOW } },
        "operators below the peak");
}

/* "aten::mul: 48 times elementwise x3, copy": the chain that would gain most. */
static void complete_fusion(struct pricing *pricing, struct priced_finding *finding,
                            const struct offer *offer)
{
    (void)offer;
    const struct sequences *sequences = sequences_gains_of(pricing->trace);
    struct buffer where = { 0 };
    if (sequences->fusions.count) {
        const struct fusion_row *first = &sequences->fusions.at[0];
        if (first->op.at)
            buffer_printf(&where, "%.*s: ", (int)first->op.len, first->op.at);
        buffer_printf(&where, "%.*s, %" PRId64 " times", (int)first->operations.len, first->operations.at,
                      first->count);
        if (first->names.at)
            finding->place = (struct text){ first->names.at, strcspn(first->names.at, "|") };
        while (finding->place.len && finding->place.at[finding->place.len - 1] == ' ')
            finding->place.len--;
    }
    finding->where = pricing_keep(pricing, &where);
}

/* Does a part of the program run in regions that torch.compile made? */
static bool is_compiled(const struct trace *trace)
{
    for (name_id id = 0; id < names_count(trace->names); id++) {
        const char *name = names_text(trace->names, id);
        if (strncmp(name, "triton_poi_", 11) == 0 || strncmp(name, "triton_red_", 11) == 0 ||
            strncmp(name, "## Call CompiledFxGraph", 23) == 0)
            return true;
    }
    return false;
}

/* Operations that could be one kernel, as tpa sequences lists them. */
void finding_add_fusion(struct pricing *pricing)
{
    static const char *const of_compiled =
        "torch.compile fused a part of the program: compile the rest, too, and remove breaks of graphs between (TORCH_LOGS=graph_breaks "
        "names them)";
    if (!(pricing->summary->features & FEATURE_SHAPES))
        return;
    finding_offer(
        pricing, FINDING_FUSION,
        (struct offer){ .finding = { .title = as_text("operations on the device could be one kernel"),
                                     .advice = as_text(is_compiled(pricing->trace)
                                                           ? of_compiled
                                                           : trace_advice(pricing->trace, ADVICE_FUSE)),
                                     .code = as_text(is_compiled(pricing->trace)
                                                         ? "TORCH_LOGS=graph_breaks"
                                                         : trace_code(pricing->trace, ADVICE_FUSE).now),
                                     .edit = { .kind = EDIT_FUSE } },
                        .subject = "fusion",
                        .complete = complete_fusion });
}

/* "aten::mul, aten::pow and 6 others, 48 chains, 12.3ms in all": the chain that would gain most, and how many there are. */
static void complete_host_fusion(struct pricing *pricing, struct priced_finding *finding,
                                 const struct offer *offer)
{
    const struct trace *trace = pricing->trace;
    struct host_chains chains = host_chains_find(trace);
    struct buffer where = { 0 };
    const char *first = trace_name(trace, chains.at[chains.first].op),
               *second = trace_name(trace, chains.at[chains.first + 1].op);
    size_t others = chains.length - 2;
    buffer_printf(&where, "%s, %s", first, second);
    if (others)
        buffer_printf(&where, " and %zu other%s", others, others == 1 ? "" : "s");
    buffer_printf(&where, "; %zu chain%s, ", chains.chains, chains.chains == 1 ? "" : "s");
    quantity_append_rounded_time(&where, (double)offer->effect.time_ns);
    buffer_puts(&where, " in all");
    finding->where = pricing_keep(pricing, &where);
    finding->place = as_text(first);
    finding->advice = as_text(
        chains.sized
            ? "torch.compile makes one of them, which passes over the memory once: at most what all but the longest of each chain take is "
              "saved; their tensors are of one size"
            : "torch.compile makes one of them, which passes over the memory once: at most what all but the longest of each chain take is "
              "saved; if tensors are of one size was not recorded (record_shapes=True)");
    VEC_FREE(&chains);
}

/* Without devices: element-wise operators of the host in a row. Where there are none, nothing is said. */
void finding_add_host_fusion(struct pricing *pricing)
{
    if (trace_framework(pricing->trace) != FRAMEWORK_TORCH || is_compiled(pricing->trace))
        return;
    finding_offer(
        pricing, FINDING_FUSION,
        (struct offer){
            .finding = { .title = as_text("element-wise operators pass over the memory one after the other"),
                         .action = as_text("Fuse element-wise operators"),
                         .code = as_text(trace_code(pricing->trace, ADVICE_FUSE).now),
                         .edit = { .kind = EDIT_FUSE } },
            .complete = complete_host_fusion });
}

/* "aten::softmax, model.py(12): attend". */
static void complete_attention(struct pricing *pricing, struct priced_finding *finding,
                               const struct offer *offer)
{
    struct unfused_attention found = unfused_attention_find(pricing->trace);
    struct buffer where = { 0 };
    (void)offer;
    if (found.largest != EVENT_NONE) {
        struct callers *callers = callers_open(pricing->trace, &found.largest, 1);
        size_t len = 0;
        const char *line = callers_line(callers, found.largest, &len);
        buffer_printf(&where, "%s, %zu times", trace_name(pricing->trace, found.largest), found.blocks);
        if (line)
            buffer_printf(&where, ", %.*s", (int)len, line);
        arena_free(callers);
    }
    VEC_FREE(&found);
    finding->where = pricing_keep(pricing, &where);
}

/* scaled_dot_product_attention without a fused kernel is this operator. */
static bool takes_path_of_math(const struct trace *trace)
{
    static const char name[] = "aten::_scaled_dot_product_attention_math";
    return names_find(trace->names, name, sizeof name - 1) != NAME_NONE;
}

/* Nothing is said where no softmax of attention was recorded, or none is known to be one. */
void finding_add_attention(struct pricing *pricing)
{
    static const char *const replaced[] = { "aten::bmm", "aten::baddbmm", "aten::_softmax",
                                            "aten::_softmax_backward_data", NULL };
    bool by_math = takes_path_of_math(pricing->trace);
    if (!(pricing->summary->features & FEATURE_SHAPES))
        return;
    finding_offer(
        pricing, FINDING_ATTENTION,
        (struct offer){
            .finding = { .title = as_text(by_math ? "scaled_dot_product_attention computes step by step"
                                                  : "attention is computed step by step"),
                         .advice = as_text(
                             by_math
                                 ? "run it once within this, of torch.nn.attention: it warns what rules the fused kernel "
                                   "out (a mask, dropout, the type or the device); change that"
                                 : "use torch.nn.functional.scaled_dot_product_attention (attn_implementation=\"sdpa\" in "
                                   "transformers), which does not write the scores to memory"),
                         .code =
                             as_text(by_math ? "with sdpa_kernel(SDPBackend.FLASH_ATTENTION):"
                                             : "torch.nn.functional.scaled_dot_product_attention(q, k, v)"),
                         .replaces = replaced,
                         .edit = { .kind = EDIT_FUSE_ATTENTION } },
            .complete = complete_attention });
}

/* "12 times, 14.772ms in all". */
static void complete_recomputation(struct pricing *pricing, struct priced_finding *finding,
                                   const struct offer *offer)
{
    struct buffer where = { 0 };
    buffer_printf(&where, "%zu time%s, ", offer->effect.count, offer->effect.count == 1 ? "" : "s");
    quantity_append_rounded_time(&where, (double)offer->effect.time_ns);
    buffer_puts(&where, " in all");
    finding->where = pricing_keep(pricing, &where);
}

/* Activations that were not kept. Where the backward pass computes none again, nothing is said. */
void finding_add_recomputation(struct pricing *pricing)
{
    finding_offer(
        pricing, FINDING_RECOMPUTATION,
        (struct offer){
            .finding = { .title = as_text("the backward pass computes the forward pass again (checkpoints of "
                                          "activations)"),
                         .was = as_text("torch.utils.checkpoint.checkpoint(block, x)"),
                         .code = as_text("block(x)"),
                         .advice =
                             as_text("it saves memory for this time: checkpoint fewer blocks, as far as "
                                     "there is memory (tpa memory), or those that are cheap to compute"),
                         .edit = { .kind = EDIT_NO_RECOMPUTE } },
            .complete = complete_recomputation });
}

static bool is_optimizer_step(const struct trace *trace,
                              event_id e) /* by its name alone, as place_find wants */
{
    return edit_is_optimizer_step(trace_name(trace, e));
}

/* Does torch.optim have the class? */
static bool is_of_torch(struct text name)
{
    static const char *const classes[] = { "Adam", "AdamW", "SGD",   "Adagrad", "Adadelta", "Adamax",
                                           "ASGD", "NAdam", "RAdam", "RMSprop", "Rprop" };
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i]) == name.len && memcmp(classes[i], name.at, name.len) == 0)
            return true;
    return false;
}

/* Where torch was not recorded, or no optimizer, nothing is said. */
void finding_add_optimizer(struct pricing *pricing)
{
    const struct place place = place_find(pricing->trace, is_optimizer_step);
    if (place.longest == EVENT_NONE)
        return;
    const char *step = names_text(pricing->trace->names, place.name);
    struct text name = edit_optimizer_class(step);
    bool fused = edit_optimizer_has_fused(step), is_known = is_of_torch(name),
         has_devices = pricing->summary->gpu != NULL;
    struct buffer was = { 0 }, code = { 0 };
    struct priced_finding finding = {
        .title = as_text("the optimizer updates parameters one by one"),
        .where = as_text(step),
        .edit = { .kind = EDIT_FUSE_OPTIMIZER },
        .advice = as_text(
            !is_known
                ? "do each operation for a list of all parameters (torch._foreach_add_ and others), or use an "
                  "optimizer of torch.optim with foreach=True"
            : !fused ? "use foreach=True"
            : has_devices
                ? "use fused=True, which also passes over the parameters once, or foreach=True"
                : "use fused=True, which passes over the parameters once and makes no temporary tensors"),
    };
    if (is_known) {
        buffer_printf(&was, "torch.optim.%.*s(params)", (int)name.len, name.at);
        buffer_printf(&code, "torch.optim.%.*s(params, %s=True)", (int)name.len, name.at,
                      fused ? "fused" : "foreach");
        finding.was = pricing_keep(pricing, &was);
        finding.code = pricing_keep(pricing, &code);
    }
    if (is_known && !fused && !has_devices) /* lists of tensors are looped over there, too */
        return;
    finding_offer(pricing, FINDING_OPTIMIZER,
                  (struct offer){ .finding = finding, .subject = "optimizer loops" });
}
