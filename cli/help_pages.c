/*
 * help_pages.c - the same rows as installed manual pages (roff) and as tables for docs/ (Markdown).
 *
 * Roff has three traps: a line that begins with '.' or '\'' is a request, '\' begins an escape, and '-' is a hyphen
 * unless written "\-". All text goes through roff_text().
 */
#include "cli/help.h"

#include "cli/commands.h"
#include <ctype.h>

/* --- manual pages -------------------------------------------------------------------------------------------- */

static void roff_text(struct buffer *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        bool begins_line = out->count == 0 || out->at[out->count - 1] == '\n';
        if (begins_line && (*c == '.' || *c == '\''))
            buffer_puts(out, "\\&");
        if (*c == '\\')
            buffer_puts(out, "\\e");
        else if (*c == '-')
            buffer_puts(out, "\\-");
        else if (*c == '\n' && c[1] == '\n')
            buffer_puts(out, "\n.PP"), c++, buffer_putc(out, '\n');
        else
            buffer_putc(out, *c);
    }
}

static void roff_styled(struct buffer *out, char font, const char *text)
{
    buffer_printf(out, "\\f%c", font);
    roff_text(out, text);
    buffer_puts(out, "\\fR");
}

static void roff_heading(struct buffer *out, const char *request, const char *title)
{
    buffer_printf(out, ".%s \"", request);
    for (const char *c = title; *c; c++)
        buffer_putc(out, (char)(strcmp(request, "SH") == 0 ? toupper((unsigned char)*c) : *c));
    buffer_puts(out, "\"\n");
}

static void roff_title(struct buffer *out, const struct command *command)
{
    buffer_puts(out, ".TH \"TPA");
    if (command) {
        buffer_putc(out, '-');
        for (const char *c = command->name; *c; c++)
            buffer_putc(out, (char)toupper((unsigned char)*c));
    }
    buffer_puts(out, "\" 1 \"\" \"tpa " TPA_VERSION "\" \"tpa manual\"\n");
}

static void roff_option(struct buffer *out, const struct opt *row, const void *defaults)
{
    SCOPED struct buffer usage = { 0 }, value = { 0 };
    opt_append_usage(row, defaults, &usage);
    char *value_name = strchr(usage.at, ' ');
    buffer_puts(out, ".TP\n");
    if (row->letter) {
        buffer_printf(out, "\\fB\\-%c\\fR, ", row->letter);
    }
    if (value_name)
        *value_name++ = '\0';
    roff_styled(out, 'B', usage.at);
    if (value_name) {
        buffer_putc(out, ' ');
        roff_styled(out, 'I', value_name);
    }
    buffer_putc(out, '\n');
    roff_text(out, row->help);
    opt_append_default(row, defaults, &value);
    if (value.count > 0) {
        buffer_puts(out, " (default: ");
        roff_text(out, value.at);
        buffer_putc(out, ')');
    }
    buffer_puts(out, ".\n");
    struct opt_choice choice = { 0 };
    if (row->choices || row->choice_at) {
        buffer_puts(out, ".RS\n");
        for (size_t i = 0; opt_choice_get(row, i, &choice); i++) {
            buffer_puts(out, ".TP\n");
            roff_styled(out, 'B', choice.name);
            buffer_putc(out, '\n');
            roff_text(out, choice.help ? choice.help : "");
            buffer_putc(out, '\n');
        }
        buffer_puts(out, ".RE\n");
    }
}

static void man_program(struct buffer *out)
{
    roff_title(out, NULL);
    roff_heading(out, "SH", "name");
    buffer_puts(out, "tpa \\- answers from the traces that profilers write\n");
    roff_heading(out, "SH", "synopsis");
    buffer_puts(out, "\\fBtpa\\fR \\fICOMMAND\\fR [\\fIOPTIONS\\fR] \\fIFILE\\fR...\n");
    roff_heading(out, "SH", "description");
    roff_text(out,
              "tpa reads what profilers write and answers, in a terminal, which operator or kernel takes the "
              "time, why a GPU idles, which copy stalls it, where memory peaks and what changed.\n\n"
              "A FILE is a trace (plain, .gz or .zst), a directory of traces, or - for standard input.\n");
    roff_heading(out, "SH", "commands");
    for (size_t i = 0; command_at(i); i++) {
        if (command_at(i)->section == SECTION_HIDDEN)
            continue;
        buffer_printf(out, ".TP\n\\fBtpa\\-%s\\fR(1)\n", command_at(i)->name);
        roff_text(out, command_at(i)->summary);
        buffer_putc(out, '\n');
    }
}

