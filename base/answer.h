/*
 * answer.h - what a report begins with: what ran, one sentence with the verdict, where the time went, what to do first.
 *
 *     struct answer *answer = result_answer(result);               // new and empty the first time
 *     answer->verdict = "92.1 % of the GPU's time is idle; ...";
 *     *VEC_PUSH(&answer->facts) = (struct answer_fact){ "GPU", "NVIDIA H100 80GB HBM3" };
 *
 * All texts are borrowed, mostly from the arena of the result, and none is escaped. A page shows it on the first screen
 * (report/page_answer.h); other printers show the tables and notices that say the same.
 */
#ifndef TPA_BASE_ANSWER_H
#define TPA_BASE_ANSWER_H

#include "base/chart.h"
#include "base/memory.h"
#include <stdint.h>

/* What ran: "Host", "node7". */
struct answer_fact {
    const char *label, *text;
};

/* A part of a bar. */
struct answer_part {
    const char *title;  /* "idle: data loading" */
    const char *figure; /* "1.203ms": what it comes to */
    double share;       /* of the bar, 0..1 */
    enum chart_color color;
    const char *section; /* key of the section of the page that has more of it; NULL: none */
};

/* A bar of the whole of something, such as a step; its parts add up to it. */
struct answer_bar {
    const char *title; /* "rank 3" */
    double length;     /* against the other bars, 0..1 */
    VEC_OF(struct answer_part) parts;
};

struct answer_step {
    const char *label; /* "12" */
    int64_t ns;
    bool worse; /* than it should be: it stands out, as does the slowest that is far from the median */
};

/* What to do, what saves most first. */
struct answer_finding {
    const char *title;   /* "the host launches work too slowly" */
    const char *saves;   /* "3.837ms, 86.7 % of a step"; NULL: it has no price */
    const char *where;   /* operator, line of source, ranks; NULL: unknown */
    const char *advice;  /* NULL: none */
    const char *command; /* that shows more; NULL: none */
    const char *section; /* of the page, as above; NULL: none */
    const char *place;   /* what it is called in the timeline; NULL: WHERE begins with that, if it is there */
    size_t
        row; /* of SECTION's first table, from 1, which the link leads to; 0: none, it leads to the section */
    bool named; /* TITLE is a name of the trace, and so may be long */
    bool good;  /* it became better: nothing to be done */
};

struct answer {
    const char *verdict; /* a sentence; NULL: none */
    VEC_OF(struct answer_fact) facts;
    const char *bars_title; /* what the bars are of */
    VEC_OF(struct answer_bar) bars;
    size_t legend; /* the bar whose figures stand below them */
    const char *steps_title;
    const char *step_word;            /* what a step is called: NULL for "step" */
    VEC_OF(struct answer_step) steps; /* in order of time */
    const char *findings_title;       /* NULL: "What to do first" */
    const char *nothing;              /* text shown if there are no findings; NULL: nothing */
    VEC_OF(struct answer_finding) findings;
};

/* Forget all; NULL is allowed. */
void answer_free(struct answer *answer);

#endif
