/*
 * contention.c - see contention.h.
 *
 * Runs are sorted by kernel, cell and start (runs.c). For each kernel and class the runs of each cell are divided into strata, in
 * time or by place in the step; the estimate (estimate.c) compares within strata. Then the pairs of each file are judged together:
 * a class beside which several kernels seem to run faster is not judged, and of many pairs a few seem slower by chance.
 */
#include "analyze/contention/contention.h"

#include "analyze/contention/strata.h"
#include "base/demangle.h"
#include "base/rows.h"
#include "trace/derived.h"
#include <math.h>

/* Nothing runs faster because of company: such a pair is unlike. */
static const char faster_beside[] = "runs faster beside it: not the same work";

struct pair_query {
    const struct contention *contention;
    const struct contention_runs *all;
    const struct run *runs; /* of the kernel */
    size_t count;
    enum strata_way way;
    struct contention_pair *pair;
    VEC_OF(struct candidate) candidates; /* of the current cell, by start */
    struct strata strata;
};

/* ---- sides ---- */

static int64_t run_overlap(const struct pair_query *query, const struct run *run)
{
    const struct overlap *at = query->all->overlaps.at + run->first_overlap;
    for (size_t i = 0; i < run->overlaps; i++)
        if (at[i].class == query->pair->class)
            return at[i].ns;
    return 0;
}

/* Alone; or beside the class for half of the time or more, and beside anything else for 5 % at most. */
static enum side side_of(const struct run *run, int64_t overlap_ns)
{
    if (run_is_alone(run))
        return SIDE_ALONE;
    bool beside = overlap_ns * 2 >= run->duration_ns && (run->any_ns - overlap_ns) * 20 <= run->duration_ns;
    return beside ? SIDE_BESIDE : SIDE_NONE;
}

/* ---- a pair ---- */

/* Compare the COUNT runs of a cell. */
static void pair_add_cell(struct pair_query *query, const struct run *runs, size_t count)
{
    struct contention_pair *pair = query->pair;
    query->candidates.count = 0;
    for (size_t i = 0; i < count; i++) {
        int64_t overlap_ns = run_overlap(query, &runs[i]);
        enum side side = side_of(&runs[i], overlap_ns);
        double duration = (double)runs[i].duration_ns;
        pair->overlapped_ns += overlap_ns;
        pair->count_alone += side == SIDE_ALONE;
        pair->count_beside += side == SIDE_BESIDE;
        pair->mixed += side == SIDE_NONE && overlap_ns > 0;
        if (side == SIDE_NONE)
            continue;
        *VEC_PUSH(&query->candidates) =
            (struct candidate){ .start_ns = runs[i].start_ns,
                                .step = runs[i].step,
                                .duration = duration / (query->way == STRATA_BY_PLACE ? runs[i].level : 1),
                                .share = (double)overlap_ns / duration,
                                .side = side,
                                .bin = (uint32_t)side,
                                .place = runs[i].place };
    }
    strata_add_cell(&query->strata, query->candidates.at, query->candidates.count, query->way);
}

static int64_t lost_of(double overlapped_ns, double factor)
{
    return isnan(factor) ? TABLE_INT_MISSING
                         : (int64_t)llround(overlapped_ns * contention_lost_share(factor));
}

/* Why the pair is not judged by itself; NULL: it is. */
static const char *pair_doubt(const struct pair_query *query, const struct contention_estimate *estimate,
                              double tick)
{
    const struct contention_pair *pair = query->pair;
    bool has_launch = true, has_shapes = true;
    for (size_t i = 0; i < query->count; i++) {
        has_launch &= query->runs[i].has_launch;
        has_shapes &= query->runs[i].has_shapes;
    }
    if (pair->count_beside == 0)
        return "never beside for half of its time";
    if (pair->count_alone == 0)
        return "never alone";
    if (!query->strata.cell_has_both)
        return "never alone with the same shape and neighbour";
    if (query->strata.count == 0)
        return "differs by its place in the step, and no place has both";
    if (!strata_suffice(&query->strata, estimate))
        return "too few";
    if (!strata_are_long(&query->strata, tick))
        return "too short for the clock of the file";
    if (!has_launch)
        return "grid and block are not recorded";
    if (!has_shapes && query->way != STRATA_BY_PLACE)
        return "shapes are not recorded";
    return estimate->high < 1 ? faster_beside : NULL;
}

static struct text pair_name(struct contention *contention, name_id id)
{
    const struct names *names = contention->trace->names;
    SCOPED struct buffer readable = { 0 };
    struct text text = { names_text(names, id), names_length(names, id) };
    if (demangle_name(&readable, text.at))
        text =
            (struct text){ arena_strndup(arena_of(contention), readable.at, readable.count), readable.count };
    return text;
}

