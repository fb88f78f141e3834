/* error_print.c - the text of an error on a stream. It is apart from error.c because escape.h needs that. */

#include "base/escape.h"
#include <inttypes.h>

/* Texts of an error may quote the input, whose control characters must not reach a terminal. */
static void print_safely(const char *text, FILE *out)
{
    SCOPED struct buffer visible = { 0 };
    escape_terminal(&visible, text, strlen(text));
    if (visible.count)
        fwrite(visible.at, 1, visible.count, out);
}

void tpa_error_print(const struct tpa_error *err, const char *program, FILE *out)
{
    fprintf(out, "%s: ", program);
    if (err->file[0]) {
        print_safely(err->file, out);
        if (err->offset != TPA_NOWHERE)
            fprintf(out, ":%" PRId64, err->offset);
        fputs(": ", out);
    }
    print_safely(err->message, out);
    putc('\n', out);
    for (const char *line = err->context; *line;) {
        size_t len = strcspn(line, "\n");
        char copy[sizeof err->context];
        memcpy(copy, line, len);
        copy[len] = '\0';
        fputs("     while ", out);
        print_safely(copy, out);
        putc('\n', out);
        line += len + (line[len] == '\n');
    }
    if (err->hint[0]) {
        fputs("     hint: ", out);
        print_safely(err->hint, out);
        putc('\n', out);
    }
}
