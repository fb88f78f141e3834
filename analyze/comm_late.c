/* After the previous collective with all members of this one, each rank worked on its own: so the lengths of these
 * intervals are compared, each on the clock of its rank. The interval of the last rank is compared with that of the
 * median rank, and both are split into work, other communication, and gaps by cause, where gaps caused by the host are
 * split into operators and the time between them. The parts cover the whole interval, so their differences add up to
 * the difference_saturated in length. The rest of the lateness comes from before. */
#include "analyze/comm.h"

#include "analyze/gap_finder.h"
#include "base/demangle.h"
#include "base/search.h"
#include "derive/step_list.h"
#include "base/sum.h"
#include <inttypes.h>

/* clang-format off */
static const struct table_column columns[] = {
    COLUMN(struct comm_late, step, "step", "Step", TABLE_COUNT, "number of the step in which the last rank issued it", .flags = TABLE_IF_ANY),
    COLUMN(struct comm_late, collective, "collective", "Collective", TABLE_NAME, "what was done"),
    COLUMN(struct comm_late, number, "number", "Number", TABLE_COUNT, "its recorded number in the group; else its place in the order"),
    COLUMN(struct comm_late, last, "last", "Last", TABLE_COUNT, "the rank that began last, on corrected clocks"),
    COLUMN(struct comm_late, late_ns, "late", "Late", TABLE_NS, "from the start of the first to that of the last, on corrected clocks"),
    COLUMN(struct comm_late, sure, "sure", "Sure", TABLE_BOOL, "late by more than the error of the clocks, and than the ends of the two lie apart"),
    COLUMN(struct comm_late, grew, "grew", "Grew most", TABLE_NAME, "in the part that grew most: the kernel, copy, operator, or cause of a gap, whose time since the collective before is longest against the rank in the middle"),
    COLUMN(struct comm_late, grew_ns, "grew_by", "By", TABLE_NS, "how much longer that took"),
    COLUMN(struct comm_late, part_ns[LATE_COMPUTATION], "computation", "Computation +", TABLE_NS, "what the last computed longer than the rank in the middle"),
    COLUMN(struct comm_late, part_ns[LATE_COPIES], "copies", "Copies +", TABLE_NS, "copies while nothing computed"),
    COLUMN(struct comm_late, part_ns[LATE_COMMUNICATION], "communication", "Communication +", TABLE_NS, "other communication, while nothing computed or copied"),
    COLUMN(struct comm_late, part_ns[LATE_OPERATORS], "operators", "Operators +", TABLE_NS, "gaps in which the next work was not launched yet, while its thread ran an operator"),
    COLUMN(struct comm_late, part_ns[LATE_HOST_GAPS], "host", "Host +", TABLE_NS, "such gaps while it ran none"),
    COLUMN(struct comm_late, part_ns[LATE_DEVICE_GAPS], "queued", "Queued +", TABLE_NS, "gaps in which it was: launch latency, waits for other streams"),
    COLUMN(struct comm_late, before_ns, "before", "Before", TABLE_NS, "the rest of late: from before, and because the first was early"),
    COLUMN(struct comm_late, cost_ns, "cost", "Cost", TABLE_NS, "what all would gain if the last came as early as the one before it", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_late, apart_ns, "ends_apart", "Ends apart", TABLE_NS, "how far the ends of the two lie apart, on corrected clocks; missing where not all must arrive", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_late, last_by_duration, "last_by_duration", "Last by duration", TABLE_COUNT, "the rank with the shortest duration: where clocks are not sure it is the last", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_late, late_by_duration_ns, "late_by_duration", "Late by duration", TABLE_NS, "the longest duration less the shortest", .flags = TABLE_OPTIONAL),
    COLUMN(struct comm_late, number_of_last, "rank_device", "Device", TABLE_COUNT, "of the last", .flags = TABLE_OPTIONAL),
};
/* clang-format on */

/* Time in one interval spent on a name. */
struct piece {
    enum late_part part;
    enum gap_cause cause; /* cause of a gap */
    name_id name;         /* of the work; for a gap, of the work launched after it. NAME_NONE: unknown */
    int64_t time_ns;
};

/* What is needed of a gap. */
struct late_gap {
    int64_t start_ns, end_ns;
    event_id call; /* EVENT_NONE: not in the file */
    name_id name;  /* of what was launched after it */
    enum gap_cause cause;
};

