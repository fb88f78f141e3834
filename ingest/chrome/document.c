/*
 * document.c - what surrounds the events.
 *
 * A document is an object with the key traceEvents, or the array of events alone; a file may hold
 * several, one after the other, or one event a line. The parser is a function of the bytes and of the
 * state they begin in: a window that is parsed before its forerunner gets the state it most likely has
 * (among events), and the thread that joins the windows checks that it did.
 *
 * Nothing here gives up: what is not an event is counted, and reading resumes at the next one.
 */

#include "ingest/chrome/shape.h"
#include "ingest/json_text.h"

/* A top-level value longer than this is not kept, and one that is cut is not waited for. */
enum { LONGEST_PROPERTY = 4 << 20 };

/* A file is taken to hold one event a line when its first event is whole within so many bytes. */
enum { LONGEST_LINE = 64 << 10 };

static const char bad_event[] = "damaged events could not be read and were left out";
static const char mended_event[] = "events held stray quotes or backslashes and were read all the same";
static const char lost_args[] =
    "events are damaged; their names and times were read, their arguments were left out";
static const char not_event[] = "values among the events are not events and were left out";
static const char garbage[] = "text between the events is not JSON and was skipped";
static const char cut_short[] = "the file ends in the middle of an event, which was left out; "
                                "was the program stopped before it had written all?";

static const char long_event[] = "events of more than 256 MiB of text were left out";

void chrome_reader_init(struct chrome_reader *reader, const struct chrome_arg_table *table,
                        const struct trace_builder *builder, const struct ingest_options *options)
{
    *reader = (struct chrome_reader){
        .arg_table = table,
        .want_flows = options->wants.flows,
        .want_counters = options->wants.counters,
        .careful = options->careful,
        .chunk = trace_chunk_open(builder),
    };
}

void chrome_reader_release(struct chrome_reader *reader)
{
    trace_chunk_free(reader->chunk);
    json_index_release(&reader->index);
    EACH(buffer_release, &reader->text_a, &reader->text_b);
    for (size_t i = 0; i < reader->properties.count; i++)
        EACH(free, reader->properties.at[i].key, reader->properties.at[i].value);
    VEC_FREE(&reader->properties);
    free(reader->shapes.at);
}

struct parser {
    struct chrome_reader *reader;
    struct chrome_state *state;
    size_t cursor;   /* the next position of the index */
    size_t consumed; /* all bytes before it are dealt with */
};

static void notice(struct parser *parser, const char *kind, const char *text, size_t at)
{
    trace_chunk_notice(parser->reader->chunk, kind, text, parser->reader->offset + (int64_t)at);
}

static void document_lacks(struct parser *parser, enum lack lack, const char *text, size_t at)
{
    notice(parser, lack_word(lack), text, at);
}

/* The next position, or SIZE_MAX when there is none in the window. Indexes more when needed. */
static size_t next_position(struct parser *parser)
{
    struct json_index *index = &parser->reader->index;
    while (parser->cursor >= index->count) {
        json_index_drop(index, index->count);
        parser->cursor = 0;
        if (!json_index_more(index))
            return SIZE_MAX;
    }
    return index->at[parser->cursor];
}

/* Index more, keeping the positions from the cursor on: twice as much text as there is of them, because who asks looks at
 * all of it again, and something of n stretches must not cost n squared. False at the end of the window. */
static bool index_more(struct parser *parser)
{
    struct json_index *index = &parser->reader->index;
    if (index->indexed >= index->len)
        return false;
    json_index_drop(index, parser->cursor);
    parser->cursor = 0;
    size_t wanted = index->count ? 2 * index->indexed - index->at[0] : 0;
    do
        json_index_more(index);
    while (index->indexed < index->len && index->indexed < wanted);
    return true;
}

static void restart_at(struct parser *parser, size_t at)
{
    struct chrome_reader *reader = parser->reader;
    json_index_start(&reader->index, reader->text, reader->len, at);
    parser->cursor = 0;
    parser->consumed = at;
}

