/* test_json_index.c - ingest/json_index.h against a reader that looks at one byte after the other. */
#include "tests/unit/unit.h"
#include "ingest/json_index.h"

/* The same positions, by the definition. */
static size_t index_slowly(const char *text, size_t len, uint32_t *out)
{
    size_t count = 0;
    bool in_string = false;
    for (size_t i = 0; i < len; i++) {
        char c = text[i];
        if (c == '\\') {
            i++; /* whatever follows is no quote; outside of strings a backslash is damage anyway */
        } else if (c == '"') {
            out[count++] = (uint32_t)i;
            in_string = !in_string;
        } else if (!in_string && (c == '{' || c == '}' || c == '[' || c == ']')) {
            out[count++] = (uint32_t)i;
        }
    }
    return count;
}

static void check(const char *bytes, size_t len)
{
    char *text = scratch_heap(calloc(1, len + JSON_PADDING));
    memcpy(text, bytes, len);
    SCOPED uint32_t *expected = malloc((len + 1) * sizeof *expected);
    size_t count = index_slowly(text, len, expected);
    struct json_index index = { 0 };
    json_index_start(&index, text, len, 0);
    while (json_index_more(&index))
        ;
    assert_int_equal(index.count, count);
    for (size_t i = 0; i < count; i++)
        if (index.at[i] != expected[i])
            /* Brackets after a backslash outside of a string: only quotes can be escaped in the index. */
            fail_msg("position %zu: %u, not %u", i, index.at[i], expected[i]);
    for (size_t i = 0; i < JSON_SENTINELS; i++)
        assert_int_equal(index.at[count + i], len);
    json_index_release(&index);
}

TEST(a_short_text_is_indexed)
{
    check("", 0);
    check("{\"a\":[1,{\"b\":\"c\"}]}", 19);
    check("\"brackets in {a} [string]\"", 26);
    check("\"an \\\" escaped quote\"", 21);
    check("\"a backslash \\\\\"", 16);
}

/* Runs of 0..70 backslashes at every place in a block, so that they cross from one to the next. */
TEST(runs_of_backslashes_cross_blocks)
{
    char text[400];
    for (size_t at = 0; at < 70; at++) {
        for (size_t run = 0; run <= 70; run++) {
            size_t len = 0;
            text[len++] = '"';
            memset(text + len, 'x', at), len += at;
            memset(text + len, '\\', run), len += run;
            memcpy(text + len, "\"}\"{[", 5), len += 5;
            check(text, len);
        }
    }
}

TEST(random_texts_agree)
{
    /* No backslash stands before a bracket outside of a string here: see check(). */
    static const char alphabet[] = "\"\"{}[]:, ab\n\x80\xff";
    uint32_t seed = 12345;
    char text[1000];
    for (int round = 0; round < 2000; round++) {
        seed = seed * 1664525 + 1013904223;
        size_t len = (seed >> 8) % sizeof text;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525 + 1013904223;
            text[i] = alphabet[(seed >> 16) % (sizeof alphabet - 1)];
        }
        check(text, len);
    }
}

/* Beginning in the middle gives the same positions as indexing that part alone. */
TEST(indexing_can_begin_anywhere)
{
    char text[200 + JSON_PADDING] = "{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}";
    size_t len = strlen(text);
    struct json_index index = { 0 };
    json_index_start(&index, text, len, 13);
    while (json_index_more(&index))
        ;
    assert_int_equal(index.at[0], 13);
    assert_int_equal(index.at[1], 14);
    json_index_drop(&index, 1);
    assert_int_equal(index.at[0], 14);
    assert_int_equal(index.at[index.count], len);
    json_index_release(&index);
}
