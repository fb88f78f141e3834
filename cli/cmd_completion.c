/* cmd_completion.c - `tpa completion SHELL`: the script that teaches a shell our options. */
#include "base/table.h"
#include "cli/commands.h"

/* ---- scripts ---- */

/* Each script is self-contained: it does not start tpa and needs no other completion package. */

/* Append TEXT in single quotes, in which only the quote is special to a shell. */
static void add_quoted(struct buffer *out, const char *text, const char *quote)
{
    buffer_putc(out, '\'');
    for (const char *c = text; *c; c++) {
        if (*c == '\'')
            buffer_puts(out, quote);
        else
            buffer_putc(out, *c);
    }
    buffer_putc(out, '\'');
}

#define IN_BASH "'\\''"
#define IN_FISH "\\'"

static void add_words(struct buffer *out, opt_choice_at *at)
{
    struct opt_choice choice = { 0 };
    for (size_t i = 0; at(i, &choice); i++)
        buffer_printf(out, "%s%s", i == 0 ? "" : " ", choice.name);
}

/* The words that ROW of COMMAND takes or suggests, separated by blanks: for --sort the columns of its first table. False if
 * there are none. */
static bool add_choices(struct buffer *out, const struct command *command, const struct opt *row)
{
    struct opt_choice choice = { 0 };
    size_t i = 0;
    for (; opt_choice_get(row, i, &choice); i++)
        buffer_printf(out, "%s%s", i == 0 ? "" : " ", choice.name);
    const struct table_shape *first = command->tables[0];
    if (i == 0 && first && strcmp(row->name, "sort") == 0)
        for (; i < first->column_count; i++)
            buffer_printf(out, "%s%s", i == 0 ? "" : " ", first->columns[i].key);
    return i > 0;
}

static bool completion_is_listed(const struct command *command)
{
    return command->section != SECTION_HIDDEN;
}

/* Is ROW a flag that is on by default, and so offered as --no-NAME? */
static bool is_on(const struct command *command, const struct opt *row)
{
    return row->type == &opt_flag && command->defaults && *((const bool *)command->defaults + row->offset);
}

/* --- bash ---------------------------------------------------------------------------------------------------- */

static void bash_option_names(const struct command *command, struct buffer *out)
{
    for (const struct opt *row = command->options; !opt_is_end(row); row++)
        if (opt_is_shown(row))
            buffer_printf(out, "--%s%s ", is_on(command, row) ? "no-" : "", row->name);
    buffer_puts(out, "--help");
}

/* The branch for the value of an option: words, files, or nothing. */
static void bash_values(const struct command *command, struct buffer *out)
{
    for (const struct opt *row = command->options; !opt_is_end(row); row++) {
        if (!opt_is_shown(row) || row->type == &opt_flag)
            continue;
        buffer_puts(out, "        ");
        if (row->letter)
            buffer_printf(out, "-%c | ", row->letter);
        SCOPED struct buffer words = { 0 };
        if (add_choices(&words, command, row))
            buffer_printf(out, "--%s) words='%s' ;;\n", row->name, words.at);
        else if (row->type->completion == OPT_COMPLETE_FILES)
            buffer_printf(out, "--%s) return ;;\n", row->name);
        else if (row->type->completion == OPT_COMPLETE_DIRECTORIES)
            buffer_printf(out, "--%s) mapfile -t COMPREPLY < <(compgen -d -- \"$cur\"); return ;;\n",
                          row->name);
        else
            buffer_printf(out, "--%s) compopt +o default 2> /dev/null; return ;;\n", row->name);
    }
}

static void bash_command(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "    %s)\n        case $prev in\n", command->name);
    bash_values(command, out);
    buffer_puts(out, "        *)\n            if [[ $cur == -* ]]; then\n                words='");
    bash_option_names(command, out);
    buffer_puts(out, "'\n            else\n                ");
    if (command->operand_at) {
        buffer_puts(out, "words='");
        add_words(out, command->operand_at);
        buffer_puts(out, "'\n");
    } else if (command->operands) {
        buffer_puts(out, "return # files\n");
    } else {
        buffer_puts(out, "compopt +o default 2> /dev/null; return\n");
    }
    buffer_puts(out, "            fi\n            ;;\n        esac\n        ;;\n");
}

