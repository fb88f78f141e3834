#include "analyze/contention/contention.h"

#include "base/rows.h"

#include <inttypes.h>

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct contention_pair, name, "name", "Name", TABLE_NAME, "the kernel, demangled"),
    COLUMN(struct contention_pair, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_HIDDEN),
    COLUMN(struct contention_pair, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_OPTIONAL),
    COLUMN(struct contention_pair, beside_kind, "beside_kind", "Beside", TABLE_TEXT, "what ran beside it: communication, kernel, copy or memset"),
    COLUMN(struct contention_pair, beside, "beside", "Which", TABLE_TEXT, "the collective, or the direction of the copy"),
    COLUMN(struct contention_pair, group, "group", "Group", TABLE_TEXT, "description of the process group of the collective"),
    COLUMN(struct contention_pair, factor, "factor", "Factor", TABLE_NUMBER, "how many times longer it takes while it runs beside this"),
    COLUMN(struct contention_pair, factor_low, "factor_low", "Low", TABLE_NUMBER, "lower end of the interval of 95 % around the factor"),
    COLUMN(struct contention_pair, factor_high, "factor_high", "High", TABLE_NUMBER, "upper end of that interval"),
    COLUMN(struct contention_pair, lost_ns, "lost", "Lost", TABLE_NS, "of the overlapped time, what is due to the company: overlapped x (1 - 1 / factor)"),
    COLUMN(struct contention_pair, overlapped_ns, "overlapped", "Overlapped", TABLE_NS, "its time beside this and nothing else, of all executions"),
    COLUMN(struct contention_pair, slower, "slower", "Slower", TABLE_BOOL, "is it proven, among all judged pairs of the file, that it runs slower?"),
    COLUMN(struct contention_pair, judged, "judged", "Judged", TABLE_BOOL, "were enough executions alike, so that the factor may be used?"),
    COLUMN(struct contention_pair, why, "why", "Why not", TABLE_TEXT, "why it is not judged"),
    COLUMN(struct contention_pair, count_alone, "count_alone", "Alone", TABLE_TALLY, "executions beside anything for at most 1 % of their duration"),
    COLUMN(struct contention_pair, count_beside, "count_beside", "Beside it", TABLE_TALLY, "executions beside this for half of their duration or more, and beside anything else for at most 5 %"),
    COLUMN(struct contention_pair, mixed, "mixed", "Mixed", TABLE_TALLY, "other executions that ran beside this for a while, which are not compared", .flags = TABLE_OPTIONAL),
    COLUMN(struct contention_pair, median_alone_ns, "median_alone", "Median alone", TABLE_NS, "median duration of the executions alone that were compared", .flags = TABLE_OPTIONAL),
    COLUMN(struct contention_pair, median_beside_ns, "median_beside", "Median beside", TABLE_NS, "median duration of the executions beside this that were compared", .flags = TABLE_OPTIONAL),
    COLUMN(struct contention_pair, lost_low_ns, "lost_low", "Lost, low", TABLE_NS, "lost at the lower end of the factor; negative if that is below 1", .flags = TABLE_OPTIONAL),
    COLUMN(struct contention_pair, lost_high_ns, "lost_high", "Lost, high", TABLE_NS, "lost at the upper end of the factor", .flags = TABLE_OPTIONAL),
};

