/*
 * comm_ranks.c - who waited for whom: collectives that were found on several ranks.
 *
 * While others wait for the last to arrive, that one does something else: what its device worked on in that time, and
 * for how long it stood idle, is added up per rank.
 */
#include "analyze/comm_parts.h"
#include "base/buffer.h"
#include "base/demangle.h"
#include "base/memory.h"
#include "base/stats.h"
#include "trace/span.h"
#include "facts/step_list.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* ---- ranks ---- */

enum rank_column {
    RANK_RANK,
    RANK_DEVICE,
    RANK_COUNT,
    RANK_TIME,
    RANK_TRANSFER,
    RANK_WAITED,
    RANK_LAST,
    RANK_LAST_SHARE,
    RANK_MADE_WAIT,
    RANK_LATE_MEDIAN,
    RANK_LATE_MAX,
    RANK_MEANWHILE,
    RANK_CLOCK,
    RANK_COLUMNS
};

/* clang-format off */
static const struct table_column rank_columns[RANK_COLUMNS] = {
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", 0, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device", TABLE_OPTIONAL, NULL },
    { "count", "Count", TABLE_COUNT, "collectives that were found on other ranks too", 0, NULL },
    { "time", "Time", TABLE_NS, "their durations on this rank, added up: transfer + waited", TABLE_OPTIONAL, NULL },
    { "transfer", "Transfer", TABLE_NS, "the shortest duration of each among the ranks, added up", 0, NULL },
    { "waited", "Waited", TABLE_NS, "what they took longer here: another rank had not arrived", 0, "waiting" },
    { "last", "Last", TABLE_COUNT, "how often this rank arrived last", 0, NULL },
    { "last_share", "Last, share", TABLE_SHARE, "of the collectives counted", 0, NULL },
    { "late", "Late", TABLE_NS, "how long the first to arrive had to wait for this rank, over all collectives that it came last to", 0, "made_wait" },
    { "late_median", "Late, median", TABLE_NS, "median of these", TABLE_OPTIONAL, NULL },
    { "late_max", "Late, max", TABLE_NS, "longest of these", 0, NULL },
    { "meanwhile", "Meanwhile it ran", TABLE_TEXT, "what took the most of the time in which this rank was late", 0, NULL },
    { "clock", "Clock", TABLE_NS, "how far its clock seems ahead of the first rank's, by when collectives ended: a median", TABLE_OPTIONAL, "clock_offset" },
};
/* clang-format on */

/* Time spent on events of one name; NAME_NONE: on nothing. */
struct share {
    name_id name;
    int64_t time_ns;
};

/* What is added up for a place. */
struct rank_sums {
    size_t count, last;
    int64_t time_ns, transfer_ns, late_ns;
    VEC_OF(int64_t) lateness;
    struct {
        struct share *at;
        size_t count, capacity;
    } meanwhile;
};

/*
 * What PLACE worked on in [START, END), into the sums. Work that began long before and lasts is looked for among the
 * last few that began, so that one long kernel beside millions of short ones costs no more than they do.
 */
static void add_meanwhile(const struct comm *comm, struct rank_sums *sums, uint32_t place_index,
                          int64_t start_ns, int64_t end_ns)
{
    enum { FARTHEST_BACK = 256 };
    const struct trace *trace = comm->trace;
    const struct collective_place *place = &comm->collectives->places[place_index];
    size_t low = 0, high = place->work_count; /* the first that starts at START or later */
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (trace->start_ns[place->work[middle]] < start_ns)
            low = middle + 1;
        else
            high = middle;
    }
    for (int back = 0; low > 0 && place->ends_ns[low - 1] > start_ns && back < FARTHEST_BACK; back++)
        low--;
    int64_t until_ns = start_ns, idle_ns = 0;
    for (size_t i = low; i < place->work_count && trace->start_ns[place->work[i]] < end_ns; i++) {
        event_id e = place->work[i];
        int64_t from_ns = trace->start_ns[e] > until_ns ? trace->start_ns[e] : until_ns;
        int64_t to_ns = trace_end_ns(trace, e) < end_ns ? trace_end_ns(trace, e) : end_ns;
        if (to_ns <= from_ns)
            continue;
        idle_ns += from_ns - until_ns;
        *VEC_PUSH(&sums->meanwhile) = (struct share){ trace->name[e], to_ns - from_ns };
        until_ns = to_ns;
    }
    idle_ns += end_ns - until_ns;
    if (idle_ns > 0)
        *VEC_PUSH(&sums->meanwhile) = (struct share){ NAME_NONE, idle_ns };
}

