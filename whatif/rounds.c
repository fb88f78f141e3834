#include "whatif/whatif.h"

#include "analyze/account.h"
#include "base/search.h"
#include "base/stats.h"
#include "derive/file_set.h"
#include "trace/call_names.h"
#include "trace/derived.h"
#include <math.h>

/* More moments than this are not replayed in each round, as long as it has a few periods. */
enum { MOST_MOMENTS = 400000, LEAST_STEPS = 4, MOST_SEGMENTS = 250, KEPT_ROUNDS = 8 };

/* A stretch of a file on the clock of the graph. Rounds have them back to back: OFFSET_NS moves its times there. */
struct segment {
    int64_t start_ns, end_ns, offset_ns;
};

/* Moments or places of a stream from FIRST up to END. */
struct span {
    uint32_t first, end;
};

/* Consecutive moments of one segment, in order of the replay. */
struct moment_run {
    moment_id first;
    uint32_t length, segment;
};

typedef VEC_OF(struct moment_run) run_list;

struct rounds {
    size_t host_count; /* moments of threads */
    size_t segment_count;
    struct segment *segments; /* by file, then segment, in order of time */
    size_t *own_count;        /* by file: of its segments */
    size_t *steps;            /* by file: in a round; 0: none */
    uint32_t *main_thread;    /* by file: of its steps; UINT32_MAX: none */
    int64_t length_ns;        /* of a round as recorded, of the file where that is most */
    run_list runs;            /* by segment */
    uint8_t *segments_of;     /* by moment: 1 + its segment, 0: it is in none; until the runs are known */
    uint64_t *within;         /* a bit for each moment: it is in one of the segments */
    uint64_t *begins;         /* the same: it is the first of its thread there */
    uint32_t *place_of_block; /* of those with such moments: as of shifts_init_few */
    size_t block_count;       /* how many these are */
    struct span *of_thread;   /* moments, by thread, then segment */
    uint32_t *file_of_thread;
    VEC_OF(moment_id)
    open_waits;             /* ends of calls that would have waited for work from before the recording */
    int64_t usual_pause_ns; /* of a stream between operations that are queued */
    const struct gpu_streams *streams;
    uint32_t *stream_of_track; /* of tracks with work */
    uint32_t *place_of;        /* by work within: 1 + its place on its stream; 0: see place_on_stream */
    struct span *of_stream;    /* places, by stream, then segment */
};

static const struct segment *segment_of(const struct rounds *rounds, uint32_t file, size_t k)
{
    return &rounds->segments[file * rounds->segment_count + k];
}

static bool is_within(const struct rounds *rounds, moment_id m)
{
    return rounds->within[m / 64] >> (m % 64) & 1;
}

static bool begins_thread(const struct rounds *rounds, moment_id m)
{
    return rounds->begins[m / 64] >> (m % 64) & 1;
}

/* ---- which steps ---- */

/* The index of the first step of FILE in the account, or of a later one. */
static size_t first_of_file(const struct account *account, uint64_t file)
{
    size_t i;
    SEARCH(i, account->steps.count, account->steps.at[i].file < file);
    return i;
}

/* The step NUMBER of FILE, whose numbers ascend, if it is known on the host; else NULL. */
static const struct account_step *step_called(const struct account *account, uint32_t file, int64_t number)
{
    size_t first = first_of_file(account, file), end = first_of_file(account, (uint64_t)file + 1), i;
    SEARCH_BETWEEN(i, first, end, account->steps.at[i].number < number);
    const struct account_step *step = i < end ? &account->steps.at[i] : NULL;
    return step && step->number == number && step->host_ns > 0 ? step : NULL;
}

/* Has each file of the group of FILE that has steps the step NUMBER? */
static bool all_have(const struct account *account, const struct replay_graph *graph, uint32_t file,
                     int64_t number)
{
    return !ANY(other, graph->trace->file_count,
                other != file && graph->group[other] == graph->group[file] &&
                    first_of_file(account, other) < first_of_file(account, (uint64_t)other + 1) &&
                    !step_called(account, other, number));
}

/* The first file of the group of FILE whose steps are of the slowest rank: it chooses the steps. */
static uint32_t chooser_of(const struct account *account, const struct replay_graph *graph, uint32_t file)
{
    uint32_t best = file;
    int64_t best_ns = -1;
    for (uint32_t other = 0; other < graph->trace->file_count; other++) {
        const struct account_rank *rank = account_rank_of(account, selection_rank(graph->trace, other));
        if (graph->group[other] == graph->group[file] && rank && rank->has_steps && rank->step_ns > best_ns) {
            best = other;
            best_ns = rank->step_ns;
        }
    }
    return best;
}

typedef VEC_OF(struct segment) segment_list;

/* The steps of FILE in a round, as stretches. Returns how many steps these are. */
static size_t choose_segments(const struct account *account, const struct replay_graph *graph, uint32_t file,
                              size_t most_steps, segment_list *list)
{
    uint32_t chooser = chooser_of(account, graph, file);
    size_t wanted = 0, skipped = 0, count = 0;
    const struct account_step *last = NULL;
    size_t first = first_of_file(account, chooser), end = first_of_file(account, (uint64_t)chooser + 1);
    for (size_t i = first; i < end; i++) {
        const struct account_step *step = &account->steps.at[i];
        wanted += step->file == chooser && step->role == STEP_COUNTS && step->host_ns > 0 &&
                  all_have(account, graph, chooser, step->number);
    }
    skipped = wanted > most_steps ? wanted - most_steps : 0;
    for (size_t i = first; i < end; i++) {
        const struct account_step *step = &account->steps.at[i];
        if (step->file != chooser || step->role != STEP_COUNTS || step->host_ns <= 0 ||
            !all_have(account, graph, chooser, step->number))
            continue;
        const struct account_step *own = step_called(account, file, step->number);
        if (skipped > 0 || !own) {
            skipped -= skipped > 0;
            continue;
        }
        int64_t start_ns = replay_time(graph, file, own->start_ns);
        if (last && last + 1 == own)
            list->at[list->count - 1].end_ns = start_ns + own->host_ns;
        else if (list->count < MOST_SEGMENTS)
            *VEC_PUSH(list) = (struct segment){ start_ns, start_ns + own->host_ns, 0 };
        else
            break;
        last = own;
        count++;
    }
    return count;
}

