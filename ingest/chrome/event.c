/*
 * event.c - one event of a Chrome trace.
 *
 * The index gives the quotes and brackets; between them only what is needed is looked at: the key
 * after each quote, and the values of keys somebody wants. An event is first read into struct fields,
 * because its keys come in any order, and then added according to its phase.
 *
 * Phases and fields: "Trace Event Format" (Google, 2016); Kineto's habits 2020 to 2026 as listed in
 * docs/formats.md.
 */
#include "ingest/chrome/chrome.h"

#include "ingest/json_text.h"
#include "ingest/xla_details.h"
#include "trace/step_name.h"
#include <ctype.h>

/* Only the kinds say what is there: the rest, a few hundred bytes, is not touched for each event. */
static inline void clear_fields(struct fields *fields)
{
    for (int i = 0; i < FIELD_COUNT; i++)
        fields->at[i].kind = VALUE_MISSING;
    fields->shape = NULL;
}

/* ---- stepping ---- */

enum chrome_outcome chrome_skip_nested(const struct json_index *index, size_t *cursor)
{
    const char *text = index->text;
    uint64_t objects = 0; /* bit 0: is the innermost container an object? of the deepest 64 only */
    uint64_t depth = 0, deepest = 0;
    size_t i = *cursor;
    do {
        size_t at = index->at[i++];
        if (at == index->indexed)
            return CHROME_INCOMPLETE;
        char c = text[at];
        if (c == '"') {
            if (index->at[i++] == index->indexed)
                return CHROME_INCOMPLETE;
        } else if (c == '{' || c == '[') {
            if (c == '{' && depth && objects & 1) { /* never so above the deepest 64 */
                /* An object in an object is the value of a key, or something was left open. */
                const char *before = text + at - 1;
                while (json_is_blank(*before))
                    before--;
                if (*before != ':')
                    return CHROME_BAD;
            }
            objects = objects << 1 | (c == '{');
            if (++depth > deepest)
                deepest = depth;
        } else {
            if (depth + 64 > deepest && (objects & 1) != (c == '}'))
                return CHROME_BAD;
            objects >>= 1;
            depth--;
        }
    } while (depth);
    *cursor = i;
    return CHROME_READ;
}

/* The value that starts at AT; *CURSOR stands behind the key's quotes and moves behind the value. */
static inline enum chrome_outcome read_value(const struct json_index *index, const char *at, size_t *cursor,
                                             struct value *value)
{
    const char *text = index->text;
    if (*at == '"') {
        size_t close = index->at[*cursor + 1];
        if (close == index->indexed || index->at[*cursor] == index->indexed)
            return CHROME_INCOMPLETE;
        *value = (struct value){ VALUE_STRING, at + 1, text + close, 0 };
        *cursor += 2;
        return json_ends_value(text[close + 1]) ? CHROME_READ : CHROME_BAD;
    }
    if (*at == '{' || *at == '[') {
        value->kind = VALUE_NESTED;
        value->start = at;
        value->cursor = *cursor;
        if (index->at[*cursor] == index->indexed)
            return CHROME_INCOMPLETE;
        enum chrome_outcome outcome = chrome_skip_nested(index, cursor);
        value->end = text + index->at[*cursor - 1] + 1;
        return outcome;
    }
    const char *end = json_word_end(at);
    *value = (struct value){ VALUE_WORD, at, end, 0 };
    if (end == at && *at != '\0')
        return CHROME_BAD;
    return *end == '"' || *end == '{' || *end == '[' || *end == ':' ? CHROME_BAD : CHROME_READ;
}

/* The value after the key that ends with the quote at CLOSE, or NULL when no colon follows. */
static inline const char *after_colon(const char *text, size_t close)
{
    const char *at = text + close + 1;
    if (*at != ':') {
        at = json_skip_blanks(at);
        if (*at != ':')
            return NULL;
    }
    at++;
    return *at == ' ' && !json_is_blank(at[1]) ? at + 1 : json_skip_blanks(at);
}

/* A key with no colon behind it: does the text end there, or is it damaged? */
static enum chrome_outcome without_colon(const struct json_index *index, size_t close)
{
    const char *at = json_skip_blanks(index->text + close + 1);
    return at == index->text + index->len ? CHROME_INCOMPLETE : CHROME_BAD;
}

/* Text of a string value, unescaped where it has to be; borrowed from the window or from OUT. */
static const char *string_text(const struct chrome_reader *reader, const char *start, const char *end,
                               struct buffer *out, size_t *len)
{
    *len = (size_t)(end - start);
    if (!reader->index.has_backslash || !memchr(start, '\\', *len))
        return start;
    json_unescape(start, end, out);
    *len = out->count;
    return out->at ? out->at : "";
}

/* ---- arguments ---- */

static inline unsigned hash_key(const char *key, size_t len)
{
    unsigned first = (unsigned char)key[0], last = (unsigned char)key[len - 1],
             mid = (unsigned char)key[len / 2];
    return (first * 7 + last * 31 + mid * 101 + (unsigned)len * 57) % CHROME_ARG_SLOTS;
}

