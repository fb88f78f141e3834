/*
 * pager.h - a long text on a terminal, through $PAGER as git does.
 *
 *     if (!pager_show(text, len, terminal_height(STDOUT_FILENO)))
 *         fwrite(text, 1, len, stdout);
 */
#ifndef TPA_CLI_PAGER_H
#define TPA_CLI_PAGER_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Show the LEN bytes at TEXT in $PAGER (less if that is unset) and wait until it ends. False, and nothing was shown: they fit on
 * HEIGHT lines, $PAGER is empty or "cat", $TERM is dumb, or there is no such program. Less gets LESS=FRX unless that is set.
 */
bool pager_show(const char *text, size_t len, size_t height);

#endif