/* May C stand between two values? NULs and the end-of-file character of DOS do stand behind documents. */
static bool is_separator(char c)
{
    return json_is_blank(c) || c == ',' || c == '\0' || c == '\x1a';
}

static size_t skip_separators(const char *text, size_t from, size_t to)
{
    while (from < to && is_separator(text[from]))
        from++;
    return from;
}

/* The bytes from parser->consumed to END, the next position of the index or the end of the window:
 * separators are nothing, anything else is counted, once for each stretch however many windows it spans.
 * Backslashes at the end of a window are left for the next: they decide what a quote there means. */
static void consume_gap(struct parser *parser, size_t end, bool window_ends)
{
    const struct chrome_reader *reader = parser->reader;
    const char *text = reader->text;
    size_t from = skip_separators(text, parser->consumed, end);
    bool open = window_ends && !reader->final;
    if (open)
        while (end > from && text[end - 1] == '\\')
            end--;
    struct chrome_state *state = parser->state;
    if (from < end && !state->in_garbage && !state->in_gap)
        document_lacks(parser, LACK_GARBAGE, garbage, from);
    if (from < end && open)
        state->in_gap = true;
    if (!window_ends)
        state->in_garbage = state->in_gap = false;
    parser->consumed = end;
}

static bool is_blank(const char *text, size_t from, size_t to)
{
    while (from < to && json_is_blank(text[from]))
        from++;
    return from == to;
}

/* ---- damaged events ---- */

/* Read the repaired text of an event by the ordinary way. */
static bool read_repaired(struct chrome_reader *reader, struct buffer *fixed, size_t at)
{
    struct chrome_reader sub = *reader; /* same chunk and tables, another text */
    sub.index = (struct json_index){ 0 };
    sub.text_a = sub.text_b = (struct buffer){ 0 };
    static const char padding[JSON_PADDING] = { 0 };
    size_t len = fixed->count;
    buffer_add(fixed, padding, sizeof padding);
    sub.text = fixed->at;
    sub.offset = reader->offset + (int64_t)at;
    json_index_start(&sub.index, fixed->at, len, 0);
    while (json_index_more(&sub.index))
        ;
    size_t cursor = 0;
    bool read = sub.index.count && chrome_read_event(&sub, &cursor) == CHROME_READ;
    json_index_release(&sub.index);
    EACH(buffer_release, &sub.text_a, &sub.text_b);
    return read;
}

static bool document_mend(struct chrome_reader *reader, size_t at, const char *end, struct buffer *fixed)
{
    return chrome_repair_event(reader->text + at, end, fixed) && read_repaired(reader, fixed, at);
}

/* The event at AT is damaged: mend it, or leave out its arguments, or all of it, and resume at the next
 * one. False when the window ends before a next one is seen and more follows. */
static bool recover(struct parser *parser, size_t at)
{
    struct chrome_reader *reader = parser->reader;
    const char *start = reader->text + at, *end = reader->text + reader->len, *event_end;
    const char *next = chrome_next_event(start + 1, end, &event_end);
    if (!next && !reader->final)
        return false;
    if (!next) {
        /* The last event of the file: it may be followed by the end of the array. */
        event_end = end;
        while (event_end > start + 1 && event_end[-1] != '}')
            event_end--;
    }
    struct buffer fixed = { 0 };
    bool mended = document_mend(reader, at, event_end, &fixed);
    if (!mended) {
        /* If its end is missing, the next event lies within what was treated as this one. */
        const char *inner_end, *inner = chrome_inner_event(start + 1, event_end, &inner_end);
        if (inner) {
            next = inner;
            event_end = inner_end;
            mended = document_mend(reader, at, event_end, &fixed);
        }
    }
    /* Without a next event its end is unknown: it is at one of the last brackets. */
    for (int tries = 0; tries < 3 && !next && !mended && event_end > start + 1; tries++) {
        do
            event_end--;
        while (event_end > start + 1 && event_end[-1] != '}');
        mended = document_mend(reader, at, event_end, &fixed);
    }
    bool without_args = false;
    if (!mended) {
        chrome_cut_args(start, next ? event_end : end, &fixed);
        without_args = read_repaired(reader, &fixed, at);
    }
    buffer_release(&fixed);
    if (mended)
        notice(parser, "mended_event", mended_event, at);
    else if (without_args)
        document_lacks(parser, LACK_LOST_ARGS, lost_args, at);
    else
        document_lacks(parser, LACK_BAD_EVENT, bad_event, at);
    if (next || mended) {
        restart_at(parser, (size_t)((next ? next : event_end) - reader->text));
    } else {
        parser->state->in_garbage = true;
        parser->consumed = at + 1;
    }
    return true;
}