static void add_key(struct chrome_arg_table *table, const char *text, size_t len, int arg,
                    enum chrome_arg_kind kind)
{
    unsigned slot = hash_key(text, len);
    while (table->slots[slot].text)
        slot = (slot + 1) % CHROME_ARG_SLOTS;
    table->slots[slot] = (struct chrome_arg_key){ text, (uint8_t)len, (uint8_t)arg, (uint8_t)kind };
}

static const struct {
    const char *keys; /* separated by '|' */
    enum chrome_arg_kind kind;
} args[ARG_COUNT] = {
#define ARG_ROW(id, kind, keys) { keys, CHROME_##kind },
    TRACE_ARGS(ARG_ROW)
#undef ARG_ROW
};

void chrome_arg_table_add(struct chrome_arg_table *table, const struct chrome_key *keys)
{
    for (; keys && keys->text; keys++)
        add_key(table, keys->text, strlen(keys->text), (int)keys->arg, args[keys->arg].kind);
}

void chrome_arg_table_init(struct chrome_arg_table *table, const struct trace_wants *wants)
{
    *table = (struct chrome_arg_table){ 0 };
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        /* Whether a region was finished decides what an event is, so it is always read. */
        if (!(wants->args >> arg & 1) && arg != ARG_FINISHED)
            continue;
        for (const char *key = args[arg].keys; *key;) {
            size_t len = strcspn(key, "|");
            add_key(table, key, len, arg, args[arg].kind);
            key += len + (key[len] == '|');
        }
    }
    static const char *const details[] = { "kernel_details", "memcpy_details", "memset_details" };
    for (size_t i = 0; i < sizeof details / sizeof *details && wants->args & XLA_DETAILS_TELL; i++)
        add_key(table, details[i], strlen(details[i]), 0, CHROME_XLA_DETAILS);
    /* What an event of XLA is, or what goes around it, is known by these. */
    add_key(table, "step_num", strlen("step_num"), 0, CHROME_XLA_STEP);
    add_key(table, "hlo_op", strlen("hlo_op"), 0, CHROME_XLA_OP);
    add_key(table, "tf_op", strlen("tf_op"), 0, CHROME_XLA_TF_OP);
    if (!(wants->args & WANT(MODULE)))
        add_key(table, "hlo_module", strlen("hlo_module"), 0, CHROME_XLA_MODULE);
}

const struct chrome_arg_key *chrome_find_arg(const struct chrome_arg_table *table, const char *key,
                                             size_t len)
{
    if (len == 0)
        return NULL;
    for (unsigned slot = hash_key(key, len); table->slots[slot].text; slot = (slot + 1) % CHROME_ARG_SLOTS)
        if (table->slots[slot].len == len && memcmp(table->slots[slot].text, key, len) == 0)
            return &table->slots[slot];
    return NULL;
}

/* Collect the wanted arguments of the object whose '{' is at *CURSOR. */
static enum chrome_outcome read_args(struct chrome_reader *reader, size_t *cursor)
{
    const struct json_index *index = &reader->index;
    const char *text = index->text;
    size_t i = *cursor + 1;
    for (;;) {
        size_t open = index->at[i];
        if (open == index->indexed)
            return CHROME_INCOMPLETE;
        if (text[open] == '}') {
            *cursor = i + 1;
            return CHROME_READ;
        }
        size_t close = index->at[i + 1];
        if (text[open] != '"')
            return CHROME_BAD;
        if (close == index->indexed)
            return CHROME_INCOMPLETE;
        const char *at = after_colon(text, close);
        if (!at)
            return without_colon(index, close);
        i += 2;
        size_t len;
        const char *name = string_text(reader, text + open + 1, text + close, &reader->text_a, &len);
        const struct chrome_arg_key *key = chrome_find_arg(reader->arg_table, name, len);
        if (!key && *at != '"' && *at != '{' && *at != '[')
            continue; /* a number nobody wants: the next key is found by its quote */
        struct value value;
        enum chrome_outcome outcome = read_value(index, at, &i, &value);
        if (outcome != CHROME_READ)
            return outcome;
        if (key && reader->found_count < CHROME_MAX_FOUND)
            reader->found[reader->found_count++] =
                (struct chrome_found_arg){ key, value.start, value.end, value.kind == VALUE_STRING };
    }
}

static bool is_word(const char *start, const char *end, const char *word)
{
    size_t len = strlen(word);
    return (size_t)(end - start) == len && memcmp(start, word, len) == 0;
}

/* Where a list of LEN bytes is remembered. */
static size_t place_of_list(const char *text, size_t len)
{
    uint64_t sum = len, word;
    for (; len >= sizeof word; text += sizeof word, len -= sizeof word) {
        memcpy(&word, text, sizeof word);
        sum = (sum ^ word) * UINT64_C(0x9e3779b97f4a7c15);
    }
    for (; len; len--)
        sum = (sum ^ (unsigned char)*text++) * UINT64_C(0x9e3779b97f4a7c15);
    return (size_t)(sum >> 32) % CHROME_LISTS;
}

/* The text of a value without its blanks. One that is written like an earlier one is not read again. */
static name_id read_list(struct chrome_reader *reader, const char *start, const char *end)
{
    size_t len = (size_t)(end - start);
    struct chrome_list *known = &reader->lists[place_of_list(start, len)];
    if (known->text && known->len == len && memcmp(known->text, start, len) == 0)
        return known->id;
    json_compact(start, end, &reader->text_a);
    *known = (struct chrome_list){ start, len,
                                   trace_chunk_text(reader->chunk, reader->text_a.at, reader->text_a.count) };
    return known->id;
}

