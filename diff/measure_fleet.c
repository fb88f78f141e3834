/*
 * measure_fleet.c - a job of many ranks as samples; see measure.h.
 *
 * A sample is a step of the job: ranks wait for each other so their times of a step are not independent. Its time is
 * that of the median rank, its parts are means over the devices. Names are sampled by rank: the median of the runs on
 * each rank.
 */
#include "base/rows.h"
#include "base/search.h"
#include "diff/measure.h"
#include "fleet/fleet.h"
#include "figures/sketch.h"
#include <inttypes.h>

/* ---- steps ---- */

/* What the devices did in a step, added up. */
struct fleet_use {
    double length_ns, part_ns[FACTS_PARTS], waited_ns;
    int64_t devices;
    uint32_t sample; /* SAMPLE_NONE: the step is not common to all ranks and no sample */
};

enum { SAMPLE_NONE = UINT32_MAX };

static size_t index_of(const struct fleet *fleet, int64_t step)
{
    size_t i = PLACE(k, fleet->steps.count, fleet->steps.at[k].step < step);
    return i < fleet->steps.count && fleet->steps.at[i].step == step ? i : SIZE_MAX;
}

static void add_up_use(const struct fleet *fleet, struct fleet_use *uses)
{
    const struct facts_step *steps = facts_rows(fleet->job.facts, FACTS_STEPS);
    FOR_EACH(member, &fleet->job.members) {
        for (size_t i = 0; i < member->count[FACTS_STEPS]; i++) {
            const struct facts_step *step = &steps[member->first[FACTS_STEPS] + i];
            if (step->complete != 1 || step->part_ns[PART_COMPUTATION] == FACTS_MISSING)
                continue;
            struct fleet_use *use = &uses[index_of(fleet, step->number)]; /* complete ones are all listed */
            use->devices++;
            use->length_ns += (double)step->duration_ns;
            for (int p = 0; p < FACTS_PARTS; p++)
                use->part_ns[p] += (double)step->part_ns[p];
        }
    }
    for (size_t i = 0; i < fleet->collectives.count; i++) {
        size_t step = index_of(fleet, fleet->collectives.at[i].step);
        if (step != SIZE_MAX)
            uses[step].waited_ns += (double)fleet->collectives.at[i].waited_ns;
    }
}

static void set_use(struct sampling *to, uint32_t sample, const struct fleet_use *use)
{
    double devices = (double)use->devices, busy_ns = 0;
    if (use->devices == 0)
        return;
    for (int p = 0; p < PART_IDLE; p++)
        busy_ns += use->part_ns[p] / devices;
    double idle_ns = use->length_ns / devices - busy_ns;
    sampling_set(to, "gpu_busy", "GPU busy", TABLE_NS, sample, busy_ns);
    sampling_set(to, "computation", "computation", TABLE_NS, sample,
                 use->part_ns[PART_COMPUTATION] / devices);
    sampling_set(to, "exposed_communication", "exposed communication", TABLE_NS, sample,
                 use->part_ns[PART_EXPOSED] / devices);
    sampling_set(to, "exposed_copies", "exposed copies", TABLE_NS, sample,
                 use->part_ns[PART_COPIES] / devices);
    sampling_set(to, "gpu_idle", "GPU idle", TABLE_NS, sample, idle_ns);
    sampling_set(to, "idle_loading", "idle for data loading", TABLE_NS, sample,
                 use->part_ns[PART_IDLE + GAP_DATA_LOADING] / devices);
    if (use->length_ns > 0)
        sampling_set(to, "idle_share", "GPU idle, share of the time", TABLE_SHARE, sample,
                     idle_ns / (use->length_ns / devices));
}

static void measure_waiting(struct sampling *to, const struct fleet *fleet, const struct fleet_use *uses)
{
    struct measure_rows *rows =
        sampling_open_rows(to, "waiting", "Waiting in a step that a rank caused, on all others", TABLE_NS);
    rows->alone = true;
    FOR_EACH(one, &fleet->collectives) {
        size_t step = index_of(fleet, one->step);
        char name[32];
        if (step == SIZE_MAX || uses[step].sample == SAMPLE_NONE || one->blamed == FACTS_MISSING)
            continue;
        int len = snprintf(name, sizeof name, "rank %" PRId64, one->blamed);
        measure_rows_add(rows, name, (size_t)len, uses[step].sample, (double)one->waited_ns, 0);
    }
}

