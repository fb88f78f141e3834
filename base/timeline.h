/*
 * timeline.h - what ran when on a few tracks, and what a call tree adds up to: described, for a renderer to draw.
 *
 *     struct timeline *timeline = timeline_open("slowest", "ProfilerStep#12, the slowest step", 0, 84123000);
 *     size_t lane = timeline_add_lane(timeline, "thread 4711", false);
 *     timeline_add_span(timeline, lane, 0, "aten::mm", 8, 10500, 2300);
 *     timeline_thin(timeline, 12000);
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
#include "base/memory.h"
#include "base/names.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct timeline_span {
    uint32_t lane, depth; /* 0 is the uppermost row of the lane */
    name_id name;         /* in timeline->names */
    int64_t start_ns;     /* from the origin of the file, as everywhere */
    int64_t dur_ns;
};

struct timeline_lane {
    const char *title; /* "thread 4711", "device 0, stream 7" */
    bool on_device;
    uint32_t rows; /* depths in use */
};

struct timeline {
    const char *key, *title;
    int64_t start_ns, dur_ns; /* what is shown */
    VEC_OF(struct timeline_lane) lanes;
    VEC_OF(struct timeline_span) spans; /* by start */
    struct names *names;
    size_t left_out;  /* spans too short to be here */
    int64_t below_ns; /* ... which all took less than, or as long as, this */
    struct arena arena;
};

/* New, empty; free with timeline_free (NULL is allowed). KEY is borrowed, TITLE copied. */
struct timeline *timeline_open(const char *key, const char *title, int64_t start_ns, int64_t dur_ns);
void timeline_free(struct timeline *timeline);

/* Its index. TITLE is copied. */
size_t timeline_add_lane(struct timeline *timeline, const char *title, bool on_device);

void timeline_add_span(struct timeline *timeline, size_t lane, uint32_t depth, const char *name, size_t len,
                       int64_t start_ns, int64_t dur_ns);

/* Keep the longest spans, MOST of them, and sort all by start. */
void timeline_thin(struct timeline *timeline, size_t most);

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
 * All is in: give callers the device time of their callees, and drop frames below SHARE (0..1) of all the host's time
 * and of all the device's, whose time stays in their callers.
 */
void flame_finish(struct flame *flame, double share);

#endif
