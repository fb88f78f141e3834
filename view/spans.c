/* spans.c - see spans.h. The spans of a row are taken in order of time. Then one pass makes the sums: at each level the step that is
 * being filled and the one behind it are kept; a span is added at the level above its class only, and what a step has when
 * time has passed it goes to the level above. */
#include "view/spans.h"

#include "base/order.h"
#include "base/rows.h"
#include "base/search.h"
#include "charts/timeline.h"
#include <assert.h>

/* ---- rows ---- */

struct filled_row {
    uint32_t lane, depth;
    VEC_OF(uint32_t) id;  /* none: its spans are gaps, */
    uint32_t first_gap;   /* which have the ids from this on */
    VEC_OF(uint8_t) kind; /* how many there are */
};

static uint32_t filled_id(const struct filled_row *row, size_t i)
{
    return row->id.count ? row->id.at[i] : row->first_gap + (uint32_t)i;
}

/* By depth: 1 + its place in rows; 0: it has none. */
struct lane_rows {
    VEC_OF(uint32_t);
};

struct filling {
    struct view_spans *spans;
    VEC_OF(struct filled_row) rows;
    VEC_OF(struct lane_rows) lanes;
};

static struct filled_row *row_for(struct filling *filling, uint32_t lane, uint32_t depth)
{
    while (filling->lanes.count <= lane)
        *VEC_PUSH(&filling->lanes) = (struct lane_rows){ 0 };
    struct lane_rows *of = &filling->lanes.at[lane];
    while (of->count <= depth)
        *VEC_PUSH(of) = 0;
    if (of->at[depth] == 0) {
        *VEC_PUSH(&filling->rows) = (struct filled_row){ .lane = lane, .depth = depth };
        of->at[depth] = (uint32_t)filling->rows.count;
    }
    return &filling->rows.at[of->at[depth] - 1];
}

/* A timeline_taker. */
static void take_span(void *context, const struct timeline_span *span)
{
    struct filling *filling = context;
    struct view_spans *spans = filling->spans;
    uint32_t id = span->event;
    bool is_gap = id == TIMELINE_NO_EVENT && span->operation != EVENT_NONE;
    if (id == TIMELINE_NO_EVENT &&
        spans->gaps.after.count + spans->pieces.count >= UINT32_MAX - spans->trace->event_count)
        return;
    struct filled_row *row = row_for(filling, span->lane, span->depth);
    if (is_gap) {
        id = (uint32_t)(spans->trace->event_count + spans->gaps.after.count);
        row->first_gap = row->kind.count ? row->first_gap : id;
        assert(row->id.count == 0 && id == row->first_gap + row->kind.count);
        *VEC_PUSH(&spans->gaps.before) = span->call;
        *VEC_PUSH(&spans->gaps.after) = span->operation;
    } else if (id == TIMELINE_NO_EVENT) {
        id = UINT32_MAX - (uint32_t)spans->pieces.count;
        *VEC_PUSH(&spans->pieces) =
            (struct view_piece){ span->start_ns, span->dur_ns,
                                 span->call == TIMELINE_NO_EVENT ? EVENT_NONE : span->call };
    }
    if (!is_gap)
        *VEC_PUSH(&row->id) = id;
    *VEC_PUSH(&row->kind) = (uint8_t)span->kind;
}

/* What is added to the times of the span ID. */
static int64_t shift_of(const struct view_spans *spans, uint32_t id)
{
    const struct trace *trace = spans->trace;
    if (view_piece_of(spans, id))
        return 0;
    event_id e = id < trace->event_count ? id : view_after_gap(spans, id);
    return spans->shift_ns[trace->tracks[trace->track[e]].file];
}

struct view_time view_span_time(const struct view_spans *spans, uint32_t id)
{
    struct view_row row = { .shift_ns = shift_of(spans, id) };
    return view_time_in(spans, &row, id);
}

