/*
 * repair.c - sense out of damaged events.
 *
 * PyTorch up to about 2.6 wrote names as they were: `"name": "quote " q"`, Windows paths with single
 * backslashes, raw control characters. Such an event is copied as valid JSON and read again. What
 * decides is what follows a quote: only one before a comma and the next key, or before a closing
 * bracket, can end a value.
 *
 * Where events begin is known by the same few bytes everywhere: '}', perhaps a comma, '{' and a key
 * that events have. Readers resume there after an event that cannot be mended, and windows are cut
 * there; that a name may hold such bytes too is seen later, when the pieces do not fit.
 */
#define _GNU_SOURCE /* memrchr */
#include "ingest/chrome/chrome.h"

#include "ingest/json_text.h"

static bool is_event_key(const char *key, size_t len)
{
    static const char *const keys[] = { "ph",  "name", "cat", "pid", "tid",  "ts", "dur",
                                        "tts", "args", "id",  "id2", "tdur", "s",  "bp" };
    return ANY(i, sizeof keys / sizeof *keys, strlen(keys[i]) == len && memcmp(keys[i], key, len) == 0);
}

static const char *skip_blanks(const char *at, const char *end)
{
    while (at < end && json_is_blank(*at))
        at++;
    return at;
}

enum verdict { NO, YES, CUT };

/* Does an event begin with the '{' at AT? Looks at its first key. CUT: too little is there to tell. */
static enum verdict judge_beginning(const char *at, const char *end)
{
    at++;
    while (at < end && json_is_blank(*at))
        at++;
    if (at >= end)
        return CUT;
    if (*at != '"')
        return NO;
    const char *key = ++at;
    while (at < end && *at != '"' && at - key < 8)
        at++;
    if (at >= end)
        return CUT;
    if (*at != '"' || !is_event_key(key, (size_t)(at - key)))
        return NO;
    at++;
    while (at < end && json_is_blank(*at))
        at++;
    return at >= end ? CUT : *at == ':' ? YES : NO;
}

static bool begins_event(const char *at, const char *end)
{
    return judge_beginning(at, end) == YES;
}

/* Does an event (or the array's bracket) end before the '{' at AT? Its end, or NULL. */
static const char *ends_before(const char *start, const char *at)
{
    while (at > start && (json_is_blank(at[-1]) || at[-1] == ','))
        at--;
    return at > start && at[-1] == '}' ? at : NULL;
}

const char *chrome_next_event(const char *at, const char *end, const char **event_end)
{
    for (const char *from = at; from < end; from++) {
        from = memchr(from, '{', (size_t)(end - from));
        if (!from)
            return NULL;
        const char *before = ends_before(at, from);
        if (before && begins_event(from, end)) {
            *event_end = before;
            return from;
        }
    }
    return NULL;
}

const char *chrome_last_event(const char *start, const char *end)
{
    for (const char *at = end; at > start;) {
        at = memrchr(start, '{', (size_t)(at - start));
        if (!at)
            return NULL;
        if (begins_event(at, end) && ends_before(start, at))
            return at;
    }
    return NULL;
}

const char *chrome_inner_event(const char *at, const char *end, const char **event_end)
{
    for (const char *from = at; from < end; from++) {
        from = memchr(from, '{', (size_t)(end - from));
        if (!from)
            return NULL;
        const char *before = from;
        while (before > at && json_is_blank(before[-1]))
            before--;
        if (before > at && before[-1] == ',' && begins_event(from, end)) {
            *event_end = before - 1;
            return from;
        }
    }
    return NULL;
}

const char *chrome_resume(const char *at, const char *end, const char **undecided)
{
    for (const char *from = at; from < end; from++) {
        from = memchr(from, '{', (size_t)(end - from));
        if (!from)
            break;
        const char *before = from;
        while (before > at && json_is_blank(before[-1]))
            before--;
        if (before > at && before[-1] == ':')
            continue; /* the value of a key */
        enum verdict verdict = judge_beginning(from, end);
        if (verdict == YES)
            return from;
        if (verdict == CUT) {
            *undecided = from;
            return NULL;
        }
    }
    /* A bracket at the end may be that of the document; a colon decides about what follows. */
    const char *keep = chrome_document_end(at, end);
    if (!keep) {
        keep = end;
        while (keep > at && json_is_blank(keep[-1]))
            keep--;
        keep = keep > at && keep[-1] == ':' ? keep - 1 : end;
    }
    *undecided = keep;
    return NULL;
}

const char *chrome_find_events(const char *at, const char *end, const char **undecided)
{
    static const char key[] = "\"traceEvents\"";
    enum { KEY_LEN = sizeof key - 1 };
    for (;; at++) {
        const char *found = memmem(at, (size_t)(end - at), key, KEY_LEN);
        if (!found) {
            *undecided = end - at < KEY_LEN ? at : end - (KEY_LEN - 1);
            return NULL;
        }
        const char *behind = skip_blanks(found + KEY_LEN, end);
        if (behind < end && *behind == ':')
            behind = skip_blanks(behind + 1, end);
        if (behind == end) {
            *undecided = found;
            return NULL;
        }
        if (*behind == '[')
            return found;
        at = found;
    }
}

