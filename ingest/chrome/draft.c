#define _GNU_SOURCE /* memmem */
#include "ingest/chrome/draft.h"

#include "base/order.h"
#include "base/parallel.h"
#include "base/search.h"
#include "ingest/json_text.h"

static const struct dialect *const dialects[] = {
    &dialect_ascend, &dialect_onnx, &dialect_unitrace, &dialect_rocprof, &dialect_proton,
};

const struct dialect *dialect_find(const char *head, size_t len)
{
    /* PyTorch's own files, and those that tpa wrote of any of these, say so at their beginning. */
    if (memmem(head, len, "\"schemaVersion\"", 15) || memmem(head, len, "\"recorded by\"", 13))
        return NULL;
    for (size_t i = 0; i < sizeof dialects / sizeof *dialects; i++)
        if (dialects[i]->may_be(head, len))
            return dialects[i];
    return NULL;
}

bool draft_begins(const char *head, size_t len, const char *word)
{
    const char *end = head + len;
    while (*word && head < end && (*head == *word || json_is_blank(*head)))
        word += *head++ == *word;
    return !*word;
}

bool draft_head_has(const char *head, size_t len, const char *word)
{
    const char *end = head + len;
    for (const char *at = head; (at = memchr(at, *word, (size_t)(end - at))); at++)
        if (draft_begins(at, (size_t)(end - at), word))
            return true;
    return false;
}

/* ---- for dialects ---- */

void draft_record(struct draft *draft, int64_t pid, const char *name)
{
    draft_record_by(draft, recorder_open(draft->builder, pid, name));
    draft->owns_recorder = true;
}

void draft_record_by(struct draft *draft, struct recorder *recorder)
{
    const struct trace *trace = draft->trace;
    size_t names = names_count(trace->names) + 1, texts = names_count(trace->texts) + 1;
    draft->recorder = recorder;
    draft->names = mem_alloc(mem_times(names, sizeof *draft->names));
    draft->texts = mem_alloc(mem_times(texts, sizeof *draft->texts));
    memset(draft->names, 0xff, names * sizeof *draft->names); /* NAME_NONE */
    memset(draft->texts, 0xff, texts * sizeof *draft->texts);
}

name_id draft_name(struct draft *draft, event_id e)
{
    const struct names *names = draft->trace->names;
    name_id id = draft->trace->name[e];
    if (draft->names[id] == NAME_NONE)
        draft->names[id] = recorder_name(draft->recorder, names_text(names, id), names_length(names, id));
    return draft->names[id];
}

name_id draft_text(struct draft *draft, name_id text)
{
    const struct names *texts = draft->trace->texts;
    if (draft->texts[text] == NAME_NONE)
        draft->texts[text] = trace_chunk_text(recorder_chunk(draft->recorder), names_text(texts, text),
                                              names_length(texts, text));
    return draft->texts[text];
}

static const bool arg_is_text[ARG_COUNT] = {
#define IS_TEXT_TEXT true
#define IS_TEXT_JSON true
#define IS_TEXT_INT false
#define IS_TEXT_DECIMAL false
#define IS_TEXT_BOOL false
#define ARG_IS_TEXT(id, kind, keys) IS_TEXT_##kind,
    TRACE_ARGS(ARG_IS_TEXT)
};

void draft_copy_args(struct draft *draft, event_id e, uint64_t args)
{
    const struct trace *trace = draft->trace;
    static const uint64_t known = UINT64_MAX >> (64 - ARG_COUNT);
    for (args &= draft->options->wants.args & known; args; args &= args - 1) {
        int arg = __builtin_ctzll(args);
        int64_t value;
        if (!trace->args[arg].count || !trace_arg(trace, (enum trace_arg)arg, e, &value))
            continue;
        trace_chunk_arg(recorder_chunk(draft->recorder), (enum trace_arg)arg,
                        arg_is_text[arg] ? draft_text(draft, (name_id)value) : value);
    }
}

static const char *text_or_empty(const struct trace *trace, name_id id)
{
    return id == NAME_NONE ? "" : names_text(trace->texts, id);
}

const char *draft_process(const struct trace *trace, track_id track)
{
    return text_or_empty(trace, trace->tracks[track].process_name);
}

const char *draft_thread(const struct trace *trace, track_id track)
{
    return text_or_empty(trace, trace->tracks[track].thread_name);
}

const char *draft_category(const struct trace *trace, event_id e)
{
    return names_text(trace->texts, trace->categories[trace->category[e]].text);
}

int64_t draft_number(const char *text, const char *word, int64_t missing)
{
    const char *at = text, *last = NULL;
    while ((at = strstr(at, word)))
        last = at += strlen(word);
    if (!last)
        return missing;
    while (*last == ' ')
        last++;
    size_t digits = strspn(last, "0123456789");
    return digits > 0 && digits <= 18 ? strtoll(last, NULL, 10) : missing;
}

/* ---- spans ---- */