struct way {
    size_t collective; /* index of the collective at its end */
    int64_t start_ns, end_ns;
};

struct pieces {
    VEC_OF(struct piece);
};

struct lateness {
    const struct comm_query *query;
    VEC_OF(struct late_gap) gaps; /* device after device, by start */
    size_t *gaps_of_device;       /* by device: index of its first gap; one more entry at the end */
    struct intervals *talk;       /* by place: intervals of communication */
    struct calltree *operators;
    node_id *skips;   /* of their nodes */
    size_t *visits;   /* matched collectives, place after place, by start */
    size_t *visit_of; /* by collective: its index in visits */
    size_t visit_count;
    struct pieces of_last, of_middle, grown; /* GROWN: the difference_saturated */
};

static int64_t start_of(const struct lateness *late, size_t collective)
{
    return trace_start_ns(late->query->trace, late->query->collectives->at[collective].event);
}

static int64_t end_of(const struct lateness *late, size_t collective)
{
    return trace_end_ns(late->query->trace, late->query->collectives->at[collective].event);
}

static const struct collective_place *place_of(const struct lateness *late, size_t collective)
{
    return &late->query->collectives->places[late->query->collectives->at[collective].place];
}

/* ---- preparation ---- */

/* A gap_taker. */
static void keep_gap(void *context, const struct gap *gap)
{
    struct lateness *late = context;
    event_id next = gap->op != EVENT_NONE ? gap->op : gap->call != EVENT_NONE ? gap->call : gap->after;
    *VEC_PUSH(&late->gaps) = (struct late_gap){ gap->start_ns, gap->end_ns, gap->call,
                                                late->query->trace->name[next], gap->cause };
}

static void open_gaps(struct lateness *late)
{
    const struct gpu_events *gpu = late->query->collectives->gpu;
    SCOPED_OBJECT struct gap_finder *finder =
        gap_finder_open(late->query->trace, NULL, 0, GAP_LATENCY_BELOW_NS);
    late->gaps_of_device = mem_zalloc(gpu->device_count + 1, sizeof *late->gaps_of_device);
    for (uint32_t d = 0; d < gpu->device_count; d++) {
        gap_finder_visit(finder, d, keep_gap, late);
        late->gaps_of_device[d + 1] = late->gaps.count;
    }
}

static bool is_operator(const void *context, event_id e)
{
    const struct trace *trace = context;
    return trace->kind[e] == EVENT_OP;
}

static void open_lateness(struct lateness *late)
{
    const struct collectives *all = late->query->collectives;
    late->operators = calltree_open(late->query->trace, is_operator, late->query->trace);
    calltree_nest(late->operators);
    late->skips = calltree_skips(late->operators);
    late->talk = mem_zalloc(all->place_count + 1, sizeof *late->talk);
    late->visits = mem_alloc(mem_times(all->count + 1, sizeof *late->visits));
    late->visit_of = mem_alloc(mem_times(all->count + 1, sizeof *late->visit_of));
    for (size_t i = 0; i < all->count; i++) { /* by place, then by start */
        if (all->at[i].timed)
            intervals_add(&late->talk[all->at[i].place], start_of(late, i), end_of(late, i));
        late->visit_of[i] = late->visit_count;
        if (late->query->matches->match_of[i] != MATCH_NONE)
            late->visits[late->visit_count++] = i;
    }
    for (size_t p = 0; p < all->place_count; p++)
        intervals_merge(&late->talk[p]);
    open_gaps(late);
}

static void close_lateness(struct lateness *late)
{
    for (size_t p = 0; p < late->query->collectives->place_count; p++)
        intervals_release(&late->talk[p]);
    EACH(free, late->talk, late->visits, late->visit_of, late->gaps_of_device, late->skips);
    EACH(VEC_FREE, &late->gaps, &late->of_last, &late->of_middle, &late->grown);
    arena_free(late->operators);
}

/* ---- intervals ---- */

/* The collective of MATCH at PLACE; SIZE_MAX: none. */
static size_t member_at(const struct lateness *late, const struct collective_match *match, uint32_t place)
{
    const struct collective *all = late->query->collectives->at;
    const size_t *member = late->query->matches->member + match->first; /* by place */
    size_t i = 0;
    SEARCH(i, match->count, all[member[i]].place < place);
    return i < match->count && all[member[i]].place == place ? member[i] : SIZE_MAX;
}

