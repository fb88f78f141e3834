/* snapshot_root.c - processes the top-level object of a memory snapshot: see object_readers.h. */
#include "ingest/object_values.h"
#include "ingest/object_readers.h"

#include "base/runs.h"
#include <inttypes.h>

/* The complete list V; NULL if it is none or empty. */
static struct object *list_of(const struct objects *o, value v)
{
    return value_tag(v) == VALUE_LIST ? &o->objects.at[value_payload(v)] : NULL;
}

static void odd_item(struct objects *o)
{
    snapshot_lacks(
        o->snapshot, LACK_ODD_ITEM,
        "items stand in a list of the snapshot and are not what it should hold; they were left out", 1,
        TPA_NOWHERE);
}

/* ---- entries ---- */

/* The entries of LIST are those of device NUMBER. */
static void snapshot_root_read_entries(struct objects *o, struct object *list, uint32_t number)
{
    struct snapshot *snapshot = o->snapshot;
    struct snapshot_device device = { .device = number };
    if (list && !records_use(o, &list->used))
        list = NULL;
    if (list && list->in_run && value_tag(list->run) == VALUE_ENTRY) {
        device.first = value_payload(list->run);
        device.end = device.first + list->count;
    } else if (list) { /* one of them occurs twice, or there are other items between them */
        device.first = snapshot->entries.count;
        for (size_t i = 0; i < list->count; i++) {
            value v = objects_item(list, i);
            if (value_tag(v) == VALUE_ENTRY)
                snapshot_repeat_entry(snapshot, value_payload(v));
            else
                odd_item(o);
        }
        device.end = snapshot->entries.count;
    }
    *VEC_PUSH(&snapshot->devices) = device;
}

/* Is LIST one of entries, rather than of lists of them? */
static bool holds_entries(const struct object *list)
{
    return list->count > 0 && value_tag(objects_item(list, 0)) == VALUE_ENTRY;
}

static void read_traces(struct objects *o, value v)
{
    struct object *list = list_of(o, v);
    if (!list) {
        if (v != value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST))
            odd_item(o);
    } else if (holds_entries(list)) {
        snapshot_root_read_entries(o, list, 0);
    } else {
        if (list->count > SNAPSHOT_DEVICES_MOST)
            snapshot_notice(o->snapshot, "devices", "devices beyond 1024 were left out",
                            list->count - SNAPSHOT_DEVICES_MOST, TPA_NOWHERE);
        for (size_t i = 0; i < list->count && i < SNAPSHOT_DEVICES_MOST; i++) {
            value item = objects_item(list, i);
            if (value_tag(item) != VALUE_LIST && item != value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST))
                odd_item(o);
            snapshot_root_read_entries(o, list_of(o, item), (uint32_t)i);
        }
    }
}

/* Host memory has one list, in any form. */
static void read_host_traces(struct objects *o, value v)
{
    struct object *list = list_of(o, v);
    if (!list)
        return;
    if (holds_entries(list)) {
        snapshot_root_read_entries(o, list, SNAPSHOT_HOST);
        return;
    }
    for (size_t i = 0; i < list->count; i++)
        if (list_of(o, objects_item(list, i))) {
            snapshot_root_read_entries(o, list_of(o, objects_item(list, i)), SNAPSHOT_HOST);
            return;
        }
}

/* ---- segments ---- */

typedef VEC_OF(struct snapshot_segment) segment_list;

static void read_segments(struct objects *o, value v, bool host, void *listed)
{
    segment_list *segments = listed;
    const struct object *list = list_of(o, v);
    if (!list) {
        if (v != value_of(VALUE_SPECIAL, SPECIAL_EMPTY_LIST))
            odd_item(o);
        return;
    }
    SCOPED bool *used = mem_zalloc(o->snapshot->segments.count + 1, sizeof *used);
    for (size_t i = 0; i < list->count; i++) {
        value item = objects_item(list, i);
        if (value_tag(item) != VALUE_SEGMENT) {
            odd_item(o);
            continue;
        }
        if (!records_use(o, &used[value_payload(item)]))
            continue;
        struct snapshot_segment segment = o->snapshot->segments.at[value_payload(item)];
        if (host)
            segment.device = SNAPSHOT_HOST;
        *VEC_PUSH(segments) = segment;
    }
}

static bool segment_after(const void *context, const void *a, const void *b)
{
    (void)context;
    const struct snapshot_segment *left = a, *right = b;
    return left->device != right->device ? left->device > right->device : left->addr > right->addr;
}

