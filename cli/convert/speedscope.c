/*
 * speedscope.c - speedscope's own JSON (https://www.speedscope.app/file-format-schema.json).
 *
 *     {"$schema": ..., "shared": {"frames": [{"name": ...}, ...]}, "profiles": [...], "name": ..., "exporter": ...}
 *
 * A trace gives an "evented" profile for each thread and each stream: frames are opened (O) and closed (C) in order of
 * time, last in, first out. Events of a thread nest with few exceptions (trace/calltree.h): one that is partly
 * overlapped by the next is closed where that begins. A Python profile gives one "sampled" profile: the stacks that can
 * be inferred (profile/stacks.h) with the time of each as its weight.
 *
 * Times are whole nanoseconds from the first event on, so that JavaScript's numbers hold them.
 */
#include "profile/view.h"
#include "base/packer.h"
#include "cli/convert/convert.h"
#include "base/sum.h"
#include "cli/timeline.h"
#include "base/escape.h"
#include "report/exact.h"
#include "trace/calltree.h"

#include <inttypes.h>

enum { NODES_PER_PART = 16384 };

#define PUT(out, literal) buffer_add(out, literal, sizeof(literal) - 1)

static void speedscope_append_head(struct buffer *out)
{
    PUT(out,
        "{\"$schema\":\"https://www.speedscope.app/file-format-schema.json\",\n\"shared\":{\"frames\":[\n");
}

static void append_tail(struct buffer *out, const char *name)
{
    PUT(out, "\n],\n\"name\":");
    escape_json_string(out, name, strlen(name));
    PUT(out, ",\n\"activeProfileIndex\":0,\n\"exporter\":\"tpa\"}\n");
}

/* ---- traces ---- */

/* The nodes of one thread from FIRST to END, which are written in one part. */
struct stretch {
    const struct calltree_thread *thread;
    node_id first, end;
};

struct timeline_output {
    const struct trace *trace;
    const struct calltree *tree;
    int64_t *shift_ns;  /* by file, to nanoseconds from the first event */
    uint32_t *frame_of; /* by name: its index among the frames */
    VEC_OF(name_id) frames;
    VEC_OF(struct stretch) stretches;
};

static bool takes_frame(const void *context, event_id e)
{
    const struct trace *trace = context;
    enum event_kind kind = (enum event_kind)trace->kind[e];
    bool on_stream = event_is_gpu_work(kind) || kind == EVENT_GPU_OTHER;
    return kind != EVENT_SPAN && (on_stream || !event_on_device(kind)) &&
           !(trace->flags[e] & (EVENT_POINT | EVENT_ASYNC));
}

static int64_t start_of(const struct timeline_output *output, node_id n)
{
    event_id e = output->tree->event[n];
    return trace_start_ns(output->trace, e) +
           output->shift_ns[output->trace->tracks[output->trace->track[e]].file];
}

static int64_t end_of(const struct timeline_output *output, node_id n)
{
    return start_of(output, n) + trace_dur_ns(output->trace, output->tree->event[n]);
}

static void speedscope_append_event(const struct timeline_output *output, struct buffer *out, char type,
                                    node_id n, int64_t at_ns, bool *comma)
{
    buffer_puts(out, *comma ? ",\n{\"type\":\"" : "{\"type\":\"");
    *comma = true;
    buffer_putc(out, type);
    PUT(out, "\",\"frame\":");
    exact_add_integer(out, output->frame_of[output->trace->name[output->tree->event[n]]]);
    PUT(out, ",\"at\":");
    exact_add_integer(out, at_ns);
    buffer_putc(out, '}');
}

/* Close the open frames, N being the innermost, up to TO, which stays open; nothing closes after LATEST. A frame that
 * was cut off before its end has callees that end there at the latest. */
static void close_frames(const struct timeline_output *output, struct buffer *out, node_id n, node_id to,
                         int64_t latest_ns, bool *comma)
{
    for (; n != to; n = output->tree->parent[n]) {
        int64_t end_ns = end_of(output, n);
        speedscope_append_event(output, out, 'C', n, end_ns < latest_ns ? end_ns : latest_ns, comma);
    }
}

/* "GPU 0: stream 7", from when to when, and the bracket before its events. */
static void begin_thread(const struct timeline_output *output, struct buffer *out,
                         const struct calltree_thread *thread, int64_t last_ns)
{
    SCOPED struct buffer name = { 0 };
    timeline_add_track(&name, output->trace, thread->track);
    PUT(out, "{\"type\":\"evented\",\"name\":");
    escape_json_string(out, name.at, name.count);
    PUT(out, ",\"unit\":\"nanoseconds\",\"startValue\":0,\"endValue\":");
    exact_add_integer(out, last_ns);
    PUT(out, ",\"events\":[\n");
}

