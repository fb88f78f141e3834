/* test_cause.c - diff/diff.h: which of the rows that changed is named as the cause. */
#include "tests/unit/unit.h"
#include "diff/diff.h"

TEST(names_have_classes)
{
    static const struct {
        const char *name;
        enum cause_class class;
    } cases[] = {
        { "aten::mm", CAUSE_WORK },
        { "void gemm<float>(float*)", CAUSE_WORK },
        { "Memcpy HtoD (Pageable -> Device)", CAUSE_WORK },
        { "eval", CAUSE_WORK },
        { "", CAUSE_WORK },
        { "cudaLaunchKernel", CAUSE_SHARED },
        { "hipLaunchKernel", CAUSE_SHARED },
        { "cudaGraphLaunch", CAUSE_SHARED },
        { "cudaMemcpyAsync", CAUSE_SHARED },
        { "cudaMalloc", CAUSE_SHARED },
        { "ncclDevKernel_AllReduce_Sum_f32_RING_LL", CAUSE_SHARED },
        { "c10d::allreduce_", CAUSE_SHARED },
        { "gloo:all_reduce", CAUSE_SHARED },
        { "cudaDeviceSynchronize", CAUSE_WAIT },
        { "cudaStreamSynchronize", CAUSE_WAIT },
        { "hipDeviceSynchronize", CAUSE_WAIT },
        { "cudaMemcpy", CAUSE_WAIT },
        { "aten::item", CAUSE_READ },
        { "aten::_local_scalar_dense", CAUSE_READ },
        { "ProfilerStep#12", CAUSE_STEP },
        { "ProfilerStep*", CAUSE_STEP },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (cause_class_of(cases[i].name, strlen(cases[i].name)) != cases[i].class)
            fail_msg("%s: class %d", cases[i].name, cause_class_of(cases[i].name, strlen(cases[i].name)));
}

/* Only LEN bytes count: a name need not end there. */
TEST(the_length_ends_a_name)
{
    const char *text = "aten::item_of_a_list";
    assert_int_equal(cause_class_of(text, strlen("aten::item")), CAUSE_READ);
    assert_int_equal(cause_class_of(text, strlen(text)), CAUSE_WORK);
}

/* A wait that grew by four times as much as the work is the wait for it; six times as much has another reason. */
TEST(work_is_named_before_the_wait_for_it)
{
    double work = 10 * cause_weight(CAUSE_WORK);
    assert_true(work > 40 * cause_weight(CAUSE_WAIT));
    assert_true(work < 60 * cause_weight(CAUSE_WAIT));
    assert_true(work > 30 * cause_weight(CAUSE_SHARED));
    assert_true(work < 40 * cause_weight(CAUSE_SHARED));
    assert_true(cause_weight(CAUSE_STEP) == 0);
}
