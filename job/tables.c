/* tables.c - the tables and notices of a job: see job.h. */
#include "job/job.h"
#include <math.h>

/* clang-format off */
#define COORDINATES(row) \
    COLUMN(row, dp, "dp", "DP", TABLE_COUNT, "its place among replicas of the model"), \
    COLUMN(row, pp, "pp", "PP", TABLE_COUNT, "its stage"), \
    COLUMN(row, tp, "tp", "TP", TABLE_COUNT, "its place among ranks that share tensors"), \
    COLUMN(row, cp, "cp", "CP", TABLE_COUNT, "its place among ranks that share sequences"), \
    COLUMN(row, ep, "ep", "EP", TABLE_COUNT, "its place among ranks that share experts")

#define PARTS(row) \
    COLUMN(row, parts.compute_ns, "compute", "Computes", TABLE_NS, "time in computations of microbatches"), \
    COLUMN(row, parts.warmup_ns, "warmup", "Warm-up", TABLE_NS, "before its first computation"), \
    COLUMN(row, parts.waiting_ns, "waiting", "Waits", TABLE_NS, \
           "between computations, while the rank whose result comes next was still computing"), \
    COLUMN(row, parts.other_ns, "other", "Other", TABLE_NS, "the rest between computations: transfers, the host"), \
    COLUMN(row, parts.drain_ns, "drain", "Drain", TABLE_NS, "after its last computation")
/* clang-format on */

static const struct table_column job_columns[] = {
    COLUMN(struct job_row, ranks, "ranks", "Ranks", TABLE_TALLY, "ranks that were read"),
    COLUMN(struct job_row, steps, "steps", "Steps", TABLE_TALLY, "steps with operations"),
    COLUMN(struct job_row, dp, "dp", "DP", TABLE_TALLY, "replicas of the model"),
    COLUMN(struct job_row, pp, "pp", "PP", TABLE_TALLY, "stages"),
    COLUMN(struct job_row, tp, "tp", "TP", TABLE_TALLY, "ranks that share tensors"),
    COLUMN(struct job_row, cp, "cp", "CP", TABLE_TALLY, "ranks that share sequences"),
    COLUMN(struct job_row, ep, "ep", "EP", TABLE_TALLY, "ranks that share experts"),
    COLUMN(struct job_row, microbatches, "microbatches", "Microbatches", TABLE_TALLY,
           "of a pipeline in a step"),
    COLUMN(struct job_row, chunks, "chunks", "Chunks", TABLE_TALLY, "stages of the model on a rank"),
    COLUMN(struct job_row, schedule, "schedule", "Schedule", TABLE_TEXT,
           "GPipe, 1F1B, looped BFS or interleaved 1F1B"),
    COLUMN(struct job_row, step_ns, "step", "Span", TABLE_NS,
           "of a step, from its first operation to the end of its last; mean"),
    COLUMN(struct job_row, simulated_ns, "simulated", "Simulated", TABLE_NS,
           "the same replayed: without delays of hosts"),
    COLUMN(struct job_row, ideal_ns, "ideal", "Ideal", TABLE_NS,
           "the same if all operations of a type were equal"),
    COLUMN(struct job_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER, "simulated over ideal"),
    COLUMN(struct job_row, delay_slowdown, "delay_slowdown", "Delay", TABLE_NUMBER, "span over simulated"),
    COLUMN(struct job_row, bubble_share, "bubble_share", "Bubbles", TABLE_SHARE,
           "of the time of pipelines: all but computation"),
    COLUMN(struct job_row, slowest_share, "slowest_share", "Slowest ranks", TABLE_SHARE,
           "of the slowdown: gone if the slowest 3 % of ranks were ideal"),
    COLUMN(struct job_row, last_stage_share, "last_stage_share", "Last stage", TABLE_SHARE,
           "of the slowdown: gone if the last stage were ideal"),
    COLUMN(struct job_row, correlation, "correlation", "Correlation", TABLE_NUMBER,
           "of forward and backward lengths of microbatches: near 1 where sequences differ in length"),
    COLUMN(struct job_row, cause, "cause", "Cause", TABLE_TEXT,
           "stage, worker, sequence, communication, gc, delay or none"),
    COLUMN(struct job_row, where, "where", "Where", TABLE_TEXT, "the stage or rank that it is"),
};

static const struct table_column cause_columns[] = {
    COLUMN(struct job_cause_row, cause, "cause", "Cause", TABLE_NAME, "what makes steps longer"),
    COLUMN(struct job_cause_row, time_ns, "time", "A step", TABLE_NS,
           "how much longer a replayed step is with it alone"),
    COLUMN(struct job_cause_row, share, "share", "Of the loss", TABLE_SHARE,
           "of the span as recorded less one without any; causes overlap"),
};

