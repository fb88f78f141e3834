/* A join of two sides by name: first equal names, then renamed ones. */
#include "diff/diff.h"

#include "base/rows.h"
#include <inttypes.h>
#include <assert.h>
#include <math.h>

bool diff_is_exact(const struct diff *diff)
{
    return diff->sides[0]->source == MEASURE_SNAPSHOTS && diff->sides[1]->source == MEASURE_SNAPSHOTS;
}

static double min_change_of(const struct diff *diff, enum table_kind kind)
{
    return table_is_time(kind) ? diff->min_change : 0;
}

/* ---- metrics ---- */

/* The noise between runs of a figure of KIND; NULL: unknown. */
static const struct noise *noise_of(const struct diff *diff, enum table_kind kind)
{
    return table_is_time(kind) ? &diff->noise : NULL;
}

/* A metric on one side, by step. */
struct metric_side {
    double *values;          /* without missing ones */
    struct run_step *listed; /* the same with their places */
    bool *missing;
    struct run_level *levels;
    size_t count, levels_count;
};

/* It lives as long as ARENA. */
static struct metric_side metric_side_of(const struct measure_runs *runs, const struct measure_metric *metric,
                                         struct arena *arena)
{
    struct metric_side side = { .values = measure_runs_metric(runs, metric),
                                .listed =
                                    arena_alloc(arena, mem_times(runs->step_count + 1, sizeof *side.listed)),
                                .missing = arena_zalloc(arena, runs->step_count + 1, sizeof *side.missing),
                                .levels =
                                    arena_alloc(arena, mem_times(runs->count + 1, sizeof *side.levels)) };
    arena_defer(arena, free, side.values);
    for (size_t step = 0; step < runs->step_count; step++) {
        double value = side.values[step];
        side.missing[step] = isnan(value);
        if (isnan(value))
            continue;
        side.listed[side.count] = (struct run_step){ step, value };
        side.values[side.count++] = value;
    }
    side.levels_count = measure_runs_levels(runs, side.listed, side.count,
                                            side.count < runs->step_count ? side.missing : NULL, side.levels);
    return side;
}

static void add_metric(struct diff *diff, struct measure_runs *const runs[2],
                       const struct measure_metric *before, const struct measure_metric *after)
{
    const struct measure_metric *any = before ? before : after, *const both[2] = { before, after };
    SCOPED_ARENA struct arena scratch = { 0 };
    struct metric_side sides[2] = { { 0 }, { 0 } };
    struct sampled sampled = { .whole = { NAN, NAN } };
    for (int i = 0; i < 2; i++) {
        if (!both[i])
            continue;
        sides[i] = metric_side_of(runs[i], both[i], &scratch);
        sampled.steps[i] = (struct shift_sample){ sides[i].values, sides[i].count, sides[i].count };
        sampled.runs[i] = sides[i].levels;
        sampled.run_count[i] = sides[i].levels_count;
        sampled.present[i] = sides[i].count > 0;
        sampled.whole[i] = both[i]->whole;
    }
    if (sampled.present[0] || sampled.present[1]) {
        struct diff_metric *metric = VEC_PUSH(&diff->metrics);
        *metric = (struct diff_metric){ any->key, any->title, any->kind,
                                        finding_of(&sampled, noise_of(diff, any->kind)) };
        if (diff_is_exact(diff) || (isfinite(sampled.whole[0]) && isfinite(sampled.whole[1])))
            finding_judge_exact(&metric->finding);
        else
            finding_judge(&metric->finding, min_change_of(diff, any->kind));
        if (sampled.present[0] != sampled.present[1]) /* not recorded, which is not 0 */
            metric->finding.verdict = VERDICT_UNSURE;
    }
}

