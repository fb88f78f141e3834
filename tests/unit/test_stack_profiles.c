/*
 * test_stack_profiles.c - profiles made of stacks: collapsed stacks, speedscope, V8's and pprof's, written by hand; and what
 * is damaged, of wrong types, or goes round in circles.
 */
#include "tests/unit/unit.h"
#include "ingest/formats.h"
#include "profile/view.h"

extern const struct format format_speedscope, format_folded, format_cpuprofile, format_pprof;

static struct profile *profile;
static struct tpa_error error;

static bool read_bytes(const struct format *format, const char *bytes, size_t len)
{
    error = (struct tpa_error){ 0 };
    struct source *source = source_open_memory(bytes, len, "test", &error);
    assert_non_null(source);
    profile = format->read_profile(source, &error);
    assert_true((profile != NULL) == !error.failed);
    source_free(source);
    return profile != NULL;
}

static bool read_text(const struct format *format, const char *text)
{
    return read_bytes(format, text, strlen(text));
}

static function_id find(const char *name)
{
    for (function_id f = 0; f < profile->function_count; f++)
        if (profile->functions[f].name_length == strlen(name) &&
            memcmp(profile->functions[f].name, name, strlen(name)) == 0)
            return f;
    fail_msg("no %s", name);
    return FUNCTION_NONE;
}

static void check(const struct profile_cost *cost, int64_t calls, int64_t primitive, int64_t own_ns,
                  int64_t all_ns)
{
    assert_int_equal(cost->calls, calls);
    assert_int_equal(cost->primitive_calls, primitive);
    assert_int_equal(profile_ns(cost->total_s), own_ns);
    assert_int_equal(profile_ns(cost->cumulative_s), all_ns);
}

static void check_function(const char *name, int64_t calls, int64_t primitive, int64_t own_ns, int64_t all_ns)
{
    check(&profile->functions[find(name)].cost, calls, primitive, own_ns, all_ns);
}

static void check_call(const char *caller, const char *callee, int64_t calls, int64_t own_ns, int64_t all_ns)
{
    const struct profile_function *of = &profile->functions[find(callee)];
    function_id by = find(caller);
    for (uint32_t e = of->first_edge; e < of->first_edge + of->edge_count; e++)
        if (profile->edges[e].caller == by) {
            assert_int_equal(profile->edges[e].cost.calls, calls);
            assert_int_equal(profile_ns(profile->edges[e].cost.total_s), own_ns);
            assert_int_equal(profile_ns(profile->edges[e].cost.cumulative_s), all_ns);
            return;
        }
    fail_msg("%s does not call %s", caller, callee);
}

/*
 * main 1 alone; main, a 2; main, a, b 3; main, a, b, a 4. a is on three stacks of 9, and on the last one twice, which counts
 * once; so is main's call of a, and b's call of a is on one of 4.
 */
TEST(stacks_add_up_to_functions)
{
    assert_true(read_text(&format_folded, "# a comment\nmain 1\nmain;a 2\r\nmain;a;b 3\n\nmain;a;b;a 4"));
    assert_true(profile->sampled && profile->figures == PROFILE_COUNT);
    check_function("main", 10, 1, 1, 10);
    check_function("a", 9, 6, 6, 9);
    check_function("b", 7, 3, 3, 7);
    check_call("main", "a", 9, 2, 9);
    check_call("a", "b", 7, 3, 7);
    check_call("b", "a", 4, 4, 4);
    assert_int_equal(profile_ns(profile->total.total_s), 10);
    assert_int_equal(profile->odd_entries, 0);
    profile_free(profile);
}

static void check_tree(const int64_t wanted_ns[4])
{
    static const char *const names[] = { "main", "a", "b", "a" };
    struct flame *flame = profile_flame(profile);
    assert_int_equal(flame->frames.count, 4);
    for (uint32_t i = 0; i < 4; i++) {
        const struct flame_frame *frame = &flame->frames.at[i];
        assert_string_equal(names_text(flame->names, frame->name), names[i]);
        assert_true(frame->parent == (i ? i - 1 : FRAME_NONE));
        assert_int_equal(frame->host_ns, wanted_ns[i]);
        assert_int_equal(frame->count, wanted_ns[i]);
    }
    flame_free(flame);
}

/*
 * The same stacks as a call tree: main 10, below it a 9, b 7, and a once more with 4, which an estimate would not have. Twice the file is
 * twice the time, also without directories. With a file of which no stacks are known the tree is an estimate: a, on the path, is cut.
 */
