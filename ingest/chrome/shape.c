/*
 * A shape's literals hold the keys with all quotes, colons, commas and blanks around them, and the
 * values of `ph` and `cat`, so that one comparison tells a kernel from an operator. The category of an
 * arrow is a value, as writers number it: "Flow_H2D_3418_0". Values end where
 * the careful reader would end them: a string at its quote (a backslash in it is left to the careful
 * reader), a word at the first byte that cannot be part of one, an array or object at its bracket. As the next
 * literal must follow at once, whatever fits a shape is what the careful reader would have read.
 *
 * Which shape comes next is guessed from which one followed last time; after that all are tried.
 */
#include "ingest/chrome/shape.h"

#include "ingest/bytes16.h"
#include "ingest/json_text.h"

/* ---- fitting ---- */

/* Do LEN bytes at AT equal the literal? Both may be read up to the next multiple of 16. */
static inline bool same_bytes(const char *at, const char *literal, size_t len)
{
#if HAVE_BYTES16
    for (;; at += 16, literal += 16, len -= 16) {
        bytes16 text = bytes16_load(at);
        bytes16 wanted = bytes16_load(literal);
        unsigned differ = ~bytes16_mask(bytes16_equal(text, wanted)) & 0xffff;
        if (len <= 16)
            return (differ & ((1u << len) - 1)) == 0;
        if (differ)
            return false;
    }
#else
    return memcmp(at, literal, len) == 0;
#endif
}

/* The quote that ends the string at AT; NULL when a backslash or the end of the text comes first. */
static inline const char *find_quote(const char *at, const char *end)
{
#if HAVE_BYTES16
    const bytes16 quote = bytes16_all('"'), backslash = bytes16_all('\\');
    for (; at < end; at += 16) {
        bytes16 text = bytes16_load(at);
        unsigned found = bytes16_mask(bytes16_or(bytes16_equal(text, quote), bytes16_equal(text, backslash)));
        if (found) {
            at += __builtin_ctz(found);
            return *at == '"' && at < end ? at : NULL;
        }
    }
    return NULL;
#else
    for (; at < end; at++)
        if (*at == '"' || *at == '\\')
            return *at == '"' ? at : NULL;
    return NULL;
#endif
}

/* The end of the number or word at AT. Most are digits, signs and points, 16 of which are seen at once. */
static inline const char *find_word_end(const char *at)
{
#if HAVE_BYTES16
    /* '-' '.' '/' '0'..'9' are 0x2d..0x39: those minus 0x2d are at most 12. */
    bytes16 text = bytes16_load(at);
    bytes16 above = bytes16_minus(text, bytes16_all('-'));
    bytes16 digits = bytes16_at_most(above, bytes16_all(12));
    unsigned others = ~bytes16_mask(digits) & 0xffff;
    at += others ? __builtin_ctz(others) : 16;
#endif
    return json_ends_value(*at) ? at : json_word_end(at);
}

/* The next quote, bracket or backslash from AT on; END or later when there is none. */
static inline const char *find_mark(const char *at, const char *end)
{
#if HAVE_BYTES16
    /* '[' and '{', ']' and '}' differ in one bit only. */
    const bytes16 fold = bytes16_all(0x20), open = bytes16_all('{'), close = bytes16_all('}');
    const bytes16 quote = bytes16_all('"'), backslash = bytes16_all('\\');
    for (; at < end; at += 16) {
        bytes16 text = bytes16_load(at);
        bytes16 folded = bytes16_or(text, fold);
        bytes16 marks = bytes16_or(bytes16_or(bytes16_equal(folded, open), bytes16_equal(folded, close)),
                                   bytes16_or(bytes16_equal(text, quote), bytes16_equal(text, backslash)));
        unsigned found = bytes16_mask(marks);
        if (found)
            return at + __builtin_ctz(found);
    }
    return at;
#else
    while (at < end && !strchr("[]{}\"\\", *at))
        at++;
    return at;
#endif
}

/* What follows the array or object at AT; NULL when the careful reader has to judge it, as chrome_skip_nested does. */
static const char *find_nested_end(const char *at, const char *end)
{
    enum { DEEPEST = 60 };
    uint64_t objects = 0; /* bit 0: is the innermost an object? */
    unsigned depth = 0;
    while ((at = find_mark(at, end)) < end) {
        char c = *at++;
        if (c == '"') {
            at = find_quote(at, end);
            if (!at)
                return NULL;
            at++;
        } else if (c == '[' || c == '{') {
            const char *before = at - 2;
            while (c == '{' && json_is_blank(*before))
                before--;
            if (++depth > DEEPEST || (c == '{' && objects & 1 && *before != ':'))
                return NULL;
            objects = objects << 1 | (c == '{');
        } else {
            if (c == '\\' || (objects & 1) != (c == '}'))
                return NULL;
            objects >>= 1;
            if (--depth == 0)
                return at;
        }
    }
    return NULL;
}

