/* page_table.h - a table on a page; for page.c. */
#ifndef TPA_REPORT_PAGE_TABLE_H
#define TPA_REPORT_PAGE_TABLE_H

#include "report/page_sections.h"
#include "report/page_writing.h"

/* The table with its tools, figures and definitions; its heading unless that of SECTION says the same. False and the
 * error of PAGE when a write fails. */
bool page_emit_table(struct writing *page, const struct table *table, const struct page_section *section);

#endif
