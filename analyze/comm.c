/* The selected collectives are sorted by the key of a row; each run of equal keys is a row. */
#include "analyze/comm.h"

#include "analyze/contention/contention.h"

#include "derive/file_set.h"
#include "base/sum.h"
#include "derive/advice.h"
#include "derive/features.h"
#include "derive/host_waits.h"
#include <inttypes.h>
#include <math.h>

const struct trace_wants comm_wants = { .args = COLLECTIVES_WANTS | HOST_WAITS_WANTS | CONTENTION_WANTS };

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct collective_row, collective, "collective", "Collective", TABLE_NAME, "what was done", .flags = TABLE_HIDDEN, .aliases = "name"),
    GROUP_COLUMNS(struct collective_row, key),
    COLUMN(struct collective_row, library, "library", "Library", TABLE_TEXT, "the library that moves the data: NCCL, RCCL, symmetric memory, custom, gloo ...", .flags = TABLE_HIDDEN),
    COLUMN(struct collective_row, group, "group", "Group", TABLE_TEXT, "name of the process group, and its description", .flags = TABLE_HIDDEN),
    COLUMN(struct collective_row, group_size, "ranks", "Ranks", TABLE_COUNT, "ranks in the group", .flags = TABLE_HIDDEN, .aliases = "group_size"),
    COLUMN(struct collective_row, type, "dtype", "Type", TABLE_TEXT, "type of the elements", .flags = TABLE_HIDDEN, .aliases = "type"),
    COLUMN(struct collective_row, size_bytes, "size", "Size", TABLE_BYTES, "bytes of one collective, as NCCL's tests count them", .flags = TABLE_HIDDEN),
    COLUMN(struct collective_row, count, "count", "Calls", TABLE_TALLY, "how often", .aliases = "calls"),
    COLUMN(struct collective_row, time_ns, "time", "Time", TABLE_NS, "durations added up, waiting for others included; of those whose time is known", .aliases = "total sum"),
    COLUMN(struct collective_row, exposed_ns, "exposed", "Exposed", TABLE_NS, "the part of the time in which nothing computed on the device"),
    COLUMN(struct collective_row, bus_bandwidth, "bus_bandwidth", "Bus GB/s", TABLE_RATE, "algorithmic bandwidth times the bus factor, as in NCCL's tests", .aliases = "busbw"),
    COLUMN(struct collective_row, bandwidth, "bandwidth", "GB/s", TABLE_RATE, "algorithmic bandwidth: bytes over time, in 10^9 bytes per second", .aliases = "algorithmic_bandwidth algbw"),
    COLUMN(struct collective_row, waited_ns, "waited", "Waited", TABLE_NS, "the part of the time in which another rank had not arrived; of collectives in flight at once it adds up", .flags = TABLE_HIDDEN, .aliases = "waiting"),
    COLUMN(struct collective_row, transfer_bus_bandwidth, "transfer_bus_bandwidth", "Bus GB/s, transfer", TABLE_RATE, "bus bandwidth over the transfer alone: the time less the waiting", .flags = TABLE_HIDDEN),
    COLUMN(struct collective_row, bytes, "bytes", "Bytes", TABLE_BYTES, "sum of the recorded sizes"),
    COLUMN(struct collective_row, average_ns, "average", "Average", TABLE_NS, "mean duration", .aliases = "avg mean"),
    COLUMN(struct collective_row, min_ns, "min", "Min", TABLE_NS, "shortest", .flags = TABLE_OPTIONAL),
    COLUMN(struct collective_row, max_ns, "max", "Max", TABLE_NS, "longest"),
    COLUMN(struct collective_row, overlapped, "overlapped", "Overlapped", TABLE_SHARE, "share of the time in which the device computed as well"),
    COLUMN(struct collective_row, best_bus_bandwidth, "best_bus_bandwidth", "Best bus GB/s", TABLE_RATE, "largest bus bandwidth of one", .flags = TABLE_OPTIONAL),
    COLUMN(struct collective_row, members, "members", "Members", TABLE_TEXT, "the ranks of the group, as the file lists them", .flags = TABLE_HIDDEN, .aliases = "group_ranks"),
};
/* clang-format on */

