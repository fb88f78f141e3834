/*
 * activity.c - what a range of time on a thread went to. See latency.h.
 *
 * The sets of a device are disjoint, and so are those of a thread. Of a thread only what lies in the idle time of the
 * devices counts, which the sums beside its set already respect; so a range is a few searches, however long it
 * is.
 */
#include "analyze/latency/latency.h"

#include "base/rows.h"
#include "base/search.h"
#include "derive/device_use.h"
#include "derive/host_state.h"
#include <assert.h>

static_assert(LATENCY_HOST - LATENCY_WAITING == (int)HOST_ACTIVITIES, "a part for each activity of a thread");
static_assert(LATENCY_WAITING == (int)DEVICE_USES, "a part for each use of a device");

const char *latency_part_name(enum latency_part part)
{
#define PART_NAME(id, word, ...) word,
    static const char *const names[LATENCY_PARTS] = { LATENCY_PART_ROWS(PART_NAME) };
    return names[part];
}

/* ---- sets with sums ---- */

static int64_t time_before(struct timed_set *set, struct timed_set *busy, int64_t moment_ns);

/* How long the devices were busy before MOMENT; BUSY are the parts of their time. */
static int64_t busy_before(struct timed_set busy[DEVICE_USES], int64_t moment_ns)
{
    return SUM(int64_t, part, DEVICE_USES, time_before(&busy[part], NULL, moment_ns));
}

/* Time of SET before MOMENT; of what lies in the sets BUSY (NULL: none) nothing counts. */
static int64_t time_before(struct timed_set *set, struct timed_set *busy, int64_t moment_ns)
{
    size_t i = PLACE_NEAR(k, set->near, set->set.count, set->set.at[k].start_ns < moment_ns);
    set->near = i;
    if (i == 0)
        return 0;
    const struct interval *last = &set->set.at[i - 1];
    if (last->end_ns <= moment_ns)
        return set->before_ns[i];
    int64_t part_ns = moment_ns - last->start_ns;
    if (busy)
        part_ns -= busy_before(busy, moment_ns) - busy_before(busy, last->start_ns);
    return set->before_ns[i - 1] + part_ns;
}

static int64_t time_within(struct timed_set *set, struct timed_set *busy, int64_t start_ns, int64_t end_ns)
{
    return time_before(set, busy, end_ns) - time_before(set, busy, start_ns);
}

/* SET, which is taken; BUSY as above. It lives as long as ACTIVITY. */
static struct timed_set timed(struct activity *activity, struct intervals set, struct timed_set *busy)
{
    struct arena *arena = arena_of(activity);
    size_t bytes = mem_times(set.count, sizeof *set.at);
    struct timed_set made = { .set = { .at = arena_alloc(arena, bytes), .count = set.count } };
    if (set.count)
        memcpy(made.set.at, set.at, bytes);
    intervals_release(&set);
    made.before_ns = arena_alloc(arena, mem_times(made.set.count + 1, sizeof *made.before_ns));
    made.before_ns[0] = 0;
    for (size_t i = 0; i < made.set.count; i++) {
        int64_t start_ns = made.set.at[i].start_ns, end_ns = made.set.at[i].end_ns;
        int64_t taken_ns = busy ? busy_before(busy, end_ns) - busy_before(busy, start_ns) : 0;
        made.before_ns[i + 1] = made.before_ns[i] + (end_ns - start_ns - taken_ns);
    }
    return made;
}

/* ---- devices ---- */

/* Let WALK visit the work of the devices of FILE by start. Returns the positions in gpu_events, new, free with free(); NULL for
 * a single device, whose work is in this order. */
static uint32_t *walk_file(struct device_use_walk *walk, uint32_t file)
{
    const struct gpu_events *gpu = walk->gpu;
    size_t device = gpu_first_device(gpu, file), d = device;
    for (; d < gpu->device_count && gpu->devices[d].file == file; d++)
        walk->count += gpu->devices[d].count;
    walk->offset = walk->count ? gpu->devices[device].first : 0;
    if (d - device < 2)
        return NULL;
    uint32_t *at = mem_alloc(mem_times(walk->count + 1, sizeof *at));
    for (size_t i = 0; i < walk->count; i++)
        at[i] = (uint32_t)(walk->offset + i);
    SORT_BY(at, walk->count, i, trace_start_ns(gpu->trace, gpu->event[at[i]]));
    walk->at = at;
    return at;
}

static void add_file(struct activity *activity, uint32_t file)
{
    struct device_use_walk walk = { .gpu = activity->gpu };
    uint32_t *at = walk_file(&walk, file);
    struct device_use use = { 0 };
    struct intervals exposed[DEVICE_USES] = { 0 };
    while (device_use_next(&walk, &use))
        for (int part = 0; part < DEVICE_USES; part++)
            for (size_t i = 0; i < use.exposed[part].count; i++)
                intervals_add(&exposed[part], use.exposed[part].at[i].start_ns,
                              use.exposed[part].at[i].end_ns);
    device_use_release(&use);
    free(at);
    activity->has_work[file] = walk.count > 0;
    for (int part = 0; part < DEVICE_USES; part++)
        activity->of_file[file][part] = timed(activity, exposed[part], NULL);
}

/* ---- operations by their calls ---- */

