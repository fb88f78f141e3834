#include "cli/parts.h"

#include "base/label.h"
#include "memory/memory.h"

/* Read OPERAND, a file with its size, into QUERY. */
static bool read_recording(const struct invocation *call, const struct load_args *load, const char *operand,
                           struct forecast_query *query, struct tpa_error *err)
{
    const char *path;
    struct ingested ingested;
    if (!forecast_operand(query, operand, &path, err))
        return false;
    char *only[] = { (char *)(uintptr_t)path };
    struct invocation one = *call;
    one.operands = only;
    one.operand_count = 1;
    if (!load_any(&one, load, &memory_wants, &ingested, err))
        return false;
    bool good = false;
    if (ingested.snapshots.of.count) {
        good = forecast_add_snapshot(query, ingested.snapshots.of.at[0], path, err);
        ingested_free(&ingested);
        return good;
    }
    SCOPED_BY(trace_free_at) struct trace *trace = ingested_trace(&ingested, path, err);
    good = trace && forecast_add_trace(query, trace, path, err);
    return good;
}

bool forecast_files_read(const struct invocation *call, const struct load_args *load,
                         struct forecast_query *query, struct tpa_error *err)
{
    return ALL(i, call->operand_count, read_recording(call, load, call->operands[i], query, err));
}

bool forecast_files_are_sized(const struct invocation *call)
{
    return ALL(i, call->operand_count, label_of(call->operands[i])) && call->operand_count > 0;
}
