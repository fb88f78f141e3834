/* finding_avoid.c - work that another program for the same result does not do: copies, float64, gradients as large as what they are of. */
#include "summary/finding_work.h"

#include "derive/features.h"
#include "summary/finding_kit.h"
#include <string.h>

/* clang-format off */
static const struct {
    enum finding_rule rule;
    const char *names[4]; /* without one of these there is nothing to avoid; none: always look */
    const char *title;
    struct code_change code;
    const char *advice;
} avoidables[AVOIDABLES] = {
    [AVOID_COPIES] = { FINDING_HOST_COPIES, { "aten::contiguous", "aten::clone" },
        "the program copies tensors, in their own type", { NULL, NULL },
        "leave out clone() of what is not written afterwards, and contiguous() where what follows reads it as it is; or lay it out as it is read "
        "once, where it is made" },
    [AVOID_FLOAT64] = { FINDING_FLOAT64, { NULL },
        "tensors are of float64", { "torch.from_numpy(array)", "torch.from_numpy(array).float()" },
        "float64 takes twice the memory and half as many numbers at once: use float32 where its precision suffices, as torch does unless told "
        "otherwise (arrays of numpy are of float64)" },
    [AVOID_DENSE_GRADIENTS] = { FINDING_DENSE_GRADIENT, { "aten::embedding_dense_backward" },
        "the gradient of an embedding is as large as its table", { "nn.Embedding(rows, columns)", "nn.Embedding(rows, columns, sparse=True)  # SparseAdam" },
        "the whole table is filled with zeros, cleared and stepped over, for few rows that are used: sparse=True, with an optimizer of the table "
        "that takes it (torch.optim.SparseAdam, SGD, Adagrad)" },
    [AVOID_INDEX_GRADIENTS] = { FINDING_INDEX_GRADIENT, { "aten::select_backward", "aten::slice_backward", "aten::index" },
        "a loop takes a tensor apart by index, and each index has a gradient as large as all of it",
        { "for i in range(n): f(x[i])", "f(x)" },
        "compute for all parts at once (batched); where that cannot be, take them by x.unbind(0), x.split() or x.chunk(), whose gradient is "
        "written once" },
};
/* clang-format on */

/* Where most of what OFFER takes away lies: by the operator whose own pieces, or whose work on devices, become shorter. */
static event_id find_avoided(const struct pricing *pricing, const struct offer *offer)
{
    const struct replay_graph *graph = pricing->graph;
    const struct trace *trace = pricing->trace;
    const struct gpu_events *gpu = graph->gpu;
    SCOPED double *sums = mem_zalloc(names_count(trace->names) + 1, sizeof *sums);
    SCOPED event_id *longest = mem_alloc(mem_times(names_count(trace->names) + 1, sizeof *longest));
    name_id most = NAME_NONE;
    for (name_id id = 0; id < names_count(trace->names); id++)
        longest[id] = EVENT_NONE;
    size_t host = gpu->count ? 0 : graph->host_count, count = gpu->count ? gpu->count : host;
    for (size_t i = host ? 1 : 0; i < count; i++) {
        event_id e = host ? graph->inner[i] : gpu->op[i];
        double left = host ? factors_get(&offer->changes->piece, i) : factors_get(&offer->changes->work, i);
        if (e == EVENT_NONE || left >= 1)
            continue;
        name_id name = trace->name[e];
        int64_t ns = host ? replay_moment_ns(graph, (moment_id)i) - replay_moment_ns(graph, (moment_id)i - 1)
                          : trace_dur_ns(trace, gpu->event[i]);
        sums[name] += (1 - left) * (double)ns;
        if (longest[name] == EVENT_NONE || trace_dur_ns(trace, e) > trace_dur_ns(trace, longest[name]))
            longest[name] = e;
        most = most == NAME_NONE || sums[name] > sums[most] ? name : most;
    }
    return most == NAME_NONE ? EVENT_NONE : longest[most];
}

static void complete_avoided(struct pricing *pricing, struct priced_finding *finding,
                             const struct offer *offer)
{
    event_id longest = find_avoided(pricing, offer);
    struct buffer where = { 0 };
    if (longest == EVENT_NONE)
        return;
    if (finding->edit.pattern ==
        edit_avoid_words[AVOID_DENSE_GRADIENTS]) { /* not the optimizer, which takes most of it at times */
        finding->where = as_text(avoidables[AVOID_DENSE_GRADIENTS].names[0]);
        return;
    }
    buffer_puts(&where, trace_name(pricing->trace, longest));
    place_add_caller_of(pricing->trace, longest, &where);
    finding->where = pricing_keep(pricing, &where);
}

void finding_add_avoidable(struct pricing *pricing)
{
    const struct names *names = pricing->trace->names;
    if (trace_framework(pricing->trace) != FRAMEWORK_TORCH)
        return;
    for (size_t what = 0; what < AVOIDABLES; what++) {
        const char *const *of = avoidables[what].names;
        bool is_there = what == AVOID_FLOAT64 && pricing->summary->features & FEATURE_SHAPES;
        for (size_t i = 0; of[i] && !is_there; i++)
            is_there = names_find(names, of[i], strlen(of[i])) != NAME_NONE;
        if (!is_there || (what == AVOID_COPIES && pricing->summary->gpu))
            continue;
        const char *word = edit_avoid_words[what];
        struct priced_finding finding = {
            .title = as_text(avoidables[what].title),
            .advice = as_text(avoidables[what].advice),
            .edit = { .kind = EDIT_AVOID, .pattern = word, .pattern_len = strlen(word) },
        };
        finding_set_code(&finding, avoidables[what].code);
        finding_offer(pricing, avoidables[what].rule,
                      (struct offer){ .finding = finding, .complete = complete_avoided });
    }
}
