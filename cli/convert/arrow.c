/*
 * arrow.c - events as one Arrow IPC stream: typed columns that data frames and databases take without parsing.
 *
 * The columns of `--to csv`, and the absolute time if recorded. A column of texts is a dictionary, written at the
 * beginning, and indices into it: values that depend only on a name, a track or a category are looked up per event.
 * Batches are made by several threads and written in order, so memory holds the trace and a few batches, regardless of
 * the length of the stream.
 */

#include "base/packer.h"
#include "cli/convert/parts.h"
#include "cli/timeline.h"
#include "report/arrow_stream.h"
#include "trace/arg_rows.h"
#include "trace/arg_scan.h"

enum { EVENTS_PER_BATCH = 65536, COLUMNS_MOST = ARG_COUNT + 16 };

/* The kind of item that determines a value; each item has an entry in codes or values. */
enum column_source { OF_TRACK, OF_CATEGORY, OF_KIND, OF_NAME, START, DURATION, TIME, UNFINISHED, OF_ARG };

struct output_column {
    enum column_source source;
    enum trace_arg arg;
    struct names *names; /* of a dictionary: its texts */
    uint32_t *codes;     /* by item, or by text of an argument: the number in it; NAME_NONE: missing */
    int64_t *values;     /* of numbers, by item; INT64_MIN: missing */
};

struct output {
    const struct trace *trace;
    int64_t *shift_ns; /* by file */
    size_t count;
    struct output_column columns[COLUMNS_MOST];
    struct arrow_field fields[COLUMNS_MOST];
    struct arena arena;
};

/* ---- the columns ---- */

static struct output_column *add_column(struct output *output, const char *name, enum arrow_type type,
                                        enum column_source source)
{
    static const struct arrow_fact ns = { "unit", "ns" };
    bool is_ns = source == START || source == DURATION;
    output->fields[output->count] =
        (struct arrow_field){ .name = name, .type = type, .facts = is_ns ? &ns : NULL, .fact_count = is_ns };
    struct output_column *column = &output->columns[output->count++];
    *column = (struct output_column){ .source = source };
    return column;
}

/* The number of TEXT in COLUMN's dictionary, where it is added the first time. */
static uint32_t code_of(struct output_column *column, const char *text, size_t len)
{
    SCOPED struct buffer valid = { 0 };
    arrow_add_utf8(&valid, text, len);
    return names_add(column->names, valid.at ? valid.at : "", valid.count);
}

static uint32_t code_of_text(struct output_column *column, const struct names *texts, name_id id)
{
    return id == NAME_NONE ? NAME_NONE : code_of(column, names_text(texts, id), names_length(texts, id));
}

static struct output_column *add_names(struct output *output, const char *name, enum column_source source,
                                       size_t items)
{
    struct output_column *column = add_column(output, name, ARROW_NAME, source);
    column->names = arena_hold(&output->arena, names_open());
    column->codes = arena_alloc(&output->arena, mem_times(items + 1, sizeof *column->codes));
    return column;
}

/* A column of a property of tracks, returned by GET; INT64_MIN: unknown. */
static void add_track_numbers(struct output *output, const char *name,
                              int64_t (*get)(const struct trace *trace, const struct track *track))
{
    const struct trace *trace = output->trace;
    struct output_column *column = add_column(output, name, ARROW_INT64, OF_TRACK);
    column->values = arena_alloc(&output->arena, mem_times(trace->track_count + 1, sizeof *column->values));
    for (size_t t = 0; t < trace->track_count; t++)
        column->values[t] = get(trace, &trace->tracks[t]);
}

static int64_t get_rank(const struct trace *trace, const struct track *track)
{
    int64_t rank = trace->files[track->file].rank;
    return rank >= 0 ? rank : INT64_MIN;
}

static int64_t get_device(const struct trace *trace, const struct track *track)
{
    (void)trace;
    return track->kind == TRACK_STREAM ? track->device : INT64_MIN;
}

