/* objects.c - the machine: see object_readers.h. Nothing here is recursive; nested objects are on the stack. */
#include "ingest/object_readers.h"

#include "ingest/object_values.h"
#include "base/search.h"

/* Limits on kept dicts that are not records, and on pairs of each. */
enum { KEPT_DICTS_MOST = 1024, KEPT_PAIRS_MOST = 4096 };

struct objects *objects_open(struct snapshot *snapshot)
{
    struct objects *o = mem_zalloc(1, sizeof *o);
    o->snapshot = snapshot;
    records_prepare(o);
    return o;
}

void objects_free(struct objects *o)
{
    if (!o)
        return;
    for (size_t i = 0; i < o->objects.count; i++)
        free(o->objects.at[i].items);
    EACH(VEC_FREE, &o->stack, &o->marks, &o->memo, &o->objects, &o->unused, &o->wide, &o->histories,
         &o->annotations);
    known_lists_release(&o->lists);
    EACH(free, o->frames.slots, o->stacks.slots, o->streams.slots, o->pools.slots, o);
}

/* ---- lists and dicts ---- */

static uint32_t add_object(struct objects *o, enum object_kind kind)
{
    uint32_t id;
    if (o->unused.count) {
        id = o->unused.at[--o->unused.count];
    } else {
        if (o->objects.count >= MEMO_PAYLOAD)
            o->too_many = true; /* reuses the last one; the reader stops soon */
        else
            *VEC_PUSH(&o->objects) = (struct object){ 0 };
        id = (uint32_t)o->objects.count - 1;
    }
    struct object *object = &o->objects.at[id];
    *object = (struct object){
        .kind = kind, .slot = o->stack.count, .items = object->items, .capacity = object->capacity
    };
    return id;
}

static void objects_set_memo(struct objects *o, size_t number, value v);

/* Object ID is complete, and replaced by V. */
static void close_object(struct objects *o, uint32_t id, value v)
{
    struct object *object = &o->objects.at[id];
    object->closed = true;
    object->became = v;
    if (object->memo)
        objects_set_memo(o, object->memo - 1, v);
    if (value_tag(v) == VALUE_LIST || value_tag(v) == VALUE_DICT)
        return; /* its items are needed */
    object->count = 0;
    if (object->capacity > 4096) {
        free(object->items);
        object->items = NULL;
        object->capacity = 0;
    }
    if (!object->referred_to)
        *VEC_PUSH(&o->unused) = id;
}

static void add_item(struct object *object, value v)
{
    if (object->count == object->capacity)
        object->items = vec_grow(object->items, &object->capacity, object->count + 1, sizeof v);
    object->items[object->count++] = v;
}

static void add_to_list(struct object *list, value v)
{
    if (list->count == 0 && value_is_record(v)) {
        list->in_run = true;
        list->run = v;
        list->count = 1;
    } else if (list->in_run && v == list->run + list->count) {
        list->count++;
    } else {
        if (list->in_run) {
            size_t count = list->count;
            list->in_run = false;
            list->count = 0;
            for (size_t i = 0; i < count; i++)
                add_item(list, list->run + i);
        }
        add_item(list, v);
    }
}

/* Is there something among ITEMS that is needed when the top-level object is processed? */
static bool holds_records(const value *items, size_t count)
{
    return ANY(i, count, value_is_record(items[i]) || value_tag(items[i]) == VALUE_LIST);
}

static value complete_list(struct objects *o, uint32_t id)
{
    struct object *list = &o->objects.at[id];
    value record;
    if (list->count == 0)
        return value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST);
    if (list->in_run && value_tag(list->run) == VALUE_HISTORY)
        return list->run; /* the most recent one is needed */
    if (list->in_run && value_tag(list->run) != VALUE_FRAME)
        return value_of(VALUE_LIST, id);
    if (list->in_run) {
        list->in_run = false;
        size_t count = list->count;
        list->count = 0;
        for (size_t i = 0; i < count; i++)
            add_item(list, list->run + i);
    }
    if (records_make_of_list(o, list->items, list->count, &record))
        return record;
    bool all_empty = ALL(i, list->count, list->items[i] == value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST));
    return all_empty || holds_records(list->items, list->count) ? value_of(VALUE_LIST, id) : VALUE_OTHER;
}

