#include "analyze/account_tables.h"

#include <ctype.h>
#include <inttypes.h>

struct account_row {
    int64_t rank, time_ns;
    struct text part;
    double share;
};

/* clang-format off */
const struct table_column account_columns[ACCOUNT_COLUMNS] = {
    COLUMN(struct account_row, rank, "of_rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files; missing: all ranks", .flags = TABLE_IF_ANY),
    COLUMN(struct account_row, part, "step_part", "Part of a step", TABLE_NAME, "part of the time of the steps that count: of devices, or of the host where none worked"),
    COLUMN(struct account_row, time_ns, "part_time", "Time", TABLE_NS, "in a step; the parts add up to the step"),
    COLUMN(struct account_row, share, "part_share", "Share", TABLE_SHARE, "of the step"),
};
/* clang-format on */

static void account_add_rows(const struct account_rank *of, struct table *table)
{
    for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
        int64_t time_ns = account_part_ns(of, part);
        if (of->part_ns[part] == 0)
            continue;
        struct account_row row = { of->rank, time_ns, as_text(account_part_name(part)),
                                   of->step_ns ? (double)time_ns / (double)of->step_ns : 0 };
        table_add_rows(table, &row, 1, sizeof row);
    }
}

void account_add_table(const struct account *account, struct result *result)
{
    struct table *table =
        table_open("account", "Where the time of a step goes", account_columns, ACCOUNT_COLUMNS);
    account_add_rows(&account->all, table);
    for (size_t i = 0; i < account->count && account->count > 1; i++)
        account_add_rows(&account->at[i], table);
    table_add_footer(table, "step", "A step", TABLE_NS, table_int(account->all.step_ns));
    table_add_footer(table, "counted", "Steps that count", TABLE_COUNT,
                     table_int((int64_t)account->all.count));
    table_add_footer(table, "median", "Median", TABLE_NS, table_int(account->all.median_ns));
    table->uncut = true;
    result_add_table(result, table);
}

const char *account_pattern_sentence(const struct account *account, struct arena *texts)
{
    SCOPED struct buffer text = { 0 };
    if (account->has_steps)
        account_describe_pattern(&account->all, &text);
    if (text.count)
        text.at[0] = (char)toupper((unsigned char)text.at[0]);
    return text.count ? arena_printf(texts, "%s.", text.at) : NULL;
}

void account_notice(const struct account *account, struct result *result)
{
    const struct account_rank *all = &account->all;
    if (!account->has_steps)
        return;
    SCOPED struct buffer text = { 0 }, pattern = { 0 };
    quantity_append_rounded_time(&text, (double)all->step_ns);
    if (all->count > 1)
        buffer_printf(&text, ", the mean of %zu", all->count);
    if (all->period > 1)
        buffer_printf(&text, " (%zu period%s of %zu)", all->count / all->period,
                      all->count / all->period == 1 ? "" : "s", all->period);
    if (all->limit == LIMIT_DEVICES && all->host_step_ns > 0)
        buffer_printf(&text, "; devices fall behind the host, whose steps take %s",
                      TIME_TEXT(all->host_step_ns));
    account_describe_pattern(all, &pattern);
    ADD_NOTICE(result, "step", (int64_t)all->count, "a step takes %s%s%s", text.at, pattern.count ? "; " : "",
               pattern.count ? pattern.at : "");
    result_make_clause(result);
}
