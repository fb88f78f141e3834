/*
 * perfetto.c - Perfetto's protobuf: what https://ui.perfetto.dev opens, at a fraction of the size of JSON.
 *
 * File after file is written, so that memory need hold one at a time (files.h). All texts of a file are interned in one
 * packet, which clears what was there before, so that parts of the rest can be made by several threads. The trace's
 * clock counts from the earliest origin, and a snapshot ties it to the time since 1970. Two sequences keep packets small:
 * those of events have the time since the event before, in microseconds where all are whole, and most lack their track,
 * as the one with the most events is the default; all other packets are of a sequence without defaults.
 *
 * Flows join a call with each piece of work that it launched, forward with backward, and one collective on all ranks.
 * Counters are those of the trace, and the memory in use from its records.
 */

#include "base/packer.h"
#include "base/search.h"
#include "cli/convert/files.h"
#include "cli/convert/perfetto.h"
#include "cli/convert/parts.h"
#include "memory/memory_records.h"
#include "trace/arg_rows.h"
#include "trace/arg_scan.h"

#include <inttypes.h>

enum { MARKS_PER_PART = 1 << 14, SAMPLES_PER_PART = 1 << 15 };

/* Clocks: BOOTTIME is that of the trace; the own one, of the sequence of events, counts on from packet to packet. */
enum { REALTIME = 1, BOOTTIME = 6, OWN_CLOCK = 64 };

/* Where the clock of the events starts anew; a multiple of its unit. */
enum { FIRST_TIME_NS = 1000 };

/* A counter, which is a track. */
struct counter {
    name_id name;
    track_id track;
    uint32_t uuid;
};

/* The memory in use on a device after an event. */
struct memory_level {
    event_id event;
    uint32_t uuid; /* of the device's counter */
    int64_t bytes;
};

/* By event. FIRST_UUID: of the counter of the first device; 0: there is none. */
struct memory_levels {
    VEC_OF(struct memory_level);
    uint32_t first_uuid;
};

struct perfetto_output {
    const struct trace *all;       /* all files and tracks */
    struct perfetto_tracks tracks; /* of ALL */
    const struct trace *trace;     /* whose events are written now: some of the files, or ALL */
    track_id first_track;          /* of TRACE in ALL */
    uint32_t first_file;
    uint32_t next_uuid;
    struct perfetto_flow_ids flow_ids;
    struct perfetto_flow_ends between; /* by event of ALL: arrows between ranks */
    struct perfetto_plan plan;
    bool is_packed;                 /* the file as a whole */
    bool has_slices;                /* else its packets are small and alike, and are compressed */
    int64_t unit_ns;                /* of the times of events: 1 or 1000 */
    uint32_t default_track;         /* the uuid with the most marks; 0: there are none */
    enum trace_arg args[ARG_COUNT]; /* that occur */
    size_t arg_count;
    int64_t *shift_ns; /* by file of ALL: to be added to times */
    int64_t stride;    /* between the numbers of one file and the next */
    int64_t origin_ns; /* of the trace's clock, since 1970 */
    bool has_origin;
    bool *is_used; /* by text: an argument's value */
    struct perfetto_flows flows;
    VEC_OF(struct counter) counters;
    uint32_t *counter_of; /* by sample */
    struct memory_levels memory;
    struct buffer head, path;
};

/* ---- the first packets ---- */

static void perfetto_append_clock(struct buffer *out, int64_t clock, int64_t at_ns)
{
    size_t message = wire_open(out, 1);
    wire_append_number(out, 1, clock);
    wire_append_number(out, 2, at_ns);
    wire_close(out, message);
}

/* Without a known origin, the times of the trace are as the files have them. */
static void perfetto_append_clocks(const struct perfetto_output *output, struct buffer *out)
{
    size_t packet = perfetto_open_packet(out, PERFETTO_PLAIN_SEQUENCE), snapshot = wire_open(out, 6);
    perfetto_append_clock(out, BOOTTIME, 1);
    if (output->has_origin)
        perfetto_append_clock(out, REALTIME, output->origin_ns + 1);
    wire_append_number(out, 2, BOOTTIME);
    wire_close(out, snapshot);
    wire_close(out, packet);
}