/* Append the whole completion script of the shell to OUT. */
static void completion_bash(struct buffer *out)
{
    buffer_puts(out, "# Completion of tpa for bash, made by `tpa completion bash`.\n"
                     "# An empty answer leaves it to bash to complete files.\n"
                     "_tpa()\n"
                     "{\n"
                     "    local cur=${COMP_WORDS[COMP_CWORD]} prev=${COMP_WORDS[COMP_CWORD - 1]} words=\n"
                     "    COMPREPLY=()\n"
                     "    # bash cuts --format=csv into three words\n"
                     "    if [[ $cur == = ]]; then\n"
                     "        cur=\n"
                     "    elif [[ $prev == = ]]; then\n"
                     "        prev=${COMP_WORDS[COMP_CWORD - 2]}\n"
                     "    fi\n"
                     "    if ((COMP_CWORD == 1)); then\n"
                     "        mapfile -t COMPREPLY < <(compgen -W '");
    for (size_t i = 0; command_at(i); i++)
        if (completion_is_listed(command_at(i)))
            buffer_printf(out, "%s ", command_at(i)->name);
    buffer_puts(out, "--help --version' -- \"$cur\")\n"
                     "        return\n"
                     "    fi\n"
                     "    case ${COMP_WORDS[1]} in\n");
    for (size_t i = 0; command_at(i); i++)
        if (completion_is_listed(command_at(i)))
            bash_command(command_at(i), out);
    buffer_puts(out, "    esac\n"
                     "    compopt +o default 2> /dev/null\n"
                     "    mapfile -t COMPREPLY < <(compgen -W \"$words\" -- \"$cur\")\n"
                     "}\n"
                     "complete -o default -F _tpa tpa\n");
}

/* --- zsh ----------------------------------------------------------------------------------------------------- */

/* In a specification of _arguments, these characters end a part. */
static void zsh_escape(struct buffer *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr("[]:\\", *c))
            buffer_putc(out, '\\');
        buffer_putc(out, *c);
    }
}

static void zsh_option(const struct command *command, const struct opt *row, struct buffer *out)
{
    SCOPED struct buffer spec = { 0 }, words = { 0 };
    buffer_putc(&spec, '[');
    zsh_escape(&spec, row->help);
    buffer_putc(&spec, ']');
    if (row->type != &opt_flag) {
        buffer_putc(&spec, ':');
        zsh_escape(&spec, row->value_name);
        buffer_putc(&spec, ':');
        if (add_choices(&words, command, row))
            buffer_printf(&spec, "(%s)", words.at);
        else if (row->type->completion == OPT_COMPLETE_FILES)
            buffer_puts(&spec, "_files");
        else if (row->type->completion == OPT_COMPLETE_DIRECTORIES)
            buffer_puts(&spec, "_files -/");
        else
            buffer_puts(&spec, " ");
    }
    bool has_value = row->type != &opt_flag;
    const char *no = is_on(command, row) ? "no-" : "";
    buffer_puts(out, "            ");
    if (row->letter)
        buffer_printf(out, "'(-%c --%s%s)'{-%c%s,--%s%s%s}", row->letter, no, row->name, row->letter,
                      has_value ? "+" : "", no, row->name, has_value ? "=" : "");
    else
        buffer_printf(out, "--%s%s%s", no, row->name, has_value ? "=" : "");
    add_quoted(out, spec.at, IN_BASH);
    buffer_puts(out, " \\\n");
}

static void zsh_command(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "    %s)\n        _arguments -s -S \\\n", command->name);
    for (const struct opt *row = command->options; !opt_is_end(row); row++)
        if (opt_is_shown(row))
            zsh_option(command, row, out);
    buffer_puts(out, "            '(-h --help)'{-h,--help}'[explain the command]'");
    if (command->operand_at) {
        buffer_puts(out, command->reads_traces ? " \\\n            '*: : _alternative \"words:word:("
                                               : " \\\n            '*: :(");
        add_words(out, command->operand_at);
        buffer_puts(out, command->reads_traces ? ")\" \"files:file:_files\"'" : ")'");
    } else if (command->operands) {
        buffer_puts(out, " \\\n            '*:file:_files'");
    }
    buffer_puts(out, "\n        ;;\n");
}

static void completion_zsh(struct buffer *out)
{
    buffer_puts(out, "#compdef tpa\n"
                     "# Completion of tpa for zsh, made by `tpa completion zsh`.\n"
                     "_tpa()\n"
                     "{\n"
                     "    local -a commands=(\n");
    for (size_t i = 0; command_at(i); i++) {
        if (!completion_is_listed(command_at(i)))
            continue;
        SCOPED struct buffer entry = { 0 };
        buffer_printf(&entry, "%s:", command_at(i)->name);
        zsh_escape(&entry, command_at(i)->summary);
        buffer_puts(out, "        ");
        add_quoted(out, entry.at, IN_BASH);
        buffer_putc(out, '\n');
    }
    buffer_puts(out, "    )\n"
                     "    if ((CURRENT == 2)); then\n"
                     "        _describe -t commands 'tpa command' commands\n"
                     "        return\n"
                     "    fi\n"
                     "    local command=$words[2]\n"
                     "    shift words\n"
                     "    ((CURRENT--))\n"
                     "    case $command in\n");
    for (size_t i = 0; command_at(i); i++)
        if (completion_is_listed(command_at(i)))
            zsh_command(command_at(i), out);
    buffer_puts(out, "    esac\n"
                     "}\n"
                     "if [[ $zsh_eval_context[-1] == loadautofunc ]]; then\n"
                     "    _tpa \"$@\"\n"
                     "else\n"
                     "    compdef _tpa tpa\n"
                     "fi\n");
}

