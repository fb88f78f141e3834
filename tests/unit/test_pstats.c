/* test_pstats.c - ingest/pstats.h and trace/profile.h: dumps written by hand, added up, stripped of directories. */
#include "tests/unit/unit.h"
#include "ingest/pstats.h"

#include <math.h>

/* Pieces of a dump; the literals around them give the order. */
#define TEXT1(c) "z\1" c
#define INT(n) "i" n "\0\0\0"
#define KEY(file, line, name) ")\3" TEXT1(file) INT(line) TEXT1(name)
#define HALF "g\0\0\0\0\0\0\xe0\x3f" /* 0.5 */
#define ONE "g\0\0\0\0\0\0\xf0\x3f"
#define TWO "g\0\0\0\0\0\0\0\x40"

static struct profile *read_bytes(const char *bytes, size_t size, struct tpa_error *err)
{
    struct source *source = source_open_memory(bytes, size, "test", err);
    assert_non_null(source);
    struct profile *profile = pstats_read(source, err);
    source_free(source);
    return profile;
}

static struct profile *read_good(const char *bytes, size_t size)
{
    struct tpa_error err = { 0 };
    struct profile *profile = read_bytes(bytes, size, &err);
    if (!profile)
        fail_msg("offset %lld: %s", (long long)err.offset, err.message);
    return profile;
}
#define READ(literal) read_good(literal, sizeof(literal) - 1)

static void check_cost(const struct profile_cost *cost, int64_t calls, int64_t primitive, double total,
                       double cumulative)
{
    assert_int_equal(cost->calls, calls);
    assert_int_equal(cost->primitive_calls, primitive);
    assert_true(cost->total_s == total);
    assert_true(cost->cumulative_s == cumulative);
}

static const struct profile_function *function(const struct profile *profile, const char *file, int64_t line,
                                               const char *name)
{
    function_id id = profile_find(profile, file, line, name);
    assert_int_not_equal(id, FUNCTION_NONE);
    return &profile->functions[id];
}

static const struct profile_edge *edge(const struct profile *profile, const struct profile_function *f,
                                       uint32_t i)
{
    assert_true(i < f->edge_count);
    return &profile->edges[f->first_edge + i];
}

/* f, at line 1 of a, was called 3 times by g, twice of it from outside of itself. */
#define F_AND_G                                                                                              \
    "{" KEY("a", "\1", "f") ")\5" INT("\2") INT("\3") HALF ONE "{" KEY("a", "\7", "g") ")\4" INT("\3")       \
        INT("\2") HALF ONE "0" /* calls first, here */                                                       \
        KEY("a", "\7", "g") ")\5" INT("\1") INT("\1") ONE TWO "{0"                                           \
                                                              "0"

TEST(a_callers_counts_stand_the_other_way_round)
{
    struct profile *profile = READ(F_AND_G);
    assert_int_equal(profile->listed_count, 2);
    const struct profile_function *f = function(profile, "a", 1, "f");
    check_cost(&f->cost, 3, 2, 0.5, 1);
    assert_int_equal(f->edge_count, 1);
    check_cost(&edge(profile, f, 0)->cost, 3, 2, 0.5, 1);
    assert_int_equal(edge(profile, f, 0)->caller, profile_find(profile, "a", 7, "g"));
    check_cost(&profile->total, 4, 3, 1.5, 3);
    assert_false(profile->counts_swapped);
    assert_false(profile->sampled);
    profile_free(profile);
}

/* The module `profile` writes counts alone; its built-ins have no file. */
TEST(callers_may_be_counts)
{
    struct profile *profile =
        READ("{)\3z\0" INT("\0") "z\3len"
                                 ")\5" INT("\5") INT("\5") HALF HALF "{" KEY("a", "\7", "g") INT("\5") "00");
    const struct profile_function *len = function(profile, "", 0, "len");
    assert_int_equal(len->edge_count, 1);
    assert_true(edge(profile, len, 0)->count_only);
    assert_int_equal(edge(profile, len, 0)->cost.calls, 5);
    /* g has no figures: it is no row. */
    assert_int_equal(profile->listed_count, 1);
    assert_false(function(profile, "a", 7, "g")->listed);
    profile_free(profile);
}

/* Key, figures, share and dict of callers are each written once, flagged, and referred to:
 * 0 the dict, 1 key of f, 2 figures, 3 callers, 4 key of g, 5 share. */