static value complete_dict(struct objects *o, uint32_t id)
{
    const struct object *dict = &o->objects.at[id];
    value record;
    if (records_make(o, dict->items, dict->count / 2, &record))
        return record;
    bool whole = o->stack.count == 1; /* it is the top-level object */
    if (!whole && (dict->count > (size_t)2 * KEPT_PAIRS_MOST || o->kept_dicts == KEPT_DICTS_MOST))
        return VALUE_OTHER;
    o->kept_dicts++;
    return value_of(VALUE_DICT, id);
}

value objects_settle(struct objects *o, value v)
{
    if (value_tag(v) != VALUE_OPEN)
        return v;
    uint32_t id = (uint32_t)(v & ~OPEN_REFERENCE & VALUE_PAYLOAD);
    if (o->objects.at[id].closed)
        return o->objects.at[id].became;
    if (v & OPEN_REFERENCE) /* it contains itself */
        return VALUE_OTHER;
    value became = o->objects.at[id].kind == OBJECT_LIST ? complete_list(o, id) : complete_dict(o, id);
    close_object(o, id, became);
    return became;
}

/* ---- the stack ---- */

static void push(struct objects *o, value v)
{
    *VEC_PUSH(&o->stack) = v;
}

size_t objects_depth(const struct objects *o)
{
    return o->stack.count;
}

void objects_push_none(struct objects *o)
{
    push(o, value_of(VALUE_SPECIAL, SPECIAL_NONE));
}

void objects_push_bool(struct objects *o, bool truth)
{
    push(o, value_of(VALUE_SPECIAL, truth ? SPECIAL_TRUE : SPECIAL_FALSE));
}

void objects_push_other(struct objects *o)
{
    push(o, VALUE_OTHER);
}

void objects_push_int(struct objects *o, int64_t integer)
{
    if (integer >= -(INT64_C(1) << 59) && integer < INT64_C(1) << 59)
        push(o, value_of(VALUE_INT, (uint64_t)integer & VALUE_PAYLOAD));
    else
        objects_push_wide(o, integer < 0 ? 0 - (uint64_t)integer : (uint64_t)integer, integer < 0);
}

void objects_push_wide(struct objects *o, uint64_t magnitude, bool negative)
{
    push(o, value_of(VALUE_WIDE, o->wide.count));
    *VEC_PUSH(&o->wide) = (struct wide){ .magnitude = magnitude, .negative = negative };
}

void objects_push_number(struct objects *o, double number)
{
    push(o, value_of(VALUE_WIDE, o->wide.count));
    *VEC_PUSH(&o->wide) = (struct wide){ .number = number, .is_number = true };
}

void objects_push_text(struct objects *o, const char *text, size_t len)
{
    push(o, value_of(VALUE_TEXT, names_add(o->snapshot->names, text, len)));
}

void objects_push_list(struct objects *o)
{
    push(o, value_of(VALUE_OPEN, add_object(o, OBJECT_LIST)));
}

void objects_push_dict(struct objects *o)
{
    push(o, value_of(VALUE_OPEN, add_object(o, OBJECT_DICT)));
}

void objects_mark(struct objects *o)
{
    *VEC_PUSH(&o->marks) = o->stack.count;
}

/* The height of the stack at the last mark, which is removed. */
static bool read_mark(struct objects *o, size_t *height, struct tpa_error *err)
{
    if (o->too_many)
        return tpa_fail(err, TPA_NOWHERE, "more than %u objects", MEMO_PAYLOAD);
    if (o->marks.count == 0)
        return tpa_fail(err, TPA_NOWHERE, "the items since the last mark are needed, but there is no mark");
    *height = o->marks.at[--o->marks.count];
    return true;
}

/* Are COUNT values on the stack, above the last mark? */
static bool has_values(const struct objects *o, size_t count, struct tpa_error *err)
{
    size_t base = o->marks.count ? o->marks.at[o->marks.count - 1] : 0;
    if (o->too_many)
        return tpa_fail(err, TPA_NOWHERE, "more than %u objects", MEMO_PAYLOAD);
    return o->stack.count - base >= count ||
           tpa_fail(err, TPA_NOWHERE, "%zu objects are needed, but %zu are on the stack", count,
                    o->stack.count - base);
}

