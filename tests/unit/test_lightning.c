/* test_lightning.c - ingest/lightning.h: the report of PyTorch Lightning's SimpleProfiler. */
#include "tests/unit/unit.h"
#include "ingest/lightning.h"
#include "profile/view.h"

#include <math.h>

SCRATCH_OF(source)
SCRATCH_OF(action_report)
SCRATCH_OF(result)

static struct action_report *read_text(const char *text)
{
    struct source *source = scratch_source(source_open_memory(text, strlen(text), "test", NULL));
    assert_non_null(source);
    struct action_report *report = scratch_action_report(lightning_read(source, NULL));
    return report;
}

TEST(an_extended_report_has_calls_and_shares)
{
    const char text[] =
        "some other output | of the program\n"
        "FIT Profiler Report\n\n"
        "----------\n"
        "|  Action\t|  Mean duration (s)\t|  Num calls\t|  Total time (s)\t|  Percentage %\t|\n"
        "----------\n"
        "|  Total\t|  -\t|  61\t|  4.7392\t|  100 %\t|\n"
        "----------\n"
        "|  run_training_epoch\t|  2.3128\t|  2\t|  4.6256\t|  97.603\t|\n"
        "|  [Strategy]Single.batch_to_device\t|  1.2e-05\t|  59\t|  0.000708\t|  0.014939\t|\n"
        "----------\n";
    struct action_report *report = read_text(text);
    assert_non_null(report);
    assert_string_equal(report->stage, "FIT");
    assert_int_equal(report->total_calls, 61);
    assert_int_equal(report->total_ns, 4739200000);
    assert_int_equal(report->actions.count, 2);
    assert_string_equal(report->actions.at[0].name, "run_training_epoch");
    assert_int_equal(report->actions.at[0].mean_ns, 2312800000);
    assert_int_equal(report->actions.at[0].calls, 2);
    assert_int_equal(report->actions.at[0].total_ns, 4625600000);
    assert_true(fabs(report->actions.at[0].share - 0.97603) < 1e-12);
    assert_int_equal(report->actions.at[1].mean_ns, 12000);
    assert_int_equal(report->actions.at[1].total_ns, 708000);
    assert_int_equal(report->odd_lines, 0);
    assert_true(lightning_sniff(text, sizeof text - 1) > 50);
}

/* extended=False; a bar neither begins nor ends a line, as before Lightning 1.7; an action named Total is no sum. */
TEST(a_short_report_has_neither)
{
    struct action_report *report = read_text("Profiler Report\n\n"
                                             "Action\t|  Mean duration (s)\t|  Total time (s)\n"
                                             "-----\n"
                                             "Total\t|  0.5\t|  1.5\n"
                                             "cut short\t|  0.5\n");
    assert_non_null(report);
    assert_string_equal(report->stage, "");
    assert_int_equal(report->actions.count, 1);
    assert_string_equal(report->actions.at[0].name, "Total");
    assert_int_equal(report->actions.at[0].calls, -1);
    assert_true(isnan(report->actions.at[0].share));
    assert_int_equal(report->total_ns, -1);
    assert_int_equal(report->odd_lines, 1);
    assert_int_equal(report->odd_offset, 89);
}

/* A report of two actions, of which one or the line behind the last can be missing, or a byte be another. */
static struct action_report *read_damaged(bool second, bool end, char byte)
{
    char text[512];
    snprintf(text, sizeof text,
             "FIT Profiler Report\n\n"
             "----------\n"
             "|  Action\t|  Mean duration (s)\t|  Num calls\t|  Total time (s)\t|  Percentage %%\t|\n"
             "----------\n"
             "|  Total\t|  -\t|  61\t|  4.7392\t|  100 %%\t|\n"
             "----------\n"
             "|  run\t|  2.3128\t|  2\t|  4.6256\t|  97.603\t|\n"
             "%s%s",
             second ? "|  bat~h\t|  1.2e-05\t|  59\t|  0.000708\t|  0.014939\t|\n" : "",
             end ? "----------\n" : "");
    size_t len = strlen(text);
    for (char *at = text; (at = strchr(at, '~')); at++)
        *at = byte;
    struct source *source = scratch_source(source_open_memory(text, len, "test", NULL));
    struct action_report *report = scratch_action_report(lightning_read(source, NULL));
    assert_non_null(report);
    return report;
}

