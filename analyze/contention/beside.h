/*
 * beside.h - what ran beside the work of each stream of a device: on another of its streams, at the same moment.
 *
 *     struct beside *beside = beside_open(trace);
 *     int64_t any_ns = beside_time(beside, stream, BESIDE_ANY, start_ns, end_ns);
 *     beside_free(beside);
 *
 * A moment counts for a class if work of this class alone ran beside; a moment with several classes counts for none of them, but
 * for BESIDE_ANY.
 */
#ifndef TPA_ANALYZE_CONTENTION_BESIDE_H
#define TPA_ANALYZE_CONTENTION_BESIDE_H

#include "base/table.h"
#include "derive/collectives.h"

enum beside_kind { BESIDE_COMMUNICATION, BESIDE_KERNEL, BESIDE_COPY, BESIDE_MEMSET, BESIDE_KINDS };

/* "communication", "kernel", "copy", "memset". */
const char *beside_kind_name(enum beside_kind kind);

/* Communication by collective and process group; copies by direction. */
struct beside_class {
    enum beside_kind kind;
    uint32_t what;              /* enum collective_kind, or enum copy_direction */
    name_id kernel;             /* of communication of unknown kind; else NAME_NONE */
    name_id group, description; /* of the process group, in trace->texts; NAME_NONE if not recorded */
};

#define BESIDE_ANY UINT32_MAX

/* When a class, and no other, ran beside the work of a stream. */
struct beside_set {
    uint32_t class; /* of beside.classes, or BESIDE_ANY */
    struct intervals when;
    int64_t *before_ns; /* by index of when.at: lengths of those before it */
};

struct beside {
    const struct trace *trace; /* borrowed, as collectives' gpu events */
    const struct gpu_events *gpu;
    struct collectives *collectives;
    struct gpu_streams *streams;
    VEC_OF(struct beside_class) classes;
    uint32_t *class_of; /* by position of gpu->event */
    struct beside_stream {
        VEC_OF(struct beside_set) sets;
    } * of_stream; /* by stream of STREAMS */
};

/* New; free with beside_free (NULL is allowed). Needs the arguments COLLECTIVES_WANTS. */
struct beside *beside_open(const struct trace *trace);
void beside_free(struct beside *beside);

/* The time of [START, END) in which CLASS alone, or anything (BESIDE_ANY), ran beside STREAM. */
int64_t beside_time(const struct beside *beside, size_t stream, uint32_t class, int64_t start_ns,
                    int64_t end_ns);

/* What it is: "all_reduce", "HtoD"; missing for kernels and memsets. Borrowed. */
struct text beside_class_text(const struct beside *beside, uint32_t class);

/* The description of its process group; missing without. Borrowed from the trace. */
struct text beside_class_group(const struct beside *beside, uint32_t class);

#endif