static const struct table_column sum_columns[] = {
    COLUMN(struct contention_sum, beside_kind, "beside_kind", "Beside", TABLE_TEXT, "what ran beside the kernels: communication, kernel, copy or memset"),
    COLUMN(struct contention_sum, beside, "beside", "Which", TABLE_TEXT, "the collective, or the direction of the copy; missing for all communication"),
    COLUMN(struct contention_sum, group, "group", "Group", TABLE_TEXT, "description of the process group of the collective"),
    COLUMN(struct contention_sum, lost_ns, "lost", "Lost", TABLE_NS, "time lost by the judged kernels, negative estimates included"),
    COLUMN(struct contention_sum, lost_low_ns, "lost_low", "Low", TABLE_NS, "lower end of the interval of 95 % around it"),
    COLUMN(struct contention_sum, lost_high_ns, "lost_high", "High", TABLE_NS, "upper end of that interval"),
    COLUMN(struct contention_sum, judged_ns, "judged", "Judged", TABLE_NS, "overlapped time of the judged kernels"),
    COLUMN(struct contention_sum, overlapped_ns, "overlapped", "Overlapped", TABLE_NS, "overlapped time of all kernels, added up"),
    COLUMN(struct contention_sum, factor, "factor", "Factor", TABLE_NUMBER, "how many times longer the judged kernels take while they run beside this"),
    COLUMN(struct contention_sum, factor_low, "factor_low", "Factor, low", TABLE_NUMBER, "lower end of the interval of 95 % around the factor"),
    COLUMN(struct contention_sum, factor_high, "factor_high", "Factor, high", TABLE_NUMBER, "upper end of that interval"),
    COLUMN(struct contention_sum, pairs, "pairs", "Kernels", TABLE_TALLY, "kernels that ran beside this"),
    COLUMN(struct contention_sum, judged_pairs, "judged_pairs", "Judged kernels", TABLE_TALLY, "those that could be judged"),
};

static const struct table_column collective_columns[] = {
    COLUMN(struct contended_collective, collective, "collective", "Collective", TABLE_NAME, "all_reduce, broadcast and so on"),
    COLUMN(struct contended_collective, group, "group", "Group", TABLE_TEXT, "description of the process group"),
    COLUMN(struct contended_collective, count, "count", "Transfers", TABLE_TALLY, "how often it ran: once for all ranks"),
    COLUMN(struct contended_collective, factor, "factor", "Factor", TABLE_NUMBER, "how many times longer the transfer takes while any of its ranks computes"),
    COLUMN(struct contended_collective, factor_low, "factor_low", "Low", TABLE_NUMBER, "lower end of the interval of 95 % around the factor"),
    COLUMN(struct contended_collective, factor_high, "factor_high", "High", TABLE_NUMBER, "upper end of that interval"),
    COLUMN(struct contended_collective, beside_transfer_ns, "beside_transfer", "Computed in transfer", TABLE_NS, "computation of its ranks during transfers, added up"),
    COLUMN(struct contended_collective, beside_waiting_ns, "beside_waiting", "Computed in waiting", TABLE_NS, "computation of its ranks while they waited for the last to arrive, added up"),
    COLUMN(struct contended_collective, slower, "slower", "Slower", TABLE_BOOL, "is it proven, among all judged collectives, that it runs slower?"),
    COLUMN(struct contended_collective, judged, "judged", "Judged", TABLE_BOOL, "were there enough transfers on one clock, so that the factor may be used?"),
    COLUMN(struct contended_collective, why, "why", "Why not", TABLE_TEXT, "why it is not judged"),
};
/* clang-format on */

const struct table_shape contention_table_shapes[] = {
    TABLE_SHAPE("contention", columns),
    TABLE_SHAPE("contention_sums", sum_columns),
    { 0 },
};

const struct table_shape contention_comm_shapes[] = {
    TABLE_SHAPE("contention", columns),
    TABLE_SHAPE("contention_sums", sum_columns),
    TABLE_SHAPE("contention_collectives", collective_columns),
    { 0 },
};

enum rows_of { ROWS_OF_ALL, ROWS_OF_COMMUNICATION, ROWS_OF_JUDGED };