/* The event at AT does not end in the file, or not within reason: then what follows of it means nothing. */
static void report_cut(struct parser *parser, size_t at)
{
    if (parser->reader->gives_up)
        document_lacks(parser, LACK_LONG_EVENT, long_event, at);
    else
        document_lacks(parser, LACK_CUT_SHORT, cut_short, at);
    parser->state->in_garbage |= parser->reader->gives_up;
    restart_at(parser, parser->reader->len);
}

/* The closing quote of the string that opens at the cursor, or SIZE_MAX when it is behind the window. */
static size_t find_close(struct parser *parser)
{
    struct json_index *index = &parser->reader->index;
    while (parser->cursor + 1 >= index->count)
        if (!index_more(parser))
            return SIZE_MAX;
    return index->at[parser->cursor + 1];
}

/* Count the string that opens at AT as KIND, and step over it. False when it goes on behind the window. */
static bool skip_string(struct parser *parser, size_t at, enum lack lack, const char *text)
{
    size_t close = find_close(parser);
    if (close == SIZE_MAX) {
        if (parser->reader->final)
            report_cut(parser, at);
        return false;
    }
    document_lacks(parser, lack, text, at);
    parser->consumed = close + 1;
    parser->cursor += 2;
    return true;
}

/* ---- states: each returns false when the window is used up ---- */

/* Read events as long as they fit known shapes. The index is behind afterwards: it is made anew if one was read. */
static void read_by_shape(struct parser *parser)
{
    struct chrome_reader *reader = parser->reader;
    const char *at = reader->text + parser->consumed, *start = at;
    if (reader->careful)
        return;
    for (;;) {
        const char *event = at;
        while (json_is_blank(*event) || *event == ',')
            event++;
        const char *behind = *event == '{' ? chrome_shape_read(reader, event) : NULL;
        if (!behind)
            break;
        at = behind;
    }
    if (at > start)
        restart_at(parser, (size_t)(at - reader->text));
}

/* Where quotes cannot be trusted any more, go on at bytes that are unlikely to stand anywhere else: among the
 * events where the next one begins, before them at their key. */
static bool leave_garbage(struct parser *parser)
{
    struct chrome_reader *reader = parser->reader;
    bool in_array = parser->state->where == CHROME_ARRAY;
    const char *from = reader->text + parser->consumed, *end = reader->text + reader->len, *undecided;
    const char *place =
        in_array ? chrome_resume(from, end, &undecided) : chrome_find_events(from, end, &undecided);
    if (!place && reader->final && in_array)
        place = chrome_document_end(from, end);
    if (!place) {
        parser->consumed = reader->final ? reader->len : (size_t)(undecided - reader->text);
        return false;
    }
    parser->state->in_garbage = false;
    restart_at(parser, (size_t)(place - reader->text));
    return true;
}

/* Count what stands at AT as KIND, and look for a place to go on from FROM. */
static bool enter_garbage(struct parser *parser, enum lack lack, const char *text, size_t at, size_t from)
{
    document_lacks(parser, lack, text, at);
    parser->state->in_garbage = true;
    parser->consumed = from;
    return true;
}

