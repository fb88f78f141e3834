#include "whatif/edit.h"

#include <errno.h>
#include <math.h>

static const char *const target_words[TARGETS] = {
    [TARGET_NAME] = "name",
    [TARGET_OP] = "op",
    [TARGET_CALL] = "call",
    [TARGET_KERNEL] = "kernel",
    [TARGET_COPY] = "copy",
    [TARGET_MODULE] = "module",
    [TARGET_ANNOTATION] = "annotation",
    [TARGET_CATEGORY] = "category",
};

const char *const edit_avoid_words[AVOIDABLES] = {
    [AVOID_COPIES] = "copies",
    [AVOID_FLOAT64] = "float64",
    [AVOID_DENSE_GRADIENTS] = "dense-gradients",
    [AVOID_INDEX_GRADIENTS] = "index-gradients",
};

enum avoidable edit_avoidable(const char *word, size_t len)
{
    size_t what = 0;
    while (what < AVOIDABLES &&
           !(strlen(edit_avoid_words[what]) == len && memcmp(edit_avoid_words[what], word, len) == 0))
        what++;
    return (enum avoidable)what;
}

/* clang-format off */
static const struct {
    const char *option, *assumption;
} kinds[EDIT_KINDS] = {
    [EDIT_SCALE] = { "--scale", NULL },
    [EDIT_NO_DATA_WAIT] = { "--no-data-wait", "the next batch is always ready: enough workers, and a host with the cores for them" },
    [EDIT_NO_COMPILE] = { "--no-compile", "programs are compiled already, each for the shapes that come" },
    [EDIT_PINNED_COPIES] = { "--pinned-copies", "copies of pageable memory to a device come from pinned memory and do not block: their calls take what other asynchronous copies' calls do, at most 10 us; their operators do not wait for them; they stay on their stream, whose work waits for them as before; they run as fast as large pinned copies of the recording, or else as is usual for the device's link (12, 25, 40 GB/s for PCIe 3, 4, 5); the host does not write to their memory before they are done" },
    [EDIT_NO_SYNC] = { "--no-sync", "nothing on the host needs the result that these calls waited for" },
    [EDIT_CUDA_GRAPH] = { "--cuda-graph", "each step's launches are one launch of a graph; between the first launch of a step and the last, only these take time on the host: waits, data loading, operators that compute there or communicate, the profiler's work, and pauses from a millisecond on; work keeps its pauses where a stream was the reason for them, or where it was queued and its device idle for a reason that is not recorded" },
    [EDIT_NO_ALLOC] = { "--no-alloc", "memory of device and host comes from a pool: calls that allocate, free or pin it take no time" },
    [EDIT_NO_FIRST_USE] = { "--no-first-use", "what took more than ten times the usual on first use takes the usual: contexts, modules, lazily loaded kernels, tuning" },
    [EDIT_AT_PEAK] = { "--at-peak", "operators whose operations and bytes are known, and that run below this share of the device's peak, reach it, but no work takes less than the shortest kernel recorded" },
    [EDIT_FUSE] = { "--fuse", "neighbours on a stream that tpa sequences lists as fusable are one: what the first wrote for the next is not written and read, and only the first is launched" },
    [EDIT_FUSE_ATTENTION] = { "--fuse-attention", "attention that is computed step by step (a product, softmax of the scores, a product) is one kernel, as scaled_dot_product_attention launches; the operations on the scores between the products are gone; the products run at half of the peak of their type, or at the bandwidth of the memory, and not slower than recorded; the backward pass takes 5 / 4 of it, as it computes the scores again" },
    [EDIT_NO_RECOMPUTE] = { "--no-recompute", "activations are kept: what a node of the backward pass computes of the forward pass again takes no time; there is memory for them" },
    [EDIT_FUSE_OPTIMIZER] = { "--fuse-optimizer", "optimizers that call operators for each parameter do each operation once for all, as with foreach=True; without devices the computation of the operators stays, and of optimizers with fused=True (Adam, AdamW, SGD, Adagrad) that of operators in place: each tensor is read and written once; kernels after the first of a name take what they took beyond the shortest; on devices fused=True also saves passes over the parameters, which is not in it" },
    [EDIT_OVERLAP_COMM] = { "--overlap-comm", "communication runs beside computation, as far as there is room, and nobody waits for it: the most that overlap can give" },
    [EDIT_NO_CONTENTION] = { "--no-contention", "kernels that were judged to run slower beside other work (tpa kernels --contention) take what they take alone" },
    [EDIT_COMM_BANDWIDTH] = { "--comm-bandwidth", "a collective takes its bytes on the bus divided by the bandwidth, from when the last rank is there; of one rank's recording alone, from its start" },
    [EDIT_TENSOR_CORES] = { "--tensor-cores", "products in float32 run on tensor cores, in TF32 (float16 where the device has none), by the peaks of the data sheet; half the time where these are unknown, and not faster than their bytes, nor than the shortest kernel (or 2 us); the program bears the precision" },
    [EDIT_BATCH] = { "--batch", "launches, other calls, collectives, the optimizer and sums of gradients take what they took; kernels, copies of inputs and computing operators of the host take at most as many times as long as the batch is larger; at least, a kernel takes what the device needs at its peak, where its operations are known, else what is more than its threads hold, and an operator of the host half of that; loading ahead may keep up, or not; the memory suffices (tpa memory --forecast)" },
    [EDIT_AVOID] = { "--avoid", "the result is the same, or as good, without it: copies that the program asks for within the host's memory; float64, as float32, which takes half the time, and of products on devices what the peaks of both say; the filling of gradients as large as the table of an embedding, and where sizes were recorded the optimizer's work on its unused rows; the filling and adding of a gradient as large as a tensor for each index of it" },
    [EDIT_RANKS_LIKE_MEDIAN] = { "--ranks like-median", "the work of slower ranks, on the host and on devices, takes as long in all as the median rank's" },
    [EDIT_GPUS_LIKE_MEDIAN] = { "--ranks gpu-like-median", "the device work of slower ranks takes as long in all as the median rank's" },
};
/* clang-format on */