static void add_found_args(struct chrome_reader *reader)
{
    struct trace_chunk *chunk = reader->chunk;
    FOR_EACH_OF(found, reader->found, reader->found_count) {
        enum trace_arg arg = (enum trace_arg)found->key->arg;
        const char *text;
        size_t len;
        int64_t number;
        double decimal;
        switch ((enum chrome_arg_kind)found->key->kind) {
        case CHROME_INT:
            if (json_integer(found->start, found->end, &number))
                trace_chunk_arg(chunk, arg, number);
            break;
        case CHROME_DECIMAL:
            if (json_decimal(found->start, found->end, &decimal))
                trace_chunk_arg_decimal(chunk, arg, decimal);
            break;
        case CHROME_TEXT:
            text = string_text(reader, found->start, found->end, &reader->text_a, &len);
            trace_chunk_arg(chunk, arg, trace_chunk_text(chunk, text, len));
            break;
        case CHROME_JSON:
            trace_chunk_arg(
                chunk, arg,
                read_list(reader, found->start - found->is_string, found->end + found->is_string));
            break;
        case CHROME_BOOL:
            if (is_word(found->start, found->end, "true") || is_word(found->start, found->end, "false"))
                trace_chunk_arg(chunk, arg, *found->start == 't');
            break;
        case CHROME_XLA_STEP:
        case CHROME_XLA_OP:
        case CHROME_XLA_TF_OP:
        case CHROME_XLA_MODULE: break; /* add_xla has seen them */
        case CHROME_XLA_DETAILS:
            text = string_text(reader, found->start, found->end, &reader->text_a, &len);
            xla_details_add(chunk, text, len);
            break;
        }
    }
}

/* ---- fields ---- */

#define KEY_IS(word) (len == sizeof(word) - 1 && memcmp(key, word, sizeof(word) - 1) == 0)

int chrome_field_of(const char *key, size_t len)
{
    switch (len) {
    case 2:
        return KEY_IS("ph")   ? FIELD_PHASE
               : KEY_IS("ts") ? FIELD_TS
               : KEY_IS("id") ? FIELD_ID
               : KEY_IS("bp") ? FIELD_BIND
                              : -1;
    case 3:
        if (KEY_IS("cat"))
            return FIELD_CATEGORY;
        if (KEY_IS("pid"))
            return FIELD_PID;
        if (KEY_IS("tid"))
            return FIELD_TID;
        return KEY_IS("dur") ? FIELD_DUR : KEY_IS("id2") ? FIELD_ID2 : -1;
    case 4: return KEY_IS("name") ? FIELD_NAME : KEY_IS("args") ? FIELD_ARGS : -1;
    default: return -1;
    }
}

static enum chrome_outcome read_fields(struct chrome_reader *reader, size_t *cursor, struct fields *fields)
{
    const struct json_index *index = &reader->index;
    const char *text = index->text;
    size_t i = *cursor + 1;
    for (;;) {
        size_t open = index->at[i];
        if (open == index->indexed)
            return CHROME_INCOMPLETE;
        if (text[open] == '}') {
            *cursor = i + 1;
            return CHROME_READ;
        }
        if (text[open] != '"')
            return CHROME_BAD;
        size_t close = index->at[i + 1];
        if (close == index->indexed)
            return CHROME_INCOMPLETE;
        const char *at = after_colon(text, close);
        if (!at)
            return without_colon(index, close);
        i += 2;
        size_t len;
        const char *key = string_text(reader, text + open + 1, text + close, &reader->text_a, &len);
        if (len == 11 && KEY_IS("traceEvents"))
            return CHROME_NOT_EVENT;
        int field = chrome_field_of(key, len);
        struct value ignored, *value = field < 0 ? &ignored : &fields->at[field];
        if (field == FIELD_ARGS && *at == '{') {
            *value = (struct value){ VALUE_NESTED, at, at, i };
            if (index->at[i] == index->indexed)
                return CHROME_INCOMPLETE;
            reader->found_count = 0;
            enum chrome_outcome outcome = read_args(reader, &i);
            if (outcome != CHROME_READ)
                return outcome;
            continue;
        }
        if (field == FIELD_ARGS)
            value = &ignored; /* args that are not an object are not args */
        enum chrome_outcome outcome = read_value(index, at, &i, value);
        if (outcome != CHROME_READ)
            return outcome;
    }
}

/* ---- from fields to the chunk ---- */

static void count_notice(struct chrome_reader *reader, const struct fields *fields, const char *kind,
                         const char *text)
{
    trace_chunk_notice(reader->chunk, kind, text, fields->offset);
}

static bool read_time(const struct value *value, int64_t *ns)
{
    return (value->kind == VALUE_WORD || value->kind == VALUE_STRING) &&
           json_microseconds(value->start, value->end, ns);
}