static void add_tables(const struct contention *contention, enum rows_of wanted, struct result *result)
{
    struct table *pairs =
        TABLE_OF_ROWS("contention", "Slower beside other work", columns, (struct contention_pair *)NULL, 0);
    struct table *sums = TABLE_OF_ROWS("contention_sums", "Time lost, by what ran beside", sum_columns,
                                       (struct contention_sum *)NULL, 0);
    for (size_t i = 0; i < contention->pairs.count; i++)
        if (wanted == ROWS_OF_JUDGED ? contention->pairs.at[i].judged
            : wanted == ROWS_OF_COMMUNICATION
                ? contention_pair_kind(contention, &contention->pairs.at[i]) == BESIDE_COMMUNICATION
                : true)
            table_add_rows(pairs, &contention->pairs.at[i], 1, sizeof *contention->pairs.at);
    for (size_t i = 0; i < contention->sums.count; i++)
        if (wanted == ROWS_OF_JUDGED          ? contention->sums.at[i].judged_pairs > 0
            : wanted == ROWS_OF_COMMUNICATION ? contention->sums.at[i].kind == BESIDE_COMMUNICATION
                                              : true)
            table_add_rows(sums, &contention->sums.at[i], 1, sizeof *contention->sums.at);
    if (contention->trace->file_count > 1)
        TABLE_FLAG(pairs, struct contention_pair, rank, 0);
    pairs->none = "No kernel ran beside other work.";
    sums->none = pairs->none;
    pairs->sort_column = table_column_at(pairs, offsetof(struct contention_pair, overlapped_ns));
    table_drop_hidden(pairs);
    result_add_table(result, pairs);
    result_add_table(result, sums);
}

void contention_add_tables(const struct contention *contention, struct result *result)
{
    add_tables(contention, ROWS_OF_ALL, result);
}

void contention_add_judged(const struct contention *contention, struct result *result)
{
    if (contention_total(contention).judged_pairs)
        add_tables(contention, ROWS_OF_JUDGED, result);
}

struct reason {
    const char *why;
    int64_t count;
};

static const struct key by_why[] = { ASC(struct reason, why), KEY_END };
static const struct key by_count[] = { DESC(struct reason, count), KEY_END };

/* Add a notice that nothing beside communication can be judged: the reasons, most frequent first. */
static void add_doubts(const struct contention *contention, struct result *result)
{
    SCOPED VEC_OF(struct reason) reasons = { 0 };
    int64_t pairs = 0;
    for (size_t i = 0; i < contention->pairs.count; i++)
        if (contention_pair_kind(contention, &contention->pairs.at[i]) == BESIDE_COMMUNICATION) {
            *VEC_PUSH(&reasons) = (struct reason){ contention->pairs.at[i].why.at, 1 };
            pairs++;
        }
    SORT(&reasons, by_why);
    size_t kept = 0;
    FOR_GROUPS(&reasons, by_why, first, end)
        reasons.at[kept++] = (struct reason){ reasons.at[first].why, (int64_t)(end - first) };
    reasons.count = kept;
    SORT(&reasons, by_count);
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < reasons.count; i++)
        buffer_printf(&text, "%s%" PRId64 " %s", i ? ", " : "", reasons.at[i].count, reasons.at[i].why);
    if (pairs)
        ADD_NOTICE(result, "contention_not_judged", pairs,
                   "%" PRId64
                   " kernel%s ran beside communication; whether slower for it cannot be judged: %.*s",
                   pairs, pairs == 1 ? "" : "s", (int)text.count, text.at);
}

void contention_add_comm_tables(const struct contention *contention, const struct selection *selection,
                                bool always, struct result *result)
{
    SCOPED_OBJECT struct contended_collectives *collectives =
        contended_collectives_open(contention, selection);
    bool judged = false;
    for (size_t i = 0; i < contention->sums.count; i++)
        judged |= contention->sums.at[i].kind == BESIDE_COMMUNICATION && contention->sums.at[i].judged_pairs;
    for (size_t i = 0; i < collectives->rows.count; i++)
        judged |= collectives->rows.at[i].judged;
    if (judged || always) {
        add_tables(contention, ROWS_OF_COMMUNICATION, result);
        struct table *table =
            TABLE_OF_ROWS("contention_collectives", "Collectives slowed by computation", collective_columns,
                          collectives->rows.at, collectives->rows.count);
        table->sort_column = table_column_at(table, offsetof(struct contended_collective, count));
        table->none = "No collective ran on a device.";
        result_add_table(result, table);
    } else {
        add_doubts(contention, result);
    }
}
