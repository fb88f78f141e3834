/* test_snapshot.c - memory snapshots: reading pickles and JSON, replaying an allocator small enough to draw. */
#include "tests/unit/scratch.h"
#include "ingest/formats.h"
#include "ingest/snapshot.h"
#include "memory/snapshot_analysis.h"

#include <unistd.h>

SCRATCH_OF(snapshot)

static struct snapshot *read_bytes(const char *bytes, size_t len, struct tpa_error *err)
{
    struct source *source = source_open_memory(bytes, len, "test", err);
    assert_non_null(source);
    struct snapshot *snapshot = scratch_snapshot(snapshot_read(source, err));
    source_free(source);
    return snapshot;
}

static struct snapshot *read_text(const char *text)
{
    struct tpa_error err = { 0 };
    struct snapshot *snapshot = read_bytes(text, strlen(text), &err);
    assert_false(err.failed);
    assert_non_null(snapshot);
    return snapshot;
}

/* ---- an allocator to draw ---- */

/*
 *  entry          0       1       2       3         4         5      6       7        8
 *                 +seg    +A      +B      -A req    -A done   +C     oom     -D req   -D done
 *                 2000    600     300                         1000   5000
 *
 *  D (200 bytes) was there before. Addresses: the segment is [4096, 6144), A at 4096 (1024), B at 5120 (512),
 *  D at 5632 (512), C at 4096, where A was.
 *
 *  allocated     200     800    1100     500       500       1500   1500    1300     1300     after each entry
 *  active        200     800    1100    1100       500       1500   1500    1500     1300
 */
static const char drawn[] =
    "{\"device_traces\": [[]," /* the second device has it all */
    "[{\"action\":\"segment_alloc\",\"addr\":4096,\"size\":2048,\"stream\":0,\"time_us\":1000,\"frames\":[]},"
    "{\"action\":\"alloc\",\"addr\":4096,\"size\":600,\"stream\":0,\"time_us\":1010,\"frames\":["
    "{\"name\":\"f\",\"filename\":\"/x/site-packages/torch/a.py\",\"line\":1},{\"name\":\"g\",\"filename\":\"/u/m.py\",\"line\":7}]},"
    "{\"action\":\"alloc\",\"addr\":5120,\"size\":300,\"stream\":0,\"time_us\":1020,\"frames\":[]},"
    "{\"action\":\"free_requested\",\"addr\":4096,\"size\":600,\"stream\":0,\"time_us\":1030},"
    "{\"action\":\"free_completed\",\"addr\":4096,\"size\":600,\"stream\":0,\"time_us\":1040},"
    "{\"action\":\"alloc\",\"addr\":4096,\"size\":1000,\"stream\":0,\"time_us\":1050,\"frames\":["
    "{\"name\":\"g\",\"filename\":\"/u/m.py\",\"line\":8}]},"
    "{\"action\":\"oom\",\"device_free\":100,\"size\":5000,\"stream\":0,\"time_us\":1060},"
    "{\"action\":\"free_requested\",\"addr\":5632,\"size\":200,\"stream\":0,\"time_us\":1070},"
    "{\"action\":\"free_completed\",\"addr\":5632,\"size\":200,\"stream\":0,\"time_us\":1080}]],"
    "\"segments\":[{\"device\":1,\"address\":4096,\"total_size\":2048,\"stream\":0,\"segment_type\":\"small\","
    "\"blocks\":[{\"address\":4096,\"size\":1024,\"requested_size\":1000,\"state\":\"active_allocated\",\"frames\":[]},"
    "{\"address\":5120,\"size\":512,\"requested_size\":300,\"state\":\"active_allocated\",\"frames\":[]},"
    "{\"address\":5632,\"size\":512,\"requested_size\":200,\"state\":\"inactive\",\"frames\":[]}]}],"
    "\"external_annotations\":[{\"name\":\"s\",\"stage\":\"START\",\"device\":1,\"time_us\":1015},"
    "{\"name\":\"s\",\"stage\":\"END\",\"device\":1,\"time_us\":1055}]}";