static const struct table_column bubble_columns[] = {
    COLUMN(struct job_bubble_row, cause, "cause", "Bubble", TABLE_NAME, "why ranks did not compute"),
    COLUMN(struct job_bubble_row, time_ns, "time", "Time", TABLE_NS, "of all ranks and steps"),
    COLUMN(struct job_bubble_row, share, "share", "Share", TABLE_SHARE, "of the time of pipelines"),
};

static const struct table_column stage_columns[] = {
    COLUMN(struct job_stage_row, pp, "pp", "Stage", TABLE_COUNT, "the stage"),
    COLUMN(struct job_stage_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER,
           "of a step in which only its operations are real, over the ideal"),
    COLUMN(struct job_stage_row, forward_ns, "forward", "Forward", TABLE_NS,
           "mean of its forward computations"),
    COLUMN(struct job_stage_row, backward_ns, "backward", "Backward", TABLE_NS,
           "mean of its backward computations"),
    COLUMN(struct job_stage_row, bubble_share, "bubble_share", "Bubbles", TABLE_SHARE,
           "of its time in pipelines: all but computation"),
    PARTS(struct job_stage_row),
};

static const struct table_column rank_columns[] = {
    COLUMN(struct job_rank_row, rank, "rank", "Rank", TABLE_COUNT, "the rank"),
    COORDINATES(struct job_rank_row),
    COLUMN(struct job_rank_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER,
           "of a step in which only its operations are real, over the ideal; of up to 256 ranks"),
    COLUMN(struct job_rank_row, estimate, "estimate", "Estimate", TABLE_NUMBER,
           "the smaller slowdown of its stage and its replica"),
    PARTS(struct job_rank_row),
    COLUMN(struct job_rank_row, gc_ns, "gc", "GC", TABLE_NS,
           "time in which Python collected garbage, outside of computations"),
};

static const struct table_column step_columns[] = {
    COLUMN(struct job_step_row, step, "step", "Step", TABLE_COUNT, "number of the step"),
    COLUMN(struct job_step_row, time_ns, "time", "Span", TABLE_NS,
           "from its first operation to the end of its last"),
    COLUMN(struct job_step_row, simulated_ns, "simulated", "Simulated", TABLE_NS,
           "replayed: without delays of hosts"),
    COLUMN(struct job_step_row, ideal_ns, "ideal", "Ideal", TABLE_NS,
           "replayed with equal operations of a type"),
    COLUMN(struct job_step_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER, "simulated over ideal"),
    COLUMN(struct job_step_row, bubble_share, "bubble_share", "Bubbles", TABLE_SHARE,
           "of the time of pipelines: all but computation"),
};

static const struct table_column replica_columns[] = {
    COLUMN(struct job_replica_row, dp, "dp", "Replica", TABLE_COUNT, "place among replicas of the model"),
    COLUMN(struct job_replica_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER,
           "of a step in which only its operations are real, over the ideal"),
};

static const struct table_column type_columns[] = {
    COLUMN(struct job_type_row, type, "type", "Operations", TABLE_NAME, "type of operations"),
    COLUMN(struct job_type_row, count, "count", "Count", TABLE_TALLY, "how many there are"),
    COLUMN(struct job_type_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER,
           "of a step in which only these are real, over the ideal"),
};

static const struct table_column heat_columns[] = {
    COLUMN(struct job_heat_row, step, "step", "Step", TABLE_COUNT, "number of the step"),
    COLUMN(struct job_heat_row, rank, "rank", "Rank", TABLE_COUNT, "the rank"),
    COLUMN(struct job_heat_row, slowdown, "slowdown", "Slowdown", TABLE_NUMBER,
           "the smaller one of its stage and its replica in the step"),
};

static const struct table_column map_columns[] = {
    COLUMN(struct job_map_row, ranks, "ranks", "Ranks", TABLE_NAME, "one, or neighbours"),
    COLUMN(
        struct job_map_row, steps, "steps", "Steps", TABLE_TEXT,
        "a sign for a step: its slowdown is below 1.02 (dot), 1.05, 1.1, 1.25 (darker and darker, or : + *), or more "
        "(full, or #)",
        .flags = TABLE_PICTURE),
    COLUMN(struct job_map_row, slowdown, "slowdown", "Largest", TABLE_NUMBER,
           "the largest of these slowdowns"),
};

