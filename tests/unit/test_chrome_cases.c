/*
 * What becomes of every shape of Chrome JSON that is met in the wild, row by row.
 *
 * A row is bytes in, events and notices out. In the input the byte \1 marks a place and is left out;
 * a notice is written kind:count@mark, where mark 1 is the place of the first \1. A notice without
 * @ names no place. Each row is read in windows of every size and must come out the same.
 */
#include "tests/unit/scratch.h"
#include "tests/unit/trace_dump.h"

struct row {
    const char *what;
    const char *in;
    size_t len;
    const char *events;
    const char *notices;
};

/* A string literal and its length, which counts NULs inside. */
#define BYTES(literal) literal, sizeof(literal) - 1

/* An event with everything an event needs; MORE goes behind its fields. */
#define X(name, ts, dur, more)                                                                               \
    "{\"ph\":\"X\",\"name\":\"" name "\",\"cat\":\"cpu_op\",\"pid\":1,\"tid\":2,\"ts\":" ts                  \
    ",\"dur\":" dur more "}"
#define A X("a", "10", "5", "")
#define B X("b", "20", "5", "")
#define C X("c", "30", "5", "")
#define ABC "a@10000+5000 b@20000+5000 c@30000+5000"
#define AC "a@10000+5000 c@30000+5000"
#define AB "a@10000+5000 b@20000+5000"
/* EVENT between two good ones. */
#define AMID(event) "[" A "," event "," C "]"

/* As many as are taken for damage. */
#define NULS "\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0"
#define NULS_OUT "\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00\\x00"
#define ONES "\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff\xff"

/* ---- comparing ------------------------------------------------------------------------------- */

struct input {
    char *text;
    size_t len;
    size_t marks[8];
    size_t mark_count;
};

static struct input strip_marks(const char *in, size_t len)
{
    struct input input = { .text = mem_alloc(len + 1) };
    for (size_t i = 0; i < len; i++)
        if (in[i] == '\1')
            input.marks[input.mark_count++] = input.len;
        else
            input.text[input.len++] = in[i];
    return input;
}

static void dump_notices(struct buffer *out, const struct trace *trace, const struct input *input)
{
    for (size_t i = 0; i < trace->notice_count; i++) {
        const struct trace_notice *notice = &trace->notices[i];
        buffer_printf(out, "%s%s:%" PRIu64, i ? " " : "", notice->kind, notice->count);
        if (notice->offset == TPA_NOWHERE)
            continue;
        size_t mark = 0;
        while (mark < input->mark_count && (int64_t)input->marks[mark] != notice->offset)
            mark++;
        if (mark < input->mark_count)
            buffer_printf(out, "@%zu", mark + 1);
        else
            buffer_printf(out, "@byte %" PRId64, notice->offset);
    }
}

static void dump_events(struct buffer *out, const struct trace *trace)
{
    for (event_id e = 0; e < trace->event_count; e++) {
        if (e)
            buffer_putc(out, ' ');
        dump_event(out, trace, e);
    }
}

/* The events in TRACE with their tracks. */
static void dump_tracks(struct buffer *out, const struct trace *trace)
{
    for (event_id e = 0; e < trace->event_count; e++) {
        buffer_printf(out, "%s%s ", e ? ", " : "", trace_name(trace, e));
        dump_track(out, trace, trace->track[e]);
    }
}

/* Read IN in windows of WINDOW_SIZE. */
static struct trace *read_row(const char *what, const struct input *input, unsigned workers,
                              size_t window_size)
{
    struct tpa_error err = { 0 };
    struct trace *trace = trace_from_bytes(input->text, input->len, workers, window_size, &err);
    if (!trace)
        fail_msg("%s: %s", what, err.message);
    return trace;
}

static bool differs(const char *what, const char *of, const char *got, const char *expected)
{
    if (!got)
        got = "";
    if (strcmp(got, expected) == 0)
        return false;
    print_error("%s: %s\n   expected: %s\n        got: %s\n", what, of, expected, got);
    return true;
}

/* The same trace whatever the size of the windows and however many threads. */
static bool windows_matter(const char *what, const struct input *input, const struct trace *trace)
{
    bool bad = false;
    SCOPED struct buffer whole = { 0 }, split = { 0 };
    dump_everything(&whole, trace);
    for (size_t size = 1; size <= input->len + 1 && !bad; size += size < 600 ? 1 : 4999) {
        for (unsigned workers = 1; workers <= 3 && !bad; workers += 2) {
            if (workers > 1 && size % 16 != 1)
                continue;
            struct trace *again = read_row(what, input, workers, size);
            buffer_clear(&split);
            dump_everything(&split, again);
            char of[64];
            snprintf(of, sizeof of, "in windows of %zu bytes by %u threads", size, workers);
            bad = differs(what, of, split.at, whole.at);
            trace_free(again);
        }
    }
    return bad;
}

static void run_rows(const struct row *rows, size_t count)
{
    int bad = 0;
    for (size_t i = 0; i < count; i++) {
        struct input input = strip_marks(rows[i].in, rows[i].len);
        struct trace *trace = read_row(rows[i].what, &input, 1, 0);
        SCOPED struct buffer events = { 0 }, notices = { 0 };
        dump_events(&events, trace);
        dump_notices(&notices, trace, &input);
        bad += differs(rows[i].what, "events", events.at, rows[i].events);
        bad += differs(rows[i].what, "notices", notices.at, rows[i].notices);
        bad += windows_matter(rows[i].what, &input, trace);
        trace_free(trace);
        free(input.text);
    }
    if (bad)
        fail_msg("%d expectations were not met", bad);
}

#define RUN(rows) run_rows(rows, sizeof(rows) / sizeof *(rows))

/* clang-format off */

/* ---- 1. what surrounds the events ------------------------------------------------------------- */

TEST(containers)
{
    static const struct row rows[] = {
        { "array", BYTES("[" A "," B "]"), AB, "" },
        { "object", BYTES("{\"traceEvents\":[" A "," B "]}"), AB, "" },
        { "object with other keys before and after", BYTES(
            "{\"schemaVersion\":1,\"deviceProperties\":[{\"id\":0,\"name\":\"[}\\\"\"}],\"x\":{\"y\":[[],{}]},"
            "\"traceEvents\":[" A "," B "],\"stackFrames\":{\"1\":{\"name\":\"main]}\"}},\"s\":\"]}\",\"n\":null,\"t\":true}"),
          AB, "" },
        { "blanks everywhere", BYTES(" \t\r\n{ \"traceEvents\" : [ \r\n" A " ,\r\n\t" B "\r\n] } \n"), AB, "" },
        { "byte order mark before an array", BYTES("\xef\xbb\xbf[" A "," B "]"), AB, "" },
        { "byte order mark before an object", BYTES("\xef\xbb\xbf{\"traceEvents\":[" A "," B "]}"), AB, "" },
        { "empty array", BYTES("[]"), "", "" },
        { "array of an empty object", BYTES("[{}]"), "", "" },
        { "object without events", BYTES("{\"traceEvents\":[]}"), "", "" },
        { "last element {}, as JAX writes it", BYTES("{\"traceEvents\":[" A "," B ",{}]}"), AB, "" },
        { "traceEvents twice", BYTES("{\"traceEvents\":[" A "],\"x\":1,\"traceEvents\":[" B "]}"), AB, "" },
        { "displayTimeUnit does not scale", BYTES("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[" A "," B "]}"), AB, "" },
        { "displayTimeUnit is no string", BYTES("{\"displayTimeUnit\":7,\"traceEvents\":[" A "," B "]}"), AB, "" },
        { "top-level NaN", BYTES("{\"x\":NaN,\"y\":-Infinity,\"traceEvents\":[" A "," B "]}"), AB, "" },
    };
    RUN(rows);
}

