/*
 * drawing.h - a step of pipelines as people draw it: a line for each rank, a numbered box for each microbatch, bubbles between.
 *
 *     struct drawing drawing;
 *     drawing_init(&drawing, job, &all_ranks, &arena);
 *     for (size_t i = 0; i < drawing.boxes.count; i++)
 *         ...                                       // from_ns to to_ns of the step, in line `line`
 *     drawing_release(&drawing);
 *
 * Drawn is the step in the middle by time. Of many ranks only the pipeline that takes longest in it is drawn.
 */
#ifndef TPA_JOB_DRAWING_H
#define TPA_JOB_DRAWING_H

#include "job/job.h"

/* LATER: of chunks behind the first of a rank. */
enum drawn_kind {
    DRAWN_BUBBLE,
    DRAWN_FORWARD,
    DRAWN_LATER_FORWARD,
    DRAWN_BACKWARD,
    DRAWN_LATER_BACKWARD,
    DRAWN_WEIGHT,
    DRAWN_COLLECTIVE,
    DRAWN_OTHER,
    DRAWN_KINDS
};

struct drawn_box {
    struct text label, tip; /* what is written in it; what it is */
    int64_t from_ns, to_ns; /* from the start of the drawing */
    int64_t line;           /* from the top */
    uint32_t kind;          /* enum drawn_kind */
};

struct drawing {
    uint32_t step;          /* its index among the steps */
    int64_t length_ns;      /* of all that is drawn */
    VEC_OF(uint32_t) lines; /* indices of ranks; OPERATION_NONE: free, between two pipelines */
    VEC_OF(struct drawn_box) boxes;
    uint32_t pipelines, drawn; /* that the step has, and how many of them are drawn */
    bool longest;              /* the one that takes longest was chosen */
    size_t left_out;           /* ranks of these that have no line */
    struct arena *texts;       /* borrowed */
};

/* Lay out JOB, which has a pipeline and must live as long, as far as its ranks are in RANKS. Texts are in
 * TEXTS. Release with drawing_release. */
void drawing_init(struct drawing *drawing, const struct job *job, const struct ranges *ranks,
                  struct arena *texts);
void drawing_release(struct drawing *drawing);

#endif
