/* pager.c - see pager.h. */
#include "cli/pager.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

static bool fits(const char *text, size_t len, size_t height)
{
    size_t lines = 0;
    for (size_t i = 0; i < len; i++)
        lines += text[i] == '\n';
    return height == 0 || lines < height;
}

bool pager_show(const char *text, size_t len, size_t height)
{
    enum { NOT_FOUND = 127 };
    const char *pager = getenv("PAGER"), *term = getenv("TERM");
    if (!pager)
        pager = "less";
    if (!*pager || strcmp(pager, "cat") == 0 || !term || strcmp(term, "dumb") == 0 || fits(text, len, height))
        return false;
    setenv("LESS", "FRX", 0);
    fflush(stdout);
    FILE *to = popen(pager, "w"); /* NOLINT(cert-env33-c): PAGER is a command line of the user's */
    if (!to)
        return false;
    void (*interrupted)(int) = signal(SIGINT, SIG_IGN); /* it is for the pager */
    fwrite(text, 1, len, to);
    int status = pclose(to);
    signal(SIGINT, interrupted);
    return !(WIFEXITED(status) && WEXITSTATUS(status) == NOT_FOUND);
}
