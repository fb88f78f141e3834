/*
 * simulate_diff.c - how often `tpa diff` calls a change that is none, and how often it finds one.
 *
 *     simulate_diff [--comparisons N] [--seed N] [--check]
 *
 * Runs of a job are drawn: a level with noise from run to run, and steps around it. One run a side is compared with the
 * noise known, 3 and 5 runs a side without it. --check: with 400 comparisons each, the false alarms must lie within the
 * interval in which 95 % of such counts lie if the true rate is the nominal 5 %, and over 20 times as many they must not
 * exceed what chance allows in any of the cases; a change of 5 % under 1 % of noise must be found in 95 % of comparisons of
 * several runs. With one run a side no test can do that: it must be found as often as by the best test of the same level.
 */
#include "derive/step_pattern.h"
#include "diff/verdict.h"

#include <math.h>

/* ---- random numbers: xorshift64* and Marsaglia's polar method ---- */

static uint64_t random_state;

static void seed_random(uint64_t seed)
{
    random_state = seed * 0x9e3779b97f4a7c15u + 1;
}

static double draw_uniform(void)
{
    random_state ^= random_state >> 12;
    random_state ^= random_state << 25;
    random_state ^= random_state >> 27;
    return (double)((random_state * 0x2545f4914f6cdd1du) >> 11) * 0x1p-53;
}

static double draw_gaussian(void)
{
    for (;;) {
        double x = 2 * draw_uniform() - 1, y = 2 * draw_uniform() - 1, square = x * x + y * y;
        if (square > 0 && square < 1)
            return x * sqrt(-2 * log(square) / square);
    }
}

/* ---- runs ---- */

enum { MOST_STEPS = 60, MOST_RUNS = 5 };

struct world {
    const char *name;
    size_t steps;
    double run_noise;  /* standard deviation of the level of a run, as a share */
    double step_noise; /* of a step around it */
    double correlated; /* autocorrelation of that */
    double drift;      /* of the level, from the first step to the last, as a share; the same in all runs */
    size_t period;     /* each so many steps, one takes EXTRA more, as a share; 0: none */
    double extra;
};

static const struct world worlds[] = {
    { "steps alike", .steps = 20, .run_noise = 0.05, .step_noise = 0.01 },
    { "steps vary more than runs", .steps = 20, .run_noise = 0.01, .step_noise = 0.05 },
    { "steps hang together", .steps = 40, .run_noise = 0.03, .step_noise = 0.02, .correlated = 0.6 },
    { "drift of 10 %", .steps = 30, .run_noise = 0.05, .step_noise = 0.01, .drift = 0.1 },
    { "long and short by turns", .steps = 20, .run_noise = 0.03, .step_noise = 0.01, .period = 2,
      .extra = 1 },
    { "each third is 7 times as long", .steps = 31, .run_noise = 0.03, .step_noise = 0.01, .period = 3,
      .extra = 6 },
    { "each tenth, recorded 25 steps", .steps = 25, .run_noise = 0.03, .step_noise = 0.01, .period = 10,
      .extra = 2 },
    { "few steps", .steps = 6, .run_noise = 0.02, .step_noise = 0.02 },
};
enum { WORLDS = sizeof worlds / sizeof *worlds };

/* Draw a run whose level is LEVEL. */
static struct run_level draw_run(const struct world *world, double level)
{
    double values[MOST_STEPS], around = draw_gaussian();
    struct run_step steps[MOST_STEPS];
    size_t phase = world->period ? (size_t)(draw_uniform() * (double)world->period) : 0;
    level *= 1 + world->run_noise * draw_gaussian();
    for (size_t i = 0; i < world->steps; i++) {
        bool longer = world->period && (i + phase) % world->period == 0;
        double trend = world->drift * ((double)i / (double)(world->steps - 1) - 0.5);
        values[i] = level * ((longer ? 1 + world->extra : 1) + trend + world->step_noise * around);
        around =
            world->correlated * around + sqrt(1 - world->correlated * world->correlated) * draw_gaussian();
    }
    int64_t ns[MOST_STEPS];
    for (size_t i = 0; i < world->steps; i++)
        ns[i] = llround(values[i]);
    size_t period = step_pattern_period(ns, world->steps), skipped = world->steps % period;
    for (size_t i = skipped; i < world->steps;
         i++) /* the last whole periods, as the account of a step has them */
        steps[i - skipped] = (struct run_step){ i - skipped, values[i] };
    return run_level_of(steps, world->steps - skipped, world->steps - skipped, period);
}

/* Is a change called between RUNS runs a side, of which the second is slower by CHANGE? */
static bool is_called(const struct world *world, size_t runs, double change)
{
    struct run_level levels[2][MOST_RUNS];
    struct sampled sampled = { .present = { true, true }, .whole = { NAN, NAN } };
    for (int side = 0; side < 2; side++) {
        for (size_t i = 0; i < runs; i++)
            levels[side][i] = draw_run(world, 10e6 * (side ? 1 + change : 1));
        sampled.runs[side] = levels[side];
        sampled.run_count[side] = runs;
    }
    struct noise noise = { runs == 1 ? world->run_noise : 0, INFINITY };
    struct finding finding = finding_of(&sampled, &noise);
    finding_judge(&finding, 0);
    return finding.verdict == VERDICT_MORE || finding.verdict == VERDICT_LESS;
}