/* Start the clock of the events. */
static void append_own_clock(const struct perfetto_output *output, struct buffer *out)
{
    size_t packet = perfetto_open_packet(out, PERFETTO_EVENTS_SEQUENCE), snapshot = wire_open(out, 6);
    perfetto_append_clock(out, BOOTTIME, FIRST_TIME_NS);
    size_t message = wire_open(out, 1);
    wire_append_number(out, 1, OWN_CLOCK);
    wire_append_number(out, 2, FIRST_TIME_NS / output->unit_ns);
    wire_append_number(out, 3, 1); /* is_incremental */
    if (output->unit_ns != 1)
        wire_append_number(out, 4, output->unit_ns);
    wire_close(out, message);
    wire_close(out, snapshot);
    wire_close(out, packet);
}

static void append_interned(struct buffer *out, uint32_t number, uint64_t iid, const char *text, size_t len)
{
    size_t message = wire_open(out, number);
    wire_append_number(out, 1, (int64_t)iid);
    wire_append_text(out, 2, text, len);
    wire_close(out, message);
}

static void append_defaults(const struct perfetto_output *output, struct buffer *out)
{
    size_t defaults = wire_open(out, 59);
    wire_append_number(out, 58, OWN_CLOCK);
    if (output->default_track) {
        size_t event = wire_open(out, 11);
        wire_append_number(out, 11, output->default_track);
        if (output->memory.first_uuid)
            wire_append_number(out, 31, output->memory.first_uuid); /* extra_counter_track_uuids */
        wire_close(out, event);
    }
    wire_close(out, defaults);
}

/* All texts of the file, in a packet that clears the sequence. */
static void append_texts(const struct perfetto_output *output, struct buffer *out)
{
    const struct trace *trace = output->trace;
    size_t packet = perfetto_open_packet(out, PERFETTO_EVENTS_SEQUENCE);
    wire_append_number(out, 13, 1);
    append_defaults(output, out);
    size_t interned = wire_open(out, 12);
    for (name_id id = 0; id < names_count(trace->names); id++)
        append_interned(out, 2, (uint64_t)id + 1, names_text(trace->names, id),
                        names_length(trace->names, id));
    for (size_t i = 0; i < trace->category_count; i++)
        append_interned(out, 1, i + 1, names_text(trace->texts, trace->categories[i].text),
                        names_length(trace->texts, trace->categories[i].text));
    for (size_t i = 0; i < output->arg_count; i++) {
        const char *keys = arg_rows[output->args[i]].keys;
        append_interned(out, 3, (uint64_t)output->args[i] + 1, keys, strcspn(keys, "|"));
    }
    for (name_id id = 0; id < names_count(trace->texts); id++)
        if (output->is_used[id])
            append_interned(out, 29, (uint64_t)id + 1, names_text(trace->texts, id),
                            names_length(trace->texts, id));
    wire_close(out, interned);
    wire_close(out, packet);
}

/* Write the beginning of the file. */
static void perfetto_append_head(const struct perfetto_output *output, struct buffer *out)
{
    perfetto_append_clocks(output, out);
    perfetto_append_root(&output->tracks, out);
}

/* The tracks of what is written now, and its texts. */
static void append_tracks(const struct perfetto_output *output, struct buffer *out)
{
    track_id perfetto_end = output->first_track + (track_id)output->trace->track_count;
    for (track_id t = output->first_track; t < perfetto_end; t++)
        perfetto_append_track(&output->tracks, t, out);
    for (size_t i = 0; i < output->plan.lanes.count; i++)
        perfetto_append_lane(&output->tracks, output->first_track, &output->plan.lanes.at[i], out);
    append_own_clock(output, out);
    append_texts(output, out);
}

/* ---- events ---- */

/* The file, in ALL, of a track of TRACE. */
static uint32_t perfetto_file_of(const struct perfetto_output *output, track_id track)
{
    return output->all->tracks[output->first_track + track].file;
}

static bool is_list(const char *text)
{
    return *text == '[' || *text == '{';
}

