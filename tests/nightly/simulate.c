/*
 * simulate.c - how often does `tpa nightly` find a change, and how often does it cry wolf?
 *
 *     simulate [--histories N] [--seed N] [--check]
 *
 * Histories whose truth is known are drawn and judged: a step time and four other figures of the whole, and 50 operators
 * and 20 kernels whose shares of the time fall as 1/rank; 14 nights of 10 steps, each with Gaussian noise, and then the night (or the
 * nights) that are asked about. Beside it what two simpler rules say of the very same figures:
 *
 *     5 %            the median of the night against the median of the window's medians
 *     Mann-Whitney   the night's steps against all steps of the window, p < 0.05, two-sided, each series by itself
 *
 * "found" is the share of histories in which the series that changed is called NEW on the first night, and within three;
 * "false" the share of nights on which any series is called NEW though nothing changed. --check exits with 1 when a rate
 * is not what the documentation promises; the rates of a seed never change.
 */
#include "history/history.h"
#include "base/run_level.h"
#include "base/shift.h"
#include <math.h>
#include <stdio.h>

enum { OPERATORS = 50, KERNELS = 20, HEADS = 4, WINDOW = 14, STEPS = 10 };
enum {
    FIRST_OPERATOR = 1 + HEADS,
    FIRST_KERNEL = FIRST_OPERATOR + OPERATORS,
    SERIES = FIRST_KERNEL + KERNELS
};

/* ---- chance: xoshiro256**, by Blackman and Vigna (public domain), and Marsaglia's polar method ---- */

static uint64_t random_state[4];

static void seed_random(uint64_t seed)
{
    for (int i = 0; i < 4; i++) { /* splitmix64 */
        seed += 0x9e3779b97f4a7c15u;
        uint64_t z = seed;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        random_state[i] = z ^ (z >> 31);
    }
}

static uint64_t rotate(uint64_t x, int by)
{
    return (x << by) | (x >> (64 - by));
}

static double draw_uniform(void)
{
    uint64_t result = rotate(random_state[1] * 5, 7) * 9, t = random_state[1] << 17;
    random_state[2] ^= random_state[0];
    random_state[3] ^= random_state[1];
    random_state[1] ^= random_state[2];
    random_state[0] ^= random_state[3];
    random_state[2] ^= t;
    random_state[3] = rotate(random_state[3], 45);
    return (double)(result >> 11) * 0x1p-53;
}

static double draw_gaussian(void)
{
    for (;;) {
        double x = 2 * draw_uniform() - 1, y = 2 * draw_uniform() - 1, square = x * x + y * y;
        if (square > 0 && square < 1)
            return x * sqrt(-2 * log(square) / square);
    }
}

/* ---- histories ---- */

struct world {
    const char *name;
    double step_noise;                /* standard deviation of a step, as a share */
    double night_noise, common_noise; /* of a night: of each series by itself; of all at once */
    double bimodal;                   /* distance of a second mode that three nights of ten are in */
    double outlier;                   /* night 8 is so much slower */
    double slow_steps;                /* one step in twenty takes so much longer */
    double change;                    /* the changed series, from night 15 on */
    double drift;                     /* of the changed series, per night from night 15 on */
    size_t changed;                   /* which series */
    size_t nights;                    /* asked about, after the window */
};

struct figures {
    size_t nights;
    double *steps; /* [series][night][step] */
};

static double *step_list_of(const struct figures *figures, size_t series, size_t night)
{
    return figures->steps + (series * figures->nights + night) * STEPS;
}

/* Shares of the time: the step, four parts of it, operators as 1/rank. */
static double true_level(size_t series)
{
    if (series < FIRST_OPERATOR)
        return series == 0 ? 100e6 : 40e6;
    size_t first = series < FIRST_KERNEL ? FIRST_OPERATOR : FIRST_KERNEL;
    double sum = 0;
    for (int rank = 1; rank <= (series < FIRST_KERNEL ? OPERATORS : KERNELS); rank++)
        sum += 1.0 / rank;
    return 100e6 / sum / (double)(series - first + 1);
}