/* As many steps as make MOST_MOMENTS, but whole periods, and a few. */
static size_t most_steps_of(const struct account *account, const struct replay_graph *graph)
{
    size_t period = account->all.period, of_step = graph->moment_count / (account->steps.count + 1) + 1;
    size_t files = graph->trace->file_count ? graph->trace->file_count : 1;
    size_t most = MOST_MOMENTS / (of_step * files) / period * period,
           least = (LEAST_STEPS + period - 1) / period * period;
    return most > least ? most : least;
}

/* Let the segments of FILE lie back to back. */
static void place_segments(struct segment *segments, size_t count, int64_t *length_ns)
{
    int64_t at_ns = count ? segments[0].start_ns : 0, first_ns = at_ns;
    for (size_t k = 0; k < count; k++) {
        segments[k].offset_ns = at_ns - segments[k].start_ns;
        at_ns += segments[k].end_ns - segments[k].start_ns;
    }
    *length_ns = at_ns - first_ns > *length_ns ? at_ns - first_ns : *length_ns;
}

static bool find_segments(struct rounds *rounds, const struct replay_graph *graph)
{
    const struct account *account = account_of(graph->trace);
    size_t files = graph->trace->file_count, most = most_steps_of(account, graph);
    segment_list *lists = mem_zalloc(files + 1, sizeof *lists);
    rounds->steps = mem_zalloc(files + 1, sizeof *rounds->steps);
    bool any = false;
    for (uint32_t file = 0; file < files && account->has_steps; file++) {
        rounds->steps[file] = choose_segments(account, graph, file, most, &lists[file]);
        any |= rounds->steps[file] > 0;
        if (lists[file].count > rounds->segment_count)
            rounds->segment_count = lists[file].count;
    }
    rounds->segments = mem_zalloc(files * rounds->segment_count + 1, sizeof *rounds->segments);
    rounds->own_count = mem_zalloc(files + 1, sizeof *rounds->own_count);
    for (uint32_t file = 0; file < files; file++) {
        struct segment *own = &rounds->segments[file * rounds->segment_count];
        if (lists[file].count)
            memcpy(own, lists[file].at, lists[file].count * sizeof *own);
        rounds->own_count[file] = lists[file].count;
        place_segments(own, lists[file].count, &rounds->length_ns);
        VEC_FREE(&lists[file]);
    }
    free(lists);
    return any;
}

static void find_main_threads(struct rounds *rounds, const struct replay_graph *graph)
{
    const struct trace *trace = graph->trace;
    const struct account *account = account_of(trace);
    rounds->main_thread = mem_alloc(mem_times(trace->file_count + 1, sizeof *rounds->main_thread));
    rounds->file_of_thread = mem_alloc(mem_times(graph->thread_count + 1, sizeof *rounds->file_of_thread));
    for (size_t f = 0; f < trace->file_count; f++)
        rounds->main_thread[f] = UINT32_MAX;
    for (uint32_t t = (uint32_t)graph->thread_count; t-- > 0;) {
        rounds->file_of_thread[t] = trace->tracks[graph->threads[t].track].file;
        rounds->main_thread[rounds->file_of_thread[t]] = t;
    }
    for (size_t i = account->steps.count; i-- > 0;) {
        const struct account_step *step = &account->steps.at[i];
        uint32_t thread = graph->thread_of_track[trace->track[step->event]];
        if (thread != UINT32_MAX)
            rounds->main_thread[step->file] = thread;
    }
}

/* ---- which moments ---- */

/* The segment of FILE that holds NS on the clock of the graph; SIZE_MAX: none. NEAR: where the one before was found. */
static size_t segment_at(const struct rounds *rounds, uint32_t file, int64_t ns, size_t *near)
{
    const struct segment *segments = segment_of(rounds, file, 0);
    size_t behind;
    SEARCH_NEAR(behind, *near, rounds->own_count[file], segments[behind].start_ns <= ns);
    *near = behind;
    return behind > 0 && ns < segments[behind - 1].end_ns ? behind - 1 : SIZE_MAX;
}

/* Find the segments of moments of threads; and of_thread. */
static void find_thread_moments(struct rounds *rounds, const struct replay_graph *graph)
{
    rounds->of_thread =
        mem_zalloc(graph->thread_count * rounds->segment_count + 1, sizeof *rounds->of_thread);
    for (size_t t = 0; t < graph->thread_count; t++)
        for (size_t k = 0; k < rounds->segment_count; k++) {
            const struct segment *segment = segment_of(rounds, rounds->file_of_thread[t], k);
            moment_id behind = graph->threads[t].first + graph->threads[t].count;
            moment_id first = replay_moment_from(graph, t, segment->start_ns),
                      end = replay_moment_from(graph, t, segment->end_ns);
            first = first == MOMENT_NONE ? behind : first;
            end = end == MOMENT_NONE ? behind : end;
            if (segment->start_ns >= segment->end_ns || first >= end)
                first = end = 0;
            rounds->of_thread[t * rounds->segment_count + k] = (struct span){ first, end };
            memset(&rounds->segments_of[first], 1 + (int)k, end - first);
            if (first < end)
                rounds->begins[first / 64] |= UINT64_C(1) << (first % 64);
        }
}

