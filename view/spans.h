/*
 * spans.h - all spans of a recording by their rows, for pictures of any stretch of it.
 *
 *     struct view_spans *spans = view_spans_open(trace, sides);
 *     if (spans) ...                                              // NULL: nothing in TRACE takes time
 *     view_spans_free(spans);
 *
 * A row is a lane of charts/timeline.h at one depth. A picture has steps of 2^k ns. Spans that are longer than a step are
 * few: what takes 2^c ns lies in class c, and each class of a row is ordered by time. Of the shorter ones a row has, for each k, the
 * time of each kind in each step in which many of them begin (many: VIEW_MANY). Where few begin, they are added up when a picture is
 * made, but for levels of few steps, which have them all.
 *
 * Times are ns from the origin of the recording. A span takes five bytes, and a fifth more for the sums; a gap four more.
 */
#ifndef TPA_VIEW_SPANS_H
#define TPA_VIEW_SPANS_H

#include "base/timeline.h"
#include "trace/time_scan.h"
#include "view/sides.h"

/* VIEW_TOP: no step is longer than 2^VIEW_TOP ns, so that the end of each can be told. */
enum { VIEW_CLASSES = 63, VIEW_TOP = 61, VIEW_MANY = 12 };

/*
 * The time of a kind in a step of a level, the spans of lower classes than the level added up: the number of the step, six bits of
 * the kind, and as many bits of the time as are left. Of a time that needs more (of spans that overlap) there are several.
 */
typedef uint64_t view_packed_sum;

struct view_level {
    VEC_OF(view_packed_sum); /* by step, then by kind */
    unsigned ns_bits;        /* 0: no time would have room, and there are none */
    bool is_whole;           /* it has all steps, also those in which few begin */
};

static inline int64_t view_sum_bin(const struct view_level *level, size_t i)
{
    return (int64_t)(level->at[i] >> level->ns_bits >> 6);
}

static inline unsigned view_sum_kind(const struct view_level *level, size_t i)
{
    return (unsigned)(level->at[i] >> level->ns_bits & 63);
}

static inline int64_t view_sum_ns(const struct view_level *level, size_t i)
{
    return (int64_t)(level->at[i] & ((UINT64_C(1) << level->ns_bits) - 1));
}

struct view_row {
    uint32_t lane, depth;
    int64_t shift_ns;                        /* added to the times of its events; all are of one file */
    uint32_t *id;                            /* of its spans: by class, then by time. NULL: they are gaps, */
    uint32_t first_gap;                      /* which have the ids from this on */
    uint8_t *kind;                           /* beside id */
    size_t first_of_class[VIEW_CLASSES + 1]; /* of id; the last entry: how many there are */
    uint64_t kinds;                          /* a bit for each kind in it */
    struct view_level level[VIEW_CLASSES + 1]; /* by k */
};

/* The id of the span at place I of ROW. */
static inline uint32_t view_id_at(const struct view_row *row, size_t i)
{
    return row->id ? row->id[i] : row->first_gap + (uint32_t)i;
}

/* Spans that are no events. A gap lasts from the end of work to the start of work. */
struct view_gaps {
    VEC_OF(event_id) before;
    VEC_OF(event_id) after; /* beside before */
};

/* A piece of the critical path. */
struct view_piece {
    int64_t start_ns, dur_ns;
    event_id event; /* that it is a part of, or EVENT_NONE */
};

/* A name of an event as JSON texts: demangled, and as short as labels have it. */
struct view_name {
    const char *full, *label;
};

/* What pictures are made with; for tile.c. */
struct view_drawing {
    struct arena texts;
    struct view_name *shown; /* by name; no text: not made yet */
    uint32_t *named;         /* by name: the picture that has it already */
    uint32_t picture;        /* how many were made */
    VEC_OF(name_id) names;   /* of this picture */
    VEC_OF(int64_t) sums;    /* by kind of the row, then by step */
    VEC_OF(uint64_t) many;   /* a bit for each step whose sums are known */
    struct timeline_changes changes;
};

/* How far an outline is: outline.c. */
struct view_outline {
    unsigned level;      /* the only one that it has */
    size_t steps, kinds; /* of each row: as many as any has */
    int64_t *ns;         /* see view_outline_sums */
    uint32_t *row;       /* by track; UINT32_MAX: it is not shown */
    int64_t *until_ns;   /* by track: where its latest event ended */
    event_id next;       /* those before are in it */
    struct time_scan times;
};

struct view_spans {
    const struct trace *trace;    /* borrowed */
    struct timeline *timeline;    /* lanes, kinds, steps, files, strips and series; no spans */
    int64_t length_ns;            /* of the recording */
    VEC_OF(struct view_row) rows; /* by lane, then by depth */
    struct view_gaps gaps;        /* their ids are behind those of events; those of a row as it has them */
    VEC_OF(struct view_piece) pieces; /* their ids: from UINT32_MAX downwards */
    int64_t *shift_ns; /* by file: added to its times, makes them count from the origin of the recording */
    bool has_path;     /* the critical path is among the lanes */
    struct view_outline *outline; /* NULL: all spans are in order */
    struct view_drawing drawing;
};

