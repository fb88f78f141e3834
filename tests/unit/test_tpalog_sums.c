/*
 * Python profiles and reports in .tpa files: all of one comes back, to the last bit of each time; a file that is cut or
 * damaged anywhere gives what is whole, and tells what is not.
 */
#define _GNU_SOURCE
#include "tests/unit/tpa_bytes.h"

#include "ingest/formats.h"
#include "trace/tpafile_seconds.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>

#include <cmocka.h>

extern const struct format format_tpa;

static uint64_t random_state;

static uint64_t next_random(uint64_t below)
{
    random_state = random_state * UINT64_C(6364136223846793005) + 1442695040888963407;
    return (random_state >> 33) % below;
}

/* What cProfile writes, what added profiles hold, and what no profiler would. */
static double random_seconds(void)
{
    static const double odd[] = { 0.0, -0.0, 1e300, -1e-310, 9.3e9, -2.5, 1e18 };
    switch (next_random(8)) {
    case 0: return 0;
    case 1: return odd[next_random(sizeof odd / sizeof *odd)];
    case 2: return next_random(2) ? (double)NAN : (double)INFINITY;
    case 3: return (double)next_random(1000000) / 1e9 + (double)next_random(1000000) / 1e9;
    case 4: return (double)next_random(1000000) * 1e-6;
    default: return (double)next_random(UINT64_C(1) << 31) / 1e9;
    }
}

static void any_time_comes_back(void **state)
{
    (void)state;
    random_state = 1;
    for (int i = 0; i < 100000; i++) {
        double seconds = random_seconds();
        if (i % 4 == 0) {
            uint64_t bits = random_state ^ random_state << 31;
            seconds = tpafile_double_of((int64_t)bits);
        }
        int64_t ns, bits;
        tpafile_split_seconds(seconds, &ns, &bits);
        assert_int_equal(tpafile_bits_of(tpafile_join_seconds(ns, bits)), tpafile_bits_of(seconds));
        assert_true(ns != TPAFILE_NONE && bits != TPAFILE_NONE);
    }
}

/* Whole ns and us, as profilers count them, need no bits beside the ns, or hardly any. */
static void times_that_profilers_write_are_small(void **state)
{
    (void)state;
    for (int64_t n = 0; n < 100000; n += 7) {
        int64_t ns, bits;
        tpafile_split_seconds((double)n / 1e9, &ns, &bits);
        assert_int_equal(ns, n);
        assert_int_equal(bits, 0);
        tpafile_split_seconds((double)n * 1e-6, &ns, &bits);
        assert_int_equal(ns, n * 1000);
        assert_true(bits >= -1 && bits <= 1);
    }
}

/* ---- profiles ---- */

static struct profile_cost random_cost(void)
{
    int64_t calls = next_random(20) ? (int64_t)next_random(1000) : INT64_MAX - (int64_t)next_random(2);
    return (struct profile_cost){ calls, next_random(3) ? calls : (int64_t)next_random(5), random_seconds(),
                                  random_seconds() };
}

static const char *random_text(struct profile *profile, const char *word, uint64_t of)
{
    char text[64];
    snprintf(text, sizeof text, "/lib/%s%" PRIu64 ".py", word, next_random(of));
    return arena_strndup(&profile->arena, text, strlen(text));
}

