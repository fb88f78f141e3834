/* cmd_mcp.c - `tpa mcp`: the commands that read as tools for assistants, on standard input and output. */
#include "cli/command_run.h"
#include "cli/commands.h"
#include "cli/kept.h"
#include "cli/mcp_tools.h"
#include "cli/parts.h"

#include <unistd.h>

struct mcp_args {
    struct opt_list roots;
    int64_t budget_bytes, memory;
};

enum { DEFAULT_BUDGET_BYTES = 10000, MOST_BUDGET_BYTES = 50000 };

static const struct mcp_args mcp_defaults = { .budget_bytes = DEFAULT_BUDGET_BYTES };

/* clang-format off */
static const struct opt mcp_opts[] = {
    OPT_GROUP("Server"),
    OPT_LIST(0, "root", struct mcp_args, roots, "DIR",
             "files below DIR may be read, and no others; may be given several times; without it, the current folder"),
    OPT_VALUE(0, "budget", struct mcp_args, budget_bytes, int64_t, opt_budget, "N",
              "size of an answer where a call names none: tokens (2.5 bytes each), or a size such as 8kB", .flags = 0),
    OPT_SIZE(0, "memory", struct mcp_args, memory, "SIZE",
             "memory that open traces may take, those that were not asked for longest go first; without it half of the machine's"),
    OPT_END,
};
/* clang-format on */

/* Who serves: for those that run its calls. */
static struct roots roots;
static int64_t most_kept;

enum { KEPT_SHARE = 8 /* results of a trace may take an eighth of the memory of all */ };

static bool may_open(const char *path)
{
    return roots_hold(&roots, path);
}

/* In a process of its own: the words of a call, as a command. */
static bool run(int count, char **argv, struct buffer *document, struct buffer *message)
{
    struct tpa_error err = { 0 };
    const struct command *command = command_find(argv[0], &err);
    load_keep(keeper_tell_progress);
    kept_begin(most_kept, !keeper_is_ahead(), keeper_branch, keeper_pass);
    source_set_guard(may_open);
    if (command)
        command_run(command, count - 1, argv + 1, document, &err);
    if (!err.failed)
        return true;
    buffer_printf(message, "tpa %s: ", argv[0]);
    if (err.file[0])
        buffer_printf(message, "%s: ", err.file);
    buffer_printf(message, "%s%s%s", err.message, err.hint[0] ? "\n     hint: " : "", err.hint);
    return false;
}

/* What assistants ask of a trace that is open: first as it is, then by each word of --by. The summary needs what most of the others
 * derive, so it comes after them: a question that stops it then costs less. */
static const struct likely {
    const char *command, *option;
} likely[] = {
    { "top" },     { "gpu" },     { "kernels" },  { "steps" },    { "transfers" }, { "comm" },
    { "gaps" },    { "info" },    { "launches" }, { "roofline" }, { "path" },      { "check", "--text=." },
    { "memory" },  { "modules" }, { "callers" },  { "callees" },  { "latency" },   { "sequences" },
    { "summary" },
};
enum { LIKELY = sizeof likely / sizeof *likely };

/* Number I of the words of --by that COMMAND takes, over all of them if I is large: then it is counted down. False: behind the last. */
static bool word_of_by(const struct command *command, size_t *i, struct opt_choice *choice)
{
    for (const struct opt *row = command->options; row && !opt_is_end(row); row++)
        for (size_t word = 0; row->name && strcmp(row->name, "by") == 0 && opt_choice_get(row, word, choice);
             word++)
            if (!choice->refusal && (*i)-- == 0)
                return true;
    return false;
}

/* Number I of the questions to work on ahead. */
static bool likely_question(size_t i, struct buffer *words)
{
    struct opt_choice choice = { 0 };
    const struct likely *found = i < LIKELY ? &likely[i] : NULL;
    size_t left = i - LIKELY;
    for (size_t c = 0; i >= LIKELY && c < LIKELY && !found; c++)
        if (word_of_by(command_find(likely[c].command, NULL), &left, &choice))
            found = &likely[c];
    if (!found)
        return false;
    buffer_clear(words);
    buffer_printf(words, "%s%c--format=json%c", found->command, '\0', '\0');
    if (found->option)
        buffer_printf(words, "%s%c", found->option, '\0');
    if (choice.name)
        buffer_printf(words, "--by=%s%c", choice.name, '\0');
    return true;
}

/* Question I to work on before it is asked. The words ASKED end in the files of a trace that is open. */
static bool ahead(const struct buffer *asked, size_t i, struct buffer *words)
{
    VEC_OF(char *) files = { 0 };
    const char *end = memmem(asked->at, asked->count, "\0--", 4);
    const size_t begin = end ? (size_t)(end - asked->at) + 4 : asked->count;
    for (size_t at = begin; at < asked->count && asked->at[at]; at += strlen(asked->at + at) + 1)
        *VEC_PUSH(&files) = asked->at + at;
    bool open = files.count && load_keeps(files.at, files.count) && likely_question(i, words);
    VEC_FREE(&files);
    if (open)
        buffer_add(words, asked->at + begin - 3, asked->count - begin + 3);
    return open;
}

static bool open_roots(const struct opt_list *list, struct tpa_error *err)
{
    bool good = list->count || roots_add(&roots, ".", err);
    for (size_t i = 0; i < list->count && good; i++)
        good = roots_add(&roots, list->at[i], err);
    if (good && chdir(roots.at[0]) != 0) {
        tpa_fail_errno(err, "cannot enter this folder");
        good = tpa_in_file(err, roots.at[0]);
    }
    return good;
}

static int mcp_main(const struct invocation *call, struct tpa_error *err)
{
    const struct mcp_args *args = call->args;
    struct mcp_tools tools = { .roots = &roots, .budget_bytes = args->budget_bytes };
    SCOPED struct buffer list = { 0 };
    int exit_code = EXIT_TROUBLE;
    if (tools.budget_bytes > MOST_BUDGET_BYTES)
        tools.budget_bytes = MOST_BUDGET_BYTES;
    if (open_roots(&args->roots, err)) {
        int64_t memory =
            args->memory ? args->memory : (int64_t)sysconf(_SC_PHYS_PAGES) / 2 * sysconf(_SC_PAGESIZE);
        most_kept = memory / KEPT_SHARE;
        mcp_tools_list(&list);
        struct mcp_server server = {
            .name = "tpa",
            .version = TPA_VERSION,
            .instructions = mcp_tools_instructions,
            .tools = list.at,
            .memory = memory,
            .context = &tools,
            .prepare = mcp_tools_prepare,
            .work = { run, ahead, kept_serves, kept_use },
        };
        exit_code = mcp_serve(&server);
    }
    VEC_FREE(&roots);
    arena_release(&roots.arena);
    return exit_code;
}

const struct command cmd_mcp = {
    .name = "mcp",
    .summary = "answer assistants: the Model Context Protocol on standard input and output",
    .description =
        "A server that an assistant's client starts: one message of JSON-RPC per line, as the Model Context Protocol has it on stdio. "
        "Each command that reads is a tool, with the command's own JSON as the answer, in the size that the call allows.\n\n"
        "Only regular files below the roots are read. Nothing is written, no program is run, and there is no network. Traces stay "
        "open for the next question, and a question can be cancelled at any time.",
    .options = mcp_opts,
    COMMAND_ARGS(mcp_defaults),
    .main = mcp_main,
    .examples = { "tpa mcp --root /data/traces",
                  "claude mcp add tpa -- tpa mcp --root /data/traces  # in Claude Code" },
    .section = SECTION_OTHER,
};