TEST(ends_and_seams)
{
    static const struct row rows[] = {
        { "array without ]", BYTES("[" A "," B), AB, "" },
        { "array without ], with a comma", BYTES("[" A "," B ",\n"), AB, "" },
        { "array cut in an event", BYTES("[" A "," B ",\1{\"ph\":\"X\",\"na"), AB, "cut_short:1@1" },
        { "array cut behind a backslash", BYTES("[" A "," B ",\1{\"ph\":\"X\",\"name\":\"x\\"), AB, "cut_short:1@1" },
        { "object without }", BYTES("{\"traceEvents\":[" A "," B "]\1"), AB, "not_closed:1@1" },
        { "object without ]}", BYTES("{\"traceEvents\":[" A "," B "\1"), AB, "not_closed:1@1" },
        { "object cut in an event", BYTES("{\"traceEvents\":[" A "," B ",\1{\"ph\":\"X\",\"args\":{\"x\":[1,\1"),
          AB, "cut_short:1@1" },
        { "object cut in a key behind the events", BYTES("{\"traceEvents\":[" A "," B "],\"tra\1"), AB, "not_closed:1@1" },
        { "trailing comma", BYTES("[" A "," B ",]"), AB, "" },
        { "trailing comma in an object", BYTES("{\"traceEvents\":[" A "," B ",],}"), AB, "" },
        { "comma missing between events", BYTES("[" A B " " C "]"), ABC, "" },
        { "two commas", BYTES("[" A ",," B ", ,\n," C "]"), ABC, "" },
        { "leading comma", BYTES("[," A "," B "]"), AB, "" },
        { "newlines behind the end", BYTES("[" A "," B "]\n\n"), AB, "" },
        { "NULs behind the end", BYTES("[" A "," B "]\0\0\0"), AB, "" },
        { "many NULs behind the end", BYTES("[" A "," B "]" NULS NULS), AB, "" },
        { "garbage behind the end", BYTES("{\"traceEvents\":[" A "," B "]} \1garbage"), AB, "garbage:1@1" },
        { "two arrays", BYTES("[" A "]\1[" B "]"), AB, "several_documents:1@1" },
        { "two objects", BYTES("{\"traceEvents\":[" A "]}\n\1{\"traceEvents\":[" B "]}"), AB, "several_documents:1@1" },
        { "one event a line", BYTES(A "\n" B "\n" C "\n"), ABC, "" },
        { "one event a line, the last one cut", BYTES(A "\n" B "\n\1{\"ph\":\"X\","), AB, "cut_short:1@1" },
        { "only a bracket", BYTES("["), "", "" },
    };
    RUN(rows);
}

/* JSON that has no place for events is no trace, however it is cut. */
TEST(no_events_is_refused)
{
    static const struct {
        const char *text, *what;
    } rows[] = {
        { "{}", "JSON without trace events" },
        { "{", "JSON without trace events" },
        { "{\"traceEvents\":null}", "JSON without trace events" },
        { "{\"traceEvents\":{\"a\":[1,2]}}", "JSON without trace events" },
        { "{\"traceEvents\":\"a\"}", "is not a list" },
        { "{\"name\":\"x\",\"dependencies\":{\"a\":\"1\"}}", "package.json" },
        { "{\"nbformat\":4,\"cells\":[]}", "Jupyter notebook" },
        { "{\"log\":{\"version\":\"1.2\",\"creator\":{}}}", "HTTP archive" },
        { "{\"level\":\"info\",\"msg\":\"a\"}\n{\"level\":\"info\",\"msg\":\"b\"}\n", "JSON lines" },
        { "[{\"a\":1},{\"a\":2}]", "JSON without trace events" },
        { "{\"step\":1,\"loss\":2}", "begins with the key \"step\"" },
    };
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
        for (unsigned workers = 1; workers <= 3; workers += 2)
            for (size_t window_size = 0; window_size < 9; window_size += 4) {
                struct tpa_error err = { 0 };
                struct trace *trace =
                    trace_from_bytes(rows[i].text, strlen(rows[i].text), workers, window_size, &err);
                if (trace || !strstr(err.message, rows[i].what))
                    fail_msg("%s: %s", rows[i].text, trace ? "was taken for a trace" : err.message);
            }
}

TEST(strangers_among_events)
{
    static const struct row rows[] = {
        { "numbers, words, strings", BYTES("[" A ",\1" "1,null,\"x\"," C "]"), AC, "garbage:1@1" },
        { "nested array", BYTES(AMID("\1[1,[2],{}]")), AC, "not_event:1@1" },
        { "comment", BYTES("[" A ",\1// hello\n" C "]"), AC, "garbage:1@1" },
        { "an object that is no event", BYTES(AMID("\1{\"a\":1}")), AC, "bad_event:1@1" },
        { "trailing comma in an event", BYTES("[{\"ph\":\"X\",\"name\":\"a\",\"ts\":10,\"dur\":5,}," C "]"), AC, "" },
        { "fields nobody knows", BYTES(
            AMID("{\"sf\":7,\"stack\":[\"0x1\",{\"}\":\"]\"}],\"ph\":\"X\",\"caller_lineno\":3,\"name\":\"b\",\"ts\":20,\"dur\":5}")),
          ABC, "" },
        { "a key twice: the last one counts", BYTES(AMID(X("x", "1", "1", ",\"name\":\"b\",\"dur\":5,\"ts\":20"))), ABC, "" },
        { "a key with escapes", BYTES(AMID("{\"ph\":\"X\",\"n\\u0061me\":\"b\",\"t\\u0073\":20,\"dur\":5}")), ABC, "" },
        { "a phase with escapes", BYTES(AMID("{\"ph\":\"\\u0058\",\"name\":\"b\",\"ts\":20,\"dur\":5}")), ABC, "" },
        { "missing colon", BYTES(AMID("\1{\"ph\":\"X\",\"name\" \"b\",\"ts\":20,\"dur\":5}")), "a@10000+5000 [no name]@20000+5000 c@30000+5000", "mended_event:1@1" },
        { "missing value", BYTES(AMID("\1{\"ph\":\"X\",\"name\":,\"ts\":20,\"dur\":5}")), AC, "bad_event:1@1" },
        { "closed by the wrong bracket", BYTES(AMID("\1{\"ph\":\"X\",\"name\":\"b\",\"ts\":20,\"dur\":5]")), ABC, "lost_args:1@1" },
        { "not closed", BYTES(AMID("\1{\"ph\":\"X\",\"name\":\"b\",\"ts\":20,\"dur\":5")), ABC, "lost_args:1@1" },
        { "the last one not closed", BYTES("[" A "," B ",\1{\"ph\":\"X\",\"name\":\"c\",\"ts\":30,\"dur\":5]"), ABC, "lost_args:1@1" },
        { "cut in a number", BYTES("[" A "," B ",\1{\"ph\":\"X\",\"name\":\"c\",\"ts\":30,\"dur\":5"), AB, "cut_short:1@1" },
        { "cut in the middle, and another written behind", BYTES("[" A ",\1{\"ph\":\"X\",\"na," B "," C "]"), ABC, "mended_event:1@1" },
        { "a stray bracket between events", BYTES("[" A ",\1}," C "]"), AC, "missing_bracket:1@1" },
    };
    RUN(rows);
}

