/*
 * edits_ranks.c - ranks that are slower than the others are as fast.
 *
 * A rank whose host, or whose devices, took longer in all than the median rank's takes as long as that. What it takes less is taken
 * off what it took longer for than the others: an operator, kernel or pause that it alone has goes, and what all ranks do as fast
 * keeps its time. Where everything was slower, everything is faster.
 */
#include "whatif/editing.h"

#include "analyze/selection.h"

/* What a rank took for one name. */
struct rank_time {
    uint32_t rank, key; /* key: a name; behind all names, gaps of the host by the logarithm of their length */
    int64_t time_ns;
    int64_t longer_ns; /* than the median rank */
    double factor;     /* the part of it that is kept */
};

struct rank_times {
    VEC_OF(struct rank_time); /* by rank and key, each pair once */
    int64_t *ranks;           /* their numbers, ascending */
    size_t rank_count;
    uint32_t *of_file; /* index into ranks */
};

static const struct key by_rank_key[] = { ASC(struct rank_time, rank), ASC(struct rank_time, key), KEY_END };

static const struct key by_in_key[] = { ASC(struct rank_time, key), ASC(struct rank_time, time_ns),
                                        ASC(struct rank_time, rank), KEY_END };

static struct rank_times open_ranks(const struct trace *trace)
{
    struct rank_times times = { .ranks = mem_alloc(mem_times(trace->file_count + 1, sizeof *times.ranks)),
                                .of_file =
                                    mem_alloc(mem_times(trace->file_count + 1, sizeof *times.of_file)) };
    for (uint32_t f = 0; f < trace->file_count; f++)
        times.ranks[f] = selection_rank(trace, f);
    SORT_NUMBERS(times.ranks, trace->file_count);
    for (size_t i = 0; i < trace->file_count; i++)
        if (i == 0 || times.ranks[i] != times.ranks[times.rank_count - 1])
            times.ranks[times.rank_count++] = times.ranks[i];
    for (uint32_t f = 0; f < trace->file_count; f++) {
        int64_t rank = selection_rank(trace, f);
        const int64_t *at = rows_find(times.ranks, times.rank_count, sizeof rank, rows_ascending_i64, &rank);
        times.of_file[f] = (uint32_t)(at - times.ranks);
    }
    return times;
}

/* ---- what ranks took ---- */

static uint32_t rank_of_thread(const struct replay_graph *graph, const struct rank_times *times,
                               size_t thread)
{
    return times->of_file[graph->trace->tracks[graph->threads[thread].track].file];
}

static uint32_t rank_of_work(const struct replay_graph *graph, const struct rank_times *times, size_t work)
{
    return times->of_file[graph->trace->tracks[graph->trace->track[graph->gpu->event[work]]].file];
}

/* Of the piece that leads to M: the name of its span; of a gap, which is Python, how long it is. A pause differs from the others. */
static uint32_t key_of_piece(const struct replay_graph *graph, moment_id m)
{
    event_id span = graph->inner[m];
    if (span != EVENT_NONE)
        return graph->trace->name[span];
    uint64_t length = (uint64_t)(replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1));
    uint32_t key = (uint32_t)names_count(graph->trace->names);
    for (; length > 1; length /= 2)
        key++;
    return key;
}

/* Is the piece that leads to M the host's own work, and did not end with a wait? */
static bool is_host_work(const struct replay_graph *graph, size_t thread, moment_id m)
{
    return m > graph->threads[thread].first && editing_piece_is_own(graph, m);
}

/* Sums by key of one part of a file, which are few of all keys. */
struct tally {
    int64_t *sums; /* by key */
    VEC_OF(uint32_t) met;
};

static struct tally open_tally(const struct trace *trace)
{
    enum { LENGTHS = 64 };
    return (struct tally){ .sums = mem_zalloc(names_count(trace->names) + LENGTHS, sizeof(int64_t)) };
}