static void perfetto_append_arg(const struct perfetto_output *output, struct buffer *out, enum trace_arg arg,
                                uint32_t file, int64_t value)
{
    const struct names *texts = output->trace->texts;
    double decimal;
    size_t message = wire_open(out, 4);
    wire_append_number(out, 1, (int64_t)arg + 1);
    switch (arg_rows[arg].form) {
    case FORM_INT: wire_append_number(out, 4, timeline_arg_apart(output->stride, file, arg, value)); break;
    case FORM_DECIMAL:
        memcpy(&decimal, &value, sizeof decimal);
        wire_append_double(out, 5, decimal);
        break;
    case FORM_TEXT: wire_append_number(out, 17, value + 1); break;
    case FORM_JSON:
        if (is_list(names_text(texts, (name_id)value)))
            wire_append_number(out, 17, value + 1);
        else
            wire_append_text(out, 9, names_text(texts, (name_id)value), names_length(texts, (name_id)value));
        break;
    case FORM_BOOL: wire_append_number(out, 2, value); break;
    }
    wire_close(out, message);
}

/* Mark a region as open when recording stopped, if no argument does. */
static void append_unfinished(const struct perfetto_output *output, struct buffer *out, event_id e)
{
    if (!(output->trace->flags[e] & EVENT_UNFINISHED) ||
        trace_arg_or(output->trace, ARG_FINISHED, e, -1) >= 0)
        return;
    size_t message = wire_open(out, 4);
    wire_append_text(out, 10, "finished", 8);
    wire_append_number(out, 2, 0);
    wire_close(out, message);
}

/* Where the last event was found among what is sorted by event. */
struct scans {
    struct arg_scan of[ARG_COUNT];
    struct perfetto_flow_scan flow;
    size_t memory;
};

/* The memory in use after E, if it allocates or frees: extra_counter_values, and their track if it is not the default. */
static void append_memory_level(const struct perfetto_output *output, struct buffer *out, struct scans *scans,
                                event_id e)
{
    const struct memory_levels *levels = &output->memory;
    size_t i = scans->memory;
    if (i >= levels->count || levels->at[i].event < e || (i > 0 && levels->at[i - 1].event >= e))
        SEARCH(i, levels->count, levels->at[i].event < e);
    scans->memory = i;
    if (i == levels->count || levels->at[i].event != e)
        return;
    if (levels->at[i].uuid != levels->first_uuid)
        wire_append_number(out, 31, levels->at[i].uuid);
    wire_append_number(out, 12, levels->at[i].bytes);
}

/* The fields of a BEGIN or an instant. */
static void perfetto_append_event(const struct perfetto_output *output, struct buffer *out,
                                  struct scans *scans, event_id e)
{
    const struct trace *trace = output->trace;
    uint32_t file = perfetto_file_of(output, trace->track[e]);
    int64_t value;
    wire_append_number(out, 10, (int64_t)trace->name[e] + 1);
    if (names_length(trace->texts, trace->categories[trace->category[e]].text))
        wire_append_number(out, 3, (int64_t)trace->category[e] + 1);
    for (size_t i = 0; i < output->arg_count; i++)
        if (arg_scan_get(&scans->of[i], e, &value))
            perfetto_append_arg(output, out, output->args[i], file, value);
    append_unfinished(output, out, e);
    perfetto_flows_append(&output->flows, &scans->flow, e, out);
    append_memory_level(output, out, scans, e);
}

static int64_t time_of(const struct perfetto_output *output, const struct perfetto_mark *mark)
{
    const struct trace *trace = output->trace;
    event_id e = mark->event;
    int64_t ts_ns = mark->type == PERFETTO_END ? trace_end_ns(trace, e) : trace_start_ns(trace, e);
    return ts_ns + output->shift_ns[perfetto_file_of(output, trace->track[e])];
}