/* ---- 2. strings --------------------------------------------------------------------------------- */

#define NAMED(name) AMID(X(name, "20", "5", ""))
#define NAMED_OUT(name) "a@10000+5000 " name "@20000+5000 c@30000+5000"

TEST(strings)
{
    static const struct row rows[] = {
        { "escapes", BYTES(NAMED("\\\"\\\\\\/\\b\\f\\n\\r\\t")), NAMED_OUT("\"\\/\\x08\\x0c\\x0a\\x0d\\x09"), "" },
        { "\\u", BYTES(NAMED("\\u00e9\\u20AC")), NAMED_OUT("\xc3\xa9\xe2\x82\xac"), "" },
        { "a pair of surrogates", BYTES(NAMED("\\uD83D\\uDE00")), NAMED_OUT("\xf0\x9f\x98\x80"), "" },
        { "a lone high surrogate", BYTES(NAMED("x\\uD83Dy")), NAMED_OUT("x\xef\xbf\xbdy"), "" },
        { "a lone low surrogate", BYTES(NAMED("x\\uDE00")), NAMED_OUT("x\xef\xbf\xbd"), "" },
        { "\\u0000", BYTES(NAMED("x\\u0000y")), NAMED_OUT("x\xef\xbf\xbdy"), "" },
        { "raw control characters", BYTES(NAMED("x\ny\2\x1b[31m")), NAMED_OUT("x\\x0ay\\x02\\x1b[31m"), "" },
        { "raw NUL", BYTES(NAMED("x\0y")), NAMED_OUT("x\\x00y"), "" },
        { "bytes that are no UTF-8", BYTES(NAMED("x\xff\xc3(")), NAMED_OUT("x\xff\xc3("), "" },
        { "many NULs", BYTES(NAMED("x\1" NULS "y")), NAMED_OUT("x" NULS_OUT "y"), "garbage:1@1" },
        { "many bytes 0xff", BYTES(NAMED("x\1" ONES)), NAMED_OUT("x" ONES), "garbage:1@1" },
        { "a backslash at the end", BYTES(NAMED("x\\\\")), NAMED_OUT("x\\"), "" },
        { "brackets and commas", BYTES(NAMED("},{]")), NAMED_OUT("},{]"), "" },
        { "bytes of an event's beginning", BYTES(NAMED("},{\\\"ph\\\":\\\"X\\\"")), NAMED_OUT("},{\"ph\":\"X\""), "" },
        { "empty name", BYTES(NAMED("")), NAMED_OUT(""), "" },
        { "name missing", BYTES(AMID("{\"ph\":\"X\",\"ts\":20,\"dur\":5}")), NAMED_OUT("[no name]"), "" },
        { "name is null", BYTES(AMID("{\"name\":null,\"ph\":\"X\",\"ts\":20,\"dur\":5}")), NAMED_OUT("[no name]"), "" },
        { "name is a number", BYTES(AMID("{\"name\":7,\"ph\":\"X\",\"ts\":20,\"dur\":5}")), NAMED_OUT("7"), "" },
        { "phase of several letters", BYTES(AMID("{\"name\":\"b\",\"ph\":\"XXX\",\"ts\":20,\"dur\":5}")), ABC, "" },
        { "phase missing", BYTES(AMID("\1{\"name\":\"b\",\"ts\":20,\"dur\":5}")), AC, "bad_event:1@1" },
        { "phase empty", BYTES(AMID("\1{\"ph\":\"\",\"name\":\"b\",\"ts\":20,\"dur\":5}")), AC, "bad_event:1@1" },
        { "phase is a number", BYTES(AMID("\1{\"ph\":1,\"name\":\"b\",\"ts\":20,\"dur\":5}")), AC, "bad_event:1@1" },
        { "phase nobody knows", BYTES(AMID("\1{\"ph\":\"Q\",\"name\":\"b\",\"ts\":20,\"dur\":5}")), AC, "skipped_phase:1@1" },
    };
    RUN(rows);
}

/* What PyTorch wrote before it escaped names. */
TEST(damaged_strings)
{
    static const struct row rows[] = {
        { "bad hex digits", BYTES(AMID(X("x\\u00zz", "20", "5", ""))), NAMED_OUT("x\\u00zz"), "" },
        { "an escape that is none", BYTES(AMID(X("x\\q", "20", "5", ""))), NAMED_OUT("x\\q"), "" },
        { "a path of Windows", BYTES(AMID(X("C:\\Users\\py.py", "20", "5", ""))), NAMED_OUT("C:\\Users\\py.py"), "" },
        { "a stray quote", BYTES(AMID("\1" X("x \" y", "20", "5", ""))), NAMED_OUT("x \" y"), "mended_event:1@1" },
        { "quoted words", BYTES(AMID("\1" X("say \"hello\" twice", "20", "5", ""))), NAMED_OUT("say \"hello\" twice"), "mended_event:1@1" },
        { "stray quotes in args", BYTES(AMID(X("b", "20", "5", ",\"args\":{\"Concrete Inputs\":[\"\"a\"\",\"b\"]}"))), ABC, "" },
        { "a quote that is never closed", BYTES(AMID("\1{\"ph\":\"X\",\"ts\":20,\"dur\":5,\"name\":\"b}")), AC, "bad_event:1@1" },
    };
    RUN(rows);
}

/* ---- 3. numbers and time ------------------------------------------------------------------------ */

#define AT(ts, dur) AMID(X("b", ts, dur, ""))
#define AT_OUT(ns, dur) "a@10000+5000 b@" ns "+" dur " c@30000+5000"

