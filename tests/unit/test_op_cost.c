/*
 * test_op_cost.c - derive/op_cost.h: operations and bytes of calls, worked out by hand as products.
 *
 * Types are written short: f float, h Half, b BFloat16, l long, i int, o bool, d double, e Float8_e4m3fn, c char, S a
 * number, L a list of numbers, - none.
 */

#include "tests/unit/unit.h"
#include "derive/device_peaks.h"
#include "derive/op_attended.h"
#include <math.h>

#define MISSING OP_UNKNOWN

static const char *type_name(char letter)
{
    switch (letter) {
    case 'f': return "float";
    case 'h': return "c10::Half";
    case 'b': return "c10::BFloat16";
    case 'l': return "long int";
    case 'i': return "int";
    case 'o': return "bool";
    case 'd': return "double";
    case 'e': return "c10::Float8_e4m3fn";
    case 'c': return "signed char";
    case 'S': return "Scalar";
    case 'L': return "ScalarList";
    default: return "";
    }
}

/* The cost of a call of NAME. CONCRETE is what stands between the quotes of each input, separated by '|'. */
static bool cost_of(const char *name, const char *dims, const char *letters, const char *strides,
                    const char *concrete, struct op_cost *cost)
{
    static struct op_call call;
    struct op_model model;
    SCOPED struct buffer types = { 0 }, values = { 0 };
    for (const char *c = letters; *c; c++)
        buffer_printf(&types, "%s\"%s\"", types.count ? "," : "[", type_name(*c));
    buffer_puts(&types, types.count ? "]" : "[]");
    buffer_puts(&values, "[\"");
    for (const char *c = concrete ? concrete : ""; *c; c++)
        if (*c == '|')
            buffer_puts(&values, "\",\"");
        else
            buffer_putc(&values, *c);
    buffer_puts(&values, "\"]");
    bool known = op_model_find(name, &model) && op_call_read(&call, dims, types.at, strides, values.at) &&
                 op_cost_of(&model, &call, cost);
    return known;
}

static void check(const char *name, const char *dims, const char *letters, const char *strides,
                  const char *concrete, int64_t flops, int64_t bytes)
{
    struct op_cost cost = { 0, 0, 0, NULL };
    if (!cost_of(name, dims, letters, strides, concrete, &cost))
        fail_msg("%s %s is not modelled", name, dims);
    if (cost.flops != flops || cost.bytes != bytes)
        fail_msg("%s %s: %lld operations, %lld bytes", name, dims, (long long)cost.flops,
                 (long long)cost.bytes);
}

static void check_none(const char *name, const char *dims, const char *letters, const char *concrete)
{
    struct op_cost cost;
    if (cost_of(name, dims, letters, NULL, concrete, &cost))
        fail_msg("%s %s is modelled: %lld operations, %lld bytes", name, dims, (long long)cost.flops,
                 (long long)cost.bytes);
}

/* a [64, 128] times b [128, 256]: out= counts once; a bias is read unless beta is 0; stride 0 is read once. */
TEST(products)
{
    const int64_t flops = 2 * 64 * 128 * 256;
    const int64_t elements = 64 * 128 + 128 * 256 + 64 * 256;
    check("aten::mm", "[[64,128],[128,256]]", "bb", NULL, "|", flops, 2 * elements);
    check("aten::mm", "[[64,128],[128,256],[64,256]]", "bbb", NULL, "||", flops, 2 * elements);
    check("aten::addmm", "[[256],[64,128],[128,256],[],[]]", "bbbSS", NULL, "|||1|1", flops,
          2 * (elements + 256));
    check("aten::addmm", "[[64,256],[64,128],[128,256],[],[]]", "fffSS", NULL, "|||0|1", flops, 4 * elements);
    check("aten::addmm", "[[64,256],[64,128],[128,256],[],[]]", "fffSS", "[[0,1],[128,1],[256,1],[],[]]",
          "|||1|1", flops, 4 * (elements + 256));
    check("aten::_addmm_activation", "[[256],[64,128],[128,256],[],[],[]]", "bbbSSS", NULL, "|||1|1|True",
          flops, 2 * (elements + 256));
    check("aten::bmm", "[[8,16,32],[8,32,64]]", "bb", "[[512,32,1],[0,64,1]]", "|", 2 * 8 * 16 * 32 * 64,
          2 * (8 * 16 * 32 + 32 * 64 + 8 * 16 * 64));
    check("aten::baddbmm", "[[8,1,64],[8,16,32],[8,32,64],[],[]]", "fffSS", NULL, "|||1|1",
          2 * 8 * 16 * 32 * 64, 4 * (8 * 64 + 8 * 16 * 32 + 8 * 32 * 64 + 8 * 16 * 64));
    check("aten::_int_mm", "[[64,128],[128,256]]", "cc", NULL, "|", flops,
          64 * 128 + 128 * 256 + 4 * 64 * 256);
    check("aten::mv", "[[6,5],[5]]", "ff", NULL, "|", 2 * 6 * 5, 4 * (30 + 5 + 6));
    check("aten::addmv", "[[6],[6,5],[5],[],[]]", "fffSS", NULL, "|||1|1", 60, 4 * (30 + 5 + 6 + 6));
    check("aten::addmv", "[[6],[6,5],[5],[],[]]", "fffSS", NULL, "|||0.|1", 60, 4 * (30 + 5 + 6));
}

