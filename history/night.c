#include "base/rows.h"
#include "history/store.h"

#include "diff/measure_runs.h"
#include <math.h>
#include <xxhash.h>

/* ---- figures ---- */

/* Keep only the VALUES of FIGURE that are not 0. */
static void keep_listed(struct night *night, struct night_figure *figure, const double *values)
{
    figure->values = arena_alloc(arena_of(night), (figure->listed + 1) * sizeof *figure->values);
    figure->places = arena_alloc(arena_of(night), (figure->listed + 1) * sizeof *figure->places);
    for (size_t i = 0, listed = 0; i < figure->count; i++)
        if (values[i] != 0) {
            figure->values[listed] = values[i];
            figure->places[listed++] = (uint32_t)i;
        }
}

/* The level of the night from its RUNS: of several, their mean and its standard error. */
static struct level level_of_runs(const struct run_level *runs, size_t count)
{
    struct level level = { NAN, NAN, 0 };
    double sum = 0, squares = 0;
    for (size_t i = 0; i < count; i++)
        sum += runs[i].mean;
    if (count > 0)
        level.centre = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        squares += (runs[i].mean - level.centre) * (runs[i].mean - level.centre);
    if (count > 1)
        level.error = sqrt(squares / (double)(count - 1) / (double)count);
    else if (count == 1)
        level.error = sqrt(runs[0].independent); /* what it does not explain, the nights show */
    return level;
}

/* Copy the values of all steps at SCRATCH to FIGURE, without missing ones. RUNS NULL: COUNT samples of one run. */
static void collect_values(struct night *night, struct night_figure *figure, const double *scratch,
                           size_t count, const struct measure_runs *runs)
{
    enum { MANY = 256 };
    SCOPED double *values = mem_alloc(mem_times(count + 1, sizeof *values));
    struct run_step *listed = mem_alloc(mem_times(count + 1, sizeof *listed));
    bool *missing = mem_zalloc(count + 1, sizeof *missing);
    size_t listed_count = 0;
    for (size_t i = 0; i < count; i++) {
        missing[i] = !isfinite(scratch[i]);
        if (missing[i])
            continue;
        if (scratch[i] != 0)
            listed[listed_count++] = (struct run_step){ runs ? i : figure->count, scratch[i] };
        values[figure->count++] = scratch[i];
    }
    figure->listed = listed_count;
    if (runs) {
        SCOPED struct run_level *levels = mem_alloc(mem_times(runs->count + 1, sizeof *levels));
        bool complete = figure->count == count;
        size_t filled = measure_runs_levels(runs, listed, listed_count, complete ? NULL : missing, levels);
        figure->level = level_of_runs(levels, filled);
    } else {
        struct run_level level = run_level_of(listed, listed_count, figure->count, 1);
        figure->level = level_of_runs(&level, figure->count > 0);
    }
    EACH(free, listed, missing);
    if (figure->count >= MANY && figure->listed < figure->count / 4) {
        keep_listed(night, figure, values);
    } else {
        figure->listed = figure->count;
        figure->values = arena_alloc(arena_of(night), (figure->count + 1) * sizeof *figure->values);
        memcpy(figure->values, values, figure->count * sizeof *values);
    }
}

const double *night_values(const struct night_figure *figure, double *scratch)
{
    if (!figure->places)
        return figure->values;
    memset(scratch, 0, figure->count * sizeof *scratch);
    for (size_t i = 0; i < figure->listed; i++)
        scratch[figure->places[i]] = figure->values[i];
    return scratch;
}

static struct night_figure figure_of(struct night *night, const struct measure_metric *metric)
{
    return (struct night_figure){
        .table = NIGHT_HEAD,
        .name = arena_strndup(arena_of(night), metric->key, strlen(metric->key)),
        .length = strlen(metric->key),
        .title = arena_strndup(arena_of(night), metric->title, strlen(metric->title)),
        .kind = metric->kind,
        .calls = NAN,
    };
}

/* A figure with one value per rank; for the whole run if that is known. */
static void add_rank_metric(struct night *night, const struct measure_metric *metric)
{
    struct night_figure figure = figure_of(night, metric);
    if (isfinite(metric->whole))
        collect_values(night, &figure, &metric->whole, 1, NULL);
    else
        collect_values(night, &figure, metric->values.at, metric->values.count, NULL);
    *VEC_PUSH(&night->figures) = figure;
}