static void draw(const struct world *world, struct figures *figures)
{
    for (size_t night = 0; night < figures->nights; night++) {
        double common = world->common_noise > 0 ? 1 + world->common_noise * draw_gaussian() : 1;
        if (world->bimodal > 0 && draw_uniform() < 0.3)
            common *= 1 + world->bimodal;
        if (world->outlier > 0 && night == 7)
            common *= 1 + world->outlier;
        for (size_t series = 0; series < SERIES; series++) {
            double level = common * true_level(series);
            if (world->night_noise > 0)
                level *= 1 + world->night_noise * draw_gaussian();
            if (series == world->changed && night >= WINDOW)
                level *= 1 + world->change + world->drift * (double)(night - WINDOW + 1);
            double *steps = step_list_of(figures, series, night);
            for (size_t i = 0; i < STEPS; i++) {
                steps[i] = level * (1 + world->step_noise * draw_gaussian());
                if (world->slow_steps > 0 && draw_uniform() < 0.05)
                    steps[i] *= 1 + world->slow_steps;
            }
        }
    }
}

/* ---- the three rules ---- */

enum rule { RULE_TPA, RULE_FIVE_PERCENT, RULE_MANN_WHITNEY, RULES };

/* verdicts[rule][series][night]: was it called worse? */
struct answers {
    bool *said[RULES];
};

static void ask_tpa(const struct figures *figures, bool *said)
{
    struct history history = { .run_count = figures->nights };
    static const struct history_options options = HISTORY_DEFAULTS;
    size_t nights = figures->nights;
    double *levels = mem_alloc(SERIES * nights * sizeof *levels),
           *errors = mem_alloc(SERIES * nights * sizeof *errors);
    SCOPED uint8_t *verdicts = mem_alloc(SERIES * nights);
    for (size_t series = 0; series < SERIES; series++) {
        for (size_t night = 0; night < nights; night++) {
            const double *values = step_list_of(figures, series, night);
            struct run_step steps[STEPS];
            for (size_t i = 0; i < STEPS; i++)
                steps[i] = (struct run_step){ i, values[i] };
            struct run_level level = run_level_of(steps, STEPS, STEPS, 1);
            levels[series * nights + night] = level.mean;
            errors[series * nights + night] = sqrt(level.independent);
        }
        *VEC_PUSH(&history.series) = (struct history_series){
            .group = series == 0               ? HISTORY_STEP
                     : series < FIRST_OPERATOR ? HISTORY_HEAD
                     : series < FIRST_KERNEL   ? HISTORY_OPERATORS
                                               : HISTORY_KERNELS,
            .level = levels + series * nights,
            .error = errors + series * nights,
            .verdicts = verdicts + series * nights,
        };
    }
    history_judge(&history, &options);
    for (size_t i = 0; i < SERIES * nights; i++)
        said[i] = verdicts[i] == HISTORY_NEW;
    free(levels);
    free(errors);
    VEC_FREE(&history.series);
}

static double median_of(const double *values, size_t count)
{
    double sorted[WINDOW > STEPS ? WINDOW : STEPS];
    memcpy(sorted, values, count * sizeof *values);
    shift_sort(sorted, count);
    return shift_median(sorted, count);
}

static void ask_simple_rules(const struct figures *figures, bool *five, bool *mann_whitney)
{
    for (size_t series = 0; series < SERIES; series++)
        for (size_t night = WINDOW; night < figures->nights; night++) {
            double medians[WINDOW];
            for (size_t i = 0; i < WINDOW; i++)
                medians[i] = median_of(step_list_of(figures, series, night - WINDOW + i), STEPS);
            const double *now = step_list_of(figures, series, night);
            size_t at = series * figures->nights + night;
            five[at] = median_of(now, STEPS) > 1.05 * median_of(medians, WINDOW);
            /* U by hand: shift_compare_samples would also look for the interval, which takes long. Normal as n is 150. */
            const double *before = step_list_of(figures, series, night - WINDOW);
            double u = 0;
            for (size_t i = 0; i < STEPS; i++)
                for (size_t k = 0; k < WINDOW * STEPS; k++)
                    u += now[i] > before[k] ? 1 : now[i] == before[k] ? 0.5 : 0;
            double n = STEPS, m = WINDOW * STEPS;
            mann_whitney[at] = (u - n * m / 2 - 0.5) / sqrt(n * m * (n + m + 1) / 12) > 1.959963984540054;
        }
}

/* ---- rates ---- */

struct rates {
    double first[RULES], third[RULES]; /* of histories: found on the first night, within three */
    double by_last[RULES];             /* within all nights asked about */
    double night[RULES];               /* of nights: a false alarm of any series */
    double series[RULES];              /* of nights and series */
    double operators[RULES];           /* of nights: a false alarm of any operator */
};

