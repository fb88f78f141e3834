/* timeline_parts.h - a timeline being made, for the files charts/timeline*.c. */
#ifndef TPA_CHARTS_TIMELINE_PARTS_H
#define TPA_CHARTS_TIMELINE_PARTS_H

#include "analyze/gaps.h"
#include "base/timeline.h"
#include "whatif/path.h"

/* Kinds of spans; those of gaps and of the critical path follow. */
enum {
    SPAN_MATRIX,
    SPAN_COMPUTATION,
    SPAN_COMMUNICATION,
    SPAN_COPY,
    SPAN_MEMSET,
    SPAN_OPERATOR,
    SPAN_CALL,
    SPAN_WAIT,
    SPAN_PYTHON,
    SPAN_TORCH, /* Python frames of PyTorch itself */
    SPAN_ANNOTATION,
    SPAN_LOADING,            /* operators and annotations that wait for the next batch */
    SPAN_HOST_COMMUNICATION, /* and those that are a collective on the host, of gloo for example */
    SPAN_OVERHEAD,
    SPAN_OTHER,
    SPAN_IDLE,
    SPAN_SHORT_GAPS = SPAN_IDLE + GAP_CAUSES,
    SPAN_PATH,
    SPAN_KINDS = SPAN_PATH + PATH_PARTS
};
_Static_assert((int)SPAN_KINDS <= (int)TIMELINE_MOST_KINDS, "every kind has a place in a strip");

/* A piece of the critical path of the window WINDOW. */
struct timeline_piece {
    struct path_segment segment;
    size_t window;
    uint32_t file; /* whose window it is */
};

struct timeline_making {
    const struct trace *trace;
    const struct selection *selection; /* NULL: everything */
    const struct gpu_events *gpu;
    const struct replay_graph *graph; /* NULL: no critical path is wanted, or its pieces are known */
    struct replay_graph *own_graph;   /* GRAPH, if it is to be freed */
    VEC_OF(struct timeline_piece) pieces;
    bool has_windows; /* the path is of several */
    struct timeline *timeline;
    timeline_taker *take; /* gets the spans; NULL: the timeline keeps them */
    void *take_context;
    int64_t most_gaps; /* of a device, as these: see chart_timeline_each */
    size_t most_cells;
    const int64_t *lain_ns;    /* NULL: as GRAPH lays them */
    const char *const *groups; /* NULL: ranks */
    int64_t *shift_ns;         /* by file: to be added to its times */
    uint8_t *kind_of_name;     /* by name: of kernels and Python frames; SPAN_KINDS: not looked at yet */
    uint8_t
        *kind_of_call; /* by name: of operators and annotations, likewise; SPAN_OTHER: as their events say */
    float *
        launched_ns; /* by event: time of the longest work that a call launched, or its operator; NULL: no work */
    name_id gap_name[GAP_CAUSES]; /* in timeline->names */
    name_id *ended_by;         /* by name of the work after a gap: in timeline->details; NAME_NONE: not yet */
    uint8_t *waits;            /* by event: a bit for the calls that wait */
    int64_t least_weight;      /* lighter spans are left out */
    struct names *details;     /* details of spans, by these ids: */
    VEC_OF(name_id) detail_of; /* in timeline->details */
    struct buffer text;
};

/* Is WEIGHT too small for a span to be kept? Then it is counted as left out, and need not be made. */
static inline bool timeline_leaves_out(struct timeline_making *making, int64_t weight)
{
    making->timeline->left_out += weight < making->least_weight;
    return weight < making->least_weight;
}

/* Take SPAN, whose times are on the clock of FILE; no name is given to it yet. Left out where its weight is too
 * small. */
void timeline_collect(struct timeline_making *making, uint32_t file, struct timeline_span span);

/* The kind of EVENT. */
uint32_t timeline_kind_of(struct timeline_making *making, event_id event);

/* Gaps shorter than this part of the recording are only summed up on a page: nobody can see them. */
enum { TIMELINE_MOST_GAPS = 200000 };

/* The name of a track, and of a file: "rank 3", "" where there is one. In the text of MAKING. */
const char *timeline_name_track(struct timeline_making *making, const struct track *track);
const char *timeline_name_file(struct timeline_making *making, uint32_t file);

/* The lanes, spans and strips of devices; a strip of a thread for each file without. */
void timeline_add_devices(struct timeline_making *making);

/* Steps; what stands for the recording where there are none; the critical path; memory in use; counters. */
void timeline_add_steps(struct timeline_making *making);
void timeline_add_excerpt(struct timeline_making *making);
void timeline_find_path(
    struct timeline_making *making); /* the pieces, from the graph, which is freed if it is MAKING's own */
void timeline_add_path(struct timeline_making *making);
void timeline_add_memory(struct timeline_making *making);
void timeline_add_counters(struct timeline_making *making);

/* Waits of devices, and what the host did asynchronously. */
void timeline_add_rest(struct timeline_making *making);

#endif