/* A profile of about FUNCTIONS functions, not all listed, in an order of its own. */
static struct profile *random_profile(uint64_t seed, size_t functions)
{
    random_state = seed;
    struct profile *profile = profile_open();
    for (size_t i = 0; i < functions; i++) {
        const char *file = next_random(9) ? random_text(profile, "file", 5) : "~";
        const char *name = random_text(profile, "f", functions);
        profile_function(profile, file, strlen(file), (int64_t)next_random(3) - 1, name, strlen(name));
    }
    for (size_t i = 0; i < functions; i++) {
        function_id id = (function_id)next_random(profile->function_count);
        if (profile->functions[id].listed)
            continue;
        uint32_t first = (uint32_t)profile->edge_count;
        for (uint64_t e = next_random(next_random(5) ? 4 : 40); e > 0; e--) {
            struct profile_edge edge = { random_cost(), (function_id)next_random(profile->function_count),
                                         next_random(9) == 0 };
            profile_add_edge(profile, first, &edge);
        }
        struct profile_cost cost = random_cost();
        profile_list(profile, id, &cost, first, (uint32_t)profile->edge_count - first);
    }
    for (uint64_t i = next_random(3) + 1; i > 0; i--)
        *VEC_PUSH(&profile->files) =
            (struct profile_file){ random_text(profile, "prof", 9),
                                   next_random(2) ? INT64_MIN : (int64_t)next_random(1 << 30) };
    profile->odd_offset = TPA_NOWHERE;
    profile->sampled = next_random(2);
    profile->counts_swapped = next_random(2);
    profile->odd_entries = next_random(3);
    profile->merged_edges = next_random(3);
    profile->trailing_bytes = next_random(3);
    profile->trailing_offset = (int64_t)next_random(100);
    profile_finish(profile);
    profile->total.total_s += 1; /* it is what the file tells, not summed again */
    return profile;
}

static void dump_cost(struct buffer *out, const struct profile_cost *cost)
{
    buffer_printf(out, " %" PRId64 " %" PRId64 " %" PRIx64 " %" PRIx64, cost->calls, cost->primitive_calls,
                  (uint64_t)tpafile_bits_of(cost->total_s), (uint64_t)tpafile_bits_of(cost->cumulative_s));
}

static void dump_function(struct buffer *out, const struct profile *profile, function_id id)
{
    const struct profile_function *f = &profile->functions[id];
    buffer_printf(out, "%.*s:%" PRId64 " %.*s", (int)f->file_length, f->file, f->line, (int)f->name_length,
                  f->name);
}

/* Function ID with its figures and callers, as a line. */
static void dump_figures(struct buffer *out, const struct profile *profile, function_id id)
{
    const struct profile_function *f = &profile->functions[id];
    dump_function(out, profile, id);
    if (f->listed)
        dump_cost(out, &f->cost);
    for (uint32_t e = 0; f->listed && e < f->edge_count; e++) {
        const struct profile_edge *edge = &profile->edges[f->first_edge + e];
        buffer_puts(out, edge->count_only ? " | only " : " | ");
        dump_function(out, profile, edge->caller);
        dump_cost(out, &edge->cost);
    }
    buffer_puts(out, "\n");
}

static struct buffer dump_profile(const struct profile *profile)
{
    struct buffer out = { 0 };
    for (function_id id = 0; id < profile->function_count; id++) {
        buffer_printf(&out, "%u ", id);
        dump_figures(&out, profile, id);
    }
    for (size_t i = 0; i < profile->listed_count; i++)
        buffer_printf(&out, "%u ", profile->listed[i]);
    for (size_t i = 0; i < profile->files.count; i++)
        buffer_printf(&out, "\n%s %" PRId64, profile->files.at[i].path, profile->files.at[i].modified_s);
    buffer_printf(&out, "\n%" PRId64 " %" PRId64 " %" PRIx64, profile->total.calls,
                  profile->total.primitive_calls, (uint64_t)tpafile_bits_of(profile->total.total_s));
    buffer_printf(&out, "\n%d %d %" PRIu64 " %" PRId64 " %" PRIu64 " %" PRIu64 " %" PRId64 "\n",
                  profile->sampled, profile->counts_swapped, profile->odd_entries, profile->odd_offset,
                  profile->merged_edges, profile->trailing_bytes, profile->trailing_offset);
    return out;
}

static struct buffer save(const struct profile *profile, size_t rows)
{
    struct buffer bytes = { 0 };
    struct tpafile_save_options options = { .sink = take_bytes, .context = &bytes, .block_events = rows };
    struct tpafile_written written;
    assert_true(tpafile_save_profile(profile, &options, &written));
    assert_int_equal(written.bytes, bytes.count);
    return bytes;
}