/* The stream of work I. */
static size_t stream_of_work(const struct rounds *rounds, const struct replay_graph *graph, size_t i)
{
    return rounds->stream_of_track[graph->trace->track[graph->gpu->event[i]]];
}

/* The place of work I on its stream S. That of work which is not within is searched, as few ask for it: so most of PLACE_OF is never
 * touched, and takes no memory. */
static uint32_t place_on_stream(const struct rounds *rounds, size_t s, size_t i)
{
    const struct gpu_stream *stream = &rounds->streams->at[s];
    const uint32_t *position = &rounds->streams->position[stream->first];
    size_t place;
    if (rounds->place_of[i])
        return rounds->place_of[i] - 1;
    SEARCH(place, stream->count, position[place] < i);
    return (uint32_t)place;
}

/* The same of work, by when it was launched, and of_stream. */
static void find_work_moments(struct rounds *rounds, const struct replay_graph *graph)
{
    const struct gpu_events *gpu = graph->gpu;
    size_t streams = rounds->streams->count;
    rounds->stream_of_track = mem_zalloc(graph->trace->track_count + 1, sizeof *rounds->stream_of_track);
    rounds->place_of = mem_zalloc(gpu->count + 1, sizeof *rounds->place_of);
    rounds->of_stream = mem_zalloc(streams * rounds->segment_count + 1, sizeof *rounds->of_stream);
    for (size_t s = 0; s < streams; s++) {
        rounds->stream_of_track[rounds->streams->at[s].track] = (uint32_t)s;
        bool launched = false; /* work before is of steps that were not recorded */
        size_t near = 0;
        for (size_t place = 0; place < rounds->streams->at[s].count; place++) {
            size_t i = rounds->streams->position[rounds->streams->at[s].first + place];
            uint32_t file = gpu->devices[rounds->streams->at[s].device].file;
            event_id launch = gpu->call[i] == EVENT_NONE ? gpu->event[i] : gpu->call[i];
            launched |= gpu->call[i] != EVENT_NONE;
            if (!launched)
                continue;
            size_t k = segment_at(rounds, file, replay_event_start(graph, launch), &near);
            if (k == SIZE_MAX)
                continue;
            struct span *span = &rounds->of_stream[s * rounds->segment_count + k];
            span->first = span->end == 0 || place < span->first ? (uint32_t)place : span->first;
            span->end = rounds->place_of[i] = (uint32_t)place + 1;
            rounds->segments_of[replay_work_start(graph, i)] =
                rounds->segments_of[replay_work_end(graph, i)] = (uint8_t)(1 + k);
        }
    }
}

/* A collective is in the segment that launched it; one that holds threads and whose launch is not known is where it is. */
static void find_join_moments(const struct rounds *rounds, const struct replay_graph *graph)
{
    const struct trace *trace = graph->trace;
    uint8_t *segments = rounds->segments_of;
    for (size_t join = 0; join < graph->join_count; join++) {
        size_t near = 0;
        moment_id m = (moment_id)(graph->host_count + 2 * graph->gpu->count + join);
        uint32_t file = trace->tracks[trace->track[graph->join_event[join]]].file;
        segments[m] = segments[graph->join_last[join]];
        size_t k = !segments[m] && graph->join_stays[join]
                       ? segment_at(rounds, file, replay_recorded_ns(graph, m), &near)
                       : SIZE_MAX;
        if (k != SIZE_MAX)
            segments[m] = (uint8_t)(1 + k);
    }
}

/* Add M to the runs of segment K. */
static void add_moment(const struct rounds *rounds, run_list *runs, moment_id m, size_t k)
{
    bool apart = m == rounds->host_count || (m < rounds->host_count && begins_thread(rounds, m));
    if (runs->count && !apart && runs->at[runs->count - 1].first + runs->at[runs->count - 1].length == m)
        runs->at[runs->count - 1].length++;
    else
        *VEC_PUSH(runs) = (struct moment_run){ m, 1, (uint32_t)k };
}

/* The runs of the order of the graph that are in segments, segment by segment. */
static void find_runs(struct rounds *rounds, const struct replay_graph *graph)
{
    const uint8_t *segments = rounds->segments_of;
    run_list *of_segment = mem_zalloc(rounds->segment_count + 1, sizeof *of_segment);
    for (size_t r = 0; r < graph->order.count; r++)
        for (moment_id m = graph->order.first[r]; m < graph->order.first[r] + graph->order.length[r]; m++)
            if (segments[m])
                add_moment(rounds, &of_segment[segments[m] - 1], m, segments[m] - 1U);
    for (size_t k = 0; k < rounds->segment_count; k++) {
        for (size_t i = 0; i < of_segment[k].count; i++)
            *VEC_PUSH(&rounds->runs) = of_segment[k].at[i];
        VEC_FREE(&of_segment[k]);
    }
    free(of_segment);
}

/* When the first work of each file was launched, on the clock of the graph; new, by file, free with free(). */
static int64_t *first_launches(const struct replay_graph *graph)
{
    const struct gpu_events *gpu = graph->gpu;
    int64_t *first_ns = mem_alloc(mem_times(graph->trace->file_count + 1, sizeof *first_ns));
    for (size_t f = 0; f < graph->trace->file_count; f++)
        first_ns[f] = INT64_MIN;
    for (size_t i = 0; i < gpu->count; i++) {
        if (gpu->call[i] == EVENT_NONE)
            continue;
        int64_t *first = &first_ns[graph->trace->tracks[graph->trace->track[gpu->call[i]]].file];
        int64_t launch_ns = replay_event_start(graph, gpu->call[i]);
        *first = *first == INT64_MIN || launch_ns < *first ? launch_ns : *first;
    }
    return first_ns;
}

