#include "cli/convert/files.h"

#include "cli/convert/part.h"
#include "trace/append.h"
#include "trace/slice.h"
#include <sys/stat.h>

struct convert_files *convert_files_open(const struct invocation *call, const struct load_args *load,
                                         const struct trace_wants *wants, bool merge)
{
    struct convert_files *files = mem_zalloc(1, sizeof *files);
    files->all = trace_open();
    files->call = call;
    files->load = load;
    files->wants = *wants;
    files->merge = merge;
    files->join = collectives_join_open();
    return files;
}

void convert_files_free(struct convert_files *files)
{
    if (!files)
        return;
    trace_free(files->all);
    arena_free(files->collectives);
    arena_free(files->join);
    VEC_FREE(&files->reads);
    EACH(free, files->last_ns, files->has_samples, files->own_event, files->ways, files);
}

bool convert_files_can(const struct invocation *call)
{
    bool several = call->operand_count > 1;
    for (size_t i = 0; i < call->operand_count; i++) {
        struct stat about;
        if (strcmp(call->operands[i], "-") == 0 || stat(call->operands[i], &about) != 0 ||
            !(S_ISREG(about.st_mode) || S_ISDIR(about.st_mode)))
            return false;
        several |= S_ISDIR(about.st_mode);
    }
    return several;
}

/* ---- the first time ---- */

static void add_last_moments(struct convert_files *files, const struct trace *trace)
{
    size_t known = files->all->file_count;
    SCOPED int64_t *last_ns = timeline_last_moments(trace);
    files->last_ns =
        mem_realloc(files->last_ns, mem_times(known + trace->file_count + 1, sizeof *files->last_ns));
    for (size_t f = 0; f < trace->file_count; f++)
        files->last_ns[known + f] = last_ns[f];
}

static void add_sampled_tracks(struct convert_files *files, const struct trace *trace)
{
    size_t known = files->all->track_count;
    SCOPED bool *has_samples = timeline_sampled_tracks(trace);
    files->has_samples = mem_realloc(files->has_samples,
                                     mem_times(known + trace->track_count + 1, sizeof *files->has_samples));
    for (size_t t = 0; t < trace->track_count; t++)
        files->has_samples[known + t] = has_samples[t];
}

static void add_own_events(struct convert_files *files, const struct trace *trace, const bool *needed,
                           size_t first)
{
    files->own_event =
        mem_realloc(files->own_event, mem_times(files->all->event_count + 1, sizeof *files->own_event));
    for (event_id e = 0; e < trace->event_count; e++)
        if (needed[e])
            files->own_event[first++] = e;
}

static bool files_add_file(void *context, struct trace *trace, struct tpa_error *err)
{
    struct convert_files *files = context;
    struct convert_read read = { (uint32_t)files->all->file_count, (track_id)files->all->track_count,
                                 (event_id)files->all->event_count, 0, trace->event_count };
    (void)err;
    files->events += trace->event_count;
    files->flows += convert_own_flows(trace);
    timeline_notice_numbers(&files->numbers, trace);
    add_last_moments(files, trace);
    add_sampled_tracks(files, trace);
    SCOPED_OBJECT struct collectives *of_file = collectives_open(trace);
    SCOPED bool *needed = collectives_join_needs(of_file);
    trace_append(files->all, trace, needed);
    read.kept = (event_id)files->all->event_count - read.first_event;
    *VEC_PUSH(&files->reads) = read;
    add_own_events(files, trace, needed, read.first_event);
    collectives_join_add(files->join, of_file, needed, read.first_event, read.first_file);
    return true;
}

/* Set the clocks right, and draw the arrows between ranks. */
static void merge(struct convert_files *files, struct buffer *summary)
{
    files->ways = convert_merge(files->all, files->collectives, &files->numbers, summary);
    for (size_t f = 0; files->ways && f < files->all->file_count; f++)
        if (files->ways[f].moves && files->last_ns[f] != INT64_MIN)
            files->last_ns[f] = convert_way_moment(&files->ways[f], files->last_ns[f]);
}

