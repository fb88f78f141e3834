/*
 * outline.c - a first picture of a recording, while its spans are being put in order; see spans.h. Tracks are rows; a few thousand
 * steps each have the time that is added as events are looked at, in the order of the file. On a track events that were opened
 * before, mostly the outermost, count once: what one has beyond the end of those before it.
 */
#include "view/spans.h"

#include "charts/timeline.h"

static void open_row(struct view_spans *spans, const struct track *track, uint32_t lane)
{
    struct view_outline *outline = spans->outline;
    struct view_row row = { .lane = lane, .shift_ns = spans->shift_ns[track->file] };
    row.kinds = chart_timeline_outline_kinds(track->kind == TRACK_STREAM);
    size_t kinds = (size_t)__builtin_popcountll(row.kinds);
    outline->kinds = kinds > outline->kinds ? kinds : outline->kinds;
    *VEC_PUSH(&spans->rows) = row;
}

int64_t *view_outline_sums(const struct view_spans *spans, const struct view_row *row, unsigned kind)
{
    const struct view_outline *outline = spans->outline;
    size_t slot = (size_t)__builtin_popcountll(row->kinds & ((UINT64_C(1) << kind) - 1));
    return outline->ns + ((size_t)(row - spans->rows.at) * outline->kinds + slot) * outline->steps;
}

/* Steps so long that all rows together have no more than MOST_STEPS, and each no more than STEPS. */
static unsigned level_for(const struct view_spans *spans)
{
    enum { STEPS = 4096, MOST_STEPS = 1 << 20, KINDS = 6 };
    size_t lanes = spans->timeline->lanes.count, own = MOST_STEPS / KINDS / (lanes + 1);
    unsigned k = 1;
    while (k < VIEW_TOP && (uint64_t)spans->length_ns >> k >= (own < STEPS ? own : STEPS))
        k++;
    return k;
}

struct view_spans *view_outline_open(const struct trace *trace, const struct view_sides *sides)
{
    struct view_spans *spans = mem_zalloc(1, sizeof *spans);
    struct view_outline *outline = mem_zalloc(1, sizeof *outline);
    struct timeline_ways ways = { .shift_ns = sides->shift_ns, .groups = sides->group };
    outline->row = mem_alloc(mem_times(trace->track_count + 1, sizeof *outline->row));
    outline->until_ns = mem_zalloc(trace->track_count + 1, sizeof *outline->until_ns);
    time_scan_begin(&outline->times, trace);
    spans->trace = trace;
    spans->outline = outline;
    spans->timeline = chart_timeline_outline(trace, &ways, outline->row);
    if (!spans->timeline) {
        view_spans_free(spans);
        return NULL;
    }
    spans->length_ns = spans->timeline->dur_ns;
    outline->level = level_for(spans);
    spans->shift_ns = mem_zalloc(trace->file_count + 1, sizeof *spans->shift_ns);
    for (size_t file = 0; file < trace->file_count; file++)
        spans->shift_ns[file] = spans->timeline->files.at[file].shift_ns - spans->timeline->start_ns;
    for (int on_host = 0; on_host < 2; on_host++) /* as the lanes lie */
        for (size_t t = 0; t < trace->track_count; t++)
            if (outline->row[t] != UINT32_MAX && (trace->tracks[t].kind != TRACK_STREAM) == on_host)
                open_row(spans, &trace->tracks[t], outline->row[t]);
    outline->steps = (size_t)(spans->length_ns >> outline->level) + 1;
    outline->ns =
        mem_zalloc(mem_times(spans->rows.count * outline->kinds, outline->steps) + 1, sizeof *outline->ns);
    return spans;
}

void view_outline_end(struct view_spans *spans)
{
    struct view_outline *outline = spans->outline;
    EACH(free, outline->row, outline->until_ns, outline->ns);
    outline->row = NULL;
    outline->until_ns = outline->ns = NULL;
}

static void add_time(struct view_spans *spans, struct view_row *row, int64_t from_ns, int64_t to_ns,
                     unsigned kind)
{
    int64_t *ns = view_outline_sums(spans, row, kind);
    while (from_ns < to_ns) {
        int64_t bin = from_ns >> spans->outline->level, edge_ns = (bin + 1) << spans->outline->level;
        int64_t until_ns = edge_ns < to_ns ? edge_ns : to_ns;
        ns[bin] += until_ns - from_ns;
        from_ns = until_ns;
    }
}

bool view_outline_more(struct view_spans *spans)
{
    enum { EVENTS = 1 << 16 };
    struct view_outline *outline = spans->outline;
    const struct trace *trace = spans->trace;
    size_t left = trace->event_count - outline->next;
    event_id end = outline->next + (event_id)(left < EVENTS ? left : EVENTS);
    for (event_id e = outline->next; e < end; e++) {
        track_id track = trace->track[e];
        uint32_t kind = chart_timeline_outline_kind(trace, e);
        if (outline->row[track] == UINT32_MAX || kind == TIMELINE_MOST_KINDS)
            continue;
        struct view_row *row = &spans->rows.at[outline->row[track]];
        int64_t start_ns = time_scan_start_ns(&outline->times, e) + row->shift_ns,
                end_ns = time_scan_end_ns(&outline->times, e) + row->shift_ns,
                *until_ns = &outline->until_ns[track];
        start_ns = start_ns > *until_ns ? start_ns : *until_ns;
        end_ns = end_ns < spans->length_ns ? end_ns : spans->length_ns;
        if (start_ns >= end_ns || !(row->kinds >> kind & 1))
            continue;
        add_time(spans, row, start_ns, end_ns, kind);
        *until_ns = end_ns;
    }
    outline->next = end;
    return end < trace->event_count;
}
