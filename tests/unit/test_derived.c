/* test_derived.c - what several threads request is worked out once. */
#include "tests/unit/unit.h"
#include "base/parallel.h"
#include "trace/builder.h"
#include "trace/derived.h"

#include <unistd.h>
#include <stdatomic.h>

static atomic_int made, released;

static void count_released(void *of)
{
    (void)of;
    atomic_fetch_add(&released, 1);
}

static void *new_value(void)
{
    char *value = arena_open(1);
    arena_defer(arena_of(value), count_released, NULL);
    return value;
}

static void *derive_slowly(const struct trace *trace)
{
    (void)trace;
    usleep(2000); /* so that the others ask meanwhile */
    atomic_fetch_add(&made, 1);
    return new_value();
}

static void *derive_nothing(const struct trace *trace)
{
    (void)trace;
    atomic_fetch_add(&made, 1);
    return NULL;
}

static const struct derivation slow = { derive_slowly };
static const struct derivation nothing = { derive_nothing };

struct asking {
    const struct trace *trace;
    const struct derivation *derivation;
    const void *answers[8];
};

static void ask(void *context, size_t part)
{
    struct asking *asking = context;
    asking->answers[part] = trace_derive(asking->trace, asking->derivation);
}

static struct trace *empty_trace(void)
{
    return trace_builder_finish(trace_builder_open(&(struct trace_wants){ 0 }));
}

TEST(threads_wait_for_the_one_that_derives)
{
    struct trace *trace = empty_trace();
    struct asking asking = { .trace = trace, .derivation = &slow };
    made = released = 0;
    parallel_run(8, 8, ask, &asking);
    assert_int_equal(made, 1);
    for (size_t i = 0; i < 8; i++)
        assert_ptr_equal(asking.answers[i], asking.answers[0]);
    arena_free(asking.answers[0]); /* kept: no effect */
    assert_int_equal(released, 0);
    trace_free(trace);
    assert_int_equal(released, 1);
}

TEST(what_cannot_be_computed_is_requested_again)
{
    struct trace *trace = empty_trace();
    struct asking asking = { .trace = trace, .derivation = &nothing };
    made = released = 0;
    parallel_run(8, 8, ask, &asking);
    assert_int_equal(made, 8);
    assert_null(asking.answers[0]);
    trace_attach(trace, &nothing, new_value());
    assert_non_null(trace_derive(trace, &nothing));
    trace_free(trace);
    assert_int_equal(released, 1);
}

TEST(an_offer_is_taken_once)
{
    struct trace *trace = empty_trace();
    made = released = 0;
    void *first = new_value();
    trace_offer(trace, &slow, first);
    trace_offer(trace, &slow, new_value());
    assert_int_equal(released, 1);
    assert_ptr_equal(trace_derive(trace, &slow), first);
    trace_free(trace);
    assert_int_equal(released, 2);
}
