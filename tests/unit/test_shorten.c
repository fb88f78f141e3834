/* test_shorten.c - report/shorten.h: as little goes as is needed, and what is left fits. */
#include "tests/unit/unit.h"
#include "report/shorten.h"
#include "base/unicode.h"

static void check(const char *name, size_t max, const char *wanted)
{
    SCRATCH_BUFFER(out);
    size_t width = shorten_name(&out, name, strlen(name), max);
    assert_string_equal(out.count ? out.at : "", wanted);
    assert_int_equal(width, unicode_text_width(out.at, out.count));
    assert_true(width <= max);
}

#define ADD                                                                                                  \
    "void at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, "                 \
    "std::array<char*, 3ul> >(int, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>)"

TEST(kernels_lose_what_tells_least_first)
{
    check(ADD, 200, ADD);
    check(
        ADD, 140,
        "at::native::vectorized_elementwise_kernel<4, at::native::CUDAFunctor_add<float>, std::array<char*, 3ul>>(...)");
    check(ADD, 100, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char*, 3ul>>(...)");
    check(ADD, 77, "vectorized_elementwise_kernel<4, CUDAFunctor_add<float>, array<char...>>(...)");
    check(ADD, 68, "vectorized_elementwise_kernel<4, CUDAFunctor_add<...>, arra...>(...)");
    check(ADD, 50, "vectorized_elementwise_kernel<4, CUDAFunc...>(...)");
    check(ADD, 34, "vectorized_elementwise_kernel<...>");
    check(ADD, 30, "vectorized_elementwise_kernel");
    check(ADD, 20, "vectorized_...kernel");
    /* What is left of the last argument has no bracket that is still open. */
    check("void cub::Sort<cub::Policy<float, double>::Policy900, unsigned int>(cub::Parameters)", 27,
          "Sort<Policy<...>::...>(...)");
    check("void cub::Sort<cub::Policy<float, double>::Policy900, unsigned int>(cub::Parameters)", 23,
          "Sort<Policy...>(...)");
    check("void at::kernel<(int)128, at::Functor<float>, int>(int, float, float)", 17, "kernel<...>(...)");
    check("void at::kernel<128, at::Functor<float>, int>(int, float, float)", 17, "kernel<...>(...)");
    check("void at::kernel<128, at::Functor<float>, int>(int, float, float)", 21, "kernel<128, ...>(...)");
}

/* Names between commas that are in no brackets; 33 columns in all. */
TEST(lists_lose_their_end)
{
    static const char list[] = "aten::mm, Node<A, B>, aten::addmm";
    static const struct {
        size_t max;
        const char *wanted;
    } cases[] = {
        { 33, list },
        { 32, "aten::mm, Node<A, B>, ..." },
        { 25, "aten::mm, Node<A, B>, ..." },
        { 24, "aten::mm, ..." },
        { 15, "aten::mm, ..." },
        { 12, "aten::mm" },
        { 5, "at..." },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        SCRATCH_BUFFER(out);
        size_t width = shorten_list(&out, list, strlen(list), cases[i].max);
        buffer_putc(&out, '\0');
        assert_string_equal(out.at, cases[i].wanted);
        assert_int_equal(width, strlen(cases[i].wanted));
    }
}

TEST(other_names_lose_their_middle)
{
    check("aten::mm", 8, "aten::mm");
    check("DistributedDataParallel.forward", 20, "Distributed...orward");
    check("DistributedDataParallel.forward", 3, "...");
    check("DistributedDataParallel.forward", 1, ".");
    check("DistributedDataParallel.forward", 0, "");
    check("", 0, "");
}

TEST(wide_characters_are_never_halved_and_accents_stay_on_their_letter)
{
    /* Six characters of two columns; 8 columns are 3 of room for the front (one character), 2 for the back. */
    check("\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe6\xbc\xa2\xe5\xad\x97", 8,
          "\xe6\xbc\xa2...\xe5\xad\x97");
    check("abcdefe\xcc\x81", 6, "ab...e\xcc\x81");
    check("abcdefe\xcc\x81", 7, "abcdefe\xcc\x81");
}

TEST(brackets_that_do_not_match_do_no_harm)
{
    static const char *const names[] = { "void a::operator<<int>(b<c>)",
                                         "a::b<c<d<e",
                                         "void f)>>>(",
                                         "a::b>>>>>>>>>>>>",
                                         "x::y((((((((((((",
                                         "void ",
                                         "void (",
                                         "a::b<>(((",
                                         "::::::::::::<::::::" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (size_t max = 0; max < 30; max++) {
            SCRATCH_BUFFER(out);
            assert_true(shorten_name(&out, names[i], strlen(names[i]), max) <= max ||
                        strlen(names[i]) <= max);
        }
}

TEST(every_width_is_kept)
{
    char deep[4000] = "a::b";
    for (size_t i = 0; i < 200; i++)
        strcat(deep, "<x::y, c");
    for (size_t i = 0; i < 200; i++)
        strcat(deep, ">");
    static const char alphabet[] = "a:<>(), -_b";
    uint32_t random = 3;
    for (int round = 0; round < 3000; round++) {
        char name[64];
        for (size_t i = 0; i < sizeof name; i++) {
            random = random * 1664525 + 1013904223;
            name[i] = alphabet[(random >> 24) % (sizeof alphabet - 1)];
        }
        const char *text = round % 100 ? name : deep;
        size_t len = round % 100 ? sizeof name : strlen(deep), max = random % (len + 3);
        SCRATCH_BUFFER(out);
        size_t width = shorten_name(&out, text, len, max);
        assert_true(width <= max);
        assert_int_equal(width, out.count);
    }
}

static void check_text(const char *text, size_t max, const char *wanted)
{
    SCRATCH_BUFFER(out);
    size_t width = shorten_middle(&out, text, strlen(text), max);
    assert_string_equal(out.at, wanted);
    assert_int_equal(width, strlen(wanted));
}

TEST(paths_lose_directories_from_the_left_and_keep_file_and_line)
{
    static const char frame[] = "/usr/lib/torch/nn/modules/module.py(1501): _call_impl";
    check_text(frame, 60, frame);
    check_text(frame, 41, ".../modules/module.py(1501): _call_impl");
    check_text(frame, 31, ".../module.py(1501): _call_impl");
    check_text(frame, 27, "module.py(1501): _call_impl");
    check_text(frame, 24, "module.py(1501): _cal...");
    check_text(frame, 18, "module.py(1501)...");
    static const char line[] = "/home/u/job/models/Model_Basic3D.py:62:update";
    check_text(line, 26, "Model_Basic3D.py:62:update");
    check_text(line, 24, "Model_Basic3D.py:62:u...");
    check_text(line, 20, "...ic3D.py:62:update");
    check_text(frame, 17, "/usr/lib/..._impl"); /* no room for the line: the middle */
    check_text("one and/or two, three, four", 15, "one and/...four");
}
