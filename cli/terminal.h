/* terminal.h - properties of the terminal that shows our output, and messages to it. */
#ifndef TPA_CLI_TERMINAL_H
#define TPA_CLI_TERMINAL_H

#include "base/buffer.h"

enum { TERMINAL_DEFAULT_WIDTH = 100 };

/* Width in columns: $COLUMNS if that is a number, else the width of the terminal at FD, else 100. A pipe or a file gets
 * 100 too: output for people should be readable in a CI log, in a pager and in a file. */
size_t terminal_width(int fd);

/* Lines of the terminal at FD; 0 if it is not a terminal. */
size_t terminal_height(int fd);

/* Are colours used on FD by default: is it a terminal that supports them, and is NO_COLOR unset? */
bool terminal_takes_color(int fd);

/* Is the locale UTF-8, by the first of LC_ALL, LC_CTYPE and LANG that is set, and does the system support UTF-8? */
bool terminal_takes_unicode(void);

/* Print to stderr, with all that would control the terminal made visible, except the line ends. The only way by which names
 * and other texts of files come to stderr; tests/layering/names checks that. */
void terminal_print(const char *fmt, ...) TPA_PRINTF(1, 2);

#endif