/* An event, a stray value or the end of the array. */
static bool parse_array(struct parser *parser)
{
    struct chrome_reader *reader = parser->reader;
    const char *text = reader->text;
    if (parser->state->in_garbage)
        return leave_garbage(parser);
    read_by_shape(parser);
    size_t at = next_position(parser), gap_end = at == SIZE_MAX ? reader->len : at;
    parser->consumed = skip_separators(text, parser->consumed, gap_end);
    if (parser->consumed < gap_end)
        return enter_garbage(parser, LACK_GARBAGE, garbage, parser->consumed, parser->consumed);
    if (at == SIZE_MAX)
        return false;
    enum chrome_outcome outcome;
    size_t first;
    switch (text[at]) {
    case '{':
        do {
            first = parser->cursor;
            outcome = chrome_read_event(reader, &parser->cursor);
        } while (outcome == CHROME_INCOMPLETE && index_more(parser));
        if (outcome == CHROME_READ) {
            if (!reader->careful && chrome_shape_can_learn(&reader->shapes, reader->last_phase))
                chrome_shape_learn(reader, first, parser->cursor - 1);
            parser->consumed = reader->index.at[parser->cursor - 1] + 1;
            return true;
        }
        if (outcome == CHROME_INCOMPLETE) {
            const char *ignored;
            if (!reader->final)
                return false;
            if (!chrome_next_event(text + at + 1, text + reader->len, &ignored)) {
                report_cut(parser, at);
                return false;
            }
        }
        /* An empty object is a habit of JAX's writer: the last element, after a comma. */
        if (outcome == CHROME_BAD && text[reader->index.at[parser->cursor + 1]] == '}' &&
            is_blank(text, at + 1, reader->index.at[parser->cursor + 1])) {
            parser->consumed = reader->index.at[parser->cursor + 1] + 1;
            parser->cursor += 2;
            return true;
        }
        return recover(parser, at);
    case ']':
        parser->cursor++;
        parser->consumed = at + 1;
        parser->state->where = parser->state->in_object ? CHROME_TOP : CHROME_END;
        return true;
    case '}':
        /* The array's bracket is missing, and this one ends the document. */
        notice(parser, "missing_bracket", "the array of events is not closed", at);
        parser->cursor++;
        parser->consumed = at + 1;
        parser->state->where = CHROME_END;
        return true;
    case '"': return enter_garbage(parser, LACK_NOT_EVENT, not_event, at, at);
    default: /* '[' */
        do
            outcome = chrome_skip_nested(&reader->index, &parser->cursor);
        while (outcome == CHROME_INCOMPLETE && index_more(parser));
        if (outcome == CHROME_READ) {
            document_lacks(parser, LACK_NOT_EVENT, not_event, at);
            parser->consumed = reader->index.at[parser->cursor - 1] + 1;
            return true;
        }
        if (outcome == CHROME_INCOMPLETE && !reader->final)
            return false;
        return recover(parser, at);
    }
}

static void keep_property(struct parser *parser, const char *key, size_t key_len, const char *value,
                          size_t len)
{
    *VEC_PUSH(&parser->reader->properties) =
        (struct chrome_property){ mem_strndup(key, key_len), mem_strndup(value, len), len };
}

/* A value that goes on behind the window, or that is too long to keep: step over it byte by byte. */
static void begin_skipping(struct parser *parser, size_t at)
{
    parser->state->where = CHROME_SKIP;
    parser->state->depth = 0;
    parser->state->in_string = parser->state->escaped = false;
    parser->consumed = at;
}

