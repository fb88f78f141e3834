/*
 * snapshot.h - what torch.cuda.memory._dump_snapshot() writes: what the caching allocator of each device holds, and the
 * history of what it did.
 *
 * History is a list of entries per device, oldest first, in columns. The segments are what the allocator had
 * requested from the device when the snapshot was taken, and the blocks are the pieces they are cut into. Every
 * distinct call stack is kept once, and entries and blocks name it by number; so is every text.
 *
 *     for (size_t d = 0; d < snapshot->devices.count; d++)
 *         for (uint64_t e = snapshot->devices.at[d].first; e < snapshot->devices.at[d].end; e++)
 *             if (snapshot->entries.action[e] == ENTRY_ALLOC)
 *                 bytes += snapshot->entries.size[e];
 *
 * The sizes of entries and of `requested` are the bytes that were requested; those of blocks are rounded up, to
 * multiples of 512 bytes. An address has 64 bits and no sign.
 */
#ifndef TPA_TRACE_SNAPSHOT_H
#define TPA_TRACE_SNAPSHOT_H

#include "base/arena.h"
#include "base/lacks.h"
#include "base/names.h"

/* The words of `action`, as PyTorch has them. */
enum entry_action {
    ENTRY_ALLOC,          /* a block was handed out: size is what was requested */
    ENTRY_FREE_REQUESTED, /* the tensor died */
    ENTRY_FREE_COMPLETED, /* no stream uses it any more: the memory can be used again */
    ENTRY_SEGMENT_ALLOC,  /* cudaMalloc */
    ENTRY_SEGMENT_FREE,   /* cudaFree */
    ENTRY_SEGMENT_MAP,    /* of an expandable segment, which grows */
    ENTRY_SEGMENT_UNMAP,  /* and shrinks */
    ENTRY_OOM,            /* size could not be allocated; addr is what the device had free */
    ENTRY_SNAPSHOT,       /* a snapshot was taken: size is the active bytes, rounded */
    ENTRY_ANNOTATE,       /* a text about a block in use */
    ENTRY_UNKNOWN,        /* none of these; counted and skipped */
    ENTRY_ACTIONS
};

/* "alloc", "free_requested" ...; ENTRY_UNKNOWN for any other. */
extern const char *const entry_action_names[ENTRY_ACTIONS];

typedef uint32_t stack_id;
typedef uint32_t frame_id;
#define STACK_NONE UINT32_MAX        /* none was recorded */
#define SNAPSHOT_NO_TIME INT64_MIN   /* entries of PyTorch 2.0 and 2.1 have no time */
#define SNAPSHOT_NO_SIZE INT64_MIN   /* not recorded */
#define SNAPSHOT_HOST ((uint32_t)-1) /* the device of pinned host memory */
#define SNAPSHOT_DEVICES_MOST 1024u  /* numbers of devices are below it; PyTorch knows 128 */

/* A column that mostly says the same of all entries, and takes room only when it does not: read it with column_at. */
struct snapshot_column {
    uint32_t *at; /* NULL: each entry has `same` */
    uint32_t same;
};

/* The value of entry E. */
static inline uint32_t column_at(const struct snapshot_column *column, size_t e)
{
    return column->at ? column->at[e] : column->same;
}

/* One column per field; all have `count` entries. */
struct snapshot_entries {
    size_t count, capacity;
    uint8_t *action; /* enum entry_action */
    uint64_t *addr;  /* of an oom: device_free */
    int64_t *size;
    int64_t *time_us; /* since 1970, or SNAPSHOT_NO_TIME */
    stack_id *stack;
    struct snapshot_column stream;          /* in `streams` */
    struct snapshot_column compile_context; /* name_id; NAME_NONE: none */
    struct snapshot_column user_metadata;   /* name_id */
    struct snapshot_column pool;            /* in `pools` */
    struct snapshot_column
        category; /* name_id: "parameter" ...; NAME_NONE but in _profile_to_snapshot's files */
    struct snapshot_column
        forward; /* stack_id of the forward call, of what the backward pass allocates; mostly STACK_NONE */
};

/* Innermost first. */
struct snapshot_frame {
    name_id file, function;
    int64_t line;
};

struct snapshot_stack {
    uint64_t first; /* in stack_frames */
    uint32_t count;
    frame_id user_frame; /* see snapshot_user_frame */
};

struct snapshot_pool {
    int64_t a, b; /* (0, 0) is the default pool; others are private: CUDA graphs have such */
};

enum block_state { BLOCK_INACTIVE, BLOCK_ALLOCATED, BLOCK_PENDING_FREE };

struct snapshot_block {
    uint64_t addr;
    int64_t size; /* rounded */
    int64_t
        requested; /* of an inactive block: of its last use, so it counts for nothing. SIZE when not recorded */
    stack_id stack;
    uint8_t state; /* enum block_state */
};

struct snapshot_segment {
    uint32_t device; /* SNAPSHOT_HOST: pinned host memory */
    uint64_t addr;
    int64_t total;                        /* bytes; the sum of its blocks */
    int64_t allocated, active, requested; /* as the file has them; SNAPSHOT_NO_SIZE: not recorded */
    uint32_t stream, pool;
    bool small;      /* from the pool for requests of up to 1 MiB */
    bool expandable; /* a mapped range of an expandable segment */
    stack_id stack;  /* who made the allocator ask the device for it */
    size_t first_block, block_count;
};

