#include "cli/parts.h"

#include "cli/analysis.h"
#include "memory/snapshot_analysis.h"

/* Are empty tables included? For people only those that they named: a gate on leaks normally has none. */
static bool shows_empty(const struct output_args *output)
{
    return !output_is_for_people(output) || output->tables;
}

int memory_of_snapshots(const struct ingested *ingested, const struct memory_snapshot_query *query,
                        const struct output_args *output, struct tpa_error *err)
{
    struct snapshot_query wanted = { .by = query->by, .devices = query->devices };
    if (!snapshot_moment_parse(query->at, &wanted.at, err))
        return EXIT_TROUBLE;
    SCOPED_OBJECT struct snapshot_answers *answers = snapshot_answer(&ingested->snapshots, &wanted);
    struct snapshot_tables_options options = { query->at, query->by, query->segments };
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.memory/1");
    snapshot_say(answers, NULL, result);
    snapshot_add_tables(answers, &options, shows_empty(output), result);
    snapshot_add_notices(&ingested->snapshots, answers, result);
    struct output_args rows = *output;
    rows.limit = analysis_limit(output);
    bool fine = output_result(result, &rows, err);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}

static bool ran_out(const struct snapshots *snapshots)
{
    for (size_t i = 0; i < snapshots->of.count; i++) {
        const struct snapshot_entries *entries = &snapshots->of.at[i]->entries;
        if (entries->count && memchr(entries->action, ENTRY_OOM, entries->count))
            return true;
    }
    return false;
}

/* Keep only the tables about the contents of memory. */
static void keep_first_tables(struct result *result)
{
    static const char *const kept[] = { "ooms", "devices", "alive", "alive_at_peak", "leaks" };
    size_t count = 0;
    for (size_t t = 0; t < result->tables.count; t++) {
        struct table *table = result->tables.at[t];
        bool keep = ANY(k, sizeof kept / sizeof *kept, strcmp(table->key, kept[k]) == 0);
        /* The sentences have their figures. */
        table->detail = strcmp(table->key, "devices") == 0 || strcmp(table->key, "ooms") == 0;
        if (keep)
            result->tables.at[count++] = table;
        else
            table_free(table);
    }
    result->tables.count = count;
}

int summary_of_snapshots(const struct ingested *ingested, const struct ranges *devices,
                         const struct output_args *output, struct tpa_error *err)
{
    enum { MOST = 5 };
    bool oom = ran_out(&ingested->snapshots);
    struct snapshot_query wanted = { .at = { .kind = oom ? MOMENT_OOM : MOMENT_PEAK },
                                     .by = ALIVE_BY_LINE,
                                     .devices = *devices };
    SCOPED_OBJECT struct snapshot_answers *answers = snapshot_answer(&ingested->snapshots, &wanted);
    struct snapshot_tables_options options = { .at = oom ? "oom" : NULL, .by = ALIVE_BY_LINE };
    SCOPED_BY(result_free_at) struct result *result = result_open("tpa.summary/1");
    snapshot_say(answers, &wanted.at, result);
    snapshot_add_tables(answers, &options, shows_empty(output), result);
    keep_first_tables(result);
    snapshot_add_notices(&ingested->snapshots, answers, result);
    struct output_args rows = *output;
    rows.limit = output_limit_or(output, MOST);
    bool fine = output_result(result, &rows, err);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}