/* The scales are read; ScalarType 15 is bfloat16: 2 bytes are written. Old releases have the type in front of the scales. */
TEST(products_that_scale_or_group)
{
    const int64_t flops = 2 * 64 * 128 * 256, read = 64 * 128 + 128 * 256 + 4 * (64 + 256);
    check("aten::_scaled_mm", "[[64,128],[128,256],[64,1],[1,256],[],[],[],[]]", "eeff--SS", NULL,
          "||||||15|False", flops, read + 2 * 64 * 256);
    check("aten::_scaled_mm", "[[64,128],[128,256],[64,1],[1,256],[],[],[],[]]", "eeff--SS", NULL,
          "|||||||False", flops, read + 64 * 256);
    check("aten::_scaled_mm", "[[64,128],[128,256],[64,1],[1,256],[256],[],[],[]]", "eeffb-SS", NULL,
          "||||||15|False", flops, read + 2 * 256 + 2 * 64 * 256);
    check("aten::_scaled_mm", "[[64,128],[128,256],[],[],[64,1],[1,256],[],[]]", "ee-Sff-S", NULL,
          "|||15||||False", flops, read + 2 * 64 * 256);
    check("aten::_scaled_mm_v2", "[[64,128],[128,256],[],[],[],[],[],[],[],[],[],[]]", "ee------b-LS", NULL,
          "|||||||||15||False", flops, MISSING); /* its scales are lists */
    /* 10 rows in 3 groups: all weights are read, and where the groups end */
    check("aten::_grouped_mm", "[[10,4],[3,4,6],[3],[],[]]", "bbi--", NULL, "||||", 2 * 10 * 4 * 6,
          2 * (40 + 72 + 60) + 4 * 3);
    check_none("aten::_grouped_mm", "[[3,10,4],[3,4,6],[3],[],[]]", "bbi--", "||||");
    /* 3 rows by both of 2 experts, of 6 x 4 and 4 x 3; one row by one of two, of which half are read on average */
    check("vllm::outplace_fused_experts", "[[3,4],[2,6,4],[2,4,3],[3,2],[3,2],[],[]]", "bbbfi--", NULL,
          "||||||", 3 * 2 * 2 * 4 * (6 + 3), 2 * (2 * 12 + 48 + 24) + 4 * (6 + 6));
    check("sglang::inplace_fused_experts", "[[1,4],[2,6,4],[2,4,3],[1,1],[1,1]]", "bbbfi", NULL, "||||",
          2 * 4 * (6 + 3), 2 * (2 * 4 + (48 + 24) / 2) + 4 * (1 + 1));
    check_none("aiter::fused_moe_", "[[3,4],[2,6,2],[2,4,3],[3,2],[3,2]]", "bbbfi", "||||");
    assert_string_equal(op_model_lacks("vllm::moe_forward"), "the experts' weights are none of its inputs");
    assert_string_equal(op_model_lacks("aten::mm"), "its sizes were not recorded, or do not fit");
    assert_null(op_model_lacks("vllm::unknown"));
}

