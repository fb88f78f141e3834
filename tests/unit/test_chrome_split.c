/*
 * The trace is the same whatever the size of the windows and however many threads read it; a file cut
 * anywhere gives every event before the cut; a damaged byte costs the event it stands in.
 */
#include "tests/unit/unit.h"
#include "tests/unit/trace_dump.h"

/* All of TEXT read and dumped. */
static struct buffer dump_of(const char *text, size_t len, unsigned workers, size_t window_size)
{
    struct tpa_error err = { 0 };
    struct buffer out = { 0 };
    struct trace *trace = trace_from_bytes(text, len, workers, window_size, &err);
    if (trace)
        dump_everything(&out, trace);
    else
        buffer_printf(&out, "refused: %s", err.message);
    trace_free(trace);
    return out;
}

static void expect_same(const char *what, const struct buffer *whole, const char *text, size_t len,
                        unsigned workers, size_t window_size)
{
    SCOPED struct buffer split = dump_of(text, len, workers, window_size);
    if (strcmp(whole->at, split.at) != 0) {
        size_t at = 0;
        while (whole->at[at] == split.at[at])
            at++;
        while (at > 0 && whole->at[at - 1] != '\n')
            at--;
        fail_msg("%s in windows of %zu bytes by %u threads:\n%.200s\n---- instead of\n%.200s", what,
                 window_size, workers, split.at + at, whole->at + at);
    }
}

/* A document with what makes cutting hard, some of it twice. */
static struct buffer make_hard_text(void)
{
    static const char *const events[] = {
        ("{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"aten::mm\",\"pid\":1,\"tid\":2,\"ts\":%d.125,\"dur\":5,"
         "\"args\":{\"External id\":%d,\"Input Dims\":[[8, 3],\n[]],\"x\":[{\"ph\":\"X\",\"name\":\"inner\"},{\"name\":\"n\"}]}}"),
        "{\"ph\":\"X\",\"name\":\"},{\\\"ph\\\":\\\"X\\\",\\\"ts\\\":1},\",\"pid\":\"a\\\"b\",\"tid\":\"\\\\\",\"ts\":%d,\"dur\":\"%d\"}",
        "{\"name\":\"\\\\\\\\\\\\\",\"ph\":\"B\",\"pid\":1,\"tid\":3,\"ts\":%d,\"args\":{\"device\":%d}}",
        "{\"ph\":\"E\",\"pid\":1,\"tid\":3,\"ts\":1%d,\"args\":{\"stream\":%d}}",
        "{\"ph\":\"s\",\"id\":%d,\"pid\":1,\"tid\":2,\"ts\":%d,\"cat\":\"ac2g\",\"name\":\"ac2g\"}",
        "{ \"ph\" : \"C\" , \"name\" : \"m\" ,\n\t\"pid\" : 1 , \"ts\" : %d , \"args\" : { \"a\" : %d , \"b\" : 1e3 } }",
        "{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":1,\"tid\":%d,\"args\":{\"name\":\"{[%d]}\"}}",
        "{\"ph\":\"X\",\"name\":\"quote \" in \"it\",\"pid\":1,\"tid\":2,\"ts\":%d,\"dur\":%d}",
        "{\"ph\":\"X\",\"name\":\"no time %d\",\"pid\":1,\"tid\":2,\"dur\":%d}",
        "{\"ph\":\"b\",\"cat\":\"k\",\"id\":\"%d\",\"name\":\"async\",\"pid\":1,\"tid\":2,\"ts\":%d}",
        "null /* %d %d */",
    };
    struct buffer text = { 0 };
    buffer_puts(&text,
                "\xef\xbb\xbf{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"A\\\"100]}\"}],"
                "\"n\":null,\"traceEvents\": [\n");
    for (int i = 0; i < 33; i++) {
        buffer_puts(&text, i == 0 ? "" : i % 7 ? "," : i % 2 ? " ,\n  " : "\n");
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
        buffer_printf(&text, events[i % 11], i + 10, i + 1);
#pragma GCC diagnostic pop
    }
    buffer_puts(&text, "],\"traceName\":\"/tmp/[x]\",\"distributedInfo\":{\"rank\":3,\"world_size\":8}} \n");
    return text;
}