/* The interval of each member of MATCH since the last collective of all members that had ended for all; false if there
 * is none. */
static bool find_ways(const struct lateness *late, const struct collective_match *match, size_t last,
                      struct way *ways)
{
    enum { MOST_VISITS = 64 };
    const struct collectives *all = late->query->collectives;
    const size_t *member = late->query->matches->member + match->first;
    size_t at = late->visit_of[last];
    for (size_t back = 1; back <= MOST_VISITS && back <= at; back++) {
        size_t before = late->visits[at - back];
        if (all->at[before].place != all->at[last].place)
            return false;
        const struct collective_match *other =
            &late->query->matches->at[late->query->matches->match_of[before]];
        size_t found = 0;
        for (; found < match->count && collective_joins_all(all->at[before].kind); found++) {
            size_t from = member_at(late, other, all->at[member[found]].place);
            if (from == SIZE_MAX || end_of(late, from) > start_of(late, member[found]))
                break;
            ways[found] = (struct way){ member[found], end_of(late, from), start_of(late, member[found]) };
        }
        if (found == match->count)
            return true;
    }
    return false;
}

/* ---- activities of a rank ---- */

static void add_piece(struct pieces *pieces, enum late_part part, enum gap_cause cause, name_id name,
                      int64_t time_ns)
{
    if (time_ns > 0)
        *VEC_PUSH(pieces) = (struct piece){ part, cause, name, time_ns };
}

static bool is_made_by_host(enum gap_cause cause)
{
    return cause <= GAP_FIRST_USE || cause == GAP_PROFILER;
}

/* An interval in which the thread of CALL had not called it yet, or was in it: its operators, and the time between
 * them. */
static void comm_late_add_host(const struct lateness *late, struct pieces *pieces, event_id call,
                               enum gap_cause cause, name_id next, int64_t start_ns, int64_t end_ns)
{
    const struct trace *trace = late->query->trace;
    const struct calltree *tree = late->operators;
    size_t t = 0, i = 0;
    if (call != EVENT_NONE)
        SEARCH(t, tree->thread_count, tree->threads[t].track < trace->track[call]);
    if (call == EVENT_NONE || t == tree->thread_count || tree->threads[t].track != trace->track[call]) {
        add_piece(pieces, LATE_HOST_GAPS, cause, next, end_ns - start_ns);
        return;
    }
    const struct calltree_thread *thread = &tree->threads[t];
    const event_id *events = tree->event + thread->first;
    SEARCH(i, thread->count, trace_start_ns(trace, events[i]) <= start_ns);
    while (start_ns < end_ns) {
        node_id node = calltree_open_at(tree, late->skips, thread, start_ns);
        int64_t until_ns = end_ns;
        if (node != NODE_NONE && trace_end_ns(trace, tree->event[node]) < until_ns)
            until_ns = trace_end_ns(trace, tree->event[node]);
        if (i < thread->count && trace_start_ns(trace, events[i]) < until_ns)
            until_ns = trace_start_ns(trace, events[i]);
        if (node != NODE_NONE)
            add_piece(pieces, LATE_OPERATORS, GAP_CAUSES, trace->name[tree->event[node]],
                      until_ns - start_ns);
        else
            add_piece(pieces, LATE_HOST_GAPS, cause, next, until_ns - start_ns);
        start_ns = until_ns;
        while (i < thread->count && trace_start_ns(trace, events[i]) <= start_ns)
            i++;
    }
}