static const struct key of_kernel[] = { ASC(struct run, kernel), KEY_END };
static const struct key of_cell[] = { ASC(struct run, cell), KEY_END };

/* The pair of QUERY's kernel and CLASS. */
static struct contention_pair pair_of(struct contention *contention, struct pair_query *query, uint32_t class,
                                      struct text name)
{
    const struct beside *beside = contention->beside;
    const struct gpu_device *device = &beside->gpu->devices[query->runs->device];
    struct contention_pair pair = {
        .name = name,
        .name_id = query->runs->name,
        .device_index = query->runs->device,
        .class = class,
        .rank = selection_rank(contention->trace, device->file),
        .device = device->id,
        .beside_kind = as_text(beside_kind_name(beside->classes.at[class].kind)),
        .beside = beside_class_text(beside, class),
        .group = beside_class_group(beside, class),
    };
    query->pair = &pair;
    strata_clear(&query->strata);
    FOR_GROUPS_OF(query->runs, query->count, of_cell, first, end)
        pair_add_cell(query, &query->runs[first], end - first);
    double tick = (double)query->all->tick_ns.at[device->file];
    struct contention_estimate estimate = strata_estimate(&query->strata, tick);
    pair.median_alone_ns = table_figure(TABLE_NS, query->strata.medians[SIDE_ALONE]).i;
    pair.median_beside_ns = table_figure(TABLE_NS, query->strata.medians[SIDE_BESIDE]).i;
    pair.correlation = lag_correlation(&query->strata.lag);
    pair.p = estimate.p;
    pair.factor = estimate.factor;
    pair.factor_low = estimate.low;
    pair.factor_high = estimate.high;
    pair.lost_ns = lost_of((double)pair.overlapped_ns, pair.factor);
    pair.lost_low_ns = lost_of((double)pair.overlapped_ns, pair.factor_low);
    pair.lost_high_ns = lost_of((double)pair.overlapped_ns, pair.factor_high);
    pair.why = as_text(pair_doubt(query, &estimate, tick));
    pair.judged = !pair.why.at;
    return pair;
}

/* ---- places ---- */

/* The probability of a value of H or more of chi-square with DEGREES, by its cube root (Wilson and Hilferty). */
static double chi_square_tail(double h, double degrees)
{
    double spread = 2 / (9 * degrees);
    return erfc((cbrt(h / degrees) - (1 - spread)) / sqrt(spread) / sqrt(2)) / 2;
}

struct ranked {
    uint32_t place;
    double duration, rank;
};

static const struct key by_duration[] = { ASC(struct ranked, duration), KEY_END };
static const struct key by_ranked_place[] = { ASC(struct ranked, place), KEY_END };

/* Add H of Kruskal and Wallis and its degrees of freedom for the COUNT values, by place; each place has two or more. */
static void add_kruskal_wallis(struct ranked *at, size_t count, double *h, double *degrees)
{
    double n = (double)count, ties = 0, sum = 0;
    SORT_ARRAY(at, count, by_duration);
    FOR_RUNS(first, end, count, at[end].duration == at[first].duration) {
        double tied = (double)(end - first);
        ties += tied * tied * tied - tied;
        for (size_t i = first; i < end; i++)
            at[i].rank = ((double)first + (double)end + 1) / 2;
    }
    SORT_ARRAY(at, count, by_ranked_place);
    double places = 0;
    FOR_RUNS(first, end, count, at[end].place == at[first].place) {
        double ranks = 0;
        for (size_t i = first; i < end; i++)
            ranks += at[i].rank;
        sum += ranks * ranks / (double)(end - first);
        places++;
    }
    double untied = 1 - ties / (n * n * n - n);
    *h += untied > 0 ? (12 / (n * (n + 1)) * sum - 3 * (n + 1)) / untied : 0;
    *degrees += places - 1;
}

