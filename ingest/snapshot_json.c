/* The text is read byte by byte and built by the machine of objects.h, in the
 * order of a pickle: an item is added to its list as soon as it is complete. */
#include "ingest/object_readers.h"

#include "ingest/json_text.h"
#include <errno.h>

enum { BYTES_IN_TURN = 65536, END = -1 };

struct json {
    struct source *source;
    struct objects *o;
    char bytes[BYTES_IN_TURN];
    int64_t count, at, before;
    struct buffer text;
    VEC_OF(char) nested; /* '[' and '{', the innermost last */
    bool failed;
    struct tpa_error *err;
};

static int snapshot_json_peek(struct json *in)
{
    if (in->at < in->count)
        return (unsigned char)in->bytes[in->at];
    if (in->failed)
        return END;
    in->before += in->count;
    in->at = 0;
    in->count = source_read(in->source, in->bytes, sizeof in->bytes, in->err);
    in->failed = in->count < 0;
    if (in->count > 0)
        return (unsigned char)in->bytes[0];
    in->count = 0;
    return END;
}

static int peek_token(struct json *in)
{
    int c = snapshot_json_peek(in);
    while (c == ' ' || c == '\t' || c == '\r' || c == '\n') {
        in->at++;
        c = snapshot_json_peek(in);
    }
    return c;
}

/* Take a string whose quote comes next, and push it. */
static bool snapshot_json_read_string(struct json *in)
{
    bool escaped = false, any = false;
    buffer_clear(&in->text);
    in->at++;
    for (int c = snapshot_json_peek(in); c != '"' || escaped; c = snapshot_json_peek(in)) {
        if (c == END)
            return false;
        escaped = !escaped && c == '\\';
        any = any || escaped;
        buffer_putc(&in->text, (char)c);
        in->at++;
    }
    in->at++;
    const char *text = in->text.at ? in->text.at : "";
    if (!any) {
        objects_push_text(in->o, text, in->text.count);
        return true;
    }
    SCOPED struct buffer plain = { 0 };
    json_unescape(text, text + in->text.count, &plain);
    objects_push_text(in->o, plain.at ? plain.at : "", plain.count);
    return true;
}

static bool push_number(struct json *in, const char *text)
{
    char *end;
    errno = 0;
    if (strpbrk(text, ".eEnN")) { /* includes NaN and Infinity, as Python writes them */
        double number = strtod(text, &end);
        objects_push_number(in->o, number);
    } else if (*text == '-') {
        int64_t number = strtoll(text, &end, 10);
        errno ? objects_push_other(in->o) : objects_push_int(in->o, number);
    } else {
        uint64_t number = strtoull(text, &end, 10);
        if (errno)
            objects_push_other(in->o);
        else if (number <= INT64_MAX)
            objects_push_int(in->o, (int64_t)number);
        else
            objects_push_wide(in->o, number, false);
    }
    return end != text && *end == '\0';
}

/* A number or a word. */
static bool read_word(struct json *in)
{
    enum { LONGEST = 64 };
    buffer_clear(&in->text);
    for (int c = snapshot_json_peek(in); c != END && !json_ends_value((char)c) && in->text.count < LONGEST;
         c = snapshot_json_peek(in)) {
        buffer_putc(&in->text, (char)c);
        in->at++;
    }
    if (in->text.count == 0 || snapshot_json_peek(in) == END)
        return false; /* a number at the end may have been cut */
    const char *text = in->text.at;
    if (strcmp(text, "true") == 0 || strcmp(text, "false") == 0)
        objects_push_bool(in->o, *text == 't');
    else if (strcmp(text, "null") == 0)
        objects_push_none(in->o);
    else
        return push_number(in, text);
    return true;
}

static char innermost(const struct json *in)
{
    return in->nested.count ? in->nested.at[in->nested.count - 1] : '\0';
}

/* Read the key of the next pair, with its colon. */
static bool snapshot_json_read_key(struct json *in)
{
    if (peek_token(in) != '"' || !snapshot_json_read_string(in) || peek_token(in) != ':')
        return false;
    in->at++;
    return true;
}

/* Begin the next value. *COMPLETE is set for scalars and for empty lists and dicts. */
static bool begin_value(struct json *in, bool *complete)
{
    int c = peek_token(in);
    *complete = c != '[' && c != '{';
    if (c == '"')
        return snapshot_json_read_string(in);
    if (*complete)
        return read_word(in);
    in->at++;
    c == '[' ? objects_push_list(in->o) : objects_push_dict(in->o);
    if (peek_token(in) == (c == '[' ? ']' : '}')) {
        in->at++;
        *complete = true;
        return true;
    }
    *VEC_PUSH(&in->nested) = (char)c;
    if (c == '[')
        return true;
    objects_mark(in->o);
    return snapshot_json_read_key(in);
}

/* A value is complete: add it to its container, and so on outwards while containers are complete. *WHOLE is set if the
 * outermost value is complete. */
static bool end_value(struct json *in, bool *whole)
{
    for (;;) {
        char around = innermost(in);
        *whole = around == '\0';
        if (*whole)
            return true;
        if (around == '[' && !objects_append(in->o, in->err))
            return false;
        int c = peek_token(in);
        if (c != ',' && c != (around == '[' ? ']' : '}'))
            return false;
        in->at++;
        if (c == ',')
            return around == '[' || snapshot_json_read_key(in);
        in->nested.count--;
        if (around == '{' && !objects_set_items(in->o, in->err))
            return false;
    }
}

bool snapshot_json_read(struct source *source, struct objects *o, struct snapshot *snapshot,
                        struct tpa_error *err)
{
    SCOPED struct json *in = mem_zalloc(1, sizeof *in);
    in->source = source;
    in->o = o;
    in->err = err;
    bool whole = false, good = true;
    while (good && !whole) {
        bool complete;
        good = begin_value(in, &complete) && (!complete || end_value(in, &whole));
    }
    bool failed = in->failed;
    if (!good && !failed) {
        bool ended = snapshot_json_peek(in) == END;
        const char *damage = source_damage(source);
        snapshot_lacks(snapshot, ended ? LACK_CUT_SHORT : LACK_DAMAGED,
                       ended ? arena_printf(&snapshot->arena,
                                            "the snapshot ends in the middle; what comes before is shown%s%s",
                                            damage ? ": " : "", damage ? damage : "")
                             : "the snapshot is damaged here: this is not JSON; what comes before is shown",
                       1, in->before + in->at);
        objects_close_cut(o);
    }
    while (!failed && snapshot_json_peek(in) != END)
        in->at = in->count; /* ignore what follows */
    snapshot->bytes = in->before + in->count;
    snapshot->form = "JSON";
    buffer_release(&in->text);
    VEC_FREE(&in->nested);
    return !failed;
}
