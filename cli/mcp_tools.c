#include "cli/mcp_tools.h"

#include "cli/commands.h"
#include "report/budget.h"
#include "report/json_writer.h"
#include <dirent.h>
#include <inttypes.h>
#include <stdarg.h>
#include <sys/stat.h>

enum { LEAST_TOKENS = BUDGET_LEAST_TOKENS, MOST_TOKENS = 20000, MOST_TRACES = 10000 };

const char mcp_tools_instructions[] =
    "Profiler traces, answered from files below the roots. traces: files, or folders of them. budget: tokens that the answer may "
    "take; `truncated` says what was left out. `cannot_answer` says why a trace cannot tell, and what to record. Times are integer "
    "nanoseconds, sizes bytes, shares 0..1. Common arguments: limit: rows of a table, 0 for all, or \"20%\". columns: keys "
    "separated by commas. table: keys of tables. sort: a key; reverse: smallest first. by: what makes a row. filter, exclude: "
    "regular expressions (PCRE2) on names. steps: \"3..7\". range: \"1ms..2ms\", or the name of a range. rank, device, stream: "
    "numbers, \"0,2..3\". step_range: a regular expression, which ranges are the steps. as: what several files are together. "
    "infer_steps: whether unmarked steps are inferred. strict: fail if a file is not complete. notes, all: more detail. Begin with "
    "summary, or info. Check figures that you wrote with check.";

/* ---- which ---- */

static bool is_among(const char *word, const char *const *list)
{
    while (*list && strcmp(*list, word) != 0)
        list++;
    return *list != NULL;
}