TEST(times)
{
    static const struct row rows[] = {
        { "fractions", BYTES(AT("20.001", "5.9994")), AT_OUT("20001", "5999"), "" },
        { "rounded to nanoseconds", BYTES(AT("20.0005", "0.0004")), AT_OUT("20001", "0"), "" },
        { "strings", BYTES(AT("\"20\"", "\"200.5\"")), AT_OUT("20000", "200500"), "" },
        { "exponents", BYTES(AT("2e1", "1.5E-1")), AT_OUT("20000", "150"), "" },
        { "leading zeros", BYTES(AT("0020", "05")), AT_OUT("20000", "5000"), "" },
        { "plus", BYTES(AT("+20", "+5")), AT_OUT("20000", "5000"), "" },
        { "point without digits", BYTES(AT("20.", ".5")), AT_OUT("20000", "500"), "" },
        { "16 digits and 3 decimals", BYTES(AT("1712167898123456.789", "0.001")), AT_OUT("1712167898123456789", "1"), "" },
        { "13 digits and 3 decimals", BYTES(AT("4321098765432.109", "1")), AT_OUT("4321098765432109", "1000"), "" },
        { "a large double", BYTES(AT("1750244461563845.0", "1")), AT_OUT("1750244461563845000", "1000"), "" },
        { "a large double with an exponent", BYTES(AT("1.750244461563845e15", "1")), AT_OUT("1750244461563845000", "1000"), "" },
        { "25 decimals", BYTES(AT("20.1234567890123456789012345", "1")), AT_OUT("20123", "1000"), "" },
        { "negative", BYTES(AT("-20.5", "5")), AT_OUT("-20500", "5000"), "" },
        { "duration 0", BYTES(AT("20", "0")), AT_OUT("20000", "0"), "" },
        { "tts and tdur are passed over", BYTES(AMID(X("b", "20", "5", ",\"tts\":3,\"tdur\":\"bad\""))), ABC, "" },
    };
    RUN(rows);
}

TEST(bad_times)
{
    static const struct row rows[] = {
        { "ts with letters behind", BYTES(AMID("\1" X("b", "\"100a\"", "5", ""))), AC, "bad_time:1@1" },
        { "ts null", BYTES(AMID("\1" X("b", "null", "5", ""))), AC, "bad_time:1@1" },
        { "ts true", BYTES(AMID("\1" X("b", "true", "5", ""))), AC, "bad_time:1@1" },
        { "ts an object", BYTES(AMID("\1" X("b", "{}", "5", ""))), AC, "bad_time:1@1" },
        { "ts NaN", BYTES(AMID("\1" X("b", "NaN", "5", ""))), AC, "bad_time:1@1" },
        { "ts -Infinity", BYTES(AMID("\1" X("b", "-Infinity", "5", ""))), AC, "bad_time:1@1" },
        { "ts missing", BYTES(AMID("\1{\"ph\":\"X\",\"name\":\"b\",\"dur\":5}")), AC, "bad_time:1@1" },
        { "ts beyond 64 bits of ns", BYTES(AMID("\1" X("b", "9223372036854775807", "5", ""))), AC, "bad_time:1@1" },
        { "ts beyond 64 bits", BYTES(AMID("\1" X("b", "99999999999999999999999", "5", ""))), AC, "bad_time:1@1" },
        { "ts 1e300", BYTES(AMID("\1" X("b", "1e300", "5", ""))), AC, "bad_time:1@1" },
        { "ts 1e-300", BYTES(AMID(X("b", "1e-300", "5", ""))), AT_OUT("0", "5000"), "" },
        { "ts 1e999999999999", BYTES(AMID("\1" X("b", "1e999999999999", "5", ""))), AC, "bad_time:1@1" },
        { "dur bad", BYTES(AMID("\1" X("b", "20", "\"bad\"", ""))), AT_OUT("20000", "0?"), "no_duration:1@1" },
        { "dur with letters behind", BYTES(AMID("\1" X("b", "20", "\"50a\"", ""))), AT_OUT("20000", "0?"), "no_duration:1@1" },
        { "dur null", BYTES(AMID("\1" X("b", "20", "null", ""))), AT_OUT("20000", "0?"), "no_duration:1@1" },
        { "dur NaN", BYTES(AMID("\1" X("b", "20", "NaN", ""))), AT_OUT("20000", "0?"), "no_duration:1@1" },
        { "dur missing", BYTES(AMID("\1{\"ph\":\"X\",\"name\":\"b\",\"ts\":20}")), AT_OUT("20000", "0?"), "no_duration:1@1" },
        { "dur negative", BYTES(AMID("\1" X("b", "20", "-5", ""))), AT_OUT("20000", "0?"), "negative_duration:1@1" },
        { "one bad dur does not cost the rest", BYTES("[\1" X("x", "1", "null", "") "," A "," B "," C "]"), "x@1000+0? " ABC, "no_duration:1@1" },
    };
    RUN(rows);
}

/* ---- 5. begin and end --------------------------------------------------------------------------- */

#define P(ph, name, ts) "{\"ph\":\"" ph "\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts "}"
#define E_(ts) "{\"ph\":\"E\",\"pid\":1,\"tid\":2,\"ts\":" ts "}"

TEST(begin_and_end)
{
    static const struct row rows[] = {
        { "nested", BYTES("[" P("B", "o", "1") "," P("B", "i", "2") "," P("E", "i", "3") "," P("E", "o", "4") "]"),
          "o@1000+3000 i@2000+1000", "" },
        { "end without a name ends the innermost", BYTES("[" P("B", "o", "1") "," P("B", "i", "2") "," E_("3") "," E_("4") "]"),
          "o@1000+3000 i@2000+1000", "" },
        { "end of another name", BYTES("[" P("B", "o", "1") "," P("E", "x", "3") "," P("E", "o", "4") "]"),
          "o@1000+3000", "end_without_begin:1" },
        { "crossing", BYTES("[" P("B", "o", "1") "," P("B", "i", "2") "," P("E", "o", "3") "," P("E", "i", "4") "]"),
          "o@1000+2000 i@2000+2000", "" },
        { "end without a begin", BYTES("[" P("E", "o", "1") "," A "]"), "a@10000+5000", "end_without_begin:1" },
        { "end before its begin", BYTES("[" P("B", "o", "5") "," P("E", "o", "4") "," A "]"),
          "o@5000+10000! a@10000+5000", "begin_without_end:1 end_without_begin:1" },
        { "end on another thread", BYTES("[" P("B", "o", "1") ",{\"ph\":\"E\",\"name\":\"o\",\"pid\":1,\"tid\":3,\"ts\":2}," A "]"),
          "o@1000+14000! a@10000+5000", "begin_without_end:1 end_without_begin:1" },
        { "begin without an end lasts to the last event", BYTES("[" P("B", "o", "1") "," A "]"), "o@1000+14000! a@10000+5000", "begin_without_end:1" },
        { "out of order in the file", BYTES("[" P("E", "o", "4") "," P("B", "i", "2") "," P("E", "i", "3") "," P("B", "o", "1") "]"),
          "i@2000+1000 o@1000+3000", "" },
        { "begin and end at one time", BYTES("[" P("B", "o", "1") "," P("E", "o", "1") "]"), "o@1000+0", "" },
        { "next begin written before the end", BYTES("[" P("B", "a", "0") "," P("B", "b", "10") "," P("E", "a", "10") "," P("E", "b", "20") "]"),
          "a@0+10000 b@10000+10000", "" },
        { "same name nested in itself", BYTES("[" P("B", "r", "1") "," P("B", "r", "2") "," P("E", "r", "3") "," P("E", "r", "9") "]"),
          "r@1000+8000 r@2000+1000", "" },
        { "complete events between", BYTES("[" P("B", "o", "1") "," A "," P("E", "o", "12") "]"), "o@1000+11000 a@10000+5000", "" },
        { "end with a bad time", BYTES("[" P("B", "o", "1") ",\1" P("E", "o", "null") "," A "]"),
          "o@1000+14000! a@10000+5000", "bad_time:1@1 begin_without_end:1" },
    };
    RUN(rows);
}