TEST(the_peak_is_the_first_of_the_largest_and_counts_what_was_there_before)
{
    struct snapshot *snapshot = read_text(drawn);
    assert_int_equal(snapshot->devices.count, 2);
    struct allocator_history *replay = scratch(allocator_history_open(snapshot, &snapshot->devices.at[1]));
    assert_int_equal(replay->allocated.start, 200);
    assert_int_equal(replay->allocated.peak, 1500);
    assert_int_equal(replay->allocated.peak_entry, 5);
    assert_int_equal(replay->allocated.end, 1300);
    static const int64_t allocated[] = { 200, 800, 1100, 500, 500, 1500, 1500, 1300, 1300 };
    static const int64_t active[] = { 200, 800, 1100, 1100, 500, 1500, 1500, 1500, 1300 };
    struct walk walk = walk_begin(replay);
    for (int i = 0; walk_next(&walk); i++) {
        assert_int_equal(walk.allocated, allocated[i]);
        assert_int_equal(walk.active, active[i]);
        assert_int_equal(walk.reserved, 2048);
    }
    assert_int_equal(replay->frees_ignored + replay->realloc_of_live + replay->live_not_in_segments, 0);
    struct alive *alive = scratch(alive_find(replay, 5, ALIVE_BY_LINE));
    assert_int_equal(alive->rows.count, 3);
    assert_string_equal(alive->rows.at[0].name, "/u/m.py:8:g");
    assert_string_equal(alive->rows.at[1].name, alive_no_frames);
    assert_int_equal(alive->rows.at[1].bytes, 300);
    assert_string_equal(alive->rows.at[2].name, alive_before_recording);
    assert_int_equal(alive->before_bytes, 200);
}

/* Just before the oom: C in [4096, 5120), B, D: the segment is full, and 4900 of the 5000 bytes are missing. */
TEST(an_oom_is_judged_by_what_was_free_just_before)
{
    struct snapshot *snapshot = read_text(drawn);
    struct snapshots all = { 0 };
    *VEC_PUSH(&all.of) = snapshot;
    struct snapshot_answers *answers = scratch(snapshot_answer(&all, &(struct snapshot_query){ 0 }));
    assert_int_equal(answers->ooms.rows.count, 1);
    const struct oom_row *oom = &answers->ooms.rows.at[0];
    assert_int_equal(oom->entry, 6);
    assert_int_equal(oom->allocated, 1500);
    assert_int_equal(oom->inactive, 0);
    assert_int_equal(oom->kind, OOM_OUT_OF_MEMORY);
    assert_int_equal(oom->missing, 4900);
    assert_int_equal(answers->scopes.rows.count, 1); /* 1015 to 1055: after entry 1, after entry 5 */
    const struct scope_row *scope = &answers->scopes.rows.at[0];
    assert_int_equal(scope->start_bytes, 800);
    assert_int_equal(scope->peak_bytes, 1500);
    assert_int_equal(scope->growth_bytes, 700);
    VEC_FREE(&all.of);
}

/* After entry 4: A is gone, so [4096, 5120) is free; B and D are there. */
TEST(segments_of_an_earlier_moment_have_holes_where_blocks_were)
{
    struct snapshot *snapshot = read_text(drawn);
    struct allocator_history *replay = scratch(allocator_history_open(snapshot, &snapshot->devices.at[1]));
    struct state at;
    state_find(replay, 4, &at);
    assert_int_equal(at.ranges.count, 1);
    assert_int_equal(at.inactive, 1024);
    assert_int_equal(at.inactive_split, 1024);
    assert_int_equal(at.largest_free, 1024);
    assert_int_equal(at.ranges.at[0].piece_count, 3);
    assert_int_equal(at.outside, 0);
    EACH(VEC_FREE, &at.ranges, &at.pieces);
    state_find(replay, HISTORY_BEFORE_FIRST, &at); /* the segment came with entry 0, and D is in none */
    assert_int_equal(at.reserved, 0);
    assert_int_equal(at.outside, 1);
    EACH(VEC_FREE, &at.ranges, &at.pieces);
}

