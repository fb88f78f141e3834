/* test_renames.c - diff/renames.h: which names are the same but for what a compiler or an edit put in. */

#include "tests/unit/unit.h"
#include "diff/renames.h"

static void check_mask(enum rename_kind kind, const char *name, const char *expected)
{
    SCRATCH_BUFFER(out);
    buffer_puts(&out, "");
    rename_mask(&out, name, strlen(name), kind);
    if (strcmp(out.at, expected) != 0)
        fail_msg("%s became %s, not %s", name, out.at, expected);
}

TEST(numbers_that_say_nothing_are_masked)
{
    check_mask(RENAME_NUMBERS, "triton_poi_fused_add_3", "triton_poi_fused_add_#");
    check_mask(RENAME_NUMBERS, "triton_poi_fused_add_3.kd", "triton_poi_fused_add_#.kd");
    check_mask(RENAME_NUMBERS, "kernel_4f5a9c3e12", "kernel_#");
    check_mask(RENAME_NUMBERS, "model.py:12(forward)", "model.py:#(forward)");
    check_mask(RENAME_NUMBERS, "lambda at 0x7fA0", "lambda at #");
    check_mask(RENAME_NUMBERS, "f()::{lambda(int)#12}", "f()::{lambda(int)##}");
    check_mask(RENAME_NUMBERS, "thread 31139 (python)", "thread # (python)");
    check_mask(RENAME_NUMBERS, "GPU 3 stream 7", "GPU # stream 7");
}

/* Tiles, architectures, dimensions and words of hexadecimal letters are what the kernel is. */
TEST(numbers_that_tell_kernels_apart_stay)
{
    check_mask(RENAME_NUMBERS, "volta_sgemm_128x64_tn", "volta_sgemm_128x64_tn");
    check_mask(RENAME_NUMBERS, "sm80_xmma_gemm_f16f16_f32", "sm80_xmma_gemm_f16f16_f32");
    check_mask(RENAME_NUMBERS, "layer1 conv2d", "layer1 conv2d");
    check_mask(RENAME_NUMBERS, "accede_feedface", "accede_feedface");
    check_mask(RENAME_NUMBERS, "k<float, 4>", "k<float, 4>");
    check_mask(RENAME_NUMBERS, "", "");
}

TEST(template_arguments_are_masked_in_two_steps)
{
    check_mask(RENAME_TYPES, "void gemm<float, 128, Add>(float*)", "void gemm<#, #, Add>(#*)");
    check_mask(RENAME_TYPES, "void gemm<c10::Half, 64, Add>(c10::Half*)", "void gemm<#, #, Add>(#*)");
    check_mask(RENAME_TYPES, "k<unsigned int>", "k<#>");
    check_mask(RENAME_TYPES, "k<at::native::Add<double> >", "k<at::native::Add<#> >");
    check_mask(RENAME_TEMPLATE, "void gemm<float, Add<int>, 3>(float*, int)", "void gemm<#>(#)");
    /* What only looks like a bracket stays. */
    check_mask(RENAME_TEMPLATE, "operator<", "operator<");
    check_mask(RENAME_TEMPLATE, "a->b<c", "a->b<c");
    check_mask(RENAME_TEMPLATE, "<listcomp>", "<listcomp>");
    check_mask(RENAME_TEMPLATE, "f(int", "f(int");
    check_mask(RENAME_TEMPLATE, "f<<<", "f<<<");
}

enum { MOST = 8 };

/* Pairs of two lists that end in NULL, as "gone=come:kind " in order of the gone ones. */
static void check_pairs(const char *const *gone, const char *const *come, const char *expected)
{
    struct rename_name names[2][MOST] = { { { NULL, 0 } } };
    size_t counts[2] = { 0, 0 };
    for (; gone[counts[0]]; counts[0]++)
        names[0][counts[0]] = (struct rename_name){ gone[counts[0]], strlen(gone[counts[0]]) };
    for (; come[counts[1]]; counts[1]++)
        names[1][counts[1]] = (struct rename_name){ come[counts[1]], strlen(come[counts[1]]) };
    struct rename pairs[MOST];
    size_t count = renames_pair(names[0], counts[0], names[1], counts[1], pairs);
    SCRATCH_BUFFER(out);
    buffer_puts(&out, "");
    for (size_t g = 0; g < counts[0]; g++)
        for (size_t i = 0; i < count; i++)
            if (pairs[i].gone == g)
                buffer_printf(&out, "%s=%s:%d ", gone[g], come[pairs[i].come], (int)pairs[i].kind);
    assert_string_equal(out.at, expected);
}

TEST(the_surest_pairs_come_first)
{
    check_pairs((const char *const[]){ "add_12", "add_3", "k<float>", NULL },
                (const char *const[]){ "k<half>", "add_4", "add_13", NULL },
                "add_12=add_13:1 add_3=add_4:1 k<float>=k<half>:2 "); /* 3 before 12 as numbers */
    /* One more on a side stays alone. */
    check_pairs((const char *const[]){ "add_1", "add_2", NULL }, (const char *const[]){ "add_7", NULL },
                "add_1=add_7:1 ");
    /* Another functor is another kernel unless there is just one on each side. */
    check_pairs((const char *const[]){ "e<Add>", NULL }, (const char *const[]){ "e<Mul>", NULL },
                "e<Add>=e<Mul>:3 ");
    check_pairs((const char *const[]){ "e<Add>", "e<Sub>", NULL }, (const char *const[]){ "e<Mul>", NULL },
                "");
    check_pairs((const char *const[]){ "sgemm_128x64", NULL }, (const char *const[]){ "sgemm_32x32", NULL },
                "");
    check_pairs((const char *const[]){ NULL }, (const char *const[]){ "a", NULL }, "");
    /* Vendors' calls differ in their prefix. */
    check_pairs((const char *const[]){ "cudaLaunchKernel", "cudaMalloc", "cudnn_k", NULL },
                (const char *const[]){ "hipMalloc", "hipLaunchKernel", "hipk", NULL },
                "cudaLaunchKernel=hipLaunchKernel:0 cudaMalloc=hipMalloc:0 ");
}