TEST(any_part_may_be_shared)
{
    struct profile *profile =
        READ("\xfb"
             "\xa9\3" TEXT1("a") INT("\1") TEXT1("f") "\xa9\5" INT("\1") INT("\1") HALF ONE
             "\xfb"
             "\xa9\3" TEXT1("a") INT("\2") TEXT1("g") "\xa9\4" INT("\1") INT("\1") HALF ONE
             "0"
             /* g: the same figures, so the same callers */
             "r\4\0\0\0"
             "r\2\0\0\0"
             /* h: new figures, the same dict of callers */
             KEY("a", "\3", "h") ")\5" INT("\2") INT("\2") ONE ONE "r\3\0\0\0"
             /* i: called by f, with g's share */
             KEY("a", "\4", "i") ")\5" INT("\2") INT("\2") ONE ONE "{"
                                                                   "r\1\0\0\0"
                                                                   "r\5\0\0\0"
                                                                   "0"
                                                                   "0");
    assert_int_equal(profile->odd_entries, 0);
    assert_int_equal(profile->listed_count, 4);
    function_id f = profile_find(profile, "a", 1, "f"), g = profile_find(profile, "a", 2, "g");
    check_cost(&profile->functions[g].cost, 1, 1, 0.5, 1);
    assert_int_equal(edge(profile, &profile->functions[g], 0)->caller, g);
    const struct profile_function *h = function(profile, "a", 3, "h");
    check_cost(&h->cost, 2, 2, 1, 1);
    check_cost(&edge(profile, h, 0)->cost, 1, 1, 0.5, 1);
    const struct profile_function *i = function(profile, "a", 4, "i");
    assert_int_equal(edge(profile, i, 0)->caller, f);
    check_cost(&edge(profile, i, 0)->cost, 1, 1, 0.5, 1);
    profile_free(profile);
}

TEST(a_key_given_twice_keeps_its_place_and_takes_the_last_figures)
{
    struct profile *profile =
        READ("{" KEY("a", "\1", "f") ")\5" INT("\1") INT("\1") HALF HALF
             "{0" KEY("a", "\2", "g") ")\5" INT("\1") INT("\1") HALF HALF "{" /* f calls g: 1, then 4 */
             KEY("a", "\1", "f") INT("\1") KEY("a", "\1", "f")
                 INT("\4") "0" KEY("a", "\1", "f") ")\5" INT("\x9") INT("\x9") ONE ONE "{0"
                                                                                       "0");
    assert_int_equal(profile->listed_count, 2);
    assert_int_equal(profile->listed[0], profile_find(profile, "a", 1, "f"));
    assert_int_equal(profile->functions[profile->listed[0]].cost.calls, 9);
    const struct profile_function *g = function(profile, "a", 2, "g");
    assert_int_equal(g->edge_count, 1);
    assert_int_equal(edge(profile, g, 0)->cost.calls, 4);
    profile_free(profile);
}

TEST(sampled_profiles_and_yappi_are_recognised)
{
    struct profile *sampled =
        READ("{" KEY("a", "\1", "f") ")\5" INT("\2") INT("\3") HALF ONE "{0"
                                                                        ")\1z\x0b__sampled__T0");
    assert_true(sampled->sampled);
    assert_int_equal(sampled->odd_entries, 0);
    profile_free(sampled);
    /* 3 primitive calls among 2 calls: the wrong way round. */
    struct profile *yappi = READ("{" KEY("a", "\1", "f") ")\5" INT("\3") INT("\2") HALF ONE "{00");
    assert_true(yappi->counts_swapped);
    profile_free(yappi);
}

TEST(what_is_no_function_is_counted_and_passed_over)
{
    struct profile *profile =
        READ("{"
             "z\3odd"
             ")\2NN"                                                 /* offset 1 */
             KEY("a", "\1", "f") ")\4" INT("\1") INT("\1") HALF HALF /* no callers */
             ")\3NNN"
             ")\5" INT("\1") INT("\1") HALF HALF "{0" KEY("a", "\2", "g") ")\5" INT("\1") INT("\1") HALF HALF
             "{"
             "N" INT("\1") "0" KEY("a", "\3", "h") ")\5"
                                                   "N" INT("\1") HALF HALF "{0"
                                                                           "0");
    assert_int_equal(profile->odd_entries, 5);
    assert_int_equal(profile->odd_offset, 1);
    assert_int_equal(profile->listed_count, 1);
    assert_int_equal(function(profile, "a", 2, "g")->edge_count, 0);
    profile_free(profile);
}

static void check_failure(const char *bytes, size_t size, int64_t offset, const char *words)
{
    struct tpa_error err = { 0 };
    assert_null(read_bytes(bytes, size, &err));
    assert_int_equal(err.offset, offset);
    if (!strstr(err.message, words))
        fail_msg("expected '%s' in '%s'", words, err.message);
}
#define CHECK_FAILURE(literal, offset, words) check_failure(literal, sizeof(literal) - 1, offset, words)

TEST(damage_is_an_error_with_its_place)
{
    CHECK_FAILURE("{0", TPA_NOWHERE, "no function");
    CHECK_FAILURE(")\0", 0, "a dict of functions but found a tuple of 0");
    CHECK_FAILURE("{" KEY("a", "\1", "f") "0", 14, "end of a dict");
    /* Every cut of a good dump is an error, none is more. */
    for (size_t size = 0; size < sizeof F_AND_G - 1; size++) {
        struct tpa_error err = { 0 };
        char *copy = scratch_heap(malloc(size ? size : 1));
        memcpy(copy, F_AND_G, size);
        assert_null(read_bytes(copy, size, &err));
        assert_true(err.failed && err.offset >= 0 && (size_t)err.offset <= size);
    }
}