/* Four steps; `log` keeps 100 bytes in each of them, `f` keeps 50 in the first alone: 200, 300, 400 behind the first. */
TEST(a_leak_grows_in_every_step_behind_the_second)
{
    SCRATCH_BUFFER(text);
    buffer_puts(&text, "{\"segments\":[],\"device_traces\":[[");
    for (int step = 0; step < 5; step++) {
        buffer_printf(
            &text,
            "%s{\"action\":\"alloc\",\"addr\":%d,\"size\":100,\"time_us\":%d,\"frames\":[{\"name\":\"log\","
            "\"filename\":\"/u/log.py\",\"line\":3}]}",
            step ? "," : "", 1000 + step, step * 10 + 1);
        if (step == 0)
            buffer_puts(
                &text,
                ",{\"action\":\"alloc\",\"addr\":1,\"size\":50,\"time_us\":2,\"frames\":[{\"name\":\"f\","
                "\"filename\":\"/u/f.py\",\"line\":4}]}");
    }
    buffer_puts(&text, "]],\"external_annotations\":[");
    for (int step = 0; step < 5; step++)
        buffer_printf(&text,
                      "%s{\"name\":\"ProfilerStep#%d\",\"stage\":\"START\",\"device\":0,\"time_us\":%d},"
                      "{\"name\":\"ProfilerStep#%d\",\"stage\":\"END\",\"device\":0,\"time_us\":%d}",
                      step ? "," : "", step, step * 10, step, step * 10 + 5);
    buffer_puts(&text, "]}");
    struct snapshots all = { 0 };
    *VEC_PUSH(&all.of) = read_text(text.at);
    struct snapshot_answers *answers = scratch(snapshot_answer(&all, &(struct snapshot_query){ 0 }));
    assert_int_equal(answers->leaks.rows.count, 1);
    assert_string_equal(answers->leaks.rows.at[0].line.at, "/u/log.py:3:log");
    assert_int_equal(answers->leaks.rows.at[0].slope, 100);
    assert_int_equal(answers->leaks.rows.at[0].first_bytes, 200);
    assert_int_equal(answers->leaks.rows.at[0].last_bytes, 500);
    assert_int_equal(answers->leaks.rows.at[0].steps, 3);
    VEC_FREE(&all.of);
}

/* Three blocks of one line, in use for 1 us, 2 us and two hours: more than fits beside the least in 32 bits. */
TEST(lifetimes_of_hours_keep_their_microseconds)
{
#define ACTION(action, addr, time)                                                                           \
    "{\"action\":\"" action "\",\"addr\":" addr ",\"size\":8,\"time_us\":" time "}"
    struct snapshots all = { 0 };
    *VEC_PUSH(&all.of) =
        read_text("{\"segments\":[],\"device_traces\":[[" ACTION("alloc", "1", "10") "," ACTION(
            "alloc", "2",
            "10") "," ACTION("free_requested", "1",
                             "11") "," ACTION("alloc", "3",
                                              "20") "," ACTION("free_requested", "3",
                                                               "22") "," ACTION("free_requested", "2",
                                                                                "7200000013") "]]}");
    struct snapshot_answers *answers = scratch(snapshot_answer(&all, &(struct snapshot_query){ 0 }));
    assert_int_equal(answers->churn.rows.count, 1);
    assert_int_equal(answers->churn.rows.at[0].lifetime_median_ns, 2000);
    assert_int_equal(answers->churn.rows.at[0].lifetime_longest_ns, INT64_C(7200000003000));
    VEC_FREE(&all.of);
}

/* ---- pickles ---- */

/* {'device_traces': [[{'action': 'alloc', 'addr': ADDR, 'size': 5, 'frames': F}]], 'segments': []}, protocol 2. */
#define HEAD                                                                                                 \
    "\x80\x02}q\x00(X\x0d\x00\x00\x00"                                                                       \
    "device_traces]q\x01]q\x02"
#define ENTRY(addr)                                                                                          \
    "}q\x03(X\x06\x00\x00\x00"                                                                               \
    "actionX\x05\x00\x00\x00"                                                                                \
    "allocX\x04\x00\x00\x00"                                                                                 \
    "addr" addr "X\x04\x00\x00\x00"                                                                          \
    "sizeK\x05u"
#define TAIL                                                                                                 \
    "aaX\x08\x00\x00\x00"                                                                                    \
    "segments]u."