/* ---- selection ---- */

struct name_filter {
    bool *names;                  /* by name_id */
    bool kinds[COLLECTIVE_KINDS]; /* by enum collective_kind */
};

/* Find the names of events and kinds that match PATTERN. */
static bool match_names(const struct trace *trace, const char *pattern, struct name_filter *filter,
                        struct tpa_error *err)
{
    SCOPED_OBJECT struct names *kinds = names_open();
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        const char *name = collective_kind_name((enum collective_kind)kind);
        names_add(kinds, name, strlen(name));
    }
    SCOPED bool *matched = selection_match_names(kinds, pattern, NULL, err);
    if (matched)
        memcpy(filter->kinds, matched, sizeof filter->kinds);
    filter->names = matched ? selection_match_names(trace->names, pattern, NULL, err) : NULL;
    return filter->names != NULL;
}

static bool filter_knows(const struct name_filter *filter, const struct trace *trace,
                         const struct collective *one)
{
    return filter->kinds[one->kind] || filter->names[trace->name[one->event]] ||
           (one->op != EVENT_NONE && filter->names[trace->name[one->op]]);
}

/* Is it in the selection, by place and time of issue? */
static bool is_held(const struct comm_query *query, const struct collective *one)
{
    const struct selection *selection = query->selection;
    uint32_t file = query->collectives->places[one->place].file;
    track_id track = query->trace->track[one->event];
    return selection_holds_track(selection, track) && (selection->files == NULL || selection->files[file]) &&
           selection_holds_time(selection, file, collective_issued_ns(query->collectives, one));
}

static bool comm_choose(struct comm_query *query, const struct comm_options *options, struct tpa_error *err)
{
    const struct collectives *all = query->collectives;
    struct name_filter only = { 0 }, without = { 0 };
    bool good = (!options->filter || match_names(query->trace, options->filter, &only, err)) &&
                (!options->exclude || match_names(query->trace, options->exclude, &without, err));
    query->held = mem_zalloc(all->count + 1, sizeof *query->held);
    for (size_t i = 0; good && i < all->count; i++)
        query->held[i] = is_held(query, &all->at[i]) &&
                         (!options->filter || filter_knows(&only, query->trace, &all->at[i])) &&
                         (!options->exclude || !filter_knows(&without, query->trace, &all->at[i]));
    EACH(free, only.names, without.names);
    return good;
}

/* ---- rows ---- */

/* A collective and the key of its row; fields that were not requested are 0. */
struct entry {
    int64_t collective, size;
    const char *library, *type; /* borrowed from a list: equal texts may have several addresses */
    name_id group_name, group_ranks;
    uint32_t group;
    size_t index;
};

static struct entry make_entry(const struct comm_query *query, size_t index)
{
    const struct trace *trace = query->trace;
    const struct collective *one = &query->collectives->at[index];
    struct entry entry = { .index = index,
                           .group = group_of(query->comm->group, one->event, one->launch, one->op) };
    if (query->by & COMM_BY_COLLECTIVE) /* by name of the kernel if the kind is unknown */
        entry.collective = one->kind ? one->kind : -(int64_t)trace->name[one->event] - 1;
    if (query->by & COMM_BY_LIBRARY)
        entry.library = one->library;
    if (query->by & COMM_BY_GROUP) {
        entry.group_name = one->group_name;
        entry.group_ranks = one->group_ranks;
    }
    if (query->by & COMM_BY_TYPE)
        entry.type = one->type;
    if (query->by & COMM_BY_SIZE)
        entry.size = one->size_bytes;
    return entry;
}

static const struct key by_entry[] = { ASC(struct entry, collective), ASC(struct entry, library),
                                       ASC(struct entry, group_name), ASC(struct entry, group_ranks),
                                       ASC(struct entry, type),       ASC(struct entry, size),
                                       ASC(struct entry, group),      KEY_END };

/* Bytes and their times; bytes on the bus are bytes times a factor. */
struct traffic {
    double bytes, bus_bytes;
    int64_t time_ns, bus_time_ns;
};

