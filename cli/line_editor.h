/*
 * line_editor.h - a line editor for a terminal, with a history kept in a file.
 *
 *     struct line_editor editor = { 0 };
 *     line_editor_load(&editor, "/home/me/.tpa_history");
 *     struct buffer line = { 0 };
 *     while (line_editor_read(&editor, "tpa> ", &line) == LINE_READ)
 *         ...
 *     line_editor_release(&editor);
 *
 * Keys: arrows, Home, End, Backspace, Delete, Ctrl-A E B F P N K U W L; Ctrl-C discards the line, Ctrl-D on an empty
 * one ends the input.
 */
#ifndef TPA_CLI_LINE_EDITOR_H
#define TPA_CLI_LINE_EDITOR_H

#include "base/buffer.h"
#include "base/memory.h"

struct line_editor {
    VEC_OF(char *) lines; /* oldest first */
    char *path;           /* file of the history; NULL: none */
};

enum line_end { LINE_READ, LINE_GIVEN_UP, LINE_NO_MORE };

/* Load the history from the file at PATH (NULL: none), which need not exist. */
void line_editor_load(struct line_editor *editor, const char *path);

/* Read a line from the terminal that is standard input into LINE, which is emptied first and never has a line end. */
enum line_end line_editor_read(struct line_editor *editor, const char *prompt, struct buffer *line);

/* Add TEXT to the history, unless it is empty or equals the last line; line ends become blanks. It is added to the
 * file. */
void line_editor_add(struct line_editor *editor, const char *text);

/* Free the history in memory; its file stays. */
void line_editor_release(struct line_editor *editor);

#endif
