/*
 * shell_word.h - a word of a command line that is shown to be pasted into a shell.
 *
 *     buffer_puts(out, "next: tpa top ");
 *     shell_word_append(out, path, strlen(path));      // next: tpa top 'my trace.json'
 *
 * The shell reads the word as the same bytes, whatever it holds; the terminal that shows it gets none that control it. What
 * needs no quotes has none; controls and hidden characters are written in $'...', which bash, zsh and ksh read.
 */
#ifndef TPA_BASE_SHELL_WORD_H
#define TPA_BASE_SHELL_WORD_H

#include "base/buffer.h"

void shell_word_append(struct buffer *out, const char *s, size_t len);

#endif