static const struct table_column line_columns[] = {
    COLUMN(struct job_line_row, step, "step", "Step", TABLE_COUNT, "the step in the middle by time"),
    COLUMN(struct job_line_row, rank, "rank", "Rank", TABLE_COUNT, "the rank"),
    COLUMN(struct job_line_row, pp, "pp", "PP", TABLE_COUNT, "its stage"),
    COLUMN(
        struct job_line_row, drawn, "drawn", "Time", TABLE_TEXT,
        "the step: numbered microbatches, forward (full, or #; of later chunks *), backward (shaded, or +; of later "
        "chunks :), gradients of weights (half, or =), bubbles (hatched, or /), collectives (-), the optimizer (=)",
        .flags = TABLE_PICTURE),
};

static const struct table_column dimension_columns[] = {
    COLUMN(struct job_dimension_row, dimension, "dimension", "Dimension", TABLE_NAME,
           "dp, pp, tp, cp, ep; world: all ranks; -: not known"),
    COLUMN(struct job_dimension_row, size, "size", "Size", TABLE_TALLY, "coordinates that there are"),
    COLUMN(struct job_dimension_row, count, "count", "Count", TABLE_TALLY, "messages and collectives"),
    COLUMN(struct job_dimension_row, time_ns, "time", "Time", TABLE_NS, "their durations added up"),
    COLUMN(struct job_dimension_row, exposed_ns, "exposed", "Exposed", TABLE_NS,
           "the part in which the device did nothing else"),
    COLUMN(struct job_dimension_row, waited_ns, "waited", "Waited", TABLE_NS,
           "for others to arrive; of those found on several ranks"),
    COLUMN(struct job_dimension_row, transfer_ns, "transfer", "Transfer", TABLE_NS, "the rest of these"),
};

const struct table_shape job_tables[] = {
    TABLE_SHAPE("job", job_columns),
    TABLE_SHAPE("causes", cause_columns),
    TABLE_SHAPE("bubbles", bubble_columns),
    TABLE_SHAPE("schedule", line_columns),
    TABLE_SHAPE("stages", stage_columns),
    TABLE_SHAPE("ranks", rank_columns),
    TABLE_SHAPE("steps", step_columns),
    TABLE_SHAPE("replicas", replica_columns),
    TABLE_SHAPE("types", type_columns),
    TABLE_SHAPE("heat_map", map_columns),
    TABLE_SHAPE("heat", heat_columns),
    TABLE_SHAPE("dimensions", dimension_columns),
    { 0 },
};

static void notice_form(const struct job *job, struct result *result)
{
    const struct operations *all = job->all;
    if (job->none_wanted)
        ADD_NOTICE(result, "no_steps", 1, "none of these steps was recorded");
    else if (!job->has_pipeline)
        ADD_NOTICE(
            result, "no_pipeline", 1,
            "no microbatches are marked, and no messages between stages were recorded: tpa fleet tells "
            "which rank holds up a job without a pipeline");
    else if (!all->marked)
        ADD_NOTICE(result, "unmarked", (int64_t)all->ranks.count,
                   "ranks mark no microbatches: they are told apart by messages, and counted");
    if (all->form == JOB_TIMELINE) {
        ADD_NOTICE(result, "transfers", 1,
                   "in timelines of jobs communication is recorded without waiting: dimensions count "
                   "no messages, only their transfers");
        result_make_minor(result);
    }
    if (all->corrected) {
        ADD_NOTICE(result, "clocks", (int64_t)all->ranks.count,
                   "ranks of several hosts: their clocks are corrected by the ends of collectives");
        result_make_minor(result);
    }
}

/* People see no columns without a value; programs see all. */
#define HIDE_IF(missing, table, row, field)                                                                  \
    do {                                                                                                     \
        if (missing)                                                                                         \
            TABLE_FLAG(table, row, field, TABLE_OPTIONAL);                                                   \
    } while (0)
#define HIDE_COORDINATES(size, table, row)                                                                   \
    do {                                                                                                     \
        HIDE_IF(!(size)[JOB_DP], table, row, dp);                                                            \
        HIDE_IF(!(size)[JOB_PP], table, row, pp);                                                            \
        HIDE_IF(!(size)[JOB_TP], table, row, tp);                                                            \
        HIDE_IF(!(size)[JOB_CP], table, row, cp);                                                            \
        HIDE_IF(!(size)[JOB_EP], table, row, ep);                                                            \
    } while (0)

