/*
 * timeline.h - description of a timeline of a whole recording, and of a flame graph, for a renderer to draw.
 *
 *     struct timeline *timeline = timeline_open("The whole recording", start_ns, dur_ns, 1000);
 *     uint32_t matrix = timeline_add_kind(timeline, "matrix kernels", "device", CHART_PURPLE);
 *     uint32_t lane = timeline_add_lane(timeline, "device 0, stream 7", "", TIMELINE_DEVICE);
 *     timeline_add_span(timeline, &(struct timeline_span){ .lane = lane, .kind = matrix, .start_ns = 8, .dur_ns = 5 });
 *     timeline_fill_strip(timeline, timeline_add_strip(timeline, "device 0"), matrix, 8, 13, 5);
 *     timeline_rank(timeline);
 *
 *     struct flame *flame = flame_open("slowest", "ProfilerStep#12, the slowest step");
 *     frame_id step = flame_frame(flame, FRAME_NONE, "train_step", 10);
 *     flame->frames.at[step].total_ns += 84123000;
 *
 * As in base/chart.h: an analysis fills the description and draws nothing; a renderer knows nothing of kernels.
 */
#ifndef TPA_BASE_TIMELINE_H
#define TPA_BASE_TIMELINE_H

#include "base/chart.h"
#include "base/names.h"

/* The kind of a span, shown by its colour. */
struct timeline_kind {
    const char *title; /* "matrix kernels" */
    const char *group; /* heading in the legend: "device", "idle", "host" */
    enum chart_color color;
};

enum timeline_place {
    TIMELINE_DEVICE,
    TIMELINE_MARKS,
    TIMELINE_HOST
}; /* lanes of devices are always visible on top */

struct timeline_lane {
    const char *title; /* "thread 4711", "device 0, stream 7" */
    const char *group; /* "rank 0"; "" for a single file */
    enum timeline_place place;
    uint32_t strip; /* strip of a device */
    bool closed;    /* only its uppermost row is shown initially */
};

/* Not an event: a gap, or work whose call is not in the file. */
#define TIMELINE_NO_EVENT UINT32_MAX

struct timeline_span {
    uint32_t lane, kind;
    uint16_t depth;           /* 0 is the uppermost row of the lane */
    uint16_t inner;           /* rows above it that are folded initially, itself not counted */
    bool folded;              /* is itself folded initially */
    name_id name;             /* in timeline->names */
    name_id detail;           /* in timeline->details: lines "key: value" */
    uint32_t event, call;     /* ids of its own event and of the one that launched it; or TIMELINE_NO_EVENT */
    uint32_t operation;       /* operator that launched it; for the code that fills it */
    uint32_t rank;            /* set by timeline_rank: 0 is the heaviest, of equal ones the earlier */
    int64_t correlation;      /* 0: none */
    int64_t start_ns, dur_ns; /* on the clock of the timeline, as start_ns below */
    int64_t weight;           /* the heaviest are kept if not all can be drawn */
};

struct timeline_step {
    int64_t number, start_ns, dur_ns;
    int64_t host_ns, host_end_ns; /* its range on the host, which often begins before the devices do */
    uint32_t file;
};

/* A stretch that stands for the recording where no steps are marked. */
struct timeline_excerpt {
    const char *title,
        *note; /* "One decode step", "of 8 requests, of median length"; TITLE NULL: there is none */
    int64_t start_ns, dur_ns; /* on the clock of the timeline */
    uint32_t file;            /* whose lanes are drawn, unless another holds the job up */
};

/* An input file: moments in tables count from the origin of their file. */
struct timeline_file {
    int64_t rank, origin_ns;  /* on the clock of the timeline */
    int64_t shift_ns;         /* what its times were moved by onto that clock */
    const char *name, *group; /* GROUP: of its lanes */
};

/* The bin or cell that was found last, from the start of the timeline: what is added next is mostly in it. Empty: none yet. */
struct timeline_bin {
    size_t at;
    int64_t from_ns, to_ns;
};

/* The whole recording in a row of bins: time of each kind per bin. */
struct timeline_strip {
    const char *title;
    int64_t *ns; /* [bin * TIMELINE_MOST_KINDS + kind] */
    struct timeline_bin near;
};

/* From CELL on a figure is VALUE; INT64_MIN: not known. */
struct timeline_run {
    size_t cell;
    int64_t value;
};

/* A figure over time, such as memory in use: the maximum of each bin. */
struct timeline_series {
    const char *title;
    uint32_t strip; /* of the device whose queue of launches it is; or one of the following */
    int64_t *most;  /* by cell, of which a bin has FINER; INT64_MIN: not known. NULL: it has runs instead */
    VEC_OF(struct timeline_run) runs; /* by cell, from 0 on */
    struct timeline_bin near;
};

#define TIMELINE_BYTES UINT32_MAX         /* memory in use */
#define TIMELINE_COUNTER (UINT32_MAX - 1) /* a counter, times 1000; not below 0 */

enum { TIMELINE_MOST_KINDS = 64 };

/* At AT_NS, memory in use by the code NAME changes by BYTES and its number of blocks by BLOCKS; both may be
 * negative. */
struct timeline_use {
    int64_t at_ns, bytes;
    name_id name; /* of timeline->names */
    int32_t blocks;
};