/* Metrics in the order of the head, from either side: first the one that the rows add up to. */
static size_t place_of(const struct diff_metric *metric)
{
    static const char *const keys[] = { "steps_time",
                                        "step_time",
                                        "window",
                                        "functions_time",
                                        "total_time",
                                        "step_spread",
                                        "waiting",
                                        "gpu_busy",
                                        "computation",
                                        "exposed_communication",
                                        "exposed_copies",
                                        "gpu_idle",
                                        "host_time",
                                        "device_time",
                                        "memory_peak",
                                        "host_memory_peak",
                                        "memory_reserved_peak",
                                        "memory_end" };
    size_t place = 0;
    while (place < sizeof keys / sizeof *keys && strcmp(keys[place], metric->key) != 0)
        place++;
    return place;
}

static const struct key by_metric_key[] = { ASC(struct diff_metric, key), KEY_END };

static void compare_metrics(struct diff *diff, const struct sampling *const samplings[2],
                            struct measure_runs *const runs[2])
{
    const struct sampling *before = samplings[0], *after = samplings[1];
    for (size_t m = 0; m < before->metrics.count; m++)
        add_metric(diff, runs, &before->metrics.at[m], sampling_metric(after, before->metrics.at[m].key));
    for (size_t m = 0; m < after->metrics.count; m++)
        if (!sampling_metric(before, after->metrics.at[m].key))
            add_metric(diff, runs, NULL, &after->metrics.at[m]);
}

/* ---- rows ---- */

/* The rows of one table while they are joined. */
struct join {
    const struct diff *diff;
    const struct measure_rows *sides[2]; /* NULL: the side has no such table */
    const struct sampling *const *samplings;
    struct measure_runs *const *runs;
    size_t samples[2];
    size_t *first[2]; /* by name_id: index of its first value, SIZE_MAX when it has none */
    struct join_scratch {
        struct run_step *listed; /* steps of a row that are not 0 */
        double *values;          /* their values */
        bool *missing;
        struct run_level *levels;
    } scratch[2];
};

static void join_open_side(struct join *join, int side, struct arena *arena)
{
    const struct measure_rows *rows = join->sides[side];
    size_t names = rows ? names_count(rows->names) : 0, samples = join->samples[side];
    struct join_scratch *scratch = &join->scratch[side];
    join->first[side] = arena_alloc(arena, mem_times(names + 1, sizeof *join->first[side]));
    for (size_t i = 0; i < names; i++)
        join->first[side][i] = SIZE_MAX;
    for (size_t i = rows ? rows->values.count : 0; i-- > 0;)
        join->first[side][rows->values.at[i].row] = i;
    scratch->listed = arena_alloc(arena, mem_times(samples + 1, sizeof *scratch->listed));
    scratch->values = arena_alloc(arena, mem_times(samples + 1, sizeof *scratch->values));
    scratch->missing = arena_zalloc(arena, samples + 1, sizeof *scratch->missing);
    scratch->levels = arena_alloc(arena, mem_times(join->runs[side]->count + 1, sizeof *scratch->levels));
}

static const struct key by_place[] = { ASC(struct run_step, place), KEY_END };

/* List the steps of ROW on a side, each the mean of its samples, by place; returns their number. *CALLS: per sample. */
static size_t list_steps(const struct join *join, int side, name_id row, struct run_step *listed,
                         double *calls)
{
    const struct measure_rows *rows = join->sides[side];
    const struct measure_runs *runs = join->runs[side];
    size_t count = 0;
    bool sorted = true;
    for (size_t i = join->first[side][row]; i < rows->values.count && rows->values.at[i].row == row; i++) {
        const struct measure_value *value = &rows->values.at[i];
        uint32_t step = runs->step[value->sample];
        listed[count] = (struct run_step){ step, value->value / runs->members[step] };
        sorted &= count == 0 || listed[count - 1].place <= step;
        count++;
        *calls += runs->used[step] ? value->calls : 0;
    }
    *calls /= (double)runs->used_samples;
    if (!sorted)
        SORT_ARRAY(listed, count, by_place);
    size_t kept = 0;
    for (size_t i = 0; i < count; i++)
        if (kept && listed[kept - 1].place == listed[i].place)
            listed[kept - 1].value += listed[i].value;
        else
            listed[kept++] = listed[i];
    return kept;
}

