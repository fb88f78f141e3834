/*
 * fill.c - fill a store with many nights, to see how large and slow it gets.
 *
 *     fill STORE NIGHTS OPERATORS STEPS
 *
 * A step time and OPERATORS rows of STEPS samples each with 2 % noise, of a label "filled"; one night per day.
 */
#include "history/store.h"

#include <math.h>

static uint64_t random_state = 42;

/* -1 .. 1, more often in the middle. */
static double draw(void)
{
    double sum = 0;
    for (int i = 0; i < 4; i++) {
        random_state = random_state * 6364136223846793005u + 1442695040888963407u;
        sum += (double)(random_state >> 11) * 0x1p-53;
    }
    return sum / 2 - 1;
}

static void add_figure(struct night *night, size_t at, size_t steps)
{
    struct night_figure figure = {
        .table = at == 0 ? NIGHT_HEAD : "operators",
        .name = at == 0 ? "step_time" : arena_printf(arena_of(night), "aten::operator_with_a_name_%zu", at),
        .title = at == 0 ? "step time" : NULL,
        .kind = TABLE_NS,
        .calls = at == 0 ? NAN : 12.5,
        .values = arena_alloc(arena_of(night), steps * sizeof *figure.values),
        .count = steps,
    };
    SCOPED double *sorted = mem_alloc(steps * sizeof *sorted);
    figure.length = strlen(figure.name);
    for (size_t i = 0; i < steps; i++)
        sorted[i] = figure.values[i] = round(1e8 / (double)(at + 1) * (1 + 0.04 * draw()));
    figure.level = level_of(sorted, steps);
    *VEC_PUSH(&night->figures) = figure;
}

int main(int argc, char **argv)
{
    struct tpa_error err = { 0 };
    if (argc != 5)
        return 2;
    struct store *store = store_open(argv[1], STORE_CREATE, 1000, &err);
    for (int i = 0; store && !err.failed && i < atoi(argv[2]); i++) {
        SCOPED_OBJECT struct night *night = arena_open(sizeof *night);
        ARENA_OWNS(arena_of(night), &night->figures, &night->facts);
        struct store_about about = {
            .label = "filled", .gpu = "GPU", .commit = "0123456789abcdef", .host = "node"
        };
        struct store_added added;
        night->unit = "step";
        night->sample_count = strtoul(argv[4], NULL, 10);
        for (size_t at = 0; at <= strtoul(argv[3], NULL, 10); at++)
            add_figure(night, at, night->sample_count);
        about.hash.low = (uint64_t)i;
        about.time_ns = (INT64_C(1700000000) + i * INT64_C(86400)) * 1000000000;
        store_add(store, night, &about, &added, &err);
    }
    store_close(store);
    if (err.failed)
        tpa_error_print(&err, "fill", stderr);
    return err.failed ? 2 : 0;
}