/* The list or dict at INDEX of the stack; NULL in *OBJECT if it is complete already, which is counted. */
static bool find_target(struct objects *o, size_t index, enum object_kind kind, struct object **object,
                        struct tpa_error *err)
{
    value v = o->stack.at[index];
    enum value_tag tag = value_tag(v);
    *object = NULL;
    if (tag == VALUE_OPEN) {
        struct object *found = &o->objects.at[v & ~OPEN_REFERENCE & VALUE_PAYLOAD];
        if (found->kind != kind)
            return tpa_fail(err, TPA_NOWHERE,
                            kind == OBJECT_LIST ? "an item is put into a dict" : "a key is set in a list");
        if (!found->closed)
            *object = found;
    } else if (tag < VALUE_OPEN || tag == VALUE_POOL) {
        if (v != value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST) && v != VALUE_OTHER)
            return tpa_fail(err, TPA_NOWHERE, "an item is put into something that is not a %s",
                            kind == OBJECT_LIST ? "list" : "dict");
    }
    if (!*object)
        snapshot_notice(o->snapshot, "changed_later",
                        "lists or dicts are changed after they were used, which counts for nothing", 1,
                        TPA_NOWHERE);
    return true;
}

/* Append the values from FIRST on to the list below them, and pop them. */
static bool append_from(struct objects *o, size_t first, struct tpa_error *err)
{
    struct object *list;
    if (!find_target(o, first - 1, OBJECT_LIST, &list, err))
        return false;
    size_t id = list ? (size_t)(list - o->objects.at) : 0;
    for (size_t i = first; i < o->stack.count; i++) {
        value v = objects_settle(o, o->stack.at[i]);
        if (list)
            add_to_list(&o->objects.at[id], v);
    }
    o->stack.count = first;
    return true;
}

bool objects_append(struct objects *o, struct tpa_error *err)
{
    return has_values(o, 2, err) && append_from(o, o->stack.count - 1, err);
}

bool objects_append_marked(struct objects *o, struct tpa_error *err)
{
    size_t height = 0;
    if (!read_mark(o, &height, err))
        return false;
    if (height == 0)
        return tpa_fail(err, TPA_NOWHERE, "items are appended, but no list is on the stack");
    return append_from(o, height, err);
}

/* Set the keys and values from FIRST on in the dict below. COMPLETE: no more will follow. */
static bool set_from(struct objects *o, size_t first, bool complete, struct tpa_error *err)
{
    struct object *dict;
    size_t count = o->stack.count - first;
    if (count % 2)
        return tpa_fail(err, TPA_NOWHERE, "a dict is given a key without a value");
    if (!find_target(o, first - 1, OBJECT_DICT, &dict, err))
        return false;
    uint32_t id = dict ? (uint32_t)(dict - o->objects.at) : 0;
    for (size_t i = first; i < o->stack.count; i++)
        o->stack.at[i] = objects_settle(o, o->stack.at[i]);
    value record;
    if (dict && complete && o->objects.at[id].count == 0 &&
        records_make(o, o->stack.at + first, count / 2, &record)) {
        close_object(o, id, record);
        o->stack.at[first - 1] = record;
    } else if (dict) {
        for (size_t i = first; i < o->stack.count; i++)
            add_item(&o->objects.at[id], o->stack.at[i]);
    }
    o->stack.count = first;
    return true;
}

bool objects_set_item(struct objects *o, struct tpa_error *err)
{
    return has_values(o, 3, err) && set_from(o, o->stack.count - 2, false, err);
}

bool objects_set_items(struct objects *o, struct tpa_error *err)
{
    size_t height = 0;
    if (!read_mark(o, &height, err))
        return false;
    if (height == 0)
        return tpa_fail(err, TPA_NOWHERE, "keys are set, but no dict is on the stack");
    return set_from(o, height, true, err);
}

