/*
 * unfused_attention.h - attention that is computed step by step: a product, softmax over the scores, a product.
 *
 *     struct unfused_attention found = unfused_attention_find(trace);
 *     for (size_t i = 0; i < found.count; i++)
 *         ... found.at[i].event takes found.at[i].factor of its time in a fused kernel ...
 *     VEC_FREE(&found);
 *
 * A fused kernel (scaled_dot_product_attention) keeps the scores on the chip: the operations on them between the
 * products (scale, mask, softmax, dropout, casts) take no time. The products take as long as at half of the peak rate of their
 * type, or at the bandwidth for queries, keys, values and result, but not longer than recorded; the backward pass
 * multiplies once more, which is five products instead of four. Where a rate is unknown, they keep their time (times
 * 5 / 4 in the backward pass).
 */
#ifndef TPA_ANALYZE_UNFUSED_ATTENTION_H
#define TPA_ANALYZE_UNFUSED_ATTENTION_H

#include "derive/gpu_events.h"

#define UNFUSED_ATTENTION_WANTS (GPU_EVENTS_WANTS | WANT(INPUT_DIMS) | WANT(INPUT_TYPES))

struct unfused_part {
    event_id event; /* device work; without devices an operator that calls no other */
    uint32_t work;  /* its place in gpu_events; UINT32_MAX: it is an operator */
    double factor;  /* of its time; 0: it is gone, and its launch */
};

struct unfused_attention {
    VEC_OF(struct unfused_part);
    size_t blocks; /* a softmax and its products */
    int64_t time_ns, then_ns;
    event_id largest; /* the operator of the softmax that took longest; EVENT_NONE: there is none */
};

/* Those of TRACE, with recorded shapes. Release with VEC_FREE. */
struct unfused_attention unfused_attention_find(const struct trace *trace);

#endif
