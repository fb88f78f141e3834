/*
 * timeline.h - what ran when, over a whole recording, and what a call tree adds up to: described, for a
 * renderer to draw.
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
 * As base/chart.h does for pictures: an analysis fills it and draws nothing, a renderer knows no kernel.
 */
#ifndef TPA_BASE_TIMELINE_H
#define TPA_BASE_TIMELINE_H

#include "base/arena.h"
#include "base/chart.h"
#include "base/memory.h"
#include "base/names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What a span is, which its colour shows. */
struct timeline_kind {
    const char *title; /* "matrix kernels" */
    const char *group; /* heading in the legend: "device", "idle", "host" */
    enum chart_color color;
};

enum timeline_place {
    TIMELINE_DEVICE,
    TIMELINE_MARKS,
    TIMELINE_HOST
}; /* lanes of devices are on top and stay there */

struct timeline_lane {
    const char *title; /* "thread 4711", "device 0, stream 7" */
    const char *group; /* "rank 0"; "" where there is one file */
    enum timeline_place place;
    uint32_t strip; /* of a device: its strip */
    bool closed;    /* at first only its uppermost row is shown */
};

/* No event: of a gap, or of work whose call is not in the file. */
#define TIMELINE_NO_EVENT UINT32_MAX

struct timeline_span {
    uint32_t lane, kind;
    uint16_t depth; /* 0 is the uppermost row of the lane */
    uint16_t inner; /* how many of those above it are of kinds that are folded at first; itself not counted */
    bool folded;    /* it is such a one itself */
    name_id name;   /* in timeline->names */
    name_id detail; /* in timeline->details: lines "key: value" */
    uint32_t event,
        call; /* numbers that tell events apart: its own, and that of what launched it; or TIMELINE_NO_EVENT */
    uint32_t operation;       /* that launched it, as event; for whoever fills it */
    int64_t correlation;      /* 0: none */
    int64_t start_ns, dur_ns; /* on the clock of the timeline, as start_ns below */
    int64_t weight;           /* those with most stay when not all can */
};

struct timeline_step {
    int64_t number, start_ns, dur_ns;
    int64_t host_ns; /* the host began it, often before the devices did */
    uint32_t file;
};

/* An input file: moments in tables count from the origin of their file. */
struct timeline_file {
    int64_t rank, origin_ns; /* on the clock of the timeline */
    const char *name;
};

/* The whole recording in a row of bins: how long each kind took in each. */
struct timeline_strip {
    const char *title;
    int64_t *ns; /* [bin * TIMELINE_MOST_KINDS + kind] */
};

/* A figure over time, such as memory in use: the most in each bin. */
struct timeline_series {
    const char *title;
    int64_t *most; /* by bin; INT64_MIN: as in the bin before */
};

enum { TIMELINE_MOST_KINDS = 64 };

/* From AT_NS on the code NAME has BYTES more in BLOCKS more; both may be negative. */
struct timeline_use {
    int64_t at_ns, bytes;
    name_id name; /* of timeline->names */
    int32_t blocks;
};

struct timeline {
    const char *title;
    int64_t start_ns, dur_ns; /* what is shown */
    bool alive; /* spans are what was there rather than what ran: of a moment all that are open matter */
    size_t bins;
    VEC_OF(struct timeline_kind) kinds; /* none: spans are coloured by name */
    VEC_OF(struct timeline_lane) lanes;
    VEC_OF(struct timeline_span) spans; /* after timeline_rank the heaviest first */
    VEC_OF(struct timeline_step) steps;
    VEC_OF(struct timeline_file) files;
    VEC_OF(struct timeline_strip) strips;
    VEC_OF(struct timeline_series) series;
    VEC_OF(struct timeline_use) uses; /* of all blocks, drawn or not, in any order; only where ALIVE is set */
    struct names *names, *details;
    uint64_t left_out;       /* events that are not among the spans */
    size_t devices_left_out; /* that have neither lane nor strip */
    const char
        *command; /* writes a part of it for Perfetto: "tpa convert FILE --range"; NULL: there is none */
    struct arena arena;
};

/* New, empty; free with timeline_free (NULL is allowed). TITLE is copied. BINS are those of strips and series. */
struct timeline *timeline_open(const char *title, int64_t start_ns, int64_t dur_ns, size_t bins);
void timeline_free(struct timeline *timeline);

/* Their numbers. Texts are copied, except a kind's, which are borrowed. No more than TIMELINE_MOST_KINDS kinds. */
uint32_t timeline_add_kind(struct timeline *timeline, const char *title, const char *group,
                           enum chart_color color);
uint32_t timeline_add_lane(struct timeline *timeline, const char *title, const char *group,
                           enum timeline_place place);
size_t timeline_add_strip(struct timeline *timeline, const char *title);
size_t timeline_add_series(struct timeline *timeline, const char *title);

/* A copy of SPAN, cut at the ends of the timeline; nothing when it lies outside. */
void timeline_add_span(struct timeline *timeline, const struct timeline_span *span);

/* TIME_NS of KIND, spread evenly over [START, END), which may reach beyond the timeline. */
void timeline_fill_strip(struct timeline *timeline, size_t strip, uint32_t kind, int64_t start_ns,
                         int64_t end_ns, int64_t time_ns);

/* The series was VALUE from NS on. In order of time. */
void timeline_set_series(struct timeline *timeline, size_t series, int64_t ns, int64_t value);

/*
 * Leave the MOST (1 or more) spans that timeline_rank would put first, in the order that they have: it takes a fraction of the
 * time. Returns the weight of the lightest that is left; INT64_MIN: all are.
 */
int64_t timeline_cut(struct timeline *timeline, size_t most);

/* All is in: order the spans by weight, of equal ones the earlier first. */
void timeline_rank(struct timeline *timeline);

typedef uint32_t frame_id;
#define FRAME_NONE UINT32_MAX

/* All calls of one name under the same callers. */
struct flame_frame {
    frame_id parent; /* stands before its children; FRAME_NONE: nobody called it */
    name_id name;
    uint64_t count;
    int64_t host_ns;   /* from start to end, its callees included */
    int64_t device_ns; /* of the GPU work that it launched; of its callees only after flame_finish */
};

struct flame {
    const char *key, *title;
    bool bytes; /* what it adds up is bytes, in place of times: host_ns holds them, device_ns nothing */
    VEC_OF(struct flame_frame) frames;
    struct names *names;
    struct names *paths; /* (parent, name) -> frame */
    struct arena arena;
};

/* New, empty; free with flame_free (NULL is allowed). KEY is borrowed, TITLE copied. */
struct flame *flame_open(const char *key, const char *title);
void flame_free(struct flame *flame);

/* The frame NAME called by PARENT (FRAME_NONE: by nobody), made when it is new, all zero. */
frame_id flame_frame(struct flame *flame, frame_id parent, const char *name, size_t len);

/*
 * All is in: give callers the device time of their callees, and drop frames below SHARE (0..1) of all the
 * host's time and of all the device's, whose time stays in their callers.
 */
void flame_finish(struct flame *flame, double share);

#endif
