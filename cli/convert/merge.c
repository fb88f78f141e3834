/*
 * merge.c - ranks on one clock; see part.h.
 *
 * First compute the clocks from recorded times; then shift all files; then add arrows with the new times.
 */
#include "cli/convert/part.h"

#include "derive/collective_matches.h"
#include "derive/file_set.h"
#include "trace/builder.h"
#include "trace/slice.h"
#include <inttypes.h>

/* ---- clocks ---- */

int64_t convert_way_moment(const void *context, int64_t moment_ns)
{
    const struct convert_way *way = context;
    int64_t absolute_ns, own_ns;
    if (__builtin_add_overflow(moment_ns, way->base_ns, &absolute_ns) ||
        __builtin_sub_overflow(rank_clock_moment(&way->clock, absolute_ns), way->root_base_ns, &own_ns))
        return moment_ns < 0 ? INT64_MIN : INT64_MAX; /* too far: see trace_move */
    return own_ns;
}

/* By file, new. Another recording of a process has the clock of the first. */
static struct rank_clock *find_clocks(const struct trace *trace, const struct collectives *joined,
                                      size_t *collectives)
{
    SCOPED_OBJECT struct collectives *own = joined ? NULL : collectives_open(trace);
    SCOPED_OBJECT struct collective_matches *matches = collective_matches_open(joined ? joined : own);
    struct rank_clock *clocks = matches->clocks;
    matches->clocks = NULL;
    *collectives = matches->count;
    const struct file_set *set = file_set_of(trace);
    for (size_t f = 0; f < trace->file_count; f++)
        if (clocks[f].ahead_ns == CLOCK_UNKNOWN)
            clocks[f] = clocks[set->first[set->files[f].rank]];
    return clocks;
}

static int64_t magnitude(int64_t value)
{
    return value == INT64_MIN ? INT64_MAX : value < 0 ? -value : value;
}

/* Is its offset larger than its error? */
static bool is_known(const struct rank_clock *clock)
{
    return clock->sure || magnitude(clock->applied_ns) > clock->error_ns;
}

/* Files of one host share a clock, as assumed by tpa comm, unless the offset exceeds any network latency. */
static bool merge_is_same(const struct trace *trace, uint32_t file, const struct rank_clock *clock)
{
    enum { HOSTS_DIFFER_NS = 1000000 };
    const struct trace_file *own = &trace->files[file], *root = &trace->files[clock->root];
    return clock->applied_ns == 0 ||
           (own->has_base && root->has_base && own->host_name && root->host_name && *own->host_name &&
            strcmp(own->host_name, root->host_name) == 0 && magnitude(clock->applied_ns) <= HOSTS_DIFFER_NS);
}

static struct convert_way way_of(const struct trace *trace, uint32_t file, const struct rank_clock *clock)
{
    const struct trace_file *own = &trace->files[file], *root = &trace->files[clock->root];
    struct convert_way way = { clock->ahead_ns != CLOCK_UNKNOWN && clock->root != file, *clock,
                               own->has_base ? own->base_ns : 0, root->has_base,
                               root->has_base ? root->base_ns : 0 };
    if (!is_known(clock) || merge_is_same(trace, file, clock))
        way.clock = (struct rank_clock){ .ahead_ns = CLOCK_UNKNOWN };
    return way;
}

/* ---- messages ---- */

static void merge_add_file(struct buffer *out, const struct trace *trace, uint32_t file)
{
    if (trace->files[file].rank >= 0)
        buffer_printf(out, "rank %" PRId64, trace->files[file].rank);
    else
        buffer_puts(out, trace->files[file].path);
}