/* One half of a track's key. A string names itself; what is neither string nor number counts as 0. */
static void read_half(const struct chrome_reader *reader, const struct value *value, struct buffer *out,
                      int64_t *number, const char **text, size_t *len)
{
    *number = 0;
    *text = NULL;
    *len = 0;
    if (value->kind == VALUE_STRING)
        *text = string_text(reader, value->start, value->end, out, len);
    else if (value->kind == VALUE_WORD && !json_integer(value->start, value->end, number))
        *number = 0;
}

static track_id read_new_track(struct chrome_reader *reader, const struct fields *fields)
{
    struct track_key key;
    read_half(reader, &fields->at[FIELD_PID], &reader->text_a, &key.pid, &key.pid_text, &key.pid_len);
    read_half(reader, &fields->at[FIELD_TID], &reader->text_b, &key.tid, &key.tid_text, &key.tid_len);
    return trace_chunk_track(reader->chunk, &key);
}

/* The track of pid and tid. Numbers that are spelled as those of an event before are not read again. */
static track_id read_track(struct chrome_reader *reader, const struct fields *fields)
{
    const struct value *pid = &fields->at[FIELD_PID], *tid = &fields->at[FIELD_TID];
    struct chrome_track *known = reader->tracks;
    if (pid->kind != VALUE_WORD || tid->kind != VALUE_WORD)
        return read_new_track(reader, fields);
    size_t pid_len = (size_t)(pid->end - pid->start), tid_len = (size_t)(tid->end - tid->start);
    if (pid_len == 0 || tid_len == 0 || pid_len + tid_len > sizeof known->text)
        return read_new_track(reader, fields);
    known += ((unsigned char)pid->end[-1] + 5u * (unsigned char)tid->end[-1]) % CHROME_TRACKS;
    if (known->pid_len == pid_len && known->tid_len == tid_len &&
        memcmp(known->text, pid->start, pid_len) == 0 &&
        memcmp(known->text + pid_len, tid->start, tid_len) == 0)
        return known->track;
    known->track = read_new_track(reader, fields);
    known->pid_len = (uint8_t)pid_len;
    known->tid_len = (uint8_t)tid_len;
    memcpy(known->text, pid->start, pid_len);
    memcpy(known->text + pid_len, tid->start, tid_len);
    return known->track;
}

static name_id read_name(struct chrome_reader *reader, const struct value *value)
{
    size_t len;
    if (value->kind == VALUE_STRING) {
        const char *text = string_text(reader, value->start, value->end, &reader->text_a, &len);
        return trace_chunk_name(reader->chunk, text, len);
    }
    if (value->kind == VALUE_WORD && !is_word(value->start, value->end, "null"))
        return trace_chunk_name(reader->chunk, value->start, (size_t)(value->end - value->start));
    return trace_chunk_name(reader->chunk, "[no name]", 9);
}

static uint16_t read_category(struct chrome_reader *reader, const struct value *value)
{
    size_t len = 0;
    const char *text = "";
    if (value->kind == VALUE_STRING)
        text = string_text(reader, value->start, value->end, &reader->text_a, &len);
    return trace_chunk_category(reader->chunk, text, len);
}

/* All events of a shape have one category, which is looked up once in each window. */
static uint16_t category_of(struct chrome_reader *reader, const struct fields *fields)
{
    struct shape *shape = fields->shape;
    if (!shape)
        return read_category(reader, &fields->at[FIELD_CATEGORY]);
    if (shape->category_window != reader->shapes.window) {
        shape->category_id = read_category(reader, &fields->at[FIELD_CATEGORY]);
        shape->category_window = reader->shapes.window;
    }
    return shape->category_id;
}

/* The value of KEY in the object at CURSOR (which was stepped over before, so it is well formed). */
static struct value find_in_object(struct chrome_reader *reader, size_t cursor, const char *wanted)
{
    const struct json_index *index = &reader->index;
    const char *text = index->text;
    size_t i = cursor + 1, wanted_len = strlen(wanted), len;
    struct value value = { 0 };
    while (text[index->at[i]] == '"') {
        size_t open = index->at[i], close = index->at[i + 1];
        const char *at = after_colon(text, close);
        i += 2;
        if (!at || read_value(index, at, &i, &value) != CHROME_READ)
            break;
        const char *key = string_text(reader, text + open + 1, text + close, &reader->text_a, &len);
        if (len == wanted_len && memcmp(key, wanted, wanted_len) == 0)
            return value;
    }
    return (struct value){ 0 };
}

/* Ids match when they are written alike: "1" and 1 differ, as the format has it. */
static bool read_async_id(struct chrome_reader *reader, const struct fields *fields, int64_t *id)
{
    struct value value = fields->at[FIELD_ID];
    int64_t scope = 0;
    if (fields->at[FIELD_ID2].kind == VALUE_NESTED) {
        struct value local = find_in_object(reader, fields->at[FIELD_ID2].cursor, "local");
        value = local.kind ? local : find_in_object(reader, fields->at[FIELD_ID2].cursor, "global");
        if (local.kind && fields->at[FIELD_PID].kind == VALUE_STRING)
            scope = trace_async_id(1, fields->at[FIELD_PID].start,
                                   (size_t)(fields->at[FIELD_PID].end - fields->at[FIELD_PID].start));
        else if (local.kind && fields->at[FIELD_PID].kind == VALUE_WORD)
            json_integer(fields->at[FIELD_PID].start, fields->at[FIELD_PID].end, &scope);
        scope = local.kind ? (scope ^ INT64_C(0x5bd1e995)) : 1;
    }
    if (value.kind != VALUE_STRING && value.kind != VALUE_WORD)
        return false;
    bool quoted = value.kind == VALUE_STRING;
    *id = trace_async_id(scope, value.start - quoted, (size_t)(value.end - value.start) + quoted);
    return true;
}