/* Put the spans of ROW in order of time, where they are not: those of a lane in which everything overlaps. Gaps are. */
static void sort_row(const struct view_spans *spans, struct filled_row *row)
{
    size_t count = row->id.count, i = 1;
    while (i < count &&
           view_span_time(spans, row->id.at[i - 1]).start_ns <= view_span_time(spans, row->id.at[i]).start_ns)
        i++;
    if (i >= count)
        return;
    SCOPED uint32_t *order = order_open(count);
    SCOPED uint64_t *keys = mem_alloc(mem_times(count, sizeof *keys));
    for (size_t k = 0; k < count; k++)
        keys[k] = (uint64_t)view_span_time(spans, row->id.at[k]).start_ns;
    order_by(order, count, keys);
    SCOPED uint32_t *id = mem_alloc(mem_times(count, sizeof *id));
    SCOPED uint8_t *kind = mem_alloc(count);
    for (size_t k = 0; k < count; k++) {
        id[k] = row->id.at[order[k]];
        kind[k] = row->kind.at[order[k]];
    }
    memcpy(row->id.at, id, count * sizeof *id);
    memcpy(row->kind.at, kind, count);
}

/* ---- sums ---- */

/* A level with fewer steps than a row has spans, by this, has them all. */
enum { SPANS_OF_STEP = 32 };

/* What a level has of the step BIN and of the one behind it. */
struct level_sums {
    int64_t bin;
    uint32_t begins[2]; /* spans that begin in it */
    uint64_t kinds[2];  /* a bit for each that has time */
    int64_t ns[2][TIMELINE_MOST_KINDS];
};

struct summing {
    struct view_row *row;
    unsigned top;    /* no step is longer than 2^top */
    uint64_t active; /* a bit for each level that has something */
    int64_t next_ns; /* until then no step is passed */
    struct level_sums *level;
};

static void pass_steps(struct summing *summing, unsigned k, int64_t bin);

/* Add what lies in the step BIN to level K, which has not passed it. */
static void add_to_level(struct summing *summing, unsigned k, int64_t bin, unsigned kind, int64_t ns)
{
    struct level_sums *level = &summing->level[k];
    size_t slot = (size_t)(bin - level->bin);
    level->kinds[slot] |= UINT64_C(1) << kind;
    level->ns[slot][kind] += ns;
}

/* Make K ready for spans that begin in BIN. */
static void open_level(struct summing *summing, unsigned k, int64_t bin)
{
    if (summing->active >> k & 1)
        pass_steps(summing, k, bin);
    else
        summing->level[k].bin = bin;
    summing->active |= UINT64_C(1) << k;
    int64_t end_ns = (bin + 1) << k;
    summing->next_ns = end_ns < summing->next_ns ? end_ns : summing->next_ns;
}

/* Keep NS of KIND in the step BIN of LEVEL. */
static void keep_sum(struct view_level *level, int64_t bin, unsigned kind, uint64_t ns)
{
    uint64_t most = (UINT64_C(1) << level->ns_bits) - 1;
    do {
        uint64_t part = ns < most ? ns : most;
        *VEC_PUSH(level) = ((uint64_t)bin << 6 | kind) << level->ns_bits | part;
        ns -= part;
    } while (ns);
}

