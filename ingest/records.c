/*
 * records.c - converts dicts of a memory snapshot to records, by their keys: see object_values.h.
 *
 *     entry        action, addr or device_free, size, stream, frames ...
 *     frame        filename, name, line
 *     segment      blocks, address, total_size, stream, segment_type ...
 *     block        state, size, requested_size, address, frames (2.1 and later) or history (2.0)
 *     history      real_size, addr, frames
 *     annotation   stage, name, device, time_us
 *     host segment address, size, allocated (2.14 and later); it is a segment of one block
 *
 * A value of the wrong kind is treated as not recorded, and counted in a notice. Totals of sizes have 64 bits
 * everywhere else: so sizes count as 0 once their total would exceed 2^62, which real files never reach.
 */
#include "ingest/object_values.h"
#include "base/bits.h"

static const char *const key_texts[] = {
#define KEY_TEXT(name, text) text,
    SNAPSHOT_KEYS(KEY_TEXT)
#undef KEY_TEXT
};

static const char *const words_behind[] = {
    "inactive", "active_allocated", "active_pending_free", "active_awaiting_free", "small", "START", "END"
};

void records_prepare(struct objects *o)
{
    struct names *names = o->snapshot->names;
    for (size_t i = 0; i < KEY_COUNT; i++)
        names_add(names, key_texts[i], strlen(key_texts[i]));
    /* "snapshot" and the like are words of their own; and "annotate". None of them is a key. */
    for (size_t i = 0; i < ENTRY_UNKNOWN; i++)
        names_add(names, entry_action_names[i], strlen(entry_action_names[i]));
    for (size_t i = 0; i < sizeof words_behind / sizeof *words_behind; i++)
        names_add(names, words_behind[i], strlen(words_behind[i]));
}

/* ---- values ---- */

bool records_integer(const struct objects *o, value v, int64_t *integer)
{
    if (value_tag(v) == VALUE_INT) {
        *integer = (int64_t)(v << 4) >> 4;
        return true;
    }
    if (value_tag(v) != VALUE_WIDE)
        return false;
    const struct wide *wide = &o->wide.at[value_payload(v)];
    if (wide->is_number) {
        *integer = wide->number >= -0x1p62 && wide->number <= 0x1p62 ? (int64_t)wide->number : 0;
        return (double)*integer == wide->number;
    }
    if (wide->magnitude > INT64_MAX)
        return false;
    *integer = wide->negative ? -(int64_t)wide->magnitude : (int64_t)wide->magnitude;
    return true;
}

static void odd_value(struct objects *o)
{
    snapshot_lacks(o->snapshot, LACK_ODD_VALUE,
                   "values are missing or have the wrong type, and count as 0 or unknown", 1, TPA_NOWHERE);
}

static inline bool has(const struct fields *fields, enum snapshot_key key)
{
    return fields->has >> key & 1;
}

static bool is_none(value v)
{
    return v == value_of(VALUE_SPECIAL, SPECIAL_NONE);
}

static inline int64_t integer_or(const struct fields *fields, enum snapshot_key key, int64_t missing)
{
    int64_t integer;
    if (!has(fields, key) || is_none(fields->of[key]))
        return missing;
    if (records_integer(fields->o, fields->of[key], &integer))
        return integer;
    odd_value(fields->o);
    return missing;
}

static inline uint64_t address_or_zero(const struct fields *fields, enum snapshot_key key)
{
    value v = fields->of[key];
    if (!has(fields, key))
        return 0;
    if (value_tag(v) == VALUE_INT)
        return (uint64_t)((int64_t)(v << 4) >> 4); /* signed numbers have the same bits */
    const struct wide *wide = value_tag(v) == VALUE_WIDE ? &fields->o->wide.at[value_payload(v)] : NULL;
    if (wide && !wide->is_number)
        return wide->negative ? 0 - wide->magnitude : wide->magnitude;
    odd_value(fields->o);
    return 0;
}

