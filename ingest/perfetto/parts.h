/*
 * parts.h - what the files of the Perfetto reader share; for perfetto*.c only.
 *
 *     perfetto.c         the file: packets, what is reported of the format, the passes
 *     clock.c   timestamps of any clock -> time of the trace
 *     track.c   descriptors of tracks -> processes, threads, streams
 *     state.c   the state of a sequence: interned texts, defaults
 *     pair.c    which END closes which BEGIN
 *     event.c   TrackEvent -> events, samples, flows
 *     args.c    DebugAnnotation -> arguments
 *     gpu.c     GpuRenderStageEvent, GpuCounterEvent -> events, samples
 */
#ifndef TPA_INGEST_PERFETTO_PARTS_H
#define TPA_INGEST_PERFETTO_PARTS_H

#include "ingest/chrome/chrome.h"
#include "base/id_table.h"
#include "ingest/whole.h"

/* ---- clocks ---- */

enum { PF_REALTIME = 1, PF_MONOTONIC = 3, PF_BOOTTIME = 6, PF_FIRST_OWN = 64, PF_LAST_OWN = 127 };

/* Clocks 64 to 127 belong to their sequence. */
static inline uint64_t pf_clock_key(uint64_t clock, uint32_t sequence)
{
    return clock >= PF_FIRST_OWN && clock <= PF_LAST_OWN ? (uint64_t)sequence << 32 | clock : clock;
}

/* A reading of a clock, and what the trace's clock showed then. */
struct pf_reading {
    int64_t at_ns, trace_ns;
};

struct pf_clock {
    uint64_t key;
    VEC_OF(struct pf_reading) readings; /* by at_ns, once settled */
};

struct pf_snapshot_clock {
    uint32_t snapshot, clock; /* clock: index into clocks */
    int64_t at_ns;
};

struct pf_clocks {
    struct id_table places;
    VEC_OF(struct pf_clock) clocks;
    VEC_OF(struct pf_snapshot_clock) seen; /* in file order */
    uint32_t snapshots;
    uint64_t primary; /* key of the trace's clock; 0: none is reported */
    bool has_real;
    int64_t real_minus_boot_ns; /* of the first snapshot with both */
};

/* Take the ClockSnapshot IN of SEQUENCE. */
void pf_clocks_add(struct pf_clocks *clocks, struct wire in, uint32_t sequence);
void pf_clocks_settle(struct pf_clocks *clocks);
void pf_clocks_release(struct pf_clocks *clocks);

/* The time of the trace when the clock of KEY showed AT. False: that is unknown. */
bool pf_clocks_convert(const struct pf_clocks *clocks, uint64_t key, int64_t at, int64_t *trace_ns);

/* ---- tracks ---- */

struct pf_track {
    uint64_t uuid, parent;
    struct wire_text name, process_name, thread_name, label, description;
    int64_t pid, tid, process_order, thread_order;
    bool is_described, has_process, has_thread, has_parent;
    bool is_counter, is_incremental;
    bool is_async;      /* its events belong to no thread's stack */
    bool is_derived;    /* written by tpa, and implied by other events */
    int64_t multiplier; /* of counters */
    int64_t counted;    /* of incremental counters, so far */
    double counted_double;
    bool is_resolved;
    track_id track;    /* the chunk's */
    uint16_t category; /* of its events that have none; UINT16_MAX: none */
};

struct pf_tracks {
    struct id_table places;
    VEC_OF(struct pf_track) at;
    struct id_table process_places; /* by pid: a track that describes the process */
    struct names *taken;            /* keys of tracks without a thread, so that two of one name stay apart */
};

/* Take the TrackDescriptor IN; the place of its track. */
uint32_t pf_tracks_add(struct pf_tracks *tracks, struct wire in);
/* Take the old ThreadDescriptor or ProcessDescriptor IN. */
void pf_tracks_add_process(struct pf_tracks *tracks, struct wire in);
void pf_tracks_add_process_tree(struct pf_tracks *tracks, struct wire in);
/* The place of the track of UUID, which is there from now on if it was not. */
uint32_t pf_tracks_place(struct pf_tracks *tracks, uint64_t uuid);
/* A track for the thread (PID, TID), which events of old files name themselves. */
uint32_t pf_tracks_thread(struct pf_tracks *tracks, int64_t pid, int64_t tid);
void pf_tracks_release(struct pf_tracks *tracks);

/* ---- sequences ---- */

/* Fields of InternedData, all in one table. */
enum pf_interned_kind {
    PF_CATEGORY = 1,
    PF_NAME = 2,
    PF_ANNOTATION_NAME = 3,
    PF_STRING = 29,
    PF_CONTEXT = 23,
    PF_SPECIFICATION = 24,
    PF_COUNTERS = 47,
    PF_KERNEL = 1000,
    PF_KERNEL_ARG = 1001,
};

struct pf_interned {
    struct wire_text text; /* field 2 of the entry, which is its text in most kinds */
    struct wire message;   /* the whole entry */
    uint32_t id, serial;   /* of event names and categories: the chunk's, valid in SERIAL of the reader */
};

struct pf_sequence {
    uint32_t id;
    bool is_valid;
    struct id_table places; /* kind << 48 ^ iid */
    VEC_OF(struct pf_interned) interned;
    uint64_t default_clock, default_track;
    bool has_default_track;
    VEC_OF(uint64_t) default_counters;
    struct {
        uint64_t clock;
        int64_t value, multiplier;
    } own_clocks[4]; /* incremental ones */
    size_t own_clock_count;
    int64_t old_time_us; /* of old files: the last timestamp */
    int64_t pid, tid;    /* of its ThreadDescriptor; -1: none */
};