/* Make one object of the values from FIRST on, in their place. */
static bool make_from(struct objects *o, size_t first, bool dict, struct tpa_error *err)
{
    uint32_t id = add_object(o, dict ? OBJECT_DICT : OBJECT_LIST);
    size_t count = o->stack.count - first;
    if (dict && count % 2)
        return tpa_fail(err, TPA_NOWHERE, "a dict is given a key without a value");
    for (size_t i = first; i < o->stack.count; i++) {
        value v = objects_settle(o, o->stack.at[i]);
        if (dict)
            add_item(&o->objects.at[id], v);
        else
            add_to_list(&o->objects.at[id], v);
    }
    o->stack.count = first;
    o->objects.at[id].slot = first;
    push(o, value_of(VALUE_OPEN, id));
    return true;
}

bool objects_make_tuple(struct objects *o, size_t count, struct tpa_error *err)
{
    return has_values(o, count, err) && make_from(o, o->stack.count - count, false, err);
}

bool objects_make_marked(struct objects *o, bool dict, struct tpa_error *err)
{
    size_t height = 0;
    return read_mark(o, &height, err) && make_from(o, height, dict, err);
}

bool objects_pop(struct objects *o, struct tpa_error *err)
{
    if (o->marks.count && o->marks.at[o->marks.count - 1] == o->stack.count) {
        o->marks.count--; /* as Python does */
        return true;
    }
    if (!has_values(o, 1, err))
        return false;
    o->stack.count--;
    return true;
}

bool objects_pop_marked(struct objects *o, struct tpa_error *err)
{
    size_t height = 0;
    if (!read_mark(o, &height, err))
        return false;
    o->stack.count = height;
    return true;
}

/* Are items being collected for this list or dict, to be added together? */
static bool is_being_filled(const struct objects *o, const struct object *object)
{
    size_t i; /* marks ascend */
    SEARCH(i, o->marks.count, o->marks.at[i] < object->slot + 1);
    return i < o->marks.count && o->marks.at[i] == object->slot + 1;
}

/* Add a reference to V. A list that is only waiting to be added to something becomes final: the stack of a segment is
 * referred to by its blocks in this way. */
static value refer_to(struct objects *o, value v)
{
    if (value_tag(v) != VALUE_OPEN)
        return v;
    struct object *object = &o->objects.at[v & ~OPEN_REFERENCE & VALUE_PAYLOAD];
    if (object->closed)
        return object->became;
    object->referred_to = true;
    if (object->kind == OBJECT_LIST && !is_being_filled(o, object)) /* an empty one may still get items */
        return object->count ? objects_settle(o, v & ~OPEN_REFERENCE)
                             : value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST);
    return v | OPEN_REFERENCE;
}

bool objects_duplicate(struct objects *o, struct tpa_error *err)
{
    if (!has_values(o, 1, err))
        return false;
    push(o, refer_to(o, o->stack.at[o->stack.count - 1]));
    return true;
}

/* ---- the memo ---- */

static void objects_set_memo(struct objects *o, size_t number, value v)
{
    v &= ~(value_tag(v) == VALUE_OPEN ? OPEN_REFERENCE : 0);
    uint64_t payload = value_payload(v);
    if (value_tag(v) == VALUE_INT) { /* no writer shares numbers, but one could */
        int64_t integer = (int64_t)(v << 4) >> 4;
        *VEC_PUSH(&o->wide) = (struct wide){ .magnitude = (uint64_t)(integer < 0 ? -integer : integer),
                                             .negative = integer < 0 };
        v = value_of(VALUE_WIDE, o->wide.count - 1);
        payload = o->wide.count - 1;
    }
    if (payload > MEMO_PAYLOAD)
        o->too_many = true;
    o->memo.at[number] = (uint32_t)value_tag(v) << MEMO_SHIFT | (uint32_t)(payload & MEMO_PAYLOAD);
}

void objects_shorten_memo(struct objects *o, size_t count)
{
    o->memo.count = count;
    memset(o->shape, 0, sizeof o->shape);
}