/* A size in bytes; MISSING if there is none. */
static inline int64_t size_or(const struct fields *fields, enum snapshot_key key, int64_t missing)
{
    int64_t size = integer_or(fields, key, SNAPSHOT_NO_SIZE), sum;
    if (size == SNAPSHOT_NO_SIZE)
        return missing;
    if (size >= 0 && !__builtin_add_overflow(fields->o->recorded_bytes, size, &sum) &&
        sum < INT64_C(1) << 62) {
        fields->o->recorded_bytes = sum;
        return size;
    }
    odd_value(fields->o);
    return 0;
}

static inline name_id text_or_none(const struct fields *fields, enum snapshot_key key)
{
    if (!has(fields, key) || is_none(fields->of[key]))
        return NAME_NONE;
    if (value_tag(fields->of[key]) == VALUE_TEXT)
        return (name_id)value_payload(fields->of[key]);
    odd_value(fields->o);
    return NAME_NONE;
}

static inline int64_t time_of(const struct fields *fields)
{
    int64_t time_us = integer_or(fields, KEY_TIME_US, SNAPSHOT_NO_TIME);
    bool fits = time_us >= -(INT64_C(1) << 52) && time_us <= INT64_C(1) << 52;
    if (!fits && time_us != SNAPSHOT_NO_TIME)
        odd_value(fields->o);
    return fits ? time_us : SNAPSHOT_NO_TIME;
}

static inline stack_id stack_of(const struct fields *fields, enum snapshot_key key)
{
    value v = fields->of[key];
    if (has(fields, key) && value_tag(v) == VALUE_STACK)
        return (stack_id)value_payload(v);
    if (has(fields, key) && !is_none(v) && v != value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST))
        odd_value(fields->o);
    return STACK_NONE;
}

static bool is_true(const struct fields *fields, enum snapshot_key key)
{
    if (has(fields, key) && value_tag(fields->of[key]) == VALUE_SPECIAL)
        return fields->of[key] == value_of(VALUE_SPECIAL, SPECIAL_TRUE);
    return integer_or(fields, key, 0) != 0;
}

/* ---- shared values ---- */

struct handle_search {
    const struct snapshot *snapshot;
    int64_t handle;
};
static bool same_stream(const void *context, uint32_t id)
{
    const struct handle_search *search = context;
    return search->snapshot->streams.at[id] == search->handle;
}

static uint32_t add_stream(struct objects *o, int64_t handle)
{
    struct snapshot *snapshot = o->snapshot;
    if (o->last_stream.set && o->last_stream.handle == handle)
        return o->last_stream.id;
    struct handle_search search = { snapshot, handle };
    uint32_t next = (uint32_t)snapshot->streams.count;
    uint32_t id = id_set_find(&o->streams, bits_mix(1, (uint64_t)handle), next, same_stream, &search);
    if (id == ID_NEW) {
        *VEC_PUSH(&snapshot->streams) = handle;
        id = next;
    }
    o->last_stream.set = true;
    o->last_stream.handle = handle;
    o->last_stream.id = id;
    return id;
}

struct pool_search {
    const struct snapshot *snapshot;
    struct snapshot_pool pool;
};
static bool same_pool(const void *context, uint32_t id)
{
    const struct pool_search *search = context;
    const struct snapshot_pool *at = &search->snapshot->pools.at[id];
    return at->a == search->pool.a && at->b == search->pool.b;
}

static uint32_t add_pool(struct objects *o, struct snapshot_pool pool)
{
    struct snapshot *snapshot = o->snapshot;
    struct pool_search search = { snapshot, pool };
    uint32_t next = (uint32_t)snapshot->pools.count;
    uint32_t id = id_set_find(&o->pools, bits_mix(bits_mix(2, (uint64_t)pool.a), (uint64_t)pool.b), next,
                              same_pool, &search);
    if (id != ID_NEW)
        return id;
    *VEC_PUSH(&snapshot->pools) = pool;
    return next;
}

static inline uint32_t pool_of(const struct fields *fields, enum snapshot_key key)
{
    value v = fields->of[key];
    if (has(fields, key) && value_tag(v) == VALUE_POOL)
        return (uint32_t)value_payload(v);
    if (has(fields, key) && !is_none(v))
        odd_value(fields->o);
    if (fields->o->default_pool == 0)
        fields->o->default_pool = add_pool(fields->o, (struct snapshot_pool){ 0, 0 }) + 1;
    return fields->o->default_pool - 1;
}

