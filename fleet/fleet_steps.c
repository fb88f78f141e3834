/* fleet_steps.c - steps over all ranks, the time of each rank by use, and a picture of both; see fleet.h. */
#include "fleet/fleet.h"

#include "base/rows.h"
#include "base/search.h"
#include "base/sum.h"
#include <math.h>

/* A complete step of a rank. */
struct stay {
    int64_t step, rank, duration_ns, own_ns; /* own: without exposed communication */
};

struct stays {
    VEC_OF(struct stay) list;
};

/* ---- sums of ranks ---- */

static void add_parts(struct fleet *fleet, const struct facts_step *step, struct fleet_rank_row *row,
                      int64_t idle_ns[GAP_CAUSES + 1])
{
    if (step->part_ns[PART_COMPUTATION] == FACTS_MISSING)
        return;
    sum_add(&fleet->total_ns, step->duration_ns);
    sum_add(&row->total_ns, step->duration_ns);
    sum_add(&row->computation_ns, step->part_ns[PART_COMPUTATION]);
    sum_add(&row->exposed_ns, step->part_ns[PART_EXPOSED]);
    sum_add(&row->overlapped_ns, step->all_communication_ns - step->part_ns[PART_EXPOSED]);
    sum_add(&row->copies_ns, step->part_ns[PART_COPIES]);
    for (size_t c = 0; c <= GAP_CAUSES; c++) {
        int64_t part_ns = step->part_ns[PART_IDLE + c];
        sum_add(&idle_ns[c], part_ns);
        sum_add(&row->idle_ns, part_ns);
        if (c < GAP_CAUSES && gap_causes[c].owner == GAP_OF_LOADING)
            sum_add(&row->idle_loading_ns, part_ns);
        else if (c < GAP_CAUSES && gap_causes[c].owner == GAP_OF_HOST)
            sum_add(&row->idle_host_ns, part_ns);
    }
}

static void add_stay(struct stays *stays, const struct facts_step *step, int64_t rank)
{
    int64_t exposed_ns = step->part_ns[PART_EXPOSED] == FACTS_MISSING ? 0 : step->part_ns[PART_EXPOSED];
    *VEC_PUSH(&stays->list) =
        (struct stay){ step->number, rank, step->duration_ns, step->duration_ns - exposed_ns };
}

static const struct key by_step_rank_own[] = { ASC(struct stay, step), ASC(struct stay, rank),
                                               DESC(struct stay, own_ns), KEY_END };

/* A rank is represented by its device with the most own work. */
static void join_devices(struct stays *stays)
{
    size_t kept = 0;
    SORT(&stays->list, by_step_rank_own);
    for (size_t i = 0; i < stays->list.count; i++)
        if (!kept || stays->list.at[kept - 1].step != stays->list.at[i].step ||
            stays->list.at[kept - 1].rank != stays->list.at[i].rank)
            stays->list.at[kept++] = stays->list.at[i];
    stays->list.count = kept;
}

static void add_waste(struct fleet *fleet, const char *what, int64_t time_ns)
{
    if (time_ns <= 0 || fleet->total_ns <= 0)
        return;
    double share = (double)time_ns / (double)fleet->total_ns;
    *VEC_PUSH(&fleet->waste) = (struct fleet_waste_row){
        { what, strlen(what) }, time_ns, share, share * (double)fleet->device_count
    };
}

static const struct key by_time[] = { DESC(struct fleet_waste_row, time_ns), KEY_END };

