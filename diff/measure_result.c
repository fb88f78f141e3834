/*
 * measure_result.c - results that tpa saved, as samples; see measure.h.
 *
 * Tables of known meaning become the same samples as those of a trace: steps, operators, devices, memory. For any other
 * table, the first figure of each row is compared.
 */
#include "diff/measure.h"

#include "derive/step_list.h"
#include <inttypes.h>
#include <math.h>

/* ---- cells ---- */

enum { NO_COLUMN = -1 };

/* By key only: columns of saved tables have no aliases. */
static int column_of(const struct table *table, const char *key)
{
    for (size_t c = 0; c < table->column_count; c++)
        if (strcmp(table->columns[c].key, key) == 0)
            return (int)c;
    return NO_COLUMN;
}

static bool has(const struct table *table, size_t row, int column)
{
    return column >= 0 && !table_is_missing(table, row, (size_t)column);
}

/* The figure at ROW and COLUMN; 0 when it is missing. In saved tables, any key may have any kind. */
static double figure_at(const struct table *table, size_t row, int column)
{
    if (!has(table, row, column) || table_is_text(table->columns[column].kind))
        return 0;
    const union table_cell *cell = table_cell(table, row, (size_t)column);
    return table_is_number(table->columns[column].kind) ? cell->f : (double)cell->i;
}

/* The rank at ROW and COLUMN; 0 if it is missing or not a valid rank. */
static int64_t rank_at(const struct table *table, size_t row, int column)
{
    double rank = figure_at(table, row, column);
    return fabs(rank) <= INT32_MAX ? (int64_t)rank : 0;
}

static const char *text_at(const struct table *table, size_t row, int column)
{
    if (!has(table, row, column) || !table_is_text(table->columns[column].kind))
        return "";
    return table_cell(table, row, (size_t)column)->text.at;
}

static void add_text_of(struct buffer *out, const struct table *table, size_t row, size_t column)
{
    if (table_is_missing(table, row, column))
        return;
    const union table_cell *cell = table_cell(table, row, column);
    buffer_puts(out, out->count ? "  " : "");
    if (table_is_text(table->columns[column].kind))
        buffer_add(out, cell->text.at, cell->text.len);
    else
        buffer_printf(out, "%s %" PRId64, table->columns[column].key, cell->i);
}

/* One saved result while it is measured. */
struct taking {
    struct measures *measures;
    uint32_t part;
    uint32_t whole;        /* the sample for the whole result */
    struct names *samples; /* keys "rank number" of steps, with the ids of their samples minus first_step */
    uint32_t first_step;
};

/* The sample of step NUMBER of RANK. */
static uint32_t step_sample(struct taking *taking, int64_t rank, int64_t number)
{
    char text[64];
    int len = snprintf(text, sizeof text, "%" PRId64 " %" PRId64, rank, number);
    size_t known = names_count(taking->samples);
    name_id id = names_add(taking->samples, text, (size_t)len);
    if (id == known)
        sampling_add(&taking->measures->by_step, &(struct measure_sample){ taking->part, 0, rank, number });
    return taking->first_step + id;
}

/* ---- tpa top ---- */

/* The columns of the table of top. */
struct top_columns {
    int name, device, annotation, step, rank, host_ns, device_ns, count;
};

static const char *const top_details[] = { "input_shapes", "overload_name", "source_location", "place",
                                           "device",       "stream",        "thread",          "category",
                                           "module",       "line" };

/* The step of ROW, written as a number or as ProfilerStep# and a number; false if it is in none. */
static bool step_at(const struct table *table, size_t row, int column, int64_t *number)
{
    if (column < 0 || !has(table, row, column))
        return false;
    if (table_is_text(table->columns[column].kind))
        return step_number(text_at(table, row, column), number);
    *number = table_cell(table, row, (size_t)column)->i;
    return true;
}

