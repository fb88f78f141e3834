/* timeline.c - see timeline.h. */
#include "cli/timeline.h"

#include "trace/builder.h"

#include <inttypes.h>

static int64_t base_of(const struct trace *trace, size_t file)
{
    return trace->files[file].has_base ? trace->files[file].base_ns : 0;
}

/* Are these moments further apart than a trace may be long? Both are within TRACE_LATEST_WALL_NS. */
static bool is_apart(int64_t base_ns, int64_t first_ns)
{
    return base_ns - first_ns > TRACE_LATEST_NS;
}

int64_t *timeline_shifts(const struct trace *trace)
{
    int64_t *shift_ns = mem_zalloc(trace->file_count + 1, sizeof *shift_ns), first_ns = INT64_MAX;
    for (size_t i = 0; i < trace->file_count; i++) {
        shift_ns[i] = base_of(trace, i);
        first_ns = shift_ns[i] < first_ns ? shift_ns[i] : first_ns;
    }
    for (size_t i = 0; i < trace->file_count; i++)
        shift_ns[i] = is_apart(shift_ns[i], first_ns) ? 0 : shift_ns[i] - first_ns;
    return shift_ns;
}

void timeline_tell_apart(struct buffer *summary, const struct trace *trace)
{
    int64_t first_ns = INT64_MAX;
    size_t apart = 0;
    for (size_t i = 0; i < trace->file_count; i++)
        first_ns = base_of(trace, i) < first_ns ? base_of(trace, i) : first_ns;
    for (size_t i = 0; i < trace->file_count; i++)
        apart += is_apart(base_of(trace, i), first_ns);
    if (apart)
        buffer_printf(
            summary,
            "%zu of %zu files are by their clocks more than 73 years later than the first; they are "
            "laid where the first begins\n",
            apart, trace->file_count);
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
