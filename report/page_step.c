/* A lane is a row of columns, each with the kind of the innermost span that fills it: spans narrower than a
 * column fill what is still empty. Columns of one kind that follow one another are one box. Without devices a
 * lane of the host has several lines: what calls is above what it calls, each call in a box with its name,
 * and where nothing was recorded is hatched. */
#include "report/page_parts.h"

#include "base/escape.h"
#include "base/rows.h"
#include "base/unicode.h"
#include "report/figures.h"
#include <assert.h>
#include <math.h>

enum {
    COLUMNS = 900,
    LEFT = 150, /* where the columns begin */
    LANE_HEIGHT = 20,
    LANE_EVERY = 25,
    TOP = 18, /* above it are the marks of the axis */
    MOST_HOST = 2,
    MOST_LINES = 6,  /* of all lanes, where calls are nested */
    LITTLE = 200,    /* of the step: a thread that does no more of it is not drawn beside others */
    LEAST_PART = 40, /* of the step, which the longest call takes of a line that is drawn */
    MOST_DEVICE = 3,
    MOST_CULPRITS = 3,
    LEAST_LETTERS = 6, /* of a label that is cut */
    MARGIN = 6,        /* of labels in their boxes */
    PIN_ROOM = 13,     /* from the middle of a pin to what may be beside it */
    NO_KIND = TIMELINE_MOST_KINDS
};

#define LETTER_WIDTH 7.0      /* of 12 px letters, wide ones too */
#define LANE_LETTER_WIDTH 6.4 /* of those of 11 px that name lanes */

struct lane_spans {
    VEC_OF(const struct timeline_span *);
};

struct step_pin {
    size_t number, line;
    double x; /* of its middle */
};

struct step_lane {
    size_t lane;
    const char *who; /* of a job whose lanes it is: "rank 9", "13 others"; NULL: there is one */
    int64_t place;   /* enum timeline_place; a key is 64 bits */
    int64_t used_ns;
    size_t line, lines; /* the first, and how many */
    bool nested;        /* it is drawn call by call: a line for each level of calls within each other */
};

/* A call, and how many others it is within. */
struct nested_span {
    const struct timeline_span *span;
    int64_t start_ns, dur_ns;
    size_t level;
};

struct nested_spans {
    VEC_OF(struct nested_span);
};

struct step_drawing {
    const struct timeline *timeline;
    const struct answer *answer;
    struct buffer *out;
    int64_t start_ns, end_ns;
    VEC_OF(struct step_lane) lanes;
    VEC_OF(const struct timeline_span *) spans; /* that reach into the step, in their order */
    VEC_OF(struct step_pin) pins;
    unsigned elsewhere; /* a set of changes that are at none of what is drawn */
};

static bool is_idle_kind(const struct timeline *timeline, uint32_t kind)
{
    return strcmp(timeline->kinds.at[kind].group, "idle") == 0;
}

/* ---- which step, which lanes ---- */

/* The rank of CULPRIT; -1: it stands for several. */
static int64_t rank_of_culprit(const struct answer_culprit *culprit)
{
    return strncmp(culprit->who, "rank ", 5) == 0 ? strtoll(culprit->who + 5, NULL, 10) : -1;
}

/* The file of the rank that holds the job up, or whose step the answer wants, else of the first rank. */
static uint32_t first_file(const struct timeline *timeline, const struct answer *answer)
{
    uint32_t first = 0;
    for (uint32_t i = 1; i < timeline->files.count; i++)
        first = timeline->files.at[i].rank < timeline->files.at[first].rank ? i : first;
    for (uint32_t i = 0; i < timeline->files.count && (answer->culprits.count || answer->has_rank); i++)
        if (timeline->files.at[i].rank ==
            (answer->culprits.count ? rank_of_culprit(&answer->culprits.at[0]) : answer->rank))
            return i;
    return first;
}

/* How long STEP is in the answer, which shows the steps of one rank; -1: it does not. */
static int64_t length_in(const struct answer *answer, const struct timeline_step *step)
{
    for (size_t i = 0; i < answer->steps.count; i++) {
        char *end;
        if (strtoll(answer->steps.at[i].label, &end, 10) == step->number && *end == '\0')
            return answer->steps.at[i].ns;
    }
    return -1;
}

/* The median step of FIRST, a file, by the lengths that ANSWER shows; COUNT: of how many. Of two the shorter, unless it is the first
 * step: what its gap before the first work waits for may not be recorded. NULL: there is none. */
static const struct timeline_step *median_step(const struct timeline *timeline, const struct answer *answer,
                                               uint32_t first, size_t *count)
{
    static const struct key by_length[] = { ASC(struct timeline_step, dur_ns),
                                            ASC(struct timeline_step, start_ns), KEY_END };
    VEC_OF(struct timeline_step) own = { 0 };
    const struct timeline_step *found = NULL;
    bool shown = false;
    for (size_t i = 0; i < timeline->steps.count && timeline->files.count == 1; i++)
        shown |= length_in(answer, &timeline->steps.at[i]) > 0;
    for (size_t i = 0; i < timeline->steps.count; i++) {
        struct timeline_step step = timeline->steps.at[i];
        step.dur_ns = shown ? length_in(answer, &step) : step.dur_ns;
        if (step.file == first && step.dur_ns > 0)
            *VEC_PUSH(&own) = step;
    }
    *count = own.count;
    int64_t first_ns = INT64_MAX;
    for (size_t i = 0; i < own.count; i++)
        first_ns = own.at[i].start_ns < first_ns ? own.at[i].start_ns : first_ns;
    SORT(&own, by_length);
    size_t median = own.count ? (own.count - 1) / 2 : 0;
    median += own.count % 2 == 0 && own.count > 2 && own.at[median].start_ns == first_ns;
    for (size_t i = 0; own.count && i < timeline->steps.count; i++)
        if (timeline->steps.at[i].file == first && timeline->steps.at[i].start_ns == own.at[median].start_ns)
            found = &timeline->steps.at[i];
    VEC_FREE(&own);
    return found;
}