/* Add devices that have segments but no list of entries. */
static void add_silent_devices(struct snapshot *snapshot)
{
    size_t listed = 0; /* those with a list have the numbers 0, 1, 2 ..., except the host */
    bool host = false;
    for (size_t d = 0; d < snapshot->devices.count; d++) {
        host = host || snapshot->devices.at[d].device == SNAPSHOT_HOST;
        listed += snapshot->devices.at[d].device != SNAPSHOT_HOST;
    }
    for (size_t i = 0; i < snapshot->segments.count; i++) {
        uint32_t device = snapshot->segments.at[i].device;
        bool known = (i > 0 && snapshot->segments.at[i - 1].device == device) ||
                     (device == SNAPSHOT_HOST ? host : device < listed);
        if (!known)
            *VEC_PUSH(&snapshot->devices) = (struct snapshot_device){ .device = device };
    }
}

static bool device_after(const void *context, const void *a, const void *b)
{
    (void)context;
    return ((const struct snapshot_device *)a)->device > ((const struct snapshot_device *)b)->device;
}

/* An END belongs to the last START of its name and device that has none yet. Scopes nest, so the search from the last
 * open one is short; unclosed ones are dropped after this many. */
static void pair_annotations(struct objects *o, const struct object *list)
{
    struct snapshot *snapshot = o->snapshot;
    SCOPED VEC_OF(struct snapshot_annotation) open = { 0 };
    enum { SEARCHED = 1000 };
    for (size_t i = 0; i < list->count; i++) {
        value item = objects_item(list, i);
        if (value_tag(item) != VALUE_ANNOTATION) {
            odd_item(o);
            continue;
        }
        const struct annotation_record *record = &o->annotations.at[value_payload(item)];
        snapshot->annotation_records++;
        if (record->stage == WORD_START) {
            *VEC_PUSH(&open) = (struct snapshot_annotation){ record->name, record->device, record->time_us,
                                                             SNAPSHOT_NO_TIME };
            continue;
        }
        size_t at = open.count, lowest = open.count > SEARCHED ? open.count - SEARCHED : 0;
        while (at > lowest &&
               (open.at[at - 1].name != record->name || open.at[at - 1].device != record->device))
            at--;
        if (record->stage != WORD_END || at == lowest) {
            snapshot_notice(snapshot, "lone_end", "ends of annotations belong to no start in the file", 1,
                            TPA_NOWHERE);
            continue;
        }
        struct snapshot_annotation closed = open.at[at - 1];
        closed.end_us = record->time_us;
        *VEC_PUSH(&snapshot->annotations) = closed;
        memmove(open.at + at - 1, open.at + at, (open.count - at) * sizeof *open.at);
        open.count--;
    }
    for (size_t i = 0; i < open.count; i++)
        *VEC_PUSH(&snapshot->annotations) = open.at[i];
}

/* ---- settings ---- */

static name_id snapshot_root_text_of(struct objects *o, value v, struct buffer *text)
{
    struct names *names = o->snapshot->names;
    int64_t integer;
    buffer_clear(text);
    if (value_tag(v) == VALUE_TEXT)
        return (name_id)value_payload(v);
    if (records_integer(o, v, &integer))
        buffer_printf(text, "%" PRId64, integer);
    else if (value_tag(v) == VALUE_WIDE && o->wide.at[value_payload(v)].is_number)
        buffer_printf(text, "%.15g", o->wide.at[value_payload(v)].number);
    else if (v == value_of(VALUE_SPECIAL, SPECIAL_TRUE) || v == value_of(VALUE_SPECIAL, SPECIAL_FALSE))
        buffer_puts(text, v == value_of(VALUE_SPECIAL, SPECIAL_TRUE) ? "true" : "false");
    else if (value_tag(v) == VALUE_SPECIAL && value_payload(v) == SPECIAL_NONE)
        buffer_puts(text, "none");
    else
        buffer_puts(text, "(not shown)");
    return names_add(names, text->at, text->count);
}