TEST(the_call_tree_is_that_of_the_stacks)
{
    static const char *const text = "main 1\nmain;a 2\nmain;a;b 3\nmain;a;b;a 4";
    assert_true(read_text(&format_folded, text));
    check_tree((const int64_t[]){ 10, 9, 7, 4 });
    struct profile *first = profile;
    assert_true(read_text(&format_folded, text));
    profile_add(first, profile);
    profile = profile_strip_dirs(first, false);
    check_tree((const int64_t[]){ 20, 18, 14, 8 });

    struct profile *sums = profile_open();
    profile_list(sums, profile_function(sums, "~", 1, PROFILE_NAME_LINE, "c", 1),
                 &(struct profile_cost){ .calls = 1, .cumulative_s = 1e-8 }, 0, 0);
    profile_add(profile, sums);
    struct flame *flame = profile_flame(profile);
    assert_int_equal(profile->stacks.count, 0);
    assert_int_equal(flame->frames.count, 4);
    assert_string_equal(names_text(flame->names, flame->frames.at[3].name), "c");
    assert_true(flame->frames.at[3].parent == FRAME_NONE);
    flame_free(flame);
    profile_free(profile);
}

/* Names hold blanks and parentheses; only NAME (FILE:LINE) is taken apart. A line without a weight is counted. */
TEST(frames_of_py_spy_have_lines)
{
    assert_true(read_text(&format_folded, "f(int) const (a b.py:12);g (x) 2\nno weight\nh;; 1\n 5\n"));
    const struct profile_function *f = &profile->functions[find("f(int) const")];
    assert_int_equal(f->line, 12);
    assert_memory_equal(f->file, "a b.py", f->file_length);
    check_function("g (x)", 2, 2, 2, 2);
    check_function("h", 1, 1, 1, 1);
    check_function("(no stack)", 5, 5, 5, 5);
    assert_int_equal(profile->odd_entries, 1);
    assert_int_equal(profile->odd_offset, 33);
    profile_free(profile);
}

#define SCHEMA "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\","
#define FRAMES "\"shared\":{\"frames\":[{\"name\":\"main\"},{\"name\":\"f\",\"file\":\"m.py\",\"line\":7}]}"

/* 2 ms in main, 3 ms in f below it, which is all of f; a second thread in bytes is left out. Weights come before frames. */
TEST(samples_of_speedscope_have_weights)
{
    assert_true(
        read_text(&format_speedscope, SCHEMA
                  "\"profiles\":[{\"type\":\"sampled\",\"weights\":[2,3],\"samples\":[[0],[0,1]],"
                  "\"unit\":\"milliseconds\"},{\"type\":\"sampled\",\"unit\":\"bytes\",\"samples\":[[0]],"
                  "\"weights\":[9]}]," FRAMES "}"));
    assert_int_equal(profile->figures, PROFILE_TIME);
    check_function("main", 2, 1, 2000000, 5000000);
    check_function("f", 1, 1, 3000000, 3000000);
    assert_int_equal(profile->functions[find("f")].line, 7);
    assert_int_equal(profile->odd_entries, 1);
    profile_free(profile);
}

/* main 0..10, f 2..5 and 6..7: f is called twice and takes 4, main has 6 of its own. Calls are calls, not samples. */
TEST(events_of_speedscope_are_calls)
{
    assert_true(
        read_text(&format_speedscope, SCHEMA FRAMES
                  ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"nanoseconds\",\"events\":["
                  "{\"type\":\"O\",\"frame\":0,\"at\":0},{\"type\":\"O\",\"frame\":1,\"at\":2},"
                  "{\"type\":\"C\",\"frame\":1,\"at\":5},{\"type\":\"O\",\"frame\":1,\"at\":6},"
                  "{\"type\":\"C\",\"frame\":1,\"at\":7},{\"type\":\"C\",\"frame\":0,\"at\":10}]}]}"));
    assert_false(profile->sampled);
    check_function("main", 1, 1, 6, 10);
    check_function("f", 2, 2, 4, 4);
    check_call("main", "f", 2, 4, 4);
    profile_free(profile);
}

TEST(odd_speedscope_is_counted_or_refused)
{
    /* a frame that is not there, a negative weight, a sample that is no list; one good */
    assert_true(read_text(&format_speedscope,
                          SCHEMA FRAMES ",\"profiles\":[7,{\"unit\":\"none\",\"samples\":[[0,9],[0],5,[1]],"
                                        "\"weights\":[1,-2,1,4]}]}"));
    check_function("f", 4, 4, 4, 4);
    assert_int_equal(profile->odd_entries, 4);
    profile_free(profile);
    /* closes what was never opened, goes back in time, has no time; nothing is left */
    assert_false(read_text(&format_speedscope, SCHEMA FRAMES
                           ",\"profiles\":[{\"type\":\"evented\",\"unit\":\"ns\",\"events\":["
                           "{\"type\":\"C\",\"frame\":0,\"at\":5},{\"type\":\"O\",\"frame\":0,\"at\":1},"
                           "{\"type\":\"O\",\"frame\":0},null]}]}"));
    assert_false(read_text(&format_speedscope, SCHEMA FRAMES));
    assert_non_null(strstr(error.message, "cut short"));
    assert_false(read_text(&format_speedscope, SCHEMA "\"profiles\":{},\"shared\":[]}"));
}

#define V8_NODE(id, name, rest)                                                                              \
    "{\"id\":" id ",\"callFrame\":{\"functionName\":\"" name "\",\"url\":\"w.js\",\"lineNumber\":4}" rest "}"

