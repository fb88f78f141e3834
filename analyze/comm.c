/*
 * comm.c - see comm.h. Collectives that count are sorted by what makes a row; each run of equals is one.
 */
#include "analyze/comm.h"

#include "analyze/comm_parts.h"
#include "base/buffer.h"
#include "base/memory.h"
#include "facts/step_list.h"
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

const struct trace_wants comm_wants = { .args = COLLECTIVES_WANTS };

enum column {
    COLUMN_COLLECTIVE,
    COLUMN_OPERATOR,
    COLUMN_KERNEL,
    COLUMN_RANK,
    COLUMN_DEVICE,
    COLUMN_STREAM,
    COLUMN_STEP,
    COLUMN_LIBRARY,
    COLUMN_GROUP,
    COLUMN_RANKS,
    COLUMN_TYPE,
    COLUMN_SIZE,
    COLUMN_COUNT,
    COLUMN_TIME,
    COLUMN_EXPOSED,
    COLUMN_BUS_BANDWIDTH,
    COLUMN_BANDWIDTH,
    COLUMN_WAITED,
    COLUMN_TRANSFER_BANDWIDTH,
    COLUMN_BYTES,
    COLUMN_AVERAGE,
    COLUMN_MIN,
    COLUMN_MAX,
    COLUMN_OVERLAPPED,
    COLUMN_BEST_BANDWIDTH,
    COLUMN_MEMBERS,
    COLUMNS
};

/* clang-format off */
static const struct table_column columns[COLUMNS] = {
    { "collective", "Collective", TABLE_NAME, "what was done", TABLE_HIDDEN, "name" },
    { "operator", "Operator", TABLE_NAME, "the operator that issued it", TABLE_HIDDEN, "op" },
    { "kernel", "Kernel", TABLE_NAME, "the kernel, or the region on the host", TABLE_HIDDEN, NULL },
    { "rank", "Rank", TABLE_COUNT, "rank of the file, or its place among the files", TABLE_HIDDEN, NULL },
    { "device", "Device", TABLE_COUNT, "number of the device; missing on the host", TABLE_HIDDEN, NULL },
    { "stream", "Stream", TABLE_COUNT, "number of the stream", TABLE_HIDDEN, NULL },
    { "step", "Step", TABLE_COUNT, "number of the step it was issued in", TABLE_HIDDEN, NULL },
    { "library", "Library", TABLE_TEXT, "who moves the data: NCCL, RCCL, symmetric memory, custom, gloo ...", TABLE_HIDDEN, NULL },
    { "group", "Group", TABLE_TEXT, "name of the process group, and its description", TABLE_HIDDEN, NULL },
    { "ranks", "Ranks", TABLE_COUNT, "ranks in the group", TABLE_HIDDEN, "group_size" },
    { "dtype", "Type", TABLE_TEXT, "type of the elements", TABLE_HIDDEN, "type" },
    { "size", "Size", TABLE_BYTES, "bytes of one collective, as NCCL's tests count them", TABLE_HIDDEN, NULL },
    { "count", "Count", TABLE_COUNT, "how often", 0, "calls" },
    { "time", "Time", TABLE_NS, "durations added up, waiting for others included; of those whose time is known", 0, "total sum" },
    { "exposed", "Exposed", TABLE_NS, "the part of the time in which nothing computed on the device", 0, NULL },
    { "bus_bandwidth", "Bus GB/s", TABLE_NUMBER, "algorithmic bandwidth times what the bus carries per byte, as in NCCL's tests", 0, "busbw" },
    { "bandwidth", "GB/s", TABLE_NUMBER, "algorithmic bandwidth: bytes over time, in 10^9 bytes per second", 0, "algorithmic_bandwidth algbw" },
    { "waited", "Waited", TABLE_NS, "the part of the time in which another rank had not arrived", TABLE_HIDDEN, "waiting" },
    { "transfer_bus_bandwidth", "Bus GB/s, transfer", TABLE_NUMBER, "bus bandwidth over the transfer alone: the time on the rank that arrived last", TABLE_HIDDEN, NULL },
    { "bytes", "Bytes", TABLE_BYTES, "sizes added up, of those that tell one", 0, NULL },
    { "average", "Average", TABLE_NS, "mean duration", 0, "avg mean" },
    { "min", "Min", TABLE_NS, "shortest", TABLE_OPTIONAL, NULL },
    { "max", "Max", TABLE_NS, "longest", 0, NULL },
    { "overlapped", "Overlapped", TABLE_SHARE, "share of the time in which the device computed as well", 0, NULL },
    { "best_bus_bandwidth", "Best bus GB/s", TABLE_NUMBER, "largest bus bandwidth of one", TABLE_OPTIONAL, NULL },
    { "members", "Members", TABLE_TEXT, "the ranks of the group, as the file lists them", TABLE_HIDDEN, "group_ranks" },
};
/* clang-format on */