/* Read LEN bytes of a .tpa file, which is never an error. */
static struct ingested read_bytes(const char *bytes, size_t len)
{
    struct tpa_error err = { 0 };
    struct ingested found = { 0 };
    struct ingest_options options = { .workers = 1 };
    struct source *source = source_open_memory(bytes, len, "x.tpa", &err);
    assert_non_null(source);
    struct trace_builder *builder = trace_builder_open(&options.wants);
    trace_builder_file(builder, "x.tpa", "tpa");
    if (!format_tpa.read_any(source, builder, &options, &found, &err))
        fail_msg("%s", err.message);
    struct trace *trace = trace_builder_finish(builder);
    assert_int_equal(trace->event_count, 0);
    trace_free(trace);
    source_free(source);
    return found;
}

static const struct sums_notice *find_notice(const struct sums_origin *origin, const char *kind)
{
    for (size_t i = 0; i < origin->notices.count; i++)
        if (strcmp(origin->notices.at[i].kind, kind) == 0)
            return &origin->notices.at[i];
    return NULL;
}

static void a_profile_comes_back_whole(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 60; seed++) {
        struct profile *profile = random_profile(seed, 1 + seed % 7 * 30);
        struct buffer bytes = save(profile, seed % 2 ? 0 : 16), before = dump_profile(profile);
        struct ingested found = read_bytes(bytes.at, bytes.count);
        assert_non_null(found.profile);
        struct buffer after = dump_profile(found.profile);
        assert_string_equal(after.at, before.at);
        assert_int_equal(found.profile->origin.notices.count, 0);
        assert_int_equal(found.profile->origin.containers.count, 1);
        assert_true(found.profile->origin.containers.at[0]->closed);
        ingested_free(&found);
        profile_free(profile);
        buffer_release(&bytes);
        buffer_release(&before);
        buffer_release(&after);
    }
}

/* A function whose record is there has its figures; of its callers those that are lost are missing, and no other. */
static void check_part(const struct profile *part, const struct profile *whole)
{
    for (size_t i = 0; i < part->listed_count; i++) {
        const struct profile_function *f = &part->functions[part->listed[i]];
        if (memmem(f->name, f->name_length, "(lost ", 6) || memmem(f->file, f->file_length, "(lost ", 6))
            continue; /* a block of texts is damaged */
        struct profile_function *same = NULL;
        for (size_t k = 0; k < whole->function_count && !same; k++)
            if (profile_function_compare(&whole->functions[k], f) == 0)
                same = &whole->functions[k];
        assert_non_null(same);
        assert_int_equal(f->cost.calls, same->cost.calls);
        assert_int_equal(tpafile_bits_of(f->cost.total_s), tpafile_bits_of(same->cost.total_s));
        assert_true(f->edge_count <= same->edge_count);
    }
}

static void a_file_cut_anywhere_gives_its_whole_blocks(void **state)
{
    (void)state;
    struct profile *profile = random_profile(3, 30);
    struct buffer bytes = save(profile, 8);
    for (size_t len = TPAFILE_HEADER_SIZE; len < bytes.count; len++) {
        struct ingested found = read_bytes(bytes.at, len);
        uint64_t functions = tpa_count_records(bytes.at, len, TPAFILE_PROFILE_FUNCTION);
        uint64_t callers = tpa_count_records(bytes.at, len, TPAFILE_PROFILE_CALLER);
        uint64_t facts = tpa_count_records(bytes.at, len, TPAFILE_PROFILE);
        uint64_t files = tpa_count_records(bytes.at, len, TPAFILE_PROFILE_FILE);
        assert_int_equal(found.profile != NULL, functions + callers + facts + files > 0);
        if (found.profile) {
            assert_int_equal(found.profile->function_count, functions);
            assert_int_equal(profile_count_callers(found.profile), callers);
            check_part(found.profile, profile);
            assert_non_null(find_notice(&found.profile->origin, "unfinished_file"));
            const struct sums_notice *lost = find_notice(&found.profile->origin, "lost_sums");
            uint64_t missing = profile->function_count - functions + profile_count_callers(profile) - callers;
            assert_int_equal(lost ? lost->count : 0, facts ? missing : 0);
        }
        ingested_free(&found);
    }
    profile_free(profile);
    buffer_release(&bytes);
}

