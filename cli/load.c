/* load.c - see load.h. */
#include "cli/load.h"

#include "base/progress.h"
#include "cli/output_file.h"
#include <stdio.h>
#include <string.h>

static void show_progress(void *context, const char *path, int64_t done, int64_t total)
{
    progress_show(context, path, done, total);
}

static bool may_read(const struct source_id *file, struct tpa_error *err)
{
    return output_file_spares(file->device, file->inode, err);
}

bool load_any(const struct invocation *call, const struct load_args *args, const struct trace_wants *wants,
              struct ingested *ingested, struct tpa_error *err)
{
    struct progress progress = args->progress ? progress_begin(stderr) : (struct progress){ 0 };
    struct ingest_options options = {
        .wants = *wants,
        .workers = (unsigned)args->jobs,
        .max_ratio = args->max_ratio == 0 ? UINT64_MAX : args->max_ratio,
        .results = args->results,
        .may_read = may_read,
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

/* Up to so many files have a note of their own about the same thing; more share one. */
enum { MOST_NOTES_ALIKE = 3 };

/* How many notices, from AT on, say of some file what the one at AT says? Their count goes to *TOTAL. */
static size_t count_alike(const struct result *result, size_t at, int64_t *total)
{
    const struct table_notice *first = &result->notices.at[at];
    size_t files = 0;
    *total = 0;
    for (size_t i = at; i < result->notices.count; i++) {
        const struct table_notice *notice = &result->notices.at[i];
        if (!notice->file || strcmp(notice->kind, first->kind) != 0 || strcmp(notice->text, first->text) != 0)
            continue;
        files++;
        *total += notice->count;
    }
    return files;
}

/* Of a thousand ranks, hundreds have the same to tell: one note instead, where the first one stood. */
static void gather_notices(struct result *result)
{
    for (size_t at = 0; at < result->notices.count; at++) {
        struct table_notice first = result->notices.at[at];
        int64_t total;
        size_t files = first.file ? count_alike(result, at, &total) : 0;
        if (files <= MOST_NOTES_ALIKE)
            continue;
        size_t kept = at + 1;
        for (size_t i = at + 1; i < result->notices.count; i++) {
            struct table_notice *notice = &result->notices.at[i];
            if (!notice->file || strcmp(notice->kind, first.kind) != 0 ||
                strcmp(notice->text, first.text) != 0)
                result->notices.at[kept++] = *notice;
        }
        result->notices.count = kept;
        result->notices.at[at] = (struct table_notice){
            .kind = first.kind,
            .count = total,
            .text = arena_printf(&result->arena, "%s (%zu files, first %s)", first.text, files, first.file),
            .offset = TPA_NOWHERE,
        };
    }
}

void load_add_notices(const struct trace *trace, struct result *result)
{
    for (size_t i = 0; i < trace->notice_count; i++) {
        const struct trace_notice *notice = &trace->notices[i];
        const struct trace_file *file = &trace->files[notice->file];
        const char *path = notice->of_all                            ? NULL
                           : notice->of_container && file->container ? file->container->path
                                                                     : file->path;
        result_add_notice(result, notice->kind, (int64_t)notice->count, path, notice->offset, "%s",
                          notice->text);
    }
    gather_notices(result);
}