#define NOT_TOLD INT64_MIN

/* What makes a row; parts that are not asked for are 0. */
struct entry {
    int64_t key[12];
    size_t index;
};

enum { KEY_PARTS = sizeof((struct entry *)0)->key / sizeof(int64_t) };

/* ---- which count ---- */

struct name_filter {
    bool *names;                  /* by name_id */
    bool kinds[COLLECTIVE_KINDS]; /* by enum collective_kind */
};

/* Which names, of events and of kinds, match PATTERN? */
static bool match_names(const struct trace *trace, const char *pattern, struct name_filter *filter,
                        struct tpa_error *err)
{
    struct names *kinds = names_open();
    for (int kind = 0; kind < COLLECTIVE_KINDS; kind++) {
        const char *name = collective_kind_name((enum collective_kind)kind);
        names_add(kinds, name, strlen(name));
    }
    bool *matched = selection_match_names(kinds, pattern, NULL, err);
    if (matched)
        memcpy(filter->kinds, matched, sizeof filter->kinds);
    filter->names = matched ? selection_match_names(trace->names, pattern, NULL, err) : NULL;
    free(matched);
    names_free(kinds);
    return filter->names != NULL;
}

static bool filter_knows(const struct name_filter *filter, const struct trace *trace,
                         const struct collective *one)
{
    return filter->kinds[one->kind] || filter->names[trace->name[one->event]] ||
           (one->op != EVENT_NONE && filter->names[trace->name[one->op]]);
}

/* Was it issued where and when it was asked for? */
static bool is_held(const struct comm *comm, const struct collective *one)
{
    const struct selection *selection = comm->selection;
    uint32_t file = comm->collectives->places[one->place].file;
    track_id track = comm->trace->track[one->event];
    return selection_holds_track(selection, track) && (selection->files == NULL || selection->files[file]) &&
           selection_holds_time(selection, file, collective_issued_ns(comm->collectives, one));
}

static bool choose(struct comm *comm, const struct comm_options *options, struct tpa_error *err)
{
    const struct collectives *all = comm->collectives;
    struct name_filter only = { 0 }, without = { 0 };
    bool good = (!options->filter || match_names(comm->trace, options->filter, &only, err)) &&
                (!options->exclude || match_names(comm->trace, options->exclude, &without, err));
    comm->held = mem_zalloc(all->count + 1, sizeof *comm->held);
    for (size_t i = 0; good && i < all->count; i++)
        comm->held[i] = is_held(comm, &all->at[i]) &&
                        (!options->filter || filter_knows(&only, comm->trace, &all->at[i])) &&
                        (!options->exclude || !filter_knows(&without, comm->trace, &all->at[i]));
    free(only.names);
    free(without.names);
    return good;
}

/* ---- rows ---- */

void comm_show_group(const struct comm *comm, const struct collective *one, struct buffer *out)
{
    const struct names *texts = comm->trace->texts;
    const char *name = names_text(texts, one->group_name),
               *description = names_text(texts, one->group_description);
    bool described = *description && strcmp(description, "undefined") != 0;
    if (*name && described)
        buffer_printf(out, "%s (%s)", name, description);
    else
        buffer_puts(out, *name ? name : described ? description : "");
}

static int64_t text_key(struct names *texts, const char *text)
{
    return text ? (int64_t)names_add(texts, text, strlen(text)) : NOT_TOLD;
}

