/* page_twins.h - two call trees side by side on a page; for page.c. */
#ifndef TPA_REPORT_PAGE_TWINS_H
#define TPA_REPORT_PAGE_TWINS_H

#include "base/twin_tree.h"
#include "report/page_writing.h"

/* All rows, which the script folds. False and the error of PAGE when a write fails. */
bool page_emit_twins(struct writing *page, const struct twin_tree *tree);

#endif