/* Fill in the part of SAMPLED for ROW on a side. */
static void sample_row(const struct join *join, int side, name_id row, struct sampled *sampled, double *calls)
{
    const struct measure_runs *runs = join->runs[side];
    const struct join_scratch *scratch = &join->scratch[side];
    sampled->runs[side] = scratch->levels;
    sampled->steps[side] = (struct shift_sample){ scratch->values, 0, runs->step_count };
    sampled->present[side] = row != NAME_NONE && join->first[side][row] != SIZE_MAX;
    size_t listed = sampled->present[side] ? list_steps(join, side, row, scratch->listed, calls) : 0;
    bool only_listed = listed && join->sides[side]->only_listed;
    for (size_t step = 0; step < runs->step_count && only_listed; step++)
        scratch->missing[step] = true;
    for (size_t i = 0; i < listed; i++) {
        scratch->values[i] = scratch->listed[i].value;
        scratch->missing[scratch->listed[i].place] = false;
    }
    sampled->run_count[side] = measure_runs_levels(runs, scratch->listed, listed,
                                                   only_listed ? scratch->missing : NULL, scratch->levels);
    sampled->steps[side].listed = listed;
    if (only_listed)
        sampled->steps[side].count = listed;
}

/* ---- who waits for whom ---- */

/* What communication takes on one rank, per sample. */
struct rank_time {
    int64_t rank;
    double time;
    size_t samples;
};

static const struct key order_by_rank[] = { ASC(struct rank_time, rank), KEY_END };

/* The rank on which the communication of ROW is shortest on a side, into *SHORTEST. Returns the number of ranks that take part. */
static size_t find_shortest(const struct join *join, int side, name_id row, struct rank_time *shortest)
{
    const struct measure_rows *rows = join->sides[side];
    const struct sampling *sampling = join->samplings[side];
    SCOPED VEC_OF(struct rank_time) times = { 0 };
    for (size_t i = join->first[side][row]; i < rows->values.count && rows->values.at[i].row == row; i++)
        *VEC_PUSH(&times) = (struct rank_time){ sampling->samples.at[rows->values.at[i].sample].rank,
                                                rows->values.at[i].value, 1 };
    size_t ranks = 0;
    if (times.count)
        SORT(&times, order_by_rank);
    FOR_GROUPS(&times, order_by_rank, first, end) {
        struct rank_time sum = { .rank = times.at[first].rank, .samples = end - first };
        for (size_t i = first; i < end; i++)
            sum.time += times.at[i].time / (double)sum.samples;
        if (ranks++ == 0 || sum.time < shortest->time)
            *shortest = sum;
    }
    return ranks;
}

/* Who communicates last waits for nobody: if communication takes no longer there (at most half of what it takes longer in the
 * mean), its change is a wait for that rank. */
static void judge_communication(const struct join *join, const name_id ids[2], struct diff_row *row)
{
    struct rank_time shortest[2];
    for (int side = 0; side < 2; side++)
        if (ids[side] == NAME_NONE || join->first[side][ids[side]] == SIZE_MAX ||
            find_shortest(join, side, ids[side], &shortest[side]) < 2)
            return;
    double change = row->finding.change;
    if (fabs(shortest[1].time - shortest[0].time) > fabs(change) / 2)
        return;
    row->weight = fabs(change) * cause_weight(CAUSE_HELD_UP);
    if (change > 0)
        row->waits_for = shortest[1].rank;
}