/* The waits of the first segment before anything was launched: the recording has nothing that they wait for, the round before has. */
static void find_open_waits(struct rounds *rounds, const struct replay_graph *graph)
{
    const struct trace *trace = graph->trace;
    unsigned char *sorts = call_sorts_open(trace->names);
    int64_t *first_ns = first_launches(graph);
    for (size_t t = 0; t < graph->thread_count; t++) {
        const struct span *span = &rounds->of_thread[t * rounds->segment_count];
        int64_t until_ns = first_ns[rounds->file_of_thread[t]];
        for (moment_id m = span->first; m < span->end && replay_recorded_ns(graph, m) <= until_ns; m++) {
            event_id e = graph->inner[m];
            if (e != EVENT_NONE && event_is_call(trace->kind[e]) && sorts[trace->name[e]] == CALL_SYNC &&
                !strstr(trace_name(trace, e), "Event") &&
                replay_event_end(graph, e) == replay_recorded_ns(graph, m))
                *VEC_PUSH(&rounds->open_waits) = m;
        }
    }
    EACH(free, sorts, first_ns);
}

/* What a stream leaves free between operations when the next was queued: the median of such pauses below 10 us, if there are 20; else 1 us, if
 * the round has 100 operations. */
static int64_t find_usual_pause(const struct rounds *rounds, const struct replay_graph *graph)
{
    enum { QUEUED_NS = 5000, MOST_NS = 10000, LEAST = 20, MANY = 100, USUAL_NS = 1000 };
    VEC_OF(int64_t) pauses = { 0 };
    size_t operations = 0;
    for (size_t span = 0; span < rounds->streams->count * rounds->segment_count; span++) {
        const struct gpu_stream *stream = &rounds->streams->at[span / rounds->segment_count];
        for (uint32_t place = rounds->of_stream[span].first; place < rounds->of_stream[span].end; place++) {
            size_t i = rounds->streams->position[stream->first + place];
            event_id call = graph->gpu->call[i];
            operations++;
            if (place == 0 || call == EVENT_NONE)
                continue;
            size_t before = rounds->streams->position[stream->first + place - 1];
            int64_t end_ns = replay_recorded_ns(graph, replay_work_end(graph, before)),
                    pause_ns = replay_recorded_ns(graph, replay_work_start(graph, i)) - end_ns;
            if (pause_ns >= 0 && pause_ns < MOST_NS && replay_event_end(graph, call) + QUEUED_NS <= end_ns)
                *VEC_PUSH(&pauses) = pause_ns;
        }
    }
    int64_t usual_ns = operations >= MANY ? USUAL_NS : 0;
    if (pauses.count >= LEAST)
        usual_ns = stats_of(pauses.at, pauses.count).median;
    VEC_FREE(&pauses);
    return usual_ns;
}

/* Only moments within have shifts. */
static void place_blocks(struct rounds *rounds, const struct replay_graph *graph)
{
    _Static_assert(SHIFTS_OF_BLOCK == 64, "a word of WITHIN is about one block");
    size_t blocks = graph->moment_count / SHIFTS_OF_BLOCK + 1;
    rounds->place_of_block = mem_alloc(mem_times(blocks, sizeof *rounds->place_of_block));
    for (size_t b = 0; b < blocks; b++)
        rounds->block_count += rounds->within[b] != 0;
    for (size_t b = 0, place = 0; b < blocks; b++)
        rounds->place_of_block[b] = (uint32_t)(rounds->within[b] ? place++ : rounds->block_count);
}

/* The rounds of GRAPH, whose moments are known, but not their order: find_runs is still to be called. NULL: there are none. */
static struct rounds *rounds_open(const struct replay_graph *graph)
{
    struct rounds *rounds = arena_open(sizeof *rounds);
    ARENA_OWNS(arena_of(rounds), &rounds->segments, &rounds->own_count, &rounds->steps, &rounds->main_thread,
               &rounds->runs, &rounds->open_waits, &rounds->segments_of, &rounds->within, &rounds->begins,
               &rounds->place_of_block, &rounds->of_thread, &rounds->file_of_thread, &rounds->stream_of_track,
               &rounds->place_of, &rounds->of_stream);
    if (!find_segments(rounds, graph) || rounds->length_ns <= 0) {
        arena_free(rounds);
        return NULL;
    }
    find_main_threads(rounds, graph);
    rounds->host_count = graph->host_count;
    rounds->begins = mem_zalloc(graph->moment_count / 64 + 1, sizeof *rounds->begins);
    rounds->streams = gpu_streams_of(graph->trace);
    rounds->segments_of = mem_zalloc(graph->moment_count + 1, sizeof *rounds->segments_of);
    find_thread_moments(rounds, graph);
    find_work_moments(rounds, graph);
    find_join_moments(rounds, graph);
    find_open_waits(rounds, graph);
    rounds->usual_pause_ns = find_usual_pause(rounds, graph);
    rounds->within = mem_zalloc(graph->moment_count / 64 + 1, sizeof *rounds->within);
    for (size_t m = 0; m < graph->moment_count; m++)
        if (rounds->segments_of[m])
            rounds->within[m / 64] |= UINT64_C(1) << (m % 64);
    place_blocks(rounds, graph);
    return rounds;
}

/* The rounds of a trace, and the graph that they are of. */
struct turned_graph {
    const struct replay_graph *graph;
    struct replay_graph *own; /* it, where it is of the moments of the rounds only; else NULL */
    struct rounds *rounds;    /* NULL: there are none */
};

