/*
 * trace_dump.h - a trace as one text, for tests that compare traces or say what one must hold.
 *
 *     a@1000+500 b@2000 ...          an event each: name @ start in ns + duration; marks follow:
 *         ?  has no duration         ~  async        !  still open when recording stopped
 *         (an event without + is a point in time)
 */
#ifndef TPA_TESTS_TRACE_DUMP_H
#define TPA_TESTS_TRACE_DUMP_H

#include "base/buffer.h"
#include "tests/read_bytes.h"
#include "trace/trace.h"

#include <inttypes.h>
#include <string.h>

/* Read the LEN bytes at TEXT by the format that claims them. NULL and ERR when none does or reading fails. */
static inline struct trace *trace_from_bytes(const char *text, size_t len, unsigned workers,
                                             size_t window_size, struct tpa_error *err)
{
    struct ingest_options options = { .wants = want_everything(),
                                      .workers = workers,
                                      .window_size = window_size };
    const struct format *format = NULL;
    int best = 0;
    for (size_t i = 0; formats[i]; i++) {
        int score = formats[i]->sniff(text, len);
        if (score > best) {
            best = score;
            format = formats[i];
        }
    }
    if (format)
        return read_bytes_as(format, text, len, &options, err);
    tpa_fail(err, 0, "no format claims it");
    return NULL;
}

/* A name with its control characters and backslashes shown, so that dumps are plain text. */
static inline void dump_name(struct buffer *out, const struct names *names, name_id id)
{
    const char *text = names_text(names, id);
    for (size_t i = 0; i < names_length(names, id); i++)
        if ((unsigned char)text[i] < 0x20 || text[i] == 0x7f)
            buffer_printf(out, "\\x%02x", (unsigned char)text[i]);
        else
            buffer_putc(out, text[i]);
}

static inline void dump_event(struct buffer *out, const struct trace *trace, event_id e)
{
    dump_name(out, trace->names, trace->name[e]);
    buffer_printf(out, "@%" PRId64, trace_start_ns(trace, e));
    if (!(trace->flags[e] & EVENT_POINT))
        buffer_printf(out, "+%" PRId64, trace_dur_ns(trace, e));
    if (trace->flags[e] & EVENT_NO_DURATION)
        buffer_putc(out, '?');
    if (trace->flags[e] & EVENT_ASYNC)
        buffer_putc(out, '~');
    if (trace->flags[e] & EVENT_UNFINISHED)
        buffer_putc(out, '!');
}

static inline void dump_half(struct buffer *out, const struct trace *trace, int64_t number, name_id text)
{
    if (text == NAME_NONE) {
        buffer_printf(out, "%" PRId64, number);
        return;
    }
    buffer_putc(out, '"');
    dump_name(out, trace->texts, text);
    buffer_putc(out, '"');
}

/* pid/tid, numbers bare and texts quoted. */
static inline void dump_track(struct buffer *out, const struct trace *trace, track_id id)
{
    const struct track *track = &trace->tracks[id];
    dump_half(out, trace, track->pid, track->pid_text);
    buffer_putc(out, '/');
    dump_half(out, trace, track->tid, track->tid_text);
}

/* All that a reader put into TRACE, a line each. */
static inline void dump_everything(struct buffer *out, const struct trace *trace)
{
    for (event_id e = 0; e < trace->event_count; e++) {
        dump_event(out, trace, e);
        buffer_printf(out, " name %u category %u kind %d flags %d track %u:", trace->name[e],
                      trace->category[e], trace->kind[e], trace->flags[e], trace->track[e]);
        dump_track(out, trace, trace->track[e]);
        for (int arg = 0; arg < ARG_COUNT; arg++) {
            int64_t value;
            if (trace_arg(trace, (enum trace_arg)arg, e, &value))
                buffer_printf(out, " %d=%" PRId64, arg, value);
        }
        buffer_putc(out, '\n');
    }
    for (size_t i = 0; i < names_count(trace->names); i++) {
        buffer_printf(out, "name %zu ", i);
        dump_name(out, trace->names, (name_id)i);
        buffer_putc(out, '\n');
    }
    for (size_t i = 0; i < names_count(trace->texts); i++) {
        buffer_printf(out, "text %zu ", i);
        dump_name(out, trace->texts, (name_id)i);
        buffer_putc(out, '\n');
    }
    for (size_t i = 0; i < trace->category_count; i++)
        buffer_printf(out, "category %s %d %" PRIu64 "\n",
                      names_text(trace->texts, trace->categories[i].text), trace->categories[i].kind,
                      trace->categories[i].event_count);
    for (size_t i = 0; i < trace->track_count; i++) {
        const struct track *track = &trace->tracks[i];
        buffer_puts(out, "track ");
        dump_track(out, trace, (track_id)i);
        buffer_printf(
            out,
            " kind %d events %u device %d stream %" PRId64 " names %u %u %u sort %" PRId64 " %" PRId64 "\n",
            track->kind, track->event_count, track->device, track->stream, track->process_name,
            track->process_labels, track->thread_name, track->process_sort_index, track->thread_sort_index);
    }
    for (size_t i = 0; i < trace->flow_count; i++) {
        const struct trace_flow flow = trace_flow(trace, i);
        buffer_printf(out, "flow %c %" PRId64 " @%" PRId64 " %u %u %u %d\n", flow.phase, flow.id, flow.ts_ns,
                      flow.category, flow.name, flow.track, flow.bind_enclosing);
    }
    for (size_t i = 0; i < trace->sample_count; i++) {
        const struct trace_sample *sample = &trace->samples[i];
        buffer_printf(out, "sample %u %.17g @%" PRId64 " %u\n", sample->counter, sample->value, sample->ts_ns,
                      sample->track);
    }
    for (size_t i = 0; i < trace->notice_count; i++)
        buffer_printf(out, "notice %s %" PRIu64 " @%" PRId64 "\n", trace->notices[i].kind,
                      trace->notices[i].count, trace->notices[i].offset);
    for (size_t i = 0; i < trace->file_count; i++) {
        const struct trace_file *file = &trace->files[i];
        buffer_printf(out,
                      "file size %" PRId64 " producer %d base %d %" PRId64 " window %d %" PRId64 " %" PRId64
                      " rank %" PRId64 "/%" PRId64 " devices %zu\n",
                      file->size, file->producer, file->has_base, file->base_ns, file->has_window,
                      file->window_start_ns, file->window_end_ns, file->rank, file->world_size,
                      file->devices.count);
        for (size_t k = 0; k < file->properties.count; k++)
            buffer_printf(out, "property %s %s\n", file->properties.at[k].key, file->properties.at[k].value);
    }
    buffer_printf(out, "seen %" PRIu64 " flows %" PRIu64 " samples %" PRIu64 " metadata\n", trace->flows_seen,
                  trace->samples_seen, trace->metadata_seen);
}

#endif