/* --- fish ---------------------------------------------------------------------------------------------------- */

static void fish_option(const struct command *command, const struct opt *row, struct buffer *out)
{
    SCOPED struct buffer words = { 0 };
    buffer_printf(out, "complete -c tpa -n '__fish_seen_subcommand_from %s'", command->name);
    if (row->letter)
        buffer_printf(out, " -s %c", row->letter);
    buffer_printf(out, " -l %s%s", is_on(command, row) ? "no-" : "", row->name);
    if (row->type == &opt_flag) {
        ;
    } else if (add_choices(&words, command, row)) {
        buffer_puts(out, " -x -a ");
        add_quoted(out, words.at, IN_FISH);
    } else if (row->type->completion == OPT_COMPLETE_FILES) {
        buffer_puts(out, " -r -F");
    } else if (row->type->completion == OPT_COMPLETE_DIRECTORIES) {
        buffer_puts(out, " -x -a '(__fish_complete_directories)'");
    } else {
        buffer_puts(out, " -x");
    }
    buffer_puts(out, " -d ");
    add_quoted(out, row->help, IN_FISH);
    buffer_putc(out, '\n');
}

static void fish_command(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "complete -c tpa -n __fish_use_subcommand -f -a %s -d ", command->name);
    add_quoted(out, command->summary, IN_FISH);
    buffer_putc(out, '\n');
    for (const struct opt *row = command->options; !opt_is_end(row); row++)
        if (opt_is_shown(row))
            fish_option(command, row, out);
    buffer_printf(
        out, "complete -c tpa -n '__fish_seen_subcommand_from %s' -s h -l help -d 'explain the command'\n",
        command->name);
    if (command->operand_at) {
        buffer_printf(out, "complete -c tpa -n '__fish_seen_subcommand_from %s'%s -a '", command->name,
                      command->reads_traces ? "" : " -f"); /* a word, or a file */
        add_words(out, command->operand_at);
        buffer_puts(out, "'\n");
    } else if (command->operands == NULL) {
        buffer_printf(out, "complete -c tpa -n '__fish_seen_subcommand_from %s' -f\n", command->name);
    }
}

static void completion_fish(struct buffer *out)
{
    buffer_puts(out, "# Completion of tpa for fish, made by `tpa completion fish`.\n"
                     "complete -c tpa -n __fish_use_subcommand -f -l version -d 'print the version'\n"
                     "complete -c tpa -n __fish_use_subcommand -f -l help -d 'list the commands'\n");
    for (size_t i = 0; command_at(i); i++)
        if (completion_is_listed(command_at(i)))
            fish_command(command_at(i), out);
}

/* ---- the command ---- */

static const struct {
    const char *name;
    void (*write)(struct buffer *out);
} shells[] = {
    { "bash", completion_bash },
    { "zsh", completion_zsh },
    { "fish", completion_fish },
};

static bool shell_at(size_t index, struct opt_choice *choice)
{
    if (index >= sizeof shells / sizeof *shells)
        return false;
    *choice = (struct opt_choice){ .name = shells[index].name };
    return true;
}

static int completion_main(const struct invocation *call, struct tpa_error *err)
{
    const char *name = call->operands[0];
    struct suggest near = suggest_for(name, strlen(name));
    for (size_t i = 0; i < sizeof shells / sizeof *shells; i++) {
        if (strcmp(shells[i].name, name) == 0) {
            SCOPED struct buffer text = { 0 };
            shells[i].write(&text);
            fwrite(text.at, 1, text.count, stdout); /* main checks stdout */
            return EXIT_FINE;
        }
        suggest_consider(&near, shells[i].name);
    }
    if (near.best)
        tpa_fail(err, TPA_NOWHERE, "there is no completion for '%s'; did you mean %s?", name, near.best);
    else
        tpa_fail(err, TPA_NOWHERE, "there is no completion for '%s'", name);
    tpa_hint(err, "shells are bash, zsh and fish");
    return EXIT_TROUBLE;
}

static const struct opt completion_opts[] = { OPT_END };

const struct command cmd_completion = {
    .name = "completion",
    .summary = "write the completion script of a shell",
    .operands = "SHELL",
    .operand_at = shell_at,
    .description =
        "SHELL is bash, zsh or fish. A package installs these scripts; without one, let the start-up file of "
        "the shell read them.",
    .options = completion_opts,
    .main = completion_main,
    .examples = { "source <(tpa completion bash)", "tpa completion zsh > ~/.zfunc/_tpa",
                  "tpa completion fish > ~/.config/fish/completions/tpa.fish" },
    .section = SECTION_OTHER,
};
