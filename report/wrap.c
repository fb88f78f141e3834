#include "report/wrap.h"

#include "base/unicode.h"

static void wrap_break_line(struct buffer *out, size_t indent, size_t *column)
{
    buffer_putc(out, '\n');
    buffer_pad(out, ' ', indent);
    *column = indent;
}

void wrap_text(struct buffer *out, const char *text, size_t len, size_t column, size_t indent, size_t width)
{
    if (indent >= width / 2)
        indent = 0;
    bool fresh = true; /* nothing on this line yet */
    for (size_t at = 0; at < len;) {
        size_t word = 0;
        while (at + word < len && text[at + word] != ' ')
            word++;
        size_t columns = unicode_text_width(text + at, word);
        if (!fresh && column + 1 + columns > width) {
            wrap_break_line(out, indent, &column);
        } else if (!fresh) {
            buffer_putc(out, ' ');
            column++;
        }
        fresh = false;
        /* A word wider than the line is broken anywhere. */
        for (size_t i = 0; i < word;) {
            uint32_t character;
            size_t size = utf8_decode(text + at + i, word - i, &character);
            size_t one = unicode_text_width(text + at + i, size);
            if (column + one > width && i)
                wrap_break_line(out, indent, &column);
            buffer_add(out, text + at + i, size);
            column += one;
            i += size;
        }
        at += word;
        while (at < len && text[at] == ' ')
            at++;
    }
    buffer_putc(out, '\n');
}