const char *chrome_document_end(const char *at, const char *end)
{
    while (end > at && (json_is_blank(end[-1]) || end[-1] == '\0'))
        end--;
    if (end > at && end[-1] == '}') {
        end--;
        while (end > at && json_is_blank(end[-1]))
            end--;
    }
    return end > at && end[-1] == ']' ? end - 1 : NULL;
}

/* ---- mending ---- */

struct mender {
    const char *end;
    struct buffer *out;
    uint64_t objects; /* bit 0: is the innermost container an object? */
    unsigned depth;
    bool quote_may_end; /* a quote after a backslash can end a string: "C:\" */
};

/* Is there `"key":` at AT? */
static bool is_key(const char *at, const char *end)
{
    if (at >= end || *at != '"')
        return false;
    for (at++; at < end && *at != '"' && *at != '\n'; at++)
        ;
    at = skip_blanks(at < end ? at + 1 : at, end);
    return at < end && *at == ':';
}

/* Can the quote before AT end the string that stands as a key or a value in the innermost container? */
static bool can_end(const struct mender *mender, const char *at, bool as_key)
{
    at = skip_blanks(at, mender->end);
    if (as_key)
        return at < mender->end && *at == ':';
    if (at >= mender->end || *at == '}' || *at == ']')
        return true;
    if (*at != ',')
        return false;
    at = skip_blanks(at + 1, mender->end);
    if (mender->objects & 1)
        return is_key(at, mender->end);
    return at < mender->end && (*at == '"' || *at == '[' || *at == '{' || *at == '-' ||
                                (*at >= '0' && *at <= '9') || *at == 't' || *at == 'f' || *at == 'n');
}

static bool is_escape(const char *at, const char *end)
{
    if (at + 1 >= end)
        return false;
    if (at[1] != 'u')
        return strchr("\"\\/bfnrt", at[1]) != NULL && at[1] != '\0';
    return !ANY_FROM(i, 2, 6, at + i >= end || !strchr("0123456789abcdefABCDEF", at[i]) || !at[i]);
}

/* Copy the string whose opening quote is at AT. Returns what follows its end, or NULL when it has none. */
static const char *mend_string(struct mender *mender, const char *at, bool as_key)
{
    struct buffer *out = mender->out;
    buffer_putc(out, '"');
    for (at++; at < mender->end; at++) {
        if (*at == '"') {
            if (can_end(mender, at + 1, as_key)) {
                buffer_putc(out, '"');
                return at + 1;
            }
            buffer_puts(out, "\\\"");
        } else if (*at == '\\') {
            bool before_quote = at + 1 < mender->end && at[1] == '"';
            if (before_quote && mender->quote_may_end && can_end(mender, at + 2, as_key)) {
                buffer_puts(out, "\\\\");
            } else if (is_escape(at, mender->end)) {
                buffer_add(out, at, 2);
                at++;
            } else {
                buffer_puts(out, "\\\\");
            }
        } else {
            buffer_putc(out, *at);
        }
    }
    return NULL;
}

static bool repair_mend(struct mender *mender, const char *at)
{
    struct buffer *out = mender->out;
    bool as_key = false;
    while (at < mender->end) {
        char c = *at;
        switch (c) {
        case '{':
        case '[':
            if (mender->depth++ == 64)
                return false;
            mender->objects = mender->objects << 1 | (c == '{');
            as_key = c == '{';
            break;
        case '}':
        case ']':
            if (mender->depth == 0 || (mender->objects & 1) != (c == '}'))
                return false;
            mender->objects >>= 1;
            mender->depth--;
            break;
        case ',': as_key = mender->objects & 1; break;
        case ':': as_key = false; break;
        case '"':
            at = mend_string(mender, at, as_key);
            if (!at)
                return false;
            continue;
        default: break;
        }
        buffer_putc(out, c);
        at++;
        if (mender->depth == 0)
            break;
    }
    return mender->depth == 0 && skip_blanks(at, mender->end) == mender->end;
}

bool chrome_repair_event(const char *start, const char *end, struct buffer *out)
{
    for (int attempt = 0; attempt < 2; attempt++) {
        struct mender mender = { .end = end, .out = out, .quote_may_end = attempt == 1 };
        buffer_clear(out);
        if (start < end && *start == '{' && repair_mend(&mender, start))
            return true;
    }
    return false;
}

void chrome_cut_args(const char *start, const char *end, struct buffer *out)
{
    static const char key[] = "\"args\"";
    const char *args = memmem(start, (size_t)(end - start), key, sizeof key - 1);
    if (args && *skip_blanks(args + sizeof key - 1, end) == ':')
        end = args;
    while (end > start + 1 && (json_is_blank(end[-1]) || strchr(",]}", end[-1])))
        end--;
    buffer_clear(out);
    buffer_add(out, start, (size_t)(end - start));
    buffer_putc(out, '}');
}