/* Samples at 0, 10 and 30 us, the end is at 35: run has 10 and 5, deep 20. V8 counts lines from 0. */
TEST(samples_of_v8_last_until_the_next)
{
    assert_true(read_text(
        &format_cpuprofile,
        "{\"nodes\":[" V8_NODE("1", "(root)", ",\"children\":[2]") "," V8_NODE(
            "2", "run",
            ",\"children\":[3]") "," V8_NODE("3", "",
                                             "") "],\"startTime\":100,"
                                                 "\"endTime\":135,\"samples\":[2,3,2,77],\"timeDeltas\":[0,10,20]}"));
    assert_int_equal(profile->figures, PROFILE_TIME);
    assert_int_equal(profile->functions[find("run")].line, 5);
    check_function("run", 3, 2, 10000, 30000);
    check_function("(anonymous)", 1, 1, 20000, 20000);
    assert_int_equal(profile->odd_entries, 1); /* no node 77 */
    profile_free(profile);
}

/* 2 calls 3, 3 calls 2: left out. 5 is its own child. Without times hits are counts. */
TEST(circles_of_v8_are_left_out)
{
    assert_true(read_text(
        &format_cpuprofile,
        "{\"nodes\":[" V8_NODE("1", "good", ",\"hitCount\":3") "," V8_NODE("2", "a", ",\"hitCount\":1,\"children\":[3]") "," V8_NODE(
            "3", "b",
            ",\"hitCount\":1,\"children\":[2]") "," V8_NODE("4", "below",
                                                            ",\"hitCount\":1,\"parent\":2") "," V8_NODE("5",
                                                                                                        "self",
                                                                                                        ",\"hitCount\":1,\"children\":[5]") "]}"));
    assert_int_equal(profile->figures, PROFILE_COUNT);
    check_function("good", 3, 3, 3, 3);
    check_function("a", 0, 0, 0, 0);
    assert_int_equal(profile->odd_entries, 4);
    profile_free(profile);
    assert_false(
        read_text(&format_cpuprofile, "{\"nodes\":[{\"id\":\"x\",\"children\":3},4],\"samples\":7}"));
}

/*
 * Types: samples/count and cpu/nanoseconds, of which the last counts. Strings: 0 "", 1 "cpu", 2 "nanoseconds", 3 "main", 4 "f",
 * 5 "m.go". Location 1 is f inlined into main; the sample has 7 ns there. A second sample has a location without a function.
 */
TEST(samples_of_pprof_have_inlined_calls)
{
    static const char bytes[] = "\x0a\x04\x08\x01\x10\x02\x0a\x04\x08\x01\x10\x02"
                                "\x12\x07\x0a\x01\x01\x12\x02\x03\x07"
                                "\x12\x06\x08\x09\x10\x01\x10\x05"
                                "\x22\x0e\x08\x01\x22\x04\x08\x02\x10\x22\x22\x04\x08\x01\x10\x0c"
                                "\x2a\x06\x08\x01\x10\x03\x20\x05\x2a\x06\x08\x02\x10\x04\x20\x05"
                                "\x32\x00\x32\x03"
                                "cpu"
                                "\x32\x0b"
                                "nanoseconds"
                                "\x32\x04"
                                "main"
                                "\x32\x01"
                                "f"
                                "\x32\x04"
                                "m.go";
    assert_true(format_pprof.sniff(bytes, sizeof bytes - 1) > 90);
    assert_true(read_bytes(&format_pprof, bytes, sizeof bytes - 1));
    assert_int_equal(profile->figures, PROFILE_TIME);
    check_function("main", 1, 0, 0, 7);
    check_function("f", 1, 1, 7, 7);
    check_call("main", "f", 1, 7, 7);
    check_function("0x9", 1, 1, 5, 5);
    assert_int_equal(profile->odd_entries, 1);
    profile_free(profile);
    for (size_t len = 0; len < sizeof bytes - 1; len++) /* cut anywhere: an error, or less of it */
        if (read_bytes(&format_pprof, bytes, len))
            profile_free(profile);
}

/* None takes another's for its own; a trace is nobody's. */
TEST(each_knows_its_own)
{
    static const char *const texts[] = { SCHEMA FRAMES "}", "a;b 1\nc 2\n",
                                         "{\"nodes\":[" V8_NODE("1", "a", "") "]}" };
    const struct format *const readers[] = { &format_speedscope, &format_folded, &format_cpuprofile,
                                             &format_pprof };
    for (size_t t = 0; t < 3; t++)
        for (size_t r = 0; r < 4; r++)
            assert_true((readers[r]->sniff(texts[t], strlen(texts[t])) > 0) == (t == r));
    static const char *const others[] = { "",
                                          "a;b\n",
                                          "one two 3\n",
                                          "a;b 1\nprose\n",
                                          "{\"traceEvents\":[{\"nodes\":1}]}",
                                          "\x0a\x02\x08\x01",
                                          "a;b 1\n\x01;b 2\n" };
    for (size_t o = 0; o < sizeof others / sizeof *others; o++)
        for (size_t r = 0; r < 4; r++)
            assert_int_equal(readers[r]->sniff(others[o], strlen(others[o])), 0);
}