static int64_t last_end(const struct timeline_output *output, const struct calltree_thread *thread)
{
    int64_t last_ns = 0;
    for (node_id n = thread->first; n < thread->first + thread->count; n++)
        last_ns = end_of(output, n) > last_ns ? end_of(output, n) : last_ns;
    return last_ns;
}

/* When the node before closes the frames up to the parent of the next, no other part needs to be known. */
static void make_stretch(const struct timeline_output *output, const struct stretch *stretch,
                         struct buffer *out)
{
    const struct calltree *tree = output->tree;
    node_id first = stretch->thread->first, end = first + stretch->thread->count;
    bool comma = stretch->first > first;
    if (!comma)
        begin_thread(output, out, stretch->thread, last_end(output, stretch->thread));
    for (node_id n = stretch->first; n < stretch->end; n++) {
        int64_t start_ns = start_of(output, n);
        if (n > first)
            close_frames(output, out, n - 1, tree->parent[n], start_ns, &comma);
        speedscope_append_event(output, out, 'O', n, start_ns, &comma);
    }
    if (stretch->end == end) {
        close_frames(output, out, end - 1, NODE_NONE, INT64_MAX, &comma);
        PUT(out, "\n]}");
    }
}

static void make_frames(const struct timeline_output *output, struct buffer *out)
{
    const struct names *names = output->trace->names;
    speedscope_append_head(out);
    for (size_t i = 0; i < output->frames.count; i++) {
        buffer_puts(out, i > 0 ? ",\n{\"name\":" : "{\"name\":");
        escape_json_string(out, names_text(names, output->frames.at[i]),
                           names_length(names, output->frames.at[i]));
        buffer_putc(out, '}');
    }
    PUT(out, "\n]},\n\"profiles\":[\n");
}

static void speedscope_make_part(const void *context, size_t part, struct buffer *out)
{
    const struct timeline_output *output = context;
    if (part == 0) {
        make_frames(output, out);
    } else if (part <= output->stretches.count) {
        const struct stretch *stretch = &output->stretches.at[part - 1];
        buffer_puts(out, part > 1 && stretch->first == stretch->thread->first ? ",\n" : "");
        make_stretch(output, stretch, out);
    } else {
        append_tail(out, output->trace->file_count ? output->trace->files[0].path : "");
    }
}

static void number_frames(struct timeline_output *output)
{
    const struct trace *trace = output->trace;
    size_t names = names_count(trace->names);
    output->frame_of = mem_alloc(mem_times(names + 1, sizeof *output->frame_of));
    for (size_t i = 0; i < names; i++)
        output->frame_of[i] = UINT32_MAX;
    for (node_id n = 0; n < output->tree->count; n++) {
        name_id name = trace->name[output->tree->event[n]];
        if (output->frame_of[name] != UINT32_MAX)
            continue;
        output->frame_of[name] = (uint32_t)output->frames.count;
        *VEC_PUSH(&output->frames) = name;
    }
}

static void count_from_first_event(struct timeline_output *output)
{
    int64_t first_ns = INT64_MAX;
    for (node_id n = 0; n < output->tree->count; n++)
        first_ns = start_of(output, n) < first_ns ? start_of(output, n) : first_ns;
    for (size_t i = 0; i < output->trace->file_count && output->tree->count; i++)
        output->shift_ns[i] -= first_ns;
}

static void cut_into_stretches(struct timeline_output *output)
{
    FOR_EACH_OF(thread, output->tree->threads, output->tree->thread_count) {
        node_id end = thread->first + thread->count;
        for (node_id n = thread->first; n < end; n += NODES_PER_PART)
            *VEC_PUSH(&output->stretches) =
                (struct stretch){ thread, n, end - n < NODES_PER_PART ? end : n + NODES_PER_PART };
    }
}

static bool write_timeline(const struct trace *trace, const struct convert_args *args, FILE *out,
                           struct buffer *summary, struct tpa_error *err)
{
    SCOPED_OBJECT struct calltree *tree = calltree_open(trace, takes_frame, trace);
    calltree_nest(tree);
    struct timeline_output output = { .trace = trace, .tree = tree, .shift_ns = timeline_shifts(trace) };
    count_from_first_event(&output);
    number_frames(&output);
    cut_into_stretches(&output);
    struct packer packer = { convert_packing(args), (unsigned)args->load.jobs, speedscope_make_part,
                             &output };
    bool fine = packer_write(&packer, 2 + output.stretches.count, out, err);
    buffer_printf(summary, "%zu events on %zu threads and streams\n", tree->count, tree->thread_count);
    if (tree->overlaps)
        buffer_printf(
            summary,
            "%zu events overlap without nesting: the one before is shown to end where the next begins\n",
            tree->overlaps);
    timeline_distinguish(summary, trace);
    EACH(free, output.shift_ns, output.frame_of);
    EACH(VEC_FREE, &output.frames, &output.stretches);
    return fine;
}

