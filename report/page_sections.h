/* page_sections.h - what a page is made of; see page.h. */
#ifndef TPA_REPORT_PAGE_SECTIONS_H
#define TPA_REPORT_PAGE_SECTIONS_H

#include "base/answer.h"
#include "base/chart.h"
#include "base/result.h"
#include "base/timeline.h"

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
    bool live;     /* its timeline gets its events from the server that the page comes from: tpa view */
    VEC_OF(struct page_section) sections;
};

/* A table shows so many rows at first, and holds no more than so many; its footer tells how many there are. */
enum { PAGE_FIRST_ROWS = 15, PAGE_MOST_ROWS = 150 };

enum { PAGE_BUDGET = 8000000 };

#endif