/* 8 images of 3 x 32 x 32, 16 kernels of 3 x 3, stride 2, padding 1: 16 x 16 positions. cuDNN's has padding in front. */
TEST(convolutions)
{
    const int64_t flops = 2 * 8 * (16 * 3 * 9) * (16 * 16);
    const int64_t in = 8 * 3 * 32 * 32, weight = 16 * 3 * 9, out = 8 * 16 * 16 * 16;
    check("aten::convolution", "[[8,3,32,32],[16,3,3,3],[16],[],[],[],[],[],[]]", "fffLLLSLS", NULL,
          "|||[2, 2]|[1, 1]|[1, 1]|False|[0, 0]|1", flops, 4 * (in + weight + 16 + out));
    check("aten::_convolution", "[[8,3,32,32],[16,3,3,3],[16],[],[],[],[],[],[],[],[],[],[]]",
          "fffLLLSLSSSSS", NULL, "|||[2, 2]|[1, 1]|[1, 1]|False|[0, 0]|1|False|False|True|True", flops,
          4 * (in + weight + 16 + out));
    check("aten::cudnn_convolution", "[[8,3,32,32],[16,3,3,3],[],[],[],[],[],[],[]]", "ffLLLSSSS", NULL,
          "||[1, 1]|[2, 2]|[1, 1]|1|False|False|True", flops, 4 * (in + weight + out));
    check("aten::cudnn_convolution", "[[8,3,32,32],[16,3,3,3],[16],[],[],[],[],[],[]]", "fffLLLSSS", NULL,
          "|||[1, 1]|[2, 2]|[1, 1]|1|False|False", flops, 4 * (in + weight + 16 + out));
    check("aten::miopen_convolution", "[[8,3,32,32],[16,3,3,3],[],[],[],[],[],[],[]]", "ff-LLLSSS", NULL,
          "|||[1, 1]|[2, 2]|[1, 1]|1|False|False", flops, 4 * (in + weight + out));
    check("aten::mkldnn_convolution", "[[8,3,32,32],[16,3,3,3],[16],[],[],[],[]]", "fffLLLS", NULL,
          "|||[1, 1]|[2, 2]|[1, 1]|1", flops, 4 * (in + weight + 16 + out));
    /* 32 groups: the weights have 1 input each already; one number serves both dimensions: stride 1, padding 1 */
    check("aten::convolution", "[[4,32,8,8],[32,1,3,3],[],[],[],[],[],[],[]]", "ff-LLLSLS", NULL,
          "|||[1]|[1]|[1]|False|[0]|32", 2 * 4 * (32 * 9) * 64, 4 * (4 * 32 * 64 + 32 * 9 + 4 * 32 * 64));
    /* one dimension, dilated: (10 + 0 - 2 * 2 - 1) / 1 + 1 = 6 positions */
    check("aten::convolution", "[[1,2,10],[3,2,3],[],[],[],[],[],[],[]]", "hh-LLLSLS", NULL,
          "|||[1]|[0]|[2]|False|[0]|1", 2 * 18 * 6, 2 * (20 + 18 + 18));
}

/* Transposed: positions of the input, channels weight[1] * groups; 5 -> (5 - 1) * 2 - 2 * 1 + 3 + 0 + 1 = 10. */
TEST(transposed_convolutions)
{
    const int64_t flops = 2 * 2 * (16 * 8 * 16) * 25;
    const int64_t bytes = 4 * (2 * 16 * 25 + 16 * 8 * 16 + 2 * 8 * 100);
    check("aten::convolution", "[[2,16,5,5],[16,8,4,4],[],[],[],[],[],[],[]]", "ff-LLLSLS", NULL,
          "|||[2, 2]|[1, 1]|[1, 1]|True|[0, 0]|1", flops, bytes);
    check("aten::cudnn_convolution_transpose", "[[2,16,5,5],[16,8,4,4],[],[],[],[],[],[],[],[]]",
          "ffLLLLSSSS", NULL, "||[1, 1]|[0, 0]|[2, 2]|[1, 1]|1|False|False|True", flops, bytes);
    check("aten::miopen_convolution_transpose", "[[2,16,5,5],[16,8,4,4],[],[],[],[],[],[],[],[]]",
          "ff-LLLLSSS", NULL, "|||[1, 1]|[0, 0]|[2, 2]|[1, 1]|1|False|False", flops, bytes);
}

