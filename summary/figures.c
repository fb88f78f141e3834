/* What an overview tells is summed up from the answers of other analyses. */
#include "summary/figures.h"

#include "base/rows.h"
#include "base/quantity.h"
#include "base/search.h"
#include "base/sum.h"
#include "analyze/top/top.h"
#include "derive/collective_matches.h"
#include "derive/features.h"
#include "derive/python_names.h"
#include "derive/teardown.h"
#include "trace/calltree.h"
#include "trace/lost_work.h"
#include <math.h>

/* ---- in short ---- */

/* What a device does with its span. */
enum { SHARES = 4 };
static const struct {
    size_t member;           /* of struct gpu_row: an int64_t */
    const char *key, *title; /* NULL: of what the device is called */
} shares[SHARES] = {
    { offsetof(struct gpu_row, computation_ns), "computing", NULL },
    { offsetof(struct gpu_row, exposed_communication_ns), "communicating", "Communicating (exposed)" },
    { offsetof(struct gpu_row, exposed_copies_ns), "copying", "Copying (exposed)" },
    { offsetof(struct gpu_row, idle_ns), "idle", "Idle" },
};

/* Does TRACE hold ranges of any program, and nothing that a framework or the runtime of a device calls so? */
static bool is_of_ranges(const struct summary *summary)
{
    enum trace_producer producer = summary->trace->files[0].producer;
    return !(summary->features & (FEATURE_OPS | FEATURE_GPU | FEATURE_ANNOTATIONS)) &&
           (producer == PRODUCER_UNKNOWN || producer == PRODUCER_CHROME);
}

const char *summary_op_word(const struct summary *summary)
{
    return is_of_ranges(summary) ? "ranges" : "operators";
}

const char *summary_device_word(const struct summary *summary)
{
    struct text name = summary->gpu && summary->gpu->count ? summary->gpu->at[0].name : (struct text){ 0 };
    if (name.at && name.len >= 3 && memcmp(name.at, "TPU", 3) == 0)
        return "TPU";
    return trace_device_word(summary->trace);
}

/* Times of devices, for shares; they may be absurd. */
struct use_sums {
    double span_ns, parts_ns[SHARES];
};

static void figures_add_use(struct use_sums *sums, const struct gpu_row *row)
{
    sums->span_ns += (double)row->span_ns;
    for (size_t i = 0; i < SHARES; i++)
        sums->parts_ns[i] += (double)*(const int64_t *)((const char *)row + shares[i].member);
}

/* The same of the steps of RANK, of all where that is TABLE_INT_MISSING. False: there are none. */
static bool figures_add_account(struct use_sums *sums, const struct summary *summary, int64_t rank)
{
    static const enum account_part parts[] = { ACCOUNT_COMPUTING, ACCOUNT_COMMUNICATION, ACCOUNT_COPIES };
    const struct account_rank *of = !summary->account           ? NULL
                                    : rank == TABLE_INT_MISSING ? &summary->account->all
                                                                : account_rank_of(summary->account, rank);
    if (!of || !of->has_steps || of->device_count == 0)
        return false;
    for (size_t part = 0; part < ACCOUNT_PARTS; part++) {
        sums->span_ns += (double)of->part_ns[part];
        sums->parts_ns[SHARES - 1] += account_part_is_idle(part) ? (double)of->part_ns[part] : 0;
    }
    for (size_t i = 0; i < sizeof parts / sizeof *parts; i++)
        sums->parts_ns[i] = (double)of->part_ns[parts[i]];
    return true;
}

/* Most bytes in use on a device and, which counts where no device has any, on the host; INT64_MIN: none is known. */
struct peak {
    int64_t device, host;
};

static const struct peak no_peak = { INT64_MIN, INT64_MIN };

static void raise_peak(struct peak *peak, const struct memory_peak *row)
{
    int64_t *of = row->place.is_host ? &peak->host : &peak->device;
    *of = row->bytes > *of ? row->bytes : *of;
}

static int64_t peak_bytes(const struct peak *peak)
{
    return peak->device != INT64_MIN ? peak->device : peak->host;
}

/* ---- in short, for each rank or device ---- */

struct overview_row {
    int64_t rank, device, host_ns, steps, step_ns, devices;
    double shares[SHARES]; /* in the order above */
    int64_t blocked_ns, peak_bytes;
};