static void edits_ranks_add_time(struct tally *tally, uint32_t key, int64_t time_ns)
{
    if (time_ns <= 0)
        return;
    if (tally->sums[key] == 0)
        *VEC_PUSH(&tally->met) = key;
    tally->sums[key] += time_ns;
}

static void assign_times(struct tally *tally, uint32_t rank, struct rank_times *times)
{
    for (size_t i = 0; i < tally->met.count; i++) {
        uint32_t key = tally->met.at[i];
        *VEC_PUSH(times) = (struct rank_time){ .rank = rank, .key = key, .time_ns = tally->sums[key] };
        tally->sums[key] = 0;
    }
    tally->met.count = 0;
}

static void add_hosts(const struct replay_graph *graph, struct rank_times *times)
{
    struct tally tally = open_tally(graph->trace);
    for (size_t t = 0; t < graph->thread_count; t++) {
        const struct replay_thread *thread = &graph->threads[t];
        for (moment_id m = thread->first; m < thread->first + thread->count; m++)
            if (is_host_work(graph, t, m))
                edits_ranks_add_time(&tally, key_of_piece(graph, m),
                                     replay_moment_ns(graph, m) - replay_moment_ns(graph, m - 1));
        assign_times(&tally, rank_of_thread(graph, times, t), times);
    }
    free(tally.sums);
    VEC_FREE(&tally.met);
}

static void add_devices(const struct replay_graph *graph, struct rank_times *times)
{
    const struct gpu_events *gpu = graph->gpu;
    struct tally tally = open_tally(graph->trace);
    for (size_t d = 0; d < gpu->device_count; d++) {
        for (size_t i = gpu->devices[d].first; i < gpu->devices[d].first + gpu->devices[d].count; i++)
            if (!gpu_work_communicates(gpu->work[i]))
                edits_ranks_add_time(&tally, graph->trace->name[gpu->event[i]],
                                     trace_dur_ns(graph->trace, gpu->event[i]));
        assign_times(&tally, times->of_file[gpu->devices[d].file], times);
    }
    free(tally.sums);
    VEC_FREE(&tally.met);
}

/* Threads, devices and files of a rank, which are cycles of its profiler, become one; of files the mean. */
static void join_times(const struct trace *trace, struct rank_times *times)
{
    size_t *files = mem_zalloc(times->rank_count + 1, sizeof *files), kept = 0;
    for (uint32_t f = 0; f < trace->file_count; f++)
        files[times->of_file[f]]++;
    SORT(times, by_rank_key);
    for (size_t i = 0; i < times->count; i++) {
        struct rank_time *before = kept ? &times->at[kept - 1] : NULL;
        if (before && rows_compare(before, &times->at[i], by_rank_key) == 0)
            before->time_ns += times->at[i].time_ns;
        else
            times->at[kept++] = times->at[i];
    }
    times->count = kept;
    for (size_t i = 0; i < kept; i++)
        times->at[i].time_ns /= (int64_t)files[times->at[i].rank];
    free(files);
}

/* ---- who is slower, and with what ---- */

/* Where the median of COUNT is, or the faster of the middle two: so of two ranks the slower is to be as fast as the other. */
static size_t middle_of(size_t count)
{
    return (count - 1) / 2;
}

/* How much longer than the median rank each took for each key; ranks that have nothing of it took no time. */
static void compare_keys(struct rank_times *times)
{
    SORT(times, by_in_key);
    FOR_RUNS(first, end, times->count, times->at[end].key == times->at[first].key) {
        size_t without = times->rank_count - (end - first), middle = middle_of(times->rank_count);
        int64_t median_ns = middle < without ? 0 : times->at[first + middle - without].time_ns;
        for (size_t i = first; i < end; i++)
            times->at[i].longer_ns = times->at[i].time_ns > median_ns ? times->at[i].time_ns - median_ns : 0;
    }
    SORT(times, by_rank_key);
}