TEST(windows_of_every_size_give_the_same_trace)
{
    SCOPED struct buffer text = make_hard_text(), whole = dump_of(text.at, text.count, 1, 0);
    assert_null(strstr(whole.at, "refused"));
    for (size_t size = 1; size <= text.count + 1; size++)
        expect_same("hard text", &whole, text.at, text.count, 1, size);
    for (size_t size = 1; size <= text.count + 1; size += 1 + size / 5) {
        expect_same("hard text", &whole, text.at, text.count, 2, size);
        expect_same("hard text", &whole, text.at, text.count, 3, size);
        expect_same("hard text", &whole, text.at, text.count, 8, size);
    }
}

TEST(real_traces_do_not_depend_on_windows)
{
    static const char *const samples[] = {
        "samples/pytorch/cnn_steps.json.gz",
        "samples/pytorch/python_gc.json.gz",
        "samples/pytorch/nested_names.json.gz",
        "samples/other/chrome.json",
        "samples/other/viztracer.json.gz",
        "samples/other/tensorflow.json.gz",
        "samples/other/jax.json.gz",
        "samples/other/unitrace.json",
        "samples/pytorch/unfinished.json.gz",
    };
    static const size_t windows[] = { 64, 1000, 4096, 65536, 300000 };
    static const unsigned workers[] = { 1, 2, 3, 8 };
    for (size_t i = 0; i < sizeof samples / sizeof *samples; i++) {
        struct tpa_error err = { 0 };
        struct source *source = source_open(samples[i], NULL, &err);
        if (!source)
            fail_msg("%s: %s", samples[i], err.message);
        size_t most = 8 << 20;
        char *text = scratch_heap(mem_alloc(most));
        int64_t len = source_read(source, text, most, &err);
        assert_in_range(len, 1, most - 1);
        source_free(source);
        SCOPED struct buffer whole = dump_of(text, (size_t)len, 1, most);
        for (size_t w = 0; w < 5; w++)
            for (size_t k = 0; k < 4; k++)
                if (windows[w] > 64 || len < 100000) /* tens of thousands of windows take a while */
                    expect_same(samples[i], &whole, text, (size_t)len, workers[k], windows[w]);
    }
}

/* Events of TRACE as a text that the events of a longer trace must begin with. */
static struct buffer events_of(const struct trace *trace)
{
    struct buffer out = { 0 };
    buffer_puts(&out, " ");
    for (event_id e = 0; e < trace->event_count; e++) {
        dump_event(&out, trace, e);
        buffer_putc(&out, ' ');
    }
    return out;
}

#define EVENT(name, ts)                                                                                      \
    "{\"ph\":\"X\",\"cat\":\"cpu_op\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts                  \
    ",\"dur\":5,\"args\":{\"External id\":7,\"Input type\":[\"float\",\"\"]}}"
#define OBJECT(middle)                                                                                       \
    "{\"traceEvents\":[" EVENT("a", "10") "," middle "," EVENT("c", "30") "," EVENT("d", "40") "],\"x\":1}"