/* The mark at INDEX; *LAST_NS: the time of the one before. */
static void append_mark(const struct perfetto_output *output, struct buffer *out, struct scans *scans,
                        size_t index, int64_t *last_ns)
{
    const struct perfetto_mark mark = perfetto_plan_mark(&output->plan, index);
    int64_t ts_ns = time_of(output, &mark);
    size_t packet = wire_open(out, 1);
    wire_append_number(out, 8, (ts_ns - *last_ns) / output->unit_ns);
    *last_ns = ts_ns;
    wire_append_number(out, 10, PERFETTO_EVENTS_SEQUENCE);
    if (mark.type != PERFETTO_END)
        wire_append_number(out, 13, 2);
    size_t event = wire_open(out, 11);
    wire_append_number(out, 9, mark.type);
    if (mark.uuid != output->default_track)
        wire_append_number(out, 11, mark.uuid);
    if (mark.type != PERFETTO_END)
        perfetto_append_event(output, out, scans, mark.event);
    wire_close(out, event);
    wire_close(out, packet);
}

static void perfetto_make_events(const struct perfetto_output *output, size_t part, struct buffer *out)
{
    struct scans scans = { .memory = 0 };
    for (size_t i = 0; i < output->arg_count; i++)
        scans.of[i] = arg_scan_of(output->trace, output->args[i]);
    size_t first = part * MARKS_PER_PART, perfetto_end = first + MARKS_PER_PART;
    int64_t last_ns = FIRST_TIME_NS;
    if (first) {
        struct perfetto_mark before = perfetto_plan_mark(&output->plan, first - 1);
        last_ns = time_of(output, &before);
    }
    for (size_t i = first; i < perfetto_end && i < output->plan.mark_count; i++)
        append_mark(output, out, &scans, i, &last_ns);
}

/* ---- counters ---- */

/* A value of the counter UUID; TIME in the clock of SEQUENCE. */
static void append_value(struct buffer *out, enum perfetto_sequence sequence, uint32_t uuid, int64_t time,
                         double value, int64_t number, bool is_decimal)
{
    size_t packet = wire_open(out, 1);
    wire_append_number(out, 8, time);
    wire_append_number(out, 10, sequence);
    size_t event = wire_open(out, 11);
    wire_append_number(out, 9, 4);
    wire_append_number(out, 11, uuid);
    if (is_decimal)
        wire_append_double(out, 44, value);
    else
        wire_append_number(out, 30, number);
    wire_close(out, event);
    wire_close(out, packet);
}

/* A track for each counter of each process; a sample knows its own. */
static void find_counters(struct perfetto_output *output)
{
    const struct trace *trace = output->trace;
    SCOPED_OBJECT struct names *keys = names_open();
    output->counter_of = mem_alloc(mem_times(trace->sample_count + 1, sizeof *output->counter_of));
    for (size_t i = 0; i < trace->sample_count; i++) {
        const struct trace_sample *sample = &trace->samples[i];
        uint32_t key[] = { sample->counter, sample->track };
        uint32_t place = names_add(keys, (const char *)key, sizeof key);
        if (place == output->counters.count)
            *VEC_PUSH(&output->counters) =
                (struct counter){ sample->counter, sample->track, output->next_uuid++ };
        output->counter_of[i] = place;
    }
}

static void append_counters(const struct perfetto_output *output, struct buffer *out)
{
    const struct names *texts = output->trace->texts;
    FOR_EACH(counter, &output->counters) {
        track_id track = output->first_track + counter->track;
        size_t packet, descriptor;
        perfetto_open_counter(out, counter->uuid, perfetto_process_uuid(&output->tracks, track),
                              names_text(texts, counter->name), names_length(texts, counter->name), false,
                              &packet, &descriptor);
        perfetto_append_description(&output->tracks, out, track, "");
        perfetto_close_track(out, packet, descriptor);
    }
}

static void perfetto_make_samples(const struct perfetto_output *output, size_t part, struct buffer *out)
{
    const struct trace *trace = output->trace;
    size_t first = part * SAMPLES_PER_PART, perfetto_end = first + SAMPLES_PER_PART;
    for (size_t i = first; i < perfetto_end && i < trace->sample_count; i++) {
        const struct trace_sample *sample = &trace->samples[i];
        append_value(out, PERFETTO_PLAIN_SEQUENCE, output->counters.at[output->counter_of[i]].uuid,
                     sample->ts_ns + output->shift_ns[perfetto_file_of(output, sample->track)], sample->value,
                     0, true);
    }
}

static const struct key by_event[] = { ASC(struct memory_level, event), KEY_END };

/* A counter of the memory in use for each device that has records of it. Readers of tpa recognise that it repeats the
 * records. */