static void a_flipped_bit_costs_its_block_only(void **state)
{
    (void)state;
    struct profile *profile = random_profile(5, 30);
    struct buffer bytes = save(profile, 8);
    for (size_t at = TPAFILE_HEADER_SIZE; at < bytes.count; at++) {
        bytes.at[at] ^= (char)(1 << at % 8);
        struct ingested found = read_bytes(bytes.at, bytes.count);
        assert_non_null(found.profile);
        check_part(found.profile, profile);
        bool last = find_notice(&found.profile->origin, "unfinished_file") != NULL; /* nothing is behind it */
        assert_int_equal(found.profile->origin.containers.at[0]->lost_blocks, !last);
        assert_true(last || find_notice(&found.profile->origin, "damaged_file"));
        assert_true(found.profile->function_count + 8 >= profile->function_count);
        ingested_free(&found);
        bytes.at[at] ^= (char)(1 << at % 8);
    }
    profile_free(profile);
    buffer_release(&bytes);
}

/* What was lost once is known by what is made of the rest. */
static void losses_are_reported_by_the_next_file_too(void **state)
{
    (void)state;
    struct profile *profile = random_profile(3, 30);
    struct buffer bytes = save(profile, 8);
    struct ingested cut = read_bytes(bytes.at, bytes.count * 2 / 3);
    assert_non_null(find_notice(&cut.profile->origin, "lost_sums"));
    struct buffer again = save(cut.profile, 0);
    struct ingested found = read_bytes(again.at, again.count);
    assert_non_null(find_notice(&found.profile->origin, "lost_sums"));
    assert_non_null(find_notice(&found.profile->origin, "unfinished_file"));
    ingested_free(&cut);
    ingested_free(&found);
    profile_free(profile);
    buffer_release(&bytes);
    buffer_release(&again);
}

/* ---- what no writer writes ---- */

/* A profile of two functions; whatever is added to WRITER before says something else. */
static struct ingested read_written(struct tpafile_writer *writer, struct buffer *bytes)
{
    assert_true(tpafile_writer_close(writer, TPAFILE_NONE, 0));
    tpafile_writer_free(writer);
    struct ingested found = read_bytes(bytes->at, bytes->count);
    buffer_release(bytes);
    return found;
}

static void add_function(struct tpafile_writer *writer, int64_t number, const char *name, int64_t place)
{
    int64_t row[TPAFILE_PROFILE_FUNCTION_FIELDS_END] = {
        [TPAFILE_PROFILE_FUNCTION_FUNCTION] = number,
        [TPAFILE_PROFILE_FUNCTION_NAME] = tpafile_writer_text(writer, name, strlen(name)),
        [TPAFILE_PROFILE_FUNCTION_PLACE] = place,
        [TPAFILE_PROFILE_FUNCTION_CALLS] = 3,
    };
    assert_true(tpafile_writer_add(writer, TPAFILE_PROFILE_FUNCTION, row));
}

static void add_caller(struct tpafile_writer *writer, int64_t function, int64_t caller)
{
    int64_t row[TPAFILE_PROFILE_CALLER_FIELDS_END] = {
        [TPAFILE_PROFILE_CALLER_FUNCTION] = function,
        [TPAFILE_PROFILE_CALLER_CALLER] = caller,
        [TPAFILE_PROFILE_CALLER_CALLS] = 2,
    };
    assert_true(tpafile_writer_add(writer, TPAFILE_PROFILE_CALLER, row));
}

