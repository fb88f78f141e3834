/* timeline.c - see timeline.h. */
#include "cli/timeline.h"

#include <inttypes.h>

int64_t *timeline_shifts(const struct trace *trace)
{
    int64_t *shift_ns = mem_zalloc(trace->file_count + 1, sizeof *shift_ns), first_ns = INT64_MAX;
    for (size_t i = 0; i < trace->file_count; i++) {
        shift_ns[i] = trace->files[i].has_base ? trace->files[i].base_ns : 0;
        first_ns = shift_ns[i] < first_ns ? shift_ns[i] : first_ns;
    }
    for (size_t i = 0; i < trace->file_count; i++)
        shift_ns[i] -= first_ns;
    return shift_ns;
}

void timeline_add_file(struct buffer *out, const struct trace *trace, uint32_t file)
{
    int64_t rank = trace->files[file].rank;
    for (size_t i = 0; i < trace->file_count && rank >= 0; i++)
        if (i != file && trace->files[i].rank == rank)
            rank = -1;
    if (rank >= 0)
        buffer_printf(out, "rank %" PRId64, rank);
    else
        buffer_printf(out, "file %u", file + 1);
}

static void add_half(struct buffer *out, const struct trace *trace, const char *word, name_id name,
                     name_id text, int64_t number)
{
    if (name != NAME_NONE)
        buffer_add(out, names_text(trace->texts, name), names_length(trace->texts, name));
    else if (text != NAME_NONE)
        buffer_add(out, names_text(trace->texts, text), names_length(trace->texts, text));
    else
        buffer_printf(out, "%s %" PRId64, word, number);
}

void timeline_add_track(struct buffer *out, const struct trace *trace, track_id id)
{
    const struct track *track = &trace->tracks[id];
    if (trace->file_count > 1) {
        timeline_add_file(out, trace, track->file);
        buffer_puts(out, " ");
    }
    if (track->kind == TRACK_STREAM) {
        buffer_printf(out, "GPU %" PRId32 ": stream %" PRId64, track->device, track->stream);
        return;
    }
    add_half(out, trace, "process", track->process_name, track->pid_text, track->pid);
    buffer_puts(out, ": ");
    add_half(out, trace, "thread", track->thread_name, track->tid_text, track->tid);
    while (out->at[out->count - 1] == ' ') /* Kineto's "stream 7 " */
        out->at[--out->count] = '\0';
}
