/*
 * names.c - the two tables of a plane: names of events and names of stats, by id.
 *
 * They are maps: entries of {1 key, 2 value}. The key counts, not the id in the value; of equal keys the last one. Ids are
 * mostly small, but nothing says so.
 */
#include "ingest/xplane/parts.h"

#include "ingest/json_text.h"
#include <math.h>

/* ---- entries ---- */

static enum xplane_stat meaning_of(struct wire_text name)
{
    static const char *const names[] = {
#define XPLANE_STAT_NAME(id, text) text,
        XPLANE_STATS(XPLANE_STAT_NAME)
#undef XPLANE_STAT_NAME
    };
    for (int i = 0; i < STAT_COUNT; i++)
        if (wire_text_is(name, names[i]))
            return (enum xplane_stat)i;
    return STAT_UNKNOWN;
}

/* Key and value of the map entry that FIELD holds. False: it is damaged. */
static bool read_entry(const struct wire_field *entry, uint64_t *key, struct wire *value)
{
    struct wire in = wire_in(entry);
    struct wire_field field;
    *key = 0;
    *value = wire_over(NULL, 0);
    while (wire_next(&in, &field)) {
        if (wire_is(&field, 1, WIRE_VARINT))
            *key = field.value;
        else if (wire_is(&field, 2, WIRE_BYTES))
            *value = wire_in(&field);
        else if (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number))
            break;
    }
    return !in.damaged;
}

static void read_stat_name(struct xplane_plane *plane, const struct wire_field *entry)
{
    uint64_t key;
    struct wire in;
    struct wire_field field;
    if (!read_entry(entry, &key, &in))
        return;
    struct xplane_stat_name name = { .meaning = STAT_UNKNOWN };
    while (wire_next(&in, &field)) {
        if (wire_is(&field, 2, WIRE_BYTES))
            name.text = wire_text_of(&field);
        else if (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number))
            break;
    }
    name.meaning = (uint8_t)meaning_of(name.text);
    *VEC_PUSH(&plane->stat_names) = name;
    id_table_set(&plane->stat_ids, key, (uint32_t)plane->stat_names.count - 1);
}

/* Who wrote the file shows in what its host did. */
static void look_for_producer(struct xplane_event_name *name)
{
    name->is_jax = wire_text_begins(name->name, "PjitFunction") || wire_text_begins(name->name, "PjRt");
    name->is_tensorflow = wire_text_begins(name->name, "ExecutorState::") ||
                          wire_text_begins(name->name, "Iterator::") ||
                          wire_text_begins(name->name, "TFE_") || name->is_context;
}

static void read_event_name(struct xplane_plane *plane, const struct wire_field *entry)
{
    uint64_t key;
    struct wire in;
    struct wire_field field;
    if (!read_entry(entry, &key, &in))
        return;
    struct xplane_event_name name = { 0 };
    *VEC_PUSH(&plane->name_fields) = in;
    while (wire_next(&in, &field)) {
        if (wire_is(&field, 2, WIRE_BYTES))
            name.name = wire_text_of(&field);
        else if (wire_is(&field, 4, WIRE_BYTES))
            name.display = wire_text_of(&field);
        else if (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number))
            break;
    }
    name.is_twin = plane->kind == PLANE_HOST && wire_text_begins(name.name, "end: ");
    name.is_free = wire_text_is(name.name, "MemoryDeallocation");
    name.is_allocation = name.is_free || wire_text_is(name.name, "MemoryAllocation");
    name.is_context = wire_text_is(name.name, "TraceContext");
    look_for_producer(&name);
    *VEC_PUSH(&plane->event_names) = name;
    id_table_set(&plane->event_ids, key, (uint32_t)plane->event_names.count - 1);
}

/* Set STAT of NAME, whose stats are read, to VALUE: the last value counts. */
static void set_name_stat(struct xplane_plane *plane, struct xplane_event_name *name, enum xplane_stat stat,
                          const struct xplane_value *value)
{
    for (uint32_t i = name->first_stat; i < plane->name_stats.count; i++)
        if (plane->name_stats.at[i].stat == stat) {
            plane->name_stats.at[i].value = *value;
            return;
        }
    *VEC_PUSH(&plane->name_stats) = (struct xplane_name_stat){ stat, *value };
    name->stat_count++;
}

/* Read the stats of a name that mean something: most say where in the program it comes from. */
static void read_stats_of_name(struct xplane_plane *plane, struct xplane_event_name *name, struct wire in)
{
    struct wire_field field;
    struct xplane_value value;
    enum xplane_stat stat;
    name->first_stat = (uint32_t)plane->name_stats.count;
    while (wire_next(&in, &field)) {
        if (wire_is(&field, 5, WIRE_BYTES) && xplane_stat_read(plane, wire_in(&field), &stat, &value))
            set_name_stat(plane, name, stat, &value);
        else if (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number))
            break;
    }
}

void xplane_names_read(struct whole *whole, struct xplane_plane *plane)
{
    struct wire in = plane->fields;
    struct wire_field field;
    while (whole_next(whole, &in, &field)) {
        bool is_event_name = wire_is(&field, 4, WIRE_BYTES) && plane->has_lines;
        bool is_stat_name = wire_is(&field, 5, WIRE_BYTES), is_stat = wire_is(&field, 6, WIRE_BYTES);
        if (is_event_name || is_stat_name || is_stat)
            whole_keep(whole, field.bytes, (size_t)field.value);
        if (is_event_name)
            read_event_name(plane, &field);
        else if (is_stat_name)
            read_stat_name(plane, &field);
        else if (is_stat)
            *VEC_PUSH(&plane->stats) = wire_in(&field);
        else if (field.type == WIRE_GROUP && !whole_skip_group(whole, &in, field.number))
            break;
    }
    for (size_t i = 0; i < plane->event_names.count; i++)
        read_stats_of_name(plane, &plane->event_names.at[i], plane->name_fields.at[i]);
    VEC_FREE(&plane->name_fields);
}

