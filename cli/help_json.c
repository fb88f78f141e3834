/*
 * help_json.c - the program's description of itself, for programs: `tpa help --format json`.
 *
 *     {"schema": "tpa.help/1", "version": "0.1.0", "commands": [
 *     {"name": "top", "summary": "...", "description": "...", "section": "Ask a trace", "operands": "TRACE...",
 *     "least_operands": 1, "most_operands": null, "runs_program": false, "reads": ["traces", "profiles"],
 *     "options": [
 *     {"name": "sort", "letter": "s", "group": "Rows", "kind": "text", "value": "KEY", "expects": "a text",
 *     "default": null, "help": "...", "choices": [{"name": "auto", "help": "...", "aliases": null}]}],
 *     "tables": [
 *     {"key": "operators", "of": null, "columns": [
 *     {"key": "cpu_time_total_ns", "kind": "ns", "unit": "ns", "title": "CPU total", "help": "...", "optional": false}]}],
 *     "examples": ["tpa top trace.json"]}]}
 *
 * All of it comes from the rows that are also used for parsing, printing and help.
 */
#include "cli/help.h"

#include "base/table.h"
#include "cli/commands.h"
#include "report/exact.h"
#include "report/json_writer.h"
#include <stdint.h>

static void put(struct json_writer *json, const char *key, const char *text)
{
    json_key(json, key);
    json_put_text(json, text);
}

static void put_added(struct json_writer *json, const char *key, const struct buffer *text)
{
    put(json, key, text->count > 0 ? text->at : NULL);
}

static void put_choices(struct json_writer *json, const struct opt *row)
{
    struct opt_choice choice = { 0 };
    json_key(json, "choices");
    if (!row->choices && !row->choice_at) {
        json_put_null(json);
        return;
    }
    json_begin_array(json);
    for (size_t i = 0; opt_choice_get(row, i, &choice); i++) {
        json_begin_object(json);
        put(json, "name", choice.name);
        put(json, "help", choice.help);
        put(json, "aliases", choice.aliases);
        json_end_object(json);
    }
    json_end_array(json);
}

static void put_default(struct json_writer *json, const struct opt *row, const void *defaults)
{
    if (row->type == &opt_flag) {
        json_key(json, "default");
        json_put_bool(json, *(const bool *)((const char *)defaults + row->offset));
        return;
    }
    struct buffer text = { 0 };
    opt_show_default(row, defaults, &text);
    put_added(json, "default", &text);
    buffer_release(&text);
}

static void put_option(struct json_writer *json, const struct opt *row, const char *group,
                       const void *defaults)
{
    char letter[] = { row->letter, '\0' };
    json_newline(json);
    json_begin_object(json);
    put(json, "name", row->name);
    put(json, "letter", row->letter ? letter : NULL);
    put(json, "group", group);
    put(json, "kind", row->type->kind);
    put(json, "value", row->value_name);
    put(json, "expects", row->type->expects);
    put_default(json, row, defaults);
    put(json, "help", row->help);
    put_choices(json, row);
    json_end_object(json);
}

static void put_options(struct json_writer *json, const struct command *command)
{
    const char *group = NULL;
    json_key(json, "options");
    json_begin_array(json);
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++) {
        if (opt_is_heading(row))
            group = row->help;
        else if (opt_is_shown(row))
            put_option(json, row, group, command->defaults);
    }
    json_end_array(json);
}

static void put_column(struct json_writer *json, const struct table_shape *shape,
                       const struct table_column *column)
{
    enum table_kind kind = column->kind == TABLE_NS && shape->figures ? shape->figures : column->kind;
    struct buffer key = { 0 };
    exact_add_key(&key, column->key, kind);
    json_newline(json);
    json_begin_object(json);
    put(json, "key", key.at);
    put(json, "kind", table_kind_name(kind));
    put(json, "unit", table_kind_unit(kind));
    put(json, "title", column->title);
    put(json, "help", column->help);
    json_key(json, "optional"); /* some answers lack it */
    json_put_bool(json, (column->flags & (TABLE_HIDDEN | TABLE_IF_ANY)) != 0);
    json_end_object(json);
    buffer_release(&key);
}

static void put_tables(struct json_writer *json, const struct command *command)
{
    json_key(json, "tables");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof command->tables / sizeof *command->tables && command->tables[i]; i++) {
        for (const struct table_shape *shape = command->tables[i]; shape->key; shape++) {
            json_newline(json);
            json_begin_object(json);
            put(json, "key", shape->key);
            put(json, "of", shape->of);
            json_key(json, "columns");
            json_begin_array(json);
            for (size_t c = 0; c < shape->column_count && shape->columns[c].key; c++)
                put_column(json, shape, &shape->columns[c]);
            json_end_array(json);
            json_end_object(json);
        }
    }
    json_end_array(json);
}

static void put_operands(struct json_writer *json, const struct command *command)
{
    size_t least, most;
    command_operand_bounds(command, &least, &most);
    put(json, "operands", command->operands);
    json_key(json, "least_operands");
    json_put_integer(json, (int64_t)least);
    json_key(json, "most_operands");
    if (most == SIZE_MAX)
        json_put_null(json);
    else
        json_put_integer(json, (int64_t)most);
    json_key(json, "runs_program");
    json_put_bool(json, command->runs_program);
    json_key(json, "reads");
    json_begin_array(json);
    if (command->reads_traces)
        json_put_text(json, "traces");
    if (command->reads_profiles)
        json_put_text(json, "profiles");
    if (command->reads_actions)
        json_put_text(json, "actions");
    if (command->reads_snapshots)
        json_put_text(json, "snapshots");
    json_end_array(json);
}

static void put_command(struct json_writer *json, const struct command *command)
{
    json_newline(json);
    json_begin_object(json);
    put(json, "name", command->name);
    put(json, "summary", command->summary);
    put(json, "description", command->description);
    put(json, "section", help_section_title(command->section));
    put_operands(json, command);
    put_options(json, command);
    put_tables(json, command);
    json_key(json, "examples");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof command->examples / sizeof *command->examples && command->examples[i]; i++)
        json_put_text(json, command->examples[i]);
    json_end_array(json);
    json_end_object(json);
}

void help_json(const struct command *command, struct buffer *out)
{
    struct json_writer json = { .text = out };
    json_begin_object(&json);
    put(&json, "schema", "tpa.help/1");
    put(&json, "version", TPA_VERSION);
    json_key(&json, "commands");
    json_begin_array(&json);
    for (size_t i = 0; command_at(i); i++)
        if (command ? command == command_at(i) : command_at(i)->section != SECTION_HIDDEN)
            put_command(&json, command_at(i));
    json_end_array(&json);
    json_end_object(&json);
    buffer_putc(out, '\n');
}