/* Do the common steps have numbers? They follow the one without a number. */
static bool are_marked(const struct fleet *fleet)
{
    size_t i = fleet->steps.count;
    while (i > 0 && !fleet->steps.at[i - 1].common)
        i--;
    return i > 0 && fleet->steps.at[i - 1].step != FACTS_MISSING;
}

/* Without marked steps, the whole recording is the only "step", and its sample is the job. */
static void measure_fleet_measure_steps(struct measures *measures, const struct fleet *fleet)
{
    SCOPED struct fleet_use *uses = mem_zalloc(fleet->steps.count + 1, sizeof *uses);
    bool marked = are_marked(fleet);
    struct sampling *to = marked ? &measures->by_step : &measures->by_file;
    measures->files_without_steps += !marked;
    add_up_use(fleet, uses);
    for (size_t i = 0; i < fleet->steps.count; i++) {
        const struct fleet_step_row *step = &fleet->steps.at[i];
        uses[i].sample = SAMPLE_NONE;
        if (!step->common || (marked && step->step == FACTS_MISSING))
            continue;
        uint32_t sample = uses[i].sample = sampling_add(
            to, &(struct measure_sample){ (uint32_t)measures->parts - 1, 0, 0, marked ? step->step : -1 });
        sampling_set(to, marked ? "step_time" : "window", marked ? "step time" : "window", TABLE_NS, sample,
                     (double)step->median_ns);
        sampling_set(to, "step_spread", "slowest minus fastest rank", TABLE_NS, sample,
                     (double)(step->max_ns - step->min_ns));
        if (fleet->meetings.count)
            sampling_set(to, "waiting", "waiting for other ranks", TABLE_NS, sample,
                         uses[i].waited_ns / (double)step->ranks);
        set_use(to, sample, &uses[i]);
    }
    if (fleet->meetings.count)
        measure_waiting(to, fleet, uses);
}

/* ---- names ---- */

/* A name on a rank. */
struct named {
    name_id kind, name;
    uint32_t rank; /* index into fleet->ranks, which the caller has sorted */
    const struct facts_name *facts;
};

static const struct key by_kind_name_rank[] = { ASC(struct named, kind), ASC(struct named, name),
                                                ASC(struct named, rank), KEY_END };

/* All runs of one name: COUNT of NAMED, by rank. */
static void add_name(const struct fleet *fleet, struct measure_rows *rows, const struct named *named,
                     size_t count)
{
    const char *name = names_text(fleet->job.facts->texts, named->name);
    size_t len = names_length(fleet->job.facts->texts, named->name);
    FOR_RUNS(i, end, count, named[end].rank == named[i].rank) {
        SCOPED_BY(sketch_release) struct sketch sketch = { 0 };
        for (size_t k = i; k < end; k++)
            if (named[k].facts->sketch.at)
                sketch_decode(&sketch, named[k].facts->sketch.at, named[k].facts->sketch.len);
        if (sketch.count)
            measure_rows_add(rows, name, len, named[i].rank, (double)sketch_quantile(&sketch, 1, 2), 0);
    }
}

static struct measure_rows *open_names(struct measures *measures, const char *key, const char *title)
{
    struct measure_rows *rows = sampling_open_rows(&measures->by_rank, key, title, TABLE_NS);
    rows->only_listed = rows->alone = true;
    rows->may_be_renamed = strcmp(key, "kernel_medians") == 0;
    return rows;
}

static void measure_names(struct measures *measures, const struct fleet *fleet)
{
    const struct facts *facts = fleet->job.facts;
    const struct facts_name *names = facts_rows(facts, FACTS_NAMES);
    SCOPED VEC_OF(struct named) list = { 0 };
    uint32_t rank = 0;
    for (size_t m = 0; m < fleet->job.members.count; m++) {
        const struct fleet_member *member = &fleet->job.members.at[m];
        rank += m > 0 && member[-1].rank != member->rank;
        if (m == 0 || member[-1].rank != member->rank)
            sampling_add(&measures->by_rank,
                         &(struct measure_sample){ (uint32_t)measures->parts - 1, rank, member->rank, -1 });
        for (size_t i = 0; i < member->count[FACTS_NAMES]; i++) {
            const struct facts_name *name = &names[member->first[FACTS_NAMES] + i];
            *VEC_PUSH(&list) = (struct named){ name->kind, name->name, rank, name };
        }
    }
    SORT(&list, by_kind_name_rank);
    struct measure_rows *kernels = open_names(measures, "kernel_medians",
                                              "Median run of each kernel: mean over the ranks"),
                        *operators = open_names(measures, "operator_medians",
                                                "Median run of each operator: mean over the ranks");
    FOR_RUNS(first, end, list.count,
             list.at[end].kind == list.at[first].kind && list.at[end].name == list.at[first].name) {
        const char *kind = names_text(facts->texts, list.at[first].kind);
        if (strcmp(kind, "operator") == 0)
            add_name(fleet, operators, list.at + first, end - first);
        else if (strcmp(kind, "kernel") == 0 || strcmp(kind, "copy") == 0)
            add_name(fleet, kernels, list.at + first, end - first);
    }
}

