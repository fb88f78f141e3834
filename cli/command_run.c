#include "cli/command_run.h"

#include "cli/command_line.h"
#include "cli/output.h"
#include "cli/output_file.h"
#include "report/json_parts.h"

static bool check_operands(const struct command *command, const struct operands *operands,
                           struct tpa_error *err)
{
    size_t least, most;
    command_operand_bounds(command, &least, &most);
    if (operands->count < least)
        tpa_fail(err, TPA_NOWHERE, "%s missing: tpa %s [OPTIONS] %s",
                 operands->count == 0 ? "operand" : "an operand is", command->name, command->operands);
    else if (operands->count > most)
        tpa_fail(err, TPA_NOWHERE, "'%s' is one operand too many: tpa %s [OPTIONS]%s%s", operands->at[most],
                 command->name, command->operands ? " " : "", command->operands ? command->operands : "");
    else
        return true;
    return tpa_hint(err, "tpa %s --help explains it and has examples", command->name);
}

/* What kind of error it is, for programs that may mend the call. */
static const char *error_kind(const struct tpa_error *err, bool of_use)
{
    return err->cannot                ? "failed"
           : of_use || err->option[0] ? "bad_argument"
           : err->file[0]             ? "cannot_read"
                                      : "failed";
}

/* The option that ERR is about; "" if none is known. Many messages begin with it. */
static void find_option(struct tpa_error *err)
{
    if (!err->option[0] && strncmp(err->message, "--", 2) == 0)
        snprintf(err->option, sizeof err->option, "%.*s", (int)strcspn(err->message, " :='"), err->message);
}

/* The error as the result, for programs that read JSON from standard output: COMMAND's own schema if the input cannot answer. */
static void add_document(const struct command *command, struct tpa_error *err, bool of_use,
                         struct buffer *out)
{
    struct json_writer json = { .text = out };
    struct cannot_answer cannot = { err->cannot, err->message, err->hint[0] ? err->hint : NULL, { NULL } };
    find_option(err);
    SCOPED struct buffer line = { 0 };
    if (err->cannot)
        command_line_add_other(&line, "info");
    cannot.instead[0] = line.at;
    json_begin_object(&json);
    buffer_printf(out, "\"schema\": \"tpa.%s/1\"", err->cannot ? command->name : "error");
    json.has_items[0] = true;
    json_add_cannot(&json, &cannot);
    json_key(&json, "error");
    json_begin_object(&json);
    json_add_text(&json, "kind", error_kind(err, of_use));
    json_add_text(&json, "message", err->message);
    json_add_text(&json, "hint", err->hint[0] ? err->hint : NULL);
    json_add_text(&json, "option", err->option[0] ? err->option : NULL);
    json_add_text(&json, "file", err->file[0] ? err->file : NULL);
    json_end_object(&json);
    for (int i = 0; err->cannot && i < 2; i++) {
        json_key(&json, i ? "notices" : "tables");
        json_begin_array(&json);
        json_end_array(&json);
    }
    json_end_object(&json);
    buffer_putc(out, '\n');
}

/* Is JSON asked for among the COUNT words of ARGV, of which not all could be read? */
static bool words_ask_for_json(int count, char *const *argv)
{
    bool is_format = false;
    for (int i = 0; i < count; i++) {
        const char *word = argv[i];
        if (is_format && strcmp(word, "json") == 0)
            return true;
        is_format = strcmp(word, "--format") == 0 || strcmp(word, "-f") == 0;
        if (strcmp(word, "--format=json") == 0 || strcmp(word, "-fjson") == 0)
            return true;
    }
    return false;
}

void command_error_document(const struct command *command, int count, char *const *argv,
                            struct tpa_error *err, struct buffer *document)
{
    if (words_ask_for_json(count, argv))
        add_document(command, err, true, document);
}

/* The value of --output; NULL if COMMAND has no such option, or it is not given. */
static const char *output_path(const struct command *command, const void *args)
{
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
        if (row->name && row->type == &opt_file && strcmp(row->name, "output") == 0)
            return *(const char *const *)((const char *)args + row->offset);
    return NULL;
}

struct command_outcome command_run(const struct command *command, int count, char **argv,
                                   struct buffer *document, struct tpa_error *err)
{
    struct command_outcome outcome = { .exit_code = EXIT_TROUBLE };
    struct operands operands;
    SCOPED void *args = mem_alloc(command->args_size > 0 ? command->args_size : 1);
    char **words = mem_alloc(mem_times((size_t)count + 1, sizeof *words)); /* parsing changes ARGV */
    if (command->args_size > 0)
        memcpy(args, command->defaults, command->args_size);
    memcpy(words, argv, (size_t)count * sizeof *words);
    output_begin();
    bool parsed = command->runs_program
                      ? options_parse_program(command->options, args, count, argv, &operands, err)
                      : options_parse(command->options, args, count, argv, &operands, err);
    if (!parsed && err->hint[0] == '\0')
        tpa_hint(err, "tpa %s --help explains the options", command->name);
    if (parsed && operands.help_wanted) {
        outcome = (struct command_outcome){ EXIT_FINE, true };
    } else if (parsed && check_operands(command, &operands, err)) {
        struct invocation call = { command, args, operands.at, operands.count };
        output_file_announce(output_path(command, args));
        command_line_set(&call);
        outcome.exit_code = command->main(&call, err);
        if (err->failed && !output_has_begun() && !command->runs_program &&
            command_line_is_json(command, args))
            add_document(command, err, false, document);
        command_line_set(NULL);
    } else {
        command_error_document(command, count, words, err, document);
    }
    if (err->failed)
        outcome.exit_code = EXIT_TROUBLE;
    options_release(command->options, args);
    free(words);
    return outcome;
}
