/* Each run is a selection of its files. */
#include "summary/runs.h"

#include "analyze/account.h"
#include "analyze/batch_size.h"
#include "base/label.h"
#include "base/memory.h"
#include "derive/file_set.h"
#include "memory/memory.h"
#include "trace/span.h"
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct summary_run, name, "run", "Run", TABLE_NAME, "its folder or file"),
    COLUMN(struct summary_run, label, "label", "Sizes", TABLE_TEXT, "its sizes, as named behind the file: bs32/@batch=32", .flags = TABLE_IF_ANY),
    COLUMN(struct summary_run, ranks, "ranks", "Ranks", TABLE_COUNT, "ranks that are here"),
    COLUMN(struct summary_run, steps, "steps", "Steps", TABLE_COUNT, "steps that count for the time of a step"),
    COLUMN(struct summary_run, step_ns, "step", "A step takes", TABLE_NS, "time of a step by the account of tpa steps; of a recording without steps its length"),
    COLUMN(struct summary_run, batch, "batch", "Batch", TABLE_COUNT, "samples in a batch of a rank: as named (@batch=32, --batch 32), or the first size of the input of the first layer of each step"),
    COLUMN(struct summary_run, samples, "samples", "Samples/s", TABLE_NUMBER, "batch times ranks over the time of a step"),
    COLUMN(struct summary_run, computing, "computing", "Computing", TABLE_SHARE, "share of a step in which its devices compute"),
    COLUMN(struct summary_run, idle, "idle", "Idle", TABLE_SHARE, "share of a step in which its devices are idle"),
    COLUMN(struct summary_run, peak_bytes, "peak_memory", "Peak memory", TABLE_BYTES, "most bytes in use on a device; without records of devices on the host"),
    COLUMN(struct summary_run, recorded_ns, "host_time", "Recorded", TABLE_NS, "time recorded of the rank with most"),
};
/* clang-format on */

/* ---- names ---- */

/* The last part of PATH up to END, without slashes. */
static struct text last_part(const char *path, const char *end)
{
    const char *first = end;
    while (first > path && first[-1] != '/')
        first--;
    return (struct text){ first, (size_t)(end - first) };
}

static struct text folder_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? last_part(path, slash) : (struct text){ "", 0 };
}

static struct text base_of(const char *path)
{
    return last_part(path, path + strlen(path));
}

static bool are_distinct(const char *const *paths, size_t count, struct text (*part)(const char *path))
{
    struct names *seen = names_open();
    for (size_t i = 0; i < count; i++)
        names_add(seen, part(paths[i]).at, part(paths[i]).len);
    bool distinct = names_count(seen) == count;
    names_free(seen);
    return distinct;
}

/* Name ROWS by the folder of their first file, else by the file, if that distinguishes them; else by the path. */
static void name_runs(const char *const *paths, struct summary_run *rows, size_t count)
{
    bool by_folder = are_distinct(paths, count, folder_of), by_file = are_distinct(paths, count, base_of);
    for (size_t i = 0; i < count; i++)
        rows[i].name = by_folder ? folder_of(paths[i]) : by_file ? base_of(paths[i]) : as_text(paths[i]);
}

/* ---- sizes as named ---- */

bool run_sizes_take(struct run_sizes *sizes, char **operands, size_t count, struct tpa_error *err)
{
    for (size_t i = 0; i < count; i++) {
        char *text = strrchr(operands[i], '@');
        const char *rest = label_of(operands[i]), *name;
        size_t len;
        double value;
        if (!rest || access(operands[i], F_OK) == 0)
            continue;
        struct run_label *label = VEC_PUSH(&sizes->labels);
        *label = (struct run_label){ .path = operands[i], .text = rest };
        while (*rest && label_next(&rest, &name, &len, &value)) {
            if (len != strlen("batch") || memcmp(name, "batch", len) != 0)
                continue;
            label->batch = value <= INT32_MAX ? (int64_t)value : 0;
            if ((double)label->batch != value)
                return tpa_fail(err, TPA_NOWHERE, "%s: a batch is a whole number, such as 32", operands[i]);
        }
        *text = '\0';
    }
    return true;
}

/* The label of the run whose first file is PATH: that of the operand which is PATH, or a folder above it; NULL: none. */
static const struct run_label *label_of_run(const struct run_sizes *sizes, const char *path)
{
    for (size_t i = 0; i < sizes->labels.count; i++) {
        size_t len = strlen(sizes->labels.at[i].path);
        if (strncmp(path, sizes->labels.at[i].path, len) == 0 &&
            (path[len] == '\0' || path[len] == '/' || (len && path[len - 1] == '/')))
            return &sizes->labels.at[i];
    }
    return NULL;
}

/* ---- rows ---- */

