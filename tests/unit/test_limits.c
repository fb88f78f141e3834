/*
 * test_limits.c - what a trace holds at most: with the ceiling lowered, what has as much is read, and what has one more
 * is refused with a sentence. docs/limits.md has the real ceiling.
 */
#include "tests/unit/scratch.h"
#include "ingest/formats.h"
#include "trace/tpafile_save.h"

#include <unistd.h>

enum { CEILING = 1000 };

static const struct trace_wants all_wants = { .args = ~UINT64_C(0), .flows = true, .counters = true };

/* TEXT as the content of a file, read by WORKERS in windows small enough that there are many; NULL and ERR. */
static struct trace *read_text(const struct buffer *text, unsigned workers, struct tpa_error *err)
{
    char path[] = "/tmp/tpa-test-limits-XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, text->at, text->count), (ssize_t)text->count);
    close(fd);
    const char *paths[] = { path };
    struct ingest_options options = { .wants = all_wants, .workers = workers, .window_size = 4096 };
    struct trace *trace = scratch_trace(ingest_read(paths, 1, &options, err));
    unlink(path);
    return trace;
}

/* What is written COUNT times, with %d in it for a number of its own. One event stands before, so that it is a trace. */
static struct buffer repeat(const char *format, int count)
{
    struct buffer text = { 0 };
    buffer_puts(
        &text,
        "{\"traceEvents\": [{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":1,\"dur\":1}");
    for (int i = 0; i < count; i++) {
        buffer_puts(&text, ",\n");
        for (const char *p = format; *p; p++) {
            if (p[0] == '%' && p[1] == 'd')
                buffer_printf(&text, "%d", 100000 + i), p++;
            else
                buffer_putc(&text, *p);
        }
    }
    buffer_puts(&text, "\n]}");
    return text;
}

/* COUNT times FORMAT is the most that is read; one more is "more than 1000 WHAT". */
static void check_ceiling(const char *format, int count, const char *what)
{
    trace_ceiling = CEILING;
    for (unsigned workers = 1; workers <= 4; workers += 3) {
        for (int more = 0; more <= 1; more++) {
            struct tpa_error err = { 0 };
            struct buffer text = repeat(format, count + more);
            struct trace *trace = read_text(&text, workers, &err);
            char said[128];
            snprintf(said, sizeof said, "more than %d %s, which is the most that one trace can hold", CEILING,
                     what);
            if (more) {
                assert_null(trace);
                assert_string_equal(err.message, said);
                assert_non_null(strstr(err.hint, "fewer files"));
                assert_non_null(strstr(err.file, "tpa-test-limits"));
            } else {
                assert_non_null(trace);
                assert_false(err.failed);
            }
            buffer_release(&text);
        }
    }
    trace_ceiling = 4000000000;
}

TEST(events_end_at_the_ceiling)
{
    check_ceiling("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1}",
                  CEILING - 1, "events");
}

TEST(ends_end_at_the_ceiling)
{
    check_ceiling("{\"ph\":\"E\",\"pid\":1,\"tid\":1,\"ts\":%d}", CEILING, "ends of events");
}

/* Two texts an event; "cpu_op" is one, too. */
TEST(texts_end_at_the_ceiling)
{
    check_ceiling("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,"
                  "\"args\":{\"Call stack\":\"a%d\",\"Module Hierarchy\":\"b%d\",\"dtype\":\"c%d\"}}",
                  (CEILING - 1) / 3, "different texts");
}

/* Threads that have a name and no events. */
TEST(tracks_end_at_the_ceiling)
{
    check_ceiling(
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"worker\"}}",
        CEILING - 1, "threads and streams");
}

static bool collect(void *context, const void *bytes, size_t size)
{
    buffer_add(context, bytes, size);
    return true;
}

/* The columns of a .tpa file go another way. */
TEST(a_tpa_file_ends_at_the_ceiling)
{
    struct tpa_error err = { 0 };
    struct buffer
        text = repeat(
            "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"op%d\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1}",
            CEILING),
        bytes = { 0 };
    struct trace *trace = read_text(&text, 1, &err);
    assert_non_null(trace);
    assert_true(tpafile_save(
        trace, &(struct tpafile_save_options){ .sink = collect, .context = &bytes, .block_events = 100 },
        NULL));
    trace_ceiling = CEILING + 1;
    trace = read_text(&bytes, 1, &err);
    assert_non_null(trace);
    trace_ceiling = CEILING;
    assert_null(read_text(&bytes, 1, &err));
    assert_non_null(strstr(err.message, "more than 1000 "));
    trace_ceiling = 4000000000;
    buffer_release(&text);
    buffer_release(&bytes);
}

static size_t count_notices(const struct trace *trace, const char *kind)
{
    size_t count = 0;
    for (size_t i = 0; i < trace->notice_count; i++)
        count += strcmp(trace->notices[i].kind, kind) == 0;
    return count;
}

/* Categories beyond 65000 become one without a name, the same ones for any number of workers, and that is reported. */
TEST(categories_beyond_their_number_share_one)
{
    for (int more = 0; more <= 1; more++) {
        SCOPED struct buffer text =
            repeat("{\"ph\":\"X\",\"cat\":\"c%d\",\"name\":\"op\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1}",
                   TRACE_MAX_CATEGORIES - 1 + more);
        for (unsigned workers = 1; workers <= 4; workers += 3) {
            struct trace *trace = read_text(&text, workers, NULL);
            assert_non_null(trace);
            assert_int_equal(trace->event_count, TRACE_MAX_CATEGORIES + more);
            assert_int_equal(trace->category_count, TRACE_MAX_CATEGORIES + more); /* the one without a name */
            assert_int_equal(count_notices(trace, "many_categories"), more);
            const struct trace_category *last = &trace->categories[trace->category[trace->event_count - 1]];
            assert_string_equal(names_text(trace->texts, last->text), more ? "" : "c164998");
        }
    }
}

/* More names than a worker remembers (64 MiB): each is the trace's once, as if it had remembered them. */
TEST(names_that_workers_forget_stay_the_same)
{
    enum { LENGTH = 1 << 20, NAMES = 70, EVENTS = 2 * NAMES };
    SCRATCH_BUFFER(text);
    buffer_puts(&text, "[");
    for (int i = 0; i < EVENTS; i++) {
        buffer_printf(
            &text, "%s{\"ph\":\"X\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":1,\"ts\":%d,\"dur\":1,\"name\":\"%d",
            i ? ",\n" : "", i, i % NAMES);
        buffer_pad(&text, 'n', LENGTH);
        buffer_puts(&text, "\"}");
    }
    buffer_puts(&text, "]");
    struct trace *trace = read_text(&text, 1, NULL);
    assert_non_null(trace);
    assert_int_equal(trace->event_count, EVENTS);
    assert_int_equal(names_count(trace->names), NAMES);
    for (int i = 0; i < EVENTS; i++)
        assert_int_equal(trace->name[i], i % NAMES);
}
