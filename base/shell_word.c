#include "base/shell_word.h"

#include "base/escape.h"

static bool is_plain(const char *s, size_t len)
{
    static const char others[] = "_./:=@%+,-";
    for (size_t i = 0; i < len; i++) {
        char c = s[i];
        bool letter = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9');
        if (!letter && (c == '\0' || !strchr(others, c)))
            return false;
    }
    return len > 0;
}

/* Is S shown as it is? A terminal gets other bytes of controls, invalid UTF-8 and hidden characters. */
static bool is_visible(const char *s, size_t len)
{
    SCOPED struct buffer shown = { 0 };
    escape_terminal(&shown, s, len);
    return shown.count == len && (len == 0 || memcmp(shown.at, s, len) == 0);
}

static void append_single_quoted(struct buffer *out, const char *s, size_t len)
{
    buffer_putc(out, '\'');
    for (size_t i = 0; i < len; i++)
        if (s[i] == '\'')
            buffer_puts(out, "'\\''");
        else
            buffer_putc(out, s[i]);
    buffer_putc(out, '\'');
}

/* $'...': bytes outside of printable ASCII as octal numbers of three digits, which end by themselves. */
static void append_ansi_quoted(struct buffer *out, const char *s, size_t len)
{
    buffer_puts(out, "$'");
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)s[i];
        if (c < 0x20 || c >= 0x7f)
            buffer_printf(out, "\\%03o", c);
        else if (c == '\'' || c == '\\')
            buffer_printf(out, "\\%c", c);
        else
            buffer_putc(out, (char)c);
    }
    buffer_putc(out, '\'');
}

void shell_word_append(struct buffer *out, const char *s, size_t len)
{
    if (is_plain(s, len))
        buffer_add(out, s, len);
    else if (is_visible(s, len))
        append_single_quoted(out, s, len);
    else
        append_ansi_quoted(out, s, len);
}
