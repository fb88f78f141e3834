/*
 * page_names.h - the names that a page shows, each in one short form wherever it is shown: in tables, on the first screen, in trees and
 * timelines.
 *
 *     struct apart *names = page_names_of(page);
 *     ... apart_fill_names(names, &full, &shown, text, len) ...
 *     apart_free(names);
 */
#ifndef TPA_REPORT_PAGE_NAMES_H
#define TPA_REPORT_PAGE_NAMES_H

#include "report/apart.h"
#include "report/page_sections.h"

/* New, with all names of PAGE; apart_free. */
struct apart *page_names_of(const struct page *page);

/* Is KIND of TIMELINE work of devices? The names of such spans are shown short. */
bool page_names_has_kind(const struct timeline *timeline, uint32_t kind);

#endif
