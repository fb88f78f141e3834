/* cmd_help.c - `tpa help`: the list of commands, or one command's page; and the pages that are installed. */
#include "cli/commands.h"
#include "cli/help.h"
#include "cli/terminal.h"

#include <unistd.h>

enum help_format { HELP_TEXT, HELP_JSON };

struct help_args {
    bool man, markdown, list, all;
    int format;
};

static const struct opt_choice help_formats[] = {
    [HELP_TEXT] = { "text", "for people" },
    [HELP_JSON] = { "json", "commands, options and tables, for programs" },
    { 0 },
};

static const struct help_args help_defaults = { 0 };

static const struct opt help_opts[] = {
    OPT_GROUP("Options"),
    OPT_FLAG(0, "man", struct help_args, man, "write the manual page (roff) instead"),
    OPT_FLAG(0, "markdown", struct help_args, markdown, "write the option tables in Markdown instead"),
    OPT_FLAG(0, "list", struct help_args, list, "write the names of all commands, a line each"),
    OPT_CHOICE('f', "format", struct help_args, format, help_formats, "FORMAT", "how to write it"),
    OPT_FLAG('a', "all", struct help_args, all,
             "json: every text, choice and column, of all commands where none is named"),
    OPT_END,
};

static bool command_word(size_t index, struct opt_choice *choice)
{
    if (command_at(index) == NULL || command_at(index)->section == SECTION_HIDDEN)
        return false;
    *choice = (struct opt_choice){ command_at(index)->name, command_at(index)->summary, NULL };
    return true;
}

static int help_main(const struct invocation *call, struct tpa_error *err)
{
    const struct help_args *args = call->args;
    const struct command *command = NULL;
    if (call->operand_count > 0 && !(command = command_find(call->operands[0], err)))
        return EXIT_TROUBLE;

    SCOPED struct buffer text = { 0 };
    if (args->format == HELP_JSON) {
        (args->all ? help_json : help_json_brief)(command, &text);
    } else if (args->list) {
        for (size_t i = 0; command_at(i); i++)
            if (command_at(i)->section != SECTION_HIDDEN)
                buffer_printf(&text, "%s\n", command_at(i)->name);
    } else if (args->man) {
        help_man(command, &text);
    } else if (args->markdown && command) {
        help_markdown(command, &text);
    } else if (args->markdown) {
        tpa_fail(err, TPA_NOWHERE, "--markdown needs the name of a command");
    } else if (command) {
        help_command(command, terminal_width(STDOUT_FILENO), &text);
    } else {
        help_overview(terminal_width(STDOUT_FILENO), &text);
    }
    if (text.count > 0)
        fwrite(text.at, 1, text.count, stdout); /* main checks stdout */
    return EXIT_FINE;
}

const struct command cmd_help = {
    .name = "help",
    .summary = "list the commands, or explain one",
    .operands = "[COMMAND]",
    .operand_at = command_word,
    .options = help_opts,
    COMMAND_ARGS(help_defaults),
    .main = help_main,
    .examples = { "tpa help", "tpa help help", "tpa help --man help | man -l -",
                  "tpa help --format json top  # its options and tables, for a program",
                  "tpa help --format json --all  # all that is known of all commands" },
    .section = SECTION_OTHER,
};