/* What is scaled is each call. That a change makes fewer of them, or more, is another change. */
static const char *const scale_assumptions[TARGETS] = {
    [TARGET_NAME] =
        "as many calls as recorded, and each takes this share of its own time; what is between them, and "
        "what they call or launch by another name, stays",
    [TARGET_OP] =
        "as many calls as recorded, and each takes this share of its own time on the host; what is between "
        "them, and what they call or launch, stays",
    [TARGET_CALL] = "as many calls as recorded, and each takes this share of its time",
    [TARGET_KERNEL] =
        "as many kernels as recorded, and each takes this share of its time; their launches stay",
    [TARGET_COPY] = "as many copies as recorded, and each takes this share of its time; their calls stay",
    [TARGET_MODULE] = "all that goes on within takes this share, also what a change may leave as it is",
    [TARGET_ANNOTATION] = "all that goes on within takes this share, also what a change may leave as it is",
    [TARGET_CATEGORY] = "as much of it as recorded, and each piece takes this share of its time",
};

bool edit_is_optimizer_step(const char *name)
{
    return strncmp(name, "Optimizer.step#", strlen("Optimizer.step#")) == 0;
}

struct text edit_optimizer_class(const char *step)
{
    const char *name = strchr(step, '#') + 1, *end = strrchr(name, '.');
    return (struct text){ name, end ? (size_t)(end - name) : strlen(name) };
}

bool edit_optimizer_has_fused(const char *step)
{
    static const char *const classes[] = { "Adam", "AdamW", "SGD", "Adagrad" };
    struct text name = edit_optimizer_class(step);
    for (size_t i = 0; i < sizeof classes / sizeof *classes; i++)
        if (strlen(classes[i]) == name.len && memcmp(classes[i], name.at, name.len) == 0)
            return true;
    return false;
}

