/* The text of each element that is a block is a line. Lines of both pages belong together by their words, figures left
 * out, and by their order among lines with the same words. */
#include "check/page.h"

#include <ctype.h>
#include <math.h>
#include <strings.h>

/* A figure in a line: its digits, and the unit behind them. */
struct page_figure {
    size_t at, digits, unit_at, unit;
};

struct page_line {
    int64_t number;    /* of the file's lines, from 1 */
    struct text text;  /* without elements, blanks joined */
    struct text words; /* the same with # for each figure */
    struct text title; /* of figures alone: the words before them, such as the name that they are of */
    VEC_OF(struct page_figure) figures;
    bool used;
};

struct page_lines {
    VEC_OF(struct page_line);
};

bool check_is_page(const char *text, size_t len)
{
    static const char *const begins[] = { "<!doctype html", "<html" };
    while (len > 0 && isspace((unsigned char)*text))
        text++, len--;
    return ANY(i, sizeof begins / sizeof *begins,
               len >= strlen(begins[i]) && strncasecmp(text, begins[i], strlen(begins[i])) == 0);
}

static bool is_digit(char c)
{
    return isdigit((unsigned char)c);
}

/* Find the figures of LINE, and what is left of its text. */
static void line_find_figures(struct page_line *line, struct arena *arena)
{
    SCOPED struct buffer words = { 0 };
    const char *text = line->text.at;
    for (size_t i = 0; i < line->text.len;) {
        bool begins = is_digit(text[i]) && (i == 0 || !isalnum((unsigned char)text[i - 1]));
        if (!begins) {
            buffer_putc(&words, text[i++]);
            continue;
        }
        struct page_figure figure = { .at = i };
        while (is_digit(text[i]) || ((text[i] == '.' || text[i] == ',') && is_digit(text[i + 1])))
            i++;
        figure.digits = i - figure.at;
        size_t unit = text[i] == ' ' ? i + 1 : i;
        size_t end = unit;
        while (isalpha((unsigned char)text[end]) || text[end] == '%')
            end++;
        if (unit == i || text[unit] == '%' || (end - unit == 2 && text[unit + 1] == 'B')) {
            figure.unit_at = unit;
            figure.unit = end - unit;
            i = end;
        }
        *VEC_PUSH(&line->figures) = figure;
        buffer_putc(&words, '#');
    }
    buffer_puts(&words, "");
    line->words = (struct text){ arena_strndup(arena, words.at, words.count), words.count };
}

static void end_line(struct page_lines *lines, struct buffer *text, int64_t number, struct arena *arena)
{
    while (text->count && text->at[text->count - 1] == ' ')
        text->count--;
    if (text->count) {
        struct page_line *line = VEC_PUSH(lines);
        *line = (struct page_line){ .number = number,
                                    .text = { arena_strndup(arena, text->at, text->count), text->count } };
        line_find_figures(line, arena);
    }
    buffer_clear(text);
}

/* Is the tag at TEXT, of LEN bytes from its <, called NAME? */
static bool is_tag(const char *text, size_t len, const char *name)
{
    size_t size = strlen(name);
    size_t from = len > 1 && text[1] == '/' ? 2 : 1;
    return len > from + size && strncasecmp(text + from, name, size) == 0 &&
           !isalnum((unsigned char)text[from + size]);
}

static bool is_one_of(const char *text, size_t len, const char *const *names)
{
    for (; *names; names++)
        if (is_tag(text, len, *names))
            return true;
    return false;
}

/* Append the character that the entity at TEXT stands for; the length of the entity, or 0. */
static size_t add_entity(struct buffer *out, const char *text, size_t len)
{
    static const struct {
        const char *entity, *character;
    } entities[] = { { "&amp;", "&" },   { "&lt;", "<" },  { "&gt;", ">" },
                     { "&quot;", "\"" }, { "&#39;", "'" }, { "&nbsp;", " " } };
    for (size_t i = 0; i < sizeof entities / sizeof *entities; i++) {
        size_t size = strlen(entities[i].entity);
        if (size <= len && memcmp(entities[i].entity, text, size) == 0) {
            buffer_puts(out, entities[i].character);
            return size;
        }
    }
    return 0;
}

