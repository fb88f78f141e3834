/* Storage of samples, and code shared by several kinds of parts. */
#include "diff/measure.h"

#include "base/rows.h"
#include "base/search.h"
#include <inttypes.h>
#include <math.h>

/* Free the memory of OF, a struct sampling. */
static void sampling_release(void *of)
{
    struct sampling *sampling = of;
    for (size_t m = 0; m < sampling->metrics.count; m++)
        VEC_FREE(&sampling->metrics.at[m].values);
    names_free(sampling->keys);
    for (size_t t = 0; t < sampling->tables.count; t++)
        arena_free(sampling->tables.at[t]);
    EACH(VEC_FREE, &sampling->samples, &sampling->metrics, &sampling->tables);
}

struct measures *measures_open(void)
{
    struct measures *measures = arena_open(sizeof *measures);
    ARENA_OWNS(arena_of(measures), &measures->slow, &measures->blocks, &measures->facts, &measures->launchers,
               &measures->ranks, &measures->records, &measures->first_record, &measures->steps,
               &measures->lacking);
    struct sampling *samplings[] = { &measures->by_step, &measures->by_file, &measures->by_rank };
    for (size_t i = 0; i < sizeof samplings / sizeof *samplings; i++)
        arena_defer(arena_of(measures), sampling_release, samplings[i]);
    measures->by_step.unit = "step";
    measures->by_file.unit = "file";
    measures->by_rank.unit = "rank";
    measures->by_rank.of_ranks = true;
    measures->facts_said = arena_hold(arena_of(measures), names_open());
    return measures;
}

/* ---- adding parts ---- */

const char *measure_source_name(enum measure_source source)
{
    static const char *const names[] = {
        [MEASURE_NOTHING] = "nothing",
        [MEASURE_TRACES] = "a trace",
        [MEASURE_PROFILES] = "a Python profile",
        [MEASURE_ACTIONS] = "a report of actions",
        [MEASURE_SNAPSHOTS] = "a memory snapshot",
        [MEASURE_RESULTS] = "a saved result",
        [MEASURE_FLEETS] = "a job of many ranks",
    };
    return names[source];
}

bool measures_part(struct measures *measures, enum measure_source source, struct tpa_error *err)
{
    if (measures->parts > 0 && measures->source != source)
        return tpa_fail(err, TPA_NOWHERE, "this is %s, but the rest of its side is %s",
                        measure_source_name(source), measure_source_name(measures->source));
    measures->source = source;
    measures->parts++;
    if (source == MEASURE_PROFILES)
        measures->by_file.unit = "profile";
    else if (source == MEASURE_RESULTS)
        measures->by_file.unit = "result";
    return true;
}

uint32_t sampling_add(struct sampling *sampling, const struct measure_sample *sample)
{
    *VEC_PUSH(&sampling->samples) = *sample;
    return (uint32_t)sampling->samples.count - 1;
}

void sampling_set(struct sampling *sampling, const char *key, const char *title, enum table_kind kind,
                  uint32_t sample, double value)
{
    struct measure_metric *metric = sampling_metric(sampling, key);
    if (!metric) {
        if (!sampling->keys)
            sampling->keys = names_open();
        names_add(sampling->keys, key, strlen(key));
        metric = VEC_PUSH(&sampling->metrics);
        *metric = (struct measure_metric){ .key = key, .title = title, .kind = kind, .whole = NAN };
    }
    while (metric->values.count <= sample)
        *VEC_PUSH(&metric->values) = NAN;
    metric->values.at[sample] = value;
}

struct measure_rows *sampling_open_rows(struct sampling *sampling, const char *key, const char *title,
                                        enum table_kind kind)
{
    struct measure_rows *rows = sampling_rows(sampling, key);
    if (!rows) {
        rows = arena_open(sizeof *rows);
        ARENA_OWNS(arena_of(rows), &rows->values);
        rows->key = key;
        rows->title = title;
        rows->kind = kind;
        rows->names = arena_hold(arena_of(rows), names_open());
        *VEC_PUSH(&sampling->tables) = rows;
    }
    return rows;
}

void measure_rows_add(struct measure_rows *rows, const char *name, size_t len, uint32_t sample, double value,
                      double calls)
{
    *VEC_PUSH(&rows->values) =
        (struct measure_value){ names_add(rows->names, name, len), sample, value, calls };
}