void xplane_names_release(struct xplane_plane *plane)
{
    EACH(id_table_release, &plane->stat_ids, &plane->event_ids);
    EACH(VEC_FREE, &plane->stat_names, &plane->event_names, &plane->name_stats, &plane->stats,
         &plane->programs);
}

/* ---- stats ---- */

static void set_number(struct xplane_value *value, int64_t number)
{
    *value = (struct xplane_value){ .is_number = true, .number = number };
}

/* FIELD of a stat, which is not its id, is *VALUE if it is one. */
static void take_value(const struct xplane_plane *plane, const struct wire_field *field,
                       struct xplane_value *value)
{
    switch (field->number << 3 | field->type) {
    case 2 << 3 | WIRE_FIXED64: {
        double number = wire_double(field->value);
        if (fabs(number) < 0x1p62 && number == floor(number))
            set_number(value, (int64_t)number);
        break;
    }
    case 3 << 3 | WIRE_VARINT:
    case 4 << 3 | WIRE_VARINT: set_number(value, (int64_t)field->value); break;
    case 5 << 3 | WIRE_BYTES:
    case 6 << 3 | WIRE_BYTES: *value = (struct xplane_value){ .text = wire_text_of(field) }; break;
    case 7 << 3 | WIRE_VARINT: {
        uint32_t text = id_table_find(&plane->stat_ids, field->value);
        *value = (struct xplane_value){ 0 };
        if (text != ID_TABLE_NONE)
            value->text = plane->stat_names.at[text].text;
        break;
    }
    default: break;
    }
}

/* Read the value of the stat; *NAME is its name's place, ID_TABLE_NONE when it is unknown. */
static bool read_value(const struct xplane_plane *plane, struct wire in, uint32_t *name,
                       struct xplane_value *value)
{
    struct wire_field field;
    uint64_t id = 0;
    *value = (struct xplane_value){ 0 };
    while (wire_next(&in, &field)) {
        if (wire_is(&field, 1, WIRE_VARINT))
            id = field.value;
        else
            take_value(plane, &field, value);
        if (field.type == WIRE_GROUP && !wire_skip_group(&in, field.number))
            return false;
    }
    *name = id_table_find(&plane->stat_ids, id);
    return !in.damaged;
}

bool xplane_stat_read(const struct xplane_plane *plane, struct wire in, enum xplane_stat *stat,
                      struct xplane_value *value)
{
    uint32_t name;
    if (!read_value(plane, in, &name, value) || name == ID_TABLE_NONE)
        return false;
    *stat = (enum xplane_stat)plane->stat_names.at[name].meaning;
    return *stat != STAT_UNKNOWN;
}

/* The only field of the LEN bytes at AT, of which and of what follows up to END can be read. False: there is none, or several, or it
 * is an id, or long, or damaged. */
static bool only_field(const uint8_t *at, size_t len, const uint8_t *end, struct wire_field *field)
{
    const uint8_t *behind = at + 1;
    if (len < 2 || end - at < 9 || *at < 2 << 3 || *at >= 0x80)
        return false;
    *field = (struct wire_field){ .number = *at >> 3, .type = *at & 7 };
    switch (field->type) {
    case WIRE_VARINT: return wire_quick_varint(&behind, &field->value) && behind == at + len;
    case WIRE_FIXED64:
        memcpy(&field->value, behind, sizeof field->value);
        field->value = le64toh(field->value);
        return len == 9;
    case WIRE_BYTES:
        field->value = at[1];
        field->bytes = at + 2;
        return at[1] < 0x80 && (size_t)at[1] + 2 == len;
    default: return false;
    }
}

/* Nearly all stats are an id and a value behind it, and most say nothing to us: these are not looked at any further.
 * What is written in another way is read field by field. */
void xplane_stat_take(const struct xplane_plane *plane, const uint8_t *at, size_t len, const uint8_t *end,
                      struct xplane_stats *stats)
{
    struct xplane_value value = { 0 };
    struct wire_field field;
    enum xplane_stat stat = STAT_UNKNOWN;
    const uint8_t *behind = at + 1;
    uint64_t id;
    if (len > 2 && end - at >= 9 && at[0] == (1 << 3 | WIRE_VARINT) && wire_quick_varint(&behind, &id) &&
        behind < at + len && only_field(behind, (size_t)(at + len - behind), end, &field)) {
        uint32_t name = id_table_find(&plane->stat_ids, id);
        if (name == ID_TABLE_NONE || plane->stat_names.at[name].meaning == STAT_UNKNOWN)
            return;
        stat = (enum xplane_stat)plane->stat_names.at[name].meaning;
        take_value(plane, &field, &value);
    } else if (!xplane_stat_read(plane, wire_over(at, len), &stat, &value)) {
        return;
    }
    stats->present |= UINT32_C(1) << stat;
    stats->at[stat] = value;
}

bool xplane_number(const struct xplane_stats *stats, enum xplane_stat stat, int64_t *number)
{
    if (!xplane_has(stats, stat))
        return false;
    const struct xplane_value *value = &stats->at[stat];
    if (!value->is_number)
        return value->text.len > 0 && json_integer(value->text.at, value->text.at + value->text.len, number);
    *number = value->number;
    return true;
}

bool xplane_plane_stat(const struct xplane_plane *plane, const char *name, struct xplane_value *value)
{
    uint32_t place;
    return ANY(i, plane->stats.count,
               read_value(plane, plane->stats.at[i], &place, value) && place != ID_TABLE_NONE &&
                   wire_text_is(plane->stat_names.at[place].text, name));
}
