/* Columns are compacted in place, each in one pass: what stays moves to the front. */
#include "trace/slice.h"

#include "trace/arg_scan.h"
#include "trace/builder.h"
#include "trace/storage.h"

/* What goes where. */
struct cut {
    struct trace *trace;
    struct trace_storage *storage;
    const struct trace_part *part;
    uint32_t *file_of;  /* by old file; UINT32_MAX: dropped */
    track_id *track_of; /* by old track; TRACK_NONE */
};

static bool is_kept(const bool *keep, size_t index)
{
    return !keep || keep[index];
}

static bool keeps_event(const struct cut *cut, size_t e)
{
    return is_kept(cut->part->events, e) && cut->track_of[cut->storage->track[e]] != TRACK_NONE;
}

/* ---- files and tracks ---- */

static void number_files(struct cut *cut)
{
    struct trace_storage *storage = cut->storage;
    uint32_t files = 0;
    track_id tracks = 0;
    cut->file_of = mem_alloc(mem_times(storage->files.count + 1, sizeof *cut->file_of));
    cut->track_of = mem_alloc(mem_times(storage->tracks.count + 1, sizeof *cut->track_of));
    for (size_t f = 0; f < storage->files.count; f++)
        cut->file_of[f] = is_kept(cut->part->files, f) ? files++ : UINT32_MAX;
    for (size_t t = 0; t < storage->tracks.count; t++)
        cut->track_of[t] = cut->file_of[storage->tracks.at[t].file] != UINT32_MAX ? tracks++ : TRACK_NONE;
}

/* BEFORE: by event, how many before it stay. */
static void cut_files(struct cut *cut, const event_id *before)
{
    struct trace_storage *storage = cut->storage;
    size_t kept = 0;
    for (size_t f = 0; f < storage->files.count; f++) {
        struct trace_file *file = &storage->files.at[f];
        if (cut->file_of[f] == UINT32_MAX) {
            EACH(VEC_FREE, &file->devices, &file->properties, &file->groups);
            continue;
        }
        event_id first = before[file->first_event];
        file->event_count = before[file->first_event + file->event_count] - first;
        file->first_event = first;
        storage->files.at[kept++] = *file;
    }
    storage->files.count = kept;
}

static void cut_tracks(struct cut *cut)
{
    struct trace_storage *storage = cut->storage;
    size_t kept = 0;
    for (size_t t = 0; t < storage->tracks.count; t++) {
        if (cut->track_of[t] == TRACK_NONE)
            continue;
        struct track *track = &storage->tracks.at[kept++];
        *track = storage->tracks.at[t];
        track->file = cut->file_of[track->file];
        track->event_count = 0;
    }
    storage->tracks.count = kept;
}

static void cut_notices(struct cut *cut)
{
    struct trace_storage *storage = cut->storage;
    size_t kept = 0;
    for (size_t i = 0; i < storage->notices.count; i++) {
        struct trace_notice notice = storage->notices.at[i];
        if (!notice.of_all) {
            if (cut->file_of[notice.file] == UINT32_MAX)
                continue;
            notice.file = cut->file_of[notice.file];
        }
        storage->notices.at[kept++] = notice;
    }
    storage->notices.count = kept;
}

/* ---- events ---- */

/* The values of ARG that stay, and which events have one. */
static struct trace_arg_column cut_arg(const struct cut *cut, enum trace_arg arg)
{
    const struct trace_storage *storage = cut->storage;
    struct arg_storage left = { 0 };
    struct arg_scan values = arg_scan_of(cut->trace, arg);
    size_t kept = 0;
    for (size_t e = 0; e < storage->count; e++) {
        int64_t value;
        if (!keeps_event(cut, e))
            continue;
        if (arg_scan_get(&values, (event_id)e, &value))
            arg_storage_add(&left, (event_id)kept, value);
        kept++;
    }
    arg_storage_release(&cut->storage->args[arg]);
    cut->storage->args[arg] = left;
    return left.values.count ? arg_storage_freeze(&cut->storage->args[arg], kept)
                             : (struct trace_arg_column){ 0 };
}

static void cut_args(const struct cut *cut)
{
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (cut->trace->args[arg].count)
            cut->trace->args[arg] = cut_arg(cut, (enum trace_arg)arg);
}

static void lend_times(struct trace *trace)
{
    trace->start_ns = packing_finish(&trace->storage->start_ns);
    trace->dur_ns = packing_finish(&trace->storage->dur_ns);
}

