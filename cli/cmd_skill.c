/* cmd_skill.c - `tpa skill`: how an assistant uses this program, as a SKILL.md; the commands are those of the program. */
#include "cli/commands.h"
#include "cli/mcp_tools.h"
#include "cli/output_file.h"

#include <errno.h>
#include <sys/stat.h>

struct skill_args {
    const char *folder;
};

static const struct skill_args skill_defaults = { 0 };

static const struct opt skill_opts[] = {
    OPT_GROUP("Output"),
    OPT_DIRECTORY('o', "output", struct skill_args, folder, "DIR", "write DIR/tpa/SKILL.md instead"),
    OPT_END,
};

static const char head[] =
    "---\n"
    "name: tpa\n"
    "description: Answers questions about profiler traces on the command line. It says which operator or kernel takes the time, why a GPU "
    "is idle, what changed between two runs, where memory peaks, and which rank holds a job up. Use it when a trace is to be analyzed (of "
    "PyTorch, Nsight Systems, ROCm or XLA; Chrome JSON, Python profiles, memory snapshots), and to check figures about one.\n"
    "---\n"
    "\n"
    "# tpa\n"
    "\n"
    "`tpa COMMAND [OPTIONS] FILE...` reads traces offline. A file is a trace, compressed or not, or a folder of the traces of ranks. Do not "
    "open traces as text: they are large.\n"
    "\n"
    "## Begin\n"
    "\n"
    "```sh\n"
    "tpa summary --format json --budget 2000 trace.json\n"
    "tpa info --format json --budget 1000 trace.json\n"
    "```\n"
    "\n"
    "`summary` says where a step's time goes and what to change first, with what each change saves at most; `info` what the file holds.\n"
    "\n"
    "## Which command answers what\n"
    "\n";

static const char body[] =
    "\n"
    "```sh\n"
    "tpa top --format json --budget 2000 --limit 10 --sort self_cuda_time_total trace.json\n"
    "tpa gaps --format json --budget 2000 trace.json\n"
    "tpa kernels --format json --budget 2000 --filter gemm trace.json\n"
    "tpa steps --format json --budget 2000 trace.json\n"
    "tpa diff --format json --budget 2000 before.json after.json\n"
    "tpa fleet --format json --budget 2000 rank0.json rank1.json\n"
    "tpa sql --format json --budget 1000 -c 'select name, sum(dur_ns) as total from kernels group by name order by total desc limit 5' trace.json\n"
    "```\n"
    "\n"
    "`tpa help --format json COMMAND` describes the options and tables of one command, `tpa COMMAND --help` explains it.\n"
    "\n"
    "## Read the answer\n"
    "\n"
    "- `tables`: each has `key`, `columns` and `rows`. With `--budget N` (tokens) columns are keys and rows are lists in their order.\n"
    "- `footer` and `total_rows` are those of the whole table, whatever is shown.\n"
    "- Keys that end in `_ns` are integer nanoseconds; sizes are bytes; shares are 0..1. `null` is unknown, not zero.\n"
    "- `truncated` is there if something was left out: how many `rows` of which table, and `more`, the command that shows all. Do not add up "
    "rows of such a table; take the `footer`.\n"
    "- `cannot_answer`: the trace cannot tell. `reason` and `text` say why, `needs` what to record, `instead` what can be asked. Say so; do "
    "not guess.\n"
    "- `notices` name limits of the answer, above all what the recording lacks (`lacks`).\n"
    "- A table with no rows and no `cannot_answer`: it was looked, and nothing was found.\n"
    "\n"
    "Exit status: 0 an answer; 1 a difference, or a gate was exceeded; 2 an error, which is `error` with `kind`, `message` and `hint`.\n"
    "\n"
    "## Narrow it down\n"
    "\n"
    "`--steps 3..7`, `--range 1ms..2ms`, `--rank 0`, `--device 0`, `--filter REGEX`, `--by` (what makes a row), `--columns KEYS`, "
    "`--limit N` (0: all) and `--sort KEY` are options of most commands.\n"
    "\n"
    "## Check what you wrote\n"
    "\n"
    "Write the answer to a file, with figures and the names they are of, and let the program check it: each figure is confirmed, "
    "contradicted (with the right one), or not checkable. Exit status 1: something is wrong; correct it before you answer.\n"
    "\n"
    "```sh\n"
    "tpa check answer.md trace.json\n"
    "```\n";

static void add_skill(struct buffer *out)
{
    buffer_puts(out, head);
    for (size_t i = 0; command_at(i); i++)
        if (mcp_tools_has(command_at(i)))
            buffer_printf(out, "- `%s`: %s\n", command_at(i)->name, command_at(i)->summary);
    buffer_puts(out, body);
}

/* Write TEXT to DIR/tpa/SKILL.md; the folders are made. */
static bool write_skill(const char *folder, const struct buffer *text, struct tpa_error *err)
{
    SCOPED struct buffer path = { 0 };
    struct output_file file;
    buffer_puts(&path, folder);
    bool good = mkdir(path.at, 0777) == 0 || errno == EEXIST;
    buffer_puts(&path, "/tpa");
    good = good && (mkdir(path.at, 0777) == 0 || errno == EEXIST);
    buffer_puts(&path, "/SKILL.md");
    if (!good)
        tpa_fail_errno(err, "cannot make this folder");
    good = good && output_file_open(&file, path.at, err);
    if (good && fwrite(text->at, 1, text->count, file.stream) == text->count) {
        good = output_file_commit(&file, err);
    } else if (good) {
        good = tpa_fail_errno(err, "cannot write the skill");
        output_file_discard(&file);
    }
    if (!good)
        tpa_in_file(err, path.at);
    return good;
}

static int skill_main(const struct invocation *call, struct tpa_error *err)
{
    const struct skill_args *args = call->args;
    SCOPED struct buffer text = { 0 };
    bool good = true;
    add_skill(&text);
    if (args->folder)
        good = write_skill(args->folder, &text, err);
    else
        fwrite(text.at, 1, text.count, stdout); /* main checks stdout */
    return good ? EXIT_FINE : EXIT_TROUBLE;
}

const struct command cmd_skill = {
    .name = "skill",
    .summary = "how an assistant uses this program, as a SKILL.md for it",
    .description =
        "Prints what a coding assistant must know to answer questions about traces with this program: which command answers "
        "what, how to read an answer, and to check what it wrote. The form is that of Agent Skills: a folder with a SKILL.md.",
    .options = skill_opts,
    COMMAND_ARGS(skill_defaults),
    .main = skill_main,
    .examples = { "tpa skill -o ~/.claude/skills", "tpa skill -o .agents/skills" },
    .section = SECTION_OTHER,
};