static void find_memory(struct perfetto_output *output, struct buffer *out)
{
    struct memory_records *records = memory_records_open(output->trace, MEMORY_LEVELS);
    struct memory_levels *levels = &output->memory;
    levels->first_uuid = records->device_count ? output->next_uuid : 0;
    FOR_EACH_OF(device, records->devices, records->device_count) {
        const char *type = memory_device_type_name(device->type);
        uint32_t host = perfetto_host_uuid(&output->tracks, output->first_file + device->file);
        uint32_t uuid = output->next_uuid++;
        size_t packet, descriptor;
        char name[96];
        int len =
            device->id >= 0
                ? snprintf(name, sizeof name, "Allocated on %s:%" PRId64, type ? type : "device", device->id)
                : snprintf(name, sizeof name, "Allocated on %s", type ? type : "the device");
        perfetto_open_counter(out, uuid, host, name, (size_t)len, true, &packet, &descriptor);
        wire_append_text(out, 14, "tpa derived", 11);
        perfetto_close_track(out, packet, descriptor);
        for (uint32_t i = device->first; i < device->first + device->count; i++)
            *VEC_PUSH(levels) = (struct memory_level){ records->at[i].event, uuid, records->at[i].allocated };
    }
    arena_free(records);
    if (levels->count)
        SORT(levels, by_event);
}

static size_t perfetto_parts_of(size_t count, size_t per_part)
{
    return (count + per_part - 1) / per_part;
}

static void perfetto_make_head(const void *context, size_t part, struct buffer *out)
{
    const struct perfetto_output *output = context;
    (void)part;
    buffer_add(out, output->head.at, output->head.count);
}

/* Part 0 is what comes first; then events, then samples. */
static void make_packets(const struct perfetto_output *output, size_t part, struct buffer *out)
{
    size_t events = perfetto_parts_of(output->plan.mark_count, MARKS_PER_PART);
    if (part == 0)
        buffer_add(out, output->head.at, output->head.count);
    else if (part - 1 < events)
        perfetto_make_events(output, part - 1, out);
    else
        perfetto_make_samples(output, part - 1 - events, out);
}

static void perfetto_make_part(const void *context, size_t part, struct buffer *out)
{
    const struct perfetto_output *output = context;
    if (output->is_packed || output->has_slices) {
        make_packets(output, part, out);
        return;
    }
    SCOPED struct buffer packets = { 0 };
    make_packets(output, part, &packets);
    perfetto_append_compressed(out, &packets);
}

static void make_path(const void *context, size_t part, struct buffer *out)
{
    const struct perfetto_output *output = context;
    (void)part;
    buffer_add(out, output->path.at, output->path.count);
}

static void perfetto_find_args(struct perfetto_output *output)
{
    const struct trace *trace = output->trace;
    output->is_used = mem_zalloc(names_count(trace->texts) + 1, sizeof *output->is_used);
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        const struct trace_arg_column *column = &trace->args[arg];
        if (column->count == 0)
            continue;
        output->args[output->arg_count++] = (enum trace_arg)arg;
        if (arg_rows[arg].form != FORM_TEXT && arg_rows[arg].form != FORM_JSON)
            continue;
        for (size_t i = 0; i < column->count; i++) {
            int64_t id = trace_arg_value(column, i);
            output->is_used[id] = true;
        }
    }
}

static void find_origin(struct perfetto_output *output)
{
    const struct trace *all = output->all;
    output->shift_ns = timeline_shifts(all);
    output->origin_ns = INT64_MAX;
    for (size_t i = 0; i < all->file_count; i++) {
        int64_t base = all->files[i].has_base ? all->files[i].base_ns : 0;
        output->has_origin |= all->files[i].has_base;
        output->origin_ns = base < output->origin_ns ? base : output->origin_ns;
    }
}

/* What depends on all files. */
static void perfetto_prepare(struct perfetto_output *output, const struct timeline_numbers *numbers,
                             const bool *has_samples, const struct convert_args *args)
{
    const struct trace *all = output->all;
    output->is_packed = convert_packing(args) != SOURCE_PLAIN;
    output->stride = timeline_stride(numbers, all->file_count);
    find_origin(output);
    perfetto_tracks_init(&output->tracks, all, has_samples);
    output->next_uuid = perfetto_track_uuid(&output->tracks, (track_id)all->track_count);
    perfetto_append_head(output, &output->head);
}

