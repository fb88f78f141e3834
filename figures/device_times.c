#include "figures/gather.h"

#include "base/rows.h"
#include "base/search.h"

/* ---- sets of intervals ---- */

void measured_collect(struct measured *measured, struct intervals *set, struct arena *arena)
{
    measured->set = *set;
    ARENA_OWNS(arena, &measured->set);
    *set = (struct intervals){ 0 };
    measured->before_ns = arena_alloc(arena, mem_times(measured->set.count + 1, sizeof *measured->before_ns));
    measured->before_ns[0] = 0;
    for (size_t i = 0; i < measured->set.count; i++)
        measured->before_ns[i + 1] =
            measured->before_ns[i] + measured->set.at[i].end_ns - measured->set.at[i].start_ns;
}

/* Length in ns of the set before MOMENT. */
static int64_t before(const struct measured *measured, int64_t moment_ns)
{
    size_t i = PLACE(k, measured->set.count, measured->set.at[k].end_ns <= moment_ns);
    int64_t length_ns = measured->before_ns[i];
    if (i < measured->set.count && measured->set.at[i].start_ns < moment_ns)
        length_ns += moment_ns - measured->set.at[i].start_ns;
    return length_ns;
}

int64_t measured_within(const struct measured *measured, int64_t start_ns, int64_t end_ns)
{
    return start_ns < end_ns ? before(measured, end_ns) - before(measured, start_ns) : 0;
}

/* ---- a device ---- */

struct walk {
    struct fleet_timeline line;
    const struct timeline_moment *moments;
    size_t count, next;
    timeline_stop *stop;
    void *context;
    /* The work: a part of it, of which the line includes what was before NOW. */
    struct device_use_walk work;
    struct device_use use;
    int64_t now_ns;
    size_t near[DEVICE_USES], near_communication; /* where the sets of the part were looked at */
};

/* Add what was done in the part from NOW to UNTIL. */
static void add_part(struct walk *walk, int64_t until_ns)
{
    struct fleet_timeline *line = &walk->line;
    if (until_ns <= walk->now_ns)
        return;
    for (size_t u = 0; u < DEVICE_USES; u++)
        line->used_ns[u] +=
            intervals_length_near(&walk->use.exposed[u], walk->now_ns, until_ns, &walk->near[u]);
    line->communicated_ns += intervals_length_near(&walk->use.of[USE_COMMUNICATION], walk->now_ns, until_ns,
                                                   &walk->near_communication);
    walk->now_ns = until_ns;
}

/* Add what was done from NOW to UNTIL. */
static void move_to(struct walk *walk, int64_t until_ns)
{
    while (until_ns > walk->work.end_ns || walk->work.end == 0) {
        add_part(walk, walk->work.end_ns);
        if (!device_use_next(&walk->work, &walk->use))
            return;
        walk->now_ns = walk->work.start_ns;
        memset(walk->near, 0, sizeof walk->near);
        walk->near_communication = 0;
    }
    add_part(walk, until_ns);
}

/* Stop at the moments before UNTIL. */
static void stop_until(struct walk *walk, int64_t until_ns)
{
    for (; walk->next < walk->count && walk->moments[walk->next].at_ns < until_ns; walk->next++) {
        move_to(walk, walk->moments[walk->next].at_ns);
        walk->stop(walk->context, &walk->line, &walk->moments[walk->next]);
    }
}

/* A gap_taker. */
static void pass_gap(void *context, const struct gap *gap)
{
    struct walk *walk = context;
    stop_until(walk, gap->start_ns + 1); /* no overflow, as it ends later */
    walk->line.gap = gap;
    stop_until(walk, gap->end_ns);
    walk->line.gap = NULL;
    for (size_t c = 0; c < GAP_CAUSES; c++)
        walk->line.idle_ns[c] += gap->part_ns[c];
}

static const struct key by_at[] = { ASC(struct timeline_moment, at_ns), KEY_END };

int64_t timeline_walk(const struct gpu_events *gpu, uint32_t device, struct gap_finder *finder,
                      struct timeline_moment *moments, size_t count, timeline_stop *stop, void *context)
{
    const struct gpu_device *of = &gpu->devices[device];
    struct walk walk = { .moments = moments, .count = count, .stop = stop, .context = context };
    walk.work = (struct device_use_walk){ .gpu = gpu, .offset = of->first, .count = of->count };
    int64_t busy_ns = 0;
    SORT_ARRAY(moments, count, by_at);
    gap_finder_visit(finder, device, pass_gap, &walk);
    stop_until(&walk, INT64_MAX);
    move_to(&walk, INT64_MAX);
    for (; walk.next < count; walk.next++)
        stop(context, &walk.line, &moments[walk.next]);
    for (size_t u = 0; u < DEVICE_USES; u++)
        busy_ns += walk.line.used_ns[u];
    device_use_release(&walk.use);
    return busy_ns;
}

void timeline_begin(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                    int64_t part_ns[FACTS_PARTS])
{
    const struct gap *gap = line->gap;
    bool ends_within = gap && gap->end_ns <= end_ns;
    if (end_ns <= start_ns)
        return;
    for (size_t u = 0; u < DEVICE_USES; u++)
        part_ns[u] -= line->used_ns[u];
    for (size_t c = 0; c < GAP_CAUSES; c++)
        part_ns[PART_IDLE + c] -= line->idle_ns[c] + (ends_within ? gap->part_ns[c] : 0);
    if (gap)
        part_ns[PART_IDLE + gap->cause] += (ends_within ? gap->end_ns : end_ns) - start_ns;
}

void timeline_end(const struct fleet_timeline *line, int64_t start_ns, int64_t end_ns,
                  int64_t part_ns[FACTS_PARTS])
{
    const struct gap *gap = line->gap;
    if (end_ns <= start_ns)
        return;
    for (size_t u = 0; u < DEVICE_USES; u++)
        part_ns[u] += line->used_ns[u];
    for (size_t c = 0; c < GAP_CAUSES; c++)
        part_ns[PART_IDLE + c] += line->idle_ns[c];
    if (gap && gap->start_ns >= start_ns) /* else the beginning has counted it */
        part_ns[PART_IDLE + gap->cause] += end_ns - gap->start_ns;
    part_ns[PART_EDGE] = end_ns - start_ns;
    for (size_t p = 0; p < PART_EDGE; p++)
        part_ns[PART_EDGE] -= part_ns[p];
}
