/* All media but JSON share one loop for the first step, which makes invisible characters visible; it passes
 * visible ones on to the medium. Runs of harmless ASCII are copied at once, because nearly all text consists
 * of them. */
#include "base/escape.h"

#include "base/unicode.h"

static const char hex_digits[] = "0123456789abcdef";

static void add_hex(struct buffer *out, const char *prefix, uint32_t value, int digits)
{
    buffer_puts(out, prefix);
    for (int shift = 4 * (digits - 1); shift >= 0; shift -= 4)
        buffer_putc(out, hex_digits[value >> shift & 15]);
}

/* Show a character that is hidden, or unknown to the terminal. */
static void append_hidden(struct buffer *out, uint32_t character)
{
    switch (character) {
    case '\n': buffer_puts(out, "\\n"); break;
    case '\t': buffer_puts(out, "\\t"); break;
    case '\r': buffer_puts(out, "\\r"); break;
    default:
        if (character < 0x80)
            add_hex(out, "\\x", character, 2);
        else if (character <= 0xffff)
            add_hex(out, "\\u", character, 4);
        else
            add_hex(out, "\\U", character, 8);
    }
}

/* Percent-encode, as in a URL: GitHub's runner decodes it. */
static void add_percent(struct buffer *out, char c)
{
    buffer_printf(out, "%%%02X", (unsigned char)c);
}

static void append_bytes(struct buffer *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len; i++)
        add_hex(out, "\\x", (unsigned char)s[i], 2);
}

static size_t plain_run(const char *s, size_t len, const char *special)
{
    size_t n = 0;
    while (n < len && s[n] >= ' ' && s[n] < 0x7f && !(*special && strchr(special, s[n])))
        n++;
    return n;
}

size_t escape_terminal(struct buffer *out, const char *s, size_t len)
{
    size_t width = 0;
    for (size_t i = 0; i < len;) {
        size_t run = plain_run(s + i, len - i, "");
        if (run) {
            buffer_add(out, s + i, run);
            i += run;
            width += run;
            continue;
        }
        uint32_t character;
        size_t size = utf8_decode(s + i, len - i, &character);
        size_t before = out->count;
        int columns =
            character == UTF8_INVALID || unicode_is_hidden(character) ? -1 : unicode_width(character);
        /* A combining mark at the start would attach to the character before the text. */
        if (columns > 0 || (columns == 0 && width > 0)) {
            buffer_add(out, s + i, size);
            width += (size_t)columns;
        } else {
            if (character == UTF8_INVALID)
                append_bytes(out, s + i, size);
            else
                append_hidden(out, character);
            width += out->count - before;
        }
        i += size;
    }
    return width;
}

/* The other media: visible characters in SPECIAL go through ADD_SPECIAL, other visible characters are copied. */
static void escape_visible(struct buffer *out, const char *s, size_t len, const char *special,
                           void (*add_special)(struct buffer *out, const char *s, size_t at, size_t len))
{
    for (size_t i = 0; i < len;) {
        size_t run = plain_run(s + i, len - i, special);
        if (run) {
            buffer_add(out, s + i, run);
            i += run;
            continue;
        }
        uint32_t character;
        size_t size = utf8_decode(s + i, len - i, &character);
        if (character == UTF8_INVALID)
            append_bytes(out, s + i, size);
        else if (unicode_is_hidden(character))
            append_hidden(out, character);
        else if (size == 1 && add_special)
            add_special(out, s, i, len);
        else
            buffer_add(out, s + i, size);
        i += size;
    }
}

static void double_quote(struct buffer *out, const char *s, size_t at, size_t len)
{
    (void)s, (void)at, (void)len;
    buffer_puts(out, "\"\"");
}

/* Would a spreadsheet treat the text as a formula? Full-width signs count too: East Asian versions accept them. */
static bool looks_like_formula(const char *s, size_t len)
{
    uint32_t first;
    if (!len)
        return false;
    utf8_decode(s, len, &first);
    return first == '=' || first == '+' || first == '-' || first == '@' || first == 0xff1d ||
           first == 0xff0b || first == 0xff0d || first == 0xff20;
}

void escape_csv(struct buffer *out, const char *s, size_t len)
{
    bool quote = len && (s[0] == ' ' || s[len - 1] == ' ');
    for (size_t i = 0; i < len && !quote; i++) /* ';' too: it is the separator in much of Europe */
        quote = s[i] == '"' || s[i] == ',' || s[i] == ';';
    if (quote)
        buffer_putc(out, '"');
    if (looks_like_formula(s, len))
        buffer_putc(out, '\'');
    escape_visible(out, s, len, "\"", double_quote);
    if (quote)
        buffer_putc(out, '"');
}

static bool is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
}

static void entity(struct buffer *out, const char *s, size_t at, size_t len)
{
    (void)len;
    switch (s[at]) {
    case '&': buffer_puts(out, "&amp;"); break;
    case '<': buffer_puts(out, "&lt;"); break;
    case '>': buffer_puts(out, "&gt;"); break;
    case '"': buffer_puts(out, "&quot;"); break;
    default: buffer_puts(out, "&#39;"); break;
    }
}

#define ELLIPSIS "\xe2\x80\xa6"