static void perfetto_release_part(struct perfetto_output *output)
{
    perfetto_plan_release(&output->plan);
    perfetto_flows_release(&output->flows);
    EACH(free, output->is_used, output->counter_of);
    EACH(VEC_FREE, &output->memory, &output->counters);
    output->is_used = NULL;
    output->counter_of = NULL;
    output->arg_count = 0;
    buffer_clear(&output->head);
}

/* Choose the unit of the times, and the track that is not named. */
static void find_defaults(struct perfetto_output *output)
{
    const struct perfetto_plan *plan = &output->plan;
    SCOPED uint32_t *counts = mem_zalloc(output->next_uuid + 1, sizeof *counts);
    output->unit_ns = FIRST_TIME_NS;
    output->default_track = 0;
    output->has_slices = false;
    for (size_t i = 0; i < plan->mark_count; i++) {
        const struct perfetto_mark mark = perfetto_plan_mark(plan, i);
        if (output->unit_ns != 1 && time_of(output, &mark) % FIRST_TIME_NS)
            output->unit_ns = 1;
        output->has_slices |= mark.type == PERFETTO_BEGIN;
        if (++counts[mark.uuid] > counts[output->default_track])
            output->default_track = mark.uuid;
    }
}

/* Prepare to write TRACE, whose position in ALL is READ. Takes BETWEEN: the arrows between ranks that touch its events. */
static void perfetto_prepare_part(struct perfetto_output *output, const struct trace *trace,
                                  const struct convert_read *read, struct perfetto_flow_ends *between)
{
    perfetto_release_part(output);
    output->trace = trace;
    output->first_track = read->first_track;
    output->first_file = read->first_file;
    perfetto_find_args(output);
    find_memory(output, &output->head); /* what takes most memory while it works comes first */
    perfetto_flows_find(&output->flows, trace, &output->flow_ids, between);
    perfetto_plan_init(&output->plan, trace, perfetto_track_uuid(&output->tracks, read->first_track),
                       output->next_uuid);
    output->next_uuid = output->plan.next_uuid;
    find_defaults(output);
    find_counters(output);
    append_tracks(output, &output->head);
    append_counters(output, &output->head);
}

static void perfetto_release(struct perfetto_output *output)
{
    perfetto_release_part(output);
    EACH(free, output->tracks.shared, output->tracks.is_empty, output->tracks.process_of,
         output->tracks.host_of);
    VEC_FREE(&output->tracks.processes);
    free(output->shift_ns);
    VEC_FREE(&output->between);
    EACH(buffer_release, &output->head, &output->path);
}

/* The destination of parts, and counts of written items. */
struct writing {
    struct perfetto_output output;
    struct packer packer;
    struct packer_output file;
    const struct convert_files *files; /* NULL: there is one trace */
    uint64_t events, flows, samples;
};

static bool perfetto_add_parts(struct writing *writing, void (*make)(const void *, size_t, struct buffer *),
                               size_t count, struct tpa_error *err)
{
    writing->packer.make = make;
    writing->packer.context = &writing->output;
    return packer_add(&writing->file, &writing->packer, count, err);
}

static bool perfetto_begin(struct writing *writing, const struct convert_args *args, FILE *out,
                           struct tpa_error *err)
{
    writing->packer.packing = convert_packing(args);
    writing->packer.workers = (unsigned)args->load.jobs;
    return packer_begin(&writing->file, writing->packer.packing, out, err) &&
           perfetto_add_parts(writing, perfetto_make_head, 1, err);
}

static bool perfetto_add_part(struct writing *writing, const struct trace *trace,
                              const struct convert_read *read, struct perfetto_flow_ends *between,
                              struct tpa_error *err)
{
    struct perfetto_output *output = &writing->output;
    perfetto_prepare_part(output, trace, read, between);
    writing->events += trace->event_count;
    writing->flows += output->flows.arrows;
    writing->samples += trace->sample_count;
    return perfetto_add_parts(writing, perfetto_make_part,
                              1 + perfetto_parts_of(output->plan.mark_count, MARKS_PER_PART) +
                                  perfetto_parts_of(trace->sample_count, SAMPLES_PER_PART),
                              err);
}

