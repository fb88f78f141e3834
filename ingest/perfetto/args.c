/*
 * args.c - debug annotations, made arguments.
 *
 * Their names are those of the Chrome format, whose table of wanted arguments is used here, too; values are typed, and
 * lists may nest as deep as anybody likes: what is deeper than we follow is left out and counted.
 */
#include "ingest/perfetto/parts.h"

#include "base/escape.h"
#include "ingest/json_text.h"
#include "ingest/xla_details.h"
#include <inttypes.h>
#include <math.h>

enum { DEEPEST_VALUE = 64 };

enum pf_value_kind { PF_NONE, PF_INT, PF_DOUBLE, PF_BOOL, PF_TEXT, PF_JSON, PF_LIST };

struct pf_value {
    enum pf_value_kind kind;
    int64_t number;
    double decimal;
    struct wire_text text; /* of TEXT, and the text of JSON */
};

struct annotation {
    struct wire_text name;
    struct pf_value value;
    struct wire body; /* of a list: where its elements are */
    bool dangles;     /* a name or a text is not there */
};

static struct wire_text interned_text(const struct pf_sequence *sequence, enum pf_interned_kind kind,
                                      uint64_t iid, bool *dangles)
{
    const struct pf_interned *entry = pf_sequence_find(sequence, kind, iid);
    *dangles |= entry == NULL;
    return entry ? entry->text : (struct wire_text){ "", 0 };
}

static bool read_annotation(const struct pf_sequence *sequence, struct wire in, struct annotation *annotation)
{
    struct wire_field field;
    struct pf_value *value = &annotation->value;
    *annotation = (struct annotation){ .body = in };
    while (wire_next(&in, &field) && field.type != WIRE_GROUP) {
        switch (field.number << 3 | field.type) {
        case 1 << 3 | WIRE_VARINT:
            annotation->name = interned_text(sequence, PF_ANNOTATION_NAME, field.value, &annotation->dangles);
            break;
        case 10 << 3 | WIRE_BYTES: annotation->name = wire_text_of(&field); break;
        case 2 << 3 | WIRE_VARINT:
            *value = (struct pf_value){ PF_BOOL, field.value != 0, 0, { NULL, 0 } };
            break;
        case 3 << 3 | WIRE_VARINT:
        case 4 << 3 | WIRE_VARINT:
        case 7 << 3 | WIRE_VARINT:
            *value = (struct pf_value){ PF_INT, (int64_t)field.value, 0, { NULL, 0 } };
            break;
        case 5 << 3 | WIRE_FIXED64:
            *value = (struct pf_value){ PF_DOUBLE, 0, wire_double(field.value), { NULL, 0 } };
            break;
        case 6 << 3 | WIRE_BYTES: *value = (struct pf_value){ PF_TEXT, 0, 0, wire_text_of(&field) }; break;
        case 9 << 3 | WIRE_BYTES: *value = (struct pf_value){ PF_JSON, 0, 0, wire_text_of(&field) }; break;
        case 17 << 3 | WIRE_VARINT:
            *value =
                (struct pf_value){ PF_TEXT, 0, 0,
                                   interned_text(sequence, PF_STRING, field.value, &annotation->dangles) };
            break;
        case 11 << 3 | WIRE_BYTES:
        case 12 << 3 | WIRE_BYTES: value->kind = PF_LIST; break;
        default: break;
        }
    }
    return !in.damaged;
}

/* ---- lists, as JSON ---- */

static void append_plain(struct buffer *out, const struct pf_value *value)
{
    switch (value->kind) {
    case PF_INT: buffer_printf(out, "%" PRId64, value->number); break;
    case PF_BOOL: buffer_puts(out, value->number ? "true" : "false"); break;
    case PF_DOUBLE:
        if (isfinite(value->decimal))
            buffer_printf(out, "%.17g", value->decimal);
        else
            buffer_puts(out, "null");
        break;
    case PF_TEXT: escape_json_string(out, value->text.at ? value->text.at : "", value->text.len); break;
    case PF_JSON: buffer_add(out, value->text.at, value->text.len); break;
    default: buffer_puts(out, "[]");
    }
}

/* A list that is open: the rest of its elements. */
struct level {
    struct wire in;
    bool is_dict, has_elements;
};

/* The next element of LEVEL; false at its end. */
static bool next_element(struct level *level, struct wire_field *field)
{
    while (wire_next(&level->in, field) && field->type != WIRE_GROUP)
        if (wire_is(field, 11, WIRE_BYTES) || wire_is(field, 12, WIRE_BYTES))
            return true;
    return false;
}