/* The marks of `tpa convert --critical-path` repeat what the events say, and are not events. */
static bool is_path_mark(const struct fields *fields)
{
    const struct value *category = &fields->at[FIELD_CATEGORY], *pid = &fields->at[FIELD_PID],
                       *name = &fields->at[FIELD_NAME];
    if (category->kind != VALUE_STRING || !is_word(category->start, category->end, "critical_path"))
        return false;
    return (pid->kind == VALUE_STRING && is_word(pid->start, pid->end, "critical path")) ||
           (name->kind == VALUE_STRING && is_word(name->start, name->end, "critical_path"));
}

/* The length of an arrow's category without its numbers where they repeat the arrow's id, as unitrace's "Flow_H2D_3418_0"
 * does: a text for each arrow costs more than the arrows. */
static size_t without_id(const char *category, size_t len)
{
    enum { WORD = sizeof "Flow_H2D" - 1 };
    size_t cut = len;
    while (cut && (isdigit((unsigned char)category[cut - 1]) || category[cut - 1] == '_'))
        cut--;
    return cut < len && cut >= WORD && memcmp(category + cut - WORD, "Flow_", 5) == 0 ? cut : len;
}

/* The category or the name of an arrow, which most have of the arrow before. */
static name_id read_arrow_text(struct chrome_reader *reader, const struct fields *fields,
                               enum chrome_field field)
{
    const struct value *value = &fields->at[field];
    struct chrome_list *known = &reader->arrow_texts[field == FIELD_NAME];
    size_t len = 0;
    const char *text = "";
    if (value->kind == VALUE_STRING)
        text = string_text(reader, value->start, value->end, &reader->text_a, &len);
    if (field == FIELD_CATEGORY)
        len = without_id(text, len);
    if (!known->text || known->len != len || memcmp(known->text, text, len) != 0) {
        known->id = trace_chunk_text(reader->chunk, text, len);
        known->text = value->kind == VALUE_STRING && text == value->start ? text : NULL;
        known->len = len;
    }
    return known->id;
}

static void add_flow(struct chrome_reader *reader, const struct fields *fields, char phase)
{
    if (is_path_mark(fields))
        return;
    trace_chunk_count_skipped(reader->chunk, 1, 0, 0);
    if (!reader->want_flows)
        return;
    struct trace_flow flow = { .phase = phase };
    const struct value *id = &fields->at[FIELD_ID];
    if (!read_time(&fields->at[FIELD_TS], &flow.ts_ns) ||
        (id->kind != VALUE_STRING && id->kind != VALUE_WORD)) {
        count_notice(reader, fields, lack_word(LACK_BAD_FLOW),
                     "flow arrows have no usable id or time and were left out");
        return;
    }
    if (!json_integer(id->start, id->end,
                      &flow.id)) /* "0x402": any spelling will do as long as both ends agree */
        flow.id = trace_async_id(0, id->start, (size_t)(id->end - id->start));
    flow.category = read_arrow_text(reader, fields, FIELD_CATEGORY);
    flow.name = read_arrow_text(reader, fields, FIELD_NAME);
    flow.track = read_track(reader, fields);
    flow.bind_enclosing = fields->at[FIELD_BIND].kind == VALUE_STRING &&
                          is_word(fields->at[FIELD_BIND].start, fields->at[FIELD_BIND].end, "e");
    trace_chunk_flow(reader->chunk, &flow);
}

static const char no_sample[] = "counter samples have no usable time or value and were left out";

/* "name series": what a sample of the series START..END is of. */
static name_id read_counter(struct chrome_reader *reader, const struct fields *fields, const char *start,
                            const char *end)
{
    struct buffer *name = &reader->text_b;
    buffer_clear(name);
    size_t len;
    if (fields->at[FIELD_NAME].kind == VALUE_STRING) {
        const char *part = string_text(reader, fields->at[FIELD_NAME].start, fields->at[FIELD_NAME].end,
                                       &reader->text_a, &len);
        buffer_add(name, part, len);
    }
    if (fields->at[FIELD_ID].kind == VALUE_STRING)
        buffer_printf(name, " id: %.*s", (int)(fields->at[FIELD_ID].end - fields->at[FIELD_ID].start),
                      fields->at[FIELD_ID].start);
    buffer_putc(name, ' ');
    const char *series = string_text(reader, start, end, &reader->text_a, &len);
    buffer_add(name, series, len);
    return trace_chunk_text(reader->chunk, name->at, name->count);
}

