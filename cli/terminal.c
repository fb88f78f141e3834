#include "cli/terminal.h"

#include "base/escape.h"
#include "base/quantity.h"
#include "base/unicode.h"
#include <assert.h>
#include <stdarg.h>
#include <strings.h>
#include <sys/ioctl.h>
#include <unistd.h>

size_t terminal_width(int fd)
{
    enum { NARROWEST = 20, WIDEST = 10000 };
    const char *columns = getenv("COLUMNS");
    int64_t width;
    if (columns && quantity_parse_integer(columns, strlen(columns), &width) && width > 0) {
        if (width < NARROWEST)
            return NARROWEST;
        return width > WIDEST ? WIDEST : (size_t)width;
    }
    struct winsize size;
    if (isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
        return size.ws_col < NARROWEST ? NARROWEST : size.ws_col;
    return TERMINAL_DEFAULT_WIDTH;
}

size_t terminal_height(int fd)
{
    struct winsize size;
    return isatty(fd) && ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_row : 0;
}

bool terminal_takes_color(int fd)
{
    const char *no_color = getenv("NO_COLOR"), *term = getenv("TERM");
    if (no_color && *no_color)
        return false;
    return isatty(fd) && term && strcmp(term, "dumb") != 0;
}

bool terminal_takes_unicode(void)
{
    static const char *const names[] = { "LC_ALL", "LC_CTYPE", "LANG" };
    const char *locale = NULL;
    for (size_t i = 0; i < sizeof names / sizeof *names && (!locale || !*locale); i++)
        locale = getenv(names[i]);
    const char *coding = locale ? strrchr(locale, '.') : NULL;
    bool is_utf8 = coding && (strncasecmp(coding, ".utf-8", 6) == 0 || strncasecmp(coding, ".utf8", 5) == 0);
    /* a full block; otherwise the system does not support UTF-8 */
    return is_utf8 && unicode_width(0x2588) == 1;
}

void terminal_print(const char *fmt, ...)
{
    SCOPED struct buffer safe = { 0 };
    va_list args;
    va_start(args, fmt);
    int len = vsnprintf(NULL, 0, fmt, args);
    va_end(args);
    assert(len >= 0);
    SCOPED char *words = mem_alloc((size_t)len + 1);
    va_start(args, fmt);
    vsnprintf(words, (size_t)len + 1, fmt, args);
    va_end(args);
    for (const char *line = words; *line;) {
        size_t line_len = strcspn(line, "\n");
        escape_terminal(&safe, line, line_len);
        line += line_len;
        if (*line == '\n') {
            buffer_putc(&safe, '\n');
            line++;
        }
    }
    if (safe.count)
        fwrite(safe.at, 1, safe.count, stderr);
}