/* A replay_graph_choose: the moments of the rounds. */
static uint64_t *choose_moments(void *context, const struct replay_graph *graph)
{
    struct turned_graph *turned = context;
    turned->rounds = rounds_open(graph);
    if (!turned->rounds)
        return NULL;
    size_t words = graph->moment_count / 64 + 1;
    uint64_t *chosen = mem_alloc(mem_times(words, sizeof *chosen));
    memcpy(chosen, turned->rounds->within, words * sizeof *chosen);
    return chosen;
}

/* Are there so many events that rounds may leave steps out, and is that known before the graph is made? */
static bool may_leave_out(const struct trace *trace)
{
    return trace->file_count == 1 && trace->event_count > MOST_MOMENTS / 2 && account_of(trace)->has_steps;
}

static struct turned_graph *turned_graph_open(const struct trace *trace)
{
    struct turned_graph *turned = arena_open(sizeof *turned);
    turned->graph = replay_graph_known(trace);
    if (!turned->graph && may_leave_out(trace)) {
        turned->own = arena_hold(arena_of(turned), replay_graph_open_for(trace, choose_moments, turned));
        turned->graph = turned->own;
    } else {
        turned->graph = replay_graph_of(trace);
        turned->rounds = rounds_open(turned->graph);
    }
    if (turned->rounds) {
        arena_hold(arena_of(turned), turned->rounds);
        find_runs(turned->rounds, turned->graph);
        free(turned->rounds->segments_of);
        turned->rounds->segments_of = NULL;
    }
    return turned;
}

static const struct turned_graph *turned_graph_of(const struct trace *trace);
DERIVED(turned_graph, turned_graph_of, turned_graph_open);

const struct rounds *rounds_of(const struct trace *trace)
{
    return turned_graph_of(trace)->rounds;
}

const struct replay_graph *rounds_graph_of(const struct trace *trace)
{
    return turned_graph_of(trace)->graph;
}

/* ---- a round ---- */

/* The rounds so far. PASS is the current one. */
struct turning {
    struct replay_pass pass; /* the first member: shift_of_earlier gets it */
    const struct rounds *rounds;
    size_t segment;                  /* the current one */
    unsigned round;                  /* the current one, from 0 */
    struct shifts past[KEPT_ROUNDS]; /* of the rounds before, the last first */
    unsigned past_count;
    unsigned *deepest;                           /* how many rounds back something depends on work */
    bool *begun;                                 /* by thread: it has moments in the current segment so far */
    double *end_ns, *previous_end_ns, *taken_ns; /* by main thread of a file, then by stream */
};

/* The shift of M in the round BACK rounds before. False: that is before the first. */
static bool shift_then(const struct turning *turning, moment_id m, unsigned back, int64_t *shift_ns)
{
    if (back > turning->past_count)
        return false;
    const struct shifts *shifts = back == 0 ? &turning->pass.replay->shifts : &turning->past[back - 1];
    if (!shifts_are_known(shifts, m))
        return false;
    *shift_ns = shifts_get(shifts, m);
    return true;
}

/* The segment of FILE before K that has SPANS, by segment; one or more rounds back. SIZE_MAX: none has. */
static size_t segment_before(const struct rounds *rounds, const struct span *spans, size_t k, unsigned *back)
{
    for (size_t i = 0; i < rounds->segment_count; i++) {
        *back += k == 0;
        k = k == 0 ? rounds->segment_count - 1 : k - 1;
        if (spans[k].first < spans[k].end)
            return k;
    }
    return SIZE_MAX;
}

/* The shift that work AT of stream S would have, OFFSET of its moment from the start, if it was of this round: that of the work as many
 * places before the segment. */
static int64_t shift_of_work(const struct turning *turning, size_t s, int64_t place, int64_t recorded_ns,
                             bool end)
{
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = turning->pass.graph;
    const struct gpu_stream *stream = &rounds->streams->at[s];
    const struct span *spans = &rounds->of_stream[s * rounds->segment_count];
    uint32_t file = graph->gpu->devices[stream->device].file;
    size_t k = turning->segment;
    unsigned back = 0;
    int64_t behind = (int64_t)spans[k].first - place; /* places before the segment: 1 and more */
    while (k != SIZE_MAX && behind > 0) {
        k = segment_before(rounds, spans, k, &back);
        if (k != SIZE_MAX && behind > (int64_t)spans[k].end - (int64_t)spans[k].first)
            behind -= (int64_t)spans[k].end - (int64_t)spans[k].first;
        else
            break;
    }
    if (k == SIZE_MAX || back > KEPT_ROUNDS)
        return INT64_MIN;
    if (back > *turning->deepest)
        *turning->deepest = back;
    size_t i = rounds->streams->position[stream->first + spans[k].end - (size_t)behind];
    moment_id m = end ? replay_work_end(graph, i) : replay_work_start(graph, i);
    int64_t shift_ns;
    if (!shift_then(turning, m, back, &shift_ns))
        return back ? 0 : INT64_MIN;
    return shift_ns + replay_recorded_ns(graph, m) + segment_of(rounds, file, k)->offset_ns -
           (int64_t)back * rounds->length_ns - recorded_ns -
           segment_of(rounds, file, turning->segment)->offset_ns;
}

/* When thread T is at the end of the segment before the current one, as a shift of the begin of that. False: it was not there. */
static bool shift_of_boundary(const struct turning *turning, size_t t, int64_t *shift_ns)
{
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = turning->pass.graph;
    const struct span *spans = &rounds->of_thread[t * rounds->segment_count];
    uint32_t file = rounds->file_of_thread[t];
    unsigned back = 0;
    size_t k = segment_before(rounds, spans, turning->segment, &back);
    if (k == SIZE_MAX)
        return false;
    moment_id last = spans[k].end - 1;
    const struct segment *before = segment_of(rounds, file, k),
                         *now = segment_of(rounds, file, turning->segment);
    if (!shift_then(turning, last, back, shift_ns)) {
        *shift_ns = 0;
        return back > 0;
    }
    int64_t tail_ns = before->end_ns - replay_recorded_ns(graph, last);
    bool follows = last + 1 < graph->threads[t].first + graph->threads[t].count;
    float factor = follows ? replay_factor_of(&turning->pass, last + 1) : 1;
    *shift_ns = replay_shift_behind(*shift_ns, tail_ns, factor);
    *shift_ns += before->end_ns + before->offset_ns - (int64_t)back * rounds->length_ns - now->start_ns -
                 now->offset_ns;
    return true;
}

