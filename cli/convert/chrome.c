/*
 * chrome.c - Chrome's trace event JSON, for Perfetto and chrome://tracing, and for reading it again.
 *
 * The model is written so that reading gives the same model: the top-level keys unchanged; the names of processes and
 * threads; then one event per line, in order. Times are microseconds with all their nanoseconds. Events of threads
 * become X, points i, async ones b and e with an id of their own, as the model does not keep the file's. What was still
 * open when the recording stopped is begun and not ended, or says so (finished).
 *
 * Several files become one. Processes keep their numbers if unique; else they are named by rank, and numbers that are
 * local to a file (correlations, ids, sequence numbers, flow ids) are offset by a stride. Times are moved to the
 * earliest origin. The head records the file of each process, so that reading gives the same files again.
 *
 * They are written file after file, so that memory holds one at a time (files.h): data that depends on all of them is
 * known before, from a trace that holds all files and tracks but few events.
 *
 * Event names are written as they are or escaped, which is determined once per name. Threads make and pack parts of
 * some thousand events each (base/packer.h).
 */

#include "base/packer.h"
#include "cli/convert/parts.h"
#include "cli/convert/files.h"
#include "cli/convert/part.h"
#include "base/escape.h"
#include "report/exact.h"
#include "trace/arg_rows.h"
#include "trace/arg_scan.h"

#include <inttypes.h>

enum {
    EVENTS_PER_PART = 8192,
    FLOWS_PER_PART = 32768,
    SORT_STRIDE = 100000000, /* between the sort indices of one file's processes and the next's */
};

struct output_text {
    const char *at;
    size_t len;
};

struct used_arg {
    enum trace_arg arg;
    enum arg_form form;
    struct output_text key; /* "correlation": with quotes and colon */
};

/* From a runtime or driver call to what it launched. */
struct arrow {
    event_id call, work;
};

struct chrome_output {
    const struct trace *all;           /* all files and tracks */
    const struct trace *trace;         /* whose events are written now: some of the files, or ALL */
    track_id first_track;              /* of TRACE in ALL */
    uint64_t first_event, first_arrow; /* how many were written before */
    bool has_lines;                    /* something was written before */
    struct used_arg args[ARG_COUNT];
    size_t arg_count;
    bool *plain_name, *plain_text; /* by id: needs no escapes */
    bool *plain_value;             /* by id of a text: is a valid JSON value */
    struct output_text *place;     /* by track of ALL: ,"pid":7,"tid":8 */
    struct output_text *category;  /* by category: ,"cat":"kernel", or nothing */
    int64_t *shift_ns;             /* by file: to be added to times */
    int64_t last_ns;               /* the end of the last event: see stays_open */
    int64_t stride;                /* between the numbers of one file and the next; 0: there is one */
    struct buffer head;            /* text before the events */
    size_t fact_count;             /* metadata events in it */
    size_t event_parts, flow_parts, arrow_parts, sample_parts;
    struct buffer marks; /* the critical path, when it was requested */
    size_t mark_count;
    struct arena arena, part_arena; /* PART: of what is known of TRACE */
    bool makes_arrows;
    VEC_OF(struct arrow) arrows; /* of a trace that has none */
};

/* ---- small pieces ---- */

static void chrome_append(struct buffer *out, struct output_text text)
{
    buffer_add(out, text.at, text.len);
}

#define PUT(out, literal) buffer_add(out, literal, sizeof(literal) - 1)

/* Is TEXT the same between the quotes of a JSON string? */
static bool is_plain_string(const char *text, size_t len)
{
    for (size_t i = 0; i < len; i++) {
        unsigned char c = (unsigned char)text[i];
        if (c < 0x20 || c >= 0x7f || c == '"' || c == '\\')
            return false;
    }
    return true;
}

static void append_known_string(struct buffer *out, const struct names *names, const bool *plain, name_id id)
{
    const char *text = names_text(names, id);
    size_t len = names_length(names, id);
    if (id != NAME_NONE && !plain[id]) {
        escape_json_string(out, text, len);
        return;
    }
    buffer_putc(out, '"');
    buffer_add(out, text, len);
    buffer_putc(out, '"');
}