struct draft_spans {
    const struct trace *trace;
    VEC_OF(event_id); /* by track, start and end, the longest first */
    uint32_t *parent; /* a place; UINT32_MAX */
    size_t last;      /* behind the place that was found last */
};

struct draft_spans *draft_spans_open(const struct trace *trace, const bool *chosen)
{
    struct draft_spans *spans = mem_zalloc(1, sizeof *spans);
    spans->trace = trace;
    for (event_id e = 0; e < trace->event_count; e++)
        if (chosen[e])
            *VEC_PUSH(spans) = e;
    uint64_t *keys = mem_alloc(mem_times(spans->count + 1, sizeof *keys));
    uint32_t *order = order_open(spans->count);
    for (int key = 0; key < 3; key++) {
        for (size_t i = 0; i < spans->count; i++) {
            event_id e = spans->at[i];
            keys[i] = key == 0   ? ~order_key(trace_end_ns(trace, e))
                      : key == 1 ? order_key(trace_start_ns(trace, e))
                                 : trace->track[e];
        }
        order_by(order, spans->count, keys);
    }
    spans->parent = mem_alloc(mem_times(spans->count + 1, sizeof *spans->parent));
    for (size_t i = 0; i < spans->count; i++)
        spans->parent[i] = spans->at[order[i]];
    if (spans->count)
        memcpy(spans->at, spans->parent, spans->count * sizeof *spans->at);
    EACH(free, order, keys);
    for (size_t i = 0; i < spans->count; i++) {
        event_id e = spans->at[i];
        uint32_t at = i && trace->track[spans->at[i - 1]] == trace->track[e] ? (uint32_t)i - 1 : UINT32_MAX;
        while (at != UINT32_MAX && trace_end_ns(trace, spans->at[at]) < trace_start_ns(trace, e))
            at = spans->parent[at];
        spans->parent[i] = at;
    }
    return spans;
}

void draft_spans_free(struct draft_spans *spans)
{
    if (!spans)
        return;
    VEC_FREE(spans);
    EACH(free, spans->parent, spans);
}

/* Has the span at place I begun on TRACK at NS, or stands it before that track? */
static bool has_begun(const struct draft_spans *spans, size_t i, track_id track, int64_t ns)
{
    const struct trace *trace = spans->trace;
    event_id e = spans->at[i];
    return trace->track[e] < track || (trace->track[e] == track && trace_start_ns(trace, e) <= ns);
}

/* The place of the last span of TRACK that began at NS or before; UINT32_MAX. Often it is the one found last or the next. */
static uint32_t place_before(struct draft_spans *spans, track_id track, int64_t ns)
{
    const struct trace *trace = spans->trace;
    size_t i = spans->last;
    if (i < spans->count && has_begun(spans, i, track, ns))
        i++;
    if ((i && !has_begun(spans, i - 1, track, ns)) || (i < spans->count && has_begun(spans, i, track, ns)))
        SEARCH(i, spans->count, has_begun(spans, i, track, ns));
    spans->last = i;
    return i && trace->track[spans->at[i - 1]] == track ? (uint32_t)i - 1 : UINT32_MAX;
}

event_id draft_spans_before(struct draft_spans *spans, track_id track, int64_t ns)
{
    uint32_t at = place_before(spans, track, ns);
    return at == UINT32_MAX ? EVENT_NONE : spans->at[at];
}

event_id draft_spans_around(struct draft_spans *spans, track_id track, int64_t ns)
{
    uint32_t at = place_before(spans, track, ns);
    while (at != UINT32_MAX && trace_end_ns(spans->trace, spans->at[at]) < ns)
        at = spans->parent[at];
    return at == UINT32_MAX ? EVENT_NONE : spans->at[at];
}

/* ---- reading ---- */

/* What the reader learnt of the file, apart from its events. */
static void take_file_facts(struct trace_builder *builder, const struct trace *trace, bool is_several)
{
    const struct trace_file *from = &trace->files[0];
    struct trace_file *file = trace_builder_current_file(builder);
    file->size = from->size;
    for (size_t i = 0; i < from->properties.count; i++)
        chrome_apply_kept(builder, &from->properties.at[i]);
    FOR_EACH_OF(notice, trace->notices, trace->notice_count) {
        if (is_several && strcmp(notice->kind, lack_word(LACK_SEVERAL_DOCUMENTS)) == 0)
            continue;
        trace_builder_notice(builder, trace_builder_strndup(builder, notice->kind, strlen(notice->kind)),
                             trace_builder_strndup(builder, notice->text, strlen(notice->text)),
                             notice->count, notice->offset);
    }
}

