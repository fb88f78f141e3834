/*
 * speedscope.c - the JSON of speedscope.app: written by py-spy, pyinstrument, rbspy, many converters and tpa convert.
 *
 *     { "$schema": "https://www.speedscope.app/file-format-schema.json",
 *       "shared": { "frames": [ { "name", "file"?, "line"? } ... ] },
 *       "profiles": [ { "type": "sampled", "unit", "samples": [[frame, outermost first]], "weights": [] }
 *                   | { "type": "evented", "unit", "events": [ { "type": "O" or "C", "frame", "at" } ] } ... ] }
 *
 * Several profiles, one per thread, add up. Those in another unit than the first that has one are left out and counted.
 * The time between two events belongs to the stack open at that time. Closing a frame other than the innermost closes
 * all frames inside it.
 */
#define _GNU_SOURCE /* memmem */
#include "ingest/formats.h"

#include "ingest/json_text.h"
#include "ingest/stack_sums.h"

struct speedscope {
    struct stack_sums sums;
    const char *text;           /* all of it */
    VEC_OF(function_id) frames; /* shared.frames */
    VEC_OF(stack_id) samples;   /* of the current profile */
    VEC_OF(double) weights;
    VEC_OF(stack_id) open; /* of an evented one: the stack after each open frame */
    enum profile_figures figures;
    bool has_figures; /* of an accepted profile */
};

static bool speedscope_read_number(struct json_pull *in, double *number)
{
    struct json_text value;
    return json_read(in, &value) && !value.is_string && json_decimal(value.at, value.at + value.len, number);
}

static void read_frame(struct speedscope *reader, struct json_pull *in)
{
    struct json_text key, value;
    SCOPED struct buffer name = { 0 }, file = { 0 };
    int64_t line = 0;
    if (!json_enter(in, '{'))
        json_skip(in);
    else
        while (json_next_key(in, &key)) {
            if (!json_read(in, &value))
                break;
            if (json_text_is(&key, "name"))
                json_text_decode(&value, &name);
            else if (json_text_is(&key, "file") && value.is_string)
                json_text_decode(&value, &file);
            else if (json_text_is(&key, "line"))
                line = json_text_integer(&value, 0);
        }
    if (file.count && name.count > file.count && memcmp(name.at, file.at, file.count) == 0 &&
        name.at[file.count] == ':') /* as written by tpa convert: "FILE:LINE(NAME)" is complete */
        buffer_clear(&file);
    *VEC_PUSH(&reader->frames) = stack_sums_function(&reader->sums, name.at ? name.at : "", name.count,
                                                     file.at ? file.at : "", file.count, line);
}

/* The function of the frame number VALUE; FUNCTION_NONE if there is none. */
static function_id frame_of(const struct speedscope *reader, const struct json_text *value)
{
    int64_t number = value->is_string ? -1 : json_text_integer(value, -1);
    return number >= 0 && (uint64_t)number < reader->frames.count ? reader->frames.at[number] : FUNCTION_NONE;
}

static void speedscope_read_samples(struct speedscope *reader, struct json_pull *in)
{
    struct json_text value;
    if (!json_enter_or_skip(in, '['))
        return;
    while (json_next_element(in)) {
        int64_t offset = in->at - reader->text;
        stack_id stack = STACK_ROOT;
        bool good = json_enter_or_skip(in, '[');
        bool whole = good;
        while (good && json_next_element(in) && json_read(in, &value)) {
            function_id function = frame_of(reader, &value);
            whole &= function != FUNCTION_NONE;
            if (whole)
                stack = stack_sums_below(&reader->sums, stack, function);
        }
        if (!whole)
            stack_sums_odd(&reader->sums, offset);
        *VEC_PUSH(&reader->samples) = whole ? stack : STACK_ROOT;
    }
}

static void read_weights(struct speedscope *reader, struct json_pull *in)
{
    double weight;
    if (!json_enter_or_skip(in, '['))
        return;
    while (json_next_element(in))
        *VEC_PUSH(&reader->weights) = speedscope_read_number(in, &weight) ? weight : -1;
}

/* FRAME opens or closes. */
static void read_event(struct speedscope *reader, char type, function_id frame, int64_t offset)
{
    size_t depth = reader->open.count;
    stack_id top = depth ? reader->open.at[depth - 1] : STACK_ROOT;
    if (type == 'O') {
        stack_id stack = stack_sums_below(&reader->sums, top, frame);
        stack_sums_open_call(&reader->sums, stack);
        *VEC_PUSH(&reader->open) = stack;
        return;
    }
    while (depth > 0 && reader->sums.nodes.at[reader->open.at[depth - 1]].function != frame)
        depth--;
    if (depth == 0)
        stack_sums_odd(&reader->sums, offset); /* it was never opened */
    else
        reader->open.count = depth - 1;
}