static void collect_operator(struct taking *taking, const struct table *table, size_t row,
                             const struct top_columns *at, struct buffer *name)
{
    const char *device_type = text_at(table, row, at->device);
    bool on_device = *device_type && strcmp(device_type, "CPU") != 0;
    if (on_device && figure_at(table, row, at->annotation) != 0)
        return;
    buffer_clear(name);
    add_text_of(name, table, row, (size_t)at->name);
    for (size_t i = 0; i < sizeof top_details / sizeof *top_details; i++) {
        int column = column_of(table, top_details[i]);
        if (column >= 0)
            add_text_of(name, table, row, (size_t)column);
    }
    const char *key = on_device ? "kernels" : "operators";
    const char *title = on_device ? "Time on devices, by kernel" : "Time on the host, by operator";
    int time = on_device ? at->device_ns : at->host_ns;
    if (time >= 0 && !has(table, row, time))
        return;
    double time_ns = figure_at(table, row, time);
    double calls = figure_at(table, row, at->count);
    struct measure_rows *rows = sampling_open_rows(&taking->measures->by_file, key, title, TABLE_NS);
    rows->may_be_renamed = on_device;
    measure_rows_add(rows, name->at ? name->at : "", name->count, taking->whole, time_ns, calls);
    int64_t number;
    if (!step_at(table, row, at->step, &number))
        return;
    uint32_t sample = step_sample(taking, rank_at(table, row, at->rank), number);
    rows = sampling_open_rows(&taking->measures->by_step, key, title, TABLE_NS);
    rows->may_be_renamed = on_device;
    measure_rows_add(rows, name->at ? name->at : "", name->count, sample, time_ns, calls);
}

/* Add the total of all rows of a table in each sample as a metric. */
static void sum_rows(struct sampling *sampling, const char *table, const char *key, const char *title,
                     size_t first_sample)
{
    const struct measure_rows *rows = sampling_rows(sampling, table);
    size_t count = sampling->samples.count;
    if (!rows)
        return;
    SCOPED double *sums = mem_zalloc(count + 1, sizeof *sums);
    for (size_t i = 0; i < rows->values.count; i++)
        sums[rows->values.at[i].sample] += rows->values.at[i].value;
    for (size_t sample = first_sample; sample < count; sample++)
        sampling_set(sampling, key, title, TABLE_NS, (uint32_t)sample, sums[sample]);
}

static void collect_top(struct taking *taking, const struct table *table)
{
    struct top_columns at = { .name = column_of(table, "name"),
                              .device = column_of(table, "device_type"),
                              .annotation = column_of(table, "is_user_annotation"),
                              .step = column_of(table, "step"),
                              .rank = column_of(table, "rank"),
                              .host_ns = column_of(table, "self_cpu_time_total"),
                              .device_ns = column_of(table, "self_device_time_total"),
                              .count = column_of(table, "count") };
    struct buffer name = { 0 };
    for (size_t row = 0; row < table->row_count && at.name >= 0; row++)
        collect_operator(taking, table, row, &at, &name);
    buffer_release(&name);
    struct measures *measures = taking->measures;
    sum_rows(&measures->by_file, "operators", "host_time", "host time", taking->whole);
    sum_rows(&measures->by_file, "kernels", "device_time", "device time", taking->whole);
    sum_rows(&measures->by_step, "operators", "host_time", "host time", taking->first_step);
    sum_rows(&measures->by_step, "kernels", "device_time", "device time", taking->first_step);
}

/* Each step is a sample, and its parts are rows, which add up to it. A step whose time is not known is none. */
static void collect_steps(struct taking *taking, const struct table *table)
{
    int name = column_of(table, "step"), rank = column_of(table, "rank"), time = column_of(table, "duration"),
        complete = column_of(table, "complete");
    struct measures *measures = taking->measures;
    for (size_t row = 0; row < table->row_count && time >= 0; row++) {
        int64_t number;
        if (!has(table, row, time) || (complete >= 0 && figure_at(table, row, complete) == 0))
            continue;
        bool is_step = step_number(text_at(table, row, name), &number);
        struct sampling *to = is_step ? &measures->by_step : &measures->by_file;
        uint32_t sample = is_step ? step_sample(taking, rank_at(table, row, rank), number) : taking->whole;
        if (is_step)
            sampling_set(to, "step_time", "step time", TABLE_NS, sample, figure_at(table, row, time));
        else
            sampling_set(to, "window", "window", TABLE_NS, sample, figure_at(table, row, time));
        struct measure_rows *rows = sampling_open_rows(to, "parts", "Parts of the step", TABLE_NS);
        for (size_t c = (size_t)time + 1; c < table->column_count; c++) {
            const struct table_column *column = &table->columns[c];
            if (column->kind == TABLE_NS && strcmp(column->key, "host_duration") != 0 &&
                has(table, row, (int)c))
                measure_rows_add(rows, column->title, strlen(column->title), sample,
                                 figure_at(table, row, (int)c), 0);
        }
    }
}

/* ---- tpa gpu, tpa memory ---- */

static void collect_any(struct taking *taking, const struct table *table);