/* The shift of the begin of the current segment for thread T. */
static int64_t shift_of_begin(const struct turning *turning, size_t t)
{
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = turning->pass.graph;
    const struct span *own = &rounds->of_thread[t * rounds->segment_count + turning->segment];
    uint32_t main_thread = rounds->main_thread[rounds->file_of_thread[t]];
    int64_t shift_ns = 0, main_ns = 0;
    bool known = shift_of_boundary(turning, t, &shift_ns);
    if (t == main_thread || (known && graph->inner[own->first] != EVENT_NONE) ||
        !shift_of_boundary(turning, main_thread, &main_ns))
        return known ? shift_ns : 0;
    return main_ns; /* idle: it waits for the next step */
}

/* A replay_pass.shift_from. */
static int64_t shift_of_earlier(const struct replay_pass *pass, moment_id from, moment_id m)
{
    (void)m;
    const struct turning *turning = (const struct turning *)(const void *)pass;
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = pass->graph;
    enum moment_kind kind = replay_moment_kind(graph, from);
    if (kind == MOMENT_HOST) {
        if (is_within(rounds, from) && rounds->segment_count == 1)
            return shifts_are_known(&pass->replay->shifts, from) ? shifts_get(&pass->replay->shifts, from)
                                                                 : INT64_MIN;
        size_t t = replay_thread_of(graph, from);
        const struct span *own = &rounds->of_thread[t * rounds->segment_count + turning->segment];
        if (own->first < own->end && from >= own->first)
            return from < own->end && shifts_are_known(&pass->replay->shifts, from)
                       ? shifts_get(&pass->replay->shifts, from)
                       : INT64_MIN;
        int64_t shift_ns;
        return shift_of_boundary(turning, t, &shift_ns) ? shift_ns : INT64_MIN;
    }
    if (kind == MOMENT_JOIN)
        return is_within(rounds, from) && shifts_are_known(&pass->replay->shifts, from)
                   ? shifts_get(&pass->replay->shifts, from)
                   : INT64_MIN;
    size_t i = replay_work_of(graph, from), s = stream_of_work(rounds, graph, i);
    const struct span *own = &rounds->of_stream[s * rounds->segment_count + turning->segment];
    uint32_t place = place_on_stream(rounds, s, i);
    if (own->first < own->end ? place >= own->first : is_within(rounds, from))
        return shifts_are_known(&pass->replay->shifts, from) ? shifts_get(&pass->replay->shifts, from)
                                                             : INT64_MIN;
    if (own->first >= own->end)
        return INT64_MIN;
    return shift_of_work(turning, s, place, replay_recorded_ns(graph, from), kind == MOMENT_WORK_END);
}

/* What host moment M follows. */
static struct replay_before before_host(const struct turning *turning, moment_id m)
{
    const struct replay_graph *graph = turning->pass.graph;
    int64_t recorded_ns = replay_recorded_ns(graph, m);
    if (!begins_thread(turning->rounds, m))
        return (struct replay_before){ shifts_get(&turning->pass.replay->shifts, m - 1),
                                       recorded_ns - replay_recorded_ns(graph, m - 1) };
    size_t thread = replay_thread_of(graph, m);
    const struct segment *segment =
        segment_of(turning->rounds, turning->rounds->file_of_thread[thread], turning->segment);
    return (struct replay_before){ shift_of_begin(turning, thread), recorded_ns - segment->start_ns };
}

/* No work of a stream begins before all of it before has ended, in whichever round. */
static int64_t behind_stream(const struct turning *turning, moment_id m, int64_t shift_ns)
{
    const struct rounds *rounds = turning->rounds;
    size_t i = replay_work_of(turning->pass.graph, m), s = stream_of_work(rounds, turning->pass.graph, i);
    const struct span *own = &rounds->of_stream[s * rounds->segment_count + turning->segment];
    if (place_on_stream(rounds, s, i) != own->first)
        return shift_ns;
    int64_t least_ns =
        shift_of_work(turning, s, (int64_t)own->first - 1, replay_recorded_ns(turning->pass.graph, m), true);
    return turning->round > 0 && least_ns > shift_ns ? least_ns : shift_ns;
}

enum { MOST_RETURN_NS = 20000 }; /* what a wait takes that has nothing to wait for */

/* Is M the end of an open wait, of which the round before has the work? */
static bool ends_open_wait(const struct turning *turning, moment_id m)
{
    const struct rounds *rounds = turning->rounds;
    return turning->round > 0 && ANY(i, rounds->open_waits.count, rounds->open_waits.at[i] == m);
}

/* M, the end of an open wait, comes when all work of the round before has ended, SHIFT_NS if that was before the wait. */
static int64_t behind_all_work(const struct turning *turning, moment_id m, int64_t shift_ns)
{
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = turning->pass.graph;
    for (size_t s = 0; s < rounds->streams->count; s++) {
        const struct span *own = &rounds->of_stream[s * rounds->segment_count + turning->segment];
        bool of_file = graph->gpu->devices[rounds->streams->at[s].device].file ==
                       rounds->file_of_thread[replay_thread_of(graph, m)];
        int64_t least_ns =
            of_file && own->first < own->end
                ? shift_of_work(turning, s, (int64_t)own->first - 1, replay_recorded_ns(graph, m), true)
                : INT64_MIN;
        shift_ns = least_ns > shift_ns ? least_ns : shift_ns;
    }
    return shift_ns;
}

