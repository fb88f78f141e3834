#include "cli/convert/parts.h"

#include "base/escape.h"

/* Does the event run in this piece, rather than wait to? Only then is there something for an arrow to point to. */
static bool runs(const struct path_segment *piece)
{
    return piece->event != EVENT_NONE && piece->part != PART_LAUNCH && piece->part != PART_QUEUED &&
           piece->part != PART_STREAM && piece->part != PART_EVENT;
}

void convert_each_mark(const struct trace *trace, convert_mark_fn *visit, void *context)
{
    const struct replay_graph *graph = replay_graph_of(trace);
    SCOPED_OBJECT struct path_windows *windows = path_windows_whole(graph);
    for (size_t w = 0; w < windows->count; w++) {
        SCOPED_OBJECT struct path *path = path_open(graph, &windows->at[w]);
        const struct path_segment *last = NULL;
        FOR_EACH(piece, path) {
            bool changes = runs(piece) && last && trace->track[last->event] != trace->track[piece->event];
            visit(context, graph, piece, changes ? last : NULL);
            last = runs(piece) ? piece : last;
        }
    }
}

void convert_mark_name(const struct trace *trace, const struct path_segment *piece, struct buffer *out)
{
    buffer_puts(out, path_part_name(piece->part));
    if (piece->event != EVENT_NONE)
        buffer_printf(out, ": %s", trace_name(trace, piece->event));
}

/* ---- as Chrome's JSON ---- */

struct json_marks {
    const struct convert_marks *marks;
    struct buffer *out;
    size_t count, arrows;
};

/* A piece of the path on its own track: of a process that has this name instead of a number. */
static void append_piece(const struct convert_marks *marks, const struct replay_graph *graph,
                         const struct path_segment *piece, struct buffer *out)
{
    SCOPED struct buffer name = { 0 };
    convert_mark_name(marks->trace, piece, &name);
    buffer_puts(out, ",\n{\"ph\":\"X\",\"cat\":\"critical_path\",\"name\":");
    escape_json_string(out, name.at, name.count);
    buffer_printf(out, ",\"pid\":\"critical path\",\"tid\":%u,\"ts\":", graph->group[piece->file]);
    marks->put_time(marks->context, out, piece->file, piece->start_ns - graph->shift_ns[piece->file]);
    int64_t dur_ns = piece->end_ns - piece->start_ns;
    buffer_printf(out, ",\"dur\":%lld.%03d}", (long long)(dur_ns / 1000), (int)(dur_ns % 1000));
}

static void marks_append_arrow_end(const struct convert_marks *marks, const struct replay_graph *graph,
                                   char phase, size_t id, const struct path_segment *piece,
                                   struct buffer *out)
{
    buffer_printf(out, ",\n{\"ph\":\"%c\",\"id\":%zu,\"cat\":\"critical_path\",\"name\":\"critical_path\"",
                  phase, id);
    marks->put_place(marks->context, out, marks->trace->track[piece->event]);
    buffer_puts(out, ",\"ts\":");
    marks->put_time(marks->context, out, piece->file, piece->start_ns - graph->shift_ns[piece->file]);
    buffer_puts(out, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

static void emit_json(void *context, const struct replay_graph *graph, const struct path_segment *piece,
                      const struct path_segment *last)
{
    struct json_marks *json = context;
    append_piece(json->marks, graph, piece, json->out);
    json->count++;
    if (!last)
        return;
    json->arrows++;
    marks_append_arrow_end(json->marks, graph, 's', json->arrows, last, json->out);
    marks_append_arrow_end(json->marks, graph, 'f', json->arrows, piece, json->out);
    json->count += 2;
}

size_t convert_append_marks(const struct convert_marks *marks, struct buffer *out)
{
    struct json_marks json = { .marks = marks, .out = out };
    convert_each_mark(marks->trace, emit_json, &json);
    return json.count;
}