/* The first layer needs no gradient of its input; without a bias none of it is written. */
TEST(convolutions_backward)
{
    const char *dims = "[[8,16,16,16],[8,3,32,32],[16,3,3,3],[],[],[],[],[],[],[],[]]";
    const int64_t once = 2 * 8 * (16 * 3 * 9) * (16 * 16);
    const int64_t in = 8 * 3 * 32 * 32, weight = 16 * 3 * 9, out = 8 * 16 * 16 * 16;
    check("aten::convolution_backward", dims, "fffLLLLSLSL", NULL,
          "|||[16]|[2, 2]|[1, 1]|[1, 1]|False|[0, 0]|1|[False, True, True]", once,
          4 * (out + in + weight + 16));
    check("aten::convolution_backward", dims, "fffLLLLSLSL", NULL,
          "|||[0]|[2, 2]|[1, 1]|[1, 1]|False|[0, 0]|1|[True, True, False]", 2 * once,
          4 * (out + weight + in + in + weight));
    check("aten::convolution_backward", dims, "fffLLLLSLSL", NULL,
          "|||[0]|[2, 2]|[1, 1]|[1, 1]|False|[0, 0]|1|[True, False, False]", once, 4 * (out + weight + in));
    check_none("aten::convolution_backward", dims, "fffLLLLSLSL",
               "|||[0]|[2, 2]|[1, 1]|[1, 1]|False|[0, 0]|1|");
    /* Until torch 1.10 without numbers: the operator around both gradients has that of the weights. */
    check("aten::cudnn_convolution_backward", "[[8,3,32,32],[8,16,16,16],[16,3,3,3],[],[],[],[],[],[],[],[]]",
          "fffLLLSSSSL", NULL, NULL, once, 4 * (in + out + weight));
    check("aten::cudnn_convolution_backward_input", "[[],[8,16,16,16],[16,3,3,3],[],[],[],[],[],[],[]]",
          "LffLLLSSSS", NULL, NULL, once, OP_UNKNOWN);
    check_none("aten::cudnn_convolution_backward_input", "[[],[8,15,16,16],[16,3,3,3],[],[],[],[],[],[],[]]",
               "LffLLLSSSS", NULL);
}

/*
 * 3 sequences, 2 heads of 5 queries, 1 head of 5 keys: causal, tokens see 1 + 2 + 3 + 4 + 5 = 15. The values are 4
 * wide. The keys of the shared head are read once.
 */
TEST(attention)
{
    check("aten::_scaled_dot_product_flash_attention", "[[3,2,5,8],[3,1,5,8],[3,1,5,4],[],[],[],[]]",
          "bbbSSSS", NULL, "|||0.|True|False|0.25", 2 * 3 * 2 * 15 * (8 + 4),
          2 * (240 + 120 + 60 + 3 * 2 * 5 * 4));
    check("aten::_scaled_dot_product_efficient_attention",
          "[[3,2,4,8],[3,2,6,8],[3,2,6,8],[4,6],[],[],[],[]]", "ffffSSSS", NULL, "||||False|0.|False|",
          2 * 3 * 2 * 24 * 16, 4 * (192 + 288 + 288 + 24 + 192));
    check("aten::_flash_attention_forward",
          "[[3,5,2,8],[3,5,1,8],[3,5,1,4],[],[],[],[],[],[],[],[],[],[],[],[]]", "bbb--SSSSSS----", NULL,
          "|||||5|5|0.|True|False|0.25||||", 2 * 3 * 2 * 15 * 12, 2 * (240 + 120 + 60 + 120));
    /* aligned at the begins, 4 queries and 6 keys: 1 + 2 + 3 + 4 = 10; at the ends: 3 + 4 + 5 + 6 = 18 */
    check("aten::_efficient_attention_forward",
          "[[1,4,1,8],[1,6,1,8],[1,6,1,8],[],[],[],[],[],[],[],[],[],[],[]]", "fff---SSSSSS--", NULL,
          "||||||4|6|0.|1|True|||", 2 * 10 * 16, 4 * (32 + 48 + 48 + 32));
    check("aten::_efficient_attention_forward",
          "[[1,4,1,8],[1,6,1,8],[1,6,1,8],[],[],[],[],[],[],[],[],[],[]]", "fff---SSSSS--", NULL,
          "||||||4|0.|2|True|||", 2 * 18 * 16, 4 * (32 + 48 + 48 + 32));
    check("flash_attn::_flash_attn_forward", "[[1,4,1,8],[1,6,1,8],[1,6,1,8],[],[],[],[],[],[],[],[]]",
          "hhhSSSSSS-S", NULL, "|||0.|0.3|True|-1|-1|0.||False", 2 * 18 * 16, 2 * (32 + 48 + 48 + 32));
    /* more queries than keys, aligned at the ends: the first 2 see nothing, the others 1 + 2 */
    check("flash_attn::_flash_attn_forward", "[[1,4,1,8],[1,2,1,8],[1,2,1,8],[],[],[],[],[],[],[],[]]",
          "hhhSSSSSS-S", NULL, "|||0.|0.3|True|-1|-1|0.||False", 2 * 3 * 16, 2 * (32 + 16 + 16 + 32));
    /* more queries than keys, aligned at the begins: 1 + 2 + 2 + 2 */
    check("aten::_scaled_dot_product_flash_attention", "[[1,1,4,8],[1,1,2,8],[1,1,2,8],[],[],[],[]]",
          "hhhSSSS", NULL, "|||0.|True|False|0.25", 2 * 7 * 16, 2 * (32 + 16 + 16 + 32));
    /* a window hides pairs that are not counted here: the operations are missing, the bytes are not */
    check("flash_attn::_flash_attn_forward", "[[1,4,1,8],[1,6,1,8],[1,6,1,8],[],[],[],[],[],[],[],[]]",
          "hhhSSSSSS-S", NULL, "|||0.|0.3|True|2|0|0.||False", MISSING, 2 * (32 + 48 + 48 + 32));
}