static void add_metric(struct night *night, const struct measure_metric *metric,
                       const struct measure_runs *runs)
{
    struct night_figure figure = figure_of(night, metric);
    SCOPED double *values = measure_runs_metric(runs, metric);
    if (isfinite(metric->whole)) /* of the run as a whole */
        collect_values(night, &figure, &metric->whole, 1, NULL);
    else
        collect_values(night, &figure, values, runs->step_count, runs);
    if (figure.count > 0)
        *VEC_PUSH(&night->figures) = figure;
}

/* The figure of ROW in TABLE, from the COUNT VALUES without missing ones. */
static void night_add_row(struct night *night, const char *table, const struct measure_rows *rows,
                          name_id row, double calls, const double *values, size_t count,
                          const struct measure_runs *runs)
{
    size_t length = names_length(rows->names, row);
    struct night_figure figure = {
        .table = table,
        .name = arena_strndup(arena_of(night), names_text(rows->names, row), length),
        .length = length,
        .kind = rows->kind,
        .calls = calls,
    };
    collect_values(night, &figure, values, count, runs);
    *VEC_PUSH(&night->figures) = figure;
}

/* Figures of rows whose values are listed by sample: each value is a sample. */
static void add_listed_rows(struct night *night, const struct measure_rows *rows)
{
    const char *table = arena_strndup(arena_of(night), rows->key, strlen(rows->key));
    SCOPED double *values = mem_alloc(mem_times(rows->values.count + 1, sizeof *values));
    FOR_RUNS(first, end, rows->values.count, rows->values.at[end].row == rows->values.at[first].row) {
        for (size_t i = first; i < end; i++)
            values[i - first] = rows->values.at[i].value;
        night_add_row(night, table, rows, rows->values.at[first].row, NAN, values, end - first, NULL);
    }
}

static void night_add_rows(struct night *night, const struct measure_rows *rows,
                           const struct measure_runs *runs)
{
    const char *table = arena_strndup(arena_of(night), rows->key, strlen(rows->key));
    SCOPED double *sums = mem_alloc(mem_times(runs->step_count + 1, sizeof *sums));
    FOR_RUNS(first, end, rows->values.count, rows->values.at[end].row == rows->values.at[first].row) {
        double calls = 0, samples = (double)runs->used_samples;
        memset(sums, 0, runs->step_count * sizeof *sums);
        for (size_t i = first; i < end; i++) {
            const struct measure_value *value = &rows->values.at[i];
            uint32_t step = runs->step[value->sample];
            sums[step] += value->value / runs->members[step];
            calls += runs->used[step] ? value->calls : 0;
        }
        night_add_row(night, table, rows, rows->values.at[first].row, samples > 0 ? calls / samples : NAN,
                      sums, runs->step_count, runs);
    }
}

struct night *night_of(const struct measures *measures)
{
    struct night *night = arena_open(sizeof *night);
    ARENA_OWNS(arena_of(night), &night->figures, &night->facts);
    const struct sampling *by = measures_sampling(measures);
    SCOPED_OBJECT struct measure_runs *runs = measure_runs_open(by);
    night->unit = arena_strndup(arena_of(night), by->unit, strlen(by->unit));
    night->sample_count = runs->step_count;
    for (size_t i = 0; i < by->metrics.count; i++)
        add_metric(night, &by->metrics.at[i], runs);
    for (size_t i = 0; i < by->tables.count; i++)
        night_add_rows(night, by->tables.at[i], runs);
    for (size_t i = 0; i < measures->by_rank.metrics.count; i++)
        add_rank_metric(night, &measures->by_rank.metrics.at[i]);
    for (size_t i = 0; i < measures->by_rank.tables.count; i++)
        add_listed_rows(night, measures->by_rank.tables.at[i]);
    night->gpu = "no GPU";
    FOR_EACH(fact, &measures->facts) {
        struct measure_fact copy = {
            .key = arena_strndup(arena_of(night), fact->key, strlen(fact->key)),
            .title = arena_strndup(arena_of(night), fact->title, strlen(fact->title)),
            .value = arena_strndup(arena_of(night), fact->value, strlen(fact->value)),
        };
        *VEC_PUSH(&night->facts) = copy;
        if (strcmp(copy.key, "gpu") == 0)
            night->gpu = copy.value;
    }
    return night;
}