/* The bytes of a text that a page or picture shows: longer texts end in an ellipsis, not within a character. */
static size_t shown_in_markup(const char *s, size_t len)
{
    if (len <= ESCAPE_MARKUP_MOST)
        return len;
    size_t shown = ESCAPE_MARKUP_MOST;
    while (shown > ESCAPE_MARKUP_MOST - 4 && (s[shown] & 0xc0) == 0x80)
        shown--;
    return shown;
}

static void escape_entities(struct buffer *out, const char *s, size_t len)
{
    escape_visible(out, s, len, "&<>\"'", entity);
}

void escape_html(struct buffer *out, const char *s, size_t len)
{
    size_t shown = shown_in_markup(s, len);
    escape_entities(out, s, shown);
    if (shown < len)
        buffer_puts(out, ELLIPSIS);
}

/* XML 1.0 has no U+FFFE and U+FFFF; other characters that it lacks are hidden ones or invalid UTF-8, which are escaped
 * already. */
void escape_xml(struct buffer *out, const char *s, size_t len)
{
    static const char absent[] = "\xef\xbf";
    size_t all = len;
    len = shown_in_markup(s, all);
    for (size_t i = 0; i < len;) {
        size_t run = 0;
        while (i + run < len && !(i + run + 2 < len && memcmp(s + i + run, absent, 2) == 0 &&
                                  (unsigned char)s[i + run + 2] >= 0xbe))
            run++;
        escape_entities(out, s + i, run);
        i += run;
        if (i < len) {
            append_hidden(out, (unsigned char)s[i + 2] == 0xbe ? 0xfffe : 0xffff);
            i += 3;
        }
    }
    if (len < all)
        buffer_puts(out, ELLIPSIS);
}

static void percent(struct buffer *out, const char *s, size_t at, size_t len)
{
    (void)len;
    add_percent(out, s[at]);
}

void escape_github(struct buffer *out, const char *s, size_t len)
{
    escape_visible(out, s, len, "%", percent);
}

void escape_github_property(struct buffer *out, const char *s, size_t len)
{
    escape_visible(out, s, len, "%:,", percent);
}

static void markdown_special(struct buffer *out, const char *s, size_t at, size_t len)
{
    if (s[at] == '&' || s[at] == '<' || s[at] == '>') {
        entity(out, s, at, len);
        return;
    }
    /* An underscore between letters means nothing in Markdown, and names are full of them. */
    bool inside_word = at > 0 && at + 1 < len && is_word(s[at - 1]) && is_word(s[at + 1]);
    if (s[at] != '_' || !inside_word)
        buffer_putc(out, '\\');
    buffer_putc(out, s[at]);
}

/* First escape hidden characters, then the markup: the backslashes of the first step are text to the second. */
static void escape_markup(struct buffer *out, const char *s, size_t len, const char *special,
                          void (*add_special)(struct buffer *out, const char *s, size_t at, size_t len))
{
    SCOPED struct buffer visible = { 0 };
    escape_visible(&visible, s, len, "", NULL);
    escape_visible(out, visible.at, visible.count, special, add_special);
}

void escape_markdown(struct buffer *out, const char *s, size_t len)
{
    escape_markup(out, s, len, "\\`*_[]<>|~$&#", markdown_special);
}

static void colon(struct buffer *out, const char *s, size_t at, size_t len)
{
    (void)s, (void)at, (void)len;
    buffer_putc(out, ':');
}

void escape_folded(struct buffer *out, const char *s, size_t len)
{
    escape_visible(out, s, len, ";", colon);
}

void escape_json(struct buffer *out, const char *s, size_t len)
{
    for (size_t i = 0; i < len;) {
        size_t run = plain_run(s + i, len - i, "\"\\");
        if (run) {
            buffer_add(out, s + i, run);
            i += run;
            continue;
        }
        uint32_t character;
        size_t size = utf8_decode(s + i, len - i, &character);
        switch (character) {
        case '"': buffer_puts(out, "\\\""); break;
        case '\\': buffer_puts(out, "\\\\"); break;
        case '\n': buffer_puts(out, "\\n"); break;
        case '\t': buffer_puts(out, "\\t"); break;
        case '\r': buffer_puts(out, "\\r"); break;
        case UTF8_INVALID: buffer_puts(out, "\xef\xbf\xbd"); break; /* U+FFFD */
        default:
            if (!unicode_is_hidden(character)) {
                buffer_add(out, s + i, size);
            } else if (character <= 0xffff) {
                add_hex(out, "\\u", character, 4);
            } else {
                add_hex(out, "\\u", 0xd7c0 + (character >> 10), 4);
                add_hex(out, "\\u", 0xdc00 + (character & 0x3ff), 4);
            }
        }
        i += size;
    }
}

void escape_json_string(struct buffer *out, const char *s, size_t len)
{
    buffer_putc(out, '"');
    escape_json(out, s, len);
    buffer_putc(out, '"');
}

void escape_sql_name(struct buffer *out, const char *name)
{
    buffer_putc(out, '"');
    for (; *name; name++) {
        if (*name == '"')
            buffer_putc(out, '"');
        buffer_putc(out, *name);
    }
    buffer_putc(out, '"');
}