#define LITERAL(text) text, sizeof(text) - 1

TEST(a_pickle_of_protocol_2_is_read)
{
    static const char bytes[] = HEAD ENTRY("\x8a\x09\x00\x00\x00\x00\x00\x00\x00\xff\x00") TAIL;
    struct snapshot *snapshot = read_bytes(LITERAL(bytes), NULL);
    assert_non_null(snapshot);
    assert_int_equal(snapshot->entries.count, 1);
    assert_int_equal(snapshot->entries.size[0], 5);
    assert_true(snapshot->entries.addr[0] == UINT64_C(0xff00000000000000)); /* nine bytes: above 2^63 */
    assert_int_equal(snapshot->notices.count, 0);
}

TEST(what_was_whole_before_a_cut_is_kept)
{
    static const char bytes[] = HEAD ENTRY("K\x07") "}q\x04(X\x06\x00\x00\x00"
                                                    "action";
    size_t whole = sizeof(HEAD ENTRY("K\x07")) - 1, with_traces = sizeof("\x80\x02}q\x00(X\x0d\x00\x00\x00"
                                                                         "device_traces]") -
                                                                  1;
    for (size_t len = 0; len < sizeof bytes; len++) {
        struct snapshot *snapshot = read_bytes(bytes, len, NULL);
        assert_int_equal(snapshot != NULL, len >= with_traces);
        if (!snapshot)
            continue;
        size_t listed = 0;
        for (size_t d = 0; d < snapshot->devices.count; d++)
            listed += snapshot->devices.at[d].end - snapshot->devices.at[d].first;
        assert_int_equal(listed, len >= whole);
        assert_string_equal(snapshot->notices.at[0].kind, "cut_short");
    }
}

/* A dict that holds itself, a list that holds itself, one entry that stands in its list twice. */
TEST(cycles_and_sharing_end)
{
    struct tpa_error err = { 0 };
    static const char bytes[] = "\x80\x02}q\x00(X\x04\x00\x00\x00"
                                "selfh\x00X\x05\x00\x00\x00"
                                "loops]q\x05(h\x05h\x05"
                                "e"
                                "X\x0d\x00\x00\x00"
                                "device_traces]q\x01]q\x02(" ENTRY("K\x07") "h\x03"
                                                                            "eaX\x08\x00\x00\x00"
                                                                            "segments]u.";
    struct snapshot *snapshot = read_bytes(LITERAL(bytes), &err);
    if (!snapshot)
        fail_msg("%s", err.message);
    assert_int_equal(snapshot->devices.at[0].end - snapshot->devices.at[0].first, 2);
}

/*
 * A dict that cannot be read in one piece, because a float comes behind a text and a list that are remembered: their
 * numbers in the memo must not be given twice. 0 root, 1 "segments", 2 its list, 3 "device_traces", 4 the outer list, 5 the
 * list of entries, 6 the first entry, 7 "action", 8 "alloc", 9 "frames", 10 [], 11 "size", 12 the second entry.
 */
TEST(a_record_given_up_half_way_leaves_the_memo_as_it_was)
{
    static const char bytes[] = "\x80\x04}\x94(\x8c\x08segments\x94]\x94\x8c\x0d"
                                "device_traces\x94]\x94]\x94("
                                "}\x94(\x8c\x06"
                                "action\x94\x8c\x05"
                                "alloc\x94\x8c\x06"
                                "frames\x94]\x94\x8c\x04size\x94G"
                                "\x40\x59\x00\x00\x00\x00\x00\x00u"
                                "}\x94(h\x07h\x08h\x09h\x0ah\x0bK\x07u"
                                "eau.";
    struct snapshot *snapshot = read_bytes(LITERAL(bytes), NULL);
    assert_non_null(snapshot);
    assert_int_equal(snapshot->notices.count, 0);
    assert_int_equal(snapshot->entries.count, 2);
    assert_int_equal(snapshot->entries.action[0], ENTRY_ALLOC);
    assert_int_equal(snapshot->entries.size[0], 100);
    assert_int_equal(snapshot->entries.action[1], ENTRY_ALLOC);
    assert_int_equal(snapshot->entries.size[1], 7);
}

