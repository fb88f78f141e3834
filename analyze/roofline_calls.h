/*
 * roofline_calls.h - the calls of modelled operators: their costs, their device work, and how long that takes at the
 * peak.
 *
 *     struct roofline_calls calls = { .trace = trace, .peaks = peaks };
 *     roofline_calls_find(&calls, selection);
 *     ...
 *     roofline_calls_release(&calls);
 */
#ifndef TPA_ANALYZE_ROOFLINE_CALLS_H
#define TPA_ANALYZE_ROOFLINE_CALLS_H

#include "analyze/selection.h"
#include "facts/device_peaks.h"
#include "facts/op_cost.h"
#include "trace/trace.h"

/* One call of a modelled operator. In a CUDA or HIP graph whose capture is known (facts/graph_links.h), each replay calls anew
 * what was captured. */
/* There is one for each call of most operators, so its fields are in the order that takes least. */
struct roofline_call {
    event_id op;         /* EVENT_NONE: in a graph */
    name_id name;        /* roofline_name: of the operator */
    event_id work, call; /* the first work that it launched itself, and the call that did; EVENT_NONE: none */
    name_id dims, types; /* roofline_text: of its arguments; NAME_NONE: not recorded */
    uint32_t works;
    uint8_t class;       /* enum op_class */
    uint8_t rate;        /* enum peak_rate; PEAK_NONE: none is known to apply, or nothing is computed */
    bool covers : 1;     /* a matrix operator within it launched work, too: it has the operations */
    bool crosses : 1;    /* an operation of it copies from or to another memory: no peak is known for that */
    bool recomputed : 1; /* the forward pass once more, for the backward pass */
    const struct op_cost *cost;   /* the same for all calls that are alike */
    int64_t time_ns, tf32_ns;     /* of its operations; of those of them that say TF32 */
    double compute_ns, memory_ns; /* at the peak; NAN: unknown, 0: nothing to do */
};

/* The device of its first work, of gpu_events; UINT32_MAX: it launched none. */
uint32_t roofline_device(const struct trace *trace, const struct roofline_call *call);

/* At the peak; NAN: unknown. */
double roofline_at_peak_ns(const struct roofline_call *call);

/* Does it run below SHARE of what the device could? False where that is unknown. */
bool roofline_is_below(const struct roofline_call *call, double share);

struct roofline_calls {
    struct roofline_call *at; /* in order of the file */
    size_t count, capacity;
    const struct trace *trace;  /* borrowed; set by the caller, as below */
    struct device_peaks *peaks; /* by device of gpu_events; taken */
    uint32_t *of_work;          /* by work of gpu_events: 1 + its call; 0: not modelled, or not selected */
    bool on_device;             /* else times are the host's */
    struct arena costs;         /* owns those of the calls */
    bool *wanted_captured; /* by id of the captures' texts: does the selection hold the name? NULL: all */
};

/*
 * Find the calls of all the trace. Those that SELECTION does not hold have no work, unless they launched some that it
 * holds.
 */
void roofline_calls_find(struct roofline_calls *calls, const struct selection *selection);
void roofline_calls_release(struct roofline_calls *calls);

/* The name, or another text, of ID: one of the trace's or, behind these, of what its graphs were captured from. Borrowed. */
const char *roofline_name(const struct trace *trace, name_id id);
const char *roofline_text(const struct trace *trace, name_id id);

/* Does SELECTION hold the name of CALL's operator? */
bool roofline_holds_name(const struct roofline_calls *calls, const struct selection *selection,
                         const struct roofline_call *call);

/* What nobody's model knows: the name of the operator of WORK, which OP and CALL launched; else of the call, else its own. */
name_id roofline_name_of_work(const struct trace *trace, event_id work, event_id call, event_id op);

#endif
