/* pictures.c - the schedule of a job as a chart and as a table of characters: see job.h. */
#include "job/job.h"
#include <inttypes.h>
#include <math.h>

static const struct {
    const char *title, *sign;
    enum chart_color color;
} kinds[DRAWN_KINDS] = {
    [DRAWN_BUBBLE] = { "Bubble", "\u2571", CHART_COLOR_OF_IDLE },
    [DRAWN_FORWARD] = { "Forward", "\u2588", CHART_BLUE },
    [DRAWN_LATER_FORWARD] = { "Forward, later chunks", "\u2593", CHART_SKY },
    [DRAWN_BACKWARD] = { "Backward", "\u2592", CHART_GREEN },
    [DRAWN_LATER_BACKWARD] = { "Backward, later chunks", "\u2591", CHART_OLIVE },
    [DRAWN_WEIGHT] = { "Gradients of weights", "\u2584", CHART_PURPLE },
    [DRAWN_COLLECTIVE] = { "Collectives", "\u2500", CHART_COLOR_OF_COMMUNICATION },
    [DRAWN_OTHER] = { "Optimizer and other", "\u2550", CHART_COLOR_OF_OTHER },
};

/* ---- a chart ---- */

static const struct table_column box_columns[] = {
    COLUMN(struct drawn_box, label, "label", "Label", TABLE_NAME, "number of the microbatch"),
    COLUMN(struct drawn_box, tip, "what", "What", TABLE_NAME, "what the rank does"),
    COLUMN(struct drawn_box, from_ns, "from", "From", TABLE_NS, "from the start of the step"),
    COLUMN(struct drawn_box, to_ns, "to", "To", TABLE_NS, "from the start of the step"),
    COLUMN(struct drawn_box, line, "line", "Line", TABLE_COUNT, "from the top"),
};

/* "4, stage 0": the stage unless all ranks have the number of theirs. */
static const char *name_line(const struct operations *all, uint32_t rank, struct arena *texts)
{
    bool same = true;
    for (size_t r = 0; r < all->ranks.count; r++)
        same &= all->ranks.at[r].at[JOB_PP] == all->ranks.at[r].number ||
                all->ranks.at[r].at[JOB_PP] == JOB_UNKNOWN;
    const struct job_rank *of = &all->ranks.at[rank];
    return same ? arena_printf(texts, "%" PRId64, of->number)
                : arena_printf(texts, "%" PRId64 ", stage %" PRId64, of->number, of->at[JOB_PP]);
}

static const char *write_note(const struct job *job, const struct drawing *drawing, struct arena *texts)
{
    SCOPED struct buffer out = { 0 };
    if (job->whole.schedule.at)
        buffer_printf(&out, "%s, ", job->whole.schedule.at);
    buffer_printf(&out, "%" PRId64 " microbatches; bubbles are %.1f %% of the pipelines' time",
                  job->whole.microbatches, quantity_percent(job->steps.at[drawing->step].bubble_share));
    if (job->steps.count > 1)
        buffer_printf(&out, "; of %zu steps this is the one in the middle by time", job->steps.count);
    if (drawing->drawn < drawing->pipelines)
        buffer_printf(&out, "; %" PRIu32 " of %" PRIu32 " pipelines %s drawn%s", drawing->drawn,
                      drawing->pipelines, drawing->drawn == 1 ? "is" : "are",
                      drawing->longest ? ", the longest" : "");
    if (drawing->left_out)
        buffer_printf(&out, "; %zu more ranks are left out", drawing->left_out);
    return arena_strndup(texts, out.at, out.count);
}

