/* help.c - the rows of the commands as text for terminals. The manual pages are made in help_pages.c. */
#include "cli/help.h"

#include "cli/commands.h"
#include <string.h>

static const char *const section_titles[SECTION_COUNT] = {
    [SECTION_ANALYZE] = "Ask a trace",  [SECTION_COMPARE] = "Compare and watch",
    [SECTION_SHOW] = "Draw and report", [SECTION_RECORD] = "Record and convert",
    [SECTION_OTHER] = "Other",
};

const char *help_section_title(enum command_section section)
{
    return section < SECTION_COUNT ? section_titles[section] : NULL;
}

void help_overview(size_t width, struct buffer *out)
{
    enum { SUMMARY_COLUMN = 14 };
    buffer_puts(out, "tpa " TPA_VERSION " - answers from the traces that profilers write\n\n"
                     "Usage: tpa COMMAND [OPTIONS] FILE...\n"
                     "       tpa FILE...                      the same as tpa summary FILE...\n");
    for (int section = 0; section < SECTION_COUNT; section++) {
        bool is_empty = true;
        for (size_t i = 0; command_at(i); i++) {
            if ((int)command_at(i)->section != section)
                continue;
            if (is_empty)
                buffer_printf(out, "\n%s:\n", section_titles[section]);
            is_empty = false;
            buffer_printf(out, "  %-*s", SUMMARY_COLUMN - 2, command_at(i)->name);
            text_wrap(out, command_at(i)->summary, SUMMARY_COLUMN, SUMMARY_COLUMN, width);
        }
    }
    buffer_puts(
        out, "\nA FILE is a trace (plain, .gz or .zst), a directory of traces, or - for standard input.\n\n"
             "Try:\n"
             "  tpa info trace.json\n"
             "  tpa top --sort cuda_time_total trace.json\n"
             "  tpa help top\n");
}

void help_command(const struct command *command, size_t width, struct buffer *out)
{
    buffer_printf(out, "tpa %s - %s\n\nUsage: tpa %s [OPTIONS]%s%s\n", command->name, command->summary,
                  command->name, command->operands ? " " : "", command->operands ? command->operands : "");
    if (command->description) {
        buffer_putc(out, '\n');
        text_wrap(out, command->description, 0, 0, width);
    }
    options_help(command->options, command->defaults, width, out);
    buffer_puts(out, "\nExamples:\n");
    for (size_t i = 0; i < sizeof command->examples / sizeof *command->examples && command->examples[i]; i++)
        buffer_printf(out, "  %s\n", command->examples[i]);
}