/* Do executions alone of the COUNT RUNS of a kernel, by cell, differ by their place in the step? */
static bool differs_by_place(const struct run *runs, size_t count)
{
    enum { LEAST_PLACES = 2, LEAST = 6 };
    double h = 0, degrees = 0;
    SCOPED struct ranked *ranked = mem_alloc(mem_times(count + 1, sizeof *ranked));
    FOR_RUNS(first, end, count, runs[end].cell == runs[first].cell) {
        size_t used = 0, kept = 0, places = 0;
        for (size_t i = first; i < end; i++)
            if (run_is_alone(&runs[i]) && runs[i].step >= 0)
                ranked[used++] = (struct ranked){ runs[i].place, (double)runs[i].duration_ns, 0 };
        SORT_ARRAY(ranked, used, by_ranked_place);
        FOR_GROUPS_OF(ranked, used, by_ranked_place, i, next) {
            if (next - i < 2)
                continue;
            memmove(&ranked[kept], &ranked[i], (next - i) * sizeof *ranked);
            kept += next - i;
            places++;
        }
        if (places >= LEAST_PLACES && kept >= LEAST)
            add_kruskal_wallis(ranked, kept, &h, &degrees);
    }
    return degrees > 0 && chi_square_tail(h, degrees) < 0.001;
}

/* Add the pairs of the COUNT RUNS of a kernel, by cell. */
static void add_pairs(struct contention *contention, struct pair_query *query, const struct run *runs,
                      size_t count)
{
    const struct contention_runs *all = query->all;
    uint32_t file = contention->beside->gpu->devices[runs->device].file;
    SCOPED VEC_OF(uint32_t) classes = { 0 };
    bool has_shapes = true;
    for (size_t i = 0; i < count; i++) {
        has_shapes &= runs[i].has_shapes;
        for (size_t o = 0; o < runs[i].overlaps; o++) {
            uint32_t class = all->overlaps.at[runs[i].first_overlap + o].class;
            size_t c = 0;
            while (c < classes.count && classes.at[c] != class)
                c++;
            if (c == classes.count)
                *VEC_PUSH(&classes) = class;
        }
    }
    if (classes.count) {
        query->runs = runs;
        query->count = count;
        query->way = !all->has_steps.at[file]                       ? STRATA_IN_TIME
                     : !has_shapes || differs_by_place(runs, count) ? STRATA_BY_PLACE
                                                                    : STRATA_BY_STEPS;
        struct text name = pair_name(contention, runs->name);
        for (size_t c = 0; c < classes.count; c++)
            *VEC_PUSH(&contention->pairs) = pair_of(contention, query, classes.at[c], name);
    }
}

/* ---- verdicts on the pairs of a file ---- */

static uint32_t pair_file(const struct contention *contention, const struct contention_pair *pair)
{
    return contention->beside->gpu->devices[pair->device_index].file;
}

/* Do executions beside CLASS of FILE differ from those alone in more than the company? Several kernels run faster, and more than a
 * third as many as run slower. */
static bool class_is_unlike(const struct contention *contention, uint32_t file, uint32_t class)
{
    size_t faster = 0, slower = 0;
    FOR_EACH(pair, &contention->pairs) {
        if (pair->class != class || pair_file(contention, pair) != file)
            continue;
        faster += pair->why.at == faster_beside;
        slower += pair->judged && pair->factor_low > 1;
    }
    return faster > 1 && faster * 3 > slower;
}

static void doubt_classes(struct contention *contention, uint32_t file)
{
    for (uint32_t class = 0; class < contention->beside->classes.count; class ++) {
        if (!class_is_unlike(contention, file, class))
            continue;
        FOR_EACH(pair, &contention->pairs) {
            if (pair->class != class || pair_file(contention, pair) != file || !pair->judged)
                continue;
            pair->judged = false;
            pair->why = as_text("several kernels run faster beside it: not the same work");
        }
    }
}

/* Of the judged pairs of FILE, the share of wrongly slower ones is 5 % at most. */
static void find_slower(struct contention *contention, uint32_t file)
{
    VEC_OF(double) p = { 0 };
    for (size_t i = 0; i < contention->pairs.count; i++)
        if (contention->pairs.at[i].judged && pair_file(contention, &contention->pairs.at[i]) == file)
            *VEC_PUSH(&p) = contention->pairs.at[i].p;
    double limit = false_discovery_limit(p.at, p.count);
    VEC_FREE(&p);
    FOR_EACH(pair, &contention->pairs)
        if (pair->judged && pair_file(contention, pair) == file)
            pair->slower = pair->factor_low > 1 && pair->p <= limit;
}

/* ---- sums ---- */