/* TEXTS numbers what is a text. */
static struct entry make_entry(const struct comm *comm, const struct step_list *steps, unsigned by,
                               struct names *texts, size_t index)
{
    const struct trace *trace = comm->trace;
    const struct collective *one = &comm->collectives->at[index];
    const struct collective_place *place = &comm->collectives->places[one->place];
    struct entry entry = { .index = index };
    if (by & COMM_COLLECTIVE) /* what is of no known kind goes by the name of its kernel */
        entry.key[0] = one->kind ? one->kind : -(int64_t)trace->name[one->event] - 1;
    if (by & COMM_LIBRARY)
        entry.key[1] = text_key(texts, one->library);
    if (by & COMM_GROUP) {
        entry.key[2] = one->group_name;
        entry.key[3] = one->group_ranks;
    }
    if (by & COMM_TYPE)
        entry.key[4] = text_key(texts, one->type);
    if (by & COMM_SIZE)
        entry.key[5] = one->size_bytes;
    if (by & COMM_OPERATOR)
        entry.key[6] = one->op == EVENT_NONE ? NOT_TOLD : trace->name[one->op];
    if (by & COMM_KERNEL)
        entry.key[7] = trace->name[one->event];
    if (by & COMM_RANK)
        entry.key[8] = place->file;
    if (by & COMM_DEVICE)
        entry.key[9] = one->place;
    if (by & COMM_STREAM)
        entry.key[10] = trace->track[one->event];
    if (by & COMM_STEP) {
        const struct step *step =
            step_list_at(steps, place->file, collective_issued_ns(comm->collectives, one));
        entry.key[11] = step ? step->number : NOT_TOLD;
    }
    return entry;
}

static int compare_entries(const void *left, const void *right)
{
    const struct entry *a = left, *b = right;
    for (size_t i = 0; i < KEY_PARTS; i++)
        if (a->key[i] != b->key[i])
            return a->key[i] < b->key[i] ? -1 : 1;
    return a->index < b->index ? -1 : a->index > b->index;
}

static bool same_row(const struct entry *a, const struct entry *b)
{
    return memcmp(a->key, b->key, sizeof a->key) == 0;
}

static void set_text(struct table *table, size_t row, size_t column, const char *text)
{
    if (text && *text)
        table_set_text(table, row, column, text, strlen(text));
}

/* What is the same for all of the row. */
static void set_key(struct table *table, size_t row, const struct comm *comm, unsigned by,
                    const struct entry *entry)
{
    const struct trace *trace = comm->trace;
    const struct collective *one = &comm->collectives->at[entry->index];
    const struct collective_place *place = &comm->collectives->places[one->place];
    if (by & COMM_COLLECTIVE)
        set_text(table, row, COLUMN_COLLECTIVE,
                 one->kind ? collective_kind_name(one->kind) : trace_name(trace, one->event));
    if (by & COMM_LIBRARY)
        set_text(table, row, COLUMN_LIBRARY, one->library);
    if (by & COMM_GROUP) {
        struct buffer group = { 0 };
        comm_show_group(comm, one, &group);
        set_text(table, row, COLUMN_GROUP, group.at);
        buffer_release(&group);
        set_text(table, row, COLUMN_MEMBERS, names_text(trace->texts, one->group_ranks));
    }
    if (by & COMM_TYPE)
        set_text(table, row, COLUMN_TYPE, one->type);
    if (by & COMM_SIZE && one->size_bytes >= 0)
        table_set_int(table, row, COLUMN_SIZE, one->size_bytes);
    if (by & COMM_OPERATOR)
        set_text(table, row, COLUMN_OPERATOR,
                 one->op == EVENT_NONE ? "(launch not recorded)" : trace_name(trace, one->op));
    if (by & COMM_KERNEL)
        set_text(table, row, COLUMN_KERNEL, trace_name(trace, one->event));
    if (by & (COMM_RANK | COMM_DEVICE | COMM_STREAM))
        table_set_int(table, row, COLUMN_RANK, selection_rank(trace, place->file));
    if (by & (COMM_DEVICE | COMM_STREAM) && place->device >= 0)
        table_set_int(table, row, COLUMN_DEVICE, place->device);
    if (by & COMM_STREAM && place->device >= 0)
        table_set_int(table, row, COLUMN_STREAM, trace->tracks[trace->track[one->event]].stream);
    if (by & COMM_STEP && entry->key[11] != NOT_TOLD)
        table_set_int(table, row, COLUMN_STEP, entry->key[11]);
}