/* ---- 6. overlaps are data ----------------------------------------------------------------------- */

TEST(overlaps)
{
    static const struct row rows[] = {
        { "child before parent", BYTES("[" X("i", "1", "2", "") "," X("o", "1", "9", "") "]"), "i@1000+2000 o@1000+9000", "" },
        { "partial overlap", BYTES("[" X("x", "1", "5", "") "," X("y", "3", "9", "") "]"), "x@1000+5000 y@3000+9000", "" },
        { "the same twice", BYTES("[" A "," A "]"), "a@10000+5000 a@10000+5000", "" },
        { "later first", BYTES("[" C "," A "]"), "c@30000+5000 a@10000+5000", "" },
    };
    RUN(rows);
}

/* ---- 7. async ------------------------------------------------------------------------------------ */

#define Y(ph, name, ts, more) "{\"ph\":\"" ph "\",\"cat\":\"k\",\"name\":\"" name "\",\"pid\":1,\"tid\":2,\"ts\":" ts more "}"

TEST(async_events)
{
    static const struct row rows[] = {
        { "id a number", BYTES("[" Y("b", "x", "1", ",\"id\":7") "," Y("e", "x", "4", ",\"id\":7") "]"), "x@1000+3000~", "" },
        { "id a string", BYTES("[" Y("b", "x", "1", ",\"id\":\"0x1f\"") "," Y("e", "x", "4", ",\"id\":\"0x1f\"") "]"), "x@1000+3000~", "" },
        { "a number and a string are two ids", BYTES("[" Y("b", "x", "1", ",\"id\":1") "," Y("e", "x", "4", ",\"id\":\"1\"") "," A "]"),
          "x@1000+14000~! a@10000+5000", "begin_without_end:1 end_without_begin:1" },
        { "id empty, cat missing", BYTES("[{\"ph\":\"b\",\"name\":\"x\",\"ts\":1,\"id\":\"\"},{\"ph\":\"e\",\"name\":\"x\",\"ts\":4,\"id\":\"\"}]"), "x@1000+3000~", "" },
        { "id missing", BYTES("[\1" Y("b", "x", "1", "") "," Y("e", "x", "4", "") "," A "]"), "a@10000+5000", "async_without_id:2@1" },
        { "id2 without local or global", BYTES("[\1" Y("b", "x", "1", ",\"id2\":{}") "," Y("e", "x", "4", ",\"id2\":{\"y\":1}") "," A "]"), "a@10000+5000", "async_without_id:2@1" },
        { "two at once by id", BYTES("[" Y("b", "x", "1", ",\"id\":1") "," Y("b", "x", "2", ",\"id\":2") "," Y("e", "x", "5", ",\"id\":1") "," Y("e", "x", "9", ",\"id\":2") "]"),
          "x@1000+4000~ x@2000+7000~", "" },
        { "nested under one id, an instant within", BYTES("[" Y("b", "o", "1", ",\"id\":1") "," Y("b", "i", "2", ",\"id\":1") "," Y("n", "n", "3", ",\"id\":1") "," Y("e", "i", "4", ",\"id\":1") "," Y("e", "o", "5", ",\"id\":1") "]"),
          "o@1000+4000~ i@2000+2000~ n@3000~", "" },
        { "id matches across processes", BYTES("[" Y("b", "x", "1", ",\"id\":1") ",{\"ph\":\"e\",\"cat\":\"k\",\"name\":\"x\",\"pid\":9,\"tid\":2,\"ts\":4,\"id\":1}]"), "x@1000+3000~", "" },
        { "global id2 matches across processes", BYTES("[" Y("b", "x", "1", ",\"id2\":{\"global\":\"g\"}") ",{\"ph\":\"e\",\"cat\":\"k\",\"name\":\"x\",\"pid\":9,\"tid\":2,\"ts\":4,\"id2\":{\"global\":\"g\"}}]"), "x@1000+3000~", "" },
        { "local id2 does not", BYTES("[" Y("b", "x", "1", ",\"id2\":{\"local\":0}") ",{\"ph\":\"e\",\"cat\":\"k\",\"name\":\"x\",\"pid\":9,\"tid\":2,\"ts\":4,\"id2\":{\"local\":0}}," Y("e", "x", "6", ",\"id2\":{\"local\":0}") "]"),
          "x@1000+5000~", "end_without_begin:1" },
        { "category tells ids apart", BYTES("[" Y("b", "x", "1", ",\"id\":1") ",{\"ph\":\"e\",\"cat\":\"other\",\"name\":\"x\",\"pid\":1,\"ts\":3,\"id\":1}," Y("e", "x", "4", ",\"id\":1") "]"),
          "x@1000+3000~", "end_without_begin:1" },
        { "end only, begin only", BYTES("[" Y("e", "x", "1", ",\"id\":1") "," Y("b", "y", "2", ",\"id\":1") "," A "]"),
          "y@2000+13000~! a@10000+5000", "begin_without_end:1 end_without_begin:1" },
        { "legacy S, T, p, F", BYTES("[" Y("S", "x", "1", ",\"id\":1") "," Y("T", "x", "2", ",\"id\":1") "," Y("p", "x", "3", ",\"id\":1") "," Y("F", "x", "4", ",\"id\":1") "]"),
          "x@1000+3000~ x@2000~ x@3000~", "" },
    };
    RUN(rows);
}

/* ---- 9. instants and other phases ---------------------------------------------------------------- */