static void place_moments(struct turning *turning, const struct moment_run *run)
{
    const struct replay_graph *graph = turning->pass.graph;
    struct shifts *shifts = &turning->pass.replay->shifts;
    const struct changes *changes = turning->pass.changes;
    bool host = run->first < graph->host_count;
    bool rounds_wait = turning->rounds->open_waits.count > 0;
    int64_t shift_ns = 0,
            last_ns = 0; /* of the moment before in the run: its shift; of a thread, when it was recorded */
    for (moment_id m = run->first; m < run->first + run->length; m++) {
        float factor = !changes ? 1
                       : host   ? factors_get(&changes->piece, m)
                                : replay_factor_of(&turning->pass, m);
        bool has_edges = graph->has_edges[m / 64] >> (m % 64) & 1;
        struct edge_range range = has_edges ? replay_edges_of(graph, m) : (struct edge_range){ 0, 0 };
        if (host) {
            int64_t ns = moment_times_get(&graph->times, m);
            struct replay_before before =
                m == run->first ? before_host(turning, m) : (struct replay_before){ shift_ns, ns - last_ns };
            last_ns = ns;
            shift_ns = has_edges ? replay_shift_of(&turning->pass, m, &before, range, factor)
                                 : replay_shift_behind(before.shift_ns, before.own_ns, factor);
            if (rounds_wait && ends_open_wait(turning, m)) {
                if (before.own_ns > MOST_RETURN_NS) /* the wait that was recorded is not of a step */
                    shift_ns = before.shift_ns - (before.own_ns - MOST_RETURN_NS);
                shift_ns = behind_all_work(turning, m, shift_ns);
            }
        } else if (replay_moment_kind(graph, m) == MOMENT_WORK_END) {
            struct replay_before before = { shifts_get(shifts, m - 1),
                                            replay_recorded_ns(graph, m) - replay_recorded_ns(graph, m - 1) };
            shift_ns = has_edges ? replay_shift_of(&turning->pass, m, &before, range, factor)
                                 : replay_shift_behind(before.shift_ns, before.own_ns, factor);
        } else {
            shift_ns = has_edges ? replay_shift_of(&turning->pass, m, NULL, range, factor) : 0;
            if (replay_moment_kind(graph, m) == MOMENT_WORK_START)
                shift_ns = behind_stream(turning, m, shift_ns);
        }
        shifts_set(shifts, m, shift_ns);
    }
}

/* ---- how long rounds take ---- */

/* The ends of the threads of steps and of streams in this round, and what they took since the round before. */
static void measure_round(struct turning *turning)
{
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = turning->pass.graph;
    size_t files = graph->trace->file_count, last = rounds->segment_count - 1;
    for (size_t f = 0; f < files + rounds->streams->count; f++) {
        const struct span *spans;
        moment_id m;
        unsigned back = 0;
        uint32_t file = (uint32_t)f;
        if (f < files) {
            if (rounds->main_thread[f] == UINT32_MAX || rounds->steps[f] == 0)
                continue;
            spans = &rounds->of_thread[rounds->main_thread[f] * rounds->segment_count];
        } else {
            spans = &rounds->of_stream[(f - files) * rounds->segment_count];
            file = graph->gpu->devices[rounds->streams->at[f - files].device].file;
        }
        size_t k = spans[last].first < spans[last].end ? last : segment_before(rounds, spans, last, &back);
        if (k == SIZE_MAX || back || rounds->steps[file] == 0)
            continue;
        m = f < files
                ? spans[k].end - 1
                : replay_work_end(
                      graph,
                      rounds->streams->position[rounds->streams->at[f - files].first + spans[k].end - 1]);
        if (!shifts_are_known(&turning->pass.replay->shifts, m))
            continue;
        turning->end_ns[f] = (double)turning->round * (double)rounds->length_ns +
                             (double)shifts_get(&turning->pass.replay->shifts, m);
        turning->taken_ns[f] =
            (turning->end_ns[f] - turning->previous_end_ns[f]) / (double)rounds->steps[file];
        turning->previous_end_ns[f] = turning->end_ns[f];
    }
}

/* By file: what takes longest for a step. */
struct longest {
    double ns;
    enum steady_limit limit;
};

/* Cycles of a rank follow one another: its step is their mean, by how many steps they have. LONGEST is by file; *FILE gets the
 * slowest cycle of the slowest rank, if there is any. */
static double step_of_slowest_rank(const struct rounds *rounds, const struct replay_graph *graph,
                                   const struct longest *longest, uint32_t *file)
{
    const struct file_set *set = file_set_of(graph->trace);
    struct rank_sum {
        double ns, steps;
        uint32_t slowest;
    } *sums = mem_zalloc(set->ranks + 1, sizeof *sums);
    double most_ns = 0;
    for (uint32_t f = 0; f < set->count; f++) {
        struct rank_sum *sum = &sums[set->files[f].rank];
        if (longest[f].ns <= 0)
            continue;
        if (sum->steps == 0 || longest[f].ns > longest[sum->slowest].ns)
            sum->slowest = f;
        sum->ns += longest[f].ns * (double)rounds->steps[f];
        sum->steps += (double)rounds->steps[f];
    }
    for (uint32_t rank = 0; rank < set->ranks; rank++)
        if (sums[rank].steps > 0 && sums[rank].ns / sums[rank].steps > most_ns) {
            most_ns = sums[rank].ns / sums[rank].steps;
            *file = sums[rank].slowest;
        }
    free(sums);
    return most_ns;
}

