/* perfetto.h - the parts of the writer of Perfetto files. */
#ifndef TPA_CLI_CONVERT_PERFETTO_H
#define TPA_CLI_CONVERT_PERFETTO_H

#include "derive/collectives.h"

/* perfetto_flows.c - the arrows of a Perfetto file: from a call to each piece of work that it launched, from forward to
 * backward, and between the members of one collective on several ranks. */

/* Ids of flows: the kind in the upper bits, and a running number. */
enum { FLOW_LAUNCH = 1, FLOW_BACKWARD = 2, FLOW_COLLECTIVE = 3, FLOW_PATH = 4, FLOW_KIND_SHIFT = 56 };

/* A flow touches an event; those of one id are joined, in order of time. */
struct perfetto_flow_end {
    event_id event;
    uint32_t number; /* added to the first id of its kind */
};

/* The ends of one kind, by event, then number. */
struct perfetto_flow_ends {
    VEC_OF(struct perfetto_flow_end);
    uint64_t first_id;
};

/* Launches are stored by their calls; that of a piece of work, whose number is the event, is a bit. Zero-initialise it.
 * ARROWS: how many there are. */
struct perfetto_flows {
    struct perfetto_flow_ends launches, backward, collectives;
    uint64_t *is_launched; /* a bit for each event; NULL: none is */
    size_t arrows;
};

/* Where the last event was found in each kind. Zero-initialise it. */
struct perfetto_flow_scan {
    size_t launches, backward, collectives;
};

/* The next unused ids. Zero-initialise it. */
struct perfetto_flow_ids {
    uint64_t launch, backward;
};

/* Find those within TRACE, which was read with correlations and flow arrows, and those between ranks that touch it: ends
 * in COLLECTIVES, which are of TRACE by event and are taken. IDS are advanced. */
void perfetto_flows_find(struct perfetto_flows *flows, const struct trace *trace,
                         struct perfetto_flow_ids *ids, struct perfetto_flow_ends *collectives);

/* The arrows between ranks: one for each collective that several of ALL took part in. Ends are events of its trace.
 * Returns how many arrows there are. Free ENDS by VEC_FREE. */
size_t perfetto_flows_between(struct perfetto_flow_ends *ends, const struct collectives *all);

/* Index of the first end at E; if E has none, that of a later event. */
size_t perfetto_flows_first(const struct perfetto_flow_ends *ends, event_id e);

/* Append the ids of the flows of E to OUT, a TrackEvent. */
void perfetto_flows_append(const struct perfetto_flows *flows, struct perfetto_flow_scan *scan, event_id e,
                           struct buffer *out);

/* Free what FLOWS owns. */
void perfetto_flows_release(struct perfetto_flows *flows);

/*
 * perfetto_path.c - the critical path in a Perfetto file: a group of tracks, one for each thread or stream that the
 * path runs on, with its pieces, and an arrow where it goes from one to another.
 *
 * Their descriptions say "tpa derived": readers of tpa ignore them, because they repeat the events.
 */

/* Append the packets to OUT; returns how many pieces there are. TRACE was read for REPLAY_WANTS at least. SHIFT_NS, by
 * file, is added to times of events. *NEXT_UUID: the next unused track number; advanced. */
size_t perfetto_append_path(const struct trace *trace, const int64_t *shift_ns, uint32_t *next_uuid,
                            struct buffer *out);

/*
 * perfetto_plan.c - the contents of a Perfetto file in order: file by file, beginnings and ends of all tracks by time.
 *
 * Slices of one track must nest there, because an END closes the slice begun last. Crossing slices go to a separate
 * track below the first, a lane. At one moment, ENDs come before BEGINs, and the longer slice is begun first; those of
 * equal length are begun in the order of the trace, whose analyses nest in the same order.
 */

/* Sequences of packets: interned texts and defaults hold for the first. */
enum perfetto_sequence { PERFETTO_EVENTS_SEQUENCE = 1, PERFETTO_PLAIN_SEQUENCE = 2 };

enum perfetto_mark_type {
    PERFETTO_BEGIN = 1,
    PERFETTO_END = 2,
    PERFETTO_INSTANT = 3
}; /* as in TrackEvent.type */

struct perfetto_mark {
    event_id event;
    uint32_t uuid; /* of the track */
    uint8_t type;  /* enum perfetto_mark_type */
};

/* A track for crossing or asynchronous slices of TRACK. */
struct perfetto_lane {
    track_id track;
    uint32_t uuid, number; /* number: from 1 */
    bool is_async;
};

/* There are two marks for most events, so they are stored in few bytes; use perfetto_plan_mark. */
struct perfetto_plan {
    const struct trace *trace;
    uint32_t next_uuid;
    uint32_t *uuid_of; /* by track: its own; processes have numbers before these */
    uint32_t *lane_of; /* by event: the uuid of its lane; 0: its track is none */
    event_id *marks;   /* the event of each */
    uint64_t *is_end;  /* a bit for each mark */
    size_t mark_count;
    VEC_OF(struct perfetto_lane) lanes;
};

/* Plan TRACE, whose tracks get uuids from FIRST_UUID on, and others from NEXT_UUID on. Free with
 * perfetto_plan_release. */
void perfetto_plan_init(struct perfetto_plan *plan, const struct trace *trace, uint32_t first_uuid,
                        uint32_t next_uuid);
void perfetto_plan_release(struct perfetto_plan *plan);

/* The mark at INDEX, below mark_count. */
static inline struct perfetto_mark perfetto_plan_mark(const struct perfetto_plan *plan, size_t index)
{
    event_id e = plan->marks[index];
    bool is_end = plan->is_end[index / 64] >> index % 64 & 1;
    enum perfetto_mark_type begin = plan->trace->flags[e] & EVENT_POINT ? PERFETTO_INSTANT : PERFETTO_BEGIN;
    return (struct perfetto_mark){
        .event = e,
        .uuid = plan->lane_of[e] ? plan->lane_of[e] : plan->uuid_of[plan->trace->track[e]],
        .type = (uint8_t)(is_end ? PERFETTO_END : begin),
    };
}

/*
 * perfetto_tracks.c - the tracks of a Perfetto file, and the packets that describe them.
 *
 * Each process is a track, with its threads below it; streams of devices are plain tracks below the process of their
 * file that launches, so that ranks stay apart. Their order is explicit (ranks, and a root that requests it), and
 * tracks of the same name are not merged. Process numbers must be unique in the file; if they do not fit, or depend on
 * the track's file, a description holds the pid and tid: "tpa pid=7 tid=7". It is for reading back, as is the
 * description of the root, which holds the head of the same trace as JSON.
 */

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