/* The first of the two steps of level K is complete: keep it where many begin, and pass it on. */
static void finish_step(struct summing *summing, unsigned k)
{
    struct level_sums *level = &summing->level[k];
    struct view_level *of = &summing->row->level[k];
    bool keeps = of->ns_bits && (level->begins[0] >= VIEW_MANY || of->is_whole);
    if (k < summing->top && (level->kinds[0] || level->begins[0])) {
        open_level(summing, k + 1, level->bin >> 1);
        summing->level[k + 1].begins[0] += level->begins[0];
    }
    for (uint64_t left = level->kinds[0]; left; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        int64_t ns = level->ns[0][kind];
        if (keeps)
            keep_sum(of, level->bin, kind, (uint64_t)ns);
        if (k < summing->top)
            add_to_level(summing, k + 1, level->bin >> 1, kind, ns);
        level->ns[0][kind] = level->ns[1][kind];
        level->ns[1][kind] = 0;
    }
    for (uint64_t left = level->kinds[1] & ~level->kinds[0]; left; left &= left - 1) {
        unsigned kind = (unsigned)__builtin_ctzll(left);
        level->ns[0][kind] = level->ns[1][kind];
        level->ns[1][kind] = 0;
    }
    level->begins[0] = level->begins[1];
    level->kinds[0] = level->kinds[1];
    level->begins[1] = 0;
    level->kinds[1] = 0;
    level->bin++;
}

/* Finish the steps of level K before BIN. */
static void pass_steps(struct summing *summing, unsigned k, int64_t bin)
{
    struct level_sums *level = &summing->level[k];
    while (level->bin < bin && (level->begins[0] || level->kinds[0] || level->kinds[1]))
        finish_step(summing, k);
    level->bin = bin > level->bin ? bin : level->bin;
}

/* Time has come to NS: finish the steps before it, of the lowest level first. */
static void pass_time(struct summing *summing, int64_t ns)
{
    summing->next_ns = INT64_MAX;
    for (unsigned k = 0; k <= summing->top; k++) {
        if (!(summing->active >> k & 1))
            continue;
        struct level_sums *level = &summing->level[k];
        pass_steps(summing, k, ns >> k);
        if (!level->begins[0] && !level->kinds[0] && !level->kinds[1]) {
            summing->active &= ~(UINT64_C(1) << k);
            continue;
        }
        int64_t end_ns = (level->bin + 1) << k;
        summing->next_ns = end_ns < summing->next_ns ? end_ns : summing->next_ns;
    }
}

/* Add a span that begins no earlier than the ones before. */
static void sum_span(struct summing *summing, struct view_time time, unsigned kind)
{
    unsigned k = view_class(time.end_ns - time.start_ns) + 1;
    if (time.start_ns >= summing->next_ns)
        pass_time(summing, time.start_ns);
    if (k > summing->top)
        return;
    int64_t bin = time.start_ns >> k, edge_ns = (bin + 1) << k;
    open_level(summing, k, bin);
    summing->level[k].begins[0]++;
    add_to_level(summing, k, bin, kind, (time.end_ns < edge_ns ? time.end_ns : edge_ns) - time.start_ns);
    if (time.end_ns > edge_ns)
        add_to_level(summing, k, bin + 1, kind, time.end_ns - edge_ns);
}

static void sum_row(const struct view_spans *spans, struct view_row *row, const struct filled_row *filled,
                    struct level_sums *level)
{
    struct summing summing = {
        .row = row, .top = view_class(spans->length_ns) + 1, .next_ns = INT64_MAX, .level = level
    };
    summing.top = summing.top > VIEW_TOP ? VIEW_TOP : summing.top;
    memset(level, 0, (VIEW_CLASSES + 1) * sizeof *level);
    for (unsigned k = 1; k <= summing.top; k++) {
        uint64_t last = (uint64_t)spans->length_ns >> k;
        unsigned bits = last ? view_class((int64_t)last) + 1 : 0;
        row->level[k].ns_bits = bits < 58 ? 58 - bits : 0;
        row->level[k].is_whole = row->level[k].ns_bits && last <= filled->kind.count / SPANS_OF_STEP;
    }
    for (size_t i = 0; i < filled->kind.count; i++)
        sum_span(&summing, view_time_in(spans, row, filled_id(filled, i)), filled->kind.at[i]);
    for (unsigned k = 0; k <= summing.top; k++)
        if (summing.active >> k & 1)
            pass_steps(&summing, k, INT64_MAX >> k);
    for (unsigned k = 0; k <= summing.top; k++) {
        struct view_level *of = &row->level[k];
        if (of->count) {
            of->at = mem_realloc(of->at, of->count * sizeof *of->at);
            of->capacity = of->count;
        }
    }
}