TEST(a_cut_file_gives_every_event_before_the_cut)
{
    static const char text[] = OBJECT(EVENT("b", "20"));
    static const char *const names[] = { "a", "b", "c", "d" };
    size_t ends[4];
    for (int i = 0; i < 4; i++) {
        char name[24];
        snprintf(name, sizeof name, "\"name\":\"%s\"", names[i]);
        const char *end = strstr(strstr(text, name), "}}") + 2;
        ends[i] = (size_t)(end - text);
    }
    for (size_t cut = 1; cut < sizeof text - 1; cut++) {
        struct tpa_error err = { 0 };
        struct trace *trace = trace_from_bytes(text, cut, 1, 0, &err);
        if (cut < strlen("{\"traceEvents\":[")) { /* there is no place for events yet */
            assert_null(trace);
            continue;
        }
        assert_non_null(trace);
        size_t expected = 0;
        while (expected < 4 && ends[expected] <= cut)
            expected++;
        if (trace->event_count != expected)
            fail_msg("cut at %zu: %zu events, expected %zu", cut, trace->event_count, expected);
        bool reported = false;
        for (size_t i = 0; i < trace->notice_count; i++)
            reported |= strcmp(trace->notices[i].kind, "not_closed") == 0 ||
                        strcmp(trace->notices[i].kind, "cut_short") == 0;
        if (!reported)
            fail_msg("cut at %zu: not told", cut);
        trace_free(trace);
        SCOPED struct buffer whole = dump_of(text, cut, 1, 0);
        for (size_t size = 1; size < 256; size *= 2)
            expect_same("cut text", &whole, text, cut, 1, size);
        expect_same("cut text", &whole, text, cut, 3, 50);
    }
}

static const char damage[] = "\"\\{}[],:x0 \n\1"; /* and the NUL behind it */

/* Put every DAMAGE at every place FROM..TO of TEXT; the events in WANTED must be there each time. */
static void damage_every_byte(char *text, size_t len, size_t from, size_t to, const char *const wanted[2])
{
    int lost = 0;
    for (size_t at = from; at < to; at++) {
        char kept = text[at];
        for (size_t k = 0; k < sizeof damage; k++) {
            struct tpa_error err = { 0 };
            text[at] = damage[k];
            struct trace *trace = trace_from_bytes(text, len, 1, 0, &err);
            SCRATCH_BUFFER(events);
            if (trace)
                events = events_of(trace);
            if (!trace || !strstr(events.at, wanted[0]) || !strstr(events.at, wanted[1])) {
                print_error("%02x for %c at %zu: %s\n  in %.*s\n", (unsigned char)damage[k], kept, at - from,
                            trace ? events.at : err.message, (int)(to - from), text + from);
                lost++;
            }
            trace_free(trace);
            if (at % 3 == 0) {
                SCOPED struct buffer whole = dump_of(text, len, 1, 0);
                expect_same("damaged text", &whole, text, len, 1, 1 + at % 61);
                expect_same("damaged text", &whole, text, len, 3, 64);
            }
        }
        text[at] = kept;
    }
    assert_int_equal(lost, 0);
}

TEST(a_damaged_byte_costs_one_event)
{
    static const char before[] = "{\"traceEvents\":[" EVENT("a", "10") ",", middle[] = EVENT("b", "20");
    char text[] = OBJECT(EVENT("b", "20"));
    size_t start = sizeof before - 1;
    damage_every_byte(text, sizeof text - 1, start, start + sizeof middle - 1,
                      (const char *const[]){ " a@10000+5000 ", " c@30000+5000 d@40000+5000 " });
}

TEST(a_damaged_header_costs_no_event)
{
    static const char header[] = "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"A100\"}],"
                                 "\"distributedInfo\":{\"rank\":3},\"trace_name\":\"x\",";
    static const char rest[] =
        "\"traceEvents\":[" EVENT("a", "10") "," EVENT("c", "30") "," EVENT("d", "40") "],\"x\":1}";
    char text[sizeof header + sizeof rest];
    int len = snprintf(text, sizeof text, "%s%s", header, rest);
    damage_every_byte(text, (size_t)len, 2, sizeof header - 1,
                      (const char *const[]){ " a@10000+5000 ", " c@30000+5000 d@40000+5000 " });
}

/* ---- damaged text, cut anywhere ---- */

#define SHORT(name, ts) "{\"ph\":\"X\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts ",\"dur\":5}"
#define A SHORT("a", "10")
#define B SHORT("b", "20")
#define C SHORT("c", "30")
#define BAD "0{\"ph\": \"text\"}\",\n0-1"
#define X50 "xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx"
#define ESCAPES "\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\\"
#define NULS "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define BLANKS "                                        "
#define OPEN "{\"traceEvents\": ["
#define ROW(literal, ends)                                                                                   \
    {                                                                                                        \
        literal, sizeof(literal) - 1, ends                                                                   \
    }

