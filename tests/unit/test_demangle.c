/* test_demangle.c - base/demangle.h. Where the demangler is missing, names must stay as they are. */
#include "tests/unit/unit.h"
#include "base/demangle.h"

#include <sys/resource.h>
#include <time.h>

static void check(bool (*demangle)(struct buffer *, const char *), const char *name, const char *wanted)
{
    SCRATCH_BUFFER(out);
    buffer_puts(&out, "kept ");
    bool ok = demangle(&out, name);
    if (!demangle_works())
        wanted = NULL;
    assert_int_equal(ok, wanted != NULL);
    assert_memory_equal(out.at, "kept ", 5);
    assert_string_equal(out.at + 5, wanted ? wanted : "");
}

TEST(kernels_become_readable)
{
    check(demangle_name, "_Z9vectorAddPKfS0_Pfi", "vectorAdd(float const*, float const*, float*, int)");
    check(demangle_name, "_ZN2at6native3addIfEEvPT_i", "void at::native::add<float>(float*, int)");
    check(demangle_name, "_ZN12_GLOBAL__N_16kernelEv", "(anonymous namespace)::kernel()");
    check(demangle_name, "_Z6kernelPf.kd", "kernel(float*)");
}

TEST(other_names_stay)
{
    static const char *const names[] = { "",        "_",          "_Z",     "aten::mm",
                                         "Pi",      "_Znonsense", "_ZN2at", ".kd",
                                         "_Z.kd",   "i",          "_Z9abc", "triton_poi_fused_add_0",
                                         "main\xff" };
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        check(demangle_name, names[i], NULL);
}

TEST(torch_also_takes_types_for_names)
{
    check(demangle_as_torch, "Pi", "int*");
    check(demangle_as_torch, "_Z3foov", "foo()");
    check(demangle_as_torch, "St", NULL);
    check(demangle_as_torch, "i", NULL);
    check(demangle_as_torch, "", NULL);
    check(demangle_as_torch, "aten::mm", NULL);
}

/* f(A<i,i>, A<that, that>, ...): every parameter is twice as long as the one before; 40 of them are terabytes. */
TEST(names_that_would_explode_stay_mangled)
{
    char name[1024] = "_Z1f1AIiiE";
    static const char digits[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    for (size_t i = 0; i < 36; i++) {
        char reference[] = { 'S', digits[i], '_', 0 };
        strcat(strcat(strcat(strcat(name, "S_I"), reference), reference), "E");
    }
    clock_t start = clock();
    check(demangle_name, name, NULL);
    check(demangle_as_torch, name, NULL);
    assert_true(clock() - start < CLOCKS_PER_SEC);

    size_t size = 1000000;
    char *long_name = scratch_heap(malloc(size + 1));
    memset(long_name, 'P', size);
    long_name[size] = '\0';
    memcpy(long_name, "_Z1f", 4);
    check(demangle_name, long_name, NULL);
}

/* f(a, a, a, ...) with 600 references to a: more than the C++ library is let near, or would take. */
TEST(long_names_with_many_references_are_read)
{
    SCOPED struct buffer name = { 0 }, wanted = { 0 };
    buffer_puts(&name, "_Z1f1a");
    buffer_puts(&wanted, "f(a");
    for (size_t i = 0; i < 600; i++) {
        buffer_puts(&name, "S_");
        buffer_puts(&wanted, ", a");
    }
    buffer_puts(&wanted, ")");
    check(demangle_name, name.at, TPA_HAVE_LIBIBERTY ? wanted.at : NULL);
    check(demangle_as_torch, name.at, NULL);
}

/* f(char ***...): each P is a level of recursion. */
static char *nested_name(size_t pointers)
{
    char *name = malloc(pointers + 8);
    memcpy(name, "_Z1f", 4);
    memset(name + 4, 'P', pointers);
    memcpy(name + 4 + pointers, "i", 2);
    return name;
}

TEST(names_are_demangled_up_to_16_kib)
{
    struct rlimit kept, usual;
    assert_int_equal(getrlimit(RLIMIT_STACK, &kept), 0);
    usual = kept;
    usual.rlim_cur = 8 << 20;
    if (setrlimit(RLIMIT_STACK, &usual) != 0)
        skip();
    char longest[16 * 1024 + 1], longer[16 * 1024 + 2];
    const size_t letters = 16 * 1024 - strlen("_Z16376i");
    snprintf(longest, sizeof longest, "_Z%zu%0*di", letters, (int)letters, 0);
    snprintf(longer, sizeof longer, "_Z%zu%0*di", letters + 1, (int)letters + 1, 0);
    assert_int_equal(strlen(longest), 16 * 1024);
    memset(longest + strlen("_Z16376"), 'f', letters);
    memset(longer + strlen("_Z16377"), 'f', letters + 1);
    SCRATCH_BUFFER(text);
    assert_int_equal(demangle_name(&text, longest), demangle_works());
    if (demangle_works())
        assert_int_equal(text.count, letters + strlen("(int)"));
    check(demangle_name, longer, NULL);
    check(demangle_as_torch, longer, NULL);
    assert_int_equal(setrlimit(RLIMIT_STACK, &kept), 0);
}

TEST(long_names_stay_mangled_where_the_stack_is_small)
{
    char *deep = scratch_heap(nested_name(12000)), *modest = scratch_heap(nested_name(1000));
    SCRATCH_BUFFER(text);
    struct rlimit kept, small;
    assert_int_equal(getrlimit(RLIMIT_STACK, &kept), 0);
    small = kept;
    small.rlim_cur = 1 << 20;
    assert_int_equal(setrlimit(RLIMIT_STACK, &small), 0);
    check(demangle_name, deep, NULL);
    check(demangle_as_torch, deep, NULL);
    assert_int_equal(demangle_name(&text, modest), demangle_works());
    assert_int_equal(setrlimit(RLIMIT_STACK, &kept), 0);
}