static void add_traffic(struct traffic *traffic, double bytes, double factor, int64_t time_ns)
{
    if (time_ns <= 0)
        return;
    traffic->bytes += bytes;
    traffic->time_ns += time_ns;
    if (!isnan(factor)) {
        traffic->bus_bytes += bytes * factor;
        traffic->bus_time_ns += time_ns;
    }
}

struct sums {
    int64_t timed, sized;
    int64_t time_ns, exposed_ns, least_ns, most_ns, bytes, waited_ns, group_size;
    bool matched, one_group_size;
    struct traffic whole, transfer;
    double best;
};

static void add_to_sums(struct sums *sums, const struct comm_query *query, size_t index)
{
    const struct collective *one = &query->collectives->at[index];
    const struct trace *trace = query->trace;
    if (sums->group_size == TABLE_INT_MISSING)
        sums->group_size = one->group_size;
    sums->one_group_size = sums->one_group_size && sums->group_size == one->group_size;
    if (one->size_bytes >= 0) {
        sums->sized++;
        sum_add(&sums->bytes, one->size_bytes);
    }
    if (!one->timed)
        return;
    int64_t time_ns = trace_dur_ns(trace, one->event), waited_ns = comm_waited_ns(query, index);
    sums->timed++;
    sums->time_ns += time_ns;
    sums->exposed_ns += time_ns - collective_place_computed(&query->collectives->places[one->place],
                                                            trace_start_ns(trace, one->event),
                                                            trace_end_ns(trace, one->event));
    sums->least_ns = time_ns < sums->least_ns ? time_ns : sums->least_ns;
    sums->most_ns = time_ns > sums->most_ns ? time_ns : sums->most_ns;
    bool matched = query->matches->match_of[index] != MATCH_NONE;
    sums->matched |= matched;
    sums->waited_ns += waited_ns;
    if (one->size_bytes < 0)
        return;
    double bytes = (double)one->size_bytes, factor = collective_bus_factor(one->kind, one->group_size);
    add_traffic(&sums->whole, bytes, factor, time_ns);
    if (matched)
        add_traffic(&sums->transfer, bytes, factor, time_ns - waited_ns);
    if (time_ns > 0 && !isnan(factor))
        sums->best = fmax(sums->best, bytes * factor / (double)time_ns);
}

/* 1 byte per ns is 1 GB/s. */
static double bandwidth_of(double bytes, int64_t time_ns)
{
    return time_ns > 0 ? bytes / (double)time_ns : NAN;
}

/* A row with only its key set. */
static struct collective_row empty_row(const struct comm_query *query, const struct entry *entry)
{
    const struct collective *one = &query->collectives->at[entry->index];
    const int64_t missing = TABLE_INT_MISSING;
    struct collective_row row = {
        .key = group_key(query->comm->group, entry->group),
        .group_size = missing,
        .size_bytes = query->by & COMM_BY_SIZE && one->size_bytes >= 0 ? one->size_bytes : missing,
        .bytes = missing,
        .time_ns = missing,
        .average_ns = missing,
        .min_ns = missing,
        .max_ns = missing,
        .exposed_ns = missing,
        .waited_ns = missing,
        .overlapped = NAN,
        .bandwidth = NAN,
        .bus_bandwidth = NAN,
        .best_bus_bandwidth = NAN,
        .transfer_bus_bandwidth = NAN,
    };
    if (query->by & COMM_BY_COLLECTIVE)
        row.collective = comm_collective_text(query, one);
    if (query->by & COMM_BY_LIBRARY)
        row.library = comm_text(one->library);
    if (query->by & COMM_BY_GROUP) {
        row.group = comm_group_text(query, one);
        row.members = comm_text(names_text(query->trace->texts, one->group_ranks));
    }
    if (query->by & COMM_BY_TYPE)
        row.type = comm_text(one->type);
    return row;
}

