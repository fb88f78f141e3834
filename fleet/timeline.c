/* timeline.c - see timeline.h. */
#include "fleet/timeline.h"

#include "base/memory.h"
#include "base/search.h"
#include <stdlib.h>
#include <string.h>

/* ---- sets of intervals ---- */

void measured_take(struct measured *measured, struct intervals *set)
{
    measured->set = *set;
    *set = (struct intervals){ 0 };
    measured->before_ns = mem_alloc(mem_times(measured->set.count + 1, sizeof *measured->before_ns));
    measured->before_ns[0] = 0;
    for (size_t i = 0; i < measured->set.count; i++)
        measured->before_ns[i + 1] =
            measured->before_ns[i] + measured->set.at[i].end_ns - measured->set.at[i].start_ns;
}

/* Length in ns of the set before MOMENT. */
static int64_t before(const struct measured *measured, int64_t moment_ns)
{
    size_t i;
    SEARCH(i, measured->set.count, measured->set.at[i].end_ns <= moment_ns);
    int64_t length_ns = measured->before_ns[i];
    if (i < measured->set.count && measured->set.at[i].start_ns < moment_ns)
        length_ns += moment_ns - measured->set.at[i].start_ns;
    return length_ns;
}

int64_t measured_within(const struct measured *measured, int64_t start_ns, int64_t end_ns)
{
    return start_ns < end_ns ? before(measured, end_ns) - before(measured, start_ns) : 0;
}

void measured_release(struct measured *measured)
{
    intervals_release(&measured->set);
    free(measured->before_ns);
    measured->before_ns = NULL;
}

/* ---- a device ---- */

static void find_gaps(struct fleet_timeline *line, uint32_t device, const struct gaps *gaps)
{
    size_t first, end;
    SEARCH(first, gaps->count, gaps->at[first].device < device);
    SEARCH(end, gaps->count, gaps->at[end].device <= device);
    line->gaps = gaps->count ? gaps->at + first : NULL;
    line->gap_count = end - first;
    line->cause_before_ns = mem_zalloc(line->gap_count + 1, sizeof *line->cause_before_ns);
    for (size_t i = 0; i < line->gap_count; i++)
        for (size_t c = 0; c < GAP_CAUSES; c++)
            line->cause_before_ns[i + 1][c] = line->cause_before_ns[i][c] + line->gaps[i].part_ns[c];
}

void timeline_init(struct fleet_timeline *line, const struct gpu_events *gpu, uint32_t device,
                   const struct gaps *gaps)
{
    *line = (struct fleet_timeline){ .span = { INT64_MAX, INT64_MIN } };
    const struct gpu_device *of = &gpu->devices[device];
    struct device_use use = { 0 };
    for (size_t i = of->first; i < of->first + of->count; i++) {
        int64_t start_ns = trace_start_ns(gpu->trace, gpu->event[i]),
                end_ns = trace_end_ns(gpu->trace, gpu->event[i]);
        device_use_add(&use, gpu->work[i], start_ns, end_ns);
        line->span.start_ns = start_ns < line->span.start_ns ? start_ns : line->span.start_ns;
        line->span.end_ns = end_ns > line->span.end_ns ? end_ns : line->span.end_ns;
    }
    device_use_finish(&use);
    for (size_t u = 0; u < DEVICE_USES; u++) {
        line->busy_ns += intervals_length(&use.exposed[u]);
        measured_take(&line->exposed[u], &use.exposed[u]);
    }
    measured_take(&line->communication, &use.of[USE_COMMUNICATION]);
    device_use_release(&use);
    find_gaps(line, device, gaps);
}

void timeline_release(struct fleet_timeline *line)
{
    for (size_t u = 0; u < DEVICE_USES; u++)
        measured_release(&line->exposed[u]);
    measured_release(&line->communication);
    free(line->cause_before_ns);
    line->cause_before_ns = NULL;
}

/* Add the part of GAP within [START, END), which does not contain all of it. */
static void add_part_of_gap(const struct gap *gap, int64_t start_ns, int64_t end_ns, int64_t *idle_ns)
{
    int64_t from_ns = gap->start_ns > start_ns ? gap->start_ns : start_ns,
            to_ns = gap->end_ns < end_ns ? gap->end_ns : end_ns;
    if (from_ns < to_ns)
        idle_ns[gap->cause] += to_ns - from_ns;
}

/* Store the idle time of [START, END) by cause in IDLE. Returns its sum. */
static int64_t split_gaps(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                          int64_t *idle_ns)
{
    size_t first, end; /* gaps entirely within */
    SEARCH(first, line->gap_count, line->gaps[first].start_ns < start_ns);
    SEARCH(end, line->gap_count, line->gaps[end].end_ns <= end_ns);
    for (size_t c = 0; c < GAP_CAUSES && first < end; c++)
        idle_ns[c] += line->cause_before_ns[end][c] - line->cause_before_ns[first][c];
    if (first > 0)
        add_part_of_gap(&line->gaps[first - 1], start_ns, end_ns, idle_ns);
    if (end < line->gap_count && end + 1 != first)
        add_part_of_gap(&line->gaps[end], start_ns, end_ns, idle_ns);
    int64_t sum_ns = 0;
    for (size_t c = 0; c < GAP_CAUSES; c++)
        sum_ns += idle_ns[c];
    return sum_ns;
}

void timeline_split(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                    int64_t part_ns[FACTS_PARTS])
{
    memset(part_ns, 0, FACTS_PARTS * sizeof *part_ns);
    if (end_ns <= start_ns)
        return;
    int64_t rest_ns = end_ns - start_ns;
    for (size_t u = 0; u < DEVICE_USES; u++)
        rest_ns -= part_ns[u] = measured_within(&line->exposed[u], start_ns, end_ns);
    part_ns[PART_EDGE] = rest_ns - split_gaps(line, start_ns, end_ns, part_ns + PART_IDLE);
}