/* The lines of the first screen of a page. False: the page has none. */
static bool read_screen(const char *html, size_t len, struct arena *arena, struct page_lines *lines)
{
    static const char *const inlines[] = { "a",   "b",     "span", "wbr",    "code", "del",
                                           "ins", "small", "em",   "strong", NULL };
    static const char *const hidden[] = { "script", "style", "title", "h1", "template", "code", NULL };
    static const char answer[] = "<section id=\"answer\"", title[] = "<header";
    const char *begin = memmem(html, len, title, sizeof title - 1);
    const char *section =
        begin ? memmem(begin, (size_t)(html + len - begin), answer, sizeof answer - 1) : NULL;
    const char *end = section ? memmem(section, (size_t)(html + len - section), "</section>", 10) : NULL;
    if (!end)
        return false;
    SCOPED struct buffer text = { 0 };
    int64_t number = 1;
    for (const char *c = html; c < begin; c++)
        number += *c == '\n';
    bool is_hidden = false;
    const char *hides = NULL;
    for (const char *at = begin; at < end;) {
        size_t left = (size_t)(end - at);
        number += *at == '\n';
        if (*at == '<') {
            const char *close = memchr(at, '>', left);
            size_t size = close ? (size_t)(close - at) + 1 : left;
            if (is_hidden) {
                is_hidden = !(at[1] == '/' && is_tag(at, size, hides));
            } else if (at[1] != '/' && is_one_of(at, size, hidden) && at[size - 2] != '/') {
                is_hidden = true;
                for (const char *const *name = hidden; *name; name++)
                    hides = is_tag(at, size, *name) ? *name : hides;
            }
            if (!is_one_of(at, size, inlines))
                end_line(lines, &text, number, arena);
            for (size_t i = 1; i < size; i++)
                number += at[i] == '\n';
            at += size;
            continue;
        }
        size_t entity = *at == '&' && !is_hidden ? add_entity(&text, at, left) : 0;
        if (entity) {
            at += entity;
            continue;
        }
        if (!is_hidden && isspace((unsigned char)*at)) {
            if (text.count && text.at[text.count - 1] != ' ')
                buffer_putc(&text, ' ');
        } else if (!is_hidden) {
            buffer_putc(&text, *at);
        }
        at++;
    }
    end_line(lines, &text, number, arena);
    return true;
}

static void find_titles(struct page_lines *lines)
{
    struct text none = { "", 0 }, title = none;
    FOR_EACH(line, lines) {
        bool has_words = false;
        for (size_t c = 0; c < line->words.len; c++)
            has_words |= isalpha((unsigned char)line->words.at[c]) != 0;
        line->title = has_words ? none : title;
        if (has_words)
            title = line->words;
    }
}

static bool is_same_text(struct text a, struct text b)
{
    return a.len == b.len && memcmp(a.at, b.at, a.len) == 0;
}

/* The first line of RIGHT with the words of LINE, below the same title, that no other line belongs to; NULL: none. */
static struct page_line *find_line(struct page_lines *right, const struct page_line *line)
{
    FOR_EACH(other, right) {
        if (!other->used && is_same_text(other->words, line->words) &&
            is_same_text(other->title, line->title)) {
            other->used = true;
            return other;
        }
    }
    return NULL;
}

static double figure_value(const struct page_line *line, const struct page_figure *figure)
{
    char digits[64];
    size_t len = 0;
    for (size_t i = 0; i < figure->digits && len + 1 < sizeof digits; i++)
        if (line->text.at[figure->at + i] != ',')
            digits[len++] = line->text.at[figure->at + i];
    digits[len] = '\0';
    return strtod(digits, NULL);
}

