/*
 * answer.h - the head of a report: what ran, one sentence with the verdict, where the time went, what to do first.
 *
 *     struct answer *answer = result_answer(result);               // new and empty the first time
 *     answer->verdict = "92.1 % of the GPU's time is idle; ...";
 *     *VEC_PUSH(&answer->facts) = (struct answer_fact){ "GPU", "NVIDIA H100 80GB HBM3" };
 *
 * All texts are borrowed, mostly from the arena of the result, and not escaped. An HTML page shows it on the first
 * screen (report/page_parts.h), and so does text where IN_TEXT (report/text_answer.h); other printers show the tables and notices
 * with the same content.
 */
#ifndef TPA_BASE_ANSWER_H
#define TPA_BASE_ANSWER_H

#include "base/chart.h"

/* An item of what ran: "Host", "node7". */
struct answer_fact {
    const char *label, *text;
};

/* A part of a bar. */
struct answer_part {
    const char *title;  /* "idle: data loading" */
    const char *figure; /* "1.203ms": its amount */
    double share;       /* of the bar, 0..1 */
    enum chart_color color;
    const char *section; /* key of the page section with details; NULL: none */
    const char *name;    /* of memory: the line of code, as a timeline names it; NULL: it is all others */
};

/* A bar that shows a whole, such as a step; its parts add up to it. */
struct answer_bar {
    const char *title; /* "rank 3" */
    double length;     /* length relative to the other bars, 0..1 */
    VEC_OF(struct answer_part) parts;
};

struct answer_step {
    const char *label; /* "12" */
    int64_t ns;
    int64_t start_ns; /* from the origin of its file; below 0: it has no place in a timeline */
    bool worse;       /* longer than expected: it stands out, or it is the slowest and far from the median */
};

/* A figure over the runs of a store, and where a run without any change is expected. */
struct answer_run {
    const char *label;       /* "run 11, 2026-11-11 03:00:00, commit c11, NEW" */
    const char *tick;        /* "2026-11-11 c11" */
    double level, low, high; /* LOW and HIGH: NaN where nothing is expected */
    bool worse;
};

struct answer_trend {
    const char *title; /* "step time" */
    enum table_kind kind;
    VEC_OF(struct answer_run) runs; /* the oldest first */
};

/* What a section of the page is about, in one figure: "44.0 %" of "gaps". */
struct answer_figure {
    const char *section, *text;
};

/* An operator or kernel that takes long. */
struct answer_row {
    const char *name;
    int64_t ns;
    double share; /* of all of them, 0..1 */
};

/* An action to take; the largest saving first. */
struct answer_finding {
    const char *title;  /* "the host launches work too slowly" */
    const char *action; /* "Launch work in fewer calls"; NULL: TITLE is shown */
    const char *was,
        *code;           /* a line of the user's code before and after; NULL: it is new, or none is known */
    int64_t saves_ns;    /* of the time that FROM_NS of the answer is; 0: has no price */
    const char *saves;   /* "3.837ms, 86.7 % of a step"; NULL: no saving known */
    const char *gain;    /* SAVES in few words: "up to 3.837ms, 86.7 %"; NULL: SAVES is */
    const char *where;   /* operator, line of source, ranks; NULL: unknown */
    const char *advice;  /* NULL: none */
    const char *command; /* command that shows more; NULL: none */
    const char *section; /* link into the page, as above; NULL: none */
    /* its name in the timeline; NULL: WHERE begins with the name, if it is in the timeline */
    const char *place, *also[2]; /* ALSO: other names, where none of these is */
    /* row of SECTION's first table, from 1, that the link leads to; 0: none, it leads to the section */
    size_t row;
    bool unrecorded; /* it is where nothing was recorded of the host */
    bool named;      /* TITLE contains a name from the trace and may be long */
    bool good;       /* an improvement: nothing to do */
    bool of_ranks;   /* it is about ranks that hold up others */
};

