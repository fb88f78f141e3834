/* help.c - the rows of the commands as text for terminals. The manual pages are made in help_pages.c. */
#include "cli/help.h"

#include "cli/commands.h"

static const char *const section_titles[SECTION_COUNT] = {
    [SECTION_ANALYZE] = "Ask a trace",  [SECTION_COMPARE] = "Compare and watch",
    [SECTION_SHOW] = "Draw and report", [SECTION_RECORD] = "Record and convert",
    [SECTION_OTHER] = "Other",
};

const char *help_section_title(enum command_section section)
{
    return section < SECTION_COUNT ? section_titles[section] : NULL;
}

/* The commands to begin with, and the others by the question that they answer. */
static const char *const first_commands[] = { "summary", "top", "diff",    "report",
                                              "memory",  "sql", "capture", "nightly" };
static const struct {
    const char *question, *commands;
} questions[] = {
    { "What does the file hold?", "info" },
    { "Where does a step spend its time?", "steps  path  modules  latency" },
    { "Why is the device idle?", "gpu  transfers  launches" },
    { "What would a change gain?", "whatif" },
    { "How good are the kernels?", "kernels  roofline" },
    { "Which rank or stage is slow?", "fleet  job  comm" },
    { "Why is a job stuck?", "hang" },
    { "How do I see, draw or convert it?", "view  chart  convert" },
    { "What does a Python program do?", "bottleneck" },
    { "Is an assistant's answer right?", "check  mcp  skill" },
    { "How does a command work?", "help  completion" },
};

bool help_lists(const char *name)
{
    size_t len = strlen(name);
    if (ANY(i, sizeof first_commands / sizeof *first_commands, strcmp(first_commands[i], name) == 0))
        return true;
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        for (const char *at = questions[i].commands; *at; at += strspn(at, " ")) {
            size_t word = strcspn(at, " ");
            if (word == len && memcmp(at, name, len) == 0)
                return true;
            at += word;
        }
    return false;
}

void help_overview(size_t width, struct buffer *out)
{
    enum { SUMMARY_COLUMN = 12, COMMANDS_COLUMN = 36 };
    buffer_puts(out, "tpa " TPA_VERSION
                     " - what is slow in a recorded program, why, and what a change would gain\n\n"
                     "Usage: tpa FILE...                      the answer on one screen (tpa summary)\n"
                     "       tpa COMMAND [OPTIONS] FILE...\n\n");
    for (size_t i = 0; i < sizeof first_commands / sizeof *first_commands; i++) {
        struct tpa_error ignored = { 0 };
        const struct command *command = command_find(first_commands[i], &ignored);
        buffer_printf(out, "  %-*s", SUMMARY_COLUMN - 2, command->name);
        text_wrap(out, command->summary, SUMMARY_COLUMN, SUMMARY_COLUMN, width);
    }
    buffer_puts(out, "\nMore, by question:\n");
    for (size_t i = 0; i < sizeof questions / sizeof *questions; i++)
        buffer_printf(out, "  %-*s%s\n", COMMANDS_COLUMN - 2, questions[i].question, questions[i].commands);
    buffer_puts(out,
                "\nA FILE is a trace (plain, .gz or .zst), a directory of traces, or - for standard input.\n"
                "tpa help COMMAND explains a command and gives lines to paste.\n");
}

/* The questions that COMMAND answers by another: tpa top --callers. */
static void append_modes(struct buffer *out, const struct command *command)
{
    for (const struct command_mode *mode = command_modes; mode->command; mode++) {
        struct tpa_error ignored = { 0 };
        const struct command *other = command_find(mode->stands_for, &ignored);
        if (strcmp(mode->command, command->name) == 0)
            buffer_printf(out, "       tpa %s --%s %s\n           %s (tpa help %s)\n", command->name,
                          mode->option, other->operands, other->summary, other->name);
    }
}

void help_command(const struct command *command, size_t width, struct buffer *out)
{
    buffer_printf(out, "tpa %s - %s\n\nUsage: tpa %s [OPTIONS]%s%s\n", command->name, command->summary,
                  command->name, command->operands ? " " : "", command->operands ? command->operands : "");
    append_modes(out, command);
    if (command->description) {
        buffer_putc(out, '\n');
        text_wrap(out, command->description, 0, 0, width);
    }
    options_help(command->options, command->defaults, width, out);
    buffer_puts(out, "\nExamples:\n");
    for (size_t i = 0; i < sizeof command->examples / sizeof *command->examples && command->examples[i]; i++)
        buffer_printf(out, "  %s\n", command->examples[i]);
}