/* A user scope: record_function, ProfilerStep#N, Optimizer.step ... One that was never closed ends with the recording. */
struct snapshot_annotation {
    name_id name;
    uint32_t device;
    int64_t start_us, end_us; /* SNAPSHOT_NO_TIME: not closed */
};

struct snapshot_device {
    uint32_t device;     /* its number; SNAPSHOT_HOST: pinned host memory */
    uint64_t first, end; /* entries */
};

struct snapshot_setting {
    name_id key, value; /* roundup_power2_divisions.1 */
};

struct snapshot_notice {
    const char *kind, *text; /* literals, or in the arena */
    uint64_t count;
    int64_t offset;
};

struct snapshot {
    const char *path;
    const char *form; /* "pickle, protocol 4", "JSON" */
    int64_t bytes;    /* unpacked */
    struct names *names;
    struct snapshot_entries entries;
    VEC_OF(struct snapshot_device) devices;   /* by number, the host behind them */
    VEC_OF(struct snapshot_segment) segments; /* by device and address */
    VEC_OF(struct snapshot_block) blocks;
    VEC_OF(struct snapshot_annotation) annotations; /* in the order of their ends; unclosed ones behind */
    uint64_t annotation_records;
    VEC_OF(struct snapshot_frame) frames;
    VEC_OF(frame_id) stack_frames;
    VEC_OF(struct snapshot_stack) stacks;
    VEC_OF(int64_t) streams; /* their handles; 0 is the default stream */
    VEC_OF(struct snapshot_pool) pools;
    VEC_OF(struct snapshot_setting) settings;
    VEC_OF(name_id) keys; /* of the file, in its order */
    VEC_OF(name_id) unknown_actions;
    int64_t max_entries; /* of the ring, where the file tells; -1: it does not */
    bool overflowed;     /* the file says that entries were lost */
    VEC_OF(struct snapshot_notice) notices;
    unsigned lacks; /* set of enum lacks (base/lacks.h); 0: the file is whole, as far as known */
    struct arena arena;
};

/* Several, each from a file of its own: the ranks of a job. */
struct snapshots {
    VEC_OF(struct snapshot *) of;
};

/* New, empty; free with snapshot_free (NULL is allowed). */
struct snapshot *snapshot_open(const char *path);
void snapshot_free(struct snapshot *snapshot);

/* Room for one more entry, whose columns the caller fills, those that are a struct with snapshot_set; its number. */
size_t snapshot_add_entry(struct snapshot *snapshot);

/* COLUMN of ENTRIES has a place for each entry from now on. */
void snapshot_spread(const struct snapshot_entries *entries, struct snapshot_column *column);

/* Entry E, the last one, says V in COLUMN, one of ENTRIES. */
static inline void snapshot_set(const struct snapshot_entries *entries, struct snapshot_column *column,
                                size_t e, uint32_t v)
{
    if (!column->at && e > 0 && v != column->same)
        snapshot_spread(entries, column);
    if (column->at)
        column->at[e] = v;
    else
        column->same = v;
}

/* Entry E once more, behind all others. */
void snapshot_repeat_entry(struct snapshot *snapshot, size_t e);

/* Count something odd; KIND and TEXT are literals. What has the same kind is counted together. */
void snapshot_notice(struct snapshot *snapshot, const char *kind, const char *text, uint64_t count,
                     int64_t offset);

/* The file lacks something (base/lacks.h): set the state, and count COUNT cases in a notice. TEXT as above. */
void snapshot_lacks(struct snapshot *snapshot, enum lack lack, const char *text, uint64_t count,
                    int64_t offset);

/* Where the segments of DEVICE begin, and end, among all: they are sorted by it. */
size_t snapshot_first_segment(const struct snapshot *snapshot, uint32_t device);
static inline size_t snapshot_end_of_segments(const struct snapshot *snapshot, uint32_t device)
{
    return device == SNAPSHOT_HOST ? snapshot->segments.count : snapshot_first_segment(snapshot, device + 1);
}

/* ---- stacks ---- */

/* The autograd node ("MmBackward0"), or the operator ("mm"), that FUNCTION of C++ runs: *LEN bytes within it; NULL: none. */
const char *snapshot_node_of(const char *function, size_t *len);
const char *snapshot_operator_of(const char *function, size_t *len);

/* What a line of code is called: "/home/u/model.py:25:forward"; of C++ that runs an autograd node or an operator, as that:
 * "MmBackward0", "aten::mm". Lives as long as the arena. */
const char *snapshot_frame_text(const struct snapshot *snapshot, frame_id frame, struct arena *arena);

#define FRAME_NONE UINT32_MAX

/* The frame that stands for STACK, which is the line of the user's code: the innermost Python frame that is neither
 * PyTorch's nor an installed package's. Where there is none: the innermost Python frame; where the stack is C++ alone:
 * the autograd node, else the innermost operator, else the innermost frame with a name behind those that gathered the
 * stack and those of the allocator. FRAME_NONE for STACK_NONE and an empty stack. */
frame_id snapshot_user_frame(const struct snapshot *snapshot, stack_id stack);

/* Once all is read, and devices and segments are in order: find the user frames. False and ERR where the
 * stacks, those of each device by themselves, come to more than 64 MiB and 16 times what the file holds: real
 * ones come to 3 times. */
bool snapshot_finish_stacks(struct snapshot *snapshot, struct tpa_error *err);

#endif