static void add_match(const struct comm *comm, struct rank_sums *sums, const struct collective_match *match)
{
    const struct collectives *all = comm->collectives;
    const size_t *member = comm->matches->member + match->first;
    for (size_t i = 0; i < match->count; i++) {
        const struct collective *one = &all->at[member[i]];
        struct rank_sums *own = &sums[one->place];
        if (!comm->held[member[i]])
            continue;
        own->count++;
        own->time_ns += comm_time(comm, one);
        own->transfer_ns += match->transfer_ns;
        int64_t late_ns = match->longest_ns - match->transfer_ns;
        if (member[i] != match->last || late_ns == 0)
            continue;
        own->last++;
        own->late_ns += late_ns;
        *VEC_PUSH(&own->lateness) = late_ns;
        int64_t start_ns = comm->trace->start_ns[one->event];
        add_meanwhile(comm, own, one->place, start_ns - late_ns, start_ns);
    }
}

static int compare_names(const void *left, const void *right)
{
    const struct share *a = left, *b = right;
    return a->name < b->name ? -1 : a->name > b->name;
}

/* "62 % idle", "71 % gemm": what took the most. */
static void set_meanwhile(struct table *table, size_t row, const struct comm *comm, struct rank_sums *sums,
                          uint32_t place)
{
    struct share most = { NAME_NONE, 0 };
    int64_t sum_ns = 0;
    if (sums->meanwhile.count == 0)
        return;
    qsort(sums->meanwhile.at, sums->meanwhile.count, sizeof *sums->meanwhile.at, compare_names);
    for (size_t first = 0, end; first < sums->meanwhile.count; first = end) {
        struct share share = { sums->meanwhile.at[first].name, 0 };
        for (end = first; end < sums->meanwhile.count && sums->meanwhile.at[end].name == share.name; end++)
            share.time_ns += sums->meanwhile.at[end].time_ns;
        sum_ns += share.time_ns;
        if (share.time_ns > most.time_ns)
            most = share;
    }
    struct buffer text = { 0 };
    buffer_printf(&text, "%.0f %% ", 100.0 * (double)most.time_ns / (double)sum_ns);
    /* The host is never idle, but only its operators are known. */
    const char *nothing = comm->collectives->places[place].device < 0 ? "no operator" : "idle";
    const char *name = most.name == NAME_NONE ? nothing : names_text(comm->trace->names, most.name);
    if (!demangle_name(&text, name))
        buffer_puts(&text, name);
    table_set_text(table, row, RANK_MEANWHILE, text.at, text.count);
    buffer_release(&text);
}

static void add_rank(struct table *table, const struct comm *comm, struct rank_sums *sums, uint32_t place)
{
    const struct collective_place *of = &comm->collectives->places[place];
    size_t row = table_add_row(table);
    table_set_int(table, row, RANK_RANK, selection_rank(comm->trace, of->file));
    if (of->device >= 0)
        table_set_int(table, row, RANK_DEVICE, of->device);
    table_set_int(table, row, RANK_COUNT, (int64_t)sums->count);
    table_set_int(table, row, RANK_TIME, sums->time_ns);
    table_set_int(table, row, RANK_TRANSFER, sums->transfer_ns);
    table_set_int(table, row, RANK_WAITED, sums->time_ns - sums->transfer_ns);
    table_set_int(table, row, RANK_LAST, (int64_t)sums->last);
    table_set_number(table, row, RANK_LAST_SHARE, (double)sums->last / (double)sums->count);
    table_set_int(table, row, RANK_MADE_WAIT, sums->late_ns);
    struct stats late = stats_of(sums->lateness.at, sums->lateness.count);
    if (late.count) {
        table_set_int(table, row, RANK_LATE_MEDIAN, late.median);
        table_set_int(table, row, RANK_LATE_MAX, late.greatest);
    }
    set_meanwhile(table, row, comm, sums, place);
    if (comm->matches->clock_ns[place] != CLOCK_UNKNOWN)
        table_set_int(table, row, RANK_CLOCK, comm->matches->clock_ns[place]);
}

/* Clocks that differ are told by ends that do; what is less than this may be the network's doing. */
enum { CLOCKS_DIFFER_NS = 1000000 };

