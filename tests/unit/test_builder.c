/* test_builder.c - trace/builder.h: chunks become columns; begins and ends become events. */
#include "tests/unit/scratch.h"
#include "trace/builder.h"

#include <math.h>

struct scene {
    struct trace_builder *builder;
    struct trace_chunk *chunk;
    track_id track;
};

static struct scene open_scene(void)
{
    struct trace_wants wants = { .args = ~UINT64_C(0), .flows = true, .counters = true };
    struct scene scene = { .builder = trace_builder_open(&wants) };
    trace_builder_file(scene.builder, "a.json", "test");
    scene.chunk = trace_chunk_open(scene.builder);
    scene.track = trace_chunk_track(scene.chunk, &(struct track_key){ .pid = 1, .tid = 2 });
    return scene;
}

static void add(struct scene *scene, char phase, const char *name, int64_t start, int64_t dur)
{
    struct trace_chunk *chunk = scene->chunk;
    name_id id = name ? trace_chunk_name(chunk, name, strlen(name)) : NAME_NONE;
    trace_chunk_event(chunk, &(struct chunk_event){ .phase = phase,
                                                    .start_ns = start,
                                                    .dur_ns = dur,
                                                    .name = id,
                                                    .track = scene->track,
                                                    .category = trace_chunk_category(chunk, "cpu_op", 6),
                                                    .async_id = 7 });
}

static struct trace *finish(struct scene *scene)
{
    assert_true(trace_builder_append(scene->builder, scene->chunk, NULL));
    trace_chunk_free(scene->chunk);
    return scratch_trace(trace_builder_finish(scene->builder));
}

static void check(const struct trace *trace, event_id e, const char *name, int64_t start, int64_t dur)
{
    assert_true(e < trace->event_count);
    assert_string_equal(trace_name(trace, e), name);
    assert_int_equal(trace_start_ns(trace, e), start);
    assert_int_equal(trace_dur_ns(trace, e), dur);
}

/*
 *   0   10   20   30   40
 *   [ a ----------- ]         B a 0, E 30 without a name
 *       [ b -- ]              B b 10, E 20
 *   the ends come first in the file
 */
TEST(ends_close_the_innermost_event)
{
    struct scene scene = open_scene();
    add(&scene, 'E', NULL, 20, -1);
    add(&scene, 'E', NULL, 30, -1);
    add(&scene, 'B', "b", 10, -1);
    add(&scene, 'B', "a", 0, -1);
    struct trace *trace = finish(&scene);
    assert_int_equal(trace->event_count, 2);
    check(trace, 0, "b", 10, 10);
    check(trace, 1, "a", 0, 30);
    assert_int_equal(trace->notice_count, 0);
}

/*
 *   [ o ---- ]                B o 0, B i 5, E o 10, E i 20: they cross, and both keep their length
 *       [ i ------- ]
 */
TEST(events_that_cross_keep_their_length)
{
    struct scene scene = open_scene();
    add(&scene, 'B', "o", 0, -1);
    add(&scene, 'B', "i", 5, -1);
    add(&scene, 'E', "o", 10, -1);
    add(&scene, 'E', "i", 20, -1);
    struct trace *trace = finish(&scene);
    check(trace, 0, "o", 0, 10);
    check(trace, 1, "i", 5, 15);
}

/* B a 0, E a 10, B a 10, E a 10: equal times go by the file's order, so the second lasts 0. */
TEST(equal_times_go_by_the_order_of_the_file)
{
    struct scene scene = open_scene();
    add(&scene, 'B', "a", 0, -1);
    add(&scene, 'E', "a", 10, -1);
    add(&scene, 'B', "a", 10, -1);
    add(&scene, 'E', "a", 10, -1);
    struct trace *trace = finish(&scene);
    check(trace, 0, "a", 0, 10);
    check(trace, 1, "a", 10, 0);
}

/* An end that names nothing open is counted; an event never ended lasts until the last moment, 50. */
TEST(what_is_open_or_lone_is_said)
{
    struct scene scene = open_scene();
    add(&scene, 'B', "open", 20, -1);
    add(&scene, 'E', "other", 30, -1);
    add(&scene, 'X', "last", 40, 10);
    struct trace *trace = finish(&scene);
    check(trace, 0, "open", 20, 30);
    assert_true(trace->flags[0] & EVENT_UNFINISHED);
    assert_int_equal(find_notice(trace, "end_without_begin")->count, 1);
    assert_int_equal(find_notice(trace, "begin_without_end")->count, 1);
}

/* Async events of one id nest by themselves, apart from the thread's B and E. */
TEST(async_events_have_stacks_of_their_own)
{
    struct scene scene = open_scene();
    add(&scene, 'b', "x", 0, -1);
    add(&scene, 'B', "y", 5, -1);
    add(&scene, 'b', "x", 10, -1);
    add(&scene, 'n', "x", 12, -1);
    add(&scene, 'e', "x", 15, -1);
    add(&scene, 'E', NULL, 18, -1);
    add(&scene, 'e', "x", 20, -1);
    struct trace *trace = finish(&scene);
    assert_int_equal(trace->event_count, 4);
    check(trace, 0, "x", 0, 20);
    check(trace, 1, "y", 5, 13);
    check(trace, 2, "x", 10, 5);
    check(trace, 3, "x", 12, 0);
    assert_true(trace->flags[0] & EVENT_ASYNC);
    assert_false(trace->flags[1] & EVENT_ASYNC);
    assert_true(trace->flags[3] & EVENT_POINT);
}

