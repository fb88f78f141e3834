/* test_escape.c - base/escape.h and base/unicode.h: one list of hostile texts, into every medium. */
#include "tests/unit/unit.h"
#include "base/escape.h"
#include "base/unicode.h"
#include "tests/unit/hostile_text.h"

static void check(void (*escape)(struct buffer *, const char *, size_t), const struct hostile_text *hostile,
                  const char *wanted)
{
    SCRATCH_BUFFER(out);
    buffer_puts(&out, "|");
    escape(&out, hostile->text, hostile->len);
    assert_string_equal(out.at + 1, wanted);
    assert_int_equal(out.count, strlen(wanted) + 1);
}

static void terminal(struct buffer *out, const char *s, size_t len)
{
    size_t before = out->count;
    size_t width = escape_terminal(out, s, len);
    assert_int_equal(width, unicode_text_width(out->at + before, out->count - before));
}

TEST(hostile_texts_are_tamed_in_every_medium)
{
    for (size_t i = 0; i < HOSTILE_TEXTS; i++) {
        check(terminal, &hostile_texts[i], hostile_texts[i].terminal);
        check(escape_csv, &hostile_texts[i], hostile_texts[i].csv);
        check(escape_markdown, &hostile_texts[i], hostile_texts[i].markdown);
        check(escape_json, &hostile_texts[i], hostile_texts[i].json);
        check(escape_html, &hostile_texts[i], hostile_texts[i].html);
    }
}