/*
 * Two frames, numbers 3 (a.py) and 4 (b.py) of the memo, and lists of them with few bytes. Then number 3 is given to b.py, and
 * the same bytes are another stack: 34 43 34 43, 3, again 34.
 */
#define FRAME(number, file)                                                                                  \
    "}q" number "(X\x04\x00\x00\x00"                                                                         \
    "nameX\x01\x00\x00\x00"                                                                                  \
    "fX\x08\x00\x00\x00"                                                                                     \
    "filenameX\x04\x00\x00\x00" file "u"
#define ENTRY_OF(frames)                                                                                     \
    "}(X\x06\x00\x00\x00"                                                                                    \
    "actionX\x05\x00\x00\x00"                                                                                \
    "allocX\x04\x00\x00\x00"                                                                                 \
    "sizeK\x05X\x06\x00\x00\x00"                                                                             \
    "frames]" frames "u"
#define FRAMES_34                                                                                            \
    "(h\x03h\x04"                                                                                            \
    "e"
#define FRAMES_43                                                                                            \
    "(h\x04h\x03"                                                                                            \
    "e"
TEST(lists_with_the_same_bytes_are_one_stack_until_the_memo_changes)
{
    static const char bytes[] =
        "\x80\x02}(X\x08\x00\x00\x00"
        "segments]X\x01\x00\x00\x00"
        "w](" FRAME("\x03", "a.py")
            FRAME("\x04", "b.py") "eX\x0d\x00\x00\x00"
                                  "device_traces](](" ENTRY_OF(FRAMES_34) ENTRY_OF(FRAMES_43)
                                      ENTRY_OF(FRAMES_34) ENTRY_OF(FRAMES_43)
                                          ENTRY_OF("h\x03"
                                                   "a") "h\x04q\x03"
                                                        "0" ENTRY_OF(FRAMES_34) "eeu.";
    struct tpa_error err = { 0 };
    struct snapshot *snapshot = read_bytes(LITERAL(bytes), &err);
    if (!snapshot)
        fail_msg("%s", err.message);
    assert_int_equal(snapshot->notices.count, 0);
    assert_int_equal(snapshot->entries.count, 6);
    const stack_id *stacks = snapshot->entries.stack;
    static const char *const files[] = { "a.py b.py", "b.py a.py", "a.py b.py",
                                         "b.py a.py", "a.py",      "b.py b.py" };
    for (size_t e = 0; e < 6; e++) {
        const struct snapshot_stack *stack = &snapshot->stacks.at[stacks[e]];
        SCRATCH_BUFFER(text);
        for (uint32_t i = 0; i < stack->count; i++)
            buffer_printf(&text, "%s%s", i ? " " : "",
                          names_text(snapshot->names,
                                     snapshot->frames.at[snapshot->stack_frames.at[stack->first + i]].file));
        assert_string_equal(text.at, files[e]);
    }
    assert_int_equal(stacks[0], stacks[2]);
}

/* Places for a column's values come with the first that differs. */
TEST(a_column_says_the_same_until_an_entry_differs)
{
    struct snapshot *snapshot =
        read_text("{\"segments\":[],\"device_traces\":[[{\"action\":\"alloc\",\"size\":1,\"stream\":7},"
                  "{\"action\":\"alloc\",\"size\":1,\"stream\":7,\"category\":\"input\"},"
                  "{\"action\":\"alloc\",\"size\":1,\"stream\":7}]]}");
    const struct snapshot_entries *entries = &snapshot->entries;
    assert_null(entries->stream.at);
    assert_non_null(entries->category.at);
    for (size_t e = 0; e < 3; e++) {
        assert_int_equal(snapshot->streams.at[column_at(&entries->stream, e)], 7);
        name_id category = column_at(&entries->category, e);
        assert_int_equal(category != NAME_NONE, e == 1);
    }
    assert_string_equal(names_text(snapshot->names, column_at(&entries->category, 1)), "input");
}

