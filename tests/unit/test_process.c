/* test_process.c - cli/process.h: other programs, and all the ways in which they end. */

#include "tests/unit/unit.h"
#include "cli/process.h"
#include <signal.h>
#include <time.h>

static struct process_result result;
static struct tpa_error error;

static bool run(const char *command, const char *input, size_t len, int timeout_s)
{
    const char *const argv[] = { "sh", "-c", command, NULL };
    error = (struct tpa_error){ 0 };
    return process_run(argv, input, len, timeout_s, &result, &error);
}

TEST(what_it_writes_is_taken)
{
    assert_true(run("cat; echo oh >&2; exit 3", "hello", 5, 10));
    assert_string_equal(result.output.at, "hello");
    assert_string_equal(result.errors.at, "oh\n");
    assert_int_equal(result.status, 3);
    process_release(&result);
}

/* More than a pipe holds, both ways at once: nobody may wait for the other. */
TEST(much_goes_both_ways)
{
    enum { LEN = 3000000 };
    char *input = scratch_heap(malloc(LEN));
    memset(input, 'x', LEN);
    assert_true(run("cat", input, LEN, 30));
    assert_int_equal(result.output.count, LEN);
    assert_memory_equal(result.output.at, input, LEN);
    process_release(&result);
}

/* It ends without reading: no SIGPIPE may end us. */
TEST(input_may_stay_unread)
{
    enum { LEN = 3000000 };
    char *input = scratch_heap(calloc(LEN, 1));
    signal(SIGPIPE, SIG_DFL);
    assert_true(run("exec 0<&-; echo done", input, LEN, 30));
    assert_string_equal(result.output.at, "done\n");
    assert_int_equal(result.status, 0);
    process_release(&result);
}

TEST(a_signal_is_reported_as_shells_do)
{
    assert_true(run("kill -9 $$", "", 0, 10));
    assert_int_equal(result.status, 128 + 9);
    process_release(&result);
}

TEST(what_takes_too_long_is_stopped)
{
    time_t begin = time(NULL);
    assert_false(run("exec sleep 30", "", 0, 1));
    assert_true(time(NULL) - begin < 15);
    assert_string_equal(error.message, "sh was not done after 1 s and was stopped");
    process_release(&result);
    /* Deaf, but alive: it closed all and goes on. */
    assert_false(run("exec >&- 2>&-; exec sleep 30", "", 0, 1));
    process_release(&result);
}

TEST(a_program_that_is_not_there)
{
    const char *const argv[] = { "/nowhere/to/be/found", NULL };
    error = (struct tpa_error){ 0 };
    assert_false(process_run(argv, "", 0, 1, &result, &error));
    assert_true(result.not_found);
    assert_string_equal(error.message, "cannot start /nowhere/to/be/found: No such file or directory");
    process_release(&result);
    const char *const folder[] = { "/", NULL };
    assert_false(process_run(folder, "", 0, 1, &result, &error));
    assert_false(result.not_found);
    process_release(&result);
}
