/* page_writing.h - a page being written, for the parts of page.c. */
#ifndef TPA_REPORT_PAGE_WRITING_H
#define TPA_REPORT_PAGE_WRITING_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/escape.h"
#include "report/apart.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

struct writing {
    struct buffer text;
    FILE *out;
    struct tpa_error *err;
    size_t tables, views; /* so far; names of elements count up */
    bool measures;        /* how large the page is without timelines: none is written */
    size_t timelines;     /* that are still to come */
    size_t room;          /* bytes for these */
    struct apart *names;  /* of all of the page, as wide as a cell may be */
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

#endif
