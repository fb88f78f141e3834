/* load.c - selecting, loading and judging runs of a store; see nightly.h. */
#include "cli/nightly/nightly.h"

#include "cli/output_file.h"

#include <math.h>

static struct history_options nightly_options(const struct nightly_args *args)
{
    struct history_options options = HISTORY_DEFAULTS;
    options.window = args->window;
    options.false_alarms = args->false_alarms;
    options.min_change_share = args->min_change.share;
    return options;
}

bool nightly_may_keep(const char *option, const char *text, struct tpa_error *err)
{
    enum { LONGEST = 1000 };
    size_t len = text ? strlen(text) : 0;
    return len <= LONGEST ||
           tpa_fail(err, TPA_NOWHERE, "--%s takes up to %d bytes, and was given %zu", option, LONGEST, len);
}

struct store *nightly_open(const struct nightly_args *args, enum store_mode mode, struct tpa_error *err)
{
    if (!args->store) {
        tpa_fail(err, TPA_NOWHERE, "which store to use is missing");
        tpa_hint(err, "--store perf.db; it is made with the first run");
        return NULL;
    }
    if (!output_file_spares_path(args->store, err))
        return NULL;
    int64_t wait_ms = args->wait_ns / 1000000;
    return store_open(args->store, mode, wait_ms < INT32_MAX ? (int)wait_ms : INT32_MAX, err);
}

/* Is there a gate about shares? */
static bool asks_for_shares(const struct nightly_args *args)
{
    return ANY(i, args->gates.count, strncmp(args->gates.at[i], "idle=", strlen("idle=")) == 0);
}

/* A share falls when something else grows, and would be NEW when that is fixed; times do not have this problem. So
 * shares are judged only if a gate requests them. */
static void leave_out_shares(struct nightly *nightly)
{
    for (size_t i = 0; i < nightly->series.count; i++)
        for (size_t run = 0; run < nightly->runs.count && nightly->series.at[i].kind == TABLE_SHARE; run++)
            nightly->history.series.at[i].level[run] = NAN;
}

void nightly_look(struct nightly *nightly, size_t run, const struct nightly_args *args)
{
    if (!asks_for_shares(args))
        leave_out_shares(nightly);
    for (size_t i = 0; i < nightly->series.count; i++)
        if (table_is_time(nightly->series.at[i].kind))
            nightly->history.series.at[i].min_change = (double)args->min_change.time_ns;
    struct history_options options = nightly_options(args);
    nightly_judge(nightly, run, &options);
}

bool nightly_newest(struct store *store, const char *label, const char *gpu, struct arena *arena,
                    const char **of_label, const char **of_gpu, struct tpa_error *err)
{
    struct nightly listed = { 0 };
    if (!store_list(store, label, &listed, err))
        return false;
    const struct nightly_run *newest = NULL;
    bool one_label = true;
    FOR_EACH(run, &listed.runs) {
        if (gpu && strcmp(run->gpu, gpu) != 0)
            continue;
        one_label &= !newest || strcmp(newest->label, run->label) == 0;
        if (!newest || run->time_ns > newest->time_ns ||
            (run->time_ns == newest->time_ns && run->id > newest->id))
            newest = run;
    }
    if (!newest) {
        tpa_fail(err, TPA_NOWHERE, "there are no runs%s%s%s%s in this store", label ? " of " : "",
                 label ? label : "", gpu ? " on " : "", gpu ? gpu : "");
        tpa_hint(err, "tpa nightly --store STORE list shows what there is");
    } else if (!one_label) {
        tpa_fail(err, TPA_NOWHERE, "the store has runs of several labels");
        tpa_hint(err, "say which with --label; tpa nightly --store STORE list shows them");
    } else {
        *of_label = arena_strndup(arena, newest->label, strlen(newest->label));
        *of_gpu = arena_strndup(arena, newest->gpu, strlen(newest->gpu));
    }
    nightly_release(&listed);
    return !err->failed;
}

bool nightly_load(struct store *store, const struct nightly_args *args, struct nightly *nightly,
                  struct tpa_error *err)
{
    const char *label = NULL, *gpu = NULL;
    SCOPED_ARENA struct arena arena = { 0 };
    bool good = args->run ? store_find(store, (int64_t)args->run, &arena, &label, &gpu, err)
                          : nightly_newest(store, args->label, args->gpu, &arena, &label, &gpu, err);
    if (good && args->run && args->label && strcmp(args->label, label) != 0)
        good = tpa_fail(err, TPA_NOWHERE, "run %lld is of %s, not of %s", (long long)args->run, label,
                        args->label);
    good = good && store_load(store, label, gpu, nightly, err);
    return good;
}