/* Bytes and the times they took; the bus carries bytes times a factor. */
struct traffic {
    double bytes, bus_bytes;
    int64_t time_ns, bus_time_ns;
};

static void add_traffic(struct traffic *traffic, double bytes, double factor, int64_t time_ns)
{
    traffic->bytes += bytes;
    traffic->time_ns += time_ns;
    if (!isnan(factor)) {
        traffic->bus_bytes += bytes * factor;
        traffic->bus_time_ns += time_ns;
    }
}

struct sums {
    size_t timed, sized, overlapping;
    int64_t time_ns, exposed_ns, least_ns, most_ns, bytes, waited_ns, group_size;
    bool matched, one_group_size;
    struct traffic whole, transfer;
    double best;
};

static void add_to_sums(struct sums *sums, const struct comm *comm, size_t index)
{
    const struct collective *one = &comm->collectives->at[index];
    const struct trace *trace = comm->trace;
    if (sums->group_size == NOT_TOLD)
        sums->group_size = one->group_size;
    sums->one_group_size = sums->one_group_size && sums->group_size == one->group_size;
    if (one->size_bytes >= 0) {
        sums->sized++;
        if (__builtin_add_overflow(sums->bytes, one->size_bytes, &sums->bytes))
            sums->bytes = INT64_MAX; /* only a damaged file tells such sizes */
    }
    if (!one->timed)
        return;
    int64_t time_ns = comm_time(comm, one), start_ns = trace->start_ns[one->event];
    sums->timed++;
    sums->time_ns += time_ns;
    sums->exposed_ns += time_ns - collective_place_computed(&comm->collectives->places[one->place], start_ns,
                                                            trace_end_ns(trace, one->event));
    sums->least_ns = time_ns < sums->least_ns ? time_ns : sums->least_ns;
    sums->most_ns = time_ns > sums->most_ns ? time_ns : sums->most_ns;
    size_t match = comm->matches->match_of[index];
    int64_t transfer_ns = match == MATCH_NONE ? time_ns : comm->matches->at[match].transfer_ns;
    sums->matched |= match != MATCH_NONE;
    sums->waited_ns += time_ns - transfer_ns;
    if (one->size_bytes < 0)
        return;
    double bytes = (double)one->size_bytes, factor = collective_bus_factor(one->kind, one->group_size);
    if (time_ns > 0)
        add_traffic(&sums->whole, bytes, factor, time_ns);
    if (match != MATCH_NONE && transfer_ns > 0)
        add_traffic(&sums->transfer, bytes, factor, transfer_ns);
    if (time_ns > 0 && !isnan(factor))
        sums->best = fmax(sums->best, bytes * factor / (double)time_ns);
}

static void set_bandwidth(struct table *table, size_t row, size_t column, double bytes, int64_t time_ns)
{
    if (time_ns > 0)
        table_set_number(table, row, column, bytes / (double)time_ns); /* 1 byte per ns is 1 GB/s */
}

static void add_row(struct table *table, const struct comm *comm, unsigned by, const struct entry *entries,
                    size_t count)
{
    struct sums sums = { .least_ns = INT64_MAX, .group_size = NOT_TOLD, .one_group_size = true, .best = -1 };
    size_t row = table_add_row(table);
    for (size_t i = 0; i < count; i++)
        add_to_sums(&sums, comm, entries[i].index);
    set_key(table, row, comm, by, &entries[0]);
    if (sums.one_group_size && sums.group_size >= 0)
        table_set_int(table, row, COLUMN_RANKS, sums.group_size);
    table_set_int(table, row, COLUMN_COUNT, (int64_t)count);
    if (sums.sized)
        table_set_int(table, row, COLUMN_BYTES, sums.bytes);
    if (sums.timed == 0)
        return;
    table_set_int(table, row, COLUMN_TIME, sums.time_ns);
    table_set_int(table, row, COLUMN_EXPOSED, sums.exposed_ns);
    table_set_int(table, row, COLUMN_AVERAGE,
                  (sums.time_ns + (int64_t)(sums.timed / 2)) / (int64_t)sums.timed);
    table_set_int(table, row, COLUMN_MIN, sums.least_ns);
    table_set_int(table, row, COLUMN_MAX, sums.most_ns);
    if (sums.time_ns > 0)
        table_set_number(table, row, COLUMN_OVERLAPPED,
                         (double)(sums.time_ns - sums.exposed_ns) / (double)sums.time_ns);
    set_bandwidth(table, row, COLUMN_BANDWIDTH, sums.whole.bytes, sums.whole.time_ns);
    set_bandwidth(table, row, COLUMN_BUS_BANDWIDTH, sums.whole.bus_bytes, sums.whole.bus_time_ns);
    if (sums.best >= 0)
        table_set_number(table, row, COLUMN_BEST_BANDWIDTH, sums.best);
    if (sums.matched) {
        table_set_int(table, row, COLUMN_WAITED, sums.waited_ns);
        set_bandwidth(table, row, COLUMN_TRANSFER_BANDWIDTH, sums.transfer.bus_bytes,
                      sums.transfer.bus_time_ns);
    }
}