static struct collective_row comm_make_row(const struct comm_query *query, const struct entry *entries,
                                           size_t count)
{
    struct sums sums = {
        .least_ns = INT64_MAX, .group_size = TABLE_INT_MISSING, .one_group_size = true, .best = NAN
    };
    for (size_t i = 0; i < count; i++)
        add_to_sums(&sums, query, entries[i].index);
    struct collective_row row = empty_row(query, entries);
    row.count = (int64_t)count;
    if (sums.one_group_size && sums.group_size >= 0)
        row.group_size = sums.group_size;
    if (sums.sized)
        row.bytes = sums.bytes;
    if (sums.timed == 0)
        return row;
    row.time_ns = sums.time_ns;
    row.exposed_ns = sums.exposed_ns;
    row.average_ns = (sums.time_ns + sums.timed / 2) / sums.timed;
    row.min_ns = sums.least_ns;
    row.max_ns = sums.most_ns;
    if (sums.time_ns > 0)
        row.overlapped = (double)(sums.time_ns - sums.exposed_ns) / (double)sums.time_ns;
    row.bandwidth = bandwidth_of(sums.whole.bytes, sums.whole.time_ns);
    row.bus_bandwidth = bandwidth_of(sums.whole.bus_bytes, sums.whole.bus_time_ns);
    row.best_bus_bandwidth = sums.best;
    if (sums.matched) {
        row.waited_ns = sums.waited_ns;
        row.transfer_bus_bandwidth = bandwidth_of(sums.transfer.bus_bytes, sums.transfer.bus_time_ns);
    }
    return row;
}

/* Missing times come last. */
static const struct key by_time[] = { DESC(struct collective_row, time_ns), KEY_END };

static void comm_add_rows(const struct comm_query *query)
{
    const struct collectives *all = query->collectives;
    struct comm *comm = query->comm;
    SCOPED VEC_OF(struct entry) entries = { 0 };
    for (size_t i = 0; i < all->count; i++)
        if (query->held[i])
            *VEC_PUSH(&entries) = make_entry(query, i);
    SORT(&entries, by_entry);
    FOR_GROUPS(&entries, by_entry, first, end)
        *VEC_PUSH(&comm->rows) = comm_make_row(query, &entries.at[first], end - first);
    SORT(&comm->rows, by_time);
}

/* ---- totals ---- */

/* The time in which any selected collective ran, over all places, and its part without computation. */
static void add_unions(const struct comm_query *query)
{
    const struct collectives *all = query->collectives;
    SCOPED_BY(intervals_release) struct intervals when = { 0 }, alone = { 0 };
    FOR_RUNS(first, end, all->count, all->at[end].place == all->at[first].place) {
        const struct collective_place *place = &all->places[all->at[first].place];
        intervals_clear(&when);
        for (size_t i = first; i < end; i++)
            if (query->held[i] && all->at[i].timed)
                intervals_add(&when, trace_start_ns(query->trace, all->at[i].event),
                              trace_end_ns(query->trace, all->at[i].event));
        intervals_merge(&when);
        intervals_subtract(&when, &place->computation, &alone);
        query->comm->union_ns += intervals_length(&when);
        query->comm->exposed_ns += intervals_length(&alone);
    }
}

static void count_unknown(const struct comm_query *query)
{
    const struct collectives *all = query->collectives;
    struct comm *comm = query->comm;
    for (size_t i = 0; i < all->count; i++) {
        const struct collective *one = &all->at[i];
        if (!query->held[i])
            continue;
        comm->untimed += !one->timed;
        comm->without_size += one->size_bytes < 0 && one->kind != COLLECTIVE_BARRIER;
        comm->without_group += one->group_size < 0 && isnan(collective_bus_factor(one->kind, -1)) &&
                               one->kind != COLLECTIVE_BARRIER;
        comm->unmatched += one->timed && one->group_size != 1 && query->matches->match_of[i] == MATCH_NONE;
    }
    comm->without_kernel = (int64_t)all->without_kernel;
    comm->refuted = (int64_t)query->matches->refuted;
    comm->found_groups = (int64_t)query->matches->found_groups;
}

/* What a rank did before its recording began is not recorded: collectives that waited for it then are left out, on all ranks. */
static void comm_leave_out_unrecorded(const struct comm_query *query)
{
    const struct collective_matches *matches = query->matches;
    FOR_EACH(match, matches) {
        bool any = false;
        for (size_t i = 0; match->before_recording && i < match->count; i++) {
            bool *held = &query->held[matches->member[match->first + i]];
            any |= *held;
            *held = false;
        }
        query->comm->before_recording += any;
    }
}