/* The same for a series of a shape, which is not read again if its name was met before. */
static name_id known_counter(struct chrome_reader *reader, const struct fields *fields,
                             const struct chrome_arg_key *series)
{
    const struct value *name = &fields->at[FIELD_NAME];
    size_t len = (size_t)(name->end - name->start);
    if (name->kind != VALUE_STRING || fields->at[FIELD_ID].kind == VALUE_STRING || len == 0)
        return read_counter(reader, fields, series->text, series->text + series->len);
    size_t place = (unsigned char)name->start[len / 2] * 31u + (unsigned char)name->end[-1] + len +
                   (uintptr_t)series / sizeof *series;
    struct chrome_counter *known = &reader->counters[place % CHROME_COUNTERS];
    if (known->series != series || known->len != len || memcmp(known->name, name->start, len) != 0)
        *known =
            (struct chrome_counter){ name->start, len, series,
                                     read_counter(reader, fields, series->text, series->text + series->len) };
    return known->id;
}

/* A counter holds one sample for each of its args: "name series", or just "name" for a series called "value". */
static void add_samples(struct chrome_reader *reader, const struct fields *fields)
{
    trace_chunk_count_skipped(reader->chunk, 0, 1, 0);
    if (!reader->want_counters)
        return;
    struct trace_sample sample = { 0 };
    if (!read_time(&fields->at[FIELD_TS], &sample.ts_ns) ||
        (!fields->shape && fields->at[FIELD_ARGS].kind != VALUE_NESTED)) {
        count_notice(reader, fields, lack_word(LACK_BAD_COUNTER), no_sample);
        return;
    }
    sample.track = read_track(reader, fields);
    for (size_t i = 0; i < reader->found_count && fields->shape; i++) {
        const struct chrome_found_arg *found = &reader->found[i];
        if (!json_decimal(found->start, found->end, &sample.value)) {
            count_notice(reader, fields, lack_word(LACK_BAD_COUNTER), no_sample);
            continue;
        }
        sample.counter = known_counter(reader, fields, found->key);
        trace_chunk_sample(reader->chunk, &sample);
    }
    if (fields->shape)
        return;
    const struct json_index *index = &reader->index;
    const char *text = index->text;
    size_t i = fields->at[FIELD_ARGS].cursor + 1;
    while (text[index->at[i]] == '"') {
        size_t open = index->at[i], close = index->at[i + 1];
        const char *at = after_colon(text, close);
        struct value value;
        i += 2;
        if (!at || read_value(index, at, &i, &value) != CHROME_READ)
            break;
        if ((value.kind != VALUE_WORD && value.kind != VALUE_STRING) ||
            !json_decimal(value.start, value.end, &sample.value)) {
            count_notice(reader, fields, lack_word(LACK_BAD_COUNTER), no_sample);
            continue;
        }
        sample.counter = read_counter(reader, fields, text + open + 1, text + close);
        trace_chunk_sample(reader->chunk, &sample);
    }
}

static void add_metadata(struct chrome_reader *reader, const struct fields *fields)
{
    static const struct {
        const char *name, *arg;
        enum track_fact fact;
        bool is_number;
    } facts[] = {
        { "process_name", "name", FACT_PROCESS_NAME, false },
        { "thread_name", "name", FACT_THREAD_NAME, false },
        { "process_labels", "labels", FACT_PROCESS_LABELS, false },
        { "process_sort_index", "sort_index", FACT_PROCESS_SORT_INDEX, true },
        { "thread_sort_index", "sort_index", FACT_THREAD_SORT_INDEX, true },
    };
    trace_chunk_count_skipped(reader->chunk, 0, 0, 1);
    if (fields->at[FIELD_NAME].kind != VALUE_STRING || fields->at[FIELD_ARGS].kind != VALUE_NESTED)
        return;
    size_t name_len;
    const char *name = string_text(reader, fields->at[FIELD_NAME].start, fields->at[FIELD_NAME].end,
                                   &reader->text_b, &name_len);
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++) {
        if (!is_word(name, name + name_len, facts[i].name))
            continue;
        struct value value = find_in_object(reader, fields->at[FIELD_ARGS].cursor, facts[i].arg);
        int64_t number = 0;
        size_t len = 0;
        if (facts[i].is_number) {
            if (value.kind == VALUE_MISSING || !json_integer(value.start, value.end, &number))
                return;
            trace_chunk_fact(reader->chunk, read_track(reader, fields), facts[i].fact, number, NAME_NONE);
        } else if (value.kind == VALUE_STRING && value.start < value.end) {
            track_id track = read_track(reader, fields); /* before text_a is used for the name */
            const char *text = string_text(reader, value.start, value.end, &reader->text_a, &len);
            trace_chunk_fact(reader->chunk, track, facts[i].fact, 0,
                             trace_chunk_text(reader->chunk, text, len));
        }
        return;
    }
}

static bool arg_says_unfinished(const struct chrome_reader *reader)
{
    return ANY(i, reader->found_count,
               reader->found[i].key->arg == ARG_FINISHED &&
                   is_word(reader->found[i].start, reader->found[i].end, "false"));
}

/* PyTorch without Kineto (Debian's, and old ones) writes operators without a category, as of a process of this name. */
static bool is_operator_without_kineto(const struct fields *fields)
{
    const struct value *pid = &fields->at[FIELD_PID];
    return fields->at[FIELD_CATEGORY].kind == VALUE_MISSING && pid->kind == VALUE_STRING &&
           is_word(pid->start, pid->end, "CPU functions");
}