/* The maximum in use by each rank on one of its devices. The samples exist already. */
static void measure_peaks(struct measures *measures, const struct fleet *fleet)
{
    const struct facts_device *devices = facts_rows(fleet->job.facts, FACTS_DEVICES);
    int64_t peak = FACTS_MISSING, most = FACTS_MISSING;
    uint32_t rank = 0;
    for (size_t m = 0; m < fleet->job.members.count; m++) {
        const struct fleet_member *member = &fleet->job.members.at[m];
        if (m > 0 && member[-1].rank != member->rank) {
            rank++;
            peak = FACTS_MISSING;
        }
        for (size_t d = 0; d < member->count[FACTS_DEVICES]; d++) {
            int64_t one = devices[member->first[FACTS_DEVICES] + d].peak_allocated;
            peak = one > peak ? one : peak;
        }
        if (peak != FACTS_MISSING)
            sampling_set(&measures->by_rank, "memory_peak", "memory peak", TABLE_BYTES, rank, (double)peak);
        most = peak > most ? peak : most;
    }
    if (most != FACTS_MISSING)
        sampling_metric(&measures->by_rank, "memory_peak")->whole = (double)most;
}

/* ---- who is slow ---- */

static void add_slow(struct measures *measures, const char *what, const char *trouble, double figure)
{
    *VEC_PUSH(&measures->slow) = (struct measure_slow){ what, trouble, figure };
}

static void measure_slow(struct measures *measures, const struct fleet *fleet)
{
    struct arena *arena = arena_of(measures);
    FOR_EACH(row, &fleet->ranks) {
        const char *name = arena_printf(arena, "rank %" PRId64, row->rank);
        if (row->slow_gpu)
            add_slow(measures, name, "slow GPU", row->gpu);
        if (row->habit >= HABIT_MOSTLY)
            add_slow(measures, name, "holds the job up", row->caused_share);
    }
    FOR_EACH(row, &fleet->hosts)
        if (row->slow)
            add_slow(measures, arena_printf(arena, "host %s", row->host.at), "slow host", row->host_pace);
    FOR_EACH(row, &fleet->links) {
        if (row->slow)
            add_slow(measures,
                     arena_printf(arena, "%s: %s", row->hosts.at ? row->hosts.at : "?", row->kind.at),
                     "slow link", row->against);
    }
}

static void add_fact(struct measures *measures, const struct facts *facts, const char *key, const char *title,
                     name_id value)
{
    struct text text = fleet_text(facts, value);
    if (text.at && text.len)
        measures_add_fact(measures, key, title, text.at, text.len);
}

bool measure_fleet(struct measures *measures, const struct facts *facts, size_t unread, const char *why,
                   struct tpa_error *err)
{
    if (!measures_part(measures, MEASURE_FLEETS, err))
        return false;
    SCOPED_OBJECT struct fleet *fleet = fleet_open(facts);
    measures->lacks |= facts_lacks(facts);
    measures->files += fleet->job.members.count;
    measures->files_unread += unread;
    if (unread && !measures->why_unread)
        measures->why_unread = arena_strndup(arena_of(measures), why, strlen(why));
    if (fleet->job.world_size != FACTS_MISSING)
        measures->world_size = fleet->job.world_size;
    FOR_EACH(member, &fleet->job.members) {
        measures->has_gpu |= member->count[FACTS_DEVICES] > 0;
        measures->lacks |= fleet_member_lacks(&fleet->job, member);
        *VEC_PUSH(&measures->ranks) = member->rank;
        add_fact(measures, facts, "gpu", "GPU", member->recording->device);
        add_fact(measures, facts, "producer", "profiler", member->recording->producer);
    }
    measure_fleet_measure_steps(measures, fleet);
    measure_names(measures, fleet);
    measure_peaks(measures, fleet);
    measure_slow(measures, fleet);
    return true;
}