static inline uint32_t stream_of(const struct fields *fields)
{
    return add_stream(fields->o, (int64_t)address_or_zero(fields, KEY_STREAM));
}

struct frame_search {
    const struct snapshot *snapshot;
    struct snapshot_frame frame;
};
static bool same_frame(const void *context, uint32_t id)
{
    const struct frame_search *search = context;
    const struct snapshot_frame *at = &search->snapshot->frames.at[id];
    return at->file == search->frame.file && at->function == search->frame.function &&
           at->line == search->frame.line;
}

static frame_id add_frame(struct objects *o, struct snapshot_frame frame)
{
    struct snapshot *snapshot = o->snapshot;
    struct frame_search search = { snapshot, frame };
    uint64_t hash = bits_mix(bits_mix(bits_mix(3, frame.file), frame.function), (uint64_t)frame.line);
    uint32_t next = (uint32_t)snapshot->frames.count;
    uint32_t id = id_set_find(&o->frames, hash, next, same_frame, &search);
    if (id != ID_NEW)
        return id;
    *VEC_PUSH(&snapshot->frames) = frame;
    return next;
}

struct stack_search {
    const struct snapshot *snapshot;
    const frame_id *frames;
    size_t count;
};
static bool same_stack(const void *context, uint32_t id)
{
    const struct stack_search *search = context;
    const struct snapshot_stack *at = &search->snapshot->stacks.at[id];
    return at->count == search->count && memcmp(search->snapshot->stack_frames.at + at->first, search->frames,
                                                search->count * sizeof *search->frames) == 0;
}

/* The stack of the COUNT frames at the end of stack_frames, which are removed if it exists already. */
static stack_id add_stack(struct objects *o, size_t count)
{
    struct snapshot *snapshot = o->snapshot;
    size_t first = snapshot->stack_frames.count - count;
    struct stack_search search = { snapshot, snapshot->stack_frames.at + first, count };
    uint64_t hash = bits_mix(4, count);
    for (size_t i = 0; i < count; i++)
        hash = bits_mix(hash, search.frames[i]);
    uint32_t next = (uint32_t)snapshot->stacks.count;
    uint32_t id = id_set_find(&o->stacks, hash, next, same_stack, &search);
    if (id != ID_NEW) {
        snapshot->stack_frames.count = first;
        return id;
    }
    *VEC_PUSH(&snapshot->stacks) = (struct snapshot_stack){ first, (uint32_t)count, FRAME_NONE };
    return next;
}

bool records_make_of_list(struct objects *o, const value *items, size_t count, value *record)
{
    struct snapshot_pool pool;
    if (count == 2 && records_integer(o, items[0], &pool.a) && records_integer(o, items[1], &pool.b)) {
        *record = value_of(VALUE_POOL, add_pool(o, pool));
        return true;
    }
    size_t frames = 0;
    while (frames < count &&
           (value_tag(items[frames]) == VALUE_FRAME || value_tag(items[frames]) == VALUE_TEXT))
        frames++;
    if (frames < count || count > UINT32_MAX)
        return false;
    name_id none = NAME_NONE;
    for (size_t i = 0; i < count; i++) {
        frame_id frame = (frame_id)value_payload(items[i]);
        if (value_tag(items[i]) == VALUE_TEXT) /* a line of forward_frames */
            frame = add_frame(o, (struct snapshot_frame){ none, (name_id)value_payload(items[i]), 0 });
        *VEC_PUSH(&o->snapshot->stack_frames) = frame;
    }
    *record = value_of(VALUE_STACK, add_stack(o, count));
    return true;
}

/* ---- records ---- */