/* Step on from *AT to the end of the value that STATE is in, or to END. Did it end? *AT is behind it then. */
static bool skip_value(struct chrome_state *state, const char *text, size_t *at, size_t end)
{
    for (; *at < end; ++*at) {
        char c = text[*at];
        if (state->in_string) {
            if (state->escaped)
                state->escaped = false;
            else if (c == '\\')
                state->escaped = true;
            else if (c == '"')
                state->in_string = false;
            if (state->in_string || state->depth)
                continue;
            ++*at;
            return true;
        }
        if (c == '"') {
            state->in_string = true;
        } else if (c == '{' || c == '[') {
            state->depth++;
        } else if (c == '}' || c == ']') {
            if (state->depth == 0)
                return true; /* the end of the object around the value */
            if (--state->depth == 0) {
                ++*at;
                return true;
            }
        } else if (c == ',' && state->depth == 0) {
            return true;
        }
    }
    return false;
}

static bool parse_skip(struct parser *parser)
{
    struct chrome_state *state = parser->state, begun = *state;
    const struct chrome_reader *reader = parser->reader;
    const char *text = reader->text;
    size_t at = parser->consumed;
    bool ended = skip_value(state, text, &at, reader->len);
    if (!begun.has_events) {
        const char *undecided, *events = chrome_find_events(text + parser->consumed, text + at, &undecided);
        if (events) { /* within the value: so it is damaged, and has ended before */
            document_lacks(parser, LACK_GARBAGE, garbage, (size_t)(events - text));
            state->where = CHROME_TOP;
            restart_at(parser, (size_t)(events - text));
            return true;
        }
        if (!ended && !reader->final) { /* what may be the first part of that key is looked at again */
            *state = begun;
            at = parser->consumed;
            skip_value(state, text, &at, (size_t)(undecided - text));
        }
    }
    if (!ended) {
        parser->consumed = at;
        return false;
    }
    state->where = CHROME_TOP;
    restart_at(parser, at);
    return true;
}

/* Find the end of the top-level value at AT. INCOMPLETE when it lies behind the window. Moves the cursor. */
static enum chrome_outcome find_value_end(struct parser *parser, size_t at, size_t *end)
{
    struct chrome_reader *reader = parser->reader;
    struct json_index *index = &reader->index;
    char c = reader->text[at];
    if (c == '"') {
        size_t close = find_close(parser);
        parser->cursor += 2;
        *end = close + 1;
        return close == SIZE_MAX ? CHROME_INCOMPLETE : CHROME_READ;
    }
    if (c == '{' || c == '[') {
        enum chrome_outcome outcome;
        if (next_position(parser) == SIZE_MAX)
            return CHROME_INCOMPLETE;
        do
            outcome = chrome_skip_nested(index, &parser->cursor);
        while (outcome == CHROME_INCOMPLETE && index_more(parser));
        if (outcome == CHROME_READ)
            *end = index->at[parser->cursor - 1] + 1;
        return outcome;
    }
    *end = (size_t)(json_word_end(reader->text + at) - reader->text);
    return *end < reader->len || reader->final ? CHROME_READ : CHROME_INCOMPLETE;
}

/* Is the top-level value START..END damaged? A stray quote in it turns strings inside out; sooner or later
 * something else than a comma follows, or the value seems to hold the events. INCOMPLETE: more text will
 * tell. */
static enum chrome_outcome check_value(const struct parser *parser, size_t start, size_t end)
{
    const struct chrome_reader *reader = parser->reader;
    const char *text = reader->text, *undecided;
    if (chrome_find_events(text + start, text + end, &undecided))
        return CHROME_BAD;
    const char *next = json_skip_blanks(text + end);
    if (next >= text + reader->len)
        return reader->final ? CHROME_READ : CHROME_INCOMPLETE;
    return *next == ',' || *next == '}' ? CHROME_READ : CHROME_BAD;
}

/* Stacks that were sampled lie beside the events: nothing is made of them. VALUE is where the value of KEY begins. */
static void notice_samples(struct parser *parser, const char *key, size_t key_len, size_t value)
{
    const struct chrome_reader *reader = parser->reader;
    size_t at = value + 1;
    if (key_len != 7 || memcmp(key, "samples", 7) != 0 || reader->text[value] != '[')
        return;
    while (at < reader->len && json_is_blank(reader->text[at]))
        at++;
    if (at < reader->len && reader->text[at] != ']')
        notice(parser, "samples_beside",
               "stacks that were sampled lie beside the events, in samples and stackFrames, and are not read",
               value);
}