void night_mark(struct night *night, const char *why)
{
    *VEC_PUSH(&night->facts) =
        (struct measure_fact){ .key = NIGHT_NO_BASELINE,
                               .title = "why it is no baseline",
                               .value = arena_strndup(arena_of(night), why, strlen(why)) };
}

/* ---- fingerprint of recordings ---- */

/* Parts are added up, so that their order does not matter. */
static void fold(struct night_hash *hash, XXH3_state_t *state)
{
    XXH128_hash_t part = XXH3_128bits_digest(state);
    hash->low += part.low64;
    hash->high += part.high64;
    XXH3_freeState(state);
}

static XXH3_state_t *open_state(void)
{
    XXH3_state_t *state = XXH3_createState();
    if (!state)
        mem_out_of_memory(sizeof(XXH128_hash_t));
    XXH3_128bits_reset(state);
    return state;
}

static void hash_text(XXH3_state_t *state, const char *text)
{
    XXH3_128bits_update(state, text ? text : "", text ? strlen(text) + 1 : 1);
}

/* Hash TIMES, a column, for the events of FILE. */
static void hash_times(XXH3_state_t *state, const struct packed *times, const struct trace_file *file)
{
    for (size_t done = 0; done < file->event_count;) {
        int64_t some_ns[PACKED_VALUES];
        size_t count = 0;
        while (count < PACKED_VALUES && done < file->event_count)
            some_ns[count++] = packed_value(times, file->first_event + done++);
        XXH3_128bits_update(state, some_ns, count * sizeof *some_ns);
    }
}

void night_hash_trace(struct night_hash *hash, const struct trace *trace)
{
    FOR_EACH_OF(file, trace->files, trace->file_count) {
        XXH3_state_t *state = open_state();
        hash_times(state, &trace->start_ns, file);
        hash_times(state, &trace->dur_ns, file);
        for (event_id e = file->first_event; e < file->first_event + file->event_count; e++)
            XXH3_128bits_update(state, trace_name(trace, e), names_length(trace->names, trace->name[e]));
        fold(hash, state);
    }
}

void night_hash_profile(struct night_hash *hash, const struct profile *profile)
{
    XXH3_state_t *state = open_state();
    struct buffer name = { 0 };
    for (size_t i = 0; i < profile->listed_count; i++) {
        const struct profile_function *function = &profile->functions[profile->listed[i]];
        double figures[3] = { (double)function->cost.calls, function->cost.total_s,
                              function->cost.cumulative_s };
        buffer_clear(&name);
        profile_function_text(function, &name);
        hash_text(state, name.at);
        XXH3_128bits_update(state, figures, sizeof figures);
    }
    buffer_release(&name);
    fold(hash, state);
}

void night_hash_actions(struct night_hash *hash, const struct action_report *report)
{
    XXH3_state_t *state = open_state();
    FOR_EACH(action, &report->actions) {
        hash_text(state, action->name);
        XXH3_128bits_update(state, &action->total_ns, sizeof action->total_ns);
        XXH3_128bits_update(state, &action->calls, sizeof action->calls);
    }
    fold(hash, state);
}

void night_hash_facts(struct night_hash *hash, const struct facts *facts)
{
    const struct facts_recording *recordings = facts_rows(facts, FACTS_RECORDINGS);
    for (size_t i = 0; i < facts->tables[FACTS_RECORDINGS].count; i++) {
        XXH3_state_t *state = open_state();
        XXH3_128bits_update(state, &recordings[i].recording, sizeof recordings[i].recording);
        fold(hash, state);
    }
}

void night_hash_snapshots(struct night_hash *hash, const struct snapshots *snapshots)
{
    XXH3_state_t *state = open_state();
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot *snapshot = snapshots->of.at[i];
        const struct snapshot_entries *entries = &snapshot->entries;
        XXH3_128bits_update(state, entries->action, entries->count * sizeof *entries->action);
        XXH3_128bits_update(state, entries->addr, entries->count * sizeof *entries->addr);
        XXH3_128bits_update(state, entries->size, entries->count * sizeof *entries->size);
        XXH3_128bits_update(state, entries->time_us, entries->count * sizeof *entries->time_us);
        for (size_t s = 0; s < snapshot->segments.count; s++) {
            XXH3_128bits_update(state, &snapshot->segments.at[s].addr, sizeof(uint64_t));
            XXH3_128bits_update(state, &snapshot->segments.at[s].total, sizeof(int64_t));
        }
    }
    fold(hash, state);
}
