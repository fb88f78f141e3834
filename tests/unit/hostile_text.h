/* hostile_text.h - texts that try to get out of a cell, and into the terminal, the page or the spreadsheet. */
#ifndef TPA_TESTS_HOSTILE_TEXT_H
#define TPA_TESTS_HOSTILE_TEXT_H

#include <stddef.h>

/* clang-format off */
static const struct hostile_text {
    const char *text;
    size_t len;
    const char *terminal, *csv, *markdown, *json, *html; /* what each must become */
} hostile_texts[] = {
#define SAME(t) t, sizeof t - 1, t, t, t, t, t
#define TEXT(t) t, sizeof t - 1
    { SAME("") },
    { SAME("aten::mm") },
    { SAME("\xe6\xbc\xa2\xe5\xad\x97") },
    { SAME("e\xcc\x81") }, /* e and a combining accent */
    { TEXT("a\0b"),            "a\\x00b", "a\\x00b", "a\\\\x00b", "a\\u0000b", "a\\x00b" },
    { TEXT("\x1b[2J"),         "\\x1b[2J", "\\x1b[2J", "\\\\x1b\\[2J", "\\u001b[2J", "\\x1b[2J" },
    { TEXT("\xc2\x9b" "1m"),   "\\u009b1m", "\\u009b1m", "\\\\u009b1m", "\\u009b1m", "\\u009b1m" },
    { TEXT("\x7f"),            "\\x7f", "\\x7f", "\\\\x7f", "\\u007f", "\\x7f" },
    { TEXT("a\nb\tc\rd"),      "a\\nb\\tc\\rd", "a\\nb\\tc\\rd", "a\\\\nb\\\\tc\\\\rd", "a\\nb\\tc\\rd", "a\\nb\\tc\\rd" },
    { TEXT("\xff\xfe"),        "\\xff\\xfe", "\\xff\\xfe", "\\\\xff\\\\xfe", "\xef\xbf\xbd\xef\xbf\xbd", "\\xff\\xfe" },
    { TEXT("\xc0\xaf"),        "\\xc0\\xaf", "\\xc0\\xaf", "\\\\xc0\\\\xaf", "\xef\xbf\xbd\xef\xbf\xbd", "\\xc0\\xaf" }, /* overlong / */
    { TEXT("\xed\xa0\x80"),    "\\xed\\xa0\\x80", "\\xed\\xa0\\x80", "\\\\xed\\\\xa0\\\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xed\\xa0\\x80" }, /* a surrogate */
    { TEXT("\xe6\xbc"),        "\\xe6\\xbc", "\\xe6\\xbc", "\\\\xe6\\\\xbc", "\xef\xbf\xbd", "\\xe6\\xbc" }, /* cut in a character */
    { TEXT("\xf4\x90\x80\x80"), "\\xf4\\x90\\x80\\x80", "\\xf4\\x90\\x80\\x80", "\\\\xf4\\\\x90\\\\x80\\\\x80", "\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd", "\\xf4\\x90\\x80\\x80" },
    { TEXT("a\xe2\x80\xae" "b"), "a\\u202eb", "a\\u202eb", "a\\\\u202eb", "a\\u202eb", "a\\u202eb" }, /* right-to-left override */
    { TEXT("a\xe2\x80\x8b" "b"), "a\\u200bb", "a\\u200bb", "a\\\\u200bb", "a\\u200bb", "a\\u200bb" }, /* zero-width space */
    { TEXT("\xef\xbb\xbfx"),   "\\ufeffx", "\\ufeffx", "\\\\ufeffx", "\\ufeffx", "\\ufeffx" },
    { TEXT("\xe2\x80\xa8"),    "\\u2028", "\\u2028", "\\\\u2028", "\\u2028", "\\u2028" },
    { TEXT("\xf3\xa0\x81\x81"), "\\U000e0041", "\\U000e0041", "\\\\U000e0041", "\\udb40\\udc41", "\\U000e0041" }, /* a tag */
    { TEXT("\xcc\x81x"),       "\\u0301x", "\xcc\x81x", "\xcc\x81x", "\xcc\x81x", "\xcc\x81x" }, /* an accent on nothing */
    { TEXT("=1+1"),            "=1+1", "'=1+1", "=1+1", "=1+1", "=1+1" },
    { TEXT("+cmd"),            "+cmd", "'+cmd", "+cmd", "+cmd", "+cmd" },
    { TEXT("-x"),              "-x", "'-x", "-x", "-x", "-x" },
    { TEXT("@sum"),            "@sum", "'@sum", "@sum", "@sum", "@sum" },
    { TEXT("\xef\xbc\x9d" "1"), "\xef\xbc\x9d" "1", "'\xef\xbc\x9d" "1", "\xef\xbc\x9d" "1", "\xef\xbc\x9d" "1", "\xef\xbc\x9d" "1" },
    { TEXT("=a,\"b\""),        "=a,\"b\"", "\"'=a,\"\"b\"\"\"", "=a,\"b\"", "=a,\\\"b\\\"", "=a,&quot;b&quot;" },
    { TEXT("a;b"),             "a;b", "\"a;b\"", "a;b", "a;b", "a;b" },
    { TEXT(" a"),              " a", "\" a\"", " a", " a", " a" },
    { TEXT("a|b"),             "a|b", "a|b", "a\\|b", "a|b", "a|b" },
    { TEXT("a\\|b"),           "a\\|b", "a\\|b", "a\\\\\\|b", "a\\\\|b", "a\\|b" },
    { TEXT("`*x*` [l](u)"),    "`*x*` [l](u)", "`*x*` [l](u)", "\\`\\*x\\*\\` \\[l\\](u)", "`*x*` [l](u)", "`*x*` [l](u)" },
    { TEXT("a_b _c_"),         "a_b _c_", "a_b _c_", "a_b \\_c\\_", "a_b _c_", "a_b _c_" },
    { TEXT("<b>&'"),           "<b>&'", "<b>&'", "&lt;b&gt;&amp;'", "<b>&'", "&lt;b&gt;&amp;&#39;" },
    { TEXT("</script>"),       "</script>", "</script>", "&lt;/script&gt;", "</script>", "&lt;/script&gt;" },
    { TEXT("C:\\x"),           "C:\\x", "C:\\x", "C:\\\\x", "C:\\\\x", "C:\\x" },
};
#undef SAME
#undef TEXT
/* clang-format on */
enum { HOSTILE_TEXTS = sizeof hostile_texts / sizeof *hostile_texts };

#endif