/* The track of the draft in the chunk of the builder. */
static track_id copy_track(struct trace_chunk *chunk, const struct trace *trace, track_id t)
{
    const struct track *track = &trace->tracks[t];
    bool pid_text = track->pid_text != NAME_NONE, tid_text = track->tid_text != NAME_NONE;
    track_id id =
        trace_chunk_track(chunk, &(struct track_key){
                                     .pid = track->pid,
                                     .tid = track->tid,
                                     .pid_text = pid_text ? names_text(trace->texts, track->pid_text) : NULL,
                                     .tid_text = tid_text ? names_text(trace->texts, track->tid_text) : NULL,
                                     .pid_len = pid_text ? names_length(trace->texts, track->pid_text) : 0,
                                     .tid_len = tid_text ? names_length(trace->texts, track->tid_text) : 0,
                                 });
    const struct {
        enum track_fact fact;
        name_id text;
    } facts[] = { { FACT_PROCESS_NAME, track->process_name },
                  { FACT_PROCESS_LABELS, track->process_labels },
                  { FACT_THREAD_NAME, track->thread_name } };
    for (size_t i = 0; i < sizeof facts / sizeof *facts; i++)
        if (facts[i].text != NAME_NONE)
            trace_chunk_fact(chunk, id, facts[i].fact, 0,
                             trace_chunk_text(chunk, names_text(trace->texts, facts[i].text),
                                              names_length(trace->texts, facts[i].text)));
    trace_chunk_fact(chunk, id, FACT_PROCESS_SORT_INDEX, track->process_sort_index, NAME_NONE);
    trace_chunk_fact(chunk, id, FACT_THREAD_SORT_INDEX, track->thread_sort_index, NAME_NONE);
    return id;
}

static void copy_event(struct draft *draft, event_id e, const track_id *tracks)
{
    const struct trace *trace = draft->trace;
    struct trace_chunk *chunk = recorder_chunk(draft->recorder);
    const char *category = draft_category(trace, e);
    trace_chunk_event(chunk, &(struct chunk_event){
                                 .phase = trace->flags[e] & EVENT_POINT ? 'i' : 'X',
                                 .start_ns = trace_start_ns(trace, e),
                                 .dur_ns = trace_dur_ns(trace, e),
                                 .name = draft_name(draft, e),
                                 .track = tracks[trace->track[e]],
                                 .category = trace_chunk_category(chunk, category, strlen(category)),
                                 .flags = trace->flags[e],
                             });
    draft_copy_args(draft, e, UINT64_MAX);
}

/* The file is of no dialect: everything as it is written. */
static bool copy_all(struct draft *draft, struct tpa_error *err)
{
    const struct trace *trace = draft->trace;
    draft_record(draft, 0, NULL);
    struct trace_chunk *chunk = recorder_chunk(draft->recorder);
    SCOPED track_id *tracks = mem_alloc(mem_times(trace->track_count + 1, sizeof *tracks));
    for (track_id t = 0; t < trace->track_count; t++)
        tracks[t] = copy_track(chunk, trace, t);
    bool ok = true;
    for (event_id e = 0; e < trace->event_count && ok; e++) {
        copy_event(draft, e, tracks);
        ok = recorder_flush(draft->recorder, err);
    }
    for (size_t i = 0; i < trace->flow_count && draft->options->wants.flows; i++) {
        struct trace_flow flow = trace_flow(trace, i);
        flow.category = draft_text(draft, flow.category);
        flow.name = draft_text(draft, flow.name);
        flow.track = tracks[flow.track];
        trace_chunk_flow(chunk, &flow);
    }
    for (size_t i = 0; i < trace->sample_count; i++) {
        struct trace_sample sample = trace->samples[i];
        sample.counter = draft_text(draft, sample.counter);
        sample.track = tracks[sample.track];
        trace_chunk_sample(chunk, &sample);
    }
    trace_chunk_count_skipped(chunk, trace->flows_seen, trace->samples_seen, trace->metadata_seen);
    return ok && recorder_append(draft->recorder, err);
}

bool draft_read(const struct dialect *dialect, struct source *source, struct trace_builder *builder,
                const struct ingest_options *options, struct tpa_error *err)
{
    struct ingest_options all = *options;
    all.wants.flows = true;
    all.wants.only_count = false;
    all.wants.as_written = true;
    for (const struct chrome_key *key = dialect->keys; key->text; key++)
        all.wants.args |= UINT64_C(1) << key->arg;
    struct trace_builder *own = trace_builder_open(&all.wants);
    trace_builder_file(own, source_name(source), "Chrome JSON");
    trace_builder_set_workers(own, parallel_workers(options->workers));
    if (!chrome_read_windows(source, own, &all, dialect->keys, err)) {
        trace_builder_free(own);
        return false;
    }
    SCOPED_BY(trace_free_at) struct trace *trace = trace_builder_finish(own);
    struct draft draft = { .trace = trace, .builder = builder, .options = options };
    bool is_one = dialect->is_one(trace);
    take_file_facts(builder, trace, is_one && dialect->is_several);
    bool ok = is_one ? dialect->write(&draft, err) : copy_all(&draft, err);
    if (draft.owns_recorder)
        recorder_free(draft.recorder);
    EACH(free, draft.names, draft.texts);
    return ok;
}
