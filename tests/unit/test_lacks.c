/* test_lacks.c - base/lacks.h: the state of a recording that is not complete, and where it is kept. */
#include "tests/unit/drawn.h"
#include "tests/unit/tpa_bytes.h"

#include "figures/gather.h"
#include "tests/read_bytes.h"
#include "trace/append.h"
#include "trace/slice.h"

extern const struct format format_tpa;

TEST(words_and_sorts_are_distinct)
{
    for (int i = 0; i < LACK_COUNT; i++) {
        const char *word = lack_word((enum lack)i);
        unsigned sort = lack_sort((enum lack)i);
        assert_true(sort && (sort & (sort - 1)) == 0);
        assert_int_equal(lacks_of_word(word), sort);
        for (int other = 0; other < i; other++)
            assert_string_not_equal(lack_word((enum lack)other), word);
    }
    assert_int_equal(lacks_of_word("given_twice"), 0);
    assert_int_equal(lacks_of_word(NULL), 0);
    SCRATCH_BUFFER(text);
    lacks_append(&text, LACKS_END | LACKS_RECORDS);
    assert_string_equal(text.at, "end, records");
}

/* Two files: the first is whole, the second lacks LACK and has something odd that is none. */
static struct trace *two_files(enum lack lack)
{
    draw_host("cpu_op", "aten::mm", 1, 10, 40);
    trace_chunk_notice(draw_chunk_now(), "given_twice", "an event is odd", 3);
    draw_file("other.json");
    draw_host("cpu_op", "aten::add", 1, 10, 40);
    trace_chunk_lacks(draw_chunk_now(), lack, "something is missing", 77);
    return drawn();
}

TEST(the_file_that_lacks_something_is_known)
{
    for (int i = 0; i < LACK_COUNT; i++) {
        struct trace *trace = two_files((enum lack)i);
        assert_int_equal(trace->files[0].lacks, 0);
        assert_int_equal(trace->files[1].lacks, lack_sort((enum lack)i));
        assert_int_equal(trace_lacks(trace), lack_sort((enum lack)i));
        const struct trace_notice *last = &trace->notices[trace->notice_count - 1];
        assert_string_equal(last->kind, lack_word((enum lack)i));
        assert_int_equal(last->offset, 77);
    }
}

TEST(files_that_cannot_be_read_are_of_no_file)
{
    trace_builder_lacks_files(draw_builder_now(), LACK_LEFT_OUT, "left out: x.json", 2);
    struct trace *trace = drawn(), *sum = trace_open();
    assert_int_equal(trace->files[0].lacks, 0);
    assert_int_equal(trace_lacks(trace), LACKS_FILES);
    trace_append(sum, trace, NULL);
    assert_int_equal(trace_lacks(sum), LACKS_FILES);
    trace_free(sum);
}

TEST(merged_and_sliced_files_keep_it)
{
    struct trace *trace = two_files(LACK_CUT_SHORT), *other = two_files(LACK_DAMAGED_TABLE),
                 *sum = trace_open();
    const unsigned lacks[] = { 0, LACKS_END, 0, LACKS_PARTS };
    trace_append(sum, trace, NULL);
    trace_append(sum, other, NULL);
    for (size_t f = 0; f < 4; f++)
        assert_int_equal(sum->files[f].lacks, lacks[f]);
    assert_int_equal(trace_lacks(sum), LACKS_END | LACKS_PARTS);
    const bool keep[] = { true, false, false, true };
    trace_keep(sum, &(struct trace_part){ .files = keep });
    assert_int_equal(sum->files[0].lacks, 0);
    assert_int_equal(sum->files[1].lacks, LACKS_PARTS);
    trace_free(sum);
}

TEST(a_dropped_file_lacks_nothing)
{
    trace_builder_lacks(draw_builder_now(), LACK_CUT_SHORT, "cut", 1, TPA_NOWHERE);
    assert_true(trace_builder_drop_file(draw_builder_now()));
    trace_builder_file(draw_builder_now(), "next.json", "Chrome JSON");
    assert_int_equal(trace_lacks(drawn()), 0);
}

static struct trace *read_tpa(const struct buffer *bytes, size_t len)
{
    struct ingest_options options = { .workers = 1 };
    struct trace *trace = read_bytes_as(&format_tpa, bytes->at, len, &options, NULL);
    assert_non_null(trace);
    return scratch_trace(trace);
}

/* Of a damaged .tpa file with several files in it, each may be what was lost. */
TEST(a_tpa_file_keeps_it_and_has_its_own)
{
    struct trace *trace = two_files(LACK_LOST_STATE);
    struct buffer bytes = tpa_of_trace(trace, 0);
    struct trace *read = read_tpa(&bytes, bytes.count);
    assert_int_equal(read->files[0].lacks, 0);
    assert_int_equal(read->files[1].lacks, LACKS_RECORDS);
    read = read_tpa(&bytes, bytes.count - 9);
    assert_int_equal(read->file_count, 2);
    assert_int_equal(read->files[0].lacks & LACKS_END, LACKS_END);
    assert_int_equal(read->files[1].lacks, LACKS_END | LACKS_RECORDS);
    buffer_release(&bytes);
}

TEST(facts_mark_the_rank)
{
    struct trace *trace = two_files(LACK_BAD_EVENT);
    struct facts *facts = scratch(facts_open());
    facts_gather(facts, trace, &(struct gather_options){ 0 });
    facts_finish(facts);
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    assert_int_equal(facts->tables[FACTS_RECORDINGS].count, 2);
    assert_int_equal(recordings[0].cut + recordings[1].cut, 1);
    assert_int_equal(facts_lacks(facts), LACKS_PARTS);
}

TEST(snapshots_sums_and_results_have_it)
{
    struct snapshot *snapshot = snapshot_open("s.pickle");
    snapshot_notice(snapshot, "lone_end", "an end", 1, TPA_NOWHERE);
    assert_int_equal(snapshot->lacks, 0);
    snapshot_lacks(snapshot, LACK_CUT_SHORT, "cut", 1, 9);
    assert_int_equal(snapshot->lacks, LACKS_END);
    snapshot_free(snapshot);

    struct sums_origin first = { 0 }, second = { 0 };
    sums_origin_lacks(&second, LACK_LOST_SUMS, "lost", "x.tpa", 1, TPA_NOWHERE);
    sums_origin_adopt(&first, &second);
    assert_int_equal(first.lacks, LACKS_PARTS);
    sums_origin_release(&first);

    struct result *result = scratch_result(result_open("tpa.top/1"));
    result_add_notice(result, "unlinked_gpu_work", 3, NULL, TPA_NOWHERE, "3 kernels");
    assert_int_equal(result_lacks(result), 0);
    result_add_notice(result, "cut_short", 1, "a.json", 7, "the file ends");
    assert_int_equal(result_lacks(result), LACKS_END);
}