/* Collectives that waited on for ranks that were not recorded, after the last that was had come. */
static void comm_add_outside(const struct comm_query *query)
{
    struct comm *comm = query->comm;
    SCOPED VEC_OF(struct rank_wait) waits = { 0 };
    FOR_EACH(match, query->matches) {
        const size_t *member = query->matches->member + match->first;
        size_t held = SUM(size_t, i, match->count, query->held[member[i]]);
        int64_t waited_ns = (int64_t)held * match->outside_ns;
        comm->outside += waited_ns > 0;
        sum_add(&comm->outside_ns, waited_ns);
        if (waited_ns > 0)
            *VEC_PUSH(&waits) =
                (struct rank_wait){ match->outside_rank, query->collectives->at[match->last].group_size,
                                    waited_ns };
    }
    struct rank_wait longest = rank_wait_longest(waits.at, waits.count);
    comm->outside_rank = longest.rank;
    comm->outside_size = longest.size;
    comm->recorded_ranks = file_set_of(query->trace)->ranks;
}

void comm_append_outside(const struct comm *comm, struct buffer *out)
{
    if (comm->outside_rank < 0) {
        buffer_puts(out, "ranks that were not recorded");
        return;
    }
    buffer_printf(out, "rank %" PRId64 ", which was not recorded", comm->outside_rank);
    if (comm->outside_size > 0)
        buffer_printf(out, " (%zu of %" PRId64 " ranks are here)", comm->recorded_ranks, comm->outside_size);
}

struct comm *comm_analyze(const struct trace *trace, const struct selection *selection,
                          const struct comm_options *options, struct tpa_error *err)
{
    struct comm *comm = arena_open(sizeof *comm);
    ARENA_OWNS(arena_of(comm), &comm->rows, &comm->ranks, &comm->waits, &comm->lateness, &comm->blame);
    struct comm_query query = { .trace = trace,
                                .selection = selection,
                                .by = options->by ? options->by : COMM_BY_DEFAULT,
                                .comm = comm };
    query.collectives = collectives_open(trace);
    query.matches = collective_matches_open(query.collectives);
    comm->group = arena_hold(arena_of(comm), group_open(trace, query.by & (BY_OWN(0) - 1)));
    bool good = comm_choose(&query, options, err);
    if (good) {
        comm_leave_out_unrecorded(&query);
        comm_add_rows(&query);
        add_unions(&query);
        comm_add_outside(&query);
        comm_find_ranks(&query);
        comm_find_lateness(&query);
        comm_find_blame(&query);
        count_unknown(&query);
    }
    free(query.held);
    arena_free(query.matches);
    arena_free(query.collectives);
    if (good)
        return comm;
    arena_free(comm);
    return NULL;
}

/* ---- the command ---- */

static void comm_add_columns(struct table *table, const struct comm *comm, unsigned by)
{
    group_fill_texts(comm->group, table, offsetof(struct collective_row, key));
    if (by & COMM_BY_COLLECTIVE)
        TABLE_FLAG(table, struct collective_row, collective, 0);
    if (by & COMM_BY_LIBRARY)
        TABLE_FLAG(table, struct collective_row, library, 0);
    if (by & COMM_BY_GROUP) {
        TABLE_FLAG(table, struct collective_row, group, 0);
        TABLE_FLAG(table, struct collective_row, group_size, 0);
        TABLE_FLAG(table, struct collective_row, members, TABLE_OPTIONAL);
    }
    if (by & COMM_BY_TYPE)
        TABLE_FLAG(table, struct collective_row, type, 0);
    if (by & COMM_BY_SIZE)
        TABLE_FLAG(table, struct collective_row, size_bytes, 0);
    if (comm->matched) {
        TABLE_FLAG(table, struct collective_row, waited_ns, 0);
        TABLE_FLAG(table, struct collective_row, transfer_bus_bandwidth, 0);
    }
}

