/*
 * page.h - a report as one HTML file that needs nothing else.
 *
 *     struct page page = { .maker = "tpa report", .title = "trace.json", .subtitle = "recorded on 2 x H100" };
 *     struct page_section *section = page_add_section(&page, "gaps", "Idle gaps", "Why each device was idle.");
 *     *VEC_PUSH(&section->tables) = table;                  // all is borrowed
 *     *VEC_PUSH(&section->pictures) = picture;
 *     bool good = page_write(&page, out, &err);
 *     page_release(&page);
 *
 * The page has no address in it but those of its own sections, loads nothing and may load nothing: its content security
 * policy allows the one style sheet and the one script in it, by their hashes. Without scripts all figures are there to
 * read; with them, tables sort, filter and copy, and timelines and flames zoom. Every text of a trace is escaped.
 */
#ifndef TPA_REPORT_PAGE_H
#define TPA_REPORT_PAGE_H

#include "report/page_parts.h"
#include "report/printer.h"

/* A new, empty section at the end; valid until the next is added. Texts are borrowed. */
struct page_section *page_add_section(struct page *page, const char *key, const char *title,
                                      const char *intro);

/* A section for each table of RESULT, the notices in the first, and one for its picture. All of it is borrowed. */
void page_add_result(struct page *page, const struct result *result);

/* Forget the sections; what they borrowed stays. */
void page_release(struct page *page);

/* A result as such a page: a section for each table, and one for its picture. */
extern const struct printer printer_html;

/* Write the page to OUT. False and ERR when a write fails, or when it cannot be as small as a budget below PAGE_BUDGET. */
bool page_write(const struct page *page, FILE *out, struct tpa_error *err);

#endif
