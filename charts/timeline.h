/*
 * timeline.h - what a page shows of a whole recording: when what ran, on devices and threads, and why devices
 * were idle.
 *
 *     struct timeline *timeline = chart_timeline(trace, selection);
 *     if (timeline) ...                                             // NULL: nothing that takes time was selected
 *     timeline_free(timeline);
 *
 * Lanes, from the top: of each file its devices, each with a lane of idle gaps and one per stream; the critical
 * path, memory in use and counters; the threads. Files are laid on one clock, as the replay lays them (whatif/replay.h).
 *
 * Not every event can be on a page. The longer ones matter more, the work of devices most, and a call as much
 * as what it launched; Python frames of PyTorch itself matter least. Events beyond TIMELINE_MOST_SPANS are
 * counted and not kept.
 */
#ifndef TPA_CHARTS_TIMELINE_H
#define TPA_CHARTS_TIMELINE_H

#include "analyze/selection.h"
#include "base/timeline.h"

enum { TIMELINE_MOST_SPANS = 400000 };

/* What the reader must decode. */
struct trace_wants chart_timeline_wants(void);

/* New; free with timeline_free. NULL: SELECTION holds nothing that takes time. Times are from the earliest origin. */
struct timeline *chart_timeline(const struct trace *trace, const struct selection *selection);

/* How chart_timeline_each makes the lanes. SHIFT_NS and GROUPS are by file, and borrowed; NULL: as ranks of one job have them. */
struct timeline_ways {
    bool with_path; /* the critical path is a lane, which takes the memory of a replay; not with SHIFT_NS */
    int64_t most_gaps;         /* of a device, gaps shorter than the recording divided by this are left out */
    size_t most_cells;         /* of all series together, about */
    const int64_t *shift_ns;   /* added to the times of a file */
    const char *const *groups; /* of the lanes of a file */
};

/* As chart_timeline of all of TRACE, but TAKE gets all spans, each lane's by time, and the timeline holds none. Of a gap, which has a lane
 * of its device for gaps alone, CALL is the work that ended last before it and OPERATION the work after it. */
struct timeline *chart_timeline_each(const struct trace *trace, timeline_taker *take, void *context,
                                     const struct timeline_ways *ways);

/*
 * What can be said of all of TRACE before its events are looked at: kinds, files, and a lane for each track that has events, with no
 * spans: all events are left out. LANE, by track, gets its number; UINT32_MAX: it has none. SHIFT_NS and GROUPS as of timeline_ways. Ranks lie by the clocks of
 * their files, which chart_timeline_each corrects. NULL: nothing takes time.
 */
struct timeline *chart_timeline_outline(const struct trace *trace, const struct timeline_ways *ways,
                                        uint32_t *lane);

/* The kind of E in an outline: by its type alone. TIMELINE_MOST_KINDS: it takes no time, or is not work. */
uint32_t chart_timeline_outline_kind(const struct trace *trace, event_id e);

/* A bit for each kind of chart_timeline_outline_kind on devices, or on the host. */
uint64_t chart_timeline_outline_kinds(bool on_device);

#endif
