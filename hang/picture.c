/*
 * picture.c - who waits for whom, as a chart: see hang.h.
 *
 * Boxes hang below what they wait for: causes on top, then the ranks that wait for them, then those that wait for these.
 * Ranks that wait for the same box in the same operation, groups of one description together, are one box. A box that
 * stands for more ranks is wider, by the logarithm, so that one rank of ten thousand is still seen.
 */
#include "hang/hang.h"

#include <assert.h>
#include <math.h>

enum { MOST_LEVELS = 24, NO_BOX = -1, CHART_JOBS = 16 };

/* What a box stands for, as a series of the chart. */
enum part { PART_CULPRIT, PART_SUSPECT, PART_BETWEEN, PART_DIRECT, PART_INDIRECT, PART_UNKNOWN, PARTS };

static const struct {
    const char *title;
    enum chart_color color;
} parts[PARTS] = {
    [PART_CULPRIT] = { "Culprits", CHART_VERMILION },
    [PART_SUSPECT] = { "Suspects", CHART_ORANGE },
    [PART_BETWEEN] = { "No rank is named", CHART_PURPLE },
    [PART_DIRECT] = { "Wait for the box above", CHART_BLUE },
    [PART_INDIRECT] = { "Wait for those", CHART_SKY },
    [PART_UNKNOWN] = { "Wait for others", CHART_GREY },
};

struct box {
    int parent; /* NO_BOX: a root */
    enum part part;
    int64_t line;
    const char *title; /* "never entered all_to_all #45265 of ..." */
    VEC_OF(uint32_t) ranks;
    double width, from, filled;
};

struct drawing {
    struct hang_job *job;
    struct chart *chart;
    VEC_OF(struct box) boxes;
    struct names *keys; /* parent and title -> box, from `roots` on */
    int first_keyed;
    int *box_of; /* by rank */
};

static void box_add_rank(struct drawing *drawing, int box, uint32_t rank)
{
    *VEC_PUSH(&drawing->boxes.at[box].ranks) = rank;
    drawing->box_of[rank] = box;
}

static int add_box(struct drawing *drawing, int parent, enum part part, const char *title)
{
    int64_t line = parent == NO_BOX ? 0 : drawing->boxes.at[parent].line + 1;
    *VEC_PUSH(&drawing->boxes) = (struct box){ .parent = parent, .part = part, .line = line, .title = title };
    return (int)drawing->boxes.count - 1;
}

/* ---- roots ---- */

static const char *cause_title(struct drawing *drawing, const struct hang_cause *cause)
{
    SCOPED struct buffer text = { 0 };
    for (const char *at = hang_class_word(cause->class); *at; at++)
        buffer_putc(&text, *at == '_' ? ' ' : *at);
    if (cause->group != HANG_NONE) {
        buffer_puts(&text, ", ");
        hang_add_operation(&text, drawing->job, cause->group, cause->seq, cause->op);
    }
    return arena_strndup(&drawing->chart->arena, text.at, text.count);
}

static bool is_culprit(const struct hang_job *job, const struct hang_cause *cause)
{
    bool any = false;
    for (size_t i = 0; i < cause->ranks.count; i++)
        for (size_t k = 0; k < job->culprits.count && !any; k++)
            any = job->culprits.at[k] == cause->ranks.at[i];
    return any;
}

static void add_roots(struct drawing *drawing)
{
    struct hang_job *job = drawing->job;
    FOR_EACH(cause, &job->causes) {
        struct hang_ranks ranks = cause->ranks.count ? cause->ranks : cause->between;
        enum part part = cause->ranks.count == 0  ? PART_BETWEEN
                         : is_culprit(job, cause) ? PART_CULPRIT
                                                  : PART_SUSPECT;
        int root = add_box(drawing, NO_BOX, part, cause_title(drawing, cause));
        for (size_t i = 0; i < ranks.count; i++)
            if (drawing->box_of[ranks.at[i]] == NO_BOX)
                box_add_rank(drawing, root, ranks.at[i]);
        if (drawing->boxes.at[root].ranks.count == 0)
            drawing->boxes.count--; /* all of its ranks have a box */
    }
}

/* ---- those that wait ---- */

/* The box of RANK below PARENT for WAIT, created if it is new. */
static int box_below(struct drawing *drawing, int parent, const struct hang_wait *wait)
{
    const struct hang_job *job = drawing->job;
    SCOPED struct buffer title = { 0 }, key = { 0 };
    name_id op = wait->entry != HANG_NONE ? flight_op(job->flight, wait->entry)->text
                 : wait->op != HANG_NONE  ? hang_op_text(job, wait->op)
                                          : NAME_NONE;
    hang_add_operation(&title, job, wait->group, wait->seq, op);
    buffer_printf(&key, "%d %s", parent, title.at);
    name_id id = names_add(drawing->keys, key.at, key.count);
    int box = drawing->first_keyed + (int)id;
    if (box == (int)drawing->boxes.count) {
        bool direct = parent != NO_BOX && drawing->boxes.at[parent].parent == NO_BOX;
        add_box(drawing, parent,
                parent == NO_BOX ? PART_UNKNOWN
                : direct         ? PART_DIRECT
                                 : PART_INDIRECT,
                arena_strndup(&drawing->chart->arena, title.at, title.count));
    }
    return box;
}