/* The other columns; BEFORE gets how many events before each stay, and after the last how many in all. */
static void cut_events(struct cut *cut, event_id *before)
{
    struct trace_storage *storage = cut->storage;
    struct packing start_ns = { 0 }, dur_ns = { 0 };
    event_id kept = 0;
    for (size_t i = 0; i < storage->categories.count; i++)
        storage->categories.at[i].event_count = 0;
    for (size_t e = 0; e < storage->count; e++) {
        before[e] = kept;
        if (!keeps_event(cut, e))
            continue;
        packing_add(&start_ns, storage_start_ns(storage, e));
        packing_add(&dur_ns, packing_value(&storage->dur_ns, e));
        storage->name[kept] = storage->name[e];
        storage->category[kept] = storage->category[e];
        storage->kind[kept] = storage->kind[e];
        storage->flags[kept] = storage->flags[e];
        storage->track[kept] = storage->track[e]; /* renumbered below: keeps_event requests the old one */
        kept++;
    }
    before[storage->count] = kept;
    storage->count = kept;
    EACH(packing_release, &storage->start_ns, &storage->dur_ns);
    storage->start_ns = start_ns;
    storage->dur_ns = dur_ns;
    lend_times(cut->trace);
}

static void count_events(struct cut *cut)
{
    struct trace_storage *storage = cut->storage;
    for (size_t e = 0; e < storage->count; e++) {
        storage->track[e] = cut->track_of[storage->track[e]];
        storage->tracks.at[storage->track[e]].event_count++;
        storage->categories.at[storage->category[e]].event_count++;
    }
}

/* Let those of TRACE be FLOWS, which is taken. */
static void set_flows(struct trace *trace, struct flow_columns *flows)
{
    flow_columns_finish(flows);
    flow_columns_release(&trace->storage->flows);
    trace->storage->flows = *flows;
    trace->flow_count = flow_columns_count(flows);
}

static void cut_marks(struct cut *cut)
{
    struct trace_storage *storage = cut->storage;
    struct flow_columns flows = { 0 };
    for (size_t i = 0; i < flow_columns_count(&storage->flows); i++) {
        struct trace_flow flow = flow_columns_at(&storage->flows, i);
        flow.track = cut->track_of[flow.track];
        if (is_kept(cut->part->flows, i) && flow.track != TRACK_NONE)
            flow_columns_add(&flows, &flow, 1);
    }
    set_flows(cut->trace, &flows);
    size_t kept = 0;
    for (size_t i = 0; i < storage->samples.count; i++) {
        struct trace_sample sample = storage->samples.at[i];
        sample.track = cut->track_of[sample.track];
        if (is_kept(cut->part->samples, i) && sample.track != TRACK_NONE)
            storage->samples.at[kept++] = sample;
    }
    storage->samples.count = kept;
}

void trace_keep(struct trace *trace, const struct trace_part *part)
{
    struct trace_storage *storage = trace->storage;
    struct cut cut = { .trace = trace, .storage = storage, .part = part };
    SCOPED event_id *before = mem_alloc(mem_times(storage->count + 1, sizeof *before));
    trace_release_derived(storage);
    number_files(&cut);
    cut_args(&cut); /* while events have their old numbers */
    cut_events(&cut, before);
    cut_marks(&cut);
    cut_files(&cut, before);
    cut_tracks(&cut);
    cut_notices(&cut);
    count_events(&cut);
    trace->event_count = storage->count;
    trace->track_count = storage->tracks.count;
    trace->file_count = storage->files.count;
    trace->notice_count = storage->notices.count;
    trace->sample_count = storage->samples.count;
    EACH(free, cut.file_of, cut.track_of);
}

/* ---- another clock ---- */

static bool fits(int64_t moment_ns)
{
    return moment_ns >= -TRACE_LATEST_NS && moment_ns <= TRACE_LATEST_NS;
}

/* Do all moments of FILE stay within what a trace may hold? As none changes its place in the order, the first and the last tell. */
static bool can_move(const struct trace *trace, uint32_t file, trace_moment *moment, const void *context)
{
    int64_t first_ns = INT64_MAX, last_ns = INT64_MIN;
    const struct trace_file *of = &trace->files[file];
    for (event_id e = of->first_event; e < of->first_event + of->event_count; e++) {
        int64_t end_ns = trace_end_ns(trace, e);
        first_ns = trace_start_ns(trace, e) < first_ns ? trace_start_ns(trace, e) : first_ns;
        last_ns = end_ns > last_ns ? end_ns : last_ns;
    }
    for (size_t i = 0; i < trace->flow_count; i++) {
        struct trace_flow flow = trace_flow(trace, i);
        if (trace->tracks[flow.track].file == file) {
            first_ns = flow.ts_ns < first_ns ? flow.ts_ns : first_ns;
            last_ns = flow.ts_ns > last_ns ? flow.ts_ns : last_ns;
        }
    }
    for (size_t i = 0; i < trace->sample_count; i++)
        if (trace->tracks[trace->samples[i].track].file == file) {
            first_ns = trace->samples[i].ts_ns < first_ns ? trace->samples[i].ts_ns : first_ns;
            last_ns = trace->samples[i].ts_ns > last_ns ? trace->samples[i].ts_ns : last_ns;
        }
    return last_ns == INT64_MIN || (fits(moment(context, first_ns)) && fits(moment(context, last_ns)));
}