/* XML parsers refuse a document for these; what is left is as in HTML. */
TEST(xml_holds_no_character_that_it_does_not_have)
{
    static const struct {
        const char *text, *xml;
    } texts[] = {
        { "a<b>&\"'", "a&lt;b&gt;&amp;&quot;&#39;" },
        { "]]>", "]]&gt;" },
        { "a\xef\xbf\xbe"
          "b",
          "a\\ufffeb" },
        { "\xef\xbf\xbf", "\\uffff" },
        { "\xef\xbf\xbd", "\xef\xbf\xbd" },
        { "\xef\xbf", "\\xef\\xbf" },
        { "\x01\x0b\x1f", "\\x01\\x0b\\x1f" },
        { "two\nlines", "two\\nlines" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SCRATCH_BUFFER(out);
        escape_xml(&out, texts[i].text, strlen(texts[i].text));
        assert_string_equal(out.at, texts[i].xml);
    }
    for (size_t i = 0; i < HOSTILE_TEXTS; i++)
        check(escape_xml, &hostile_texts[i], hostile_texts[i].html);
}

/* GitHub's runner takes a line that begins with :: for a command, and turns %25 %0A %0D %3A %2C back. */
/* 16 KiB of a text are shown, without the character that this limit falls into. */
TEST(long_texts_are_cut_in_markup)
{
    static char text[ESCAPE_MARKUP_MOST + 8];
    memset(text, 'n', sizeof text);
    memcpy(text + ESCAPE_MARKUP_MOST - 1, "\xc3\xa4", 2);
    void (*const escapes[])(struct buffer *, const char *, size_t) = { escape_html, escape_xml };
    for (size_t i = 0; i < 2; i++) {
        SCRATCH_BUFFER(out);
        escapes[i](&out, text, ESCAPE_MARKUP_MOST - 1);
        assert_int_equal(out.count, ESCAPE_MARKUP_MOST - 1);
        buffer_clear(&out);
        escapes[i](&out, text, sizeof text);
        assert_int_equal(out.count, ESCAPE_MARKUP_MOST - 1 + 3);
        assert_string_equal(out.at + ESCAPE_MARKUP_MOST - 3, "nn\xe2\x80\xa6");
    }
}

TEST(github_gets_one_line_and_no_second_command)
{
    static const struct {
        const char *text, *message, *property;
    } texts[] = {
        { "aten::mm", "aten::mm", "aten%3A%3Amm" },
        { "a\n::error::b", "a\\n::error::b", "a\\n%3A%3Aerror%3A%3Ab" },
        { "5%, 10%", "5%25, 10%25", "5%25%2C 10%25" },
        { "%0A", "%250A", "%250A" },
        { "x\r\x1b[31m", "x\\r\\x1b[31m", "x\\r\\x1b[31m" },
        { "\xff", "\\xff", "\\xff" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SCOPED struct buffer out = { 0 };
        escape_github(&out, texts[i].text, strlen(texts[i].text));
        assert_string_equal(out.at, texts[i].message);
        buffer_clear(&out);
        escape_github_property(&out, texts[i].text, strlen(texts[i].text));
        assert_string_equal(out.at, texts[i].property);
    }
    for (size_t i = 0; i < HOSTILE_TEXTS; i++) {
        SCOPED struct buffer out = { 0 };
        escape_github(&out, hostile_texts[i].text, hostile_texts[i].len);
        assert_null(out.at ? strpbrk(out.at, "\r\n") : NULL);
    }
}

TEST(frames_keep_their_end)
{
    static const struct {
        const char *text, *folded;
    } texts[] = {
        { "a (b.py:1)", "a (b.py:1)" },
        { "\"]; n9 [label=\"", "\"]: n9 [label=\"" },
        { "\\N&lt;", "\\N&lt:" },
        { "a;b 12\nc", "a:b 12\\nc" },
        { "\x1b\xff\xe2\x80\xae", "\\x1b\\xff\\u202e" },
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        SCRATCH_BUFFER(out);
        escape_folded(&out, texts[i].text, strlen(texts[i].text));
        assert_string_equal(out.at, texts[i].folded);
    }
}

/* Whatever the bytes, a terminal gets valid UTF-8 that holds nothing hidden, and CSV stays on one line. */
TEST(any_bytes_come_out_visible)
{
    uint32_t random = 7;
    SCRATCH_BUFFER(out);
    for (int round = 0; round < 20000; round++) {
        char bytes[12];
        size_t len = 0;
        for (; len < sizeof bytes; len++) {
            random = random * 1664525 + 1013904223;
            bytes[len] = (char)(random >> 24);
        }
        buffer_clear(&out);
        escape_terminal(&out, bytes, len);
        for (size_t i = 0; i < out.count;) {
            uint32_t character;
            i += utf8_decode(out.at + i, out.count - i, &character);
            assert_true(character != UTF8_INVALID && !unicode_is_hidden(character));
            assert_true(unicode_width(character) >= 0);
        }
        buffer_clear(&out);
        escape_csv(&out, bytes, len);
        assert_null(memchr(out.at, '\n', out.count));
        assert_null(memchr(out.at, '\r', out.count));
    }
}

TEST(widths_are_those_of_a_terminal)
{
    static const struct {
        const char *text;
        size_t width;
    } cases[] = {
        { "abc", 3 },
        { "\xc3\xa9", 1 },                 /* an accented letter */
        { "e\xcc\x81", 1 },                /* a letter and its accent */
        { "\xe6\xbc\xa2\xe5\xad\x97", 4 }, /* two Chinese characters */
        { "\xf0\x9f\x98\x80", 2 },         /* a smiley */
        { "\xed\x95\x9c", 2 },             /* Hangul */
        { "\xd9\x85", 1 },                 /* Arabic */
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCRATCH_BUFFER(out);
        assert_int_equal(escape_terminal(&out, cases[i].text, strlen(cases[i].text)), cases[i].width);
        assert_string_equal(out.at, cases[i].text);
    }
}

TEST(invalid_utf8_takes_one_replacement_per_character_begun)
{
    uint32_t character;
    assert_int_equal(utf8_decode("\xf0\x9f\x98", 3, &character), 3);
    assert_true(character == UTF8_INVALID);
    assert_int_equal(utf8_decode("\xf0\x9fz", 3, &character), 2);
    assert_int_equal(utf8_decode("\xe0\x80\x80", 3, &character), 1);
    assert_int_equal(utf8_decode("\x80", 1, &character), 1);
    assert_int_equal(utf8_decode("\xf4\x8f\xbf\xbf", 4, &character), 4);
    assert_int_equal(character, 0x10ffff);
}