static size_t count_calls(const struct world *world, size_t runs, double change, size_t comparisons)
{
    size_t calls = 0;
    for (size_t i = 0; i < comparisons; i++)
        calls += is_called(world, runs, change);
    return calls;
}

/* ---- tables and promises ---- */

static const size_t run_counts[] = { 1, 3, 5 };
enum { RUN_COUNTS = sizeof run_counts / sizeof *run_counts };

/* FROM..TO, outside of which a count of COMPARISONS lies with the probability TAIL on each side, if RATE is that of each. */
static void binomial_interval(size_t comparisons, double rate, double tail, size_t *from, size_t *to)
{
    double n = (double)comparisons, below = 0;
    *from = *to = 0;
    for (size_t k = 0; k <= comparisons; k++) {
        double of = (double)k, ways = lgamma(n + 1) - lgamma(of + 1) - lgamma(n - of + 1); /* its logarithm */
        double p = exp(ways + of * log(rate) + (n - of) * log1p(-rate));
        if (below + p <= tail)
            *from = k + 1;
        if (below < 1 - tail)
            *to = k;
        below += p;
    }
}

static bool check_false_alarms(size_t comparisons, uint64_t seed, bool check)
{
    size_t from, to, ignored, most;
    bool good = true;
    binomial_interval(comparisons, 0.05, 0.025, &from, &to);
    /* in one of the cases or more, with the probability 5 % */
    binomial_interval(20 * comparisons, 0.05, 0.05 / (WORLDS * RUN_COUNTS), &ignored, &most);
    printf(
        "false alarms of %zu comparisons (nominal 5 %%: %zu to %zu), and over 20 times as many (%.1f %% at most)\n",
        comparisons, from, to, 5 * (double)most / (double)comparisons);
    for (size_t w = 0; w < WORLDS; w++) {
        printf("  %-34s", worlds[w].name);
        for (size_t r = 0; r < RUN_COUNTS; r++) {
            seed_random(seed + w * RUN_COUNTS + r);
            size_t calls = count_calls(&worlds[w], run_counts[r], 0, comparisons);
            size_t many = count_calls(&worlds[w], run_counts[r], 0, 20 * comparisons);
            double rate = 100 * (double)many / (20 * (double)comparisons);
            bool fits = calls >= from && calls <= to && many <= most;
            good &= !check || fits;
            printf("  %zu run%s: %zu, %.1f %%%s", run_counts[r], run_counts[r] == 1 ? " " : "s", calls, rate,
                   fits ? "" : " (!)");
        }
        printf("\n");
    }
    return good;
}

/* How often the best test finds CHANGE at the level 5 %, if NOISE is known: the standard deviation of the logarithm of each of
 * the two levels. */
static double best_power(double change, double noise)
{
    double distance = log1p(change) / (sqrt(2) * noise);
    return 0.5 * erfc((1.959964 - distance) / sqrt(2));
}

static bool check_found(size_t comparisons, uint64_t seed)
{
    const struct world world = { "", .steps = 20, .run_noise = 0.01, .step_noise = 0.005 };
    double best = best_power(0.05, hypot(world.run_noise, world.step_noise / sqrt((double)world.steps)));
    bool good = true;
    printf(
        "found: 5 %% slower under 1 %% of noise between runs and 0.5 %% between steps, of %zu; with one run %.1f %% at best\n  %-34s",
        comparisons, 100 * best, "");
    for (size_t r = 0; r < RUN_COUNTS; r++) {
        seed_random(seed + 1000 + r);
        size_t calls = count_calls(&world, run_counts[r], 0.05, comparisons), from, to;
        binomial_interval(comparisons, best, 0.025, &from, &to);
        good &= calls >= (run_counts[r] == 1 ? from : comparisons * 95 / 100);
        printf("  %zu run%s: %zu, %.1f %%", run_counts[r], run_counts[r] == 1 ? " " : "s", calls,
               100 * (double)calls / (double)comparisons);
    }
    printf("\n");
    return good;
}

int main(int argc, char **argv)
{
    size_t comparisons = 400;
    uint64_t seed = 1;
    bool check = false;
    for (int i = 1; i < argc; i++) {
        if (strcmp(argv[i], "--check") == 0)
            check = true;
        else if (strcmp(argv[i], "--comparisons") == 0 && i + 1 < argc)
            comparisons = strtoul(argv[++i], NULL, 10);
        else if (strcmp(argv[i], "--seed") == 0 && i + 1 < argc)
            seed = strtoull(argv[++i], NULL, 10);
        else
            return fprintf(stderr, "usage: simulate_diff [--comparisons N] [--seed N] [--check]\n"), 2;
    }
    if (comparisons == 0)
        return 2;
    bool rates = check_false_alarms(comparisons, seed, check), found = check_found(comparisons, seed);
    return !check || (rates && found) ? 0 : 1;
}