struct timeline {
    const char *title;
    const char *of;           /* of a snapshot: "device 0"; NULL: it is of a recording */
    const char *side;         /* of a comparison, "before" or "after"; NULL: there is one recording */
    int64_t start_ns, dur_ns; /* what it shows */
    bool alive;         /* spans show existence rather than execution: all spans open at a moment matter */
    size_t bins, finer; /* FINER: 1, or set before a series is added */
    VEC_OF(struct timeline_kind) kinds; /* empty: spans are coloured by name */
    VEC_OF(struct timeline_lane) lanes;
    VEC_OF(struct timeline_span) spans; /* as added; lane by lane and by start is cheapest */
    VEC_OF(struct timeline_step) steps;
    struct timeline_excerpt excerpt; /* texts are constant, or of the arena */
    VEC_OF(struct timeline_file) files;
    VEC_OF(struct timeline_strip) strips;
    VEC_OF(struct timeline_series) series;
    VEC_OF(struct timeline_use) uses; /* of all blocks, drawn or not, in any order; only where ALIVE is set */
    struct names *names, *details;
    uint64_t left_out;       /* events that are not among the spans */
    size_t devices_left_out; /* devices that have neither lane nor strip */
    /* command that writes a range of it for Perfetto: "tpa convert FILE --range"; NULL: none */
    const char *command;
    const char *viewer; /* command that shows all of it: "tpa view FILE"; NULL: none */
    struct arena arena;
};

/* New, empty; free with timeline_free (NULL is allowed). TITLE is copied. BINS are those of strips and series. */
struct timeline *timeline_open(const char *title, int64_t start_ns, int64_t dur_ns, size_t bins);
void timeline_free(struct timeline *timeline);

/* Each returns the id of the new object. Texts are copied, except those of kinds, which are borrowed. At most
 * TIMELINE_MOST_KINDS kinds. */
uint32_t timeline_add_kind(struct timeline *timeline, const char *title, const char *group,
                           enum chart_color color);
uint32_t timeline_add_lane(struct timeline *timeline, const char *title, const char *group,
                           enum timeline_place place);
size_t timeline_add_strip(struct timeline *timeline, const char *title);
size_t timeline_add_series(struct timeline *timeline, const char *title, uint32_t strip);

/* Add a copy of SPAN, cut at the ends of the timeline; nothing if it is outside. */
void timeline_add_span(struct timeline *timeline, const struct timeline_span *span);

/* Add TIME_NS of KIND, spread evenly over [START, END), which may extend beyond the timeline. */
void timeline_fill_strip(struct timeline *timeline, size_t strip, uint32_t kind, int64_t start_ns,
                         int64_t end_ns, int64_t time_ns);

/* The series is VALUE in [START, END), or at START where they are equal; both may lie beyond the timeline. */
void timeline_set_series(struct timeline *timeline, size_t series, int64_t start_ns, int64_t end_ns,
                         int64_t value);

/* All of the series is set: one that changes seldom is held by its runs. */
void timeline_end_series(struct timeline *timeline, size_t series);

/* The most of the series from cell FIRST to before END, as far as there are cells; INT64_MIN: it is not known. */
int64_t timeline_series_most(const struct timeline *timeline, size_t series, size_t first, size_t end);

/* The changes of a series from START to END, each from a moment on: at most MOST, and a few, of longer stretches the most of each. */
struct timeline_change {
    int64_t start_ns, value;
};
struct timeline_changes {
    VEC_OF(struct timeline_change);
};
void timeline_read_series(const struct timeline *timeline, size_t series, int64_t start_ns, int64_t end_ns,
                          size_t most, struct timeline_changes *changes);

/* Keep only the MOST (1 or more) spans that timeline_rank would give the lowest ranks, in their present order. Returns the
 * weight of the lightest span kept, INT64_MIN if all are kept. */
int64_t timeline_cut(struct timeline *timeline, size_t most);

/* Call after all spans are added: numbers them by weight, see timeline_span.rank. */
void timeline_rank(struct timeline *timeline);

/* What gets a span: of an event, or, where EVENT is TIMELINE_NO_EVENT, of a gap, whose operation is the work
 * that ended it, or of a piece of the critical path. SPAN is borrowed; it has no name, detail and rank, and
 * is not cut at the ends. */
typedef void timeline_taker(void *context, const struct timeline_span *span);

typedef uint32_t frame_id;
#define FRAME_NONE UINT32_MAX

/* All calls of one name under the same callers. */
struct flame_frame {
    frame_id parent; /* smaller than the id of any child; FRAME_NONE: a root */
    name_id name;
    uint64_t count;
    int64_t host_ns; /* from start to end, callees included */
    /* time of the GPU work that it launched; includes that of callees only after flame_finish */
    int64_t device_ns;
};

struct flame {
    const char *key, *title;
    bool bytes; /* shows bytes instead of times, in host_ns; device_ns is unused */
    VEC_OF(struct flame_frame) frames;
    struct names *names;
    struct names *paths; /* (parent, name) -> frame */
    struct arena arena;
};

/* New, empty; free with flame_free (NULL is allowed). KEY is borrowed, TITLE copied. */
struct flame *flame_open(const char *key, const char *title);
void flame_free(struct flame *flame);

/* The frame NAME called by PARENT (FRAME_NONE: a root); created with all fields zero if new. */
frame_id flame_frame(struct flame *flame, frame_id parent, const char *name, size_t len);

/* Call after all frames are added: adds the device time of callees to their callers, and drops frames below SHARE
 * (0..1) of both the total host and the total device time; their time stays in their callers. */
void flame_finish(struct flame *flame, double share);

#endif