static void numbers_that_make_no_sense_are_left_out_and_counted(void **state)
{
    (void)state;
    struct buffer bytes = { 0 };
    struct tpafile_writer *writer = tpa_writer(&bytes, 0);
    /* The same function twice, with figures twice; numbers far apart; places that are negative or alike. */
    add_function(writer, 5, "f", INT64_MAX);
    add_function(writer, 900, "g", -7);
    add_function(writer, INT64_MAX - 1, "f", INT64_MAX);
    assert_true(tpafile_writer_flush(writer));
    /* Good; its caller given twice; unknown numbers. */
    add_caller(writer, 900, 5);
    add_caller(writer, 900, INT64_MAX - 1);
    add_caller(writer, 5, 900);
    add_caller(writer, 4, 5);
    add_caller(writer, 5, -1);
    add_caller(writer, INT64_MIN, INT64_MAX);
    struct ingested found = read_written(writer, &bytes);
    struct profile *profile = found.profile;
    assert_non_null(profile);
    assert_int_equal(profile->function_count, 2);
    assert_int_equal(profile->listed_count, 2);
    assert_int_equal(profile->listed[0], profile_find(profile, "", 0, "g"));
    assert_int_equal(profile->functions[profile->listed[0]].edge_count, 1);
    assert_int_equal(profile->functions[profile->listed[1]].edge_count, 1);
    assert_int_equal(find_notice(&profile->origin, "lost_sums")->count, 3);
    assert_string_equal(profile->files.at[0].path, "x.tpa"); /* no file was told */
    ingested_free(&found);

    /* Numbers that do not grow. */
    writer = tpa_writer(&bytes, 0);
    add_function(writer, 1, "f", 0);
    add_function(writer, 1, "g", 1);
    found = read_written(writer, &bytes);
    assert_int_equal(found.profile->function_count, 1);
    assert_non_null(find_notice(&found.profile->origin, "bad_block"));
    ingested_free(&found);
}

static void blocks_of_another_kind_of_file_are_left_out(void **state)
{
    (void)state;
    struct buffer bytes = { 0 };
    struct tpafile_writer *writer = tpa_writer(&bytes, 0);
    add_function(writer, 0, "f", 0);
    assert_true(tpafile_writer_flush(writer));
    int64_t action[TPAFILE_ACTION_FIELDS_END] = { 0 };
    int64_t file[TPAFILE_FILE_FIELDS_END] = { 0 };
    int64_t kernel[TPAFILE_KERNEL_FIELDS_END] = { 0 };
    assert_true(tpafile_writer_add(writer, TPAFILE_ACTION, action));
    assert_true(tpafile_writer_add(writer, TPAFILE_FILE, file));
    assert_true(tpafile_writer_add(writer, TPAFILE_KERNEL, kernel));
    struct ingested found = read_written(writer, &bytes);
    assert_non_null(found.profile);
    assert_null(found.actions);
    assert_int_equal(find_notice(&found.profile->origin, "bad_block")->count, 3);
    ingested_free(&found);
}

/* A notice that the file tells several times is one, and a text of several is kept once. */
static void a_repeated_notice_is_one(void **state)
{
    (void)state;
    struct buffer bytes = { 0 };
    struct tpafile_writer *writer = tpa_writer(&bytes, 0);
    add_function(writer, 0, "f", 0);
    static const char *const words[] = { "odd", "odder", "odd" };
    for (int i = 0; i < 3; i++) {
        int64_t notice[TPAFILE_NOTICE_FIELDS_END] = {
            [TPAFILE_NOTICE_WORD] = tpafile_writer_text(writer, words[i], strlen(words[i])),
            [TPAFILE_NOTICE_TEXT] = tpafile_writer_text(writer, "a text", 6),
            [TPAFILE_NOTICE_COUNT] = 7 + i,
            [TPAFILE_NOTICE_OFFSET] = i == 2 ? 99 : TPA_NOWHERE,
        };
        assert_true(tpafile_writer_add(writer, TPAFILE_NOTICE, notice));
    }
    struct ingested found = read_written(writer, &bytes);
    const struct sums_origin *origin = &found.profile->origin;
    assert_int_equal(origin->notices.count, 2);
    for (size_t i = 0; i < 2; i++) {
        assert_string_equal(origin->notices.at[i].kind, words[i]);
        assert_string_equal(origin->notices.at[i].text, "a text");
        assert_string_equal(origin->notices.at[i].path, "x.tpa");
        assert_ptr_equal(origin->notices.at[i].text, origin->notices.at[0].text);
        assert_ptr_equal(origin->notices.at[i].path, origin->notices.at[0].path);
    }
    assert_int_equal(origin->notices.at[0].count, 7 + 9);
    assert_int_equal(origin->notices.at[0].offset, 99);
    assert_int_equal(origin->notices.at[1].count, 8);
    ingested_free(&found);
}