/* ---- Python profiles ---- */

struct samples {
    struct buffer stacks, weights; /* the inside of both arrays */
    int64_t whole_ns;
};

static void speedscope_add_stack(void *context, const struct profile_stack *stack)
{
    struct samples *samples = context;
    if (stack->time_ns <= 0)
        return;
    buffer_puts(&samples->stacks, samples->weights.count > 0 ? ",\n[" : "[");
    for (size_t i = 0; i < stack->depth; i++) {
        buffer_puts(&samples->stacks, i > 0 ? "," : "");
        exact_add_integer(&samples->stacks, stack->frames[i]);
    }
    buffer_putc(&samples->stacks, ']');
    buffer_puts(&samples->weights, samples->weights.count > 0 ? "," : "");
    exact_add_integer(&samples->weights, stack->time_ns);
    sum_add(&samples->whole_ns, stack->time_ns);
}

static void hand_over(struct buffer *text, FILE *out)
{
    if (text->count > 0)
        fwrite(text->at, 1, text->count, out);
    buffer_clear(text);
}

static void write_functions(const struct profile *profile, struct buffer *text, FILE *out)
{
    SCOPED struct buffer name = { 0 };
    for (size_t i = 0; i < profile->function_count; i++) {
        const struct profile_function *f = &profile->functions[i];
        buffer_clear(&name);
        profile_function_text(f, &name);
        buffer_puts(text, i > 0 ? ",\n{\"name\":" : "{\"name\":");
        escape_json_string(text, name.at ? name.at : "", name.count);
        if (f->line > 0) {
            PUT(text, ",\"file\":");
            escape_json_string(text, f->file, f->file_length);
            buffer_printf(text, ",\"line\":%" PRId64, f->line);
        }
        buffer_putc(text, '}');
        if (text->count > 1 << 16)
            hand_over(text, out);
    }
}

static bool speedscope_write_profile(const struct profile *profile, const struct convert_args *args,
                                     FILE *out, struct buffer *summary, struct tpa_error *err)
{
    (void)err;
    const char *name = profile->files.count ? profile->files.at[0].path : "";
    struct samples samples = { 0 };
    struct profile_stack_sums sums =
        profile_stacks(profile, args->stack_share, speedscope_add_stack, &samples);
    SCOPED struct buffer text = { 0 };
    speedscope_append_head(&text);
    write_functions(profile, &text, out);
    PUT(&text, "\n]},\n\"profiles\":[\n{\"type\":\"sampled\",\"name\":");
    escape_json_string(&text, name, strlen(name));
    buffer_printf(&text, ",\"unit\":\"%s\",\"startValue\":0,\"endValue\":%" PRId64 ",\n\"samples\":[\n",
                  profile_is_timed(profile)           ? "nanoseconds"
                  : profile->figures == PROFILE_BYTES ? "bytes"
                                                      : "none",
                  samples.whole_ns);
    hand_over(&text, out);
    hand_over(&samples.stacks, out);
    PUT(&text, "\n],\n\"weights\":[");
    hand_over(&text, out);
    hand_over(&samples.weights, out);
    PUT(&text, "]}");
    append_tail(&text, name);
    hand_over(&text, out);
    buffer_printf(summary, "%zu stacks, %.1f %% of the time in stacks that are exact (see --to folded)\n",
                  sums.stacks[STACK_EXACT] + sums.stacks[STACK_APPORTIONED] + sums.stacks[STACK_UNPLACED],
                  samples.whole_ns > 0
                      ? quantity_percent((double)sums.time_ns[STACK_EXACT] / (double)samples.whole_ns)
                      : 0);
    EACH(buffer_release, &samples.stacks, &samples.weights);
    return true;
}

const struct convert_form convert_speedscope = {
    .name = "speedscope",
    .help = "speedscope's JSON: threads and streams in time, profiles as stacks",
    .ending = ".speedscope.json",
    .packs = true,
    .no_snapshots = true,
    .write_trace = write_timeline,
    .write_profile = speedscope_write_profile,
    .next = "open https://www.speedscope.app and drop %s into it",
};