/* Repeated values count once. */
void measures_add_fact(struct measures *measures, const char *key, const char *title, const char *value,
                       size_t len)
{
    enum { LONGEST = 100 };
    SCOPED struct buffer said = { 0 };
    const char *copy = arena_strndup(arena_of(measures), value, len < LONGEST ? len : LONGEST);
    buffer_add(&said, key, strlen(key) + 1);
    buffer_puts(&said, copy);
    if (names_add(measures->facts_said, said.at, said.count) == measures->facts.count)
        *VEC_PUSH(&measures->facts) = (struct measure_fact){ key, title, copy };
}

/* ---- finishing ---- */

/* By value, too, so that sums of doubles are reproducible. */
static const struct key by_row_sample_value[] = { ASC(struct measure_value, row),
                                                  ASC(struct measure_value, sample),
                                                  ASC(struct measure_value, value), KEY_END };

/* Sort, and add up values of the same row and sample. */
static void finish_rows(struct measure_rows *rows)
{
    SORT(&rows->values, by_row_sample_value);
    size_t kept = 0;
    FOR_EACH(value, &rows->values) {
        struct measure_value *last = kept ? &rows->values.at[kept - 1] : NULL;
        if (last && last->row == value->row && last->sample == value->sample) {
            last->value += value->value;
            last->calls += value->calls;
        } else {
            rows->values.at[kept++] = *value;
        }
    }
    rows->values.count = kept;
}

static void finish_sampling(struct sampling *sampling)
{
    for (size_t t = 0; t < sampling->tables.count; t++)
        finish_rows(sampling->tables.at[t]);
    FOR_EACH(metric, &sampling->metrics) {
        while (metric->values.count < sampling->samples.count)
            *VEC_PUSH(&metric->values) = NAN;
    }
}

/* Make one fact per key with sorted values, independent of the order of files. */
static void join_facts(struct measures *measures)
{
    size_t kept = 0, count = measures->facts.count;
    const char **values = mem_alloc(mem_times(count + 1, sizeof *values));
    for (size_t i = 0; i < count; i++) {
        struct measure_fact fact = measures->facts.at[i];
        bool known = false;
        for (size_t k = 0; k < kept; k++)
            known |= strcmp(measures->facts.at[k].key, fact.key) == 0;
        if (known)
            continue;
        size_t several = 0;
        for (size_t k = i; k < count; k++)
            if (strcmp(measures->facts.at[k].key, fact.key) == 0)
                values[several++] = measures->facts.at[k].value;
        SORT_TEXTS(values, several);
        SCOPED struct buffer text = { 0 };
        for (size_t k = 0; k < several; k++) {
            buffer_puts(&text, k ? ", " : "");
            buffer_puts(&text, values[k]);
        }
        fact.value = arena_strndup(arena_of(measures), text.at ? text.at : "", text.count);
        measures->facts.at[kept++] = fact;
    }
    measures->facts.count = kept;
    free(values);
}

/* Sort the ranks, and format them: "0-3, 7". */
static void finish_ranks(struct measures *measures)
{
    struct buffer text = { 0 };
    int64_t *at = measures->ranks.at;
    size_t count = measures->ranks.count, kept = 0;
    if (count == 0)
        return;
    SORT_NUMBERS(at, count);
    for (size_t i = 0; i < count; i++)
        if (kept == 0 || at[kept - 1] != at[i])
            at[kept++] = at[i];
    measures->ranks.count = kept;
    FOR_RUNS(first, end, kept, at[end] == at[end - 1] + 1) {
        buffer_printf(&text, "%s%" PRId64, first ? ", " : "", at[first]);
        if (end - first > 1)
            buffer_printf(&text, "-%" PRId64, at[end - 1]);
    }
    measures_add_fact(measures, "ranks", "ranks", text.at, text.count);
    buffer_release(&text);
}

int64_t measures_missing_ranks(const struct measures *measures)
{
    int64_t there = (int64_t)measures->ranks.count;
    return there > 0 && measures->world_size > there ? measures->world_size - there : 0;
}