static struct table *collectives_table(const struct comm *comm, unsigned by)
{
    struct table *table =
        TABLE_OF_ROWS("collectives", "Collectives", columns, comm->rows.at, comm->rows.count);
    table->none = "No collective ran here.";
    comm_add_columns(table, comm, by);
    table->sort_column = table_column_at(table, offsetof(struct collective_row, time_ns));
    table_add_footer(table, "communication", "Communication", TABLE_NS, table_int(comm->union_ns));
    table_add_footer(table, "exposed_communication", "of it exposed", TABLE_NS, table_int(comm->exposed_ns));
    if (comm->union_ns > 0)
        table_add_footer(table, "exposed_share", "exposed share", TABLE_SHARE,
                         table_number((double)comm->exposed_ns / (double)comm->union_ns));
    if (comm->matched)
        table_add_footer(table, "waited_communication", "of it waiting for other ranks", TABLE_NS,
                         table_int(comm->waited_union_ns));
    table_drop_hidden(table);
    return table;
}

/* That COUNT collectives lack what MISSING says; what helps, in the words of the framework, where something does. */
static void add_missing(const struct trace *trace, struct result *result, const char *kind, int64_t count,
                        const char *missing, enum advice advice)
{
    const char *help = trace_advice(trace, advice);
    if (count)
        ADD_NOTICE(result, kind, count, "%" PRId64 " collectives %s%s%s", count, missing, help ? "; " : "",
                   help ? help : "");
}

static void comm_add_notices(const struct trace *trace, const struct comm *comm, struct result *result)
{
    add_missing(trace, result, "not_timed", comm->untimed,
                "were issued, but nothing was recorded on the device: when they ran is not known",
                ADVICE_RECORD_DEVICE);
    add_missing(trace, result, "no_size", comm->without_size, "record no size, so they have no bandwidth",
                ADVICE_RECORD_SIZES);
    add_missing(trace, result, "no_group", comm->without_group,
                "record no process group, so its size and with it the bus bandwidth are not known",
                ADVICE_RECORD_GROUPS);
    if (comm->without_kernel)
        ADD_NOTICE(
            result, "without_kernel", comm->without_kernel,
            "%" PRId64
            " collectives were issued for which no kernel was found: it ran outside of the recording, does not record its "
            "call, or carried out several at once; they are not among the rows",
            comm->without_kernel);
    if (comm->before_recording)
        ADD_NOTICE(
            result, "before_recording", comm->before_recording,
            "%" PRId64
            " collective%s waited for a rank that was late since before its recording began: what it did then is not recorded; %s left out",
            comm->before_recording, comm->before_recording == 1 ? "" : "s",
            comm->before_recording == 1 ? "it is" : "they are");
    if (comm->outside) {
        SCOPED struct buffer whom = { 0 };
        comm_append_outside(comm, &whom);
        ADD_NOTICE(
            result, "outside", comm->outside,
            "%" PRId64
            " collective%s waited for %s, for %s on all ranks together%s: no rank here is to blame; give %s",
            comm->outside, comm->outside == 1 ? "" : "s", whom.at, TIME_TEXT(comm->outside_ns),
            comm->outside_rank < 0 ? " longer than larger ones take" : "",
            comm->outside_rank < 0 ? "the recordings of all ranks" : "its recording, too");
    }
    if (!comm->matched && !comm->refuted && comm->unmatched)
        ADD_NOTICE(result, "one_rank", comm->unmatched,
                   "the times hold the waiting for other ranks; give the traces of several ranks to separate "
                   "waiting from transfer");
    else if (comm->unmatched)
        ADD_NOTICE(result, "unmatched", comm->unmatched,
                   "%" PRId64 " collectives have no counterpart in the files of the other ranks; all their "
                   "time counts as transfer",
                   comm->unmatched);
    if (comm->found_groups)
        ADD_NOTICE(
            result, "groups_unknown", comm->found_groups,
            "ranks record no process groups, and not all of them end their collectives together: those that do, "
            "%" PRId64
            " groups of one rank or more, are judged by themselves; who waited for a rank of another is not known",
            comm->found_groups);
    if (comm->refuted)
        ADD_NOTICE(result, "not_together", comm->refuted,
                   "%" PRId64
                   " collectives did not end together with those of the same place in the order, so "
                   "they are not the same: a recording lacks some that another has, or the files are of "
                   "different runs",
                   comm->refuted);
}