static void find_waste(struct fleet *fleet, const int64_t idle_ns[GAP_CAUSES + 1])
{
    int64_t exposed_ns = 0, copies_ns = 0;
    for (size_t i = 0; i < fleet->ranks.count; i++) {
        sum_add(&fleet->computation_ns, fleet->ranks.at[i].computation_ns);
        sum_add(&exposed_ns, fleet->ranks.at[i].exposed_ns);
        sum_add(&copies_ns, fleet->ranks.at[i].copies_ns);
    }
    int64_t waiting_ns = fleet->meetings.exposed_wait_ns;
    waiting_ns = waiting_ns < exposed_ns ? waiting_ns : exposed_ns;
    int64_t unknown_ns = fleet->meetings.unrecorded_ns;
    unknown_ns = unknown_ns < exposed_ns - waiting_ns ? unknown_ns : exposed_ns - waiting_ns;
    fleet->unrecorded_ns = unknown_ns;
    int64_t known_ns = waiting_ns + unknown_ns, outside_ns = fleet->meetings.exposed_outside_ns;
    outside_ns = outside_ns < exposed_ns - known_ns ? outside_ns : exposed_ns - known_ns;
    add_waste(fleet, "waiting for ranks that are not here", outside_ns);
    add_waste(fleet, "waiting for the last rank", waiting_ns);
    add_waste(fleet, "communication before the recording of another rank began", unknown_ns);
    add_waste(fleet, "exposed communication", exposed_ns - known_ns - outside_ns);
    add_waste(fleet, "exposed copies", copies_ns);
    for (size_t c = 0; c < GAP_CAUSES; c++)
        add_waste(fleet, arena_printf(arena_of(fleet), "idle: %s", gap_causes[c].name), idle_ns[c]);
    add_waste(fleet, "idle: before the first or after the last work", idle_ns[GAP_CAUSES]);
    SORT(&fleet->waste, by_time);
}

static void find_stays(struct fleet *fleet, struct stays *stays)
{
    const struct facts_step *steps = facts_rows(fleet->job.facts, FACTS_STEPS);
    int64_t idle_ns[GAP_CAUSES + 1] = { 0 };
    FOR_EACH(member, &fleet->job.members) {
        fleet->device_count += (int64_t)member->count[FACTS_DEVICES];
        for (size_t i = 0; i < member->count[FACTS_STEPS]; i++) {
            const struct facts_step *step = &steps[member->first[FACTS_STEPS] + i];
            if (step->complete != 1)
                continue;
            add_parts(fleet, step, fleet_rank(fleet, member->rank), idle_ns);
            add_stay(stays, step, member->rank);
        }
    }
    join_devices(stays);
    find_waste(fleet, idle_ns);
}

static const struct key by_rank_[] = { ASC(struct stay, rank), KEY_END };

/* The median step of each rank. */
static void set_rank_steps(struct fleet *fleet, const struct stays *stays)
{
    SCOPED struct stay *by_rank = mem_alloc(mem_times(stays->list.count + 1, sizeof *by_rank));
    SCOPED int64_t *durations = mem_alloc(mem_times(stays->list.count + 1, sizeof *durations));
    if (stays->list.count)
        memcpy(by_rank, stays->list.at, stays->list.count * sizeof *by_rank);
    SORT_ARRAY(by_rank, stays->list.count, by_rank_);
    FOR_RUNS(first, end, stays->list.count, by_rank[end].rank == by_rank[first].rank) {
        for (size_t i = first; i < end; i++)
            durations[i - first] = by_rank[i].duration_ns;
        struct fleet_rank_row *row = fleet_rank(fleet, by_rank[first].rank);
        row->steps = (int64_t)(end - first);
        row->step_ns = fleet_median(durations, end - first);
    }
}

/* ---- which rank held up a step ---- */

/* The waiting that a rank caused in a step. */
struct share {
    int64_t step, rank, caused_ns;
    int64_t by_ns[FLEET_CAUSES];
};

static const struct key by_step_rank[] = { ASC(struct share, step), ASC(struct share, rank), KEY_END };

static int64_t blamed_rank(const struct fleet *fleet, const struct fleet_meeting *meeting)
{
    return fleet->job.members.at[fleet->meetings.arrivals.at[meeting->blamed].member].rank;
}

/* New, free with free(): the waiting that each rank caused in each step, by step and rank; *COUNT of them. */
static struct share *find_shares(const struct fleet *fleet, size_t *count)
{
    struct share *shares = mem_alloc(mem_times(fleet->meetings.count + 1, sizeof *shares));
    size_t all = 0;
    FOR_EACH(meeting, &fleet->meetings) {
        int64_t step = meeting->step;
        if (!meeting->sure || meeting->of_pipeline || step == FACTS_MISSING)
            continue;
        shares[all] = (struct share){ step, blamed_rank(fleet, meeting), meeting->waited_ns, { 0 } };
        if (meeting->blamed_cause < FLEET_CAUSES)
            shares[all].by_ns[meeting->blamed_cause] = meeting->waited_ns;
        all++;
    }
    SORT_ARRAY(shares, all, by_step_rank);
    *count = 0;
    for (size_t i = 0; i < all; i++) {
        struct share *before = *count ? &shares[*count - 1] : NULL;
        if (!before || before->step != shares[i].step || before->rank != shares[i].rank) {
            shares[(*count)++] = shares[i];
            continue;
        }
        sum_add(&before->caused_ns, shares[i].caused_ns);
        for (int c = 0; c < FLEET_CAUSES; c++)
            sum_add(&before->by_ns[c], shares[i].by_ns[c]);
    }
    return shares;
}

