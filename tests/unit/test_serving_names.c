/* test_serving_names.c - derive/serving_names.h: what annotations of serving engines tell. */

#include "tests/unit/unit.h"
#include "derive/serving_names.h"

static void assert_step(const char *name, enum serving_phase phase, int64_t requests, int64_t tokens)
{
    struct serving_step step;
    assert_true(serving_step_of(name, &step));
    assert_int_equal(step.phase, phase);
    assert_int_equal(step.requests, requests);
    assert_int_equal(step.tokens, tokens);
}

static void assert_no_step(const char *name)
{
    struct serving_step step;
    assert_false(serving_step_of(name, &step));
}

TEST(vllm_tells_requests_and_tokens_of_both)
{
    assert_step("execute_context_1(888_788544)_generation_0(0)", SERVING_PREFILL, 1, 888);
    assert_step("execute_context_0(0)_generation_32(32)", SERVING_DECODE, 32, 32);
    assert_step("execute_context_2(512_0)_generation_30(60)", SERVING_MIXED, 32, 572);
    assert_step("execute_32_context_0(sq0sk0sqsq0sqsk0)_generation_32(sq32sk55086sqsq32sqsk55086)",
                SERVING_DECODE, 32, 32);
    assert_step("execute_5_context_1(sq64sk64sqsq4096sqsk4096)_generation_4(sq8sk900sqsq16sqsk1800)",
                SERVING_MIXED, 5, 72);
}

TEST(sglang_tells_the_mode)
{
    assert_step("step[DECODE bs=32]", SERVING_DECODE, 32, 32);
    assert_step("step[DECODE bs=32 toks=96]", SERVING_DECODE, 32, 96);
    assert_step("step[EXTEND bs=4 toks=1024 x=1]", SERVING_PREFILL, 4, 1024);
    assert_step("step[MIXED bs=7]", SERVING_MIXED, 7, -1);
    assert_no_step("step[IDLE bs=0]");
    assert_no_step("step[DECODE]");
}

TEST(others)
{
    assert_step("prefill[bs=3 tok=300 ctx=12]", SERVING_PREFILL, 3, 300);
    assert_step("decode[bs=5/8 tok=5 d=0]", SERVING_DECODE, 5, 5);
    assert_step("[Executor] _forward_step 12: 2 ctx reqs, 99 ctx tokens, 0 gen reqs", SERVING_PREFILL, 2, 99);
    assert_step("[Executor] _forward_step 13: 0 ctx reqs, 0 ctx tokens, 8 gen reqs", SERVING_DECODE, 8, -1);
    assert_step("execute_diffusion_2_1024x768", SERVING_DIFFUSION, 2, -1);
}

TEST(what_only_resembles_a_step_is_none)
{
    assert_no_step("");
    assert_no_step("execute_");
    assert_no_step("capture_32_DECODE");
    assert_no_step("execute_context_0(0)_generation_0(0)"); /* no requests */
    assert_no_step("execute_context_1(5)_generation_0(0) and more");
    assert_no_step("execute_context_1(5");
    assert_no_step("execute_context_99999999999999999999(5)_generation_0(0)");
    assert_no_step("execute_diffusion_2_1024");
    assert_no_step("prefill[tok=3]");
    assert_no_step("[Executor] _forward_step 12: ");
}