static void show_columns(struct table *table, const struct comm *comm, unsigned by)
{
    bool several = comm->trace->file_count > 1;
    bool shown[COLUMNS] = {
        [COLUMN_COLLECTIVE] = by & COMM_COLLECTIVE,
        [COLUMN_LIBRARY] = by & COMM_LIBRARY,
        [COLUMN_GROUP] = by & COMM_GROUP,
        [COLUMN_RANKS] = by & COMM_GROUP,
        [COLUMN_TYPE] = by & COMM_TYPE,
        [COLUMN_SIZE] = by & COMM_SIZE,
        [COLUMN_OPERATOR] = by & COMM_OPERATOR,
        [COLUMN_KERNEL] = by & COMM_KERNEL,
        [COLUMN_RANK] = by & COMM_RANK || (several && by & (COMM_DEVICE | COMM_STREAM)),
        [COLUMN_DEVICE] = by & (COMM_DEVICE | COMM_STREAM),
        [COLUMN_STREAM] = by & COMM_STREAM,
        [COLUMN_STEP] = by & COMM_STEP,
        [COLUMN_MEMBERS] = by & COMM_GROUP,
        [COLUMN_WAITED] = comm->matches->count > 0,
        [COLUMN_TRANSFER_BANDWIDTH] = comm->matches->count > 0,
    };
    for (size_t i = 0; i < COLUMNS; i++)
        if (shown[i])
            table->columns[i].flags = i == COLUMN_MEMBERS ? TABLE_OPTIONAL : 0;
}

/* The time in which any of those held ran, over all places, and how much of it nothing computed in. */
static void add_unions(struct table *table, const struct comm *comm)
{
    const struct collectives *all = comm->collectives;
    int64_t union_ns = 0, exposed_ns = 0;
    struct intervals when = { 0 }, alone = { 0 };
    for (size_t first = 0, end; first < all->count; first = end) {
        const struct collective_place *place = &all->places[all->at[first].place];
        intervals_clear(&when);
        for (end = first; end < all->count && all->at[end].place == all->at[first].place; end++)
            if (comm->held[end] && all->at[end].timed)
                intervals_add(&when, comm->trace->start_ns[all->at[end].event],
                              trace_end_ns(comm->trace, all->at[end].event));
        intervals_merge(&when);
        intervals_subtract(&when, &place->computation, &alone);
        union_ns += intervals_length(&when);
        exposed_ns += intervals_length(&alone);
    }
    intervals_release(&when);
    intervals_release(&alone);
    table_add_footer(table, "communication", "Communication", TABLE_NS, table_int(union_ns));
    table_add_footer(table, "exposed_communication", "of it exposed", TABLE_NS, table_int(exposed_ns));
    if (union_ns > 0)
        table_add_footer(table, "exposed_share", "exposed share", TABLE_SHARE,
                         table_number((double)exposed_ns / (double)union_ns));
}