static inline enum entry_action action_of(const struct fields *fields)
{
    name_id word = text_or_none(fields, KEY_ACTION);
    if (word >= WORD_ACTIONS && word < WORD_ACTIONS + ENTRY_UNKNOWN)
        return (enum entry_action)(word - WORD_ACTIONS);
    struct snapshot *snapshot = fields->o->snapshot;
    snapshot_notice(snapshot, "unknown_action", "entries have an action that is not known, and were skipped",
                    1, TPA_NOWHERE);
    enum { ENOUGH = 8 };
    bool known = word == NAME_NONE || snapshot->unknown_actions.count == ENOUGH;
    for (size_t i = 0; i < snapshot->unknown_actions.count; i++)
        known = known || snapshot->unknown_actions.at[i] == word;
    if (!known)
        *VEC_PUSH(&snapshot->unknown_actions) = word;
    return ENTRY_UNKNOWN;
}

/* Rarely recorded values of entries: the columns have defaults until one occurs. */
static void set_rare_columns(struct fields *fields, struct snapshot_entries *entries, size_t e)
{
    enum snapshot_key pool = has(fields, KEY_POOL_ID) ? KEY_POOL_ID : KEY_SEGMENT_POOL_ID;
    snapshot_set(entries, &entries->forward, e, stack_of(fields, KEY_FORWARD_FRAMES));
    snapshot_set(entries, &entries->pool, e, pool_of(fields, pool));
    snapshot_set(entries, &entries->user_metadata, e, text_or_none(fields, KEY_USER_METADATA));
    snapshot_set(entries, &entries->category, e, text_or_none(fields, KEY_CATEGORY));
}

static value make_entry(struct fields *fields)
{
    static const uint64_t rare = UINT64_C(1) << KEY_FORWARD_FRAMES | UINT64_C(1) << KEY_POOL_ID |
                                 UINT64_C(1) << KEY_SEGMENT_POOL_ID | UINT64_C(1) << KEY_USER_METADATA |
                                 UINT64_C(1) << KEY_CATEGORY;
    enum entry_action action = action_of(fields);
    struct objects *o = fields->o;
    struct snapshot *snapshot = o->snapshot;
    size_t e = snapshot_add_entry(snapshot);
    struct snapshot_entries *entries = &snapshot->entries;
    entries->action[e] = (uint8_t)action;
    entries->addr[e] = address_or_zero(fields, has(fields, KEY_DEVICE_FREE) ? KEY_DEVICE_FREE : KEY_ADDR);
    entries->size[e] = size_or(fields, KEY_SIZE, 0);
    entries->time_us[e] = time_of(fields);
    entries->stack[e] = stack_of(fields, KEY_FRAMES);
    snapshot_set(entries, &entries->stream, e, stream_of(fields));
    snapshot_set(entries, &entries->compile_context, e, text_or_none(fields, KEY_COMPILE_CONTEXT));
    o->rare_columns = o->rare_columns || fields->has & rare;
    if (o->rare_columns || e == 0)
        set_rare_columns(fields, entries, e);
    if (!has(fields, KEY_SIZE) && action != ENTRY_ANNOTATE && action != ENTRY_UNKNOWN)
        odd_value(o);
    return value_of(VALUE_ENTRY, e);
}

static value make_frame(struct fields *fields)
{
    struct snapshot_frame frame = {
        .file = text_or_none(fields, KEY_FILENAME),
        .function = text_or_none(fields, KEY_NAME),
        .line = integer_or(fields, KEY_LINE, 0),
    };
    return value_of(VALUE_FRAME, add_frame(fields->o, frame));
}

static enum block_state state_of(const struct fields *fields)
{
    switch (text_or_none(fields, KEY_STATE)) {
    case WORD_ACTIVE_ALLOCATED: return BLOCK_ALLOCATED;
    case WORD_ACTIVE_PENDING_FREE:
    case WORD_ACTIVE_AWAITING_FREE: return BLOCK_PENDING_FREE;
    case WORD_INACTIVE: return BLOCK_INACTIVE;
    default: odd_value(fields->o); return BLOCK_INACTIVE;
    }
}

