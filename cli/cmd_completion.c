/* cmd_completion.c - `tpa completion SHELL`: the script that teaches a shell our options. */
#include "base/suggest.h"
#include "cli/commands.h"
#include "cli/completion.h"

#include <stdio.h>
#include <string.h>

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
            struct buffer text = { 0 };
            shells[i].write(&text);
            fwrite(text.at, 1, text.count, stdout); /* main checks stdout */
            buffer_release(&text);
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