static void open_level(struct buffer *out, struct level *level, struct wire in)
{
    struct wire_field field;
    struct level probe = { .in = in };
    *level = (struct level){ .in = in };
    level->is_dict = next_element(&probe, &field) && field.number == 11;
    buffer_putc(out, level->is_dict ? '{' : '[');
}

/* Write the list in IN to OUT as JSON. OF_LISTS: it holds no texts, so that a text "[]", as some producers write an empty
 * list, is one. False: it nests too deep. */
static bool append_list(const struct pf_sequence *sequence, struct wire in, bool of_lists, struct buffer *out,
                        bool *dangles)
{
    struct level levels[DEEPEST_VALUE];
    size_t depth = 1;
    open_level(out, &levels[0], in);
    while (depth > 0) {
        struct level *level = &levels[depth - 1];
        struct annotation element;
        struct wire_field field;
        if (!next_element(level, &field)) {
            buffer_putc(out, level->is_dict ? '}' : ']');
            depth--;
            continue;
        }
        if (level->has_elements)
            buffer_putc(out, ',');
        level->has_elements = true;
        read_annotation(sequence, wire_in(&field), &element);
        *dangles |= element.dangles;
        if (of_lists && element.value.kind == PF_TEXT && wire_text_is(element.value.text, "[]"))
            element.value.kind = PF_NONE;
        if (level->is_dict) {
            escape_json_string(out, element.name.at ? element.name.at : "", element.name.len);
            buffer_putc(out, ':');
        }
        if (element.value.kind != PF_LIST) {
            /* An element without a value is an empty list: producers write it so. */
            append_plain(out, &element.value);
        } else if (depth == DEEPEST_VALUE) {
            return false;
        } else {
            open_level(out, &levels[depth++], element.body);
        }
    }
    return true;
}

/* ---- arguments ---- */

static bool number_of(struct pf_reader *reader, const struct pf_value *value, int64_t *number)
{
    switch (value->kind) {
    case PF_INT:
    case PF_BOOL: *number = value->number; return true;
    case PF_DOUBLE:
        if (!(fabs(value->decimal) < 0x1p62))
            return false;
        *number = (int64_t)value->decimal;
        return true;
    case PF_TEXT:
    case PF_JSON:
        buffer_clear(&reader->text);
        buffer_add(&reader->text, value->text.at ? value->text.at : "", value->text.len);
        return value->text.len && json_integer(reader->text.at, reader->text.at + value->text.len, number);
    default: return false;
    }
}

static bool decimal_of(struct pf_reader *reader, const struct pf_value *value, double *decimal)
{
    if (value->kind == PF_DOUBLE)
        *decimal = value->decimal;
    else if (value->kind == PF_INT)
        *decimal = (double)value->number;
    else if ((value->kind == PF_TEXT || value->kind == PF_JSON) && value->text.len) {
        buffer_clear(&reader->text);
        buffer_add(&reader->text, value->text.at, value->text.len);
        return json_decimal(reader->text.at, reader->text.at + value->text.len, decimal);
    } else
        return false;
    return true;
}

/* The text of VALUE in the reader's buffer `json`; a string of JSON without its quotes. */
static void text_of(struct pf_reader *reader, const struct pf_value *value)
{
    buffer_clear(&reader->json);
    if (value->kind == PF_JSON && value->text.len >= 2 && value->text.at[0] == '"') {
        buffer_clear(&reader->text);
        buffer_add(&reader->text, value->text.at, value->text.len);
        json_unescape(reader->text.at + 1, reader->text.at + value->text.len - 1, &reader->json);
    } else if (value->kind == PF_TEXT) {
        buffer_add(&reader->json, value->text.at ? value->text.at : "", value->text.len);
    } else {
        append_plain(&reader->json, value);
    }
}

static void json_of(struct pf_reader *reader, const struct pf_value *value)
{
    buffer_clear(&reader->json);
    if (value->kind == PF_JSON) {
        buffer_clear(&reader->text);
        buffer_add(&reader->text, value->text.at ? value->text.at : "", value->text.len);
        buffer_putc(&reader->text, '\0');
        json_compact(reader->text.at, reader->text.at + value->text.len, &reader->json);
    } else if (value->kind == PF_TEXT && value->text.len &&
               (value->text.at[0] == '[' || value->text.at[0] == '{')) {
        buffer_add(&reader->json, value->text.at, value->text.len); /* a list that was written as its text */
    } else {
        append_plain(&reader->json, value);
    }
}

static name_id json_text(struct pf_reader *reader)
{
    return trace_chunk_text(reader->chunk, reader->json.at ? reader->json.at : "", reader->json.count);
}

