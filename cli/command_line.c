/* command_line.c - see command_line.h. */
#include "cli/command_line.h"

#include "base/shell_word.h"

static const struct invocation *running;

void command_line_set(const struct invocation *call)
{
    running = call;
}

static void command_line_add_word(struct buffer *out, const char *word)
{
    buffer_putc(out, ' ');
    shell_word_append(out, word, strlen(word));
}

static void add_option(struct buffer *out, const struct opt *row, const char *value)
{
    buffer_printf(out, " --%s", row->name);
    if (value[0] == '-') { /* it would be taken for an option */
        buffer_putc(out, '=');
        shell_word_append(out, value, strlen(value));
    } else {
        command_line_add_word(out, value);
    }
}

static void add_list(struct buffer *out, const struct opt *row, const struct opt_list *list)
{
    for (size_t i = 0; i < list->count; i++)
        add_option(out, row, list->at[i]);
}

/* Append ROW with its value in the arguments of CALL, unless that is the default. */
static void add_row(struct buffer *out, const struct opt *row, const struct invocation *call)
{
    const void *value = (const char *)call->args + row->offset;
    if (row->type == &opt_flag) {
        bool on = *(const bool *)value;
        if (on != *(const bool *)((const char *)call->command->defaults + row->offset))
            buffer_printf(out, " --%s%s", on ? "" : "no-", row->name);
        return;
    }
    if (row->type == &opt_list || row->type == &opt_file_list) {
        add_list(out, row, value);
        return;
    }
    SCOPED struct buffer now = { 0 }, otherwise = { 0 };
    opt_append_default(row, call->args, &now);
    opt_append_default(row, call->command->defaults, &otherwise);
    if (now.count && strcmp(now.at, otherwise.count ? otherwise.at : "") != 0)
        add_option(out, row, now.at);
}

static void add_inputs(struct buffer *out)
{
    enum { MOST = 300 };
    SCOPED struct buffer words = { 0 };
    if (running->operand_count && running->operands[0][0] == '-' && running->operands[0][1])
        buffer_puts(&words, " --");
    for (size_t i = 0; i < running->operand_count && words.count <= MOST; i++)
        command_line_add_word(&words, running->operands[i]);
    if (words.count > MOST)
        buffer_puts(out, " ...");
    else if (words.count)
        buffer_add(out, words.at, words.count);
}

void command_line_add_options(struct buffer *out, const struct invocation *call, const char *without)
{
    char name[64];
    for (const struct opt *row = call->command->options; row && !opt_is_end(row); row++) {
        snprintf(name, sizeof name, " %s ", row->name ? row->name : "");
        if (row->name && !strstr(without, name))
            add_row(out, row, call);
    }
}

void command_line_add_more(struct buffer *out)
{
    buffer_puts(out, "");
    if (!running)
        return;
    bool limits = false;
    for (const struct opt *row = running->command->options; row && !opt_is_end(row); row++)
        limits |= row->name && strcmp(row->name, "limit") == 0;
    buffer_printf(out, "tpa %s", running->command->name);
    command_line_add_options(out, running, " limit budget ");
    buffer_puts(out, limits ? " --limit 0" : ""); /* last: it ends a list of files, too */
    add_inputs(out);
}

void command_line_add_other(struct buffer *out, const char *command)
{
    buffer_printf(out, "tpa %s", command);
    if (running)
        add_inputs(out);
}

void command_line_cannot(struct result *result, const char *reason, const char *text, const char *needs,
                         const char *instead)
{
    if (result->cannot.reason)
        return;
    result_cannot_answer(result, reason, text, needs);
    while (instead && *instead) {
        char name[32];
        size_t len = strcspn(instead, " ");
        snprintf(name, sizeof name, "%.*s", (int)len, instead);
        SCOPED struct buffer line = { 0 };
        command_line_add_other(&line, name);
        result_answer_instead(result, line.at);
        instead += len + (instead[len] == ' ');
    }
}

const char *command_line_base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash && slash[1] ? slash + 1 : path;
}

const char *command_line_name_files(struct arena *texts, const char *const *paths, size_t count)
{
    const char *first = command_line_base_name(paths[0]);
    return count == 1 ? first : arena_printf(texts, "%s and %zu more", first, count - 1);
}

bool command_line_is_json(const struct command *command, const void *args)
{
    struct opt_choice choice;
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
        if (row->name && row->type == &opt_choice && strcmp(row->name, "format") == 0)
            return opt_choice_get(row, (size_t) * (const int *)((const char *)args + row->offset), &choice) &&
                   strcmp(choice.name, "json") == 0;
    return false;
}