bool edit_parse_factor(const char *text, size_t len, double *factor)
{
    char copy[32];
    if (len == 0 || len >= sizeof copy || strspn(text, "0123456789.") == 0)
        return false;
    memcpy(copy, text, len);
    copy[len] = '\0';
    char *end;
    double value = strtod(copy, &end);
    if (!isfinite(value) || value < 0 || value > 1e6 || strspn(copy, "0123456789.") != (size_t)(end - copy))
        return false;
    if (strcmp(end, "x") == 0 && value > 0)
        *factor = 1 / value;
    else if (strcmp(end, "%") == 0)
        *factor = value / 100;
    else if (*end == '\0' && value <= 1) /* "2" would be twice as long, and "2x" is twice as fast */
        *factor = value;
    else
        return false;
    return true;
}

bool edit_parse_scale(const char *text, struct edit *edit, struct tpa_error *err)
{
    const char *equals = strrchr(text, '=');
    *edit = (struct edit){ .kind = EDIT_SCALE, .target = TARGET_NAME, .pattern = text };
    if (!equals || equals == text || !edit_parse_factor(equals + 1, strlen(equals + 1), &edit->factor)) {
        double plain = 0;
        char *end = NULL;
        if (equals && equals > text && (plain = strtod(equals + 1, &end)) > 1 && *end == '\0') {
            tpa_fail(err, TPA_NOWHERE, "'%s' can be read in two ways", text);
            return tpa_hint(err, "write %.6gx for %.6g times as fast, or %.6g%% for %.6g times as long",
                            plain, plain, 100 * plain, plain);
        }
        tpa_fail(err, TPA_NOWHERE, "'%s' is not WHAT:REGEX=FACTOR", text);
        return tpa_hint(
            err,
            "write kernel:REGEX=0.5, op:REGEX=2x (twice as fast), module:REGEX=0 (gone) or category:copy=50%%");
    }
    const char *colon = memchr(text, ':', (size_t)(equals - text));
    for (int t = 0; colon && t < TARGETS; t++) {
        size_t len = strlen(target_words[t]);
        if ((size_t)(colon - text) != len || strncmp(text, target_words[t], len) != 0)
            continue;
        edit->target = (enum edit_target)t;
        edit->pattern = colon + 1;
    }
    edit->pattern_len = (size_t)(equals - edit->pattern);
    if (edit->pattern_len == 0) {
        tpa_fail(err, TPA_NOWHERE, "'%s' names nothing", text);
        return tpa_hint(err, "write a regular expression between ':' and '='; .* is everything");
    }
    return true;
}

static void describe_factor(const struct edit *edit, struct buffer *text)
{
    if (edit->kind == EDIT_COMM_BANDWIDTH)
        buffer_printf(text, " %.6gGB", edit->factor / 1e9);
    else if (edit->kind == EDIT_AT_PEAK)
        buffer_printf(text, " %.6g%%", 100 * edit->factor);
    else if (edit->kind == EDIT_BATCH)
        buffer_printf(text, " %.6gx", edit->factor);
    else if (edit->kind == EDIT_SCALE)
        buffer_printf(text, "=%.6g", edit->factor);
    else if (edit->kind == EDIT_OVERLAP_COMM && edit->factor > 0)
        buffer_printf(text, " --contention %.6g", edit->factor);
    else if (edit->kind == EDIT_OVERLAP_COMM && edit->measured)
        buffer_printf(text, " --contention-from %s", edit->measured_path);
}

void edit_describe(const struct edit *edit, enum device_type type, struct buffer *text)
{
    buffer_puts(text,
                edit->kind == EDIT_CUDA_GRAPH ? device_type_graph_option(type) : kinds[edit->kind].option);
    if (edit->kind == EDIT_SCALE)
        buffer_printf(text, " %s:", target_words[edit->target]);
    else if (edit->pattern)
        buffer_putc(text, ' ');
    if (edit->pattern)
        buffer_add(text, edit->pattern, edit->pattern_len);
    describe_factor(edit, text);
}

const char *edit_assumption(const struct edit *edit)
{
    return edit->kind == EDIT_SCALE ? scale_assumptions[edit->target] : kinds[edit->kind].assumption;
}