/* Add the pairs of the dict V, and those of dicts in it; there are no deeper ones. */
static void read_settings(struct objects *o, value v)
{
    if (value_tag(v) != VALUE_DICT)
        return;
    SCOPED struct buffer text = { 0 }, key = { 0 };
    const struct object *dict = &o->objects.at[value_payload(v)];
    for (size_t i = 0; i + 1 < dict->count; i += 2) {
        name_id name = snapshot_root_text_of(o, dict->items[i], &text);
        value setting = dict->items[i + 1];
        if (value_tag(setting) != VALUE_DICT) {
            *VEC_PUSH(&o->snapshot->settings) =
                (struct snapshot_setting){ name, snapshot_root_text_of(o, setting, &text) };
            continue;
        }
        const struct object *inner = &o->objects.at[value_payload(setting)];
        for (size_t k = 0; k + 1 < inner->count; k += 2) {
            name_id part = snapshot_root_text_of(o, inner->items[k], &text);
            buffer_clear(&key);
            buffer_printf(&key, "%s.%s", names_text(o->snapshot->names, name),
                          names_text(o->snapshot->names, part));
            name_id full = names_add(o->snapshot->names, key.at, key.count);
            *VEC_PUSH(&o->snapshot->settings) =
                (struct snapshot_setting){ full, snapshot_root_text_of(o, inner->items[k + 1], &text) };
        }
    }
}

/* A number, or the largest in a list of them, one per device; MISSING for anything else. */
static int64_t snapshot_root_number_of(const struct objects *o, value v, int64_t missing)
{
    int64_t number;
    if (v == value_of(VALUE_SPECIAL, SPECIAL_TRUE))
        return 1;
    return records_integer(o, v, &number) ? number : missing;
}

static bool read_root(struct objects *o, const struct object *root, void *segments)
{
    bool any = false;
    size_t last[KEY_COUNT] = { 0 }; /* the last position of a key, which counts in a dict */
    for (size_t i = 0; i + 1 < root->count; i += 2)
        if (value_tag(root->items[i]) == VALUE_TEXT && value_payload(root->items[i]) < KEY_COUNT)
            last[value_payload(root->items[i])] = i;
    for (size_t i = 0; i + 1 < root->count; i += 2) {
        value key = root->items[i], v = root->items[i + 1];
        if (value_tag(key) != VALUE_TEXT || (value_payload(key) < KEY_COUNT && last[value_payload(key)] != i))
            continue;
        *VEC_PUSH(&o->snapshot->keys) = (name_id)value_payload(key);
        any = any || value_payload(key) == KEY_SEGMENTS || value_payload(key) == KEY_DEVICE_TRACES;
        switch (value_payload(key)) {
        case KEY_SEGMENTS: read_segments(o, v, false, segments); break;
        case KEY_HOST_SEGMENTS: read_segments(o, v, true, segments); break;
        case KEY_DEVICE_TRACES: read_traces(o, v); break;
        case KEY_HOST_TRACES: read_host_traces(o, v); break;
        case KEY_ALLOCATOR_SETTINGS: read_settings(o, v); break;
        case KEY_EXTERNAL_ANNOTATIONS:
            if (list_of(o, v))
                pair_annotations(o, list_of(o, v));
            break;
        case KEY_MAX_ENTRIES: o->snapshot->max_entries = snapshot_root_number_of(o, v, -1); break;
        case KEY_OVERFLOWED: o->snapshot->overflowed = snapshot_root_number_of(o, v, 0) != 0; break;
        default: break;
        }
    }
    return any;
}

bool objects_finish(struct objects *o, struct tpa_error *err)
{
    struct snapshot *snapshot = o->snapshot;
    segment_list segments = { 0 };
    bool any = false;
    if (o->stack.count == 1) {
        value whole = objects_settle(o, o->stack.at[0]);
        const struct object *list = list_of(o, whole);
        if (value_tag(whole) == VALUE_DICT) {
            any = read_root(o, &o->objects.at[value_payload(whole)], &segments);
        } else if (list && list->count && value_tag(objects_item(list, 0)) == VALUE_SEGMENT) {
            any = true;
            read_segments(o, whole, false, &segments);
        }
    }
    VEC_FREE(&snapshot->segments);
    runs_sort(segments.at, segments.count, sizeof *segments.at, segment_after, NULL);
    snapshot->segments.at = segments.at;
    snapshot->segments.count = segments.count;
    snapshot->segments.capacity = segments.capacity;
    add_silent_devices(snapshot);
    runs_sort(snapshot->devices.at, snapshot->devices.count, sizeof *snapshot->devices.at, device_after,
              NULL);
    if (any)
        return snapshot_finish_stacks(snapshot, err);
    tpa_fail(
        err, TPA_NOWHERE,
        "this holds no memory snapshot: a dict with the keys segments and device_traces was expected, or the list of "
        "segments");
    return tpa_hint(err, "torch.cuda.memory._dump_snapshot() writes one, after _record_memory_history()");
}