/* 300 functions share the dict of 300 callers: 90,000 edges in a file of about 15 KB. */
TEST(sharing_can_not_blow_a_small_file_up)
{
    enum { MANY = 300 };
    SCRATCH_BUFFER(dump);
    buffer_add(&dump, "{", 1);
    for (int f = 0; f < MANY; f++) {
        buffer_add(&dump, ")\3z\1fi", 6);
        buffer_add(&dump, (char[]){ (char)f, (char)(f >> 8), 0, 0 }, 4);
        buffer_add(&dump, "z\1n)\5i\1\0\0\0i\1\0\0\0" HALF HALF, 3 + 2 + 10 + 18);
        if (f > 0) {
            buffer_add(&dump, "r\0\0\0\0", 5);
            continue;
        }
        buffer_add(&dump, "\xfb", 1);
        for (int g = 0; g < MANY; g++) {
            buffer_add(&dump, ")\3z\1fi", 6);
            buffer_add(&dump, (char[]){ (char)g, (char)(g >> 8), 0, 0 }, 4);
            buffer_add(&dump, "z\1ni\1\0\0\0", 8);
        }
        buffer_add(&dump, "0", 1);
    }
    buffer_add(&dump, "0", 1);
    struct tpa_error err = { 0 };
    assert_null(read_bytes(dump.at, dump.count, &err));
    assert_non_null(strstr(err.message, "more than the file has bytes"));
}

/* The file twice: all doubles, and f is still called by one g. */
TEST(adding_a_profile_to_itself_doubles_it)
{
    struct profile *profile = READ(F_AND_G);
    profile_add(profile, READ(F_AND_G));
    assert_int_equal(profile->listed_count, 2);
    const struct profile_function *f = function(profile, "a", 1, "f");
    check_cost(&f->cost, 6, 4, 1, 2);
    assert_int_equal(f->edge_count, 1);
    check_cost(&edge(profile, f, 0)->cost, 6, 4, 1, 2);
    check_cost(&profile->total, 8, 6, 3, 6);
    profile_free(profile);
}

/*
 * x/m:1(f) is called by x/m:2(g), 1 call, and y/m:2(g), 2 calls; without directories these are one caller. y/m:1(f) is
 * called by itself, 4 calls. pstats forgets the first caller of x/m:1(f), which leaves 2 + 4 calls in two callers.
 */
#define LONG_KEY(file, line, name) ")\3z\3" file INT(line) TEXT1(name)
#define TWO_MODULES                                                                                          \
    "{" LONG_KEY("x/m", "\1", "f") ")\5" INT("\3") INT("\3") HALF ONE "{" LONG_KEY("x/m", "\2", "g")         \
        INT("\1") LONG_KEY("y/m", "\2", "g") INT("\2") "0" LONG_KEY("y/m", "\1", "f") ")\5" INT("\4")        \
            INT("\4") ONE ONE "{" LONG_KEY("y/m", "\1", "f") INT("\4") "00"

TEST(stripping_directories_adds_up_what_becomes_the_same)
{
    struct profile *profile = profile_strip_dirs(READ(TWO_MODULES), false);
    assert_int_equal(profile->listed_count, 1);
    const struct profile_function *f = function(profile, "m", 1, "f");
    check_cost(&f->cost, 7, 7, 1.5, 2);
    assert_int_equal(f->edge_count, 2);
    assert_int_equal(edge(profile, f, 0)->cost.calls, 3);
    assert_int_equal(edge(profile, f, 1)->cost.calls, 4);
    assert_int_equal(profile->merged_edges, 1);
    profile_free(profile);
}

TEST(stripping_as_pstats_does_forgets_a_caller)
{
    struct profile *profile = profile_strip_dirs(READ(TWO_MODULES), true);
    const struct profile_function *f = function(profile, "m", 1, "f");
    check_cost(&f->cost, 7, 7, 1.5, 2);
    assert_int_equal(edge(profile, f, 0)->cost.calls, 2);
    assert_int_equal(edge(profile, f, 1)->cost.calls, 4);
    profile_free(profile);
}

TEST(seconds_become_the_nearest_nanosecond)
{
    assert_int_equal(profile_ns(0.1), 100000000);
    assert_int_equal(profile_ns(1e-9), 1);
    assert_int_equal(profile_ns(-2.5), INT64_C(-2500000000));
    assert_int_equal(profile_ns(NAN), 0);
    assert_int_equal(profile_ns(INFINITY), 0);
    assert_int_equal(profile_ns(-INFINITY), 0);
}

TEST(the_first_bytes_tell_a_dump_from_json)
{
    assert_true(pstats_sniff("\xfb\xa9\3", 3) > 90);
    assert_true(pstats_sniff("{(\3\0\0\0", 6) > 90);
    assert_int_equal(pstats_sniff("{\"traceEvents\": []}", 19), 0);
    assert_int_equal(pstats_sniff("{ }", 3), 0);
    assert_int_equal(pstats_sniff("{", 1), 0);
    assert_int_equal(pstats_sniff("", 0), 0);
}
