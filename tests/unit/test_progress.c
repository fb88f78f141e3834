
#include "tests/unit/unit.h"
#include "base/progress.h"

#define SECOND INT64_C(1000000000)

static void assert_line(const char *what, int64_t done, int64_t total, int64_t elapsed_ns,
                        const char *expected)
{
    SCRATCH_BUFFER(line);
    progress_line(&line, what, done, total, elapsed_ns);
    assert_string_equal(line.at, expected);
}

TEST(a_line_tells_share_speed_and_time_left)
{
    /* 300 MB in 2 s are 150 MB/s; the other 900 MB take 6 s. */
    assert_line("a.json", 300000000, 1200000000, 2 * SECOND, "a.json  25%  150 MB/s  0:06 left");
    assert_line("a.json", 100000000, 20000000000, 1 * SECOND, "a.json  0%  100 MB/s  3:19 left");
    assert_line("pipe", 300000000, -1, 2 * SECOND, "pipe  150 MB/s"); /* size not known */
    assert_line("a.json", 0, 100, 2 * SECOND, "a.json  0%");
    assert_line("grows", 200000000, 100000000, 1 * SECOND, "grows  100%  200 MB/s");
}

TEST(names_are_cut_in_front_and_harmless)
{
    assert_line("\x1b[2J\xc2\x9b.json", 0, -1, 0, "\\x1b[2J\\u009b.json");
    assert_line("/a/very/long/path/that/goes/on/and/on/rank0.pt.trace.json.gz", 0, -1, 0,
                "...at/goes/on/and/on/rank0.pt.trace.json.gz");
}

TEST(nothing_is_shown_where_there_is_no_terminal)
{
    FILE *out = tmpfile();
    assert_non_null(out);
    struct progress progress = progress_begin(out);
    assert_null(progress.out);
    progress_print(&progress, "a.json", 1, 2);
    progress_end(&progress);
    assert_int_equal(ftell(out), 0);
    fclose(out);
}