/* NS nanoseconds in microseconds, exactly: 1234.5 */
static void append_microseconds(struct buffer *out, int64_t ns)
{
    char text[32], *chrome_end = text + sizeof text, *at = chrome_end;
    uint64_t rest = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
    unsigned fraction = (unsigned)(rest % 1000);
    rest /= 1000;
    if (fraction) {
        int digits = 3;
        for (; fraction % 10 == 0; fraction /= 10)
            digits--;
        for (; digits > 0; digits--, fraction /= 10)
            *--at = (char)('0' + fraction % 10);
        *--at = '.';
    }
    do
        *--at = (char)('0' + rest % 10);
    while (rest /= 10);
    if (ns < 0)
        *--at = '-';
    buffer_add(out, at, (size_t)(chrome_end - at));
}

/* An id that may be a hash of 64 bits, which JavaScript could not hold as a number. */
static void chrome_append_id(struct buffer *out, int64_t id)
{
    if (id > -(INT64_C(1) << 53) && id < INT64_C(1) << 53)
        exact_add_integer(out, id);
    else
        buffer_printf(out, "\"0x%" PRIx64 "\"", (uint64_t)id);
}

/* Infinity, which a file may hold as a number too large, is written as one. */
static void append_double(struct buffer *out, double value)
{
    if (isfinite(value))
        exact_add_double(out, value);
    else
        buffer_puts(out, isnan(value) ? "0" : value < 0 ? "-1e999" : "1e999");
}

static struct output_text chrome_keep(struct arena *arena, struct buffer *text)
{
    struct output_text kept = { arena_strndup(arena, text->at ? text->at : "", text->count), text->count };
    buffer_clear(text);
    return kept;
}

/* The file, in ALL, of a track of TRACE. */
static uint32_t chrome_file_of(const struct chrome_output *output, track_id track)
{
    return output->all->tracks[output->first_track + track].file;
}

static void chrome_append_place(const struct chrome_output *output, struct buffer *out, track_id track)
{
    chrome_append(out, output->place[output->first_track + track]);
}

static void place_tracks(struct chrome_output *output)
{
    const struct trace *trace = output->all;
    SCOPED bool *shared = timeline_shared_processes(trace);
    output->place = mem_zalloc(trace->track_count + 1, sizeof *output->place);
    SCOPED struct buffer text = { 0 };
    for (size_t i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        PUT(&text, ",\"pid\":");
        chrome_append_pid(&text, trace, track, shared[i]);
        PUT(&text, ",\"tid\":");
        if (track->tid_text != NAME_NONE)
            escape_json_string(&text, names_text(trace->texts, track->tid_text),
                               names_length(trace->texts, track->tid_text));
        else
            exact_add_integer(&text, track->tid);
        output->place[i] = chrome_keep(&output->arena, &text);
    }
}

/* ---- metadata events: what processes and threads are called ---- */

static void begin_fact(struct chrome_output *output, struct buffer *out, track_id track, const char *name)
{
    buffer_puts(out, output->fact_count++ ? ",\n" : "");
    buffer_printf(out, "{\"ph\":\"M\",\"name\":\"%s\"", name);
    chrome_append(out, output->place[track]);
    PUT(out, ",\"args\":{");
}

static void append_text_fact(struct chrome_output *output, struct buffer *out, track_id track,
                             const char *name, const char *key, name_id value)
{
    if (value == NAME_NONE)
        return;
    begin_fact(output, out, track, name);
    buffer_printf(out, "\"%s\":", key);
    escape_json_string(out, names_text(output->all->texts, value), names_length(output->all->texts, value));
    PUT(out, "}}");
}

static void append_number_fact(struct chrome_output *output, struct buffer *out, track_id track,
                               const char *name, int64_t value)
{
    if (value == 0)
        return;
    begin_fact(output, out, track, name);
    buffer_printf(out, "\"sort_index\":%" PRId64 "}}", value);
}

/* In front of what the process is called stands the rank, when there are several. */
static void chrome_append_process_name(struct chrome_output *output, struct buffer *out, track_id track)
{
    const struct trace *trace = output->all;
    name_id name = trace->tracks[track].process_name;
    if (trace->file_count < 2) {
        append_text_fact(output, out, track, "process_name", "name", name);
        return;
    }
    SCOPED struct buffer text = { 0 };
    timeline_add_file(&text, trace, trace->tracks[track].file);
    if (name != NAME_NONE)
        buffer_printf(&text, " %s", names_text(trace->texts, name));
    begin_fact(output, out, track, "process_name");
    PUT(out, "\"name\":");
    escape_json_string(out, text.at, text.count);
    PUT(out, "}}");
}