/* Store stacks and the time that they are open in samples and weights. */
static void speedscope_read_events(struct speedscope *reader, struct json_pull *in)
{
    struct json_text key, value, type = { 0 };
    double last = 0;
    bool began = false;
    if (!json_enter_or_skip(in, '['))
        return;
    while (json_next_element(in)) {
        int64_t offset = in->at - reader->text;
        function_id frame = FUNCTION_NONE;
        double at = 0;
        bool has_time = false;
        type.len = 0;
        if (!json_enter_or_skip(in, '{')) {
            stack_sums_odd(&reader->sums, offset);
            continue;
        }
        while (json_next_key(in, &key)) {
            if (json_text_is(&key, "at"))
                has_time = speedscope_read_number(in, &at);
            else if (!json_read(in, &value))
                break;
            else if (json_text_is(&key, "type"))
                type = value;
            else if (json_text_is(&key, "frame"))
                frame = frame_of(reader, &value);
        }
        bool known = json_text_is(&type, "O") || json_text_is(&type, "C");
        if (!has_time || frame == FUNCTION_NONE || !known || (began && at < last)) {
            stack_sums_odd(&reader->sums, offset);
            continue;
        }
        if (began && reader->open.count) {
            *VEC_PUSH(&reader->samples) = reader->open.at[reader->open.count - 1];
            *VEC_PUSH(&reader->weights) = at - last;
        }
        last = at;
        began = true;
        read_event(reader, *type.at, frame, offset);
    }
}

static void read_profile(struct speedscope *reader, struct json_pull *in)
{
    struct json_text key, unit = { 0 };
    int64_t offset = in->at - reader->text;
    reader->samples.count = reader->weights.count = reader->open.count = 0;
    if (!json_enter_or_skip(in, '{')) {
        stack_sums_odd(&reader->sums, offset);
        return;
    }
    while (json_next_key(in, &key)) {
        if (json_text_is(&key, "unit"))
            json_read(in, &unit);
        else if (json_text_is(&key, "samples"))
            speedscope_read_samples(reader, in);
        else if (json_text_is(&key, "weights"))
            read_weights(reader, in);
        else if (json_text_is(&key, "events"))
            speedscope_read_events(reader, in);
        else if (!json_skip(in))
            break;
    }
    enum profile_figures figures;
    double seconds = stack_sums_unit(unit.at ? unit.at : "", unit.len, &figures);
    if (reader->samples.count && reader->has_figures && figures != reader->figures) {
        stack_sums_odd(&reader->sums, offset);
        return;
    }
    for (size_t i = 0; i < reader->samples.count; i++) {
        double weight = i < reader->weights.count ? reader->weights.at[i] : figures == PROFILE_COUNT ? 1 : 0;
        int64_t samples = figures == PROFILE_COUNT && weight >= 0 && weight < 9e18 ? (int64_t)weight : 1;
        if (reader->samples.at[i] == STACK_ROOT)
            continue;
        if (!stack_sums_add(&reader->sums, reader->samples.at[i], weight * seconds, samples))
            stack_sums_odd(&reader->sums, offset);
        reader->has_figures = true;
        reader->figures = figures;
    }
}

/* Advance to the value of KEY in the object IN; false if there is none. */
static bool find_key(struct json_pull *in, const char *wanted)
{
    struct json_text key;
    if (!json_enter(in, '{'))
        return false;
    while (json_next_key(in, &key)) {
        if (json_text_is(&key, wanted))
            return true;
        if (!json_skip(in))
            break;
    }
    return false;
}

static struct profile *read_speedscope(struct source *source, struct tpa_error *err)
{
    SCOPED struct buffer text = { 0 };
    struct speedscope reader = { 0 };
    struct profile *profile = NULL;
    bool ok = stack_sums_read_json(source, &text, err);
    struct json_pull whole = { text.at, text.at ? text.at + text.count : NULL }, in = whole;
    stack_sums_open(&reader.sums);
    reader.text = text.at;
    if (ok && find_key(&in, "shared") && find_key(&in, "frames") && json_enter(&in, '['))
        while (json_next_element(&in))
            read_frame(&reader, &in);
    in = whole;
    if (ok && find_key(&in, "profiles") && json_enter(&in, '['))
        while (json_next_element(&in))
            read_profile(&reader, &in);
    if (ok)
        profile = stack_sums_finish(&reader.sums, reader.figures, err);
    stack_sums_release(&reader.sums);
    EACH(VEC_FREE, &reader.frames, &reader.samples, &reader.weights, &reader.open);
    return profile;
}

static int sniff_speedscope(const char *bytes, size_t len)
{
    static const char schema[] = "speedscope.app/file-format-schema";
    size_t at = json_behind_blanks(bytes, len, 0);
    return at < len && bytes[at] == '{' && memmem(bytes, len, schema, sizeof schema - 1) ? 96 : 0;
}

extern const struct format format_speedscope;
const struct format format_speedscope = {
    .name = "speedscope",
    .description = "profile of speedscope.app: py-spy, pyinstrument, rbspy ... (.speedscope.json)",
    .sniff = sniff_speedscope,
    .read_profile = read_speedscope,
};
