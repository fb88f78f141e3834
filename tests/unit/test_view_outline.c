/* test_view_outline.c - view/outline.c: what a first picture adds up while the spans are put in order. */
#include "tests/unit/drawn.h"

#include "view/spans.h"

SCRATCH_OF(view_spans)

/*
 *   host    [ProfilerStep#3 0......................................1000)   [aten::add 1100...1300)
 *            [aten::mm 30.......100) launches at 40
 *   stream        [gemm 100......300) and, inside, [add 150...200), then [Memcpy 700...800)
 */
static struct trace *some_work(void)
{
    draw_host("user_annotation", "ProfilerStep#3", DRAW_PROCESS, 0, 1000);
    draw_host("cpu_op", "aten::mm", DRAW_PROCESS, 30, 70);
    draw_host("cuda_runtime", "cudaLaunchKernel", DRAW_PROCESS, 40, 5);
    draw_host("cpu_op", "aten::add", DRAW_PROCESS, 1100, 200);
    draw_event("kernel", "gemm", 0, 7, 100, 200);
    draw_event("kernel", "add", 0, 7, 150, 50);
    draw_event("gpu_memcpy", "Memcpy DtoH", 0, 7, 700, 100);
    return drawn();
}

/* What all of ROW has from FROM_NS to TO_NS, which lie on steps. */
static int64_t time_between(const struct view_spans *spans, size_t row, int64_t from_ns, int64_t to_ns)
{
    const struct view_outline *outline = spans->outline;
    const struct view_row *of = &spans->rows.at[row];
    int64_t sum_ns = 0;
    for (uint64_t left = of->kinds; left; left &= left - 1)
        for (int64_t step = from_ns >> outline->level;
             step < (int64_t)outline->steps && step << outline->level < to_ns; step++)
            sum_ns += view_outline_sums(spans, of, (unsigned)__builtin_ctzll(left))[step];
    return sum_ns;
}

TEST(each_moment_of_a_track_counts_once)
{
    struct trace *trace = some_work();
    struct view_sides sides = { .count = 1 };
    struct view_spans *spans = scratch_view_spans(view_outline_open(trace, &sides));
    assert_non_null(spans);
    assert_int_equal(spans->length_ns, 1300);
    assert_int_equal(spans->rows.count, 2); /* the stream first */
    assert_int_equal(time_between(spans, 0, 0, 1300), 0);
    assert_int_equal(spans->outline->next, 0);
    assert_false(view_outline_more(spans));
    assert_int_equal(spans->outline->next, trace->event_count);
    assert_int_equal(time_between(spans, 0, 0, 1300), 300);
    assert_int_equal(time_between(spans, 0, 100, 300), 200);
    assert_int_equal(time_between(spans, 0, 700, 800), 100);
    assert_int_equal(time_between(spans, 1, 0, 1300), 1200);
    assert_int_equal(time_between(spans, 1, 1000, 1100), 0);
}

TEST(a_picture_of_it_says_that_it_is_not_complete)
{
    struct trace *trace = some_work();
    struct view_sides sides = { .count = 1 };
    struct view_spans *outline = scratch_view_spans(view_outline_open(trace, &sides));
    while (view_outline_more(outline))
        continue;
    SCRATCH_BUFFER(out);
    view_tile(outline, &(struct view_stretch){ .from_ns = 700, .to_ns = 704, .pixels = 2 }, &out);
    assert_non_null(strstr(out.at, "\"complete\":false"));
    assert_non_null(strstr(out.at, "\"spans\":[],\"sums\":[0,3,2,1,3,2]")); /* copies in both steps of 2 ns */
    buffer_clear(&out);
    struct view_spans *spans = scratch_view_spans(view_spans_open(trace, &sides));
    view_tile(spans, &(struct view_stretch){ .from_ns = 700, .to_ns = 704, .pixels = 2 }, &out);
    assert_non_null(strstr(out.at, "\"complete\":true"));
}

/* The picture of the first 10 us of a stream on which 9000 kernels overlap, in a recording of LENGTH_NS; to be released. */
static struct buffer picture_of_many(int64_t length_ns)
{
    for (int i = 0; i < 9000; i++)
        draw_event("kernel", "gemm", 0, 7, i % 100, 500 + i / 100);
    draw_event("kernel", "gemm", 0, 7, length_ns - 5, 5);
    struct view_spans *spans =
        scratch_view_spans(view_spans_open(drawn(), &(struct view_sides){ .count = 1 }));
    struct buffer out = { 0 };
    view_tile(spans, &(struct view_stretch){ .to_ns = 10240, .pixels = 10, .lanes = &(uint64_t){ 2 } }, &out);
    return out;
}

/* The number of a step, the kind and the time share 64 bits: a time that they leave no room for is kept in pieces. */
TEST(sums_are_exact_however_long_the_recording)
{
    SCOPED struct buffer soon = picture_of_many(20000);
    assert_non_null(strstr(soon.at, "\"depth\":3,\"spans\":[],\"sums\":[0,0,4898997]"));
    for (int bit = 15; bit < 47; bit++) {
        SCOPED struct buffer late = picture_of_many(INT64_C(1) << bit);
        assert_string_equal(soon.at, late.at);
    }
}

TEST(without_anything_that_takes_time_there_is_none)
{
    draw_begin(NULL);
    assert_null(view_outline_open(drawn(), &(struct view_sides){ .count = 1 }));
}