static const struct opt *mcp_option_find(const struct command *command, const char *name)
{
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
        if (row->name && strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* Does COMMAND read, print JSON and write nothing? */
bool mcp_tools_has(const struct command *command)
{
    static const char *const writers[] = { "nightly", "chart",      "report", "convert",
                                           "capture", "bottleneck", "facts",  NULL };
    bool reads = command->reads_traces || command->reads_profiles || command->reads_actions ||
                 command->reads_snapshots || command->section == SECTION_ANALYZE;
    return reads && command->section != SECTION_HIDDEN && !command->runs_program &&
           !is_among(command->name, writers) && mcp_option_find(command, "format");
}

/* Is ROW an argument? How the result is written is the server's. */
static bool is_argument(const struct command *command, const struct opt *row)
{
    static const char *const left_out[] = { "output",    "color",    "format",   "wide",
                                            "jobs",      "progress", "budget",   "max-ratio",
                                            "time-unit", "pager",    "no-pager", NULL };
    static const char *const of_sql[] = { "file", "query", "timeout", NULL };
    return opt_is_shown(row) && !is_among(row->name, left_out) &&
           !(strcmp(command->name, "sql") == 0 && is_among(row->name, of_sql));
}

/* ---- their schemas ---- */

/* How many tools have an option NAME? */
static size_t count_sharing(const char *name)
{
    size_t count = 0;
    for (size_t i = 0; command_at(i); i++)
        count += mcp_tools_has(command_at(i)) && mcp_option_find(command_at(i), name);
    return count;
}

static void add_type(struct json_writer *json, const char *type)
{
    json_add_text(json, "type", type);
}

static void add_enum(struct json_writer *json, const struct opt *row)
{
    struct opt_choice choice = { 0 };
    json_key(json, "enum");
    json_begin_array(json);
    for (size_t i = 0; opt_choice_get(row, i, &choice); i++)
        json_emit_text(json, choice.name);
    json_end_array(json);
}

static void add_items(struct json_writer *json, const struct opt *row)
{
    add_type(json, "array");
    json_key(json, "items");
    json_begin_object(json);
    add_type(json, "string");
    if (row && row->type == &opt_choices)
        add_enum(json, row);
    json_end_object(json);
}

/* The first words of the help of ROW, unless many tools have it. */
static void add_description(struct json_writer *json, const struct opt *row)
{
    enum { SHARED_BY = 10, MOST = 60 };
    size_t len = strlen(row->help);
    if (count_sharing(row->name) >= SHARED_BY)
        return;
    if (len > MOST)
        for (len = MOST; len > 0 && row->help[len] != ' ';)
            len--;
    while (len > 0 && strchr(" ,;:(", row->help[len - 1]))
        len--;
    json_key(json, "description");
    json_emit_string(json, row->help, len);
}

static void add_property(struct json_writer *json, const struct opt *row)
{
    struct buffer name = { 0 };
    buffer_puts(&name, row->name);
    for (size_t i = 0; i < name.count; i++)
        if (name.at[i] == '-')
            name.at[i] = '_';
    json_key(json, name.at);
    buffer_release(&name);
    json_begin_object(json);
    if (row->type == &opt_flag) {
        add_type(json, "boolean");
    } else if (row->type == &opt_count || row->type == &opt_integer) {
        add_type(json, "integer");
    } else if (row->type == &opt_limit) {
        json_key(json, "type");
        json_begin_array(json);
        json_emit_text(json, "integer");
        json_emit_text(json, "string");
        json_end_array(json);
    } else if (row->type == &opt_choices || row->type == &opt_list || row->type == &opt_file_list) {
        add_items(json, row);
    } else {
        add_type(json, "string");
        if (row->type == &opt_choice)
            add_enum(json, row);
    }
    add_description(json, row);
    json_end_object(json);
}

/* An argument of its own instead of an operand or an option: the text of `sql`, the answer that `check` reads. */
static const char *own_argument(const struct command *command)
{
    return strcmp(command->name, "sql") == 0     ? "query"
           : strcmp(command->name, "check") == 0 ? "answer"
                                                 : NULL;
}

static void add_tool(struct json_writer *json, const struct command *command)
{
    const char *own = own_argument(command);
    json_begin_object(json);
    json_add_text(json, "name", command->name);
    json_add_text(json, "description", command->summary);
    json_key(json, "inputSchema");
    json_begin_object(json);
    add_type(json, "object");
    json_key(json, "properties");
    json_begin_object(json);
    json_key(json, "traces");
    json_begin_object(json);
    add_items(json, NULL);
    json_add_integer(json, "minItems", 1);
    json_add_integer(json, "maxItems", MOST_TRACES);
    if (strcmp(command->name, "diff") == 0) {
        json_add_text(json, "description", "first the old side, then the new one");
    }
    json_end_object(json);
    json_key(json, "budget");
    json_begin_object(json);
    add_type(json, "integer");
    json_add_integer(json, "minimum", LEAST_TOKENS);
    json_add_integer(json, "maximum", MOST_TOKENS);
    json_end_object(json);
    if (own) {
        json_key(json, own);
        json_begin_object(json);
        add_type(json, "string");
        json_key(json, "description");
        json_emit_text(json, own[0] == 'q' ? "SQL: select ... from kernels, events, operators, ..."
                                           : "a file of the answer; or text instead");
        json_end_object(json);
    }
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
        if (is_argument(command, row))
            add_property(json, row);
    json_end_object(json);
    json_key(json, "required");
    json_begin_array(json);
    json_emit_text(json, "traces");
    if (own && own[0] == 'q')
        json_emit_text(json, own);
    json_end_array(json);
    json_add_bool(json, "additionalProperties", false);
    json_end_object(json);
    json_key(json, "annotations");
    json_begin_object(json);
    json_add_bool(json, "readOnlyHint", true);
    json_end_object(json);
    json_end_object(json);
}

void mcp_tools_list(struct buffer *out)
{
    struct json_writer json = { .text = out, .compact = true };
    json_begin_array(&json);
    for (size_t i = 0; command_at(i); i++)
        if (mcp_tools_has(command_at(i)))
            add_tool(&json, command_at(i));
    json_end_array(&json);
}

/* ---- a call ---- */

/* Being made: CALL, and its parts that come last. */
struct making {
    const struct mcp_tools *tools;
    const struct command *command;
    struct mcp_call *call;
    struct buffer operands; /* as the words */
    struct buffer answer; /* which file check reads, and in which state: another one needs no other keeper */
    size_t traces;
    bool has_own;
};

/* Set the error of a call, unless it has one. Returns false. */
TPA_PRINTF(3, 4)
static bool refuse(struct making *making, const char *kind, const char *fmt, ...)
{
    struct mcp_call *call = making->call;
    va_list args;
    if (call->kind)
        return false;
    call->kind = kind;
    va_start(args, fmt);
    vsnprintf(call->message, sizeof call->message, fmt, args);
    va_end(args);
    snprintf(call->hint, sizeof call->hint, "%s",
             strcmp(kind, "outside_roots") == 0
                 ? "name files below the folders that the server was started with (--root)"
             : strcmp(kind, "cannot_read") == 0 ? "name a regular file, or a folder of traces"
                                                : "tools/list describes the arguments");
    return false;
}

static bool refuse_type(struct making *making, const char *argument, const char *expected)
{
    return refuse(making, "bad_argument", "%s: %s is expected", argument, expected);
}

static void mcp_word_add(struct buffer *words, const char *word)
{
    buffer_puts(words, word ? word : ""); /* of a buffer that nothing was added to */
    buffer_add(words, "", 1);
}

static void mcp_option_add(struct making *making, const char *name, const char *value)
{
    SCOPED struct buffer word = { 0 };
    buffer_printf(&word, "--%s=%s", name, value);
    mcp_word_add(&making->call->words, word.at);
}

/* What tells whether a file has changed; of a folder, of all that is in it, without following links. */
static void describe_file(struct buffer *out, const char *path, int depth)
{
    enum { DEEPEST = 8 };
    struct stat status;
    if (lstat(path, &status) != 0 || (S_ISLNK(status.st_mode) && (depth > 0 || stat(path, &status) != 0)))
        return;
    buffer_printf(out, "%s\n%" PRIu64 " %" PRIu64 " %" PRId64 " %" PRId64 ".%09ld\n", path,
                  (uint64_t)status.st_dev, (uint64_t)status.st_ino, (int64_t)status.st_size,
                  (int64_t)status.st_mtim.tv_sec, status.st_mtim.tv_nsec);
    DIR *folder = S_ISDIR(status.st_mode) && depth < DEEPEST ? opendir(path) : NULL;
    struct dirent *entry;
    while (folder && (entry = readdir(folder)) != NULL) {
        struct buffer inner = { 0 };
        if (strcmp(entry->d_name, ".") == 0 || strcmp(entry->d_name, "..") == 0)
            continue;
        buffer_printf(&inner, "%s/%s", path, entry->d_name);
        describe_file(out, inner.at, depth + 1);
        buffer_release(&inner);
    }
    if (folder)
        closedir(folder);
}

/* The path VALUE of ARGUMENT, if it may be read; PATH is replaced. What it is now is appended to STATE. */
static bool take_path(struct making *making, const char *argument, const struct json_text *value,
                      struct buffer *path, struct buffer *state)
{
    if (!value->is_string)
        return refuse_type(making, argument, "a text");
    enum roots_place place =
        message_string(value, path) ? roots_check(making->tools->roots, path->at) : ROOTS_OUTSIDE;
    if (place == ROOTS_OUTSIDE)
        return refuse(making, "outside_roots", "%s: this lies outside of the folders that may be read",
                      argument);
    if (place == ROOTS_UNREADABLE)
        return refuse(making, "cannot_read", "%s: %s is missing, or no file or folder that can be read",
                      argument, path->at);
    describe_file(state, path->at, 0);
    return true;
}

static bool take_traces(struct making *making, const struct json_text *value)
{
    struct json_pull in = { value->at, value->at + value->len };
    struct json_text element;
    SCOPED struct buffer path = { 0 };
    bool good = message_is_array(value) || refuse_type(making, "traces", "an array of paths");
    if (good)
        json_enter(&in, '[');
    while (good && json_next_element(&in) && json_read(&in, &element)) {
        good = making->traces++ < MOST_TRACES
                   ? take_path(making, "traces", &element, &path, &making->call->files)
                   : refuse(making, "bad_argument", "traces: at most %d paths", MOST_TRACES);
        if (good)
            mcp_word_add(&making->operands, path.at);
    }
    return good;
}

static bool take_budget(struct making *making, const struct json_text *value)
{
    int64_t tokens = message_is_integer(value) ? json_text_integer(value, -1) : -1;
    char text[32];
    if (!message_is_integer(value))
        return refuse_type(making, "budget", "an integer");
    if (tokens < LEAST_TOKENS || tokens > MOST_TOKENS)
        return refuse(making, "bad_argument", "budget: %d to %d tokens", LEAST_TOKENS, MOST_TOKENS);
    snprintf(text, sizeof text, "%" PRId64, tokens);
    mcp_option_add(making, "budget", text);
    return true;
}

/* A text, of ROW; of a file, one that may be read. */
static bool take_text(struct making *making, const char *argument, const struct opt *row,
                      const struct json_text *value, struct buffer *text)
{
    if (row->type == &opt_file || row->type == &opt_file_list || row->type == &opt_directory)
        return take_path(making, argument, value, text, &making->call->files);
    if (!value->is_string)
        return refuse_type(making, argument, "a text");
    return message_string(value, text) || refuse(making, "bad_argument", "%s: a text with a NUL", argument);
}

static bool take_array(struct making *making, const char *argument, const struct opt *row,
                       const struct json_text *value)
{
    struct json_pull in = { value->at, value->at + value->len };
    struct json_text element;
    SCOPED struct buffer text = { 0 }, joined = { 0 };
    bool good = message_is_array(value) || refuse_type(making, argument, "an array of texts");
    if (good)
        json_enter(&in, '[');
    while (good && json_next_element(&in) && json_read(&in, &element)) {
        good = take_text(making, argument, row, &element, &text);
        if (good && row->type == &opt_choices)
            buffer_printf(&joined, "%s%s", joined.count ? "," : "", text.at);
        else if (good)
            mcp_option_add(making, row->name, text.at);
    }
    if (good && joined.count)
        mcp_option_add(making, row->name, joined.at);
    return good;
}

static bool take_option(struct making *making, const char *argument, const struct opt *row,
                        const struct json_text *value)
{
    SCOPED struct buffer text = { 0 };
    bool is_integer = row->type == &opt_count || row->type == &opt_integer, good = true;
    if (row->type == &opt_flag) {
        bool on = !value->is_string && json_text_is(value, "true");
        good = on || (!value->is_string && json_text_is(value, "false")) ||
               refuse_type(making, argument, "true or false");
        buffer_printf(&text, "--%s%s", on ? "" : "no-", row->name);
        if (good)
            mcp_word_add(&making->call->words, text.at);
    } else if (row->type == &opt_choices || row->type == &opt_list || row->type == &opt_file_list) {
        good = take_array(making, argument, row, value);
    } else if (is_integer || (row->type == &opt_limit && !value->is_string)) {
        good = message_is_integer(value) ||
               refuse_type(making, argument, is_integer ? "an integer" : "an integer or a text");
        buffer_printf(&text, "%.*s", (int)(value->len < 100 ? value->len : 100), value->at);
        if (good)
            mcp_option_add(making, row->name, text.at);
    } else {
        good = take_text(making, argument, row, value, &text);
        if (good)
            mcp_option_add(making, row->name, text.at);
    }
    return good;
}

/* The argument KEY, which is no option of the command. */
static bool take_other(struct making *making, const char *key, const struct opt *row,
                       const struct json_text *value)
{
    const char *own = own_argument(making->command);
    SCOPED struct buffer text = { 0 };
    bool good;
    if (own && strcmp(own, key) == 0 && own[0] == 'q') {
        good = value->is_string ? message_string(value, &text) ||
                                      refuse(making, "bad_argument", "query: a text with a NUL")
                                : refuse_type(making, key, "a text");
        if (good)
            mcp_option_add(making, "query", text.at);
        making->has_own = good;
    } else if (own && strcmp(own, key) == 0) {
        good = take_path(making, key, value, &text, &making->answer);
        if (good) { /* the first operand */
            SCOPED struct buffer traces = making->operands;
            making->operands = (struct buffer){ 0 };
            mcp_word_add(&making->operands, text.at);
            if (traces.count)
                buffer_add(&making->operands, traces.at, traces.count);
        }
        making->has_own = good;
    } else {
        good = !(row && row->type == &opt_file && strcmp(key, "output") != 0 && value->is_string) ||
               take_path(making, key, value, &text, &making->call->files);
        good = good && refuse(making, "bad_argument", "there is no argument %.100s", key);
    }
    return good;
}

static bool take_argument(struct making *making, const char *key, const struct json_text *value)
{
    if (strcmp(key, "traces") == 0)
        return take_traces(making, value);
    if (strcmp(key, "budget") == 0)
        return take_budget(making, value);
    SCOPED struct buffer name = { 0 };
    buffer_puts(&name, key);
    buffer_putc(&name, '\0');
    for (char *c = name.at; *c; c++)
        *c = *c == '_' ? '-' : *c;
    const struct opt *row = strchr(key, '-') ? NULL : mcp_option_find(making->command, name.at);
    return row && is_argument(making->command, row) ? take_option(making, key, row, value)
                                                    : take_other(making, key, row, value);
}

/* What must be there. */
static bool check_making(struct making *making)
{
    bool is_sql = strcmp(making->command->name, "sql") == 0,
         is_check = strcmp(making->command->name, "check") == 0;
    if (!making->traces)
        return refuse(making, "bad_argument", "traces: at least one path is expected");
    if (is_sql && !making->has_own)
        return refuse(making, "bad_argument", "query is missing");
    if (is_check && !making->has_own &&
        !memmem(making->call->words.at, making->call->words.count, "\0--text=", 8))
        return refuse(making, "bad_argument", "answer is missing, or text instead");
    return true;
}

bool mcp_tools_prepare(void *context, const char *name, const struct json_text *arguments,
                       struct mcp_call *call)
{
    struct making making = { .tools = context, .call = call };
    const char *begin = arguments->len ? arguments->at : "";
    struct json_pull in = { begin, begin + arguments->len };
    struct json_text key, value;
    struct buffer word = { 0 };
    bool good = true;
    for (size_t i = 0; command_at(i) && !making.command; i++)
        if (mcp_tools_has(command_at(i)) && strcmp(command_at(i)->name, name) == 0)
            making.command = command_at(i);
    if (!making.command)
        return false;
    mcp_word_add(&call->words, name);
    buffer_printf(&word, "--budget=%" PRId64 "B", making.tools->budget_bytes);
    mcp_word_add(&call->words, "--format=json");
    mcp_word_add(&call->words, word.at);
    if (strcmp(name, "sql") == 0)
        mcp_word_add(&call->words, "--timeout=30s");
    if (arguments->len)
        json_enter(&in, '{');
    while (good && arguments->len && json_next_key(&in, &key) && json_read(&in, &value))
        good = message_string(&key, &word)
                   ? take_argument(&making, word.at, &value)
                   : refuse(&making, "bad_argument", "an argument's name holds a NUL");
    if (good && check_making(&making)) {
        mcp_word_add(&call->words, "--");
        buffer_add(&call->words, making.operands.at, making.operands.count);
        buffer_putc(&call->files, '\0');
        if (making.answer.count) {
            mcp_word_add(&call->words, "");
            mcp_word_add(&call->words, making.answer.at);
        }
    }
    EACH(buffer_release, &making.operands, &making.answer, &word);
    return true;
}