static value make_block(struct fields *fields)
{
    struct snapshot *snapshot = fields->o->snapshot;
    struct snapshot_block block = {
        .addr = has(fields, KEY_ADDRESS) ? address_or_zero(fields, KEY_ADDRESS) : 0,
        .size = size_or(fields, KEY_SIZE, 0),
        .state = (uint8_t)state_of(fields),
        .stack = stack_of(fields, KEY_FRAMES),
    };
    block.requested = size_or(fields, KEY_REQUESTED_SIZE, SNAPSHOT_NO_SIZE);
    if (has(fields, KEY_HISTORY) && value_tag(fields->of[KEY_HISTORY]) == VALUE_HISTORY) {
        const struct history *newest = &fields->o->histories.at[value_payload(fields->of[KEY_HISTORY])];
        block.stack = newest->stack;
        if (block.requested == SNAPSHOT_NO_SIZE)
            block.requested = newest->size;
    }
    if (block.requested == SNAPSHOT_NO_SIZE)
        block.requested = block.size;
    *VEC_PUSH(&snapshot->blocks) = block;
    return value_of(VALUE_BLOCK, snapshot->blocks.count - 1);
}

static value make_history(struct fields *fields)
{
    *VEC_PUSH(&fields->o->histories) = (struct history){
        .size = size_or(fields, KEY_REAL_SIZE, 0),
        .addr = address_or_zero(fields, KEY_ADDR),
        .stack = stack_of(fields, KEY_FRAMES),
    };
    return value_of(VALUE_HISTORY, fields->o->histories.count - 1);
}

static uint32_t device_of(const struct fields *fields)
{
    int64_t device = integer_or(fields, KEY_DEVICE, 0);
    if (device >= 0 && device < SNAPSHOT_DEVICES_MOST)
        return (uint32_t)device;
    odd_value(fields->o);
    return 0;
}

static value make_annotation(struct fields *fields)
{
    *VEC_PUSH(&fields->o->annotations) = (struct annotation_record){
        .name = text_or_none(fields, KEY_NAME),
        .stage = text_or_none(fields, KEY_STAGE),
        .device = device_of(fields),
        .time_us = time_of(fields),
    };
    return value_of(VALUE_ANNOTATION, fields->o->annotations.count - 1);
}

bool records_use(struct objects *o, bool *used)
{
    if (*used)
        snapshot_notice(
            o->snapshot, "repeated_item",
            "lists or segments stand in the snapshot more than once, as none of PyTorch's do; they count once",
            1, TPA_NOWHERE);
    bool first = !*used;
    *used = true;
    return first;
}

/* The blocks of LIST, made consecutive in the snapshot. */
static void place_blocks(struct objects *o, value list, struct snapshot_segment *segment)
{
    struct snapshot *snapshot = o->snapshot;
    if (value_tag(list) != VALUE_LIST) {
        if (list != value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST))
            odd_value(o);
        return;
    }
    struct object *items = &o->objects.at[value_payload(list)];
    if (!records_use(o, &items->used))
        return;
    if (items->in_run && value_tag(items->run) == VALUE_BLOCK) {
        segment->first_block = value_payload(items->run);
        segment->block_count = items->count;
        return;
    }
    segment->first_block = snapshot->blocks.count;
    for (size_t i = 0; i < items->count; i++) {
        value v = objects_item(items, i);
        if (value_tag(v) == VALUE_BLOCK) {
            struct snapshot_block block = snapshot->blocks.at[value_payload(v)];
            *VEC_PUSH(&snapshot->blocks) = block;
        } else {
            odd_value(o);
        }
    }
    segment->block_count = snapshot->blocks.count - segment->first_block;
}

/* PyTorch 2.0 and _profile_to_snapshot record no addresses of blocks: blocks are consecutive. */
static void number_blocks(struct snapshot *snapshot, const struct snapshot_segment *segment)
{
    uint64_t addr = segment->addr;
    for (size_t i = 0; i < segment->block_count; i++) {
        struct snapshot_block *block = &snapshot->blocks.at[segment->first_block + i];
        if (block->addr == 0)
            block->addr = addr;
        addr = block->addr + (uint64_t)block->size;
    }
}

