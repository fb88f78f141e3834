/*
 * summarized.h - for tests of the summary: what is drawn with drawn.h, answered.
 *
 *     draw_call_us("cudaLaunchKernel", 0, 10, 1);
 *     answer();                                  // RESULT holds the tables
 */
#ifndef TPA_TESTS_UNIT_SUMMARIZED_H
#define TPA_TESTS_UNIT_SUMMARIZED_H

#include "summary/summary.h"
#include "tests/unit/drawn.h"

static const struct trace_wants *drawn_wants = &summary_wants;

static struct result *result;

static inline void answer_by(enum summary_by by)
{
    result = scratch_result(result_open("tpa.summary/1"));
    assert_true(summary_add_tables(drawn(), selection_all(drawn()), by, result, NULL));
}

static inline void answer(void)
{
    answer_by(SUMMARY_BY_ALL);
}

/* The row of the table with this KEY that has RULE; SIZE_MAX when none has, or there is no table. */
static inline size_t row_of_rule(const char *key, const char *rule)
{
    for (size_t t = 0; t < result->tables.count; t++) {
        const struct table *table = result->tables.at[t];
        for (size_t row = 0; strcmp(table->key, key) == 0 && row < table->row_count; row++)
            if (strcmp(text_called(table, row, "rule"), rule) == 0)
                return row;
    }
    return SIZE_MAX;
}

static inline size_t row_of(const char *rule)
{
    return row_of_rule("findings", rule);
}

/* The cell of the finding with RULE, which there must be. */
static inline const char *finding_text(const char *rule, const char *key)
{
    return text_called(table_called(result, "findings"), row_of(rule), key);
}

static inline int64_t saves_of(const char *rule)
{
    return int_called(table_called(result, "findings"), row_of(rule), "saves");
}

/* The text of the notice of KIND; "" when there is none. */
static inline const char *notice_of(const char *kind)
{
    for (size_t i = 0; i < result->notices.count; i++)
        if (strcmp(result->notices.at[i].kind, kind) == 0)
            return result->notices.at[i].text;
    return "";
}

static inline void draw_call_us(const char *name, int64_t start_us, int64_t dur_us, int64_t correlation)
{
    draw_call(name, 1, 1000 * start_us, 1000 * dur_us, correlation);
}

static inline void draw_work_us(const char *category, const char *name, int64_t start_us, int64_t dur_us,
                                int64_t correlation)
{
    draw_work(category, name, 0, 7, 1000 * start_us, 1000 * dur_us, correlation);
}

static inline void draw_op_us(const char *category, const char *name, int64_t start_us, int64_t dur_us)
{
    draw_host(category, name, 1, 1000 * start_us, 1000 * dur_us);
}

static inline void draw_step_us(int64_t number, int64_t start_us, int64_t dur_us)
{
    draw_step(number, 1000 * start_us, 1000 * dur_us);
}

static inline void draw_kernel_us(const char *name, int64_t call_us, int64_t call_dur_us, int64_t start_us,
                                  int64_t dur_us, int64_t correlation)
{
    draw_kernel(name, 1000 * call_us, 1000 * call_dur_us, 1000 * start_us, 1000 * dur_us, correlation);
}

/* The loop waits for its next batch. */
static inline void draw_loading_us(int64_t start_us, int64_t dur_us)
{
    draw_op_us("user_annotation", "enumerate(DataLoader)#_SingleProcessDataLoaderIter.__next__", start_us,
               dur_us);
}

static inline void draw_device(int64_t memory)
{
    *VEC_PUSH(&drawn_file()->devices) =
        (struct trace_device){ .name = "V100", .total_memory = memory, .compute_major = 7 };
}

#endif