static struct table *make_whole(const struct job *job)
{
    const struct job_row *row = &job->whole;
    struct table *table = TABLE_OF_ROWS("job", "Job", job_columns, row, 1);
    HIDE_COORDINATES(job->all->size, table, struct job_row);
    HIDE_IF(row->microbatches == TABLE_INT_MISSING, table, struct job_row, microbatches);
    HIDE_IF(row->chunks == TABLE_INT_MISSING, table, struct job_row, chunks);
    HIDE_IF(!row->schedule.at, table, struct job_row, schedule);
    HIDE_IF(isnan(row->step_ns), table, struct job_row, step_ns);
    HIDE_IF(isnan(row->simulated_ns), table, struct job_row, simulated_ns);
    HIDE_IF(isnan(row->ideal_ns), table, struct job_row, ideal_ns);
    HIDE_IF(isnan(row->slowdown), table, struct job_row, slowdown);
    HIDE_IF(isnan(row->delay_slowdown), table, struct job_row, delay_slowdown);
    HIDE_IF(isnan(row->bubble_share), table, struct job_row, bubble_share);
    HIDE_IF(isnan(row->slowest_share), table, struct job_row, slowest_share);
    HIDE_IF(isnan(row->last_stage_share), table, struct job_row, last_stage_share);
    HIDE_IF(isnan(row->correlation), table, struct job_row, correlation);
    HIDE_IF(!row->cause.at, table, struct job_row, cause);
    HIDE_IF(!row->where.at, table, struct job_row, where);
    return table;
}

static struct table *make_ranks(const struct job *job)
{
    struct table *table = TABLE_OF_ROWS("ranks", "Ranks", rank_columns, job->ranks.at, job->ranks.count);
    HIDE_COORDINATES(job->all->size, table, struct job_rank_row);
    HIDE_IF(!job->has_pipeline, table, struct job_rank_row, parts.compute_ns);
    HIDE_IF(!job->has_pipeline, table, struct job_rank_row, parts.warmup_ns);
    HIDE_IF(!job->has_pipeline, table, struct job_rank_row, parts.waiting_ns);
    HIDE_IF(!job->has_pipeline, table, struct job_rank_row, parts.other_ns);
    HIDE_IF(!job->has_pipeline, table, struct job_rank_row, parts.drain_ns);
    HIDE_IF(!job->has_pipeline, table, struct job_rank_row, gc_ns);
    HIDE_IF(job->ranks.count && isnan(job->ranks.at[0].slowdown), table, struct job_rank_row, slowdown);
    HIDE_IF(job->ranks.count && isnan(job->ranks.at[0].estimate), table, struct job_rank_row, estimate);
    return table;
}

static struct table *make_lines(const struct job *job, struct arena *texts)
{
    const char *title =
        arena_printf(texts, "Microbatches of step %lld: forward full, backward shaded, bubbles hatched",
                     (long long)job->lines.at[0].step);
    struct table *table = TABLE_OF_ROWS("schedule", title, line_columns, job->lines.at, job->lines.count);
    TABLE_FLAG(table, struct job_line_row, step, TABLE_OPTIONAL);
    bool same = true;
    for (size_t i = 0; i < job->lines.count; i++)
        same &= job->lines.at[i].pp == job->lines.at[i].rank || job->lines.at[i].pp == TABLE_INT_MISSING;
    HIDE_IF(same, table, struct job_line_row, pp);
    table->uncut = true;
    return table;
}

#define ADD(key, title, columns, rows)                                                                       \
    result_add_table(result, TABLE_OF_ROWS(key, title, columns, (rows).at, (rows).count))

static void mark_last(struct result *result, bool detail)
{
    struct table *table = result->tables.at[result->tables.count - 1];
    table->detail = detail;
    table->uncut = !detail;
}

void job_add_result(const struct job *job, struct result *result)
{
    if (job->has_pipeline) {
        ADD_NOTICE(result, "verdict", 1, "%s", job_write_verdict(job, &result->arena));
        result_make_verdict(result);
    }
    result_add_table(result, make_whole(job));
    if (job->has_pipeline) {
        ADD("causes", "Causes, each alone", cause_columns, job->causes);
        mark_last(result, false);
        ADD("bubbles", "Bubbles", bubble_columns, job->bubbles);
        mark_last(result, false);
        if (job->lines.count)
            result_add_table(result, make_lines(job, &result->arena));
        ADD("stages", "Stages", stage_columns, job->stages);
    }
    result_add_table(result, make_ranks(job));
    if (job->has_pipeline) {
        ADD("steps", "Steps", step_columns, job->steps);
        ADD("replicas", "Replicas", replica_columns, job->replicas);
        mark_last(result, true);
        ADD("types", "Types of operations", type_columns, job->types);
        mark_last(result, true);
        ADD("heat_map", "Slowdown of ranks in steps, drawn", map_columns, job->heat_map);
        mark_last(result, false);
        ADD("heat", "Slowdown of ranks in steps", heat_columns, job->heat);
        mark_last(result, true);
    }
    ADD("dimensions", "Communication by dimension", dimension_columns, job->dimensions);
    mark_last(result, false);
    notice_form(job, result);
}
