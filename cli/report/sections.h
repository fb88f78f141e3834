/*
 * sections.h - the sections of `tpa report` for a trace: one row each.
 *
 * The analyses with a heading are sections, which show their tables and charts; a few more are rows in sections.c.
 */
#ifndef TPA_CLI_REPORT_SECTIONS_H
#define TPA_CLI_REPORT_SECTIONS_H

#include "analyze/views.h"
#include "fleet/fleet.h"

/* The contents of one section; released by its creator. */
struct report_content {
    struct result *result;     /* tables and notices */
    struct picture *picture;   /* charts */
    struct timeline *timeline; /* NULL: none */
    struct views *views;       /* call trees; NULL: none */
    struct facts *facts; /* of several ranks, and the analysis of their job, which tables borrow from; */
    struct fleet *fleet; /* NULL: none */
    struct job *job;     /* of a job with a pipeline, which tables borrow from; NULL: none */
};

struct report_section {
    const char *key, *title;
    const char *intro; /* a sentence or two for readers new to such a table */
    const char *more;  /* command with more details; NULL: none */
    unsigned needs;    /* enum trace_feature: without them it is left out */
    const struct trace_wants *wants;
    /* Fill CONTENT. False and ERR if the selection does not apply to the trace. NULL: the analysis runs with its
     * default options. */
    bool (*fill)(const struct trace *trace, const struct selection *selection, struct report_content *content,
                 struct tpa_error *err);
    const struct analysis *analysis; /* NULL: not an analysis */
};

enum { REPORT_MOST_SECTIONS = 64 };

/* In the order of the page; ends with a row without key. Not to be called by several threads. */
const struct report_section *report_sections(void);

/* Fill the CONTENT of SECTION. False and ERR if the selection does not apply to the trace. */
bool report_fill(const struct report_section *section, const struct trace *trace,
                 const struct selection *selection, struct report_content *content, struct tpa_error *err);

/* What the reader must decode for all sections with their bit (1 << index) in CHOSEN. */
struct trace_wants report_wants(uint64_t chosen);

#endif