static void append_facts(struct chrome_output *output, struct buffer *out)
{
    const struct trace *trace = output->all;
    SCOPED bool *is_first = timeline_first_tracks(trace);
    for (track_id i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        if (is_first[i]) {
            int64_t order = track->process_sort_index;
            if (trace->file_count > 1)
                order = (order % SORT_STRIDE + SORT_STRIDE) % SORT_STRIDE +
                        (int64_t)track->file * SORT_STRIDE + 1;
            chrome_append_process_name(output, out, i);
            append_text_fact(output, out, i, "process_labels", "labels", track->process_labels);
            append_number_fact(output, out, i, "process_sort_index", order);
        }
        append_text_fact(output, out, i, "thread_name", "name", track->thread_name);
        append_number_fact(output, out, i, "thread_sort_index", track->thread_sort_index);
    }
}

/* ---- events ---- */

static void append_known_value(const struct chrome_output *output, struct buffer *out, name_id id)
{
    const char *text = names_text(output->trace->texts, id);
    size_t len = names_length(output->trace->texts, id);
    if (id != NAME_NONE && output->plain_value[id])
        buffer_add(out, text, len);
    else
        json_value_append(out, text, len);
}

static void chrome_append_arg(const struct chrome_output *output, struct buffer *out,
                              const struct used_arg *arg, uint32_t file, int64_t value)
{
    const struct names *texts = output->trace->texts;
    double decimal;
    switch (arg->form) {
    case FORM_INT:
        value = timeline_arg_apart(output->stride, file, arg->arg, value);
        if (arg->arg == ARG_ADDRESS && value < 0)
            buffer_printf(out, "%" PRIu64, (uint64_t)value);
        else
            exact_add_integer(out, value);
        break;
    case FORM_DECIMAL:
        memcpy(&decimal, &value, sizeof decimal);
        append_double(out, decimal);
        break;
    case FORM_TEXT: append_known_string(out, texts, output->plain_text, (name_id)value); break;
    case FORM_JSON: append_known_value(output, out, (name_id)value); break;
    case FORM_BOOL: buffer_puts(out, value ? "true" : "false"); break;
    }
}

/* Is E written with a beginning only, because it lasts to the end of the file? */
static bool stays_open(const struct chrome_output *output, event_id e)
{
    const struct trace *trace = output->trace;
    return trace->flags[e] & EVENT_UNFINISHED &&
           trace_end_ns(trace, e) + output->shift_ns[chrome_file_of(output, trace->track[e])] ==
               output->last_ns &&
           trace_arg_or(trace, ARG_FINISHED, e, -1) < 0;
}

/* OF_FILE: by file, its last moment. */
static void find_last_moment(struct chrome_output *output, const int64_t *of_file)
{
    output->last_ns = INT64_MIN;
    for (size_t f = 0; f < output->all->file_count; f++)
        if (of_file[f] != INT64_MIN && of_file[f] + output->shift_ns[f] > output->last_ns)
            output->last_ns = of_file[f] + output->shift_ns[f];
}

static char phase_of(const struct chrome_output *output, event_id e)
{
    uint8_t flags = output->trace->flags[e];
    if (flags & EVENT_POINT)
        return flags & EVENT_ASYNC ? 'n' : 'i';
    if (flags & EVENT_ASYNC)
        return 'b';
    return stays_open(output, e) ? 'B' : 'X';
}

/* The common part of all phases: {"ph":"X","cat":"kernel","name":"gemm","pid":0,"tid":7,"ts":12.5 */
static void begin_event(const struct chrome_output *output, struct buffer *out, event_id e, char phase,
                        int64_t ts_ns)
{
    const struct trace *trace = output->trace;
    track_id track = trace->track[e];
    char head[] = "{\"ph\":\"?\"";
    head[7] = phase;
    buffer_add(out, head, sizeof head - 1);
    chrome_append(out, output->category[trace->category[e]]);
    PUT(out, ",\"name\":");
    append_known_string(out, trace->names, output->plain_name, trace->name[e]);
    chrome_append_place(output, out, track);
    if (trace->flags[e] & EVENT_ASYNC)
        buffer_printf(out, ",\"id\":\"0x%" PRIx64 "\"", output->first_event + e);
    PUT(out, ",\"ts\":");
    append_microseconds(out, ts_ns + output->shift_ns[chrome_file_of(output, track)]);
}

