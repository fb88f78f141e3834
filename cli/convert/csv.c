/*
 * csv.c - the events as rows, for data frames and spreadsheets: one line an event, in the order of the file.
 *
 * Times are whole nanoseconds. The common columns are followed by one for each argument that occurs, with its name in
 * the file. Missing values are empty.
 */
#include "cli/convert/parts.h"

#include "base/packer.h"
#include "cli/timeline.h"
#include "base/escape.h"
#include "report/exact.h"
#include "trace/arg_rows.h"
#include "trace/arg_scan.h"

#include <inttypes.h>

enum { EVENTS_PER_PART = 8192 };

struct output_text {
    const char *at;
    size_t len;
};

struct csv_output {
    const struct trace *trace;
    int64_t *shift_ns;            /* by file */
    struct output_text *name;     /* by name: as a field */
    struct output_text *category; /* by category: "kernel," */
    struct output_text *place;    /* by track: rank,process,pid,thread,tid,device,stream and a comma */
    enum trace_arg args[ARG_COUNT];
    size_t arg_count;
    struct arena arena;
};

static struct output_text csv_keep(struct csv_output *output, struct buffer *text)
{
    struct output_text kept = { arena_strndup(&output->arena, text->at ? text->at : "", text->count),
                                text->count };
    buffer_clear(text);
    return kept;
}

static void csv_append_id(struct buffer *out, const struct names *names, name_id id)
{
    escape_csv(out, names_text(names, id), names_length(names, id));
}

/* A number, or the text that was written in its place. */
static void append_number_or_text(struct buffer *out, const struct trace *trace, int64_t number, name_id text)
{
    if (text == NAME_NONE)
        exact_add_integer(out, number);
    else
        csv_append_id(out, trace->texts, text);
    buffer_putc(out, ',');
}

static void csv_append_place(struct buffer *out, const struct trace *trace, const struct track *track)
{
    const struct trace_file *file = &trace->files[track->file];
    if (trace->file_count > 1) {
        escape_csv(out, file->path, strlen(file->path));
        buffer_putc(out, ',');
    }
    if (file->rank >= 0)
        exact_add_integer(out, file->rank);
    buffer_putc(out, ',');
    csv_append_id(out, trace->texts, track->process_name);
    buffer_putc(out, ',');
    append_number_or_text(out, trace, track->pid, track->pid_text);
    csv_append_id(out, trace->texts, track->thread_name);
    buffer_putc(out, ',');
    append_number_or_text(out, trace, track->tid, track->tid_text);
    if (track->kind == TRACK_STREAM)
        buffer_printf(out, "%" PRId32 ",%" PRId64 ",", track->device, track->stream);
    else
        buffer_puts(out, ",,");
}

static void csv_append_head(const struct csv_output *output, struct buffer *out)
{
    SCOPED struct buffer name = { 0 };
    buffer_puts(out, output->trace->file_count > 1 ? "file," : "");
    buffer_puts(out, CONVERT_EVENT_COLUMNS);
    for (size_t i = 0; i < output->arg_count; i++) {
        buffer_putc(out, ',');
        buffer_clear(&name);
        convert_add_arg_column(&name, output->args[i]);
        escape_csv(out, name.at, name.count);
    }
    buffer_putc(out, '\n');
}

static void csv_append_arg(struct buffer *out, const struct trace *trace, enum trace_arg arg, int64_t value)
{
    double decimal;
    switch (arg_rows[arg].form) {
    case FORM_INT:
        if (arg == ARG_ADDRESS && value < 0)
            buffer_printf(out, "%" PRIu64, (uint64_t)value);
        else
            exact_add_integer(out, value);
        break;
    case FORM_DECIMAL:
        memcpy(&decimal, &value, sizeof decimal);
        exact_add_double(out, decimal);
        break;
    case FORM_TEXT:
    case FORM_JSON: csv_append_id(out, trace->texts, (name_id)value); break;
    case FORM_BOOL: buffer_puts(out, value ? "true" : "false"); break;
    }
}