/* Five products instead of two, of which the scores were there before. */
TEST(attention_backward)
{
    struct op_cost cost;
    const char *dims =
        "[[3,2,5,4],[3,2,5,8],[3,2,5,8],[3,2,5,4],[3,2,5,4],[3,2,5],[],[],[],[],[],[],[],[],[]]";
    const int64_t q = 3 * 2 * 5 * 8, v = 3 * 2 * 5 * 4;
    const char *concrete = "||||||||5|5|0.|True|||0.25";
    check("aten::_scaled_dot_product_flash_attention_backward", dims, "bbbbbf--SSSS--S", NULL, concrete,
          2 * 3 * 2 * 15 * (3 * 8 + 2 * 4), 2 * (v + q + q + v + v) + 4 * 30 + 2 * (q + q + v));
    check("aten::_scaled_dot_product_flash_attention_for_cpu_backward",
          "[[3,2,5,4],[3,2,5,8],[3,2,5,8],[3,2,5,4],[3,2,5,4],[3,2,5],[],[],[],[]]", "bbbbbfSS-S", NULL,
          "||||||0.|True||0.25", 2 * 3 * 2 * 15 * (3 * 8 + 2 * 4),
          2 * (v + q + q + v + v) + 4 * 30 + 2 * (q + q + v));
    assert_true(cost_of("aten::_scaled_dot_product_flash_attention_backward", dims, "bbbbbf--SSSS--S", NULL,
                        concrete, &cost));
    assert_int_equal(cost.recomputed, 2 * 3 * 2 * 15 * 8);
}

/* Sequences behind each other: nothing is guessed. What a step of vLLM says tells: 2 H (20 - 8 / 2 + 30) (Dqk + Dv). */
TEST(attention_of_variable_length)
{
    struct op_attended attended;
    static struct op_call call;
    check_none("aten::_flash_attention_forward",
               "[[50,2,8],[50,2,8],[50,2,8],[3],[3],[],[],[],[],[],[],[],[],[],[]]", "bbbiiSSSSSS----",
               "|||||30|30|0.|True|False|0.25||||");
    check_none("vllm::unified_attention_with_output", "[[50,2,8],[50,1,8],[50,1,8],[50,2,8],[],[],[]]",
               "bbbb---", "||||||");
    assert_true(op_attended_parse("execute_5_context_2(sq4sk10sqsq8sqsk20)_generation_3(sq3sk30sqsq3sqsk30)",
                                  &attended));
    assert_int_equal(attended.context_sqsq, 8);
    assert_int_equal(attended.context_sqsk, 20);
    assert_int_equal(attended.generation_sqsk, 30);
    assert_true(op_call_read(&call, "[[50,2,8],[50,1,8],[50,1,8],[50,2,8],[],[],[]]", NULL, NULL, NULL));
    assert_int_equal(op_attended_flops(&call, &attended), 2 * (2 * 20 - 8 + 2 * 30) * (8 + 8));
    assert_false(op_attended_parse("execute_context_1(888_788544)_generation_0(0)", &attended));
    assert_false(op_attended_parse("execute_5_context_2(sq4sk10sqsq8sqsk99999999999999999999)_generation_3",
                                   &attended));
    assert_false(op_attended_parse("step[DECODE bs=32]", &attended));
}