static void append_args(const struct chrome_output *output, struct buffer *out, event_id e,
                        struct arg_scan *scans, bool say_unfinished)
{
    uint32_t file = chrome_file_of(output, output->trace->track[e]);
    size_t start = out->count;
    for (size_t i = 0; i < output->arg_count; i++) {
        int64_t value;
        if (!arg_scan_get(&scans[i], e, &value))
            continue;
        buffer_puts(out, out->count == start ? ",\"args\":{" : ",");
        chrome_append(out, output->args[i].key);
        chrome_append_arg(output, out, &output->args[i], file, value);
    }
    if (say_unfinished)
        buffer_puts(out, out->count == start ? ",\"args\":{\"finished\":false" : ",\"finished\":false");
    if (out->count > start)
        buffer_putc(out, '}');
}

static void chrome_append_event(const struct chrome_output *output, struct buffer *out, event_id e,
                                struct arg_scan *scans)
{
    const struct trace *trace = output->trace;
    uint8_t flags = trace->flags[e];
    char phase = phase_of(output, e);
    begin_event(output, out, e, phase, trace_start_ns(trace, e));
    if (phase == 'X' && !(flags & EVENT_NO_DURATION)) {
        PUT(out, ",\"dur\":");
        append_microseconds(out, trace_dur_ns(trace, e));
    }
    if (phase == 'i')
        PUT(out, ",\"s\":\"t\"");
    append_args(output, out, e, scans,
                phase == 'X' && flags & EVENT_UNFINISHED && trace_arg_or(trace, ARG_FINISHED, e, -1) < 0);
    buffer_putc(out, '}');
    if (phase == 'b' && !stays_open(output, e)) {
        PUT(out, ",\n");
        begin_event(output, out, e, 'e', trace_end_ns(trace, e));
        buffer_putc(out, '}');
    }
}

static void chrome_make_events(const struct chrome_output *output, size_t part, struct buffer *out)
{
    const struct trace *trace = output->trace;
    event_id first = (event_id)(part * EVENTS_PER_PART), chrome_end = first + EVENTS_PER_PART;
    if (chrome_end > trace->event_count)
        chrome_end = (event_id)trace->event_count;
    struct arg_scan scans[ARG_COUNT];
    for (size_t i = 0; i < output->arg_count; i++)
        scans[i] = arg_scan_of(trace, output->args[i].arg);
    for (event_id e = first; e < chrome_end; e++) {
        if (e > 0 || output->has_lines)
            PUT(out, ",\n");
        chrome_append_event(output, out, e, scans);
    }
}

static void make_flows(const struct chrome_output *output, size_t part, struct buffer *out)
{
    const struct trace *trace = output->trace;
    size_t first = part * FLOWS_PER_PART, chrome_end = first + FLOWS_PER_PART;
    for (size_t i = first; i < chrome_end && i < trace->flow_count; i++) {
        const struct trace_flow flow = trace_flow(trace, i);
        uint32_t file = chrome_file_of(output, flow.track);
        if (i > 0 || trace->event_count > 0 || output->has_lines)
            PUT(out, ",\n");
        buffer_printf(out, "{\"ph\":\"%c\",\"id\":", flow.phase);
        chrome_append_id(out, timeline_set_apart(output->stride, file, flow.id));
        PUT(out, ",\"cat\":");
        append_known_string(out, trace->texts, output->plain_text, flow.category);
        PUT(out, ",\"name\":");
        append_known_string(out, trace->texts, output->plain_text, flow.name);
        chrome_append_place(output, out, flow.track);
        PUT(out, ",\"ts\":");
        append_microseconds(out, flow.ts_ns + output->shift_ns[file]);
        buffer_puts(out, flow.bind_enclosing ? ",\"bp\":\"e\"}" : "}");
    }
}

