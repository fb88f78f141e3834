/*
 * facts.h - facts about each rank of a job, in mergeable tables.
 *
 *     struct facts *facts = facts_open();
 *     facts_gather(facts, trace);                       // gather.h: one rank
 *     facts_merge(facts, others);                       // any number of others, in any order
 *     facts_finish(facts);
 *     const struct facts_step *steps = facts_rows(facts, FACTS_STEPS);
 *     for (size_t i = 0; i < facts->tables[FACTS_STEPS].count; i++)
 *         total_ns += steps[i].duration_ns;
 *     arena_free(facts);
 *
 * A trace file gives one recording: one process, usually one rank. Every row belongs to a recording, which is
 * identified by a hash of all its rows. So facts are a set of recordings; merging is the union of two sets, which is
 * associative, commutative and idempotent. facts_finish sorts rows in an order that depends only on their values: equal
 * sets give equal bytes.
 *
 * Times are integer nanoseconds. Moments are absolute by the clock of the recording's host: base of the file + time
 * of the event. Unknown values are FACTS_MISSING. The rows below are also the schema of the file: see facts_tables and
 * docs/fleet.md.
 */
#ifndef TPA_FIGURES_FACTS_H
#define TPA_FIGURES_FACTS_H

#include "analyze/gaps.h"

#define FACTS_MISSING TABLE_INT_MISSING

enum { FACTS_VERSION = 6 };

enum facts_table {
    FACTS_RECORDINGS,
    FACTS_DEVICES,
    FACTS_GROUPS,
    FACTS_STEPS,
    FACTS_NAMES,
    FACTS_COLLECTIVES,
    FACTS_NOTICES,
    FACTS_OPERATIONS, /* of tpa job; since version 4 */
    FACTS_TABLES
};

/* Bytes of a sketch (sketch.h), in the arena of the facts. */
struct facts_bytes {
    const char *at;
    size_t len;
};

/* Every row begins with the number of its recording. Texts are name_ids of facts.texts, NAME_NONE: missing. */

struct facts_recording {
    int64_t recording;
    name_id job, backend, file, host, process, producer, device,
        version; /* file: without its folder; version: of tpa */
    int64_t rank, world_size;
    int64_t has_clock; /* 1: moments count from one origin for all processes of the host */
    int64_t start_ns, end_ns, events;
    int64_t bytes; /* of text */
    int64_t devices;
    int64_t cut;   /* 1: the file is not complete: cut short, damaged, or records were lost (base/lacks.h) */
    int64_t input; /* equal for the recordings of one merged file; missing: it was alone in its file */
    /* Of facts with operations: what recorded them, NAME_NONE of others; 1: marks name its microbatches; its coordinates. */
    name_id form;
    int64_t marked, dp, pp, tp, cp, ep;
};

struct facts_device {
    int64_t recording, device;
    name_id name;
    int64_t total_memory, multiprocessors;
    int64_t span_ns, busy_ns;     /* from the first to the last work; the union of all work */
    int64_t operations, unlinked; /* unlinked: without their call in the file */
    int64_t queued,
        queue_ns; /* operations that began after their call returned; from its end to their start, added up */
    int64_t peak_allocated, peak_reserved; /* bytes */
};

struct facts_group {
    int64_t recording, group; /* group: counts from 0 within the recording */
    name_id name, description, ranks;
    int64_t size;
    int64_t collectives, unnumbered; /* of the recording in it; those without a number */
};

/* The activity of a device at each moment: mutually exclusive. */
enum facts_part {
    PART_COMPUTATION,                   /* kernels that do not communicate, and memsets */
    PART_EXPOSED,                       /* exposed: nothing computed */
    PART_COPIES,                        /* exposed: nothing computed or communicated */
    PART_IDLE,                          /* the rest, from here on by cause: PART_IDLE + enum gap_cause */
    PART_EDGE = PART_IDLE + GAP_CAUSES, /* before the first work of the device or after the last */
    FACTS_PARTS
};

/* A step on a device; without marked steps the whole recording is one. */
struct facts_step {
    int64_t recording, device; /* device: missing if there is none */
    int64_t number;            /* missing: not marked */
    int64_t start_ns, duration_ns;
    int64_t complete;
    int64_t all_communication_ns; /* overlapped communication included */
    int64_t part_ns[FACTS_PARTS]; /* they add up to the duration */
    int64_t loading_ns;           /* time of the step in which a host thread was in a data loader */
    int64_t blocked_ns;           /* time in which one was blocked by a synchronisation, a copy or pinning */
};

/* All runs of a name. */
struct facts_name {
    int64_t recording, device; /* device: missing on the host */
    name_id kind;              /* "kernel", "copy", "operator", "call", "annotation" */
    name_id name;
    int64_t count, sum_ns, min_ns, max_ns;
    int64_t squares_high, squares_low; /* sum of squares in ns^2: 128 bits, these are its halves */
    struct facts_bytes sketch;
};

/* A collective. The activity of its device until it began, and until it ended, is counted from the beginning of the
 * recording. */
