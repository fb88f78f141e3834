/*
 * contention.h - how much slower kernels run because other work runs beside them.
 *
 *     const struct contention *contention = contention_of(trace);
 *     for (size_t i = 0; i < contention->pairs.count; i++)
 *         if (contention->pairs.at[i].slower)
 *             printf("%s x%.2f\n", contention->pairs.at[i].name.at, contention->pairs.at[i].factor);
 *
 * A pair is a kernel of a device and a class of work that ran beside it. Executions are compared only with executions of the same
 * launch shape, operator, shapes, place in the operator and predecessor, near in time or at the same place of a step. A pair is
 * judged only if enough of them were like each other. docs/definitions.md has the rules.
 */
#ifndef TPA_ANALYZE_CONTENTION_CONTENTION_H
#define TPA_ANALYZE_CONTENTION_CONTENTION_H

#include "analyze/analysis.h"
#include "analyze/contention/beside.h"

#define CONTENTION_WANTS                                                                                     \
    (COLLECTIVES_WANTS | WANT(GRID) | WANT(BLOCK) | WANT(REGISTERS) | WANT(SHARED_MEMORY))

/* Times in ns. Factors, and times lost, are missing if not defined. */
struct contention_pair {
    struct text name; /* demangled */
    name_id name_id;
    uint32_t device_index, class; /* of gpu_events.devices, beside.classes */
    int64_t rank, device;
    struct text beside_kind, beside, group;
    int64_t count_alone, count_beside, mixed;
    int64_t overlapped_ns;
    int64_t median_alone_ns, median_beside_ns; /* of the executions that were compared */
    double factor, factor_low, factor_high;
    int64_t lost_ns, lost_low_ns, lost_high_ns; /* of overlapped */
    bool judged, slower;
    struct text why; /* why it is not judged */
    double p, correlation;
};

/* The pairs of a class, added up, over all devices; the last of several classes of communication: all communication. */
struct contention_sum {
    enum beside_kind kind;
    uint32_t class; /* of beside.classes, or BESIDE_ANY: all communication */
    struct text beside_kind, beside, group;
    int64_t overlapped_ns, judged_ns;
    int64_t lost_ns, lost_low_ns, lost_high_ns; /* of judged; missing if nothing is */
    double factor, factor_low, factor_high;
    int64_t pairs, judged_pairs;
};

struct contention {
    const struct trace *trace; /* borrowed */
    struct beside *beside;
    VEC_OF(struct contention_pair) pairs; /* most overlapped first */
    VEC_OF(struct contention_sum) sums;   /* by kind */
    double tick_ns;                       /* the coarsest clock of the files */
    struct contention *own;               /* to be freed; NULL: kept with the trace */
    struct arena texts;
};

/* The kernels of SELECTION: contention_of(TRACE) where that is all. Free with contention_free. Texts live as long as it and TRACE. */
const struct contention *contention_analyze(const struct trace *trace, const struct selection *selection);
void contention_free(const struct contention *contention);

/* Of all of TRACE, computed when first requested. Borrowed; lives as long as TRACE. */
const struct contention *contention_of(const struct trace *trace);

/* All communication, or the only class of it; NULL if none ran beside kernels. Borrowed. */
const struct contention_sum *contention_communication(const struct contention *contention);

/* All pairs, of all classes. */
struct contention_sum contention_total(const struct contention *contention);

static inline enum beside_kind contention_pair_kind(const struct contention *contention,
                                                    const struct contention_pair *pair)
{
    return contention->beside->classes.at[pair->class].kind;
}

/* The share of overlapped time that is lost at FACTOR. */
static inline double contention_lost_share(double factor)
{
    return 1 - 1 / factor;
}

#endif