/* The arrow from a call to what it launched on a device, as PyTorch draws it. */
static void chrome_append_arrow_end(const struct chrome_output *output, struct buffer *out, char phase,
                                    uint64_t id, event_id e)
{
    const struct trace *trace = output->trace;
    uint32_t file = chrome_file_of(output, trace->track[e]);
    buffer_printf(out, "{\"ph\":\"%c\",\"id\":%" PRIu64 ",\"cat\":\"ac2g\",\"name\":\"ac2g\"", phase, id);
    chrome_append_place(output, out, trace->track[e]);
    PUT(out, ",\"ts\":");
    append_microseconds(out, trace_start_ns(trace, e) + output->shift_ns[file]);
    buffer_puts(out, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

static void make_arrows(const struct chrome_output *output, size_t part, struct buffer *out)
{
    size_t first = part * FLOWS_PER_PART, chrome_end = first + FLOWS_PER_PART;
    for (size_t i = first; i < chrome_end && i < output->arrows.count; i++) {
        PUT(out, ",\n");
        uint64_t id = output->first_arrow + i + 1;
        chrome_append_arrow_end(output, out, 's', id, output->arrows.at[i].call);
        PUT(out, ",\n");
        chrome_append_arrow_end(output, out, 'f', id, output->arrows.at[i].work);
    }
}

/* The model calls a series "counter series"; the text after the last blank is treated as the series. */
static void chrome_make_samples(const struct chrome_output *output, size_t part, struct buffer *out)
{
    const struct trace *trace = output->trace;
    size_t first = part * FLOWS_PER_PART, chrome_end = first + FLOWS_PER_PART;
    for (size_t i = first; i < chrome_end && i < trace->sample_count; i++) {
        const struct trace_sample *sample = &trace->samples[i];
        const char *name = names_text(trace->texts, sample->counter);
        size_t len = names_length(trace->texts, sample->counter);
        const char *blank = memrchr(name, ' ', len);
        size_t name_len = blank ? (size_t)(blank - name) : 0, series = blank ? name_len + 1 : 0;
        if (i > 0 || trace->flow_count > 0 || trace->event_count > 0 || output->has_lines)
            PUT(out, ",\n");
        PUT(out, "{\"ph\":\"C\",\"name\":");
        escape_json_string(out, name, name_len);
        chrome_append_place(output, out, sample->track);
        PUT(out, ",\"ts\":");
        append_microseconds(out, sample->ts_ns + output->shift_ns[chrome_file_of(output, sample->track)]);
        PUT(out, ",\"args\":{");
        escape_json_string(out, name + series, len - series);
        buffer_putc(out, ':');
        append_double(out, sample->value);
        PUT(out, "}}");
    }
}

static void chrome_make_head(const void *context, size_t part, struct buffer *out)
{
    const struct chrome_output *output = context;
    (void)part;
    buffer_add(out, output->head.at, output->head.count);
}

/* Events, then flow arrows, counter samples. */
static void chrome_make_part(const void *context, size_t part, struct buffer *out)
{
    const struct chrome_output *output = context;
    if (part < output->event_parts) {
        chrome_make_events(output, part, out);
        return;
    }
    part -= output->event_parts;
    if (part < output->flow_parts) {
        make_flows(output, part, out);
        return;
    }
    part -= output->flow_parts;
    if (part < output->arrow_parts)
        make_arrows(output, part, out);
    else
        chrome_make_samples(output, part - output->arrow_parts, out);
}

static void make_tail(const void *context, size_t part, struct buffer *out)
{
    const struct chrome_output *output = context;
    (void)part;
    if (output->mark_count)
        buffer_add(out, output->marks.at, output->marks.count);
    PUT(out, "\n]\n}\n");
}

static size_t chrome_parts_of(size_t count, size_t per_part)
{
    return (count + per_part - 1) / per_part;
}

static bool *find_plain(const struct names *names, bool (*is_plain)(const char *text, size_t len))
{
    size_t count = names_count(names);
    bool *plain = mem_alloc(count + 1);
    for (name_id id = 0; id < count; id++)
        plain[id] = is_plain(names_text(names, id), names_length(names, id));
    return plain;
}

static void chrome_find_args(struct chrome_output *output)
{
    SCOPED struct buffer text = { 0 };
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        if (output->trace->args[arg].count == 0)
            continue;
        const char *keys = arg_rows[arg].keys;
        escape_json_string(&text, keys, strcspn(keys, "|"));
        buffer_putc(&text, ':');
        output->args[output->arg_count++] = (struct used_arg){
            .arg = (enum trace_arg)arg,
            .form = arg_rows[arg].form,
            .key = chrome_keep(&output->part_arena, &text),
        };
    }
}

static void find_categories(struct chrome_output *output)
{
    const struct trace *trace = output->trace;
    SCOPED struct buffer text = { 0 };
    output->category = mem_zalloc(trace->category_count + 1, sizeof *output->category);
    for (size_t i = 0; i < trace->category_count; i++) {
        name_id id = trace->categories[i].text;
        if (names_length(trace->texts, id) == 0)
            continue;
        PUT(&text, ",\"cat\":");
        escape_json_string(&text, names_text(trace->texts, id), names_length(trace->texts, id));
        output->category[i] = chrome_keep(&output->part_arena, &text);
    }
}

/* Logs of tpa capture have no arrows, which are useful in a timeline. */
static bool needs_arrows(const struct trace *all, uint64_t own_flows)
{
    bool wanted = own_flows == 0;
    for (size_t i = 0; i < all->file_count; i++)
        wanted &= all->files[i].producer == PRODUCER_TPA;
    return wanted;
}

static void find_arrows(struct chrome_output *output)
{
    const struct trace *trace = output->trace;
    output->arrows.count = 0;
    if (!output->makes_arrows)
        return;
    SCOPED_OBJECT struct attribution *launches = attribution_open(trace);
    for (event_id e = 0; e < trace->event_count; e++) {
        event_id call = event_is_launched(trace->kind[e]) ? attribution_call(launches, e) : EVENT_NONE;
        if (call != EVENT_NONE)
            *VEC_PUSH(&output->arrows) = (struct arrow){ call, e };
    }
}

static void append_time_of_file(const void *context, struct buffer *out, uint32_t file, int64_t ns)
{
    const struct chrome_output *output = context;
    append_microseconds(out, ns + output->shift_ns[file]);
}

static void append_place_of_track(const void *context, struct buffer *out, track_id track)
{
    const struct chrome_output *output = context;
    chrome_append(out, output->place[track]);
}

static void mark_path(struct chrome_output *output)
{
    struct convert_marks marks = { output->trace, output, append_time_of_file, append_place_of_track };
    output->mark_count = convert_append_marks(&marks, &output->marks);
}

/* What depends on all files. LAST_NS: by file, its last moment. */
static void chrome_prepare(struct chrome_output *output, const struct timeline_numbers *numbers,
                           const int64_t *last_ns)
{
    ARENA_OWNS(&output->arena, &output->place, &output->shift_ns, &output->arrows, &output->head,
               &output->marks);
    place_tracks(output);
    output->stride = timeline_stride(numbers, output->all->file_count);
    output->shift_ns = timeline_shifts(output->all);
    find_last_moment(output, last_ns);
    chrome_head_append(output->all, &output->head);
    append_facts(output, &output->head);
    output->has_lines = output->fact_count > 0;
}

/* Prepare to write TRACE, whose tracks begin at FIRST_TRACK. */
static void chrome_prepare_part(struct chrome_output *output, const struct trace *trace, track_id first_track)
{
    arena_release(&output->part_arena);
    ARENA_OWNS(&output->part_arena, &output->plain_name, &output->plain_text, &output->plain_value,
               &output->category);
    output->arg_count = 0;
    output->trace = trace;
    output->first_track = first_track;
    output->plain_name = find_plain(trace->names, is_plain_string);
    output->plain_text = find_plain(trace->texts, is_plain_string);
    output->plain_value = find_plain(trace->texts, json_value_is_plain);
    chrome_find_args(output);
    find_categories(output);
    find_arrows(output);
    output->event_parts = chrome_parts_of(trace->event_count, EVENTS_PER_PART);
    output->flow_parts = chrome_parts_of(trace->flow_count, FLOWS_PER_PART);
    output->arrow_parts = chrome_parts_of(output->arrows.count, FLOWS_PER_PART);
    output->sample_parts = chrome_parts_of(trace->sample_count, FLOWS_PER_PART);
}

/* The destination of parts, and counts of written items. */
struct writing {
    struct chrome_output output;
    struct packer packer;
    struct packer_output file;
    const struct convert_args *args;
    uint64_t flows, samples;
};

static bool chrome_add_parts(struct writing *writing, void (*make)(const void *, size_t, struct buffer *),
                             size_t count, struct tpa_error *err)
{
    writing->packer.make = make;
    writing->packer.context = &writing->output;
    return packer_add(&writing->file, &writing->packer, count, err);
}

static bool chrome_add_part(struct writing *writing, const struct trace *trace, track_id first_track,
                            struct tpa_error *err)
{
    struct chrome_output *output = &writing->output;
    if (!convert_check_size(trace, writing->args, err))
        return false;
    chrome_prepare_part(output, trace, first_track);
    size_t parts = output->event_parts + output->flow_parts + output->arrow_parts + output->sample_parts;
    bool fine = chrome_add_parts(writing, chrome_make_part, parts, err);
    output->first_event += trace->event_count;
    output->first_arrow += output->arrows.count;
    output->has_lines |= parts > 0;
    writing->flows += trace->flow_count + 2 * output->arrows.count;
    writing->samples += trace->sample_count;
    return fine;
}

static bool chrome_begin(struct writing *writing, const struct convert_args *args, FILE *out,
                         struct tpa_error *err)
{
    writing->args = args;
    writing->packer.packing = convert_packing(args);
    writing->packer.workers = (unsigned)args->load.jobs;
    return packer_begin(&writing->file, writing->packer.packing, out, err) &&
           chrome_add_parts(writing, chrome_make_head, 1, err);
}

static bool chrome_end(struct writing *writing, struct tpa_error *err)
{
    return chrome_add_parts(writing, make_tail, 1, err) && packer_end(&writing->file, err);
}

static void chrome_append_written(struct writing *writing, const struct convert_args *args,
                                  struct buffer *summary)
{
    const struct chrome_output *output = &writing->output;
    buffer_printf(summary, "%" PRIu64 " events, %" PRIu64 " flow arrows, %" PRIu64 " counter samples",
                  output->first_event, writing->flows, writing->samples);
    if (args->critical_path)
        buffer_printf(summary, ", %zu events that mark the critical path", output->mark_count);
    if (output->all->file_count > 1)
        buffer_printf(summary, " of %zu files, whose processes are named by rank", output->all->file_count);
    buffer_putc(summary, '\n');
    timeline_distinguish(summary, output->all);
}

static bool write_chrome(const struct trace *trace, const struct convert_args *args, FILE *out,
                         struct buffer *summary, struct tpa_error *err)
{
    struct writing writing = { .output = { .all = trace, .trace = trace } };
    struct timeline_numbers numbers = { 0 };
    int64_t *last_ns = timeline_last_moments(trace);
    if (trace->file_count > 1)
        timeline_notice_numbers(&numbers, trace);
    chrome_prepare(&writing.output, &numbers, last_ns);
    free(last_ns);
    writing.output.makes_arrows = needs_arrows(trace, convert_own_flows(trace));
    if (args->critical_path)
        mark_path(&writing.output);
    bool fine = chrome_begin(&writing, args, out, err) && chrome_add_part(&writing, trace, 0, err) &&
                chrome_end(&writing, err);
    chrome_append_written(&writing, args, summary);
    EACH(arena_release, &writing.output.part_arena, &writing.output.arena);
    return fine;
}

static bool chrome_write_file(void *context, const struct trace *trace, const struct convert_read *read,
                              struct tpa_error *err)
{
    return chrome_add_part(context, trace, read->first_track, err);
}

/* The arrows between ranks come last: they are those of the trace that holds all files, of which no event is
 * written. */
static bool chrome_write_files(struct convert_files *files, const struct convert_args *args, FILE *out,
                               struct buffer *summary, struct tpa_error *err)
{
    const struct trace *all = files->all;
    struct trace arrows = *all;
    struct writing writing = { .output = { .all = all, .trace = all } };
    arrows.event_count = 0;
    chrome_prepare(&writing.output, &files->numbers, files->last_ns);
    writing.output.makes_arrows = needs_arrows(all, files->flows);
    bool fine =
        chrome_begin(&writing, args, out, err) && convert_files_each(files, chrome_write_file, &writing, err);
    writing.output.makes_arrows = false;
    fine = fine && chrome_add_part(&writing, &arrows, 0, err) && chrome_end(&writing, err);
    chrome_append_written(&writing, args, summary);
    EACH(arena_release, &writing.output.part_arena, &writing.output.arena);
    return fine;
}

const struct convert_form convert_chrome = {
    .name = "chrome",
    .help = "Chrome's trace event JSON, for Perfetto and chrome://tracing",
    .ending = ".json",
    .packs = true,
    .marks_path = true,
    .is_read = true,
    .is_timeline = true,
    .write_trace = write_chrome,
    .write_files = chrome_write_files,
    .wants = CONVERT_WANTS_ALL,
    .next = "open https://ui.perfetto.dev and drop %s into it",
};