/* By group and place in its order: the uppermost box among the members up to there; NO_BOX. */
static void find_best(const struct drawing *drawing, const struct hang_group *group, int *best)
{
    for (size_t i = 0; i < group->order_count; i++) {
        int own = drawing->box_of[group->members[group->order[i]].rank];
        assert(own == NO_BOX || drawing->boxes.at);
        best[i] = i ? best[i - 1] : NO_BOX;
        if (own != NO_BOX &&
            (best[i] == NO_BOX || drawing->boxes.at[own].line < drawing->boxes.at[best[i]].line))
            best[i] = own;
    }
}

/* The box that RANK waits for by an edge of the graph that is not a missing member; NO_BOX. */
static int find_queued(const struct drawing *drawing, uint32_t rank, uint8_t *marks)
{
    const struct hang_job *job = drawing->job;
    int found = NO_BOX;
    if (!job->waits_for_any[rank])
        return NO_BOX;
    memset(marks, 0, job->world);
    hang_graph_targets(job, rank, marks);
    for (uint32_t r = 0; r < job->world; r++)
        if (marks[r] && drawing->box_of[r] != NO_BOX &&
            (found == NO_BOX || drawing->boxes.at[drawing->box_of[r]].line < drawing->boxes.at[found].line))
            found = drawing->box_of[r];
    return found;
}

static const struct hang_wait *first_wait(const struct hang_job *job, uint32_t rank)
{
    return job->first_wait[rank + 1] > job->first_wait[rank] ? &job->waits.at[job->first_wait[rank]] : NULL;
}

/* A rank and where it belongs; added after all of a level are found. */
struct placed {
    uint32_t rank;
    int parent;
    const struct hang_wait *wait;
};

static bool add_level(struct drawing *drawing, uint8_t *marks, int **best)
{
    const struct hang_job *job = drawing->job;
    SCOPED VEC_OF(struct placed) placed = { 0 };
    for (size_t g = 0; g < job->groups.count; g++)
        find_best(drawing, &job->groups.at[g], best[g]);
    for (uint32_t r = 0; r < job->world; r++) {
        struct placed place = { r, NO_BOX, NULL };
        for (size_t w = job->first_wait[r]; w < job->first_wait[r + 1] && drawing->box_of[r] == NO_BOX; w++) {
            const struct hang_wait *wait = &job->waits.at[w];
            int box = wait->missing == 0          ? NO_BOX
                      : wait->seq == HANG_UNKNOWN ? drawing->box_of[wait->peer]
                                                  : best[wait->group][wait->missing - 1];
            if (box != NO_BOX && (place.parent == NO_BOX ||
                                  drawing->boxes.at[box].line < drawing->boxes.at[place.parent].line)) {
                place.parent = box;
                place.wait = wait;
            }
        }
        if (drawing->box_of[r] == NO_BOX && place.parent == NO_BOX && first_wait(job, r)) {
            place.parent = find_queued(drawing, r, marks);
            place.wait = first_wait(job, r);
        }
        if (place.parent != NO_BOX)
            *VEC_PUSH(&placed) = place;
    }
    for (size_t i = 0; i < placed.count; i++)
        box_add_rank(drawing, box_below(drawing, placed.at[i].parent, placed.at[i].wait), placed.at[i].rank);
    return placed.count > 0;
}

/* Ranks that wait for a mismatch have no edge: they are below it. */
static void add_mismatched(struct drawing *drawing)
{
    const struct hang_job *job = drawing->job;
    FOR_EACH(cause, &job->causes) {
        if (cause->ranks.count == 0 ||
            (cause->class > HANG_MISMATCH_SIZE && cause->class != HANG_NOT_STARTED))
            continue;
        int root = drawing->box_of[cause->ranks.at[0]];
        for (size_t i = 0; i < cause->direct.count; i++) {
            uint32_t rank = cause->direct.at[i];
            const struct hang_wait *wait = first_wait(job, rank);
            if (drawing->box_of[rank] == NO_BOX && wait)
                box_add_rank(drawing, box_below(drawing, root, wait), rank);
        }
    }
}

static void add_waiting(struct drawing *drawing)
{
    const struct hang_job *job = drawing->job;
    SCOPED uint8_t *marks = mem_zalloc((size_t)job->world + 1, 1);
    int **best = mem_zalloc(job->groups.count + 1, sizeof *best);
    for (size_t g = 0; g < job->groups.count; g++)
        best[g] = mem_alloc(mem_times(job->groups.at[g].order_count + 1, sizeof **best));
    drawing->first_keyed = (int)drawing->boxes.count;
    add_mismatched(drawing);
    for (int level = 0; level < MOST_LEVELS && add_level(drawing, marks, best); level++)
        ;
    for (uint32_t r = 0; r < job->world; r++)
        if (drawing->box_of[r] == NO_BOX && first_wait(job, r))
            box_add_rank(drawing, box_below(drawing, NO_BOX, first_wait(job, r)), r);
    for (size_t g = 0; g < job->groups.count; g++)
        free(best[g]);
    free(best);
}