/* Mean over the devices of COLUMN, as far as it is known, as a metric. */
static void set_mean(struct taking *taking, const struct table *table, const char *column, const char *key,
                     const char *title)
{
    int at = column_of(table, column);
    double sum = 0;
    size_t known = 0;
    for (size_t row = 0; row < table->row_count && at >= 0; row++) {
        sum += figure_at(table, row, at);
        known += has(table, row, at);
    }
    if (known)
        sampling_set(&taking->measures->by_file, key, title, TABLE_NS, taking->whole, sum / (double)known);
}

/* Rows of steps overlap, so they do not add up to the device: each is measured separately. */
static void collect_devices(struct taking *taking, const struct table *table)
{
    if (column_of(table, "step") >= 0) {
        collect_any(taking, table);
        return;
    }
    set_mean(taking, table, "span", "window", "window");
    set_mean(taking, table, "busy", "gpu_busy", "GPU busy");
    set_mean(taking, table, "computation", "computation", "computation");
    set_mean(taking, table, "exposed_communication", "exposed_communication", "exposed communication");
    set_mean(taking, table, "exposed_memcpy", "exposed_copies", "exposed copies");
    set_mean(taking, table, "idle", "gpu_idle", "GPU idle");
}

static void collect_peaks(struct taking *taking, const struct table *table)
{
    int peak = column_of(table, "peak_allocated"), device = column_of(table, "device");
    double most[2] = { NAN, NAN }; /* maxima of devices and of the host */
    for (size_t row = 0; row < table->row_count; row++) {
        bool on_host = strcmp(text_at(table, row, device), "cpu") == 0;
        if (has(table, row, peak) && !(most[on_host] >= figure_at(table, row, peak)))
            most[on_host] = figure_at(table, row, peak);
    }
    struct sampling *to = &taking->measures->by_file;
    if (!isnan(most[0]))
        sampling_set(to, "memory_peak", "memory peak", TABLE_BYTES, taking->whole, most[0]);
    if (!isnan(most[1]))
        sampling_set(to, "host_memory_peak", "host memory peak", TABLE_BYTES, taking->whole, most[1]);
}

/* ---- any table ---- */

/* Does an integer in this column identify the row? */
static bool names_a_thing(const struct table_column *column)
{
    static const char *const keys[] = { "rank", "device", "stream", "step", "graph" };
    return ANY(i, sizeof keys / sizeof *keys,
               column->kind == TABLE_COUNT && strcmp(column->key, keys[i]) == 0);
}

/* The column that is compared: the first time, else the first size, else the first count; NO_COLUMN: none. */
static int figure_column(const struct table *table)
{
    static const enum table_kind kinds[] = { TABLE_NS, TABLE_BYTES, TABLE_COUNT };
    for (size_t k = 0; k < sizeof kinds / sizeof *kinds; k++)
        for (size_t c = 0; c < table->column_count; c++)
            if (table->columns[c].kind == kinds[k] && !names_a_thing(&table->columns[c]))
                return (int)c;
    return NO_COLUMN;
}

/* Is the column equal in all rows, so that it does not distinguish rows? */
static bool is_constant(const struct table *table, size_t column)
{
    return !ANY_FROM(row, 1, table->row_count,
                     table_cell(table, row, column)->i != table_cell(table, 0, column)->i);
}

/* The texts and identifying numbers before the first figure name a row; at least one must be a text. */
static bool name_row(const struct table *table, const bool *constant, size_t row, struct buffer *name)
{
    bool named = false;
    buffer_clear(name);
    for (size_t c = 0; c < table->column_count; c++) {
        bool is_text = table_is_text(table->columns[c].kind);
        if (!is_text && !names_a_thing(&table->columns[c]))
            break;
        if ((is_text || !constant[c]) && strcmp(table->columns[c].key, "ncalls") != 0) /* pstats' count */
            add_text_of(name, table, row, c);
        named |= is_text;
    }
    return named;
}

/* Copy the title of the table: the result will be freed. */
static const char *keep(struct taking *taking, const char *text)
{
    return arena_strndup(arena_of(taking->measures), text, strlen(text));
}

static void collect_any(struct taking *taking, const struct table *table)
{
    int figure = figure_column(table), count = column_of(table, "count");
    SCOPED struct buffer name = { 0 };
    struct measure_rows *rows = NULL;
    SCOPED bool *constant = mem_zalloc(table->column_count + 1, sizeof *constant);
    for (size_t c = 0; c < table->column_count; c++)
        constant[c] = names_a_thing(&table->columns[c]) && is_constant(table, c);
    if (count < 0)
        count = column_of(table, "calls");
    for (size_t row = 0; row < table->row_count && figure >= 0; row++) {
        if (!name_row(table, constant, row, &name))
            break;
        if (!rows) {
            SCOPED struct buffer title = { 0 };
            buffer_printf(&title, "%s: %s", table->title ? table->title : table->key,
                          table->columns[figure].title);
            rows = sampling_open_rows(&taking->measures->by_file, keep(taking, table->key),
                                      keep(taking, title.at), table->columns[figure].kind);
            rows->may_be_renamed = true;
        }
        if (has(table, row, figure))
            measure_rows_add(rows, name.at ? name.at : "", name.count, taking->whole,
                             figure_at(table, row, figure),
                             figure == count ? 0 : figure_at(table, row, count));
    }
}