TEST(a_damaged_report_lacks_something)
{
    static const struct {
        bool second, end;
        char byte;
        unsigned lacks;
        uint64_t odd_lines;
    } cases[] = {
        { true, true, 'c', 0, 0 },           { true, false, 'c', LACKS_END, 0 },
        { false, false, 'c', LACKS_END, 0 }, { false, true, 'c', LACKS_PARTS, 0 }, /* 2 calls of 61 */
        { true, true, '\0', 0, 1 },          { true, true, '\xff', 0, 1 },
    };
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        struct action_report *report = read_damaged(cases[i].second, cases[i].end, cases[i].byte);
        assert_int_equal(report->origin.lacks, cases[i].lacks);
        assert_int_equal(report->odd_lines, cases[i].odd_lines);
        assert_int_equal(report->actions.count, cases[i].second && cases[i].byte == 'c' ? 2 : 1);
    }
}

TEST(what_is_no_report_is_refused)
{
    assert_null(read_text("FIT Profiler Report\n\nno table\n"));
    assert_null(read_text(""));
    assert_int_equal(lightning_sniff("", 0), 0);
    assert_int_equal(lightning_sniff("Profiler Report", 15), 0);
    const char json[] = "{\"note\": \"Profiler Report: Action, Total time (s)\"}";
    assert_int_equal(lightning_sniff(json, sizeof json - 1), 0);
}

/* 2 s of an epoch: ten steps of 1.2 s, of which 0.7 s are the closure's, and 0.1 s of loading; nothing tells of 0.7 s. AS_OFTEN: the closure runs
 * within each step. Otherwise gradients are added up, and most of it runs outside. */
static struct action_report *nested_report(bool as_often)
{
    static const char text[] =
        "FIT Profiler Report\n\n"
        "|  Action\t|  Mean duration (s)\t|  Num calls\t|  Total time (s)\t|  Percentage %%\t|\n"
        "----------\n"
        "|  Total\t|  -\t|  62\t|  2.5\t|  100 %%\t|\n"
        "----------\n"
        "|  run_training_epoch\t|  2\t|  1\t|  2\t|  80\t|\n"
        "|  run_training_batch\t|  0.12\t|  10\t|  1.2\t|  48\t|\n"
        "|  [LightningModule]M.optimizer_step\t|  0.12\t|  10\t|  1.2\t|  48\t|\n"
        "|  [Strategy]S.backward\t|  0.04\t|  %d\t|  0.4\t|  16\t|\n"
        "|  [Strategy]S.training_step\t|  0.03\t|  %d\t|  0.3\t|  12\t|\n"
        "|  [_TrainingEpochLoop].train_dataloader_next\t|  0.01\t|  11\t|  0.1\t|  4\t|\n"
        "----------\n";
    char filled[sizeof text + 16];
    snprintf(filled, sizeof filled, text, as_often ? 10 : 20, as_often ? 10 : 20);
    struct action_report *report = read_text(filled);
    assert_non_null(report);
    return report;
}

TEST(what_an_action_has_alone_adds_up)
{
    static const struct {
        const char *title, *saves, *where;
    } nested[] = { { "run_training_epoch", "700.000ms, in 1 call, 28.0 % of the run",
                     "outside of the other actions" },
                   { "[LightningModule]M.optimizer_step", "500.000ms, in 10 calls, 20.0 % of the run",
                     "without training_step, backward" },
                   { "[Strategy]S.backward", "400.000ms, in 10 calls, 16.0 % of the run", NULL } },
      apart[] = { { "[LightningModule]M.optimizer_step", "1.200s, in 10 calls, 48.0 % of the run", NULL },
                  { "[Strategy]S.backward", "400.000ms, in 20 calls, 16.0 % of the run", NULL },
                  { "[Strategy]S.training_step", "300.000ms, in 20 calls, 12.0 % of the run", NULL } };
    for (int as_often = 0; as_often < 2; as_often++) {
        struct action_report *report = nested_report(as_often);
        struct result *result = scratch_result(result_open("test/1"));
        actions_add_overview(result, report);
        const struct answer *answer = result_answer(result);
        for (size_t i = 0; i < 3; i++) {
            const struct answer_finding *finding = &answer->findings.at[i];
            assert_string_equal(finding->title, (as_often ? nested : apart)[i].title);
            assert_string_equal(finding->saves, (as_often ? nested : apart)[i].saves);
            const char *where = (as_often ? nested : apart)[i].where;
            assert_string_equal(finding->where ? finding->where : "", where ? where : "");
        }
    }
}
