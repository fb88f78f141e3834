/* test_json_check.c - ingest/json_text.h and cli/convert/json_value.h: what is JSON, and how it is written again. */
#include "tests/unit/unit.h"
#include "ingest/json_text.h"

#include "cli/convert/parts.h"

TEST(values_are_values)
{
    static const char *const good[] = {
        "0",
        "-0",
        "12",
        "1.5",
        "-1.25e+10",
        "1E9",
        "1e-07",
        "true",
        "false",
        "null",
        "\"\"",
        "\"a\\n\\u00e9\\\"\\/\"",
        "\"\xff\x7f\"",
        "[]",
        "{}",
        "[[],[]]",
        "[1,[2,{\"a\":[]}],{}]",
        "{\"a\":1,\"b\":{\"a\":2}}",
        " \t\r\n[ 1 , { \"a\" : [ ] } ] \n",
    };
    for (size_t i = 0; i < sizeof good / sizeof *good; i++)
        if (!json_is_value(good[i], strlen(good[i])))
            fail_msg("not taken: %s", good[i]);
}

TEST(nothing_else_is_a_value)
{
    static const char *const bad[] = {
        "",
        " ",
        "01",
        "-",
        "+1",
        "1.",
        ".5",
        "1e",
        "1e+",
        "0x1",
        "1 2",
        "NaN",
        "Infinity",
        "nul",
        "nulll",
        "True",
        "\"",
        "\"a",
        "\"\\",
        "\"\\x\"",
        "\"\\u12g4\"",
        "\"\\u12",
        "\"\n\"",
        "\"\x1b\"",
        "'a'",
        "[",
        "]",
        "[1",
        "[1,",
        "[1,]",
        "[,1]",
        "[1 2]",
        "[1}",
        "{]",
        "{1:2}",
        "{\"a\"}",
        "{\"a\":}",
        "{\"a\":1,}",
        "{\"a\":1,2}",
        "{,}",
        "[]]",
        "[][]",
        "[]\x1b",
        "{\"a\" 1}",
        "[1]//",
        "\xef\xbb\xbf[]",
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        if (json_is_value(bad[i], strlen(bad[i])))
            fail_msg("taken: %s", bad[i]);
    assert_false(json_is_value("[1\0]", 4));
    assert_false(json_is_value("\"a\0\"", 4));
    /* No byte behind the end is looked at. */
    static const char text[] = "[true,\"\\u0041\",-1.5e3,{\"a\":null}]";
    for (size_t len = 0; len < sizeof text - 1; len++) {
        char *cut = scratch_heap(mem_alloc(len ? len : 1));
        memcpy(cut, text, len);
        assert_false(json_is_value(cut, len));
    }
}

TEST(depth_has_an_end)
{
    char deep[2 * 1025];
    memset(deep, '[', 1025);
    memset(deep + 1025, ']', 1025);
    assert_false(json_is_value(deep, sizeof deep));
    assert_true(json_is_value(deep + 1, sizeof deep - 2));
}

static void put_becomes(const char *text, const char *expected, bool plain)
{
    SCRATCH_BUFFER(out);
    json_value_append(&out, text, strlen(text));
    assert_string_equal(out.at, expected);
    assert_int_equal(json_value_is_plain(text, strlen(text)), plain);
    assert_true(json_is_value(out.at, out.count));
}

TEST(what_is_no_json_becomes_a_string)
{
    put_becomes("[[8,3],[]]", "[[8,3],[]]", true);
    put_becomes("[\"a\\\\\",\"\\\"\",\"\"]", "[\"a\\\\\",\"\\\"\",\"\"]", true);
    put_becomes("[\"\xc3\xa9\",1]", "[\"\xc3\xa9\",1]", false);
    put_becomes("{\"\xe2\x80\xae\":\"\xff\"}", "{\"\\u202e\":\"\xef\xbf\xbd\"}", false);
    put_becomes("[1,\x1b[31m]", "\"[1,\\u001b[31m]\"", false);
    put_becomes("1}},{\"ph\":\"X\"", "\"1}},{\\\"ph\\\":\\\"X\\\"\"", false);
    put_becomes("NaN", "\"NaN\"", false);
    put_becomes("", "\"\"", false);
}
