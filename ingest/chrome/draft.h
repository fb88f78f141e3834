/*
 * draft.h - Chrome JSON whose categories, threads and numbers mean something else than PyTorch's.
 *
 * Such a file is read as it is written, with arguments of its own, into a trace that is not the result: the draft. A
 * dialect then writes the events as a recorder (recorder.h) names them. So the fast parser of Chrome JSON serves all
 * writers, and what an event is may depend on any other event of the file.
 *
 * A dialect is one constant and one row in draft.c:
 *
 *     static bool write(struct draft *draft, struct tpa_error *err)
 *     {
 *         draft_record(draft, pid, "python3");
 *         for (event_id e = 0; e < draft->trace->event_count; e++)
 *             ... recorder_event(draft->recorder, RECORDER_OPERATOR, thread, draft_name(draft, e), start, end, 0);
 *             ... recorder_flush(draft->recorder, err)
 *         return recorder_append(draft->recorder, err);
 *     }
 */
#ifndef TPA_INGEST_CHROME_DRAFT_H
#define TPA_INGEST_CHROME_DRAFT_H

#include "ingest/chrome/chrome.h"
#include "ingest/recorder.h"

struct draft {
    const struct trace
        *trace; /* the file as it is written; args are those of the dialect's keys and of OPTIONS */
    struct trace_builder *builder;
    const struct ingest_options *options;
    struct recorder *recorder; /* NULL before draft_record */
    bool owns_recorder;
    name_id *names, *texts; /* by name and text of the trace: of the recorder; NAME_NONE: not met yet */
};

struct dialect {
    /* May a file that begins with these bytes be one? */
    bool (*may_be)(const char *head, size_t len);
    bool (*is_one)(const struct trace *draft);
    const struct chrome_key *keys;
    /* Write all to draft->builder, whose file was begun. False and ERR if it has no room. */
    bool (*write)(struct draft *draft, struct tpa_error *err);
    bool is_several; /* a file holds several documents by design */
};

extern const struct dialect dialect_ascend, dialect_unitrace, dialect_rocprof, dialect_onnx, dialect_proton;

/* The dialect of which a file that begins with the LEN bytes at HEAD may be; NULL: none. */
const struct dialect *dialect_find(const char *head, size_t len);

/* Read all of SOURCE. If it is not of DIALECT after all, it is read as any other file. */
bool draft_read(const struct dialect *dialect, struct source *source, struct trace_builder *builder,
                const struct ingest_options *options, struct tpa_error *err);

/* ---- for dialects ---- */

/* Open draft->recorder, which is freed with the draft. NAME may be NULL. */
void draft_record(struct draft *draft, int64_t pid, const char *name);

/* Use RECORDER, which is borrowed, instead. */
void draft_record_by(struct draft *draft, struct recorder *recorder);

/* The name of event E, and a text of the draft, as the recorder's. */
name_id draft_name(struct draft *draft, event_id e);
name_id draft_text(struct draft *draft, name_id text);

/* Give the event added last those arguments of E, an event of the draft, that are wanted and in the set ARGS. */
void draft_copy_args(struct draft *draft, event_id e, uint64_t args);

/* The name of the process or thread of TRACK; "" if it has none. Borrowed. */
const char *draft_process(const struct trace *trace, track_id track);
const char *draft_thread(const struct trace *trace, track_id track);
const char *draft_category(const struct trace *trace, event_id e);

/* The number after the last of WORD in TEXT, such as 3 in "NPU 3"; MISSING if none follows. */
int64_t draft_number(const char *text, const char *word, int64_t missing);

/*
 * Spans of threads, to find the one that an arrow leaves:
 *
 *     struct draft_spans *spans = draft_spans_open(trace, chosen);     // chosen: by event
 *     event_id call = draft_spans_before(spans, flow.track, flow.ts_ns);
 *     draft_spans_free(spans);
 *
 * The last span of TRACK that began at NS or before; of those that began at the same time the shortest. EVENT_NONE.
 */
struct draft_spans;
struct draft_spans *draft_spans_open(const struct trace *trace, const bool *chosen);
void draft_spans_free(struct draft_spans *spans);
event_id draft_spans_before(struct draft_spans *spans, track_id track, int64_t ns);

/* The innermost that has not ended before NS; EVENT_NONE. */
event_id draft_spans_around(struct draft_spans *spans, track_id track, int64_t ns);

/* Does HEAD begin with WORD, blanks aside? */
bool draft_begins(const char *head, size_t len, const char *word);

/* Does HEAD contain WORD, blanks aside: "cat":"Node" in  "cat" : "Node"? WORD has no blanks. */
bool draft_head_has(const char *head, size_t len, const char *word);

#endif
