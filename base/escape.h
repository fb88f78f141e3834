/*
 * escape.h - text from a trace made safe to put into a terminal, CSV, Markdown, JSON, HTML, SVG, XML, DOT, folded
 * stacks or GitHub's log.
 *
 * Any bytes are accepted, NUL and invalid UTF-8 included; each function appends to OUT.
 *
 * JSON keeps the text exactly (except invalid UTF-8, which becomes U+FFFD). All others are for people: characters that
 * are invisible or would control the reader's terminal are shown as C escapes: \n \t \r \x1b for ASCII controls, \xff
 * for a byte that is not UTF-8, \u202e for hidden characters (see unicode_is_hidden). A backslash is not escaped, so
 * the text cannot always be recovered; use JSON for that.
 */
#ifndef TPA_BASE_ESCAPE_H
#define TPA_BASE_ESCAPE_H

#include "base/buffer.h"

/* Append only printable characters of known width; returns how many columns they take. */
size_t escape_terminal(struct buffer *out, const char *s, size_t len);

/* One CSV field, quoted where needed; always on one line. A spreadsheet would run a field that begins with = + - or @
 * as a formula, so such a text gets a ' in front, which spreadsheets take as "this is text". */
void escape_csv(struct buffer *out, const char *s, size_t len);

/* Text inside a cell of a GitHub table, or anywhere in a line of Markdown. */
void escape_markdown(struct buffer *out, const char *s, size_t len);

/* What goes between the quotes of a JSON string. Controls and hidden characters are written as \u escapes. */
void escape_json(struct buffer *out, const char *s, size_t len);

/* The same with the quotes. */
void escape_json_string(struct buffer *out, const char *s, size_t len);

/* Bytes of a text that HTML, SVG and XML show; a longer one ends in an ellipsis. */
enum { ESCAPE_MARKUP_MOST = 16 << 10 };

/* Text or an attribute's quoted value in HTML, SVG and XML. */
void escape_html(struct buffer *out, const char *s, size_t len);

/* The same for a document that XML parsers read: they reject a whole document for one character outside XML's set. */
void escape_xml(struct buffer *out, const char *s, size_t len);

/* A frame in a line of folded stacks: a semicolon, which would end it, becomes a colon. */
void escape_folded(struct buffer *out, const char *s, size_t len);

/* The message of a command to GitHub's runner (::error::MESSAGE), always on one line; and a property of it
 * (::error title=PROPERTY::), where : and , would end it as well. */
void escape_github(struct buffer *out, const char *s, size_t len);
void escape_github_property(struct buffer *out, const char *s, size_t len);

/* NAME as a quoted identifier of SQL. */
void escape_sql_name(struct buffer *out, const char *name);

#endif