/* A rank for which the others of its job wait, or several that matter less. */
struct answer_culprit {
    const char *who, *host; /* "rank 9", "node1"; HOST NULL: not known */
    const char *grew;       /* "data loading": what it did longer than others; NULL: not known */
    const char *habit;      /* "in most steps"; NULL: not known */
    int64_t waited_ns;      /* others, for it */
    int64_t each_ns;        /* of that, each of the others in each step; 0: there are none */
    double share;           /* of all waiting, 0..1 */
};

struct answer {
    const char *headline; /* VERDICT in short; NULL: VERDICT is shown */
    const char *verdict;  /* a sentence; NULL: none */
    const char *because;  /* what VERDICT says beyond HEADLINE; NULL: VERDICT is shown below HEADLINE */
    int64_t from_ns,
        to_ns; /* "174.886ms -> 102.542ms": now and with the first finding, or before and after; 0: none */
    int64_t together_ns; /* FROM_NS with all findings; 0: not known */
    int64_t alone_ns;    /* what all findings save alone, added up */
    size_t
        last_change; /* number of the last finding that has a part in TOGETHER_NS, from 1, shown or not; 0: there is none */
    const char *change_note; /* what FROM_NS and TO_NS are */
    VEC_OF(struct answer_fact) facts;
    const char *bars_title;   /* what the bars show */
    int64_t bars_ns;          /* how long that is; 0: not known */
    const char *now_and_then; /* "A step takes 176.535ms -> 116.714ms at best"; NULL: it is not known */
    const char *
        bars_of; /* what the bars show, behind NOW_AND_THEN: "what the GPUs did in it"; NULL: as BARS_TITLE says */
    VEC_OF(struct answer_bar) bars;
    const char *phases; /* "By phase: forward 31.2 %, backward 44.0 % ...", below the bars; NULL: not known */
    const char
        *pattern;  /* "Every 5th step waits for the device: ...", below the bars; NULL: nothing to say */
    size_t legend; /* the bar whose values are shown below the bars */
    bool has_rank; /* RANK is known: the one whose step is drawn, as it holds the others up */
    int64_t rank;
    const char *curve_of; /* the timeline whose memory in use is drawn; NULL: none */
    const char *steps_title;
    int64_t steps_median_ns;          /* of those that count; 0: of all */
    const char *step_word;            /* name of a step: NULL for "step" */
    VEC_OF(struct answer_step) steps; /* in order of time */
    VEC_OF(struct answer_trend) trends;
    const char *findings_title; /* NULL: "What to do first" */
    const char *nothing;        /* text to show if there are no findings; NULL: none */
    VEC_OF(struct answer_finding) findings;
    size_t more_findings;    /* that are not among these */
    const char *together;    /* what all of them save; NULL: they are less than two */
    const char *unexplained; /* idle time for which there is no finding; NULL: there is none */
    const char *blind;       /* what could not be looked at, and how to record it; NULL: all was */
    const char
        *rows_word; /* what the rows are, where text shows them: "Operators"; NULL: the bar shows them */
    bool in_text;   /* text for people shows this instead of the tables, unless these are requested */
    VEC_OF(struct answer_figure) figures;
    VEC_OF(struct answer_culprit) culprits; /* of a job of ranks, the worst first */
    const char *rows_title, *rows_section;  /* NULL: none */
    VEC_OF(struct answer_row) rows;         /* what takes longest */
};

/* A first screen has room for so many findings. */
enum { ANSWER_FIRST_FINDINGS = 3 };

/* How many findings of ANSWER a first screen shows. */
static inline size_t answer_first_findings(const struct answer *answer)
{
    return answer->findings.count < ANSWER_FIRST_FINDINGS ? answer->findings.count : ANSWER_FIRST_FINDINGS;
}

/* Empty ANSWER; NULL is allowed. */
void answer_free(struct answer *answer);

#endif
