/* gnuplot.c - see gnuplot.h. */
#include "cli/gnuplot.h"

#include "cli/terminal.h"

#include "cli/process.h"
#include "base/escape.h"
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* The nonempty lines of TEXT, joined by "; ": gnuplot pads its messages with empty ones. */
static void join_lines(struct buffer *out, const struct buffer *text)
{
    for (size_t first = 0, end; first < text->count; first = end + 1) {
        const char *newline = memchr(text->at + first, '\n', text->count - first);
        end = newline ? (size_t)(newline - text->at) : text->count;
        while (first < end && (text->at[first] == ' ' || text->at[first] == '\t'))
            first++;
        if (first < end && strspn(text->at + first, "^ \t") < end - first) {
            buffer_puts(out, out->count ? "; " : "");
            escape_terminal(out, text->at + first, end - first);
        }
    }
}

static bool gnuplot_run(const char *program, const char *script, size_t len, struct process_result *result,
                        struct tpa_error *err)
{
    const char *const argv[] = { program, "--default-settings", "-", NULL };
    if (process_run(argv, script, len, GNUPLOT_TIMEOUT_S, result, err))
        return true;
    if (!result->not_found)
        return false;
    tpa_fail(err, TPA_NOWHERE, "%s, which draws charts, is not installed", program);
    tpa_hint(
        err,
        "apt-get install gnuplot-nox, or name the program in TPA_GNUPLOT; -o FILE.svg and --script work without it");
    return false;
}

static const char *program_name(void)
{
    const char *named = getenv("TPA_GNUPLOT");
    return named && *named ? named : "gnuplot";
}

bool gnuplot_draw(const char *script, size_t len, struct buffer *image, struct tpa_error *err)
{
    const char *program = program_name();
    struct process_result result;
    struct buffer said = { 0 };
    bool good = gnuplot_run(program, script, len, &result, err);
    if (good) {
        join_lines(&said, &result.errors);
        if (result.status > 128) {
            good = tpa_fail(err, TPA_NOWHERE, "%s was ended by signal %d", program, result.status - 128);
        } else if (result.status != 0) {
            good = tpa_fail(err, TPA_NOWHERE, "%s failed with status %d: %.600s", program, result.status,
                            said.count ? said.at : "it gave no reason");
        } else if (result.output.count == 0) {
            good = tpa_fail(err, TPA_NOWHERE, "%s drew nothing: %.600s", program,
                            said.count ? said.at : "it gave no reason");
        } else if (said.count) {
            terminal_print("note: gnuplot: %s\n", said.at);
        }
    }
    if (good)
        buffer_add(image, result.output.at, result.output.count);
    buffer_release(&said);
    process_release(&result);
    return good;
}