bool objects_add(struct objects *o, uint64_t number, int64_t offset, struct tpa_error *err)
{
    if (!has_values(o, 1, err))
        return false;
    if (number > (uint64_t)offset || number >= UINT32_MAX)
        return tpa_fail(err, TPA_NOWHERE, "object number %llu is stored, but fewer objects came before",
                        (unsigned long long)number);
    if (number < o->memo.count) { /* it may have replaced a key or a frame */
        memset(o->shape, 0, sizeof o->shape);
        known_lists_clear(&o->lists);
    }
    while (o->memo.count <= number)
        *VEC_PUSH(&o->memo) = MEMO_EMPTY;
    value v = o->stack.at[o->stack.count - 1];
    if (value_tag(v) == VALUE_OPEN) {
        struct object *object = &o->objects.at[v & ~OPEN_REFERENCE & VALUE_PAYLOAD];
        if (object->closed)
            v = object->became;
        else if (object->memo)
            object->referred_to = true;
        else
            object->memo = (uint32_t)number + 1;
    }
    objects_set_memo(o, number, v);
    return !o->too_many || tpa_fail(err, TPA_NOWHERE, "more than %u objects", MEMO_PAYLOAD);
}

bool objects_add_next(struct objects *o, struct tpa_error *err)
{
    return objects_add(o, o->memo.count, INT64_MAX, err);
}

bool objects_get(struct objects *o, uint64_t number, struct tpa_error *err)
{
    if (number >= o->memo.count || o->memo.at[number] == MEMO_EMPTY)
        return tpa_fail(err, TPA_NOWHERE, "object number %llu is referred to, but was not stored",
                        (unsigned long long)number);
    uint32_t memo = o->memo.at[number];
    value v = value_of((enum value_tag)(memo >> MEMO_SHIFT), memo & MEMO_PAYLOAD);
    push(o, refer_to(o, v));
    return true;
}

/* ---- a file that ends within something ---- */

static bool is_open(const struct objects *o, value v, enum object_kind kind)
{
    if (value_tag(v) != VALUE_OPEN)
        return false;
    const struct object *object = &o->objects.at[v & ~OPEN_REFERENCE & VALUE_PAYLOAD];
    return !object->closed && object->kind == kind;
}

/* Add the complete ones of the values from FIRST on to the list or dict below them. */
static void close_within(struct objects *o, size_t first)
{
    struct tpa_error ignored = { 0 };
    value below = o->stack.at[first - 1];
    if (is_open(o, below, OBJECT_LIST)) {
        append_from(o, first, &ignored);
    } else if (first == 1 && is_open(o, below, OBJECT_DICT)) { /* the top-level object */
        o->stack.count -= (o->stack.count - first) % 2;
        set_from(o, first, false, &ignored);
    } else {
        o->stack.count = first - 1; /* drops an incomplete record */
    }
}

/* Is the value on top an item of the list below it, which is above MARK as well? Writers set no mark for a
 * single item. The value of a dict can only be followed by a key; of two lists in a list, the first may be
 * empty and complete. */
static bool is_single_item(const struct objects *o, size_t mark)
{
    size_t count = o->stack.count;
    if (count < mark + 2 || !is_open(o, o->stack.at[count - 2], OBJECT_LIST))
        return false;
    value top = o->stack.at[count - 1];
    if (is_open(o, o->stack.at[mark - 1], OBJECT_DICT))
        return value_tag(top) != VALUE_TEXT;
    const struct object *list = &o->objects.at[value_payload(o->stack.at[count - 2]) & ~OPEN_REFERENCE];
    return list->count == 0 && value_is_record(top);
}

void objects_close_cut(struct objects *o)
{
    while (o->stack.count > 1 || o->marks.count) {
        size_t count = o->stack.count, mark = o->marks.count ? o->marks.at[o->marks.count - 1] : 0;
        if (o->marks.count && (mark >= count || mark == 0)) {
            o->marks.count--; /* nothing above it, or nothing below */
        } else if (is_open(o, o->stack.at[count - 1], OBJECT_DICT)) {
            o->stack.count--; /* drops an incomplete record */
        } else if (o->marks.count && is_single_item(o, mark)) {
            close_within(o, count - 1);
        } else if (o->marks.count) {
            o->marks.count--;
            close_within(o, mark);
        } else if (is_open(o, o->stack.at[count - 2], OBJECT_LIST)) {
            close_within(o, count - 1);
        } else if (count >= 3 && value_tag(o->stack.at[count - 2]) == VALUE_TEXT) {
            close_within(o, count - 2);
        } else {
            o->stack.count--;
        }
    }
}