/* A key of the outermost object with its value, or the object's end. */
static bool parse_top(struct parser *parser)
{
    struct chrome_reader *reader = parser->reader;
    struct chrome_state *state = parser->state;
    const char *text = reader->text;
    if (state->in_garbage && !state->has_events)
        return leave_garbage(parser);
    size_t open = next_position(parser);
    consume_gap(parser, open == SIZE_MAX ? reader->len : open, open == SIZE_MAX);
    if (open == SIZE_MAX)
        return false;
    if (text[open] == '}') {
        state->where = CHROME_END;
        parser->cursor++;
        parser->consumed = open + 1;
        return true;
    }
    size_t close = text[open] == '"' ? find_close(parser) : 0;
    if (close == SIZE_MAX) {
        if (reader->final)
            restart_at(parser, reader->len); /* the end reports that the object is not closed */
        return false;
    }
    const char *at = json_skip_blanks(text + close + 1);
    bool is_key = close && *at == ':';
    at = is_key ? json_skip_blanks(at + 1) : at;
    if (close && (size_t)(at - text) >= reader->len) {
        if (reader->final)
            restart_at(parser, reader->len);
        return false;
    }
    if (!is_key && !state->has_events)
        return enter_garbage(parser, LACK_GARBAGE, garbage, open, open + 1);
    if (!is_key) {
        document_lacks(parser, LACK_GARBAGE, garbage, open);
        parser->cursor += close ? 2 : 1;
        parser->consumed = (close ? close : open) + 1;
        return true;
    }
    const char *key = text + open + 1;
    size_t key_len = close - open - 1, value = (size_t)(at - text), end = value;
    parser->cursor += 2;
    bool is_events = key_len == 11 && memcmp(key, "traceEvents", 11) == 0;
    if (is_events && *at == '[') {
        if (next_position(parser) == SIZE_MAX)
            return false;
        parser->cursor++;
        parser->consumed = value + 1;
        state->where = CHROME_ARRAY;
        state->in_object = state->has_events = true;
        return true;
    }
    enum chrome_outcome outcome = find_value_end(parser, value, &end);
    if (!state->has_events) {
        if (outcome == CHROME_READ)
            outcome = check_value(parser, value, end);
        else if (outcome == CHROME_INCOMPLETE && check_value(parser, value, reader->len) == CHROME_BAD)
            outcome = CHROME_BAD;
        if (outcome == CHROME_BAD)
            return enter_garbage(parser, LACK_GARBAGE, garbage, open, open + 1);
    }
    bool skips = outcome != CHROME_READ && (reader->final || reader->len - value > LONGEST_PROPERTY);
    if (is_events && (outcome == CHROME_READ || skips))
        document_lacks(parser, LACK_NOT_ARRAY, "traceEvents is not an array", value);
    if (outcome == CHROME_READ || skips)
        notice_samples(parser, key, key_len, value);
    if (outcome == CHROME_READ) {
        if (!is_events && end - value <= LONGEST_PROPERTY)
            keep_property(parser, key, key_len, text + value, end - value);
        parser->consumed = end;
        return true;
    }
    if (skips) {
        begin_skipping(parser, value);
        return true;
    }
    return false; /* CONSUMED is before the key: the value is read again with more of the text */
}

/* If something follows the object that held no events, was it that its bracket came too early? */
static bool closed_too_early(const struct chrome_state *state)
{
    return state->documents && state->in_object && !state->has_events;
}

/* A string behind a document: if it is a key, the object around the events was closed too early. */
static bool parse_string_between(struct parser *parser, size_t at)
{
    const struct chrome_reader *reader = parser->reader;
    struct chrome_state *state = parser->state;
    size_t close = find_close(parser);
    if (close != SIZE_MAX && closed_too_early(state)) {
        const char *next = json_skip_blanks(reader->text + close + 1);
        if (next >= reader->text + reader->len && !reader->final)
            return false;
        if (*next == ':') {
            document_lacks(parser, LACK_GARBAGE, garbage, at);
            state->where = CHROME_TOP;
            return true;
        }
    }
    return skip_string(parser, at, LACK_GARBAGE, garbage);
}

