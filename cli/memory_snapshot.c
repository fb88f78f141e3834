/* memory_snapshot.c - see memory_snapshot.h. */
#include "cli/memory_snapshot.h"

#include "cli/analysis.h"
#include "snapshot/sentences.h"
#include "snapshot/tables.h"

int memory_of_snapshots(const struct ingested *ingested, const struct memory_snapshot_query *query,
                        const struct output_args *output, struct tpa_error *err)
{
    struct snapshot_question question = { .by = query->by, .devices = query->devices };
    if (!snapshot_moment_parse(query->at, &question.at, err))
        return EXIT_TROUBLE;
    struct snapshot_answers answers;
    snapshot_answer(&ingested->snapshots, &question, &answers);
    struct snapshot_tables_options options = { query->at, query->by, query->segments };
    struct result *result = result_open("tpa.memory/1");
    snapshot_say(&answers, result);
    snapshot_add_tables(&answers, &options, !output_is_for_people(output), result);
    snapshot_add_notices(&ingested->snapshots, &answers, result);
    struct output_args rows = *output;
    rows.limit = analysis_limit(output);
    bool fine = output_result(result, &rows, err);
    result_free(result);
    snapshot_answers_release(&answers);
    return fine ? EXIT_FINE : EXIT_TROUBLE;
}