TEST(args_of_an_end_join_those_of_its_begin)
{
    struct scene scene = open_scene();
    add(&scene, 'B', "a", 0, -1);
    trace_chunk_arg(scene.chunk, ARG_STREAM, 7);
    add(&scene, 'E', "a", 10, -1);
    trace_chunk_arg(scene.chunk, ARG_STREAM, 9); /* the begin's own counts */
    trace_chunk_arg(scene.chunk, ARG_BYTES, 512);
    add(&scene, 'X', "b", 20, 1);
    trace_chunk_arg(scene.chunk, ARG_BYTES, 8);
    struct trace *trace = finish(&scene);
    assert_int_equal(trace_arg_or(trace, ARG_STREAM, 0, -1), 7);
    assert_int_equal(trace_arg_or(trace, ARG_BYTES, 0, -1), 512);
    assert_int_equal(trace_arg_or(trace, ARG_BYTES, 1, -1), 8);
}

/* Every third event has a value; one in the middle needs 8 bytes, so all are widened. */
TEST(sparse_arguments_are_found_by_event)
{
    struct scene scene = open_scene();
    for (int64_t i = 0; i < 5000; i++) {
        add(&scene, 'X', "a", i, 1);
        if (i % 3 == 0)
            trace_chunk_arg(scene.chunk, ARG_SEQUENCE, i == 3000 ? INT64_C(1) << 40 : -i);
        if (i % 512 == 511)
            trace_chunk_arg_decimal(scene.chunk, ARG_OCCUPANCY, (double)i / 2);
    }
    struct trace *trace = finish(&scene);
    for (event_id e = 0; e < 5000; e++) {
        int64_t expected = e % 3 ? 77 : e == 3000 ? INT64_C(1) << 40 : -(int64_t)e;
        assert_int_equal(trace_arg_or(trace, ARG_SEQUENCE, e, 77), expected);
        double occupancy = trace_arg_decimal(trace, ARG_OCCUPANCY, e);
        assert_true(e % 512 == 511 ? occupancy == e / 2.0 : isnan(occupancy));
    }
    assert_int_equal(trace_arg_or(trace, ARG_ADDRESS, 0, 5), 5);
}

/* 7 and "07", and 2^40 and its low 32 bits, are tracks of their own; 7 and "7" are one. A stream shows by its events. */
TEST(tracks_are_distinguished_by_their_numbers)
{
    struct scene scene = open_scene();
    struct trace_chunk *chunk = scene.chunk;
    struct track_key keys[] = {
        { .pid = 0, .tid = 7 },
        { .pid = 0, .tid_text = "07", .tid_len = 2 },
        { .pid = INT64_C(1) << 40, .tid = 7 },
        { .pid = -1, .tid = 7 },
        { .pid = 0, .tid = 7 },
        { .pid_text = "0", .pid_len = 1, .tid_text = "7", .tid_len = 1 },
    };
    for (size_t i = 0; i < 6; i++)
        trace_chunk_event(chunk,
                          &(struct chunk_event){ .phase = 'X',
                                                 .start_ns = 1 + (int64_t)i,
                                                 .dur_ns = 1,
                                                 .name = trace_chunk_name(chunk, "k", 1),
                                                 .track = trace_chunk_track(chunk, &keys[i]),
                                                 .category = trace_chunk_category(chunk, "kernel", 6) });
    struct trace *trace = finish(&scene);
    assert_int_equal(trace->track[0], trace->track[4]);
    assert_int_equal(trace->track[0], trace->track[5]);
    for (size_t i = 0; i < 4; i++)
        for (size_t k = 0; k < i; k++)
            assert_int_not_equal(trace->track[i], trace->track[k]);
    assert_int_equal(trace->kind[0], EVENT_KERNEL);
    assert_int_equal(trace->tracks[trace->track[0]].kind, TRACK_STREAM);
    assert_int_equal(trace->tracks[trace->track[0]].device, 0);
    assert_int_equal(trace->tracks[trace->track[0]].stream, 7);
    assert_int_equal(trace->tracks[trace->track[0]].event_count, 3);
}

/* 2^61 ns may all last together: 4 events, of which none may be longer than 2^59 when they last more. */
TEST(durations_that_no_sum_could_hold_are_not_known)
{
    const int64_t whole = INT64_C(1) << 61, quarter = whole / 4;
    struct scene scene = open_scene();
    add(&scene, 'X', "whole", 0, whole - 15);
    add(&scene, 'X', "quarter", 10, quarter);
    add(&scene, 'X', "short", 20, 15);
    add(&scene, 'X', "more than a quarter", 30, quarter + 1);
    struct trace *trace = finish(&scene);
    check(trace, 0, "whole", 0, 0);
    check(trace, 1, "quarter", 10, quarter);
    check(trace, 2, "short", 20, 15);
    check(trace, 3, "more than a quarter", 30, 0);
    assert_true(trace->flags[0] & EVENT_NO_DURATION);
    assert_false(trace->flags[1] & EVENT_NO_DURATION);
    assert_int_equal(find_notice(trace, "absurd_duration")->count, 2);

    scene = open_scene();
    add(&scene, 'X', "whole", 0, whole - 15);
    add(&scene, 'X', "short", 20, 15);
    trace = finish(&scene);
    check(trace, 0, "whole", 0, whole - 15);
    assert_null(find_notice(trace, "absurd_duration"));
}