void job_add_schedule_chart(const struct job *job, const struct ranges *ranks, struct picture *picture)
{
    if (!job->has_pipeline || !job->steps.count)
        return;
    struct drawing drawing;
    struct chart *chart = picture_add_chart(picture, "schedule", NULL);
    drawing_init(&drawing, job, ranks, &chart->arena);
    if (drawing.boxes.count) {
        chart->title = arena_printf(&chart->arena, "Microbatches of step %" PRId64 " on each rank",
                                    job->steps.at[drawing.step].step);
        chart->note = write_note(job, &drawing, &chart->arena);
        chart->x = (struct chart_axis){ .title = "Time",
                                        .kind = TABLE_NS,
                                        .has_least = true,
                                        .has_most = true,
                                        .most = (double)drawing.length_ns };
        chart->y = (struct chart_axis){ .title = "Rank", .kind = TABLE_COUNT };
        for (size_t l = 0; l < drawing.lines.count; l++)
            *VEC_PUSH(&chart->lanes) = drawing.lines.at[l] == OPERATION_NONE
                                           ? ""
                                           : name_line(job->all, drawing.lines.at[l], &chart->arena);
        for (uint32_t k = 0; k < DRAWN_KINDS; k++) {
            SCOPED VEC_OF(struct drawn_box) rows = { 0 };
            for (size_t i = 0; i < drawing.boxes.count; i++)
                if (drawing.boxes.at[i].kind == k)
                    *VEC_PUSH(&rows) = drawing.boxes.at[i];
            if (rows.count)
                chart_add_series(chart,
                                 (struct chart_series){
                                     .title = kinds[k].title,
                                     .mark = CHART_BOX,
                                     .color = kinds[k].color,
                                     .table = chart_add_table(chart, TABLE_OF_ROWS("boxes", NULL, box_columns,
                                                                                   rows.at, rows.count)),
                                     .x = 3,
                                     .y = 4,
                                     .low = 2,
                                     .tip = 1,
                                     .idle = k == DRAWN_BUBBLE });
        }
    } else {
        picture_drop_chart(picture);
    }
    EACH(VEC_FREE, &drawing.lines, &drawing.boxes);
}

struct picture *job_picture(const struct job *job)
{
    if (!job->has_pipeline || !job->steps.count)
        return NULL;
    struct picture *picture = picture_open("pipeline", "Pipeline");
    job_add_schedule_chart(job, &(struct ranges){ 0 }, picture);
    job_add_heat_chart(job, picture);
    return picture;
}

/* ---- characters ---- */

/* Add LINE of DRAWING in COLUMNS characters: each shows what covers it; where there is room a box begins with its label. */
static void add_characters(struct buffer *out, const struct drawing *drawing, int64_t line, size_t columns)
{
    const struct drawn_box **shown = mem_zalloc(columns + 1, sizeof *shown);
    double scale = (double)columns / (double)(drawing->length_ns ? drawing->length_ns : 1);
    FOR_EACH(box, &drawing->boxes) {
        size_t end = (size_t)lround((double)box->to_ns * scale);
        for (size_t c = (size_t)lround((double)box->from_ns * scale); c < end && box->line == line; c++)
            shown[c] = box;
    }
    for (size_t c = 0, end; c < columns; c = end) {
        const struct drawn_box *box = shown[c];
        for (end = c + 1; end < columns && shown[end] == box; end++)
            ;
        size_t label = box && box->label.len < end - c ? box->label.len : 0;
        if (label)
            buffer_add(out, box->label.at, label);
        for (size_t i = c + label; i < end; i++)
            buffer_puts(out, box ? kinds[box->kind].sign : " ");
    }
    free(shown);
}

void job_draw_schedule(struct job *job, size_t columns)
{
    if (!job->has_pipeline || !job->steps.count)
        return;
    struct drawing drawing;
    SCOPED struct buffer out = { 0 };
    SCOPED_ARENA struct arena texts = { 0 };
    drawing_init(&drawing, job, &(struct ranges){ 0 }, &texts);
    for (size_t l = 0; l < drawing.lines.count; l++) {
        if (drawing.lines.at[l] == OPERATION_NONE)
            continue;
        const struct job_rank *rank = &job->all->ranks.at[drawing.lines.at[l]];
        buffer_clear(&out);
        add_characters(&out, &drawing, (int64_t)l, columns);
        *VEC_PUSH(&job->lines) =
            (struct job_line_row){ job->steps.at[drawing.step].step,
                                   rank->number,
                                   rank->at[JOB_PP] == JOB_UNKNOWN ? TABLE_INT_MISSING : rank->at[JOB_PP],
                                   { arena_strndup(arena_of(job), out.at, out.count), out.count } };
    }
    EACH(VEC_FREE, &drawing.lines, &drawing.boxes);
}
