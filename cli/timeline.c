#include "cli/timeline.h"

#include "base/rows.h"
#include "trace/builder.h"

#include <inttypes.h>

static int64_t base_of(const struct trace *trace, size_t file)
{
    return trace->files[file].has_base ? trace->files[file].base_ns : 0;
}

/* Is the distance of these moments larger than the maximum length of a trace? Both are within TRACE_LATEST_WALL_NS. */
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

void timeline_distinguish(struct buffer *summary, const struct trace *trace)
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

/* ---- processes ---- */

struct process {
    int64_t pid;
    name_id pid_text;
    uint32_t file;
    track_id track;
};

static const struct key by_processes[] = { ASC(struct process, pid_text), ASC(struct process, pid),
                                           ASC(struct process, file), ASC(struct process, track), KEY_END };

/* New, free(): the process of each track, by number, then file, then track. */
static struct process *sort_processes(const struct trace *trace)
{
    struct process *processes = mem_alloc(mem_times(trace->track_count + 1, sizeof *processes));
    for (track_id i = 0; i < trace->track_count; i++)
        processes[i] =
            (struct process){ trace->tracks[i].pid, trace->tracks[i].pid_text, trace->tracks[i].file, i };
    SORT_ARRAY(processes, trace->track_count, by_processes);
    return processes;
}

static bool same_number(const struct process *a, const struct process *b)
{
    return a->pid == b->pid && a->pid_text == b->pid_text;
}

bool *timeline_shared_processes(const struct trace *trace)
{
    SCOPED struct process *processes = sort_processes(trace);
    bool *shared = mem_zalloc(trace->track_count + 1, sizeof *shared);
    FOR_RUNS(first, end, trace->track_count, same_number(&processes[first], &processes[end])) {
        for (size_t i = first; i < end; i++)
            shared[processes[i].track] = processes[end - 1].file != processes[first].file;
    }
    return shared;
}

bool *timeline_first_tracks(const struct trace *trace)
{
    SCOPED struct process *processes = sort_processes(trace);
    bool *is_first = mem_zalloc(trace->track_count + 1, sizeof *is_first);
    for (size_t i = 0; i < trace->track_count; i++)
        is_first[processes[i].track] = i == 0 || !same_number(&processes[i - 1], &processes[i]) ||
                                       processes[i - 1].file != processes[i].file;
    return is_first;
}

bool timeline_add_pid(struct buffer *out, const struct trace *trace, const struct track *track, bool shared)
{
    if (shared) {
        timeline_add_file(out, trace, track->file);
        buffer_puts(out, ": ");
    }
    if (track->pid_text != NAME_NONE)
        buffer_add(out, names_text(trace->texts, track->pid_text),
                   names_length(trace->texts, track->pid_text));
    else
        buffer_printf(out, "%" PRId64, track->pid);
    return shared || track->pid_text != NAME_NONE;
}

/* ---- numbers of a file ---- */

/* Values of one length, from LOW to HIGH, the least of which is LEAST. */
struct digits {
    int64_t low, high, least;
    int count;
};

static void find_digits(struct digits *digits, const struct timeline_numbers *numbers, int64_t value)
{
    digits->low = 1;
    digits->count = 1;
    while (digits->count < 19 && value >= digits->low * 10) {
        digits->low *= 10;
        digits->count++;
    }
    digits->high = digits->count < 19 ? digits->low * 10 - 1 : INT64_MAX;
    digits->least = numbers->least[digits->count];
}

/* DIGITS: the number of digits of the previous number, as most are equally long. */
static void record_number(struct timeline_numbers *numbers, struct digits *digits, int64_t value)
{
    if (value <= 0)
        return;
    if (value < digits->low || value > digits->high)
        find_digits(digits, numbers, value);
    if (digits->least == 0 || value < digits->least)
        digits->least = numbers->least[digits->count] = value;
}

void timeline_notice_numbers(struct timeline_numbers *numbers, const struct trace *trace)
{
    struct digits digits = { .low = INT64_MAX };
    for (int arg = 0; arg < ARG_COUNT; arg++) {
        const struct trace_arg_column *column = &trace->args[arg];
        for (size_t k = 0; k < column->count && TIMELINE_ARGS_OF_FILE >> arg & 1; k++)
            record_number(numbers, &digits, trace_arg_value(column, k));
    }
    for (size_t i = 0; i < trace->flow_count; i++)
        if (trace_flow(trace, i).id < INT32_MAX)
            record_number(numbers, &digits, trace_flow(trace, i).id);
}

int64_t timeline_stride(const struct timeline_numbers *numbers, size_t files)
{
    if (files < 2)
        return 0;
    int64_t stride = 10, most = INT64_MAX / 10 / (int64_t)files, above = 1;
    for (int digits = 1; digits < 19; digits++) {
        above *= 10;
        if (numbers->least[digits] && numbers->least[digits] < most)
            stride = above;
    }
    return stride;
}

bool *timeline_sampled_tracks(const struct trace *trace)
{
    bool *has_samples = mem_zalloc(trace->track_count + 1, sizeof *has_samples);
    for (size_t i = 0; i < trace->sample_count; i++)
        has_samples[trace->samples[i].track] = true;
    return has_samples;
}

int64_t *timeline_last_moments(const struct trace *trace)
{
    int64_t *last_ns = mem_alloc(mem_times(trace->file_count + 1, sizeof *last_ns));
    for (size_t f = 0; f < trace->file_count; f++) {
        const struct trace_file *file = &trace->files[f];
        last_ns[f] = INT64_MIN;
        for (event_id e = file->first_event; e < file->first_event + file->event_count; e++) {
            bool open = trace->flags[e] & EVENT_UNFINISHED && trace_arg_or(trace, ARG_FINISHED, e, -1) < 0;
            int64_t end_ns = trace_start_ns(trace, e) + (open ? 0 : trace_dur_ns(trace, e));
            last_ns[f] = end_ns > last_ns[f] ? end_ns : last_ns[f];
        }
    }
    return last_ns;
}

int64_t timeline_set_apart(int64_t stride, uint32_t file, int64_t value)
{
    return value > 0 && value < stride ? value + (int64_t)file * stride : value;
}

int64_t timeline_arg_apart(int64_t stride, uint32_t file, enum trace_arg arg, int64_t value)
{
    if (!stride || !(TIMELINE_ARGS_OF_FILE >> arg & 1))
        return value;
    return value == 0 && arg == ARG_SEQUENCE ? (int64_t)file * stride
                                             : timeline_set_apart(stride, file, value);
}
