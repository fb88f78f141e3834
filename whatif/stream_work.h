/*
 * stream_work.h - the work of each stream in the order of its launches, and as it ended: what ran before what.
 */
#ifndef TPA_WHATIF_STREAM_WORK_H
#define TPA_WHATIF_STREAM_WORK_H

#include "whatif/graph.h"

struct work_stream {
    uint32_t file;
    int32_t device;
    int64_t stream;
    size_t first, count; /* of stream_work.launched */
};

struct stream_work {
    struct work_stream *at; /* by file, device and stream */
    size_t count;
    uint32_t *stream_of_track; /* index into AT; of tracks with work */
    uint32_t *launched;        /* work, stream after stream, by launch; what has no call is not there */
    uint32_t
        *by_thread; /* the same by the track of the call, then by launch; NULL until it is first needed */
    size_t launched_count;
    const struct replay_graph *graph;
};

/* New; to be freed by stream_work_before. Needs the moments of work. */
struct stream_work *stream_work_open(const struct replay_graph *graph);

/* Index into AT of the stream that WORK ran on. */
uint32_t stream_work_of(const struct stream_work *streams, uint32_t work);

/* Index of the stream, SIZE_MAX when no work ran there. */
size_t stream_work_find(const struct stream_work *streams, uint32_t file, int32_t device, int64_t stream);

/* When the call of WORK began, which has one. */
int64_t stream_work_launched_ns(const struct stream_work *streams, uint32_t work);

/* The last work on the stream at INDEX (SIZE_MAX: no such stream) launched before NS; the first after it. SIZE_MAX: none. */
size_t stream_work_launched_before(const struct stream_work *streams, size_t index, int64_t ns);
size_t stream_work_launched_after(const struct stream_work *streams, size_t index, int64_t ns);

/* The last work that calls of TRACK launched before NS; SIZE_MAX: none. The first who asks has it sorted by thread. */
size_t stream_work_launched_by(struct stream_work *streams, track_id track, int64_t ns);

/*
 * New, free with free(): by work, the work of its stream that ended last of those that ended by its start; UINT32_MAX:
 * none. Of operations that ended together, the last to begin. STREAMS, which is freed, need not take memory beside that.
 */
uint32_t *stream_work_before(struct stream_work *streams);

#endif