enum { SUMMED = 16 }; /* see activity.operations_ns */

/* First thread by thread, whose calls then are in order except for a few: those of two threads would take turns. */
static void find_operations(struct activity *activity)
{
    const struct trace *trace = activity->trace;
    const struct gpu_events *gpu = activity->gpu;
    size_t *first = activity->first = mem_zalloc(trace->track_count + 2, sizeof *first);
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE)
            first[trace->track[gpu->call[i]] + 2]++;
    for (size_t t = 0; t < trace->track_count; t++)
        first[t + 2] += first[t + 1];
    size_t count = first[trace->track_count + 1];
    activity->operations = mem_alloc(mem_times(count + 1, sizeof *activity->operations));
    for (size_t i = 0; i < gpu->count; i++)
        if (gpu->call[i] != EVENT_NONE)
            activity->operations[first[trace->track[gpu->call[i]] + 1]++] = (uint32_t)i;
    for (size_t t = 0; t < trace->track_count; t++) {
        uint32_t *at = activity->operations + first[t];
        SORT_BY(at, first[t + 1] - first[t], i, trace_start_ns(trace, gpu->call[at[i]]));
    }
    int64_t sum_ns = 0;
    activity->operations_ns = mem_alloc(mem_times(count / SUMMED + 1, sizeof *activity->operations_ns));
    for (size_t i = 0; i < count; i++) {
        if (i % SUMMED == 0)
            activity->operations_ns[i / SUMMED] = sum_ns;
        sum_ns += trace_dur_ns(trace, gpu->event[activity->operations[i]]);
    }
}

static int64_t called_ns(const struct activity *activity, size_t work)
{
    return trace_start_ns(activity->trace, activity->gpu->call[activity->operations[work]]);
}

size_t activity_operations(struct activity *activity, track_id thread, int64_t start_ns, int64_t end_ns,
                           size_t *first)
{
    size_t from = activity->first[thread], count = activity->first[thread + 1] - from, i, end;
    SEARCH_NEAR(i, activity->near[0], count, called_ns(activity, from + i) < start_ns);
    SEARCH_NEAR(end, activity->near[1], count, called_ns(activity, from + end) < end_ns);
    activity->near[0] = i;
    activity->near[1] = end;
    *first = from + i;
    return from + end;
}

int64_t activity_operations_ns(const struct activity *activity, size_t i)
{
    int64_t sum_ns = i ? activity->operations_ns[(i - 1) / SUMMED] : 0;
    for (size_t k = i ? (i - 1) / SUMMED * SUMMED : 0; k < i; k++)
        sum_ns += trace_dur_ns(activity->trace, activity->gpu->event[activity->operations[k]]);
    return sum_ns;
}

struct activity *activity_open(const struct trace *trace)
{
    struct activity *activity = arena_open(sizeof *activity);
    ARENA_OWNS(arena_of(activity), &activity->operations, &activity->operations_ns, &activity->first);
    activity->trace = trace;
    activity->gpu = gpu_events_of(trace);
    host_state_of(trace); /* before the rest is there: to make it takes as much again */
    activity->has_work = arena_zalloc(arena_of(activity), trace->file_count + 1, sizeof *activity->has_work);
    activity->of_thread =
        arena_zalloc(arena_of(activity), trace->track_count + 1, sizeof *activity->of_thread);
    activity->of_file = arena_zalloc(arena_of(activity), trace->file_count + 1, sizeof *activity->of_file);
    for (uint32_t file = 0; file < trace->file_count; file++)
        add_file(activity, file);
    find_operations(activity);
    return activity;
}

/* What THREAD does while the devices are idle, computed when first requested. */
static struct timed_set *host_of(struct activity *activity, track_id thread, uint32_t file)
{
    if (!activity->of_thread[thread]) {
        const struct host_state *host = host_state_of(activity->trace);
        struct timed_set *sets = arena_zalloc(arena_of(activity), HOST_ACTIVITIES, sizeof *sets);
        for (int part = 0; part < HOST_ACTIVITIES; part++) {
            struct intervals copy = { 0 };
            const struct intervals *set = &host->threads[thread].in[part];
            for (size_t i = 0; i < set->count; i++)
                intervals_add(&copy, set->at[i].start_ns, set->at[i].end_ns);
            sets[part] = timed(activity, copy, activity->of_file[file]);
        }
        activity->of_thread[thread] = sets;
    }
    return activity->of_thread[thread];
}

void activity_parts(struct activity *activity, track_id thread, int64_t start_ns, int64_t end_ns,
                    int64_t parts_ns[LATENCY_PARTS])
{
    uint32_t file = activity->trace->tracks[thread].file;
    int64_t rest_ns = end_ns - start_ns;
    for (int part = 0; part < DEVICE_USES; part++) {
        parts_ns[part] = time_within(&activity->of_file[file][part], NULL, start_ns, end_ns);
        rest_ns -= parts_ns[part];
    }
    struct timed_set *host = host_of(activity, thread, file);
    for (int part = 0; part < HOST_ACTIVITIES; part++) {
        parts_ns[LATENCY_WAITING + part] =
            time_within(&host[part], activity->of_file[file], start_ns, end_ns);
        rest_ns -= parts_ns[LATENCY_WAITING + part];
    }
    parts_ns[LATENCY_HOST] = rest_ns;
}