/* What one of the unit A is in B, for two of a kind; NaN else. */
static double unit_ratio(const char *a, size_t a_len, const char *b, size_t b_len)
{
    static const struct {
        const char *text;
        double scale;
    } units[] = { { "ns", 1 },    { "us", 1e3 },    { "ms", 1e6 },    { "s", 1e9 },
                  { "B", 0x1p0 }, { "KB", 0x1p10 }, { "MB", 0x1p20 }, { "GB", 0x1p30 } };
    if (a_len == b_len && memcmp(a, b, a_len) == 0)
        return 1;
    size_t of_a = SIZE_MAX, of_b = SIZE_MAX;
    for (size_t i = 0; i < sizeof units / sizeof *units; i++) {
        size_t len = strlen(units[i].text);
        if (len == a_len && memcmp(units[i].text, a, len) == 0)
            of_a = i;
        if (len == b_len && memcmp(units[i].text, b, len) == 0)
            of_b = i;
    }
    bool both = of_a != SIZE_MAX && of_b != SIZE_MAX && (of_a < 4) == (of_b < 4);
    return both ? units[of_a].scale / units[of_b].scale : NAN;
}

static void add_page_row(struct check *check, const struct check_input *input, const struct page_line *line,
                         size_t i, const struct page_line *other)
{
    const struct page_figure *figure = &line->figures.at[i];
    const char *unit = line->text.at + figure->unit_at;
    struct check_row row = { .line = line->number, .said = figure_value(line, figure), .right = NAN };
    row.statement = as_text(arena_strndup(arena_of(check), line->text.at, line->text.len));
    row.subject = as_text(arena_strndup(arena_of(check), line->words.at, line->words.len));
    if (figure->unit)
        row.unit = as_text(arena_strndup(arena_of(check), unit, figure->unit));
    row.outcome = CHECK_OPEN;
    if (other) {
        const struct page_figure *right = &other->figures.at[i];
        const char *right_unit = other->text.at + right->unit_at;
        bool same = right->digits == figure->digits && right->unit == figure->unit &&
                    memcmp(line->text.at + figure->at, other->text.at + right->at, figure->digits) == 0 &&
                    memcmp(unit, right_unit, figure->unit) == 0;
        row.outcome = same ? CHECK_CONFIRMED : CHECK_CONTRADICTED;
        row.right = figure_value(other, right) * unit_ratio(right_unit, right->unit, unit, figure->unit);
        row.quantity = as_text("first_screen");
        SCOPED struct buffer command = { 0 };
        buffer_puts(&command, "tpa report -o report.html");
        check_append_files(input, &command);
        row.command = as_text(arena_strndup(arena_of(check), command.at, command.count));
    }
    check_add_row(check, &row, CHECK_NOT_IN_TRACE);
}

struct check *check_page(struct check_facts *facts, const struct check_input *input, const char *right,
                         size_t right_len)
{
    struct page_lines lines = { 0 }, right_lines = { 0 };
    struct check *check = NULL;
    SCOPED_ARENA struct arena arena = { 0 };
    ARENA_OWNS(&arena, &lines.at, &right_lines.at);
    if (read_screen(input->text, input->len, &arena, &lines) &&
        read_screen(right, right_len, &arena, &right_lines)) {
        find_titles(&lines);
        find_titles(&right_lines);
        check = arena_open(sizeof *check);
        ARENA_OWNS(arena_of(check), &check->at);
        FOR_EACH(line, &lines) {
            const struct page_line *other = find_line(&right_lines, line);
            if (!other) /* the page says something else */
                check_add_rankings(check, facts, input, line->number, line->text.at, line->text.len);
            for (size_t i = 0; i < line->figures.count; i++)
                add_page_row(check, input, line, i, other);
        }
    }
    ARENA_OWNS_EACH(&arena, lines.at, lines.count, figures);
    ARENA_OWNS_EACH(&arena, right_lines.at, right_lines.count, figures);
    return check;
}