static int64_t get_stream(const struct trace *trace, const struct track *track)
{
    (void)trace;
    return track->kind == TRACK_STREAM ? track->stream : INT64_MIN;
}

static int64_t get_pid(const struct trace *trace, const struct track *track)
{
    (void)trace;
    return track->pid;
}

static int64_t get_tid(const struct trace *trace, const struct track *track)
{
    (void)trace;
    return track->tid;
}

/* The name of a process or thread, of which files may have many. */
static void add_track_names(struct output *output, const char *name, size_t member)
{
    const struct trace *trace = output->trace;
    struct output_column *column = add_names(output, name, OF_TRACK, trace->track_count);
    for (size_t t = 0; t < trace->track_count; t++)
        column->codes[t] =
            code_of_text(column, trace->texts, *(const name_id *)((const char *)&trace->tracks[t] + member));
}

/* Process or thread ids: numbers, but texts where a file writes any as a text. */
static void add_ids(struct output *output, const char *name, size_t text_member,
                    int64_t (*get)(const struct trace *trace, const struct track *track))
{
    const struct trace *trace = output->trace;
    bool has_texts = ANY(t, trace->track_count,
                         *(const name_id *)((const char *)&trace->tracks[t] + text_member) != NAME_NONE);
    if (!has_texts) {
        add_track_numbers(output, name, get);
        return;
    }
    add_track_names(output, name, text_member);
    struct output_column *column = &output->columns[output->count - 1];
    SCOPED struct buffer number = { 0 };
    for (size_t t = 0; t < trace->track_count; t++) {
        if (column->codes[t] != NAME_NONE)
            continue;
        buffer_clear(&number);
        buffer_printf(&number, "%lld", (long long)get(trace, &trace->tracks[t]));
        column->codes[t] = code_of(column, number.at, number.count);
    }
}

static void add_file_column(struct output *output)
{
    const struct trace *trace = output->trace;
    if (trace->file_count < 2)
        return;
    struct output_column *column = add_names(output, "file", OF_TRACK, trace->track_count);
    for (size_t t = 0; t < trace->track_count; t++) {
        const char *path = trace->files[trace->tracks[t].file].path;
        column->codes[t] = code_of(column, path, strlen(path));
    }
}

static void add_event_names(struct output *output)
{
    const struct trace *trace = output->trace;
    struct output_column *column = add_names(output, "category", OF_CATEGORY, trace->category_count);
    for (size_t i = 0; i < trace->category_count; i++)
        column->codes[i] = code_of_text(column, trace->texts, trace->categories[i].text);
    column = add_names(output, "kind", OF_KIND, EVENT_KINDS);
    for (size_t i = 0; i < EVENT_KINDS; i++) {
        const char *word = event_kind_name((enum event_kind)i);
        column->codes[i] = code_of(column, word, strlen(word));
    }
    column = add_names(output, "name", OF_NAME, names_count(trace->names));
    for (name_id id = 0; id < names_count(trace->names); id++)
        column->codes[id] = code_of_text(column, trace->names, id);
}

static bool has_base(const struct trace *trace)
{
    return ANY(file, trace->file_count, trace->files[file].has_base);
}

/* The texts of ARG, each once. */
static void add_arg_names(struct output *output, const char *name, enum trace_arg arg)
{
    const struct trace *trace = output->trace;
    struct output_column *column = add_names(output, name, OF_ARG, names_count(trace->texts));
    memset(column->codes, 0xff, names_count(trace->texts) * sizeof *column->codes);
    struct arg_scan scan = arg_scan_of(trace, arg);
    int64_t id;
    for (event_id e = 0; e < trace->event_count; e++)
        if (arg_scan_get(&scan, e, &id) && column->codes[id] == NAME_NONE)
            column->codes[id] = code_of_text(column, trace->texts, (name_id)id);
}