static void merge_append_clock(struct buffer *out, const struct trace *trace, uint32_t file,
                               const struct rank_clock *clock, bool fits)
{
    buffer_puts(out, "clock of ");
    merge_add_file(out, trace, file);
    if (clock->ahead_ns == CLOCK_UNKNOWN || !fits) {
        buffer_printf(out, ": as recorded; %s\n",
                      fits ? "it has no collective in common with another"
                           : "it is too far off for one file");
        return;
    }
    if (clock->root == file) {
        buffer_puts(out, ": as recorded; the others are set to it\n");
        return;
    }
    buffer_printf(out, ": %s %s ", TIME_TEXT(magnitude(clock->ahead_ns)),
                  clock->ahead_ns < 0 ? "behind" : "ahead of");
    merge_add_file(out, trace, clock->root);
    buffer_printf(out, ", +- %s, by %" PRId64 " ends of collectives", TIME_TEXT(clock->error_ns),
                  clock->anchors);
    if (clock->drift)
        buffer_printf(out, "; it gains %.3f us per second", (double)clock->drift / 1e6);
    buffer_puts(out, clock->sure ? "" : "; unsure");
    buffer_puts(out, !is_known(clock) ? ", and left as recorded\n"
                     : merge_is_same(trace, file, clock) && clock->ahead_ns
                         ? "; one host, so treated as the same\n"
                         : "\n");
}

/* With many files, only unusual ones are reported individually. */
static void merge_append_clocks(struct buffer *out, const struct trace *trace,
                                const struct rank_clock *clocks, const bool *fits)
{
    enum { MOST_SHOWN = 16 };
    size_t sure = 0, shown = 0, odd = 0;
    int64_t most_ns = 0;
    for (uint32_t f = 0; f < trace->file_count; f++) {
        bool fine = fits[f] && clocks[f].ahead_ns != CLOCK_UNKNOWN && clocks[f].sure;
        sure += fine;
        odd += !fine;
        if (fine && clocks[f].error_ns > most_ns)
            most_ns = clocks[f].error_ns;
        if ((trace->file_count > MOST_SHOWN && fine) || shown == MOST_SHOWN)
            continue;
        shown++;
        merge_append_clock(out, trace, f, &clocks[f], fits[f]);
    }
    if (trace->file_count <= MOST_SHOWN)
        return;
    buffer_printf(
        out, "clocks of %zu of %zu files are corrected by the ends of collectives, +- %s and less%s\n", sure,
        trace->file_count, TIME_TEXT(most_ns), odd > shown ? "; further unsure ones are not listed" : "");
}

/* ---- arrows ---- */

/* The member that began last; SIZE_MAX: none, because all are in one file. */
static size_t find_last(const struct collectives *all, const size_t *members, size_t count,
                        const int64_t *base_ns)
{
    size_t last = members[0];
    bool several = false;
    for (size_t i = 1; i < count; i++) {
        uint32_t file = all->places[all->at[members[i]].place].file,
                 of_last = all->places[all->at[last].place].file;
        several |= file != of_last;
        if (trace_start_ns(all->trace, all->at[members[i]].event) + base_ns[file] >
            trace_start_ns(all->trace, all->at[last].event) + base_ns[of_last])
            last = members[i];
    }
    return several ? last : SIZE_MAX;
}

struct arrows {
    VEC_OF(struct trace_flow);
    int64_t first_id;
    size_t backward;
};

/* Larger than any file-local number after offsetting, and outside the range that offsetting handles. */
static int64_t first_id_of(const struct timeline_numbers *numbers, size_t files)
{
    int64_t all, least = INT64_C(1) << 32;
    if (__builtin_mul_overflow(timeline_stride(numbers, files), (int64_t)files, &all))
        all = INT64_MAX / 2;
    return all > least ? all : least;
}

/* From the start of FROM to the moment within TO; none where TO had ended before, as clocks are not sure to the ns. */
static void add_arrow(struct arrows *arrows, const struct trace *trace, event_id from, event_id to,
                      const int64_t *base_ns)
{
    uint32_t from_file = trace->tracks[trace->track[from]].file,
             to_file = trace->tracks[trace->track[to]].file;
    int64_t begin_ns = trace_start_ns(trace, from), at_ns = begin_ns + base_ns[from_file] - base_ns[to_file];
    if (at_ns > trace_end_ns(trace, to)) {
        arrows->backward++;
        return;
    }
    at_ns = at_ns > trace_start_ns(trace, to) ? at_ns : trace_start_ns(trace, to);
    int64_t id = arrows->first_id + (int64_t)(arrows->count / 2);
    *VEC_PUSH(arrows) =
        (struct trace_flow){ .id = id, .ts_ns = begin_ns, .track = trace->track[from], .phase = 's' };
    *VEC_PUSH(arrows) = (struct trace_flow){
        .id = id, .ts_ns = at_ns, .track = trace->track[to], .phase = 'f', .bind_enclosing = true
    };
}