static void csv_append_event(const struct csv_output *output, struct buffer *out, event_id e,
                             struct arg_scan *scans)
{
    const struct trace *trace = output->trace;
    track_id track = trace->track[e];
    const struct output_text *place = &output->place[track],
                             *category = &output->category[trace->category[e]],
                             *name = &output->name[trace->name[e]];
    buffer_add(out, place->at, place->len);
    buffer_add(out, category->at, category->len);
    buffer_puts(out, event_kind_name((enum event_kind)trace->kind[e]));
    buffer_putc(out, ',');
    buffer_add(out, name->at, name->len);
    buffer_putc(out, ',');
    exact_add_integer(out, trace_start_ns(trace, e) + output->shift_ns[trace->tracks[track].file]);
    buffer_putc(out, ',');
    if (!(trace->flags[e] & EVENT_POINT)) /* a point has no duration, rather than one of zero */
        exact_add_integer(out, trace_dur_ns(trace, e));
    buffer_puts(out, trace->flags[e] & EVENT_UNFINISHED ? ",true" : ",false");
    for (size_t i = 0; i < output->arg_count; i++) {
        int64_t value;
        buffer_putc(out, ',');
        if (arg_scan_get(&scans[i], e, &value))
            csv_append_arg(out, trace, output->args[i], value);
    }
    buffer_putc(out, '\n');
}

static void csv_make_part(const void *context, size_t part, struct buffer *out)
{
    const struct csv_output *output = context;
    const struct trace *trace = output->trace;
    if (part == 0) {
        csv_append_head(output, out);
        return;
    }
    struct arg_scan scans[ARG_COUNT];
    for (size_t i = 0; i < output->arg_count; i++)
        scans[i] = arg_scan_of(trace, output->args[i]);
    size_t first = (part - 1) * EVENTS_PER_PART, end = first + EVENTS_PER_PART;
    for (size_t e = first; e < end && e < trace->event_count; e++)
        csv_append_event(output, out, (event_id)e, scans);
}

/* Texts that are common to many events are made once. */
static void csv_prepare(struct csv_output *output)
{
    const struct trace *trace = output->trace;
    size_t names = names_count(trace->names);
    SCOPED struct buffer text = { 0 };
    output->shift_ns = timeline_shifts(trace);
    output->name = mem_zalloc(names + 1, sizeof *output->name);
    for (name_id id = 0; id < names; id++) {
        csv_append_id(&text, trace->names, id);
        output->name[id] = csv_keep(output, &text);
    }
    output->category = mem_zalloc(trace->category_count + 1, sizeof *output->category);
    for (size_t i = 0; i < trace->category_count; i++) {
        csv_append_id(&text, trace->texts, trace->categories[i].text);
        buffer_putc(&text, ',');
        output->category[i] = csv_keep(output, &text);
    }
    output->place = mem_zalloc(trace->track_count + 1, sizeof *output->place);
    for (size_t i = 0; i < trace->track_count; i++) {
        csv_append_place(&text, trace, &trace->tracks[i]);
        output->place[i] = csv_keep(output, &text);
    }
    for (int arg = 0; arg < ARG_COUNT; arg++)
        if (trace->args[arg].count)
            output->args[output->arg_count++] = (enum trace_arg)arg;
}

static bool write_csv(const struct trace *trace, const struct convert_args *args, FILE *out,
                      struct buffer *summary, struct tpa_error *err)
{
    struct csv_output output = { .trace = trace };
    if (!convert_check_size(trace, args, err))
        return false;
    csv_prepare(&output);
    struct packer packer = { convert_packing(args), (unsigned)args->load.jobs, csv_make_part, &output };
    bool fine =
        packer_write(&packer, 1 + (trace->event_count + EVENTS_PER_PART - 1) / EVENTS_PER_PART, out, err);
    buffer_printf(summary, "%zu events, %zu arguments of them\n", trace->event_count, output.arg_count);
    timeline_distinguish(summary, trace);
    EACH(free, output.shift_ns, output.name, output.category, output.place);
    arena_release(&output.arena);
    return fine;
}

const struct convert_form convert_csv = {
    .name = "csv",
    .help = "the events as rows, for data frames",
    .ending = ".csv",
    .packs = true,
    .write_trace = write_csv,
    .write_snapshots = convert_snapshot_csv,
    .wants = { .args = UINT64_MAX >> (64 - ARG_COUNT) },
    .next = "python3 -c \"import pandas, sys; print(pandas.read_csv(sys.argv[1]))\" %s",
};