TEST(other_phases)
{
    static const struct row rows[] = {
        { "instants of every scope", BYTES("[" Y("i", "i", "1", ",\"s\":\"g\"") "," Y("I", "I", "2", ",\"s\":\"p\"") "," Y("R", "R", "3", "") "," Y("i", "t", "4", ",\"s\":\"t\"") "," Y("i", "n", "5", ",\"s\":null") "]"),
          "i@1000 I@2000 R@3000 t@4000 n@5000", "" },
        { "an instant without a thread", BYTES("[{\"ph\":\"i\",\"name\":\"i\",\"s\":\"t\",\"pid\":1,\"ts\":1}]"), "i@1000", "" },
        { "an instant whose dur is no duration", BYTES("[" Y("i", "i", "1", ",\"dur\":7") "]"), "i@1000", "" },
        { "phases without time spans", BYTES("[\1" Y("P", "x", "1", ",\"id\":1") "," Y("N", "x", "1", "") "," Y("O", "x", "1", "") "," Y("D", "x", "1", "") "," Y("v", "x", "1", "") "," Y("V", "x", "1", "") "," Y("c", "x", "1", "") "," Y("(", "x", "1", "") "," Y(")", "x", "1", "") "," Y("=", "x", "1", "") "]"),
          "", "profile_chunks:1@1 skipped_phase:9@byte 63" },
        { "metadata with a bad time", BYTES("[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"ts\":null,\"args\":{\"name\":\"p\"}}," A "]"), "a@10000+5000", "" },
        { "metadata only", BYTES("[{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":1,\"args\":{\"name\":\"p\"}}]"), "", "" },
        { "thread states", BYTES("[" Y("T", "Running", "1", ",\"dur\":4,\"args\":{\"cpu\":3}") "," A "]"), "Running@1000+4000 a@10000+5000", "" },
    };
    RUN(rows);
}

/* ---- 10. args ------------------------------------------------------------------------------------ */

#define ARGS(args) AMID(X("b", "20", "5", ",\"args\":" args))

#define ARGS_BAD(args) AMID("\1" X("b", "20", "5", ",\"args\":" args))

TEST(args_that_are_none)
{
    static const struct row rows[] = {
        { "nested", BYTES(ARGS("{\"a\":{\"b\":[1,{\"c\":[]},null,true,-1.5e3]},\"d\":\"}]\"}")), ABC, "" },
        { "a string", BYTES(ARGS("\"x\"")), ABC, "" },
        { "an array", BYTES(ARGS("[1,2]")), ABC, "" },
        { "null", BYTES(ARGS("null")), ABC, "" },
        { "NaN and Infinity", BYTES(ARGS("{\"x\":NaN,\"y\":-Infinity,\"z\":[NaN]}")), ABC, "" },
        { "an array closed by a brace", BYTES(ARGS_BAD("{\"x\":[1,2}")), ABC, "lost_args:1@1" },
        { "an array closed by a brace, and one more", BYTES(ARGS_BAD("{\"x\":[1,2}}")), ABC, "lost_args:1@1" },
        { "a word for a key", BYTES(ARGS("{x:1}")), ABC, "" },
        { "a word for a key of a string", BYTES(ARGS_BAD("{x:\"y\"}")), ABC, "lost_args:1@1" },
        { "a word for a value", BYTES(ARGS("{\"x\":nothing at all}")), ABC, "" },
        { "missing value", BYTES(ARGS("{\"x\":,\"y\":}")), ABC, "" },
        { "the same in the last event", BYTES("[" A "," B ",\1" X("c", "30", "5", ",\"args\":{\"x\":[1,2}") "]"), ABC, "lost_args:1@1" },
        { "args before the other fields are all there is to lose", BYTES(AMID("\1{\"args\":{\"x\":[1,2},\"ph\":\"X\",\"name\":\"b\",\"ts\":20}")), AC, "bad_event:1@1" },
    };
    RUN(rows);
}

/* clang-format on */

/* ---- tests of single values ---------------------------------------------------------------------- */

static struct trace *read_text(const char *text)
{
    struct tpa_error err = { 0 };
    struct trace *trace = trace_from_bytes(text, strlen(text), 1, 0, &err);
    if (!trace)
        fail_msg("%s", err.message);
    return scratch_trace(trace);
}

static void expect_tracks(const char *text, const char *expected)
{
    struct trace *trace = read_text(text);
    SCRATCH_BUFFER(tracks);
    dump_tracks(&tracks, trace);
    assert_string_equal(tracks.at, expected);
}

#define ON(name, where) "{\"ph\":\"X\",\"name\":\"" name "\",\"ts\":1,\"dur\":1" where "}"

TEST(tracks_are_what_their_numbers_say)
{
    expect_tracks("[" ON("a", ",\"pid\":\"Spans\",\"tid\":\"PyTorch Profiler\"") "]",
                  "a \"Spans\"/\"PyTorch Profiler\"");
    expect_tracks(
        "[" ON("a", ",\"pid\":7") "," ON("b", ",\"pid\":7,\"tid\":0") "," ON("c", ",\"pid\":7,\"tid\":7") "]",
        "a 7/0, b 7/0, c 7/7");
    expect_tracks("[" ON("a", ",\"tid\":3") "," ON("b", ",\"pid\":null,\"tid\":null") "," ON("c", "") "]",
                  "a 0/3, b 0/0, c 0/0");
    expect_tracks(
        "[" ON("a", ",\"pid\":1,\"tid\":-5") "," ON("b", ",\"pid\":1,\"tid\":140737353983744") "," ON(
            "c", ",\"pid\":1,\"tid\":140737353983745") "," ON("d", ",\"pid\":1,\"tid\":-6") "]",
        "a 1/-5, b 1/140737353983744, c 1/140737353983745, d 1/-6");
    expect_tracks("[" ON("a", ",\"pid\":1,\"tid\":3.0") "," ON("b", ",\"pid\":2,\"tid\":3") "]",
                  "a 1/3, b 2/3");
    expect_tracks("[" ON("a", ",\"pid\":0,\"tid\":\"stream 7\"") "," ON(
                      "b", ",\"pid\":0,\"tid\":\"7\"") "," ON("c", ",\"pid\":0,\"tid\":7") "]",
                  "a 0/\"stream 7\", b 0/7, c 0/7");

    struct trace *trace = read_text("[" ON("a", ",\"pid\":0,\"tid\":\"7\"") "," ON(
        "b", ",\"pid\":0,\"tid\":7") "," ON("c", ",\"pid\":0,\"tid\":7") "]");
    assert_int_equal(trace->track_count, 1); /* a number is one thread, however it is written */
    assert_int_equal(trace->tracks[trace->track[0]].event_count, 3);
}

#define META(name, pid, tid, args)                                                                           \
    "{\"ph\":\"M\",\"name\":\"" name "\",\"pid\":" pid ",\"tid\":" tid ",\"args\":" args "}"