static bool perfetto_end(struct writing *writing, struct tpa_error *err)
{
    return perfetto_add_parts(writing, make_path, 1, err) && packer_end(&writing->file, err);
}

static void perfetto_append_written(const struct writing *writing, const struct convert_args *args,
                                    size_t pieces, struct buffer *summary)
{
    const struct trace *all = writing->output.all;
    buffer_printf(summary, "%" PRIu64 " events, %" PRIu64 " flows, %" PRIu64 " counter samples",
                  writing->events, writing->flows, writing->samples);
    if (args->critical_path)
        buffer_printf(summary, ", %zu pieces of the critical path", pieces);
    if (all->file_count > 1)
        buffer_printf(summary, " of %zu files, whose processes are named by rank", all->file_count);
    buffer_putc(summary, '\n');
    timeline_distinguish(summary, all);
}

static bool write_perfetto(const struct trace *trace, const struct convert_args *args, FILE *out,
                           struct buffer *summary, struct tpa_error *err)
{
    struct writing writing = { .output = { .all = trace, .trace = trace } };
    struct perfetto_output *output = &writing.output;
    struct timeline_numbers numbers = { 0 };
    bool *has_samples = timeline_sampled_tracks(trace);
    timeline_notice_numbers(&numbers, trace);
    perfetto_prepare(output, &numbers, has_samples, args);
    free(has_samples);
    if (trace->file_count > 1) {
        SCOPED_OBJECT struct collectives *all = collectives_open(trace);
        writing.flows = perfetto_flows_between(&output->between, all);
    }
    bool fine = perfetto_begin(&writing, args, out, err) &&
                perfetto_add_part(&writing, trace, &(struct convert_read){ 0 }, &output->between, err);
    size_t pieces = args->critical_path && fine
                        ? perfetto_append_path(trace, output->shift_ns, &output->next_uuid, &output->path)
                        : 0;
    fine = fine && perfetto_end(&writing, err);
    perfetto_append_written(&writing, args, pieces, summary);
    perfetto_release(output);
    return fine;
}

static bool perfetto_write_file(void *context, const struct trace *trace, const struct convert_read *read,
                                struct tpa_error *err)
{
    struct writing *writing = context;
    const struct perfetto_flow_ends *all = &writing->output.between;
    struct perfetto_flow_ends own = { .first_id = all->first_id };
    size_t i = perfetto_flows_first(all, read->first_event),
           behind = perfetto_flows_first(all, read->first_event + read->kept);
    for (; i < behind; i++)
        *VEC_PUSH(&own) =
            (struct perfetto_flow_end){ writing->files->own_event[all->at[i].event], all->at[i].number };
    return perfetto_add_part(writing, trace, read, &own, err);
}

static bool perfetto_write_files(struct convert_files *files, const struct convert_args *args, FILE *out,
                                 struct buffer *summary, struct tpa_error *err)
{
    struct writing writing = { .output = { .all = files->all, .trace = files->all }, .files = files };
    perfetto_prepare(&writing.output, &files->numbers, files->has_samples, args);
    if (files->all->file_count > 1)
        writing.flows = perfetto_flows_between(&writing.output.between, files->collectives);
    bool fine = perfetto_begin(&writing, args, out, err) &&
                convert_files_each(files, perfetto_write_file, &writing, err) && perfetto_end(&writing, err);
    perfetto_append_written(&writing, args, 0, summary);
    perfetto_release(&writing.output);
    return fine;
}

const struct convert_form convert_perfetto = {
    .name = "perfetto",
    .help = "Perfetto's protobuf, which its UI opens faster and larger than JSON",
    .ending = ".pftrace|.perfetto-trace",
    .packs = true,
    .marks_path = true,
    .is_read = true,
    .is_timeline = true,
    .write_trace = write_perfetto,
    .write_files = perfetto_write_files,
    .wants = CONVERT_WANTS_ALL,
    .next = "open https://ui.perfetto.dev and drop %s into it",
};