/* One file per operation that imports or calls: each would make a file, were it run. */
TEST(nothing_is_ever_run)
{
    char canary[] = "/tmp/tpa_canary_XXXXXX";
    int file = mkstemp(canary);
    assert_true(file >= 0);
    close(file);
    unlink(canary);
    static const struct {
        const char *name, *head, *tail;
    } bombs[] = {
        { "GLOBAL", "cos\nsystem\n(S'touch ", "'\ntR." },
        { "GLOBAL",
          "\x80\x02"
          "cposix\nsystem\nq\x00(S'touch ",
          "'\ntRq\x01." },
        { "STACK_GLOBAL", "\x80\x04\x8c\x02os\x8c\x06system\x93(S'touch ", "'\ntR." },
        { "REDUCE", "\x80\x02N(S'touch ", "'\ntR." },
        { "BUILD", "\x80\x02N(S'touch ", "'\ntb." },
        { "INST", "(S'touch ", "'\nios\nsystem\n." },
        { "OBJ", "(NS'touch ", "'\no." },
        { "NEWOBJ", "\x80\x02N(S'touch ", "'\nt\x81." },
        { "NEWOBJ_EX", "\x80\x04N)(S'a'\nS'touch ", "'\nd\x92." },
        { "EXT1", "\x80\x02\x82\x01(S'touch ", "'\ntR." },
        { "EXT2", "\x80\x02\x83\x01\x01(S'touch ", "'\ntR." },
        { "EXT4", "\x80\x02\x84\x01\x01\x01\x01(S'touch ", "'\ntR." },
        { "PERSID", "Ptouch ", "\n." },
        { "BINPERSID", "\x80\x02S'touch ", "'\nQ." },
        { "NEXT_BUFFER", "\x80\x05\x97S'touch ", "'\n." },
        { "READONLY_BUFFER", "\x80\x05N\x98S'touch ", "'\n." },
    };
    for (size_t i = 0; i < sizeof bombs / sizeof *bombs; i++) {
        SCRATCH_BUFFER(bytes);
        struct tpa_error err = { 0 };
        /* The code stands in a snapshot that is good so far: it is refused as a whole. */
        static const char good[] = "(dp0\nS'segments'\np1\n(lp2\nsS'device_traces'\np3\n(lp4\nsS'x'\np5\n";
        buffer_add(&bytes, good, sizeof good - 1);
        buffer_puts(&bytes, bombs[i].head);
        buffer_puts(&bytes, canary);
        buffer_puts(&bytes, bombs[i].tail);
        struct snapshot *snapshot = read_bytes(bytes.at, bytes.count, &err);
        if (snapshot || !strstr(err.message, "asks to run code") || !strstr(err.message, bombs[i].name))
            fail_msg("%s: %s", bombs[i].name, snapshot ? "was read" : err.message);
        assert_int_not_equal(access(canary, F_OK), 0);
    }
}

TEST(lengths_and_numbers_of_the_memo_are_not_believed)
{
    static const struct {
        const char *bytes;
        size_t len;
    } bad[] = {
        { LITERAL("\x80\x04\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"
                  "abc") },                         /* a text of 2^63 bytes */
        { LITERAL("\x80\x02]r\xff\xff\xff\x7f.") }, /* number 2^31 of the memo */
        { LITERAL("\x80\x02]j\xff\xff\xff\x7f.") },
        { LITERAL("\x80\x02"
                  "e.") }, /* no mark */
        { LITERAL("\x80\x02u.") },
        { LITERAL("\x80\x02s.") },
        { LITERAL("\x80\x02.") },
        { LITERAL("\x80\x02(((((((((") },
        { LITERAL("\x80\x02}(K\x01u.") }, /* a key without a value */
        { LITERAL("\x80\x09}.") },
        { LITERAL("\x80\x02\xff.") },
        { LITERAL("\x80\x02\x8b\xff\xff\xff\xff.") },
    };
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
        struct tpa_error err = { 0 };
        assert_null(read_bytes(bad[i].bytes, bad[i].len, &err));
        assert_true(err.failed);
    }
}

/* A million lists within each other take no stack. */
TEST(depth_takes_no_stack)
{
    enum { DEEP = 1000000 };
    SCRATCH_BUFFER(bytes);
    struct tpa_error err = { 0 };
    buffer_add(&bytes, "\x80\x02", 2);
    buffer_pad(&bytes, ']', DEEP);
    buffer_pad(&bytes, 'a', DEEP - 1);
    buffer_putc(&bytes, '.');
    assert_null(read_bytes(bytes.at, bytes.count, &err));
    buffer_clear(&bytes);
    buffer_puts(&bytes, "{\"segments\":");
    buffer_pad(&bytes, '[', DEEP);
    err = (struct tpa_error){ 0 };
    read_bytes(bytes.at, bytes.count, &err);
}