TEST(names_of_tracks_come_from_anywhere_and_the_last_one_wins)
{
    struct trace *trace = read_text(
        "[" META("process_name", "1", "0", "{\"name\":\"old\"}") "," A "," META("thread_name", "1", "2", "{\"name\":\"main\"}") "," META("process_name", "1", "0", "{\"name\":\"new\"}") "," META("process_labels", "1", "0", "{\"labels\":\"GPU 0\"}") "," META(
            "process_sort_index",
            "1", "0",
            "{\"sort_index\":-5}") "," META("thread_sort_index", "1", "2",
                                            "{\"sort_index\":536870912}") "," META("process_name", "1", "0",
                                                                                   "{\"name\":\"\"}") "," META("process_name",
                                                                                                               "1",
                                                                                                               "0",
                                                                                                               "{\"name\":7}") "," META("thread_name",
                                                                                                                                        "1",
                                                                                                                                        "2",
                                                                                                                                        "{}") "," META("thread_name",
                                                                                                                                                       "1",
                                                                                                                                                       "2",
                                                                                                                                                       "null") "," META("something_else",
                                                                                                                                                                        "1",
                                                                                                                                                                        "2",
                                                                                                                                                                        "{\"name\":\"x\"}") "]");
    const struct track *track = &trace->tracks[trace->track[0]];
    assert_string_equal(names_text(trace->texts, track->process_name), "new");
    assert_string_equal(names_text(trace->texts, track->thread_name), "main");
    assert_string_equal(names_text(trace->texts, track->process_labels), "GPU 0");
    assert_int_equal(track->process_sort_index, -5);
    assert_int_equal(track->thread_sort_index, 536870912);
    assert_int_equal(trace->metadata_seen, 11);
}

TEST(counters_have_a_sample_for_each_series)
{
    struct trace *trace = read_text(
        "[" Y("C", "mem", "1", ",\"args\":{\"used\":5,\"free\":7.5}") "," Y("C", "mem", "2", ",\"args\":{\"used\":\".75\",\"free\":\"246.\",\"x\":\"01.23\",\"y\":\"+10.5\",\"z\":\"050\"}") "," Y("C", "bad", "3", ",\"args\":{\"a\":\"1.5e\",\"b\":\"2e+\",\"c\":\".\",\"d\":\"+\",\"e\":\"abc\",\"f\":null,\"g\":true,\"h\":{},\"i\":4}") "," Y(
            "C", "none", "4", "") "," Y("C", "empty", "5",
                                        ",\"args\":{}") "," Y("C", "id", "6",
                                                              ",\"id\":\"q\",\"args\":{\"v\":1}") "]");
    SCRATCH_BUFFER(samples);
    for (size_t i = 0; i < trace->sample_count; i++)
        buffer_printf(&samples, "%s=%g@%d ", names_text(trace->texts, trace->samples[i].counter),
                      trace->samples[i].value, (int)trace->samples[i].ts_ns);
    assert_string_equal(
        samples.at, "mem used=5@1000 mem free=7.5@1000 mem used=0.75@2000 mem free=246@2000 mem x=1.23@2000 "
                    "mem y=10.5@2000 mem z=50@2000 bad i=4@3000 id id: q v=1@6000 ");
    assert_int_equal(trace->samples_seen, 6);
    assert_int_equal(trace->notice_count, 1);
    assert_string_equal(trace->notices[0].kind, "bad_counter");
    assert_int_equal(trace->notices[0].count,
                     9); /* eight series that are no numbers, and one counter without any */
}

TEST(flows_are_kept_as_written)
{
    struct trace *trace = read_text(
        "[" Y("s", "ac2g", "1", ",\"id\":7") "," Y("t", "ac2g", "2", ",\"id\":7,\"bp\":\"x\"") "," Y("f", "ac2g", "3", ",\"id\":7,\"bp\":\"e\"") "," Y(
            "s", "hex", "4",
            ",\"id\":\"0x402\"") "," Y("f", "hex", "5",
                                       ",\"id\":\"0x402\"") "," Y("s", "odd", "6",
                                                                  ",\"id\":\"id42\"") "," Y("f", "odd", "7",
                                                                                            ",\"id\":\"id42\"") "," Y("f",
                                                                                                                      "none",
                                                                                                                      "8",
                                                                                                                      "") "," Y("f",
                                                                                                                                "late",
                                                                                                                                "null",
                                                                                                                                ",\"id\":1") "]");
    assert_int_equal(trace->event_count, 0);
    assert_int_equal(trace->flows_seen, 9);
    assert_int_equal(trace->flow_count, 7);
    struct trace_flow flows[7];
    for (size_t i = 0; i < 7; i++)
        flows[i] = trace_flow(trace, i);
    assert_int_equal(flows[0].phase, 's');
    assert_int_equal(flows[0].id, 7);
    assert_int_equal(flows[0].ts_ns, 1000);
    assert_false(flows[0].bind_enclosing);
    assert_false(flows[1].bind_enclosing);
    assert_true(flows[2].bind_enclosing);
    assert_string_equal(names_text(trace->texts, flows[2].category), "k");
    assert_string_equal(names_text(trace->texts, flows[2].name), "ac2g");
    assert_true(flows[3].id == flows[4].id);
    assert_true(flows[5].id == flows[6].id);
    assert_true(flows[3].id != flows[5].id);
    assert_int_equal(trace->notice_count, 1);
    assert_string_equal(trace->notices[0].kind, "bad_flow");
    assert_int_equal(trace->notices[0].count, 2);
}

/* unitrace numbers categories by ids, which are read once; numbers of other writers are theirs. Events written alike are read
 * by their form: the categories of arrows differ all the same. */
TEST(categories_of_arrows_lose_only_ids)
{
#define ARROW(category, id)                                                                                  \
    "{\"ph\":\"s\",\"name\":\"Flow_H2D_1\",\"cat\":\"" category                                              \
    "\",\"pid\":1,\"tid\":1,\"ts\":1,\"id\":" #id "}"
    struct trace *trace = read_text("[" ARROW("Flow_H2D_1_0", 1) "," ARROW("Flow_H2D_22_0", 22) "," ARROW(
        "CL_Flow_D2H_3_0", 3) "," ARROW("stage_2", 2) "," ARROW("stage_4", 4) "," ARROW("Flow_H2D", 5) "]");
    static const char *const wanted[] = { "Flow_H2D", "Flow_H2D", "CL_Flow_D2H",
                                          "stage_2",  "stage_4",  "Flow_H2D" };
    assert_int_equal(trace->flow_count, sizeof wanted / sizeof *wanted);
    for (size_t i = 0; i < sizeof wanted / sizeof *wanted; i++) {
        struct trace_flow flow = trace_flow(trace, i);
        assert_string_equal(names_text(trace->texts, flow.category), wanted[i]);
        assert_string_equal(names_text(trace->texts, flow.name), "Flow_H2D_1");
    }
}