/* An interval without work or communication: the gaps of the device in it. */
static void add_gaps(const struct lateness *late, struct pieces *pieces, uint32_t place, int64_t start_ns,
                     int64_t end_ns)
{
    const struct collectives *all = late->query->collectives;
    if (place >= all->gpu->device_count) { /* a host */
        add_piece(pieces, LATE_HOST_GAPS, GAP_HOST, NAME_NONE, end_ns - start_ns);
        return;
    }
    const struct late_gap *at = late->gaps.at;
    size_t i, last = late->gaps_of_device[place + 1];
    SEARCH_BETWEEN(i, late->gaps_of_device[place], last, at[i].end_ns <= start_ns);
    for (; i < last && at[i].start_ns < end_ns; i++) {
        int64_t from_ns = at[i].start_ns > start_ns ? at[i].start_ns : start_ns,
                to_ns = at[i].end_ns < end_ns ? at[i].end_ns : end_ns;
        add_piece(pieces, LATE_DEVICE_GAPS, GAP_UNKNOWN, NAME_NONE, from_ns - start_ns);
        if (is_made_by_host(at[i].cause))
            comm_late_add_host(late, pieces, at[i].call, at[i].cause, at[i].name, from_ns, to_ns);
        else
            add_piece(pieces, LATE_DEVICE_GAPS, at[i].cause, at[i].name, to_ns - from_ns);
        start_ns = to_ns;
    }
    add_piece(pieces, LATE_DEVICE_GAPS, GAP_UNKNOWN, NAME_NONE, end_ns - start_ns);
}

/* An interval without work: other communication, and gaps. */
static void add_pause(const struct lateness *late, struct pieces *pieces, uint32_t place, int64_t start_ns,
                      int64_t end_ns)
{
    const struct intervals *talk = &late->talk[place];
    size_t i = PLACE(k, talk->count, talk->at[k].end_ns <= start_ns);
    for (; i < talk->count && talk->at[i].start_ns < end_ns; i++) {
        int64_t from_ns = talk->at[i].start_ns > start_ns ? talk->at[i].start_ns : start_ns,
                to_ns = talk->at[i].end_ns < end_ns ? talk->at[i].end_ns : end_ns;
        if (from_ns > start_ns)
            add_gaps(late, pieces, place, start_ns, from_ns);
        add_piece(pieces, LATE_COMMUNICATION, GAP_CAUSES, NAME_NONE, to_ns - from_ns);
        start_ns = to_ns;
    }
    if (end_ns > start_ns)
        add_gaps(late, pieces, place, start_ns, end_ns);
}

static const struct key by_part_cause_name[] = { ASC(struct piece, part), ASC(struct piece, cause),
                                                 ASC(struct piece, name), KEY_END };

/* Times by name; overlapping operations count from the end of the previous one, as in "meanwhile". */
static void split_way(const struct lateness *late, const struct way *way, struct pieces *pieces)
{
    const struct trace *trace = late->query->trace;
    uint32_t index = late->query->collectives->at[way->collective].place;
    const struct collective_place *place = place_of(late, way->collective);
    int64_t until_ns = way->start_ns;
    size_t i;
    pieces->count = 0;
    SEARCH(i, place->work_count, place->ends_ns[i] <= way->start_ns);
    for (; i < place->work_count && trace_start_ns(trace, place->work[i]) < way->end_ns; i++) {
        event_id e = place->work[i];
        int64_t end_ns = trace_end_ns(trace, e) < way->end_ns ? trace_end_ns(trace, e) : way->end_ns;
        if (end_ns <= until_ns)
            continue;
        if (trace_start_ns(trace, e) > until_ns)
            add_pause(late, pieces, index, until_ns, trace_start_ns(trace, e));
        until_ns = trace_start_ns(trace, e) > until_ns ? trace_start_ns(trace, e) : until_ns;
        add_piece(pieces, trace->kind[e] == EVENT_MEMCPY ? LATE_COPIES : LATE_COMPUTATION, GAP_CAUSES,
                  trace->name[e], end_ns - until_ns);
        until_ns = end_ns;
    }
    if (way->end_ns > until_ns)
        add_pause(late, pieces, index, until_ns, way->end_ns);
    SORT(pieces, by_part_cause_name);
}

/* ---- the difference_saturated ---- */

static struct text piece_text(const struct lateness *late, const struct piece *piece)
{
    const struct names *names = late->query->trace->names;
    SCOPED struct buffer text = { 0 };
    if (piece->part == LATE_COMMUNICATION)
        buffer_puts(&text, "other communication");
    else if (piece->cause != GAP_CAUSES)
        buffer_printf(&text, "gap: %s", gap_causes[piece->cause].name);
    if (piece->cause != GAP_CAUSES && piece->name != NAME_NONE)
        buffer_puts(&text, ", before ");
    if (piece->name != NAME_NONE && !demangle_name(&text, names_text(names, piece->name)))
        buffer_puts(&text, names_text(names, piece->name));
    struct text kept = { arena_strndup(arena_of(late->query->comm), text.at, text.count), text.count };
    return kept;
}