/* New, by file: the origin of its times minus that of the first file; 0 if that is too far. */
static int64_t *bases_of(const struct trace *trace)
{
    int64_t *base_ns = mem_zalloc(trace->file_count + 1, sizeof *base_ns);
    for (size_t f = 1; f < trace->file_count; f++)
        if (trace->files[f].has_base && trace->files[0].has_base &&
            (__builtin_sub_overflow(trace->files[f].base_ns, trace->files[0].base_ns, &base_ns[f]) ||
             magnitude(base_ns[f]) > TRACE_LATEST_NS))
            base_ns[f] = 0;
    return base_ns;
}

static void draw_arrows(struct trace *trace, const struct collectives *joined,
                        const struct timeline_numbers *numbers, struct buffer *summary)
{
    struct collectives *own = joined ? NULL : collectives_open(trace);
    const struct collectives *all = joined ? joined : own;
    struct collective_matches *matches = collective_matches_open(all);
    SCOPED struct arrows arrows = { .first_id = first_id_of(numbers, trace->file_count) };
    int64_t *base_ns = bases_of(trace);
    for (size_t m = 0; m < matches->count; m++) {
        const size_t *members = matches->member + matches->at[m].first;
        size_t last = find_last(all, members, matches->at[m].count, base_ns);
        for (size_t i = 0; i < matches->at[m].count && last != SIZE_MAX; i++)
            if (members[i] != last)
                add_arrow(&arrows, trace, all->at[last].event, all->at[members[i]].event, base_ns);
    }
    free(base_ns);
    arena_free(matches);
    arena_free(own);
    trace_replace_flows(trace, CONVERT_COLLECTIVE, arrows.at, arrows.count);
    buffer_printf(summary, "%zu arrows from who began a collective last to the others\n", arrows.count / 2);
    if (arrows.backward)
        buffer_printf(summary,
                      "%zu more would point to what had ended before, by these clocks, and are left out\n",
                      arrows.backward);
}

uint64_t convert_own_flows(const struct trace *trace)
{
    name_id collective = names_find(trace->texts, CONVERT_COLLECTIVE, strlen(CONVERT_COLLECTIVE));
    return SUM(uint64_t, i, trace->flow_count,
               collective == NAME_NONE || trace_flow(trace, i).category != collective);
}

struct convert_way *convert_merge(struct trace *trace, const struct collectives *joined,
                                  const struct timeline_numbers *numbers, struct buffer *summary)
{
    size_t collectives;
    SCOPED struct rank_clock *clocks = find_clocks(trace, joined, &collectives);
    if (!collectives) {
        buffer_puts(summary, "no collective was found on several ranks: their clocks are as recorded\n");
        return NULL;
    }
    SCOPED bool *fits = mem_zalloc(trace->file_count + 1, sizeof *fits);
    struct convert_way *ways = mem_zalloc(trace->file_count + 1, sizeof *ways);
    for (uint32_t f = 0; f < trace->file_count; f++)
        ways[f] = way_of(trace, f, &clocks[f]); /* while all have their own base */
    for (uint32_t f = 0; f < trace->file_count; f++) {
        fits[f] = !ways[f].moves || trace_move(trace, f, ways[f].root_has_base, ways[f].root_base_ns,
                                               convert_way_moment, &ways[f]);
        ways[f].moves &= fits[f];
    }
    merge_append_clocks(summary, trace, clocks, fits);
    draw_arrows(trace, joined, numbers, summary);
    return ways;
}
