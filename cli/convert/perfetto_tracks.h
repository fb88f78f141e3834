/*
 * perfetto_tracks.h - the tracks of a Perfetto file, and the packets that describe them.
 *
 * Each process is a track, with its threads below it; streams of devices are plain tracks below the process of their
 * file that launches, so that ranks stay apart. Their order is explicit (ranks, and a root that requests it), and
 * tracks of the same name are not merged. Process numbers must be unique in the file; if they do not fit, or depend on
 * the track's file, a description holds the pid and tid: "tpa pid=7 tid=7". It is for reading back, as is the
 * description of the root, which holds the head of the same trace as JSON.
 */
#ifndef TPA_CLI_PERFETTO_TRACKS_H
#define TPA_CLI_PERFETTO_TRACKS_H

#include "base/buffer.h"
#include "cli/convert/perfetto_plan.h"
#include "trace/trace.h"

/* A process in the output: one of the trace's, or a container for streams of a file without processes. */
struct perfetto_process {
    track_id track; /* its first */
    uint32_t uuid, file;
    int64_t pid;
    bool is_renumbered; /* pid was assigned by us */
};

/* Of all files of a trace. */
struct perfetto_tracks {
    const struct trace *all; /* borrowed */
    bool *is_empty;          /* by track, as the next two: it has no events, and is not written */
    bool *shared;            /* another file has a process of its number */
    /* index into processes; UINT32_MAX for streams, which are below their file's process */
    uint32_t *process_of;
    uint32_t *host_of; /* by file: the process of its streams; UINT32_MAX: none */
    VEC_OF(struct perfetto_process) processes;
};

/* Find those of ALL, whose counters have samples where HAS_SAMPLES, by track, says so. Free with the second. */
void perfetto_tracks_init(struct perfetto_tracks *tracks, const struct trace *all, const bool *has_samples);
void perfetto_tracks_release(struct perfetto_tracks *tracks);

/* Numbers of tracks: of a thread or stream, below which those of processes are; of the process above a track; of the
 * process above the streams of a file, 0: there is none. */
uint32_t perfetto_track_uuid(const struct perfetto_tracks *tracks, track_id track);
uint32_t perfetto_process_uuid(const struct perfetto_tracks *tracks, track_id track);
uint32_t perfetto_host_uuid(const struct perfetto_tracks *tracks, uint32_t file);

/* Append the root and the processes; a thread or stream, if it has events; a lane of TRACK, counted from FIRST_TRACK. */
void perfetto_append_root(const struct perfetto_tracks *tracks, struct buffer *out);
void perfetto_append_track(const struct perfetto_tracks *tracks, track_id track, struct buffer *out);
void perfetto_append_lane(const struct perfetto_tracks *tracks, track_id first_track,
                          const struct perfetto_lane *lane, struct buffer *out);

/* Begin the description of the counter UUID below the track PARENT (0: of none); end it with perfetto_close_track. */
void perfetto_open_counter(struct buffer *out, uint32_t uuid, uint32_t parent, const char *name, size_t len,
                           bool is_bytes, size_t *packet, size_t *descriptor);
void perfetto_close_track(struct buffer *out, size_t packet, size_t descriptor);

/* Write the pid and tid of a track, and MORE, into its open description, for reading back. */
void perfetto_append_description(const struct perfetto_tracks *tracks, struct buffer *out, track_id id,
                                 const char *more);

/* Begin a packet of SEQUENCE, to be ended by wire_close with what this returns. */
size_t perfetto_open_packet(struct buffer *out, enum perfetto_sequence sequence);

/* Append the packets in TEXT to OUT as one that holds them compressed. */
void perfetto_append_compressed(struct buffer *out, const struct buffer *text);

#endif