/* New; free with view_spans_free (NULL is allowed). NULL: nothing in TRACE takes time. SIDES are those of TRACE. */
struct view_spans *view_spans_open(const struct trace *trace, const struct view_sides *sides);
void view_spans_free(struct view_spans *spans);

/*
 * outline.c - the times of a recording by track, in steps, until its spans are in order: for a first picture.
 *
 *     struct view_spans *spans = view_outline_open(trace, sides);
 *     while (view_outline_more(spans)) ...                        // a picture may be made between two calls
 *     view_outline_end(spans);                                    // no more pictures of it
 *     view_spans_free(spans);
 *
 * New, of no event yet, at once; it has rows without spans. NULL: nothing in TRACE takes time.
 */
struct view_spans *view_outline_open(const struct trace *trace, const struct view_sides *sides);

/* Free the times of the outline; its timeline remains. */
void view_outline_end(struct view_spans *spans);

/* The time of KIND, which ROW has, in each step. */
int64_t *view_outline_sums(const struct view_spans *spans, const struct view_row *row, unsigned kind);

/* Add some thousand events. False: all are there. */
bool view_outline_more(struct view_spans *spans);

/* The start and the end of the span ID, cut at the ends of the recording. */
struct view_time {
    int64_t start_ns, end_ns;
};
struct view_time view_span_time(const struct view_spans *spans, uint32_t id);

/* The piece of the critical path ID; NULL: it is none. */
static inline const struct view_piece *view_piece_of(const struct view_spans *spans, uint32_t id)
{
    return UINT32_MAX - id < spans->pieces.count ? &spans->pieces.at[UINT32_MAX - id] : NULL;
}

/* The work that ended the gap ID, which is neither an event nor a piece. */
static inline event_id view_after_gap(const struct view_spans *spans, uint32_t id)
{
    return spans->gaps.after.at[id - spans->trace->event_count];
}

/* The start of the span ID of ROW, and, where TAKES_NS is not NULL, how long it takes, as recorded. */
static inline int64_t view_recorded(const struct view_spans *spans, const struct view_row *row, uint32_t id,
                                    int64_t *takes_ns)
{
    const struct trace *trace = spans->trace;
    if (id < trace->event_count) {
        if (takes_ns)
            *takes_ns = trace_dur_ns(trace, id);
        return trace_start_ns(trace, id) + row->shift_ns;
    }
    const struct view_piece *piece = view_piece_of(spans, id);
    if (piece) {
        if (takes_ns)
            *takes_ns = piece->dur_ns;
        return piece->start_ns;
    }
    int64_t start_ns = trace_end_ns(trace, spans->gaps.before.at[id - trace->event_count]);
    if (takes_ns)
        *takes_ns = trace_start_ns(trace, view_after_gap(spans, id)) - start_ns;
    return start_ns + row->shift_ns;
}

/* The same of a span of ROW, in less time. */
static inline struct view_time view_time_in(const struct view_spans *spans, const struct view_row *row,
                                            uint32_t id)
{
    int64_t takes_ns, start_ns = view_recorded(spans, row, id, &takes_ns), end_ns = start_ns + takes_ns;
    start_ns = start_ns < 0 ? 0 : start_ns > spans->length_ns ? spans->length_ns : start_ns;
    end_ns = end_ns > spans->length_ns ? spans->length_ns : end_ns;
    return (struct view_time){ start_ns, end_ns < start_ns ? start_ns : end_ns };
}

/* The start of the span ID of ROW. */
static inline int64_t view_start_in(const struct view_spans *spans, const struct view_row *row, uint32_t id)
{
    int64_t start_ns = view_recorded(spans, row, id, NULL);
    return start_ns < 0 ? 0 : start_ns > spans->length_ns ? spans->length_ns : start_ns;
}

/* The class of what takes NS: the place of its highest bit. */
static inline unsigned view_class(int64_t ns)
{
    return ns <= 1 ? 0 : 63u - (unsigned)__builtin_clzll((unsigned long long)ns);
}

/* In ROW, the first of its spans of class CLASS that begins at NS or later; the end of the class if there is none. */
size_t view_row_search(const struct view_spans *spans, const struct view_row *row, unsigned class_of,
                       int64_t ns);

/* The row of EVENT, and its PLACE in it; NULL: it is in none. */
const struct view_row *view_row_of(const struct view_spans *spans, event_id event, size_t *place);

/* ---- pictures: tile.c. One at a time ---- */

struct view_stretch {
    int64_t from_ns, to_ns; /* from the origin of the recording; FROM < TO <= its length */
    int64_t pixels;         /* 1 to VIEW_MOST_PIXELS */
    const uint64_t *lanes;  /* a bit for each lane that is wanted; NULL: all */
};

enum { VIEW_MOST_PIXELS = 16384 };

/* Append what there is to draw of STRETCH to OUT, no more than its pixels can show, as JSON: docs/commands/view.md defines it. */
void view_tile(struct view_spans *spans, const struct view_stretch *stretch, struct buffer *out);

/* The texts of a name; they live as long as SPANS. */
struct view_name view_name_of(struct view_spans *spans, name_id name);

/* Append the integer VALUE. */
void view_add_number(struct buffer *out, int64_t value);

#endif