static void add_row(const struct join *join, struct diff_rows *table, name_id before, name_id after)
{
    struct diff_row row = { .waits_for = -1 };
    struct sampled sampled = { .whole = { NAN, NAN } };
    const name_id ids[2] = { before, after };
    for (int i = 0; i < 2; i++)
        sample_row(join, i, ids[i], &sampled, &row.calls[i]);
    if (!sampled.present[0] && !sampled.present[1])
        return;
    int named = after != NAME_NONE;
    assert(join->sides[named]); /* the name occurs on this side */
    row.name = names_text(join->sides[named]->names, ids[named]);
    row.name_length = names_length(join->sides[named]->names, ids[named]);
    row.finding = finding_of(&sampled, noise_of(join->diff, table->kind));
    enum cause_class class = row.finding.change < 0 || row.finding.change > 0
                                 ? cause_class_of(row.name, row.name_length)
                                 : CAUSE_STEP;
    row.weight = fabs(row.finding.change) * cause_weight(class);
    if (class == CAUSE_SHARED && strcmp(table->key, "kernels") == 0 && cause_is_communication(row.name))
        judge_communication(join, ids, &row);
    *VEC_PUSH(&table->rows) = row;
}

/* Ids of the names of SIDE that the other side lacks; new, free with free(). */
static name_id *lonely_names(const struct join *join, int side, size_t *count)
{
    const struct measure_rows *own = join->sides[side], *other = join->sides[1 - side];
    size_t names = own ? names_count(own->names) : 0;
    name_id *ids = mem_alloc(mem_times(names + 1, sizeof *ids));
    *count = 0;
    for (name_id id = 0; id < names; id++)
        if (!other ||
            names_find(other->names, names_text(own->names, id), names_length(own->names, id)) == NAME_NONE)
            ids[(*count)++] = id;
    return ids;
}

static struct rename_name *texts_of(const struct measure_rows *rows, const name_id *ids, size_t count)
{
    struct rename_name *texts = mem_alloc(mem_times(count + 1, sizeof *texts));
    for (size_t i = 0; i < count; i++)
        texts[i] = (struct rename_name){ names_text(rows->names, ids[i]), names_length(rows->names, ids[i]) };
    return texts;
}

/* The calls of ROW per sample of a side. */
static double calls_of(const struct join *join, int side, name_id row)
{
    const struct measure_rows *rows = join->sides[side];
    double calls = 0;
    for (size_t i = join->first[side][row]; i < rows->values.count && rows->values.at[i].row == row; i++)
        calls += rows->values.at[i].calls;
    return calls / (double)join->samples[side];
}

/* The index of the only one of COUNT IDS that is left and has values; SIZE_MAX if none or several are. */
static size_t only_left(const struct join *join, int side, const name_id *ids, size_t count)
{
    size_t only = SIZE_MAX, left = 0;
    for (size_t i = 0; i < count; i++)
        if (ids[i] != NAME_NONE && join->first[side][ids[i]] != SIZE_MAX) {
            only = i;
            left++;
        }
    return left == 1 ? only : SIZE_MAX;
}

/* Join the rows BEFORE and AFTER to one, which was renamed. */
static void add_renamed(const struct join *join, struct diff_rows *table, name_id before, name_id after,
                        enum rename_kind kind)
{
    size_t rows = table->rows.count;
    add_row(join, table, before, after);
    if (table->rows.count == rows)
        return;
    struct diff_row *row = &table->rows.at[rows];
    row->old_name = names_text(join->sides[0]->names, before);
    row->old_name_length = names_length(join->sides[0]->names, before);
    row->renamed = kind;
}