/* The longest that a thread or stream took for a step of this round. */
static void find_longest(const struct turning *turning, struct steady *steady)
{
    const struct rounds *rounds = turning->rounds;
    const struct replay_graph *graph = turning->pass.graph;
    size_t files = graph->trace->file_count;
    struct longest *longest = mem_zalloc(files + 1, sizeof *longest);
    for (size_t f = 0; f < files + rounds->streams->count; f++) {
        size_t file = f < files ? f : graph->gpu->devices[rounds->streams->at[f - files].device].file;
        if (turning->taken_ns[f] > longest[file].ns)
            longest[file] = (struct longest){ turning->taken_ns[f], f < files ? STEADY_HOST : STEADY_DEVICE };
    }
    steady->step_ns = step_of_slowest_rank(rounds, graph, longest, &steady->file);
    steady->limit = longest[steady->file].limit;
    free(longest);
}

/* Keep the shifts of this round as those of the one before. */
static void turn(struct turning *turning)
{
    if (turning->past_count == KEPT_ROUNDS)
        shifts_release(&turning->past[KEPT_ROUNDS - 1]);
    else
        turning->past_count++;
    for (size_t i = KEPT_ROUNDS - 1; i > 0; i--)
        turning->past[i] = turning->past[i - 1];
    turning->past[0] = turning->pass.replay->shifts;
    shifts_init_few(&turning->pass.replay->shifts, turning->rounds->place_of_block,
                    turning->rounds->block_count);
    turning->round++;
}

double rounds_least(const struct rounds *rounds, const struct replay_graph *graph,
                    const struct changes *changes)
{
    const struct replay_pass pass = { .graph = graph, .changes = changes };
    struct longest *busiest = mem_zalloc(graph->trace->file_count + 1, sizeof *busiest);
    uint32_t ignored;
    for (size_t s = 0; s < rounds->streams->count; s++) {
        uint32_t file = graph->gpu->devices[rounds->streams->at[s].device].file;
        double sum_ns = 0;
        for (size_t k = 0; k < rounds->segment_count; k++) {
            const struct span *span = &rounds->of_stream[s * rounds->segment_count + k];
            for (uint32_t place = span->first; place < span->end; place++) {
                size_t i = rounds->streams->position[rounds->streams->at[s].first + place];
                moment_id end = replay_work_end(graph, i);
                if (is_within(rounds, end) && !gpu_work_communicates(graph->gpu->work[i]))
                    sum_ns += (double)trace_dur_ns(graph->trace, graph->gpu->event[i]) *
                              (double)replay_factor_of(&pass, end);
            }
        }
        if (rounds->steps[file] && sum_ns / (double)rounds->steps[file] > busiest[file].ns)
            busiest[file].ns = sum_ns / (double)rounds->steps[file];
    }
    double least_ns = step_of_slowest_rank(rounds, graph, busiest, &ignored);
    free(busiest);
    return least_ns;
}

struct steady rounds_replay(const struct rounds *rounds, const struct replay_graph *graph,
                            const struct changes *changes)
{
    enum { LEAST_ROUNDS = 3, MOST_ROUNDS = 60, AVERAGED = 12 };
    const double same = 1e-4;
    unsigned deepest = 0;
    struct turning turning = { .pass = { .graph = graph,
                                         .changes = changes,
                                         .shift_from = shift_of_earlier,
                                         .usual_pause_ns = rounds->usual_pause_ns },
                               .rounds = rounds,
                               .deepest = &deepest };
    size_t ends = graph->trace->file_count + rounds->streams->count;
    struct steady steady = { 0 };
    double before_ns = -1, last_ns[AVERAGED] = { 0 };
    turning.pass.replay = mem_zalloc(1, sizeof *turning.pass.replay);
    turning.pass.replay->graph = graph;
    shifts_init_few(&turning.pass.replay->shifts, rounds->place_of_block, rounds->block_count);
    turning.end_ns = mem_zalloc(ends + 1, sizeof *turning.end_ns);
    turning.previous_end_ns = mem_zalloc(ends + 1, sizeof *turning.previous_end_ns);
    turning.taken_ns = mem_zalloc(ends + 1, sizeof *turning.taken_ns);
    for (; turning.round < MOST_ROUNDS && !steady.settled; turn(&turning)) {
        for (size_t r = 0; r < rounds->runs.count; r++) {
            turning.segment = rounds->runs.at[r].segment;
            place_moments(&turning, &rounds->runs.at[r]);
        }
        measure_round(&turning);
        if (turning.round == 0)
            continue;
        find_longest(&turning, &steady);
        steady.settled = turning.round >= LEAST_ROUNDS + deepest &&
                         fabs(steady.step_ns - before_ns) <= same * steady.step_ns;
        before_ns = steady.step_ns;
        last_ns[turning.round % AVERAGED] = steady.step_ns;
    }
    if (!steady.settled) {
        steady.step_ns = 0;
        for (size_t i = 0; i < AVERAGED; i++)
            steady.step_ns += last_ns[i] / AVERAGED;
    }
    steady.round_count = turning.round;
    steady.device_ns = rounds_least(rounds, graph, changes);
    for (unsigned i = 0; i < turning.past_count; i++)
        shifts_release(&turning.past[i]);
    replay_free(turning.pass.replay);
    EACH(free, turning.end_ns, turning.previous_end_ns, turning.taken_ns);
    return steady;
}

static void *derive_recorded(const struct trace *trace)
{
    const struct rounds *rounds = rounds_of(trace);
    struct steady *steady = arena_open(sizeof *steady);
    if (rounds)
        *steady = rounds_replay(rounds, rounds_graph_of(trace), NULL);
    return steady;
}

const struct steady *rounds_recorded(const struct trace *trace)
{
    static const struct derivation derivation = { derive_recorded };
    return trace_derive(trace, &derivation);
}