static struct rates simulate(const struct world *world, size_t histories, uint64_t seed, bool only_tpa)
{
    struct rates rates = { 0 };
    struct figures figures = { .nights = WINDOW + world->nights };
    size_t cells = SERIES * figures.nights;
    figures.steps = mem_alloc(cells * STEPS * sizeof *figures.steps);
    bool *said[RULES];
    for (int rule = 0; rule < RULES; rule++)
        said[rule] = mem_zalloc(cells, sizeof **said);
    seed_random(seed);
    bool changes = world->change > 0 || world->drift > 0;
    for (size_t h = 0; h < histories; h++) {
        draw(world, &figures);
        ask_tpa(&figures, said[RULE_TPA]);
        if (!only_tpa)
            ask_simple_rules(&figures, said[RULE_FIVE_PERCENT], said[RULE_MANN_WHITNEY]);
        for (int rule = 0; rule < RULES; rule++) {
            size_t found = figures.nights;
            for (size_t night = WINDOW; night < figures.nights; night++) {
                bool any = false, any_operator = false;
                for (size_t series = 0; series < SERIES; series++) {
                    bool here = said[rule][series * figures.nights + night];
                    if (series == world->changed && changes) {
                        if (here && found == figures.nights)
                            found = night;
                        continue;
                    }
                    any |= here;
                    any_operator |= here && series >= FIRST_OPERATOR && series < FIRST_KERNEL;
                    rates.series[rule] += here;
                }
                rates.night[rule] += any;
                rates.operators[rule] += any_operator;
            }
            rates.first[rule] += found == WINDOW;
            rates.third[rule] += found < WINDOW + 3;
            rates.by_last[rule] += found < figures.nights;
        }
    }
    for (int rule = 0; rule < RULES; rule++) {
        rates.first[rule] /= (double)histories;
        rates.third[rule] /= (double)histories;
        rates.by_last[rule] /= (double)histories;
        rates.night[rule] /= (double)(histories * world->nights);
        rates.operators[rule] /= (double)(histories * world->nights);
        rates.series[rule] /= (double)(histories * world->nights * SERIES);
        free(said[rule]);
    }
    free(figures.steps);
    return rates;
}

/* ---- the tables ---- */

enum {
    LARGEST = FIRST_OPERATOR,
    MIDDLE = FIRST_OPERATOR + OPERATORS / 2,
    SMALLEST = FIRST_KERNEL - 1,
    NOTHING = SERIES
};

static const struct world changing[] = {
    { "step time +3 %", .step_noise = 0.02, .change = 0.03, .changed = 0, .nights = 3 },
    { "step time +5 %", .step_noise = 0.02, .change = 0.05, .changed = 0, .nights = 3 },
    { "largest operator +3 %", .step_noise = 0.02, .change = 0.03, .changed = LARGEST, .nights = 3 },
    { "middle operator +3 %", .step_noise = 0.02, .change = 0.03, .changed = MIDDLE, .nights = 3 },
    { "middle operator +5 %", .step_noise = 0.02, .change = 0.05, .changed = MIDDLE, .nights = 3 },
    { "smallest operator +3 %", .step_noise = 0.02, .change = 0.03, .changed = SMALLEST, .nights = 3 },
    { "+3 % after one night 10 % slower", .step_noise = 0.02, .outlier = 0.1, .change = 0.03, .nights = 3 },
    { "+3 %, 1 step in 20 takes 50 % longer", .step_noise = 0.02, .slow_steps = 0.5, .change = 0.03,
      .nights = 3 },
    { "+3 %, nights differ by 0.5 %", .step_noise = 0.02, .night_noise = 0.005, .change = 0.03, .nights = 3 },
    { "+3 %, nights differ by 1 %", .step_noise = 0.02, .night_noise = 0.01, .change = 0.03, .nights = 3 },
    { "+3 %, nights differ by 2 %", .step_noise = 0.02, .night_noise = 0.02, .change = 0.03, .nights = 3 },
    { "+10 %, nights differ by 2 %", .step_noise = 0.02, .night_noise = 0.02, .change = 0.1, .nights = 3 },
    { "drift of 0.3 % a night, 20 nights", .step_noise = 0.02, .drift = 0.003, .nights = 20 },
};

