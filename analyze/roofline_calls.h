/*
 * roofline_calls.h - the calls of modelled operators: their costs, their device work, and its time at the peak.
 *
 *     struct roofline_calls *calls = &roofline->calls;   // trace, peaks and arena are set
 *     roofline_calls_find(calls, selection);
 */
#ifndef TPA_ANALYZE_ROOFLINE_CALLS_H
#define TPA_ANALYZE_ROOFLINE_CALLS_H

#include "analyze/selection.h"
#include "derive/device_peaks.h"
#include "derive/gpu_events.h"
#include "derive/code_paths.h"
#include "derive/op_cost.h"

/* One call of a modelled operator. In a CUDA or HIP graph whose capture is known (derive/code_paths.h), each replay
 * repeats the captured calls. */
/* There is one for each call of most operators, so its fields are ordered for minimum size. */
struct roofline_call {
    event_id op;         /* EVENT_NONE: in a graph */
    name_id name;        /* roofline_name: id for roofline_name, of the operator */
    event_id work, call; /* the first work that it launched itself, and the call that did; EVENT_NONE: none */
    name_id dims, types; /* roofline_text: ids for roofline_text, of its arguments; NAME_NONE: not recorded */
    uint32_t operations;
    uint8_t class;       /* enum op_class */
    uint8_t rate;        /* enum peak_rate; PEAK_NONE: none applies, or nothing is computed */
    bool covers : 1;     /* a matrix operator in it launched work as well and has the operations */
    bool own_alone : 1;  /* op_model.own_alone */
    bool crosses : 1;    /* an operation of it copies from or to another memory: no peak is known for that */
    bool recomputed : 1; /* recomputation of the forward pass in the backward pass */
    bool recorded : 1;   /* the file records the cost of the operator */
    bool joined : 1;     /* it is a further launch of the call before it, which has its work and cost */
    const struct op_cost *cost;   /* shared by equal calls */
    int64_t time_ns, tf32_ns;     /* of its operations; of those with TF32 in their names */
    double compute_ns, memory_ns; /* at the peak; NAN: unknown, 0: nothing to do */
};

/* The device of its first work, of gpu_events; UINT32_MAX: none. */
uint32_t roofline_device(const struct gpu_events *gpu, const struct roofline_call *call);

/* At the peak; NAN: unknown. */
double roofline_at_peak_ns(const struct roofline_call *call);

/* Does it run below SHARE of the peak? False if unknown. */
bool roofline_is_below(const struct roofline_call *call, double share);

struct roofline_calls {
    struct roofline_call *at; /* in order of the file */
    size_t count, capacity;
    const struct trace *trace;  /* borrowed; set by the caller, as below */
    struct device_peaks *peaks; /* by device of gpu_events; taken */
    uint32_t *of_work;   /* by work of gpu_events: 1 + index of its call; 0: not modelled, or not selected */
    bool on_device;      /* false: times are those of the host */
    struct arena *arena; /* of the costs, and owns the arrays; set by the caller */
    bool *wanted_captured; /* by id of the captures' texts: is the name selected? NULL: all */
};

/* Find the calls of all the trace. Calls outside SELECTION have no work, unless they launched some inside
 * it. */
void roofline_calls_find(struct roofline_calls *calls, const struct selection *selection);

/* Free the calls and of_work early. */
void roofline_calls_forget(struct roofline_calls *calls);

/* The shortest kernel that took any time, on any device; INT64_MAX: none. */
int64_t roofline_shortest_kernel_ns(const struct trace *trace, const struct gpu_events *gpu);

/* The name, or another text, of ID: one of the trace's or, after these, of the captures of its graphs. Borrowed. */
const char *roofline_name(const struct trace *trace, name_id id);
const char *roofline_text(const struct trace *trace, name_id id);

/* Does SELECTION contain the name of CALL's operator? */
bool roofline_holds_name(const struct roofline_calls *calls, const struct selection *selection,
                         const struct roofline_call *call);

/* The name for work without a model: that of the operator of WORK, launched by OP and CALL; else of the call, else its
 * own. LINKS are those of TRACE. */
name_id roofline_name_of_work(const struct trace *trace, const struct graph_links *links, event_id work,
                              event_id call, event_id op);

#endif