TEST(element_by_element)
{
    /* [1, 32, 1] with [4, 1, 64], of which the 4 have stride 0: 8192 float32 come of them */
    check("aten::mul", "[[1,32,1],[4,1,64]]", "fb", "[[32,1,1],[0,64,1]]", "|", 8192,
          32 * 4 + 64 * 2 + 8192 * 4);
    check("aten::add_", "[[10,10],[],[]]", "bdS", NULL, "||1", 100, 400);   /* a number reads nothing */
    check("aten::div", "[[6,50],[],[]]", "ldS", NULL, "||", 300, 300 * 12); /* integers divided are float32 */
    check("aten::div", "[[6,50],[],[]]", "llS", NULL, "||floor", 300, 300 * 16);
    check("aten::mul", "[[6,50],[]]", "ld", NULL, "|", 300, 300 * 12); /* and so are those times 0.5 */
    check("aten::mul", "[[6,50],[]]", "lS", NULL, "|2", 300, 300 * 16);
    check("aten::mul", "[[6,50],[]]", "lS", NULL, "|2.5", 300, 300 * 12);
    check("aten::add", "[[7],[7],[]]", "hbS", NULL, "||1", 7, 7 * (2 + 2 + 4));
    check("aten::eq", "[[1,141],[]]", "lS", NULL, "|1", 141, 141 * 9);
    check("aten::addcmul", "[[9],[9],[9],[]]", "fffS", NULL, "|||1", 27, 9 * 16);
    check("aten::where", "[[4,5],[5],[]]", "off", NULL, "||", 20, 20 + 5 * 4 + 20 * 4);
    check("aten::exp", "[[9]]", "l", NULL, "", 9, 9 * 12);
    check("aten::mul", "[[9],[9],[9]]", "hhf", NULL, "||", 9,
          9 * (2 + 2 + 4)); /* out= is written, not read */
    check("aten::threshold_backward", "[[5,128],[5,128],[]]", "ffS", NULL, "||0", 640, 7680);
    check_none("aten::mul", "[[],[]]", "ff", "|");
    check_none("aten::mul", "[[3],[4]]", "ff", "|");
    check_none("aten::fill_", "[[0],[]]", "lS", "|0");
    check("aten::mul", "[[9],[9]]", "f-", NULL, "|", 9, MISSING); /* a type that is not recorded */
}

TEST(norms_and_softmax)
{
    const int64_t n = 141 * 512;
    check("aten::native_layer_norm", "[[1,141,512],[],[512],[512],[]]", "bLbbS", NULL, "|[512]||1e-12", 7 * n,
          2 * (2 * n + 1024));
    check("aten::native_layer_norm", "[[1,141,512],[],[],[],[]]", "bL--S", NULL, "|[512]|||1e-12", 5 * n,
          4 * n);
    check("aten::native_group_norm", "[[2,6,5],[6],[6],[],[],[],[],[]]", "fffSSSSS", NULL, "|||2|6|5|3|1e-05",
          7 * 60, 4 * (60 + 12 + 60));
    check("aten::native_batch_norm", "[[2,6,5],[6],[6],[6],[6],[],[],[]]", "fffffSSS", NULL,
          "|||||True|0.1|1e-05", 5 * 60, 4 * (60 + 24 + 60));
    check("aten::cudnn_batch_norm", "[[2,6,5],[6],[6],[6],[6],[],[],[]]", "fffffSSS", NULL,
          "|||||False|0.1|1e-05", 2 * 60, 4 * (60 + 24 + 60));
    check("aten::native_layer_norm_backward", "[[4,8],[4,8],[],[4,1],[4,1],[8],[8],[]]", "ffLffffL", NULL,
          "||[8]|||||[True, True, True]", 8 * 32, 4 * (32 + 32 + 4 + 4 + 8 + 8 + 32 + 8 + 8));
    check("aten::native_batch_norm_backward", "[[2,6,5],[2,6,5],[6],[6],[6],[6],[6],[],[],[]]", "fffffffSSL",
          NULL, "|||||||True|1e-05|[True, True, True]", 8 * 60, 4 * (60 + 60 + 30 + 60 + 12));
    check("aten::_softmax", "[[8,16],[],[]]", "fSS", NULL, "|1|False", 5 * 128, 4 * 256);
    check("aten::_softmax", "[[8,16],[],[]]", "hSS", NULL, "|1|True", 5 * 128, 128 * (2 + 4));
    check("aten::_log_softmax_backward_data", "[[8,16],[8,16],[],[]]", "ffSS", NULL, "||1|6", 4 * 128,
          4 * 384);
    check("_C::rms_norm", "[[8,16],[8,16],[16],[]]", "bbbS", NULL, "|||1e-05", 4 * 128, 2 * (256 + 16));
    check("aiter::rmsnorm", "[[8,16],[8,16],[16],[]]", "bbbS", NULL, "|||1e-05", 4 * 128, 2 * (256 + 16));
    check("aiter::rms_norm", "[[8,16],[16],[],[]]", "bbSS", NULL, "||1e-05|0", 4 * 128, 2 * (256 + 16));
    check("aiter::add_rmsnorm", "[[8,16],[8,16],[8,16],[8,16],[16],[]]", "bbbbbS", NULL, "|||||1e-05",
          5 * 128, 2 * (512 + 16));
    check("_C::fused_add_rms_norm", "[[8,16],[8,16],[16],[]]", "bbbS", NULL, "|||1e-05", 5 * 128,
          2 * (512 + 16));
    check("_C::silu_and_mul", "[[8,16],[8,32]]", "bb", NULL, "|", 3 * 128, 2 * (128 + 256));
    check("_C::static_scaled_fp8_quant", "[[8,16],[8,16],[]]", "ebf", NULL, "||", 2 * 128, 128 * 3);
}