/* clang-format off */
static const struct table_column overview_columns[] = {
    COLUMN(struct overview_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files"),
    COLUMN(struct overview_row, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_HIDDEN),
    COLUMN(struct overview_row, host_ns, "host_time", "Recorded", TABLE_NS, "spans of the files of the rank, as far as they are selected"),
    COLUMN(struct overview_row, steps, "steps", "Steps", TABLE_COUNT, "complete steps of the rank"),
    COLUMN(struct overview_row, step_ns, "step", "A step takes", TABLE_NS, "throughput of the steady state, as in tpa steps"),
    COLUMN(struct overview_row, devices, "devices", "Devices", TABLE_COUNT, "devices that worked"),
    COLUMN(struct overview_row, shares[0], "computing", "Computing", TABLE_SHARE, "share of the device's span in which it computed"),
    COLUMN(struct overview_row, shares[1], "communicating", "Exposed comm.", TABLE_SHARE, "... in which it communicated and did not compute"),
    COLUMN(struct overview_row, shares[2], "copying", "Exposed copies", TABLE_SHARE, "... in which it copied and did neither"),
    COLUMN(struct overview_row, shares[3], "idle", "Idle", TABLE_SHARE, "... in which it did nothing"),
    COLUMN(struct overview_row, blocked_ns, "host_blocked", "Host blocked", TABLE_NS, "time in which host threads waited for devices"),
    COLUMN(struct overview_row, peak_bytes, "peak_memory", "Most memory", TABLE_BYTES, "most bytes in use on a device; on the host where no device has any"),
};
/* clang-format on */

/* The first file of RANK. */
static uint32_t file_of_rank(const struct summary *summary, int64_t rank)
{
    return summary_rank_of(summary, rank)->file;
}

/* A row of the overview: a rank, or one of its devices. A rank is the first of its files. */
struct overview {
    uint32_t file;
    int64_t device; /* TABLE_INT_MISSING: all */
    int64_t devices;
    struct peak peak;
    bool of_steps; /* USE is that of the account of its rank */
    struct use_sums use;
};

struct groups {
    VEC_OF(struct overview);
    size_t *first_of_file; /* by file; those of one follow one another */
};

static void add_group(struct groups *groups, uint32_t file, int64_t device)
{
    *VEC_PUSH(groups) = (struct overview){ .file = file, .device = device, .peak = no_peak };
}

static const struct key by_file_device[] = { ASC(struct overview, file), ASC(struct overview, device),
                                             KEY_END };

/* In order, and each once: files may say that they are of one rank. */
static void sort_groups(struct groups *groups)
{
    size_t kept = 0;
    SORT(groups, by_file_device);
    for (size_t g = 0; g < groups->count; g++)
        if (g == 0 || rows_compare(&groups->at[g], &groups->at[kept - 1], by_file_device) != 0)
            groups->at[kept++] = groups->at[g];
    groups->count = kept;
}

/* The devices of each rank, once each: every file of a rank has a row for those that worked in it. */
static void figures_find_devices(const struct summary *summary, struct groups *groups)
{
    for (size_t i = 0; summary->gpu && i < summary->gpu->count; i++)
        add_group(groups, file_of_rank(summary, summary->gpu->at[i].key.rank),
                  summary->gpu->at[i].key.device);
    sort_groups(groups);
}

static void find_groups(const struct summary *summary, struct groups *groups)
{
    const struct trace *trace = summary->trace;
    if (summary->by == SUMMARY_BY_RANK || !summary->gpu) {
        for (uint32_t f = 0; f < trace->file_count; f++)
            if (!summary->selection->files || summary->selection->files[f])
                add_group(groups, summary_rank_of(summary, selection_rank(trace, f))->file,
                          TABLE_INT_MISSING);
        sort_groups(groups);
    } else {
        figures_find_devices(summary, groups);
    }
    groups->first_of_file = mem_alloc(mem_times(trace->file_count + 1, sizeof *groups->first_of_file));
    for (size_t f = 0, g = 0; f <= trace->file_count; f++) {
        while (g < groups->count && groups->at[g].file < f)
            g++;
        groups->first_of_file[f] = g;
    }
}

/* The group of FILE, and of DEVICE where devices are apart; NULL when there is none. */
static struct overview *overview_of(const struct groups *groups, uint32_t file, int64_t device)
{
    if (!groups->at)
        return NULL;
    const struct overview *at = groups->at + groups->first_of_file[file];
    size_t count = groups->first_of_file[file + 1] - groups->first_of_file[file], i;
    if (count && at[0].device == TABLE_INT_MISSING)
        return groups->at + groups->first_of_file[file];
    SEARCH(i, count, at[i].device < device);
    return i < count && at[i].device == device ? groups->at + groups->first_of_file[file] + i : NULL;
}

static void sum_devices(const struct summary *summary, const struct groups *groups)
{
    struct groups each = { 0 };
    figures_find_devices(summary, &each);
    for (size_t i = 0; i < each.count; i++)
        overview_of(groups, each.at[i].file, each.at[i].device)->devices++;
    VEC_FREE(&each);
    for (size_t i = 0; i < groups->count; i++)
        groups->at[i].of_steps = groups->at[i].device == TABLE_INT_MISSING &&
                                 figures_add_account(&groups->at[i].use, summary,
                                                     selection_rank(summary->trace, groups->at[i].file));
    for (size_t i = 0; summary->gpu && i < summary->gpu->count; i++) {
        const struct gpu_row *row = &summary->gpu->at[i];
        if (!overview_of(groups, file_of_rank(summary, row->key.rank), row->key.device)->of_steps)
            figures_add_use(&overview_of(groups, file_of_rank(summary, row->key.rank), row->key.device)->use,
                            row);
    }
}

static void figures_find_peaks(const struct summary *summary, const struct groups *groups)
{
    const struct memory *memory = summary->memory;
    for (size_t i = 0; memory && i < memory->peaks.count; i++) {
        const struct memory_peak *row = &memory->peaks.at[i];
        struct overview *group = overview_of(groups, file_of_rank(summary, row->place.rank),
                                             row->place.is_host ? TABLE_INT_MISSING : row->place.number);
        if (group)
            raise_peak(&group->peak, row);
    }
}

/* What is reported of a rank, and not of its devices; at its first file. */
struct file_figures {
    int64_t steps, step_ns, blocked_ns;
};

static struct file_figures *find_file_figures(const struct summary *summary)
{
    const struct steps *steps = summary->steps;
    const struct transfers *transfers = summary->transfers;
    struct file_figures *figures = mem_zalloc(summary->trace->file_count + 1, sizeof *figures);
    for (size_t i = 0; steps && i < steps->summaries.count; i++) {
        const struct steps_summary *of = &steps->summaries.at[i];
        figures[file_of_rank(summary, of->rank)].steps = of->complete;
    }
    for (size_t i = 0; summary->account && i < summary->account->count; i++)
        figures[file_of_rank(summary, summary->account->at[i].rank)].step_ns =
            summary->account->at[i].step_ns;
    for (size_t i = 0; transfers && i < transfers->stalls.count; i++)
        figures[summary_rank_of(summary, transfers->stalls.at[i].rank)->file].blocked_ns +=
            transfers->stalls.at[i].blocked_ns;
    return figures;
}

static struct overview_row overview_row_of(const struct summary *summary, const struct overview *group,
                                           const struct file_figures *figures)
{
    int64_t rank = selection_rank(summary->trace, group->file), peak = peak_bytes(&group->peak);
    struct overview_row row = {
        .rank = rank,
        .device = group->device,
        .host_ns = summary_rank_of(summary, rank)->time_ns,
        .steps = figures->steps ? figures->steps : TABLE_INT_MISSING,
        .step_ns = figures->step_ns > 0 ? figures->step_ns : TABLE_INT_MISSING,
        .devices = summary->gpu ? group->devices : TABLE_INT_MISSING,
        .blocked_ns = summary->gpu ? figures->blocked_ns : TABLE_INT_MISSING,
        .peak_bytes = peak != INT64_MIN ? peak : TABLE_INT_MISSING,
    };
    for (size_t i = 0; i < SHARES; i++)
        row.shares[i] = group->use.span_ns > 0 && !trace_lost_much(summary->trace)
                            ? group->use.parts_ns[i] / group->use.span_ns
                            : NAN;
    return row;
}

/* Show what the trace can tell of. */
static void add_overview(const struct summary *summary, struct table *table)
{
    if (summary->by == SUMMARY_BY_DEVICE &&
        summary->gpu) { /* what threads wait for is not a device's alone */
        TABLE_FLAG(table, struct overview_row, device, 0);
        TABLE_FLAG(table, struct overview_row, devices, TABLE_HIDDEN);
        TABLE_FLAG(table, struct overview_row, blocked_ns, TABLE_HIDDEN);
    }
    if (!summary->gpu) {
        TABLE_FLAG(table, struct overview_row, devices, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct overview_row, blocked_ns, TABLE_OPTIONAL);
        for (size_t i = 0; i < SHARES; i++)
            TABLE_FLAG(table, struct overview_row, shares[i], TABLE_OPTIONAL);
    }
    if (!(summary->features & FEATURE_MEMORY))
        TABLE_FLAG(table, struct overview_row, peak_bytes, TABLE_OPTIONAL);
    if (!(summary->features & FEATURE_STEPS)) {
        TABLE_FLAG(table, struct overview_row, steps, TABLE_OPTIONAL);
        TABLE_FLAG(table, struct overview_row, step_ns, TABLE_OPTIONAL);
    }
    table_drop_hidden(table);
}

static void add_overviews(const struct summary *summary, struct result *result)
{
    struct table *table =
        TABLE_OF_ROWS("overview", "In short", overview_columns, (struct overview_row *)NULL, 0);
    struct groups groups = { 0 };
    find_groups(summary, &groups);
    sum_devices(summary, &groups);
    figures_find_peaks(summary, &groups);
    struct file_figures *figures = find_file_figures(summary);
    for (size_t g = 0; g < groups.count; g++) {
        struct overview_row row = overview_row_of(summary, &groups.at[g], &figures[groups.at[g].file]);
        table_add_rows(table, &row, 1, sizeof row);
    }
    add_overview(summary, table);
    result_add_table(result, table);
    if (summary->by == SUMMARY_BY_DEVICE && !summary->gpu)
        result_add_notice(result, "no_devices", 0, NULL, TPA_NOWHERE,
                          "nothing ran on a device, or it was not recorded, so there is a row for each rank");
    EACH(free, figures, groups.first_of_file);
    VEC_FREE(&groups);
}

/* ---- in short, of all ---- */

static int64_t count_devices(const struct summary *summary)
{
    struct groups each = { 0 };
    figures_find_devices(summary, &each);
    int64_t count = (int64_t)each.count;
    VEC_FREE(&each);
    return count;
}

/* Wall time: ranks run side by side, so that of the longest. */
static int64_t recorded_ns(const struct summary *summary)
{
    int64_t longest_ns = 0;
    for (size_t i = 0; i < summary->rank_count; i++)
        longest_ns = summary->ranks[i].time_ns > longest_ns ? summary->ranks[i].time_ns : longest_ns;
    return longest_ns;
}

/* Complete steps: of several ranks, which run the same steps side by side, those of the rank with the most. */
static int64_t complete_steps(const struct summary *summary)
{
    int64_t *counts = mem_zalloc(summary->rank_count + 1, sizeof *counts), most = 0;
    for (size_t i = 0; i < summary->steps->each.count; i++) {
        const struct step_row *step = &summary->steps->each.at[i];
        const struct summary_rank *rank =
            summary_rank_of(summary, selection_rank(summary->trace, step->file));
        if (!rank || !step->complete)
            continue;
        int64_t count = ++counts[rank - summary->ranks];
        most = count > most ? count : most;
    }
    free(counts);
    return most;
}

static void add_one_overview(const struct summary *summary, struct result *result)
{
    const struct memory *memory = summary->memory;
    struct table *table = table_open("overview", "In short", NULL, 0);
    table_add_footer(table, "host_time", "Recorded", TABLE_NS, table_int(recorded_ns(summary)));
    if (summary->steps && summary->steps->summaries.count) {
        table_add_footer(table, "steps", "Complete steps", TABLE_COUNT, table_int(complete_steps(summary)));
    }
    if (summary->account && summary->account->has_steps)
        table_add_footer(table, "step", "A step takes", TABLE_NS, table_int(summary->account->all.step_ns));
    if (summary->gpu) {
        struct use_sums use = { 0 };
        if (!figures_add_account(&use, summary, TABLE_INT_MISSING))
            for (size_t i = 0; i < summary->gpu->count; i++)
                figures_add_use(&use, &summary->gpu->at[i]);
        table_add_footer(table, "devices", "Devices", TABLE_COUNT, table_int(count_devices(summary)));
        for (size_t i = 0; i < SHARES && use.span_ns > 0; i++)
            table_add_footer(
                table, shares[i].key,
                shares[i].title ? shares[i].title
                                : arena_printf(&table->arena, "%s computing", summary_device_word(summary)),
                TABLE_SHARE,
                table_number(trace_lost_much(summary->trace) ? NAN : use.parts_ns[i] / use.span_ns));
    }
    if (summary->transfers)
        table_add_footer(table, "host_blocked", "Host threads blocked", TABLE_NS,
                         table_int(summary->transfers->blocked_ns));
    struct peak peak = no_peak;
    for (size_t i = 0; memory && i < memory->peaks.count; i++)
        raise_peak(&peak, &memory->peaks.at[i]);
    if (peak_bytes(&peak) != INT64_MIN)
        table_add_footer(table, "peak_memory",
                         peak.device != INT64_MIN ? "Most memory on a device" : "Most memory on the host",
                         TABLE_BYTES, table_int(peak_bytes(&peak)));
    result_add_table(result, table);
}

void summary_add_overview(const struct summary *summary, struct result *result)
{
    if (summary->by == SUMMARY_BY_ALL)
        add_one_overview(summary, result);
    else
        add_overviews(summary, result);
}

/* ---- the most expensive operators ---- */

struct operator_row {
    int64_t rank, device;
    struct text name;
    int64_t time_ns;
    double share;
    int64_t count;
};

/* clang-format off */
static const struct table_column operator_columns[] = {
    COLUMN(struct operator_row, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", .flags = TABLE_HIDDEN),
    COLUMN(struct operator_row, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_HIDDEN),
    COLUMN(struct operator_row, name, "name", "Operator", TABLE_NAME, "the operator; the kernel or copy where none is known"),
    COLUMN(struct operator_row, time_ns, "time", "Time", TABLE_NS, "durations of the work that it launched, added up; without devices its own CPU time"),
    COLUMN(struct operator_row, share, "share_of_all", "Share", TABLE_SHARE, "of this time of all operators"),
    COLUMN(struct operator_row, count, "count", "Count", TABLE_TALLY, "how much work it launched; without devices how often it was called"),
};
/* clang-format on */

/* What a name comes to in a rank, which is the first of its files, or on one of its devices. */
struct cost {
    uint32_t file;  /* 0: of all */
    int64_t device; /* TABLE_INT_MISSING: of all */
    const char *name;
    size_t name_length;
    int64_t time_ns, count;
    bool is_operator; /* else the work itself, as no operator is known */
};

struct costs {
    VEC_OF(struct cost);
    struct summary *summary; /* its arena is for names that live no longer than their row */
    bool has_others;         /* than operations of devices themselves */
};

static const struct key by_place[] = { ASC(struct cost, file), ASC(struct cost, device), KEY_END };

static const struct key by_file_and_name[] = { ASC(struct cost, file), ASC(struct cost, device),
                                               ASC(struct cost, name), KEY_END };

static const struct key by_cost[] = { ASC(struct cost, file), ASC(struct cost, device),
                                      DESC(struct cost, time_ns), ASC(struct cost, name), KEY_END };

/* Put the costliest first. A name is there for each file of a rank: those are added up. */
static void arrange_costs(struct costs *costs)
{
    size_t kept = 0;
    SORT(costs, by_file_and_name);
    for (size_t i = 0; i < costs->count; i++)
        if (kept && rows_compare(&costs->at[kept - 1], &costs->at[i], by_file_and_name) == 0) {
            costs->at[kept - 1].time_ns += costs->at[i].time_ns;
            costs->at[kept - 1].count += costs->at[i].count;
        } else {
            costs->at[kept++] = costs->at[i];
        }
    costs->count = kept;
    SORT_ARRAY(costs->at, kept, by_cost);
}

/* What took no time goes: operators of hosts, once those of a name are added up. */
static void drop_costless(struct costs *costs)
{
    size_t kept = 0;
    for (size_t i = 0; i < costs->count; i++)
        if (costs->at[i].time_ns != 0)
            costs->at[kept++] = costs->at[i];
    costs->count = kept;
}

/* The file that stands for the rank of FILE. */
static uint32_t first_file(const struct summary *summary, uint32_t file)
{
    return summary->by == SUMMARY_BY_ALL
               ? 0
               : summary_rank_of(summary, selection_rank(summary->trace, file))->file;
}

/* Sums by name of the work met since they were last given away. */
struct tally {
    struct cost *by_name;
    VEC_OF(name_id) met;
};

/* To COSTS of DEVICE, or of its rank or of all. */
static void assign_costs(struct tally *tally, const struct gpu_device *device, struct costs *costs)
{
    const struct trace *trace = costs->summary->trace;
    for (size_t i = 0; i < tally->met.count; i++) {
        name_id id = tally->met.at[i];
        struct cost *cost = VEC_PUSH(costs);
        *cost = tally->by_name[id];
        cost->file = first_file(costs->summary, device->file);
        cost->device = costs->summary->by == SUMMARY_BY_DEVICE ? device->id : TABLE_INT_MISSING;
        cost->name = names_text(trace->names, id);
        cost->name_length = strlen(cost->name);
        tally->by_name[id] = (struct cost){ 0 };
    }
    tally->met.count = 0;
}

/* What I of the work of GPU is counted by: its operator; without one the work itself, as a call tells nothing of it. XLA's own
 * functions, which launch whole programs, are not operators. */
static event_id counted_by(const struct trace *trace, bool is_xla, const struct gpu_events *gpu, size_t i)
{
    event_id op = gpu->op[i];
    return op == EVENT_NONE || (is_xla && trace->kind[op] == EVENT_OTHER) ? gpu->event[i] : op;
}

/* By the operators that launched the work of the devices, or by the work. */
static void add_device_costs(struct costs *costs)
{
    const struct summary *summary = costs->summary;
    const struct trace *trace = summary->trace;
    const struct gpu_events *gpu = gpu_events_of(trace);
    bool is_xla = trace_framework(trace) == FRAMEWORK_XLA;
    const struct unrecorded_waits *unrecorded = unrecorded_waits_of(trace);
    struct tally tally = { .by_name = mem_zalloc(names_count(trace->names) + 1, sizeof *tally.by_name) };
    for (size_t d = 0; d < gpu->device_count; d++) {
        const struct gpu_device *device = &gpu->devices[d];
        for (size_t i = device->first; i < device->first + device->count; i++) {
            if (!selection_holds(summary->selection, gpu->event[i]))
                continue;
            event_id by = counted_by(trace, is_xla, gpu, i);
            name_id name = trace->name[by];
            struct cost *cost = &tally.by_name[name];
            if (cost->count++ == 0)
                *VEC_PUSH(&tally.met) = name;
            cost->is_operator = by == gpu->op[i];
            costs->has_others |= by != gpu->event[i];
            struct unrecorded_wait wanted = { .event = gpu->event[i],
                                              .file = device->file,
                                              .device = device->id };
            const struct unrecorded_wait *wait =
                unrecorded->count == 0 ? NULL
                                       : rows_find(unrecorded->at, unrecorded->count, sizeof *wait,
                                                   unrecorded_wait_by_device, &wanted);
            cost->time_ns += trace_dur_ns(trace, gpu->event[i]) - (wait ? wait->ns : 0);
        }
        bool last = d + 1 == gpu->device_count;
        if (last || summary->by == SUMMARY_BY_DEVICE ||
            (summary->by == SUMMARY_BY_RANK && gpu->devices[d + 1].file != device->file))
            assign_costs(&tally, device, costs);
    }
    free(tally.by_name);
    VEC_FREE(&tally.met);
}

/* The row of NAME in FILE, of COUNT costs; NULL: there is none. */
static const struct cost *cost_called(const struct costs *costs, size_t count, uint32_t file,
                                      const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (costs->at[i].file == file && strcmp(costs->at[i].name, name) == 0)
            return &costs->at[i];
    return NULL;
}

/* Take OWN_NS of COUNT calls of NAME out of its row in FILE, if it has one of the first ROWS. */
static void take_out(struct costs *costs, size_t rows, uint32_t file, name_id name, int64_t own_ns,
                     int64_t count)
{
    struct summary *summary = costs->summary;
    const char *text = names_text(summary->trace->names, name);
    if (!cost_called(costs, rows, file, text))
        return;
    *VEC_PUSH(costs) = (struct cost){ .file = file,
                                      .device = TABLE_INT_MISSING,
                                      .name = text,
                                      .name_length = names_length(summary->trace->names, name),
                                      .time_ns = -own_ns,
                                      .count = -count,
                                      .is_operator = true };
    sum_add(&summary->teardown_ns, own_ns);
    if (own_ns > summary->teardown_longest_ns) {
        summary->teardown = text;
        summary->teardown_longest_ns = own_ns;
    }
}

/* A program releases what it holds once: that is not how it runs. The rows of those calls get less by it. */
static void take_teardown_out(struct costs *costs)
{
    const struct trace *trace = costs->summary->trace;
    const struct teardown *teardown = teardown_of(trace);
    size_t rows = costs->count;
    int64_t *own_ns = mem_zalloc(names_count(trace->names) + 1, sizeof *own_ns),
            *counts = mem_zalloc(names_count(trace->names) + 1, sizeof *counts);
    for (size_t i = 0; i < teardown->count; i++) {
        event_id call = teardown->at[i].call;
        uint32_t file = trace->tracks[trace->track[call]].file;
        if (selection_holds(costs->summary->selection, call)) {
            sum_add(&own_ns[trace->name[call]], teardown->at[i].own_ns);
            counts[trace->name[call]]++;
        }
        bool is_last =
            i + 1 == teardown->count || trace->tracks[trace->track[teardown->at[i + 1].call]].file != file;
        for (name_id id = 0; is_last && id < names_count(trace->names); id++)
            if (counts[id]) {
                take_out(costs, rows, first_file(costs->summary, file), id, own_ns[id], counts[id]);
                own_ns[id] = counts[id] = 0;
            }
    }
    EACH(free, own_ns, counts);
}

static bool is_range(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_ANNOTATION && !(trace->flags[e] & (EVENT_ASYNC | EVENT_POINT));
}

/* New, free with free(); by name: ranges of a thread that cross one another, as those of coroutines do. Each runs while the others do, so that
 * its own time is that of many. NULL: there are none. */
static bool *find_crossing(const struct trace *trace)
{
    bool *crosses = mem_zalloc(names_count(trace->names) + 1, sizeof *crosses), any = false;
    struct calltree *tree = calltree_open(trace, is_range, trace);
    VEC_OF(event_id) open = { 0 };
    for (size_t t = 0; t < tree->thread_count; t++) {
        const struct calltree_thread *thread = &tree->threads[t];
        open.count = 0;
        for (node_id n = thread->first; n < thread->first + thread->count; n++) {
            event_id e = tree->event[n];
            while (open.count && trace_end_ns(trace, open.at[open.count - 1]) <= trace_start_ns(trace, e))
                open.count--;
            event_id outer = open.count ? open.at[open.count - 1] : e;
            if (trace_end_ns(trace, e) > trace_end_ns(trace, outer))
                any = crosses[trace->name[e]] = crosses[trace->name[outer]] = true;
            *VEC_PUSH(&open) = e;
        }
    }
    VEC_FREE(&open);
    arena_free(tree);
    if (any)
        return crosses;
    free(crosses);
    return NULL;
}

/* Do own times lie beside the functions that they are taken from, so that those have less than none? */
static bool has_negative(const struct top *top)
{
    return FIND(row, top, !row->on_device && row->self_cpu_ns < 0) != NULL;
}

/* By the operators, Python functions and calls that took the host's time. Less than 0 is none, but part of the whole, as in `tpa top`;
 * not where ranges cross, which are left out, and what they took from functions. */
static void add_host_costs(struct costs *costs)
{
    struct summary *summary = costs->summary;
    struct top_options by_name = { .by = TOP_OPERATOR | (summary->by != SUMMARY_BY_ALL ? TOP_RANK : 0),
                                   .python = summary->has_frames,
                                   .without_memory = true,
                                   .selection = summary->selection };
    struct top *top = top_analyze(summary->trace, &by_name);
    bool *crosses = summary->has_frames && has_negative(top) ? find_crossing(summary->trace) : NULL;
    for (size_t i = 0; i < top->count; i++) {
        const struct top_row *row = &top->at[i];
        if (row->on_device || (summary->has_frames &&
                               (python_frame_waits(row->name.at) || python_frame_profiles(row->name.at))))
            continue; /* to wait is no work; the profiler is not the program */
        name_id name = crosses ? names_find(summary->trace->names, row->name.at, row->name.len) : NAME_NONE;
        if (name != NAME_NONE && crosses[name])
            continue;
        *VEC_PUSH(costs) =
            (struct cost){ .file = first_file(summary, row->file),
                           .device = TABLE_INT_MISSING,
                           .name = arena_strndup(&summary->arena, row->name.at, row->name.len),
                           .name_length = row->name.len,
                           .time_ns = crosses ? greater_of(row->self_cpu_ns, 0) : row->self_cpu_ns,
                           .count = row->count,
                           .is_operator = true };
    }
    free(crosses);
    arena_free(top);
}

/* What shares of the COUNT sorted COSTS are of: their sum, in which crossing operators count as less than 0; without that, if one would
 * be more than all. */
static int64_t whole_of(const struct cost *costs, size_t count)
{
    int64_t whole_ns = 0, taken_ns = 0;
    for (size_t i = 0; i < count; i++) {
        sum_add(&whole_ns, costs[i].time_ns);
        sum_add(&taken_ns, greater_of(costs[i].time_ns, 0));
    }
    return count && costs[0].time_ns > whole_ns ? taken_ns : whole_ns;
}

/* The rows of a group: the first few of COUNT costs. */
static void add_operator_rows(struct table *table, const struct summary *summary, const struct cost *costs,
                              size_t count)
{
    int64_t total_ns = whole_of(costs, count);
    for (size_t i = 0; i < count && i < SUMMARY_TOP && costs[i].time_ns >= 0; i++) {
        const struct cost *cost = &costs[i];
        struct operator_row row = { .rank = selection_rank(summary->trace, cost->file),
                                    .device = cost->device,
                                    .name = { cost->name, cost->name_length },
                                    .time_ns = cost->time_ns,
                                    .share = total_ns > 0 ? (double)cost->time_ns / (double)total_ns : NAN,
                                    .count = cost->count };
        table_add_rows(table, &row, 1, sizeof row);
    }
}

static bool is_named(const struct cost *cost)
{
    return cost->is_operator && !step_name_is_mark(cost->name, cost->name_length);
}

/* The costliest of the first group, which is all of them unless ranks are apart. */
static void find_top_operators(struct summary *summary, const struct costs *costs)
{
    size_t count = 0;
    while (count < costs->count && rows_compare(&costs->at[0], &costs->at[count], by_place) == 0)
        count++;
    summary->top_ns = (double)whole_of(costs->at, count);
    for (size_t i = 0; summary->top_ns > 0 && i < count && i < SUMMARY_TOP && costs->at[i].time_ns > 0; i++)
        summary->top[summary->top_count++] = (struct summary_top){
            .name = arena_strndup(&summary->arena, costs->at[i].name, costs->at[i].name_length),
            .share = (double)costs->at[i].time_ns / summary->top_ns,
            .time_ns = costs->at[i].time_ns,
            .named = is_named(&costs->at[i]),
        };
}

/* A few rows; `tpa top` has all, by torch's rules, which count waits of a stream as time on the device, too. */
void summary_add_operators(struct summary *summary, struct result *result)
{
    struct costs costs = { .summary = summary };
    bool devices = summary->features & FEATURE_GPU;
    bool has_cuda = trace_device_type(summary->trace) == DEVICE_TYPE_CUDA;
    if (devices)
        add_device_costs(&costs);
    else if (summary->features & FEATURE_OPS || is_of_ranges(summary))
        add_host_costs(&costs);
    if (!devices)
        take_teardown_out(&costs);
    if (costs.count)
        arrange_costs(&costs);
    if (!devices)
        drop_costless(&costs);
    if (costs.count == 0) {
        VEC_FREE(&costs);
        return;
    }
    find_top_operators(summary, &costs);
    summary->top_is_work = devices && !costs.has_others;
    struct table *table = TABLE_OF_ROWS(
        "operators",
        devices && !costs.has_others
            ? "Kernels and copies that take devices longest (more: tpa top --by kernel)"
        : devices && !has_cuda
            ? "Operators whose work takes devices longest (more: tpa top --sort self_device_time_total)"
        : devices ? "Operators whose work takes devices longest (more: tpa top --sort self_cuda_time_total)"
        : summary->has_frames
            ? "Operators and Python functions that take longest themselves (more: tpa top --python --sort self_cpu_time_total)"
        : is_of_ranges(summary)
            ? "Ranges that take longest themselves (more: tpa top --sort self_cpu_time_total)"
            : "Operators that take longest themselves (more: tpa top --sort self_cpu_time_total)",
        operator_columns, (struct operator_row *)NULL, 0);
    table->columns[table->column_count - 1].title = devices ? "Device events" : "Calls"; /* of `count` */
    if (summary->by != SUMMARY_BY_ALL)
        TABLE_FLAG(table, struct operator_row, rank, 0);
    if (summary->by == SUMMARY_BY_DEVICE && devices)
        TABLE_FLAG(table, struct operator_row, device, 0);
    FOR_GROUPS(&costs, by_place, first, end) {
        add_operator_rows(table, summary, &costs.at[first], end - first);
    }
    table_drop_hidden(table);
    result_add_table(result, table);
    VEC_FREE(&costs);
    if (summary->teardown_ns > 0) {
        struct buffer time = { 0 };
        quantity_append_rounded_time(&time, (double)summary->teardown_ns);
        result_add_notice(
            result, "teardown", 1, NULL, TPA_NOWHERE,
            "%s behind all else, mostly in %s, is not counted: what a program holds is released once, when it ends",
            time.at, summary->teardown);
        result_make_minor(result);
        buffer_release(&time);
    }
}

const struct table_shape figures_tables[] = {
    TABLE_SHAPE("overview", overview_columns),
    TABLE_SHAPE("operators", operator_columns),
    { 0 },
};