/* Keep of each kernel the operator that launches most of its time, over all parts. */
static void choose_launchers(struct measures *measures)
{
    static const struct key by_kernel_and_op[] = { ASC(struct measure_launcher, kernel),
                                                   ASC(struct measure_launcher, op), KEY_END };
    static const struct key by_kernel[] = { ASC(struct measure_launcher, kernel), KEY_END };
    static const struct key most_first[] = { ASC(struct measure_launcher, kernel),
                                             DESC(struct measure_launcher, time_ns),
                                             ASC(struct measure_launcher, op), KEY_END };
    static const struct fold sums[] = {
        FIRST_OF(struct measure_launcher, kernel, struct measure_launcher, kernel),
        FIRST_OF(struct measure_launcher, op, struct measure_launcher, op),
        SUM_OF(struct measure_launcher, time_ns, struct measure_launcher, time_ns), FOLD_END
    };
    SCOPED VEC_OF(struct measure_launcher) summed = { 0 };
    SORT(&measures->launchers, by_kernel_and_op);
    FOR_GROUPS(&measures->launchers, by_kernel_and_op, first, end)
        rows_fold(VEC_PUSH(&summed), sums, &measures->launchers.at[first], end - first,
                  sizeof *measures->launchers.at);
    SORT(&summed, most_first);
    measures->launchers.count = 0;
    FOR_GROUPS(&summed, by_kernel, first, end)
        *VEC_PUSH(&measures->launchers) = summed.at[first];
}

/* Find the processes of the samples of traces, and the ranks that lack steps. */
static void find_processes(struct measures *measures)
{
    struct sampling *const both[] = { &measures->by_step, &measures->by_file };
    SCOPED_OBJECT struct file_set *set =
        file_set_find(measures->records.at, measures->records.count, TRACE_FILES_AS_FOUND);
    for (size_t i = 0; i < 2 && measures->records.count > 1; i++)
        FOR_EACH(sample, &both[i]->samples)
            sample->process = 1 + set->files[measures->first_record.at[sample->part] + sample->file].process;
    if (measures->parts > 1 && file_set_is_sure(set)) /* of one part it is known */
        measures->lacking = file_set_find_lacking(set, &measures->steps);
    measures->lacks |= measures->lacking.count ? lack_sort(LACK_MISSING_STEPS) : 0;
}

void measures_finish(struct measures *measures)
{
    finish_ranks(measures);
    find_processes(measures);
    finish_sampling(&measures->by_step);
    finish_sampling(&measures->by_file);
    finish_sampling(&measures->by_rank);
    join_facts(measures);
    choose_launchers(measures);
}

void measures_add_lacks(const struct measures *measures, struct result *result)
{
    SCOPED struct buffer text = { 0 };
    FOR_EACH(lack, &measures->lacking) {
        const struct set_record *record = measures->records.at; /* sorted by time */
        while (record->file != lack->source)
            record++;
        buffer_clear(&text);
        rank_steps_describe(lack, &text);
        result_add_notice(result, lack_word(LACK_MISSING_STEPS), lack->of - lack->has, record->path,
                          TPA_NOWHERE, "%s", text.at);
    }
}

/* ---- reading ---- */

const struct sampling *measures_sampling(const struct measures *measures)
{
    bool steps = measures->by_step.samples.count > 0 && measures->files_without_steps == 0;
    return steps ? &measures->by_step : &measures->by_file;
}

struct measure_metric *sampling_metric(const struct sampling *sampling, const char *key)
{
    name_id metric = sampling->keys ? names_find(sampling->keys, key, strlen(key)) : NAME_NONE;
    return metric == NAME_NONE ? NULL : &sampling->metrics.at[metric];
}

struct measure_rows *sampling_rows(const struct sampling *sampling, const char *key)
{
    for (size_t t = 0; t < sampling->tables.count; t++)
        if (strcmp(sampling->tables.at[t]->key, key) == 0)
            return sampling->tables.at[t];
    return NULL;
}

const char *measures_launcher(const struct measures *measures, const char *kernel)
{
    size_t i = 0, count = measures->launchers.count;
    SEARCH(i, count, strcmp(measures->launchers.at[i].kernel, kernel) < 0);
    return i < count && strcmp(measures->launchers.at[i].kernel, kernel) == 0 ? measures->launchers.at[i].op
                                                                              : NULL;
}

const char *measures_fact(const struct measures *measures, const char *key)
{
    for (size_t i = 0; i < measures->facts.count; i++)
        if (strcmp(measures->facts.at[i].key, key) == 0)
            return measures->facts.at[i].value;
    return NULL;
}

void measure_sample_text(const struct measures *measures, const struct measure_sample *sample,
                         struct buffer *out)
{
    if (measures->parts > 1)
        buffer_printf(out, "file %" PRIu32 ", ", sample->part + 1);
    if (measures->files > measures->parts && measures->source != MEASURE_FLEETS)
        buffer_printf(out, "rank %" PRId64 ", ", sample->rank);
    if (sample->step >= 0)
        buffer_printf(out, "step %" PRId64, sample->step);
    else if (out->count >= 2)
        out->at[out->count -= 2] = '\0'; /* no comma at the end */
}