TEST(reductions)
{
    check("aten::mean", "[[16,50,20],[],[],[]]", "fLS-", NULL, "|[-1]|True|", 16000, 4 * (16000 + 800));
    check("aten::mean", "[[5,128],[],[],[],[]]", "fLS-f", NULL, "|[]|False||", 640, 4 * 641);
    check("aten::sum", "[[16,50],[],[],[]]", "oLS-", NULL, "||False|", 800, 800 + 8);
    check("aten::sum", "[[16,50],[]]", "b-", NULL, "|", 800, 1600 + 2);
    check("aten::sum", "[[16,50],[]]", "bS", NULL, "|6", 800, 1600 + 4);
    check("aten::sum", "[[5,128],[],[],[]]", "fLS-", NULL, "|[0]|True|", 640, 4 * (640 + 128));
    check("aten::amax", "[[16,50],[],[]]", "fLS", NULL, "|[1]|False", 800, 4 * 816);
    check("aten::argmax", "[[16,50],[],[]]", "fSS", NULL, "|-1|False", 800, 3200 + 8 * 16);
    check("aten::argmax", "[[16,50],[],[]]", "f-S", NULL, "||False", 800, 3200 + 8);
    check("aten::linalg_vector_norm", "[[16,50],[],[],[],[]]", "fSLS-", NULL, "|2|[1]|False|", 1600, 4 * 816);
    check("aten::norm", "[[16,50],[]]", "fS", NULL, "|2", 1600, 4 * 801);
    check("aten::sum", "[[16,50],[],[],[]]", "fLS-", NULL, "|[7]|True|", 800,
          MISSING); /* no such dimension */
}

TEST(moves)
{
    check("aten::copy_", "[[30,7],[30,7],[]]", "bfS", NULL, "||False", 0, 210 * (4 + 2));
    check("aten::copy_", "[[30,7],[30,7],[]]", "bfS", "[[7,1],[0,1],[]]", "||False", 0, 7 * 4 + 210 * 2);
    check("aten::fill_", "[[5,128],[]]", "fS", NULL, "|0", 0, 2560);
    check("aten::zero_", "[[5,128]]", "f", NULL, "", 0, 2560);
    check("aten::embedding", "[[100,16],[7,3],[],[],[]]", "blSSS", NULL, "||-1|False|False", 0,
          2 * (2 * 21 * 16) + 8 * 21);
    check("aten::index_select", "[[512,512],[],[141]]", "bSl", NULL, "|0|", 0, 2 * 2 * 141 * 512 + 8 * 141);
    check("aten::index_select", "[[4,6],[],[5]]", "fSl", NULL, "|-1|", 0, 2 * 4 * 20 + 40);
    check("aten::gather", "[[4,6],[],[4,2],[]]", "fSlS", NULL, "|1||False", 0, 2 * 4 * 8 + 64);
    check("triton_poi_fused_add_0", "[[8,4],[8,4],[]]", "bbS", NULL, "||32", MISSING, 2 * 64);
}

