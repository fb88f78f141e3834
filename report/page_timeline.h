/* page_timeline.h - a timeline as data of a page, no larger than it may be. For page.c. */
#ifndef TPA_REPORT_PAGE_TIMELINE_H
#define TPA_REPORT_PAGE_TIMELINE_H

#include "base/buffer.h"
#include "base/timeline.h"
#include "report/apart.h"

/*
 * Append TIMELINE as the element NUMBER of the page that is drawn by a script, with its data: at most ROOM
 * bytes of data, except what is not a span. Of the spans those that come first are kept, as they are ranked, and
 * the number of the others is shown. NAMES shorten those of work of devices, which they have.
 */
void page_add_timeline(struct buffer *out, const struct timeline *timeline, struct apart *names,
                       size_t number, size_t room);

#endif