/* Rows of one side only: renamed ones are joined to one row, the others are new or gone. */
static void add_lonely_rows(const struct join *join, struct diff_rows *table)
{
    size_t gone_count, come_count, pair_count = 0;
    SCOPED name_id *gone = lonely_names(join, 0, &gone_count), *come = lonely_names(join, 1, &come_count);
    SCOPED struct rename *pairs = mem_alloc(mem_times(gone_count + 1, sizeof *pairs));
    bool renames = join->sides[0] && join->sides[1] && join->sides[0]->may_be_renamed;
    if (renames) {
        SCOPED struct rename_name *from = texts_of(join->sides[0], gone, gone_count),
                                  *to = texts_of(join->sides[1], come, come_count);
        pair_count = renames_pair(from, gone_count, to, come_count, pairs);
    }
    for (size_t i = 0; i < pair_count; i++) {
        add_renamed(join, table, gone[pairs[i].gone], come[pairs[i].come], pairs[i].kind);
        gone[pairs[i].gone] = come[pairs[i].come] = NAME_NONE;
    }
    bool of_work = strcmp(table->key, "operators") == 0 || strcmp(table->key, "kernels") == 0;
    size_t left = renames && of_work ? only_left(join, 0, gone, gone_count) : SIZE_MAX,
           right = renames && of_work ? only_left(join, 1, come, come_count) : SIZE_MAX;
    if (left != SIZE_MAX && right != SIZE_MAX) {
        double calls[2] = { calls_of(join, 0, gone[left]), calls_of(join, 1, come[right]) };
        if (calls[0] > 0 && fabs(calls[0] - calls[1]) < 1e-9 * calls[0]) {
            add_renamed(join, table, gone[left], come[right], RENAME_ALONE);
            gone[left] = come[right] = NAME_NONE;
        }
    }
    for (size_t i = 0; i < gone_count; i++)
        if (gone[i] != NAME_NONE)
            add_row(join, table, gone[i], NAME_NONE);
    for (size_t i = 0; i < come_count; i++)
        if (come[i] != NAME_NONE)
            add_row(join, table, NAME_NONE, come[i]);
}

static const struct key by_change[] = { DESC_MAGNITUDE(struct diff_row, finding.change),
                                        ASC(struct diff_row, name), KEY_END };

static void judge_rows(const struct diff *diff, struct diff_rows *table)
{
    for (size_t i = 0; diff_is_exact(diff) && i < table->rows.count; i++)
        finding_judge_exact(&table->rows.at[i].finding);
    table->tested = table->rows.count;
    if (diff_is_exact(diff))
        return;
    struct finding **findings = mem_alloc(mem_times(table->rows.count + 1, sizeof *findings));
    for (size_t i = 0; i < table->rows.count; i++)
        findings[i] = &table->rows.at[i].finding;
    table->tested = findings_judge(findings, table->rows.count, min_change_of(diff, table->kind));
    free(findings);
}

/* The metric that the rows of TABLE are parts of: the step time; for profiles and saved results, the time on the host
 * or on devices. NULL: unknown. */
static const char *diff_whole_of(const struct diff *diff, const struct diff_rows *table)
{
    static const char *const wholes[] = { "steps_time", "step_time", "window", "functions_time",
                                          "total_time" };
    const struct diff_metric *first = diff->metrics.count ? &diff->metrics.at[0] : NULL;
    if (!first || first->kind != table->kind)
        return NULL;
    if (ANY(i, sizeof wholes / sizeof *wholes, strcmp(first->key, wholes[i]) == 0))
        return first->key;
    return strcmp(table->key, "operators") == 0 ? "host_time"
           : strcmp(table->key, "kernels") == 0 ? "device_time"
                                                : NULL;
}

static void compare_rows_of(struct diff *diff, const struct sampling *const samplings[2],
                            struct measure_runs *const runs[2], const struct measure_rows *before,
                            const struct measure_rows *after)
{
    const struct measure_rows *any = before ? before : after;
    struct join join = { .diff = diff,
                         .sides = { before, after },
                         .samplings = samplings,
                         .runs = runs,
                         .samples = { samplings[0]->samples.count, samplings[1]->samples.count } };
    struct diff_rows table = { .key = any->key,
                               .title = any->title,
                               .kind = any->kind,
                               .unit = samplings[0]->unit,
                               .samples = { join.samples[0], join.samples[1] },
                               .alone = any->alone };
    table.whole = any->alone ? NULL : diff_whole_of(diff, &table);
    SCOPED_ARENA struct arena scratch = { 0 };
    join_open_side(&join, 0, &scratch);
    join_open_side(&join, 1, &scratch);
    for (name_id id = 0; before && after && id < names_count(before->names); id++) {
        name_id same =
            names_find(after->names, names_text(before->names, id), names_length(before->names, id));
        if (same != NAME_NONE)
            add_row(&join, &table, id, same);
    }
    add_lonely_rows(&join, &table);
    judge_rows(diff, &table);
    SORT(&table.rows, by_change);
    *VEC_PUSH(&diff->tables) = table;
}