bool convert_files_read(struct convert_files *files, struct ingested *ingested, struct buffer *summary,
                        struct tpa_error *err)
{
    struct trace_wants wants = files->wants;
    wants.args = COLLECTIVES_WANTS | TIMELINE_ARGS_OF_FILE | WANT(FINISHED);
    if (!load_each(files->call, files->load, &wants, files_add_file, files, ingested, err))
        return false;
    if (!ingested->trace)
        return true;
    trace_append(files->all, ingested->trace, NULL); /* for notices about all files together */
    trace_free(ingested->trace);
    ingested->trace = NULL;
    files->collectives = collectives_join_finish(files->join, files->all);
    files->join = NULL;
    if (files->merge && files->all->file_count > 1)
        merge(files, summary);
    return true;
}

/* ---- the second time ---- */

struct reading {
    struct convert_files *files;
    convert_files_visit *visit;
    void *context;
    size_t next; /* of the reads */
};

static bool same_track(const struct trace *trace, const struct track *track, const struct trace *all,
                       const struct track *known)
{
    return track->pid == known->pid && track->tid == known->tid &&
           strcmp(names_text(trace->texts, track->pid_text), names_text(all->texts, known->pid_text)) == 0 &&
           strcmp(names_text(trace->texts, track->tid_text), names_text(all->texts, known->tid_text)) == 0;
}

/* Does TRACE equal the first reading? */
static bool files_is_same(const struct reading *reading, const struct trace *trace)
{
    const struct convert_files *files = reading->files;
    const struct trace *all = files->all;
    if (reading->next == files->reads.count)
        return false;
    const struct convert_read *read = &files->reads.at[reading->next];
    const struct convert_read *next =
        reading->next + 1 < files->reads.count ? &files->reads.at[reading->next + 1] : NULL;
    bool same = trace->event_count == read->events &&
                trace->track_count == (next ? next->first_track : all->track_count) - read->first_track &&
                trace->file_count == (next ? next->first_file : all->file_count) - read->first_file;
    for (track_id t = 0; same && t < trace->track_count; t++)
        same = same_track(trace, &trace->tracks[t], all, &all->tracks[read->first_track + t]);
    return same;
}

static bool fail_changed(const struct trace *trace, struct tpa_error *err)
{
    tpa_fail(err, TPA_NOWHERE, "the file changed while it was read");
    tpa_hint(err, "several files are read twice; convert them when no program writes to them any more");
    return tpa_in_file(err, trace->file_count ? trace->files[0].path : "-");
}

static bool read_again(void *context, struct trace *trace, struct tpa_error *err)
{
    struct reading *reading = context;
    const struct convert_files *files = reading->files;
    if (!files_is_same(reading, trace))
        return fail_changed(trace, err);
    const struct convert_read *read = &files->reads.at[reading->next++];
    if (files->ways)
        trace_replace_flows(trace, CONVERT_COLLECTIVE, NULL, 0);
    for (uint32_t f = 0; f < trace->file_count && files->ways; f++) {
        const struct convert_way *way = &files->ways[read->first_file + f];
        if (way->moves &&
            !trace_move(trace, f, way->root_has_base, way->root_base_ns, convert_way_moment, way))
            return fail_changed(trace, err);
    }
    return reading->visit(reading->context, trace, read, err);
}

bool convert_files_each(struct convert_files *files, convert_files_visit *visit, void *context,
                        struct tpa_error *err)
{
    struct reading reading = { files, visit, context, 0 };
    struct ingested ingested;
    if (!load_each(files->call, files->load, &files->wants, read_again, &reading, &ingested, err))
        return false;
    ingested_free(&ingested);
    return reading.next == files->reads.count || fail_changed(files->all, err);
}