/* The environment variables that a user may set. */
static const struct {
    const char *name, *help;
} variables[] = {
    { "COLUMNS",
      "how wide text output is; without it as wide as the terminal, or 100 columns where there is none." },
    { "CUDA_INJECTION64_PATH",
      "set while a program runs under another tool: tpa capture refuses to displace it." },
    { "LC_ALL, LC_CTYPE, LANG",
      "the first that is set: text is drawn with ASCII alone where it does not name UTF-8." },
    { "NO_COLOR", "when set and not empty, no colours are used." },
    { "PAGER",
      "pages text that is longer than the terminal; less without it. LESS is FRX unless it is set." },
    { "PATH", "where programs are found: gnuplot, the program of tpa capture, python3." },
    { "PYTHONPATH", "tpa bottleneck puts its recorder before it, for the program that it runs." },
    { "TERM", "dumb: no colours and no pager." },
    { "TPA_ALL", "when set and not empty, nothing is left out of text, as by --all." },
    { "TPA_ERRORS", "json: an error is printed as one line of JSON." },
    { "TPA_GNUPLOT", "the gnuplot with which tpa chart draws PNG, PDF and text." },
    { "TMPDIR", "where temporary files go; /tmp without it." },
};

static void man_common(struct buffer *out)
{
    roff_heading(out, "SH", "exit status");
    roff_text(
        out,
        "0 when all went well, 1 when there is a difference or a limit was passed, 2 when there was trouble.\n");
    roff_heading(out, "SH", "environment");
    for (size_t i = 0; i < sizeof variables / sizeof *variables; i++) {
        buffer_printf(out, ".TP\n\\fB%s\\fR\n", variables[i].name);
        roff_text(out, variables[i].help);
        buffer_putc(out, '\n');
    }
}

void help_man(const struct command *command, struct buffer *out)
{
    if (command == NULL) {
        man_program(out);
        man_common(out);
        return;
    }
    roff_title(out, command);
    roff_heading(out, "SH", "name");
    buffer_printf(out, "tpa\\-%s \\- ", command->name);
    roff_text(out, command->summary);
    buffer_putc(out, '\n');
    roff_heading(out, "SH", "synopsis");
    buffer_printf(out, "\\fBtpa %s\\fR [\\fIOPTIONS\\fR]", command->name);
    if (command->operands) {
        buffer_putc(out, ' ');
        roff_styled(out, 'I', command->operands);
    }
    buffer_putc(out, '\n');
    if (command->description) {
        roff_heading(out, "SH", "description");
        roff_text(out, command->description);
        buffer_putc(out, '\n');
    }
    roff_heading(out, "SH", "options");
    for (const struct opt *row = command->options; !opt_is_end(row); row++) {
        if (opt_is_heading(row))
            roff_heading(out, "SS", row->help);
        else if (opt_is_shown(row))
            roff_option(out, row, command->defaults);
    }
    roff_heading(out, "SH", "examples");
    buffer_puts(out, ".nf\n");
    for (size_t i = 0; i < sizeof command->examples / sizeof *command->examples && command->examples[i];
         i++) {
        roff_text(out, command->examples[i]);
        buffer_putc(out, '\n');
    }
    buffer_puts(out, ".fi\n");
    man_common(out);
    roff_heading(out, "SH", "see also");
    buffer_puts(out, "\\fBtpa\\fR(1)\n");
}

/* --- Markdown ------------------------------------------------------------------------------------------------ */

/* Text for a table cell outside code: only these characters are special there, in our own texts. */
static void markdown_text(struct buffer *out, const char *text)
{
    for (const char *c = text; *c; c++) {
        if (strchr("|*_<>`\\", *c))
            buffer_putc(out, '\\');
        buffer_putc(out, *c == '\n' ? ' ' : *c);
    }
}

static void markdown_option(struct buffer *out, const struct opt *row, const void *defaults)
{
    SCOPED struct buffer value = { 0 };
    buffer_puts(out, "| `");
    if (row->letter)
        buffer_printf(out, "-%c, ", row->letter);
    opt_append_usage(row, defaults, out);
    buffer_puts(out, "` | ");
    markdown_text(out, row->help);
    struct opt_choice choice = { 0 };
    if (row->type == &opt_choice || row->type == &opt_choices)
        for (size_t i = 0; opt_choice_get(row, i, &choice); i++)
            buffer_printf(out, "%s`%s`", i == 0 ? ": " : ", ", choice.name);
    opt_append_default(row, defaults, &value);
    if (value.count > 0)
        buffer_printf(out, " | `%s` |\n", value.at);
    else
        buffer_puts(out, " | |\n");
}

void help_markdown(const struct command *command, struct buffer *out)
{
    buffer_printf(out, "    tpa %s [OPTIONS]%s%s\n", command->name, command->operands ? " " : "",
                  command->operands ? command->operands : "");
    bool in_table = false;
    for (const struct opt *row = command->options; !opt_is_end(row); row++) {
        if (opt_is_heading(row)) {
            buffer_printf(out, "\n### %s\n", row->help);
            in_table = false;
        } else if (opt_is_shown(row)) {
            if (!in_table)
                buffer_puts(out, "\n| option | what it does | default |\n| --- | --- | --- |\n");
            in_table = true;
            markdown_option(out, row, command->defaults);
        }
    }
}
