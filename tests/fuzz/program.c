/* program.c - see program.h. */
#define _GNU_SOURCE /* memfd_create */
#include "tests/fuzz/program.h"

#include "cli/commands.h"
#include "ingest/json_text.h"
#include "ingest/saved.h"
#include "report/printer.h"
#include <sys/mman.h>
#include <unistd.h>

static void must(bool condition, const char *what)
{
    if (condition)
        return;
    fprintf(stderr, "not so: %s\n", what);
    abort();
}

char *program_file(int slot, const uint8_t *data, size_t size)
{
    static char paths[2][32];
    static int files[2] = { -1, -1 };
    if (files[slot] == -1) {
        files[slot] = memfd_create("fuzz", 0);
        must(files[slot] != -1, "there are files in memory");
        snprintf(paths[slot], sizeof paths[slot], "/proc/self/fd/%d", files[slot]);
    }
    must(ftruncate(files[slot], 0) == 0 && pwrite(files[slot], data, size, 0) == (ssize_t)size,
         "a file was made");
    return paths[slot];
}

static const struct opt *find_row(const struct command *command, const char *name)
{
    for (const struct opt *row = command->options; row->type || row->help; row++)
        if (row->name && strcmp(row->name, name) == 0)
            return row;
    return NULL;
}

/* Let ARGS name no files but FILES, start no program and no threads. */
static void confine(const struct command *command, char *args, const struct program_files *files)
{
    const char *none = NULL;
    for (const struct opt *row = command->options; row->type || row->help; row++) {
        if (row->type == &opt_file || row->type == &opt_directory)
            memcpy(args + row->offset, &none, sizeof none);
        if (row->type == &opt_file_list) {
            struct opt_list *list = (struct opt_list *)(void *)(args + row->offset);
            for (size_t i = 0; i < list->count; i++)
                list->at[i] = files->paths[i % 2];
        }
    }
    const struct opt *store = find_row(command, "store");
    if (store)
        memcpy(args + store->offset, &files->store, sizeof files->store);
    const struct opt *jobs = find_row(command, "jobs"), *script = find_row(command, "script");
    const struct opt *quiet = find_row(command, "progress");
    if (jobs)
        *(uint64_t *)(void *)(args + jobs->offset) = 1;
    if (script) /* else gnuplot would be started */
        *(bool *)(args + script->offset) = true;
    if (quiet)
        *(bool *)(args + quiet->offset) = false;
}

/* Would tpa run the command, and is it one that starts no program? */
static bool can_run(const struct command *command, const struct operands *operands)
{
    size_t least, most;
    command_operand_bounds(command, &least, &most);
    return !operands->help_wanted && !command->runs_program && strcmp(command->name, "mcp") != 0 &&
           strcmp(command->name, "view") != 0 && /* they would wait for messages */
           operands->count >= least && operands->count <= most;
}

static int run(const struct command *command, char *args, struct operands *operands,
               const struct program_files *files, struct tpa_error *err)
{
    for (size_t i = 0; command->reads_traces && !files->store && i < operands->count; i++)
        operands->at[i] = files->paths[i % 2];
    confine(command, args, files);
    struct invocation call = { command, args, operands->at, operands->count };
    return command->main(&call, err);
}

/* What is chosen in ARGS by OPTION, --format or --to; "" when the command has none. */
static const char *choice_of(const struct command *command, const char *args, const char *option)
{
    const struct opt *row = find_row(command, option);
    struct opt_choice choice = { 0 };
    if (!row || row->type != &opt_choice)
        return "";
    int index = *(const int *)(const void *)(args + row->offset);
    if (row->choice_at)
        return row->choice_at((size_t)index, &choice) ? choice.name : "";
    return row->choices[index].name;
}

static bool asks_for_color(const struct command *command, const char *args)
{
    const struct opt *row = find_row(command, "color");
    return row && *(const int *)(const void *)(args + row->offset) == 1;
}

static bool writes_json(const struct command *command, const char *args)
{
    const char *form = choice_of(command, args, "to");
    return strcmp(choice_of(command, args, "format"), "json") == 0 || strcmp(form, "chrome") == 0 ||
           strcmp(form, "speedscope") == 0;
}

static void check_output(const struct command *command, const char *args, const char *text, size_t len)
{
    const char *format = choice_of(command, args, "format");
    static const char *const binary[] = { "arrow", "tpa", "perfetto", "sqlite" };
    const char *form = choice_of(command, args, "to");
    bool is_binary = strcmp(format, "arrow") == 0 || strcmp(command->name, "facts") == 0 ||
                     (len > 8 && memcmp(text, "\x89TPA", 4) == 0); /* by its name */
    for (size_t i = 0; i < sizeof binary / sizeof *binary; i++)
        is_binary |= strcmp(form, binary[i]) == 0;
    if (!is_binary && !asks_for_color(command, args) && strcmp(format, "torch") != 0 &&
        strcmp(format, "pstats") != 0)
        must(memchr(text, 0x1b, len) == NULL, "no escape sequence comes out");
    if (writes_json(command, args))
        must(json_is_value(text, len), "what is called JSON is JSON");
    static const char compact[] = "{\"schema\":"; /* with --budget: not to be read again */
    if (strcmp(format, "json") != 0 || strcmp(command->name, "report") == 0 ||
        (len > sizeof compact && memcmp(text, compact, sizeof compact - 1) == 0))
        return;
    struct tpa_error err = { 0 };
    struct source *source = source_open_memory(text, len, "printed", &err);
    struct result *again = source ? saved_read(source, &err) : NULL;
    if (!again)
        tpa_error_print(&err, "tpa", stderr);
    must(again != NULL, "what was printed as JSON can be read");
    result_free(again);
    source_free(source);
}

void program_run(int count, char **words, const struct program_files *files)
{
    static FILE *nowhere;
    if (!nowhere)
        nowhere = fopen("/dev/null", "w");
    struct tpa_error err = { 0 };
    const struct command *command = count > 0 ? command_find(words[0], &err) : NULL;
    if (!command)
        return;
    struct operands operands;
    SCOPED char *args = mem_alloc(command->args_size + 1);
    if (command->args_size)
        memcpy(args, command->defaults, command->args_size);
    bool parsed = command->runs_program
                      ? options_parse_program(command->options, args, count - 1, words + 1, &operands, &err)
                      : options_parse(command->options, args, count - 1, words + 1, &operands, &err);
    must(parsed != err.failed, "options are wrong or there is no error");
    if (parsed && can_run(command, &operands)) {
        FILE *kept_out = stdout, *kept_err = stderr;
        SCOPED char *text = NULL;
        size_t len = 0;
        FILE *collects = open_memstream(&text, &len);
        must(collects && nowhere, "output can be collected");
        stdout = collects;
        stderr = nowhere;
        int code = run(command, args, &operands, files, &err);
        stdout = kept_out;
        stderr = kept_err;
        must(fclose(collects) == 0, "output was collected");
        must(code >= EXIT_FINE && code <= EXIT_TROUBLE, "the exit code is one of ours");
        must(err.failed == (code == EXIT_TROUBLE), "trouble comes with an error");
        must(!err.failed || err.message[0], "an error says something");
        if (code != EXIT_TROUBLE)
            check_output(command, args, text, len);
    }
    options_release(command->options, args);
}

void program_run_line(const char *command, const char *format, const struct program_files *files)
{
    char line[256];
    char *words[24];
    int count = 0;
    snprintf(line, sizeof line, "%s%s%s", command, *format ? " --format " : "", format);
    for (char *word = strtok(line, " "); word; word = strtok(NULL, " "))
        words[count++] = word;
    program_run(count, words, files);
}
