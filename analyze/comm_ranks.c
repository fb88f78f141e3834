/*
 * comm_ranks.c - who waited for whom: collectives that were found on several ranks.
 *
 * While others wait for the last to arrive, that rank does something else: the work of its device in that time, and its
 * idle time, are added up per rank.
 */
#include "analyze/comm.h"
#include "base/demangle.h"
#include "base/search.h"
#include "base/stats.h"
#include "derive/file_set.h"
#include "derive/step_list.h"
#include "trace/span.h"
#include <inttypes.h>
#include <math.h>

int64_t comm_waited_ns(const struct comm_query *query, size_t index)
{
    size_t match = query->matches->match_of[index];
    return query->matches->waited_ns[index] +
           (match == MATCH_NONE ? 0 : query->matches->at[match].outside_ns);
}

struct text comm_text(const char *text)
{
    return text && *text ? as_text(text) : (struct text){ 0 };
}

struct text comm_group_text(const struct comm_query *query, const struct collective *one)
{
    const struct names *texts = query->trace->texts;
    const char *name = names_text(texts, one->group_name),
               *description = names_text(texts, one->group_description);
    if (strcmp(description, "undefined") == 0)
        description = "";
    if (!*name || !*description)
        return comm_text(*name ? name : description);
    return as_text(arena_printf(arena_of(query->comm), "%s (%s)", name, description));
}

struct text comm_collective_text(const struct comm_query *query, const struct collective *one)
{
    const struct names *names = query->trace->names;
    name_id name = query->trace->name[one->event];
    return one->kind ? as_text(collective_kind_name(one->kind))
                     : (struct text){ names_text(names, name), names_length(names, name) };
}

/* clang-format off */
static const struct table_column rank_columns[] = {
    COLUMN(struct comm_rank, rank, "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files"),
    COLUMN(struct comm_rank, device, "device", "Device", TABLE_COUNT, "number of the device", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_rank, count, "count", "Collectives", TABLE_TALLY, "collectives that were found on other ranks too"),
    COLUMN(struct comm_rank, time_ns, "time", "Time", TABLE_NS, "their durations on this rank, added up: transfer + waited", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_rank, transfer_ns, "transfer", "Transfer", TABLE_NS, "of these, what was left when all ranks had arrived"),
    COLUMN(struct comm_rank, waited_ns, "waited", "Waited", TABLE_NS, "of these, when another rank had not arrived; of collectives in flight at once it adds up", .aliases = "waiting"),
    COLUMN(struct comm_rank, waited_union_ns, "waited_union", "Waiting", TABLE_NS, "wall time in which at least one collective waited", .aliases = "wall"),
    COLUMN(struct comm_rank, last, "last", "Last", TABLE_COUNT, "how often this rank arrived last"),
    COLUMN(struct comm_rank, last_share, "last_share", "Last, share", TABLE_SHARE, "of the collectives counted", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_rank, late_ns, "late", "Late", TABLE_NS, "how long the first to arrive had to wait for this rank, over all collectives that it came last to", .aliases = "made_wait"),
    COLUMN(struct comm_rank, late_median_ns, "late_median", "Late, median", TABLE_NS, "median of these", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_rank, late_max_ns, "late_max", "Late, max", TABLE_NS, "longest of these"),
    COLUMN(struct comm_rank, meanwhile, "meanwhile", "Meanwhile it ran", TABLE_TEXT, "what took the most of the time in which this rank was late"),
    COLUMN(struct comm_rank, clock_ns, "clock", "Clock", TABLE_NS, "how far its clock seems ahead of the first rank's, by when collectives ended: a median", .flags = TABLE_OPTIONAL, .aliases = "clock_offset"),
    COLUMN(struct comm_rank, clock_error_ns, "clock_error", "Clock +-", TABLE_NS, "median absolute deviation of these ends", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_rank, drift, "drift", "Drift", TABLE_NUMBER, "by which its clock gains, in parts per million; 0 unless it is sure", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_rank, clock_sure, "clock_sure", "Sure", TABLE_BOOL, "3 ends and more, and less than 1 ms of error", .flags = TABLE_OPTIONAL),
};

