/* object_values.h - declarations shared by the files of the object machine: objects.c is the machine, records.c
 * converts dicts to records, snapshot_root.c processes the top-level object. */
#ifndef TPA_INGEST_OBJECT_VALUES_H
#define TPA_INGEST_OBJECT_VALUES_H

#include "ingest/id_set.h"
#include "ingest/known_lists.h"
#include "trace/snapshot.h"

/* A value: its kind in the upper 4 bits, its index or content below. */
typedef uint64_t value;

enum value_tag {
    VALUE_SPECIAL, /* enum special_value */
    VALUE_INT,     /* 60 bits with sign */
    VALUE_WIDE,    /* index of objects.wide, for larger numbers */
    VALUE_TEXT,    /* name_id */
    VALUE_OPEN,    /* a list or dict that may still grow; OPEN_REFERENCE: obtained from the memo */
    VALUE_LIST,    /* index of objects: a complete list of records or lists */
    VALUE_DICT,    /* index of objects: a complete dict that is not a record */
    VALUE_ENTRY,   /* numbers of records of the snapshot */
    VALUE_FRAME,
    VALUE_STACK,
    VALUE_SEGMENT,
    VALUE_BLOCK,
    VALUE_ANNOTATION,
    VALUE_HISTORY, /* of objects.histories */
    VALUE_POOL,
};

enum special_value { SPECIAL_NONE, SPECIAL_FALSE, SPECIAL_TRUE, SPECIAL_OTHER, SPECIAL_EMPTY_LIST };

enum { VALUE_SHIFT = 60 };
#define VALUE_PAYLOAD ((UINT64_C(1) << VALUE_SHIFT) - 1)
#define OPEN_REFERENCE (UINT64_C(1) << 59)

/* A value of a tag and a payload, which is below 2^60; and its parts: the next three functions. */
static inline value value_of(enum value_tag tag, uint64_t payload)
{
    return (uint64_t)tag << VALUE_SHIFT | payload;
}

static inline enum value_tag value_tag(value v)
{
    return (enum value_tag)(v >> VALUE_SHIFT);
}

static inline uint64_t value_payload(value v)
{
    return v & VALUE_PAYLOAD;
}

/* Is V an entry, a frame, a segment, a block, an annotation or a history? */
static inline bool value_is_record(value v)
{
    return value_tag(v) >= VALUE_ENTRY && value_tag(v) <= VALUE_HISTORY && value_tag(v) != VALUE_STACK;
}

#define VALUE_OTHER value_of(VALUE_SPECIAL, SPECIAL_OTHER)

enum object_kind { OBJECT_LIST, OBJECT_DICT };

/* A list or dict. While its items are records with consecutive numbers, it stores no items but the first, `run`, and
 * `count`. */
struct object {
    uint8_t kind;     /* enum object_kind */
    bool closed;      /* replaced by `became` */
    bool referred_to; /* other values than that of its memo number may refer to it */
    bool in_run;
    bool used;     /* its items are in the snapshot: see records_use */
    uint32_t memo; /* its number in the memo plus 1; 0: none */
    size_t slot;   /* stack index where it was created */
    size_t count, capacity;
    value *items; /* of a dict: alternating keys and values */
    value run, became;
};

struct wide {
    uint64_t magnitude;
    double number;
    bool negative, is_number;
};

/* An item of `history` of a block, in the format of PyTorch 2.0. */
struct history {
    int64_t size;
    uint64_t addr;
    stack_id stack;
};

/* The relevant keys of dicts. They are the first names of the snapshot, in this order. */
/* clang-format off */
#define SNAPSHOT_KEYS(key) \
    key(ACTION, "action") key(ADDR, "addr") key(SIZE, "size") key(STREAM, "stream") \
    key(FRAMES, "frames") key(TIME_US, "time_us") key(COMPILE_CONTEXT, "compile_context") key(USER_METADATA, "user_metadata") \
    key(POOL_ID, "pool_id") key(CATEGORY, "category") key(FORWARD_FRAMES, "forward_frames") key(DEVICE_FREE, "device_free") \
    key(NAME, "name") key(FILENAME, "filename") key(LINE, "line") key(DEVICE, "device") \
    key(ADDRESS, "address") key(TOTAL_SIZE, "total_size") key(ALLOCATED_SIZE, "allocated_size") key(ACTIVE_SIZE, "active_size") \
    key(REQUESTED_SIZE, "requested_size") key(SEGMENT_TYPE, "segment_type") key(SEGMENT_POOL_ID, "segment_pool_id") key(IS_EXPANDABLE, "is_expandable") \
    key(BLOCKS, "blocks") key(STATE, "state") key(HISTORY, "history") key(REAL_SIZE, "real_size") \
    key(STAGE, "stage") key(ALLOCATED, "allocated") key(ACTIVE, "active") key(SEGMENTS, "segments") \
    key(DEVICE_TRACES, "device_traces") key(ALLOCATOR_SETTINGS, "allocator_settings") key(EXTERNAL_ANNOTATIONS, "external_annotations") key(HOST_SEGMENTS, "host_segments") \
    key(HOST_TRACES, "host_traces") key(MAX_ENTRIES, "trace_alloc_max_entries") key(OVERFLOWED, "trace_alloc_overflowed")
/* clang-format on */

enum snapshot_key {
#define KEY_NUMBER(name, text) KEY_##name,
    SNAPSHOT_KEYS(KEY_NUMBER)
#undef KEY_NUMBER
        KEY_COUNT
};

