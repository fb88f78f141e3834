/*
 * help_json.c - the program's description of itself, for programs: `tpa help --all --format json`, and in brief without --all.
 *
 *     {"schema": "tpa.help/1", "version": "0.2.0", "commands": [
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

#include "cli/commands.h"
#include "report/exact.h"
#include "report/json_writer.h"

static void emit_added(struct json_writer *json, const char *key, const struct buffer *text)
{
    json_add_text(json, key, text->count > 0 ? text->at : NULL);
}

static void emit_choices(struct json_writer *json, const struct opt *row)
{
    struct opt_choice choice = { 0 };
    json_key(json, "choices");
    if (!row->choices && !row->choice_at) {
        json_emit_null(json);
        return;
    }
    json_begin_array(json);
    for (size_t i = 0; opt_choice_get(row, i, &choice); i++) {
        json_begin_object(json);
        json_add_text(json, "name", choice.name);
        json_add_text(json, "help", choice.help);
        json_add_text(json, "aliases", choice.aliases);
        json_end_object(json);
    }
    json_end_array(json);
}

static void emit_default(struct json_writer *json, const struct opt *row, const void *defaults)
{
    if (row->type == &opt_flag) {
        json_add_bool(json, "default", *(const bool *)((const char *)defaults + row->offset));
        return;
    }
    SCOPED struct buffer text = { 0 };
    opt_append_default(row, defaults, &text);
    emit_added(json, "default", &text);
}

static void emit_option(struct json_writer *json, const struct opt *row, const char *group,
                        const void *defaults)
{
    char letter[] = { row->letter, '\0' };
    json_newline(json);
    json_begin_object(json);
    json_add_text(json, "name", row->name);
    json_add_text(json, "letter", row->letter ? letter : NULL);
    json_add_text(json, "group", group);
    json_add_text(json, "kind", row->type->kind);
    json_add_text(json, "value", row->value_name);
    json_add_text(json, "expects", row->type->expects);
    emit_default(json, row, defaults);
    json_add_text(json, "help", row->help);
    emit_choices(json, row);
    json_end_object(json);
}

static void emit_options(struct json_writer *json, const struct command *command)
{
    const char *group = NULL;
    json_key(json, "options");
    json_begin_array(json);
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++) {
        if (opt_is_heading(row))
            group = row->help;
        else if (opt_is_shown(row))
            emit_option(json, row, group, command->defaults);
    }
    json_end_array(json);
}

/* A table's key and those of its columns. */
static void emit_keys(struct json_writer *json, const struct table_shape *shape)
{
    SCOPED struct buffer key = { 0 };
    json_begin_object(json);
    json_add_text(json, "key", shape->key);
    json_key(json, "columns");
    json_begin_array(json);
    for (size_t c = 0; c < shape->column_count && shape->columns[c].key; c++) {
        enum table_kind kind = shape->columns[c].kind;
        buffer_clear(&key);
        exact_add_key(&key, shape->columns[c].key,
                      kind == TABLE_NS && shape->figures ? shape->figures : kind);
        json_emit_text(json, key.at);
    }
    json_end_array(json);
    json_end_object(json);
}

static void emit_column(struct json_writer *json, const struct table_shape *shape,
                        const struct table_column *column)
{
    enum table_kind kind = column->kind == TABLE_NS && shape->figures ? shape->figures : column->kind;
    SCOPED struct buffer key = { 0 };
    exact_add_key(&key, column->key, kind);
    json_newline(json);
    json_begin_object(json);
    json_add_text(json, "key", key.at);
    json_add_text(json, "kind", table_kind_name(kind));
    json_add_text(json, "unit", table_kind_unit(kind));
    json_add_text(json, "title", column->title);
    json_add_text(json, "help", column->help);
    json_key(json, "optional"); /* some answers lack it */
    json_emit_bool(json, (column->flags & (TABLE_HIDDEN | TABLE_IF_ANY)) != 0);
    json_end_object(json);
}

static void emit_tables(struct json_writer *json, const struct command *command)
{
    json_key(json, "tables");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof command->tables / sizeof *command->tables && command->tables[i]; i++) {
        for (const struct table_shape *shape = command->tables[i]; shape->key; shape++) {
            json_newline(json);
            json_begin_object(json);
            json_add_text(json, "key", shape->key);
            json_add_text(json, "of", shape->of);
            json_key(json, "columns");
            json_begin_array(json);
            for (size_t c = 0; c < shape->column_count && shape->columns[c].key; c++)
                emit_column(json, shape, &shape->columns[c]);
            json_end_array(json);
            json_end_object(json);
        }
    }
    json_end_array(json);
}

static void emit_operands(struct json_writer *json, const struct command *command)
{
    size_t least, most;
    command_operand_bounds(command, &least, &most);
    json_add_text(json, "operands", command->operands);
    json_add_integer(json, "least_operands", (int64_t)least);
    json_key(json, "most_operands");
    if (most == SIZE_MAX)
        json_emit_null(json);
    else
        json_emit_integer(json, (int64_t)most);
    json_add_bool(json, "runs_program", command->runs_program);
    json_key(json, "reads");
    json_begin_array(json);
    if (command->reads_traces)
        json_emit_text(json, "traces");
    if (command->reads_profiles)
        json_emit_text(json, "profiles");
    if (command->reads_actions)
        json_emit_text(json, "actions");
    if (command->reads_snapshots)
        json_emit_text(json, "snapshots");
    json_end_array(json);
}