/* Programs mark moments by annotations that have no duration. */
static bool is_annotation(const struct fields *fields)
{
    const struct value *category = &fields->at[FIELD_CATEGORY];
    return category->kind == VALUE_STRING && is_word(category->start, category->end, "user_annotation");
}

/* ---- events of XLA without categories ---- */

/* "end: dot.1" marks the end of dot.1 once more. */
static bool is_xla_twin(const struct fields *fields)
{
    static const char begin[] = "end: ";
    const struct value *name = &fields->at[FIELD_NAME];
    return name->kind == VALUE_STRING && (size_t)(name->end - name->start) > sizeof begin - 1 &&
           memcmp(name->start, begin, sizeof begin - 1) == 0 &&
           fields->at[FIELD_CATEGORY].kind == VALUE_MISSING;
}

/* The argument found of KIND, or of KEY; NULL: none. */
static const struct chrome_found_arg *find_found(const struct chrome_reader *reader,
                                                 enum chrome_arg_kind kind, const char *key)
{
    FOR_EACH_OF(found, reader->found, reader->found_count)
        if (found->key->kind == kind && (!key || strcmp(found->key->text, key) == 0))
            return found;
    return NULL;
}

/* Is it a call of CUDA's or HIP's: cuLaunchKernel, cudaMemcpyAsync, hipModuleLaunchKernel? */
static bool is_call_name(const struct value *name)
{
    static const char *const prefixes[] = { "cuda", "hip", "cu" };
    size_t len = (size_t)(name->end - name->start);
    for (size_t i = 0; i < sizeof prefixes / sizeof *prefixes && name->kind == VALUE_STRING; i++) {
        size_t prefix = strlen(prefixes[i]);
        if (len > prefix + 1 && memcmp(name->start, prefixes[i], prefix) == 0 && name->start[prefix] >= 'A' &&
            name->start[prefix] <= 'Z' && name->start[prefix + 1] >= 'a' && name->start[prefix + 1] <= 'z')
            return true;
    }
    return false;
}

/* The operator that a call launches for, as a span around it: "jit_step/dot.1". */
static void add_xla_operator(struct chrome_reader *reader, const struct chunk_event *call,
                             const struct chrome_found_arg *operation)
{
    const struct chrome_found_arg *module = find_found(reader, CHROME_XLA_MODULE, NULL);
    struct chunk_event span = *call;
    size_t len;
    if (!module)
        module = find_found(reader, CHROME_TEXT, "hlo_module");
    buffer_clear(&reader->text_b);
    name_id module_text = NAME_NONE;
    if (module && module->start < module->end && operation->key->kind == CHROME_XLA_OP) {
        const char *text = string_text(reader, module->start, module->end, &reader->text_a, &len);
        buffer_add(&reader->text_b, text, len);
        buffer_putc(&reader->text_b, '/');
        if (module->key->kind == CHROME_TEXT)
            module_text = trace_chunk_text(reader->chunk, text, len);
    }
    const char *text = string_text(reader, operation->start, operation->end, &reader->text_a, &len);
    buffer_add(&reader->text_b, text, len);
    span.name = trace_chunk_name(reader->chunk, reader->text_b.at, reader->text_b.count);
    span.category = trace_chunk_category(reader->chunk, "cpu_op", 6);
    trace_chunk_event(reader->chunk, &span);
    if (module_text != NAME_NONE)
        trace_chunk_arg(reader->chunk, ARG_MODULE, module_text);
}

/* The operator that the event tells: of HLO; else of TensorFlow, "dense/MatMul:MatMul", but "XlaModule:" is none. NULL: none. */
static const struct chrome_found_arg *find_operation(const struct chrome_reader *reader)
{
    const struct chrome_found_arg *operation = find_found(reader, CHROME_XLA_OP, NULL);
    if (operation && operation->start < operation->end)
        return operation;
    operation = find_found(reader, CHROME_XLA_TF_OP, NULL);
    const char *colon =
        operation ? memrchr(operation->start, ':', (size_t)(operation->end - operation->start)) : NULL;
    return colon && colon > operation->start && colon + 1 < operation->end ? operation : NULL;
}

/* What an event without a category, a span, tells of XLA's work: its step, whose name it then has; that it is
 * an operator; or the operator that it launches for. */
static void add_xla(struct chrome_reader *reader, const struct fields *fields, struct chunk_event *event)
{
    const struct chrome_found_arg *step = find_found(reader, CHROME_XLA_STEP, NULL),
                                  *operation = find_operation(reader);
    int64_t number;
    const struct value *name = &fields->at[FIELD_NAME];
    if (step && name->kind == VALUE_STRING && json_integer(step->start, step->end, &number) && number >= 0) {
        size_t len;
        const char *text = string_text(reader, name->start, name->end, &reader->text_a, &len);
        buffer_clear(&reader->text_b);
        step_name_add(&reader->text_b, text, len, number);
        event->name = trace_chunk_name(reader->chunk, reader->text_b.at, reader->text_b.count);
        event->category = trace_chunk_category(reader->chunk, "user_annotation", 15);
    }
    if (!operation)
        return;
    if (is_call_name(&fields->at[FIELD_NAME]))
        add_xla_operator(reader, event, operation);
    else
        event->category = trace_chunk_category(reader->chunk, "cpu_op", 6);
}