/* The property says what the base was: now it says what it is. */
static void set_base(struct trace *trace, struct trace_file *file, bool has_base, int64_t base_ns)
{
    file->has_base = has_base;
    file->base_ns = has_base ? base_ns : 0;
    FOR_EACH(property, &file->properties)
        if (strcmp(property->key, "baseTimeNanoseconds") == 0)
            property->value = arena_printf(&trace->arena, "%lld", (long long)file->base_ns);
}

struct moving {
    const struct trace_storage *storage;
    const struct trace_file *file;
    trace_moment *moment;
    const void *context;
};

static bool moves(const struct moving *moving, size_t e)
{
    return e >= moving->file->first_event && e - moving->file->first_event < moving->file->event_count;
}

static int64_t moved_start(void *context, size_t e, int64_t start_ns)
{
    const struct moving *moving = context;
    return moves(moving, e) ? moving->moment(moving->context, start_ns) : start_ns;
}

static int64_t moved_duration(void *context, size_t e, int64_t dur_ns)
{
    const struct moving *moving = context;
    int64_t start_ns = storage_start_ns(moving->storage, e);
    if (!moves(moving, e))
        return dur_ns;
    return moving->moment(moving->context, start_ns + dur_ns) - moving->moment(moving->context, start_ns);
}

static int64_t moved_flow(void *context, size_t i, int64_t ts_ns)
{
    const struct moving *moving = context;
    const struct trace_storage *storage = moving->storage;
    const struct track *track = &storage->tracks.at[packing_value(&storage->flows.of[FLOW_TRACK], i)];
    bool is_of_file = &storage->files.at[track->file] == moving->file;
    return is_of_file ? moving->moment(moving->context, ts_ns) : ts_ns;
}

bool trace_move(struct trace *trace, uint32_t file, bool has_base, int64_t base_ns, trace_moment *moment,
                const void *context)
{
    if (!can_move(trace, file, moment, context))
        return false;
    struct trace_storage *storage = trace->storage;
    struct trace_file *of = &storage->files.at[file];
    trace_release_derived(storage);
    struct moving moving = { storage, of, moment, context };
    packing_change(&storage->dur_ns, moved_duration, &moving); /* while starts are not moved */
    packing_change(&storage->start_ns, moved_start, &moving);
    lend_times(trace);
    packing_change(&storage->flows.of[FLOW_TIME], moved_flow, &moving);
    flow_columns_finish(&storage->flows);
    for (size_t i = 0; i < storage->samples.count; i++)
        if (storage->tracks.at[storage->samples.at[i].track].file == file)
            storage->samples.at[i].ts_ns = moment(context, storage->samples.at[i].ts_ns);
    if (of->has_window) {
        of->window_start_ns = moment(context, of->window_start_ns);
        of->window_end_ns = moment(context, of->window_end_ns);
    }
    set_base(trace, of, has_base, base_ns);
    return true;
}

/* ---- arrows ---- */

void trace_replace_flows(struct trace *trace, const char *category, const struct trace_flow *flows,
                         size_t count)
{
    struct trace_storage *storage = trace->storage;
    name_id id = names_add(storage->texts, category, strlen(category));
    struct flow_columns replaced = { 0 };
    for (size_t i = 0; i < trace->flow_count; i++) {
        struct trace_flow flow = trace_flow(trace, i);
        if (flow.category != id)
            flow_columns_add(&replaced, &flow, 1);
    }
    for (size_t i = 0; i < count; i++) {
        struct trace_flow flow = flows[i];
        flow.category = flow.name = id;
        flow_columns_add(&replaced, &flow, 1);
    }
    set_flows(trace, &replaced);
}

void trace_tell(struct trace *trace, uint32_t file, bool of_all, const char *kind, const char *text,
                uint64_t count)
{
    struct trace_storage *storage = trace->storage;
    *VEC_PUSH(&storage->notices) =
        (struct trace_notice){ .kind = kind,
                               .text = arena_strndup(&trace->arena, text, strlen(text)),
                               .file = of_all ? 0 : file,
                               .count = count,
                               .offset = TPA_NOWHERE,
                               .of_all = of_all };
    *(of_all ? &trace->lacks_of_all : &storage->files.at[file].lacks) |= lacks_of_word(kind);
    storage_lend(trace);
}