static struct text why_of(const struct share *share)
{
    enum fleet_cause most = FLEET_CAUSES;
    for (int c = 0; c < FLEET_CAUSES; c++)
        if (share->by_ns[c] > (most == FLEET_CAUSES ? 0 : share->by_ns[most]))
            most = (enum fleet_cause)c;
    const char *name = fleet_cause_name(most);
    return name ? (struct text){ name, strlen(name) } : (struct text){ 0 };
}

/* Set the rank that is blamed in ROW from the COUNT SHARES of its step. */
static void set_blamed(struct fleet_step_row *row, const struct share *shares, size_t count)
{
    const struct share *most = NULL;
    int64_t sum_ns = 0;
    for (size_t i = 0; i < count; i++) {
        sum_add(&sum_ns, shares[i].caused_ns);
        if (shares[i].caused_ns > (most ? most->caused_ns : 0))
            most = &shares[i];
    }
    row->waited_ns = count ? sum_ns : FACTS_MISSING;
    if (!most)
        return;
    row->blamed = most->rank;
    row->blamed_share = (double)most->caused_ns / (double)sum_ns;
    row->why = why_of(most);
}

static const char *const habit_words[] = { NULL, "in some steps", "in most steps", "always" };

/* The number of steps with meetings, even if the last rank is uncertain. */
static int64_t count_steps_met(const struct fleet *fleet)
{
    int64_t *steps = mem_alloc(mem_times(fleet->meetings.count + 1, sizeof *steps)), different = 0;
    size_t count = 0;
    for (size_t m = 0; m < fleet->meetings.count; m++)
        if (fleet->meetings.at[m].step != FACTS_MISSING)
            steps[count++] = fleet->meetings.at[m].step;
    if (count)
        SORT_NUMBERS(steps, count);
    for (size_t i = 0; i < count; i++)
        different += i == 0 || steps[i] != steps[i - 1];
    free(steps);
    return different;
}

static void set_habits(struct fleet *fleet)
{
    int64_t steps_met = count_steps_met(fleet), before = FACTS_MISSING, in_a_row = 0;
    for (size_t i = 0; i < fleet->steps.count; i++) {
        int64_t rank = fleet->steps.at[i].blamed;
        in_a_row = rank == before ? in_a_row + 1 : 1;
        before = rank;
        if (rank == FACTS_MISSING)
            continue;
        struct fleet_rank_row *row = fleet_rank(fleet, rank);
        row->steps_held_up++;
        row->in_a_row = in_a_row > row->in_a_row ? in_a_row : row->in_a_row;
    }
    FOR_EACH(row, &fleet->ranks) {
        if (row->steps_held_up == 0)
            continue;
        row->habit = 10 * row->steps_held_up >= 9 * steps_met ? HABIT_ALWAYS
                     : 2 * row->steps_held_up >= steps_met    ? HABIT_MOSTLY
                                                              : HABIT_SELDOM;
        row->pattern = (struct text){ habit_words[row->habit], strlen(habit_words[row->habit]) };
    }
}

/* ---- steps ---- */