/* Behind a document, or before the first. */
static bool parse_between(struct parser *parser)
{
    struct chrome_reader *reader = parser->reader;
    struct chrome_state *state = parser->state;
    const char *text = reader->text;
    if (state->documents == 0 && parser->consumed == 0 && reader->offset == 0) {
        size_t seen = reader->len < 3 ? reader->len : 3;
        bool mark = memcmp(text, "\xef\xbb\xbf", seen) == 0; /* byte order mark */
        if (mark && seen < 3 && !reader->final)
            return false;
        if (mark && seen == 3)
            parser->consumed = 3;
    }
    size_t at = next_position(parser), gap_end = at == SIZE_MAX ? reader->len : at;
    size_t gap = skip_separators(text, parser->consumed, gap_end);
    if (gap < gap_end && closed_too_early(state)) {
        state->where = CHROME_TOP;
        return enter_garbage(parser, LACK_GARBAGE, garbage, gap, gap);
    }
    consume_gap(parser, gap_end, at == SIZE_MAX);
    if (at == SIZE_MAX)
        return false;
    if (text[at] == '{') {
        /* An event by itself: the file holds one a line. */
        enum chrome_outcome outcome = CHROME_INCOMPLETE;
        do
            outcome = chrome_read_event(reader, &parser->cursor);
        while (outcome == CHROME_INCOMPLETE && reader->index.indexed - at < LONGEST_LINE &&
               index_more(parser));
        if (outcome == CHROME_INCOMPLETE && !reader->final && reader->len - at < LONGEST_LINE)
            return false;
        if (outcome == CHROME_READ) {
            parser->consumed = reader->index.at[parser->cursor - 1] + 1;
            state->documents++;
            state->where = CHROME_ARRAY;
            state->in_object = false;
            state->has_events = true;
            state->lines = true;
            return true;
        }
    }
    if (text[at] == '"')
        return parse_string_between(parser, at);
    parser->cursor++;
    parser->consumed = at + 1;
    if (text[at] == '{' || text[at] == '[') {
        if (state->documents++)
            document_lacks(parser, LACK_SEVERAL_DOCUMENTS,
                           "more than one trace stands in the file; all were read as one", at);
        state->where = text[at] == '{' ? CHROME_TOP : CHROME_ARRAY;
        state->in_object = text[at] == '{';
        state->has_events = text[at] == '[';
        state->lines = false;
    } else {
        document_lacks(parser, LACK_GARBAGE, garbage, at);
    }
    return true;
}

size_t chrome_parse(struct chrome_reader *reader, struct chrome_state *state, const char *text, size_t len,
                    int64_t offset, bool final)
{
    reader->text = text;
    reader->len = len;
    reader->offset = offset;
    reader->final = final;
    /* Ids are the chunk's, which notes in each window anew which of them it meets. */
    memset(reader->tracks, 0, sizeof reader->tracks);
    memset(reader->lists, 0, sizeof reader->lists);
    memset(reader->arrow_texts, 0, sizeof reader->arrow_texts);
    memset(reader->counters, 0, sizeof reader->counters);
    reader->shapes.window++;
    struct parser parser = { .reader = reader, .state = state };
    restart_at(&parser, 0);
    bool more = true;
    while (more) {
        switch (state->where) {
        case CHROME_START:
        case CHROME_END: more = parse_between(&parser); break;
        case CHROME_TOP: more = parse_top(&parser); break;
        case CHROME_ARRAY: more = parse_array(&parser); break;
        case CHROME_SKIP: more = parse_skip(&parser); break;
        }
    }
    return final ? len : parser.consumed;
}