struct comm_command {
    bool contention;
};

static const struct comm_command defaults = { 0 };

static const struct opt command_options[] = {
    OPT_FLAG(0, "contention", struct comm_command, contention,
             "show what runs slower because of the overlap, also if nothing of it can be judged"),
    OPT_END,
};

/* Is there computation that communication may slow down, or that slows it down? */
static bool any_computes(const struct trace *trace)
{
    const struct gpu_events *gpu = gpu_events_of(trace);
    return ANY(i, gpu->count, gpu->work[i] == GPU_COMPUTATION);
}

static bool run_comm(const struct analysis_query *query, struct result *result, struct tpa_error *err)
{
    struct comm_options options = { .by = query->by, .filter = query->filter, .exclude = query->exclude };
    if (!file_set_check_job(query->trace, err))
        return false;
    SCOPED_OBJECT struct comm *comm = comm_analyze(query->trace, query->selection, &options, err);
    if (!comm)
        return false;
    const struct comm_command *own = query->options;
    bool is_requested = own && own->contention;
    result_add_table(result, collectives_table(comm, options.by));
    if (is_requested || any_computes(query->trace)) {
        SCOPED_OBJECT const struct contention *contention =
            contention_analyze(query->trace, query->selection);
        contention_add_comm_tables(contention, query->selection, is_requested, result);
    }
    if (comm->matched)
        comm_add_rank_tables(comm, result);
    comm_add_lateness_table(comm, result);
    comm_add_notices(query->trace, comm, result);
    return true;
}

/* In the order of COMM_BY_COLLECTIVE and so on. */
static const struct opt_choice own_words[] = {
    { "collective", "what was done: all_reduce, broadcast and so on", "name" },
    { "library", "NCCL, RCCL, gloo and so on", NULL },
    { "group", "process group", NULL },
    { "dtype", "type of the elements", "type" },
    { "size", "size of the collective", NULL },
    { 0 },
};

static const struct table_shape tables[] = {
    TABLE_SHAPE("collectives", columns),
    { 0 },
};

const struct analysis analysis_comm = {
    .name = "comm",
    .summary = "collectives: size, bandwidth, what they expose, and who waited for whom",
    .description =
        "One row per collective, library, process group, type and size: how often, how long, how much of it was "
        "exposed because nothing computed beside it, and the bandwidths that NCCL's tests would print. NCCL, RCCL, "
        "symmetric memory, custom all-reduce and others are known by their kernels, operators and arguments; gloo, MPI "
        "and UCC by their regions on the host.\n\n"
        "Given the traces of several ranks, the same collective is found on each. The last to arrive shows what the "
        "transfer alone takes; what the others took longer, they waited. A second table shows per rank how often it "
        "came last, by how much, and what it did meanwhile; a third the collectives that cost the most waiting; the last, step by "
        "step, what the last rank did longer than the rank in the middle since the collective before.\n\n"
        "--steps and --range choose by when a collective was issued, --filter and --exclude by its name, its kernel's and "
        "its operator's.",
    .schema = "tpa.comm/1",
    .examples = {
        "tpa comm rank0.json.gz",
        "tpa comm traces/  # every rank: who waits for whom",
        "tpa comm --by collective,step --filter all_reduce trace.json",
        "tpa comm --by op,size --sort bus_bandwidth --reverse trace.json",
    },
    .wants = &comm_wants,
    .needs = FEATURE_COLLECTIVES,
    .dimensions = BY(RANK) | BY(CYCLE) | BY(DEVICE) | BY(STREAM) | BY(STEP) | BY(OP) | BY(KERNEL),
    .by_default = COMM_BY_DEFAULT,
    .own_words = own_words,
    .by_help = "what makes a row; collective,library,group,dtype,size when not given",
    .options = command_options,
    ANALYSIS_DEFAULTS(defaults),
    .filters_rows = true,
    .sorts = true,
    .tables = { tables, contention_comm_shapes, comm_rank_tables, comm_late_tables },
    .run = run_comm,
    .section = "Communication",
    .section_key = "communication",
    .section_intro =
        "Collectives: size, bandwidth, what they expose, and who waited for whom.",
    .charts = "overlap",
};