static const struct world steady[] = {
    { "steady, steps 2 %", .step_noise = 0.02, .changed = NOTHING, .nights = 30 },
    { "noisy, steps 10 %", .step_noise = 0.1, .changed = NOTHING, .nights = 30 },
    { "1 step in 20 takes 50 % longer", .step_noise = 0.02, .slow_steps = 0.5, .changed = NOTHING,
      .nights = 30 },
    { "nights differ by 0.3 %", .step_noise = 0.02, .night_noise = 0.003, .changed = NOTHING, .nights = 30 },
    { "nights differ by 0.5 %", .step_noise = 0.02, .night_noise = 0.005, .changed = NOTHING, .nights = 30 },
    { "nights differ by 2 %", .step_noise = 0.02, .night_noise = 0.02, .changed = NOTHING, .nights = 30 },
    { "... all series alike, 0.3 %", .step_noise = 0.02, .common_noise = 0.003, .changed = NOTHING,
      .nights = 30 },
    { "... all series alike, 0.5 %", .step_noise = 0.02, .common_noise = 0.005, .changed = NOTHING,
      .nights = 30 },
    { "... all series alike, 2 %", .step_noise = 0.02, .common_noise = 0.02, .changed = NOTHING,
      .nights = 30 },
    { "one night of the window 10 % slower", .step_noise = 0.02, .outlier = 0.1, .changed = NOTHING,
      .nights = 30 },
    { "bimodal: 3 nights of 10 are 5 % slower", .step_noise = 0.02, .bimodal = 0.05, .changed = NOTHING,
      .nights = 30 },
};

static void print_rates(const double *rates)
{
    for (int rule = 0; rule < RULES; rule++)
        printf("%8.1f %%", 100 * rates[rule]);
}

static void print_heads(const char *what, const char *left, const char *right)
{
    printf("\n%-40s %-30s %-30s\n%-40s", "", left, right, what);
    for (int i = 0; i < 2; i++)
        printf("%10s%10s%10s", "tpa", "5 %", "M.-W.");
    printf("\n");
}

/* Of what does not change fewer histories are drawn, with 30 nights each. */
static size_t steady_histories(size_t histories)
{
    return (histories + 4) / 5;
}

static int print_tables(size_t histories, uint64_t seed)
{
    printf("%zu histories of %d nights of %d steps; %d series, %d of them operators\n", histories, WINDOW,
           STEPS, SERIES, OPERATORS);
    print_heads("change", "found on the first night", "found in all nights asked about");
    for (size_t i = 0; i < sizeof changing / sizeof *changing; i++) {
        struct rates rates = simulate(&changing[i], histories, seed + i, false);
        printf("%-40s", changing[i].name);
        print_rates(rates.first);
        print_rates(rates.by_last);
        printf("\n");
        fflush(stdout);
    }
    print_heads("no change", "nights with a false alarm", "... of an operator");
    for (size_t i = 0; i < sizeof steady / sizeof *steady; i++) {
        struct rates rates = simulate(&steady[i], steady_histories(histories), seed + 100 + i, false);
        printf("%-40s", steady[i].name);
        print_rates(rates.night);
        print_rates(rates.operators);
        printf("\n");
        fflush(stdout);
    }
    return 0;
}

/* What the documentation promises. */
static int check_promises(size_t histories, uint64_t seed)
{
    struct rates found = simulate(&changing[0], histories, seed, true);
    struct rates wolf = simulate(&steady[0], steady_histories(histories), seed + 100, true);
    printf("%s: found on the first night in %.1f %% of %zu histories, 95 %% are promised\n", changing[0].name,
           100 * found.first[RULE_TPA], histories);
    printf("%s: a false alarm on %.2f %% of %zu nights, less than 1 %% is promised\n", steady[0].name,
           100 * wolf.night[RULE_TPA], steady_histories(histories) * steady[0].nights);
    return found.first[RULE_TPA] >= 0.95 && wolf.night[RULE_TPA] < 0.01 ? 0 : 1;
}

int main(int argc, char **argv)
{
    size_t histories = 1000;
    uint64_t seed = 2;
    bool check = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            check = true;
        else if (strcmp(argv[i], "--histories") == 0 && i + 1 < argc)
            histories = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else
            return fprintf(stderr, "usage: simulate [--histories N] [--seed N] [--check]\n"), 2;
    }
    if (histories == 0)
        return 2;
    return check ? check_promises(histories, seed) : print_tables(histories, seed);
}