/* ---- which tables ---- */

typedef void take_table(struct taking *taking, const struct table *table);

static const struct {
    const char *schema, *table;
    take_table *take;
} known[] = {
    { "tpa.top/1", "operators", collect_top },
    { "tpa.steps/1", "steps", collect_steps },
    { "tpa.gpu/1", "devices", collect_devices },
    { "tpa.gpu/1", "copies", collect_any },
    { "tpa.memory/1", "memory", collect_peaks },
    { "tpa.memory/1", "operators", collect_any },
    { "tpa.memory/1", "allocations", collect_any },
    { "tpa.kernels/1", "kernels", collect_any },
    { "tpa.transfers/1", "transfers", collect_any },
    { "tpa.launches/1", "launches", collect_any },
    { "tpa.gaps/1", "causes", collect_any },
    { "tpa.steps/1", "summary", NULL },
    { "tpa.gpu/1", "efficiency", NULL },
    { "tpa.memory/1", "alive", NULL },
    { "tpa.memory/1", "steps", NULL },
    { "tpa.memory/1", "unfreed", NULL },
    { "tpa.transfers/1", "stalls", NULL },
    { "tpa.launches/1", "queues", NULL },
    { "tpa.launches/1", "graphs", NULL },
    { "tpa.gaps/1", "gaps", NULL },
};

static take_table *taker_of(const char *schema, const char *table)
{
    for (size_t i = 0; i < sizeof known / sizeof *known; i++)
        if (strcmp(known[i].schema, schema) == 0 && strcmp(known[i].table, table) == 0)
            return known[i].take;
    return collect_any;
}

static bool check_schema(struct measures *measures, const struct result *result, struct tpa_error *err)
{
    static const char *const without_figures[] = { "tpa.diff/1", "tpa.info/1", "tpa.summary/1",
                                                   "tpa.nightly/1" };
    for (size_t i = 0; i < sizeof without_figures / sizeof *without_figures; i++)
        if (strcmp(result->schema, without_figures[i]) == 0) {
            tpa_fail(err, TPA_NOWHERE, "a saved result of %s holds no figures that could be compared",
                     result->schema);
            return tpa_hint(err,
                            "compare results of tpa top, steps, gpu, kernels and the like, or the traces");
        }
    if (measures->schema && strcmp(measures->schema, result->schema) != 0)
        return tpa_fail(err, TPA_NOWHERE, "this is a result of %s, but the rest of its side is of %s",
                        result->schema, measures->schema);
    measures->schema = arena_strndup(arena_of(measures), result->schema, strlen(result->schema));
    return true;
}

/* Tables saved with --limit hold only a part of the rows. */
static void record_cut(struct measures *measures, const struct table *table)
{
    if (table->row_count < table->total_rows) {
        char text[64];
        int len = snprintf(text, sizeof text, "%zu of %zu rows", table->row_count, table->total_rows);
        measures_add_fact(measures, "cut", "extent of what was saved", text, (size_t)len);
    }
}

static bool collect_result(struct measures *measures, const struct result *result, struct tpa_error *err)
{
    if (!check_schema(measures, result, err))
        return false;
    struct taking taking = { .measures = measures,
                             .part = (uint32_t)measures->parts - 1,
                             .samples = names_open(),
                             .first_step = (uint32_t)measures->by_step.samples.count };
    taking.whole = sampling_add(&measures->by_file, &(struct measure_sample){ taking.part, 0, 0, -1 });
    for (size_t t = 0; t < result->tables.count; t++) {
        const struct table *table = result->tables.at[t];
        take_table *take = taker_of(result->schema, table->key);
        if (take)
            take(&taking, table);
        record_cut(measures, table);
    }
    measures->files++;
    measures->files_without_steps += measures->by_step.samples.count == taking.first_step;
    names_free(taking.samples);
    return true;
}

bool measure_result(struct measures *measures, const struct result *result, struct tpa_error *err)
{
    return measures_part(measures, MEASURE_RESULTS, err) && collect_result(measures, result, err);
}