static const struct table_column wait_columns[] = {
    COLUMN(struct comm_wait, collective, "collective", "Collective", TABLE_NAME, "what was done", .aliases = "name"),
    COLUMN(struct comm_wait, group, "group", "Group", TABLE_TEXT, "name of the process group, and its description", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_wait, number, "number", "Number", TABLE_COUNT, "its recorded number in the group; else its place in the order", .aliases = "seq"),
    COLUMN(struct comm_wait, step, "step", "Step", TABLE_COUNT, "number of the step it was issued in", .flags = TABLE_HIDDEN),
    COLUMN(struct comm_wait, size_bytes, "size", "Size", TABLE_BYTES, "bytes, as NCCL's tests count them; the largest of the ranks"),
    COLUMN(struct comm_wait, seen, "seen", "Ranks", TABLE_COUNT, "on how many ranks it was found", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_wait, transfer_ns, "transfer", "Transfer", TABLE_NS, "what was left of it when all ranks had arrived"),
    COLUMN(struct comm_wait, longest_wait_ns, "longest_wait", "Longest wait", TABLE_NS, "of the rank that arrived first, for the one that arrived last, recorded or not"),
    COLUMN(struct comm_wait, waited_ns, "waited", "Waited", TABLE_NS, "by all ranks together", .aliases = "waiting"),
    COLUMN(struct comm_wait, last, "last", "Waited for", TABLE_TEXT, "the rank that arrived last, which may be one that was not recorded"),
    COLUMN(struct comm_wait, first, "first", "First", TABLE_TEXT, "the rank that arrived first"),
    COLUMN(struct comm_wait, start_ns, "start", "Start", TABLE_MOMENT, "when the last rank arrived, from the origin of its file"),
    COLUMN(struct comm_wait, transfer_bus_bandwidth, "transfer_bus_bandwidth", "Bus GB/s, transfer", TABLE_RATE, "bus bandwidth over the transfer"),
};
/* clang-format on */

/* ---- ranks ---- */

/* Time spent on events of one name; NAME_NONE: on nothing. */
struct share {
    name_id name;
    int64_t time_ns;
};

/* Totals of a place. */
struct rank_sums {
    int64_t count, last;
    int64_t time_ns, waited_ns, late_ns;
    VEC_OF(int64_t) lateness;
    VEC_OF(struct share) meanwhile;
    struct intervals waiting;
    int64_t waiting_ns; /* its length */
};

/* Add the work of PLACE in [START, END) to the sums. Long-running earlier work is searched among the last few starts
 * only, so that one long kernel beside millions of short ones stays cheap. */