struct facts_collective {
    int64_t recording, device; /* device: -1 on the host */
    int64_t group;             /* of the table "groups" */
    name_id kind, type;
    int64_t sequence;               /* number in the group; missing */
    int64_t step;                   /* missing: in none */
    int64_t bytes;                  /* as collective_size; missing */
    int64_t source, target;         /* of sends and receives; missing */
    int64_t waited_rank, waited_ns; /* as in struct collective; missing */
    int64_t start_ns, duration_ns, exposed_ns;
    int64_t computed_before_ns, communicated_before_ns, copied_before_ns, loading_before_ns, host_before_ns;
    int64_t computed_until_ns, communicated_until_ns, copied_until_ns, loading_until_ns, host_until_ns;
};

struct facts_notice {
    int64_t recording;
    name_id kind, text;
    int64_t count;
};

/* What the rank of a parallel job did: a computation of a microbatch, a message, a collective, an optimizer, a collection of
 * garbage. Moments count from the start of the recording. */
struct facts_operation {
    int64_t recording, number; /* number: its place in the recording */
    name_id type; /* as tpa job has it: "forward-compute"; NAME_NONE: only communication, or garbage */
    int64_t step; /* missing: no steps are marked */
    int64_t start_ns, duration_ns;
    int64_t stage; /* of the model; missing: that of the rank */
    int64_t chunk, microbatch;
    int64_t serves;   /* of a message: the number of the computation that it leaves or reaches; missing */
    int64_t sequence; /* of timelines: among equal ones of its step; missing */
    /* Of communication: */
    name_id kind, dimension;
    int64_t issued_step, exposed_ns; /* issued_step: as step, when it was issued */
};

enum facts_type { FACTS_INT64, FACTS_TEXT, FACTS_BYTES };

/* The allowed numbers of a column. Files are untrusted, as are traces: facts_check enforces the bounds. */
enum facts_bounds {
    FACTS_NUMBER,     /* -FACTS_MOST to FACTS_MOST */
    FACTS_MAYBE,      /* the same, or missing */
    FACTS_AMOUNT,     /* 0 to FACTS_MOST: a duration, a count */
    FACTS_MAYBE_PART, /* the same, or missing in all such columns of the row */
    FACTS_ANY,        /* of 64 bits: half of a longer number */
};

/* Sums and differences of two of these fit into 64 bits. */
#define FACTS_MOST (INT64_C(1) << 61)

struct facts_column {
    const char *key;
    enum facts_type type;
    size_t offset;
    const char *help;
    enum facts_bounds bounds; /* of FACTS_INT64 */
};

struct facts_schema {
    const char *key;
    size_t row_size;
    const struct facts_column *columns;
    size_t column_count;
};

/* By enum facts_table; rows are ordered by the columns in their order. */
extern const struct facts_schema facts_tables[FACTS_TABLES];

struct facts_rows {
    void *at; /* count rows of the table's row_size */
    size_t count, capacity;
};

struct facts {
    struct facts_rows tables[FACTS_TABLES];
    struct names *texts;
    struct names *known; /* ids of the recordings, as 8 bytes each */
    struct arena arena;  /* owns the sketches */
    uint64_t repeats;    /* recordings merged again */
};

/* New, empty; free with arena_free (NULL is allowed). */
struct facts *facts_open(void);

/* The rows of TABLE, to be cast to its struct; borrowed until rows are added. */
static inline void *facts_rows(const struct facts *facts, enum facts_table table)
{
    return facts->tables[table].at;
}

/* What the recordings of FACTS lack: a set of enum lacks; 0: nothing is known to lack. */
unsigned facts_lacks(const struct facts *facts);

/* Append a row, which is copied. */
void facts_add(struct facts *facts, enum facts_table table, const void *row);

/* Id of TEXT in facts->texts; NAME_NONE for NULL. */
name_id facts_text(struct facts *facts, const char *text);

/* The same for a list of ranks, of which a long one is shortened to its beginning and a hash of all of it. Each rank of
 * a group lists all others, so otherwise facts would grow with the square of the ranks. */
name_id facts_list(struct facts *facts, const char *list);

/* A number made of LEN bytes, equal for equal ones; never missing. */
int64_t facts_number(const void *bytes, size_t len);

/* All rows of FACTS are of one recording: set its id, a hash of their values. */
void facts_seal(struct facts *facts);

/* Does FACTS contain the recording with this id? */
bool facts_know(const struct facts *facts, int64_t number);

/* Add the recordings of OTHER that are not in FACTS. OTHER is unchanged. Linear time; call facts_finish afterwards. */
void facts_merge(struct facts *facts, const struct facts *other);

/* The same, if OTHER, which has no duplicate recordings, is no longer needed: nothing is copied if FACTS are empty. */
void facts_collect(struct facts *facts, struct facts *other);

/* The kind of the notice that facts_check adds. */
#define FACTS_ODD_NUMBERS "odd_numbers"

/* Enforce the bounds of each column: numbers outside become 0, or missing if allowed. Each recording with changed
 * numbers gets a row of FACTS_NOTICES. */
void facts_check(struct facts *facts);

/* Sort the rows. Call after the last merge. */
void facts_finish(struct facts *facts);

#endif