static void find_step_rows(struct fleet *fleet, const struct stays *stays)
{
    size_t share_count, share = 0;
    SCOPED struct share *shares = find_shares(fleet, &share_count);
    SCOPED int64_t *durations = mem_alloc(mem_times(stays->list.count + 1, sizeof *durations));
    const struct stay *at = stays->list.at;
    FOR_RUNS(first, end, stays->list.count, at[end].step == at[first].step) {
        struct fleet_step_row row = { .step = at[first].step,
                                      .min_ns = INT64_MAX,
                                      .max_ns = INT64_MIN,
                                      .blamed = FACTS_MISSING,
                                      .blamed_share = NAN };
        for (size_t i = first; i < end; i++) {
            durations[i - first] = at[i].duration_ns;
            row.min_ns = at[i].duration_ns < row.min_ns ? at[i].duration_ns : row.min_ns;
            if (at[i].duration_ns > row.max_ns) {
                row.max_ns = at[i].duration_ns;
                row.slowest = at[i].rank;
            }
        }
        row.ranks = (int64_t)(end - first);
        row.median_ns = fleet_median(durations, end - first);
        row.spread = row.median_ns > 0 ? (double)(row.max_ns - row.min_ns) / (double)row.median_ns : NAN;
        while (share < share_count && shares[share].step < row.step)
            share++;
        size_t share_end = share;
        while (share_end < share_count && shares[share_end].step == row.step)
            share_end++;
        set_blamed(&row, shares + share, share_end - share);
        *VEC_PUSH(&fleet->steps) = row;
    }
}

/* A rank that numbers its steps from another origin, or marks none, has steps that no other rank has. */
static void find_common_steps(struct fleet *fleet, const struct stays *stays)
{
    int64_t most = 0;
    for (size_t i = 0; i < fleet->steps.count; i++)
        most = fleet->steps.at[i].ranks > most ? fleet->steps.at[i].ranks : most;
    for (size_t i = 0; i < fleet->steps.count; i++)
        fleet->steps.at[i].common = 2 * fleet->steps.at[i].ranks >= most;
    for (size_t i = 0; i < fleet->ranks.count; i++)
        fleet->ranks.at[i].other_steps = fleet->ranks.at[i].steps > 0;
    for (size_t i = 0, step = 0; i < stays->list.count; i++) {
        step += stays->list.at[i].step != fleet->steps.at[step].step;
        if (fleet->steps.at[step].common)
            fleet_rank(fleet, stays->list.at[i].rank)->other_steps = false;
    }
}

static void set_step_figures(struct fleet *fleet)
{
    size_t count = 0;
    SCOPED int64_t *medians = mem_alloc(mem_times(fleet->steps.count + 1, sizeof *medians));
    for (size_t i = 0; i < fleet->steps.count; i++)
        if (fleet->steps.at[i].common)
            medians[count++] = fleet->steps.at[i].median_ns;
    fleet->step_ns = fleet_median(medians, count);
    fleet->step_low_ns = count ? medians[(count + 19) / 20 - 1] : FACTS_MISSING;
    fleet->step_high_ns = count ? medians[(19 * count + 19) / 20 - 1] : FACTS_MISSING;
}

/* ---- pictures ---- */

enum { BAR_WIDTH = 16, HEAT_ROWS = 32, HEAT_STEPS = 64 };

static void add_signs(struct buffer *out, const char *sign, int64_t part, int64_t whole, int64_t *sum,
                      size_t *drawn)
{
    sum_add(sum, part);
    size_t until = (size_t)((double)*sum * BAR_WIDTH / (double)whole + 0.5);
    for (; *drawn < until && *drawn < BAR_WIDTH; ++*drawn)
        buffer_puts(out, sign);
}

static void fleet_steps_draw_bars(struct fleet *fleet)
{
    SCOPED struct buffer out = { 0 };
    FOR_EACH(row, &fleet->ranks) {
        if (row->total_ns <= 0)
            continue;
        int64_t sum = 0;
        size_t drawn = 0;
        buffer_clear(&out);
        add_signs(&out, "\u2588", row->computation_ns, row->total_ns, &sum, &drawn); /* full */
        add_signs(&out, "\u2592", row->exposed_ns, row->total_ns, &sum, &drawn);     /* medium shade */
        add_signs(&out, "\u2584", row->copies_ns, row->total_ns, &sum, &drawn);      /* lower half */
        add_signs(&out, "\u00b7", row->idle_ns, row->total_ns, &sum, &drawn);        /* dot */
        row->bar =
            (struct text){ arena_strndup(arena_of(fleet), out.at ? out.at : "", out.count), out.count };
    }
}

/* The relative excess over the usual time, in thousandths; -1: unknown. */
static const char *sign_of(int64_t more)
{
    return more < 0     ? " "
           : more < 20  ? "\u00b7"
           : more < 50  ? "\u2591"
           : more < 100 ? "\u2592"
           : more < 250 ? "\u2593"
                        : "\u2588";
}