static void add_arg(struct output *output, enum trace_arg arg)
{
    struct buffer key = { 0 };
    convert_add_arg_column(&key, arg);
    const char *name = arena_strndup(&output->arena, key.at, key.count);
    buffer_release(&key);
    switch (arg_rows[arg].form) {
    case FORM_INT: add_column(output, name, arg == ARG_ADDRESS ? ARROW_UINT64 : ARROW_INT64, OF_ARG); break;
    case FORM_DECIMAL: add_column(output, name, ARROW_DOUBLE, OF_ARG); break;
    case FORM_TEXT:
    case FORM_JSON: add_arg_names(output, name, arg); break;
    case FORM_BOOL: add_column(output, name, ARROW_BOOL, OF_ARG); break;
    }
    output->columns[output->count - 1].arg = arg;
}

static void add_columns(struct output *output)
{
    add_file_column(output);
    add_track_numbers(output, "rank", get_rank);
    add_track_names(output, "process", offsetof(struct track, process_name));
    add_ids(output, "pid", offsetof(struct track, pid_text), get_pid);
    add_track_names(output, "thread", offsetof(struct track, thread_name));
    add_ids(output, "tid", offsetof(struct track, tid_text), get_tid);
    add_track_numbers(output, "device", get_device);
    add_track_numbers(output, "stream", get_stream);
    add_event_names(output);
    add_column(output, "start_ns", ARROW_INT64, START);
    add_column(output, "dur_ns", ARROW_INT64, DURATION);
    if (has_base(output->trace))
        add_column(output, "time", ARROW_TIMESTAMP, TIME);
    add_column(output, "unfinished", ARROW_BOOL, UNFINISHED);
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (output->trace->args[arg].count)
            add_arg(output, (enum trace_arg)arg);
    for (size_t i = 0; i < output->count; i++)
        if (output->columns[i].names)
            output->fields[i].wide_texts = names_bytes(output->columns[i].names) > ARROW_TEXTS_MOST;
}

/* ---- the stream ---- */

static void arrow_append_head(const struct output *output, struct buffer *out)
{
    static const struct arrow_fact facts[] = { { "schema", "tpa.events/1" }, { "table", "events" } };
    arrow_append_schema(out, output->fields, output->count, facts, 2);
    for (size_t i = 0; i < output->count; i++) {
        const struct names *names = output->columns[i].names;
        if (!names)
            continue;
        struct arrow_column texts = { .type = ARROW_TEXT, .wide_texts = output->fields[i].wide_texts };
        for (name_id id = 0; id < names_count(names); id++)
            arrow_add_text(&texts, names_text(names, id), names_length(names, id));
        arrow_append_names(out, i, &texts);
        arrow_release(&texts);
    }
}

static size_t item_of(const struct trace *trace, enum column_source source, event_id e)
{
    return source == OF_TRACK      ? trace->track[e]
           : source == OF_CATEGORY ? trace->category[e]
           : source == OF_KIND     ? trace->kind[e]
                                   : trace->name[e];
}

static void add_code(struct arrow_column *out, uint32_t code)
{
    if (code == NAME_NONE)
        arrow_add_missing(out);
    else
        arrow_add_index(out, code);
}

static void add_integer(struct arrow_column *out, bool there, int64_t value)
{
    if (there)
        arrow_add_int(out, value);
    else
        arrow_add_missing(out);
}

static void fill_arg(const struct output *output, const struct output_column *column, event_id first,
                     event_id end, struct arrow_column *out)
{
    struct arg_scan scan = arg_scan_of(output->trace, column->arg);
    for (event_id e = first; e < end; e++) {
        int64_t value;
        double decimal;
        if (!arg_scan_get(&scan, e, &value)) {
            arrow_add_missing(out);
        } else if (column->codes) {
            add_code(out, column->codes[value]);
        } else if (out->type == ARROW_DOUBLE) {
            memcpy(&decimal, &value, sizeof decimal);
            arrow_add_double(out, decimal);
        } else if (out->type == ARROW_BOOL) {
            arrow_add_bool(out, value != 0);
        } else {
            arrow_add_int(out, value);
        }
    }
}

