/*
 * report_sections.h - what `tpa report` says of a trace: one row per section.
 *
 * A section is one row in report_sections.c: what it asks the trace, and which pictures it shows.
 */
#ifndef TPA_CLI_REPORT_SECTIONS_H
#define TPA_CLI_REPORT_SECTIONS_H

#include "analyze/selection.h"
#include "analyze/views.h"
#include "base/chart.h"
#include "base/result.h"
#include "trace/trace.h"

/* What one section holds; released by whoever made it. */
struct report_content {
    struct result *result;   /* tables and notices */
    struct picture *picture; /* charts */
    struct views *views;     /* timelines and flames; NULL: none */
};

struct report_section {
    const char *key, *title;
    const char *intro; /* a sentence or two for who never saw such a table */
    const char *more;  /* the command with more of it */
    unsigned needs;    /* enum trace_feature: without them it is left out */
    const struct trace_wants *wants;
    /* Fill CONTENT. False and ERR when the selection does not fit the trace. */
    bool (*fill)(const struct trace *trace, const struct selection *selection, struct report_content *content,
                 struct tpa_error *err);
};

/* In the order of the page; ends with a row without key. */
extern const struct report_section report_sections[];

/* What the reader must decode for all sections whose bit (1 << index) is in CHOSEN. */
struct trace_wants report_wants(uint64_t chosen);

#endif