static void compare_tables(struct diff *diff, const struct sampling *const samplings[2],
                           struct measure_runs *const runs[2], const char *only)
{
    const struct sampling *before = samplings[0], *after = samplings[1];
    for (size_t t = 0; t < before->tables.count; t++) {
        const char *key = before->tables.at[t]->key;
        if (!only || strcmp(only, key) == 0)
            compare_rows_of(diff, samplings, runs, before->tables.at[t], sampling_rows(after, key));
    }
    for (size_t t = 0; t < after->tables.count; t++) {
        const char *key = after->tables.at[t]->key;
        if (!sampling_rows(before, key) && (!only || strcmp(only, key) == 0))
            compare_rows_of(diff, samplings, runs, NULL, after->tables.at[t]);
    }
}

/* With fewer values, no outliers are determined. */
enum { FEWEST_FOR_OUTLIERS = 5 };

/* Modified z-scores above 3.5 (Iglewicz and Hoaglin, How to Detect and Handle Outliers, 1993): distance from the median
 * in median absolute deviations, or in mean absolute deviations if those are 0. Values within 1 % of the median are
 * never outliers. */
static void find_outliers(struct diff *diff, int side)
{
    const struct measure_runs *runs = diff->runs[side];
    for (size_t run = 0; run < runs->count; run++)
        if (runs->period[run] > 1)
            return; /* steps differ by plan */
    if (diff->metrics.count == 0)
        return;
    const struct measure_metric *metric = sampling_metric(diff->samplings[side], diff->metrics.at[0].key);
    size_t count = 0;
    SCOPED double *values = mem_alloc(mem_times((metric ? metric->values.count : 0) + 1, sizeof *values));
    for (size_t i = 0; metric && i < metric->values.count; i++)
        if (isfinite(metric->values.at[i]))
            values[count++] = metric->values.at[i];
    if (count >= FEWEST_FOR_OUTLIERS) {
        shift_sort(values, count);
        double median = shift_median(values, count), sum = 0;
        for (size_t i = 0; i < count; i++) {
            values[i] = fabs(values[i] - median);
            sum += values[i];
        }
        shift_sort(values, count);
        double mad = shift_median(values, count);
        double unit = mad > 0 ? mad * 1.482602 : sum / (double)count * 1.253314;
        for (size_t i = 0; i < metric->values.count; i++) {
            double distance = fabs(metric->values.at[i] - median);
            if (distance > 3.5 * unit && distance > 0.01 * median)
                *VEC_PUSH(&diff->outliers) =
                    (struct diff_outlier){ side, &diff->samplings[side]->samples.at[i], metric->values.at[i],
                                           median };
        }
    }
}

static bool holds_rows(const struct sampling *sampling)
{
    return ANY(t, sampling->tables.count, sampling->tables.at[t]->values.count > 0);
}

static bool has_rows(const struct sampling *sampling, const char *key)
{
    return ANY(t, sampling->tables.count, strcmp(sampling->tables.at[t]->key, key) == 0);
}

/* Saved results of one command may still differ in kind: those of top hold operators of a trace or functions of
 * Python. */
static bool have_rows_in_common(const struct measures *before, const struct measures *after)
{
    const struct sampling *const pairs[][2] = { { &before->by_file, &after->by_file },
                                                { &before->by_step, &after->by_step } };
    bool any = false;
    for (size_t i = 0; i < 2; i++)
        for (size_t t = 0; t < pairs[i][0]->tables.count; t++) {
            any = true;
            if (has_rows(pairs[i][1], pairs[i][0]->tables.at[t]->key))
                return true;
        }
    return !any;
}

