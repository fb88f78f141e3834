/* fuzz_snapshot.c - any bytes as a memory snapshot: read, replayed, asked everything, compared, made a trace. */
#include "diff/diff.h"
#include "ingest/snapshot.h"
#include "memory/snapshot_analysis.h"
#include "tests/fuzz/fuzz.h"

static void ask(const struct snapshots *snapshots, size_t size)
{
    static const char *const moments[] = { "peak", "end", "oom", "3", "-1", "10us" };
    struct tpa_error err = { 0 };
    struct snapshot_query query = { .by = (enum alive_by)(size % ALIVE_BY_COUNT) };
    snapshot_moment_parse(moments[size % (sizeof moments / sizeof *moments)], &query.at, &err);
    SCOPED_OBJECT struct snapshot_answers *answers = snapshot_answer(snapshots, &query);
    struct result *result = result_open("fuzz");
    snapshot_add_tables(answers, &(struct snapshot_tables_options){ .by = query.by, .segments = true }, true,
                        result);
    snapshot_add_notices(snapshots, answers, result);
    snapshot_add_info(snapshots, result);
    for (size_t i = 0; i < answers->replays.count; i++) {
        timeline_free(snapshot_blocks_timeline(answers->replays.at[i]));
        flame_free(snapshot_flame(answers->replays.at[i]));
    }
    result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(data, size, "fuzz", &err);
    struct snapshot *snapshot = source ? snapshot_read(source, &err) : NULL;
    source_free(source);
    if (!snapshot)
        return 0;
    struct snapshots all = { 0 };
    *VEC_PUSH(&all.of) = snapshot;
    ask(&all, size);
    SCOPED_OBJECT struct measures *measures = measures_open();
    if (measure_snapshots(measures, &all, &err)) {
        struct block_changes changes;
        measures_finish(measures);
        blocks_compare(measures, measures, &changes);
        VEC_FREE(&changes.rows);
    }
    struct trace_wants wants = { .args = UINT64_MAX >> (64 - ARG_COUNT), .counters = true };
    trace_free(snapshot_as_trace(&all, &wants, &err));
    snapshot_free(snapshot);
    VEC_FREE(&all.of);
    return 0;
}