static void note_clocks(const struct table *ranks, struct result *result)
{
    int64_t least_ns = 0, greatest_ns = 0;
    for (size_t row = 0; row < ranks->row_count; row++) {
        int64_t clock_ns = table_cell(ranks, row, RANK_CLOCK)->i;
        if (clock_ns == TABLE_INT_MISSING)
            continue;
        least_ns = clock_ns < least_ns ? clock_ns : least_ns;
        greatest_ns = clock_ns > greatest_ns ? clock_ns : greatest_ns;
    }
    int64_t apart_ns;
    if (!__builtin_sub_overflow(greatest_ns, least_ns, &apart_ns) && apart_ns > CLOCKS_DIFFER_NS)
        result_add_notice(
            result, "clocks", 0, NULL, TPA_NOWHERE,
            "the clocks of the ranks differ by %.1f ms, to judge by when their collectives ended; "
            "waiting is told by durations, which need no common clock",
            (double)apart_ns / 1e6);
}

static void add_ranks(const struct comm *comm, struct result *result)
{
    const struct collectives *all = comm->collectives;
    struct table *table = table_open("ranks", "Ranks", rank_columns, RANK_COLUMNS);
    struct rank_sums *sums = mem_zalloc(all->place_count + 1, sizeof *sums);
    for (size_t m = 0; m < comm->matches->count; m++)
        add_match(comm, sums, &comm->matches->at[m]);
    uint32_t file = UINT32_MAX;
    for (uint32_t place = 0; place < all->place_count; place++) {
        if (sums[place].count) {
            add_rank(table, comm, &sums[place], place);
            if (file == all->places[place].file) /* the rank of the file does not tell its devices apart */
                table->columns[RANK_DEVICE].flags = 0;
            file = all->places[place].file;
        }
        VEC_FREE(&sums[place].lateness);
        VEC_FREE(&sums[place].meanwhile);
    }
    free(sums);
    table_sort(table, RANK_MADE_WAIT, false);
    note_clocks(table, result);
    result_add_table(result, table);
}

/* ---- waits ---- */

enum wait_column {
    WAIT_COLLECTIVE,
    WAIT_GROUP,
    WAIT_NUMBER,
    WAIT_STEP,
    WAIT_SIZE,
    WAIT_SEEN,
    WAIT_TRANSFER,
    WAIT_LONGEST,
    WAIT_WAITED,
    WAIT_LAST,
    WAIT_FIRST,
    WAIT_START,
    WAIT_BUS_BANDWIDTH,
    WAIT_COLUMNS
};

/* clang-format off */
static const struct table_column wait_columns[WAIT_COLUMNS] = {
    { "collective", "Collective", TABLE_NAME, "what was done", 0, "name" },
    { "group", "Group", TABLE_TEXT, "name of the process group, and its description", TABLE_OPTIONAL, NULL },
    { "number", "Number", TABLE_COUNT, "its number in the group, as the files tell it; else its place in the order", 0, "seq" },
    { "step", "Step", TABLE_COUNT, "number of the step it was issued in", TABLE_HIDDEN, NULL },
    { "size", "Size", TABLE_BYTES, "bytes, as NCCL's tests count them; the largest of the ranks", 0, NULL },
    { "seen", "Ranks", TABLE_COUNT, "on how many ranks it was found", TABLE_OPTIONAL, NULL },
    { "transfer", "Transfer", TABLE_NS, "its duration on the rank that arrived last", 0, NULL },
    { "longest_wait", "Longest wait", TABLE_NS, "of the rank that arrived first, for the one that arrived last", 0, NULL },
    { "waited", "Waited", TABLE_NS, "by all ranks together", 0, "waiting" },
    { "last", "Waited for", TABLE_TEXT, "the rank that arrived last", 0, NULL },
    { "first", "First", TABLE_TEXT, "the rank that arrived first", 0, NULL },
    { "start", "Start", TABLE_MOMENT, "when the last rank arrived, from the origin of its file", 0, NULL },
    { "transfer_bus_bandwidth", "Bus GB/s, transfer", TABLE_NUMBER, "bus bandwidth over the transfer", 0, NULL },
};
/* clang-format on */

/* "3", or "3, device 1" where a file has several. */
static void set_place(struct table *table, size_t row, size_t column, const struct comm *comm,
                      const bool *several, size_t collective)
{
    const struct collective_place *place =
        &comm->collectives->places[comm->collectives->at[collective].place];
    struct buffer text = { 0 };
    buffer_printf(&text, "%" PRId64, selection_rank(comm->trace, place->file));
    if (several[place->file] && place->device >= 0)
        buffer_printf(&text, ", device %" PRId32, place->device);
    table_set_text(table, row, column, text.at, text.count);
    buffer_release(&text);
}