/* A field of the picture: the largest excess of a step in it on a rank in it. */
struct heat {
    int64_t *more; /* HEAT_ROWS times HEAT_STEPS */
    int64_t *longest_ns;
    size_t rows, columns;
};

static size_t field_of(size_t index, size_t count, size_t fields)
{
    return index * fields / count;
}

static void fill_heat(struct fleet *fleet, const struct stays *stays, struct heat *heat)
{
    SCOPED int64_t *own = mem_alloc(mem_times(stays->list.count + 1, sizeof *own));
    size_t step = 0;
    const struct stay *at = stays->list.at;
    FOR_RUNS(first, end, stays->list.count, at[end].step == at[first].step) {
        for (size_t i = first; i < end; i++)
            own[i - first] = at[i].own_ns;
        int64_t usual_ns = fleet_median(own, end - first);
        size_t column = field_of(step++, fleet->steps.count, heat->columns);
        for (size_t i = first; i < end; i++) {
            size_t row = field_of((size_t)(fleet_rank(fleet, at[i].rank) - fleet->ranks.at),
                                  fleet->ranks.count, heat->rows);
            double share = usual_ns > 0 ? (double)(at[i].own_ns - usual_ns) / (double)usual_ns : 0;
            int64_t more = share < 0 ? 0 : share > 1e6 ? 1000000000 : (int64_t)(share * 1000);
            int64_t *field = &heat->more[row * heat->columns + column];
            *field = more > *field ? more : *field;
            heat->longest_ns[row] =
                at[i].duration_ns > heat->longest_ns[row] ? at[i].duration_ns : heat->longest_ns[row];
        }
    }
}

static void fleet_steps_draw_heat(struct fleet *fleet, const struct stays *stays)
{
    size_t ranks = fleet->ranks.count, steps = fleet->steps.count;
    struct heat heat = { .rows = ranks < HEAT_ROWS ? ranks : HEAT_ROWS,
                         .columns = steps < HEAT_STEPS ? steps : HEAT_STEPS };
    if (steps == 0)
        return;
    heat.more = mem_alloc(mem_times(heat.rows * heat.columns, sizeof *heat.more));
    heat.longest_ns = mem_alloc(mem_times(heat.rows, sizeof *heat.longest_ns));
    for (size_t i = 0; i < heat.rows * heat.columns; i++)
        heat.more[i] = -1;
    for (size_t i = 0; i < heat.rows; i++)
        heat.longest_ns[i] = FACTS_MISSING;
    fill_heat(fleet, stays, &heat);
    SCOPED struct buffer out = { 0 };
    for (size_t row = 0; row < heat.rows; row++) {
        size_t first = 0, end;
        SEARCH(first, ranks, field_of(first, ranks, heat.rows) < row);
        SEARCH(end, ranks, field_of(end, ranks, heat.rows) <= row);
        long long low = fleet->ranks.at[first].rank, high = fleet->ranks.at[end - 1].rank;
        buffer_clear(&out);
        for (size_t column = 0; column < heat.columns; column++)
            buffer_puts(&out, sign_of(heat.more[row * heat.columns + column]));
        const char *name = low == high ? arena_printf(arena_of(fleet), "%lld", low)
                                       : arena_printf(arena_of(fleet), "%lld..%lld", low, high);
        *VEC_PUSH(&fleet->heat) =
            (struct fleet_heat_row){ { name, strlen(name) },
                                     { arena_strndup(arena_of(fleet), out.at, out.count), out.count },
                                     heat.longest_ns[row] };
    }
    fleet->heat_more = heat.more;
    fleet->heat_columns = heat.columns;
    free(heat.longest_ns);
}

void fleet_find_steps(struct fleet *fleet)
{
    struct stays stays = { 0 };
    find_stays(fleet, &stays);
    set_rank_steps(fleet, &stays);
    find_step_rows(fleet, &stays);
    find_common_steps(fleet, &stays);
    set_step_figures(fleet);
    set_habits(fleet);
    fleet_steps_draw_bars(fleet);
    fleet_steps_draw_heat(fleet, &stays);
    VEC_FREE(&stays.list);
}
