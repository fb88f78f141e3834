/* test_apart.c - report/apart.h: different names never look the same, and say in what they differ. */
#include "tests/unit/unit.h"
#include "report/apart.h"
#include "base/unicode.h"

#define BINARY(functor)                                                                                      \
    "void at::native::elementwise_kernel<128, 4, at::native::gpu_kernel_impl<at::native::BinaryFunctor<"     \
    "c10::BFloat16, c10::BFloat16, c10::BFloat16, at::native::binary_internal::" functor                     \
    "<float> > >(at::TensorIteratorBase&)::{lambda(int)#1}>(int)"

enum { MOST = 64 };

/* Show the COUNT names in MAX columns; they fit. */
static void show(const char *const *names, size_t count, size_t max, char shown[][MOST])
{
    SCOPED_OBJECT struct apart *apart = apart_open(max);
    for (size_t i = 0; i < count; i++)
        apart_add(apart, names[i], strlen(names[i]));
    for (size_t i = 0; i < count; i++) {
        struct text full, text = { 0 };
        bool shorter = apart_fill_names(apart, &full, &text, names[i], strlen(names[i]));
        const struct text *of = shorter ? &text : &full;
        assert_true(unicode_text_width(of->at, of->len) <= max);
        snprintf(shown[i], MOST, "%.*s", (int)of->len, of->at);
    }
}

TEST(names_that_look_the_same_say_what_they_differ_in)
{
    static const char *const names[] = { BINARY("MulFunctor"), BINARY("AddFunctor"), "aten::mm" };
    char shown[3][MOST];
    show(names, 3, 40, shown);
    assert_string_equal(shown[0], "elementwise_kernel<...> [MulFunctor]");
    assert_string_equal(shown[1], "elementwise_kernel<...> [AddFunctor]");
    assert_string_equal(shown[2], "aten::mm");
}

TEST(a_name_without_a_double_is_only_shortened)
{
    static const char *const names[] = { BINARY("MulFunctor"), BINARY("MulFunctor") };
    char shown[2][MOST];
    show(names, 2, 30, shown);
    assert_string_equal(shown[0], shown[1]);
    assert_null(strchr(shown[0], '['));
}

/* What is left of the words may be alike again, or nothing; then a number tells them apart. */
TEST(no_two_names_look_the_same_in_any_width)
{
    static const char *const names[] = {
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa-aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa+aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa",
        BINARY("MulFunctor"),
        BINARY("AddFunctor"),
        BINARY("DivFunctor"),
    };
    enum { NAMES = sizeof names / sizeof *names };
    for (size_t max = 8; max < MOST; max++) {
        char shown[NAMES][MOST];
        show(names, NAMES, max, shown);
        for (size_t a = 0; a < NAMES; a++)
            for (size_t b = 0; b < a; b++)
                assert_string_not_equal(shown[a], shown[b]);
    }
}