/* ---- classes ---- */

/* Write the COUNT numbers at FROM to TO by class, which CLASS_OF has of each, the first of one to the place FIRST_OF_CLASS. SHRINKS:
 * FROM is a block of its own, and is freed: from its end on, so that both together hardly take more memory than one. */
static void order_by_class(uint32_t *to, uint32_t *from, size_t count, const uint8_t *class_of,
                           const size_t *first_of_class, bool shrinks)
{
    enum { AT_ONCE = 1 << 16 };
    size_t place[VIEW_CLASSES]; /* behind the next of each class */
    memcpy(place, first_of_class + 1, sizeof place);
    for (size_t i = count; i-- > 0;) {
        to[--place[class_of[i]]] = from[i];
        if (shrinks && i && i % AT_ONCE == 0)
            from = mem_realloc(from, i * sizeof *from);
    }
    if (shrinks)
        free(from);
}

/* The same in place. */
static void put_by_class(uint32_t *at, size_t count, const uint8_t *class_of, const size_t *first_of_class)
{
    uint32_t *as_it_was = mem_alloc(mem_times(count + 1, sizeof *as_it_was));
    memcpy(as_it_was, at, count * sizeof *at);
    order_by_class(at, as_it_was, count, class_of, first_of_class, true);
}

/* The spans of FILLED by class; it is emptied. */
static struct view_row finish_row(struct view_spans *spans, struct filled_row *filled,
                                  struct level_sums *level)
{
    struct view_row row = { .lane = filled->lane,
                            .depth = filled->depth,
                            .first_gap = filled->first_gap,
                            .shift_ns = shift_of(spans, filled_id(filled, 0)) };
    size_t count = filled->kind.count, place[VIEW_CLASSES + 1] = { 0 };
    sort_row(spans, filled);
    sum_row(spans, &row, filled, level);
    SCOPED uint8_t *class_of = mem_alloc(count + 1);
    for (size_t i = 0; i < count; i++) {
        struct view_time time = view_time_in(spans, &row, filled_id(filled, i));
        class_of[i] = (uint8_t)view_class(time.end_ns - time.start_ns);
        row.first_of_class[class_of[i] + 1]++;
        row.kinds |= UINT64_C(1) << filled->kind.at[i];
    }
    for (unsigned c = 0; c < VIEW_CLASSES; c++) {
        row.first_of_class[c + 1] += row.first_of_class[c];
        place[c] = row.first_of_class[c];
    }
    row.kind = mem_alloc(count + 1);
    for (size_t i = 0; i < count; i++)
        row.kind[place[class_of[i]]++] = filled->kind.at[i];
    VEC_FREE(&filled->kind);
    if (filled->id.count) {
        row.id = mem_alloc(mem_times(count, sizeof *row.id));
        order_by_class(row.id, filled->id.at, count, class_of, row.first_of_class, true);
        filled->id.at = NULL;
    } else {
        size_t first = row.first_gap - spans->trace->event_count;
        put_by_class(spans->gaps.before.at + first, count, class_of, row.first_of_class);
        put_by_class(spans->gaps.after.at + first, count, class_of, row.first_of_class);
    }
    VEC_FREE(&filled->id);
    return row;
}

/* Of the events, one gap for 16 at most, and as many as a page has in any case. */
static int64_t most_gaps(const struct trace *trace)
{
    int64_t most = (int64_t)trace->event_count / 16;
    return trace->event_count < 4000000 ? INT64_MAX : most > 400000 ? most : 400000;
}

static const struct key by_place[] = { ASC(struct view_row, lane), ASC(struct view_row, depth), KEY_END };