static void add_collectives(const struct comm *comm, unsigned by, struct result *result)
{
    const struct collectives *all = comm->collectives;
    struct table *table = table_open("collectives", "Collectives", columns, COLUMNS);
    struct step_list *steps = by & COMM_STEP ? step_list_open(comm->trace) : NULL;
    struct names *texts = names_open();
    struct entry *entries = mem_alloc((all->count + 1) * sizeof *entries);
    size_t count = 0;
    for (size_t i = 0; i < all->count; i++)
        if (comm->held[i])
            entries[count++] = make_entry(comm, steps, by, texts, i);
    if (count)
        qsort(entries, count, sizeof *entries, compare_entries);
    for (size_t first = 0, end; first < count; first = end) {
        for (end = first + 1; end < count && same_row(&entries[first], &entries[end]); end++)
            ;
        add_row(table, comm, by, entries + first, end - first);
    }
    show_columns(table, comm, by);
    table_sort(table, COLUMN_TIME, false);
    add_unions(table, comm);
    table_drop_hidden(table);
    result_add_table(result, table);
    free(entries);
    names_free(texts);
    step_list_free(steps);
}

/* ---- notices ---- */

static void add_notices(const struct comm *comm, struct result *result)
{
    const struct collectives *all = comm->collectives;
    int64_t untimed = 0, no_size = 0, no_group = 0, alone = 0;
    for (size_t i = 0; i < all->count; i++) {
        const struct collective *one = &all->at[i];
        if (!comm->held[i])
            continue;
        untimed += !one->timed;
        no_size += one->size_bytes < 0 && one->kind != COLLECTIVE_BARRIER;
        no_group += one->group_size < 0 && isnan(collective_bus_factor(one->kind, -1)) &&
                    one->kind != COLLECTIVE_BARRIER;
        alone += one->timed && one->group_size != 1 && comm->matches->match_of[i] == MATCH_NONE;
    }
    if (untimed)
        result_add_notice(result, "not_timed", untimed, NULL, TPA_NOWHERE,
                          "%" PRId64
                          " collectives were issued, but nothing was recorded on the device: when they "
                          "ran is not known; profile with ProfilerActivity.CUDA",
                          untimed);
    if (no_size)
        result_add_notice(result, "no_size", no_size, NULL, TPA_NOWHERE,
                          "%" PRId64
                          " collectives tell no size, so they have no bandwidth; PyTorch since 2.2 "
                          "records it of NCCL, and record_shapes=True does for other libraries",
                          no_size);
    if (no_group)
        result_add_notice(
            result, "no_group", no_group, NULL, TPA_NOWHERE,
            "%" PRId64 " collectives tell no process group, so its size and with it the bus bandwidth "
            "are not known; PyTorch since 2.2 records it of NCCL, and lists the groups of a job",
            no_group);
    if (all->without_kernel)
        result_add_notice(result, "without_kernel", (int64_t)all->without_kernel, NULL, TPA_NOWHERE,
                          "%" PRIu64
                          " collectives were issued for which no kernel was found: it ran outside of "
                          "the recording, or carried out several at once; they are not among the rows",
                          all->without_kernel);
    if (comm->matches->count == 0 && comm->matches->refuted == 0 && alone)
        result_add_notice(
            result, "one_rank", alone, NULL, TPA_NOWHERE,
            "the times hold the waiting for other ranks; give the traces of several ranks to tell "
            "waiting from transfer");
    else if (alone)
        result_add_notice(result, "unmatched", alone, NULL, TPA_NOWHERE,
                          "%" PRId64
                          " collectives have no counterpart in the files of the other ranks; all their "
                          "time counts as transfer",
                          alone);
    if (comm->matches->refuted)
        result_add_notice(
            result, "not_together", (int64_t)comm->matches->refuted, NULL, TPA_NOWHERE,
            "%" PRIu64 " collectives did not end together with those of the same place in the order, so "
            "they are not the same: a recording lacks some that another has, or the files are of "
            "different runs",
            comm->matches->refuted);
}

/* ---- the whole ---- */

bool comm_add_tables(const struct trace *trace, const struct selection *selection,
                     const struct comm_options *options, struct result *result, struct tpa_error *err)
{
    struct comm comm = { .trace = trace, .selection = selection };
    comm.collectives = collectives_open(trace);
    comm.matches = collective_matches_open(comm.collectives);
    bool good = choose(&comm, options, err);
    if (good) {
        add_collectives(&comm, options->by ? options->by : COMM_BY_DEFAULT, result);
        if (comm.matches->count)
            comm_add_rank_tables(&comm, result);
        add_notices(&comm, result);
    }
    free(comm.held);
    collective_matches_free(comm.matches);
    collectives_free(comm.collectives);
    return good;
}
