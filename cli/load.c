/* load.c - see load.h. */
#include "cli/load.h"

#include "base/progress.h"
#include <stdio.h>

static void show_progress(void *context, const char *path, int64_t done, int64_t total)
{
    progress_show(context, path, done, total);
}

bool load_any(const struct invocation *call, const struct load_args *args, const struct trace_wants *wants,
              struct ingested *ingested, struct tpa_error *err)
{
    struct progress progress = args->progress ? progress_begin(stderr) : (struct progress){ 0 };
    struct ingest_options options = {
        .wants = *wants,
        .workers = (unsigned)args->jobs,
        .max_ratio = args->max_ratio == 0 ? UINT64_MAX : args->max_ratio,
        .progress = progress.out ? show_progress : NULL,
        .progress_context = &progress,
    };
    bool fine =
        ingest_read_any((const char *const *)call->operands, call->operand_count, &options, ingested, err);
    progress_end(&progress);
    return fine;
}

struct trace *load_traces(const struct invocation *call, const struct load_args *args,
                          const struct trace_wants *wants, struct tpa_error *err)
{
    struct ingested ingested;
    if (!load_any(call, args, wants, &ingested, err))
        return NULL;
    return ingested_trace(&ingested, call->operands[0], err);
}

void load_add_notices(const struct trace *trace, struct result *result)
{
    for (size_t i = 0; i < trace->notice_count; i++) {
        const struct trace_notice *notice = &trace->notices[i];
        result_add_notice(result, notice->kind, (int64_t)notice->count, trace->files[notice->file].path,
                          notice->offset, "%s", notice->text);
    }
}