/* What a call does not tell is missing; an absurd one breaks nothing. */
TEST(nothing_is_guessed)
{
    check_none("aten::cat", "[[[2],[3]],[]]", "-S", "|0");
    check_none("aten::_foreach_add_", "[[[2],[3]],[]]", "-S", "|1");
    check_none("vllm::moe_forward", "[[888,3072],[888,128],[]]", "bb-", "||");
    check_none("triton_mm_3", "[[8,8],[8,8]]", "ff", "|");
    check_none("aten::mm", "nonsense", "ff", "|");
    check_none("aten::mm", "[[],[]]", "ff", "|");
    check_none("aten::mm", "[[2,3],[4,5]]", "ff", "|");
    check("aten::mm", "[[2,3],[3,4]]", "--", NULL, "|", 48, MISSING);
    check_none("aten::mm", "[[4000000000,4000000000],[4000000000,4000000000]]", "ff", "|");
    check_none("aten::add", "[[-5],[-5]]", "ff", "|");
    check_none("aten::convolution", "[[8,3,32,32],[16,3,3,3],[],[],[],[],[],[],[]]", "--LLLLSLS",
               "|||[0, 0]|[1, 1]|[1, 1]|False|[0, 0]|1");
}

TEST(promotes_as_torch)
{
    const struct tensor_type *half = tensor_type_named("c10::Half", 9), *brain = tensor_type_numbered(15);
    assert_int_equal(tensor_type_promote(half, brain)->number, 6);
    assert_int_equal(tensor_type_promote(half, tensor_type_numbered(4))->number, 5);
    assert_int_equal(tensor_type_promote(tensor_type_numbered(0), tensor_type_numbered(1))->number, 2);
    assert_int_equal(tensor_type_promote(tensor_type_numbered(11), tensor_type_numbered(3))->number, 3);
    assert_null(tensor_type_named("tensor of mine", 14));
}

TEST(peaks_are_found_by_name)
{
    struct device_peaks peaks;
    struct tpa_error err = { 0 };
    assert_true(device_peaks_find("NVIDIA A100-SXM4-80GB", &peaks));
    assert_true(peaks.bandwidth == 2039e9);
    assert_true(device_peaks_find("NVIDIA A100-SXM4-40GB", &peaks));
    assert_true(peaks.bandwidth == 1555e9);
    assert_true(device_peaks_find("NVIDIA H100 80GB HBM3", &peaks));
    assert_true(fabs(peaks.flops[PEAK_BF16] - 989.4e12) < 1e3);
    /* Profilers and jax.devices() write it differently, and a v5e is not half a v5p. */
    assert_true(device_peaks_find("TPU v5 lite", &peaks));
    assert_true(peaks.flops[PEAK_BF16] == 197e12 && peaks.bandwidth == 819e9);
    assert_true(device_peaks_find("TPU v5p", &peaks));
    assert_true(peaks.flops[PEAK_BF16] == 459e12 && peaks.bandwidth == 2765e9);
    assert_true(device_peaks_find("TPU v4", &peaks));
    assert_true(peaks.flops[PEAK_BF16] == 275e12 && peaks.bandwidth == 1200e9);
    assert_false(device_peaks_find("NVIDIA GeForce GTX 1080", &peaks));
    assert_false(device_peaks_find(NULL, &peaks));
    assert_true(peaks.bandwidth == 0);
    assert_true(device_peaks_override(&peaks, "bf16=989T,hbm=3.35T,fp32=67000G", &err));
    assert_true(peaks.flops[PEAK_BF16] == 989e12);
    assert_true(peaks.bandwidth == 3.35e12);
    assert_true(peaks.flops[PEAK_FP32] == 67e12);
    const char *wrong[] = { "bf16", "bf16=",   "bf16=0",   "bf16=-3T", "bf17=3T",
                            "=3T",  "bf16=3X", "bf16=3T,", "bf16=nan" };
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        err = (struct tpa_error){ 0 };
        assert_false(device_peaks_override(&peaks, wrong[i], &err));
    }
}
