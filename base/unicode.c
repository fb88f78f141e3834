/* unicode.c - characters, visibility and width; see unicode.h. */
#include "base/unicode.h"
#include "base/memory.h"

#include <locale.h>
#include <pthread.h>
#include <wchar.h>

size_t utf8_decode(const char *s, size_t len, uint32_t *character)
{
    const unsigned char *at = (const unsigned char *)s;
    unsigned char first = at[0];
    size_t size;
    unsigned char low = 0x80, high = 0xbf; /* allowed range of the second byte */

    if (first < 0x80) {
        *character = first;
        return 1;
    }
    *character = UTF8_INVALID;
    if (first >= 0xc2 && first <= 0xdf) {
        size = 2;
    } else if (first >= 0xe0 && first <= 0xef) {
        size = 3;
        low = first == 0xe0 ? 0xa0 : 0x80;
        high = first == 0xed ? 0x9f : 0xbf;
    } else if (first >= 0xf0 && first <= 0xf4) {
        size = 4;
        low = first == 0xf0 ? 0x90 : 0x80;
        high = first == 0xf4 ? 0x8f : 0xbf;
    } else {
        return 1;
    }
    uint32_t bits = first & (0x7fu >> size);
    for (size_t i = 1; i < size; i++) {
        if (i == len || at[i] < low || at[i] > high)
            return i;
        bits = bits << 6 | (at[i] & 0x3f);
        low = 0x80;
        high = 0xbf;
    }
    *character = bits;
    return size;
}

bool unicode_is_hidden(uint32_t character)
{
    /* Controls; then Unicode's default-ignorable characters and separators of lines, in order. */
    static const struct {
        uint32_t first, last;
    } hidden[] = { { 0x0, 0x1f },       { 0x7f, 0x9f },     { 0xad, 0xad },       { 0x34f, 0x34f },
                   { 0x61c, 0x61c },    { 0x115f, 0x1160 }, { 0x17b4, 0x17b5 },   { 0x180b, 0x180f },
                   { 0x200b, 0x200f },  { 0x2028, 0x202e }, { 0x2060, 0x206f },   { 0x3164, 0x3164 },
                   { 0xd800, 0xdfff },  { 0xfe00, 0xfe0f }, { 0xfeff, 0xfeff },   { 0xffa0, 0xffa0 },
                   { 0xfff0, 0xfffb },  { 0xfffe, 0xffff }, { 0x1bca0, 0x1bca3 }, { 0x1d173, 0x1d17a },
                   { 0xe0000, 0xe0fff } };
    size_t count = sizeof hidden / sizeof *hidden;
    for (size_t i = 0; i < count && character >= hidden[i].first; i++)
        if (character <= hidden[i].last)
            return true;
    return false;
}

static locale_t utf8_locale;

static void open_locale(void)
{
    utf8_locale = newlocale(LC_CTYPE_MASK, "C.UTF-8", (locale_t)0);
}

int unicode_width(uint32_t character)
{
    if (character < 0x80)
        return character >= ' ' && character != 0x7f ? 1 : -1;
    static pthread_once_t once = PTHREAD_ONCE_INIT;
    pthread_once(&once, open_locale);
    if (!utf8_locale)
        return -1;
    /* wcwidth() has no form that takes a locale, so the thread borrows one; the program's own is left alone. */
    locale_t before = uselocale(utf8_locale);
    int width = wcwidth((wchar_t)character);
    uselocale(before);
    return width;
}

size_t unicode_text_width(const char *s, size_t len)
{
    size_t width = 0;
    for (size_t i = 0; i < len;) {
        uint32_t character;
        if ((unsigned char)s[i] < 0x80) { /* a column each: what is not printable is shown as one, too */
            width++;
            i++;
            continue;
        }
        i += utf8_decode(s + i, len - i, &character);
        int columns = character == UTF8_INVALID ? 1 : unicode_width(character);
        width += columns < 0 ? 1 : (size_t)columns;
    }
    return width;
}

size_t utf8_count(const char *s, size_t len)
{
    return SUM(size_t, i, len, ((unsigned char)s[i] & 0xc0) != 0x80);
}
