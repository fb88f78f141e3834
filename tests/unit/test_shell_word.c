/* test_shell_word.c - base/shell_word.h: words of commands to paste. */

#include "tests/unit/unit.h"
#include "base/shell_word.h"

static void assert_word(const char *text, size_t len, const char *word)
{
    SCRATCH_BUFFER(out);
    shell_word_append(&out, text, len);
    assert_string_equal(out.at, word);
}

TEST(words_are_quoted_only_where_needed)
{
    assert_word("runs/rank_0.json.gz", 19, "runs/rank_0.json.gz");
    assert_word("", 0, "''");
    assert_word("my trace.json", 13, "'my trace.json'");
    assert_word("$(reboot)", 9, "'$(reboot)'");
    assert_word("it's", 4, "'it'\\''s'");
    assert_word("~root", 5, "'~root'");
    assert_word("a;b", 3, "'a;b'");
}

TEST(controls_do_not_reach_the_terminal)
{
    assert_word("a\033[2Jb", 6, "$'a\\033[2Jb'");
    assert_word("line\n'2\\", 8, "$'line\\012\\'2\\\\'");
    assert_word("\xff", 1, "$'\\377'");
    assert_word("\xe2\x80\xae"
                "1",
                4, "$'\\342\\200\\2561'"); /* right-to-left override */
}