static bool can_compare(const struct measures *before, const struct measures *after, struct tpa_error *err)
{
    const struct measures *const sides[2] = { before, after };
    if (before->source != after->source) {
        tpa_fail(err, TPA_NOWHERE, "%s cannot be compared with %s", measure_source_name(before->source),
                 measure_source_name(after->source));
        return tpa_hint(err, "a trace can be compared with a trace, a Python profile with a Python profile");
    }
    if (before->schema && strcmp(before->schema, after->schema) != 0)
        return tpa_fail(err, TPA_NOWHERE, "a saved result of %s cannot be compared with one of %s",
                        before->schema, after->schema);
    if (before->source == MEASURE_RESULTS && !have_rows_in_common(before, after))
        return tpa_fail(err, TPA_NOWHERE, "the saved results have no table in common");
    for (int i = 0; i < 2; i++) {
        bool figures = before->source == MEASURE_RESULTS && sides[i]->by_file.metrics.count > 0;
        if (!figures && !holds_rows(&sides[i]->by_file) && !holds_rows(&sides[i]->by_step) &&
            !holds_rows(&sides[i]->by_rank))
            return tpa_fail(err, TPA_NOWHERE, "there is nothing to compare: the %s side holds no events%s",
                            i ? "second" : "first",
                            sides[i]->source == MEASURE_TRACES ? " of this sort" : "");
    }
    return true;
}

static bool check_sides(const struct measures *before, const struct measures *after, struct tpa_error *err)
{
    return can_compare(before, after, err) || tpa_cannot(err, "not_comparable");
}

struct diff *diff_open(const struct measures *before, const struct measures *after,
                       const struct diff_options *options, struct tpa_error *err)
{
    if (!check_sides(before, after, err))
        return NULL;
    struct diff *diff = arena_open(sizeof *diff);
    ARENA_OWNS(arena_of(diff), &diff->tables, &diff->metrics, &diff->outliers);
    diff->sides[0] = before;
    diff->sides[1] = after;
    diff->min_change = (double)options->min_change_ns;
    diff->noise = options->noise;
    bool by_step = !options->by_file && measures_sampling(before) == &before->by_step &&
                   measures_sampling(after) == &after->by_step;
    const struct sampling *const by_rank[2] = { &before->by_rank, &after->by_rank };
    struct measure_runs *ranks[2];
    for (int i = 0; i < 2; i++) {
        diff->samplings[i] = by_step ? &diff->sides[i]->by_step : &diff->sides[i]->by_file;
        diff->runs[i] = arena_hold(arena_of(diff), measure_runs_open(diff->samplings[i]));
        ranks[i] = measure_runs_open(by_rank[i]);
    }
    diff->unit = diff->samplings[0]->unit;
    compare_metrics(diff, diff->samplings, diff->runs);
    compare_metrics(diff, by_rank, ranks);
    SORT(&diff->metrics, by_metric_key);
    SORT_BY(diff->metrics.at, diff->metrics.count, i, (int64_t)place_of(&diff->metrics.at[i]));
    compare_tables(diff, diff->samplings, diff->runs, options->only);
    compare_tables(diff, by_rank, ranks, options->only);
    ARENA_OWNS_EACH(arena_of(diff), diff->tables.at, diff->tables.count, rows);
    EACH(arena_free, ranks[0], ranks[1]);
    find_outliers(diff, 0);
    find_outliers(diff, 1);
    return diff;
}

const struct diff_metric *diff_metric(const struct diff *diff, const char *key)
{
    return FIND(one, &diff->metrics, strcmp(one->key, key) == 0);
}

static bool diff_own_is_same(const struct finding *finding)
{
    return finding->change == 0 && finding->present[0] == finding->present[1] &&
           finding->median[0] == finding->median[1];
}

bool diff_is_same(const struct diff *diff)
{
    if (ANY(m, diff->metrics.count, !diff_own_is_same(&diff->metrics.at[m].finding)))
        return false;
    for (size_t t = 0; t < diff->tables.count; t++)
        FOR_EACH(row, &diff->tables.at[t].rows) {
            if (!diff_own_is_same(&row->finding) ||
                (row->calls[0] != row->calls[1] && !(isnan(row->calls[0]) && isnan(row->calls[1]))))
                return false;
        }
    return true;
}
