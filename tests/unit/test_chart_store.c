/* test_chart_store.c - `tpa chart --type trend`: from a store of runs to the script of a picture. */

#include "tests/unit/scratch.h"
#include "cli/commands.h"
#include "history/store.h"
#include <math.h>
#include <unistd.h>

static char directory[] = "/tmp/test_chart_store.XXXXXX";

/* A run of LABEL on DAY with four steps of STEP_NS. */
static void add_run(struct store *store, const char *label, int day, double step_ns)
{
    enum { STEPS = 4 };
    struct tpa_error err = { 0 };
    struct night *night = scratch(arena_open(sizeof *night));
    ARENA_OWNS(arena_of(night), &night->figures, &night->facts);
    night->unit = "step";
    night->gpu = "GPU 1";
    night->sample_count = STEPS;
    struct night_figure figure = { .table = NIGHT_HEAD,
                                   .name = "step_time",
                                   .length = strlen("step_time"),
                                   .title = "step time",
                                   .kind = TABLE_NS,
                                   .calls = NAN,
                                   .values = arena_alloc(arena_of(night), STEPS * sizeof(double)),
                                   .count = STEPS };
    double sorted[STEPS];
    for (int step = 0; step < STEPS; step++)
        sorted[step] = figure.values[step] = round(step_ns * (1 + 0.01 * step));
    figure.level = level_of(sorted, STEPS);
    *VEC_PUSH(&night->figures) = figure;
    struct store_about about = { .label = label,
                                 .gpu = night->gpu,
                                 .time_ns = day * INT64_C(86400000000000) };
    memset(&about.hash, day + 1 + (int)strlen(label) * 50, sizeof about.hash);
    struct store_added added;
    assert_true(store_add(store, night, &about, &added, &err));
}

/* Run `tpa chart WORDS`; its exit code, and what is wrong in ERR. */
static int run_chart(const char *const *from, struct tpa_error *err)
{
    int count = 0;
    char *words[16];
    for (; from[count]; count++)
        words[count] = (char *)(uintptr_t)from[count]; /* they are sorted in place, and not written to */
    SCOPED void *args = mem_alloc(cmd_chart.args_size);
    memcpy(args, cmd_chart.defaults, cmd_chart.args_size);
    struct operands operands;
    assert_true(options_parse(cmd_chart.options, args, count, words, &operands, err));
    struct invocation call = {
        .command = &cmd_chart, .args = args, .operands = operands.at, .operand_count = operands.count
    };
    int code = cmd_chart.main(&call, err);
    options_release(cmd_chart.options, args);
    return code;
}

static void assert_file_holds(const char *path, const char *text)
{
    char content[32768];
    FILE *file = fopen(path, "r");
    assert_non_null(file);
    content[fread(content, 1, sizeof content - 1, file)] = '\0';
    fclose(file);
    assert_non_null(strstr(content, text));
}

TEST(a_store_becomes_a_picture)
{
    assert_non_null(mkdtemp(directory));
    assert_int_equal(chdir(directory), 0);
    struct tpa_error err = { 0 };
    struct store *store = store_open("perf.db", STORE_CREATE, 10000, &err);
    assert_non_null(store);
    for (int day = 0; day < 6; day++)
        add_run(store, "net", day, 1000000 + 1000 * (day % 3));
    store_close(store);
    const char *const words[] = {
        "--type", "trend", "--store", "perf.db", "--script", "-o", "trend.gp", NULL
    };
    assert_int_equal(run_chart(words, &err), EXIT_FINE);
    assert_file_holds("trend.gp", "\n:step time, run by run - net on GPU 1\n");
    assert_file_holds("trend.gp", "with filledcurves"); /* the band */

    /* A second label: now one must be said. */
    store = store_open("perf.db", STORE_CHANGE, 10000, &err);
    add_run(store, "other", 0, 5000000);
    store_close(store);
    const char *const again[] = { "--type", "trend", "--store", "perf.db", "--script", "-o", "no.gp", NULL };
    assert_int_equal(run_chart(again, &err), EXIT_TROUBLE);
    assert_non_null(strstr(err.message, "the store has runs of "));
    assert_int_not_equal(access("no.gp", F_OK), 0);
    err = (struct tpa_error){ 0 };
    const char *const chosen[] = { "--type", "trend",    "--store", "perf.db",  "--label",
                                   "other",  "--script", "-o",      "other.gp", NULL };
    assert_int_equal(run_chart(chosen, &err), EXIT_FINE);
    assert_file_holds("other.gp", "\n:step time, run by run - other on GPU 1\n");
    unlink("trend.gp");
    unlink("other.gp");
    unlink("perf.db");
    assert_int_equal(chdir("/"), 0);
    assert_int_equal(rmdir(directory), 0);
}