static void add_meanwhile(const struct comm_query *query, struct rank_sums *sums, uint32_t place_index,
                          int64_t start_ns, int64_t end_ns)
{
    enum { FARTHEST_BACK = 256 };
    const struct trace *trace = query->trace;
    const struct collective_place *place = &query->collectives->places[place_index];
    size_t low; /* the first work that starts at START or later */
    SEARCH(low, place->work_count, trace_start_ns(trace, place->work[low]) < start_ns);
    for (int back = 0; low > 0 && place->ends_ns[low - 1] > start_ns && back < FARTHEST_BACK; back++)
        low--;
    int64_t until_ns = start_ns, idle_ns = 0;
    for (size_t i = low; i < place->work_count && trace_start_ns(trace, place->work[i]) < end_ns; i++) {
        event_id e = place->work[i];
        int64_t from_ns = trace_start_ns(trace, e) > until_ns ? trace_start_ns(trace, e) : until_ns;
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

static void add_match(const struct comm_query *query, struct rank_sums *sums,
                      const struct collective_match *match)
{
    const struct collectives *all = query->collectives;
    const size_t *member = query->matches->member + match->first;
    for (size_t i = 0; i < match->count; i++) {
        const struct collective *one = &all->at[member[i]];
        struct rank_sums *own = &sums[one->place];
        int64_t start_ns = trace_start_ns(query->trace, one->event),
                waited_ns = comm_waited_ns(query, member[i]);
        if (!query->held[member[i]])
            continue;
        own->count++;
        own->time_ns += trace_dur_ns(query->trace, one->event);
        own->waited_ns += waited_ns;
        intervals_add(&own->waiting, start_ns, start_ns + waited_ns);
        if (member[i] != match->last || match->wait_ns == 0)
            continue;
        own->last++;
        own->late_ns += match->wait_ns;
        *VEC_PUSH(&own->lateness) = match->wait_ns;
        add_meanwhile(query, own, one->place, start_ns - match->wait_ns, start_ns);
    }
}

static const struct key by_name[] = { ASC(struct share, name), KEY_END };

/* "62 % idle", "71 % gemm": the largest part. */
static struct text meanwhile_text(const struct comm_query *query, struct rank_sums *sums, uint32_t place)
{
    struct share most = { NAME_NONE, 0 };
    int64_t sum_ns = 0;
    if (sums->meanwhile.count == 0)
        return (struct text){ 0 };
    SORT(&sums->meanwhile, by_name);
    FOR_GROUPS(&sums->meanwhile, by_name, first, end) {
        struct share share = { sums->meanwhile.at[first].name, 0 };
        for (size_t i = first; i < end; i++)
            share.time_ns += sums->meanwhile.at[i].time_ns;
        sum_ns += share.time_ns;
        if (share.time_ns > most.time_ns)
            most = share;
    }
    SCOPED struct buffer text = { 0 };
    buffer_printf(&text, "%.0f %% ", round(100.0 * (double)most.time_ns / (double)sum_ns));
    /* Idle time of the host is not known, because only its operators are recorded. */
    const char *nothing = query->collectives->places[place].device < 0 ? "no operator" : "idle";
    const char *name = most.name == NAME_NONE ? nothing : names_text(query->trace->names, most.name);
    if (!demangle_name(&text, name))
        buffer_puts(&text, name);
    struct text kept = { arena_strndup(arena_of(query->comm), text.at, text.count), text.count };
    return kept;
}

static struct comm_rank comm_ranks_rank_of(const struct comm_query *query, struct rank_sums *sums,
                                           uint32_t place)
{
    const struct collective_place *of = &query->collectives->places[place];
    struct stats late = stats_of(sums->lateness.at, sums->lateness.count);
    const struct rank_clock *clock = &query->matches->clocks[of->file];
    bool known = clock->ahead_ns != CLOCK_UNKNOWN;
    return (struct comm_rank){
        .rank = selection_rank(query->trace, of->file),
        .device = of->device >= 0 ? of->device : TABLE_INT_MISSING,
        .count = sums->count,
        .time_ns = sums->time_ns,
        .transfer_ns = sums->time_ns - sums->waited_ns,
        .waited_ns = sums->waited_ns,
        .waited_union_ns = sums->waiting_ns,
        .last = sums->last,
        .last_share = (double)sums->last / (double)sums->count,
        .late_ns = sums->late_ns,
        .late_median_ns = late.count ? late.median : TABLE_INT_MISSING,
        .late_max_ns = late.count ? late.greatest : TABLE_INT_MISSING,
        .meanwhile = meanwhile_text(query, sums, place),
        .clock_ns = known ? clock->ahead_ns : TABLE_INT_MISSING,
        .clock_error_ns = known ? clock->error_ns : TABLE_INT_MISSING,
        .drift = known ? (double)clock->drift / 1e6 : NAN,
        .clock_sure = clock->sure,
    };
}

static const struct key by_late[] = { DESC(struct comm_rank, late_ns), KEY_END };

/* Add the sums of one place to those of another, a cycle of the same rank and device before. */
static void join_sums(struct rank_sums *sums, const struct rank_sums *more)
{
    sums->count += more->count;
    sums->last += more->last;
    sums->time_ns += more->time_ns;
    sums->waited_ns += more->waited_ns;
    sums->late_ns += more->late_ns;
    sums->waiting_ns += more->waiting_ns;
    for (size_t i = 0; i < more->lateness.count; i++)
        *VEC_PUSH(&sums->lateness) = more->lateness.at[i];
    for (size_t i = 0; i < more->meanwhile.count; i++)
        *VEC_PUSH(&sums->meanwhile) = more->meanwhile.at[i];
}

/* The first of the PLACES below PLACE that has its rank and device; PLACE itself if there is none. */
static uint32_t first_cycle(const struct file_set *set, const struct collective_place *places, uint32_t place)
{
    uint32_t first = 0;
    while (set->files[places[first].file].rank != set->files[places[place].file].rank ||
           places[first].device != places[place].device)
        first++;
    return first;
}

static void find_ranks(const struct comm_query *query)
{
    const struct collectives *all = query->collectives;
    const struct file_set *set = file_set_of(query->trace);
    bool has_cycles = file_set_has_cycles(set);
    struct comm *comm = query->comm;
    struct rank_sums *sums = mem_zalloc(all->place_count + 1, sizeof *sums);
    for (size_t m = 0; m < query->matches->count; m++)
        add_match(query, sums, &query->matches->at[m]);
    for (uint32_t place = 0; place < all->place_count; place++) {
        uint32_t first = has_cycles && sums[place].count ? first_cycle(set, all->places, place) : place;
        intervals_merge(&sums[place].waiting);
        sums[place].waiting_ns = intervals_length(&sums[place].waiting);
        if (first == place)
            continue;
        join_sums(&sums[first], &sums[place]);
        sums[place].count = 0;
    }
    uint32_t file = UINT32_MAX;
    for (uint32_t place = 0; place < all->place_count; place++) {
        if (sums[place].count) {
            struct comm_rank rank = comm_ranks_rank_of(query, &sums[place], place);
            comm->waited_union_ns += rank.waited_union_ns;
            *VEC_PUSH(&comm->ranks) = rank;
            comm->several_devices |= file == all->places[place].file;
            file = all->places[place].file;
        }
        EACH(VEC_FREE, &sums[place].lateness, &sums[place].meanwhile);
        intervals_release(&sums[place].waiting);
    }
    free(sums);
    SORT(&comm->ranks, by_late);
}

/* ---- waits ---- */

/* Properties of the files for their rows. */
struct files {
    const struct step_list *steps;
    int64_t *origin_ns;
    bool *several; /* are its collectives on several devices? */
};

static struct files files_open(const struct comm_query *query)
{
    const struct trace *trace = query->trace;
    const struct collectives *all = query->collectives;
    struct files files = { .steps = step_list_of(trace),
                           .origin_ns = mem_zalloc(trace->file_count + 1, sizeof *files.origin_ns),
                           .several = mem_zalloc(trace->file_count + 1, sizeof *files.several) };
    SCOPED bool *seen = mem_zalloc(trace->file_count + 1, sizeof *seen);
    for (uint32_t file = 0; file < trace->file_count; file++)
        files.origin_ns[file] = trace_file_span(trace, file).start_ns;
    for (size_t i = 0; i < all->count; i++)
        if (i == 0 || all->at[i].place != all->at[i - 1].place) {
            uint32_t file = all->places[all->at[i].place].file;
            files.several[file] = files.several[file] || seen[file];
            seen[file] = true;
        }
    return files;
}

/* "3", or "3, device 1" if a file has several. */
static struct text place_text(const struct comm_query *query, const struct files *files, size_t collective)
{
    const struct collective_place *place =
        &query->collectives->places[query->collectives->at[collective].place];
    long long rank = (long long)selection_rank(query->trace, place->file);
    const char *text = files->several[place->file] && place->device >= 0
                           ? arena_printf(arena_of(query->comm), "%lld, device %" PRId32, rank, place->device)
                           : arena_printf(arena_of(query->comm), "%lld", rank);
    return (struct text){ text, strlen(text) };
}

/* "6, not recorded": whom MATCH waited for. */
static struct text outside_text(const struct comm_query *query, const struct collective_match *match)
{
    return match->outside_rank < 0 ? as_text("not recorded")
                                   : as_text(arena_printf(arena_of(query->comm), "%" PRId64 ", not recorded",
                                                          match->outside_rank));
}

static struct comm_wait wait_of(const struct comm_query *query, const struct files *files,
                                const struct collective_match *match)
{
    const struct collectives *all = query->collectives;
    const size_t *member = query->matches->member + match->first;
    const struct collective *last = &all->at[match->last];
    uint32_t file = all->places[last->place].file;
    const struct step *step = step_list_at(files->steps, file, collective_issued_ns(all, last));
    double factor = collective_bus_factor(last->kind, last->group_size);
    int64_t size = -1;
    struct comm_wait wait = {
        .collective = comm_collective_text(query, last),
        .group = comm_group_text(query, last),
        .number = match->number,
        .step = step ? step->number : TABLE_INT_MISSING,
        .size_bytes = TABLE_INT_MISSING,
        .seen = (int64_t)match->count,
        .transfer_ns = match->transfer_ns - match->outside_ns,
        .longest_wait_ns = match->wait_ns + match->outside_ns,
        .start_ns = trace_start_ns(query->trace, last->event) + match->outside_ns - files->origin_ns[file],
        .transfer_bus_bandwidth = NAN,
    };
    for (size_t i = 0; i < match->count; i++) {
        wait.waited_ns += comm_waited_ns(query, member[i]);
        size = all->at[member[i]].size_bytes > size ? all->at[member[i]].size_bytes : size;
    }
    if (size >= 0)
        wait.size_bytes = size;
    if (match->wait_ns > 0) {
        wait.last = place_text(query, files, match->last);
        wait.first = place_text(query, files, match->earliest);
    }
    if (match->outside_ns > 0)
        wait.last = outside_text(query, match);
    if (size >= 0 && wait.transfer_ns > 0 && !isnan(factor))
        wait.transfer_bus_bandwidth = (double)size * factor / (double)wait.transfer_ns;
    return wait;
}

static bool any_is_held(const struct comm_query *query, const struct collective_match *match)
{
    return ANY(i, match->count, query->held[query->matches->member[match->first + i]]);
}

static const struct key by_waited[] = { DESC(struct comm_wait, waited_ns), KEY_END };

static void find_waits(const struct comm_query *query)
{
    struct comm *comm = query->comm;
    struct files files = files_open(query);
    comm->has_steps = files.steps->count > 0;
    FOR_EACH(match, query->matches) {
        if (!any_is_held(query, match))
            continue;
        *VEC_PUSH(&comm->waits) = wait_of(query, &files, match);
        comm->incomplete += query->collectives->at[match->last].group_size > (int64_t)match->count;
    }
    SORT(&comm->waits, by_waited);
    EACH(free, files.origin_ns, files.several);
}

void comm_find_ranks(const struct comm_query *query)
{
    query->comm->matched = query->matches->count > 0;
    if (!query->comm->matched)
        return;
    find_ranks(query);
    find_waits(query);
}

/* ---- tables ---- */

/* Differences between clocks follow from differences between ends; smaller ones may be caused by the network. */
enum { CLOCKS_DIFFER_NS = 1000000 };

static void notice_clocks(const struct comm *comm, struct result *result)
{
    int64_t least_ns = 0, greatest_ns = 0, apart_ns;
    for (size_t i = 0; i < comm->ranks.count; i++) {
        int64_t clock_ns = comm->ranks.at[i].clock_ns;
        if (clock_ns == TABLE_INT_MISSING)
            continue;
        least_ns = clock_ns < least_ns ? clock_ns : least_ns;
        greatest_ns = clock_ns > greatest_ns ? clock_ns : greatest_ns;
    }
    if (!__builtin_sub_overflow(greatest_ns, least_ns, &apart_ns) && apart_ns > CLOCKS_DIFFER_NS)
        ADD_NOTICE(result, "clocks", 0,
                   "the clocks of the ranks differ by %.1f ms, judging by the ends of their collectives; "
                   "waiting is computed from durations, which need no common clock",
                   (double)apart_ns / 1e6);
}

void comm_add_rank_tables(const struct comm *comm, struct result *result)
{
    struct table *ranks = TABLE_OF_ROWS("ranks", "Ranks", rank_columns, comm->ranks.at, comm->ranks.count);
    if (comm->several_devices)
        TABLE_FLAG(ranks, struct comm_rank, device, 0);
    ranks->sort_column = table_column_at(ranks, offsetof(struct comm_rank, late_ns));
    notice_clocks(comm, result);
    result_add_table(result, ranks);

    struct table *waits = TABLE_OF_ROWS("waits", "Collectives across ranks, longest wait first", wait_columns,
                                        comm->waits.at, comm->waits.count);
    if (comm->has_steps)
        TABLE_FLAG(waits, struct comm_wait, step, 0);
    waits->sort_column = table_column_at(waits, offsetof(struct comm_wait, waited_ns));
    table_drop_hidden(waits);
    result_add_table(result, waits);
    if (comm->incomplete)
        ADD_NOTICE(result, "incomplete_groups", comm->incomplete,
                   "collectives were found on fewer ranks than their group has: the last to arrive may "
                   "be another, and what counts as transfer may hold waiting");
}

const struct table_shape comm_rank_tables[] = {
    TABLE_SHAPE("ranks", rank_columns),
    TABLE_SHAPE("waits", wait_columns),
    { 0 },
};
