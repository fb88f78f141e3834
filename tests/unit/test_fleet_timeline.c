/* test_fleet_timeline.c - figures/gather.h: any interval of a device is split as its definition says. */

#include "figures/gather.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &gaps_wants;

struct split {
    int64_t start_ns, end_ns, part_ns[FACTS_PARTS], communicated_ns;
};

static void stop(void *context, const struct fleet_timeline *line, const struct timeline_moment *moment)
{
    struct split *split = context;
    (moment->what ? timeline_end : timeline_begin)(line, split->start_ns, split->end_ns, split->part_ns);
    split->communicated_ns += moment->what ? line->communicated_ns : -line->communicated_ns;
}

/* [START, END) by the definition, nanosecond after nanosecond. */
static void split_slowly(const struct gpu_events *gpu, const struct gaps *gaps, struct split *split)
{
    for (int64_t ns = split->start_ns; ns < split->end_ns; ns++) {
        size_t part = PART_EDGE;
        bool communicates = false;
        for (size_t i = 0; i < gpu->count; i++) {
            bool runs = trace_start_ns(gpu->trace, gpu->event[i]) <= ns &&
                        ns < trace_end_ns(gpu->trace, gpu->event[i]);
            size_t use = gpu->work[i] == GPU_COMPUTATION ? PART_COMPUTATION
                         : gpu->work[i] == GPU_MEMCPY    ? PART_COPIES
                                                         : PART_EXPOSED;
            part = runs && use < part ? use : part;
            communicates |= runs && use == PART_EXPOSED;
        }
        split->communicated_ns += communicates;
        for (size_t g = 0; g < gaps->count; g++) {
            const struct gap *gap = &gaps->at[g];
            if (ns < gap->start_ns || ns >= gap->end_ns)
                continue;
            part = PART_IDLE + gap->cause;
            if (gap->start_ns < split->start_ns || gap->end_ns > split->end_ns)
                continue;
            part = FACTS_PARTS;
            for (size_t c = 0; c < GAP_CAUSES && ns == gap->start_ns; c++)
                split->part_ns[PART_IDLE + c] += gap->part_ns[c];
        }
        if (part < FACTS_PARTS)
            split->part_ns[part]++;
    }
}

/*
 *         2         12        20        30        40        50        60
 *   7     [ gemm    )         [ nccl    )                   [ gemm    )
 *   8          [ copy    )        [ nccl         )     the call of the last gemm takes 43 to 47: two causes and more
 */
TEST(intervals_begin_and_end_anywhere)
{
    draw_call("cudaLaunchKernel", 1, 43, 4, 1);
    draw_work("kernel", "gemm", 0, 7, 2, 10, DRAW_NO_CALL);
    draw_work("gpu_memcpy", "Memcpy DtoH (Device -> Pinned)", 0, 8, 7, 10, DRAW_NO_CALL);
    draw_work("kernel", "ncclDevKernel_AllReduce", 0, 7, 20, 10, DRAW_NO_CALL);
    draw_work("kernel", "ncclDevKernel_AllGather", 0, 8, 24, 15, DRAW_NO_CALL);
    draw_work("kernel", "gemm", 0, 7, 50, 10, 1);
    const struct gpu_events *gpu = gpu_events_of(drawn());
    const struct selection *all = selection_all(drawn());
    SCOPED_OBJECT const struct gaps *gaps = gaps_analyze(
        drawn(), all, BY(DEVICE), &(struct gaps_options){ .latency_below_ns = GAP_LATENCY_BELOW_NS });
    assert_int_equal(gaps->count, 2);
    for (int64_t start_ns = 0; start_ns < 62; start_ns++)
        for (int64_t end_ns = start_ns; end_ns < 64; end_ns++) {
            struct split fast = { start_ns, end_ns, { 0 }, 0 }, slow = fast;
            struct timeline_moment moments[] = { { end_ns, 0, 1 }, { start_ns, 0, 0 } };
            struct gap_finder *finder = scratch(gap_finder_open(drawn(), NULL, 0, GAP_LATENCY_BELOW_NS));
            assert_int_equal(timeline_walk(gpu, 0, finder, moments, 2, stop, &fast), 44);
            split_slowly(gpu, gaps, &slow);
            assert_memory_equal(&fast, &slow, sizeof fast);
        }
}