/* ---- places ---- */

static void place_boxes(struct drawing *drawing)
{
    double end = 0;
    for (size_t b = 0; b < drawing->boxes.count; b++)
        drawing->boxes.at[b].width = 1 + log2((double)drawing->boxes.at[b].ranks.count);
    for (size_t b = drawing->boxes.count; b-- > 0;) { /* a box is created after its parent */
        struct box *box = &drawing->boxes.at[b];
        box->width = box->filled > box->width ? box->filled : box->width;
        if (box->parent != NO_BOX)
            drawing->boxes.at[box->parent].filled += box->width;
    }
    for (size_t b = 0; b < drawing->boxes.count; b++)
        drawing->boxes.at[b].filled = 0;
    FOR_EACH(box, &drawing->boxes) {
        double *filled = box->parent == NO_BOX ? &end : &drawing->boxes.at[box->parent].filled;
        box->from = *filled + (box->parent == NO_BOX ? 0 : drawing->boxes.at[box->parent].from);
        *filled += box->width;
    }
}

struct box_row {
    struct text name;
    double from, to;
    int64_t line;
    struct text tick;
};

static const struct table_column columns[] = {
    COLUMN(struct box_row, name, "name", "Ranks", TABLE_NAME, "the ranks, and what they wait in"),
    COLUMN(struct box_row, from, "from", "From", TABLE_NUMBER, "left edge"),
    COLUMN(struct box_row, to, "to", "To", TABLE_NUMBER, "right edge"),
    COLUMN(struct box_row, line, "line", "Line", TABLE_COUNT, "how many boxes are above it"),
    COLUMN(struct box_row, tick, "tick", "Tick", TABLE_TEXT, "nothing: the width has no unit"),
};

static void draw_boxes(struct drawing *drawing)
{
    struct table *tables[PARTS] = { NULL };
    SCOPED struct buffer name = { 0 };
    double end = 0;
    FOR_EACH(box, &drawing->boxes) {
        if (!tables[box->part])
            tables[box->part] = chart_add_table(
                drawing->chart, TABLE_OF_ROWS("boxes", NULL, columns, (struct box_row *)NULL, 0));
        buffer_clear(&name);
        hang_add_rank_words(&name, (struct hang_ranks){ box->ranks.at, box->ranks.count }, false);
        buffer_printf(&name, ": %s", box->title);
        struct box_row row = {
            { name.at, name.count }, box->from, box->from + box->width, box->line, { "", 0 }
        };
        table_add_rows(tables[box->part], &row, 1, sizeof row);
        end = row.to > end ? row.to : end;
    }
    for (size_t part = 0; part < PARTS; part++)
        if (tables[part])
            chart_add_series(drawing->chart, (struct chart_series){ .title = parts[part].title,
                                                                    .mark = CHART_BOX,
                                                                    .color = parts[part].color,
                                                                    .table = tables[part],
                                                                    .x = 2,
                                                                    .y = 3,
                                                                    .low = 1 });
    drawing->chart->x = (struct chart_axis){
        .kind = TABLE_NUMBER, .has_least = true, .has_most = true, .most = end, .names = 4
    };
    drawing->chart->y = (struct chart_axis){ .kind = TABLE_COUNT };
}

static void draw_job(struct picture *picture, struct hang_job *job, size_t number)
{
    const char *key = arena_printf(&picture->arena, "hang%zu", number);
    const char *title = *job->name ? arena_printf(&picture->arena, "Who waits for whom: %s", job->name)
                                   : "Who waits for whom";
    struct drawing drawing = { .job = job, .keys = names_open() };
    drawing.chart = picture_add_chart(picture, key, title);
    drawing.chart->note = "Each box waits for the box above it; equal ranks are one box.";
    drawing.box_of = mem_alloc(mem_times((size_t)job->world + 1, sizeof *drawing.box_of));
    for (uint32_t r = 0; r < job->world; r++)
        drawing.box_of[r] = NO_BOX;
    add_roots(&drawing);
    add_waiting(&drawing);
    if (drawing.boxes.count == 0) {
        picture_drop_chart(picture);
    } else {
        place_boxes(&drawing);
        draw_boxes(&drawing);
    }
    for (size_t b = 0; b < drawing.boxes.count; b++)
        VEC_FREE(&drawing.boxes.at[b].ranks);
    VEC_FREE(&drawing.boxes);
    names_free(drawing.keys);
    free(drawing.box_of);
}

struct picture *hang_picture(struct hang *hang)
{
    struct picture *picture =
        picture_open("hang", hang_worst(hang) == HANG_STUCK ? "Stuck job" : "Waiting job");
    for (size_t j = 0; j < hang->jobs.count && picture->charts.count < CHART_JOBS; j++)
        if (hang->jobs.at[j]->state > HANG_MOVING) /* else nobody waits for anybody */
            draw_job(picture, hang->jobs.at[j], j + 1);
    if (picture->charts.count)
        return picture;
    picture_free(picture);
    return NULL;
}