/* ---- reports ---- */

static void a_report_comes_back(void **state)
{
    (void)state;
    struct action_report *report = mem_zalloc(1, sizeof *report);
    report->stage = "FIT";
    report->total_calls = -1;
    report->total_ns = 4738700000;
    report->odd_lines = 2;
    report->odd_offset = 77;
    *VEC_PUSH(&report->actions) = (struct action){ "run_training_epoch", 2313000000, 4626000000, 2, 0.97615 };
    *VEC_PUSH(&report->actions) = (struct action){ "", -1, 0, -1, (double)NAN };
    struct buffer bytes = { 0 };
    struct tpafile_save_options options = { .sink = take_bytes, .context = &bytes };
    assert_true(tpafile_save_actions(report, &options, NULL));
    struct ingested found = read_bytes(bytes.at, bytes.count);
    assert_non_null(found.actions);
    assert_string_equal(found.actions->stage, "FIT");
    assert_int_equal(found.actions->total_calls, -1);
    assert_int_equal(found.actions->total_ns, 4738700000);
    assert_int_equal(found.actions->odd_lines, 2);
    assert_int_equal(found.actions->odd_offset, 77);
    assert_int_equal(found.actions->actions.count, 2);
    for (size_t i = 0; i < 2; i++) {
        const struct action *a = &report->actions.at[i], *b = &found.actions->actions.at[i];
        assert_string_equal(b->name, a->name);
        assert_int_equal(b->mean_ns, a->mean_ns);
        assert_int_equal(b->total_ns, a->total_ns);
        assert_int_equal(b->calls, a->calls);
        assert_true(isnan(a->share) ? isnan(b->share) : b->share == a->share);
    }
    assert_int_equal(found.actions->origin.notices.count, 0);
    ingested_free(&found);

    /* Cut anywhere: what is there, and how many are not. */
    for (size_t len = TPAFILE_HEADER_SIZE; len < bytes.count; len++) {
        found = read_bytes(bytes.at, len);
        uint64_t actions = tpa_count_records(bytes.at, len, TPAFILE_ACTION);
        if (found.actions && actions == 0)
            assert_int_equal(find_notice(&found.actions->origin, "lost_sums")->count, 2);
        if (found.actions)
            assert_int_equal(found.actions->actions.count, actions);
        else
            assert_int_equal(tpa_count_records(bytes.at, len, TPAFILE_REPORT), 0);
        ingested_free(&found);
    }
    buffer_release(&bytes);
    action_report_free(report);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(any_time_comes_back),
        cmocka_unit_test(times_that_profilers_write_are_small),
        cmocka_unit_test(a_profile_comes_back_whole),
        cmocka_unit_test(a_file_cut_anywhere_gives_its_whole_blocks),
        cmocka_unit_test(a_flipped_bit_costs_its_block_only),
        cmocka_unit_test(losses_are_reported_by_the_next_file_too),
        cmocka_unit_test(numbers_that_make_no_sense_are_left_out_and_counted),
        cmocka_unit_test(blocks_of_another_kind_of_file_are_left_out),
        cmocka_unit_test(a_repeated_notice_is_one),
        cmocka_unit_test(a_report_comes_back),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