/* How much of SPAN is in the step, in ns. */
static int64_t step_part_of(const struct step_drawing *drawing, const struct timeline_span *span)
{
    int64_t from_ns = span->start_ns > drawing->start_ns ? span->start_ns : drawing->start_ns,
            to_ns = span->start_ns + span->dur_ns < drawing->end_ns ? span->start_ns + span->dur_ns
                                                                    : drawing->end_ns;
    return to_ns > from_ns ? to_ns - from_ns : 0;
}

/* A span about as long as the step is a mark of the step itself, unless it is a call of the runtime: that waits. */
static bool is_mark(const struct step_drawing *drawing, const struct timeline_span *span)
{
    const char *kind = drawing->timeline->kinds.at[span->kind].title;
    return strcmp(kind, "runtime calls") != 0 && strcmp(kind, "waiting calls") != 0 &&
           span->dur_ns > (drawing->end_ns - drawing->start_ns) / 100 * 95;
}

struct step_lanes {
    VEC_OF(struct step_lane);
};

/* All lanes, those with most work in the step first, devices last. */
static struct step_lanes lanes_by_use(const struct step_drawing *drawing)
{
    static const struct key by_use[] = { DESC(struct step_lane, place), DESC(struct step_lane, used_ns),
                                         ASC(struct step_lane, lane), KEY_END };
    const struct timeline *timeline = drawing->timeline;
    struct step_lanes lanes = { 0 };
    for (size_t i = 0; i < timeline->lanes.count; i++)
        *VEC_PUSH(&lanes) = (struct step_lane){ .lane = i, .place = (int64_t)timeline->lanes.at[i].place };
    for (size_t i = 0; i < drawing->spans.count; i++) {
        const struct timeline_span *span = drawing->spans.at[i];
        assert(span->lane < lanes.count && lanes.at);
        if (!is_idle_kind(timeline, span->kind) && !is_mark(drawing, span))
            lanes.at[span->lane].used_ns += step_part_of(drawing, span);
    }
    SORT(&lanes, by_use);
    return lanes;
}

/* Draw the first lanes of GROUP: so many of the host and of devices. */
static void keep_lanes(struct step_drawing *drawing, const struct step_lanes *lanes, const char *group,
                       const char *who, size_t most_host, size_t most_device)
{
    for (size_t i = 0; i < lanes->count; i++) {
        struct step_lane lane = lanes->at[i];
        size_t *most = lane.place == TIMELINE_HOST     ? &most_host
                       : lane.place == TIMELINE_DEVICE ? &most_device
                                                       : NULL;
        bool little = drawing->lanes.count > 0 && lane.place == TIMELINE_HOST &&
                      lane.used_ns < (drawing->end_ns - drawing->start_ns) / LITTLE;
        if (!most || *most == 0 || lane.used_ns <= 0 || little ||
            strcmp(drawing->timeline->lanes.at[lane.lane].group, group) != 0)
            continue;
        lane.who = who;
        *VEC_PUSH(&drawing->lanes) = lane;
        --*most;
    }
}

static bool is_culprit(const struct answer *answer, int64_t rank)
{
    for (size_t i = 0; i < answer->culprits.count; i++)
        if (rank_of_culprit(&answer->culprits.at[i]) == rank)
            return true;
    return false;
}

/* Of a job the devices of ranks that hold it up, the thread of the first of them (without devices, of all), and one rank that
 * stands for the others. */
static void keep_lanes_of_job(struct step_drawing *drawing, const struct step_lanes *lanes)
{
    const struct answer *answer = drawing->answer;
    const struct timeline_file *other = NULL;
    bool devices = false;
    char group[32];
    for (size_t i = 0; i < lanes->count; i++)
        devices |= lanes->at[i].place == TIMELINE_DEVICE && lanes->at[i].used_ns > 0;
    for (size_t i = 0; i < answer->culprits.count && i < MOST_CULPRITS; i++)
        if (rank_of_culprit(&answer->culprits.at[i]) >= 0)
            keep_lanes(drawing, lanes, answer->culprits.at[i].who, answer->culprits.at[i].who,
                       i == 0 || !devices, 1);
    for (size_t i = 0; i < drawing->timeline->files.count; i++) {
        const struct timeline_file *file = &drawing->timeline->files.at[i];
        if (!is_culprit(answer, file->rank) && (!other || file->rank < other->rank))
            other = file;
    }
    const struct answer_culprit *last = &answer->culprits.at[answer->culprits.count - 1];
    if (!other)
        return;
    snprintf(group, sizeof group, "rank %lld", (long long)other->rank);
    keep_lanes(drawing, lanes, group, rank_of_culprit(last) < 0 ? last->who : "another rank", !devices, 1);
}

/* The lanes of GROUP, or of the job. */
static void choose_lanes(struct step_drawing *drawing, const char *group)
{
    struct step_lanes lanes = lanes_by_use(drawing);
    if (drawing->answer->culprits.count && *group)
        keep_lanes_of_job(drawing, &lanes);
    else
        keep_lanes(drawing, &lanes, group, NULL, MOST_HOST, MOST_DEVICE);
    VEC_FREE(&lanes);
}

/* ---- boxes ---- */

static double column_of(const struct step_drawing *drawing, int64_t ns)
{
    double at = (double)(ns - drawing->start_ns) / (double)(drawing->end_ns - drawing->start_ns) * COLUMNS;
    return at < 0 ? 0 : at > COLUMNS ? COLUMNS : at;
}

