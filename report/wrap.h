/*
 * wrap.h - a text on lines of a terminal.
 *
 *     wrap_text(&out, text, len, 0, 2, 80);    // lines after the first begin with two blanks
 */
#ifndef TPA_REPORT_WRAP_H
#define TPA_REPORT_WRAP_H

#include "base/buffer.h"

/* Append the LEN bytes at TEXT, escaped already, with breaks at blanks so that each line takes at most WIDTH
 * columns, and the end of the last line. COLUMN columns of the first are taken; lines after it are indented
 * by INDENT, unless that is half of WIDTH. */
void wrap_text(struct buffer *out, const char *text, size_t len, size_t column, size_t indent, size_t width);

#endif