/* Set the argument that KEY is from VALUE; a list is in the reader's buffer `json` already. */
static void set_arg(struct pf_reader *reader, const struct chrome_arg_key *key, const struct pf_value *value)
{
    enum trace_arg arg = (enum trace_arg)key->arg;
    int64_t number;
    double decimal;
    switch ((enum chrome_arg_kind)key->kind) {
    case CHROME_INT:
        if (number_of(reader, value, &number))
            trace_chunk_arg(reader->chunk, arg, number);
        break;
    case CHROME_DECIMAL:
        if (decimal_of(reader, value, &decimal))
            trace_chunk_arg_decimal(reader->chunk, arg, decimal);
        break;
    case CHROME_BOOL:
        if (value->kind == PF_BOOL)
            trace_chunk_arg(reader->chunk, arg, value->number);
        else if (value->kind == PF_JSON || value->kind == PF_TEXT)
            if (wire_text_is(value->text, "true") || wire_text_is(value->text, "false"))
                trace_chunk_arg(reader->chunk, arg, value->text.at[0] == 't');
        break;
    case CHROME_TEXT:
        if (value->kind != PF_LIST)
            text_of(reader, value);
        trace_chunk_arg(reader->chunk, arg, json_text(reader));
        break;
    case CHROME_JSON:
        if (value->kind != PF_LIST)
            json_of(reader, value);
        trace_chunk_arg(reader->chunk, arg, json_text(reader));
        break;
    case CHROME_XLA_DETAILS:
        if (value->kind == PF_TEXT && value->text.len)
            xla_details_add(reader->chunk, value->text.at, value->text.len);
        break;
    case CHROME_XLA_STEP:
    case CHROME_XLA_OP:
    case CHROME_XLA_TF_OP:
    case CHROME_XLA_MODULE: break;
    }
}

void pf_text_arg(struct pf_reader *reader, struct wire_text name, struct wire_text text)
{
    const struct chrome_arg_key *key = name.len ? chrome_find_arg(&reader->args, name.at, name.len) : NULL;
    if (key)
        set_arg(reader, key, &(struct pf_value){ PF_TEXT, 0, 0, text });
}

/* Names that other writers have for arguments of ours. */
static struct wire_text known_name(struct wire_text name)
{
    static const struct {
        const char *theirs, *ours;
    } names[] = { { "corr_id", "correlation" }, { "stream_id", "stream" } };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (wire_text_is(name, names[i].theirs))
            return (struct wire_text){ names[i].ours, strlen(names[i].ours) };
    return name;
}

static void take_annotation(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire in)
{
    struct annotation annotation;
    if (!read_annotation(sequence, in, &annotation)) {
        pf_lacks(reader, LACK_BAD_ARGUMENT, "arguments are damaged and were left out");
        return;
    }
    bool dangles = annotation.dangles;
    struct wire_text name = known_name(annotation.name);
    const struct chrome_arg_key *key = name.len ? chrome_find_arg(&reader->args, name.at, name.len) : NULL;
    if (key && annotation.value.kind == PF_LIST) {
        buffer_clear(&reader->json);
        bool of_lists = key->arg == ARG_INPUT_DIMS || key->arg == ARG_INPUT_STRIDES;
        if (!append_list(sequence, annotation.body, of_lists, &reader->json, &dangles)) {
            pf_notice(reader, "deep_argument", "arguments nest too deep and were left out");
            return;
        }
    }
    if (dangles)
        pf_lacks(reader, LACK_DANGLING_ID, "names or texts refer to something that is not in the file");
    if (key && annotation.value.kind != PF_NONE && !annotation.dangles)
        set_arg(reader, key, &annotation.value);
}

void pf_annotations(struct pf_reader *reader, const struct pf_sequence *sequence, struct wire body)
{
    struct wire_field field;
    while (wire_next(&body, &field) && field.type != WIRE_GROUP)
        if (wire_is(&field, 4, WIRE_BYTES))
            take_annotation(reader, sequence, wire_in(&field));
}

bool pf_says_unfinished(const struct pf_sequence *sequence, struct wire body)
{
    struct wire_field field;
    struct annotation annotation;
    while (wire_next(&body, &field) && field.type != WIRE_GROUP)
        if (wire_is(&field, 4, WIRE_BYTES) && read_annotation(sequence, wire_in(&field), &annotation) &&
            wire_text_is(annotation.name, "finished"))
            return (annotation.value.kind == PF_BOOL && !annotation.value.number) ||
                   (annotation.value.kind == PF_JSON && wire_text_is(annotation.value.text, "false"));
    return false;
}