/* Is what ran in LANE drawn in ROW: its own, or of a job another stream of its device? */
static bool is_drawn_in(const struct step_drawing *drawing, size_t lane, const struct step_lane *row)
{
    const struct timeline_lane *lanes = drawing->timeline->lanes.at;
    return lane == row->lane ||
           (row->who && lanes[row->lane].place == TIMELINE_DEVICE && lanes[lane].place == TIMELINE_DEVICE &&
            lanes[lane].strip == lanes[row->lane].strip);
}

/* How late SPAN is drawn among others; of ALL streams of a device communication is first. */
static size_t depth_in(const struct timeline *timeline, const struct timeline_span *span, bool all)
{
    return all ? strcmp(timeline->kinds.at[span->kind].title, "communication") != 0 : span->depth;
}

/* What ran in ROW in the step, without idle time; by depth, of all streams of a device what computes after what communicates. */
static struct lane_spans spans_of_lane(const struct step_drawing *drawing, const struct step_lane *row)
{
    enum { DEPTHS = 40 };
    const struct timeline *timeline = drawing->timeline;
    bool device = timeline->lanes.at[row->lane].place == TIMELINE_DEVICE, all = device && row->who;
    struct lane_spans own = { 0 }, sorted = { 0 };
    size_t first[DEPTHS + 1] = { 0 };
    for (size_t i = 0; i < drawing->spans.count; i++) {
        const struct timeline_span *span = drawing->spans.at[i];
        if (!is_drawn_in(drawing, span->lane, row) || span->depth >= DEPTHS || is_mark(drawing, span) ||
            (device && is_idle_kind(timeline, span->kind)))
            continue;
        *VEC_PUSH(&own) = span;
        *VEC_PUSH(&sorted) = span;
        first[depth_in(timeline, span, all) + 1]++;
    }
    for (size_t depth = 1; depth <= DEPTHS; depth++)
        first[depth] += first[depth - 1];
    for (size_t i = 0; i < own.count; i++)
        sorted.at[first[depth_in(timeline, own.at[i], all)]++] = own.at[i];
    VEC_FREE(&own);
    return sorted;
}

static void fill_columns(const struct step_drawing *drawing, const struct timeline_span *span,
                         uint8_t kinds[COLUMNS])
{
    size_t from = (size_t)column_of(drawing, span->start_ns),
           to = (size_t)column_of(drawing, span->start_ns + span->dur_ns);
    bool wide = to > from;
    for (size_t c = from; c < COLUMNS && (c < to || c == from); c++)
        if (wide || kinds[c] == NO_KIND)
            kinds[c] = (uint8_t)span->kind;
}

static void append_boxes(struct step_drawing *drawing, const struct step_lane *row, int y)
{
    uint8_t kinds[COLUMNS];
    memset(kinds, NO_KIND, sizeof kinds);
    struct lane_spans own = spans_of_lane(drawing, row);
    for (size_t i = 0; i < own.count; i++)
        fill_columns(drawing, own.at[i], kinds);
    VEC_FREE(&own);
    for (size_t from = 0, to; from < COLUMNS; from = to) {
        for (to = from + 1; to < COLUMNS && kinds[to] == kinds[from];)
            to++;
        if (kinds[from] != NO_KIND)
            buffer_printf(
                drawing->out, "<rect class=\"c%d\" x=\"%zu\" y=\"%d\" width=\"%zu\" height=\"%d\"/>",
                (int)drawing->timeline->kinds.at[kinds[from]].color, LEFT + from, y, to - from, LANE_HEIGHT);
    }
}

/* ---- words ---- */

static void append_words(struct step_drawing *drawing, double x, int y, const char *class, const char *text,
                         size_t len)
{
    buffer_printf(drawing->out, "<text class=\"%s\" x=\"%.1f\" y=\"%d\">", class, x, y);
    escape_html(drawing->out, text, len);
    buffer_puts(drawing->out, "</text>");
}

static double letters_width(const char *text, size_t len)
{
    return (double)unicode_text_width(text, len) * LETTER_WIDTH;
}

/* Where words of WIDTH, or else as many as possible, are between X and X + *ROOM in LINE without a pin on them. *ROOM: for them. */
static double place_words(const struct step_drawing *drawing, size_t line, double x, double *room,
                          double width)
{
    double best = x, best_room = 0, from = x + MARGIN, end = x + *room;
    for (size_t i = 0; i <= drawing->pins.count; i++) {
        const struct step_pin *next = NULL; /* the first pin behind FROM */
        for (size_t k = 0; k < drawing->pins.count; k++) {
            const struct step_pin *pin = &drawing->pins.at[k];
            if (pin->line == line && pin->x + PIN_ROOM > from && pin->x - PIN_ROOM < end &&
                (!next || pin->x < next->x))
                next = pin;
        }
        double to = next ? next->x - PIN_ROOM : end - MARGIN;
        if (to - from > best_room) {
            best = from;
            best_room = to - from;
        }
        if (!next || best_room >= width)
            break;
        from = next->x + PIN_ROOM;
    }
    *room = best_room;
    return best;
}

/* Append TEXT, cut to COLUMNS columns of a terminal, without what cannot be seen. */
static void append_cut(struct buffer *out, const char *text, size_t len, size_t columns)
{
    struct buffer safe = { 0 };
    escape_terminal(&safe, text, len);
    size_t at = 0, used = 0, size;
    bool all = unicode_text_width(safe.at, safe.count) <= columns;
    for (; at < safe.count; at += size) {
        uint32_t character;
        size = utf8_decode(safe.at + at, safe.count - at, &character);
        int wide = unicode_width(character);
        used += wide > 0 ? (size_t)wide : 0;
        if (!all && used >= columns)
            break;
    }
    buffer_add(out, safe.at, at);
    buffer_puts(out, all ? "" : "\xe2\x80\xa6");
    buffer_release(&safe);
}

