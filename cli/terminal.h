/*
 * terminal.h - what can be known about the terminal that reads our output.
 */
#ifndef TPA_CLI_TERMINAL_H
#define TPA_CLI_TERMINAL_H

#include <stdbool.h>
#include <stddef.h>

enum { TERMINAL_DEFAULT_WIDTH = 100 };

/*
 * Columns to fill: $COLUMNS when that is a number, else the width of the terminal at FD, else 100. A pipe or a file
 * gets 100 too: what is made for people should read well in a CI log, in a pager and in a file.
 */
size_t terminal_width(int fd);

/* Lines of the terminal at FD; 0 if it is not a terminal. */
size_t terminal_height(int fd);

/* May colours be written to FD when nobody said: is it a terminal that knows them, and is NO_COLOR unset? */
bool terminal_takes_color(int fd);

/* Is the locale one of UTF-8, as LC_ALL, LC_CTYPE or LANG say, the first of them that is set, and does the system know
 * UTF-8? */
bool terminal_takes_unicode(void);

#endif