static void fill_items(const struct output *output, const struct output_column *column, event_id first,
                       event_id end, struct arrow_column *out)
{
    for (event_id e = first; e < end; e++) {
        size_t item = item_of(output->trace, column->source, e);
        if (column->codes)
            add_code(out, column->codes[item]);
        else
            add_integer(out, column->values[item] != INT64_MIN, column->values[item]);
    }
}

static void fill_event(const struct output *output, enum column_source source, event_id e,
                       struct arrow_column *out)
{
    const struct trace *trace = output->trace;
    uint32_t file = trace->tracks[trace->track[e]].file;
    int64_t base_ns = trace->files[file].base_ns, time_ns = 0;
    bool there;
    switch (source) {
    case START: arrow_add_int(out, trace_start_ns(trace, e) + output->shift_ns[file]); break;
    case DURATION: add_integer(out, !(trace->flags[e] & EVENT_POINT), trace_dur_ns(trace, e)); break;
    case TIME:
        there = trace->files[file].has_base &&
                !__builtin_add_overflow(base_ns, trace_start_ns(trace, e), &time_ns);
        add_integer(out, there, time_ns);
        break;
    default: arrow_add_bool(out, trace->flags[e] & EVENT_UNFINISHED); break;
    }
}

static void fill(const struct output *output, const struct output_column *column, event_id first,
                 event_id end, struct arrow_column *out)
{
    if (column->source == OF_ARG)
        fill_arg(output, column, first, end, out);
    else if (column->source <= OF_NAME)
        fill_items(output, column, first, end, out);
    else
        for (event_id e = first; e < end; e++)
            fill_event(output, column->source, e, out);
}

static size_t batch_count(const struct trace *trace)
{
    return (trace->event_count + EVENTS_PER_BATCH - 1) / EVENTS_PER_BATCH;
}

static void arrow_make_part(const void *context, size_t part, struct buffer *out)
{
    const struct output *output = context;
    size_t batches = batch_count(output->trace);
    if (part == 0)
        arrow_append_head(output, out);
    if (part > 0) {
        size_t first = (part - 1) * EVENTS_PER_BATCH;
        size_t end = output->trace->event_count - first > EVENTS_PER_BATCH ? first + EVENTS_PER_BATCH
                                                                           : output->trace->event_count;
        struct arrow_column columns[COLUMNS_MOST] = { 0 };
        for (size_t i = 0; i < output->count; i++) {
            columns[i].type = output->fields[i].type;
            fill(output, &output->columns[i], (event_id)first, (event_id)end, &columns[i]);
        }
        arrow_append_batch(out, columns, output->count);
        for (size_t i = 0; i < output->count; i++)
            arrow_release(&columns[i]);
    }
    if (part == batches)
        arrow_append_end(out);
}

static bool write_arrow(const struct trace *trace, const struct convert_args *args, FILE *out,
                        struct buffer *summary, struct tpa_error *err)
{
    struct output output = { .trace = trace, .shift_ns = timeline_shifts(trace) };
    ARENA_OWNS(&output.arena, &output.shift_ns);
    add_columns(&output);
    struct packer packer = { convert_packing(args), (unsigned)args->load.jobs, arrow_make_part, &output };
    bool fine = packer_write(&packer, 1 + batch_count(trace), out, err);
    buffer_printf(summary, "%zu events, %zu columns\n", trace->event_count, output.count);
    timeline_distinguish(summary, trace);
    arena_release(&output.arena);
    return fine;
}

const struct convert_form convert_arrow = {
    .name = "arrow",
    .help = "the events as typed columns, for data frames and databases: an Arrow IPC stream",
    .ending = ".arrows",
    .packs = true,
    .write_trace = write_arrow,
    .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT) },
    .next =
        "python3 -c \"import pyarrow.ipc, sys; print(pyarrow.ipc.open_stream(sys.argv[1]).read_pandas())\" %s",
};