/* Where the text of a row ends, the document does, too, if ENDS. */
static const struct {
    const char *text;
    size_t len;
    bool ends;
} damaged[] = {
    ROW(OPEN BAD "]}", true),
    ROW(OPEN BAD "]}" NULS, true),
    ROW(OPEN BAD " ] } \n" NULS "\n", true),
    ROW(OPEN BAD "]}" BLANKS BLANKS "\n", true),
    ROW(OPEN BAD "]}" NULS BAD "]}" NULS, true),
    ROW(OPEN BAD "]\0}", false),
    ROW(OPEN BAD "]}}" NULS, false),
    ROW(OPEN BAD BLANKS, false),
    ROW(OPEN BAD NULS, false),
    ROW(OPEN A "," BAD "]}" NULS, true),
    ROW(OPEN A "," BAD "," C "]}" NULS, true),
    ROW(OPEN A "," B "," BAD "],\"x\":\"y\"}", false),
    ROW(OPEN A "," BAD "]}\n" OPEN B "]}" NULS, true),
    ROW("[" A "," BAD "]" NULS, true),
    ROW("[" A "," BAD "," C "\n", true), /* an array alone needs no bracket */
    ROW("[" BAD "]" BLANKS NULS, true),
    ROW(OPEN A "\"," B "," C "]}" NULS, true),
    ROW(OPEN A ",\"" B "," C "]}", true),
    ROW(OPEN A "," X50 X50 B "]}", true),
    ROW(OPEN A "," X50 ":" BLANKS BLANKS B "," C "]}" NULS, true),
    ROW(OPEN A ",:{\"ph\":\"X\",\"name\":\"v\"}," C "]}", true),
    ROW(OPEN A "," ESCAPES "\"," C "]}" NULS, true),
    ROW(OPEN A ",{\"ph\":\"X\",\"name\":" B "]}", true),
    ROW(OPEN A "}}}}]]]}}}" B "]}", true),
    ROW(OPEN A ",1,2,\"s\",[1,2],[{\"ph\":1}]," B "],\"x\":1}" NULS, true),
    ROW(OPEN A ",[1,2,\"3," B "]}", true),
    ROW(OPEN A "],\"x\":1}} garbage " OPEN B "]}" NULS, true),
    ROW(OPEN A "], stray, \"y\": \"1\" 2, \"z\": 3}" NULS, true),
    ROW(OPEN A ",0,\"x\"],\"b\":\"c\",\"d\"1,{}]}" NULS, true),
    ROW("{\"x\": \"a\" b\", \"traceEvents\": [" A "," B "," BAD "]}" NULS, true),
    ROW("{\"x\": [1,2}, \"traceEvents\": [" A "," B "]}" NULS, true),
    ROW(A "\n" B "\n\"\n" C "\n", true),
    ROW(OPEN A "," B ",{\"ph\":\"X\",\"na", false),
};

TEST(damaged_text_counts_the_same_wherever_it_is_cut)
{
    for (size_t i = 0; i < sizeof damaged / sizeof *damaged; i++) {
        SCOPED struct buffer whole = dump_of(damaged[i].text, damaged[i].len, 1, 0);
        bool lacks_end = strstr(whole.at, "notice not_closed") || strstr(whole.at, "notice cut_short");
        if (lacks_end == damaged[i].ends)
            fail_msg("%s: the end is %s:\n%s", damaged[i].text, lacks_end ? "missed" : "found", whole.at);
        for (size_t size = 16; size <= 200; size++)
            for (unsigned workers = 1; workers <= 3; workers += 2)
                expect_same(damaged[i].text, &whole, damaged[i].text, damaged[i].len, workers, size);
    }
}