static int64_t collect_alike(const struct pieces *pieces, size_t *at, const struct piece *key)
{
    int64_t time_ns = 0;
    for (; *at < pieces->count && rows_compare(key, &pieces->at[*at], by_part_cause_name) >= 0; (*at)++)
        time_ns += pieces->at[*at].time_ns;
    return time_ns;
}

/* The name with the largest growth in the part with the largest growth. */
static void name_most(const struct lateness *late, struct comm_late *row)
{
    const struct piece *most = NULL;
    int part = 0;
    for (int p = 1; p < LATE_PARTS; p++)
        part = row->part_ns[p] > row->part_ns[part] ? p : part;
    for (size_t i = 0; i < late->grown.count && row->part_ns[part] > 0; i++) {
        const struct piece *piece = &late->grown.at[i];
        if ((int)piece->part == part && piece->time_ns > (most ? most->time_ns : 0))
            most = piece;
    }
    if (!most)
        return;
    row->grew = piece_text(late, most);
    row->grew_ns = most->time_ns;
}

/* The differences between the last rank and the median rank, by part and by name. */
static void compare_ways(struct lateness *late, struct comm_late *row)
{
    size_t a = 0, b = 0;
    late->grown.count = 0;
    while (a < late->of_last.count || b < late->of_middle.count) {
        bool first = b == late->of_middle.count ||
                     (a < late->of_last.count &&
                      rows_compare(&late->of_middle.at[b], &late->of_last.at[a], by_part_cause_name) >= 0);
        struct piece key = first ? late->of_last.at[a] : late->of_middle.at[b];
        key.time_ns = collect_alike(&late->of_last, &a, &key) - collect_alike(&late->of_middle, &b, &key);
        row->part_ns[key.part] += key.time_ns;
        row->before_ns -= key.time_ns;
        *VEC_PUSH(&late->grown) = key;
    }
    if (row->sure)
        name_most(late, row);
}

static void explain(struct lateness *late, const struct collective_match *match, size_t last,
                    struct comm_late *row)
{
    struct way *ways = mem_alloc(mem_times(match->count, sizeof *ways)), own = { 0 };
    row->before_ns = row->late_ns;
    if (find_ways(late, match, last, ways)) {
        for (size_t i = 0; i < match->count; i++)
            own = ways[i].collective == last ? ways[i] : own;
        SORT_BY(ways, match->count, i, ways[i].end_ns - ways[i].start_ns);
        split_way(late, &own, &late->of_last);
        split_way(late, &ways[(match->count - 1) / 2], &late->of_middle);
        compare_ways(late, row);
    } else {
        for (int p = 0; p < LATE_PARTS; p++)
            row->part_ns[p] = TABLE_INT_MISSING;
    }
    free(ways);
}

/* ---- the last rank ---- */

/* A moment of the file of COLLECTIVE, on the clock of the first rank; saturates if clocks are far apart. */
static int64_t set_right(const struct lateness *late, size_t collective, int64_t moment_ns)
{
    uint32_t file = place_of(late, collective)->file;
    const struct trace_file *of = &late->query->trace->files[file];
    int64_t absolute_ns;
    if (!of->has_base || __builtin_add_overflow(moment_ns, of->base_ns, &absolute_ns))
        absolute_ns = moment_ns;
    return rank_clock_moment(&late->query->matches->clocks[file], absolute_ns);
}

static int64_t comm_late_rank_of(const struct lateness *late, size_t collective)
{
    return selection_rank(late->query->trace, place_of(late, collective)->file);
}

static void judge_durations(const struct lateness *late, const struct collective_match *match,
                            struct comm_late *row)
{
    const size_t *member = late->query->matches->member + match->first;
    int64_t shortest_ns = INT64_MAX, longest_ns = INT64_MIN;
    for (size_t i = 0; i < match->count; i++) {
        int64_t dur_ns = end_of(late, member[i]) - start_of(late, member[i]);
        if (dur_ns < shortest_ns)
            row->last_by_duration = comm_late_rank_of(late, member[i]);
        shortest_ns = dur_ns < shortest_ns ? dur_ns : shortest_ns;
        longest_ns = dur_ns > longest_ns ? dur_ns : longest_ns;
    }
    row->late_by_duration_ns = longest_ns - shortest_ns;
}

