/* page_parts.h - what the files of the page share. */
#ifndef TPA_REPORT_PAGE_PARTS_H
#define TPA_REPORT_PAGE_PARTS_H

#include "base/result.h"
#include "base/timeline.h"
#include "report/apart.h"
#include "base/escape.h"

/* what a page is made of; see page.h. */

struct page_section {
    const char *key;   /* the anchor, "gaps" */
    const char *title; /* "Idle gaps"; NULL: it has no heading and is not listed on top */
    const char *intro; /* a sentence or two; NULL: none */
    const char *more;  /* the command that tells more, "tpa gaps"; NULL: none */
    const char
        *figure; /* the one that stands beside the title, "44.0 %"; NULL: how many rows its first table has */
    VEC_OF(const struct table *) tables;
    VEC_OF(const struct picture *) pictures;
    VEC_OF(const struct timeline *) timelines;
    VEC_OF(const struct flame *) flames;
    const struct twin_tree *twins; /* NULL: none */
    VEC_OF(struct table_notice) notices;
};

struct page {
    const char *maker;           /* "tpa report" */
    const char *title;           /* name of the file */
    const char *subtitle;        /* NULL: none */
    const struct answer *answer; /* the first screen; NULL: none */
    size_t budget; /* bytes that it should not pass: of timelines as much is kept as fits; 0: PAGE_BUDGET */
    /* JSON that the script of tpa view begins with: its timeline gets its events from the server that the page comes from.
     * NULL: it has its events. */
    const struct buffer *live;
    VEC_OF(struct page_section) sections;
};

/* A table shows so many rows at first, and holds no more than so many; its footer tells how many there are. */
enum { PAGE_FIRST_ROWS = 10, PAGE_MOST_ROWS = 150 };

enum { PAGE_BUDGET = 8000000 };

/* page_answer.c - the first screen of a page: base/answer.h as HTML. For page.c. */

#define PAGE_FACT_RANKS "Ranks"

/* Append what ran, a line of labels and texts that stands below the title. Nothing when nothing is known. MISSING: what is said of
 * missing ranks, "15 of 16 ranks are here; missing: 12", whose numbers stand behind that fact; or NULL. */
void page_add_facts(struct buffer *out, const struct answer *answer, const char *missing);

/* Append the verdict, the bars and what is drawn; then, behind what else belongs there, what to do first and what takes longest.
 * Links go to the sections that PAGE has; names are as wide as NAMES has them. MISSING as above: what it says beyond the numbers. */
void page_begin_answer(struct buffer *out, const struct answer *answer, const struct page *page,
                       const char *missing);
void page_end_answer(struct buffer *out, const struct answer *answer, const struct page *page,
                     struct apart *names);

/* Append TEXT, LEN bytes, at X and the BASELINE of a drawing, on a plate of the background's colour that takes WIDTH until the script measures
 * it. */
void page_add_label(struct buffer *out, double x, int baseline, double width, const char *text, size_t len);

/*
 * page_curve.c - memory in use over time, drawn small: what held the peak, in the colours of the bar of the first screen.
 *
 *     page_add_curve(&text, timeline, 1, answer);    // nothing where TIMELINE is not that of the answer
 *
 * The picture links to the peak in the timeline, where a click lists all that was in use.
 */

/* Append the uses of TIMELINE, the page's NUMBERth from 1, stacked by the parts of the first bar of ANSWER, as a figure. */
void page_add_curve(struct buffer *out, const struct timeline *timeline, size_t number,
                    const struct answer *answer);

/* the style sheet and the script of page.h, byte for byte; cmake/embed.cmake makes page_files.c of page/. */

/* LIVE: a script behind the other, of pages that a server sends. */
extern const unsigned char page_style[], page_script[], page_live[];
extern const size_t page_style_size, page_script_size, page_live_size;

/* SHA-256 in base64, as a content security policy names them. */
extern const char page_style_hash[], page_script_hash[], page_live_hash[];

/*
 * page_names.c - the names that a page shows, each in one short form wherever it is shown: in tables, on the first screen, in trees and
 * timelines.
 *
 *     struct apart *names = page_names_of(page);
 *     ... apart_fill_names(names, &full, &shown, text, len) ...
 *     arena_free(names);
 */

/* New, with all names of PAGE; arena_free. */
struct apart *page_names_of(const struct page *page);

/* Is KIND of TIMELINE work of devices? The names of such spans are shown short. */
bool page_names_has_kind(const struct timeline *timeline, uint32_t kind);

/*
 * page_step.c - one step of a recording, drawn small: the threads of the host, the streams of devices, and where findings are.
 *
 *     page_add_step(&text, timeline, answer);    // nothing where there is no step, or no work in it
 *
 * It is a picture that links to the timeline, which shows the same stretch with all of its events.
 */

/* Append the median step of the first rank of TIMELINE, as a figure, with the numbers of the findings of ANSWER. */
void page_add_step(struct buffer *out, const struct timeline *timeline, const struct answer *answer);

/* a page being written, for the parts of page.c. */

/* Where a timeline comes, once it is known how much of the page's size the rest leaves. */
struct page_hole {
    const struct timeline *timeline;
    size_t view, offset; /* OFFSET: in the rest of the page */
};

struct writing {
    struct buffer text;
    FILE *out;
    struct tpa_error *err;
    size_t tables, views; /* so far; names of elements count up */
    struct apart *names;  /* of all of the page, as wide as a cell may be */
    VEC_OF(struct page_hole) holes;
};

/* Append MARKUP as it is. */
static inline void page_writing_emit(struct writing *page, const char *markup)
{
    buffer_puts(&page->text, markup);
}

/* Append TEXT, escaped. */
static inline void emit_text(struct writing *page, const char *text)
{
    escape_html(&page->text, text, strlen(text));
}

/* <TAG>TEXT</TAG>; nothing when there is no text. */
static inline void emit_element(struct writing *page, const char *tag, const char *text)
{
    if (!text)
        return;
    buffer_printf(&page->text, "<%s>", tag);
    emit_text(page, text);
    buffer_printf(&page->text, "</%s>\n", tag);
}

/* page_table.c - a table on a page; for page.c. */

/* The table with its tools, figures and definitions; its heading unless it is TITLED already, as by SECTION. False and the
 * error of PAGE when a write fails. */
bool page_emit_table(struct writing *page, const struct table *table, const struct page_section *section,
                     bool titled);

/* page_timeline.c - a timeline as data of a page, no larger than it may be. For page.c. */

/* Append TIMELINE as the element NUMBER of the page that is drawn by a script, with its data: at most ROOM
 * bytes of data, except what is not a span. Of the spans those that come first are kept, as they are ranked, and
 * the number of the others is shown. NAMES shorten those of work of devices, which they have. */
void page_add_timeline(struct buffer *out, const struct timeline *timeline, struct apart *names,
                       size_t number, size_t room);

/* JSON between the tags of a script element: nothing in it may end the element or begin a comment. */
void page_add_script_data(struct buffer *out, const struct buffer *json);

/*
 * page_trend.c - a figure over the runs of a store, drawn small: its level, and the band in which it is expected.
 *
 *     page_add_trend(&text, &answer->trends.at[0]);
 */

/* Append TREND as a figure; nothing where it has less than two runs. */
void page_add_trend(struct buffer *out, const struct answer_trend *trend);

/* page_twins.c - two call trees side by side on a page; for page.c. */

/* All rows, which the script folds. False and the error of PAGE when a write fails. */
bool page_emit_twins(struct writing *page, const struct twin_tree *tree);

#endif
