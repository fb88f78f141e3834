/* A join of two short lists by the slow object and its problem. */
#include "diff/diff.h"

#include "base/runs.h"
#include <math.h>

struct slow_row {
    struct text what, trouble;
    double before, after; /* NAN: not slow */
    struct text verdict;
};

struct slow_rows {
    VEC_OF(struct slow_row) at;
};

static struct text text_of(const char *text)
{
    return (struct text){ text, strlen(text) };
}

static void add_side(struct slow_rows *rows, const struct measures *measures, bool after)
{
    FOR_EACH(slow, &measures->slow) {
        *VEC_PUSH(&rows->at) = (struct slow_row){ .what = text_of(slow->what),
                                                  .trouble = text_of(slow->trouble),
                                                  .before = after ? NAN : slow->figure,
                                                  .after = after ? slow->figure : NAN };
    }
}

static bool slow_comes_behind(const void *context, const void *left, const void *right)
{
    (void)context;
    const struct slow_row *a = left, *b = right;
    int order = strcmp(a->trouble.at, b->trouble.at);
    return order ? order > 0 : strverscmp(a->what.at, b->what.at) > 0; /* rank 2 before rank 10 */
}

static enum verdict slow_verdict_of(const struct slow_row *row)
{
    return isnan(row->before) ? VERDICT_NEW : isnan(row->after) ? VERDICT_GONE : VERDICT_SAME;
}

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct slow_row, what, "what", "What", TABLE_NAME, "the rank, host, or hosts of a group"),
    COLUMN(struct slow_row, trouble, "trouble", "Trouble", TABLE_TEXT, "slow GPU, slow host, slow link; holds the job up: in half of the steps and more"),
    COLUMN(struct slow_row, before, "before", "Before", TABLE_NUMBER, "its pace relative to the others: 1.05 is 5 % slower; for ranks that hold the job up, their share of the waiting; missing: not slow"),
    COLUMN(struct slow_row, after, "after", "After", TABLE_NUMBER, "the same of the second side"),
    COLUMN(struct slow_row, verdict, "verdict", "Verdict", TABLE_TEXT, "new, gone, or same: slow on both sides"),
};
/* clang-format on */

void slow_add_table(const struct measures *before, const struct measures *after, struct result *result)
{
    struct slow_rows rows = { 0 };
    size_t kept = 0;
    add_side(&rows, before, false);
    add_side(&rows, after, true);
    runs_sort(rows.at.at, rows.at.count, sizeof *rows.at.at, slow_comes_behind, NULL);
    for (size_t i = 0; i < rows.at.count; i++) {
        struct slow_row *row = &rows.at.at[i], *last = kept ? &rows.at.at[kept - 1] : NULL;
        if (last && strcmp(last->trouble.at, row->trouble.at) == 0 &&
            strcmp(last->what.at, row->what.at) == 0) {
            last->before = isnan(last->before) ? row->before : last->before;
            last->after = isnan(last->after) ? row->after : last->after;
        } else {
            rows.at.at[kept++] = *row;
        }
    }
    for (size_t i = 0; i < kept; i++)
        rows.at.at[i].verdict = text_of(verdict_name(slow_verdict_of(&rows.at.at[i]), TABLE_NS));
    if (kept)
        result_add_table(result,
                         TABLE_OF_ROWS("slow", "Slow ranks, hosts and links", columns, rows.at.at, kept));
    VEC_FREE(&rows.at);
}

const struct table_shape slow_tables[] = {
    TABLE_SHAPE("slow", columns, .of = "facts"),
    { 0 },
};
