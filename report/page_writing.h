/* page_writing.h - a page being written, for the parts of page.c. */
#ifndef TPA_REPORT_PAGE_WRITING_H
#define TPA_REPORT_PAGE_WRITING_H

#include "base/buffer.h"
#include "base/error.h"
#include "base/escape.h"
#include "base/memory.h"
#include "report/apart.h"
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

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

#endif