struct pf_sequences {
    struct id_table places;
    VEC_OF(struct pf_sequence) at;
    uint32_t last; /* the place requested last */
};

/* The sequence of ID, which is added if it is new; valid until the next one is added. Then: forget its state;
 * intern the entries of the InternedData IN; take the TracePacketDefaults IN; find what was interned, NULL if
 * nothing was; free all. */
struct pf_sequence *pf_sequence_of(struct pf_sequences *sequences, uint32_t id);
void pf_sequence_clear(struct pf_sequence *sequence);
void pf_sequence_intern(struct pf_sequence *sequence, struct wire in);
void pf_sequence_defaults(struct pf_sequence *sequence, struct wire in);
struct pf_interned *pf_sequence_find(const struct pf_sequence *sequence, enum pf_interned_kind kind,
                                     uint64_t iid);
void pf_sequences_release(struct pf_sequences *sequences);

/* ---- packets ---- */

/* The parts of a TracePacket that are looked at. */
struct pf_packet {
    const uint8_t *at;
    uint64_t timestamp, clock;
    bool has_timestamp, has_clock;
    uint32_t sequence, flags;
    bool clears, lost;
    uint32_t payload; /* number of the field that is; 0: none */
    struct wire interned, defaults, body;
    bool has_interned, has_defaults;
};

/* What a track event does. */
enum pf_event_type { PF_NOTHING, PF_BEGIN, PF_END, PF_INSTANT, PF_COUNTER, PF_COMPLETE };

/* A BEGIN or an END, in file order. */
struct pf_mark {
    int64_t ts_ns;
    uint32_t track; /* place in tracks */
    uint32_t end;   /* of a BEGIN: the mark that closes it; UINT32_MAX: none */
    bool is_end;
    struct wire_text name; /* an END's own: it closes what has that name */
    struct wire body;      /* an END with arguments: its TrackEvent */
};

struct pf_marks {
    VEC_OF(struct pf_mark);
};

/* Find the END of each BEGIN; their tracks are below TRACK_COUNT. IN_RUNS: as torch writes them. Returns how many ENDs
 * close nothing. */
uint64_t pf_pair(struct pf_marks *marks, size_t track_count, bool in_runs);

/* Where a slice of a thread ends 1 ns after the one around it, as torch cuts times: move that one by 1 ns, so that they nest. */
void pf_nest(struct pf_marks *marks, const struct pf_tracks *tracks);

enum pf_pass { PF_DESCRIBE, PF_PAIR, PF_READ };

struct pf_inflated {
    uint8_t *at;
    size_t len;
};

struct pf_reader {
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    const struct ingest_options *options;
    struct tpa_error *err;
    struct whole whole;
    enum pf_pass pass;
    uint32_t serial; /* counts how often the chunk was emptied, from 1 */
    struct pf_clocks clocks;
    struct pf_tracks tracks;
    struct pf_sequences sequences;
    struct pf_marks marks;
    size_t next_mark;
    VEC_OF(struct pf_inflated) inflated; /* compressed packets, in file order */
    size_t next_inflated;
    uint64_t inflated_bytes;
    int64_t packet_offset; /* of the packet that is read, for notices */
    struct wire in_file;   /* the packet that is read; empty within compressed packets, which are in memory */
    int64_t base_ns;       /* taken from every time */
    bool is_torch, is_tpa; /* who wrote it */
    struct id_table flows; /* flow ids that were met */
    struct chrome_arg_table args;
    struct buffer text, json;
    struct names *gpu_names; /* processes of GPUs that have a name */
    uint16_t kernel, copy, memset, annotation, gpu_other, no_category;
};

/* Keep the bytes of the packet that is read until the end: texts in it are borrowed. */
void pf_keep(struct pf_reader *reader);

/* Count something odd, in the last pass only. */
void pf_notice(struct pf_reader *reader, const char *kind, const char *text);
void pf_lacks(struct pf_reader *reader, enum lack lack, const char *text); /* base/lacks.h */

/* The time of PACKET in the trace. False, and counted: it has none that is usable. */
bool pf_time(struct pf_reader *reader, struct pf_sequence *sequence, const struct pf_packet *packet,
             int64_t *ts_ns);

/* Is NS, counted from the base, in range? Else it is counted. */
bool pf_in_range(struct pf_reader *reader, int64_t ns);

/* TrackEvents: mark them in PF_PAIR, add them in PF_READ. */
void pf_event(struct pf_reader *reader, struct pf_sequence *sequence, const struct pf_packet *packet);

/* The chunk's track of the track at PLACE, with its facts added. */
track_id pf_track_of(struct pf_reader *reader, uint32_t place);

/* A track of a device: stream LANE of GPU. */
track_id pf_gpu_track(struct pf_reader *reader, int64_t gpu, struct wire_text lane);

/* Set the arguments of the event added last from the annotations (field 4) of the TrackEvent BODY. */
void pf_annotations(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire body);

/* Set the argument called NAME from TEXT, a number or a text. */
void pf_text_arg(struct pf_reader *reader, struct wire_text name, struct wire_text text);

/* Does BODY say that its region was not finished? */
bool pf_says_unfinished(const struct pf_sequence *sequence, struct wire body);

/* Add the GpuRenderStageEvent IN at TS_NS, and the values of the GpuCounterEvent IN, to the chunk: these two
 * functions. */
void pf_render_stage(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire in,
                     int64_t ts_ns);
void pf_gpu_counters(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire in,
                     int64_t ts_ns);

/* The number that ends TEXT, as in "[007] stream 7"; MISSING when there is none. */
int64_t pf_last_number(struct wire_text text, int64_t missing);

#endif