static void add_event(struct chrome_reader *reader, const struct fields *fields, char phase)
{
    struct chunk_event event = { .phase = phase, .dur_ns = -1, .name = NAME_NONE };
    if (phase == 'X' && fields->at[FIELD_PID].kind == VALUE_STRING && is_path_mark(fields))
        return;
    if (!read_time(&fields->at[FIELD_TS], &event.start_ns)) {
        count_notice(reader, fields, lack_word(LACK_BAD_TIME),
                     "events without a usable time (ts) were left out");
        return;
    }
    /* A thread's state, as ftrace converters write it, shares its letter with a step of an async event. */
    if (phase == 'T' && fields->at[FIELD_DUR].kind != VALUE_MISSING &&
        fields->at[FIELD_ID].kind == VALUE_MISSING)
        phase = event.phase = 'X';
    bool async = phase == 'b' || phase == 'n' || phase == 'e' || phase == 'S' || phase == 'T' ||
                 phase == 'p' || phase == 'F';
    if (async && !read_async_id(reader, fields, &event.async_id)) {
        count_notice(reader, fields, "async_without_id", "async events without a usable id were left out");
        return;
    }
    if (phase == 'X') {
        if (!read_time(&fields->at[FIELD_DUR], &event.dur_ns)) {
            event.dur_ns = -1;
            bool is_mark = fields->at[FIELD_DUR].kind == VALUE_MISSING && is_annotation(fields);
            count_notice(reader, fields, is_mark ? "mark" : lack_word(LACK_NO_DURATION),
                         is_mark ? "annotations have no duration (dur) and are treated as marks"
                                 : "complete events without a usable duration (dur) are taken to last 0 ns");
        } else if (event.dur_ns < 0) {
            event.dur_ns = -1;
            count_notice(reader, fields, lack_word(LACK_NEGATIVE_DURATION),
                         "events of negative duration are taken to last 0 ns");
        }
        if (arg_says_unfinished(reader))
            event.flags |= EVENT_UNFINISHED;
    }
    if (phase == 'X' && is_xla_twin(fields)) {
        count_notice(reader, fields, "operator_ends",
                     "events called \"end: ...\" mark the end of an operator of XLA and were left out");
        return;
    }
    event.track = read_track(reader, fields);
    event.category = category_of(reader, fields);
    if (phase == 'X' && is_operator_without_kineto(fields))
        event.category = trace_chunk_category(reader->chunk, "cpu_op", 6);
    if (phase == 'X' && reader->found_count && fields->at[FIELD_CATEGORY].kind == VALUE_MISSING)
        add_xla(reader, fields, &event);
    bool may_lack_name = phase == 'E' && (fields->at[FIELD_NAME].kind != VALUE_STRING ||
                                          fields->at[FIELD_NAME].start == fields->at[FIELD_NAME].end);
    if (event.name == NAME_NONE && !may_lack_name)
        event.name = read_name(reader, &fields->at[FIELD_NAME]);
    trace_chunk_event(reader->chunk, &event);
    add_found_args(reader);
}

/* The letter that says what the event is; JSON may write it as an escape, too. */
static char phase_of(struct chrome_reader *reader, const struct value *value)
{
    size_t len;
    return *string_text(reader, value->start, value->end, &reader->text_a, &len);
}

enum chrome_outcome chrome_add_event(struct chrome_reader *reader, const struct fields *fields)
{
    if (fields->at[FIELD_PHASE].kind != VALUE_STRING ||
        fields->at[FIELD_PHASE].start == fields->at[FIELD_PHASE].end)
        return CHROME_BAD;
    char phase = phase_of(reader, &fields->at[FIELD_PHASE]);
    reader->last_phase = phase;
    switch (phase) {
    case 'X':
    case 'B':
    case 'E':
    case 'b':
    case 'n':
    case 'e':
    case 'S':
    case 'T':
    case 'p':
    case 'F':
    case 'i': add_event(reader, fields, phase); break;
    case 'I':
    case 'R': add_event(reader, fields, 'i'); break;
    case 's':
    case 't':
    case 'f': add_flow(reader, fields, phase); break;
    case 'C': add_samples(reader, fields); break;
    case 'M': add_metadata(reader, fields); break;
    default:
        if (phase == 'P')
            count_notice(
                reader, fields, "profile_chunks",
                "samples of V8's profiler (Profile, ProfileChunk) were skipped: save the profile alone, as .cpuprofile, to have it read");
        else
            count_notice(
                reader, fields, "skipped_phase",
                "events of phases that hold no time spans (samples, object and memory dumps) were skipped");
    }
    return CHROME_READ;
}

enum chrome_outcome chrome_read_event(struct chrome_reader *reader, size_t *cursor)
{
    struct fields fields;
    clear_fields(&fields);
    fields.offset = reader->offset + reader->index.at[*cursor];
    size_t behind = *cursor;
    reader->found_count = 0;
    enum chrome_outcome outcome = read_fields(reader, &behind, &fields);
    if (outcome != CHROME_READ)
        return outcome;
    outcome = chrome_add_event(reader, &fields);
    if (outcome == CHROME_READ)
        *cursor = behind;
    return outcome;
}