/* Does LATE exceed the uncertainty of the two clocks and ends? */
static bool is_sure(const struct lateness *late, const struct collective_match *match, size_t last,
                    size_t earliest, const struct comm_late *row)
{
    const struct rank_clock *a = &late->query->matches->clocks[place_of(late, last)->file],
                            *b = &late->query->matches->clocks[place_of(late, earliest)->file];
    int64_t error_ns = a->error_ns > b->error_ns ? a->error_ns : b->error_ns;
    bool comparable = a->root == b->root || match->one_clock; /* else their clocks are not comparable */
    return comparable && a->sure && b->sure && row->late_ns > error_ns &&
           (row->apart_ns == TABLE_INT_MISSING || row->late_ns > row->apart_ns);
}

static void comm_late_add_row(struct lateness *late, const struct collective_match *match)
{
    const struct collectives *all = late->query->collectives;
    const size_t *member = late->query->matches->member + match->first;
    size_t last = member[0], earliest = member[0];
    int64_t last_ns = set_right(late, last, start_of(late, last)), first_ns = last_ns, next_ns = INT64_MIN;
    for (size_t i = 1; i < match->count; i++) {
        int64_t start_ns = set_right(late, member[i], start_of(late, member[i]));
        if (start_ns > last_ns) {
            next_ns = last_ns;
            last_ns = start_ns;
            last = member[i];
        } else if (start_ns > next_ns) {
            next_ns = start_ns;
        }
        if (start_ns < first_ns) {
            first_ns = start_ns;
            earliest = member[i];
        }
    }
    uint32_t file = place_of(late, last)->file;
    const struct step *step =
        step_list_at(step_list_of(late->query->trace), file, collective_issued_ns(all, &all->at[last]));
    struct comm_late row = { .step = step ? step->number : TABLE_INT_MISSING,
                             .collective = comm_collective_text(late->query, &all->at[last]),
                             .number = match->number,
                             .last = comm_late_rank_of(late, last),
                             .number_of_last = place_of(late, last)->device,
                             .late_ns = difference_saturated(last_ns, first_ns),
                             .cost_ns = match->outside_ns > 0 ? 0 : difference_saturated(last_ns, next_ns),
                             .grew_ns = TABLE_INT_MISSING,
                             .apart_ns = TABLE_INT_MISSING,
                             .at_ns = last_ns,
                             .match = (size_t)(match - late->query->matches->at),
                             .index_of_last = last };
    if (collective_joins_all(all->at[last].kind)) {
        int64_t apart_ns = difference_saturated(set_right(late, last, end_of(late, last)),
                                                set_right(late, earliest, end_of(late, earliest)));
        row.apart_ns = apart_ns < 0 ? -apart_ns : apart_ns;
    }
    judge_durations(late, match, &row);
    row.sure = is_sure(late, match, last, earliest, &row);
    explain(late, match, last, &row);
    *VEC_PUSH(&late->query->comm->lateness) = row;
}

static const struct key by_at[] = { ASC(struct comm_late, at_ns), KEY_END };

void comm_find_lateness(const struct comm_query *query)
{
    struct lateness late = { .query = query };
    if (query->matches->count == 0)
        return;
    open_lateness(&late);
    FOR_EACH(match, query->matches) {
        bool held = ANY(i, match->count, query->held[query->matches->member[match->first + i]]);
        if (held)
            comm_late_add_row(&late, match);
    }
    close_lateness(&late);
    SORT(&query->comm->lateness, by_at);
}

void comm_add_lateness_table(const struct comm *comm, struct result *result)
{
    if (comm->lateness.count == 0)
        return;
    int64_t cost_ns =
        SUM(int64_t, i, comm->lateness.count, comm->lateness.at[i].sure ? comm->lateness.at[i].cost_ns : 0);
    struct table *table =
        TABLE_OF_ROWS("lateness", "What made the last rank late, since the collective before", columns,
                      comm->lateness.at, comm->lateness.count);
    table_add_footer(table, "cost", "Gain if each last came as early as the one before", TABLE_NS,
                     table_int(cost_ns));
    result_add_table(result, table);
}

const struct table_shape comm_late_tables[] = {
    TABLE_SHAPE("lateness", columns),
    { 0 },
};