struct view_spans *view_spans_open(const struct trace *trace, const struct view_sides *sides)
{
    enum { MOST_REPLAYED = 20000000 }; /* events: the graph of more would take more memory than they do */
    struct view_spans *spans = mem_zalloc(1, sizeof *spans);
    struct filling filling = { .spans = spans };
    spans->trace = trace;
    spans->has_path = sides->count == 1 && trace->event_count <= MOST_REPLAYED;
    struct timeline_ways ways = { .with_path = spans->has_path,
                                  .most_gaps = most_gaps(trace),
                                  .most_cells = 1 << 24,
                                  .shift_ns = sides->shift_ns,
                                  .groups = sides->group };
    spans->timeline = chart_timeline_each(trace, take_span, &filling, &ways);
    spans->shift_ns = mem_zalloc(trace->file_count + 1, sizeof *spans->shift_ns);
    if (spans->timeline) {
        const struct timeline *timeline = spans->timeline;
        spans->length_ns = timeline->dur_ns;
        for (size_t file = 0; file < trace->file_count; file++)
            spans->shift_ns[file] = timeline->files.at[file].shift_ns - timeline->start_ns;
        for (size_t i = 0; i < spans->pieces.count; i++)
            spans->pieces.at[i].start_ns -= timeline->start_ns;
        SCOPED struct level_sums *level = mem_alloc((VIEW_CLASSES + 1) * sizeof *level);
        for (size_t i = 0; i < filling.rows.count; i++)
            *VEC_PUSH(&spans->rows) = finish_row(spans, &filling.rows.at[i], level);
        SORT_ARRAY(spans->rows.at, spans->rows.count, by_place);
    }
    for (size_t i = 0; i < filling.lanes.count; i++)
        VEC_FREE(&filling.lanes.at[i]);
    VEC_FREE(&filling.lanes);
    VEC_FREE(&filling.rows);
    size_t names = names_count(trace->names) + 1;
    spans->drawing.shown = mem_zalloc(names, sizeof *spans->drawing.shown);
    spans->drawing.named = mem_zalloc(names, sizeof *spans->drawing.named);
    if (spans->timeline)
        return spans;
    view_spans_free(spans);
    return NULL;
}

void view_spans_free(struct view_spans *spans)
{
    if (!spans)
        return;
    FOR_EACH(row, &spans->rows) {
        free(row->id);
        free(row->kind);
        for (unsigned k = 0; k <= VIEW_CLASSES; k++)
            VEC_FREE(&row->level[k]);
    }
    VEC_FREE(&spans->rows);
    EACH(VEC_FREE, &spans->gaps.before, &spans->gaps.after, &spans->pieces);
    VEC_FREE(&spans->drawing.names);
    VEC_FREE(&spans->drawing.sums);
    VEC_FREE(&spans->drawing.many);
    VEC_FREE(&spans->drawing.changes);
    free(spans->drawing.shown);
    free(spans->drawing.named);
    arena_release(&spans->drawing.texts);
    timeline_free(spans->timeline);
    if (spans->outline)
        view_outline_end(spans);
    free(spans->outline);
    free(spans->shift_ns);
    free(spans);
}

size_t view_row_search(const struct view_spans *spans, const struct view_row *row, unsigned class_of,
                       int64_t ns)
{
    return PLACE_BETWEEN(i, row->first_of_class[class_of], row->first_of_class[class_of + 1],
                         view_start_in(spans, row, view_id_at(row, i)) < ns);
}

const struct view_row *view_row_of(const struct view_spans *spans, event_id event, size_t *place)
{
    struct view_time time = view_span_time(spans, event);
    unsigned class_of = view_class(time.end_ns - time.start_ns);
    FOR_EACH(row, &spans->rows) {
        for (size_t i = view_row_search(spans, row, class_of, time.start_ns);
             i < row->first_of_class[class_of + 1] &&
             view_start_in(spans, row, view_id_at(row, i)) == time.start_ns;
             i++)
            if (view_id_at(row, i) == event) {
                *place = i;
                return row;
            }
    }
    return NULL;
}
