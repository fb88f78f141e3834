#include "derive/callers.h"
#include "derive/python_names.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &(const struct trace_wants){ .args = CALLERS_WANTS };

static const char torch_frame[] =
    "/env/lib/python3.11/site-packages/torch/autograd/profiler.py(614): __enter__";

static void assert_line(const struct trace *trace, const char *call, const char *line)
{
    event_id e = event_called(trace, call);
    assert_int_not_equal(e, EVENT_NONE);
    struct callers *callers = scratch(callers_open(trace, &e, 1));
    size_t len;
    const char *found = callers_line(callers, e, &len);
    if (line) {
        assert_non_null(found);
        assert_int_equal(len, strlen(line));
        assert_memory_equal(found, line, len);
    } else {
        assert_null(found);
    }
}

/* A stack holds torch's frames first; the step around is an operator in old files, and not what called. */
TEST(a_line_is_the_users)
{
    char stack[256];
    snprintf(stack, sizeof stack,
             "%s;/env/lib/python3.11/contextlib.py(81): inner;train.py(42): <module>;main.py(1): f",
             torch_frame);
    draw_host("cpu_op", "ProfilerStep#7", 1, 0, 100);
    draw_text(ARG_CALL_STACK, torch_frame);
    draw_host("cpu_op", "next", 1, 10, 40);
    draw_text(ARG_CALL_STACK, stack);
    draw_host("cuda_runtime", "cudaMalloc", 1, 20, 10);
    draw_host("cpu_op", "bare", 1, 60, 10);

    assert_line(drawn(), "next", "train.py(42): <module>");
    assert_line(drawn(), "cudaMalloc", "train.py(42): <module>");
    assert_line(drawn(), "bare", torch_frame);
    event_id next = event_called(drawn(), "next");
    assert_int_not_equal(next, EVENT_NONE);
    struct callers *callers = scratch(callers_open(drawn(), &next, 1));
    assert_int_equal(callers_operator(callers, next), EVENT_NONE);
}

TEST(frames_know_whose_they_are)
{
    assert_int_equal(python_frame_of("train.py(1): f"), FRAME_OF_USER);
    assert_int_equal(python_frame_of("/home/me/torch_models/train.py(1): f"), FRAME_OF_USER);
    assert_int_equal(python_frame_of("/home/me/lib/python/train.py(1): f"), FRAME_OF_USER);
    assert_int_equal(python_frame_of("/env/lib/python3.9/site-packages/net/train.py(1): f"), FRAME_OF_USER);
    assert_int_equal(python_frame_of(torch_frame), FRAME_OF_TORCH);
    assert_int_equal(python_frame_of("/usr/lib/python3.11/threading.py(9): run"), FRAME_OF_TORCH);
    assert_int_equal(python_frame_of("<built-in function len>"), FRAME_NO_LINE);
}