/* The pairs of CLASS, or all of KIND (BESIDE_ANY); all pairs if KIND is BESIDE_KINDS. */
static struct contention_sum sum_of(const struct contention *contention, enum beside_kind kind,
                                    uint32_t class)
{
    bool any = class == BESIDE_ANY;
    struct contention_sum sum = {
        .kind = kind,
        .class = class,
        .beside_kind = as_text(kind == BESIDE_KINDS ? NULL : beside_kind_name(kind)),
        .beside = any ? as_text(NULL) : beside_class_text(contention->beside, class),
        .group = any ? as_text(NULL) : beside_class_group(contention->beside, class),
        .lost_ns = TABLE_INT_MISSING,
        .lost_low_ns = TABLE_INT_MISSING,
        .lost_high_ns = TABLE_INT_MISSING,
        .factor = NAN,
        .factor_low = NAN,
        .factor_high = NAN,
    };
    double lost = 0, halves = 0, squares = 0, correlation = 0;
    FOR_EACH(pair, &contention->pairs) {
        if (any ? kind != BESIDE_KINDS && contention_pair_kind(contention, pair) != kind
                : pair->class != class)
            continue;
        sum.pairs++;
        sum.overlapped_ns += pair->overlapped_ns;
        if (!pair->judged)
            continue;
        double overlapped = (double)pair->overlapped_ns, low = contention_lost_share(pair->factor_low),
               half = overlapped * (contention_lost_share(pair->factor_high) - low) / 2;
        sum.judged_pairs++;
        sum.judged_ns += pair->overlapped_ns;
        lost += overlapped * contention_lost_share(pair->factor);
        halves += half;
        squares += half * half;
        correlation = fmax(correlation, pair->correlation);
    }
    if (sum.judged_ns == 0)
        return sum;
    double half = sqrt((1 - correlation) * squares + correlation * halves * halves),
           judged = (double)sum.judged_ns;
    sum.lost_ns = (int64_t)llround(lost);
    sum.lost_low_ns = (int64_t)llround(lost - half);
    sum.lost_high_ns = (int64_t)llround(lost + half);
    sum.factor = 1 / (1 - lost / judged);
    sum.factor_low = 1 / (1 - (lost - half) / judged);
    sum.factor_high = half + lost < judged ? 1 / (1 - (lost + half) / judged) : NAN;
    return sum;
}

static void add_sums(struct contention *contention)
{
    for (int kind = 0; kind < BESIDE_KINDS; kind++) {
        size_t before = contention->sums.count;
        for (uint32_t class = 0; class < contention->beside->classes.count; class ++) {
            if ((int)contention->beside->classes.at[class].kind != kind)
                continue;
            struct contention_sum sum = sum_of(contention, (enum beside_kind)kind, class);
            if (sum.pairs)
                *VEC_PUSH(&contention->sums) = sum;
        }
        if (kind == BESIDE_COMMUNICATION && contention->sums.count > before + 1)
            *VEC_PUSH(&contention->sums) = sum_of(contention, BESIDE_COMMUNICATION, BESIDE_ANY);
    }
}

struct contention_sum contention_total(const struct contention *contention)
{
    return sum_of(contention, BESIDE_KINDS, BESIDE_ANY);
}

const struct contention_sum *contention_communication(const struct contention *contention)
{
    const struct contention_sum *found = NULL;
    for (size_t i = 0; i < contention->sums.count; i++)
        if (contention->sums.at[i].kind == BESIDE_COMMUNICATION)
            found = &contention->sums.at[i];
    return found;
}

static const struct key by_overlap[] = { DESC(struct contention_pair, overlapped_ns), KEY_END };

/* SELECTION: NULL is all. */
static struct contention *analyze(const struct trace *trace, const struct selection *selection)
{
    struct contention *contention = arena_open(sizeof *contention);
    ARENA_OWNS(arena_of(contention), &contention->pairs, &contention->sums);
    contention->trace = trace;
    contention->beside = beside_of(trace);
    struct contention_runs all = contention_runs_collect(contention->beside, selection);
    struct pair_query query = { .contention = contention, .all = &all };
    FOR_GROUPS(&all.runs, of_kernel, first, end)
        add_pairs(contention, &query, &all.runs.at[first], end - first);
    for (uint32_t file = 0; file < trace->file_count; file++) {
        doubt_classes(contention, file);
        find_slower(contention, file);
    }
    add_sums(contention);
    SORT(&contention->pairs, by_overlap);
    for (uint32_t file = 0; file < trace->file_count; file++)
        contention->tick_ns = fmax(contention->tick_ns, (double)all.tick_ns.at[file]);
    VEC_FREE(&query.candidates);
    VEC_FREE(&query.strata.samples);
    EACH(VEC_FREE, &all.runs, &all.overlaps, &all.has_steps, &all.tick_ns);
    return contention;
}

static struct contention *find_usual(const struct trace *trace)
{
    return analyze(trace, NULL);
}

DERIVED(contention, contention_of, find_usual);

const struct contention *contention_analyze(const struct trace *trace, const struct selection *selection)
{
    return selection_is_all(selection) ? contention_of(trace) : analyze(trace, selection);
}