/* Outermost last, as recorded: of nine frames three are shown. A stack of nothing else is shown whole. */
TEST(a_flame_leaves_out_frames_that_only_lead_to_others)
{
    static const char text[] =
        "{\"device_traces\":[[{\"action\":\"alloc\",\"addr\":4096,\"size\":512,\"stream\":0,\"time_us\":1,\"frames\":["
        "{\"name\":\"torch::unwind::unwind()\",\"filename\":\"??\",\"line\":0},"
        "{\"name\":\"at::empty(long)\",\"filename\":\"??\",\"line\":0},"
        "{\"name\":\"cfunction_call\",\"filename\":\"/src/python-3.10.14/Objects/methodobject.c\",\"line\":543},"
        "{\"name\":\"step\",\"filename\":\"train.py\",\"line\":7},"
        "{\"name\":\"_PyEval_EvalFrameDefault\",\"filename\":\"??\",\"line\":0},"
        "{\"name\":\"_PyObject_MakeTpCall.localalias\",\"filename\":\"\",\"line\":0},"
        "{\"name\":\"main\",\"filename\":\"train.py\",\"line\":9},"
        "{\"name\":\"Py_BytesMain\",\"filename\":\"??\",\"line\":0},"
        "{\"name\":\"_start\",\"filename\":\"??\",\"line\":0}]},"
        "{\"action\":\"alloc\",\"addr\":8192,\"size\":100,\"stream\":0,\"time_us\":2,\"frames\":["
        "{\"name\":\"clone\",\"filename\":\"??\",\"line\":0}]}]],\"segments\":[]}";
    struct snapshot *snapshot = read_text(text);
    struct allocator_history *replay = scratch(allocator_history_open(snapshot, &snapshot->devices.at[0]));
    struct flame *flame = snapshot_flame(replay);
    static const char *const shown[] = { "train.py:9:main", "train.py:7:step", "at::empty(long)", "clone" };
    assert_int_equal(flame->frames.count, 4);
    for (size_t i = 0; i < 4; i++) {
        assert_string_equal(names_text(flame->names, flame->frames.at[i].name), shown[i]);
        assert_int_equal(flame->frames.at[i].host_ns, i < 3 ? 512 : 100);
    }
    flame_free(flame);
}

/* Three of LINES lines of 100 bytes each are named: of 5 they hold 300 of 500 bytes, most of them; of 7 they are the largest only. */
static void check_holders(int lines, const char *words)
{
    SCRATCH_BUFFER(text);
    buffer_puts(&text, "{\"segments\":[],\"device_traces\":[[");
    for (int i = 0; i < lines; i++)
        buffer_printf(
            &text,
            "%s{\"action\":\"alloc\",\"addr\":%d,\"size\":100,\"stream\":0,\"time_us\":%d,\"frames\":["
            "{\"name\":\"g\",\"filename\":\"/u/m.py\",\"line\":%d}]}",
            i ? "," : "", 4096 + 512 * i, 1000 + i, i + 1);
    buffer_puts(&text, "]]}");
    struct snapshot *snapshot = read_text(text.at);
    struct snapshots all = { 0 };
    *VEC_PUSH(&all.of) = snapshot;
    struct snapshot_query query = { .at = { .kind = MOMENT_PEAK } };
    struct snapshot_answers *answers = scratch(snapshot_answer(&all, &query));
    struct result *result = scratch_result(result_open("tpa.snapshot/1"));
    snapshot_say(answers, &query.at, result);
    assert_int_equal(result->notices.count, 1);
    assert_non_null(strstr(result->notices.at[0].text, words));
    VEC_FREE(&all.of);
}

TEST(only_more_than_half_is_most)
{
    check_holders(5, "; most is held by u/m.py:");
    check_holders(7, "; the largest holders are u/m.py:");
}