TEST(args_are_decoded)
{
    struct
        trace *trace = read_text("[" X("a", "1", "1", ",\"args\":{\"correlation\":1,\"Addr\":18446744073709551615,\"correlation\":12,\"External id\":\"33\"}") "," X("b", "2", "1", ",\"args\":{\"Input Dims\":[[8, 3],\n [ ]], \"Input type\":[\"float\", \"a b\"],\"blocks per SM\":0.25,\"bytes\":1099511627776}") "," X("c", "3", "1", ",\"args\":{\"stream\":-1,\"Collective n\\u0061me\":\"all\\u0072educe\",\"finished\":false,\"Addr\":9223372036854775808}") "," X(
            "d", "4", "1",
            ",\"args\":{\"x\":{\"correlation\":5}}") "," Y("b", "e", "5",
                                                           ",\"id\":1,\"args\":{\"device\":3}") "," Y("e",
                                                                                                      "e",
                                                                                                      "6",
                                                                                                      ",\"id\":1,\"args\":{\"stream\":4,\"device\":9}") "," X("f",
                                                                                                                                                              "7",
                                                                                                                                                              "1",
                                                                                                                                                              ",\"args\":{\"correlation\":null,\"bytes\":\"x\",\"device\":[]}") "]");
    assert_int_equal(trace->event_count, 6);
    assert_int_equal(trace_arg_or(trace, ARG_CORRELATION, 0, -7), 12);
    assert_int_equal(trace_arg_or(trace, ARG_EXTERNAL_ID, 0, -7), 33);
    assert_true((uint64_t)trace_arg_or(trace, ARG_ADDRESS, 0, 0) == UINT64_MAX);
    assert_string_equal(trace_arg_text(trace, ARG_INPUT_DIMS, 1), "[[8,3],[]]");
    assert_string_equal(trace_arg_text(trace, ARG_INPUT_TYPES, 1), "[\"float\",\"a b\"]");
    assert_true(trace_arg_decimal(trace, ARG_BLOCKS_PER_SM, 1) == 0.25);
    assert_true(trace_arg_or(trace, ARG_BYTES, 1, 0) == INT64_C(1) << 40);
    assert_int_equal(trace_arg_or(trace, ARG_STREAM, 2, 7), -1);
    assert_string_equal(trace_arg_text(trace, ARG_COLLECTIVE, 2), "allreduce");
    assert_int_equal(trace_arg_or(trace, ARG_FINISHED, 2, 7), 0);
    assert_true(trace->flags[2] & EVENT_UNFINISHED);
    assert_true((uint64_t)trace_arg_or(trace, ARG_ADDRESS, 2, 0) == UINT64_C(1) << 63);
    int64_t value;
    assert_false(trace_arg(trace, ARG_CORRELATION, 3, &value)); /* one of another object */
    assert_int_equal(trace_arg_or(trace, ARG_DEVICE, 4, 7), 3); /* the begin's own */
    assert_int_equal(trace_arg_or(trace, ARG_STREAM, 4, 7), 4); /* from the end */
    assert_false(trace_arg(trace, ARG_CORRELATION, 5, &value));
    assert_false(trace_arg(trace, ARG_BYTES, 5, &value));
    assert_false(trace_arg(trace, ARG_DEVICE, 5, &value));
}

TEST(a_begin_takes_the_args_of_its_end)
{
    struct trace *trace = read_text("[{\"ph\":\"B\",\"name\":\"o\",\"ts\":1,\"args\":{\"device\":1}},"
                                    "{\"ph\":\"E\",\"ts\":2,\"args\":{\"stream\":2}}]");
    assert_int_equal(trace_arg_or(trace, ARG_DEVICE, 0, 7), 1);
    assert_int_equal(trace_arg_or(trace, ARG_STREAM, 0, 7), 2);
}

TEST(top_level_values_are_kept)
{
    struct trace *trace = read_text(
        "{\"metadata\":{\"a\":[1,2]},\"displayTimeUnit\":\"ms\",\"traceName\":\"/tmp/\\u0074\",\"n\":1.5,"
        "\"traceEvents\":[" A "],\"late\":true}");
    const struct trace_file *file = &trace->files[0];
    static const char *const expected[][2] = { { "metadata", "{\"a\":[1,2]}" },
                                               { "displayTimeUnit", "ms" },
                                               { "traceName", "/tmp/t" },
                                               { "n", "1.5" },
                                               { "late", "true" } };
    assert_int_equal(file->properties.count, 5);
    for (size_t i = 0; i < 5; i++) {
        assert_string_equal(file->properties.at[i].key, expected[i][0]);
        assert_string_equal(file->properties.at[i].value, expected[i][1]);
    }
    assert_string_equal(file->trace_name, "/tmp/t");
}

/* What is no trace at all is refused, with the reason. */
TEST(what_is_no_trace_is_refused)
{
    static const char *const texts[] = {
        "",  "   ",   "hello", "\x89PNG\r\n",     "<html>", "{'traceEvents':[]}",
        "7", "\"x\"", "[1,2]", "{traceEvents:[]}"
    };
    for (size_t i = 0; i < sizeof texts / sizeof *texts; i++) {
        struct tpa_error err = { 0 };
        struct trace *trace = trace_from_bytes(texts[i], strlen(texts[i]), 1, 0, &err);
        if (trace)
            fail_msg("read as a trace: %s", texts[i]);
        assert_true(err.failed);
    }
}

/* ---- sizes ----------------------------------------------------------------------------------------- */

TEST(deep_nesting_is_passed_over)
{
    for (size_t depth = 600; depth <= 100000; depth *= 10) {
        SCRATCH_BUFFER(text);
        buffer_puts(&text,
                    "[" A ",{\"ph\":\"X\",\"name\":\"b\",\"ts\":20,\"dur\":5,\"args\":{\"Input Dims\":");
        for (size_t i = 0; i < depth; i++)
            buffer_puts(&text, i % 2 ? "{\"x\":" : "[");
        buffer_puts(&text, "1");
        for (size_t i = depth; i-- > 0;)
            buffer_puts(&text, i % 2 ? "}" : "]");
        buffer_puts(&text, ",\"device\":3}}," C "]");
        struct trace *trace = read_text(text.at);
        SCRATCH_BUFFER(events);
        dump_events(&events, trace);
        assert_string_equal(events.at, ABC);
        assert_int_equal(trace_arg_or(trace, ARG_DEVICE, 1, 0), 3);
    }
}

TEST(long_names_are_kept_whole)
{
    for (size_t len = 1000; len <= 5000000; len *= 17) {
        SCRATCH_BUFFER(text);
        buffer_puts(&text, "{\"traceEvents\":[" A ",{\"ph\":\"X\",\"ts\":20,\"dur\":5,\"name\":\"");
        for (size_t i = 0; i < len; i++)
            buffer_putc(&text, "},{\\\"\" \n"[i % 3]);
        buffer_puts(&text, "\"}," C "]}");
        struct trace *trace = read_text(text.at);
        assert_int_equal(trace->event_count, 3);
        assert_int_equal(names_length(trace->names, trace->name[1]), len);
        assert_int_equal(trace->notice_count, 0);
    }
}

TEST(a_million_names)
{
    const unsigned count = 1000000;
    SCRATCH_BUFFER(text);
    buffer_puts(&text, "[");
    for (unsigned i = 0; i < count; i++)
        buffer_printf(&text, "{\"ph\":\"X\",\"name\":\"n%u\",\"ts\":%u,\"dur\":1},\n", i, i);
    buffer_puts(&text, "{}]");
    struct trace *trace = read_text(text.at);
    assert_int_equal(trace->event_count, count);
    assert_int_equal(names_count(trace->names), count);
    assert_string_equal(trace_name(trace, 999999), "n999999");
}
