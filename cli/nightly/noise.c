#include "cli/nightly/noise.h"

#include "cli/nightly/nightly.h"

/* The series of the figure that a run is judged by first: its step time. HISTORY_NO_RUN if there is none. */
static size_t main_series(const struct nightly *nightly)
{
    for (size_t i = 0; i < nightly->series.count; i++)
        if (nightly->history.series.at[i].group == HISTORY_STEP)
            return i;
    return HISTORY_NO_RUN;
}

static void too_few_nights(const char *path, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "this store has too few nights to know their noise: it takes %d",
             HISTORY_LEAST_RUNS + 1);
    tpa_hint(err, "give the noise with --noise 3%%, or several runs a side");
    tpa_in_file(err, path);
}

bool nightly_noise(const char *path, const char *label, struct noise *noise, struct tpa_error *err)
{
    static const struct history_options defaults = HISTORY_DEFAULTS;
    const struct nightly_args args = {
        .store = path, .label = label, .window = defaults.window, .false_alarms = defaults.false_alarms
    };
    struct store *store = nightly_open(&args, STORE_READ, err);
    SCOPED_BY(nightly_release) struct nightly nightly = { 0 };
    bool good = store && nightly_load(store, &args, &nightly, err);
    if (good) {
        nightly_look(&nightly, nightly.runs.count - 1, &args);
        size_t at = main_series(&nightly);
        const struct history_finding *now = at == HISTORY_NO_RUN ? NULL : &nightly.history.series.at[at].now;
        good = now && now->noise > 0 && now->references >= HISTORY_LEAST_RUNS;
        if (good)
            *noise = (struct noise){ now->noise, (double)(now->references - 1) };
        else
            too_few_nights(path, err);
    }
    store_close(store);
    return good;
}