/* As much of NAME as fits into ROOM, if that tells something. */
static void append_label(struct step_drawing *drawing, double x, int y, const char *name, double room)
{
    size_t len = strlen(name), fits = room > 0 ? (size_t)(room / LETTER_WIDTH) : 0;
    if (fits < LEAST_LETTERS)
        return;
    struct buffer shown = { 0 };
    append_cut(&shown, name, len, fits);
    page_add_label(drawing->out, x, y + 14, letters_width(shown.at, shown.count), shown.at, shown.count);
    buffer_release(&shown);
}

/* Is LANE, of idle time, that of the device whose stream is in ROW, the first of its rows? */
static bool is_idle_lane_of(const struct step_drawing *drawing, size_t lane, size_t row)
{
    const struct timeline_lane *lanes = drawing->timeline->lanes.at,
                               *own = &lanes[drawing->lanes.at[row].lane];
    for (size_t i = 0; i < row; i++) {
        const struct timeline_lane *before = &lanes[drawing->lanes.at[i].lane];
        if (before->place == TIMELINE_DEVICE && before->strip == own->strip)
            return false;
    }
    return lanes[lane].place == TIMELINE_DEVICE && lanes[lane].strip == own->strip;
}

static void append_idle(struct step_drawing *drawing, int64_t start_ns, int64_t end_ns, int y)
{
    double from = column_of(drawing, start_ns), to = column_of(drawing, end_ns);
    if (to - from >= 2)
        buffer_printf(drawing->out, "<rect class=\"idle\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                      LEFT + from, y, to - from, LANE_HEIGHT);
}

/* Is the device of the answer idle before its first work in a step? It may work before that, on what was launched before the recording. What
 * the host loads before the first work of a recording is data loading. */
static bool is_idle_at_first(const struct answer *answer)
{
    for (size_t b = 0; b < answer->bars.count; b++)
        for (size_t p = 0; p < answer->bars.at[b].parts.count; p++) {
            const char *title = answer->bars.at[b].parts.at[p].title;
            if (strstr(title, "before the first work") || strstr(title, "data loading"))
                return true;
        }
    return false;
}

/* The time of the step before the device of ROW works for the first time in the recording; of length 0 where it worked before, or where
 * that is not known. */
static struct timeline_span before_first_work(const struct step_drawing *drawing, size_t row)
{
    const struct timeline *timeline = drawing->timeline;
    const struct timeline_lane *lanes = timeline->lanes.at, *own = &lanes[drawing->lanes.at[row].lane];
    int64_t first_ns =
        timeline->left_out || !is_idle_at_first(drawing->answer) ? drawing->start_ns : drawing->end_ns;
    for (size_t i = 0; i < timeline->spans.count && first_ns > drawing->start_ns; i++) {
        const struct timeline_span *span = &timeline->spans.at[i];
        if (lanes[span->lane].place == TIMELINE_DEVICE && lanes[span->lane].strip == own->strip &&
            span->start_ns < first_ns)
            first_ns = span->start_ns;
    }
    return (struct timeline_span){ .start_ns = drawing->start_ns,
                                   .dur_ns = first_ns > drawing->start_ns && first_ns < drawing->end_ns
                                                 ? first_ns - drawing->start_ns
                                                 : 0 };
}

/* The idle time of the device of ROW, hatched, with the cause of the longest. */
static void append_gap(struct step_drawing *drawing, size_t row, int y)
{
    const struct timeline *timeline = drawing->timeline;
    const struct timeline_span before = before_first_work(drawing, row),
                               *longest = before.dur_ns ? &before : NULL;
    append_idle(drawing, before.start_ns, before.start_ns + before.dur_ns, y);
    for (size_t i = 0; i < drawing->spans.count; i++) {
        const struct timeline_span *span = drawing->spans.at[i];
        if (!is_idle_kind(timeline, span->kind) || step_part_of(drawing, span) == 0 ||
            !is_idle_lane_of(drawing, span->lane, row))
            continue;
        append_idle(drawing, span->start_ns, span->start_ns + span->dur_ns, y);
        longest = !longest || step_part_of(drawing, span) > step_part_of(drawing, longest) ? span : longest;
    }
    if (!longest)
        return;
    const char *cause =
        longest == &before ? "before its first work" : timeline->kinds.at[longest->kind].title;
    struct buffer length = { 0 };
    figure_add_value(&length, TABLE_NS, (double)step_part_of(drawing, longest));
    double from = column_of(drawing, longest->start_ns),
           wide = column_of(drawing, longest->start_ns + longest->dur_ns) - from;
    for (int brief = 0; brief < 3;
         brief++) { /* the cause is worth more than the length, which the axis shows */
        struct buffer words = { 0 };
        if (brief == 0)
            buffer_printf(&words, "gap of %s, %s%s", length.at, longest == &before ? "" : "mostly ", cause);
        else
            buffer_printf(&words, "%s%s%s", brief == 1 ? length.at : "", brief == 1 ? ", " : "", cause);
        double width = letters_width(words.at, words.count), room = wide,
               x = place_words(drawing, drawing->lanes.at[row].line, LEFT + from, &room, width);
        if (width <= room) {
            page_add_label(drawing->out, x, y + 14, width, words.at, words.count);
            brief = 3;
        }
        buffer_release(&words);
    }
    buffer_release(&length);
}

/* The name of what takes longest in ROW, of the host, in its box. */
static void append_longest(struct step_drawing *drawing, size_t row, int y)
{
    const struct timeline *timeline = drawing->timeline;
    size_t lane = drawing->lanes.at[row].lane;
    const struct timeline_span *longest = NULL;
    for (size_t i = 0; i < drawing->spans.count; i++) {
        const struct timeline_span *span = drawing->spans.at[i];
        if (span->lane == lane && !is_mark(drawing, span) && step_part_of(drawing, span) > 0 &&
            (!longest || step_part_of(drawing, span) > step_part_of(drawing, longest)))
            longest = span;
    }
    if (!longest)
        return;
    const char *name = names_text(timeline->names, longest->name);
    size_t len = strlen(name);
    double from = column_of(drawing, longest->start_ns),
           room = column_of(drawing, longest->start_ns + longest->dur_ns) - from,
           x = place_words(drawing, drawing->lanes.at[row].line, LEFT + from, &room,
                           letters_width(name, len));
    append_label(drawing, x, y, name, room);
}

/* ---- calls within calls ---- */

/* The calls of LANE in the step, by time: of a thread with operators these and annotations alone, else Python functions, too. */
static struct nested_spans nested_of_lane(const struct step_drawing *drawing, size_t lane)
{
    static const struct key by_start[] = { ASC(struct nested_span, start_ns),
                                           DESC(struct nested_span, dur_ns), KEY_END };
    const struct timeline *timeline = drawing->timeline;
    struct nested_spans calls = { 0 };
    bool operators = false;
    for (int pass = 0; pass < 2; pass++)
        for (size_t i = 0; i < drawing->spans.count; i++) {
            const struct timeline_span *span = drawing->spans.at[i];
            const char *kind = timeline->kinds.at[span->kind].title;
            if (span->lane != lane || is_mark(drawing, span) || is_idle_kind(timeline, span->kind))
                continue;
            if (pass == 0)
                operators |= strcmp(kind, "operators") == 0;
            else if (!span->folded && !(operators && strcmp(kind, "Python") == 0))
                *VEC_PUSH(&calls) = (struct nested_span){ span, span->start_ns, span->dur_ns, 0 };
        }
    SORT(&calls, by_start);
    int64_t until_ns[MOST_LINES] = { 0 };
    for (size_t i = 0; i < calls.count; i++) {
        struct nested_span *call = &calls.at[i];
        while (call->level < MOST_LINES && until_ns[call->level] > call->start_ns)
            call->level++;
        if (call->level < MOST_LINES)
            until_ns[call->level] = call->start_ns + call->dur_ns;
    }
    return calls;
}

/* The level of SPAN among the calls of LANE that are drawn; 0: it is not among them. */
static size_t level_of(const struct step_drawing *drawing, const struct step_lane *lane,
                       const struct timeline_span *span)
{
    struct nested_spans calls = { 0 };
    size_t level = 0;
    if (lane->nested)
        calls = nested_of_lane(drawing, lane->lane);
    for (size_t i = 0; i < calls.count; i++)
        if (calls.at[i].span == span)
            level = calls.at[i].level < lane->lines ? calls.at[i].level : lane->lines - 1;
    VEC_FREE(&calls);
    return level;
}

/* The longest time in which no call of LANE's thread runs; each such time hatched at Y in OUT, unless that is NULL. */
static void longest_unrecorded(const struct step_drawing *drawing, const struct step_lane *lane,
                               struct buffer *out, int y, int64_t *start_ns, int64_t *end_ns)
{
    VEC_OF(struct nested_span) all = { 0 };
    static const struct key by_start[] = { ASC(struct nested_span, start_ns), KEY_END };
    for (size_t i = 0; i < drawing->spans.count; i++) {
        const struct timeline_span *span = drawing->spans.at[i];
        if (span->lane == lane->lane && !is_mark(drawing, span))
            *VEC_PUSH(&all) = (struct nested_span){ span, span->start_ns, span->dur_ns, 0 };
    }
    SORT(&all, by_start);
    int64_t until_ns = drawing->start_ns, longest_ns = 0, longest_start_ns = 0;
    for (size_t i = 0; i <= all.count; i++) {
        int64_t next_ns =
            i < all.count && all.at[i].start_ns < drawing->end_ns ? all.at[i].start_ns : drawing->end_ns;
        double from = column_of(drawing, until_ns), to = column_of(drawing, next_ns);
        if (out && next_ns > until_ns && to - from >= 2)
            buffer_printf(out, "<rect class=\"idle\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                          LEFT + from, y, to - from, LANE_HEIGHT);
        if (next_ns - until_ns > longest_ns) {
            longest_ns = next_ns - until_ns;
            longest_start_ns = until_ns;
        }
        if (i < all.count && all.at[i].start_ns + all.at[i].dur_ns > until_ns)
            until_ns = all.at[i].start_ns + all.at[i].dur_ns;
    }
    VEC_FREE(&all);
    *start_ns = longest_start_ns;
    *end_ns = longest_start_ns + longest_ns;
}

/* Where no call of the lane's thread runs, hatched, with how long the longest of these is. */
static void append_unrecorded(struct step_drawing *drawing, const struct step_lane *lane, int y)
{
    int64_t longest_start_ns, longest_end_ns;
    longest_unrecorded(drawing, lane, drawing->out, y, &longest_start_ns, &longest_end_ns);
    int64_t longest_ns = longest_end_ns - longest_start_ns;
    struct buffer words = { 0 };
    buffer_puts(&words, "nothing recorded, ");
    figure_add_value(&words, TABLE_NS, (double)longest_ns);
    double from = column_of(drawing, longest_start_ns),
           room = column_of(drawing, longest_start_ns + longest_ns) - from,
           width = letters_width(words.at, words.count),
           x = place_words(drawing, lane->line, LEFT + from, &room, width);
    if (longest_ns > 0 && width <= room)
        page_add_label(drawing->out, x, y + 14, width, words.at, words.count);
    buffer_release(&words);
}

/* The calls of LANE, a line for each level: a box for each that is wide enough, with its name. */
static void append_nested(struct step_drawing *drawing, const struct step_lane *lane)
{
    const struct timeline *timeline = drawing->timeline;
    struct nested_spans calls = nested_of_lane(drawing, lane->lane);
    const double seen = 2;
    append_unrecorded(drawing, lane, TOP + (int)lane->line * LANE_EVERY);
    for (size_t level = 0; level < lane->lines; level++) {
        int y = TOP + (int)(lane->line + level) * LANE_EVERY;
        double drawn = -1; /* the right edge of the last narrow box */
        for (size_t i = 0; i < calls.count; i++) {
            const struct timeline_span *span = calls.at[i].span;
            double from = column_of(drawing, span->start_ns),
                   to = column_of(drawing, span->start_ns + span->dur_ns);
            if (calls.at[i].level != level || (to - from < seen && from < drawn))
                continue;
            if (to - from < seen)
                drawn = from + seen / 2;
            buffer_printf(drawing->out,
                          "<rect class=\"c%d\" x=\"%.1f\" y=\"%d\" width=\"%.1f\" height=\"%d\"/>",
                          (int)timeline->kinds.at[span->kind].color, LEFT + from, y,
                          to - from < seen ? seen / 2 : to - from - seen / 4, LANE_HEIGHT);
            const char *name = names_text(timeline->names, span->name);
            double room = to - from, x = place_words(drawing, lane->line + level, LEFT + from, &room,
                                                     letters_width(name, strlen(name)));
            append_label(drawing, x, y, name, room);
        }
    }
    VEC_FREE(&calls);
}

/* ---- where findings are ---- */

/* Where finding I is, in LINE, from START_NS to END_NS: a pin at its begin, in the middle of what is narrower than that. */
static void push_pin(struct step_drawing *drawing, size_t i, size_t line, int64_t start_ns, int64_t end_ns)
{
    double from = column_of(drawing, start_ns), wide = column_of(drawing, end_ns) - from,
           x = LEFT + from + (wide < 20 ? wide / 2 : 10), most = LEFT + COLUMNS - 10;
    x = x < LEFT + 10 ? LEFT + 10 : x < most ? x : most;
    for (size_t k = 0; k < drawing->pins.count; k++) /* beside others */
        if (drawing->pins.at[k].line == line && fabs(drawing->pins.at[k].x - x) < 20)
            x = drawing->pins.at[k].x + 20 < most ? drawing->pins.at[k].x + 20 : drawing->pins.at[k].x - 20;
    *VEC_PUSH(&drawing->pins) = (struct step_pin){ .number = i + 1, .line = line, .x = x };
}

/* Is the event NAME, or the idle time of that cause, PLACE of FINDING; NULL: what WHERE begins with? */
static bool is_place_of(const struct answer_finding *finding, const char *place, const char *name)
{
    size_t len = strlen(name);
    if (place)
        return strcmp(place, name) == 0 || (strncmp(place, "idle: ", 6) == 0 && strcmp(place + 6, name) == 0);
    return finding->where && len && strncmp(finding->where, name, len) == 0 &&
           strchr(",;: ", finding->where[len]) != NULL;
}

/* Finding I is where the longest of its events in the step is drawn, of PLACE. False: none is. */
static bool add_pin_at(struct step_drawing *drawing, size_t i, const char *place)
{
    const struct timeline *timeline = drawing->timeline;
    const struct timeline_span *longest = NULL;
    const struct step_lane *lane = NULL;
    for (size_t s = 0; s < drawing->spans.count; s++) {
        const struct timeline_span *span = drawing->spans.at[s];
        const char *name = is_idle_kind(timeline, span->kind) ? timeline->kinds.at[span->kind].title
                                                              : names_text(timeline->names, span->name);
        if (step_part_of(drawing, span) == 0 ||
            (longest && step_part_of(drawing, span) <= step_part_of(drawing, longest)) ||
            !is_place_of(&drawing->answer->findings.at[i], place, name))
            continue;
        for (size_t l = 0; l < drawing->lanes.count; l++)
            if (is_drawn_in(drawing, span->lane, &drawing->lanes.at[l]) ||
                (is_idle_kind(timeline, span->kind) && is_idle_lane_of(drawing, span->lane, l))) {
                longest = span;
                lane = &drawing->lanes.at[l];
            }
    }
    if (!longest || !lane)
        return false;
    push_pin(drawing, i, lane->line + level_of(drawing, lane, longest), longest->start_ns,
             longest->start_ns + longest->dur_ns);
    return true;
}

/* Finding I in one of its places, else, where it is about what was not recorded, in the longest time of that on a thread; the first, where
 * it is about the rank that is drawn, at its longest operator. False: it is not drawn. */
static bool add_pin(struct step_drawing *drawing, size_t i)
{
    const struct timeline_span *longest = NULL;
    const struct answer_finding *finding = &drawing->answer->findings.at[i];
    if (add_pin_at(drawing, i, finding->place) ||
        (finding->place && !finding->also[0] && add_pin_at(drawing, i, NULL)))
        return true;
    for (size_t k = 0; k < sizeof finding->also / sizeof *finding->also && finding->also[k]; k++)
        if (add_pin_at(drawing, i, finding->also[k]))
            return true;
    for (size_t l = 0; l < drawing->lanes.count && finding->unrecorded; l++)
        if (drawing->lanes.at[l].nested) {
            int64_t start_ns, end_ns;
            longest_unrecorded(drawing, &drawing->lanes.at[l], NULL, 0, &start_ns, &end_ns);
            push_pin(drawing, i, drawing->lanes.at[l].line, start_ns, end_ns);
            return true;
        }
    for (size_t s = 0; s < drawing->spans.count && i == 0 && drawing->answer->has_rank; s++) {
        const struct timeline_span *span = drawing->spans.at[s];
        if (span->lane == drawing->lanes.at[0].lane &&
            strcmp(drawing->timeline->kinds.at[span->kind].title, "operators") == 0 &&
            (!longest || step_part_of(drawing, span) > step_part_of(drawing, longest)))
            longest = span;
    }
    if (longest)
        push_pin(drawing, i, drawing->lanes.at[0].line + level_of(drawing, &drawing->lanes.at[0], longest),
                 longest->start_ns, longest->start_ns + longest->dur_ns);
    return longest != NULL;
}

static void append_pin(struct step_drawing *drawing, const struct step_pin *pin)
{
    int y = TOP + (int)pin->line * LANE_EVERY + LANE_HEIGHT / 2;
    buffer_printf(drawing->out,
                  "<g class=\"pin\"><circle cx=\"%.1f\" cy=\"%d\" r=\"9\"/><text x=\"%.1f\" y=\"%d\" "
                  "text-anchor=\"middle\">%zu</text></g>",
                  pin->x, y, pin->x, y + 4, pin->number);
}

/* ---- the whole ---- */

static void append_axis(struct step_drawing *drawing, int bottom)
{
    enum { MARKS = 5 };
    for (int i = 0; i <= MARKS; i++) {
        double x = LEFT + (double)COLUMNS * i / MARKS;
        buffer_printf(
            drawing->out,
            "<line class=\"grid\" x1=\"%.1f\" x2=\"%.1f\" y1=\"14\" y2=\"%d\"/><text class=\"tick\" x=\"%.1f\" "
            "y=\"10\" text-anchor=\"%s\">",
            x, x, bottom, x,
            i == 0       ? "start"
            : i == MARKS ? "end"
                         : "middle");
        figure_add_value(drawing->out, TABLE_NS, (double)(drawing->end_ns - drawing->start_ns) * i / MARKS);
        buffer_puts(drawing->out, "</text>");
    }
}

/* The name of LANE for people: a thread with a name and a number that tells them nothing (XLA's have 19 digits) is called by the name. */
static const char *short_lane_title(const char *title)
{
    enum { TELLING = 9 }; /* digits */
    static const char thread[] = "thread ";
    const char *number = title + strlen(thread);
    if (strncmp(title, thread, strlen(thread)) != 0)
        return title;
    size_t digits = strspn(number, "-0123456789");
    return digits > TELLING && number[digits] == ' ' && number[digits + 1] ? number + digits + 1 : title;
}

static void append_lane(struct step_drawing *drawing, size_t row)
{
    const struct timeline_lane *lane = &drawing->timeline->lanes.at[drawing->lanes.at[row].lane];
    int y = TOP + (int)drawing->lanes.at[row].line * LANE_EVERY;
    struct buffer title = { 0 };
    const char *who = drawing->lanes.at[row].who, *called = short_lane_title(lane->title);
    if (who && strncmp(who, "rank ", 5) != 0) /* what it is that stands for others */
        buffer_printf(&title, "%s, as %s", who, lane->group);
    else
        buffer_printf(&title, "%s%s%.*s", who ? who : "", who ? ", " : "",
                      (int)(who                     ? strcspn(called, ",")
                            : called != lane->title ? strcspn(called, "/")
                                                    : strlen(called)),
                      called);
    size_t len = title.count, room = (size_t)((LEFT - MARGIN) / LANE_LETTER_WIDTH),
           shown = unicode_text_width(title.at, len) > room ? strcspn(title.at, "(") : len;
    while (shown > 0 && title.at[shown - 1] == ' ')
        shown--;
    struct buffer cut = { 0 };
    append_cut(&cut, title.at, shown, room);
    append_words(drawing, 0, y + 14, "lane", cut.at, cut.count);
    EACH(buffer_release, &title, &cut);
    if (drawing->lanes.at[row].nested) {
        append_nested(drawing, &drawing->lanes.at[row]);
        return;
    }
    append_boxes(drawing, &drawing->lanes.at[row], y);
    if (lane->place == TIMELINE_DEVICE)
        append_gap(drawing, row, y);
    else
        append_longest(drawing, row, y);
}

/* "number 5 of 3 to 8, rank 0, of median length": steps are called as the recording numbers them. */
static void append_number_of_step(struct step_drawing *drawing, const struct timeline_step *step,
                                  size_t count, const char *group)
{
    int64_t first = step->number, last = first;
    for (size_t i = 0; i < drawing->timeline->steps.count; i++) {
        const struct timeline_step *other = &drawing->timeline->steps.at[i];
        if (other->file != step->file || other->dur_ns <= 0 ||
            (length_in(drawing->answer, step) > 0 && length_in(drawing->answer, other) <= 0))
            continue;
        first = other->number < first ? other->number : first;
        last = other->number > last ? other->number : last;
    }
    buffer_printf(drawing->out, "number %lld", (long long)step->number);
    if (last > first)
        buffer_printf(drawing->out, " of %lld to %lld", (long long)first, (long long)last);
    int64_t length_ns = length_in(drawing->answer, step);
    buffer_printf(
        drawing->out, "%s%s%s%s; ", *group ? ", " : "", group, count > 2 ? ", of median length" : "",
        length_ns > 0 && step->dur_ns > length_ns + length_ns / 100 ? ", drawn to the end of its work" : "");
}

/* Cut the time of DRAWING, a step, to what was recorded, where that is less than half of it. Returns false otherwise. */
static bool leave_unrecorded(struct step_drawing *drawing)
{
    int64_t last_ns = drawing->start_ns;
    for (size_t i = 0; i < drawing->timeline->spans.count; i++) {
        const struct timeline_span *span = &drawing->timeline->spans.at[i];
        int64_t end_ns = span->start_ns + span->dur_ns;
        if (!is_mark(drawing, span) && end_ns > last_ns)
            last_ns = end_ns;
    }
    if (last_ns == drawing->start_ns ||
        last_ns - drawing->start_ns >= (drawing->end_ns - drawing->start_ns) / 2)
        return false;
    drawing->end_ns = last_ns;
    return true;
}

/* The first words above the picture: what it is of, PART: of as much as was recorded, and the link that opens it. */
static void append_caption(struct step_drawing *drawing, const struct timeline_step *step, size_t count,
                           const char *group, bool part)
{
    const struct timeline_excerpt *excerpt = &drawing->timeline->excerpt;
    struct buffer *out = drawing->out;
    buffer_printf(out, "<figure class=\"one-step\"><figcaption>%s <small>",
                  step ? "One step" : excerpt->title);
    if (step)
        append_number_of_step(drawing, step, count, group);
    else
        buffer_printf(out, "%s; ", excerpt->note);
    buffer_puts(out, part ? "as far as it was recorded; " : "");
    size_t said = 0;
    for (size_t i = 0; i < answer_first_findings(drawing->answer); i++)
        if (drawing->elsewhere >> i & 1)
            buffer_printf(out, "%s%zu", said++ ? ", " : "elsewhere: change ", i + 1);
    buffer_puts(out, said ? "; " : "");
    buffer_printf(out, "<a href=\"#t=%lld,%lld\">open it in the timeline</a></small></figcaption>\n",
                  (long long)(drawing->start_ns - drawing->timeline->start_ns),
                  (long long)(drawing->end_ns - drawing->start_ns));
}

/* Give each lane its lines, and return how many there are: several for each where no device is drawn, as deep as its calls are. */
static size_t lay_lanes(struct step_drawing *drawing)
{
    bool devices = false;
    size_t lines = 0;
    for (size_t i = 0; i < drawing->lanes.count; i++)
        devices |= drawing->lanes.at[i].place == TIMELINE_DEVICE;
    for (size_t i = 0; i < drawing->lanes.count; i++) {
        struct step_lane *lane = &drawing->lanes.at[i];
        size_t most = devices ? 1 : MOST_LINES / drawing->lanes.count;
        struct nested_spans calls = { 0 };
        if (most > 1)
            calls = nested_of_lane(drawing, lane->lane);
        lane->line = lines;
        lane->lines = 1;
        lane->nested = most > 1;
        for (size_t k = 0; k < calls.count; k++)
            if (calls.at[k].level < most && calls.at[k].level >= lane->lines &&
                step_part_of(drawing, calls.at[k].span) >= (drawing->end_ns - drawing->start_ns) / LEAST_PART)
                lane->lines = calls.at[k].level + 1;
        lines += lane->lines;
        VEC_FREE(&calls);
    }
    return lines;
}

static void append_drawing(struct step_drawing *drawing, size_t lines)
{
    struct buffer *out = drawing->out;
    int bottom = TOP + (int)lines * LANE_EVERY;
    buffer_printf(
        out,
        "<div class=\"chart\"><a href=\"#t=%lld,%lld\" aria-label=\"this in the timeline\"><svg "
        "viewBox=\"0 0 %d %d\" role=\"img\" aria-label=\"What the host and the devices did in it\"><defs><pattern id=\"idle\" "
        "width=\"6\" height=\"6\" patternUnits=\"userSpaceOnUse\" patternTransform=\"rotate(45)\"><rect "
        "class=\"stripe\" width=\"2\" height=\"6\"/></pattern></defs>",
        (long long)(drawing->start_ns - drawing->timeline->start_ns),
        (long long)(drawing->end_ns - drawing->start_ns), LEFT + COLUMNS, bottom);
    append_axis(drawing, bottom);
    for (size_t row = 0; row < drawing->lanes.count; row++)
        append_lane(drawing, row);
    for (size_t i = 0; i < drawing->pins.count; i++)
        append_pin(drawing, &drawing->pins.at[i]);
    buffer_puts(out, "</svg></a></div></figure>\n");
}

/* Choose what is drawn of the time of DRAWING, of the rank of GROUP, and place its pins; returns the lines that the lanes take. */
static size_t lay_out(struct step_drawing *drawing, const char *group)
{
    const struct answer *answer = drawing->answer;
    for (size_t i = 0; i < drawing->timeline->spans.count; i++)
        if (step_part_of(drawing, &drawing->timeline->spans.at[i]) > 0)
            *VEC_PUSH(&drawing->spans) = &drawing->timeline->spans.at[i];
    choose_lanes(drawing, group);
    if (!drawing->lanes.count)
        return 0;
    size_t lines = lay_lanes(drawing);
    for (size_t i = 0; i < answer_first_findings(answer); i++)
        if (!add_pin(drawing, i) && answer->findings.at[i].saves_ns > 0)
            drawing->elsewhere |= 1U << i;
    return lines;
}

void page_add_step(struct buffer *out, const struct timeline *timeline, const struct answer *answer)
{
    uint32_t file = timeline->files.count ? first_file(timeline, answer) : 0;
    size_t count = 0;
    const struct timeline_step *step =
        timeline->files.count ? median_step(timeline, answer, file, &count) : NULL;
    const struct timeline_excerpt *excerpt = &timeline->excerpt;
    struct step_drawing drawing = { .timeline = timeline, .answer = answer, .out = out };
    if (timeline->alive || timeline->side || (!step && (!excerpt->title || timeline->steps.count)))
        return;
    if (!step && answer->culprits.count == 0)
        file = excerpt->file;
    drawing.start_ns = step ? step->start_ns : excerpt->start_ns;
    drawing.end_ns = drawing.start_ns + (step ? step->dur_ns : excerpt->dur_ns);
    bool part = step && leave_unrecorded(&drawing);
    char group[32] = "";
    if (timeline->files.count > 1)
        snprintf(group, sizeof group, "rank %lld", (long long)timeline->files.at[file].rank);
    size_t lines = lay_out(&drawing, group);
    if (drawing.lanes.count) {
        append_caption(&drawing, step, count, group, part);
        append_drawing(&drawing, lines);
    }
    EACH(VEC_FREE, &drawing.lanes, &drawing.spans, &drawing.pins);
}
