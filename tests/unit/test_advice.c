/* test_advice.c - derive/advice.c and derive/features.c: no advice names functions of another framework. */

#include "tests/unit/scratch.h"
#include "derive/advice.h"
#include "derive/features.h"
#include "trace/builder.h"

/* A trace without events, written by PRODUCER, of a device called NAME. */
static struct trace *trace_by(enum trace_producer producer, const char *name)
{
    struct trace_builder *builder = trace_builder_open(&(struct trace_wants){ 0 });
    trace_builder_file(builder, "test", "test");
    struct trace_file *file = trace_builder_current_file(builder);
    file->producer = producer;
    *VEC_PUSH(&file->devices) = (struct trace_device){ .id = 0, .name = name };
    return scratch_trace(trace_builder_finish(builder));
}

static void check_says_none_of(const char *text, const char *const *words)
{
    for (; text && *words; words++)
        if (strstr(text, *words))
            fail_msg("\"%s\" says %s", text, *words);
}

static void check_advice(enum trace_producer producer, const char *device, const char *const *words)
{
    struct trace *trace = trace_by(producer, device);
    for (int advice = 0; advice < ADVICES; advice++) {
        const char *text = trace_advice(trace, (enum advice)advice);
        assert_true(text || advice == ADVICE_LOAD_DATA || advice == ADVICE_RECORD_SIZES ||
                    advice == ADVICE_RECORD_GROUPS);
        check_says_none_of(text, words);
    }
    for (unsigned feature = 0; feature < FEATURE_COUNT; feature++)
        check_says_none_of(trace_feature_recipe(trace, (enum trace_feature)(1u << feature)), words);
}

TEST(advice_for_jax_and_tensorflow_names_nothing_of_pytorch)
{
    static const char *const of_torch[] = { "torch",
                                            "Torch",
                                            "DDP",
                                            "FSDP",
                                            "NCCL",
                                            "DataLoader",
                                            "pin_memory=",
                                            "non_blocking",
                                            "CUDA graph",
                                            "ProfilerActivity",
                                            "record_shapes",
                                            "profile_memory",
                                            NULL };
    static const char *const of_jax[] = { "jax.", "XLA_PYTHON", NULL };
    static const char *const of_tensorflow[] = { "tf.config", "tf.keras", "tf.profiler", NULL };
    check_advice(PRODUCER_JAX, "V100", of_torch);
    check_advice(PRODUCER_JAX, "V100", of_tensorflow);
    check_advice(PRODUCER_TENSORFLOW, "V100", of_torch);
    check_advice(PRODUCER_TENSORFLOW, "V100", of_jax);
}

TEST(advice_for_a_tpu_names_nothing_of_gpus)
{
    static const char *const of_gpus[] = { "graph",   "command buffer", "CUDA", "cuda",
                                           "xla_gpu", "stream",         NULL };
    check_advice(PRODUCER_JAX, "TPU v6e", of_gpus);
    check_advice(PRODUCER_TENSORFLOW, "TPU v6e", of_gpus);
}

TEST(advice_without_a_framework_names_none)
{
    static const char *const of_frameworks[] = { "torch.",       "jax", "tf.", "DataLoader",
                                                 "non_blocking", "DDP", NULL };
    struct trace *trace = trace_by(PRODUCER_NSYS, "V100");
    for (int advice = 0; advice < ADVICES; advice++)
        check_says_none_of(trace_advice(trace, (enum advice)advice), of_frameworks);
}
