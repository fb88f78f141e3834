/*
 * perfetto_path.h - the critical path in a Perfetto file: a group of tracks, one for each thread or stream that the
 * path runs on, with its pieces, and an arrow where it goes from one to another.
 *
 * Their descriptions say "tpa derived": readers of tpa ignore them, because they repeat the events.
 */
#ifndef TPA_CLI_PERFETTO_PATH_H
#define TPA_CLI_PERFETTO_PATH_H

#include "base/buffer.h"
#include "trace/trace.h"

/*
 * Append the packets to OUT; returns how many pieces there are. TRACE was read for REPLAY_WANTS at least. SHIFT_NS, by
 * file, is added to times of events. *NEXT_UUID: the next unused track number; advanced.
 */
size_t perfetto_append_path(const struct trace *trace, const int64_t *shift_ns, uint32_t *next_uuid,
                            struct buffer *out);

#endif