static value make_segment(struct fields *fields)
{
    struct snapshot *snapshot = fields->o->snapshot;
    struct snapshot_segment segment = {
        .device = device_of(fields),
        .addr = address_or_zero(fields, KEY_ADDRESS),
        .allocated = integer_or(fields, KEY_ALLOCATED_SIZE, SNAPSHOT_NO_SIZE),
        .active = integer_or(fields, KEY_ACTIVE_SIZE, SNAPSHOT_NO_SIZE),
        .requested = integer_or(fields, KEY_REQUESTED_SIZE, SNAPSHOT_NO_SIZE),
        .stream = stream_of(fields),
        .pool = pool_of(fields, KEY_SEGMENT_POOL_ID),
        .small = text_or_none(fields, KEY_SEGMENT_TYPE) == WORD_SMALL,
        .expandable = is_true(fields, KEY_IS_EXPANDABLE),
        .stack = stack_of(fields, KEY_FRAMES),
    };
    place_blocks(fields->o, fields->of[KEY_BLOCKS], &segment);
    number_blocks(snapshot, &segment);
    int64_t sum = SUM(int64_t, i, segment.block_count, snapshot->blocks.at[segment.first_block + i].size);
    segment.total = size_or(fields, KEY_TOTAL_SIZE, sum);
    *VEC_PUSH(&snapshot->segments) = segment;
    return value_of(VALUE_SEGMENT, snapshot->segments.count - 1);
}

static value make_host_segment(struct fields *fields)
{
    struct snapshot *snapshot = fields->o->snapshot;
    bool allocated = is_true(fields, KEY_ALLOCATED), active = is_true(fields, KEY_ACTIVE);
    struct snapshot_segment segment = {
        .device = SNAPSHOT_HOST,
        .addr = address_or_zero(fields, KEY_ADDRESS),
        .total = size_or(fields, KEY_SIZE, 0),
        .allocated = SNAPSHOT_NO_SIZE,
        .active = SNAPSHOT_NO_SIZE,
        .requested = SNAPSHOT_NO_SIZE,
        .stream = stream_of(fields),
        .pool = pool_of(fields, has(fields, KEY_POOL_ID) ? KEY_POOL_ID : KEY_SEGMENT_POOL_ID),
        .stack = stack_of(fields, KEY_FRAMES),
        .first_block = snapshot->blocks.count,
        .block_count = 1,
    };
    *VEC_PUSH(&snapshot->blocks) = (struct snapshot_block){
        .addr = segment.addr,
        .size = segment.total,
        .requested = segment.total,
        .stack = segment.stack,
        .state = allocated ? BLOCK_ALLOCATED
                 : active  ? BLOCK_PENDING_FREE
                           : BLOCK_INACTIVE,
    };
    *VEC_PUSH(&snapshot->segments) = segment;
    return value_of(VALUE_SEGMENT, snapshot->segments.count - 1);
}

bool records_make_of_fields(struct fields *fields, value *record)
{
    if (has(fields, KEY_FILENAME) && has(fields, KEY_NAME))
        *record = make_frame(fields);
    else if (has(fields, KEY_ACTION))
        *record = make_entry(fields);
    else if (has(fields, KEY_STATE) && has(fields, KEY_SIZE))
        *record = make_block(fields);
    else if (has(fields, KEY_BLOCKS))
        *record = make_segment(fields);
    else if (has(fields, KEY_REAL_SIZE))
        *record = make_history(fields);
    else if (has(fields, KEY_STAGE) && has(fields, KEY_NAME))
        *record = make_annotation(fields);
    else if (has(fields, KEY_ADDRESS) && has(fields, KEY_SIZE))
        *record = make_host_segment(fields);
    else
        return false;
    return true;
}

bool records_make(struct objects *o, const value *pairs, size_t count, value *record)
{
    struct fields fields;
    fields.o = o;
    fields.has = 0;
    for (size_t i = 0; i < count; i++) {
        uint32_t key = fields_key(pairs[2 * i]);
        fields.of[key] = pairs[2 * i + 1]; /* the last duplicate counts, as in a dict */
        fields.has |= UINT64_C(1) << key;
    }
    return records_make_of_fields(&fields, record);
}
