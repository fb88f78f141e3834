#include "tests/unit/scratch.h"
#include "ingest/step_guess.h"
#include "trace/step_name.h"

TEST(a_step_has_a_number_and_a_name_for_all)
{
    static const struct {
        const char *name, *all; /* NULL: not the name of a step */
        int64_t number;
    } cases[] = {
        { "ProfilerStep#12", "ProfilerStep*", 12 },
        { "train [step 7]", "train [step *]", 7 },
        { "a [b] [step 0]", "a [b] [step *]", 0 },
        { "ProfilerStep", NULL, 0 },
        { "train [step ]", NULL, 0 },
        { "train [step -1]", NULL, 0 },
        { "train[step 7]", NULL, 0 },
        { "train [step 7] again", NULL, 0 },
        { "train 7", NULL, 0 },
        { "]", NULL, 0 },
        { "", NULL, 0 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCRATCH_BUFFER(text);
        int64_t number = -1;
        assert_int_equal(step_number(cases[i].name, &number), cases[i].all != NULL);
        assert_int_equal(step_name_is_mark(cases[i].name, strlen(cases[i].name)), cases[i].all != NULL);
        assert_int_equal(step_name_add_all(&text, cases[i].name), cases[i].all != NULL);
        if (cases[i].all) {
            assert_int_equal(number, cases[i].number);
            assert_string_equal(text.at, cases[i].all);
            assert_true(step_name_is_mark(text.at, text.count));
            assert_false(step_number(text.at, &number));
        }
    }
}

TEST(steps_of_devices_are_known_by_name)
{
    assert_true(step_name_is_of_devices(STEP_OF_DEVICES " [step 7]"));
    assert_false(step_name_is_of_devices("devices [step 7]"));
    assert_false(step_name_is_of_devices("device [step *]"));
    assert_false(step_name_is_of_devices("train [step 7]"));
}

TEST(a_number_is_not_said_twice)
{
    SCRATCH_BUFFER(text);
    step_name_add(&text, "train", 5, 17);
    assert_string_equal(text.at, "train [step 17]");
    buffer_clear(&text);
    step_name_add(&text, "train 17", 8, 17);
    assert_string_equal(text.at, "train [step 17]");
    buffer_clear(&text);
    step_name_add(&text, "train 117", 9, 17);
    assert_string_equal(text.at, "train 117 [step 17]");
}

/* Ranges with numbers that follow each other are steps, unless they are called after parts of a model. */
TEST(layers_are_no_steps)
{
    static const struct {
        const char *format, *pattern; /* NULL: none are guessed */
    } cases[] = { { "batch %d", "^batch [0-9]+$" }, { "layer%d", NULL }, { "model.Layers.%d", NULL } };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct trace_builder *builder = trace_builder_open(&(struct trace_wants){ 0 });
        trace_builder_file(builder, "drawn", "test");
        struct step_guess *guess = step_guess_open();
        for (int n = 0; n < 6; n++) {
            char name[32];
            int len = snprintf(name, sizeof name, cases[i].format, n % 2);
            step_guess_record(guess, name, (size_t)len, 1, 100 * n, 100 * n + 90);
        }
        const char *found = step_guess_notice(guess, builder);
        assert_int_equal(found != NULL, cases[i].pattern != NULL);
        if (found)
            assert_string_equal(found, cases[i].pattern);
        step_guess_free(guess);
        scratch_trace(trace_builder_finish(builder));
    }
}