/* Of a rank's times from FIRST to END, take off OVER_NS in proportion to what it took longer. */
static void edits_ranks_subtract(struct rank_time *first, const struct rank_time *end, double over_ns)
{
    double longer_ns = 0;
    for (const struct rank_time *one = first; one < end; one++)
        longer_ns += (double)one->longer_ns;
    for (struct rank_time *one = first; one < end; one++)
        if (longer_ns > 0)
            one->factor = 1 - (double)one->longer_ns / (double)one->time_ns *
                                  (over_ns < longer_ns ? over_ns / longer_ns : 1);
}

/* The factors of all ranks; how many are slower than the median. */
static size_t find_factors(const struct trace *trace, struct rank_times *times)
{
    join_times(trace, times);
    if (times->count == 0)
        return 0;
    compare_keys(times);
    int64_t *sums = mem_zalloc(times->rank_count + 1, sizeof *sums),
            *sorted = mem_alloc(mem_times(times->rank_count + 1, sizeof *sorted));
    for (size_t i = 0; i < times->count; i++) {
        sums[times->at[i].rank] += times->at[i].time_ns;
        times->at[i].factor = 1;
    }
    for (size_t r = 0; r < times->rank_count; r++)
        sorted[r] = sums[r];
    SORT_NUMBERS(sorted, times->rank_count);
    int64_t median_ns = sorted[middle_of(times->rank_count)];
    size_t slower = 0;
    FOR_RUNS(first, end, times->count, times->at[end].rank == times->at[first].rank) {
        uint32_t rank = times->at[first].rank;
        if (sums[rank] <= median_ns)
            continue;
        slower++;
        edits_ranks_subtract(&times->at[first], &times->at[end - 1] + 1, (double)(sums[rank] - median_ns));
    }
    EACH(free, sums, sorted);
    return slower;
}

static double edits_ranks_factor_of(const struct rank_times *times, uint32_t rank, uint32_t key)
{
    struct rank_time wanted = { .rank = rank, .key = key };
    const struct rank_time *found =
        times->count ? rows_find(times->at, times->count, sizeof wanted, by_rank_key, &wanted) : NULL;
    return found ? found->factor : 1;
}

/* ---- the edit ---- */

static size_t speed_up_hosts(const struct editing *editing, struct rank_times *times)
{
    const struct replay_graph *graph = editing->graph;
    times->count = 0;
    add_hosts(graph, times);
    size_t slower = find_factors(editing->trace, times);
    for (size_t t = 0; t < graph->thread_count && slower; t++) {
        const struct replay_thread *thread = &graph->threads[t];
        uint32_t rank = rank_of_thread(graph, times, t);
        for (moment_id m = thread->first; m < thread->first + thread->count; m++) {
            double factor =
                is_host_work(graph, t, m) ? edits_ranks_factor_of(times, rank, key_of_piece(graph, m)) : 1;
            if (factor < 1)
                editing_scale_piece(editing, m, factor);
        }
    }
    return slower;
}

static size_t speed_up_devices(const struct editing *editing, struct rank_times *times)
{
    const struct replay_graph *graph = editing->graph;
    times->count = 0;
    add_devices(graph, times);
    size_t slower = find_factors(editing->trace, times);
    for (size_t i = 0; i < graph->gpu->count && slower; i++) {
        if (gpu_work_communicates(graph->gpu->work[i]))
            continue;
        double factor = edits_ranks_factor_of(times, rank_of_work(graph, times, i),
                                              graph->trace->name[graph->gpu->event[i]]);
        if (factor < 1)
            editing_scale_work(editing, i, factor);
    }
    return slower;
}

void edit_ranks_like_median(const struct editing *editing, bool devices_only)
{
    struct rank_times times = open_ranks(editing->trace);
    size_t slower = devices_only ? 0 : speed_up_hosts(editing, &times);
    size_t slower_devices = speed_up_devices(editing, &times);
    editing->effect->count = slower > slower_devices ? slower : slower_devices;
    VEC_FREE(&times);
    EACH(free, times.ranks, times.of_file);
}