static void add_wait(struct table *table, const struct comm *comm, const struct step_list *steps,
                     const bool *several, const int64_t *origin_ns, const struct collective_match *match)
{
    const struct collectives *all = comm->collectives;
    const size_t *member = comm->matches->member + match->first;
    const struct collective *last = &all->at[match->last];
    uint32_t file = all->places[last->place].file;
    int64_t waited_ns = 0, size = -1;
    for (size_t i = 0; i < match->count; i++) {
        waited_ns += comm_time(comm, &all->at[member[i]]) - match->transfer_ns;
        size = all->at[member[i]].size_bytes > size ? all->at[member[i]].size_bytes : size;
    }
    size_t row = table_add_row(table);
    const char *name = last->kind ? collective_kind_name(last->kind) : trace_name(comm->trace, last->event);
    table_set_text(table, row, WAIT_COLLECTIVE, name, strlen(name));
    struct buffer group = { 0 };
    comm_show_group(comm, last, &group);
    if (group.count)
        table_set_text(table, row, WAIT_GROUP, group.at, group.count);
    buffer_release(&group);
    table_set_int(table, row, WAIT_NUMBER, match->number);
    const struct step *step = step_list_at(steps, file, collective_issued_ns(all, last));
    if (step)
        table_set_int(table, row, WAIT_STEP, step->number);
    if (size >= 0)
        table_set_int(table, row, WAIT_SIZE, size);
    table_set_int(table, row, WAIT_SEEN, (int64_t)match->count);
    table_set_int(table, row, WAIT_TRANSFER, match->transfer_ns);
    table_set_int(table, row, WAIT_LONGEST, match->longest_ns - match->transfer_ns);
    table_set_int(table, row, WAIT_WAITED, waited_ns);
    if (match->longest_ns > match->transfer_ns) {
        set_place(table, row, WAIT_LAST, comm, several, match->last);
        set_place(table, row, WAIT_FIRST, comm, several, match->earliest);
    }
    table_set_int(table, row, WAIT_START, comm->trace->start_ns[last->event] - origin_ns[file]);
    double factor = collective_bus_factor(last->kind, last->group_size);
    if (size >= 0 && match->transfer_ns > 0 && !isnan(factor))
        table_set_number(table, row, WAIT_BUS_BANDWIDTH, (double)size * factor / (double)match->transfer_ns);
}

static bool any_is_held(const struct comm *comm, const struct collective_match *match)
{
    for (size_t i = 0; i < match->count; i++)
        if (comm->held[comm->matches->member[match->first + i]])
            return true;
    return false;
}

static void add_waits(const struct comm *comm, struct result *result)
{
    const struct trace *trace = comm->trace;
    const struct collectives *all = comm->collectives;
    struct table *table =
        table_open("waits", "Collectives across ranks, longest waited for first", wait_columns, WAIT_COLUMNS);
    struct step_list *steps = step_list_open(trace);
    int64_t *origin_ns = mem_alloc((trace->file_count + 1) * sizeof *origin_ns);
    for (uint32_t file = 0; file < trace->file_count; file++)
        origin_ns[file] = trace_file_span(trace, file).start_ns;
    bool *seen = mem_zalloc(trace->file_count + 1, sizeof *seen);
    bool *several = mem_zalloc(trace->file_count + 1, sizeof *several);
    for (size_t i = 0; i < all->count; i++)
        if (i == 0 || all->at[i].place != all->at[i - 1].place) {
            uint32_t file = all->places[all->at[i].place].file;
            several[file] = several[file] || seen[file];
            seen[file] = true;
        }
    if (steps->count)
        table->columns[WAIT_STEP].flags = 0;
    int64_t incomplete = 0;
    for (size_t m = 0; m < comm->matches->count; m++) {
        const struct collective_match *match = &comm->matches->at[m];
        if (!any_is_held(comm, match))
            continue;
        add_wait(table, comm, steps, several, origin_ns, match);
        incomplete += all->at[match->last].group_size > (int64_t)match->count;
    }
    table_sort(table, WAIT_WAITED, false);
    if (incomplete)
        result_add_notice(
            result, "incomplete_groups", incomplete, NULL, TPA_NOWHERE,
            "collectives were found on fewer ranks than their group has: the last to arrive may "
            "be another, and what counts as transfer may hold waiting");
    table_drop_hidden(table);
    result_add_table(result, table);
    free(seen);
    free(several);
    free(origin_ns);
    step_list_free(steps);
}

void comm_add_rank_tables(const struct comm *comm, struct result *result)
{
    add_ranks(comm, result);
    add_waits(comm, result);
}