/* Known words after the keys. */
enum snapshot_word {
    WORD_ACTIONS = KEY_COUNT, /* ENTRY_UNKNOWN words, in the order of enum entry_action */
    WORD_INACTIVE = WORD_ACTIONS + ENTRY_UNKNOWN,
    WORD_ACTIVE_ALLOCATED,
    WORD_ACTIVE_PENDING_FREE,
    WORD_ACTIVE_AWAITING_FREE,
    WORD_SMALL,
    WORD_START,
    WORD_END,
    WORD_COUNT
};

/* An annotation's record before pairing. */
struct annotation_record {
    name_id name, stage;
    uint32_t device;
    int64_t time_us;
};

/* See pickle_quick.c: the bytes of a reference to a key, by memo number, and of its value if that is a short text. A
 * mask of 0: none. */
enum { QUICK_PAIRS_MOST = 24 };
struct key_shape {
    uint64_t bytes, mask;
    uint32_t key, length;
    uint64_t text_bytes, text_mask;
    name_id text;
};

struct objects {
    struct snapshot *snapshot;
    VEC_OF(value) stack;
    VEC_OF(size_t) marks; /* heights of the stack */
    VEC_OF(uint32_t) memo;
    struct key_shape shape[QUICK_PAIRS_MOST];
    struct known_lists lists; /* stacks by the bytes of their lists: see pickle_quick.c */
    VEC_OF(struct object) objects;
    VEC_OF(uint32_t) unused; /* objects without references */
    VEC_OF(struct wide) wide;
    VEC_OF(struct history) histories;
    VEC_OF(struct annotation_record) annotations;
    struct id_set frames, stacks, streams, pools;
    struct {
        bool set;
        int64_t handle;
        uint32_t id;
    } last_stream;         /* most entries have the same stream as the one before */
    uint32_t default_pool; /* plus 1; 0: not yet known */
    bool rare_columns;     /* an entry has rarely recorded values: see records.c */
    size_t kept_dicts;
    int64_t recorded_bytes; /* total of all sizes: see records.c */
    bool too_many;          /* more objects than can be numbered: reading stops */
};

/* ---- fast paths for the most common cases ---- */

/* Values in the memo have 32 bits: a tag above this many bits. */
enum { MEMO_SHIFT = 28 };
#define MEMO_PAYLOAD ((UINT32_C(1) << MEMO_SHIFT) - 1)
#define MEMO_EMPTY UINT32_MAX

/* Push number NUMBER of the memo, if it is complete. False: nothing was done; use objects_get. */
static inline bool objects_quick_get(struct objects *o, uint32_t number)
{
    if (number >= o->memo.count)
        return false;
    uint32_t memo = o->memo.at[number];
    if (memo == MEMO_EMPTY || memo >> MEMO_SHIFT == VALUE_OPEN)
        return false;
    *VEC_PUSH(&o->stack) = value_of((enum value_tag)(memo >> MEMO_SHIFT), memo & MEMO_PAYLOAD);
    return true;
}

/* Push an integer of at most 59 bits. */
static inline void objects_quick_int(struct objects *o, int64_t integer)
{
    *VEC_PUSH(&o->stack) = value_of(VALUE_INT, (uint64_t)integer & VALUE_PAYLOAD);
}

/* Set number NUMBER of the memo to V, which is complete and not an integer. */
static inline void objects_quick_put(struct objects *o, size_t number, value v)
{
    o->too_many = o->too_many || value_payload(v) > MEMO_PAYLOAD;
    o->memo.at[number] = (uint32_t)value_tag(v) << MEMO_SHIFT | (uint32_t)(value_payload(v) & MEMO_PAYLOAD);
}

/* ---- objects.c ---- */

/* Drop the numbers of the memo from COUNT on. */
void objects_shorten_memo(struct objects *o, size_t count);

/* The final value of V: for a list or dict that could still grow, its replacement. It must not grow any more. */
value objects_settle(struct objects *o, value v);

/* The items of a complete list; those of a run are created by objects_item. */
static inline value objects_item(const struct object *list, size_t i)
{
    return list->in_run ? list->run + i : list->items[i];
}

/* ---- records.c ---- */

/* May a list or segment be added to the snapshot? Only once, as recorded in *USED: a short file may refer to a long
 * list very often. PyTorch's snapshots never do; omissions are reported. */
bool records_use(struct objects *o, bool *used);

/* Add the known words to the names of a new snapshot. */
void records_prepare(struct objects *o);

/* The settled values of the keys of a dict; `of` is valid if the bit in `has` is set. All irrelevant keys are
 * KEY_COUNT. */
struct fields {
    struct objects *o;
    uint64_t has;
    value of[KEY_COUNT + 1];
};

/* The key with the value V. */
static inline uint32_t fields_key(value v)
{
    uint64_t key = v - value_of(VALUE_TEXT, 0);
    return key < KEY_COUNT ? (uint32_t)key : KEY_COUNT;
}

/* Make the record described by FIELDS. False if they are not a record. */
bool records_make_of_fields(struct fields *fields, value *record);

/* The same of COUNT pairs of a key and a settled value. */
bool records_make(struct objects *o, const value *pairs, size_t count, value *record);

/* COUNT settled items of a list or tuple: make the stack or pool that they form. False if they form neither. */
bool records_make_of_list(struct objects *o, const value *items, size_t count, value *record);

/* V as an integer; false if it is not an integer or needs more than 63 bits. */
bool records_integer(const struct objects *o, value v, int64_t *integer);

#endif