/* Set FIELDS and reader->found from the event at AT. What follows it, or NULL when it does not fit. */
static const char *fit(struct chrome_reader *reader, const struct shape *shape, const char *at,
                       struct fields *fields)
{
    const char *end = reader->text + reader->len;
    size_t found = 0;
    if (!same_bytes(at, shape->steps->literal, shape->steps->len))
        return NULL;
    for (int i = 0; i < FIELD_COUNT; i++)
        fields->at[i].kind = VALUE_MISSING;
    for (const struct shape_step *step = shape->steps;; step++) {
        if (!same_bytes(at, step->literal, step->len))
            return NULL;
        at += step->len;
        const char *start = at, *stop;
        enum value_kind kind;
        switch ((enum shape_value)step->value) {
        case SHAPE_NOTHING: reader->found_count = found; return at <= end ? at : NULL;
        case SHAPE_STRING:
            kind = VALUE_STRING; /* the quotes belong to the literals */
            at = stop = find_quote(at, end);
            break;
        case SHAPE_WORD:
            kind = VALUE_WORD;
            at = stop = find_word_end(at);
            if (at == start)
                return NULL;
            break;
        default: kind = VALUE_NESTED; at = stop = *at == '[' || *at == '{' ? find_nested_end(at, end) : NULL;
        }
        if (!at)
            return NULL;
        if (step->field >= 0)
            fields->at[step->field] = (struct value){ kind, start, stop, 0 };
        else if (step->arg)
            reader->found[found++] =
                (struct chrome_found_arg){ step->arg, start, stop, kind == VALUE_STRING };
    }
}

static void add(struct chrome_reader *reader, struct shape *shape, struct fields *fields)
{
    fields->shape = shape;
    fields->at[FIELD_PHASE] = (struct value){ VALUE_STRING, &shape->phase, &shape->phase + 1, 0 };
    if (shape->has_category)
        fields->at[FIELD_CATEGORY] =
            (struct value){ VALUE_STRING, shape->category, shape->category + shape->category_len, 0 };
    chrome_add_event(reader, fields);
}

const char *chrome_shape_read(struct chrome_reader *reader, const char *at)
{
    struct chrome_shapes *shapes = &reader->shapes;
    /* Where nearly nothing fits, trying costs and gains nothing. */
    shapes->was_tried =
        shapes->tries < 256 || shapes->hits >= shapes->tries / 4 || shapes->passed++ % 64 == 0;
    if (shapes->count == 0 || !shapes->was_tried)
        return NULL;
    if (shapes->tries >= 4096)
        shapes->tries /= 2, shapes->hits /= 2;
    shapes->tries++;
    struct fields fields;
    fields.offset = reader->offset + (at - reader->text);
    uint8_t guess = shapes->at[shapes->last].next;
    for (unsigned i = 0; i <= shapes->count; i++) {
        uint8_t number = i == 0 ? guess : (uint8_t)(i - 1);
        if (i && number == guess)
            continue;
        const char *behind = fit(reader, &shapes->at[number], at, &fields);
        if (behind) {
            shapes->at[shapes->last].next = number;
            shapes->last = number;
            shapes->hits++;
            add(reader, &shapes->at[number], &fields);
            return behind;
        }
    }
    return NULL;
}

/* ---- learning ---- */

struct learner {
    const struct chrome_reader *reader;
    struct shape *shape;
    const char *from; /* where the next literal begins */
    bool is_arrow, is_counter;
    bool has_args;
};

/* End the step: its literal goes up to TO, and a value follows. False when there is no room. */
static bool add_step(struct learner *learner, const char *to, enum shape_value value, int field,
                     const struct chrome_arg_key *arg)
{
    struct shape *shape = learner->shape;
    size_t len = (size_t)(to - learner->from);
    if (len > SHAPE_MAX_LITERAL || shape->step_count == SHAPE_MAX_STEPS)
        return false;
    struct shape_step *step = &shape->steps[shape->step_count++];
    memset(step, 0, sizeof *step);
    memcpy(step->literal, learner->from, len);
    step->len = (uint8_t)len;
    step->value = (uint8_t)value;
    step->field = (int8_t)field;
    step->arg = arg;
    return true;
}

/* Phase and category stay in the literal; which they are is kept. */
static bool keep_constant(struct learner *learner, int field, const char *start, const char *end)
{
    struct shape *shape = learner->shape;
    if (field == FIELD_PHASE) {
        shape->phase = *start;
        return end == start + 1 && chrome_shape_can_learn(&learner->reader->shapes, *start);
    }
    size_t len = (size_t)(end - start);
    if (len > sizeof shape->category)
        return false;
    memcpy(shape->category, start, len);
    shape->category_len = (uint8_t)len;
    shape->has_category = true;
    return true;
}

