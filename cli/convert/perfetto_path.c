#include "cli/convert/perfetto.h"

#include "cli/convert/parts.h"
#include "cli/timeline.h"

static const char derived[] = "tpa derived";

/* A piece that is not written yet: the next one determines whether an arrow leaves it. */
struct pending {
    struct buffer name;
    int64_t start_ns, end_ns;
    uint32_t uuid; /* 0: none */
    uint64_t comes_from;
};

struct path_output {
    const struct trace *trace;
    const int64_t *shift_ns; /* by file */
    uint32_t *next_uuid;
    uint32_t group;    /* uuid of the track that holds the others; 0: not yet */
    uint32_t *uuid_of; /* by track: of what the path runs on there; 0: not yet */
    uint32_t gaps;     /* uuid of the track for pieces without an event; 0: not yet */
    struct pending last;
    uint64_t arrows;
    size_t count;
    struct buffer *out;
};

static void emit_track(struct path_output *path, uint32_t uuid, uint32_t parent, const char *name, size_t len)
{
    size_t packet = wire_open(path->out, 1);
    wire_append_number(path->out, 10, PERFETTO_PLAIN_SEQUENCE);
    size_t descriptor = wire_open(path->out, 60);
    wire_append_number(path->out, 1, uuid);
    if (parent)
        wire_append_number(path->out, 5, parent);
    wire_append_text(path->out, 2, name, len);
    wire_append_number(path->out, 12, parent ? (int64_t)uuid : -1); /* the group comes first */
    wire_append_number(path->out, 11, 3);
    wire_append_number(path->out, 15, 2);
    wire_append_text(path->out, 14, derived, sizeof derived - 1);
    wire_close(path->out, descriptor);
    wire_close(path->out, packet);
}

/* The track for PIECE, which is described when it is needed first. */
static uint32_t track_for(struct path_output *path, const struct path_segment *piece)
{
    uint32_t *uuid =
        piece->event == EVENT_NONE ? &path->gaps : &path->uuid_of[path->trace->track[piece->event]];
    if (*uuid)
        return *uuid;
    SCOPED struct buffer name = { 0 };
    if (!path->group) {
        path->group = (*path->next_uuid)++;
        emit_track(path, path->group, 0, "critical path", strlen("critical path"));
    }
    if (piece->event == EVENT_NONE)
        buffer_puts(&name, "gaps");
    else
        timeline_add_track(&name, path->trace, path->trace->track[piece->event]);
    *uuid = (*path->next_uuid)++;
    emit_track(path, *uuid, path->group, name.at, name.count);
    return *uuid;
}

static void emit_mark(struct path_output *path, int64_t ts_ns, int type, uint32_t uuid,
                      const struct buffer *name, uint64_t comes_from, uint64_t leads_to)
{
    size_t packet = wire_open(path->out, 1);
    wire_append_number(path->out, 8, ts_ns);
    wire_append_number(path->out, 10, PERFETTO_PLAIN_SEQUENCE);
    size_t event = wire_open(path->out, 11);
    wire_append_number(path->out, 9, type);
    wire_append_number(path->out, 11, uuid);
    if (name) {
        wire_append_text(path->out, 22, "critical_path", strlen("critical_path"));
        wire_append_text(path->out, 23, name->at, name->count);
    }
    if (comes_from)
        wire_append_fixed64(path->out, 47, comes_from);
    if (leads_to)
        wire_append_fixed64(path->out, 47, leads_to);
    wire_close(path->out, event);
    wire_close(path->out, packet);
}

/* Write the pending piece. LEADS_TO: the arrow that leaves it; 0: none. */
static void emit_pending(struct path_output *path, uint64_t leads_to)
{
    struct pending *last = &path->last;
    if (last->uuid) {
        emit_mark(path, last->start_ns, PERFETTO_BEGIN, last->uuid, &last->name, last->comes_from, leads_to);
        emit_mark(path, last->end_ns, PERFETTO_END, last->uuid, NULL, 0, 0);
    }
    last->uuid = 0;
}

static void add_piece(void *context, const struct replay_graph *graph, const struct path_segment *piece,
                      const struct path_segment *last)
{
    struct path_output *path = context;
    (void)last;
    uint32_t uuid = track_for(path, piece);
    int64_t shift_ns = path->shift_ns[piece->file] - graph->shift_ns[piece->file];
    int64_t start_ns = piece->start_ns + shift_ns;
    bool moves = path->last.uuid && path->last.uuid != uuid && start_ns >= path->last.start_ns;
    uint64_t arrow = moves ? (uint64_t)FLOW_PATH << FLOW_KIND_SHIFT | ++path->arrows : 0;
    emit_pending(path, arrow);
    buffer_clear(&path->last.name);
    convert_mark_name(path->trace, piece, &path->last.name);
    path->last.uuid = uuid;
    path->last.start_ns = start_ns;
    path->last.end_ns = piece->end_ns + shift_ns;
    path->last.comes_from = arrow;
    path->count++;
}

size_t perfetto_append_path(const struct trace *trace, const int64_t *shift_ns, uint32_t *next_uuid,
                            struct buffer *out)
{
    struct path_output path = { .trace = trace, .shift_ns = shift_ns, .next_uuid = next_uuid, .out = out };
    path.uuid_of = mem_zalloc(trace->track_count + 1, sizeof *path.uuid_of);
    convert_each_mark(trace, add_piece, &path);
    emit_pending(&path, 0);
    buffer_release(&path.last.name);
    free(path.uuid_of);
    return path.count;
}
