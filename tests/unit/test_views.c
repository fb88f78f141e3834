/* test_views.c - analyze/views.h: which steps are shown, what adds up to what. */
#include "tests/unit/drawn.h"

#include "analyze/views.h"

SCRATCH_OF(views)

static void operator_(const char *name, int64_t start_ns, int64_t dur_ns, int64_t id)
{
    draw_host("cpu_op", name, DRAW_PROCESS, start_ns, dur_ns);
    draw_arg(ARG_EXTERNAL_ID, id);
}

static void launch(int64_t start_ns, const char *kernel, int64_t kernel_ns, int64_t dur_ns, int64_t id)
{
    draw_host("cuda_runtime", "cudaLaunchKernel", DRAW_PROCESS, start_ns, 2);
    draw_arg(ARG_EXTERNAL_ID, id);
    draw_arg(ARG_CORRELATION, 100 + id);
    draw_event("kernel", kernel, 0, 7, kernel_ns, dur_ns);
    draw_arg(ARG_EXTERNAL_ID, id);
    draw_arg(ARG_CORRELATION, 100 + id);
}

/*
 * Three steps of 100, 300 and 200 ns; in each f calls g, which launches k. The last work of a step ends it.
 *   host  [ProfilerStep#N ...................)
 *           [f 10.......40) [f 50..60)
 *              [g 12..30)
 *   stream        [k 20...45)
 */
static struct trace *three_steps(void)
{
    static const int64_t begin[] = { 0, 1000, 2000 }, length[] = { 100, 300, 200 };
    for (int64_t step = 0; step < 3; step++) {
        char name[32];
        snprintf(name, sizeof name, "ProfilerStep#%d", (int)step + 4);
        draw_host("user_annotation", name, DRAW_PROCESS, begin[step], length[step]);
        operator_("f", begin[step] + 10, 30, 10 * step + 1);
        operator_("g", begin[step] + 12, 18, 10 * step + 2);
        launch(begin[step] + 14, "k", begin[step] + 20, 25, 10 * step + 2);
        operator_("f", begin[step] + 50, 10, 10 * step + 3);
    }
    return drawn();
}

static struct views *look(struct trace *trace)
{
    const struct selection *selection = selection_all(trace);
    struct views *views = scratch_views(views_open(trace, selection));
    return views;
}

static const struct flame_frame *frame_called(const struct flame *flame, const char *name)
{
    for (size_t i = 0; i < flame->frames.count; i++)
        if (strcmp(names_text(flame->names, flame->frames.at[i].name), name) == 0)
            return &flame->frames.at[i];
    fail_msg("no frame %s", name);
    return NULL;
}

TEST(the_slowest_and_the_median_step_are_shown)
{
    struct trace *trace = three_steps();
    struct views *views = look(trace);
    assert_int_equal(views->count, 2);
    assert_string_equal(views->at[0]->title, "the slowest step, number 5");
    assert_string_equal(views->at[1]->title, "the median step, number 6");
    assert_int_equal(frame_called(views->at[0], "ProfilerStep#5")->host_ns, 300);
    assert_int_equal(frame_called(views->at[1], "ProfilerStep#6")->host_ns, 200);
}

TEST(a_flame_adds_up)
{
    struct trace *trace = three_steps();
    struct views *views = look(trace);
    const struct flame *flame = views->at[0];
    const struct flame_frame *step = frame_called(flame, "ProfilerStep#5"), *f = frame_called(flame, "f"),
                             *g = frame_called(flame, "g"), *k = frame_called(flame, "k");
    assert_int_equal(flame->frames.count, 5); /* both calls of f are one frame */
    assert_int_equal(step->parent, FRAME_NONE);
    assert_int_equal(step->host_ns, 300);
    assert_int_equal(f->count, 2);
    assert_int_equal(f->host_ns, 30 + 10);
    assert_int_equal(g->host_ns, 18);
    assert_int_equal(k->host_ns, 0);
    assert_int_equal(k->device_ns, 25);
    assert_int_equal(g->device_ns, 25);
    assert_int_equal(step->device_ns, 25);
    assert_ptr_equal(&flame->frames.at[g->parent], f);
    assert_string_equal(names_text(flame->names, flame->frames.at[k->parent].name), "cudaLaunchKernel");
}

TEST(without_steps_all_is_shown)
{
    operator_("f", 500, 100, 1);
    launch(510, "a", 520, 30, 1);
    launch(530, "b", 540, 30, 2);
    struct views *views = look(drawn());
    assert_int_equal(views->count, 1);
    assert_int_equal(frame_called(views->at[0], "a")->device_ns, 30);
    assert_int_equal(frame_called(views->at[0], "b")->device_ns, 30);
}

TEST(an_empty_trace_has_no_views)
{
    draw_begin(drawn_wants);
    struct views *views = look(drawn());
    assert_int_equal(views->count, 0);
}

TEST(small_frames_stay_with_their_callers)
{
    struct flame *flame = flame_open("f", "f");
    frame_id all = flame_frame(flame, FRAME_NONE, "all", 3), tiny = flame_frame(flame, all, "tiny", 4),
             below = flame_frame(flame, tiny, "below", 5), big = flame_frame(flame, all, "big", 3);
    assert_int_equal(flame_frame(flame, all, "big", 3), big);
    assert_int_not_equal(flame_frame(flame, FRAME_NONE, "big", 3), big);
    flame->frames.at[all].host_ns = 10000;
    flame->frames.at[tiny].host_ns = 9;
    flame->frames.at[below].host_ns = 8;
    flame->frames.at[below].device_ns = 0;
    flame->frames.at[big].host_ns = 5000;
    flame_finish(flame, 0.001);
    assert_int_equal(flame->frames.count, 2);
    assert_string_equal(names_text(flame->names, flame->frames.at[1].name), "big");
    assert_int_equal(flame->frames.at[1].parent, 0);
    flame_free(flame);
}