static void emit_command(struct json_writer *json, const struct command *command)
{
    json_newline(json);
    json_begin_object(json);
    json_add_text(json, "name", command->name);
    json_add_text(json, "summary", command->summary);
    json_add_text(json, "description", command->description);
    json_add_text(json, "section", help_section_title(command->section));
    emit_operands(json, command);
    emit_options(json, command);
    emit_tables(json, command);
    json_key(json, "examples");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof command->examples / sizeof *command->examples && command->examples[i]; i++)
        json_emit_text(json, command->examples[i]);
    json_end_array(json);
    json_end_object(json);
}

/* ---- in brief ---- */

static void emit_brief_choices(struct json_writer *json, const struct opt *row)
{
    struct opt_choice choice = { 0 };
    if (!row->choices && !row->choice_at)
        return;
    json_key(json, "choices");
    json_begin_array(json);
    for (size_t i = 0; opt_choice_get(row, i, &choice); i++) {
        json_begin_object(json);
        json_add_text(json, "name", choice.name);
        json_end_object(json);
    }
    json_end_array(json);
}

/* How much of the texts of a description fits. */
enum detail {
    DETAIL_ALL,
    DETAIL_NO_DESCRIPTION,
    DETAIL_SHORT_HELP,
    DETAIL_NO_HELP,
    DETAIL_NO_COLUMNS,
    DETAILS
};

static void emit_brief_option(struct json_writer *json, const struct opt *row, const void *defaults,
                              enum detail detail)
{
    enum { SHORT = 60 };
    SCOPED struct buffer value = { 0 };
    json_begin_object(json);
    json_add_text(json, "name", row->name);
    json_add_text(json, "kind", row->type->kind);
    if (row->type != &opt_flag)
        opt_append_default(row, defaults, &value);
    if (row->type == &opt_flag && *(const bool *)((const char *)defaults + row->offset)) {
        json_add_bool(json, "default", true);
    } else {
        emit_added(json, "default", &value);
    }
    size_t len = strlen(row->help);
    json_key(json, "help");
    if (detail >= DETAIL_NO_HELP)
        json_emit_null(json);
    else
        json_emit_string(json, row->help, detail == DETAIL_SHORT_HELP && len > SHORT ? SHORT : len);
    emit_brief_choices(json, row);
    json_end_object(json);
}

static void emit_brief(struct json_writer *json, const struct command *command, enum detail detail)
{
    json_begin_object(json);
    json_add_text(json, "name", command->name);
    json_add_text(json, "summary", command->summary);
    if (detail < DETAIL_NO_DESCRIPTION && command->description)
        json_add_text(json, "description", command->description);
    emit_operands(json, command);
    json_key(json, "options");
    json_begin_array(json);
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
        if (opt_is_shown(row))
            emit_brief_option(json, row, command->defaults, detail);
    json_end_array(json);
    json_key(json, "tables");
    json_begin_array(json);
    for (size_t i = 0; i < sizeof command->tables / sizeof *command->tables && command->tables[i]; i++)
        for (const struct table_shape *shape = command->tables[i]; shape->key; shape++)
            if (detail < DETAIL_NO_COLUMNS)
                emit_keys(json, shape);
            else
                json_emit_text(json, shape->key);
    json_end_array(json);
    json_end_object(json);
}

static void begin_document(struct json_writer *json)
{
    json_begin_object(json);
    json_add_text(json, "schema", "tpa.help/1");
    json_add_text(json, "version", TPA_VERSION);
    json_key(json, "commands");
    json_begin_array(json);
}

static void end_document(struct json_writer *json)
{
    json_end_array(json);
    json_end_object(json);
    buffer_putc(json->text, '\n');
}

static void list_commands(struct json_writer *json)
{
    for (size_t i = 0; command_at(i); i++) {
        const struct command *command = command_at(i);
        if (command->section == SECTION_HIDDEN)
            continue;
        json_newline(json);
        json_begin_object(json);
        json_add_text(json, "name", command->name);
        json_add_text(json, "summary", command->summary);
        emit_operands(json, command);
        json_end_object(json);
    }
}

void help_json_brief(const struct command *command, struct buffer *out)
{
    for (int detail = DETAIL_ALL; detail < DETAILS; detail++) {
        struct json_writer json = { .text = out, .compact = command != NULL };
        buffer_clear(out);
        begin_document(&json);
        if (command)
            emit_brief(&json, command, (enum detail)detail);
        else
            list_commands(&json);
        end_document(&json);
        if (out->count <= HELP_JSON_MOST)
            return;
    }
}

void help_json(const struct command *command, struct buffer *out)
{
    struct json_writer json = { .text = out };
    begin_document(&json);
    for (size_t i = 0; command_at(i); i++)
        if (command ? command == command_at(i) : command_at(i)->section != SECTION_HIDDEN)
            emit_command(&json, command_at(i));
    end_document(&json);
}