static const char *behind_colon(const char *close)
{
    const char *at = json_skip_blanks(close + 1);
    return *at == ':' ? json_skip_blanks(at + 1) : NULL;
}

/* The series of a counter whose name is the text KEY of the window: a copy of it is in the literal that ends at AT. */
static const struct chrome_arg_key *add_series(struct learner *learner, const char *key, size_t len,
                                               const char *at)
{
    struct shape *shape = learner->shape;
    struct chrome_arg_key *series = &shape->series[shape->step_count];
    if (shape->step_count == SHAPE_MAX_STEPS || at - learner->from > SHAPE_MAX_LITERAL)
        return NULL; /* add_step gives up as well */
    *series = (struct chrome_arg_key){ shape->steps[shape->step_count].literal + (key - learner->from),
                                       (uint8_t)len, 0, 0 };
    return series;
}

/* The keys of the object whose bracket is at *CURSOR, which moves behind it. ARGS: it is the event's args. */
static bool learn_object(struct learner *learner, size_t *cursor, bool args)
{
    const struct json_index *index = &learner->reader->index;
    const char *text = index->text;
    size_t i = *cursor + 1;
    while (text[index->at[i]] == '"') {
        const char *key = text + index->at[i] + 1, *close = text + index->at[i + 1];
        size_t len = (size_t)(close - key);
        const char *at = behind_colon(close);
        if (!at)
            return false;
        i += 2;
        int field = args ? -1 : chrome_field_of(key, len);
        const struct chrome_arg_key *arg = !args ? NULL
                                           : learner->is_counter
                                               ? add_series(learner, key, len, *at == '"' ? at + 1 : at)
                                               : chrome_find_arg(learner->reader->arg_table, key, len);
        bool constant = field == FIELD_PHASE || (field == FIELD_CATEGORY && !learner->is_arrow);
        if (field == FIELD_ID2 || (field == FIELD_ARGS && *at != '{'))
            return false;
        if (field == FIELD_ARGS) {
            /* Of args given twice only the last ones hold, all of them. */
            if (learner->has_args || !learn_object(learner, &i, true))
                return false;
            learner->has_args = true;
        } else if (*at == '"') {
            const char *end = text + index->at[i + 1];
            i += 2;
            if (constant) {
                if (!keep_constant(learner, field, at + 1, end))
                    return false;
                continue;
            }
            if (!add_step(learner, at + 1, SHAPE_STRING, field, arg))
                return false;
            learner->from = end;
        } else if (*at == '[' || *at == '{') {
            if (constant || !add_step(learner, at, SHAPE_NESTED, field, arg) ||
                chrome_skip_nested(index, &i) != CHROME_READ)
                return false;
            learner->from = text + index->at[i - 1] + 1;
        } else {
            if (constant || !add_step(learner, at, SHAPE_WORD, field, arg))
                return false;
            learner->from = json_word_end(at);
        }
    }
    *cursor = i + 1;
    return true;
}

void chrome_shape_learn(struct chrome_reader *reader, size_t first, size_t last)
{
    struct chrome_shapes *shapes = &reader->shapes;
    const char *start = reader->text + reader->index.at[first],
               *end = reader->text + reader->index.at[last] + 1;
    if (!shapes->was_tried || memchr(start, '\\', (size_t)(end - start)))
        return; /* what was not tried may be known */
    if (!shapes->at)
        shapes->at = mem_zalloc(SHAPE_MAX_SHAPES, sizeof *shapes->at);
    uint8_t number = shapes->count < SHAPE_MAX_SHAPES ? shapes->count : shapes->replace;
    struct shape *shape = &shapes->at[number];
    bool is_counter = reader->last_phase == 'C';
    struct learner learner = { reader,     shape, start, strchr("stf", reader->last_phase) != NULL,
                               is_counter, false };
    shape->step_count = shape->category_len = 0;
    shape->has_category = false;
    shape->is_counter = is_counter;
    shape->phase = '\0';
    shape->next = number;
    shape->category_window = 0;
    size_t cursor = first;
    bool good = learn_object(&learner, &cursor, false) && cursor == last + 1 && shape->phase &&
                (learner.has_args || !is_counter) && add_step(&learner, end, SHAPE_NOTHING, -1, NULL);
    if (!good) {
        /* A shape that fits nothing: its first literal cannot be. */
        shape->step_count = 1;
        shape->steps[0] = (struct shape_step){ .literal = "\xff", .len = 1 };
        return;
    }
    shapes->counters += is_counter;
    if (is_counter)
        memset(reader->counters, 0, sizeof reader->counters); /* its series may be where another's were */
    if (number == shapes->count)
        shapes->count++;
    else
        shapes->replace = (uint8_t)((shapes->replace + 1) % SHAPE_MAX_SHAPES);
    shapes->at[shapes->last].next = number;
    shapes->last = number;
}