static int64_t find_peak(const struct trace *trace, const struct selection *selection)
{
    struct memory *memory = memory_analyze(trace, selection, &(struct memory_options){ .brief = true });
    int64_t device = TABLE_INT_MISSING, host = TABLE_INT_MISSING;
    for (size_t i = 0; memory && i < memory->peaks.count; i++) {
        const struct memory_peak *peak = &memory->peaks.at[i];
        int64_t *of = peak->place.is_host ? &host : &device;
        *of = peak->bytes > *of ? peak->bytes : *of;
    }
    arena_free(memory);
    return device != TABLE_INT_MISSING ? device : host;
}

static struct summary_run run_of(const struct trace *trace, const struct selection *selection,
                                 const struct run_sizes *sizes, const char *path)
{
    const struct run_label *label = label_of_run(sizes, path);
    int64_t batch = label && label->batch ? label->batch : sizes->batch;
    const struct account *account = account_open(trace, selection);
    const struct account_rank *all = &account->all;
    struct summary_run row = {
        .label = label ? as_text(label->text) : (struct text){ 0 },
        .ranks = (int64_t)account->count,
        .steps = all->has_steps ? (int64_t)all->count : TABLE_INT_MISSING,
        .step_ns = all->step_ns,
        .batch = batch ? batch : batch_size_of(trace, selection),
        .peak_bytes = find_peak(trace, selection),
        .samples = NAN,
        .computing = NAN,
        .idle = account_idle_share(all),
    };
    for (size_t i = 0; i < account->count; i++)
        if (account->at[i].recorded_ns > row.recorded_ns)
            row.recorded_ns = account->at[i].recorded_ns;
    if (all->device_count && all->step_ns > 0)
        row.computing = (double)account_part_ns(all, ACCOUNT_COMPUTING) / (double)all->step_ns;
    if (row.batch != TABLE_INT_MISSING && all->has_steps && all->step_ns > 0)
        row.samples = (double)row.batch * (double)row.ranks * 1e9 / (double)all->step_ns;
    arena_free(account);
    return row;
}

bool summary_find_runs(const struct trace *trace, const struct selection_query *query,
                       const struct run_sizes *sizes, struct summary_runs *runs, struct tpa_error *err)
{
    const struct file_set *set = file_set_of(trace);
    const char **paths = mem_zalloc(set->jobs + 1, sizeof *paths);
    bool good = true;
    *runs = (struct summary_runs){ 0 };
    for (uint32_t job = 0; job < set->jobs && good; job++) {
        struct selection *selection = selection_open(trace, query, err);
        good = selection != NULL;
        if (!good)
            break;
        bool *files = mem_zalloc(trace->file_count + 1, sizeof *files), any = false;
        for (uint32_t f = trace->file_count ? (uint32_t)trace->file_count : 0; f-- > 0;) {
            files[f] = set->files[f].job == job && (!selection->files || selection->files[f]);
            any |= files[f];
            if (files[f])
                paths[runs->at.count] = trace->files[f].path;
        }
        free(selection->files);
        selection->files = files;
        if (any) {
            struct summary_run run = run_of(trace, selection, sizes, paths[runs->at.count]);
            runs->any_batch |= run.batch != TABLE_INT_MISSING;
            runs->any_device |= !isnan(run.computing);
            *VEC_PUSH(&runs->at) = run;
        }
        arena_free(selection);
    }
    name_runs(paths, runs->at.at, runs->at.count);
    free(paths);
    return good;
}

bool summary_add_runs(const struct trace *trace, const struct selection_query *query,
                      const struct run_sizes *sizes, struct result *result, struct tpa_error *err)
{
    struct summary_runs runs;
    bool good = summary_find_runs(trace, query, sizes, &runs, err);
    if (good) {
        struct table *table = TABLE_OF_ROWS("runs", "Runs side by side", columns, runs.at.at, runs.at.count);
        if (!runs.any_batch) {
            TABLE_FLAG(table, struct summary_run, batch, TABLE_OPTIONAL);
            TABLE_FLAG(table, struct summary_run, samples, TABLE_OPTIONAL);
        }
        if (!runs.any_device) {
            TABLE_FLAG(table, struct summary_run, computing, TABLE_OPTIONAL);
            TABLE_FLAG(table, struct summary_run, idle, TABLE_OPTIONAL);
        }
        result_add_table(result, table);
        if (!runs.any_batch)
            result_add_notice(
                result, "batch", 0, NULL, TPA_NOWHERE,
                "samples a second need the size of a batch: FILE@batch=N, --batch N for all, or "
                "record_shapes=True");
    }
    VEC_FREE(&runs.at);
    return good;
}

const struct table_shape runs_tables[] = {
    TABLE_SHAPE("runs", columns),
    { 0 },
};
