/* convert_marks.c - see convert_marks.h. */
#include "cli/convert_marks.h"

#include "base/escape.h"
#include "replay/make_graph.h"
#include "replay/path.h"
#include <string.h>

/* A piece of the path on its own track: of a process that has this name instead of a number. */
static void put_piece(const struct convert_marks *marks, const struct replay_graph *graph,
                      const struct path_segment *piece, struct buffer *out)
{
    struct buffer name = { 0 };
    buffer_puts(&name, path_part_name(piece->part));
    if (piece->event != EVENT_NONE)
        buffer_printf(&name, ": %s", trace_name(marks->trace, piece->event));
    buffer_puts(out, ",\n{\"ph\":\"X\",\"cat\":\"critical_path\",\"name\":");
    escape_json_string(out, name.at, name.count);
    buffer_printf(out, ",\"pid\":\"critical path\",\"tid\":%u,\"ts\":", graph->group[piece->file]);
    marks->put_time(marks->context, out, piece->file, piece->start_ns - graph->shift_ns[piece->file]);
    int64_t dur_ns = piece->end_ns - piece->start_ns;
    buffer_printf(out, ",\"dur\":%lld.%03d}", (long long)(dur_ns / 1000), (int)(dur_ns % 1000));
    buffer_release(&name);
}

static void put_arrow_end(const struct convert_marks *marks, const struct replay_graph *graph, char phase,
                          size_t id, const struct path_segment *piece, struct buffer *out)
{
    buffer_printf(out, ",\n{\"ph\":\"%c\",\"id\":%zu,\"cat\":\"critical_path\",\"name\":\"critical_path\"",
                  phase, id);
    marks->put_place(marks->context, out, marks->trace->track[piece->event]);
    buffer_puts(out, ",\"ts\":");
    marks->put_time(marks->context, out, piece->file, piece->start_ns - graph->shift_ns[piece->file]);
    buffer_puts(out, phase == 'f' ? ",\"bp\":\"e\"}" : "}");
}

/* Does the event run in this piece, rather than wait to? Only then is there something for an arrow to point to. */
static bool runs(const struct path_segment *piece)
{
    return piece->event != EVENT_NONE && piece->part != PART_LAUNCH && piece->part != PART_STREAM &&
           piece->part != PART_EVENT;
}

size_t convert_put_marks(const struct convert_marks *marks, struct buffer *out)
{
    const struct replay_graph *graph = replay_graph_of(marks->trace);
    struct path_windows *windows = path_windows_whole(graph);
    size_t count = 0, arrows = 0;
    for (size_t w = 0; w < windows->count; w++) {
        struct path *path = path_open(graph, &windows->at[w]);
        const struct path_segment *last = NULL;
        for (size_t i = 0; i < path->count; i++) {
            const struct path_segment *piece = &path->at[i];
            put_piece(marks, graph, piece, out);
            count++;
            if (!runs(piece))
                continue;
            if (last && marks->trace->track[last->event] != marks->trace->track[piece->event]) {
                arrows++;
                put_arrow_end(marks, graph, 's', arrows, last, out);
                put_arrow_end(marks, graph, 'f', arrows, piece, out);
                count += 2;
            }
            last = piece;
        }
        path_free(path);
    }
    path_windows_free(windows);
    return count;
}
